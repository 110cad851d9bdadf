/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables are read when: all of the binary's are listed, each where it lies, layers in the order of their steps.
 */
#include "test.h"

#include "binary_internal.h"

#include "binary_internal.h"
#include "binary_tables.h"
#include "group_build.h"

enum { LAYERS = 5, WEIGHT_TILES = 7, GROUP = 2, MEMBERS = 2, TILES = 3, LISTED = 64 };

struct listed {
    uint32_t accelerator, step;
    uint64_t address, bytes;
};

struct list {
    struct listed all[LISTED];
    size_t count;
    size_t most; /* refuses what comes after so many */
};

static cnnvp_result take(void *context, uint32_t accelerator, uint32_t step, uint64_t address, uint64_t bytes)
{
    struct list *list = context;
    if (list->count == list->most)
        return CNNVP_FAILED;
    list->all[list->count++] = (struct listed){accelerator, step, address, bytes};
    return CNNVP_DONE;
}

struct whole {
    struct cnnvp_build build;
    struct cnnvp_binary header;
    struct cnnvp_binary_layer layers[LAYERS];
    struct cnnvp_groups groups;
    struct cnnvp_binary_group table;
    struct cnnvp_binary_member members[MEMBERS];
    struct cnnvp_weight_tile weight_tiles[WEIGHT_TILES];
    struct cnnvp_group_reach reaches[(TILES + 1) * MEMBERS];
    uint8_t binary[1 << 18];
};

/* Layers 0, 1, a group of 2 and 3, 4; weight tiles 0; 1, 2; 3; 4, 5; 6. */
static void make(struct whole *whole, uint32_t accelerators)
{
    static const uint32_t first[] = {0, 1, 3, 4, 6, WEIGHT_TILES};
    memset(whole, 0, sizeof *whole);
    struct cnnvp_build *build = &whole->build;
    build->header = &whole->header;
    build->entries = whole->layers;
    build->groups = &whole->groups;
    build->header->layer_count = LAYERS;
    build->weight_tiles = (struct cnnvp_weight_tiles){whole->weight_tiles, WEIGHT_TILES};
    build->shares.count = accelerators;
    whole->groups = (struct cnnvp_groups){
        .table = &whole->table,
        .count = 1,
        .members = whole->members,
        .member_count = MEMBERS,
        .member_bytes = sizeof *whole->members,
        .reaches = whole->reaches,
        .reach_count = (TILES + 1) * MEMBERS};
    whole->table = (struct cnnvp_binary_group){
        .first_layer = GROUP, .layer_count = MEMBERS, .tile_rows = TILES, .tile_columns = 1};
    for (uint32_t i = 0; i < LAYERS; ++i)
        whole->layers[i] = (struct cnnvp_binary_layer){
            .plan = {.tag = i + 1,
                     .group = i / 2 == 1,
                     .first_weight_tile = first[i],
                     .weight_tile_count = first[i + 1] - first[i]}};
    for (uint32_t i = 0; i < MEMBERS; ++i)
        whole->members[i].layer = whole->layers[GROUP + i];
    build->table_bytes = (size_t)(cnnvp_binary_place_tables(build) - CNNVP_BINARY_ADDRESS);
}

static const void *at(const struct whole *whole, uint64_t address)
{
    assert_true(address >= CNNVP_BINARY_ADDRESS && address < CNNVP_BINARY_ADDRESS + sizeof whole->binary);
    return whole->binary + (address - CNNVP_BINARY_ADDRESS);
}

static int is_listed(const struct list *list, uint32_t accelerator, uint32_t step, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < list->count; ++i) {
        const struct listed *one = &list->all[i];
        if (one->accelerator == accelerator && one->step == step && one->address <= address &&
            address + bytes <= one->address + one->bytes)
            return 1;
    }
    return 0;
}

