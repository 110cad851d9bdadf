/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bus windows, clocks, and parameters that depend on the memory, of a resolved platform. Connections: config_connect.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "config_internal.h"

/* The core's addresses have 32 bits. */
static const uint64_t address_space = UINT64_C(1) << 32;

/* ---- windows ---- */

static int is_target(enum cnnvp_port_kind kind)
{
    return kind == CNNVP_PORT_TARGET || kind == CNNVP_PORT_MEM_TARGET;
}

/* The port that the bus reaches: the register port, otherwise the first target port for plain accesses, otherwise the
 * first target port. */
static uint32_t bus_port(const struct cnnvp_unit *unit)
{
    uint32_t first = UINT32_MAX;
    if (unit->register_count)
        return unit->register_port;
    for (uint32_t i = (uint32_t)unit->port_count; i > 0; --i)
        if (is_target(unit->ports[i - 1].kind) &&
            (first == UINT32_MAX || cnnvp_port_crosses(unit, first) > CNNVP_PORT_PLAIN ||
             cnnvp_port_crosses(unit, i - 1) <= CNNVP_PORT_PLAIN))
            first = i - 1;
    return first;
}

static cnnvp_result place_instance(const struct cnnvp_box *box, struct cnnvp_instance *instance,
                                   struct cnnvp_error *error)
{
    const struct cnnvp_setting *at = cnnvp_draft_setting(box->drafts[instance->number], "at", 0);
    if (at == NULL || at->text == NULL)
        return CNNVP_DONE;
    char reason[160];
    instance->bus_port = instance->unit != NULL ? bus_port(instance->unit) : UINT32_MAX;
    if (instance->bus_port == UINT32_MAX)
        return cnnvp_config_error(error, at->key_place, "%s.at: model %s has no port that the bus could reach",
                                  instance->name, instance->model);
    uint32_t taken = cnnvp_port_crosses(instance->unit, instance->bus_port);
    if (taken && taken != CNNVP_PORT_PLAIN)
        return cnnvp_config_error(error, at->key_place, "%s.at: port %s of model %s takes %s; the bus has %s",
                                  instance->name, instance->unit->ports[instance->bus_port].name, instance->model,
                                  cnnvp_port_crosses_name(taken), cnnvp_port_crosses_name(CNNVP_PORT_PLAIN));
    if (cnnvp_value_number(at->text, at->quoted, 0, address_space - 1, 1, &instance->base, reason, sizeof reason) != 0)
        return cnnvp_config_error(error, at->place, "%s.at: %s", instance->name, reason);
    const struct cnnvp_port *port = &instance->unit->ports[instance->bus_port];
    uint32_t size = cnnvp_unit_param(instance->unit, "size");
    instance->size = port->window ? port->window : size != UINT32_MAX ? instance->values[size] : 0;
    if (instance->base % 4)
        return cnnvp_config_error(
            error, at->place, "%s.at: 0x%" PRIx64 " is not a multiple of 4", instance->name, instance->base);
    if (instance->size > address_space - instance->base)
        return cnnvp_config_error(
            error, at->place,
            "%s.at: 0x%" PRIx64 " with 0x%" PRIx64 " bytes reaches beyond 0xffffffff, the last address", instance->name,
            instance->base, instance->size);
    instance->on_bus = 1;
    return CNNVP_DONE;
}

