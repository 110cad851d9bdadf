/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up platform for tests of the recorder: tables only, nothing that runs. */
#ifndef CNNVP_TESTS_MACHINE_H
#define CNNVP_TESTS_MACHINE_H

#include "recorder.h"

enum { CPU, BUS, ELEMENT, ARRAY, BUFFER_A, BUFFER_B, DRAM, INSTANCES };

enum { CPU_INSTRUCTIONS };
enum { ELEMENT_INSTRUCTIONS, ELEMENT_IDLE };
enum {
    ARRAY_COMPUTE,
    ARRAY_BIAS,
    ARRAY_FILL,
    ARRAY_WRITEOUT,
    ARRAY_VECTOR,
    ARRAY_INPUT_PORT,
    ARRAY_WEIGHT_PORT,
    ARRAY_OUTPUT_PORT,
    ARRAY_INPUT,
    ARRAY_WEIGHT,
    ARRAY_OUTPUT,
    ARRAY_INSTRUCTION,
    ARRAY_HOST,
    ARRAY_INPUT_WORDS,
    ARRAY_WEIGHT_WORDS,
    ARRAY_OUTPUT_WORDS,
    ARRAY_MACS,
    ARRAY_SATURATIONS,
    ARRAY_STATS
};
enum { BUFFER_WORDS, BUFFER_CONFLICTS };
enum {
    DRAM_READ_BYTES,
    DRAM_WRITE_BYTES,
    DRAM_BURSTS,
    DRAM_ROW_HITS,
    DRAM_READS,
    DRAM_READ_LATENCY,
    DRAM_LAYER_READ,
    DRAM_BUS,
    DRAM_STATS
};
enum { TRACK_CONV, TRACK_VECTOR };
enum { ARRAY_MEM, ARRAY_IRQ };
enum { BUFFER_FEATURES, BUFFER_BYTES };
enum { DRAM_QUEUE, DRAM_BANDWIDTH, DRAM_FUNCTIONS };

const struct cnnvp_resolved *machine(void);

/* Bytes that cross a link at one instant. */
static inline void transfer(cnnvp_recorder *recorder, uint32_t link, uint64_t at, uint64_t read, uint64_t written)
{
    const struct cnnvp_link_bytes bytes = {0, 0, at, at, read, written, CNNVP_NO_INSTANCE};

    cnnvp_recorder_transfer(recorder, link, &bytes);
}

/* The same with one more unit whose only statistic names this layer member and this energy entry (NULL: none). */
const struct cnnvp_resolved *machine_with(const char *layer, const char *energy);
/* The same with one that says what it costs. */
const struct cnnvp_resolved *machine_that(void (*costs)(const uint64_t *params, const struct cnnvp_costs *costs));

#endif
