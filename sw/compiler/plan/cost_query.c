/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the commands and transfers that the units are asked about, and extrapolates from their answers. */
#include "cost_query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/layer_command.h"
#include "cnnvp_buffer.h"
#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "command_costs.h"
#include "isa/isa.h"

#define SOURCE_OUTPUT 2u   /* source of a vector operand: the output buffer */
#define ANSWER_BITS 9      /* the table has 2^ANSWER_BITS entries */
#define STRIP_CHANNELS 16u /* strips of rows are priced with at most this many channels */
#define SPREAD 8u          /* how many input counts of a slice are priced */
#define SPREAD_SIDE 4u     /* most rows and columns of results of these slices */
#define STRIP_PART 16u     /* lower strips are taken if they save more than 1 / STRIP_PART of the time */
#define MAX_PS (UINT64_C(1) << 50)
#define TIME_PART 16.0 /* traffic: a time counts as 1 / TIME_PART of the bytes that the memory can move in it */

/* Units are asked about transfers of this many planes or bytes. Other sizes are extrapolated linearly. */
#define FEW_PLANES 2u
#define MANY_PLANES 10u
#define FEW_BYTES UINT32_C(2048)
#define MANY_BYTES UINT32_C(34816)

enum kind { NONE, SLICE, VECTOR, BOX };

struct answer {
    enum kind kind;
    uint32_t question[7];
    uint64_t ps[2];
};

struct cnnvp_cost_query {
    const struct cnnvp_layer *layer;
    const char *name;
    const struct cnnvp_plan_limits *limits;
    uint64_t latency; /* ps to load one word; UINT64_MAX: not asked yet */
    uint64_t request; /* ps to request one load; UINT64_MAX: not asked yet */
    uint64_t line[2]; /* ps to load FEW_BYTES and MANY_BYTES, less the latency; UINT64_MAX: not asked yet */
    uint64_t vectors; /* instructions of the vector unit for the tile in question */
    char refusal[256];
    struct cnnvp_error wrong; /* the first invalid answer; "": there is none */
    struct answer answers[1u << ANSWER_BITS];
};

struct cnnvp_cost_query *cnnvp_cost_query_new(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_cost_query *query = calloc(1, sizeof *query);
    if (query == NULL)
        return NULL;
    query->layer = layer;
    query->name = name;
    query->limits = limits;
    query->latency = query->request = query->line[0] = UINT64_MAX;
    return query;
}

void cnnvp_cost_query_free(struct cnnvp_cost_query *query)
{
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

void cnnvp_plan_put_descriptor(struct cnnvp_command *command, const void *descriptor, size_t bytes)
{
    command->count = (uint32_t)(bytes / sizeof(uint32_t));
    memcpy(command->descriptor, descriptor, bytes);
}

const char *cnnvp_plan_executor(const struct cnnvp_plan_limits *limits, uint32_t opcode)
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
    cnnvp_plan_put_descriptor(&command, &matmul, sizeof matmul);
    return command;
}

int cnnvp_plan_is_folded(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_CONV && layer->folded != 0 && layer->folded < CNNVP_NOT_FOLDED;
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
    if (cnnvp_plan_is_folded(layer))
        cnnvp_fold_row(layer, slice->columns, &window);
    window.in_channels = slice->in;
    window.out_channels = slice->out;
    window.bias_addr = cnnvp_weight_bytes(layer, slice->out * cnnvp_output_weights(layer, slice->in));
    if (layer->op == CNNVP_OP_POOL)
        window.acc_addr = cnnvp_pool_sums_at(layer, slice->first, slice->out * slice->rows * slice->columns);
    window.valid_rows = cnnvp_pack(0, rows);
    window.valid_cols = cnnvp_pack(0, columns);
    if (cnnvp_is_tabled(layer))
        cnnvp_set_table(layer, &window);
    if (cnnvp_is_added(layer)) {
        cnnvp_set_addition(layer, &window);
        window.out_addr = cnnvp_added_at(layer, slice->out * slice->rows * slice->columns);
    }
    cnnvp_plan_put_descriptor(&command, &window, sizeof window);
    return command;
}

