/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's training instructions on figures that were worked out by hand from the documents. */
#include <math.h>

#include "cnnvp_tile.h"
#include "instructions.h"
#include "reference/reference.h"
#include "test.h"

enum { BYTES = 4096 };

/* Both halves of each buffer are the same memory but those of the output. */
struct store {
    union {
        uint8_t bytes[BYTES];
        int8_t narrow[BYTES];
        int16_t words[BYTES / 2];
        int32_t sums[BYTES / 4];
        uint32_t labels[BYTES / 4];
        float values[BYTES / 4];
        struct cnnvp_extremes extremes[BYTES / sizeof(struct cnnvp_extremes)];
        struct cnnvp_sums entries[BYTES / sizeof(struct cnnvp_sums)];
        struct cnnvp_norm norms[BYTES / sizeof(struct cnnvp_norm)];
        struct cnnvp_class_result results[BYTES / sizeof(struct cnnvp_class_result)];
    } of[CNNVP_REFERENCE_BUFFERS], idle;
    struct cnnvp_reference reference;
};

#define OUTPUT of[CNNVP_REFERENCE_OUTPUT]
#define MAX_MIN of[CNNVP_REFERENCE_MAX_MIN]
#define SUM of[CNNVP_REFERENCE_SUM]
#define NORM of[CNNVP_REFERENCE_NORM]

static struct store *begin(void)
{
    struct store *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->reference.mantissa_bits = 8;
    for (unsigned b = 0; b < CNNVP_REFERENCE_BUFFERS; ++b)
        s->reference.buffers[b] = (struct cnnvp_reference_buffer){{s->of[b].bytes, s->of[b].bytes}, BYTES};
    s->reference.buffers[CNNVP_REFERENCE_OUTPUT].halves[1] = s->idle.bytes;
    for (unsigned i = 0; i < 8; ++i)
        s->MAX_MIN.extremes[i] = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
    return s;
}

static void run(struct store *s, uint32_t opcode, uint32_t status, const void *registers, size_t size)
{
    struct cnnvp_command command = {.opcode = opcode, .status = status, .count = (uint32_t)(size / sizeof(uint32_t))};
    memcpy(command.descriptor, registers, size);
    assert_true(cnnvp_reference_covers(&s->reference, &command));
    assert_null(cnnvp_reference_run(&s->reference, &command));
}
#define RUN(s, opcode, status, registers) run(s, opcode, status, &(registers), sizeof(registers))

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void same(float got, double expected)
{
    assert_int_equal(bits_of(got), bits_of((float)expected));
}

/* 2, 2, 6, 6 of a channel: mean 4, squares 16, sigma 2, range 4; the first of equal extremes counts. */
static void test_norm(void **state)
{
    (void)state;
    struct store *s = begin();
    const int32_t sums[] = {4, 4, 12, 12};
    const struct machine_tstat stat = {
        .images = 1, .channels = 1, .size = 2 | 2 << 16, .scale_addr = 64, .out_addr = 128, .first = 10, .entry = 3};
    struct machine_tcoef coef = {.entry = 3, .channels = 1, .running = bits_of(0.5f)};
    memcpy(s->OUTPUT.sums, sums, sizeof sums);
    s->OUTPUT.words[32] = -1;
    RUN(s, OP_tstat, ST_tstat_convert, stat);
    same(s->OUTPUT.values[32], 2);
    same(s->OUTPUT.values[35], 6);
    same(s->MAX_MIN.extremes[3].min, 2);
    same(s->MAX_MIN.extremes[3].max, 6);
    assert_int_equal(s->MAX_MIN.extremes[3].min_at, 10);
    assert_int_equal(s->MAX_MIN.extremes[3].max_at, 12);
    RUN(s, OP_tstat, ST_tstat_squares, stat);
    assert_true(s->SUM.entries[3].count == 4 && s->SUM.entries[3].sum > 15.9 && s->SUM.entries[3].sum < 16.1);
    struct cnnvp_norm *norm = &s->NORM.norms[3];
    norm->gamma = 1, norm->beta = 0.5f, norm->running_sigma = 1;
    RUN(s, OP_tcoef, 1 * ST_tcoef_form, coef);
    same((float)norm->sigma, 2);
    same(norm->scale, 0.5);
    same(norm->offset, -1.5);
    same(norm->running_mean, 2);
    same(norm->running_sigma, 1.5);
    /* range: 0.54 / sqrt(2 ln 4) * 4 */
    coef.running = 0;
    RUN(s, OP_tcoef, 0, coef);
    assert_true(fabs(norm->sigma - 0.54 / 1.6651092223153954 * 4) < 1e-14);
    same(norm->running_mean, 2);
    /* dbeta 2, sum of dy * (x - mean) 8: dgamma 4 by sigma 2; standard: x_scale -1/2 * 4 / 4 / 2 = -1/4,
     * dy_offset -1/2 * 2 / 4 + 1/4 * 4 */
    norm->sigma = 2, norm->dbeta = 2, norm->dgamma = 8;
    RUN(s, OP_tcoef, ST_tcoef_back | 1 * ST_tcoef_form, coef);
    same((float)norm->dgamma, 4);
    same(norm->dy_scale, 0.5);
    same(norm->x_scale, -0.25);
    same(norm->dy_offset, 0.75);
    /* gamma 1 - 1/2 * (3/4 * 2 + 4), beta 1/2 - 1/2 * 2 */
    norm->gamma_velocity = 2;
    const struct machine_tbnupdate update = {3, 1, bits_of(0.5f), bits_of(0.75f)};
    RUN(s, OP_tbnupdate, ST_tbnupdate_momentum, update);
    same(norm->gamma_velocity, 5.5);
    same(norm->gamma, -1.75);
    same(norm->beta, -0.5);
    free(s);
}

