/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of the multi-function module one by one: what the training step's test does not reach, closed forms of
 * time, the same without data, and whatever a guest can write into a descriptor.
 */
#include "machine.h"
#include "cnnvp_integer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 3, CHANNELS = 5, H = 6, W = 4, PLANE = H * W, ALL = IMAGES * CHANNELS * PLANE, POOLED = PLANE / 4 };

static const struct machine_options plain = {.bits = 8};

static uint64_t next_bits(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 32;
}

static float *floats_at(struct machine *m, uint32_t half, uint32_t address)
{
    return machine_at(m, M_INTERMEDIATE, half, address);
}

static void fill(struct machine *m, uint64_t seed)
{
    float *x = floats_at(m, 0, 0);
    for (int i = 0; i < ALL; ++i)
        x[i] = (float)((int32_t)next_bits(&seed) % 1000) / 64.0f;
}

static struct machine_tpost post(void)
{
    return (struct machine_tpost){
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x3000,
        .format = 1,
        .tensor_image_stride = CHANNELS * PLANE};
}

/* Each image and each channel with an exponent of its own, against rounding in binary64; the inputs parked. */
static void test_blocks_and_park(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        struct machine_tpost d = post();
        machine_begin(&m, &plain);
        fill(&m, 5);
        d.block_strides = CHANNELS | 1u << 16;
        d.park_addr = 0x800;
        d.format = 1u | (wide != 0 ? 20u : 8u) << 8;
        const int power = wide != 0 ? 18 : 6;
        int8_t *exponents = machine_at(&m, M_INTERMEDIATE, 0, 0x3000);
        for (int b = 0; b < IMAGES * CHANNELS; ++b)
            exponents[b] = (int8_t)(4 - b % 3); /* some are too small: saturation */
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_park, d);
        const float *x = floats_at(&m, 0, 0);
        const int8_t *narrow = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        const int32_t *mantissas = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        uint64_t saturated = 0;
        for (int i = 0; i < ALL; ++i) {
            const double limit = ldexp(1.0, power + 1);
            double want = rint(ldexp((double)x[i], power - (4 - i / PLANE % 3)));
            saturated += want > limit - 1 || want < -limit;
            want = want > limit - 1 ? limit - 1 : want < -limit ? -limit : want;
            assert_int_equal(wide != 0 ? mantissas[i] : narrow[i], (int)want);
        }
        assert_true(saturated > 0);
        assert_int_equal(fake_count(m.units[M_QUANTISE], "saturations"), saturated);
        assert_memory_equal(floats_at(&m, 1, 0x800), x, ALL * sizeof *x);
        machine_end(&m);
    }
}

/* Remainders carried along each map, which begins with none: a map's mantissas add up to its values, to half a unit. */
static void test_carried(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        struct machine_tpost d = post();
        machine_begin(&m, &plain);
        float *x = floats_at(&m, 0, 0);
        for (int i = 0; i < ALL; ++i)
            x[i] = ldexpf((float)(i * 37 % 101), wide != 0 ? -27 : -14); /* below 0.4 units */
        d.format = 4u | (wide != 0 ? 20u : 8u) << 8;
        *(int8_t *)machine_at(&m, M_INTERMEDIATE, 0, 0x3000) = 0;
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d);
        const int8_t *narrow = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        const int32_t *mantissas = machine_at(&m, M_INTERMEDIATE, 0, 0x4000);
        int64_t total = 0;
        for (int map = 0; map < IMAGES * CHANNELS; ++map) {
            double sum = 0;
            int64_t kept = 0;
            for (int i = map * PLANE; i < (map + 1) * PLANE; ++i) {
                sum += ldexp((double)x[i], wide != 0 ? 18 : 6);
                kept += wide != 0 ? mantissas[i] : narrow[i];
                assert_true(fabs(sum - (double)kept) <= 0.5 + 1e-3);
            }
            total += kept;
        }
        assert_true(total > IMAGES * CHANNELS);
        machine_end(&m);
    }
}

