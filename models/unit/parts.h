/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for a unit's `costs` function, one call for each part. */
#pragma once

#include "cnnvp_model.h"

#include <stddef.h>

/* Reports `count` parts of `bits` bits each; nothing if `count` is 0. */
static inline void cnnvp_say_part(const struct cnnvp_costs *costs, enum cnnvp_part_kind kind, uint32_t bits,
                                  uint64_t count, const char *what)
{
    const struct cnnvp_part part = {.kind = kind, .bits = bits, .count = count, .what = what};
    if (count != 0)
        costs->part(costs->context, &part);
}

/* A part of a unit. There are `each` of them for every item of a kind; numbers[of] says how many items there are. */
struct cnnvp_parts_row {
    enum cnnvp_part_kind kind;
    uint32_t bits;
    uint32_t each;
    uint32_t of;
    const char *what;
};

static inline void cnnvp_say_parts(const struct cnnvp_costs *costs, const struct cnnvp_parts_row *rows, size_t count,
                                   const uint64_t *numbers)
{
    for (const struct cnnvp_parts_row *row = rows; row < rows + count; ++row)
        cnnvp_say_part(costs, row->kind, row->bits, row->each * numbers[row->of], row->what);
}

/* Reports `banks` SRAM banks of `bytes` bytes each, with words of `bits` bits. */
static inline void cnnvp_say_sram(const struct cnnvp_costs *costs, uint32_t bits, uint64_t bytes, uint64_t banks,
                                  const char *what)
{
    const struct cnnvp_part part = {
        .kind = CNNVP_PART_SRAM, .bits = bits, .count = banks, .bytes = bytes, .what = what};
    costs->part(costs->context, &part);
}
