/* SPDX-License-Identifier: Apache-2.0 */
/* minstret and mcycle: one for each instruction, traps not retired, writes, carries, mcountinhibit. */
#include "check.h"
    BEGIN
    .option norvc
    csrr a1, instret
    csrr a2, instret
    sub a1, a2, a1
    EXPECT a1, 1
    csrr a1, mcycle
    nop
    lw zero, 0(sp)
    csrr a2, mcycle
    sub a1, a2, a1
    EXPECT a1, 3
    /* the device sees the same instruction count as the CSRs */
    li s0, DEVICE
    csrr a1, mcycle
    lw a2, 0x20(s0)
    nop
    lw a3, 0x20(s0)
    sub a1, a2, a1
    EXPECT a1, 1
    sub a3, a3, a2
    EXPECT a3, 2
    /* what is written is what the next instruction reads */
    csrwi minstret, 0
    csrr a0, minstret
    EXPECT a0, 0
    li t0, -1
    csrw minstret, t0
    csrw minstreth, t0
    nop
    csrr a0, minstret
    EXPECT a0, 0
    csrr a0, minstreth
    EXPECT a0, 0
    csrw minstreth, zero
    csrw minstret, t0
    nop
    csrr a0, minstreth
    EXPECT a0, 1
    li t0, -2
    csrw mcycleh, zero
    csrw mcycle, t0
    csrr a0, cycle
    csrr a1, cycleh
    csrr a2, cycle
    csrr a3, cycleh
    EXPECT a0, -2
    EXPECT a1, 0
    EXPECT a2, 0
    EXPECT a3, 1
    /* an ecall and its handler: csrr x 3, beqz, jr retire, the ecall does not; it takes a cycle all the same */
    la s11, 1f
    csrr a1, minstret
    csrr a2, mcycle
    ecall
1:  csrr a3, minstret
    csrr a4, mcycle
    li s11, 0
    sub a1, a3, a1
    EXPECT a1, 7
    sub a2, a4, a2
    EXPECT a2, 8
    EXPECT s8, 11
    /* inhibited counters stand still and can be written */
    csrwi mcountinhibit, 5
    csrr a1, mcycle
    csrr a2, minstret
    nop
    csrr a3, mcycle
    csrr a4, minstret
    sub a3, a3, a1
    EXPECT a3, 0
    sub a4, a4, a2
    EXPECT a4, 0
    csrwi mcycle, 9
    csrwi mcountinhibit, 0
    nop
    csrr a1, mcycle
    EXPECT a1, 10
    csrr a1, minstret
    sub a1, a1, a2
    bgtz a1, 1f
    j fail
1:  csrr a1, time
    csrr a2, timeh
    csrr a3, time
    sub a3, a3, a1
    EXPECT a3, 2
    END
