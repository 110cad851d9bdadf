/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random PE modules: the kernels, each of their variants, and the layer's formulas give the same
 * results.
 */
#include "training/train_array/train_job.h"
#include "random.h"
#include "train_case.h"

#include "test.h"

static struct cnnvp_train_shape random_shape(uint64_t *random, uint32_t bits)
{
    return (struct cnnvp_train_shape){
        .arrays = between(random, 1, 5),
        .cols = between(random, 1, 9),
        .rows = between(random, 0, 2) != 0 ? 3u : between(random, 1, 5),
        .pipeline = between(random, 1, 4),
        .mantissa_bits = bits,
        .fc_all_rows = between(random, 0, 1) != 0,
        .gradient_adder = between(random, 0, 1) != 0,
    };
}

static void describe(const struct train_case *c, const struct cnnvp_train_shape *s, const char *what)
{
    print_error("%s: opcode %02x acc %d float %d bits %u images %u channels %u->%u map %ux%u->%ux%u kernel %ux%u "
                "stride %ux%u pad %ux%u gap %u exps %u%u%u%u; module %ux%ux%u fc %d adder %d\n",
                what, c->opcode, c->accumulate, c->to_float, c->bits, c->images, c->cin, c->cout, c->w, c->h, c->ow,
                c->oh, c->kx, c->ky, c->sx, c->sy, c->px, c->py, c->gap, c->in_exp_image, c->in_exp_channel,
                c->second_exp_out, c->second_exp_part, s->arrays, s->cols, s->rows, s->fc_all_rows, s->gradient_adder);
}

static void check_results(const struct train_case *c, const struct cnnvp_train_shape *shape, const void *results,
                          uint64_t saturated, const char *what)
{
    if (memcmp(results, c->after, c->result_bytes) != 0) {
        describe(c, shape, what);
        for (uint64_t i = 0; i < c->result_bytes / 4u; ++i)
            assert_int_equal(((const int32_t *)results)[i], ((const int32_t *)c->after)[i]);
    }
    if (saturated != c->saturated)
        describe(c, shape, what);
    assert_int_equal(saturated, c->saturated);
}

static void run_case(const struct train_case *c, const struct cnnvp_train_shape *shape,
                     struct cnnvp_train_scratch *scratch)
{
    const struct train_kernels *kernels;
    struct cnnvp_train_tile tile;
    const char *reason = NULL;
    if (cnnvp_train_decode(shape, &c->command, &tile, &reason) != CNNVP_OK) {
        describe(c, shape, reason);
        fail();
    }
    assert_true(tile.in_span <= c->in_values && tile.in_span + 4u * c->gap >= c->in_values - c->gap);
    assert_true(tile.second_span <= c->second_values && tile.out_span <= c->results);
    assert_true(tile.in_exps <= c->in_exp_count && tile.second_exps <= c->second_exp_count);
    void *results = malloc(c->result_bytes + 1u);
    assert_non_null(results);
    const struct cnnvp_train_data data = {c->in_raw, c->second_raw, results, c->in_exps, c->second_exps};
    for (size_t v = 0; (kernels = cnnvp_train_kernels_variant(v)) != NULL; ++v) {
        uint64_t saturated = 0;
        memcpy(results, c->before, c->result_bytes);
        assert_int_equal(cnnvp_train_compute_with(kernels, shape, &tile, &data, scratch, &saturated), CNNVP_OK);
        check_results(c, shape, results, saturated, kernels->name);
    }
    free(results);
}

static void test_random(void **state)
{
    uint64_t random = 20261120;
    struct cnnvp_train_scratch scratch = {0};
    uint64_t saturated = 0;
    (void)state;
    for (uint32_t i = 0; i < 6000u; ++i) {
        struct train_case c;
        const uint32_t bits = i % 4u != 0 ? 8u : between(&random, 0, 1) != 0 ? between(&random, 9, 24) : 2u;
        const struct cnnvp_train_shape shape = random_shape(&random, bits);
        train_case_random(&c, &random, bits);
        run_case(&c, &shape, &scratch);
        saturated += c.saturated;
        train_case_free(&c);
    }
    assert_true(saturated > 100);
    cnnvp_train_scratch_free(&scratch);
}

/* Dense maps into groups of three zones, row r in zone r mod 3: the size of a group. */
static uint64_t spread(void **raw, uint32_t maps, uint32_t h, uint32_t w, uint32_t bytes)
{
    const uint64_t row = (uint64_t)w * bytes;
    const uint64_t zone = (h + 2u) / 3u * row;
    char *to = malloc(maps * 3u * zone);
    assert_non_null(to);
    memset(to, 0x55, maps * 3u * zone);
    for (uint64_t m = 0; m < maps; ++m)
        for (uint64_t y = 0; y < h; ++y)
            memcpy(to + (3u * m + y % 3u) * zone + y / 3u * row, (const char *)*raw + (m * h + y) * row, row);
    free(*raw);
    *raw = to;
    return 3u * zone / bytes;
}

