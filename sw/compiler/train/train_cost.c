/* SPDX-License-Identifier: Apache-2.0 */
#include "train_cost.h"

#define BURST_BYTES 64u

/* Words of the element for a transfer (guest/train_chip.c): what changes of its descriptor. */
#define WORDS_LOAD 4u

/* Cycles of a tile in the module besides its values. */
#define MODULE_CYCLES 4u

static uint64_t memory_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces, int written)
{
    if (pieces.count == 0 || pieces.bytes == 0)
        return 0;
    return cnnvp_train_pieces_ps(&target->timing, pieces.count, pieces.bytes, pieces.distance, written);
}

static uint64_t ports_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces, uint32_t width)
{
    const struct cnnvp_train_timing *timing = &target->timing;
    const uint64_t port = later(timing->port, timing->cycle * BURST_BYTES / later(width, 1u));
    return pieces.count * pieces.bytes * port / BURST_BYTES;
}

uint64_t cnnvp_train_read_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces, uint32_t width)
{
    return later(memory_ps(target, pieces, 0), ports_ps(target, pieces, width));
}

struct cnnvp_train_write cnnvp_train_write_of(const struct cnnvp_train_target *target,
                                              struct cnnvp_train_pieces pieces)
{
    const uint64_t through = ports_ps(target, pieces, target->output_width);
    return (struct cnnvp_train_write){later(memory_ps(target, pieces, 1), through), through};
}

uint64_t cnnvp_train_port_cycles(uint64_t bytes, uint32_t width, uint64_t cycles)
{
    const uint64_t needed = cnnvp_divide_up(bytes, later(width, 1u));
    return needed > cycles ? needed - cycles : 0;
}

uint64_t cnnvp_train_module_ps(const struct cnnvp_train_target *target, uint64_t values, uint64_t sets)
{
    const uint64_t at_once = later(sets * target->module_lanes, 1u);
    return (cnnvp_divide_up(values, at_once) + MODULE_CYCLES) * target->timing.cycle;
}

struct cnnvp_timeline cnnvp_train_timeline(const struct cnnvp_train_target *target, uint64_t lead)
{
    return (struct cnnvp_timeline){
        .timing = &target->timing,
        .load_words = WORDS_LOAD,
        .core = -(int64_t)lead,
        .halves = {target->input_halves, target->weight_halves, target->output_halves},
    };
}
