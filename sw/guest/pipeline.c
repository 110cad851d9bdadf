/* SPDX-License-Identifier: Apache-2.0 */
/* Pushes loads, calculations and epilogues, so that tiles overlap; see pipeline.h. */
#include "pipeline.h"

#include "binary/layer_command.h"

#include <stddef.h>

static uint32_t bit(uint32_t half, uint32_t buffer)
{
    return half << buffer;
}

static uint32_t register_of(uint32_t base, size_t offset)
{
    return base + (uint32_t)(offset / sizeof(uint32_t));
}

/* How many of `count` positions from `first` on lie in [0, size). */
static uint32_t inside(int32_t first, uint32_t count, uint32_t size)
{
    if (first >= 0 && (uint32_t)first + count <= size)
        return count;
    const int32_t begin = first < 0 ? 0 : first;
    const int32_t last = first + (int32_t)count;
    const int32_t end = last > (int32_t)size ? (int32_t)size : last;
    return end > begin ? (uint32_t)(end - begin) : 0;
}

#define TRANSFER_BIT(member) (1u << offsetof(struct cnnvp_transfer, member) / sizeof(uint32_t))

/* 1: the registers from `base` on hold a descriptor of this many bytes, rows and planes. */
static inline int holds_shape(const struct cnnvp_guest *guest, uint32_t base, uint32_t row_bytes, uint32_t rows,
                              uint32_t planes)
{
    const uint32_t *value = &guest->element.value[base];
    return value[register_of(0, offsetof(struct cnnvp_transfer, row_bytes))] == row_bytes &&
           value[register_of(0, offsetof(struct cnnvp_transfer, rows))] == rows &&
           value[register_of(0, offsetof(struct cnnvp_transfer, planes))] == planes;
}

/* Status bit of a transfer that says whether its words are bytes. */
static uint32_t word_status(uint32_t word_shift)
{
    return (word_shift ^ 1u) << CNNVP_STATUS_request_bytes;
}

/* Pushes a transfer whose descriptor is in memory. */
static __attribute__((noinline)) void push_stored(struct cnnvp_guest *guest, uint32_t high, uint32_t interleaved,
                                                  uint32_t base, const struct cnnvp_transfer *transfer)
{
    cnnvp_element_push_tile(&guest->element, base, high, interleaved, cnnvp_registers(transfer),
                            CNNVP_REGISTERS(*transfer), 1, UINT32_MAX, 0);
}

/* The same in registers that loads or stores of layers use, too. */
static void push_shared(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                        uint32_t immediate, uint32_t base, const struct cnnvp_transfer *transfer)
{
    guest->load_of = NULL;
    guest->store_of = NULL;
    push_stored(guest, cnnvp_word_high(opcode, status, base, halves), immediate, base, transfer);
}

static inline uint32_t load_status(enum cnnvp_buffer buffer, uint32_t word_shift)
{
    return (uint32_t)buffer << CNNVP_STATUS_request_buffer | word_status(word_shift);
}

/* Pushes a load. `interleaved`: planes that lie interleaved in memory; 0 or 1: not interleaved. */
static void push_load(struct cnnvp_guest *guest, const struct cnnvp_transfer *transfer, enum cnnvp_buffer buffer,
                      uint32_t half, enum cnnvp_descriptor_base base, uint32_t word_shift, uint32_t interleaved)
{
    const uint32_t status = load_status(buffer, word_shift);
    push_shared(guest, CNNVP_OPCODE_request, status, bit(half, buffer), interleaved, (uint32_t)base, transfer);
    cnnvp_element_tile_again(&guest->element, CNNVP_OPCODE_receive, status, bit(half, buffer), 0, (uint32_t)base);
}

/* The same without a function call, if the queue has room, so that the descriptor need not be in memory. */
static inline __attribute__((always_inline)) void put_load(
    struct cnnvp_guest *guest, const struct cnnvp_transfer *transfer, uint32_t changed, uint32_t always,
    enum cnnvp_buffer buffer, uint32_t half, enum cnnvp_descriptor_base base, uint32_t word_shift, uint32_t interleaved)
{
    struct cnnvp_element *element = &guest->element;
    const uint32_t status = load_status(buffer, word_shift);
    const uint32_t place = element->base + CNNVP_ELEMENT_PUSH_LO;
    element->free -= cnnvp_element_words(CNNVP_REGISTERS(*transfer), changed) + 1u;
    (void)cnnvp_element_put_tile(
        element, place, 0, (uint32_t)base,
        cnnvp_word_high(CNNVP_OPCODE_request, status, (uint32_t)base, bit(half, buffer)), interleaved,
        cnnvp_registers(transfer), CNNVP_REGISTERS(*transfer), 1, changed, always);
    cnnvp_element_put(element->machine, place,
                      cnnvp_word_high(CNNVP_OPCODE_receive, status, (uint32_t)base, bit(half, buffer)), 0);
}

/* 1: the queue has room for a load into the half, and no waiting epilogue needs what lies there. */
static inline int is_ready(const struct cnnvp_guest *guest, enum cnnvp_buffer buffer, uint32_t half)
{
    uint32_t needed = 0;
    for (uint32_t i = 0; i < CNNVP_EPILOGUES; ++i)
        needed |= guest->waiting[i].needs;
    return (needed == 0 || (needed & CNNVP_NEEDS(buffer, half)) == 0) &&
           guest->element.free >= CNNVP_REGISTERS(struct cnnvp_transfer) + 2u;
}

