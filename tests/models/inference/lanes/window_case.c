/* SPDX-License-Identifier: Apache-2.0 */
#include "window_case.h"

void pair_open(struct pair *pair, const struct shape *shape)
{
    static const char *const ports[] = {"input", "weight", "output"};
    struct bench *bench = &pair->bench;
    pair->shape = *shape;
    bench_open_units(bench, shape->lanes, shape->units, shape->timing_only);
    pair->nfu = fake_add(&bench->sim, &cnnvp_unit_nfu);
    fake_set(pair->nfu, "acc_bits", 64);
    assert_int_equal(fake_start(pair->nfu), CNNVP_OK);
    for (int b = 0; b < 3; ++b) {
        bench->buffers[b] = fake_add(&bench->sim, &cnnvp_unit_buffer);
        fake_set(bench->buffers[b], "size", 2u * BENCH_HALF);
        fake_set(bench->buffers[b], "width_words", b == WT ? 4096 : shape->width);
        fake_set(bench->buffers[b], "banks", shape->banks != 0 ? shape->banks : 1024);
        fake_set(bench->buffers[b], "line_words", shape->banks != 0 ? 8 : 256);
        assert_int_equal(fake_start(bench->buffers[b]), CNNVP_OK);
        fake_connect(bench->vector, ports[b], bench->buffers[b], "port");
        fake_connect(pair->nfu, ports[b], bench->buffers[b], "port");
    }
}

int64_t run(struct pair *pair, struct cnnvp_host *unit, struct cnnvp_command *command)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command};
    command->sequence = ++pair->bench.sequence;
    const int status = fake_access(unit, "command", &access);
    pair->bench.sim.now += access.delay;
    return status == CNNVP_OK ? (int64_t)(access.delay / BENCH_CYCLE) : status;
}

struct cnnvp_command command_of(const struct nfu_case *c)
{
    struct cnnvp_command command = nfu_case_command(c);
    command.descriptor[WEIGHT_ADDR] = WEIGHT_AT;
    command.descriptor[ACC_ADDR] = ACC_AT;
    command.descriptor[OUT_ADDR] = OUT_AT;
    return command;
}

struct nfu_case random_window(uint64_t *random)
{
    struct nfu_case c;
    for (;;) {
        nfu_case_random(&c, random);
        if ((c.opcode == OP_CONV || c.opcode == OP_POOL) && c.input_words <= HALF_INPUT_WORDS)
            return c;
        nfu_case_free(&c);
    }
}
