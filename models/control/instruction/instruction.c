/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction element of S003 (c1, c2, c8): queue, fetch, decode, instruction sequence, execution component. It
 * sends commands to the units of the acceleration component, and the guest controls it through registers
 * (instruction.def).
 *
 * Modelled: one word a cycle through push, fetch, decode and issue (pipeline.h); both back-pressures of Part B 3-2;
 * in-order issue with a scoreboard on units and buffer halves, or strict order (3-8); loops, branches, registers;
 * autonomous reading of programs from memory (c9, c10); errors that stop the element and never the simulation;
 * accounting of the PE array's waiting cycles (ledger.h). Not modelled: speculative fetch, more than one issue a cycle,
 * precise state of a command that fails midway.
 *
 * Progress in time: advance.c. Commands: execute.c.
 */
#include "units.h"
#include "unit/parts.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"

/* ---- effects of register writes ---- */

static void refuse(struct element *self, const char *what)
{
    self->ops->count(self->host, STAT_refused, 0, 1);
    if (!(self->reg.IRQ_STATUS & IRQ_REFUSED))
        self->ops->log(self->host, CNNVP_LOG_WARNING, "%s", what);
    cnnvp_element_raise(self, IRQ_REFUSED);
}

static void push(struct element *self)
{
    const uint64_t word = (uint64_t)self->reg.PUSH_HI << 32 | self->reg.PUSH_LO;
    if (self->fetch.remaining) {
        refuse(self, "a word pushed while a program is being read from memory is lost; wait for FETCH_WORDS = 0");
        return;
    }
    if (!cnnvp_pipeline_free(&self->pipeline)) {
        refuse(self, "a word pushed into a full queue is lost; push no more than FREE words");
        return;
    }
    const uint64_t cycle = cnnvp_element_next_cycle(self), tail = self->pipeline.tail;
    if (self->is_alone && tail % self->part_words == 0 && tail >= self->pipeline.queue_depth)
        self->ops->join(self->host, CNNVP_PATH_NOW,
                        cnnvp_element_room_moment(self, tail - self->pipeline.queue_depth + self->part_words - 1u));
    cnnvp_element_enqueue(self, word, cycle);
    ++self->pushed;
    cnnvp_element_note_occupancy(self, self->ops->now(self->host));
    cnnvp_ledger_start(&self->ledger, cycle);
    cnnvp_element_supply(self, cycle);
}

static void start_fetch(struct element *self)
{
    if (!self->reg.FETCH_WORDS)
        return;
    const uint64_t cycle = cnnvp_element_next_cycle(self);
    self->fetch.remaining += self->reg.FETCH_WORDS;
    cnnvp_ledger_start(&self->ledger, cycle);
    cnnvp_element_supply(self, cycle);
}

static void write_fetch_addr(struct element *self, uint32_t old)
{
    if (self->fetch.remaining) {
        self->reg.FETCH_ADDR = old;
        refuse(self, "FETCH_ADDR written while a program is being read from memory; wait for FETCH_WORDS = 0");
        return;
    }
    self->fetch.address = self->reg.FETCH_ADDR;
}

/* Clears the state that both resets clear. Commands in flight and the accounting continue. */
static void clear(struct element *self)
{
    cnnvp_pipeline_reset(&self->pipeline);
    memset(self->r, 0, sizeof self->r);
    self->fault = (struct element_fault){0};
    self->fetch.remaining = 0;
    self->fetch.address = 0;
    self->fetch.discard = self->fetch.in_memory;
    self->next_issue = 0;
    self->retry = 0;
    self->blocker = 0;
    self->tail_tag = 0;
    self->refused = 0;
    self->waited_all = 0;
    self->space_armed = 0;
    cnnvp_element_note_occupancy(self, self->ops->now(self->host));
}

/* Tells the DMA to forget its requests, because their `receive` instructions are gone. */
static void forget_requests(struct element *self)
{
    struct cnnvp_command command = {.opcode = CNNVP_COMMAND_FORGET};
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &command, .size = sizeof command};
    (void)self->ops->access(self->host, PORT_dma, &access);
}

