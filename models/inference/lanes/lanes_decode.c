/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a command into a job: operands with their ranges, and whether results overwrite operands that are still to be
 * read. */
#include "lanes_internal.h"

#include <string.h>

#define CNNVP_FIELDS struct lanes_job
#include "unit/descriptor.h"

CNNVP_DESCRIPTOR(VECTOR, vector);

/* A status field has the same place in all instructions that have it. */
#define SAME(one, other, name) ((int)CNNVP_STATUS_##one##_##name == (int)CNNVP_STATUS_##other##_##name)
_Static_assert(SAME(vact, vmac, a) && SAME(vmean, vmac, a) && SAME(vsoftmax, vmac, a) && SAME(vact, vmac, b) &&
                   SAME(vvar, vmac, b) && SAME(vnorm, vmac, b) && SAME(vmean, vvar, sums) &&
                   SAME(vcmp, vmac, accumulate) && SAME(vdiv, vmac, accumulate) && SAME(vcmp, vmac, store) &&
                   SAME(vnorm, vmac, store) && SAME(vnorm, vmac, clip) && SAME(vadd, vmac, scale) &&
                   SAME(vsub, vmac, scale) && SAME(vdiv, vmac, scale) && SAME(vdiv, conv, clip) &&
                   SAME(vpool, conv, clip),
               "fields of one name lie at one place");

/* The operands of an instruction. */
struct operands {
    int a, b, c, out, elementwise; /* all 0: no such instruction */
};

static struct operands operands_of(uint32_t opcode, int store)
{
    switch (opcode) {
    case CNNVP_OPCODE_vout:
        return (struct operands){.out = 1};
    case CNNVP_OPCODE_vact:
        return (struct operands){.a = 1, .b = 1, .out = 1, .elementwise = 1};
    case CNNVP_OPCODE_vnorm:
        return (struct operands){.a = 1, .b = 1, .c = 1, .out = store, .elementwise = 1};
    case CNNVP_OPCODE_vmean:
    case CNNVP_OPCODE_vsoftmax:
        return (struct operands){.a = 1, .out = 1};
    case CNNVP_OPCODE_vvar:
        return (struct operands){.a = 1, .b = 1, .out = 1};
    case CNNVP_OPCODE_vmac:
    case CNNVP_OPCODE_vadd:
    case CNNVP_OPCODE_vsub:
    case CNNVP_OPCODE_vdiv:
    case CNNVP_OPCODE_vcmp:
        return (struct operands){.a = 1, .b = 1, .out = store, .elementwise = 1};
    default:
        return (struct operands){0};
    }
}

/* Sets the byte range and words of an operand with `inner` steps of stride and `outer` of repeat. No product overflows:
 * inner * outer <= 2^28, strides are below 2^31 in magnitude. */
static void set_range(struct lanes_operand *operand, uint64_t inner, uint64_t outer, uint64_t lanes)
{
    const int64_t across = (int64_t)(inner - 1u) * operand->stride * (int64_t)operand->bytes;
    const int64_t along = (int64_t)(outer - 1u) * operand->repeat * (int64_t)operand->bytes;
    operand->low = operand->base + (across < 0 ? across : 0) + (along < 0 ? along : 0);
    operand->high = operand->base + (across > 0 ? across : 0) + (along > 0 ? along : 0) + (int64_t)operand->bytes;
    /* an element that is used repeatedly crosses the port once, if the lanes hold it until then */
    const uint64_t row = operand->stride == 0 ? 1u : inner;
    const uint64_t elements = row * (operand->repeat == 0 && row <= lanes ? 1u : outer);
    operand->words = elements * (operand->bytes > 2u ? operand->bytes / 2u : 1u);
}

