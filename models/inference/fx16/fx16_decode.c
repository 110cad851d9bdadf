/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a command into a checked tile. A guest can write any value into the descriptor registers, so nothing is used
 * before it is checked here. All sizes are bounded so that no later product overflows 64 bits.
 *
 * Beyond the rules of the instruction set (opcodes.def, descriptors.def), these arrays require that input rows do not
 * overlap and that result planes do not overlap. The bias shift may be negative: a right shift toward minus infinity.
 */
#include "cnnvp_fx16.h"

#include "inference/write_out/write_out.h"

#define CNNVP_FIELDS struct cnnvp_fx16_tile
#include "unit/descriptor.h"

CNNVP_DESCRIPTOR(WINDOW, window);
CNNVP_DESCRIPTOR(MATMUL, matmul);

/* a * b, limited to CNNVP_FX16_MAX_SPAN + 1. Both factors are at most 2^63. */
static uint64_t bounded(uint64_t a, uint64_t b)
{
    return b != 0 && a > CNNVP_FX16_MAX_SPAN / b ? CNNVP_FX16_MAX_SPAN + 1u : a * b;
}

/* Translates the status bits into operations of the PEs. */
static void decode_status(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile)
{
#define STATUS(mnemonic, name) CNNVP_STATUS_OF(command, mnemonic, name)
    if (command->opcode == CNNVP_OPCODE_conv) {
        tile->name = "conv";
        tile->operation.product = CNNVP_FX16_PRODUCT_KA;
        tile->update = STATUS(conv, update);
        tile->partial = STATUS(conv, partial) != 0;
        tile->bias = STATUS(conv, bias) != 0;
        tile->ones = STATUS(conv, ones) != 0;
        tile->scaled = STATUS(conv, scale) != 0;
        tile->per_channel = STATUS(conv, depthwise) != 0;
    } else if (command->opcode == CNNVP_OPCODE_pool) {
        tile->name = "pool";
        tile->operation.product = CNNVP_FX16_PRODUCT_A;
        tile->update = STATUS(pool, update);
        tile->partial = STATUS(pool, sum) != 0;
        tile->operation.compare = !tile->partial;
        tile->of_words = !tile->partial && tile->update == CNNVP_UPDATE_MAXIMISE;
        tile->per_channel = true;
        tile->clipped = true;
    } else if (command->opcode == CNNVP_OPCODE_matmul) {
        tile->name = "matmul";
        tile->kind = CNNVP_FX16_MATMUL;
        tile->operation.product = CNNVP_FX16_PRODUCT_KA;
        tile->update = STATUS(matmul, update);
        tile->partial = STATUS(matmul, partial) != 0;
        tile->bias = STATUS(matmul, bias) != 0;
        tile->scaled = STATUS(matmul, scale) != 0;
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
    tile->limited = CNNVP_STATUS_OF(command, conv, clip) != 0;
    tile->bias_words = tile->scaled ? CNNVP_SCALE_WORDS : tile->bias;
    tile->uses_k =
        !tile->operation.compare && (tile->operation.product == CNNVP_FX16_PRODUCT_KA || tile->operation.from_k);
}

static const char *check_window_sizes(struct cnnvp_fx16_tile *tile)
{
    if (tile->clipped && (tile->valid_row_first > tile->valid_row_end || tile->valid_col_first > tile->valid_col_end))
        return "valid_rows and valid_cols: first is at most end";
    /* Both are below 2^49: factors of 32 and of 16 bits. */
    const uint64_t cols = (uint64_t)(tile->out_w - 1u) * tile->sx + (uint64_t)(tile->kx - 1u) * tile->dx + 1u;
    const uint64_t rows = (uint64_t)(tile->out_h - 1u) * tile->sy + (uint64_t)(tile->ky - 1u) * tile->dy + 1u;
    if (rows > 1u && tile->in_row_stride < cols)
        return "in_row_stride is at least the words that the tile uses of a row";
    if (tile->in_channels > 1u && tile->in_channel_stride == 0)
        return "in_channel_stride is 1 or more";
    const uint64_t down = bounded(rows - 1u, tile->in_row_stride);
    const uint64_t deep = bounded(tile->in_channels - 1u, tile->in_channel_stride);
    tile->in_span = down + deep + cols;
    if (cols > CNNVP_FX16_MAX_SPAN || tile->in_span > CNNVP_FX16_MAX_SPAN)
        return "the input spans more than 2^30 words";
    return NULL;
}

/* Checks the spans of weights, biases and results, which follow from the sizes. */
static const char *check_window_spans(struct cnnvp_fx16_tile *tile)
{
    const uint64_t taps = bounded(tile->kx, tile->ky);
    const uint64_t inputs = tile->per_channel ? 1u : tile->in_channels;
    const uint64_t weights = bounded(bounded(tile->out_channels, inputs), taps);
    if (tile->uses_k && weights > CNNVP_FX16_MAX_SPAN)
        return "the weights span more than 2^30 words";
    tile->weight_span = tile->uses_k ? weights : 0;
    tile->bias_span = (uint64_t)tile->bias_words * tile->out_channels;
    tile->plane_words = bounded(tile->out_h, tile->out_w);
    if (bounded(tile->plane_words, tile->out_channels) > CNNVP_FX16_MAX_RESULTS)
        return "a command has at most 2^24 results";
    if (tile->partial || tile->planes == 1u)
        tile->plane_stride = tile->plane_words;
    else if (tile->plane_stride < tile->plane_words)
        return "out_channel_stride is at least out_h * out_w";
    return NULL;
}

static const char *check_window(struct cnnvp_fx16_tile *tile)
{
    const char *wrong = check_window_sizes(tile);
    return wrong == NULL ? check_window_spans(tile) : wrong;
}

static const char *check_matmul(struct cnnvp_fx16_tile *tile)
{
    tile->in_span = tile->inputs;
    tile->weight_span = bounded(tile->inputs, tile->outputs);
    tile->bias_span = (uint64_t)tile->bias_words * tile->outputs;
    if (tile->weight_span > CNNVP_FX16_MAX_SPAN)
        return "the weights span more than 2^30 words";
    if (tile->outputs > CNNVP_FX16_MAX_RESULTS)
        return "a command has at most 2^24 results";
    tile->planes = 1u;
    tile->plane_words = tile->outputs;
    tile->plane_stride = tile->outputs;
    return NULL;
}

/* Decodes the table of a conv from valid_rows and valid_cols, which only pool uses otherwise. Partial sums have no
 * table. */
static const char *check_table(uint32_t opcode, struct cnnvp_fx16_tile *tile)
{
    const uint64_t segments = tile->valid_col_first;
    if (tile->tabled == 0 || tile->partial)
        return NULL;
    if (opcode != CNNVP_OPCODE_conv)
        return "a table is for the results of a conv";
    tile->table_addr = tile->valid_row_first | tile->valid_row_end << 16;
    tile->table_shift = (int32_t)cnnvp_wrap(tile->valid_col_end, 16u);
    tile->table_span = CNNVP_TABLE_HEADER / 2u + 2u * segments;
    if (segments - 1u >= CNNVP_WRITE_OUT_TABLE_SEGMENTS || tile->table_shift < -48 || tile->table_shift > 63)
        return "valid_cols, of a table: 1 to 256 segments, a shift of -48 to 63";
    return tile->table_addr % 2u != 0 || tile->table_addr > INT32_MAX
               ? "valid_rows, the address of a table, is even and below 2^31"
               : NULL;
}

/* Decodes the addition of a conv from `seed`. Partial sums have none. */
static const char *check_addition(uint32_t opcode, struct cnnvp_fx16_tile *tile)
{
    const uint32_t format = tile->seed;
    tile->added = tile->partial ? 0 : tile->added;
    if (tile->added == 0)
        return NULL;
    if (opcode != CNNVP_OPCODE_conv)
        return "words are added to the results of a conv";
    if (tile->rounding == CNNVP_ROUNDING_STOCHASTIC)
        return "stochastic rounding needs `seed`, which is the format of the addition";
    if (tile->table_span != 0 && (tile->narrow & CNNVP_NARROW_OUT) != 0)
        return "with an addition and a table, results have 16 bits";
    tile->addition = (struct cnnvp_addition){
        .shift = (int32_t)cnnvp_wrap(format, 8u),
        .b_shift = (int32_t)cnnvp_wrap(format >> 8, 8u),
        .rounding = format >> 16 & 3u,
        .zero = (int32_t)cnnvp_wrap(format >> CNNVP_ZERO_LSB, 8u),
        .swapped = format >> CNNVP_SWAPPED_LSB & 1u,
        .scaled = format >> CNNVP_SCALED_LSB & 1u};
    if (tile->addition.shift < -48 || tile->addition.shift > 63 || tile->addition.b_shift < -63 ||
        tile->addition.b_shift > 63 || tile->addition.rounding == CNNVP_ROUNDING_STOCHASTIC)
        return "seed, the format of an addition: a shift of -48 to 63, a bias shift of -63 to 63, no stochastic "
               "rounding";
    if (tile->addition.scaled != 0 &&
        (tile->addition.b_shift != 0 || tile->addition.rounding != CNNVP_ROUNDING_NEAREST))
        return "seed, the format of an addition that scales its operands: bias shift 0, rounding to nearest";
    if (tile->addition.scaled != 0 && tile->bias_addr % 2u != 0)
        return "bias_addr, where multipliers of an addition's operands follow the biases, is even";
    tile->operand_span = tile->addition.scaled != 0 ? CNNVP_OPERAND_WORDS : 0;
    return tile->addition.zero != 0 && (tile->narrow & CNNVP_NARROW_OUT) == 0
               ? "results with a zero point have 8 bits"
               : NULL;
}

static const char *check_addresses(const struct cnnvp_fx16_tile *tile)
{
    if (tile->in_addr % cnnvp_fx16_bytes(tile, CNNVP_NARROW_A) != 0)
        return "in_addr of 16-bit words is even";
    if (tile->uses_k && tile->weight_addr % cnnvp_fx16_bytes(tile, CNNVP_NARROW_B) != 0)
        return "weight_addr of 16-bit words is even";
    if (!tile->partial && tile->out_addr % cnnvp_fx16_bytes(tile, CNNVP_NARROW_OUT) != 0)
        return "out_addr of 16-bit words is even";
    return NULL;
}

static const char *check_operation(const struct cnnvp_fx16_tile *tile)
{
    if (tile->operation.product > CNNVP_FX16_PRODUCT_AA)
        return "multiply is 0, 1 or 2";
    if (tile->update > CNNVP_UPDATE_MAXIMISE)
        return "update is 0, 1 or 2";
    if (tile->clipped && tile->operation.compare && tile->update == CNNVP_UPDATE_ACCUMULATE)
        return "update of a maximum is 0 or 2: sums alone accumulate";
    if (tile->scaled && (tile->bias || tile->partial))
        return "scale is without bias, whose place its offsets have, and without partial: words alone are scaled";
    if (tile->limited && tile->low > tile->high)
        return "limits: low is at most high";
    if (tile->zero != 0 && (tile->narrow & CNNVP_NARROW_OUT) == 0)
        return "results with a zero point have 8 bits";
    if (tile->ones && (tile->narrow & CNNVP_NARROW_A) != 0)
        return "inputs that read as ones have 16 bits";
    return NULL;
}

static uint32_t uses_of(const struct cnnvp_fx16_tile *tile)
{
    return (tile->uses_k ? CNNVP_USES_WEIGHTS : 0u) | (tile->bias_words != 0 ? CNNVP_USES_BIAS : 0u) |
           (tile->partial ? 0u : CNNVP_USES_RESULTS) | (tile->per_channel ? 0u : CNNVP_USES_ALL_CHANNELS) |
           (tile->partial || cnnvp_fx16_finds_sums(tile) ? CNNVP_USES_SUMS : 0u);
}

int cnnvp_fx16_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile, const char **reason)
{
    static const struct {
        uint32_t opcode, mask;
        const struct cnnvp_descriptor *descriptor;
    } forms[] = {
        {CNNVP_OPCODE_conv, CNNVP_STATUS_MASK_conv, &window},
        {CNNVP_OPCODE_pool, CNNVP_STATUS_MASK_pool, &window},
        {CNNVP_OPCODE_step, CNNVP_STATUS_MASK_step, &window},
        {CNNVP_OPCODE_matmul, CNNVP_STATUS_MASK_matmul, &matmul},
    };
    *tile = (struct cnnvp_fx16_tile){
        .tag = command->tag,
        .in_half = (command->halves & CNNVP_HALF_INPUT) != 0,
        .weight_half = (command->halves & CNNVP_HALF_WEIGHT) != 0,
        .out_half = (command->halves & CNNVP_HALF_OUTPUT) != 0,
    };
    *reason = "conv, pool, matmul or step with the status bits of the instruction set";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].opcode != command->opcode)
            continue;
        decode_status(command, tile);
        *reason =
            cnnvp_descriptor_read(forms[i].descriptor, command, forms[i].mask, uses_of(tile), tile, tile->refusal);
        if (tile->per_channel)
            tile->out_channels = tile->in_channels;
        tile->planes = tile->out_channels;
        if (*reason == NULL)
            *reason = check_operation(tile);
        if (*reason == NULL)
            *reason = check_addresses(tile);
        if (*reason == NULL)
            *reason = check_table(command->opcode, tile);
        if (*reason == NULL)
            *reason = check_addition(command->opcode, tile);
        if (*reason == NULL)
            *reason = tile->kind == CNNVP_FX16_MATMUL ? check_matmul(tile) : check_window(tile);
        break;
    }
    return *reason == NULL ? CNNVP_OK : CNNVP_E_INVAL;
}

void cnnvp_fx16_describe(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile)
{
    const char *reason;
    struct cnnvp_command of_array = *command;
    if (command->opcode == CNNVP_OPCODE_vpool || command->opcode == CNNVP_OPCODE_vconv)
        of_array.opcode = command->opcode == CNNVP_OPCODE_vpool ? CNNVP_OPCODE_pool : CNNVP_OPCODE_conv;
    if (cnnvp_fx16_decode(&of_array, tile, &reason) != CNNVP_OK)
        tile->refusal[0] = '\0';
}
