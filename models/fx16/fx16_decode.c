/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command to a checked tile. A guest can write any value into the descriptor registers: nothing is used before
 * it is checked here, and all sizes are bounded so that no later product overflows 64 bits.
 *
 * Beyond the instruction set (opcodes.def, descriptors.def) these arrays ask that rows of the input do not overlap and
 * result planes do not either. The bias shift may be negative: a right shift toward minus infinity.
 */
#include "cnnvp_fx16.h"

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    OP_##mnemonic = (code), MASK_##mnemonic = (status_mask),
#include "instruction/opcodes.def"
};

enum {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) \
    LSB_##mnemonic##_##name = (lsb), WIDTH_##mnemonic##_##name = (width),
#include "instruction/opcodes.def"
};

#include "instruction/descriptors.def"
enum {
#define REGISTER(name, help) WINDOW_##name,
    CNNVP_DESCRIPTOR_WINDOW(REGISTER) WINDOW_COUNT
#undef REGISTER
};
enum {
#define REGISTER(name, help) MATMUL_##name,
    CNNVP_DESCRIPTOR_MATMUL(REGISTER) MATMUL_COUNT
#undef REGISTER
};

/* Range of cnnvp_round_fx16's shift, and of the bias shift. */
enum { SHIFT_MIN = -48, SHIFT_MAX = 63, BIAS_SHIFT_MAX = 63 };

#define ADDRESS_LIMIT (UINT32_C(1) << 31)

static uint32_t field(uint32_t status, int lsb, int width)
{
    return status >> lsb & ((UINT32_C(1) << width) - 1u);
}

static uint32_t low16(uint32_t packed)
{
    return packed & 0xffffu;
}

static uint32_t high16(uint32_t packed)
{
    return packed >> 16;
}

static int32_t sign8(uint32_t byte)
{
    return (int32_t)(byte & 0xffu) - ((byte & 0x80u) != 0 ? 256 : 0);
}

static int refuse(const char **reason, const char *text)
{
    *reason = text;
    return CNNVP_E_INVAL;
}

/* a * b, or the limit + 1 where it is more. Neither side may be more than 2^63. */
static uint64_t bounded(uint64_t a, uint64_t b)
{
    return b != 0 && a > CNNVP_FX16_MAX_SPAN / b ? CNNVP_FX16_MAX_SPAN + 1u : a * b;
}

static int decode_format(uint32_t format, struct cnnvp_fx16_tile *tile, const char **reason)
{
    tile->shift = sign8(format);
    tile->bias_shift = sign8(format >> 8);
    tile->rounding = format >> 16;
    if (tile->rounding > CNNVP_ROUNDING_STOCHASTIC)
        return refuse(reason, "format: rounding is 0, 1 or 2 and bits 31:18 are 0");
    if (tile->shift < SHIFT_MIN || tile->shift > SHIFT_MAX)
        return refuse(reason, "format: the shift at write-out is -48 to 63");
    if (tile->bias_shift < -BIAS_SHIFT_MAX || tile->bias_shift > BIAS_SHIFT_MAX)
        return refuse(reason, "format: the bias shift is -63 to 63");
    if (tile->update > CNNVP_UPDATE_MAXIMISE)
        return refuse(reason, "update is 0, 1 or 2");
    if (tile->clipped && tile->operation.compare && tile->update == CNNVP_UPDATE_ACCUMULATE)
        return refuse(reason, "update of a maximum is 0 or 2: sums alone accumulate");
    return CNNVP_OK;
}

static int check_addresses(const struct cnnvp_fx16_tile *tile, const char **reason)
{
    const bool results = !tile->partial;
    const bool sums = tile->partial || cnnvp_fx16_finds_sums(tile);
    if (tile->in_addr % 2u != 0 || tile->in_addr >= ADDRESS_LIMIT)
        return refuse(reason, "in_addr is even and below 2^31");
    if (tile->uses_k && (tile->weight_addr % 2u != 0 || tile->weight_addr >= ADDRESS_LIMIT))
        return refuse(reason, "weight_addr is even and below 2^31");
    if (tile->bias && (tile->bias_addr % 2u != 0 || tile->bias_addr >= ADDRESS_LIMIT))
        return refuse(reason, "bias_addr is even and below 2^31");
    if (results && (tile->out_addr % 2u != 0 || tile->out_addr >= ADDRESS_LIMIT))
        return refuse(reason, "out_addr is even and below 2^31");
    if (sums && (tile->acc_addr % 8u != 0 || tile->acc_addr >= ADDRESS_LIMIT))
        return refuse(reason, "acc_addr is a multiple of 8 below 2^31");
    return CNNVP_OK;
}

