/* SPDX-License-Identifier: Apache-2.0 */
#include "dram_patterns.h"

#include <stdio.h>
#include <stdlib.h>

#define MI (UINT64_C(1) << 20)
#define GI (UINT64_C(1) << 30)

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

struct dram_pattern_burst dram_pattern_burst(enum dram_pattern pattern, uint64_t i, uint64_t *random)
{
    struct dram_pattern_burst burst = {0, 64 * i};
    switch (pattern) {
    case SEQ_WRITE:
        burst.write = 1;
        break;
    case COPY:
        burst.write = i & 1;
        burst.address = i / 2 * 64 + (burst.write ? 512 * MI : 0);
        break;
    case READ2_WRITE1:
        burst.write = i % 3 == 2;
        burst.address = burst.write ? 512 * MI + i / 3 * 64 : i / 3 * 128 + i % 3 * 64;
        break;
    case RANDOM_READ:
        burst.address = draw(random) % (GI / 64) * 64;
        break;
    case RANDOM_70_30:
        burst.address = draw(random) % (GI / 64) * 64;
        burst.write = draw(random) % 10 < 3;
        break;
    case STRIDE_8K:
        burst.address = 8192 * i % GI;
        break;
    case STRIDE_128K:
        burst.address = 131072 * i % GI;
        break;
    case TILE_4X1K:
        burst.address = i / 4 * 1024 % GI + i % 4 * 64;
        break;
    case BLOCK_COPY_4K:
        burst.write = i % 128 >= 64;
        burst.address = i / 128 * 4096 + i % 64 * 64 + (burst.write ? 512 * MI : 0);
        break;
    default:
        break;
    }
    return burst;
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
    if (!replay)
        exit(99);
    for (uint64_t i = 0; i < bursts; ++i) {
        const struct dram_pattern_burst burst = dram_pattern_burst(pattern, i, &seed);
        cnnvp_dram_replay_burst(replay, burst.write, burst.address);
    }
    cnnvp_dram_replay_end(replay, DRAM_NEVER, result);
    cnnvp_dram_replay_free(replay);
    *tck_ps = timing.tck_ps;
}
