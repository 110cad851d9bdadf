/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands on random arrays: the fast kernels, each of their variants, the cycle-stepped array and the
 * definition give the same results, and stepping counts what the closed forms say. So do the addresses that are
 * stepped, counted one by one in random buffers, and the classes of clocks.
 */
#include "inference/nfu/nfu_cycle.h"
#include "inference/fx16/fx16_kernels.h"
#include "memory/buffer/buffer_internal.h"
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
        .pipeline = between(random, 1, 6),
        .fifo_stride = between(random, 1, 5),
        .propagation = between(random, 0, 3) != 0,
        .single_neuron = between(random, 0, 1) != 0,
        .extended_fifo_v = between(random, 0, 1) != 0,
    };
    return shape;
}

static const char *text_of(const struct cnnvp_nfu_shape *shape)
{
    static char text[128];
    (void)snprintf(text, sizeof text, "array %ux%u piece %u acc %u FIFOs %u propagation %d extended %d single %d",
                   shape->cols, shape->rows, shape->kernel_piece, shape->acc_bits, shape->fifo_stride,
                   shape->propagation, shape->extended_fifo_v, shape->single_neuron);
    return text;
}

static struct cnnvp_buffer_shape random_buffer(uint64_t *random)
{
    static const uint32_t lines[] = {8, 8, 8, 4, 2, 16, 1, 5};
    return (struct cnnvp_buffer_shape){
        .width_words = between(random, 0, 1) != 0 ? 64u : between(random, 1, 70),
        .banks = between(random, 0, 1) != 0 ? 1u << between(random, 0, 4) : between(random, 1, 20),
        .line_words = lines[between(random, 0, 7)],
        .column_step = between(random, 0, 1) != 0 ? 1u : between(random, 1, 4),
    };
}

static uint64_t late_of(const struct cnnvp_fx16_clocks *clocks, const struct cnnvp_buffer_shape *shape, int generated)
{
    uint64_t late = 0;
    for (uint32_t i = 0; i < clocks->count; ++i)
        late += buffer_port_late(shape, &clocks->classes[i], 2, generated);
    return late;
}

struct memory {
    struct cnnvp_fx16_scratch scratch;
    struct cnnvp_nfu_array array;
    struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS];
    uint64_t late; /* cases with */
};

/* A scale record of 64 bits crosses the weight port in the clock of a bias, for each channel of each PE tile. */
static void check_scales(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_nfu_beat *port)
{
    const uint64_t words = (tile->narrow & CNNVP_NARROW_B) != 0 ? 8 : 4, width = port->shape.width_words;
    const uint64_t columns = (tile->out_w + shape->cols - 1) / shape->cols;
    const uint64_t rows = (tile->out_h + shape->rows - 1) / shape->rows;
    if (tile->scaled && tile->kind == CNNVP_FX16_WINDOW && width < words)
        assert_true(port->late >= columns * rows * tile->out_channels * ((words + width - 1) / width - 1));
}

static void run_case(struct nfu_case *c, const struct cnnvp_nfu_shape *shape, struct memory *memory)
{
    const struct cnnvp_fx16_tile tile = nfu_case_tile(c);
    struct cnnvp_fx16_cost closed;
    struct cnnvp_fx16_cost stepped;
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
    assert_int_equal(cnnvp_nfu_cycle(shape, &tile, &data, &memory->array, &stepped, memory->ports), CNNVP_OK);
    nfu_case_check_sums(c, text, "stepped", sums);
    nfu_case_check_cost(c, text, &closed, &stepped, sizeof closed);
    struct cnnvp_fx16_traffic traffic = {0};
    cnnvp_nfu_clocks(shape, &tile, &traffic);
    const struct cnnvp_fx16_clocks *const clocks[] = {&traffic.input, &traffic.weight, &traffic.output};
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i) {
        const struct cnnvp_nfu_beat *port = &memory->ports[i];
        const uint64_t late = late_of(clocks[i], &port->shape, i == CNNVP_NFU_INPUT && tile.ones);
        if (late != port->late)
            fail_msg("%s, %ux%u of %ux%u, stride %ux%u, %s: port %u, width %llu, %llu banks, line %llu, step %llu: "
                     "%llu late, %llu by classes",
                     tile.name, tile.kx, tile.ky, tile.out_w, tile.out_h, tile.sx, tile.sy, text, i,
                     (unsigned long long)port->shape.width_words, (unsigned long long)port->shape.banks,
                     (unsigned long long)port->shape.line_words, (unsigned long long)port->shape.column_step,
                     (unsigned long long)port->late, (unsigned long long)late);
        memory->late += late != 0;
    }
    check_scales(shape, &tile, &memory->ports[CNNVP_NFU_WEIGHT]);
    free(sums);
}

