/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random arrays: the fast kernels, each of their variants, the cycle-stepped array and the
 * definition give the same results, and stepping counts what the closed forms say.
 */
#include "inference/nfu/nfu_cycle.h"
#include "inference/fx16/fx16_kernels.h"
#include "nfu_case.h"
#include "random.h"

#include "test.h"

static struct cnnvp_nfu_shape random_shape(uint64_t *random)
{
    struct cnnvp_nfu_shape shape = {
        .rows = between(random, 1, 8),
        .cols = between(random, 1, 8),
        .kernel_piece = between(random, 0, 1) * 3u,
        .acc_bits = between(random, 0, 2) != 0 ? 48u : between(random, 16, 64),
        .pipeline = between(random, 1, 4),
        .propagation = between(random, 0, 3) != 0,
        .single_neuron = between(random, 0, 1) != 0,
        .extended_fifo_v = between(random, 0, 1) != 0,
    };
    return shape;
}

static const char *text_of(const struct cnnvp_nfu_shape *shape)
{
    static char text[128];
    (void)snprintf(text, sizeof text, "array %ux%u piece %u acc %u propagation %d extended %d single %d", shape->cols,
                   shape->rows, shape->kernel_piece, shape->acc_bits, shape->propagation, shape->extended_fifo_v,
                   shape->single_neuron);
    return text;
}

struct memory {
    struct cnnvp_fx16_scratch scratch;
    struct cnnvp_nfu_array array;
};

static void run_case(struct nfu_case *c, const struct cnnvp_nfu_shape *shape, struct memory *memory)
{
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    struct cnnvp_nfu_cost closed;
    struct cnnvp_nfu_cost stepped;
    const char *text = text_of(shape);
    const struct fx16_kernels *kernels;
    nfu_case_expect(c, shape->acc_bits);
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
        nfu_case_check_sums(c, text, kernels->name, sums);
    }
    cnnvp_nfu_cost(shape, &tile, &closed);
    memset(sums, 0x55, c->results * sizeof *sums);
    assert_int_equal(cnnvp_nfu_cycle(shape, &tile, &data, &memory->array, &stepped), CNNVP_OK);
    nfu_case_check_sums(c, text, "stepped", sums);
    nfu_case_check_cost(c, text, &closed, &stepped, sizeof closed);
    free(sums);
}

static void test_random(void **state)
{
    uint64_t random = 20240817;
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