/* Pushes the epilogues that need what lies in a half, before the half is loaded anew. */
static void free_half(struct cnnvp_guest *guest, enum cnnvp_buffer buffer, uint32_t half)
{
    for (uint32_t i = guest->waiting_first; i != guest->waiting_end; ++i)
        if ((guest->waiting[i % CNNVP_EPILOGUES].needs & CNNVP_NEEDS(buffer, half)) != 0)
            cnnvp_flush_epilogues(guest, guest->waiting_end - i - 1u);
}

/* Words of a box that are not in the frame. */
static inline uint32_t feature_words(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box)
{
    return box->channels * inside(box->row, box->rows, tensor->height) *
           inside(box->column, box->columns, tensor->width);
}

/* Transfer of a box. In the half, channels lie `plane` words apart. */
static inline struct cnnvp_transfer planes(const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                                           uint32_t memory, uint32_t at, uint32_t plane)
{
    const uint32_t shift = tensor->word_shift;
    return (struct cnnvp_transfer){
        .memory_addr = memory,
        .buffer_addr = at,
        .row_bytes = box->columns << shift,
        .rows = box->rows,
        .memory_row_stride = tensor->row_stride << shift,
        .buffer_row_stride = box->columns << shift,
        .planes = box->channels,
        .memory_plane_stride = tensor->channel_stride << shift,
        .buffer_plane_stride = plane << shift,
        .feature_words = feature_words(tensor, box),
    };
}

/* Loads a box of the image in work and of `more_images` images after it. In the half, images lie `step` words apart,
 * the channels of an image `plane` words. */
static __attribute__((noinline)) uint32_t load_boxes(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                                     const struct cnnvp_box *box, uint32_t more_images, uint32_t half,
                                                     uint32_t at, uint32_t step, uint32_t plane)
{
    uint32_t memory = cnnvp_tensor_address(guest, tensor, box);
    free_half(guest, CNNVP_BUFFER_INPUT, half);
    for (uint32_t image = 0; image <= more_images; ++image) {
        const struct cnnvp_transfer transfer = planes(tensor, box, memory, at, plane);
        push_load(guest, &transfer, CNNVP_BUFFER_INPUT, half, CNNVP_BASE_LOAD, tensor->word_shift,
                  tensor->column_stride);
        memory += tensor->image_stride + tensor->batch_stride;
        at += step << tensor->word_shift;
    }
    return half;
}

void cnnvp_load_box_into(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                         uint32_t half, uint32_t at)
{
    guest->input[half].address = CNNVP_NOWHERE;
    (void)load_boxes(guest, tensor, box, 0, half, at, 0, box->rows * box->columns);
}

void cnnvp_load_results(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                        uint32_t half, uint32_t at)
{
    const struct cnnvp_transfer transfer =
        planes(tensor, box, cnnvp_tensor_address(guest, tensor, box), at, box->rows * box->columns);
    push_load(guest, &transfer, CNNVP_BUFFER_OUTPUT, half, CNNVP_BASE_LOAD, tensor->word_shift, tensor->column_stride);
}

/* Chooses the half that the next box goes to. */
static uint32_t next_input(struct cnnvp_guest *guest)
{
    return guest->next_input = guest->tile_half != 0 ? guest->tile_half - 1u : guest->next_input ^ guest->other_input;
}

/* Loads a box into a half that is ready for it. */
static __attribute__((noinline)) uint32_t load_tile(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                                    const struct cnnvp_box *box, uint32_t half, uint32_t memory)
{
    const struct cnnvp_transfer transfer = planes(tensor, box, memory, tensor->chip_address, box->rows * box->columns);
    guest->load_of = tensor;
    put_load(guest, &transfer, UINT32_MAX, 0, CNNVP_BUFFER_INPUT, half, CNNVP_BASE_LOAD, tensor->word_shift,
             tensor->column_stride);
    return half;
}

/* The same, if the registers hold all but its address in memory and the number of words. */
static inline uint32_t load_tile_again(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                       const struct cnnvp_box *box, uint32_t half, uint32_t memory)
{
    const struct cnnvp_transfer transfer = {.memory_addr = memory, .feature_words = feature_words(tensor, box)};
    put_load(guest, &transfer, TRANSFER_BIT(memory_addr) | TRANSFER_BIT(feature_words), 0, CNNVP_BUFFER_INPUT, half,
             CNNVP_BASE_LOAD, tensor->word_shift, tensor->column_stride);
    return half;
}

/* 1: the slot holds a box of this size. */
static inline int has_box(const struct cnnvp_slot *slot, const struct cnnvp_box *box, uint32_t more_images)
{
    return slot->channels == box->channels && slot->rows == box->rows && slot->columns == box->columns &&
           slot->images == more_images;
}

uint32_t cnnvp_load_images(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                           uint32_t more_images)
{
    return cnnvp_load_images_from(guest, tensor, box, more_images, cnnvp_tensor_address(guest, tensor, box));
}

