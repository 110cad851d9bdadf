/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution component (S003 c2): issues decoded instructions in order, at most one in an accelerator cycle, when
 * the resources that they use are free (c8; Part B 3-8). Control and register instructions complete in their issue
 * cycle. Tile instructions become commands to the units (cnnvp_command.h), sent exactly at the edge of their issue
 * cycle.
 */
#include "element.h"
#include "isa/isa.h"

uint32_t cnnvp_element_port(enum isa_unit unit)
{
    static const uint32_t ports[ISA_UNIT_COUNT] = {
#define CNNVP_EXECUTOR(unit, stand_in, help) [ISA_UNIT_##unit] = PORT_##unit,
#include "isa/opcodes.def"
    };
    return ports[unit];
}

static uint32_t port_of(const struct element *self, enum isa_unit unit)
{
    const enum isa_unit stand_in = cnnvp_isa_stand_in(unit);
    const uint32_t port = cnnvp_element_port(unit);
    return unit == stand_in || self->ops->connected(self->host, port) == 1 ? port : cnnvp_element_port(stand_in);
}

static int waits_for_all(const struct element *self, uint32_t opcode)
{
    return self->strict || opcode == ISA_sync || opcode == ISA_irq || opcode == ISA_halt;
}

/* Earliest issue cycle if no command were in flight. */
static uint64_t unhindered(const struct element *self, const struct pipeline_entry *entry)
{
    return entry->ready > self->next_issue ? entry->ready : self->next_issue;
}

uint64_t cnnvp_element_issue_cycle(struct element *self)
{
    const struct pipeline_entry *entry = cnnvp_pipeline_oldest(&self->pipeline);
    if (entry == NULL || self->fault.cause || self->refused)
        return PIPELINE_NEVER;
    uint64_t cycle = unhindered(self, entry);
    self->led = entry->pushed_last && entry->ready > self->next_issue
                    ? cnnvp_element_push_moment(self, entry->pc)
                    : (uint32_t)MOMENT_ISSUE;
    if (self->retry > cycle) {
        cycle = self->retry;
        self->led = MOMENT_RETRY;
    }
    if (entry->op == NULL)
        return cycle;
    const int all = waits_for_all(self, entry->fields.opcode), of_unit = entry->op->unit != ISA_UNIT_none;
    if (!all && !of_unit)
        return cycle; /* it uses no shared resource */
    const uint64_t before = cycle;
    uint32_t last = 0;
    cycle = cnnvp_ledger_clear(&self->ledger, cnnvp_isa_excludes(entry->resources), all, cycle, &self->blocker, &last);
    if (cycle != LEDGER_UNKNOWN && of_unit)
        cycle = cnnvp_ledger_room(&self->ledger, cycle, &last);
    if (cycle != before) {
        self->waited_all = all;
        self->led = MOMENT_COMMANDS + last;
    }
    return cycle; /* may be LEDGER_UNKNOWN, which equals PIPELINE_NEVER */
}

_Static_assert(LEDGER_UNKNOWN == PIPELINE_NEVER, "one value says that a cycle is unknown");

void cnnvp_element_supply(struct element *self, uint64_t cycle)
{
    const struct pipeline *pipeline = &self->pipeline;
    const int fetches =
        pipeline->enabled && !pipeline->halted && (pipeline->pc < pipeline->tail || self->fetch.remaining > 0);
    const int supply = !self->fault.cause && (pipeline->issued != pipeline->fetched || fetches);
    cnnvp_ledger_supply(&self->ledger, cycle, supply);
}

/* Counts how long the instruction has waited, by the reason of waiting. */
static void count_wait(struct element *self, uint64_t from, uint64_t cycle)
{
    if (cycle <= from)
        return;
    const char *what = "unit";
    uint32_t stat = STAT_unit_wait_cycles;
    if (self->waited_all) {
        what = "completion";
        stat = STAT_completion_wait_cycles;
    } else if (self->blocker & (ISA_USE_BUFFERS | ISA_USE_BUFFERS << ISA_READ_SHIFT)) {
        what = "buffer";
        stat = STAT_buffer_wait_cycles;
    }
    self->ops->count(self->host, stat, 0, cycle - from);
    self->ops->span(self->host, TRACK_wait, what, self->ledger.layer, self->sequence, cnnvp_edge_time(self->mhz, from),
                    cnnvp_edge_time(self->mhz, cycle));
}

