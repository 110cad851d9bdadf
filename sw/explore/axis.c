/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes of a sweep: what varies, and its values. Each value is checked on its own against the table of its parameter or
 * option, so only combinations of values can still be refused when points run.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "explore.h"
#include "network_data.h"

/* 1: the text is a whole decimal number that a JSON integer can hold unchanged. */
static int is_whole(const char *text)
{
    size_t digits = strlen(text);
    return digits > 0 && digits < 19 && strspn(text, "0123456789") == digits && (text[0] != '0' || digits == 1);
}

static int is_real(const char *text, double *number)
{
    char *end = NULL;
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
        return 0;
    *number = strtod(text, &end);
    return end != NULL && *end == '\0' && *number - *number == 0;
}

/* ---- one value ---- */

static cnnvp_result refuse(struct cnnvp_error *error, const struct cnnvp_axis *axis, const char *place,
                           const char *reason)
{
    return cnnvp_config_error(error, place, "%s: %s", axis->name, reason);
}

static cnnvp_result parameter_value(struct cnnvp_sweep *sweep, const struct cnnvp_axis *axis, int quoted,
                                    struct cnnvp_axis_value *value, struct cnnvp_error *error)
{
    const struct cnnvp_param *param = axis->param;
    char reason[400] = "";
    uint64_t number = 0;
    size_t length = 0;
    value->json = is_whole(value->text) && !quoted ? CNNVP_JSON_WHOLE : CNNVP_JSON_TEXT;
    value->operand.text = value->text;
    if (param == NULL)
        return CNNVP_DONE;
    if (cnnvp_value_parse(param, value->text, quoted, &number, reason, sizeof reason) != 0)
        return refuse(error, axis, value->place, reason);
    if (param->type == CNNVP_PARAM_ENUM) {
        const char *choice = cnnvp_value_choice(param->choices, number, &length);
        value->text = cnnvp_arena_copy(&sweep->arena, choice, length);
        CNNVP_TRY_MEMORY(value->text != NULL, error);
        value->operand.text = value->text;
        if (is_whole(value->text))
            value->operand = (struct cnnvp_operand){NULL, strtod(value->text, NULL)};
    } else if (param->type != CNNVP_PARAM_TEXT) {
        value->operand = (struct cnnvp_operand){NULL, (double)number};
    }
    return CNNVP_DONE;
}

/* Looks in the specification's folder first, then takes the path as it is. A folder there is none: it may be that of a
 * run of the network with this name. */
static const char *find_file(struct cnnvp_sweep *sweep, const char *text)
{
    struct stat status;
    const char *beside = *text == '/' ? text : cnnvp_arena_printf(&sweep->arena, "%s/%s", sweep->folder, text);
    return beside != NULL && access(beside, R_OK) == 0 && stat(beside, &status) == 0 && !S_ISDIR(status.st_mode)
               ? beside
               : text;
}

static cnnvp_result file_value(struct cnnvp_sweep *sweep, const struct cnnvp_axis *axis, struct cnnvp_axis_value *value,
                               struct cnnvp_error *error)
{
    struct cnnvp_error reason = {""};
    char path[PATH_MAX];
    value->file = find_file(sweep, value->text);
    if (strcmp(axis->name, "network") == 0) {
        if (cnnvp_network_find(value->file, path, sizeof path, &reason) != CNNVP_DONE)
            return refuse(error, axis, value->place, reason.text);
        value->file = cnnvp_arena_text(&sweep->arena, path);
        CNNVP_TRY_MEMORY(value->file != NULL, error);
    }
    if (cnnvp_hash_file(value->file, value->hash, &reason) != CNNVP_DONE)
        return refuse(error, axis, value->place, reason.text);
    const uint64_t data = strcmp(axis->name, "network") == 0 ? cnnvp_network_data_hash(value->file) : 0;
    const char *order = strcmp(axis->name, "plan") == 0 ? cnnvp_network_order_file(&sweep->arena, value->file) : NULL;
    char of_order[CNNVP_KEY_BYTES] = "";
    if (order != NULL && cnnvp_hash_file(order, of_order, &reason) != CNNVP_DONE)
        return refuse(error, axis, value->place, reason.text);
    if (data == 0 && order == NULL)
        return CNNVP_DONE;
    const char *both = cnnvp_arena_printf(&sweep->arena, "%s %" PRIx64 "%s", value->hash, data, of_order);
    CNNVP_TRY_MEMORY(both != NULL, error);
    cnnvp_hash_text(both, value->hash);
    return CNNVP_DONE;
}

