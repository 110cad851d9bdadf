/* SPDX-License-Identifier: Apache-2.0 */
/* LR/SC and every AMO; alignment and access faults of each. */
#include "check.h"
.macro AMO insn, memory, operand, result
    li a2, \memory
    li a3, \operand
    sw a2, 0(s0)
    \insn a1, a3, (s0)
    EXPECT a1, \memory
    lw a1, 0(s0)
    EXPECT a1, \result
    sw a2, 0(s0)
    \insn a3, a3, (s0)
    EXPECT a3, \memory
    \insn zero, a3, (s0)
    EXPECT zero, 0
.endm
    BEGIN
    la s0, word
    AMO amoswap.w, 1, 2, 2
    AMO amoadd.w, 0x80000000, 0xfffff800, 0x7ffff800
    AMO amoxor.w, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0
    AMO amoand.w, 0xff00ff00, 0x0ff00ff0, 0x0f000f00
    AMO amoor.w, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0
    AMO amomin.w, 0x80000000, 1, 0x80000000
    AMO amomin.w, 1, -1, -1
    AMO amomax.w, 0x80000000, 1, 1
    AMO amomax.w, 1, -1, 1
    AMO amominu.w, 0x80000000, 1, 1
    AMO amominu.w, 1, -1, 1
    AMO amomaxu.w, 0x80000000, 1, 0x80000000
    AMO amomaxu.w.aqrl, 1, -1, -1
    /* sc without a reservation, with one, with one elsewhere, twice */
    li a2, 5
    sw a2, 0(s0)
    sc.w a1, a2, (s0)
    EXPECT a1, 1
    lr.w a1, (s0)
    EXPECT a1, 5
    addi a3, a1, 1
    sc.w a4, a3, (s0)
    EXPECT a4, 0
    sc.w a4, zero, (s0)
    EXPECT a4, 1
    lw a1, 0(s0)
    EXPECT a1, 6
    addi s1, s0, 4
    lr.w.aq a1, (s1)
    sc.w.rl a4, zero, (s0)
    EXPECT a4, 1
    /* alignment: lr 4, sc and amo 6; where nothing is: lr 5, amo 7 */
    addi s1, s0, 2
    TRAPS_TO 1f
2:  lr.w a1, (s1)
    j fail
1:  li s11, 0
    EXPECT s8, 4
    sub s10, s10, s1
    EXPECT s10, 0
    TRAPS_TO 1f
2:  amoadd.w a1, a1, (s1)
    j fail
1:  li s11, 0
    EXPECT s8, 6
    TRAPS_TO 1f
2:  sc.w a1, a1, (s1)
    j fail
1:  li s11, 0
    EXPECT s8, 6
    li s1, DEVICE + 0x40 /* nothing is there; an sc without a reservation does not look */
    li a1, 7
    TRAPS_TO 1f
2:  lr.w a1, (s1)
    j fail
1:  EXPECT_TRAP 5, 2b, 0x10000040
    TRAPS_TO 1f
2:  amoswap.w a1, a1, (s1)
    j fail
1:  EXPECT_TRAP 7, 2b, 0x10000040
    EXPECT a1, 7
    li s11, 0
    sc.w a4, a1, (s1)
    EXPECT a4, 1
    /* a device's register, which only reads and writes reach */
    li s1, DEVICE + 0x24
    li a1, 40
    sw a1, (s1)
    li a2, 2
    amoadd.w a3, a2, (s1)
    EXPECT a3, 40
    lr.w a3, (s1)
    EXPECT a3, 42
    li a2, 5
    sc.w a4, a2, (s1)
    EXPECT a4, 0
    sc.w a4, a1, (s1)
    EXPECT a4, 1
    lw a3, (s1)
    EXPECT a3, 5
    amomax.w a3, a1, (s1)
    EXPECT a3, 5
    lw a3, (s1)
    EXPECT a3, 40
    li s1, DEVICE + 0x20 /* read only: what is read is lost with the trap */
    li a1, 7
    TRAPS_TO 1f
2:  amoadd.w a1, a1, (s1)
    j fail
1:  EXPECT_TRAP 7, 2b, 0x10000020
    EXPECT a1, 7
    END
    .data
    .align 3
word: .word 0, 0
