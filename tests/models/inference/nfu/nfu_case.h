/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case of the NFU's tests: a command in the words of the instruction set, data for it, and what must come out,
 * worked out here from the definitions in plain loops (nothing of models/ is used for that).
 */
#ifndef CNNVP_NFU_CASE_H
#define CNNVP_NFU_CASE_H

#include "cnnvp_command.h"
#include "cnnvp_fx16.h"

/* Registers of the descriptors by position: of conv, pool and step; of matmul. */
enum {
    IN_ADDR,
    ROW_STRIDE,
    CHANNEL_STRIDE,
    IN_CHANNELS,
    OUT_CHANNELS,
    OUT_H,
    OUT_W,
    KERNEL,
    STRIDE,
    DILATION,
    WEIGHT_ADDR,
    BIAS_ADDR,
    OUT_ADDR,
    ACC_ADDR,
    OUT_STRIDE,
    FORMAT,
    VALID_ROWS,
    VALID_COLS,
    SEED,
    LIMITS
};
enum { SCALE = 0x40, CLIP = 0x80 }; /* of the status of conv and matmul; of all of them */
enum { M_IN_ADDR, M_INPUTS, M_OUTPUTS, M_WEIGHT_ADDR, M_BIAS_ADDR, M_OUT_ADDR, M_ACC_ADDR, M_FORMAT };

enum { OP_CONV = 0x80, OP_POOL = 0x81, OP_MATMUL = 0x82, OP_STEP = 0x83 };

struct nfu_case {
    uint32_t opcode;
    uint32_t status;
    uint32_t in_channels, out_channels; /* matmul: inputs, outputs */
    uint32_t out_h, out_w;
    uint32_t kx, ky, sx, sy, dx, dy;
    uint32_t in_row_stride, in_channel_stride;
    uint32_t valid_rows, valid_cols;
    uint32_t format;
    uint32_t limits; /* of CLIP */
    int16_t *input;  /* with nothing after the last word that may be used */
    int16_t *weights;
    int16_t *bias;
    uint64_t input_words, weight_words, bias_words;
    uint64_t results;
    int64_t *sums; /* expected, before the update of the output buffer, modulo 2^acc_bits */
};

/* Fills in strides that fit, allocates and fills data (extreme values now and then). Sizes are the caller's. */
void nfu_case_data(struct nfu_case *c, uint64_t *random);
void nfu_case_expect(struct nfu_case *c, uint32_t acc_bits);
/* End the running test, with a description of the case and of its `array`, unless the sums are those expected, and the
 * words of two costs the same. */
void nfu_case_check_sums(const struct nfu_case *c, const char *array, const char *what, const int64_t *sums);
void nfu_case_check_cost(const struct nfu_case *c, const char *array, const void *closed, const void *counted,
                         size_t size);
void nfu_case_free(struct nfu_case *c);
/* A random small case. */
void nfu_case_random(struct nfu_case *c, uint64_t *random);

/* Of a conv or matmul: results are scaled, by random records in place of biases. */
void nfu_case_scale(struct nfu_case *c, uint64_t *random);
/* Words of an output channel at bias_addr. */
uint32_t nfu_case_bias_words(const struct nfu_case *c);

/* LeNet-5's second convolution, dense: 6 -> 16 maps of 10x10, 5x5, with bias. */
struct nfu_case nfu_case_lenet_c3(void);
/* Maps without borders, channels 4096 words apart; no data. */
struct nfu_case nfu_case_window(uint32_t opcode, uint32_t in, uint32_t out, uint32_t w, uint32_t h, uint32_t kx,
                                uint32_t ky, uint32_t sx, uint32_t sy);

/* The command with all addresses 0. */
struct cnnvp_command nfu_case_command(const struct nfu_case *c);
/* A random case's command with up to three words of its descriptor replaced by any bits. */
struct cnnvp_command nfu_case_garbage(uint64_t *random);

/* Output channels, whatever the opcode calls them. */
uint32_t nfu_case_channels(const struct nfu_case *c);

/* The case's command, decoded. Ends the running test where that fails. */
struct cnnvp_fx16_tile nfu_case_tile(const struct nfu_case *c);

#endif
