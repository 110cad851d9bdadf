/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles in flight. The element issues in order, so the order of pushing decides what overlaps. A layer is a row of
 * steps; step k loads its inputs (L), calculates (C), post-processes on the vector unit (V) and stores (S). With
 * ping-pong buffers the pushed order is
 *
 *     C(k)  L(k+1)  V(k-1) S(k-1)  C(k+1)  L(k+2)  V(k) S(k) ...
 *
 * which lets C(k), the loads for step k+1 and the rest of step k-1 run at the same time: loads are pushed when they are
 * asked for, V and S wait (an epilogue) until the loads of the next step but one have been pushed. A layer that reads
 * what waiting epilogues write flushes them first; its first weights are loaded before that. Halves are exclusive in
 * the element's scoreboard, so no order of pushing can give a wrong result, only a slow one.
 */
#ifndef CNNVP_GUEST_PIPELINE_H
#define CNNVP_GUEST_PIPELINE_H

#include "guest.h"

/* Where the element's registers keep each kind of descriptor. */
enum cnnvp_descriptor_base {
    CNNVP_BASE_WINDOW = 16,
    CNNVP_BASE_MATMUL = 40,
    CNNVP_BASE_VECTOR = 56,
    CNNVP_BASE_LOAD = 80,
    CNNVP_BASE_WEIGHTS = 90,
    CNNVP_BASE_STORE = 100,
    CNNVP_BASE_LIVE = 110,
    CNNVP_BASE_CHAIN = 120 /* and after it: CNNVP_CHAIN_SETS (image/network_binary.h) of struct cnnvp_chain_set */
};

/* Descriptors that are used block by block. A chain's first layers, which have the most blocks, have a set each, in
 * which little changes from block to block; the others share the ordinary registers. */
struct cnnvp_chain_set {
    struct cnnvp_window window;
    struct cnnvp_transfer store;
    struct cnnvp_transfer live; /* of what the layer makes */
};
static inline uint32_t cnnvp_chain_register(uint32_t layer, size_t offset)
{
    const size_t bytes = layer * sizeof(struct cnnvp_chain_set) + offset;
    return (uint32_t)CNNVP_BASE_CHAIN + (uint32_t)(bytes / sizeof(uint32_t));
}

enum cnnvp_buffer { CNNVP_BUFFER_INPUT = 0, CNNVP_BUFFER_WEIGHT = 1, CNNVP_BUFFER_OUTPUT = 2 };

/* A box of a tensor: channels x rows x columns from a first position; rows and columns may lie in the frame. */
struct cnnvp_box {
    uint32_t channel;
    uint32_t channels;
    int32_t row;
    uint32_t rows;
    int32_t column;
    uint32_t columns;
};

/* Words from interior position (0, 0, 0) to a box's first; may be negative in the frame. */
static inline int32_t cnnvp_box_offset(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    return (int32_t)(box->channel * tensor->channel_stride) + box->row * (int32_t)tensor->row_stride +
           box->column * (int32_t)tensor->column_stride;
}

/* Address in memory of the first word of a box, for the image in work. */
static inline uint32_t cnnvp_tensor_address(const struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                            const struct cnnvp_box *box)
{
    return tensor->address + guest->image_number * tensor->image_stride +
           (guest->image_number - guest->batch_first) * tensor->batch_stride +
           ((uint32_t)cnnvp_box_offset(tensor, box) << tensor->word_shift);
}

/* The same in the input buffer, for on-chip tensors: byte address in the tensor's half. */
static inline uint32_t cnnvp_tensor_chip_address(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    const int32_t interior = (int32_t)(tensor->border_top * tensor->row_stride + tensor->border_left);
    return tensor->chip_address + ((uint32_t)(interior + cnnvp_box_offset(tensor, box)) << tensor->word_shift);
}

/* Loads a box of a tensor in memory into this half, contiguous from byte `at` on. */
void cnnvp_load_box_into(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                         uint32_t half, uint32_t at);

/* The box of the image in work and of this many more, one after the other from byte chip_address of the tensor on, into
 * a half, which is returned. Nothing is loaded if a half holds them already. */
uint32_t cnnvp_load_images(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                           uint32_t more_images);

/* The same, but that the images of each channel follow one another; loaded in any case. */
uint32_t cnnvp_load_batch(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                          uint32_t more_images);

/* Loads a tensor with its frame to its place on chip. */
void cnnvp_load_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor);

/* Sets a tensor's place on chip to zeros, frame included. */
void cnnvp_fill_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor);

/* Sets words of a tensor's half to zeros; memory's side of the transfer does not matter. */
void cnnvp_push_fill(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_transfer *zeros);

/* Copies words of a tensor's half to another place in it; memory's side of the transfer is where they lie. */
void cnnvp_push_keep(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_transfer *kept);

/* Says that this many values of a tensor's place on chip are live from now on, with the descriptor at register `at`. */
void cnnvp_push_live(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words, uint32_t at);

/* The same where all but the number stands there already. */
void cnnvp_push_live_again(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words,
                           uint32_t at);