/* float and measure; extremes of an image each. */
static void test_float_and_measure(void **state)
{
    struct machine m;
    struct machine_tpost d = post();
    (void)state;
    machine_begin(&m, &plain);
    fill(&m, 6);
    struct cnnvp_norm *norms = machine_at(&m, M_NORMS, 0, 0);
    for (int c = 0; c < CHANNELS; ++c)
        norms[2 + c] = (struct cnnvp_norm){.scale = 0.5f + (float)c, .offset = -1.0f};
    d.norm_entry = 2;
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_float, d);
    const float *x = floats_at(&m, 0, 0);
    const float *y = floats_at(&m, 0, 0x4000);
    float most[IMAGES] = {0};
    for (int i = 0; i < ALL; ++i) {
        const int c = i / PLANE % CHANNELS;
        const volatile float product = (0.5f + (float)c) * x[i];
        const volatile float sum = product - 1.0f;
        assert_true(y[i] == (sum > 0 ? sum : 0.0f));
        most[i / PLANE / CHANNELS] = fmaxf(most[i / PLANE / CHANNELS], y[i]);
    }
    const struct machine_theld clear = {0, 16 * 40, 16 * IMAGES};
    MACHINE_DO(&m, OP_tclear, 0, clear);
    d.block = 40;
    d.block_strides = 1; /* an entry an image */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_measure, d);
    const struct cnnvp_extremes *entries = machine_at(&m, M_MAX_MIN, 0, 0);
    for (int n = 0; n < IMAGES; ++n)
        assert_true(entries[40 + n].max == most[n] && entries[40 + n].min == 0.0f);
    const struct machine_texp each = {.entry = 40, .channels = IMAGES, .out_addr = 0x6000};
    MACHINE_DO(&m, OP_texp, ST_texp_each, each);
    const int8_t *exponents = machine_at(&m, M_INTERMEDIATE, 0, 0x6000);
    for (int n = 0; n < IMAGES; ++n)
        assert_int_equal(exponents[n], ilogbf(most[n]));
    machine_end(&m);
}

/* Sums of several scales become binary32, narrow and wide; beyond the largest they saturate and are counted. */
static void test_scales(void **state)
{
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        struct machine m;
        machine_begin(&m, &plain);
        int16_t *scales = machine_at(&m, M_MAX_MIN, 0, 0x8000);
        int64_t sums[ALL];
        uint64_t random = 7;
        for (int i = 0; i < IMAGES * CHANNELS; ++i)
            scales[i] = (int16_t)(i == 7 ? 120 : i == 8 ? INT16_MIN : i - 20);
        for (int i = 0; i < ALL; ++i) {
            sums[i] = (int32_t)next_bits(&random);
            if (wide != 0)
                sums[i] *= 1 << 20;
            ((int32_t *)machine_at(&m, M_INTERMEDIATE, 0, 0))[i * (wide != 0 ? 2 : 1)] = (int32_t)sums[i];
            if (wide != 0)
                memcpy((char *)machine_at(&m, M_INTERMEDIATE, 0, 0) + i * 8, &sums[i], 8);
        }
        const struct machine_tstat d = {
            .in_image_stride = CHANNELS * PLANE,
            .images = IMAGES,
            .channels = CHANNELS,
            .size = W | H << 16,
            .scale_addr = CNNVP_TILE_HELD | 0x8000,
            .scale_strides = CHANNELS | 1u << 16,
            .format = (wide != 0 ? 20u : 0u) << 8,
            .out_image_stride = CHANNELS * PLANE,
            .entry_strides = 1u << 16,
            .map = PLANE};
        MACHINE_DO(&m, OP_tstat, ST_tstat_convert, d);
        const float *x = floats_at(&m, 0, 0);
        uint64_t saturated = 0;
        for (int i = 0; i < ALL; ++i) {
            const double exact = ldexp((double)sums[i], scales[i / PLANE]);
            const float most = (float)(exact < 0 ? -3.402823466e38 : 3.402823466e38);
            const float want = fabs(exact) > 3.4028235677973362e38 ? most : (float)exact;
            saturated += fabs(exact) > 3.4028235677973362e38;
            assert_true(x[i] == want);
        }
        assert_true(saturated > 0);
        assert_int_equal(fake_count(m.units[M_MODULE], "saturations"), saturated);
        machine_end(&m);
    }
}

