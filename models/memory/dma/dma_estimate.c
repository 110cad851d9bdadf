/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lone `receive` (with its request) or `store` takes (CNNVP_ESTIMATE): what the memory says of its requests, or
 * the ports, whichever takes longer. Planes of equal requests follow each other without the wait for the first data. Of
 * a memory that says nothing only the ports count.
 */
#include "dma_internal.h"

/* One plane of the transfer as a request; of it `bytes` at most. */
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
    cnnvp_time all = 0;
    cnnvp_time first = 0;
    int status = dma->ops->estimate(dma->host, PORT_mem, &plane, &all);
    if (status == CNNVP_OK && memory->planes > 1u) {
        const struct cnnvp_request burst = request_of(dma, memory, op, 1);
        status = dma->ops->estimate(dma->host, PORT_mem, &burst, &first);
    }
    if (first > all)
        first = all;
    *time = all + (memory->planes - 1u) * (all - first);
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
    /* A store waits for the buffer's port first, a receive at the end, when the data are there. */
    const cnnvp_time port = dma_after(dma, now, dma_port_cycles(dma, dma_shape_bytes(buffer))) - now;
    const cnnvp_time through = store ? port + access.delay : port;
    const cnnvp_time data = dma_after(dma, now + in_memory, 0) - now;
    *delay += (data > through ? data : through) + (store ? 0 : access.delay);
    return CNNVP_OK;
}
