/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the units ---- */

struct worker {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct rig *rig;
    uint64_t busy[FAKE_EVENTS]; /* sequence of the command, 0 none */
    int32_t status[FAKE_EVENTS];
};

static int worker_init(void *instance, const struct cnnvp_init *init)
{
    struct worker *self = instance;
    self->host = init->host;
    self->ops = init->ops;
    return CNNVP_OK;
}

static cnnvp_time after(const struct rig *rig, uint64_t cycles)
{
    return cnnvp_edge_time(rig->mhz, rig_cycle(rig) + cycles);
}

static int worker_access(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct worker *self = instance;
    struct rig *rig = self->rig;
    const struct cnnvp_command *command = access->data;
    (void)port;
    if (command->opcode == CNNVP_COMMAND_FORGET) {
        rig->forgotten += self->host == rig->workers[2];
        return CNNVP_OK;
    }
    if (cnnvp_edge_time(rig->mhz, rig_cycle(rig)) != rig->sim.now || rig->count == RIG_COMMANDS) {
        fprintf(stderr, "a command between edges\n");
        exit(99);
    }
    uint32_t slot = 0;
    while (slot < rig->capacity && self->busy[slot])
        ++slot;
    if (slot == rig->capacity)
        return CNNVP_E_STATE;
    rig->commands[rig->count++] = (struct rig_command){rig_cycle(rig), *command};
    if (command->immediate & REFUSE)
        return CNNVP_E_INVAL;
    const cnnvp_time end = after(rig, command->immediate & 0xffffu);
    if (!(command->immediate & PENDS)) {
        access->delay += end - rig->sim.now;
        return CNNVP_OK;
    }
    self->busy[slot] = command->sequence;
    self->status[slot] = command->immediate & FAILS ? CNNVP_E_MEMORY : CNNVP_OK;
    (void)self->ops->notify(self->host, slot, end);
    return CNNVP_PENDING;
}

static void worker_event(void *instance, uint32_t event)
{
    struct worker *self = instance;
    struct cnnvp_completion completion = {self->busy[event], self->status[event], 0};
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &completion, .size = sizeof completion};
    self->busy[event] = 0;
    (void)self->ops->access(self->host, 1, &access);
}

static const struct cnnvp_port worker_ports[] = {
    {"command", CNNVP_PORT_TARGET, 0, 0x1000, 0, "commands"},
    {"done", CNNVP_PORT_INITIATOR, 0, 0, 0, "completions"},
};

static const struct cnnvp_unit worker_unit = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .kind = "worker",
    .instance_size = sizeof(struct worker),
    .ports = worker_ports,
    .port_count = 2,
    .event_count = FAKE_EVENTS,
    .init = worker_init,
    .access = worker_access,
    .event = worker_event,
};

/* ---- the rig ---- */

struct rig *rig_new(uint64_t mhz)
{
    static const char *const ports[] = {"array", "vector", "dma", "custom_0"};
    struct rig *rig = calloc(1, sizeof *rig);
    if (rig == NULL)
        exit(99);
    fake_sim_init(&rig->sim, mhz, RIG_MEMORY, 65536);
    rig->mhz = mhz;
    rig->capacity = FAKE_EVENTS;
    rig->element = fake_add(&rig->sim, &cnnvp_unit_instruction);
    rig->custom = worker_unit;
    for (uint32_t i = 0; i < 4; ++i) {
        rig->workers[i] = fake_add(&rig->sim, i == 3 ? &rig->custom : &worker_unit);
        fake_connect(rig->element, ports[i], rig->workers[i], "command");
        fake_connect(rig->workers[i], "done", rig->element, "done");
    }
    return rig;
}

void rig_start(struct rig *rig)
{
    for (uint32_t i = 0; i < 4; ++i) {
        if (fake_start(rig->workers[i]))
            exit(99);
        ((struct worker *)rig->workers[i]->self)->rig = rig;
    }
    if (fake_start(rig->element))
        exit(99);
    (void)fake_write(rig->element, "CTRL", 1);
}

void rig_free(struct rig *rig)
{
    fake_sim_free(&rig->sim);
    free(rig);
}

uint64_t rig_cycle(const struct rig *rig)
{
    return cnnvp_edge_at_or_after(rig->mhz, rig->sim.now + 1u) - 1u;
}

void rig_to(struct rig *rig, uint64_t cycle)
{
    for (uint64_t next = rig_cycle(rig) + 1u; rig->every_cycle && next < cycle; ++next) {
        rig->sim.other_activity = cnnvp_edge_time(rig->mhz, next);
        fake_run(&rig->sim, rig->sim.other_activity);
    }
    rig->sim.other_activity = cnnvp_edge_time(rig->mhz, cycle);
    fake_run(&rig->sim, rig->sim.other_activity);
}

void rig_finish(struct rig *rig, uint64_t cycle)
{
    if (rig->every_cycle)
        rig_to(rig, cycle);
    rig->sim.other_activity = CNNVP_TIME_NEVER;
    fake_run(&rig->sim, cnnvp_edge_time(rig->mhz, cycle));
    rig->element->unit->flush(rig->element->self);
}

uint64_t rig_count(struct rig *rig, const char *statistic)
{
    rig->element->unit->flush(rig->element->self);
    return fake_count(rig->element, statistic);
}

void rig_push(struct rig *rig, uint64_t word)
{
    (void)fake_write(rig->element, "PUSH_LO", (uint32_t)word);
    (void)fake_write(rig->element, "PUSH_HI", (uint32_t)(word >> 32));
}

void rig_push_all(struct rig *rig, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        rig_push(rig, words[i]);
}

uint64_t rig_accounted(const struct rig *rig)
{
    static const char *const stats[] = {
        "stall_cycles_vector",      "stall_cycles_input", "stall_cycles_weight", "stall_cycles_output",
        "stall_cycles_instruction", "stall_cycles_host",  "idle_cycles"};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 7; ++i)
        sum += fake_count(rig->element, stats[i]);
    return sum;
}

/* ---- words ---- */

uint64_t w_none(enum isa_code code)
{
    return (uint64_t)code << 56;
}

uint64_t w_imm(enum isa_code code, uint32_t immediate)
{
    return w_none(code) | immediate;
}

uint64_t w_ri(enum isa_code code, uint32_t rd, uint32_t immediate)
{
    return w_imm(code, immediate) | (uint64_t)rd << 40;
}

uint64_t w_rr(enum isa_code code, uint32_t rd, uint32_t ra)
{
    return w_ri(code, rd, 0) | (uint64_t)ra << 32;
}

uint64_t w_rri(enum isa_code code, uint32_t rd, uint32_t ra, uint32_t immediate)
{
    return w_rr(code, rd, ra) | immediate;
}

uint64_t w_rrr(enum isa_code code, uint32_t rd, uint32_t ra, uint32_t rb)
{
    return w_rr(code, rd, ra) | (uint64_t)rb << 24;
}

uint64_t w_branch(enum isa_code code, uint32_t ra, uint32_t rb, int32_t offset)
{
    return w_rri(code, ra, rb, (uint32_t)offset);
}

uint64_t w_tile(enum isa_code code, uint32_t status, uint32_t base, uint32_t halves, uint32_t immediate)
{
    return w_rri(code, base, halves, immediate) | (uint64_t)status << 48;
}