/* [NAME=]FILE. An existing file whose name contains "=" is taken as a file name. The value's hash covers NAME, too. */
static cnnvp_result input_value(struct cnnvp_sweep *sweep, const struct cnnvp_axis *axis,
                                struct cnnvp_axis_value *value, struct cnnvp_error *error)
{
    const char *equals = strchr(value->text, '=');
    if (equals == NULL || access(find_file(sweep, value->text), F_OK) == 0)
        return file_value(sweep, axis, value, error);
    struct cnnvp_axis_value part = *value;
    part.text = equals + 1;
    CNNVP_TRY(file_value(sweep, axis, &part, error));
    const int name = (int)(equals - value->text);
    const char *named_hash = cnnvp_arena_printf(&sweep->arena, "%.*s=%s", name, value->text, part.hash);
    value->file = cnnvp_arena_printf(&sweep->arena, "%.*s=%s", name, value->text, part.file);
    CNNVP_TRY_MEMORY(named_hash != NULL && value->file != NULL, error);
    cnnvp_hash_text(named_hash, value->hash);
    return CNNVP_DONE;
}

/* KIND:FILE[,FILE...]. The value's hash covers the hashes of all files. */
static cnnvp_result dataset_value(struct cnnvp_sweep *sweep, const struct cnnvp_axis *axis,
                                  struct cnnvp_axis_value *value, struct cnnvp_error *error)
{
    struct cnnvp_error reason = {""};
    const char *at = strchr(value->text, ':');
    if (at == NULL)
        return refuse(error, axis, value->place, "a data set is KIND:FILE[,FILE...]");
    char *found = cnnvp_arena_copy(&sweep->arena, value->text, (size_t)(at - value->text)), *hashes = found;
    const char *separator = ":";
    do {
        size_t length = strcspn(++at, ",");
        char *name = cnnvp_arena_copy(&sweep->arena, at, length);
        const char *file = name != NULL ? find_file(sweep, name) : NULL;
        char hash[CNNVP_KEY_BYTES];
        CNNVP_TRY_MEMORY(file != NULL && found != NULL && hashes != NULL, error);
        if (cnnvp_hash_file(file, hash, &reason) != CNNVP_DONE)
            return refuse(error, axis, value->place, reason.text);
        hashes = cnnvp_arena_printf(&sweep->arena, "%s %s", hashes, hash);
        found = cnnvp_arena_printf(&sweep->arena, "%s%s%s", found, separator, file);
        separator = ",";
        at += length;
    } while (*at);
    CNNVP_TRY_MEMORY(found != NULL && hashes != NULL, error);
    cnnvp_hash_text(hashes, value->hash);
    value->file = found;
    return CNNVP_DONE;
}

static cnnvp_result option_value(struct cnnvp_sweep *sweep, const struct cnnvp_axis *axis, int quoted,
                                 struct cnnvp_axis_value *value, struct cnnvp_error *error)
{
    char reason[400] = "";
    uint64_t number = 0;
    double real = 0;
    const struct cnnvp_param choices = {
        .name = axis->name, .type = CNNVP_PARAM_ENUM, .choices = axis->option->choices}; /* also for a file */
    if (cnnvp_command_option_parse(axis->option, value->text, quoted, &number, &real, reason, sizeof reason) != 0)
        return refuse(error, axis, value->place, reason);
    value->json = CNNVP_JSON_TEXT;
    value->operand.text = value->text;
    switch (axis->option->type) {
    case CNNVP_OPTION_NUMBER:
        value->json = is_whole(value->text) ? CNNVP_JSON_WHOLE : CNNVP_JSON_TEXT;
        value->operand = (struct cnnvp_operand){NULL, (double)number};
        return CNNVP_DONE;
    case CNNVP_OPTION_REAL:
    case CNNVP_OPTION_POSITIVE:
        value->json = CNNVP_JSON_REAL;
        value->operand = (struct cnnvp_operand){NULL, real};
        return CNNVP_DONE;
    case CNNVP_OPTION_FLAG:
        value->json = CNNVP_JSON_BOOL;
        value->operand = (struct cnnvp_operand){NULL, (double)number};
        return CNNVP_DONE;
    case CNNVP_OPTION_FILE:
        if (choices.choices != NULL &&
            cnnvp_value_parse(&choices, value->text, quoted, &number, reason, sizeof reason) == 0)
            return CNNVP_DONE;
        return file_value(sweep, axis, value, error);
    case CNNVP_OPTION_INPUTS:
        return input_value(sweep, axis, value, error);
    case CNNVP_OPTION_DATASET:
        return dataset_value(sweep, axis, value, error);
    default:
        return CNNVP_DONE;
    }
}

