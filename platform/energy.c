/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy tables. Modelled: a constant for each counted operation and access, buffers by the square root of their size.
 * Not modelled: leakage, clock tree, wires, the energy of idle cycles. Source of the constants: energy.def.
 */
#include "energy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, help) TABLE_##name,
#include "energy.def"
    TABLES
};

static const struct {
    const char *name, *help;
    double unit;
    int sram_scaling;
} tables[TABLES] = {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, help) {#name, help, unit, scaling},
#include "energy.def"
};

static const struct {
    const char *name, *help;
    int sram;
    double values[TABLES];
} entries[CNNVP_ENERGY_ENTRIES] = {
#define CNNVP_ENERGY(name, horowitz, eyeriss, sram, help) {#name, help, sram, {horowitz, eyeriss}},
#include "energy.def"
};

/* Size of the buffer that SRAM entries are given for. */
#define REFERENCE_BYTES 8192.0

int cnnvp_energy_builtin(size_t index, struct cnnvp_energy_table *table)
{
    if (index >= TABLES)
        return 0;
    memset(table, 0, sizeof *table);
    (void)snprintf(table->name, sizeof table->name, "%s", tables[index].name);
    table->sram_scaling = tables[index].sram_scaling;
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
#define CNNVP_ENERGY(name, horowitz, eyeriss, sram, help) " " #name
#include "energy.def"
        ;
}

/* Value of the parameter `size`, 0 where there is none. */
static uint64_t size_of(const struct cnnvp_instance *instance)
{
    const struct cnnvp_unit *unit = instance->unit;

    for (size_t i = 0; unit != NULL && i < unit->param_count; ++i)
        if (strcmp(unit->params[i].name, "size") == 0)
            return instance->values[i];
    return 0;
}

double cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                       const struct cnnvp_instance *instance)
{
    double picojoules = table->picojoules[entry];
    uint64_t size = table->sram_scaling && entries[entry].sram ? size_of(instance) : 0;

    /* sqrt is exact to the last bit by IEEE 754, so the same everywhere. */
    return size ? picojoules * sqrt((double)size / REFERENCE_BYTES) : picojoules;
}

static void print_tables(FILE *stream)
{
    struct cnnvp_energy_table built_in[TABLES];

    for (size_t i = 0; i < TABLES; ++i)
        (void)cnnvp_energy_builtin(i, &built_in[i]);
    fputs("energy tables: picojoules of one count\n\n", stream);
    for (size_t i = 0; i < TABLES; ++i)
        fprintf(stream, "  %-18s  %s\n", tables[i].name, tables[i].help);
    fprintf(stream, "\n  %-18s", "entry");
    for (size_t i = 0; i < TABLES; ++i)
        fprintf(stream, "  %10s", tables[i].name);
    fprintf(stream, "  %s\n", "help");
    for (size_t e = 0; e < CNNVP_ENERGY_ENTRIES; ++e) {
        fprintf(stream, "  %-18s", entries[e].name);
        for (size_t i = 0; i < TABLES; ++i)
            fprintf(stream, "  %10.4g", built_in[i].picojoules[e]);
        fprintf(stream, "  %s%s\n", entries[e].help, entries[e].sram ? "; of 8 KiB where sram_scaling is on" : "");
    }
    fputs("\nA platform file chooses one with `energy: NAME` or `energy: FILE.yaml`, or changes entries with `energy: "
          "{table: NAME, dram_byte: 100}`;\n--set energy.table=NAME and --set energy.ENTRY=PICOJOULES do the same. A "
          "file of one's own: `table: NAME`, `base: horowitz`,\n`sram_scaling: on|off`, `entries: {ENTRY: "
          "PICOJOULES}`; what it leaves out is its base's.\n",
          stream);
}

cnnvp_result cnnvp_energy_text(char **text)
{
    size_t size = 0;
    FILE *stream = open_memstream(text, &size);
    int bad;

    if (stream == NULL)
        return CNNVP_FAILED;
    print_tables(stream);
    bad = ferror(stream);
    if (fclose(stream) == 0 && !bad)
        return CNNVP_DONE;
    free(*text);
    *text = NULL;
    return CNNVP_FAILED;
}
