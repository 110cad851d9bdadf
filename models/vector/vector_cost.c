/* SPDX-License-Identifier: Apache-2.0 */
/* What a command of the vector unit costs; the formulas are in vector.h. */
#include "vector_internal.h"
#include "cnnvp_integer.h"

static uint64_t levels_of(uint64_t lanes)
{
    uint64_t levels = 0;
    while ((UINT64_C(1) << levels) < lanes)
        ++levels;
    return levels;
}

void vector_cost(const struct vector_job *job, const struct vector_shape *shape, struct vector_cost *cost)
{
    const uint64_t lanes = shape->lanes;
    const uint64_t div_cycles = shape->div_cycles;
    const uint64_t turns = cnnvp_divide_up(job->repeat, shape->units);
    const uint64_t elements = job->count * job->repeat;
    const uint64_t row = cnnvp_divide_up(job->count, lanes);
    const uint64_t levels = levels_of(lanes);
    const uint64_t accumulated = job->accumulate ? elements : 0;
    uint64_t *const operations = cost->operations;
    *cost = (struct vector_cost){.elements = elements};
    cost->beats = job->accumulate ? job->repeat * row : cnnvp_divide_up(elements, lanes);
    cost->cycles = cost->beats;
    switch (job->opcode) {
    case VECTOR_OP_vmac:
        operations[VECTOR_mac] = elements;
        break;
    case VECTOR_OP_vnorm:
        operations[VECTOR_mac] = elements;
        if (shape->units > 1u)
            cost->beats = turns * row;
        cost->cycles = cost->beats;
        break;
    case VECTOR_OP_vadd:
        operations[VECTOR_add] = elements + accumulated;
        break;
    case VECTOR_OP_vsub:
        operations[VECTOR_sub] = elements;
        operations[VECTOR_add] = accumulated;
        break;
    case VECTOR_OP_vdiv:
        operations[VECTOR_div] = elements;
        operations[VECTOR_add] = accumulated;
        cost->cycles = cost->beats * (1u + div_cycles);
        break;
    case VECTOR_OP_vcmp:
        operations[VECTOR_cmp] = elements + accumulated;
        break;
    case VECTOR_OP_vact:
        operations[VECTOR_mac] = elements;
        operations[VECTOR_sub] = elements;
        break;
    case VECTOR_OP_vmean:
        operations[VECTOR_add] = elements;
        operations[VECTOR_div] = job->repeat;
        cost->beats = turns * row;
        cost->cycles = turns * (row + levels + 1u + div_cycles);
        break;
    case VECTOR_OP_vvar:
        operations[VECTOR_sub] = elements;
        operations[VECTOR_mac] = elements;
        operations[VECTOR_div] = 2u * job->repeat;
        cost->beats = turns * row;
        cost->cycles = turns * (row + levels + 2u * (1u + div_cycles));
        break;
    case VECTOR_OP_vsoftmax:
        operations[VECTOR_cmp] = elements;
        operations[VECTOR_sub] = 2u * elements;
        operations[VECTOR_mac] = 2u * elements;
        operations[VECTOR_add] = elements;
        operations[VECTOR_div] = elements;
        cost->beats = 3u * turns * row;
        cost->cycles = turns * (3u * row + 2u * levels + row * div_cycles);
        break;
    default: /* vout */
        cost->beats = row;
        cost->cycles = row;
        break;
    }
    cost->cycles += shape->pipeline;
}
