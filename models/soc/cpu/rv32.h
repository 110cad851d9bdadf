/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RV32IMAC core, an instruction-accurate interpreter as a plain C library.
 *
 * Modelled: RV32I 2.1, M 2.0, A 2.1, C 2.0, Zicsr, Zifencei, Zicntr (RISC-V Unprivileged ISA 20191213), machine mode of
 * the Privileged ISA 1.12 (20211203) with vectored interrupts, WFI and precise traps; semihosting calls (RISC-V
 * Semihosting 0.4) and the `tohost` word of the riscv-tests.
 * Not modelled: user and supervisor mode, physical memory protection (the pmp registers exist, but no entry can be
 * switched on), triggers (tselect reads 0, tdata1 says "no trigger"), pipelines. An instruction takes the cycles of its
 * class; the caller adds the time of memory in bus.memory.
 *
 * Decisions where the specifications leave a choice: loads and stores to mapped memory may be misaligned; misaligned
 * accesses elsewhere trap with causes 4 and 6. Atomics work on mapped memory only; elsewhere they are access faults.
 * misa is read-only. mtval holds the instruction's bits after an illegal instruction. Stores into code take effect on
 * the next instruction, with or without fence.i. When others change code in memory, the guest has to execute fence.i,
 * or the caller to call cnnvp_rv32_invalidate.
 *
 * Counting. A slot is one instruction begun: retired, or ended by an exception. Taking an interrupt costs no slot and
 * no cycle.
 *   slots     = instructions retired + exceptions
 *   minstret  = retired instructions, mcycle = cycles of all slots by their class + cycles given by cnnvp_rv32_idle.
 *
 * Lifecycle: memory of cnnvp_rv32_size() bytes -> init -> map_ram ... -> reset -> run ... -> fini. Nothing here is
 * thread-safe; different cores are independent. Functions marked [callback] may also be called while run() is inside
 * one of the callbacks of struct cnnvp_rv32_bus; all others only outside of run().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_program.h"

struct cnnvp_rv32;

/* Jumps between functions, by the return-address hints of the unprivileged ISA (section 2.5), and traps. */
enum cnnvp_rv32_call {
    CNNVP_RV32_CALL,   /* to: the function; back: where it will return to */
    CNNVP_RV32_RETURN, /* to: where it returns to */
    CNNVP_RV32_ENTER,  /* a trap; to: the handler; back: mepc */
    CNNVP_RV32_LEAVE   /* mret; to: mepc */
};

/* What an access to RAM is for. */
enum cnnvp_rv32_access { CNNVP_RV32_FETCH, CNNVP_RV32_READ, CNNVP_RV32_WRITE };

/* An entry of `lines` below: the number of a line that is present (address >> line_shift), and whether it is dirty. 0:
 * no line. */
#define CNNVP_RV32_LINE(number, dirty) ((uint64_t)(number) << 2 | (uint64_t)(dirty) << 1 | 1u)
#define CNNVP_RV32_NO_CODE UINT32_MAX

/* Accesses to RAM outside of the fast ranges that take no time and change nothing, so that the core does not ask about
 * them: fetches from the two pieces of code in `code` (address / fetch_bytes; CNNVP_RV32_NO_CODE: none); loads from
 * line n if it is in lines[n & line_mask], and stores to it if it is dirty there. Both pointers may be NULL; their
 * contents may change in every callback. */
struct cnnvp_rv32_there {
    const uint32_t *code;
    const uint64_t *lines;
    uint32_t line_shift, line_mask;
};

/*
 * What the core needs from its surroundings. Members may be NULL where noted. A result of load, store or fetch other
 * than 0 becomes an access fault of the guest (causes 5, 7, 1).
 */
