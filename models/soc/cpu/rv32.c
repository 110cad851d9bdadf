/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's public functions, except those in its other files: lifecycle, memory map, runs, registers. See rv32.h.
 */
#include <stdlib.h>

#include "rv32_internal.h"

size_t cnnvp_rv32_size(void)
{
    return sizeof(struct cnnvp_rv32);
}

static uint8_t cycles_or_1(uint32_t cycles)
{
    return (uint8_t)(cycles == 0 ? 1u : cycles < CNNVP_RV32_MAX_CYCLES ? cycles : CNNVP_RV32_MAX_CYCLES);
}

/* The cycles of an operation, by its class, and what it counts as. A branch that is not taken takes one cycle. */
static struct rv32_bill bill_of(const struct cnnvp_rv32_cycles *cycles, enum rv32_op_code code)
{
    if (code >= RV32_OP_MUL && code <= RV32_OP_MULHU)
        return (struct rv32_bill){RV32_INSTRUCTION, cycles_or_1(cycles->multiply) - RV32_MULTIPLY};
    if (code >= RV32_OP_DIV && code <= RV32_OP_REMU)
        return (struct rv32_bill){RV32_INSTRUCTION + RV32_DIVIDE, cycles_or_1(cycles->divide)};
    if ((code >= RV32_OP_LB && code <= RV32_OP_LHU) || code == RV32_OP_LR)
        return (struct rv32_bill){RV32_INSTRUCTION + RV32_LOAD, cycles_or_1(cycles->load)};
    if ((code >= RV32_OP_SB && code <= RV32_OP_SW) || code == RV32_OP_SC)
        return (struct rv32_bill){RV32_INSTRUCTION + RV32_STORE, cycles_or_1(cycles->store)};
    if (code == RV32_OP_AMO)
        return (struct rv32_bill){RV32_INSTRUCTION + RV32_LOAD + RV32_STORE,
                                  cycles_or_1(cycles_or_1(cycles->load) + (uint32_t)cycles_or_1(cycles->store) - 1u)};
    if (code >= RV32_OP_J && code <= RV32_OP_SPIN)
        return (struct rv32_bill){RV32_INSTRUCTION, cycles_or_1(cycles->jump) - RV32_JUMP};
    if (code == RV32_OP_LINE || code == RV32_OP_FALL || code == RV32_OP_CUT)
        return (struct rv32_bill){0, 0};
    return (struct rv32_bill){RV32_INSTRUCTION, 1u};
}

static void set_bills(struct cnnvp_rv32 *core)
{
    for (unsigned code = 0; code < RV32_OP_COUNT; ++code)
        core->bill[code] = bill_of(&core->config.cycles, (enum rv32_op_code)code);
    core->taken = core->bill[RV32_OP_J].spent - 1u;
}

static const uint32_t no_code[] = {CNNVP_RV32_NO_CODE, CNNVP_RV32_NO_CODE};

int cnnvp_rv32_init(struct cnnvp_rv32 *core, const struct cnnvp_rv32_config *config)
{
    *core = (struct cnnvp_rv32){0};
    core->config = *config;
    if (core->config.bus.there.code == NULL)
        core->config.bus.there.code = no_code;
    if (core->config.fetch_bytes == 0)
        core->config.fetch_bytes = CNNVP_RV32_GRANULE;
    set_bills(core);
    core->handlers = rv32_exec_handlers();
    rv32_decode_init(core);
    if (rv32_cache_init(core) != 0) {
        rv32_cache_fini(core);
        return -1;
    }
    cnnvp_rv32_reset(core, 0);
    return 0;
}

void cnnvp_rv32_fini(struct cnnvp_rv32 *core)
{
    for (unsigned i = 0; i < core->regions; ++i) {
        free(core->region[i].flags);
        free(core->region[i].heads);
    }
    core->regions = 0;
    rv32_cache_fini(core);
}

void cnnvp_rv32_follow_calls(struct cnnvp_rv32 *core, int follow)
{
    core->follow_calls = follow;
}

void cnnvp_rv32_profile(struct cnnvp_rv32 *core, const struct cnnvp_profiler *profiler)
{
    core->profile.profiler = profiler;
    core->profile.costs = NULL;
}

const struct cnnvp_core_cost *cnnvp_rv32_cost(const struct cnnvp_rv32 *core)
{
    return &core->profile.all;
}

