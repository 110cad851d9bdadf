/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program a subject: LLVMFuzzerTestOneInput takes any bytes and must neither crash nor leak, hang or allocate
 * without bound. libFuzzer calls it (CNNVP_FUZZ=ON), otherwise fuzz_replay.c with the files of the corpus.
 */
#ifndef CNNVP_FUZZ_H
#define CNNVP_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Name of a file in memory that holds the bytes; the same one each time. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A property that must hold does not: says so and aborts. */
void fuzz_require(int holds, const char *what);

#ifdef __cplusplus
}
#endif

#endif
