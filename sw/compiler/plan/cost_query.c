/* SPDX-License-Identifier: Apache-2.0 */
#include "cost_query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/layer_command.h"
#include "cnnvp_buffer.h"
#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "isa/isa.h"

#define SOURCE_OUTPUT 2u   /* of a vector operand */
#define ANSWERS 128u       /* at first; a power of two */
#define STRIP_CHANNELS 16u /* up to this many, strips of rows are priced */
#define STRIP_PART 16u     /* lower ones are taken if they are faster by this part */
#define MAX_PS (UINT64_C(1) << 50)
#define MAX_PARTS 64u  /* of a channel, in rows and in columns */
#define UNIT_PART 32.0 /* the vector unit has to be better by this part of the array's score: bounds are rough */
#define TIME_PART 16.0 /* of what the memory can move in a time: so many bytes are worth it */

/* Transfers are asked about with this many planes or bytes: what more of them takes follows from the difference. */
#define FEW_PLANES 2u
#define ALIGNED_ROWS 32u /* after as many, rows of words begin in bursts of 64 bytes as before */
#define MANY_PLANES 10u
#define FEW_BYTES UINT32_C(2048)
#define MANY_BYTES UINT32_C(34816)

enum kind { EMPTY, SLICE, VECTOR, BOX };

struct answer {
    enum kind kind;
    uint32_t question[7];
    uint64_t ps[2];
};

struct cnnvp_cost_query {
    const struct cnnvp_layer *layer;
    const char *name;
    const struct cnnvp_plan_limits *limits;
    uint64_t latency; /* UINT64_MAX: not asked yet */
    uint64_t request; /* likewise */
    uint64_t line[2]; /* of few and of many bytes; UINT64_MAX: not asked yet */
    uint64_t vectors; /* instructions of the vector unit that were asked about for a tile */
    char refusal[256];
    struct cnnvp_error wrong; /* "": nothing is */
    size_t count, size;       /* of answers: known, and places */
    struct answer *answers;
};

struct cnnvp_cost_query *cnnvp_cost_query_new(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_cost_query *query = calloc(1, sizeof *query);
    struct answer *answers = calloc(ANSWERS, sizeof *answers);
    if (query == NULL || answers == NULL) {
        free(query);
        free(answers);
        return NULL;
    }
    query->answers = answers;
    query->size = ANSWERS;
    query->layer = layer;
    query->name = name;
    query->limits = limits;
    query->latency = query->request = query->line[0] = UINT64_MAX;
    return query;
}

void cnnvp_cost_query_free(struct cnnvp_cost_query *query)
{
    if (query != NULL)
        free(query->answers);
    free(query);
}

const char *cnnvp_plan_refusal(const struct cnnvp_cost_query *query)
{
    return query->refusal;
}

cnnvp_result cnnvp_cost_query_result(const struct cnnvp_cost_query *query, struct cnnvp_error *error)
{
    return query->wrong.text[0] == '\0' ? CNNVP_DONE : cnnvp_compiler_error(error, "%s", query->wrong.text);
}

/* ---- commands ---- */

static void put_descriptor(struct cnnvp_command *command, const void *descriptor, size_t bytes)
{
    command->count = (uint32_t)(bytes / sizeof(uint32_t));
    memcpy(command->descriptor, descriptor, bytes);
}

static int has_unit(const struct cnnvp_layer *layer)
{
    return cnnvp_plan_has_weights(layer) || layer->op == CNNVP_OP_POOL;
}

/* The instance that executes an instruction, by the element's table and connections. */
static const char *executor(const struct cnnvp_plan_limits *limits, uint32_t opcode)
{
    const struct isa_executor *unit = &cnnvp_isa_executors[cnnvp_isa_opcode(opcode)->unit];
    const char *stand_in = cnnvp_isa_executors[unit->stand_in].name;
    const char *instance = cnnvp_units_at(limits->units, "instruction", unit->name);
    if (instance == NULL)
        instance = cnnvp_units_at(limits->units, "instruction", stand_in);
    return instance != NULL ? instance : stand_in;
}

static struct cnnvp_command matmul_command(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice)
{
    struct cnnvp_command command = {
        .opcode = CNNVP_OPCODE_matmul,
        .status = cnnvp_scaled_status(layer, cnnvp_slice_status(layer, slice->first, slice->last))};
    const struct cnnvp_matmul matmul = {
        .inputs = slice->in,
        .outputs = slice->out,
        .bias_addr = cnnvp_weight_bytes(layer, slice->out * cnnvp_output_weights(layer, slice->in)),
        .format = layer->format,
        .limits = layer->limits};
    put_descriptor(&command, &matmul, sizeof matmul);
    return command;
}

static int is_folded(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_CONV && layer->folded != 0 && layer->folded != CNNVP_NOT_FOLDED;
}

static struct cnnvp_command window_command(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice)
{
    const uint32_t rows = (uint32_t)cnnvp_plan_input_rows(layer, slice->rows);
    const uint32_t columns = (uint32_t)cnnvp_plan_input_columns(layer, slice->columns);
    const struct cnnvp_operation operation = cnnvp_window_operation(layer, slice->first, slice->last);
    struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
    if (layer->op == CNNVP_OP_CONV)
        command.status = cnnvp_scaled_status(layer, command.status);
    struct cnnvp_window window =
        cnnvp_layer_window(layer, cnnvp_window_columns(layer), cnnvp_window_rows(layer), slice->rows, slice->columns);
    window.in_row_stride = columns;
    window.in_channel_stride = rows * columns;
    if (is_folded(layer))
        cnnvp_fold_row(layer, slice->columns, &window);
    window.in_channels = slice->in;
    window.out_channels = slice->out;
    window.bias_addr = cnnvp_weight_bytes(layer, slice->out * cnnvp_output_weights(layer, slice->in));
    if (layer->op == CNNVP_OP_POOL)
        window.acc_addr = cnnvp_pool_sums_at(layer, slice->first, slice->out * slice->rows * slice->columns);
    window.valid_rows = cnnvp_pack(0, rows);
    window.valid_cols = cnnvp_pack(0, columns);
    put_descriptor(&command, &window, sizeof window);
    return command;
}

