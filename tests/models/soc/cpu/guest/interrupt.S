/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts: exact place, priorities, masks, vectors, WFI, the timer in the middle of a block. */
#include "check.h"
.macro EXPECT_IRQ number, at
    li s11, 0
    EXPECT s8, 0x80000000 + \number
    la t6, \at
    addi gp, gp, 1
    bne s9, t6, fail
    EXPECT s10, 0
.endm
    BEGIN
    .option norvc
    li s0, DEVICE
    li a1, 0x888
    csrw mie, a1
    /* pending with MIE off: nothing; then right after the csrs that sets it */
    li a1, 1
    sw a1, 0x10(s0)
    nop
    csrr a1, mip
    EXPECT a1, 8
    TRAPS_TO 1f
    csrsi mstatus, 8
2:  j fail
1:  EXPECT_IRQ 3, 2b
    csrr a1, mstatus
    EXPECT a1, 0x1880
    sw zero, 0x10(s0)
    /* raised by a store in the middle of a block: taken before the next instruction */
    li a1, 1
    li a2, 0
    csrsi mstatus, 8
    TRAPS_TO 1f
    addi a2, a2, 1
    sw a1, 0x14(s0)
2:  addi a2, a2, 1
    j fail
1:  EXPECT_IRQ 11, 2b
    EXPECT a2, 1
    /* external before software before timer */
    sw a1, 0x10(s0)
    sw a1, 0x18(s0)
    nop
    nop
    csrr a1, mip
    EXPECT a1, 0x888
    TRAPS_TO 1f
    csrsi mstatus, 8
2:  j fail
1:  EXPECT_IRQ 11, 2b
    sw zero, 0x14(s0)
    TRAPS_TO 1f
    csrsi mstatus, 8
2:  j fail
1:  EXPECT_IRQ 3, 2b
    sw zero, 0x10(s0)
    TRAPS_TO 1f
    csrsi mstatus, 8
2:  j fail
1:  EXPECT_IRQ 7, 2b
    sw zero, 0x18(s0)
    /* masked by mie, let through by the write that unmasks */
    li a1, 1
    csrw mie, zero
    csrsi mstatus, 8
    sw a1, 0x10(s0)
    nop
    TRAPS_TO 1f
    csrsi mie, 8
2:  j fail
1:  EXPECT_IRQ 3, 2b
    sw zero, 0x10(s0)
    li a1, 0x888
    csrw mie, a1
    /* by mret */
    sw a1, 0x14(s0)
    la a2, 2f
    csrw mepc, a2
    li a2, 0x80
    csrs mstatus, a2
    TRAPS_TO 1f
    mret
2:  j fail
1:  EXPECT_IRQ 11, 2b
    sw zero, 0x14(s0)
    /* the timer after exactly 5 slots, counted from the store */
    li a1, 5
    li a2, 0
    csrsi mstatus, 8
    TRAPS_TO 1f
    sw a1, 0x18(s0)
    addi a2, a2, 1
    addi a2, a2, 1
    addi a2, a2, 1
    addi a2, a2, 1
2:  addi a2, a2, 1
    addi a2, a2, 1
    j fail
1:  EXPECT_IRQ 7, 2b
    EXPECT a2, 4
    sw zero, 0x18(s0)
    /* a timer that ends a jump to itself */
    li a1, 1000
    csrr s1, mcycle
    csrsi mstatus, 8
    TRAPS_TO 1f
    sw a1, 0x18(s0)
2:  j 2b
1:  EXPECT_IRQ 7, 2b
    sw zero, 0x18(s0)
    csrr a1, mcycle
    sub a1, a1, s1
    li a2, 1000
    bgeu a1, a2, 1f
    j fail
1:  addi a2, a2, 100
    bltu a1, a2, 1f
    j fail
1:  /* WFI: taken after it; with MIE off it just goes on; pending already: no wait */
    li a1, 1000
    csrsi mstatus, 8
    TRAPS_TO 1f
    sw a1, 0x18(s0)
    wfi
2:  j fail
1:  EXPECT_IRQ 7, 2b
    sw zero, 0x18(s0)
    li a1, 1000
    csrr s1, minstret
    csrr s2, mcycle
    sw a1, 0x18(s0)
    wfi
    wfi
    csrr a2, minstret
    csrr a3, mcycle
    sub a2, a2, s1
    EXPECT a2, 5
    sub a3, a3, s2
    addi gp, gp, 1
    bltu a3, a1, fail
    sw zero, 0x18(s0)
    /* vectors */
    la a1, table + 1
    csrw mtvec, a1
    li a1, 1
    li a2, 0
    csrsi mstatus, 8
    sw a1, 0x10(s0)
back:
    EXPECT a2, 3
    sw zero, 0x10(s0)
    li a2, 0
    la a3, back2
    csrsi mstatus, 8
    sw a1, 0x14(s0)
back2:
    EXPECT a2, 11
    END
    .balign 4
table:
    .rept 3
    j fail
    .endr
    j vector3
    .rept 7
    j fail
    .endr
    li a2, 11
    jr a3
vector3:
    li a2, 3
    j back
