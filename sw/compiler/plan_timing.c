/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the estimate of a layer's time is made from, by a resolved configuration: of the memory the time that a burst of
 * a sequential stream takes, or its latency divided among the bursts that the DMA keeps outstanding.
 */
#include "plan.h"

#include <string.h>

#define PS_A_US 1000000u
#define BURST_BYTES 64u
#define DDR4_2400 1u /* of the memory's presets: what a memory of somebody else's counts as */

enum dram_timing {
#define CNNVP_DRAM_TIMING(name, max, help) DRAM_##name,
#include "dram/dram.def"
    DRAM_TIMINGS
};

struct preset {
    const char *name;
    uint32_t tck_ps;
    uint32_t groups;
    uint32_t clocks[DRAM_TIMINGS];
};

static const struct preset presets[] = {
#define CNNVP_DRAM_PRESET(index, name, tck_ps, groups, banks, rows, row_bytes, ...)                                    \
    {name, tck_ps, groups, {__VA_ARGS__}},
#include "dram/dram.def"
};

static const char *const timing_parameters[] = {
#define CNNVP_DRAM_TIMING(name, max, help) "dram.t_" #name,
#include "dram/dram.def"
};

/* The parameter's value; `otherwise` where the platform has none of this name, or 0. */
static uint64_t number(const cnnvp_config *config, const char *name, uint64_t otherwise)
{
    uint64_t value = 0;
    const char *text = NULL;
    if (config == NULL || cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE || value == 0)
        return otherwise;
    return value;
}

static int is_choice(const cnnvp_config *config, const char *name, const char *choice)
{
    uint64_t value = 0;
    const char *text = NULL;
    return config != NULL && cnnvp_config_get(config, name, &value, &text) == CNNVP_DONE && text != NULL &&
           strcmp(text, choice) == 0;
}

static struct preset memory_of(const cnnvp_config *config)
{
    struct preset preset = presets[DDR4_2400];
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; ++i)
        if (is_choice(config, "dram.preset", presets[i].name))
            preset = presets[i];
    for (size_t i = 0; i < DRAM_TIMINGS; ++i)
        preset.clocks[i] = (uint32_t)number(config, timing_parameters[i], preset.clocks[i]);
    return preset;
}

/* Bytes in a microsecond. */
static uint64_t bandwidth(const cnnvp_config *config, const struct preset *memory)
{
    const uint32_t *t = memory->clocks;
    /* Bursts that follow each other lie in one bank group, unless the groups have the lowest address bits. */
    const int grouped = memory->groups > 1u && !is_choice(config, "dram.mapping", "row-column-group");
    const uint64_t distance = grouped ? t[DRAM_ccd_l] : t[DRAM_ccd_s];
    const uint64_t burst_ps = (distance > t[DRAM_bl] ? distance : t[DRAM_bl]) * memory->tck_ps;
    /* A sixteenth for rows and refresh; what a DMA's burst leaves of the memory's is lost. */
    uint64_t most = number(config, "dram.channels", 1) * BURST_BYTES * PS_A_US / burst_ps * 15u / 16u;
    const uint64_t burst_bytes = number(config, "dma.burst_bytes", BURST_BYTES);
    if (burst_bytes < BURST_BYTES)
        most = most * burst_bytes / BURST_BYTES;
    const uint64_t latency_ps = (t[DRAM_cl] + t[DRAM_bl] + 2u) * (uint64_t)memory->tck_ps;
    const uint64_t outstanding = number(config, "dma.outstanding", 16) * burst_bytes * PS_A_US / latency_ps;
    /* Not finer than the estimate: what differs by less plans alike. */
    const uint64_t bytes = (most < outstanding ? most : outstanding) / 125u * 125u;
    return bytes != 0 ? bytes : 125u;
}

struct cnnvp_plan_timing cnnvp_plan_timing_of(const cnnvp_config *config)
{
    const struct preset memory = memory_of(config);
    const uint32_t *t = memory.clocks;
    const uint64_t mhz = number(config, "pe_array.clock_mhz", 1000);
    const uint64_t random_ps = (t[DRAM_rcd] + t[DRAM_cl] + t[DRAM_bl]) * (uint64_t)memory.tck_ps;
    const uint64_t bytes = bandwidth(config, &memory) * 1000u / mhz;
    return (struct cnnvp_plan_timing){
        .memory_bytes = bytes != 0 ? bytes : 1u,
        .request_cycles = (2u * random_ps * mhz + PS_A_US / 2u) / PS_A_US,
        .core_cycles = 1000u * mhz / number(config, "cpu.clock_mhz", 1000),
        .lanes = number(config, "vector.lanes", 16),
        .division_beats = number(config, "vector.div_cycles", 8) + 1u,
    };
}
