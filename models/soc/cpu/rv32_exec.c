/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter: threaded code over decoded blocks. Each operation holds the address of its code and jumps straight
 * to its successor.
 *
 * The instructions of a block are counted by class when it is entered, and the extra cycles of a branch when it is
 * taken. Code that leaves a block early takes back what was not executed. So nothing is counted per instruction, and
 * still all counts are exact.
 */
#include "rv32_arith.h"
#include "rv32_internal.h"

/* Threaded code needs labels as values, an extension of GCC and Clang. */
#pragma GCC diagnostic ignored "-Wpedantic"
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define NOT_INLINE __attribute__((noinline))

/* Between two instructions: returns 1 and a reason if run() ends here; otherwise takes an interrupt that is due. */
static NOT_INLINE int at_boundary(struct cnnvp_rv32 *core, enum cnnvp_rv32_reason *reason)
{
    const int spinning = core->spinning;
    core->spinning = 0;
    core->attention = 0;
    rv32_add_counts(core, &core->stats);
    core->work = core->counted = 0;
    if (core->exit) {
        *reason = CNNVP_RV32_EXIT;
        core->exit = core->stop = 0;
        return 1;
    }
    if (core->stop) {
        *reason = CNNVP_RV32_STOPPED;
        core->stop = 0;
        return 1;
    }
    if (core->double_fault) {
        *reason = CNNVP_RV32_DOUBLE_FAULT;
        return 1;
    }
    if (core->debug.hit) {
        core->debug.hit = 0;
        core->debug.pass = core->debug.hit_kind == CNNVP_RV32_ON_EXECUTE;
        *reason = CNNVP_RV32_HIT;
        return 1;
    }
    if (core->waiting && rv32_pending(core) != 0)
        core->waiting = 0;
    if (core->waiting) {
        *reason = CNNVP_RV32_WFI;
        return 1;
    }
    if (spinning && !(rv32_pending(core) != 0 && core->csr[RV32_CSR_mstatus] & RV32_MSTATUS_MIE)) {
        *reason = CNNVP_RV32_IDLE_LOOP;
        return 1;
    }
    if (core->executed >= core->limit) {
        *reason = CNNVP_RV32_BUDGET;
        return 1;
    }
    rv32_interrupt(core);
    return 0;
}

/* The bill of the operations of a block after number `index`. */
static struct rv32_bill bill_after(const struct cnnvp_rv32 *core, const struct rv32_block *block, uint32_t index)
{
    struct rv32_bill bill = {0, 0};
    for (uint32_t i = index + 1u; i < block->count; ++i) {
        const struct rv32_bill *each = &core->bill[core->codes[&block->ops[i] - core->ops]];
        bill.work += each->work;
        bill.spent += each->spent;
    }
    return bill;
}

/* Updates the cycles of the run: those granted minus those left, which may be negative after the last instruction. The
 * upper half of `left` has the counts beside them. Not inline, so that chains of blocks do not keep the lower half in
 * one more register. */
static NOT_INLINE void note(struct cnnvp_rv32 *core, uint64_t left)
{
    const uint64_t cycles = (uint64_t)(int64_t)(int32_t)left;
    core->executed = core->granted - cycles;
    core->counted = left - cycles;
}

/* Sets pc and executed as before the instruction at ip; `spent` is the cost of that instruction and all after it. */
static inline void sync_before(struct cnnvp_rv32 *core, const struct rv32_block *block, const struct rv32_op *ip,
                               uint64_t spent, uint64_t left)
{
    core->pc = block->pc + 2u * ip->offset;
    note(core, left + spent);
}

static NOT_INLINE void tell_call(struct cnnvp_rv32 *core, enum cnnvp_rv32_call kind, const struct rv32_block *block,
                                 const struct rv32_op *ip, uint32_t to, uint64_t left)
{
    note(core, left);
    core->config.bus.call(core->config.bus.context, kind, block->pc + 2u * ip->offset, to,
                          kind == CNNVP_RV32_CALL ? block->target[0] : 0);
}

static NOT_INLINE void do_system(struct cnnvp_rv32 *core, enum rv32_op_code code, const struct rv32_block *block,
                                 const struct rv32_op *ip, uint64_t left)
{
    sync_before(core, block, ip, core->bill[code].spent, left);
    rv32_system(core, code, ip->imm, block->target[0]);
}

/* A memory operation that takes the slow path. */
struct slow {
    const struct rv32_block *block;
    const struct rv32_op *ip;
    uint32_t address;
    uint64_t left;
};

