/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections, windows on the bus, interrupts and clocks of a resolved platform.
 * `connect: {port: target}`: target is `instance`, `instance.port`, `instance.line` or `instance.port.line`; without a
 * port, the one port of the instance that fits. INITIATOR ports lead to TARGET ports, MEM_TARGET ports or the bus;
 * MEM_INITIATOR ports to MEM_TARGET ports or the bus; IRQ_OUT ports to a line of an IRQ_IN port, one driver a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_internal.h"

/* The core's addresses have 32 bits. */
static const uint64_t address_space = UINT64_C(1) << 32;

static const char *kind_name(enum cnnvp_port_kind kind)
{
    static const char *const names[] = {"a target", "an initiator", "a memory target", "a memory initiator",
                                        "an interrupt output", "an interrupt input"};
    return names[kind];
}

static int is_outgoing(enum cnnvp_port_kind kind)
{
    return kind == CNNVP_PORT_INITIATOR || kind == CNNVP_PORT_MEM_INITIATOR || kind == CNNVP_PORT_IRQ_OUT;
}

static int fits(enum cnnvp_port_kind from, enum cnnvp_port_kind to)
{
    switch (from) {
    case CNNVP_PORT_INITIATOR:
        return to == CNNVP_PORT_TARGET || to == CNNVP_PORT_MEM_TARGET;
    case CNNVP_PORT_MEM_INITIATOR:
        return to == CNNVP_PORT_MEM_TARGET;
    case CNNVP_PORT_IRQ_OUT:
        return to == CNNVP_PORT_IRQ_IN;
    default:
        return 0;
    }
}

