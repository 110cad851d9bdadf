/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of on-chip buffers: how PE arrays, the vector unit and the DMA use the input, weight and output buffer
 * (built in: kind `buffer`). A buffer of your own answers the same accesses, and has the parameters `size` (bytes, all
 * halves together) and `pingpong` (off|on: one half or two): networks are cut by these.
 *
 * - An address is a byte offset in a half; bit 31 names the half: cnnvp_buffer_address().
 * - CNNVP_BORROW_READ / CNNVP_BORROW_WRITE give a pointer to [address, address + size), the range that a tile spans.
 *   `words` says how many 16-bit words of it cross the port (0: all of them), `cycles` over how many cycles the
 *   initiator spreads them. CNNVP_READ / CNNVP_WRITE copy instead. Address and size are even, but for accesses whose
 *   word_bytes is 1. Words of another size count as the 16-bit words that they make up, rounded up.
 * - CNNVP_COMMAND carries a struct cnnvp_update (cnnvp_command.h); access address and size are not used, `words` 0
 *   means one for each sum. cnnvp_update::acc_address is a multiple of 8. out_address may equal acc_address, or lie
 *   anywhere that no write-out reaches a partial sum which is still to be read; anything else is refused.
 * - `mode` is made by the functions below: how a read addresses the banks (enum cnnvp_read_mode), which side the
 *   initiator is on, and how many live feature values a write brings (borders left out; 0 for weights and constants),
 *   of which kind (enum cnnvp_buffer_write).
 * - `clocks` says what crosses the port in a clock (struct cnnvp_buffer_clocks below), `clock_count` of them. Without,
 *   the words come evenly, over `cycles`.
 * - Time: `delay` grows by latency and by the accelerator cycles that the port and the banks are late: without `clocks`
 *   max(0, ceil(words / width_words) - cycles), with them the sum over all. latency is of reads of calculation units.
 *   Where `cycles` is 0 or CNNVP_UNTIMED is set, delay grows by nothing.
 * - CNNVP_COMMAND with CNNVP_DEBUG and the mode CNNVP_BUFFER_ASKS carries a struct cnnvp_buffer_shape, which the buffer
 *   fills in. A buffer that has no such banks refuses it.
 * - CNNVP_DEBUG: the range is checked, the pointer given, nothing counted.
 */
#ifndef CNNVP_BUFFER_PROTOCOL_H
#define CNNVP_BUFFER_PROTOCOL_H

#include "cnnvp_command.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of struct cnnvp_access::mode. */
#define CNNVP_BUFFER_READ_MODE 0x3u
#define CNNVP_BUFFER_WRITE_KIND 0x3u /* enum cnnvp_buffer_write */
#define CNNVP_BUFFER_DMA_SIDE 0x4u
#define CNNVP_BUFFER_FEATURE_SHIFT 4u

/* Mode of a command that asks for the shape. */
#define CNNVP_BUFFER_ASKS 0x1u

/*
 * A buffer's words are in banks. A bank is column_step SRAMs, and an SRAM gives one line of line_words words a clock.
 * Row r of a map is in bank r mod banks and begins at a line; its column c is in the bank's SRAM c mod column_step, at
 * c div column_step. Where maps are read side by side, each has banks div maps banks to itself, or, where there are
 * fewer banks than maps, shares one. Words that are no rows follow each other in lines that go round the banks. A word
 * larger than a line takes several lines of one SRAM.
 */
struct cnnvp_buffer_shape {
    uint64_t width_words; /* that cross the port in a clock, of all banks together */
    uint64_t banks;
    uint64_t line_words;
    uint64_t column_step;
};

/*
 * A class of clocks: what crosses the port in one of them, and how often it comes. In each it is `columns` words (of
 * the access's word_bytes, and so are columns), column_step columns apart, of each of `rows` rows, row_step rows apart,
 * of each of `maps` maps. A class comes `times` times at each of places * taps places: there its first word is in
 * column column + p * pitch + t * tap_pitch.
 *
 * Each takes max(ceil(words / width_words), the most lines of one SRAM) clocks, and is late by what these are more than
 * `cycles`. Members that are 0 count as 1, but for `times` and these:
 *   rows 0         `columns` words that are no rows of a map, the first of them word `column`
 *   words not 0    so many of the words cross, from the banks of all maps
 *   late not 0     late by so much, as the initiator has counted itself; nothing else counts
 */
struct cnnvp_buffer_clocks {
    uint64_t times;
    uint64_t column;
    uint32_t cycles; /* that the initiator has for each */
    uint32_t maps;
    uint32_t rows, row_step;
    uint32_t columns, column_step;
    uint32_t places, pitch;
    uint32_t taps, tap_pitch;
    uint32_t words;
    uint32_t late;
};

/* What a write's feature values are to the account of live values (`storage` in stats.json). */
enum cnnvp_buffer_write {
    CNNVP_BUFFER_VALUES = 0, /* live until something else is written there, or they leave */
    CNNVP_BUFFER_COPIES = 1, /* memory has them too: live while the newest instruction that reads here reads them */
    CNNVP_BUFFER_MARK = 2    /* nothing is written: this many values of the range are live from now on, no others */
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

/* An access by the DMA. feature_words of a read: how many leave for good, 0: everything in the range. */
static inline uint32_t cnnvp_buffer_dma_mode(uint64_t feature_words)
{
    return CNNVP_BUFFER_DMA_SIDE | cnnvp_buffer_write_mode(feature_words);
}

/* `limits` of struct cnnvp_tiling where commands with `scale` are taken as well, and where tables are, too. */
#define CNNVP_LIMITS_AND_SCALE 2u
#define CNNVP_LIMITS_SCALE_AND_TABLE 3u

/* Bytes of a table of the instruction vact, which write-outs take as well (models/inference/lanes/lanes.h), from its
 * header; 0: that is malformed. */
static inline uint64_t cnnvp_table_bytes(const void *header)
{
    int16_t words[CNNVP_TABLE_HEADER / 2u]; /* x0, x_shift, segments, intercept_shift */
    memcpy(words, header, sizeof words);
    const int valid = words[1] >= 0 && words[1] <= 62 && words[2] >= 1 && words[3] >= 0 && words[3] <= 47;
    return valid ? CNNVP_TABLE_HEADER + 4u * (uint64_t)words[2] : 0;
}

/* By what the write-out scales a sum: an offset, and a multiplier in binary32. */
struct cnnvp_scale {
    int32_t offset;
    float multiplier;
};

/*
 * (sum + offset) rounded to binary32, times the multiplier, rounded to binary32, and that as a whole number times
 * 2^-*shift: what onnxruntime's quantised operators round to a word. A product that is no finite number is 0. Together
 * with another shift that is kept between -48 and 63.
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

#ifdef __cplusplus
}
#endif

#endif