static struct cnnvp_command command_of(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice)
{
    return layer->op == CNNVP_OP_FC ? matmul_command(layer, slice) : window_command(layer, slice);
}

/* Into how many parts the array cuts a channel, whose sums lie where its results will be, so that adding them up takes
 * the least time; none where it does not take them, or its sums are too narrow to be exact. */
static cnnvp_result choose_parts(struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits,
                                 struct cnnvp_error *error)
{
    const uint64_t plane = (uint64_t)layer->in.height * layer->in.width;
    const struct cnnvp_operation operation = cnnvp_sums_operation(1);
    const char *unit = executor(limits, operation.opcode);
    struct cnnvp_layer tried = *layer;
    struct cnnvp_cost cost;
    uint64_t least = UINT64_MAX;
    if (limits->sum_bits < 32u || plane > UINT64_C(1) << (limits->sum_bits - 31u))
        return CNNVP_DONE;
    for (uint32_t rows = 1; rows <= MAX_PARTS; ++rows)
        for (uint32_t columns = 1; columns <= MAX_PARTS; ++columns) {
            if (layer->in.height % rows != 0 || layer->in.width % columns != 0 ||
                rows * columns * 2u * CNNVP_SUM_BYTES > plane * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT))
                continue;
            tried.norm_parts = cnnvp_pack(columns, rows);
            const struct cnnvp_window window = cnnvp_sums_window(&tried, 1);
            struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
            put_descriptor(&command, &window, sizeof window);
            CNNVP_TRY(cnnvp_units_command(limits->units, unit, &command, &cost, error));
            if (cost.status == CNNVP_OK && cost.ps < least) {
                least = cost.ps;
                layer->norm_parts = tried.norm_parts;
            }
        }
    return CNNVP_DONE;
}

const char *cnnvp_plan_unit(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_slice least = {1, 1, 1, 1, 1, 1};
    switch (layer->op) {
    case CNNVP_OP_NORM:
        return executor(limits, CNNVP_OPCODE_vnorm);
    case CNNVP_OP_SOFTMAX:
        return executor(limits, CNNVP_OPCODE_vsoftmax);
    case CNNVP_OP_ADD:
        return executor(limits, CNNVP_OPCODE_vadd);
    case CNNVP_OP_ACTIVATION:
        return executor(limits, layer->post_count == 0                     ? CNNVP_OPCODE_store
                                : layer->posts[0].kind == CNNVP_POST_TABLE ? CNNVP_OPCODE_vact
                                                                           : CNNVP_OPCODE_vcmp);
    default:
        return executor(limits, command_of(layer, &least).opcode);
    }
}

/* How the unit of the layer's commands wants it cut. FAILED: it takes none of them, for the reason in *refusal. */
static cnnvp_result ask_tiling(const struct cnnvp_layer *layer, const char *name,
                               const struct cnnvp_plan_limits *limits, struct cnnvp_tiling *tiling,
                               struct cnnvp_error *refusal, struct cnnvp_error *error)
{
    const struct cnnvp_plan_slice whole = {
        layer->out.height, layer->out.width, cnnvp_layer_inputs(layer), layer->out.channels, 1, 1};
    const struct cnnvp_command command = command_of(layer, &whole);
    const char *unit = executor(limits, command.opcode);
    const cnnvp_result result = cnnvp_units_tiling(limits->units, unit, &command, tiling, refusal);
    if (result == CNNVP_DONE || result == CNNVP_FAILED)
        return result;
    return cnnvp_compiler_error(error, "layer \"%s\": %s", name, refusal->text);
}

/* The instruction that writes a layer's results, over one of them. */
static struct cnnvp_command last_command(const struct cnnvp_layer *layer)
{
    const struct cnnvp_plan_slice least = {1, 1, 1, 1, 1, 1};
    struct cnnvp_vector vector = {.count = 1, .repeat = 1};
    struct cnnvp_operation operation = {CNNVP_OPCODE_vdiv, 1u << CNNVP_STATUS_vdiv_store};
    if (has_unit(layer) && (layer->op != CNNVP_OP_POOL || layer->pool != CNNVP_POOL_AVERAGE))
        return command_of(layer, &least);
    if (layer->op == CNNVP_OP_ACTIVATION)
        operation = cnnvp_post_operation(&layer->posts[0], &vector);
    else if (layer->op == CNNVP_OP_NORM)
        operation = cnnvp_norm_operation(layer, CNNVP_NORM_TRANSFORM);
    else if (layer->op == CNNVP_OP_ADD) {
        operation = cnnvp_arithmetic_operation(layer);
        vector = cnnvp_arithmetic_vector(layer, 0);
        vector.count = vector.repeat = 1;
    }
    struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status | cnnvp_clip_status(1)};
    put_descriptor(&command, &vector, sizeof vector);
    return command;
}

