/* SPDX-License-Identifier: Apache-2.0 */
/* Values beside those of the float model: errors, the class that is largest, ratios with and without noise. */
#include <math.h>

#include "test.h"

#include "compiler.h"

static struct cnnvp_array array_of(float *values, size_t rank, const size_t *shape)
{
    struct cnnvp_array array = {.type = CNNVP_ARRAY_F32, .rank = rank, .data = values};
    memcpy(array.shape, shape, rank * sizeof *shape);
    return array;
}

static void errors_are_added_up(void **state)
{
    (void)state;
    float exact[] = {3.0f, -4.0f, 0.0f};
    float got[] = {3.5f, -4.0f, -1.0f};
    const size_t shape[] = {3};
    const struct cnnvp_array reference = array_of(exact, 1, shape);
    const struct cnnvp_array output = array_of(got, 1, shape);
    struct cnnvp_difference difference;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_compare(&output, &reference, &difference, &error), CNNVP_DONE);
    assert_true(difference.signal == 25.0);
    assert_true(difference.noise == 1.25);
    assert_true(difference.largest == 1.0);
    assert_true(difference.magnitude == 4.0);
    assert_int_equal(difference.images, 0); /* no classes */
    assert_true(fabs(cnnvp_sqnr(&difference) - 10.0 * log10(20.0)) < 1e-12);
}

/* Of two equal values the first is the class; what follows the classes may be maps of one position. */
static void classes_are_counted(void **state)
{
    (void)state;
    float exact[] = {1.0f, 2.0f, 2.0f, 5.0f, 0.0f, 0.0f};
    float got[] = {0.0f, 1.0f, 3.0f, 9.0f, 9.0f, 0.0f};
    struct cnnvp_difference difference;
    struct cnnvp_error error = {""};
    for (size_t rank = 2; rank <= 4; rank += 2) {
        const size_t shape[] = {2, 3, 1, 1};
        const struct cnnvp_array reference = array_of(exact, rank, shape);
        const struct cnnvp_array output = array_of(got, rank, shape);
        assert_int_equal(cnnvp_compare(&output, &reference, &difference, &error), CNNVP_DONE);
        assert_int_equal(difference.images, 2);
        assert_int_equal(difference.agreeing, 1); /* class 1 became class 2; class 0 is the first of two 9 */
    }
    static const size_t no_classes[][4] = {{3, 1, 2, 1}, {6, 1, 1, 1}};
    for (size_t i = 0; i < 2; ++i) {
        const struct cnnvp_array reference = array_of(exact, 4, no_classes[i]);
        const struct cnnvp_array output = array_of(got, 4, no_classes[i]);
        assert_int_equal(cnnvp_compare(&output, &reference, &difference, &error), CNNVP_DONE);
        assert_int_equal(difference.images, 0);
    }
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    float values[] = {1.0f, 2.0f, 3.0f};
    const size_t three[] = {3}, two[] = {2};
    const struct cnnvp_array a = array_of(values, 1, three);
    struct cnnvp_array b = array_of(values, 1, two);
    struct cnnvp_difference difference;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_compare(&a, &b, &difference, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "3 and 2 elements"));
    b = array_of(values, 1, three);
    b.type = CNNVP_ARRAY_I64;
    assert_int_equal(cnnvp_compare(&a, &b, &difference, &error), CNNVP_BAD_INPUT);
}

static void ratios_have_limits(void **state)
{
    (void)state;
    assert_true(isinf(cnnvp_sqnr(&(struct cnnvp_difference){.signal = 1.0})));
    assert_true(cnnvp_sqnr(&(struct cnnvp_difference){.signal = 1.0}) > 0);
    assert_true(isinf(cnnvp_sqnr(&(struct cnnvp_difference){.noise = 1.0})));
    assert_true(cnnvp_sqnr(&(struct cnnvp_difference){.noise = 1.0}) < 0);
    assert_true(cnnvp_sqnr(&(struct cnnvp_difference){.signal = 100.0, .noise = 1.0}) == 20.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_added_up),
        cmocka_unit_test(classes_are_counted),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
        cmocka_unit_test(ratios_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
