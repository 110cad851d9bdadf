/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training engine by a program in its own instructions (train_step.s) on the whole platform: what it leaves in
 * memory is bit by bit what the independent reference has, with other buffers and lanes;
 * and a program with something wrong ends with an error that the guest sees.
 */
#include "cnnvp_asm.h"
#include "cnnvp_tile.h"
#include "train_reference.h"

#include <math.h>

#include "test.h"
#include "random.h"

enum { IMAGES = 4, INPUTS = 2 * 64, KERNEL = 4 * 2 * 9, MATRIX = 3 * 64, SUMS = IMAGES * 4 * 64 };
/* Places below are offsets from here. */
#define MEMORY UINT64_C(0x80000000)

static const struct train_layer shapes[] = {
    {.inputs = 2,
     .height = 8,
     .width = 8,
     .outputs = 4,
     .side = 3,
     .pad = 1,
     .norm = 1,
     .relu = 1,
     .pool = 1,
     .epsilon = (double)0.001f},
    {.connected = 1, .inputs = 64, .height = 1, .width = 1, .outputs = 3},
};

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

/* ---- data ---- */

struct data {
    uint8_t images[IMAGES * INPUTS];
    uint8_t labels[IMAGES];
    float kernel[KERNEL], matrix[MATRIX];
};

static void make_data(struct data *data, uint64_t seed)
{
    for (int i = 0; i < IMAGES * INPUTS; ++i)
        data->images[i] = (uint8_t)(next_bits(&seed) >> 20);
    for (int i = 0; i < IMAGES; ++i)
        data->labels[i] = (uint8_t)(next_bits(&seed) % 3);
    for (int i = 0; i < KERNEL; ++i)
        data->kernel[i] = ((float)next_bits(&seed) / 2147483648.0f - 1.0f) * 0.5f;
    for (int i = 0; i < MATRIX; ++i)
        data->matrix[i] = ((float)next_bits(&seed) / 2147483648.0f - 1.0f) * 0.3f;
}

static void put(cnnvp_platform *platform, uint32_t offset, const void *bytes, size_t size)
{
    assert_int_equal(cnnvp_platform_write(platform, MEMORY + offset, bytes, size), CNNVP_DONE);
}

/* 8-bit block floating point by its definition, to nearest; mantissas at `offset`, the exponent 0x800 after. */
static void put_block(cnnvp_platform *platform, uint32_t offset, const float *values, int n)
{
    int8_t mantissas[IMAGES * INPUTS];
    float most = 0;
    for (int i = 0; i < n; ++i)
        most = fmaxf(most, fabsf(values[i]));
    const int8_t exponent = (int8_t)ilogbf(most);
    for (int i = 0; i < n; ++i)
        mantissas[i] = (int8_t)fmin(rint(ldexp((double)values[i], 6 - exponent)), 127.0);
    put(platform, offset, mantissas, (size_t)n);
    put(platform, offset + 0x800, &exponent, 1);
}

static void put_data(cnnvp_platform *platform, const struct data *data)
{
    float values[IMAGES * INPUTS];
    struct cnnvp_norm norms[4];
    uint32_t labels[IMAGES];
    for (int i = 0; i < IMAGES * INPUTS; ++i)
        values[i] = (float)data->images[i] / 255.0f;
    for (int i = 0; i < IMAGES; ++i)
        labels[i] = data->labels[i];
    for (int c = 0; c < 4; ++c)
        norms[c] = (struct cnnvp_norm){.gamma = 1, .running_sigma = 1};
    put_block(platform, 0x20000, values, IMAGES * INPUTS);
    put_block(platform, 0x21000, data->kernel, KERNEL);
    put_block(platform, 0x22000, data->matrix, MATRIX);
    put(platform, 0x23000, data->kernel, sizeof data->kernel);
    put(platform, 0x24000, data->matrix, sizeof data->matrix);
    put(platform, 0x25000, norms, sizeof norms);
    put(platform, 0x26000, labels, sizeof labels);
}

