/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control and status registers, by the table rv32_csr.def (RISC-V Privileged ISA 1.12, chapter 2 and section 3.1).
 *
 * A write to a counter sets what the next instruction reads: the write itself is not counted (section 3.1.10).
 * core->executed does not yet hold the instruction that accesses the CSR.
 */
#include "rv32_internal.h"

enum kind { KIND_STORED, KIND_COUNTER, KIND_ZERO };

struct csr_row {
    uint16_t first;
    uint16_t last;
    uint8_t kind;
    uint8_t index; /* in core->csr, or which counter */
    uint8_t shift;
    uint32_t mask;
    uint32_t reset;
    const char *name; /* NULL: not shown */
};

static const struct csr_row rows[] = {
#define CSR(number, name, mask, reset) {number, number, KIND_STORED, RV32_CSR_##name, 0, mask, reset, #name},
#define CSR_COUNTER(number, name, counter, shift) {number, number, KIND_COUNTER, counter, shift, 0, 0, #name},
#define CSR_ZERO(first, last) {first, last, KIND_ZERO, 0, 0, 0, 0, NULL},
#include "rv32_csr.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct csr_row *look_up(unsigned number)
{
    unsigned low = 0;
    unsigned high = ROWS;
    while (low < high) {
        unsigned middle = (low + high) / 2u;
        if (number > rows[middle].last)
            low = middle + 1u;
        else
            high = middle;
    }
    return low < ROWS && number >= rows[low].first ? &rows[low] : NULL;
}

void rv32_csr_reset(struct cnnvp_rv32 *core)
{
    uint32_t lines = core->csr[RV32_CSR_mip];
    for (unsigned i = 0; i < ROWS; ++i)
        if (rows[i].kind == KIND_STORED)
            core->csr[rows[i].index] = rows[i].reset;
    core->csr[RV32_CSR_mip] = lines;
    core->csr[RV32_CSR_mhartid] = core->config.hart_id;
    core->cycle = (struct rv32_counter){0};
    core->instret = (struct rv32_counter){0};
}

static uint64_t cycles(const struct cnnvp_rv32 *core)
{
    return core->run_base + core->executed + core->stats.idle_cycles;
}

static uint64_t instructions(const struct cnnvp_rv32 *core)
{
    return rv32_slots(core) - core->in_progress;
}

static uint64_t counter_value(const struct cnnvp_rv32 *core, unsigned which)
{
    const struct cnnvp_rv32_bus *bus = &core->config.bus;
    if (which == RV32_COUNTER_CYCLE)
        return core->cycle.inhibited ? core->cycle.frozen : cycles(core) + core->cycle.bias;
    if (which == RV32_COUNTER_INSTRET)
        return core->instret.inhibited ? core->instret.frozen : instructions(core) + core->instret.bias;
    return bus->time != NULL ? bus->time(bus->context) : cycles(core);
}

static void write_counter(struct cnnvp_rv32 *core, unsigned which, unsigned shift, uint32_t value)
{
    int is_cycle = which == RV32_COUNTER_CYCLE;
    struct rv32_counter *counter = is_cycle ? &core->cycle : &core->instret;
    uint64_t mask = (uint64_t)UINT32_MAX << shift;
    uint64_t wanted = (counter_value(core, which) & ~mask) | (uint64_t)value << shift;
    /* as the next instruction counts them */
    uint64_t events = (is_cycle ? cycles(core) : instructions(core)) + core->in_progress;
    counter->frozen = wanted;
    counter->bias = wanted - events;
}

static void inhibit(struct rv32_counter *counter, uint64_t value, uint64_t events, int inhibited)
{
    counter->frozen = value;
    counter->bias = value - events;
    counter->inhibited = inhibited;
}

/* The instruction that changes mcountinhibit is still counted by the old setting. */
static void write_inhibit(struct cnnvp_rv32 *core, uint32_t value)
{
    uint32_t old = core->csr[RV32_CSR_mcountinhibit];
    uint32_t changed = old ^ value;
    uint32_t own = core->in_progress; /* 1: the accessing instruction, of one cycle; 0: a debugger's access */
    core->executed += own;
    core->in_progress = 0;
    if (changed & 1u)
        inhibit(&core->cycle, counter_value(core, RV32_COUNTER_CYCLE), cycles(core), value & 1u ? 1 : 0);
    if (changed & 4u)
        inhibit(&core->instret, counter_value(core, RV32_COUNTER_INSTRET), rv32_slots(core), value & 4u ? 1 : 0);
    core->in_progress = own;
    core->executed -= own;
    core->csr[RV32_CSR_mcountinhibit] = value;
}

int cnnvp_rv32_csr(struct cnnvp_rv32 *core, unsigned number, uint32_t *value)
{
    const struct csr_row *row = look_up(number);
    if (row == NULL)
        return -1;
    *value = 0;
    if (row->kind == KIND_STORED)
        *value = core->csr[row->index];
    else if (row->kind == KIND_COUNTER)
        *value = (uint32_t)(counter_value(core, row->index) >> row->shift);
    return 0;
}

int cnnvp_rv32_set_csr(struct cnnvp_rv32 *core, unsigned number, uint32_t value)
{
    const struct csr_row *row = look_up(number);
    if (row == NULL || number >> 10 == 3u)
        return -1;
    if (row->kind == KIND_COUNTER) {
        write_counter(core, row->index, row->shift, value);
    } else if (row->kind == KIND_STORED) {
        uint32_t merged = (core->csr[row->index] & ~row->mask) | (value & row->mask);
        if (row->index == RV32_CSR_mcountinhibit)
            write_inhibit(core, merged);
        else
            core->csr[row->index] = merged;
    }
    return 0;
}

const char *cnnvp_rv32_csr_name(unsigned number)
{
    const struct csr_row *row = look_up(number);
    return row != NULL ? row->name : NULL;
}
