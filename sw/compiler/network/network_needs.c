/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the words that the network's outputs depend on, from the outputs back. For example, if a window with a stride
 * skips a map's last rows, nothing needs them, nor the words that only they are computed from. Values do not matter:
 * zeros and maxima save no words.
 */
#include <stdlib.h>
#include <string.h>

#include "cnnvp_integer.h"
#include "network.h"

/* Why a word is needed: a layer reads it, or it is an output. */
enum { READ = 1, GIVEN = 2 };

/* Needs of a tensor with memory of its own. */
struct marks {
    unsigned char all;    /* why all words are needed */
    unsigned char *words; /* why each single word is needed; NULL: none is */
};

/* A set of words of a view, channel by channel. */
struct part {
    const struct cnnvp_graph_tensor *shape;
    int all;
    unsigned char *words; /* 1: the word is in the set; NULL: all are (`all`), or none is */
};

struct finding {
    const struct cnnvp_graph *graph;
    struct marks *marks;
    struct cnnvp_network_needs *needs;
    int no_memory;
};

static unsigned char *words_for(struct finding *finding, uint64_t count)
{
    unsigned char *words = count <= SIZE_MAX ? calloc((size_t)count, 1) : NULL;
    finding->no_memory |= words == NULL;
    return words;
}

static size_t plane_of(const struct cnnvp_graph_tensor *shape)
{
    return (size_t)shape->height * shape->width;
}

static uint64_t count_of(const struct part *part)
{
    const size_t words = cnnvp_graph_words(part->shape);
    uint64_t count = part->all ? words : 0;
    for (size_t i = 0; part->words != NULL && i < words; ++i)
        count += part->words[i];
    return count;
}

/* ---- views ---- */

static unsigned char *channel_of(const struct finding *finding, int32_t tensor, size_t channel)
{
    const struct cnnvp_graph_tensor *view = &finding->graph->tensors[tensor];
    const size_t step = view->channel_step > 1 ? view->channel_step : 1;
    return finding->marks[cnnvp_graph_base(finding->graph, tensor)].words + cnnvp_graph_offset(finding->graph, tensor) +
           channel * step * plane_of(view);
}

static void mark(struct finding *finding, int32_t tensor, const struct part *part, unsigned char who)
{
    const int32_t base = cnnvp_graph_base(finding->graph, tensor);
    const size_t words = cnnvp_graph_words(&finding->graph->tensors[base]);
    const size_t plane = plane_of(part->shape);
    struct marks *marks = &finding->marks[base];
    if (part->all && cnnvp_graph_words(part->shape) == words)
        marks->all |= who;
    if ((marks->all & who) != 0 || (!part->all && part->words == NULL))
        return;
    if (marks->words == NULL)
        marks->words = words_for(finding, words);
    for (size_t c = 0; c < part->shape->channels && marks->words != NULL; ++c) {
        unsigned char *to = channel_of(finding, tensor, c);
        for (size_t i = 0; part->all && i < plane; ++i)
            to[i] |= who;
        for (size_t i = 0; !part->all && i < plane; ++i)
            to[i] |= part->words[c * plane + i] ? who : 0;
    }
}

/* The words of a tensor that anything needs. Give `words` back with free(). */
static struct part needed_of(struct finding *finding, int32_t tensor)
{
    const struct marks *marks = &finding->marks[cnnvp_graph_base(finding->graph, tensor)];
    struct part part = {.shape = &finding->graph->tensors[tensor], .all = marks->all != 0};
    const size_t plane = plane_of(part.shape);
    if (part.all || marks->words == NULL)
        return part;
    part.words = words_for(finding, cnnvp_graph_words(part.shape));
    uint64_t count = 0;
    for (size_t c = 0; c < part.shape->channels && part.words != NULL; ++c) {
        const unsigned char *from = channel_of(finding, tensor, c);
        for (size_t i = 0; i < plane; ++i)
            count += part.words[c * plane + i] = from[i] != 0;
    }
    part.all = count == cnnvp_graph_words(part.shape);
    if (part.all || count == 0) {
        free(part.words);
        part.words = NULL;
    }
    return part;
}

/* ---- windows ---- */

struct axis {
    uint32_t outs, taps, stride, dilation, pad, size;
    uint32_t block; /* windows are cut at the edges of blocks of this many lines; 0: only at the map's edges */
};

static struct axis rows_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const uint32_t outs = graph->tensors[layer->out].height;
    const uint32_t size = graph->tensors[layer->in].height;
    return (struct axis){outs, layer->ky, layer->sy, layer->dy, layer->pad_top, size, layer->block_height};
}

