/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulation of statistics: totals of instances, sums by layer, links, live values. */
#pragma once

#include "base.h"
#include "config.h"
#include "costs.h"
#include "energy.h"
#include "over_time.h"
#include "overfetch.h"
#include "path.h"
#include "said.h"

/* Columns of a layer's row, followed by one column for each name under "values.". */
enum cnnvp_layer_column {
    CNNVP_COLUMN_COMPUTE,
#define CNNVP_STALL(cause, bound, help) CNNVP_COLUMN_STALL_##cause,
#include "stats.def"
    CNNVP_CYCLE_COLUMNS, /* the columns before it are cycles */
    CNNVP_COLUMN_LAST_STALL = CNNVP_CYCLE_COLUMNS - 1,
    CNNVP_COLUMN_MACS,
    CNNVP_COLUMN_PE_CYCLES, /* accelerator cycles that one PE of the units that did these MACs takes for them */
#define CNNVP_QUANTITY(name, help) CNNVP_COLUMN_##name,
#include "stats.def"
    CNNVP_LAYER_COLUMNS
};

#define CNNVP_NO_COLUMN UINT32_MAX

struct cnnvp_stat_slot {
    uint64_t total;
    uint32_t column;        /* CNNVP_NO_COLUMN: not counted by layer */
    uint32_t energy_column; /* column of energy_rows; CNNVP_NO_COLUMN: none */
    uint64_t own_mhz;       /* of cycles and MACs: the unit's clock, if it is not the accelerator's; otherwise 0 */
    uint64_t rest;          /* remainder of their conversion, in 1 / own_mhz accelerator cycles */
};

/* Counters whose peak sum over all instances is reported. */
enum cnnvp_live { CNNVP_LIVE_WORDS, CNNVP_LIVE_BYTES, CNNVP_LIVE_BANDWIDTH, CNNVP_LIVE_COUNT };

struct cnnvp_counter_slot {
    uint64_t value;
    enum cnnvp_live live; /* CNNVP_LIVE_COUNT: not reported */
};

/* Counts of a memory for one requester. */
struct cnnvp_requester_stats {
    uint32_t requester;
    uint64_t *counts; /* one for each statistic */
};

struct cnnvp_instance_stats {
    struct cnnvp_instance_costs costs;
    struct cnnvp_stat_slot *stats;
    struct cnnvp_counter_slot *counters;
    uint32_t stat_count;
    uint32_t counter_count;
    int is_core;
    struct cnnvp_requester_stats *requesters; /* in order of their first count */
    uint32_t requester_count;
};

struct cnnvp_layer_times {
    cnnvp_time begin; /* CNNVP_TIME_NEVER: no span yet */
    cnnvp_time end;
    int begun; /* has had a span since the last reset */
};

struct cnnvp_link_stats {
    uint32_t from;
    uint32_t to;
    uint64_t read_bytes;
    uint64_t write_bytes;
    uint64_t transactions;
    int memory; /* 1: leads to a memory */
    struct cnnvp_range pj_byte;
    uint32_t energy_column; /* column of the link's bytes in energy_rows; CNNVP_NO_COLUMN: they cost nothing */
};

/* Bytes that cross a link from `begin` to `end`. A flow other than 0 assigns them to the initiator's span of that flow
 * instead. */
struct cnnvp_link_bytes {
    uint64_t flow; /* 0: none */
    uint32_t tag;  /* layer of the work */
    cnnvp_time begin;
    cnnvp_time end;
    uint64_t read;
    uint64_t write;
    uint32_t initiator; /* instance that made the first access; CNNVP_NO_INSTANCE: none in the platform, or unknown */
};

struct cnnvp_moved_bytes {
    uint64_t read;
    uint64_t write;
    uint64_t burst;
};

