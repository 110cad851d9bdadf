/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy tables. Modelled: a constant for each counted operation and access, scaled to a technology; buffers by the
 * size of their banks. Source of the constants: energy.def, technology.def. What time costs: costs.c.
 */
#include "energy.h"

#include "costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, own, help) TABLE_##name,
#include "energy.def"
    TABLES
};

static const struct {
    const char *name, *help;
    double unit;
    int sram_scaling, own_energies;
} tables[TABLES] = {
#define CNNVP_ENERGY_TABLE(name, unit, scaling, own, help) {#name, help, unit, scaling, own},
#include "energy.def"
};

static const struct {
    const char *name, *help;
    int sram;
    double low, high;
    double values[TABLES];
} entries[CNNVP_ENERGY_ENTRIES] = {
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, help) \
    {#name, help, sram, low, high, {horowitz, eyeriss}},
#include "energy.def"
};

/* 16-bit words and bytes; of accesses of the width of a port. */
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

/* Size of the buffer that SRAM entries are given for. */
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
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, help) " " #name
#include "energy.def"
        ;
}

struct cnnvp_range cnnvp_energy_of(const struct cnnvp_energy_table *table, enum cnnvp_energy_entry entry,
                                   const struct cnnvp_instance *instance, const struct cnnvp_instance_costs *costs)
{
    const double node = entry == CNNVP_ENERGY_dram_byte ? 1.0 : cnnvp_technology_of(table)->energy;
    const double picojoules = table->picojoules[entry] * node;
    const int scaled = table->sram_scaling && entries[entry].sram;
    struct cnnvp_range each = {picojoules * entries[entry].low, picojoules, picojoules * entries[entry].high};
    const uint64_t *size = cnnvp_instance_value(instance, "size");
    double factor = 1.0;
    if (scaled && costs->sram.typical > 0)
        factor = costs->sram.typical;
    else if (scaled && size != NULL)
        factor = sqrt((double)*size / REFERENCE_BYTES); /* exact to the last bit by IEEE 754 */
    const double bits = scaled ? entry_bits[entry] : 0;
    each.low = each.low * factor + bits * costs->sram_wire_pj.low;
    each.typical = each.typical * factor + bits * costs->sram_wire_pj.typical;
    each.high = each.high * factor + bits * costs->sram_wire_pj.high;
    return each;
}

static void print_technologies(FILE *stream)
{
    fprintf(stream, "  %-10s  %8s  %8s  %8s  %20s  %s\n", "technology", "energy", "area", "leakage",
            "um2 of a bit of SRAM", "source");
    for (size_t i = 0; i < TECHNOLOGIES; ++i) {
        const struct cnnvp_technology *at = &technologies[i];
        fprintf(stream, "  %-10s  %8.4g  %8.4g  %8.4g  %6.4g %6.4g %6.4g  %s\n", at->name, at->energy, at->area,
                at->leakage, at->sram_um2.low, at->sram_um2.typical, at->sram_um2.high, at->help);
    }
}

/* Currents of off-chip memories: what their commands take, see models/dram/dram_power.c. */
static void print_rails(FILE *stream)
{
    static const char *const presets[] = {
#define CNNVP_DRAM_PRESET(index, name, ...) [index] = name,
#include "dram/dram.def"
    };
    fprintf(stream, "\n  %-12s  %5s  %7s  %6s  %6s  %6s  %6s  %6s  %6s  %10s  %10s\n", "off chip", "volts", "devices",
            "IDD0", "IDD2N", "IDD3N", "IDD4R", "IDD4W", "IDD5", "pins RD pJ", "pins WR pJ");
#define CNNVP_DRAM_RAIL(preset, volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, read_io, write_io)      \
    fprintf(stream, "  %-12s  %5.4g  %7d  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %10.4g  %10.4g\n",          \
            presets[preset], volts, devices, (double)(idd0), (double)(idd2n), (double)(idd3n), (double)(idd4r), \
            (double)(idd4w), (double)(idd5), (double)(read_io), (double)(write_io));
#include "dram/dram.def"
    fprintf(stream, "\n  %-12s  %6s  %6s  %6s  %7s  %8s  %10s  %6s  %7s\n", "off chip, pJ", "ACT", "RD", "WR", "REF",
            "mW open", "mW closed", "lowest", "highest");
#define CNNVP_DRAM_PUBLISHED(preset, activate, read, write, refresh, open, closed, low, high)                         \
    fprintf(stream, "  %-12s  %6.4g  %6.4g  %6.4g  %7.5g  %8.3g  %10.3g  %5.2gx  %6.2gx\n", presets[preset],          \
            (double)(activate), (double)(read), (double)(write), (double)(refresh), (double)(open), (double)(closed), \
            (double)(low), (double)(high));
#include "dram/dram.def"
    fputs("  mA of a device: DRAMsim3's files, lpddr4-3200 JESD209-4; pins: Micron TN-40-07, VDDQ, O'Connor 2017. "
          "Lowest: "
          "without pins;\n  highest: 1.3 times as much. lpddr5-6400 and hbm3, whose currents are not public: a rank's "
          "commands, from "
          "lpddr4's by the\n  squares of the voltages and from O'Connor 2017\n",
          stream);
}

