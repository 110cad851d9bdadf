/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit `cpu` on a host of this file's own: one process, a queue of two timers, memory with direct access, one
 * device. The host is unkind where the ABI lets it be: wait returns before other things of the same instant, settle
 * runs them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/cpu.h"
#include "cnnvp_program.h"
#include "rv32_machine.h"

#define UNIT_DEF "cpu/cpu.def"
#include "unit/unit_enums.inc"

enum { REPORTS = 1024, TCM = 0, CACHE = 1, IDEAL = 2, LATENCY_PS = 41234, REQUESTS = 2 };

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
};

static uint64_t host_param(struct cnnvp_host *h, uint32_t index)
{
    return h->params[index];
}

static cnnvp_time host_now(struct cnnvp_host *h)
{
    return h->now;
}

static cnnvp_time earliest(const struct cnnvp_host *h)
{
    cnnvp_time first = h->timer_at < h->noise_at ? h->timer_at : h->noise_at;
    for (unsigned i = 0; i < REQUESTS; ++i)
        if (h->requests[i] != NULL && h->request_at[i] < first)
            first = h->request_at[i];
    return first;
}

static cnnvp_time host_next(struct cnnvp_host *h)
{
    return earliest(h);
}

static void step(struct cnnvp_host *h)
{
    h->now = earliest(h);
    if (h->timer_at == h->now) {
        h->timer_at = CNNVP_TIME_NEVER;
        cnnvp_unit_cpu.signal(h->self, PORT_irq, 1, 1);
    }
    for (unsigned i = 0; i < REQUESTS; ++i) {
        struct cnnvp_request *request = h->requests[i];
        if (request == NULL || h->request_at[i] != h->now)
            continue;
        h->requests[i] = NULL;
        cnnvp_unit_cpu.complete(h->self, PORT_mem, request);
    }
    if (h->noise_at == h->now)
        h->noise_at += h->noise_period;
}

static int host_wait(struct cnnvp_host *h, cnnvp_time duration)
{
    const cnnvp_time until = h->now + duration;
    while (earliest(h) < until)
        step(h);
    h->now = until;
    return until >= h->stop_at ? CNNVP_E_STOPPED : CNNVP_OK;
}

static int host_settle(struct cnnvp_host *h)
{
    while (earliest(h) <= h->now)
        step(h);
    return CNNVP_OK;
}

static int host_reach(struct cnnvp_host *h, cnnvp_time at)
{
    const int status = host_wait(h, at - h->now);
    return status == CNNVP_OK ? host_settle(h) : status;
}

static int host_wait_wake(struct cnnvp_host *h)
{
    while (!h->woken) {
        if (earliest(h) >= h->stop_at)
            return CNNVP_E_STOPPED;
        step(h);
    }
    h->woken = 0;
    return CNNVP_OK;
}

static void host_wake(struct cnnvp_host *h)
{
    h->woken = 1;
}

static void report(struct cnnvp_host *h, uint32_t value)
{
    if (h->report_count < REPORTS)
        h->reports[h->report_count++] = h->now * 1000003u + value;
}

static int host_access(struct cnnvp_host *h, uint32_t port, struct cnnvp_access *a)
{
    uint32_t value = 0;
    (void)port;
    if (a->address - 0x10000000u >= 16 || a->size != 4)
        return CNNVP_E_ADDR;
    if (a->op == CNNVP_WRITE)
        memcpy(&value, a->data, 4);
    switch (a->address & 15u) {
    case 0:
        cnnvp_unit_cpu.signal(h->self, PORT_irq, 1, 0);
        h->timer_at = value == 0 ? CNNVP_TIME_NEVER : h->now + value;
        break;
    case 4:
        value = (uint32_t)h->now;
        break;
    case 8:
        report(h, value);
        break;
    default:
        a->delay += h->slow;
        break;
    }
    if (a->op == CNNVP_READ)
        memcpy(a->data, &value, 4);
    return CNNVP_OK;
}

