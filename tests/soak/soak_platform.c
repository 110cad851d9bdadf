/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms for pairs without --more: presets, schedules and units. */
#include <string.h>

#include "soak_platform.h"

static int one_in(uint64_t *random, uint32_t times)
{
    return soak_random(random, times) == 0;
}

static const char *chosen(uint64_t *random, const char *const *names, uint32_t count)
{
    return names[soak_random(random, count)];
}

void soak_set(struct soak_platform *platform, const char *parameter, uint32_t value)
{
    soak_append(platform, " -s %s=%u", parameter, value);
}

void soak_choose(struct soak_platform *platform, uint64_t *random, const char *parameter, const char *const *names,
                 uint32_t count)
{
    soak_append(platform, " -s %s=%s", parameter, chosen(random, names, count));
}

static const char *const switches[] = {"on", "off"};

/* ---- engines ---- */

static void draw_nfu(struct soak_platform *platform, uint64_t *random)
{
    static const char *const mappings[] = {"broadcast", "single-neuron"};
    static const char *const fifos[] = {"literal", "extended"};
    soak_set(platform, "pe_array.rows", 1 + soak_random(random, 16));
    soak_set(platform, "pe_array.cols", 1 + soak_random(random, 16));
    soak_set(platform, "pe_array.kernel_piece", 3 * soak_random(random, 2));
    soak_choose(platform, random, "pe_array.propagation", switches, 2);
    soak_choose(platform, random, "pe_array.fc_mapping", mappings, 2);
    const char *fifo = chosen(random, fifos, 2);
    if (strstr(platform->options, "propagation=on") != NULL)
        soak_append(platform, " -s pe_array.fifo_v=%s", fifo);
}

static void draw_window(struct soak_platform *platform, uint64_t *random)
{
    soak_set(platform, "pe_array.input_para", 1 + soak_random(random, 12));
    soak_set(platform, "pe_array.output_para", 1 + soak_random(random, 12));
    soak_set(platform, "fully_connected.fc_para", 1 + soak_random(random, 32));
    soak_set(platform, "vector.units", 1 + soak_random(random, 12));
}

/* Fused groups: with one of the halos, or chosen by an objective. */
static void draw_groups(struct soak_platform *platform, uint64_t *random)
{
    static const char *const halos[] = {"recompute", "row", "full"};
    static const char *const objectives[] = {"time", "energy", "edp", "traffic"};
    platform->groups = 1;
    if (one_in(random, 3))
        soak_append(platform, " --schedule auto --objective %s", chosen(random, objectives, 4));
    else
        soak_append(platform, " --schedule fused --plan " SOAK_PLANS "/%s.yaml", chosen(random, halos, 3));
}

/* Draws a schedule: depth first, perhaps with the scheduler unit; or layer by layer, perhaps on chip, in groups or in
 * batches. */
static void draw_schedule(struct soak_platform *platform, uint64_t *random, const char *preset)
{
    static const char *const orders[] = {"morton", "table"};
    if (one_in(random, 3)) {
        platform->kind = one_in(random, 4) ? SOAK_ANY : SOAK_CHAIN;
        if (one_in(random, 2))
            soak_append(platform, "-p " SOAK_EXAMPLES "/%s_scheduler.yaml", preset);
        else
            soak_append(platform, "-p %s", preset);
        soak_append(platform, " --schedule depth-first --block %u --plan " SOAK_PLANS "/%s.yaml",
                    1u << soak_random(random, 5), chosen(random, orders, 2));
        return;
    }
    soak_append(platform, "-p %s", preset);
    if (one_in(random, 2))
        platform->kind = SOAK_ODD;
    platform->on_chip = one_in(random, 5);
    if (platform->on_chip)
        soak_append(platform, " --on-chip");
    else if (one_in(random, 2))
        draw_groups(platform, random);
    else if (one_in(random, 3))
        soak_append(platform, " --batch %u", 2u + soak_random(random, 4));
}

static void draw_inference(struct soak_platform *platform, uint64_t *random)
{
    static const char *const write_outs[] = {"round", "clip", "scale", "table"};
    const int nfu = soak_random(random, 2) == 0;
    draw_schedule(platform, random, nfu ? "nfu" : "window");
    if (nfu)
        draw_nfu(platform, random);
    else
        draw_window(platform, random);
    soak_choose(platform, random, "pe_array.write_out", write_outs, 4);
    soak_choose(platform, random, "vector.write_out", write_outs, 2);
    soak_set(platform, "pe_array.acc_bits", 16 + soak_random(random, 49));
    soak_set(platform, "vector.lanes", 1 + soak_random(random, 32));
    soak_choose(platform, random, "output_buffer.pingpong", switches, 2);
    soak_set(platform, "output_buffer.width_words", 4u << soak_random(random, 7));
    soak_set(platform, "output_buffer.banks", 1u << soak_random(random, 6));
    for (size_t i = 0; i < 3; ++i)
        platform->buffers[i] = (platform->on_chip ? 65536u : 1024u) << soak_random(random, platform->on_chip ? 5 : 8);
}

