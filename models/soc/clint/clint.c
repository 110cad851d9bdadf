/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core-local interruptor: software interrupt and machine timer of hart 0, in the register layout of SiFive's CLINT
 * (SiFive FU540-C000 Manual v1p0, chapter 9; RISC-V Privileged ISA 1.12, section 3.2.1).
 * Modelled: msip, mtimecmp, mtime, both interrupt levels at the exact tick. Registers are 32-bit words, a 64-bit
 * register is two. A reset clears mtime and sets mtimecmp to all ones, so that there is no interrupt (the documents
 * leave its value open).
 * Not modelled: more than one hart.
 */
#include "units.h"
#include "unit/parts.h"

#define UNIT_DEF "soc/clint/clint.def"
#include "unit/unit_enums.inc"

enum { EVENT_COMPARE, EVENTS };

struct clint {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t reg[REGISTER_COUNT];
    uint64_t timebase_mhz;
    uint64_t offset; /* mtime minus the ticks since the start of the simulation, modulo 2^64 */
    int timer;       /* level of the timer interrupt */
};

static uint64_t pair(const struct clint *clint, uint32_t low)
{
    return (uint64_t)clint->reg[low + 1] << 32 | clint->reg[low];
}

/* The last tick at or before now. */
static uint64_t ticks(const struct clint *clint)
{
    return cnnvp_edge_at_or_after(clint->timebase_mhz, clint->ops->now(clint->host) + 1u) - 1u;
}

static void refresh_mtime(struct clint *clint)
{
    const uint64_t mtime = ticks(clint) + clint->offset;

    clint->reg[REG_MTIME_LO] = (uint32_t)mtime;
    clint->reg[REG_MTIME_HI] = (uint32_t)(mtime >> 32);
}

/* Time at which the tick begins; CNNVP_TIME_NEVER if that is too large for picoseconds. */
static cnnvp_time time_of(const struct clint *clint, uint64_t tick)
{
    return tick / clint->timebase_mhz >= UINT64_MAX / 1000000u
               ? CNNVP_TIME_NEVER
               : cnnvp_edge_time(clint->timebase_mhz, tick);
}

static void update(struct clint *clint)
{
    const uint64_t compare = pair(clint, REG_MTIMECMP_LO);
    const uint64_t now = ticks(clint);
    const uint64_t mtime = now + clint->offset;
    const int timer = mtime >= compare;

    if (timer && !clint->timer)
        clint->ops->count(clint->host, STAT_timer_interrupts, 0, 1);
    clint->timer = timer;
    if (timer)
        (void)clint->ops->cancel(clint->host, EVENT_COMPARE);
    else if (compare - mtime > UINT64_MAX - now) /* mtime was set back: the match lies beyond the last tick */
        (void)clint->ops->notify(clint->host, EVENT_COMPARE, CNNVP_TIME_NEVER);
    else
        (void)clint->ops->notify(clint->host, EVENT_COMPARE, time_of(clint, now + (compare - mtime)));
    (void)clint->ops->irq(clint->host, PORT_timer, timer);
    (void)clint->ops->irq(clint->host, PORT_software, (int)(clint->reg[REG_MSIP] & 1u));
}

static int reg_read(void *instance, uint32_t reg)
{
    struct clint *clint = instance;

    if (reg == REG_MTIME_LO || reg == REG_MTIME_HI)
        refresh_mtime(clint);
    return CNNVP_OK;
}

static int reg_written(void *instance, uint32_t reg, uint32_t old)
{
    struct clint *clint = instance;

    (void)old;
    if (reg == REG_MTIME_LO || reg == REG_MTIME_HI) {
        const uint32_t value = clint->reg[reg];

        refresh_mtime(clint); /* brings the other half up to date */
        clint->reg[reg] = value;
        clint->offset = pair(clint, REG_MTIME_LO) - ticks(clint);
    }
    update(clint);
    return CNNVP_OK;
}

static void event(void *instance, uint32_t number)
{
    (void)number;
    update(instance);
}

static void reset(void *instance)
{
    struct clint *clint = instance;

    clint->offset = 0 - ticks(clint);
    clint->timer = 0;
    update(clint);
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct clint *clint = instance;

    clint->ops = init->ops;
    clint->host = init->host;
    clint->timebase_mhz = init->ops->param(init->host, PARAM_timebase_mhz);
    return CNNVP_OK;
}

#define UNIT_STORAGE(name) offsetof(struct clint, reg) + REG_##name * sizeof(uint32_t)
static void costs_of(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, 2u, "mtime and mtimecmp");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 64u, 2u, "count and comparison");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_clint = {
    UNIT_TABLES,
    .kind = "clint",
    .version = "1.0",
    .summary = "software interrupt and machine timer of hart 0 (SiFive CLINT layout)",
    .instance_size = sizeof(struct clint),
    .register_port = PORT_regs,
    .event_count = EVENTS,
    .init = init,
    .reset = reset,
    .reg_written = reg_written,
    .reg_read = reg_read,
    .event = event,
    .costs = costs_of,
};
