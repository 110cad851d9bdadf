/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of on-chip buffers: how PE arrays, the vector unit and the DMA access the input, weight and output
 * buffer (built-in kind `buffer`). A custom buffer answers the same accesses. It must also have the parameters `size`
 * (bytes, all halves together) and `pingpong` (off|on: one half or two), because the compiler cuts networks by them.
 *
 * - An address is a byte offset in a half; bit 31 selects the half: cnnvp_buffer_address().
 * - CNNVP_BORROW_READ / CNNVP_BORROW_WRITE return a pointer to [address, address + size), the range that a tile spans.
 *   `words` says how many 16-bit words of it cross the port (0: all), `cycles` over how many cycles the initiator
 *   spreads them. CNNVP_READ / CNNVP_WRITE copy instead. Address and size are even, except for accesses with word_bytes
 *   1. Words of another size count as the 16-bit words that they fill, rounded up.
 * - CNNVP_COMMAND carries a struct cnnvp_update (cnnvp_command.h). The access's address and size are not used; `words`
 *   0 means one word for each sum. cnnvp_update::acc_address is even. out_address may equal acc_address, or
 *   any address at which no write-out overwrites a partial sum that is still to be read; others are refused.
 * - `mode` is built by the functions below. It says how a read addresses the banks (enum cnnvp_read_mode), which side
 *   the initiator is on, how many live feature values a write brings (without borders; 0 for weights and constants),
 *   and their kind (enum cnnvp_buffer_write).
 * - `clocks` describes what crosses the port in each clock (`clock_count` entries of struct cnnvp_buffer_clocks,
 *   below). Without it the words are spread evenly over `cycles`.
 * - Time: `delay` grows by the latency (for reads of calculation units only) and by the accelerator cycles by which
 *   port and banks are late. Without `clocks` these are max(0, ceil(words / width_words) - cycles); with `clocks` they
 *   are the sum over all entries. If `cycles` is 0 or CNNVP_UNTIMED is set, delay does not grow.
 * - CNNVP_COMMAND with CNNVP_DEBUG and mode CNNVP_BUFFER_ASKS carries a struct cnnvp_buffer_shape, which the buffer
 *   fills in. A buffer without such banks refuses it.
 * - CNNVP_DEBUG: the range is checked and the pointer returned; nothing is counted.
 */
#ifndef CNNVP_BUFFER_PROTOCOL_H
#define CNNVP_BUFFER_PROTOCOL_H

#include "cnnvp_command.h"

#include <string.h>

/* Bits of struct cnnvp_access::mode. */
#define CNNVP_BUFFER_READ_MODE 0x3u
#define CNNVP_BUFFER_WRITE_KIND 0x3u /* enum cnnvp_buffer_write */
#define CNNVP_BUFFER_DMA_SIDE 0x4u
#define CNNVP_BUFFER_FEATURE_SHIFT 4u

/* Mode of a command that asks for the buffer's shape. */
#define CNNVP_BUFFER_ASKS 0x1u

/*
 * How a buffer's words are spread over banks. A bank consists of column_step SRAMs; an SRAM delivers one line of
 * line_words words per clock. Row r of a map is in bank r mod banks and begins at a line boundary. Its column c is in
 * SRAM c mod column_step of the bank, at word c div column_step. When several maps are read side by side, each has
 * banks div maps banks of its own; if there are fewer banks than maps, maps share banks. Words that are not rows of a
 * map are stored in consecutive lines, which rotate over the banks. A word larger than a line takes several lines of
 * one SRAM.
 */
struct cnnvp_buffer_shape {
    uint64_t width_words; /* words that cross the port per clock, all banks together */
    uint64_t banks;
    uint64_t line_words;
    uint64_t column_step;
    uint64_t shared;    /* 1: the words of all the unit's ports cross one port; each access is charged what it adds */
    uint64_t clock_mhz; /* of the port; with a what-if's speedup, that many times as fast. 0: the asking unit's */
};

