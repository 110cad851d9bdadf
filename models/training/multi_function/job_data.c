/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a job: from the intermediate buffer into the tile that streams through the blocks, and back. */
#include "job.h"

#include "cnnvp_bfp.h"
#include "training/stage/stage.h"

#include <stdlib.h>
#include <string.h>

/* Largest scale that cnnvp_bfp_sums_to_float takes. Beyond it, sums become zero or exceed the largest binary32
 * anyway. */
enum { SCALE_LIMIT = 900, ALIGNMENT = 64 };

void cnnvp_job_scratch_free(struct cnnvp_job_scratch *scratch)
{
    free(scratch->memory);
    *scratch = (struct cnnvp_job_scratch){0};
}

/* ---- operands in place: a tile that the intermediate buffer holds in the layout of the blocks needs no copy ---- */

static bool is_contiguous(const struct cnnvp_job_operand *operand)
{
    return operand->rows == 1u || operand->stride == operand->row_values;
}

static bool overlap(const struct cnnvp_job_operand *a, const struct cnnvp_job_operand *b)
{
    return a->used && b->used && a->held == b->held && a->half == b->half &&
           a->address < b->address + cnnvp_job_span(b) && b->address < a->address + cnnvp_job_span(a);
}

/* An update changes weights and velocities value by value, so it can change them in place. */
static bool updates_in_place(const struct cnnvp_job *job)
{
    const struct cnnvp_job_operand *weights = &job->operands[CNNVP_JOB_WEIGHTS];
    const struct cnnvp_job_operand *velocities = &job->operands[CNNVP_JOB_VELOCITIES];
    return job->tile.kind == CNNVP_TILE_UPDATE && is_contiguous(weights) && !overlap(weights, velocities);
}

/* True for commands that read the values and do not change them: statistics, and the quantiser alone. */
static bool reads_in_place(const struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    const bool unchanged =
        tile->kind == CNNVP_TILE_STATISTICS || tile->kind == CNNVP_TILE_SQUARES ||
        (tile->kind == CNNVP_TILE_FORWARD && (tile->flags & (CNNVP_TILE_NORM | CNNVP_TILE_RELU)) == 0);
    return unchanged && job->fp32 && is_contiguous(&job->operands[CNNVP_JOB_IN]) &&
           !overlap(&job->operands[CNNVP_JOB_IN], &job->operands[CNNVP_JOB_OUT]) &&
           !overlap(&job->operands[CNNVP_JOB_IN], &job->operands[CNNVP_JOB_PARK]);
}

/* Bytes of the tile's arrays. */
struct layout {
    size_t values, errors, mantissas, velocities;
};

static struct layout layout_of(const struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    const size_t values = (size_t)cnnvp_stage_values(tile) * sizeof(float);
    const bool quantised = (tile->flags & (CNNVP_TILE_FLOAT | CNNVP_TILE_MEASURE | CNNVP_TILE_REDUCE)) == 0;
    struct layout layout = {.values = values};
    if (tile->kind == CNNVP_TILE_FORWARD || tile->kind == CNNVP_TILE_BACKWARD)
        layout.mantissas = quantised ? values / sizeof(float) * cnnvp_bfp_bytes(tile->mantissa_bits) : 0;
    if (tile->kind == CNNVP_TILE_SOFTMAX || tile->kind == CNNVP_TILE_UPDATE)
        layout.errors = values;
    else if (tile->kind == CNNVP_TILE_BACKWARD && (tile->flags & CNNVP_TILE_POOL) != 0)
        layout.errors = (size_t)tile->images * tile->channels * cnnvp_tile_pooled(tile) * sizeof(float);
    if (tile->kind == CNNVP_TILE_UPDATE && (tile->flags & CNNVP_TILE_MOMENTUM) != 0)
        layout.velocities = values;
    return layout;
}

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
}

/* Takes the next piece of the scratch. NULL for 0 bytes. */
static void *take(char **at, size_t bytes)
{
    char *piece = *at;
    *at += padded(bytes);
    return bytes != 0 ? piece : NULL;
}

int cnnvp_job_reserve(struct cnnvp_job *job, struct cnnvp_job_scratch *scratch)
{
    const struct layout layout = layout_of(job);
    const size_t size =
        padded(layout.values) + padded(layout.errors) + padded(layout.mantissas) + padded(layout.velocities);
    if (scratch->size < size) {
        free(scratch->memory);
        scratch->memory = aligned_alloc(ALIGNMENT, size);
        scratch->size = scratch->memory != NULL ? size : 0;
        if (scratch->memory == NULL)
            return CNNVP_E_NOMEM;
    }
    char *at = scratch->memory;
    job->tile.values = take(&at, layout.values);
    job->tile.errors = take(&at, layout.errors);
    job->tile.mantissas = take(&at, layout.mantissas);
    job->tile.velocities = take(&at, layout.velocities);
    return CNNVP_OK;
}

void cnnvp_job_place(struct cnnvp_job *job)
{
    if (updates_in_place(job)) {
        job->tile.values = job->operands[CNNVP_JOB_WEIGHTS].data;
        if (job->tile.velocities != NULL)
            job->tile.velocities = job->operands[CNNVP_JOB_VELOCITIES].data;
    } else if (reads_in_place(job)) {
        job->tile.values = job->operands[CNNVP_JOB_IN].data;
    }
}

