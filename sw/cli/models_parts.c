/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp models dram: the structure and timings of each off-chip memory part (models/memory/dram/dram.def). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum timing {
#define CNNVP_DRAM_TIMING(name, max, help) TIMING_##name,
#include "memory/dram/dram.def"
    TIMINGS
};

enum { STRUCTURE = 10 };

/* Fields in the order of CNNVP_DRAM_PRESET. */
struct part {
    const char *name;
    uint32_t values[STRUCTURE + TIMINGS];
};

static const struct part parts[] = {
#define CNNVP_DRAM_PRESET(index, name, ...) [index] = {name, {__VA_ARGS__}},
#include "memory/dram/dram.def"
};

static const char *const names[STRUCTURE + TIMINGS] = {
    "channels",  "pseudo channels", "bits of a channel", "bits of a device",
    "clock, ps", "command buses",   "bank groups",       "banks of a group",
    "rows",      "bytes of a row",
#define CNNVP_DRAM_TIMING(name, max, help) "t_" #name,
#include "memory/dram/dram.def"
};

void cli_print_parts(FILE *stream)
{
    const size_t count = sizeof parts / sizeof *parts;
    (void)fprintf(stream, "\nparts (of one rank of one channel, all devices together; timings in clocks)\n  %-18s",
                  "kind");
    for (size_t i = 0; i < count; ++i)
        (void)fprintf(stream, "  %6.*s", (int)strcspn(parts[i].name, "-"), parts[i].name);
    (void)fprintf(stream, "\n  %-18s", "MT/s");
    for (size_t i = 0; i < count; ++i)
        (void)fprintf(stream, "  %6s", strchr(parts[i].name, '-') != NULL ? strchr(parts[i].name, '-') + 1 : "-");
    for (size_t row = 0; row < STRUCTURE + TIMINGS; ++row) {
        (void)fprintf(stream, "\n  %-18s", names[row]);
        for (size_t i = 0; i < count; ++i)
            (void)fprintf(stream, "  %6" PRIu32, parts[i].values[row]);
    }
    (void)fprintf(stream, "\n\nof which sources differ\n");
#define CNNVP_DRAM_RANGE(preset, timing, low, high, sources) \
    (void)fprintf(stream, "  %-12s  t_%-7s  %3d to %3d: %s\n", parts[preset].name, #timing, low, high, sources);
#include "memory/dram/dram.def"
}
