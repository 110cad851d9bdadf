/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Platform-level interrupt controller (RISC-V PLIC Specification 1.0.0): 31 level-triggered sources, one context
 * (machine mode of hart 0), 7 priorities, in the specification's memory map.
 * Modelled: gateways (a level becomes one request at a time, which stays pending when the level drops before the
 * claim), priorities with ties to the lowest number, threshold, claim and completion.
 * Not modelled: edge-triggered gateways, more contexts.
 */
#include "units.h"
#include "unit/parts.h"

#define UNIT_DEF "soc/plic/plic.def"
#include "unit/unit_enums.inc"

enum { SOURCES = 32 /* source 0 does not exist */ };

struct plic {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t reg[REGISTER_COUNT];
    uint32_t levels;  /* bit n: line of source n is high */
    uint32_t claimed; /* bit n: gateway n waits for a completion */
};

static uint32_t priority(const struct plic *plic, uint32_t source)
{
    return plic->reg[REG_PRIORITY_1 + source - 1];
}

/* The pending enabled source of highest priority above `least`, 0 if there is none. */
static uint32_t best_source(const struct plic *plic, uint32_t least)
{
    const uint32_t candidates = plic->reg[REG_PENDING] & plic->reg[REG_ENABLE];
    uint32_t best = 0;

    for (uint32_t source = 1; source < SOURCES; ++source)
        if (candidates >> source & 1u && priority(plic, source) > least) {
            best = source;
            least = priority(plic, source);
        }
    return best;
}

static void update(struct plic *plic)
{
    plic->reg[REG_PENDING] |= plic->levels & ~plic->claimed;
    plic->reg[REG_CLAIM] = best_source(plic, 0);
    (void)plic->ops->irq(plic->host, PORT_external, best_source(plic, plic->reg[REG_THRESHOLD]) != 0);
}

/* A read returns what CLAIM holds after this callback, so CLAIM is set after update(). */
static int reg_read(void *instance, uint32_t reg)
{
    struct plic *plic = instance;
    uint32_t source;

    if (reg != REG_CLAIM)
        return CNNVP_OK;
    source = best_source(plic, 0);
    if (source != 0) {
        plic->reg[REG_PENDING] &= ~(1u << source);
        plic->claimed |= 1u << source;
        plic->ops->count(plic->host, STAT_claims, 0, 1);
        update(plic);
    }
    plic->reg[REG_CLAIM] = source;
    return CNNVP_OK;
}

static int reg_written(void *instance, uint32_t reg, uint32_t old)
{
    struct plic *plic = instance;
    const uint32_t value = plic->reg[reg];

    (void)old;
    /* A completion of a source that is not enabled is ignored (specification, chapter 9). */
    if (reg == REG_CLAIM && value < SOURCES && plic->reg[REG_ENABLE] >> value & 1u)
        plic->claimed &= ~(1u << value);
    update(plic);
    return CNNVP_OK;
}

static void signal_changed(void *instance, uint32_t port, uint32_t line, int level)
{
    struct plic *plic = instance;

    if (port != PORT_source || line == 0 || line >= SOURCES)
        return;
    if (level)
        plic->levels |= 1u << line;
    else
        plic->levels &= ~(1u << line);
    update(plic);
}

/* Lines keep their levels over a reset; the host announces again those that are high. */
static void reset(void *instance)
{
    struct plic *plic = instance;

    plic->levels = 0;
    plic->claimed = 0;
    update(plic);
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct plic *plic = instance;

    plic->ops = init->ops;
    plic->host = init->host;
    return CNNVP_OK;
}

#define UNIT_STORAGE(name) offsetof(struct plic, reg) + REG_##name * sizeof(uint32_t)
static void costs_of(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, 8u, "priorities, pending, enabled");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_plic = {
    UNIT_TABLES,
    .kind = "plic",
    .version = "1.0",
    .summary = "interrupt controller: 31 level-triggered sources, one context (RISC-V PLIC)",
    .instance_size = sizeof(struct plic),
    .register_port = PORT_regs,
    .init = init,
    .reset = reset,
    .reg_written = reg_written,
    .reg_read = reg_read,
    .signal = signal_changed,
    .costs = costs_of,
};
