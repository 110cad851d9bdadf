/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_timing.h. */
#include "dram_timing.h"

#include "cnnvp_integer.h"

#include <stdio.h>
#include <string.h>

#define UNIT_DEF "memory/dram/dram.def"
#define TURN 4096u /* bursts; longer than any drain in published burst sequences */
#include "unit/unit_enums.inc"

struct preset {
    uint32_t channels, pseudo, width, device, tck_ps, buses, groups, banks, rows, row_bytes;
    uint32_t t[DRAM_TIMINGS];
};

static const struct preset presets[] = {
#define CNNVP_DRAM_PRESET(                                                                            \
    index, name, channels, pseudo, width, device, tck_ps, buses, groups, banks, rows, row_bytes, ...) \
    [index] = {(channels), (pseudo), (width), (device),    (tck_ps),     (buses),                     \
               (groups),   (banks),  (rows),  (row_bytes), {__VA_ARGS__}},
#include "memory/dram/dram.def"
};

static const char *const part_names[] = {
#define CNNVP_DRAM_PRESET(index, name, ...) [index] = name,
#include "memory/dram/dram.def"
};

static const char *const names[DRAM_TIMINGS] = {
#define CNNVP_DRAM_TIMING(name, max, help) "t_" #name,
#include "memory/dram/dram.def"
};

