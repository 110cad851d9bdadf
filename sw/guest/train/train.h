/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest software of the training engine (S001). From below: train_chip.c (buffer halves and transfers), the layer
 * functions train_product.c (forward and error), train_gradient.c (gradient and update), train_post.c (statistics,
 * batch norm, ReLU, quantiser, pool, both ways), train_run.c (the schedule and the application). All push instruction
 * words; nothing but the end of a step waits. Which words are pushed depends on the image and the order of images,
 * never on values.
 */
#ifndef CNNVP_GUEST_TRAIN_H
#define CNNVP_GUEST_TRAIN_H

#include "cnnvp_integer.h"
#include "guest.h"

/* The module's buffers by their number in tload, tsave and tclear. */
enum cnnvp_train_module {
    CNNVP_TRAIN_EXTREMES = 0,
    CNNVP_TRAIN_SUMS = 1,
    CNNVP_TRAIN_NORMS = 2,
    CNNVP_TRAIN_RECORDS = 5
};

/* Where the element's registers keep each kind of descriptor. */
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
    CNNVP_TRAIN_BASE_LOAD = 210, /* and 10 each for the three buffers */
    CNNVP_TRAIN_BASE_STORE = 242
};

/* Exponents and scales in the max-min buffer (OPCODES: bit 30 of an address). */
#define CNNVP_TRAIN_HELD (UINT32_C(1) << 30)

/* Bytes of a 32-bit intermediate. */
#define SUM_BYTES 4u

/* Planes of rows of bytes in memory, and in a buffer half. */
struct cnnvp_train_box {
    uint32_t address; /* in memory */
    uint32_t row;     /* bytes */
    uint32_t rows;
    uint32_t row_stride; /* bytes, in memory */
    uint32_t planes;
    uint32_t plane_stride;
    uint32_t features;             /* values of maps among it */
    uint32_t half_row, half_plane; /* strides in the half; 0: dense */
};

static inline uint32_t cnnvp_train_even(uint32_t bytes)
{
    return (bytes + 1u) & ~1u;
}

/* Regions within a half begin at multiples of 8. */
static inline uint32_t cnnvp_train_region(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

static inline uint32_t cnnvp_train_pack(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

static inline uint32_t cnnvp_train_bit(uint32_t half, enum cnnvp_train_buffer buffer)
{
    return half << buffer;
}

static inline int cnnvp_train_has(const struct cnnvp_guest *guest, enum cnnvp_train_flag flag)
{
    return (guest->train.binary->flags & (uint32_t)flag) != 0;
}

/* ---- train_chip.c ---- */

/* The next half of a buffer, in turn. */
uint32_t cnnvp_train_next(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer);

/* Loads a box to byte `at` of a half. */
void cnnvp_train_load(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t half, uint32_t at,
                      const struct cnnvp_train_box *box);
/* Stores from byte `at` of a half of the intermediate buffer. */
void cnnvp_train_put(struct cnnvp_guest *guest, uint32_t half, uint32_t at, const struct cnnvp_train_box *box);

/* 1: the cut lies in a half of the input or weight buffer already, *half; 0: the next half is taken for it. */
int cnnvp_train_find(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t address, uint32_t detail,
                     uint32_t images, uint32_t *half);
/* What the halves hold is no longer what memory has. */
void cnnvp_train_forget(struct cnnvp_guest *guest);

/* A tile instruction with its descriptor. */
void cnnvp_train_push(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                      enum cnnvp_train_base base, const void *descriptor, uint32_t bytes);

/* A piece of one of the module's buffers from and to memory, and cleared. */
void cnnvp_train_load_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address);
void cnnvp_train_save_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address);
void cnnvp_train_clear_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes);

/* Image `index` of the batch in work: its number in the data set. */
uint32_t cnnvp_train_number(const struct cnnvp_guest *guest, uint32_t index);

/* Images x channels x rows of a map: activations that enter layer `layer`, which may be the data set's. Mantissas to
 * the start of an input half, exponents after them, at the returned address. */
struct cnnvp_train_cut {
    uint32_t image, images;
    uint32_t channel, channels;
    uint32_t row, rows;
};
uint32_t cnnvp_train_load_inputs(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, uint32_t *half);
/* The same of the errors of its sums, into an input half or a weight half. */
uint32_t cnnvp_train_load_errors(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t *half);
/* Distances of exponents: image | channel << 16. */
uint32_t cnnvp_train_exponent_strides(uint32_t block);

/* Whether a layer's maps in the intermediate buffer have zones of their own. */
static inline int cnnvp_train_has_zones(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    return guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone != 0 && layer->op != CNNVP_TRAIN_FC;
}

/* From image to image and from channel to channel there, in values of `bytes`: a group and a zone, or `dense`. */
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

/* In an input or weight half, in mantissas: from row to row, and from map to map or vector to vector. */
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

/* The first part of a cut that a command of the module takes: where there are zones a channel, otherwise all of it. */
static inline struct cnnvp_train_cut cnnvp_train_first_part(
    const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, const struct cnnvp_train_cut *cut)
{
    struct cnnvp_train_cut part = *cut;
    if (cnnvp_train_has_zones(guest, layer))
        part.channels = 1;
    return part;
}

/* The next one, `step` zones on. 0: there is none. */
static inline int cnnvp_train_next_part(const struct cnnvp_guest *guest, const struct cnnvp_train_cut *cut,
                                        uint32_t step, struct cnnvp_train_cut *part, uint32_t *at)
{
    part->channel += part->channels;
    *at += step * guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone;
    return part->channel != cut->channel + cut->channels;
}

/* A cut of maps [image][channel], of which it has `bytes` each, `map` bytes apart in memory and `step` zones in a half.
 */
struct cnnvp_train_box cnnvp_train_maps_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t map, uint32_t bytes,
                                            uint32_t step, const struct cnnvp_train_cut *cut);
/* The same for 32-bit values [image][channel][row][column]. */
struct cnnvp_train_box cnnvp_train_sums_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t height, uint32_t width,
                                            uint32_t step, const struct cnnvp_train_cut *cut);

/* ---- layer functions ---- */

/* Complete sums of the batch, converted to binary32, with statistics of each channel. */
void cnnvp_train_forward(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* Coefficients and exponents from the statistics; activations, matrices and exponents to memory. */
void cnnvp_train_post(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_bfp *out);
/* Softmax of the last layer's sums; with learning, the gradient as the layer's `back`. */
void cnnvp_train_classify(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* From `back` to the errors of the layer's sums; gamma and beta learn. */
void cnnvp_train_post_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, int last);
/* The error of the layer's input, as the `back` of the layer below. */
void cnnvp_train_error(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                       const struct cnnvp_train_layer *below);
/* Gradients of weights and biases; both learn, and are quantised anew. */
void cnnvp_train_learn(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);

/* 1: the layer's complete sums stay integers in memory until batch norm has parked what it makes of them. */
int cnnvp_train_keeps_sums(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer);
/* 1: sums of different exponents, or of wide mantissas, are added in binary32. */
int cnnvp_train_adds_float(const struct cnnvp_guest *guest);
uint32_t cnnvp_train_format(const struct cnnvp_guest *guest);
uint32_t cnnvp_train_seed_of(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                             enum cnnvp_train_what what);
/* Number of exponents of a tensor of the batch with that many channels. */
uint32_t cnnvp_train_exponents(const struct cnnvp_guest *guest, uint32_t block, uint32_t channels);

/* ---- application ---- */

int cnnvp_train_run(struct cnnvp_guest *guest);

#endif
