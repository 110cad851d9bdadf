/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a draft and the assignments of --set to instances with checked parameters. A later file (or --set) that changes
 * the model of an instance keeps the settings that the new model knows. Parameters and ports of earlier levels that the
 * new model lacks are dropped. Settings of the same level must fit the model.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_internal.h"
#include "registry.h"

uint32_t cnnvp_unit_param(const struct cnnvp_unit *unit, const char *name)
{
    for (uint32_t i = 0; unit != NULL && i < unit->param_count; ++i)
        if (strcmp(unit->params[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

const struct cnnvp_instance *cnnvp_box_find(const struct cnnvp_resolved *resolved, const char *name)
{
    for (size_t i = 0; i < resolved->instance_count; ++i)
        if (strcmp(resolved->instances[i].name, name) == 0)
            return &resolved->instances[i];
    return NULL;
}

/* ---- settings of an instance, with those of --set ---- */

static cnnvp_result overlay(struct cnnvp_box *box, struct cnnvp_draft_unit *copy, const char *assignment,
                            struct cnnvp_error *error)
{
    size_t name_length = strlen(copy->name);
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || strncmp(assignment, copy->name, name_length) != 0 || assignment[name_length] != '.')
        return CNNVP_DONE;
    const char *key = assignment + name_length + 1;
    struct cnnvp_setting setting = {.key = cnnvp_arena_copy(&box->arena, key, (size_t)(equals - key)),
                                    .place = cnnvp_arena_printf(&box->arena, "--set %s", assignment),
                                    .level = CNNVP_CONFIG_SET_LEVEL};
    CNNVP_TRY_MEMORY(setting.key != NULL && setting.place != NULL, error);
    const int null = cnnvp_config_reserved(setting.key) && strcmp(equals + 1, "null") == 0; /* as in a file */
    setting.text = null ? NULL : cnnvp_arena_text(&box->arena, equals + 1);
    setting.key_place = setting.place;
    CNNVP_TRY_MEMORY(null || setting.text != NULL, error);
    return cnnvp_draft_put(&box->arena, copy, &setting, error);
}

static cnnvp_result copy_settings(struct cnnvp_box *box, const struct cnnvp_draft_unit *unit, char *const *sets,
                                  size_t set_count, const struct cnnvp_draft_unit **result, struct cnnvp_error *error)
{
    struct cnnvp_draft_unit *copy = cnnvp_arena_alloc(&box->arena, sizeof *copy);
    CNNVP_TRY_MEMORY(copy != NULL, error);
    *copy = *unit;
    copy->name = cnnvp_arena_text(&box->arena, unit->name);
    copy->place = cnnvp_arena_text(&box->arena, unit->place);
    copy->settings = NULL;
    copy->setting_count = 0;
    CNNVP_TRY_MEMORY(copy->name != NULL && copy->place != NULL, error);
    for (const struct cnnvp_setting *setting = unit->settings; setting != NULL; setting = setting->next)
        CNNVP_TRY(cnnvp_draft_put(&box->arena, copy, setting, error));
    for (size_t i = 0; i < set_count; ++i)
        CNNVP_TRY(overlay(box, copy, sets[i], error));
    *result = copy;
    return CNNVP_DONE;
}

/* ---- models ---- */

/* Suggests names: for an instance without a model, an instance that has one; for an unknown kind, a built-in kind. */
static cnnvp_result no_model(const struct cnnvp_box *box, const struct cnnvp_draft_unit *unit,
                             struct cnnvp_error *error)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, unit->name);
    for (size_t i = 0; i < box->resolved.instance_count; ++i)
        if (cnnvp_draft_setting(box->drafts[i], "model", 0) != NULL)
            cnnvp_suggest_offer(&suggest, box->drafts[i]->name);
    return cnnvp_config_error(error, unit->place, "%s: has no `model:`, and no base has an instance of this name%s",
                              unit->name, cnnvp_suggest_text(&suggest, "there are"));
}

/* The text of `model:` made independent of the folder. */
static const char *portable_model(struct cnnvp_box *box, const struct cnnvp_setting *model)
{
    const char *colon = strrchr(model->text, ':');
    if (colon != NULL && model->text[0] != '/') {
        char absolute[PATH_MAX];
        char *path = cnnvp_arena_printf(&box->arena, "%s/%.*s", model->folder != NULL ? model->folder : ".",
                                        (int)(colon - model->text), model->text);
        if (path != NULL && realpath(path, absolute) != NULL)
            return cnnvp_arena_printf(&box->arena, "%s%s", absolute, colon);
    }
    return cnnvp_arena_text(&box->arena, model->text);
}

static cnnvp_result find_model(struct cnnvp_box *box, size_t index, struct cnnvp_error *error)
{
    struct cnnvp_instance *instance = &box->resolved.instances[index];
    const struct cnnvp_setting *model = cnnvp_draft_setting(box->drafts[index], "model", 0);
    if (model == NULL)
        return no_model(box, box->drafts[index], error);
    instance->model = cnnvp_arena_text(&box->arena, model->text);
    box->models[index] = portable_model(box, model);
    CNNVP_TRY_MEMORY(instance->model != NULL && box->models[index] != NULL, error);
    if (strcmp(model->text, "bus") == 0)
        return CNNVP_DONE;
    struct cnnvp_error reason;
    if (cnnvp_registry_find(model->text, model->folder, &instance->unit, &reason) == CNNVP_DONE)
        return CNNVP_DONE;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, model->text);
    cnnvp_suggest_offer(&suggest, "bus");
    const struct cnnvp_unit *unit;
    for (size_t i = 0; strchr(model->text, ':') == NULL && (unit = cnnvp_unit_at(i)) != NULL; ++i)
        cnnvp_suggest_offer(&suggest, unit->kind);
    return cnnvp_config_error(error, model->place, "%s.model: %s%s", instance->name, reason.text,
                              strchr(model->text, ':') != NULL ? "" : cnnvp_suggest_text(&suggest, "there are"));
}

