/* SPDX-License-Identifier: Apache-2.0 */
/* The core's way to memory and devices: how far it may run ahead, what is asked for direct access, and what a device's
 * answer does. */
#include "test.h"

#include "soc/cpu/cpu_internal.h"

enum { MHZ = 500, PS = 2000 };

#define RAM 0x80000000u
#define DEVICE 0x10000000u

struct cnnvp_host {
    struct cpu cpu;
    struct cnnvp_host_ops ops;
    cnnvp_time now, next; /* next: something else is to happen */
    uint8_t memory[1024];
    uint64_t start, end; /* of what may be accessed directly */
    uint32_t asked, warned;
    int status; /* of accesses */
    cnnvp_time delay;
    uint8_t written[4];
};

static cnnvp_time next_activity(struct cnnvp_host *h)
{
    return h->next;
}

static cnnvp_time now(struct cnnvp_host *h)
{
    return h->now;
}

static int reach(struct cnnvp_host *h, cnnvp_time at)
{
    h->now = at;
    return CNNVP_OK;
}

static int dmi(struct cnnvp_host *h, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    ++h->asked;
    assert_int_equal(port, PORT_bus);
    *dmi = (struct cnnvp_dmi){h->memory, h->start, h->end};
    return address >= h->start && address <= h->end ? CNNVP_OK : CNNVP_E_NOSUP;
}

static int access_device(struct cnnvp_host *h, uint32_t port, struct cnnvp_access *access)
{
    static const uint8_t answer[4] = {0x78, 0x56, 0x34, 0x12};
    assert_int_equal(port, PORT_bus);
    memcpy(access->op == CNNVP_READ ? access->data : h->written, access->op == CNNVP_READ ? answer : access->data,
           access->size);
    access->delay = h->delay;
    return h->status;
}

static void note(struct cnnvp_host *h, enum cnnvp_log_level level, const char *format, ...)
{
    (void)format;
    h->warned += level == CNNVP_LOG_WARNING;
}

static void start(struct cnnvp_host *h)
{
    const struct cnnvp_rv32_config config = {.hart_id = 0};
    *h = (struct cnnvp_host){.next = CNNVP_TIME_NEVER, .start = RAM, .end = RAM + sizeof h->memory - 1u};
    h->ops = (struct cnnvp_host_ops){
        .next_activity = next_activity, .now = now, .reach = reach, .dmi = dmi, .access = access_device, .log = note};
    h->cpu = (struct cpu){
        .host = h, .ops = &h->ops, .core = malloc(cnnvp_rv32_size()), .mhz = MHZ, .quantum = 100, .limit = 100};
    assert_non_null(h->cpu.core);
    assert_int_equal(cnnvp_rv32_init(h->cpu.core, &config), 0);
}

static void finish(struct cnnvp_host *h)
{
    cnnvp_rv32_fini(h->cpu.core);
    free(h->cpu.core);
}

/* A quantum, or to the first edge at or after what else happens, but a cycle at least. */
static void test_cycles(void **state)
{
    static struct cnnvp_host h;
    (void)state;
    start(&h);
    assert_int_equal(cpu_cycles(&h.cpu, 10), 100);
    h.next = 60 * PS;
    assert_int_equal(cpu_cycles(&h.cpu, 10), 50);
    h.next = 60 * PS + 1;
    assert_int_equal(cpu_cycles(&h.cpu, 10), 51);
    h.next = 1000 * PS;
    assert_int_equal(cpu_cycles(&h.cpu, 10), 100);
    h.next = 10 * PS;
    assert_int_equal(cpu_cycles(&h.cpu, 10), 1);
    h.next = 20 * PS;
    cpu_tighten(&h.cpu);
    assert_int_equal(h.cpu.limit, 20);
    h.next = 30 * PS; /* it is never made longer */
    cpu_tighten(&h.cpu);
    assert_int_equal(h.cpu.limit, 20);
    finish(&h);
}

/* Whole granules of what is offered are memory; a page that has none is asked about once. */
static void test_memory(void **state)
{
    static struct cnnvp_host h;
    uint32_t value = 0;
    (void)state;
    start(&h);
    h.start = RAM + 8; /* up to the next multiple of 256; likewise at the end */
    assert_int_equal(cpu_store(&h.cpu, RAM + 256 + 4, 4, 0x04030201), 0);
    assert_int_equal(h.memory[256 - 8 + 4], 1);
    assert_int_equal(h.memory[256 - 8 + 7], 4);
    assert_int_equal(cpu_load(&h.cpu, RAM + 256 + 5, 2, &value), 0);
    assert_int_equal(value, 0x0302);
    assert_int_equal(h.asked, 1);
    assert_null(cpu_memory(&h.cpu, RAM + 255, 1));
    assert_non_null(cpu_memory(&h.cpu, RAM + 256, 768));
    assert_null(cpu_memory(&h.cpu, RAM + 256, 769));
    for (uint32_t i = 0; i < 3; ++i)
        assert_int_equal(cpu_map(&h.cpu, DEVICE + 4 * i), 0);
    assert_int_equal(h.asked, 2);
    assert_int_equal(cpu_map(&h.cpu, DEVICE + 4096), 0);
    assert_int_equal(h.asked, 3);
    finish(&h);
}

/* What a device takes is stalled for; an error is the guest's fault, of which the first 16 are told; a stop is none. */
static void test_device(void **state)
{
    static struct cnnvp_host h;
    uint32_t value = 0;
    uint16_t half = 0;
    (void)state;
    start(&h);
    h.delay = 3 * PS + 1;
    assert_int_equal(cpu_load(&h.cpu, DEVICE, 4, &value), 0);
    assert_int_equal(value, 0x12345678);
    assert_int_equal(h.cpu.stall_cycles, 4);
    assert_int_equal(h.cpu.edge, 4);
    h.delay = 0;
    assert_int_equal(cpu_store(&h.cpu, DEVICE, 2, 0xbbaa), 0);
    assert_int_equal(h.written[0], 0xaa);
    assert_int_equal(h.written[1], 0xbb);
    assert_int_equal(h.now, 4 * PS);
    assert_int_equal(cpu_fetch(&h.cpu, DEVICE, &half), 0);
    assert_int_equal(half, 0x5678);
    assert_int_equal(h.cpu.device_reads, 1);
    assert_int_equal(h.cpu.device_writes, 1);
    h.status = CNNVP_E_ADDR;
    for (uint32_t i = 0; i < 20; ++i)
        assert_int_equal(cpu_load(&h.cpu, DEVICE, 4, &value), CNNVP_E_ADDR);
    assert_int_equal(h.warned, 16);
    assert_int_equal(h.cpu.stopped, 0);
    h.cpu.faults_logged = 0;
    h.status = CNNVP_E_STOPPED;
    assert_int_equal(cpu_fetch(&h.cpu, DEVICE, &half), CNNVP_E_STOPPED);
    assert_int_equal(cpu_load(&h.cpu, DEVICE, 4, &value), CNNVP_E_STOPPED);
    assert_int_equal(h.cpu.stopped, 1);
    assert_int_equal(h.warned, 16);
    finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