/* All but what aligns tables is in one list or the other. */
static void all_of_the_binary_is_listed(void **state)
{
    static struct whole whole;
    static unsigned char seen[1 << 18];
    (void)state;
    for (uint32_t accelerators = 1; accelerators < 4; accelerators += 2) {
        struct list list = {.most = LISTED};
        size_t unseen = 0, gap = 0, longest = 0;
        make(&whole, accelerators);
        assert_int_equal(cnnvp_binary_list_held(&whole.build, take, &list), CNNVP_DONE);
        assert_int_equal(cnnvp_binary_list_steps(&whole.build, take, &list), CNNVP_DONE);
        memset(seen, 0, sizeof seen);
        for (size_t i = 0; i < list.count; ++i) {
            const uint64_t from = list.all[i].address - CNNVP_BINARY_ADDRESS;
            assert_true(from + list.all[i].bytes <= whole.build.table_bytes);
            memset(seen + from, 1, list.all[i].bytes);
        }
        for (size_t i = 0; i < whole.build.table_bytes; ++i) {
            unseen += !seen[i];
            gap = seen[i] ? 0 : gap + 1;
            longest = gap > longest ? gap : longest;
        }
        assert_true(longest < CNNVP_BINARY_ALIGNMENT);
        assert_true(unseen < 16 * accelerators * CNNVP_BINARY_ALIGNMENT);
    }
}

/* Four steps: the group's layers are one. */
static void steps_have_their_tables(void **state)
{
    static const uint32_t step_of[LAYERS] = {0, 1, 2, 2, 3};
    static struct whole whole;
    struct list list = {.most = LISTED};
    (void)state;
    make(&whole, 2);
    cnnvp_binary_write_tables(&whole.build, whole.binary);
    const struct cnnvp_accelerators_binary *all = at(&whole, CNNVP_BINARY_ADDRESS);
    assert_int_equal(cnnvp_binary_list_steps(&whole.build, take, &list), CNNVP_DONE);
    for (uint32_t a = 0; a < 2; ++a) {
        const struct cnnvp_binary *header = at(&whole, all->binaries[a]);
        const struct cnnvp_binary_group *group = at(&whole, header->groups);
        for (uint32_t i = 0; i < LAYERS; ++i) {
            const struct cnnvp_binary_layer *layer = &whole.layers[i];
            assert_true(is_listed(&list, a, step_of[i], header->layers + i * sizeof *layer, sizeof *layer));
            for (uint32_t b = 0; b < layer->plan.weight_tile_count; ++b)
                assert_true(is_listed(&list, a, step_of[i],
                                      whole.build.header->weight_tiles +
                                          (layer->plan.first_weight_tile + b) * sizeof(struct cnnvp_weight_tile),
                                      sizeof(struct cnnvp_weight_tile)));
        }
        assert_true(is_listed(&list, a, 2, header->groups, sizeof whole.table));
        assert_true(is_listed(&list, a, 2, group->members, sizeof whole.members));
        assert_true(is_listed(&list, a, 2, whole.table.rows, TILES * MEMBERS * sizeof(struct cnnvp_group_reach)));
        assert_true(is_listed(&list, a, 2, whole.table.columns, MEMBERS * sizeof(struct cnnvp_group_reach)));
    }
    for (size_t i = 1; i < list.count; ++i)
        assert_true(list.all[i].accelerator > list.all[i - 1].accelerator || list.all[i].step >= list.all[i - 1].step);
}

