/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates (CNNVP_ESTIMATE) the time of a `receive` (with its request) or a `store` that runs alone: the memory's
 * estimate for its requests, or the time at the ports, whichever is longer. Planes with equal requests follow each
 * other, so only the first one waits for its first data. If the memory gives no estimate, only the ports count.
 */
#include "dma_internal.h"

/* The first plane of the transfer as a request, of at most `bytes`. */
static struct cnnvp_request request_of(const struct dma *dma, const struct dma_shape *memory, uint32_t op,
                                       uint64_t bytes)
{
    struct dma_piece_shape piece;
    (void)dma_shape_piece(memory, 0, bytes, &piece);
    return (struct cnnvp_request){
        .op = op,
        .address = piece.address,
        .size = piece.size,
        .count = piece.count,
        .stride = (int64_t)piece.stride,
        .burst_bytes = (uint32_t)dma->burst_bytes,
        .outstanding = (uint32_t)dma->outstanding,
    };
}

static int memory_time(struct dma *dma, const struct dma_shape *memory, uint32_t op, cnnvp_time *time)
{
    const struct cnnvp_request plane = request_of(dma, memory, op, memory->count * memory->size);
    struct cnnvp_request bursts = request_of(dma, memory, op, 1);
    cnnvp_time all = 0, one = 0, two = 0;
    bursts.size = dma->burst_bytes;
    bursts.address -= bursts.address % dma->burst_bytes;
    int status = dma->ops->estimate(dma->host, PORT_mem, &plane, &all);
    if (status == CNNVP_OK && memory->planes > 1u)
        status = dma->ops->estimate(dma->host, PORT_mem, &bursts, &one);
    bursts.size += dma->burst_bytes;
    if (status == CNNVP_OK && memory->planes > 1u)
        status = dma->ops->estimate(dma->host, PORT_mem, &bursts, &two);
    /* The wait for the first data: the time of one burst, less that of each further one. */
    const cnnvp_time wait = two > one && two - one < one ? one - (two - one) : one;
    *time = all + (memory->planes - 1u) * (all > wait ? all - wait : 0);
    return status;
}

int dma_estimate(struct dma *dma, uint32_t index, uint32_t half, const struct dma_transfer *whose,
                 const struct dma_shape *memory, const struct dma_shape *buffer, cnnvp_time *delay)
{
    const int store = !whose->from_memory;
    struct cnnvp_access access;
    cnnvp_time in_memory = 0;
    int status =
        dma_buffer_access(dma, store ? CNNVP_BORROW_READ : CNNVP_BORROW_WRITE, 0, index, half, buffer, whose, &access);
    if (status == CNNVP_OK)
        status = memory_time(dma, memory, store ? CNNVP_WRITE : CNNVP_READ, &in_memory);
    if (status == CNNVP_E_NOSUP)
        in_memory = 0;
    else if (status != CNNVP_OK)
        return status;
    const cnnvp_time now = dma->ops->now(dma->host);
    /* A store crosses the buffer's port first, a receive at the end, when the data are there. */
    const cnnvp_time port = dma_after(dma, now, dma_port_cycles(dma, whose, dma_shape_bytes(buffer))) - now;
    const cnnvp_time through = store ? port + access.delay : port;
    const cnnvp_time data = dma_after(dma, now + in_memory, 0) - now;
    *delay += (data > through ? data : through) + (store ? 0 : access.delay);
    return CNNVP_OK;
}
