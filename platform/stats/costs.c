/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of instances.
 *
 * Modelled: area of logic cells; area of SRAMs by their bits, words and port width; leakage; the clock of registers;
 * the energy of accesses to a unit's first SRAM, by the square root of the bank size plus the wire from the bank (half
 * the side of all its banks together); energies that units report. Not modelled: activity of idle operators beyond the
 * clock, voltage and frequency scaling, power gating, I/O cells of the chip, and routing beyond the free share of the
 * cell area.
 *
 * Links, per byte: from a unit with a port to off-chip memory or to the bus, the wire crosses the chip (its whole side,
 * without the core). Between neighbours it is half the side of each, but not inside an SRAM, whose accesses include
 * that wire. Links to off-chip memory cost nothing here: the memory knows which bytes cross the pins and reports the
 * energy of both sides. Sources of all constants: technology.def, energy.def.
 */
#include "costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

static const struct component {
    double square, linear, square_uw, linear_uw;
} components[] = {
#define CNNVP_COMPONENT(name, square, linear, square_uw, linear_uw, help) \
    [CNNVP_PART_##name] = {square, linear, square_uw, linear_uw},
#include "technology.def"
};

#define CNNVP_CONSTANT(name, low, typical, high, unit, help) \
    static const struct cnnvp_range name = {low, typical, high};
#include "technology.def"

#define SRAM_REFERENCE_BYTES 8192.0 /* bank size of the table's entries */
#define BITS_A_KIB 8192.0
#define MICROWATTS 1000.0 /* per milliwatt */

struct bill {
    const struct cnnvp_technology *technology;
    struct cnnvp_instance_costs *costs;
    const struct cnnvp_resolved *resolved;
    const struct cnnvp_instance *instance;
    const struct cnnvp_unit *unit;
    double mhz;
    double sram_um2, sram_bank_bytes; /* of the first SRAM */
    char wrong[160];                  /* the first impossible cost */
};

#define WORD_BYTES 2.0
#define MAX_PARTS (UINT64_C(1) << 40)
#define MAX_BITS 65536u
#define MAX_BYTES (UINT64_C(1) << 40)
#define MAX_COST 1e12 /* pJ, mW */

static void add(struct cnnvp_range *sum, double low, double typical, double high)
{
    sum->low += low;
    sum->typical += typical;
    sum->high += high;
}

static int is_range(const struct cnnvp_range *range)
{
    return range->low >= 0 && range->low <= range->typical && range->typical <= range->high && range->high <= MAX_COST;
}

static void refuse_range(struct bill *bill, const char *what, const struct cnnvp_range *range)
{
    if (bill->wrong[0] == '\0')
        (void)snprintf(bill->wrong, sizeof bill->wrong,
                       "%.60s is %g, %g, %g; it goes from a lowest to a highest number, 0 to 10^12", what, range->low,
                       range->typical, range->high);
}

/* Area of a bank, in bit areas. */
static double bank_bits(const struct cnnvp_part *part, double column, double word, double bank)
{
    const double bits = 8.0 * (double)part->bytes;
    return bits + column * part->bits + word * bits / part->bits + bank;
}

static void add_sram(struct bill *bill, const struct cnnvp_part *part)
{
    const struct cnnvp_technology *technology = bill->technology;
    const double count = (double)part->count;
    const double kib = 8.0 * (double)part->bytes * count / BITS_A_KIB * technology->leakage / MICROWATTS;
    const double typical = bank_bits(part, sram_column.typical, sram_word.typical, sram_bank.typical);
    add(&bill->costs->area_um2,
        count * technology->sram_um2.low * bank_bits(part, sram_column.low, sram_word.low, sram_bank.low),
        count * technology->sram_um2.typical * typical,
        count * technology->sram_um2.high * bank_bits(part, sram_column.high, sram_word.high, sram_bank.high));
    add(&bill->costs->milliwatts, kib * sram_leakage.low, kib * sram_leakage.typical, kib * sram_leakage.high);
    if (bill->sram_um2 > 0)
        return;
    bill->sram_um2 = count * technology->sram_um2.typical * typical;
    bill->sram_bank_bytes = (double)part->bytes;
}

static void add_part(void *context, const struct cnnvp_part *part)
{
    struct bill *bill = context;
    if ((unsigned)part->kind > CNNVP_PART_FLOAT_ADDER || part->count > MAX_PARTS || part->bits > MAX_BITS ||
        part->bytes > MAX_BYTES || (part->kind == CNNVP_PART_SRAM && part->bits == 0)) {
        if (bill->wrong[0] == '\0')
            (void)snprintf(bill->wrong, sizeof bill->wrong,
                           "part \"%.60s\": kind %u, %u bits and %" PRIu64 " bytes, %" PRIu64
                           " times, is none; limits are in cnnvp_model.h",
                           part->what != NULL ? part->what : "", (unsigned)part->kind, (unsigned)part->bits,
                           part->bytes, part->count);
        return;
    }
    const struct component *component = &components[part->kind];
    const double bits = (double)part->bits;
    const double count = (double)part->count;
    bill->costs->has_area = 1;
    if (part->kind == CNNVP_PART_MULTIPLIER)
        bill->costs->multipliers += part->count;
    if (part->kind == CNNVP_PART_SRAM) {
        add_sram(bill, part);
        return;
    }
    const double area = count * (component->square * bits * bits + component->linear * bits) * bill->technology->area;
    const double leakage = count * (component->square_uw * bits * bits + component->linear_uw * bits) *
                           bill->technology->leakage / MICROWATTS;
    add(&bill->costs->area_um2, area / placed.high, area / placed.typical, area / placed.low);
    add(&bill->costs->milliwatts, leakage * logic_leakage.low, leakage * logic_leakage.typical,
        leakage * logic_leakage.high);
    if (part->kind == CNNVP_PART_REGISTER) {
        const double toggles = count * bits * bill->mhz * bill->technology->energy / MICROWATTS; /* pJ * MHz = uW */
        add(&bill->costs->milliwatts, toggles * clock.low, toggles * clock.typical, toggles * clock.high);
    }
}

static void set_energy(void *context, uint32_t stat, const struct cnnvp_range *picojoules)
{
    struct bill *bill = context;
    if (stat >= bill->unit->stat_count || !is_range(picojoules)) {
        refuse_range(bill, stat < bill->unit->stat_count ? bill->unit->stats[stat].name : "no statistic", picojoules);
        return;
    }
    bill->costs->own[stat] = *picojoules;
    bill->costs->says_energy = 1;
}

static void add_power(void *context, const struct cnnvp_range *milliwatts)
{
    struct bill *bill = context;
    if (!is_range(milliwatts)) {
        refuse_range(bill, "power", milliwatts);
        return;
    }
    add(&bill->costs->milliwatts, milliwatts->low, milliwatts->typical, milliwatts->high);
}

static int leads_to(const struct cnnvp_instance *from, size_t to)
{
    for (size_t i = 0; i < from->binding_count; ++i)
        if (from->bindings[i].target == to)
            return 1;
    return 0;
}

static int is_among(const size_t *numbers, size_t count, size_t number)
{
    size_t i = 0;
    while (i < count && numbers[i] != number)
        ++i;
    return i < count;
}

/* Breadth-first search: the instances that lead here, then those that lead to them, and so on. The first instance of a
 * round wins. */
static uint64_t ask_upstream(void *context, const char *param, uint64_t otherwise)
{
    struct bill *bill = context;
    const struct cnnvp_resolved *resolved = bill->resolved;
    size_t count = 0;
    CNNVP_FREED size_t *found = malloc((resolved->instance_count + 1u) * sizeof *found);
    const uint64_t *value = NULL;
    if (found == NULL) {
        (void)snprintf(bill->wrong, sizeof bill->wrong, "there is not enough memory");
        return otherwise;
    }
    found[count++] = bill->instance->number;
    for (size_t at = 0; at < count && value == NULL; ++at)
        for (size_t i = 0; i < resolved->instance_count && value == NULL; ++i)
            if (leads_to(&resolved->instances[i], found[at]) && !is_among(found, count, i)) {
                found[count++] = i;
                value = cnnvp_instance_value(&resolved->instances[i], param);
            }
    return value != NULL ? *value : otherwise;
}

/* sqrt is exactly rounded by IEEE 754, so the result is the same everywhere. */
static void finish_sram(struct bill *bill)
{
    const double side = sqrt(bill->sram_um2);
    const double factor = sqrt(bill->sram_bank_bytes / SRAM_REFERENCE_BYTES);
    if (bill->sram_um2 <= 0)
        return;
    bill->costs->sram = (struct cnnvp_range){factor, factor, factor};
    const double way = side / 2.0 * bill->technology->energy / 1000.0;
    bill->costs->sram_wire_pj = (struct cnnvp_range){way * wire.low, way * wire.typical, way * wire.high};
}

cnnvp_result cnnvp_costs_init(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                              struct cnnvp_instance_costs *costs, struct cnnvp_error *error)
{
    const struct cnnvp_unit *unit = instance->unit;
    memset(costs, 0, sizeof *costs);
    if (unit == NULL || unit->costs == NULL)
        return CNNVP_DONE;
    costs->own = calloc(unit->stat_count + 1u, sizeof *costs->own);
    CNNVP_TRY_MEMORY(costs->own != NULL, error);
    for (size_t i = 0; i < unit->stat_count; ++i)
        costs->own[i].high = -1.0;
    struct bill bill = {
        .resolved = resolved,
        .instance = instance,
        .unit = unit,
        .technology = cnnvp_technology_of(resolved->energy),
        .costs = costs,
        .mhz = (double)cnnvp_instance_mhz(resolved, instance, 0)};
    const struct cnnvp_costs said = {sizeof said, &bill, add_part, set_energy, add_power, ask_upstream};
    unit->costs(instance->values, &said);
    finish_sram(&bill);
    costs->known = 1;
    if (bill.wrong[0] == '\0')
        return CNNVP_DONE;
    return cnnvp_config_error(error, NULL, "unit %s (%s): its costs: %s", instance->name, instance->model, bill.wrong);
}

void cnnvp_costs_fini(struct cnnvp_instance_costs *costs)
{
    free(costs->own);
    costs->own = NULL;
}

static int says_own(const struct cnnvp_instance_costs *costs, uint32_t stat)
{
    return costs->own != NULL && costs->own[stat].high >= 0;
}

int cnnvp_costs_counts(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs, uint32_t stat)
{
    return instance->unit->stats[stat].energy != NULL || says_own(costs, stat);
}

struct cnnvp_range cnnvp_costs_energy(const struct cnnvp_energy_table *table, const struct cnnvp_instance *instance,
                                      const struct cnnvp_instance_costs *costs, uint32_t stat)
{
    const char *name = instance->unit->stats[stat].energy;
    const int own = (table->own_energies || cnnvp_costs_is_time(instance, stat)) && says_own(costs, stat);
    struct cnnvp_range each = own ? costs->own[stat] : (struct cnnvp_range){0, 0, 0};
    if (name == NULL)
        return each;
    if (table->own_energies && costs->says_energy && cnnvp_energy_find(name) == CNNVP_ENERGY_dram_byte) {
        /* the memory's commands replace the entry and include the memory's side of the pins; the chip's side is
         * added */
        const struct cnnvp_range word = cnnvp_energy_of(table, CNNVP_ENERGY_port_word, instance, costs);
        add(&each, word.low / WORD_BYTES, word.typical / WORD_BYTES, word.high / WORD_BYTES);
        return each;
    }
    return own ? each : cnnvp_energy_of(table, cnnvp_energy_find(name), instance, costs);
}

int cnnvp_costs_unknown(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs)
{
    if (costs->known || instance->unit == NULL)
        return 0;
    for (uint32_t s = 0; s < instance->unit->stat_count; ++s)
        if (cnnvp_costs_counts(instance, costs, s))
            return 0;
    return 1;
}

int cnnvp_unit_has_port(const struct cnnvp_unit *unit, enum cnnvp_port_kind kind)
{
    for (size_t i = 0; unit != NULL && i < unit->port_count; ++i)
        if (unit->ports[i].kind == (uint32_t)kind)
            return 1;
    return 0;
}

int cnnvp_unit_is_core(const struct cnnvp_unit *unit)
{
    for (size_t i = 0; unit != NULL && i < unit->port_count; ++i)
        if ((unit->ports[i].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_PROGRAM)
            return 1;
    return 0;
}

double cnnvp_costs_floor(const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs)
{
    return cnnvp_unit_is_core(instance->unit) ? 0 : costs->area_um2.typical;
}

#define UM_A_MM 1000.0

struct cnnvp_range cnnvp_costs_link(const struct cnnvp_energy_table *table, const struct cnnvp_link_end *from,
                                    const struct cnnvp_link_end *to, double chip_um2)
{
    enum cnnvp_energy_entry entry = CNNVP_ENERGY_local_word;
    double share = 1.0 / WORD_BYTES; /* share of the entry's word */
    if (from->instance->unit == NULL || cnnvp_costs_unknown(from->instance, from->costs))
        return (struct cnnvp_range){0, 0, 0};
    if (cnnvp_unit_has_port(to->instance->unit, CNNVP_PORT_MEM_TARGET))
        return (struct cnnvp_range){0, 0, 0};
    if (to->instance->unit == NULL || cnnvp_unit_has_port(from->instance->unit, CNNVP_PORT_MEM_INITIATOR)) {
        entry = CNNVP_ENERGY_global_word;
        share *= sqrt(chip_um2) / UM_A_MM;
    } else {
        const double other = to->costs->sram.typical > 0 ? 0 : to->costs->area_um2.typical;
        share *= (sqrt(from->costs->area_um2.typical) + sqrt(other)) / 2.0 / UM_A_MM;
    }
    const struct cnnvp_range word = cnnvp_energy_of(table, entry, from->instance, from->costs);
    return (struct cnnvp_range){word.low * share, word.typical * share, word.high * share};
}
