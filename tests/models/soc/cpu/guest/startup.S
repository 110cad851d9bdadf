/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in and out that public instruction tests take: CSRs that may be missing are tried with the trap vector behind
 * the access, the body is entered by mret with mstatus cleared, the end is an ecall whose handler writes both words of
 * tohost for ever.
 */
#include "check.h"
.macro TRY code:vararg
    la t0, 1f
    csrw mtvec, t0
    \code
    .balign 4
1:
.endm
    .section .text.start, "ax"
    .globl _start
_start:
    j reset
    .balign 4
vector:
    csrr t5, mcause
    li t6, 11
    beq t5, t6, write_tohost
    ori gp, gp, 1337
write_tohost:
    la t5, tohost
    sw gp, 0(t5)
    sw zero, 4(t5)
    j write_tohost
reset:
    csrr a0, mhartid
1:  bnez a0, 1b
    TRY csrwi 0x744, 8
    TRY csrwi satp, 0
    TRY csrwi 0x306, 0
    li t1, 0x7fffffff
    TRY csrw pmpaddr0, t1
    li t1, 0x1f
    TRY csrw pmpcfg0, t1
    csrwi mie, 0
    TRY csrwi medeleg, 0
    TRY csrwi mideleg, 0
    la t0, vector
    csrw mtvec, t0
    csrwi mstatus, 0
    la t0, 1f
    csrw mepc, t0
    mret
1:  /* granularity of the pmp registers: 4 bytes, bit 0 of an address sticks */
    li gp, 2 << 1 | 1
    csrw pmpcfg0, zero
    li t0, -1
    csrw pmpaddr0, t0
    csrr t0, pmpaddr0
    andi t0, t0, 1
    beqz t0, failed
    /* machine mode is all there is: MPP cannot be changed, misa has neither U nor S */
    li gp, 3 << 1 | 1
    li t0, 0x1800
    csrc mstatus, t0
    csrr t1, mstatus
    and t1, t1, t0
    bne t1, t0, failed
    csrr t0, misa
    li t1, 1 << 20 | 1 << 18
    and t0, t0, t1
    bnez t0, failed
    /* C cannot be switched off, not even at a word boundary */
    li gp, 4 << 1 | 1
    csrci misa, 4
    csrr t0, misa
    andi t0, t0, 4
    beqz t0, failed
    /* no trigger: tselect cannot be set, tdata1 has type 0 */
    li gp, 5 << 1 | 1
    li t0, 0x80000000
    csrw tselect, t0
    csrr t1, tselect
    beq t0, t1, failed
    csrr t1, tdata1
    srli t1, t1, 28
    bnez t1, failed
    fence
    li gp, 1
failed:
    li a7, 93
    ecall
    .section .tohost, "aw"
    .align 6
    .globl tohost
tohost: .dword 0
