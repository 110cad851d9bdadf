/* SPDX-License-Identifier: Apache-2.0 */
/* A platform for compiler tests: its units are real, so that the compiler can query them; its memory is one array, and
 * nothing runs. */
#ifndef FAKE_PLATFORM_H
#define FAKE_PLATFORM_H

#include "cnnvp_network.h"

/* Settings that differ from the preset. */
struct fake_config {
    uint64_t rows, cols; /* 0: the array has no such parameter */
    uint64_t input_para, output_para, fc_para;
    uint64_t input_bytes, weight_bytes, output_bytes; /* both halves together */
    uint64_t pingpong;
    uint64_t acc_bits;
    uint64_t memory_bytes;
    const char *fc_mapping;
    int both;   /* 1: the arrays also take 8-bit words */
    int scales; /* 1: the PE array's write-out scales (write_out=scale) */
    int wide;   /* 1: buffer ports deliver all words that the NFU reads in a cycle, also with stride 2 */
};

/* The nfu preset, with ShiDianNao's sizes. */
struct fake_config fake_nfu(void);
/* The window preset. */
struct fake_config fake_window(void);

/* The resolved configuration; aborts the program if it is refused. */
cnnvp_config *fake_config_new(const struct fake_config *config);
/* cnnvp_network_new for this configuration. */
CNNVP_MUST_USE cnnvp_result fake_network_new(const char *onnx_file, const struct fake_config *config,
                                             const struct cnnvp_network_options *options, cnnvp_network **network,
                                             struct cnnvp_error *error);

struct cnnvp_platform {
    uint8_t *memory; /* starts at address 0x80000000 */
    size_t size;
    int indirect; /* 1: cnnvp_platform_map is refused */
    int elf_loaded;
    char layers[4096]; /* "name op macs\n" for each layer that was described */
    uint64_t pes;
    uint64_t hash;
    uint64_t images;
};

cnnvp_platform *fake_platform_new(size_t size);
void fake_platform_free(cnnvp_platform *platform);

#endif