/* A plane of 2x4, pooled 2x2: what is positive of -1, 5.5, 3, 3 / 2, 0, 3, -8, exponent 2: units of 1/16. */
static void test_post(void **state)
{
    (void)state;
    struct store *s = begin();
    const float x[] = {-1, 5.5f, 3, 3, 2, 0, 3, -8};
    const struct machine_tpost post = {
        .images = 1,
        .channels = 1,
        .size = 4 | 2 << 16,
        .out_addr = 64,
        .block = 80,
        .mask_addr = 96,
        .id_addr = 112,
        .pool = 0x02020202,
        .format = 1,
        .park_addr = 16};
    memcpy(s->OUTPUT.values, x, sizeof x);
    s->OUTPUT.bytes[80] = 2;
    RUN(s, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_pool | ST_tpost_keep | ST_tpost_park, post);
    assert_int_equal(s->OUTPUT.narrow[64], 88);
    assert_int_equal(s->OUTPUT.narrow[65], 48);
    assert_int_equal(s->OUTPUT.bytes[96], 0x5e);
    assert_int_equal(s->OUTPUT.bytes[97], 0);
    assert_int_equal(s->OUTPUT.bytes[112], 1);
    assert_int_equal(s->of[CNNVP_REFERENCE_RELU].bytes[0], 0x5e);
    assert_int_equal(s->of[CNNVP_REFERENCE_ID].bytes[0], 1);
    same(s->idle.values[5], 5.5);
    same(s->idle.values[11], -8);
    /* back: 7 to the first window's second place, whose bit is set, 9 to the other's first */
    const struct machine_tpostback back = {
        .in_addr = 256,
        .images = 1,
        .channels = 1,
        .size = 4 | 2 << 16,
        .out_addr = 64,
        .block = 80,
        .mask_addr = 96,
        .id_addr = 112,
        .pool = 0x02020202};
    s->OUTPUT.values[64] = 7, s->OUTPUT.values[65] = -7.99f;
    RUN(s, OP_tpostback, ST_tpostback_fp32 | ST_tpostback_relu | ST_tpostback_pool, back);
    const int8_t errors[] = {0, 112, -127, 0, 0, 0, 0, 0};
    assert_memory_equal(s->OUTPUT.narrow + 64, errors, sizeof errors);
    free(s);
}

/* Three times 0.4 of a unit: nearest loses them, carried they come to one; 1.5 to even, 2.5 too; floor, toward 0. */
static void test_rounding(void **state)
{
    (void)state;
    static const struct {
        uint32_t rounding;
        int8_t mantissas[6];
    } cases[] = {
        {0, {0, 0, 0, 1, 2, -1}}, {1, {0, 0, 0, 2, 2, -2}}, {3, {0, 0, 0, 1, 2, -2}}, {4, {0, 1, 0, 2, 2, -2}}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        struct store *s = begin();
        const float x[] = {0.375f, 0.375f, 0.375f, 1.5f, 2.5f, -1.75f};
        const struct machine_tpost post = {
            .images = 1, .channels = 1, .size = 6 | 1 << 16, .out_addr = 64, .block = 80, .format = cases[k].rounding};
        memcpy(s->OUTPUT.values, x, sizeof x);
        s->OUTPUT.bytes[80] = 6;
        RUN(s, OP_tpost, ST_tpost_fp32, post);
        assert_memory_equal(s->OUTPUT.narrow + 64, cases[k].mantissas, sizeof x / sizeof x[0]);
        free(s);
    }
}

