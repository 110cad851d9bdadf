/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the explanations of the members of stats.json. */
#include <stdio.h>
#include <string.h>

#include "cnnvp.h"
#include "base.h"

static void line(FILE *stream, const char *path, const char *unit, const char *help)
{
    (void)fprintf(stream, "  %-44s  %-12s  %s\n", path, unit, help);
}

static const char *unit_of(const char *quantity)
{
    return strstr(quantity, "_bytes") != NULL ? "bytes" : "words";
}

const char *cnnvp_stall_help(const char *cause)
{
#define CNNVP_STALL(name, bound, help) \
    if (strcmp(cause, #name) == 0)     \
        return help;
#include "stats.def"
    return NULL;
}

cnnvp_result cnnvp_stats_text(char **text)
{
    struct cnnvp_printed printed;
    *text = NULL;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return CNNVP_FAILED;
    (void)fputs("stats: members of the statistics ([]: of each element, {}: for each name)\n\n", stream);
    line(stream, "name", "unit", "help");
#define CNNVP_MEMBER(path, unit, help) line(stream, path, unit, help);
#include "stats_members.def"
#define CNNVP_STALL(cause, bound, help) line(stream, "layers[].stall_cycles." #cause, "cycles", help);
#include "stats.def"
#define CNNVP_BOUND(name, help) line(stream, "summary.bound_shares." #name, "0 to 1", "of accel_cycles: " help);
#include "stats.def"
#define CNNVP_QUANTITY(name, help) line(stream, "layers[]." #name, unit_of(#name), help);
#include "stats.def"
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? CNNVP_DONE : CNNVP_FAILED;
}
