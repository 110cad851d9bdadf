/* SPDX-License-Identifier: Apache-2.0 */
/* State of the unit `cpu`, shared by its files. */
#pragma once

#include "cnnvp_model.h"
#include "cnnvp_program.h"
#include "soc/cpu/cpu_cache.h"
#include "soc/cpu/rv32.h"

#define UNIT_DEF "soc/cpu/cpu.def"
#include "unit/unit_enums.inc"

/* Maximum open calls of the trace. Deeper calls are not shown. */
enum { CPU_CALLS = 512 };

struct cpu_calls {
    uint32_t back[CPU_CALLS]; /* return address of each */
    uint8_t is_trap[CPU_CALLS];
    uint32_t depth;
    uint32_t sp; /* stack pointer at the last call that there was room for */
};

/* Directly accessible memory: [base, base + size). */
struct cpu_memory {
    uint32_t base;
    uint32_t size;
    uint8_t *data;
};

enum { CPU_NO_DMI_PAGES = 64 };

/* The choices of parameter `memory`. */
enum cpu_memory_kind { CPU_TCM, CPU_CACHE, CPU_IDEAL };

/* A request to the off-chip memory. */
struct cpu_transfer {
    struct cnnvp_request request;
    int under_way;
};

struct cpu_ranges {
    struct cnnvp_rv32_range all[CNNVP_RV32_MAX_RANGES];
    uint32_t count;
};

/* The tables of one user. The TCM holds those of some steps at a time (cpu_tcm.c). Step numbers grow from pass to pass:
 * the TCM holds the steps [begin, there), and the loader is at [there, end). */
struct cpu_stream {
    uint32_t *first; /* index of each step's first table, and the index after the last table */
    uint32_t steps;
    uint32_t low;                     /* lowest address of the tables */
    uint64_t span;                    /* bytes from there to the highest address */
    uint64_t limit;                   /* maximum bytes of the TCM for permanent contents and these tables */
    uint64_t begin, here, there, end; /* here: the current step */
    struct cpu_ranges held;           /* permanent contents, these tables, and those being loaded */
    uint32_t next;                    /* next table of step `there` to load */
    int pauses;                       /* the loader begins no further request */
    struct cpu_transfer transfer;
};

struct cpu {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_rv32 *core;
    struct cnnvp_cpu_program program;
    int has_program;
    int stopped;  /* the host ends the process */
    int finished; /* the guest has ended the run */
    uint64_t mhz;
    uint64_t timebase_mhz, reset_tick;
    uint64_t quantum;
    uint64_t jump_cycles;
    enum cpu_memory_kind kind;
    int free_memory; /* port mem is open: memory takes no time */
    uint64_t tcm_size;
    struct cpu_ranges held; /* permanent contents of the TCM */
    struct cnnvp_program_table *tables;
    struct cpu_stream *streams; /* none if the TCM holds all tables */
    uint32_t stream_count;
    int stack_said;   /* the warning of a stack off chip has been given */
    int untimed_said; /* the warning of unused caches has been given */
    struct cpu_cache icache, dcache;
    struct cpu_transfer read, write;
    uint32_t line_shift;
    uint32_t fetched[2]; /* lines of code in the fetch buffer, newest first; CNNVP_RV32_NO_CODE: none */
    uint64_t data_past;  /* loads and stores past the TCM, to off-chip memory */
    uint64_t edge;       /* clock edge of the current run's first instruction, plus the stalls since */
    uint64_t limit;      /* of the current run */
    int is_free;         /* parameter `timing` is off: instructions take no time */
    uint64_t free;       /* cycle of the current run up to which they take none */
    struct cpu_memory memory[CNNVP_RV32_MAX_REGIONS];
    uint32_t memories;
    uint64_t no_dmi[CPU_NO_DMI_PAGES]; /* number + 1 of pages known to have no direct access, hashed by this value */
    int asks_again;                    /* direct access has been withdrawn, and may be given again */
    uint32_t faults_logged;
    uint32_t features_at; /* the guest's position in ":semihosting-features" */
    uint64_t wfi_cycles;
    cnnvp_time works_from; /* start of the work that no span shows yet; CNNVP_TIME_NEVER: the core sleeps */
    uint64_t stall_cycles;
    uint64_t device_reads;
    uint64_t device_writes;
    uint64_t counts[STAT_COUNT]; /* of cpu_memory.c, by statistic */
    struct cpu_calls calls;
    int running;                                        /* inside cnnvp_rv32_run */
    int stepping;                                       /* a single step of the debugger is in progress */
    int moved;                                          /* the debugger has set pc */
    enum { CPU_AWAKE, CPU_IN_WFI, CPU_IN_LOOP } sleeps; /* until it is woken */
    int asleep;                                         /* halted by the debugger in its sleep */
    int hit;                                            /* a stop has been hit that the debugger has not been told of */
    uint64_t reported[STAT_COUNT];                      /* counts handed to the host, by statistic */
};

/* -- cpu_bus.c -- */
/* Callbacks of struct cnnvp_rv32_bus; context is the struct cpu. */
int cpu_load(void *context, uint32_t address, unsigned size, uint32_t *value);
int cpu_store(void *context, uint32_t address, unsigned size, uint32_t value);
int cpu_fetch(void *context, uint32_t address, uint16_t *half);
/* The guest has written a word other than 0 to tohost. */
void cpu_tohost(void *context, uint32_t word);
/* Waits until simulated time reaches the instruction in progress and nothing else is pending at that time. Returns 0,
 * or the host's status; the core has been told to stop then. */
