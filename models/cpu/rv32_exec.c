/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter: threaded code over decoded blocks. Under GCC and Clang each operation holds the address of its
 * code and jumps straight to its successor; elsewhere the same bodies are cases of a switch.
 *
 * A block's instructions and memory accesses are counted when it is entered; whoever leaves it early gives back what
 * was not executed. So nothing is counted per instruction, and still all counts are exact.
 */
#include "rv32_arith.h"
#include "rv32_internal.h"

#if defined(__GNUC__)
#define THREADED 1
/* Labels as values are the extension that threaded code stands on; the switch below does without. */
#pragma GCC diagnostic ignored "-Wpedantic"
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define NOT_INLINE __attribute__((noinline))
#else
#define THREADED 0
#define LIKELY(condition) (condition)
#define NOT_INLINE
#endif

/* Slots handed to the inner loop at a time, less than UINT32_MAX, the count of blocks that are not valid. */
#define CHUNK 0x40000000u

static void tell_call(const struct cnnvp_rv32 *core, enum cnnvp_rv32_call kind, uint32_t from, uint32_t to,
                      uint32_t back)
{
    core->config.bus.call(core->config.bus.context, kind, from, to, back);
}

/* Between two instructions: 1 and a reason if run() ends here, otherwise takes an interrupt that is due. */
static int at_boundary(struct cnnvp_rv32 *core, int spinning, enum cnnvp_rv32_reason *reason)
{
    core->attention = 0;
    core->stats.loads += core->memory_count & UINT32_MAX;
    core->stats.stores += core->memory_count >> 32;
    core->memory_count = 0;
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

static uint64_t memory_behind(const struct cnnvp_rv32 *core, const struct rv32_block *block, uint32_t index)
{
    uint64_t memory = 0;
    for (uint32_t i = index + 1u; i < block->count; ++i)
        memory += rv32_memory_of((enum rv32_op_code)core->codes[&block->ops[i] - core->ops]);
    return memory;
}

/* Makes pc and executed those before the instruction at ip. count: instructions of the block when it was entered. */
static inline void sync_before(struct cnnvp_rv32 *core, uint32_t pc, const struct rv32_op *first,
                               const struct rv32_op *ip, uint32_t count, uint32_t budget)
{
    core->pc = pc + 2u * ip->offset;
    core->executed = core->granted - budget - (count - (uint32_t)(ip - first));
}

/* What a memory operation needs, and what it found. */
struct slow {
    const struct rv32_block *block;
    const struct rv32_op *ip;
    uint32_t pc;    /* of the block, from before the operation: the operation may invalidate it */
    uint32_t count; /* likewise */
    uint32_t address;
    uint32_t budget;
};

/* 0: go on with the next operation. Otherwise core is at an instruction boundary. */
static NOT_INLINE int slow_memory(struct cnnvp_rv32 *core, struct slow *s)
{
    const struct rv32_op *ip = s->ip;
    enum rv32_op_code code = (enum rv32_op_code)core->codes[ip - core->ops];
    uint32_t index = (uint32_t)(ip - s->block->ops);
    uint64_t behind;
    enum rv32_after after;
    s->pc = s->block->pc;
    s->count = s->block->count;
    behind = memory_behind(core, s->block, index);
    sync_before(core, s->pc, s->block->ops, ip, s->count, s->budget);
    core->memory_count -= behind; /* callbacks may look at the statistics */
    if (code >= RV32_OP_LR)
        after = rv32_atomic(core, code, ip->imm, &core->x[ip->rd]);
    else if (code >= RV32_OP_SB)
        after = rv32_store(core, code == RV32_OP_SW ? 4 : code == RV32_OP_SH ? 2 : 1, s->address, core->x[ip->rs2]);
    else
        after = rv32_load(core, code, s->address, &core->x[ip->rd]);
    if (after == RV32_NEXT) {
        core->memory_count += behind;
        return 0;
    }
    ++core->executed;
    if (rv32_profiled(core))
        rv32_profile_leave(core, ip - index, s->pc, index + 1u, s->count);
    if (after == RV32_TRAP)
        rv32_exception(core);
    else
        core->pc = s->pc + 2u * ip[1].offset;
    return 1;
}

#define RD x[ip->rd]
#define RS1 x[ip->rs1]
#define RS2 x[ip->rs2]
#define IMM ip->imm
#define FROM (block->pc + 2u * ip->offset)

#if THREADED
#define TARGET(name) L_##name:
#define DISPATCH() goto *(void *)ip->handler
#else
#define TARGET(name) case RV32_OP_##name:
#define DISPATCH() goto dispatch
#endif

/* clang-format off: labels and jumps of the interpreter */
#define NEXT()      \
    do {            \
        ++ip;       \
        DISPATCH(); \
    } while (0)

#define ENTER(next)                          \
    do {                                     \
        block = (next);                      \
        budget -= block->count;              \
        core->memory_count += block->memory; \
        ip = block->ops;                     \
        DISPATCH();                          \
    } while (0)

/* Goes on with the block that link `which` leads to. */
#define CHAIN(which)                                   \
    do {                                               \
        uint32_t slot_ = (which);                      \
        struct rv32_block *next_ = block->link[slot_]; \
        if (LIKELY(budget >= next_->count))            \
            ENTER(next_);                              \
        slot = slot_;                                  \
        goto unlinked;                                 \
    } while (0)

#define LOAD_WINDOW()                \
    do {                             \
        base = core->window_base;    \
        window = core->window_limit; \
        host = core->window_host;    \
        flags = core->window_flags;  \
    } while (0)

static const uintptr_t *interpret(struct cnnvp_rv32 *core, enum cnnvp_rv32_reason *reason)
{
#if THREADED
#define OP_ALU(name, result) (uintptr_t) && L_##name,
#define OP_LOAD(name, bytes, type) (uintptr_t) && L_##name,
#define OP_STORE(name, bytes) (uintptr_t) && L_##name,
#define OP_ATOMIC(name) (uintptr_t) && L_##name,
#define OP_BRANCH(name, taken) (uintptr_t) && L_##name,
#define OP_SYSTEM(name) (uintptr_t) && L_##name,
#define OP_CONTROL(name) (uintptr_t) && L_##name,
    static const uintptr_t handlers[RV32_OP_COUNT] = {
#else
#define OP_ALU(name, result) RV32_OP_##name,
#define OP_LOAD(name, bytes, type) RV32_OP_##name,
#define OP_STORE(name, bytes) RV32_OP_##name,
#define OP_ATOMIC(name) RV32_OP_##name,
#define OP_BRANCH(name, taken) RV32_OP_##name,
#define OP_SYSTEM(name) RV32_OP_##name,
#define OP_CONTROL(name) RV32_OP_##name,
    static const uintptr_t handlers[RV32_OP_COUNT] = {
#endif
#include "rv32_op.def"
#undef OP_ALU
#undef OP_LOAD
#undef OP_STORE
#undef OP_ATOMIC
#undef OP_BRANCH
#undef OP_SYSTEM
#undef OP_CONTROL
    };
    if (core == NULL)
        return handlers;

    uint32_t *const x = core->x;
    const struct rv32_op *ip;
    struct rv32_block *block = &core->sentinel;
    struct rv32_block *found;
    uint32_t budget, base, window, slot, generation;
    uint8_t *host, *flags;
    struct slow slow;
    int spinning = 0;
    LOAD_WINDOW();

boundary: /* core->pc and core->executed are up to date */
    if (at_boundary(core, spinning, reason))
        return handlers;
    spinning = 0;
    budget = core->limit - core->executed < CHUNK ? (uint32_t)(core->limit - core->executed) : CHUNK;
    core->granted = core->executed + budget;
    goto resolve;

unlinked: /* link `slot` of block leads nowhere, or further than the budget */
    core->pc = block->target[slot];
    if (budget == 0)
        goto used_up;
    core->executed = core->granted - budget;
    generation = core->generation;
    found = rv32_find(core, budget);
    if (found != &core->scratch && generation == core->generation && !rv32_profiled(core))
        block->link[slot] = found;
    if (core->attention)
        goto boundary;
    if (rv32_profiled(core))
        rv32_profile_enter(core, found);
    ENTER(found);

resolve: /* core->pc is up to date */
    if (budget == 0)
        goto used_up;
    core->executed = core->granted - budget;
    found = rv32_find(core, budget);
    if (core->attention)
        goto boundary;
    if (rv32_profiled(core))
        rv32_profile_enter(core, found);
    ENTER(found);

used_up:
    core->executed = core->granted;
    goto boundary;

slow:
    slow.block = block;
    slow.ip = ip;
    slow.budget = budget;
    if (slow_memory(core, &slow)) {
        LOAD_WINDOW();
        goto boundary;
    }
    LOAD_WINDOW();
    NEXT();

#if !THREADED
dispatch:
    switch ((enum rv32_op_code)ip->handler) {
#endif

#define OP_ALU(name, result) \
    TARGET(name)             \
    {                        \
        RD = (result);       \
        NEXT();              \
    }
#define OP_LOAD(name, bytes, type)                                \
    TARGET(name)                                                  \
    {                                                             \
        uint32_t at_ = RS1 + IMM;                                 \
        uint32_t offset_ = at_ - base;                            \
        if (LIKELY(offset_ < window)) {                           \
            RD = (uint32_t)(type)rv32_get(host + offset_, bytes); \
            NEXT();                                               \
        }                                                         \
        slow.address = at_;                                       \
        goto slow;                                                \
    }
#define OP_STORE(name, bytes)                                                                \
    TARGET(name)                                                                             \
    {                                                                                        \
        uint32_t at_ = RS1 + IMM;                                                            \
        uint32_t offset_ = at_ - base;                                                       \
        if (LIKELY(offset_ < window) && LIKELY(flags[offset_ >> RV32_GRANULE_SHIFT] == 0)) { \
            rv32_put(host + offset_, bytes, RS2);                                            \
            NEXT();                                                                          \
        }                                                                                    \
        slow.address = at_;                                                                  \
        goto slow;                                                                           \
    }
#define OP_ATOMIC(name)   \
    TARGET(name)          \
    {                     \
        slow.address = 0; \
        goto slow;        \
    }
/* Two jumps rather than one computed link: the host then predicts guest branches one by one (700 against 410 MIPS). */
#define OP_BRANCH(name, taken) \
    TARGET(name)               \
    {                          \
        if (taken)             \
            CHAIN(1u);         \
        CHAIN(0u);             \
    }
#define OP_SYSTEM(name)                                                     \
    TARGET(name)                                                            \
    {                                                                       \
        sync_before(core, block->pc, block->ops, ip, block->count, budget); \
        rv32_system(core, RV32_OP_##name, IMM, block->target[0]);           \
        LOAD_WINDOW();                                                      \
        goto boundary;                                                      \
    }
#define OP_CONTROL(name)
#include "rv32_op.def"
#undef OP_ALU
#undef OP_LOAD
#undef OP_STORE
#undef OP_ATOMIC
#undef OP_BRANCH
#undef OP_SYSTEM
#undef OP_CONTROL

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
            if (LIKELY(found->pc == to && budget >= found->count))
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
            core->executed = core->granted - budget;
            tell_call(core, CNNVP_RV32_CALL, FROM, block->target[1], block->target[0]);
            CHAIN(1u);
        }
        TARGET(CALLR)
        {
            core->pc = (RS1 + IMM) & ~1u;
            RD = block->target[0];
            core->executed = core->granted - budget;
            tell_call(core, CNNVP_RV32_CALL, FROM, core->pc, block->target[0]);
            goto resolve;
        }
        TARGET(RETURN)
        {
            core->pc = (RS1 + IMM) & ~1u;
            RD = block->target[0];
            core->executed = core->granted - budget;
            tell_call(core, CNNVP_RV32_RETURN, FROM, core->pc, 0);
            goto resolve;
        }
        TARGET(SPIN)
        {
            core->pc = block->target[1];
            core->executed = core->granted - budget;
            spinning = 1;
            goto boundary;
        }
        TARGET(FALL)
        {
            CHAIN(0u);
        }
        TARGET(CUT)
        {
            core->pc = block->target[0];
            core->executed = core->granted - budget;
            goto boundary;
        }
#if !THREADED
    case RV32_OP_COUNT:
    default:
        return handlers;
    }
#endif
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