/* If the window's size is not set, it is the size of the memory's parts, cut off at the next window. */
static cnnvp_result size_window(struct cnnvp_box *box, struct cnnvp_instance *instance, struct cnnvp_error *error)
{
    if (!instance->on_bus || instance->size != 0)
        return CNNVP_DONE;
    const struct cnnvp_memory_rate none = {.struct_size = sizeof none};
    const uint32_t size = cnnvp_unit_param(instance->unit, "size");
    uint64_t end = address_space;
    if (size != UINT32_MAX && instance->unit->fit != NULL)
        instance->unit->fit(instance->values, CNNVP_DEFAULT_MHZ, &none);
    if (size == UINT32_MAX || instance->values[size] == 0)
        return cnnvp_config_error(error, cnnvp_draft_setting(box->drafts[instance->number], "at", 0)->place,
                                  "%s: its window has no bytes", instance->name);
    for (size_t i = 0; i < box->resolved.instance_count; ++i) {
        const struct cnnvp_instance *other = &box->resolved.instances[i];
        if (other->on_bus && other->base > instance->base && other->base < end)
            end = other->base;
    }
    if (instance->values[size] > end - instance->base)
        instance->values[size] = end - instance->base;
    instance->size = instance->values[size];
    return CNNVP_DONE;
}

static int compare_bases(const void *a, const void *b)
{
    const struct cnnvp_instance *left = *(const struct cnnvp_instance *const *)a;
    const struct cnnvp_instance *right = *(const struct cnnvp_instance *const *)b;
    if (left->base != right->base)
        return left->base < right->base ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static cnnvp_result check_windows(struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    const struct cnnvp_instance **order = cnnvp_arena_array(&box->arena, resolved->instance_count, sizeof *order);
    CNNVP_TRY_MEMORY(order != NULL, error);
    size_t count = 0;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        if (resolved->instances[i].on_bus)
            order[count++] = &resolved->instances[i];
    qsort(order, count, sizeof *order, compare_bases);
    for (size_t i = 1; i < count; ++i) {
        const struct cnnvp_instance *a = order[i - 1], *b = order[i];
        if (b->base >= a->base + a->size)
            continue;
        /* Report the later of the two, since that is the one to move. */
        const struct cnnvp_instance *later = a->number > b->number ? a : b;
        const struct cnnvp_setting *at = cnnvp_draft_setting(box->drafts[later->number], "at", 0);
        return cnnvp_config_error(
            error, at->place, "%s (0x%" PRIx64 " to 0x%" PRIx64 ") and %s (0x%" PRIx64 " to 0x%" PRIx64 ") overlap",
            a->name, a->base, a->base + a->size - 1, b->name, b->base, b->base + b->size - 1);
    }
    return CNNVP_DONE;
}

/* ---- units that nothing drives, faster units ---- */

/* Reads a reserved key that is checked like a parameter; leaves *value unchanged if the key is not set. */
static cnnvp_result read_reserved(const struct cnnvp_box *box, const struct cnnvp_instance *instance,
                                  const struct cnnvp_param *param, uint64_t *value, struct cnnvp_error *error)
{
    const struct cnnvp_setting *setting = cnnvp_draft_setting(box->drafts[instance->number], param->name, 0);
    char reason[600];
    if (setting == NULL || setting->text == NULL)
        return CNNVP_DONE;
    if (cnnvp_value_parse(param, setting->text, setting->quoted, value, reason, sizeof reason) != 0)
        return cnnvp_config_error(error, setting->place, "%s.%s: %s", instance->name, param->name, reason);
    return CNNVP_DONE;
}

const struct cnnvp_param cnnvp_speedup_param = {.name = "speedup", .type = CNNVP_PARAM_UINT, .min = 1, .max = 2};

static cnnvp_result read_switches(const struct cnnvp_box *box, struct cnnvp_instance *instance,
                                  struct cnnvp_error *error)
{
    static const struct cnnvp_param idle = {.name = "idle", .type = CNNVP_PARAM_ENUM, .choices = "off|on"};
    uint64_t is_idle = 0, times = 1;
    CNNVP_TRY(read_reserved(box, instance, &idle, &is_idle, error));
    CNNVP_TRY(read_reserved(box, instance, &cnnvp_speedup_param, &times, error));
    instance->idle = is_idle != 0;
    instance->speedup = (uint32_t)times;
    return CNNVP_DONE;
}

static int is_reached(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t port)
{
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *from = &resolved->instances[i];
        for (size_t j = 0; j < from->binding_count; ++j)
            if (from->bindings[j].target == instance->number && from->bindings[j].target_port == port &&
                from->unit->ports[from->bindings[j].port].kind != CNNVP_PORT_IRQ_OUT)
                return 1;
    }
    return 0;
}

