/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of every width and sign, misaligned ones in RAM, devices, access and alignment faults. */
#include "check.h"
.macro LOADS insn, offset, value
    \insn a1, \offset(s0)
    EXPECT a1, \value
.endm
    BEGIN
    la s0, data
    LOADS lb, 0, 0xffffff80
    LOADS lb, 1, 0x7f
    LOADS lbu, 0, 0x80
    LOADS lh, 0, 0x7f80
    LOADS lh, 2, 0xffff8001
    LOADS lhu, 2, 0x8001
    LOADS lw, 0, 0x80017f80
    LOADS lw, 4, 0x04030201
    /* misaligned */
    LOADS lh, 1, 0x017f
    LOADS lhu, 3, 0x0180
    LOADS lw, 1, 0x0180017f
    LOADS lw, 2, 0x02018001
    LOADS lw, 3, 0x03020180
    li a2, 0xa1b2c3d4
    sw a2, 9(s0)
    LOADS lw, 9, 0xa1b2c3d4
    LOADS lbu, 8, 5
    LOADS lbu, 9, 0xd4
    LOADS lbu, 12, 0xa1
    LOADS lbu, 13, 10
    sh a2, 7(s0)
    LOADS lhu, 7, 0xc3d4
    LOADS lbu, 6, 3
    sb a2, 0(s0)
    LOADS lw, 0, 0x80017fd4
    sb zero, 3(s0)
    LOADS lw, 0, 0x00017fd4
    /* a load into x0 reads and leaves x0 alone */
    lw zero, 0(s0)
    EXPECT zero, 0
    /* across the end of a page, and as a base that is the result */
    la s1, page_end
    li a2, 0x11223344
    sw a2, -2(s1)
    lhu a1, 0(s1)
    EXPECT a1, 0x1122
    mv a1, s1
    lw a1, -2(a1)
    EXPECT a1, 0x11223344
    /* device */
    li s1, DEVICE
    li a2, 0xcafef00d
    sw a2, 0x24(s1)
    lw a1, 0x24(s1)
    EXPECT a1, 0xcafef00d
    lbu a1, 0x24(s1)
    EXPECT a1, 0x0d
    lh a1, 0x24(s1)
    EXPECT a1, 0xfffff00d
    /* no such address: 5 and 7 */
    li a1, 99
    TRAPS_TO 1f
2:  lw a1, 0x80(s1)
    j fail
1:  EXPECT_TRAP 5, 2b, 0x10000080
    EXPECT a1, 99
    TRAPS_TO 1f
2:  sb a2, 0x81(s1)
    j fail
1:  EXPECT_TRAP 7, 2b, 0x10000081
    li s2, 0
    TRAPS_TO 1f
2:  lbu a1, 0(s2)
    j fail
1:  EXPECT_TRAP 5, 2b, 0
    /* misaligned outside RAM: 4 and 6; also half in, half out */
    TRAPS_TO 1f
2:  lh a1, 0x25(s1)
    j fail
1:  EXPECT_TRAP 4, 2b, 0x10000025
    TRAPS_TO 1f
2:  sw a1, 0x26(s1)
    j fail
1:  EXPECT_TRAP 6, 2b, 0x10000026
    li s2, 0x80100000
    TRAPS_TO 1f
2:  lw a1, -2(s2)
    j fail
1:  EXPECT_TRAP 4, 2b, 0x800ffffe
    li a2, 0x5a
    sb a2, -1(s2)
    lbu a1, -1(s2)
    EXPECT a1, 0x5a
    lhu a1, -2(s2)
    EXPECT a1, 0x5a00
    END
    .data
    .align 4
data:
    .byte 0x80, 0x7f, 0x01, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    .align 12
    .skip 4096
page_end:
    .skip 64