/* `narrow`: the operand's words have 8 bits. */
static struct lanes_operand operand_at(uint32_t buffer, uint32_t halves, uint32_t address, int64_t stride,
                                       int64_t repeat, uint32_t narrow)
{
    return (struct lanes_operand){
        .used = 1,
        .buffer = buffer,
        .half = halves >> buffer & 1u,
        .bytes = narrow != 0 ? 1u : 2u,
        .base = address,
        .stride = stride,
        .repeat = repeat};
}

/* Returns 1 if no later element reads what element (o, i) writes, because the read position always advances and is
 * ahead of the write position. */
static int reads_ahead(const struct lanes_job *job, const struct lanes_operand *read)
{
    const struct lanes_operand *out = &job->out;
    const int64_t bytes = (int64_t)read->bytes;
    const int64_t written = (int64_t)out->bytes;
    const int64_t last_i = (int64_t)job->count - 1;
    const int64_t last_o = (int64_t)job->repeat - 1;
    const int64_t row = read->repeat - last_i * read->stride; /* last element of a repetition to first of the next */
    if (read->stride < 0 || (last_o > 0 && row < 0))
        return 0;
    /* read position of the next element minus end of the write of this one, at the corners of the linear range */
    const int64_t inside = read->base + bytes * read->stride - out->base - written;
    const int64_t inside_i = (last_i - 1) * (bytes * read->stride - written);
    const int64_t inside_o = last_o * (bytes * read->repeat - written * out->repeat);
    if (last_i > 0 &&
        (inside < 0 || inside + inside_i < 0 || inside + inside_o < 0 || inside + inside_i + inside_o < 0))
        return 0;
    const int64_t between = read->base + bytes * read->repeat - out->base - written * last_i - written;
    const int64_t between_o = (last_o - 1) * (bytes * read->repeat - written * out->repeat);
    return last_o == 0 || (between >= 0 && between + between_o >= 0);
}

static int collides(const struct lanes_job *job, const struct lanes_operand *read)
{
    const struct lanes_operand *out = &job->out;
    return read->used && out->used && read->buffer == out->buffer && read->half == out->half && read->low < out->high &&
           out->low < read->high && !reads_ahead(job, read);
}

/* Merges the repetitions into one long repetition if there are no gaps between them. */
static void flatten(struct lanes_job *job)
{
    struct lanes_operand *const operands[] = {&job->a, &job->b, &job->out};
    if (job->accumulate || job->repeat == 1u || job->opcode == CNNVP_OPCODE_vnorm || job->opcode == CNNVP_OPCODE_vact)
        return;
    for (size_t n = 0; n < sizeof operands / sizeof operands[0]; ++n)
        if (operands[n]->used && operands[n]->repeat != operands[n]->stride * (int64_t)job->count)
            return;
    job->count *= job->repeat;
    job->repeat = 1u;
}

static void set_wide(const struct lanes_job *job, struct lanes_operand *operand)
{
    operand->wide = 1;
    operand->bytes = 2u * (job->slot_words != 0 ? job->slot_words : 4u);
}

/* Sets the operand c, sums of squares, and the number of elements that the sums cover. */
static const char *set_sums(uint32_t halves, uint64_t lanes, struct lanes_job *job)
{
    job->divisor = (uint32_t)(job->opcode == CNNVP_OPCODE_vmean ? job->immediate : job->b_stride);
    if (!job->a.wide)
        return "sums are slots: a is 3";
    if (job->divisor == 0 || job->divisor > LANES_MOST_ELEMENTS)
        return "sums are of 1 to 2^28 elements";
    if (job->opcode == CNNVP_OPCODE_vmean)
        return NULL;
    if (job->c_addr % 2u != 0)
        return "c_addr of slots is even";
    job->c = operand_at(LANES_OUTPUT, halves, job->c_addr, job->a.stride, job->c_repeat, 0);
    set_wide(job, &job->c);
    set_range(&job->c, job->count, job->repeat, lanes);
    return NULL;
}