struct cnnvp_stats {
    const struct cnnvp_resolved *platform;
    struct cnnvp_instance_stats *instances;
    uint64_t accel_mhz;    /* clock of accelerator cycles; 0: no instance counts compute cycles */
    uint64_t *rows;        /* tags x columns */
    uint64_t *energy_rows; /* tags x energy_columns: counts of the statistics and links that cost energy */
    uint32_t energy_columns;
    struct cnnvp_layer_times *times;
    uint64_t *path;       /* picoseconds of the critical path, path_tags x instances; NULL: unknown */
    uint64_t *path_gains; /* by instance: picoseconds saved if it were twice as fast; NULL: unknown */
    uint32_t path_tags;
    uint32_t tags; /* number of rows, 1 or more */
    uint32_t columns;
    const char **value_names; /* columns - CNNVP_LAYER_COLUMNS */
    uint64_t live[CNNVP_LIVE_COUNT];
    uint64_t peak[CNNVP_LIVE_COUNT];
    struct cnnvp_link_stats *links;
    uint32_t link_count;
    struct cnnvp_moved_bytes *moved; /* by tensor of the work */
    struct cnnvp_overfetch overfetch;
    struct cnnvp_over_time over_time; /* bytes of the links to memories */
    struct cnnvp_energy_table energy;
    double chip_um2; /* area of all instances except the core */
    struct cnnvp_work_info work;
    struct cnnvp_arena work_memory; /* everything that `work` points to, and `moved` */
    int continues;                  /* 1: `work` includes `done`, of the same network before the last reset */
    struct cnnvp_work_info done;
    struct cnnvp_arena done_memory;
    uint64_t done_images;   /* the complete ones of `done` */
    uint64_t output_before; /* bytes of the first output that had been written when the work was described */
    struct cnnvp_said said;
    uint64_t program; /* hash of the program on the core; 0: none */
    uint64_t ran;     /* that of the last run */
    int described;
    int was_reset;         /* since the last description */
    int has_left;          /* 1: the last description is of another network, whose layers are not those of before */
    uint64_t other_images; /* complete images of such networks */
    int timing_only;
    int partial;       /* 1: the run did not reach its end; stats.json then has the member "partial": true */
    int out_of_memory; /* 1: something was not counted, so there are no statistics */
};

/* Refuses tables that name an unknown layer member or energy entry. */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_init(struct cnnvp_stats *stats, const struct cnnvp_resolved *platform,
                                             int timing_only, struct cnnvp_error *error);
void cnnvp_stats_fini(struct cnnvp_stats *stats);

/* The platform has been reset. */
void cnnvp_stats_note_reset(struct cnnvp_stats *stats);
/* A run begins. Returns 1 if the layers of before are not those of its program, which is another one after a reset
 * and which nothing describes. */
int cnnvp_stats_note_run(struct cnnvp_stats *stats);
/* The first output of the described work that is written to memory; the number of tensors if there is none. */
size_t cnnvp_stats_first_output(const struct cnnvp_stats *stats);

/* Replaces an earlier description. The same network's work before a reset is added, in each description from then
 * on. Another network's work becomes work of no layer. */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_describe(struct cnnvp_stats *stats, const struct cnnvp_work_info *work);

/* Number of complete images: all if the run is complete, otherwise those whose outputs are all in memory. Training
 * describes the work again after each step. */
uint64_t cnnvp_stats_images(const struct cnnvp_stats *stats);
/* With those of other networks before a reset. */
static inline uint64_t cnnvp_stats_all_images(const struct cnnvp_stats *stats)
{
    return cnnvp_stats_images(stats) + stats->other_images;
}

/* Adds rows up to `tag`. Returns the tag whose row is to be used: 0 if out of memory. */
uint32_t cnnvp_stats_grow(struct cnnvp_stats *stats, uint32_t tag);

/* True if other units can access the unit's memory. */
CNNVP_MUST_USE int cnnvp_stats_is_memory(const struct cnnvp_unit *unit);

/* Number of the link between two instances, created on first use; UINT32_MAX: out of memory. */
uint32_t cnnvp_stats_link(struct cnnvp_stats *stats, uint32_t from, uint32_t to);

/* The place that contains an address; NULL: unknown. */
const struct cnnvp_place_info *cnnvp_stats_place_at(const struct cnnvp_stats *stats, uint64_t address);

/* Adds a memory request that moved `burst_bytes` in whole bursts to the tensor at its address. */
void cnnvp_stats_moved(struct cnnvp_stats *stats, const struct cnnvp_request *request, uint64_t burst_bytes);

/* Description of the layer with tag 1 or more; NULL: unknown. */
const struct cnnvp_layer_info *cnnvp_stats_layer(const struct cnnvp_stats *stats, uint32_t tag);
/* Name of the layer: as described, otherwise made from its number in `buffer`. */
const char *cnnvp_stats_layer_name(const struct cnnvp_stats *stats, uint32_t tag, char *buffer, size_t size);

/* Accelerator cycles in so many cycles of an instance. The accelerator's clock is that of the first instance that
 * counts compute cycles. */
uint64_t cnnvp_stats_accel_cycles(const struct cnnvp_stats *stats, size_t instance, uint64_t cycles);

static inline uint64_t cnnvp_stats_turn_cycles(const struct cnnvp_stats *stats, struct cnnvp_stat_slot *slot,
                                               uint64_t n)
{
    const uint64_t parts = n * stats->accel_mhz + slot->rest;

    slot->rest = parts % slot->own_mhz;
    return parts / slot->own_mhz;
}