/* Weights in 8 bits alone: decoded, updated, quantised again. */
static void test_decode(void **state)
{
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    int8_t *mantissas = (int8_t *)machine_at(&m, M_INTERMEDIATE, 0, 0x100) + 1;
    int8_t *exponents = machine_at(&m, M_MAX_MIN, 0, 0x9000);
    for (int i = 0; i < 50; ++i)
        mantissas[i] = (int8_t)(i * 5 - 128);
    exponents[0] = 3;
    exponents[2] = -100;
    const struct machine_tdecode d = {
        .in_addr = 0x101,
        .in_stride = 25,
        .channels = 2,
        .values = 20,
        .exp_addr = CNNVP_TILE_HELD | 0x9000,
        .exp_stride = 2,
        .out_addr = 0x400,
        .out_stride = 30};
    MACHINE_DO(&m, OP_tdecode, 0, d);
    const float *x = floats_at(&m, 0, 0x400);
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 20; ++i)
            assert_true((double)x[c * 30 + i] == ldexp(mantissas[c * 25 + i], c == 0 ? 3 - 6 : -100 - 6));
    machine_end(&m);
}

/* Without labels: probabilities and the predicted class alone. */
static void test_classify(void **state)
{
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    float *x = floats_at(&m, 0, 0);
    for (int i = 0; i < 12; ++i)
        x[i] = (float)(i * 7 % 5);
    x[5] = (float)NAN;
    const struct machine_tsoftmax d = {.in_image_stride = 6, .images = 2, .classes = 6, .result = 3};
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32, d);
    for (int n = 0; n < 2; ++n) {
        const char *record = machine_at(&m, M_OUTPUT, 0, (3u + (uint32_t)n) * 40u);
        struct cnnvp_class_result result;
        float p[6];
        double sum = 0;
        memcpy(&result, record, sizeof result);
        memcpy(p, record + sizeof result, sizeof p);
        uint32_t best = 0;
        for (uint32_t c = 0; c < 6; ++c) {
            sum += (double)p[c];
            best = p[c] > p[best] ? c : best;
        }
        assert_int_equal(result.predicted, best);
        assert_int_equal(result.correct, 0);
        assert_true(result.loss == 0.0f && fabs(sum - 1.0) < 1e-6);
        assert_int_equal(result.nonfinite, n == 0);
    }
    assert_int_equal(fake_count(m.units[M_SOFTMAX], "nonfinite"), 1);
    machine_end(&m);
}

/* ---- time ---- */

/* Cycles of the last command at 200 MHz. */
static uint64_t cycles(const struct machine *m)
{
    assert_int_equal(m->delay % 5000u, 0);
    return m->delay / 5000u;
}

