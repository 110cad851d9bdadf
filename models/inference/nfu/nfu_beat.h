/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer's port as the cycle-stepped NFU sees it: the addresses that it issues in a clock, one by one, and the clocks
 * in which the buffer's banks and port can serve them (struct cnnvp_buffer_shape of cnnvp_buffer.h).
 */
#ifndef CNNVP_NFU_BEAT_H
#define CNNVP_NFU_BEAT_H

#include "cnnvp_buffer.h"

#include <stdbool.h>

struct cnnvp_nfu_line;

/* All zero at first, but for the shape; with a shape of zeros nothing is late. */
struct cnnvp_nfu_beat {
    struct cnnvp_buffer_shape shape;
    uint64_t late; /* clocks, so far */
    uint64_t words;
    uint64_t busiest; /* lines of one SRAM */
    struct cnnvp_nfu_line *lines;
    uint64_t line_count, line_space;
    bool failed; /* memory ran out */
};

void cnnvp_nfu_beat_free(struct cnnvp_nfu_beat *beat);
/* A word of a map. */
void cnnvp_nfu_beat_map(struct cnnvp_nfu_beat *beat, uint64_t row, uint64_t column);
/* A word that is no row's. */
void cnnvp_nfu_beat_word(struct cnnvp_nfu_beat *beat, uint64_t address);
/* A word that comes from no bank. */
void cnnvp_nfu_beat_made(struct cnnvp_nfu_beat *beat);
/* The addresses since the last call had so many clocks. */
void cnnvp_nfu_beat_end(struct cnnvp_nfu_beat *beat, uint64_t clocks);

#endif