/* What the status bits of conv, pool and step mean for the PEs. */
static void decode_window_status(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile)
{
    const uint32_t status = command->status;
#define STATUS(mnemonic, name) field(status, LSB_##mnemonic##_##name, WIDTH_##mnemonic##_##name)
    if (command->opcode == OP_conv) {
        tile->name = "conv";
        tile->operation.product = CNNVP_FX16_PRODUCT_KA;
        tile->update = STATUS(conv, update);
        tile->partial = STATUS(conv, partial) != 0;
        tile->bias = STATUS(conv, bias) != 0;
        tile->ones = STATUS(conv, ones) != 0;
        tile->per_channel = STATUS(conv, depthwise) != 0;
    } else if (command->opcode == OP_pool) {
        tile->name = "pool";
        tile->operation.product = CNNVP_FX16_PRODUCT_A;
        tile->update = STATUS(pool, update);
        tile->partial = STATUS(pool, sum) != 0;
        tile->operation.compare = !tile->partial;
        tile->of_words = !tile->partial && tile->update == CNNVP_UPDATE_MAXIMISE;
        tile->per_channel = true;
        tile->clipped = true;
    } else {
        tile->name = "step";
        tile->operation.product = (enum cnnvp_fx16_product)STATUS(step, multiply);
        tile->operation.from_k = STATUS(step, from_k) != 0;
        tile->operation.compare = STATUS(step, compare) != 0;
        tile->update = STATUS(step, update);
        tile->partial = STATUS(step, partial) != 0;
        tile->per_channel = true;
    }
#undef STATUS
    tile->uses_k =
        !tile->operation.compare && (tile->operation.product == CNNVP_FX16_PRODUCT_KA || tile->operation.from_k);
}

static void read_window(const uint32_t *d, struct cnnvp_fx16_tile *tile)
{
    tile->in_addr = d[WINDOW_in_addr];
    tile->in_row_stride = d[WINDOW_in_row_stride];
    tile->in_channel_stride = d[WINDOW_in_channel_stride];
    tile->in_channels = d[WINDOW_in_channels];
    tile->out_channels = tile->per_channel ? d[WINDOW_in_channels] : d[WINDOW_out_channels];
    tile->out_h = d[WINDOW_out_h];
    tile->out_w = d[WINDOW_out_w];
    tile->kx = low16(d[WINDOW_kernel]);
    tile->ky = high16(d[WINDOW_kernel]);
    tile->sx = low16(d[WINDOW_stride]);
    tile->sy = high16(d[WINDOW_stride]);
    tile->dx = low16(d[WINDOW_dilation]);
    tile->dy = high16(d[WINDOW_dilation]);
    tile->weight_addr = d[WINDOW_weight_addr];
    tile->bias_addr = d[WINDOW_bias_addr];
    tile->out_addr = d[WINDOW_out_addr];
    tile->acc_addr = d[WINDOW_acc_addr];
    tile->valid_row_first = low16(d[WINDOW_valid_rows]);
    tile->valid_row_end = high16(d[WINDOW_valid_rows]);
    tile->valid_col_first = low16(d[WINDOW_valid_cols]);
    tile->valid_col_end = high16(d[WINDOW_valid_cols]);
    tile->seed = d[WINDOW_seed];
    tile->planes = tile->out_channels;
    tile->plane_stride = d[WINDOW_out_channel_stride];
}

static int check_window_sizes(struct cnnvp_fx16_tile *tile, const char **reason)
{
    if (tile->in_channels == 0 || tile->out_channels == 0 || tile->out_h == 0 || tile->out_w == 0)
        return refuse(reason, "channels, out_h and out_w are 1 or more");
    if (tile->kx == 0 || tile->ky == 0 || tile->sx == 0 || tile->sy == 0 || tile->dx == 0 || tile->dy == 0)
        return refuse(reason, "kernel, stride and dilation are 1 or more in both directions");
    if (tile->clipped && (tile->valid_row_first > tile->valid_row_end || tile->valid_col_first > tile->valid_col_end))
        return refuse(reason, "valid_rows and valid_cols: first is at most end");
    /* Below 2^49 each: 32 times 16 bits. */
    const uint64_t cols = (uint64_t)(tile->out_w - 1u) * tile->sx + (uint64_t)(tile->kx - 1u) * tile->dx + 1u;
    const uint64_t rows = (uint64_t)(tile->out_h - 1u) * tile->sy + (uint64_t)(tile->ky - 1u) * tile->dy + 1u;
    if (rows > 1u && tile->in_row_stride < cols)
        return refuse(reason, "in_row_stride is at least the words that the tile uses of a row");
    if (tile->in_channels > 1u && tile->in_channel_stride == 0)
        return refuse(reason, "in_channel_stride is 1 or more");
    const uint64_t down = bounded(rows - 1u, tile->in_row_stride);
    const uint64_t deep = bounded(tile->in_channels - 1u, tile->in_channel_stride);
    tile->in_span = down + deep + cols;
    if (cols > CNNVP_FX16_MAX_SPAN || tile->in_span > CNNVP_FX16_MAX_SPAN)
        return refuse(reason, "the input spans more than 2^30 words");
    return CNNVP_OK;
}

