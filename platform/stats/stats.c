/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulation of statistics by the rules of models/documents.md ("Accounting"). Each instance has a dense array of
 * totals. What goes into layers[] is summed at once into one row for each tag, so no record of single events is kept.
 * Rows grow when a new tag appears, up to CNNVP_MAX_TAG.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t column;
} layer_members[] = {
    {"compute_cycles", CNNVP_COLUMN_COMPUTE},
    {"macs", CNNVP_COLUMN_MACS},
#define CNNVP_STALL(cause, bound, help) {"stall_cycles." #cause, CNNVP_COLUMN_STALL_##cause},
#include "stats.def"
#define CNNVP_QUANTITY(name, help) {#name, CNNVP_COLUMN_##name},
#include "stats.def"
};

#define LAYER_MEMBERS (sizeof layer_members / sizeof layer_members[0])

static const char values_prefix[] = "values.";

static int no_memory(struct cnnvp_error *error)
{
    snprintf(error->text, sizeof error->text, "out of memory for statistics");
    return CNNVP_FAILED;
}

/* Column of a name under "values.", made if it is new; CNNVP_NO_COLUMN without memory. */
static uint32_t value_column(struct cnnvp_stats *stats, const char *name)
{
    uint32_t count = stats->columns - CNNVP_LAYER_COLUMNS;
    const char **names;

    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(stats->value_names[i], name) == 0)
            return CNNVP_LAYER_COLUMNS + i;
    names = realloc(stats->value_names, (count + 1) * sizeof *names);
    if (names == NULL)
        return CNNVP_NO_COLUMN;
    names[count] = name;
    stats->value_names = names;
    return stats->columns++;
}

static int find_column(struct cnnvp_stats *stats, const struct cnnvp_instance *instance, const struct cnnvp_stat *stat,
                       uint32_t *column, struct cnnvp_error *error)
{
    *column = CNNVP_NO_COLUMN;
    if (stat->layer == NULL)
        return CNNVP_DONE;
    if (strncmp(stat->layer, values_prefix, sizeof values_prefix - 1) == 0) {
        *column = value_column(stats, stat->layer + sizeof values_prefix - 1);
        return *column == CNNVP_NO_COLUMN ? no_memory(error) : CNNVP_DONE;
    }
    for (size_t i = 0; i < LAYER_MEMBERS; ++i) {
        if (strcmp(layer_members[i].name, stat->layer) == 0) {
            *column = layer_members[i].column;
            return CNNVP_DONE;
        }
    }

    int length = snprintf(error->text, sizeof error->text,
                          "unit %s (%s): statistic %s: unknown layer member '%.100s'; there are values.<name>",
                          instance->name, instance->model, stat->name, stat->layer);

    for (size_t i = 0; i < LAYER_MEMBERS && length > 0 && (size_t)length < sizeof error->text; ++i)
        length += snprintf(error->text + length, sizeof error->text - (size_t)length, " %s", layer_members[i].name);
    return CNNVP_BAD_INPUT;
}

static int init_stat(struct cnnvp_stats *stats, const struct cnnvp_instance *instance, uint32_t number,
                     struct cnnvp_instance_stats *mine, struct cnnvp_error *error)
{
    const struct cnnvp_stat *stat = &instance->unit->stats[number];
    struct cnnvp_stat_slot *slot = &mine->stats[number];
    int result = find_column(stats, instance, stat, &slot->column, error);

    if (result != CNNVP_DONE)
        return result;
    slot->energy_column = CNNVP_NO_COLUMN;
    if (stat->energy != NULL && cnnvp_energy_find(stat->energy) == CNNVP_ENERGY_ENTRIES) {
        snprintf(error->text, sizeof error->text,
                 "unit %s (%s): statistic %s: no entry '%.100s' in the energy table; there are:%s", instance->name,
                 instance->model, stat->name, stat->energy, cnnvp_energy_names());
        return CNNVP_BAD_INPUT;
    }
    if (cnnvp_costs_counts(instance, &mine->costs, number))
        slot->energy_column = stats->energy_columns++;
    return CNNVP_DONE;
}

int cnnvp_stats_is_memory(const struct cnnvp_unit *unit)
{
    return cnnvp_unit_has_port(unit, CNNVP_PORT_MEM_TARGET);
}

