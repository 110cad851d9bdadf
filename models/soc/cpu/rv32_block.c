/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of decoded blocks: bounded storage, dropped as a whole when it is full. Every granule of RAM that holds
 * code of a block is flagged, and so is the granule before it, because a misaligned store that begins there may reach
 * into the code.
 */
#include <stdlib.h>

#include "rv32_internal.h"

int rv32_cache_init(struct cnnvp_rv32 *core)
{
    /* The extra elements are for the scratch block. */
    core->ops = calloc(RV32_OPS + RV32_BLOCK_MAX + 2u, sizeof *core->ops);
    core->codes = calloc(RV32_OPS + RV32_BLOCK_MAX + 2u, sizeof *core->codes);
    core->blocks = calloc(RV32_BLOCKS, sizeof *core->blocks);
    core->hash = calloc(RV32_HASH, sizeof(struct rv32_block *));
    if (core->ops == NULL || core->codes == NULL || core->blocks == NULL || core->hash == NULL)
        return -1;
    core->sentinel.pc = 1;
    core->sentinel.last = INT32_MAX;
    for (unsigned i = 0; i < RV32_HASH; ++i)
        core->hash[i] = &core->sentinel;
    return 0;
}

void rv32_cache_fini(struct cnnvp_rv32 *core)
{
    free(core->ops);
    free(core->codes);
    free(core->blocks);
    free(core->hash);
}

static uint32_t hash_of(uint32_t pc)
{
    return pc >> 1 & (RV32_HASH - 1u);
}

struct rv32_region *rv32_region_at(struct cnnvp_rv32 *core, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < core->regions; ++i) {
        struct rv32_region *region = &core->region[i];
        uint32_t offset = address - region->base;
        if (offset < region->size && size <= region->size - offset)
            return region;
    }
    return NULL;
}

static void set_code_flags(struct rv32_region *region, uint32_t first, uint32_t last, uint8_t clear, uint8_t set)
{
    uint32_t end = last >> RV32_GRANULE_SHIFT;
    uint32_t begin = first >> RV32_GRANULE_SHIFT;
    if (begin > 0)
        --begin;
    for (uint32_t granule = begin; granule <= end; ++granule)
        region->flags[granule] = (uint8_t)((region->flags[granule] & ~clear) | set);
}

static uint32_t block_bytes(const struct rv32_block *block)
{
    return block->target[0] - block->pc;
}

void rv32_flush(struct cnnvp_rv32 *core)
{
    for (uint32_t i = 0; i < core->blocks_used; ++i) {
        struct rv32_block *block = &core->blocks[i];
        struct rv32_region *region = rv32_region_at(core, block->pc & ~1u, 1);
        if (region == NULL)
            continue;
        uint32_t offset = (block->pc & ~1u) - region->base;
        set_code_flags(region, offset, offset + block_bytes(block) - 1u, RV32_FLAG_CODE, 0);
        region->heads[offset >> RV32_GRANULE_SHIFT] = NULL;
    }
    for (unsigned i = 0; i < RV32_HASH; ++i)
        core->hash[i] = &core->sentinel;
    core->blocks_used = 0;
    core->ops_used = 0;
    ++core->generation;
}

/* Makes all links and the hash table miss the block. Its memory is used again only after the next flush. */
static void invalidate_block(struct cnnvp_rv32 *core, struct rv32_block *block)
{
    struct rv32_block **place = &core->hash[hash_of(block->pc)];
    while (*place != block)
        place = &(*place)->hash_next;
    *place = block->hash_next;
    block->pc |= 1u;
    block->target[0] |= 1u; /* keeps block_bytes right */
    block->last = INT32_MAX;
    core->attention = 1;
}

/* Drops the blocks of one granule that overlap [offset, offset + size). */
static void drop_in_granule(struct cnnvp_rv32 *core, struct rv32_region *region, uint32_t granule, uint32_t offset,
                            uint32_t size)
{
    struct rv32_block **place = &region->heads[granule];
    while (*place != NULL) {
        struct rv32_block *block = *place;
        uint32_t begin = block->pc - region->base;
        if (begin < offset + size && offset < begin + block_bytes(block)) {
            *place = block->granule_next;
            invalidate_block(core, block);
        } else {
            place = &block->granule_next;
        }
    }
}

void rv32_drop(struct cnnvp_rv32 *core, struct rv32_region *region, uint32_t offset, uint32_t size)
{
    uint32_t granules = region->size >> RV32_GRANULE_SHIFT;
    uint32_t first = offset >> RV32_GRANULE_SHIFT;
    uint32_t last = (offset + size - 1u) >> RV32_GRANULE_SHIFT;
    uint32_t begin = first > 0 ? first - 1u : 0;
    for (uint32_t granule = begin; granule <= last && granule < granules; ++granule)
        drop_in_granule(core, region, granule, offset, size);
    /* A granule is data again if neither it nor a neighbour holds a block. */
    for (uint32_t granule = first; granule <= last && granule < granules; ++granule) {
        int code = region->heads[granule] != NULL;
        code |= granule > 0 && region->heads[granule - 1u] != NULL;
        code |= granule + 1u < granules && region->heads[granule + 1u] != NULL;
        if (!code)
            region->flags[granule] &= (uint8_t)~RV32_FLAG_CODE;
    }
}

