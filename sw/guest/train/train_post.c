/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S001's multi-function module on whole maps, forward and backward, batch by batch (Part B 1-27). When the statistics
 * are complete, coefficients and exponents follow from them. Then every tile is loaded again from memory and goes
 * through batch norm, ReLU, quantiser and pool, or through their reverse.
 *
 * Entries of the max-min buffer: a layer with batch norm has its channels' extremes in entries 0 to co - 1, and
 * extremes of errors or images from entry co on. A layer without has the extremes that decide its exponents from entry
 * 0 on. Exponents lie behind all entries.
 */
#include "train.h"

/* 2x2 at stride 2: kx | ky << 8 | sx << 16 | sy << 24. */
#define POOL_2X2 UINT32_C(0x02020202)

/* Goes to the next tile of whole maps. Returns 0 after the last. */
static int next_cut(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                    const struct cnnvp_train_tiles *tiles, struct cnnvp_train_cut *cut)
{
    cut->channel += cut->channels;
    if (cut->channel == layer->co) {
        cut->channel = 0;
        cut->image += cut->images;
    }
    if (cut->image == guest->train.images)
        return 0;
    cut->channels = cnnvp_minimum32(tiles->out, layer->co - cut->channel);
    cut->images = cnnvp_minimum32(tiles->images, guest->train.images - cut->image);
    cut->rows = layer->ho;
    return 1;
}

static uint32_t packed_bytes(uint32_t values, uint32_t width)
{
    return (values * width + 15u) / 16u * 2u;
}

/* Box of a cut of a region [image][channel][bytes] in memory. */
static struct cnnvp_train_box packed_box(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                         const struct cnnvp_train_cut *cut, uint32_t address, uint32_t bytes,
                                         uint32_t step)
{
    struct cnnvp_train_cut whole = *cut;
    whole.row = 0;
    return cnnvp_train_maps_box(guest, layer, address, layer->co, bytes, bytes, step, &whole);
}

/* Number of maps whose regions of one kind are contiguous: one if maps have zones; those of an image if vectors have
 * groups; otherwise all of the cut. */
static uint32_t maps_together(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                              const struct cnnvp_train_cut *cut)
{
    if (cnnvp_train_has_zones(guest, layer))
        return 1;
    return cnnvp_train_image_stride(guest, 0, 1) != 0 ? cut->channels : cut->images * cut->channels;
}

/* End of a region of values that begins at `at`: the zone's end, if there are zones. */
static uint32_t after(const struct cnnvp_guest *guest, uint32_t at, uint32_t bytes)
{
    const uint32_t zone = guest->train.binary->zones[CNNVP_TRAIN_MIDDLE].zone;
    return at + (zone != 0 ? zone : cnnvp_train_region(bytes));
}

static uint32_t held_exponents(const struct cnnvp_guest *guest, uint32_t block, const struct cnnvp_train_cut *cut)
{
    const uint32_t first = block == CNNVP_TRAIN_BY_IMAGE     ? cut->image
                           : block == CNNVP_TRAIN_BY_CHANNEL ? cut->channel
                                                             : 0;
    return CNNVP_TRAIN_HELD | (guest->train.binary->held_exponents + first);
}

static void save_exponents(struct cnnvp_guest *guest, uint32_t block, uint32_t channels, uint32_t address)
{
    cnnvp_train_save_held(guest, CNNVP_TRAIN_EXTREMES, guest->train.binary->held_exponents,
                          cnnvp_train_exponents(guest, block, channels), address);
}

/* Entries where the extremes of blocks are measured: the tile's first one, and strides. */
struct blocks {
    uint32_t entry;
    uint32_t strides;
};

static struct blocks measured(uint32_t block, const struct cnnvp_train_cut *cut, uint32_t base)
{
    const uint32_t by_image = block == CNNVP_TRAIN_BY_IMAGE;
    const uint32_t by_channel = block == CNNVP_TRAIN_BY_CHANNEL;
    return (struct blocks){base + (by_image     ? cut->image
                                   : by_channel ? cut->channel
                                                : 0),
                           cnnvp_train_pack(by_image, by_channel)};
}