static struct axis columns_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const uint32_t outs = graph->tensors[layer->out].width;
    const uint32_t size = graph->tensors[layer->in].width;
    return (struct axis){outs, layer->kx, layer->sx, layer->dx, layer->pad_left, size, layer->block_width};
}

/* Number of taps of a result that do not lie on padding. *line is the line of the first one. */
static uint64_t taps_inside(const struct axis *axis, uint32_t out, uint64_t *line)
{
    const int64_t low = axis->block != 0 ? out / axis->block * axis->block : 0;
    const int64_t end = axis->block != 0 && low + axis->block < axis->size ? low + axis->block : axis->size;
    const int64_t first = (int64_t)out * axis->stride - axis->pad;
    const int64_t begin = first < low ? (low - first + axis->dilation - 1) / axis->dilation : 0;
    const int64_t inside = end > first ? (end - first + axis->dilation - 1) / axis->dilation : 0;
    const int64_t after = inside < axis->taps ? inside : axis->taps;
    *line = (uint64_t)(first + begin * axis->dilation);
    return after > begin ? (uint64_t)(after - begin) : 0;
}

/* Marks the lines that results use. `open` is scratch memory, one number per line: the windows open at the line, as
 * running sums. */
static void reach_line(const struct axis *axis, const unsigned char *outs, size_t out_step, unsigned char *lines,
                       size_t line_step, int32_t *open)
{
    memset(open, 0, axis->size * sizeof *open);
    for (uint32_t out = 0; out < axis->outs; ++out) {
        uint64_t first;
        const uint64_t taps = outs[out * out_step] ? taps_inside(axis, out, &first) : 0;
        if (taps == 0)
            continue;
        ++open[first];
        if (first + taps * axis->dilation < axis->size)
            --open[first + taps * axis->dilation];
    }
    for (uint32_t line = 0; line < axis->size; ++line) {
        open[line] += line >= axis->dilation ? open[line - axis->dilation] : 0;
        lines[line * line_step] = open[line] > 0;
    }
}

/* Rows and columns are handled one after the other, because a window is the product of a row and a column of taps. */
struct window {
    struct axis rows, columns;
    unsigned char *between; /* intermediate plane: rows of the map x columns of the results */
    unsigned char *outs;    /* a plane of results */
    int32_t *open;
};

static void window_clear(struct window *window)
{
    free(window->between);
    free(window->outs);
    free(window->open);
}

static struct window window_of(struct finding *finding, const struct cnnvp_graph_layer *layer)
{
    struct window window = {.rows = rows_of(finding->graph, layer), .columns = columns_of(finding->graph, layer)};
    window.between = words_for(finding, (uint64_t)window.rows.size * window.columns.outs);
    window.outs = words_for(finding, (uint64_t)window.rows.outs * window.columns.outs);
    window.open = calloc(cnnvp_maximum32(window.rows.size, window.columns.size), sizeof *window.open);
    finding->no_memory |= window.open == NULL;
    return window;
}

static void reach_plane(const struct window *window, unsigned char *plane)
{
    const size_t across = window->columns.outs;
    for (size_t x = 0; x < across; ++x)
        reach_line(&window->rows, window->outs + x, across, window->between + x, across, window->open);
    for (size_t y = 0; y < window->rows.size; ++y)
        reach_line(&window->columns, window->between + y * across, 1, plane + y * window->columns.size, 1,
                   window->open);
}

/* 1: the results together use all lines. */
static int reaches_all(struct finding *finding, const struct axis *axis)
{
    CNNVP_FREED unsigned char *outs = words_for(finding, axis->outs);
    CNNVP_FREED unsigned char *lines = words_for(finding, axis->size);
    CNNVP_FREED int32_t *open = calloc(axis->size, sizeof *open);
    finding->no_memory |= open == NULL;
    if (finding->no_memory)
        return 0; /* cppcheck-suppress memleak ; it is freed where its name ends */
    memset(outs, 1, axis->outs);
    reach_line(axis, outs, 1, lines, 1, open);
    return memchr(lines, 0, axis->size) == NULL;
}

/* Marks in `plane` the positions whose result is needed in any of these channels. */
static void gather(const struct part *out, size_t first, size_t count, unsigned char *plane)
{
    const size_t words = plane_of(out->shape);
    memset(plane, out->all, words);
    for (size_t c = first; c < first + count && out->words != NULL; ++c)
        for (size_t i = 0; i < words; ++i)
            plane[i] |= out->words[c * words + i];
}

