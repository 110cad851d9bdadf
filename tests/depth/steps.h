/* SPDX-License-Identifier: Apache-2.0 */
/* The depth-first schedule as a recursion over features (Part B 4-6 to 4-8): what comes after what, and how much is on
 * chip. Independent of the guest software: blocks are sorted by their Morton numbers. */
#ifndef TEST_DEPTH_STEPS_H
#define TEST_DEPTH_STEPS_H

#include "chain.h"

struct step {
    uint32_t layer;          /* of the chain, from 0; it reads feature `layer` */
    uint32_t x, y;           /* block of that feature */
    uint32_t next_x, next_y; /* block of the next feature that the result is part of */
    uint32_t row, column;    /* first position of the result in that block */
    uint32_t gathered;       /* positions of it that are there afterwards */
    uint32_t target;
};

struct steps {
    struct step *all; /* to be given back with free() */
    uint32_t count;
    uint64_t peak_words; /* most feature values on chip: input block, result, and what deeper features have gathered */
};

struct steps steps_of(const struct chain *chain, uint32_t block);

#endif