static cnnvp_result check_value(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, int quoted,
                                struct cnnvp_axis_value *value, struct cnnvp_error *error)
{
    if (axis->kind == CNNVP_AXIS_PARAMETER)
        return parameter_value(sweep, axis, quoted, value, error);
    if (axis->kind == CNNVP_AXIS_OPTION)
        return option_value(sweep, axis, quoted, value, error);
    value->json = CNNVP_JSON_TEXT;
    value->operand.text = value->text;
    return file_value(sweep, axis, value, error);
}

static int same_operand(const struct cnnvp_operand *a, const struct cnnvp_operand *b)
{
    if (a->text != NULL && b->text != NULL)
        return strcmp(a->text, b->text) == 0;
    return a->text == NULL && b->text == NULL && a->number >= b->number && a->number <= b->number;
}

static cnnvp_result add_value(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, const char *text, const char *place,
                              int quoted, struct cnnvp_error *error)
{
    struct cnnvp_axis_value *value = &axis->values[axis->value_count];
    *value = (struct cnnvp_axis_value){.text = text, .place = place};
    CNNVP_TRY(check_value(sweep, axis, quoted, value, error));
    /* Looks for duplicates among the last 1024 values: ranges ascend, so only short hand-written lists can have any. */
    uint32_t first = axis->value_count > 1024 ? axis->value_count - 1024 : 0;
    for (uint32_t i = first; i < axis->value_count; ++i)
        if (same_operand(&axis->values[i].operand, &value->operand))
            return cnnvp_config_error(error, place, "%s: %s is there twice; first at %s", axis->name,
                                      cnnvp_config_show(text).text, axis->values[i].place);
    ++axis->value_count;
    return CNNVP_DONE;
}

/* ---- several values ---- */

static int is_integral(const struct cnnvp_axis *axis)
{
    if (axis->kind == CNNVP_AXIS_PARAMETER)
        return axis->param != NULL && axis->param->type != CNNVP_PARAM_ENUM && axis->param->type != CNNVP_PARAM_TEXT;
    return axis->kind == CNNVP_AXIS_OPTION && axis->option->type == CNNVP_OPTION_NUMBER;
}

static int is_real_option(const struct cnnvp_command_option *option)
{
    return option->type == CNNVP_OPTION_REAL || option->type == CNNVP_OPTION_POSITIVE;
}

/* Reads a bound of a range: a number, or a size if the parameter is a size. */
static cnnvp_result read_bound(const struct cnnvp_axis *axis, const struct cnnvp_yaml_node *node, uint64_t *number,
                               struct cnnvp_error *error)
{
    char reason[400] = "";
    struct cnnvp_param any = {.name = axis->name, .type = CNNVP_PARAM_UINT, .min = 0, .max = UINT64_MAX};
    if (axis->param != NULL)
        any.type = axis->param->type;
    if (node->kind != CNNVP_YAML_SCALAR)
        return refuse(error, axis, node->place, "a single number is expected");
    if (cnnvp_value_parse(&any, node->text, node->quoted, number, reason, sizeof reason) != 0)
        return refuse(error, axis, node->place, reason);
    return CNNVP_DONE;
}

/* Adds from, from + step, ... to. `step` 0: from, 2 * from, 4 * from, ... to. */
static cnnvp_result add_range(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, const char *place, uint64_t from,
                              uint64_t to, uint64_t step, struct cnnvp_error *error)
{
    uint64_t count = step ? (to - from) / step + 1 : 64;
    if (count > CNNVP_AXIS_VALUES)
        return cnnvp_config_error(error, place, "%s: more than %d values", axis->name, CNNVP_AXIS_VALUES);
    axis->values = cnnvp_arena_array(&sweep->arena, (size_t)count, sizeof *axis->values);
    CNNVP_TRY_MEMORY(axis->values != NULL, error);
    for (uint64_t value = from; value <= to;) {
        char *text = cnnvp_arena_printf(&sweep->arena, "%" PRIu64, value);
        CNNVP_TRY(text != NULL ? add_value(sweep, axis, text, place, 0, error) : cnnvp_config_no_memory(error));
        uint64_t more = step ? step : value;
        if (value > UINT64_MAX - more)
            break;
        value += more;
    }
    return CNNVP_DONE;
}

