/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as files: what is written is read again, and what is wrong has its place and says what would be right. */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "test.h"

#include "plan_data.h"

#define LAYERS 4

static struct cnnvp_graph graph;
static char file[] = "/tmp/cnnvp_plan_XXXXXX";

/* input - conv - pool - conv - pool, the last one the output; two layers of one name, and two tensors. */
static int make_graph(void **state)
{
    static const char *const names[LAYERS] = {"conv", "pool", "conv", "a \"pool\""};
    static const uint32_t sides[LAYERS] = {16, 8, 8, 4};
    static struct cnnvp_graph_output output = {"y", LAYERS};
    (void)state;
    graph.input = cnnvp_graph_tensor_add(&graph, "input", 4, 3, 16, 16);
    for (int32_t i = 0; i < LAYERS; ++i) {
        char *name = cnnvp_arena_printf(&graph.arena, "t%d", i == 2 ? 0 : (int)i);
        const int32_t out = cnnvp_graph_tensor_add(&graph, name, 4, 3, sides[i], sides[i]);
        struct cnnvp_graph_layer *layer =
            cnnvp_graph_layer_add(&graph, i % 2 == 0 ? CNNVP_OP_CONV : CNNVP_OP_POOL, names[i], "Node");
        layer->in = i;
        layer->in2 = CNNVP_GRAPH_NONE;
        layer->out = out;
    }
    graph.outputs = &output;
    graph.output_count = 1;
    const int descriptor = mkstemp(file);
    return descriptor >= 0 ? close(descriptor) : -1;
}

static int clear_graph(void **state)
{
    (void)state;
    graph.outputs = NULL;
    cnnvp_graph_clear(&graph);
    return unlink(file);
}

