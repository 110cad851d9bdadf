/* SPDX-License-Identifier: Apache-2.0 */
/* The fast model of the PE module: matrix products, panel by panel. See train_job.h and train_kernels.h. */
#include "train_job.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

/* Most bytes of working memory for a command: 512 MiB. */
#define MEMORY_LIMIT (UINT64_C(1) << 29)

/* ---- layout ---- */

static void describe_planes(struct train_job *job)
{
    const struct cnnvp_train_tile *tile = job->tile;
    if (tile->kind == CNNVP_TRAIN_ERROR) {
        job->plane_h = (uint64_t)tile->out_h + tile->ky - 1u;
        job->plane_w = (uint64_t)tile->out_w + tile->kx - 1u;
    } else {
        job->plane_h = (uint64_t)(tile->out_h - 1u) * tile->sy + tile->ky;
        job->plane_w = (uint64_t)(tile->out_w - 1u) * tile->sx + tile->kx;
    }
    job->plane_size = job->plane_h * job->plane_w;
    job->image_size = job->plane_size * tile->in_channels;
}

static void describe_matrices(struct train_job *job)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const uint64_t taps = (uint64_t)tile->kx * tile->ky;
    const uint64_t area = (uint64_t)tile->out_h * tile->out_w;
    job->m = tile->out_channels;
    if (tile->kind == CNNVP_TRAIN_GRADIENT) {
        job->n = tile->in_channels * taps;
        job->k = tile->images * area;
        job->packed = true;
    } else {
        job->n = tile->images * area;
        job->k = tile->in_channels * taps;
        const bool contiguous = tile->w_in_stride == taps || tile->in_channels == 1u;
        job->runs = contiguous ? 1u : tile->in_channels;
        job->run_length = contiguous ? job->k : taps;
        job->run_stride = tile->w_in_stride;
        job->row_stride = tile->w_out_stride;
        job->packed = job->run_length < 4u;
    }
    if (job->packed) {
        job->packed_row = (job->k + 3u) / 4u * 4u;
        job->runs = 1u;
        job->run_length = job->packed_row;
        job->row_stride = job->packed_row;
    }
    job->quads = job->runs * ((job->run_length + 3u) / 4u);
    job->panel_bytes = cnnvp_minimum(job->quads, TRAIN_CHUNK) * 4u * TRAIN_COLUMNS;
}

/* Takes aligned pieces off a block of memory. Without memory, only adds up their sizes. */
struct pieces {
    uint8_t *memory;
    uint64_t used;
};

static void *take(struct pieces *pieces, uint64_t count, uint64_t size)
{
    void *piece = pieces->memory != NULL ? pieces->memory + pieces->used : NULL;
    const uint64_t bytes = count > MEMORY_LIMIT / size ? MEMORY_LIMIT : count * size;
    pieces->used += (bytes + 63u) / 64u * 64u;
    return piece;
}

static void take_all(struct train_job *job, struct pieces *pieces)
{
    job->planes = take(pieces, job->tile->images, job->image_size);
    job->offsets = take(pieces, job->quads, sizeof *job->offsets);
    job->places = take(pieces, job->quads, 4u * sizeof *job->places);
    job->term_places = take(pieces, job->tile->kind == CNNVP_TRAIN_GRADIENT ? 0 : job->k, sizeof *job->term_places);
    job->a_copy = take(pieces, job->packed ? job->m : 0, job->packed ? job->packed_row : 1u);
    job->row_sums = take(pieces, job->m, sizeof *job->row_sums);
    job->panel = take(pieces, 1u, job->panel_bytes);
    job->stage = take(pieces, job->panel_bytes / TRAIN_COLUMNS, TRAIN_STAGE);
    job->wide_sums = take(pieces, job->quads > TRAIN_CHUNK ? job->m : 0, TRAIN_COLUMNS * sizeof *job->wide_sums);
}

