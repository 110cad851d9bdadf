/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform's results against the independent integer reference: all tensors of the last images and all outputs, bit
 * by bit, for several networks, designs and settings. Memory is copied after the network has been loaded; the reference
 * runs on the copy, the platform on the original.
 */
#include <math.h>
#include <unistd.h>

#include "test.h"

#include "cnnvp_network.h"
#include "fx16_reference.h"
#include "onnx_builder.h"
#include "binary/network_binary.h"
#include "binary_units.h"
#include "random.h"

struct exact_case {
    const char *network;
    const char *input; /* NULL: five seeded images */
    const char *platform;
    const char *settings[4];
    enum cnnvp_rounding rounding;
    int on_chip;
    uint32_t batch;
    uint32_t to_vector; /* enum test_binary_windows: layers whose windows the vector unit calculates */
};

#define LENET TEST_NETWORKS "/lenet5.onnx", TEST_DATA "/lenet5_input.npy"
#define MIXED TEST_NETWORKS "/mixed.onnx", TEST_DATA "/mixed_input.npy"
#define DEPTHWISE TEST_ZOO "/windows/conv_depthwise_stride2.onnx", TEST_ZOO "/windows/conv_depthwise_stride2.in.npy"
#define BY_POSITION TEST_ZOO "/windows/averagepool_exclude.onnx", TEST_ZOO "/windows/averagepool_exclude.in.npy"
#define PARTS TEST_ZOO "/windows/averagepool_parts.onnx", TEST_ZOO "/windows/averagepool_parts.in.npy"

#define CLIPS TEST_ZOO "/places/deep_clip.onnx", TEST_ZOO "/places/deep_clip.in.npy"
#define QDQ TEST_ZOO "/forms/qdq_residual.onnx", TEST_ZOO "/forms/qdq_residual.in.npy"
#define QLINEAR TEST_ZOO "/forms/qlinear_conv.onnx", TEST_ZOO "/forms/qlinear_conv.in.npy"
#define MOBILE TEST_ZOO "/networks/net_mobilenetv3.onnx", TEST_ZOO "/networks/net_mobilenetv3.in.npy"
#define NORMS TEST_ZOO "/elements/instance_norm_between.onnx", TEST_ZOO "/elements/instance_norm_between.in.npy"

