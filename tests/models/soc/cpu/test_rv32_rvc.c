/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed instructions against what GNU as makes of the same instructions in both lengths. */
#include "rv32_case.h"

#include "rv32_internal.h"

static void test_known(void **state)
{
    static const struct {
        uint16_t half;
        uint32_t word;
    } cases[] = {
        {0x0040, 0x00410413}, /* c.addi4spn s0, sp, 4 */
        {0x1ffc, 0x3fc10793}, /* c.addi4spn a5, sp, 1020 */
        {0x0028, 0x00810513}, /* c.addi4spn a0, sp, 8 */
        {0x5fe4, 0x07c7a483}, /* c.lw s1, 124(a5) */
        {0x4028, 0x04042503}, /* c.lw a0, 64(s0) */
        {0x4048, 0x00442503}, /* c.lw a0, 4(s0) */
        {0xc4b8, 0x04e4a423}, /* c.sw a4, 72(s1) */
        {0xd1c0, 0x0285a223}, /* c.sw s0, 36(a1) */
        {0x0001, 0x00000013}, /* c.nop */
        {0x1f81, 0xfe0f8f93}, /* c.addi t6, -32 */
        {0x00fd, 0x01f08093}, /* c.addi ra, 31 */
        {0x52fd, 0xfff00293}, /* c.li t0, -1 */
        {0x4545, 0x01100513}, /* c.li a0, 17 */
        {0x6e7d, 0x0001fe37}, /* c.lui t3, 31 */
        {0x7581, 0xfffe05b7}, /* c.lui a1, 0xfffe0 */
        {0x7101, 0xe0010113}, /* c.addi16sp sp, -512 */
        {0x617d, 0x1f010113}, /* c.addi16sp sp, 496 */
        {0x6141, 0x01010113}, /* c.addi16sp sp, 16 */
        {0x6109, 0x08010113}, /* c.addi16sp sp, 128 */
        {0x83fd, 0x01f7d793}, /* c.srli a5, 31 */
        {0x8405, 0x40145413}, /* c.srai s0, 1 */
        {0x9a01, 0xfe067613}, /* c.andi a2, -32 */
        {0x8a55, 0x01567613}, /* c.andi a2, 21 */
        {0x8c1d, 0x40f40433}, /* c.sub s0, a5 */
        {0x8ca9, 0x00a4c4b3}, /* c.xor s1, a0 */
        {0x8ed9, 0x00e6e6b3}, /* c.or a3, a4 */
        {0x8fe1, 0x0087f7b3}, /* c.and a5, s0 */
        {0x0dfe, 0x01fd9d93}, /* c.slli s11, 31 */
        {0x53fe, 0x0fc12383}, /* c.lwsp t2, 252(sp) */
        {0x4086, 0x04012083}, /* c.lwsp ra, 64(sp) */
        {0xdfd6, 0x0f512e23}, /* c.swsp s5, 252(sp) */
        {0xc202, 0x00012223}, /* c.swsp zero, 4(sp) */
        {0x8302, 0x00030067}, /* c.jr t1 */
        {0x9302, 0x000300e7}, /* c.jalr t1 */
        {0x8eca, 0x00090e93}, /* c.mv t4, s2 */
        {0x9eca, 0x012e8eb3}, /* c.add t4, s2 */
        {0x9002, 0x00100073}, /* c.ebreak */
        {0xaffd, 0x7fe0006f}, /* c.j .+2046 */
        {0xb001, 0x801ff06f}, /* c.j .-2048 */
        {0xa3a9, 0x54a0006f}, /* c.j .+1354 */
        {0x3b91, 0xd55ff0ef}, /* c.jal .-684 */
        {0x2801, 0x010000ef}, /* c.jal .+16 */
        {0xcc7d, 0x0e040f63}, /* c.beqz s0, .+254 */
        {0xd381, 0xf00780e3}, /* c.beqz a5, .-256 */
        {0xe54d, 0x0a051563}, /* c.bnez a0, .+170 */
        {0xf4cd, 0xfa0495e3}, /* c.bnez s1, .-86 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); ++i)
        if (rv32_expand(cases[i].half) != cases[i].word)
            fail_msg("0x%04x: 0x%08x instead of 0x%08x", cases[i].half, (unsigned)rv32_expand(cases[i].half),
                     (unsigned)cases[i].word);
}

/* Unprivileged ISA 20191213, tables 16.5 to 16.7: reserved, of RV64 and RV128, of floating point. */
static void test_illegal(void **state)
{
    static const uint16_t halves[] = {
        0x0000, /* all zeros */
        0x001c, /* c.addi4spn with 0 */
        0x2000, /* c.fld */
        0x6000, /* c.flw */
        0x8000, /* reserved */
        0xa000, /* c.fsd */
        0xe000, /* c.fsw */
        0x6101, /* c.addi16sp with 0 */
        0x6081, /* c.lui with 0 */
        0x9001, /* c.srli by 32 */
        0x9401, /* c.srai by 32 */
        0x9c01, /* c.subw */
        0x9c21, /* c.addw */
        0x1002, /* c.slli by 32 */
        0x4002, /* c.lwsp to x0 */
        0x8002, /* c.jr x0 */
        0x2002, /* c.fldsp */
        0x6002, /* c.flwsp */
        0xa002, /* c.fsdsp */
        0xe002, /* c.fswsp */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(halves); ++i)
        if (rv32_expand(halves[i]) != 0)
            fail_msg("0x%04x: 0x%08x", halves[i], (unsigned)rv32_expand(halves[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_illegal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
