/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a channel consists of and its timings in clocks. Host-free. Numbers and their sources: dram.def.
 */
#ifndef CNNVP_DRAM_TIMING_H
#define CNNVP_DRAM_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

#define DRAM_BURST_BYTES 64u
#define DRAM_BLOCK 64u /* bursts after which the order of bank groups may change */
#define DRAM_FS 1000u  /* of a ps */
#define DRAM_BANKS 64u /* of a channel, all ranks together */
#define DRAM_QUEUE 64u /* most entries of a queue */

enum dram_timing_name {
#define CNNVP_DRAM_TIMING(name, max, help) DRAM_T_##name,
#include "memory/dram/dram.def"
    DRAM_TIMINGS
};

enum dram_level { DRAM_CHANNEL, DRAM_COLUMN, DRAM_RANK, DRAM_GROUP, DRAM_BANK, DRAM_ROW, DRAM_LEVELS };

enum dram_power_down { DRAM_POWER_DOWN_off, DRAM_POWER_DOWN_power_down, DRAM_POWER_DOWN_self_refresh };

/* Values of the unit's parameters; the enumerations are the choices' indexes. */
struct dram_options {
    uint32_t preset;
    uint32_t channels;
    uint32_t pseudo_channels; /* of a channel */
    uint32_t width_bits;      /* of a channel, 0: the part's */
    uint32_t ranks;
    uint32_t scheduler;
    uint32_t page;
    uint32_t refresh;
    enum dram_power_down power_down;
    uint32_t power_down_after; /* clocks */
    uint32_t mapping;
    uint32_t queue;
    uint32_t drain_high; /* percent */
    uint32_t drain_low;
    uint32_t turn; /* bursts of a drain while reads wait, and of those reads after it */
    uint32_t arbiter;
    uint32_t port_bytes;            /* a clock of the port, in each direction; 0: as many as come */
    uint32_t port_mhz;              /* 0: the part's clock */
    uint32_t timings[DRAM_TIMINGS]; /* clocks, 0: the preset's */
};

struct dram_timing {
    uint32_t tck_ps;
    uint32_t groups; /* of a rank */
    uint32_t banks;  /* of a group */
    uint32_t rows;
    uint32_t columns; /* bursts of a row */
    uint32_t buses;   /* of commands; with two, ACT, PRE and REF have the second one */
    /* Counted from and to the first clock of a command; options and presets count from and to the last, as the
     * standards do. */
    uint32_t t[DRAM_TIMINGS];
    uint32_t column_bus;   /* clocks for which an RD or WR, or those of a burst together, hold their command bus */
    uint32_t refresh_more; /* clocks to a REF, over those of `t` to an ACT */
    uint32_t early[2];     /* clocks by which a column command may follow an ACT sooner than an RD, [write] */
};

/* Place of a burst. `bank` counts through the channel: (rank * groups + group) * banks + bank. */
struct dram_place {
    uint32_t channel;
    uint32_t bank;
    uint32_t row;
    uint32_t column;
};

/* Fields of the number of a burst (address / 64), low bits first. Channels need not be a power of two, the rest is. */
struct dram_map {
    uint32_t channels;
    uint32_t lanes; /* pseudo channels of all of them */
    uint8_t shift[DRAM_LEVELS];
    uint32_t mask[DRAM_LEVELS];
    uint8_t bank_bits;
    uint8_t group_bits;
    uint8_t hashed; /* which groups and banks depends on what lies above */
};

/* From the values of the unit's parameters, in their order. */
void cnnvp_dram_options_read(const uint64_t *values, struct dram_options *options);

/* How many times narrower than a channel of the part a burst's data bus is: 1, 2, 4 ...; 0: it cannot be so wide. */
uint32_t cnnvp_dram_narrower(const struct dram_options *options);

/* Timings in clocks as the standards count them; returns tCK in ps. */
uint32_t cnnvp_dram_clocks(const struct dram_options *options, uint32_t t[DRAM_TIMINGS]);

/* Preset and what the options override. On CNNVP_E_INVAL `message` says what is impossible, and `wrong` is the index of
 * the parameter that is at fault. */
CNNVP_MUST_USE int cnnvp_dram_timing_init(const struct dram_options *options, struct dram_timing *timing, char *message,
                                          size_t size, uint32_t *wrong);

/* Of all channels and pseudo channels. */
static inline uint64_t cnnvp_dram_ranks(const struct dram_options *options)
{
    return (uint64_t)options->channels * options->pseudo_channels * options->ranks;
}

/* Bytes that addresses can tell apart. */
uint64_t cnnvp_dram_capacity(const struct dram_options *options, const struct dram_timing *timing);
/* Of the data buses of all channels, without a pause. */
uint64_t cnnvp_dram_bytes_per_s(const struct dram_options *options, const struct dram_timing *timing);
/* fs that a burst takes of the port to the controllers: whole clocks of it, unless several cross it in one; 0: none. */
uint64_t cnnvp_dram_port_time(const struct dram_options *options, const struct dram_timing *timing);
/* `rate` of the unit: the data buses or the port, whichever carries less. */
void cnnvp_dram_rate(const uint64_t *values, struct cnnvp_memory_rate *rate);

void cnnvp_dram_map_init(const struct dram_options *options, const struct dram_timing *timing, struct dram_map *map);
/* Addresses beyond the parts' capacity begin again at 0. */
struct dram_place cnnvp_dram_map(const struct dram_map *map, uint64_t address);

#endif