static cnnvp_result add_real_range(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis,
                                   const struct cnnvp_yaml_node *const nodes[3], struct cnnvp_error *error)
{
    double bounds[3];
    for (int i = 0; i < 3; ++i)
        if (nodes[i]->kind != CNNVP_YAML_SCALAR || !is_real(nodes[i]->text, &bounds[i]))
            return refuse(error, axis, nodes[i]->place, "a number is expected");
    if (bounds[2] <= 0)
        return refuse(error, axis, nodes[2]->place, "a step above 0 is expected");
    if (bounds[0] > bounds[1])
        return refuse(error, axis, nodes[0]->place, "an empty range: `from` is above `to`");
    double count = (bounds[1] - bounds[0]) / bounds[2] + 1.0 + 1e-9;
    if (count > CNNVP_AXIS_VALUES)
        return cnnvp_config_error(error, nodes[2]->place, "%s: more than %d values", axis->name, CNNVP_AXIS_VALUES);
    axis->values = cnnvp_arena_array(&sweep->arena, (size_t)count, sizeof *axis->values);
    CNNVP_TRY_MEMORY(axis->values != NULL, error);
    for (int i = 0; i < (int)count; ++i) {
        char *text = cnnvp_arena_printf(&sweep->arena, "%.12g", bounds[0] + i * bounds[2]);
        CNNVP_TRY(
            text != NULL ? add_value(sweep, axis, text, nodes[0]->place, 0, error) : cnnvp_config_no_memory(error));
    }
    return CNNVP_DONE;
}

