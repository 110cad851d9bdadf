/* SPDX-License-Identifier: Apache-2.0 */
/* State of the unit `cpu`, shared by its files. */
#ifndef CNNVP_CPU_INTERNAL_H
#define CNNVP_CPU_INTERNAL_H

#include "cnnvp_model.h"
#include "cnnvp_program.h"
#include "soc/cpu/cpu_cache.h"
#include "soc/cpu/rv32.h"

#define UNIT_DEF "soc/cpu/cpu.def"
#include "unit/unit_enums.inc"

/* Calls that are open, for the trace. Deeper ones are not shown. */
enum { CPU_CALLS = 512 };

struct cpu_calls {
    uint32_t back[CPU_CALLS]; /* where each returns to */
    uint8_t is_trap[CPU_CALLS];
    uint32_t depth;
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

/* One user's tables, of which the TCM has those of some steps at a time (cpu_tcm.c). Steps are counted on from pass to
 * pass: the TCM has [begin, there), up to `end` they are on their way. */
struct cpu_stream {
    uint32_t *first; /* number of each step's first table, and the number after the last one's last */
    uint32_t steps;
    uint32_t low;                     /* lowest address of all, */
    uint64_t span;                    /* and bytes from there to the highest */
    uint64_t limit;                   /* bytes of the TCM for what is held for good and these */
    uint64_t begin, here, there, end; /* here: the step at work */
    struct cpu_ranges held;           /* what is held for good, these tables, and those on their way */
    uint32_t next;                    /* table of step `there` that comes next */
    int pauses;
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
    uint64_t timebase_mhz;
    uint64_t quantum;
    uint64_t jump_cycles;
    enum cpu_memory_kind kind;
    int free_memory; /* nothing leads to the off-chip memory */
    uint64_t tcm_size;
    struct cpu_ranges held; /* by the TCM, for good */
    struct cnnvp_program_table *tables;
    struct cpu_stream *streams; /* none where all tables are held */
    uint32_t stream_count;
    int stack_said;   /* that it is off chip */
    int untimed_said; /* that the caches are not used */
    struct cpu_cache icache, dcache;
    struct cpu_transfer read, write;
    uint32_t line_shift;
    uint32_t fetched[2]; /* lines of code in the fetch buffer, the last one first; CNNVP_RV32_NO_CODE */
    uint64_t data_past;  /* loads and stores past the TCM */
    uint64_t edge;       /* clock edge of the present run's first instruction, were there no stalls */
    uint64_t limit;      /* of the present run */
    int is_free;         /* instructions take no time, */
    uint64_t free;       /* up to this cycle of the present run */
    struct cpu_memory memory[CNNVP_RV32_MAX_REGIONS];
    uint32_t memories;
    uint64_t no_dmi[CPU_NO_DMI_PAGES]; /* number + 1 of pages known to be devices, by number modulo size */
    int asks_again;                    /* direct memory has been withdrawn, and may be given again */
    uint32_t faults_logged;
    uint32_t features_at; /* where the guest reads on in ":semihosting-features" */
    uint64_t wfi_cycles;
    cnnvp_time works_from; /* what no span has yet; CNNVP_TIME_NEVER: it sleeps */
    uint64_t stall_cycles;
    uint64_t device_reads;
    uint64_t device_writes;
    uint64_t counts[STAT_COUNT]; /* of cpu_memory.c, by statistic */
    struct cpu_calls calls;
    int running;                   /* inside of cnnvp_rv32_run */
    int stepping;                  /* the debugger has asked for one instruction, which is under way */
    int moved;                     /* the debugger has set pc */
    int asleep;                    /* stands still in its sleep */
    int hit;                       /* a stop has been hit, of which the debugger does not know yet */
    uint64_t reported[STAT_COUNT]; /* counts handed to the host, by statistic */
};

/* -- cpu_bus.c -- */
/* Callbacks of struct cnnvp_rv32_bus; context is the struct cpu. */
int cpu_load(void *context, uint32_t address, unsigned size, uint32_t *value);
int cpu_store(void *context, uint32_t address, unsigned size, uint32_t value);
int cpu_fetch(void *context, uint32_t address, uint16_t *half);
/* The guest has written a word other than 0 to tohost. */
void cpu_tohost(void *context, uint32_t word);
/* Waits until simulated time is that of the instruction in progress and nothing else is pending. 0, or the host's
 * status: the core has been told to stop then. */
int cpu_sync(struct cpu *cpu);
/* Makes the run end where something that is pending by now may interfere. */
void cpu_tighten(struct cpu *cpu);
/* Guest memory [address, address + size), NULL if it is not directly accessible in one piece. */
uint8_t *cpu_memory(struct cpu *cpu, uint32_t address, uint32_t size);
/* Direct memory is none any more. */
void cpu_withdraw(struct cpu *cpu, const struct cnnvp_cpu_withdrawal *gone);
/* Asks for direct access to the memory at an address, once a page. 1 if there is some now. */
int cpu_map(struct cpu *cpu, uint32_t address);
/* The clock edge of the instruction in progress. */
uint64_t cpu_present(const struct cpu *cpu);
/* Of that edge, after so many cycles of the run: what follows takes no time if instructions take none. */
void cpu_set_free(struct cpu *cpu, uint64_t executed);
/* The run has ended after so many cycles. */
void cpu_end_run(struct cpu *cpu, uint64_t executed);
/* Cycles that may be used from the clock edge `edge` on, which is now; 1 or more. */
uint64_t cpu_cycles(struct cpu *cpu, uint64_t edge);
/* The instruction in progress goes on at the first edge at or after `until`: as many cycles later as it returns. */
uint64_t cpu_stall(struct cpu *cpu, cnnvp_time until);
/* The guest's mistakes: a warning for each of the first few. */
void cpu_log_fault(struct cpu *cpu, const char *what, uint32_t address, int status);

/* -- cpu_memory.c -- */
/* CNNVP_OK, or what init returns. fini in any case. */
int cpu_memory_init(struct cpu *cpu);
void cpu_memory_fini(struct cpu *cpu);
/* Before a program begins. */
void cpu_memory_start(struct cpu *cpu);
/* Callbacks of struct cnnvp_rv32_bus. */
int cpu_memory_access(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
int cpu_memory_hit(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size);
void cpu_memory_fence(void *context);
/* The core fetches there from memory that it cannot see: a warning where that leaves its caches unused. */
void cpu_memory_untimed(struct cpu *cpu, uint32_t address);
/* Callback of the unit. */
void cpu_complete(void *instance, uint32_t port, struct cnnvp_request *request);
/* Makes a request. CNNVP_OK, or it is not under way. */
int cpu_request(struct cpu *cpu, struct cpu_transfer *transfer, const struct cnnvp_request *request);
/* After a wait that ended with `status`: counts the cycles that went by, in *stalls too. */
int cpu_go_on(struct cpu *cpu, int status, uint64_t *stalls);
/* Fills in this file's statistics. */
void cpu_memory_counts(const struct cpu *cpu, const struct cnnvp_rv32_stats *stats, uint64_t *values);
void cpu_memory_costs(const uint64_t *params, const struct cnnvp_costs *costs);

/* -- cpu_tcm.c -- */
/* Chooses what the TCM holds. CNNVP_OK or CNNVP_E_NOMEM, of the host. */
int cpu_tcm_take(struct cpu *cpu, const struct cnnvp_cpu_program *program);
/* Forgets the tables. */
void cpu_tcm_fini(struct cpu *cpu);
/* Before a program begins. */
void cpu_tcm_start(struct cpu *cpu);
/* Whether it holds the byte at this address, or will do so soon. */
int cpu_tcm_has(const struct cpu *cpu, uint32_t address);
/* A read of RAM that is not held for all that the core knows, at the core's time. *held: 1: it is, from now on at the
 * latest. Time may have gone by. */
int cpu_tcm_read(struct cpu *cpu, uint32_t address, int *held);
/* A request that may be the loader's is complete. */
void cpu_tcm_complete(struct cpu *cpu, const struct cnnvp_request *request);

/* -- cpu_semihost.c -- */
int cpu_semihost(void *context, uint32_t operation, uint32_t parameter, uint32_t *result);

/* -- cpu_calls.c -- */
/* Callback of struct cnnvp_rv32_bus. */
void cpu_call(void *context, enum cnnvp_rv32_call kind, uint32_t from, uint32_t to, uint32_t back);
/* 1: calls are recorded. */
int cpu_follows_calls(const struct cpu *cpu);
/* Closes all calls and opens one of the program's first instruction. */
void cpu_calls_start(struct cpu *cpu);

/* -- cpu_debug.c -- */
/* Forgets what an earlier program's debugger wanted. */
void cpu_debug_start(struct cpu *cpu);
/* Between two runs, at the core's time: stands still where the debugger wants it. Cycles of the next run. */
uint64_t cpu_debug_cycles(struct cpu *cpu, uint64_t cycles);
/* In sleep, whenever the core has been woken: stands still likewise. 1: the debugger has set pc, the sleep is over. */
int cpu_debug_asleep(struct cpu *cpu);
/* Callback of the unit. */
void cpu_debug_show(void *instance, const struct cnnvp_show *show);
/* The program is about to be given up. */
void cpu_debug_failure(struct cpu *cpu);

/* -- cpu.c -- */
/* The guest ends the run. */
void cpu_finish(struct cpu *cpu, uint32_t code, const char *reason);

#endif
