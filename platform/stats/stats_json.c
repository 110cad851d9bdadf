/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.json, schema cnnvp-stats/2. Members have a fixed order: that of the schema, then that of the instances in the
 * platform file and of the units' tables. Numbers are integers; the few real numbers have 15 significant digits. Real
 * numbers are summed in the order of the instances.
 */
#include "stats_builder.h"

#include <stdlib.h>

#include "build.h"

#define SCHEMA "cnnvp-stats/2"
#define PICOSECONDS_PER_MICROSECOND 1e6

/* ---- reading the sums ---- */

static const uint64_t *row(const struct cnnvp_stats *stats, uint32_t tag)
{
    return stats->rows + (size_t)tag * stats->columns;
}

/* True for tags, from 1, that get a line: described layers, and others with counts. */
static int has_line(const struct cnnvp_stats *stats, uint32_t tag)
{
    const uint64_t *sums = row(stats, tag);

    if (tag - 1 < stats->work.layer_count || stats->times[tag].begin != CNNVP_TIME_NEVER)
        return 1;
    for (uint32_t i = 0; i < CNNVP_LAYER_COLUMNS; ++i)
        if (sums[i])
            return 1;
    return 0;
}

/* MACs that units have counted for the layer; if no unit counts them, those of the description. */
static uint64_t layer_macs(const struct cnnvp_stats *stats, uint32_t tag)
{
    if (row(stats, tag)[CNNVP_COLUMN_MACS] != 0)
        return row(stats, tag)[CNNVP_COLUMN_MACS];
    if (tag - 1 >= stats->work.layer_count) {
        const struct cnnvp_layer_info *said = cnnvp_said_find(&stats->said, tag);
        return said != NULL ? said->macs : 0;
    }

    const uint64_t images = stats->work.layer_images[tag - 1];
    const uint64_t complete = images == stats->work.images ? cnnvp_stats_images(stats) : images;

    return stats->work.layers[tag - 1].macs * complete;
}

/* PEs of the array: as planned, or the array's multipliers for work without a plan. */
static uint64_t array_pes(const struct cnnvp_stats *stats)
{
    const size_t array = cnnvp_stats_find(stats, "pe_array");
    if (stats->work.pes != 0 || array >= stats->platform->instance_count)
        return stats->work.pes;
    return stats->instances[array].costs.multipliers;
}

/* Accelerator cycles that one PE takes for these MACs. */
static uint64_t layer_pe_cycles(const struct cnnvp_stats *stats, uint32_t tag)
{
    return row(stats, tag)[CNNVP_COLUMN_MACS] != 0 ? row(stats, tag)[CNNVP_COLUMN_PE_CYCLES] : layer_macs(stats, tag);
}

/* PEs of the unit that runs the layer. */
static uint64_t layer_pes(const struct cnnvp_stats *stats, uint32_t tag)
{
    return tag <= stats->work.layer_count ? stats->work.layers[tag - 1].pes : array_pes(stats);
}

/* Energy is summed in whole femtojoules, rounded for each statistic of a unit in a layer. Sums over units and over
 * layers are therefore equal to the last digit. */
#define FEMTOJOULES 1000.0

static double picojoules(uint64_t femtojoules)
{
    return (double)femtojoules / FEMTOJOULES;
}

/* Energy of `n` counts, in fJ. */
static uint64_t energy_of(uint64_t n, const struct cnnvp_range *each, struct cnnvp_range *range)
{
    range->low += (double)n * each->low;
    range->high += (double)n * each->high;
    return (uint64_t)floor((double)n * each->typical * FEMTOJOULES + 0.5);
}

/* Energy of a link for a tag, in fJ. */
static uint64_t link_energy(const struct cnnvp_stats *stats, uint32_t number, uint32_t tag, struct cnnvp_range *range)
{
    const struct cnnvp_link_stats *link = &stats->links[number];

    if (link->energy_column == CNNVP_NO_COLUMN)
        return 0;
    return energy_of(stats->energy_rows[(size_t)tag * stats->energy_columns + link->energy_column], &link->pj_byte,
                     range);
}

/* Energy of a statistic for a tag, in fJ. */
static uint64_t stat_energy(const struct cnnvp_stats *stats, size_t instance, uint32_t stat, uint32_t tag,
                            struct cnnvp_range *range)
{
    const struct cnnvp_instance_stats *mine = &stats->instances[instance];
    const uint32_t column = mine->stats[stat].energy_column;

