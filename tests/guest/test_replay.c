/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images that are replayed push what the guest would push without: the words of whole runs against those of one image
 * after the other.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_element.h"
#include "fake_platform.h"
#include "guest.h"
#include "network.h"
#include "pipeline.h"
#include "schedule.h"

#define MEMORY ((size_t)64 << 20)
#define IMAGES 6u

static struct cnnvp_guest guest;

struct compiled {
    const char *file;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_image *image;
};

/* 0: the configuration is too small for it. */
static int compile(const char *file, const struct fake_config *config, struct cnnvp_network_options options,
                   struct compiled *compiled)
{
    struct cnnvp_error error = {""};
    options.struct_size = sizeof options;
    options.images = IMAGES;
    options.timing_only = 1;
    *compiled = (struct compiled){.file = file};
    if (fake_network_new(file, config, &options, &compiled->network, &error) != CNNVP_DONE)
        return 0;
    compiled->platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(compiled->network, compiled->platform, &error), CNNVP_DONE);
    compiled->image =
        (struct cnnvp_image *)(void *)(compiled->platform->memory + (CNNVP_IMAGE_ADDRESS - CNNVP_MEMORY_BASE));
    return 1;
}

static void forget(struct compiled *compiled)
{
    fake_platform_free(compiled->platform);
    cnnvp_network_free(compiled->network);
}

/* cnnvp_guest_run without its replays. */
static void push_one_by_one(void)
{
    if ((guest.image->flags & CNNVP_IMAGE_ON_CHIP) != 0)
        cnnvp_schedule_preload(&guest);
    for (guest.image_number = 0; guest.image_number < guest.image->images; ++guest.image_number)
        cnnvp_schedule_layers(&guest);
    cnnvp_flush_epilogues(&guest, 0);
    cnnvp_element_layer(&guest.element, 0);
    cnnvp_element_irq(&guest.element, guest.image->images);
}

static void compare(const struct compiled *compiled, uint32_t images)
{
    struct fake_element run = {.memory = compiled->platform->memory};
    struct fake_element wanted = run;
    struct cnnvp_machine machine = fake_element_machine(&run);
    compiled->image->images = images;
    assert_int_equal(cnnvp_guest_init(&guest, &machine), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);
    machine = fake_element_machine(&wanted);
    assert_int_equal(cnnvp_guest_init(&guest, &machine), 0);
    push_one_by_one();
    for (size_t i = 0; i < run.count && i < wanted.count; ++i)
        if (run.words[i].high != wanted.words[i].high || run.words[i].low != wanted.words[i].low)
            fail_msg("%s, %u images: word %zu of %zu is %08x %08x, not %08x %08x", compiled->file, images, i,
                     wanted.count, run.words[i].high, run.words[i].low, wanted.words[i].high, wanted.words[i].low);
    assert_int_equal(run.count, wanted.count);
    free(run.words);
    free(wanted.words);
}

static void compare_all(const char *file, const struct fake_config *config, struct cnnvp_network_options options,
                        uint32_t *ran)
{
    struct compiled compiled;
    if (!compile(file, config, options, &compiled))
        return;
    ++*ran;
    for (uint32_t images = 1; images <= IMAGES; ++images)
        compare(&compiled, images);
    forget(&compiled);
}

/* Each network in buffers of both kinds, so large that one step does and so small that it takes several. */
static void replays_push_the_same_words(void **state)
{
    static const enum cnnvp_rounding roundings[] = {CNNVP_ROUND_NEAREST, CNNVP_ROUND_STOCHASTIC};
    static const char *const patterns[] = {TEST_ZOO "/*.onnx", TEST_NETWORKS "/lenet5.onnx",
                                           TEST_NETWORKS "/mixed.onnx"};
    glob_t files = {0};
    uint32_t ran = 0;
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; ++i)
        assert_int_equal(glob(patterns[i], i != 0 ? GLOB_APPEND : 0, NULL, &files), 0);
    for (size_t i = 0; i < 16 * files.gl_pathc; ++i) {
        struct fake_config config = i & 1u ? fake_window() : fake_nfu();
        struct cnnvp_network_options options = {.rounding = roundings[i >> 1 & 1u], .seed = i};
        config.pingpong = i >> 2 & 1u;
        if ((i >> 3 & 1u) != 0)
            config.input_bytes = config.weight_bytes = config.output_bytes = 2048;
        compare_all(files.gl_pathv[i / 16], &config, options, &ran);
        options.on_chip = 1;
        if ((i >> 3 & 1u) == 0)
            compare_all(files.gl_pathv[i / 16], &config, options, &ran);
        options.on_chip = 0;
        options.schedule = CNNVP_SCHEDULE_DEPTH_FIRST;
        options.block = 4;
        if ((i >> 3 & 1u) == 0 && strstr(files.gl_pathv[i / 16], "net_") != NULL)
            compare_all(files.gl_pathv[i / 16], &config, options, &ran);
    }
    globfree(&files);
    print_message("%u programs\n", ran);
    assert_true(ran > 2000);
}

/* A seed that is 0 is none: where one becomes 0, as a whole or as that of a part, nothing is replayed. */
static void seeds_of_zero_are_pushed_as_they_are(void **state)
{
    static const char *const files[] = {TEST_NETWORKS "/lenet5.onnx", TEST_ZOO "/averagepool_exclude.onnx",
                                        TEST_ZOO "/net_resnet.onnx", TEST_ZOO "/net_vgg.onnx"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof files[0]; ++f) {
        const struct fake_config config = fake_nfu();
        const struct cnnvp_network_options options = {.rounding = CNNVP_ROUND_STOCHASTIC, .seed = 1};
        struct compiled compiled;
        assert_int_equal(compile(files[f], &config, options, &compiled), 1);
        struct cnnvp_image_layer *layers =
            (void *)(compiled.platform->memory + (compiled.image->layers - CNNVP_MEMORY_BASE));
        for (uint32_t layer = 0; layer < compiled.image->layer_count; ++layer) {
            const uint32_t seed = layers[layer].seed;
            for (uint32_t image = 0; image < IMAGES; ++image)
                for (uint32_t part = 0; part < 20; ++part) {
                    layers[layer].seed = 0u - image * CNNVP_IMAGE_SEED - part;
                    compare(&compiled, IMAGES);
                }
            layers[layer].seed = seed;
        }
        forget(&compiled);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_push_the_same_words),
        cmocka_unit_test(seeds_of_zero_are_pushed_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
