/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of lanes, element by element, in the order and by the formulas of inference/lanes/lanes.h. */
#include "reference_internal.h"

#include <stdlib.h>

/* Values of the source fields beyond the buffer numbers: */
enum { WIDE = 3, IMMEDIATE = 3 }; /* for a; for b */
enum { TABLE_HEADER = 4 };        /* words */

static const reference_wide most_squares = (reference_wide)1 << 62;

/* Element (o, i) is at base + bytes * (o * repeat + i * stride) in its half. bytes 0: the immediate. */
struct operand {
    uint32_t buffer, bytes;
    int64_t base, stride, repeat;
};

struct job {
    struct cnnvp_reference *reference;
    const struct cnnvp_command *command;
    struct reference_format format;
    struct operand a, b, c, out;
    uint64_t count, repeat, divisor;
    int64_t immediate, a_zero;
    int accumulate, store, minimum, sums;
    int16_t *table; /* used by vact */
    const char *wrong;
};

static uint8_t *place(struct job *job, const struct operand *operand, uint64_t o, uint64_t i)
{
    static uint8_t nowhere[8];
    const reference_wide words =
        (reference_wide)o * (reference_wide)operand->repeat + (reference_wide)i * (reference_wide)operand->stride;
    uint8_t *at = reference_at(
        job->reference, job->command, operand->buffer, operand->base + words * operand->bytes, operand->bytes);
    if (at == NULL)
        job->wrong = "an operand leaves its buffer's half";
    return at != NULL ? at : nowhere;
}

static int64_t element(struct job *job, const struct operand *operand, uint64_t o, uint64_t i)
{
    return operand->bytes == 0 ? job->immediate : reference_read(place(job, operand, o, i), operand->bytes);
}

static void put(struct job *job, uint64_t o, uint64_t i, int16_t word)
{
    uint8_t *at = place(job, &job->out, o, i);
    if (job->wrong == NULL)
        reference_write(at, word, job->out.bytes);
}

/* ---- element by element ---- */

/* Reads the table of vact; its header says how long it is. */
static int16_t *read_table(struct job *job)
{
    struct operand table = job->b;
    table.stride = 1;
    const int64_t segments = element(job, &table, 0, 2);
    const uint64_t words = TABLE_HEADER + 2 * (uint64_t)(segments > 0 ? segments : 0);
    int16_t *read = segments > 0 ? malloc((size_t)words * sizeof *read) : NULL;
    if (read == NULL)
        job->wrong = "the table has no segments";
    for (uint64_t i = 0; read != NULL && i < words; ++i)
        read[i] = (int16_t)element(job, &table, 0, i);
    return read;
}

static int scales(const struct cnnvp_command *command)
{
    return command->opcode <= CNNVP_OPCODE_vdiv && reference_status(command, "scale", 0) != 0;
}

static int16_t scaled_sum(const struct job *job, int64_t sum, uint64_t index)
{
    const struct cnnvp_vector *d = (const void *)job->command->descriptor;
    const uint32_t words[2] = {d->c_addr, d->immediate};
    struct reference_format unshifted = job->format;
    uint8_t record[8];
    memcpy(record, words, sizeof record);
    unshifted.shift = 0;
    return (int16_t)reference_scaled(&unshifted, sum, record, index);
}

/* R, before the registers. */
static int64_t result_of(struct job *job, uint64_t o, uint64_t i)
{
    const struct cnnvp_command *command = job->command;
    const struct cnnvp_vector *d = (const void *)command->descriptor;
    const uint64_t e = o * job->count + i;
    const int64_t a = element(job, &job->a, o, i);
    if (command->opcode == CNNVP_OPCODE_vact)
        return cnnvp_reference_line(job->table, a);
    const int64_t b = element(job, &job->b, o, i);
    if (scales(command))
        return command->opcode == CNNVP_OPCODE_vdiv
                   ? a
                   : reference_combined(command->opcode,
                                        (struct reference_operands){d->c_addr, d->c_repeat, d->immediate, d->seed}, a,
                                        b);
    const int s = job->format.addend_shift;
    const int64_t first = cnnvp_reference_shift(a, s < 0 ? -s : 0), second = cnnvp_reference_shift(b, s > 0 ? s : 0);
    switch (command->opcode) {
    case CNNVP_OPCODE_vmac:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case CNNVP_OPCODE_vadd:
        return (int64_t)((uint64_t)first + (uint64_t)second);
    case CNNVP_OPCODE_vsub:
        return (int64_t)((uint64_t)first - (uint64_t)second);
    case CNNVP_OPCODE_vdiv:
        return cnnvp_reference_quotient(
            a, b, job->format.shift, job->format.rounding, cnnvp_reference_random(job->format.seed, e));
    case CNNVP_OPCODE_vcmp:
        return (first > second) == !job->minimum ? first : second;
    default: { /* vnorm */
        const int64_t c = cnnvp_reference_shift(element(job, &job->c, o, 0), job->format.addend_shift);
        return (int64_t)((uint64_t)(a - job->a_zero) * (uint64_t)b + (uint64_t)c);
    }
    }
}

