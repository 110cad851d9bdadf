/* SPDX-License-Identifier: Apache-2.0 */
/* Which weights of a chain stay in the weight buffer, and what is left below them for those that do not. */
#include "test.h"

#include "../plan/plan_cases.h"
#include "binary_internal.h"
#include "graph_case.h"

static struct cnnvp_graph graph;
static struct cnnvp_build build;
static struct cnnvp_error problem;
static uint32_t scheduler; /* its registers, 0: there is none */

/* Two convolutions of 16 channels before a pool and one of 64 after it, which runs for a quarter of the blocks. */
static cnnvp_result place(uint64_t weight_bytes, enum cnnvp_issue issue)
{
    struct fake_config config = fake_nfu();
    const struct cnnvp_binary_options options = {.images = 1, .block = 4, .issue = issue};
    graph_case_begin(&graph, 16, 16);
    const int32_t wide = graph_case_conv(&graph, graph_case_conv(&graph, 0, 16), 16);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_pool(&graph, wide), 64));
    config.weight_bytes = 2 * weight_bytes;
    struct cnnvp_target target = cases_target(&config);
    target.accelerators[0].scheduler = scheduler;
    assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
    const cnnvp_result result = cnnvp_binary_build(&graph, &target, &options, &build, &problem);
    cnnvp_target_clear(&target);
    return result;
}

static void clear(void)
{
    cnnvp_binary_clear(&build);
    cnnvp_graph_clear(&graph);
}

/* Bytes that stay of a layer's weights, and all of them. */
static uint64_t staying(size_t layer, uint64_t *all)
{
    uint64_t bytes = 0;
    *all = 0;
    for (uint32_t b = 0; b < build.layers[layer].weight_tile_count; ++b) {
        const struct cnnvp_weight_tile *weight_tile =
            &build.weight_tiles.all[build.layers[layer].first_weight_tile + b];
        *all += weight_tile->bytes;
        bytes += weight_tile->stays != 0 ? weight_tile->bytes : 0;
    }
    return bytes;
}

/* Within the halves, no two on the same bytes, and none where others are loaded. */
static void check_places(uint64_t weight_bytes)
{
    for (uint32_t i = 0; i < build.weight_tiles.count; ++i) {
        const struct cnnvp_weight_tile *weight_tile = &build.weight_tiles.all[i];
        if (!weight_tile->stays) {
            assert_true(weight_tile->bytes <= build.groups->plans[0].stream);
            continue;
        }
        assert_true(weight_tile->chip_address >= build.groups->plans[0].stream);
        assert_true(weight_tile->chip_address + weight_tile->bytes <= weight_bytes);
        for (uint32_t k = 0; k < i; ++k) {
            const struct cnnvp_weight_tile *other = &build.weight_tiles.all[k];
            assert_true(!other->stays || other->chip_half != weight_tile->chip_half ||
                        other->chip_address + other->bytes <= weight_tile->chip_address ||
                        weight_tile->chip_address + weight_tile->bytes <= other->chip_address);
        }
    }
}

static void all_stay_where_they_fit(void **state)
{
    (void)state;
    assert_int_equal(place(65536, CNNVP_ISSUE_GUEST), CNNVP_DONE);
    assert_int_equal(build.groups->count, 1);
    assert_int_equal(build.groups->table[0].resident, 1);
    assert_int_equal(build.groups->plans[0].stream, 0);
    for (size_t i = 0; i < graph.layer_count; ++i) {
        uint64_t all;
        const uint64_t stays = staying(i, &all);
        assert_int_equal(stays, all);
        assert_int_equal(all, i == 2 ? 0 : i == 3 ? 64 * 16 * 9 * 2 : 16 * 16 * 9 * 2);
    }
    check_places(65536);
    clear();
}

