/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_TESTS_READ_FILE_H
#define CNNVP_TESTS_READ_FILE_H

#include <stddef.h>

/* All of a file, with a 0 after it; NULL and errno where it cannot be read. Free with free(). */
char *read_file(const char *name, size_t *size);

#endif
