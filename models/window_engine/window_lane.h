/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One input lane of the cycle-stepped window engine (S000 A1 L14, Part B 0-9): three row banks, row r in bank r mod
 * 3, whose outputs are rotated so that the rows of a window arrive in order, and a shift register of three columns
 * after each row.
 */
#ifndef CNNVP_WINDOW_LANE_H
#define CNNVP_WINDOW_LANE_H

#include "window_tile.h"

struct cnnvp_window_value {
    int16_t value;
    bool valid; /* lies in the rectangle that takes part in pooling */
};

struct cnnvp_window_lane {
    struct cnnvp_window_value at[CNNVP_WINDOW_SIDE][CNNVP_WINDOW_SIDE]; /* [row][column] of the window */
    const int16_t *channel;                                             /* what the banks hold; NULL in timing-only */
};

/* What a lane's banks delivered. */
struct cnnvp_window_reads {
    uint64_t words;
    uint64_t reused; /* words that came from the shift registers instead */
    bool fault;      /* a row from a bank that does not hold it, or more than three words of it, in one cycle */
};

/* Brings the window of position (x, y) and the piece that begins at tap (px, py) into the registers: one cycle. */
void cnnvp_window_lane_step(struct cnnvp_window_lane *lane, const struct cnnvp_fx16_tile *tile, uint32_t x, uint32_t y,
                            uint32_t px, uint32_t py, struct cnnvp_window_reads *reads);

/* Adds up `count` values pair by pair, each adder acc_bits wide. The values are used up. */
CNNVP_MUST_USE int64_t cnnvp_window_tree_add(int64_t *values, uint32_t count, uint32_t acc_bits);
/* The largest of them. */
CNNVP_MUST_USE int64_t cnnvp_window_tree_max(int64_t *values, uint32_t count);

#endif