static void fail(struct element *self, const struct pipeline_entry *entry, uint64_t cycle, enum element_error cause,
                 int32_t status)
{
    const struct element_fault fault = {
        .cause = cause, .status = status, .cycle = cycle, .pc = entry->pc, .word = entry->word};
    cnnvp_element_fail(self, &fault);
}

/* ---- instructions without a unit ---- */

/* These functions return 0 for an opcode of the table that this component does not implement: an illegal
 * instruction. */

static int execute_data(struct element *self, const struct cnnvp_word_parts *fields)
{
    uint32_t *rd = &self->r[fields->a];
    const uint32_t a = self->r[fields->b];
    const uint32_t b = self->r[fields->c];
    switch (fields->opcode) {
    case ISA_set:
        *rd = fields->immediate;
        break;
    case ISA_mov:
        *rd = a;
        break;
    case ISA_addi:
        *rd = a + fields->immediate;
        break;
    case ISA_add:
        *rd = a + b;
        break;
    case ISA_sub:
        *rd = a - b;
        break;
    case ISA_mul:
        *rd = (uint32_t)((uint64_t)a * b);
        break;
    default:
        return 0;
    }
    return 1;
}

static void check_redirection(struct element *self, const struct pipeline_entry *entry, uint64_t cycle,
                              enum pipeline_fault fault)
{
    if (fault)
        fail(self, entry, cycle, fault == PIPELINE_BAD_NESTING ? ERROR_nesting : ERROR_target, 0);
}

static void branch(struct element *self, const struct pipeline_entry *entry, uint64_t cycle, int taken)
{
    check_redirection(
        self, entry, cycle,
        cnnvp_pipeline_branch(&self->pipeline, entry->pc, taken, (int32_t)entry->fields.immediate, cycle));
}

static int execute_control(struct element *self, const struct pipeline_entry *entry, uint64_t cycle)
{
    const struct cnnvp_word_parts *fields = &entry->fields;
    const uint32_t a = self->r[fields->a];
    const uint32_t b = self->r[fields->b];
    switch (fields->opcode) {
    case ISA_nop:
    case ISA_sync:
        break;
    case ISA_layer:
        cnnvp_ledger_account(&self->ledger, cycle);
        self->ledger.layer = fields->immediate;
        break;
    case ISA_irq:
        self->reg.EVENT = fields->immediate;
        ++self->reg.EVENT_COUNT;
        self->ops->keep(self->host, MOMENT_EVENT, MOMENT_ISSUE, 0);
        self->ops->count(self->host, STAT_events, 0, 1);
        cnnvp_element_raise(self, IRQ_EVENT);
        break;
    case ISA_halt:
        cnnvp_pipeline_halt(&self->pipeline, cycle);
        break;
    case ISA_jump:
        branch(self, entry, cycle, 1);
        break;
    case ISA_beq:
        branch(self, entry, cycle, a == b);
        break;
    case ISA_bne:
        branch(self, entry, cycle, a != b);
        break;
    case ISA_blt:
        branch(self, entry, cycle, (int32_t)a < (int32_t)b);
        break;
    case ISA_bge:
        branch(self, entry, cycle, (int32_t)a >= (int32_t)b);
        break;
    case ISA_loop:
        check_redirection(self, entry, cycle, cnnvp_pipeline_loop(&self->pipeline, a, fields->immediate, cycle));
        break;
    default:
        return 0;
    }
    return 1;
}

/* ---- tile instructions ---- */

