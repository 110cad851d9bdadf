/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the configuration share. A configuration passes three stages, each with its own files:
 *   text   -> tree     config_yaml.c     one file, positions kept
 *   trees  -> draft    config_draft.c    `base` followed, later files override earlier ones; still untyped text
 *   draft  -> resolved config_resolve.c  models found, parameters typed and checked (config_value.c),
 *                      config_wire.c     addresses, clocks
 *                      config_connect.c  connections, interrupts
 * config_text.c and config_header.c print the resolved form, config.c is the public API. Drafts and resolved forms
 * never change once they are made and are counted, so that a copy of a configuration is cheap.
 */
#ifndef CNNVP_PLATFORM_CONFIG_INTERNAL_H
#define CNNVP_PLATFORM_CONFIG_INTERNAL_H

#include <stdarg.h>
#include <stdio.h>

#include "config.h"

/* Bounds on what a platform file may ask for, far above any real platform. */
enum {
    CNNVP_CONFIG_FILE_BYTES = 1 << 20,
    CNNVP_CONFIG_DEPTH = 16,      /* of maps in maps */
    CNNVP_CONFIG_BASES = 16,      /* length of a chain of `base` */
    CNNVP_CONFIG_ENTRIES = 1024,  /* of one map; also instances of a platform */
    CNNVP_CONFIG_SETS = 4096,     /* --set */
    CNNVP_CONFIG_NAME_BYTES = 63, /* of an instance's name */
    CNNVP_CONFIG_TEXT_BYTES = 4095
};

/* Layer of a setting that comes from cnnvp_config_set: above every file. */
#define CNNVP_CONFIG_SET_LAYER 1000u

/* ---- memory: everything of a stage is freed at once (config_arena.c) ---- */

struct cnnvp_arena {
    struct cnnvp_arena_chunk *chunk;
};

/* Zeroed; NULL: out of memory. */
void *cnnvp_arena_alloc(struct cnnvp_arena *arena, size_t size);
void *cnnvp_arena_array(struct cnnvp_arena *arena, size_t count, size_t size);
char *cnnvp_arena_copy(struct cnnvp_arena *arena, const char *text, size_t size);
char *cnnvp_arena_printf(struct cnnvp_arena *arena, const char *format, ...) CNNVP_PRINTF(2, 3);
void cnnvp_arena_free(struct cnnvp_arena *arena);

/* ---- messages ---- */

/* Writes "place: message" (only the message if place is NULL or ""), returns CNNVP_BAD_INPUT. */
cnnvp_result cnnvp_config_error(struct cnnvp_error *error, const char *place, const char *format, ...)
    CNNVP_PRINTF(3, 4);
/* Says that memory ran out, returns CNNVP_FAILED. */
cnnvp_result cnnvp_config_no_memory(struct cnnvp_error *error);

/* A text for a message: in double quotes, control characters escaped, cut after some 60 bytes. */
struct cnnvp_shown {
    char text[80];
};
struct cnnvp_shown cnnvp_config_show(const char *text);

/* Of all names offered, the one nearest to `wanted`, and a list of all: for "did you mean". */
struct cnnvp_suggest {
    const char *wanted;
    const char *best;
    size_t best_distance;
    char list[600];
    size_t list_length;
    int list_full;
    char text[800];
};
void cnnvp_suggest_begin(struct cnnvp_suggest *suggest, const char *wanted);
void cnnvp_suggest_offer(struct cnnvp_suggest *suggest, const char *name);
/* `; did you mean "best"?`, or `; <list_word> a, b, c`, or "". The text lies in `suggest`. */
const char *cnnvp_suggest_text(struct cnnvp_suggest *suggest, const char *list_word);

/* ---- tree (config_yaml.c) ---- */

enum cnnvp_yaml_kind { CNNVP_YAML_SCALAR, CNNVP_YAML_MAP, CNNVP_YAML_LIST };

struct cnnvp_yaml_node {
    enum cnnvp_yaml_kind kind;
    int quoted;                       /* scalar in quotes or as a block: text whatever it says */
    const char *text;                 /* of a scalar */
    const char *key;                  /* under which it stands in its map; NULL otherwise */
    const char *place;                /* of the value, "FILE:LINE:COLUMN" */
    const char *key_place;            /* of the key */
    struct cnnvp_yaml_node *children; /* of a map, in the order of the file */
    struct cnnvp_yaml_node *last;
    struct cnnvp_yaml_node *next;
    size_t child_count;
};

/* Reads a file; the root is a map. */
CNNVP_MUST_USE cnnvp_result cnnvp_yaml_read(struct cnnvp_arena *arena, const char *file,
                                            struct cnnvp_yaml_node **root, struct cnnvp_error *error);
