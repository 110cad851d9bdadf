/* SPDX-License-Identifier: Apache-2.0 */
#include "dram_patterns.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

#define KI UINT64_C(1024)
#define MI (KI * KI)
#define GI (KI * MI)

typedef struct dram_pattern_burst burst;

static uint64_t draw(uint64_t *state)
{
    return next_state(state) >> 33;
}

/* Of each shape a and b are what its table entry says. */

static burst stride(uint64_t i, uint64_t step, uint64_t write, uint64_t *random)
{
    (void)random;
    return (burst){(uint32_t)write, step * i % GI};
}

static burst tile(uint64_t i, uint64_t bursts, uint64_t pitch, uint64_t *random)
{
    (void)random;
    return (burst){0, i / bursts * pitch % GI + i % bursts * 64};
}

static burst write_tile(uint64_t i, uint64_t bursts, uint64_t pitch, uint64_t *random)
{
    return (burst){1, tile(i, bursts, pitch, random).address};
}

static burst streams(uint64_t i, uint64_t number, uint64_t apart, uint64_t *random)
{
    (void)random;
    return (burst){0, i % number * apart + i / number * 64};
}

/* Blocks are read, then written `apart` from there. */
static burst blocks(uint64_t i, uint64_t bursts, uint64_t apart, uint64_t *random)
{
    (void)random;
    const uint32_t write = i / bursts % 2;
    return (burst){write, i / (2 * bursts) * bursts * 64 + i % bursts * 64 + (write ? apart : 0)};
}

/* Blocks are written, then read. */
static burst write_read(uint64_t i, uint64_t bursts, uint64_t unused, uint64_t *random)
{
    (void)unused;
    const burst back = blocks(i, bursts, 0, random);
    return (burst){!back.write, back.address};
}

/* By turns one is written, and that of this many writes ago read. */
static burst read_back(uint64_t i, uint64_t ago, uint64_t before, uint64_t *random)
{
    (void)random;
    if (i % 2 == 0)
        return (burst){1, i / 2 * 64};
    return (burst){0, i / 2 < ago ? before : (i / 2 - ago) * 64};
}

static burst read2_write1(uint64_t i, uint64_t apart, uint64_t unused, uint64_t *random)
{
    (void)random;
    (void)unused;
    return i % 3 == 2 ? (burst){1, apart + i / 3 * 64} : (burst){0, i / 3 * 128 + i % 3 * 64};
}

/* This many bursts of each of two sequences are read, then one is written. */
static burst products(uint64_t i, uint64_t bursts, uint64_t apart, uint64_t *random)
{
    (void)random;
    const uint64_t number = i / (2 * bursts + 1), of = i % (2 * bursts + 1);
    if (of == 2 * bursts)
        return (burst){1, 2 * apart + number * 64};
    return (burst){0, of / bursts * apart + (number * bursts + of % bursts) * 64};
}

/* Tenths of them writes. */
static burst scattered(uint64_t i, uint64_t writes, uint64_t size, uint64_t *random)
{
    (void)i;
    const uint32_t write = writes && draw(random) % 10 >= 10 - writes;
    return (burst){write, draw(random) % (size / 64) * 64};
}

/* A quarter of them writes, in rows at a distance. */
static burst hot_rows(uint64_t i, uint64_t rows, uint64_t apart, uint64_t *random)
{
    (void)i;
    const uint64_t row = draw(random) % rows * apart, column = draw(random) % 128;
    return (burst){draw(random) % 4 == 0, row + column * 64};
}

static const struct {
    int32_t write, step, count;
} runs[2][1000] = {
#define R18(...) {__VA_ARGS__},
#define MB2(...)
    {
#include "dram_layers.def"
    },
#undef R18
#undef MB2
#define R18(...)
#define MB2(...) {__VA_ARGS__},
    {
#include "dram_layers.def"
    }};

/* Of the network of this number, which has so many. */
static burst layers(uint64_t i, uint64_t network, uint64_t bursts, uint64_t *random)
{
    int64_t number = 0;
    int32_t left = (int32_t)(i % bursts), run = 0;
    (void)random;
    for (; left >= runs[network][run].count; left -= runs[network][run++].count)
        number += runs[network][run].step + runs[network][run].count;
    return (burst){(uint32_t)runs[network][run].write, (uint64_t)(number + runs[network][run].step + left) * 64};
}

