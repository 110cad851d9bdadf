/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt controller: gateways, priorities, threshold, claim and completion, reset. */

#include "test.h"

#include "fake_host.h"
#include "units.h"

enum { PORT_SOURCE = 1, PORT_EXTERNAL = 2 };

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *host;
};

static void begin(struct fixture *f)
{
    fake_sim_init(&f->sim, 1000, 0, 16);
    f->host = fake_add(&f->sim, &cnnvp_unit_plic);
    assert_int_equal(fake_start(f->host), CNNVP_OK);
}

static void line(struct fixture *f, uint32_t number, int level)
{
    f->host->unit->signal(f->host->self, PORT_SOURCE, number, level);
}

static void write_reg(struct fixture *f, const char *name, uint32_t value)
{
    assert_int_equal(fake_write(f->host, name, value), CNNVP_OK);
}

static void set_priority(struct fixture *f, uint32_t source, uint32_t value)
{
    char name[16];

    (void)snprintf(name, sizeof name, "PRIORITY_%u", (unsigned)source);
    write_reg(f, name, value);
}

static int external(const struct fixture *f)
{
    return f->host->irq_level[PORT_EXTERNAL];
}

static void test_claim_and_complete(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    line(&f, 5, 1);
    assert_int_equal(fake_read(f.host, "PENDING"), 1u << 5);
    assert_int_equal(external(&f), 0); /* neither enabled nor of any priority */
    set_priority(&f, 5, 1);
    assert_int_equal(external(&f), 0);
    write_reg(&f, "ENABLE", 1u << 5);
    assert_int_equal(external(&f), 1);
    assert_int_equal(fake_read(f.host, "CLAIM"), 5);
    assert_int_equal(external(&f), 0);
    assert_int_equal(fake_read(f.host, "PENDING"), 0); /* the gateway waits for the completion */
    assert_int_equal(fake_read(f.host, "CLAIM"), 0);
    write_reg(&f, "CLAIM", 5); /* the level is still there: it comes again */
    assert_int_equal(external(&f), 1);
    assert_int_equal(fake_read(f.host, "CLAIM"), 5);
    line(&f, 5, 0);
    write_reg(&f, "CLAIM", 5);
    assert_int_equal(external(&f), 0);
    assert_int_equal(fake_read(f.host, "CLAIM"), 0);
    assert_int_equal(fake_count(f.host, "claims"), 2);
    fake_sim_free(&f.sim);
}

/* A level that goes away before the claim leaves its request pending (specification, chapter 5). */
static void test_short_level(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    set_priority(&f, 1, 1);
    write_reg(&f, "ENABLE", 2);
    line(&f, 1, 1);
    line(&f, 1, 0);
    assert_int_equal(external(&f), 1);
    assert_int_equal(fake_read(f.host, "CLAIM"), 1);
    line(&f, 1, 1); /* while it is served: remembered by the wire alone */
    line(&f, 1, 0);
    write_reg(&f, "CLAIM", 1);
    assert_int_equal(external(&f), 0);
    fake_sim_free(&f.sim);
}

static void test_priorities_and_threshold(void **state)
{
    static const uint32_t order[] = {9, 3, 20, 31};
    struct fixture f;

    (void)state;
    begin(&f);
    set_priority(&f, 3, 2);
    set_priority(&f, 20, 2);
    set_priority(&f, 9, 7);
    set_priority(&f, 31, 1);
    set_priority(&f, 12, 0);
    write_reg(&f, "ENABLE", 0xffffffffu);
    assert_int_equal(fake_read(f.host, "ENABLE"), 0xfffffffeu); /* source 0 does not exist */
    for (uint32_t source = 0; source < 32; ++source)
        if (source == 3 || source == 20 || source == 9 || source == 31 || source == 12 || source == 0)
            line(&f, source, 1);
    assert_int_equal(fake_read(f.host, "PENDING") & 1u, 0);
    write_reg(&f, "THRESHOLD", 7);
    assert_int_equal(external(&f), 0);
    write_reg(&f, "THRESHOLD", 6);
    assert_int_equal(external(&f), 1);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; ++i) /* a claim does not look at the threshold */
        assert_int_equal(fake_read(f.host, "CLAIM"), order[i]);
    assert_int_equal(fake_read(f.host, "CLAIM"), 0); /* priority 0 never interrupts */
    fake_sim_free(&f.sim);
}

static void test_wrong_completions(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    set_priority(&f, 4, 1);
    write_reg(&f, "ENABLE", 1u << 4);
    line(&f, 4, 1);
    assert_int_equal(fake_read(f.host, "CLAIM"), 4);
    write_reg(&f, "CLAIM", 5);
    write_reg(&f, "CLAIM", 0);
    write_reg(&f, "CLAIM", 0xffffffffu);
    assert_int_equal(external(&f), 0);
    write_reg(&f, "ENABLE", 0); /* not enabled: the completion is ignored */
    write_reg(&f, "CLAIM", 4);
    write_reg(&f, "ENABLE", 1u << 4);
    assert_int_equal(external(&f), 0);
    write_reg(&f, "CLAIM", 4);
    assert_int_equal(external(&f), 1);
    fake_sim_free(&f.sim);
}

static void test_reset(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    set_priority(&f, 4, 1);
    write_reg(&f, "ENABLE", 1u << 4);
    line(&f, 4, 1);
    assert_int_equal(external(&f), 1);
    assert_int_equal(fake_read(f.host, "CLAIM"), 4);
    fake_reset(f.host);
    assert_int_equal(external(&f), 0);
    assert_int_equal(fake_read(f.host, "ENABLE"), 0);
    line(&f, 4, 1); /* the host announces high lines again; no completion is owed */
    set_priority(&f, 4, 1);
    write_reg(&f, "ENABLE", 1u << 4);
    assert_int_equal(external(&f), 1);
    fake_sim_free(&f.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claim_and_complete),
        cmocka_unit_test(test_short_level),
        cmocka_unit_test(test_priorities_and_threshold),
        cmocka_unit_test(test_wrong_completions),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
