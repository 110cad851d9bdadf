/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a command into a checked tile. A guest can write any value into the descriptor registers, so nothing is used
 * before it is checked here. All sizes are bounded so that no later product overflows 64 bits.
 */
#include "train_tile.h"
#include "cnnvp_integer.h"

#define CNNVP_FIELDS struct cnnvp_train_tile
#include "unit/descriptor.h"

CNNVP_DESCRIPTOR(TCONV, conv);
CNNVP_DESCRIPTOR(TGRADIENT, gradient);
CNNVP_DESCRIPTOR(TMATMUL, matmul);
CNNVP_DESCRIPTOR(TOUTER, outer);

/* All six instructions have the same status fields. */
enum {
    STATUS_ACCUMULATE = 1u << CNNVP_STATUS_tforward_accumulate,
    STATUS_FP32 = 1u << CNNVP_STATUS_tforward_fp32,
    STATUS_BIAS = 1u << CNNVP_STATUS_tforward_bias
};

#define PLANES_LIMIT (UINT64_C(1) << 28)

/* a * b, limited to 2^40. Sums of a few such products stay far below 2^64, and 2^40 is above every limit. */
static uint64_t bounded(uint64_t a, uint64_t b)
{
    const uint64_t limit = UINT64_C(1) << 40;
    return b != 0 && a > limit / b ? limit : a * b;
}

/* ---- checks ---- */

/* Sets 1x1 maps and kernels before the descriptor is read. */
static void make_connected(struct cnnvp_train_tile *tile)
{
    tile->connected = true;
    tile->in_h = tile->in_w = tile->out_h = tile->out_w = 1u;
    tile->kx = tile->ky = tile->sx = tile->sy = 1u;
    tile->in_row_stride = tile->in_channel_stride = 1u;
    tile->error_row_stride = tile->error_channel_stride = tile->out_channel_stride = 1u;
}

/* With `bias`, the first operand is a channel of ones that lies in no buffer (Part B 0-8). */
static const char *read_as_ones(struct cnnvp_train_tile *tile)
{
    if (!tile->bias)
        return NULL;
    if (tile->in_channels != 1u)
        return "a bias has one input channel";
    tile->in_addr = 0;
    tile->in_row_stride = tile->in_channel_stride = tile->in_image_stride = 0;
    tile->in_exp_addr = 0;
    tile->in_exp_image_stride = tile->in_exp_channel_stride = 0;
    return NULL;
}

/* With zones, each map of an image (in gradients of a channel) has its own group of three zones (Part B 1-8). */
static const char *read_zones(const struct cnnvp_train_shape *shape, struct cnnvp_train_tile *tile)
{
    if (!shape->zones || tile->connected)
        return NULL;
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint64_t group = tile->bias ? 0 : gradient ? tile->in_channel_stride : tile->in_image_stride;
    if (group % CNNVP_TRAIN_ZONES != 0 || tile->error_channel_stride % CNNVP_TRAIN_ZONES != 0)
        return "with zones the groups of maps are three zones apart";
    if (!tile->bias && (gradient ? tile->images : tile->in_channels) != 1u)
        return "with zones a command takes a channel of the images, in gradients an image's channels";
    tile->in_zone_stride = group / CNNVP_TRAIN_ZONES;
    tile->error_zone_stride = tile->error_channel_stride / CNNVP_TRAIN_ZONES;
    return NULL;
}

/* Values from the first row to the start of the last one; for a map in zones, up to the last zone. */
static uint64_t rows_span(uint64_t rows, uint64_t row_stride, uint64_t zone_stride)
{
    const uint64_t zones = zone_stride == 0 ? 1u : CNNVP_TRAIN_ZONES;
    return bounded(cnnvp_minimum(rows, zones) - 1u, zone_stride) + bounded((rows - 1u) / zones, row_stride);
}

