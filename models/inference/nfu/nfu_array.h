/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The array of the cycle-stepped NFU (S002, NFU structure): PEs in rows and columns. The row input reaches every PE,
 * the column input the right-most column, and data outputs lead to the left and upper neighbours.
 */
#pragma once

#include "nfu_pe.h"

/* Sources of the selected inputs in a cycle. */
enum cnnvp_nfu_move {
    CNNVP_NFU_LOAD = 0,  /* every PE from the row input */
    CNNVP_NFU_RIGHT = 1, /* from the right neighbour's FIFO-H; the right-most column from the column input */
    CNNVP_NFU_DOWN = 2   /* from the lower neighbour's FIFO-V; the bottom row from the row input */
};

/* One clock's command to all active PEs. */
struct cnnvp_nfu_step {
    enum cnnvp_nfu_move move;
    struct cnnvp_fx16_operation operation;
    bool execute; /* false: P stays as it is (taps of a 3x3 piece outside the kernel) */
    bool push_h;
    bool push_v;
    bool column_push_v;     /* the right-most column's FIFO-V */
    bool column_from_below; /* extended FIFO-V: on a right move the right-most column reads the lower neighbour, and
                               only the bottom-right PE reads the column input */
    int16_t k;              /* the weight of all PEs */
};

/* Reads a word of the input buffer for the active PE in `col`, `row`. Called once for each word that crosses a port. */
typedef struct cnnvp_nfu_value (*cnnvp_nfu_read_fn)(const void *context, uint32_t col, uint32_t row);

/* Event counts of the array. */
struct cnnvp_nfu_counts {
    uint64_t cycles;
    uint64_t input_words;
    uint64_t macs;
    uint64_t fifo_h_pushes;
    uint64_t fifo_v_pushes;
};

/* Initialise with zeros. */
struct cnnvp_nfu_array {
    struct cnnvp_nfu_pe *pes; /* row after row */
    struct cnnvp_nfu_value *places;
    uint64_t pe_space;
    uint64_t place_space;
    uint32_t rows;
    uint32_t cols;
    uint32_t first_row; /* first active row; active PEs lie against the right and bottom edges (Part B 2-9) */
    uint32_t first_col;
    uint32_t acc_bits;
    bool fault; /* a FIFO was pushed when full or popped when empty */
    struct cnnvp_nfu_counts counts;
};

/* Sets up PEs with FIFOs of the given depths; column_depth_v is the depth of FIFO-V in the right-most column. Returns
 * CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_nfu_array_configure(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_shape *shape,
                                             uint64_t depth_h, uint64_t depth_v, uint64_t column_depth_v);
void cnnvp_nfu_array_free(struct cnnvp_nfu_array *array);

/* Begins a PE tile of w x h active PEs: flushes all FIFOs and clears P. */
void cnnvp_nfu_array_begin(struct cnnvp_nfu_array *array, uint32_t w, uint32_t h,
                           const struct cnnvp_fx16_operation *operation);
/* The active PE in `col`, `row`. */
struct cnnvp_nfu_pe *cnnvp_nfu_array_pe(const struct cnnvp_nfu_array *array, uint32_t col, uint32_t row);
void cnnvp_nfu_array_flush_h(struct cnnvp_nfu_array *array);
void cnnvp_nfu_array_flush_v(struct cnnvp_nfu_array *array);
/* Runs one clock. */
void cnnvp_nfu_array_step(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_step *step, cnnvp_nfu_read_fn read,
                          const void *context);