static void window_part(struct finding *finding, const struct cnnvp_graph_layer *layer, const struct part *out,
                        struct part *in)
{
    const struct axis rows = rows_of(finding->graph, layer), columns = columns_of(finding->graph, layer);
    in->all = out->all && reaches_all(finding, &rows) && reaches_all(finding, &columns);
    if (in->all)
        return;
    const size_t groups = layer->op == CNNVP_OP_POOL ? in->shape->channels : layer->groups;
    const size_t ins = in->shape->channels / groups, outs = out->shape->channels / groups;
    const size_t plane = plane_of(in->shape);
    struct window window = window_of(finding, layer);
    in->words = words_for(finding, cnnvp_graph_words(in->shape));
    for (size_t g = 0; g < groups && !finding->no_memory; ++g) {
        unsigned char *first = in->words + g * ins * plane;
        if (g == 0 || !out->all) {
            gather(out, g * outs, outs, window.outs);
            reach_plane(&window, first);
        } else {
            memcpy(first, in->words, plane);
        }
        for (size_t c = 1; c < ins; ++c)
            memcpy(first + c * plane, first, plane);
    }
    window_clear(&window);
}

static double taps_of_all(const struct axis *axis)
{
    double sum = 0;
    uint64_t line;
    for (uint32_t out = 0; out < axis->outs; ++out)
        sum += (double)taps_inside(axis, out, &line);
    return sum;
}

/* Number of taps, not on padding, of all needed results. */
static double taps_of(const struct axis *rows, const struct axis *columns, const struct part *out)
{
    const size_t words = cnnvp_graph_words(out->shape);
    double sum = out->all ? out->shape->channels * taps_of_all(rows) * taps_of_all(columns) : 0;
    uint64_t line;
    for (size_t i = 0; out->words != NULL && i < words; ++i) {
        const size_t y = i / columns->outs % rows->outs;
        const size_t x = i % columns->outs;
        if (out->words[i])
            sum += (double)(taps_inside(rows, (uint32_t)y, &line) * taps_inside(columns, (uint32_t)x, &line));
    }
    return sum;
}

/* ---- other layers ---- */

/* Source of the words [first, end) of a row of results: the first is `word` of the operand, the others follow at
 * `step`. Words outside this range are made by another layer. */
struct source {
    size_t first, end, word, step;
};

static struct source source_of(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in,
                               const struct cnnvp_graph_tensor *out, size_t c, size_t y)
{
    if (layer->permuted != 0) {
        const size_t strides[3] = {plane_of(in), in->width, 1};
        return (struct source){
            0, out->width, c * strides[layer->from[0]] + y * strides[layer->from[1]], strides[layer->from[2]]};
    }
    if (layer->placed == 0 && layer->cropped == 0 && layer->op == CNNVP_OP_ADD)
        return (struct source){0, out->width, cnnvp_graph_spread(in, c, y, 0), in->width != 1};
    if (layer->placed == 0 && layer->cropped == 0)
        return (struct source){0, out->width, (c * out->height + y) * out->width, 1};
    const size_t height = layer->cropped != 0 ? layer->crop_height : in->height;
    const size_t width = layer->cropped != 0 ? layer->crop_width : in->width;
    if (y < layer->place_row || y - layer->place_row >= height)
        return (struct source){0};
    return (struct source){
        layer->place_column, cnnvp_minimum(layer->place_column + width, out->width),
        (c * in->height + y - layer->place_row + layer->crop_row) * in->width + layer->crop_column, 1};
}

/* Layers where each result word depends on one operand word. */
static void word_part(const struct cnnvp_graph_layer *layer, const struct part *out, struct part *in)
{
    const struct cnnvp_graph_tensor *to = out->shape;
    size_t row = 0;
    for (size_t c = 0; c < to->channels; ++c)
        for (size_t y = 0; y < to->height; ++y, row += to->width) {
            const struct source source = source_of(layer, in->shape, to, c, y);
            unsigned char *word = in->words + source.word;
            for (size_t x = source.first; x < source.end; ++x, word += source.step)
                if (out->all || out->words[row + x])
                    *word = 1;
        }
}

/* Words of a line that is needed as a whole, and the step between them. */
static void line_of(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in, size_t *count,
                    size_t *step)
{
    cnnvp_graph_line(layer, in, count, step);
    if (layer->op == CNNVP_OP_NORM) {
        *count = plane_of(in);
        *step = 1;
    }
}

/* Layers where each result word depends on a whole line of the operand. */
static void line_part(const struct cnnvp_graph_layer *layer, const struct part *out, struct part *in)
{
    size_t count, step;
    line_of(layer, in->shape, &count, &step);
    const size_t words = cnnvp_graph_words(in->shape);
    for (size_t block = 0; block < words; block += count * step)
        for (size_t at = block; at < block + step; ++at) {
            unsigned char any = 0;
            for (size_t i = 0; i < count; ++i)
                any |= out->words[at + i * step];
            for (size_t i = 0; i < count; ++i)
                in->words[at + i * step] = any;
        }
}

