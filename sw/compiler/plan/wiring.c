/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a platform's connections and parameters are those that the guest software takes for granted (wiring.def).
 * With others the software would silently compute wrong results. */
#include <stdio.h>
#include <string.h>

#include "plan.h"

enum who { ALL, INFERENCE, TRAINING, SEVERAL };

static const struct wire {
    enum who who;
    const char *name; /* instance.port */
    const char *target;
    int choice; /* 1: the port may be open */
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

static const char *const shared[] = {
#define CNNVP_SHARED(instance) #instance,
#include "wiring.def"
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The accelerator that is checked. */
struct check {
    const cnnvp_config *config;
    enum who who;
    const struct cnnvp_accelerators *accelerators;
    const char *suffix;
};

static int is_instance(const char *text, size_t length, const char *name)
{
    return strcspn(name, ".") == length && strncmp(text, name, length) == 0;
}

static int is_shared(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(shared); ++i)
        if (is_instance(text, length, shared[i]))
            return 1;
    return 0;
}

int cnnvp_target_is_own(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(addressed); ++i)
        if (is_instance(text, length, addressed[i]))
            return !is_shared(text, length);
    for (size_t i = 0; i < COUNT(wires); ++i)
        if (is_instance(text, length, wires[i].target) || is_instance(text, length, wires[i].name))
            return 1;
    return 0;
}

void cnnvp_target_name(const char *name, const char *suffix, char own[CNNVP_TARGET_NAME])
{
    const size_t length = strcspn(name, ".");
    (void)snprintf(own, CNNVP_TARGET_NAME, "%.*s%s%s", (int)length, name, is_shared(name, length) ? "" : suffix,
                   name + length);
}

/* 1: an instance of wiring.def or its counterpart in another accelerator, so not a third-party unit in between. */
static int is_known(const struct cnnvp_accelerators *accelerators, const char *text, size_t length)
{
    if (is_shared(text, length))
        return 1;
    for (uint32_t i = 0; i < accelerators->count; ++i) {
        const size_t end = strlen(accelerators->suffixes[i]);
        if (length > end && strncmp(text + length - end, accelerators->suffixes[i], end) == 0 &&
            cnnvp_target_is_own(text, length - end))
            return 1;
    }
    return 0;
}

/* 1: the wire is checked for this accelerator. Wires of shared instances are checked with the first one only. */
static int concerns(const struct check *check, const struct wire *wire)
{
    const int first = *check->suffix == '\0';
    if (wire->who == SEVERAL)
        return first && check->accelerators->count > 1;
    return (wire->who == ALL || wire->who == check->who) && (first || !is_shared(wire->name, strcspn(wire->name, ".")));
}

/* Refuses a port that is open because the platform lacks the instance that it should lead to. */
static cnnvp_result check_open(const struct check *check, const struct wire *wire, struct cnnvp_error *error)
{
    char name[CNNVP_TARGET_NAME], wanted[CNNVP_TARGET_NAME];
    const char *place;
    const char *written;
    const char *target = NULL;
    cnnvp_target_name(wire->name, check->suffix, name);
    cnnvp_target_name(wire->target, check->suffix, wanted);
    wanted[strcspn(wanted, ".")] = '\0';
    if (cnnvp_config_place(check->config, name, &place, &target) != CNNVP_DONE || target == NULL || *target != '\0' ||
        cnnvp_config_place(check->config, wanted, &written, &target) == CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(
        error, "%s: %s: the platform has no instance %s, which networks need there", place, name, wanted);
}

/* The target that the wire should have. If there is a scratchpad, its ports stand for the buffers: scratchpad.input for
 * input_buffer. */
static void name_wanted(const struct check *check, const struct wire *wire, char wanted[CNNVP_TARGET_NAME])
{
    char region[CNNVP_TARGET_NAME];
    const char *place, *target;
    const size_t buffer = check->who == INFERENCE ? cnnvp_before_ending(wire->target, "_buffer") : 0;
    (void)snprintf(region, sizeof region, "scratchpad.%.*s", (int)buffer, wire->target);
    cnnvp_target_name(buffer != 0 && cnnvp_config_place(check->config, "scratchpad", &place, &target) == CNNVP_DONE
                          ? region
                          : wire->target,
                      check->suffix, wanted);
}

static cnnvp_result check_wire(const struct check *check, const struct wire *wire, struct cnnvp_error *error)
{
    char name[CNNVP_TARGET_NAME], wanted[CNNVP_TARGET_NAME], instance[CNNVP_TARGET_NAME];
    const char *place;
    const char *target = NULL;
    cnnvp_target_name(wire->name, check->suffix, name);
    name_wanted(check, wire, wanted);
    const size_t dot = strcspn(name, ".");
    snprintf(instance, sizeof instance, "%.*s", (int)strcspn(wanted, "."), wanted);
    if (cnnvp_config_place(check->config, name, &place, &target) != CNNVP_DONE || target == NULL)
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
                  (strcmp(target, "bus") == 0 && strcmp(wanted, "dram") == 0); /* the bus also leads to dram */
    if (same || !is_known(check->accelerators, target, length))
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "%s: %.*s.connect.%s: leads to %s; networks need %s there", place, (int)dot,
                                name, name + dot + 1, target, wanted);
}

