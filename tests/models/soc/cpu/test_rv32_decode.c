/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of each format, cheaper equivalents, and words that are no instruction. */
#include "rv32_case.h"

#include "rv32_internal.h"

#define PC UINT32_C(0x80001000)
#define NEXT (PC + 4)

struct decoded {
    uint32_t word;
    enum rv32_op_code code;
    uint8_t rd, rs1, rs2;
    uint32_t imm, target;
};

static void expect(const struct machine *m, const struct decoded *cases, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        struct rv32_op op;
        uint32_t target = 0;
        const enum rv32_op_code code = rv32_decode(m->core, cases[i].word, cases[i].word, PC, 4, &op, &target);
        if (code != cases[i].code || op.rd != cases[i].rd || op.rs1 != cases[i].rs1 || op.rs2 != cases[i].rs2 ||
            op.imm != cases[i].imm || target != cases[i].target)
            fail_msg("0x%08x: operation %d, rd %u, rs1 %u, rs2 %u, imm 0x%x, target 0x%x", (unsigned)cases[i].word,
                     (int)code, op.rd, op.rs1, op.rs2, (unsigned)op.imm, (unsigned)target);
    }
}

static void test_operands(void **state)
{
    static const struct decoded cases[] = {
        {0x40f40433, RV32_OP_SUB, 8, 8, 15, 0, NEXT},               /* sub s0, s0, a5 */
        {0xfff2c293, RV32_OP_XORI, 5, 5, 31, UINT32_MAX, NEXT},     /* xori t0, t0, -1 */
        {0x40145413, RV32_OP_SRAI, 8, 8, 1, 1, NEXT},               /* srai s0, s0, 1 */
        {0x80042503, RV32_OP_LW, 10, 8, 0, 0xfffff800, NEXT},       /* lw a0, -2048(s0) */
        {0x00042003, RV32_OP_LW, RV32_DISCARD, 8, 0, 0, NEXT},      /* lw x0, 0(s0): it may fault */
        {0x7f512fa3, RV32_OP_SW, 31, 2, 21, 2047, NEXT},            /* sw s5, 2047(sp) */
        {0x0000feb7, RV32_OP_LI, 29, 1, 0, 0xf000, NEXT},           /* lui t4, 15 */
        {0xfffff297, RV32_OP_LI, 5, 31, 31, PC - 0x1000, NEXT},     /* auipc t0, -1 */
        {0x801ff06f, RV32_OP_J, RV32_DISCARD, 31, 1, 0, PC - 2048}, /* j .-2048 */
        {0x7fe000ef, RV32_OP_JAL, 1, 0, 30, 0, PC + 2046},          /* jal .+2046 */
        {0x000000ef, RV32_OP_JAL, 1, 0, 0, 0, PC},                  /* jal . */
        {0x0000006f, RV32_OP_SPIN, RV32_DISCARD, 0, 0, 0, PC},      /* j . */
        {0xfe9448e3, RV32_OP_BLT, 17, 8, 9, 0, PC - 16},            /* blt s0, s1, .-16 */
        {0x0e040f63, RV32_OP_BEQZ, 30, 8, 0, 0, PC + 254},          /* beq s0, x0, .+254 */
        {0x0a051563, RV32_OP_BNEZ, 10, 10, 0, 0, PC + 170},         /* bne a0, x0, .+170 */
        {0x00090e93, RV32_OP_MV, 29, 18, 0, 0, NEXT},               /* addi t4, s2, 0 */
        {0x00500513, RV32_OP_LI, 10, 0, 5, 5, NEXT},                /* addi a0, x0, 5 */
        {0x00150013, RV32_OP_NOP, RV32_DISCARD, 10, 1, 1, NEXT},    /* addi x0, a0, 1 */
        {0x02b50033, RV32_OP_NOP, RV32_DISCARD, 10, 11, 0, NEXT},   /* mul x0, a0, a1 */
        {0x00b6252f, RV32_OP_AMO, 10, 12, 11, 0x00b6252f, NEXT},    /* amoadd.w a0, a1, (a2) */
    };
    struct machine *m = rv32_begin(NULL, 0);
    (void)state;
    expect(m, cases, COUNT(cases));
    rv32_end(m);
}

static void test_illegal(void **state)
{
    static const uint32_t words[] = {
        0x00000000, UINT32_MAX, 0x00003003, /* ld */
        0x00006003,                         /* lwu */
        0x00003023,                         /* sd */
        0x02051513,                         /* slli by 32 */
        0x40051513,                         /* slli with funct7 of srai */
        0x20b50533,                         /* funct7 16 */
        0x40b57533,                         /* and with funct7 of sub */
        0x00002063,                         /* branch with funct3 2 */
        0x00001067,                         /* jalr with funct3 1 */
        0x0000300f,                         /* misc-mem with funct3 3 */
        0x00b6352f,                         /* amoadd.d */
        0x10b6252f,                         /* lr.w with rs2 */
        0x00000053,                         /* floating point */
        0x0000001b,                         /* addiw */
    };
    struct machine *m = rv32_begin(NULL, 0);
    (void)state;
    for (size_t i = 0; i < COUNT(words); ++i) {
        struct rv32_op op;
        uint32_t target;
        if (rv32_decode(m->core, words[i], words[i], PC, 4, &op, &target) != RV32_OP_ILLEGAL)
            fail_msg("0x%08x", (unsigned)words[i]);
        assert_int_equal(op.imm, words[i]);
    }
    rv32_end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_illegal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
