/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point words in memory and buffers: two's complement of 1 or 2 bytes, in the host's byte order, which is
 * little-endian. For units and host programs. */
#ifndef CNNVP_WORDS_H
#define CNNVP_WORDS_H

#include <stdint.h>
#include <string.h>

/* Reads one word of 1 or 2 bytes. The functions below read and write `count` consecutive words. */
static inline int16_t cnnvp_word_at(const uint8_t *at, uint32_t word_bytes)
{
    int16_t word;
    if (word_bytes == 1u)
        return (int8_t)*at;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline void cnnvp_get_words(const uint8_t *at, uint64_t count, uint32_t word_bytes, int16_t *words)
{
    if (word_bytes == 1u)
        for (uint64_t i = 0; i < count; ++i)
            words[i] = (int8_t)at[i];
    else
        memcpy(words, at, (size_t)count * sizeof *words);
}

static inline void cnnvp_put_words(uint8_t *at, const int16_t *words, uint64_t count, uint32_t word_bytes)
{
    if (word_bytes == 1u)
        for (uint64_t i = 0; i < count; ++i)
            at[i] = (uint8_t)words[i];
    else
        memcpy(at, words, (size_t)count * sizeof *words);
}

/* Reads and writes a partial sum of 1 to 8 bytes in two's complement. */
static inline int64_t cnnvp_sum_at(const uint8_t *at, uint32_t bytes)
{
    const uint64_t sign = UINT64_C(1) << (8u * bytes - 1u);
    uint64_t sum = 0;
    memcpy(&sum, at, bytes);
    return (int64_t)((sum ^ sign) - sign);
}

static inline void cnnvp_put_sum(uint8_t *at, int64_t sum, uint32_t bytes)
{
    memcpy(at, &sum, bytes);
}

#endif
