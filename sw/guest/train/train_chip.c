/* SPDX-License-Identifier: Apache-2.0 */
/* Buffer halves and transfers of the training engine. */
#include "train.h"

#define ZONES 3u /* zones per map, which form a group */

uint32_t cnnvp_train_next(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer)
{
    const struct cnnvp_train_binary *binary = guest->train.binary;
    const uint32_t halves[] = {binary->input_halves, binary->weight_halves, binary->output_halves};
    guest->train.next[buffer] = (guest->train.next[buffer] + 1u) % halves[buffer];
    return guest->train.next[buffer];
}

void cnnvp_train_push(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                      enum cnnvp_train_base base, const void *descriptor, uint32_t bytes)
{
    cnnvp_element_tile(&guest->element, opcode, status, halves, 0, (uint32_t)base, descriptor,
                       bytes / (uint32_t)sizeof(uint32_t));
}

static struct cnnvp_transfer transfer_of(const struct cnnvp_train_box *box, uint32_t at)
{
    return (struct cnnvp_transfer){
        .memory_addr = box->address,
        .buffer_addr = at,
        .row_bytes = box->row,
        .rows = box->rows,
        .memory_row_stride = box->row_stride,
        .buffer_row_stride = box->half_row != 0 ? box->half_row : box->row,
        .planes = box->planes,
        .memory_plane_stride = box->plane_stride,
        .buffer_plane_stride = box->half_plane != 0 ? box->half_plane : box->row * box->rows,
        .feature_words = box->features,
    };
}

void cnnvp_train_load(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t half, uint32_t at,
                      const struct cnnvp_train_box *box)
{
    const struct cnnvp_transfer transfer = transfer_of(box, at);
    const uint32_t status = (uint32_t)buffer << CNNVP_STATUS_request_buffer;
    const enum cnnvp_train_base base = (enum cnnvp_train_base)(CNNVP_TRAIN_BASE_LOAD + 10u * (uint32_t)buffer);
    cnnvp_train_push(guest, CNNVP_OPCODE_request, status, cnnvp_train_bit(half, buffer), base, &transfer,
                     sizeof transfer);
    cnnvp_train_push(guest, CNNVP_OPCODE_receive, status, cnnvp_train_bit(half, buffer), base, &transfer, 0);
}

void cnnvp_train_put(struct cnnvp_guest *guest, uint32_t half, uint32_t at, const struct cnnvp_train_box *box)
{
    struct cnnvp_transfer transfer = transfer_of(box, at);
    transfer.feature_words = 0; /* they leave the chip, so none is live */
    cnnvp_train_push(guest, CNNVP_OPCODE_store, (uint32_t)CNNVP_TRAIN_MIDDLE << CNNVP_STATUS_store_buffer,
                     cnnvp_train_bit(half, CNNVP_TRAIN_MIDDLE), CNNVP_TRAIN_BASE_STORE, &transfer, sizeof transfer);
}

int cnnvp_train_find(struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t address, uint32_t detail,
                     uint32_t images, uint32_t *half)
{
    struct cnnvp_train_slot *slots = guest->train.slots[buffer];
    for (*half = 0; *half < CNNVP_HALVES; ++*half) {
        const struct cnnvp_train_slot *slot = &slots[*half];
        if (slot->valid && slot->address == address && slot->detail == detail && slot->images == images)
            return 1;
    }
    *half = cnnvp_train_next(guest, buffer);
    slots[*half] = (struct cnnvp_train_slot){.valid = 1, .address = address, .detail = detail, .images = images};
    return 0;
}

void cnnvp_train_forget(struct cnnvp_guest *guest)
{
    for (uint32_t half = 0; half < CNNVP_HALVES; ++half)
        guest->train.slots[CNNVP_TRAIN_INPUT][half].valid = guest->train.slots[CNNVP_TRAIN_WEIGHTS][half].valid = 0;
}

/* ---- the module's buffers ---- */

static void push_held(struct cnnvp_guest *guest, enum cnnvp_opcode opcode, enum cnnvp_train_module module,
                      uint32_t offset, uint32_t bytes, uint32_t half)
{
    const struct cnnvp_theld held = {.address = 0, .offset = offset, .bytes = (bytes + 3u) & ~3u};
    cnnvp_train_push(guest, opcode, (uint32_t)module << CNNVP_STATUS_tload_buffer,
                     cnnvp_train_bit(half, CNNVP_TRAIN_MIDDLE), CNNVP_TRAIN_BASE_HELD, &held, sizeof held);
}

