/* SPDX-License-Identifier: Apache-2.0 */
#include "vector_bench.h"

#include <string.h>

static void open_bench(struct bench *bench, uint64_t lanes, uint64_t units, uint64_t write_out, int timing_only)
{
    static const char *const ports[] = {"input", "weight", "output"};
    memset(bench, 0, sizeof *bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->sim.timing_only = timing_only;
    bench->vector = fake_add(&bench->sim, &cnnvp_unit_vector);
    fake_set(bench->vector, "lanes", lanes);
    fake_set(bench->vector, "units", units);
    fake_set(bench->vector, "write_out", write_out);
    assert_int_equal(fake_start(bench->vector), CNNVP_OK);
    for (int b = 0; b < 3; ++b) {
        bench->buffers[b] = fake_add(&bench->sim, &cnnvp_unit_buffer);
        fake_set(bench->buffers[b], "size", 2u * BENCH_HALF);
        fake_set(bench->buffers[b], "width_words", 4096);
        fake_set(bench->buffers[b], "banks", 1024);
        assert_int_equal(fake_start(bench->buffers[b]), CNNVP_OK);
        fake_connect(bench->vector, ports[b], bench->buffers[b], "port");
    }
}

void bench_open(struct bench *bench, uint64_t lanes, int timing_only)
{
    open_bench(bench, lanes, 1, 1, timing_only);
}

void bench_open_units(struct bench *bench, uint64_t lanes, uint64_t units, int timing_only)
{
    open_bench(bench, lanes, units, 1, timing_only);
}

void bench_open_write_out(struct bench *bench, uint64_t write_out)
{
    open_bench(bench, 16, 1, write_out, 0);
}

void bench_close(struct bench *bench)
{
    fake_sim_free(&bench->sim);
}

int64_t bench_run(struct bench *bench, uint32_t opcode, uint32_t status, uint32_t halves,
                  const struct vector_tile *tile)
{
    struct cnnvp_command command = {
        .opcode = opcode, .status = status, .halves = halves, .tag = 1, .count = 16, .sequence = ++bench->sequence};
    _Static_assert(sizeof *tile == 16 * sizeof(uint32_t), "a register each");
    memcpy(command.descriptor, tile, sizeof *tile);
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &command, .size = sizeof command};
    const int answer = fake_access(bench->vector, "command", &access);
    if (answer != CNNVP_OK)
        return answer;
    bench->sim.now += access.delay; /* one after the other */
    return (int64_t)(access.delay / BENCH_CYCLE);
}

void *bench_data(struct bench *bench, int buffer, uint32_t half)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flags = CNNVP_DEBUG, .address = cnnvp_buffer_address(half, 0), .size = BENCH_HALF};
    assert_int_equal(fake_access(bench->buffers[buffer], "port", &access), CNNVP_OK);
    return access.data;
}