static const char *check_operands(struct cnnvp_train_tile *tile)
{
    const uint64_t taps = bounded(tile->kx, tile->ky);
    tile->in_span =
        bounded(tile->images - 1u, tile->in_image_stride) + bounded(tile->in_channels - 1u, tile->in_channel_stride) +
        rows_span(tile->in_h, tile->in_row_stride, tile->in_zone_stride) + tile->in_w;
    if (tile->kind == CNNVP_TRAIN_GRADIENT) {
        tile->second_span = bounded(tile->images - 1u, tile->error_image_stride) +
                            bounded(tile->out_channels - 1u, tile->error_channel_stride) +
                            rows_span(tile->out_h, tile->error_row_stride, tile->error_zone_stride) + tile->out_w;
    } else {
        const bool error = tile->kind == CNNVP_TRAIN_ERROR;
        tile->second_span = bounded(bounded(tile->in_channels, tile->out_channels), taps);
        tile->w_in_stride = error ? bounded(tile->out_channels, taps) : taps;
        tile->w_out_stride = error ? taps : bounded(tile->in_channels, taps);
    }
    if (tile->in_span > CNNVP_TRAIN_MAX_SPAN || tile->second_span > CNNVP_TRAIN_MAX_SPAN)
        return "an operand spans at most 2^27 mantissas";
    const bool spread = tile->kind == CNNVP_TRAIN_ERROR;
    const uint64_t rows = bounded(tile->out_h - 1u, spread ? 1u : tile->sy) + tile->ky;
    const uint64_t cols = bounded(tile->out_w - 1u, spread ? 1u : tile->sx) + tile->kx;
    if (bounded(bounded(tile->images, tile->in_channels), bounded(rows, cols)) > PLANES_LIMIT)
        return "the maps of the first operand with their borders have at most 2^28 positions";
    return NULL;
}

static const char *check_results(struct cnnvp_train_tile *tile)
{
    const uint64_t gradients = bounded(tile->in_channels, bounded(tile->kx, tile->ky));
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    const uint64_t channels = tile->out_channels - 1u;
    const uint64_t images = tile->images - 1u;
    uint64_t results;
    bool apart;
    if (tile->kind == CNNVP_TRAIN_GRADIENT) {
        tile->out_span = bounded(channels, tile->out_channel_stride) + gradients;
        apart = channels == 0 || tile->out_channel_stride >= gradients;
        results = bounded(tile->out_channels, gradients);
    } else {
        const uint64_t image = bounded(channels, tile->out_channel_stride) + area;
        tile->out_span = bounded(images, tile->out_image_stride) + image;
        apart = (channels == 0 || tile->out_channel_stride >= area) && (images == 0 || tile->out_image_stride >= image);
        results = bounded(bounded(tile->images, tile->out_channels), area);
    }
    if (!apart)
        return "results of different channels and images do not overlap";
    if (results > CNNVP_TRAIN_MAX_RESULTS || tile->out_span > CNNVP_TRAIN_MAX_SPAN)
        return "a command has at most 2^24 results within 2^27 sums";
    return NULL;
}

/* Checks that the terms of a sum share their exponents, unless the results are binary32. */
static const char *check_exponents(struct cnnvp_train_tile *tile)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint32_t parts = gradient ? tile->images : tile->in_channels;
    const uint32_t in_part = gradient ? tile->in_exp_image_stride : tile->in_exp_channel_stride;
    if (!tile->to_float && parts > 1u && (in_part != 0 || tile->second_exp_part_stride != 0))
        return "sums of terms with different exponents are for .fp32";
    tile->in_exps = (uint64_t)(tile->images - 1u) * tile->in_exp_image_stride +
                    (uint64_t)(tile->in_channels - 1u) * tile->in_exp_channel_stride + 1u;
    tile->second_exps = (uint64_t)(tile->out_channels - 1u) * tile->second_exp_channel_stride +
                        (uint64_t)(parts - 1u) * tile->second_exp_part_stride + 1u;
    if (tile->in_exps > CNNVP_TRAIN_MAX_SPAN || tile->second_exps > CNNVP_TRAIN_MAX_SPAN)
        return "exponents span at most 2^27 bytes";
    const uint32_t in_own = gradient ? tile->in_exp_channel_stride : tile->in_exp_image_stride;
    const uint64_t ins = in_own == 0 ? 1u : gradient ? tile->in_channels : tile->images;
    tile->out_exps = tile->to_float ? 0 : ins * (tile->second_exp_channel_stride != 0 ? tile->out_channels : 1u);
    if (tile->out_exps > CNNVP_TRAIN_MAX_SPAN)
        return "at most 2^27 scales";
    return NULL;
}

