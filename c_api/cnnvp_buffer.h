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
 * - `streams` says at how many addresses the initiator works side by side: rows of a window, images, reading and
 *   writing back. A bank serves one address in a cycle; `turns` is what the bank with the most of them needs. Streams
 * are spread over the banks evenly: turns = ceil(streams / banks). With `rows` they are streams / rows maps, to each of
 *   which belong B = banks / maps banks (at least 1), and row r of a map is in its bank r mod B (S000's rotating
 * structure and S001's zones are B = 3): turns = ceil(rows / (B / gcd(B, row_step))) * ceil(maps / banks).
 * - Time: `delay` grows by latency + max(0, ceil(words / width_words) * turns - cycles) accelerator cycles, latency for
 *   reads of calculation units; and by nothing where `cycles` is 0 or CNNVP_UNTIMED is set.
 * - CNNVP_DEBUG: the range is checked, the pointer given, nothing counted.
 */
#ifndef CNNVP_BUFFER_PROTOCOL_H
#define CNNVP_BUFFER_PROTOCOL_H

#include "cnnvp_command.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of struct cnnvp_access::mode. */
#define CNNVP_BUFFER_READ_MODE 0x3u
#define CNNVP_BUFFER_WRITE_KIND 0x3u /* enum cnnvp_buffer_write */
#define CNNVP_BUFFER_DMA_SIDE 0x4u
#define CNNVP_BUFFER_FEATURE_SHIFT 4u

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

#ifdef __cplusplus
}
#endif

#endif
