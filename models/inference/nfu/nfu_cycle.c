/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control of the cycle-stepped NFU (S002, operation mapping): the Z-shaped scan of a window over the array, fully
 * connected layers in both mappings (Part B 2-1), bias steps and results.
 *
 * The source of a tap (kx, ky), counted from the corner of its piece, with strides Sx, Sy:
 *   kx < Sx, ky < Sy   every PE reads the row input
 *   kx >= Sx           FIFO-H: the value that the right neighbour had Sx taps before
 *   else               FIFO-V: the value that the lower neighbour had Sy kernel rows before, pushed at the first Sx
 *                      taps of a row
 * A value is pushed only if a later tap takes it.
 */
#include "nfu_cycle.h"

#include "inference/write_out/write_out.h"
#include "cnnvp_integer.h"

/* Data at the row and column inputs in this cycle. */
struct window_port {
    const struct cnnvp_fx16_tile *tile;
    const int16_t *channel; /* NULL in timing-only */
    uint32_t x0;            /* result position of the active PE in column 0, row 0 */
    uint32_t y0;
    uint32_t tap_x;
    uint32_t tap_y;
    struct cnnvp_nfu_beat *beat;
};

/* State of a command in progress. */
struct run {
    const struct cnnvp_nfu_shape *shape;
    const struct cnnvp_fx16_tile *tile;
    const struct cnnvp_fx16_data *data;
    struct cnnvp_nfu_array *array;
    struct cnnvp_fx16_cost *cost;
    struct cnnvp_nfu_beat *ports;
    uint64_t busy_until; /* clock of this command at which the output port has taken the previous results */
};

static bool inside_kernel(const struct window_port *port)
{
    return port->tap_x < port->tile->kx && port->tap_y < port->tile->ky;
}

/* ---- windows ---- */

static struct cnnvp_nfu_value read_window(const void *context, uint32_t col, uint32_t row)
{
    const struct window_port *port = context;
    const struct cnnvp_fx16_tile *tile = port->tile;
    const uint64_t x = (uint64_t)(port->x0 + col) * tile->sx + (uint64_t)port->tap_x * (tile->kx > 1u ? tile->dx : 1u);
    const uint64_t y = (uint64_t)(port->y0 + row) * tile->sy + (uint64_t)port->tap_y * tile->dy;
    struct cnnvp_nfu_value value = {0, true};
    if (tile->ones)
        cnnvp_nfu_beat_made(port->beat);
    else
        cnnvp_nfu_beat_map(port->beat, y, x);
    if (!inside_kernel(port))
        return value;
    if (tile->clipped)
        value.present = x >= tile->valid_col_first && x < tile->valid_col_end && y >= tile->valid_row_first &&
                        y < tile->valid_row_end;
    if (tile->ones)
        value.value = 1;
    else if (port->channel != NULL)
        value.value = port->channel[y * tile->in_row_stride + x];
    return value;
}

/* The step of one tap. `kx`, `ky` count from the corner of the piece. */
static struct cnnvp_nfu_step tap_step(const struct run *run, uint32_t kx, uint32_t ky, uint32_t kw, uint32_t kh)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    struct cnnvp_nfu_step step = {.operation = tile->operation};
    if (!cnnvp_nfu_propagates(run->shape, tile))
        return step;
    const bool needed_below = (uint64_t)ky + tile->sy < kh;
    step.move = kx >= tile->sx ? CNNVP_NFU_RIGHT : ky >= tile->sy ? CNNVP_NFU_DOWN : CNNVP_NFU_LOAD;
    step.push_h = (uint64_t)kx + tile->sx < kw;
    step.push_v = needed_below && kx < tile->sx;
    step.column_push_v = needed_below && (kx < tile->sx || run->shape->extended_fifo_v);
    step.column_from_below = run->shape->extended_fifo_v && kx >= tile->sx && ky >= tile->sy;
    return step;
}

/* Sweeps one piece of the kernel. Its corner is tap (px, py); `weights` is the connection's whole kernel. */
static void sweep_piece(struct run *run, struct window_port *port, const int16_t *weights, uint32_t px, uint32_t py,
                        uint32_t kw, uint32_t kh)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    for (uint32_t ky = 0; ky < kh; ++ky) {
        for (uint32_t kx = 0; kx < kw; ++kx) {
            struct cnnvp_nfu_step step = tap_step(run, kx, ky, kw, kh);
            port->tap_x = px + kx;
            port->tap_y = py + ky;
            step.execute = inside_kernel(port);
            if (tile->uses_k) {
                ++run->cost->weight_words;
                if (step.execute && weights != NULL)
                    step.k = weights[(uint64_t)port->tap_y * tile->kx + port->tap_x];
            }
            cnnvp_nfu_array_step(run->array, &step, read_window, port);
            cnnvp_nfu_beat_end(port->beat, 1);
        }
        cnnvp_nfu_array_flush_h(run->array);
    }
    cnnvp_nfu_array_flush_v(run->array);
}

