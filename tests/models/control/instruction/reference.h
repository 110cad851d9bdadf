/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction element once more, one clock cycle after the other and as plainly as possible, written from the
 * description in opcodes.def, pipeline.h and models/documents.md: what the model's recurrences are compared with.
 */
#ifndef CNNVP_TEST_REFERENCE_H
#define CNNVP_TEST_REFERENCE_H

#include <stdint.h>

#define REFERENCE_WORDS 4096u
#define REFERENCE_TAGS 16u

enum { CAUSE_VECTOR, CAUSE_INPUT, CAUSE_WEIGHT, CAUSE_OUTPUT, CAUSE_INSTRUCTION, CAUSE_HOST, CAUSES };

struct reference_program {
    uint64_t words[REFERENCE_WORDS];
    uint64_t pushed[REFERENCE_WORDS]; /* cycle; not falling */
    uint32_t count;
    uint32_t queue_depth;
    uint32_t sequence_depth;
    int strict;
};

struct reference_result {
    uint64_t issue[REFERENCE_WORDS]; /* cycles in which tile instructions issued, in order */
    uint32_t tiles;
    uint64_t registers_sum; /* of r0 .. r255 at the end, weighted by number */
    uint64_t stall[REFERENCE_TAGS][CAUSES];
    uint64_t array_cycles;
    uint64_t last; /* last completion */
    uint64_t instructions;
    /* state after each cycle up to `cycles` */
    uint32_t *room; /* FREE */
    uint32_t *pc;
    uint32_t *completed;
    uint64_t cycles;
};

/* `result->room`, `pc`, `completed` may be NULL. */
void reference_run(const struct reference_program *program, uint64_t cycles, struct reference_result *result);

#endif