/* Bytes of the next piece, which must fit into a half. */
static uint32_t piece_of(const struct cnnvp_guest *guest, uint32_t bytes)
{
    return cnnvp_minimum32(bytes, guest->train.binary->output_half & ~7u);
}

void cnnvp_train_load_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address)
{
    for (uint32_t done = 0; done < bytes;) {
        const uint32_t piece = piece_of(guest, bytes - done);
        const struct cnnvp_train_box box = cnnvp_train_line(address + done, piece);
        const uint32_t half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, 0, &box);
        push_held(guest, CNNVP_OPCODE_tload, module, offset + done, piece, half);
        done += piece;
    }
}

void cnnvp_train_save_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes,
                           uint32_t address)
{
    for (uint32_t done = 0; done < bytes;) {
        const uint32_t piece = piece_of(guest, bytes - done);
        const struct cnnvp_train_box box = cnnvp_train_line(address + done, piece);
        const uint32_t half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
        push_held(guest, CNNVP_OPCODE_tsave, module, offset + done, piece, half);
        cnnvp_train_put(guest, half, 0, &box);
        done += piece;
    }
}

void cnnvp_train_clear_held(struct cnnvp_guest *guest, enum cnnvp_train_module module, uint32_t offset, uint32_t bytes)
{
    push_held(guest, CNNVP_OPCODE_tclear, module, offset, bytes, 0);
}

void cnnvp_train_push_exponents(struct cnnvp_guest *guest, uint32_t status, uint32_t entry, uint32_t entries)
{
    const struct cnnvp_texp exponents = {
        .entry = entry,
        .channels = entries,
        .norm_entry = 0,
        .out_addr = CNNVP_TRAIN_HELD | guest->train.binary->held_exponents,
    };
    cnnvp_train_push(guest, CNNVP_OPCODE_texp, status, 0, CNNVP_TRAIN_BASE_EXP, &exponents, sizeof exponents);
}

/* ---- maps ---- */

/* Box of a cut. Whole maps of an image form one row unless they lie apart in the half. */
static inline struct cnnvp_train_box cut_box(uint32_t address, uint32_t channels, uint32_t map, uint32_t bytes,
                                             int apart, const struct cnnvp_train_cut *cut)
{
    const uint32_t at = address + (cut->image * channels + cut->channel) * map;
    if (bytes == map && !apart)
        return (struct cnnvp_train_box){at, cut->channels * map, cut->images, channels * map, 1, 0, 0, 0, 0};
    return (struct cnnvp_train_box){at, bytes, cut->channels, map, cut->images, channels * map, 0, 0, 0};
}

struct cnnvp_train_box cnnvp_train_maps_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t map, uint32_t bytes,
                                            uint32_t step, const struct cnnvp_train_cut *cut)
{
    const struct cnnvp_train_zones *zones = &guest->train.binary->zones[CNNVP_TRAIN_MIDDLE];
    const int apart = cnnvp_train_has_zones(guest, layer);
    struct cnnvp_train_box box = cut_box(address, channels, map, bytes, apart, cut);
    box.half_row = apart ? step * zones->zone : zones->group;
    box.half_plane = zones->group;
    return box;
}

struct cnnvp_train_box cnnvp_train_sums_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                            uint32_t address, uint32_t channels, uint32_t height, uint32_t width,
                                            uint32_t step, const struct cnnvp_train_cut *cut)
{
    const uint32_t row = width * SUM_BYTES;
    struct cnnvp_train_box box = cnnvp_train_maps_box(
        guest, layer, address + cut->row * row, channels, height * row, cut->rows * row, step, cut);
    box.features = cut->images * cut->channels * cut->rows * width;
    return box;
}

/* A tensor of maps of mantissas in memory. */
struct map {
    struct cnnvp_train_bfp place;
    uint32_t block;
    uint32_t channels, height, width;
    int vectors;
};

