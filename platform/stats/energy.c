/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy tables. Modelled: a constant for each counted operation and access, scaled to a technology, and by the bank
 * size for buffers. Sources of the constants: energy.def, technology.def. Static power: costs.c.
 */
#include "energy.h"

#include "costs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, own, help) TABLE_##name,
#include "energy.def"
    TABLES
};

static const struct {
    const char *name;
    double unit;
    int sram_scaling, own_energies;
} tables[TABLES] = {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, own, help) {#name, unit, scaling, own},
#include "energy.def"
};

static const struct {
    const char *name;
    int sram;
    double low, high;
    double values[TABLES];
} entries[CNNVP_ENERGY_ENTRIES] = {
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, range, help) \
    {#name, sram, low, high, {horowitz, eyeriss}},
#include "energy.def"
};

/* Bits of an access of each entry that has wires: bytes, 16-bit words, 64-bit accesses. */
static const double entry_bits[CNNVP_ENERGY_ENTRIES] = {
    [CNNVP_ENERGY_sram_byte] = 8.0, [CNNVP_ENERGY_sram_word] = 16.0, [CNNVP_ENERGY_sram_access] = 64.0};

static const struct cnnvp_technology technologies[] = {
#define CNNVP_TECHNOLOGY(name, energy, area, leakage, sram_low, sram_um2, sram_high, help) \
    {#name, help, energy, area, leakage, {sram_low, sram_um2, sram_high}},
#include "technology.def"
};
enum { TECHNOLOGIES = sizeof technologies / sizeof technologies[0] };

const struct cnnvp_technology *cnnvp_technology_at(size_t index)
{
    return index < TECHNOLOGIES ? &technologies[index] : NULL;
}

const struct cnnvp_technology *cnnvp_technology_of(const struct cnnvp_energy_table *table)
{
    return &technologies[table != NULL ? table->technology : 0];
}

/* Buffer size of the SRAM entries. */
#define REFERENCE_BYTES 8192.0

int cnnvp_energy_builtin(size_t index, struct cnnvp_energy_table *table)
{
    if (index >= TABLES)
        return 0;
    memset(table, 0, sizeof *table);
    (void)snprintf(table->name, sizeof table->name, "%s", tables[index].name);
    table->sram_scaling = tables[index].sram_scaling;
    table->own_energies = tables[index].own_energies;
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i)
        table->picojoules[i] = entries[i].values[index] * tables[index].unit;
    return 1;
}

void cnnvp_energy_default(struct cnnvp_energy_table *table)
{
    (void)cnnvp_energy_builtin(TABLE_horowitz, table);
}

enum cnnvp_energy_entry cnnvp_energy_find(const char *name)
{
    size_t i = 0;

    while (i < CNNVP_ENERGY_ENTRIES && strcmp(entries[i].name, name) != 0)
        ++i;
    return (enum cnnvp_energy_entry)i;
}

const char *cnnvp_energy_name(enum cnnvp_energy_entry entry)
{
    return entries[entry].name;
}

const char *cnnvp_energy_names(void)
{
    return ""
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, range, help) " " #name
#include "energy.def"
        ;
}

struct cnnvp_range cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                                   const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs)
{
    const int off_chip = entry == CNNVP_ENERGY_dram_byte || entry == CNNVP_ENERGY_port_word;
    const double node = off_chip ? 1.0 : cnnvp_technology_of(table)->energy;
    const double picojoules = table->picojoules[entry] * node;
    const int scaled = table->sram_scaling && entries[entry].sram;
    struct cnnvp_range each = {picojoules * entries[entry].low, picojoules, picojoules * entries[entry].high};
    const uint64_t *size = cnnvp_instance_value(instance, "size");
    double factor = 1.0;
    if (scaled && costs->sram.typical > 0)
        factor = costs->sram.typical;
    else if (scaled && size != NULL)
        factor = sqrt((double)*size / REFERENCE_BYTES); /* exactly rounded by IEEE 754 */
    const double bits = scaled ? entry_bits[entry] : 0;
    each.low = each.low * factor + bits * costs->sram_wire_pj.low;
    each.typical = each.typical * factor + bits * costs->sram_wire_pj.typical;
    each.high = each.high * factor + bits * costs->sram_wire_pj.high;
    return each;
}
