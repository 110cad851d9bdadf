/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile: what instructions cost, by their addresses. While profiling, no block links to another: each is looked
 * up, and its instructions are counted when it is entered. Code that leaves a block early takes back what was not
 * executed. The instructions of a block begin in one granule, which is a page.
 */
#include "rv32_internal.h"

_Static_assert(CNNVP_PROFILE_PAGE == 1 << RV32_GRANULE_SHIFT, "a block lies in one page");

/* The costs of pc's page; NULL: they are not kept. */
static struct cnnvp_core_cost *page_of(struct cnnvp_rv32 *core, uint32_t pc)
{
    struct rv32_profile *profile = &core->profile;
    const uint32_t page = pc - pc % CNNVP_PROFILE_PAGE;
    if (profile->costs == NULL || profile->page != page) {
        profile->costs = profile->profiler->page(profile->profiler->context, page);
        profile->page = page;
    }
    return profile->costs;
}

static void add(struct cnnvp_rv32 *core, uint32_t pc, const struct cnnvp_core_cost *cost)
{
    struct cnnvp_core_cost *const page = page_of(core, pc);
    struct cnnvp_core_cost *const sums[] = {
        &core->profile.all, page != NULL ? &page[pc % CNNVP_PROFILE_PAGE / 2u] : NULL};
    for (unsigned i = 0; i < 2 && sums[i] != NULL; ++i) {
        sums[i]->instructions += cost->instructions;
        sums[i]->cycles += cost->cycles;
        sums[i]->stalls += cost->stalls;
        sums[i]->sleep += cost->sleep;
    }
}

void rv32_profile_more(struct cnnvp_rv32 *core, uint32_t pc, uint64_t instructions, uint64_t cycles)
{
    add(core, pc, &(struct cnnvp_core_cost){.instructions = instructions, .cycles = cycles});
}

static enum rv32_op_code code_of(const struct cnnvp_rv32 *core, const struct rv32_op *op)
{
    return (enum rv32_op_code)core->codes[op - core->ops];
}

/* `times` may be "minus 1": sums are modulo 2^64. */
static void execute(struct cnnvp_rv32 *core, uint32_t pc, const struct rv32_op *op, uint64_t times)
{
    const enum rv32_op_code code = code_of(core, op);
    if (code != RV32_OP_LINE)
        rv32_profile_more(core, pc + 2u * op->offset, times, times * rv32_cycles(core, code));
}

void rv32_profile_taken(struct cnnvp_rv32 *core, const struct rv32_block *block)
{
    const struct rv32_op *last = &block->ops[block->count - 1u];
    const enum rv32_op_code code = code_of(core, last);
    if (code >= RV32_OP_BEQ && code <= RV32_OP_BNEZ)
        rv32_profile_more(core, block->pc + 2u * last->offset, 0, (uint32_t)core->taken);
}

void rv32_profile_go_on(struct cnnvp_rv32 *core, const struct rv32_op *ops, uint32_t pc, uint32_t count, uint32_t all)
{
    for (uint32_t i = count; i < all; ++i)
        execute(core, pc, &ops[i], 1);
}

void rv32_profile_leave(struct cnnvp_rv32 *core, const struct rv32_op *ops, uint32_t pc, uint32_t count, uint32_t all)
{
    for (uint32_t i = count; i < all; ++i)
        execute(core, pc, &ops[i], UINT64_MAX);
}

void rv32_profile_exception(struct cnnvp_rv32 *core)
{
    add(core, core->pc, &(struct cnnvp_core_cost){.instructions = UINT64_MAX});
}

void rv32_profile_idle(struct cnnvp_rv32 *core, uint64_t cycles)
{
    if (core->waiting)
        add(core, core->profile.wfi, &(struct cnnvp_core_cost){.cycles = cycles, .sleep = cycles});
    else
        add(core, core->pc, &(struct cnnvp_core_cost){.cycles = cycles, .stalls = cycles});
}

void rv32_profile_skip(struct cnnvp_rv32 *core, uint64_t slots)
{
    rv32_profile_more(core, core->pc, slots, slots * rv32_cycles(core, RV32_OP_SPIN));
}