static void clear_measured(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, uint32_t block,
                           uint32_t base)
{
    const uint32_t entries = cnnvp_train_exponents(guest, block, layer->co);
    cnnvp_train_clear_held(
        guest, CNNVP_TRAIN_EXTREMES, base * CNNVP_TRAIN_EXTREME_BYTES, entries * CNNVP_TRAIN_EXTREME_BYTES);
}

/* Pushes the computation of exponents from measured extremes. */
static void push_measured(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, uint32_t block,
                          uint32_t base, uint32_t status)
{
    const uint32_t each = block != CNNVP_TRAIN_BY_TENSOR ? 1u << CNNVP_STATUS_texp_each : 0;
    cnnvp_train_push_exponents(guest, status | each, base, cnnvp_train_exponents(guest, block, layer->co));
}

/* ---- forward ---- */

/* 1: batch norm's inputs are parked in the idle half and stored after a tile's results (S001 D-emb, forward 7). */
static int parks(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    return layer->norm && cnnvp_train_has(guest, CNNVP_TRAIN_PARK) && guest->train.step != CNNVP_TRAIN_NO_STEP;
}

int cnnvp_train_keeps_sums(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    return parks(guest, layer) && !cnnvp_train_adds_float(guest);
}

/* Addresses of a tile's regions in its half, forward. */
struct post_places {
    uint32_t values, mask, ids;
};

static struct post_places places_of(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                    const struct cnnvp_train_cut *cut)
{
    const uint32_t maps = maps_together(guest, layer, cut);
    struct post_places places;
    places.values = after(guest, 0, maps * layer->ho * layer->wo * SUM_BYTES);
    places.mask = places.values + cnnvp_train_region(maps * layer->ph * layer->pw * guest->train.binary->value_bytes);
    places.ids = places.mask + cnnvp_train_region(maps * packed_bytes(layer->ho * layer->wo, 1));
    return places;
}

static void push_post(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_cut *cut, uint32_t at, uint32_t half, int measures)
{
    const uint32_t plane = layer->ho * layer->wo;
    const struct post_places places = places_of(guest, layer, cut);
    const struct blocks blocks = measured(layer->out_block, cut, layer->norm ? layer->co : 0);
    const int keeps = guest->train.step != CNNVP_TRAIN_NO_STEP;
    const struct cnnvp_tpost post = {
        .in_addr = at,
        .in_image_stride = cnnvp_train_image_stride(guest, cut->channels * plane, SUM_BYTES),
        .images = cut->images,
        .channels = cut->channels,
        .size = cnnvp_train_pack(layer->wo, layer->ho),
        .scale_addr = CNNVP_TRAIN_HELD | guest->train.binary->held_scale,
        .norm_entry = cut->channel,
        .out_addr = at + places.values,
        .out_image_stride =
            cnnvp_train_image_stride(guest, cut->channels * layer->ph * layer->pw, guest->train.binary->value_bytes),
        .block = measures ? blocks.entry : held_exponents(guest, layer->out_block, cut),
        .block_strides = blocks.strides,
        .mask_addr = at + places.mask,
        .mask_image_stride = cnnvp_train_image_stride(guest, cut->channels * packed_bytes(plane, 1), 1),
        .id_addr = at + places.ids,
        .id_image_stride = cnnvp_train_image_stride(guest, cut->channels * packed_bytes(layer->ph * layer->pw, 2), 1),
        .pool = POOL_2X2,
        .format = cnnvp_train_format(guest),
        .seed = cnnvp_train_seed_of(guest, layer, CNNVP_TRAIN_SEED_ACTIVATION),
        .first = (cut->image * layer->co + cut->channel) * plane,
        .tensor_image_stride = layer->co * plane,
        .park_addr = at,
    };
    uint32_t status = (cnnvp_train_keeps_sums(guest, layer) ? 0 : 1u) << CNNVP_STATUS_tpost_fp32 |
                      layer->norm << CNNVP_STATUS_tpost_norm | layer->relu << CNNVP_STATUS_tpost_relu;
    if (measures)
        status |= 1u << CNNVP_STATUS_tpost_measure;
    else
        status |= layer->pool << CNNVP_STATUS_tpost_pool | (parks(guest, layer) ? 1u : 0u) << CNNVP_STATUS_tpost_park |
                  (keeps && (layer->relu || layer->pool) ? 1u : 0u) << CNNVP_STATUS_tpost_keep;
    cnnvp_train_push(guest, CNNVP_OPCODE_tpost, status, cnnvp_train_middle(half), CNNVP_TRAIN_BASE_POST, &post,
                     sizeof post);
}

