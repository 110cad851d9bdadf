/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resolved platform configuration: instances, their checked parameter values, and what is connected to what.
 * Made by config.c from a YAML file with libfyaml; read by the elaboration in platform.cpp. Plain C data.
 */
#ifndef CNNVP_PLATFORM_CONFIG_H
#define CNNVP_PLATFORM_CONFIG_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a value was written: "FILE:LINE:COLUMN", "--set", or "" for a default. */
struct cnnvp_place {
    const char *text;
};

/* Clock of an instance that has none. */
#define CNNVP_DEFAULT_MHZ 1000u

/* Number of an instance that is not there. */
#define CNNVP_NO_INSTANCE UINT32_MAX

/* Where an outgoing port leads. */
struct cnnvp_binding {
    uint32_t port;        /* index in the unit's port table: INITIATOR, MEM_INITIATOR or IRQ_OUT */
    uint32_t target;      /* instance number */
    uint32_t target_port; /* index in the target's port table; unused if the target is the bus */
    uint32_t target_line; /* IRQ_IN ports: line */
    const char *text;     /* the target as `connect:` says it */
    uint32_t through;     /* 0, or the number + 1 of the link on the way that leads outside */
};

struct cnnvp_instance {
    const char *name;
    const struct cnnvp_unit *unit; /* NULL for the bus, which the platform itself provides */
    const char *model;             /* as written: a kind, or library:kind */
    uint64_t *values;              /* one for each parameter of the unit */
    const char **texts;            /* the same as text */
    struct cnnvp_place *places;    /* where each was set */
    struct cnnvp_place place;      /* of the instance */
    uint32_t number;
    uint32_t clock;   /* instance whose clock_mhz counts (itself, if it has that parameter), or
                         CNNVP_NO_INSTANCE: the default of 1000 MHz */
    int idle;         /* 1: nothing needs to drive it */
    uint32_t speedup; /* what if: so many times as fast in a run as its parameters say, at the same cost and plan */
    int on_bus;       /* 1: `base`, `size` are its window on the bus */
    uint64_t base;
    uint64_t size;
    uint32_t bus_port; /* its target port that the bus reaches */
    struct cnnvp_binding *bindings;
    size_t binding_count;
    const char **port_places; /* where each port's connection is written, or else the instance */
};

struct cnnvp_energy_table; /* energy.h */

struct cnnvp_resolved {
    const char *platform_name;
    struct cnnvp_instance *instances;
    size_t instance_count;
    const struct cnnvp_energy_table *energy; /* NULL: the default */
};

/* What of a resolved configuration are accelerators, resolved: without core, interrupt controller and what else the
 * program has around them. Their memories are of model external, by absolute addresses; the bus leads to their
 * registers. Interrupts lead nowhere. Free with cnnvp_config_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_accelerator(const cnnvp_config *config, cnnvp_config **accelerator,
                                                     struct cnnvp_error *error);

/* The instances of a configuration that has been resolved, NULL otherwise. Lives as long as the configuration does and
 * until its next resolve. */
const struct cnnvp_resolved *cnnvp_config_resolved(const cnnvp_config *config);

/* The plic line of the instance's first interrupt output, what `irq:` says; 0 and *binding left alone if there is
 * none. */
uint32_t cnnvp_instance_irq(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            const struct cnnvp_binding **binding);

/* The instance whose clock_mhz counts where it is another one, what `clock:` says; NULL otherwise. */
const struct cnnvp_instance *cnnvp_instance_clock(const struct cnnvp_resolved *resolved,
                                                  const struct cnnvp_instance *instance);

/* The value of its parameter of this name, NULL where it has none or a text. */
const uint64_t *cnnvp_instance_value(const struct cnnvp_instance *instance, const char *param);
static inline uint64_t cnnvp_instance_value_or(const struct cnnvp_instance *instance, const char *param,
                                               uint64_t missing)
{
    const uint64_t *value = cnnvp_instance_value(instance, param);
    return value != NULL ? *value : missing;
}

/* MHz of an instance, its own or those of the instance that `clock:` names; `missing` where it has none. */
uint64_t cnnvp_instance_mhz(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            uint64_t missing);

/* The port at which a unit, or NULL, takes commands; UINT32_MAX: it takes none. */
uint32_t cnnvp_unit_command_port(const struct cnnvp_unit *unit);

/* The instructions of its own of the unit that the instance's initiator port leads to; NULL and 0: none. */
const struct cnnvp_instruction *cnnvp_instance_instructions(
    const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t port, size_t *count);

/* Those of all units, as cnnvp_config_instructions. */
const struct cnnvp_instruction **cnnvp_resolved_instructions(const struct cnnvp_resolved *resolved);

/* It stands for a third party's model between two units (model external, `role: link`). */
int cnnvp_instance_is_link(const struct cnnvp_instance *instance);
/* The instance behind a link, or behind several; of another instance itself. */
uint32_t cnnvp_instance_behind(const struct cnnvp_resolved *resolved, uint32_t number);

/* Where a port leads as `connect:` says it: INSTANCE, INSTANCE.PORT or INSTANCE.PORT.LINE. Cut off where there is
 * no room. */
void cnnvp_binding_text(const struct cnnvp_resolved *resolved, const struct cnnvp_binding *binding, char *buffer,
                        size_t size);

/* Fills `error` with the place of parameter `index` (UINT32_MAX: of the instance) and a message. */
void cnnvp_config_place_error(const struct cnnvp_instance *instance, uint32_t index, const char *message,
                              struct cnnvp_error *error);

#ifdef __cplusplus
}
#endif

#endif