/* The largest magnitudes of -6 .. 3, 1/2 .. 3/4 and of nothing. */
static void test_exponents(void **state)
{
    (void)state;
    struct store *s = begin();
    struct machine_texp exponents = {.channels = 3, .out_addr = CNNVP_TILE_HELD | 1024};
    s->MAX_MIN.extremes[0] = (struct cnnvp_extremes){.min = -6, .max = 3};
    s->MAX_MIN.extremes[1] = (struct cnnvp_extremes){.min = 0.5f, .max = 0.75f};
    RUN(s, OP_texp, ST_texp_each, exponents);
    const int8_t each[] = {2, -1, -128};
    assert_memory_equal(s->MAX_MIN.narrow + 1024, each, sizeof each);
    exponents.out_addr = 512;
    RUN(s, OP_texp, ST_texp_relu, exponents);
    assert_int_equal(s->OUTPUT.narrow[512], 1);
    /* twice and 10 less: -22 .. -4, and -9 .. -8.5 */
    s->NORM.norms[0].scale = s->NORM.norms[1].scale = 2;
    s->NORM.norms[0].offset = s->NORM.norms[1].offset = -10;
    RUN(s, OP_texp, ST_texp_map, exponents);
    assert_int_equal(s->OUTPUT.narrow[512], 4);
    free(s);
}

/* Two equal classes: 1/2 each, loss ln 2; the label's gradient is -1/2 of the factor. */
static void test_softmax(void **state)
{
    (void)state;
    struct store *s = begin();
    const struct machine_tsoftmax softmax = {
        .images = 1,
        .classes = 2,
        .label_addr = 64,
        .factor = bits_of(0.25f),
        .out_addr = 128,
        .entry = 2,
        .result = 1};
    s->OUTPUT.values[0] = s->OUTPUT.values[1] = 3;
    s->OUTPUT.labels[16] = 1;
    RUN(s, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, softmax);
    const uint8_t *record = s->of[CNNVP_REFERENCE_CLASSES].bytes + 24;
    struct cnnvp_class_result result;
    float p[2];
    memcpy(&result, record, sizeof result);
    memcpy(p, record + sizeof result, sizeof p);
    assert_int_equal(result.predicted, 0);
    assert_int_equal(result.correct, 0);
    same(result.loss, 0.69314718055994531);
    same(p[0], 0.5);
    same(p[1], 0.5);
    same(s->OUTPUT.values[32], 0.125);
    same(s->OUTPUT.values[33], -0.125);
    same(s->MAX_MIN.extremes[2].min, -0.125);
    same(s->MAX_MIN.extremes[2].max, 0.125);
    free(s);
}

/* w = 1 - 1/2 * (1/2 * 1/2 + 3/4), from a sum of 3 * 2^-2; mantissas 64 and -1 of exponent 1: units of 1/32. */
static void test_weights(void **state)
{
    (void)state;
    struct store *s = begin();
    const struct machine_tupdate update = {
        .channels = 1,
        .values = 1,
        .scale_addr = 64,
        .value_addr = 128,
        .velocity_addr = 256,
        .rate = bits_of(0.5f),
        .momentum = bits_of(0.5f)};
    const struct machine_tdecode decode = {
        .in_addr = 512, .channels = 1, .values = 2, .exp_addr = 520, .out_addr = 640};
    s->OUTPUT.sums[0] = 3;
    s->OUTPUT.words[32] = -2;
    s->OUTPUT.values[32] = 1;
    s->OUTPUT.values[64] = 0.5f;
    RUN(s, OP_tupdate, ST_tupdate_momentum, update);
    same(s->OUTPUT.values[32], 0.5);
    same(s->OUTPUT.values[64], 1);
    same(s->MAX_MIN.extremes[0].max, 0.5);
    s->OUTPUT.narrow[512] = 64, s->OUTPUT.narrow[513] = -1, s->OUTPUT.narrow[520] = 1;
    RUN(s, OP_tdecode, 0, decode);
    same(s->OUTPUT.values[160], 2);
    same(s->OUTPUT.values[161], -0.03125);
    const struct machine_theld held = {.address = 640, .offset = 32, .bytes = 8};
    RUN(s, OP_tload, 1 * ST_tload_buffer, held);
    same(s->SUM.values[8], 2);
    RUN(s, OP_tclear, 0 * ST_tclear_buffer, ((struct machine_theld){.bytes = 16}));
    assert_true(isinf(s->MAX_MIN.extremes[0].min) && isinf(s->MAX_MIN.extremes[0].max));
    free(s);
}

