/* SPDX-License-Identifier: Apache-2.0 */
/* Embench's programs scale their work by the board's frequency. With 1 MHz, each one runs for a few million cycles. */
#define CPU_MHZ 1
