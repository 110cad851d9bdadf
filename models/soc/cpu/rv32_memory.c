/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads, stores and atomics outside the interpreter's fast path: devices, other regions, code, tohost. Called with
 * core->pc and core->executed as they are before the instruction.
 */
#include "rv32_internal.h"

const struct cnnvp_rv32_range *rv32_fast_at(const struct cnnvp_rv32 *core, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < core->fast_ranges; ++i) {
        uint32_t offset = address - core->fast[i].base;
        if (offset < core->fast[i].size && size <= core->fast[i].size - offset)
            return &core->fast[i];
    }
    return NULL;
}

void rv32_close_windows(struct cnnvp_rv32 *core)
{
    core->window[0].limit = core->window[1].limit = core->cached.limit = 0;
    core->window[0].base = UINT32_MAX; /* the base of no range, so that each can be opened again */
}

/* Opens a window to the part of a fast range that lies in the region. */
static void open_window(struct cnnvp_rv32 *core, const struct rv32_region *region, uint32_t base, uint32_t size)
{
    uint32_t offset = base - region->base;
    if (core->debug.on_data != 0 || core->window[0].base == base)
        return;
    core->window[1] = core->window[0];
    core->window[0] =
        (struct rv32_window){base, size - 3u, region->host + offset, region->flags + (offset >> RV32_GRANULE_SHIFT)};
}

/* Before a data access to RAM: opens a window if the memory is fast, otherwise asks bus.memory, which may take time.
 * Returns 0, or another value for an access fault. */
static int reach(struct cnnvp_rv32 *core, const struct rv32_region *region, enum cnnvp_rv32_access access,
                 uint32_t address, unsigned size)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    if (bus->memory == NULL) {
        open_window(core, region, region->base, region->size);
        return 0;
    }
    const struct cnnvp_rv32_range *fast = rv32_fast_at(core, address, size);
    if (fast == NULL)
        return bus->memory(bus->context, access, address, size);
    uint32_t end = fast->base + (fast->size - 1u), last = region->base + (region->size - 1u);
    uint32_t base = fast->base > region->base ? fast->base : region->base;
    open_window(core, region, base, (end < last ? end : last) - base + 1u);
    return 0;
}

static enum rv32_after after(const struct cnnvp_rv32 *core)
{
    return core->attention ? RV32_LEAVE : RV32_NEXT;
}

static enum rv32_after bus_load(struct cnnvp_rv32 *core, uint32_t address, unsigned size, uint32_t fault,
                                uint32_t *value)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    if (address & (size - 1u))
        return rv32_raise(core, CNNVP_RV32_LOAD_MISALIGNED, address);
    ++core->stats.mmio;
    if (bus->load == NULL || bus->load(bus->context, address, size, value) != 0)
        return rv32_raise(core, fault, address);
    return after(core);
}

static unsigned size_of(enum rv32_op_code code)
{
    if (code == RV32_OP_LW || code == RV32_OP_SW)
        return 4;
    return code == RV32_OP_LB || code == RV32_OP_LBU || code == RV32_OP_SB ? 1 : 2;
}

static uint32_t extended(enum rv32_op_code code, uint32_t got)
{
    return code == RV32_OP_LB ? (uint32_t)(int8_t)got : code == RV32_OP_LH ? (uint32_t)(int16_t)got : got;
}

int rv32_hit(struct cnnvp_rv32 *core, enum rv32_op_code code, const struct rv32_op *op, uint32_t address)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    const int stores = code >= RV32_OP_SB;
    unsigned size = size_of(code);
    const struct rv32_region *region = rv32_region_at(core, address, size);
    if (region == NULL || core->debug.on_data != 0 || rv32_fast_at(core, address, size) != NULL)
        return 0;
    uint32_t offset = address - region->base;
    if (stores && region->flags[offset >> RV32_GRANULE_SHIFT] != 0)
        return 0;
    if (!bus->hit(bus->context, stores ? CNNVP_RV32_WRITE : CNNVP_RV32_READ, address, size))
        return 0;
    if (bus->there.lines != NULL)
        core->cached = (struct rv32_window){region->base, region->size - 3u, region->host, region->flags};
    if (stores)
        rv32_put(region->host + offset, size, core->x[op->rs2]);
    else
        core->x[op->rd] = extended(code, rv32_get(region->host + offset, size));
    return 1;
}

/* A load, or that of an atomic; an access fault has the cause `fault`. */
static enum rv32_after load(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t address, uint32_t fault,
                            uint32_t *value)
{
    unsigned size = size_of(code);
    const struct rv32_region *region = rv32_region_at(core, address, size);
    const unsigned unmapped = core->unmapped;
    enum rv32_after result = RV32_NEXT;
    uint32_t got = 0;
    if (region != NULL) {
        if (reach(core, region, CNNVP_RV32_READ, address, size) != 0)
            return rv32_raise(core, fault, address);
        if (core->unmapped != unmapped)
            return load(core, code, address, fault, value);
        got = rv32_get(region->host + (address - region->base), size);
        result = after(core);
    } else {
        result = bus_load(core, address, size, fault, &got);
    }
    if (result == RV32_TRAP)
        return result;
    if (core->debug.on_data != 0)
        rv32_accessed(core, CNNVP_RV32_ON_READ, address, size);
    *value = extended(code, got);
    return core->debug.hit ? RV32_LEAVE : result;
}