/* ---- the platform ---- */

static void put_program(cnnvp_platform *platform, const uint64_t *words, size_t count)
{
    const uint32_t size = (uint32_t)count;
    put(platform, 0x10000, words, count * sizeof *words);
    put(platform, 0x10000 - 4, &size, sizeof size);
}

static cnnvp_platform *new_platform(const char *const settings[4])
{
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options, .verbosity = -1, .max_time_ps = UINT64_C(1000000000000)};
    cnnvp_config *config;
    cnnvp_platform *platform;
    done(cnnvp_config_new("trainer", &config, &problem));
    for (int i = 0; i < 4 && settings[i] != NULL; ++i)
        done(cnnvp_config_set(config, settings[i], &problem));
    done(cnnvp_config_resolve(config, &problem));
    done(cnnvp_platform_new(config, &options, &platform, &problem));
    cnnvp_config_free(config);
    done(cnnvp_platform_load_elf(platform, TEST_FETCH, 0, NULL, &problem));
    return platform;
}

static void assemble(uint64_t **words, size_t *count)
{
    char text[40000];
    FILE *file = fopen(TEST_PROGRAM, "r");
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    assert_true(size < sizeof text - 1);
    text[size] = '\0';
    (void)fclose(file);
    done(cnnvp_assemble(TEST_PROGRAM, text, NULL, words, count, &problem));
}

static void get(cnnvp_platform *platform, uint32_t offset, void *bytes, size_t size)
{
    assert_int_equal(cnnvp_platform_read(platform, MEMORY + offset, bytes, size), CNNVP_DONE);
}

/* ---- comparison ---- */

/* Bit by bit: zeros have signs. */
static int same_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float)) == 0;
}

static void same(const char *what, const double *want, cnnvp_platform *platform, uint32_t offset, uint64_t n)
{
    float have[SUMS];
    get(platform, offset, have, n * sizeof *have);
    for (uint64_t i = 0; i < n; ++i)
        if (!same_bits(&have[i], &(float){(float)want[i]}))
            fail_msg("%s %llu: %.9g, the reference has %.9g", what, (unsigned long long)i, (double)have[i], want[i]);
}

static void compare(cnnvp_platform *platform, const struct train_net *net, const struct train_result *want)
{
    const struct train_layer *conv = &net->layers[0];
    const struct train_layer *top = &net->layers[1];
    struct cnnvp_norm norms[4];
    uint32_t correct = 0;
    double loss = 0;
    same("sum", conv->sums, platform, 0x27000, SUMS);
    same("kernel", conv->weights, platform, 0x23000, KERNEL);
    same("kernel's velocity", conv->weight_velocity, platform, 0x23800, KERNEL);
    same("matrix", top->weights, platform, 0x24000, MATRIX);
    same("matrix's velocity", top->weight_velocity, platform, 0x24800, MATRIX);
    get(platform, 0x25000, norms, sizeof norms);
    for (int c = 0; c < 4; ++c) {
        const float have[] = {norms[c].gamma, norms[c].beta, norms[c].running_mean, norms[c].running_sigma};
        const double should[] = {conv->gamma[c], conv->beta[c], conv->mean[c], conv->sigma[c]};
        for (int i = 0; i < 4; ++i)
            assert_true((double)have[i] == should[i]);
    }
    for (uint32_t i = 0; i < IMAGES; ++i) {
        struct cnnvp_class_result result;
        get(platform, 0x2a000 + i * 28, &result, sizeof result);
        correct += result.correct;
        loss += (double)result.loss / IMAGES;
    }
    assert_int_equal(correct, want->correct);
    assert_true(fabs(loss - want->loss) < 1e-6);
}

/* After how many of the program's instructions, and polls of the element more, the guest resets the element; 0:
 * never. */
struct reset {
    uint32_t completed, polls;
};

