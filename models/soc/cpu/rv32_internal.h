/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the core, and the functions that its source files share. See rv32.h for what is modelled.
 *
 * Code is decoded once into basic blocks of at most RV32_BLOCK_MAX operations. A block does not leave the granule (256
 * bytes) in which it begins, except with the second half of its last instruction. Outside of fast memory, a block
 * begins with LINE, which asks for its code, and stays within the code that is fetched at once, wherever runs are cut.
 * A block ends with a jump or with FALL; its other operations are one instruction each. Blocks link to their successors
 * once these have been looked up. Links to nothing lead to the sentinel, whose last instruction begins after any limit,
 * so that one comparison covers "within the limit", "linked" and "still valid".
 */
#pragma once

#include "rv32.h"

enum rv32_op_code {
#define OP_ALU(name, result) RV32_OP_##name,
#define OP_LOAD(name, bytes, type) RV32_OP_##name,
#define OP_STORE(name, bytes) RV32_OP_##name,
#define OP_ATOMIC(name) RV32_OP_##name,
#define OP_BRANCH(name, taken) RV32_OP_##name,
#define OP_SYSTEM(name) RV32_OP_##name,
#define OP_CONTROL(name) RV32_OP_##name,
#include "rv32_op.def"
    RV32_OP_COUNT
};

enum rv32_csr_index {
#define CSR(number, name, mask, reset) RV32_CSR_##name,
#define CSR_COUNTER(number, name, counter, shift)
#define CSR_ZERO(first, last)
#include "rv32_csr.def"
    RV32_CSR_COUNT
};

enum rv32_counter_kind { RV32_COUNTER_CYCLE, RV32_COUNTER_INSTRET, RV32_COUNTER_TIME };

#define RV32_IRQ_MASK ((1u << CNNVP_RV32_MSIP) | (1u << CNNVP_RV32_MTIP) | (1u << CNNVP_RV32_MEIP))
#define RV32_MSTATUS_MIE 0x8u
#define RV32_MSTATUS_MPIE 0x80u

enum {
    RV32_DISCARD = 32, /* number of the register that takes results for x0 */
    RV32_GRANULE_SHIFT = 8,
    RV32_BLOCK_MAX = 64,
    RV32_BLOCKS = 8192,
    RV32_OPS = 65536,
    RV32_HASH = 8192,
    RV32_INSN_TABLE = 96
};

/* imm of LINE: the number of the piece of code that holds the block, or this if two pieces do */
#define RV32_TWO_PIECES (CNNVP_RV32_NO_CODE - 1u)

/* flags of a granule; any of them sends stores through rv32_store */
enum { RV32_FLAG_CODE = 1, RV32_FLAG_TOHOST = 2 };

struct rv32_op {
    uintptr_t handler; /* address of its code in rv32_exec.c */
    uint32_t imm;
    uint8_t rd; /* RV32_DISCARD for x0 */
    uint8_t rs1;
    uint8_t rs2;
    uint8_t offset; /* from the block's pc, in half-words */
};

/*
 * What operations cost and count as. `spent` is subtracted from what is left of a chunk: its lower half is cycles, its
 * upper half negative counts. A count has 16 bits; a chunk begins fewer instructions than that.
 */
struct rv32_bill {
    uint64_t work;  /* RV32_LOAD, RV32_STORE, RV32_DIVIDE, RV32_INSTRUCTION */
    uint64_t spent; /* cycles - RV32_MULTIPLY, RV32_JUMP */
};

#define RV32_LOAD UINT64_C(1)
#define RV32_STORE (UINT64_C(1) << 16)
#define RV32_DIVIDE (UINT64_C(1) << 32)
#define RV32_INSTRUCTION (UINT64_C(1) << 48)
#define RV32_MULTIPLY (UINT64_C(1) << 32)
#define RV32_JUMP (UINT64_C(1) << 48)
/* Maximum cycles given to the inner loop at a time. */
#define RV32_CHUNK 0xff00