/* How many of the posts are limits that the write-out of the layer's instruction keeps: none of softmax and tables. */
static cnnvp_result choose_clips(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                 struct cnnvp_error *error)
{
    const uint32_t first = layer->op == CNNVP_OP_ACTIVATION;
    struct cnnvp_cost cost;
    if (layer->op == CNNVP_OP_SOFTMAX || (first && layer->posts[0].kind == CNNVP_POST_TABLE))
        return CNNVP_DONE;
    while (first + layer->clips < layer->post_count && layer->posts[first + layer->clips].kind != CNNVP_POST_TABLE)
        ++layer->clips;
    if (layer->clips == 0)
        return CNNVP_DONE;
    if (has_unit(layer) && layer->unit == CNNVP_UNIT_ARRAY) {
        struct cnnvp_tiling tiling;
        CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &tiling, error));
        if (!tiling.limits) { /* one that does not know of them might take the command all the same */
            layer->clips = 0;
            return CNNVP_DONE;
        }
    }
    const struct cnnvp_command command = last_command(layer);
    CNNVP_TRY(cnnvp_units_command(limits->units, executor(limits, command.opcode), &command, &cost, error));
    if (cost.status != CNNVP_OK && cost.status != CNNVP_E_ADDR)
        layer->clips = 0;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_plan_choose_scale(struct cnnvp_layer *layer, const char *name,
                                     const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_layer scaled = *layer;
    struct cnnvp_tiling tiling = {0};
    struct cnnvp_error refusal;
    struct cnnvp_cost cost;
    scaled.bias = CNNVP_SCALE_WORDS;
    if (layer->op == CNNVP_OP_CONV)
        scaled.folded = CNNVP_NOT_FOLDED;
    const cnnvp_result result = ask_tiling(&scaled, name, limits, &tiling, &refusal, error);
    if (result != CNNVP_DONE || tiling.limits < CNNVP_LIMITS_AND_SCALE)
        return result == CNNVP_FAILED ? CNNVP_DONE : result;
    const struct cnnvp_command command = last_command(&scaled);
    CNNVP_TRY(cnnvp_units_command(limits->units, executor(limits, command.opcode), &command, &cost, error));
    if (cost.status == CNNVP_OK || cost.status == CNNVP_E_ADDR)
        *layer = scaled;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_plan_scales_operands(const struct cnnvp_plan_limits *limits, int *scales, struct cnnvp_error *error)
{
    const uint32_t one = 0x3f800000u; /* binary32 */
    const struct cnnvp_layer add = {.op = CNNVP_OP_ADD,
                                    .operands = {.a = one, .b = one, .divisor = one},
                                    .format = (uint32_t)CNNVP_ROUNDING_NEAREST << 16};
    const struct cnnvp_command command = last_command(&add);
    struct cnnvp_cost cost;
    CNNVP_TRY(cnnvp_units_command(limits->units, executor(limits, command.opcode), &command, &cost, error));
    *scales = cost.status == CNNVP_OK || cost.status == CNNVP_E_ADDR;
    return CNNVP_DONE;
}

/* Whether the layer's unit takes it: FAILED: it does not, for the reason in *said. */
static cnnvp_result ask_unit(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                             struct cnnvp_error *said, struct cnnvp_error *error)
{
    const struct cnnvp_plan_slice least = {1, 1, 1, 1, 1, 1};
    const struct cnnvp_command command = command_of(layer, &least);
    const char *unit = executor(limits, command.opcode);
    struct cnnvp_tiling tiling = {0};
    struct cnnvp_error refusal;
    struct cnnvp_cost cost;
    CNNVP_TRY(cnnvp_units_command(limits->units, unit, &command, &cost, error));
    cnnvp_result result = cost.status == CNNVP_OK || cost.status == CNNVP_E_ADDR ? CNNVP_DONE : CNNVP_FAILED;
    const char *reason = cost.reason[0] != '\0' ? cost.reason : cnnvp_status_text(cost.status);
    if (result == CNNVP_DONE && layer->unit == CNNVP_UNIT_ARRAY) {
        result = ask_tiling(layer, name, limits, &tiling, &refusal, error);
        reason = refusal.text;
    }
    if (result == CNNVP_FAILED)
        (void)snprintf(said->text, sizeof said->text, "%s: %.250s", unit, reason);
    else if (cost.status == CNNVP_OK && cnnvp_is_row(layer) && tiling.rows > 1 && layer->out.width > tiling.cols)
        layer->folded = tiling.cols;
    return result;
}

/* ps of a slice; 0: the layer's unit refuses it. */
static uint64_t unit_ps(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice,
                        const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_command command = command_of(layer, slice);
    struct cnnvp_error said;
    struct cnnvp_cost cost;
    const cnnvp_result result =
        cnnvp_units_command(limits->units, executor(limits, command.opcode), &command, &cost, &said);
    return result == CNNVP_DONE && cost.status == CNNVP_OK ? cost.ps : 0;
}

/* 1 unless the first one is faster at the largest slice that both take. */
static int is_worth_a_plan(const struct cnnvp_layer *first, const struct cnnvp_layer *other,
                           const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_slice slice = {
        first->out.height, first->out.width, cnnvp_layer_inputs(first), first->out.channels, 1, 1};
    for (;;) {
        slice.in = cnnvp_plan_is_channelwise(first) ? slice.out : slice.in;
        const uint64_t ps = unit_ps(first, &slice, limits), others = ps != 0 ? unit_ps(other, &slice, limits) : 0;
        if (others != 0)
            return others < ps;
        uint32_t *const part = slice.out > 1 ? &slice.out : slice.in > 1 ? &slice.in : &slice.rows;
        if (*part == 1)
            return 0;
        *part /= 2u;
    }
}

/* What its best plan is worth; lower is better. */
static double score_of(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest;
    struct cnnvp_error said;
    const cnnvp_result result = cnnvp_plan_layer(layer, name, limits, &finalists, &smallest, &said);
    return result == CNNVP_DONE && finalists.count != 0 ? finalists.all[0].score : INFINITY;
}

/* The unit of the first of `count` layers that is like what this one is `on` that unit; of none: that of the best plan.
 */
static uint32_t best_unit(const struct cnnvp_layer on[2], const char *name, const struct cnnvp_plan_limits *limits,
                          const struct cnnvp_layer *before, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (cnnvp_plan_are_alike(&on[before[i].unit], &before[i]))
            return before[i].unit;
    if (!is_worth_a_plan(&on[0], &on[1], limits))
        return CNNVP_UNIT_ARRAY;
    return score_of(&on[1], name, limits) < score_of(&on[0], name, limits) * (1 - 1 / UNIT_PART);
}

static cnnvp_result choose_unit(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                uint32_t wanted, size_t before, const char *place, struct cnnvp_error *error)
{
    struct cnnvp_layer on[2] = {*layer, *layer};
    struct cnnvp_error said[2] = {{""}, {"fully connected layers run on the PE array"}};
    cnnvp_result taken[2] = {CNNVP_FAILED, CNNVP_FAILED};
    on[CNNVP_UNIT_VECTOR].unit = CNNVP_UNIT_VECTOR;
    for (uint32_t unit = 0; unit < (layer->op == CNNVP_OP_FC ? 1u : 2u); ++unit) {
        taken[unit] = ask_unit(&on[unit], name, limits, &said[unit], error);
        if (taken[unit] == CNNVP_DONE)
            CNNVP_TRY(choose_clips(&on[unit], name, limits, error));
        else if (taken[unit] != CNNVP_FAILED)
            return taken[unit];
    }
    const int both = taken[CNNVP_UNIT_ARRAY] == CNNVP_DONE && taken[CNNVP_UNIT_VECTOR] == CNNVP_DONE;
    uint32_t unit = taken[CNNVP_UNIT_ARRAY] == CNNVP_DONE ? CNNVP_UNIT_ARRAY : CNNVP_UNIT_VECTOR;
    if (wanted != CNNVP_PLAN_ANY_UNIT)
        unit = wanted - 1u;
    else if (both)
        unit = best_unit(on, name, limits, layer - before, before);
    *layer = on[unit];
    if (taken[unit] == CNNVP_DONE)
        return CNNVP_DONE;
    if (wanted != CNNVP_PLAN_ANY_UNIT)
        return cnnvp_config_error(error, place, "layer \"%s\": %s", name, said[unit].text);
    if (layer->op == CNNVP_OP_FC)
        return cnnvp_compiler_error(error, "layer \"%s\": %s", name, said[CNNVP_UNIT_ARRAY].text);
    return cnnvp_compiler_error(error, "layer \"%s\": %s; and %s", name, said[0].text, said[1].text);
}

cnnvp_result cnnvp_plan_choose_unit(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                    uint32_t wanted, size_t before, const char *place, struct cnnvp_error *error)
{
    layer->unit = CNNVP_UNIT_ARRAY;
    if (has_unit(layer))
        return choose_unit(layer, name, limits, wanted, before, place, error);
    if (wanted != CNNVP_PLAN_ANY_UNIT)
        return cnnvp_config_error(
            error, place, "layer \"%s\": the units of convolutions and of pooling are chosen, not that of others",
            name);
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA)
        CNNVP_TRY(choose_parts(layer, limits, error));
    return choose_clips(layer, name, limits, error);
}