static void test_zones(void **state)
{
    uint64_t random = 20261125;
    struct cnnvp_train_scratch scratch = {0};
    uint32_t cases = 0;
    (void)state;
    while (cases < 600u) {
        struct train_case c;
        const uint32_t bits = cases % 4u != 0 ? 8u : 11u;
        struct cnnvp_train_shape shape = random_shape(&random, bits);
        shape.zones = true;
        train_case_random(&c, &random, bits);
        const bool usable = c.opcode < T_MATMUL && c.h >= 3u && c.oh >= 3u;
        train_case_free(&c);
        if (!usable)
            continue;
        const bool gradient = c.opcode == T_GRADIENT;
        const bool error = c.opcode == T_ERROR;
        *(gradient ? &c.images : error ? &c.cout : &c.cin) = 1u;
        c.gap = 0;
        train_case_fill(&c, &random, false, true);
        const uint32_t bytes = bits > 8u ? 4u : 1u;
        const uint32_t maps = gradient ? c.cin : c.images;
        uint32_t *const words = c.command.descriptor; /* row, channel and image stride: words 1 to 3, errors 9 to 11 */
        const uint64_t group = spread(&c.in_raw, maps, error ? c.oh : c.h, error ? c.ow : c.w, bytes);
        words[gradient ? 2 : 3] = (uint32_t)group;
        c.in_values = maps * group;
        if (gradient) {
            words[10] = (uint32_t)spread(&c.second_raw, c.cout, c.oh, c.ow, bytes);
            c.second_values = (uint64_t)c.cout * words[10];
        }
        run_case(&c, &shape, &scratch);
        train_case_free(&c);
        ++cases;
    }
    cnnvp_train_scratch_free(&scratch);
}

/* Layers of their real sizes, several panels and chunks, extreme values. */
static void test_large(void **state)
{
    uint64_t random = 5;
    struct cnnvp_train_scratch scratch = {0};
    const struct cnnvp_train_shape shape = {.arrays = 4, .cols = 32, .rows = 3, .pipeline = 3, .mantissa_bits = 8};
    struct train_case layers[] = {
        train_case_same(T_FORWARD, 2, 16, 20, 16, 16, 3),
        train_case_same(T_ERROR, 2, 16, 20, 16, 16, 3),
        train_case_same(T_GRADIENT, 3, 9, 14, 16, 16, 3),
        train_case_same(T_FORWARD, 4, 40, 33, 2, 2, 3),
        train_case_same(T_FORWARD, 3, 1, 6, 28, 28, 5),
        /* many positions for few kernels: kernel rows of one quad and of two, turned, strides, uneven borders */
        train_case_same(T_FORWARD, 4, 3, 5, 17, 19, 3),
        train_case_same(T_FORWARD, 3, 2, 3, 14, 9, 3),
        train_case_same(T_ERROR, 4, 4, 3, 15, 15, 5),
        train_case_same(T_ERROR, 2, 3, 2, 14, 14, 1),
        train_case_same(T_MATMUL, 70, 300, 50, 1, 1, 1),
        /* 40 000 terms: three chunks; the sums of extreme values stay within 32 bits */
        train_case_same(T_MATMUL, 2, 40000, 3, 1, 1, 1),
        train_case_same(T_BACK, 4, 70, 300, 1, 1, 1),
        train_case_same(T_OUTER, 4, 70, 30, 1, 1, 1),
        /* 160 images of 32 x 32 pixels: beyond 32 bits where values are extreme (Part B 1-11) */
        train_case_same(T_GRADIENT, 160, 1, 2, 32, 32, 1),
    };
    layers[2].accumulate = layers[3].accumulate = layers[5].accumulate = layers[7].accumulate = true;
    layers[6].kx = 5;
    layers[6].sy = 2;
    layers[6].oh = 7;
    layers[6].ow = 6;
    layers[8].kx = layers[8].ky = layers[8].sx = layers[8].sy = 2;
    layers[8].oh = layers[8].ow = 7;
    uint64_t clipped = 0;
    (void)state;
    for (size_t i = 0; i < 2u * sizeof layers / sizeof layers[0]; ++i) {
        const struct train_kernels *kernels;
        struct train_case c = layers[i / 2u];
        struct cnnvp_train_tile tile;
        const char *reason = NULL;
        train_case_fill(&c, &random, i % 2u != 0, true);
        assert_int_equal(cnnvp_train_decode(&shape, &c.command, &tile, &reason), CNNVP_OK);
        int32_t *results = malloc(c.result_bytes);
        assert_non_null(results);
        const struct cnnvp_train_data data = {c.in_raw, c.second_raw, results, c.in_exps, c.second_exps};
        for (size_t v = 0; (kernels = cnnvp_train_kernels_variant(v)) != NULL; ++v) {
            uint64_t saturated = 0;
            memcpy(results, c.before, c.result_bytes);
            assert_int_equal(cnnvp_train_compute_with(kernels, &shape, &tile, &data, &scratch, &saturated), CNNVP_OK);
            check_results(&c, &shape, results, saturated, kernels->name);
        }
        clipped = c.accumulate ? clipped : c.saturated;
        free(results);
        train_case_free(&c);
    }
    assert_int_equal(clipped, 2); /* the last layer's two sums of 163 840 extreme products */
    cnnvp_train_scratch_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
