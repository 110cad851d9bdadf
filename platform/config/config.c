/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the configuration section of cnnvp.h, and config.h. See config_internal.h for the stages. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_internal.h"
#include "registry.h"

cnnvp_result cnnvp_unit_find(const char *model, const struct cnnvp_unit **unit, struct cnnvp_error *error)
{
    struct cnnvp_error reason;
    if (cnnvp_registry_find(model, NULL, unit, &reason) == CNNVP_DONE)
        return CNNVP_DONE;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, model);
    const struct cnnvp_unit *known;
    for (size_t i = 0; strchr(model, ':') == NULL && (known = cnnvp_unit_at(i)) != NULL; ++i)
        cnnvp_suggest_offer(&suggest, known->kind);
    return cnnvp_config_error(
        error, NULL, "%s%s", reason.text, strchr(model, ':') != NULL ? "" : cnnvp_suggest_text(&suggest, "there are"));
}

struct cnnvp_config {
    struct cnnvp_draft *draft;
    char **sets;
    size_t set_count;
    struct cnnvp_box *box; /* NULL: not resolved since the last change */
};

cnnvp_result cnnvp_config_new(const char *file_or_preset, cnnvp_config **config, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_FREED struct cnnvp_config *made = calloc(1, sizeof *made);
    *config = NULL;
    CNNVP_TRY_MEMORY(made != NULL, error);
    CNNVP_TRY(cnnvp_draft_new(file_or_preset, &made->draft, error));
    *config = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_config_free(cnnvp_config *config)
{
    if (config == NULL)
        return;
    cnnvp_box_release(config->box);
    cnnvp_draft_release(config->draft);
    for (size_t i = 0; i < config->set_count; ++i)
        free(config->sets[i]);
    free(config->sets);
    free(config);
}

static cnnvp_result append_set(cnnvp_config *config, const char *assignment)
{
    char **sets = realloc(config->sets, (config->set_count + 1) * sizeof *sets);
    if (sets == NULL)
        return CNNVP_FAILED;
    config->sets = sets;
    sets[config->set_count] = malloc(strlen(assignment) + 1);
    if (sets[config->set_count] == NULL)
        return CNNVP_FAILED;
    memcpy(sets[config->set_count++], assignment, strlen(assignment) + 1);
    return CNNVP_DONE;
}

/* Checks that the text has the form of an assignment to an existing instance. */
static cnnvp_result check_assignment(const cnnvp_config *config, const char *assignment, struct cnnvp_error *error)
{
    char place[100];
    (void)snprintf(place, sizeof place, "--set %s", cnnvp_config_show(assignment).text);
    const char *equals = strchr(assignment, '=');
    const char *dot = strchr(assignment, '.');
    if (equals == NULL || dot == NULL || dot > equals || dot == assignment || dot + 1 == equals)
        return cnnvp_config_error(error, place, "is not of the form INSTANCE.PARAM=VALUE");
    if (strlen(assignment) > 2 * CNNVP_VALUE_TEXT_BYTES || config->set_count == CNNVP_CONFIG_SETS)
        return cnnvp_config_error(error, place, "is too long, or one of more than %d", CNNVP_CONFIG_SETS);
    size_t length = (size_t)(dot - assignment);
    char name[CNNVP_CONFIG_NAME_BYTES + 1] = "";
    if (length <= CNNVP_CONFIG_NAME_BYTES)
        memcpy(name, assignment, length);
    if (strcmp(name, "energy") == 0)
        return CNNVP_DONE;
    if (*name && cnnvp_draft_find(config->draft, name) != NULL) {
        if (strncmp(dot + 1, "connect=", 8) == 0)
            return cnnvp_config_error(error, place, "connections are made in the platform file");
        return CNNVP_DONE;
    }
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, name);
    for (const struct cnnvp_draft_unit *unit = config->draft->units; unit != NULL; unit = unit->next)
        cnnvp_suggest_offer(&suggest, unit->name);
    return cnnvp_config_error(
        error, place, "the platform has no such instance%s", cnnvp_suggest_text(&suggest, "there are"));
}