#define MAPPING_LEVELS 6
static const uint8_t mappings[][MAPPING_LEVELS] = {
#define CNNVP_DRAM_MAPPING(index, name, hashed, a, b, c, d, e, f) \
    [index] = {DRAM_##a, DRAM_##b, DRAM_##c, DRAM_##d, DRAM_##e, DRAM_##f},
#include "memory/dram/dram.def"
};
static const uint8_t hashed[] = {
#define CNNVP_DRAM_MAPPING(index, name, hashed, a, b, c, d, e, f) [index] = (hashed),
#include "memory/dram/dram.def"
};

/* Pairs of timings: `more` must not be less than `less`. */
static const struct {
    uint8_t more, less;
} orders[] = {
    {DRAM_T_ras, DRAM_T_rcd},
    {DRAM_T_rcd, DRAM_T_rcd_wr},
    {DRAM_T_ccd_s, DRAM_T_bl},
    {DRAM_T_ccd_l, DRAM_T_ccd_s},
    {DRAM_T_ccd_l_wr, DRAM_T_ccd_s},
    {DRAM_T_rrd_l, DRAM_T_rrd_s},
    {DRAM_T_wtr_l, DRAM_T_wtr_s},
    {DRAM_T_rpab, DRAM_T_rp},
    {DRAM_T_faw, DRAM_T_rrd_s},
    {DRAM_T_cl, DRAM_T_cwl},
    {DRAM_T_rfc, DRAM_T_rp},
    {DRAM_T_xs, DRAM_T_xp},
    /* so that no timing ends before its command does */
    {DRAM_T_cmd_act, DRAM_T_cmd_pre},
    {DRAM_T_rcd_wr, DRAM_T_cmd_column},
    {DRAM_T_rp, DRAM_T_cmd_act},
    {DRAM_T_wr, DRAM_T_cmd_pre},
    {DRAM_T_rtp, DRAM_T_cmd_pre},
    {DRAM_T_ccd_s, DRAM_T_cmd_column},
    {DRAM_T_wtr_s, DRAM_T_cmd_column},
};

void cnnvp_dram_options_read(const uint64_t *values, struct dram_options *options)
{
    *options = (struct dram_options){
        .preset = (uint32_t)values[PARAM_preset],
        .channels = values[PARAM_channels] ? (uint32_t)values[PARAM_channels] : presets[values[PARAM_preset]].channels,
        .pseudo_channels = values[PARAM_pseudo_channels] ? (uint32_t)values[PARAM_pseudo_channels]
                                                         : presets[values[PARAM_preset]].pseudo,
        .width_bits = (uint32_t)values[PARAM_width_bits],
        .ranks = (uint32_t)values[PARAM_ranks],
        .scheduler = (uint32_t)values[PARAM_scheduler],
        .row_policy = (uint32_t)values[PARAM_row_policy],
        .refresh = (uint32_t)values[PARAM_refresh],
        .power_down = (enum dram_power_down)values[PARAM_power_down],
        .power_down_after = (uint32_t)values[PARAM_power_down_after],
        .mapping = (uint32_t)values[PARAM_mapping],
        .queue = (uint32_t)values[PARAM_queue],
        .drain_high = (uint32_t)values[PARAM_drain_high],
        .drain_low = (uint32_t)values[PARAM_drain_low],
        .turn = TURN,
        .arbiter = (uint32_t)values[PARAM_arbiter],
        .port_bytes = (uint32_t)values[PARAM_port_bytes],
        .port_mhz = (uint32_t)values[PARAM_port_mhz],
    };
    for (uint32_t i = 0; i < DRAM_TIMINGS; ++i)
        options->timings[i] = (uint32_t)values[PARAM_t_bl + i];
}

/* Derives timings that are not given from related timings. */
static void derive(const struct dram_options *options, uint32_t *t)
{
    const uint32_t *given = options->timings;
    const uint32_t *part = presets[options->preset].t;
    if (!given[DRAM_T_rcd_wr] && given[DRAM_T_rcd])
        t[DRAM_T_rcd_wr] = t[DRAM_T_rcd] - cnnvp_minimum32(part[DRAM_T_rcd] - part[DRAM_T_rcd_wr], t[DRAM_T_rcd] - 1u);
    if (!given[DRAM_T_rpab] && given[DRAM_T_rp])
        t[DRAM_T_rpab] = t[DRAM_T_rp] + part[DRAM_T_rpab] - part[DRAM_T_rp];
    if (!given[DRAM_T_ccd_l_wr] && given[DRAM_T_ccd_l])
        t[DRAM_T_ccd_l_wr] = t[DRAM_T_ccd_l] + part[DRAM_T_ccd_l_wr] - part[DRAM_T_ccd_l];
    if (!given[DRAM_T_xs] && given[DRAM_T_rfc])
        t[DRAM_T_xs] = t[DRAM_T_rfc] + part[DRAM_T_xs] - part[DRAM_T_rfc];
    if (!given[DRAM_T_rc])
        t[DRAM_T_rc] = t[DRAM_T_ras] + t[DRAM_T_rp];
}

uint32_t cnnvp_dram_narrower(const struct dram_options *options)
{
    const struct preset *part = &presets[options->preset];
    const uint32_t width = options->width_bits ? options->width_bits : part->width;
    if (width > part->width || width < part->device || part->width % width != 0 || width % part->device != 0)
        return 0;
    return part->width / width * options->pseudo_channels;
}

/* The part's timing on a bus this many times narrower: a burst becomes as many column accesses, one after the other. */
static uint32_t of_part(const struct preset *part, uint32_t timing, uint32_t narrower)
{
    const int of_bursts =
        timing == DRAM_T_bl || timing == DRAM_T_ccd_s || timing == DRAM_T_ccd_l || timing == DRAM_T_ccd_l_wr;
    return part->t[timing] * (of_bursts ? narrower : 1u);
}

uint32_t cnnvp_dram_clocks(const struct dram_options *options, uint32_t t[DRAM_TIMINGS])
{
    const struct preset *preset = &presets[options->preset];
    const uint32_t narrower = cnnvp_dram_narrower(options);
    for (uint32_t i = 0; i < DRAM_TIMINGS; ++i)
        t[i] = options->timings[i] != 0 ? options->timings[i] : of_part(preset, i, narrower);
    derive(options, t);
    return preset->tck_ps;
}

uint64_t cnnvp_dram_of_part(const uint64_t *values, const char *param)
{
    struct dram_options options;
    uint32_t t[DRAM_TIMINGS];
    cnnvp_dram_options_read(values, &options);
    (void)cnnvp_dram_clocks(&options, t);
    if (strcmp(param, "channels") == 0)
        return options.channels;
    if (strcmp(param, "pseudo_channels") == 0)
        return options.pseudo_channels;
    if (strcmp(param, "width_bits") == 0)
        return presets[options.preset].width;
    for (size_t i = 0; i < DRAM_TIMINGS; ++i)
        if (strcmp(param, names[i]) == 0)
            return t[i];
    return 0;
}

/* Converts timings between the last clocks of two commands, as in the standards, to timings between their first clocks:
 * adds the clocks of the first command after its first clock, and subtracts those of the second command. */
static void count_from_first(struct dram_timing *timing)
{
    uint32_t *t = timing->t;
    const uint32_t act = t[DRAM_T_cmd_act] - 1u, column = t[DRAM_T_cmd_column] - 1u, pre = t[DRAM_T_cmd_pre] - 1u;
    t[DRAM_T_cl] += column;
    t[DRAM_T_cwl] += column;
    t[DRAM_T_wr] -= pre;
    t[DRAM_T_wtr_s] -= column;
    t[DRAM_T_wtr_l] -= column;
    t[DRAM_T_rcd] += act - column;
    t[DRAM_T_rcd_wr] += act - column;
    t[DRAM_T_ras] += act - pre;
    t[DRAM_T_rtp] += column - pre;
    t[DRAM_T_rp] += pre - act;
    t[DRAM_T_rpab] += pre - act;
    t[DRAM_T_rfc] += pre - act;
    timing->refresh_more = act - pre;
    timing->early[1] = t[DRAM_T_rcd] - t[DRAM_T_rcd_wr];
}

/* A burst of a pseudo channel is two RDs or WRs of its bank, tCCD_L apart, each with half of the data. Bursts of two
 * bank groups interleave, so a burst takes the bus as long as one of twice the length. Its last data come later by the
 * gap between the two halves. */
static void count_halves(struct dram_timing *timing, uint32_t pseudo_channels)
{
    uint32_t *t = timing->t;
    const uint32_t apart = pseudo_channels > 1 ? t[DRAM_T_ccd_l] / 2u : 0,
                   later = pseudo_channels > 1 ? apart - t[DRAM_T_bl] / 2u : 0;
    timing->column_bus = t[DRAM_T_cmd_column] * pseudo_channels;
    t[DRAM_T_cl] += later;
    t[DRAM_T_cwl] += later;
    t[DRAM_T_rtw] += later;
    t[DRAM_T_rtp] += apart;
}

static uint32_t at_fault(const struct dram_options *options, uint32_t timing, uint32_t otherwise)
{
    return PARAM_t_bl + (options->timings[timing] ? timing : otherwise);
}

static int check_orders(const struct dram_options *options, const uint32_t *t, char *message, size_t size,
                        uint32_t *wrong)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; ++i) {
        const uint32_t more = orders[i].more, less = orders[i].less;
        if (t[more] >= t[less])
            continue;
        *wrong = at_fault(options, more, less);
        (void)snprintf(message, size, "%s is %u clocks, less than %s, which is %u", names[more], t[more], names[less],
                       t[less]);
        return CNNVP_E_INVAL;
    }
    return CNNVP_OK;
}