cnnvp_result cnnvp_plan_tiling(const struct cnnvp_layer *layer, const char *name,
                               const struct cnnvp_plan_limits *limits, struct cnnvp_tiling *tiling,
                               struct cnnvp_error *error)
{
    struct cnnvp_error refusal;
    *tiling = (struct cnnvp_tiling){
        .rows = 1,
        .cols = 1,
        .in = 1,
        .out = 1,
        .side = 1,
        .result_bytes = CNNVP_WORD_BYTES,
        .word_bytes = CNNVP_WORD_BYTES,
        .format = CNNVP_WORD_FORMAT,
        .layout = CNNVP_WORD_LAYOUT,
        .pes = 1};
    if (!has_unit(layer))
        return CNNVP_DONE;
    const char *unit =
        executor(limits, layer->op == CNNVP_OP_FC ? CNNVP_OPCODE_matmul : cnnvp_window_operation(layer, 1, 1).opcode);
    const cnnvp_result result = ask_tiling(layer, name, limits, tiling, &refusal, error);
    if (result == CNNVP_FAILED)
        return cnnvp_compiler_error(error, "layer \"%s\": %s: %s", name, unit, refusal.text);
    const uint32_t bytes = cnnvp_format_bytes(layer->format, CNNVP_NARROW_A);
    const char *format = bytes == CNNVP_WORD_BYTES ? CNNVP_WORD_FORMAT : CNNVP_BYTE_FORMAT;
    if (result != CNNVP_DONE || (strcmp(tiling->format, format) == 0 && tiling->word_bytes == bytes &&
                                 strcmp(tiling->layout, CNNVP_WORD_LAYOUT) == 0))
        return result;
    return cnnvp_compiler_error(
        error,
        "layer \"%s\": %s calculates with %u-byte words of format \"%s\", layout \"%s\"; "
        "networks run on %u-byte words of fixed point, \"%s\", in \"planes\"",
        name, unit, (unsigned)tiling->word_bytes, tiling->format, tiling->layout, (unsigned)bytes, format);
}

cnnvp_result cnnvp_plan_takes(const struct cnnvp_plan_limits *limits, int narrow, int *scales,
                              struct cnnvp_error *error)
{
    const struct cnnvp_tensor one = {
        .channels = 1,
        .height = 1,
        .width = 1,
        .column_stride = 1,
        .row_stride = 1,
        .channel_stride = 1,
        .word_shift = !narrow};
    const uint32_t words = narrow ? CNNVP_NARROW_A | CNNVP_NARROW_B | CNNVP_NARROW_OUT : 0u;
    struct cnnvp_layer layer = {
        .op = CNNVP_OP_CONV,
        .in = one,
        .out = one,
        .kx = 1,
        .ky = 1,
        .sx = 1,
        .sy = 1,
        .dx = 1,
        .dy = 1,
        .format = words << CNNVP_NARROW_LSB};
    struct cnnvp_tiling tiling;
    CNNVP_TRY(ask_unit(&layer, "words", limits, error, error));
    struct cnnvp_layer dense = layer;
    dense.op = CNNVP_OP_FC;
    CNNVP_TRY(ask_unit(&dense, "words", limits, error, error));
    if (cnnvp_plan_tiling(&layer, "words", limits, &tiling, error) != CNNVP_DONE)
        return CNNVP_FAILED;
    CNNVP_TRY(cnnvp_plan_choose_scale(&layer, "words", limits, error));
    *scales = layer.bias == CNNVP_SCALE_WORDS;
    return CNNVP_DONE;
}

/* ---- answers ---- */