static int is_by_line(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_SOFTMAX || (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED);
}

/* The words of the operand that the needed results depend on. */
static struct part operand_part(struct finding *finding, const struct cnnvp_graph_layer *layer, int32_t operand,
                                const struct part *out)
{
    struct part in = {.shape = &finding->graph->tensors[operand]};
    if (!out->all && out->words == NULL)
        return in;
    if (layer->product != 0 && operand == layer->in2) {
        in.all = 1;
        return in;
    }
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL) {
        window_part(finding, layer, out, &in);
        return in;
    }
    in.all = layer->op == CNNVP_OP_FC || (is_by_line(layer) && layer->permuted != 0) ||
             (out->all && layer->placed == 0 && layer->cropped == 0);
    if (in.all)
        return in;
    in.words = words_for(finding, cnnvp_graph_words(in.shape));
    if (in.words != NULL && is_by_line(layer))
        line_part(layer, out, &in);
    else if (in.words != NULL)
        word_part(layer, out, &in);
    return in;
}

/* ---- layers ---- */

static double products_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                          const struct part *out)
{
    if (layer->op == CNNVP_OP_FC)
        return (double)count_of(out) * (double)cnnvp_graph_words(&graph->tensors[layer->in]);
    if (layer->op != CNNVP_OP_CONV)
        return 0;
    const struct axis rows = rows_of(graph, layer), columns = columns_of(graph, layer);
    const uint32_t channels = graph->tensors[layer->in].channels / layer->groups;
    return taps_of(&rows, &columns, out) * channels;
}

static uint64_t take_operand(struct finding *finding, const struct cnnvp_graph_layer *layer, int32_t operand,
                             const struct part *out)
{
    if (operand == CNNVP_GRAPH_NONE || finding->no_memory)
        return 0;
    struct part part = operand_part(finding, layer, operand, out);
    const uint64_t count = finding->no_memory ? 0 : count_of(&part);
    if (!finding->no_memory)
        mark(finding, operand, &part, READ);
    free(part.words);
    return count;
}

static void take_layer(struct finding *finding, size_t index)
{
    const struct cnnvp_graph_layer *layer = &finding->graph->layers[index];
    struct cnnvp_layer_needs *needs = &finding->needs->layers[index];
    struct part out = needed_of(finding, layer->out);
    needs->in = take_operand(finding, layer, layer->in, &out);
    needs->in2 = take_operand(finding, layer, layer->in2, &out);
    if (!finding->no_memory) {
        needs->made = layer->placed != 0 ? needs->in : count_of(&out);
        needs->products = products_of(finding->graph, layer, &out);
    }
    free(out.words);
}

static uint64_t words_read(const struct finding *finding, size_t tensor)
{
    const size_t words = cnnvp_graph_words(&finding->graph->tensors[tensor]);
    const struct marks *marks = &finding->marks[tensor];
    uint64_t count = 0;
    if ((marks->all & READ) != 0)
        return words;
    for (size_t i = 0; marks->words != NULL && i < words; ++i)
        count += marks->words[i] & READ;
    return count;
}

static void find(struct finding *finding)
{
    const struct cnnvp_graph *graph = finding->graph;
    for (size_t i = 0; i < graph->output_count; ++i) {
        const int32_t tensor = graph->outputs[i].tensor;
        mark(finding, tensor, &(struct part){.shape = &graph->tensors[tensor], .all = 1}, GIVEN);
    }
    for (size_t i = graph->layer_count; i-- > 0 && !finding->no_memory;)
        take_layer(finding, i);
    for (size_t i = 0; i < graph->tensor_count && !finding->no_memory; ++i)
        finding->needs->read[i] = words_read(finding, i);
}

cnnvp_result cnnvp_network_needs_find(const struct cnnvp_graph *graph, struct cnnvp_arena *arena,
                                      struct cnnvp_network_needs *needs, struct cnnvp_error *error)
{
    struct finding finding = {
        .graph = graph, .needs = needs, .marks = cnnvp_arena_array(arena, graph->tensor_count, sizeof *finding.marks)};
    needs->layers = cnnvp_arena_array(arena, graph->layer_count, sizeof *needs->layers);
    needs->read = cnnvp_arena_array(arena, graph->tensor_count, sizeof *needs->read);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    find(&finding);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        free(finding.marks[i].words);
    return finding.no_memory ? cnnvp_compiler_no_memory(error) : CNNVP_DONE;
}