static void guest_reset(struct element *self)
{
    const uint64_t cycle = cnnvp_element_next_cycle(self);
    const uint32_t enable = self->reg.CTRL & 1u;
    clear(self);
    cnnvp_element_supply(self, cycle);
    self->ledger.layer = 0;
    for (uint32_t i = 0; i < self->ledger.count; ++i)
        self->ledger.commands[i].forgotten = 1;
    const uint32_t interrupts = self->reg.IRQ_ENABLE;
    memset(&self->reg, 0, sizeof self->reg);
    self->reg.CTRL = enable;
    self->reg.IRQ_ENABLE = interrupts;
    self->reg.QUEUE_DEPTH = self->pipeline.queue_depth;
    self->reg.SEQUENCE_DEPTH = self->pipeline.sequence_depth;
    self->pipeline.enabled = 0;
    self->next_issue = cycle + 1u;
    cnnvp_pipeline_enable(&self->pipeline, enable != 0, cycle);
    cnnvp_element_update_irq(self);
    forget_requests(self);
}

static void write_ctrl(struct element *self)
{
    const uint64_t cycle = cnnvp_element_next_cycle(self);
    if (self->reg.CTRL & 2u)
        guest_reset(self);
    else
        cnnvp_pipeline_enable(&self->pipeline, self->reg.CTRL & 1u, cycle);
    cnnvp_element_supply(self, cycle);
}

static void clear_irq(struct element *self, uint32_t old)
{
    const uint32_t cleared = old & ~self->reg.IRQ_STATUS;
    if (cleared & IRQ_ERROR) {
        const uint64_t cycle = cnnvp_element_next_cycle(self);
        self->fault = (struct element_fault){0};
        self->reg.ERROR_CAUSE = 0;
        if (self->next_issue < cycle + 1u)
            self->next_issue = cycle + 1u;
        cnnvp_element_supply(self, cycle);
    }
    cnnvp_element_update_irq(self);
}

/* ---- callbacks ---- */

/* Adds the custom instructions of the units at the command ports. They were checked when the platform file was read. */
static int extend(struct element *self)
{
    struct isa_extension *extension = NULL;
    char why[200];
    for (enum isa_unit unit = ISA_UNIT_none + 1; unit < ISA_UNIT_COUNT; ++unit) {
        size_t count = 0;
        const struct cnnvp_instruction *instructions =
            self->ops->instructions(self->host, cnnvp_element_port(unit), &count);
        if (count != 0 && extension == NULL)
            self->pipeline.extension = extension = calloc(1, sizeof *extension);
        if (count != 0 && extension == NULL)
            return CNNVP_E_NOMEM;
        for (size_t i = 0; i < count; ++i)
            if (cnnvp_isa_extend(extension, &instructions[i], unit, why, sizeof why))
                return self->ops->config_error(self->host, UINT32_MAX, "%s", why);
    }
    return CNNVP_OK;
}

/* Elements of several accelerators are named so, with a suffix. */
static int is_alone(const struct element *self)
{
    const char *name;
    uint32_t elements = 0;
    for (uint32_t i = 0; (name = self->ops->instance_name(self->host, i)) != NULL; ++i)
        elements += strncmp(name, "instruction", sizeof "instruction" - 1u) == 0;
    return elements <= 1u;
}

static int element_init(void *instance, const struct cnnvp_init *init)
{
    struct element *self = instance;
    self->host = init->host;
    self->ops = init->ops;
    self->mhz = init->ops->clock_mhz(init->host);
    self->fetch_words = (uint32_t)init->ops->param(init->host, PARAM_fetch_words);
    self->strict = init->ops->param(init->host, PARAM_order) == 1u;
    self->is_alone = is_alone(self);
    const uint32_t queue_depth = (uint32_t)init->ops->param(init->host, PARAM_queue_depth);
    const uint32_t sequence_depth = (uint32_t)init->ops->param(init->host, PARAM_sequence_depth);
    int status = cnnvp_pipeline_init(&self->pipeline, queue_depth, sequence_depth);
    self->part_words = 2u * (self->pipeline.queue_mask + 1u) / ELEMENT_PARTS;
    if (status != CNNVP_OK)
        return status;
    status = extend(self);
    if (status != CNNVP_OK)
        cnnvp_pipeline_fini(&self->pipeline);
    return status;
}

static void element_fini(void *instance)
{
    struct element *self = instance;
    cnnvp_pipeline_fini(&self->pipeline);
}

/* Callback of the ledger. Stall statistics are in the order of the causes; cycles that belong to no layer count as
 * idle. */
static void give_cycles(void *context, uint32_t cause, uint32_t tag, uint64_t cycles)
{
    struct element *self = context;
    self->ops->count(self->host, tag ? STAT_stall_cycles_vector + cause : STAT_idle_cycles, tag, cycles);
}

