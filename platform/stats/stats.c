/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulates statistics by the rules of models/documents.md ("Accounting"). Each instance has a dense array of totals.
 * Counts for layers[] are summed at once into one row for each tag; single events are not stored. Rows are added when a
 * new tag appears, up to CNNVP_MAX_TAG.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

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

/* Column of a name under "values.", created if it is new; CNNVP_NO_COLUMN: out of memory. */
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

static cnnvp_result find_column(struct cnnvp_stats *stats, const struct cnnvp_instance *instance,
                                const struct cnnvp_stat *stat, uint32_t *column, struct cnnvp_error *error)
{
    *column = CNNVP_NO_COLUMN;
    if (stat->layer == NULL)
        return CNNVP_DONE;
    if (strncmp(stat->layer, values_prefix, sizeof values_prefix - 1) == 0) {
        *column = value_column(stats, stat->layer + sizeof values_prefix - 1);
        return *column == CNNVP_NO_COLUMN ? cnnvp_config_no_memory(error) : CNNVP_DONE;
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

static cnnvp_result init_stat(struct cnnvp_stats *stats, const struct cnnvp_instance *instance, uint32_t number,
                              struct cnnvp_instance_stats *mine, struct cnnvp_error *error)
{
    const struct cnnvp_stat *stat = &instance->unit->stats[number];
    struct cnnvp_stat_slot *slot = &mine->stats[number];

    CNNVP_TRY(find_column(stats, instance, stat, &slot->column, error));
    slot->energy_column = CNNVP_NO_COLUMN;
    if (stat->energy != NULL && cnnvp_energy_find(stat->energy) == CNNVP_ENERGY_ENTRIES) {
        return cnnvp_config_error(
            error, NULL, "unit %s (%s): statistic %s: no entry '%.100s' in the energy table; there are:%s",
            instance->name, instance->model, stat->name, stat->energy, cnnvp_energy_names());
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

static cnnvp_result init_instance(struct cnnvp_stats *stats, size_t index, struct cnnvp_error *error)
{
    const struct cnnvp_instance *instance = &stats->platform->instances[index];
    struct cnnvp_instance_stats *mine = &stats->instances[index];
    const struct cnnvp_unit *unit = instance->unit;

    if (unit == NULL)
        return CNNVP_DONE;
    mine->stats = calloc(unit->stat_count + 1, sizeof *mine->stats);
    mine->counters = calloc(unit->counter_count + 1, sizeof *mine->counters);
    CNNVP_TRY_MEMORY(mine->stats != NULL && mine->counters != NULL, error);
    mine->stat_count = (uint32_t)unit->stat_count;
    mine->counter_count = (uint32_t)unit->counter_count;
    mine->is_core = cnnvp_unit_is_core(unit);
    CNNVP_TRY(cnnvp_costs_init(stats->platform, instance, &mine->costs, error));
    for (uint32_t i = 0; i < unit->stat_count; ++i)
        CNNVP_TRY(init_stat(stats, instance, i, mine, error));
    for (size_t i = 0; i < unit->counter_count; ++i)
        mine->counters[i].live = live_of(unit, &unit->counters[i]);
    return CNNVP_DONE;
}

static uint64_t mhz_of(const struct cnnvp_stats *stats, size_t instance)
{
    const struct cnnvp_instance *own = &stats->platform->instances[instance];

    return cnnvp_instance_mhz(stats->platform, own, CNNVP_DEFAULT_MHZ) * own->speedup;
}

uint64_t cnnvp_stats_accel_cycles(const struct cnnvp_stats *stats, size_t instance, uint64_t cycles)
{
    return stats->accel_mhz == 0 ? cycles : cycles * stats->accel_mhz / mhz_of(stats, instance);
}

/* The first unit that counts compute cycles has the accelerator's clock. */
static void find_clock(struct cnnvp_stats *stats)
{
    const size_t count = stats->platform->instance_count;

    for (size_t i = 0; i < count && stats->accel_mhz == 0; ++i)
        for (uint32_t s = 0; s < stats->instances[i].stat_count; ++s)
            if (stats->instances[i].stats[s].column == CNNVP_COLUMN_COMPUTE)
                stats->accel_mhz = mhz_of(stats, i);
    for (size_t i = 0; i < count && stats->accel_mhz != 0; ++i)
        for (uint32_t s = 0; s < stats->instances[i].stat_count; ++s)
            if (stats->instances[i].stats[s].column <= CNNVP_COLUMN_MACS && mhz_of(stats, i) != stats->accel_mhz)
                stats->instances[i].stats[s].own_mhz = mhz_of(stats, i);
}

cnnvp_result cnnvp_stats_init(struct cnnvp_stats *stats, const struct cnnvp_resolved *platform, int timing_only,
                              struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;

    memset(stats, 0, sizeof *stats);
    stats->platform = platform;
    stats->timing_only = timing_only;
    stats->columns = CNNVP_LAYER_COLUMNS;
    cnnvp_energy_default(&stats->energy);
    if (platform->energy != NULL)
        stats->energy = *platform->energy;
    stats->instances = calloc(platform->instance_count + 1, sizeof *stats->instances);
    if (stats->instances == NULL)
        result = cnnvp_config_no_memory(error);
    for (size_t i = 0; i < platform->instance_count && result == CNNVP_DONE; ++i)
        result = init_instance(stats, i, error);
    if (result == CNNVP_DONE)
        find_clock(stats);
    for (size_t i = 0; i < platform->instance_count && result == CNNVP_DONE; ++i)
        stats->chip_um2 += cnnvp_costs_floor(&platform->instances[i], &stats->instances[i].costs);
    if (result == CNNVP_DONE) {
        (void)cnnvp_stats_grow(stats, 15);
        if (stats->out_of_memory)
            result = cnnvp_config_no_memory(error);
    }
    if (result != CNNVP_DONE)
        cnnvp_stats_fini(stats);
    return result;
}

static void clear_work(struct cnnvp_stats *stats)
{
    cnnvp_arena_free(&stats->work_memory);
    stats->moved = NULL;
    memset(&stats->work, 0, sizeof stats->work);
    stats->described = 0;
}

static void clear_done(struct cnnvp_stats *stats)
{
    cnnvp_arena_free(&stats->done_memory);
    stats->continues = 0;
}

/* What has been done before a reset; `moved` lies in its memory, too. */
static void keep_done(struct cnnvp_stats *stats)
{
    clear_done(stats);
    stats->done_images = cnnvp_stats_images(stats);
    stats->done = stats->work;
    stats->done_memory = stats->work_memory;
    stats->work_memory = (struct cnnvp_arena){0};
    stats->continues = 1;
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
    free(stats->path_gains);
    free(stats->value_names);
    free(stats->links);
    clear_work(stats);
    clear_done(stats);
    cnnvp_overfetch_fini(&stats->overfetch);
    cnnvp_said_clear(&stats->said);
    memset(stats, 0, sizeof *stats);
}

/* Copies a caller's data into one arena. */
struct copying {
    struct cnnvp_arena *memory;
    int failed;
    const struct cnnvp_work_info *before; /* the same work before a reset, which is added; NULL: none */
    uint64_t images;                      /* its complete images */
};

static void *copy_array(struct copying *copying, const void *from, size_t count, size_t size)
{
    void *copy = cnnvp_arena_array(copying->memory, count, size);

    if (copy != NULL && from != NULL && count != 0)
        memcpy(copy, from, count * size);
    copying->failed |= copy == NULL;
    return copy;
}

/* A missing text becomes `missing`, which may be NULL. */
static const char *copy_text(struct copying *copying, const char *text, const char *missing)
{
    const char *from = text != NULL ? text : missing;
    const char *copy = from != NULL ? cnnvp_arena_text(copying->memory, from) : NULL;

    copying->failed |= from != NULL && copy == NULL;
    return copy;
}

/* An amount of the work before, as far as it has been done. */
static uint64_t done_of(const struct copying *copying, uint64_t amount)
{
    const uint64_t all = copying->before->images;

    return all != 0 ? amount / all * copying->images + amount % all * copying->images / all : 0;
}

static void copy_layers(struct copying *copying, const struct cnnvp_work_info *work, struct cnnvp_work_info *own)
{
    struct cnnvp_layer_info *layers = copy_array(copying, work->layers, work->layer_count, sizeof *layers);
    uint64_t *images = copy_array(copying, work->layer_images, work->layer_count, sizeof *images);
    const char **better = copy_array(copying, work->better_units, work->layer_count, sizeof *better);

    own->layers = layers;
    own->layer_images = images;
    own->better_units = better;
    for (size_t i = 0; i < work->layer_count && !copying->failed; ++i) {
        layers[i].pes = layers[i].pes != 0 ? layers[i].pes : work->pes;
        images[i] = work->layer_images != NULL ? images[i] : work->images;
        if (copying->before != NULL) {
            images[i] += done_of(copying, copying->before->layer_images[i]);
            layers[i].least_dram_bytes += done_of(copying, copying->before->layers[i].least_dram_bytes);
        }
        layers[i].name = copy_text(copying, layers[i].name, "");
        layers[i].op = copy_text(copying, layers[i].op, "");
        layers[i].phase = copy_text(copying, layers[i].phase, "forward");
        better[i] = work->better_units != NULL ? copy_text(copying, better[i], NULL) : NULL;
    }
}

static void copy_work(struct copying *copying, const struct cnnvp_work_info *work, struct cnnvp_work_info *own)
{
    struct cnnvp_resident_info *residents =
        copy_array(copying, work->residents, work->resident_count, sizeof *residents);
    struct cnnvp_tensor_info *tensors = copy_array(copying, work->tensors, work->tensor_count, sizeof *tensors);
    struct cnnvp_place_info *places = copy_array(copying, work->places, work->place_count, sizeof *places);
    struct cnnvp_option_info *options = copy_array(copying, work->options, work->option_count, sizeof *options);

    *own = *work;
    own->command = copy_text(copying, work->command, "exec");
    own->network = copy_text(copying, work->network, NULL);
    own->order = copy_text(copying, work->order, "");
    own->schedule = copy_text(copying, work->schedule, NULL);
    own->chains = copy_array(copying, work->chains, work->chain_count, sizeof *own->chains);
    own->groups = copy_array(copying, work->groups, work->group_count, sizeof *own->groups);
    own->residents = residents;
    own->tensors = tensors;
    own->places = places;
    own->options = options;
    copy_layers(copying, work, own);
    if (copying->before != NULL) {
        own->images += copying->images;
        own->least_dram_bytes += done_of(copying, copying->before->least_dram_bytes);
    }
    for (size_t i = 0; i < work->resident_count && !copying->failed; ++i)
        residents[i].tensor = copy_text(copying, residents[i].tensor, "");
    for (size_t i = 0; i < work->tensor_count && !copying->failed; ++i) {
        tensors[i].name = copy_text(copying, tensors[i].name, "");
        tensors[i].kind = copy_text(copying, tensors[i].kind, "feature");
        if (copying->before != NULL) {
            tensors[i].least_read_bytes += done_of(copying, copying->before->tensors[i].least_read_bytes);
            tensors[i].least_write_bytes += done_of(copying, copying->before->tensors[i].least_write_bytes);
        }
    }
    for (size_t i = 0; i < work->place_count && !copying->failed; ++i) {
        places[i].tensor = copy_text(copying, places[i].tensor, "");
        places[i].kind = copy_text(copying, places[i].kind, "feature");
    }
    for (size_t i = 0; i < work->option_count && !copying->failed; ++i) {
        options[i].name = copy_text(copying, options[i].name, "");
        options[i].value = copy_text(copying, options[i].value, "");
    }
}

/* ---- tables of entries that contain an address followed by a size ---- */

struct extent {
    uint64_t address, size;
};

struct table {
    const void *first; /* extent of the first entry */
    size_t count, step;
};

#define TABLE(entries, number)                                                                                      \
    ((struct table){(entries) != NULL ? (const void *)&(entries)->address : NULL, (entries) != NULL ? (number) : 0, \
                    sizeof *(entries)})

static struct extent extent_of(const struct table *table, size_t index)
{
    struct extent extent;
    memcpy(&extent, (const char *)table->first + index * table->step, sizeof extent);
    return extent;
}

/* True if the entries are sorted and do not overlap. */
static int are_apart(struct table table)
{
    for (size_t i = 1; i < table.count; ++i) {
        const struct extent before = extent_of(&table, i - 1), extent = extent_of(&table, i);
        if (extent.address < before.address || extent.address - before.address < before.size)
            return 0;
    }
    return 1;
}

/* Number, from 1, of the entry that contains the address; 0: none. */
static uint32_t entry_at(struct table table, uint64_t address)
{
    size_t low = 0, high = table.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (extent_of(&table, middle).address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct extent extent = extent_of(&table, low - 1);
    return address - extent.address < extent.size ? (uint32_t)low : 0;
}

const struct cnnvp_place_info *cnnvp_stats_place_at(const struct cnnvp_stats *stats, uint64_t address)
{
    const uint32_t place = entry_at(TABLE(stats->work.places, stats->work.place_count), address);
    return place != 0 ? &stats->work.places[place - 1] : NULL;
}

void cnnvp_stats_moved(struct cnnvp_stats *stats, const struct cnnvp_request *request, uint64_t burst_bytes)
{
    const uint64_t bytes = request->size * request->count;
    const uint32_t tensor = entry_at(TABLE(stats->work.tensors, stats->work.tensor_count), request->address);

    if (burst_bytes > bytes && !cnnvp_overfetch_add(&stats->overfetch, request, tensor, burst_bytes))
        stats->out_of_memory = 1;
    if (tensor == 0)
        return;
    struct cnnvp_moved_bytes *moved = &stats->moved[tensor - 1];
    *(request->op == CNNVP_READ ? &moved->read : &moved->write) += bytes;
    moved->burst += burst_bytes;
}

static int is_same_work(const struct cnnvp_work_info *one, const struct cnnvp_work_info *other)
{
    return one->network != NULL && other->network != NULL && one->network_hash == other->network_hash &&
           one->layer_count == other->layer_count && one->tensor_count == other->tensor_count;
}

uint64_t cnnvp_stats_images(const struct cnnvp_stats *stats)
{
    const struct cnnvp_work_info *work = &stats->work;
    uint64_t complete = work->images;
    int outputs = 0;

    if (!stats->partial || work->command == NULL || strcmp(work->command, "run") != 0)
        return work->images;
    for (size_t i = 0; i < work->tensor_count; ++i) {
        const uint64_t each = work->images ? work->tensors[i].least_write_bytes / work->images : 0;

        if (strcmp(work->tensors[i].kind, "output") != 0 || each == 0)
            continue;
        outputs = 1;
        if (stats->moved[i].write / each < complete)
            complete = stats->moved[i].write / each;
    }
    return outputs ? complete : 0;
}

static void add_to_none(uint64_t *rows, size_t tags, size_t columns)
{
    for (size_t i = columns; i < tags * columns; ++i) {
        rows[i % columns] += rows[i];
        rows[i] = 0;
    }
}

/* The layers of before are not those that come. */
static void leave_layers(struct cnnvp_stats *stats)
{
    stats->other_images += cnnvp_stats_images(stats);
    add_to_none(stats->rows, stats->tags, stats->columns);
    add_to_none(stats->energy_rows, stats->tags, stats->energy_columns);
    for (uint32_t tag = 1; tag < stats->tags; ++tag)
        stats->times[tag] = (struct cnnvp_layer_times){.begin = CNNVP_TIME_NEVER};
    stats->has_left = 1;
}

void cnnvp_stats_note_reset(struct cnnvp_stats *stats)
{
    stats->was_reset = 1;
    for (uint32_t tag = 0; tag < stats->tags; ++tag)
        stats->times[tag].begun = 0;
}

int cnnvp_stats_note_run(struct cnnvp_stats *stats)
{
    const int leaves = stats->was_reset && stats->described && stats->program != stats->ran;
    if (leaves) {
        leave_layers(stats);
        clear_done(stats);
        cnnvp_overfetch_fini(&stats->overfetch);
        clear_work(stats);
    }
    stats->ran = stats->program;
    return leaves;
}

size_t cnnvp_stats_first_output(const struct cnnvp_stats *stats)
{
    const struct cnnvp_tensor_info *tensors = stats->work.tensors;
    size_t i = 0;
    while (i < stats->work.tensor_count && (strcmp(tensors[i].kind, "output") != 0 || !tensors[i].least_write_bytes))
        ++i;
    return i;
}

cnnvp_result cnnvp_stats_describe(struct cnnvp_stats *stats, const struct cnnvp_work_info *theirs)
{
    struct cnnvp_work_info client, own;
    const struct cnnvp_work_info *work = &client;
    if (cnnvp_client_struct(&client, sizeof client, theirs, "cnnvp_work_info", NULL) != CNNVP_DONE ||
        work->layer_count > CNNVP_MAX_TAG || (work->layer_count && work->layers == NULL) ||
        (work->tensor_count && work->tensors == NULL) || (work->place_count && work->places == NULL) ||
        !are_apart(TABLE(work->tensors, work->tensor_count)) || !are_apart(TABLE(work->places, work->place_count)))
        return CNNVP_BAD_INPUT;
    stats->has_left = 0;
    if (!is_same_work(&stats->work, work)) {
        if (stats->described && (stats->was_reset || stats->continues))
            leave_layers(stats);
        clear_done(stats);
    } else if (stats->was_reset) {
        keep_done(stats);
    }
    struct cnnvp_arena memory = {0};
    struct copying copying = {&memory, 0, stats->continues ? &stats->done : NULL, stats->done_images};
    copy_work(&copying, work, &own);
    struct cnnvp_moved_bytes *moved =
        copy_array(&copying, stats->continues ? stats->moved : NULL, work->tensor_count, sizeof *moved);
    if (stats->work.tensor_count != 0 && !stats->continues) /* it refers to the tensors' numbers */
        cnnvp_overfetch_fini(&stats->overfetch);
    clear_work(stats);
    stats->was_reset = 0;
    if (copying.failed) {
        cnnvp_arena_free(&memory);
        return CNNVP_FAILED;
    }
    stats->work_memory = memory;
    stats->work = own;
    stats->moved = moved;
    const size_t output = cnnvp_stats_first_output(stats);
    stats->output_before = output < own.tensor_count ? moved[output].write : 0;
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
        times[i] = (struct cnnvp_layer_times){.begin = CNNVP_TIME_NEVER};
    stats->tags = tags;
    return tag;
}

/* Adds a column with 0 in all rows; CNNVP_NO_COLUMN: out of memory. */
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
    links = cnnvp_grow(links, stats->link_count, sizeof *links);
    if (links == NULL) {
        stats->out_of_memory = 1;
        return UINT32_MAX;
    }
    stats->links = links;
    const int goes_on = cnnvp_instance_is_link(&stats->platform->instances[from]); /* its first link has paid for the
                                                                                    * whole distance */
    const struct cnnvp_link_end ends[] = {
        end_of(stats, from), end_of(stats, cnnvp_instance_behind(stats->platform, to))};
    struct cnnvp_link_stats *link = &links[stats->link_count];

    *link = (struct cnnvp_link_stats){
        .from = from,
        .to = to,
        .memory = cnnvp_stats_is_memory(stats->platform->instances[to].unit) &&
                  !cnnvp_instance_is_link(&stats->platform->instances[to]),
        .energy_column = CNNVP_NO_COLUMN};
    if (!goes_on)
        link->pj_byte = cnnvp_costs_link(&stats->energy, &ends[0], &ends[1], stats->chip_um2);
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
