/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the code that decides results: hashes of the files from which code was loaded. For an ELF file, only the
 * loaded bytes and the length count. A name is computed once per process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config.h"

enum { CNNVP_BUILD_BYTES = 17 }; /* 64 bits in hexadecimal and a final 0 */

/* Text of `build` in the statistics: cnnvp_build(), the program on the core (0: none), and each library that units come
 * from. NULL: out of memory. Free with free(). */
char *cnnvp_build_text(const struct cnnvp_resolved *platform, uint64_t program);
/* Hash of bytes; never 0. */
uint64_t cnnvp_build_hash(const void *bytes, size_t size);
