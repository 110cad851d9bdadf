/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU backward: errors pass where the 0/1 matrix has a 1, whatever they are; time, counts and what is refused. */
#include "block_rig.h"
#include "training/relu_back/relu_back.h"
#include "random.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 2, PLANES = IMAGES * CHANNELS, PLANE = 21, ALL = PLANES * PLANE };
enum { BYTES = (PLANE + 15) / 16 * 2 /* of a plane's bits */, CYCLES = (IMAGES + 1) / 2 * (CHANNELS * PLANE / 3) };

static void check(int timing_only)
{
    uint64_t random = 3;
    float dy[ALL], dx[ALL];
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, IMAGES, CHANNELS, 3, 7);
    for (int i = 0; i < ALL; ++i)
        dy[i] = i % 9 == 0 ? (float)NAN : i % 9 == 1 ? -0.0f : i % 9 == 2 ? -(float)INFINITY : next_float(&random);
    memcpy(dx, dy, sizeof dx);
    tile.flags = CNNVP_TILE_RELU;
    tile.values = timing_only ? NULL : dx;
    block_rig_begin(&rig, &cnnvp_unit_relu_back, timing_only);
    block_rig_start(&rig);
    uint8_t *matrix = block_rig_data(&rig, "buffer");
    for (int b = 0; b < PLANES * BYTES && !timing_only; ++b)
        matrix[b] = (uint8_t)next_bits(&random);
    block_rig_do(&rig, &tile, CYCLES);
    block_rig_expect_next(&rig, &tile, ALL, 4);
    assert_int_equal(fake_count(rig.block, "values"), ALL);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(block_rig_buffer(&rig, "buffer"), "read_sequential_words"), PLANES * BYTES / 2);
    for (int i = 0; i < ALL && !timing_only; ++i) {
        const int bit = i / PLANE * BYTES * 8 + i % PLANE;
        const float want = ((unsigned)matrix[bit / 8] >> bit % 8 & 1u) != 0 ? dy[i] : 0.0f;
        assert_memory_equal(&dx[i], &want, sizeof want);
    }
    /* without ReLU errors only pass */
    memcpy(dx, dy, sizeof dx);
    tile.flags = 0;
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
    assert_memory_equal(dx, dy, sizeof dx);
    assert_int_equal(tile.fill, 0);
    assert_int_equal(fake_count(rig.block, "values"), ALL);
    assert_int_equal(fake_count(rig.block, "tiles"), 2);
    block_rig_end(&rig);
}

static void test_errors(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        check(timing_only);
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile large = block_rig_tile(CNNVP_TILE_BACKWARD, 1, 2, 1024, 257);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_relu_back, 1u << CNNVP_TILE_BACKWARD);
    large.flags = CNNVP_TILE_RELU; /* a matrix of 64 KiB and 256 bytes more */
    block_rig_begin(&rig, &cnnvp_unit_relu_back, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &large, CNNVP_DEBUG), CNNVP_E_ADDR);
    assert_int_equal(rig.handed_on, 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
