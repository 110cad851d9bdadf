/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command to a checked tile. A guest can write any value into the descriptor registers: nothing is used
 * before it is checked here, and all sizes are bounded so that no later product overflows 64 bits.
 */
#include "train_tile.h"
#include "cnnvp_integer.h"

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    OP_##mnemonic = (code), MASK_##mnemonic = (status_mask),
#include "instruction/opcodes.def"
};

/* The status fields are the same for all six. */
enum { STATUS_ACCUMULATE = 1u << 0, STATUS_FP32 = 1u << 1, STATUS_BIAS = 1u << 2 };

#include "instruction/descriptors.def"
#define REGISTER_TCONV(name, help) TCONV_##name,
#define REGISTER_TGRADIENT(name, help) TGRADIENT_##name,
#define REGISTER_TMATMUL(name, help) TMATMUL_##name,
#define REGISTER_TOUTER(name, help) TOUTER_##name,
enum { CNNVP_DESCRIPTOR_TCONV(REGISTER_TCONV) TCONV_COUNT };
enum { CNNVP_DESCRIPTOR_TGRADIENT(REGISTER_TGRADIENT) TGRADIENT_COUNT };
enum { CNNVP_DESCRIPTOR_TMATMUL(REGISTER_TMATMUL) TMATMUL_COUNT };
enum { CNNVP_DESCRIPTOR_TOUTER(REGISTER_TOUTER) TOUTER_COUNT };
_Static_assert((int)TGRADIENT_COUNT <= (int)CNNVP_DESCRIPTOR_MAX && (int)TCONV_COUNT <= (int)CNNVP_DESCRIPTOR_MAX,
               "a command carries every descriptor form");

#define ADDRESS_LIMIT (UINT32_C(1) << 31)
#define SIZE_LIMIT UINT32_C(0xffff)
#define PLANES_LIMIT (UINT64_C(1) << 28)

static uint32_t low16(uint32_t packed)
{
    return packed & 0xffffu;
}

static uint32_t high16(uint32_t packed)
{
    return packed >> 16;
}

static int refuse(const char **reason, const char *text)
{
    *reason = text;
    return CNNVP_E_INVAL;
}

/* a * b, or 2^40 where it is more: sums of a few of them stay far below 2^64 and above every limit. */
static uint64_t bounded(uint64_t a, uint64_t b)
{
    const uint64_t limit = UINT64_C(1) << 40;
    return b != 0 && a > limit / b ? limit : a * b;
}

/* ---- descriptors ---- */

static void read_conv(const uint32_t *d, struct cnnvp_train_tile *tile)
{
    tile->in_addr = d[TCONV_in_addr];
    tile->in_row_stride = d[TCONV_in_row_stride];
    tile->in_channel_stride = d[TCONV_in_channel_stride];
    tile->in_image_stride = d[TCONV_in_image_stride];
    tile->in_w = low16(d[TCONV_in_size]);
    tile->in_h = high16(d[TCONV_in_size]);
    tile->images = d[TCONV_images];
    tile->in_channels = d[TCONV_in_channels];
    tile->out_channels = d[TCONV_out_channels];
    tile->out_w = low16(d[TCONV_out_size]);
    tile->out_h = high16(d[TCONV_out_size]);
    tile->kx = low16(d[TCONV_kernel]);
    tile->ky = high16(d[TCONV_kernel]);
    tile->sx = low16(d[TCONV_stride]);
    tile->sy = high16(d[TCONV_stride]);
    tile->px = low16(d[TCONV_pad]);
    tile->py = high16(d[TCONV_pad]);
    tile->second_addr = d[TCONV_weight_addr];
    tile->out_addr = d[TCONV_out_addr];
    tile->out_channel_stride = d[TCONV_out_channel_stride];
    tile->out_image_stride = d[TCONV_out_image_stride];
    tile->in_exp_addr = d[TCONV_in_exp_addr];
    tile->in_exp_image_stride = low16(d[TCONV_in_exp_strides]);
    tile->in_exp_channel_stride = high16(d[TCONV_in_exp_strides]);
    tile->second_exp_addr = d[TCONV_weight_exp_addr];
    tile->second_exp_channel_stride = low16(d[TCONV_weight_exp_strides]);
    tile->second_exp_part_stride = high16(d[TCONV_weight_exp_strides]);
    tile->out_exp_addr = d[TCONV_out_exp_addr];
}