/* ---- parameters ---- */

static cnnvp_result unknown_key(const struct cnnvp_instance *instance, const struct cnnvp_setting *setting,
                                struct cnnvp_error *error)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, setting->key);
    for (size_t i = 0; instance->unit != NULL && i < instance->unit->param_count; ++i)
        cnnvp_suggest_offer(&suggest, instance->unit->params[i].name);
    for (const char *const *key = cnnvp_config_reserved_keys(); *key; ++key)
        cnnvp_suggest_offer(&suggest, *key);
    return cnnvp_config_error(
        error, setting->key_place, "%s: model %s has no parameter %s%s", instance->name, instance->model,
        cnnvp_config_show(setting->key).text, cnnvp_suggest_text(&suggest, "it has"));
}

static cnnvp_result set_param(struct cnnvp_box *box, struct cnnvp_instance *instance, uint32_t index,
                              const struct cnnvp_setting *setting, struct cnnvp_error *error)
{
    const struct cnnvp_param *param = &instance->unit->params[index];
    char reason[600];
    const char *text = setting != NULL ? setting->text : param->default_value != NULL ? param->default_value : "";
    if (cnnvp_value_parse(param, text, setting != NULL ? setting->quoted : 0, &instance->values[index], reason,
                          sizeof reason) != 0)
        return cnnvp_config_error(
            error, setting != NULL ? setting->place : box->drafts[instance->number]->place, "%s.%s: %s%s",
            instance->name, param->name, setting != NULL ? "" : "the model's default ", reason);
    instance->texts[index] = cnnvp_value_text(&box->arena, param, instance->values[index], text);
    instance->places[index].text = setting != NULL ? cnnvp_arena_text(&box->arena, setting->place) : "";
    CNNVP_TRY_MEMORY(instance->texts[index] != NULL && instance->places[index].text != NULL, error);
    return CNNVP_DONE;
}