/* Longer for a write, and where another one is under way. */
static int host_request(struct cnnvp_host *h, uint32_t port, struct cnnvp_request *request)
{
    unsigned i = h->requests[0] == NULL ? 0 : 1;
    assert_int_equal(port, PORT_mem);
    assert_null(h->requests[i]);
    assert_null(request->data);
    assert_true(request->address - MACHINE_RAM < MACHINE_RAM_SIZE);
    h->requests[i] = request;
    h->request_at[i] = h->now + LATENCY_PS * (1u + request->op + i);
    h->request_bytes[request->op] += request->size;
    request->status = CNNVP_OK;
    return CNNVP_OK;
}

static int host_connected(struct cnnvp_host *h, uint32_t port)
{
    return port != PORT_mem || !h->open;
}

static int host_config_error(struct cnnvp_host *h, uint32_t index, const char *format, ...)
{
    (void)format;
    h->errors += index;
    return CNNVP_E_INVAL;
}

static int host_dmi(struct cnnvp_host *h, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    (void)port;
    if (address - MACHINE_RAM >= MACHINE_RAM_SIZE)
        return CNNVP_E_NOSUP;
    *dmi = (struct cnnvp_dmi){h->ram, MACHINE_RAM, MACHINE_RAM + MACHINE_RAM_SIZE - 1u};
    return CNNVP_OK;
}

static void host_count(struct cnnvp_host *h, uint32_t stat, uint32_t tag, uint64_t n)
{
    (void)tag;
    h->counts[stat] += n;
}

static void host_log(struct cnnvp_host *h, enum cnnvp_log_level level, const char *format, ...)
{
    (void)format;
    h->errors += level == CNNVP_LOG_ERROR;
    h->warnings += level == CNNVP_LOG_WARNING;
}

static void host_finish(struct cnnvp_host *h, int code, const char *reason)
{
    h->reason = reason;
    ++h->finished;
    h->code = code;
}

static void host_console(struct cnnvp_host *h, const void *data, size_t size)
{
    if (size <= sizeof h->console - h->console_size) {
        memcpy(h->console + h->console_size, data, size);
        h->console_size += size;
    }
}

static const struct cnnvp_host_ops ops = {
    .struct_size = sizeof(struct cnnvp_host_ops),
    .param = host_param,
    .now = host_now,
    .next_activity = host_next,
    .access = host_access,
    .request = host_request,
    .connected = host_connected,
    .config_error = host_config_error,
    .dmi = host_dmi,
    .wait = host_wait,
    .wait_wake = host_wait_wake,
    .settle = host_settle,
    .reach = host_reach,
    .wake = host_wake,
    .count = host_count,
    .log = host_log,
    .finish = host_finish,
    .console_write = host_console};

static struct cnnvp_host *make(uint64_t mhz, uint64_t quantum, uint64_t memory)
{
    struct cnnvp_host *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->self = calloc(1, cnnvp_unit_cpu.instance_size);
    h->ram = calloc(1, MACHINE_RAM_SIZE);
    h->params[PARAM_clock_mhz] = mhz;
    h->params[PARAM_quantum] = quantum;
    h->params[PARAM_timebase_mhz] = 10;
    h->params[PARAM_memory] = memory;
    h->params[PARAM_tcm_size] = 4096;
    h->params[PARAM_icache_size] = h->params[PARAM_dcache_size] = 256;
    h->params[PARAM_icache_ways] = 2;
    h->params[PARAM_dcache_ways] = 1;
    h->params[PARAM_cache_line] = 32;
    h->params[PARAM_load_cycles] = 2;
    h->params[PARAM_store_cycles] = 3;
    h->params[PARAM_multiply_cycles] = 4;
    h->params[PARAM_divide_cycles] = 35;
    h->params[PARAM_jump_cycles] = 3;
    h->timer_at = h->noise_at = h->stop_at = CNNVP_TIME_NEVER;
    return h;
}

static int init(struct cnnvp_host *h)
{
    const struct cnnvp_init init = {sizeof init, 0, "cpu", h, &ops};
    return cnnvp_unit_cpu.init(h->self, &init);
}

static struct cnnvp_host *begin(struct cnnvp_host *h)
{
    assert_int_equal(init(h), CNNVP_OK);
    cnnvp_unit_cpu.reset(h->self);
    return h;
}

