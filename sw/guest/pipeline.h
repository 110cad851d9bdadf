/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles in flight. The instruction element issues in order, so the order of pushing decides what overlaps. A layer is a
 * sequence of steps; step k loads its inputs (L), calculates (C), post-processes on the vector unit (V) and stores (S).
 * With ping-pong buffers the pushed order is
 *
 *     C(k)  L(k+1)  V(k-1) S(k-1)  C(k+1)  L(k+2)  V(k) S(k) ...
 *
 * so that C(k), the loads of step k+1 and the rest of step k-1 run at the same time. Loads are pushed when they are
 * asked for. V and S are kept as an epilogue, and are pushed after the loads of the next step but one. A layer that
 * reads results of waiting epilogues flushes them first; its first weights are loaded even before that. The element's
 * scoreboard makes halves exclusive, so a wrong order of pushing costs time but never gives a wrong result.
 */
#ifndef CNNVP_GUEST_PIPELINE_H
#define CNNVP_GUEST_PIPELINE_H

#include "guest.h"

/* First element register of each kind of descriptor. */
enum cnnvp_descriptor_base {
    CNNVP_BASE_WINDOW = 16,
    CNNVP_BASE_MATMUL = 40,
    CNNVP_BASE_VECTOR = 56,
    CNNVP_BASE_LOAD = 80,
    CNNVP_BASE_WEIGHTS = 90,
    CNNVP_BASE_STORE = 100,
    CNNVP_BASE_LIVE = 110,
    CNNVP_BASE_CHAIN = 120 /* CNNVP_CHAIN_SETS of struct cnnvp_chain_set */
};

/* Descriptors of one of a chain's first layers, which have the most blocks. They stay in registers of their own and
 * change little from block to block. The other layers share the ordinary registers. */
struct cnnvp_chain_set {
    struct cnnvp_window window;
    struct cnnvp_transfer store;
    struct cnnvp_transfer live; /* of the feature that the layer makes */
};
static inline uint32_t cnnvp_chain_register(uint32_t layer, size_t offset)
{
    const size_t bytes = layer * sizeof(struct cnnvp_chain_set) + offset;
    return (uint32_t)CNNVP_BASE_CHAIN + (uint32_t)(bytes / sizeof(uint32_t));
}

enum cnnvp_buffer { CNNVP_BUFFER_INPUT = 0, CNNVP_BUFFER_WEIGHT = 1, CNNVP_BUFFER_OUTPUT = 2 };

/* Distance in words from interior position (0, 0, 0) to the first word of a box; may be negative in the frame. */
static inline int32_t cnnvp_box_offset(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    return (int32_t)(box->channel * tensor->channel_stride) + box->row * (int32_t)tensor->row_stride +
           box->column * (int32_t)tensor->column_stride;
}

/* Address in memory of the first word of a box, for the image in work. */
static inline uint32_t cnnvp_tensor_address(const struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                            const struct cnnvp_box *box)
{
    const uint32_t address = tensor->address + ((uint32_t)cnnvp_box_offset(tensor, box) << tensor->word_shift);
    if ((tensor->image_stride | tensor->batch_stride) == 0)
        return address;
    return address + guest->image_number * tensor->image_stride +
           (guest->image_number - guest->batch_first) * tensor->batch_stride;
}

/* The same for a tensor in the input buffer: byte address in the tensor's half. */
static inline uint32_t cnnvp_tensor_chip_address(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    const int32_t interior = (int32_t)(tensor->border_top * tensor->row_stride + tensor->border_left);
    return tensor->chip_address + ((uint32_t)(interior + cnnvp_box_offset(tensor, box)) << tensor->word_shift);
}

/* Loads a box of a tensor from memory into a half, dense, from byte `at` on. */
void cnnvp_load_box_into(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                         uint32_t half, uint32_t at);

/* Loads a box of a tensor into an output half, dense, from byte `at` on. */
void cnnvp_load_results(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                        uint32_t half, uint32_t at);

/* Loads the box of the image in work and of `more_images` images after it into a half, one after the other from the
 * tensor's chip_address on. Returns the half. Loads nothing if a half holds them already. */
uint32_t cnnvp_load_images(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                           uint32_t more_images);
/* The same, for the box whose address in memory is `memory`. */
uint32_t cnnvp_load_images_from(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                const struct cnnvp_box *box, uint32_t more_images, uint32_t memory);

/* The same, with the images of each channel one after the other. Always loads. */
uint32_t cnnvp_load_batch(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                          uint32_t more_images);

