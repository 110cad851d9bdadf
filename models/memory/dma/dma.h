/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA (kind `dma`) executes the transfer instructions of opcodes.def for the instruction element, by the protocol
 * of cnnvp_command.h. A program can rely on the following.
 *
 * request  Accepted in one cycle (CNNVP_OK), or CNNVP_E_STATE while all slots are taken: try again after a completion.
 *          Ahead of their receives, the DMA reads at most outstanding * burst_bytes bytes of all requests; it reads the
 *          rest when the receive is issued.
 * receive  Belongs to the oldest request that has not been received; buffer and half must be the same, the other
 *          registers are ignored. Without such a request: CNNVP_E_INVAL. Completes (CNNVP_PENDING) when all data are in
 *          the buffer: at the last data from memory, and not before ceil(bytes / port_bytes) cycles after the issue.
 *          Data become visible in the buffer at that time. If the request's imm32 says that planes are interleaved in
 *          memory, at most transpose_words words of that many planes cross the port in a cycle, as fast as the
 *          buffer's banks take them.
 * store    Takes the data out of the buffer at its issue, and completes when the memory has them. CNNVP_E_STATE and
 *          interleaved planes as above. With `arbiter`, receives and stores share a port: each of its cycles goes to
 *          one of them, and both take longer.
 * move     Copies between buffers in ceil(bytes / port_bytes) cycles. The memory_ registers give the source rows.
 *          Source and destination may overlap: everything is read before anything is written.
 * fill     Writes the low 16 bits of the immediate in ceil(bytes / port_bytes) cycles. The memory_ registers are not
 *          used.
 *
 * Memory order. A read waits for earlier stores to its addresses. A store waits for earlier stores to its addresses,
 * for earlier received reads of them, and for reads of them that are in flight. The rows themselves are compared if
 * both transfers have the same strides, otherwise the whole ranges. Data that are read ahead count from the issue of
 * their request, the rest from the issue of the receive. So a program must not store to an address between its request
 * and its receive.
 *
 * Addresses on the memory side are 32 bits; row_bytes, buffer_addr and the buffer strides are multiples of the
 * parameter word_bytes. Rows must not overlap in the buffer (also for move and store). An error of the memory is the
 * status of the receive or store, and a failed receive writes nothing.
 */
#pragma once

#include "cnnvp_command.h"

extern const struct cnnvp_unit cnnvp_unit_dma;
