/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random window engines: the fast kernels, the cycle-stepped engine and the definition give the same
 * results, and stepping counts what the closed forms say.
 */
#include "nfu_case.h"
#include "window_engine/window_cycle.h"

#include "test.h"

static struct cnnvp_window_shape random_shape(struct nfu_random *random)
{
    return (struct cnnvp_window_shape){
        .input_para = nfu_range(random, 1, 5),
        .output_para = nfu_range(random, 1, 5),
        .fc_para = nfu_range(random, 1, 20),
        .acc_bits = nfu_range(random, 0, 2) != 0 ? 48u : nfu_range(random, 16, 64),
        .pipeline = nfu_range(random, 1, 12),
    };
}

static void describe(const struct nfu_case *c, const struct cnnvp_window_shape *shape, const char *what)
{
    print_error("%s: opcode %02x status %02x channels %u->%u out %ux%u kernel %ux%u stride %ux%u dilation %ux%u; "
                "para %u %u %u acc %u pipeline %u\n",
                what, c->opcode, c->status, c->in_channels, c->out_channels, c->out_w, c->out_h, c->kx, c->ky, c->sx,
                c->sy, c->dx, c->dy, shape->input_para, shape->output_para, shape->fc_para, shape->acc_bits,
                shape->pipeline);
}

static void check_sums(const struct nfu_case *c, const struct cnnvp_window_shape *shape, const int64_t *sums,
                       const char *what)
{
    if (memcmp(sums, c->sums, c->results * sizeof *sums) != 0) {
        describe(c, shape, what);
        for (uint64_t i = 0; i < c->results; ++i)
            assert_int_equal(sums[i], c->sums[i]);
    }
}

static void check_costs(const struct nfu_case *c, const struct cnnvp_window_shape *shape,
                        const struct cnnvp_window_cost *closed, const struct cnnvp_window_cost *stepped)
{
    if (memcmp(closed, stepped, sizeof *closed) != 0)
        describe(c, shape, "cost");
#define SAME(member) assert_int_equal(closed->member, stepped->member)
    SAME(compute_cycles);
    SAME(bias_cycles);
    SAME(bias_loads);
    SAME(load_cycles);
    SAME(pipeline_cycles);
    SAME(input_words);
    SAME(reused_words);
    SAME(weight_words);
    SAME(bias_words);
    SAME(kernel_loads);
    SAME(output_words);
    SAME(passes);
    SAME(macs);
#undef SAME
}

static void run_case(struct nfu_case *c, const struct cnnvp_window_shape *shape)
{
    struct cnnvp_fx16_tile tile;
    struct cnnvp_window_cost closed;
    struct cnnvp_window_cost stepped;
    struct cnnvp_window_engine engine = {0};
    struct cnnvp_fx16_scratch scratch = {0};
    const struct cnnvp_fx16_data nothing = {0};
    const char *reason = NULL;
    const struct cnnvp_command command = nfu_case_command(c);
    nfu_case_expect(c, shape->acc_bits);
    if (cnnvp_fx16_decode(&command, &tile, &reason) != CNNVP_OK) {
        describe(c, shape, reason);
        fail();
    }
    int64_t *sums = malloc(c->results * sizeof *sums);
    assert_non_null(sums);
    const struct cnnvp_fx16_data data = {.input = c->input, .weights = c->weights, .bias = c->bias, .sums = sums};
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_fx16_compute(shape->acc_bits, &tile, &data, &scratch), CNNVP_OK);
    check_sums(c, shape, sums, "fast");
    cnnvp_window_cost(shape, &tile, &closed);
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &data, &engine, &stepped), CNNVP_OK);
    check_sums(c, shape, sums, "stepped");
    check_costs(c, shape, &closed, &stepped);
    /* Registers that hold another command's values, and no data at all. */
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &data, &engine, &stepped), CNNVP_OK);
    check_sums(c, shape, sums, "stepped again");
    assert_int_equal(cnnvp_window_cycle(shape, &tile, &nothing, &engine, &stepped), CNNVP_OK);
    check_costs(c, shape, &closed, &stepped);
    cnnvp_window_engine_free(&engine);
    cnnvp_fx16_scratch_free(&scratch);
    free(sums);
}

static void test_random(void **state)
{
    struct nfu_random random = {20240903u};
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
    struct nfu_random random = {7u};
    const struct cnnvp_window_shape shape = {
        .input_para = 64, .output_para = 64, .fc_para = 256, .acc_bits = 64, .pipeline = 32};
    struct nfu_case c = {
        .opcode = OP_CONV,
        .status = 8u,
        .in_channels = 70,
        .out_channels = 66,
        .out_h = 3,
        .out_w = 4,
        .kx = 5,
        .ky = 4,
        .sx = 1,
        .sy = 2,
        .dx = 1,
        .dy = 1};
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