static uint32_t find_port(const struct cnnvp_unit *unit, const char *name)
{
    for (uint32_t i = 0; i < unit->port_count; i++)
        if (strcmp(unit->ports[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- one connection ---- */

/* A connection while it is worked out: who, where it is written, and the parts of its text. */
struct connection {
    struct cnnvp_box *box;
    struct cnnvp_instance *from;
    const struct cnnvp_port *port;
    const struct cnnvp_setting *setting;
    const struct cnnvp_instance *to;
    const char *target_port; /* NULL: not said */
    const char *line;        /* NULL: not said */
    struct cnnvp_error *error;
};

static cnnvp_result refuse(const struct connection *connection, const char *what, const char *more)
{
    return cnnvp_config_error(connection->error, connection->setting->place, "%s.connect.%s: %s%s%s",
                              connection->from->name, connection->port->name,
                              cnnvp_config_show(connection->setting->text).text, what, more);
}

static int is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Splits the text at its dots and finds the instance. */
static cnnvp_result split(struct connection *connection)
{
    struct cnnvp_arena *arena = &connection->box->arena;
    char *name = cnnvp_arena_copy(arena, connection->setting->text, strlen(connection->setting->text));
    if (!name)
        return cnnvp_config_no_memory(connection->error);
    char *parts[3] = {name, NULL, NULL};
    size_t count = 1;
    for (char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (count == 3)
            return refuse(connection, " has too many parts", "; instance, instance.port or instance.port.line is due");
        *dot = '\0';
        parts[count++] = dot + 1;
    }
    connection->to = cnnvp_box_find(&connection->box->resolved, name);
    if (!connection->to) {
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, name);
        for (size_t i = 0; i < connection->box->resolved.instance_count; i++)
            cnnvp_suggest_offer(&suggest, connection->box->resolved.instances[i].name);
        return refuse(connection, ": there is no such instance", cnnvp_suggest_text(&suggest, "there are"));
    }
    if (count == 2 && is_number(parts[1]))
        connection->line = parts[1];
    else if (count >= 2)
        connection->target_port = parts[1];
    if (count == 3)
        connection->line = parts[2];
    if (connection->line && connection->port->kind != CNNVP_PORT_IRQ_OUT)
        return refuse(connection, " names a line", ", which only an interrupt has");
    return CNNVP_DONE;
}

static cnnvp_result choose_port(const struct connection *connection, uint32_t *port)
{
    const struct cnnvp_unit *unit = connection->to->unit;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, connection->target_port ? connection->target_port : "");
    size_t fitting = 0;
    *port = UINT32_MAX;
    for (uint32_t i = 0; i < unit->port_count; i++) {
        if (!fits(connection->port->kind, unit->ports[i].kind))
            continue;
        cnnvp_suggest_offer(&suggest, unit->ports[i].name);
        fitting++;
        *port = i;
    }
    if (!connection->target_port) {
        if (fitting == 1)
            return CNNVP_DONE;
        if (fitting == 0)
            return refuse(connection, " has no port that fits ", kind_name(connection->port->kind));
        return refuse(connection, " leaves open which port", cnnvp_suggest_text(&suggest, "there are"));
    }
    *port = find_port(unit, connection->target_port);
    if (*port == UINT32_MAX)
        return refuse(connection, ": there is no such port", cnnvp_suggest_text(&suggest, "those that fit are"));
    if (fits(connection->port->kind, unit->ports[*port].kind))
        return CNNVP_DONE;
    char why[120];
    (void)snprintf(why, sizeof why, " is %s, to which %s cannot lead", kind_name(unit->ports[*port].kind),
                   kind_name(connection->port->kind));
    return refuse(connection, why, cnnvp_suggest_text(&suggest, "those that fit are"));
}

static cnnvp_result choose_line(const struct connection *connection, uint32_t port, uint32_t *line)
{
    const struct cnnvp_port *input = &connection->to->unit->ports[port];
    char why[160];
    uint64_t number = 0;
    if (!connection->line && input->lines == 1)
        return CNNVP_DONE;
    if (!connection->line) {
        (void)snprintf(why, sizeof why, " leaves open which line, 0 to %" PRIu32, input->lines - 1);
        return refuse(connection, why, "");
    }
    if (cnnvp_value_number(connection->line, 0, 0, input->lines - 1, 0, &number, why, sizeof why) != 0)
        return refuse(connection, ": line ", why);
    *line = (uint32_t)number;
    return CNNVP_DONE;
}

static cnnvp_result add_binding(struct cnnvp_instance *from, const struct cnnvp_binding *binding)
{
    from->bindings[from->binding_count++] = *binding;
    return CNNVP_DONE;
}

static cnnvp_result connect_port(struct cnnvp_box *box, struct cnnvp_instance *from, uint32_t port,
                                 const struct cnnvp_setting *setting, struct cnnvp_error *error)
{
    struct connection connection = {.box = box, .from = from, .port = &from->unit->ports[port], .setting = setting,
                                    .error = error};
    struct cnnvp_binding binding = {.port = port};
    cnnvp_result result = split(&connection);
    if (result != CNNVP_DONE)
        return result;
    binding.target = connection.to->number;
    if (!connection.to->unit) {
        if (connection.port->kind == CNNVP_PORT_IRQ_OUT)
            return refuse(&connection, " is the bus", ", which takes no interrupts");
        if (connection.target_port)
            return refuse(&connection, " names a port", "; the bus has none by name");
        return add_binding(from, &binding);
    }
    result = choose_port(&connection, &binding.target_port);
    if (result == CNNVP_DONE && connection.port->kind == CNNVP_PORT_IRQ_OUT)
        result = choose_line(&connection, binding.target_port, &binding.target_line);
    return result == CNNVP_DONE ? add_binding(from, &binding) : result;
}

/* ---- irq: N ---- */

static const struct cnnvp_instance *find_plic(const struct cnnvp_box *box)
{
    for (size_t i = 0; i < box->resolved.instance_count; i++)
        if (box->resolved.instances[i].unit && strcmp(box->resolved.instances[i].unit->kind, "plic") == 0)
            return &box->resolved.instances[i];
    return NULL;
}

static uint32_t first_port(const struct cnnvp_unit *unit, enum cnnvp_port_kind kind)
{
    for (uint32_t i = 0; unit && i < unit->port_count; i++)
        if (unit->ports[i].kind == kind)
            return i;
    return UINT32_MAX;
}

static cnnvp_result connect_irq(struct cnnvp_box *box, struct cnnvp_instance *from,
                                const struct cnnvp_setting *setting, struct cnnvp_error *error)
{
    struct cnnvp_binding binding = {.port = first_port(from->unit, CNNVP_PORT_IRQ_OUT)};
    const struct cnnvp_instance *plic = find_plic(box);
    char reason[160];
    uint64_t line = 0;
    if (binding.port == UINT32_MAX)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: model %s has no interrupt output", from->name,
                                  from->model);
    if (!plic)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: there is no instance of model plic", from->name);
    const struct cnnvp_setting *other = cnnvp_draft_setting(box->drafts[from->number],
                                                            from->unit->ports[binding.port].name, 1);
    if (other && other->text)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: port %s is connected at %s already", from->name,
                                  from->unit->ports[binding.port].name, other->place);
    binding.target = plic->number;
    binding.target_port = first_port(plic->unit, CNNVP_PORT_IRQ_IN);
    if (binding.target_port == UINT32_MAX)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: %s has no interrupt input", from->name,
                                  plic->name);
    /* Interrupt source 0 does not exist (RISC-V PLIC specification 1.0, section 1). */
    if (cnnvp_value_number(setting->text, setting->quoted, 1, plic->unit->ports[binding.target_port].lines - 1, 0,
                           &line, reason, sizeof reason) != 0)
        return cnnvp_config_error(error, setting->place, "%s.irq: %s", from->name, reason);
    binding.target_line = (uint32_t)line;
    return add_binding(from, &binding);
}

