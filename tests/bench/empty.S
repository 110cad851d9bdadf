/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest program: passes at once. */
    .section .text.start, "ax"
    .globl _start
_start:
    li      t0, 1
    la      t1, tohost
    sw      t0, 0(t1)
1:  j       1b
    .data
    .balign 64
    .globl tohost
tohost:
    .dword 0
