/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Platforms of pairs with --more: for trainings, for quantised networks, and with a third-party memory as the off-chip
 * memory.
 */
#include <stdio.h>
#include <string.h>

#include "soak_platform.h"

static int one_in(uint64_t *random, uint32_t times)
{
    return soak_random(random, times) == 0;
}

static const char *const switches[] = {"on", "off"};

/* ---- trainings ---- */

static void option(struct soak_platform *platform, uint64_t *random, const char *name, const char *const *values,
                   uint32_t count)
{
    soak_append(platform, " --%s %s", name, values[soak_random(random, count)]);
}

static void draw_learning(struct soak_platform *platform, uint64_t *random)
{
    static const char *const norms[] = {"range", "standard"};
    static const char *const inits[] = {"file", "random"};
    static const char *const roundings[] = {"truncate", "nearest", "stochastic", "stochastic"};
    static const char *const errors[] = {"plain", "carried"};
    static const char *const exponents[] = {"tensor", "image", "channel"};
    static const char *const widths[] = {"32", "32", "8"};
    static const char *const orders[] = {"kernel", "channel"};
    static const char *const rates[] = {"0.02", "0.1", "0.001"};
    static const char *const momenta[] = {"0.9", "0", "0.5"};
    platform->images = 2 + soak_random(random, 11);
    const uint32_t batch = 1 + soak_random(random, platform->images < 8 ? platform->images : 8);
    const uint32_t epochs = 1 + soak_random(random, 2);
    const uint32_t steps = epochs * ((platform->images + batch - 1) / batch);
    platform->halfway = steps > 1 ? 1 + soak_random(random, steps - 1) : 0;
    soak_append(platform, " --dataset idx:images,labels --batch %u --epochs %u", batch, epochs);
    if (one_in(random, 3))
        soak_append(platform, " --eval idx:images,labels");
    option(platform, random, "bn", norms, 2);
    option(platform, random, "init", inits, 2);
    option(platform, random, "rounding", roundings, 4);
    if (one_in(random, 2))
        option(platform, random, "errors", errors, 2);
    option(platform, random, "exponents", exponents, 3);
    option(platform, random, "weight-bits", widths, 3);
    option(platform, random, "order", orders, 2);
    option(platform, random, "lr", rates, 3);
    option(platform, random, "momentum", momenta, 3);
}

static void draw_trainer(struct soak_platform *platform, uint64_t *random)
{
    static const char *const gradients[] = {"kernel-rows", "error-rows"};
    platform->trains = 1;
    platform->kind = SOAK_TRAINING;
    platform->names[2] = "intermediate_buffer";
    soak_append(platform, "-p trainer");
    draw_learning(platform, random);
    soak_set(platform, "pe_array.cols", 1 + soak_random(random, 40));
    soak_set(platform, "pe_array.arrays", one_in(random, 2) ? 4 : 1 + soak_random(random, 8));
    soak_set(platform, "pe_array.fc_rows", 1 + 2 * soak_random(random, 2));
    soak_set(platform, "pe_array.mantissa_bits", one_in(random, 2) ? 8 : 3 + soak_random(random, 6));
    soak_choose(platform, random, "pe_array.gradient", gradients, 2);
    soak_set(platform, "multi_function.lanes", 1 + soak_random(random, 4));
    soak_choose(platform, random, "weight_buffer.pingpong", switches, 2);
    soak_choose(platform, random, "intermediate_buffer.pingpong", switches, 2);
    soak_draw_memory(platform, random);
    platform->buffers[0] = 528u << soak_random(random, 6);
    platform->buffers[1] = 3072u << soak_random(random, 7);
    platform->buffers[2] = 65536u << soak_random(random, 5);
}

/* ---- inference ---- */

static void draw_pingpong(struct soak_platform *platform, uint64_t *random, size_t buffer)
{
    char parameter[64];
    (void)snprintf(parameter, sizeof parameter, "%s.pingpong", platform->names[buffer]);
    soak_choose(platform, random, parameter, switches, 2);
}

