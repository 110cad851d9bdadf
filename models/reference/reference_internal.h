/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the reference's files share: access to fields of the instruction set by name, and words in
 * buffers. */
#pragma once

#include <string.h>

#include "reference.h"
#include "cnnvp_isa.h"
#include "cnnvp_tile.h"

__extension__ typedef __int128 reference_wide;

/* A status field by its name; `missing` if the instruction has no such field. */
uint32_t reference_status(const struct cnnvp_command *command, const char *name, uint32_t missing);

/* Write-out parameters: shift, rounding, limits, and left shift of an addend. */
struct reference_format {
    int shift, addend_shift;
    uint32_t rounding;
    uint64_t seed;
    int low, high;
    uint32_t a_bytes, b_bytes, out_bytes; /* bytes of a word: inputs, weights, results */
    int zero;
};

static inline struct reference_format reference_format_of(const struct cnnvp_command *command, uint32_t format,
                                                          uint32_t seed, uint32_t limits)
{
    const int clip = reference_status(command, "clip", 0) != 0;
    return (struct reference_format){
        (int8_t)(format & 0xffu),
        (int8_t)(format >> 8 & 0xffu),
        format >> 16 & 3u,
        seed,
        clip ? (int16_t)(limits & 0xffffu) : -32768,
        clip ? (int16_t)(limits >> 16) : 32767,
        (format >> 29 & 1u) != 0 ? 1 : 2,
        (format >> 30 & 1u) != 0 ? 1 : 2,
        (format >> 31 & 1u) != 0 ? 1 : 2,
        (int8_t)(format >> 21 & 0xffu)};
}

/* Applies zero point, saturation to 8 bits and limits to a rounded number. */
static inline int reference_limited(const struct reference_format *format, int word)
{
    if (format->out_bytes == 1) {
        word += format->zero;
        word = word > 127 ? 127 : word < -128 ? -128 : word;
    }
    return word > format->high ? format->high : word < format->low ? format->low : word;
}

/* The word of a sum; `index` is the number of the sum in the command. */
static inline int64_t reference_word(const struct reference_format *format, int64_t sum, int shift, uint64_t index)
{
    return reference_limited(
        format, cnnvp_reference_round(sum, shift, format->rounding, cnnvp_reference_random(format->seed, index)));
}

/* How both operands of a sum, difference or product are scaled: registers of vadd. */
struct reference_operands {
    uint32_t a, b, divisor, zeros;
};

/* The result of vadd, vsub or vmac for such operands. */
int64_t reference_combined(uint32_t opcode, struct reference_operands by, int64_t a, int64_t b);

/* The same for a sum that is scaled by the record at `record`. */
static inline int64_t reference_scaled(const struct reference_format *format, int64_t sum, const uint8_t *record,
                                       uint64_t index)
{
    int16_t words[4];
    memcpy(words, record, sizeof words);
    return reference_limited(format, cnnvp_reference_scale(sum, words, format->shift, format->rounding,
                                                           cnnvp_reference_random(format->seed, index)));
}

/* A register of the descriptor by its name; `missing` if the descriptor has no such register. */
uint32_t reference_register(const struct cnnvp_command *command, const char *name, uint32_t missing);

/* The command's update of partial sums. A maximum of pool or vpool has none, because it updates words (pool in
 * opcodes.def). */
uint32_t reference_update(const struct cnnvp_command *command);

/* `bytes` bytes at an offset in the half that the command names of a buffer; NULL if they lie outside. */
uint8_t *reference_at(struct cnnvp_reference *reference, const struct cnnvp_command *command, uint32_t buffer,
                      reference_wide offset, reference_wide bytes);
uint8_t *reference_half(const struct cnnvp_reference_buffer *buffer, uint32_t half, reference_wide offset,
                        reference_wide bytes);
/* sum * 2^scale in binary32, rounded once, limited to the largest binary32. */
float reference_float(int64_t sum, int scale);
uint32_t reference_sum_bytes(const struct cnnvp_reference *reference, const struct cnnvp_command *command);
/* Reads a word of 1, 2, 4, 6 or 8 bytes. */
static inline int64_t reference_read(const uint8_t *at, uint32_t bytes)
{
    int64_t slot = 0;
    int16_t word;
    if (bytes > 2) {
        memcpy(&slot, at, bytes);
        return cnnvp_reference_wrap(slot, 8 * bytes);
    }
    if (bytes == 1)
        return *at < 128 ? *at : *at - 256;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline void reference_write(uint8_t *at, int64_t word, uint32_t bytes)
{
    const int16_t narrow = (int16_t)word;
    if (bytes > 2)
        memcpy(at, &word, bytes);
    else if (bytes == 1)
        *at = (uint8_t)word;
    else
        memcpy(at, &narrow, sizeof narrow);
}

/* Instructions of a PE array, of the vector unit, and of the training engine's PE module and multi-function module. */
CNNVP_MUST_USE const char *reference_array(struct cnnvp_reference *reference, const struct cnnvp_command *command);
CNNVP_MUST_USE const char *reference_lanes(struct cnnvp_reference *reference, const struct cnnvp_command *command);
CNNVP_MUST_USE const char *reference_training(struct cnnvp_reference *reference, const struct cnnvp_command *command);
CNNVP_MUST_USE const char *reference_module(struct cnnvp_reference *reference, const struct cnnvp_command *command);
/* These implement cnnvp_reference_locate. */
int reference_training_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                               uint32_t index, struct cnnvp_reference_results *results);
int reference_module_results(const struct cnnvp_reference *reference, const struct cnnvp_command *command,
                             uint32_t index, struct cnnvp_reference_results *results);
