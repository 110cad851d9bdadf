/* SPDX-License-Identifier: Apache-2.0 */
/* Values of parameters: what each type takes and refuses, and why. */
#include <string.h>

#include "config_case.h"

struct value_case {
    const char *text;
    int quoted;
    uint64_t value;
    const char *reason; /* part of the reason; NULL: taken, with this value */
};

static void check(const struct cnnvp_param *param, const struct value_case *cases, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char reason[400] = "";
        uint64_t value = 0;
        int status = cnnvp_value_parse(param, cases[i].text, cases[i].quoted, &value, reason, sizeof reason);
        if (cases[i].reason == NULL && (status != 0 || value != cases[i].value))
            fail_msg("%s: %d, %llu %s", cases[i].text, status, (unsigned long long)value, reason);
        if (cases[i].reason != NULL && (status == 0 || strstr(reason, cases[i].reason) == NULL))
            fail_msg("%s: %d, \"%s\" without \"%s\"", cases[i].text, status, reason, cases[i].reason);
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    const struct cnnvp_param param = {.name = "rows", .type = CNNVP_PARAM_UINT, .min = 1, .max = 64};
    const struct value_case cases[] = {
        {"1", 0, 1, NULL},
        {"64", 0, 64, NULL},
        {"0x10", 0, 16, NULL},
        {"0", 0, 0, "out of range: 1 to 64"},
        {"65", 0, 0, "out of range: 1 to 64"},
        {"-4", 0, 0, "out of range: 1 to 64"},
        {"99999999999999999999999", 0, 0, "out of range"},
        {"18446744073709551617", 0, 0, "out of range"}, /* 2^64 + 1 */
        {"8", 1, 0, "in quotes"},
        {"8.0", 0, 0, "not a whole number"},
        {"1e1", 0, 0, "not a whole number"},
        {"8KiB", 0, 0, "suffix"},
        {"8 ", 0, 0, "suffix"},
        {"010", 0, 0, "octal"},
        {"0o10", 0, 0, "suffix"},
        {"0x", 0, 0, "suffix"},
        {"", 0, 0, "a whole number is expected"},
        {"eight", 0, 0, "a whole number is expected"},
        {".inf", 0, 0, "a whole number is expected"},
        {"+8", 0, 0, "a whole number is expected"},
        {"1_0", 0, 0, "suffix"},
        {"true", 0, 0, "a whole number is expected"},
    };
    check(&param, cases, sizeof cases / sizeof *cases);
}

static void sizes(void **state)
{
    (void)state;
    const struct cnnvp_param param = {.name = "size", .type = CNNVP_PARAM_SIZE, .min = 1024, .max = UINT64_C(1) << 33};
    const struct value_case cases[] = {
        {"65536", 0, 65536, NULL},
        {"64KiB", 0, 65536, NULL},
        {"64 KiB", 0, 65536, NULL},
        {"3MiB", 0, 3 << 20, NULL},
        {"8GiB", 0, UINT64_C(8) << 30, NULL},
        {"0x400", 0, 1024, NULL},
        {"0", 0, 0, "out of range: 1KiB to 8GiB"},
        {"-4", 0, 0, "out of range"},
        {"-4KiB", 0, 0, "out of range"},
        {"17179869185GiB", 0, 0, "out of range"}, /* 2^34 + 1 GiB: one GiB modulo 2^64 */
        {"64KB", 0, 0, "\"64KB\" has an unknown suffix; did you mean \"64KiB\"? KiB, MiB and GiB are possible"},
        {"64kib", 0, 0, "did you mean \"64KiB\"? KiB, MiB and GiB are possible"},
        {"64k", 0, 0, "did you mean \"64KiB\"?"},
        {"2 mb", 0, 0, "did you mean \"2MiB\"?"},
        {"64kx", 0, 0, "has an unknown suffix; KiB, MiB and GiB are possible"},
        {"64  KiB", 0, 0, "KiB, MiB and GiB"},
        {"1.5MiB", 0, 0, "not a whole number"},
        {"KiB", 0, 0, "a size in bytes"},
    };
    check(&param, cases, sizeof cases / sizeof *cases);
}

