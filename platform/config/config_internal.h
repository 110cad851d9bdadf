/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of the configuration. A configuration passes three stages, each with its own files:
 *   text   -> tree     base/yaml.c       one file, with positions
 *   trees  -> draft    config_draft.c    follows `base`; later files override earlier ones; values are untyped text
 *   draft  -> resolved config_resolve.c  finds models, types and checks parameters (base/value.c),
 *                      config_wire.c     addresses, clocks
 *                      config_connect.c  connections, interrupts
 * config_text.c and config_header.c print the resolved form, config_condition.c says which parameters have an effect in
 * it; config.c is the public API. Drafts and resolved forms never change once they are made, and are reference-counted,
 * so that copying a configuration is cheap.
 */
#pragma once

#include <stdio.h>

#include "base/value.h"
#include "base/yaml.h"
#include "config.h"

/* Limits of a platform file, far above any real platform. */
enum {
    CNNVP_CONFIG_BASES = 16,     /* length of a chain of `base` */
    CNNVP_CONFIG_SETS = 4096,    /* number of --set */
    CNNVP_CONFIG_NAME_BYTES = 63 /* of an instance's name */
};

/* Level of settings from cnnvp_config_set: above every file. */
#define CNNVP_CONFIG_SET_LEVEL 1000u

/* ---- draft (config_draft.c) ---- */

/* One key of an instance: a reserved key, a parameter, or a port below `connect`. */
struct cnnvp_setting {
    const char *key;
    const char *text; /* NULL: removed again (only reserved keys and ports) */
    const char *place;
    const char *key_place;
    const char *folder; /* folder of the file, for relative paths */
    unsigned level;     /* number of the file in the chain of bases; 0 is the innermost base */
    int connect;        /* 1: `key` is a port below connect: */
    int quoted;
    struct cnnvp_setting *next;
};

struct cnnvp_draft_unit {
    const char *name;
    const char *place;
    struct cnnvp_setting *settings;
    size_t setting_count;
    struct cnnvp_draft_unit *next;
};

struct cnnvp_draft {
    unsigned references;
    struct cnnvp_arena arena;
    const char *file;
    const char *name; /* of the platform */
    const char *base; /* base of the outermost file, as written; NULL: none */
    unsigned level;   /* level of the outermost file's settings */
    struct cnnvp_draft_unit *units;
    size_t unit_count;
    struct cnnvp_draft_unit *removed; /* instances of a base that are set to null; `place` is where */
    struct cnnvp_draft_unit energy;   /* settings of the energy table: `table` and entries */
};

CNNVP_MUST_USE cnnvp_result cnnvp_draft_new(const char *file_or_preset, struct cnnvp_draft **draft,
                                            struct cnnvp_error *error);
void cnnvp_draft_release(struct cnnvp_draft *draft);
const struct cnnvp_draft_unit *cnnvp_draft_find(const struct cnnvp_draft *draft, const char *name);
const struct cnnvp_setting *cnnvp_draft_setting(const struct cnnvp_draft_unit *unit, const char *key, int connect);
/* Overrides the unit's setting of this key, or appends it; memory comes from the arena. */
CNNVP_MUST_USE cnnvp_result cnnvp_draft_put(struct cnnvp_arena *arena, struct cnnvp_draft_unit *unit,
                                            const struct cnnvp_setting *given, struct cnnvp_error *error);
/* Reserved keys, which the platform itself interprets, ended by NULL; cnnvp_config_reserved is 1 for one of them. */
const char *const *cnnvp_config_reserved_keys(void);
int cnnvp_config_reserved(const char *key);

/* ---- resolved (config_resolve.c, config_wire.c, config_connect.c) ---- */

struct cnnvp_box {
    unsigned references;
    struct cnnvp_arena arena;
    struct cnnvp_resolved resolved;
    const char **models; /* for each instance, its model independent of the folder: a kind or /absolute/lib.so:kind */
    const struct cnnvp_draft_unit **drafts; /* for each instance, its settings including --set; only during
                                             * resolution */
    const struct cnnvp_draft_unit *removed; /* only during resolution */
    unsigned level;                         /* level of the outermost file's settings */
};

CNNVP_MUST_USE cnnvp_result cnnvp_box_new(const struct cnnvp_draft *draft, char *const *sets, size_t set_count,
                                          struct cnnvp_box **box, struct cnnvp_error *error);
void cnnvp_box_release(struct cnnvp_box *box);
CNNVP_MUST_USE cnnvp_result cnnvp_box_wire(struct cnnvp_box *box, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_box_connect(struct cnnvp_box *box, struct cnnvp_error *error);
/* The kind of traffic at a port (bits of enum cnnvp_port_flag), as its unit or its kind defines it; 0: undefined. */
uint32_t cnnvp_port_crosses(const struct cnnvp_unit *unit, uint32_t index);
const char *cnnvp_port_crosses_name(uint32_t flags);
const struct cnnvp_instance *cnnvp_box_find(const struct cnnvp_resolved *resolved, const char *name);
/* Index of a parameter in a unit's table; UINT32_MAX if there is none of that name. */
uint32_t cnnvp_unit_param(const struct cnnvp_unit *unit, const char *name);

/* The first of the unit's conditions that is malformed; NULL: none is. */
const struct cnnvp_condition *cnnvp_unit_wrong_condition(const struct cnnvp_unit *unit);

/* ---- energy table (config_energy.c) ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_box_energy(struct cnnvp_box *box, const struct cnnvp_draft_unit *draft,
                                             struct cnnvp_error *error);
/* Prints the table as in a platform file; prints nothing for the default. */
void cnnvp_energy_print(FILE *stream, const struct cnnvp_energy_table *table);

/* ---- text (config_text.c, config_header.c) ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_box_text(const struct cnnvp_box *box, char **yaml, char **memory_map);
CNNVP_MUST_USE cnnvp_result cnnvp_box_header(const struct cnnvp_box *box, char **header);
CNNVP_MUST_USE cnnvp_result cnnvp_box_svd(const struct cnnvp_box *box, char **svd);
