/* SPDX-License-Identifier: Apache-2.0 */
/* The training planner's estimate of time: what it is made from, by a resolved configuration, and how long transfers
 * keep the memory busy. */
#include <string.h>

#include "train_timing.h"

#define PS_A_US 1000000u
#define BURST_BYTES 64u
#define WORD_BYTES 2u
#define QUEUED_PART 5u /* eighths of the queue of writes that wait in it, on average of what is emptied at once */
#define TURN_CYCLES 1u /* from a burst's data to the next request */
#define DDR4_2400 1u /* of the memory's presets: what a memory of somebody else's counts as */

/* The core's cycles for an instruction that the guest software pushes: fitted to 1530 layers on a slow core, which
 * they give within 4 %, root mean square. */
#define LOAD_CORE 445u
#define CALCULATE_CORE 290u
#define POST_CORE 305u
#define STORE_CORE 600u
#define STEP_CORE 130u
#define WINDOW_CORE 240u
#define LAYER_CORE 255u
#define WORD_CORE 45u /* of these, for each word of the queue */

enum dram_timing {
#define CNNVP_DRAM_TIMING(name, max, help) DRAM_##name,
#include "dram/dram.def"
    DRAM_TIMINGS
};

struct preset {
    const char *name;
    uint32_t tck_ps, groups, banks, rows, row_bytes;
    uint32_t clocks[DRAM_TIMINGS];
};

static const struct preset presets[] = {
#define CNNVP_DRAM_PRESET(index, name, tck_ps, buses, groups, banks, rows, row_bytes, ...)                             \
    {name, tck_ps, groups, banks, rows, row_bytes, {__VA_ARGS__}},
#include "dram/dram.def"
};

static const char *const timing_parameters[] = {
#define CNNVP_DRAM_TIMING(name, max, help) "dram.t_" #name,
#include "dram/dram.def"
};

/* The parameter's value; `otherwise` where the platform has none of this name, or 0. */
static uint64_t number(const cnnvp_config *config, const char *name, uint64_t otherwise)
{
    uint64_t value = 0;
    const char *text = NULL;
    if (config == NULL || cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE || value == 0)
        return otherwise;
    return value;
}

static int is_choice(const cnnvp_config *config, const char *name, const char *choice)
{
    uint64_t value = 0;
    const char *text = NULL;
    return config != NULL && cnnvp_config_get(config, name, &value, &text) == CNNVP_DONE && text != NULL &&
           strcmp(text, choice) == 0;
}

static struct preset memory_of(const cnnvp_config *config)
{
    struct preset preset = presets[DDR4_2400];
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; ++i)
        if (is_choice(config, "dram.preset", presets[i].name))
            preset = presets[i];
    for (size_t i = 0; i < DRAM_TIMINGS; ++i)
        preset.clocks[i] = (uint32_t)number(config, timing_parameters[i], preset.clocks[i]);
    return preset;
}