static int ends_block(enum rv32_op_code code)
{
    return code >= RV32_OP_BEQ && code != RV32_OP_NOP;
}

static void put_op(struct cnnvp_rv32 *core, struct rv32_op *op, enum rv32_op_code code)
{
    op->handler = core->handlers[code];
    core->codes[op - core->ops] = (uint8_t)code;
}

/* Appends an operation. */
static void add_op(struct cnnvp_rv32 *core, struct rv32_block *block, enum rv32_op_code code)
{
    put_op(core, &block->ops[block->count++], code);
    block->last = (int32_t)block->bill.spent;
    block->bill.work += core->bill[code].work;
    block->bill.spent += core->bill[code].spent;
}

/* 1 if the second half of the instruction at pc is outside the region. */
static int crosses_end(const struct rv32_region *region, uint32_t pc)
{
    const uint32_t offset = pc - region->base;
    return region->size - offset < 4 && (rv32_get16(region->host + offset) & 3u) == 3u;
}

/* Reads an instruction: `raw` as it stands in memory, `insn` expanded. Returns its length. */
static unsigned fetch(const struct rv32_region *region, uint32_t offset, uint32_t *insn, uint32_t *raw)
{
    *raw = rv32_get16(region->host + offset);
    if ((*raw & 3u) != 3u) {
        *insn = rv32_expand((uint16_t)*raw);
        return 2;
    }
    *raw = *insn = rv32_get32(region->host + offset);
    return 4;
}

/* 1 if bus.memory has to be asked for the code at pc. */
static int is_slow(const struct cnnvp_rv32 *core, uint32_t pc)
{
    return core->config.bus.memory != NULL && rv32_fast_at(core, pc, 2) == NULL;
}

/* Decodes from block->pc in region up to a jump, the end of the granule or of the code that is fetched at once, a stop,
 * or `max` operations. */
static void decode_block(struct cnnvp_rv32 *core, struct rv32_block *block, const struct rv32_region *region,
                         uint32_t max)
{
    uint32_t pc = block->pc;
    const int slow = is_slow(core, pc);
    const uint32_t at_once = slow ? core->config.fetch_bytes : CNNVP_RV32_GRANULE;
    const uint32_t piece = pc / at_once;
    enum rv32_op_code code = RV32_OP_FALL;
    block->target[1] = pc;
    if (slow) {
        block->ops[0] = (struct rv32_op){.imm = RV32_TWO_PIECES};
        add_op(core, block, RV32_OP_LINE);
        ++max;
    }
    do {
        if (crosses_end(region, pc))
            break;
        uint32_t insn, raw;
        struct rv32_op *op = &block->ops[block->count];
        const unsigned length = fetch(region, pc - region->base, &insn, &raw);
        if (slow && block->count > 1 && (pc + length - 1u) / at_once != piece)
            break; /* begins a block of its own, which asks for both pieces */
        code = rv32_decode(core, insn, raw, pc, length, op, &block->target[1]);
        op->offset = (uint8_t)((pc - block->pc) >> 1);
        add_op(core, block, code);
        pc += length;
    } while (!ends_block(code) && block->count < max && pc / at_once == piece && pc - region->base < region->size &&
             !rv32_stops_at(core, pc));
    if (slow && (pc - 1u) / at_once == piece)
        block->ops[0].imm = piece;
    block->target[0] = pc;
    block->ops[block->count] = (struct rv32_op){.offset = (uint8_t)((pc - block->pc) >> 1)};
    put_op(core, &block->ops[block->count], RV32_OP_FALL);
}

static void clear_block(struct cnnvp_rv32 *core, struct rv32_block *block)
{
    block->count = 0;
    block->last = 0;
    block->bill = (struct rv32_bill){0, 0};
    block->link[0] = &core->sentinel;
    block->link[1] = &core->sentinel;
    block->hash_next = NULL;
    block->granule_next = NULL;
}

static struct rv32_block *new_block(struct cnnvp_rv32 *core, struct rv32_region *region, uint32_t pc)
{
    if (core->blocks_used == RV32_BLOCKS || RV32_OPS - core->ops_used < RV32_BLOCK_MAX + 2u)
        rv32_flush(core);
    struct rv32_block *block = &core->blocks[core->blocks_used++];
    uint32_t offset = pc - region->base;
    struct rv32_block **head = &region->heads[offset >> RV32_GRANULE_SHIFT];
    struct rv32_block **bucket = &core->hash[hash_of(pc)];
    block->pc = pc;
    block->ops = &core->ops[core->ops_used];
    clear_block(core, block);
    decode_block(core, block, region, RV32_BLOCK_MAX);
    core->ops_used += block->count + 1u;
    set_code_flags(region, offset, offset + block_bytes(block) - 1u, 0, RV32_FLAG_CODE);
    block->granule_next = *head;
    *head = block;
    block->hash_next = *bucket;
    *bucket = block;
    return block;
}

