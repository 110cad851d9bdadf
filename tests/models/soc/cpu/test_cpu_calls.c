/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls are open, as the trace and the profiler are told: each that is opened is closed, in order. */
#include "test.h"

#include "soc/cpu/cpu_internal.h"
#include "soc/cpu/rv32_internal.h"

struct cnnvp_host {
    struct cpu cpu;
    struct cnnvp_host_ops ops;
    struct cnnvp_profiler profiler;
    uint32_t open[CPU_CALLS + 1]; /* as the profiler has it */
    uint32_t depth, told;         /* told: values of the counter */
    uint64_t last;                /* value */
    cnnvp_time last_at;
};

static void counter(struct cnnvp_host *h, uint32_t number, cnnvp_time at, uint64_t value)
{
    h->last_at = at;
    assert_int_equal(number, COUNTER_functions);
    ++h->told;
    h->last = value;
}

static void opened(void *context, uint32_t from, uint32_t to, const struct cnnvp_core_cost *all)
{
    struct cnnvp_host *h = context;
    (void)from, (void)all;
    h->open[h->depth++] = to;
}

static void closed(void *context, const struct cnnvp_core_cost *all)
{
    struct cnnvp_host *h = context;
    (void)all;
    assert_true(h->depth > 0);
    --h->depth;
}

/* A program that begins at 0x80000000. */
static void start(struct cnnvp_host *h)
{
    const struct cnnvp_rv32_config config = {.hart_id = 0};
    *h = (struct cnnvp_host){.ops = {.counter = counter}, .profiler = {.context = h, .call = opened, .leave = closed}};
    h->cpu = (struct cpu){.host = h, .ops = &h->ops, .core = malloc(cnnvp_rv32_size()), .mhz = 1000};
    h->cpu.program = (struct cnnvp_cpu_program){.entry = 0x80000000, .follow_calls = 1, .profiler = &h->profiler};
    assert_non_null(h->cpu.core);
    assert_int_equal(cnnvp_rv32_init(h->cpu.core, &config), 0);
    assert_true(cpu_follows_calls(&h->cpu));
    cpu_calls_start(&h->cpu);
    assert_int_equal(h->depth, 1);
    assert_int_equal(h->open[0], 0x80000000);
    assert_int_equal(h->last, UINT64_C(0x180000000));
}

static void end(struct cnnvp_host *h)
{
    cnnvp_rv32_fini(h->cpu.core);
    free(h->cpu.core);
}

static void call(struct cnnvp_host *h, uint32_t to, uint32_t back, uint32_t depth)
{
    cpu_call(&h->cpu, CNNVP_RV32_CALL, back - 4u, to, back);
    assert_int_equal(h->depth, depth);
    assert_int_equal(h->open[depth - 1u], to);
}

static void go_back(struct cnnvp_host *h, uint32_t to, uint32_t depth)
{
    cpu_call(&h->cpu, CNNVP_RV32_RETURN, 0x500, to, 0);
    assert_int_equal(h->depth, depth);
}

/* A jump through a return register closes none, one to an outer call's place closes the inner ones too. */
static void test_returns(void **state)
{
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    call(&h, 0x100, 0x20, 2);
    call(&h, 0x200, 0x108, 3);
    call(&h, 0x300, 0x208, 4);
    go_back(&h, 0x999, 4);
    go_back(&h, 0x208, 3);
    call(&h, 0x300, 0x210, 4);
    go_back(&h, 0x20, 1);
    assert_int_equal(h.told, 1 + 4 + 4); /* each opened and closed once, but for the program */
    assert_int_equal(h.last, 0);
    call(&h, 0x100, 0x20, 2);
    cpu_calls_start(&h.cpu); /* the next program */
    assert_int_equal(h.depth, 1);
    end(&h);
}

/* A function does not return out of the trap handler that has called it; mret closes what the handler has left open. */
static void test_traps(void **state)
{
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    call(&h, 0x100, 0x20, 2);
    cpu_call(&h.cpu, CNNVP_RV32_ENTER, 0x104, 0x800, 0x104);
    assert_int_equal(h.depth, 3);
    call(&h, 0x300, 0x808, 4);
    go_back(&h, 0x20, 4);
    cpu_call(&h.cpu, CNNVP_RV32_LEAVE, 0x810, 0x104, 0);
    assert_int_equal(h.depth, 2);
    cpu_call(&h.cpu, CNNVP_RV32_LEAVE, 0x810, 0x104, 0); /* of no trap */
    assert_int_equal(h.depth, 2);
    go_back(&h, 0x20, 1);
    end(&h);
}

/* Deeper calls than there is room for are not shown. */
static void test_depth(void **state)
{
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    for (uint32_t i = 1; i < CPU_CALLS; ++i)
        call(&h, 0x1000 * i, 0x10 * i, i + 1u);
    cpu_call(&h.cpu, CNNVP_RV32_CALL, 0, 0x77, 0x78);
    assert_int_equal(h.depth, CPU_CALLS);
    go_back(&h, 0x78, CPU_CALLS);
    go_back(&h, 0x10 * (CPU_CALLS - 1), CPU_CALLS - 1);
    go_back(&h, 0x10, 1);
    end(&h);
}

/* A recursion calls from one place: the returns of calls that are not shown come first, and close none. */
static void test_recursion(void **state)
{
    enum { DEEP = CPU_CALLS + 100, FRAME = 16, STACK = 0x10000 };
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    for (uint32_t i = 1; i < DEEP; ++i) {
        cnnvp_rv32_set_reg(h.cpu.core, 2, STACK - FRAME * i);
        cpu_call(&h.cpu, CNNVP_RV32_CALL, 0x104, 0x100, i == 1 ? 0x20 : 0x108);
        assert_int_equal(h.depth, i < CPU_CALLS ? i + 1 : CPU_CALLS);
    }
    for (uint32_t i = DEEP; --i > 0;) {
        cnnvp_rv32_set_reg(h.cpu.core, 2, STACK - FRAME * i);
        go_back(&h, i == 1 ? 0x20 : 0x108, i < CPU_CALLS ? i : CPU_CALLS);
    }
    end(&h);
}

/* Instructions that take no time (timing: off) move no call. */
static void test_free_instructions(void **state)
{
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    h.cpu.edge = 100;
    call(&h, 0x100, 0x20, 2);
    assert_int_equal(h.last_at, cnnvp_edge_time(1000, 100));
    h.cpu.core->executed = 7;
    call(&h, 0x200, 0x108, 3);
    assert_int_equal(h.last_at, cnnvp_edge_time(1000, 107));
    h.cpu.free = 7;
    go_back(&h, 0x108, 2);
    assert_int_equal(h.last_at, cnnvp_edge_time(1000, 100));
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_instructions),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_traps),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