static void read_gradient(const uint32_t *d, struct cnnvp_train_tile *tile)
{
    tile->in_addr = d[TGRADIENT_in_addr];
    tile->in_row_stride = d[TGRADIENT_in_row_stride];
    tile->in_channel_stride = d[TGRADIENT_in_channel_stride];
    tile->in_image_stride = d[TGRADIENT_in_image_stride];
    tile->in_w = low16(d[TGRADIENT_in_size]);
    tile->in_h = high16(d[TGRADIENT_in_size]);
    tile->images = d[TGRADIENT_images];
    tile->in_channels = d[TGRADIENT_in_channels];
    tile->out_channels = d[TGRADIENT_out_channels];
    tile->second_addr = d[TGRADIENT_error_addr];
    tile->error_row_stride = d[TGRADIENT_error_row_stride];
    tile->error_channel_stride = d[TGRADIENT_error_channel_stride];
    tile->error_image_stride = d[TGRADIENT_error_image_stride];
    tile->out_w = low16(d[TGRADIENT_error_size]);
    tile->out_h = high16(d[TGRADIENT_error_size]);
    tile->kx = low16(d[TGRADIENT_kernel]);
    tile->ky = high16(d[TGRADIENT_kernel]);
    tile->sx = low16(d[TGRADIENT_stride]);
    tile->sy = high16(d[TGRADIENT_stride]);
    tile->px = low16(d[TGRADIENT_pad]);
    tile->py = high16(d[TGRADIENT_pad]);
    tile->out_addr = d[TGRADIENT_out_addr];
    tile->out_channel_stride = d[TGRADIENT_out_channel_stride];
    tile->in_exp_addr = d[TGRADIENT_in_exp_addr];
    tile->in_exp_image_stride = low16(d[TGRADIENT_in_exp_strides]);
    tile->in_exp_channel_stride = high16(d[TGRADIENT_in_exp_strides]);
    tile->second_exp_addr = d[TGRADIENT_error_exp_addr];
    tile->second_exp_channel_stride = low16(d[TGRADIENT_error_exp_strides]);
    tile->second_exp_part_stride = high16(d[TGRADIENT_error_exp_strides]);
    tile->out_exp_addr = d[TGRADIENT_out_exp_addr];
}

/* 1x1 maps and kernels. */
static void make_connected(struct cnnvp_train_tile *tile)
{
    tile->connected = true;
    tile->in_h = tile->in_w = tile->out_h = tile->out_w = 1u;
    tile->kx = tile->ky = tile->sx = tile->sy = 1u;
    tile->in_row_stride = tile->in_channel_stride = 1u;
    tile->error_row_stride = tile->error_channel_stride = 1u;
}

static void read_matmul(const uint32_t *d, struct cnnvp_train_tile *tile)
{
    make_connected(tile);
    tile->in_addr = d[TMATMUL_in_addr];
    tile->in_image_stride = d[TMATMUL_in_image_stride];
    tile->images = d[TMATMUL_images];
    tile->in_channels = d[TMATMUL_inputs];
    tile->out_channels = d[TMATMUL_outputs];
    tile->second_addr = d[TMATMUL_weight_addr];
    tile->out_addr = d[TMATMUL_out_addr];
    tile->out_channel_stride = 1u;
    tile->out_image_stride = d[TMATMUL_out_image_stride];
    tile->in_exp_addr = d[TMATMUL_in_exp_addr];
    tile->in_exp_image_stride = d[TMATMUL_in_exp_stride];
    tile->second_exp_addr = d[TMATMUL_weight_exp_addr];
    tile->second_exp_channel_stride = low16(d[TMATMUL_weight_exp_strides]);
    tile->second_exp_part_stride = high16(d[TMATMUL_weight_exp_strides]);
    tile->out_exp_addr = d[TMATMUL_out_exp_addr];
}