/* The scratch block, with room for one full block. */
static struct rv32_block *scratch(struct cnnvp_rv32 *core, uint32_t pc)
{
    struct rv32_block *block = &core->scratch;
    block->pc = pc;
    block->ops = &core->ops[RV32_OPS];
    clear_block(core, block);
    return block;
}

/* The instructions of a block that begin within `limit` cycles, as the scratch block. */
static struct rv32_block *cut(struct cnnvp_rv32 *core, const struct rv32_block *from, int32_t limit)
{
    struct rv32_block *block = scratch(core, from->pc);
    while (block->count < from->count && (int32_t)block->bill.spent < limit) {
        const struct rv32_op *op = &from->ops[block->count];
        block->ops[block->count] = *op;
        add_op(core, block, (enum rv32_op_code)core->codes[op - core->ops]);
    }
    const uint32_t count = block->count;
    block->ops[count] = from->ops[count];
    put_op(core, &block->ops[count], RV32_OP_CUT);
    block->target[0] = from->pc + 2u * from->ops[count].offset;
    return block;
}

int rv32_fetch_half(struct cnnvp_rv32 *core, uint32_t address, uint16_t *half)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    const struct rv32_region *region = rv32_region_at(core, address, 2);
    if (region != NULL)
        *half = (uint16_t)rv32_get16(region->host + (address - region->base));
    return region != NULL || (bus->fetch != NULL && bus->fetch(bus->context, address, half) == 0);
}

/* The scratch block with one instruction that is not, or not as a whole, in RAM: fetched by the bus. */
static struct rv32_block *fetch_block(struct cnnvp_rv32 *core)
{
    struct rv32_block *block = scratch(core, core->pc);
    enum rv32_op_code code = RV32_OP_FETCH_FAULT;
    uint16_t low, high = 0;
    unsigned length = 2;
    block->ops[0] = (struct rv32_op){.imm = core->pc, .rd = RV32_DISCARD};
    if (rv32_fetch_half(core, core->pc, &low)) {
        length = (low & 3u) == 3u ? 4 : 2;
        if (length == 2 || rv32_fetch_half(core, core->pc + 2u, &high)) {
            uint32_t raw = low | (uint32_t)high << 16;
            uint32_t insn = length == 2 ? rv32_expand(low) : raw;
            code = rv32_decode(core, insn, raw, core->pc, length, &block->ops[0], &block->target[1]);
        } else {
            block->ops[0].imm = core->pc + 2u;
        }
    }
    add_op(core, block, code);
    block->target[0] = core->pc + length;
    block->ops[1] = (struct rv32_op){.offset = (uint8_t)(length >> 1)};
    put_op(core, &block->ops[1], RV32_OP_CUT);
    return block;
}

/* Finds a block, and moves it to the front of its bucket, the only place where the interpreter looks by itself. */
static struct rv32_block *find_cached(struct cnnvp_rv32 *core, uint32_t pc)
{
    struct rv32_block **bucket = &core->hash[hash_of(pc)];
    struct rv32_block **place = bucket;
    while (*place != NULL && (*place)->pc != pc)
        place = &(*place)->hash_next;
    struct rv32_block *block = *place;
    if (block != NULL && place != bucket) {
        *place = block->hash_next;
        block->hash_next = *bucket;
        *bucket = block;
    }
    return block;
}

/* At an instruction with a stop: reports the stop and returns the sentinel. If that was reported already, returns the
 * instruction alone. */
static struct rv32_block *find_stop(struct cnnvp_rv32 *core, uint32_t pc)
{
    struct rv32_region *region = rv32_region_at(core, pc, 2);
    struct rv32_block *block = &core->sentinel;
    if (!core->debug.pass || core->debug.hit_address != pc) {
        core->debug.hit = 1;
        core->debug.hit_kind = CNNVP_RV32_ON_EXECUTE;
        core->debug.hit_address = pc;
        core->attention = 1;
    } else if (region == NULL || crosses_end(region, pc)) {
        block = fetch_block(core);
    } else {
        block = scratch(core, pc);
        decode_block(core, block, region, 1);
    }
    core->debug.pass = 0;
    return block;
}

struct rv32_block *rv32_find(struct cnnvp_rv32 *core)
{
    const int32_t limit = (int32_t)(core->granted - core->executed);
    uint32_t pc = core->pc;
    struct rv32_block *block = find_cached(core, pc);
    if (block == NULL) {
        if (core->debug.stops != 0 && rv32_stops_at(core, pc))
            return find_stop(core, pc);
        struct rv32_region *region = rv32_region_at(core, pc, 2);
        if (region == NULL || crosses_end(region, pc))
            return fetch_block(core);
        block = new_block(core, region, pc);
    }
    return block->last < limit ? block : cut(core, block, limit);
}
