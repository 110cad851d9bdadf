/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include "binary/layer_command.h"

#include <stddef.h>

#define SLOT_BYTES 8u

/* Bits 17:16 of the descriptor register `format`, enum cnnvp_round_mode. */
#define FORMAT_ROUNDING 16u
#define ROUNDING_STOCHASTIC 2u

static uint32_t bit(uint32_t half, uint32_t buffer)
{
    return half << buffer;
}

static const uint32_t *registers(const void *descriptor)
{
    return descriptor;
}

#define REGISTER_COUNT(descriptor) ((uint32_t)(sizeof(descriptor) / sizeof(uint32_t)))

static uint32_t register_of(uint32_t base, size_t offset)
{
    return base + (uint32_t)(offset / sizeof(uint32_t));
}

/* Words from interior position (0, 0, 0) to a box's first; may be negative in the frame. */
static int32_t box_offset(const struct cnnvp_binary_tensor *tensor, const struct cnnvp_box *box)
{
    return (int32_t)(box->channel * tensor->channel_stride) + box->row * (int32_t)tensor->row_stride + box->column;
}

uint32_t cnnvp_tensor_address(const struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                              const struct cnnvp_box *box)
{
    return tensor->address + guest->image_number * tensor->image_stride +
           (guest->image_number - guest->batch_first) * tensor->batch_stride +
           ((uint32_t)box_offset(tensor, box) << tensor->word_shift);
}

uint32_t cnnvp_tensor_chip_address(const struct cnnvp_binary_tensor *tensor, const struct cnnvp_box *box)
{
    const int32_t interior = (int32_t)(tensor->border_top * tensor->row_stride + tensor->border_left);
    return tensor->chip_address + ((uint32_t)(interior + box_offset(tensor, box)) << tensor->word_shift);
}

/* How many of `count` positions from `first` on lie in [0, size). */
static uint32_t inside(int32_t first, uint32_t count, uint32_t size)
{
    const int32_t begin = first < 0 ? 0 : first;
    const int32_t last = first + (int32_t)count;
    const int32_t end = last > (int32_t)size ? (int32_t)size : last;
    return end > begin ? (uint32_t)(end - begin) : 0;
}

/* The status bit of transfers of such words. */
static uint32_t word_status(uint32_t word_shift)
{
    return (word_shift ^ 1u) << CNNVP_STATUS_request_bytes;
}

static void push_load(struct cnnvp_guest *guest, const struct cnnvp_transfer *transfer, enum cnnvp_buffer buffer,
                      uint32_t half, enum cnnvp_descriptor_base base, uint32_t word_shift)
{
    const uint32_t status = (uint32_t)buffer << CNNVP_STATUS_request_buffer | word_status(word_shift);
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_request, status, bit(half, buffer), 0, (uint32_t)base,
                       registers(transfer), REGISTER_COUNT(*transfer));
    cnnvp_element_tile_again(&guest->element, CNNVP_OPCODE_receive, status, bit(half, buffer), 0, (uint32_t)base);
}

/* Epilogues that need what lies in a half must be pushed before it is loaded anew: a table in the weight buffer, an
 * operand in the input buffer. */
static void free_half(struct cnnvp_guest *guest, enum cnnvp_buffer buffer, uint32_t half)
{
    for (uint32_t i = 0; i < guest->waiting_count; ++i) {
        const struct cnnvp_epilogue *epilogue = &guest->waiting[i];
        if (buffer == CNNVP_BUFFER_WEIGHT ? epilogue->uses_weights && epilogue->weight_half == half
                                          : epilogue->uses_input && epilogue->operand.half == half) {
            cnnvp_flush_epilogues(guest, guest->waiting_count - i - 1u);
            i = UINT32_MAX; /* from the start: the list has moved up */
        }
    }
}

