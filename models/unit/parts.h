/* SPDX-License-Identifier: Apache-2.0 */
/* What units say in `costs`, in a line each. */
#ifndef CNNVP_UNIT_PARTS_H
#define CNNVP_UNIT_PARTS_H

#include "cnnvp_model.h"

/* `count` parts of `bits`. */
static inline void cnnvp_say_part(const struct cnnvp_costs *costs, enum cnnvp_part_kind kind, uint32_t bits,
                                  uint64_t count, const char *what)
{
    const struct cnnvp_part part = {.kind = kind, .bits = bits, .count = count, .what = what};
    if (count != 0)
        costs->part(costs->context, &part);
}

/* Sets of a block, as many as its module has; and values that all of them take in a cycle. */
static inline uint64_t cnnvp_module_sets(const struct cnnvp_costs *costs)
{
    return costs->upstream(costs->context, "sets", 1u);
}

static inline uint64_t cnnvp_module_lanes(const struct cnnvp_costs *costs)
{
    return cnnvp_module_sets(costs) * costs->upstream(costs->context, "lanes", 1u);
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