/* A core whose instructions take a cycle each. */
static struct cnnvp_host *start(uint64_t mhz, uint64_t quantum)
{
    struct cnnvp_host *h = make(mhz, quantum, IDEAL);
    for (unsigned i = PARAM_load_cycles; i <= PARAM_jump_cycles; ++i)
        h->params[i] = 1;
    return begin(h);
}

static void finish(struct cnnvp_host *h)
{
    cnnvp_unit_cpu.fini(h->self);
    free(h->self);
    free(h->ram);
    free(h);
}

static int offer(struct cnnvp_host *h, struct cnnvp_cpu_program *program)
{
    struct cnnvp_access command = {.op = CNNVP_COMMAND, .data = program, .size = sizeof *program};
    return cnnvp_unit_cpu.access(h->self, PORT_control, &command);
}

static void run(struct cnnvp_host *h, uint32_t entry, uint32_t tohost)
{
    static char name[] = "prog", first[] = "first", second[] = "second";
    char *const argv[] = {name, first, second};
    /* code, but not all of the data, which begin at 0x1000 */
    static const struct cnnvp_program_range held = {MACHINE_RAM, 0x400};
    struct cnnvp_cpu_program program = {
        .entry = entry, .tohost = tohost, .argc = 3, .argv = argv, .held = &held, .held_count = 1};
    assert_int_equal(offer(h, &program), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
}

static struct cnnvp_host *run_elf(const char *path, uint64_t mhz, uint64_t quantum, cnnvp_time noise, uint64_t memory)
{
    struct machine loader;
    uint32_t entry, tohost;
    struct cnnvp_host *h = begin(make(mhz, quantum, memory));
    assert_int_equal(machine_init(&loader), 0);
    assert_int_equal(machine_load_elf(&loader, path, &entry, &tohost), 0);
    memcpy(h->ram, loader.ram, MACHINE_RAM_SIZE);
    machine_fini(&loader);
    h->noise_period = noise;
    h->noise_at = noise == 0 ? CNNVP_TIME_NEVER : noise;
    h->slow = 12345;
    run(h, entry, tohost);
    return h;
}

/* Quantum and whatever else goes on change nothing; time, reports and every statistic are the same. */
static void test_quantum(void **state)
{
    static const uint64_t quanta[] = {1, 2, 7, 100, 1000000};
    static const uint64_t clocks[] = {1000, 333, 100};
    const char *elf = *state;
    if (elf == NULL)
        skip();
    for (unsigned c = 0; c < 9; ++c) {
        const uint64_t mhz = clocks[c % 3];
        struct cnnvp_host *expected = run_elf(elf, mhz, 10000, 0, c / 3);
        assert_int_equal(expected->finished, 1);
        assert_int_equal(expected->code, 7);
        assert_int_equal(expected->report_count, 60 * 6);
        assert_string_equal(expected->console, "first second");
        for (unsigned q = 0; q < 10; ++q) {
            struct cnnvp_host *h = run_elf(elf, mhz, quanta[q / 2], q % 2 ? 1370 : 0, c / 3);
            assert_int_equal(h->now, expected->now);
            assert_int_equal(h->report_count, expected->report_count);
            assert_memory_equal(h->reports, expected->reports, sizeof h->reports);
            assert_memory_equal(h->counts, expected->counts, sizeof h->counts);
            finish(h);
        }
        /* cycles and time say the same: the last instruction is the exit, at `now` */
        assert_true(expected->counts[STAT_cycles] - 1u == cnnvp_edge_at_or_after(mhz, expected->now));
        assert_true((expected->counts[STAT_memory_stall_cycles] != 0) == (c / 3 != IDEAL));
        finish(expected);
    }
}

/* A C program on picolibc: output, command line, exit status, all by semihosting. */
static void test_hello(void **state)
{
    const char *elf = *state;
    if (elf == NULL)
        skip();
    struct cnnvp_host *h = run_elf(elf, 1000, 10000, 0, CACHE);
    assert_int_equal(h->finished, 1);
    assert_string_equal(h->console, "hello 3 first\n");
    assert_int_equal(h->code, 5);
    finish(h);
}

static void put(struct cnnvp_host *h, uint32_t offset, uint32_t word)
{
    memcpy(h->ram + offset, &word, 4);
}

static void test_tohost(void **state)
{
    static const uint32_t words[][2] = {{1, 0}, {3, 1}, {0x55, 0x2a}};
    (void)state;
    for (unsigned i = 0; i < 3; ++i) {
        struct cnnvp_host *h = start(1000, 10000);
        put(h, 0, 0x80001537);                     /* lui a0, 0x80001 */
        put(h, 4, words[i][0] << 20 | 0x00000593); /* addi a1, x0, word */
        put(h, 8, 0x00b52023);                     /* sw a1, 0(a0) */
        put(h, 12, 0x0000006f);                    /* j . */
        run(h, MACHINE_RAM, MACHINE_RAM + 0x1000);
        assert_int_equal(h->finished, 1);
        assert_int_equal(h->code, words[i][1]);
        assert_int_equal(h->now, 2000);
        assert_int_equal(h->counts[STAT_instructions], 3);
        finish(h);
    }
}

/* The guest can never go on: the run ends with status 1 and says why. */
static void test_dead_ends(void **state)
{
    static const struct {
        uint32_t code;
        const char *reason;
    } cases[] = {{0x10500073 /* wfi */, "sleeps"}, {0x0000006f /* j . */, "endless loop"}, {0, "trap handler"}};
    (void)state;
    for (unsigned i = 0; i < 3; ++i) {
        struct cnnvp_host *h = start(1000, 10000);
        put(h, 0, cases[i].code);
        run(h, MACHINE_RAM, 0);
        assert_non_null(strstr(h->reason, cases[i].reason));
        assert_int_equal(h->finished, 1);
        assert_int_equal(h->code, 1);
        assert_true(h->errors > 0);
        finish(h);
    }
}

/* The host stops the process in mid-run; it starts again from the beginning. Without a program nothing runs. */
static void test_stop_and_restart(void **state)
{
    struct cnnvp_host *h = start(1000, 100);
    (void)state;
    cnnvp_unit_cpu.process(h->self);
    assert_int_equal(h->now, 0);
    put(h, 0, 0x00150513); /* addi a0, a0, 1 */
    put(h, 4, 0xffdff06f); /* j -4 */
    h->stop_at = 1000000;
    run(h, MACHINE_RAM, 0);
    assert_int_equal(h->now, 1000000);
    assert_int_equal(h->counts[STAT_instructions], 1000);
    h->stop_at = 3000000;
    cnnvp_unit_cpu.reset(h->self);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->counts[STAT_instructions], 3000);
    assert_int_equal(h->finished, 0);
    finish(h);
}

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