/* Loads a tensor to its place on chip, and zeroes its frame. */
void cnnvp_load_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor);

/* Zeroes a tensor's place on chip, frame included; does nothing if it has no frame. */
void cnnvp_fill_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor);

/* Zeroes words in each channel of a tensor's place on chip: `words` words of each of `rows` rows, from word `first` on.
 */
void cnnvp_push_fill(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t first, uint32_t words,
                     uint32_t rows);

/* Copies `rows` rows of a tensor's place on chip, from row `from` on, to its start. */
void cnnvp_push_keep(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t from, uint32_t rows);

/* Records that `feature_words` values at a tensor's place on chip are live from here on. The descriptor lies at
 * register `at`. */
void cnnvp_push_live(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words, uint32_t at);

/* The same, if the registers hold all of the descriptor but the number. */
void cnnvp_push_live_again(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words,
                           uint32_t at);

/* Makes the following calculations and stores use the descriptor set of a chain's layer. */
void cnnvp_use_chain_set(struct cnnvp_guest *guest, uint32_t layer);
/* Makes them use the ordinary registers. */
void cnnvp_use_ordinary_set(struct cnnvp_guest *guest);

/* Load a box into the interior of a slot of the same size, and store it from there. */
void cnnvp_load_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                      const struct cnnvp_tensor *block);
void cnnvp_store_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                       const struct cnnvp_tensor *block);

/* Makes sure that a weight tile is in the weight buffer. Returns the half; *address is the place in it. */
uint32_t cnnvp_load_weight_tile(struct cnnvp_guest *guest, uint32_t weight_tile, uint32_t *address);
/* The same for a weight tile that is part of a tensor. */
uint32_t cnnvp_load_tensor_weight_tile(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                       uint32_t weight_tile, uint32_t *address);
/* Invalidates the weight tiles in the weight buffer, because a tensor has new contents. */
void cnnvp_forget_weights(struct cnnvp_guest *guest);

/* Descriptors as registers: their number, and the mask of one. */
#define CNNVP_REGISTERS(descriptor) ((uint32_t)(sizeof(descriptor) / sizeof(uint32_t)))
#define CNNVP_BIT(descriptor, member) (1u << offsetof(__typeof__(*(descriptor)), member) / sizeof(uint32_t))
static inline const uint32_t *cnnvp_registers(const void *descriptor)
{
    return descriptor;
}
/* Of a calculation, registers that depend on number formats are pushed each time: `format`, and `limits`, the last
 * register, which is skipped if the instruction does not clip. */
#define CNNVP_ALWAYS(descriptor) (CNNVP_BIT(descriptor, format) | 1u << (CNNVP_REGISTERS(*(descriptor)) - 1u))
static inline uint32_t cnnvp_clips(uint32_t high)
{
    return high >> (CNNVP_WORD_STATUS - 32 + CNNVP_STATUS_conv_clip) & 1u;
}

/* Push a calculation. Registers that hold number formats are pushed each time. */
void cnnvp_push_window(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_window *window);
/* The same for a layer whose write-out has an addition (is_added) or a table: seed or valid_cols depends on number
 * formats too. */
void cnnvp_push_window_with_write_out(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status,
                                      uint32_t halves, const struct cnnvp_window *window, uint32_t is_added);
/* The same, if the last window pushed belongs to the same step. `high` is the high half of the instruction. Only
 * addresses, channels, the seed and number formats may differ. */
void cnnvp_push_window_again(struct cnnvp_guest *guest, uint32_t high, const struct cnnvp_window *window);
/* The same for guest->window, if the step before pushed it: only addresses may differ. */
void cnnvp_push_window_elsewhere(struct cnnvp_guest *guest, uint32_t halves);
void cnnvp_push_matmul(struct cnnvp_guest *guest, uint32_t status, uint32_t halves, const struct cnnvp_matmul *matmul);
/* The same for the next slice of inputs of a step: only addresses and the number of inputs may differ. Inline, because
 * it is all that most slices need of the core besides their loads. */