__attribute__((noinline)) uint32_t cnnvp_load_images_from(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                                          const struct cnnvp_box *box, uint32_t more_images,
                                                          uint32_t memory)
{
#pragma GCC unroll 2
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        if (guest->input[half].address == memory && has_box(&guest->input[half], box, more_images))
            return half;
    const uint32_t half = next_input(guest);
    guest->input[half] = (struct cnnvp_slot){memory, box->channels, box->rows, box->columns, more_images};
    if (more_images != 0 || !is_ready(guest, CNNVP_BUFFER_INPUT, half)) {
        const uint32_t plane = box->rows * box->columns;
        return load_boxes(guest, tensor, box, more_images, half, tensor->chip_address, box->channels * plane, plane);
    }
    if (guest->load_of == tensor &&
        holds_shape(guest, CNNVP_BASE_LOAD, box->columns << tensor->word_shift, box->rows, box->channels))
        return load_tile_again(guest, tensor, box, half, memory);
    return load_tile(guest, tensor, box, half, memory);
}

uint32_t cnnvp_load_batch(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                          uint32_t more_images)
{
    const uint32_t plane = box->rows * box->columns;
    const uint32_t half = next_input(guest);
    guest->input[half].address = CNNVP_NOWHERE;
    return load_boxes(guest, tensor, box, more_images, half, tensor->chip_address, plane, (more_images + 1u) * plane);
}

/* Words of each channel of a tensor's place on chip: `words` words of each of `rows` rows, from word `first` on. */
static struct cnnvp_transfer chip_rows(const struct cnnvp_tensor *tensor, uint32_t first, uint32_t words, uint32_t rows)
{
    const uint32_t shift = tensor->word_shift;
    return (struct cnnvp_transfer){
        .buffer_addr = tensor->chip_address + (first << shift),
        .row_bytes = words << shift,
        .rows = rows,
        .buffer_row_stride = tensor->row_stride << shift,
        .planes = tensor->channels,
        .buffer_plane_stride = tensor->channel_stride << shift,
    };
}

static uint32_t frame_rows(const struct cnnvp_tensor *tensor)
{
    return tensor->border_top + tensor->height + tensor->border_bottom;
}

void cnnvp_push_fill(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t first, uint32_t words,
                     uint32_t rows)
{
    if (words == 0 || rows == 0)
        return;
    const struct cnnvp_transfer zeros = chip_rows(tensor, first, words, rows);
    push_shared(guest, CNNVP_OPCODE_fill, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                bit(tensor->chip_half, CNNVP_BUFFER_INPUT), (uint32_t)tensor->zero, CNNVP_BASE_LOAD, &zeros);
}

void cnnvp_fill_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor)
{
    if (tensor->border_top + tensor->border_left + tensor->border_bottom + tensor->border_right != 0)
        cnnvp_push_fill(guest, tensor, 0, tensor->row_stride, frame_rows(tensor));
}

void cnnvp_load_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor)
{
    const struct cnnvp_box whole = {.channels = tensor->channels, .rows = tensor->height, .columns = tensor->width};
    cnnvp_fill_chip_tensor(guest, tensor);
    cnnvp_load_block(guest, tensor, &whole, tensor);
}

void cnnvp_push_keep(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t from, uint32_t rows)
{
    struct cnnvp_transfer kept = chip_rows(tensor, 0, tensor->row_stride, rows);
    kept.memory_addr = kept.buffer_addr + from * kept.buffer_row_stride;
    kept.memory_row_stride = kept.buffer_row_stride;
    kept.memory_plane_stride = kept.buffer_plane_stride;
    const uint32_t status = (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_buffer |
                            (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_source | word_status(tensor->word_shift);
    push_shared(guest, CNNVP_OPCODE_move, status, bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, CNNVP_BASE_STORE,
                &kept);
}

void cnnvp_push_live(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words, uint32_t at)
{
    struct cnnvp_transfer frame = chip_rows(tensor, 0, tensor->row_stride, frame_rows(tensor));
    frame.feature_words = feature_words;
    push_shared(guest, CNNVP_OPCODE_live, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, at, &frame);
}

void cnnvp_push_live_again(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t feature_words,
                           uint32_t at)
{
    cnnvp_element_set(&guest->element, register_of(at, offsetof(struct cnnvp_transfer, feature_words)), feature_words);
    cnnvp_element_tile_again(&guest->element, CNNVP_OPCODE_live, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                             bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, at);
}

void cnnvp_use_chain_set(struct cnnvp_guest *guest, uint32_t layer)
{
    if (layer >= CNNVP_CHAIN_SETS) {
        cnnvp_use_ordinary_set(guest);
        return;
    }
    guest->window_at = cnnvp_chain_register(layer, offsetof(struct cnnvp_chain_set, window));
    guest->store_at = cnnvp_chain_register(layer, offsetof(struct cnnvp_chain_set, store));
}

void cnnvp_use_ordinary_set(struct cnnvp_guest *guest)
{
    guest->block = 0;
    guest->window_of = NULL;
    guest->window_at = CNNVP_BASE_WINDOW;
    guest->store_at = CNNVP_BASE_STORE;
}

/* Transfer between a box of a tensor in memory and the whole interior of a slot. */
static struct cnnvp_transfer block_transfer(const struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor,
                                            const struct cnnvp_box *box, const struct cnnvp_tensor *block)
{
    const struct cnnvp_box whole = {.channels = block->channels, .rows = block->height, .columns = block->width};
    return (struct cnnvp_transfer){
        .memory_addr = cnnvp_tensor_address(guest, tensor, box),
        .buffer_addr = cnnvp_tensor_chip_address(block, &whole),
        .row_bytes = box->columns << tensor->word_shift,
        .rows = box->rows,
        .memory_row_stride = tensor->row_stride << tensor->word_shift,
        .buffer_row_stride = block->row_stride << block->word_shift,
        .planes = box->channels,
        .memory_plane_stride = tensor->channel_stride << tensor->word_shift,
        .buffer_plane_stride = block->channel_stride << block->word_shift,
        .feature_words = box->channels * box->rows * box->columns,
    };
}

void cnnvp_load_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                      const struct cnnvp_tensor *block)
{
    const struct cnnvp_transfer transfer = block_transfer(guest, tensor, box, block);
    push_load(guest, &transfer, CNNVP_BUFFER_INPUT, block->chip_half, CNNVP_BASE_LOAD, block->word_shift, 0);
}

void cnnvp_store_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, const struct cnnvp_box *box,
                       const struct cnnvp_tensor *block)
{
    const struct cnnvp_transfer transfer = block_transfer(guest, tensor, box, block);
    push_shared(guest, CNNVP_OPCODE_store, CNNVP_BUFFER_INPUT | word_status(block->word_shift),
                bit(block->chip_half, CNNVP_BUFFER_INPUT), 0, CNNVP_BASE_STORE, &transfer);
}

