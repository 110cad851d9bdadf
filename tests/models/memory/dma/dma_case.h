/* SPDX-License-Identifier: Apache-2.0 */
/* A DMA between a memory and buffers that are made up. */
#ifndef CNNVP_TESTS_DMA_CASE_H
#define CNNVP_TESTS_DMA_CASE_H

#include "test.h"

#include "cnnvp_buffer.h"
#include "units.h"
#include "memory/dma/dma.h"
#include "fake_host.h"

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) OP_##mnemonic = (code),
#include "isa/opcodes.def"
};

#define CYCLE 1000u /* ps at 1000 MHz */
#define BASE 0x80000000u
#define MEMORY 65536u
#define LATENCY 50000u   /* ps */
#define PS_PER_BYTE 125u /* 8 bytes a cycle */
#define HALF 8192u
enum { INPUT = 0, WEIGHT = 1, OUTPUT = 2 };

struct completion {
    uint64_t sequence;
    int32_t status;
    cnnvp_time at;
};

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *dma;
    struct cnnvp_host *buffers[3];
    struct completion done[64];
    uint32_t done_count;
    uint64_t sequence;
    struct cnnvp_command *reissue; /* issued from within the next completion */
    int reissue_status;
};

/* A descriptor in the order of descriptors.def. */
struct tile {
    uint32_t memory_addr, buffer_addr, row_bytes, rows, memory_row_stride, buffer_row_stride, planes;
    uint32_t memory_plane_stride, buffer_plane_stride, feature_words;
};

int issue_command(struct fixture *f, struct cnnvp_command *command, cnnvp_time *delay);

void set_up(struct fixture *f, int timing_only);

void open_dma(struct fixture *f, int timing_only);

void close_dma(struct fixture *f);

struct cnnvp_command make(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves,
                          const struct tile *tile);

int issue(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves, const struct tile *tile);

/* Of planes that lie interleaved in memory, so many of them. */
int issue_interleaved(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t planes, const struct tile *tile);

uint8_t *half_data(struct fixture *f, int buffer, uint32_t half);

struct tile flat(uint32_t memory_addr, uint32_t buffer_addr, uint32_t bytes);

#endif
