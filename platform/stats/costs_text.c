/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of energy, area and static power: every constant with its range and source. */
#include "cnnvp.h"
#include "base.h"
#include "energy.h"

#include <ctype.h>
#include <stdio.h>

static void print_sources(FILE *stream)
{
    fputs("\nsources\n", stream);
#define CNNVP_SOURCE(name, text) fprintf(stream, "  %-10s  %s\n", name, text);
#include "sources.def"
}

static void print_technologies(FILE *stream)
{
    const struct cnnvp_technology *at;
    fprintf(stream, "\n  %-10s  %7s  %7s  %7s  %22s  %s\n", "technology", "energy", "area", "leakage",
            "um2 of a bit of SRAM", "source");
    for (size_t i = 0; (at = cnnvp_technology_at(i)) != NULL; ++i) {
        fprintf(stream, "  %-10s  %7.4g  %7.4g  %7.4g  %6.4g  %6.4g  %6.4g  %s\n", at->name, at->energy, at->area,
                at->leakage, at->sram_um2.low, at->sram_um2.typical, at->sram_um2.high, at->help);
    }
}

/* Currents of off-chip memories for their commands, see models/memory/dram/dram_power.c. */
static void print_rails(FILE *stream)
{
    static const char *const presets[] = {
#define CNNVP_DRAM_PRESET(index, name, ...) [index] = name,
#include "memory/dram/dram.def"
    };
    fprintf(stream, "\n  %-12s  %5s  %7s  %6s  %6s  %6s  %6s  %6s  %6s  %6s  %6s  %6s  %7s  %7s\n", "off chip, mA",
            "volts", "devices", "IDD0", "IDD2N", "IDD3N", "IDD4R", "IDD4W", "IDD5", "IDD2P", "IDD3P", "IDD6", "pins RD",
            "pins WR");
#define CNNVP_DRAM_RAIL(                                                                                          \
    preset, volts, devices, idd0, idd2n, idd3n, idd4r, idd4w, idd5, idd2p, idd3p, idd6, read_io, write_io)        \
    fprintf(stream,                                                                                               \
            "  %-12s  %5.4g  %7d  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %6.4g  %7.4g  %7.4g\n", \
            presets[preset], volts, devices, (double)(idd0), (double)(idd2n), (double)(idd3n), (double)(idd4r),   \
            (double)(idd4w), (double)(idd5), (double)(idd2p), (double)(idd3p), (double)(idd6), (double)(read_io), \
            (double)(write_io));
#include "memory/dram/dram.def"
    fputs("  Currents per device; pins: pJ per burst. Lowest: without pins; highest: 1.3 times as much. ddr3, ddr4, "
          "hbm2: DRAMsim3; lpddr4: JESD209-4; ddr5: Ramulator; pins: TN-40-07, JESD209-4, O'Connor.\n",
          stream);
    fprintf(stream, "\n  %-12s  %6s  %6s  %6s  %7s  %8s  %10s  %8s  %8s  %8s  %6s  %7s\n", "off chip, pJ", "ACT", "RD",
            "WR", "REF", "mW open", "mW closed", "mW 2P", "mW 3P", "mW 6", "lowest", "highest");
#define CNNVP_DRAM_PUBLISHED(preset, activate, read, write, refresh, open, closed, idd2p, idd3p, idd6, low, high)    \
    fprintf(stream, "  %-12s  %6.4g  %6.4g  %6.4g  %7.5g  %8.3g  %10.3g  %8.3g  %8.3g  %8.3g  %5.2gx  %6.2gx\n",     \
            presets[preset], (double)(activate), (double)(read), (double)(write), (double)(refresh), (double)(open), \
            (double)(closed), (double)(idd2p), (double)(idd3p), (double)(idd6), (double)(low), (double)(high));
#include "memory/dram/dram.def"
    fputs("  Energy of a rank's commands, pins included, where no currents are public: lpddr5 from JESD209-4, scaled "
          "by the squares of the voltages, hbm3 from O'Connor for two 1 KB rows; ranges from vendors' claims.\n",
          stream);
}

static const struct {
    const char *name, *range, *help;
    double low, high;
    int sram;
} entries[CNNVP_ENERGY_ENTRIES] = {
#define CNNVP_ENERGY(name, horowitz, eyeriss, low, high, sram, range, help) {#name, range, help, low, high, sram},
#include "energy.def"
};

