/* SPDX-License-Identifier: Apache-2.0 */
/* Where the blocks of chains lie: levels, slots that are apart while both hold values, and chains that are cut. */
#include "test.h"

#include "../plan/plan_cases.h"
#include "binary_internal.h"
#include "graph_case.h"

static struct cnnvp_graph graph;
static struct cnnvp_build build;
static struct cnnvp_error problem;

/* conv - conv - pool - conv on maps of 16x16 with 8 channels. */
static void make_graph(void)
{
    graph_case_begin(&graph, 8, 16);
    const int32_t wide = graph_case_conv(&graph, graph_case_conv(&graph, 0, 8), 8);
    graph_case_output(&graph, graph_case_conv(&graph, graph_case_pool(&graph, wide), 8));
}

static cnnvp_result place(uint32_t block, uint64_t input_bytes, const struct cnnvp_block_order *order)
{
    struct fake_config config = fake_nfu();
    const struct cnnvp_binary_options options = {.images = 1, .block = block, .order = order};
    config.input_bytes = 2 * input_bytes;
    struct cnnvp_target target = cases_target(&config);
    assert_int_equal(cnnvp_depth_find(&graph, block, NULL, &problem), CNNVP_DONE);
    const cnnvp_result result = cnnvp_binary_build(&graph, &target, &options, &build, &problem);
    cnnvp_target_clear(&target);
    return result;
}

static void clear(void)
{
    cnnvp_binary_clear(&build);
    cnnvp_graph_clear(&graph);
}

static void levels_are_blocks_of_maps(void **state)
{
    static const uint32_t bits[5] = {2, 2, 2, 1, 1}, sides[5] = {4, 4, 4, 4, 4};
    (void)state;
    make_graph();
    assert_int_equal(place(4, 32768, NULL), CNNVP_DONE);
    const struct cnnvp_groups *groups = build.groups;
    assert_true(groups->count == 1 && groups->member_count == 4);
    for (size_t i = 0; i < 5; ++i) {
        const struct cnnvp_binary_level *level = &groups->levels[i];
        const uint32_t border = i == 0 || i == 1 || i == 3;
        assert_true(level->bits_x == bits[i] && level->bits_y == bits[i]);
        assert_int_equal(level->target, 16);
        assert_true(level->block.height == sides[i] && level->block.width == sides[i]);
        assert_int_equal(level->block.border_top, border);
        assert_int_equal(level->block.border_right, border);
        assert_int_equal(level->on_chip, i != 4); /* a block of the last map leaves from the output buffer */
        assert_int_equal(level->padding, border ? CNNVP_PADDING_ONCE : CNNVP_PADDING_NONE);
    }
    assert_null(groups->orders);
    clear();
}

/* Bytes of a slot of this level: 8 channels, 64 for each row of 4 or of 6 words. */
static uint64_t end_of(const struct cnnvp_binary_level *level)
{
    return level->block.chip_address + cnnvp_binary_align(cnnvp_binary_frame_bytes(&level->block));
}

static int are_apart(const struct cnnvp_binary_level *a, const struct cnnvp_binary_level *b)
{
    return a->block.chip_half != b->block.chip_half || end_of(a) <= b->block.chip_address ||
           end_of(b) <= a->block.chip_address;
}

/* Ever smaller halves, until the chain is cut or refused: what holds values at the same time never shares a place. The
 * block after the pool gathers while all before it are at work. */
static void slots_of_one_time_are_apart(void **state)
{
    int shared = 0, refused = 0;
    (void)state;
    for (uint64_t bytes = 4096; bytes >= 512 && !refused; bytes -= 64) {
        make_graph();
        refused = place(4, bytes, NULL) != CNNVP_DONE;
        const struct cnnvp_groups *groups = build.groups;
        for (size_t a = 0; !refused && groups->count == 1 && groups->member_count == 4 && a < 4; ++a)
            for (size_t b = a + 1; b < 4; ++b) {
                const int apart = are_apart(&groups->levels[a], &groups->levels[b]);
                assert_true(end_of(&groups->levels[b]) <= bytes);
                assert_true(apart || (a != 0 && b != 3));
                shared |= !apart;
                if (!apart && a == 1)
                    assert_int_equal(groups->levels[a].padding, CNNVP_PADDING_EACH);
            }
        clear();
    }
    assert_true(shared && refused);
    assert_non_null(strstr(problem.text, "a block of 4x4 with all channels needs 576 bytes of input_buffer"));
}

/* A convolution of 4x4 from 4 to 16 channels on the window array or the vector unit, with halves of these bytes. */
static int takes(uint64_t weight_bytes, uint64_t output_bytes)
{
    struct fake_config config = fake_window();
    const struct cnnvp_binary_options options = {.images = 1, .block = 4};
    config.input_para = 8;
    config.output_para = 12;
    config.weight_bytes = 2 * weight_bytes;
    config.output_bytes = 2 * output_bytes;
    graph_case_begin(&graph, 4, 16);
    graph_case_output(&graph, graph_case_conv(&graph, 0, 16));
    struct cnnvp_graph_layer *layer = &graph.layers[0];
    layer->kx = layer->ky = 4;
    struct cnnvp_target target = cases_target(&config);
    assert_int_equal(cnnvp_depth_find(&graph, 4, NULL, &problem), CNNVP_DONE);
    const int taken = cnnvp_binary_build(&graph, &target, &options, &build, &problem) == CNNVP_DONE;
    cnnvp_target_clear(&target);
    clear();
    return taken;
}