struct cnnvp_rv32_bus {
    void *context; /* first argument of every callback */
    /* Reads size (1, 2 or 4) bytes at a multiple of size, zero-extended. NULL: every address outside RAM faults. */
    int (*load)(void *context, uint32_t address, unsigned size, uint32_t *value);
    /* Writes the low size bytes of value. NULL as above. */
    int (*store)(void *context, uint32_t address, unsigned size, uint32_t value);
    /* Called before an access to RAM outside of the fast ranges (cnnvp_rv32_set_fast), by the instruction in progress
     * or to fetch it; the core moves the data itself. Time may pass in the call (cnnvp_rv32_idle). A fetch is of
     * instructions in the same fetch_bytes, or of one that lies in two of these. It is repeated after an interrupt, or
     * where a run was cut; `hit` should then say that the code is there. NULL: all RAM is fast. */
    int (*memory)(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
    /* Called before `memory`, and must not call any function of the core. 1: the access takes no time, and `memory` is
     * not called. NULL: no access is of this kind. */
    int (*hit)(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
    /* Accesses for which not even `hit` is called. */
    struct cnnvp_rv32_there there;
    /* The instruction in progress is fence.i: fetches from now on must see what has been stored. Time may pass in the
     * call. NULL: there is nothing to do. */
    void (*fence)(void *context);
    /* Reads 16 bits of an instruction outside RAM, each time it is executed. NULL: only RAM is executable. */
    int (*fetch)(void *context, uint32_t address, uint16_t *half);
    /* Value of the time CSR. NULL: time reads as mcycle would without writes. */
    uint64_t (*time)(void *context);
    /* Semihosting call: operation and parameter from a0 and a1, the result goes to a0. Anything but 0: not handled,
     * the guest takes a breakpoint exception. NULL: no semihosting. */
    int (*semihost)(void *context, uint32_t operation, uint32_t parameter, uint32_t *result);
    /* A call, return or trap has been executed at `from`; see cnnvp_rv32_follow_calls. */
    void (*call)(void *context, enum cnnvp_rv32_call kind, uint32_t from, uint32_t to, uint32_t back);
    /* A word other than 0 has been stored to `tohost`. NULL: an odd word ends the run with status word >> 1. */
    void (*tohost)(void *context, uint32_t word);
};

/* Cycles of an instruction by its class, 1 to CNNVP_RV32_MAX_CYCLES; 0 counts as 1. Instructions of no class here take
 * 1. */
#define CNNVP_RV32_MAX_CYCLES 255u
struct cnnvp_rv32_cycles {
    uint32_t load; /* an atomic takes a load and a store */
    uint32_t store;
    uint32_t multiply;
    uint32_t divide; /* and remainders */
    uint32_t jump;   /* a jump, or a branch that is taken */
};

struct cnnvp_rv32_config {
    struct cnnvp_rv32_bus bus;
    uint32_t hart_id;
    struct cnnvp_rv32_cycles cycles;
    uint32_t fetch_bytes; /* code that one call of bus.memory asks for, a power of 2 up to 256; 0: 256 */
};

/* [base, base + size), both multiples of CNNVP_RV32_GRANULE. */
struct cnnvp_rv32_range {
    uint32_t base;
    uint32_t size;
};
#define CNNVP_RV32_MAX_RANGES 64u

/* Why run() returned. */
enum cnnvp_rv32_reason {
    CNNVP_RV32_BUDGET,      /* the limit is reached */
    CNNVP_RV32_WFI,         /* waits until cnnvp_rv32_wakeup is true; run() then goes on after the WFI */
    CNNVP_RV32_IDLE_LOOP,   /* a jump to itself was executed and no interrupt can be taken at present */
    CNNVP_RV32_EXIT,        /* cnnvp_rv32_exit was called, or tohost written; see cnnvp_rv32_exit_status */
    CNNVP_RV32_STOPPED,     /* cnnvp_rv32_stop was called */
    CNNVP_RV32_HIT,         /* a stop of cnnvp_rv32_add_stop: see cnnvp_rv32_last_hit */
    CNNVP_RV32_DOUBLE_FAULT /* the first instruction of the trap handler traps, without end: see cnnvp_rv32_trap_log */
};

/* Interrupt lines: bit numbers of mip and mie. */
enum cnnvp_rv32_line { CNNVP_RV32_MSIP = 3, CNNVP_RV32_MTIP = 7, CNNVP_RV32_MEIP = 11 };

/* Exception codes of mcause. */
enum cnnvp_rv32_cause {
    CNNVP_RV32_FETCH_MISALIGNED = 0,
    CNNVP_RV32_FETCH_FAULT = 1,
    CNNVP_RV32_ILLEGAL = 2,
    CNNVP_RV32_BREAKPOINT = 3,
    CNNVP_RV32_LOAD_MISALIGNED = 4,
    CNNVP_RV32_LOAD_FAULT = 5,
    CNNVP_RV32_STORE_MISALIGNED = 6,
    CNNVP_RV32_STORE_FAULT = 7,
    CNNVP_RV32_ECALL_M = 11
};

/* Counts since reset; they only grow and no guest write changes them. */
struct cnnvp_rv32_stats {
    uint64_t slots;
    uint64_t retired;
    uint64_t loads;  /* load instructions begun; an AMO is one load and one store */
    uint64_t stores; /* store instructions begun */
    uint64_t asked;  /* those of both that were neither in a fast range nor covered by bus.there */
    uint64_t multiplies;
    uint64_t divides; /* and remainders */
    uint64_t jumps;   /* and taken branches */
    uint64_t mmio;    /* calls of load and store of the bus */
    uint64_t exceptions;
    uint64_t interrupts;
    uint64_t idle_cycles; /* from cnnvp_rv32_idle */
    uint64_t cycles;      /* including idle_cycles, as mcycle */
};

/* One trap, as the guest's handler would see it. */
struct cnnvp_rv32_trap {
    uint64_t slot; /* slots before it */
    uint32_t pc;
    uint32_t cause; /* as mcause, bit 31 set for interrupts */
    uint32_t tval;
    uint32_t vector; /* where execution went */
};

#define CNNVP_RV32_TRAP_LOG 16u

/* Bytes that init needs, with the alignment of malloc. Constant. */
size_t cnnvp_rv32_size(void);

/* Sets up a core in `core` (cnnvp_rv32_size() bytes of any content) and allocates its block cache (about 2 MiB). config
 * is copied. Returns 0, or -1 if out of memory: fini must not be called then. The core is in reset with pc 0. */
int cnnvp_rv32_init(struct cnnvp_rv32 *core, const struct cnnvp_rv32_config *config);

/* Frees what init and map_ram allocated. The mapped memory itself is the caller's. */
void cnnvp_rv32_fini(struct cnnvp_rv32 *core);

/* From the next reset on, bus.call (which must be set) is called or not. It costs nothing if it is not called. */
void cnnvp_rv32_follow_calls(struct cnnvp_rv32 *core, int follow);

/* From the next reset on, the cost of each instruction is added up in the profiler's pages; only its `page` is called.
 * NULL: there is no profile, which costs nothing. */
void cnnvp_rv32_profile(struct cnnvp_rv32 *core, const struct cnnvp_profiler *profiler);

/* [callback] The sum of these costs since init. */
const struct cnnvp_core_cost *cnnvp_rv32_cost(const struct cnnvp_rv32 *core);

/* Puts registers and CSRs to their reset values (those without one to 0), statistics to 0, execution to `pc` (even),
 * forgets decoded code. Keeps interrupt lines, mapped memory and tohost: they belong to the outside. */
void cnnvp_rv32_reset(struct cnnvp_rv32 *core, uint32_t pc);

#define CNNVP_RV32_MAX_REGIONS 8u
#define CNNVP_RV32_GRANULE 256u

/* [callback] Maps `size` bytes at host as guest memory [base, base + size): both multiples of CNNVP_RV32_GRANULE, no
 * wrap, no overlap with another region. host must stay valid until fini. The core reads and writes it directly. Returns
 * 0, or -1 for wrong arguments, too many regions or no memory; nothing has changed then. */
int cnnvp_rv32_map_ram(struct cnnvp_rv32 *core, uint32_t base, uint32_t size, uint8_t *host);

/* [callback] Unmaps the region at `base`, also for the instruction in progress. */
void cnnvp_rv32_unmap_ram(struct cnnvp_rv32 *core, uint32_t base);

/* [callback] Watches the aligned word at `address`, in RAM, as tohost, instead of an earlier one. Returns 0, or -1 if
 * it is not in RAM. */
int cnnvp_rv32_watch_tohost(struct cnnvp_rv32 *core, uint32_t address);

/* [callback] Sets the parts of RAM for which bus.memory is not called, in place of those before; they matter only if
 * bus.memory is set. They must not overlap. Decoded code stays in ranges that are in both sets. Returns 0, or -1 if
 * there are too many or they are no such ranges. */
int cnnvp_rv32_set_fast(struct cnnvp_rv32 *core, const struct cnnvp_rv32_range *ranges, unsigned count);

/* [callback] Another initiator has written [address, address + size) of RAM: forgets code decoded from there. */
void cnnvp_rv32_invalidate(struct cnnvp_rv32 *core, uint32_t address, uint32_t size);

/* [callback] Sets the level (0 or not 0) of an interrupt line. An interrupt that this enables is taken before the next
 * instruction; inside a callback, before the one that follows the instruction in progress. */
void cnnvp_rv32_set_irq(struct cnnvp_rv32 *core, enum cnnvp_rv32_line line, int level);

/* Runs until `limit` cycles are used or for another reason. Instructions begin before the limit; the last one may end
 * after it. *executed: the cycles used, also if the limit was changed. Neither includes cycles of cnnvp_rv32_idle. */
enum cnnvp_rv32_reason cnnvp_rv32_run(struct cnnvp_rv32 *core, uint64_t limit, uint64_t *executed);

/* [callback] Cycles of this run before the instruction in progress; after run, those of the last run. */
uint64_t cnnvp_rv32_executed(const struct cnnvp_rv32 *core);

/* [callback] Changes the limit of the run in progress. If the new limit is already exceeded, the run ends after the
 * instruction in progress. */
void cnnvp_rv32_limit(struct cnnvp_rv32 *core, uint64_t limit);

/* [callback] run() returns CNNVP_RV32_STOPPED after the instruction in progress; if called outside of run(), the next
 * run() returns at once. Cleared by that return. */
void cnnvp_rv32_stop(struct cnnvp_rv32 *core);

/* [callback] As stop, but with CNNVP_RV32_EXIT and a status; takes precedence over stop. */
void cnnvp_rv32_exit(struct cnnvp_rv32 *core, uint32_t status);

/* Status of the last exit. */
uint32_t cnnvp_rv32_exit_status(const struct cnnvp_rv32 *core);

/* [callback] 1 if an interrupt that mie enables is pending, whatever mstatus.MIE is: that ends a WFI. */
int cnnvp_rv32_wakeup(const struct cnnvp_rv32 *core);

/* [callback] 1 if such an interrupt could ever be taken: mie is not 0 and, unless the core is in WFI, MIE is set. 0
 * after WFI or IDLE_LOOP means that the guest can never go on. */
int cnnvp_rv32_can_wake(const struct cnnvp_rv32 *core);

/* [callback] The core has slept or stood still for `cycles` cycles: mcycle and the statistics count them. */
void cnnvp_rv32_idle(struct cnnvp_rv32 *core, uint64_t cycles);

/* After CNNVP_RV32_IDLE_LOOP: the jump has been executed `slots` more times, each in the cycles of a jump. */
void cnnvp_rv32_skip(struct cnnvp_rv32 *core, uint64_t slots);

/* -- debugging; [callback] all of them -- */

/* Register x0 .. x31; other numbers read 0 and are ignored. In a callback: before the instruction in progress. */
uint32_t cnnvp_rv32_reg(const struct cnnvp_rv32 *core, unsigned number);
void cnnvp_rv32_set_reg(struct cnnvp_rv32 *core, unsigned number, uint32_t value);

/* Address of the next instruction; in a callback, of the one in progress. set_pc: not in a callback. */
uint32_t cnnvp_rv32_pc(const struct cnnvp_rv32 *core);
void cnnvp_rv32_set_pc(struct cnnvp_rv32 *core, uint32_t pc);

/* Reads or writes a CSR by number, by the rules for the guest. Returns 0, or -1 if there is no such CSR, or for set_csr
 * a read-only one. */
int cnnvp_rv32_csr(struct cnnvp_rv32 *core, unsigned number, uint32_t *value);
int cnnvp_rv32_set_csr(struct cnnvp_rv32 *core, unsigned number, uint32_t value);

/* What a stop waits for: an instruction is about to be executed; an instruction has written, read, or either. */
enum cnnvp_rv32_stop_kind { CNNVP_RV32_ON_EXECUTE, CNNVP_RV32_ON_WRITE, CNNVP_RV32_ON_READ, CNNVP_RV32_ON_ACCESS };

#define CNNVP_RV32_MAX_STOPS 64u

/*
 * Not in a callback. run() returns CNNVP_RV32_HIT before the instruction at `address` (ON_EXECUTE, size is ignored),
 * which the next run() executes; or after the instruction that accessed any of `size` bytes from `address`, in RAM or
 * elsewhere. Accesses by others than this core's instructions (a DMA's transfer) are not seen. Stops survive a reset.
 * They change no memory and no count; without a stop on data, run() is not slowed down.
 * add: returns 0, or -1 if there is no room or size is 0. remove: returns 0, or -1 if there is no such stop.
 */
int cnnvp_rv32_add_stop(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size);
int cnnvp_rv32_remove_stop(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size);

/* The kind of the stop of the last CNNVP_RV32_HIT; *address: of the instruction, or of the first byte accessed in the
 * stop's range. */
enum cnnvp_rv32_stop_kind cnnvp_rv32_last_hit(const struct cnnvp_rv32 *core, uint32_t *address);

/* Name in the privileged ISA of a CSR that is stored or counts; NULL for others. */
const char *cnnvp_rv32_csr_name(unsigned number);

/* In a callback, the instruction in progress is counted in loads and stores, but not in slots. */
void cnnvp_rv32_get_stats(const struct cnnvp_rv32 *core, struct cnnvp_rv32_stats *stats);

/* Copies the last traps, the oldest first; returns how many (up to CNNVP_RV32_TRAP_LOG, the size of `traps`). */
size_t cnnvp_rv32_trap_log(const struct cnnvp_rv32 *core, struct cnnvp_rv32_trap *traps);
