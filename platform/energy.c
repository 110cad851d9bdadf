/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy table. Modelled: a constant for each counted operation and access, buffers by the square root of their size.
 * Not modelled: leakage, clock tree, wires, the energy of idle cycles. Source of the constants: energy.def.
 */
#include "energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum scale { FIXED, SRAM };

static const struct {
    const char *name;
    double picojoules;
    enum scale scale;
} entries[CNNVP_ENERGY_ENTRIES] = {
#define CNNVP_ENERGY(name, picojoules, scale, help) {#name, picojoules, scale},
#include "energy.def"
#undef CNNVP_ENERGY
};

/* Size of the buffer that SRAM entries are given for. */
#define REFERENCE_BYTES 8192.0

void cnnvp_energy_default(struct cnnvp_energy_table *table)
{
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; i++)
        table->picojoules[i] = entries[i].picojoules;
}

enum cnnvp_energy_entry cnnvp_energy_find(const char *name)
{
    size_t i = 0;

    while (i < CNNVP_ENERGY_ENTRIES && strcmp(entries[i].name, name) != 0)
        i++;
    return (enum cnnvp_energy_entry)i;
}

const char *cnnvp_energy_name(enum cnnvp_energy_entry entry)
{
    return entries[entry].name;
}

const char *cnnvp_energy_names(void)
{
    return ""
#define CNNVP_ENERGY(name, picojoules, scale, help) " " #name
#include "energy.def"
#undef CNNVP_ENERGY
        ;
}

cnnvp_result cnnvp_energy_set(struct cnnvp_energy_table *table, const char *name, double picojoules,
                              struct cnnvp_error *error)
{
    enum cnnvp_energy_entry entry = cnnvp_energy_find(name);

    if (entry == CNNVP_ENERGY_ENTRIES) {
        snprintf(error->text, sizeof error->text, "no entry '%.100s' in the energy table; there are:%s", name,
                 cnnvp_energy_names());
        return CNNVP_BAD_INPUT;
    }
    if (!isfinite(picojoules) || picojoules < 0) {
        snprintf(error->text, sizeof error->text, "energy of %s: %g pJ, must be a number of 0 or more", name,
                 picojoules);
        return CNNVP_BAD_INPUT;
    }
    table->picojoules[entry] = picojoules;
    return CNNVP_DONE;
}

/* Value of the parameter `size`, 0 where there is none. */
static uint64_t size_of(const struct cnnvp_instance *instance)
{
    const struct cnnvp_unit *unit = instance->unit;

    for (size_t i = 0; unit && i < unit->param_count; i++)
        if (strcmp(unit->params[i].name, "size") == 0)
            return instance->values[i];
    return 0;
}

double cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                       const struct cnnvp_instance *instance)
{
    double picojoules = table->picojoules[entry];
    uint64_t size = entries[entry].scale == SRAM ? size_of(instance) : 0;

    /* sqrt is exact to the last bit by IEEE 754, so the same everywhere. */
    return size ? picojoules * sqrt((double)size / REFERENCE_BYTES) : picojoules;
}