static inline struct cnnvp_train_box map_box(const struct cnnvp_guest *guest, const struct map *map, uint32_t image,
                                             const struct cnnvp_train_cut *cut)
{
    const uint32_t row = map->width * guest->train.binary->value_bytes;
    struct cnnvp_train_cut at = *cut;
    at.image = image;
    struct cnnvp_train_box box =
        cut_box(map->place.mantissas + cut->row * row, map->channels, map->height * row, cut->rows * row, 0, &at);
    box.features = cut->images * cut->channels * cut->rows * map->width;
    return box;
}

/* Loads a cut into groups of zones. Vectors begin at groups. Maps take a transfer per zone. */
static void load_zones(struct cnnvp_guest *guest, const struct map *map, const struct cnnvp_train_box *dense,
                       const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t half, uint32_t at)
{
    const struct cnnvp_train_zones *zones = &guest->train.binary->zones[buffer];
    const uint32_t bytes = guest->train.binary->value_bytes;
    const uint32_t row = map->width * bytes;
    const uint32_t plane = map->height * row;
    struct cnnvp_train_box box = *dense;
    box.half_row = zones->group;
    if (map->vectors) {
        cnnvp_train_load(guest, buffer, half, at, &box);
        return;
    }
    box.row = row;
    box.row_stride = ZONES * row;
    box.planes = cut->images * cut->channels; /* one group per image, or per channel of an image */
    box.plane_stride = cut->channels == 1u ? map->channels * plane : plane;
    box.half_row = zones->row * bytes;
    box.half_plane = zones->group;
    for (uint32_t zone = 0; zone < ZONES && zone < cut->rows; ++zone) {
        box.rows = (cut->rows - zone + ZONES - 1u) / ZONES;
        box.features = box.planes * box.rows * map->width;
        cnnvp_train_load(guest, buffer, half, at + zone * zones->zone, &box);
        box.address += row;
    }
}

/* Loads a cut of maps, which is `box` in memory, from byte `at` of a half, into groups of zones if the buffer has
 * them. */
static void load_cut(struct cnnvp_guest *guest, const struct map *map, const struct cnnvp_train_box *box,
                     const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t half, uint32_t at)
{
    if (guest->train.binary->zones[buffer].group == 0)
        cnnvp_train_load(guest, buffer, half, at, box);
    else
        load_zones(guest, map, box, cut, buffer, half, at);
}

static void load_exponents(struct cnnvp_guest *guest, const struct map *map, uint32_t image,
                           const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t half,
                           uint32_t at)
{
    const uint32_t block = map->block;
    const uint32_t first = block == CNNVP_TRAIN_BY_IMAGE ? image : block == CNNVP_TRAIN_BY_CHANNEL ? cut->channel : 0;
    const uint32_t count = block == CNNVP_TRAIN_BY_IMAGE     ? cut->images
                           : block == CNNVP_TRAIN_BY_CHANNEL ? cut->channels
                                                             : 1u;
    const struct cnnvp_train_box box = cnnvp_train_line(map->place.exponents + first, count);
    cnnvp_train_load(guest, buffer, half, at, &box);
}

/* Address of the exponents in a half: after the operand, or in the row that the groups of zones have for them. */
static uint32_t exponents_at(const struct cnnvp_guest *guest, enum cnnvp_train_buffer buffer, uint32_t bytes)
{
    const struct cnnvp_train_zones *zones = &guest->train.binary->zones[buffer];
    return zones->group != 0 ? zones->exponents : cnnvp_train_even(bytes);
}

/* Loads a cut to the start of a half, and its exponents. Returns the exponents' address. */
static uint32_t load_map(struct cnnvp_guest *guest, const struct map *map, const struct cnnvp_train_cut *cut,
                         enum cnnvp_train_buffer buffer, uint32_t *half)
{
    const uint32_t bytes = cut->images * cut->channels * cut->rows * map->width * guest->train.binary->value_bytes;
    const uint32_t exponents = exponents_at(guest, buffer, bytes);
    const struct cnnvp_train_box box = map_box(guest, map, cut->image, cut);
    if (cnnvp_train_find(guest, buffer, box.address, cnnvp_train_pack(cut->channels, cut->rows), cut->images, half))
        return exponents;
    load_cut(guest, map, &box, cut, buffer, *half, 0);
    load_exponents(guest, map, cut->image, cut, buffer, *half, exponents);
    return exponents;
}

