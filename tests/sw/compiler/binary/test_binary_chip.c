/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that stay on chip: places in the buffers' halves, and what is too large for them. */

#include "test.h"

#include "binary_internal.h"

#include "binary_case.h"

/* Places on chip: alive at the same time in one half means apart; operands of additions share a half. */
static void chip_places_do_not_overlap(void **state)
{
    (void)state;
    struct builder builder;
    const int64_t dims[4] = {6, 6, 3, 3};
    const int64_t pads[4] = {1, 1, 1, 1};
    const struct fake_config config = fake_nfu();
    cnnvp_network *network;
    struct cnnvp_error error = {""};
    binary_case_begin(&builder, 6, 12, 12);
    (void)builder_random(&builder, "w", 4, dims, 0.4f);
    const char *names[] = {"x", "a", "b", "c", "d", "y"};
    for (size_t i = 0; i < 5; ++i) {
        Onnx__NodeProto *node = NULL;
        if (i % 2 == 0) {
            node = builder_node(&builder, "Conv", names[i + 1], names[i], "w", NULL, NULL);
            builder_ints(&builder, node, "pads", 4, pads);
        } else {
            (void)builder_node(&builder, "Add", names[i + 1], names[i], names[i - 1], NULL, NULL);
        }
    }
    if (binary_case_build(&builder, &config, 1, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    const struct cnnvp_build *made = &network->build;
    for (size_t i = 0; i < network->graph.layer_count; ++i) {
        const struct cnnvp_layer *layer = &made->layers[i];
        const struct cnnvp_tensor *tensors[] = {&layer->in, &layer->in2, &layer->out};
        if (layer->op == CNNVP_OP_ADD)
            assert_int_equal(layer->in.chip_half, layer->in2.chip_half);
        for (size_t a = 0; a < 3; ++a)
            for (size_t b = a + 1; b < (i + 1 == network->graph.layer_count ? 2u : 3u); ++b) {
                if (tensors[a]->address == 0 || tensors[b]->address == 0 ||
                    tensors[a]->chip_half != tensors[b]->chip_half || tensors[a]->address == tensors[b]->address)
                    continue;
                const uint64_t first = tensors[a]->chip_address;
                const uint64_t second = tensors[b]->chip_address;
                assert_true(first + cnnvp_binary_frame_bytes(tensors[a]) <= second ||
                            second + cnnvp_binary_frame_bytes(tensors[b]) <= first);
            }
    }
    for (size_t a = 0; a < made->weight_tiles.count; ++a) {
        assert_true(made->weight_tiles.all[a].chip_address + made->weight_tiles.all[a].bytes <=
                    network->target.limits.weight_bytes);
        for (size_t b = 0; b < a; ++b)
            assert_true(made->weight_tiles.all[a].chip_half != made->weight_tiles.all[b].chip_half ||
                        made->weight_tiles.all[a].chip_address + made->weight_tiles.all[a].bytes <=
                            made->weight_tiles.all[b].chip_address ||
                        made->weight_tiles.all[b].chip_address + made->weight_tiles.all[b].bytes <=
                            made->weight_tiles.all[a].chip_address);
    }
    cnnvp_network_free(network);
    struct fake_config small = config;
    small.weight_bytes = 1024;
    assert_int_equal(binary_case_build(&builder, &small, 1, &network, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "the weight buffer lacks "));
    small = config;
    small.input_bytes = 2048;
    assert_int_equal(binary_case_build(&builder, &small, 1, &network, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "a half of the input buffer lacks "));
    small = config;
    small.output_bytes = 2048;
    assert_int_equal(binary_case_build(&builder, &small, 1, &network, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "a half of the output buffer holds 1024"));
    builder_free(&builder);
}

/* Places begin at multiples of 64 bytes and end anywhere: of a half of 848 bytes, the second piece of 400 takes 448 to
 * 847, and one byte more has no room. */
static void last_piece_ends_with_the_half(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; ++more) {
        struct cnnvp_scratchpad buffer = {.halves = 1, .room = {848}};
        struct cnnvp_weight_tile tiles[2] = {{.bytes = 400u + more}, {.bytes = 400u + more}};
        struct cnnvp_piece pieces[2];
        cnnvp_binary_list_pieces(tiles, 2, pieces);
        assert_int_equal(cnnvp_binary_keep(&buffer, pieces, 2), more * 448u);
        assert_int_equal(tiles[0].chip_address, 0);
        assert_int_equal(tiles[1].stays, more == 0);
        assert_int_equal(tiles[1].chip_address, more == 0 ? 448 : 0);
    }
}

/* A map that is added to two others, which would lie in different halves by themselves. */
static void operands_of_two_additions_share_a_half(void **state)
{
    static const char *const layers[][3] = {{"x", "w", "a"}, {"a", "w", "b"}, {"b", "w", "c"}, {"c", "a", "d"},
                                            {"c", "b", "e"}, {"d", "e", "f"}, {"f", "w", "y"}};
    (void)state;
    struct builder builder;
    const int64_t dims[4] = {6, 6, 3, 3};
    const int64_t pads[4] = {1, 1, 1, 1};
    const struct fake_config config = fake_nfu();
    cnnvp_network *network;
    struct cnnvp_error error = {""};
    uint32_t additions = 0;
    binary_case_begin(&builder, 6, 12, 12);
    (void)builder_random(&builder, "w", 4, dims, 0.4f);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; ++i) {
        const int is_conv = layers[i][1][0] == 'w';
        Onnx__NodeProto *node =
            builder_node(&builder, is_conv ? "Conv" : "Add", layers[i][2], layers[i][0], layers[i][1], NULL, NULL);
        if (is_conv)
            builder_ints(&builder, node, "pads", 4, pads);
    }
    if (binary_case_build(&builder, &config, 1, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < network->graph.layer_count; ++i) {
        const struct cnnvp_layer *layer = &network->build.layers[i];
        if (layer->op != CNNVP_OP_ADD)
            continue;
        assert_int_equal(layer->in.chip_half, layer->in2.chip_half);
        ++additions;
    }
    assert_int_equal(additions, 3);
    cnnvp_network_free(network);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_piece_ends_with_the_half), cmocka_unit_test(chip_places_do_not_overlap),
        cmocka_unit_test(operands_of_two_additions_share_a_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
