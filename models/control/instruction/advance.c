/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction element's progress in time: fetch, issue, errors, interrupts, room in the queue, programs in memory.
 *
 * Work that nothing else can see (register and branch instructions, fetch) is computed ahead of time, in one callback,
 * up to the next pending activity of the kernel. Commands, interrupts and reads of memory happen exactly at their time.
 * Work ahead is done only in the element's own event, where no unit is in the middle of an action.
 *
 * Program words that are read from memory count as traffic of the last `layer` word that is in the queue when the read
 * is sent, so that layers and memory agree.
 */
#include "element.h"
#include "isa/isa.h"

enum { ADVANCE_STEPS = 65536 }; /* per callback; a program that never waits must not stop time */

/* ---- interrupts, errors ---- */

void cnnvp_element_update_irq(struct element *self)
{
    (void)self->ops->irq(self->host, PORT_irq, (self->reg.IRQ_STATUS & self->reg.IRQ_ENABLE) != 0);
}

void cnnvp_element_raise(struct element *self, uint32_t bits)
{
    self->reg.IRQ_STATUS |= bits;
    self->touched = 1;
    cnnvp_element_update_irq(self);
}

static const char *fault_text(uint32_t cause)
{
    switch (cause) {
#define CNNVP_ERROR_CAUSE(name, value, help) \
    case value:                              \
        return help;
#include "control/instruction/instruction.def"
    default:
        return "unknown";
    }
}

void cnnvp_element_fail(struct element *self, const struct element_fault *fault)
{
    self->ops->count(self->host, STAT_errors, 0, 1);
    if (self->fault.cause)
        self->ops->log(self->host, CNNVP_LOG_WARNING, "a further error while stopped by one: %s",
                       fault_text(fault->cause));
    else
        self->fault = *fault;
}

/* Reports an error to the guest when its cycle has come. */
static void publish_fault(struct element *self, uint64_t now)
{
    struct element_fault *fault = &self->fault;
    if (!fault->cause || fault->cycle > now || fault->published)
        return;
    fault->published = 1;
    self->reg.ERROR_CAUSE = fault->cause;
    self->reg.ERROR_PC = (uint32_t)fault->pc;
    self->reg.ERROR_WORD_LO = (uint32_t)fault->word;
    self->reg.ERROR_WORD_HI = (uint32_t)(fault->word >> 32);
    self->reg.ERROR_STATUS = (uint32_t)fault->status;
    const int said = fault->status != CNNVP_OK;
    self->ops->log(self->host, CNNVP_LOG_WARNING, "word %llu, 0x%016llx: %s%s%s", (unsigned long long)fault->pc,
                   (unsigned long long)fault->word, fault_text(fault->cause), said ? ": " : "",
                   said ? cnnvp_status_text((int)fault->status) : "");
    cnnvp_element_raise(self, IRQ_ERROR);
}

/* ---- room in the queue, for the guest and for a program in memory ---- */

static int fetch_wanted(const struct element *self)
{
    return self->fetch.remaining && !self->fetch.in_memory && !self->fault.cause;
}

int cnnvp_element_wants_room(const struct element *self)
{
    return self->space_armed || fetch_wanted(self);
}

/* Words of the next read, given the room in the queue; 0: wait for more room. A starving pipeline reads what fits. */
static uint32_t fetch_size(const struct element *self, uint32_t room, int starving)
{
    const uint32_t half = self->pipeline.queue_depth / 2u;
    uint64_t size = self->fetch_words < half ? self->fetch_words : half;
    if (size > self->fetch.remaining)
        size = self->fetch.remaining;
    if (room >= size)
        return (uint32_t)size;
    return starving ? room : 0;
}

/* Returns 1 if the next fetch makes, or may make, room that the guest or a program in memory waits for. */
static int fetch_makes_room(const struct element *self)
{
    if (!cnnvp_element_wants_room(self))
        return 0;
    if (self->pipeline.loop_count)
        return 1;
    const uint32_t room = cnnvp_pipeline_free(&self->pipeline) + 1u;
    const int starving = self->pipeline.pc + 1u >= self->pipeline.tail;
    return (self->space_armed && room >= self->reg.SPACE_THRESHOLD) ||
           (fetch_wanted(self) && fetch_size(self, room, starving) != 0);
}

void cnnvp_element_fail_fetch(struct element *self, int32_t status)
{
    const struct element_fault fault = {
        .cause = ERROR_fetch, .status = status, .cycle = cnnvp_element_next_cycle(self), .pc = self->pipeline.tail};
    self->fetch.remaining = 0;
    cnnvp_element_fail(self, &fault);
    cnnvp_element_supply(self, fault.cycle);
}

static void send_fetch(struct element *self)
{
    const int starving = self->pipeline.pc >= self->pipeline.tail;
    const uint32_t size = fetch_size(self, cnnvp_pipeline_free(&self->pipeline), starving);
    if (!size)
        return;
    struct element_fetch *fetch = &self->fetch;
    fetch->request = (struct cnnvp_request){
        .op = CNNVP_READ,
        .tag = self->tail_tag,
        .address = fetch->address,
        .data = fetch->bytes,
        .size = (uint64_t)size * 8u,
        .count = 1,
        .burst_bytes = 64,
        .outstanding = 4};
    fetch->in_memory = 1;
    self->touched = 1;
    const int status = self->ops->request(self->host, PORT_fetch, &fetch->request);
    if (status != CNNVP_OK) {
        fetch->in_memory = 0;
        cnnvp_element_fail_fetch(self, status);
    }
}