static cnnvp_result set_one(cnnvp_config *config, const char *assignment, struct cnnvp_error *error)
{
    CNNVP_TRY(check_assignment(config, assignment, error));
    CNNVP_TRY_MEMORY(append_set(config, assignment) == CNNVP_DONE, error);
    cnnvp_box_release(config->box);
    config->box = NULL;
    return CNNVP_DONE;
}

/* For an instruction element of the first one's model: the part of its name after CNNVP_INSTRUCTION_ELEMENT. NULL for
 * other instances. */
static const char *suffix_of(const char *name, const char *model, const char *first)
{
    const size_t length = strlen(CNNVP_INSTRUCTION_ELEMENT);
    const int alike = model != NULL && first != NULL && strcmp(model, first) == 0;
    return alike && strncmp(name, CNNVP_INSTRUCTION_ELEMENT, length) == 0 ? name + length : NULL;
}

static const char *element_suffix(const struct cnnvp_draft_unit *unit, const struct cnnvp_draft_unit *first)
{
    const struct cnnvp_setting *model = cnnvp_draft_setting(unit, "model", 0);
    const struct cnnvp_setting *wanted = cnnvp_draft_setting(first, "model", 0);
    return suffix_of(unit->name, model != NULL ? model->text : NULL, wanted != NULL ? wanted->text : NULL);
}

/* Applies "NAME.PARAM=VALUE" to NAME and to the instances whose names are NAME with an accelerator's suffix. */
static cnnvp_result set_all(cnnvp_config *config, const struct cnnvp_draft_unit *first, const char *assignment,
                            struct cnnvp_error *error)
{
    const int name = (int)strcspn(assignment, ".=");
    const size_t size = strlen(assignment) + CNNVP_CONFIG_NAME_BYTES + 1u;
    CNNVP_FREED char *one = malloc(size);
    CNNVP_TRY_MEMORY(one != NULL, error);
    for (const struct cnnvp_draft_unit *unit = config->draft->units; unit != NULL; unit = unit->next) {
        const char *suffix = element_suffix(unit, first);
        if (suffix == NULL)
            continue;
        (void)snprintf(one, size, "%.*s%s%s", name, assignment, suffix, assignment + name);
        CNNVP_TRY(set_one(config, one, error));
    }
    return CNNVP_DONE;
}

size_t cnnvp_config_first_length(const cnnvp_config *config, const char *name)
{
    const size_t length = strcspn(name, ".");
    const struct cnnvp_draft_unit *first = cnnvp_draft_find(config->draft, CNNVP_INSTRUCTION_ELEMENT);
    for (const struct cnnvp_draft_unit *unit = config->draft->units; unit != NULL && first != NULL; unit = unit->next) {
        const char *suffix = element_suffix(unit, first);
        const size_t end = suffix != NULL ? strlen(suffix) : 0;
        if (end == 0 || end >= length || strncmp(name + length - end, suffix, end) != 0)
            continue;
        for (const struct cnnvp_draft_unit *other = config->draft->units; other != NULL; other = other->next)
            if (strlen(other->name) == length - end && strncmp(other->name, name, length - end) == 0)
                return length - end;
    }
    return length;
}

uint32_t cnnvp_resolved_first(const struct cnnvp_resolved *resolved, uint32_t instance)
{
    const char *name = resolved->instances[instance].name, *model = NULL;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        if (strcmp(resolved->instances[i].name, CNNVP_INSTRUCTION_ELEMENT) == 0)
            model = resolved->instances[i].model;
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const char *suffix = suffix_of(resolved->instances[i].name, resolved->instances[i].model, model);
        const size_t length = strlen(name), end = suffix != NULL ? strlen(suffix) : 0;
        if (end == 0 || end >= length || strcmp(name + length - end, suffix) != 0)
            continue;
        for (uint32_t first = 0; first < resolved->instance_count; ++first)
            if (strlen(resolved->instances[first].name) == length - end &&
                strncmp(resolved->instances[first].name, name, length - end) == 0)
                return first;
    }
    return instance;
}

