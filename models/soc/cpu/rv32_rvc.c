/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expansion of compressed instructions (RV32C without floating point; Unprivileged ISA 20191213, chapter 16) into
 * their 32-bit equivalents, which is how the ISA defines them. HINTs expand into instructions without effect.
 */
#include "rv32_internal.h"

enum { RVC_RA = 1, RVC_SP = 2 };

/* count bits of value from bit `from`, moved to bit `to` */
static uint32_t bits(uint32_t value, unsigned from, unsigned count, unsigned to)
{
    return (value >> from & ((1u << count) - 1u)) << to;
}

static uint32_t sign_extend(uint32_t value, unsigned width)
{
    uint32_t sign = 1u << (width - 1u);
    return (value ^ sign) - sign;
}

static uint32_t i_type(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t r_type(uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33u;
}

static uint32_t sw(uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return bits(imm, 5, 7, 25) | rs2 << 20 | rs1 << 15 | 2u << 12 | bits(imm, 0, 5, 7) | 0x23u;
}

static uint32_t jal(uint32_t rd, uint32_t imm)
{
    return bits(imm, 20, 1, 31) | bits(imm, 1, 10, 21) | bits(imm, 11, 1, 20) | bits(imm, 12, 8, 12) | rd << 7 | 0x6fu;
}

static uint32_t branch(uint32_t funct3, uint32_t rs1, uint32_t imm)
{
    return bits(imm, 12, 1, 31) | bits(imm, 5, 6, 25) | rs1 << 15 | funct3 << 12 | bits(imm, 1, 4, 8) |
           bits(imm, 11, 1, 7) | 0x63u;
}

static uint32_t quadrant0(uint32_t h)
{
    uint32_t rd = 8u + bits(h, 2, 3, 0);
    uint32_t rs1 = 8u + bits(h, 7, 3, 0);
    uint32_t word_offset = bits(h, 10, 3, 3) | bits(h, 6, 1, 2) | bits(h, 5, 1, 6);
    switch (h >> 13) {
    case 0: { /* c.addi4spn */
        uint32_t imm = bits(h, 11, 2, 4) | bits(h, 7, 4, 6) | bits(h, 6, 1, 2) | bits(h, 5, 1, 3);
        return imm == 0 ? 0 : i_type(0x13, 0, rd, RVC_SP, imm);
    }
    case 2:
        return i_type(0x03, 2, rd, rs1, word_offset); /* c.lw */
    case 6:
        return sw(rs1, rd, word_offset); /* c.sw */
    default:
        return 0;
    }
}

/* c.srli, c.srai, c.andi and the register-register group */
static uint32_t quadrant1_alu(uint32_t h, uint32_t imm)
{
    static const uint8_t funct3[4] = {0, 4, 6, 7}; /* sub, xor, or, and */
    uint32_t rd = 8u + bits(h, 7, 3, 0);
    uint32_t group = bits(h, 10, 2, 0);
    uint32_t which = bits(h, 5, 2, 0);
    if (group == 2)
        return i_type(0x13, 7, rd, rd, imm);
    if (h & 0x1000u)
        return 0; /* shifts of 32 and more; RV64's word operations */
    if (group < 2)
        return i_type(0x13, 5, rd, rd, bits(h, 2, 5, 0) | group << 10);
    return r_type(which == 0 ? 0x20u : 0u, funct3[which], rd, rd, 8u + bits(h, 2, 3, 0));
}

static uint32_t quadrant1(uint32_t h)
{
    uint32_t rd = bits(h, 7, 5, 0);
    uint32_t imm = sign_extend(bits(h, 12, 1, 5) | bits(h, 2, 5, 0), 6);
    uint32_t jump = sign_extend(bits(h, 12, 1, 11) | bits(h, 11, 1, 4) | bits(h, 9, 2, 8) | bits(h, 8, 1, 10) |
                                    bits(h, 7, 1, 6) | bits(h, 6, 1, 7) | bits(h, 3, 3, 1) | bits(h, 2, 1, 5),
                                12);
    uint32_t near =
        sign_extend(bits(h, 12, 1, 8) | bits(h, 10, 2, 3) | bits(h, 5, 2, 6) | bits(h, 3, 2, 1) | bits(h, 2, 1, 5), 9);
    uint32_t stack =
        sign_extend(bits(h, 12, 1, 9) | bits(h, 6, 1, 4) | bits(h, 5, 1, 6) | bits(h, 3, 2, 7) | bits(h, 2, 1, 5), 10);
    switch (h >> 13) {
    case 0:
        return i_type(0x13, 0, rd, rd, imm); /* c.addi */
    case 1:
        return jal(RVC_RA, jump); /* c.jal */
    case 2:
        return i_type(0x13, 0, rd, 0, imm); /* c.li */
    case 3:
        if (imm == 0)
            return 0;
        return rd == RVC_SP ? i_type(0x13, 0, RVC_SP, RVC_SP, stack) : imm << 12 | rd << 7 | 0x37u; /* c.lui */
    case 4:
        return quadrant1_alu(h, imm);
    case 5:
        return jal(0, jump); /* c.j */
    case 6:
        return branch(0, 8u + bits(h, 7, 3, 0), near); /* c.beqz */
    default:
        return branch(1, 8u + bits(h, 7, 3, 0), near); /* c.bnez */
    }
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static uint32_t quadrant2_jump(uint32_t h)
{
    uint32_t rd = bits(h, 7, 5, 0);
    uint32_t rs2 = bits(h, 2, 5, 0);
    if (h & 0x1000u) {
        if (rs2 != 0)
            return r_type(0, 0, rd, rd, rs2);
        return rd == 0 ? 0x00100073u : i_type(0x67, 0, RVC_RA, rd, 0);
    }
    if (rs2 != 0)
        return i_type(0x13, 0, rd, rs2, 0); /* c.mv, as addi */
    return rd == 0 ? 0 : i_type(0x67, 0, 0, rd, 0);
}

static uint32_t quadrant2(uint32_t h)
{
    uint32_t rd = bits(h, 7, 5, 0);
    switch (h >> 13) {
    case 0: /* c.slli */
        return h & 0x1000u ? 0 : i_type(0x13, 1, rd, rd, bits(h, 2, 5, 0));
    case 2: /* c.lwsp */
        if (rd == 0)
            return 0;
        return i_type(0x03, 2, rd, RVC_SP, bits(h, 12, 1, 5) | bits(h, 4, 3, 2) | bits(h, 2, 2, 6));
    case 4:
        return quadrant2_jump(h);
    case 6: /* c.swsp */
        return sw(RVC_SP, bits(h, 2, 5, 0), bits(h, 9, 4, 2) | bits(h, 7, 2, 6));
    default:
        return 0;
    }
}

uint32_t rv32_expand(uint16_t half)
{
    switch (half & 3u) {
    case 0:
        return quadrant0(half);
    case 1:
        return quadrant1(half);
    default:
        return quadrant2(half);
    }
}
