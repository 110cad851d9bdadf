/* SPDX-License-Identifier: Apache-2.0 */
/* Networks with several outputs: which are taken, what each becomes, and its values. */
#include <unistd.h>

#include "test.h"

#include "fake_platform.h"
#include "fx16_reference.h"
#include "network.h"
#include "onnx_builder.h"
#include "onnx.h"

#define MEMORY ((size_t)4 << 20)

enum { CHANNELS = 2, SIDE = 6, PLANE = SIDE * SIDE, IMAGES = 3 };

/* x - Relu - r - MaxPool - p; s is the second channel of x, f the values of r as a vector, c constant. */
static void build(struct builder *builder, size_t count, const char *const *outputs)
{
    builder_init(builder, 13);
    builder_parse(builder, "float[N, 2, 6, 6] x r = Relu(x) p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r) "
                           "f = Flatten(r) int64[1] one = {1} int64[1] two = {2} s = Slice(x, one, two, one) "
                           "c = Shape(p)");
    for (size_t i = 0; i < count; ++i)
        builder_output(builder, outputs[i]);
}

static void must_fail(size_t count, const char *const *outputs, const char *text)
{
    struct builder builder;
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    char name[64];
    build(&builder, count, outputs);
    builder_save(&builder, name);
    assert_int_equal(cnnvp_onnx_import_sized(name, NULL, 0, &graph, &error), CNNVP_BAD_INPUT);
    (void)unlink(name);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}

static void refusals_name_the_output(void **state)
{
    (void)state;
    must_fail(0, NULL, "the network has no output");
    must_fail(2, (const char *const[]){"p", "c"}, "the network's output \"c\" is a constant");
    must_fail(2, (const char *const[]){"p", "q"}, "no node computes the network's output \"q\"");
}

/* In small steps, so that 16 bits hold the numbers as they are. */
static float input_value(size_t image, size_t word)
{
    return 0.125f * (float)((int)(image * 29 + word * 7) % 61 - 30);
}

static float positive(float value)
{
    return value > 0.0f ? value : 0.0f;
}

/* Word `i` of an output of one image. */
static float expected(char output, size_t image, size_t i)
{
    if (output == 'x')
        return input_value(image, i);
    if (output == 's')
        return input_value(image, PLANE + i);
    if (output != 'p')
        return positive(input_value(image, i));
    const size_t side = SIDE / 2;
    const size_t corner = i / (side * side) * PLANE + i / side % side * 2 * SIDE + i % side * 2;
    float largest = 0.0f;
    for (size_t tap = 0; tap < 4; ++tap) {
        const float value = input_value(image, corner + tap / 2 * SIDE + tap % 2);
        largest = value > largest ? value : largest;
    }
    return largest;
}

static void check_output(const cnnvp_network *network, cnnvp_platform *platform, size_t number, const char *name)
{
    struct cnnvp_array fixed, reference;
    struct cnnvp_error error = {""};
    assert_string_equal(cnnvp_network_output_name(network, number), name);
    assert_int_equal(cnnvp_network_output(network, platform, number, &fixed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_reference(network, number, &reference, &error), CNNVP_DONE);
    assert_int_equal(fixed.rank, name[0] == 'f' ? 2 : 4);
    assert_int_equal(fixed.shape[0], IMAGES);
    const size_t words = name[0] == 's' ? PLANE : name[0] == 'p' ? CHANNELS * PLANE / 4 : CHANNELS * PLANE;
    for (size_t image = 0; image < IMAGES; ++image)
        for (size_t i = 0; i < words; ++i) {
            const float value = expected(name[0], image, i);
            assert_true(((const float *)fixed.data)[image * words + i] == value);
            assert_true(((const float *)reference.data)[image * words + i] == value);
        }
    cnnvp_array_clear(&fixed);
    cnnvp_array_clear(&reference);
}

/* The input, parts of it, what layers read on, the same in two shapes, and one twice. */
static void each_has_its_values(void **state)
{
    (void)state;
    static const char *const outputs[] = {"p", "r", "x", "s", "f", "p"};
    enum { COUNT = sizeof outputs / sizeof *outputs };
    struct builder builder;
    char name[64];
    struct cnnvp_error error = {""};
    const char *wrong = NULL;
    float values[IMAGES * CHANNELS * PLANE];
    struct cnnvp_array input = {.rank = 4, .shape = {IMAGES, CHANNELS, SIDE, SIDE}, .data = values};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
        values[i] = input_value(i / (CHANNELS * PLANE), i % (CHANNELS * PLANE));
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .input = &input};
    struct fake_config config = fake_nfu();
    config.memory_bytes = MEMORY;
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    memset(platform->memory, 0x5a, MEMORY);
    cnnvp_network *network = NULL;
    build(&builder, COUNT, outputs);
    builder_save(&builder, name);
    if (fake_network_new(name, &config, &options, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    (void)unlink(name);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    if (test_fx16_run(&memory, (uint32_t)config.acc_bits, &wrong) != 0)
        fail_msg("%s", wrong);
    assert_int_equal(cnnvp_network_outputs(network), COUNT);
    for (size_t i = 0; i < COUNT; ++i)
        check_output(network, platform, i, outputs[i]);
    struct cnnvp_array none;
    assert_null(cnnvp_network_output_name(network, COUNT));
    assert_int_equal(cnnvp_network_output(network, platform, COUNT, &none, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no output 6; the network has 6, counted from 0"));
    assert_int_equal(cnnvp_network_reference(network, COUNT, &none, &error), CNNVP_BAD_INPUT);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_the_output), cmocka_unit_test(each_has_its_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
