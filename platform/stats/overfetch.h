/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to memory that take more bytes of bursts than they ask for, by what they are like: which accesses fetch in
 * vain. Bounded: beyond CNNVP_OVERFETCH_MAX of them they share one, whose tensor, tag and bytes of a row are 0. */
#ifndef CNNVP_PLATFORM_OVERFETCH_H
#define CNNVP_PLATFORM_OVERFETCH_H

#include "cnnvp_model.h"

#define CNNVP_OVERFETCH_MAX 4096u
#define CNNVP_OVERFETCH_ALIGNED 64u /* no more than this is looked for */

struct cnnvp_overfetch_row {
    uint64_t row_bytes;
    uint32_t tensor; /* number from 1, 0: none */
    uint32_t tag;
    uint32_t op;
    uint32_t alignment; /* of every row's address, a power of two */
    uint64_t rows, bytes, burst_bytes;
};

struct cnnvp_overfetch {
    struct cnnvp_overfetch_row *rows; /* in the order of their first request */
    uint32_t *slots;                  /* number of the row of a hash from 1, 0: none */
    uint32_t count;
};

#ifdef __cplusplus
extern "C" {
#endif

/* 0: no memory. */
CNNVP_MUST_USE int cnnvp_overfetch_add(struct cnnvp_overfetch *overfetch, const struct cnnvp_request *request,
                                       uint32_t tensor, uint64_t burst_bytes);
void cnnvp_overfetch_clear(struct cnnvp_overfetch *overfetch);
/* The rows by the bytes that they fetch in vain, most first. */
void cnnvp_overfetch_sort(struct cnnvp_overfetch_row *rows, uint32_t count);
void cnnvp_overfetch_fini(struct cnnvp_overfetch *overfetch);

#ifdef __cplusplus
}
#endif

#endif