static void read_outer(const uint32_t *d, struct cnnvp_train_tile *tile)
{
    make_connected(tile);
    tile->in_addr = d[TOUTER_in_addr];
    tile->in_image_stride = d[TOUTER_in_image_stride];
    tile->images = d[TOUTER_images];
    tile->in_channels = d[TOUTER_inputs];
    tile->out_channels = d[TOUTER_outputs];
    tile->second_addr = d[TOUTER_error_addr];
    tile->error_image_stride = d[TOUTER_error_image_stride];
    tile->out_addr = d[TOUTER_out_addr];
    tile->out_channel_stride = d[TOUTER_out_stride];
    tile->in_exp_addr = d[TOUTER_in_exp_addr];
    tile->in_exp_image_stride = d[TOUTER_in_exp_stride];
    tile->second_exp_addr = d[TOUTER_error_exp_addr];
    tile->second_exp_part_stride = d[TOUTER_error_exp_stride];
    tile->out_exp_addr = d[TOUTER_out_exp_addr];
}

/* ---- checks ---- */

/* The first operand is a channel of ones, which lies in no buffer (Part B 0-8). */
static int read_as_ones(struct cnnvp_train_tile *tile, const char **reason)
{
    if (tile->in_channels != 1u)
        return refuse(reason, "a bias has one input channel");
    tile->in_addr = 0;
    tile->in_row_stride = tile->in_channel_stride = tile->in_image_stride = 0;
    tile->in_exp_addr = 0;
    tile->in_exp_image_stride = tile->in_exp_channel_stride = 0;
    return CNNVP_OK;
}

static int check_sizes(const struct cnnvp_train_tile *tile, const char **reason)
{
    if (tile->images == 0 || tile->in_channels == 0 || tile->out_channels == 0 || tile->images > SIZE_LIMIT ||
        tile->in_channels > SIZE_LIMIT || tile->out_channels > SIZE_LIMIT)
        return refuse(reason, "images, channels, inputs and outputs are 1 to 65535");
    if (tile->in_h == 0 || tile->in_w == 0 || tile->out_h == 0 || tile->out_w == 0)
        return refuse(reason, "maps have 1 row and column or more");
    if (tile->kx == 0 || tile->ky == 0 || tile->sx == 0 || tile->sy == 0)
        return refuse(reason, "kernel and stride are 1 or more in both directions");
    if (tile->px >= tile->kx || tile->py >= tile->ky)
        return refuse(reason, "the padding is smaller than the kernel");
    if (tile->in_exp_image_stride > SIZE_LIMIT || tile->second_exp_part_stride > SIZE_LIMIT)
        return refuse(reason, "distances of exponents are at most 65535");
    return CNNVP_OK;
}

/* A group of three zones has a map: of an image, in gradients of a channel (Part B 1-8). */
static int read_zones(const struct cnnvp_train_shape *shape, struct cnnvp_train_tile *tile, const char **reason)
{
    if (!shape->zones || tile->connected)
        return CNNVP_OK;
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint64_t group = tile->bias ? 0 : gradient ? tile->in_channel_stride : tile->in_image_stride;
    if (group % CNNVP_TRAIN_ZONES != 0 || tile->error_channel_stride % CNNVP_TRAIN_ZONES != 0)
        return refuse(reason, "with zones the groups of maps are three zones apart");
    if (!tile->bias && (gradient ? tile->images : tile->in_channels) != 1u)
        return refuse(reason, "with zones a command takes a channel of the images, in gradients an image's channels");
    tile->in_zone_stride = group / CNNVP_TRAIN_ZONES;
    tile->error_zone_stride = tile->error_channel_stride / CNNVP_TRAIN_ZONES;
    return CNNVP_OK;
}

