/* SPDX-License-Identifier: Apache-2.0 */
/* A platform whose units are real, for the compiler to ask, and whose memory is one array: nothing runs. */
#ifndef FAKE_PLATFORM_H
#define FAKE_PLATFORM_H

#include "cnnvp_network.h"

/* Of a preset, but for these. */
struct fake_config {
    uint64_t rows, cols; /* 0: the array has no such parameter */
    uint64_t input_para, output_para, fc_para;
    uint64_t input_bytes, weight_bytes, output_bytes; /* whole buffers */
    uint64_t pingpong;
    uint64_t acc_bits;
    uint64_t memory_bytes;
    const char *fc_mapping;
    int both;   /* 1: its arrays take words of 8 bits, too */
    int scales; /* 1: the PE array's write-out scales */
    int wide;   /* 1: ports of the buffers give all that the NFU reads in a clock, with strides of 2 too */
};

/* ShiDianNao's: the nfu preset. */
struct fake_config fake_nfu(void);
/* The window preset. */
struct fake_config fake_window(void);

/* The resolved configuration; ends the program where it is refused. */
cnnvp_config *fake_config_new(const struct fake_config *config);
/* cnnvp_network_new for it. */
CNNVP_MUST_USE cnnvp_result fake_network_new(const char *onnx_file, const struct fake_config *config,
                                             const struct cnnvp_network_options *options, cnnvp_network **network,
                                             struct cnnvp_error *error);

struct cnnvp_platform {
    uint8_t *memory; /* from 0x80000000 */
    size_t size;
    int indirect; /* 1: it is not mapped */
    int elf_loaded;
    char layers[4096]; /* "name op macs\n" of all that was described */
    uint64_t pes;
    uint64_t hash;
    uint64_t images;
};

cnnvp_platform *fake_platform_new(size_t size);
void fake_platform_free(cnnvp_platform *platform);

#endif