uint32_t cnnvp_train_number(const struct cnnvp_guest *guest, uint32_t index)
{
    const struct cnnvp_train *train = &guest->train;
    if (train->step == CNNVP_TRAIN_NO_STEP)
        return train->first + index;
    const uint32_t *order = cnnvp_memory(guest->machine, train->binary->order + (train->first + index) * 4u);
    return *order;
}

/* The same from the data set, where the batch's images lie apart. */
static uint32_t load_images(struct cnnvp_guest *guest, const struct map *map, const struct cnnvp_train_cut *cut,
                            uint32_t *half)
{
    const uint32_t bytes = cut->channels * cut->rows * map->width * guest->train.binary->value_bytes;
    const uint32_t exponents = exponents_at(guest, CNNVP_TRAIN_INPUT, cut->images * bytes);
    const uint32_t group = guest->train.binary->zones[CNNVP_TRAIN_INPUT].group;
    const int by_image = map->block == CNNVP_TRAIN_BY_IMAGE;
    struct cnnvp_train_cut one = *cut;
    one.images = 1;
    /* by places in the step: an image may occur several times in it */
    const struct cnnvp_train_box first = map_box(guest, map, cut->image, &one);
    if (cnnvp_train_find(guest, CNNVP_TRAIN_INPUT, first.address, cnnvp_train_pack(cut->channels, cut->rows),
                         cut->images, half))
        return exponents;
    for (uint32_t i = 0; i < cut->images; ++i) {
        const uint32_t number = cnnvp_train_number(guest, cut->image + i);
        const struct cnnvp_train_box box = map_box(guest, map, number, &one);
        load_cut(guest, map, &box, &one, CNNVP_TRAIN_INPUT, *half, i * (group != 0 ? group : bytes));
        if (by_image || i == 0)
            load_exponents(guest, map, number, &one, CNNVP_TRAIN_INPUT, *half, exponents + i);
    }
    return exponents;
}

uint32_t cnnvp_train_load_inputs(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, uint32_t *half)
{
    struct map map = {layer->in, layer->block, layer->ci, layer->hi, layer->wi, layer->op == CNNVP_TRAIN_FC};
    if (layer != guest->train.layers)
        return load_map(guest, &map, cut, CNNVP_TRAIN_INPUT, half);
    map.place = (struct cnnvp_train_bfp){guest->train.data->mantissas, guest->train.data->exponents};
    return load_images(guest, &map, cut, half);
}

uint32_t cnnvp_train_load_errors(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                 const struct cnnvp_train_cut *cut, enum cnnvp_train_buffer buffer, uint32_t *half)
{
    const struct map map = {layer->error, layer->block, layer->co, layer->ho, layer->wo, layer->op == CNNVP_TRAIN_FC};
    return load_map(guest, &map, cut, buffer, half);
}

uint32_t cnnvp_train_exponent_strides(uint32_t block)
{
    return cnnvp_train_pack(block == CNNVP_TRAIN_BY_IMAGE, block == CNNVP_TRAIN_BY_CHANNEL);
}

/* ---- queries of all layer functions ---- */

int cnnvp_train_adds_float(const struct cnnvp_guest *guest)
{
    return guest->train.binary->value_bytes != 1u || guest->train.binary->block != CNNVP_TRAIN_BY_TENSOR;
}

uint32_t cnnvp_train_format(const struct cnnvp_guest *guest)
{
    return guest->train.binary->rounding | guest->train.binary->mantissa_bits << 8;
}

uint32_t cnnvp_train_seed_of(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                             enum cnnvp_train_what what)
{
    const struct cnnvp_train_binary *binary = guest->train.binary;
    const uint64_t seed = (uint64_t)binary->seed_high << 32 | binary->seed_low;
    const int later = what == CNNVP_TRAIN_SEED_WEIGHT || what == CNNVP_TRAIN_SEED_BIAS;
    return cnnvp_train_seed(seed, guest->train.step + (later ? 1u : 0u), (uint32_t)(layer - guest->train.layers), what);
}

uint32_t cnnvp_train_exponents(const struct cnnvp_guest *guest, uint32_t block, uint32_t channels)
{
    return block == CNNVP_TRAIN_BY_IMAGE ? guest->train.images : block == CNNVP_TRAIN_BY_CHANNEL ? channels : 1u;
}