static void sweep_connection(struct run *run, struct window_port *port, uint64_t in, uint64_t connection)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const uint32_t piece = run->shape->kernel_piece;
    const uint32_t kw = piece != 0 ? piece : tile->kx;
    const uint32_t kh = piece != 0 ? piece : tile->ky;
    const int16_t *weights =
        tile->uses_k && run->data->weights != NULL ? run->data->weights + connection * tile->kx * tile->ky : NULL;
    port->channel = run->data->input != NULL ? run->data->input + in * tile->in_channel_stride : NULL;
    for (uint32_t py = 0; py < tile->ky; py += kh)
        for (uint32_t px = 0; px < tile->kx; px += kw)
            sweep_piece(run, port, weights, px, py, kw, kh);
}

static int64_t bias_of(const struct run *run, uint64_t out)
{
    const bool has = run->tile->bias && run->data->bias != NULL;
    return has ? cnnvp_fx16_bias(run->data->bias[out], run->tile->bias_shift) : 0;
}

/* The bias step P = P + A on all active PEs: one cycle, one word. A scale record goes to the write-out instead. */
static void bias_step(struct run *run, uint64_t out, uint32_t w, uint32_t h)
{
    const int64_t bias = bias_of(run, out);
    for (uint32_t row = 0; row < h; ++row)
        for (uint32_t col = 0; col < w; ++col)
            cnnvp_nfu_pe_add(cnnvp_nfu_array_pe(run->array, col, row), bias, run->shape->acc_bits);
    const uint64_t words = cnnvp_fx16_record_words(run->tile);
    for (uint64_t i = 0; i < words; ++i)
        cnnvp_nfu_beat_word(&run->ports[CNNVP_NFU_WEIGHT], out * words + i);
    cnnvp_nfu_beat_end(&run->ports[CNNVP_NFU_WEIGHT], 1);
    ++run->cost->bias_cycles;
    run->cost->bias_words += run->tile->bias_words;
}

/* Clocks since the command began. */
static uint64_t clocks_of(const struct run *run)
{
    return run->array->counts.cycles + run->cost->compute_cycles + run->cost->bias_cycles + run->cost->writeout_cycles;
}

/* 16-bit words of a partial sum. */
static uint64_t sum_words(const struct run *run)
{
    return (run->shape->acc_bits + 15u) / 16u;
}

static uint64_t result_words(const struct run *run)
{
    return run->tile->partial ? sum_words(run) : 1u;
}

/* Moves a set of results out of the array: w x h of a map from (x0, y0) on, or w neurons from x0 on. First the words or
 * sums that the update needs are read, then the results are written, one clock for each word of a result. */
static void leave(struct run *run, bool map, uint64_t x0, uint64_t y0, uint64_t w, uint64_t h)
{
    struct cnnvp_nfu_beat *beat = &run->ports[CNNVP_NFU_OUTPUT];
    const struct cnnvp_fx16_tile *tile = run->tile;
    const bool finds = !tile->of_words && tile->update != CNNVP_UPDATE_INITIALISE;
    const uint64_t words[] = {finds ? sum_words(run) : 0, tile->of_words || tile->added ? 1u : 0, result_words(run)};
    for (unsigned i = 0; i < 3u; ++i) {
        for (uint64_t row = 0; row < h; ++row)
            for (uint64_t word = 0; word < w * words[i]; ++word)
                if (map)
                    cnnvp_nfu_beat_map(beat, y0 + row, x0 * words[i] + word);
                else
                    cnnvp_nfu_beat_word(beat, x0 * words[i] + word);
        cnnvp_nfu_beat_end(beat, words[i]);
    }
    /* Words move to the write-out's register as soon as it is free; sums stay in the PEs until they have left. */
    const bool stays = tile->partial || run->shape->pipeline < CNNVP_NFU_REGISTER_STAGE || finds;
    const uint64_t now = clocks_of(run);
    const uint64_t begin = now < run->busy_until ? run->busy_until : now;
    run->busy_until = begin + words[0] + words[1] + words[2];
    run->cost->writeout_cycles += (stays ? run->busy_until : begin) - now;
}

/* Waits until the last results have left. */
static void drain(struct run *run)
{
    const uint64_t now = clocks_of(run);
    run->cost->writeout_cycles += run->busy_until > now ? run->busy_until - now : 0;
}

