/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a configuration's instances, by the same tables as the statistics of a run (costs.h). */
#include <string.h>

#include "cnnvp_costs.h"
#include "config_internal.h"
#include "costs.h"

static cnnvp_result no_such(struct cnnvp_error *error, const char *instance, const char *stat)
{
    return cnnvp_config_error(error, NULL, "the platform has no statistic %s of %s", stat, instance);
}

cnnvp_result cnnvp_config_energy(const cnnvp_config *config, const char *instance, const char *stat, double *picojoules,
                                 struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved;
    struct cnnvp_instance_costs costs;
    uint32_t number = 0;
    CNNVP_TRY(cnnvp_config_need(config, &resolved, error));
    const struct cnnvp_instance *found = cnnvp_box_find(resolved, instance);
    if (found == NULL || found->unit == NULL)
        return no_such(error, instance, stat);
    while (number < found->unit->stat_count && strcmp(found->unit->stats[number].name, stat) != 0)
        ++number;
    if (number == found->unit->stat_count)
        return no_such(error, instance, stat);
    const cnnvp_result result = cnnvp_costs_init(resolved, found, &costs, error);
    *picojoules = result == CNNVP_DONE ? cnnvp_costs_energy(resolved->energy, found, &costs, number).typical : 0;
    cnnvp_costs_fini(&costs);
    return result;
}

cnnvp_result cnnvp_config_link_energy(const cnnvp_config *config, const char *from, const char *to, double *picojoules,
                                      struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved;
    const char *const names[] = {from, to};
    CNNVP_SCOPED(cnnvp_costs_fini) struct cnnvp_instance_costs first = {0};
    CNNVP_SCOPED(cnnvp_costs_fini) struct cnnvp_instance_costs second = {0};
    struct cnnvp_instance_costs *const costs[2] = {&first, &second};
    struct cnnvp_link_end ends[2] = {{0}};
    double chip_um2 = 0;
    *picojoules = 0;
    CNNVP_TRY(cnnvp_config_need(config, &resolved, error));
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        CNNVP_SCOPED(cnnvp_costs_fini) struct cnnvp_instance_costs each = {0};
        CNNVP_TRY(cnnvp_costs_init(resolved, &resolved->instances[i], &each, error));
        chip_um2 += cnnvp_costs_floor(&resolved->instances[i], &each);
    }
    for (size_t i = 0; i < 2; ++i) {
        ends[i] = (struct cnnvp_link_end){cnnvp_box_find(resolved, names[i]), costs[i]};
        CNNVP_TRY(ends[i].instance != NULL ? cnnvp_costs_init(resolved, ends[i].instance, costs[i], error)
                                           : no_such(error, names[i], "links"));
    }
    *picojoules = cnnvp_costs_link(resolved->energy, &ends[0], &ends[1], chip_um2).typical;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_config_static_power(const cnnvp_config *config, double *milliwatts, struct cnnvp_error *error)
{
    const struct cnnvp_resolved *resolved;
    *milliwatts = 0;
    CNNVP_TRY(cnnvp_config_need(config, &resolved, error));
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        CNNVP_SCOPED(cnnvp_costs_fini) struct cnnvp_instance_costs costs = {0};
        CNNVP_TRY(cnnvp_costs_init(resolved, &resolved->instances[i], &costs, error));
        *milliwatts += costs.milliwatts.typical;
    }
    return CNNVP_DONE;
}