/* Weight tiles move as 16-bit words, or pairs of 8-bit words. */
#define WEIGHT_TILE_SHIFT 1u

static inline struct cnnvp_transfer all_words(const struct cnnvp_weight_tile *weight_tile, uint32_t memory, uint32_t at)
{
    return (struct cnnvp_transfer){
        .memory_addr = memory,
        .buffer_addr = at,
        .row_bytes = weight_tile->bytes,
        .rows = 1,
        .memory_row_stride = weight_tile->bytes,
        .buffer_row_stride = weight_tile->bytes,
        .planes = 1,
        .memory_plane_stride = weight_tile->bytes,
        .buffer_plane_stride = weight_tile->bytes,
        .feature_words = 0,
    };
}

static __attribute__((noinline)) uint32_t load_words(struct cnnvp_guest *guest,
                                                     const struct cnnvp_weight_tile *weight_tile, uint32_t memory,
                                                     uint32_t half, uint32_t at, uint32_t word_shift)
{
    const struct cnnvp_transfer transfer = all_words(weight_tile, memory, at);
    free_half(guest, CNNVP_BUFFER_WEIGHT, half);
    push_load(guest, &transfer, CNNVP_BUFFER_WEIGHT, half, CNNVP_BASE_WEIGHTS, word_shift, 0);
    return half;
}

/* Loads a weight tile that has no place of its own. */
static inline __attribute__((always_inline)) uint32_t load_passing(
    struct cnnvp_guest *guest, const struct cnnvp_weight_tile *weight_tile, uint32_t memory, uint32_t word_shift)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        if (guest->weight[half] == memory)
            return half;
    const uint32_t half = guest->next_weight ^= guest->other_weight;
    guest->weight[half] = memory;
    if (__builtin_expect(!guest->in_group, 1))
        guest->group_weights = 0; /* the tile may overwrite weight tiles of a group */
    /* These registers are used for weight tiles alone: addresses and numbers of bytes are all that differs. */
    const struct cnnvp_transfer transfer = all_words(weight_tile, memory, 0);
    const uint32_t held =
        guest->element.value[register_of(CNNVP_BASE_WEIGHTS, offsetof(struct cnnvp_transfer, row_bytes))];
    if (held == 0 || !is_ready(guest, CNNVP_BUFFER_WEIGHT, half))
        return load_words(guest, weight_tile, memory, half, 0, word_shift);
    const uint32_t addresses = TRANSFER_BIT(memory_addr) | TRANSFER_BIT(buffer_addr);
    const uint32_t bytes = TRANSFER_BIT(row_bytes) | TRANSFER_BIT(memory_row_stride) | TRANSFER_BIT(buffer_row_stride) |
                           TRANSFER_BIT(memory_plane_stride) | TRANSFER_BIT(buffer_plane_stride);
    if (held == weight_tile->bytes)
        put_load(guest, &transfer, addresses, 0, CNNVP_BUFFER_WEIGHT, half, CNNVP_BASE_WEIGHTS, word_shift, 0);
    else
        put_load(guest, &transfer, addresses | bytes, bytes, CNNVP_BUFFER_WEIGHT, half, CNNVP_BASE_WEIGHTS, word_shift,
                 0);
    return half;
}

uint32_t cnnvp_load_weight_tile(struct cnnvp_guest *guest, uint32_t number, uint32_t *address)
{
    const struct cnnvp_weight_tile *weight_tile = &guest->weight_tiles[number];
    *address = 0;
    if (weight_tile->stays == CNNVP_WEIGHT_TILE_PASSES)
        return load_passing(guest, weight_tile, weight_tile->address, WEIGHT_TILE_SHIFT);
    *address = weight_tile->chip_address;
    if (number < guest->group_loaded)
        return weight_tile->chip_half;
    guest->group_loaded = number + 1u;
    if (!guest->in_group)
        guest->group_weights = 0;
    return load_words(guest, weight_tile, weight_tile->address, weight_tile->chip_half, weight_tile->chip_address,
                      WEIGHT_TILE_SHIFT);
}

