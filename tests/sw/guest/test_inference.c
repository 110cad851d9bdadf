/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest software has calculated for each image of a run: the instructions that the array and the vector unit
 * execute, with what their registers hold then. */
#include <glob.h>

#include "test.h"

#include "fake_element.h"
#include "fake_platform.h"
#include "guest.h"
#include "network.h"

#define MEMORY ((size_t)64 << 20)
#define IMAGES 3u
#define IMAGE_SEED 0x9e3779b9u /* from image to image */

static struct cnnvp_guest guest;

struct compiled {
    const char *file;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_binary *binary;
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
    compiled->binary =
        (struct cnnvp_binary *)(void *)(compiled->platform->memory + (CNNVP_BINARY_ADDRESS - CNNVP_MEMORY_BASE));
    return 1;
}

static void forget(struct compiled *compiled)
{
    fake_platform_free(compiled->platform);
    cnnvp_network_free(compiled->network);
}

/* How many registers the descriptor of a calculation has, and which of them is its seed. */
struct descriptor {
    uint32_t count, seed;
};

static struct descriptor descriptor_of(uint32_t opcode)
{
#define DESCRIPTOR(type)                                         \
    (struct descriptor)                                          \
    {                                                            \
        sizeof(struct type) / 4, offsetof(struct type, seed) / 4 \
    }
    switch (opcode) {
    case CNNVP_OPCODE_conv:
    case CNNVP_OPCODE_pool:
    case CNNVP_OPCODE_vconv:
    case CNNVP_OPCODE_vpool:
        return DESCRIPTOR(cnnvp_window);
    case CNNVP_OPCODE_matmul:
        return DESCRIPTOR(cnnvp_matmul);
    default:
        if (opcode < CNNVP_OPCODE_vmac || opcode > CNNVP_OPCODE_vsoftmax)
            return (struct descriptor){0, 0};
        return DESCRIPTOR(cnnvp_vector);
    }
}

/* A calculation as the element executes it: the instruction without its halves, and what its registers hold then. */
struct calculation {
    uint32_t word, immediate;
    uint32_t registers[32];
    uint32_t seed;
};

struct calculations {
    struct calculation *list; /* to be given back with free() */
    size_t count;
};

static struct calculations calculations_of(const struct fake_element *element)
{
    struct calculations all = {calloc(element->count, sizeof *all.list), 0};
    uint32_t value[256] = {0};
    assert_non_null(all.list);
    for (size_t i = 0; i < element->count; ++i) {
        const struct cnnvp_word *word = &element->words[i];
        const uint32_t base = word->high >> 8 & 0xffu;
        const struct descriptor form = descriptor_of(word->high >> 24);
        if (word->high >> 24 == CNNVP_OPCODE_set)
            value[base] = word->low;
        if (form.count == 0)
            continue;
        struct calculation *to = &all.list[all.count++];
        to->word = word->high & ~0xffu;
        to->immediate = word->low;
        memcpy(to->registers, value + base, form.count * sizeof *value);
        to->seed = to->registers[form.seed];
        to->registers[form.seed] = 0;
        if ((word->high >> 16 & 1u << CNNVP_STATUS_conv_clip) == 0)
            to->registers[form.count - 1u] = 0; /* limits that nobody reads */
    }
    return all;
}

static struct calculations run(const struct compiled *compiled, uint32_t images)
{
    struct fake_element element = {.memory = compiled->platform->memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    compiled->binary->images = images;
    assert_int_equal(cnnvp_guest_init(&guest, &machine, NULL), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);
    const struct calculations all = calculations_of(&element);
    free(element.words);
    return all;
}

/* Image after image calculates what a run of one image does; those that have a seed each have one of their own. */
static void compare(const struct compiled *compiled, int seeded)
{
    const struct calculations one = run(compiled, 1);
    const struct calculations all = run(compiled, IMAGES);
    assert_true(one.count > 0);
    assert_int_equal(all.count, IMAGES * one.count);
    for (size_t i = 0; i < all.count; ++i) {
        const struct calculation *of = &all.list[i];
        const struct calculation *wanted = &one.list[i % one.count];
        const uint32_t image = (uint32_t)(i / one.count);
        const int same = of->word == wanted->word && of->immediate == wanted->immediate &&
                         memcmp(of->registers, wanted->registers, sizeof of->registers) == 0;
        const uint32_t seed = seeded && wanted->seed != 0 ? wanted->seed + image * IMAGE_SEED : 0;
        if (!same || of->seed != seed)
            fail_msg("%s, image %u, calculation %zu of %zu: %08x %08x with seed %08x, not %08x %08x with %08x",
                     compiled->file, image, i % one.count, one.count, of->word, of->immediate, of->seed, wanted->word,
                     wanted->immediate, seed);
    }
    free(one.list);
    free(all.list);
}

static void compare_all(const char *file, const struct fake_config *config, struct cnnvp_network_options options,
                        uint32_t *ran)
{
    struct compiled compiled;
    if (!compile(file, config, options, &compiled))
        return;
    ++*ran;
    compare(&compiled, options.rounding == CNNVP_ROUND_STOCHASTIC);
    forget(&compiled);
}

/* Each network in buffers of both kinds, so large that one step does and so small that it takes several. */
static void every_image_calculates_the_same(void **state)
{
    static const enum cnnvp_rounding roundings[] = {CNNVP_ROUND_NEAREST, CNNVP_ROUND_STOCHASTIC};
    static const char *const patterns[] = {
        TEST_ZOO "/*/*.onnx", TEST_NETWORKS "/lenet5.onnx", TEST_NETWORKS "/mixed.onnx"};
    glob_t files = {0};
    uint32_t ran = 0;
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; ++i)
        assert_int_equal(glob(patterns[i], i != 0 ? GLOB_APPEND : 0, NULL, &files), 0);
    for (size_t i = 0; i < 16 * files.gl_pathc; i += TEST_EVERY) {
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
    assert_true(ran > 2000 / TEST_EVERY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_image_calculates_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