static int leads_outside(const struct cnnvp_port *port)
{
    return (port->flags & CNNVP_PORT_OUTSIDE) != 0;
}

static int has_port(const struct cnnvp_instance *instance, int (*wanted)(const struct cnnvp_port *port))
{
    for (uint32_t i = 0; instance->unit != NULL && i < instance->unit->port_count; ++i)
        if (wanted(&instance->unit->ports[i]))
            return 1;
    return 0;
}

/* Checks that something drives the unit: it has a process or no target port, it is on the bus, or another port leads to
 * it or outside. If it has registers, these must be reachable. A unit that a base defines may have lost its
 * initiator. */
static cnnvp_result check_driven(const struct cnnvp_box *box, const struct cnnvp_instance *instance,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_unit *unit = instance->unit;
    uint32_t incoming = 0;
    if (unit == NULL || instance->on_bus || instance->idle || has_port(instance, leads_outside))
        return CNNVP_DONE;
    if (unit->register_count) {
        const struct cnnvp_port *port = &unit->ports[unit->register_port];
        if ((port->flags & CNNVP_PORT_OPTIONAL) || is_reached(&box->resolved, instance, unit->register_port))
            return CNNVP_DONE;
        return cnnvp_config_error(error, instance->place.text,
                                  "%s: nothing reaches its registers (port %s); give it an address on the bus with "
                                  "`at:`, or write `idle: true` if it is to do nothing",
                                  instance->name, port->name);
    }
    for (uint32_t i = 0; i < unit->port_count; ++i) {
        if (unit->ports[i].kind != CNNVP_PORT_TARGET && unit->ports[i].kind != CNNVP_PORT_MEM_TARGET)
            continue;
        if (is_reached(&box->resolved, instance, i))
            return CNNVP_DONE;
        ++incoming;
    }
    const struct cnnvp_setting *model = cnnvp_draft_setting(box->drafts[instance->number], "model", 0);
    if (!incoming || unit->process != NULL || model->level < box->level)
        return CNNVP_DONE;
    return cnnvp_config_error(error, instance->place.text,
                              "%s: no other instance's port leads to it, so it would do nothing; connect one to it, or "
                              "write `idle: true` if that is meant",
                              instance->name);
}

/* ---- clocks, the bus ---- */

static cnnvp_result choose_clock(const struct cnnvp_box *box, struct cnnvp_instance *instance,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_setting *clock = cnnvp_draft_setting(box->drafts[instance->number], "clock", 0);
    int own = cnnvp_unit_param(instance->unit, "clock_mhz") != UINT32_MAX;
    instance->clock = own ? instance->number : CNNVP_NO_INSTANCE;
    if (clock == NULL || clock->text == NULL)
        return CNNVP_DONE;
    const struct cnnvp_setting *model = cnnvp_draft_setting(box->drafts[instance->number], "model", 0);
    if (own && clock->level < model->level)
        return CNNVP_DONE; /* belonged to the previous model */
    if (own || instance->unit == NULL)
        return cnnvp_config_error(error, clock->key_place, "%s.clock: %s", instance->name,
                                  own ? "this instance has a clock of its own, clock_mhz" : "the bus has no clock");
    const struct cnnvp_instance *source = cnnvp_box_find(&box->resolved, clock->text);
    if (source != NULL && cnnvp_unit_param(source->unit, "clock_mhz") != UINT32_MAX) {
        instance->clock = source->number;
        return CNNVP_DONE;
    }
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, clock->text);
    for (size_t i = 0; i < box->resolved.instance_count; ++i)
        if (cnnvp_unit_param(box->resolved.instances[i].unit, "clock_mhz") != UINT32_MAX)
            cnnvp_suggest_offer(&suggest, box->resolved.instances[i].name);
    return cnnvp_config_error(
        error, clock->place, "%s.clock: %s %s%s", instance->name, cnnvp_config_show(clock->text).text,
        source != NULL ? "has no parameter clock_mhz" : "is not an instance",
        cnnvp_suggest_text(&suggest, "those with a clock are"));
}