static void check_step(const char *const settings[4], const uint64_t *words, size_t count, uint64_t seed,
                       const struct reset *reset)
{
    const struct train_options options = {
        .bits = 8,
        .rounding = TRAIN_NEAREST,
        .range = 1,
        .rate = (double)0.05f,
        .momentum = (double)0.9f,
        .bn_momentum = (double)0.1f};
    struct data data;
    struct train_net net;
    struct cnnvp_run_result result;
    make_data(&data, seed);
    cnnvp_platform *platform = new_platform(settings);
    put_data(platform, &data);
    put_program(platform, words, count);
    put(platform, 0x10000 - 8, &reset->completed, sizeof reset->completed);
    put(platform, 0x10000 - 12, &reset->polls, sizeof reset->polls);
    if (cnnvp_platform_run(platform, &result) != CNNVP_DONE)
        fail_msg("seed %u, reset after %u + %u: exit code %d: %s", (unsigned)seed, (unsigned)reset->completed,
                 (unsigned)reset->polls, result.exit_code, result.reason);
    train_net_new(&net, shapes, 2, IMAGES, &options);
    for (int i = 0; i < KERNEL; ++i)
        net.layers[0].weights[i] = (double)data.kernel[i];
    for (int i = 0; i < MATRIX; ++i)
        net.layers[1].weights[i] = (double)data.matrix[i];
    train_net_start(&net);
    const struct train_result want = train_net_step(&net, data.images, data.labels, IMAGES);
    compare(platform, &net, &want);
    train_net_free(&net);
    cnnvp_platform_free(platform);
}

static void test_step(void **state)
{
    static const char *const settings[][4] = {
        {NULL},
        {"multi_function.lanes=7", "multi_function.sets=3", "pe_array.cols=5", "pe_array.arrays=3"},
        {"instruction.order=strict", "dma.port_bytes=2", "dram.preset=ddr3-1600", NULL},
    };
    uint64_t *words;
    size_t count;
    (void)state;
    assemble(&words, &count);
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; ++s)
        check_step(settings[s], words, count, s + 1, &(struct reset){0});
    free(words);
}

/* The guest resets the element anywhere in the step, with commands and transfers under way, and the step done again
 * is the same bit by bit: nothing of the first one is left in a unit. */
static void test_reset(void **state)
{
    static const char *const settings[][4] = {{NULL}, {"instruction.order=strict", "dma.port_bytes=2", NULL}};
    uint64_t *words;
    size_t count;
    (void)state;
    assemble(&words, &count);
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; ++s)
        for (uint32_t completed = 1; completed < count;
             completed += TEST_EVERY * ((uint32_t)(3 + 4 * s) + completed % 3))
            check_step(settings[s], words, count, 1 + completed % 4, &(struct reset){completed, completed * 7 % 40});
    free(words);
}

/* Each instruction of the engine in turn with a descriptor of zeros: the guest sees that the unit has refused it. */
static void test_wrong_programs(void **state)
{
    static const char *const settings[4] = {NULL};
    uint64_t *words;
    size_t count;
    uint32_t refused = 0;
    struct data data;
    (void)state;
    make_data(&data, 1);
    assemble(&words, &count);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t kept = words[i];
        struct cnnvp_run_result result;
        if (kept >> 56 < 0xa0)
            continue;
        words[i] = (kept & ~(UINT64_C(0xff) << 40)) | UINT64_C(216) << 40; /* registers that are 0 */
        cnnvp_platform *platform = new_platform(settings);
        put_data(platform, &data);
        put_program(platform, words, count);
        assert_int_not_equal(cnnvp_platform_run(platform, &result), CNNVP_DONE);
        assert_int_equal(result.end, CNNVP_END_EXIT);
        assert_int_equal(result.exit_code, 1 + 5); /* the unit refused the command */
        ++refused;
        cnnvp_platform_free(platform);
        words[i] = kept;
    }
    assert_true(refused > 30);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step), cmocka_unit_test(test_reset), cmocka_unit_test(test_wrong_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
