/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics: extremes of channels and where they lie, against plain loops over values with many ties and some that are
 * not finite; groups of images in either order; time, counts, what goes on to the sum module, and what is refused.
 */
#include "block_rig.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 4, PLANE = 11, IMAGE = CHANNELS * PLANE, ALL = IMAGES * IMAGE, GROUPS = 2 };
enum { ENTRY = 5, APART = 40, ENTRIES = 60, CYCLES = (IMAGES + 1) / 2 * ((IMAGE + 2) / 3) };

/* How values go into entries, how many numbers there are from image to image, and whether two of each channel are left
 * out. */
struct layout {
    uint32_t image_stride, channel_stride, map, apart;
};
static const struct layout layouts[] = {{0, 1, PLANE, 0}, {CHANNELS, 1, PLANE, 0}, {1, 0, IMAGE, 0}, {0, 0, IMAGE, 0},
                                        {0, 0, PLANE, 0}, {0, 1, PLANE, 1},        {1, 0, PLANE, 1}};

struct data {
    float x[GROUPS][ALL];
    struct cnnvp_extremes entries[ENTRIES];
};

static void make(struct data *data, uint64_t seed)
{
    for (int i = 0; i < GROUPS * ALL; ++i) {
        const uint32_t kind = next_bits(&seed) % 16;
        const float value = (float)(next_bits(&seed) % 7) - 3.0f;
        data->x[i / ALL][i % ALL] = kind == 0 ? (float)NAN : kind == 1 ? value * (float)INFINITY : value;
    }
    for (int e = 0; e < ENTRIES; ++e)
        data->entries[e] = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
    for (uint32_t c = 0; c < CHANNELS; ++c)
        data->entries[APART + c] = (struct cnnvp_extremes){.min_at = c, .max_at = PLANE + 3 * c};
}

/* A channel is numbered by itself, but where all channels share an entry: there an image's values are. */
static uint32_t number_of(const struct layout *layout, int group, int i)
{
    const uint32_t image = (uint32_t)(group * IMAGES + i / IMAGE);
    const bool together = layout->channel_stride == 0 && !layout->apart;
    return image * layout->map + (uint32_t)(i % (together ? IMAGE : PLANE));
}

/* One value after the other: of equal ones that with the smallest number. */
static void expect(const struct layout *layout, struct data *data)
{
    for (int i = 0; i < GROUPS * ALL; ++i) {
        const float x = data->x[i / ALL][i % ALL];
        const uint32_t image = (uint32_t)(i % ALL / IMAGE);
        const uint32_t channel = (uint32_t)(i % IMAGE / PLANE);
        const uint32_t at = number_of(layout, i / ALL, i % ALL);
        const struct cnnvp_extremes *apart = &data->entries[APART + channel];
        struct cnnvp_extremes *entry =
            &data->entries[ENTRY + image * layout->image_stride + channel * layout->channel_stride];
        if (!isfinite(x) || (layout->apart && (at == apart->min_at || at == apart->max_at)))
            continue;
        if (x < entry->min || (x == entry->min && at < entry->min_at)) {
            entry->min = x;
            entry->min_at = at;
        }
        if (x > entry->max || (x == entry->max && at < entry->max_at)) {
            entry->max = x;
            entry->max_at = at;
        }
    }
}

static void check(int timing_only, const struct layout *layout, int first_group)
{
    static struct data data;
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_STATISTICS, IMAGES, CHANNELS, 1, PLANE);
    tile.flags = layout->apart ? CNNVP_TILE_APART : 0;
    tile.entry = ENTRY;
    tile.entry_image_stride = layout->image_stride;
    tile.entry_channel_stride = layout->channel_stride;
    tile.norm_entry = APART;
    tile.map = layout->map;
    make(&data, 4);
    block_rig_begin(&rig, &cnnvp_unit_statistics, timing_only);
    block_rig_start(&rig);
    if (!timing_only)
        memcpy(block_rig_data(&rig, "buffer"), data.entries, sizeof data.entries);
    for (int n = 0; n < GROUPS; ++n) {
        const int group = (first_group + n) % GROUPS;
        tile.first_value = number_of(layout, group, 0);
        tile.values = timing_only ? NULL : data.x[group];
        block_rig_do(&rig, &tile, CYCLES);
        block_rig_expect_next(&rig, &tile, ALL, 4);
    }
    expect(layout, &data);
    if (!timing_only)
        assert_memory_equal(block_rig_data(&rig, "buffer"), data.entries, sizeof data.entries);
    assert_int_equal(fake_count(rig.block, "tiles"), GROUPS);
    assert_int_equal(fake_count(rig.block, "values"), 2 * GROUPS * ALL); /* two comparisons each */
    block_rig_end(&rig);
}

static void test_extremes(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
            check(timing_only, &layouts[i], 0);
            check(timing_only, &layouts[i], 1);
        }
}

/* For other blocks only the extremes are taken; squares are the sum module's alone. */
static void test_kinds(void **state)
{
    float x[] = {2.0f, -0.0f, 0.0f};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_EXTREMES, 1, 1, 1, 3);
    (void)state;
    tile.values = x;
    block_rig_begin(&rig, &cnnvp_unit_statistics, 0);
    block_rig_start(&rig);
    struct cnnvp_extremes *entry = block_rig_data(&rig, "buffer");
    *entry = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
    block_rig_do(&rig, &tile, 1);
    assert_int_equal(rig.handed_on, 0);
    assert_true(entry->max == 2.0f && entry->max_at == 0);
    assert_true(signbit(entry->min) && entry->min_at == 1); /* zeros are equal, whatever their signs */
    tile.kind = CNNVP_TILE_SQUARES;
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
    block_rig_expect_next(&rig, &tile, 3, 4);
    assert_int_equal(tile.fill, 0);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    block_rig_end(&rig);
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_STATISTICS, 2, 3, 1, 1);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_statistics, UINT32_MAX); /* it takes the extremes of whatever others send */
    block_rig_begin(&rig, &cnnvp_unit_statistics, 0);
    block_rig_start(&rig);
    tile.entry_channel_stride = 1;
    tile.entry_image_stride = 3;
    tile.entry = 65536 / sizeof(struct cnnvp_extremes) - 5; /* of six entries the last is beyond the buffer */
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_ADDR);
    tile.entry = 0;
    tile.flags = CNNVP_TILE_APART;
    tile.norm_entry = 65536 / sizeof(struct cnnvp_extremes) - 2;
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_ADDR);
    assert_int_equal(rig.handed_on, 0);
    assert_int_equal(fake_count(rig.block, "tiles"), 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_kinds), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