/* Number of the registers of an operator, as in vout's field. */
static uint32_t operator_of(uint32_t opcode)
{
    return opcode == CNNVP_OPCODE_vadd   ? 1
           : opcode == CNNVP_OPCODE_vsub ? 2
           : opcode == CNNVP_OPCODE_vdiv ? 3
           : opcode == CNNVP_OPCODE_vcmp ? 4
                                         : 0;
}

/* The new value of the element's register. */
static int64_t combine(const struct job *job, int64_t before, int64_t result)
{
    if (!job->accumulate)
        return result;
    if (job->command->opcode == CNNVP_OPCODE_vcmp)
        return (result > before) == !job->minimum ? result : before;
    return (int64_t)((uint64_t)before + (uint64_t)result);
}

static void elements(struct job *job)
{
    const uint32_t lanes = job->reference->lanes;
    const int shift = job->command->opcode == CNNVP_OPCODE_vdiv ? 0 : job->format.shift;
    int64_t *registers = job->reference->registers[operator_of(job->command->opcode)];
    for (uint64_t o = 0; o < job->repeat; ++o)
        for (uint64_t i = 0; i < job->count && job->wrong == NULL; ++i) {
            const uint64_t e = o * job->count + i;
            const uint64_t lane = lanes == 0 ? 0 : (job->accumulate ? i : e) % lanes;
            const int64_t value = combine(job, registers[lane], result_of(job, o, i));
            if (job->command->opcode != CNNVP_OPCODE_vact)
                registers[lane] = value;
            if (job->store && scales(job->command) && job->command->opcode == CNNVP_OPCODE_vdiv)
                put(job, o, i, scaled_sum(job, value, e));
            else if (job->store)
                put(job, o, i, (int16_t)reference_word(&job->format, value, shift, e));
        }
}

static void write_registers(struct job *job)
{
    const uint32_t which = reference_status(job->command, "operator", 0);
    if (which >= CNNVP_REFERENCE_OPERATORS || job->count > job->reference->lanes) {
        job->wrong = "there are no such registers";
        return;
    }
    for (uint64_t i = 0; i < job->count && job->wrong == NULL; ++i)
        put(job, 0, i,
            (int16_t)reference_word(&job->format, job->reference->registers[which][i], job->format.shift, i));
}

/* ---- instructions on whole repetitions ---- */

static int64_t sum_of(struct job *job, const struct operand *operand, uint64_t o)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < job->count; ++i)
        sum += (uint64_t)element(job, operand, o, i);
    return (int64_t)sum;
}

static int16_t mean_of(struct job *job, uint64_t o)
{
    return cnnvp_reference_divide(sum_of(job, &job->a, o), (int64_t)job->divisor, job->format.shift,
                                  job->format.rounding, cnnvp_reference_random(job->format.seed, o));
}

/* Sum of squared distances from the mean, from the elements or from the sums of the elements and of their squares. */
static reference_wide squares_of(struct job *job, uint64_t o, reference_wide mean)
{
    const reference_wide unit = (reference_wide)1 << job->format.addend_shift;
    reference_wide squares = 0;
    if (job->sums) {
        const reference_wide t = sum_of(job, &job->a, o), q = sum_of(job, &job->c, o);
        squares = q * unit * unit - 2 * mean * t * unit + (reference_wide)job->divisor * mean * mean;
        return squares < 0 ? 0 : squares;
    }
    for (uint64_t i = 0; i < job->count && squares < most_squares; ++i) {
        const reference_wide distance = element(job, &job->a, o, i) * unit - mean;
        squares += distance > UINT32_MAX || -distance > UINT32_MAX ? most_squares : distance * distance;
    }
    return squares;
}

static int16_t inverse_deviation(struct job *job, uint64_t o)
{
    const reference_wide squares = squares_of(job, o, element(job, &job->b, o, 0));
    return cnnvp_reference_inverse_root(
        (uint64_t)(squares < most_squares ? squares : most_squares), job->divisor, (uint64_t)job->immediate,
        job->format.addend_shift - job->format.shift, job->format.rounding);
}

