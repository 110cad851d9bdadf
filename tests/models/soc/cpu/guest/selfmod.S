/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is written: with fence.i, without, in the block that is running, by every kind of store. */
#include "check.h"
    BEGIN
    .option norvc
    lui s1, %hi(0x00158593)
    addi s1, s1, %lo(0x00158593) /* addi a1, a1, 1 */
    lui s2, %hi(0x00258593)
    addi s2, s2, %lo(0x00258593) /* addi a1, a1, 2 */
    la s0, patch
    li a1, 0
    call routine
    EXPECT a1, 1
    sw s2, 0(s0)
    fence.i
    call routine
    EXPECT a1, 3
    /* without fence.i */
    sw s1, 0(s0)
    call routine
    EXPECT a1, 4
    /* byte, half-word, misaligned, amo, sc */
    srli a2, s2, 16
    sb a2, 2(s0)
    call routine
    EXPECT a1, 6
    srli a2, s1, 16
    sh a2, 2(s0)
    call routine
    EXPECT a1, 7
    lw a3, -4(s0)
    srli a3, a3, 24
    slli a2, s2, 8
    or a2, a2, a3
    sw a2, -1(s0)
    srli a2, s2, 24
    sb a2, 3(s0)
    call routine
    EXPECT a1, 9
    amoswap.w a2, s1, (s0)
    sub a2, a2, s2
    EXPECT a2, 0
    call routine
    EXPECT a1, 10
    lr.w a2, (s0)
    sc.w a2, s2, (s0)
    call routine
    EXPECT a1, 12
    /* the next instruction of the running block */
    la s0, 1f
    li a1, 0
    sw s1, 0(s0)
1:  addi a1, a1, 2
    EXPECT a1, 1
    /* a loop that changes itself each time round */
    la s0, 2f
    li a1, 0
    li a2, 100
1:  xor s1, s1, s2
    xor s2, s1, s2
    xor s1, s1, s2
    sw s1, 0(s0)
2:  addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 1b
    EXPECT a1, 150
    /* misaligned, from memory that never was code into the first instruction after it */
    la s0, edge
    li a1, 0
    call edge
    slli a2, s2, 8
    sw a2, -1(s0)
    call edge
    slli a2, s1, 8
    sw a2, -1(s0)
    call edge
    EXPECT a1, 4
    /* data next to code */
    la s0, beside
    li a2, 100
    li a1, 0
1:  call next_to_data
    lw a3, 0(s0)
    addi a3, a3, 1
    sw a3, 0(s0)
    addi a2, a2, -1
    bnez a2, 1b
    EXPECT a1, 100
    lw a3, 0(s0)
    EXPECT a3, 100
    END
    .balign 256
    nop
routine:
    nop
patch:
    addi a1, a1, 1
    ret
next_to_data:
    addi a1, a1, 1
    ret
beside: .word 0
    .balign 1024
    .skip 1024
edge:
    addi a1, a1, 1
    ret