cnnvp_result cnnvp_config_set(cnnvp_config *config, const char *assignment, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    const size_t all = strlen(CNNVP_ALL_ACCELERATORS);
    const struct cnnvp_draft_unit *first = cnnvp_draft_find(config->draft, CNNVP_INSTRUCTION_ELEMENT);
    return first != NULL && strncmp(assignment, CNNVP_ALL_ACCELERATORS, all) == 0
               ? set_all(config, first, assignment + all, error)
               : set_one(config, assignment, error);
}

cnnvp_result cnnvp_config_resolve(cnnvp_config *config, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    cnnvp_box_release(config->box);
    config->box = NULL;
    return cnnvp_box_new(config->draft, config->sets, config->set_count, &config->box, error);
}

const struct cnnvp_resolved *cnnvp_config_resolved(const cnnvp_config *config)
{
    return config->box != NULL ? &config->box->resolved : NULL;
}

cnnvp_result cnnvp_config_need(const cnnvp_config *config, const struct cnnvp_resolved **resolved,
                               struct cnnvp_error *error)
{
    *resolved = cnnvp_config_resolved(config);
    return *resolved != NULL ? CNNVP_DONE : cnnvp_config_error(error, NULL, "the configuration has not been resolved");
}

cnnvp_config *cnnvp_config_copy(const cnnvp_config *config)
{
    struct cnnvp_config *copy = calloc(1, sizeof *copy);
    if (copy == NULL)
        return NULL;
    copy->draft = config->draft;
    ++copy->draft->references;
    copy->box = config->box;
    if (copy->box != NULL)
        ++copy->box->references;
    for (size_t i = 0; i < config->set_count; ++i) {
        if (append_set(copy, config->sets[i]) != CNNVP_DONE) {
            cnnvp_config_free(copy);
            return NULL;
        }
    }
    return copy;
}

/* ---- an accelerator alone ---- */

/* Marks the instances of accelerators: those that send commands, those that their ports lead to, and those that lead to
 * these, except to their memories. Returns 1 if the set has grown. */
static int keep_more(const struct cnnvp_resolved *resolved, unsigned char *kept)
{
    int more = 0;
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *from = &resolved->instances[i];
        for (size_t j = 0; j < from->binding_count; ++j) {
            const struct cnnvp_binding *binding = &from->bindings[j];
            const struct cnnvp_port *port = &from->unit->ports[binding->port];
            const struct cnnvp_unit *to = resolved->instances[binding->target].unit;
            if (to == NULL || port->kind == CNNVP_PORT_IRQ_OUT)
                continue;
            const int sends =
                port->kind == CNNVP_PORT_INITIATOR && (port->flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_COMMANDS;
            const int drives = kept[binding->target] && to->ports[binding->target_port].kind != CNNVP_PORT_MEM_TARGET;
            const int keeps = kept[i] || sends || drives;
            more |= keeps && !(kept[i] && kept[binding->target]);
            kept[i] |= (unsigned char)keeps;
            kept[binding->target] |= (unsigned char)keeps;
        }
    }
    return more;
}

/* True for a memory target that leads no further. */
static int is_memory(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance)
{
    for (size_t i = 0; i < resolved->instance_count; ++i)
        for (size_t j = 0; j < resolved->instances[i].binding_count; ++j) {
            const struct cnnvp_binding *binding = &resolved->instances[i].bindings[j];
            if (binding->target == instance->number && instance->binding_count == 0 &&
                instance->unit->ports[binding->target_port].kind == CNNVP_PORT_MEM_TARGET)
                return 1;
        }
    return 0;
}

static cnnvp_result set_text(cnnvp_config *config, const struct cnnvp_instance *instance, const char *rest,
                             struct cnnvp_error *error)
{
    char text[CNNVP_CONFIG_NAME_BYTES + 32];
    (void)snprintf(text, sizeof text, "%s.%s", instance->name, rest);
    return set_one(config, text, error);
}

/* Makes the memory external, with the whole address space as its window, by absolute addresses. Drops settings of its
 * former model. */