struct program {
    struct cnnvp_host *host;
    uint32_t end;
};

static void add(struct program *program, uint32_t word)
{
    put(program->host, program->end, word);
    program->end += 4;
}

/* Cycles of a program that ends with a store of 1 to tohost, before that store. */
static uint64_t cycles_of(struct program *program)
{
    add(program, LUI_A0 + 0x1000);      /* lui a0, 0x80002: tohost */
    add(program, UINT32_C(0x00100593)); /* addi a1, x0, 1 */
    add(program, EXIT);
    run(program->host, MACHINE_RAM, MACHINE_RAM + 0x2000);
    assert_int_equal(program->host->finished, 1);
    assert_int_equal(program->host->code, 0);
    const cnnvp_time now = program->host->now;
    assert_true(cnnvp_edge_time(1000, now / 1000) == now);
    return now / 1000 - 2; /* without the two instructions of the end */
}

static void test_classes(void **state)
{
    static const struct {
        uint32_t word;
        uint64_t cycles, loads, stores, multiplies, divides, jumps; /* of one */
    } cases[] = {{LW_A1, 2, 1, 0, 0, 0, 0},  {SW_A1, 3, 0, 1, 0, 0, 0}, {MUL, 4, 0, 0, 1, 0, 0},
                 {DIV, 35, 0, 0, 0, 1, 0},   {JUMP, 3, 0, 0, 0, 0, 1},  {BEQ_TAKEN, 3, 0, 0, 0, 0, 1},
                 {AMO_A1, 4, 1, 1, 0, 0, 0}, {BNE, 1, 0, 0, 0, 0, 0},   {0x00000013, 1, 0, 0, 0, 0, 0}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct program program = {.host = begin(make(1000, 100, IDEAL))};
        add(&program, LUI_A0);
        for (unsigned n = 0; n < 3; ++n)
            add(&program, cases[i].word);
        assert_int_equal(cycles_of(&program), 1 + 3 * cases[i].cycles);
        const uint64_t *counts = program.host->counts;
        assert_int_equal(counts[STAT_instructions], 1 + 3 + 3); /* the end's: two and a store */
        assert_int_equal(counts[STAT_loads], 3 * cases[i].loads);
        assert_int_equal(counts[STAT_stores], 3 * cases[i].stores + 1);
        assert_int_equal(counts[STAT_multiplies], 3 * cases[i].multiplies);
        assert_int_equal(counts[STAT_divides], 3 * cases[i].divides);
        assert_int_equal(counts[STAT_jumps], 3 * cases[i].jumps);
        finish(program.host);
    }
}

