/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the configuration share. */
#ifndef TEST_CONFIG_H
#define TEST_CONFIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_internal.h"

/* A complete platform of made-up units, as the start of other files. */
extern const char test_platform[];

/* Writes a file in the test's own folder; the path stays valid until the next call with the same name. */
const char *test_write(const char *name, const void *data, size_t size);
const char *test_write_text(const char *name, const char *text);
/* Reads and resolves; on failure the message is in `error`. */
cnnvp_result test_load(const char *file, cnnvp_config **config, struct cnnvp_error *error);

extern const struct CMUnitTest test_error_cases[];
extern const size_t test_error_case_count;
extern const struct CMUnitTest test_value_cases[];
extern const size_t test_value_case_count;

#endif
