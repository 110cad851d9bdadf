/* SPDX-License-Identifier: Apache-2.0 */
/* The element-by-element instructions. Elements are loaded, combined and written in chunks, by plain loops without
 * dependences. If results overwrite operands that are still to be read, a chunk is one element. */
#include "lanes_internal.h"
#include "cnnvp_words.h"

#include <string.h>

#include "inference/write_out/write_out.h"

/* The current chunk: elements (o, i) .. (o, i + n - 1); the first has number e. */
struct chunk {
    uint64_t o, i, n, e;
    int64_t a[LANES_CHUNK];
    int64_t b[LANES_CHUNK];
    int64_t results[LANES_CHUNK];
    int16_t words[LANES_CHUNK];
};

void lanes_load(const struct lanes_operand *operand, uint64_t o, uint64_t i, uint64_t n, int64_t *values)
{
    const int64_t step = operand->stride * (int64_t)operand->bytes;
    const uint8_t *at =
        operand->data + ((int64_t)o * operand->repeat + (int64_t)i * operand->stride) * (int64_t)operand->bytes;
    if (operand->wide) {
        for (uint64_t k = 0; k < n; ++k)
            values[k] = cnnvp_sum_at(at + (int64_t)k * step, operand->bytes);
    } else if (operand->stride == 1) {
        int16_t words[LANES_CHUNK];
        cnnvp_get_words(at, n, operand->bytes, words);
        for (uint64_t k = 0; k < n; ++k)
            values[k] = words[k];
    } else {
        for (uint64_t k = 0; k < n; ++k)
            values[k] = cnnvp_word_at(at + (int64_t)k * step, operand->bytes);
    }
}

void lanes_put(const struct lanes_operand *out, uint64_t o, uint64_t i, uint64_t n, const int16_t *words)
{
    cnnvp_put_words(out->data + ((int64_t)o * out->repeat + (int64_t)i) * (int64_t)out->bytes, words, n, out->bytes);
}

/* ---- results of a chunk, before registers ---- */

static void combine_compare(const struct lanes_job *job, struct chunk *c)
{
    if (job->minimum)
        for (uint64_t k = 0; k < c->n; ++k)
            c->results[k] = c->a[k] < c->b[k] ? c->a[k] : c->b[k];
    else
        for (uint64_t k = 0; k < c->n; ++k)
            c->results[k] = c->a[k] > c->b[k] ? c->a[k] : c->b[k];
}

static void combine_divide(const struct lanes_job *job, struct chunk *c)
{
    for (uint64_t k = 0; k < c->n; ++k) {
        const uint64_t random =
            job->rounding == CNNVP_ROUNDING_STOCHASTIC ? cnnvp_round_random(job->seed, c->e + k) : 0;
        c->results[k] = c->b[k] != 0  ? lanes_divide(c->a[k], c->b[k], job->shift, job->rounding, random)
                        : c->a[k] > 0 ? INT16_MAX
                        : c->a[k] < 0 ? INT16_MIN
                                      : 0;
    }
}

static void combine_scaled(const struct lanes_job *job, struct chunk *c)
{
    if (job->opcode == CNNVP_OPCODE_vdiv) /* the write-out scales the sum */
        memcpy(c->results, c->a, c->n * sizeof c->a[0]);
    else
        cnnvp_combine_scaled(&job->operands, job->opcode == CNNVP_OPCODE_vmac, c->a, c->b, c->n, c->results);
}

static int aligns_operands(uint32_t opcode)
{
    return opcode != CNNVP_OPCODE_vmac && opcode != CNNVP_OPCODE_vdiv;
}

/* Shifts the operand that has fewer fraction bits: b, or a for a negative shift. */
static void align(const struct lanes_job *job, struct chunk *c)
{
    int64_t *const operand = job->bias_shift < 0 ? c->a : c->b;
    const int32_t shift = job->bias_shift < 0 ? -job->bias_shift : job->bias_shift;
    for (uint64_t k = 0; k < c->n; ++k)
        operand[k] = lanes_shift(operand[k], shift);
}

static void combine(const struct lanes_job *job, struct chunk *c)
{
    /* an immediate is shifted once, by the caller */
    if (aligns_operands(job->opcode) && (job->bias_shift < 0 || (job->bias_shift > 0 && job->b.used)))
        align(job, c);
    switch (job->opcode) {
    case CNNVP_OPCODE_vmac:
        for (uint64_t k = 0; k < c->n; ++k)
            c->results[k] = lanes_multiply(c->a[k], c->b[k]);
        break;
    case CNNVP_OPCODE_vadd:
        for (uint64_t k = 0; k < c->n; ++k)
            c->results[k] = lanes_add(c->a[k], c->b[k]);
        break;
    case CNNVP_OPCODE_vsub:
        for (uint64_t k = 0; k < c->n; ++k)
            c->results[k] = (int64_t)((uint64_t)c->a[k] - (uint64_t)c->b[k]);
        break;
    case CNNVP_OPCODE_vdiv:
        combine_divide(job, c);
        break;
    case CNNVP_OPCODE_vcmp:
        combine_compare(job, c);
        break;
    default: /* handled by other functions, or refused by lanes_decode */
        break;
    }
}

static void combine_norm(const struct lanes_job *job, struct chunk *c)
{
    int64_t scale;
    int64_t offset;
    lanes_load(&job->b, c->o, 0, 1, &scale);
    lanes_load(&job->c, c->o, 0, 1, &offset);
    offset = lanes_shift(offset, job->bias_shift);
    for (uint64_t k = 0; k < c->n; ++k)
        c->results[k] = lanes_add(lanes_multiply(c->a[k] - job->b_stride, scale), offset);
}

