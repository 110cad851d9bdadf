/* SPDX-License-Identifier: Apache-2.0 */
/* The planner's estimate of what transfers take (plan_memory.c) against the memory's model, for all of its presets and
 * different numbers of bursts on their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cnnvp.h"
#include "plan_cost.h"

#define BURST 64u
#define WORD 2u

static const char *const presets[] = {"ddr3-1600", "ddr4-2400", "ddr4-3200", "lpddr4-3200", "hbm2"};
#define HBM2 4u

/* The preset of a memory, and what is set of it besides; NULL: nothing. */
static cnnvp_config *config_with(const char *preset, unsigned outstanding, const char *setting)
{
    char memory[64];
    char dma[64];
    struct cnnvp_error error = {""};
    cnnvp_config *config = NULL;
    (void)snprintf(memory, sizeof memory, "dram.preset=%s", preset);
    (void)snprintf(dma, sizeof dma, "dma.outstanding=%u", outstanding);
    assert_int_equal(cnnvp_config_new("nfu", &config, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, memory, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, dma, &error), CNNVP_DONE);
    if (setting != NULL)
        assert_int_equal(cnnvp_config_set(config, setting, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    return config;
}

/* A trace in a temporary file. */
struct trace {
    char path[32];
    FILE *file;
};

static struct trace trace_begin(void)
{
    struct trace trace = {.path = "/tmp/cnnvp_plan_XXXXXX"};
    const int fd = mkstemp(trace.path);
    assert_true(fd >= 0);
    trace.file = fdopen(fd, "w");
    assert_non_null(trace.file);
    return trace;
}

/* ps of the memory's for the trace, which is removed. */
static uint64_t replayed(struct trace *trace, const cnnvp_config *config, unsigned outstanding,
                         struct cnnvp_memory_result *result)
{
    const struct cnnvp_memory_options options = {
        .struct_size = sizeof options, .outstanding = outstanding, .untimed = 1};
    struct cnnvp_error error = {""};
    assert_int_equal(fclose(trace->file), 0);
    assert_int_equal(cnnvp_memory_replay(config, trace->path, &options, result, NULL, &error), CNNVP_DONE);
    assert_int_equal(unlink(trace->path), 0);
    return result->time_ps;
}

static void near(uint64_t estimate, uint64_t time, unsigned percent, const char *preset, unsigned outstanding)
{
    const uint64_t margin = time * percent / 100u;
    if (estimate + margin < time || estimate > time + margin)
        fail_msg("%s, %u outstanding: estimate %llu ps, memory %llu ps", preset, outstanding,
                 (unsigned long long)estimate, (unsigned long long)time);
}

/* A long stream of reads. */
static void compare_stream(const char *preset, unsigned outstanding, const char *setting, unsigned percent)
{
    const uint64_t bursts = 16000;
    cnnvp_config *config = config_with(preset, outstanding, setting);
    const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(config);
    struct cnnvp_memory_result result = {0};
    struct trace trace = trace_begin();
    for (uint64_t i = 0; i < bursts; ++i)
        assert_true(fprintf(trace.file, "R %llu\n", (unsigned long long)(i * BURST)) > 0);
    near(cnnvp_plan_weights_ps(&timing, bursts * BURST), replayed(&trace, config, outstanding, &result), percent, preset,
         outstanding);
    cnnvp_config_free(config);
}

static void streams_take_what_the_memory_takes(void **state)
{
    (void)state;
    static const unsigned outstanding[] = {1, 2, 4, 8, 12, 16, 24, 32};
    /* Many on their way are in more than two rows of hbm2, which are short. */
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; ++p)
        for (size_t o = 0; o < sizeof outstanding / sizeof outstanding[0]; ++o)
            compare_stream(presets[p], outstanding[o], NULL, outstanding[o] <= 16u ? 6 : 15);
}

static void mappings_and_schedulers_count(void **state)
{
    (void)state;
    static const char *const settings[] = {"dram.mapping=row-column-bank", "dram.mapping=bank-row-column",
                                           "dram.mapping=row-column-group", "dram.scheduler=fcfs", "dram.channels=2",
                                           "dram.queue=8"};
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; ++p)
        for (size_t s = 0; s < sizeof settings / sizeof settings[0]; ++s)
            for (unsigned outstanding = 4; outstanding <= 16; outstanding *= 4)
                compare_stream(presets[p], outstanding, settings[s], p == HBM2 ? 15 : 10);
}

