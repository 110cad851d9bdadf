/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the members of `values` in the statistics, and its help text. */
#include "explore.h"

const struct cnnvp_value_help cnnvp_value_table[] = {
#define CNNVP_VALUE(object, name, unit, needs, help) {#object, #name, unit, needs, help},
#include "values.def"
};
const size_t cnnvp_value_count = sizeof cnnvp_value_table / sizeof *cnnvp_value_table;

char *cnnvp_values_text(void)
{
    struct cnnvp_printed printed;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return NULL;
    (void)fprintf(stream,
                  "values: members of `values` in the statistics, beside those of the units; absent with "
                  "--timing-only\n\n  %-34s  %-8s  %-10s  %s\n",
                  "name", "unit", "with", "help");
    for (size_t i = 0; i < cnnvp_value_count; ++i) {
        const struct cnnvp_value_help *value = &cnnvp_value_table[i];
        char name[64], with[32];
        (void)snprintf(name, sizeof name, "values.%s.%s", value->object, value->name);
        (void)snprintf(with, sizeof with, "%s%s", *value->needs ? "--" : "train", value->needs);
        (void)fprintf(stream, "  %-34s  %-8s  %-10s  %s\n", name, value->unit, with, value->help);
    }
    return cnnvp_print_end(&printed);
}
