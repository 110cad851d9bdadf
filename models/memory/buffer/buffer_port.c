/* SPDX-License-Identifier: Apache-2.0 */
/* How long a half's port and banks take for an access. */
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
