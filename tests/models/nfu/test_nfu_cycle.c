/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random arrays: the fast kernels, each of their variants, the cycle-stepped array and the
 * definition give the same results, and stepping counts what the closed forms say.
 */
#include "nfu/nfu_cycle.h"
#include "fx16/fx16_kernels.h"
#include "nfu_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* Fast kernels alone on larger tiles: several chunks of channels, sums beyond 32 bits, extreme values everywhere. */
static void test_large(void **state)
{
    static const struct {
        uint32_t in, out, h, w, k, s;
    } sizes[] = {{1000, 5, 2, 2, 3, 1}, {600, 6, 5, 7, 3, 1}, {64, 9, 28, 28, 3, 1},  {3, 8, 30, 33, 11, 4},
                 {520, 3, 1, 1, 5, 1},  {2, 4, 3, 100, 7, 2}, {300, 4, 20, 20, 1, 1}, {31, 7, 4, 4, 3, 2}};
    const struct cnnvp_nfu_shape shape = {.rows = 8, .cols = 8, .acc_bits = 64, .pipeline = 3, .propagation = true};
    struct nfu_random random = {77u};
    struct cnnvp_fx16_scratch scratch = {0};
    (void)state;
    for (uint32_t i = 0; i < 2u * sizeof sizes / sizeof sizes[0]; ++i) {
        const uint32_t n = i / 2u;
        struct nfu_case c = {
            .opcode = OP_CONV,
            .in_channels = sizes[n].in,
            .out_channels = sizes[n].out,
            .out_h = sizes[n].h,
            .out_w = sizes[n].w,
            .kx = sizes[n].k,
            .ky = sizes[n].k,
            .sx = sizes[n].s,
            .sy = sizes[n].s,
            .dx = 1,
            .dy = 1};
        struct cnnvp_fx16_tile tile;
        const struct fx16_kernels *kernels;
        const char *reason = NULL;
        nfu_case_data(&c, &random);
        for (uint64_t w = 0; i % 2u == 0 && w < c.input_words; ++w)
            c.input[w] = INT16_MIN;
        for (uint64_t w = 0; i % 2u == 0 && w < c.weight_words; ++w)
            c.weights[w] = w % 5u == 0 && n % 2u == 0 ? 0x7f80 : INT16_MIN;
        nfu_case_expect(&c, shape.acc_bits);
        const struct cnnvp_command command = nfu_case_command(&c);
        assert_int_equal(cnnvp_fx16_decode(&command, &tile, &reason), CNNVP_OK);
        int64_t *sums = calloc(c.results, sizeof *sums);
        assert_non_null(sums);
        const struct cnnvp_fx16_data data = {.input = c.input, .weights = c.weights, .bias = c.bias, .sums = sums};
        for (size_t v = 0; (kernels = cnnvp_fx16_kernels_variant(v)) != NULL; ++v) {
            assert_int_equal(cnnvp_fx16_compute_with(kernels, shape.acc_bits, &tile, &data, &scratch), CNNVP_OK);
            check_sums(&c, &shape, sums, kernels->name);
            cnnvp_fx16_scratch_free(&scratch);
        }
        free(sums);
        nfu_case_free(&c);
    }
}

/* Commands on one map, a word of which changes now and then, with other weights each: what is kept of it is right. */
static void test_same_map(void **state)
{
    static const struct {
        uint32_t in, h, k, s;
    } sizes[] = {{9, 4, 3, 1}, {6, 3, 3, 2}, {5, 9, 3, 1}, {300, 20, 1, 1}, {4, 7, 3, 2}, {9, 4, 3, 1}};
    const struct cnnvp_nfu_shape shape = {.rows = 8, .cols = 8, .acc_bits = 48, .pipeline = 3, .propagation = true};
    struct nfu_random random = {41u};
    struct cnnvp_fx16_scratch scratch = {0};
    (void)state;
    for (uint32_t n = 0; n < sizeof sizes / sizeof sizes[0]; ++n) {
        struct nfu_case c = {
            .opcode = OP_CONV,
            .in_channels = sizes[n].in,
            .out_channels = 3,
            .out_h = sizes[n].h,
            .out_w = sizes[n].h,
            .kx = sizes[n].k,
            .ky = sizes[n].k,
            .sx = sizes[n].s,
            .sy = sizes[n].s,
            .dx = 1,
            .dy = 1};
        struct cnnvp_fx16_tile tile;
        const char *reason = NULL;
        nfu_case_data(&c, &random);
        const struct cnnvp_command command = nfu_case_command(&c);
        assert_int_equal(cnnvp_fx16_decode(&command, &tile, &reason), CNNVP_OK);
        int64_t *sums = calloc(c.results, sizeof *sums);
        assert_non_null(sums);
        const struct cnnvp_fx16_data data = {.input = c.input, .weights = c.weights, .bias = c.bias, .sums = sums};
        for (uint64_t i = 0; i < 40u; ++i) {
            const uint64_t word = i % 4u == 0 ? c.input_words - 1u : i * 97u % c.input_words;
            c.weights[i * 31u % c.weight_words] ^= 0x1234;
            if (i % 3u != 0)
                c.input[word] ^= (int16_t)(1u << i % 15u);
            nfu_case_expect(&c, shape.acc_bits);
            assert_int_equal(cnnvp_fx16_compute(shape.acc_bits, &tile, &data, &scratch), CNNVP_OK);
            check_sums(&c, &shape, sums, "again");
        }
        free(sums);
        nfu_case_free(&c);
    }
    cnnvp_fx16_scratch_free(&scratch);
}

static void test_split(void **state)
{
    (void)state;
    for (int32_t v = INT16_MIN; v <= INT16_MAX; ++v) {
        const int32_t low = fx16_low((int16_t)v);
        const int32_t high = fx16_high((int16_t)v);
        assert_int_equal(256 * high + low, v);
        assert_in_range(low + 128, 0, 255);
        assert_in_range(high + 128, 0, 256);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_same_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
