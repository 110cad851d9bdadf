/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program loader tells a core before it starts: an access with op CNNVP_COMMAND on the core's target port
 * `control`, whose `data` is a struct cnnvp_cpu_program and `size` its size. Made before the core's process starts. A
 * similar access with a struct cnnvp_cpu_withdrawal tells the core that direct memory is withdrawn.
 */
#ifndef CNNVP_PROGRAM_H
#define CNNVP_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Condition of a breakpoint: an instruction is about to execute; or an instruction wrote, read, or did either. */
enum cnnvp_stop_kind { CNNVP_STOP_EXECUTE, CNNVP_STOP_WRITE, CNNVP_STOP_READ, CNNVP_STOP_ACCESS };

/*
 * A core halted between two instructions, as a debugger sees it. Registers have GDB's numbers for RISC-V: 0..31 are
 * x0..x31, 32 is pc, 65 + N is CSR N. All functions return 0, or -1 if the object does not exist.
 */
struct cnnvp_core {
    void *self;                                       /* first argument of every function */
    uint32_t csr_base;                                /* number of CSR 0 */
    uint32_t csr_count;                               /* number of CSRs from csr_base on */
    const char *(*name)(void *self, uint32_t number); /* name of a register; NULL: no such register */
    int (*get)(void *self, uint32_t number, uint32_t *value);
    int (*set)(void *self, uint32_t number, uint32_t value);
    /* Watches the core's own accesses to memory and devices. `size` in bytes; 0 for CNNVP_STOP_EXECUTE. */
    int (*add_stop)(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size);
    int (*remove_stop)(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size);
    /* The debugger tells the core that it has written memory. */
    void (*written)(void *self, uint32_t address, uint32_t size);
};

enum cnnvp_halt {
    CNNVP_HALT_ASKED,  /* the debugger asked for it, or the program is about to begin */
    CNNVP_HALT_STEP,   /* one instruction has been executed */
    CNNVP_HALT_STOP,   /* a breakpoint or watchpoint; see `kind` and `address` */
    CNNVP_HALT_FAILURE /* the program cannot continue; the run ends with the next step */
};

/* The debugger's interface to a core. All calls come from the core's process; simulated time stands still. */
struct cnnvp_debugger {
    void *context;
    /* Polled often between instructions: 1 if the core should halt. */
    int (*wants)(void *context);
    /* The core has halted at its current time. Returns when it may continue: 1 for a single step, 0 until the next
     * stop. `core` is valid during the call. */
    int (*halted)(void *context, const struct cnnvp_core *core, enum cnnvp_halt why, enum cnnvp_stop_kind kind,
                  uint32_t address);
};

/* Accumulated cost of instructions. */
struct cnnvp_core_cost {
    uint64_t instructions; /* retired */
    uint64_t cycles;       /* core cycles, stalls and sleep included */
    uint64_t stalls;       /* part of the cycles: memory and device accesses beyond their own cycles */
    uint64_t sleep;        /* part of the cycles: asleep */
};

enum { CNNVP_PROFILE_PAGE = 256 };

/* The profiler's interface to a core. All calls come from the core's process. */
struct cnnvp_profiler {
    void *context;
    /* Returns the cost array of the instructions in [address, address + CNNVP_PROFILE_PAGE), one entry for each 2
     * bytes. The core adds to it whatever it executes there. Valid until the simulation ends. NULL: these costs are
     * dropped. */
    struct cnnvp_core_cost *(*page)(void *context, uint32_t address);
    /* The instruction at `from` has called the function at `to`, or an interrupt has entered `to`. `all`: total cost so
     * far. The program's start is a call from 0. */
    void (*call)(void *context, uint32_t from, uint32_t to, const struct cnnvp_core_cost *all);
    /* The innermost open call has returned. */
    void (*leave)(void *context, const struct cnnvp_core_cost *all);
};

/* Memory of the program itself, or that all steps of its work read. */
struct cnnvp_program_range {
    uint32_t address;
    uint32_t size;
};

/* Read-only memory that only one step of the program's work reads, such as a layer's tables. The steps repeat in
 * order. */
struct cnnvp_program_table {
    uint32_t address;
    uint32_t size;
    uint32_t step;
    uint32_t user; /* which of several users that work side by side, each in its own step */
};

struct cnnvp_cpu_program {
    uint32_t entry;                        /* first instruction */
    uint32_t tohost;                       /* address of the `tohost` word; 0: the program has none */
    uint32_t argc;                         /* number of command-line words, including the program's name */
    uint32_t follow_calls;                 /* 1: the counter `functions` shows calls and returns */
    char *const *argv;                     /* valid until the simulation ends */
    const struct cnnvp_debugger *debugger; /* NULL: none; otherwise valid until the simulation ends */
    const struct cnnvp_profiler *profiler; /* NULL: none; otherwise valid until the simulation ends */
    /* For cores that run from a tightly coupled memory; valid during the access. Ranges come in order of priority, in
     * case they do not all fit. Tables are sorted by user, then by step; within a step the most needed come first. */
    const struct cnnvp_program_range *held;
    const struct cnnvp_program_table *tables;
    uint32_t held_count;
    uint32_t table_count;
    uint32_t stack; /* end address of the stack, which grows down; 0: not known */
};

/*
 * Withdraws direct memory (dmi of struct cnnvp_host_ops) at bus addresses [start, end]. Effective from within this
 * access, which comes between two instructions or while an instruction waits for an access or a request. The core may
 * ask for the direct memory again. A core that refuses this access cannot be used where a third party withdraws direct
 * memory.
 */
struct cnnvp_cpu_withdrawal {
    uint64_t start;
    uint64_t end;
};

#ifdef __cplusplus
}
#endif

#endif