/* ---- all connections of an instance ---- */

static cnnvp_result check_port_names(const struct cnnvp_box *box, const struct cnnvp_instance *from,
                                     struct cnnvp_error *error)
{
    const struct cnnvp_draft_unit *draft = box->drafts[from->number];
    const struct cnnvp_setting *model = cnnvp_draft_setting(draft, "model", 0);
    for (const struct cnnvp_setting *setting = draft->settings; setting; setting = setting->next) {
        if (!setting->connect || setting->layer < model->layer)
            continue;
        uint32_t port = from->unit ? find_port(from->unit, setting->key) : UINT32_MAX;
        if (port != UINT32_MAX && is_outgoing(from->unit->ports[port].kind))
            continue;
        if (port != UINT32_MAX)
            return cnnvp_config_error(error, setting->key_place,
                                      "%s.connect: port %s is %s; connections are written at the initiator",
                                      from->name, setting->key, kind_name(from->unit->ports[port].kind));
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, setting->key);
        for (uint32_t i = 0; from->unit && i < from->unit->port_count; i++)
            if (is_outgoing(from->unit->ports[i].kind))
                cnnvp_suggest_offer(&suggest, from->unit->ports[i].name);
        return cnnvp_config_error(error, setting->key_place, "%s.connect: model %s has no outgoing port %s%s",
                                  from->name, from->model, cnnvp_config_show(setting->key).text,
                                  cnnvp_suggest_text(&suggest, "it has"));
    }
    return CNNVP_DONE;
}