/* Executes a memory operation on the slow path. 0: go on with the next operation. Otherwise the core is at an
 * instruction boundary. */
static NOT_INLINE int slow_memory(struct cnnvp_rv32 *core, struct slow *s)
{
    const struct rv32_op *ip = s->ip;
    enum rv32_op_code code = (enum rv32_op_code)core->codes[ip - core->ops];
    uint32_t index = (uint32_t)(ip - s->block->ops);
    uint32_t pc = s->block->pc, count = s->block->count; /* the operation may make the block invalid */
    const struct rv32_bill behind = bill_after(core, s->block, index);
    enum rv32_after after;
    sync_before(core, s->block, ip, behind.spent + core->bill[code].spent, s->left);
    core->work -= behind.work; /* callbacks may look at the statistics, and the run may end in one */
    if (rv32_profiled(core))
        rv32_profile_leave(core, ip - index, pc, index, count);
    core->in_progress = 1;
    if (code >= RV32_OP_LR)
        after = rv32_atomic(core, code, ip->imm, &core->x[ip->rd]);
    else if (code >= RV32_OP_SB)
        after = rv32_store(core, code == RV32_OP_SW ? 4 : code == RV32_OP_SH ? 2 : 1, s->address, core->x[ip->rs2]);
    else
        after = rv32_load(core, code, s->address, &core->x[ip->rd]);
    core->in_progress = 0;
    if (rv32_profiled(core))
        rv32_profile_go_on(core, ip - index, pc, index, after == RV32_NEXT ? count : index + 1u);
    if (after == RV32_NEXT) {
        core->work += behind.work;
        return 0;
    }
    core->executed += rv32_cycles(core, code);
    if (after == RV32_TRAP)
        rv32_exception(core);
    else
        core->pc = pc + 2u * ip[1].offset;
    return 1;
}

/* Asks for the code of a block that has just been entered. 0: go on with the block. Otherwise the core is at an
 * instruction boundary, and none of the block's instructions has begun. */
static NOT_INLINE int fetch_code(struct cnnvp_rv32 *core, const struct rv32_block *block, uint64_t left)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    const uint32_t pc = block->pc, size = block->target[0] - pc;
    int status;
    if (bus->hit != NULL && bus->hit(bus->context, CNNVP_RV32_FETCH, pc, size))
        return 0;
    sync_before(core, block, block->ops, block->bill.spent, left);
    core->work -= block->bill.work;
    if (rv32_profiled(core))
        rv32_profile_leave(core, block->ops, pc, 0, block->count);
    status = bus->memory(bus->context, CNNVP_RV32_FETCH, pc, size);
    if (status != 0) {
        core->work += RV32_INSTRUCTION;
        ++core->executed;
        if (rv32_profiled(core))
            rv32_profile_more(core, pc, 1, 1);
        (void)rv32_raise(core, CNNVP_RV32_FETCH_FAULT, pc);
        rv32_exception(core);
        return 1;
    }
    if (core->attention)
        return 1;
    core->work += block->bill.work;
    if (rv32_profiled(core))
        rv32_profile_go_on(core, block->ops, pc, 0, block->count);
    return 0;
}

/* 0: a stop, or the end of the simulation, instead of a block. What else happens while the bus fetches an instruction
 * is seen after this instruction. */
static int is_found(const struct cnnvp_rv32 *core)
{
    return !core->debug.hit && !core->stop;
}

#define RD x[ip->rd]
#define RS1 x[ip->rs1]
#define RS2 x[ip->rs2]
#define IMM ip->imm

#define TARGET(name) L_##name:
#define DISPATCH() goto *(void *)ip->handler

/* Cycles that are left. */
#define BUDGET ((int32_t)left)

/* clang-format off: labels and jumps of the interpreter */
#define NEXT()      \
    do {            \
        ++ip;       \
        DISPATCH(); \
    } while (0)

#define ENTER(next)                     \
    do {                                \
        block = (next);                 \
        left -= block->bill.spent;      \
        core->work += block->bill.work; \
        ip = block->ops;                \
        DISPATCH();                     \
    } while (0)

/* Goes on with the block at link `which`. */
#define CHAIN(which)                                   \
    do {                                               \
        uint32_t slot_ = (which);                      \
        struct rv32_block *next_ = block->link[slot_]; \
        if (LIKELY(BUDGET > next_->last))              \
            ENTER(next_);                              \
        slot = slot_;                                  \
        goto unlinked;                                 \
    } while (0)