static inline void cnnvp_stats_count(struct cnnvp_stats *stats, uint32_t instance, uint32_t stat, uint32_t tag,
                                     uint64_t n)
{
    if (instance >= stats->platform->instance_count || stat >= stats->instances[instance].stat_count)
        return;

    struct cnnvp_stat_slot *slot = &stats->instances[instance].stats[stat];

    slot->total += n;
    if (slot->column != CNNVP_NO_COLUMN) {
        if (tag >= stats->tags)
            tag = cnnvp_stats_grow(stats, tag);
        uint64_t *const row = &stats->rows[(size_t)tag * stats->columns];
        const uint64_t cycles = slot->own_mhz == 0 ? n : cnnvp_stats_turn_cycles(stats, slot, n);
        if (slot->column == CNNVP_COLUMN_MACS) {
            row[CNNVP_COLUMN_MACS] += n;
            row[CNNVP_COLUMN_PE_CYCLES] += cycles;
        } else {
            row[slot->column] += cycles;
        }
    }
    if (slot->energy_column != CNNVP_NO_COLUMN) {
        if (tag >= stats->tags)
            tag = cnnvp_stats_grow(stats, tag);
        stats->energy_rows[(size_t)tag * stats->energy_columns + slot->energy_column] += n;
    }
}

/* True if layers[] counts the statistic among a layer's cycles: compute_cycles or a stall. */
static inline int cnnvp_stats_counts_cycles(const struct cnnvp_stats *stats, uint32_t instance, uint32_t stat)
{
    return stats->instances[instance].stats[stat].column < CNNVP_CYCLE_COLUMNS;
}

/* Compute and stall cycles of a layer's row. */
uint64_t cnnvp_stats_row_cycles(const uint64_t *sums);

/* Picojoules of the layer with this tag. */
double cnnvp_stats_layer_energy(const struct cnnvp_stats *stats, uint32_t tag);

/* Assigns a share of a count to a requester; does not change the total. */
void cnnvp_stats_count_for(struct cnnvp_stats *stats, uint32_t instance, uint32_t stat, uint32_t requester, uint64_t n);

static inline void cnnvp_stats_span(struct cnnvp_stats *stats, uint32_t tag, cnnvp_time begin, cnnvp_time end)
{
    if (tag >= stats->tags)
        tag = cnnvp_stats_grow(stats, tag);

    struct cnnvp_layer_times *times = &stats->times[tag];

    if (begin < times->begin)
        times->begin = begin;
    if (end > times->end)
        times->end = end;
}

static inline void cnnvp_stats_counter(struct cnnvp_stats *stats, uint32_t instance, uint32_t counter, uint64_t value)
{
    if (instance >= stats->platform->instance_count || counter >= stats->instances[instance].counter_count)
        return;

    struct cnnvp_counter_slot *slot = &stats->instances[instance].counters[counter];

    if (slot->live != CNNVP_LIVE_COUNT) {
        uint64_t sum = stats->live[slot->live] + value - slot->value;

        stats->live[slot->live] = sum;
        if (sum > stats->peak[slot->live])
            stats->peak[slot->live] = sum;
    }
    slot->value = value;
}

/* Counts a link's bytes for its energy. In contrast to cnnvp_stats_transfer this includes the core's own accesses. */
static inline void cnnvp_stats_cross(struct cnnvp_stats *stats, uint32_t link, const struct cnnvp_link_bytes *bytes)
{
    if (link >= stats->link_count || stats->links[link].energy_column == CNNVP_NO_COLUMN)
        return;
    const uint32_t tag = bytes->tag < stats->tags ? bytes->tag : cnnvp_stats_grow(stats, bytes->tag);
    stats->energy_rows[(size_t)tag * stats->energy_columns + stats->links[link].energy_column] +=
        bytes->read + bytes->write;
}

static inline void cnnvp_stats_transfer(struct cnnvp_stats *stats, uint32_t link, const struct cnnvp_link_bytes *bytes)
{
    if (link >= stats->link_count)
        return;
    stats->links[link].read_bytes += bytes->read;
    stats->links[link].write_bytes += bytes->write;
    ++stats->links[link].transactions;
    if (stats->links[link].memory)
        cnnvp_over_time_add(&stats->over_time, bytes->begin, bytes->end, bytes->read, bytes->write);
}

/* See cnnvp_recorder_set_path. (stats_path.c) */
void cnnvp_stats_set_path(struct cnnvp_stats *stats, struct cnnvp_path *path, uint64_t end_ps);

/* Makes stats.json. `end_ps` becomes total.time_ps. Free the text with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_json(const struct cnnvp_stats *stats, uint64_t end_ps, double wall_seconds,
                                             char **json);