    if (column == CNNVP_NO_COLUMN)
        return 0;
    const struct cnnvp_range each =
        cnnvp_costs_energy(&stats->energy, &stats->platform->instances[instance], &mine->costs, stat);
    return energy_of(stats->energy_rows[(size_t)tag * stats->energy_columns + column], &each, range);
}

/* Energy of an instance for a tag, in fJ: of its counts, and of the bytes on the links that it drives. */
static uint64_t dynamic_energy(const struct cnnvp_stats *stats, size_t instance, uint32_t tag,
                               struct cnnvp_range *range)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < stats->instances[instance].stat_count; ++s)
        if (!cnnvp_costs_is_time(&stats->platform->instances[instance], s))
            sum += stat_energy(stats, instance, s, tag, range);
    for (uint32_t i = 0; i < stats->link_count; ++i)
        if (stats->links[i].from == instance)
            sum += link_energy(stats, i, tag, range);
    return sum;
}

/* End of all counted work: commands under way at the end of the run are counted in full. */
static uint64_t counted_until(const struct cnnvp_stats *stats, uint64_t end_ps)
{
    for (uint32_t tag = 0; tag < stats->tags; ++tag)
        end_ps = stats->times[tag].end > end_ps ? stats->times[tag].end : end_ps;
    return end_ps;
}

/* Static energy of an instance in fJ; one milliwatt is one fJ per ps. */
static uint64_t static_energy(const struct cnnvp_stats *stats, size_t instance, double ps)
{
    return (uint64_t)floor(stats->instances[instance].costs.milliwatts.typical * ps);
}

/* Time of a layer's cycles. Each of several accelerators counts its own cycles, which run at the same time. */
static double layer_ps(const struct cnnvp_stats *stats, uint32_t tag)
{
    return stats->accel_mhz != 0
               ? (double)cnnvp_stats_row_cycles(row(stats, tag)) * PICOSECONDS_PER_MICROSECOND /
                     ((double)stats->accel_mhz * cnnvp_stats_accelerators(stats))
               : 0;
}

static uint64_t static_energy_of_layer(const struct cnnvp_stats *stats, uint32_t tag)
{
    const double ps = layer_ps(stats, tag);
    uint64_t sum = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        sum += static_energy(stats, i, ps);
    return sum;
}

static uint64_t dynamic_energy_of_layer(const struct cnnvp_stats *stats, uint32_t tag)
{
    struct cnnvp_range range = {0, 0, 0};
    uint64_t sum = 0;

    for (size_t i = 0; i < stats->platform->instance_count; ++i)
        sum += dynamic_energy(stats, i, tag, &range);
    return sum;
}

double cnnvp_stats_layer_energy(const struct cnnvp_stats *stats, uint32_t tag)
{
    return picojoules(static_energy_of_layer(stats, tag) + dynamic_energy_of_layer(stats, tag));
}

/* How busy PEs are in these cycles of theirs. Work beside that of other layers, whose cycles those are, has fewer than
 * it takes. */
static double share(double busy, double all)
{
    return busy < all ? busy / all : all > 0;
}

/* ---- members of the file ---- */

static void add_network(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_work_info *work = &b->stats->work;
    char hash[24];
    uint64_t macs = 0;

    if (work->network == NULL)
        return;

    json_t *object = set_object(b, root, "network");

    for (size_t i = 0; i < work->layer_count; ++i)
        if (strcmp(work->layers[i].phase, "forward") == 0)
            macs += work->layers[i].macs;
    snprintf(hash, sizeof hash, "%016" PRIx64, work->network_hash);
    set_text(b, object, "name", work->network);
    set_text(b, object, "xxh3", hash);
    set_count(b, object, "macs", macs);
}