/*
 * A class of clocks: what crosses the port in one clock, and how often such a clock occurs. In each clock, `columns`
 * words that are column_step columns apart cross the port from each of `rows` rows, which are row_step rows apart, of
 * each of `maps` maps. Words and columns have the access's word_bytes. The class occurs `times` times at each of places
 * x taps positions; at position (p, t) its first word is in column `column` + p * pitch + t * tap_pitch.
 *
 * One such clock takes max(ceil(words / width_words), largest number of lines of one SRAM) clocks. The excess over
 * `cycles` is its delay. A member that is 0 counts as 1, except `times` and these:
 *   rows 0         `columns` words that are not rows of a map; the first is word number `column`
 *   words not 0    only this many words cross the port, taken from the banks of all maps
 *   late not 0     the initiator has computed the delay itself; no other member counts
 */
struct cnnvp_buffer_clocks {
    uint64_t times;
    uint64_t column;
    uint32_t cycles; /* cycles that the initiator has for each clock of the class */
    uint32_t maps;
    uint32_t rows, row_step;
    uint32_t columns, column_step;
    uint32_t places, pitch;
    uint32_t taps, tap_pitch;
    uint32_t words;
    uint32_t late;
};

/* How the written feature values count as live values (`storage` in stats.json). */
enum cnnvp_buffer_write {
    CNNVP_BUFFER_VALUES = 0, /* live until they are overwritten or leave the buffer */
    CNNVP_BUFFER_COPIES = 1, /* memory has them too: live while the newest instruction that reads here reads them */
    CNNVP_BUFFER_MARK = 2    /* nothing is written: exactly this many values of the range are live from now on */
};

static inline uint64_t cnnvp_buffer_address(uint32_t half, uint32_t offset)
{
    return (uint64_t)offset | (uint64_t)half << 31;
}

/* A read by a calculation unit. */
static inline uint32_t cnnvp_buffer_read_mode(enum cnnvp_read_mode mode)
{
    return (uint32_t)mode;
}

/* A write by a calculation unit. feature_words: up to 2^28 - 1. */
static inline uint32_t cnnvp_buffer_write_mode(uint64_t feature_words)
{
    return (uint32_t)feature_words << CNNVP_BUFFER_FEATURE_SHIFT;
}

/* An access by the DMA. feature_words of a read: number of values that leave for good; 0: all in the range. */
static inline uint32_t cnnvp_buffer_dma_mode(uint64_t feature_words)
{
    return CNNVP_BUFFER_DMA_SIDE | cnnvp_buffer_write_mode(feature_words);
}

/* Values of struct cnnvp_tiling::limits: the unit also takes commands with `scale`, and also with tables. The flag
 * CNNVP_LIMITS_ADDS beside these: it also adds results to the words at their place. */
#define CNNVP_LIMITS_AND_SCALE 2u
#define CNNVP_LIMITS_SCALE_AND_TABLE 3u
#define CNNVP_LIMITS_ADDS 4u

/* Bytes of a table of the instruction vact, from its header; 0 if the header is malformed. Write-outs use the same
 * tables (models/inference/lanes/lanes.h). */
static inline uint64_t cnnvp_table_bytes(const void *header)
{
    int16_t words[CNNVP_TABLE_HEADER / 2u]; /* x0, x_shift, segments, intercept_shift */
    memcpy(words, header, sizeof words);
    const int valid = words[1] >= 0 && words[1] <= 62 && words[2] >= 1 && words[3] >= 0 && words[3] <= 47;
    return valid ? CNNVP_TABLE_HEADER + 4u * (uint64_t)words[2] : 0;
}

/* How the write-out scales a sum: adds an offset, then multiplies in binary32. */
struct cnnvp_scale {
    int32_t offset;
    float multiplier;
};

/*
 * Scales a sum as onnxruntime's quantised operators do: (sum + offset) is rounded to binary32, multiplied, and rounded
 * to binary32 again. The product is the returned integer times 2^-*shift; 0 if it is not finite. The caller adds its
 * own shift and keeps the total between -48 and 63.
 */
static inline int64_t cnnvp_scaled(int64_t sum, const struct cnnvp_scale *scale, int32_t *shift)
{
    const float product = (float)(int64_t)((uint64_t)sum + (uint64_t)(int64_t)scale->offset) * scale->multiplier;
    uint32_t bits;
    memcpy(&bits, &product, sizeof bits);
    const uint32_t exponent = bits >> 23 & 0xffu;
    const int64_t magnitude = (int64_t)((bits & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0));
    *shift = exponent != 0 ? 150 - (int32_t)exponent : 149;
    return exponent == 0xffu ? 0 : bits >> 31 != 0 ? -magnitude : magnitude;
}

#endif