static void check_time(uint32_t sets, uint32_t lanes, bool timing_only)
{
    const struct machine_options options = {.bits = 8, .sets = sets, .lanes = lanes, .timing_only = timing_only};
    struct machine m;
    machine_begin(&m, &options);
    const uint64_t turns = cnnvp_divide_up(IMAGES, sets);
    const uint64_t tile = turns * cnnvp_divide_up(CHANNELS * PLANE, lanes);
    struct machine_tpost d = post();
    struct machine_tpostback b = {
        .in_image_stride = CHANNELS * POOLED,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .x_addr = 0x8000,
        .x_image_stride = CHANNELS * PLANE,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x3000,
        .mask_addr = 0x10000,
        .mask_image_stride = 1000,
        .id_addr = 0x20000,
        .id_image_stride = 1000,
        .pool = 0x02020202};
    d.mask_addr = 0x10000;
    d.id_addr = 0x20000;
    d.mask_image_stride = d.id_image_stride = 1000;
    d.pool = 0x02020202;
    /* the module 2, quantise 2, encode 1 */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d);
    assert_int_equal(cycles(&m), tile + 5u);
    /* and batch norm 3, ReLU 1, max pool 2 */
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_norm | ST_tpost_relu | ST_tpost_pool | ST_tpost_keep, d);
    assert_int_equal(cycles(&m), tile + 11u);
    /* the module 2, encode 1, max pool back 2, ReLU back 1, batch norm 3, quantise 2, encode 1 */
    const uint32_t all = ST_tpostback_fp32 | ST_tpostback_norm | ST_tpostback_relu | ST_tpostback_pool;
    MACHINE_DO(&m, OP_tpostback, all, b);
    assert_int_equal(cycles(&m), tile + 12u);
    /* statistics 2 in place of quantise and encode */
    b.block = 100;
    MACHINE_DO(&m, OP_tpostback, all | ST_tpostback_reduce, b);
    assert_int_equal(cycles(&m), tile + 11u);
    const struct machine_tstat stat = {
        .in_image_stride = CHANNELS * PLANE, .images = IMAGES, .channels = CHANNELS, .size = W | H << 16};
    MACHINE_DO(&m, OP_tstat, ST_tstat_fp32, stat);
    assert_int_equal(cycles(&m), tile + 6u);
    MACHINE_DO(&m, OP_tstat, ST_tstat_fp32 | ST_tstat_squares, stat);
    assert_int_equal(cycles(&m), tile + 4u);
    const struct machine_tcoef coef = {.channels = 100};
    MACHINE_DO(&m, OP_tcoef, 0, coef);
    assert_int_equal(cycles(&m), cnnvp_divide_up(100, sets * lanes) * 16u + 3u);
    const struct machine_texp exponent = {.channels = 100, .out_addr = CNNVP_TILE_HELD | 0x9000};
    MACHINE_DO(&m, OP_texp, ST_texp_map | ST_texp_each, exponent);
    assert_int_equal(cycles(&m), cnnvp_divide_up(100, sets * lanes) + 2u);
    const struct machine_tsoftmax softmax = {
        .in_image_stride = 10,
        .images = IMAGES,
        .classes = 10,
        .label_addr = 0x100,
        .out_addr = 0x200,
        .out_image_stride = 10};
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, softmax);
    assert_int_equal(cycles(&m), turns * cnnvp_divide_up(10, lanes) * 17u + 2u + 8u + 2u);
    const struct machine_tupdate update = {
        .in_stride = 9, .channels = 20, .values = 9, .value_addr = 0x1000, .velocity_addr = 0x2000, .value_stride = 9};
    MACHINE_DO(&m, OP_tupdate, ST_tupdate_fp32 | ST_tupdate_momentum, update);
    assert_int_equal(cycles(&m), cnnvp_divide_up(180, sets * lanes) + 2u + 4u + 2u);
    const struct machine_tbnupdate norm = {.channels = 30};
    MACHINE_DO(&m, OP_tbnupdate, 0, norm);
    assert_int_equal(cycles(&m), cnnvp_divide_up(60, sets * lanes) + 4u);
    const struct machine_tdecode decode = {
        .in_stride = 9, .channels = 20, .values = 9, .out_addr = 0x1000, .out_stride = 9, .exp_addr = CNNVP_TILE_HELD};
    MACHINE_DO(&m, OP_tdecode, 0, decode);
    assert_int_equal(cycles(&m), cnnvp_divide_up(180, sets * lanes) + 2u);
    const struct machine_theld held = {.bytes = 160};
    MACHINE_DO(&m, OP_tclear, 0, held);
    assert_int_equal(cycles(&m), cnnvp_divide_up(40, sets * lanes));
    MACHINE_DO(&m, OP_tload, 0, held);
    assert_int_equal(cycles(&m), cnnvp_divide_up(40, sets * lanes) + 2u);
    assert_int_equal(fake_count(m.units[M_MODULE], "commands"), 14);
    /* every cycle of the module is in the sum of its commands */
    assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles") * 5000u, m.sim.now);
    machine_end(&m);
}

