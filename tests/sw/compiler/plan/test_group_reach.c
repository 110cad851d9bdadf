/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines a tile of a fused group calculates: for random chains of convolutions and pools and all kinds of halo,
 * the lines that its results need, found one by one from the definition of a window, and no others. Where lines stay
 * from tile to tile each is calculated once.
 */

#include "test.h"

#include "group.h"
#include "random.h"

#define MEMBERS 4u
#define LINES 64u

/* A chain of which member i reads slot i - 1 and makes slot i; the last one's results leave. */
struct chain {
    struct cnnvp_plan_group group;
    struct cnnvp_plan_member members[MEMBERS];
    struct cnnvp_plan_slot slots[MEMBERS];
};

static void draw_layer(uint64_t *random, struct cnnvp_layer *layer, uint32_t size)
{
    layer->op = below(random, 3) == 0 ? CNNVP_OP_POOL : CNNVP_OP_CONV;
    layer->ky = layer->kx = 1 + below(random, 4);
    layer->sy = layer->sx = 1 + below(random, 2);
    layer->dy = layer->dx = layer->op == CNNVP_OP_CONV ? 1 + below(random, 2) : 1;
    layer->pad_top = layer->pad_left = below(random, layer->ky);
    layer->in = (struct cnnvp_tensor){.word_shift = 1, .channels = 1, .height = size, .width = size};
    /* As many lines as windows begin within the map and its padding of both sides. */
    const uint32_t padded = size + 2 * layer->pad_top;
    const uint32_t window = (layer->ky - 1) * layer->dy + 1;
    const uint32_t lines = padded >= window ? (padded - window) / layer->sy + 1 : 1;
    layer->out = (struct cnnvp_tensor){.word_shift = 1, .channels = 1, .height = lines, .width = lines};
}

static void draw_chain(uint64_t *random, struct chain *chain)
{
    uint32_t size = 12 + below(random, 20);
    *chain = (struct chain){.group = {.count = 2 + below(random, MEMBERS - 1)}};
    struct cnnvp_plan_group *group = &chain->group;
    group->members = chain->members;
    group->slots = chain->slots;
    group->slot_count = group->count - 1;
    for (size_t i = 0; i < group->count; ++i) {
        struct cnnvp_plan_member *member = &chain->members[i];
        draw_layer(random, &member->layer, size);
        size = member->layer.out.height;
        member->in = i == 0 ? CNNVP_PLAN_NO_SLOT : i - 1;
        member->in2 = CNNVP_PLAN_NO_SLOT;
        member->out = i + 1 == group->count ? CNNVP_PLAN_NO_SLOT : i;
        chain->slots[i] = (struct cnnvp_plan_slot){
            .map = {.word_shift = 1, .channels = 1, .height = size, .width = size}, .first = i, .last = i + 1};
    }
    group->tile_h = 1 + below(random, size);
    group->tile_w = 1 + below(random, size);
    group->halo = (enum cnnvp_group_halo)below(random, 3);
}

/* Lines between those that are marked, which strides leave out. */
static void fill(uint8_t *needed)
{
    uint32_t first = 0, end = LINES;
    while (first < LINES && !needed[first])
        ++first;
    while (end > first && !needed[end - 1])
        --end;
    memset(needed + first, 1, end - first);
}

/* Marks the lines of each member's map that results [first, end) of the last one need; padding is no line. `whole`: and
 * lines between those, which a tile calculates as well where none stay. */
static void mark(const struct chain *chain, uint32_t first, uint32_t end, int whole, uint8_t needed[MEMBERS][LINES])
{
    const size_t last = chain->group.count - 1;
    memset(needed, 0, MEMBERS * LINES);
    for (uint32_t line = first; line < end; ++line)
        needed[last][line] = 1;
    for (size_t i = last; i > 0; --i) {
        const struct cnnvp_layer *layer = &chain->members[i].layer;
        const uint32_t dilation = whole ? 1 : layer->dy;
        const uint32_t taps = whole ? (layer->ky - 1) * layer->dy + 1 : layer->ky;
        for (uint32_t line = 0; line < layer->out.height; ++line)
            for (uint32_t tap = 0; tap < taps && needed[i][line]; ++tap) {
                const int64_t at = (int64_t)line * layer->sy + (int64_t)tap * dilation - layer->pad_top;
                if (at >= 0 && at < (int64_t)layer->in.height)
                    needed[i - 1][at] = 1;
            }
        if (whole)
            fill(needed[i - 1]);
    }
}

static void expect_all_needed(const struct cnnvp_group_reach *reach, const uint8_t *needed, const uint8_t *known,
                              uint32_t size)
{
    for (uint32_t line = 0; line < size; ++line) {
        const int calculated = (int64_t)line >= reach->first && (int64_t)line < (int64_t)reach->first + reach->count;
        if (needed[line] && !calculated && !known[line])
            fail_msg("line %u is needed, and %u from %d on are calculated", line, reach->count, reach->first);
    }
}

static void expect_no_other(const struct cnnvp_group_reach *reach, const uint8_t *needed)
{
    for (uint32_t line = 0; line < reach->count; ++line)
        if (!needed[(uint32_t)reach->first + line])
            fail_msg("line %u is not needed, and %u from %d on are calculated", (uint32_t)reach->first + line,
                     reach->count, reach->first);
}

