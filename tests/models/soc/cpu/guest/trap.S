/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions other than those of memory: ecall, ebreak, illegal instructions, jumps into nothing; mret. */
#include "check.h"
.macro ILLEGAL_WORD word
    TRAPS_TO 1f
    .balign 4
2:  .word \word
    j fail
1:  EXPECT_TRAP 2, 2b, \word
.endm
    BEGIN
    .option norvc
    TRAPS_TO 1f
2:  ecall
    j fail
1:  EXPECT_TRAP 11, 2b, 0
    TRAPS_TO 1f
2:  ebreak
    j fail
1:  li s11, 0
    EXPECT s8, 3
    la a1, 2b
    sub a2, a1, s9
    EXPECT a2, 0
    sub a2, a1, s10
    EXPECT a2, 0
    ILLEGAL_WORD 0xffffffff
    ILLEGAL_WORD 0x02051513 /* slli by 32 */
    ILLEGAL_WORD 0x02055513 /* srli by 32 */
    ILLEGAL_WORD 0x10200073 /* sret */
    ILLEGAL_WORD 0x12000073 /* sfence.vma */
    ILLEGAL_WORD 0x0000b083 /* ld */
    ILLEGAL_WORD 0x0000e083 /* lwu */
    ILLEGAL_WORD 0x0010b023 /* sd */
    ILLEGAL_WORD 0x0010203b /* 64-bit word group */
    ILLEGAL_WORD 0x0000a007 /* flw */
    ILLEGAL_WORD 0x02008053 /* fadd.d */
    ILLEGAL_WORD 0x40001033 /* sll with funct7 of sub */
    ILLEGAL_WORD 0x04000033 /* unused funct7 */
    ILLEGAL_WORD 0x00002063 /* unused branch */
    ILLEGAL_WORD 0x00001067 /* jalr with funct3 */
    ILLEGAL_WORD 0x0010a02f | 0x10000000 /* lr.w with rs2 */
    ILLEGAL_WORD 0x0000b02f /* amoadd.d */
    ILLEGAL_WORD 0x00004073 /* unused system */
    /* an illegal compressed one between, and a 32-bit one at a half-word address */
    TRAPS_TO 1f
    .option push
    .option rvc
    .balign 4
    c.nop
2:  .half 0xffff, 0xffff
    .option pop
    j fail
1:  .balign 4
    EXPECT_TRAP 2, 2b, 0xffffffff
    /* jumps into nothing; the link register keeps its old value? no: it has been written, the jump retired */
    TRAPS_TO 1f
    li a1, 0x40000000
2:  jalr a2, a1, 0
    j fail
1:  li s11, 0
    EXPECT s8, 1
    EXPECT s9, 0x40000000
    EXPECT s10, 0x40000000
    la a1, 2b + 4
    sub a1, a1, a2
    EXPECT a1, 0
    /* half of an instruction at the end of RAM: mepc is its begin, mtval the half that is missing */
    li a1, 0x80100000
    li a2, 0x0013
    sh a2, -2(a1)
    addi a1, a1, -2
    TRAPS_TO 1f
    jr a1
1:  li s11, 0
    EXPECT s8, 1
    EXPECT s9, 0x800ffffe
    EXPECT s10, 0x80100000
    /* the stack of one level of mstatus */
    li a1, 0x88
    csrw mstatus, zero
    csrs mstatus, a1
    la s11, 1f
    ecall
1:  li s11, 0
    csrr a1, mstatus
    EXPECT a1, 0x1880
    la a1, 1f
    csrw mepc, a1
    mret
    j fail
1:  csrr a1, mstatus
    EXPECT a1, 0x1888
    csrw mstatus, zero
    la a1, 1f
    csrw mepc, a1
    mret
    j fail
1:  csrr a1, mstatus
    EXPECT a1, 0x1880
    /* exceptions ignore the vector table */
    csrr a2, mtvec
    ori a1, a2, 1
    csrw mtvec, a1
    TRAPS_TO 1f
2:  ecall
    j fail
1:  EXPECT_TRAP 11, 2b, 0
    END
