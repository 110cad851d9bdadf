/* SPDX-License-Identifier: Apache-2.0 */
/* What units say in `costs`, in a line each. */
#ifndef CNNVP_UNIT_PARTS_H
#define CNNVP_UNIT_PARTS_H

#include "cnnvp_model.h"

#include <stddef.h>

/* `count` parts of `bits`. */
static inline void cnnvp_say_part(const struct cnnvp_costs *costs, enum cnnvp_part_kind kind, uint32_t bits,
                                  uint64_t count, const char *what)
{
    const struct cnnvp_part part = {.kind = kind, .bits = bits, .count = count, .what = what};
    if (count != 0)
        costs->part(costs->context, &part);
}

/* Parts of a kind of unit, each so many times for every one of something: `of` says what, an index of `numbers`. */
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

/* `banks` banks of `bytes`, `bits` at a time. */
static inline void cnnvp_say_sram(const struct cnnvp_costs *costs, uint32_t bits, uint64_t bytes, uint64_t banks,
                                  const char *what)
{
    const struct cnnvp_part part = {
        .kind = CNNVP_PART_SRAM, .bits = bits, .count = banks, .bytes = bytes, .what = what};
    costs->part(costs->context, &part);
}

#endif
