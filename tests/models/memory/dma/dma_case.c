/* SPDX-License-Identifier: Apache-2.0 */
#include "dma_case.h"

int issue_command(struct fixture *f, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(f->dma, "command", &access);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

static int on_done(void *context, struct cnnvp_access *access)
{
    struct fixture *f = context;
    const struct cnnvp_completion *completion = access->data;
    assert_int_equal(access->op, CNNVP_COMMAND);
    f->done[f->done_count++] = (struct completion){completion->sequence, completion->status, f->sim.now};
    if (f->reissue != NULL) {
        struct cnnvp_command *command = f->reissue;
        f->reissue = NULL;
        f->reissue_status = issue_command(f, command, NULL);
    }
    return CNNVP_OK;
}

void set_up(struct fixture *f, int timing_only)
{
    static const char *const ports[] = {"input", "weight", "output"};
    memset(f, 0, sizeof *f);
    fake_sim_init(&f->sim, 1000, BASE, MEMORY);
    f->sim.timing_only = timing_only;
    f->sim.memory_latency = LATENCY;
    f->sim.memory_ps_per_byte = PS_PER_BYTE;
    for (uint32_t i = 0; i < MEMORY; ++i)
        f->sim.memory[i] = (uint8_t)(i * 7u + i / 256u);
    f->dma = fake_add(&f->sim, &cnnvp_unit_dma);
    for (int b = 0; b < 3; ++b) {
        f->buffers[b] = fake_add(&f->sim, &cnnvp_unit_buffer);
        fake_set(f->buffers[b], "size", 2u * HALF);
        assert_int_equal(fake_start(f->buffers[b]), CNNVP_OK);
        fake_connect(f->dma, ports[b], f->buffers[b], "port");
    }
    fake_handle(f->dma, "done", on_done, f);
}

void open_dma(struct fixture *f, int timing_only)
{
    set_up(f, timing_only);
    assert_int_equal(fake_start(f->dma), CNNVP_OK);
}

void close_dma(struct fixture *f)
{
    fake_sim_free(&f->sim);
}

struct cnnvp_command make(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves, const struct tile *tile)
{
    struct cnnvp_command command = {
        .opcode = opcode, .status = status, .halves = halves, .tag = 3, .count = 10, .sequence = ++f->sequence};
    if (tile != NULL)
        memcpy(command.descriptor, tile, sizeof *tile);
    return command;
}

int issue(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves, const struct tile *tile)
{
    struct cnnvp_command command = make(f, opcode, status, halves, tile);
    return issue_command(f, &command, NULL);
}

int issue_interleaved(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t planes, const struct tile *tile)
{
    struct cnnvp_command command = make(f, opcode, status, 0, tile);
    command.immediate = planes;
    return issue_command(f, &command, NULL);
}

uint8_t *half_data(struct fixture *f, int buffer, uint32_t half)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flags = CNNVP_DEBUG, .address = cnnvp_buffer_address(half, 0), .size = HALF};
    assert_int_equal(fake_access(f->buffers[buffer], "port", &access), CNNVP_OK);
    return access.data;
}

struct tile flat(uint32_t memory_addr, uint32_t buffer_addr, uint32_t bytes)
{
    return (struct tile){memory_addr, buffer_addr, bytes, 1, 0, 0, 1, 0, 0, 0};
}