static const struct cnnvp_yaml_node *child_of(const struct cnnvp_yaml_node *node, const char *key)
{
    for (const struct cnnvp_yaml_node *child = node->children; child != NULL; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

static cnnvp_result add_steps(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, const struct cnnvp_yaml_node *node,
                              struct cnnvp_error *error)
{
    const struct cnnvp_yaml_node *const nodes[3] = {
        child_of(node, "from"), child_of(node, "to"), child_of(node, "step")};
    uint64_t bounds[3] = {0};
    if (nodes[0] == NULL || nodes[1] == NULL || nodes[2] == NULL || node->child_count != 3)
        return refuse(error, axis, node->place, "a range is {from: A, to: B, step: S} or {log2: [A, B]}");
    if (axis->kind == CNNVP_AXIS_OPTION && is_real_option(axis->option))
        return add_real_range(sweep, axis, nodes, error);
    for (int i = 0; i < 3; ++i)
        CNNVP_TRY(read_bound(axis, nodes[i], &bounds[i], error));
    if (bounds[2] == 0)
        return refuse(error, axis, nodes[2]->place, "a step above 0 is expected");
    if (bounds[0] > bounds[1])
        return refuse(error, axis, nodes[0]->place, "an empty range: `from` is above `to`");
    return add_range(sweep, axis, node->place, bounds[0], bounds[1], bounds[2], error);
}

static cnnvp_result add_powers(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, const struct cnnvp_yaml_node *node,
                               struct cnnvp_error *error)
{
    uint64_t bounds[2] = {0};
    if (node->kind != CNNVP_YAML_LIST || node->child_count != 2)
        return refuse(error, axis, node->place, "two bounds are expected: {log2: [4, 64]}");
    const struct cnnvp_yaml_node *bound = node->children;
    for (int i = 0; i < 2; ++i, bound = bound->next) {
        CNNVP_TRY(read_bound(axis, bound, &bounds[i], error));
        if (bounds[i] == 0 || (bounds[i] & (bounds[i] - 1)) != 0)
            return refuse(error, axis, bound->place, "a power of two is expected");
    }
    if (bounds[0] > bounds[1])
        return refuse(error, axis, node->place, "an empty range: the first bound is above the second");
    return add_range(sweep, axis, node->place, bounds[0], bounds[1], 0, error);
}

static cnnvp_result add_values(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, const struct cnnvp_yaml_node *node,
                               struct cnnvp_error *error)
{
    if (node->kind == CNNVP_YAML_MAP) {
        int real = axis->kind == CNNVP_AXIS_OPTION && is_real_option(axis->option);
        const struct cnnvp_yaml_node *powers = child_of(node, "log2");
        if (!is_integral(axis) && !real)
            return refuse(error, axis, node->place, "has no order, so it takes a list of values and no range");
        return powers != NULL && !real && node->child_count == 1
                   ? add_powers(sweep, axis, powers, error)
                   : add_steps(sweep, axis, node, error);
    }
    const struct cnnvp_yaml_node *child = node->kind == CNNVP_YAML_LIST ? node->children : node;
    size_t count = node->kind == CNNVP_YAML_LIST ? node->child_count : 1;
    if (count == 0)
        return refuse(error, axis, node->place, "an empty list; one value at least is expected");
    axis->values = cnnvp_arena_array(&sweep->arena, count, sizeof *axis->values);
    CNNVP_TRY_MEMORY(axis->values != NULL, error);
    for (size_t i = 0; i < count; ++i, child = child->next) {
        if (child->kind != CNNVP_YAML_SCALAR || cnnvp_yaml_is_null(child))
            return cnnvp_config_error(
                error, child->place, "%s: %s where a value is expected", axis->name, cnnvp_yaml_kind_name(child));
        CNNVP_TRY(add_value(sweep, axis, child->text, child->place, child->quoted, error));
    }
    return CNNVP_DONE;
}

/* ---- names ---- */

static cnnvp_result find_option(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, struct cnnvp_error *error)
{
    char *name = cnnvp_arena_text(&sweep->arena, axis->name);
    CNNVP_TRY_MEMORY(name != NULL, error);
    for (char *at = name; *at; ++at)
        *at = *at == '-' ? '_' : *at;
    axis->name = name;
    axis->option = cnnvp_command_option_find(sweep->command, name);
    if (axis->option != NULL && cnnvp_command_option_is_of(axis->option, sweep->command, 1))
        return CNNVP_DONE;
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, name);
    for (size_t i = 0; i < cnnvp_command_option_count; ++i)
        if (cnnvp_command_option_is_of(&cnnvp_command_option_table[i], sweep->command, 1))
            cnnvp_suggest_offer(&suggest, cnnvp_command_option_table[i].name);
    return cnnvp_config_error(error, axis->place, "%s is no option of %s that a sweep can take%s",
                              cnnvp_config_show(name).text, sweep->command, cnnvp_suggest_text(&suggest, "there are"));
}

static cnnvp_result find_parameter(struct cnnvp_sweep *sweep, struct cnnvp_axis *axis, struct cnnvp_error *error)
{
    struct cnnvp_config_instance instance;
    struct cnnvp_suggest suggest;
    const size_t all = strlen(CNNVP_ALL_ACCELERATORS);
    const char *of_one = strncmp(axis->name, CNNVP_ALL_ACCELERATORS, all) == 0 ? axis->name + all : axis->name;
    if (strncmp(axis->name, "energy.", strlen("energy.")) == 0)
        return CNNVP_DONE; /* entries of the energy table are checked when a point's configuration is resolved */
    cnnvp_suggest_begin(&suggest, of_one);
    for (size_t i = 0; cnnvp_config_instance(sweep->base, i, &instance) == CNNVP_DONE; ++i) {
        const size_t count = instance.unit != NULL ? instance.unit->param_count : 0;
        for (size_t p = 0; instance.unit != NULL && p < count + 2u; ++p) {
            const struct cnnvp_param *param = p < count ? &instance.unit->params[p] : &cnnvp_speedup_param;
            if (p > count)
                param = NULL; /* INSTANCE.model, which may vary too */
            const char *name =
                cnnvp_arena_printf(&sweep->arena, "%s.%s", instance.name, param != NULL ? param->name : "model");
            CNNVP_TRY_MEMORY(name != NULL, error);
            if (strcmp(name, of_one) == 0) {
                axis->param = param;
                return CNNVP_DONE;
            }
            cnnvp_suggest_offer(&suggest, name);
        }
    }
    return cnnvp_config_error(error, axis->place, "the platform has no parameter %s%s",
                              cnnvp_config_show(axis->name).text, cnnvp_suggest_text(&suggest, "there are"));
}

cnnvp_result cnnvp_axis_add(struct cnnvp_sweep *sweep, enum cnnvp_axis_kind kind, const struct cnnvp_yaml_node *node,
                            struct cnnvp_error *error)
{
    if (sweep->axis_count == CNNVP_AXES)
        return cnnvp_config_error(error, node->place, "more than %d things that vary", CNNVP_AXES);
    struct cnnvp_axis *axis = &sweep->axes[sweep->axis_count];
    *axis = (struct cnnvp_axis){.name = node->key, .place = node->key_place, .kind = kind};
    axis->listed = kind == CNNVP_AXIS_PARAMETER || node->kind != CNNVP_YAML_SCALAR;
    if (kind == CNNVP_AXIS_OPTION)
        CNNVP_TRY(find_option(sweep, axis, error));
    else if (kind == CNNVP_AXIS_PARAMETER)
        CNNVP_TRY(find_parameter(sweep, axis, error));
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (strcmp(sweep->axes[i].name, axis->name) == 0)
            return cnnvp_config_error(
                error, axis->place, "%s is there twice; first at %s", axis->name, sweep->axes[i].place);
    CNNVP_TRY(add_values(sweep, axis, node, error));
    ++sweep->axis_count;
    return CNNVP_DONE;
}

const char *cnnvp_axis_word(struct cnnvp_arena *arena, const struct cnnvp_axis *axis, const char *value)
{
    const int is_flag = axis->option->type == CNNVP_OPTION_FLAG;
    char *word = cnnvp_arena_printf(arena, "--%s%s%s", axis->name, is_flag ? "" : "=", is_flag ? "" : value);
    for (char *at = word; at != NULL && *at && *at != '='; ++at)
        *at = *at == '_' ? '-' : *at;
    return word;
}

/* ---- values of a point ---- */

uint32_t cnnvp_point_index(const struct cnnvp_sweep *sweep, uint64_t number, size_t axis)
{
    for (size_t i = sweep->axis_count - 1; i > axis; --i)
        number /= sweep->axes[i].value_count;
    return (uint32_t)(number % sweep->axes[axis].value_count);
}

enum { NETWORK_AXIS = 0 }; /* spec.c adds the network axis first */

uint32_t cnnvp_point_network(const struct cnnvp_sweep *sweep, uint64_t number)
{
    return cnnvp_point_index(sweep, number, NETWORK_AXIS);
}

uint32_t cnnvp_network_count(const struct cnnvp_sweep *sweep)
{
    return sweep->axes[NETWORK_AXIS].value_count;
}

const struct cnnvp_axis_value *cnnvp_point_option(const struct cnnvp_sweep *sweep, uint64_t number, const char *name)
{
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].kind != CNNVP_AXIS_PARAMETER && strcmp(sweep->axes[i].name, name) == 0)
            return &sweep->axes[i].values[cnnvp_point_index(sweep, number, i)];
    return NULL;
}

