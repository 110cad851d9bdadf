/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of S004 as a state machine: for each feature a Morton counter and a counter of gathered positions, and
 * the next step. Independent of any host.
 *
 * The table (32-bit words): word 0 is the number of features. From word 1 on, four words for each feature:
 *   bits_x | bits_y << 8   2^bits_x blocks side by side, 2^bits_y one above the other
 *   target                 positions of a block
 *   part                   positions that one block of the previous feature contributes; 0 for the first
 *   list                   word at which the sections of the layer that reads the feature begin; 0 for the last
 * A list is the number of its sections, then four words for each: control, first instruction, first patch, number of
 * patches. control holds the condition in 7:0, in 15:8 which block the section is about, in 31:16 the number of
 * instructions. An instruction has two words, low and high. A patch has five words: the instruction in 15:0 and its
 * kinds in 31:16; then the increments of the low half by x, by y, by each gathered position and by each image.
 * Assignments whose values depend on data are marked with KEEP, because the number of pushed words must not depend on
 * data (invariant 2).
 */
#pragma once

#include <stdint.h>

enum scheduler_value {
#define CNNVP_SCHEDULER_VALUE(name, value, help) SCHEDULER_##name = (value),
#include "control/scheduler/scheduler.def"
};

struct scheduler_walk {
    const uint32_t *table;
    uint32_t size;   /* words */
    uint32_t levels; /* features */
    uint32_t image;
    uint32_t x[SCHEDULER_LEVELS];
    uint32_t y[SCHEDULER_LEVELS];
    uint32_t gathered[SCHEDULER_LEVELS];
    uint32_t blocks; /* blocks of feature 0 that no step has consumed yet */
    uint32_t left;   /* blocks of feature 0 that are still to be loaded */
    uint32_t layer;
    uint32_t section;
    uint32_t input_x, input_y; /* block that the layer reads */
    uint32_t steps;
    int done;
};

/* Instructions to push, and the values that their patches depend on. */
struct scheduler_section {
    uint32_t words; /* word of the table at which they begin */
    uint32_t count; /* instructions */
    uint32_t patches;
    uint32_t patch_count;
    uint32_t x, y, gathered, half;
};

/* Starts at the first block; the first block of feature 0 must have been loaded. Returns 0 if the table is
 * malformed. */
int scheduler_begin(struct scheduler_walk *walk, const uint32_t *table, uint32_t size, uint32_t image);
/* Gets the next section, an empty one after each step. Returns 1, or 0 at the end, or -1 if the table is malformed. */
int scheduler_next(struct scheduler_walk *walk, struct scheduler_section *section);
/* Gets instruction i of a section with its patches applied. */
void scheduler_word(const struct scheduler_walk *walk, const struct scheduler_section *section, uint32_t i,
                    uint32_t *high, uint32_t *low);