static int fill_command(const struct element *self, const struct isa_opcode *op, const struct cnnvp_word_parts *fields,
                        struct cnnvp_command *command)
{
    if (fields->a + op->descriptor_count > 256u)
        return CNNVP_E_INVAL;
    *command = (struct cnnvp_command){
        .opcode = fields->opcode,
        .status = fields->status,
        .halves = fields->halves,
        .immediate = fields->immediate,
        .tag = self->ledger.layer,
        .count = op->descriptor_count,
        .sequence = self->sequence,
    };
    for (uint32_t i = 0; i < op->descriptor_count; ++i)
        command->descriptor[i] = self->r[fields->a + i];
    return CNNVP_OK;
}

/* Shows in the trace which block a window of a depth-first chain reads. */
static void show_block(const struct element *self, const struct isa_opcode *op, uint32_t block, uint64_t cycle)
{
    if (op->form != ISA_FORM_WINDOW || block == 0 || self->ledger.layer == 0)
        return;
    const cnnvp_time at = cnnvp_edge_time(self->mhz, cycle);
    self->ops->counter(self->host, COUNTER_layer, at, self->ledger.layer - 1u);
    self->ops->counter(self->host, COUNTER_block_x, at, (block - 1u) & 0xffffu);
    self->ops->counter(self->host, COUNTER_block_y, at, (block - 1u) >> 16);
}

/* The unit cannot take the command: arranges to send it again when a command of the same unit has completed. Returns 0
 * if none is in flight, so that waiting would never end. */
static int retry_later(struct element *self, uint32_t unit, uint64_t cycle)
{
    const uint64_t end = cnnvp_ledger_unit_end(&self->ledger, unit, cycle);
    if (end == cycle)
        return 0;
    self->refused = end == LEDGER_UNKNOWN;
    for (uint32_t i = 0; i < self->ledger.count && !self->refused; ++i)
        if (self->ledger.commands[i].unit == unit && self->ledger.commands[i].end == end)
            self->ops->keep(self->host, MOMENT_RETRY, MOMENT_COMMANDS + self->ledger.commands[i].place, 0);
    if (!self->refused)
        self->retry = end;
    self->blocker = ISA_USE_UNITS;
    return 1;
}

void cnnvp_element_note_end(struct element *self, const struct ledger_command *command)
{
    for (uint32_t bits = command->resources; bits != 0; bits &= bits - 1u)
        self->ops->keep(self->host, MOMENT_RESOURCES + (uint32_t)__builtin_ctz(bits), MOMENT_COMMANDS + command->place,
                        0);
}

/* Sets the moment of the next issue: the latest of the push of its word, the issue before it, and the ends of the
 * commands that used its resources. */
static void keep_next(struct element *self, const struct pipeline_entry *entry)
{
    const int all = waits_for_all(self, entry->fields.opcode);
    self->ops->keep(self->host, MOMENT_NEXT, self->led, 0);
    self->ops->join(self->host, MOMENT_NEXT, MOMENT_ISSUE);
    if (entry->fields.opcode != ISA_set)
        self->ops->join(self->host, MOMENT_NEXT, cnnvp_element_push_moment(self, entry->pc));
    for (uint32_t bits = all ? ISA_USE_UNITS : cnnvp_isa_excludes(entry->resources); bits != 0; bits &= bits - 1u)
        self->ops->join(self->host, MOMENT_NEXT, MOMENT_RESOURCES + (uint32_t)__builtin_ctz(bits));
}

