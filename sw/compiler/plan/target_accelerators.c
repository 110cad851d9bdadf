/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the accelerators of a platform that share a network's images, and checks that they are alike. */
#include <stdio.h>
#include <string.h>

#include "plan.h"

/* The suffix of a further accelerator's instruction element; NULL: the instance is no such element. */
static const char *suffix_of(const struct cnnvp_config_instance *instance, const char *kind)
{
    const size_t length = strlen(CNNVP_INSTRUCTION_ELEMENT);
    if (instance->unit == NULL || strncmp(instance->name, CNNVP_INSTRUCTION_ELEMENT, length) != 0 ||
        instance->name[length] == '\0' || strcmp(instance->unit->kind, kind) != 0)
        return NULL;
    return instance->name + length;
}

static int find(const cnnvp_config *config, const char *name, struct cnnvp_config_instance *instance)
{
    for (size_t i = 0; cnnvp_config_instance(config, i, instance) == CNNVP_DONE; ++i)
        if (strcmp(instance->name, name) == 0)
            return 1;
    return 0;
}

static const char *kind_of(const cnnvp_config *config, const char *name)
{
    struct cnnvp_config_instance instance;
    return find(config, name, &instance) && instance.unit != NULL ? instance.unit->kind : "";
}

/* File and line that define the instance or parameter; "" if the configuration lacks it. */
static const char *place_of(const cnnvp_config *config, const char *name)
{
    const char *place, *target;
    return cnnvp_config_place(config, name, &place, &target) == CNNVP_DONE ? place : "";
}

cnnvp_result cnnvp_target_accelerators(const cnnvp_config *config, enum cnnvp_target_software software,
                                       struct cnnvp_accelerators *accelerators, struct cnnvp_error *error)
{
    const char *kind = kind_of(config, CNNVP_INSTRUCTION_ELEMENT);
    struct cnnvp_config_instance instance;
    *accelerators = (struct cnnvp_accelerators){.count = 1, .suffixes = {""}};
    for (size_t i = 0; software == CNNVP_TARGET_INFERENCE && cnnvp_config_instance(config, i, &instance) == CNNVP_DONE;
         ++i) {
        const char *suffix = suffix_of(&instance, kind);
        if (suffix == NULL || instance.idle)
            continue;
        if (accelerators->count == CNNVP_ACCELERATORS)
            return cnnvp_compiler_error(error, "%s: %s: networks share their images among %u accelerators at most",
                                        place_of(config, instance.name), instance.name, (unsigned)CNNVP_ACCELERATORS);
        accelerators->suffixes[accelerators->count++] = suffix;
    }
    return CNNVP_DONE;
}

static cnnvp_result differ(const cnnvp_config *config, const char *name, const char *is, const char *first,
                           const char *has, struct cnnvp_error *error)
{
    return cnnvp_compiler_error(error, "%s: %s is %s, and %s is %s: accelerators that share images are alike",
                                place_of(config, name), name, is, first, has);
}

static cnnvp_result compare_parameter(const cnnvp_config *config, const char *name, const char *first,
                                      struct cnnvp_error *error)
{
    uint64_t value, other;
    const char *text, *other_text;
    if (cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE ||
        cnnvp_config_get(config, first, &other, &other_text) != CNNVP_DONE ||
        (value == other && strcmp(text, other_text) == 0))
        return CNNVP_DONE;
    return differ(config, name, text, first, other_text, error);
}

/* Compares a unit of another accelerator with the first accelerator's unit. */
static cnnvp_result compare_units(const cnnvp_config *config, const struct cnnvp_config_instance *unit,
                                  const struct cnnvp_config_instance *first, struct cnnvp_error *error)
{
    if (strcmp(unit->model, first->model) != 0)
        return differ(config, unit->name, unit->model, first->name, first->model, error);
    for (uint32_t i = 0; unit->unit != NULL && i < unit->unit->param_count; ++i) {
        char name[2 * CNNVP_TARGET_NAME], other[2 * CNNVP_TARGET_NAME];
        (void)snprintf(name, sizeof name, "%s.%s", unit->name, unit->unit->params[i].name);
        (void)snprintf(other, sizeof other, "%s.%s", first->name, unit->unit->params[i].name);
        CNNVP_TRY(compare_parameter(config, name, other, error));
    }
    return CNNVP_DONE;
}

static cnnvp_result check_unit(const cnnvp_config *config, const struct cnnvp_config_instance *first,
                               const char *suffix, struct cnnvp_error *error)
{
    char name[CNNVP_TARGET_NAME], element[CNNVP_TARGET_NAME];
    struct cnnvp_config_instance unit;
    cnnvp_target_name(first->name, suffix, name);
    if (find(config, name, &unit))
        return compare_units(config, &unit, first, error);
    cnnvp_target_name(CNNVP_INSTRUCTION_ELEMENT, suffix, element);
    return cnnvp_compiler_error(
        error, "%s: %s: the platform has no %s, but %s: accelerators that share images are alike",
        place_of(config, element), element, name, first->name);
}

cnnvp_result cnnvp_target_alike(const cnnvp_config *config, const struct cnnvp_accelerators *accelerators,
                                struct cnnvp_error *error)
{
    struct cnnvp_config_instance first;
    for (size_t i = 0; cnnvp_config_instance(config, i, &first) == CNNVP_DONE; ++i)
        for (uint32_t k = 1; k < accelerators->count; ++k)
            if (cnnvp_target_is_own(first.name, strlen(first.name)))
                CNNVP_TRY(check_unit(config, &first, accelerators->suffixes[k], error));
    return CNNVP_DONE;
}