static const struct {
    const char *name;
    burst (*at)(uint64_t i, uint64_t a, uint64_t b, uint64_t *random);
    uint64_t a, b;
} patterns[DRAM_PATTERNS] = {
    [SEQ_READ] = {"seq_read", stride, 64, 0},
    [SEQ_WRITE] = {"seq_write", stride, 64, 1},
    [COPY] = {"copy", blocks, 1, 512 * MI},
    [READ2_WRITE1] = {"read2_write1", read2_write1, 512 * MI, 0},
    [RANDOM_READ] = {"random_read", scattered, 0, GI},
    [RANDOM_70_30] = {"random_70_30", scattered, 3, GI},
    [STRIDE_8K] = {"stride_8k", stride, 8 * KI, 0},
    [STRIDE_128K] = {"stride_128k", stride, 128 * KI, 0},
    [TILE_4X1K] = {"tile_4x1k", tile, 4, KI},
    [BLOCK_COPY_4K] = {"block_copy_4k", blocks, 64, 512 * MI},
    [RANDOM_90_10] = {"random_90_10", scattered, 1, GI},
    [RANDOM_50_50] = {"random_50_50", scattered, 5, GI},
    [RANDOM_10_90] = {"random_10_90", scattered, 9, GI},
    [STRIDE_256] = {"stride_256", stride, 256, 0},
    [STRIDE_1M] = {"stride_1m", stride, MI, 0},
    [WRITE_STRIDE_8K] = {"write_stride_8k", stride, 8 * KI, 1},
    [WRITE_STRIDE_128K] = {"write_stride_128k", stride, 128 * KI, 1},
    [TWO_STREAMS] = {"two_streams", streams, 2, 512 * MI},
    [TWO_ROWS] = {"two_rows", streams, 2, 256 * KI},
    [FOUR_ROWS] = {"four_rows", streams, 4, 256 * KI},
    [SAME_GROUP] = {"same_group", streams, 4, 32 * KI},
    [FOUR_GROUPS] = {"four_groups", streams, 4, 8 * KI},
    [TILE_3X896] = {"tile_3x896", tile, 3, 896},
    [TILE_7X56K] = {"tile_7x56k", tile, 7, 56 * KI},
    [WRITE_TILE_16X8K] = {"write_tile_16x8k", write_tile, 16, 8 * KI},
    [BLOCK_COPY_512] = {"block_copy_512", blocks, 8, 512 * MI},
    [BLOCK_COPY_64K] = {"block_copy_64k", blocks, 1024, 512 * MI},
    [PRODUCTS_4] = {"products_4", products, 4, 256 * MI},
    [IN_PLACE] = {"in_place", blocks, 1, 0},
    [WRITE_READ_24] = {"write_read_24", write_read, 24, 0},
    [WRITE_READ_128] = {"write_read_128", write_read, 128, 0},
    [READ_BACK_4] = {"read_back_4", read_back, 4, 512 * MI},
    [READ_BACK_16] = {"read_back_16", read_back, 16, 512 * MI},
    [HOT_ROWS_8] = {"hot_rows_8", hot_rows, 8, 136 * KI},
    [HOT_BURSTS_40] = {"hot_bursts_40", scattered, 5, 40 * 64},
    [RESNET_LAYERS] = {"resnet_layers", layers, 0, 4706},
    [MOBILENET_LAYERS] = {"mobilenet_layers", layers, 1, 3452},
};

struct dram_pattern_burst dram_pattern_burst(enum dram_pattern pattern, uint64_t i, uint64_t *random)
{
    return patterns[pattern].at(i, patterns[pattern].a, patterns[pattern].b, random);
}

void dram_pattern_hbm2_of_dramsim3(struct dram_options *options)
{
    options->timings[DRAM_T_rcd_wr] = 14;
    options->timings[DRAM_T_rtp] = 6;
    options->timings[DRAM_T_cwl] = 4;
    options->timings[DRAM_T_rrd_l] = 6;
    options->timings[DRAM_T_faw] = 30;
}

const char *dram_pattern_name(enum dram_pattern pattern)
{
    return patterns[pattern].name;
}

void dram_pattern_replay(const struct dram_options *options, enum dram_pattern pattern, uint64_t bursts,
                         uint32_t outstanding, uint64_t seed, struct dram_replay_result *result, uint32_t *tck_ps)
{
    struct dram_timing timing;
    char message[200];
    uint32_t wrong;
    if (cnnvp_dram_timing_init(options, &timing, message, sizeof message, &wrong) != CNNVP_OK) {
        (void)fprintf(stderr, "%s\n", message);
        exit(99);
    }
    struct dram_replay *replay = cnnvp_dram_replay_new(options, &timing, outstanding, NULL, NULL);
    if (replay == NULL)
        exit(99);
    for (uint64_t i = 0; i < bursts; ++i) {
        const struct dram_pattern_burst burst = dram_pattern_burst(pattern, i, &seed);
        cnnvp_dram_replay_burst(replay, burst.write, burst.address);
    }
    cnnvp_dram_replay_end(replay, DRAM_NEVER, result);
    cnnvp_dram_replay_free(replay);
    *tck_ps = timing.tck_ps;
}