static const char *decode_sources(const struct cnnvp_command *command, const struct operands *has, uint64_t lanes,
                                  struct lanes_job *job)
{
    const uint32_t halves = command->halves;
    const uint32_t source_a = CNNVP_STATUS_OF(command, vmac, a);
    const uint32_t source_b = CNNVP_STATUS_OF(command, vmac, b);
    if (has->a) {
        const int wide = source_a == LANES_WIDE;
        job->a = operand_at(wide ? LANES_OUTPUT : source_a, halves, job->a_addr, job->a_stride, job->a_repeat,
                            job->narrow & CNNVP_NARROW_A);
        if (wide) {
            set_wide(job, &job->a);
            if (job->a_addr % 2u != 0)
                return "a_addr of slots is even";
        }
        set_range(&job->a, job->count, job->repeat, lanes);
    }
    const int immediate = source_b == LANES_IMMEDIATE;
    if (has->b && (!immediate || job->opcode == CNNVP_OPCODE_vact || has->c || job->opcode == CNNVP_OPCODE_vvar)) {
        if (immediate || (job->opcode == CNNVP_OPCODE_vact && source_b == LANES_OUTPUT))
            return "b of this instruction is a buffer: 0 input, 1 weight, and for vnorm and vvar 2 output";
        const int by_repetition = has->c || job->opcode == CNNVP_OPCODE_vvar;
        job->b = operand_at(source_b, halves, job->b_addr, by_repetition ? 0 : job->b_stride, job->b_repeat,
                            by_repetition || job->opcode == CNNVP_OPCODE_vact ? 0 : job->narrow & CNNVP_NARROW_B);
        set_range(&job->b, job->count, job->repeat, lanes);
    }
    if (has->c) {
        job->c = operand_at(source_b, halves, job->c_addr, 0, job->c_repeat, 0);
        set_range(&job->c, job->count, job->repeat, lanes);
    }
    if (has->out) {
        job->out = operand_at(LANES_OUTPUT, halves, job->out_addr, 1, job->out_repeat, job->narrow & CNNVP_NARROW_OUT);
        const int one_word = job->opcode == CNNVP_OPCODE_vmean || job->opcode == CNNVP_OPCODE_vvar;
        set_range(&job->out, one_word ? 1u : job->count, job->opcode == CNNVP_OPCODE_vout ? 1u : job->repeat, lanes);
        job->out.words = (one_word ? 1u : job->count) * (job->opcode == CNNVP_OPCODE_vout ? 1u : job->repeat);
    }
    return NULL;
}

static const char *read_scales(struct lanes_job *job)
{
    const int sums = job->opcode == CNNVP_OPCODE_vdiv;
    const uint32_t last = (uint32_t)job->immediate;
    const uint32_t words[] = {
        sums ? last : job->c_addr, sums ? last : (uint32_t)job->c_repeat, last, (uint32_t)job->seed};
    if (job->accumulate || job->b.used == sums || (job->a.wide && !sums))
        return "operands that are scaled are words of buffers, of vdiv a and an immediate, and not accumulated";
    if (job->rounding != CNNVP_ROUNDING_NEAREST)
        return "what is scaled is rounded to nearest";
    if (!cnnvp_read_operand_scales(words, &job->operands))
        return "multipliers and divisor are 2^-100 to 2^100";
    job->scale = (struct cnnvp_scale){(int32_t)job->c_addr, job->operands.divisor};
    if (job->opcode == CNNVP_OPCODE_vsub)
        job->operands.b = -job->operands.b;
    return NULL;
}

/* True if the range cannot lie in any half. The buffer checks its actual size. */
static int outside(const struct lanes_operand *operand)
{
    return operand->used && (operand->low < 0 || operand->high > (int64_t)LANES_MOST_ELEMENTS);
}