/* From the first row to the last one; of a map in zones, to the end of its zones. */
static uint64_t rows_span(uint64_t rows, uint64_t row_stride, uint64_t zone_stride)
{
    const uint64_t zones = zone_stride == 0 ? 1u : CNNVP_TRAIN_ZONES;
    return bounded(cnnvp_minimum(rows, zones) - 1u, zone_stride) + bounded((rows - 1u) / zones, row_stride);
}

static int check_operands(struct cnnvp_train_tile *tile, const char **reason)
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
        return refuse(reason, "an operand spans at most 2^27 mantissas");
    const bool spread = tile->kind == CNNVP_TRAIN_ERROR;
    const uint64_t rows = bounded(tile->out_h - 1u, spread ? 1u : tile->sy) + tile->ky;
    const uint64_t cols = bounded(tile->out_w - 1u, spread ? 1u : tile->sx) + tile->kx;
    if (bounded(bounded(tile->images, tile->in_channels), bounded(rows, cols)) > PLANES_LIMIT)
        return refuse(reason, "the maps of the first operand with their borders have at most 2^28 positions");
    return CNNVP_OK;
}

static int check_results(struct cnnvp_train_tile *tile, const char **reason)
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
        return refuse(reason, "results of different channels and images do not overlap");
    if (results > CNNVP_TRAIN_MAX_RESULTS || tile->out_span > CNNVP_TRAIN_MAX_SPAN)
        return refuse(reason, "a command has at most 2^24 results within 2^27 sums");
    return CNNVP_OK;
}

/* Terms of one sum share their exponents, or the results are binary32. */
static int check_exponents(struct cnnvp_train_tile *tile, const char **reason)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint32_t parts = gradient ? tile->images : tile->in_channels;
    const uint32_t in_part = gradient ? tile->in_exp_image_stride : tile->in_exp_channel_stride;
    if (!tile->to_float && parts > 1u && (in_part != 0 || tile->second_exp_part_stride != 0))
        return refuse(reason, "sums of terms with different exponents are for .fp32");
    tile->in_exps = (uint64_t)(tile->images - 1u) * tile->in_exp_image_stride +
                    (uint64_t)(tile->in_channels - 1u) * tile->in_exp_channel_stride + 1u;
    tile->second_exps = (uint64_t)(tile->out_channels - 1u) * tile->second_exp_channel_stride +
                        (uint64_t)(parts - 1u) * tile->second_exp_part_stride + 1u;
    if (tile->in_exps > CNNVP_TRAIN_MAX_SPAN || tile->second_exps > CNNVP_TRAIN_MAX_SPAN)
        return refuse(reason, "exponents span at most 2^27 bytes");
    const uint32_t in_own = gradient ? tile->in_exp_channel_stride : tile->in_exp_image_stride;
    const uint64_t ins = in_own == 0 ? 1u : gradient ? tile->in_channels : tile->images;
    tile->out_exps = tile->to_float ? 0 : ins * (tile->second_exp_channel_stride != 0 ? tile->out_channels : 1u);
    if (tile->out_exps > CNNVP_TRAIN_MAX_SPAN)
        return refuse(reason, "at most 2^27 scales");
    return CNNVP_OK;
}

static int check_addresses(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                           const char **reason)
{
    const bool wide = cnnvp_train_is_wide(shape);
    const uint32_t align = wide && !tile->to_float ? 8u : 4u;
    if (tile->in_addr >= ADDRESS_LIMIT || tile->second_addr >= ADDRESS_LIMIT || tile->out_addr >= ADDRESS_LIMIT ||
        tile->in_exp_addr >= ADDRESS_LIMIT || tile->second_exp_addr >= ADDRESS_LIMIT ||
        tile->out_exp_addr >= ADDRESS_LIMIT)
        return refuse(reason, "addresses are below 2^31");
    if (wide && (tile->in_addr % 4u != 0 || tile->second_addr % 4u != 0))
        return refuse(reason, "mantissas of more than 8 bits must be aligned to 4");
    if (tile->out_addr % align != 0)
        return refuse(reason, "results must be aligned to their size");
    if (!tile->to_float && tile->out_exp_addr % 2u != 0)
        return refuse(reason, "out_exp_addr is even");
    return CNNVP_OK;
}

