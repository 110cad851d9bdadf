/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of a DRAM channel, its timings in clocks, and the mapping of addresses. Host-free. Numbers and their
 * sources: dram.def. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

#define DRAM_BURST_BYTES 64u
#define DRAM_BLOCK 64u /* bursts; the order of bank groups may change from one block to the next */
#define DRAM_FS 1000u  /* fs per ps */
#define DRAM_BANKS 64u /* maximum banks of a channel, all ranks together */
#define DRAM_QUEUE 64u /* maximum entries of one queue */

enum dram_timing_name {
#define CNNVP_DRAM_TIMING(name, max, help) DRAM_T_##name,
#include "memory/dram/dram.def"
    DRAM_TIMINGS
};

enum dram_level { DRAM_CHANNEL, DRAM_COLUMN, DRAM_RANK, DRAM_GROUP, DRAM_BANK, DRAM_ROW, DRAM_LEVELS };

enum dram_power_down { DRAM_POWER_DOWN_off, DRAM_POWER_DOWN_power_down, DRAM_POWER_DOWN_self_refresh };

/* The unit's parameter values; an enumerated parameter holds the index of its choice. */
struct dram_options {
    uint32_t preset;
    uint32_t channels;
    uint32_t pseudo_channels; /* per channel */
    uint32_t width_bits;      /* data bus of a channel; 0: the part's */
    uint32_t ranks;
    uint32_t scheduler;
    uint32_t row_policy;
    uint32_t refresh;
    enum dram_power_down power_down;
    uint32_t power_down_after; /* clocks */
    uint32_t mapping;
    uint32_t queue;
    uint32_t drain_high; /* percent of the write queue */
    uint32_t drain_low;
    uint32_t turn; /* maximum writes of a drain while reads wait; then as many reads go first */
    uint32_t arbiter;
    uint32_t port_bytes;            /* per port clock, in each direction; 0: unlimited */
    uint32_t port_mhz;              /* 0: the part's clock */
    uint32_t timings[DRAM_TIMINGS]; /* clocks, 0: the preset's */
};

struct dram_timing {
    uint32_t tck_ps;
    uint32_t groups; /* bank groups per rank */
    uint32_t banks;  /* banks per group */
    uint32_t rows;
    uint32_t columns; /* bursts per row */
    uint32_t buses;   /* command buses; with two, ACT, PRE and REF have the second one */
    /* Between the first clocks of two commands. Options and presets count between the last clocks, as the standards
     * do. */
    uint32_t t[DRAM_TIMINGS];
    uint32_t column_bus;   /* clocks for which the RDs or WRs of one burst hold their command bus */
    uint32_t refresh_more; /* clocks by which a REF must come later than `t` says for an ACT */
    uint32_t early[2];     /* [write] clocks by which an RD or WR may follow an ACT sooner than an RD: 0 for an RD */
};

/* Location of a burst. `bank` numbers all banks of the channel: (rank * groups + group) * banks + bank. */
struct dram_place {
    uint32_t channel;
    uint32_t bank;
    uint32_t row;
    uint32_t column;
};

/* Bit field of each level in the number of a burst (address / 64), after division by `lanes`. Only the number of
 * channels need not be a power of two. */
struct dram_map {
    uint32_t channels;
    uint32_t lanes; /* pseudo channels of all channels */
    uint8_t shift[DRAM_LEVELS];
    uint32_t mask[DRAM_LEVELS];
    uint8_t bank_bits;
    uint8_t group_bits;
    uint8_t hashed; /* channel, group and bank also depend on the higher address bits */
};

/* Reads the options from the unit's parameter values, which are in the order of dram.def. */
void cnnvp_dram_options_read(const uint64_t *values, struct dram_options *options);

/* How many times narrower than a channel of the part the data bus of a burst is: 1, 2, 4 ...; 0: this width is
 * impossible. */
uint32_t cnnvp_dram_narrower(const struct dram_options *options);

/* Timings in clocks as the standards count them; returns tCK in ps. */
uint32_t cnnvp_dram_clocks(const struct dram_options *options, uint32_t t[DRAM_TIMINGS]);

/* What a 0 of the parameter means, given the values of all: the number of the part, or 0. */
uint64_t cnnvp_dram_of_part(const uint64_t *values, const char *param);

/* Combines the preset with the overriding options. On CNNVP_E_INVAL, `message` says what is impossible, and `wrong` is
 * the index of the parameter at fault. */
CNNVP_MUST_USE int cnnvp_dram_timing_init(const struct dram_options *options, struct dram_timing *timing, char *message,
                                          size_t size, uint32_t *wrong);

/* Makes the part this many times faster, for a what-if study. */
void cnnvp_dram_timing_speed_up(struct dram_timing *timing, uint32_t times);

/* Ranks of all channels and pseudo channels. */
static inline uint64_t cnnvp_dram_ranks(const struct dram_options *options)
{
    return (uint64_t)options->channels * options->pseudo_channels * options->ranks;
}

/* Capacity of all channels in bytes. */
uint64_t cnnvp_dram_capacity(const struct dram_options *options, const struct dram_timing *timing);
/* Peak rate of the data buses of all channels. */
uint64_t cnnvp_dram_bytes_per_s(const struct dram_options *options, const struct dram_timing *timing);
/* Time in fs for which a burst occupies the port to the controllers: whole port clocks, or part of one if several
 * bursts cross in a clock; 0: no limit. */
uint64_t cnnvp_dram_port_time(const struct dram_options *options, const struct dram_timing *timing);
/* Implements the unit's `rate`: the lower of the rates of the data buses and the port, and the latency of one
 * access. */
void cnnvp_dram_rate(const uint64_t *values, struct cnnvp_memory_rate *rate);

void cnnvp_dram_map_init(const struct dram_options *options, const struct dram_timing *timing, struct dram_map *map);
/* Addresses beyond the capacity wrap around. */
struct dram_place cnnvp_dram_map(const struct dram_map *map, uint64_t address);