static void add_total(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *object = set_object(b, root, "total");
    /* cycles without a layer count as idle */
    uint64_t idle = cnnvp_stats_idle_cycles(stats) + cnnvp_stats_row_cycles(row(stats, 0));
    uint64_t cycles = 0;
    uint64_t macs = row(stats, 0)[CNNVP_COLUMN_MACS];

    for (uint32_t tag = 1; tag < stats->tags; ++tag) {
        cycles += cnnvp_stats_row_cycles(row(stats, tag));
        macs += layer_macs(stats, tag);
    }
    set_count(b, object, "time_ps", b->end_ps);
    set_count(b, object, "accel_cycles", cycles + idle);
    set_count(b, object, "idle_cycles", idle);
    set_count(b, object, "guest_instructions",
              cnnvp_stats_total(stats, cnnvp_stats_find(stats, "cpu"), "instructions"));
    set_count(b, object, "accel_instructions", cnnvp_stats_elements_total(stats, "instructions"));
    set_count(b, object, "macs", macs);
    set_count(b, object, "images", cnnvp_stats_all_images(stats));
    set_real(b, object, "images_per_s",
             ratio((double)cnnvp_stats_all_images(stats) * PICOSECONDS_PER_SECOND, (double)b->end_ps));
}

/* For each unit with any energy: its work for the layer, and its static power during the layer's cycles. */
static void add_layer_energy(struct stats_builder *b, json_t *layer, uint32_t tag)
{
    const struct cnnvp_resolved *platform = b->stats->platform;
    const double ps = layer_ps(b->stats, tag);
    json_t *units = set_object(b, layer, "energy_by_unit");

    for (size_t i = 0; i < platform->instance_count; ++i) {
        struct cnnvp_range range = {0, 0, 0};
        const uint64_t sum = static_energy(b->stats, i, ps) + dynamic_energy(b->stats, i, tag, &range);

        if (sum)
            set_real(b, units, platform->instances[i].name, picojoules(sum));
    }
}

static void add_layer(struct stats_builder *b, json_t *layers, uint32_t tag)
{
    const struct cnnvp_stats *stats = b->stats;
    const struct cnnvp_layer_info *info = cnnvp_stats_layer(stats, tag);
    const uint64_t *sums = row(stats, tag);
    const struct cnnvp_layer_times *times = &stats->times[tag];
    json_t *object = append_object(b, layers);
    char name[24];

    set_count(b, object, "index", tag - 1);
    set_text(b, object, "name", cnnvp_stats_layer_name(stats, tag, name, sizeof name));
    set_text(b, object, "op", info != NULL ? info->op : "");
    set_text(b, object, "phase", info != NULL ? info->phase : "forward");
    set_count(b, object, "macs", layer_macs(stats, tag));
    set_count(b, object, "pes", layer_pes(stats, tag));
    set_count(b, object, "start_ps", times->begin == CNNVP_TIME_NEVER ? 0 : times->begin);
    set_count(b, object, "end_ps", times->end);
    set_count(b, object, "cycles", cnnvp_stats_row_cycles(sums));
    set_count(b, object, "compute_cycles", sums[CNNVP_COLUMN_COMPUTE]);

    json_t *stalls = set_object(b, object, "stall_cycles");

#define CNNVP_STALL(cause, bound, help) set_count(b, stalls, #cause, sums[CNNVP_COLUMN_STALL_##cause]);
#include "stats.def"
    const double pes = (double)layer_pes(stats, tag);
    const double busy = (double)layer_pe_cycles(stats, tag);

    set_real(b, object, "utilization", share(busy, (double)cnnvp_stats_row_cycles(sums) * pes));
    set_real(b, object, "compute_utilization", ratio(busy, (double)sums[CNNVP_COLUMN_COMPUTE] * pes));
#define CNNVP_QUANTITY(name, help) set_count(b, object, #name, sums[CNNVP_COLUMN_##name]);
#include "stats.def"
    const uint64_t least = info != NULL ? info->least_dram_bytes : 0;
    const double cycles = (double)cnnvp_stats_row_cycles(sums);
    const double alone_ps = layer_ps(stats, tag) * cnnvp_stats_accelerators(stats); /* of these cycles in sequence */
    const double moving = ratio(cnnvp_stats_bus_ps(stats, least) * cycles, alone_ps);
    const double calculating = ratio(busy, pes);
    set_count(b, object, "least_dram_bytes", least);
    set_count(b, object, "least_cycles", (uint64_t)(calculating > moving ? calculating : moving));
    struct cnnvp_bounds bounds = {0};
    cnnvp_bounds_add(&bounds, sums, layer_pe_cycles(stats, tag), layer_pes(stats, tag));
    set_text(b, object, "bound_by", cnnvp_bounds_largest(&bounds));
    if (info != NULL && stats->work.better_units != NULL && stats->work.better_units[tag - 1] != NULL)
        set_text(b, object, "better_unit", stats->work.better_units[tag - 1]);
    cnnvp_stats_add_layer_path(b, object, tag);
    const uint64_t standing = static_energy_of_layer(stats, tag);
    set_real(b, object, "energy_pj", cnnvp_stats_layer_energy(stats, tag));
    set_real(b, object, "static_pj", picojoules(standing));
    add_layer_energy(b, object, tag);
}

