/* SPDX-License-Identifier: Apache-2.0 */
/* The serial port: sending, receiving, interrupts, loop-back, wrong accesses, reset. */

#include "test.h"

#include "fake_host.h"
#include "units.h"

static struct fake_sim sim;

static struct cnnvp_host *begin(void)
{
    fake_sim_init(&sim, 1000, 0, 0);
    struct cnnvp_host *host = fake_add(&sim, &cnnvp_unit_uart);
    fake_set(host, "poll_us", 1000);
    assert_int_equal(fake_start(host), CNNVP_OK);
    assert_true(host->event_at[0] == CNNVP_TIME_NEVER);
    return host;
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
    struct cnnvp_host *host = begin();

    (void)state;
    for (const char *text = "hi\n"; *text; ++text) {
        assert_int_equal(get(host, LSR) & 0x60, 0x60);
        put(host, DATA, (unsigned char)*text);
    }
    assert_memory_equal(host->output, "hi\n", 3);
    assert_int_equal(host->output_size, 3);
    assert_int_equal(fake_count(host, "bytes_sent"), 3);
    assert_int_equal(host->irq_level[1], 0);
    fake_sim_free(&sim);
}

static void test_receive(void **state)
{
    const char *text = "more than sixteen bytes of input";
    struct cnnvp_host *host = begin();

    (void)state;
    assert_int_equal(get(host, LSR) & 1, 0);
    assert_int_equal(get(host, DATA), 0);
    host->input = text;
    for (const char *expected = text; *expected; ++expected) {
        assert_int_equal(get(host, LSR) & 3, 1); /* ready, nothing lost */
        assert_int_equal(get(host, DATA), *expected);
    }
    assert_int_equal(get(host, LSR) & 1, 0);
    assert_int_equal(fake_count(host, "bytes_received"), strlen(text));
    fake_sim_free(&sim);
}

static void test_receive_interrupt(void **state)
{
    struct cnnvp_host *host = begin();

    (void)state;
    put(host, IER, 1);
    assert_true(host->event_at[0] == 1000u * 1000000u);
    fake_run(&sim, host->event_at[0]);
    assert_int_equal(host->irq_level[1], 0);
    assert_true(host->event_at[0] == 2 * sim.now); /* it goes on looking */
    host->input = "x";
    fake_run(&sim, host->event_at[0]);
    assert_int_equal(host->irq_level[1], 1);
    assert_int_equal(get(host, IIR), 4);
    assert_int_equal(get(host, DATA), 'x');
    assert_int_equal(host->irq_level[1], 0);
    assert_int_equal(get(host, IIR), 1);
    put(host, IER, 0);
    assert_true(host->event_at[0] == CNNVP_TIME_NEVER);
    fake_sim_free(&sim);
}

static void test_empty_interrupt(void **state)
{
    struct cnnvp_host *host = begin();

    (void)state;
    put(host, IER, 2); /* the transmitter is empty already */
    assert_int_equal(host->irq_level[1], 1);
    put(host, 2, 1);
    assert_int_equal(get(host, IIR), 0xc2); /* reading it takes it away */
    assert_int_equal(host->irq_level[1], 0);
    assert_int_equal(get(host, IIR), 0xc1);
    put(host, DATA, 'a');
    assert_int_equal(host->irq_level[1], 1);
    fake_sim_free(&sim);
}

static void test_loop_back(void **state)
{
    struct cnnvp_host *host = begin();

    (void)state;
    assert_int_equal(get(host, MSR), 0xb0);
    put(host, MCR, 0x1a);
    assert_int_equal(get(host, MSR), 0x90); /* RTS, OUT2 as CTS, DCD */
    host->input = "not this";
    put(host, IER, 4);
    for (unsigned i = 0; i < 17; ++i)
        put(host, DATA, 'A' + i);
    assert_int_equal(host->output_size, 0);
    assert_int_equal(host->irq_level[1], 1); /* the 17th byte is lost */
    assert_int_equal(get(host, IIR), 6);
    assert_int_equal(get(host, LSR) & 3, 3);
    assert_int_equal(host->irq_level[1], 0);
    for (unsigned i = 0; i < 16; ++i)
        assert_int_equal(get(host, DATA), 'A' + i);
    put(host, DATA, 'z');
    put(host, 2, 2); /* empties the FIFO */
    assert_int_equal(get(host, LSR) & 1, 0);
    fake_sim_free(&sim);
}

static void test_other_registers(void **state)
{
    struct cnnvp_host *host = begin();

    (void)state;
    put(host, LCR, 0x83);
    put(host, DATA, 0x12); /* the divisor, nothing is sent */
    put(host, IER, 0x34);
    assert_int_equal(get(host, DATA), 0x12);
    assert_int_equal(get(host, IER), 0x34);
    put(host, LCR, 0x03);
    assert_int_equal(get(host, IER), 0);
    assert_int_equal(host->output_size, 0);
    put(host, SCR, 0x5a);
    assert_int_equal(get(host, SCR), 0x5a);
    put(host, LSR, 0xff); /* read-only */
    put(host, MSR, 0xff);
    assert_int_equal(get(host, LSR), 0x60);
    put(host, MCR, 0xff);
    assert_int_equal(get(host, MCR), 0x1f);
    fake_sim_free(&sim);
}

static void test_wrong_accesses(void **state)
{
    struct cnnvp_host *host = begin();
    uint8_t bytes[4] = {0};

    (void)state;
    assert_int_equal(go(host, CNNVP_READ, 0, bytes, 4, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(host, CNNVP_READ, 8, bytes, 1, 0), CNNVP_E_ADDR);
    assert_int_equal(go(host, CNNVP_READ, UINT64_MAX, bytes, 1, 0), CNNVP_E_ADDR);
    assert_int_equal(go(host, CNNVP_WRITE, 0, NULL, 1, 0), CNNVP_E_INVAL);
    assert_int_equal(go(host, CNNVP_COMMAND, 0, bytes, 1, 0), CNNVP_E_NOSUP);
    host->input = "x";
    assert_int_equal(go(host, CNNVP_READ, LSR, bytes, 1, CNNVP_DEBUG), CNNVP_OK);
    assert_int_equal(bytes[0], 0x60); /* a debugger's look takes nothing from the input */
    assert_int_equal(go(host, CNNVP_WRITE, 0, bytes, 1, CNNVP_DEBUG), CNNVP_E_NOSUP);
    assert_int_equal(get(host, DATA), 'x');
    fake_sim_free(&sim);
}

static void test_reset(void **state)
{
    struct cnnvp_host *host = begin();

    (void)state;
    host->input = "abc";
    put(host, IER, 3);
    assert_int_equal(get(host, LSR) & 1, 1);
    assert_int_equal(host->irq_level[1], 1);
    fake_reset(host);
    assert_int_equal(host->irq_level[1], 0);
    assert_true(host->event_at[0] == CNNVP_TIME_NEVER);
    assert_int_equal(get(host, IER), 0);
    assert_int_equal(get(host, LSR), 0x60);
    fake_sim_free(&sim);
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
