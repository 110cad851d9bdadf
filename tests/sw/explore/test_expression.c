/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints: what they mean, and what is wrong with others. */

#include "test.h"

#include "explore.h"

static uint32_t find_name(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "a") == 0 ? 0 : strcmp(name, "b.c") == 0 ? 1 : strcmp(name, "s") == 0 ? 2 : UINT32_MAX;
}

static void offer_names(void *context, struct cnnvp_suggest *suggest)
{
    (void)context;
    cnnvp_suggest_offer(suggest, "a");
    cnnvp_suggest_offer(suggest, "b.c");
    cnnvp_suggest_offer(suggest, "s");
}

static struct cnnvp_operand value_of(const void *context, uint32_t index)
{
    static const struct cnnvp_operand values[] = {{NULL, 8}, {NULL, 3}, {"ddr4-2400", 0}};
    (void)context;
    return values[index];
}

/* 1, 0, or -1 with a message. */
static int holds(const char *text, struct cnnvp_error *error)
{
    struct cnnvp_arena arena = {0};
    struct cnnvp_expression *expression = NULL;
    int result = -1;
    if (cnnvp_expression_new(&arena, text, "f.yaml:4:10", find_name, offer_names, NULL, &expression, error) !=
            CNNVP_DONE ||
        cnnvp_expression_condition(expression, error) != CNNVP_DONE ||
        cnnvp_expression_holds(expression, value_of, NULL, &result, error) != CNNVP_DONE)
        result = -1;
    cnnvp_arena_free(&arena);
    return result;
}

static void test_constraints(void **state)
{
    static const struct {
        const char *text;
        int holds;
    } cases[] = {
        {"a == 8", 1},
        {"a != 8", 0},
        {"a == b.c", 0},
        {"a > b.c", 1},
        {"a + b.c * 2 == 14", 1},
        {"(a + b.c) * 2 == 22", 1},
        {"a - 4 - 3 == 1", 1},
        {"a / 4 == 2", 1},
        {"a / 16 == 0.5", 1},
        {"a % b.c == 2", 1},
        {"-a < 0", 1},
        {"s == 'ddr4-2400'", 1},
        {"s != \"ddr4-2400\"", 0},
        {"not a == 8", 0},
        {"!(a == 8)", 0},
        {"not not a == 8", 1},
        {"a == 1 or b.c == 3", 1},
        {"a == 1 || b.c == 4", 0},
        {"a == 8 and b.c == 4", 0},
        {"a == 8 && b.c == 3", 1},
        {"a == 1 and b.c == 3 or a == 8", 1},
        {"a == 8 or b.c == 3 and a == 1", 1},
        {"a * 1KiB == 8192", 1},
        {"1 KiB == 1024 and a == 8", 1},
        {"a >= 8 and a <= 8 and a < 9", 1},
        {"not a", 0},
        {"not (a - 8)", 1},
        {"2 * -3 == -6", 1},
        {"a*b.c<=24", 1},
        /* The right side is not looked at once the left decides. */
        {"b.c == 3 or a / 0 > 1", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        int result = holds(cases[i].text, &error);
        if (result != cases[i].holds)
            fail_msg("%s: %d %s", cases[i].text, result, error.text);
    }
}

static void test_constraint_errors(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a = 8", "f.yaml:4:12: two values are compared by =="},
        {"a == ", "f.yaml:4:15: something is missing"},
        {"x.yz == 1", "f.yaml:4:10: there is no parameter \"x.yz\"; texts go in quotes"},
        {"a == b.d", "f.yaml:4:15: there is no parameter \"b.d\"; did you mean \"b.c\"?"},
        {"s == ddr4-2400", "f.yaml:4:15: there is no parameter \"ddr4\""},
        {"(a == 8", "f.yaml:4:17: a closing parenthesis"},
        {"a == 8)", "f.yaml:4:16: an operator"},
        {"1 < a < 9", "f.yaml:4:16: an operator is expected here; comparisons do not chain"},
        {"1 < a == 1", "f.yaml:4:16: an operator is expected here; comparisons do not chain"},
        {"s == 'x", "f.yaml:4:15: a quote"},
        {"s == 3", "f.yaml:4:12: a text and a number"},
        {"s < 'x'", "f.yaml:4:12: texts can be compared"},
        {"a / 0 == 1", "f.yaml:4:12: division by zero"},
        {"a == 8 and s", "f.yaml:4:21: a text is neither"},
        {"1 + 1", "f.yaml:4:12: this is a value and no condition; a comparison is expected"},
        {"a", "f.yaml:4:10: this is a value and no condition"},
        {"3x == 1", "f.yaml:4:10: this is no number"},
        {"8 KiB MiB == 8", "f.yaml:4:16: an operator is expected"},
        {"", "f.yaml:4:10: something is missing"},
        {"a == 8 ** 2", "f.yaml:4:18: a number, a name"},
    };
    char deep[400];
    struct cnnvp_error error = {""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        error.text[0] = '\0';
        assert_int_equal(holds(cases[i].text, &error), -1);
        if (strstr(error.text, cases[i].message) != error.text)
            fail_msg("%s: %s", cases[i].text, error.text);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(holds(deep, &error), -1);
    assert_non_null(strstr(error.text, "nested too deep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constraints), cmocka_unit_test(test_constraint_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