/* Stores a tile's results, then what is parked at 0 in the other half, then the matrices. */
static void store_post(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                       const struct cnnvp_train_cut *cut, uint32_t half, const struct cnnvp_train_bfp *out)
{
    const uint32_t pooled = layer->ph * layer->pw;
    const struct post_places places = places_of(guest, layer, cut);
    const struct cnnvp_train_box values = packed_box(
        guest, layer, cut, out->mantissas, pooled * guest->train.binary->value_bytes, CNNVP_TRAIN_POST_ZONES);
    cnnvp_train_put(guest, half, places.values, &values);
    if (guest->train.step == CNNVP_TRAIN_NO_STEP)
        return;
    if (parks(guest, layer)) {
        const struct cnnvp_train_box inputs = cnnvp_train_sums_box(
            guest, layer, layer->sums, layer->co, layer->ho, layer->wo, CNNVP_TRAIN_POST_ZONES, cut);
        cnnvp_train_put(guest, 1u - half, 0, &inputs);
    }
    if (layer->relu) {
        const struct cnnvp_train_box mask = packed_box(
            guest, layer, cut, layer->positive, packed_bytes(layer->ho * layer->wo, 1), CNNVP_TRAIN_POST_ZONES);
        cnnvp_train_put(guest, half, places.mask, &mask);
    }
    if (layer->pool) {
        const struct cnnvp_train_box ids =
            packed_box(guest, layer, cut, layer->positions, packed_bytes(pooled, 2), CNNVP_TRAIN_POST_ZONES);
        cnnvp_train_put(guest, half, places.ids, &ids);
    }
}

enum sweep { SWEEP_SQUARES, SWEEP_MEASURE, SWEEP_QUANTISE };

static void push_squares(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                         const struct cnnvp_train_cut *cut, uint32_t at, uint32_t half)
{
    const uint32_t plane = layer->ho * layer->wo;
    const struct cnnvp_tstat stat = {
        .in_addr = at,
        .in_image_stride = cnnvp_train_image_stride(guest, cut->channels * plane, SUM_BYTES),
        .images = cut->images,
        .channels = cut->channels,
        .size = cnnvp_train_pack(layer->wo, layer->ho),
        .scale_addr = CNNVP_TRAIN_HELD | guest->train.binary->held_scale,
        .format = cnnvp_train_format(guest),
        .entry = cut->channel,
        .entry_strides = cnnvp_train_pack(0, 1),
        .first = cut->image * plane,
        .map = plane,
    };
    const uint32_t is_float = cnnvp_train_keeps_sums(guest, layer) ? 0 : 1u;
    cnnvp_train_push(guest, CNNVP_OPCODE_tstat, is_float << CNNVP_STATUS_tstat_fp32 | 1u << CNNVP_STATUS_tstat_squares,
                     cnnvp_train_middle(half), CNNVP_TRAIN_BASE_STAT, &stat, sizeof stat);
}

/* Loads every tile of sums and processes it. A tile's stores follow the loads of the next tile. */
static void sweep_forward(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, enum sweep sweep,
                          const struct cnnvp_train_bfp *out)
{
    struct cnnvp_train_cut cut = {0};
    struct cnnvp_train_cut before = {0};
    uint32_t half_before = 0;
    const int alone = guest->train.binary->output_halves == 1u || parks(guest, layer);
    while (next_cut(guest, layer, &layer->post, &cut)) {
        const struct cnnvp_train_box box = cnnvp_train_sums_box(
            guest, layer, layer->sums, layer->co, layer->ho, layer->wo, CNNVP_TRAIN_POST_ZONES, &cut);
        const uint32_t half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, 0, &box);
        if (before.images != 0)
            store_post(guest, layer, &before, half_before, out);
        struct cnnvp_train_cut part = cnnvp_train_first_part(guest, layer, &cut);
        uint32_t at = 0;
        do {
            if (sweep == SWEEP_SQUARES)
                push_squares(guest, layer, &part, at, half);
            else
                push_post(guest, layer, &part, at, half, sweep == SWEEP_MEASURE);
        } while (cnnvp_train_next_part(guest, &cut, CNNVP_TRAIN_POST_ZONES, &part, &at));
        if (sweep == SWEEP_QUANTISE && alone) {
            store_post(guest, layer, &cut, half, out);
        } else if (sweep == SWEEP_QUANTISE) {
            before = cut;
            half_before = half;
        }
    }
    if (before.images != 0)
        store_post(guest, layer, &before, half_before, out);
}