/* Weight and intermediate buffer have S001's sizes; the input buffer has one to three times S001's. */
static void draw_trainer(struct soak_platform *platform, uint64_t *random)
{
    platform->kind = SOAK_LEARNER;
    platform->names[2] = "intermediate_buffer";
    soak_append(platform, "-p trainer");
    soak_set(platform, "pe_array.cols", 4 + soak_random(random, 40));
    soak_set(platform, "pe_array.fc_rows", 1 + 2 * soak_random(random, 2));
    soak_set(platform, "multi_function.lanes", 1 + soak_random(random, 4));
    platform->buffers[0] = 8448u * (1 + soak_random(random, 3));
    platform->buffers[1] = 98304u;
    platform->buffers[2] = 1048576u;
}

/* ---- common parts ---- */

void soak_draw_memory(struct soak_platform *platform, uint64_t *random)
{
    static const char *const parts[] = {
        "ddr3-1600", "ddr4-2400", "ddr4-3200", "lpddr4-3200", "hbm2", "ddr5-4800", "lpddr5-6400", "hbm3"};
    static const char *const arbiters[] = {"separate", "round-robin", "priority", "weighted"};
    static const char *const pages[] = {"open", "closed"};
    static const char *const schedulers[] = {"fr-fcfs", "fcfs", "fr-fcfs-row-hit"};
    static const char *const mappings[] = {
        "row-bank-column", "row-column-bank", "bank-row-column", "row-column-group", "hashed"};
    soak_choose(platform, random, "dram.preset", parts, 8);
    soak_set(platform, "dram.channels", one_in(random, 2) ? 1u : 1 + soak_random(random, 4));
    const uint32_t ranks = 1u << soak_random(random, 3);
    const int many_banks = strstr(platform->options, "r5-") != NULL || strstr(platform->options, "hbm") != NULL;
    soak_set(platform, "dram.ranks", many_banks && ranks == 4 ? 2 : ranks);
    if (one_in(random, 2)) {
        soak_choose(platform, random, "dram.row_policy", pages, 2);
        soak_choose(platform, random, "dram.scheduler", schedulers, 3);
        soak_choose(platform, random, "dram.mapping", mappings, 5);
        soak_set(platform, "dram.queue", 4 + soak_random(random, 61));
    }
    soak_set(platform, "dma.outstanding", 1u << soak_random(random, 11));
    soak_set(platform, "dma.burst_bytes", 8u << soak_random(random, 10));
    soak_choose(platform, random, "dma.arbiter", arbiters, 4);
    soak_set(platform, "dma.requests", 1 + soak_random(random, 16));
    soak_set(platform, "dma.port_bytes", 2u << soak_random(random, 7));
}

void soak_draw_control(struct soak_platform *platform, uint64_t *random)
{
    static const char *const orders[] = {"overlap", "strict"};
    static const char *const memories[] = {"cache", "tcm", "ideal"};
    soak_choose(platform, random, "instruction.order", orders, 2);
    soak_set(platform, "instruction.sequence_depth", 1 + soak_random(random, 40));
    soak_set(platform, "instruction.queue_depth", one_in(random, 2) ? 4096u : 32 + soak_random(random, 300));
    soak_set(platform, "cpu.clock_mhz", 50 + soak_random(random, 2000));
    soak_set(platform, "cpu.quantum", one_in(random, 2) ? 10000u : 1 + soak_random(random, 5000));
    soak_set(platform, "pe_array.clock_mhz", 100 + soak_random(random, 1500));
    if (one_in(random, 2)) {
        soak_choose(platform, random, "cpu.memory", memories, 3);
        const uint32_t size = 256u << soak_random(random, 7), ways = 1u << soak_random(random, 2);
        const uint32_t tcm_size = 2048u << soak_random(random, 8);
        if (strstr(platform->options, "cpu.memory=cache") != NULL) {
            soak_set(platform, "cpu.dcache_size", size);
            soak_set(platform, "cpu.dcache_ways", ways);
        } else if (strstr(platform->options, "cpu.memory=tcm") != NULL) {
            soak_set(platform, "cpu.tcm_size", tcm_size);
        }
    }
}

void soak_platform(uint64_t seed, struct soak_platform *platform)
{
    static const char *const roundings[] = {"nearest", "floor", "truncate", "stochastic"};
    static const char *const tables[] = {"horowitz", "eyeriss"};
    uint64_t random = seed ^ UINT64_C(0x2545f4914f6cdd1d);
    *platform = (struct soak_platform){
        .options = "", .outputs = 1, .names = {"input_buffer", "weight_buffer", "output_buffer"}};
    if (one_in(&random, 6))
        draw_trainer(platform, &random);
    else
        draw_inference(platform, &random);
    soak_draw_memory(platform, &random);
    soak_draw_control(platform, &random);
    soak_choose(platform, &random, "input_buffer.pingpong", switches, platform->kind == SOAK_LEARNER ? 1 : 2);
    soak_set(platform, "input_buffer.width_words", 4u << soak_random(&random, 7));
    soak_set(platform, "weight_buffer.width_words", 4u << soak_random(&random, 7));
    soak_choose(platform, &random, "energy.table", tables, 2);
    soak_append(platform, " --rounding %s --images %u", chosen(&random, roundings, platform->groups ? 3 : 4),
                1 + soak_random(&random, 6));
}
