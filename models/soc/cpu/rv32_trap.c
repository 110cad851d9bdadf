/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions and interrupts (RISC-V Privileged ISA 1.12, sections 3.1.6 to 3.1.15).
 */
#include "rv32_internal.h"

#define INTERRUPT_BIT 0x80000000u
enum { FIRST_OF_HANDLER = 4, NESTED_MAX = 1000 };

static void enter(struct cnnvp_rv32 *core, uint32_t cause, uint32_t tval)
{
    uint32_t mtvec = core->csr[RV32_CSR_mtvec];
    uint32_t mstatus = core->csr[RV32_CSR_mstatus];
    uint32_t vector = mtvec & ~3u;
    if (cause & INTERRUPT_BIT && mtvec & 1u)
        vector += 4u * (cause & ~INTERRUPT_BIT);
    core->trap_log[core->traps++ % CNNVP_RV32_TRAP_LOG] =
        (struct cnnvp_rv32_trap){rv32_slots(core), core->pc, cause, tval, vector};
    core->csr[RV32_CSR_mepc] = core->pc;
    core->csr[RV32_CSR_mcause] = cause;
    core->csr[RV32_CSR_mtval] = tval;
    mstatus &= ~(RV32_MSTATUS_MIE | RV32_MSTATUS_MPIE);
    if (core->csr[RV32_CSR_mstatus] & RV32_MSTATUS_MIE)
        mstatus |= RV32_MSTATUS_MPIE;
    core->csr[RV32_CSR_mstatus] = mstatus;
    if (core->follow_calls)
        core->config.bus.call(core->config.bus.context, CNNVP_RV32_ENTER, core->pc, vector, core->pc);
    core->pc = vector;
}

/*
 * 1 if the guest traps without end. That is so if the handler's first instruction traps for a reason in the instruction
 * itself, right after another exception entered the handler. A data access is no such reason, because a device may
 * answer differently the next time. But a handler that traps in its first instructions 1000 times in a row has no
 * stack.
 */
static int is_endless(const struct cnnvp_rv32 *core, const struct cnnvp_rv32_trap *last, uint64_t since)
{
    const uint32_t cause = core->trap_cause;
    const int by_itself = cause <= CNNVP_RV32_BREAKPOINT || cause == CNNVP_RV32_ECALL_M;
    return core->nested == NESTED_MAX ||
           (by_itself && core->pc == last->vector && since == 1u && core->pc == (core->csr[RV32_CSR_mtvec] & ~3u));
}

void rv32_exception(struct cnnvp_rv32 *core)
{
    const struct cnnvp_rv32_trap *last = &core->trap_log[(core->traps - 1u) % CNNVP_RV32_TRAP_LOG];
    const uint64_t since = core->traps > 0 ? rv32_slots(core) - last->slot : UINT64_MAX;
    const int among_first = since <= FIRST_OF_HANDLER && core->pc - last->vector < 4u * FIRST_OF_HANDLER;
    core->nested = among_first ? core->nested + 1u : 0;
    const int endless = is_endless(core, last, since);
    ++core->stats.exceptions;
    if (rv32_profiled(core))
        rv32_profile_exception(core);
    if (!core->instret.inhibited)
        --core->instret.bias; /* its slot does not count as retired */
    enter(core, core->trap_cause, core->trap_tval);
    if (endless) {
        core->double_fault = 1;
        core->attention = 1;
    }
}

void rv32_interrupt(struct cnnvp_rv32 *core)
{
    uint32_t pending = rv32_pending(core);
    uint32_t line;
    if (pending == 0 || !(core->csr[RV32_CSR_mstatus] & RV32_MSTATUS_MIE))
        return;
    if (pending & 1u << CNNVP_RV32_MEIP)
        line = CNNVP_RV32_MEIP;
    else
        line = pending & 1u << CNNVP_RV32_MSIP ? CNNVP_RV32_MSIP : CNNVP_RV32_MTIP;
    ++core->stats.interrupts;
    enter(core, INTERRUPT_BIT | line, 0);
}

size_t cnnvp_rv32_trap_log(const struct cnnvp_rv32 *core, struct cnnvp_rv32_trap *traps)
{
    uint64_t count = core->traps < CNNVP_RV32_TRAP_LOG ? core->traps : CNNVP_RV32_TRAP_LOG;
    for (uint64_t i = 0; i < count; ++i)
        traps[i] = core->trap_log[(core->traps - count + i) % CNNVP_RV32_TRAP_LOG];
    return (size_t)count;
}
