/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random arrays: the fast kernels, each of their variants, the cycle-stepped array and the
 * definition give the same results, and stepping counts what the closed forms say.
 */
#include "nfu/nfu_cycle.h"
#include "fx16/fx16_kernels.h"
#include "nfu_case.h"

#include "test.h"

static struct cnnvp_nfu_shape random_shape(struct nfu_random *random)
{
    struct cnnvp_nfu_shape shape = {
        .rows = nfu_range(random, 1, 8),
        .cols = nfu_range(random, 1, 8),
        .kernel_piece = nfu_range(random, 0, 1) * 3u,
        .acc_bits = nfu_range(random, 0, 2) != 0 ? 48u : nfu_range(random, 16, 64),
        .pipeline = nfu_range(random, 1, 4),
        .propagation = nfu_range(random, 0, 3) != 0,
        .single_neuron = nfu_range(random, 0, 1) != 0,
        .extended_fifo_v = nfu_range(random, 0, 1) != 0,
    };
    return shape;
}

static void describe(const struct nfu_case *c, const struct cnnvp_nfu_shape *shape, const char *what)
{
    print_error("%s: opcode %02x status %02x channels %u->%u out %ux%u kernel %ux%u stride %ux%u dilation %ux%u; "
                "array %ux%u piece %u acc %u propagation %d extended %d single %d\n",
                what, c->opcode, c->status, c->in_channels, c->out_channels, c->out_w, c->out_h, c->kx, c->ky, c->sx,
                c->sy, c->dx, c->dy, shape->cols, shape->rows, shape->kernel_piece, shape->acc_bits, shape->propagation,
                shape->extended_fifo_v, shape->single_neuron);
}

static void check_sums(const struct nfu_case *c, const struct cnnvp_nfu_shape *shape, const int64_t *sums,
                       const char *what)
{
    if (memcmp(sums, c->sums, c->results * sizeof *sums) != 0) {
        describe(c, shape, what);
        for (uint64_t i = 0; i < c->results; ++i)
            assert_int_equal(sums[i], c->sums[i]);
    }
}

static void check_costs(const struct nfu_case *c, const struct cnnvp_nfu_shape *shape,
                        const struct cnnvp_nfu_cost *closed, const struct cnnvp_nfu_cost *stepped)
{
    if (memcmp(closed, stepped, sizeof *closed) != 0)
        describe(c, shape, "cost");
#define SAME(member) assert_int_equal(closed->member, stepped->member)
    SAME(compute_cycles);
    SAME(bias_cycles);
    SAME(fill_cycles);
    SAME(writeout_cycles);
    SAME(input_words);
    SAME(weight_words);
    SAME(bias_words);
    SAME(output_words);
    SAME(macs);
    SAME(fifo_h_pushes);
    SAME(fifo_v_pushes);
#undef SAME
}

struct memory {
    struct cnnvp_fx16_scratch scratch;
    struct cnnvp_nfu_array array;
};

static void run_case(struct nfu_case *c, const struct cnnvp_nfu_shape *shape, struct memory *memory)
{
    struct cnnvp_fx16_tile tile;
    struct cnnvp_nfu_cost closed;
    struct cnnvp_nfu_cost stepped;
    const char *reason = NULL;
    const struct fx16_kernels *kernels;
    const struct cnnvp_command command = nfu_case_command(c);
    nfu_case_expect(c, shape->acc_bits);
    if (cnnvp_fx16_decode(&command, &tile, &reason) != CNNVP_OK) {
        describe(c, shape, reason);
        fail();
    }
    int64_t *sums = malloc(c->results * sizeof *sums);
    assert_non_null(sums);
    const struct cnnvp_fx16_data data = {.input = c->input, .weights = c->weights, .bias = c->bias, .sums = sums};
    assert_int_equal(tile.in_span, c->input_words);
    assert_int_equal(tile.planes * tile.plane_words, c->results);
    for (size_t i = 0; (kernels = cnnvp_fx16_kernels_variant(i)) != NULL; ++i) {
        memset(sums, 0x55, c->results * sizeof *sums);
        if (i > 0) /* each variant packs the input itself */
            cnnvp_fx16_scratch_free(&memory->scratch);
        assert_int_equal(cnnvp_fx16_compute_with(kernels, shape->acc_bits, &tile, &data, &memory->scratch), CNNVP_OK);
        check_sums(c, shape, sums, kernels->name);
    }
    cnnvp_nfu_cost(shape, &tile, &closed);
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_nfu_cycle(shape, &tile, &data, &memory->array, &stepped), CNNVP_OK);
    check_sums(c, shape, sums, "stepped");
    check_costs(c, shape, &closed, &stepped);
    free(sums);
}

static void test_random(void **state)
{
    struct nfu_random random = {20240817u};
    struct memory memory = {0};
    (void)state;
    for (uint32_t i = 0; i < 40000u; ++i) {
        struct nfu_case c;
        const struct cnnvp_nfu_shape shape = random_shape(&random);
        nfu_case_random(&c, &random);
        run_case(&c, &shape, &memory);
        nfu_case_free(&c);
    }
    cnnvp_fx16_scratch_free(&memory.scratch);
    cnnvp_nfu_array_free(&memory.array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