/* Form of tcoef: 0 range, 1 standard, 2 stored statistics, if nothing is learned. */
static uint32_t form_of(const struct cnnvp_guest *guest)
{
    if (guest->train.step == CNNVP_TRAIN_NO_STEP)
        return 2;
    return cnnvp_train_has(guest, CNNVP_TRAIN_STANDARD_BN) ? 1 : 0;
}

static void push_coefficients(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, int back)
{
    const struct cnnvp_tcoef coefficients = {
        .channels = layer->co,
        .epsilon = layer->epsilon,
        .running = guest->train.step != CNNVP_TRAIN_NO_STEP ? guest->train.binary->bn_momentum : 0,
    };
    cnnvp_train_push(guest, CNNVP_OPCODE_tcoef,
                     form_of(guest) << CNNVP_STATUS_tcoef_form | (back ? 1u : 0u) << CNNVP_STATUS_tcoef_back, 0,
                     CNNVP_TRAIN_BASE_COEF, &coefficients, sizeof coefficients);
}

static void save_norm(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    cnnvp_train_save_held(guest, CNNVP_TRAIN_NORMS, 0, layer->co * CNNVP_TRAIN_NORM_BYTES, layer->norm_entries);
}

void cnnvp_train_post(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_bfp *out)
{
    const uint32_t block = layer->out_block;
    const uint32_t relu = layer->relu << CNNVP_STATUS_texp_relu;
    if (layer->norm && form_of(guest) == 1)
        sweep_forward(guest, layer, SWEEP_SQUARES, out);
    if (layer->norm)
        push_coefficients(guest, layer, 0);
    if (!layer->norm) {
        push_measured(guest, layer, block, 0, relu);
    } else if (block == CNNVP_TRAIN_BY_IMAGE) {
        clear_measured(guest, layer, block, layer->co);
        sweep_forward(guest, layer, SWEEP_MEASURE, out);
        push_measured(guest, layer, block, layer->co, 0);
    } else {
        const uint32_t each = block == CNNVP_TRAIN_BY_CHANNEL;
        cnnvp_train_push_exponents(
            guest, 1u << CNNVP_STATUS_texp_map | relu | each << CNNVP_STATUS_texp_each, 0, layer->co);
    }
    save_exponents(guest, block, layer->co, out->exponents);
    sweep_forward(guest, layer, SWEEP_QUANTISE, out);
    if (layer->norm && guest->train.step != CNNVP_TRAIN_NO_STEP) {
        save_norm(guest, layer);
        cnnvp_train_save_held(guest, CNNVP_TRAIN_EXTREMES, 0, layer->co * CNNVP_TRAIN_EXTREME_BYTES,
                              layer->extreme_entries);
    }
}

/* ---- softmax ---- */

static void load_labels(struct cnnvp_guest *guest, const struct cnnvp_train_cut *cut, uint32_t half, uint32_t at)
{
    for (uint32_t i = 0; i < cut->images; ++i) {
        const struct cnnvp_train_box box =
            cnnvp_train_line(guest->train.data->labels + cnnvp_train_number(guest, cut->image + i) * 4u, 4);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, at + i * 4u, &box);
    }
}

static struct cnnvp_train_box classes_box(uint32_t address, uint32_t classes, const struct cnnvp_train_cut *cut)
{
    const uint32_t row = classes * SUM_BYTES;
    return (struct cnnvp_train_box){
        address + cut->image * row, row, cut->images, row, 1, 0, cut->images * classes, 0, 0};
}

