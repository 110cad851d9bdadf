/* SPDX-License-Identifier: Apache-2.0 */
#include "buffer_case.h"

void open_buffer(struct fixture *f, int timing_only, int pingpong)
{
    fake_sim_init(&f->sim, MHZ, 0, 0);
    f->sim.timing_only = timing_only;
    f->host = fake_add(&f->sim, &cnnvp_unit_buffer);
    fake_set(f->host, "size", pingpong ? 2u * HALF : HALF);
    fake_set(f->host, "pingpong", (uint64_t)pingpong);
    assert_int_equal(fake_start(f->host), CNNVP_OK);
}

int go(struct fixture *f, uint32_t op, uint32_t half, uint32_t offset, uint64_t size, void *data, uint32_t mode)
{
    struct cnnvp_access access = {
        .op = op, .address = cnnvp_buffer_address(half, offset), .size = size, .data = data, .mode = mode};
    return fake_access(f->host, "port", &access);
}

int16_t *borrow(struct fixture *f, uint32_t half, uint32_t offset, uint64_t size)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flags = CNNVP_DEBUG, .address = cnnvp_buffer_address(half, offset), .size = size};
    assert_int_equal(fake_access(f->host, "port", &access), CNNVP_OK);
    return access.data;
}

int update(struct fixture *f, struct cnnvp_update *u)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = u, .size = sizeof *u};
    return fake_access(f->host, "port", &access);
}

struct cnnvp_update plain_update(const int64_t *sums, uint64_t planes, uint64_t plane_words)
{
    return (struct cnnvp_update){
        .sums = sums,
        .planes = planes,
        .plane_words = plane_words,
        .plane_stride = plane_words,
        .acc_bits = 48,
        .rounding = CNNVP_ROUNDING_NEAREST,
        .shift = 4};
}
