/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core is told before it starts: an access with op CNNVP_COMMAND on its target port `control`, `data` a
 * struct cnnvp_cpu_program, size its size. Made by the platform's program loader, before the core's process starts.
 * Where direct memory that the core has is withdrawn, it is told so by another one, struct cnnvp_cpu_withdrawal.
 */
#ifndef CNNVP_PROGRAM_H
#define CNNVP_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a stop looks for: that an instruction is about to be executed; that one has written, read, or either. */
enum cnnvp_stop_kind { CNNVP_STOP_EXECUTE, CNNVP_STOP_WRITE, CNNVP_STOP_READ, CNNVP_STOP_ACCESS };

/*
 * A core that stands still between two instructions, as it shows itself to a debugger. Registers have the numbers that
 * GDB has for RISC-V: 0..31 x0..x31, 32 pc, 65 + N the CSR N. All functions return 0, or -1: there is no such thing.
 */
struct cnnvp_core {
    void *self;                                       /* first argument of every function */
    uint32_t csr_base;                                /* number of CSR 0 */
    uint32_t csr_count;                               /* numbers from there on */
    const char *(*name)(void *self, uint32_t number); /* of a register; NULL: there is none of this number */
    int (*get)(void *self, uint32_t number, uint32_t *value);
    int (*set)(void *self, uint32_t number, uint32_t value);
    /* Accesses are the core's own, to memory and devices; `size` bytes, 0 for CNNVP_STOP_EXECUTE. */
    int (*add_stop)(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size);
    int (*remove_stop)(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size);
    /* The debugger has written memory. */
    void (*written)(void *self, uint32_t address, uint32_t size);
};

enum cnnvp_halt {
    CNNVP_HALT_ASKED,  /* the debugger wanted it, or the program is about to begin */
    CNNVP_HALT_STEP,   /* one instruction has been executed */
    CNNVP_HALT_STOP,   /* a stop: `kind` and `address` */
    CNNVP_HALT_FAILURE /* the program cannot go on; the run ends with the next step */
};

/* Whom a core serves that can be debugged. All calls come from the core's process; simulated time stands still. */
struct cnnvp_debugger {
    void *context;
    /* Asked often, between two instructions: 1 if the core is to stand still. */
    int (*wants)(void *context);
    /* The core stands still at its own time. Returns when it may go on: 1 by one instruction, 0 until something stops
     * it. `core` is valid during the call. */
    int (*halted)(void *context, const struct cnnvp_core *core, enum cnnvp_halt why, enum cnnvp_stop_kind kind,
                  uint32_t address);
};

/* What instructions have cost. */
struct cnnvp_core_cost {
    uint64_t instructions; /* retired */
    uint64_t cycles;       /* of the core, all of its time */
    uint64_t stalls;       /* of them, what memory and device accesses took beyond their own */
    uint64_t sleep;        /* of them, asleep */
};

enum { CNNVP_PROFILE_PAGE = 256 };

/* Whom a core tells where its cycles go. All calls come from the core's process. */
struct cnnvp_profiler {
    void *context;
    /* Costs of the instructions in [address, address + CNNVP_PROFILE_PAGE), one for each two bytes, to which the core
     * adds what it executes there; valid until the simulation ends. NULL: they are lost. */
    struct cnnvp_core_cost *(*page)(void *context, uint32_t address);
    /* The instruction at `from` has called the function at `to`, or been interrupted by it; `all`: the sum of costs up
     * to here. The program's start is a call from 0. */
    void (*call)(void *context, uint32_t from, uint32_t to, const struct cnnvp_core_cost *all);
    /* The last call that is open has returned. */
    void (*leave)(void *context, const struct cnnvp_core_cost *all);
};

/* Memory that a program is made of, or that all of its work reads. */
struct cnnvp_program_range {
    uint32_t address;
    uint32_t size;
};

/* Memory that a program only reads, and only in one step of its work: a layer's tables. Steps come one after the other,
 * after the last one the first one again. */
struct cnnvp_program_table {
    uint32_t address;
    uint32_t size;
    uint32_t step;
    uint32_t user; /* of several that work side by side, each in its own step */
};

struct cnnvp_cpu_program {
    uint32_t entry;                        /* first instruction */
    uint32_t tohost;                       /* address of the `tohost` word, 0 where the program has none */
    uint32_t argc;                         /* words of the command line, the program's name first */
    uint32_t follow_calls;                 /* 1: the counter `functions` shows calls and returns */
    char *const *argv;                     /* valid until the simulation ends */
    const struct cnnvp_debugger *debugger; /* NULL: none; otherwise valid as argv */
    const struct cnnvp_profiler *profiler; /* likewise */
    /* For cores that run from a memory of their own; valid during the access. Ranges are in the order in which they are
     * to be held where they do not all fit; tables are user by user, step by step, the most needed ones first. */
    const struct cnnvp_program_range *held;
    const struct cnnvp_program_table *tables;
    uint32_t held_count;
    uint32_t table_count;
    uint32_t stack; /* address after the stack, which grows down from there; 0: not known */
};

/*
 * Direct memory (struct cnnvp_host_ops, dmi) in [start, end], addresses of the bus, is none any more, from within this
 * access on, which comes between two instructions or while one waits for an access or a request. The core may ask for
 * it again. One that refuses this access cannot stand where a third party withdraws direct memory.
 */
struct cnnvp_cpu_withdrawal {
    uint64_t start;
    uint64_t end;
};

#ifdef __cplusplus
}
#endif

#endif