void cnnvp_element_serve_room(struct element *self)
{
    if (self->space_armed && !self->fetch.remaining &&
        cnnvp_pipeline_free(&self->pipeline) >= self->reg.SPACE_THRESHOLD) {
        self->space_armed = 0;
        cnnvp_element_raise(self, IRQ_SPACE);
    }
    if (fetch_wanted(self))
        send_fetch(self);
}

/* ---- progress ---- */

static int fetch_ahead(struct element *self, uint64_t now, uint64_t limit)
{
    int progress = 0;
    for (;;) {
        uint64_t full_wait = 0;
        const uint64_t cycle = cnnvp_pipeline_next_fetch(&self->pipeline, &full_wait);
        if (cycle > limit || cycle == PIPELINE_NEVER || (cycle > now && fetch_makes_room(self)))
            return progress;
        cnnvp_pipeline_fetch(&self->pipeline, cycle);
        cnnvp_element_note_occupancy(self, cnnvp_edge_time(self->mhz, cycle));
        if (full_wait)
            self->ops->count(self->host, STAT_sequence_full_cycles, 0, full_wait);
        progress = 1;
    }
}

/* Last cycle before anything else in the simulation can happen, at least `now`. */
static uint64_t ahead_limit(const struct element *self, uint64_t now)
{
    const cnnvp_time next = self->ops->next_activity(self->host);
    if (next == CNNVP_TIME_NEVER)
        return PIPELINE_NEVER - 1u;
    const uint64_t cycle = cnnvp_edge_at_or_after(self->mhz, next);
    return cycle > now + 1u ? cycle - 1u : now;
}

/* Time of the element's next activity; CNNVP_TIME_NEVER if it depends on others. */
static cnnvp_time next_due(struct element *self)
{
    uint64_t cycle = PIPELINE_NEVER;
    if (self->fault.cause && !self->fault.published)
        cycle = self->fault.cycle;
    const uint64_t fetch = cnnvp_pipeline_next_fetch(&self->pipeline, NULL);
    if (cnnvp_pipeline_oldest(&self->pipeline) != NULL) {
        const uint64_t issue = cnnvp_element_issue_cycle(self);
        if (issue < cycle)
            cycle = issue;
    } else if (fetch != PIPELINE_NEVER && !self->fault.cause && fetch + 2u < cycle) {
        cycle = fetch + 2u;
    }
    if (fetch < cycle && cnnvp_element_wants_room(self))
        cycle = fetch;
    return cycle == PIPELINE_NEVER ? CNNVP_TIME_NEVER : cnnvp_edge_time(self->mhz, cycle);
}

void cnnvp_element_schedule(struct element *self)
{
    const cnnvp_time due = next_due(self);
    if (due == self->notified)
        return;
    self->notified = due;
    if (due == CNNVP_TIME_NEVER)
        (void)self->ops->cancel(self->host, EVENT_ADVANCE);
    else
        (void)self->ops->notify(self->host, EVENT_ADVANCE, due);
}

void cnnvp_element_bring_up(struct element *self, int ahead)
{
    if (self->advancing)
        return;
    self->advancing = 1;
    const uint64_t now = cnnvp_element_cycle(self, self->ops->now(self->host));
    uint64_t limit = ahead ? ahead_limit(self, now) : now;
    for (uint32_t step = 0; step < ADVANCE_STEPS; ++step) {
        self->touched = 0;
        const int fetched = fetch_ahead(self, now, limit);
        const int issued = cnnvp_element_issue(self, now, limit);
        publish_fault(self, now);
        cnnvp_element_serve_room(self);
        if (!fetched && !issued)
            break;
        if (self->touched && ahead)
            limit = ahead_limit(self, now); /* the unit or memory that was used may answer */
    }
    self->advancing = 0;
}

void cnnvp_element_advance(struct element *self, int ahead)
{
    if (self->advancing)
        return;
    cnnvp_element_bring_up(self, ahead);
    cnnvp_element_schedule(self);
}

void cnnvp_element_note_occupancy(struct element *self, cnnvp_time at)
{
    const uint32_t held = self->pipeline.queue_depth - cnnvp_pipeline_free(&self->pipeline);
    if (held == self->held)
        return;
    self->held = held;
    self->ops->counter(self->host, COUNTER_queue, at, held);
    if (held > self->peak) {
        self->ops->count(self->host, STAT_queue_peak, 0, held - self->peak);
        self->peak = held;
    }
}

void cnnvp_element_enqueue(struct element *self, uint64_t word, uint64_t cycle)
{
    const uint32_t opcode = cnnvp_word_read(word).opcode, tag = self->tail_tag;
    const int starves = cnnvp_pipeline_starves(&self->pipeline), layer = opcode == ISA_layer;
    cnnvp_pipeline_push(&self->pipeline, word, cycle);
    if (layer)
        self->tail_tag = (uint32_t)word;
    if (starves || opcode != ISA_set) /* a `set` only waits for the words before it */
        self->ops->keep(self->host, cnnvp_element_push_moment(self, self->pipeline.tail - 1u), CNNVP_PATH_NOW,
                        starves ? self->tail_tag : tag);
}
