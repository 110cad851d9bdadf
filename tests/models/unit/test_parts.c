/* SPDX-License-Identifier: Apache-2.0 */
/* What every built-in unit says that it is made of: parts with names, more of them for larger parameters. */
#include "fake_host.h"

#include <stdbool.h>

#include "test.h"

#include "units.h"

static const struct cnnvp_unit *const units[] = {
#define CNNVP_BUILTIN(kind) &cnnvp_unit_##kind,
#include "builtin_kinds.def"
#undef CNNVP_BUILTIN
};

/* `external` stands for what others model. */
static const char *const without_costs[] = {"external", NULL};
/* Nothing of theirs has a number. */
static const char *const of_one_size[] = {"clint", "plic", "uart", NULL};

struct bill {
    const struct cnnvp_unit *unit;
    uint64_t times; /* sets and lanes of the units upstream, one each otherwise */
    uint64_t bits;  /* of all parts */
    double milliwatts;
};

static void take_part(void *context, const struct cnnvp_part *part)
{
    struct bill *bill = context;
    if (part->kind > CNNVP_PART_FLOAT_ADDER || part->count == 0 || part->what == NULL || part->what[0] == '\0')
        fail_msg("%s says %u parts of kind %u: %s", bill->unit->kind, (unsigned)part->count, (unsigned)part->kind,
                 part->what == NULL ? "no name" : part->what);
    bill->bits += part->kind == CNNVP_PART_SRAM ? 8u * part->bytes * part->count : part->bits * part->count;
    bill->bits += part->kind == CNNVP_PART_CORE;
}

static void take_energy(void *context, uint32_t stat, const struct cnnvp_range *picojoules)
{
    const struct bill *bill = context;
    assert_true(stat < bill->unit->stat_count);
    assert_true(picojoules->low >= 0.0 && picojoules->low <= picojoules->typical &&
                picojoules->typical <= picojoules->high);
}

static void take_power(void *context, const struct cnnvp_range *milliwatts)
{
    struct bill *bill = context;
    assert_true(milliwatts->low >= 0.0 && milliwatts->low <= milliwatts->typical &&
                milliwatts->typical <= milliwatts->high);
    bill->milliwatts += milliwatts->typical;
}

static uint64_t ask_upstream(void *context, const char *param, uint64_t otherwise)
{
    const struct bill *bill = context;
    assert_true(param[0] != '\0');
    return bill->times * otherwise;
}

static struct bill bill_of(const struct cnnvp_unit *unit, const uint64_t *params, uint64_t times)
{
    struct bill bill = {.unit = unit, .times = times};
    const struct cnnvp_costs costs = {sizeof costs, &bill, take_part, take_energy, take_power, ask_upstream};
    unit->costs(params, &costs);
    return bill;
}

static bool is_larger(const struct bill *bill, const struct bill *than)
{
    return bill->bits > than->bits || bill->milliwatts > than->milliwatts;
}

/* Blocks of the multi-function module are there as often as it has sets. */
static bool takes_tiles(const struct cnnvp_unit *unit)
{
    size_t p = 0;
    while (p < unit->port_count && (unit->ports[p].kind != CNNVP_PORT_TARGET ||
                                    (unit->ports[p].flags & CNNVP_PORT_CROSSES) != CNNVP_PORT_TILES))
        ++p;
    return p < unit->port_count;
}

/* Twice as much of a number never makes a unit smaller. Returns whether that of one, or more upstream, makes it
 * larger. */
static bool grows(const struct cnnvp_unit *unit)
{
    struct fake_sim sim;
    fake_sim_init(&sim, 1000, 0, 0);
    uint64_t *params = fake_add(&sim, unit)->params;
    const struct bill usual = bill_of(unit, params, 1);
    const struct bill more = bill_of(unit, params, 3);
    bool larger = takes_tiles(unit);
    if (usual.bits == 0 && usual.milliwatts <= 0.0)
        fail_msg("%s is made of nothing", unit->kind);
    if (is_larger(&more, &usual) != takes_tiles(unit))
        fail_msg("%s: more sets and lanes of its module do, or do not make it larger", unit->kind);
    for (size_t p = 0; p < unit->param_count; ++p) {
        const struct cnnvp_param *param = &unit->params[p];
        const uint64_t value = params[p];
        if ((param->type != CNNVP_PARAM_UINT && param->type != CNNVP_PARAM_SIZE) || 2u * value > param->max)
            continue;
        params[p] = 2u * value;
        const struct bill doubled = bill_of(unit, params, 1);
        if (doubled.bits < usual.bits)
            fail_msg("%s is smaller with a larger %s", unit->kind, param->name);
        larger = larger || is_larger(&doubled, &usual);
        params[p] = value;
    }
    fake_sim_free(&sim);
    return larger;
}

static bool is_among(const char *const *kinds, const char *kind)
{
    while (*kinds != NULL && strcmp(*kinds, kind) != 0)
        ++kinds;
    return *kinds != NULL;
}

static void test_units(void **state)
{
    (void)state;
    for (size_t u = 0; u < sizeof units / sizeof units[0]; ++u) {
        const char *kind = units[u]->kind;
        if ((units[u]->costs == NULL) != is_among(without_costs, kind))
            fail_msg("%s: says what it is made of, or does not", kind);
        if (units[u]->costs != NULL && grows(units[u]) == is_among(of_one_size, kind))
            fail_msg("%s: parameters do, or do not make it larger", kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
