/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a platform's connections are those that the guest software takes for granted (wiring.def): with others it
 * would compute nonsense without a word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum who { ALL, INFERENCE, TRAINING };

static const struct wire {
    enum who who;
    const char *name; /* instance.port */
    const char *target;
    int choice; /* may be open */
} wires[] = {
#define CNNVP_WIRE(who, instance, port, target) {who, #instance "." #port, target, 0},
#define CNNVP_CHOICE(who, instance, port, target) {who, #instance "." #port, target, 1},
#include "wiring.def"
};

static const struct {
    enum who who;
    const char *name; /* instance.parameter */
    const char *value;
} fixed[] = {
#define CNNVP_FIXED(who, instance, parameter, value) {who, #instance "." #parameter, value},
#include "wiring.def"
};

static const char *const addressed[] = {
#define CNNVP_ADDRESSED(instance) #instance,
#include "wiring.def"
};

static int is_instance(const char *text, size_t length, const char *name)
{
    return strcspn(name, ".") == length && strncmp(text, name, length) == 0;
}

/* One of those that networks know, so not a third-party unit that lies between. */
static int is_known(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof addressed / sizeof addressed[0]; ++i)
        if (is_instance(text, length, addressed[i]))
            return 1;
    for (size_t i = 0; i < sizeof wires / sizeof wires[0]; ++i)
        if (is_instance(text, length, wires[i].target))
            return 1;
    return 0;
}

/* A port that is left open because what networks need behind it was taken away. */
static cnnvp_result check_open(const cnnvp_config *config, const char *name, const char *wanted,
                               struct cnnvp_error *error)
{
    char instance[64];
    const char *place;
    const char *written;
    const char *target = NULL;
    snprintf(instance, sizeof instance, "%.*s", (int)strcspn(wanted, "."), wanted);
    if (cnnvp_config_place(config, name, &place, &target) != CNNVP_DONE || target == NULL || *target != '\0' ||
        cnnvp_config_place(config, instance, &written, &target) == CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "%s: %s: the platform has no instance %s, which networks need there", place, name, instance);
}

static cnnvp_result check_wire(const cnnvp_config *config, const struct wire *wire, struct cnnvp_error *error)
{
    const char *const name = wire->name;
    const char *const wanted = wire->target;
    char instance[64];
    const char *place;
    const char *target = NULL;
    const size_t dot = strcspn(name, ".");
    snprintf(instance, sizeof instance, "%.*s", (int)strcspn(wanted, "."), wanted);
    if (cnnvp_config_place(config, name, &place, &target) != CNNVP_DONE || target == NULL)
        return CNNVP_DONE;
    if (*target == '\0' && wire->choice)
        return CNNVP_DONE;
    if (*target == '\0')
        return cnnvp_compiler_error(error, "%s: %.*s: port %s is not connected; networks need `connect: {%s: %s}`",
                                    place, (int)dot, name, name + dot + 1, name + dot + 1, wanted);
    const size_t length = strcspn(target, ".");
    const int same =
        strchr(wanted, '.') != NULL
            ? strcmp(target, wanted) == 0
            : is_instance(target, length, instance) ||
                  (strcmp(target, "bus") == 0 && strcmp(wanted, "dram") == 0); /* the bus leads there too */
    if (same || !is_known(target, length))
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "%s: %.*s.connect.%s: leads to %s; networks need %s there", place, (int)dot,
                                name, name + dot + 1, target, wanted);
}

static cnnvp_result check_fixed(const cnnvp_config *config, const char *name, const char *wanted,
                                struct cnnvp_error *error)
{
    uint64_t value;
    const char *text = NULL;
    const char *place = NULL;
    const char *target;
    if (cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE || strcmp(text, wanted) == 0 ||
        cnnvp_config_place(config, name, &place, &target) != CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "%s: %s: is %s; networks on the training engine need %s", place, name, text, wanted);
}

/* ---- units that the software leaves alone ---- */

/* Instances, in the order of the configuration; is[i]: 1 if that one is driven. */
struct driven {
    const cnnvp_config *config;
    size_t count;
    struct cnnvp_config_instance *instances;
    unsigned char *is;
};

/* Addressed by the software, or it works by itself: it has a process, or nothing could lead to it. */
static int is_first(const struct cnnvp_config_instance *instance, const cnnvp_config *config)
{
    uint64_t base, size;
    for (size_t i = 0; i < sizeof addressed / sizeof addressed[0]; ++i)
        if (strcmp(instance->name, addressed[i]) == 0)
            return 1;
    if (instance->unit == NULL || instance->idle || instance->unit->process != NULL)
        return 1;
    for (uint32_t i = 0; i < instance->unit->port_count; ++i)
        if (instance->unit->ports[i].kind == CNNVP_PORT_TARGET ||
            instance->unit->ports[i].kind == CNNVP_PORT_MEM_TARGET)
            return 0;
    return cnnvp_config_window(config, instance->name, &base, &size) != CNNVP_DONE;
}

