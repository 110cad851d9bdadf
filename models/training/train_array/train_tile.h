/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checked command ("tile") of the training engine's PE module (S001), its exact results and its cost. Independent of
 * any host.
 *
 * With n image, ci and co input and output channel of the layer, [y, x] position, and 0 outside a map:
 *
 *   forward   out[n][co][y][x] = sum over ci, ky, kx of
 *             in[n][ci][y * sy + ky - py][x * sx + kx - px] * w[co][ci][ky][kx]
 *   error     out[n][ci][y][x] = sum over co, ky, kx of
 *             e[n][co][(y + py - ky) / sy][(x + px - kx) / sx] * w[co][ci][ky][kx],
 *             without terms whose quotients are not integers. The kernel is turned by 180 degrees and the channels are
 *             exchanged by the address generator as weights are loaded (Part B 1-18)
 *   gradient  out[co][ci][ky][kx] = sum over n, y, x of e[n][co][y][x] * in[n][ci][y * sy + ky - py][x * sx + kx - px]
 *
 * A fully connected layer is the same with 1x1 maps and kernels; only its cost differs. Operands are mantissas
 * (cnnvp_bfp.h), int8_t up to 8 bits and int32_t beyond. The sums of one command are exact, so the order of additions
 * does not matter. They enter the intermediate buffer once. They are added to its contents if the command accumulates,
 * then clipped to 32 bits and counted (Part B 1-11; 64 bits with wide mantissas). With `to_float` they are converted to
 * binary32 by their scale and added in binary32 (Part B 1-14: if the exponents of terms differ).
 */
#pragma once

#include "cnnvp_bfp.h"
#include "cnnvp_buffer.h"

/* MAC cycles of a kernel row. Kernels are processed in pieces of 3 columns and as many rows as a column has PEs. */
#define CNNVP_TRAIN_TAPS 3u
/* Zones of a group. Row r of a map is in zone r mod 3 (Part B 1-8). */
#define CNNVP_TRAIN_ZONES 3u
/* Most results of a command; this bounds memory. */
#define CNNVP_TRAIN_MAX_RESULTS (UINT64_C(1) << 24)
/* Most values that an operand spans. */
#define CNNVP_TRAIN_MAX_SPAN (UINT64_C(1) << 27)
/* Most cycles of a command; this keeps times far below 2^64. */
#define CNNVP_TRAIN_MAX_CYCLES (UINT64_C(1) << 40)

enum cnnvp_train_kind { CNNVP_TRAIN_FORWARD = 0, CNNVP_TRAIN_ERROR = 1, CNNVP_TRAIN_GRADIENT = 2 };

/* Configuration of the PE module. */
struct cnnvp_train_shape {
    uint32_t arrays; /* images at a time; in gradients input channels at a time */
    uint32_t cols;   /* PE columns of an array: kernels at a time */
    uint32_t rows;   /* PEs of a column: kernel rows at a time */
    uint32_t pipeline;
    uint32_t mantissa_bits;
    bool fc_all_rows;    /* fully connected: all rows work; otherwise only the first (Part B 1-7) */
    bool zones;          /* operands' maps lie in groups of zones */
    bool gradient_adder; /* convolution gradient: rows of PEs are error rows, column adder on (Part B 1-19) */
};

struct cnnvp_train_tile {
    const char *name; /* mnemonic */
    enum cnnvp_train_kind kind;
    bool connected; /* fully connected layer */
    bool accumulate;
    bool to_float;
    bool bias; /* the first operand is a channel of ones */
    uint32_t tag;

    uint32_t images;
    uint32_t in_channels;  /* channels of the first operand: ci; in errors co */
    uint32_t out_channels; /* forward co, error ci; gradient co, the channels of the second operand */
    uint32_t in_h, in_w;   /* size of the first operand's map */
    uint32_t out_h, out_w; /* size of the result's map; gradient: of the second operand's, the error */
    uint32_t kx, ky, sx, sy, px, py;

    /* strides of operands, in mantissas */
    uint64_t in_row_stride, in_channel_stride, in_image_stride;
    uint64_t w_out_stride;                                               /* weights: to the next output channel */
    uint64_t w_in_stride;                                                /* weights: to the next input channel */
    uint64_t error_row_stride, error_channel_stride, error_image_stride; /* second operand of a gradient */
    uint64_t in_zone_stride, error_zone_stride;                          /* 0: no zones, rows are row_stride apart */
    /* strides of results, in sums */
    uint64_t out_channel_stride, out_image_stride;

    /* exponents: entries from one image or channel to the next; 0: shared */
    uint32_t in_exp_image_stride, in_exp_channel_stride;
    uint32_t second_exp_channel_stride; /* from one output channel to the next */
    uint32_t second_exp_part_stride;    /* weights: to the next input channel; errors: to the next image */

    uint32_t in_addr, second_addr, out_addr, in_exp_addr, second_exp_addr, out_exp_addr; /* bytes in the half */
    uint32_t in_half, second_half, out_half;
    uint64_t in_span; /* values from the first to the last one used */
    uint64_t second_span;
    uint64_t out_span;
    uint64_t in_exps; /* exponents from the first to the last one read */
    uint64_t second_exps;
    uint64_t out_exps; /* scales written, see cnnvp_train_scales */

    char refusal[CNNVP_REFUSAL_SIZE];
};

