/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as a tree in which each part knows its position. */
#pragma once

#include "base.h"

/* Bounds on a file, far above any real one. A plan has an entry for each layer. */
enum {
    CNNVP_YAML_FILE_BYTES = 1 << 20,
    CNNVP_YAML_DEPTH = 16,    /* nesting of maps */
    CNNVP_YAML_ENTRIES = 8192 /* entries of a map */
};

enum cnnvp_yaml_kind { CNNVP_YAML_SCALAR, CNNVP_YAML_MAP, CNNVP_YAML_LIST };

struct cnnvp_yaml_node {
    enum cnnvp_yaml_kind kind;
    int quoted;                       /* scalar in quotes or as a block: always a text */
    const char *text;                 /* for a scalar */
    const char *key;                  /* key in the parent map; otherwise NULL */
    const char *place;                /* position of the value, "FILE:LINE:COLUMN" */
    const char *key_place;            /* position of the key */
    struct cnnvp_yaml_node *children; /* of a map, in file order */
    struct cnnvp_yaml_node *last;
    struct cnnvp_yaml_node *next;
    size_t child_count;
};

/* Reads a file whose root must be a map; `keys` lists example keys for messages. */
CNNVP_MUST_USE cnnvp_result cnnvp_yaml_read(struct cnnvp_arena *arena, const char *file, const char *keys,
                                            struct cnnvp_yaml_node **root, struct cnnvp_error *error);
/* Sets *found[i] to the node under keys[i] of a map, NULL if it is missing. Refuses other keys with "LEAD a, b" or with
 * the key that is probably meant. */
CNNVP_MUST_USE cnnvp_result cnnvp_yaml_members(const struct cnnvp_yaml_node *map, const char *const *keys, size_t count,
                                               const char *lead, const struct cnnvp_yaml_node **found,
                                               struct cnnvp_error *error);
/* 1 for an empty plain scalar: nothing, ~ or null. */
int cnnvp_yaml_is_null(const struct cnnvp_yaml_node *node);
/* Prints a text in double quotes (YAML 1.2, 5.7). */
void cnnvp_yaml_print_quoted(FILE *stream, const char *text);
const char *cnnvp_yaml_kind_name(const struct cnnvp_yaml_node *node);
