/* SPDX-License-Identifier: Apache-2.0 */
/* From a command's registers to a job: operands with their ranges, and whether results reach operands still to be
 * read. */
#include "lanes_internal.h"

#include <string.h>

/* Place of the status fields. They are the same in all instructions that have them. */
enum {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) LSB_##mnemonic##_##name = (lsb),
#include "instruction/opcodes.def"
    SOURCE_FIELD = 3,
    OPERATOR_FIELD = 7
};
_Static_assert(LSB_vact_a == LSB_vmac_a && LSB_vmean_a == LSB_vmac_a && LSB_vsoftmax_a == LSB_vmac_a, "source of a");
_Static_assert(LSB_vact_b == LSB_vmac_b && LSB_vvar_b == LSB_vmac_b && LSB_vnorm_b == LSB_vmac_b, "source of b");
_Static_assert(LSB_vmean_sums == LSB_vvar_sums, "sums");
_Static_assert(LSB_vcmp_accumulate == LSB_vmac_accumulate && LSB_vdiv_accumulate == LSB_vmac_accumulate, "accumulate");
_Static_assert(LSB_vcmp_store == LSB_vmac_store && LSB_vnorm_store == LSB_vmac_store, "store");

enum {
#define REGISTER(name, help) REG_##name,
#include "instruction/descriptors.def"
    CNNVP_DESCRIPTOR_VECTOR(REGISTER) REG_COUNT
#undef REGISTER
};

/* An unsigned register's bits as a signed number. */
static int64_t signed_bits(uint32_t bits, uint32_t width)
{
    return cnnvp_wrap((int64_t)bits, width);
}

/* Which operands an instruction has. */
struct operands {
    int a, b, c, out, elementwise; /* all 0: there is no such instruction */
};

static struct operands operands_of(uint32_t opcode, int store)
{
    switch (opcode) {
    case LANES_OP_vout:
        return (struct operands){.out = 1};
    case LANES_OP_vact:
        return (struct operands){.a = 1, .b = 1, .out = 1, .elementwise = 1};
    case LANES_OP_vnorm:
        return (struct operands){.a = 1, .b = 1, .c = 1, .out = store, .elementwise = 1};
    case LANES_OP_vmean:
    case LANES_OP_vsoftmax:
        return (struct operands){.a = 1, .out = 1};
    case LANES_OP_vvar:
        return (struct operands){.a = 1, .b = 1, .out = 1};
    case LANES_OP_vmac:
    case LANES_OP_vadd:
    case LANES_OP_vsub:
    case LANES_OP_vdiv:
    case LANES_OP_vcmp:
        return (struct operands){.a = 1, .b = 1, .out = store, .elementwise = 1};
    default:
        return (struct operands){0};
    }
}

/* Elements of an operand: `inner` steps of stride, `outer` of repeat. No product overflows: inner * outer <= 2^28,
 * strides below 2^31 in magnitude. */
static void set_range(struct lanes_operand *operand, uint64_t inner, uint64_t outer)
{
    const int64_t across = (int64_t)(inner - 1u) * operand->stride * (int64_t)operand->bytes;
    const int64_t along = (int64_t)(outer - 1u) * operand->repeat * (int64_t)operand->bytes;
    operand->low = operand->base + (across < 0 ? across : 0) + (along < 0 ? along : 0);
    operand->high = operand->base + (across > 0 ? across : 0) + (along > 0 ? along : 0) + (int64_t)operand->bytes;
    /* an element that is used again and again crosses the port once */
    const uint64_t elements = (operand->stride == 0 ? 1u : inner) * (operand->repeat == 0 ? 1u : outer);
    operand->words = elements * operand->bytes / 2u;
}

static struct lanes_operand operand_at(uint32_t buffer, uint32_t halves, uint32_t address, int64_t stride,
                                       int64_t repeat)
{
    return (struct lanes_operand){
        .used = 1,
        .buffer = buffer,
        .half = halves >> buffer & 1u,
        .bytes = 2u,
        .base = address,
        .stride = stride,
        .repeat = repeat};
}

/* 1 if no element that is worked on later than element (o, i) reads what that one writes: reading advances, and is
 * ahead of writing. */