static cnnvp_result connect_instance(struct cnnvp_box *box, struct cnnvp_instance *from, struct cnnvp_error *error)
{
    const struct cnnvp_draft_unit *draft = box->drafts[from->number];
    const struct cnnvp_setting *irq = cnnvp_draft_setting(draft, "irq", 0);
    cnnvp_result result = check_port_names(box, from, error);
    if (!from->unit || result != CNNVP_DONE)
        return result;
    from->bindings = cnnvp_arena_array(&box->arena, from->unit->port_count, sizeof *from->bindings);
    if (!from->bindings)
        return cnnvp_config_no_memory(error);
    uint32_t irq_port = first_port(from->unit, CNNVP_PORT_IRQ_OUT);
    if (irq && irq->text) {
        result = connect_irq(box, from, irq, error);
    }
    for (uint32_t i = 0; i < from->unit->port_count && result == CNNVP_DONE; i++) {
        const struct cnnvp_port *port = &from->unit->ports[i];
        const struct cnnvp_setting *setting = cnnvp_draft_setting(draft, port->name, 1);
        if (!is_outgoing(port->kind) || (i == irq_port && irq && irq->text))
            continue;
        if ((port->flags & CNNVP_PORT_OUTSIDE) && setting && setting->text)
            result = cnnvp_config_error(error, setting->place,
                                        "%s.connect.%s: leads out of the platform; a C++ program binds it "
                                        "(cnnvp_systemc.h)", from->name, port->name);
        else if (port->flags & CNNVP_PORT_OUTSIDE)
            continue;
        else if (setting && setting->text)
            result = connect_port(box, from, i, setting, error);
        else if (!(port->flags & CNNVP_PORT_OPTIONAL))
            result = cnnvp_config_error(error, setting ? setting->place : from->place.text,
                                        "%s: port %s (%s) of model %s is not connected; give it `connect: {%s: ...}`%s",
                                        from->name, port->name, kind_name(port->kind), from->model, port->name,
                                        i == irq_port ? " or `irq:`" : "");
    }
    return result;
}

/* Each interrupt line has one driver. */
static cnnvp_result check_lines(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    for (size_t target = 0; target < resolved->instance_count; target++) {
        const struct cnnvp_unit *unit = resolved->instances[target].unit;
        for (uint32_t port = 0; unit && port < unit->port_count; port++) {
            if (unit->ports[port].kind != CNNVP_PORT_IRQ_IN)
                continue;
            const struct cnnvp_instance **drivers = calloc(unit->ports[port].lines, sizeof(struct cnnvp_instance *));
            if (!drivers)
                return cnnvp_config_no_memory(error);
            cnnvp_result result = CNNVP_DONE;
            for (size_t i = 0; i < resolved->instance_count && result == CNNVP_DONE; i++) {
                const struct cnnvp_instance *from = &resolved->instances[i];
                for (size_t j = 0; j < from->binding_count && result == CNNVP_DONE; j++) {
                    const struct cnnvp_binding *binding = &from->bindings[j];
                    if (from->unit->ports[binding->port].kind != CNNVP_PORT_IRQ_OUT || binding->target != target ||
                        binding->target_port != port)
                        continue;
                    const struct cnnvp_instance **driver = &drivers[binding->target_line];
                    if (*driver) {
                        const struct cnnvp_setting *irq = cnnvp_draft_setting(box->drafts[i], "irq", 0);
                        result = cnnvp_config_error(error, irq && irq->text ? irq->place : from->place.text,
                                                    "%s and %s drive the same interrupt line, %" PRIu32 " of %s.%s",
                                                    (*driver)->name, from->name, binding->target_line,
                                                    resolved->instances[target].name, unit->ports[port].name);
                    }
                    *driver = from;
                }
            }
            free(drivers);
            if (result != CNNVP_DONE)
                return result;
        }
    }
    return CNNVP_DONE;
}

/* ---- windows ---- */

static int is_target(enum cnnvp_port_kind kind)
{
    return kind == CNNVP_PORT_TARGET || kind == CNNVP_PORT_MEM_TARGET;
}

/* The port that the bus reaches: that of the registers, otherwise the first target. */
static uint32_t bus_port(const struct cnnvp_unit *unit)
{
    if (unit->register_count)
        return unit->register_port;
    for (uint32_t i = 0; i < unit->port_count; i++)
        if (is_target(unit->ports[i].kind))
            return i;
    return UINT32_MAX;
}

