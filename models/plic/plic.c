/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Platform-level interrupt controller (RISC-V PLIC Specification 1.0.0): 31 level-triggered sources, one context
 * (machine mode of hart 0), 7 priorities, in the specification's memory map.
 * Modelled: gateways (a level becomes one request at a time, which stays pending when the level drops before the
 * claim), priorities with ties to the lowest number, threshold, claim and completion.
 * Not modelled: edge-triggered gateways, more contexts.
 */
#include "plic.h"

enum plic_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) REG_##name,
#include "plic.def"
    REGISTERS
};

enum plic_stat {
#define CNNVP_STAT(name, unit, layer, energy, help) STAT_##name,
#include "plic.def"
};

enum { PORT_REGS, PORT_SOURCE, PORT_EXTERNAL };
enum { SOURCES = 32 /* source 0 does not exist */ };

struct plic {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t reg[REGISTERS];
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

    for (uint32_t source = 1; source < SOURCES; source++)
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
    (void)plic->ops->irq(plic->host, PORT_EXTERNAL, best_source(plic, plic->reg[REG_THRESHOLD]) != 0);
}

/* The value that the read returns is what CLAIM holds after this function: the claim's effects follow it. */
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

    if (port != PORT_SOURCE || line == 0 || line >= SOURCES)
        return;
    if (level)
        plic->levels |= 1u << line;
    else
        plic->levels &= ~(1u << line);
    update(plic);
}

/* The lines keep their levels; the host announces those that are high again. */
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

static const struct cnnvp_register registers[] = {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help)                                                        \
    {#name, offset, CNNVP_REG_##access, reset, mask, offsetof(struct plic, reg) + REG_##name * sizeof(uint32_t), help},
#include "plic.def"
};

static const struct cnnvp_stat stats[] = {
#define CNNVP_STAT(name, unit, layer, energy, help) {#name, unit, layer, energy, help},
#include "plic.def"
};

static const struct cnnvp_port ports[] = {
    [PORT_REGS] = {"regs", CNNVP_PORT_TARGET, 0, 0x400000, 0, "registers"},
    [PORT_SOURCE] = {"source", CNNVP_PORT_IRQ_IN, CNNVP_PORT_OPTIONAL, 0, SOURCES, "interrupt sources; 0 is not used"},
    [PORT_EXTERNAL] = {"external", CNNVP_PORT_IRQ_OUT, CNNVP_PORT_OPTIONAL, 0, 0, "external interrupt (MEIP)"},
};

const struct cnnvp_unit cnnvp_unit_plic = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "plic",
    .version = "1.0",
    .summary = "interrupt controller: 31 level-triggered sources, one context (RISC-V PLIC)",
    .instance_size = sizeof(struct plic),
    .ports = ports,
    .port_count = sizeof ports / sizeof ports[0],
    .registers = registers,
    .register_count = sizeof registers / sizeof registers[0],
    .register_port = PORT_REGS,
    .stats = stats,
    .stat_count = sizeof stats / sizeof stats[0],
    .init = init,
    .reset = reset,
    .reg_written = reg_written,
    .reg_read = reg_read,
    .signal = signal_changed,
};
