/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections and interrupts of a resolved platform.
 *
 * In `connect: {port: target}`, target is `instance`, `instance.port`, `instance.line` or `instance.port.line`. Without
 * a port, it is the only port of the instance that fits. INITIATOR ports lead to TARGET ports, MEM_TARGET ports or the
 * bus; MEM_INITIATOR ports to MEM_TARGET ports or the bus; IRQ_OUT ports to a line of an IRQ_IN port, with one driver
 * per line. If both ports define their kind of traffic, the kinds must be equal. A port of commands, words or tiles
 * that names a link to the outside leads through it to the target of the link's `inward`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_internal.h"

static const char *kind_name(enum cnnvp_port_kind kind)
{
    static const char *const names[] = {"a target",           "an initiator",        "a memory target",
                                        "a memory initiator", "an interrupt output", "an interrupt input"};
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

uint32_t cnnvp_port_crosses(const struct cnnvp_unit *unit, uint32_t index)
{
    const struct cnnvp_port *port = &unit->ports[index];
    uint32_t said = port->flags & CNNVP_PORT_CROSSES;
    int plain = port->kind == CNNVP_PORT_MEM_TARGET || (unit->register_count && unit->register_port == index);
    return said ? said : plain ? CNNVP_PORT_PLAIN : 0;
}

const char *cnnvp_port_crosses_name(uint32_t flags)
{
    static const char *const names[] = {
        "something that is not said", "plain reads and writes", "commands of the instruction element",
        "completions of commands",    "words of buffers",       "tiles of the multi-function module",
        "programs of the loader"};
    size_t index = flags / CNNVP_PORT_PLAIN;
    return names[index < sizeof names / sizeof *names ? index : 0];
}

static uint32_t find_port(const struct cnnvp_unit *unit, const char *name)
{
    for (uint32_t i = 0; i < unit->port_count; ++i)
        if (strcmp(unit->ports[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- one connection ---- */

/* A connection during resolution: its source, where it is written, and the parts of its text. */
struct connection {
    struct cnnvp_box *box;
    struct cnnvp_instance *from;
    const struct cnnvp_port *port;
    const struct cnnvp_setting *setting;
    const struct cnnvp_instance *to;
    const char *target_port; /* NULL: not given */
    const char *line;        /* NULL: not given */
    struct cnnvp_error *error;
};

static cnnvp_result refuse(const struct connection *connection, const char *what, const char *more)
{
    return cnnvp_config_error(
        connection->error, connection->setting->place, "%s.connect.%s: %s%s%s", connection->from->name,
        connection->port->name, cnnvp_config_show(connection->setting->text).text, what, more);
}

static int is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Splits the text at its dots and finds the instance. */
static cnnvp_result split(struct connection *connection)
{
    struct cnnvp_arena *arena = &connection->box->arena;
    char *name = cnnvp_arena_text(arena, connection->setting->text);
    CNNVP_TRY_MEMORY(name != NULL, connection->error);
    char *parts[3] = {name, NULL, NULL};
    size_t count = 1;
    for (char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        if (count == 3)
            return refuse(connection, " has too many parts",
                          "; instance, instance.port or instance.port.line is expected");
        *dot = '\0';
        parts[count++] = dot + 1;
    }
    connection->to = cnnvp_box_find(&connection->box->resolved, name);
    for (const struct cnnvp_draft_unit *gone = connection->box->removed; connection->to == NULL && gone != NULL;
         gone = gone->next)
        if (strcmp(gone->name, name) == 0)
            return cnnvp_config_error(
                connection->error, gone->place,
                "%s: null takes it away, but %s.connect.%s names it (%s); connect that to another "
                "instance, or write %s: {connect: {%s: null}} if it may stay open",
                name, connection->from->name, connection->port->name, connection->setting->place,
                connection->from->name, connection->port->name);
    if (connection->to == NULL) {
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, name);
        for (size_t i = 0; i < connection->box->resolved.instance_count; ++i)
            cnnvp_suggest_offer(&suggest, connection->box->resolved.instances[i].name);
        return refuse(connection, ": there is no such instance", cnnvp_suggest_text(&suggest, "there are"));
    }
    if (count == 2 && is_number(parts[1]))
        connection->line = parts[1];
    else if (count >= 2)
        connection->target_port = parts[1];
    if (count == 3)
        connection->line = parts[2];
    if (connection->line != NULL && connection->port->kind != CNNVP_PORT_IRQ_OUT)
        return refuse(connection, " names a line", ", which only an interrupt has");
    return CNNVP_DONE;
}

/* True if the port kinds fit, and the kinds of traffic are equal where both are defined. */
static int fits_port(const struct connection *connection, const struct cnnvp_unit *unit, uint32_t port)
{
    uint32_t from = connection->port->flags & CNNVP_PORT_CROSSES, to = cnnvp_port_crosses(unit, port);
    return fits(connection->port->kind, unit->ports[port].kind) &&
           (connection->port->kind != CNNVP_PORT_INITIATOR || !from || !to || from == to);
}

/* Message for a mismatch of traffic; lists the platform's ports that would fit. */
static cnnvp_result refuse_crossing(const struct connection *connection, uint32_t to)
{
    const struct cnnvp_resolved *resolved = &connection->box->resolved;
    struct cnnvp_suggest suggest;
    char why[200];
    cnnvp_suggest_begin(&suggest, "");
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_unit *unit = resolved->instances[i].unit;
        for (uint32_t port = 0; unit != NULL && port < unit->port_count; ++port)
            if (fits_port(connection, unit, port))
                cnnvp_suggest_offer(&suggest, cnnvp_arena_printf(&connection->box->arena, "%s.%s",
                                                                 resolved->instances[i].name, unit->ports[port].name));
    }
    (void)snprintf(why, sizeof why, " takes %s, but this port sends %s", cnnvp_port_crosses_name(to),
                   cnnvp_port_crosses_name(connection->port->flags & CNNVP_PORT_CROSSES));
    return refuse(connection, why, cnnvp_suggest_text(&suggest, "those that fit are"));
}

static cnnvp_result choose_port(const struct connection *connection, uint32_t *port)
{
    const struct cnnvp_unit *unit = connection->to->unit;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, connection->target_port != NULL ? connection->target_port : "");
    size_t fitting = 0;
    uint32_t other = UINT32_MAX; /* fits except for its kind of traffic */
    *port = UINT32_MAX;
    for (uint32_t i = 0; i < unit->port_count; ++i) {
        if (fits(connection->port->kind, unit->ports[i].kind))
            other = i;
        if (!fits_port(connection, unit, i))
            continue;
        cnnvp_suggest_offer(&suggest, unit->ports[i].name);
        ++fitting;
        *port = i;
    }
    if (connection->target_port == NULL) {
        if (fitting == 1)
            return CNNVP_DONE;
        if (fitting == 0 && other != UINT32_MAX)
            return refuse_crossing(connection, cnnvp_port_crosses(unit, other));
        if (fitting == 0)
            return refuse(connection, " has no port that fits ", kind_name(connection->port->kind));
        return refuse(connection, " leaves open which port", cnnvp_suggest_text(&suggest, "there are"));
    }
    *port = find_port(unit, connection->target_port);
    if (*port == UINT32_MAX)
        return refuse(connection, ": there is no such port", cnnvp_suggest_text(&suggest, "those that fit are"));
    if (fits_port(connection, unit, *port))
        return CNNVP_DONE;
    if (fits(connection->port->kind, unit->ports[*port].kind))
        return refuse_crossing(connection, cnnvp_port_crosses(unit, *port));
    char why[120];
    (void)snprintf(why, sizeof why, " is %s, to which %s cannot lead", kind_name(unit->ports[*port].kind),
                   kind_name(connection->port->kind));
    return refuse(connection, why, cnnvp_suggest_text(&suggest, "those that fit are"));
}

/* Interrupt source 0 does not exist (RISC-V PLIC specification 1.0, section 1). */
static uint32_t first_line(const struct cnnvp_unit *unit)
{
    return strcmp(unit->kind, "plic") == 0 ? 1u : 0;
}

static cnnvp_result choose_line(const struct connection *connection, uint32_t port, uint32_t *line)
{
    const struct cnnvp_port *input = &connection->to->unit->ports[port];
    const uint32_t first = first_line(connection->to->unit);
    char why[160];
    uint64_t number = 0;
    if (connection->line == NULL && input->lines == 1)
        return CNNVP_DONE;
    if (connection->line == NULL) {
        (void)snprintf(why, sizeof why, " leaves open which line, %" PRIu32 " to %" PRIu32, first, input->lines - 1);
        return refuse(connection, why, "");
    }
    if (cnnvp_value_number(connection->line, 0, first, input->lines - 1, 0, &number, why, sizeof why) != 0)
        return refuse(connection, ": line ", why);
    *line = (uint32_t)number;
    return CNNVP_DONE;
}

/* Finds the target behind a link. Commands, words and tiles may pass one link between two units, within one call. */
static cnnvp_result find_behind(struct connection *connection, uint32_t *through)
{
    struct cnnvp_instance *link = &connection->box->resolved.instances[connection->to->number];
    const struct cnnvp_setting *inward = cnnvp_draft_setting(connection->box->drafts[link->number], "inward", 1);
    const uint32_t sent = connection->port->flags & CNNVP_PORT_CROSSES;
    if (!cnnvp_instance_is_link(link) || connection->port->kind != CNNVP_PORT_INITIATOR || sent <= CNNVP_PORT_PLAIN)
        return CNNVP_DONE;
    if (inward == NULL || inward->text == NULL)
        return refuse(connection, ": this link leads nowhere", "; give it `connect: {inward: ...}`");
    if (sent == CNNVP_PORT_COMPLETIONS)
        return refuse(connection, " leads outside, but completions are moments, which take no time on their way",
                      "; lead the commands or the memory of the unit through a link");
    if (cnnvp_instance_value_or(link, "protocol", 0) != 0)
        return refuse(connection, " has protocol: at, but commands, words and tiles cross a link in one call",
                      "; give it protocol: lt");
    *through = link->number + 1u;
    if (link->clock == CNNVP_NO_INSTANCE)
        link->clock = connection->from->clock;
    connection->setting = inward;
    connection->target_port = connection->line = NULL;
    CNNVP_TRY(split(connection));
    return cnnvp_instance_is_link(connection->to)
               ? refuse(connection, " is a link behind a link", "; one is expected")
               : CNNVP_DONE;
}

static cnnvp_result add_binding(struct cnnvp_instance *from, const struct cnnvp_binding *binding)
{
    from->bindings[from->binding_count++] = *binding;
    return CNNVP_DONE;
}

static cnnvp_result connect_port(struct cnnvp_box *box, struct cnnvp_instance *from, uint32_t port,
                                 const struct cnnvp_setting *setting, struct cnnvp_error *error)
{
    struct connection connection = {
        .box = box, .from = from, .port = &from->unit->ports[port], .setting = setting, .error = error};
    struct cnnvp_binding binding = {.port = port};
    CNNVP_TRY(split(&connection));
    CNNVP_TRY(find_behind(&connection, &binding.through));
    binding.target = connection.to->number;
    if (connection.to->unit == NULL) {
        if (connection.port->kind == CNNVP_PORT_IRQ_OUT)
            return refuse(&connection, " is the bus", ", which takes no interrupts");
        if (connection.target_port != NULL)
            return refuse(&connection, " names a port", "; the bus has none by name");
        uint32_t sent = connection.port->flags & CNNVP_PORT_CROSSES;
        if (connection.port->kind == CNNVP_PORT_INITIATOR && sent && sent != CNNVP_PORT_PLAIN)
            return refuse_crossing(&connection, CNNVP_PORT_PLAIN);
        return add_binding(from, &binding);
    }
    CNNVP_TRY(choose_port(&connection, &binding.target_port));
    if (connection.port->kind == CNNVP_PORT_IRQ_OUT)
        CNNVP_TRY(choose_line(&connection, binding.target_port, &binding.target_line));
    return add_binding(from, &binding);
}

/* ---- irq: N ---- */

static const struct cnnvp_instance *find_plic(const struct cnnvp_box *box)
{
    for (size_t i = 0; i < box->resolved.instance_count; ++i)
        if (box->resolved.instances[i].unit != NULL && strcmp(box->resolved.instances[i].unit->kind, "plic") == 0)
            return &box->resolved.instances[i];
    return NULL;
}

static uint32_t first_port(const struct cnnvp_unit *unit, enum cnnvp_port_kind kind)
{
    for (uint32_t i = 0; unit != NULL && i < unit->port_count; ++i)
        if (unit->ports[i].kind == kind)
            return i;
    return UINT32_MAX;
}

static cnnvp_result connect_irq(struct cnnvp_box *box, struct cnnvp_instance *from, const struct cnnvp_setting *setting,
                                struct cnnvp_error *error)
{
    struct cnnvp_binding binding = {.port = first_port(from->unit, CNNVP_PORT_IRQ_OUT)};
    const struct cnnvp_instance *plic = find_plic(box);
    char reason[160];
    uint64_t line = 0;
    if (binding.port == UINT32_MAX)
        return cnnvp_config_error(
            error, setting->key_place, "%s.irq: model %s has no interrupt output", from->name, from->model);
    if (plic == NULL)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: there is no instance of model plic", from->name);
    const struct cnnvp_setting *other =
        cnnvp_draft_setting(box->drafts[from->number], from->unit->ports[binding.port].name, 1);
    if (other != NULL && other->text != NULL)
        return cnnvp_config_error(error, setting->key_place, "%s.irq: port %s is connected at %s already", from->name,
                                  from->unit->ports[binding.port].name, other->place);
    binding.target = plic->number;
    binding.target_port = first_port(plic->unit, CNNVP_PORT_IRQ_IN);
    if (binding.target_port == UINT32_MAX)
        return cnnvp_config_error(
            error, setting->key_place, "%s.irq: %s has no interrupt input", from->name, plic->name);
    if (cnnvp_value_number(setting->text, setting->quoted, first_line(plic->unit),
                           plic->unit->ports[binding.target_port].lines - 1, 0, &line, reason, sizeof reason) != 0)
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
    for (const struct cnnvp_setting *setting = draft->settings; setting != NULL; setting = setting->next) {
        if (!setting->connect || setting->level < model->level)
            continue;
        uint32_t port = from->unit != NULL ? find_port(from->unit, setting->key) : UINT32_MAX;
        if (port != UINT32_MAX && is_outgoing(from->unit->ports[port].kind))
            continue;
        if (port != UINT32_MAX)
            return cnnvp_config_error(
                error, setting->key_place, "%s.connect: port %s is %s; connections are written at the initiator",
                from->name, setting->key, kind_name(from->unit->ports[port].kind));
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, setting->key);
        for (uint32_t i = 0; from->unit != NULL && i < from->unit->port_count; ++i)
            if (is_outgoing(from->unit->ports[i].kind))
                cnnvp_suggest_offer(&suggest, from->unit->ports[i].name);
        return cnnvp_config_error(
            error, setting->key_place, "%s.connect: model %s has no outgoing port %s%s", from->name, from->model,
            cnnvp_config_show(setting->key).text, cnnvp_suggest_text(&suggest, "it has"));
    }
    return CNNVP_DONE;
}

static cnnvp_result connect_instance(struct cnnvp_box *box, struct cnnvp_instance *from, struct cnnvp_error *error)
{
    const struct cnnvp_draft_unit *draft = box->drafts[from->number];
    const struct cnnvp_setting *irq = cnnvp_draft_setting(draft, "irq", 0);
    CNNVP_TRY(check_port_names(box, from, error));
    if (from->unit == NULL)
        return CNNVP_DONE;
    from->bindings = cnnvp_arena_array(&box->arena, from->unit->port_count, sizeof *from->bindings);
    CNNVP_TRY_MEMORY(from->bindings != NULL, error);
    uint32_t irq_port = first_port(from->unit, CNNVP_PORT_IRQ_OUT);
    if (irq != NULL && irq->text != NULL)
        CNNVP_TRY(connect_irq(box, from, irq, error));
    for (uint32_t i = 0; i < from->unit->port_count; ++i) {
        const struct cnnvp_port *port = &from->unit->ports[i];
        const struct cnnvp_setting *setting = cnnvp_draft_setting(draft, port->name, 1);
        if (!is_outgoing(port->kind) || (i == irq_port && irq != NULL && irq->text != NULL))
            continue;
        if ((port->flags & CNNVP_PORT_OUTSIDE) && setting != NULL && setting->text != NULL)
            return cnnvp_config_error(error, setting->place,
                                      "%s.connect.%s: leads out of the platform; a C++ program binds it "
                                      "(cnnvp_systemc.h)",
                                      from->name, port->name);
        if (port->flags & CNNVP_PORT_OUTSIDE)
            continue;
        if (setting != NULL && setting->text != NULL)
            CNNVP_TRY(connect_port(box, from, i, setting, error));
        else if (!(port->flags & CNNVP_PORT_OPTIONAL))
            return cnnvp_config_error(
                error, setting != NULL ? setting->place : from->place.text,
                "%s: port %s (%s) of model %s is not connected; give it `connect: {%s: ...}`%s", from->name, port->name,
                kind_name(port->kind), from->model, port->name, i == irq_port ? " or `irq:`" : "");
    }
    return CNNVP_DONE;
}

/* Each interrupt line has one driver. */
static cnnvp_result check_lines(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    for (size_t target = 0; target < resolved->instance_count; ++target) {
        const struct cnnvp_unit *unit = resolved->instances[target].unit;
        for (uint32_t port = 0; unit != NULL && port < unit->port_count; ++port) {
            if (unit->ports[port].kind != CNNVP_PORT_IRQ_IN)
                continue;
            CNNVP_FREED const struct cnnvp_instance **drivers =
                calloc(unit->ports[port].lines, sizeof(struct cnnvp_instance *));
            CNNVP_TRY_MEMORY(drivers != NULL, error);
            for (size_t i = 0; i < resolved->instance_count; ++i) {
                const struct cnnvp_instance *from = &resolved->instances[i];
                for (size_t j = 0; j < from->binding_count; ++j) {
                    const struct cnnvp_binding *binding = &from->bindings[j];
                    if (from->unit->ports[binding->port].kind != CNNVP_PORT_IRQ_OUT || binding->target != target ||
                        binding->target_port != port)
                        continue;
                    const struct cnnvp_instance **driver = &drivers[binding->target_line];
                    if (*driver != NULL) {
                        const struct cnnvp_setting *irq = cnnvp_draft_setting(box->drafts[i], "irq", 0);
                        return cnnvp_config_error(
                            error, irq != NULL && irq->text != NULL ? irq->place : from->place.text,
                            "%s and %s drive the same interrupt line, %" PRIu32 " of %s.%s", (*driver)->name,
                            from->name, binding->target_line, resolved->instances[target].name, unit->ports[port].name);
                    }
                    *driver = from;
                }
            }
        }
    }
    return CNNVP_DONE;
}

/* ---- tiles ---- */

/* The connection by which an instance passes tiles on to an instance that is still `open`; NULL: none. */
static const struct cnnvp_binding *goes_on(const struct cnnvp_instance *from, const unsigned char *open)
{
    for (size_t i = 0; i < from->binding_count; ++i)
        if ((from->unit->ports[from->bindings[i].port].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_TILES &&
            open[from->bindings[i].target])
            return &from->bindings[i];
    return NULL;
}

/* Reports a circle of tile connections; `at` leads to the circle or is in it. The message points to the connection of
 * the circle that was set by the latest file. */
static cnnvp_result refuse_circle(const struct cnnvp_box *box, const struct cnnvp_instance *at,
                                  const unsigned char *open, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    const struct cnnvp_setting *latest = NULL;
    char path[400] = "";
    for (size_t i = 0; i < resolved->instance_count; ++i)
        at = &resolved->instances[goes_on(at, open)->target]; /* after so many steps it is in the circle */
    const struct cnnvp_instance *const first = at, *from = at;
    do {
        const struct cnnvp_binding *link = goes_on(at, open);
        const char *port = at->unit->ports[link->port].name;
        const struct cnnvp_setting *setting = cnnvp_draft_setting(box->drafts[at->number], port, 1);
        size_t used = strlen(path);
        (void)snprintf(path + used, sizeof path - used, "%s -> ", at->name);
        if (latest == NULL || setting->level > latest->level) {
            latest = setting;
            from = at;
        }
        at = &resolved->instances[link->target];
    } while (at != first);
    return cnnvp_config_error(error, latest->place, "%s.connect.%s: tiles would go round in a circle: %s%s", from->name,
                              latest->key, path, first->name);
}

/* A block passes a tile on within the call that brought it, so no tile may come back to it. */
static cnnvp_result check_circles(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    CNNVP_FREED unsigned char *open = malloc(resolved->instance_count + 1);
    CNNVP_TRY_MEMORY(open != NULL, error);
    for (size_t i = 0; i < resolved->instance_count; ++i)
        open[i] = resolved->instances[i].unit != NULL;
    size_t before, left = resolved->instance_count;
    const struct cnnvp_instance *last = NULL;
    do {
        before = left;
        left = 0;
        for (size_t i = 0; i < resolved->instance_count; ++i) {
            open[i] = open[i] && goes_on(&resolved->instances[i], open) != NULL;
            left += open[i];
            last = open[i] ? &resolved->instances[i] : last;
        }
    } while (left && left != before);
    return left ? refuse_circle(box, last, open, error) : CNNVP_DONE;
}

/* Stores the answers of cnnvp_config_place for each connection. */
static cnnvp_result keep_texts(struct cnnvp_box *box, struct cnnvp_instance *from, struct cnnvp_error *error)
{
    const struct cnnvp_draft_unit *draft = box->drafts[from->number];
    size_t ports = from->unit != NULL ? from->unit->port_count : 0;
    from->port_places = cnnvp_arena_array(&box->arena, ports, sizeof *from->port_places);
    CNNVP_TRY_MEMORY(from->port_places != NULL, error);
    for (size_t i = 0; i < ports; ++i) {
        const struct cnnvp_setting *written = cnnvp_draft_setting(draft, from->unit->ports[i].name, 1);
        const char *place = written != NULL ? written->place : from->place.text;
        from->port_places[i] = cnnvp_arena_text(&box->arena, place);
        CNNVP_TRY_MEMORY(from->port_places[i] != NULL, error);
    }
    for (size_t i = 0; i < from->binding_count; ++i) {
        char text[512];
        struct cnnvp_binding end = from->bindings[i];
        end.through = 0;
        cnnvp_binding_text(&box->resolved, &end, text, sizeof text);
        from->bindings[i].text = cnnvp_arena_text(&box->arena, text);
        CNNVP_TRY_MEMORY(from->bindings[i].text != NULL, error);
    }
    return CNNVP_DONE;
}

/* ---- instructions ---- */

/* An opcode and a mnemonic have only one meaning in a platform. */
static cnnvp_result check_instructions(const struct cnnvp_box *box, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        for (size_t j = 0; j < i; ++j) {
            const struct cnnvp_instance *at = &resolved->instances[i], *before = &resolved->instances[j];
            if (at->unit == NULL || before->unit == NULL || at->unit == before->unit)
                continue;
            for (size_t n = 0; n < at->unit->instruction_count; ++n)
                for (size_t m = 0; m < before->unit->instruction_count; ++m) {
                    const struct cnnvp_instruction *own = &at->unit->instructions[n];
                    const struct cnnvp_instruction *other = &before->unit->instructions[m];
                    if (own->opcode == other->opcode || strcmp(own->mnemonic, other->mnemonic) == 0)
                        return cnnvp_config_error(
                            error, at->place.text,
                            "%s has the instruction %s, opcode 0x%02" PRIx32 ", and %s has %s, opcode 0x%02" PRIx32
                            "; opcodes and names of one platform are different",
                            at->name, own->mnemonic, own->opcode, before->name, other->mnemonic, other->opcode);
                }
        }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_box_connect(struct cnnvp_box *box, struct cnnvp_error *error)
{
    struct cnnvp_resolved *resolved = &box->resolved;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(connect_instance(box, &resolved->instances[i], error));
    CNNVP_TRY(check_lines(box, error));
    CNNVP_TRY(check_instructions(box, error));
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(keep_texts(box, &resolved->instances[i], error));
    return check_circles(box, error);
}