/* Past the TCM a load waits for memory; a store waits for the one before it only. */
static void test_past_tcm(void **state)
{
    const uint64_t read = 42, write = 83; /* cycles of LATENCY_PS and of twice that, rounded up */
    struct program program = {.host = begin(make(1000, 100, TCM))};
    (void)state;
    add(&program, LUI_A0);
    add(&program, LW_A1);
    add(&program, SW_A1);
    add(&program, SW_A1_4);
    /* load: 2 and its wait; store: 3; the second begins 3 cycles after it and waits for it, and so does tohost's */
    const uint64_t cycles = cycles_of(&program);
    const uint64_t *counts = program.host->counts;
    assert_int_equal(cycles, 1 + 2 + read + 3 + 3 + (write - 3) + (write - 3 - 2));
    assert_int_equal(counts[STAT_memory_reads], 1);
    assert_int_equal(counts[STAT_memory_writes], 3); /* with tohost's */
    assert_int_equal(program.host->request_bytes[CNNVP_READ], 4);
    assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 12);
    assert_int_equal(counts[STAT_tcm_bytes], 0x400);
    assert_int_equal(counts[STAT_sram_bytes], 0);
    finish(program.host);
}

/* 4 lines of 32 bytes in the data cache of one way: addresses 256 bytes apart share one. */
static void test_caches(void **state)
{
    struct program program = {.host = begin(make(1000, 100, CACHE))};
    (void)state;
    add(&program, LUI_A0);
    add(&program, LW_A1);     /* miss */
    add(&program, SW_A1_4);   /* hit, dirty */
    add(&program, LW_A1_64);  /* miss */
    add(&program, LW_A1_256); /* miss, writes back the first */
    add(&program, LW_A1);     /* miss */
    add(&program, LW_A1_64);  /* hit */
    (void)cycles_of(&program);
    const uint64_t *counts = program.host->counts;
    assert_int_equal(counts[STAT_dcache_misses], 5); /* with tohost's, which is in the first line's set */
    assert_int_equal(counts[STAT_dcache_hits], 2);
    assert_int_equal(counts[STAT_write_backs], 1);
    assert_int_equal(counts[STAT_icache_misses], 2); /* 10 instructions of 4 bytes */
    assert_int_equal(counts[STAT_fills], 7);
    assert_int_equal(program.host->request_bytes[CNNVP_READ], 7 * 32);
    assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 32);
    assert_int_equal(counts[STAT_sram_bytes], 7 * 4 + 8 * 32);
    finish(program.host);
}