/* ps that a bus needs for 64 bytes. The DMA's own bursts, which may be shorter or longer, become those of the memory. */
static uint32_t burst_ps(uint64_t clocks, const struct preset *memory, uint64_t channels)
{
    return (uint32_t)(clocks * memory->tck_ps / channels);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void read_memory(const cnnvp_config *config, struct cnnvp_train_timing *timing)
{
    const struct preset memory = memory_of(config);
    const uint32_t *t = memory.clocks;
    const uint64_t channels = number(config, "dram.channels", 1);
    const uint64_t dma_bytes = number(config, "dma.burst_bytes", BURST_BYTES);
    const uint64_t outstanding = number(config, "dma.outstanding", 16);
    /* Bursts that follow each other lie in one bank group, unless the groups have the lowest address bits. */
    const int spread = is_choice(config, "dram.mapping", "row-column-bank");
    const int grouped = memory.groups > 1u && !spread && !is_choice(config, "dram.mapping", "row-column-group");
    const uint32_t distance = larger(grouped ? t[DRAM_ccd_l] : t[DRAM_ccd_s], t[DRAM_bl]);
    const uint32_t burst = burst_ps(distance, &memory, channels);
    const uint32_t bus = burst_ps(larger(t[DRAM_ccd_s], t[DRAM_bl]), &memory, channels);
    /* they count from the last clock of the first command, a wait begins with its first */
    const uint32_t column = t[DRAM_cmd_column] - 1u, pre = t[DRAM_cmd_pre] - 1u;
    timing->latency = (pre + t[DRAM_rp] + t[DRAM_rcd] + t[DRAM_cl] + t[DRAM_bl]) * memory.tck_ps;
    timing->hit = (column + t[DRAM_cl] + t[DRAM_bl]) * memory.tck_ps;
    timing->write_latency = (column + t[DRAM_cwl]) * memory.tck_ps;
    timing->ahead = (uint32_t)(outstanding * dma_bytes / BURST_BYTES);
    timing->burst = larger(burst, 1u);
    timing->bus = bus;
    /* A tenth for turnarounds. */
    timing->turning = bus + bus / 10u < timing->burst ? bus + bus / 10u : timing->burst;
    const uint64_t queue = number(config, "dram.queue", 32) * channels;
    timing->posted = queue * burst;
    timing->queued = (uint32_t)(queue * QUEUED_PART / 8u);
    timing->outstanding = (uint32_t)(outstanding < queue ? outstanding : queue);
    /* The memory's bursts on their way hide the latency, if there are enough of them. */
    const uint64_t alone = timing->hit + TURN_CYCLES * timing->cycle;
    timing->read = larger(timing->burst, (uint32_t)(alone / timing->outstanding));
    timing->posted_rest = timing->posted * number(config, "dram.drain_low", 20) / 100u;
    timing->refresh = t[DRAM_refi] != 0 ? t[DRAM_rfc] * 1024u / t[DRAM_refi] : 0;
    timing->row = t[DRAM_rc] * memory.tck_ps;
    timing->reopen = (t[DRAM_rtp] + t[DRAM_rp] + t[DRAM_rcd]) * memory.tck_ps;
    /* A row is opened while others are read, unless it is in their bank, or a burst's turn comes with its row. */
    timing->most_hidden = UINT32_MAX;
    if (is_choice(config, "dram.mapping", "bank-row-column") || (spread && is_choice(config, "dram.scheduler", "fcfs")))
        timing->most_hidden = timing->burst;
    else if (is_choice(config, "dram.scheduler", "fcfs"))
        timing->most_hidden = timing->burst + timing->reopen - t[DRAM_rcd] * memory.tck_ps;
    timing->banks = memory.groups * memory.banks * (uint32_t)number(config, "dram.ranks", 1);
    timing->row_bytes = memory.row_bytes * (uint32_t)channels;
}

struct cnnvp_train_timing cnnvp_train_timing_of(const cnnvp_config *config)
{
    struct cnnvp_train_timing timing = {
        .cycle = (uint32_t)larger((uint32_t)(PS_A_US / number(config, "pe_array.clock_mhz", 1000)), 1u),
        .core = (uint32_t)larger((uint32_t)(PS_A_US / number(config, "cpu.clock_mhz", 1000)), 1u),
        .strict = is_choice(config, "instruction.order", "strict") ? 1u : 0,
        .load_core = LOAD_CORE,
        .calculate_core = CALCULATE_CORE,
        .post_core = POST_CORE,
        .store_core = STORE_CORE,
    };
    timing.port = (uint32_t)(timing.cycle * BURST_BYTES / number(config, "dma.port_bytes", 32));
    timing.most_lead = number(config, "instruction.queue_depth", 4096) * WORD_CORE * timing.core;
    read_memory(config, &timing);
    return timing;
}

/* How many of `count` steps by so many bytes lead to another row of the memory, in 1024ths. */
static uint64_t row_changes(const struct cnnvp_train_timing *timing, uint64_t count, uint64_t bytes)
{
    return count * sooner(bytes * 1024u / timing->row_bytes, 1024u);
}

/* The largest power of two up to a burst that divides all of what has been or-ed together. */
static uint64_t grid_of(uint64_t distances)
{
    const uint64_t bits = distances | BURST_BYTES;
    return bits & (~bits + 1u);
}

/* Bursts of one kind that follow each other, and how many of them the memory chooses from. */
struct stream {
    uint64_t burst_ps, many;
    int awaited; /* 1: a burst is among those until its data are there */
};

static struct stream stream_of(const struct cnnvp_train_timing *timing, int written)
{
    return written ? (struct stream){timing->burst, timing->queued, 0}
                   : (struct stream){timing->read, timing->outstanding, 1};
}

/*
 * A stream's bursts that come to so many rows, in 1024ths. What is on its way keeps the memory busy while the next row
 * opens; where it is less than that takes, the rest is lost. Where it is more, bursts of both rows wait, and since the
 * rows lie in different bank groups they follow each other, two by two, as closely as the bus allows. Where rows are
 * left before so many have come, each burst waits for its own row.
 */
static uint64_t stream_ps(const struct cnnvp_train_timing *timing, const struct stream *stream, uint64_t bursts,
                          uint64_t rows)
{
    const uint64_t burst = stream->burst_ps;
    const uint64_t ahead = sooner(stream->many * burst, timing->most_hidden);
    const uint64_t opening = timing->reopen + timing->burst;
    uint64_t ps = bursts * burst;
    if (ahead < opening) {
        ps += rows * (opening - ahead) / 1024u;
    } else if (burst == timing->burst) {
        const uint64_t mixed = rows * 2u * (ahead - opening) / timing->burst;
        const int waits = stream->awaited && bursts * 1024u <= rows * stream->many;
        const uint64_t closest = waits ? (timing->reopen + timing->hit) / stream->many : 0;
        ps -= sooner(mixed, bursts * 1024u) * (burst - sooner(later(closest, timing->bus), burst)) / 1024u;
    }
    return ps + ps / 1024u * timing->refresh;
}

/* At least so long for rows, in 1024ths, so many bytes apart: of those in one bank one follows the other. */
static uint64_t rows_ps(const struct cnnvp_train_timing *timing, uint64_t bursts, uint64_t rows, uint64_t distance)
{
    /* Rows and banks are counted in powers of two, so this is how many steps lead back to the first bank. */
    const uint64_t all = (uint64_t)timing->row_bytes * timing->banks;
    const uint64_t both = distance | all;
    const uint64_t banks = sooner(all / (both & (~both + 1u)), timing->banks);
    if (banks == 1u)
        return later(rows * timing->row, bursts * timing->burst * 1024u + rows * timing->reopen) / 1024u;
    const uint64_t ahead = timing->ahead * rows / 1024u / bursts + 2u;
    return rows * timing->row / sooner(banks, ahead) / 1024u;
}

uint64_t cnnvp_train_pieces_ps(const struct cnnvp_train_timing *timing, uint64_t pieces, uint64_t bytes,
                              uint64_t distance, int written)
{
    /* The next ones begin where these end. */
    const uint64_t grid = grid_of(distance | bytes);
    const uint64_t burst_bytes = pieces * ((bytes + grid - 1u) / grid * grid + BURST_BYTES - grid);
    const uint64_t changes = 1024u + row_changes(timing, pieces - 1u, distance);
    const uint64_t rows = later(changes, burst_bytes * 1024u / timing->row_bytes);
    const uint64_t bursts = burst_bytes / BURST_BYTES;
    const struct stream stream = stream_of(timing, written);
    return later(stream_ps(timing, &stream, bursts, rows), rows_ps(timing, bursts, rows, distance));
}

/* Bursts of different bank groups follow each other more closely on the bus than those of one stream do, so each takes
 * longer by less than what the other one still needs. */
uint64_t cnnvp_train_shared_ps(const struct cnnvp_train_timing *timing, uint64_t busy)
{
    return 2u * timing->turning > timing->read ? busy * (2u * timing->turning - timing->read) / timing->burst : 0;
}