static cnnvp_result lead_outside(cnnvp_config *config, const struct cnnvp_instance *memory, struct cnnvp_error *error)
{
    const size_t length = strlen(memory->name);
    for (size_t i = 0; i < config->set_count && strcmp(memory->model, "external") != 0; ++i)
        if (strncmp(config->sets[i], memory->name, length) == 0 && config->sets[i][length] == '.')
            config->sets[i][0] = '\0';
    CNNVP_TRY(set_text(config, memory, "model=external", error));
    CNNVP_TRY(set_text(config, memory, "size=4GiB", error));
    return set_text(config, memory, "at=null", error);
}

static cnnvp_result leave_alone(cnnvp_config *made, const struct cnnvp_resolved *resolved, struct cnnvp_error *error)
{
    CNNVP_FREED unsigned char *kept = calloc(resolved->instance_count + 1, 1);
    int found = 0;
    CNNVP_TRY_MEMORY(kept != NULL, error);
    while (keep_more(resolved, kept))
        continue;
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *instance = &resolved->instances[i];
        const struct cnnvp_binding *irq = NULL;
        found |= kept[i];
        if (instance->unit != NULL && !kept[i])
            CNNVP_TRY(set_text(made, instance, "model=null", error));
        else if (kept[i] && is_memory(resolved, instance))
            CNNVP_TRY(lead_outside(made, instance, error));
        else if (cnnvp_instance_irq(resolved, instance, &irq) != 0)
            CNNVP_TRY(set_text(made, instance, "irq=null", error));
    }
    if (!found)
        return cnnvp_config_error(error, made->draft->file, "no instance sends commands, so there is no accelerator");
    return cnnvp_config_resolve(made, error);
}

cnnvp_result cnnvp_config_accelerator(const cnnvp_config *config, cnnvp_config **accelerator, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved;
    *accelerator = NULL;
    CNNVP_TRY(cnnvp_config_need(config, &resolved, error));
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *made = cnnvp_config_copy(config);
    CNNVP_TRY_MEMORY(made != NULL, error);
    CNNVP_TRY(leave_alone(made, resolved, error));
    *accelerator = made;
    made = NULL;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_config_get(const cnnvp_config *config, const char *name, uint64_t *value, const char **text)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    const char *dot = strchr(name, '.');
    for (size_t i = 0; resolved != NULL && dot != NULL && i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *instance = &resolved->instances[i];
        if (strlen(instance->name) != (size_t)(dot - name) || strncmp(instance->name, name, (size_t)(dot - name)) != 0)
            continue;
        uint32_t index = cnnvp_unit_param(instance->unit, dot + 1);
        const struct cnnvp_binding *irq = NULL;
        if (strcmp(dot + 1, "irq") == 0) {
            uint32_t line = cnnvp_instance_irq(resolved, instance, &irq);
            if (value != NULL)
                *value = line;
            if (text != NULL)
                *text = "";
            return irq != NULL ? CNNVP_DONE : CNNVP_BAD_INPUT;
        }
        if (index == UINT32_MAX)
            return CNNVP_BAD_INPUT;
        if (value != NULL)
            *value = instance->values[index];
        if (text != NULL)
            *text = instance->texts[index];
        return CNNVP_DONE;
    }
    return CNNVP_BAD_INPUT;
}

static const struct cnnvp_binding *find_binding(const struct cnnvp_instance *instance, uint32_t port)
{
    for (size_t i = 0; i < instance->binding_count; ++i)
        if (instance->bindings[i].port == port)
            return &instance->bindings[i];
    return NULL;
}

cnnvp_result cnnvp_config_place(const cnnvp_config *config, const char *name, const char **place, const char **target)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    size_t length = strcspn(name, ".");
    const struct cnnvp_instance *instance = NULL;
    for (size_t i = 0; resolved != NULL && i < resolved->instance_count; ++i)
        if (strlen(resolved->instances[i].name) == length && strncmp(resolved->instances[i].name, name, length) == 0)
            instance = &resolved->instances[i];
    if (instance == NULL)
        return CNNVP_BAD_INPUT;
    *place = instance->place.text;
    *target = NULL;
    if (!name[length])
        return CNNVP_DONE;
    uint32_t param = cnnvp_unit_param(instance->unit, name + length + 1);
    if (param != UINT32_MAX && *instance->places[param].text)
        *place = instance->places[param].text;
    if (param != UINT32_MAX)
        return CNNVP_DONE;
    for (uint32_t i = 0; instance->unit != NULL && i < instance->unit->port_count; ++i) {
        if (strcmp(instance->unit->ports[i].name, name + length + 1) != 0)
            continue;
        const struct cnnvp_binding *binding = find_binding(instance, i);
        *place = instance->port_places[i];
        *target = binding != NULL ? binding->text : "";
        return CNNVP_DONE;
    }
    return CNNVP_BAD_INPUT;
}