/* From one channel to the next in the half: `plane` words. */
static void load_planes(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                        const struct cnnvp_box *box, uint32_t half, uint32_t at, uint32_t plane)
{
    const struct cnnvp_transfer transfer = {
        .memory_addr = cnnvp_tensor_address(guest, tensor, box),
        .buffer_addr = at,
        .row_bytes = box->columns << tensor->word_shift,
        .rows = box->rows,
        .memory_row_stride = tensor->row_stride << tensor->word_shift,
        .buffer_row_stride = box->columns << tensor->word_shift,
        .planes = box->channels,
        .memory_plane_stride = tensor->channel_stride << tensor->word_shift,
        .buffer_plane_stride = plane << tensor->word_shift,
        .feature_words = box->channels * inside(box->row, box->rows, tensor->height) *
                         inside(box->column, box->columns, tensor->width),
    };
    free_half(guest, CNNVP_BUFFER_INPUT, half);
    guest->input[half].valid = 0;
    push_load(guest, &transfer, CNNVP_BUFFER_INPUT, half, CNNVP_BASE_LOAD, tensor->word_shift);
}

void cnnvp_load_box_into(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                         const struct cnnvp_box *box, uint32_t half, uint32_t at)
{
    load_planes(guest, tensor, box, half, at, box->rows * box->columns);
}

/* The half that holds the boxes, or is to take them: then 0. */
static int find_box(struct cnnvp_guest *guest, const struct cnnvp_slot *wanted, uint32_t *half)
{
    const uint32_t halves = guest->binary->input_halves;
    for (*half = 0; *half < halves; ++*half) {
        const struct cnnvp_slot *slot = &guest->input[*half];
        if (slot->valid && slot->address == wanted->address && slot->channels == wanted->channels &&
            slot->rows == wanted->rows && slot->columns == wanted->columns && slot->images == wanted->images)
            return 1;
    }
    guest->next_input = guest->tile_half != 0 ? guest->tile_half - 1u : (guest->next_input + 1u) % halves;
    *half = guest->next_input;
    return 0;
}

uint32_t cnnvp_load_images(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                           const struct cnnvp_box *box, uint32_t more_images)
{
    const struct cnnvp_slot wanted = {
        1, cnnvp_tensor_address(guest, tensor, box), box->channels, box->rows, box->columns, more_images};
    const uint32_t bytes = box->channels * box->rows * box->columns << tensor->word_shift;
    const uint32_t first = guest->image_number;
    uint32_t half;
    if (find_box(guest, &wanted, &half))
        return half;
    for (uint32_t image = 0; image <= more_images; ++image) {
        guest->image_number = first + image;
        cnnvp_load_box_into(guest, tensor, box, half, tensor->chip_address + image * bytes);
    }
    guest->image_number = first;
    guest->input[half] = wanted;
    return half;
}

uint32_t cnnvp_load_batch(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                          const struct cnnvp_box *box, uint32_t more_images)
{
    const struct cnnvp_slot wanted = {
        1, cnnvp_tensor_address(guest, tensor, box), box->channels, box->rows, box->columns, more_images};
    const uint32_t plane = box->rows * box->columns;
    const uint32_t first = guest->image_number;
    uint32_t half;
    (void)find_box(guest, &wanted, &half);
    for (uint32_t image = 0; image <= more_images; ++image) {
        guest->image_number = first + image;
        load_planes(guest, tensor, box, half, tensor->chip_address + (image * plane << tensor->word_shift),
                    (more_images + 1u) * plane);
    }
    guest->image_number = first;
    return half;
}

void cnnvp_fill_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor)
{
    const uint32_t rows = tensor->border_top + tensor->height + tensor->border_bottom;
    if (tensor->border_top + tensor->border_left + tensor->border_bottom + tensor->border_right == 0)
        return;
    const struct cnnvp_transfer frame = {
        .buffer_addr = tensor->chip_address,
        .row_bytes = tensor->row_stride << tensor->word_shift,
        .rows = rows,
        .buffer_row_stride = tensor->row_stride << tensor->word_shift,
        .planes = tensor->channels,
        .buffer_plane_stride = tensor->channel_stride << tensor->word_shift,
    };
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_fill, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                       bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, CNNVP_BASE_LOAD, registers(&frame),
                       REGISTER_COUNT(frame));
}

