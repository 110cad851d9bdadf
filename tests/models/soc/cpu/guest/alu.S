/* SPDX-License-Identifier: Apache-2.0 */
/* RV32I arithmetic and M: results at the edges, same register as source and result, results for x0. */
#include "check.h"
    BEGIN
    .option norvc
    RR add, 0, 0, 0
    RR add, 0xffffffff, 1, 0
    RR add, 0x7fffffff, 1, 0x80000000
    RR sub, 0, 1, 0xffffffff
    RR sub, 0x80000000, 1, 0x7fffffff
    RR sll, 1, 31, 0x80000000
    RR sll, 0x80000001, 33, 2
    RR slt, 0x80000000, 0x7fffffff, 1
    RR slt, 1, 0xffffffff, 0
    RR slt, 5, 5, 0
    RR sltu, 0x80000000, 0x7fffffff, 0
    RR sltu, 1, 0xffffffff, 1
    RR sltu, 5, 5, 0
    RR xor, 0xff00ff00, 0x0f0f0f0f, 0xf00ff00f
    RR srl, 0x80000000, 31, 1
    RR srl, 0x80000000, 0x20, 0x80000000
    RR sra, 0x80000000, 31, 0xffffffff
    RR sra, 0x7fffffff, 30, 1
    RR sra, 0x87654321, 0xffffffe4, 0xf8765432
    RR or, 0xff00ff00, 0x0f0f0f0f, 0xff0fff0f
    RR and, 0xff00ff00, 0x0f0f0f0f, 0x0f000f00
    RI addi, 0x7fffffff, 2047, 0x800007fe
    RI addi, 0, -2048, 0xfffff800
    RI addi, 77, 0, 77
    RI slti, 0xffffffff, 0, 1
    RI slti, 0, -2048, 0
    RI sltiu, 0, -1, 1
    RI sltiu, 0xffffffff, -1, 0
    RI xori, 0x00ff0f00, -241, 0xff00f00f
    RI ori, 0x00ff0f00, 0x0f0, 0x00ff0ff0
    RI andi, 0xff00ff00, -256, 0xff00ff00
    RI slli, 1, 31, 0x80000000
    RI slli, 0x12345678, 0, 0x12345678
    RI srli, 0x80000000, 31, 1
    RI srai, 0x80000000, 31, 0xffffffff
    RI srai, 0x7fffffff, 31, 0
    lui a1, 0xfffff
    EXPECT a1, 0xfffff000
    lui zero, 0x12345
    EXPECT zero, 0
1:  auipc a1, 0x80000
    la a2, 1b
    sub a1, a1, a2
    EXPECT a1, 0x80000000
    RR mul, 0x7fffffff, 0x7fffffff, 1
    RR mul, 0x80000000, 0xffffffff, 0x80000000
    RR mul, 0x12345678, 0x9abcdef0, 0x242d2080
    RR mulh, 0x80000000, 0x80000000, 0x40000000
    RR mulh, 0xffffffff, 0xffffffff, 0
    RR mulh, 0x80000000, 1, 0xffffffff
    RR mulhu, 0xffffffff, 0xffffffff, 0xfffffffe
    RR mulhu, 0x80000000, 2, 1
    RR mulhsu, 0xffffffff, 0xffffffff, 0xffffffff
    RR mulhsu, 0x80000000, 0xffffffff, 0x80000000
    RR mulhsu, 1, 0x80000000, 0
    RR div, 20, 6, 3
    RR div, -20, 6, -3
    RR div, 20, -6, -3
    RR div, -20, -6, 3
    RR div, 0x80000000, 0xffffffff, 0x80000000
    RR div, 0x80000000, 1, 0x80000000
    RR div, 7, 0, -1
    RR divu, 0xfffffff0, 16, 0x0fffffff
    RR divu, 0x80000000, 0xffffffff, 0
    RR divu, 7, 0, 0xffffffff
    RR rem, 20, 6, 2
    RR rem, -20, 6, -2
    RR rem, 20, -6, 2
    RR rem, -20, -6, -2
    RR rem, 0x80000000, 0xffffffff, 0
    RR rem, 7, 0, 7
    RR remu, 0xfffffff5, 16, 5
    RR remu, 7, 0, 7
    /* one operation with the same register everywhere */
    li a1, 0x1234
    sub a1, a1, a1
    EXPECT a1, 0
    END
