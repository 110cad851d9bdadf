/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest software of the training engine (S001). From below: train_chip.c (buffer halves and transfers); the layer
 * functions train_product.c (forward and error), train_gradient.c (gradient and update) and train_post.c (statistics,
 * batch norm, ReLU, quantiser and pool, forward and backward); train_run.c (schedule and application). All push
 * instruction words; only the end of a step waits. The words depend on sizes and on the order of images, never on
 * values.
 */
#ifndef CNNVP_GUEST_TRAIN_H
#define CNNVP_GUEST_TRAIN_H

#include "cnnvp_integer.h"
#include "guest.h"

/* Numbers of the multi-function module's buffers in tload, tsave and tclear. */
enum cnnvp_train_module {
    CNNVP_TRAIN_EXTREMES = 0,
    CNNVP_TRAIN_SUMS = 1,
    CNNVP_TRAIN_NORMS = 2,
    CNNVP_TRAIN_RECORDS = 5
};

/* First element register of each kind of descriptor. */
enum cnnvp_train_base {
    CNNVP_TRAIN_BASE_CONV = 16,
    CNNVP_TRAIN_BASE_GRADIENT = 40,
    CNNVP_TRAIN_BASE_MATMUL = 64,
    CNNVP_TRAIN_BASE_OUTER = 80,
    CNNVP_TRAIN_BASE_STAT = 96,
    CNNVP_TRAIN_BASE_COEF = 110,
    CNNVP_TRAIN_BASE_EXP = 114,
    CNNVP_TRAIN_BASE_POST = 118,
    CNNVP_TRAIN_BASE_BACK = 140,
    CNNVP_TRAIN_BASE_SOFTMAX = 164,
    CNNVP_TRAIN_BASE_UPDATE = 178,
    CNNVP_TRAIN_BASE_NORM_UPDATE = 192,
    CNNVP_TRAIN_BASE_DECODE = 196,
    CNNVP_TRAIN_BASE_HELD = 206,
    CNNVP_TRAIN_BASE_LOAD = 210, /* 10 registers for each of the three buffers */
    CNNVP_TRAIN_BASE_STORE = 242
};

/* Marks an address in the max-min buffer, which holds exponents and scales (OPCODES: bit 30 of an address). */
#define CNNVP_TRAIN_HELD (UINT32_C(1) << 30)

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES 4u

/* A transfer: planes of rows of bytes, in memory and in a buffer half. */
struct cnnvp_train_box {
    uint32_t address; /* in memory */
    uint32_t row;     /* bytes */
    uint32_t rows;
    uint32_t row_stride; /* bytes, in memory */
    uint32_t planes;
    uint32_t plane_stride;
    uint32_t features;             /* number of feature map values in it */
    uint32_t half_row, half_plane; /* strides in the half; 0: dense */
};

static inline uint32_t cnnvp_train_even(uint32_t bytes)
{
    return (bytes + 1u) & ~1u;
}

static inline uint32_t cnnvp_train_pack(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

static inline uint32_t cnnvp_train_bit(uint32_t half, enum cnnvp_train_buffer buffer)
{
    return half << buffer;
}

static inline uint32_t cnnvp_train_middle(uint32_t half)
{
    return cnnvp_train_bit(half, CNNVP_TRAIN_MIDDLE);
}

/* Contiguous bytes. */
static inline struct cnnvp_train_box cnnvp_train_line(uint32_t address, uint32_t bytes)
{
    return (struct cnnvp_train_box){.address = address, .row = bytes, .rows = 1, .planes = 1};
}

static inline int cnnvp_train_has(const struct cnnvp_guest *guest, enum cnnvp_train_flag flag)
{
    return (guest->train.binary->flags & (uint32_t)flag) != 0;
}

/* ---- train_chip.c ---- */

/* Takes the next half of a buffer, in turn. */
uint32_t cnnvp_train_next(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer);

/* Loads a box to byte `at` of a half. */
void cnnvp_train_load(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t half, uint32_t at,
                      const struct cnnvp_train_box *box);
/* Stores from byte `at` of a half of the intermediate buffer. */
void cnnvp_train_put(struct cnnvp_guest *guest, uint32_t half, uint32_t at, const struct cnnvp_train_box *box);

/* Looks for a cut in the halves of the input or weight buffer. Returns 1 if it lies in *half already; 0 if *half, the
 * next half, is taken for it and must be loaded. */
int cnnvp_train_find(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t address, uint32_t detail,
                     uint32_t images, uint32_t *half);
/* Invalidates the halves, because memory has changed. */
void cnnvp_train_forget(struct cnnvp_guest *guest);

/* Pushes a tile instruction with its descriptor. */
void cnnvp_train_push(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                      enum cnnvp_train_base base, const void *descriptor, uint32_t bytes);

/* Load a piece of a module buffer from memory, save it there, or clear it. */
void cnnvp_train_load_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address);
void cnnvp_train_save_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address);
void cnnvp_train_clear_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes);

