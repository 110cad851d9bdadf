/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth-first scheduler: S004's schedule without software (the all-hardware option of [0054], Part B X-7). It holds
 * a chain's instructions, which software has prepared as one list for each layer. It pushes them into the instruction
 * element block by block in the order of S004, with addresses that follow from its Morton counters.
 *
 * Modelled: at most one instruction word a cycle; polling of a full queue every poll_cycles; a copy of the element's
 * registers, so that assignments which change nothing are left out, except those that the table marks with KEEP; the
 * interrupt. Not modelled: time for reading the table; preset order tables (software issues those).
 */
#include "units.h"
#include "unit/parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_isa.h"
#include "scheduler_walk.h"

enum scheduler_field {
#define CNNVP_FIELD(reg, name, lsb, width, help) reg##_##name = (int)(((1u << (width)) - 1u) << (lsb)),
#include "control/scheduler/scheduler.def"
};

#define UNIT_DEF "control/scheduler/scheduler.def"
#include "unit/unit_enums.inc"

enum { EVENT_GO, EVENTS };

struct scheduler {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t reg[REGISTER_COUNT];
    uint32_t *table;
    uint32_t capacity;
    uint64_t poll_cycles;
    uint64_t mhz;
    struct scheduler_walk walk;
    struct scheduler_section section;
    uint32_t position;   /* next instruction of the section */
    uint32_t value[256]; /* the element's registers, as far as this unit has set them */
    uint8_t known[256];
    uint32_t tag; /* layer tag that was last pushed */
};

/* ---- the element ---- */

static int element_access(struct scheduler *self, enum cnnvp_op op, uint32_t offset, uint32_t *value)
{
    struct cnnvp_access access = {
        .op = op, .flags = CNNVP_UNTIMED, .address = offset, .data = value, .size = sizeof *value};
    return self->ops->access(self->host, PORT_element, &access);
}

/* Returns 1 if the word would change nothing. Clears the KEEP bit of an assignment that has it; such a word is always
 * pushed. */
static int is_idle(struct scheduler *self, uint32_t *high, uint32_t low)
{
    const struct cnnvp_word_parts word = cnnvp_word_read((uint64_t)*high << 32);
    if (word.opcode == CNNVP_OPCODE_layer) {
        const int same = self->tag == low;
        self->tag = low;
        return same;
    }
    if (word.opcode != CNNVP_OPCODE_set)
        return 0;
    const int kept = (*high & (uint32_t)SCHEDULER_KEEP) != 0;
    const int same = !kept && self->known[word.a] && self->value[word.a] == low;
    *high &= ~(uint32_t)SCHEDULER_KEEP;
    self->value[word.a] = low;
    self->known[word.a] = 1;
    return same;
}

/* ---- the run ---- */

static void update_irq(struct scheduler *self)
{
    const int level = (self->reg[REG_STATUS] & (STATUS_done | STATUS_error)) != 0 && self->reg[REG_IRQ_ENABLE] != 0;
    (void)self->ops->irq(self->host, PORT_irq, level);
}

static void finish(struct scheduler *self, uint32_t status)
{
    self->reg[REG_STATUS] = (self->reg[REG_STATUS] & ~(uint32_t)STATUS_busy) | status;
    if (status == STATUS_error)
        self->ops->log(self->host, CNNVP_LOG_WARNING, "the table is malformed, or the element refused a word");
    update_irq(self);
}

static void continue_after(struct scheduler *self, uint64_t cycles)
{
    const uint64_t edge = cnnvp_edge_at_or_after(self->mhz, self->ops->now(self->host)) + cycles;
    (void)self->ops->notify(self->host, EVENT_GO, cnnvp_edge_time(self->mhz, edge));
}

/* Pushes up to `room` words of the section. Returns how many were pushed, or -1 if the element refused one. */
static int64_t push_section(struct scheduler *self, uint32_t room)
{
    int64_t pushed = 0;
    while (self->position < self->section.count && pushed < (int64_t)room) {
        uint32_t high;
        uint32_t low;
        scheduler_word(&self->walk, &self->section, self->position++, &high, &low);
        if (is_idle(self, &high, low)) {
            self->ops->count(self->host, STAT_elided, 0, 1);
            continue;
        }
        if (element_access(self, CNNVP_WRITE, CNNVP_ELEMENT_PUSH_LO, &low) != CNNVP_OK ||
            element_access(self, CNNVP_WRITE, CNNVP_ELEMENT_PUSH_HI, &high) != CNNVP_OK)
            return -1;
        ++pushed;
    }
    self->ops->count(self->host, STAT_words, self->tag, (uint64_t)pushed);
    return pushed;
}

