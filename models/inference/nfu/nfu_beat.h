/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer's port in the cycle-stepped NFU. It collects the addresses of a clock one by one, and counts the clocks in
 * which the buffer's banks and port can serve them (struct cnnvp_buffer_shape, cnnvp_buffer.h).
 */
#pragma once

#include "cnnvp_buffer.h"

#include <stdbool.h>

struct cnnvp_nfu_line;

/* Initialise with zeros, except for the shape. If the shape is all zeros, nothing is late. */
struct cnnvp_nfu_beat {
    struct cnnvp_buffer_shape shape;
    uint64_t late; /* clocks of delay so far */
    uint64_t words;
    uint64_t busiest; /* lines of the busiest SRAM */
    struct cnnvp_nfu_line *lines;
    uint64_t line_count, line_space;
    bool failed; /* out of host memory */
};

void cnnvp_nfu_beat_free(struct cnnvp_nfu_beat *beat);
/* Adds a word of a map. */
void cnnvp_nfu_beat_map(struct cnnvp_nfu_beat *beat, uint64_t row, uint64_t column);
/* Adds a word at an address outside maps. */
void cnnvp_nfu_beat_word(struct cnnvp_nfu_beat *beat, uint64_t address);
/* Adds a word that no bank supplies. */
void cnnvp_nfu_beat_made(struct cnnvp_nfu_beat *beat);
/* Ends the accesses since the last call, for which `clocks` clocks were planned; `late` grows by the clocks beyond
 * these. */
void cnnvp_nfu_beat_end(struct cnnvp_nfu_beat *beat, uint64_t clocks);