/* Index of the first value of row y. */
static inline uint64_t cnnvp_train_row(uint64_t row_stride, uint64_t zone_stride, uint64_t y)
{
    return zone_stride == 0 ? y * row_stride : y % CNNVP_TRAIN_ZONES * zone_stride + y / CNNVP_TRAIN_ZONES * row_stride;
}

static inline uint64_t cnnvp_train_in_row(const struct cnnvp_train_tile *tile, uint64_t y)
{
    return cnnvp_train_row(tile->in_row_stride, tile->in_zone_stride, y);
}

static inline uint64_t cnnvp_train_error_row(const struct cnnvp_train_tile *tile, uint64_t y)
{
    return cnnvp_train_row(tile->error_row_stride, tile->error_zone_stride, y);
}

/* Operands and results; NULL in timing-only. Results are int32_t, int64_t with wide mantissas, or float with
 * `to_float`. */
struct cnnvp_train_data {
    const void *input;
    const void *second; /* weights, or the errors of a gradient */
    void *results;
    const int8_t *in_exps;
    const int8_t *second_exps;
};

struct cnnvp_train_cost {
    uint64_t compute_cycles;
    uint64_t fill_cycles;
    uint64_t writeout_cycles;
    uint64_t input_words;   /* mantissas read through the input ports */
    uint64_t weight_words;  /* mantissas read through the weight ports: weights, or errors in gradients */
    uint64_t output_words;  /* sums written to the intermediate buffer */
    uint64_t partial_words; /* sums read back from it for accumulation */
    uint64_t macs;          /* operations of the layer, with padding, without the overhang of kernel pieces */
};

/* Checks and decodes a command. On CNNVP_E_INVAL, `reason` says why it is refused; the text is valid as long as *tile
 * (train_decode.c). */
CNNVP_MUST_USE int cnnvp_train_decode(const struct cnnvp_train_shape *shape, const struct cnnvp_command *command,
                                      struct cnnvp_train_tile *tile, const char **reason);

/* Computes the cost by closed forms (train_cost.c). */
void cnnvp_train_cost(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                      struct cnnvp_train_cost *cost);

/* Classes of clocks at each port (train_clocks.c). */
struct cnnvp_train_clocks {
    uint32_t count;
    struct cnnvp_buffer_clocks classes[8];
};
struct cnnvp_train_port_clocks {
    struct cnnvp_train_clocks input, weight, output;
};
void cnnvp_train_clocks(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        struct cnnvp_train_port_clocks *ports);

/* Working memory of the kernels, which grows if a command needs more. Initialise with zeros (train_compute.c). */
struct cnnvp_train_scratch {
    void *memory;
    size_t size;
};
void cnnvp_train_scratch_free(struct cnnvp_train_scratch *scratch);

/*
 * Computes the exact results and stores them. `saturated` grows by the number of clipped sums. Returns CNNVP_OK, or
 * CNNVP_E_NOMEM with nothing changed (train_compute.c).
 */
CNNVP_MUST_USE int cnnvp_train_compute(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                                       const struct cnnvp_train_data *data, struct cnnvp_train_scratch *scratch,
                                       uint64_t *saturated);

/* ---- storing results (train_store.c) ---- */

/* The scale of the result of (image, out channel); in gradients `image` is the input channel. */
int32_t cnnvp_train_scale(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                          const struct cnnvp_train_data *data, uint32_t image, uint32_t out_channel);
/* Scales of a command that is not `to_float`: [image or 1][out channel or 1], in gradients [out channel or 1]
 * [in channel or 1]. `scales` has tile->out_exps entries. */
void cnnvp_train_scales(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        const struct cnnvp_train_data *data, int16_t *scales);

/* Stores n sums of one scale at results[at ..]. `accumulate`: adds them to the old values. */
void cnnvp_train_store(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, bool accumulate,
                       int32_t scale, const int64_t *sums, uint64_t at, uint64_t n, void *results, uint64_t *saturated);
/* The same for 32-bit sums of a `to_float` tile. */
void cnnvp_train_store_float(const struct cnnvp_train_tile *tile, int32_t scale, const int32_t *sums, uint64_t at,
                             uint64_t n, float *results, uint64_t *saturated);

/*
 * A tile whose terms have different exponents is split into parts with one exponent each, in order: forward and error
 * by input channel, gradient by image. cnnvp_train_parts returns the number of parts, usually 1. cnnvp_train_part
 * returns part i, its data, and whether it accumulates.
 */
uint32_t cnnvp_train_parts(const struct cnnvp_train_tile *tile);
void cnnvp_train_part(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                      const struct cnnvp_train_data *data, uint32_t i, struct cnnvp_train_tile *part,
                      struct cnnvp_train_data *part_data);

static inline bool cnnvp_train_is_wide(const struct cnnvp_train_shape *shape)
{
    return cnnvp_bfp_bytes(shape->mantissa_bits) != 1u;
}

/* Position in the first operand's map that tap k needs for position o; -1: outside, or between the values of an error
 * map. */
static inline int64_t cnnvp_train_source(const struct cnnvp_train_tile *tile, uint32_t o, uint32_t k, uint32_t stride,
                                         uint32_t pad, uint32_t size)
{
    int64_t at;
    if (tile->kind != CNNVP_TRAIN_ERROR) {
        at = (int64_t)o * stride + k - pad;
    } else {
        at = (int64_t)o + pad - k;
        at = at % stride == 0 ? at / stride : -1;
    }
    return at >= 0 && at < size ? at : -1;
}
