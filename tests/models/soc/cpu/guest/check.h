/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame and checks for guest tests in assembly. A test is code between BEGIN and END; `gp` is the number of the check
 * in progress. It ends with tohost = 1, or with (number << 1 | 1) of the check that failed. Traps go to the address in
 * s11; if that is 0, they fail the test. The handler leaves mcause in s8, mepc in s9, mtval in s10 and goes on at s11
 * with interrupts off.
 */
#ifndef GUEST_CHECK_H
#define GUEST_CHECK_H

#define DEVICE 0x10000000

.macro BEGIN
    .section .text.start, "ax"
    .globl _start
_start:
    li gp, 1
    li s11, 0
    la t0, trap_entry
    csrw mtvec, t0
    la sp, __stack_top
    j main
    .align 2
trap_entry:
    csrr s8, mcause
    csrr s9, mepc
    csrr s10, mtval
    beqz s11, fail
    jr s11
fail:
    slli gp, gp, 1
    ori gp, gp, 1
    j report
pass:
    li gp, 1
report:
    la t0, tohost
    sw gp, 0(t0)
1:  j 1b
    .section .tohost, "aw"
    .align 6
    .globl tohost
tohost: .dword 0
    .text
main:
.endm

.macro END
    j pass
.endm

/* reg must hold value */
.macro EXPECT reg, value
    addi gp, gp, 1
    li t6, \value
    bne \reg, t6, fail
.endm

/* \insn a1-result, a2, a3 */
.macro RR insn, a, b, value
    li a2, \a
    li a3, \b
    \insn a1, a2, a3
    EXPECT a1, \value
    mv a1, a2
    \insn a1, a1, a3
    EXPECT a1, \value
    mv a1, a3
    \insn a1, a2, a1
    EXPECT a1, \value
    \insn zero, a2, a3
    EXPECT zero, 0
.endm

.macro RI insn, a, imm, value
    li a2, \a
    \insn a1, a2, \imm
    EXPECT a1, \value
    mv a1, a2
    \insn a1, a1, \imm
    EXPECT a1, \value
    \insn zero, a2, \imm
    EXPECT zero, 0
.endm

/* the code that follows traps with cause and continues at label */
.macro TRAPS_TO label
    la s11, \label
    li s8, -1
.endm

.macro EXPECT_TRAP cause, at, tval
    li s11, 0
    EXPECT s8, \cause
    la t6, \at
    addi gp, gp, 1
    bne s9, t6, fail
    EXPECT s10, \tval
.endm

#endif