static enum cnnvp_live live_of(const struct cnnvp_unit *unit, const struct cnnvp_counter *counter)
{
    if (counter->unit != NULL && strcmp(counter->unit, "feature_words") == 0)
        return CNNVP_LIVE_WORDS;
    if (counter->unit != NULL && strcmp(counter->unit, "feature_bytes") == 0)
        return CNNVP_LIVE_BYTES;
    if (strcmp(counter->name, "bandwidth") == 0 && cnnvp_stats_is_memory(unit))
        return CNNVP_LIVE_BANDWIDTH;
    return CNNVP_LIVE_COUNT;
}

static int init_instance(struct cnnvp_stats *stats, size_t index, struct cnnvp_error *error)
{
    const struct cnnvp_instance *instance = &stats->platform->instances[index];
    struct cnnvp_instance_stats *mine = &stats->instances[index];
    const struct cnnvp_unit *unit = instance->unit;

    if (unit == NULL)
        return CNNVP_DONE;
    mine->stats = calloc(unit->stat_count + 1, sizeof *mine->stats);
    mine->counters = calloc(unit->counter_count + 1, sizeof *mine->counters);
    if (mine->stats == NULL || mine->counters == NULL)
        return no_memory(error);
    mine->stat_count = (uint32_t)unit->stat_count;
    mine->counter_count = (uint32_t)unit->counter_count;
    const cnnvp_result said = cnnvp_costs_init(stats->platform, instance, &mine->costs, error);
    if (said != CNNVP_DONE)
        return (int)said;
    for (uint32_t i = 0; i < unit->stat_count; ++i) {
        int result = init_stat(stats, instance, i, mine, error);

        if (result != CNNVP_DONE)
            return result;
    }
    for (size_t i = 0; i < unit->counter_count; ++i)
        mine->counters[i].live = live_of(unit, &unit->counters[i]);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_stats_init(struct cnnvp_stats *stats, const struct cnnvp_resolved *platform, int timing_only,
                              struct cnnvp_error *error)
{
    int result = CNNVP_DONE;

    memset(stats, 0, sizeof *stats);
    stats->platform = platform;
    stats->timing_only = timing_only;
    stats->columns = CNNVP_LAYER_COLUMNS;
    cnnvp_energy_default(&stats->energy);
    if (platform->energy != NULL)
        stats->energy = *platform->energy;
    stats->instances = calloc(platform->instance_count + 1, sizeof *stats->instances);
    if (stats->instances == NULL)
        result = no_memory(error);
    for (size_t i = 0; i < platform->instance_count && result == CNNVP_DONE; ++i)
        result = init_instance(stats, i, error);
    for (size_t i = 0; i < platform->instance_count && result == CNNVP_DONE; ++i)
        stats->chip_um2 += cnnvp_costs_floor(&platform->instances[i], &stats->instances[i].costs);
    if (result == CNNVP_DONE) {
        (void)cnnvp_stats_grow(stats, 15);
        if (stats->out_of_memory)
            result = no_memory(error);
    }
    if (result != CNNVP_DONE)
        cnnvp_stats_fini(stats);
    return (cnnvp_result)result;
}

static void clear_work(struct cnnvp_stats *stats)
{
    for (size_t i = 0; stats->work.layers != NULL && i < stats->work.layer_count; ++i) {
        free((char *)stats->work.layers[i].name);
        free((char *)stats->work.layers[i].op);
        free((char *)stats->work.layers[i].phase);
    }
    free((struct cnnvp_layer_info *)stats->work.layers);
    for (size_t i = 0; stats->work.tensors != NULL && i < stats->work.tensor_count; ++i) {
        free((char *)stats->work.tensors[i].name);
        free((char *)stats->work.tensors[i].kind);
    }
    free((struct cnnvp_tensor_info *)stats->work.tensors);
    if (stats->work.tensor_count != 0) /* whose numbers it has */
        cnnvp_overfetch_clear(&stats->overfetch);
    free(stats->moved);
    stats->moved = NULL;
    free((uint64_t *)stats->work.layer_images);
    free((char *)stats->work.command);
    free((char *)stats->work.network);
    free((char *)stats->work.order);
    free((struct cnnvp_chain_info *)stats->work.chains);
    for (size_t i = 0; i < stats->work.resident_count; ++i)
        free((char *)stats->work.residents[i].tensor);
    free((struct cnnvp_resident_info *)stats->work.residents);
    free((struct cnnvp_group_info *)stats->work.groups);
    free((char *)stats->work.schedule);
    memset(&stats->work, 0, sizeof stats->work);
    stats->described = 0;
}

void cnnvp_stats_fini(struct cnnvp_stats *stats)
{
    for (size_t i = 0; stats->instances != NULL && i < stats->platform->instance_count; ++i) {
        free(stats->instances[i].stats);
        free(stats->instances[i].counters);
        cnnvp_costs_fini(&stats->instances[i].costs);
        for (uint32_t r = 0; r < stats->instances[i].requester_count; ++r)
            free(stats->instances[i].requesters[r].counts);
        free(stats->instances[i].requesters);
    }
    free(stats->instances);
    free(stats->rows);
    free(stats->energy_rows);
    free(stats->times);
    free(stats->path);
    free(stats->value_names);
    free(stats->links);
    clear_work(stats);
    cnnvp_overfetch_fini(&stats->overfetch);
    cnnvp_said_clear(&stats->said);
    memset(stats, 0, sizeof *stats);
}

/* 0 without memory. A missing text becomes `missing`, which may be NULL. */
static int copy_text(const char *text, const char *missing, const char **copy)
{
    if (text == NULL)
        text = missing;
    *copy = text != NULL ? strdup(text) : NULL;
    return text == NULL || *copy != NULL;
}

static int copy_layers(struct cnnvp_stats *stats, const struct cnnvp_work_info *work)
{
    struct cnnvp_layer_info *layers = calloc(work->layer_count + 1, sizeof *layers);

    uint64_t *images = calloc(work->layer_count + 1, sizeof *images);

    stats->work.layers = layers;
    stats->work.layer_images = images;
    if (layers == NULL || images == NULL)
        return 0;
    stats->work.layer_count = work->layer_count;
    for (size_t i = 0; i < work->layer_count; ++i) {
        layers[i].macs = work->layers[i].macs;
        layers[i].least_dram_bytes = work->layers[i].least_dram_bytes;
        layers[i].pes = work->layers[i].pes != 0 ? work->layers[i].pes : work->pes;
        images[i] = work->layer_images != NULL ? work->layer_images[i] : work->images;
        if (!copy_text(work->layers[i].name, "", &layers[i].name) ||
            !copy_text(work->layers[i].op, "", &layers[i].op) ||
            !copy_text(work->layers[i].phase, "forward", &layers[i].phase))
            return 0;
    }
    return 1;
}

static int copy_chains(struct cnnvp_stats *stats, const struct cnnvp_work_info *work)
{
    struct cnnvp_chain_info *chains = calloc(work->chain_count + 1, sizeof *chains);

    stats->work.chains = chains;
    if (chains == NULL)
        return 0;
    for (size_t i = 0; i < work->chain_count; ++i)
        chains[i] = work->chains[i];
    stats->work.chain_count = work->chain_count;
    stats->work.block = work->block;
    stats->work.block_difference = work->block_difference;
    stats->work.block_magnitude = work->block_magnitude;
    return copy_text(work->order, "", &stats->work.order);
}

static int copy_groups(struct cnnvp_stats *stats, const struct cnnvp_work_info *work)
{
    struct cnnvp_group_info *groups = calloc(work->group_count + 1, sizeof *groups);
    struct cnnvp_resident_info *residents = calloc(work->resident_count + 1, sizeof *residents);

    stats->work.groups = groups;
    stats->work.residents = residents;
    if (groups == NULL || residents == NULL || !copy_text(work->schedule, NULL, &stats->work.schedule))
        return 0;
    for (size_t i = 0; i < work->group_count; ++i)
        groups[i] = work->groups[i];
    stats->work.group_count = work->group_count;
    for (size_t i = 0; i < work->resident_count; ++i) {
        residents[i] = work->residents[i];
        stats->work.resident_count = i + 1;
        if (!copy_text(work->residents[i].tensor, "", &residents[i].tensor))
            return 0;
    }
    return 1;
}

static int copy_tensors(struct cnnvp_stats *stats, const struct cnnvp_work_info *work)
{
    struct cnnvp_tensor_info *tensors = calloc(work->tensor_count + 1, sizeof *tensors);

    stats->work.tensors = tensors;
    stats->moved = calloc(work->tensor_count + 1, sizeof *stats->moved);
    if (tensors == NULL || stats->moved == NULL)
        return 0;
    stats->work.tensor_count = work->tensor_count;
    for (size_t i = 0; i < work->tensor_count; ++i) {
        tensors[i] = work->tensors[i];
        tensors[i].name = tensors[i].kind = NULL;
        if (!copy_text(work->tensors[i].name, "", &tensors[i].name) ||
            !copy_text(work->tensors[i].kind, "feature", &tensors[i].kind))
            return 0;
    }
    return 1;
}

/* They lie in order, each before the next one. */
static int are_apart(const struct cnnvp_work_info *work)
{
    for (size_t i = 1; i < work->tensor_count; ++i)
        if (work->tensors[i].address < work->tensors[i - 1].address ||
            work->tensors[i].address - work->tensors[i - 1].address < work->tensors[i - 1].size)
            return 0;
    return 1;
}

/* Number of the tensor that the address lies in, from 1; 0: none. */
static uint32_t tensor_at(const struct cnnvp_stats *stats, uint64_t address)
{
    const struct cnnvp_tensor_info *tensors = stats->work.tensors;
    size_t low = 0;
    size_t high = stats->work.tensor_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tensors[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && address - tensors[low - 1].address < tensors[low - 1].size ? (uint32_t)low : 0;
}

void cnnvp_stats_moved(struct cnnvp_stats *stats, const struct cnnvp_request *request, uint64_t burst_bytes)
{
    const uint64_t bytes = request->size * request->count;
    const uint32_t tensor = tensor_at(stats, request->address);

    if (burst_bytes > bytes && !cnnvp_overfetch_add(&stats->overfetch, request, tensor, burst_bytes))
        stats->out_of_memory = 1;
    if (tensor == 0)
        return;
    struct cnnvp_moved_bytes *moved = &stats->moved[tensor - 1];
    *(request->op == CNNVP_READ ? &moved->read : &moved->write) += bytes;
    moved->burst += burst_bytes;
}

cnnvp_result cnnvp_stats_describe(struct cnnvp_stats *stats, const struct cnnvp_work_info *work)
{
    if (work->struct_size != sizeof *work || work->layer_count > CNNVP_MAX_TAG ||
        (work->layer_count && work->layers == NULL) || (work->tensor_count && work->tensors == NULL) ||
        !are_apart(work))
        return CNNVP_BAD_INPUT;
    clear_work(stats);
    stats->work.network_hash = work->network_hash;
    stats->work.seed = work->seed;
    stats->work.images = work->images;
    stats->work.pes = work->pes;
    stats->work.least_dram_bytes = work->least_dram_bytes;
    if (!copy_text(work->command, "exec", &stats->work.command) ||
        !copy_text(work->network, NULL, &stats->work.network) || !copy_layers(stats, work) ||
        !copy_chains(stats, work) || !copy_groups(stats, work) || !copy_tensors(stats, work)) {
        clear_work(stats);
        return CNNVP_FAILED;
    }
    stats->described = 1;
    if (work->layer_count >= stats->tags)
        (void)cnnvp_stats_grow(stats, (uint32_t)work->layer_count);
    return stats->out_of_memory ? CNNVP_FAILED : CNNVP_DONE;
}

void cnnvp_stats_count_for(struct cnnvp_stats *stats, uint32_t instance, uint32_t stat, uint32_t requester, uint64_t n)
{
    if (instance >= stats->platform->instance_count || stat >= stats->instances[instance].stat_count)
        return;

    struct cnnvp_instance_stats *mine = &stats->instances[instance];
    uint32_t r = 0;

    while (r < mine->requester_count && mine->requesters[r].requester != requester)
        ++r;
    if (r == mine->requester_count) {
        struct cnnvp_requester_stats *more = realloc(mine->requesters, (r + 1) * sizeof *more);

        if (more != NULL)
            mine->requesters = more;
        uint64_t *counts = more != NULL ? calloc(mine->stat_count, sizeof *counts) : NULL;
        if (counts == NULL) {
            stats->out_of_memory = 1;
            return;
        }
        more[r] = (struct cnnvp_requester_stats){requester, counts};
        ++mine->requester_count;
    }
    mine->requesters[r].counts[stat] += n;
}

uint32_t cnnvp_stats_grow(struct cnnvp_stats *stats, uint32_t tag)
{
    uint32_t tags = stats->tags ? stats->tags : 16;
    uint64_t *rows, *energy;
    struct cnnvp_layer_times *times;

    if (tag > CNNVP_MAX_TAG)
        return 0;
    while (tags <= tag)
        tags *= 2;
    rows = realloc(stats->rows, (size_t)tags * stats->columns * sizeof *rows);
    if (rows != NULL)
        stats->rows = rows;
    energy = realloc(stats->energy_rows, ((size_t)tags * stats->energy_columns + 1) * sizeof *energy);
    if (energy != NULL)
        stats->energy_rows = energy;
    times = realloc(stats->times, tags * sizeof *times);
    if (times != NULL)
        stats->times = times;
    if (rows == NULL || times == NULL || energy == NULL) {
        stats->out_of_memory = 1;
        return 0;
    }
    memset(rows + (size_t)stats->tags * stats->columns, 0,
           (size_t)(tags - stats->tags) * stats->columns * sizeof *rows);
    memset(energy + (size_t)stats->tags * stats->energy_columns, 0,
           (size_t)(tags - stats->tags) * stats->energy_columns * sizeof *energy);
    for (uint32_t i = stats->tags; i < tags; ++i)
        times[i] = (struct cnnvp_layer_times){CNNVP_TIME_NEVER, 0};
    stats->tags = tags;
    return tag;
}

/* One more column, 0 in all rows; CNNVP_NO_COLUMN without memory. */
static uint32_t add_energy_column(struct cnnvp_stats *stats)
{
    const size_t before = stats->energy_columns, after = before + 1;
    uint64_t *rows = realloc(stats->energy_rows, (stats->tags * after + 1) * sizeof *rows);

    if (rows == NULL) {
        stats->out_of_memory = 1;
        return CNNVP_NO_COLUMN;
    }
    for (size_t tag = stats->tags; tag-- > 0;) {
        memmove(rows + tag * after, rows + tag * before, before * sizeof *rows);
        rows[tag * after + before] = 0;
    }
    stats->energy_rows = rows;
    return stats->energy_columns++;
}

static struct cnnvp_link_end end_of(const struct cnnvp_stats *stats, uint32_t instance)
{
    return (struct cnnvp_link_end){&stats->platform->instances[instance], &stats->instances[instance].costs};
}

uint32_t cnnvp_stats_link(struct cnnvp_stats *stats, uint32_t from, uint32_t to)
{
    struct cnnvp_link_stats *links = stats->links;

    for (uint32_t i = 0; i < stats->link_count; ++i)
        if (links[i].from == from && links[i].to == to)
            return i;
    if (from >= stats->platform->instance_count || to >= stats->platform->instance_count)
        return UINT32_MAX;
    if (stats->link_count == stats->link_capacity) {
        uint32_t capacity = stats->link_capacity ? stats->link_capacity * 2 : 16;

        links = realloc(links, capacity * sizeof *links);
        if (links == NULL) {
            stats->out_of_memory = 1;
            return UINT32_MAX;
        }
        stats->links = links;
        stats->link_capacity = capacity;
    }
    const struct cnnvp_link_end ends[] = {end_of(stats, from), end_of(stats, to)};
    struct cnnvp_link_stats *link = &links[stats->link_count];

    *link = (struct cnnvp_link_stats){
        .from = from,
        .to = to,
        .memory = cnnvp_stats_is_memory(ends[1].instance->unit),
        .pj_byte = cnnvp_costs_link(&stats->energy, &ends[0], &ends[1], stats->chip_um2),
        .energy_column = CNNVP_NO_COLUMN};
    if (link->pj_byte.high > 0)
        link->energy_column = add_energy_column(stats);
    return stats->link_count++;
}

const struct cnnvp_layer_info *cnnvp_stats_layer(const struct cnnvp_stats *stats, uint32_t tag)
{
    return tag - 1 < stats->work.layer_count ? &stats->work.layers[tag - 1] : cnnvp_said_find(&stats->said, tag);
}

const char *cnnvp_stats_layer_name(const struct cnnvp_stats *stats, uint32_t tag, char *buffer, size_t size)
{
    const struct cnnvp_layer_info *info = cnnvp_stats_layer(stats, tag);
    if (info != NULL)
        return info->name;
    snprintf(buffer, size, "tag_%" PRIu32, tag);
    return buffer;
}

uint64_t cnnvp_stats_row_cycles(const uint64_t *sums)
{
    uint64_t cycles = sums[CNNVP_COLUMN_COMPUTE];

#define CNNVP_STALL(cause, bound, help) cycles += sums[CNNVP_COLUMN_STALL_##cause];
#include "stats.def"
    return cycles;
}