uint32_t cnnvp_load_tensor_weight_tile(struct cnnvp_guest *guest, const struct cnnvp_tensor *tensor, uint32_t number,
                                       uint32_t *address)
{
    const struct cnnvp_box first = {.channels = 1};
    const struct cnnvp_weight_tile *weight_tile = &guest->weight_tiles[number];
    *address = 0;
    return load_passing(guest, weight_tile, weight_tile->address + cnnvp_tensor_address(guest, tensor, &first),
                        tensor->word_shift);
}

void cnnvp_forget_weights(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        guest->weight[half] = CNNVP_NOWHERE;
}

/* `others`: other registers that are pushed each time. */
#define PUSH_CALCULATION(guest, base, high, immediate, descriptor, changed, others)                            \
    cnnvp_element_push_tile(                                                                                   \
        &(guest)->element, base, high, immediate, cnnvp_registers(descriptor), CNNVP_REGISTERS(*(descriptor)), \
        cnnvp_clips(high), changed, CNNVP_ALWAYS(descriptor) | (others))

#define WINDOW_BIT(member) (1u << offsetof(struct cnnvp_window, member) / sizeof(uint32_t))

void cnnvp_push_window(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_window *window)
{
    const uint32_t high = cnnvp_word_high(opcode, status, guest->window_at, halves);
    guest->last_window = high;
    ++guest->windows;
    PUSH_CALCULATION(guest, guest->window_at, high, guest->block, window, UINT32_MAX, 0);
}

void cnnvp_push_window_with_write_out(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status,
                                      uint32_t halves, const struct cnnvp_window *window, uint32_t is_added)
{
    struct cnnvp_element *element = &guest->element;
    const size_t other = is_added ? offsetof(struct cnnvp_window, seed) : offsetof(struct cnnvp_window, valid_cols);
    if (element->capture != NULL) {
        const uint32_t high = cnnvp_word_high(opcode, status, guest->window_at, halves);
        guest->last_window = high;
        ++guest->windows;
        cnnvp_element_push_slowly(
            element, high, guest->block, cnnvp_registers(window), CNNVP_REGISTERS(*window) - (cnnvp_clips(high) ^ 1u),
            CNNVP_ALWAYS(window) | 1u << other / sizeof(uint32_t));
        return;
    }
    /* Another value is remembered, so that the register is pushed. */
    element->value[register_of(guest->window_at, other)] = ~cnnvp_registers(window)[other / sizeof(uint32_t)];
    cnnvp_push_window(guest, opcode, status, halves, window);
}

void cnnvp_push_window_again(struct cnnvp_guest *guest, uint32_t high, const struct cnnvp_window *window)
{
    ++guest->windows;
    PUSH_CALCULATION(guest, guest->window_at, high, guest->block, window,
                     WINDOW_BIT(in_addr) | WINDOW_BIT(in_channels) | WINDOW_BIT(out_channels) |
                         WINDOW_BIT(weight_addr) | WINDOW_BIT(bias_addr) | WINDOW_BIT(out_addr) | WINDOW_BIT(acc_addr) |
                         WINDOW_BIT(format) | WINDOW_BIT(seed) | WINDOW_BIT(limits),
                     0);
}

void cnnvp_push_window_elsewhere(struct cnnvp_guest *guest, uint32_t halves)
{
    guest->last_window = (guest->last_window & ~cnnvp_slice_halves(1, 1, 1)) | halves;
    ++guest->windows;
    PUSH_CALCULATION(guest, guest->window_at, guest->last_window, guest->block, &guest->window,
                     WINDOW_BIT(in_addr) | WINDOW_BIT(weight_addr) | WINDOW_BIT(bias_addr) | WINDOW_BIT(out_addr) |
                         WINDOW_BIT(acc_addr) | WINDOW_BIT(format) | WINDOW_BIT(limits),
                     0);
}

void cnnvp_push_matmul(struct cnnvp_guest *guest, uint32_t status, uint32_t halves, const struct cnnvp_matmul *matmul)
{
    const uint32_t high = cnnvp_word_high(CNNVP_OPCODE_matmul, status, CNNVP_BASE_MATMUL, halves);
    PUSH_CALCULATION(guest, CNNVP_BASE_MATMUL, high, 0, matmul, UINT32_MAX, 0);
}

void cnnvp_push_vector(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_vector *vector)
{
    const uint32_t high = cnnvp_word_high(opcode, status, CNNVP_BASE_VECTOR, halves);
    PUSH_CALCULATION(guest, CNNVP_BASE_VECTOR, high, 0, vector, UINT32_MAX,
                     1u << offsetof(struct cnnvp_vector, immediate) / sizeof(uint32_t));
}

void cnnvp_push_elementwise(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                            const struct cnnvp_vector *base, const struct cnnvp_box *box,
                            const struct cnnvp_input_tile *a, const struct cnnvp_input_tile *b)
{
    struct cnnvp_vector vector = *base;
    vector.a_addr = a->address;
    if (b != NULL)
        vector.b_addr = b->address;
    uint32_t more =
        cnnvp_elementwise(&a->stride, b != NULL ? &b->stride : NULL, box->channels, box->rows, box->columns, &vector);
    for (;;) {
        cnnvp_push_vector(guest, opcode, status, halves, &vector);
        if (--more == 0)
            return;
        vector.a_addr += a->stride.channel * cnnvp_format_bytes(base->format, CNNVP_NARROW_A);
        if (b != NULL)
            vector.b_addr += b->stride.channel * cnnvp_format_bytes(base->format, CNNVP_NARROW_B);
        vector.out_addr += box->rows * box->columns * cnnvp_format_bytes(base->format, CNNVP_NARROW_OUT);
        if (base->c_repeat == 0) /* not scaled; otherwise `seed` holds zero points */
            vector.seed = cnnvp_part_seed(base->seed, box->channels - more);
    }
}

