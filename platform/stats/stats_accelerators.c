/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics for each of several accelerators. An accelerator is an instruction element with the units that it reaches
 * through ports, except units that another element reaches as well.
 */
#include "stats_builder.h"

size_t cnnvp_stats_find(const struct cnnvp_stats *stats, const char *name)
{
    const struct cnnvp_resolved *platform = stats->platform;

    for (size_t i = 0; i < platform->instance_count; ++i)
        if (strcmp(platform->instances[i].name, name) == 0)
            return i;
    for (size_t i = 0; i < platform->instance_count; ++i)
        if (platform->instances[i].unit != NULL && strcmp(platform->instances[i].unit->kind, name) == 0)
            return i;
    return platform->instance_count;
}

/* True for units of the same kind as the first element. */
static int is_element(const struct cnnvp_stats *stats, size_t instance)
{
    const struct cnnvp_instance *instances = stats->platform->instances;
    const size_t first = cnnvp_stats_find(stats, CNNVP_INSTRUCTION_ELEMENT);

    return first < stats->platform->instance_count && instances[first].unit != NULL &&
           instances[instance].unit != NULL && strcmp(instances[instance].unit->kind, instances[first].unit->kind) == 0;
}

uint64_t cnnvp_stats_elements_total(const struct cnnvp_stats *stats, const char *name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        if (is_element(stats, i))
            sum += cnnvp_stats_total(stats, i, name);
    return sum;
}

uint64_t cnnvp_stats_idle_cycles(const struct cnnvp_stats *stats)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        if (is_element(stats, i))
            sum += cnnvp_stats_accel_cycles(stats, i, cnnvp_stats_total(stats, i, "idle_cycles"));
    return sum;
}

/* ---- which units are an accelerator's ---- */

enum { NO_OWNER = 0, SHARED = 1, FIRST_OWNER = 2 }; /* otherwise the element's number + FIRST_OWNER */

/* Marks all instances that can be reached through ports; `reached` has one byte for each instance. */
static void reach(const struct cnnvp_resolved *platform, size_t from, unsigned char *reached)
{
    const struct cnnvp_instance *instance = &platform->instances[from];

    if (reached[from])
        return;
    reached[from] = 1;
    for (size_t i = 0; i < instance->binding_count; ++i)
        if (instance->unit->ports[instance->bindings[i].port].kind != CNNVP_PORT_IRQ_OUT)
            reach(platform, instance->bindings[i].target, reached);
}

/* The owner of each instance. NULL: out of memory. */
static size_t *find_owners(const struct cnnvp_stats *stats)
{
    const size_t count = stats->platform->instance_count;
    size_t *owners = calloc(count + 1, sizeof *owners);
    CNNVP_FREED unsigned char *reached = calloc(count + 1, 1);

    for (size_t element = 0; owners != NULL && reached != NULL && element < count; ++element) {
        if (!is_element(stats, element))
            continue;
        memset(reached, 0, count);
        reach(stats->platform, element, reached);
        for (size_t i = 0; i < count; ++i)
            if (reached[i])
                owners[i] = owners[i] == NO_OWNER ? element + FIRST_OWNER : SHARED;
    }
    if (reached != NULL)
        return owners;
    free(owners);
    return NULL;
}

/* ---- sums ---- */

static int is_of(const struct cnnvp_stats *stats, const size_t *owners, size_t owner, uint32_t instance)
{
    return instance < stats->platform->instance_count && owners[instance] == owner;
}

/* Sums the layer counts of the accelerator's own units, and its share of the memories' counts. */
static void sum_units(const struct cnnvp_stats *stats, const size_t *owners, size_t owner, uint64_t *sums)
{
    for (size_t i = 0; i < stats->platform->instance_count; ++i) {
        const struct cnnvp_instance_stats *mine = &stats->instances[i];

        for (uint32_t s = 0; s < mine->stat_count; ++s) {
            const uint32_t column = mine->stats[s].column;

            if (column >= CNNVP_LAYER_COLUMNS)
                continue;
            if (owners[i] == owner)
                sums[column] += column < CNNVP_CYCLE_COLUMNS ? cnnvp_stats_accel_cycles(stats, i, mine->stats[s].total)
                                                             : mine->stats[s].total;
            for (uint32_t r = 0; r < mine->requester_count; ++r)
                if (owners[i] != owner && is_of(stats, owners, owner, mine->requesters[r].requester))
                    sums[column] += mine->requesters[r].counts[s];
        }
    }
}

uint32_t cnnvp_stats_accelerators(const struct cnnvp_stats *stats)
{
    uint32_t elements = 0, worked = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        elements += (uint32_t)is_element(stats, i);
    if (elements < 2)
        return 1;

    CNNVP_FREED size_t *owners = find_owners(stats);

    for (size_t i = 0; owners != NULL && i < stats->platform->instance_count; ++i) {
        uint64_t sums[CNNVP_LAYER_COLUMNS] = {0};

        if (!is_element(stats, i))
            continue;
        sum_units(stats, owners, i + FIRST_OWNER, sums);
        worked += cnnvp_stats_row_cycles(sums) != 0;
    }
    return worked != 0 ? worked : 1;
}

static void add_unit_names(struct stats_builder *b, json_t *object, const size_t *owners, size_t owner)
{
    json_t *units = set_array(b, object, "units");

    for (size_t i = 0; i < b->stats->platform->instance_count; ++i)
        if (owners[i] == owner)
            append(b, units, text_value(b->stats->platform->instances[i].name));
}

static void add_accelerator(struct stats_builder *b, json_t *list, const size_t *owners, size_t element)
{
    const struct cnnvp_stats *stats = b->stats;
    const uint64_t idle = cnnvp_stats_accel_cycles(stats, element, cnnvp_stats_total(stats, element, "idle_cycles"));
    uint64_t sums[CNNVP_LAYER_COLUMNS] = {0};
    struct cnnvp_bounds bounds = {0};
    json_t *object = append_object(b, list);

    sum_units(stats, owners, element + FIRST_OWNER, sums);
    set_text(b, object, "name", stats->platform->instances[element].name);
    add_unit_names(b, object, owners, element + FIRST_OWNER);
    set_count(b, object, "instructions", cnnvp_stats_total(stats, element, "instructions"));
    set_count(b, object, "cycles", cnnvp_stats_row_cycles(sums) + idle);
    set_count(b, object, "idle_cycles", idle);
    set_count(b, object, "compute_cycles", sums[CNNVP_COLUMN_COMPUTE]);

    json_t *stalls = set_object(b, object, "stall_cycles");

#define CNNVP_STALL(cause, bound, help) set_count(b, stalls, #cause, sums[CNNVP_COLUMN_STALL_##cause]);
#include "stats.def"
#define CNNVP_QUANTITY(name, help) set_count(b, object, #name, sums[CNNVP_COLUMN_##name]);
#include "stats.def"
    cnnvp_bounds_add(&bounds, sums, 0, 0);
    set_text(b, object, "bound_by", cnnvp_bounds_largest(&bounds));
}

void cnnvp_stats_add_accelerators(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    size_t elements = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        elements += (size_t)is_element(stats, i);
    if (elements < 2)
        return;

    CNNVP_FREED size_t *owners = find_owners(stats);
    json_t *list = set_array(b, root, "accelerators");

    if (owners == NULL)
        b->failed = 1;
    for (size_t i = 0; i < stats->platform->instance_count && !b->failed; ++i)
        if (is_element(stats, i))
            add_accelerator(b, list, owners, i);
}
