/* SPDX-License-Identifier: Apache-2.0 */
#include "asm_case.h"

void asm_gives(const char *text, const uint64_t *expected, size_t expected_count)
{
    struct cnnvp_error error = {""};
    uint64_t *words = NULL;
    size_t count = 0;
    const cnnvp_result result = cnnvp_assemble("t.s", text, NULL, &words, &count, &error);
    if (result != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; ++i)
        assert_int_equal(words[i], expected[i]);
    free(words);
}

void asm_fails(const char *text, const char *message)
{
    struct cnnvp_error error = {""};
    uint64_t *words = NULL;
    size_t count = 0;
    assert_int_equal(cnnvp_assemble("t.s", text, NULL, &words, &count, &error), CNNVP_BAD_INPUT);
    if (strncmp(error.text, message, strlen(message)) != 0)
        fail_msg("'%s' instead of '%s'", error.text, message);
    assert_null(words);
}
