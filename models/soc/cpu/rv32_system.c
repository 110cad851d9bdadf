/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SYSTEM instructions and the other operations that end a block without a jump: Zicsr (Unprivileged ISA 20191213,
 * chapter 9), ECALL, EBREAK and semihosting, MRET, WFI (Privileged ISA 1.12, section 3.3), FENCE.I, illegal ones.
 */
#include "rv32_internal.h"

/* RISC-V Semihosting 0.4: the breakpoint stands between these two, uncompressed. */
#define SEMIHOST_BEFORE 0x01f01013u /* slli x0, x0, 0x1f */
#define SEMIHOST_EBREAK 0x00100073u
#define SEMIHOST_AFTER 0x40705013u /* srai x0, x0, 7 */

enum { REG_A0 = 10, REG_A1 = 11 };

static int is_word(struct cnnvp_rv32 *core, uint32_t address, uint32_t word)
{
    uint16_t low, high;
    return rv32_fetch_half(core, address, &low) && rv32_fetch_half(core, address + 2u, &high) &&
           ((uint32_t)high << 16 | low) == word;
}

static int is_semihosting(struct cnnvp_rv32 *core)
{
    const uint32_t pc = core->pc;
    return core->config.bus.semihost != NULL && is_word(core, pc, SEMIHOST_EBREAK) &&
           is_word(core, pc + 4u, SEMIHOST_AFTER) && is_word(core, pc - 4u, SEMIHOST_BEFORE);
}

static enum rv32_after breakpoint(struct cnnvp_rv32 *core)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    uint32_t result = 0;
    if (!is_semihosting(core) || bus->semihost(bus->context, core->x[REG_A0], core->x[REG_A1], &result) != 0)
        return rv32_raise(core, CNNVP_RV32_BREAKPOINT, core->pc);
    core->x[REG_A0] = result;
    return RV32_NEXT;
}

/* csrrw does not read if rd is x0, csrrs and csrrc do not write if the source is x0 or 0. */
static enum rv32_after access_csr(struct cnnvp_rv32 *core, uint32_t insn)
{
    unsigned number = insn >> 20;
    unsigned rd = insn >> 7 & 31u;
    unsigned source = insn >> 15 & 31u;
    uint32_t operand = insn & 0x4000u ? source : core->x[source];
    uint32_t kind = insn >> 12 & 3u; /* 1 write, 2 set, 3 clear */
    uint32_t old = 0;
    if ((kind != 1 || rd != 0) && cnnvp_rv32_csr(core, number, &old) != 0)
        return rv32_raise(core, CNNVP_RV32_ILLEGAL, insn);
    if (kind == 1 || source != 0) {
        uint32_t value = kind == 1 ? operand : kind == 2 ? old | operand : old & ~operand;
        if (cnnvp_rv32_set_csr(core, number, value) != 0)
            return rv32_raise(core, CNNVP_RV32_ILLEGAL, insn);
    }
    if (rd != 0)
        core->x[rd] = old;
    return RV32_NEXT;
}

static void mret(struct cnnvp_rv32 *core, uint32_t *next_pc)
{
    uint32_t mstatus = core->csr[RV32_CSR_mstatus] & ~RV32_MSTATUS_MIE;
    if (mstatus & RV32_MSTATUS_MPIE)
        mstatus |= RV32_MSTATUS_MIE;
    core->csr[RV32_CSR_mstatus] = mstatus | RV32_MSTATUS_MPIE;
    *next_pc = core->csr[RV32_CSR_mepc];
    if (core->follow_calls)
        core->config.bus.call(core->config.bus.context, CNNVP_RV32_LEAVE, core->pc, *next_pc, 0);
}

static enum rv32_after execute(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t insn, uint32_t *next_pc)
{
    switch (code) {
    case RV32_OP_ECALL:
        return rv32_raise(core, CNNVP_RV32_ECALL_M, 0);
    case RV32_OP_EBREAK:
        return breakpoint(core);
    case RV32_OP_MRET:
        mret(core, next_pc);
        return RV32_NEXT;
    case RV32_OP_WFI:
        core->waiting = 1;
        core->profile.wfi = core->pc;
        return RV32_NEXT;
    case RV32_OP_FENCE_I:
        rv32_flush(core);
        if (core->config.bus.fence != NULL)
            core->config.bus.fence(core->config.bus.context);
        return RV32_NEXT;
    case RV32_OP_CSR:
        return access_csr(core, insn);
    case RV32_OP_FETCH_FAULT:
        return rv32_raise(core, CNNVP_RV32_FETCH_FAULT, insn);
    default:
        return rv32_raise(core, CNNVP_RV32_ILLEGAL, insn);
    }
}

void rv32_system(struct cnnvp_rv32 *core, enum rv32_op_code code, uint32_t insn, uint32_t next_pc)
{
    core->in_progress = 1;
    enum rv32_after result = execute(core, code, insn, &next_pc);
    core->in_progress = 0;
    ++core->executed;
    if (result == RV32_TRAP)
        rv32_exception(core);
    else
        core->pc = next_pc;
}