static void window_results(struct run *run, const struct window_port *port, uint64_t out, uint32_t w, uint32_t h)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    leave(run, true, port->x0, port->y0, w, h);
    run->cost->output_words += (uint64_t)w * h * result_words(run);
    if (run->data->sums == NULL)
        return;
    int64_t *plane = run->data->sums + out * tile->plane_words;
    for (uint32_t row = 0; row < h; ++row)
        for (uint32_t col = 0; col < w; ++col)
            plane[(uint64_t)(port->y0 + row) * tile->out_w + port->x0 + col] =
                cnnvp_nfu_array_pe(run->array, col, row)->p;
}

/* Computes one PE tile of one output channel. */
static void window_tile(struct run *run, uint64_t out, uint32_t x0, uint32_t y0)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const uint32_t w = cnnvp_minimum32(run->shape->cols, tile->out_w - x0);
    const uint32_t h = cnnvp_minimum32(run->shape->rows, tile->out_h - y0);
    struct window_port port = {.tile = tile, .x0 = x0, .y0 = y0, .beat = &run->ports[CNNVP_NFU_INPUT]};
    cnnvp_nfu_array_begin(run->array, w, h, &tile->operation);
    if (tile->per_channel) {
        sweep_connection(run, &port, out, out);
    } else {
        for (uint64_t in = 0; in < tile->in_channels; ++in)
            sweep_connection(run, &port, in, out * tile->in_channels + in);
    }
    if (tile->bias_words != 0)
        bias_step(run, out, w, h);
    window_results(run, &port, out, w, h);
}

static int window(struct run *run)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    const uint32_t piece = run->shape->kernel_piece;
    const uint32_t kw = piece != 0 ? piece : tile->kx;
    const uint32_t kh = piece != 0 ? piece : tile->ky;
    const bool moves = cnnvp_nfu_propagates(run->shape, tile);
    const uint64_t depth_h = moves && kw > tile->sx ? tile->sx : 0;
    const uint64_t rows_kept = moves && kh > tile->sy ? tile->sy : 0;
    const uint64_t depth_v = cnnvp_minimum32(tile->sx, kw) * rows_kept;
    const uint64_t column_depth_v = run->shape->extended_fifo_v ? kw * rows_kept : depth_v;
    const int status = cnnvp_nfu_array_configure(run->array, run->shape, depth_h, depth_v, column_depth_v);
    if (status != CNNVP_OK)
        return status;
    for (uint64_t out = 0; out < tile->out_channels; ++out)
        for (uint64_t y0 = 0; y0 < tile->out_h; y0 += run->shape->rows)
            for (uint64_t x0 = 0; x0 < tile->out_w; x0 += run->shape->cols)
                window_tile(run, out, (uint32_t)x0, (uint32_t)y0);
    drain(run);
    run->cost->compute_cycles = run->array->counts.cycles;
    run->cost->input_words = run->array->counts.input_words;
    run->cost->macs = run->array->counts.macs;
    run->cost->fifo_h_pushes = run->array->counts.fifo_h_pushes;
    run->cost->fifo_v_pushes = run->array->counts.fifo_v_pushes;
    return CNNVP_OK;
}

/* ---- fully connected ---- */

/* The PE with number `index`, counted row by row. No value moves between PEs here, so any order would do. */
static struct cnnvp_nfu_pe *pe_at(const struct run *run, uint64_t index)
{
    return &run->array->pes[index];
}

/* A PE multiplies input `in` with its weight for neuron `out`; both come from the ports. */
static void multiply(struct run *run, struct cnnvp_nfu_pe *pe, uint64_t in, uint64_t out)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    /* weights are contiguous along the inputs of a neuron (single-neuron), otherwise along the neurons of an input */
    cnnvp_nfu_beat_word(&run->ports[CNNVP_NFU_WEIGHT],
                        run->shape->single_neuron ? out * tile->inputs + in : in * tile->outputs + out);
    const struct cnnvp_fx16_data *data = run->data;
    const int16_t k = data->weights != NULL ? data->weights[in * tile->outputs + out] : 0;
    pe->selected = (struct cnnvp_nfu_value){data->input != NULL ? data->input[in] : 0, true};
    cnnvp_nfu_pe_execute(pe, &tile->operation, k, run->shape->acc_bits);
    ++run->cost->weight_words;
    ++run->cost->macs;
}

/* Adds the bias of the neuron in a PE, and stores its result. */
static void neuron_result(struct run *run, struct cnnvp_nfu_pe *pe, uint64_t out)
{
    if (run->tile->bias)
        cnnvp_nfu_pe_add(pe, bias_of(run, out), run->shape->acc_bits);
    run->cost->bias_words += run->tile->bias_words;
    run->cost->output_words += result_words(run);
    if (run->data->sums != NULL)
        run->data->sums[out] = pe->p;
}

