/* SPDX-License-Identifier: Apache-2.0 */
/* When parameters have an effect: struct cnnvp_condition of cnnvp_model.h. */
#include <string.h>

#include "config_internal.h"

enum { WORD = 64 }; /* longest name or value, with its end */

/* NAME=VALUE|VALUE or NAME!=VALUE|VALUE. */
struct where {
    uint32_t param;
    int wanted; /* 1: one of the values; 0: none of them */
    const char *values;
};

/* The condition of this index, NULL after the last. */
static const struct cnnvp_condition *condition_at(const struct cnnvp_unit *unit, size_t index)
{
    const int has_them = unit != NULL && unit->struct_size >= sizeof *unit;
    return has_them && index < unit->condition_count ? &unit->conditions[index] : NULL;
}

/* Takes the next of the values A|B from *list, which is NULL after the last. Returns 0 if it is too long. */
static int next_value(const char **list, char value[WORD])
{
    const size_t length = strcspn(*list, "|");
    if (length >= WORD)
        return 0;
    memcpy(value, *list, length);
    value[length] = '\0';
    *list = (*list)[length] == '|' ? *list + length + 1 : NULL;
    return 1;
}

/* 1: the text is the value; 0: it is another one; -1: it is none of the parameter. */
static int is_value(const struct cnnvp_param *param, const char *text, uint64_t value, const char *as_text)
{
    char reason[600];
    uint64_t number = 0;
    if (param->type == CNNVP_PARAM_TEXT)
        return strcmp(text, as_text) == 0;
    if (cnnvp_value_parse(param, text, 0, &number, reason, sizeof reason) != 0)
        return -1;
    return number == value;
}

/* 1: one of the values A|B; 0: none; -1: one of them is none of the parameter. */
static int is_among(const struct cnnvp_param *param, const char *values, uint64_t value, const char *as_text)
{
    char one[WORD];
    int among = 0;
    for (const char *rest = values; rest != NULL;) {
        const int is = next_value(&rest, one) ? is_value(param, one, value, as_text) : -1;
        if (is < 0)
            return -1;
        among |= is;
    }
    return among;
}

/* Returns 0 if there is no such parameter. */
static int read_where(const struct cnnvp_unit *unit, const char *text, struct where *where)
{
    const size_t length = strcspn(text, "!=");
    char name[WORD];
    if (length >= sizeof name)
        return 0;
    memcpy(name, text, length);
    name[length] = '\0';
    where->param = cnnvp_unit_param(unit, name);
    where->wanted = text[length] == '=';
    where->values = text + length + (where->wanted ? 1 : 2);
    return where->param != UINT32_MAX && (where->wanted || strncmp(text + length, "!=", 2) == 0);
}

static int is_right(const struct cnnvp_unit *unit, const struct cnnvp_condition *condition)
{
    const uint32_t index = condition->param != NULL ? cnnvp_unit_param(unit, condition->param) : UINT32_MAX;
    struct where where;
    if (index == UINT32_MAX)
        return 0;
    const struct cnnvp_param *param = &unit->params[index];
    if (condition->choice != NULL &&
        (param->type != CNNVP_PARAM_ENUM || is_value(param, condition->choice, 0, NULL) < 0))
        return 0;
    if (condition->where == NULL)
        return condition->choice == NULL;
    return read_where(unit, condition->where, &where) && where.param != index &&
           is_among(&unit->params[where.param], where.values, 0, "") >= 0;
}

const struct cnnvp_condition *cnnvp_unit_wrong_condition(const struct cnnvp_unit *unit)
{
    const struct cnnvp_condition *condition;
    for (size_t i = 0; (condition = condition_at(unit, i)) != NULL; ++i)
        if (!is_right(unit, condition))
            return condition;
    return NULL;
}

const struct cnnvp_condition *cnnvp_unit_condition(const struct cnnvp_unit *unit, uint32_t param, size_t index)
{
    const struct cnnvp_condition *condition;
    for (size_t i = 0; (condition = condition_at(unit, i)) != NULL; ++i)
        if (strcmp(condition->param, unit->params[param].name) == 0 && index-- == 0)
            return condition;
    return NULL;
}

const struct cnnvp_condition *cnnvp_instance_unmet(const struct cnnvp_instance *instance, uint32_t param,
                                                   uint64_t value)
{
    const struct cnnvp_unit *unit = instance->unit;
    const struct cnnvp_condition *condition;
    for (size_t i = 0; (condition = cnnvp_unit_condition(unit, param, i)) != NULL; ++i) {
        struct where where;
        if (condition->choice != NULL && is_value(&unit->params[param], condition->choice, value, "") != 1)
            continue;
        if (condition->where == NULL || !read_where(unit, condition->where, &where) ||
            is_among(&unit->params[where.param], where.values, instance->values[where.param],
                     instance->texts[where.param]) != where.wanted)
            return condition;
    }
    return NULL;
}

uint32_t cnnvp_condition_of(const struct cnnvp_unit *unit, const struct cnnvp_condition *condition)
{
    struct where where;
    return condition->where != NULL && read_where(unit, condition->where, &where) ? where.param : UINT32_MAX;
}

/* 1: a setting of --set has no effect, and is not the default. Says so in *warning. */
static int is_in_vain(const struct cnnvp_instance *instance, uint32_t index, struct cnnvp_error *warning)
{
    static const char set[] = "--set ";
    const struct cnnvp_condition *unmet = cnnvp_instance_unmet(instance, index, instance->values[index]);
    const struct cnnvp_param *param = &instance->unit->params[index];
    char message[3 * WORD];
    if (unmet == NULL || unmet->where == NULL || strncmp(instance->places[index].text, set, sizeof set - 1) != 0 ||
        is_value(param, param->default_value, instance->values[index], instance->texts[index]) == 1)
        return 0;
    (void)snprintf(message, sizeof message, "%s%schanges nothing; it has an effect only where %s",
                   unmet->choice != NULL ? unmet->choice : "", unmet->choice != NULL ? " " : "", unmet->where);
    cnnvp_config_place_error(instance, index, message, warning);
    return 1;
}

int cnnvp_config_in_vain(const cnnvp_config *config, size_t number, struct cnnvp_error *warning)
{
    const struct cnnvp_resolved *resolved;
    if (cnnvp_config_need(config, &resolved, warning) != CNNVP_DONE)
        return 0;
    for (size_t i = 0; i < resolved->instance_count; ++i)
        for (uint32_t p = 0; resolved->instances[i].unit != NULL && p < resolved->instances[i].unit->param_count; ++p)
            if (is_in_vain(&resolved->instances[i], p, warning) && number-- == 0)
                return 1;
    return 0;
}