void cnnvp_rv32_reset(struct cnnvp_rv32 *core, uint32_t pc)
{
    for (unsigned i = 0; i <= RV32_DISCARD; ++i)
        core->x[i] = 0;
    rv32_flush(core);
    rv32_csr_reset(core);
    core->pc = pc & ~1u;
    core->reserved = core->attention = core->waiting = core->stop = core->exit = core->double_fault = 0;
    core->exit_status = 0;
    core->limit = core->executed = core->run_base = core->granted = 0;
    core->work = core->counted = 0;
    core->in_progress = 0;
    core->debug.hit = core->debug.pass = 0;
    core->stats = (struct cnnvp_rv32_stats){0};
    core->traps = core->nested = 0;
}

static int overlaps(const struct cnnvp_rv32 *core, uint32_t base, uint32_t size)
{
    for (unsigned i = 0; i < core->regions; ++i) {
        const struct rv32_region *region = &core->region[i];
        if (base - region->base < region->size || region->base - base < size)
            return 1;
    }
    return 0;
}

int cnnvp_rv32_map_ram(struct cnnvp_rv32 *core, uint32_t base, uint32_t size, uint8_t *host)
{
    const uint32_t odd = CNNVP_RV32_GRANULE - 1u;
    uint32_t granules = size >> RV32_GRANULE_SHIFT;
    struct rv32_region *region = &core->region[core->regions];
    if (host == NULL || size == 0 || (base | size) & odd || base + (size - 1u) < base ||
        core->regions == CNNVP_RV32_MAX_REGIONS || overlaps(core, base, size))
        return -1;
    *region = (struct rv32_region){.base = base, .size = size, .host = host};
    region->flags = calloc(granules, sizeof *region->flags);
    region->heads = calloc(granules, sizeof(struct rv32_block *));
    if (region->flags == NULL || region->heads == NULL) {
        free(region->flags);
        free(region->heads);
        return -1;
    }
    ++core->regions;
    return 0;
}

void cnnvp_rv32_unmap_ram(struct cnnvp_rv32 *core, uint32_t base)
{
    for (unsigned i = 0; i < core->regions; ++i) {
        struct rv32_region *region = &core->region[i];
        if (region->base != base)
            continue;
        rv32_drop(core, region, 0, region->size);
        free(region->flags);
        free(region->heads);
        *region = core->region[--core->regions];
        ++core->unmapped;
        rv32_close_windows(core);
        return;
    }
}

static int is_range(const struct cnnvp_rv32_range *ranges, unsigned count, const struct cnnvp_rv32_range *range)
{
    for (unsigned i = 0; i < count; ++i)
        if (ranges[i].base == range->base && ranges[i].size == range->size)
            return 1;
    return 0;
}

/* Drops code in ranges that are not among the known ones: what code costs is decided when it is decoded. */
static void forget_others(struct cnnvp_rv32 *core, const struct cnnvp_rv32_range *ranges, unsigned count,
                          const struct cnnvp_rv32_range *known, unsigned known_count)
{
    for (unsigned i = 0; i < count; ++i)
        if (!is_range(known, known_count, &ranges[i]))
            cnnvp_rv32_invalidate(core, ranges[i].base, ranges[i].size);
}

int cnnvp_rv32_set_fast(struct cnnvp_rv32 *core, const struct cnnvp_rv32_range *ranges, unsigned count)
{
    if (count > CNNVP_RV32_MAX_RANGES)
        return -1;
    for (unsigned i = 0; i < count; ++i)
        if (ranges[i].size == 0 || ((ranges[i].base | ranges[i].size) & (CNNVP_RV32_GRANULE - 1u)) != 0)
            return -1;
    forget_others(core, core->fast, core->fast_ranges, ranges, count);
    forget_others(core, ranges, count, core->fast, core->fast_ranges);
    for (unsigned i = 0; i < count; ++i)
        core->fast[i] = ranges[i];
    core->fast_ranges = count;
    rv32_close_windows(core);
    return 0;
}

int cnnvp_rv32_watch_tohost(struct cnnvp_rv32 *core, uint32_t address)
{
    struct rv32_region *region = rv32_region_at(core, address, 4);
    if (region == NULL || address & 3u)
        return -1;
    uint32_t granule = (address - region->base) >> RV32_GRANULE_SHIFT;
    region->flags[granule] |= RV32_FLAG_TOHOST;
    if (granule > 0)
        region->flags[granule - 1u] |= RV32_FLAG_TOHOST; /* misaligned stores may begin there */
    core->tohost = address;
    core->tohost_set = 1;
    return 0;
}