/* Ends a clock in which all PEs have multiplied. */
static void next_clock(struct run *run)
{
    cnnvp_nfu_beat_end(&run->ports[CNNVP_NFU_INPUT], 1);
    cnnvp_nfu_beat_end(&run->ports[CNNVP_NFU_WEIGHT], 1);
    ++run->cost->compute_cycles;
}

/* Counts the clocks of the neurons' bias words and of their write-out. */
static void finish_neurons(struct run *run, uint64_t first, uint64_t count)
{
    const uint64_t words = cnnvp_fx16_record_words(run->tile), cycles = run->tile->bias_words;
    for (uint64_t i = 0; i < count * words; ++i)
        cnnvp_nfu_beat_word(&run->ports[CNNVP_NFU_WEIGHT], first * words + i);
    if (words != 0)
        cnnvp_nfu_beat_end(&run->ports[CNNVP_NFU_WEIGHT], cycles);
    run->cost->bias_cycles += cycles;
    leave(run, false, first, 0, count, 1);
}

/* Mapping `broadcast`: one neuron for each PE, and in each cycle one input for all PEs. */
static void matmul_broadcast(struct run *run, uint64_t pes)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    for (uint64_t first = 0; first < tile->outputs; first += pes) {
        const uint64_t active = tile->outputs - first < pes ? tile->outputs - first : pes;
        cnnvp_nfu_array_begin(run->array, run->shape->cols, run->shape->rows, &tile->operation);
        for (uint64_t in = 0; in < tile->inputs; ++in) {
            ++run->cost->input_words;
            cnnvp_nfu_beat_word(&run->ports[CNNVP_NFU_INPUT], in);
            for (uint64_t i = 0; i < active; ++i)
                multiply(run, pe_at(run, i), in, first + i);
            next_clock(run);
        }
        for (uint64_t i = 0; i < active; ++i)
            neuron_result(run, pe_at(run, i), first + i);
        finish_neurons(run, first, active);
    }
}

/* Adds up the sums of all PEs in the first PE, pair by pair, through the output stage. */
static void reduce(struct run *run, uint64_t pes)
{
    for (uint64_t distance = 1; distance < pes; distance *= 2u) {
        for (uint64_t i = 0; i + distance < pes; i += 2u * distance)
            cnnvp_nfu_pe_add(pe_at(run, i), pe_at(run, i + distance)->p, run->shape->acc_bits);
        ++run->cost->writeout_cycles;
    }
}

/* Mapping `single-neuron`: all PEs work on one neuron, each with its own input and weight. */
static void matmul_single(struct run *run, uint64_t pes)
{
    const struct cnnvp_fx16_tile *tile = run->tile;
    for (uint64_t out = 0; out < tile->outputs; ++out) {
        cnnvp_nfu_array_begin(run->array, run->shape->cols, run->shape->rows, &tile->operation);
        for (uint64_t first = 0; first < tile->inputs; first += pes) {
            for (uint64_t i = 0; i < pes && first + i < tile->inputs; ++i) {
                ++run->cost->input_words;
                cnnvp_nfu_beat_word(&run->ports[CNNVP_NFU_INPUT], first + i);
                multiply(run, pe_at(run, i), first + i, out);
            }
            next_clock(run);
        }
        reduce(run, pes);
        neuron_result(run, pe_at(run, 0), out);
        finish_neurons(run, out, 1);
    }
}

static int matmul(struct run *run)
{
    const uint64_t pes = (uint64_t)run->shape->rows * run->shape->cols;
    const int status = cnnvp_nfu_array_configure(run->array, run->shape, 0, 0, 0);
    if (status != CNNVP_OK)
        return status;
    if (run->shape->single_neuron)
        matmul_single(run, pes);
    else
        matmul_broadcast(run, pes);
    drain(run);
    return CNNVP_OK;
}

/* ---- whole commands ---- */

int cnnvp_nfu_cycle(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                    const struct cnnvp_fx16_data *data, struct cnnvp_nfu_array *array, struct cnnvp_fx16_cost *cost,
                    struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS])
{
    struct run run = {.shape = shape, .tile = tile, .data = data, .array = array, .cost = cost, .ports = ports};
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i)
        ports[i].late = 0;
    *cost = (struct cnnvp_fx16_cost){0};
    const int status = tile->kind == CNNVP_FX16_MATMUL ? matmul(&run) : window(&run);
    if (status != CNNVP_OK)
        return status;
    cost->weight_words += cost->bias_words;
    cost->fill_cycles = shape->pipeline - 1u + (tile->scaled ? CNNVP_WRITE_OUT_SCALE_STAGES : 0);
    for (unsigned i = 0; i < CNNVP_NFU_PORTS; ++i)
        if (ports[i].failed)
            return CNNVP_E_NOMEM;
    return array->fault ? CNNVP_E_FATAL : CNNVP_OK;
}