static void softmax(struct job *job, uint64_t o)
{
    struct cnnvp_reference_softmax of;
    int64_t *x = malloc((size_t)job->count * sizeof *x);
    if (x == NULL) {
        job->wrong = "there is not enough memory";
        return;
    }
    for (uint64_t i = 0; i < job->count; ++i)
        x[i] = element(job, &job->a, o, i);
    cnnvp_reference_softmax_begin(&of, x, (size_t)job->count, job->format.addend_shift);
    for (uint64_t i = 0; i < job->count && job->wrong == NULL; ++i)
        put(job, o, i,
            cnnvp_reference_softmax_word(&of, element(job, &job->a, o, i), 8 * job->out.bytes, job->format.shift));
    free(x);
}

static void repetitions(struct job *job)
{
    for (uint64_t o = 0; o < job->repeat && job->wrong == NULL; ++o) {
        if (job->command->opcode == CNNVP_OPCODE_vsoftmax)
            softmax(job, o);
        else
            put(job, o, 0,
                (int16_t)reference_word(
                    &job->format,
                    job->command->opcode == CNNVP_OPCODE_vmean ? mean_of(job, o) : inverse_deviation(job, o), 0, 0));
    }
}

/* ---- commands ---- */

/* Bytes of a partial sum: four words, or as many as `format` says. */
static uint32_t slot_bytes(uint32_t format)
{
    const uint32_t words = format >> 18 & 7;
    return words == 0 ? 8 : 2 * words;
}

static void decode_operands(struct job *job)
{
    const struct cnnvp_command *command = job->command;
    const struct cnnvp_vector *d = (const void *)command->descriptor;
    const uint32_t a = reference_status(command, "a", 0), b = reference_status(command, "b", IMMEDIATE);
    const int by_repetition = command->opcode == CNNVP_OPCODE_vnorm || command->opcode == CNNVP_OPCODE_vvar;
    const int parameters = by_repetition || command->opcode == CNNVP_OPCODE_vact; /* parameters have 16 bits */
    job->a = (struct operand){
        a == WIDE ? CNNVP_REFERENCE_OUTPUT : a, a == WIDE ? slot_bytes(d->format) : job->format.a_bytes, d->a_addr,
        (int32_t)d->a_stride, (int32_t)d->a_repeat};
    if (b != IMMEDIATE)
        job->b = (struct operand){b, parameters ? 2 : job->format.b_bytes, d->b_addr,
                                  by_repetition ? 0 : (int32_t)d->b_stride, (int32_t)d->b_repeat};
    job->c = job->b;
    if (job->sums) {
        job->c = job->a;
        job->c.buffer = CNNVP_REFERENCE_OUTPUT;
    }
    job->c.base = d->c_addr;
    job->c.repeat = (int32_t)d->c_repeat;
    job->out = (struct operand){CNNVP_REFERENCE_OUTPUT, job->format.out_bytes, d->out_addr, 1, (int32_t)d->out_repeat};
}

const char *reference_lanes(struct cnnvp_reference *reference, const struct cnnvp_command *command)
{
    const struct cnnvp_vector *d = (const void *)command->descriptor;
    struct job job = {
        .reference = reference,
        .command = command,
        .format = reference_format_of(command, d->format, d->seed, d->limits),
        .count = d->count,
        .repeat = d->repeat,
        .divisor = d->count,
        .immediate = (int32_t)d->immediate,
        .a_zero = (int32_t)d->b_stride,
        .accumulate = reference_status(command, "accumulate", 0) != 0,
        .store = reference_status(command, "store", 1) != 0,
        .minimum = reference_status(command, "minimum", 0) != 0,
        .sums = reference_status(command, "sums", 0) != 0,
    };
    if (job.sums)
        job.divisor = command->opcode == CNNVP_OPCODE_vmean ? d->immediate : d->b_stride;
    decode_operands(&job);
    if (command->opcode == CNNVP_OPCODE_vact)
        job.table = read_table(&job);
    if (command->opcode == CNNVP_OPCODE_vout)
        write_registers(&job);
    else if (command->opcode == CNNVP_OPCODE_vmean || command->opcode == CNNVP_OPCODE_vvar ||
             command->opcode == CNNVP_OPCODE_vsoftmax)
        repetitions(&job);
    else if (job.wrong == NULL)
        elements(&job);
    free(job.table);
    return job.wrong;
}