/* fence.i writes dirty lines back, once, and waits for that; code is fetched anew, data stay. */
static void test_fence(void **state)
{
    const uint64_t write = 83; /* cycles, see test_past_tcm */
    uint64_t cycles[2];
    (void)state;
    for (unsigned fences = 0; fences < 2; ++fences) {
        struct program program = {.host = begin(make(1000, 100, CACHE))};
        add(&program, LUI_A0);
        add(&program, LW_A1);   /* miss */
        add(&program, SW_A1_4); /* hit, dirty */
        for (unsigned i = 0; i < 2; ++i)
            add(&program, fences ? FENCE_I : BNE);
        add(&program, LW_A1); /* hit */
        cycles[fences] = cycles_of(&program);
        const uint64_t *counts = program.host->counts;
        assert_int_equal(counts[STAT_dcache_misses], 2); /* with tohost's, in the same set */
        assert_int_equal(counts[STAT_dcache_hits], 2);
        assert_int_equal(counts[STAT_write_backs], 1); /* by fence.i, or for tohost's line */
        assert_int_equal(counts[STAT_icache_misses], fences ? 4 : 2);
        assert_int_equal(program.host->request_bytes[CNNVP_WRITE], 32);
        finish(program.host);
    }
    assert_true(cycles[1] > cycles[0] + write);
}

/* What does not fit is refused, with the size that would do; what is left of the TCM is the stack's. */
static void test_held(void **state)
{
    struct cnnvp_host *h = begin(make(1000, 100, TCM));
    const struct cnnvp_program_range ranges[] = {
        {MACHINE_RAM, 0x101}, {MACHINE_RAM + 0x8010, 0x300}, {MACHINE_RAM + 0x200, 0x600}};
    char why[256];
    struct cnnvp_cpu_program program = {
        .entry = MACHINE_RAM, .held = ranges, .held_count = 3, .why = why, .why_size = sizeof why};
    (void)state;
    put(h, 0, 0x0000006f); /* j . */
    assert_int_equal(offer(h, &program), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->counts[STAT_tcm_bytes], 0x200 + 0x600 + 0x400);
    program.stack = MACHINE_RAM + 0x10010;
    assert_int_equal(offer(h, &program), CNNVP_OK);
    h->counts[STAT_tcm_bytes] = 0;
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->counts[STAT_tcm_bytes], 4096);
    const struct cnnvp_program_range large = {MACHINE_RAM, 0x2001};
    program.held = &large;
    program.held_count = 1;
    assert_int_equal(offer(h, &program), CNNVP_E_NOMEM);
    assert_non_null(strstr(why, "cpu.tcm_size=9KiB"));
    finish(h);
}

static void test_open_memory_port(void **state)
{
    struct program program = {.host = make(1000, 100, TCM)};
    (void)state;
    program.host->open = 1;
    begin(program.host);
    add(&program, LUI_A0);
    add(&program, LW_A1);
    assert_int_equal(cycles_of(&program), 3);
    assert_int_equal(program.host->warnings, 1);
    finish(program.host);
}

static void test_impossible_cache(void **state)
{
    struct cnnvp_host *h = make(1000, 100, CACHE);
    (void)state;
    h->params[PARAM_dcache_size] = 384;
    assert_int_equal(init(h), CNNVP_E_INVAL);
    assert_int_equal(h->errors, PARAM_dcache_size);
    free(h->self);
    free(h->ram);
    free(h);
}

static void test_bad_commands(void **state)
{
    struct cnnvp_host *h = start(1000, 100);
    struct cnnvp_access access = {.op = CNNVP_READ};
    uint32_t word = 0;
    (void)state;
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_control, &access), CNNVP_E_ACCESS);
    access = (struct cnnvp_access){.op = CNNVP_COMMAND, .data = &word, .size = sizeof word};
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_control, &access), CNNVP_E_INVAL);
    cnnvp_unit_cpu.signal(h->self, PORT_irq, 99, 1);
    finish(h);
}

int main(int argc, char **argv)
{
    char *elf = argc > 1 ? argv[1] : NULL; /* of guest/unit.S */
    char *hello = argc > 2 ? argv[2] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_quantum, elf),
        cmocka_unit_test(test_tohost),
        cmocka_unit_test(test_dead_ends),
        cmocka_unit_test(test_stop_and_restart),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_past_tcm),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_fence),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_open_memory_port),
        cmocka_unit_test(test_impossible_cache),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test_prestate(test_hello, hello),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
