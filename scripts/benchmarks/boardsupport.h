/* SPDX-License-Identifier: Apache-2.0 */
/* What Embench's programs want of a board: they scale themselves by its frequency. 1 MHz: each runs for a few million
 * cycles. */
#define CPU_MHZ 1
