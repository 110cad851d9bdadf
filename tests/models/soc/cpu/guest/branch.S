/* SPDX-License-Identifier: Apache-2.0 */
/* Branches taken and not, forward and back; jal and jalr with links, x0 links, low bit cleared, same register. */
#include "check.h"
.macro TAKEN insn, a, b
    addi gp, gp, 1
    li a2, \a
    li a3, \b
    \insn a2, a3, 2f
    j fail
1:  j 3f
2:  \insn a2, a3, 1b
    j fail
3:
.endm
.macro PASSED insn, a, b
    addi gp, gp, 1
    li a2, \a
    li a3, \b
    \insn a2, a3, 1f
    j 2f
1:  j fail
2:
.endm
    BEGIN
    TAKEN beq, 5, 5
    TAKEN beq, 0, 0
    PASSED beq, 5, 4
    TAKEN bne, 5, -5
    PASSED bne, -1, -1
    TAKEN blt, -1, 0
    PASSED blt, 0, -1
    PASSED blt, 3, 3
    TAKEN bge, 0, -1
    TAKEN bge, 3, 3
    PASSED bge, -1, 0
    TAKEN bltu, 0, -1
    PASSED bltu, -1, 0
    PASSED bltu, 3, 3
    TAKEN bgeu, -1, 0
    TAKEN bgeu, 3, 3
    PASSED bgeu, 0, -1
    /* against x0 on either side */
    li a2, 7
    addi gp, gp, 1
    beqz a2, 1f
    bnez a2, 2f
1:  j fail
2:  blt zero, a2, 3f
    j fail
3:  .option push
    .option norvc
    la a2, 5f
    jal a1, 4f
5:  j fail
4:  sub a1, a1, a2
    EXPECT a1, 0
    la a1, 6f
    jalr a1, a1, 0
7:  j fail
6:  la a2, 7b
    sub a1, a1, a2
    EXPECT a1, 0
    la a1, 8f + 5
    jalr zero, a1, -4
    j fail
8:  .option pop
    /* a loop long enough to be linked, with a call and a return of its own */
    li a1, 0
    li a2, 1000
1:  jal t1, add_three
    addi a2, a2, -1
    bnez a2, 1b
    EXPECT a1, 3000
    END
add_three:
    addi a1, a1, 3
    jr t1