/* 1 for a plain scalar that says nothing: empty, ~ or null. */
int cnnvp_yaml_is_null(const struct cnnvp_yaml_node *node);
const char *cnnvp_yaml_kind_name(const struct cnnvp_yaml_node *node);

/* ---- draft (config_draft.c) ---- */

/* One key of an instance: a reserved key, a parameter, or a port below `connect`. */
struct cnnvp_setting {
    const char *key;
    const char *text; /* NULL: taken away again (only reserved keys and ports) */
    const char *place;
    const char *key_place;
    const char *folder; /* of the file, for paths relative to it */
    unsigned layer;     /* a file counts its bases: 0 is the innermost base */
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
    const char *base; /* as written, of the outermost file; NULL: none */
    struct cnnvp_draft_unit *units;
    size_t unit_count;
    struct cnnvp_draft_unit *removed; /* instances of the base that are null; `place` is where */
    struct cnnvp_draft_unit energy; /* settings of the energy table: `table` and entries */
};

CNNVP_MUST_USE cnnvp_result cnnvp_draft_new(const char *file_or_preset, struct cnnvp_draft **draft,
                                            struct cnnvp_error *error);
void cnnvp_draft_release(struct cnnvp_draft *draft);
const struct cnnvp_draft_unit *cnnvp_draft_find(const struct cnnvp_draft *draft, const char *name);
const struct cnnvp_setting *cnnvp_draft_setting(const struct cnnvp_draft_unit *unit, const char *key, int connect);
/* 1 for a key that means something to the platform: model, at, irq, connect, clock. */
int cnnvp_config_reserved(const char *key);
/* Folder of a path, "." where it names none. */
char *cnnvp_config_folder(struct cnnvp_arena *arena, const char *path);

/* ---- values (config_value.c) ---- */

/* Checks and converts the text of one parameter. `reason` says what would be right if the answer is not 0. */
CNNVP_MUST_USE int cnnvp_value_parse(const struct cnnvp_param *param, const char *text, int quoted, uint64_t *value,
                                     char *reason, size_t reason_size);
/* A whole number from min to max, decimal or 0x. */
CNNVP_MUST_USE int cnnvp_value_number(const char *text, int quoted, uint64_t min, uint64_t max, int hexadecimal,
                                      uint64_t *value, char *reason, size_t reason_size);
/* The text that stands for a value in a platform file. */
const char *cnnvp_value_text(struct cnnvp_arena *arena, const struct cnnvp_param *param, uint64_t value,
                             const char *written);
/* Choice `index` of "a|b|c": its start; its length in `length`. NULL behind the last. */
const char *cnnvp_value_choice(const char *choices, uint64_t index, size_t *length);

/* ---- resolved (config_resolve.c, config_wire.c, config_connect.c) ---- */

struct cnnvp_box {
    unsigned references;
    struct cnnvp_arena arena;
    struct cnnvp_resolved resolved;
    const char **models; /* for each instance, what `model:` says from any folder: a kind or /absolute/lib.so:kind */
    const struct cnnvp_draft_unit **drafts; /* for each instance, its settings including --set; only while resolving */
    const struct cnnvp_draft_unit *removed; /* only while resolving */
};

CNNVP_MUST_USE cnnvp_result cnnvp_box_new(const struct cnnvp_draft *draft, char *const *sets, size_t set_count,
                                          struct cnnvp_box **box, struct cnnvp_error *error);
void cnnvp_box_release(struct cnnvp_box *box);
CNNVP_MUST_USE cnnvp_result cnnvp_box_wire(struct cnnvp_box *box, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_box_connect(struct cnnvp_box *box, struct cnnvp_error *error);
/* Bits of enum cnnvp_port_flag for what crosses a port, where its unit or its kind says so; 0: not said. */
uint32_t cnnvp_port_crosses(const struct cnnvp_unit *unit, uint32_t index);
const char *cnnvp_port_crosses_name(uint32_t flags);
const struct cnnvp_instance *cnnvp_box_find(const struct cnnvp_resolved *resolved, const char *name);
/* Index of a parameter in a unit's table, UINT32_MAX if it has none of that name. */
uint32_t cnnvp_unit_param(const struct cnnvp_unit *unit, const char *name);

/* ---- energy table (config_energy.c) ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_box_energy(struct cnnvp_box *box, const struct cnnvp_draft_unit *draft,
                                             struct cnnvp_error *error);
/* As a platform file says it; nothing for the default. */
void cnnvp_energy_print(FILE *stream, const struct cnnvp_energy_table *table);

/* ---- text (config_text.c, config_header.c) ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_box_text(const struct cnnvp_box *box, char **yaml, char **memory_map);
CNNVP_MUST_USE cnnvp_result cnnvp_box_header(const struct cnnvp_box *box, char **header);

#endif
