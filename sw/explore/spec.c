/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks the specification of a sweep. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "guest_file.h"
#include "explore.h"

/* The keys, in the order in which messages list them. */
enum key {
    KEY_COMMAND,
    KEY_NETWORK,
    KEY_PROGRAM,
    KEY_PLATFORM,
    KEY_OPTIONS,
    KEY_PARAMETERS,
    KEY_CONSTRAINTS,
    KEY_OBJECTIVES,
    KEY_SEARCH,
    KEY_DERIVE,
    KEYS
};
static const char *const keys[KEYS] = {"command",    "network",     "program",    "platform", "options",
                                       "parameters", "constraints", "objectives", "search",   "derive"};

static cnnvp_result need_scalar(const struct cnnvp_yaml_node *node, struct cnnvp_error *error)
{
    if (node->kind == CNNVP_YAML_SCALAR && !cnnvp_yaml_is_null(node))
        return CNNVP_DONE;
    return cnnvp_config_error(
        error, node->place, "%s: %s where a single value is expected", node->key, cnnvp_yaml_kind_name(node));
}

static cnnvp_result read_command(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                 struct cnnvp_error *error)
{
    sweep->command = "run";
    sweep->work = "network";
    if (node == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(need_scalar(node, error));
    if (strcmp(node->text, "run") != 0 && strcmp(node->text, "train") != 0 && strcmp(node->text, "exec") != 0)
        return cnnvp_config_error(
            error, node->place, "command: %s is none of run, train and exec", cnnvp_config_show(node->text).text);
    sweep->command = node->text;
    if (strcmp(sweep->command, "exec") == 0)
        sweep->work = "program";
    return CNNVP_DONE;
}

static cnnvp_result read_platform(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                  struct cnnvp_error *error)
{
    sweep->platform = cnnvp_command_platform(sweep->command);
    if (node != NULL) {
        CNNVP_TRY(need_scalar(node, error));
        sweep->platform = node->text;
    }
    sweep->platform_file = sweep->platform;
    /* A name with a dot or slash is a file, searched for beside the specification first. */
    if (strpbrk(sweep->platform, "./") != NULL && *sweep->platform != '/') {
        const char *beside = cnnvp_arena_printf(&sweep->arena, "%s/%s", sweep->folder, sweep->platform);
        if (beside != NULL && access(beside, R_OK) == 0)
            sweep->platform_file = beside;
    }
    struct cnnvp_error reason = {""};
    cnnvp_result result = cnnvp_config_new(sweep->platform_file, &sweep->base, &reason);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(sweep->base, &reason);
    if (result != CNNVP_DONE) {
        /* A message that already has a place gets no other one. */
        int placed = strstr(reason.text, ".y") != NULL && strchr(reason.text, ':') != NULL;
        (void)cnnvp_config_error(error, placed || node == NULL ? NULL : node->place, "%s", reason.text);
    }
    return result;
}

static cnnvp_result read_map(struct cnnvp_sweep *sweep, enum cnnvp_axis_kind kind, const struct cnnvp_yaml_node *node,
                             struct cnnvp_error *error)
{
    if (node == NULL || cnnvp_yaml_is_null(node))
        return CNNVP_DONE;
    if (node->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(
            error, node->place, "%s: %s where a map is expected", node->key, cnnvp_yaml_kind_name(node));
    for (const struct cnnvp_yaml_node *child = node->children; child != NULL; child = child->next)
        CNNVP_TRY(cnnvp_axis_add(sweep, kind, child, error));
    return CNNVP_DONE;
}

/* ---- constraints ---- */

/* The index-th parameter of the platform, counted over all instances in order; NULL after the last. */
static const struct cnnvp_param *parameter_at(const struct cnnvp_sweep *sweep, size_t index,
                                              struct cnnvp_config_instance *instance)
{
    for (size_t i = 0; cnnvp_config_instance(sweep->base, i, instance) == CNNVP_DONE; ++i) {
        const size_t count = instance->unit != NULL ? instance->unit->param_count : 0;
        if (index < count)
            return &instance->unit->params[index];
        index -= count;
    }
    return NULL;
}

/* Indexes of names: axes from 0, parameters of the platform from CNNVP_AXES, derived parameters from here. */
#define DERIVED_INDEX 0x40000000u

/* 1: the axis sets this parameter. Beside its own one, accelerators.INSTANCE.PARAM sets that of each accelerator, whose
 * suffix follows the instance's name, as cnnvp_config_set does. */
static int sets(const struct cnnvp_sweep *sweep, const char *axis, const char *name)
{
    const size_t all = strlen(CNNVP_ALL_ACCELERATORS);
    if (strncmp(axis, CNNVP_ALL_ACCELERATORS, all) != 0 || strcmp(axis, name) == 0)
        return strcmp(axis, name) == 0;
    const char *of = axis + all;
    const size_t own = strcspn(of, ".");
    return cnnvp_config_first_length(sweep->base, name) == own && strncmp(of, name, own) == 0 &&
           strcmp(of + own, name + strcspn(name, ".")) == 0;
}

/* The index of a name in an expression: axes first, the last one that sets it, then derived parameters, then all
 * parameters of the platform. */
static uint32_t name_index(void *context, const char *name)
{
    const struct cnnvp_sweep *sweep = context;
    struct cnnvp_config_instance instance;
    const struct cnnvp_param *param;
    for (uint32_t i = (uint32_t)sweep->axis_count; i-- > 0;)
        if (sets(sweep, sweep->axes[i].name, name))
            return i;
    for (uint32_t i = 0; i < sweep->derived_count; ++i)
        if (strcmp(sweep->derived[i].name, name) == 0)
            return DERIVED_INDEX + i;
    for (uint32_t i = 0; (param = parameter_at(sweep, i, &instance)) != NULL; ++i) {
        const size_t length = strlen(instance.name);
        if (strncmp(name, instance.name, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, param->name) == 0)
            return CNNVP_AXES + i;
    }
    return UINT32_MAX;
}

static void offer_names(void *context, struct cnnvp_suggest *suggest)
{
    struct cnnvp_sweep *sweep = context;
    struct cnnvp_config_instance instance;
    const struct cnnvp_param *param;
    for (size_t i = 0; i < sweep->axis_count; ++i)
        cnnvp_suggest_offer(suggest, sweep->axes[i].name);
    for (size_t i = 0; (param = parameter_at(sweep, i, &instance)) != NULL; ++i) {
        const char *name = cnnvp_arena_printf(&sweep->arena, "%s.%s", instance.name, param->name);
        if (name != NULL)
            cnnvp_suggest_offer(suggest, name);
    }
}

/* What a number of the configuration stands for. */
static double number_of(const cnnvp_config *config, const char *name, uint64_t value)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const size_t length = strlen(resolved->instances[i].name);
        if (strncmp(name, resolved->instances[i].name, length) == 0 && name[length] == '.')
            return (double)cnnvp_number_meant(&resolved->instances[i], name + length + 1, value);
    }
    return (double)value;
}