static int reserve(struct train_job *job, struct cnnvp_train_scratch *scratch)
{
    struct pieces pieces = {0};
    if (job->plane_h > MEMORY_LIMIT / job->plane_w ||
        job->tile->in_channels > MEMORY_LIMIT / (job->plane_h * job->plane_w) || job->k > INT32_MAX)
        return CNNVP_E_NOMEM;
    take_all(job, &pieces);
    if (pieces.used > MEMORY_LIMIT)
        return CNNVP_E_NOMEM;
    if (pieces.used > scratch->size) {
        free(scratch->memory);
        scratch->memory = malloc(pieces.used);
        scratch->size = scratch->memory != NULL ? pieces.used : 0;
        if (scratch->memory == NULL)
            return CNNVP_E_NOMEM;
    }
    pieces = (struct pieces){.memory = scratch->memory};
    take_all(job, &pieces);
    return CNNVP_OK;
}

void cnnvp_train_scratch_free(struct cnnvp_train_scratch *scratch)
{
    free(scratch->memory);
    *scratch = (struct cnnvp_train_scratch){0};
}

/* ---- matrix a ---- */

/* Copies errors as rows of positions. */
static void pack_errors(const struct train_job *job)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const int8_t *errors = job->data->second;
    for (uint64_t c = 0; c < job->m; ++c) {
        int8_t *row = job->a_copy + c * job->packed_row;
        for (uint64_t image = 0; image < tile->images; ++image)
            for (uint64_t y = 0; y < tile->out_h; ++y) {
                memcpy(row,
                       errors + image * tile->error_image_stride + c * tile->error_channel_stride +
                           cnnvp_train_error_row(tile, y),
                       tile->out_w);
                row += tile->out_w;
            }
        memset(row, 0, job->packed_row - job->k);
    }
}

/* Copies weights of kernels with few taps as rows of channels and taps. */
static void pack_weights(const struct train_job *job)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const int8_t *weights = job->data->second;
    const uint64_t taps = (uint64_t)tile->kx * tile->ky;
    for (uint64_t m = 0; m < job->m; ++m) {
        int8_t *row = job->a_copy + m * job->packed_row;
        for (uint64_t c = 0; c < tile->in_channels; ++c)
            for (uint64_t t = 0; t < taps; ++t)
                *row++ = weights[m * tile->w_out_stride + c * tile->w_in_stride + t];
        memset(row, 0, job->packed_row - job->k);
    }
}

/* Computes where each term k lies in the planes. */
static void place_terms(const struct train_job *job)
{
    int32_t *place = job->term_places;
    for (uint64_t c = 0; c < job->tile->in_channels; ++c)
        for (uint32_t y = 0; y < job->tile->ky; ++y)
            for (uint32_t x = 0; x < job->tile->kx; ++x)
                *place++ = (int32_t)(c * job->plane_size + train_tap(job, y, x));
}

/* Lists quads of terms. The last quad of a run ends with the run: terms that the quad before it already has get place
 * -1. In gradients the terms are positions, whose places stage_column finds. */
static void list_quads(const struct train_job *job)
{
    const bool gradient = job->tile->kind == CNNVP_TRAIN_GRADIENT;
    uint64_t q = 0;
    if (!gradient)
        place_terms(job);
    for (uint64_t run = 0; run < job->runs; ++run)
        for (uint64_t t = 0; t < job->run_length; t += 4u, ++q) {
            const uint64_t begin = t + 4u <= job->run_length ? t : job->run_length - 4u;
            job->offsets[q] = (uint32_t)(run * job->run_stride + begin);
            for (uint64_t j = 0; !gradient && j < 4u; ++j) {
                const uint64_t k = run * job->run_length + begin + j;
                job->places[4u * q + j] = begin + j < t || k >= job->k ? -1 : job->term_places[k];
            }
        }
}

static void sum_rows(const struct train_job *job)
{
    enum { PART = 1 << 20 };
    for (uint64_t m = 0; m < job->m; ++m) {
        job->row_sums[m] = 0;
        for (uint64_t run = 0; run < job->runs; ++run)
            for (uint64_t i = 0; i < job->run_length; i += PART)
                job->row_sums[m] += job->kernels->sum(
                    job->a + m * job->row_stride + run * job->run_stride + i, cnnvp_minimum(job->run_length - i, PART));
    }
}

