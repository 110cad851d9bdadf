/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the unit of a layer and what the unit's write-out does, and asks for number formats and tile sizes. */
#include "cost_query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "binary/layer_command.h"
#include "cnnvp_buffer.h"
#include "isa/isa.h"

#define MAX_PARTS 64u  /* most parts of a channel in each of rows and columns */
#define UNIT_PART 32.0 /* the vector unit's score has to be better by 1 / UNIT_PART, since bounds are rough */

static int has_unit(const struct cnnvp_layer *layer)
{
    return cnnvp_plan_has_weights(layer) || layer->op == CNNVP_OP_POOL;
}

/* The instruction that accumulates the layer's sums. */
static uint32_t sums_opcode(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_FC ? CNNVP_OPCODE_matmul : cnnvp_window_operation(layer, 1, 1).opcode;
}

/* Chooses the parts of each channel that the array's PEs add up for normalisation, so that it takes the least time. The
 * sums of the parts have to fit where the results will lie. There are no parts if the array refuses the instruction or
 * its accumulators are too narrow for exact sums. */
static cnnvp_result choose_parts(struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits,
                                 struct cnnvp_error *error)
{
    const uint64_t plane = (uint64_t)layer->in.height * layer->in.width;
    const struct cnnvp_operation operation = cnnvp_sums_operation(1);
    const char *unit = cnnvp_plan_executor(limits, operation.opcode);
    struct cnnvp_layer tried = *layer;
    struct cnnvp_cost cost;
    uint64_t least = UINT64_MAX;
    if (limits->sum_bits < 32u || plane > UINT64_C(1) << (limits->sum_bits - 31u))
        return CNNVP_DONE;
    for (uint32_t rows = 1; rows <= MAX_PARTS; ++rows)
        for (uint32_t columns = 1; columns <= MAX_PARTS; ++columns) {
            if (layer->in.height % rows != 0 || layer->in.width % columns != 0 ||
                rows * columns * 2u * layer->sum_bytes > plane * cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT))
                continue;
            tried.norm_parts = cnnvp_pack(columns, rows);
            const struct cnnvp_window window = cnnvp_sums_window(&tried, 1);
            struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
            cnnvp_plan_put_descriptor(&command, &window, sizeof window);
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
        return cnnvp_plan_executor(limits, CNNVP_OPCODE_vnorm);
    case CNNVP_OP_SOFTMAX:
        return cnnvp_plan_executor(limits, CNNVP_OPCODE_vsoftmax);
    case CNNVP_OP_ADD:
        return cnnvp_plan_executor(limits, CNNVP_OPCODE_vadd);
    case CNNVP_OP_ACTIVATION:
        return cnnvp_plan_executor(limits, layer->post_count == 0                     ? CNNVP_OPCODE_store
                                           : layer->posts[0].kind == CNNVP_POST_TABLE ? CNNVP_OPCODE_vact
                                                                                      : CNNVP_OPCODE_vcmp);
    default:
        return cnnvp_plan_executor(limits, cnnvp_plan_slice_command(layer, &least).opcode);
    }
}

/* The tile sizes that the unit of the layer's commands prefers. FAILED: it refuses the layer for the reason in
 * *refusal. */
static cnnvp_result ask_tiling(const struct cnnvp_layer *layer, const char *name,
                               const struct cnnvp_plan_limits *limits, struct cnnvp_tiling *tiling,
                               struct cnnvp_error *refusal, struct cnnvp_error *error)
{
    const struct cnnvp_plan_slice whole = {
        layer->out.height, layer->out.width, cnnvp_layer_inputs(layer), layer->out.channels, 1, 1};
    const struct cnnvp_command command = cnnvp_plan_slice_command(layer, &whole);
    const char *unit = cnnvp_plan_executor(limits, command.opcode);
    const cnnvp_result result = cnnvp_units_tiling(limits->units, unit, &command, tiling, refusal);
    if (result == CNNVP_DONE || result == CNNVP_FAILED)
        return result;
    return cnnvp_compiler_error(error, "layer \"%s\": %s", name, refusal->text);
}

/* The instruction that writes a layer's results, for a single result. */
static struct cnnvp_command last_command(const struct cnnvp_layer *layer)
{
    const struct cnnvp_plan_slice least = {1, 1, 1, 1, 1, 1};
    struct cnnvp_vector vector = {.count = 1, .repeat = 1};
    struct cnnvp_operation operation = {CNNVP_OPCODE_vdiv, 1u << CNNVP_STATUS_vdiv_store};
    if (has_unit(layer) && (layer->op != CNNVP_OP_POOL || layer->pool != CNNVP_POOL_AVERAGE))
        return cnnvp_plan_slice_command(layer, &least);
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
    cnnvp_plan_put_descriptor(&command, &vector, sizeof vector);
    return command;
}

