/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to the buffers. The oldest receive and the oldest store each need it for dma_port_cycles, from when their
 * command is issued and the transfer before them is done. They have a port each, or share one; then `arbiter` assigns
 * each cycle that both want. A receive keeps its turns while memory still delivers its words.
 */
#include "dma_internal.h"

#include "cnnvp_integer.h"

/* Which channel gets the next cycle that both want. By priority, the one with the larger share; otherwise, or if shares
 * are equal, the one that has had fewer of these cycles, in proportion to its share if weighted. */
static uint32_t turn(const struct dma *dma, struct dma_port *port)
{
    const uint64_t *share = dma->share;
    if (dma->arbiter == DMA_ARBITER_priority && share[DMA_READ] != share[DMA_WRITE])
        return share[DMA_READ] > share[DMA_WRITE] ? DMA_READ : DMA_WRITE;
    const int weighted = dma->arbiter == DMA_ARBITER_weighted;
    const uint64_t read = port->had[DMA_READ] * (weighted ? share[DMA_WRITE] : 1u);
    const uint64_t write = port->had[DMA_WRITE] * (weighted ? share[DMA_READ] : 1u);
    const uint32_t next = read <= write ? DMA_READ : DMA_WRITE;
    ++port->had[next];
    return next;
}

static void cross(struct dma_port *port, uint32_t number, uint64_t cycles)
{
    struct dma_crossing *crossing = &port->crossing[number];
    crossing->left -= cycles;
    port->edge += cycles;
    if (crossing->left == 0)
        crossing->end = port->edge;
}

/* Runs the port to the edge `to`, or until `until` is through. */
static void run(const struct dma *dma, struct dma_port *port, uint64_t to, const struct dma_crossing *until)
{
    while (port->edge < to && (until == NULL || until->left != 0)) {
        uint64_t next = to;
        uint32_t wanting = 0;
        for (uint32_t c = 0; c < DMA_CHANNELS; ++c) {
            const struct dma_crossing *crossing = &port->crossing[c];
            if (crossing->left != 0 && crossing->since <= port->edge)
                wanting |= 1u << c;
            else if (crossing->left != 0)
                next = cnnvp_minimum(next, crossing->since);
        }
        if (wanting == 0) {
            port->edge = next;
        } else if (wanting != 3u) {
            const uint32_t number = wanting >> 1u;
            cross(port, number, cnnvp_minimum(port->crossing[number].left, next - port->edge));
            port->had[DMA_READ] = port->had[DMA_WRITE] = 0;
        } else {
            cross(port, turn(dma, port), 1);
        }
    }
}

void dma_port_enter(struct dma *dma, uint32_t number, cnnvp_time from, const struct dma_transfer *transfer)
{
    const uint64_t cycles =
        transfer->command.sequence != 0 ? dma_port_cycles(dma, transfer, transfer->bytes) : 0; /* 0: forgotten */
    const uint64_t since = cnnvp_edge_at_or_after(dma->clock_mhz, from);
    if (dma->arbiter != DMA_ARBITER_separate)
        run(dma, &dma->port, cnnvp_edge_at_or_after(dma->clock_mhz, dma->ops->now(dma->host)), NULL);
    dma->port.crossing[number] = (struct dma_crossing){since, cycles, cycles, since + cycles};
}

uint64_t dma_port_end(const struct dma *dma, uint32_t number)
{
    struct dma_port port = dma->port;
    if (dma->arbiter != DMA_ARBITER_separate)
        run(dma, &port, UINT64_MAX, &port.crossing[number]);
    return port.crossing[number].end;
}
