/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the platform API that the compiler uses, over one array of memory and a table of parameters: tests choose
 * any sizes without a simulation. */
#ifndef FAKE_PLATFORM_H
#define FAKE_PLATFORM_H

#include "cnnvp.h"

struct cnnvp_config {
    uint64_t rows, cols; /* 0: the array has no such parameter */
    uint64_t input_para, output_para, fc_para;
    uint64_t input_bytes, weight_bytes, output_bytes; /* whole buffers */
    uint64_t pingpong;
    uint64_t acc_bits;
    uint64_t memory_bytes;
    const char *fc_mapping;
};

/* ShiDianNao's: the nfu preset. */
struct cnnvp_config fake_nfu(void);
/* The window preset. */
struct cnnvp_config fake_window(void);

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