/* The answer, or the empty place where it is to be. */
static struct answer *place_of(struct cnnvp_cost_query *query, enum kind kind, const uint32_t question[7])
{
    uint64_t hash = (uint64_t)kind;
    for (size_t i = 0; i < 7; ++i)
        hash = (hash ^ question[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = (size_t)(hash >> 40);; ++at) {
        struct answer *answer = &query->answers[at % query->size];
        if (answer->kind == EMPTY ||
            (answer->kind == kind && memcmp(answer->question, question, sizeof answer->question) == 0))
            return answer;
    }
}

/* Twice as many places; where there is no memory for them, none of the answers is known any more. */
static void make_room(struct cnnvp_cost_query *query)
{
    struct answer *const before = query->answers;
    const size_t size = query->size;
    struct answer *more = calloc(2u * size, sizeof *more);
    if (more == NULL) {
        memset(query->answers, 0, size * sizeof *query->answers);
        query->count = 0;
        return;
    }
    query->answers = more;
    query->size = 2u * size;
    for (size_t i = 0; i < size; ++i)
        if (before[i].kind != EMPTY)
            *place_of(query, before[i].kind, before[i].question) = before[i];
    free(before);
}

static struct answer *look_up(struct cnnvp_cost_query *query, enum kind kind, const uint32_t question[7], int *known)
{
    if (query->count > query->size / 4u * 3u)
        make_room(query);
    struct answer *answer = place_of(query, kind, question);
    *known = answer->kind != EMPTY;
    if (*known)
        return answer;
    answer->kind = kind;
    memcpy(answer->question, question, sizeof answer->question);
    ++query->count;
    return answer;
}

static void no_answer(struct cnnvp_cost_query *query, const char *instance, const struct cnnvp_command *command,
                      const char *what, uint64_t ps)
{
    if (query->wrong.text[0] == '\0')
        snprintf(query->wrong.text, sizeof query->wrong.text,
                 "layer \"%s\": %s, asked what opcode 0x%02x takes, answers %llu ps: %s", query->name, instance,
                 (unsigned)command->opcode, (unsigned long long)ps, what);
}

/* In ps; CNNVP_PLAN_REFUSED, and what was said where `keep` is set. */
static uint64_t ask_command(struct cnnvp_cost_query *query, const struct cnnvp_command *command, int keep)
{
    const char *instance = executor(query->limits, command->opcode);
    struct cnnvp_cost cost;
    struct cnnvp_error said;
    if (cnnvp_units_command(query->limits->units, instance, command, &cost, &said) != CNNVP_DONE) {
        if (query->wrong.text[0] == '\0')
            snprintf(query->wrong.text, sizeof query->wrong.text, "layer \"%s\": %.1900s", query->name, said.text);
        return CNNVP_PLAN_REFUSED;
    }
    if (cost.status != CNNVP_OK && keep)
        snprintf(query->refusal, sizeof query->refusal, "%s: %s", instance,
                 cost.reason[0] != '\0' ? cost.reason : cnnvp_status_text(cost.status));
    if (cost.status != CNNVP_OK)
        return CNNVP_PLAN_REFUSED;
    if (cost.ps == 0)
        no_answer(query, instance, command, "work takes time", cost.ps);
    else if (cost.ps > MAX_PS)
        no_answer(query, instance, command, "that is more than an hour in one command", cost.ps);
    else
        return cost.ps;
    return CNNVP_PLAN_REFUSED;
}

uint64_t cnnvp_plan_slice_ps(struct cnnvp_cost_query *query, const struct cnnvp_plan_slice *slice)
{
    const struct cnnvp_layer *layer = query->layer;
    if (is_folded(layer) && cnnvp_row_part(layer, slice->columns) != slice->columns) {
        struct cnnvp_plan_slice part = *slice;
        part.columns = cnnvp_row_part(layer, slice->columns);
        const uint64_t first = cnnvp_plan_slice_ps(query, &part);
        part.columns = slice->columns - part.columns;
        const uint64_t rest = cnnvp_plan_slice_ps(query, &part);
        return first == CNNVP_PLAN_REFUSED || rest == CNNVP_PLAN_REFUSED ? CNNVP_PLAN_REFUSED : first + rest;
    }
    const uint32_t question[7] = {
        slice->rows,
        slice->columns,
        slice->in,
        slice->out,
        (uint32_t)slice->first << 1 | (uint32_t)slice->last,
        cnnvp_pack(layer->tile_kx, layer->tile_ky)};
    int known;
    struct answer *answer = look_up(query, SLICE, question, &known);
    if (!known || (answer->ps[0] == CNNVP_PLAN_REFUSED && query->refusal[0] == '\0')) {
        const struct cnnvp_command command = command_of(layer, slice);
        answer->ps[0] = ask_command(query, &command, 1);
    }
    return answer->ps[0];
}

/* Of all rows of the map, strips of equal height after each other, with some channels in and out. */
static uint64_t strips_ps(struct cnnvp_cost_query *query, uint32_t rows, uint32_t columns)
{
    const struct cnnvp_layer *layer = query->layer;
    const uint32_t out = cnnvp_minimum32(layer->out.channels, STRIP_CHANNELS);
    const uint32_t in =
        cnnvp_plan_is_channelwise(layer) ? out : cnnvp_minimum32(cnnvp_layer_inputs(layer), STRIP_CHANNELS);
    const uint32_t counts[] = {layer->out.height / rows, layer->out.height % rows != 0};
    const uint32_t sizes[] = {rows, layer->out.height % rows};
    uint64_t sum = 0;
    for (size_t i = 0; i < 2 && sum != CNNVP_PLAN_REFUSED; ++i) {
        const struct cnnvp_plan_slice slice = {sizes[i], columns, in, out, 1, 1};
        const uint64_t ps = counts[i] != 0 ? cnnvp_plan_slice_ps(query, &slice) : 0;
        sum = ps != CNNVP_PLAN_REFUSED ? sum + counts[i] * ps : ps;
    }
    return sum;
}

uint32_t cnnvp_plan_strip_rows(struct cnnvp_cost_query *query, const struct cnnvp_tiling *tiling)
{
    const struct cnnvp_tensor *out = &query->layer->out;
    const uint32_t columns = cnnvp_minimum32(out->width, tiling->cols);
    uint32_t best = tiling->rows;
    if (best == 1)
        return best;
    uint64_t ps = strips_ps(query, cnnvp_minimum32(out->height, best), columns);
    for (uint32_t rows = cnnvp_minimum32(out->height, best); rows % 2u == 0 && ps != CNNVP_PLAN_REFUSED;) {
        rows /= 2u;
        const uint64_t lower = strips_ps(query, rows, columns);
        if (lower >= ps - ps / STRIP_PART)
            break;
        ps = lower;
        best = rows;
    }
    query->refusal[0] = '\0'; /* of strips that need not fit; the search asks about those that do */
    return best;
}

/* So many such instructions. */
static uint64_t vector_ps(struct cnnvp_cost_query *query, struct cnnvp_operation operation,
                          const struct cnnvp_vector *vector, uint32_t count)
{
    struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
    put_descriptor(&command, vector, sizeof *vector);
    const uint64_t ps = ask_command(query, &command, 1);
    query->vectors += count;
    return ps != CNNVP_PLAN_REFUSED ? ps * count : ps;
}

/* Of what an operand has of a box of results: on chip, or loaded. */
static struct cnnvp_strides strides_of(const struct cnnvp_layer *layer, const struct cnnvp_tensor *operand,
                                       const uint32_t box[3])
{
    uint32_t size[3] = {box[0], box[1], box[2]};
    for (uint32_t i = 0; i < 3 && layer->permuted != 0; ++i)
        size[layer->from[i]] = box[i];
    const uint32_t rows = cnnvp_minimum32(size[1], operand->height), columns = cnnvp_minimum32(size[2], operand->width);
    const struct cnnvp_strides tile =
        operand->on_chip ? (struct cnnvp_strides){operand->channel_stride, operand->row_stride, 1}
                         : (struct cnnvp_strides){rows * columns, columns, 1};
    return layer->permuted != 0 ? cnnvp_permuted_strides(layer, tile)
                                : cnnvp_spread_strides(operand, &layer->out, tile);
}

/* Both operands in the input buffer, the second after the first; or one in place of the results. */
static uint64_t arithmetic_ps(struct cnnvp_cost_query *query, const uint32_t box[3])
{
    const struct cnnvp_layer *layer = query->layer;
    struct cnnvp_operation operation = cnnvp_arithmetic_operation(layer);
    const int added = layer->added.tag != 0;
    struct cnnvp_vector vector = cnnvp_arithmetic_vector(layer, 0);
    const struct cnnvp_strides a =
        added ? (struct cnnvp_strides){box[1] * box[2], box[2], 1} : strides_of(layer, &layer->in, box);
    const struct cnnvp_strides b = strides_of(layer, &layer->in2, box);
    const uint32_t count = cnnvp_elementwise(&a, &b, box[0], box[1], box[2], &vector);
    vector.b_addr = added ? 0 : cnnvp_even(box[0] * box[1] * box[2] << layer->in.word_shift);
    operation.status |= added ? cnnvp_addition_sources(layer) : 0;
    return vector_ps(query, operation, &vector, count);
}

/* The array's sums of values and of squares. */
static uint64_t sums_ps(struct cnnvp_cost_query *query, uint32_t channels)
{
    uint64_t sum = 0;
    for (int squares = 0; squares < 2 && sum != CNNVP_PLAN_REFUSED; ++squares) {
        const struct cnnvp_operation operation = cnnvp_sums_operation(squares);
        struct cnnvp_window window = cnnvp_sums_window(query->layer, channels);
        struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
        put_descriptor(&command, &window, sizeof window);
        const uint64_t ps = ask_command(query, &command, 1);
        ++query->vectors;
        sum = ps != CNNVP_PLAN_REFUSED ? sum + ps : ps;
    }
    return sum;
}

/* Channels are repetitions; vectors of one word a channel lie after the results. Statistics of a batch are of all
 * images of a step, each of which is transformed by itself. */
static uint64_t norm_ps(struct cnnvp_cost_query *query, uint32_t channels, uint32_t plane)
{
    const uint32_t images = query->layer->tile_images;
    uint64_t sum = query->layer->norm_parts != 0 ? sums_ps(query, channels) : 0;
    for (enum cnnvp_norm_step step = query->layer->norm != CNNVP_NORM_STORED ? CNNVP_NORM_MEAN : CNNVP_NORM_TRANSFORM;
         step != CNNVP_NORM_STEPS && sum != CNNVP_PLAN_REFUSED; ++step) {
        const int over_channels = step >= CNNVP_NORM_SCALE && step <= CNNVP_NORM_OFFSET;
        const uint32_t after =
            cnnvp_even(channels * plane * cnnvp_format_bytes(query->layer->format, CNNVP_NARROW_OUT));
        struct cnnvp_vector vector = {
            .b_addr = after,
            .c_addr = after + channels * CNNVP_WORD_BYTES,
            .out_addr = step == CNNVP_NORM_TRANSFORM ? 0 : after + 2u * channels * CNNVP_WORD_BYTES,
            .count = over_channels                  ? channels
                     : step == CNNVP_NORM_TRANSFORM ? plane
                                                    : plane * images,
            .repeat = over_channels ? 1u : channels,
            .a_stride = 1,
            .b_stride = over_channels ? 1u : 0,
            .a_repeat = plane * images,
            .b_repeat = 1,
            .c_repeat = 1,
            .out_repeat = step == CNNVP_NORM_TRANSFORM ? plane : 1u,
            .format = cnnvp_norm_format(query->layer, step)};
        if (query->layer->norm_parts != 0 && step <= CNNVP_NORM_VARIANCE)
            vector = cnnvp_sums_vector(query->layer, step, &vector);
        const uint64_t ps = vector_ps(
            query, cnnvp_norm_operation(query->layer, step), &vector, step == CNNVP_NORM_TRANSFORM ? images : 1u);
        sum = ps != CNNVP_PLAN_REFUSED ? sum + ps : ps;
    }
    return sum;
}

/* Groups of words that one instruction takes; transposed results take another, of as many beats at most. */
static uint64_t softmax_ps(struct cnnvp_cost_query *query, uint32_t channels, uint32_t rows, uint32_t columns)
{
    const uint32_t axis = query->layer->axis;
    const int position = rows * columns == 1;
    const uint32_t count = axis == CNNVP_AXIS_CHANNELS || position ? channels
                           : axis == CNNVP_AXIS_ROWS               ? rows
                                                                   : columns;
    const uint32_t groups = axis != CNNVP_AXIS_LAST ? columns : position ? 1 : rows == 1 ? channels : rows;
    const struct cnnvp_vector vector = {
        .count = count,
        .repeat = groups,
        .a_stride = 1,
        .a_repeat = count,
        .out_repeat = count,
        .format = query->layer->format};
    return vector_ps(query, (struct cnnvp_operation){CNNVP_OPCODE_vsoftmax, 0}, &vector,
                     cnnvp_divide_up32(channels * rows * columns, count * groups));
}

/* The first one of a layer of its own is over the operand, others are over the results. */
static uint64_t post_ps(struct cnnvp_cost_query *query, uint32_t index, const uint32_t box[3])
{
    const struct cnnvp_layer *layer = query->layer;
    struct cnnvp_vector vector = {.count = box[0] * box[1] * box[2], .repeat = 1, .a_stride = 1};
    const int first = index == 0 && layer->op == CNNVP_OP_ACTIVATION;
    const struct cnnvp_strides a = strides_of(layer, &layer->in, box);
    const uint32_t count = first ? cnnvp_elementwise(&a, NULL, box[0], box[1], box[2], &vector) : 1u;
    struct cnnvp_operation operation = cnnvp_post_operation(&layer->posts[index], &vector);
    operation.status |= first ? 0 : SOURCE_OUTPUT << CNNVP_STATUS_vcmp_a;
    return vector_ps(query, operation, &vector, count);
}

struct cnnvp_plan_vectors cnnvp_plan_vectors_of(struct cnnvp_cost_query *query, uint32_t channels, uint32_t rows,
                                                uint32_t columns)
{
    const struct cnnvp_layer *layer = query->layer;
    const uint32_t box[3] = {channels, rows, columns};
    const uint32_t question[7] = {channels, rows, columns};
    int known;
    struct answer *answer = look_up(query, VECTOR, question, &known);
    if (known)
        return (struct cnnvp_plan_vectors){answer->ps[0], answer->ps[1]};
    query->vectors = 0;
    uint64_t sum = layer->op == CNNVP_OP_ADD || layer->added.tag != 0 ? arithmetic_ps(query, box)
                   : layer->op == CNNVP_OP_NORM                       ? norm_ps(query, channels, rows * columns)
                   : layer->op == CNNVP_OP_SOFTMAX                    ? softmax_ps(query, channels, rows, columns)
                                                                      : 0;
    for (uint32_t i = 0; i < layer->post_count && sum != CNNVP_PLAN_REFUSED; ++i) {
        if (cnnvp_is_written_out(layer, i))
            continue;
        const uint64_t ps = post_ps(query, i, box);
        sum = ps != CNNVP_PLAN_REFUSED ? sum + ps : ps;
    }
    answer->ps[0] = sum;
    answer->ps[1] = query->vectors;
    return (struct cnnvp_plan_vectors){sum, query->vectors};
}

/* Of a transfer into the input buffer, `planes` of `rows` rows; 0 where it is unknown, or it is too large for the
 * buffer: no reason to refuse the layer. */
static uint64_t transfer_ps(struct cnnvp_cost_query *query, enum cnnvp_opcode opcode, uint32_t word_shift,
                            uint32_t interleaved, uint64_t offset, const struct cnnvp_transfer *transfer)
{
    struct cnnvp_command command = {.opcode = opcode,
                                    .status = (word_shift == 0 ? 1u : 0u) << CNNVP_STATUS_receive_bytes,
                                    .immediate = interleaved};
    struct cnnvp_transfer asked = *transfer;
    asked.memory_addr = (uint32_t)(query->limits->memory_base + offset);
    put_descriptor(&command, &asked, sizeof asked);
    const uint64_t ps = ask_command(query, &command, 0);
    return ps != CNNVP_PLAN_REFUSED ? ps : 0;
}

static const struct cnnvp_transfer one_word = {.row_bytes = CNNVP_WORD_BYTES, .rows = 1, .planes = 1};

static uint64_t latency_ps(struct cnnvp_cost_query *query)
{
    if (query->latency == UINT64_MAX)
        query->latency = transfer_ps(query, CNNVP_OPCODE_receive, 1, 1, 0, &one_word);
    return query->latency;
}

uint64_t cnnvp_plan_request_ps(struct cnnvp_cost_query *query)
{
    if (query->request == UINT64_MAX)
        query->request = transfer_ps(query, CNNVP_OPCODE_request, 1, 1, 0, &one_word);
    return query->request;
}

/* Of this many, where `few` take ps[0] and `many` ps[1]. */
static uint64_t extrapolate(uint64_t count, uint64_t few, uint64_t many, const uint64_t ps[2])
{
    const uint64_t more = ps[1] > ps[0] ? ps[1] - ps[0] : 0;
    if (count >= few)
        return ps[0] + more * (count - few) / (many - few);
    return ps[0] * count / few;
}

/* Bursts of the first `rows` rows of the first `tiles` tiles of this width, side by side, of a plane or block. */
static uint64_t bursts_of(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, uint32_t rows,
                          uint32_t columns, uint32_t tiles)
{
    const uint32_t burst = query->limits->burst_bytes >> tensor->word_shift, words = columns * tensor->column_stride;
    uint64_t count = 0;
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        uint64_t behind = 0; /* a burst that ends one row and begins the next comes once */
        for (uint32_t row = 0; row < rows; ++row) {
            const uint64_t first = (uint64_t)tensor->border_left * tensor->column_stride + (uint64_t)tile * words +
                                   (uint64_t)row * tensor->row_stride;
            const uint64_t end = (first + words - 1u) / burst + 1u;
            count += end - cnnvp_maximum(first / burst, behind);
            behind = end;
        }
    }
    return count;
}