/* Allows one bus at most; requires one if anything has an address. */
static cnnvp_result check_bus(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_instance *bus = NULL;
    for (size_t i = 0; i < box->resolved.instance_count; ++i) {
        const struct cnnvp_instance *instance = &box->resolved.instances[i];
        if (instance->unit != NULL)
            continue;
        if (bus != NULL)
            return cnnvp_config_error(
                error, instance->place.text, "%s and %s are both a bus; a platform has one", bus->name, instance->name);
        bus = instance;
        const struct cnnvp_setting *irq = cnnvp_draft_setting(box->drafts[i], "irq", 0);
        if (irq != NULL && irq->text != NULL)
            return cnnvp_config_error(error, irq->key_place, "%s.irq: the bus has no interrupt", instance->name);
    }
    for (size_t i = 0; i < box->resolved.instance_count && bus == NULL; ++i)
        if (box->resolved.instances[i].on_bus)
            return cnnvp_config_error(error, cnnvp_draft_setting(box->drafts[i], "at", 0)->key_place,
                                      "%s.at: there is no instance of model bus", box->resolved.instances[i].name);
    return CNNVP_DONE;
}

static int crosses_program(const struct cnnvp_port *port)
{
    return (port->flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_PROGRAM;
}

/* A unit can only be sped up if its times come from its own parameters. */
static cnnvp_result check_speedup(const struct cnnvp_box *box, const struct cnnvp_instance *instance,
                                  struct cnnvp_error *error)
{
    if (instance->speedup == 1 || (instance->unit != NULL && !has_port(instance, leads_outside)))
        return CNNVP_DONE;
    return cnnvp_config_error(error, cnnvp_draft_setting(box->drafts[instance->number], "speedup", 0)->key_place,
                              "%s.speedup: its times are not the platform's", instance->name);
}

static int goes_on(const struct cnnvp_instance *instance)
{
    for (size_t j = 0; j < instance->binding_count; ++j)
        if (instance->unit->ports[instance->bindings[j].port].kind == CNNVP_PORT_INITIATOR)
            return 1;
    return 0;
}

static int is_led_to(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *target)
{
    for (size_t i = 0; i < resolved->instance_count; ++i)
        for (size_t j = 0; j < resolved->instances[i].binding_count; ++j)
            if (resolved->instances[i].bindings[j].target == target->number)
                return 1;
    return 0;
}

/* Checks that an external instance is connected as its role requires. */
static cnnvp_result check_outside(const struct cnnvp_box *box, const struct cnnvp_instance *outside,
                                  struct cnnvp_error *error)
{
    enum { MEMORY, DEVICE, LINK };
    const uint64_t role = cnnvp_instance_value_or(outside, "role", MEMORY);
    const int is_signal = !outside->on_bus && outside->binding_count > 0; /* only an interrupt */
    if (goes_on(outside) != (role == LINK))
        return cnnvp_config_error(
            error, outside->place.text,
            role != LINK ? "%s: its port inward is that of a link: write `role: link`"
                         : "%s: this link leads nowhere; give it `connect: {inward: bus}`, or the "
                           "memory behind it",
            outside->name);
    if (role == LINK || (role == DEVICE && outside->on_bus) || is_signal || is_led_to(&box->resolved, outside))
        return CNNVP_DONE;
    return cnnvp_config_error(
        error, outside->place.text,
        "%s is no unit's memory: model %s stands for the off-chip memory; a device on the bus has "
        "`role: device`, or is a unit of your own (`cnnvp new-unit`)",
        outside->name, outside->model);
}

/* Only one core runs the program. */
static cnnvp_result check_single(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_instance *core = NULL;
    for (size_t i = 0; i < box->resolved.instance_count; ++i) {
        const struct cnnvp_instance *instance = &box->resolved.instances[i];
        if (has_port(instance, crosses_program)) {
            if (core != NULL)
                return cnnvp_config_error(error, instance->place.text,
                                          "%s would run nothing: one program is loaded, and %s runs it; a platform has "
                                          "one core",
                                          instance->name, core->name);
            core = instance;
        }
        if (has_port(instance, leads_outside))
            CNNVP_TRY(check_outside(box, instance, error));
    }
    return CNNVP_DONE;
}

/* ---- parameters that depend on the memory ---- */

static struct cnnvp_memory_rate rate_of(const struct cnnvp_instance *memory)
{
    struct cnnvp_memory_rate rate = {.struct_size = sizeof rate};
    if (memory->unit != NULL && memory->unit->rate != NULL)
        memory->unit->rate(memory->values, &rate);
    return rate;
}

/* Bandwidth and latency of the memory behind the instance's first memory port; on the bus, of the fastest memory. */
static struct cnnvp_memory_rate memory_rate(const struct cnnvp_resolved *resolved,
                                            const struct cnnvp_instance *instance)
{
    size_t i = 0;
    while (i < instance->binding_count &&
           instance->unit->ports[instance->bindings[i].port].kind != CNNVP_PORT_MEM_INITIATOR)
        ++i;
    if (i == instance->binding_count)
        return (struct cnnvp_memory_rate){.struct_size = sizeof(struct cnnvp_memory_rate)};
    struct cnnvp_memory_rate rate = rate_of(&resolved->instances[instance->bindings[i].target]);
    for (size_t k = 0; resolved->instances[instance->bindings[i].target].unit == NULL && k < resolved->instance_count;
         ++k) {
        const struct cnnvp_memory_rate other = rate_of(&resolved->instances[k]);
        if (resolved->instances[k].on_bus && other.bytes_per_s > rate.bytes_per_s)
            rate = other;
    }
    return rate;
}

static cnnvp_result fit_to_memory(struct cnnvp_box *box, struct cnnvp_instance *instance, struct cnnvp_error *error)
{
    const struct cnnvp_unit *unit = instance->unit;
    if (unit == NULL || unit->fit == NULL)
        return CNNVP_DONE;
    const struct cnnvp_memory_rate rate = memory_rate(&box->resolved, instance);
    unit->fit(instance->values, cnnvp_instance_mhz(&box->resolved, instance, CNNVP_DEFAULT_MHZ), &rate);
    for (size_t i = 0; i < unit->param_count; ++i) {
        instance->texts[i] = cnnvp_value_text(&box->arena, &unit->params[i], instance->values[i], instance->texts[i]);
        CNNVP_TRY_MEMORY(instance->texts[i] != NULL, error);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_box_wire(struct cnnvp_box *box, struct cnnvp_error *error)
{
    struct cnnvp_resolved *resolved = &box->resolved;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(place_instance(box, &resolved->instances[i], error));
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(size_window(box, &resolved->instances[i], error));
    CNNVP_TRY(check_bus(box, error));
    CNNVP_TRY(check_windows(box, error));
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(choose_clock(box, &resolved->instances[i], error));
    CNNVP_TRY(cnnvp_box_connect(box, error));
    CNNVP_TRY(check_single(box, error));
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        CNNVP_TRY(read_switches(box, &resolved->instances[i], error));
        CNNVP_TRY(check_speedup(box, &resolved->instances[i], error));
    }
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(check_driven(box, &resolved->instances[i], error));
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(fit_to_memory(box, &resolved->instances[i], error));
    return CNNVP_DONE;
}
