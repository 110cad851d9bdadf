/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and checks units, see registry.h. */
#include "registry.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "config_internal.h"
#include "isa/isa.h"

enum {
    MAX_UNITS_OF_LIBRARY = 256, /* limit for a query function that never ends its list */
    MAX_TABLE = 4096,           /* entries of a table */
    MAX_EVENTS = 4096,
    MAX_MHZ = 1000000 /* of the clock arithmetic in cnnvp_model.h */
};

/* 1 GiB: an instance is allocated before the unit runs any code, so a wrong size must not exhaust the machine. */
static const size_t max_instance_size = (size_t)1 << 30;

static int is_name(const char *text)
{
    return text != NULL && text[0] &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

static cnnvp_result check_params(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    for (size_t i = 0; i < unit->param_count; ++i) {
        const struct cnnvp_param *param = &unit->params[i];

        if (!is_name(param->name) || param->default_value == NULL || param->help == NULL)
            return cnnvp_config_error(error, where, "parameter %zu has no name, default value or help", i);
        if (cnnvp_config_reserved(param->name))
            return cnnvp_config_error(
                error, where, "a parameter is named %s, a key that every instance of a platform has", param->name);
        if ((unsigned)param->type > CNNVP_PARAM_ADDR)
            return cnnvp_config_error(
                error, where, "parameter %s has an unknown type %u", param->name, (unsigned)param->type);
        if (param->type == CNNVP_PARAM_ENUM && (param->choices == NULL || !param->choices[0]))
            return cnnvp_config_error(error, where, "parameter %s has no choices", param->name);
        if (param->type != CNNVP_PARAM_ENUM && param->type != CNNVP_PARAM_TEXT && param->min > param->max)
            return cnnvp_config_error(error, where, "parameter %s has min above max", param->name);
        if (!strcmp(param->name, "clock_mhz") &&
            (param->type != CNNVP_PARAM_UINT || param->min < 1 || param->max > MAX_MHZ))
            return cnnvp_config_error(
                error, where, "parameter clock_mhz, the unit's clock, is a UINT of 1 to %d", MAX_MHZ);
        for (size_t j = 0; j < i; ++j)
            if (!strcmp(param->name, unit->params[j].name))
                return cnnvp_config_error(error, where, "two parameters are named %s", param->name);
    }
    return CNNVP_DONE;
}

static int has_table(const void *table, size_t count)
{
    return count <= MAX_TABLE && (count == 0 || table != NULL);
}

static cnnvp_result check_conditions(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    const struct cnnvp_condition *wrong;

    if (unit->struct_size < sizeof *unit)
        return CNNVP_DONE;
    if (!has_table(unit->conditions, unit->condition_count))
        return cnnvp_config_error(error, where, "a table is missing or has more than %d entries", MAX_TABLE);
    wrong = cnnvp_unit_wrong_condition(unit);
    if (wrong == NULL)
        return CNNVP_DONE;
    return cnnvp_config_error(error, where,
                              "the condition \"%s\" of parameter %s is not NAME=VALUE or NAME!=VALUE of "
                              "another parameter, or is of an unknown parameter or choice",
                              wrong->where != NULL ? wrong->where : "", wrong->param != NULL ? wrong->param : "");
}

static cnnvp_result check_port(const struct cnnvp_unit *unit, size_t index, const char *where,
                               struct cnnvp_error *error)
{
    const struct cnnvp_port *port = &unit->ports[index];
    const int is_target = port->kind == CNNVP_PORT_TARGET || port->kind == CNNVP_PORT_MEM_TARGET;

    if (!is_name(port->name) || (unsigned)port->kind > CNNVP_PORT_IRQ_IN)
        return cnnvp_config_error(error, where, "port %zu has no name or an unknown kind", index);
    if (port->kind == CNNVP_PORT_IRQ_IN && (port->lines < 1 || port->lines > MAX_TABLE))
        return cnnvp_config_error(
            error, where, "port %s has %" PRIu32 " lines, 1 to %d are possible", port->name, port->lines, MAX_TABLE);
    if (is_target && port->window == 0 && cnnvp_unit_param(unit, "size") == UINT32_MAX)
        return cnnvp_config_error(
            error, where, "port %s has no window, and there is no parameter size to take it from", port->name);
    if (port->kind == CNNVP_PORT_MEM_TARGET && unit->request == NULL && unit->access == NULL)
        return cnnvp_config_error(error, where, "port %s needs the function request or access", port->name);
    if (port->kind == CNNVP_PORT_TARGET && unit->access == NULL &&
        (unit->register_count == 0 || unit->register_port != index))
        return cnnvp_config_error(error, where, "port %s has neither registers nor the function access", port->name);
    if (port->kind == CNNVP_PORT_MEM_INITIATOR && unit->complete == NULL)
        return cnnvp_config_error(error, where, "port %s needs the function complete", port->name);
    for (size_t j = 0; j < index; ++j)
        if (!strcmp(port->name, unit->ports[j].name))
            return cnnvp_config_error(error, where, "two ports are named %s", port->name);
    return CNNVP_DONE;
}

static cnnvp_result check_registers(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    if (unit->register_count == 0)
        return CNNVP_DONE;
    if (unit->register_port >= unit->port_count || unit->ports[unit->register_port].kind != CNNVP_PORT_TARGET)
        return cnnvp_config_error(error, where, "register_port %" PRIu32 " is not a target port", unit->register_port);
    for (size_t i = 0; i < unit->register_count; ++i) {
        const struct cnnvp_register *reg = &unit->registers[i];
        const uint64_t window = unit->ports[unit->register_port].window;

        if (!is_name(reg->name) || (unsigned)reg->access > CNNVP_REG_RWE)
            return cnnvp_config_error(error, where, "register %zu has no name or an unknown access", i);
        if (reg->offset % 4 || (window && reg->offset + (uint64_t)4 > window))
            return cnnvp_config_error(
                error, where, "register %s at 0x%" PRIx32 " is misaligned or outside its port's window", reg->name,
                reg->offset);
        if (reg->storage % sizeof(uint32_t) || unit->instance_size < sizeof(uint32_t) ||
            reg->storage > unit->instance_size - sizeof(uint32_t))
            return cnnvp_config_error(error, where, "register %s is stored outside the instance", reg->name);
        for (size_t j = 0; j < i; ++j) {
            if (reg->offset == unit->registers[j].offset)
                return cnnvp_config_error(
                    error, where, "registers %s and %s have the same offset", unit->registers[j].name, reg->name);
            if (!strcmp(reg->name, unit->registers[j].name))
                return cnnvp_config_error(error, where, "two registers are named %s", reg->name);
        }
    }
    return CNNVP_DONE;
}

static cnnvp_result check_fields(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    for (size_t i = 0; i < unit->field_count; ++i) {
        const struct cnnvp_field *field = &unit->fields[i];
        size_t reg = 0;

        if (!is_name(field->reg) || !is_name(field->name))
            return cnnvp_config_error(error, where, "field %zu has no name or register", i);
        while (reg < unit->register_count && strcmp(field->reg, unit->registers[reg].name) != 0)
            ++reg;
        if (reg == unit->register_count)
            return cnnvp_config_error(error, where, "field %s is of the unknown register %s", field->name, field->reg);
        if (field->lsb > 31 || field->width < 1 || field->width > 32 - field->lsb)
            return cnnvp_config_error(
                error, where, "field %s has bits outside the 32 of register %s", field->name, field->reg);
    }
    return CNNVP_DONE;
}

static cnnvp_result check_observables(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    for (size_t i = 0; i < unit->stat_count; ++i) {
        if (!is_name(unit->stats[i].name) || unit->stats[i].unit == NULL || unit->stats[i].help == NULL)
            return cnnvp_config_error(error, where, "statistic %zu has no name, unit or help", i);
        for (size_t j = 0; j < i; ++j)
            if (!strcmp(unit->stats[i].name, unit->stats[j].name))
                return cnnvp_config_error(error, where, "two statistics are named %s", unit->stats[i].name);
    }
    for (size_t i = 0; i < unit->track_count; ++i)
        if (unit->tracks[i] == NULL || !unit->tracks[i][0])
            return cnnvp_config_error(error, where, "track %zu has no name", i);
    for (size_t i = 0; i < unit->counter_count; ++i)
        if (!is_name(unit->counters[i].name) || unit->counters[i].unit == NULL)
            return cnnvp_config_error(error, where, "counter %zu has no name or unit", i);
    return CNNVP_DONE;
}

static cnnvp_result check_instructions(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    CNNVP_FREED struct isa_extension *extension = unit->instruction_count ? calloc(1, sizeof *extension) : NULL;
    char why[200];
    if (unit->instruction_count == 0)
        return CNNVP_DONE;
    if (extension == NULL)
        return cnnvp_config_error(error, where, "out of memory");
    if (cnnvp_unit_command_port(unit) == UINT32_MAX || unit->access == NULL)
        return cnnvp_config_error(error, where, "it has instructions but no target port with CNNVP_PORT_COMMANDS");
    for (size_t i = 0; i < unit->instruction_count; ++i)
        if (cnnvp_isa_extend(extension, &unit->instructions[i], ISA_UNIT_custom_0, why, sizeof why))
            return cnnvp_config_error(error, where, "%s", why);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_registry_check(const struct cnnvp_unit *unit, const char *where, struct cnnvp_error *error)
{
    /* The first members have had the same place since version 1. The others are only read after these have been
     * checked. */
    if (unit->abi_major != CNNVP_ABI_MAJOR)
        return cnnvp_config_error(
            error, where,
            "built for model ABI %u.%u, this program has %u.%u: compile it again with its headers; what "
            "sources of another major have to change is in c_api/README.md",
            (unsigned)unit->abi_major, (unsigned)unit->abi_minor, CNNVP_ABI_MAJOR, CNNVP_ABI_MINOR);
    if (unit->struct_size < offsetof(struct cnnvp_unit, conditions)) /* the members of 3.0 */
        return cnnvp_config_error(error, where, "its unit table has %" PRIu32 " bytes, model ABI %u.%u has %zu",
                                  unit->struct_size, CNNVP_ABI_MAJOR, 0u, offsetof(struct cnnvp_unit, conditions));
    if (!is_name(unit->kind) || unit->version == NULL || unit->summary == NULL)
        return cnnvp_config_error(error, where, "its kind, version or summary is missing");
    if (unit->instance_size == 0 || unit->instance_size > max_instance_size)
        return cnnvp_config_error(
            error, where, "its instance has %zu bytes, 1 to %zu are possible", unit->instance_size, max_instance_size);
    if (!has_table(unit->params, unit->param_count) || !has_table(unit->ports, unit->port_count) ||
        !has_table(unit->registers, unit->register_count) || !has_table(unit->fields, unit->field_count) ||
        !has_table(unit->stats, unit->stat_count) || !has_table(unit->tracks, unit->track_count) ||
        !has_table(unit->counters, unit->counter_count) || !has_table(unit->instructions, unit->instruction_count) ||
        unit->event_count > MAX_EVENTS)
        return cnnvp_config_error(error, where, "a table is missing or has more than %d entries", MAX_TABLE);
    if (unit->event_count && unit->event == NULL)
        return cnnvp_config_error(error, where, "it has events but not the function event");

    CNNVP_TRY(check_params(unit, where, error));
    CNNVP_TRY(check_conditions(unit, where, error));
    for (size_t i = 0; i < unit->port_count; ++i)
        CNNVP_TRY(check_port(unit, i, where, error));
    CNNVP_TRY(check_registers(unit, where, error));
    CNNVP_TRY(check_fields(unit, where, error));
    CNNVP_TRY(check_observables(unit, where, error));
    return check_instructions(unit, where, error);
}

static cnnvp_result find_builtin(const char *kind, const struct cnnvp_unit **unit, struct cnnvp_error *error)
{
    for (size_t i = 0; (*unit = cnnvp_unit_at(i)) != NULL; ++i)
        if (!strcmp((*unit)->kind, kind))
            return cnnvp_registry_check(*unit, kind, error);
    return cnnvp_config_error(error, NULL, "there is no unit of kind %s (see `cnnvp models`)", kind);
}

/* Returns "" if the path is too long. */
static void library_path(char *path, size_t size, const char *library, size_t length, const char *relative_to)
{
    const int has_slash = memchr(library, '/', length) != NULL;
    int written;

    if (length > 2 && library[0] == '.' && library[1] == '/') {
        library += 2;
        length -= 2;
    }
    if (library[0] == '/')
        written = snprintf(path, size, "%.*s", (int)length, library);
    else if (relative_to != NULL && relative_to[0])
        written = snprintf(path, size, "%s/%.*s", relative_to, (int)length, library);
    else
        written = snprintf(path, size, "./%.*s", (int)length, library);
    if (!has_slash && access(path, F_OK) != 0)
        written = snprintf(path, size, "%.*s", (int)length, library);
    if (written < 0 || (size_t)written >= size)
        path[0] = '\0';
}

/* Loads the library and finds its query function. */
static cnnvp_result open_library(const char *path, cnnvp_model_query_fn *query, struct cnnvp_error *error)
{
    if (path[0] == '\0')
        return cnnvp_config_error(error, NULL, "the path of the library is too long");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *why = dlerror();

        return cnnvp_config_error(error, NULL, "cannot load the library: %s", why != NULL ? why : path);
    }
    void *symbol = dlsym(library, CNNVP_MODEL_QUERY_SYMBOL);
    if (symbol == NULL)
        return cnnvp_config_error(error, NULL, "%s does not export %s", path, CNNVP_MODEL_QUERY_SYMBOL);
    memcpy(query, &symbol, sizeof *query);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_library_unit(const char *library, size_t index, const struct cnnvp_unit **unit,
                                struct cnnvp_error *error)
{
    char path[4096];
    cnnvp_model_query_fn query = NULL;

    *unit = NULL;
    library_path(path, sizeof path, library, strlen(library), NULL);
    CNNVP_TRY(open_library(path, &query, error));
    if (index >= MAX_UNITS_OF_LIBRARY)
        return CNNVP_DONE;
    const struct cnnvp_unit *found = query((uint32_t)index, CNNVP_ABI_MAJOR << 16 | CNNVP_ABI_MINOR);
    if (found != NULL)
        CNNVP_TRY(cnnvp_registry_check(found, path, error));
    *unit = found;
    return CNNVP_DONE;
}

static cnnvp_result find_in_library(cnnvp_model_query_fn query, const char *path, const char *kind,
                                    const struct cnnvp_unit **unit, struct cnnvp_error *error)
{
    char where[4400];
    char kinds[512] = "";

    for (uint32_t i = 0; i < MAX_UNITS_OF_LIBRARY; ++i) {
        const struct cnnvp_unit *candidate = query(i, CNNVP_ABI_MAJOR << 16 | CNNVP_ABI_MINOR);
        const size_t used = strlen(kinds);

        if (candidate == NULL)
            break;
        (void)snprintf(where, sizeof where, "%s: unit %" PRIu32, path, i);
        CNNVP_TRY(cnnvp_registry_check(candidate, where, error));
        if (!strcmp(candidate->kind, kind)) {
            *unit = candidate;
            return CNNVP_DONE;
        }
        (void)snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "", candidate->kind);
    }
    return cnnvp_config_error(
        error, NULL, "%s has no unit of kind %s; it has: %s", path, kind, kinds[0] ? kinds : "none");
}

cnnvp_result cnnvp_registry_find(const char *model, const char *relative_to, const struct cnnvp_unit **unit,
                                 struct cnnvp_error *error)
{
    const char *colon = strrchr(model, ':');
    char path[4096];
    cnnvp_model_query_fn query = NULL;

    *unit = NULL;
    if (colon == NULL)
        return find_builtin(model, unit, error);
    if (colon == model || colon[1] == '\0')
        return cnnvp_config_error(error, NULL, "\"%s\" is not of the form library:kind", model);
    library_path(path, sizeof path, model, (size_t)(colon - model), relative_to);
    CNNVP_TRY(open_library(path, &query, error));
    return find_in_library(query, path, colon + 1, unit, error);
}