struct rv32_block {
    uint32_t pc;           /* odd: not valid */
    uint32_t count;        /* operations */
    int32_t last;          /* cycles before the last operation begins; INT32_MAX: not valid */
    struct rv32_bill bill; /* of all operations; a taken branch costs more */
    struct rv32_op *ops;
    struct rv32_block *link[2]; /* the blocks at target[0] and target[1] */
    uint32_t target[2];         /* [0] after the block, [1] of the jump at its end */
    struct rv32_block *hash_next;
    struct rv32_block *granule_next;
};

/* Fast memory that loads and stores access directly. limit is its size - 3; 0: every access takes the slow path. */
struct rv32_window {
    uint32_t base;
    uint32_t limit;
    uint8_t *host;
    uint8_t *flags; /* of its granules */
};

struct rv32_region {
    uint32_t base;
    uint32_t size;
    uint8_t *host;
    uint8_t *flags;            /* of each granule */
    struct rv32_block **heads; /* of each granule: blocks that begin in it */
};

struct rv32_stop {
    enum cnnvp_rv32_stop_kind kind;
    uint32_t address;
    uint32_t size;
};

/* The stops of a debugger. */
struct rv32_debug {
    struct rv32_stop stop[CNNVP_RV32_MAX_STOPS];
    unsigned stops;
    unsigned on_data; /* stops on data */
    int hit;          /* run() is to return CNNVP_RV32_HIT */
    int pass;         /* the stop at hit_address was reported: its instruction is to be executed */
    enum cnnvp_rv32_stop_kind hit_kind;
    uint32_t hit_address;
};

/* What instructions cost, by address. */
struct rv32_profile {
    const struct cnnvp_profiler *profiler; /* NULL: no profile */
    struct cnnvp_core_cost all;
    struct cnnvp_core_cost *costs; /* of `page`, the last one used; NULL: none */
    uint32_t page;
    uint32_t wfi; /* address of the last WFI */
};

/* value = frozen if inhibited, otherwise events + bias, modulo 2^64 */
struct rv32_counter {
    uint64_t bias;
    uint64_t frozen;
    int inhibited;
};

struct cnnvp_rv32 {
    uint32_t x[RV32_DISCARD + 1];
    uint32_t pc;
    struct rv32_window window[2]; /* the fast ranges used last */
    struct rv32_window cached;    /* the RAM whose lines bus.there has */
    uint64_t taken;               /* additional `spent` of a taken branch */

    uint32_t csr[RV32_CSR_COUNT];
    struct rv32_counter cycle;
    struct rv32_counter instret;
    uint32_t reserved_address; /* of LR, valid if reserved */
    int reserved;

    /* Checks are due before the next instruction: an interrupt, a limit, a stop, a change of code. */
    int attention;
    int waiting;  /* in WFI */
    int spinning; /* a jump to itself has been executed */
    int stop;
    int exit;
    uint32_t exit_status;
    int double_fault;

    uint64_t limit;    /* of this run */
    uint64_t executed; /* cycles of this run, up to date whenever other code reads it */
    uint64_t run_base; /* cycles before this run */
    uint64_t granted;  /* value of `executed` at which the current chunk ends */

    uint32_t trap_cause; /* set before RV32_TRAP is returned */
    uint32_t trap_tval;
    uint64_t work;        /* `work` of the current chunk; moved to stats */
    uint64_t counted;     /* likewise RV32_MULTIPLY and RV32_JUMP; updated with `executed` */
    uint32_t in_progress; /* 1: an instruction is counted in `work`, but its cycles are not yet in `executed` */
    struct cnnvp_rv32_stats stats;
    struct cnnvp_rv32_trap trap_log[CNNVP_RV32_TRAP_LOG];
    uint64_t traps;
    uint32_t nested; /* successive exceptions in the first instructions of the handler */

    uint32_t tohost;
    int tohost_set;
    int follow_calls;
    struct rv32_debug debug;
    struct rv32_profile profile;
    struct cnnvp_rv32_config config;
    struct rv32_region region[CNNVP_RV32_MAX_REGIONS];
    unsigned regions;
    unsigned unmapped; /* number of regions unmapped so far */
    struct cnnvp_rv32_range fast[CNNVP_RV32_MAX_RANGES];
    unsigned fast_ranges;
    struct rv32_bill bill[RV32_OP_COUNT]; /* of each op code */

