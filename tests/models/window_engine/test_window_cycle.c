/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random window engines: the fast kernels, the cycle-stepped engine and the definition give the same
 * results, and stepping counts what the closed forms say.
 */
#include "nfu_case.h"
#include "random.h"
#include "window_engine/window_cycle.h"

#include "test.h"

static struct cnnvp_window_shape random_shape(uint64_t *random)
{
    return (struct cnnvp_window_shape){
        .input_para = between(random, 1, 5),
        .output_para = between(random, 1, 5),
        .fc_para = between(random, 1, 20),
        .acc_bits = between(random, 0, 2) != 0 ? 48u : between(random, 16, 64),
        .pipeline = between(random, 1, 12),
    };
}

static const char *text_of(const struct cnnvp_window_shape *shape)
{
    static char text[128];
    (void)snprintf(text, sizeof text, "para %u %u %u acc %u pipeline %u", shape->input_para, shape->output_para,
                   shape->fc_para, shape->acc_bits, shape->pipeline);
    return text;
}

static void run_case(struct nfu_case *c, const struct cnnvp_window_shape *shape)
{
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    struct cnnvp_window_cost closed;
    struct cnnvp_window_cost stepped;
    struct cnnvp_window_engine engine = {0};
    struct cnnvp_fx16_scratch scratch = {0};
    const struct cnnvp_fx16_data nothing = {0};
    const char *text = text_of(shape);
    nfu_case_expect(c, shape->acc_bits);
    int64_t *sums = malloc(c->results * sizeof *sums);
    assert_non_null(sums);
    const struct cnnvp_fx16_data data = {.input = c->input, .weights = c->weights, .bias = c->bias, .sums = sums};
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_fx16_compute(shape->acc_bits, &tile, &data, &scratch), CNNVP_OK);
    nfu_case_check_sums(c, text, "fast", sums);
    cnnvp_window_cost(shape, &tile, &closed);
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &data, &engine, &stepped), CNNVP_OK);
    nfu_case_check_sums(c, text, "stepped", sums);
    nfu_case_check_cost(c, text, &closed, &stepped, sizeof closed);
    /* Registers that hold another command's values, and no data at all. */
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &data, &engine, &stepped), CNNVP_OK);
    nfu_case_check_sums(c, text, "stepped again", sums);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &nothing, &engine, &stepped), CNNVP_OK);
    nfu_case_check_cost(c, text, &closed, &stepped, sizeof closed);
    cnnvp_window_engine_free(&engine);
    cnnvp_fx16_scratch_free(&scratch);
    free(sums);
}

static void test_random(void **state)
{
    uint64_t random = 20240903;
    uint32_t run = 0;
    (void)state;
    while (run < 6000u) {
        struct nfu_case c;
        const struct cnnvp_window_shape shape = random_shape(&random);
        nfu_case_random(&c, &random);
        if (c.opcode != OP_STEP) { /* the engine has no step */
            run_case(&c, &shape);
            ++run;
        }
        nfu_case_free(&c);
    }
}

/* The widest engine on the most channels, extreme values. */
static void test_widest(void **state)
{
    uint64_t random = 7;
    const struct cnnvp_window_shape shape = {
        .input_para = 64, .output_para = 64, .fc_para = 256, .acc_bits = 64, .pipeline = 32};
    struct nfu_case c = nfu_case_window(OP_CONV, 70, 66, 4, 3, 5, 4, 1, 2);
    c.status = 8u;
    (void)state;
    nfu_case_data(&c, &random);
    for (uint64_t i = 0; i < c.input_words; ++i)
        c.input[i] = INT16_MIN;
    for (uint64_t i = 0; i < c.weight_words; ++i)
        c.weights[i] = INT16_MIN;
    run_case(&c, &shape);
    nfu_case_free(&c);
    c = (struct nfu_case){.opcode = OP_MATMUL, .status = 8u, .in_channels = 300, .out_channels = 600};
    nfu_case_data(&c, &random);
    run_case(&c, &shape);
    nfu_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_widest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