static void test_random(void **state)
{
    uint64_t random = 20240817;
    uint64_t buffers = 7;
    struct memory memory = {0};
    (void)state;
    for (uint32_t i = 0; i < 40000u; ++i) {
        struct nfu_case c;
        const struct cnnvp_nfu_shape shape = random_shape(&random);
        nfu_case_random(&c, &random);
        if (i % 5u == 0)
            nfu_case_scale(&c, &random);
        for (unsigned p = 0; p < CNNVP_NFU_PORTS; ++p)
            memory.ports[p].shape = random_buffer(&buffers);
        run_case(&c, &shape, &memory);
        nfu_case_free(&c);
    }
    cnnvp_fx16_scratch_free(&memory.scratch);
    cnnvp_nfu_array_free(&memory.array);
    for (unsigned p = 0; p < CNNVP_NFU_PORTS; ++p)
        cnnvp_nfu_beat_free(&memory.ports[p]);
    assert_in_range(memory.late, 20000, 100000);
}

/* 64 neurons of one input on 64 PEs, in words of 8 bits: 64 bytes of weights in a clock, then 64 records of 8 bytes in
 * 4 clocks. A port of 16 bytes takes 4 and 32 clocks for them. */
static void test_narrow_records(void **state)
{
    const struct cnnvp_nfu_shape shape = {.rows = 8, .cols = 8, .acc_bits = 48, .pipeline = 4};
    const struct cnnvp_fx16_tile tile = {
        .name = "matmul",
        .kind = CNNVP_FX16_MATMUL,
        .operation = {.product = CNNVP_FX16_PRODUCT_KA},
        .uses_k = true,
        .inputs = 1,
        .outputs = 64,
        .planes = 1,
        .plane_words = 64,
        .plane_stride = 64,
        .scaled = true,
        .bias_words = 4,
        .narrow = CNNVP_NARROW_A | CNNVP_NARROW_B | CNNVP_NARROW_OUT};
    const struct cnnvp_buffer_shape buffer = {.width_words = 8, .banks = 64, .line_words = 64, .column_step = 1};
    const struct cnnvp_fx16_data data = {.input = NULL};
    struct memory memory = {0};
    struct cnnvp_fx16_traffic traffic = {0};
    struct cnnvp_fx16_cost cost;
    uint64_t late = 0;
    (void)state;
    cnnvp_nfu_clocks(&shape, &tile, &traffic);
    for (uint32_t i = 0; i < traffic.weight.count; ++i)
        late += buffer_port_late(&buffer, &traffic.weight.classes[i], 1, 0);
    assert_int_equal(late, 3 + 28);
    for (unsigned p = 0; p < CNNVP_NFU_PORTS; ++p) {
        memory.ports[p].shape = buffer;
        memory.ports[p].shape.width_words = 16; /* bytes */
    }
    assert_int_equal(cnnvp_nfu_cycle(&shape, &tile, &data, &memory.array, &cost, memory.ports), CNNVP_OK);
    assert_int_equal(memory.ports[CNNVP_NFU_WEIGHT].late, 3 + 28);
    cnnvp_nfu_array_free(&memory.array);
    for (unsigned p = 0; p < CNNVP_NFU_PORTS; ++p)
        cnnvp_nfu_beat_free(&memory.ports[p]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_narrow_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