    const uintptr_t *handlers; /* handler of each op code */
    uint8_t insn_first[33];    /* first row of each major opcode in the instruction table */
    struct rv32_block sentinel;
    struct rv32_block scratch; /* for one use: part of a block, or code outside RAM */
    struct rv32_block **hash;
    struct rv32_block *blocks;
    struct rv32_op *ops;
    uint8_t *codes; /* op code of each element of ops */
    uint32_t blocks_used;
    uint32_t ops_used;
    uint32_t generation; /* grows when all blocks are dropped */
};

/* What comes after an operation that left the fast path. */
enum rv32_after { RV32_NEXT, RV32_LEAVE, RV32_TRAP };

/* -- rv32_decode.c, rv32_rvc.c -- */
void rv32_decode_init(struct cnnvp_rv32 *core);
/* Decodes the 32-bit instruction `insn` (already expanded if `length` is 2; `raw` is what stood in memory) at pc into
 * op; returns its op code. *target: its jump target, if that is fixed. */
enum rv32_op_code rv32_decode(const struct cnnvp_rv32 *core, uint32_t insn, uint32_t raw, uint32_t pc, unsigned length,
                              struct rv32_op *op, uint32_t *target);
/* The 32-bit equivalent of a compressed instruction, 0 (which is illegal) if there is none. */
uint32_t rv32_expand(uint16_t half);

/* -- rv32_block.c -- */
int rv32_cache_init(struct cnnvp_rv32 *core);
void rv32_cache_fini(struct cnnvp_rv32 *core);
void rv32_flush(struct cnnvp_rv32 *core);
/* Drops the blocks that hold any of `size` bytes at offset in a region. */
void rv32_drop(struct cnnvp_rv32 *core, struct rv32_region *region, uint32_t offset, uint32_t size);
/* The block at core->pc, with instructions that begin before `granted` (1 or more cycles from now). It may be
 * core->scratch. */
struct rv32_block *rv32_find(struct cnnvp_rv32 *core);
struct rv32_region *rv32_region_at(struct cnnvp_rv32 *core, uint32_t address, uint32_t size);
/* Reads 16 bits of code, in RAM or by the bus. Returns 0 if there are none. */
int rv32_fetch_half(struct cnnvp_rv32 *core, uint32_t address, uint16_t *half);

/* -- rv32_memory.c -- */
/* The fast range that has all of [address, address + size), or NULL. */
const struct cnnvp_rv32_range *rv32_fast_at(const struct cnnvp_rv32 *core, uint32_t address, uint32_t size);
void rv32_close_windows(struct cnnvp_rv32 *core);
/* 1 if bus.there covers an aligned access to RAM of `bytes` bytes. */
static inline int rv32_is_there(const struct cnnvp_rv32 *core, uint32_t address, uint32_t bytes, int stores)
{
    const struct cnnvp_rv32_there *there = &core->config.bus.there;
    const uint32_t offset = address - core->cached.base, line = address >> there->line_shift;
    if (offset >= core->cached.limit || (address & (bytes - 1u)) != 0)
        return 0;
    const uint64_t last = there->lines[line & there->line_mask];
    if (stores)
        return last == CNNVP_RV32_LINE(line, 1) && core->cached.flags[offset >> RV32_GRANULE_SHIFT] == 0;
    return (last | CNNVP_RV32_LINE(0, 1)) == CNNVP_RV32_LINE(line, 1);
}
/* Executes a load or store if bus.hit says that it takes no time; returns 1 then. */
int rv32_hit(struct cnnvp_rv32 *core, enum rv32_op_code code, const struct rv32_op *op, uint32_t address);
enum rv32_after rv32_load(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t address, uint32_t *value);
enum rv32_after rv32_store(struct cnnvp_rv32 *core, unsigned size, uint32_t address, uint32_t value);
enum rv32_after rv32_atomic(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t insn, uint32_t *value);

/* -- rv32_csr.c, rv32_system.c, rv32_trap.c -- */
void rv32_csr_reset(struct cnnvp_rv32 *core);
/* Executes an OP_SYSTEM; core->pc and core->executed are those before it. Sets core->pc and counts the cycle. */
void rv32_system(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t insn, uint32_t next_pc);
/* Takes the exception trap_cause, trap_tval of the instruction at core->pc, which has been counted as a slot. */
void rv32_exception(struct cnnvp_rv32 *core);
/* Takes the interrupt of the highest priority, if any can be taken. */
void rv32_interrupt(struct cnnvp_rv32 *core);