/* Stores of maps with a border, tile by tile of a few channels: rows share bursts, which the write queue merges. */
static void borders_share_bursts(void **state)
{
    (void)state;
    static const uint32_t widths[] = {8, 14, 16, 28, 40, 64};
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; ++p) {
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; ++w) {
            const uint32_t side = widths[w];
            const uint32_t stride = side + 2u;
            const uint32_t channels = 256;
            const struct cnnvp_plan_extent tile = {64, side, side};
            struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 1, .ky = 1, .sx = 1, .sy = 1};
            layer.tile_w = side;
            layer.out = (struct cnnvp_image_tensor){.channels = channels, .height = side, .width = side,
                                                    .row_stride = stride, .channel_stride = stride * stride,
                                                    .border_top = 1, .border_left = 1};
            cnnvp_config *config = config_with(presets[p], 16, NULL);
            const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(config);
            struct cnnvp_memory_result result = {0};
            struct trace trace = trace_begin();
            for (uint32_t row = 0; row < channels * side; ++row) {
                const uint64_t plane = (uint64_t)(row / side) * stride * stride;
                const uint64_t first = (plane + (row % side + 1u) * stride + 1u) * WORD;
                const uint64_t end = first + side * WORD;
                for (uint64_t at = first / BURST; at * BURST < end; ++at)
                    assert_true(fprintf(trace.file, "W %llu\n", (unsigned long long)(at * BURST)) > 0);
            }
            const uint64_t time = replayed(&trace, config, 16, &result);
            near(cnnvp_plan_store_ps(&layer, &timing, &tile) * (channels / tile.channels), time, 18, presets[p], side);
            assert_true(result.merged > 0);
            cnnvp_config_free(config);
        }
    }
}

/* Parts of a tensor's rows, all parts of it one after the other: few of them begin where a burst does. */
static void compare_pieces(const char *preset, uint64_t bytes, uint64_t distance)
{
    const unsigned outstanding = 16;
    const uint64_t pieces = 64;
    const uint64_t parts = distance / bytes;
    cnnvp_config *config = config_with(preset, outstanding, NULL);
    const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(config);
    struct cnnvp_memory_result result = {0};
    struct trace trace = trace_begin();
    for (uint64_t i = 0; i < parts * pieces; ++i) {
        const uint64_t first = i % pieces * distance + i / pieces * bytes;
        for (uint64_t at = first / BURST; at * BURST < first + bytes; ++at)
            assert_true(fprintf(trace.file, "R %llu\n", (unsigned long long)(at * BURST)) > 0);
    }
    const uint64_t time = replayed(&trace, config, outstanding, &result);
    near(parts * cnnvp_plan_pieces_ps(&timing, pieces, bytes, distance, 0), time, 15, preset, (unsigned)bytes);
    cnnvp_config_free(config);
}

static void pieces_begin_within_bursts(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {36, 54, 96, 144, 288, 387, 576};
    static const char *const memories[] = {"ddr3-1600", "ddr4-2400", "ddr4-3200"};
    for (size_t m = 0; m < sizeof memories / sizeof memories[0]; ++m)
        for (size_t b = 0; b < sizeof bytes / sizeof bytes[0]; ++b)
            compare_pieces(memories[m], bytes[b], 4608);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_take_what_the_memory_takes),
        cmocka_unit_test(mappings_and_schedulers_count),
        cmocka_unit_test(borders_share_bursts),
        cmocka_unit_test(pieces_begin_within_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