/* Two chains whose layers take turns: a step for each chain, and the table's entries that the schedule passes. */
static void chains_may_take_turns(void **state)
{
    enum { CHAINS = 2, OF_A_CHAIN = 2 };
    static const uint32_t step_of[LAYERS] = {0, 1, 1, 1, 2};
    static struct whole whole;
    static struct cnnvp_binary_level levels[CHAINS * (OF_A_CHAIN + 1)];
    static struct cnnvp_binary_layer blocks[CHAINS * OF_A_CHAIN];
    struct cnnvp_binary_group chains[CHAINS];
    struct list list = {.most = LISTED};
    (void)state;
    make(&whole, 1);
    for (uint32_t c = 0; c < CHAINS; ++c)
        chains[c] = (struct cnnvp_binary_group){
            .first_layer = c, .layer_count = OF_A_CHAIN, .last_layer = c + CHAINS * (OF_A_CHAIN - 1)};
    for (uint32_t i = 0; i < LAYERS; ++i) {
        whole.layers[i].plan.depth_first = i < CHAINS * OF_A_CHAIN;
        whole.layers[i].plan.group = i < CHAINS * OF_A_CHAIN ? i % CHAINS + 1 : 0;
    }
    for (uint32_t i = 0; i < CHAINS * OF_A_CHAIN; ++i)
        blocks[i] = whole.layers[i / OF_A_CHAIN + i % OF_A_CHAIN * CHAINS];
    whole.groups = (struct cnnvp_groups){
        .table = chains,
        .count = CHAINS,
        .members = blocks,
        .member_count = CHAINS * OF_A_CHAIN,
        .member_bytes = sizeof *blocks,
        .levels = levels};
    whole.build.table_bytes = (size_t)(cnnvp_binary_place_tables(&whole.build) - CNNVP_BINARY_ADDRESS);
    cnnvp_binary_write_tables(&whole.build, whole.binary);
    const struct cnnvp_binary *header = at(&whole, CNNVP_BINARY_ADDRESS);
    assert_int_equal(cnnvp_binary_list_steps(&whole.build, take, &list), CNNVP_DONE);
    for (uint32_t i = 0; i < LAYERS; ++i)
        assert_true(is_listed(&list, 0, step_of[i], header->layers + i * sizeof *blocks, sizeof *blocks));
    for (uint32_t c = 0; c < CHAINS; ++c) {
        assert_true(is_listed(&list, 0, c, header->groups + c * sizeof *chains, sizeof *chains));
        assert_true(is_listed(&list, 0, c, chains[c].members, OF_A_CHAIN * sizeof *blocks));
        assert_true(is_listed(&list, 0, c, chains[c].levels, (OF_A_CHAIN + 1) * sizeof *levels));
        for (uint32_t i = c; i < CHAINS * OF_A_CHAIN; i += CHAINS)
            for (uint32_t b = 0; b < whole.layers[i].plan.weight_tile_count; ++b)
                assert_true(is_listed(&list, 0, c,
                                      header->weight_tiles + (whole.layers[i].plan.first_weight_tile + b) *
                                                                 sizeof(struct cnnvp_weight_tile),
                                      sizeof(struct cnnvp_weight_tile)));
    }
    for (size_t i = 1; i < list.count; ++i)
        assert_true(list.all[i].step >= list.all[i - 1].step);
    assert_int_equal(list.all[list.count - 1].step, 2);
}

static void an_answer_ends_the_list(void **state)
{
    static struct whole whole;
    (void)state;
    make(&whole, 2);
    for (size_t most = 0; most < 12; ++most) {
        struct list list = {.most = most};
        assert_int_equal(cnnvp_binary_list_steps(&whole.build, take, &list), CNNVP_FAILED);
        assert_int_equal(list.count, most);
    }
}

/* A trial of some layers leaves out the others: what comes after their table stays where it is. */
static void tables_stay_where_layers_are_left_out(void **state)
{
    static struct whole whole;
    (void)state;
    make(&whole, 1);
    whole.weight_tiles[0].bytes = 77;
    whole.build.header->layer_count = 1;
    cnnvp_binary_write_tables(&whole.build, whole.binary);
    const struct cnnvp_binary *header = at(&whole, CNNVP_BINARY_ADDRESS);
    const struct cnnvp_weight_tile *weight_tile = at(&whole, header->weight_tiles);
    const struct cnnvp_binary_group *group = at(&whole, header->groups);
    assert_int_equal(header->layer_count, 1);
    assert_int_equal(weight_tile->bytes, 77);
    assert_int_equal(group->members, whole.table.members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_the_binary_is_listed), cmocka_unit_test(steps_have_their_tables),
        cmocka_unit_test(chains_may_take_turns),       cmocka_unit_test(tables_stay_where_layers_are_left_out),
        cmocka_unit_test(an_answer_ends_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
