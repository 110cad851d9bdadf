/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_shares.h. */
#include "dram_shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t cnnvp_dram_share(const struct dram_shares *shares, uint32_t initiator)
{
    for (uint32_t i = 0; i < shares->count; ++i)
        if (shares->named[i].initiator == initiator)
            return shares->named[i].share;
    return 1;
}

/* Number of the instance of that name, UINT32_MAX if there is none. */
static uint32_t find_instance(const struct cnnvp_init *init, const char *name, size_t length)
{
    const char *known;
    for (uint32_t i = 0; (known = init->ops->instance_name(init->host, i)) != NULL; ++i)
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return i;
    return UINT32_MAX;
}

static void list_requesters(const struct cnnvp_init *init, char *text, size_t size)
{
    const char *name;
    size_t end = 0;
    text[0] = '\0';
    for (uint32_t i = 0; (name = init->ops->instance_name(init->host, i)) != NULL && end < size; ++i)
        if (init->ops->asks(init->host, i))
            end += (size_t)snprintf(text + end, size - end, "%s%s", end != 0 ? ", " : "", name);
}

static int is_named(const struct dram_shares *shares, uint32_t initiator)
{
    for (uint32_t i = 0; i < shares->count; ++i)
        if (shares->named[i].initiator == initiator)
            return 1;
    return 0;
}

/* Reads one NAME=NUMBER, and the comma before a next one. */
static int read_one(const struct cnnvp_init *init, uint32_t param, struct dram_shares *shares, const char **at)
{
    const char *text = *at, *equals = text + strcspn(text, "=,");
    const int length = (int)(equals - text);
    char *end = NULL;
    if (*equals != '=' || length == 0)
        return init->ops->config_error(
            init->host, param, "\"%s\" does not begin with NAME=NUMBER, such as dma=4", text);
    const uint32_t initiator = find_instance(init, text, (size_t)length);
    if (initiator == UINT32_MAX || !init->ops->asks(init->host, initiator)) {
        char known[256];
        list_requesters(init, known, sizeof known);
        return init->ops->config_error(
            init->host, param, "%.*s is no unit that asks this memory; these are: %s", length, text, known);
    }
    if (is_named(shares, initiator) || shares->count == DRAM_STREAMS)
        return init->ops->config_error(
            init->host, param, "%.*s is named twice, or more than %u are named", length, text, DRAM_STREAMS);
    const unsigned long share = equals[1] >= '0' && equals[1] <= '9' ? strtoul(equals + 1, &end, 10) : 0;
    if (share < 1 || share > DRAM_SHARE)
        return init->ops->config_error(
            init->host, param, "the number of %.*s must be 1 to %u", length, text, DRAM_SHARE);
    if ((*end != '\0' && *end != ',') || (*end == ',' && end[1] == '\0'))
        return init->ops->config_error(
            init->host, param, "after %.*s comes \"%s\", where a comma and a further NAME=NUMBER may come",
            (int)(end - text), text, end);
    shares->named[shares->count].initiator = initiator;
    shares->named[shares->count++].share = (uint32_t)share;
    *at = *end == ',' ? end + 1 : end;
    return CNNVP_OK;
}

int cnnvp_dram_shares_read(const struct cnnvp_init *init, uint32_t param, struct dram_shares *shares)
{
    const char *at = init->ops->param_text(init->host, param);
    int status = CNNVP_OK;
    shares->count = 0;
    while (at != NULL && *at != '\0' && status == CNNVP_OK)
        status = read_one(init, param, shares, &at);
    return status;
}
