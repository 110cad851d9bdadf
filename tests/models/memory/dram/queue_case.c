/* SPDX-License-Identifier: Apache-2.0 */
#include "dram_options.h"
#include "queue_case.h"
#include "random.h"

enum { HBM2 = 4, HBM3 = 7 };
#define DDR5 5u /* of which four ranks are more banks than a channel has, and a refresh takes 710 clocks */

void queue_random_options(uint64_t *random, struct dram_options *options)
{
    cnnvp_dram_options_init(options);
    options->preset = below(random, 6);
    options->mapping = below(random, 5);
    options->channels = below(random, 4) ? 1 : 1 + below(random, 3);
    options->ranks = below(random, 3) ? 1 : 1u << below(random, options->preset == DDR5 ? 2 : 3);
    options->scheduler = !below(random, 8);
    options->row_policy = !below(random, 8);
    options->refresh = below(random, 2) ? DRAM_REFRESH_all_ranks : below(random, 3);
    options->queue = below(random, 2) ? 32 : 4 + below(random, 61);
    options->drain_high = 40 + below(random, 60);
    options->drain_low = below(random, 40);
    uint64_t aside = *random; /* the seeds below stay what they are */
    if (!below(&aside, 4))
        options->preset = 6 + below(&aside, 2); /* lpddr5, hbm3 */
    else if (options->preset == DDR5 && below(&aside, 2))
        options->width_bits = 16;
    if ((options->preset == HBM2 || options->preset == HBM3) && options->ranks < 4 && below(&aside, 2))
        options->pseudo_channels = 2;
    options->arbiter = below(&aside, 3);
    options->turn = below(&aside, 2) ? options->turn : 1 + below(&aside, 60);
    options->port_bytes = below(&aside, 8) ? 0 : 1 + below(&aside, 300);
    options->port_mhz = below(&aside, 2) ? 0 : 100 + below(&aside, 3000);
    if (!below(random, 3)) /* many refreshes */
        options->timings[DRAM_T_refi] = (options->preset == DDR5 ? 1300 : 1000) + below(random, 500);
    if (!below(random, 8)) /* also longer than a read takes */
        options->timings[DRAM_T_ccd_l] = 10 + below(random, 60);
    if (!below(random, 4)) { /* commands of several clocks */
        options->timings[DRAM_T_cmd_column] = 1 + below(random, 2);
        options->timings[DRAM_T_cmd_pre] = 1 + below(random, 3);
        options->timings[DRAM_T_cmd_act] = options->timings[DRAM_T_cmd_pre] + below(random, 4);
    }
    if (!below(&aside, 4))
        options->timings[DRAM_T_aad] = cnnvp_maximum32(options->timings[DRAM_T_cmd_act], 4) + below(&aside, 3);
    if (options->scheduler == DRAM_SCHEDULER_fr_fcfs && below(&aside, 2))
        options->scheduler = DRAM_SCHEDULER_fr_fcfs_row_hit;
    options->power_down = below(&aside, 3);
    options->power_down_after = below(&aside, 2) ? 0 : below(&aside, 200);
}

void queue_mix(uint64_t *digest, uint64_t value)
{
    *digest = (*digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *digest ^= *digest >> 29;
}

static void mix_time(uint64_t *digest, uint64_t ready, uint64_t clock)
{
    queue_mix(digest, ready > clock ? ready : clock);
}

uint64_t queue_state(const struct dram_channel *channel, uint64_t clock)
{
    uint64_t digest = channel->open;
    for (uint32_t i = 0; i < DRAM_BANKS; ++i) {
        const struct dram_bank *bank = &channel->bank[i];
        queue_mix(&digest, bank->open ? bank->row : 0);
        mix_time(&digest, bank->act, clock);
        mix_time(&digest, bank->pre, clock);
        mix_time(&digest, bank->column, clock);
    }
    for (uint32_t i = 0; i < DRAM_GROUPS; ++i) {
        mix_time(&digest, channel->group[i].act, clock);
        mix_time(&digest, channel->group[i].column[0], clock);
        mix_time(&digest, channel->group[i].column[1], clock);
    }
    for (uint32_t i = 0; i < DRAM_RANKS; ++i) {
        const struct dram_rank *rank = &channel->rank[i];
        const uint64_t times[] = {rank->act, rank->column[0], rank->column[1], rank->pre_all, rank->refresh};
        for (size_t j = 0; j < sizeof times / sizeof times[0]; ++j)
            mix_time(&digest, times[j], clock);
        mix_time(&digest, rank->low_from, clock);
        for (uint32_t j = 0; j < 4; ++j)
            mix_time(&digest, rank->window[(rank->window_at + j) % 4u], clock);
    }
    mix_time(&digest, channel->column_bus, clock);
    mix_time(&digest, channel->row_bus, clock);
    queue_mix(&digest, channel->second_by);
    queue_mix(&digest, channel->bus[0].end);
    queue_mix(&digest, channel->bus[1].end);
    queue_mix(&digest, channel->returned);
    queue_mix(&digest, cnnvp_dram_channel_waiting(channel));
    return digest;
}