void cnnvp_load_chip_tensor(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor)
{
    const struct cnnvp_box whole = {.channels = tensor->channels, .rows = tensor->height, .columns = tensor->width};
    cnnvp_fill_chip_tensor(guest, tensor);
    const struct cnnvp_transfer transfer = {
        .memory_addr = cnnvp_tensor_address(guest, tensor, &whole),
        .buffer_addr = cnnvp_tensor_chip_address(tensor, &whole),
        .row_bytes = tensor->width << tensor->word_shift,
        .rows = tensor->height,
        .memory_row_stride = tensor->row_stride << tensor->word_shift,
        .buffer_row_stride = tensor->row_stride << tensor->word_shift,
        .planes = tensor->channels,
        .memory_plane_stride = tensor->channel_stride << tensor->word_shift,
        .buffer_plane_stride = tensor->channel_stride << tensor->word_shift,
        .feature_words = tensor->channels * tensor->height * tensor->width,
    };
    push_load(guest, &transfer, CNNVP_BUFFER_INPUT, tensor->chip_half, CNNVP_BASE_LOAD, tensor->word_shift);
}

void cnnvp_push_fill(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                     const struct cnnvp_transfer *zeros)
{
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_fill, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                       bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, CNNVP_BASE_LOAD, registers(zeros),
                       REGISTER_COUNT(*zeros));
}

void cnnvp_push_keep(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                     const struct cnnvp_transfer *kept)
{
    const uint32_t status = (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_buffer |
                            (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_source | word_status(tensor->word_shift);
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_move, status, bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0,
                       CNNVP_BASE_STORE, registers(kept), REGISTER_COUNT(*kept));
}

void cnnvp_push_live(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor, uint32_t feature_words,
                     uint32_t at)
{
    const struct cnnvp_transfer frame = {
        .buffer_addr = tensor->chip_address,
        .row_bytes = tensor->row_stride << tensor->word_shift,
        .rows = tensor->border_top + tensor->height + tensor->border_bottom,
        .buffer_row_stride = tensor->row_stride << tensor->word_shift,
        .planes = tensor->channels,
        .buffer_plane_stride = tensor->channel_stride << tensor->word_shift,
        .feature_words = feature_words,
    };
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_live, CNNVP_BUFFER_INPUT | word_status(tensor->word_shift),
                       bit(tensor->chip_half, CNNVP_BUFFER_INPUT), 0, at, registers(&frame), REGISTER_COUNT(frame));
}

void cnnvp_push_live_again(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor, uint32_t feature_words,
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
    guest->window_at = CNNVP_BASE_WINDOW;
    guest->store_at = CNNVP_BASE_STORE;
}

/* A box of a tensor in memory, and the whole interior of a slot. */
static struct cnnvp_transfer block_transfer(const struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                                            const struct cnnvp_box *box, const struct cnnvp_binary_tensor *block)
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

void cnnvp_load_block(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor, const struct cnnvp_box *box,
                      const struct cnnvp_binary_tensor *block)
{
    const struct cnnvp_transfer transfer = block_transfer(guest, tensor, box, block);
    push_load(guest, &transfer, CNNVP_BUFFER_INPUT, block->chip_half, CNNVP_BASE_LOAD, block->word_shift);
}

void cnnvp_store_block(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor, const struct cnnvp_box *box,
                       const struct cnnvp_binary_tensor *block)
{
    const struct cnnvp_transfer transfer = block_transfer(guest, tensor, box, block);
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_store, CNNVP_BUFFER_INPUT | word_status(block->word_shift),
                       bit(block->chip_half, CNNVP_BUFFER_INPUT), 0, CNNVP_BASE_STORE, registers(&transfer),
                       REGISTER_COUNT(transfer));
}

/* Words of a blob in the binary: 16-bit ones, or pairs of 8-bit ones. */
#define BLOB_SHIFT 1u

static uint32_t load_blob(struct cnnvp_guest *guest, uint32_t number, uint32_t *address, uint32_t word_shift)
{
    const struct cnnvp_binary_blob *blob = &guest->blobs[number];
    const uint32_t halves = guest->binary->weight_halves;
    const int chip = blob->stays != 0;
    *address = chip ? blob->chip_address : 0;
    for (uint32_t half = 0; half < halves; ++half) {
        if (!chip && guest->weight[half].valid && guest->weight[half].address == blob->address)
            return half;
    }
    if (chip && number < guest->chain_loaded)
        return blob->chip_half;
    uint32_t half = blob->chip_half;
    if (!guest->in_chain)
        guest->chain_weights = 0; /* this one may lie over theirs */
    if (chip)
        guest->chain_loaded = number + 1u;
    if (!chip) {
        guest->next_weight = (guest->next_weight + 1u) % halves;
        half = guest->next_weight;
        guest->weight[half] = (struct cnnvp_slot){.valid = 1, .address = blob->address};
    }
    free_half(guest, CNNVP_BUFFER_WEIGHT, half);
    const struct cnnvp_transfer transfer = {
        .memory_addr = blob->address,
        .buffer_addr = *address,
        .row_bytes = blob->bytes,
        .rows = 1,
        .memory_row_stride = blob->bytes,
        .buffer_row_stride = blob->bytes,
        .planes = 1,
        .memory_plane_stride = blob->bytes,
        .buffer_plane_stride = blob->bytes,
    };
    push_load(guest, &transfer, CNNVP_BUFFER_WEIGHT, half, CNNVP_BASE_WEIGHTS, word_shift);
    return half;
}

