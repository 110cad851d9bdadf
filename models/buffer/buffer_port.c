/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a half's port and banks take for an access, in closed form and stepped. The two share nothing but the
 * description of the port.
 */
#include "buffer_internal.h"
#include "cnnvp_integer.h"

static uint64_t turns_of(const struct buffer_port *port, const struct buffer_pattern *pattern)
{
    if (pattern->rows == 0)
        return cnnvp_divide_up(pattern->streams, port->banks);
    const uint64_t maps = cnnvp_divide_up(pattern->streams, pattern->rows);
    const uint64_t banks = cnnvp_maximum(port->banks / maps, 1u);
    const uint64_t apart = banks / cnnvp_common_divisor(banks, pattern->row_step);
    return cnnvp_divide_up(pattern->rows, apart) * cnnvp_divide_up(maps, port->banks);
}

uint64_t buffer_port_cycles(const struct buffer_port *port, const struct buffer_pattern *pattern)
{
    return cnnvp_divide_up(pattern->words, port->width_words) * turns_of(port, pattern);
}

/* The bank of a stream's address in the beat that begins at row `first` of each map. */
static uint64_t bank_of(const struct buffer_port *port, const struct buffer_pattern *pattern, uint64_t stream,
                        uint64_t first)
{
    if (pattern->rows == 0)
        return (first + stream) % port->banks;
    const uint64_t maps = cnnvp_divide_up(pattern->streams, pattern->rows);
    const uint64_t map = stream / pattern->rows;
    const uint64_t row = first + stream % pattern->rows * pattern->row_step;
    if (port->banks < maps)
        return map % port->banks;
    const uint64_t banks = port->banks / maps;
    return map * banks + row % banks;
}

/* Cycles of a beat: one after the other, in each of which every bank serves the first stream that waits for it. */
static uint64_t step_beat(const struct buffer_port *port, const struct buffer_pattern *pattern, uint64_t first,
                          struct buffer_port_state *state)
{
    uint64_t waiting = pattern->streams;
    uint64_t cycles = 0;
    for (uint64_t s = 0; s < pattern->streams; ++s)
        state->served[s] = 0;
    while (waiting != 0) {
        ++cycles;
        for (uint64_t s = 0; s < pattern->streams; ++s) {
            const uint64_t bank = bank_of(port, pattern, s, first);
            if (state->served[s] || state->busy[bank] == state->cycle + cycles)
                continue;
            state->busy[bank] = state->cycle + cycles;
            state->served[s] = 1;
            --waiting;
        }
    }
    state->cycle += cycles;
    return cycles;
}

uint64_t buffer_port_step(const struct buffer_port *port, const struct buffer_pattern *pattern,
                          struct buffer_port_state *state)
{
    uint64_t cycles = 0;
    uint64_t row = 0;
    for (uint64_t left = pattern->words; left != 0; left -= cnnvp_minimum(left, port->width_words))
        cycles += step_beat(port, pattern, row++, state);
    return cycles;
}