cnnvp_result cnnvp_config_instance(const cnnvp_config *config, size_t index, struct cnnvp_config_instance *instance)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    if (resolved == NULL || index >= resolved->instance_count)
        return CNNVP_BAD_INPUT;
    const struct cnnvp_instance *found = &resolved->instances[index];
    *instance = (struct cnnvp_config_instance){found->name, found->model, found->unit, found->idle};
    return CNNVP_DONE;
}

const struct cnnvp_instruction *cnnvp_instance_instructions(
    const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t port, size_t *count)
{
    const struct cnnvp_binding *binding = resolved != NULL ? find_binding(instance, port) : NULL;
    const struct cnnvp_unit *unit = binding != NULL ? resolved->instances[binding->target].unit : NULL;
    *count = unit != NULL ? unit->instruction_count : 0;
    return unit != NULL ? unit->instructions : NULL;
}

const struct cnnvp_instruction **cnnvp_config_instructions(const cnnvp_config *config)
{
    return cnnvp_resolved_instructions(cnnvp_config_resolved(config));
}

const struct cnnvp_instruction **cnnvp_resolved_instructions(const struct cnnvp_resolved *resolved)
{
    size_t count = 0, all = 1;
    for (size_t i = 0; resolved != NULL && i < resolved->instance_count; ++i)
        all += resolved->instances[i].unit != NULL ? resolved->instances[i].unit->instruction_count : 0;
    const struct cnnvp_instruction **list = calloc(all, sizeof *list);
    for (size_t i = 0; list != NULL && resolved != NULL && i < resolved->instance_count; ++i) {
        const struct cnnvp_unit *unit = resolved->instances[i].unit;
        for (size_t n = 0; unit != NULL && n < unit->instruction_count; ++n) {
            size_t known = 0;
            while (known < count && list[known] != &unit->instructions[n])
                ++known;
            list[known] = &unit->instructions[n];
            count += known == count;
        }
    }
    return list;
}

cnnvp_result cnnvp_config_window(const cnnvp_config *config, const char *instance, uint64_t *base, uint64_t *size)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    const struct cnnvp_instance *found = resolved != NULL ? cnnvp_box_find(resolved, instance) : NULL;
    if (found == NULL || !found->on_bus)
        return CNNVP_BAD_INPUT;
    *base = found->base;
    *size = found->size;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_config_text(const cnnvp_config *config, char **yaml, char **memory_map)
{
    CNNVP_DECIMAL_POINT;
    return config->box != NULL ? cnnvp_box_text(config->box, yaml, memory_map) : CNNVP_BAD_INPUT;
}

cnnvp_result cnnvp_config_header(const cnnvp_config *config, char **header)
{
    return config->box != NULL ? cnnvp_box_header(config->box, header) : CNNVP_BAD_INPUT;
}

cnnvp_result cnnvp_config_svd(const cnnvp_config *config, char **svd)
{
    return config->box != NULL ? cnnvp_box_svd(config->box, svd) : CNNVP_BAD_INPUT;
}

void cnnvp_config_place_error(const struct cnnvp_instance *instance, uint32_t index, const char *message,
                              struct cnnvp_error *error)
{
    if (instance->unit != NULL && index < instance->unit->param_count) {
        const char *place = instance->places[index].text;
        (void)cnnvp_config_error(error, *place ? place : instance->place.text, "%s.%s: %s", instance->name,
                                 instance->unit->params[index].name, message);
    } else {
        (void)cnnvp_config_error(error, instance->place.text, "%s: %s", instance->name, message);
    }
}
