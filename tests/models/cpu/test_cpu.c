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

enum { REPORTS = 1024, STATS = 16, PORT_CONTROL = 0, PORT_IRQ = 2 };

struct cnnvp_host {
    void *self;
    uint64_t params[8];
    cnnvp_time now;
    cnnvp_time timer_at;
    cnnvp_time noise_at;     /* something unrelated that keeps the kernel busy */
    cnnvp_time noise_period; /* 0: silence */
    cnnvp_time stop_at;
    int woken;
    uint8_t *ram;
    uint64_t counts[STATS];
    uint64_t reports[REPORTS]; /* time << 32 | value, roughly */
    unsigned report_count;
    char console[256];
    size_t console_size;
    int code;
    const char *reason;
    int finished;
    unsigned errors;
    cnnvp_time slow; /* what a read of the slow register takes, ps */
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
    return h->timer_at < h->noise_at ? h->timer_at : h->noise_at;
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
        cnnvp_unit_cpu.signal(h->self, PORT_IRQ, 1, 1);
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
        cnnvp_unit_cpu.signal(h->self, PORT_IRQ, 1, 0);
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

static struct cnnvp_host *start(uint64_t mhz, uint64_t quantum)
{
    struct cnnvp_host *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->self = calloc(1, cnnvp_unit_cpu.instance_size);
    h->ram = calloc(1, MACHINE_RAM_SIZE);
    h->params[0] = mhz;
    h->params[1] = quantum;
    h->params[2] = 10;
    h->timer_at = h->noise_at = h->stop_at = CNNVP_TIME_NEVER;
    const struct cnnvp_init init = {sizeof init, 0, "cpu", h, &ops};
    assert_int_equal(cnnvp_unit_cpu.init(h->self, &init), CNNVP_OK);
    cnnvp_unit_cpu.reset(h->self);
    return h;
}

static void finish(struct cnnvp_host *h)
{
    cnnvp_unit_cpu.fini(h->self);
    free(h->self);
    free(h->ram);
    free(h);
}

static void run(struct cnnvp_host *h, uint32_t entry, uint32_t tohost)
{
    static char name[] = "prog", first[] = "first", second[] = "second";
    char *const argv[] = {name, first, second};
    struct cnnvp_cpu_program program = {.entry = entry, .tohost = tohost, .argc = 3, .argv = argv};
    struct cnnvp_access command = {.op = CNNVP_COMMAND, .data = &program, .size = sizeof program};
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_CONTROL, &command), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
}

static struct cnnvp_host *run_elf(const char *path, uint64_t mhz, uint64_t quantum, cnnvp_time noise)
{
    struct machine loader;
    uint32_t entry, tohost;
    struct cnnvp_host *h = start(mhz, quantum);
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
    for (unsigned c = 0; c < 3; ++c) {
        struct cnnvp_host *expected = run_elf(elf, clocks[c], 10000, 0);
        assert_int_equal(expected->finished, 1);
        assert_int_equal(expected->code, 7);
        assert_int_equal(expected->report_count, 60 * 6);
        assert_string_equal(expected->console, "first second");
        for (unsigned q = 0; q < 10; ++q) {
            struct cnnvp_host *h = run_elf(elf, clocks[c], quanta[q / 2], q % 2 ? 1370 : 0);
            assert_int_equal(h->now, expected->now);
            assert_int_equal(h->report_count, expected->report_count);
            assert_memory_equal(h->reports, expected->reports, sizeof h->reports);
            assert_memory_equal(h->counts, expected->counts, sizeof h->counts);
            finish(h);
        }
        /* cycles and time say the same: the last instruction is the exit, at `now` */
        assert_true(expected->counts[1] - 1u == cnnvp_edge_at_or_after(clocks[c], expected->now));
        finish(expected);
    }
}

/* A C program on picolibc: output, command line, exit status, all by semihosting. */
static void test_hello(void **state)
{
    const char *elf = *state;
    if (elf == NULL)
        skip();
    struct cnnvp_host *h = run_elf(elf, 1000, 10000, 0);
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
        assert_int_equal(h->counts[0], 3);
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
    assert_int_equal(h->counts[0], 1000);
    h->stop_at = 3000000;
    cnnvp_unit_cpu.reset(h->self);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
    assert_int_equal(h->counts[0], 3000);
    assert_int_equal(h->finished, 0);
    finish(h);
}

static void test_bad_commands(void **state)
{
    struct cnnvp_host *h = start(1000, 100);
    struct cnnvp_access access = {.op = CNNVP_READ};
    uint32_t word = 0;
    (void)state;
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_CONTROL, &access), CNNVP_E_ACCESS);
    access = (struct cnnvp_access){.op = CNNVP_COMMAND, .data = &word, .size = sizeof word};
    assert_int_equal(cnnvp_unit_cpu.access(h->self, PORT_CONTROL, &access), CNNVP_E_INVAL);
    cnnvp_unit_cpu.signal(h->self, PORT_IRQ, 99, 1);
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
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test_prestate(test_hello, hello),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