static void add_layers(struct stats_builder *b, json_t *root)
{
    json_t *layers = set_array(b, root, "layers");

    for (uint32_t tag = 1; tag < b->stats->tags && !b->failed; ++tag)
        if (has_line(b->stats, tag))
            add_layer(b, layers, tag);
}

/* Shares of a memory's requesters, by name; only statistics that at least one of them has. */
static void add_requesters(struct stats_builder *b, json_t *unit, const struct cnnvp_instance_stats *stats,
                           const struct cnnvp_instance *instance)
{
    const struct cnnvp_resolved *platform = b->stats->platform;
    json_t *requesters;

    if (!stats->requester_count)
        return;
    requesters = set_object(b, unit, "requesters");
    for (uint32_t number = 0; number < platform->instance_count; ++number) {
        for (uint32_t r = 0; r < stats->requester_count; ++r) {
            json_t *object;

            if (stats->requesters[r].requester != number)
                continue;
            object = set_object(b, requesters, platform->instances[number].name);
            for (uint32_t s = 0; s < stats->stat_count; ++s) {
                uint64_t any = 0;

                for (uint32_t other = 0; other < stats->requester_count; ++other)
                    any |= stats->requesters[other].counts[s];
                if (any)
                    set_count(b, object, instance->unit->stats[s].name, stats->requesters[r].counts[s]);
            }
        }
    }
}

static void add_units(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *units = set_object(b, root, "units");

    for (size_t i = 0; i < stats->platform->instance_count; ++i) {
        const struct cnnvp_instance *instance = &stats->platform->instances[i];
        json_t *object = set_object(b, units, instance->name);

        for (uint32_t s = 0; s < stats->instances[i].stat_count; ++s) {
            const struct cnnvp_stat_slot *slot = &stats->instances[i].stats[s];

            if (slot->column == CNNVP_NO_COLUMN || slot->column < CNNVP_LAYER_COLUMNS)
                set_count(b, object, instance->unit->stats[s].name, slot->total);
        }
        add_requesters(b, object, &stats->instances[i], instance);
    }
}

static void add_links(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *links = set_array(b, root, "links");

    for (uint32_t i = 0; i < stats->link_count && !b->failed; ++i) {
        const struct cnnvp_link_stats *link = &stats->links[i];
        json_t *object = append_object(b, links);
        struct cnnvp_range range = {0, 0, 0};
        uint64_t energy = 0;

        for (uint32_t tag = 0; tag < stats->tags; ++tag)
            energy += link_energy(stats, i, tag, &range);
        set_text(b, object, "from", stats->platform->instances[link->from].name);
        set_text(b, object, "to", stats->platform->instances[link->to].name);
        set_count(b, object, "read_bytes", link->read_bytes);
        set_count(b, object, "write_bytes", link->write_bytes);
        set_count(b, object, "transactions", link->transactions);
        set_real(b, object, "energy_pj", picojoules(energy));
    }
}

/* The program's reports. */
static void add_program(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_said *said = &b->stats->said;
    json_t *reported = set_object(b, set_object(b, root, "program"), "reported");
    for (uint32_t i = 0; i < said->value_count; ++i)
        set(b, reported, said->values[i].name, json_integer(said->values[i].value));
}

static void add_storage(struct stats_builder *b, json_t *root)
{
    json_t *object = set_object(b, root, "storage");

    set_count(b, object, "peak_feature_words", b->stats->peak[CNNVP_LIVE_WORDS]);
    set_count(b, object, "peak_feature_bytes", b->stats->peak[CNNVP_LIVE_BYTES]);
}

/* Energy of an instance's time in states, which belongs to no layer, in fJ. */
static uint64_t add_states(struct stats_builder *b, json_t *states, size_t instance, struct cnnvp_range *range)
{
    const struct cnnvp_instance *of = &b->stats->platform->instances[instance];
    uint64_t sum = 0;

    for (uint32_t s = 0; s < b->stats->instances[instance].stat_count; ++s) {
        const uint64_t each = cnnvp_costs_is_time(of, s) ? stat_energy(b->stats, instance, s, 0, range) : 0;
        if (each != 0)
            set_real(b, states, of->unit->stats[s].name, picojoules(each));
        sum += each;
    }
    return sum;
}

