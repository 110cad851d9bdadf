/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding of 32-bit instructions by the table rv32_insn.def (RISC-V Unprivileged ISA 20191213, section 2.2).
 * Forms that have a cheaper operation (no first operand, no result, a jump to itself) are replaced here.
 */
#include "rv32_internal.h"

enum format {
    FORMAT_NONE,
    FORMAT_RAW,
    FORMAT_R,
    FORMAT_I,
    FORMAT_SHIFT,
    FORMAT_S,
    FORMAT_B,
    FORMAT_U,
    FORMAT_UPC,
    FORMAT_J
};

struct insn {
    uint32_t mask;
    uint32_t match;
    uint8_t code;
    uint8_t format;
};

static const struct insn insns[] = {
#define INSN(mask, match, operation, operands) {mask, match, RV32_OP_##operation, FORMAT_##operands},
#include "rv32_insn.def"
#undef INSN
};

enum { INSNS = sizeof insns / sizeof insns[0] };

void rv32_decode_init(struct cnnvp_rv32 *core)
{
    unsigned row = 0;
    for (unsigned opcode = 0; opcode < 32; ++opcode) {
        core->insn_first[opcode] = (uint8_t)row;
        while (row < INSNS && (insns[row].match >> 2 & 31u) == opcode)
            ++row;
    }
    core->insn_first[32] = (uint8_t)row;
}

static uint32_t imm_i(uint32_t insn)
{
    return (uint32_t)((int32_t)insn >> 20);
}

static uint32_t imm_s(uint32_t insn)
{
    return ((uint32_t)((int32_t)insn >> 20) & ~31u) | (insn >> 7 & 31u);
}

static uint32_t imm_b(uint32_t insn)
{
    return (imm_s(insn) & ~0x801u) | (insn << 4 & 0x800u);
}

static uint32_t imm_j(uint32_t insn)
{
    return ((uint32_t)((int32_t)insn >> 11) & 0xfff00000u) | (insn & 0x000ff000u) | (insn >> 9 & 0x800u) |
           (insn >> 20 & 0x7feu);
}

static const struct insn *look_up(const struct cnnvp_rv32 *core, uint32_t insn)
{
    uint32_t opcode = insn >> 2 & 31u;
    for (unsigned row = core->insn_first[opcode]; row < core->insn_first[opcode + 1u]; ++row)
        if ((insn & insns[row].mask) == insns[row].match)
            return &insns[row];
    return NULL;
}

/* x1 and x5 hold return addresses (Unprivileged ISA, table 2.1). A jump that both links and returns is a call
 * (coroutines). */
static enum rv32_op_code follow(enum rv32_op_code code, const struct rv32_op *op)
{
    int links = op->rd == 1 || op->rd == 5;
    if (code == RV32_OP_JAL && links)
        return RV32_OP_CALL;
    if (code == RV32_OP_JALR && links)
        return RV32_OP_CALLR;
    return code == RV32_OP_JALR && (op->rs1 == 1 || op->rs1 == 5) ? RV32_OP_RETURN : code;
}

/* Replaces operations that are observed: calls and returns if calls are followed, jumps while profiling. */
static enum rv32_op_code watched(const struct cnnvp_rv32 *core, enum rv32_op_code code, const struct rv32_op *op)
{
    if (core->follow_calls)
        code = follow(code, op);
    return code == RV32_OP_JALR && rv32_profiled(core) ? RV32_OP_JUMPR : code;
}

/* Cheaper equivalents. An operation without result is a NOP, except loads and jumps. */
static enum rv32_op_code simplify(enum rv32_op_code code, uint32_t pc, const struct rv32_op *op, uint32_t target)
{
    switch (code) {
    case RV32_OP_JAL:
        if (target == pc && op->rd == RV32_DISCARD)
            return RV32_OP_SPIN;
        return op->rd == RV32_DISCARD ? RV32_OP_J : RV32_OP_JAL;
    case RV32_OP_BEQ:
        return op->rs2 == 0 ? RV32_OP_BEQZ : code;
    case RV32_OP_BNE:
        return op->rs2 == 0 ? RV32_OP_BNEZ : code;
    case RV32_OP_ADDI:
        if (op->rd == RV32_DISCARD)
            return RV32_OP_NOP;
        return op->rs1 == 0 ? RV32_OP_LI : op->imm == 0 ? RV32_OP_MV : code;
    default:
        return code < RV32_OP_LB && op->rd == RV32_DISCARD ? RV32_OP_NOP : code;
    }
}

enum rv32_op_code rv32_decode(const struct cnnvp_rv32 *core, uint32_t insn, uint32_t raw, uint32_t pc, unsigned length,
                              struct rv32_op *op, uint32_t *target)
{
    const struct insn *found = (insn & 3u) == 3u ? look_up(core, insn) : NULL;
    uint32_t rd = insn >> 7 & 31u;
    *op = (struct rv32_op){0};
    op->rd = (uint8_t)(rd == 0 ? RV32_DISCARD : rd);
    op->rs1 = (uint8_t)(insn >> 15 & 31u);
    op->rs2 = (uint8_t)(insn >> 20 & 31u);
    *target = pc + length;
    if (found == NULL) {
        op->imm = raw;
        return RV32_OP_ILLEGAL;
    }
    switch ((enum format)found->format) {
    case FORMAT_NONE:
    case FORMAT_R:
        break;
    case FORMAT_RAW:
        op->imm = insn;
        break;
    case FORMAT_I:
        op->imm = imm_i(insn);
        break;
    case FORMAT_SHIFT:
        op->imm = op->rs2;
        break;
    case FORMAT_S:
        op->imm = imm_s(insn);
        break;
    case FORMAT_B:
        *target = pc + imm_b(insn);
        break;
    case FORMAT_U:
        op->imm = insn & 0xfffff000u;
        break;
    case FORMAT_UPC:
        op->imm = pc + (insn & 0xfffff000u);
        break;
    case FORMAT_J:
        *target = pc + imm_j(insn);
        break;
    }
    return watched(core, simplify((enum rv32_op_code)found->code, pc, op, *target), op);
}
