/* SPDX-License-Identifier: Apache-2.0 */
#include "train_rig.h"

void begin(struct bench *b, uint64_t mhz, int timing_only)
{
    fake_sim_init(&b->sim, mhz, 0, 0);
    b->sim.timing_only = timing_only;
    b->array = fake_add(&b->sim, &cnnvp_unit_train_array);
    b->input = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->weight = fake_add(&b->sim, &cnnvp_unit_buffer);
    b->output = fake_add(&b->sim, &cnnvp_unit_buffer);
    fake_connect(b->array, "input", b->input, "port");
    fake_connect(b->array, "weight", b->weight, "port");
    fake_connect(b->array, "output", b->output, "port");
    fake_set(b->array, "clock_mhz", mhz);
    fake_set(b->input, "size", 2 * HALF_BYTES);
    fake_set(b->weight, "size", 2 * HALF_BYTES);
    fake_set(b->output, "size", 2 * HALF_BYTES);
    /* wide enough for every port of the module at once */
    fake_set(b->input, "width_words", 4096);
    fake_set(b->weight, "width_words", 4096);
    fake_set(b->output, "width_words", 4096);
}

void start(struct bench *b)
{
    assert_int_equal(fake_start(b->input), CNNVP_OK);
    assert_int_equal(fake_start(b->weight), CNNVP_OK);
    assert_int_equal(fake_start(b->output), CNNVP_OK);
    assert_int_equal(fake_start(b->array), CNNVP_OK);
}

void end(struct bench *b)
{
    fake_sim_free(&b->sim);
}

char *half_of(struct cnnvp_host *buffer, uint32_t half)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = HALF_BYTES, .address = (uint64_t)half << 31};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return access.data;
}

void load(struct bench *b, const struct train_case *c, uint32_t halves)
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

int send(struct bench *b, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(b->array, "command", &access);
    fake_run(&b->sim, b->sim.now + access.delay);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

struct train_case layer(uint32_t opcode)
{
    return (struct train_case){
        .opcode = opcode,
        .bits = 8,
        .images = 5,
        .cin = 6,
        .cout = 40,
        .h = 10,
        .w = 10,
        .oh = 10,
        .ow = 10,
        .kx = 5,
        .ky = 5,
        .sx = 1,
        .sy = 1,
        .px = 2,
        .py = 2,
        .accumulate = true,
        .second_exp_out = 1};
}