static void test_time(void **state)
{
    static const uint32_t shapes[][2] = {{4, 1}, {1, 1}, {2, 3}, {4, 32}, {3, 256}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
        for (int timing_only = 0; timing_only < 2; ++timing_only)
            check_time(shapes[i][0], shapes[i][1], timing_only != 0);
}

/* A narrow port of the intermediate buffer lengthens a tile, the same at each edge, which are not whole ps apart. */
static void test_port(void **state)
{
    struct machine m;
    struct machine_tpost d = post();
    (void)state;
    const struct machine_options options = {.bits = 8, .sets = 4, .lanes = 8, .width_words = 2};
    machine_begin(&m, &options);
    m.sim.clock_mhz = 700;
    fake_reset(m.units[M_INTERMEDIATE]);
    for (uint64_t n = 1; n < 8; ++n) {
        fake_run(&m.sim, cnnvp_edge_time(700, n * 1000u));
        MACHINE_DO(&m, OP_tpost, ST_tpost_fp32, d); /* 2 words of 16 bits for each value in */
        assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles"), n * (ALL + 5u));
        assert_int_equal(fake_count(m.units[M_MODULE], "port_cycles"),
                         n * (ALL - cnnvp_divide_up(CHANNELS * PLANE, 8)));
    }
    machine_end(&m);
}

/* The blocks' buffers lengthen a tile by what their ports, banks and latency say. */
static void check_held(uint32_t banks, uint32_t latency, bool cycle, bool timing_only)
{
    const struct machine_options options = {
        .bits = 8,
        .cycle = cycle,
        .timing_only = timing_only,
        .sets = 4,
        .lanes = 16,
        .held_words = 1,
        .held_banks = banks,
        .held_latency = latency};
    struct machine m;
    machine_begin(&m, &options);
    /* Each image has a 0/1 matrix, 2 words a plane, of its own: three are written side by side, in 8 cycles. */
    struct machine_tpost d = post();
    d.mask_addr = 0x10000;
    d.mask_image_stride = 1000;
    const uint64_t matrices = IMAGES * CHANNELS * 2u * cnnvp_divide_up(IMAGES, banks);
    const uint64_t tile = cnnvp_divide_up(CHANNELS * PLANE, 16);
    MACHINE_DO(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_keep, d);
    assert_int_equal(fake_count(m.units[M_RELU], "busy_cycles"), (matrices > tile ? matrices : tile) + 1u);
    /* The encoder reads them again. */
    assert_int_equal(cycles(&m), (matrices > tile ? matrices : tile) + latency + 6u);
    assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles") * 5000u, m.sim.now);
    machine_end(&m);
}

static void test_held(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; ++i)
        check_held((i & 1u) != 0 ? 1u : 4u, (i & 2u) != 0 ? 7u : 0, (i & 4u) != 0, (i & 8u) != 0);
}

/* ---- what a guest can do wrong ---- */

struct malformed {
    uint32_t opcode, status;
    int32_t reg; /* of the descriptor, COUNT */
    uint32_t value;
    int expected;
};
enum { COUNT = -1 };

