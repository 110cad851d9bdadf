/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the assembler share. */
#ifndef CNNVP_TESTS_ASM_CASE_H
#define CNNVP_TESTS_ASM_CASE_H

#include "test.h"

#include "cnnvp_asm.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline uint64_t asm_random(uint64_t *state)
{
    const uint64_t bits = next_state(state);
    return bits >> 33 ^ bits << 31;
}

void asm_gives(const char *text, const uint64_t *expected, size_t expected_count);
void asm_fails(const char *text, const char *message);

#endif