static void choices(void **state)
{
    (void)state;
    const struct cnnvp_param detail = {.name = "detail", .type = CNNVP_PARAM_ENUM, .choices = "fast|cycle"};
    const struct value_case detail_cases[] = {
        {"fast", 0, 0, NULL},
        {"cycle", 1, 1, NULL},
        {"cycl", 0, 0, "\"cycl\" is not one of fast|cycle; did you mean \"cycle\"?"},
        {"FAST", 0, 0, "\"FAST\" is not one of fast|cycle; did you mean \"fast\"?"},
        {"fast|cycle", 0, 0, "is not one of"},
        {"", 0, 0, "is not one of"},
        {"1", 0, 0, "is not one of"},
        {"on", 0, 0, "is not one of"},
    };
    check(&detail, detail_cases, sizeof detail_cases / sizeof *detail_cases);
    const struct cnnvp_param overlap = {.name = "overlap", .type = CNNVP_PARAM_ENUM, .choices = "off|on"};
    const struct value_case switch_cases[] = {
        {"on", 0, 1, NULL},  {"off", 0, 0, NULL},   {"true", 0, 1, NULL},         {"No", 0, 0, NULL},
        {"YES", 0, 1, NULL}, {"False", 0, 0, NULL}, {"1", 0, 0, "one of off|on"}, {"y", 0, 0, "one of off|on"},
    };
    check(&overlap, switch_cases, sizeof switch_cases / sizeof *switch_cases);
    /* Choices that only contain the word `on` are no switch. */
    const struct cnnvp_param mode = {.name = "mode", .type = CNNVP_PARAM_ENUM, .choices = "off|on|auto"};
    const struct value_case mode_cases[] = {{"on", 0, 1, NULL}, {"true", 0, 0, "one of off|on|auto"}};
    check(&mode, mode_cases, sizeof mode_cases / sizeof *mode_cases);
}

static void texts_and_addresses(void **state)
{
    (void)state;
    const struct cnnvp_param label = {.name = "label", .type = CNNVP_PARAM_TEXT};
    static char longest[CNNVP_VALUE_TEXT_BYTES + 2];
    memset(longest, 'x', CNNVP_VALUE_TEXT_BYTES + 1);
    const struct value_case too_long = {longest, 0, 0, "longer than 4095"};
    check(&label, &too_long, 1);
    longest[CNNVP_VALUE_TEXT_BYTES] = '\0';
    const struct value_case just_fits = {longest, 0, 0, NULL};
    check(&label, &just_fits, 1);
    const struct cnnvp_param address = {.name = "table", .type = CNNVP_PARAM_ADDR, .min = 0x1000, .max = 0xffffffff};
    const struct value_case cases[] = {
        {"0x80000000", 0, 0x80000000, NULL},
        {"0xFFFFffff", 0, 0xffffffff, NULL},
        {"4096", 0, 4096, NULL},
        {"0x100000000", 0, 0, "out of range: 0x1000 to 0xffffffff"},
        {"0x1g", 0, 0, "suffix"},
    };
    check(&address, cases, sizeof cases / sizeof *cases);
}

/* The text of a value gives the value again, and the shortest form of a size. */
static void texts_of_values(void **state)
{
    (void)state;
    struct cnnvp_arena arena = {0};
    const struct cnnvp_param size = {.name = "size", .type = CNNVP_PARAM_SIZE, .max = UINT64_MAX};
    const struct cnnvp_param address = {.name = "at", .type = CNNVP_PARAM_ADDR, .max = UINT64_MAX};
    const struct cnnvp_param detail = {.name = "detail", .type = CNNVP_PARAM_ENUM, .choices = "fast|cycle"};
    assert_string_equal(cnnvp_value_text(&arena, &size, 0, ""), "0");
    assert_string_equal(cnnvp_value_text(&arena, &size, 1025, ""), "1025");
    assert_string_equal(cnnvp_value_text(&arena, &size, 1536, ""), "1536");
    assert_string_equal(cnnvp_value_text(&arena, &size, 3 << 20, ""), "3MiB");
    assert_string_equal(cnnvp_value_text(&arena, &size, UINT64_C(2) << 30, ""), "2GiB");
    assert_string_equal(cnnvp_value_text(&arena, &address, 0x80000000, ""), "0x80000000");
    assert_string_equal(cnnvp_value_text(&arena, &detail, 1, ""), "cycle");
    cnnvp_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),       cmocka_unit_test(sizes),           cmocka_unit_test(choices),
        cmocka_unit_test(texts_and_addresses), cmocka_unit_test(texts_of_values),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