/* Exact sums need 64 bits at most. */
static int check_width(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, const char **reason)
{
    const uint64_t terms = tile->kind == CNNVP_TRAIN_GRADIENT
                               ? bounded(tile->images, (uint64_t)tile->out_h * tile->out_w)
                               : bounded(tile->in_channels, bounded(tile->kx, tile->ky));
    if (terms > UINT64_C(1) << 24 || terms > UINT64_C(1) << (62u - 2u * (shape->mantissa_bits - 1u)))
        return refuse(reason, "a sum has at most 2^24 terms, and fits into 63 bits");
    return CNNVP_OK;
}

/* ---- commands ---- */

static int read_command(const struct cnnvp_command *command, struct cnnvp_train_tile *tile, const char **reason)
{
    static const struct {
        const char *name;
        uint32_t opcode, mask, count;
        enum cnnvp_train_kind kind;
        void (*read)(const uint32_t *descriptor, struct cnnvp_train_tile *tile);
    } forms[] = {
        {"tforward", OP_tforward, MASK_tforward, TCONV_COUNT, CNNVP_TRAIN_FORWARD, read_conv},
        {"terror", OP_terror, MASK_terror, TCONV_COUNT, CNNVP_TRAIN_ERROR, read_conv},
        {"tgradient", OP_tgradient, MASK_tgradient, TGRADIENT_COUNT, CNNVP_TRAIN_GRADIENT, read_gradient},
        {"tmatmul", OP_tmatmul, MASK_tmatmul, TMATMUL_COUNT, CNNVP_TRAIN_FORWARD, read_matmul},
        {"tback", OP_tback, MASK_tback, TMATMUL_COUNT, CNNVP_TRAIN_ERROR, read_matmul},
        {"touter", OP_touter, MASK_touter, TOUTER_COUNT, CNNVP_TRAIN_GRADIENT, read_outer},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].opcode != command->opcode)
            continue;
        if ((command->status & ~forms[i].mask) != 0)
            return refuse(reason, "only the status bits of the instruction set");
        if (command->count != forms[i].count)
            return refuse(reason, "the descriptor is not that of the opcode");
        tile->name = forms[i].name;
        tile->kind = forms[i].kind;
        forms[i].read(command->descriptor, tile);
        return CNNVP_OK;
    }
    return refuse(reason, "tforward, terror, tgradient, tmatmul, tback or touter");
}

int cnnvp_train_decode(const struct cnnvp_train_shape *shape, const struct cnnvp_command *command,
                       struct cnnvp_train_tile *tile, const char **reason)
{
    *tile = (struct cnnvp_train_tile){0};
    tile->tag = command->tag;
    tile->in_half = (command->halves & CNNVP_HALF_INPUT) != 0;
    tile->second_half = (command->halves & CNNVP_HALF_WEIGHT) != 0;
    tile->out_half = (command->halves & CNNVP_HALF_OUTPUT) != 0;
    tile->accumulate = (command->status & STATUS_ACCUMULATE) != 0;
    tile->to_float = (command->status & STATUS_FP32) != 0;
    tile->bias = (command->status & STATUS_BIAS) != 0;
    int status = read_command(command, tile, reason);
    if (status == CNNVP_OK && tile->bias)
        status = read_as_ones(tile, reason);
    if (status == CNNVP_OK)
        status = check_sizes(tile, reason);
    if (status == CNNVP_OK)
        status = read_zones(shape, tile, reason);
    if (status == CNNVP_OK)
        status = check_operands(tile, reason);
    if (status == CNNVP_OK)
        status = check_results(tile, reason);
    if (status == CNNVP_OK)
        status = check_exponents(tile, reason);
    if (status == CNNVP_OK)
        status = check_width(shape, tile, reason);
    return status == CNNVP_OK ? check_addresses(shape, tile, reason) : status;
}