struct cnnvp_command cnnvp_plan_slice_command(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice)
{
    return layer->op == CNNVP_OP_FC ? matmul_command(layer, slice) : window_command(layer, slice);
}

/* ---- answers ---- */

/* The entry for the answer to the question. Unless it is known, it replaces another one. */
static struct answer *look_up(struct cnnvp_cost_query *query, enum kind kind, const uint32_t question[7], int *known)
{
    uint64_t hash = (uint64_t)kind;
    for (size_t i = 0; i < 7; ++i)
        hash = (hash ^ question[i]) * UINT64_C(0x9e3779b97f4a7c15);
    struct answer *answer = &query->answers[hash >> (64 - ANSWER_BITS)];
    *known = answer->kind == kind && memcmp(answer->question, question, sizeof answer->question) == 0;
    answer->kind = kind;
    memcpy(answer->question, question, sizeof answer->question);
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

/* Returns the command's time in ps, or CNNVP_PLAN_REFUSED if the unit refuses it. With `keep`, it stores the unit's
 * reason in query->refusal. */
static uint64_t ask_command(struct cnnvp_cost_query *query, const struct cnnvp_command *command, int keep)
{
    const uint64_t known = cnnvp_command_cost(query->limits->costs, command);
    if (known != 0)
        return known;
    const char *instance = cnnvp_plan_executor(query->limits, command->opcode);
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
    if (cost.ps == 0 || cost.ps > MAX_PS) {
        no_answer(query, instance, command,
                  cost.ps == 0 ? "work takes time" : "that is more than an hour in one command", cost.ps);
        return CNNVP_PLAN_REFUSED;
    }
    cnnvp_command_cost_keep(query->limits->costs, command, cost.ps);
    return cost.ps;
}

int cnnvp_plan_answers_alike(const struct cnnvp_plan_limits *limits, const struct cnnvp_asked_list *asked)
{
    struct cnnvp_cost_query *query = cnnvp_cost_query_new(NULL, "", limits);
    int alike = query != NULL;
    for (size_t i = 0; alike && i < asked->count; ++i) {
        const uint64_t ps = ask_command(query, &asked->all[i].command, 0);
        alike = (ps != CNNVP_PLAN_REFUSED ? ps : 0) == asked->all[i].ps;
    }
    cnnvp_cost_query_free(query);
    return alike;
}

uint64_t cnnvp_plan_slice_ps(struct cnnvp_cost_query *query, const struct cnnvp_plan_slice *slice)
{
    const struct cnnvp_layer *layer = query->layer;
    if (!cnnvp_plan_has_valid_range(layer, slice->rows, slice->columns)) {
        snprintf(query->refusal, sizeof query->refusal, CNNVP_PLAN_NO_VALID_RANGE);
        return CNNVP_PLAN_REFUSED;
    }
    if (cnnvp_plan_is_folded(layer) && cnnvp_row_part(layer, slice->columns) != slice->columns) {
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
        const struct cnnvp_command command = cnnvp_plan_slice_command(layer, slice);
        answer->ps[0] = ask_command(query, &command, 1);
    }
    return answer->ps[0];
}

/* Time to calculate all rows of the map in strips of this height, with a few input and output channels. */
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
    query->refusal[0] = '\0'; /* these strips need not fit; the search asks about those that do */
    return best;
}

uint32_t cnnvp_plan_spread_inputs(struct cnnvp_cost_query *query, uint32_t inputs)
{
    const struct cnnvp_tensor *out = &query->layer->out;
    struct cnnvp_plan_slice slice = {
        .rows = cnnvp_minimum32(out->height, SPREAD_SIDE),
        .columns = cnnvp_minimum32(out->width, SPREAD_SIDE),
        .out = cnnvp_minimum32(out->channels, STRIP_CHANNELS),
        .first = 1,
        .last = 1};
    uint32_t best = inputs;
    double least = INFINITY;
    const uint32_t end = cnnvp_minimum32(inputs + SPREAD, cnnvp_layer_inputs(query->layer) + 1u);
    for (slice.in = inputs; slice.in < end; ++slice.in) {
        const uint64_t ps = cnnvp_plan_slice_ps(query, &slice);
        if (ps == CNNVP_PLAN_REFUSED || (double)ps / slice.in >= least)
            continue;
        least = (double)ps / slice.in;
        best = slice.in;
    }
    query->refusal[0] = '\0'; /* these slices need not fit either */
    return best;
}