uint32_t cnnvp_load_blob(struct cnnvp_guest *guest, uint32_t number, uint32_t *address)
{
    return load_blob(guest, number, address, BLOB_SHIFT);
}

uint32_t cnnvp_load_tensor_blob(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor, uint32_t number,
                                uint32_t *address)
{
    const struct cnnvp_box first = {.channels = 1};
    const struct cnnvp_binary_blob *table = guest->blobs;
    struct cnnvp_binary_blob blob = table[number];
    blob.address += cnnvp_tensor_address(guest, tensor, &first);
    blob.stays = CNNVP_BLOB_PASSES;
    guest->blobs = &blob;
    const uint32_t half = load_blob(guest, 0, address, tensor->word_shift);
    guest->blobs = table;
    return half;
}

void cnnvp_forget_weights(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < guest->binary->weight_halves; ++half)
        guest->weight[half].valid = 0;
}

int cnnvp_rounds_by_chance(const struct cnnvp_binary_layer *layer)
{
    return (layer->format >> FORMAT_ROUNDING & 3u) == ROUNDING_STOCHASTIC;
}

uint32_t cnnvp_image_seed(const struct cnnvp_binary_layer *layer, uint32_t seed, uint32_t image)
{
    return cnnvp_rounds_by_chance(layer) ? seed + image * CNNVP_IMAGE_SEEDS : 0;
}

uint32_t cnnvp_part_seed(uint32_t seed, uint32_t part)
{
    return seed == 0 ? 0 : seed + part;
}

/* Registers that depend on number formats, the one at `format` and the last one, limits, which is left out where it is
 * not used, are pushed each time. Returns how many registers there are then. */
static uint32_t forget_format(struct cnnvp_guest *guest, uint32_t base, const uint32_t *descriptor, size_t format,
                              uint32_t count, uint32_t status)
{
    const uint32_t clips = status >> CNNVP_STATUS_conv_clip & 1u;
    cnnvp_element_forget(&guest->element, register_of(base, format), descriptor[format / sizeof *descriptor]);
    if (clips != 0)
        cnnvp_element_forget(&guest->element, base + count - 1u, descriptor[count - 1u]);
    return count - 1u + clips;
}

#define FORGET_FORMAT(base, descriptor, status)                                                    \
    forget_format(guest, base, registers(descriptor), offsetof(__typeof__(*(descriptor)), format), \
                  REGISTER_COUNT(*(descriptor)), status)

void cnnvp_push_window(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_window *window)
{
    const uint32_t count = FORGET_FORMAT(guest->window_at, window, status);
    cnnvp_element_tile(&guest->element, opcode, status, halves, guest->block, guest->window_at, registers(window),
                       count);
    guest->last_window = (struct cnnvp_guest_instruction){opcode, status, halves};
    ++guest->windows;
}

void cnnvp_push_matmul(struct cnnvp_guest *guest, uint32_t status, uint32_t halves, const struct cnnvp_matmul *matmul)
{
    const uint32_t count = FORGET_FORMAT(CNNVP_BASE_MATMUL, matmul, status);
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_matmul, status, halves, 0, CNNVP_BASE_MATMUL, registers(matmul),
                       count);
}

void cnnvp_push_vector(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                       const struct cnnvp_vector *vector)
{
    const uint32_t count = FORGET_FORMAT(CNNVP_BASE_VECTOR, vector, status);
    cnnvp_element_forget(&guest->element, register_of(CNNVP_BASE_VECTOR, offsetof(struct cnnvp_vector, immediate)),
                         vector->immediate);
    cnnvp_element_tile(&guest->element, opcode, status, halves, 0, CNNVP_BASE_VECTOR, registers(vector), count);
}