static struct cnnvp_operand config_value(const cnnvp_config *config, const char *name, const struct cnnvp_param *param)
{
    uint64_t value;
    const char *text;
    if (cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE)
        return (struct cnnvp_operand){"", 0};
    int digits = *text && strspn(text, "0123456789") == strlen(text);
    if (param->type == CNNVP_PARAM_TEXT || (param->type == CNNVP_PARAM_ENUM && !digits))
        return (struct cnnvp_operand){text, 0};
    return (struct cnnvp_operand){
        NULL, param->type == CNNVP_PARAM_ENUM ? strtod(text, NULL) : number_of(config, name, value)};
}

#define MAX_DERIVED 9007199254740992.0 /* 2^53 */

struct allowed_context {
    const struct cnnvp_sweep *sweep;
    uint64_t number;
    size_t derived;        /* number of derived parameters before the expression */
    cnnvp_config **config; /* the point's, made when it is first needed */
};

/* The base if the point, or what is set of it so far, is refused, which is reported when it is configured. */
static const cnnvp_config *config_of(const struct allowed_context *point)
{
    struct cnnvp_error refused;
    CNNVP_SCOPED(cnnvp_config_drop)
    cnnvp_config *made = *point->config == NULL ? cnnvp_config_copy(point->sweep->base) : NULL;
    if (made != NULL && cnnvp_point_settle(point->sweep, point->number, point->derived, made, &refused) == CNNVP_DONE) {
        *point->config = made;
        made = NULL;
    }
    const int resolved =
        *point->config != NULL &&
        (cnnvp_config_resolved(*point->config) != NULL || cnnvp_config_resolve(*point->config, &refused) == CNNVP_DONE);
    return resolved ? *point->config : point->sweep->base;
}

