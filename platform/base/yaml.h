/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file as a tree that knows where each part of it was written. */
#ifndef CNNVP_BASE_YAML_H
#define CNNVP_BASE_YAML_H

#include "base.h"

/* Bounds on a file, far above any real one. */
enum {
    CNNVP_YAML_FILE_BYTES = 1 << 20,
    CNNVP_YAML_DEPTH = 16,    /* of maps in maps */
    CNNVP_YAML_ENTRIES = 1024 /* of one map */
};

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

/* Reads a file; the root is a map, with keys such as `keys`, for messages. */
CNNVP_MUST_USE cnnvp_result cnnvp_yaml_read(struct cnnvp_arena *arena, const char *file, const char *keys,
                                            struct cnnvp_yaml_node **root, struct cnnvp_error *error);
/* Of a map, *found[i] becomes what stands under keys[i]; NULL where that is not there. Other keys are refused: "LEAD a,
 * b", or the one that is meant. */
CNNVP_MUST_USE cnnvp_result cnnvp_yaml_members(const struct cnnvp_yaml_node *map, const char *const *keys, size_t count,
                                               const char *lead, const struct cnnvp_yaml_node **found,
                                               struct cnnvp_error *error);
/* 1 for a plain scalar that says nothing: empty, ~ or null. */
int cnnvp_yaml_is_null(const struct cnnvp_yaml_node *node);
const char *cnnvp_yaml_kind_name(const struct cnnvp_yaml_node *node);

#endif