/* One post-operation over all results, in place. */
static void push_post(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue,
                      const struct cnnvp_layer_post *post)
{
    struct cnnvp_vector vector = {
        .a_addr = epilogue->result_address,
        .out_addr = epilogue->result_address,
        .count = epilogue->channels * epilogue->height * epilogue->width,
        .repeat = 1,
        .a_stride = 1,
        .seed = epilogue->seed,
    };
    const struct cnnvp_operation operation = cnnvp_post_operation(post, &vector);
    uint32_t halves = bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT);
    if (post->kind == CNNVP_POST_TABLE) {
        vector.b_addr = epilogue->table_address;
        halves |= bit(epilogue->weight_half, CNNVP_BUFFER_WEIGHT);
    }
    cnnvp_push_vector(guest, operation.opcode, operation.status | 2u << CNNVP_STATUS_vcmp_a, halves, &vector);
}

/* Posts that no write-out has done. */
static void push_posts(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; ++i)
        push_post(guest, epilogue, &epilogue->layer->posts[i]);
}

/* Divides partial sums, from number `slot` on, by `divisor`. The quotients are result words. */
static void push_quotients(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue,
                           struct cnnvp_vector *vector, uint32_t slot, uint32_t divisor)
{
    const struct cnnvp_operation operation = cnnvp_division_operation(epilogue->layer, divisor, vector);
    vector->a_addr = slot * epilogue->layer->sum_bytes;
    vector->out_addr = epilogue->result_address + slot * cnnvp_format_bytes(vector->format, CNNVP_NARROW_OUT);
    vector->seed = cnnvp_part_seed(epilogue->seed, slot);
    cnnvp_push_vector(guest, operation.opcode, operation.status, bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT),
                      vector);
}

/* Number of taps of a window, along one axis, that lie in [low, high). */
static uint32_t counted(int32_t first, uint32_t kernel, int32_t low, int32_t high)
{
    const int32_t begin = first < low ? low : first;
    const int32_t last = first + (int32_t)kernel;
    const int32_t end = last > high ? high : last;
    return end > begin ? (uint32_t)(end - begin) : 0;
}

/* The windows of a step's results along one axis. At the edges of the input fewer taps of them count. */
struct windows {
    int32_t first;
    uint32_t step, kernel;
    int32_t low, high;            /* taps count from low to high - 1 */
    uint32_t results, begin, end; /* of the results, those from begin to end - 1 have the most taps */
};

static uint32_t taps_of(const struct windows *windows, uint32_t result)
{
    return counted(windows->first + (int32_t)(result * windows->step), windows->kernel, windows->low, windows->high);
}

/* Finds the results with the most taps: taps become more from the first one on, and fewer towards the last one. */
static inline struct windows windows_of(int32_t first, uint32_t step, uint32_t kernel, int32_t low, int32_t high,
                                        uint32_t results)
{
    struct windows windows = {first, step, kernel, low, high, results, 0, results};
    while (windows.begin + 1u < results && taps_of(&windows, windows.begin) < kernel &&
           taps_of(&windows, windows.begin + 1u) > taps_of(&windows, windows.begin))
        ++windows.begin;
    while (taps_of(&windows, windows.end - 1u) < taps_of(&windows, windows.begin))
        --windows.end;
    return windows;
}

/* Divides a row's sums, from number `slot` on, and those of all repetitions. Columns with the most taps take one
 * instruction. */
static void push_row_divisions(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue,
                               const struct windows *columns, struct cnnvp_vector *vector, uint32_t slot,
                               uint32_t row_taps)
{
    for (uint32_t column = 0; column < columns->results; column += vector->count) {
        vector->count = column == columns->begin ? columns->end - column : 1u;
        push_quotients(guest, epilogue, vector, slot + column, row_taps * taps_of(columns, column));
    }
}

/* Divides by the number of taps at each position: all rows of all channels at once as if they had the most taps, then
 * those that have fewer, in all channels. Results lie behind the sums, so that no sum is overwritten before it is
 * divided. */
static void push_divisions_by_position(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_layer *layer = epilogue->layer;
    const uint32_t width = epilogue->width;
    const struct windows rows = windows_of(epilogue->row * (int32_t)layer->sy - (int32_t)layer->pad_top, layer->sy,
                                           layer->ky, layer->count_top, layer->count_bottom, epilogue->height);
    const struct windows columns = windows_of(epilogue->column * (int32_t)layer->sx - (int32_t)layer->pad_left,
                                              layer->sx, layer->kx, layer->count_left, layer->count_right, width);
    struct cnnvp_vector vector = {
        .repeat = epilogue->channels * epilogue->height, .a_repeat = width, .out_repeat = width};
    push_row_divisions(guest, epilogue, &columns, &vector, 0, taps_of(&rows, rows.begin));
    vector.repeat = epilogue->channels;
    vector.a_repeat = vector.out_repeat = epilogue->height * width;
    for (uint32_t row = 0; row < rows.results; ++row)
        if (row < rows.begin || row >= rows.end)
            push_row_divisions(guest, epilogue, &columns, &vector, row * width, taps_of(&rows, row));
}