static cnnvp_result check_fixed(const cnnvp_config *config, enum who who, const char *name, const char *wanted,
                                struct cnnvp_error *error)
{
    const char *text = NULL;
    const char *place = NULL;
    const char *target;
    if (cnnvp_config_get(config, name, NULL, &text) != CNNVP_DONE || strcmp(text, wanted) == 0 ||
        cnnvp_config_place(config, name, &place, &target) != CNNVP_DONE)
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "%s: %s: is %s; networks%s need %s", place, name, text,
                                who == TRAINING ? " on the training engine" : "", wanted);
}

/* ---- units that the software does not use ---- */

/* All instances in the order of the configuration. is[i]: 1 if instance i is used (driven) directly or indirectly. */
struct driven {
    const cnnvp_config *config;
    struct cnnvp_accelerators accelerators;
    size_t count;
    struct cnnvp_config_instance *instances;
    unsigned char *is;
};

/* 1: the instance needs no other instance to drive it: the software addresses it, it is marked idle, it has a process
 * or a port to the outside, or nothing could be connected to it. */
static int is_first(const struct cnnvp_config_instance *instance, const struct driven *driven)
{
    char name[CNNVP_TARGET_NAME];
    uint64_t base, size;
    for (size_t i = 0; i < COUNT(addressed); ++i)
        for (uint32_t k = 0; k < driven->accelerators.count; ++k) {
            cnnvp_target_name(addressed[i], driven->accelerators.suffixes[k], name);
            if (strcmp(instance->name, name) == 0)
                return 1;
        }
    if (instance->unit == NULL || instance->idle || instance->unit->process != NULL)
        return 1;
    int can_be_led_to = 0;
    for (uint32_t i = 0; i < instance->unit->port_count; ++i) {
        const struct cnnvp_port *port = &instance->unit->ports[i];
        if (port->flags & CNNVP_PORT_OUTSIDE)
            return 1;
        can_be_led_to |= port->kind == CNNVP_PORT_TARGET || port->kind == CNNVP_PORT_MEM_TARGET;
    }
    return !can_be_led_to && cnnvp_config_window(driven->config, instance->name, &base, &size) != CNNVP_DONE;
}

/* Marks the targets of a driven instance's ports as driven. Returns 1 if any of them was not marked before. */
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
            driven->is[i] = (unsigned char)is_first(&driven->instances[i], driven);
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < driven->count; ++i)
            changed |= driven->is[i] && drive_targets(driven, &driven->instances[i]);
    }
    return refuse_undriven(driven, error);
}

cnnvp_result cnnvp_target_driven(const cnnvp_config *config, enum cnnvp_target_software software,
                                 struct cnnvp_error *error)
{
    struct driven driven = {.config = config};
    struct cnnvp_config_instance instance;
    CNNVP_TRY(cnnvp_target_accelerators(config, software, &driven.accelerators, error));
    while (cnnvp_config_instance(config, driven.count, &instance) == CNNVP_DONE)
        ++driven.count;
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    driven.instances = cnnvp_arena_array(&arena, driven.count, sizeof *driven.instances);
    driven.is = cnnvp_arena_array(&arena, driven.count, 1);
    return arena.failed ? cnnvp_compiler_no_memory(error) : find_undriven(&driven, error);
}

static enum who who_needs(enum cnnvp_target_software software)
{
    return software == CNNVP_TARGET_TRAINING ? TRAINING : INFERENCE;
}

static cnnvp_result check_complete(const struct check *check, struct cnnvp_error *error)
{
    for (size_t i = 0; i < COUNT(wires); ++i)
        if (!wires[i].choice && concerns(check, &wires[i]))
            CNNVP_TRY(check_open(check, &wires[i], error));
    return CNNVP_DONE;
}

static cnnvp_result check_wires(const struct check *check, struct cnnvp_error *error)
{
    CNNVP_TRY(check_complete(check, error));
    for (size_t i = 0; i < COUNT(wires); ++i)
        if (concerns(check, &wires[i]))
            CNNVP_TRY(check_wire(check, &wires[i], error));
    for (size_t i = 0; i < COUNT(fixed); ++i)
        if (fixed[i].who == ALL || fixed[i].who == check->who)
            CNNVP_TRY(check_fixed(check->config, fixed[i].who, fixed[i].name, fixed[i].value, error));
    return CNNVP_DONE;
}

/* Runs the check `look` on each accelerator. */
static cnnvp_result check_each(
    const cnnvp_config *config, enum cnnvp_target_software software, const struct cnnvp_accelerators *accelerators,
    cnnvp_result (*look)(const struct check *check, struct cnnvp_error *error), struct cnnvp_error *error)
{
    for (uint32_t i = 0; i < accelerators->count; ++i) {
        const struct check check = {config, who_needs(software), accelerators, accelerators->suffixes[i]};
        CNNVP_TRY(look(&check, error));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_target_complete(const cnnvp_config *config, enum cnnvp_target_software software,
                                   struct cnnvp_error *error)
{
    struct cnnvp_accelerators accelerators;
    CNNVP_TRY(cnnvp_target_accelerators(config, software, &accelerators, error));
    return check_each(config, software, &accelerators, check_complete, error);
}

cnnvp_result cnnvp_target_wiring(const cnnvp_config *config, enum cnnvp_target_software software,
                                 struct cnnvp_error *error)
{
    struct cnnvp_accelerators accelerators;
    CNNVP_TRY(cnnvp_target_accelerators(config, software, &accelerators, error));
    CNNVP_TRY(check_each(config, software, &accelerators, check_wires, error));
    return cnnvp_target_alike(config, &accelerators, error);
}
