/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded and checked command of the multi-function module: its tile and the places of its data. Independent of any
 * host. */
#pragma once

#include "cnnvp_isa.h"
#include "cnnvp_tile.h"

#include <stdbool.h>
#include <stddef.h>

/* Most values of a tile; this bounds memory. */
#define CNNVP_JOB_MAX_VALUES (UINT64_C(1) << 24)

/* Operands of a command, in the intermediate buffer or the max-min buffer. */
enum cnnvp_job_place {
    CNNVP_JOB_IN,
    CNNVP_JOB_OUT,
    CNNVP_JOB_X,
    CNNVP_JOB_MASK,
    CNNVP_JOB_POSITIONS,
    CNNVP_JOB_PARK,
    CNNVP_JOB_LABELS,
    CNNVP_JOB_WEIGHTS,
    CNNVP_JOB_VELOCITIES,
    CNNVP_JOB_SCALES,
    CNNVP_JOB_EXPONENTS,
    CNNVP_JOB_PLACES
};

/* An operand: `rows` rows of `row_values` values of `bytes` bytes; rows are `stride` values apart. */
struct cnnvp_job_operand {
    bool used;
    bool read;
    bool written;
    bool held; /* in the max-min buffer */
    uint32_t half;
    uint32_t address; /* bytes */
    uint32_t bytes;
    uint64_t rows;
    uint64_t row_values;
    uint64_t stride;
    uint64_t words; /* values that cross the port */
    void *data;     /* borrowed; NULL in timing-only */
};

struct cnnvp_job {
    const char *name;
    uint32_t opcode;
    bool fp32;    /* sums are binary32 */
    bool convert; /* also leaves the sums as binary32 at out_addr */
    bool back;
    bool shared; /* values belong to no image: all sets share the work */
    struct cnnvp_tile tile;
    struct cnnvp_job_operand operands[CNNVP_JOB_PLACES];
    uint32_t scale_image_stride, scale_channel_stride;
    /* tload, tsave, tclear: a range of one of the module's buffers */
    uint32_t buffer;
    uint32_t offset;
    uint32_t size;
    uint64_t held_words; /* words of that range that cross the port */
    uint64_t beats;      /* cycles over which the operands, or that range, cross the ports */
    char refusal[CNNVP_REFUSAL_SIZE];
};

/* Decodes a command. Returns CNNVP_OK, or CNNVP_E_INVAL and why it is refused; that text is valid as long as *job
 * (job_decode.c). */
CNNVP_MUST_USE int cnnvp_job_decode(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason);

/* Bytes that an operand spans. */
static inline uint64_t cnnvp_job_span(const struct cnnvp_job_operand *operand)
{
    return ((operand->rows - 1u) * operand->stride + operand->row_values) * operand->bytes;
}

/* ---- data (job_data.c) ---- */

/* Working memory, which grows if a command needs more. Initialise with zeros. */
struct cnnvp_job_scratch {
    void *memory;
    size_t size;
};
void cnnvp_job_scratch_free(struct cnnvp_job_scratch *scratch);

/* Lays out the tile's arrays in the scratch. Returns CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_job_reserve(struct cnnvp_job *job, struct cnnvp_job_scratch *scratch);

/* Lets the tile use borrowed operands in place where that is possible. */
void cnnvp_job_place(struct cnnvp_job *job);

/* Fills the tile from the operands. Returns how many sums saturated to the largest binary32. */
uint64_t cnnvp_job_gather(const struct cnnvp_job *job);

/* Copies the blocks' results from the scratch to the operands. */
void cnnvp_job_scatter(const struct cnnvp_job *job);

/* Converts mantissas to binary32: all of tdecode. */
void cnnvp_job_expand(const struct cnnvp_job *job);