static cnnvp_result set_params(struct cnnvp_box *box, struct cnnvp_instance *instance, struct cnnvp_error *error)
{
    const struct cnnvp_draft_unit *draft = box->drafts[instance->number];
    const struct cnnvp_setting *model = cnnvp_draft_setting(draft, "model", 0);
    size_t count = instance->unit != NULL ? instance->unit->param_count : 0;
    instance->values = cnnvp_arena_array(&box->arena, count, sizeof *instance->values);
    instance->texts = cnnvp_arena_array(&box->arena, count, sizeof *instance->texts);
    instance->places = cnnvp_arena_array(&box->arena, count, sizeof *instance->places);
    CNNVP_TRY_MEMORY(instance->values != NULL && instance->texts != NULL && instance->places != NULL, error);
    for (const struct cnnvp_setting *setting = draft->settings; setting != NULL; setting = setting->next) {
        int known = cnnvp_config_reserved(setting->key) || cnnvp_unit_param(instance->unit, setting->key) != UINT32_MAX;
        if (!setting->connect && !known && setting->level >= model->level)
            return unknown_key(instance, setting, error);
    }
    for (uint32_t i = 0; i < count; ++i)
        CNNVP_TRY(set_param(box, instance, i, cnnvp_draft_setting(draft, instance->unit->params[i].name, 0), error));
    return CNNVP_DONE;
}

/* ---- all of it ---- */