static void element_reset(void *instance)
{
    struct element *self = instance;
    self->fetch.in_memory = 0; /* the host drops completions of earlier requests */
    clear(self);
    self->pipeline.enabled = 0;
    cnnvp_ledger_reset(&self->ledger);
    self->ledger.give = give_cycles;
    self->ledger.context = self;
    self->notified = CNNVP_TIME_NEVER;
    self->advancing = 0;
    self->peak = 0;
    self->reg.QUEUE_DEPTH = self->pipeline.queue_depth;
    self->reg.SEQUENCE_DEPTH = self->pipeline.sequence_depth;
    (void)self->ops->cancel(self->host, EVENT_ADVANCE);
    cnnvp_element_update_irq(self);
}

static int element_reg_written(void *instance, uint32_t reg, uint32_t old)
{
    struct element *self = instance;
    if (reg == REG_PUSH_LO) /* takes effect with PUSH_HI */
        return CNNVP_OK;
    cnnvp_element_bring_up(self, 0);
    switch (reg) {
    case REG_CTRL:
        write_ctrl(self);
        break;
    case REG_IRQ_STATUS:
        clear_irq(self, old);
        break;
    case REG_IRQ_ENABLE:
        cnnvp_element_update_irq(self);
        break;
    case REG_PUSH_HI:
        push(self);
        break;
    case REG_SPACE_THRESHOLD:
        self->space_armed = self->reg.SPACE_THRESHOLD != 0;
        break;
    case REG_FETCH_ADDR:
        write_fetch_addr(self, old);
        break;
    case REG_FETCH_WORDS:
        start_fetch(self);
        break;
    default:
        break;
    }
    cnnvp_element_serve_room(self);
    cnnvp_element_schedule(self);
    return CNNVP_OK;
}

static uint32_t status_now(const struct element *self, uint64_t now)
{
    const uint32_t room = cnnvp_pipeline_free(&self->pipeline);
    const int busy = cnnvp_pipeline_waiting(&self->pipeline) || self->fetch.remaining ||
                     cnnvp_ledger_in_flight(&self->ledger, now, 1);
    return (uint32_t)(busy != 0) << 0 | (uint32_t)(room == 0) << 1 |
           (uint32_t)(self->pipeline.pc >= self->pipeline.tail) << 2 |
           (uint32_t)((self->reg.IRQ_STATUS & IRQ_ERROR) != 0) << 3 | (uint32_t)(self->pipeline.halted != 0) << 4 |
           (uint32_t)(self->fetch.remaining != 0) << 5;
}

static int element_reg_read(void *instance, uint32_t reg)
{
    struct element *self = instance;
    const uint64_t now = cnnvp_element_cycle(self, self->ops->now(self->host));
    cnnvp_element_advance(self, 0);
    switch (reg) {
    case REG_STATUS:
        self->reg.STATUS = status_now(self, now);
        break;
    case REG_FREE:
        self->reg.FREE = self->fetch.remaining ? 0 : cnnvp_pipeline_free(&self->pipeline);
        break;
    case REG_FETCH_ADDR:
        self->reg.FETCH_ADDR = (uint32_t)self->fetch.address;
        break;
    case REG_FETCH_WORDS:
        self->reg.FETCH_WORDS = self->fetch.remaining > UINT32_MAX ? UINT32_MAX : (uint32_t)self->fetch.remaining;
        break;
    case REG_EVENT:
    case REG_EVENT_COUNT:
        self->ops->join(self->host, CNNVP_PATH_NOW, MOMENT_EVENT);
        break;
    case REG_PC:
        self->reg.PC = (uint32_t)self->pipeline.pc;
        break;
    case REG_COMPLETED:
        self->reg.COMPLETED = (uint32_t)(self->pipeline.issued - cnnvp_ledger_in_flight(&self->ledger, now, 0));
        break;
    default:
        break;
    }
    return CNNVP_OK;
}