/* The calculations that follow, and their results, have the descriptors of a chain's layer. */
void cnnvp_use_chain_set(struct cnnvp_guest *guest, uint32_t layer);
/* Those that follow have the ordinary ones. */
void cnnvp_use_ordinary_set(struct cnnvp_guest *guest);

/* Loads a box into the interior of a slot of the same size, or stores that. */
void cnnvp_load_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                      const struct cnnvp_tensor *block);
void cnnvp_store_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                       const struct cnnvp_tensor *block);

/* Makes sure that a weight tile is in the weight buffer; *address is where in the half. Returns the half. */
uint32_t cnnvp_load_weight_tile(struct cnnvp_guest *guest, uint32_t weight_tile, uint32_t *address);
/* The same of a weight tile that is words of a tensor. */
uint32_t cnnvp_load_tensor_weight_tile(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                       uint32_t weight_tile, uint32_t *address);
/* What the weight buffer holds counts no longer: a tensor has other words now. */
void cnnvp_forget_weights(struct cnnvp_guest *guest);

/* Pushes a calculation. Registers that hold number formats are pushed each time. */
void cnnvp_push_window(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_window *window);
/* The same of a layer that is tabled: valid_cols depends on number formats. */
void cnnvp_push_tabled_window(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                              const struct cnnvp_window *window);
/* The same, by the high half of the instruction, where the window before it was one of the same step: addresses,
 * channels and the seed alone are others. */
void cnnvp_push_window_again(struct cnnvp_guest *guest, uint32_t high, const struct cnnvp_window *window);
void cnnvp_push_matmul(struct cnnvp_guest *guest, uint32_t status, uint32_t halves, const struct cnnvp_matmul *matmul);
void cnnvp_push_vector(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_vector *vector);

/* The halves operand of a tile instruction. */
static inline uint32_t cnnvp_slice_halves(uint32_t input, uint32_t weight, uint32_t output)
{
    return input << CNNVP_BUFFER_INPUT | weight << CNNVP_BUFFER_WEIGHT | output << CNNVP_BUFFER_OUTPUT;
}

/* One vector instruction over all words of a tile: b is a second tile of the same box, or NULL. Operands that count for
 * several positions make channels repetitions, and rows that all lie alike are repetitions too. Tiles that lie in
 * frames (on chip) take one instruction a channel, with a repetition for each row. */
void cnnvp_push_elementwise(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                            const struct cnnvp_vector *base, const struct cnnvp_box *box,
                            const struct cnnvp_input_tile *a, const struct cnnvp_input_tile *b);

/* Seed of a part of a step, 0 for the whole; 0 stays 0: no stochastic rounding. */
static inline uint32_t cnnvp_part_seed(uint32_t seed, uint32_t part)
{
    return seed == 0 ? 0 : seed + part;
}

static inline int cnnvp_rounds_by_chance(const struct cnnvp_layer *layer)
{
    return (layer->format >> 16 & 3u) == CNNVP_ROUNDING_STOCHASTIC; /* descriptors.def, `rounding` */
}

/* Between the seeds of one image and the next. */
#define CNNVP_IMAGE_SEEDS 0x9e3779b9u
/* The seed of a step for another image, this many after the one whose seed is given. */
static inline uint32_t cnnvp_image_seed(const struct cnnvp_layer *layer, uint32_t seed, uint32_t image)
{
    return cnnvp_rounds_by_chance(layer) ? seed + image * CNNVP_IMAGE_SEEDS : 0;
}

/* Pushes all waiting epilogues but the youngest `but`. */
void cnnvp_flush_epilogues(struct cnnvp_guest *guest, uint32_t but);

static inline uint32_t cnnvp_next_half(uint32_t half, uint32_t halves)
{
    return half + 1u < halves ? half + 1u : 0;
}

/* The output half of the next step is free: one half, the step before has left it; two, the step before that. */
static inline int cnnvp_has_room(const struct cnnvp_guest *guest)
{
    return guest->waiting_end - guest->waiting_first < guest->binary->output_halves;
}
static inline void cnnvp_make_room(struct cnnvp_guest *guest)
{
    cnnvp_flush_epilogues(guest, guest->binary->output_halves - 1u);
}

/* The step that begins, where there is room: what its epilogue is to be described in, with `output_half` chosen. */
static inline struct cnnvp_epilogue *cnnvp_begin_step(struct cnnvp_guest *guest)
{
    struct cnnvp_epilogue *epilogue = &guest->waiting[guest->waiting_end % CNNVP_EPILOGUES];
    guest->next_output = cnnvp_next_half(guest->next_output, guest->binary->output_halves);
    epilogue->output_half = guest->next_output;
    return epilogue;
}
/* Ends the step: its rest waits. */
static inline void cnnvp_end_step(struct cnnvp_guest *guest)
{
    ++guest->waiting_end;
}

/* The input buffer's contents are no longer what their addresses say (a new layer or image writes there). */
static inline void cnnvp_forget_inputs(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        guest->input[half].valid = 0;
}

#endif
