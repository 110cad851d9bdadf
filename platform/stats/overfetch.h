/* SPDX-License-Identifier: Apache-2.0 */
/* Memory requests whose bursts move more bytes than they need, grouped by kind, to show which accesses waste bandwidth.
 * The number of groups is limited: beyond CNNVP_OVERFETCH_MAX all share one, with tensor, tag and row_bytes 0. */
#pragma once

#include "cnnvp_model.h"

#define CNNVP_OVERFETCH_MAX 4096u
#define CNNVP_OVERFETCH_ALIGNED 64u /* largest alignment that is distinguished */

struct cnnvp_overfetch_row {
    uint64_t row_bytes;
    uint32_t tensor; /* number from 1; 0: none */
    uint32_t tag;
    uint32_t op;
    uint32_t alignment; /* largest power of two that divides the address of every row */
    uint64_t rows, bytes, burst_bytes;
};

struct cnnvp_overfetch {
    struct cnnvp_overfetch_row *rows; /* in order of first request */
    void *tree;                       /* of tsearch() */
    uint32_t count;
};

/* Returns 0 if out of memory. */
CNNVP_MUST_USE int cnnvp_overfetch_add(struct cnnvp_overfetch *overfetch, const struct cnnvp_request *request,
                                       uint32_t tensor, uint64_t burst_bytes);
/* Sorts the rows by wasted bytes, most first. */
void cnnvp_overfetch_sort(struct cnnvp_overfetch_row *rows, uint32_t count);
/* Frees the rows; others may follow. */
void cnnvp_overfetch_fini(struct cnnvp_overfetch *overfetch);