/* The smallest buffer there is has halves of 32 bytes, of which 9 weights take 18. */
static void a_few_stay_in_the_smallest_buffer(void **state)
{
    struct fake_config config = fake_nfu();
    const struct cnnvp_binary_options options = {.images = 1, .block = 4};
    uint64_t all;
    (void)state;
    config.weight_bytes = 64;
    graph_case_begin(&graph, 1, 16);
    graph_case_output(&graph, graph_case_conv(&graph, 0, 1));
    struct cnnvp_target target = cases_target(&config);
    assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
    assert_int_equal(cnnvp_binary_build(&graph, &target, &options, &build, &problem), CNNVP_DONE);
    cnnvp_target_clear(&target);
    assert_int_equal(staying(0, &all), 18);
    assert_int_equal(all, 18);
    check_places(32);
    clear();
}

/* What would be loaded most often goes first. */
static void the_most_used_stay_otherwise(void **state)
{
    int some = 0;
    (void)state;
    for (uint64_t bytes = 12288; bytes >= 1024; bytes -= 1024) {
        assert_int_equal(place(bytes, CNNVP_ISSUE_GUEST), CNNVP_DONE);
        uint64_t all[4], stays[4];
        for (size_t i = 0; i < 4; ++i)
            stays[i] = staying(i, &all[i]);
        assert_true(stays[3] < all[3]);
        assert_true(stays[3] == 0 || stays[0] + stays[1] == all[0] + all[1]);
        some |= stays[0] + stays[1] != 0;
        check_places(bytes);
        clear();
    }
    assert_true(some);
}

/* The scheduler unit loads none: what does not stay cannot be its. */
static void the_scheduler_needs_all_of_them(void **state)
{
    (void)state;
    assert_int_equal(place(65536, CNNVP_ISSUE_SCHEDULER), CNNVP_BAD_INPUT);
    assert_non_null(strstr(problem.text, "the platform has no scheduler with an interrupt line"));
    cnnvp_graph_clear(&graph);
    scheduler = 0x1000;
    assert_int_equal(place(65536, CNNVP_ISSUE_SCHEDULER), CNNVP_DONE);
    assert_int_equal(build.groups->table[0].scheduled, 2);
    assert_string_equal(build.groups->plans[0].issue_reason, "as asked");
    clear();
    assert_int_equal(place(65536, CNNVP_ISSUE_GUEST), CNNVP_DONE);
    assert_int_equal(build.groups->table[0].scheduled, 0);
    clear();
    assert_int_equal(place(4096, CNNVP_ISSUE_SCHEDULER), CNNVP_BAD_INPUT);
    assert_non_null(
        strstr(problem.text, "--issue scheduler: layer \"1\" and those after it: not all its weights stay"));
    cnnvp_graph_clear(&graph);
}

/* Two equal chains, since the map between them is an output: the table of each is written for each image. */
static void equal_chains_have_equal_issuers(void **state)
{
    uint32_t by_unit = 0, sizes = 0;
    (void)state;
    scheduler = 0x1000;
    for (uint32_t side = 8; side <= 256; side *= 2u, ++sizes) {
        const struct fake_config config = fake_nfu();
        const struct cnnvp_binary_options options = {.images = 1, .block = 4, .issue = CNNVP_ISSUE_FASTER};
        graph_case_begin(&graph, 16, side);
        const int32_t middle = graph_case_conv(&graph, graph_case_conv(&graph, 0, 16), 16);
        graph_case_output(&graph, middle);
        graph_case_output(&graph, graph_case_conv(&graph, graph_case_conv(&graph, middle, 16), 16));
        struct cnnvp_target target = cases_target(&config);
        target.accelerators[0].scheduler = scheduler;
        assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
        assert_int_equal(cnnvp_binary_build(&graph, &target, &options, &build, &problem), CNNVP_DONE);
        cnnvp_target_clear(&target);
        assert_int_equal(build.groups->count, 2);
        assert_int_equal(build.groups->table[0].scheduled, build.groups->table[1].scheduled);
        by_unit += build.groups->table[0].scheduled;
        clear();
    }
    assert_in_range(by_unit, 1, sizes - 1u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_stay_where_they_fit),         cmocka_unit_test(a_few_stay_in_the_smallest_buffer),
        cmocka_unit_test(the_most_used_stay_otherwise),    cmocka_unit_test(the_scheduler_needs_all_of_them),
        cmocka_unit_test(equal_chains_have_equal_issuers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