static void prepare(struct train_job *job)
{
    if (!job->packed)
        job->a = job->data->second;
    else if (job->tile->kind == CNNVP_TRAIN_GRADIENT)
        pack_errors(job);
    else
        pack_weights(job);
    if (job->packed)
        job->a = job->a_copy;
    list_quads(job);
    sum_rows(job);
    cnnvp_train_fill_planes(job);
}

/* ---- results ---- */

/* Columns of a panel that are contiguous in a row of the results and have one scale. */
struct place {
    uint64_t at;    /* index in row 0 of the results */
    uint32_t first; /* first column of the panel */
    uint32_t length;
    uint32_t group; /* image; in gradients input channel */
};

static size_t find_places(const struct train_job *job, uint64_t first, uint64_t count, struct place *places)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint64_t size = gradient ? (uint64_t)tile->kx * tile->ky : (uint64_t)tile->out_h * tile->out_w;
    const bool is_one = gradient && (!tile->to_float || tile->in_exp_channel_stride == 0);
    uint64_t group = (uint32_t)first / (uint32_t)size; /* 32 bits are enough, and divide faster */
    uint64_t within = (uint32_t)first % (uint32_t)size;
    size_t found = 0;
    for (uint64_t c = 0; c < count; ++group, within = 0) {
        const uint64_t length = is_one ? count : cnnvp_minimum(size - within, count - c);
        places[found++] = (struct place){
            .at = gradient ? first + c : group * tile->out_image_stride + within,
            .first = (uint32_t)c,
            .length = (uint32_t)length,
            .group = (uint32_t)group,
        };
        c += length;
    }
    return found;
}

/* Stores row m of a panel's columns, which a single chunk has computed. */
static void store_row(const struct train_job *job, const struct cnnvp_train_shape *shape, uint64_t m,
                      const struct place *places, size_t count, const int32_t *raw, uint64_t *saturated)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const int32_t excess = (int32_t)(128 * job->row_sums[m]);
    for (size_t p = 0; p < count; ++p) {
        const uint64_t at = places[p].at + m * tile->out_channel_stride;
        const int32_t *from = raw + places[p].first;
        int32_t *to = (int32_t *)job->data->results + at;
        if (tile->to_float) {
            const int32_t scale = cnnvp_train_scale(shape, tile, job->data, places[p].group, (uint32_t)m);
            int32_t sums[TRAIN_COLUMNS];
            job->kernels->replace(from, excess, places[p].length, sums);
            cnnvp_train_store_float(tile, scale, sums, at, places[p].length, job->data->results, saturated);
        } else if (tile->accumulate) {
            *saturated += job->kernels->accumulate(from, excess, places[p].length, to);
        } else {
            job->kernels->replace(from, excess, places[p].length, to);
        }
    }
}

static void store_wide_row(const struct train_job *job, const struct cnnvp_train_shape *shape, uint64_t m,
                           const struct place *places, size_t count, uint64_t *saturated)
{
    const struct cnnvp_train_tile *tile = job->tile;
    int64_t *raw = job->wide_sums + m * TRAIN_COLUMNS;
    for (size_t p = 0; p < count; ++p) {
        int64_t *from = raw + places[p].first;
        for (uint32_t i = 0; i < places[p].length; ++i)
            from[i] -= 128 * job->row_sums[m];
        const int32_t scale =
            tile->to_float ? cnnvp_train_scale(shape, tile, job->data, places[p].group, (uint32_t)m) : 0;
        cnnvp_train_store(shape, tile, tile->accumulate, scale, from, places[p].at + m * tile->out_channel_stride,
                          places[p].length, job->data->results, saturated);
    }
}

/* ---- panels ---- */

/* Computes rows m .. m + TRAIN_ROWS - 1 of a panel for quads from .. to - 1. */
static void run_rows(const struct train_job *job, uint64_t m, uint64_t from, uint64_t to, uint64_t count, int32_t *tile)
{
    const int8_t *rows[TRAIN_ROWS];
    for (uint64_t r = 0; r < TRAIN_ROWS; ++r) /* rows behind the last repeat it */
        rows[r] = job->a + cnnvp_minimum(m + r, job->m - 1u) * job->row_stride;
    job->kernels->panel(job->panel, rows, job->offsets + from, to - from, (count + 15u) / 16u, tile);
}

