/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of a command on lanes, by the formulas in lanes.h. */
#include "lanes_internal.h"
#include "cnnvp_integer.h"

#include <string.h>

void lanes_cost(const struct lanes_job *job, const struct lanes_shape *shape, struct lanes_cost *cost)
{
    const uint64_t lanes = shape->lanes;
    const uint64_t div_cycles = shape->div_cycles;
    const uint64_t turns = cnnvp_divide_up(job->repeat, shape->units);
    const uint64_t elements = job->count * job->repeat;
    const uint64_t row = cnnvp_divide_up(job->count, lanes);
    const uint64_t levels = cnnvp_log2_up(lanes);
    const uint64_t accumulated = job->accumulate ? elements : 0;
    uint64_t *const operations = cost->operations;
    *cost = (struct lanes_cost){.elements = elements};
    cost->beats = job->accumulate ? job->repeat * row : cnnvp_divide_up(elements, lanes);
    cost->cycles = cost->beats;
    switch (job->opcode) {
    case CNNVP_OPCODE_vmac:
        operations[LANES_mac] = elements;
        cost->narrow = job->b.used && !job->a.wide && lanes_narrow(job->narrow);
        break;
    case CNNVP_OPCODE_vnorm:
        operations[LANES_mac] = elements;
        operations[LANES_sub] = job->b_stride != 0 ? elements : 0;
        if (shape->units > 1u)
            cost->beats = turns * row;
        cost->cycles = cost->beats;
        break;
    case CNNVP_OPCODE_vadd:
        operations[LANES_add] = elements + accumulated;
        break;
    case CNNVP_OPCODE_vsub:
        operations[LANES_sub] = elements;
        operations[LANES_add] = accumulated;
        break;
    case CNNVP_OPCODE_vdiv:
        operations[LANES_div] = elements;
        operations[LANES_add] = accumulated;
        cost->cycles = cost->beats * (1u + div_cycles);
        break;
    case CNNVP_OPCODE_vcmp:
        operations[LANES_cmp] = elements + accumulated;
        break;
    case CNNVP_OPCODE_vact:
        operations[LANES_mac] = elements;
        operations[LANES_sub] = elements;
        cost->beats = cnnvp_divide_up(elements, lanes * shape->units);
        cost->cycles = cost->beats;
        break;
    case CNNVP_OPCODE_vmean:
        operations[LANES_add] = elements;
        operations[LANES_div] = job->repeat;
        cost->beats = turns * row;
        cost->cycles = turns * (row + levels + 1u + div_cycles);
        break;
    case CNNVP_OPCODE_vvar:
        operations[LANES_sub] = elements;
        operations[LANES_mac] = elements;
        operations[LANES_div] = 2u * job->repeat;
        cost->beats = turns * row;
        cost->cycles = turns * (row + levels + 2u * (1u + div_cycles));
        if (!job->sums)
            break;
        operations[LANES_sub] = 0;
        operations[LANES_add] = 2u * elements;
        operations[LANES_mac] = 3u * job->repeat;
        cost->beats *= 2u;
        cost->cycles += turns * (row + levels + 3u);
        break;
    case CNNVP_OPCODE_vsoftmax:
        operations[LANES_cmp] = elements;
        operations[LANES_sub] = 2u * elements;
        operations[LANES_mac] = 2u * elements;
        operations[LANES_add] = elements;
        operations[LANES_div] = elements;
        cost->beats = 3u * turns * row;
        cost->cycles = turns * (3u * row + 2u * levels + row * div_cycles);
        break;
    case CNNVP_OPCODE_vout:
        cost->beats = row;
        cost->cycles = row;
        break;
    default: /* refused by lanes_decode */
        break;
    }
    if (job->scales) {
        cost->fp32 = job->opcode == CNNVP_OPCODE_vdiv ? elements : 2u * elements;
        memset(operations, 0, sizeof cost->operations);
    }
    operations[LANES_cmp] += job->clips && job->out.used ? elements : 0;
    operations[LANES_add] += job->zero != 0 && job->out.used ? elements : 0;
    cost->cycles += lanes_latency(job, shape);
}

/* Sets the operand's clocks: those of the beats in which every unit takes `lanes` elements, and of those that take the
 * rest, in as many units as have a repetition. Operands with one word for a repetition or for all elements, and results
 * of one word a repetition, are spread evenly instead. */
static void beats_of(const struct lanes_shape *shape, const struct lanes_cost *cost, const struct lanes_job *job,
                     int side_by_side, struct lanes_operand *operand)
{
    const uint64_t lanes = job->opcode == CNNVP_OPCODE_vact ? shape->lanes * shape->units : shape->lanes;
    const uint64_t runs = job->accumulate ? job->repeat : 1u;
    const uint64_t elements = job->accumulate || side_by_side ? job->count : job->count * job->repeat;
    const uint64_t words = operand->bytes > 2u ? operand->bytes / 2u : 1u; /* words of an element */
    const uint64_t stride = (uint64_t)(operand->stride < 0 ? -operand->stride : operand->stride);
    struct cnnvp_parts repetitions[2], row[2];
    uint64_t beats = 0;
    if (!operand->used || stride == 0)
        return;
    cnnvp_cut(side_by_side ? job->repeat : 1u, side_by_side ? (uint32_t)shape->units : 1u, repetitions);
    cnnvp_cut(elements, (uint32_t)lanes, row);
    for (size_t i = 0; i < 4u; ++i)
        beats += runs * repetitions[i / 2u].count * row[i % 2u].count;
    for (size_t i = 0; i < 4u; ++i) {
        const struct cnnvp_parts *units = &repetitions[i / 2u], *part = &row[i % 2u];
        if (units->count * part->count != 0)
            operand->clocks[operand->clock_count++] = (struct cnnvp_buffer_clocks){
                .times = runs * units->count * part->count * (cost->beats / beats), /* sweeps */
                .cycles = (uint32_t)((cost->cycles - lanes_latency(job, shape)) / cost->beats),
                .maps = side_by_side ? (uint32_t)shape->units : 1u,
                .columns = (uint32_t)(stride == 1u ? part->size * words : part->size),
                .column_step = (uint32_t)(stride * (stride == 1u ? 1u : words)),
                .words = (uint32_t)(part->size * words * units->size),
            };
    }
}

void lanes_clocks(const struct lanes_shape *shape, const struct lanes_cost *cost, struct lanes_job *job)
{
    const int reduces = job->opcode == CNNVP_OPCODE_vmean || job->opcode == CNNVP_OPCODE_vvar;
    const int repetitions =
        reduces || job->opcode == CNNVP_OPCODE_vsoftmax || (job->opcode == CNNVP_OPCODE_vnorm && shape->units > 1u);
    beats_of(shape, cost, job, repetitions, &job->a);
    beats_of(shape, cost, job, repetitions, &job->b);
    beats_of(shape, cost, job, repetitions, &job->c);
    if (!reduces && job->opcode != CNNVP_OPCODE_vsoftmax && !job->accumulate)
        beats_of(shape, cost, job, repetitions, &job->out);
}