/* The first tile of a map often begins with a burst, others do not: what one of them takes on average. */
static uint64_t of_any_tile(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, uint32_t rows,
                            uint32_t columns, uint64_t ps)
{
    const uint32_t tiles = tensor->width / columns;
    if (columns * tensor->column_stride == tensor->row_stride || tiles < 2 ||
        query->limits->burst_bytes < CNNVP_WORD_BYTES)
        return ps;
    const uint32_t asked = cnnvp_minimum32(rows, ALIGNED_ROWS);
    return ps * bursts_of(query, tensor, ALIGNED_ROWS, columns, tiles) * asked /
           (bursts_of(query, tensor, asked, columns, 1) * ALIGNED_ROWS * tiles);
}

/* Planes, rows and columns from the first interior word on, as far as they lie in the tensor and in the buffer. */
static uint64_t box_ps(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, uint32_t channels,
                       uint32_t rows, uint32_t columns)
{
    const uint32_t shift = tensor->word_shift, block = tensor->column_stride;
    const uint32_t interior = tensor->border_top * tensor->row_stride + tensor->border_left * block;
    const uint32_t question[7] = {
        rows, columns, tensor->row_stride, tensor->channel_stride, interior, tensor->width << 1 | shift, block};
    const uint32_t few = block > 1u ? block : FEW_PLANES, many = block > 1u ? 2u * block : MANY_PLANES;
    int known;
    struct answer *answer = look_up(query, BOX, question, &known);
    for (size_t i = 0; !known && i < 2; ++i) {
        const uint32_t planes = i == 0 ? few : many;
        const uint32_t row_stride = tensor->row_stride != 0 ? tensor->row_stride : columns;
        const uint32_t plane_stride = tensor->channel_stride != 0 ? tensor->channel_stride : row_stride * rows;
        const struct cnnvp_transfer box = {
            .row_bytes = columns << shift,
            .rows = rows,
            .memory_row_stride = row_stride << shift,
            .buffer_row_stride = columns << shift,
            .planes = planes,
            .memory_plane_stride = plane_stride << shift,
            .buffer_plane_stride = rows * columns << shift};
        const uint64_t ps = transfer_ps(query, CNNVP_OPCODE_receive, shift, block, (uint64_t)interior << shift, &box);
        const uint64_t latency = latency_ps(query);
        answer->ps[i] = ps > latency ? of_any_tile(query, tensor, rows, columns, ps - latency) : 0;
    }
    /* Too many planes for the buffer are refused: as many as the fewer take. */
    if (answer->ps[1] < answer->ps[0])
        return answer->ps[0] * channels / few;
    return extrapolate(channels, few, many, answer->ps);
}