static void add_energy(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *object = set_object(b, root, "energy");
    json_t *units = json_object();
    json_t *unknown = json_array();
    struct cnnvp_range range = {0, 0, 0};
    uint64_t dynamic_sum = 0, static_sum = 0, of_layers = 0;
    const double ps = (double)counted_until(stats, b->end_ps);

    for (size_t i = 0; i < stats->platform->instance_count; ++i) {
        const struct cnnvp_instance_costs *costs = &stats->instances[i].costs;
        const char *name = stats->platform->instances[i].name;
        json_t *states = json_object();
        const uint64_t standing = static_energy(stats, i, ps) + add_states(b, states, i, &range);
        uint64_t moving = 0;

        for (uint32_t tag = 0; tag < stats->tags; ++tag)
            moving += dynamic_energy(stats, i, tag, &range);
        range.low += costs->milliwatts.low * ps / FEMTOJOULES;
        range.high += costs->milliwatts.high * ps / FEMTOJOULES;
        dynamic_sum += moving;
        static_sum += standing;
        if (cnnvp_costs_unknown(&stats->platform->instances[i], costs)) {
            append(b, unknown, json_string(name));
        } else if (stats->platform->instances[i].unit != NULL) {
            json_t *unit = set_object(b, units, name);
            set_real(b, unit, "dynamic_pj", picojoules(moving));
            set_real(b, unit, "static_pj", picojoules(standing));
            if (json_object_size(states) != 0)
                set(b, unit, "states_pj", json_incref(states));
        }
        json_decref(states);
    }
    for (uint32_t tag = 1; tag < stats->tags; ++tag)
        of_layers += dynamic_energy_of_layer(stats, tag) + static_energy_of_layer(stats, tag);
    set_text(b, object, "table", stats->energy.name);
    set_text(b, object, "technology", cnnvp_technology_of(&stats->energy)->name);
    set_real(b, object, "total_pj", picojoules(dynamic_sum + static_sum));
    set_real(b, object, "dynamic_pj", picojoules(dynamic_sum));
    set_real(b, object, "static_pj", picojoules(static_sum));
    set_real(b, object, "low_pj", range.low);
    set_real(b, object, "high_pj", range.high);
    set_real(b, object, "no_layer_pj", ((double)(dynamic_sum + static_sum) - (double)of_layers) / FEMTOJOULES);
    set(b, object, "by_unit", units);
    set(b, object, "unknown", unknown);
}

/* Area on chip; off-chip memories have none. */
static void add_area(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *object = set_object(b, root, "area");
    json_t *units = json_object();
    json_t *unknown = json_array();
    struct cnnvp_range sum = {0, 0, 0};

    for (size_t i = 0; i < stats->platform->instance_count; ++i) {
        const struct cnnvp_instance_costs *costs = &stats->instances[i].costs;
        const char *name = stats->platform->instances[i].name;

        if (costs->has_area)
            set_real(b, units, name, costs->area_um2.typical);
        else if (!costs->known && stats->platform->instances[i].unit != NULL &&
                 !cnnvp_stats_is_memory(stats->platform->instances[i].unit))
            append(b, unknown, json_string(name));
        sum.low += costs->area_um2.low;
        sum.typical += costs->area_um2.typical;
        sum.high += costs->area_um2.high;
    }
    set_text(b, object, "technology", cnnvp_technology_of(&stats->energy)->name);
    set_real(b, object, "total_um2", sum.typical);
    set_real(b, object, "low_um2", sum.low);
    set_real(b, object, "high_um2", sum.high);
    set(b, object, "by_unit", units);
    set(b, object, "unknown", unknown);
}

