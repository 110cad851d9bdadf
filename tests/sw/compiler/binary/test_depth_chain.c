/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers form chains, by their shapes and readers, and what is said where none do. */
#include "test.h"

#include "graph_case.h"

static struct cnnvp_error problem;

/* Blocks are as large as asked, and no larger than the map. */
static void layers_with_one_reader_are_chained(void **state)
{
    struct cnnvp_graph graph;
    (void)state;
    graph_case_begin(&graph, 3, 8);
    const int32_t end = graph_case_conv(&graph, graph_case_pool(&graph, graph_case_conv(&graph, 0, 2)), 5);
    graph_case_output(&graph, graph_case_pool(&graph, end));
    assert_int_equal(cnnvp_depth_find(&graph, 8, NULL, &problem), CNNVP_DONE);
    for (int32_t i = 0; i < 4; ++i) {
        assert_int_equal(graph.layers[i].chained, i < 3 ? i + 1 : CNNVP_GRAPH_NONE);
        assert_int_equal(graph.layers[i].block_height, i < 2 ? 8 : 4);
        assert_int_equal(graph.layers[i].block_width, graph.layers[i].block_height);
    }
    /* A layer that cannot be part of one ends a chain, and the next one begins after it. */
    graph.layers[1].sx = 1;
    assert_int_equal(cnnvp_depth_find(&graph, 2, NULL, &problem), CNNVP_DONE);
    assert_int_equal(graph.layers[0].chained, CNNVP_GRAPH_NONE);
    assert_int_equal(graph.layers[1].block_height, 0);
    assert_int_equal(graph.layers[2].chained, 3);
    assert_int_equal(graph.layers[2].block_height, 2);
    cnnvp_graph_clear(&graph);
}

/* What another layer reads too, or the network gives, has to be in memory. */
static void maps_of_several_readers_end_chains(void **state)
{
    (void)state;
    enum { LAYER, SECOND_OPERAND, OUTPUT };
    for (int use = LAYER; use <= OUTPUT; ++use) {
        struct cnnvp_graph graph;
        graph_case_begin(&graph, 4, 8);
        const int32_t shared = graph_case_conv(&graph, 0, 4);
        const int32_t end = graph_case_conv(&graph, shared, 4);
        if (use == OUTPUT)
            graph_case_output(&graph, shared);
        else if (use == LAYER)
            graph_case_output(&graph, graph_case_conv(&graph, shared, 4));
        else
            graph_case_output(&graph, graph_case_add(&graph, 0, shared));
        graph_case_output(&graph, end);
        assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
        for (size_t i = 0; i < graph.layer_count; ++i)
            assert_int_equal(graph.layers[i].chained, CNNVP_GRAPH_NONE);
        assert_int_equal(graph.layers[1].block_height, 4);
        cnnvp_graph_clear(&graph);
    }
}

static void refused(struct cnnvp_graph *graph, uint32_t block, const char *why)
{
    assert_int_equal(cnnvp_depth_find(graph, block, NULL, &problem), CNNVP_BAD_INPUT);
    if (strstr(problem.text, why) == NULL)
        fail_msg("\"%s\" is not in: %s", why, problem.text);
}

static void networks_without_chains_are_refused(void **state)
{
    struct cnnvp_graph graph;
    (void)state;
    graph_case_begin(&graph, 3, 8);
    graph_case_output(&graph, graph_case_add(&graph, 0, 0));
    refused(&graph, 4, "convolutions and 2x2 maximum pools, and the network has none; use --schedule layer");
    (void)graph_case_pool(&graph, 0);
    refused(&graph, 1, "layer \"2\" reads 8x8 and a block of 1x1 cannot be pooled");
    graph.layers[1].pool = CNNVP_POOL_AVERAGE;
    refused(&graph, 4, "it is an average pool");
    graph.layers[1].op = CNNVP_OP_CONV;
    graph.layers[1].sx = 1;
    refused(&graph, 4, "its stride is not 1");
    graph.layers[1].sy = 1;
    refused(&graph, 4, "its output has another size than its input");
    graph.tensors[2].height = graph.tensors[2].width = 8;
    graph.layers[1].pad_top = 1;
    refused(&graph, 4, "its padding is not even around the kernel");
    graph.layers[1].pad_top = 0; /* of an even kernel the larger part comes last */
    assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
    graph.tensors[0].height = graph.tensors[2].height = 12;
    refused(&graph, 4, "a side of its map is no power of two");
    cnnvp_graph_clear(&graph);
}

static void blocks_are_powers_of_two(void **state)
{
    (void)state;
    for (uint32_t block = 1; block != 0; block *= 2)
        assert_int_equal(cnnvp_depth_check_block(block, &problem), CNNVP_DONE);
    assert_int_equal(cnnvp_depth_check_block(12, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "--block 12: the side of a block is a power of two, such as 8 or 16");
    assert_int_equal(cnnvp_depth_check_block(0, &problem), CNNVP_BAD_INPUT);
}

/* A plan's chains are those that it names, with its own blocks; what is no chain is refused at its place. */
static void plans_name_chains(void **state)
{
    int32_t chained[] = {1, CNNVP_GRAPH_NONE, CNNVP_GRAPH_NONE, CNNVP_GRAPH_NONE};
    const char *places[] = {"p:1", "p:2", "p:3", NULL};
    const struct cnnvp_plan plan = {.block = 2, .chained = chained, .chain_places = places};
    struct cnnvp_graph graph;
    (void)state;
    graph_case_begin(&graph, 3, 8);
    const int32_t end = graph_case_conv(&graph, graph_case_pool(&graph, graph_case_conv(&graph, 0, 2)), 5);
    graph_case_output(&graph, graph_case_pool(&graph, end));
    assert_int_equal(cnnvp_depth_find(&graph, 8, &plan, &problem), CNNVP_DONE);
    for (size_t i = 0; i < 4; ++i) {
        assert_int_equal(graph.layers[i].block_height, i < 3 ? 2 : 0);
        assert_int_equal(graph.layers[i].chained, i == 0 ? 1 : CNNVP_GRAPH_NONE);
    }
    chained[0] = 2;
    assert_int_equal(cnnvp_depth_find(&graph, 8, &plan, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "p:3: layer \"3\" is not the one layer that reads what \"1\" before it makes");
    graph.layers[1].pool = CNNVP_POOL_AVERAGE;
    assert_int_equal(cnnvp_depth_find(&graph, 8, &plan, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "p:2: layer \"2\" cannot run depth first: it is an average pool");
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_with_one_reader_are_chained),
        cmocka_unit_test(maps_of_several_readers_end_chains),
        cmocka_unit_test(networks_without_chains_are_refused),
        cmocka_unit_test(blocks_are_powers_of_two),
        cmocka_unit_test(plans_name_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