/* ---- rows ---- */

/* Copies rows between a contiguous array and the operand's rows. */
static void copy_rows(const struct cnnvp_job_operand *operand, char *to, uint64_t to_step, const char *from,
                      uint64_t from_step)
{
    for (uint64_t r = 0; to != from && r < operand->rows; ++r)
        memcpy(to + r * to_step, from + r * from_step, (size_t)(operand->row_values * operand->bytes));
}

static void copy_in(const struct cnnvp_job_operand *operand, void *to)
{
    copy_rows(operand, to, operand->row_values * operand->bytes, operand->data, operand->stride * operand->bytes);
}

static void copy_out(const void *from, const struct cnnvp_job_operand *operand)
{
    copy_rows(operand, operand->data, operand->stride * operand->bytes, from, operand->row_values * operand->bytes);
}

/* ---- sums ---- */

static void to_float(int32_t scale, const char *sums, uint32_t bytes, uint64_t n, float *values,
                     struct cnnvp_bfp_counts *counts)
{
    const int32_t bounded = scale > SCALE_LIMIT ? SCALE_LIMIT : scale < -SCALE_LIMIT ? -SCALE_LIMIT : scale;
    if (bytes == 8u)
        cnnvp_bfp_wide_to_float(bounded, (const int64_t *)(const void *)sums, n, values, counts);
    else
        cnnvp_bfp_sums_to_float(bounded, (const int32_t *)(const void *)sums, n, values, counts);
}

/* Converts the sums run by run. A run has one scale: the planes of a channel, or a row if channels share the scale. The
 * rows of an update are its channels. */
static uint64_t convert_sums(const struct cnnvp_job *job, float *values)
{
    const struct cnnvp_job_operand *in = &job->operands[CNNVP_JOB_IN];
    const int16_t *scales = job->operands[CNNVP_JOB_SCALES].data;
    const bool rows_are_channels = job->tile.kind == CNNVP_TILE_UPDATE;
    const uint64_t row_stride = rows_are_channels ? job->scale_channel_stride : job->scale_image_stride;
    const uint64_t run_stride = rows_are_channels ? 0 : job->scale_channel_stride;
    const uint64_t runs = run_stride != 0 ? job->tile.channels : 1u;
    const uint64_t length = in->row_values / runs;
    struct cnnvp_bfp_counts counts = {0};
    for (uint64_t r = 0; r < in->rows; ++r)
        for (uint64_t c = 0; c < runs; ++c)
            to_float(scales[r * row_stride + c * run_stride],
                     (const char *)in->data + (r * in->stride + c * length) * in->bytes, in->bytes, length,
                     values + r * in->row_values + c * length, &counts);
    return counts.saturated;
}

uint64_t cnnvp_job_gather(const struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    const struct cnnvp_job_operand *operands = job->operands;
    float *values =
        tile->kind == CNNVP_TILE_UPDATE || (job->back && tile->errors != NULL) ? tile->errors : tile->values;
    uint64_t saturated = 0;
    if (job->fp32)
        copy_in(&operands[CNNVP_JOB_IN], values);
    else
        saturated = convert_sums(job, values);
    if (job->convert)
        copy_out(values, &operands[CNNVP_JOB_OUT]);
    if (operands[CNNVP_JOB_PARK].used)
        copy_out(values, &operands[CNNVP_JOB_PARK]);
    if (operands[CNNVP_JOB_WEIGHTS].used)
        copy_in(&operands[CNNVP_JOB_WEIGHTS], tile->values);
    if (operands[CNNVP_JOB_VELOCITIES].used)
        copy_in(&operands[CNNVP_JOB_VELOCITIES], tile->velocities);
    return saturated;
}

void cnnvp_job_scatter(const struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    if (tile->kind == CNNVP_TILE_UPDATE) {
        copy_out(tile->values, &job->operands[CNNVP_JOB_WEIGHTS]);
        if (tile->velocities != NULL)
            copy_out(tile->velocities, &job->operands[CNNVP_JOB_VELOCITIES]);
    } else if (tile->kind == CNNVP_TILE_SOFTMAX && job->operands[CNNVP_JOB_OUT].used) {
        copy_out(tile->errors, &job->operands[CNNVP_JOB_OUT]);
    }
}

void cnnvp_job_expand(const struct cnnvp_job *job)
{
    const struct cnnvp_job_operand *in = &job->operands[CNNVP_JOB_IN];
    const int8_t *exponents = job->operands[CNNVP_JOB_EXPONENTS].data;
    const struct cnnvp_tile *tile = &job->tile;
    for (uint64_t r = 0; r < in->rows; ++r) {
        const char *mantissas = (const char *)in->data + r * in->stride * in->bytes;
        const int8_t exponent = exponents[r * tile->exponent_channel_stride];
        cnnvp_bfp_dequantise(tile->mantissa_bits, exponent, mantissas, in->row_values,
                             tile->values + r * in->row_values);
    }
    copy_out(tile->values, &job->operands[CNNVP_JOB_OUT]);
}
