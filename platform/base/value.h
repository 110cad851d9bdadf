/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter values as users write them. */
#pragma once

#include "base.h"
#include "cnnvp_model.h"

/* Largest length of a value. */
#define CNNVP_VALUE_TEXT_BYTES 4095

/* Checks and converts the text of a parameter. On failure returns -1, and `reason` says what would be right. */
CNNVP_MUST_USE int cnnvp_value_parse(const struct cnnvp_param *param, const char *text, int quoted, uint64_t *value,
                                     char *reason, size_t reason_size);
/* Converts a whole number from min to max, decimal or 0x. */
CNNVP_MUST_USE int cnnvp_value_number(const char *text, int quoted, uint64_t min, uint64_t max, int hexadecimal,
                                      uint64_t *value, char *reason, size_t reason_size);
/* The text of a value in a platform file. */
const char *cnnvp_value_text(struct cnnvp_arena *arena, const struct cnnvp_param *param, uint64_t value,
                             const char *written);
/* Start of choice `index` in "a|b|c", with its length in `length`. NULL after the last. */
const char *cnnvp_value_choice(const char *choices, uint64_t index, size_t *length);