/* Whichever unit the plan then prefers. */
static void more_memory_refuses_nothing(void **state)
{
    enum { SIZES = 10 };
    int taken[SIZES][SIZES];
    (void)state;
    for (int w = 0; w < SIZES; ++w)
        for (int o = 0; o < SIZES; ++o) {
            taken[w][o] = takes(UINT64_C(32) << w, UINT64_C(64) << o);
            assert_true(taken[w][o] || w == 0 || !taken[w - 1][o]);
            assert_true(taken[w][o] || o == 0 || !taken[w][o - 1]);
        }
    assert_true(!taken[0][0] && taken[SIZES - 1][SIZES - 1]);
}

/* The guest has places for 256 levels. */
static void long_chains_are_cut(void **state)
{
    (void)state;
    graph_case_begin(&graph, 8, 16);
    int32_t map = 0;
    for (int i = 0; i < 260; ++i)
        map = graph_case_conv(&graph, map, 8);
    graph_case_output(&graph, map);
    assert_int_equal(place(4, 32768, NULL), CNNVP_DONE);
    assert_int_equal(build.groups->count, 2);
    assert_int_equal(build.groups->table[0].layer_count, 255);
    assert_int_equal(build.groups->table[1].layer_count, 5);
    clear();
}

/* Bit by bit, x first. */
static void order_tables_are_mortons(void **state)
{
    static const uint32_t x[16] = {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3};
    static const uint32_t y[16] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};
    (void)state;
    make_graph();
    assert_int_equal(place(4, 32768, &(struct cnnvp_block_order){.blocks = NULL}), CNNVP_DONE);
    assert_int_equal(build.groups->order_count, 16 + 16 + 16 + 4 + 4);
    for (uint32_t i = 0; i < 16; ++i)
        assert_int_equal(build.groups->orders[i], x[i] | y[i] << 16);
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(build.groups->orders[48 + i], i % 2 | i / 2 << 16);
    clear();
}

/* Places of entries that a message has. */
static const char *const at[] = {"o:1:1", "o:1:2",  "o:1:3",  "o:1:4",  "o:1:5",  "o:1:6",  "o:1:7",  "o:1:8",
                                 "o:1:9", "o:1:10", "o:1:11", "o:1:12", "o:1:13", "o:1:14", "o:1:15", "o:1:16"};

/* Of 4 x 4 blocks, each digit an x or a y. */
static cnnvp_result order_as(const char *digits)
{
    uint32_t blocks[16];
    struct cnnvp_block_order order = {
        .file = "o", .place = "o:1:1", .blocks = blocks, .places = (const char **)at, .count = strlen(digits) / 2};
    for (size_t i = 0; i < order.count; ++i)
        blocks[i] = (uint32_t)(digits[2 * i] - '0') | (uint32_t)(digits[2 * i + 1] - '0') << 16;
    make_graph();
    return place(4, 32768, &order);
}

/* Hilbert's curve, and the same of the map after the pool: 00 01 11 10, with each block where its first part is. */
static void orders_come_from_a_file(void **state)
{
    static const char hilbert[] = "00101101020313122223333231212030", halved[] = "00011110";
    (void)state;
    assert_int_equal(order_as(hilbert), CNNVP_DONE);
    assert_int_equal(build.groups->order_count, 16 + 16 + 16 + 4 + 4);
    for (uint32_t level = 0; level < 3; ++level)
        for (uint32_t i = 0; i < 16; ++i)
            assert_int_equal(build.groups->orders[16 * level + i],
                             (uint32_t)(hilbert[2 * i] - '0') | (uint32_t)(hilbert[2 * i + 1] - '0') << 16);
    for (uint32_t level = 0; level < 2; ++level)
        for (uint32_t i = 0; i < 4; ++i)
            assert_int_equal(build.groups->orders[48 + 4 * level + i],
                             (uint32_t)(halved[2 * i] - '0') | (uint32_t)(halved[2 * i + 1] - '0') << 16);
    clear();
}

static void wrong_orders_are_refused(void **state)
{
    static const struct {
        const char *digits, *message;
    } wrong[] = {
        {"00101101020313122223333231212040", "o:1:16: block [4, 0] leaves the map, of 4 x 4 blocks"},
        {"00101101020313122223333231212020", "o:1:16: block [2, 0] stands at o:1:15 already"},
        {"001011010203131222233332312120", "o:1:1: block [3, 0] is missing: the map has 4 x 4 blocks"},
        {"10001101020313122223333231212030", "o:1:1: the order begins with [1, 0]"},
        /* Row by row: the pool's first block is left for its second one. */
        {"00102030011121310212223203132333", "o:1:5: layer \"3\" gathers a block from 4 blocks in one place on chip"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(order_as(wrong[i].digits), CNNVP_BAD_INPUT);
        cnnvp_graph_clear(&graph);
        assert_memory_equal(problem.text, wrong[i].message, strlen(wrong[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_blocks_of_maps),   cmocka_unit_test(slots_of_one_time_are_apart),
        cmocka_unit_test(more_memory_refuses_nothing), cmocka_unit_test(order_tables_are_mortons),
        cmocka_unit_test(long_chains_are_cut),         cmocka_unit_test(orders_come_from_a_file),
        cmocka_unit_test(wrong_orders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