/* Weights, biases and results, whose counts follow from the sizes. */
static int check_window_spans(struct cnnvp_fx16_tile *tile, const char **reason)
{
    const uint64_t taps = bounded(tile->kx, tile->ky);
    const uint64_t inputs = tile->per_channel ? 1u : tile->in_channels;
    const uint64_t weights = bounded(bounded(tile->out_channels, inputs), taps);
    if (tile->uses_k && weights > CNNVP_FX16_MAX_SPAN)
        return refuse(reason, "the weights span more than 2^30 words");
    tile->weight_span = tile->uses_k ? weights : 0;
    tile->bias_span = tile->bias ? tile->out_channels : 0;
    tile->plane_words = bounded(tile->out_h, tile->out_w);
    if (bounded(tile->plane_words, tile->out_channels) > CNNVP_FX16_MAX_RESULTS)
        return refuse(reason, "a command has at most 2^24 results");
    if (tile->partial || tile->planes == 1u)
        tile->plane_stride = tile->plane_words;
    else if (tile->plane_stride < tile->plane_words)
        return refuse(reason, "out_channel_stride is at least out_h * out_w");
    return CNNVP_OK;
}

static int decode_window(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile, const char **reason)
{
    const uint32_t *d = command->descriptor;
    if (command->count != WINDOW_COUNT)
        return refuse(reason, "the descriptor is not that of a window sweep");
    tile->kind = CNNVP_FX16_WINDOW;
    decode_window_status(command, tile);
    if (command->opcode == OP_step &&
        field(command->status, LSB_step_multiply, WIDTH_step_multiply) > (uint32_t)CNNVP_FX16_PRODUCT_AA)
        return refuse(reason, "multiply is 0, 1 or 2");
    read_window(d, tile);
    int status = decode_format(d[WINDOW_format], tile, reason);
    if (status == CNNVP_OK)
        status = check_window_sizes(tile, reason);
    if (status == CNNVP_OK)
        status = check_window_spans(tile, reason);
    return status;
}

static int decode_matmul(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile, const char **reason)
{
    const uint32_t *d = command->descriptor;
    if (command->count != MATMUL_COUNT)
        return refuse(reason, "the descriptor is not that of a fully connected tile");
    tile->name = "matmul";
    tile->kind = CNNVP_FX16_MATMUL;
    tile->operation.product = CNNVP_FX16_PRODUCT_KA;
    tile->uses_k = true;
    tile->update = field(command->status, LSB_matmul_update, WIDTH_matmul_update);
    tile->partial = field(command->status, LSB_matmul_partial, WIDTH_matmul_partial) != 0;
    tile->bias = field(command->status, LSB_matmul_bias, WIDTH_matmul_bias) != 0;
    tile->in_addr = d[MATMUL_in_addr];
    tile->inputs = d[MATMUL_inputs];
    tile->outputs = d[MATMUL_outputs];
    tile->weight_addr = d[MATMUL_weight_addr];
    tile->bias_addr = d[MATMUL_bias_addr];
    tile->out_addr = d[MATMUL_out_addr];
    tile->acc_addr = d[MATMUL_acc_addr];
    tile->seed = d[MATMUL_seed];
    const int status = decode_format(d[MATMUL_format], tile, reason);
    if (status != CNNVP_OK)
        return status;
    if (tile->inputs == 0 || tile->outputs == 0)
        return refuse(reason, "inputs and outputs are 1 or more");
    tile->in_span = tile->inputs;
    tile->weight_span = bounded(tile->inputs, tile->outputs);
    tile->bias_span = tile->bias ? tile->outputs : 0;
    if (tile->weight_span > CNNVP_FX16_MAX_SPAN)
        return refuse(reason, "the weights span more than 2^30 words");
    if (tile->outputs > CNNVP_FX16_MAX_RESULTS)
        return refuse(reason, "a command has at most 2^24 results");
    tile->planes = 1u;
    tile->plane_words = tile->outputs;
    tile->plane_stride = tile->outputs;
    return CNNVP_OK;
}

void cnnvp_fx16_describe(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile)
{
    *tile = (struct cnnvp_fx16_tile){.kind = CNNVP_FX16_MATMUL};
    if (command->opcode == OP_matmul)
        return;
    tile->kind = CNNVP_FX16_WINDOW;
    decode_window_status(command, tile);
    read_window(command->descriptor, tile);
}

static bool allowed(const struct cnnvp_command *command, uint32_t mask)
{
    return (command->status & ~mask) == 0;
}

int cnnvp_fx16_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile, const char **reason)
{
    int status;
    *tile = (struct cnnvp_fx16_tile){0};
    tile->tag = command->tag;
    tile->in_half = (command->halves & CNNVP_HALF_INPUT) != 0;
    tile->weight_half = (command->halves & CNNVP_HALF_WEIGHT) != 0;
    tile->out_half = (command->halves & CNNVP_HALF_OUTPUT) != 0;
    if ((command->opcode == OP_conv && allowed(command, MASK_conv)) ||
        (command->opcode == OP_pool && allowed(command, MASK_pool)) ||
        (command->opcode == OP_step && allowed(command, MASK_step)))
        status = decode_window(command, tile, reason);
    else if (command->opcode == OP_matmul && allowed(command, MASK_matmul))
        status = decode_matmul(command, tile, reason);
    else
        return refuse(reason, "conv, pool, matmul or step with the status bits of the instruction set");
    return status == CNNVP_OK ? check_addresses(tile, reason) : status;
}
