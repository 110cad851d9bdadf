/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's functions over time, as values of the counter `functions` (a call shows the function's address with bit
 * 32 set, a return 0) and as calls of the profiler. Every call that was opened is closed, whatever the guest does. A
 * return to none of the open calls (a jump through a return register) is ignored; a return to an outer call (longjmp)
 * also closes the inner ones. A jump to another function without link (a tail call) continues under the caller's name.
 */
#include "cpu_internal.h"

#define IS_CALL (UINT64_C(1) << 32)
enum { STACK_POINTER = 2 };

static void show(struct cpu *cpu, uint64_t value)
{
    const cnnvp_time now = cnnvp_edge_time(cpu->mhz, cpu_present(cpu));
    if (cpu->program.follow_calls)
        cpu->ops->counter(cpu->host, COUNTER_functions, now, value);
}

static void open_call(struct cpu *cpu, uint32_t from, uint32_t to, uint32_t back, int is_trap)
{
    struct cpu_calls *calls = &cpu->calls;
    const struct cnnvp_profiler *profiler = cpu->program.profiler;
    if (calls->depth == CPU_CALLS)
        return;
    calls->back[calls->depth] = back;
    calls->is_trap[calls->depth++] = is_trap != 0;
    calls->sp = cnnvp_rv32_reg(cpu->core, STACK_POINTER);
    show(cpu, to | IS_CALL);
    if (profiler != NULL)
        profiler->call(profiler->context, from, to, cnnvp_rv32_cost(cpu->core));
}

static void close_down_to(struct cpu *cpu, uint32_t depth)
{
    const struct cnnvp_profiler *profiler = cpu->program.profiler;
    for (; cpu->calls.depth > depth; --cpu->calls.depth) {
        show(cpu, 0);
        if (profiler != NULL)
            profiler->leave(profiler->context, cnnvp_rv32_cost(cpu->core));
    }
}

void cpu_call(void *context, enum cnnvp_rv32_call kind, uint32_t from, uint32_t to, uint32_t back)
{
    struct cpu *cpu = context;
    const struct cpu_calls *calls = &cpu->calls;
    if (kind == CNNVP_RV32_CALL || kind == CNNVP_RV32_ENTER) {
        open_call(cpu, from, to, back, kind == CNNVP_RV32_ENTER);
        return;
    }
    /* Calls that are not shown return first, in a recursion to the same place. */
    if (calls->depth == CPU_CALLS && kind == CNNVP_RV32_RETURN && cnnvp_rv32_reg(cpu->core, STACK_POINTER) < calls->sp)
        return;
    /* A function return does not leave the trap handler that it is in. */
    for (uint32_t i = calls->depth; i-- > 0;) {
        if (kind == CNNVP_RV32_LEAVE ? calls->is_trap[i] : !calls->is_trap[i] && calls->back[i] == to) {
            close_down_to(cpu, i);
            return;
        }
        if (calls->is_trap[i])
            return;
    }
}

int cpu_follows_calls(const struct cpu *cpu)
{
    return cpu->program.follow_calls || cpu->program.profiler != NULL;
}

void cpu_calls_start(struct cpu *cpu)
{
    close_down_to(cpu, 0);
    if (cpu_follows_calls(cpu))
        open_call(cpu, 0, cpu->program.entry, 0, 0);
}