/* What the ports of a driven instance lead to is driven too; 1 if any was not before. */
static int drive_targets(struct driven *driven, const struct cnnvp_config_instance *from)
{
    int changed = 0;
    for (uint32_t port = 0; from->unit != NULL && port < from->unit->port_count; ++port) {
        char name[256];
        const char *place;
        const char *target = NULL;
        snprintf(name, sizeof name, "%s.%s", from->name, from->unit->ports[port].name);
        if (from->unit->ports[port].kind == CNNVP_PORT_IRQ_OUT ||
            cnnvp_config_place(driven->config, name, &place, &target) != CNNVP_DONE || target == NULL)
            continue;
        for (size_t i = 0; i < driven->count; ++i) {
            if (driven->is[i] || !is_instance(target, strcspn(target, "."), driven->instances[i].name))
                continue;
            driven->is[i] = 1;
            changed = 1;
        }
    }
    return changed;
}

static cnnvp_result refuse_undriven(const struct driven *driven, struct cnnvp_error *error)
{
    char others[400] = "";
    const char *first = NULL;
    const char *place = "";
    const char *target;
    for (size_t i = 0; i < driven->count; ++i) {
        const char *name = driven->instances[i].name;
        const size_t used = strlen(others);
        if (driven->is[i])
            continue;
        if (first != NULL)
            snprintf(others + used, sizeof others - used, "%s%s", used == 0 ? ", nor " : ", ", name);
        else if (cnnvp_config_place(driven->config, name, &place, &target) == CNNVP_DONE)
            first = name;
    }
    if (first == NULL)
        return CNNVP_DONE;
    return cnnvp_compiler_error(error,
                                "%s: %s: the software that runs networks does not use it%s; connect it to what "
                                "it uses, or write `idle: true` if it is to do nothing",
                                place, first, others);
}

static cnnvp_result find_undriven(struct driven *driven, struct cnnvp_error *error)
{
    int changed = 1;
    for (size_t i = 0; i < driven->count; ++i)
        if (cnnvp_config_instance(driven->config, i, &driven->instances[i]) == CNNVP_DONE)
            driven->is[i] = (unsigned char)is_first(&driven->instances[i], driven->config);
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < driven->count; ++i)
            changed |= driven->is[i] && drive_targets(driven, &driven->instances[i]);
    }
    return refuse_undriven(driven, error);
}

cnnvp_result cnnvp_target_driven(const cnnvp_config *config, struct cnnvp_error *error)
{
    struct driven driven = {.config = config};
    struct cnnvp_config_instance instance;
    while (cnnvp_config_instance(config, driven.count, &instance) == CNNVP_DONE)
        ++driven.count;
    driven.instances = calloc(driven.count + 1, sizeof *driven.instances);
    driven.is = calloc(driven.count + 1, 1);
    const cnnvp_result result =
        driven.instances != NULL && driven.is != NULL ? find_undriven(&driven, error) : cnnvp_compiler_no_memory(error);
    free(driven.instances);
    free(driven.is);
    return result;
}

static enum who who_needs(enum cnnvp_target_software software)
{
    return software == CNNVP_TARGET_TRAINING ? TRAINING : INFERENCE;
}

cnnvp_result cnnvp_target_complete(const cnnvp_config *config, enum cnnvp_target_software software,
                                   struct cnnvp_error *error)
{
    const enum who who = who_needs(software);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < sizeof wires / sizeof wires[0] && result == CNNVP_DONE; ++i)
        if (!wires[i].choice && (wires[i].who == ALL || wires[i].who == who))
            result = check_open(config, wires[i].name, wires[i].target, error);
    return result;
}

cnnvp_result cnnvp_target_wiring(const cnnvp_config *config, enum cnnvp_target_software software,
                                 struct cnnvp_error *error)
{
    const enum who who = who_needs(software);
    cnnvp_result result = cnnvp_target_complete(config, software, error);
    for (size_t i = 0; i < sizeof wires / sizeof wires[0] && result == CNNVP_DONE; ++i)
        if (wires[i].who == ALL || wires[i].who == who)
            result = check_wire(config, &wires[i], error);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && result == CNNVP_DONE; ++i)
        if (fixed[i].who == ALL || fixed[i].who == who)
            result = check_fixed(config, fixed[i].name, fixed[i].value, error);
    return result;
}
