/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fully connected unit: neurons with bias, rounded and saturated, against plain loops; one command
 * in two parts; cycles and words by the closed forms of window_engine/window_cost.c; what is refused.
 */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include <math.h>

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_fully_connected;

enum { INPUTS = 37, OUTPUTS = 45, WEIGHTS = INPUTS * OUTPUTS, SHIFT = 12, BIAS_SHIFT = 3 };
enum { IN_AT = 32, WEIGHTS_AT = 128, BIAS_AT = 8192, OUT_AT = 64, ACC_AT = 1024 };
/* Sixteen neurons at a time share an input, each input a cycle; the bias is one more input that is 1. */
enum { STEPS = 3, COMPUTE = INPUTS * STEPS, BIAS = STEPS, FILL = 3 - 1 };

static const struct machine_matmul layer = {
    .in_addr = IN_AT,
    .inputs = INPUTS,
    .outputs = OUTPUTS,
    .weight_addr = WEIGHTS_AT,
    .bias_addr = BIAS_AT,
    .out_addr = OUT_AT,
    .acc_addr = ACC_AT,
    .format = SHIFT | BIAS_SHIFT << 8 | 1 << 16 /* to nearest */};

struct data {
    int16_t in[INPUTS], weights[WEIGHTS], bias[OUTPUTS];
};

/* Small numbers, so that many sums lie half-way between two words, and large ones. */
static void make(struct data *data)
{
    uint64_t random = 2;
    for (int i = 0; i < INPUTS; ++i)
        data->in[i] = (int16_t)(256 * ((int32_t)next_bits(&random) >> 27));
    for (int i = 0; i < WEIGHTS; ++i)
        data->weights[i] = (int16_t)(8 * ((int32_t)next_bits(&random) >> (i % OUTPUTS % 4 == 0 ? 20 : 26)));
    for (int i = 0; i < OUTPUTS; ++i)
        data->bias[i] = (int16_t)(256 * ((int32_t)next_bits(&random) >> 27));
}

static void begin(struct array_rig *rig, int timing_only, const struct data *data)
{
    array_rig_begin(rig, &cnnvp_unit_fully_connected, 1000, timing_only);
    fake_set(rig->output, "width_words", 4096);
    array_rig_start(rig);
    if (timing_only)
        return;
    array_rig_poke(rig->input, 0, IN_AT, data->in, INPUTS);
    array_rig_poke(rig->weight, 0, WEIGHTS_AT, data->weights, WEIGHTS);
    array_rig_poke(rig->weight, 0, BIAS_AT, data->bias, OUTPUTS);
}

/* Weights are [input][output]. Ties go to the even word. */
static void check_words(struct array_rig *rig, const struct data *data)
{
    const int16_t *words = array_rig_peek(rig->output, 0, OUT_AT, 2 * OUTPUTS);
    uint64_t clipped = 0;
    uint64_t ties = 0;
    for (int o = 0; o < OUTPUTS; ++o) {
        int64_t sum = (int64_t)data->bias[o] * (1 << BIAS_SHIFT);
        for (int i = 0; i < INPUTS; ++i)
            sum += (int64_t)data->in[i] * data->weights[i * OUTPUTS + o];
        const double exact = nearbyint(ldexp((double)sum, -SHIFT));
        const double word = fmax(fmin(exact, 32767.0), -32768.0);
        assert_int_equal(words[o], (int)word);
        clipped += exact < word || exact > word;
        ties += (sum & ((1 << SHIFT) - 1)) == 1 << (SHIFT - 1);
    }
    assert_true(clipped > 0 && clipped < OUTPUTS && ties > 0);
    assert_int_equal(fake_count(rig->array, "saturations"), clipped);
}

static void check(int timing_only)
{
    struct data data;
    struct array_rig rig;
    const struct cnnvp_command command = ARRAY_RIG_COMMAND(OP_matmul, ST_matmul_bias, layer);
    make(&data);
    begin(&rig, timing_only, &data);
    assert_int_equal(array_rig_do(&rig, command), COMPUTE + BIAS + FILL);
    if (!timing_only)
        check_words(&rig, &data);
    assert_int_equal(fake_count(rig.array, "commands"), 1);
    assert_int_equal(fake_count(rig.array, "compute_cycles"), COMPUTE);
    assert_int_equal(fake_count(rig.array, "bias_cycles"), BIAS);
    assert_int_equal(fake_count(rig.array, "fill_cycles"), FILL);
    assert_int_equal(fake_count(rig.array, "input_words"), INPUTS + 1);
    assert_int_equal(fake_count(rig.array, "weight_words"), WEIGHTS + OUTPUTS);
    assert_int_equal(fake_count(rig.array, "bias_words"), OUTPUTS);
    assert_int_equal(fake_count(rig.array, "macs"), WEIGHTS);
    /* each input updates all sums of 3 words, the last writes them out */
    assert_int_equal(fake_count(rig.array, "output_words"), OUTPUTS * (INPUTS * 3 + 1));
    assert_int_equal(fake_count(rig.output, "write_words"), OUTPUTS);
    array_rig_end(&rig);
}

static void test_layer(void **state)
{
    (void)state;
    check(0);
    check(1);
}

/* Two commands over parts of the inputs, the second with bias and write-out, equal one over all. */
static void test_partial(void **state)
{
    enum { FIRST = 20, REST = INPUTS - FIRST };
    (void)state;
    struct data data;
    struct array_rig rig;
    struct machine_matmul first = layer;
    struct machine_matmul rest = layer;
    make(&data);
    begin(&rig, 0, &data);
    first.inputs = FIRST;
    rest.in_addr += 2 * FIRST;
    rest.weight_addr += 2 * FIRST * OUTPUTS;
    rest.inputs = REST;
    const struct cnnvp_command keep = ARRAY_RIG_COMMAND(OP_matmul, ST_matmul_partial, first);
    const struct cnnvp_command end = ARRAY_RIG_COMMAND(OP_matmul, ST_matmul_update | ST_matmul_bias, rest);
    assert_int_equal(array_rig_do(&rig, keep), FIRST * STEPS + FILL);
    assert_int_equal(fake_count(rig.array, "output_words"), OUTPUTS * FIRST * 3);
    assert_int_equal(array_rig_do(&rig, end), REST * STEPS + BIAS + FILL);
    assert_int_equal(fake_count(rig.array, "input_words"), INPUTS + 1);
    check_words(&rig, &data);
    array_rig_end(&rig);
}

static void test_refused(void **state)
{
    struct data data;
    struct array_rig rig;
    struct machine_matmul changed = layer;
    (void)state;
    make(&data);
    begin(&rig, 0, &data);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, layer), CNNVP_E_INVAL, "takes matmul alone");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_matmul, 0x10, layer), CNNVP_E_INVAL, "status bits");
    changed.weight_addr = 32768 - 2 * WEIGHTS + 2; /* the last word is beyond the half */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_matmul, 0, changed), CNNVP_E_ADDR, "leaves a buffer half");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer), cmocka_unit_test(test_partial), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