static const struct malformed faults[] = {
    {OP_tpost, 0, COUNT, 3, CNNVP_E_INVAL},
    {0xbf, 0, 0, 0, CNNVP_E_INVAL},
    {OP_tdecode, 1, 0, 0, CNNVP_E_INVAL},
    {OP_tpost, 1, 2, 0, CNNVP_E_INVAL},          /* no images */
    {OP_tpost, 1, 3, 65536, CNNVP_E_INVAL},      /* channels */
    {OP_tpost, 1, 4, 0x00100000, CNNVP_E_INVAL}, /* width 0 */
    {OP_tpost, 1, 4, 0xffffffff, CNNVP_E_INVAL}, /* more than 2^24 values */
    {OP_tpost, 1, 0, 2, CNNVP_E_INVAL},          /* not aligned */
    {OP_tpost, 1, 0, UINT32_C(1) << 31, CNNVP_E_INVAL},
    {OP_tpost, 1, 0, MACHINE_HALF - 4, CNNVP_E_ADDR},
    {OP_tpost, 1, 1, UINT32_MAX, CNNVP_E_INVAL},
    {OP_tpost, 1, 8, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tpost, 1, 9, 1, CNNVP_E_INVAL},            /* results over each other */
    {OP_tpost, 1, 10, MACHINE_HALF, CNNVP_E_ADDR}, /* exponents */
    {OP_tpost, 1, 10, CNNVP_TILE_HELD | 65536, CNNVP_E_ADDR},
    {OP_tpost, 1, 17, 5, CNNVP_E_INVAL}, /* rounding */
    {OP_tpost, 1, 17, 8, CNNVP_E_INVAL},
    {OP_tpost, 1, 17, 25 << 8, CNNVP_E_INVAL}, /* mantissa bits */
    {OP_tpost, 1 | ST_tpost_pool, 16, 0, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_pool, 16, 0x01010707, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_pool | ST_tpost_float, 16, 0x02020202, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_measure | ST_tpost_keep, 0, 0, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_measure, 10, 5000, CNNVP_E_ADDR},
    {OP_tpost, 1 | ST_tpost_norm, 7, 700, CNNVP_E_ADDR}, /* entries */
    {OP_tpost, 1 | ST_tpost_park, 21, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tpost, 0, 5, 1, CNNVP_E_INVAL}, /* scales at odd addresses */
    {OP_tpostback, 1 | ST_tpostback_reduce | ST_tpostback_measure, 0, 0, CNNVP_E_INVAL},
    {OP_tpostback, 1 | ST_tpostback_convert, 0, 0, CNNVP_E_INVAL},
    {OP_tpostback, 1 | ST_tpostback_norm, 9, 4096, CNNVP_E_ADDR},
    {OP_tpostback, 1 | ST_tpostback_relu, 14, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tstat, 1, 12, UINT32_MAX, CNNVP_E_INVAL}, /* numbers of 32 bits */
    {OP_tpostback, 1, 23, UINT32_MAX, CNNVP_E_INVAL},
    {OP_tstat, 1, 10, 4096, CNNVP_E_ADDR},
    {OP_tcoef, 0, 1, 0, CNNVP_E_INVAL},
    {OP_tcoef, 0, 0, UINT32_MAX, CNNVP_E_ADDR},
    {OP_texp, ST_texp_map | ST_texp_back, 0, 0, CNNVP_E_INVAL},
    {OP_texp, 0, 3, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tsoftmax, 1, 13, UINT32_MAX, CNNVP_E_ADDR},
    {OP_tsoftmax, 1, 12, 65536, CNNVP_E_INVAL},
    {OP_tupdate, 1, 5, 65536, CNNVP_E_INVAL},
    {OP_tupdate, 1, 9, 1, CNNVP_E_INVAL},
    {OP_tload, 6, 0, 0, CNNVP_E_INVAL},
    {OP_tload, 0, 1, 65536, CNNVP_E_ADDR},
    {OP_tsave, 0, 2, 6, CNNVP_E_INVAL},
    {OP_tclear, 0, 2, 8, CNNVP_E_INVAL},
    {OP_tclear, 0, 2, 0, CNNVP_E_INVAL},
};