/* Adds the other operand to the results, in place. */
static void push_addition(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_layer *layer = epilogue->layer;
    const struct cnnvp_box box = {.channels = epilogue->channels, .rows = epilogue->height, .columns = epilogue->width};
    const struct cnnvp_input_tile results = {
        0, epilogue->result_address, {epilogue->height * epilogue->width, epilogue->width, 1}, 0};
    struct cnnvp_vector vector = cnnvp_arithmetic_vector(layer, 0);
    vector.out_addr = epilogue->result_address;
    const struct cnnvp_operation operation = cnnvp_arithmetic_operation(layer);
    const int second = layer->added.second != 0;
    cnnvp_push_elementwise(guest, operation.opcode, operation.status | cnnvp_addition_sources(layer),
                           cnnvp_slice_halves(epilogue->operand.half, 0, epilogue->output_half), &vector, &box,
                           second ? &epilogue->operand : &results, second ? &results : &epilogue->operand);
}

/* Average pooling: divides the sums, in place if all have the same divisor. */
static void push_division(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    if (epilogue->layer->by_position) {
        push_divisions_by_position(guest, epilogue);
        return;
    }
    struct cnnvp_vector vector = {
        .count = epilogue->channels * epilogue->height * epilogue->width,
        .repeat = 1,
    };
    push_quotients(guest, epilogue, &vector, 0, epilogue->layer->pool_area);
}

/* Status of a move from the output buffer to the input buffer. */
static uint32_t move_status(const struct cnnvp_tensor *out)
{
    return (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_buffer |
           (uint32_t)CNNVP_BUFFER_OUTPUT << CNNVP_STATUS_move_source | word_status(out->word_shift);
}

/* Moves another block's results to another place on chip; the rest of the descriptor is the same. */
static void push_move_again(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const uint32_t halves =
        bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT) | bit(epilogue->layer->out.chip_half, CNNVP_BUFFER_INPUT);
    cnnvp_element_set(&guest->element, register_of(epilogue->store_at, offsetof(struct cnnvp_transfer, buffer_addr)),
                      epilogue->address);
    cnnvp_element_tile_again(
        &guest->element, CNNVP_OPCODE_move, move_status(&epilogue->layer->out), halves, 0, epilogue->store_at);
}

/* Pushes the transfer of results to the layout of the next layer's storage parameters: a store, or a move, which has
 * its source where a store has its memory address. `changed`: registers that may have a new value; `has_room`: 1: the
 * queue is known to have room; both are constants. Live values in a slot are recorded when the layer is done. */
static inline __attribute__((always_inline)) void push_results_transfer(
    struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue, uint32_t changed, const int has_room)
{
    const struct cnnvp_tensor *out = &epilogue->layer->out;
    const uint32_t row = epilogue->width << out->word_shift;
    const uint32_t plane = row * epilogue->height;
    const uint32_t row_stride = out->row_stride << out->word_shift;
    const uint32_t plane_stride = out->channel_stride << out->word_shift;
    const int moves = out->on_chip != CNNVP_PLACE_MEMORY;
    const struct cnnvp_transfer transfer = {
        .memory_addr = moves ? epilogue->result_address : epilogue->address,
        .buffer_addr = moves ? epilogue->address : epilogue->result_address,
        .row_bytes = row,
        .rows = epilogue->height,
        .memory_row_stride = moves ? row : row_stride,
        .buffer_row_stride = moves ? row_stride : row,
        .planes = epilogue->channels,
        .memory_plane_stride = moves ? plane : plane_stride,
        .buffer_plane_stride = moves ? plane_stride : plane,
        .feature_words = out->on_chip == CNNVP_PLACE_SLOT ? 0 : epilogue->channels * epilogue->height * epilogue->width,
    };
    const uint32_t output = bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT);
    const uint32_t operation =
        moves ? cnnvp_word_high(CNNVP_OPCODE_move, move_status(out), 0, bit(out->chip_half, CNNVP_BUFFER_INPUT))
              : cnnvp_word_high(CNNVP_OPCODE_store, CNNVP_BUFFER_OUTPUT | word_status(out->word_shift), 0, 0);
    const uint32_t high = operation | cnnvp_word_high(0, 0, epilogue->store_at, output);
    struct cnnvp_element *element = &guest->element;
    const uint32_t words = cnnvp_element_words(CNNVP_REGISTERS(transfer), changed);
    if (!has_room && element->free < words) {
        const struct cnnvp_transfer stored = transfer; /* only here the descriptor needs to be in memory */
        guest->store_of = NULL;                        /* words may be collected */
        push_stored(guest, high, out->column_stride, epilogue->store_at, &stored);
        return;
    }
    element->free -= words;
    (void)cnnvp_element_put_tile(
        element, element->base + CNNVP_ELEMENT_PUSH_LO, 0, epilogue->store_at, high, out->column_stride,
        cnnvp_registers(&transfer), CNNVP_REGISTERS(transfer), 1, changed, 0);
}

#define RESULT_ADDRESSES (TRANSFER_BIT(memory_addr) | TRANSFER_BIT(buffer_addr))