/* Port `done`: a unit reports the end of a command. */
static int element_access(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct element *self = instance;
    if (port != PORT_done || access->op != CNNVP_COMMAND || access->data == NULL ||
        access->size < sizeof(struct cnnvp_completion))
        return CNNVP_E_ACCESS;
    const struct cnnvp_completion *completion = access->data;
    struct ledger_command *command = cnnvp_ledger_find(&self->ledger, completion->sequence);
    if (command == NULL) {
        self->ops->log(self->host, CNNVP_LOG_WARNING, "completion of instruction %llu, which is not in flight",
                       (unsigned long long)completion->sequence);
        return CNNVP_E_INVAL;
    }
    const uint64_t cycle = cnnvp_element_next_cycle(self);
    cnnvp_ledger_end(&self->ledger, command, cycle);
    self->ops->keep(self->host, MOMENT_COMMANDS + command->place, CNNVP_PATH_NOW, command->tag);
    cnnvp_element_note_end(self, command);
    if (self->refused) {
        self->ops->keep(self->host, MOMENT_RETRY, MOMENT_COMMANDS + command->place, 0);
        self->refused = 0;
        self->retry = cycle;
    }
    if (completion->status != CNNVP_OK && !command->forgotten) {
        const struct element_fault fault = {
            .cause = ERROR_completion,
            .status = completion->status,
            .cycle = cycle,
            .pc = command->pc,
            .word = command->word};
        cnnvp_element_fail(self, &fault);
        cnnvp_element_supply(self, cycle);
    }
    if (!self->advancing)
        cnnvp_element_schedule(self);
    return CNNVP_OK;
}

/* Words of a program have arrived from memory. */
static void element_complete(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct element *self = instance;
    struct element_fetch *fetch = &self->fetch;
    (void)port;
    cnnvp_element_bring_up(self, 0);
    fetch->in_memory = 0;
    if (fetch->discard) {
        fetch->discard = 0;
    } else if (request->status != CNNVP_OK) {
        cnnvp_element_fail_fetch(self, request->status);
    } else {
        const uint64_t cycle = cnnvp_element_next_cycle(self);
        const uint32_t words = (uint32_t)(request->size / 8u);
        for (uint32_t i = 0; i < words; ++i) {
            uint64_t word = 0;
            for (uint32_t byte = 8; byte-- > 0;)
                word = word << 8 | fetch->bytes[i * 8u + byte];
            cnnvp_element_enqueue(self, word, cycle);
        }
        fetch->remaining -= words;
        fetch->address += request->size;
        self->ops->count(self->host, STAT_fetched_words, 0, words);
        cnnvp_element_note_occupancy(self, self->ops->now(self->host));
    }
    cnnvp_element_serve_room(self);
    cnnvp_element_schedule(self);
}

static void element_event(void *instance, uint32_t event)
{
    struct element *self = instance;
    (void)event;
    self->notified = CNNVP_TIME_NEVER;
    self->in_event = 1;
    cnnvp_element_end_follow(self);
    cnnvp_element_advance(self, 1);
    self->in_event = 0;
    cnnvp_element_end_follow(self);
}

/* Adds the instruction counts to the statistics. Not done at each issue, because that call would take longer than what
 * it counts. */
static void count_instructions(struct element *self)
{
    static const uint32_t by_class[] = {[ISA_CLASS_control] = STAT_instructions_control,
                                        [ISA_CLASS_data] = STAT_instructions_data,
                                        [ISA_CLASS_calc] = STAT_instructions_calc};
    for (uint32_t i = 0; i <= ISA_CLASS_calc; ++i) {
        self->ops->count(self->host, STAT_instructions, 0, self->issued[i]);
        self->ops->count(self->host, by_class[i], 0, self->issued[i]);
        self->issued[i] = 0;
    }
    self->ops->count(self->host, STAT_pushed_words, 0, self->pushed);
    self->pushed = 0;
}

static void element_flush(void *instance)
{
    struct element *self = instance;
    cnnvp_element_advance(self, 0);
    count_instructions(self);
    const uint64_t now = cnnvp_element_cycle(self, self->ops->now(self->host));
    const uint64_t last = self->ledger.last_completion;
    cnnvp_ledger_account(&self->ledger, last < now ? last : now);
}

static void element_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    cnnvp_say_sram(costs, 64u, 8u * params[PARAM_queue_depth], 1, "queue");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, params[PARAM_sequence_depth], "decoded instructions");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, 256u, "r0 to r255");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 2u, "registers and program counter");
}

/* ---- tables ---- */

#define UNIT_STORAGE(name) offsetof(struct element, reg.name)
#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_instruction = {
    UNIT_TABLES,
    .kind = "instruction",
    .version = "1.0",
    .summary = "Instruction element (S003): queue, fetch, decode, instruction sequence, execution",
    .instance_size = sizeof(struct element),
    .register_port = PORT_regs,
    .event_count = EVENT_KINDS,
    .init = element_init,
    .fini = element_fini,
    .reset = element_reset,
    .access = element_access,
    .reg_written = element_reg_written,
    .reg_read = element_reg_read,
    .complete = element_complete,
    .event = element_event,
    .flush = element_flush,
    .costs = element_costs,
    .show = cnnvp_element_show,
};
