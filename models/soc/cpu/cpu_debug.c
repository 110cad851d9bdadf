/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core under a debugger: it halts between two of its runs, when simulated time is that of the next instruction, and
 * in its sleep. Runs may end anywhere and sleep may be interrupted, so halting changes nothing.
 */
#include "cpu_internal.h"

enum { PC = 32, CSR_BASE = 65, CSR_COUNT = 4096 };

static const char *name(void *self, uint32_t number)
{
    static const char *const names[PC + 1] = {
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1",  "a0",  "a1", "a2", "a3", "a4", "a5", "a6",
        "a7",   "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc"};
    (void)self;
    if (number <= PC)
        return names[number];
    return number >= CSR_BASE && number < CSR_BASE + CSR_COUNT ? cnnvp_rv32_csr_name(number - CSR_BASE) : NULL;
}

static int get(void *self, uint32_t number, uint32_t *value)
{
    const struct cpu *cpu = self;
    if (name(self, number) == NULL)
        return -1;
    if (number > PC)
        return cnnvp_rv32_csr(cpu->core, number - CSR_BASE, value);
    *value = number == PC ? cnnvp_rv32_pc(cpu->core) : cnnvp_rv32_reg(cpu->core, number);
    return 0;
}

static int set(void *self, uint32_t number, uint32_t value)
{
    struct cpu *cpu = self;
    if (name(self, number) == NULL)
        return -1;
    if (number > PC)
        return cnnvp_rv32_set_csr(cpu->core, number - CSR_BASE, value);
    if (number == PC) {
        cnnvp_rv32_set_pc(cpu->core, value);
        cpu->moved = 1;
    } else {
        cnnvp_rv32_set_reg(cpu->core, number, value);
    }
    return 0;
}

static int add_stop(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size)
{
    const struct cpu *cpu = self;
    return cnnvp_rv32_add_stop(cpu->core, (enum cnnvp_rv32_stop_kind)kind, address, size);
}

static int remove_stop(void *self, enum cnnvp_stop_kind kind, uint32_t address, uint32_t size)
{
    const struct cpu *cpu = self;
    return cnnvp_rv32_remove_stop(cpu->core, (enum cnnvp_rv32_stop_kind)kind, address, size);
}

static void written(void *self, uint32_t address, uint32_t size)
{
    const struct cpu *cpu = self;
    cnnvp_rv32_invalidate(cpu->core, address, size);
}

static int halt(struct cpu *cpu, enum cnnvp_halt why)
{
    const struct cnnvp_core core = {
        .self = cpu,
        .csr_base = CSR_BASE,
        .csr_count = CSR_COUNT,
        .name = name,
        .get = get,
        .set = set,
        .add_stop = add_stop,
        .remove_stop = remove_stop,
        .written = written};
    const struct cnnvp_debugger *debugger = cpu->program.debugger;
    uint32_t address = 0;
    const enum cnnvp_stop_kind kind = (enum cnnvp_stop_kind)cnnvp_rv32_last_hit(cpu->core, &address);
    return debugger->halted(debugger->context, &core, why, kind, address);
}

void cpu_debug_start(struct cpu *cpu)
{
    cpu->stepping = cpu->hit = 0;
}

uint64_t cpu_debug_cycles(struct cpu *cpu, uint64_t cycles)
{
    const struct cnnvp_debugger *debugger = cpu->program.debugger;
    if (debugger == NULL)
        return cycles;
    if (cpu->hit)
        cpu->stepping = halt(cpu, CNNVP_HALT_STOP);
    else if (cpu->stepping)
        cpu->stepping = halt(cpu, CNNVP_HALT_STEP);
    else if (debugger->wants(debugger->context))
        cpu->stepping = halt(cpu, CNNVP_HALT_ASKED);
    return cpu->stepping ? 1u : cycles;
}

int cpu_debug_asleep(struct cpu *cpu)
{
    const struct cnnvp_debugger *debugger = cpu->program.debugger;
    if (debugger == NULL || cpu->stopped || !debugger->wants(debugger->context))
        return 0;
    cpu->moved = 0;
    cpu->asleep = 1;
    cpu->stepping = halt(cpu, CNNVP_HALT_ASKED);
    cpu->asleep = 0;
    return cpu->moved;
}

void cpu_debug_show(void *instance, const struct cnnvp_show *show)
{
    const struct cpu *cpu = instance;
    show->line(show->context, "%s, pc 0x%08x",
               !cpu->has_program ? "has no program"
               : cpu->asleep     ? "sleeps until an interrupt wakes it"
                                 : "runs",
               (unsigned)cnnvp_rv32_pc(cpu->core));
}

void cpu_debug_failure(struct cpu *cpu)
{
    if (cpu->program.debugger != NULL)
        (void)halt(cpu, CNNVP_HALT_FAILURE);
}