/* 1: the registers hold the descriptor of as many results of the layer, and the queue has room for their addresses. */
static inline int has_results_elsewhere(const struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    return guest->store_of == epilogue->layer && epilogue->more_images == 0 &&
           guest->element.free >= cnnvp_element_words(0, RESULT_ADDRESSES) &&
           holds_shape(guest, epilogue->store_at, epilogue->width << epilogue->layer->out.word_shift, epilogue->height,
                       epilogue->channels);
}

/* Pushes what is done with an image's results before they are stored. */
static __attribute__((noinline)) void push_image(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_layer *layer = epilogue->layer;
    const uint32_t own = layer->added.tag != 0 ? layer->added.first_post : layer->post_count;
    if (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE)
        push_division(guest, epilogue);
    push_posts(guest, epilogue, (layer->op == CNNVP_OP_ACTIVATION) + layer->clips, own);
    if (layer->added.tag != 0) {
        cnnvp_element_layer(&guest->element, layer->added.tag);
        if (!cnnvp_is_added(layer))
            push_addition(guest, epilogue);
        push_posts(guest, epilogue, own + layer->added.clips, layer->post_count);
    }
}

/* Goes to the next of the images whose results wait. Returns 0 if there is none. */
static inline int next_image(struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_layer *layer = epilogue->layer;
    if (epilogue->more_images == 0)
        return 0;
    --epilogue->more_images;
    epilogue->result_address += layer->image_bytes;
    epilogue->address += layer->out.image_stride + layer->out.batch_stride;
    epilogue->seed = cnnvp_image_seed(layer, epilogue->seed, 1);
    return 1;
}

/* 1: something is done with the results before they are stored. */
static inline int has_work(const struct cnnvp_layer *layer)
{
    return layer->post_count > layer->clips || layer->added.tag != 0 ||
           (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE);
}

/* 1: the results of one image are stored as the calculation's write-out leaves them. */
static inline int is_plain(const struct cnnvp_epilogue *epilogue)
{
    return !has_work(epilogue->layer) && epilogue->more_images == 0 && epilogue->again == 0;
}

/* Pushes the oldest epilogue. */
static inline void push_epilogue(struct cnnvp_guest *guest)
{
    struct cnnvp_epilogue *epilogue = cnnvp_epilogue(guest, guest->waiting_first++);
    cnnvp_element_layer(&guest->element, epilogue->layer->tag);
    epilogue->needs = 0;
    if (has_results_elsewhere(guest, epilogue)) {
        push_results_transfer(guest, epilogue, RESULT_ADDRESSES, 1);
        return;
    }
    const int plain = is_plain(epilogue);
    guest->store_of = plain ? epilogue->layer : NULL;
    do {
        if (!plain && (!epilogue->again || has_work(epilogue->layer)))
            push_image(guest, epilogue);
        if (!plain && epilogue->again && epilogue->layer->out.on_chip)
            push_move_again(guest, epilogue);
        else
            push_results_transfer(guest, epilogue, UINT32_MAX, 0);
    } while (!plain && next_image(epilogue));
}

static __attribute__((noinline)) void push_any_epilogues(struct cnnvp_guest *guest, uint32_t but)
{
    const uint32_t tag = guest->element.tag;
    do
        push_epilogue(guest);
    while (guest->waiting_end - guest->waiting_first > but);
    cnnvp_element_layer(&guest->element, tag);
}

static inline void put_layer(struct cnnvp_element *element, uint32_t tag)
{
    cnnvp_element_put(element->machine, element->base + CNNVP_ELEMENT_PUSH_LO,
                      cnnvp_word_high(CNNVP_OPCODE_layer, 0, 0, 0), tag);
}

void cnnvp_push_epilogues(struct cnnvp_guest *guest, uint32_t but)
{
    struct cnnvp_epilogue *epilogue = cnnvp_epilogue(guest, guest->waiting_first);
    struct cnnvp_element *element = &guest->element;
    const struct cnnvp_layer *layer = epilogue->layer;
    /* One store with its descriptor is frequent: it needs no function calls. */
    if (guest->waiting_end - guest->waiting_first != but + 1u || guest->store_of == layer || !is_plain(epilogue) ||
        element->free < CNNVP_REGISTERS(struct cnnvp_transfer) + 3u) {
        push_any_epilogues(guest, but);
        return;
    }
    const uint32_t tag = element->tag;
    ++guest->waiting_first;
    epilogue->needs = 0;
    guest->store_of = layer;
    if (tag != layer->tag) {
        element->free -= 2u;
        put_layer(element, layer->tag);
    }
    push_results_transfer(guest, epilogue, UINT32_MAX, 1);
    if (tag != layer->tag)
        put_layer(element, tag);
}

void cnnvp_make_room(struct cnnvp_guest *guest)
{
    struct cnnvp_epilogue *epilogue = cnnvp_epilogue(guest, guest->waiting_first);
    const uint32_t but = guest->other_output;
    if (guest->waiting_end - guest->waiting_first == but + 1u && guest->element.tag == epilogue->layer->tag &&
        has_results_elsewhere(guest, epilogue)) {
        ++guest->waiting_first;
        epilogue->needs = 0;
        push_results_transfer(guest, epilogue, RESULT_ADDRESSES, 1);
    } else {
        cnnvp_flush_epilogues(guest, but);
    }
}
