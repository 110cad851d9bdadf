/* SPDX-License-Identifier: Apache-2.0 */
/* The semihosting sequence: a call, a call that the host refuses, and sequences that are none. */
#include "check.h"
    BEGIN
    .option norvc
    li a0, 0x21
    li a1, 0x1234
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    EXPECT a0, 0x22
    li a0, 0xff
    TRAPS_TO 1f
    slli x0, x0, 0x1f
2:  ebreak
    srai x0, x0, 7
    j fail
1:  li s11, 0
    EXPECT s8, 3
    EXPECT a0, 0xff
    TRAPS_TO 1f
    slli x0, x0, 0x1e
    ebreak
    srai x0, x0, 7
    j fail
1:  li s11, 0
    EXPECT s8, 3
    END