static void classify_group(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                           const struct cnnvp_train_cut *cut)
{
    const struct cnnvp_train *train = &guest->train;
    const int learns = train->step != CNNVP_TRAIN_NO_STEP;
    const uint32_t classes = layer->co;
    const uint32_t record = cnnvp_train_record_bytes(classes);
    const struct cnnvp_train_class_places places = cnnvp_train_class_places(cut->images, classes);
    const uint32_t half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
    const struct cnnvp_train_box box = classes_box(layer->sums, classes, cut);
    const int short_step = learns && train->images != train->binary->batch;
    const int by_image = layer->block == CNNVP_TRAIN_BY_IMAGE;
    cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, 0, &box);
    if (train->data->outputs != 0) {
        const struct cnnvp_train_box kept =
            classes_box(train->data->outputs + train->first * classes * SUM_BYTES, classes, cut);
        cnnvp_train_put(guest, half, 0, &kept);
    }
    if (train->binary->tag_softmax == 0)
        return;
    if (train->data->labels != 0)
        load_labels(guest, cut, half, places.labels);
    const struct cnnvp_tsoftmax softmax = {
        .in_image_stride = classes,
        .images = cut->images,
        .classes = classes,
        .format = cnnvp_train_format(guest),
        .label_addr = places.labels,
        .factor = short_step ? train->binary->factor_last : train->binary->factor,
        .out_addr = places.gradient,
        .out_image_stride = classes,
        .entry = by_image ? cut->image : 0,
        .entry_image_stride = (uint32_t)by_image,
    };
    cnnvp_train_push(
        guest, CNNVP_OPCODE_tsoftmax,
        1u << CNNVP_STATUS_tsoftmax_fp32 | (train->data->labels != 0 ? 1u : 0u) << CNNVP_STATUS_tsoftmax_gradient,
        cnnvp_train_middle(half), CNNVP_TRAIN_BASE_SOFTMAX, &softmax, sizeof softmax);
    const struct cnnvp_theld held = {.address = places.records, .bytes = cut->images * record};
    cnnvp_train_push(guest, CNNVP_OPCODE_tsave, (uint32_t)CNNVP_TRAIN_RECORDS << CNNVP_STATUS_tsave_buffer,
                     cnnvp_train_middle(half), CNNVP_TRAIN_BASE_HELD, &held, sizeof held);
    const uint32_t first = learns ? 0 : train->first;
    const struct cnnvp_train_box results =
        cnnvp_train_line(train->data->results + (first + cut->image) * record, cut->images * record);
    cnnvp_train_put(guest, half, places.records, &results);
    if (learns) {
        const struct cnnvp_train_box back = classes_box(layer->back, classes, cut);
        cnnvp_train_put(guest, half, places.gradient, &back);
    }
}

void cnnvp_train_classify(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    const uint32_t arrays = guest->train.binary->arrays;
    const uint32_t tag = guest->train.binary->tag_softmax;
    cnnvp_element_layer(&guest->element, tag != 0 ? tag : layer->tag_forward);
    clear_measured(guest, layer, layer->block, 0);
    for (uint32_t image = 0; image < guest->train.images; image += arrays) {
        const struct cnnvp_train_cut cut = {
            .image = image,
            .images = cnnvp_minimum32(arrays, guest->train.images - image),
            .channels = layer->co,
            .rows = 1,
        };
        classify_group(guest, layer, &cut);
    }
}

/* ---- backward ---- */

/* Purpose of a backward sweep: reduce the errors to statistics, measure their extremes, or quantise them. */
enum back_sweep { BACK_REDUCE, BACK_MEASURE, BACK_QUANTISE };

/* Addresses of a tile's regions in its half, backward. */
struct back_places {
    uint32_t x, mask, ids, out;
};

static struct back_places back_places_of(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                                         const struct cnnvp_train_cut *cut)
{
    const uint32_t maps = maps_together(guest, layer, cut);
    struct back_places places;
    places.x = after(guest, 0, maps * layer->ph * layer->pw * SUM_BYTES);
    places.mask = layer->norm ? after(guest, places.x, maps * layer->ho * layer->wo * SUM_BYTES) : places.x;
    places.ids = places.mask + (layer->relu ? cnnvp_train_region(maps * packed_bytes(layer->ho * layer->wo, 1)) : 0);
    places.out = places.ids + (layer->pool ? cnnvp_train_region(maps * packed_bytes(layer->ph * layer->pw, 2)) : 0);
    return places;
}

