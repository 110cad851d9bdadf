/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random commands for the PE module of the training engine, and what comes out of them by the formulas of a layer,
 * forward, error (scattered, not gathered) and gradient, in plain loops that share nothing with the model.
 */
#ifndef CNNVP_TRAIN_CASE_H
#define CNNVP_TRAIN_CASE_H

#include "training/train_array/train_tile.h"

enum train_opcode { T_FORWARD = 0xa0, T_ERROR, T_GRADIENT, T_MATMUL, T_BACK, T_OUTER };

/* A layer, and which of its three computations is asked for. */
struct train_case {
    uint32_t opcode;
    bool accumulate, to_float;
    uint32_t bits;              /* of mantissas */
    uint32_t images, cin, cout; /* of the layer */
    uint32_t h, w, oh, ow;      /* its input and output map */
    uint32_t kx, ky, sx, sy, px, py;
    uint32_t gap; /* mantissas left free between rows, channels and images */
    uint32_t in_exp_image, in_exp_channel, second_exp_out, second_exp_part; /* 0 or 1: exponents of their own */
    struct cnnvp_command command;
    /* data; mantissas as int32_t, and as the module takes them */
    uint64_t in_values, second_values, results;
    int32_t *in, *second;
    void *in_raw, *second_raw;
    int8_t *in_exps, *second_exps;
    uint64_t in_exp_count, second_exp_count;
    void *before; /* what the results are added to */
    void *after;  /* what must be there then */
    uint64_t result_bytes;
    uint64_t saturated;
};

/* A small random layer and command. bits: 8, or more for wide mantissas. */
void train_case_random(struct train_case *c, uint64_t *random, uint32_t bits);
/* One of `bits` 8 with output maps as large as its input maps and kernels of side x side, in the middle of the padding;
 * no data. Matrices: all of these 1. */
struct train_case train_case_same(uint32_t opcode, uint32_t images, uint32_t cin, uint32_t cout, uint32_t h, uint32_t w,
                                  uint32_t side);
/* From the layer's sizes: command, random data, expected results. `extreme`: all mantissas -2^(bits-1). */
void train_case_fill(struct train_case *c, uint64_t *random, bool extreme, bool expect);
void train_case_free(struct train_case *c);

/* Addresses of the operands in their buffer halves. */
enum { TRAIN_IN = 0, TRAIN_SECOND = 0, TRAIN_OUT = 0 };
uint32_t train_case_in_exp_addr(const struct train_case *c);
uint32_t train_case_second_exp_addr(const struct train_case *c);
uint32_t train_case_out_exp_addr(const struct train_case *c);

#endif
