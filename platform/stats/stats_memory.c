/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of off-chip memory: totals, and traffic by tensor. */
#include "stats_builder.h"

uint64_t cnnvp_stats_total(const struct cnnvp_stats *stats, size_t instance, const char *name)
{
    if (instance >= stats->platform->instance_count)
        return 0;

    const struct cnnvp_unit *unit = stats->platform->instances[instance].unit;

    for (uint32_t i = 0; unit != NULL && i < stats->instances[instance].stat_count; ++i)
        if (strcmp(unit->stats[i].name, name) == 0)
            return stats->instances[instance].stats[i].total;
    return 0;
}

/* The cores' share of a memory's statistic. units.dram.requesters shows it; the accelerator's totals leave it out. */
static uint64_t share_of_cores(const struct cnnvp_stats *stats, size_t memory, const char *name)
{
    const struct cnnvp_instance_stats *mine = &stats->instances[memory];
    const struct cnnvp_unit *unit = stats->platform->instances[memory].unit;
    uint64_t sum = 0;

    for (uint32_t r = 0; r < mine->requester_count; ++r) {
        const uint32_t requester = mine->requesters[r].requester;

        if (requester >= stats->platform->instance_count || !stats->instances[requester].is_core)
            continue;
        for (uint32_t s = 0; s < mine->stat_count; ++s)
            if (strcmp(unit->stats[s].name, name) == 0)
                sum += mine->requesters[r].counts[s];
    }
    return sum;
}

/* Total of a statistic over all memories, without the cores' share. */
static uint64_t memory_total(const struct cnnvp_stats *stats, const char *name)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        if (cnnvp_stats_is_memory(stats->platform->instances[i].unit))
            sum += cnnvp_stats_total(stats, i, name) - share_of_cores(stats, i, name);
    return sum;
}

static void add_tensor(struct stats_builder *b, json_t *tensors, const struct cnnvp_tensor_info *info,
                       const struct cnnvp_moved_bytes *moved)
{
    json_t *object = append_object(b, tensors);

    set_text(b, object, "name", info->name);
    set_text(b, object, "kind", info->kind);
    set_count(b, object, "least_read_bytes", info->least_read_bytes);
    set_count(b, object, "least_write_bytes", info->least_write_bytes);
    set_count(b, object, "read_bytes", moved->read);
    set_count(b, object, "write_bytes", moved->write);
    set_count(b, object, "burst_bytes", moved->burst);
}

/* The last row has the traffic of no tensor, so that the rows add up to the memory's bytes. */
void cnnvp_stats_add_tensors(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    struct cnnvp_moved_bytes rest = {
        memory_total(stats, "read_bytes"), memory_total(stats, "write_bytes"), memory_total(stats, "burst_bytes")};
    json_t *tensors = set_array(b, root, "tensors");

    for (size_t i = 0; i < stats->work.tensor_count && !b->failed; ++i) {
        add_tensor(b, tensors, &stats->work.tensors[i], &stats->moved[i]);
        rest.read -= stats->moved[i].read;
        rest.write -= stats->moved[i].write;
        rest.burst -= stats->moved[i].burst;
    }
    if (rest.read != 0 || rest.write != 0 || rest.burst != 0)
        add_tensor(b, tensors, &(struct cnnvp_tensor_info){.name = "", .kind = "other"}, &rest);
}

static void set_counts(struct stats_builder *b, json_t *object, const char *name, const uint64_t *counts, size_t count)
{
    json_t *array = set_array(b, object, name);

    for (size_t i = 0; i < count && !b->failed; ++i)
        append(b, array, json_integer((json_int_t)counts[i]));
}

static void add_over_time(struct stats_builder *b, json_t *memory)
{
    const struct cnnvp_over_time *over = &b->stats->over_time;
    json_t *object = set_object(b, memory, "over_time");

    set_count(b, object, "window_ps", over->window_ps);
    set_counts(b, object, "read_bytes", over->read_bytes, over->count);
    set_counts(b, object, "write_bytes", over->write_bytes, over->count);
}

#define OVERFETCH_SHOWN 32u

static void add_overfetch_row(struct stats_builder *b, json_t *list, const struct cnnvp_overfetch_row *row)
{
    const struct cnnvp_stats *stats = b->stats;
    const int several = row->row_bytes == 0;
    json_t *object = append_object(b, list);
    char name[24];

    set_text(b, object, "tensor", row->tensor != 0 ? stats->work.tensors[row->tensor - 1].name : "");
    set_text(b, object, "layer", row->tag != 0 ? cnnvp_stats_layer_name(stats, row->tag, name, sizeof name) : "");
    set_text(b, object, "access", several ? "" : row->op == CNNVP_READ ? "read" : "write");
    set_count(b, object, "row_bytes", row->row_bytes);
    set_count(b, object, "alignment", row->alignment);
    set_count(b, object, "rows", row->rows);
    set_count(b, object, "bytes", row->bytes);
    set_count(b, object, "burst_bytes", row->burst_bytes);
}