uint32_t cnnvp_slice_halves(uint32_t input, uint32_t weight, uint32_t output)
{
    return input << CNNVP_BUFFER_INPUT | weight << CNNVP_BUFFER_WEIGHT | output << CNNVP_BUFFER_OUTPUT;
}

/* Words of a plane follow each other, or one word counts for all of them. */
static int is_plane(const struct cnnvp_input_tile *tile, const struct cnnvp_box *box)
{
    return box->rows == 1 || tile->row_stride == box->columns * tile->column_stride;
}

/* All words follow each other. */
static int is_dense(const struct cnnvp_input_tile *tile, const struct cnnvp_box *box)
{
    return is_plane(tile, box) && tile->column_stride == 1 && tile->channel_stride == box->rows * box->columns;
}

/* A channel's first row follows the last row of the one before as rows follow each other. */
static int is_rows(const struct cnnvp_input_tile *tile, const struct cnnvp_box *box)
{
    return tile->channel_stride == box->rows * tile->row_stride;
}

void cnnvp_push_elementwise(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                            const struct cnnvp_vector *base, const struct cnnvp_box *box,
                            const struct cnnvp_input_tile *a, const struct cnnvp_input_tile *b)
{
    const uint32_t plane = box->rows * box->columns;
    const struct cnnvp_input_tile *second = b != NULL ? b : a;
    struct cnnvp_vector vector = *base;
    vector.a_addr = a->address;
    vector.a_stride = a->column_stride;
    if (b != NULL) {
        vector.b_addr = b->address;
        vector.b_stride = b->column_stride;
    }
    if (is_plane(a, box) && is_plane(second, box)) {
        const int dense = is_dense(a, box) && is_dense(second, box);
        vector.count = dense ? box->channels * plane : plane;
        vector.repeat = dense ? 1u : box->channels;
        vector.a_repeat = dense ? 0 : a->channel_stride;
        vector.b_repeat = dense || b == NULL ? 0 : b->channel_stride;
        vector.out_repeat = dense ? 0 : plane;
        cnnvp_push_vector(guest, opcode, status, halves, &vector);
        return;
    }
    vector.count = box->columns;
    vector.repeat = box->rows;
    vector.a_repeat = a->row_stride;
    vector.out_repeat = box->columns;
    if (b != NULL)
        vector.b_repeat = b->row_stride;
    if (is_rows(a, box) && is_rows(second, box)) {
        vector.repeat *= box->channels;
        cnnvp_push_vector(guest, opcode, status, halves, &vector);
        return;
    }
    for (uint32_t channel = 0; channel < box->channels; ++channel) {
        cnnvp_push_vector(guest, opcode, status, halves, &vector);
        vector.a_addr += a->channel_stride * cnnvp_format_bytes(base->format, CNNVP_NARROW_A);
        if (b != NULL)
            vector.b_addr += b->channel_stride * cnnvp_format_bytes(base->format, CNNVP_NARROW_B);
        vector.out_addr += plane * cnnvp_format_bytes(base->format, CNNVP_NARROW_OUT);
        vector.seed = cnnvp_part_seed(base->seed, channel + 1u);
    }
}

/* One post-operation over all results, in place. */
static void push_post(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue,
                      const struct cnnvp_binary_post *post)
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

static void push_posts(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; ++i)
        if (!cnnvp_is_written_out(epilogue->layer, i))
            push_post(guest, epilogue, &epilogue->layer->posts[i]);
}

/* Sums in 64-bit slots from `slot` on divided by `divisor` become words. */
static void push_quotients(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue,
                           struct cnnvp_vector *vector, uint32_t slot, uint32_t divisor)
{
    vector->a_addr = slot * SLOT_BYTES;
    vector->a_stride = 1;
    vector->immediate = divisor;
    vector->format = epilogue->layer->format;
    vector->out_addr = epilogue->result_address + slot * cnnvp_format_bytes(vector->format, CNNVP_NARROW_OUT);
    vector->limits = epilogue->layer->limits;
    vector->seed = cnnvp_part_seed(epilogue->seed, slot);
    const uint32_t status = 3u << CNNVP_STATUS_vdiv_a | 3u << CNNVP_STATUS_vdiv_b | 1u << CNNVP_STATUS_vdiv_store |
                            cnnvp_clip_status(epilogue->layer->clips);
    cnnvp_push_vector(guest, CNNVP_OPCODE_vdiv, status, bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT), vector);
}

