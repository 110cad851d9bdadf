/* SPDX-License-Identifier: Apache-2.0 */
/* What must change no word of the outputs. */
#include "binary_internal.h"
#include "network_case.h"

/* Tiles change nothing in the results: the same words for any buffers and arrays. */
static void buffers_change_no_output(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    for (size_t n = 0; n < 2; ++n) {
        struct outcome first;
        struct fake_config config = fake_nfu();
        network_run(names[n], &config, &first);
        for (unsigned i = 0; i < 4; ++i) {
            struct outcome other;
            config.input_bytes = 4096u << i;
            config.output_bytes = 4096u << i;
            config.weight_bytes = 16384u << i;
            config.rows = 4 + i;
            config.cols = 3 + 2 * i;
            config.pingpong = i & 1u;
            config.fc_mapping = i < 2 ? "broadcast" : "single-neuron";
            network_run(names[n], &config, &other);
            assert_memory_equal(other.fixed.data, first.fixed.data, elements(&first.fixed) * sizeof(float));
            assert_string_equal(other.layers, first.layers);
            network_clear(&other);
        }
        network_clear(&first);
    }
}

/* The same words for another engine: only tiles differ. */
static void engines_change_no_output(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    for (size_t n = 0; n < 2; ++n) {
        struct outcome nfu;
        struct outcome window;
        struct fake_config config = fake_nfu();
        network_run(names[n], &config, &nfu);
        for (uint64_t para = 8; para > 0; para /= 2) {
            config = fake_window();
            config.input_para = para;
            config.output_para = para + 1;
            config.output_bytes = 4096 * para;
            network_run(names[n], &config, &window);
            assert_memory_equal(window.fixed.data, nfu.fixed.data, elements(&nfu.fixed) * sizeof(float));
            assert_string_equal(window.layers, nfu.layers);
            network_clear(&window);
        }
        network_clear(&nfu);
    }
}

/* Timing only: the same places and tables, no weights, no inputs. */
static void timing_only_places_the_same(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    const struct fake_config config = fake_nfu();
    for (size_t n = 0; n < 2; ++n) {
        cnnvp_network *full = network_compile(names[n], &config, &(struct cnnvp_network_options){.images = 3});
        cnnvp_network *timing =
            network_compile(names[n], &config, &(struct cnnvp_network_options){.images = 3, .timing_only = 1});
        assert_memory_equal(full->build.header, timing->build.header, sizeof *full->build.header);
        assert_int_equal(full->build.end, timing->build.end);
        assert_memory_equal(full->build.weight_tiles.all, timing->build.weight_tiles.all,
                            full->build.weight_tiles.count * sizeof *full->build.weight_tiles.all);
        for (size_t i = 0; i < full->graph.layer_count; ++i) {
            struct cnnvp_layer a = full->build.layers[i];
            struct cnnvp_layer b = timing->build.layers[i];
            a.format = b.format = 0;
            for (uint32_t p = 0; p < a.post_count; ++p)
                a.posts[p].format = b.posts[p].format = 0;
            assert_memory_equal(&a, &b, sizeof a);
        }
        struct cnnvp_array output;
        struct cnnvp_error error = {""};
        cnnvp_platform *platform = fake_platform_new(MEMORY);
        assert_int_equal(cnnvp_network_load(timing, platform, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_network_output(timing, platform, 0, &output, &error), CNNVP_BAD_INPUT);
        assert_int_equal(cnnvp_network_reference(timing, 0, &output, &error), CNNVP_BAD_INPUT);
        fake_platform_free(platform);
        cnnvp_network_free(full);
        cnnvp_network_free(timing);
    }
}

/* What memory held before, and whether it can be reached directly, changes no byte of the image and its inputs. */
static void memory_gets_the_image_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"lenet5", "mixed"};
    const struct fake_config config = fake_nfu();
    for (size_t n = 0; n < 2; ++n) {
        cnnvp_network *network = network_compile(names[n], &config, &(struct cnnvp_network_options){.images = 2});
        cnnvp_platform *first = fake_platform_new(MEMORY);
        struct cnnvp_error error = {""};
        assert_int_equal(cnnvp_network_load(network, first, &error), CNNVP_DONE);
        const struct cnnvp_tensor *input = &network->build.tensors[network->graph.input];
        const size_t image = CNNVP_BINARY_ADDRESS - network->target.memory_base;
        const size_t frames = input->address - cnnvp_binary_frame_lead(input) - network->target.memory_base;
        for (int indirect = 0; indirect < 2; ++indirect) {
            cnnvp_platform *other = fake_platform_new(MEMORY);
            memset(other->memory, 0xa5, MEMORY);
            other->indirect = indirect;
            assert_int_equal(cnnvp_network_load(network, other, &error), CNNVP_DONE);
            assert_memory_equal(first->memory + image, other->memory + image,
                                cnnvp_binary_bytes(&network->graph, &network->build));
            assert_memory_equal(first->memory + frames, other->memory + frames, 2u * (size_t)input->image_stride);
            fake_platform_free(other);
        }
        fake_platform_free(first);
        cnnvp_network_free(network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_change_no_output),
        cmocka_unit_test(engines_change_no_output),
        cmocka_unit_test(timing_only_places_the_same),
        cmocka_unit_test(memory_gets_the_image_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