static void load_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_cut *cut, uint32_t half)
{
    const struct back_places places = back_places_of(guest, layer, cut);
    struct cnnvp_train_cut pooled = *cut;
    pooled.rows = layer->ph;
    const struct cnnvp_train_box errors = cnnvp_train_sums_box(
        guest, layer, layer->back, layer->co, layer->ph, layer->pw, CNNVP_TRAIN_BACK_ZONES, &pooled);
    cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, 0, &errors);
    if (layer->norm) {
        const struct cnnvp_train_box x = cnnvp_train_sums_box(
            guest, layer, layer->sums, layer->co, layer->ho, layer->wo, CNNVP_TRAIN_BACK_ZONES, cut);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, places.x, &x);
    }
    if (layer->relu) {
        const struct cnnvp_train_box mask = packed_box(
            guest, layer, cut, layer->positive, packed_bytes(layer->ho * layer->wo, 1), CNNVP_TRAIN_BACK_ZONES);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, places.mask, &mask);
    }
    if (layer->pool) {
        const struct cnnvp_train_box ids = packed_box(
            guest, layer, cut, layer->positions, packed_bytes(layer->ph * layer->pw, 2), CNNVP_TRAIN_BACK_ZONES);
        cnnvp_train_load(guest, CNNVP_TRAIN_MIDDLE, half, places.ids, &ids);
    }
}

static uint32_t back_status(const struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                            enum back_sweep sweep, int last)
{
    const int is_float = last || cnnvp_train_adds_float(guest);
    return (is_float ? 1u : 0u) << CNNVP_STATUS_tpostback_fp32 | layer->norm << CNNVP_STATUS_tpostback_norm |
           layer->relu << CNNVP_STATUS_tpostback_relu | layer->pool << CNNVP_STATUS_tpostback_pool |
           (sweep == BACK_REDUCE ? 1u : 0u) << CNNVP_STATUS_tpostback_reduce |
           (sweep == BACK_MEASURE ? 1u : 0u) << CNNVP_STATUS_tpostback_measure;
}

static void push_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                      const struct cnnvp_train_cut *cut, uint32_t at, uint32_t half, enum back_sweep sweep, int last)
{
    const uint32_t plane = layer->ho * layer->wo;
    const struct back_places places = back_places_of(guest, layer, cut);
    struct blocks blocks = measured(layer->block, cut, layer->norm ? layer->co : 0);
    if (sweep == BACK_REDUCE && layer->norm)
        blocks = (struct blocks){layer->co + cut->channel, cnnvp_train_pack(0, 1)};
    const struct cnnvp_tpostback back = {
        .in_addr = at,
        .in_image_stride = cnnvp_train_image_stride(guest, cut->channels * layer->ph * layer->pw, SUM_BYTES),
        .images = cut->images,
        .channels = cut->channels,
        .size = cnnvp_train_pack(layer->wo, layer->ho),
        .scale_addr = CNNVP_TRAIN_HELD | guest->train.binary->held_back,
        .x_addr = at + places.x,
        .x_image_stride = cnnvp_train_image_stride(guest, cut->channels * plane, SUM_BYTES),
        .norm_entry = cut->channel,
        .out_addr = at + places.out,
        .out_image_stride = cnnvp_train_image_stride(guest, cut->channels * plane, guest->train.binary->value_bytes),
        .block = sweep == BACK_QUANTISE ? held_exponents(guest, layer->block, cut) : blocks.entry,
        .block_strides = blocks.strides,
        .mask_addr = at + places.mask,
        .mask_image_stride = cnnvp_train_image_stride(guest, cut->channels * packed_bytes(plane, 1), 1),
        .id_addr = at + places.ids,
        .id_image_stride = cnnvp_train_image_stride(guest, cut->channels * packed_bytes(layer->ph * layer->pw, 2), 1),
        .pool = POOL_2X2,
        .format = guest->train.binary->error_rounding | guest->train.binary->mantissa_bits << 8,
        .seed = cnnvp_train_seed_of(guest, layer, CNNVP_TRAIN_SEED_ERROR),
        .first = (cut->image * layer->co + cut->channel) * plane,
        .tensor_image_stride = layer->co * plane,
        .first_value = cut->image * plane,
    };
    cnnvp_train_push(guest, CNNVP_OPCODE_tpostback, back_status(guest, layer, sweep, last), cnnvp_train_middle(half),
                     CNNVP_TRAIN_BASE_BACK, &back, sizeof back);
}

