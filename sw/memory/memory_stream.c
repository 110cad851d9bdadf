/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp_memory_stream: measures patterns of bursts on the memory part that `preset` names or, if it is not set, on
 * each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "cnnvp_memory.h"
#include "memory/dram/dram_replay.h"
#include "memory_internal.h"
#include "value.h"

enum { CLOCKS = 65536, STRIDE = 4096 };

/* The measured window has whole refresh intervals: a part of one would contain either no refresh or a whole one. */
struct window {
    uint64_t begin, end; /* clocks */
    uint64_t bursts;
    int over;
};

static void note_command(void *context, uint32_t channel, const struct dram_issued *issued)
{
    struct window *window = context;
    (void)channel;
    window->bursts +=
        cnnvp_dram_is_column(issued->command) && issued->clock >= window->begin && issued->clock < window->end;
    window->over |= issued->clock >= window->end;
}

/* Sends the i-th burst of a pattern. In the mixed pattern, every third burst is a write. */
static void send(struct dram_replay *replay, enum cnnvp_memory_pattern pattern, uint64_t i)
{
    const uint64_t address =
        pattern == CNNVP_MEMORY_STRIDED  ? i * STRIDE
        : pattern == CNNVP_MEMORY_RANDOM ? (cnnvp_round_random(1, i) >> 32) * DRAM_BURST_BYTES
                                         : i * DRAM_BURST_BYTES;
    cnnvp_dram_replay_burst(
        replay, pattern == CNNVP_MEMORY_WRITE || (pattern == CNNVP_MEMORY_MIXED && i % 3 == 2), address);
}

static cnnvp_result measure(const struct cnnvp_instance *memory, const uint64_t *values, uint32_t outstanding,
                            struct cnnvp_memory_streams *streams, struct cnnvp_error *error)
{
    struct dram_options options;
    struct dram_timing timing;
    char message[256];
    uint32_t at_fault;
    cnnvp_dram_options_read(values, &options);
    if (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &at_fault) != CNNVP_OK) {
        cnnvp_config_place_error(memory, at_fault, message, error);
        return CNNVP_BAD_INPUT;
    }
    cnnvp_dram_timing_speed_up(&timing, memory->speedup);
    const uint64_t refi = timing.t[DRAM_T_refi];
    streams->peak = (double)cnnvp_dram_bytes_per_s(&options, &timing);
    for (unsigned pattern = 0; pattern < CNNVP_MEMORY_PATTERNS; ++pattern) {
        struct window window = {.begin = refi, .end = refi + cnnvp_maximum(CLOCKS / refi, 1) * refi};
        struct dram_replay *replay = cnnvp_dram_replay_new(&options, &timing, outstanding, note_command, &window);
        CNNVP_TRY_MEMORY(replay != NULL, error);
        for (uint64_t i = 0; !window.over; ++i)
            send(replay, (enum cnnvp_memory_pattern)pattern, i);
        cnnvp_dram_replay_free(replay);
        streams->bytes_per_s[pattern] = (double)window.bursts * DRAM_BURST_BYTES * 1e12 /
                                        ((double)(window.end - window.begin) * (double)timing.tck_ps);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_memory_stream(const cnnvp_config *config, uint32_t outstanding, struct cnnvp_memory_streams *streams,
                                 size_t room, size_t *count, struct cnnvp_error *error)
{
    const struct cnnvp_instance *memory;
    *count = 0;
    CNNVP_TRY(cnnvp_memory_find(config, outstanding, &memory, error));
    const struct cnnvp_unit *unit = memory->unit;
    size_t preset = 0;
    while (preset < unit->param_count && strcmp(unit->params[preset].name, "preset") != 0)
        ++preset;
    CNNVP_FREED uint64_t *values = malloc(unit->param_count * sizeof *values);
    CNNVP_TRY_MEMORY(values != NULL && preset != unit->param_count, error);
    memcpy(values, memory->values, unit->param_count * sizeof *values);
    const int set = *memory->places[preset].text != '\0';
    cnnvp_result result = CNNVP_DONE;
    const uint64_t last = set ? values[preset] : UINT64_MAX;
    for (uint64_t i = set ? last : 0; result != CNNVP_FAILED && *count < room && i <= last; ++i) {
        struct cnnvp_memory_streams *next = &streams[*count];
        size_t length;
        const char *name = cnnvp_value_choice(unit->params[preset].choices, i, &length);
        if (name == NULL)
            break;
        (void)snprintf(next->preset, sizeof next->preset, "%.*s", (int)length, name);
        values[preset] = i;
        result = measure(memory, values, outstanding, next, error);
        *count += result == CNNVP_DONE;
    }
    return result == CNNVP_BAD_INPUT && *count != 0 ? CNNVP_DONE : result;
}
