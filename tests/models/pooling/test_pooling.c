/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pooling unit: maxima and sums of windows against plain loops, in both depths; cycles and words by the closed
 * forms of window_engine/window_cost.c, a narrow port, and what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_pooling;

/* Windows of 5x2 values every two columns, of ten channels; rows 0 and 6 hold no data. */
enum { CHANNELS = 10, H = 7, W = 9, KX = 5, KY = 2, SX = 2, OUT_H = 6, OUT_W = 3, RESULTS = CHANNELS * OUT_H * OUT_W };
enum { FIRST_ROW = 1, END_ROW = 6, OUT_AT = 128, ACC_AT = 4096 };

/* Four channels at a time; 5 columns are two pieces of three. A row of positions begins with 9 words, each further one
 * takes two new columns of 3. Sums of 4 words are kept between the two passes. */
enum {
    PASSES = 3 * 2,
    COMPUTE = PASSES * OUT_H * OUT_W,
    FILL = 6 - 1,
    INPUT_WORDS = CHANNELS * 2 * OUT_H * (9 + (OUT_W - 1) * 6),
    REUSED_WORDS = CHANNELS * 2 * OUT_H * OUT_W * 9 - INPUT_WORDS
};

static const struct machine_window windows = {
    .in_addr = 64,
    .in_row_stride = W,
    .in_channel_stride = H * W,
    .in_channels = CHANNELS,
    .out_h = OUT_H,
    .out_w = OUT_W,
    .kernel = KX | KY << 16,
    .stride = SX | 1 << 16,
    .dilation = 1 | 1 << 16,
    .out_addr = OUT_AT,
    .acc_addr = ACC_AT,
    .out_channel_stride = OUT_H * OUT_W,
    .format = 0xff, /* shift -1: words are twice the maxima */
    .valid_rows = FIRST_ROW | END_ROW << 16,
    .valid_cols = W << 16};

static void begin(struct array_rig *rig, uint64_t detail, int timing_only, uint64_t width)
{
    array_rig_begin(rig, &cnnvp_unit_pooling, 1000, timing_only);
    fake_set(rig->array, "detail", detail);
    fake_set(rig->array, "input_para", 4);
    fake_set(rig->input, "width_words", width);
    fake_set(rig->output, "width_words", 4096);
    array_rig_start(rig);
}

static void expect(const int16_t *in, uint32_t result, int32_t *max, int64_t *sum)
{
    const uint32_t y0 = result / OUT_W % OUT_H;
    const uint32_t x0 = result % OUT_W * SX;
    *max = INT16_MIN;
    *sum = 0;
    for (uint32_t y = y0; y < y0 + KY; ++y)
        for (uint32_t x = x0; x < x0 + KX && y >= FIRST_ROW && y < END_ROW; ++x) {
            const int16_t value = in[(result / (OUT_H * OUT_W) * H + y) * W + x];
            *max = value > *max ? value : *max;
            *sum += value;
        }
}

static void check(uint64_t detail, int timing_only)
{
    int16_t in[CHANNELS * H * W];
    uint64_t random = 3;
    uint64_t clipped = 0;
    struct array_rig rig;
    begin(&rig, detail, timing_only, 4096);
    for (int i = 0; i < CHANNELS * H * W; ++i)
        in[i] = (int16_t)((int32_t)next_bits(&random) >> (i % 3 == 0 ? 16 : 20));
    if (!timing_only)
        array_rig_poke(rig.input, 0, 64, in, CHANNELS * H * W);
    const struct cnnvp_command maximum = ARRAY_RIG_COMMAND(OP_pool, 0, windows);
    assert_int_equal(array_rig_do(&rig, maximum), COMPUTE + FILL);
    assert_int_equal(fake_count(rig.array, "compute_cycles"), COMPUTE);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), FILL);
    assert_int_equal(fake_count(rig.array, "busy_cycles"), COMPUTE + FILL);
    assert_int_equal(fake_count(rig.array, "input_words"), INPUT_WORDS);
    assert_int_equal(fake_count(rig.array, "reused_words"), REUSED_WORDS);
    assert_int_equal(fake_count(rig.array, "weight_words"), 0);
    assert_int_equal(fake_count(rig.array, "output_words"), RESULTS * (4 + 1));
    assert_int_equal(fake_count(rig.input, "read_rotating_words"), INPUT_WORDS);
    const struct cnnvp_command initialise = ARRAY_RIG_COMMAND(OP_pool, ST_pool_sum, windows);
    const struct cnnvp_command accumulate = ARRAY_RIG_COMMAND(OP_pool, ST_pool_sum | ST_pool_update, windows);
    assert_int_equal(array_rig_do(&rig, initialise), COMPUTE + FILL);
    assert_int_equal(array_rig_do(&rig, accumulate), COMPUTE + FILL);
    assert_int_equal(fake_count(rig.array, "commands"), 3);
    for (uint32_t r = 0; r < RESULTS && !timing_only; ++r) {
        const int16_t *word = array_rig_peek(rig.output, 0, OUT_AT + 2 * r, 2);
        const int64_t *twice = array_rig_peek(rig.output, 0, ACC_AT + 8 * r, 8);
        int32_t max;
        int64_t sum;
        expect(in, r, &max, &sum);
        assert_int_equal(*word, max > 16383 ? 32767 : max < -16384 ? -32768 : 2 * max);
        assert_true(*twice == 2 * sum);
        clipped += max > 16383 || max < -16384;
    }
    assert_true(timing_only || clipped > 0);
    assert_int_equal(fake_count(rig.array, "saturations"), clipped);
    array_rig_end(&rig);
}

static void test_windows(void **state)
{
    (void)state;
    check(0, 0);
    check(1, 0);
    check(0, 1);
}

/* A port of four words a cycle is what a command waits for. */
static void test_narrow(void **state)
{
    (void)state;
    for (uint64_t detail = 0; detail < 2; ++detail) {
        const struct cnnvp_command maximum = ARRAY_RIG_COMMAND(OP_pool, 0, windows);
        struct array_rig rig;
        begin(&rig, detail, 0, 4);
        assert_int_equal(array_rig_do(&rig, maximum), INPUT_WORDS / 4 + FILL);
        assert_int_equal(fake_count(rig.array, "input_port_cycles"), INPUT_WORDS / 4 - COMPUTE);
        array_rig_end(&rig);
    }
}

static void test_refused(void **state)
{
    struct array_rig rig;
    struct machine_window changed = windows;
    (void)state;
    begin(&rig, 0, 0, 4096);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_conv, 0, windows), CNNVP_E_INVAL, "takes pool alone");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 8, windows), CNNVP_E_INVAL, "status bits");
    changed.stride = SX;
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, changed), CNNVP_E_INVAL, "stride and dilation are 1");
    changed = windows;
    changed.in_addr = 32768 - 2 * CHANNELS * H * W + 2; /* the last word is beyond the half */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, changed), CNNVP_E_ADDR, "leaves a buffer half");
    changed = windows;
    changed.acc_addr = 4; /* two passes keep their sums */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, changed), CNNVP_E_INVAL, "multiple of 8");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows), cmocka_unit_test(test_narrow), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