static void store_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer,
                       const struct cnnvp_train_cut *cut, uint32_t half)
{
    const struct cnnvp_train_box box =
        packed_box(guest, layer, cut, layer->error.mantissas, layer->ho * layer->wo * guest->train.binary->value_bytes,
                   CNNVP_TRAIN_BACK_ZONES);
    cnnvp_train_put(guest, half, back_places_of(guest, layer, cut).out, &box);
}

static void sweep_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, enum back_sweep sweep,
                       int last)
{
    struct cnnvp_train_cut cut = {0};
    struct cnnvp_train_cut before = {0};
    uint32_t half_before = 0;
    const int alone = guest->train.binary->output_halves == 1u;
    while (next_cut(guest, layer, &layer->back_tiles, &cut)) {
        const uint32_t half = cnnvp_train_next(guest, CNNVP_TRAIN_MIDDLE);
        load_back(guest, layer, &cut, half);
        if (before.images != 0)
            store_back(guest, layer, &before, half_before);
        struct cnnvp_train_cut part = cnnvp_train_first_part(guest, layer, &cut);
        uint32_t at = 0;
        do
            push_back(guest, layer, &part, at, half, sweep, last);
        while (cnnvp_train_next_part(guest, &cut, CNNVP_TRAIN_BACK_ZONES, &part, &at));
        if (sweep == BACK_QUANTISE && alone) {
            store_back(guest, layer, &cut, half);
        } else if (sweep == BACK_QUANTISE) {
            before = cut;
            half_before = half;
        }
    }
    if (before.images != 0)
        store_back(guest, layer, &before, half_before);
}

/* Computes the exponents of the errors. A further sweep measures extremes for standard batch norm, whose backward pass
 * cannot map them, and for blocks by image, which need extremes of their own. */
static void choose_back_exponents(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, int last)
{
    const uint32_t block = layer->block;
    if (!layer->norm) {
        push_measured(guest, layer, block, 0, 0);
    } else if (block == CNNVP_TRAIN_BY_IMAGE || form_of(guest) == 1) {
        clear_measured(guest, layer, block, layer->co);
        sweep_back(guest, layer, BACK_MEASURE, last);
        push_measured(guest, layer, block, layer->co, 0);
    } else {
        const uint32_t each = block == CNNVP_TRAIN_BY_CHANNEL;
        cnnvp_train_push_exponents(
            guest, 1u << CNNVP_STATUS_texp_back | each << CNNVP_STATUS_texp_each, layer->co, layer->co);
    }
}

void cnnvp_train_post_back(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer, int last)
{
    const uint32_t extremes = layer->co * CNNVP_TRAIN_EXTREME_BYTES;
    const int known = last && layer->block != CNNVP_TRAIN_BY_CHANNEL; /* the softmax module has measured the extremes */
    if (layer->norm) {
        cnnvp_train_load_held(guest, CNNVP_TRAIN_NORMS, 0, layer->co * CNNVP_TRAIN_NORM_BYTES, layer->norm_entries);
        cnnvp_train_load_held(guest, CNNVP_TRAIN_EXTREMES, 0, extremes, layer->extreme_entries);
        cnnvp_train_clear_held(guest, CNNVP_TRAIN_EXTREMES, extremes, extremes);
    } else if (!known) {
        clear_measured(guest, layer, layer->block, 0);
    }
    if (!known)
        sweep_back(guest, layer, BACK_REDUCE, last);
    if (layer->norm)
        push_coefficients(guest, layer, 1);
    choose_back_exponents(guest, layer, last);
    save_exponents(guest, layer->block, layer->co, layer->error.exponents);
    sweep_back(guest, layer, BACK_QUANTISE, last);
    if (!layer->norm)
        return;
    const struct cnnvp_tbnupdate update = {
        .channels = layer->co,
        .rate = guest->train.binary->rate,
        .momentum = guest->train.binary->momentum,
    };
    cnnvp_element_layer(&guest->element, layer->tag_gradient);
    cnnvp_train_push(guest, CNNVP_OPCODE_tbnupdate,
                     (guest->train.binary->momentum != 0 ? 1u : 0u) << CNNVP_STATUS_tbnupdate_momentum, 0,
                     CNNVP_TRAIN_BASE_NORM_UPDATE, &update, sizeof update);
    save_norm(guest, layer);
    cnnvp_element_layer(&guest->element, layer->tag_backward);
}
