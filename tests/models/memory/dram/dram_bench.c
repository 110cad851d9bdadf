/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts in a second of processor time that the controller model gets through, for each pattern. */
#include <stdio.h>
#include <time.h>

#include "dram_options.h"
#include "dram_patterns.h"

int main(void)
{
    for (uint32_t pattern = 0; pattern <= BLOCK_COPY_4K; ++pattern) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        const uint64_t bursts = 1000000;
        struct timespec begin, end;
        cnnvp_dram_options_init(&options);
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        dram_pattern_replay(&options, (enum dram_pattern)pattern, bursts, 32, 1, &result, &tck_ps);
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        const double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        (void)printf("%-14s %6.2f million bursts/s\n", dram_pattern_name((enum dram_pattern)pattern),
                     (double)bursts / seconds / 1e6);
    }
    return 0;
}