/* ---- registers ---- */

static enum lanes_operator operator_of(uint32_t opcode)
{
    switch (opcode) {
    case CNNVP_OPCODE_vadd:
        return LANES_add;
    case CNNVP_OPCODE_vsub:
        return LANES_sub;
    case CNNVP_OPCODE_vdiv:
        return LANES_div;
    case CNNVP_OPCODE_vcmp:
        return LANES_cmp;
    default:
        return LANES_mac;
    }
}

/* Combines the results with the lanes' registers. The chunk must not wrap around the lanes. */
static void accumulate(const struct lanes_job *job, struct chunk *c, int64_t *lane)
{
    if (job->opcode != CNNVP_OPCODE_vcmp) {
        for (uint64_t k = 0; k < c->n; ++k)
            lane[k] = lanes_add(lane[k], c->results[k]);
    } else {
        for (uint64_t k = 0; k < c->n; ++k) {
            const int smaller = c->results[k] < lane[k];
            lane[k] = smaller == job->minimum ? c->results[k] : lane[k];
        }
    }
    memcpy(c->results, lane, c->n * sizeof lane[0]);
}

/* Keeps the results of the job's last elements in the registers of their lanes. */
static void keep_last(const struct lanes_job *job, const struct chunk *c, uint64_t lanes, int64_t *lane)
{
    const uint64_t total = job->count * job->repeat;
    const uint64_t first = total > lanes ? total - lanes : 0;
    for (uint64_t k = c->e < first ? first - c->e : 0; k < c->n; ++k)
        lane[(c->e + k) % lanes] = c->results[k];
}

/* ---- jobs ---- */

static struct cnnvp_write_out stage_of(const struct lanes_job *job)
{
    return (struct cnnvp_write_out){
        .shift = job->opcode == CNNVP_OPCODE_vdiv ? 0 : job->shift, /* the quotient is already shifted */
        .rounding = job->rounding,
        .seed = job->seed,
        .clips = job->clips,
        .low = (int16_t)job->low,
        .high = (int16_t)job->high,
        .scales = job->scales && job->opcode == CNNVP_OPCODE_vdiv ? (const int16_t *)&job->scale : NULL,
        .scale_sums = LANES_MOST_ELEMENTS,
        .word_bytes = job->out.bytes,
        .zero = (int16_t)job->zero};
}

static uint64_t write_results(const struct lanes_job *job, struct chunk *c)
{
    const struct cnnvp_write_out stage = stage_of(job);
    const uint64_t clipped = cnnvp_write_out(&stage, c->results, c->n, c->e, c->words);
    lanes_put(&job->out, c->o, c->i, c->n, c->words);
    return clipped;
}

static uint64_t write_registers(const struct lanes_job *job, const struct lanes_registers *registers)
{
    int16_t words[LANES_MAX];
    const struct cnnvp_write_out stage = stage_of(job);
    const uint64_t clipped = cnnvp_write_out(&stage, registers->lane[job->operator_], job->count, 0, words);
    lanes_put(&job->out, 0, 0, job->count, words);
    return clipped;
}

/* Number of elements in the next chunk. */
static uint64_t chunk_length(const struct lanes_job *job, uint64_t lanes, uint64_t i)
{
    const uint64_t left = job->count - i;
    uint64_t most = LANES_CHUNK;
    if (job->in_order)
        return 1u;
    if (job->accumulate && lanes - i % lanes < most)
        most = lanes - i % lanes;
    return left < most ? left : most;
}

uint64_t lanes_execute(const struct lanes_job *job, uint64_t lanes, struct lanes_registers *registers)
{
    struct chunk c;
    uint64_t clipped = 0;
    if (job->opcode == CNNVP_OPCODE_vout)
        return write_registers(job, registers);
    if (job->opcode == CNNVP_OPCODE_vmean || job->opcode == CNNVP_OPCODE_vvar || job->opcode == CNNVP_OPCODE_vsoftmax)
        return lanes_reduce(job);
    int64_t *const lane = registers->lane[operator_of(job->opcode)];
    if (!job->b.used)
        for (uint64_t k = 0; k < LANES_CHUNK; ++k)
            c.b[k] = aligns_operands(job->opcode) && job->bias_shift > 0
                         ? lanes_shift(job->immediate, job->bias_shift)
                         : job->immediate;
    for (c.o = 0; c.o < job->repeat; ++c.o)
        for (c.i = 0; c.i < job->count; c.i += c.n) {
            c.n = chunk_length(job, lanes, c.i);
            c.e = c.o * job->count + c.i;
            lanes_load(&job->a, c.o, c.i, c.n, c.a);
            if (job->opcode == CNNVP_OPCODE_vact) {
                cnnvp_table_lines(job->b.data, c.a, c.n, c.results);
            } else if (job->opcode == CNNVP_OPCODE_vnorm) {
                combine_norm(job, &c);
            } else {
                if (job->b.used)
                    lanes_load(&job->b, c.o, c.i, c.n, c.b);
                (job->scales ? combine_scaled : combine)(job, &c);
            }
            if (job->accumulate)
                accumulate(job, &c, lane + c.i % lanes);
            else if (job->opcode != CNNVP_OPCODE_vact)
                keep_last(job, &c, lanes, lane);
            if (job->out.used)
                clipped += write_results(job, &c);
        }
    return clipped;
}