void cnnvp_rv32_invalidate(struct cnnvp_rv32 *core, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < core->regions; ++i) {
        struct rv32_region *region = &core->region[i];
        uint64_t begin = address > region->base ? address - region->base : 0;
        uint64_t end = (uint64_t)address + size;
        end = end > region->base ? end - region->base : 0;
        if (end > region->size)
            end = region->size;
        if (begin < end)
            rv32_drop(core, region, (uint32_t)begin, (uint32_t)(end - begin));
    }
}

void cnnvp_rv32_set_irq(struct cnnvp_rv32 *core, enum cnnvp_rv32_line line, int level)
{
    uint32_t bit = 1u << line & RV32_IRQ_MASK;
    uint32_t mip = core->csr[RV32_CSR_mip] & ~bit;
    core->csr[RV32_CSR_mip] = level ? mip | bit : mip;
    core->attention = 1;
}

enum cnnvp_rv32_reason cnnvp_rv32_run(struct cnnvp_rv32 *core, uint64_t limit, uint64_t *executed)
{
    enum cnnvp_rv32_reason reason;
    core->run_base += core->executed;
    core->executed = 0;
    core->limit = limit;
    reason = rv32_exec(core);
    *executed = core->executed;
    return reason;
}

uint64_t cnnvp_rv32_executed(const struct cnnvp_rv32 *core)
{
    return core->executed;
}

void cnnvp_rv32_limit(struct cnnvp_rv32 *core, uint64_t limit)
{
    core->limit = limit;
    core->attention = 1;
}

void cnnvp_rv32_stop(struct cnnvp_rv32 *core)
{
    core->stop = 1;
    core->attention = 1;
}

void cnnvp_rv32_exit(struct cnnvp_rv32 *core, uint32_t status)
{
    core->exit = 1;
    core->exit_status = status;
    core->attention = 1;
}

uint32_t cnnvp_rv32_exit_status(const struct cnnvp_rv32 *core)
{
    return core->exit_status;
}

int cnnvp_rv32_wakeup(const struct cnnvp_rv32 *core)
{
    return rv32_pending(core) != 0;
}

int cnnvp_rv32_can_wake(const struct cnnvp_rv32 *core)
{
    return core->csr[RV32_CSR_mie] != 0 && (core->waiting || core->csr[RV32_CSR_mstatus] & RV32_MSTATUS_MIE);
}

void cnnvp_rv32_idle(struct cnnvp_rv32 *core, uint64_t cycles)
{
    core->stats.idle_cycles += cycles;
    if (rv32_profiled(core))
        rv32_profile_idle(core, cycles);
}

void cnnvp_rv32_skip(struct cnnvp_rv32 *core, uint64_t slots)
{
    core->stats.slots += slots;
    core->stats.jumps += slots;
    core->run_base += slots * rv32_cycles(core, RV32_OP_SPIN);
    if (rv32_profiled(core))
        rv32_profile_skip(core, slots);
}

uint32_t cnnvp_rv32_reg(const struct cnnvp_rv32 *core, unsigned number)
{
    return number < RV32_DISCARD ? core->x[number] : 0;
}

void cnnvp_rv32_set_reg(struct cnnvp_rv32 *core, unsigned number, uint32_t value)
{
    if (number > 0 && number < RV32_DISCARD)
        core->x[number] = value;
}

uint32_t cnnvp_rv32_pc(const struct cnnvp_rv32 *core)
{
    return core->pc;
}

void cnnvp_rv32_set_pc(struct cnnvp_rv32 *core, uint32_t pc)
{
    core->pc = pc & ~1u;
    core->waiting = 0;
    core->double_fault = 0;
}

void cnnvp_rv32_get_stats(const struct cnnvp_rv32 *core, struct cnnvp_rv32_stats *stats)
{
    *stats = core->stats;
    rv32_add_counts(core, stats);
    stats->slots -= core->in_progress;
    stats->retired = stats->slots - core->stats.exceptions;
    stats->cycles = core->run_base + core->executed + core->stats.idle_cycles;
}
