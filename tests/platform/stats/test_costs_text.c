/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of energy and area as text. */
#include "test.h"

#include "cnnvp.h"
#include "energy.h"

/* The words of the line that begins with `name`, as many as asked for, after it. */
static void words_of(const char *text, const char *name, char words[][16], size_t count)
{
    char begin[64];
    const char *at;

    (void)snprintf(begin, sizeof begin, "\n  %s ", name);
    at = strstr(text, begin);
    if (at == NULL)
        fail_msg("no line of %s", name);
    at += strlen(begin);
    for (size_t i = 0; i < count; ++i) {
        int length = 0;
        assert_int_equal(sscanf(at, "%15s%n", words[i], &length), 1);
        at += length;
    }
}

/* In the order of the tables, which is that of their names in the head. */
static void each_entry_has_a_value_of_each_table(void **state)
{
    struct cnnvp_energy_table table;
    char words[8][16], value[16], *text = NULL;
    size_t count = 0;

    (void)state;
    assert_int_equal(cnnvp_energy_text(&text), CNNVP_DONE);
    while (cnnvp_energy_builtin(count, &table))
        ++count;
    assert_in_range(count, 2, 8);
    for (size_t i = 0; i < count; ++i) {
        assert_true(cnnvp_energy_builtin(i, &table));
        words_of(text, "entry", words, count);
        assert_string_equal(words[i], table.name);
        for (int e = 0; e < CNNVP_ENERGY_ENTRIES; ++e) {
            words_of(text, cnnvp_energy_name((enum cnnvp_energy_entry)e), words, count);
            (void)snprintf(value, sizeof value, "%.4g", table.picojoules[e]);
            assert_string_equal(words[i], value);
        }
    }
    free(text);
}

static void both_texts_have_technologies_and_sources(void **state)
{
    const struct cnnvp_technology *technology;
    char words[1][16], value[16], *texts[2] = {NULL, NULL};

    (void)state;
    assert_int_equal(cnnvp_energy_text(&texts[0]), CNNVP_DONE);
    assert_int_equal(cnnvp_area_text(&texts[1]), CNNVP_DONE);
    for (size_t t = 0; t < 2; ++t) {
        for (size_t i = 0; (technology = cnnvp_technology_at(i)) != NULL; ++i) {
            words_of(texts[t], technology->name, words, 1);
            (void)snprintf(value, sizeof value, "%.4g", technology->energy);
            assert_string_equal(words[0], value);
        }
        assert_non_null(strstr(texts[t], "\nsources\n"));
    }
    words_of(texts[1], "multiplier", words, 1); /* a part in words */
    assert_null(strstr(texts[0], "\n  multiplier "));
    free(texts[0]);
    free(texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_has_a_value_of_each_table),
        cmocka_unit_test(both_texts_have_technologies_and_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