/* Pushes words of the current section while the queue has room, one cycle each; then begins the next section. */
static void go(struct scheduler *self)
{
    uint32_t room = 0;
    if (self->position == self->section.count) {
        const uint32_t steps = self->walk.steps;
        const int more = scheduler_next(&self->walk, &self->section);
        self->position = 0;
        self->ops->count(self->host, STAT_steps, 0, self->walk.steps - steps);
        if (more <= 0) {
            self->section.count = 0;
            finish(self, more == 0 ? STATUS_done : STATUS_error);
            return;
        }
    }
    if (element_access(self, CNNVP_READ, CNNVP_ELEMENT_FREE, &room) != CNNVP_OK) {
        finish(self, STATUS_error);
        return;
    }
    if (room == 0) {
        self->ops->count(self->host, STAT_queue_waits, 0, 1);
        continue_after(self, self->poll_cycles);
        return;
    }
    const int64_t pushed = push_section(self, room);
    if (pushed < 0)
        finish(self, STATUS_error);
    else
        continue_after(self, pushed > 0 ? (uint64_t)pushed : 1u);
}

static void start(struct scheduler *self)
{
    if (self->reg[REG_STATUS] & STATUS_busy)
        return;
    self->reg[REG_STATUS] = STATUS_busy;
    memset(self->known, 0, sizeof self->known);
    self->tag = UINT32_MAX;
    self->position = self->section.count = 0;
    if (scheduler_begin(&self->walk, self->table, self->capacity, self->reg[REG_IMAGE]))
        continue_after(self, 1);
    else
        finish(self, STATUS_error);
}

/* ---- callbacks ---- */

static int reg_read(void *instance, uint32_t reg)
{
    struct scheduler *self = instance;
    if (reg == REG_CAPACITY)
        self->reg[REG_CAPACITY] = self->capacity;
    if (reg == REG_STEPS)
        self->reg[REG_STEPS] = self->walk.steps;
    return CNNVP_OK;
}

static int reg_written(void *instance, uint32_t reg, uint32_t old)
{
    struct scheduler *self = instance;
    (void)old;
    if (reg == REG_CTRL && self->reg[REG_CTRL] != 0) {
        self->reg[REG_CTRL] = 0;
        start(self);
    }
    if (reg == REG_TABLE_DATA) {
        const uint32_t at = self->reg[REG_TABLE_ADDR];
        if (at < self->capacity && !(self->reg[REG_STATUS] & STATUS_busy))
            self->table[at] = self->reg[REG_TABLE_DATA];
        ++self->reg[REG_TABLE_ADDR];
    }
    update_irq(self);
    return CNNVP_OK;
}

static void event(void *instance, uint32_t number)
{
    (void)number;
    go(instance);
}

static void reset(void *instance)
{
    struct scheduler *self = instance;
    self->mhz = self->ops->clock_mhz(self->host);
    (void)self->ops->cancel(self->host, EVENT_GO);
    memset(self->table, 0, self->capacity * sizeof *self->table);
    self->position = self->section.count = 0;
    self->walk.steps = 0;
    update_irq(self);
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct scheduler *self = instance;
    self->ops = init->ops;
    self->host = init->host;
    self->capacity = (uint32_t)init->ops->param(init->host, PARAM_table_words);
    self->poll_cycles = init->ops->param(init->host, PARAM_poll_cycles);
    self->table = calloc(self->capacity, sizeof *self->table);
    return self->table != NULL ? CNNVP_OK : CNNVP_E_NOMEM;
}

static void fini(void *instance)
{
    struct scheduler *self = instance;
    free(self->table);
}

#define UNIT_STORAGE(name) offsetof(struct scheduler, reg) + REG_##name * sizeof(uint32_t)
static void costs_of(const uint64_t *params, const struct cnnvp_costs *costs)
{
    cnnvp_say_sram(costs, 32u, 4u * params[PARAM_table_words], 1, "table");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, 16u, "counters");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_scheduler = {
    UNIT_TABLES,
    .kind = "scheduler",
    .version = "1.0",
    .summary = "depth-first scheduler: Morton counters issue a chain's instructions block by block",
    .instance_size = sizeof(struct scheduler),
    .register_port = PORT_regs,
    .event_count = EVENTS,
    .init = init,
    .fini = fini,
    .reset = reset,
    .reg_written = reg_written,
    .reg_read = reg_read,
    .event = event,
    .costs = costs_of,
};