/* Five rows of one mantissa in zones of 8 bytes, rows of a zone 2 bytes apart: kernels of 1x1, weight 3. */
static void test_zones(void **state)
{
    (void)state;
    struct store *s = begin();
    const struct machine_tconv conv = {
        .in_row_stride = 2,
        .in_image_stride = 24,
        .in_size = 1 | 5 << 16,
        .images = 1,
        .in_channels = 1,
        .out_channels = 1,
        .out_size = 1 | 5 << 16,
        .kernel = 1 | 1 << 16,
        .stride = 1 | 1 << 16,
        .in_exp_addr = 64,
        .weight_exp_addr = 64,
        .out_exp_addr = 256};
    static const uint8_t places[] = {0, 8, 16, 2, 10};
    for (unsigned row = 0; row < 5; ++row)
        s->of[CNNVP_REFERENCE_INPUT].narrow[places[row]] = (int8_t)(row + 1);
    s->of[CNNVP_REFERENCE_WEIGHT].narrow[0] = 3;
    s->reference.zones = 1;
    RUN(s, OP_tforward, 0, conv);
    for (int row = 0; row < 5; ++row)
        assert_int_equal(s->OUTPUT.sums[row], 3 * (row + 1));
    assert_int_equal(s->OUTPUT.words[128], -12);
    free(s);
}

/* What the unit has made counts within its tolerance, and not beyond. */
static void test_tolerance(void **state)
{
    (void)state;
    struct store *s = begin(), *made = begin();
    const struct machine_tsoftmax softmax = {.images = 1, .classes = 2};
    for (unsigned b = 0; b < CNNVP_REFERENCE_BUFFERS; ++b)
        s->reference.made[b] = made->reference.buffers[b];
    s->OUTPUT.values[1] = 1.25f;
    float p[2];
    for (int off = 0; off < 3; ++off) {
        /* e^-1.25 / (1 + e^-1.25) lies between two binary32, nearer to the first */
        const float own = (float)(1 / (1 + exp(1.25))), near = off == 0 ? own : nextafterf(own, off == 1 ? 0 : 1);
        memcpy(made->of[CNNVP_REFERENCE_CLASSES].bytes + sizeof(struct cnnvp_class_result), &near, sizeof near);
        RUN(s, OP_tsoftmax, ST_tsoftmax_fp32, softmax);
        memcpy(p, s->of[CNNVP_REFERENCE_CLASSES].bytes + sizeof(struct cnnvp_class_result), sizeof p);
        same(p[0], (double)own);
    }
    /* sigma, two units of binary64 off and 2^20 */
    const struct machine_tcoef coef = {.channels = 1};
    s->MAX_MIN.extremes[0] = (struct cnnvp_extremes){.min = 1, .max = 2.5f};
    s->SUM.entries[0].count = 100;
    s->NORM.norms[0].gamma = 1;
    RUN(s, OP_tcoef, 0, coef);
    const double sigma = s->NORM.norms[0].sigma;
    made->NORM.norms[0].sigma = sigma * (1 + 0x1p-51);
    RUN(s, OP_tcoef, 0, coef);
    assert_true(s->NORM.norms[0].sigma > sigma);
    made->NORM.norms[0].sigma = sigma * (1 + 0x1p-32);
    RUN(s, OP_tcoef, 0, coef);
    assert_false(s->NORM.norms[0].sigma > sigma);
    free(made);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm),      cmocka_unit_test(test_post),      cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_exponents), cmocka_unit_test(test_softmax),   cmocka_unit_test(test_weights),
        cmocka_unit_test(test_zones),     cmocka_unit_test(test_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