#define LOAD_WINDOW()                   \
    do {                                \
        base = core->window[0].base;    \
        window = core->window[0].limit; \
        host = core->window[0].host;    \
        flags = core->window[0].flags;  \
    } while (0)

/* While the bus fetches code, memory may be unmapped. */
#define FIND()                       \
    do {                             \
        found = rv32_find(core);     \
        if (found == &core->scratch) \
            LOAD_WINDOW();           \
    } while (0)

#define OTHER_WINDOW(name, offset, address)            \
    const struct rv32_window *name = &core->window[1]; \
    offset = (address)-name->base

#define CACHED(address) (core->cached.host + ((address)-core->cached.base))

static const uintptr_t *interpret(struct cnnvp_rv32 *core, enum cnnvp_rv32_reason *reason)
{
#define OP_ALU(name, result) (uintptr_t) && L_##name,
#define OP_LOAD(name, bytes, type) (uintptr_t) && L_##name,
#define OP_STORE(name, bytes) (uintptr_t) && L_##name,
#define OP_ATOMIC(name) (uintptr_t) && L_##name,
#define OP_BRANCH(name, taken) (uintptr_t) && L_##name,
#define OP_SYSTEM(name) (uintptr_t) && L_##name,
#define OP_CONTROL(name) (uintptr_t) && L_##name,
    static const uintptr_t handlers[RV32_OP_COUNT] = {
#include "rv32_op.def"
    };
    if (core == NULL)
        return handlers;

    uint32_t *const x = core->x;
    const struct rv32_op *ip;
    struct rv32_block *block = &core->sentinel;
    struct rv32_block *found;
    uint32_t base, window, slot, generation;
    uint64_t left;
    uint8_t *host, *flags;
    struct slow slow;
    LOAD_WINDOW();

boundary: /* core->pc and core->executed are up to date */
    if (at_boundary(core, reason))
        return handlers;
    left = core->limit - core->executed < RV32_CHUNK ? core->limit - core->executed : RV32_CHUNK;
    core->granted = core->executed + left;
    goto resolve;

unlinked: /* link `slot` of block leads nowhere, or needs more cycles than are left */
    core->pc = block->target[slot];
    note(core, left);
    if (slot == 1u && rv32_profiled(core))
        rv32_profile_taken(core, block);
    if (core->executed >= core->granted || core->attention)
        goto boundary;
    generation = core->generation;
    FIND();
    if (found != &core->scratch && generation == core->generation && !rv32_profiled(core))
        block->link[slot] = found;
    if (!is_found(core))
        goto boundary;
    if (rv32_profiled(core))
        rv32_profile_go_on(core, found->ops, found->pc, 0, found->count);
    ENTER(found);

resolve: /* core->pc is up to date */
    note(core, left);
    if (core->executed >= core->granted || core->attention)
        goto boundary;
    FIND();
    if (!is_found(core))
        goto boundary;
    if (rv32_profiled(core))
        rv32_profile_go_on(core, found->ops, found->pc, 0, found->count);
    ENTER(found);

slow:
    core->stats.asked += 1u + (core->codes[ip - core->ops] == RV32_OP_AMO);
    if (core->config.bus.hit != NULL && core->codes[ip - core->ops] < RV32_OP_LR &&
        rv32_hit(core, (enum rv32_op_code)core->codes[ip - core->ops], ip, slow.address))
        NEXT();
    slow.block = block;
    slow.ip = ip;
    slow.left = left;
    if (slow_memory(core, &slow)) {
        LOAD_WINDOW();
        goto boundary;
    }
    LOAD_WINDOW();
    NEXT();

#define OP_ALU(name, result) \
    TARGET(name)             \
    {                        \
        RD = (result);       \
        NEXT();              \
    }
#define OP_LOAD(name, bytes, type)                                        \
    TARGET(name)                                                          \
    {                                                                     \
        uint32_t at_ = RS1 + IMM;                                         \
        uint32_t offset_ = at_ - base;                                    \
        if (LIKELY(offset_ < window)) {                                   \
            RD = (uint32_t)(type)rv32_get(host + offset_, bytes);         \
            NEXT();                                                       \
        }                                                                 \
        OTHER_WINDOW(other_, offset_, at_);                               \
        if (LIKELY(offset_ < other_->limit)) {                            \
            RD = (uint32_t)(type)rv32_get(other_->host + offset_, bytes); \
            NEXT();                                                       \
        }                                                                 \
        if (rv32_is_there(core, at_, bytes, 0)) {                         \
            RD = (uint32_t)(type)rv32_get(CACHED(at_), bytes);            \
            NEXT();                                                       \
        }                                                                 \
        slow.address = at_;                                               \
        goto slow;                                                        \
    }
#define OP_STORE(name, bytes)                                                                               \
    TARGET(name)                                                                                            \
    {                                                                                                       \
        uint32_t at_ = RS1 + IMM;                                                                           \
        uint32_t offset_ = at_ - base;                                                                      \
        if (LIKELY(offset_ < window) && LIKELY(flags[offset_ >> RV32_GRANULE_SHIFT] == 0)) {                \
            rv32_put(host + offset_, bytes, RS2);                                                           \
            NEXT();                                                                                         \
        }                                                                                                   \
        OTHER_WINDOW(other_, offset_, at_);                                                                 \
        if (LIKELY(offset_ < other_->limit) && LIKELY(other_->flags[offset_ >> RV32_GRANULE_SHIFT] == 0)) { \
            rv32_put(other_->host + offset_, bytes, RS2);                                                   \
            NEXT();                                                                                         \
        }                                                                                                   \
        if (rv32_is_there(core, at_, bytes, 1)) {                                                           \
            rv32_put(CACHED(at_), bytes, RS2);                                                              \
            NEXT();                                                                                         \
        }                                                                                                   \
        slow.address = at_;                                                                                 \
        goto slow;                                                                                          \
    }
#define OP_ATOMIC(name)   \
    TARGET(name)          \
    {                     \
        slow.address = 0; \
        goto slow;        \
    }
/* Two jumps instead of one computed link, so that the host predicts each guest branch separately (700 against 410
 * MIPS). */
#define OP_BRANCH(name, condition) \
    TARGET(name)                   \
    {                              \
        if (condition) {           \
            left -= core->taken;   \
            CHAIN(1u);             \
        }                          \
        CHAIN(0u);                 \
    }
#define OP_SYSTEM(name)                                   \
    TARGET(name)                                          \
    {                                                     \
        do_system(core, RV32_OP_##name, block, ip, left); \
        LOAD_WINDOW();                                    \
        goto boundary;                                    \
    }
#define OP_CONTROL(name)
#include "rv32_op.def"

    TARGET(NOP)
    {
        NEXT();
    }
    TARGET(J)
    {
        CHAIN(1u);
    }
    TARGET(JAL)
    {
        RD = block->target[0];
        CHAIN(1u);
    }
    TARGET(JALR)
    {
        uint32_t to = (RS1 + IMM) & ~1u;
        RD = block->target[0];
        found = core->hash[to >> 1 & (RV32_HASH - 1u)];
        if (LIKELY(found->pc == to && BUDGET > found->last))
            ENTER(found);
        core->pc = to;
        goto resolve;
    }
    TARGET(JUMPR)
    {
        core->pc = (RS1 + IMM) & ~1u;
        RD = block->target[0];
        goto resolve;
    }
    TARGET(CALL)
    {
        RD = block->target[0];
        tell_call(core, CNNVP_RV32_CALL, block, ip, block->target[1], left);
        CHAIN(1u);
    }
    TARGET(CALLR)
    {
        core->pc = (RS1 + IMM) & ~1u;
        RD = block->target[0];
        tell_call(core, CNNVP_RV32_CALL, block, ip, core->pc, left);
        goto resolve;
    }
    TARGET(RETURN)
    {
        core->pc = (RS1 + IMM) & ~1u;
        RD = block->target[0];
        tell_call(core, CNNVP_RV32_RETURN, block, ip, core->pc, left);
        goto resolve;
    }
    TARGET(SPIN)
    {
        core->pc = block->target[1];
        note(core, left);
        core->spinning = 1;
        goto boundary;
    }
    TARGET(LINE)
    {
        if (LIKELY(IMM == core->config.bus.there.code[0] || IMM == core->config.bus.there.code[1]))
            NEXT();
        const int at_boundary_ = fetch_code(core, block, left);
        LOAD_WINDOW();
        if (at_boundary_)
            goto boundary;
        NEXT();
    }
    TARGET(FALL)
    {
        CHAIN(0u);
    }
    TARGET(CUT)
    {
        core->pc = block->target[0];
        note(core, left);
        goto boundary;
    }
}

/* clang-format on */

const uintptr_t *rv32_exec_handlers(void)
{
    return interpret(NULL, NULL);
}

enum cnnvp_rv32_reason rv32_exec(struct cnnvp_rv32 *core)
{
    enum cnnvp_rv32_reason reason = CNNVP_RV32_STOPPED;
    (void)interpret(core, &reason);
    return reason;
}
