/* SPDX-License-Identifier: Apache-2.0 */
#include "train_rig.h"

void begin(struct array_rig *b, uint64_t mhz, int timing_only)
{
    array_rig_begin(b, &cnnvp_unit_train_array, mhz, timing_only);
    fake_set(b->array, "clock_mhz", mhz);
    struct cnnvp_host *const buffers[] = {b->input, b->weight, b->output};
    for (size_t i = 0; i < 3; ++i) {
        fake_set(buffers[i], "size", 2 * HALF_BYTES);
        fake_set(buffers[i], "width_words", 4096); /* for every port of the module at once */
        fake_set(buffers[i], "banks", 128);
    }
}

char *half_of(struct cnnvp_host *buffer, uint32_t half)
{
    return array_rig_peek(buffer, half, 0, HALF_BYTES);
}

void load(struct array_rig *b, const struct train_case *c, uint32_t halves)
{
    const uint64_t bytes = c->bits > 8 ? 4 : 1;
    char *in = half_of(b->input, halves & 1u);
    char *second = half_of(b->weight, halves >> 1 & 1u);
    memcpy(in, c->in_raw, c->in_values * bytes);
    memcpy(in + train_case_in_exp_addr(c), c->in_exps, c->in_exp_count);
    memcpy(second, c->second_raw, c->second_values * bytes);
    memcpy(second + train_case_second_exp_addr(c), c->second_exps, c->second_exp_count);
    memcpy(half_of(b->output, halves >> 2 & 1u), c->before, c->result_bytes);
}

struct train_case layer(uint32_t opcode)
{
    struct train_case c = train_case_same(opcode, 5, 6, 40, 10, 10, 5);
    c.accumulate = true;
    c.second_exp_out = 1;
    return c;
}