/* Computes exponents from entries of the max-min buffer, into its place for them. */
void cnnvp_train_push_exponents(struct cnnvp_guest *guest, uint32_t status, uint32_t entry, uint32_t entries);

/* Number in the data set of image `index` of the batch in work. */
uint32_t cnnvp_train_number(const struct cnnvp_guest *guest, uint32_t index);

/* Loads a cut of the activations that enter `layer`, those of layer 0 from the data set: mantissas to the start of an
 * input half, exponents behind them. Returns the exponents' address. */
uint32_t cnnvp_train_load_inputs(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, uint32_t *half);
/* The same for the errors of the layer's sums, into an input half or a weight half. */
uint32_t cnnvp_train_load_errors(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t *half);
/* Strides of exponents: image | channel << 16. */
uint32_t cnnvp_train_exponent_strides(uint32_t block);

/* 1: each map of the layer has a zone in the intermediate buffer. */
static inline int cnnvp_train_has_zones(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    return guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone != 0 && layer->op != CNNVP_TRAIN_FC;
}

/* Strides in the intermediate buffer: from image to image in values of `bytes`, from channel to channel in sums.
 * Without zones they are `dense`. */
static inline uint32_t cnnvp_train_image_stride(const struct cnnvp_guest *guest, uint32_t dense, uint32_t bytes)
{
    const uint32_t group = guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].group;
    return group != 0 ? group / bytes : dense;
}

static inline uint32_t cnnvp_train_channel_stride(const struct cnnvp_guest *guest, uint32_t dense)
{
    const uint32_t zone = guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone;
    return zone != 0 ? zone / SUM_BYTES : dense;
}

/* Strides in an input or weight half, in mantissas: from row to row, and from map to map or vector to vector. */
static inline uint32_t cnnvp_train_row_stride(const struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer,
                                              uint32_t dense)
{
    const uint32_t row = guest->train.binary->zones[buffer].row;
    return row != 0 ? row : dense;
}

static inline uint32_t cnnvp_train_map_stride(const struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer,
                                              uint32_t dense)
{
    const uint32_t group = guest->train.binary->zones[buffer].group;
    return group != 0 ? group / guest->train.binary->value_bytes : dense;
}

/* The first part of a cut that a command of the module takes: one channel if maps have zones, otherwise the whole
 * cut. */
static inline struct cnnvp_train_cut cnnvp_train_first_part(
    const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, const struct cnnvp_train_cut *cut)
{
    struct cnnvp_train_cut part = *cut;
    if (cnnvp_train_has_zones(guest, layer))
        part.channels = 1;
    return part;
}

/* Goes to the next part, `step` zones on. Returns 0 if there is none. */
static inline int cnnvp_train_next_part(const struct cnnvp_guest *guest, const struct cnnvp_train_cut *cut,
                                        uint32_t step, struct cnnvp_train_cut *part, uint32_t *at)
{
    part->channel += part->channels;
    *at += step * guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone;
    return part->channel != cut->channel + cut->channels;
}

/* Box of a cut of maps [image][channel]: `bytes` of each map. Maps are `map` bytes apart in memory, and `step` zones in
 * a half. */
struct cnnvp_train_box cnnvp_train_maps_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t map, uint32_t bytes,
                                            uint32_t step, const struct cnnvp_train_cut *cut);
/* The same for 32-bit values [image][channel][row][column]. */
struct cnnvp_train_box cnnvp_train_sums_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t height, uint32_t width,
                                            uint32_t step, const struct cnnvp_train_cut *cut);

/* ---- layer functions ---- */

/* Computes the complete sums of the batch, with statistics, converted to binary32 unless cnnvp_train_keeps_sums. */
void cnnvp_train_forward(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* Computes coefficients and exponents from the statistics, then activations, matrices and exponents, which go to
 * memory. */
void cnnvp_train_post(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_bfp *out);
/* Computes the softmax of the last layer's sums. In a learning step also its gradient, as the layer's `back`. */
void cnnvp_train_classify(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* Computes the errors of the layer's sums from `back`. gamma and beta learn. */
void cnnvp_train_post_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, int last);
/* Computes the error of the layer's input: the `back` of the layer below. */
void cnnvp_train_error(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                       const struct cnnvp_train_layer *below);
/* Computes the gradients of weights and biases. Both learn and are quantised again. */
void cnnvp_train_learn(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);

/* 1: the layer's complete sums stay integers in memory until batch norm parks its inputs. */
int cnnvp_train_keeps_sums(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* 1: sums of different exponents, or of wide mantissas, are added in binary32. */
int cnnvp_train_adds_float(const struct cnnvp_guest *guest);
uint32_t cnnvp_train_format(const struct cnnvp_guest *guest);
uint32_t cnnvp_train_seed_of(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                             enum cnnvp_train_what what);
/* Number of exponents of a batch's tensor with `channels` channels. */
uint32_t cnnvp_train_exponents(const struct cnnvp_guest *guest, uint32_t block, uint32_t channels);

/* ---- application ---- */

int cnnvp_train_run(struct cnnvp_guest *guest);

#endif
