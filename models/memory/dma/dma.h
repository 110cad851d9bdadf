/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA (kind `dma`): executes the transfer instructions of opcodes.def for the instruction element, by the protocol
 * of cnnvp_command.h. What a program can rely on:
 *
 * request  Accepted in one cycle (CNNVP_OK), CNNVP_E_STATE while all slots are taken: try again after a completion. The
 *          DMA may read the first outstanding * burst_bytes bytes of what has not been received; the rest is asked for
 *          when the receive is issued.
 * receive  Matches the oldest request that has not been received; buffer and half must be the same, the other registers
 *          are not looked at. Without such a request CNNVP_E_INVAL. Completes (CNNVP_PENDING) when all data are in the
 *          buffer: at the last data from memory, and not before ceil(bytes / port_bytes) cycles after the issue. Data
 *          become visible in the buffer at that time. Planes that the request's imm32 says to lie interleaved in memory
 *          cross the port with at most transpose_words words a cycle, of that many planes, and as the buffer's banks
 *          take them.
 * store    Takes the data out of the buffer at its issue and completes when the memory has them. CNNVP_E_STATE as
 *          above; interleaved planes as there.
 *          With `arbiter` receives and stores share a port: each cycle of it is one's, and both take longer.
 * move     Copies between buffers, ceil(bytes / port_bytes) cycles. Source rows are given by the memory_ registers.
 *          Source and destination may overlap: all is read before anything is written.
 * fill     Writes the low 16 bits of the immediate, ceil(bytes / port_bytes) cycles. The memory_ registers are not
 *          used.
 *
 * Memory order. A read waits for earlier stores that touch its addresses, a store for earlier stores and for earlier
 * received reads that do; what is compared are the rows themselves where both transfers have the same strides, and
 * the whole ranges otherwise. A request counts as earlier with its issue for what is read ahead, with the issue of its
 * receive for the rest: a program does not store to an address between its request and its receive.
 *
 * Addresses on the memory side are 32 bits; row_bytes, buffer_addr and the buffer strides are multiples of the
 * parameter word_bytes; rows lie beside each other in the buffer, not over each other (move and store too). An error of
 * the memory is the status of the receive or store, and a failed receive writes nothing.
 */
#ifndef CNNVP_DMA_H
#define CNNVP_DMA_H

#include "cnnvp_command.h"

extern const struct cnnvp_unit cnnvp_unit_dma;

#endif