static int reads_ahead(const struct lanes_job *job, const struct lanes_operand *read)
{
    const struct lanes_operand *out = &job->out;
    const int64_t bytes = (int64_t)read->bytes;
    const int64_t last_i = (int64_t)job->count - 1;
    const int64_t last_o = (int64_t)job->repeat - 1;
    const int64_t row = read->repeat - last_i * read->stride; /* from a repetition's last element to the next's first */
    if (read->stride < 0 || (last_o > 0 && row < 0))
        return 0;
    /* read position of the next element minus end of the write of this one, at the corners; linear in between */
    const int64_t inside = read->base + bytes * read->stride - out->base - 2;
    const int64_t inside_i = (last_i - 1) * (bytes * read->stride - 2);
    const int64_t inside_o = last_o * (bytes * read->repeat - 2 * out->repeat);
    if (last_i > 0 &&
        (inside < 0 || inside + inside_i < 0 || inside + inside_o < 0 || inside + inside_i + inside_o < 0))
        return 0;
    const int64_t between = read->base + bytes * read->repeat - out->base - 2 * last_i - 2;
    const int64_t between_o = (last_o - 1) * (bytes * read->repeat - 2 * out->repeat);
    return last_o == 0 || (between >= 0 && between + between_o >= 0);
}

static int collides(const struct lanes_job *job, const struct lanes_operand *read)
{
    const struct lanes_operand *out = &job->out;
    return read->used && out->used && read->buffer == out->buffer && read->half == out->half && read->low < out->high &&
           out->low < read->high && !reads_ahead(job, read);
}

/* Without gaps between the repetitions one long repetition does the same. */
static void flatten(struct lanes_job *job)
{
    struct lanes_operand *const operands[] = {&job->a, &job->b, &job->out};
    if (job->accumulate || job->repeat == 1u || job->opcode == LANES_OP_vnorm || job->opcode == LANES_OP_vact)
        return;
    for (size_t n = 0; n < sizeof operands / sizeof operands[0]; ++n)
        if (operands[n]->used && operands[n]->repeat != operands[n]->stride * (int64_t)job->count)
            return;
    job->count *= job->repeat;
    job->repeat = 1u;
}

/* Sums of squares, and how many elements the sums are of. */
static const char *set_sums(const struct cnnvp_command *command, struct lanes_job *job)
{
    const uint32_t *r = command->descriptor;
    job->divisor = job->opcode == LANES_OP_vmean ? r[REG_immediate] : r[REG_b_stride];
    if (job->a.bytes != 8u)
        return "sums are 64-bit slots: a is 3";
    if (job->divisor == 0 || job->divisor > LANES_MOST_ELEMENTS)
        return "sums are of 1 to 2^28 elements";
    if (job->opcode == LANES_OP_vmean)
        return NULL;
    if (r[REG_c_addr] % 8u != 0)
        return "c_addr of 64-bit slots is a multiple of 8";
    job->c = operand_at(LANES_OUTPUT, command->halves, r[REG_c_addr], job->a.stride, signed_bits(r[REG_c_repeat], 32u));
    job->c.bytes = 8u;
    set_range(&job->c, job->count, job->repeat);
    return NULL;
}

static const char *decode_sources(const struct cnnvp_command *command, const struct operands *has,
                                  struct lanes_job *job)
{
    const uint32_t *r = command->descriptor;
    const uint32_t source_a = command->status >> LSB_vmac_a & SOURCE_FIELD;
    const uint32_t source_b = command->status >> LSB_vmac_b & SOURCE_FIELD;
    if (has->a) {
        const int wide = source_a == LANES_WIDE;
        job->a = operand_at(wide ? LANES_OUTPUT : source_a, command->halves, r[REG_a_addr],
                            signed_bits(r[REG_a_stride], 32u), signed_bits(r[REG_a_repeat], 32u));
        if (wide) {
            job->a.bytes = 8u;
            if (r[REG_a_addr] % 8u != 0)
                return "a_addr of 64-bit slots is a multiple of 8";
        }
        set_range(&job->a, job->count, job->repeat);
    }
    const int immediate = source_b == LANES_IMMEDIATE;
    if (has->b && (!immediate || job->opcode == LANES_OP_vact || has->c || job->opcode == LANES_OP_vvar)) {
        if (immediate || (job->opcode == LANES_OP_vact && source_b == LANES_OUTPUT))
            return "b of this instruction is a buffer: 0 input, 1 weight, and for vnorm and vvar 2 output";
        const int by_repetition = has->c || job->opcode == LANES_OP_vvar;
        job->b = operand_at(source_b, command->halves, r[REG_b_addr],
                            by_repetition ? 0 : signed_bits(r[REG_b_stride], 32u), signed_bits(r[REG_b_repeat], 32u));
        set_range(&job->b, job->count, job->repeat);
    }
    if (has->c) {
        job->c = operand_at(source_b, command->halves, r[REG_c_addr], 0, signed_bits(r[REG_c_repeat], 32u));
        set_range(&job->c, job->count, job->repeat);
    }
    if (has->out) {
        job->out = operand_at(LANES_OUTPUT, command->halves, r[REG_out_addr], 1, signed_bits(r[REG_out_repeat], 32u));
        const int one_word = job->opcode == LANES_OP_vmean || job->opcode == LANES_OP_vvar;
        set_range(&job->out, one_word ? 1u : job->count, job->opcode == LANES_OP_vout ? 1u : job->repeat);
        job->out.words = (one_word ? 1u : job->count) * (job->opcode == LANES_OP_vout ? 1u : job->repeat);
    }
    return NULL;
}

