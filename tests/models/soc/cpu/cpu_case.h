/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit `cpu` on a host of this file's own: one process, a queue of two timers, memory with direct access, one
 * device. The host is unkind where the ABI lets it be: wait returns before other things of the same instant, settle
 * runs them.
 */
#ifndef CNNVP_TESTS_CPU_CASE_H
#define CNNVP_TESTS_CPU_CASE_H

#include "test.h"

#include "units.h"
#include "cnnvp_program.h"
#include "rv32_machine.h"

#define UNIT_DEF "soc/cpu/cpu.def"
#include "unit/unit_enums.inc"

enum { REPORTS = 1024, TCM = 0, CACHE = 1, IDEAL = 2, LATENCY_PS = 41234, REQUESTS = 4 };

struct cnnvp_host {
    void *self;
    uint64_t params[PARAM_COUNT];
    cnnvp_time now;
    cnnvp_time timer_at;
    cnnvp_time noise_at;     /* something unrelated that keeps the kernel busy */
    cnnvp_time noise_period; /* 0: silence */
    cnnvp_time stop_at;
    int woken;
    uint8_t *ram;
    uint64_t counts[STAT_COUNT];
    uint64_t reports[REPORTS]; /* time << 32 | value, roughly */
    unsigned report_count;
    char console[256];
    size_t console_size;
    int code;
    const char *reason;
    int finished;
    unsigned errors;
    cnnvp_time slow;                          /* what a read of the slow register takes, ps */
    struct cnnvp_request *requests[REQUESTS]; /* to the off-chip memory, under way */
    cnnvp_time request_at[REQUESTS];
    uint64_t request_bytes[2]; /* by op */
    int open;                  /* nothing leads to the off-chip memory */
    unsigned warnings;
    char last_warning[256];
    cnnvp_time worked, span_end; /* sum of the spans, and where the last one ended */
};

/* a0 = 0x80001000 */
#define LUI_A0 UINT32_C(0x80001537)
#define LW_A1 UINT32_C(0x00052583)     /* lw a1, 0(a0) */
#define LW_A1_64 UINT32_C(0x04052583)  /* lw a1, 64(a0) */
#define LW_A1_256 UINT32_C(0x10052583) /* lw a1, 256(a0) */
#define SW_A1 UINT32_C(0x00b52023)     /* sw a1, 0(a0) */
#define SW_A1_4 UINT32_C(0x00b52223)   /* sw a1, 4(a0) */
#define AMO_A1 UINT32_C(0x00b5202f)    /* amoadd.w x0, a1, (a0) */
#define FENCE_I UINT32_C(0x0000100f)
#define MUL UINT32_C(0x02b585b3)       /* mul a1, a1, a1 */
#define DIV UINT32_C(0x02b5d5b3)       /* divu a1, a1, a1 */
#define JUMP UINT32_C(0x0040006f)      /* j to the next instruction */
#define BEQ_TAKEN UINT32_C(0x00000263) /* beq x0, x0 to the next instruction */
#define BNE UINT32_C(0x00001263)       /* bne x0, x0: not taken */
#define EXIT UINT32_C(0x00b52023)      /* sw a1, 0(a0) with a1 = 1 */

struct cpu_program {
    struct cnnvp_host *host;
    uint32_t end;
};

struct cnnvp_host *case_make(uint64_t mhz, uint64_t quantum, uint64_t memory);
int case_init(struct cnnvp_host *h);
struct cnnvp_host *case_begin(struct cnnvp_host *h);
/* A core whose instructions take a cycle each. */
struct cnnvp_host *case_start(uint64_t mhz, uint64_t quantum);
void case_finish(struct cnnvp_host *h);
int case_offer(struct cnnvp_host *h, struct cnnvp_cpu_program *program);
void case_run(struct cnnvp_host *h, uint32_t entry, uint32_t tohost);
struct cnnvp_host *case_run_elf(const char *path, uint64_t mhz, uint64_t quantum, cnnvp_time noise, uint64_t memory);
void case_put(struct cnnvp_host *h, uint32_t offset, uint32_t word);
void case_add(struct cpu_program *program, uint32_t word);
/* Cycles of a program that ends with a store of 1 to tohost, before that store. */
uint64_t case_cycles_of(struct cpu_program *program);

#endif