/* Sends the command. Returns 1 if the instruction has left the sequence, 0 if it must be sent again later. */
static int execute_tile(struct element *self, const struct pipeline_entry *entry, uint64_t cycle)
{
    const struct isa_opcode *op = entry->op;
    struct cnnvp_command command;
    if (fill_command(self, op, &entry->fields, &command)) {
        fail(self, entry, cycle, ERROR_descriptor, 0);
        return 1;
    }
    const struct ledger_command flight = {
        .sequence = command.sequence,
        .word = entry->word,
        .pc = entry->pc,
        .unit = cnnvp_isa_stand_in(op->unit),
        .tag = command.tag,
        .resources = entry->resources,
        .causes = entry->causes};
    (void)cnnvp_ledger_add(&self->ledger, cycle, &flight);
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .tag = command.tag, .flow = command.sequence, .data = &command, .size = sizeof command};
    self->touched = 1;
    const int status = self->ops->access(self->host, port_of(self, op->unit), &access);
    if (status == CNNVP_OK) {
        struct ledger_command *added = cnnvp_ledger_find(&self->ledger, command.sequence);
        const cnnvp_time end = cnnvp_edge_time(self->mhz, cycle) + access.delay;
        if (added != NULL) {
            self->ops->keep(self->host, MOMENT_COMMANDS + added->place, CNNVP_PATH_ANSWER, command.tag);
            cnnvp_element_note_end(self, added);
            cnnvp_ledger_end(&self->ledger, added, cnnvp_edge_at_or_after(self->mhz, end));
        }
    } else if (status < 0) {
        cnnvp_ledger_drop(&self->ledger, command.sequence);
        if (status == CNNVP_E_STATE && retry_later(self, cnnvp_isa_stand_in(op->unit), cycle))
            return 0;
        fail(self, entry, cycle, ERROR_unit, status);
    }
    return 1;
}

/* ---- issue ---- */

/* Returns 1 if others can see the instruction's effect in its issue cycle. */
static int is_visible(const struct element *self, const struct pipeline_entry *entry)
{
    const uint32_t opcode = entry->fields.opcode;
    if (entry->op->unit != ISA_UNIT_none || opcode == ISA_irq || opcode == ISA_halt)
        return 1;
    /* the end of a loop makes room in the queue */
    return cnnvp_isa_redirects(opcode) && cnnvp_element_wants_room(self);
}

static void leave(struct element *self, uint64_t cycle)
{
    cnnvp_pipeline_issue(&self->pipeline, cycle);
    self->next_issue = cycle + 1u;
    self->retry = 0;
    self->blocker = 0;
    self->waited_all = 0;
    if (cycle > self->ledger.last_completion)
        self->ledger.last_completion = cycle;
    cnnvp_element_supply(self, cycle);
}

int cnnvp_element_issue(struct element *self, uint64_t now, uint64_t limit)
{
    uint64_t cycle = cnnvp_element_issue_cycle(self);
    if (cycle > limit)
        return 0;
    const struct pipeline_entry entry = *cnnvp_pipeline_oldest(&self->pipeline);
    const struct isa_opcode *op = entry.op;
    if (op == NULL) {
        fail(self, &entry, cycle, ERROR_illegal, 0);
        leave(self, cycle);
        return 1;
    }
    const int visible = is_visible(self, &entry);
    if (cycle > now && visible)
        return 0;
    if (visible) {
        keep_next(self, &entry);
        self->ops->follow(self->host, MOMENT_NEXT, self->ledger.layer);
        self->ops->keep(self->host, MOMENT_ISSUE, CNNVP_PATH_NOW, self->ledger.layer);
        self->ops->keep(self->host, cnnvp_element_room_moment(self, entry.pc), MOMENT_ISSUE, 0);
    } else if (self->led != MOMENT_ISSUE) {
        self->ops->keep(self->host, MOMENT_ISSUE, self->led, 0);
    }
    ++self->sequence;
    const uint64_t from = unhindered(self, &entry);
    if (op->unit != ISA_UNIT_none) {
        if (!execute_tile(self, &entry, cycle)) {
            --self->sequence;
            cnnvp_element_end_follow(self);
            return 0;
        }
        cnnvp_element_end_follow(self);
        show_block(self, op, entry.fields.immediate, cycle);
        self->ops->span(self->host, TRACK_issue, op->mnemonic, self->ledger.layer, self->sequence,
                        cnnvp_edge_time(self->mhz, cycle), cnnvp_edge_time(self->mhz, cycle + 1u));
    } else if (!execute_data(self, &entry.fields) && !execute_control(self, &entry, cycle)) {
        --self->sequence;
        fail(self, &entry, cycle, ERROR_illegal, 0);
        leave(self, cycle);
        return 1;
    } else if (visible) {
        cnnvp_element_end_follow(self);
    }
    count_wait(self, from, cycle);
    ++self->issued[op->class_];
    leave(self, cycle);
    return 1;
}