static cnnvp_result place_instance(const struct cnnvp_box *box, struct cnnvp_instance *instance,
                                   struct cnnvp_error *error)
{
    const struct cnnvp_setting *at = cnnvp_draft_setting(box->drafts[instance->number], "at", 0);
    if (!at || !at->text)
        return CNNVP_DONE;
    char reason[160];
    instance->bus_port = instance->unit ? bus_port(instance->unit) : UINT32_MAX;
    if (instance->bus_port == UINT32_MAX)
        return cnnvp_config_error(error, at->key_place, "%s.at: model %s has no port that the bus could reach",
                                  instance->name, instance->model);
    if (cnnvp_value_number(at->text, at->quoted, 0, address_space - 1, 1, &instance->base, reason, sizeof reason) != 0)
        return cnnvp_config_error(error, at->place, "%s.at: %s", instance->name, reason);
    const struct cnnvp_port *port = &instance->unit->ports[instance->bus_port];
    uint32_t size = cnnvp_unit_param(instance->unit, "size");
    instance->size = port->window ? port->window : size != UINT32_MAX ? instance->values[size] : 0;
    if (instance->size == 0)
        return cnnvp_config_error(error, at->place, "%s: its window has no bytes", instance->name);
    if (instance->base % 4)
        return cnnvp_config_error(error, at->place, "%s.at: 0x%" PRIx64 " is not a multiple of 4", instance->name,
                                  instance->base);
    if (instance->size > address_space - instance->base)
        return cnnvp_config_error(error, at->place, "%s.at: 0x%" PRIx64 " with 0x%" PRIx64
                                  " bytes reaches beyond 0xffffffff, the last address", instance->name, instance->base,
                                  instance->size);
    instance->on_bus = 1;
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
    if (!order)
        return cnnvp_config_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < resolved->instance_count; i++)
        if (resolved->instances[i].on_bus)
            order[count++] = &resolved->instances[i];
    qsort(order, count, sizeof *order, compare_bases);
    for (size_t i = 1; i < count; i++) {
        const struct cnnvp_instance *a = order[i - 1], *b = order[i];
        if (b->base >= a->base + a->size)
            continue;
        /* Where the later of the two is written, since that is the one to move. */
        const struct cnnvp_instance *later = a->number > b->number ? a : b;
        const struct cnnvp_setting *at = cnnvp_draft_setting(box->drafts[later->number], "at", 0);
        return cnnvp_config_error(error, at->place, "%s (0x%" PRIx64 " to 0x%" PRIx64 ") and %s (0x%" PRIx64 " to 0x%"
                                  PRIx64 ") overlap", a->name, a->base, a->base + a->size - 1, b->name, b->base,
                                  b->base + b->size - 1);
    }
    return CNNVP_DONE;
}

/* Registers that nothing can reach are a forgotten `at:`. */
static cnnvp_result check_reachable(const struct cnnvp_box *box, const struct cnnvp_instance *instance,
                                    struct cnnvp_error *error)
{
    if (!instance->unit || instance->unit->register_count == 0 || instance->on_bus)
        return CNNVP_DONE;
    uint32_t port = instance->unit->register_port;
    if (instance->unit->ports[port].flags & CNNVP_PORT_OPTIONAL)
        return CNNVP_DONE;
    for (size_t i = 0; i < box->resolved.instance_count; i++) {
        const struct cnnvp_instance *from = &box->resolved.instances[i];
        for (size_t j = 0; j < from->binding_count; j++)
            if (from->bindings[j].target == instance->number && from->bindings[j].target_port == port &&
                from->unit->ports[from->bindings[j].port].kind == CNNVP_PORT_INITIATOR)
                return CNNVP_DONE;
    }
    return cnnvp_config_error(error, instance->place.text, "%s: nothing reaches its registers (port %s); give it an "
                                                           "address on the bus with `at:`", instance->name,
                              instance->unit->ports[port].name);
}