static inline void cnnvp_push_matmul_again(struct cnnvp_guest *guest, uint32_t status, uint32_t halves,
                                           const struct cnnvp_matmul *matmul)
{
    struct cnnvp_element *element = &guest->element;
    const uint32_t high = cnnvp_word_high(CNNVP_OPCODE_matmul, status, CNNVP_BASE_MATMUL, halves);
    const uint32_t changed = CNNVP_BIT(matmul, in_addr) | CNNVP_BIT(matmul, inputs) | CNNVP_BIT(matmul, weight_addr) |
                             CNNVP_BIT(matmul, bias_addr) | CNNVP_ALWAYS(matmul);
    const uint32_t words = cnnvp_element_words(CNNVP_REGISTERS(*matmul), changed);
    if (element->free < words) {
        cnnvp_push_matmul(guest, status, halves, matmul);
        return;
    }
    element->free -= words;
    (void)cnnvp_element_put_tile(
        element, element->base + CNNVP_ELEMENT_PUSH_LO, 0, CNNVP_BASE_MATMUL, high, 0, cnnvp_registers(matmul),
        CNNVP_REGISTERS(*matmul), cnnvp_clips(high), changed, CNNVP_ALWAYS(matmul));
}
void cnnvp_push_vector(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_vector *vector);

static inline uint32_t cnnvp_slice_halves(uint32_t input, uint32_t weight, uint32_t output)
{
    return input << CNNVP_BUFFER_INPUT | weight << CNNVP_BUFFER_WEIGHT | output << CNNVP_BUFFER_OUTPUT;
}

/* Pushes a vector instruction over all words of a tile. `b` is a second tile of the same box, or NULL. Rows at a
 * constant stride, and channels of broadcast operands, become repetitions. Tiles in frames (on chip) take one
 * instruction per channel, with a repetition per row. */
void cnnvp_push_elementwise(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                            const struct cnnvp_vector *base, const struct cnnvp_box *box,
                            const struct cnnvp_input_tile *a, const struct cnnvp_input_tile *b);

/* Seed of part number `part` of a step. Seed 0 stays 0: no stochastic rounding. */
static inline uint32_t cnnvp_part_seed(uint32_t seed, uint32_t part)
{
    return seed == 0 ? 0 : seed + part;
}

static inline int cnnvp_rounds_by_chance(const struct cnnvp_layer *layer)
{
    return (layer->format >> 16 & 3u) == CNNVP_ROUNDING_STOCHASTIC; /* descriptors.def, `rounding` */
}

/* Difference between the seeds of consecutive images. */
#define CNNVP_IMAGE_SEEDS 0x9e3779b9u
/* Seed of the same step for the image that is `image` images later. */
static inline uint32_t cnnvp_image_seed(const struct cnnvp_layer *layer, uint32_t seed, uint32_t image)
{
    return cnnvp_rounds_by_chance(layer) ? seed + image * CNNVP_IMAGE_SEEDS : 0;
}

/* Pushes waiting epilogues, oldest first, until only the youngest `but` are left. At least one is pushed. */
void cnnvp_push_epilogues(struct cnnvp_guest *guest, uint32_t but);
/* The same, if more wait. */
static inline void cnnvp_flush_epilogues(struct cnnvp_guest *guest, uint32_t but)
{
    if (guest->waiting_end - guest->waiting_first > but)
        cnnvp_push_epilogues(guest, but);
}

/* 1: the next step's output half is free. With one half, the step before has left it; with two, the step before
 * that. */
static inline int cnnvp_has_room(const struct cnnvp_guest *guest)
{
    return guest->waiting_end - guest->waiting_first <= guest->other_output;
}
/* Makes it free. */
void cnnvp_make_room(struct cnnvp_guest *guest);

/* Place of the epilogue with this number. */
static inline struct cnnvp_epilogue *cnnvp_epilogue(struct cnnvp_guest *guest, uint32_t number)
{
    struct cnnvp_epilogue *epilogue = &guest->waiting[number % CNNVP_EPILOGUES];
    __asm__("" : "+r"(epilogue)); /* keeps the address from being calculated anew for each member */
    return epilogue;
}

/* Begins a step, if there is room. Returns its epilogue, for the caller to fill in, with `output_half` chosen. */
static inline struct cnnvp_epilogue *cnnvp_begin_step(struct cnnvp_guest *guest)
{
    struct cnnvp_epilogue *epilogue = cnnvp_epilogue(guest, guest->waiting_end);
    epilogue->output_half = guest->next_output ^= guest->other_output;
    return epilogue;
}
/* Ends the step; its epilogue waits. */
static inline void cnnvp_end_step(struct cnnvp_guest *guest)
{
    ++guest->waiting_end;
}

/* Invalidates the tiles in the input buffer, because a new layer or image changes what their addresses hold. What
 * registers hold is forgotten too: the layer may be another one in the place of the last. */
static inline void cnnvp_forget_inputs(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        guest->input[half].address = CNNVP_NOWHERE;
    guest->load_of = NULL;
    guest->window_of = guest->store_of = NULL;
}

#endif