static void compute_panel(const struct train_job *job, const struct cnnvp_train_shape *shape, uint64_t first,
                          uint64_t *saturated)
{
    const uint64_t count = cnnvp_minimum(job->n - first, TRAIN_COLUMNS);
    struct place places[TRAIN_COLUMNS];
    const size_t found = find_places(job, first, count, places);
    cnnvp_train_fill_panel(job, first, count, 0, job->quads);
    for (uint64_t m = 0; m < job->m; m += TRAIN_ROWS) {
        int32_t tile[TRAIN_ROWS * TRAIN_COLUMNS];
        run_rows(job, m, 0, job->quads, count, tile);
        for (uint64_t r = 0; r < TRAIN_ROWS && m + r < job->m; ++r)
            store_row(job, shape, m + r, places, found, tile + r * TRAIN_COLUMNS, saturated);
    }
}

/* Computes a panel that is too long for 32-bit sums and for the cache. */
static void compute_chunks(const struct train_job *job, const struct cnnvp_train_shape *shape, uint64_t first,
                           uint64_t *saturated)
{
    const uint64_t count = cnnvp_minimum(job->n - first, TRAIN_COLUMNS);
    memset(job->wide_sums, 0, job->m * TRAIN_COLUMNS * sizeof *job->wide_sums);
    for (uint64_t from = 0; from < job->quads; from += TRAIN_CHUNK) {
        const uint64_t to = cnnvp_minimum(from + TRAIN_CHUNK, job->quads);
        cnnvp_train_fill_panel(job, first, count, from, to);
        for (uint64_t m = 0; m < job->m; m += TRAIN_ROWS) {
            int32_t tile[TRAIN_ROWS * TRAIN_COLUMNS];
            run_rows(job, m, from, to, count, tile);
            for (uint64_t r = 0; r < TRAIN_ROWS && m + r < job->m; ++r)
                for (uint64_t c = 0; c < count; ++c)
                    job->wide_sums[(m + r) * TRAIN_COLUMNS + c] += tile[r * TRAIN_COLUMNS + c];
        }
    }
    struct place places[TRAIN_COLUMNS];
    const size_t found = find_places(job, first, count, places);
    for (uint64_t m = 0; m < job->m; ++m)
        store_wide_row(job, shape, m, places, found, saturated);
}

static void compute_job(const struct train_job *job, const struct cnnvp_train_shape *shape, uint64_t *saturated)
{
    for (uint64_t first = 0; first < job->n; first += TRAIN_COLUMNS)
        if (job->quads > TRAIN_CHUNK)
            compute_chunks(job, shape, first, saturated);
        else
            compute_panel(job, shape, first, saturated);
}

int cnnvp_train_compute_with(const struct train_kernels *kernels, const struct cnnvp_train_shape *shape,
                             const struct cnnvp_train_tile *tile, const struct cnnvp_train_data *data,
                             struct cnnvp_train_scratch *scratch, uint64_t *saturated)
{
    const uint32_t parts = cnnvp_train_parts(tile);
    for (uint32_t i = 0; i < parts; ++i) {
        struct cnnvp_train_tile part;
        struct cnnvp_train_data part_data;
        cnnvp_train_part(shape, tile, data, i, &part, &part_data);
        if (cnnvp_train_is_wide(shape)) {
            cnnvp_train_compute_wide(shape, &part, &part_data, saturated);
            continue;
        }
        struct train_job job = {.kernels = kernels, .tile = &part, .data = &part_data};
        describe_planes(&job);
        describe_matrices(&job);
        /* all parts have the same size: only the first can run out of memory */
        const int status = reserve(&job, scratch);
        if (status != CNNVP_OK)
            return status;
        prepare(&job);
        compute_job(&job, shape, saturated);
    }
    return CNNVP_OK;
}

int cnnvp_train_compute(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        const struct cnnvp_train_data *data, struct cnnvp_train_scratch *scratch, uint64_t *saturated)
{
    return cnnvp_train_compute_with(cnnvp_train_kernels(), shape, tile, data, scratch, saturated);
}