/* ---- clocks, the bus ---- */

static cnnvp_result choose_clock(const struct cnnvp_box *box, struct cnnvp_instance *instance,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_setting *clock = cnnvp_draft_setting(box->drafts[instance->number], "clock", 0);
    int own = cnnvp_unit_param(instance->unit, "clock_mhz") != UINT32_MAX;
    instance->clock = own ? instance->number : CNNVP_NO_INSTANCE;
    if (!clock || !clock->text)
        return CNNVP_DONE;
    const struct cnnvp_setting *model = cnnvp_draft_setting(box->drafts[instance->number], "model", 0);
    if (own && clock->layer < model->layer)
        return CNNVP_DONE; /* belonged to the model that was there before */
    if (own || !instance->unit)
        return cnnvp_config_error(error, clock->key_place, "%s.clock: %s", instance->name,
                                  own ? "this instance has a clock of its own, clock_mhz" : "the bus has no clock");
    const struct cnnvp_instance *source = cnnvp_box_find(&box->resolved, clock->text);
    if (source && cnnvp_unit_param(source->unit, "clock_mhz") != UINT32_MAX) {
        instance->clock = source->number;
        return CNNVP_DONE;
    }
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, clock->text);
    for (size_t i = 0; i < box->resolved.instance_count; i++)
        if (cnnvp_unit_param(box->resolved.instances[i].unit, "clock_mhz") != UINT32_MAX)
            cnnvp_suggest_offer(&suggest, box->resolved.instances[i].name);
    return cnnvp_config_error(error, clock->place, "%s.clock: %s %s%s", instance->name,
                              cnnvp_config_show(clock->text).text,
                              source ? "has no parameter clock_mhz" : "is not an instance",
                              cnnvp_suggest_text(&suggest, "those with a clock are"));
}

/* One bus at most; one if anything has an address. */
static cnnvp_result check_bus(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_instance *bus = NULL;
    for (size_t i = 0; i < box->resolved.instance_count; i++) {
        const struct cnnvp_instance *instance = &box->resolved.instances[i];
        if (instance->unit)
            continue;
        if (bus)
            return cnnvp_config_error(error, instance->place.text, "%s and %s are both a bus; a platform has one",
                                      bus->name, instance->name);
        bus = instance;
        const struct cnnvp_setting *irq = cnnvp_draft_setting(box->drafts[i], "irq", 0);
        if (irq && irq->text)
            return cnnvp_config_error(error, irq->key_place, "%s.irq: the bus has no interrupt", instance->name);
    }
    for (size_t i = 0; i < box->resolved.instance_count && !bus; i++)
        if (box->resolved.instances[i].on_bus)
            return cnnvp_config_error(error, cnnvp_draft_setting(box->drafts[i], "at", 0)->key_place,
                                      "%s.at: there is no instance of model bus", box->resolved.instances[i].name);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_box_wire(struct cnnvp_box *box, struct cnnvp_error *error)
{
    struct cnnvp_resolved *resolved = &box->resolved;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < resolved->instance_count && result == CNNVP_DONE; i++)
        result = place_instance(box, &resolved->instances[i], error);
    if (result == CNNVP_DONE)
        result = check_bus(box, error);
    if (result == CNNVP_DONE)
        result = check_windows(box, error);
    for (size_t i = 0; i < resolved->instance_count && result == CNNVP_DONE; i++)
        result = choose_clock(box, &resolved->instances[i], error);
    for (size_t i = 0; i < resolved->instance_count && result == CNNVP_DONE; i++)
        result = connect_instance(box, &resolved->instances[i], error);
    if (result == CNNVP_DONE)
        result = check_lines(box, error);
    for (size_t i = 0; i < resolved->instance_count && result == CNNVP_DONE; i++)
        result = check_reachable(box, &resolved->instances[i], error);
    return result;
}