static int is_number(const struct cnnvp_param *param)
{
    return param != NULL && (param->type == CNNVP_PARAM_UINT || param->type == CNNVP_PARAM_SIZE);
}

/* A number of the axis; 0 may mean "as the part", so it is looked up in the point's configuration. */
static struct cnnvp_operand axis_value(const struct allowed_context *point, const struct cnnvp_axis *axis)
{
    const size_t index = (size_t)(axis - point->sweep->axes);
    const struct cnnvp_operand own = axis->values[cnnvp_point_index(point->sweep, point->number, index)].operand;
    const size_t all = strlen(CNNVP_ALL_ACCELERATORS);
    const char *name = strncmp(axis->name, CNNVP_ALL_ACCELERATORS, all) == 0 ? axis->name + all : axis->name;
    return is_number(axis->param) && own.number < 1 ? config_value(config_of(point), name, axis->param) : own;
}

/* A number that an off-chip part decides, such as dma.outstanding, is that of the point's part. */
static struct cnnvp_operand base_value(const struct allowed_context *point, uint32_t index)
{
    struct cnnvp_config_instance instance;
    const struct cnnvp_param *param = parameter_at(point->sweep, index - CNNVP_AXES, &instance);
    const int fits = is_number(param) && instance.unit->fit != NULL;
    char name[128];
    (void)snprintf(name, sizeof name, "%s.%s", instance.name, param->name);
    return config_value(fits ? config_of(point) : point->sweep->base, name, param);
}

static struct cnnvp_operand value_of(const void *context, uint32_t index)
{
    const struct allowed_context *point = context;
    if (index >= DERIVED_INDEX) {
        struct cnnvp_error error;
        uint64_t value = 0;
        /* an error is reported when the point is configured */
        (void)(cnnvp_point_derived(point->sweep, point->number, index - DERIVED_INDEX, &value, &error) == CNNVP_DONE);
        return (struct cnnvp_operand){NULL, (double)value};
    }
    return index >= CNNVP_AXES ? base_value(point, index) : axis_value(point, &point->sweep->axes[index]);
}