static void add_summary(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    const json_t *totals = json_object_get(root, "total");
    const double cycles = json_number_value(json_object_get(totals, "accel_cycles"));
    const double macs = json_number_value(json_object_get(totals, "macs"));
    const double energy = json_number_value(json_object_get(json_object_get(root, "energy"), "total_pj"));
    json_t *object = set_object(b, root, "summary");
    struct cnnvp_bounds bounds = {0};
    double peak = cycles * (double)array_pes(stats); /* cycles of all PEs */
    double busy = (double)row(stats, 0)[CNNVP_COLUMN_PE_CYCLES];

    for (uint32_t tag = 1; tag < stats->tags; ++tag) {
        busy += (double)layer_pe_cycles(stats, tag);
        cnnvp_bounds_add(&bounds, row(stats, tag), layer_pe_cycles(stats, tag), layer_pes(stats, tag));
        peak += (double)cnnvp_stats_row_cycles(row(stats, tag)) *
                ((double)layer_pes(stats, tag) - (double)array_pes(stats));
    }
    set_real(b, object, "peak_share", ratio(busy, peak));
    cnnvp_stats_add_off_chip(b, object);
    set_real(b, object, "energy_per_image_pj", ratio(energy, (double)cnnvp_stats_all_images(stats)));
    set_real(b, object, "tops_per_watt", ratio(2.0 * macs, energy));
    set_text(b, object, "bound_by", cnnvp_bounds_largest(&bounds));
    cnnvp_stats_add_path(b, object);
    json_t *shares = set_object(b, object, "bound_shares");
#define CNNVP_BOUND(name, help) set_real(b, shares, #name, ratio((double)bounds.name, cycles));
#include "stats.def"
}

/* Layers with the same name (the phases of a layer) share a member. */
static void add_values(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *values = set_object(b, root, "values");

    if (stats->work.block != 0) {
        json_t *object = set_object(b, values, "block_padding");

        set_real(b, object, "max_difference", stats->work.block_difference);
        set_real(b, object, "max_magnitude", stats->work.block_magnitude);
    }

    for (uint32_t column = CNNVP_LAYER_COLUMNS; column < stats->columns; ++column) {
        json_t *object = set_object(b, values, stats->value_names[column - CNNVP_LAYER_COLUMNS]);

        for (uint32_t tag = 1; tag < stats->tags; ++tag) {
            char buffer[24];
            json_t *name;
            uint64_t before;

            if (!has_line(stats, tag))
                continue;
            name = text_value(cnnvp_stats_layer_name(stats, tag, buffer, sizeof buffer));
            if (name == NULL) {
                b->failed = 1;
                return;
            }
            before = (uint64_t)json_integer_value(json_object_get(object, json_string_value(name)));
            set_count(b, object, json_string_value(name), before + row(stats, tag)[column]);
            json_decref(name);
        }
    }
}

static void add_build(struct stats_builder *b, json_t *root)
{
    CNNVP_FREED char *text = cnnvp_build_text(b->stats->platform, b->stats->program);
    set_text(b, root, "build", text);
    b->failed |= text == NULL;
}

cnnvp_result cnnvp_stats_json(const struct cnnvp_stats *stats, uint64_t end_ps, double wall_seconds, char **json)
{
    struct stats_builder b = {stats, end_ps, stats->out_of_memory};
    json_t *root = json_object();

    *json = NULL;
    set_text(&b, root, "schema", SCHEMA);
    set_text(&b, root, "cnnvp", CNNVP_VERSION);
    add_build(&b, root);
    set_text(&b, root, "command", stats->described ? stats->work.command : "exec");
    set_count(&b, root, "seed", stats->work.seed);
    set_real(&b, root, "wall_seconds", wall_seconds);
    if (stats->partial)
        set(&b, root, "partial", json_true());
    json_t *options = stats->work.option_count != 0 ? set_object(&b, root, "options") : NULL;
    for (size_t i = 0; options != NULL && i < stats->work.option_count; ++i)
        set_text(&b, options, stats->work.options[i].name, stats->work.options[i].value);
    cnnvp_stats_add_platform(&b, root);
    add_network(&b, root);
    cnnvp_stats_add_schedule(&b, root);
    add_total(&b, root);
    add_layers(&b, root);
    cnnvp_stats_add_accelerators(&b, root);
    cnnvp_stats_add_tensors(&b, root);
    add_units(&b, root);
    add_links(&b, root);
    cnnvp_stats_add_memory(&b, root);
    if (stats->said.value_count)
        add_program(&b, root);
    add_storage(&b, root);
    add_energy(&b, root);
    add_area(&b, root);
    add_summary(&b, root);
    if (!stats->timing_only)
        add_values(&b, root);
    if (!b.failed)
        *json = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    return *json != NULL ? CNNVP_DONE : CNNVP_FAILED;
}