static void write_text(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");
    assert_non_null(stream);
    (void)fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static cnnvp_result read_text(const char *text, struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    write_text(file, text);
    return cnnvp_plan_read(&graph, file, plan, error);
}

/* `where`: LINE:COLUMN. */
static void refused(const char *text, const char *where, const char *what)
{
    struct cnnvp_plan plan;
    struct cnnvp_error error = {""};
    char place[64];
    assert_int_equal(read_text(text, &plan, &error), CNNVP_BAD_INPUT);
    cnnvp_plan_clear(&plan);
    (void)snprintf(place, sizeof place, "%s:%s: ", file, where);
    if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, what) == NULL)
        fail_msg("\"%s\" at %s is not in: %s", what, where, error.text);
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    struct cnnvp_plan plan, again;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_plan_new(&graph, &plan, &error), CNNVP_DONE);
    plan.runs[plan.run_count++] = (struct cnnvp_plan_run){.first = 1, .count = 3, .tile_h = 2, .tile_w = 4};
    plan.runs[0].halo = CNNVP_HALO_FULL;
    for (uint32_t i = 0; i < LAYERS; ++i)
        plan.cuts[i] = (struct cnnvp_plan_cut){
            .group_out = i + 1,
            .tile_h = i + 2,
            .tile_w = i + 3,
            .tile_in = i + 4,
            .tile_out = i + 5,
            .unit = i % 3u,
            .function = (i + 1u) % 3u,
            .tile_images = 1};
    plan.cuts[2].tile_kx = 7;
    plan.on_chip[2] = 1;
    plan.blocks[1] = 3; /* all channels */
    plan.blocks[3] = 2;
    assert_int_equal(cnnvp_plan_write(&graph, &plan, file, &error), CNNVP_DONE);
    if (cnnvp_plan_read(&graph, file, &again, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(again.run_count, 1);
    assert_int_equal(again.runs[0].first, 1);
    assert_int_equal(again.runs[0].count, 3);
    assert_int_equal(again.runs[0].tile_h, 2);
    assert_int_equal(again.runs[0].tile_w, 4);
    assert_int_equal(again.runs[0].halo, CNNVP_HALO_FULL);
    assert_memory_equal(again.cuts, plan.cuts, LAYERS * sizeof *plan.cuts);
    assert_memory_equal(again.on_chip, plan.on_chip, graph.tensor_count);
    assert_memory_equal(again.blocks, plan.blocks, graph.tensor_count * sizeof *plan.blocks);
    cnnvp_plan_clear(&plan);
    cnnvp_plan_clear(&again);
}

/* The older form of a group. */
#define GROUP "groups:\n  - {layers: [conv, pool], tile_h: 8, tile_w: 8, halo: row}\n"

/* Chains are written as groups, with the side of their blocks. */
static void chains_are_written_and_read(void **state)
{
    (void)state;
    struct cnnvp_plan plan, again;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_plan_new(&graph, &plan, &error), CNNVP_DONE);
    plan.block = 16;
    plan.order = (struct cnnvp_block_order){.name = "raster"};
    for (int i = 0; i < 3; ++i)
        plan.chain_places[i] = "here";
    plan.chained[0] = 1;
    plan.chained[1] = plan.chained[2] = CNNVP_GRAPH_NONE;
    plan.cuts[0].unit = 1;
    plan.cuts[1].unit = plan.cuts[2].unit = 2;
    plan.cuts[3] = (struct cnnvp_plan_cut){
        .group_out = 3, .tile_h = 4, .tile_w = 4, .tile_in = 3, .tile_out = 3, .tile_images = 1};
    assert_int_equal(cnnvp_plan_write(&graph, &plan, file, &error), CNNVP_DONE);
    if (cnnvp_plan_read(&graph, file, &again, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(again.run_count, 0);
    assert_int_equal(again.block, 16);
    assert_true(again.order.by_rows);
    assert_int_equal(again.chained[0], 1);
    assert_int_equal(again.chained[1], CNNVP_GRAPH_NONE);
    assert_int_equal(again.chained[2], CNNVP_GRAPH_NONE);
    assert_non_null(strstr(again.chain_places[1], ":2:23"));
    assert_null(again.chain_places[3]);
    assert_int_equal(again.cuts[1].unit, 2);
    cnnvp_plan_clear(&plan);
    cnnvp_plan_clear(&again);
}

#define CHAIN "groups:\n  - {members: [conv, pool], halo: padding, order: table, block: 4}\n"

static void chains_are_checked(void **state)
{
    (void)state;
    refused("groups:\n  - {members: [conv], halo: padding}\n", "2:5", "needs block: the side of its blocks");
    refused("groups:\n  - {members: [conv], halo: padding, block: 6}\n", "2:45", "6 is no power of two");
    refused("groups:\n  - {members: [], halo: padding, block: 4}\n", "2:15", "one layer or more");
    refused("groups:\n  - {members: [conv], halo: padding, block: 4, tile_h: 4}\n", "2:48", "tile_h is that of fused");
    refused("groups:\n  - {members: [conv, pool], tile_h: 8, tile_w: 8, halo: row, block: 4}\n", "2:62",
            "block is that of depth-first groups");
    refused("groups:\n  - {members: [conv], layers: [conv], halo: padding, block: 4}\n", "2:23", "older name");
    refused(CHAIN "  - {members: [conv#2], halo: padding, order: table, block: 8}\n", "3:61",
            "but 4 in the first group");
    refused(CHAIN "  - {members: [conv#2], halo: padding, order: raster, block: 4}\n", "3:47",
            "order: raster, but table in the first group");
    refused(CHAIN "  - {members: [conv#2], halo: padding, block: 4}\n", "3:47", "order: morton, but table");
    refused(CHAIN "  - {members: [pool], halo: padding, order: table, block: 4}\n", "3:16", "\"pool\" is in a group");
    refused(CHAIN "  - {members: [conv#2, 'a \"pool\"'], tile_h: 1, tile_w: 1, halo: row}\n", "3:5", "or none is");
    refused(CHAIN "halo: row\n", "3:1", "have their own halo and order");
    refused(CHAIN "cuts: {conv: {group_out: 3, tile_h: 1, tile_w: 1, tile_in: 3, tile_out: 3}}\n", "3:14",
            "says unit or function alone");
    refused(CHAIN "on_chip: [t1]\n", "3:11", "lies in memory, in planes");
    refused("groups:\n  - {}\n", "2:5", "needs members");
    refused("groups:\n  - {halo: padding}\n", "2:5", "needs members");
    refused("groups:\n  - {block: 4}\n", "2:5", "needs members");
    refused("groups:\n  - {halo: row}\nhalo: row\n", "3:1", "halo stands at");
}

/* A group without members, or in files of the older form the same beside the groups. */
static void rules_are_read(void **state)
{
    static const char *const texts[] = {
        "halo: row\norder: table\n",
        "groups: [{halo: row, order: table}]\n",
        "groups: [{halo: row}, {order: table}]\n",
        "groups: [{halo: row}, {halo: padding, order: table}]\n",
        "groups: [{halo: row}]\norder: table\n",
    };
    struct cnnvp_plan plan;
    struct cnnvp_error error = {""};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        assert_int_equal(read_text(texts[i], &plan, &error), CNNVP_DONE);
        assert_int_equal(plan.halo, 1 + CNNVP_HALO_ROW);
        assert_true(plan.order.name != NULL && !plan.order.by_rows && plan.order.blocks == NULL);
        assert_true(plan.choice_place == NULL && plan.run_count == 0 && plan.block == 0);
        cnnvp_plan_clear(&plan);
    }
}

/* The file is beside the plan. */
static void orders_are_read(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } wrong[] = {
        {"order: []\n", "1:1", "unknown key \"order\""},
        {"blocks: 3\n", "1:9", "an order is blocks: [[0, 0], [1, 0], ...]"},
        {"blocks: []\n", "1:9", "an order is blocks"},
        {"blocks:\n  - [0, 0]\n  - [1]\n", "3:5", "a block is [x, y], two whole numbers from 0 on"},
        {"blocks:\n  - [0, 0]\n  - 1\n", "3:5", "a block is [x, y]"},
        {"blocks: [[0, 0, 0]]\n", "1:10", "a block is [x, y]"},
        {"blocks: [[0, 0], [1, -1]]\n", "1:22", "a block is [x, y]"},
        {"blocks: [[0, 0], [65536, 0]]\n", "1:19", "a block is [x, y]"},
    };
    char beside[sizeof file + 8], text[64];
    struct cnnvp_plan plan;
    struct cnnvp_error error = {""};
    (void)state;
    (void)snprintf(beside, sizeof beside, "%s.order", file);
    (void)snprintf(text, sizeof text, "order: %s\n", strrchr(beside, '/') + 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        char place[64];
        write_text(beside, wrong[i].text);
        assert_int_equal(read_text(text, &plan, &error), CNNVP_BAD_INPUT);
        cnnvp_plan_clear(&plan);
        (void)snprintf(place, sizeof place, "%s:%s: ", beside, wrong[i].where);
        if (strncmp(error.text, place, strlen(place)) != 0 || strstr(error.text, wrong[i].what) == NULL)
            fail_msg("\"%s\" at %s is not in: %s", wrong[i].what, place, error.text);
    }
    write_text(beside, "blocks: [[0, 0], [1, 0],\n  [65535, 3]]\n");
    assert_int_equal(read_text(text, &plan, &error), CNNVP_DONE);
    assert_true(plan.order.name != NULL && plan.order.count == 3);
    assert_true(plan.order.blocks[1] == 1 && plan.order.blocks[2] == (65535 | 3 << 16));
    assert_non_null(strstr(plan.order.places[2], ".order:2:3"));
    cnnvp_plan_clear(&plan);
    FILE *stream = fopen(beside, "w");
    assert_true(stream != NULL && fprintf(stream, "blocks:\n") > 0);
    for (unsigned i = 0; i < 4096; ++i)
        (void)fprintf(stream, "  - [%u, %u]\n", i % 64, i / 64);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(read_text(text, &plan, &error), CNNVP_DONE);
    assert_true(plan.order.count == 4096 && plan.order.blocks[4095] == (63 | 63 << 16));
    cnnvp_plan_clear(&plan);
    assert_int_equal(unlink(beside), 0);
    assert_int_equal(read_text(text, &plan, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "where morton, table, raster or the file of an order is expected"));
    cnnvp_plan_clear(&plan);
}