json_t *cnnvp_point_params(const struct cnnvp_sweep *sweep, uint64_t number)
{
    json_t *params = json_object();
    int failed = params == NULL;
    for (size_t i = 0; i < sweep->axis_count && !failed; ++i) {
        const struct cnnvp_axis *axis = &sweep->axes[i];
        const struct cnnvp_axis_value *value = &axis->values[cnnvp_point_index(sweep, number, i)];
        json_t *json = NULL;
        if (!axis->listed)
            continue;
        if (value->json == CNNVP_JSON_WHOLE)
            json = json_integer(strtoll(value->text, NULL, 10));
        else if (value->json == CNNVP_JSON_REAL)
            json = json_real(value->operand.number);
        else if (value->json == CNNVP_JSON_BOOL)
            json = json_boolean(value->text[0] == 't');
        else
            json = json_string(value->text);
        failed = json_object_set_new(params, axis->name, json) != 0;
    }
    for (size_t i = 0; i < sweep->derived_count && !failed; ++i) {
        struct cnnvp_error error;
        uint64_t value;
        if (cnnvp_point_derived(sweep, number, i, &value, &error) == CNNVP_DONE)
            failed = json_object_set_new(params, sweep->derived[i].name, json_integer((json_int_t)value)) != 0;
    }
    if (!failed)
        return params;
    json_decref(params);
    return NULL;
}