/* Taps of one axis that lie between two limits. */
static uint32_t counted(int32_t first, uint32_t kernel, int32_t low, int32_t high)
{
    const int32_t begin = first < low ? low : first;
    const int32_t last = first + (int32_t)kernel;
    const int32_t end = last > high ? high : last;
    return end > begin ? (uint32_t)(end - begin) : 0;
}

static uint32_t counted_columns(const struct cnnvp_binary_layer *layer, int32_t column)
{
    return counted(column * (int32_t)layer->sx - (int32_t)layer->pad_left, layer->kx, layer->count_left,
                   layer->count_right);
}

/* Each stretch of a row whose windows have as many taps is one instruction, its repetitions are the channels. The
 * results lie after the sums, none of which may be lost before it is divided. */
static void push_divisions_by_position(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_binary_layer *layer = epilogue->layer;
    struct cnnvp_vector vector = {
        .repeat = epilogue->channels,
        .a_repeat = epilogue->height * epilogue->width,
        .out_repeat = epilogue->height * epilogue->width,
    };
    for (uint32_t row = 0; row < epilogue->height; ++row) {
        const int32_t first = (epilogue->row + (int32_t)row) * (int32_t)layer->sy - (int32_t)layer->pad_top;
        const uint32_t rows = counted(first, layer->ky, layer->count_top, layer->count_bottom);
        for (uint32_t column = 0; column < epilogue->width; column += vector.count) {
            const uint32_t columns = counted_columns(layer, epilogue->column + (int32_t)column);
            vector.count = 1;
            while (column + vector.count < epilogue->width &&
                   counted_columns(layer, epilogue->column + (int32_t)(column + vector.count)) == columns)
                ++vector.count;
            push_quotients(guest, epilogue, &vector, row * epilogue->width + column, rows * columns);
        }
    }
}

/* The results and the other operand, in place of the results. */
static void push_addition(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_binary_layer *layer = epilogue->layer;
    const struct cnnvp_box box = {.channels = epilogue->channels, .rows = epilogue->height, .columns = epilogue->width};
    const struct cnnvp_input_tile results = {
        0, epilogue->result_address, epilogue->width, epilogue->height * epilogue->width, 1, 0};
    const struct cnnvp_vector vector = {
        .out_addr = epilogue->result_address, .format = layer->added.format, .limits = layer->added.limits};
    const struct cnnvp_operation operation = cnnvp_arithmetic_operation(layer);
    const int second = layer->added.second != 0;
    cnnvp_push_elementwise(guest, operation.opcode, operation.status | cnnvp_addition_sources(layer),
                           cnnvp_slice_halves(epilogue->operand.half, 0, epilogue->output_half), &vector, &box,
                           second ? &epilogue->operand : &results, second ? &results : &epilogue->operand);
}

/* Average pooling: sums in 64-bit slots become words, in place where all are divided by the same number. */
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
static uint32_t move_status(const struct cnnvp_binary_tensor *out)
{
    return (uint32_t)CNNVP_BUFFER_INPUT << CNNVP_STATUS_move_buffer |
           (uint32_t)CNNVP_BUFFER_OUTPUT << CNNVP_STATUS_move_source | word_status(out->word_shift);
}

/* Another block's results, to another place on chip. */
static void push_move_again(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const uint32_t halves =
        bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT) | bit(epilogue->layer->out.chip_half, CNNVP_BUFFER_INPUT);
    cnnvp_element_set(&guest->element, register_of(epilogue->store_at, offsetof(struct cnnvp_transfer, buffer_addr)),
                      epilogue->chip_address);
    cnnvp_element_tile_again(
        &guest->element, CNNVP_OPCODE_move, move_status(&epilogue->layer->out), halves, 0, epilogue->store_at);
}

