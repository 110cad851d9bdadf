/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and expressions. */
#include "asm_case.h"

static void test_symbols_and_expressions(void **state)
{
    (void)state;
    const uint64_t words[] = {
        UINT64_C(0x4000100000000000), UINT64_C(0x4000120000000320), UINT64_C(0x400021000000000d),
        UINT64_C(0x8000100000000000), UINT64_C(0xffffffffffffffff), UINT64_C(0x400000000000000e),
        UINT64_C(0x40000000fffffffe), UINT64_C(0x4000000000000007), UINT64_C(0x4000000000000005),
        UINT64_C(0x4000000000000001), UINT64_C(0x8000000000000000), UINT64_C(0x40000000000000f0),
        UINT64_C(0x400000000000000f),
    };
    asm_gives(
        ".base cv, r16, conv\n"
        ".equ SIDE, 20\n"
        ".equ AREA, SIDE * (SIDE + 20)\n"
        "set cv.in_addr, 0\n"
        "set cv.in_channel_stride, AREA\n"
        ".equ rate, 30\n"
        ".base tr, rate, request\n"
        "set tr.rows, 0xd\n"
        "conv cv\n"
        ".word 0xffffffffffffffff\n"
        "set r0, 2 + 3 * 4\n"
        "set r0, -2\n"
        "set r0, 1 | 2 << 1 | (0b11 & ~1) ^ 0\n"
        "set r0, -7 / 2 + 8\n"
        "set r0, 7 % 4 - 2 // % * and / in it\n"
        ".word 1 << 63\n"
        "set r0, 0xfffffffffffffff0 & 0xff\n"
        "set r0, 0xf000000000000000 >> 60\n",
        words, COUNT(words));
}

static void test_messages(void **state)
{
    (void)state;
    asm_fails("set r1, 18446744073709551616", "t.s:1:9: the number does not fit 64 bits");
    asm_fails("set r1, 12a", "t.s:1:11: 'a' is not a digit");
    asm_fails("set r1, 0x", "t.s:1:11: digits are missing");
    asm_fails("set r1, X", "t.s:1:9: 'X' is not defined");
    asm_fails("set r1, (1", "t.s:1:11: ')' is missing");
    asm_fails("set r1, 1 / 0", "t.s:1:11: division by 0");
    asm_fails(".word 0xffffffffffffffff / 2", "t.s:1:26: '/' needs numbers that fit 63 bits and a sign");
    asm_fails(".word 1 % 0x8000000000000000", "t.s:1:9: '%' needs numbers that fit 63 bits and a sign");
    asm_fails("set r1, 1 << 64", "t.s:1:11: a shift by 64");
    asm_fails("a: set r1, a", "t.s:1:12: a number is needed here");
    asm_fails("a: set r1, a * 2", "t.s:1:14: '*' needs numbers");
    asm_fails("a: nop\nb:\na: nop", "t.s:3:1: 'a' is defined already, in line 1");
    asm_fails("r7: nop", "t.s:1:1: 'r7' is the name of a register");
    asm_fails("i0: nop", "t.s:1:1: 'i0' is the name of a register or a buffer half");
    asm_fails("set r1, A\n.equ A, 1", "t.s:1:9: 'A' is not defined");
    char nested[512] = "set r1, ";
    for (size_t i = 0; i < 100; ++i)
        strcat(nested, "(");
    asm_fails(nested, "t.s:1:73: the expression is nested more than 64 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_and_expressions),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