static int check_sums(const struct dram_options *options, const uint32_t *t, char *message, size_t size,
                      uint32_t *wrong)
{
    if (t[DRAM_T_rc] != t[DRAM_T_ras] + t[DRAM_T_rp]) {
        *wrong = PARAM_t_rc;
        (void)snprintf(message, size, "t_rc is %u clocks; it must be t_ras + t_rp, %u + %u = %u (0 sets it so)",
                       t[DRAM_T_rc], t[DRAM_T_ras], t[DRAM_T_rp], t[DRAM_T_ras] + t[DRAM_T_rp]);
        return CNNVP_E_INVAL;
    }
    if (t[DRAM_T_aad] &&
        (t[DRAM_T_aad] < t[DRAM_T_cmd_act] || t[DRAM_T_aad] + t[DRAM_T_cmd_column] > t[DRAM_T_rcd_wr])) {
        *wrong = at_fault(options, DRAM_T_aad, DRAM_T_rcd_wr);
        (void)snprintf(message, size,
                       "t_aad is %u clocks; the second command of an ACT comes from t_cmd_act, %u, to t_rcd_wr - "
                       "t_cmd_column, %u - %u, after the first",
                       t[DRAM_T_aad], t[DRAM_T_cmd_act], t[DRAM_T_rcd_wr], t[DRAM_T_cmd_column]);
        return CNNVP_E_INVAL;
    }
    /* between two refreshes there must be time to open a row, read or write and close it again */
    const uint32_t busy = t[DRAM_T_rfc] + t[DRAM_T_rc] + t[DRAM_T_rpab] + t[DRAM_T_cl] + t[DRAM_T_bl] + t[DRAM_T_wr];
    if (t[DRAM_T_refi] <= busy) {
        *wrong = at_fault(options, DRAM_T_refi, DRAM_T_rfc);
        (void)snprintf(message, size,
                       "t_refi is %u clocks: a refresh and one access to a row take %u, nothing is left for data",
                       t[DRAM_T_refi], busy);
        return CNNVP_E_INVAL;
    }
    return CNNVP_OK;
}