/* Sets *taken: 1 if the command's unit takes it. An invalid address is no refusal: addresses are not set yet. */
static cnnvp_result ask_taken(const struct cnnvp_plan_limits *limits, const struct cnnvp_command *command, int *taken,
                              struct cnnvp_error *error)
{
    struct cnnvp_cost cost;
    const char *unit = cnnvp_plan_executor(limits, command->opcode);
    CNNVP_TRY(cnnvp_units_command(limits->units, unit, command, &cost, error));
    *taken = cost.status == CNNVP_OK || cost.status == CNNVP_E_ADDR;
    return CNNVP_DONE;
}

/* Sets `clips`: how many of the posts are limits that the write-out of the layer's instruction applies. It applies none
 * if that instruction is a softmax or a table. */
static cnnvp_result choose_limits(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                  struct cnnvp_error *error)
{
    const uint32_t first = layer->op == CNNVP_OP_ACTIVATION;
    int taken;
    if (layer->op == CNNVP_OP_SOFTMAX || (first && layer->posts[0].kind == CNNVP_POST_TABLE))
        return CNNVP_DONE;
    while (first + layer->clips < layer->post_count && layer->posts[first + layer->clips].kind != CNNVP_POST_TABLE)
        ++layer->clips;
    if (layer->clips == 0)
        return CNNVP_DONE;
    if (has_unit(layer) && layer->unit == CNNVP_UNIT_ARRAY) {
        struct cnnvp_tiling tiling;
        CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &tiling, error));
        if (!tiling.limits) { /* a unit that does not know limits might still take the command and ignore them */
            layer->clips = 0;
            return CNNVP_DONE;
        }
    }
    const struct cnnvp_command command = last_command(layer);
    CNNVP_TRY(ask_taken(limits, &command, &taken, error));
    layer->clips = taken ? layer->clips : 0;
    return CNNVP_DONE;
}

/* The score of the layer's best plan; lower is better. */
static double score_of(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_finalists finalists;
    struct cnnvp_plan_use smallest;
    struct cnnvp_error said;
    const cnnvp_result result = cnnvp_plan_layer(layer, name, limits, &finalists, &smallest, &said);
    return result == CNNVP_DONE && finalists.count != 0 ? finalists.all[0].score : INFINITY;
}

/* Decides whether the write-out also takes a convolution's results through the table after its limits: if that has the
 * better score than a pass of the vector unit. The results are the same words, except with stochastic rounding, where
 * the table stays with the vector unit. `wanted`, an enum cnnvp_plan_function, overrides the comparison. */
static cnnvp_result choose_clips(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                 uint32_t wanted, struct cnnvp_error *error)
{
    struct cnnvp_tiling tiling;
    int taken;
    CNNVP_TRY(choose_limits(layer, name, limits, error));
    const struct cnnvp_layer_post *post = &layer->posts[layer->clips];
    if (layer->op != CNNVP_OP_CONV || layer->unit != CNNVP_UNIT_ARRAY || layer->clips == layer->post_count ||
        post->kind != CNNVP_POST_TABLE || wanted == CNNVP_PLAN_VECTOR_FUNCTION ||
        (layer->format >> 16 & 3u) == CNNVP_ROUNDING_STOCHASTIC)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &tiling, error));
    if ((tiling.limits & ~CNNVP_LIMITS_ADDS) < CNNVP_LIMITS_SCALE_AND_TABLE)
        return CNNVP_DONE;
    const uint32_t narrow = (uint32_t)CNNVP_NARROW_OUT << CNNVP_NARROW_LSB;
    struct cnnvp_layer tabled = *layer;
    ++tabled.clips;
    tabled.format = (layer->format & ~narrow) | (post->format & narrow) | 1u << CNNVP_TABLED_LSB;
    tabled.folded = cnnvp_plan_is_folded(layer) ? layer->folded : CNNVP_ONE_PART;
    const struct cnnvp_command command = last_command(&tabled);
    CNNVP_TRY(ask_taken(limits, &command, &taken, error));
    if (taken &&
        (wanted == CNNVP_PLAN_WRITE_OUT_FUNCTION || score_of(&tabled, name, limits) < score_of(layer, name, limits)))
        *layer = tabled;
    return CNNVP_DONE;
}