static void groups_are_checked(void **state)
{
    (void)state;
    refused("group: []\n", "1:1", "unknown key \"group\"; did you mean \"groups\"?");
    refused("groups: {}\n", "1:9", "a list of groups is expected");
    refused("groups:\n  - {layers: [conv, pol], tile_h: 1, tile_w: 1, halo: row}\n", "2:21", "did you mean \"pool\"?");
    refused("groups:\n  - {layers: [conv, conv#2], tile_h: 1, tile_w: 1, halo: row}\n", "2:21",
            "does not run after \"conv\": a group is layers one after the other, and the next one is \"pool\"");
    refused("groups:\n  - {layers: [conv], tile_h: 1, tile_w: 1, halo: row}\n", "2:14", "two layers or more");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 9, tile_w: 8, halo: row}\n", "2:5", "gives is 8 x 8");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 8, tile_w: 9, halo: row}\n", "2:5", "gives is 8 x 8");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 0, tile_w: 8, halo: row}\n", "2:36", "from 1 on");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 8x, tile_w: 8, halo: row}\n", "2:36", "from 1 on");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 4294967297, tile_w: 8, halo: row}\n", "2:36", "from 1 on");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 8, tile_w: 8}\n", "2:5",
            "needs halo: recompute, row, full or padding");
    refused("groups:\n  - {layers: [conv, pool], tile_h: 8, tile_w: 8, halo: none}\n", "2:56",
            "where recompute, row, full or padding is");
    refused("halo: none\n", "1:7", "halo: \"none\" where recompute, row or full is expected");
    refused("order: [table]\n", "1:8", "where morton, table, raster or the file of an order is expected");
    refused("order: hilbert\n", "1:8",
            "order: \"hilbert\" where morton, table, raster or the file of an order is expected");
    refused(GROUP "  - {layers: [pool, conv#2], tile_h: 1, tile_w: 1, halo: row}\n", "3:5", "in another group already");
    refused("groups:\n  - {layers: [conv#2, 'a \"pool\"'], tile_h: 1, tile_w: 1, halo: row}\n"
            "  - {layers: [conv, pool], tile_h: 1, tile_w: 1, halo: row}\n",
            "3:5", "this one belongs before that of \"conv\"");
}