static void ask_line(struct cnnvp_cost_query *query)
{
    static const uint32_t bytes[2] = {FEW_BYTES, MANY_BYTES};
    const uint64_t latency = latency_ps(query);
    for (size_t i = 0; i < 2; ++i) {
        const struct cnnvp_transfer line = {.row_bytes = bytes[i], .rows = 1, .planes = 1};
        const uint64_t ps = transfer_ps(query, CNNVP_OPCODE_receive, 1, 1, 0, &line);
        query->line[i] = ps > latency ? ps - latency : 0;
    }
}

static uint64_t line_ps(struct cnnvp_cost_query *query, uint64_t bytes)
{
    if (query->line[0] == UINT64_MAX)
        ask_line(query);
    if (query->line[1] < query->line[0])
        return query->line[0] * bytes / FEW_BYTES;
    return extrapolate(bytes, FEW_BYTES, MANY_BYTES, query->line);
}

double cnnvp_plan_bytes_a_ps(struct cnnvp_cost_query *query)
{
    const uint64_t ps = line_ps(query, MANY_BYTES);
    return ps != 0 ? MANY_BYTES / (double)ps / TIME_PART : 0;
}

struct cnnvp_plan_moved cnnvp_plan_move_line(struct cnnvp_cost_query *query, uint64_t bytes)
{
    const uint64_t burst = query->limits->burst_bytes;
    return (struct cnnvp_plan_moved){
        line_ps(query, bytes), (bytes + burst - 1u) / burst * burst, bytes / CNNVP_WORD_BYTES};
}

