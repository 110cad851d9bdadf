/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bursts of a pattern or of a trace lie, for another simulator: lines of "W CHANNEL PSEUDO-CHANNEL GROUP BANK
 * ROW COLUMN", W 1 for a write. The trace is as `cnnvp memory` takes it, on standard input.
 *
 *     dram_places PRESET PSEUDO-CHANNELS CHANNELS MAPPING PATTERN|- BURSTS
 *     dram_places                                                          names of patterns
 */
#include "dram_options.h"
#include "dram_patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_place(const struct dram_map *map, const struct dram_timing *timing, uint32_t write, uint64_t address)
{
    const struct dram_place place = cnnvp_dram_map(map, address);
    printf("%u %u %u %u %u %u %u\n", write, place.channel, place.bank / timing->banks / timing->groups,
           place.bank / timing->banks % timing->groups, place.bank % timing->banks, place.row, place.column);
}

static enum dram_pattern pattern_of(const char *name)
{
    uint32_t pattern = 0;
    while (pattern < DRAM_PATTERNS && strcmp(name, dram_pattern_name(pattern)) != 0)
        ++pattern;
    return pattern;
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 0);
}

int main(int argc, char **argv)
{
    struct dram_options options;
    struct dram_timing timing;
    struct dram_map map;
    char message[200];
    char line[64];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    for (uint32_t pattern = 0; argc == 1 && pattern < DRAM_PATTERNS; ++pattern)
        printf("%s\n", dram_pattern_name(pattern));
    if (argc != 7)
        return argc == 1 ? 0 : 2;
    options.preset = number(argv[1]);
    options.pseudo_channels = number(argv[2]);
    options.channels = number(argv[3]);
    options.mapping = number(argv[4]);
    if (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) != CNNVP_OK) {
        (void)fprintf(stderr, "%s\n", message);
        return 1;
    }
    cnnvp_dram_map_init(&options, &timing, &map);
    const enum dram_pattern pattern = pattern_of(argv[5]);
    uint64_t random = 1;
    for (uint64_t i = 0; pattern != DRAM_PATTERNS && i < strtoull(argv[6], NULL, 0); ++i) {
        const struct dram_pattern_burst burst = dram_pattern_burst(pattern, i, &random);
        print_place(&map, &timing, burst.write, burst.address);
    }
    while (pattern == DRAM_PATTERNS && fgets(line, sizeof line, stdin) != NULL)
        print_place(&map, &timing, line[0] == 'W', strtoull(line + 1, NULL, 0));
    return 0;
}