enum rv32_after rv32_load(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t address, uint32_t *value)
{
    return load(core, code, address, CNNVP_RV32_LOAD_FAULT, value);
}

static void tohost_written(struct cnnvp_rv32 *core, const uint8_t *host)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    uint32_t word = rv32_get32(host);
    if (word == 0)
        return;
    if (bus->tohost != NULL)
        bus->tohost(bus->context, word);
    else if (word & 1u)
        cnnvp_rv32_exit(core, word >> 1);
}

static enum rv32_after ram_store(struct cnnvp_rv32 *core, struct rv32_region *region, unsigned size, uint32_t address,
                                 uint32_t value)
{
    uint32_t offset = address - region->base;
    uint32_t tohost = core->tohost - region->base;
    const unsigned unmapped = core->unmapped;
    if (reach(core, region, CNNVP_RV32_WRITE, address, size) != 0)
        return rv32_raise(core, CNNVP_RV32_STORE_FAULT, address);
    if (core->unmapped != unmapped)
        return rv32_store(core, size, address, value);
    rv32_put(region->host + offset, size, value);
    if (region->flags[offset >> RV32_GRANULE_SHIFT] & RV32_FLAG_CODE)
        rv32_drop(core, region, offset, size);
    if (core->debug.on_data != 0)
        rv32_accessed(core, CNNVP_RV32_ON_WRITE, address, size);
    if (core->tohost_set && tohost < region->size && offset < tohost + 4u && tohost < offset + size)
        tohost_written(core, region->host + tohost);
    return after(core);
}

enum rv32_after rv32_store(struct cnnvp_rv32 *core, unsigned size, uint32_t address, uint32_t value)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    struct rv32_region *region = rv32_region_at(core, address, size);
    if (region != NULL)
        return ram_store(core, region, size, address, value);
    if (address & (size - 1u))
        return rv32_raise(core, CNNVP_RV32_STORE_MISALIGNED, address);
    ++core->stats.mmio;
    if (size < 4)
        value &= (1u << 8u * size) - 1u;
    if (bus->store == NULL || bus->store(bus->context, address, size, value) != 0)
        return rv32_raise(core, CNNVP_RV32_STORE_FAULT, address);
    if (core->debug.on_data != 0)
        rv32_accessed(core, CNNVP_RV32_ON_WRITE, address, size);
    return after(core);
}

/* Unprivileged ISA 20191213, section 8.4; operation in bits 31:27. */
static uint32_t amo_result(uint32_t insn, uint32_t old, uint32_t operand)
{
    int less = (int32_t)old < (int32_t)operand;
    switch (insn >> 27) {
    case 0x00:
        return old + operand;
    case 0x01:
        return operand;
    case 0x04:
        return old ^ operand;
    case 0x08:
        return old | operand;
    case 0x0c:
        return old & operand;
    case 0x10:
        return less ? old : operand;
    case 0x14:
        return less ? operand : old;
    case 0x18:
        return old < operand ? old : operand;
    default:
        return old < operand ? operand : old; /* 0x1c, maximum unsigned */
    }
}

static enum rv32_after store_conditional(struct cnnvp_rv32 *core, uint32_t address, uint32_t operand, uint32_t *value)
{
    const int holds = core->reserved && core->reserved_address == address;
    core->reserved = 0;
    const enum rv32_after stored = holds ? rv32_store(core, 4, address, operand) : RV32_NEXT;
    if (stored != RV32_TRAP)
        *value = !holds;
    return stored;
}

/* Outside RAM an atomic is a read and a write at the bus, between which nothing else of this core comes. */
enum rv32_after rv32_atomic(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t insn, uint32_t *value)
{
    const uint32_t address = core->x[insn >> 15 & 31u], operand = core->x[insn >> 20 & 31u];
    const int is_load = code == RV32_OP_LR;
    uint32_t old = 0;
    if (address & 3u)
        return rv32_raise(core, is_load ? CNNVP_RV32_LOAD_MISALIGNED : CNNVP_RV32_STORE_MISALIGNED, address);
    if (code == RV32_OP_SC)
        return store_conditional(core, address, operand, value);
    const uint32_t fault = is_load ? CNNVP_RV32_LOAD_FAULT : CNNVP_RV32_STORE_FAULT;
    enum rv32_after done = load(core, RV32_OP_LW, address, fault, &old);
    if (done == RV32_TRAP)
        return done;
    if (is_load) {
        core->reserved = 1;
        core->reserved_address = address;
    } else {
        done = rv32_store(core, 4, address, amo_result(insn, old, operand));
    }
    if (done != RV32_TRAP)
        *value = old;
    return done;
}
