/* SPDX-License-Identifier: Apache-2.0 */
/* Single clocks of the cycle-stepped array, driven by hand: a 3x3 window on 3x3 PEs. */
#include "inference/nfu/nfu_array.h"

#include "test.h"

/* Input at X(column, row) = 100 * column + row, and which PEs have read a port in this cycle. */
struct trace {
    uint32_t tap_x;
    uint32_t tap_y;
    uint32_t reads;
    uint32_t read_by[16]; /* col * 10 + row */
};

static struct cnnvp_nfu_value read_trace(const void *context, uint32_t col, uint32_t row)
{
    /* The array hands the context back unchanged; this test's own is writable. */
    struct trace *trace = *(struct trace *const *)context;
    trace->read_by[trace->reads++] = col * 10u + row;
    return (struct cnnvp_nfu_value){(int16_t)(100u * (col + trace->tap_x) + row + trace->tap_y), true};
}

static void check_read_by(const struct trace *trace, uint32_t count, const uint32_t *expected)
{
    assert_int_equal(trace->reads, count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(trace->read_by[i], expected[i]);
}

/* PE(0,0) sees X00 from the row input, X10 and X20 from its right neighbour, X01 from below, and so on in Z order. Each
 * PE sees its own window in the same order. */
static void test_z_scan(void **state)
{
    static const uint32_t all[] = {0, 10, 20, 1, 11, 21, 2, 12, 22};
    static const uint32_t column[] = {20, 21, 22};
    static const uint32_t bottom[] = {2, 12, 22};
    const struct cnnvp_nfu_shape shape = {.rows = 3, .cols = 3, .acc_bits = 48};
    struct cnnvp_nfu_array array = {0};
    struct trace trace;
    struct trace *context = &trace;
    struct cnnvp_nfu_step step = {.operation = {.product = CNNVP_FX16_PRODUCT_A}, .execute = true};
    (void)state;
    assert_int_equal(cnnvp_nfu_array_configure(&array, &shape, 1, 1, 1), CNNVP_OK);
    cnnvp_nfu_array_begin(&array, 3, 3, &step.operation);
    for (uint32_t ky = 0; ky < 3u; ++ky) {
        for (uint32_t kx = 0; kx < 3u; ++kx) {
            trace = (struct trace){.tap_x = kx, .tap_y = ky};
            step.move = kx > 0 ? CNNVP_NFU_RIGHT : ky > 0 ? CNNVP_NFU_DOWN : CNNVP_NFU_LOAD;
            step.push_h = kx < 2u;
            step.push_v = step.column_push_v = kx == 0 && ky < 2u;
            cnnvp_nfu_array_step(&array, &step, read_trace, &context);
            for (uint32_t row = 0; row < 3u; ++row)
                for (uint32_t col = 0; col < 3u; ++col)
                    assert_int_equal(cnnvp_nfu_array_pe(&array, col, row)->selected.value,
                                     100u * (col + kx) + row + ky);
            if (kx > 0)
                check_read_by(&trace, 3, column);
            else if (ky > 0)
                check_read_by(&trace, 3, bottom);
            else
                check_read_by(&trace, 9, all);
        }
        cnnvp_nfu_array_flush_h(&array);
    }
    assert_false(array.fault);
    assert_int_equal(array.counts.cycles, 9);
    assert_int_equal(array.counts.input_words, 9 + 2 * 3 * 3 + 2 * 3);
    assert_int_equal(array.counts.fifo_h_pushes, 9 * 3 * 2);
    assert_int_equal(array.counts.fifo_v_pushes, 9 * 2);
    /* sum of PE(0,0)'s window */
    assert_int_equal(cnnvp_nfu_array_pe(&array, 0, 0)->p, 3 * (0 + 100 + 200) + 3 * (0 + 1 + 2));
    cnnvp_nfu_array_free(&array);
}

/* A partial tile lies against the right and bottom edges; the other PEs neither read nor compute. */
static void test_partial_tile(void **state)
{
    const struct cnnvp_nfu_shape shape = {.rows = 4, .cols = 4, .acc_bits = 48};
    struct cnnvp_nfu_array array = {0};
    struct trace trace = {0};
    struct trace *context = &trace;
    struct cnnvp_nfu_step step = {.operation = {.product = CNNVP_FX16_PRODUCT_A}, .execute = true, .push_h = true};
    (void)state;
    assert_int_equal(cnnvp_nfu_array_configure(&array, &shape, 1, 0, 0), CNNVP_OK);
    cnnvp_nfu_array_begin(&array, 2, 3, &step.operation);
    cnnvp_nfu_array_step(&array, &step, read_trace, &context);
    assert_int_equal(array.counts.input_words, 6);
    step.move = CNNVP_NFU_RIGHT;
    step.push_h = false;
    trace = (struct trace){.tap_x = 1};
    cnnvp_nfu_array_step(&array, &step, read_trace, &context);
    assert_int_equal(array.counts.input_words, 6 + 3);
    for (uint32_t row = 0; row < 4u; ++row)
        for (uint32_t col = 0; col < 4u; ++col) {
            const int64_t p = array.pes[row * 4u + col].p;
            const uint32_t x = col - 2u;
            const uint32_t y = row - 1u;
            assert_int_equal(p, col >= 2u && row >= 1u ? (int64_t)(100u * x + y + 100u * (x + 1u) + y) : 0);
        }
    assert_false(array.fault);
    cnnvp_nfu_array_free(&array);
}

/* A control that takes what was never pushed, or pushes what is never taken, is found. */
static void test_faults(void **state)
{
    const struct cnnvp_nfu_shape shape = {.rows = 2, .cols = 2, .acc_bits = 48};
    struct cnnvp_nfu_array array = {0};
    struct trace trace = {0};
    struct trace *context = &trace;
    struct cnnvp_nfu_step step = {.push_h = true};
    (void)state;
    assert_int_equal(cnnvp_nfu_array_configure(&array, &shape, 1, 1, 1), CNNVP_OK);
    cnnvp_nfu_array_begin(&array, 2, 2, &step.operation);
    cnnvp_nfu_array_step(&array, &step, read_trace, &context);
    assert_false(array.fault);
    trace.reads = 0;
    cnnvp_nfu_array_step(&array, &step, read_trace, &context);
    assert_true(array.fault);

    assert_int_equal(cnnvp_nfu_array_configure(&array, &shape, 1, 1, 1), CNNVP_OK);
    cnnvp_nfu_array_begin(&array, 2, 2, &step.operation);
    assert_false(array.fault);
    step = (struct cnnvp_nfu_step){.move = CNNVP_NFU_DOWN};
    trace.reads = 0;
    cnnvp_nfu_array_step(&array, &step, read_trace, &context);
    assert_true(array.fault);
    cnnvp_nfu_array_free(&array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_z_scan), cmocka_unit_test(test_partial_tile), cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