void cnnvp_plan_set_addition(struct cnnvp_layer *layer, uint32_t written_out)
{
    layer->added.written_out = written_out;
    if (!cnnvp_is_added(layer))
        return;
    layer->clips = layer->added.clips;
    layer->limits = layer->added.limits;
    layer->folded = cnnvp_plan_is_folded(layer) ? layer->folded : CNNVP_ONE_PART;
}

/* 1: the addition is one of words of the same size, of an operand in memory, to results that are neither limited nor
 * otherwise changed before. */
static int is_plain_addition(const struct cnnvp_layer *layer)
{
    const uint32_t all = CNNVP_NARROW_A | CNNVP_NARROW_B | CNNVP_NARROW_OUT;
    const uint32_t narrow = layer->added.format >> CNNVP_NARROW_LSB & all;
    const uint32_t own = cnnvp_format_bytes(layer->format, CNNVP_NARROW_OUT) == 1u ? all : 0u;
    return layer->op == CNNVP_OP_CONV && layer->unit == CNNVP_UNIT_ARRAY && layer->added.tag != 0 &&
           layer->added.first_post == 0 && layer->arithmetic == CNNVP_ARITHMETIC_ADD && !layer->in2.on_chip &&
           narrow == own && layer->tile_images <= 1u && (layer->added.format >> 16 & 3u) != CNNVP_ROUNDING_STOCHASTIC &&
           (layer->format >> 16 & 3u) != CNNVP_ROUNDING_STOCHASTIC;
}

cnnvp_result cnnvp_plan_write_addition(const struct cnnvp_layer *layer, const char *name,
                                       const struct cnnvp_plan_limits *limits, struct cnnvp_layer *written, int *taken,
                                       struct cnnvp_error *error)
{
    struct cnnvp_tiling tiling;
    *taken = 0;
    *written = *layer;
    if (!is_plain_addition(layer))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_plan_tiling(layer, name, limits, &tiling, error));
    if ((tiling.limits & CNNVP_LIMITS_ADDS) == 0)
        return CNNVP_DONE;
    cnnvp_plan_set_addition(written, tiling.result_bytes > CNNVP_WORD_BYTES ? CNNVP_ADDED_BEHIND_SUMS : CNNVP_ADDED);
    const struct cnnvp_command command = last_command(written);
    return ask_taken(limits, &command, taken, error);
}

cnnvp_result cnnvp_plan_choose_scale(struct cnnvp_layer *layer, const char *name,
                                     const struct cnnvp_plan_limits *limits, struct cnnvp_error *error)
{
    struct cnnvp_layer scaled = *layer;
    struct cnnvp_tiling tiling = {0};
    struct cnnvp_error refusal;
    int taken;
    scaled.bias = CNNVP_SCALE_WORDS;
    if (layer->op == CNNVP_OP_CONV)
        scaled.folded = CNNVP_NOT_FOLDED;
    const cnnvp_result result = ask_tiling(&scaled, name, limits, &tiling, &refusal, error);
    if (result != CNNVP_DONE || (tiling.limits & ~CNNVP_LIMITS_ADDS) < CNNVP_LIMITS_AND_SCALE)
        return result == CNNVP_FAILED ? CNNVP_DONE : result;
    const struct cnnvp_command command = last_command(&scaled);
    CNNVP_TRY(ask_taken(limits, &command, &taken, error));
    if (taken)
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
    return ask_taken(limits, &command, scales, error);
}