/* Time of `count` such instructions. */
static uint64_t vector_ps(struct cnnvp_cost_query *query, struct cnnvp_operation operation,
                          const struct cnnvp_vector *vector, uint32_t count)
{
    struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
    cnnvp_plan_put_descriptor(&command, vector, sizeof *vector);
    const uint64_t ps = ask_command(query, &command, 1);
    query->vectors += count;
    return ps != CNNVP_PLAN_REFUSED ? ps * count : ps;
}

/* Strides of an operand, on chip or loaded as a tile. `box`: channels, rows and columns of the results. */
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

/* An elementwise layer has both operands in the input buffer, the second after the first if both are loaded. An
 * addition to a convolution has one operand in the output buffer, in the place of the results. */
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
    vector.b_addr = added || layer->in.on_chip ? 0 : cnnvp_even(box[0] * box[1] * box[2] << layer->in.word_shift);
    operation.status |= added ? cnnvp_addition_sources(layer) : 0;
    return vector_ps(query, operation, &vector, count);
}

/* Time of the array to add up values and squares. */
static uint64_t sums_ps(struct cnnvp_cost_query *query, uint32_t channels)
{
    uint64_t sum = 0;
    for (int squares = 0; squares < 2 && sum != CNNVP_PLAN_REFUSED; ++squares) {
        const struct cnnvp_operation operation = cnnvp_sums_operation(squares);
        struct cnnvp_window window = cnnvp_sums_window(query->layer, channels);
        struct cnnvp_command command = {.opcode = operation.opcode, .status = operation.status};
        cnnvp_plan_put_descriptor(&command, &window, sizeof window);
        const uint64_t ps = ask_command(query, &command, 1);
        ++query->vectors;
        sum = ps != CNNVP_PLAN_REFUSED ? sum + ps : ps;
    }
    return sum;
}

/* One repetition of an instruction handles one channel. Vectors of one word a channel lie after the results. Statistics
 * of a batch come from all images of a step at once; the transformation runs image by image. */
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

/* One instruction handles `groups` groups of `count` words. The form that transposes results takes at most as many
 * beats. */
static uint64_t softmax_ps(struct cnnvp_cost_query *query, uint32_t channels, uint32_t rows, uint32_t columns)
{
    const uint32_t axis = query->layer->axis;
    const int position = rows * columns == 1;
    const uint32_t count = axis == CNNVP_AXIS_CHANNELS || position ? channels
                           : axis == CNNVP_AXIS_ROWS               ? rows
                                                                   : columns;
    const uint32_t groups = axis != CNNVP_AXIS_LAST ? columns : position ? 1 : rows == 1 ? channels : rows;
    const uint32_t box[3] = {channels, rows, columns};
    const struct cnnvp_strides a = strides_of(query->layer, &query->layer->in, box);
    const int permuted = query->layer->permuted != 0;
    const struct cnnvp_vector vector = {
        .count = count,
        .repeat = groups,
        .a_stride = permuted ? a.column : 1,
        .a_repeat = !permuted   ? count
                    : rows == 1 ? a.channel
                                : a.row,
        .out_repeat = count,
        .format = query->layer->format};
    return vector_ps(query, (struct cnnvp_operation){CNNVP_OPCODE_vsoftmax, 0}, &vector,
                     cnnvp_divide_up32(channels * rows * columns, count * groups));
}

static int is_average(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_AVERAGE;
}

/* Divisions of an average pool, without those at the edges of the map, where fewer taps count. */
static uint64_t division_ps(struct cnnvp_cost_query *query, const uint32_t box[3])
{
    const struct cnnvp_layer *layer = query->layer;
    const uint32_t words = box[0] * box[1] * box[2];
    struct cnnvp_vector vector = {.count = words, .repeat = 1};
    if (layer->by_position != 0)
        vector = (struct cnnvp_vector){
            .out_addr = words * layer->sum_bytes,
            .count = box[2],
            .repeat = box[0] * box[1],
            .a_repeat = box[2],
            .out_repeat = box[2]};
    const struct cnnvp_operation operation = cnnvp_division_operation(layer, layer->pool_area, &vector);
    return vector_ps(query, operation, &vector, 1);
}