static void print_entries(FILE *stream)
{
    struct cnnvp_energy_table table;
    fprintf(stream, "\n  %-20s", "entry");
    for (size_t i = 0; cnnvp_energy_builtin(i, &table); ++i)
        fprintf(stream, "  %8s", table.name);
    fprintf(stream, "  %7s  %7s  %-9s  %s\n", "lowest", "highest", "says", "help");
    for (size_t e = 0; e < CNNVP_ENERGY_ENTRIES; ++e) {
        fprintf(stream, "  %-20s", entries[e].name);
        for (size_t i = 0; cnnvp_energy_builtin(i, &table); ++i)
            fprintf(stream, "  %8.4g", table.picojoules[e]);
        fprintf(stream, "  %6.4gx  %6.4gx  %-9s  %s\n", entries[e].low, entries[e].high, entries[e].range,
                entries[e].help);
    }
}

static void print_energy(FILE *stream)
{
    fputs("energy tables: picojoules of one count, at 45 nm\n\n", stream);
#define CNNVP_ENERGY_TABLE(name, unit, scaling, own, help) fprintf(stream, "  %-10s  %s\n", #name, help);
#include "energy.def"
    print_entries(stream);
    fputs(
        "\nlowest, highest: range that the source under `says` gives, relative to the first table (energy.low_pj, "
        "energy.high_pj). With sram_scaling on, entries sram_* are for a bank of 8 KiB and scale with the square root "
        "of its size, plus what moving the bits takes (`wire` of `cnnvp models area`). A memory states the energy of "
        "its part's commands, used in place of dram_byte unless a table or --set gives dram_byte; port_word is added "
        "to them. All of these count what crosses the pins: whole bursts, without those that its controller answers. A "
        "word on a link takes global_word times the side of the chip without its core, from a unit that has a port to "
        "memory, and to the bus; between other units, local_word times half the sides of both, without the way in an "
        "SRAM; to off-chip memory, nothing more.\n",
        stream);
    print_technologies(stream);
    print_rails(stream);
    fputs("\nA platform file chooses a table with `energy: NAME` or `energy: FILE.yaml`, or changes entries with "
          "`energy: {table: NAME, dram_byte: 100}`; --set energy.table=NAME and --set energy.ENTRY=PICOJOULES do the "
          "same. A file of your own: `table: NAME`, `base: horowitz`, `sram_scaling: on|off`, `entries: {ENTRY: "
          "PICOJOULES}`; missing entries come from its base; without a base it must have all. `technology: 65nm` in "
          "the platform file, or --set energy.technology=65nm, scales what is on chip.\n",
          stream);
    print_sources(stream);
}

/* The name of a part in lower-case words. */
static const char *words(const char *name, char *buffer, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && name[i] != '\0'; ++i)
        buffer[i] = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
    buffer[i] = '\0';
    return buffer;
}

static void print_area(FILE *stream)
{
    char name[32];
    fputs("area and static power of the parts of units, at 45 nm\n\n", stream);
    fprintf(stream, "  %-16s  %20s  %20s  %s\n", "part of b bits", "um2", "leakage in uW", "source");
#define CNNVP_COMPONENT(part, square, linear, square_uw, linear_uw, help)                                             \
    fprintf(stream, "  %-16s  %6.4g b2 + %6.4g b  %6.4g b2 + %6.4g b  %s\n", words(#part, name, sizeof name), square, \
            linear, square_uw, linear_uw, help);
#include "technology.def"
    fputs("  sram              w words of b bits: the technology's um2 per bit, times w b + sram_column b + sram_word "
          "w + sram_bank; leakage per KiB\n",
          stream);
    fprintf(stream, "\n  %-14s  %8s  %8s  %8s  %-4s  %s\n", "constant", "lowest", "usual", "highest", "unit", "source");
#define CNNVP_CONSTANT(constant, low, typical, high, unit, help) \
    fprintf(stream, "  %-14s  %8.4g  %8.4g  %8.4g  %-4s  %s\n", #constant, low, typical, high, unit, help);
#include "technology.def"
    print_technologies(stream);
    print_sources(stream);
}

static cnnvp_result print_to(void (*print)(FILE *stream), char **text)
{
    struct cnnvp_printed printed;

    if (cnnvp_print_begin(&printed) != NULL)
        print(printed.stream);
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

cnnvp_result cnnvp_energy_text(char **text)
{
    CNNVP_DECIMAL_POINT;
    return print_to(print_energy, text);
}

cnnvp_result cnnvp_area_text(char **text)
{
    CNNVP_DECIMAL_POINT;
    return print_to(print_area, text);
}
