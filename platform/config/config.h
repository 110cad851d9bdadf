/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resolved platform configuration: instances, their checked parameter values, and what is connected to what.
 * Made by config.c from a YAML file with libfyaml; read by the elaboration in platform.cpp. Plain C data.
 */
#pragma once

#include "cnnvp.h"

/* Where a value was written: "FILE:LINE:COLUMN", "--set", or "" for a default. */
struct cnnvp_place {
    const char *text;
};

/* Clock of an instance without a clock. */
#define CNNVP_DEFAULT_MHZ 1000u

/* Number that stands for no instance. */
#define CNNVP_NO_INSTANCE UINT32_MAX

/* Target of an outgoing port. */
struct cnnvp_binding {
    uint32_t port;        /* index in the unit's port table: INITIATOR, MEM_INITIATOR or IRQ_OUT */
    uint32_t target;      /* instance number */
    uint32_t target_port; /* index in the target's port table; unused if the target is the bus */
    uint32_t target_line; /* IRQ_IN ports: line */
    const char *text;     /* the target as written in `connect:` */
    uint32_t through;     /* number + 1 of the link to the outside that the connection passes; 0: none */
};

struct cnnvp_instance {
    const char *name;
    const struct cnnvp_unit *unit; /* NULL for the bus, which the platform itself provides */
    const char *model;             /* as written: KIND, or LIBRARY:KIND */
    uint64_t *values;              /* one for each parameter of the unit */
    const char **texts;            /* the same values as text */
    struct cnnvp_place *places;    /* where each value was written */
    struct cnnvp_place place;      /* where the instance was written */
    uint32_t number;
    uint32_t clock;   /* instance whose clock_mhz applies (itself, if it has that parameter), or CNNVP_NO_INSTANCE: the
                       * default of 1000 MHz */
    int idle;         /* 1: the platform file says that nothing needs to drive it */
    uint32_t speedup; /* for what-if studies: the run is this many times faster than the parameters say, with the same
                       * cost and plan */
    int on_bus;       /* 1: `base`, `size` are its window on the bus */
    uint64_t base;
    uint64_t size;
    uint32_t bus_port; /* target port that the bus reaches */
    struct cnnvp_binding *bindings;
    size_t binding_count;
    const char **port_places; /* where each port's connection is written; without a connection, where the instance is
                               * written */
};

/* The key `speedup` of every instance, which is checked like a parameter. */
extern const struct cnnvp_param cnnvp_speedup_param;

struct cnnvp_energy_table; /* energy.h */

struct cnnvp_resolved {
    const char *platform_name;
    struct cnnvp_instance *instances;
    size_t instance_count;
    const struct cnnvp_energy_table *energy; /* NULL: the default */
};

/* The accelerators of a resolved configuration alone, also resolved, without core, interrupt controller and other units
 * around them. Their memories are of model external with absolute addresses, the bus leads to their registers, and
 * interrupts are not connected. Free with cnnvp_config_free. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_accelerator(const cnnvp_config *config, cnnvp_config **accelerator,
                                                     struct cnnvp_error *error);

/* The instances of a resolved configuration; NULL if it is not resolved. Valid until the configuration is freed or
 * resolved again. */
const struct cnnvp_resolved *cnnvp_config_resolved(const cnnvp_config *config);
/* The same; BAD_INPUT: the configuration has not been resolved. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_need(const cnnvp_config *config, const struct cnnvp_resolved **resolved,
                                              struct cnnvp_error *error);
/* Length of an instance's name, which may go on with ".PARAM", without the suffix of a further accelerator: that of the
 * first accelerator's instance. */
size_t cnnvp_config_first_length(const cnnvp_config *config, const char *name);

/* The instance of the first accelerator that one of a further accelerator corresponds to; other instances: itself. */
uint32_t cnnvp_resolved_first(const struct cnnvp_resolved *resolved, uint32_t instance);

/* The PLIC line of the instance's first interrupt output, as `irq:` gives it. Returns 0 and leaves *binding unchanged
 * if there is none. */
uint32_t cnnvp_instance_irq(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            const struct cnnvp_binding **binding);

/* The other instance whose clock_mhz applies, as `clock:` gives it; otherwise NULL. */
const struct cnnvp_instance *cnnvp_instance_clock(const struct cnnvp_resolved *resolved,
                                                  const struct cnnvp_instance *instance);

/* The value of the parameter of this name; NULL if there is none or it is a text. */
const uint64_t *cnnvp_instance_value(const struct cnnvp_instance *instance, const char *param);
static inline uint64_t cnnvp_instance_value_or(const struct cnnvp_instance *instance, const char *param,
                                               uint64_t missing)
{
    const uint64_t *value = cnnvp_instance_value(instance, param);
    return value != NULL ? *value : missing;
}

/* Clock of an instance in MHz, its own or that of the instance that `clock:` names; `missing` if it has none. */
uint64_t cnnvp_instance_mhz(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            uint64_t missing);

/* The port at which a unit (may be NULL) takes commands; UINT32_MAX: it takes none. */
uint32_t cnnvp_unit_command_port(const struct cnnvp_unit *unit);

/* The custom instructions of the unit behind the instance's initiator port; NULL and 0: none. */
const struct cnnvp_instruction *cnnvp_instance_instructions(
    const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t port, size_t *count);

/* The custom instructions of all units, as cnnvp_config_instructions. */
const struct cnnvp_instruction **cnnvp_resolved_instructions(const struct cnnvp_resolved *resolved);

/* True if the instance stands for a third party's model between two units (model external, `role: link`). */
int cnnvp_instance_is_link(const struct cnnvp_instance *instance);
/* The instance behind a link or a chain of links; any other instance itself. */
uint32_t cnnvp_instance_behind(const struct cnnvp_resolved *resolved, uint32_t number);

/* True if an initiator port of the instance leads to `target`: by itself, through links, or over the bus. */
int cnnvp_instance_asks(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance, uint32_t target);

/* Target of a port as `connect:` writes it: INSTANCE, INSTANCE.PORT or INSTANCE.PORT.LINE. Cut off at `size` bytes. */
void cnnvp_binding_text(const struct cnnvp_resolved *resolved, const struct cnnvp_binding *binding, char *buffer,
                        size_t size);

/* The index-th condition of a unit's parameter, NULL after the last. */
const struct cnnvp_condition *cnnvp_unit_condition(const struct cnnvp_unit *unit, uint32_t param, size_t index);
/* The first condition that does not hold for this value of the parameter beside the others of the instance, so that the
 * value has no effect of its own; NULL: it has one. */
const struct cnnvp_condition *cnnvp_instance_unmet(const struct cnnvp_instance *instance, uint32_t param,
                                                   uint64_t value);
/* The parameter on whose value the condition depends; UINT32_MAX: on none. */
uint32_t cnnvp_condition_of(const struct cnnvp_unit *unit, const struct cnnvp_condition *condition);
/* 1: there are more than `number` assignments of cnnvp_config_set that have no effect in this resolved configuration
 * and are not the default; *warning says which one has number `number`. */
int cnnvp_config_in_vain(const cnnvp_config *config, size_t number, struct cnnvp_error *warning);

/* Fills `error` with the place of parameter `index` (UINT32_MAX: of the instance) and the message. */
void cnnvp_config_place_error(const struct cnnvp_instance *instance, uint32_t index, const char *message,
                              struct cnnvp_error *error);