/* The first post-operation of an activation layer reads the layer's operand; all others read the results. */
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
    const int adds = layer->op == CNNVP_OP_ADD || (layer->added.tag != 0 && !cnnvp_is_added(layer));
    uint64_t sum =
        adds                            ? arithmetic_ps(query, box)
        : layer->op == CNNVP_OP_NORM    ? norm_ps(query, channels, rows * columns)
        : layer->op == CNNVP_OP_SOFTMAX ? softmax_ps(query, channels, rows, columns)
        : is_average(layer)             ? division_ps(query, box)
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

/* Time of a transfer into the input buffer. 0: unknown, for example if it is too large for the buffer, which is no
 * reason to refuse the layer. */
static uint64_t transfer_ps(struct cnnvp_cost_query *query, enum cnnvp_opcode opcode, uint32_t word_shift,
                            uint32_t interleaved, uint64_t offset, const struct cnnvp_transfer *transfer)
{
    struct cnnvp_command command = {.opcode = opcode,
                                    .status = (word_shift == 0 ? 1u : 0u) << CNNVP_STATUS_receive_bytes,
                                    .immediate = interleaved};
    struct cnnvp_transfer asked = *transfer;
    asked.memory_addr = (uint32_t)(query->limits->memory_base + offset);
    cnnvp_plan_put_descriptor(&command, &asked, sizeof asked);
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

/* Time for `count`, if `few` take ps[0] and `many` take ps[1]. */
static uint64_t extrapolate(uint64_t count, uint64_t few, uint64_t many, const uint64_t ps[2])
{
    const uint64_t more = ps[1] > ps[0] ? ps[1] - ps[0] : 0;
    if (count >= few)
        return ps[0] + more * (count - few) / (many - few);
    return ps[0] * count / few;
}

/* How a box of a tensor lies in memory, in bytes: offset of its first word, length of a row, strides of rows and
 * planes. If channels are interleaved, a plane is a block of channels. */
struct lie {
    uint64_t first, row, row_stride, plane_stride;
    uint64_t aligned; /* offsets in a burst at which rows of such boxes begin are multiples of this */
    int is_one;       /* 1: the DMA requests all planes at once; 0: plane by plane */
};

static struct lie lie_of(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, uint32_t rows,
                         uint32_t columns)
{
    const uint32_t shift = tensor->word_shift;
    const uint64_t block = (uint64_t)tensor->column_stride << shift;
    struct lie lie = {.row = columns * block, .row_stride = (uint64_t)tensor->row_stride << shift};
    lie.row_stride = lie.row_stride != 0 ? lie.row_stride : lie.row;
    lie.plane_stride = tensor->channel_stride != 0 ? tensor->channel_stride * block : lie.row_stride * rows;
    lie.is_one = rows == 1u || lie.row == lie.row_stride || lie.plane_stride == rows * lie.row_stride;
    lie.first = tensor->border_top * lie.row_stride + tensor->border_left * block;
    lie.aligned = cnnvp_common_divisor(lie.row_stride, lie.plane_stride);
    if (columns <= tensor->width)
        lie.aligned = cnnvp_common_divisor(lie.aligned, lie.first);
    if (columns < tensor->width)
        lie.aligned = cnnvp_common_divisor(lie.aligned, lie.row);
    lie.aligned = cnnvp_common_divisor(query->limits->burst_bytes, lie.aligned);
    return lie;
}

/* Bursts of the box that the DMA is asked about, which begins at the first interior word. If planes are requested one
 * by one, the first plane's bursts count for all. */
static uint64_t bursts_of(const struct cnnvp_cost_query *query, const struct lie *lie, uint32_t planes, uint32_t rows)
{
    const uint64_t burst = query->limits->burst_bytes;
    uint64_t count = 0, behind = 0; /* a burst shared by two rows is loaded once */
    for (uint64_t plane = 0; plane < (lie->is_one ? planes : 1u); ++plane)
        for (uint32_t row = 0; row < rows; ++row) {
            const uint64_t first = lie->first + plane * lie->plane_stride + row * lie->row_stride;
            const uint64_t end = (first + lie->row - 1u) / burst + 1u;
            count += end - cnnvp_maximum(first / burst, behind);
            behind = end;
        }
    return lie->is_one ? count : count * planes;
}

/* Time to load this part of a box, without the latency. 0: unknown, as the DMA refuses what does not fit into the
 * buffer. */
static uint64_t part_ps(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, const struct lie *lie,
                        uint32_t planes, uint32_t rows, uint32_t columns)
{
    const uint32_t shift = tensor->word_shift, block = tensor->column_stride;
    const struct cnnvp_transfer box = {
        .row_bytes = columns << shift,
        .rows = rows,
        .memory_row_stride = (uint32_t)lie->row_stride,
        .buffer_row_stride = columns << shift,
        .planes = planes,
        .memory_plane_stride = (uint32_t)(lie->plane_stride / block),
        .buffer_plane_stride = rows * columns << shift};
    const uint64_t ps = transfer_ps(query, CNNVP_OPCODE_receive, shift, block, lie->first, &box);
    const uint64_t latency = latency_ps(query);
    /* The first planes often begin at a burst: scale to the average over all places. */
    return ps > latency ? (ps - latency) * cnnvp_plan_box(query, tensor, planes, rows, columns).bytes /
                              (bursts_of(query, lie, planes / block, rows) * query->limits->burst_bytes)
                        : 0;
}

/* Time to load a box. The DMA is asked about boxes of a few and of many planes at the first interior word. */
static uint64_t box_ps(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor, uint32_t channels,
                       uint32_t rows, uint32_t columns)
{
    const uint32_t block = tensor->column_stride;
    const struct lie lie = lie_of(query, tensor, rows, columns);
    const uint32_t question[7] = {
        rows,
        columns,
        tensor->row_stride,
        tensor->channel_stride,
        (uint32_t)lie.first,
        tensor->width << 1 | tensor->word_shift,
        block};
    const uint32_t few = block > 1u ? block : FEW_PLANES, many = block > 1u ? 2u * block : MANY_PLANES;
    int known;
    struct answer *answer = look_up(query, BOX, question, &known);
    for (size_t i = 0; !known && i < 2; ++i)
        answer->ps[i] = part_ps(query, tensor, &lie, i == 0 ? few : many, rows, columns);
    /* If not even a few planes fit, one does, or a part of its rows. */
    for (uint32_t part = rows; !known && answer->ps[0] == 0 && part != 0; part /= 2u)
        answer->ps[0] = part_ps(query, tensor, &lie, block, part, columns) * (few / block) * rows / part;
    /* Many planes do not fit: only the answer for a few planes is known. */
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
    const uint64_t burst = query->limits->burst_bytes, blocks = channels / tensor->column_stride;
    const struct lie lie = lie_of(query, tensor, rows, columns);
    /* Rows (or planes) with gaps shorter than a burst take all bursts of the range that they span. */
    const int rows_touch = lie.row_stride - lie.row < burst;
    const uint64_t plane = rows_touch ? (rows - 1u) * lie.row_stride + lie.row : lie.row;
    const uint64_t step = rows_touch ? lie.plane_stride : lie.row_stride;
    const uint64_t pieces = rows_touch ? blocks : blocks * rows;
    const int all_touch = rows_touch && lie.is_one && step - plane < burst;
    const uint64_t whole = all_touch ? (pieces - 1u) * step + plane : plane;
    const uint64_t bursts = cnnvp_divide_up(whole, lie.aligned) * lie.aligned + burst - lie.aligned;
    return (struct cnnvp_plan_moved){
        0, (all_touch ? 1u : pieces) * bursts, cnnvp_divide_up(blocks * rows * lie.row, CNNVP_WORD_BYTES)};
}

struct cnnvp_plan_moved cnnvp_plan_move_box(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                            uint32_t channels, uint32_t rows, uint32_t columns)
{
    struct cnnvp_plan_moved moved = cnnvp_plan_box(query, tensor, channels, rows, columns);
    moved.ps = box_ps(query, tensor, channels, rows, columns);
    return moved;
}
