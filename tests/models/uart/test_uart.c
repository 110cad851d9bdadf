/* SPDX-License-Identifier: Apache-2.0 */
/* The serial port: sending, receiving, interrupts, loop-back, wrong accesses, reset. With a small host of its own,
 * whose console is two strings. */

#include "test.h"

#include "uart/uart.h"

struct cnnvp_host {
    char output[64];
    size_t output_size;
    const char *input;
    int irq;
    cnnvp_time now, due; /* of the poll event; CNNVP_TIME_NEVER: none */
    uint64_t counts[8];
    void *self;
};

static uint64_t param(struct cnnvp_host *host, uint32_t index)
{
    (void)host;
    (void)index;
    return 1000;
}

static cnnvp_time now(struct cnnvp_host *host)
{
    return host->now;
}

static int notify(struct cnnvp_host *host, uint32_t event, cnnvp_time at)
{
    (void)event;
    host->due = at;
    return CNNVP_OK;
}

static int cancel(struct cnnvp_host *host, uint32_t event)
{
    (void)event;
    host->due = CNNVP_TIME_NEVER;
    return CNNVP_OK;
}

static int irq(struct cnnvp_host *host, uint32_t port, int level)
{
    assert_int_equal(port, 1);
    host->irq = level;
    return CNNVP_OK;
}

static void count(struct cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n)
{
    (void)tag;
    assert_true(stat < sizeof host->counts / sizeof host->counts[0]);
    host->counts[stat] += n;
}

static void console_write(struct cnnvp_host *host, const void *data, size_t size)
{
    assert_true(host->output_size + size < sizeof host->output);
    memcpy(host->output + host->output_size, data, size);
    host->output_size += size;
}

static size_t console_read(struct cnnvp_host *host, void *data, size_t size)
{
    size_t got = strlen(host->input);

    if (got > size)
        got = size;
    memcpy(data, host->input, got);
    host->input += got;
    return got;
}

static const struct cnnvp_host_ops ops = {
    .struct_size = sizeof ops,
    .abi_major = CNNVP_ABI_MAJOR,
    .param = param,
    .now = now,
    .notify = notify,
    .cancel = cancel,
    .irq = irq,
    .count = count,
    .console_write = console_write,
    .console_read = console_read,
};

static void begin(struct cnnvp_host *host)
{
    const struct cnnvp_init init = {sizeof init, 0, "uart", host, &ops};

    memset(host, 0, sizeof *host);
    host->input = "";
    host->self = calloc(1, cnnvp_unit_uart.instance_size);
    assert_non_null(host->self);
    assert_int_equal(cnnvp_unit_uart.init(host->self, &init), CNNVP_OK);
    cnnvp_unit_uart.reset(host->self);
    assert_true(host->due == CNNVP_TIME_NEVER);
}

static int go(struct cnnvp_host *host, uint32_t op, uint64_t address, uint8_t *byte, uint64_t size, uint32_t flags)
{
    struct cnnvp_access access = {.op = op, .address = address, .data = byte, .size = size, .flags = flags};

    return cnnvp_unit_uart.access(host->self, 0, &access);
}

static uint8_t get(struct cnnvp_host *host, uint64_t address)
{
    uint8_t byte = 0xee;

    assert_int_equal(go(host, CNNVP_READ, address, &byte, 1, 0), CNNVP_OK);
    return byte;
}

static void put(struct cnnvp_host *host, uint64_t address, unsigned value)
{
    uint8_t byte = (uint8_t)value;

    assert_int_equal(go(host, CNNVP_WRITE, address, &byte, 1, 0), CNNVP_OK);
}

enum { DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR };

static void test_send(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    for (const char *text = "hi\n"; *text; ++text) {
        assert_int_equal(get(&host, LSR) & 0x60, 0x60);
        put(&host, DATA, (unsigned char)*text);
    }
    assert_memory_equal(host.output, "hi\n", 3);
    assert_int_equal(host.output_size, 3);
    assert_int_equal(host.counts[0], 3);
    assert_int_equal(host.irq, 0);
    free(host.self);
}

static void test_receive(void **state)
{
    const char *text = "more than sixteen bytes of input";
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    assert_int_equal(get(&host, LSR) & 1, 0);
    assert_int_equal(get(&host, DATA), 0);
    host.input = text;
    for (const char *expected = text; *expected; ++expected) {
        assert_int_equal(get(&host, LSR) & 3, 1); /* ready, nothing lost */
        assert_int_equal(get(&host, DATA), *expected);
    }
    assert_int_equal(get(&host, LSR) & 1, 0);
    assert_int_equal(host.counts[1], strlen(text));
    free(host.self);
}