/* Results leave in the layout of the next layer's storage parameters. */
static void push_results(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_binary_tensor *out = &epilogue->layer->out;
    const uint32_t row = epilogue->width << out->word_shift;
    struct cnnvp_transfer transfer = {
        .memory_addr = epilogue->memory_address,
        .buffer_addr = epilogue->result_address,
        .row_bytes = row,
        .rows = epilogue->height,
        .memory_row_stride = out->row_stride << out->word_shift,
        .buffer_row_stride = row,
        .planes = epilogue->channels,
        .memory_plane_stride = out->channel_stride << out->word_shift,
        .buffer_plane_stride = row * epilogue->height,
        .feature_words = epilogue->channels * epilogue->height * epilogue->width,
    };
    const uint32_t output = bit(epilogue->output_half, CNNVP_BUFFER_OUTPUT);
    if (!epilogue->to_chip) {
        cnnvp_element_tile(&guest->element, CNNVP_OPCODE_store, CNNVP_BUFFER_OUTPUT | word_status(out->word_shift),
                           output, 0, epilogue->store_at, registers(&transfer), REGISTER_COUNT(transfer));
        return;
    }
    /* For a move the source takes the place of memory. */
    transfer.memory_addr = epilogue->result_address;
    transfer.memory_row_stride = row;
    transfer.memory_plane_stride = row * epilogue->height;
    transfer.buffer_addr = epilogue->chip_address;
    transfer.buffer_row_stride = out->row_stride << out->word_shift;
    transfer.buffer_plane_stride = out->channel_stride << out->word_shift;
    if (out->on_chip == CNNVP_PLACE_SLOT)
        transfer.feature_words = 0; /* which values are live there is said when the layer is done */
    cnnvp_element_tile(&guest->element, CNNVP_OPCODE_move, move_status(out),
                       output | bit(out->chip_half, CNNVP_BUFFER_INPUT), 0, epilogue->store_at, registers(&transfer),
                       REGISTER_COUNT(transfer));
}

static void push_image(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_binary_layer *layer = epilogue->layer;
    const uint32_t own = layer->added.tag != 0 ? layer->added.first_post : layer->post_count;
    if (epilogue->divide)
        push_division(guest, epilogue);
    push_posts(guest, epilogue, epilogue->first_post, own);
    if (layer->added.tag != 0) {
        cnnvp_element_layer(&guest->element, layer->added.tag);
        push_addition(guest, epilogue);
        push_posts(guest, epilogue, own, layer->post_count);
    }
    if (epilogue->again && epilogue->to_chip)
        push_move_again(guest, epilogue);
    else
        push_results(guest, epilogue);
}

static void push_epilogue(struct cnnvp_guest *guest, struct cnnvp_epilogue *epilogue)
{
    const struct cnnvp_binary_layer *layer = epilogue->layer;
    cnnvp_element_layer(&guest->element, layer->tag);
    push_image(guest, epilogue);
    for (; epilogue->more_images != 0; --epilogue->more_images) {
        epilogue->result_address += layer->image_bytes;
        epilogue->memory_address += layer->out.image_stride + layer->out.batch_stride;
        epilogue->seed = cnnvp_image_seed(layer, epilogue->seed, 1);
        push_image(guest, epilogue);
    }
}

void cnnvp_flush_epilogues(struct cnnvp_guest *guest, uint32_t but)
{
    const uint32_t tag = guest->element.tag;
    const uint32_t pushed = guest->waiting_count > but ? guest->waiting_count - but : 0;
    for (uint32_t i = 0; i < pushed; ++i)
        push_epilogue(guest, &guest->waiting[i]);
    for (uint32_t i = pushed; i < guest->waiting_count; ++i)
        guest->waiting[i - pushed] = guest->waiting[i];
    guest->waiting_count -= pushed;
    cnnvp_element_layer(&guest->element, tag);
}

uint32_t cnnvp_begin_step(struct cnnvp_guest *guest)
{
    /* One half: the step before must have left it. Two: the step before that. */
    cnnvp_flush_epilogues(guest, guest->binary->output_halves - 1u);
    guest->next_output = (guest->next_output + 1u) % guest->binary->output_halves;
    return guest->next_output;
}

void cnnvp_end_step(struct cnnvp_guest *guest, const struct cnnvp_epilogue *epilogue)
{
    guest->waiting[guest->waiting_count++] = *epilogue;
}

void cnnvp_forget_inputs(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        guest->input[half].valid = 0;
}
