/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the compiler share. */
#include "test.h"

#include "compiler.h"

static void messages_begin_with_their_file(void **state)
{
    struct cnnvp_error error = {""};
    (void)state;
    assert_int_equal(cnnvp_compiler_error(&error, "%d of %s", 3, "a"), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "3 of a");
    assert_int_equal(cnnvp_compiler_error(NULL, "nobody asks"), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_compiler_in_file(CNNVP_FAILED, "net.onnx", &error), CNNVP_FAILED);
    assert_string_equal(error.text, "3 of a");
    for (int i = 0; i < 2; ++i) { /* and have it once */
        assert_int_equal(cnnvp_compiler_in_file(CNNVP_BAD_INPUT, "net.onnx", &error), CNNVP_BAD_INPUT);
        assert_string_equal(error.text, "net.onnx: 3 of a");
    }
}

/* A name that is set again has its last value. */
static void names_are_found(void **state)
{
    enum { COUNT = 1000 };
    static char texts[COUNT][8];
    struct cnnvp_names names = {NULL};
    uint32_t value = 7;
    (void)state;
    assert_false(cnnvp_names_get(&names, "n0", &value));
    for (uint32_t round = 1; round < 3; ++round)
        for (uint32_t i = 0; i < COUNT; ++i) {
            (void)snprintf(texts[i], sizeof texts[i], "n%u", i);
            assert_true(cnnvp_names_set(&names, texts[i], round * i));
        }
    for (uint32_t i = 0; i < COUNT; ++i) {
        char copy[8];
        memcpy(copy, texts[i], sizeof copy);
        assert_true(cnnvp_names_get(&names, copy, &value));
        assert_int_equal(value, 2 * i);
    }
    assert_false(cnnvp_names_get(&names, "n1000", &value));
    cnnvp_names_clear(&names);
    assert_false(cnnvp_names_get(&names, "n1", &value));
}

/* Mean 0, variance 1, between -6 and 6, by seed and index alone. */
static void normal_numbers_are_normal(void **state)
{
    enum { COUNT = 20000 };
    double sum = 0, squares = 0;
    (void)state;
    for (uint64_t i = 0; i < COUNT; ++i) {
        const float x = cnnvp_normal(5, i);
        assert_true(x >= -6.0f && x <= 6.0f);
        assert_true(x == cnnvp_normal(5, i));
        assert_true(x < cnnvp_normal(6, i) || x > cnnvp_normal(6, i));
        sum += (double)x;
        squares += (double)x * (double)x;
    }
    /* Four standard deviations. */
    assert_true(sum / COUNT > -0.03 && sum / COUNT < 0.03);
    assert_true(squares / COUNT > 0.96 && squares / COUNT < 1.04);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_begin_with_their_file),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(normal_numbers_are_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