/* The kinds of access that waste the most bytes; the rest share the last line. */
static void add_overfetch(struct stats_builder *b, json_t *memory)
{
    const struct cnnvp_overfetch *overfetch = &b->stats->overfetch;
    const uint32_t count = overfetch->count;
    json_t *list = set_array(b, memory, "overfetch");

    if (count == 0)
        return;
    struct cnnvp_overfetch_row *rows = malloc(count * sizeof *rows);
    struct cnnvp_overfetch_row rest = overfetch->rows[CNNVP_OVERFETCH_MAX];
    if (rows == NULL) {
        b->failed = 1;
        return;
    }
    memcpy(rows, overfetch->rows, count * sizeof *rows);
    cnnvp_overfetch_sort(rows, count);
    for (uint32_t i = 0; i < count; ++i) {
        if (i < OVERFETCH_SHOWN) {
            add_overfetch_row(b, list, &rows[i]);
            continue;
        }
        rest.rows += rows[i].rows;
        rest.bytes += rows[i].bytes;
        rest.burst_bytes += rows[i].burst_bytes;
    }
    if (rest.rows != 0)
        add_overfetch_row(b, list, &rest);
    free(rows);
}

#define MICROSECOND UINT64_C(1000000) /* in ps: the window of the memory's bandwidth counter */

/* In a run shorter than a window, the window's bytes moved within the time of the run. */
static uint64_t peak_bytes_per_s(const struct cnnvp_stats *stats, uint64_t end_ps)
{
    const uint64_t peak = stats->peak[CNNVP_LIVE_BANDWIDTH];

    return end_ps != 0 && end_ps < MICROSECOND ? (uint64_t)((double)peak * (double)MICROSECOND / (double)end_ps) : peak;
}

void cnnvp_stats_add_memory(struct stats_builder *b, json_t *root)
{
    static const char *const sums[] = {
        "read_bytes", "write_bytes", "bursts", "burst_bytes", "row_hits", "row_misses", "row_conflicts", "refreshes"};
    const struct cnnvp_stats *stats = b->stats;
    json_t *object = set_object(b, root, "memory");
    double bytes = (double)(memory_total(stats, "read_bytes") + memory_total(stats, "write_bytes"));

    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; ++i)
        set_count(b, object, sums[i], memory_total(stats, sums[i]));
    set_real(b, object, "mean_read_latency_ps",
             ratio((double)memory_total(stats, "read_latency_ps"), (double)memory_total(stats, "reads")));
    set_count(b, object, "peak_bytes_per_s", peak_bytes_per_s(stats, b->end_ps));
    set_real(b, object, "mean_bytes_per_s", ratio(bytes * PICOSECONDS_PER_SECOND, (double)b->end_ps));
    add_over_time(b, object);
    add_overfetch(b, object);
}

/* Time from the first layer's begin to the last layer's end; for work without layers, the whole run. */
static uint64_t accelerator_ps(const struct cnnvp_stats *stats, uint64_t end_ps)
{
    uint64_t begin = CNNVP_TIME_NEVER;
    uint64_t end = 0;

    for (uint32_t tag = 1; tag < stats->tags; ++tag) {
        if (stats->times[tag].begin == CNNVP_TIME_NEVER)
            continue;
        begin = stats->times[tag].begin < begin ? stats->times[tag].begin : begin;
        end = stats->times[tag].end > end ? stats->times[tag].end : end;
    }
    return end > begin ? end - begin : end_ps;
}

double cnnvp_stats_bus_ps(const struct cnnvp_stats *stats, uint64_t bytes)
{
    return ratio((double)bytes * PICOSECONDS_PER_SECOND, (double)memory_total(stats, "bus_bytes_per_s"));
}

void cnnvp_stats_add_off_chip(struct stats_builder *b, json_t *summary)
{
    const struct cnnvp_stats *stats = b->stats;
    const double moved = (double)memory_total(stats, "burst_bytes");
    const double carried = (double)(memory_total(stats, "bus_read_bytes") + memory_total(stats, "bus_write_bytes"));
    const double peak = (double)memory_total(stats, "bus_bytes_per_s") * (double)accelerator_ps(stats, b->end_ps);
    const uint64_t least = stats->other_images == 0 ? stats->work.least_dram_bytes : 0; /* that of all is unknown */
    uint64_t layers = 0;

    for (size_t i = 0; i < stats->work.layer_count; ++i)
        layers += stats->work.layers[i].least_dram_bytes;
    set_real(b, summary, "bandwidth_share", ratio(carried * PICOSECONDS_PER_SECOND, peak));
    set_count(b, summary, "least_dram_bytes", least);
    set_count(b, summary, "layers_least_dram_bytes", layers > least ? layers : least);
    set_real(b, summary, "dram_excess", ratio(moved, (double)least));
}