/* A descriptor of a tile that works for every opcode. */
static uint32_t good(uint32_t opcode, uint32_t registers[CNNVP_DESCRIPTOR_MAX])
{
    const struct machine_tpost p = post();
    const struct machine_tpostback b = {
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .x_addr = 0x8000,
        .x_image_stride = CHANNELS * PLANE,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x30,
        .mask_addr = 0x10000,
        .mask_image_stride = 1000,
        .id_addr = 0x20000,
        .id_image_stride = 1000,
        .pool = 0x02020202};
    const struct machine_tstat s = {
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .entry_strides = 1u << 16};
    const struct machine_tcoef c = {.channels = 4};
    const struct machine_texp e = {.channels = 4};
    const struct machine_tsoftmax x = {
        .in_image_stride = 10,
        .images = 2,
        .classes = 10,
        .label_addr = 0x100,
        .out_addr = 0x200,
        .out_image_stride = 10};
    const struct machine_tupdate u = {
        .in_stride = 9, .channels = 20, .values = 9, .value_addr = 0x1000, .velocity_addr = 0x2000, .value_stride = 9};
    const struct machine_tbnupdate n = {.channels = 3};
    const struct machine_tdecode d = {.in_stride = 9, .channels = 20, .values = 9, .out_addr = 0x1000, .out_stride = 9};
    const struct machine_theld h = {.bytes = 32};
    const struct {
        uint32_t opcode;
        const void *registers;
        size_t size;
    } forms[] = {{OP_tpost, &p, sizeof p},   {OP_tpostback, &b, sizeof b}, {OP_tstat, &s, sizeof s},
                 {OP_tcoef, &c, sizeof c},   {OP_texp, &e, sizeof e},      {OP_tsoftmax, &x, sizeof x},
                 {OP_tupdate, &u, sizeof u}, {OP_tbnupdate, &n, sizeof n}, {OP_tdecode, &d, sizeof d},
                 {OP_tload, &h, sizeof h},   {OP_tsave, &h, sizeof h},     {OP_tclear, &h, sizeof h}};
    memset(registers, 0, CNNVP_DESCRIPTOR_MAX * sizeof *registers);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i)
        if (forms[i].opcode == opcode) {
            memcpy(registers, forms[i].registers, forms[i].size);
            return (uint32_t)(forms[i].size / sizeof *registers);
        }
    return 0;
}

/* Contents of everything that a command may change. */
struct contents {
    uint8_t halves[2][0x30000];
    uint8_t held[6][1 << 16];
};

static void take_contents(struct machine *m, struct contents *contents)
{
    for (uint32_t half = 0; half < 2; ++half)
        memcpy(contents->halves[half], machine_at(m, M_INTERMEDIATE, half, 0), sizeof contents->halves[half]);
    for (unsigned i = 0; i < 6; ++i)
        memcpy(contents->held[i], machine_at(m, (enum machine_instance)(M_MAX_MIN + i), 0, 0),
               sizeof contents->held[i]);
}

static void test_malformed(void **state)
{
    static struct contents before;
    static struct contents after;
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    fill(&m, 9);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        uint32_t registers[CNNVP_DESCRIPTOR_MAX];
        uint32_t count = good(faults[i].opcode, registers);
        assert_true(count != 0 || faults[i].opcode == 0xbf);
        if (faults[i].reg == COUNT)
            count = faults[i].value;
        else
            registers[faults[i].reg] = faults[i].value;
        const uint64_t rejected = fake_count(m.units[M_MODULE], "rejected");
        const uint64_t commands = fake_count(m.units[M_MODULE], "commands");
        const uint64_t warnings = m.units[M_MODULE]->warnings;
        take_contents(&m, &before);
        const int status = machine_try(&m, faults[i].opcode, faults[i].status, 0, registers, count * 4u);
        take_contents(&m, &after);
        if (status != faults[i].expected)
            print_error("fault %zu: %d, %s\n", i, status, m.units[M_MODULE]->message);
        assert_int_equal(status, faults[i].expected);
        assert_int_equal(fake_count(m.units[M_MODULE], "rejected"), rejected + 1u);
        assert_int_equal(fake_count(m.units[M_MODULE], "commands"), commands);
        assert_int_equal(m.units[M_MODULE]->warnings, warnings + 1u);
        assert_memory_equal(&before, &after, sizeof before);
    }
    /* a matrix that its buffer cannot hold, and a label that is no class */
    struct machine_tpost large = post();
    large.channels = 60000;
    large.images = 2;
    large.size = 1 | 2 << 16;
    large.in_image_stride = large.out_image_stride = 120000;
    large.out_addr = 0xf0000 / 2;
    large.mask_image_stride = 120000;
    assert_int_equal(machine_try(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_keep, 0, &large, sizeof large),
                     CNNVP_E_ADDR);
    const struct machine_tsoftmax softmax = {
        .in_image_stride = 10,
        .images = 2,
        .classes = 10,
        .label_addr = 0x800,
        .out_addr = 0x4000,
        .out_image_stride = 10};
    uint32_t *labels = machine_at(&m, M_INTERMEDIATE, 0, 0x800);
    labels[0] = 9;
    labels[1] = 10;
    take_contents(&m, &before);
    assert_int_equal(machine_try(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, 0, &softmax, sizeof softmax),
                     CNNVP_E_INVAL);
    take_contents(&m, &after);
    assert_memory_equal(&before, &after, sizeof before);
    labels[1] = 0;
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, softmax);
    machine_end(&m);
}