static void print_tables(FILE *stream)
{
    struct cnnvp_energy_table built_in[TABLES];

    for (size_t i = 0; i < TABLES; ++i)
        (void)cnnvp_energy_builtin(i, &built_in[i]);
    fputs("energy tables: picojoules of one count, at 45 nm\n\n", stream);
    for (size_t i = 0; i < TABLES; ++i)
        fprintf(stream, "  %-18s  %s\n", tables[i].name, tables[i].help);
    fprintf(stream, "\n  %-18s", "entry");
    for (size_t i = 0; i < TABLES; ++i)
        fprintf(stream, "  %10s", tables[i].name);
    fprintf(stream, "  %8s  %8s  %s\n", "lowest", "highest", "help");
    for (size_t e = 0; e < CNNVP_ENERGY_ENTRIES; ++e) {
        fprintf(stream, "  %-18s", entries[e].name);
        for (size_t i = 0; i < TABLES; ++i)
            fprintf(stream, "  %10.4g", built_in[i].picojoules[e]);
        fprintf(stream, "  %7.4gx  %7.4gx  %s%s\n", entries[e].low, entries[e].high, entries[e].help,
                entries[e].sram ? "; of 8 KiB where sram_scaling is on" : "");
    }
    fputs(
        "\nlowest, highest: what other sources say, against the first table (energy.low_pj, energy.high_pj). A memory\n"
        "says what its part's commands take, in place of dram_byte, unless a table or --set gives dram_byte.\n\n",
        stream);
    print_technologies(stream);
    print_rails(stream);
    fputs("\nA platform file chooses one with `energy: NAME` or `energy: FILE.yaml`, or changes entries with `energy: "
          "{table: NAME, dram_byte: 100}`;\n--set energy.table=NAME and --set energy.ENTRY=PICOJOULES do the same. A "
          "file of one's own: `table: NAME`, `base: horowitz`,\n`sram_scaling: on|off`, `entries: {ENTRY: "
          "PICOJOULES}`; what it leaves out is its base's; without a base it has all. `technology: 65nm` in the "
          "platform\nfile, or --set "
          "energy.technology=65nm, scales what is on chip.\n",
          stream);
}

static void print_area(FILE *stream)
{
    fputs("area and static power of what units are made of, at 45 nm\n\n", stream);
    fprintf(stream, "  %-16s  %22s  %22s  %s\n", "part", "um2 of b bits", "leakage in uW", "source");
#define CNNVP_COMPONENT(name, square, linear, square_uw, linear_uw, help)                                      \
    fprintf(stream, "  %-16s  %8.4g b2 + %8.4g b  %8.4g b2 + %8.4g b  %s\n", #name, square, linear, square_uw, \
            linear_uw, help);
#include "technology.def"
    fprintf(stream, "\n  %-14s  %8s  %8s  %8s  %-4s  %s\n", "constant", "lowest", "usual", "highest", "unit", "source");
#define CNNVP_CONSTANT(name, low, typical, high, unit, help) \
    fprintf(stream, "  %-14s  %8.4g  %8.4g  %8.4g  %-4s  %s\n", #name, low, typical, high, unit, help);
#include "technology.def"
    fputc('\n', stream);
    print_technologies(stream);
}

static cnnvp_result print_to(void (*print)(FILE *stream), char **text)
{
    size_t size = 0;
    FILE *stream = open_memstream(text, &size);
    int bad;

    if (stream == NULL)
        return CNNVP_FAILED;
    print(stream);
    bad = ferror(stream);
    if (fclose(stream) == 0 && !bad)
        return CNNVP_DONE;
    free(*text);
    *text = NULL;
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_energy_text(char **text)
{
    return print_to(print_tables, text);
}

cnnvp_result cnnvp_area_text(char **text)
{
    return print_to(print_area, text);
}