static const char *check_numbers(const struct lanes_job *job)
{
    if (job->opcode == CNNVP_OPCODE_vvar && (job->bias_shift < 0 || job->bias_shift > 15))
        return "means have 0 .. 15 fraction bits more than the data";
    if (job->opcode == CNNVP_OPCODE_vvar && job->immediate < 0)
        return "epsilon is not negative";
    if (job->opcode == CNNVP_OPCODE_vsoftmax && (job->bias_shift < -16 || job->bias_shift > 24))
        return "operands of softmax have -16 .. 24 fraction bits";
    if (job->opcode == CNNVP_OPCODE_vsoftmax && (job->shift < -15 || job->shift > 0))
        return "shift of softmax is -15 .. 0";
    return NULL;
}

/* Sets the range of vact's table: the header, and two words for each element. The table's length is only known from its
 * data. */
static void set_table(struct lanes_job *job)
{
    job->b.words = 4u + 2u * job->count * job->repeat;
    job->b.stride = 0;
    job->b.repeat = 0;
    job->b.low = job->b.base;
    job->b.high = job->b.base + (int64_t)CNNVP_TABLE_HEADER;
}

const char *lanes_decode(const struct cnnvp_command *command, uint64_t lanes, struct lanes_job *job)
{
    const int optional = command->opcode <= CNNVP_OPCODE_vcmp || command->opcode == CNNVP_OPCODE_vnorm;
    const int store = !optional || CNNVP_STATUS_OF(command, vmac, store);
    const int is_vout = command->opcode == CNNVP_OPCODE_vout;
    const struct operands has = operands_of(command->opcode, store);
    memset(job, 0, sizeof *job);
    if (!has.a && !has.out)
        return "the vector unit has no such instruction";
    const char *error =
        cnnvp_descriptor_read(&vector, command, UINT32_MAX, is_vout ? 0u : CNNVP_USES_REPETITIONS, job, job->refusal);
    if (error != NULL)
        return error;
    job->opcode = command->opcode;
    job->accumulate = command->opcode <= CNNVP_OPCODE_vcmp && CNNVP_STATUS_OF(command, vmac, accumulate);
    job->minimum = command->opcode == CNNVP_OPCODE_vcmp && CNNVP_STATUS_OF(command, vcmp, minimum);
    job->sums = (command->opcode == CNNVP_OPCODE_vmean || command->opcode == CNNVP_OPCODE_vvar) &&
                CNNVP_STATUS_OF(command, vmean, sums);
    job->operator_ = CNNVP_STATUS_OF(command, vout, operator);
    if (is_vout)
        job->repeat = 1u;
    job->clips = (command->status & 1u << CNNVP_STATUS_vmac_clip) != 0;
    if (job->clips && job->low > job->high)
        return "limits: low is at most high";
    if (job->zero != 0 && ((job->narrow & CNNVP_NARROW_OUT) == 0 || !(has.elementwise || is_vout)))
        return "zero is added to results of 8 bits, of instructions that take element by element";
    if (job->repeat > LANES_MOST_ELEMENTS / job->count)
        return "count * repeat is more than 2^28";
    if (is_vout && (job->count > lanes || job->operator_ >= LANES_OPERATORS))
        return "vout writes at most `lanes` registers of operator 0 mac, 1 add, 2 sub, 3 div or 4 cmp";
    error = check_numbers(job);
    if (error == NULL)
        error = decode_sources(command, &has, lanes, job);
    if (error != NULL)
        return error;
    job->scales = lanes_scales(command);
    if (job->scales && (error = read_scales(job)) != NULL)
        return error;
    job->divisor = job->count;
    if (job->sums && (error = set_sums(command->halves, lanes, job)) != NULL)
        return error;
    if (job->opcode == CNNVP_OPCODE_vact)
        set_table(job);
    if (job->opcode == CNNVP_OPCODE_vsoftmax)
        job->a.words *= 3u; /* three sweeps */
    if (outside(&job->a) || outside(&job->b) || outside(&job->c) || outside(&job->out))
        return "an operand leaves its buffer";
    job->in_order = has.elementwise && (collides(job, &job->a) || collides(job, &job->b) || collides(job, &job->c));
    if (has.elementwise)
        flatten(job);
    return NULL;
}
