/* SPDX-License-Identifier: Apache-2.0 */
/* Single PEs of the cycle-stepped array. */
#include "inference/nfu/nfu_pe.h"

#include "test.h"

static int64_t execute(int64_t p, int16_t a, int16_t k, enum cnnvp_fx16_product product, bool from_k, bool compare,
                       uint32_t acc_bits)
{
    struct cnnvp_nfu_pe pe = {.p = p, .selected = {a, true}};
    const struct cnnvp_fx16_operation operation = {.product = product, .from_k = from_k, .compare = compare};
    cnnvp_nfu_pe_execute(&pe, &operation, k, acc_bits);
    return pe.p;
}

/* Every multiplexer setting of S002's list. */
static void test_operations(void **state)
{
    const enum cnnvp_fx16_product a = CNNVP_FX16_PRODUCT_A;
    const enum cnnvp_fx16_product ka = CNNVP_FX16_PRODUCT_KA;
    const enum cnnvp_fx16_product aa = CNNVP_FX16_PRODUCT_AA;
    (void)state;
    assert_int_equal(execute(1000, -7, 5, ka, false, false, 48), 965);  /* P + K*A */
    assert_int_equal(execute(1000, -7, 5, aa, false, false, 48), 1049); /* P + A^2 */
    assert_int_equal(execute(1000, -7, 5, a, false, false, 48), 993);   /* P + A */
    assert_int_equal(execute(1000, -7, 5, ka, true, false, 48), -30);   /* K + K*A */
    assert_int_equal(execute(1000, -7, 5, aa, true, false, 48), 54);    /* K + A^2 */
    assert_int_equal(execute(1000, -7, 5, a, true, false, 48), -2);     /* K + A */
    assert_int_equal(execute(-9, -7, 5, a, false, true, 48), -7);       /* max{P, A} */
    assert_int_equal(execute(-5, -7, 5, ka, true, true, 48), -5);       /* the comparator, whatever M is */
    assert_int_equal(execute(0, INT16_MIN, INT16_MIN, ka, false, false, 48), INT64_C(1) << 30);
    assert_int_equal(execute(INT64_C(1) << 46, INT16_MIN, INT16_MIN, aa, false, false, 48),
                     (INT64_C(1) << 46) + (INT64_C(1) << 30));
}

static void test_accumulator_width(void **state)
{
    (void)state;
    assert_int_equal(execute(INT16_MAX, 1, 0, CNNVP_FX16_PRODUCT_A, false, false, 16), INT16_MIN);
    assert_int_equal(execute(INT16_MAX, 1, 0, CNNVP_FX16_PRODUCT_A, false, false, 17), 32768);
    assert_int_equal(execute((INT64_C(1) << 47) - 1, 1, 1, CNNVP_FX16_PRODUCT_KA, false, false, 48),
                     -(INT64_C(1) << 47));
    assert_int_equal(execute(INT64_MAX, 1, 1, CNNVP_FX16_PRODUCT_KA, false, false, 64), INT64_MIN);
}

static void test_absent_input(void **state)
{
    struct cnnvp_nfu_pe pe = {.p = -40, .selected = {0, false}};
    const struct cnnvp_fx16_operation largest = {.compare = true};
    const struct cnnvp_fx16_operation sum = {.product = CNNVP_FX16_PRODUCT_A};
    (void)state;
    cnnvp_nfu_pe_execute(&pe, &largest, 0, 48);
    assert_int_equal(pe.p, -40);
    cnnvp_nfu_pe_clear(&pe, &largest);
    assert_int_equal(pe.p, -32768);
    cnnvp_nfu_pe_clear(&pe, &sum);
    assert_int_equal(pe.p, 0);
    cnnvp_nfu_pe_add(&pe, -3, 48); /* the bias step */
    assert_int_equal(pe.p, -3);
}

static void test_bias_alignment(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_fx16_bias(-3, 0), -3);
    assert_int_equal(cnnvp_fx16_bias(-3, 4), -48);
    assert_int_equal(cnnvp_fx16_bias(INT16_MIN, 48), INT64_MIN);
    assert_int_equal(cnnvp_fx16_bias(INT16_MAX, -1), 16383);
    assert_int_equal(cnnvp_fx16_bias(-1, -1), -1);
    assert_int_equal(cnnvp_fx16_bias(-8, -2), -2);
    assert_int_equal(cnnvp_fx16_bias(-9, -2), -3);
    assert_int_equal(cnnvp_fx16_bias(INT16_MIN, -63), -1);
    assert_int_equal(cnnvp_fx16_bias(INT16_MAX, -63), 0);
}

static void test_fifo(void **state)
{
    struct cnnvp_nfu_value places[3];
    struct cnnvp_nfu_fifo fifo;
    (void)state;
    cnnvp_nfu_fifo_reset(&fifo, places, 3);
    assert_false(cnnvp_nfu_fifo_pop(&fifo));
    assert_false(cnnvp_nfu_fifo_head(&fifo).present);
    for (int16_t i = 0; i < 20; ++i) {
        assert_true(cnnvp_nfu_fifo_push(&fifo, (struct cnnvp_nfu_value){i, true}));
        if (i >= 2) {
            assert_int_equal(cnnvp_nfu_fifo_head(&fifo).value, i - 2);
            assert_false(cnnvp_nfu_fifo_push(&fifo, (struct cnnvp_nfu_value){99, true}));
            assert_true(cnnvp_nfu_fifo_pop(&fifo));
        }
    }
    cnnvp_nfu_fifo_flush(&fifo);
    assert_false(cnnvp_nfu_fifo_pop(&fifo));
    cnnvp_nfu_fifo_reset(&fifo, NULL, 0);
    assert_false(cnnvp_nfu_fifo_push(&fifo, (struct cnnvp_nfu_value){1, true}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),   cmocka_unit_test(test_accumulator_width),
        cmocka_unit_test(test_absent_input), cmocka_unit_test(test_bias_alignment),
        cmocka_unit_test(test_fifo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