/* Ranges that a half can have at all; the buffer checks the rest. */
static int outside(const struct lanes_operand *operand)
{
    return operand->used && (operand->low < 0 || operand->high > (int64_t)LANES_MOST_ELEMENTS);
}

static const char *check_numbers(const struct lanes_job *job)
{
    if (job->shift < -48 || job->shift > 63)
        return "the shift is -48 .. 63";
    if (job->bias_shift < -63 || job->bias_shift > 63)
        return "the bias shift is -63 .. 63";
    if (job->rounding > CNNVP_ROUNDING_STOCHASTIC)
        return "rounding is 0 truncate, 1 nearest or 2 stochastic";
    if (job->opcode == LANES_OP_vvar && (job->bias_shift < 0 || job->bias_shift > 15))
        return "means have 0 .. 15 fraction bits more than the data";
    if (job->opcode == LANES_OP_vvar && job->immediate < 0)
        return "epsilon is not negative";
    if (job->opcode == LANES_OP_vsoftmax && (job->bias_shift < -16 || job->bias_shift > 24))
        return "operands of softmax have -16 .. 24 fraction bits";
    return NULL;
}

/* The table of vact: its header once, two words for each element. How long it is, only the data say. */
static void set_table(struct lanes_job *job)
{
    job->b.words = 4u + 2u * job->count * job->repeat;
    job->b.stride = 0;
    job->b.repeat = 0;
    job->b.low = job->b.base;
    job->b.high = job->b.base + (int64_t)LANES_TABLE_HEADER;
}

const char *lanes_decode(const struct cnnvp_command *command, uint64_t lanes, struct lanes_job *job)
{
    const uint32_t *r = command->descriptor;
    memset(job, 0, sizeof *job);
    const int optional = command->opcode <= LANES_OP_vcmp || command->opcode == LANES_OP_vnorm;
    const int store = !optional || (command->status >> LSB_vmac_store & 1u);
    const struct operands has = operands_of(command->opcode, store);
    if (!has.a && !has.out)
        return "the vector unit has no such instruction";
    if (command->count < REG_COUNT)
        return "the descriptor is incomplete";
    job->opcode = command->opcode;
    job->accumulate = command->opcode <= LANES_OP_vcmp && (command->status >> LSB_vmac_accumulate & 1u);
    job->minimum = command->opcode == LANES_OP_vcmp && (command->status >> LSB_vcmp_minimum & 1u);
    job->sums = (command->opcode == LANES_OP_vmean || command->opcode == LANES_OP_vvar) &&
                (command->status >> LSB_vmean_sums & 1u);
    job->operator_ = command->status >> LSB_vout_operator & OPERATOR_FIELD;
    job->count = r[REG_count];
    job->repeat = job->opcode == LANES_OP_vout ? 1u : r[REG_repeat];
    job->shift = (int32_t)signed_bits(r[REG_format] & 0xffu, 8u);
    job->bias_shift = (int32_t)signed_bits(r[REG_format] >> 8 & 0xffu, 8u);
    job->rounding = r[REG_format] >> 16 & 3u;
    job->seed = r[REG_seed];
    job->immediate = signed_bits(r[REG_immediate], 32u);
    if (job->count == 0 || job->repeat == 0)
        return "count and repeat are at least 1";
    if (job->count > LANES_MOST_ELEMENTS || job->repeat > LANES_MOST_ELEMENTS / job->count)
        return "count * repeat is more than 2^28";
    if (job->opcode == LANES_OP_vout && (job->count > lanes || job->operator_ >= LANES_OPERATORS))
        return "vout writes at most `lanes` registers of operator 0 mac, 1 add, 2 sub, 3 div or 4 cmp";
    const char *error = check_numbers(job);
    if (error == NULL)
        error = decode_sources(command, &has, job);
    if (error != NULL)
        return error;
    job->divisor = job->count;
    if (job->sums && (error = set_sums(command, job)) != NULL)
        return error;
    if (job->opcode == LANES_OP_vact)
        set_table(job);
    if (job->opcode == LANES_OP_vsoftmax)
        job->a.words *= 3u; /* three sweeps */
    if (outside(&job->a) || outside(&job->b) || outside(&job->c) || outside(&job->out))
        return "an operand leaves its buffer";
    job->in_order = has.elementwise && (collides(job, &job->a) || collides(job, &job->b) || collides(job, &job->c));
    if (has.elementwise)
        flatten(job);
    return NULL;
}