static const struct exact_case cases[] = {
    {NORMS, "nfu", {"pe_array.normalisation=array"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {NORMS, "nfu", {"pe_array.normalisation=array", "pe_array.detail=cycle"}, CNNVP_ROUND_TRUNCATE, 1, 0, 0},
    {NORMS,
     "nfu",
     {"pe_array.normalisation=array", "pe_array.rows=3", "pe_array.cols=5"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     0},
    {LENET, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {LENET, "nfu", {NULL}, CNNVP_ROUND_TRUNCATE, 0, 0, 0},
    {MIXED, "nfu", {NULL}, CNNVP_ROUND_FLOOR, 0, 0, 0},
    {LENET, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 1, 0, 0},
    {LENET, "nfu", {"pe_array.detail=cycle"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "nfu", {"pe_array.detail=cycle", "pe_array.kernel_piece=3"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "nfu", {"pe_array.write_out=round"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "nfu", {"pe_array.write_out=round", "vector.write_out=round"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {LENET, "nfu", {"vector.write_out=round"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {CLIPS, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {CLIPS, "window", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {QDQ, "nfu", {"pe_array.write_out=scale"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {QDQ, "nfu", {"pe_array.write_out=scale", "pe_array.detail=cycle"}, CNNVP_ROUND_TRUNCATE, 1, 0, 0},
    {QDQ, "window", {"pe_array.write_out=scale", "fully_connected.write_out=scale"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "nfu", {"pe_array.write_out=table"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MOBILE, "nfu", {"pe_array.write_out=table"}, CNNVP_ROUND_NEAREST, 0, 2, 0},
    {MOBILE, "nfu", {"pe_array.write_out=table", "pe_array.detail=cycle"}, CNNVP_ROUND_TRUNCATE, 1, 0, 0},
    {MOBILE, "window", {"pe_array.write_out=table"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {QLINEAR, "systolic", {"pe_array.precision=fx16"}, CNNVP_ROUND_NEAREST, 0, 2, 0},
    {LENET, "nfu", {"pe_array.acc_bits=20"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {LENET,
     "nfu",
     {"input_buffer.size=1KiB", "weight_buffer.size=2KiB", "output_buffer.size=2KiB"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     0},
    {MIXED,
     "nfu",
     {"input_buffer.size=2KiB", "weight_buffer.size=4KiB", "output_buffer.size=2KiB"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     0},
    {LENET,
     "nfu",
     {"pe_array.rows=3", "pe_array.cols=7", "output_buffer.pingpong=off", "instruction.order=strict"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     0},
    {MIXED,
     "nfu",
     {"input_buffer.pingpong=off", "weight_buffer.pingpong=off", "vector.lanes=3"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     0},
    {LENET, "window", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {MIXED, "window", {"pe_array.input_para=3", "pe_array.output_para=5"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {PARTS, "window", {"pe_array.input_para=12", "input_buffer.size=1KiB"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
    {LENET, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, TEST_BINARY_WINDOWS},
    {LENET, "nfu", {NULL}, CNNVP_ROUND_TRUNCATE, 1, 0, TEST_BINARY_POOLS},
    {MIXED, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, TEST_BINARY_WINDOWS},
    {MIXED,
     "nfu",
     {"input_buffer.size=2KiB", "weight_buffer.size=4KiB", "output_buffer.size=2KiB"},
     CNNVP_ROUND_TRUNCATE,
     0,
     0,
     TEST_BINARY_WINDOWS},
    {MIXED, "window", {"vector.lanes=5", "output_buffer.pingpong=off"}, CNNVP_ROUND_NEAREST, 0, 0, TEST_BINARY_WINDOWS},
    {DEPTHWISE, "nfu", {"instruction.order=strict"}, CNNVP_ROUND_NEAREST, 0, 0, TEST_BINARY_CONVOLUTIONS},
    {BY_POSITION, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, TEST_BINARY_POOLS},
    {PARTS,
     "window",
     {"pe_array.input_para=12", "input_buffer.size=1KiB"},
     CNNVP_ROUND_NEAREST,
     0,
     0,
     TEST_BINARY_POOLS},
    {LENET,
     "nfu",
     {"input_buffer.size=1KiB", "weight_buffer.size=2KiB", "output_buffer.size=2KiB"},
     CNNVP_ROUND_NEAREST,
     0,
     3,
     0},
    {LENET, "nfu", {"weight_buffer.size=16KiB"}, CNNVP_ROUND_NEAREST, 0, 4, 0},
    {MIXED, "nfu", {"input_buffer.size=2KiB", "weight_buffer.size=4KiB"}, CNNVP_ROUND_NEAREST, 0, 2, 0},
    {MIXED, "window", {"weight_buffer.pingpong=off", "output_buffer.pingpong=off"}, CNNVP_ROUND_TRUNCATE, 0, 3, 0},
};

enum { IMAGES = 5 };

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

static cnnvp_config *configure(const struct exact_case *test)
{
    cnnvp_config *config = NULL;
    done(cnnvp_config_new(test->platform, &config, &problem));
    for (size_t i = 0; i < 4 && test->settings[i] != NULL; ++i)
        done(cnnvp_config_set(config, test->settings[i], &problem));
    done(cnnvp_config_resolve(config, &problem));
    return config;
}

/* Rows of one tensor that differ, of each block of its channels. */
static size_t compare_tensor(const struct cnnvp_tensor *tensor, uint32_t image, uint32_t batch, const uint8_t *left,
                             const uint8_t *right)
{
    size_t wrong = 0;
    const uint32_t together = tensor->column_stride;
    for (uint32_t c = 0; c < tensor->channels; c += together) {
        for (uint32_t y = 0; y < tensor->height; ++y) {
            const size_t at = tensor->address - CNNVP_MEMORY_BASE + (size_t)image * tensor->image_stride +
                              (size_t)(image % batch) * tensor->batch_stride +
                              2u * ((size_t)c * tensor->channel_stride + (size_t)y * tensor->row_stride);
            wrong += memcmp(left + at, right + at, 2u * (size_t)tensor->width * together) != 0;
        }
    }
    return wrong;
}

static void compare(const uint8_t *left, const uint8_t *right, int on_chip)
{
    const struct cnnvp_binary *binary =
        (const struct cnnvp_binary *)(const void *)(left + (CNNVP_BINARY_ADDRESS - CNNVP_MEMORY_BASE));
    const struct cnnvp_binary_layer *layers =
        (const struct cnnvp_binary_layer *)(const void *)(left + (binary->layers - CNNVP_MEMORY_BASE));
    assert_int_equal(binary->magic, CNNVP_BINARY_MAGIC);
    for (uint32_t i = 0; i < binary->layer_count; ++i) {
        const struct cnnvp_tensor *out = &layers[i].plan.out;
        if (on_chip && i + 1u < binary->layer_count)
            continue; /* stays on chip */
        for (uint32_t n = 0; n < (out->image_stride != 0 ? binary->images : binary->batch); ++n) {
            const size_t wrong = compare_tensor(out, n, binary->batch, left, right);
            if (wrong != 0)
                fail_msg("layer %u, image %u: %zu rows differ", i, n, wrong);
        }
    }
}

/* 1 if a setting gives the array's write-out tables. */
static int uses_table(const struct exact_case *test)
{
    int uses = 0;
    for (size_t i = 0; i < 4 && test->settings[i] != NULL; ++i)
        uses |= strcmp(test->settings[i], "pe_array.write_out=table") == 0;
    return uses;
}

/* 1 if the output buffer has maximised. */
static int run_case(const struct exact_case *test)
{
    struct cnnvp_array input = {0};
    cnnvp_config *config = configure(test);
    if (test->input != NULL)
        done(cnnvp_npy_read(test->input, &input, &problem));
    const struct cnnvp_network_options options = {
        .struct_size = sizeof(options),
        .rounding = test->rounding,
        .on_chip = test->on_chip,
        .input = test->input != NULL ? &input : NULL,
        .images = IMAGES,
        .seed = 5,
        .batch = test->batch};
    cnnvp_network *network = NULL;
    done(cnnvp_network_new(test->network, config, &options, &network, &problem));
    const struct cnnvp_platform_options platform_options = {.struct_size = sizeof(platform_options)};
    cnnvp_platform *platform = NULL;
    done(cnnvp_platform_new(config, &platform_options, &platform, &problem));
    done(cnnvp_network_load(network, platform, &problem));

    uint64_t acc_bits = 0;
    assert_int_equal(cnnvp_config_get(config, "pe_array.acc_bits", &acc_bits, NULL), CNNVP_DONE);
    const size_t size = (size_t)16 << 20;
    void *memory = NULL;
    assert_int_equal(cnnvp_platform_map(platform, CNNVP_MEMORY_BASE, size, &memory), CNNVP_DONE);
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, memory, size);
    assert_int_equal(test_binary_to_vector(memory, test->to_vector) != 0, test->to_vector != 0);

    struct cnnvp_run_result end;
    if (cnnvp_platform_run(platform, &end) != CNNVP_DONE)
        fail_msg("%s", end.reason);
    const struct test_fx16_memory reference = {.bytes = copy, .size = size};
    const char *wrong = "";
    if (test_fx16_run(&reference, (uint32_t)acc_bits, &wrong) != 0)
        fail_msg("%s", wrong);
    compare(copy, memory, test->on_chip);
    char *stats = NULL;
    assert_int_equal(cnnvp_platform_stats(platform, &stats), CNNVP_DONE);
    unsigned idle = 0; /* buffers that have not */
    for (const char *at = stats; (at = strstr(at, "\"updates_maximise\": 0")) != NULL; ++at)
        ++idle;
    assert_true(idle == 2 || idle == 3);
    const char *tabled = strstr(stats, "\"tabled_words\": ");
    assert_true(tabled != NULL);
    assert_true((tabled[strlen("\"tabled_words\": ")] != '0') == uses_table(test));
    free(stats);

    free(copy);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_array_clear(&input);
    cnnvp_config_free(config);
    return idle == 2;
}

static void platform_equals_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        print_message("%s on %s%s %s\n", strrchr(cases[i].network, '/') + 1, cases[i].platform,
                      cases[i].to_vector != 0 ? "'s vector unit" : "",
                      cases[i].settings[0] != NULL ? cases[i].settings[0] : "");
        assert_false(run_case(&cases[i]));
    }
}

/* A quantised file has words of 8 bits without an option where the hardware has them, and says so where it has none. */
static void quantised_files_choose_their_words(void **state)
{
    (void)state;
    static const struct {
        struct exact_case of;
        int widened;
    } words[] = {
        {{QLINEAR, "systolic", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 0},
        {{QLINEAR, "systolic", {"pe_array.precision=both"}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 0},
        {{QLINEAR, "systolic", {"pe_array.precision=fx16"}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 1},
        {{QDQ, "nfu", {"pe_array.precision=both", "pe_array.write_out=scale"}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 0},
        {{QDQ, "nfu", {"pe_array.precision=both"}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 1},
        {{LENET, "systolic", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        cnnvp_config *config = configure(&words[i].of);
        const struct cnnvp_network_options options = {.struct_size = sizeof(options), .images = 1, .timing_only = 1};
        cnnvp_network *network = NULL;
        done(cnnvp_network_new(words[i].of.network, config, &options, &network, &problem));
        assert_int_equal(cnnvp_network_is_widened(network), words[i].widened);
        cnnvp_network_free(network);
        cnnvp_config_free(config);
    }
}

/* A window that a half of the input buffer does not hold comes in parts, the later ones of which maximise. */
static void maxima_come_in_parts(void **state)
{
    struct builder b;
    char file[64];
    (void)state;
    builder_init(&b, 13);
    builder_parse(&b, "float[N, 3, 24, 22] x "
                      "y = MaxPool <kernel_shape = [19, 17], strides = [3, 2], pads = [4, 1, 2, 5]> (x)");
    builder_output(&b, "y");
    builder_save(&b, file);
    const struct exact_case pools[] = {
        {file, NULL, "nfu", {"input_buffer.size=512"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
        {file, NULL, "nfu", {"input_buffer.size=512", "pe_array.detail=cycle"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
        {file, NULL, "nfu", {"input_buffer.size=512"}, CNNVP_ROUND_TRUNCATE, 0, 0, TEST_BINARY_POOLS},
        {file, NULL, "window", {"input_buffer.size=512", "pooling.input_para=2"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
        {file, NULL, "window", {"input_buffer.size=96", "output_buffer.size=64"}, CNNVP_ROUND_NEAREST, 0, 0, 0},
        {file, NULL, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0}, /* whole */
    };
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; ++i)
        assert_int_equal(run_case(&pools[i]), i + 1 != sizeof pools / sizeof pools[0]);
    (void)unlink(file);
}

/* Batch norm with statistics of the data, alone or between convolutions, as that operator set says it. */
static void write_norms(int64_t opset, int alone, char *file)
{
    static const char statistics[] =
        "float[%d] scale = {~1.5} float[%d] offset = {~1.5} float[%d] mean = {~1.5} "
        "float[%d] variance = {~1.5} "
        "%s = BatchNormalization <%s> (%s, scale, offset, mean, variance)";
    const int channels = alone ? 3 : 5;
    const char *outputs = opset < 7 || opset >= 14 ? "" : ", m, v, saved_m, saved_v";
    struct builder b;
    char text[400], made[40];
    (void)snprintf(made, sizeof made, "%s%s", alone ? "y" : "n", outputs);
    (void)snprintf(text, sizeof text, statistics, channels, channels, channels, channels, made,
                   opset >= 14 ? "training_mode = 1"
                   : opset < 7 ? "is_test = 0"
                               : "epsilon = 1e-5",
                   alone ? "x" : "c");
    builder_init(&b, opset);
    builder_parse(&b, "float[N, 3, 6, 7] x");
    builder_parse(&b, text);
    if (!alone)
        builder_parse(&b, "float[5, 3, 3, 3] w = {~0.4} float[4, 5, 1, 1] v = {~0.4} "
                          "c = Conv <pads = [1, 1, 1, 1]> (x, w) r = Relu(n) y = Conv(r, v)");
    builder_output(&b, "y");
    builder_save(&b, file);
}

/* Statistics are of all images, or of as many as --batch says. */
static void batch_norm_is_over_the_batch(void **state)
{
    char file[64];
    (void)state;
    write_norms(15, 0, file);
    const struct exact_case norms[] = {
        {file, NULL, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0},
        {file, NULL, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 2, 0},
        {file, NULL, "nfu", {"output_buffer.pingpong=off", "input_buffer.size=1KiB"}, CNNVP_ROUND_TRUNCATE, 0, 0, 0},
        {file, NULL, "window", {"vector.lanes=3"}, CNNVP_ROUND_NEAREST, 0, 3, 0},
        {file, NULL, "window", {NULL}, CNNVP_ROUND_TRUNCATE, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; ++i)
        (void)run_case(&norms[i]);
    const struct exact_case small = {file, NULL, "nfu", {"input_buffer.size=256"}, CNNVP_ROUND_NEAREST, 0, 0, 0};
    const struct cnnvp_network_options options = {.struct_size = sizeof options, .images = IMAGES};
    cnnvp_config *config = configure(&small);
    cnnvp_network *network = NULL;
    assert_int_equal(cnnvp_network_new(file, config, &options, &network, &problem), CNNVP_BAD_INPUT);
    assert_non_null(strstr(problem.text, "use a smaller --batch or -s input_buffer.size="));
    cnnvp_config_free(config);
    (void)unlink(file);
}

/* What the network computes in float, against the definition. */
static void check_statistics(int64_t opset)
{
    enum { CHANNELS = 3, PLANE = 6 * 7 };
    char file[64];
    struct cnnvp_array y;
    float x[IMAGES][CHANNELS][PLANE];
    uint64_t random = 17;
    for (size_t i = 0; i < IMAGES * CHANNELS * PLANE; ++i) {
        (&x[0][0][0])[i] = (float)(next_bits(&random) >> 8) / (float)(1 << 23) - 1.0f;
    }
    write_norms(opset, 1, file);
    struct cnnvp_array input = {.type = CNNVP_ARRAY_F32, .rank = 4, .shape = {IMAGES, CHANNELS, 6, 7}, .data = x};
    const struct cnnvp_network_options options = {.struct_size = sizeof options, .input = &input, .batch = 3};
    const struct exact_case plain = {file, NULL, "nfu", {NULL}, CNNVP_ROUND_NEAREST, 0, 0, 0};
    cnnvp_config *config = configure(&plain);
    cnnvp_network *network = NULL;
    done(cnnvp_network_new(file, config, &options, &network, &problem));
    done(cnnvp_network_reference(network, 0, &y, &problem));
    const float(*out)[CHANNELS][PLANE] = y.data;
    double scales[CHANNELS] = {0}, offsets[CHANNELS] = {0};
    for (size_t first = 0; first < IMAGES; first += 3)
        for (size_t c = 0; c < CHANNELS; ++c) {
            const size_t end = first + 3 < IMAGES ? first + 3 : IMAGES;
            const double count = (double)((end - first) * PLANE);
            double in_sum = 0, in_squares = 0, out_sum = 0, out_squares = 0;
            for (size_t n = first; n < end; ++n)
                for (size_t i = 0; i < PLANE; ++i) {
                    in_sum += (double)x[n][c][i];
                    in_squares += (double)x[n][c][i] * (double)x[n][c][i];
                    out_sum += (double)out[n][c][i];
                    out_squares += (double)out[n][c][i] * (double)out[n][c][i];
                }
            const double variance = in_squares / count - in_sum / count * (in_sum / count);
            const double offset = out_sum / count;
            const double scale = sqrt((out_squares / count - offset * offset) * (variance + 1e-5) / variance);
            scales[c] = first == 0 ? scale : scales[c];
            offsets[c] = first == 0 ? offset : offsets[c];
            assert_true(fabs(scale - scales[c]) < 1e-4 && fabs(offset - offsets[c]) < 1e-4);
            for (size_t n = first; n < end; ++n)
                for (size_t i = 0; i < PLANE; ++i) {
                    const double normal = ((double)x[n][c][i] - in_sum / count) / sqrt(variance + 1e-5);
                    const double distance = fabs(fabs((double)out[n][c][i] - offset) - fabs(scale * normal));
                    assert_true(distance < 1e-4);
                }
        }
    cnnvp_array_clear(&y);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
    (void)unlink(file);
}

static void statistics_are_the_definition(void **state)
{
    (void)state;
    for (int64_t opset = 6; opset <= 15; ++opset)
        check_statistics(opset);
}

/* The reference is no mirror: a wrong word in memory is seen. */
static void a_wrong_word_is_seen(void **state)
{
    (void)state;
    const struct cnnvp_tensor tensor = {
        .address = CNNVP_MEMORY_BASE + 4u,
        .column_stride = 1,
        .row_stride = 3,
        .channel_stride = 9,
        .channels = 2,
        .height = 3,
        .width = 3};
    uint8_t left[64] = {0};
    uint8_t right[64] = {0};
    assert_int_equal(compare_tensor(&tensor, 0, 1, left, right), 0);
    right[4 + 2 * (9 + 3 + 2)] = 1;
    assert_int_equal(compare_tensor(&tensor, 0, 1, left, right), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantised_files_choose_their_words),
        cmocka_unit_test(platform_equals_the_reference),
        cmocka_unit_test(maxima_come_in_parts),
        cmocka_unit_test(batch_norm_is_over_the_batch),
        cmocka_unit_test(statistics_are_the_definition),
        cmocka_unit_test(a_wrong_word_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