/* Asks whether the layer's unit takes it, and sets `folded`. FAILED: the unit refuses it for the reason in *said. */
static cnnvp_result ask_unit(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                             struct cnnvp_error *said, struct cnnvp_error *error)
{
    const struct cnnvp_plan_slice least = {1, 1, 1, 1, 1, 1};
    const struct cnnvp_command command = cnnvp_plan_slice_command(layer, &least);
    const char *unit = cnnvp_plan_executor(limits, command.opcode);
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

/* Time of a slice in ps; 0: the layer's unit refuses it. */
static uint64_t unit_ps(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice,
                        const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_command command = cnnvp_plan_slice_command(layer, slice);
    struct cnnvp_error said;
    struct cnnvp_cost cost;
    const cnnvp_result result =
        cnnvp_units_command(limits->units, cnnvp_plan_executor(limits, command.opcode), &command, &cost, &said);
    return result == CNNVP_DONE && cost.status == CNNVP_OK ? cost.ps : 0;
}

/* 1: on the largest slice that both take, the layer as `other` is faster than as `first`, so a plan for it is worth the
 * search. Slices are halved until both take one. */
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

/* Chooses between the layer on[array] and on[vector]. If one of the `count` layers before it is alike on its own unit,
 * that unit is taken, otherwise the one with the better plan. */
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
                                const struct cnnvp_plan_cut *wanted, size_t before, const char *place,
                                struct cnnvp_error *error)
{
    struct cnnvp_layer on[2] = {*layer, *layer};
    struct cnnvp_error said[2] = {{""}, {"fully connected layers run on the PE array"}};
    cnnvp_result taken[2] = {CNNVP_FAILED, CNNVP_FAILED};
    on[CNNVP_UNIT_VECTOR].unit = CNNVP_UNIT_VECTOR;
    for (uint32_t unit = 0; unit < (layer->op == CNNVP_OP_FC ? 1u : 2u); ++unit) {
        on[unit].sum_bytes = limits->sum_bytes[sums_opcode(&on[unit])];
        taken[unit] = ask_unit(&on[unit], name, limits, &said[unit], error);
        if (taken[unit] == CNNVP_DONE)
            CNNVP_TRY(choose_clips(&on[unit], name, limits, wanted->function, error));
        else if (taken[unit] != CNNVP_FAILED)
            return taken[unit];
    }
    const int both = taken[CNNVP_UNIT_ARRAY] == CNNVP_DONE && taken[CNNVP_UNIT_VECTOR] == CNNVP_DONE;
    uint32_t unit = taken[CNNVP_UNIT_ARRAY] == CNNVP_DONE ? CNNVP_UNIT_ARRAY : CNNVP_UNIT_VECTOR;
    if (wanted->unit != CNNVP_PLAN_ANY_UNIT)
        unit = wanted->unit - 1u;
    else if (both)
        unit = best_unit(on, name, limits, layer - before, before);
    *layer = on[unit];
    if (taken[unit] == CNNVP_DONE)
        return CNNVP_DONE;
    if (wanted->unit != CNNVP_PLAN_ANY_UNIT)
        return cnnvp_config_error(error, place, "layer \"%s\": %s", name, said[unit].text);
    if (layer->op == CNNVP_OP_FC)
        return cnnvp_compiler_error(error, "layer \"%s\": %s", name, said[CNNVP_UNIT_ARRAY].text);
    return cnnvp_compiler_error(error, "layer \"%s\": %s; and %s", name, said[0].text, said[1].text);
}

/* Checks that the layer's function, if it has one, is done by whom the plan says. */
static cnnvp_result check_function(const struct cnnvp_layer *layer, const char *name, uint32_t wanted,
                                   const char *place, struct cnnvp_error *error)
{
    const uint32_t function = cnnvp_plan_cut_of(layer).function;
    if (wanted == CNNVP_PLAN_ANY_FUNCTION || wanted == function)
        return CNNVP_DONE;
    return cnnvp_config_error(
        error, place,
        function == CNNVP_PLAN_ANY_FUNCTION ? "layer \"%s\": no function follows a convolution here"
                                            : "layer \"%s\": no write-out does its function, only the vector unit",
        name);
}

cnnvp_result cnnvp_plan_choose_unit(struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                                    const struct cnnvp_plan_cut *wanted, size_t before, const char *place,
                                    struct cnnvp_error *error)
{
    static const struct cnnvp_plan_cut any = {CNNVP_PLAN_ANY_UNIT};
    wanted = wanted != NULL ? wanted : &any;
    layer->unit = CNNVP_UNIT_ARRAY;
    layer->sum_bytes = limits->sum_bytes[CNNVP_OPCODE_step];
    if (has_unit(layer)) {
        CNNVP_TRY(choose_unit(layer, name, limits, wanted, before, place, error));
        return check_function(layer, name, wanted->function, place, error);
    }
    CNNVP_TRY(check_function(layer, name, wanted->function, place, error));
    if (wanted->unit != CNNVP_PLAN_ANY_UNIT)
        return cnnvp_config_error(
            error, place, "layer \"%s\": the units of convolutions and of pooling are chosen, not that of others",
            name);
    if (layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA)
        CNNVP_TRY(choose_parts(layer, limits, error));
    return choose_clips(layer, name, limits, CNNVP_PLAN_ANY_FUNCTION, error);
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
    const char *unit = cnnvp_plan_executor(limits, sums_opcode(layer));
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
        .op = CNNVP_OP_CONV, .in = one, .out = one, CNNVP_ONE_TAP, .format = words << CNNVP_NARROW_LSB};
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
