/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One PE of the cycle-stepped NFU (S002, PE structure): three data inputs, one of which a step selects; a weight input;
 * a multiplier (K * A or A * A); an adder (P or K plus the product or A); a comparator max{P, A}; the register P; and
 * the FIFOs H and V, whose heads the data output offers to the neighbours.
 */
#pragma once

#include "nfu_tile.h"

/* A 16-bit input in the array. `present` is 0 for positions that do not take part. */
struct cnnvp_nfu_value {
    int16_t value;
    bool present;
};

/* A FIFO in a ring of `depth` places. */
struct cnnvp_nfu_fifo {
    struct cnnvp_nfu_value *places;
    uint32_t depth;
    uint32_t head;
    uint32_t count;
};

struct cnnvp_nfu_pe {
    int64_t p;                       /* partial sum, acc_bits bits, sign-extended */
    struct cnnvp_nfu_value selected; /* input A of this cycle */
    struct cnnvp_nfu_fifo h;
    struct cnnvp_nfu_fifo v;
};

/* Empties the FIFO and gives it `depth` places. */
void cnnvp_nfu_fifo_reset(struct cnnvp_nfu_fifo *fifo, struct cnnvp_nfu_value *places, uint32_t depth);
void cnnvp_nfu_fifo_flush(struct cnnvp_nfu_fifo *fifo);
/* Return false if the FIFO is full or empty, which is a mistake of the control. */
CNNVP_MUST_USE bool cnnvp_nfu_fifo_push(struct cnnvp_nfu_fifo *fifo, struct cnnvp_nfu_value value);
CNNVP_MUST_USE bool cnnvp_nfu_fifo_pop(struct cnnvp_nfu_fifo *fifo);
/* The oldest value; an absent 0 if the FIFO is empty. */
struct cnnvp_nfu_value cnnvp_nfu_fifo_head(const struct cnnvp_nfu_fifo *fifo);

/* Sets P for a new window: 0, or for comparisons the smallest value. */
void cnnvp_nfu_pe_clear(struct cnnvp_nfu_pe *pe, const struct cnnvp_fx16_operation *operation);
/* Executes one operation on the selected A. An absent A leaves P as it is. */
void cnnvp_nfu_pe_execute(struct cnnvp_nfu_pe *pe, const struct cnnvp_fx16_operation *operation, int16_t k,
                          uint32_t acc_bits);
/* P = P + addend: bias steps (P + A, A aligned by the bias shift) and reductions. */
void cnnvp_nfu_pe_add(struct cnnvp_nfu_pe *pe, int64_t addend, uint32_t acc_bits);