static int check_width(const struct dram_options *options, const struct preset *part, char *message, size_t size,
                       uint32_t *wrong)
{
    const char *name = part_names[options->preset];
    const uint32_t narrower = cnnvp_dram_narrower(options), pseudo = options->pseudo_channels;
    *wrong = pseudo != 1 && pseudo != part->pseudo ? PARAM_pseudo_channels : PARAM_width_bits;
    if (*wrong == PARAM_pseudo_channels)
        (void)snprintf(message, size, "pseudo_channels is %u; a channel of %s has %u", pseudo, name, part->pseudo);
    else if (narrower == 0)
        (void)snprintf(message, size,
                       "width_bits is %u; a channel of %s has %u bits of %u a device: half of it as often as "
                       "that divides, down to %u, or 0",
                       options->width_bits, name, part->width, part->device, part->device);
    else if (pseudo != 1 && narrower != pseudo)
        (void)snprintf(message, size,
                       "width_bits is %u; a channel of %s has %u bits, in %u pseudo channels: what were %u channels of "
                       "%u bits are channels=%u and width_bits=0",
                       options->width_bits, name, part->width, pseudo, options->channels, options->width_bits,
                       cnnvp_maximum32(options->channels * options->width_bits / part->width, 1));
    else
        return CNNVP_OK;
    return CNNVP_E_INVAL;
}

int cnnvp_dram_timing_init(const struct dram_options *options, struct dram_timing *timing, char *message, size_t size,
                           uint32_t *wrong)
{
    const struct preset *part = &presets[options->preset];
    const uint32_t narrower = cnnvp_dram_narrower(options);
    int status = check_width(options, part, message, size, wrong);
    if (status != CNNVP_OK)
        return status;
    *timing = (struct dram_timing){
        .tck_ps = part->tck_ps,
        .buses = part->buses,
        .groups = part->groups,
        .banks = part->banks,
        .rows = part->rows,
        .columns = part->row_bytes / narrower / DRAM_BURST_BYTES};
    (void)cnnvp_dram_clocks(options, timing->t);
    if (options->ranks & (options->ranks - 1u)) {
        *wrong = PARAM_ranks;
        (void)snprintf(message, size, "ranks is %u; it must be 1, 2 or 4", options->ranks);
        return CNNVP_E_INVAL;
    }
    if (options->ranks * options->pseudo_channels * part->groups * part->banks > DRAM_BANKS) {
        *wrong = PARAM_ranks;
        (void)snprintf(message, size, "ranks is %u; a channel has at most %u banks, and a rank of this part %u",
                       options->ranks, DRAM_BANKS, options->pseudo_channels * part->groups * part->banks);
        return CNNVP_E_INVAL;
    }
    if (options->drain_low >= options->drain_high) {
        *wrong = PARAM_drain_low;
        (void)snprintf(message, size, "drain_low is %u percent; it must be less than drain_high, %u",
                       options->drain_low, options->drain_high);
        return CNNVP_E_INVAL;
    }
    status = check_orders(options, timing->t, message, size, wrong);
    if (status == CNNVP_OK)
        status = check_sums(options, timing->t, message, size, wrong);
    if (status == CNNVP_OK) {
        count_from_first(timing);
        count_halves(timing, options->pseudo_channels);
    }
    return status;
}

void cnnvp_dram_timing_speed_up(struct dram_timing *timing, uint32_t times)
{
    timing->tck_ps = (uint32_t)cnnvp_divide_up(timing->tck_ps, times);
}

uint64_t cnnvp_dram_capacity(const struct dram_options *options, const struct dram_timing *timing)
{
    const uint64_t banks = cnnvp_dram_ranks(options) * timing->groups * timing->banks;
    return banks * timing->rows * timing->columns * DRAM_BURST_BYTES;
}

uint64_t cnnvp_dram_bytes_per_s(const struct dram_options *options, const struct dram_timing *timing)
{
    const uint64_t burst_ps = (uint64_t)timing->t[DRAM_T_bl] * timing->tck_ps;
    return (uint64_t)options->channels * options->pseudo_channels * DRAM_BURST_BYTES * UINT64_C(1000000000000) /
           burst_ps;
}

uint64_t cnnvp_dram_port_time(const struct dram_options *options, const struct dram_timing *timing)
{
    const uint64_t clock = options->port_mhz ? UINT64_C(1000000000) / options->port_mhz : timing->tck_ps * DRAM_FS;
    if (!options->port_bytes)
        return 0;
    return options->port_bytes < DRAM_BURST_BYTES
               ? cnnvp_divide_up(DRAM_BURST_BYTES, options->port_bytes) * clock
               : clock / (options->port_bytes / DRAM_BURST_BYTES);
}