static void test_receive_interrupt(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    put(&host, IER, 1);
    assert_true(host.due == 1000u * 1000000u);
    host.now = host.due;
    cnnvp_unit_uart.event(host.self, 0);
    assert_int_equal(host.irq, 0);
    assert_true(host.due == 2 * host.now); /* it goes on looking */
    host.input = "x";
    host.now = host.due;
    cnnvp_unit_uart.event(host.self, 0);
    assert_int_equal(host.irq, 1);
    assert_int_equal(get(&host, IIR), 4);
    assert_int_equal(get(&host, DATA), 'x');
    assert_int_equal(host.irq, 0);
    assert_int_equal(get(&host, IIR), 1);
    put(&host, IER, 0);
    assert_true(host.due == CNNVP_TIME_NEVER);
    free(host.self);
}

static void test_empty_interrupt(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    put(&host, IER, 2); /* the transmitter is empty already */
    assert_int_equal(host.irq, 1);
    put(&host, 2, 1);
    assert_int_equal(get(&host, IIR), 0xc2); /* reading it takes it away */
    assert_int_equal(host.irq, 0);
    assert_int_equal(get(&host, IIR), 0xc1);
    put(&host, DATA, 'a');
    assert_int_equal(host.irq, 1);
    free(host.self);
}

static void test_loop_back(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    assert_int_equal(get(&host, MSR), 0xb0);
    put(&host, MCR, 0x1a);
    assert_int_equal(get(&host, MSR), 0x90); /* RTS, OUT2 as CTS, DCD */
    host.input = "not this";
    put(&host, IER, 4);
    for (unsigned i = 0; i < 17; ++i)
        put(&host, DATA, 'A' + i);
    assert_int_equal(host.output_size, 0);
    assert_int_equal(host.irq, 1); /* the 17th byte is lost */
    assert_int_equal(get(&host, IIR), 6);
    assert_int_equal(get(&host, LSR) & 3, 3);
    assert_int_equal(host.irq, 0);
    for (unsigned i = 0; i < 16; ++i)
        assert_int_equal(get(&host, DATA), 'A' + i);
    put(&host, DATA, 'z');
    put(&host, 2, 2); /* empties the FIFO */
    assert_int_equal(get(&host, LSR) & 1, 0);
    free(host.self);
}

static void test_other_registers(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    put(&host, LCR, 0x83);
    put(&host, DATA, 0x12); /* the divisor, nothing is sent */
    put(&host, IER, 0x34);
    assert_int_equal(get(&host, DATA), 0x12);
    assert_int_equal(get(&host, IER), 0x34);
    put(&host, LCR, 0x03);
    assert_int_equal(get(&host, IER), 0);
    assert_int_equal(host.output_size, 0);
    put(&host, SCR, 0x5a);
    assert_int_equal(get(&host, SCR), 0x5a);
    put(&host, LSR, 0xff); /* read-only */
    put(&host, MSR, 0xff);
    assert_int_equal(get(&host, LSR), 0x60);
    put(&host, MCR, 0xff);
    assert_int_equal(get(&host, MCR), 0x1f);
    free(host.self);
}

static void test_wrong_accesses(void **state)
{
    struct cnnvp_host host;
    uint8_t bytes[4] = {0};

    (void)state;
    begin(&host);
    assert_int_equal(go(&host, CNNVP_READ, 0, bytes, 4, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&host, CNNVP_READ, 8, bytes, 1, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&host, CNNVP_READ, UINT64_MAX, bytes, 1, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&host, CNNVP_WRITE, 0, NULL, 1, 0), CNNVP_E_INVAL);
    assert_int_equal(go(&host, CNNVP_COMMAND, 0, bytes, 1, 0), CNNVP_E_NOSUP);
    host.input = "x";
    assert_int_equal(go(&host, CNNVP_READ, LSR, bytes, 1, CNNVP_DEBUG), CNNVP_OK);
    assert_int_equal(bytes[0], 0x60); /* a debugger's look takes nothing from the input */
    assert_int_equal(go(&host, CNNVP_WRITE, 0, bytes, 1, CNNVP_DEBUG), CNNVP_E_NOSUP);
    assert_int_equal(get(&host, DATA), 'x');
    free(host.self);
}

static void test_reset(void **state)
{
    struct cnnvp_host host;

    (void)state;
    begin(&host);
    host.input = "abc";
    put(&host, IER, 3);
    assert_int_equal(get(&host, LSR) & 1, 1);
    assert_int_equal(host.irq, 1);
    cnnvp_unit_uart.reset(host.self);
    assert_int_equal(host.irq, 0);
    assert_true(host.due == CNNVP_TIME_NEVER);
    assert_int_equal(get(&host, IER), 0);
    assert_int_equal(get(&host, LSR), 0x60);
    free(host.self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_receive),
        cmocka_unit_test(test_receive_interrupt),
        cmocka_unit_test(test_empty_interrupt),
        cmocka_unit_test(test_loop_back),
        cmocka_unit_test(test_other_registers),
        cmocka_unit_test(test_wrong_accesses),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
