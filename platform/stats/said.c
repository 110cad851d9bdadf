/* SPDX-License-Identifier: Apache-2.0 */
#include "said.h"

#include "stats.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES = 256, LAYERS = 4096, NAME_LENGTH = 63 };

static int is_name(const char *text, int may_be_empty)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strlen(text);
    return length <= NAME_LENGTH && strspn(text, letters) == length && (length > 0 || may_be_empty);
}

int cnnvp_said_report(struct cnnvp_said *said, const char *name, int64_t value)
{
    uint32_t i = 0;
    while (i < said->value_count && strcmp(said->values[i].name, name) != 0)
        ++i;
    if (i < said->value_count) {
        said->values[i].value = value;
        return 0;
    }
    if (i == VALUES || !is_name(name, 0))
        return -1;
    if (said->values == NULL)
        said->values = calloc(VALUES, sizeof *said->values);
    if (said->values == NULL || (said->values[i].name = strdup(name)) == NULL)
        return -1;
    said->values[i].value = value;
    ++said->value_count;
    return 0;
}

static void clear_layer(struct cnnvp_said_layer *layer)
{
    free((char *)layer->info.name);
    free((char *)layer->info.op);
    free((char *)layer->info.phase);
}

int cnnvp_said_layer(struct cnnvp_said *said, uint32_t tag, const char *name, const char *op, const char *phase,
                     uint64_t macs)
{
    uint32_t i = 0;
    while (i < said->layer_count && said->layers[i].tag != tag)
        ++i;
    if (i == LAYERS || tag == 0 || tag > CNNVP_MAX_TAG || !is_name(name, 0) || !is_name(op, 1) || !is_name(phase, 1))
        return -1;
    if (said->layers == NULL && (said->layers = calloc(LAYERS, sizeof *said->layers)) == NULL)
        return -1;
    struct cnnvp_said_layer layer = {
        tag, {.name = strdup(name), .op = strdup(op), .phase = strdup(*phase ? phase : "forward"), .macs = macs}};
    if (layer.info.name == NULL || layer.info.op == NULL || layer.info.phase == NULL) {
        clear_layer(&layer);
        return -1;
    }
    if (i < said->layer_count) {
        layer.info.macs += said->layers[i].info.macs;
        clear_layer(&said->layers[i]);
    } else {
        ++said->layer_count;
    }
    said->layers[i] = layer;
    return 0;
}

const struct cnnvp_layer_info *cnnvp_said_find(const struct cnnvp_said *said, uint32_t tag)
{
    for (uint32_t i = 0; i < said->layer_count; ++i)
        if (said->layers[i].tag == tag)
            return &said->layers[i].info;
    return NULL;
}

void cnnvp_said_clear(struct cnnvp_said *said)
{
    for (uint32_t i = 0; i < said->value_count; ++i)
        free(said->values[i].name);
    for (uint32_t i = 0; i < said->layer_count; ++i)
        clear_layer(&said->layers[i]);
    free(said->values);
    free(said->layers);
    *said = (struct cnnvp_said){NULL, 0, NULL, 0};
}