/* -- rv32_debug.c -- */
/* 1 if there is a stop on the instruction at pc. */
int rv32_stops_at(const struct cnnvp_rv32 *core, uint32_t pc);
/* The instruction in progress has accessed [address, address + size). */
void rv32_accessed(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size);

/* -- rv32_profile.c; all but the first are called only while there is a profiler -- */
static inline int rv32_profiled(const struct cnnvp_rv32 *core)
{
    return core->profile.profiler != NULL;
}
/* A block is entered, or goes on, after `count` of its `all` instructions: counts the others. */
void rv32_profile_go_on(struct cnnvp_rv32 *core, const struct rv32_op *ops, uint32_t pc, uint32_t count, uint32_t all);
/* A block is left, perhaps for a while: takes them back. */
void rv32_profile_leave(struct cnnvp_rv32 *core, const struct rv32_op *ops, uint32_t pc, uint32_t count, uint32_t all);
/* A block ends with a taken branch or a jump: adds the extra cycles of a branch. */
void rv32_profile_taken(struct cnnvp_rv32 *core, const struct rv32_block *block);
void rv32_profile_more(struct cnnvp_rv32 *core, uint32_t pc, uint64_t instructions, uint64_t cycles);
/* The instruction at core->pc has not retired. */
void rv32_profile_exception(struct cnnvp_rv32 *core);
void rv32_profile_idle(struct cnnvp_rv32 *core, uint64_t cycles);
void rv32_profile_skip(struct cnnvp_rv32 *core, uint64_t slots);

/* -- rv32_exec.c -- */
/* Runs until the limit or another reason; core->executed counts from 0. */
enum cnnvp_rv32_reason rv32_exec(struct cnnvp_rv32 *core);
const uintptr_t *rv32_exec_handlers(void);

/* -- small helpers -- */

/* Cycles of an op code. */
static inline uint32_t rv32_cycles(const struct cnnvp_rv32 *core, enum rv32_op_code code)
{
    return (uint32_t)core->bill[code].spent;
}

/* Moves the counts of a chunk into statistics. */
static inline void rv32_add_counts(const struct cnnvp_rv32 *core, struct cnnvp_rv32_stats *stats)
{
    stats->loads += (uint16_t)(core->work / RV32_LOAD);
    stats->stores += (uint16_t)(core->work / RV32_STORE);
    stats->divides += (uint16_t)(core->work / RV32_DIVIDE);
    stats->slots += core->work / RV32_INSTRUCTION;
    stats->multiplies += (uint16_t)(core->counted / RV32_MULTIPLY);
    stats->jumps += core->counted / RV32_JUMP;
}

/* Instructions begun, including the one in progress. */
static inline uint64_t rv32_slots(const struct cnnvp_rv32 *core)
{
    return core->stats.slots + core->work / RV32_INSTRUCTION;
}

static inline uint32_t rv32_pending(const struct cnnvp_rv32 *core)
{
    return core->csr[RV32_CSR_mip] & core->csr[RV32_CSR_mie];
}

static inline enum rv32_after rv32_raise(struct cnnvp_rv32 *core, uint32_t cause, uint32_t tval)
{
    core->trap_cause = cause;
    core->trap_tval = tval;
    return RV32_TRAP;
}

/* Guest memory is little-endian whatever the host is; compilers turn these into one access. */
static inline uint32_t rv32_get16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t rv32_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t rv32_get(const uint8_t *p, unsigned size)
{
    return size == 4 ? rv32_get32(p) : size == 2 ? rv32_get16(p) : p[0];
}

static inline void rv32_put(uint8_t *p, unsigned size, uint32_t value)
{
    if (size == 4) {
        p[0] = (uint8_t)value;
        p[1] = (uint8_t)(value >> 8);
        p[2] = (uint8_t)(value >> 16);
        p[3] = (uint8_t)(value >> 24);
    } else if (size == 2) {
        p[0] = (uint8_t)value;
        p[1] = (uint8_t)(value >> 8);
    } else {
        p[0] = (uint8_t)value;
    }
}