/* Good descriptors with one or more registers replaced by anything, on buffers full of anything: a status, no crash.
 * What is refused changes nothing. */
static void test_garbage(void **state)
{
    static const uint32_t odd[] = {
        0,
        1,
        2,
        3,
        4,
        7,
        0x100,
        0x101,
        0xffff,
        0x10000,
        MACHINE_HALF - 4,
        MACHINE_HALF,
        CNNVP_TILE_HELD,
        CNNVP_TILE_HELD | 0xfffe,
        UINT32_C(1) << 31,
        UINT32_MAX};
    static struct contents before;
    static struct contents after;
    struct machine m;
    uint64_t random = 1;
    uint32_t accepted = 0;
    (void)state;
    machine_begin(&m, &plain);
    for (unsigned i = M_INTERMEDIATE; i < M_INSTANCES; i = i == M_INTERMEDIATE ? M_MAX_MIN : i + 1) {
        uint32_t *words = machine_at(&m, (enum machine_instance)i, 0, 0);
        for (uint32_t w = 0; w < (1u << 14); ++w)
            words[w] = (uint32_t)next_bits(&random);
    }
    for (int run = 0; run < 20000; ++run) {
        uint32_t registers[CNNVP_DESCRIPTOR_MAX];
        const uint32_t opcode = OP_tstat + (uint32_t)(next_bits(&random) % 12);
        const uint32_t count = good(opcode, registers);
        const uint64_t changes = next_bits(&random) % 4;
        for (uint64_t c = 0; c < changes; ++c)
            registers[next_bits(&random) % count] =
                next_bits(&random) % 2 != 0 ? odd[next_bits(&random) % (sizeof odd / sizeof odd[0])]
                                            : (uint32_t)next_bits(&random) % 64;
        const bool compare = run % 16 == 0;
        if (compare)
            take_contents(&m, &before);
        const int status = machine_try(
            &m, opcode, (uint32_t)next_bits(&random) & 0xff, (uint32_t)next_bits(&random) & 7u, registers, count * 4u);
        assert_true(status <= 0);
        accepted += status == CNNVP_OK;
        if (compare && status != CNNVP_OK) {
            take_contents(&m, &after);
            assert_memory_equal(&before, &after, sizeof before);
        }
    }
    assert_true(accepted > 1000);
    machine_end(&m);
}

/* What is no command. Blocks by themselves are in their own tests. */
static void test_misuse(void **state)
{
    struct machine m;
    struct cnnvp_command command = {.opcode = OP_tclear};
    struct cnnvp_access read = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    struct cnnvp_access empty = {.op = CNNVP_COMMAND, .size = sizeof command};
    struct cnnvp_access small = {.op = CNNVP_COMMAND, .data = &command, .size = 4};
    (void)state;
    machine_begin(&m, &plain);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &read), CNNVP_E_ACCESS);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &empty), CNNVP_E_INVAL);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &small), CNNVP_E_INVAL);
    machine_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_and_park),
        cmocka_unit_test(test_float_and_measure),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_classify),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