static cnnvp_result make_instances(struct cnnvp_box *box, const struct cnnvp_draft *draft, char *const *sets,
                                   size_t set_count, struct cnnvp_error *error)
{
    struct cnnvp_resolved *resolved = &box->resolved;
    resolved->platform_name = cnnvp_arena_text(&box->arena, draft->name);
    resolved->instances = cnnvp_arena_array(&box->arena, draft->unit_count, sizeof *resolved->instances);
    box->models = cnnvp_arena_array(&box->arena, draft->unit_count, sizeof *box->models);
    box->drafts = cnnvp_arena_array(&box->arena, draft->unit_count, sizeof *box->drafts);
    CNNVP_TRY_MEMORY(
        resolved->platform_name != NULL && resolved->instances != NULL && box->models != NULL && box->drafts != NULL,
        error);
    for (const struct cnnvp_draft_unit *unit = draft->units; unit != NULL; unit = unit->next) {
        size_t index = resolved->instance_count;
        CNNVP_TRY(copy_settings(box, unit, sets, set_count, &box->drafts[index], error));
        const struct cnnvp_setting *model = cnnvp_draft_setting(box->drafts[index], "model", 0);
        if (model != NULL && model->text == NULL)
            continue; /* removed */
        struct cnnvp_instance *instance = &resolved->instances[index];
        instance->name = box->drafts[index]->name;
        instance->place.text = box->drafts[index]->place;
        instance->number = (uint32_t)index;
        ++resolved->instance_count;
    }
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(find_model(box, i, error));
    for (size_t i = 0; i < resolved->instance_count; ++i)
        CNNVP_TRY(set_params(box, &resolved->instances[i], error));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_box_new(const struct cnnvp_draft *draft, char *const *sets, size_t set_count, struct cnnvp_box **box,
                           struct cnnvp_error *error)
{
    struct cnnvp_box *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    made->references = 1;
    made->removed = draft->removed;
    made->level = draft->level;
    const struct cnnvp_draft_unit *energy = NULL;
    cnnvp_result result = make_instances(made, draft, sets, set_count, error);
    if (result == CNNVP_DONE)
        result = copy_settings(made, &draft->energy, sets, set_count, &energy, error);
    if (result == CNNVP_DONE)
        result = cnnvp_box_energy(made, energy, error);
    if (result == CNNVP_DONE)
        result = cnnvp_box_wire(made, error);
    made->drafts = NULL; /* these settings point into the draft */
    made->removed = NULL;
    if (result != CNNVP_DONE) {
        cnnvp_box_release(made);
        return result;
    }
    *box = made;
    return CNNVP_DONE;
}

void cnnvp_box_release(struct cnnvp_box *box)
{
    if (box == NULL || --box->references)
        return;
    cnnvp_arena_free(&box->arena);
    free(box);
}

uint32_t cnnvp_instance_irq(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            const struct cnnvp_binding **binding)
{
    for (uint32_t port = 0; instance->unit != NULL && port < instance->unit->port_count; ++port) {
        if (instance->unit->ports[port].kind != CNNVP_PORT_IRQ_OUT)
            continue;
        for (size_t i = 0; i < instance->binding_count; ++i) {
            const struct cnnvp_unit *target = resolved->instances[instance->bindings[i].target].unit;
            if (instance->bindings[i].port == port && target != NULL && strcmp(target->kind, "plic") == 0) {
                *binding = &instance->bindings[i];
                return (*binding)->target_line;
            }
        }
        return 0;
    }
    return 0;
}

const struct cnnvp_instance *cnnvp_instance_clock(const struct cnnvp_resolved *resolved,
                                                  const struct cnnvp_instance *instance)
{
    if (instance->clock == CNNVP_NO_INSTANCE || instance->clock == instance->number)
        return NULL;
    return &resolved->instances[instance->clock];
}

const uint64_t *cnnvp_instance_value(const struct cnnvp_instance *instance, const char *param)
{
    const uint32_t i = cnnvp_unit_param(instance->unit, param);
    return i != UINT32_MAX && instance->unit->params[i].type != CNNVP_PARAM_TEXT ? &instance->values[i] : NULL;
}

uint32_t cnnvp_unit_command_port(const struct cnnvp_unit *unit)
{
    for (uint32_t i = 0; unit != NULL && i < unit->port_count; ++i)
        if (unit->ports[i].kind == CNNVP_PORT_TARGET &&
            (unit->ports[i].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_COMMANDS)
            return i;
    return UINT32_MAX;
}

uint64_t cnnvp_instance_mhz(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            uint64_t missing)
{
    const uint64_t *mhz = instance->clock < resolved->instance_count
                              ? cnnvp_instance_value(&resolved->instances[instance->clock], "clock_mhz")
                              : NULL;
    return mhz != NULL ? *mhz : missing;
}

int cnnvp_instance_is_link(const struct cnnvp_instance *instance)
{
    enum { LINK = 2 };
    return instance->unit != NULL && strcmp(instance->unit->kind, "external") == 0 &&
           cnnvp_instance_value_or(instance, "role", 0) == LINK;
}

uint32_t cnnvp_instance_behind(const struct cnnvp_resolved *resolved, uint32_t number)
{
    const struct cnnvp_instance *const instance = &resolved->instances[number];
    for (size_t i = 0; cnnvp_instance_is_link(instance) && i < instance->binding_count; ++i)
        if (instance->unit->ports[instance->bindings[i].port].kind == CNNVP_PORT_INITIATOR)
            return instance->bindings[i].target;
    return number;
}

void cnnvp_binding_text(const struct cnnvp_resolved *resolved, const struct cnnvp_binding *binding, char *buffer,
                        size_t size)
{
    const struct cnnvp_instance *target = &resolved->instances[binding->target];
    const struct cnnvp_port *port = target->unit != NULL ? &target->unit->ports[binding->target_port] : NULL;
    if (binding->through != 0 || port == NULL)
        (void)snprintf(buffer, size, "%s",
                       port == NULL ? target->name : resolved->instances[binding->through - 1u].name);
    else if (port->kind != CNNVP_PORT_IRQ_IN)
        (void)snprintf(buffer, size, "%s.%s", target->name, port->name);
    else
        (void)snprintf(buffer, size, "%s.%s.%" PRIu32, target->name, port->name, binding->target_line);
}

int cnnvp_instance_asks(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t target)
{
    for (size_t i = 0; i < instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &instance->bindings[i];
        const uint32_t behind = cnnvp_instance_behind(resolved, binding->target);
        if (instance->unit->ports[binding->port].kind == CNNVP_PORT_IRQ_OUT)
            continue;
        if (behind == target || (resolved->instances[behind].unit == NULL && resolved->instances[target].on_bus))
            return 1;
    }
    return 0;
}