int cpu_sync(struct cpu *cpu);
/* Shortens the run so that it ends before anything that is pending by now can interfere. */
void cpu_tighten(struct cpu *cpu);
/* Guest memory [address, address + size), NULL if it is not directly accessible in one piece. */
uint8_t *cpu_memory(struct cpu *cpu, uint32_t address, uint32_t size);
/* Ends direct access to a range of memory. */
void cpu_withdraw(struct cpu *cpu, const struct cnnvp_cpu_withdrawal *gone);
/* Asks for direct access to the memory at an address, once for each page. Returns 1 if there is direct access. */
int cpu_map(struct cpu *cpu, uint32_t address);
/* Copies `size` bytes of memory to or from `data`, for a call of the host. A status. */
int cpu_copy(struct cpu *cpu, uint32_t op, uint32_t address, void *data, uint32_t size);
/* The clock edge of the instruction in progress. */
uint64_t cpu_present(const struct cpu *cpu);
/* Moves `edge` on by the timed cycles of `executed`. With timing off, the cycles that follow take no time. */
void cpu_set_free(struct cpu *cpu, uint64_t executed);
/* Ends the run after `executed` cycles. */
void cpu_end_run(struct cpu *cpu, uint64_t executed);
/* Cycles that the core may run from the clock edge `edge`, which is now; at least 1. */
uint64_t cpu_cycles(struct cpu *cpu, uint64_t edge);
/* Delays the instruction in progress to the first clock edge at or after `until`. Returns the cycles of the delay. */
uint64_t cpu_stall(struct cpu *cpu, cnnvp_time until);
/* Warns of an access fault of the guest; only the first few are shown. */
void cpu_log_fault(struct cpu *cpu, const char *what, uint32_t address, int status);

/* -- cpu_memory.c -- */
/* Returns CNNVP_OK, or the error that init returns. Call fini in any case. */
int cpu_memory_init(struct cpu *cpu);
void cpu_memory_fini(struct cpu *cpu);
/* Resets TCM or caches before a program begins. */
void cpu_memory_start(struct cpu *cpu);
/* Callbacks of struct cnnvp_rv32_bus. */
int cpu_memory_access(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
int cpu_memory_hit(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
void cpu_memory_fence(void *context);
/* The core fetches from memory without direct access: warns if that leaves its caches unused. */
void cpu_memory_untimed(struct cpu *cpu, uint32_t address);
/* Callback of the unit. */
void cpu_complete(void *instance, uint32_t port, struct cnnvp_request *request);
/* Sends a request. It is under way only if the result is CNNVP_OK. */
int cpu_request(struct cpu *cpu, struct cpu_transfer *transfer, const struct cnnvp_request *request);
/* Goes on after a wait that ended with `status`: counts the cycles that passed, also in *stalls. */
int cpu_go_on(struct cpu *cpu, int status, uint64_t *stalls);
/* Fills in the statistics of cpu_memory.c and cpu_tcm.c. */
void cpu_memory_counts(const struct cpu *cpu, const struct cnnvp_rv32_stats *stats, uint64_t *values);
void cpu_memory_costs(const uint64_t *params, const struct cnnvp_costs *costs);

/* -- cpu_tcm.c -- */
/* Chooses what the TCM holds. Returns CNNVP_OK or CNNVP_E_NOMEM. */
int cpu_tcm_take(struct cpu *cpu, const struct cnnvp_cpu_program *program);
/* Frees the tables. */
void cpu_tcm_fini(struct cpu *cpu);
/* Sets up the TCM before a program begins. */
void cpu_tcm_start(struct cpu *cpu);
/* 1 if the TCM holds the byte at this address, or is loading it. */
int cpu_tcm_has(const struct cpu *cpu, uint32_t address);
/* Handles a read of RAM outside of the core's fast ranges, at the core's time. *held: 1 if the TCM holds the address
 * when the function returns. It may wait. */
int cpu_tcm_read(struct cpu *cpu, uint32_t address, int *held);
/* A request that may be the loader's is complete. */
void cpu_tcm_complete(struct cpu *cpu, const struct cnnvp_request *request);

/* -- cpu_semihost.c -- */
int cpu_semihost(void *context, uint32_t operation, uint32_t parameter, uint32_t *result);

/* -- cpu_calls.c -- */
/* Callback of struct cnnvp_rv32_bus. */
void cpu_call(void *context, enum cnnvp_rv32_call kind, uint32_t from, uint32_t to, uint32_t back);
/* 1 if calls are recorded. */
int cpu_follows_calls(const struct cpu *cpu);
/* Closes all calls, and opens one for the program's first instruction. */
void cpu_calls_start(struct cpu *cpu);

/* -- cpu_debug.c -- */
/* Forgets what an earlier program's debugger wanted. */
void cpu_debug_start(struct cpu *cpu);
/* Between two runs, at the core's time: halts if the debugger wants it. Returns the cycles of the next run. */
uint64_t cpu_debug_cycles(struct cpu *cpu, uint64_t cycles);
/* In sleep, whenever the core has been woken: halts likewise. Returns 1 if the debugger has set pc, which ends the
 * sleep. */
int cpu_debug_asleep(struct cpu *cpu);
/* Callback of the unit. */
void cpu_debug_show(void *instance, const struct cnnvp_show *show);
/* Halts for the debugger before the program is given up. */
void cpu_debug_failure(struct cpu *cpu);

/* -- cpu.c -- */
/* Ends the run with the guest's exit code. */
void cpu_finish(struct cpu *cpu, uint32_t code, const char *reason);
