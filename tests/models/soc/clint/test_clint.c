/* SPDX-License-Identifier: Apache-2.0 */
/* The timer: mtime, the exact tick of the interrupt, software interrupt, reset. */

#include "test.h"

#include "units.h"
#include "fake_host.h"

enum { PORT_SOFTWARE = 1, PORT_TIMER = 2 };
static const cnnvp_time us = 1000000;

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *host;
};

static void begin(struct fixture *f, uint64_t timebase_mhz)
{
    fake_sim_init(&f->sim, 1000, 0, 16);
    f->host = fake_add(&f->sim, &cnnvp_unit_clint);
    fake_set(f->host, "timebase_mhz", timebase_mhz);
    assert_int_equal(fake_start(f->host), CNNVP_OK);
}

static uint64_t read_pair(struct cnnvp_host *host, const char *low, const char *high)
{
    const uint64_t upper = fake_read(host, high);

    return upper << 32 | fake_read(host, low);
}

static void set_compare(struct cnnvp_host *host, uint64_t value)
{
    assert_int_equal(fake_write(host, "MTIMECMP_HI", 0xffffffffu), CNNVP_OK);
    assert_int_equal(fake_write(host, "MTIMECMP_LO", (uint32_t)value), CNNVP_OK);
    assert_int_equal(fake_write(host, "MTIMECMP_HI", (uint32_t)(value >> 32)), CNNVP_OK);
}

static void test_time(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 0);
    fake_run(&f.sim, 99999);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 0);
    fake_run(&f.sim, 100000);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 1);
    fake_run(&f.sim, 500 * us + 99999);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 5000);
    fake_sim_free(&f.sim);
}

/* 3 MHz: ticks at floor(n * 10^6 / 3) ps. */
static void test_interrupt_at_the_exact_tick(void **state)
{
    static const uint64_t rates[] = {1, 3, 10, 7};

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; ++i) {
        struct fixture f;
        const cnnvp_time due = cnnvp_edge_time(rates[i], 1000);

        begin(&f, rates[i]);
        assert_int_equal(f.host->irq_level[PORT_TIMER], 0); /* none after reset */
        set_compare(f.host, 1000);
        fake_run(&f.sim, due - 1);
        assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
        fake_run(&f.sim, due + 5 * us);
        assert_int_equal(f.host->irq_level[PORT_TIMER], 1);
        assert_int_equal(f.host->irq_changed[PORT_TIMER], due);
        set_compare(f.host, 2000); /* the level follows the comparison */
        assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
        set_compare(f.host, 1);
        assert_int_equal(f.host->irq_level[PORT_TIMER], 1);
        assert_int_equal(fake_count(f.host, "timer_interrupts"), 2);
        fake_sim_free(&f.sim);
    }
}

/* Far compare values are never due, and do not overflow. */
static void test_far_compare(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    set_compare(f.host, UINT64_MAX);
    fake_run(&f.sim, 1000 * us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    set_compare(f.host, UINT64_C(1) << 62);
    fake_run(&f.sim, 2000 * us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    fake_sim_free(&f.sim);
}

static void test_written_time(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    set_compare(f.host, UINT64_C(0x100000010));
    fake_run(&f.sim, 10 * us);
    assert_int_equal(fake_write(f.host, "MTIME_LO", 0), CNNVP_OK);
    assert_int_equal(fake_write(f.host, "MTIME_HI", 1), CNNVP_OK);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), UINT64_C(0x100000000));
    fake_run(&f.sim, 10 * us + 15 * 100000);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    fake_run(&f.sim, 10 * us + 16 * 100000);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 1);
    fake_sim_free(&f.sim);
}

/* Compared with all ones it is further away than ticks can count: no interrupt, and nothing to wait for. */
static void test_time_set_back(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    fake_run(&f.sim, 10 * us);
    assert_int_equal(fake_write(f.host, "MTIME_LO", 0), CNNVP_OK);
    fake_run(&f.sim, 20 * us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 100);
    set_compare(f.host, 150);
    fake_run(&f.sim, 25 * us - 1);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    fake_run(&f.sim, 25 * us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 1);
    fake_reset(f.host);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 0);
    fake_run(&f.sim, 26 * us);
    assert_int_equal(read_pair(f.host, "MTIME_LO", "MTIME_HI"), 10);
    fake_sim_free(&f.sim);
}

static void test_software_interrupt_and_reset(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 10);
    assert_int_equal(fake_write(f.host, "MSIP", 0xffffffffu), CNNVP_OK);
    assert_int_equal(fake_read(f.host, "MSIP"), 1);
    assert_int_equal(f.host->irq_level[PORT_SOFTWARE], 1);
    set_compare(f.host, 1);
    fake_run(&f.sim, us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 1);
    fake_reset(f.host);
    assert_int_equal(f.host->irq_level[PORT_SOFTWARE], 0);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    assert_int_equal(fake_read(f.host, "MTIMECMP_LO"), 0xffffffffu);
    set_compare(f.host, 50);
    fake_reset(f.host); /* with the timer running */
    fake_run(&f.sim, 100 * us);
    assert_int_equal(f.host->irq_level[PORT_TIMER], 0);
    fake_sim_free(&f.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),          cmocka_unit_test(test_interrupt_at_the_exact_tick),
        cmocka_unit_test(test_far_compare),   cmocka_unit_test(test_written_time),
        cmocka_unit_test(test_time_set_back), cmocka_unit_test(test_software_interrupt_and_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