static const char *check_addresses(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile)
{
    const bool wide = cnnvp_train_is_wide(shape);
    if (wide && (tile->in_addr % 4u != 0 || tile->second_addr % 4u != 0))
        return "mantissas of more than 8 bits must be aligned to 4";
    if (wide && !tile->to_float && tile->out_addr % 8u != 0)
        return "results must be aligned to their size";
    return NULL;
}

/* Checks that exact sums fit into 64 bits. */
static const char *check_width(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile)
{
    const uint64_t terms = tile->kind == CNNVP_TRAIN_GRADIENT
                               ? bounded(tile->images, (uint64_t)tile->out_h * tile->out_w)
                               : bounded(tile->in_channels, bounded(tile->kx, tile->ky));
    if (terms > UINT64_C(1) << 24 || terms > UINT64_C(1) << (62u - 2u * (shape->mantissa_bits - 1u)))
        return "a sum has at most 2^24 terms, and fits into 63 bits";
    return NULL;
}

/* ---- commands ---- */

static const char *read_command(const struct cnnvp_command *command, struct cnnvp_train_tile *tile)
{
#define FORM(mnemonic, kind, descriptor)                                                                    \
    {                                                                                                       \
#mnemonic, CNNVP_OPCODE_##mnemonic, CNNVP_STATUS_MASK_##mnemonic, CNNVP_TRAIN_##kind, &(descriptor) \
    }
    static const struct {
        const char *name;
        uint32_t opcode, mask;
        enum cnnvp_train_kind kind;
        const struct cnnvp_descriptor *descriptor;
    } forms[] = {FORM(tforward, FORWARD, conv),  FORM(terror, ERROR, conv),  FORM(tgradient, GRADIENT, gradient),
                 FORM(tmatmul, FORWARD, matmul), FORM(tback, ERROR, matmul), FORM(touter, GRADIENT, outer)};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].opcode != command->opcode)
            continue;
        tile->name = forms[i].name;
        tile->kind = forms[i].kind;
        if (forms[i].descriptor == &matmul || forms[i].descriptor == &outer)
            make_connected(tile);
        const uint32_t uses = (tile->bias ? 0u : CNNVP_USES_INPUT) | (tile->to_float ? 0u : CNNVP_USES_SCALES);
        const char *wrong =
            cnnvp_descriptor_read(forms[i].descriptor, command, forms[i].mask, uses, tile, tile->refusal);
        if (wrong == NULL && (tile->px >= tile->kx || tile->py >= tile->ky))
            wrong = "the padding is smaller than the kernel";
        return wrong;
    }
    return "tforward, terror, tgradient, tmatmul, tback or touter";
}

int cnnvp_train_decode(const struct cnnvp_train_shape *shape, const struct cnnvp_command *command,
                       struct cnnvp_train_tile *tile, const char **reason)
{
    *tile = (struct cnnvp_train_tile){
        .tag = command->tag,
        .in_half = (command->halves & CNNVP_HALF_INPUT) != 0,
        .second_half = (command->halves & CNNVP_HALF_WEIGHT) != 0,
        .out_half = (command->halves & CNNVP_HALF_OUTPUT) != 0,
        .accumulate = (command->status & STATUS_ACCUMULATE) != 0,
        .to_float = (command->status & STATUS_FP32) != 0,
        .bias = (command->status & STATUS_BIAS) != 0,
    };
    *reason = read_command(command, tile);
    if (*reason == NULL)
        *reason = read_as_ones(tile);
    if (*reason == NULL)
        *reason = read_zones(shape, tile);
    if (*reason == NULL)
        *reason = check_operands(tile);
    if (*reason == NULL)
        *reason = check_results(tile);
    if (*reason == NULL)
        *reason = check_exponents(tile);
    if (*reason == NULL)
        *reason = check_width(shape, tile);
    if (*reason == NULL)
        *reason = check_addresses(shape, tile);
    return *reason == NULL ? CNNVP_OK : CNNVP_E_INVAL;
}