static void cuts_and_tensors_are_checked(void **state)
{
    (void)state;
    refused("cuts: {conv#3: {}}\n", "1:8", "the network has no layer \"conv#3\"");
    refused("cuts: {conv: {group_out: 1, tile_h: 1, tile_w: 1, tile_in: 1}}\n", "1:14", "needs tile_out too");
    refused("cuts: {conv: {tile_x: 1}}\n", "1:15", "unknown key \"tile_x\"");
    refused("cuts: {conv: {function: table}}\n", "1:25", "\"table\" where vector or write_out is expected");
    refused("cuts: {conv: {function: vector, tile_h: 1}}\n", "1:14", "needs group_out too");
    refused("on_chip: [t9]\n", "1:11", "the network has no tensor \"t9\"");
    refused("on_chip: [t3]\n", "1:11", "\"t3\" is an output of the network");
    refused("on_chip: t1\n", "1:10", "a list of tensors is expected");
    refused("tensors: [t1]\n", "1:10", "a map of tensors is expected");
    refused("tensors: {t9: {}}\n", "1:11", "the network has no tensor \"t9\"");
    refused("tensors: {t1: planes}\n", "1:15", "a map with memory_layout is expected");
    refused("tensors: {t1: {layout: planes}}\n", "1:16", "unknown key \"layout\"; there are memory_layout");
    refused("tensors: {t1: {memory_layout: rows}}\n", "1:31", "\"rows\" where planes, blocks-N or pixels is expected");
    refused("tensors: {t1: {memory_layout: blocks-2x}}\n", "1:31", "blocks-N");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(chains_are_written_and_read),
        cmocka_unit_test(chains_are_checked),
        cmocka_unit_test(rules_are_read),
        cmocka_unit_test(orders_are_read),
        cmocka_unit_test(groups_are_checked),
        cmocka_unit_test(cuts_and_tensors_are_checked),
    };
    return cmocka_run_group_tests(tests, make_graph, clear_graph);
}