static void draw_inference(struct soak_platform *platform, uint64_t *random)
{
    static const char *const roundings[] = {"nearest", "nearest", "floor", "truncate", "stochastic"};
    static const char *const mappings[] = {"broadcast", "single-neuron"};
    static const char *const dataflows[] = {"ws", "os", "is"};
    static const char *const folds[] = {"single", "double", "pipelined"};
    static const char *const presets[] = {"nfu", "window", "systolic"};
    const uint32_t preset = soak_random(random, 3);
    /* Uses the state without drawing, so that the rest of each pair stays the same. */
    platform->unified = preset != 1 && (*random >> 40) % 3u == 0;
    if (platform->unified) {
        soak_append(platform, preset == 0 ? "-p unified" : "-p unified -s pe_array.model=systolic");
        for (size_t i = 0; i < 3; ++i)
            platform->names[i] = "scratchpad";
    } else {
        soak_append(platform, "-p %s", presets[preset]);
    }
    if (platform->kind == SOAK_CHAIN)
        soak_append(platform, " --schedule depth-first --block %u", 2u << soak_random(random, 4));
    if (preset != 1) {
        soak_set(platform, "pe_array.rows", 1 + soak_random(random, 16));
        soak_set(platform, "pe_array.cols", 1 + soak_random(random, 16));
    }
    if (preset == 0) {
        soak_set(platform, "pe_array.kernel_piece", 3 * soak_random(random, 2));
        soak_choose(platform, random, "pe_array.fc_mapping", mappings, 2);
    } else if (preset == 2) {
        soak_choose(platform, random, "pe_array.dataflow", dataflows, 3);
        soak_choose(platform, random, "pe_array.folds", folds, 3);
        const uint32_t size = 256u << soak_random(random, 8), banks = 1 + soak_random(random, 2);
        if (strstr(platform->options, "dataflow=os") == NULL) {
            soak_set(platform, "pe_array.accumulator_size", size);
            soak_set(platform, "pe_array.accumulator_banks", banks);
        }
    } else {
        soak_set(platform, "pe_array.input_para", 1 + soak_random(random, 12));
        soak_set(platform, "pe_array.output_para", 1 + soak_random(random, 12));
        soak_set(platform, "fully_connected.fc_para", 1 + soak_random(random, 32));
    }
    soak_set(platform, "vector.lanes", 1 + soak_random(random, 32));
    draw_pingpong(platform, random, 2);
    soak_append(platform, " --rounding %s --images %u", roundings[soak_random(random, 5)], 1 + soak_random(random, 4));
    for (size_t i = 0; i < 3; ++i)
        platform->buffers[i] = 2048u << soak_random(random, 7);
}

/* Draws a third-party memory as text for soak_memory.cpp: loosely or approximately timed, in one of the styles in which
 * targets are written. */
static void draw_external(struct soak_platform *platform, uint64_t *random)
{
    static const char *const storages[] = {"target", "target", "platform"};
    const int approximate = soak_random(random, 2) == 0;
    char *text = platform->memory;
    const size_t room = sizeof platform->memory;
    if (approximate) {
        (void)snprintf(text, room, "at:");
        for (uint32_t i = 1 + soak_random(random, 6); i != 0; --i)
            (void)snprintf(text + strlen(text), room - strlen(text), "%u", soak_random(random, 6));
    } else {
        (void)snprintf(text, room, "lt:%u:%s%s%s", soak_random(random, 400), one_in(random, 2) ? "w" : "",
                       one_in(random, 4) ? "" : "g", one_in(random, 2) ? "d" : "");
    }
    const uint32_t burst = 4u << soak_random(random, 7);
    const uint32_t in_flight = 1u << soak_random(random, 8);
    const char *storage = storages[soak_random(random, 3)];
    (void)snprintf(platform->memory_options, sizeof platform->memory_options,
                   " -s dram.model=external -s dram.protocol=%s -s dram.burst_bytes=%u -s dram.in_flight=%u "
                   "-s dram.storage=%s -s dram.dmi=%s",
                   approximate ? "at" : "lt", burst, in_flight, storage, switches[soak_random(random, 2)]);
    (void)snprintf(platform->fault, sizeof platform->fault, "%s!%u:%u", text, soak_random(random, 3000),
                   soak_random(random, 5));
    soak_set(platform, "dma.outstanding", 1u << soak_random(random, 8));
    soak_set(platform, "dma.burst_bytes", 16u << soak_random(random, 6));
}

void soak_more_platform(uint64_t seed, struct soak_platform *platform)
{
    uint64_t random = seed ^ UINT64_C(0x6a09e667f3bcc909);
    *platform = (struct soak_platform){
        .options = "", .outputs = 1, .names = {"input_buffer", "weight_buffer", "output_buffer"}};
    switch (soak_random(&random, 4)) {
    case 0:
    case 1:
        draw_trainer(platform, &random);
        break;
    case 2:
        platform->kind = one_in(&random, 4) ? SOAK_CHAIN : SOAK_HEADS;
        draw_inference(platform, &random);
        draw_external(platform, &random);
        break;
    default:
        platform->kind = SOAK_QUANTISED;
        draw_inference(platform, &random);
        soak_draw_memory(platform, &random);
        break;
    }
    soak_draw_control(platform, &random);
    draw_pingpong(platform, &random, 0);
}
