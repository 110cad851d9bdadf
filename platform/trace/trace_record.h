/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a stream, written by trace.c and read by trace_cursor.c. Times and most numbers are differences from the
 * stream's previous record.
 *
 *   track:   begin - last end, length, name, tag, flow - last flow: variable-length numbers, about 9 bytes; then 0, or
 *            1 + number of registers of its command's descriptor, opcode, status, halves, immediate, the registers
 *   others:  a pair, mostly of 8 bytes: at - last at, and for a
 *     counter: value - last value
 *     level:   level
 *     calls:   0 for a return, or 1 + name of the function
 */
#pragma once

#include "cnnvp_command.h"
#include "varint.h"

#include <string.h>

/* Longest record: five numbers of ten bytes, and the numbers of a command. */
#define CNNVP_RECORD_BYTES (50u + 5u * (5u + CNNVP_DESCRIPTOR_MAX))

/* Stands for the time if two 64-bit numbers follow. */
#define CNNVP_PAIR_IS_WIDE UINT32_MAX

struct cnnvp_pair {
    uint64_t time;
    uint64_t number; /* small, or a difference in two's complement */
};

static inline unsigned char *cnnvp_pair_put(unsigned char *p, struct cnnvp_pair pair)
{
    const uint64_t sign = UINT64_C(1) << 31;
    const uint32_t is_wide = CNNVP_PAIR_IS_WIDE;

    if (pair.time < is_wide && pair.number + sign <= UINT32_MAX) {
        const uint32_t narrow[2] = {(uint32_t)pair.time, (uint32_t)pair.number};

        memcpy(p, narrow, sizeof narrow);
        return p + sizeof narrow;
    }
    memcpy(p, &is_wide, sizeof is_wide);
    memcpy(p + sizeof is_wide, &pair, sizeof pair);
    return p + sizeof is_wide + sizeof pair;
}

static inline const unsigned char *cnnvp_pair_get(const unsigned char *p, struct cnnvp_pair *pair)
{
    uint32_t narrow[2];

    memcpy(narrow, p, sizeof narrow);
    if (narrow[0] != CNNVP_PAIR_IS_WIDE) {
        pair->time = narrow[0];
        pair->number = (uint64_t)narrow[1] - ((uint64_t)(narrow[1] >> 31) << 32);
        return p + sizeof narrow;
    }
    memcpy(pair, p + sizeof narrow[0], sizeof *pair);
    return p + sizeof narrow[0] + sizeof *pair;
}