static void check_axis(const struct chain *chain, const struct cnnvp_group_reach *table, uint32_t tiles, uint32_t tile,
                       int cached)
{
    const size_t count = chain->group.count;
    uint8_t known[MEMBERS][LINES] = {{0}};
    uint8_t needed[MEMBERS][LINES];
    for (uint32_t t = 0; t < tiles; ++t) {
        const uint32_t results = chain->members[count - 1].layer.out.height;
        const uint32_t end = (t + 1) * tile < results ? (t + 1) * tile : results;
        mark(chain, t * tile, end, !cached, needed);
        for (size_t i = 0; i < count; ++i) {
            const struct cnnvp_group_reach *reach = &table[t * count + i];
            const uint32_t size = chain->members[i].layer.out.height;
            assert_true(reach->first >= 0 && (int64_t)reach->first + reach->count <= (int64_t)size);
            expect_all_needed(reach, needed[i], known[i], size);
            if (!cached)
                expect_no_other(reach, needed[i]);
            for (uint32_t line = 0; line < reach->count && cached; ++line) {
                assert_int_equal(known[i][(uint32_t)reach->first + line], 0); /* once */
                known[i][(uint32_t)reach->first + line] = 1;
            }
        }
    }
}

/* What a slot has to hold at once: from its first line to the end of what the tile makes. */
static void check_room(const struct chain *chain)
{
    const struct cnnvp_plan_group *group = &chain->group;
    for (size_t i = 0; i + 1 < group->count; ++i)
        for (uint32_t t = 0; t < group->tile_rows; ++t) {
            const struct cnnvp_group_reach *reach = &group->rows[t * group->count + i];
            if (reach->count == 0)
                continue;
            assert_true(reach->held <= reach->first);
            assert_true((int64_t)reach->first + reach->count - reach->held <= (int64_t)group->slots[i].rows);
            assert_true(reach->zeros_at + reach->zeros_after <= group->slots[i].rows);
            assert_true(reach->count <= cnnvp_plan_group_rows(group, i));
        }
}

static void random_chains(void **state)
{
    (void)state;
    uint64_t random = 25;
    size_t kinds[3] = {0};
    for (int round = 0; round < 3000; ++round) {
        struct chain chain;
        draw_chain(&random, &chain);
        struct cnnvp_plan_group *group = &chain.group;
        assert_int_equal(cnnvp_plan_group_reach(group), CNNVP_DONE);
        check_axis(&chain, group->rows, group->tile_rows, group->tile_h, group->halo != CNNVP_HALO_RECOMPUTE);
        check_axis(&chain, group->columns, group->tile_columns, group->tile_w, group->halo == CNNVP_HALO_FULL);
        check_room(&chain);
        ++kinds[group->halo];
        free(group->rows);
        free(group->columns);
    }
    assert_true(kinds[0] > 500 && kinds[1] > 500 && kinds[2] > 500);
}

/* Two 3x3 convolutions with padding on a map of 8 lines, in tiles of 4: by hand. */
static void a_worked_case(void **state)
{
    (void)state;
    for (int halo = CNNVP_HALO_RECOMPUTE; halo <= CNNVP_HALO_FULL; ++halo) {
        struct chain chain = {.group = {.count = 2, .slot_count = 1, .tile_h = 4, .tile_w = 8}};
        struct cnnvp_plan_group *group = &chain.group;
        group->members = chain.members;
        group->slots = chain.slots;
        group->halo = (enum cnnvp_group_halo)halo;
        for (size_t i = 0; i < 2; ++i) {
            struct cnnvp_layer *layer = &chain.members[i].layer;
            *layer = (struct cnnvp_layer){
                .op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1, .pad_top = 1, .pad_left = 1};
            layer->in = layer->out = (struct cnnvp_tensor){.word_shift = 1, .channels = 1, .height = 8, .width = 8};
            chain.members[i].in = i == 0 ? CNNVP_PLAN_NO_SLOT : 0;
            chain.members[i].in2 = CNNVP_PLAN_NO_SLOT;
            chain.members[i].out = i == 0 ? 0 : CNNVP_PLAN_NO_SLOT;
        }
        assert_int_equal(cnnvp_plan_group_reach(group), CNNVP_DONE);
        const struct cnnvp_group_reach *upper = &group->rows[0], *lower = &group->rows[2];
        const int stays = halo != CNNVP_HALO_RECOMPUTE;
        assert_int_equal(group->tile_rows, 2);
        assert_int_equal(upper->first, 0);
        assert_int_equal(upper->count, 5);
        assert_int_equal(upper->held, -1);
        assert_int_equal(upper->zeros_before, 1);
        assert_int_equal(lower->first, stays ? 5 : 3);
        assert_int_equal(lower->count, stays ? 3 : 5);
        assert_int_equal(lower->held, 3);
        assert_int_equal(lower->kept, stays ? 2 : 0);
        assert_int_equal(lower->from, stays ? 4 : 0);
        assert_int_equal(lower->zeros_at, 5);
        assert_int_equal(lower->zeros_after, 1);
        assert_int_equal(chain.slots[0].rows, 6);
        free(group->rows);
        free(group->columns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_worked_case), cmocka_unit_test(random_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
