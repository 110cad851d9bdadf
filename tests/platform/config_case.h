/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the configuration share. */
#ifndef CNNVP_TESTS_CONFIG_CASE_H
#define CNNVP_TESTS_CONFIG_CASE_H

#include "test.h"

#include "config_internal.h"

/* A complete platform of made-up units, as the start of other files. */
extern const char test_platform[];

/* Writes a file in the test's own folder; the path stays valid until the next call with the same name. */
const char *test_write(const char *name, const void *data, size_t size);
const char *test_write_text(const char *name, const char *text);
/* Reads and resolves; on failure the message is in `error`. */
cnnvp_result test_load(const char *file, cnnvp_config **config, struct cnnvp_error *error);

/* The same for text that must be right. */
cnnvp_config *test_config(const char *name, const char *text);
uint64_t test_get(const cnnvp_config *config, const char *name);
const struct cnnvp_instance *test_instance(const cnnvp_config *config, const char *name);

struct test_refusal {
    const char *units;    /* a file with base: base.yaml and these units, or, if it begins with "!", the whole file */
    const char *position; /* ":LINE:COLUMN: " or ""; NULL: the message stands at another place, that of the base */
    const char *message;
};
void test_refused_file(const char *file, const char *position, const char *message);
void test_refused(const struct test_refusal *cases, size_t count);
#define TEST_REFUSED(cases) test_refused(cases, sizeof(cases) / sizeof *(cases))

/* Setup and teardown of a group: the folder that the files are written to. */
extern char test_folder[];
int test_make_folder(void **state);
int test_remove_folder(void **state);

#endif