cnnvp_result cnnvp_point_derive(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived, cnnvp_config *config,
                                uint64_t *value, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *own = NULL;
    const struct allowed_context context = {sweep, number, derived, config != NULL ? &config : &own};
    const struct cnnvp_derived *of = &sweep->derived[derived];
    double result = 0;
    *value = 0;
    CNNVP_TRY(cnnvp_expression_number(of->expression, value_of, &context, &result, error));
    if (!(result >= 0 && result <= MAX_DERIVED) || result != (double)(uint64_t)result)
        return cnnvp_config_error(
            error, of->place, "derive: %s is %g for a point; a parameter is a whole number", of->name, result);
    *value = (uint64_t)result;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_point_derived(const struct cnnvp_sweep *sweep, uint64_t number, size_t derived, uint64_t *value,
                                 struct cnnvp_error *error)
{
    return cnnvp_point_derive(sweep, number, derived, NULL, value, error);
}

cnnvp_result cnnvp_point_allowed(const struct cnnvp_sweep *sweep, uint64_t number, int *allowed,
                                 struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    const struct allowed_context context = {sweep, number, sweep->derived_count, &config};
    *allowed = 1;
    for (size_t i = 0; i < sweep->constraint_count && *allowed; ++i) {
        CNNVP_TRY(cnnvp_expression_holds(sweep->constraints[i], value_of, &context, allowed, error));
    }
    return CNNVP_DONE;
}

/* The place of a scalar's first character, after an opening quote. */
static const char *inside(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node)
{
    const char *colon = strrchr(node->place, ':');
    if (!node->quoted || colon == NULL)
        return node->place;
    return cnnvp_arena_printf(
        &sweep->arena, "%.*s:%ld", (int)(colon - node->place), node->place, strtol(colon + 1, NULL, 10) + 1);
}

/* Calls `add` for a scalar, or for each scalar of a list. */
static cnnvp_result each_text(
    struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node, size_t limit,
    cnnvp_result (*add)(struct cnnvp_sweep *, const struct cnnvp_yaml_node *, struct cnnvp_error *),
    struct cnnvp_error *error)
{
    if (node == NULL || cnnvp_yaml_is_null(node))
        return CNNVP_DONE;
    if (node->kind == CNNVP_YAML_MAP)
        return cnnvp_config_error(error, node->place, "%s: a map where a list is expected", node->key);
    const struct cnnvp_yaml_node *child = node->kind == CNNVP_YAML_LIST ? node->children : node;
    size_t count = node->kind == CNNVP_YAML_LIST ? node->child_count : 1;
    if (count > limit)
        return cnnvp_config_error(error, node->place, "%s: more than %zu", node->key, limit);
    for (size_t i = 0; i < count; ++i, child = child->next) {
        if (child->kind != CNNVP_YAML_SCALAR || !*child->text)
            return cnnvp_config_error(
                error, child->place, "%s: %s where a text is expected", node->key, cnnvp_yaml_kind_name(child));
        CNNVP_TRY(add(sweep, child, error));
    }
    return CNNVP_DONE;
}

static cnnvp_result add_constraint(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                   struct cnnvp_error *error)
{
    const char *place = inside(sweep, node);
    CNNVP_TRY_MEMORY(place != NULL, error);
    struct cnnvp_expression **made = &sweep->constraints[sweep->constraint_count++];
    CNNVP_TRY(cnnvp_expression_new(&sweep->arena, node->text, place, name_index, offer_names, sweep, made, error));
    return cnnvp_expression_condition(*made, error);
}

/* Refuses a derived parameter that is not a number of the platform, or that an axis or another one sets. */
static cnnvp_result check_derived(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                  struct cnnvp_error *error)
{
    struct cnnvp_config_instance instance;
    const struct cnnvp_param *param = NULL;
    const uint32_t index = name_index(sweep, node->key);
    if (index < CNNVP_AXES || (index >= DERIVED_INDEX && index != UINT32_MAX))
        return cnnvp_config_error(error, node->key_place, "derive: %s is there twice, or is a parameter of the search",
                                  cnnvp_config_show(node->key).text);
    if (index != UINT32_MAX)
        param = parameter_at(sweep, index - CNNVP_AXES, &instance);
    if (param == NULL) {
        struct cnnvp_suggest suggest;
        cnnvp_suggest_begin(&suggest, node->key);
        offer_names(sweep, &suggest);
        return cnnvp_config_error(error, node->key_place, "derive: the platform has no parameter %s%s",
                                  cnnvp_config_show(node->key).text, cnnvp_suggest_text(&suggest, "there are"));
    }
    if (param->type != CNNVP_PARAM_UINT && param->type != CNNVP_PARAM_SIZE)
        return cnnvp_config_error(error, node->key_place, "derive: %s is not a number", node->key);
    if (node->kind != CNNVP_YAML_SCALAR || cnnvp_yaml_is_null(node) || !*node->text)
        return cnnvp_config_error(
            error, node->place, "derive.%s: an expression is expected, such as pe_array.rows * 2", node->key);
    return CNNVP_DONE;
}

static cnnvp_result read_derived(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                 struct cnnvp_error *error)
{
    if (node == NULL || cnnvp_yaml_is_null(node))
        return CNNVP_DONE;
    if (node->kind != CNNVP_YAML_MAP || node->child_count > CNNVP_DERIVED)
        return cnnvp_config_error(error, node->place, "derive: %s where a map of up to %d parameters is expected",
                                  cnnvp_yaml_kind_name(node), CNNVP_DERIVED);
    for (const struct cnnvp_yaml_node *child = node->children; child != NULL; child = child->next) {
        struct cnnvp_derived *made = &sweep->derived[sweep->derived_count];
        CNNVP_TRY(check_derived(sweep, child, error));
        *made = (struct cnnvp_derived){.name = child->key, .place = inside(sweep, child)};
        CNNVP_TRY_MEMORY(made->place != NULL, error);
        CNNVP_TRY(cnnvp_expression_new(
            &sweep->arena, child->text, made->place, name_index, offer_names, sweep, &made->expression, error));
        ++sweep->derived_count;
    }
    return CNNVP_DONE;
}

static cnnvp_result add_objective(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                  struct cnnvp_error *error)
{
    int maximise = node->text[0] == '-';
    for (size_t i = 0; i < sweep->objective_count; ++i)
        if (strcmp(sweep->objectives[i].path, node->text + maximise) == 0)
            return cnnvp_config_error(error, node->place, "objective %s is there twice; first at %s",
                                      cnnvp_config_show(node->text).text, sweep->objectives[i].place);
    const char *path = node->text + maximise;
    sweep->objectives[sweep->objective_count++] = (struct cnnvp_objective){path, node->place, maximise};
    sweep->members = cnnvp_arena_printf(&sweep->arena, "%s%.*s ", sweep->members, (int)strcspn(path, "."), path);
    return sweep->members != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

/* ---- search ---- */

static cnnvp_result read_count(const struct cnnvp_yaml_node *node, uint64_t min, uint64_t max, uint64_t *value,
                               struct cnnvp_error *error)
{
    char reason[300] = "";
    CNNVP_TRY(need_scalar(node, error));
    if (cnnvp_value_number(node->text, node->quoted, min, max, 0, value, reason, sizeof reason) != 0)
        return cnnvp_config_error(error, node->place, "%s: %s", node->key, reason);
    return CNNVP_DONE;
}

static cnnvp_result read_nsga2(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node, struct cnnvp_error *error)
{
    uint64_t population = 0, generations = 0;
    if (node->kind != CNNVP_YAML_MAP)
        return cnnvp_config_error(error, node->place, "nsga2: {population: N, generations: N} is expected");
    for (const struct cnnvp_yaml_node *child = node->children; child != NULL; child = child->next) {
        if (strcmp(child->key, "population") == 0)
            CNNVP_TRY(read_count(child, 4, 65536, &population, error));
        else if (strcmp(child->key, "generations") == 0)
            CNNVP_TRY(read_count(child, 1, 65536, &generations, error));
        else
            return cnnvp_config_error(error, child->key_place, "nsga2 has population and generations, not %s",
                                      cnnvp_config_show(child->key).text);
    }
    if (!population || !generations)
        return cnnvp_config_error(error, node->place, "nsga2: {population: N, generations: N} is expected");
    if (population * generations > CNNVP_SWEEP_POINTS)
        return cnnvp_config_error(error, node->place, "nsga2: more than %d points", CNNVP_SWEEP_POINTS);
    if (sweep->objective_count == 0)
        return cnnvp_config_error(error, node->place, "nsga2 needs objectives");
    sweep->search = CNNVP_SEARCH_NSGA2;
    sweep->population = (uint32_t)population;
    sweep->generations = (uint32_t)generations;
    return CNNVP_DONE;
}

static cnnvp_result read_search(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *node,
                                struct cnnvp_error *error)
{
    sweep->search = CNNVP_SEARCH_GRID;
    sweep->search_place = node != NULL ? node->place : sweep->file;
    if (node == NULL || (node->kind == CNNVP_YAML_SCALAR && strcmp(node->text, "grid") == 0))
        return CNNVP_DONE;
    if (node->kind == CNNVP_YAML_MAP && node->child_count == 1) {
        if (strcmp(node->children->key, "random") == 0) {
            sweep->search = CNNVP_SEARCH_RANDOM;
            return read_count(node->children, 1, CNNVP_SWEEP_POINTS, &sweep->random_points, error);
        }
        if (strcmp(node->children->key, "nsga2") == 0)
            return read_nsga2(sweep, node->children, error);
    }
    return cnnvp_config_error(
        error, node->place, "search: grid, {random: N} or {nsga2: {population: N, generations: N}} is expected");
}

/* ---- all of it ---- */

/* Refuses the setting of a parameter that has no effect in any point, since no other one varies of which that
 * depends. */
static cnnvp_result check_effect(struct cnnvp_sweep *sweep, const char *set, const char *place,
                                 const struct cnnvp_instance *instance, uint32_t param, struct cnnvp_error *error)
{
    const struct cnnvp_condition *unmet = cnnvp_instance_unmet(instance, param, UINT64_MAX); /* of all its choices */
    const uint32_t other = unmet != NULL ? cnnvp_condition_of(instance->unit, unmet) : UINT32_MAX;
    if (other == UINT32_MAX)
        return CNNVP_DONE;
    const char *const names[] = {instance->unit->params[param].name, instance->unit->params[other].name, "model"};
    uint32_t indexes[3];
    for (size_t i = 0; i < 3; ++i) {
        const char *name = cnnvp_arena_printf(&sweep->arena, "%s.%s", instance->name, names[i]);
        CNNVP_TRY_MEMORY(name != NULL, error);
        if (i == 0 && !sets(sweep, set, name))
            return CNNVP_DONE;
        indexes[i] = name_index(sweep, name);
    }
    const int varies = indexes[1] < CNNVP_AXES || (indexes[1] >= DERIVED_INDEX && indexes[1] != UINT32_MAX);
    if (varies || indexes[2] < CNNVP_AXES)
        return CNNVP_DONE;
    return cnnvp_config_error(
        error, place, "%s changes nothing; it has an effect only where %s.%s", set, instance->name, unmet->where);
}

static cnnvp_result check_setting(struct cnnvp_sweep *sweep, const char *set, const char *place,
                                  struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(sweep->base);
    for (size_t n = 0; n < resolved->instance_count; ++n)
        for (uint32_t p = 0; resolved->instances[n].unit != NULL && p < resolved->instances[n].unit->param_count; ++p)
            CNNVP_TRY(check_effect(sweep, set, place, &resolved->instances[n], p, error));
    return CNNVP_DONE;
}

static cnnvp_result check_effects(struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    for (size_t i = 0; i < sweep->axis_count; ++i)
        CNNVP_TRY(check_setting(sweep, sweep->axes[i].name, sweep->axes[i].place, error));
    for (size_t i = 0; i < sweep->derived_count; ++i)
        CNNVP_TRY(check_setting(sweep, sweep->derived[i].name, sweep->derived[i].place, error));
    return CNNVP_DONE;
}

enum { CHECKED_TOGETHER = 4096 };

static cnnvp_result count_combinations(struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    sweep->combinations = 1;
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        if (sweep->combinations > (UINT64_MAX >> 1) / sweep->axes[i].value_count)
            return cnnvp_config_error(
                error, sweep->axes[i].place, "more than 2^63 combinations with %s", sweep->axes[i].name);
        sweep->combinations *= sweep->axes[i].value_count;
    }
    return CNNVP_DONE;
}

/* Refuses an option that has no effect with any schedule of the sweep, as the command does. */
static cnnvp_result check_schedules(const struct cnnvp_axis *axis, const struct cnnvp_axis *schedules,
                                    struct cnnvp_error *error)
{
    struct cnnvp_error reason = {""};
    const uint32_t count = schedules != NULL ? schedules->value_count : 1;
    for (uint32_t i = 0; i < count; ++i) {
        struct cnnvp_options options;
        cnnvp_options_init(&options, "run");
        cnnvp_result result = cnnvp_options_set(&options, axis->name, axis->values[0].text, error);
        if (result == CNNVP_DONE && schedules != NULL)
            result = cnnvp_options_set(&options, schedules->name, schedules->values[i].text, error);
        if (result != CNNVP_DONE || cnnvp_options_check(&options, &reason) == CNNVP_DONE)
            return result;
    }
    return cnnvp_config_error(error, axis->place, "%s", reason.text);
}

/* Refuses options that conflict in every point, as the command does. */
static cnnvp_result check_together(struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    struct cnnvp_error reason = {""};
    CNNVP_TRY(count_combinations(sweep, error));
    for (uint64_t i = 0; i < sweep->combinations; ++i) {
        CNNVP_SCOPED(cnnvp_options_clear) struct cnnvp_options options = {.quiet = 0};
        CNNVP_TRY(cnnvp_point_options(sweep, i, &options, error));
        if (cnnvp_options_check(&options, &reason) == CNNVP_DONE || i == CHECKED_TOGETHER)
            return CNNVP_DONE;
    }
    return cnnvp_config_error(error, sweep->file, "%s", reason.text);
}

static cnnvp_result check_options(struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    const struct cnnvp_axis *schedules = NULL;
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].kind == CNNVP_AXIS_OPTION && strcmp(sweep->axes[i].name, "schedule") == 0)
            schedules = &sweep->axes[i];
    for (size_t i = 0; i < sweep->axis_count; ++i)
        if (sweep->axes[i].kind == CNNVP_AXIS_OPTION && sweep->axes[i].option->schedule != NULL)
            CNNVP_TRY(check_schedules(&sweep->axes[i], schedules, error));
    return check_together(sweep, error);
}