void cnnvp_dram_rate(const uint64_t *values, struct cnnvp_memory_rate *rate)
{
    struct dram_options options;
    struct dram_timing timing;
    char message[256];
    uint32_t wrong;
    cnnvp_dram_options_read(values, &options);
    if (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) != CNNVP_OK)
        return;
    const uint32_t *t = timing.t;
    const uint64_t burst_fs = cnnvp_dram_port_time(&options, &timing);
    const uint64_t port = burst_fs != 0 ? DRAM_BURST_BYTES * UINT64_C(1000000000000000) / burst_fs : UINT64_MAX;
    rate->bytes_per_s = cnnvp_minimum(cnnvp_dram_bytes_per_s(&options, &timing), port);
    rate->latency = ((uint64_t)t[DRAM_T_rp] + t[DRAM_T_rcd] + t[DRAM_T_cl] + t[DRAM_T_bl]) * timing.tck_ps;
}

void cnnvp_dram_map_init(const struct dram_options *options, const struct dram_timing *timing, struct dram_map *map)
{
    const uint32_t counts[DRAM_LEVELS] = {
        [DRAM_CHANNEL] = 1, /* channels are divided out first */
        [DRAM_COLUMN] = timing->columns,
        [DRAM_RANK] = options->ranks,
        [DRAM_GROUP] = timing->groups,
        [DRAM_BANK] = timing->banks,
        [DRAM_ROW] = timing->rows,
    };
    uint32_t shift = 0;
    *map = (struct dram_map){.channels = options->channels, .lanes = options->channels * options->pseudo_channels};
    for (size_t i = MAPPING_LEVELS; i-- > 0;) {
        const uint32_t level = mappings[options->mapping][i];
        const uint32_t bits = cnnvp_log2_up(counts[level]);
        map->shift[level] = (uint8_t)shift;
        map->mask[level] = (uint32_t)((UINT64_C(1) << bits) - 1u);
        shift += bits;
    }
    map->bank_bits = (uint8_t)cnnvp_log2_up(timing->banks);
    map->group_bits = (uint8_t)cnnvp_log2_up(timing->groups);
    map->hashed = hashed[options->mapping];
}

static uint32_t field(const struct dram_map *map, uint64_t burst, enum dram_level level)
{
    return (uint32_t)(burst >> map->shift[level]) & map->mask[level];
}

/* XOR of the `width`-bit fields of a number at all multiples of `step` bits. */
static uint32_t fold(uint32_t number, uint32_t width, uint32_t step)
{
    for (uint32_t fields = step; fields && fields < 32u && number >> fields; fields *= 2u)
        number ^= number >> fields;
    return number & ((UINT32_C(1) << width) - 1u);
}

static uint32_t sum_of_digits(uint64_t number, uint32_t base)
{
    uint32_t sum = 0;
    if (cnnvp_is_power_of_two(base)) /* divisions would take most of the time of cnnvp_dram_map() */
        for (const uint32_t bits = (uint32_t)__builtin_ctz(base); number; number >>= bits)
            sum += (uint32_t)number & (base - 1u);
    else
        for (; number; number /= base)
            sum += (uint32_t)(number % base);
    return sum;
}

struct dram_place cnnvp_dram_map(const struct dram_map *map, uint64_t address)
{
    struct dram_place place = {.channel = 0};
    uint64_t burst = address / DRAM_BURST_BYTES;
    uint32_t lane = 0;
    if (map->lanes > 1) {
        lane = (uint32_t)(burst % map->lanes);
        burst /= map->lanes;
        if (map->hashed)
            lane = (lane + sum_of_digits(burst, map->lanes)) % map->lanes;
    }
    place.channel = lane % map->channels;
    uint32_t group = field(map, burst, DRAM_GROUP), bank = field(map, burst, DRAM_BANK);
    place.row = field(map, burst, DRAM_ROW);
    place.column = field(map, burst, DRAM_COLUMN);
    if (map->hashed) {
        /* accesses at any power-of-two stride go through all groups, then through all banks */
        const uint32_t above = fold(place.row << map->bank_bits | bank, map->group_bits, map->group_bits);
        group = (group + (uint32_t)(burst / DRAM_BLOCK) + above) & map->mask[DRAM_GROUP];
        bank ^= fold(place.row >> map->group_bits, map->bank_bits, map->group_bits + map->bank_bits);
    }
    const uint32_t ranks = map->mask[DRAM_RANK] + 1u,
                   rank = lane / map->channels * ranks + field(map, burst, DRAM_RANK);
    place.bank = (rank << map->group_bits | group) << map->bank_bits | bank;
    return place;
}
