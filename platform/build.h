/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what decides results: hashes of files that code was loaded from. Of an ELF file the bytes count that are
 * loaded, and its length; nothing else is read. A name is made once in a process.
 */
#ifndef CNNVP_PLATFORM_BUILD_H
#define CNNVP_PLATFORM_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CNNVP_BUILD_BYTES = 17 }; /* 64 bits in hexadecimal and a zero */

/* `build` of the statistics: cnnvp_build(), the program on the core (0: none), and each library that units come from.
 * NULL: out of memory. Free with free(). */
char *cnnvp_build_text(const struct cnnvp_resolved *platform, uint64_t program);
/* Of bytes; never 0. */
uint64_t cnnvp_build_hash(const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