static cnnvp_result read_axes(struct cnnvp_sweep *sweep, const struct cnnvp_yaml_node *const found[KEYS],
                              struct cnnvp_error *error)
{
    const int executes = strcmp(sweep->command, "exec") == 0;
    const struct cnnvp_yaml_node *work = found[executes ? KEY_PROGRAM : KEY_NETWORK];
    const struct cnnvp_yaml_node *other = found[executes ? KEY_NETWORK : KEY_PROGRAM];
    if (other != NULL)
        return cnnvp_config_error(
            error, other->key_place, "command: %s takes a %s, not a %s", sweep->command, sweep->work, other->key);
    if (work == NULL)
        return cnnvp_config_error(error, sweep->file, "the key %s is missing", sweep->work);
    CNNVP_TRY(cnnvp_axis_add(sweep, CNNVP_AXIS_NETWORK, work, error));
    CNNVP_TRY(read_map(sweep, CNNVP_AXIS_OPTION, found[KEY_OPTIONS], error));
    CNNVP_TRY(check_options(sweep, error));
    CNNVP_TRY(read_map(sweep, CNNVP_AXIS_PARAMETER, found[KEY_PARAMETERS], error));
    return count_combinations(sweep, error);
}

cnnvp_result cnnvp_spec_read(struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    const struct cnnvp_yaml_node *found[KEYS];
    struct cnnvp_yaml_node *root = NULL;
    char guest[4096] = "";
    (void)snprintf(sweep->simulator, sizeof sweep->simulator, "%s", cnnvp_build());
    sweep->axes = cnnvp_arena_array(&sweep->arena, CNNVP_AXES, sizeof *sweep->axes);
    sweep->constraints = cnnvp_arena_array(&sweep->arena, CNNVP_CONSTRAINTS, sizeof *sweep->constraints);
    sweep->derived = cnnvp_arena_array(&sweep->arena, CNNVP_DERIVED, sizeof *sweep->derived);
    sweep->objectives = cnnvp_arena_array(&sweep->arena, CNNVP_OBJECTIVES, sizeof *sweep->objectives);
    sweep->members = CNNVP_COLUMNS;
    sweep->folder = cnnvp_config_folder(&sweep->arena, sweep->file);
    CNNVP_TRY_MEMORY(sweep->axes != NULL && sweep->constraints != NULL && sweep->derived != NULL &&
                         sweep->objectives != NULL && sweep->folder != NULL,
                     error);
    CNNVP_TRY(cnnvp_yaml_read(&sweep->arena, sweep->file, "network, parameters, objectives", &root, error));
    CNNVP_TRY(cnnvp_yaml_members(root, keys, KEYS, "there are", found, error));
    CNNVP_TRY(read_command(sweep, found[KEY_COMMAND], error));
    CNNVP_TRY(read_platform(sweep, found[KEY_PLATFORM], error));
    CNNVP_TRY(read_axes(sweep, found, error));
    CNNVP_TRY(read_derived(sweep, found[KEY_DERIVE], error));
    CNNVP_TRY(check_effects(sweep, error));
    CNNVP_TRY(each_text(sweep, found[KEY_CONSTRAINTS], CNNVP_CONSTRAINTS, add_constraint, error));
    CNNVP_TRY(each_text(sweep, found[KEY_OBJECTIVES], CNNVP_OBJECTIVES, add_objective, error));
    CNNVP_TRY(read_search(sweep, found[KEY_SEARCH], error));
    CNNVP_TRY(cnnvp_guest_file(NULL, guest, sizeof guest, error));
    return cnnvp_hash_file(guest, sweep->guest_hash, error);
}
