/* SPDX-License-Identifier: Apache-2.0 */
/* Every instruction of RV32C without floating point, and the encodings next to them that are illegal. */
#include "check.h"
.macro ILLEGAL_HALF half
    TRAPS_TO 1f
    .balign 4
2:  .half \half
    c.nop
    j fail
1:  EXPECT_TRAP 2, 2b, \half
.endm
    BEGIN
    la sp, data
    c.addi4spn a0, sp, 1020
    sub a0, a0, sp
    EXPECT a0, 1020
    c.addi4spn s0, sp, 4
    c.lw a1, 0(s0)
    EXPECT a1, 0x22222222
    c.lw a1, 124(s0)
    EXPECT a1, 0x33333333
    c.lwsp a2, 128(sp)
    EXPECT a2, 0x33333333
    c.lwsp a2, 252(sp)
    EXPECT a2, 0x44444444
    li a2, 0x55555555
    c.sw a2, 8(s0)
    lw a1, 12(sp)
    EXPECT a1, 0x55555555
    c.swsp a2, 248(sp)
    lw a1, 248(sp)
    EXPECT a1, 0x55555555
    mv a5, sp
    c.addi16sp sp, 496
    sub a1, sp, a5
    EXPECT a1, 496
    c.addi16sp sp, -512
    sub a1, sp, a5
    EXPECT a1, -16
    c.nop
    li a0, 1
    c.addi a0, -32
    EXPECT a0, -31
    c.addi a0, 31
    EXPECT a0, 0
    c.li s1, -32
    EXPECT s1, -32
    c.li t5, 31
    EXPECT t5, 31
    c.lui s0, 0xfffe1
    EXPECT s0, 0xfffe1000
    c.srai s0, 12
    EXPECT s0, 0xffffffe1
    c.srli s0, 1
    EXPECT s0, 0x7ffffff0
    c.lui s0, 0x1f
    EXPECT s0, 0x1f000
    c.slli s0, 31
    EXPECT s0, 0
    c.li s0, -2
    c.andi s0, -18
    EXPECT s0, -18
    li s1, 20
    li a0, 6
    c.sub s1, a0
    EXPECT s1, 14
    c.xor s1, a0
    EXPECT s1, 8
    c.or s1, a0
    EXPECT s1, 14
    c.and s1, a0
    EXPECT s1, 6
    c.mv t0, s1
    EXPECT t0, 6
    c.add t0, s1
    EXPECT t0, 12
    addi gp, gp, 1
    c.j 1f
    c.j 3f
1:  c.li a0, 0
    c.beqz a0, 1f
    c.j 3f
1:  c.bnez a0, 3f
    c.li a0, 1
    c.beqz a0, 3f
    c.bnez a0, 1f
3:  j fail
1:  .balign 4
    c.jal 2f
1:  c.nop
2:  la a1, 1b
    sub a1, a1, ra
    EXPECT a1, 0
    la t1, 2f
    c.jr t1
    j fail
2:  la t1, 2f
    c.jalr t1
1:  c.nop
2:  la a1, 1b
    sub a1, a1, ra
    EXPECT a1, 0
    TRAPS_TO 1f
2:  c.ebreak
    j fail
1:  li s11, 0
    EXPECT s8, 3
    la a1, 2b
    sub a1, a1, s9
    EXPECT a1, 0
    ILLEGAL_HALF 0x0000 /* defined illegal */
    ILLEGAL_HALF 0x0004 /* c.addi4spn with 0 */
    ILLEGAL_HALF 0x2000 /* c.fld */
    ILLEGAL_HALF 0x6000 /* c.flw */
    ILLEGAL_HALF 0x8000 /* reserved */
    ILLEGAL_HALF 0xa000 /* c.fsd */
    ILLEGAL_HALF 0xe000 /* c.fsw */
    ILLEGAL_HALF 0x6081 /* c.lui with 0 */
    ILLEGAL_HALF 0x6101 /* c.addi16sp with 0 */
    ILLEGAL_HALF 0x9001 /* c.srli by 32 and more */
    ILLEGAL_HALF 0x9c01 /* c.subw */
    ILLEGAL_HALF 0x9c21 /* c.addw */
    ILLEGAL_HALF 0x1082 /* c.slli by 32 and more */
    ILLEGAL_HALF 0x2082 /* c.fldsp */
    ILLEGAL_HALF 0x4002 /* c.lwsp into x0 */
    ILLEGAL_HALF 0x8002 /* c.jr x0 */
    ILLEGAL_HALF 0xe002 /* c.fswsp */
    /* a 32-bit instruction across granules and pages */
    li a1, 1
    j 1f
    .balign 4096
    .skip 4094
1:  .option push
    .option norvc
    addi a1, a1, 1
    .option pop
    EXPECT a1, 2
    END
    .data
    .align 8
data:
    .word 0x11111111, 0x22222222
    .skip 120
    .word 0x33333333
    .skip 120
    .word 0x44444444
    .skip 1024