struct cnnvp_plan_moved cnnvp_plan_box(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                       uint32_t channels, uint32_t rows, uint32_t columns)
{
    const uint64_t burst = query->limits->burst_bytes;
    const uint32_t shift = tensor->word_shift;
    const uint64_t block = tensor->column_stride, blocks = channels / block;
    const uint64_t row = columns * block << shift, row_stride = (uint64_t)tensor->row_stride << shift;
    /* Rows, and planes, that are nearer to each other than a burst take the bursts of all that they span. */
    const int rows_touch = row_stride - row < burst;
    const uint64_t plane = rows_touch ? (rows - 1u) * row_stride + row : row;
    const uint64_t step = rows_touch ? block * tensor->channel_stride << shift : row_stride;
    const uint64_t pieces = rows_touch ? blocks : blocks * rows;
    const int all_touch = rows_touch && step - plane < burst;
    const uint64_t begin = burst - cnnvp_common_divisor(burst, block << shift); /* of a burst, before it, or behind */
    const uint64_t bursts = all_touch ? (pieces - 1u) * step + plane + begin : pieces * (plane + begin);
    return (struct cnnvp_plan_moved){0, bursts, cnnvp_divide_up(blocks * rows * row, CNNVP_WORD_BYTES)};
}

struct cnnvp_plan_moved cnnvp_plan_move_box(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                            uint32_t channels, uint32_t rows, uint32_t columns)
{
    struct cnnvp_plan_moved moved = cnnvp_plan_box(query, tensor, channels, rows, columns);
    moved.ps = box_ps(query, tensor, channels, rows, columns);
    return moved;
}
