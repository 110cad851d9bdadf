/* SPDX-License-Identifier: Apache-2.0 */
#include "timing_case.h"

static void note(void *context, uint32_t channel, const struct dram_issued *issued)
{
    struct bench *bench = context;
    (void)channel;
    assert_true(bench->count < LOG);
    bench->log[bench->count++] = *issued;
}

struct bench *begin(uint32_t preset, uint32_t outstanding, void (*change)(struct dram_options *options))
{
    struct bench *bench = calloc(1, sizeof *bench);
    char message[200];
    uint32_t wrong;
    assert_non_null(bench);
    cnnvp_dram_options_init(&bench->options);
    bench->options.preset = preset;
    if (change != NULL)
        change(&bench->options);
    assert_int_equal(cnnvp_dram_timing_init(&bench->options, &bench->timing, message, sizeof message, &wrong),
                     CNNVP_OK);
    bench->replay = cnnvp_dram_replay_new(&bench->options, &bench->timing, outstanding, note, bench);
    assert_non_null(bench->replay);
    return bench;
}

void read_at(struct bench *bench, uint64_t address)
{
    cnnvp_dram_replay_burst(bench->replay, 0, address);
}

void end(struct bench *bench)
{
    cnnvp_dram_replay_end(bench->replay, DRAM_NEVER, &bench->result);
}

void done(struct bench *bench)
{
    cnnvp_dram_replay_free(bench->replay);
    free(bench);
}

const struct dram_issued *nth(const struct bench *bench, enum dram_command command, uint32_t n)
{
    for (uint32_t i = 0; i < bench->count; ++i)
        if (bench->log[i].command == command && n-- == 0)
            return &bench->log[i];
    fail_msg("there is no such command");
    return NULL;
}
