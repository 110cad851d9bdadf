/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a PE array on FX16: how a command reaches the array, and its operands and results the buffers. A command
 * makes one access on each link: the tile's inputs, its weights with the biases, and the update of the output buffer.
 *
 * The vector unit reaches the buffers through them too where it sweeps windows.
 *
 * An engine's access callback: cnnvp_fx16_command, cnnvp_fx16_decode, its own cost, cnnvp_fx16_fetch, its arithmetic or
 * stepping, cnnvp_fx16_deliver, cnnvp_fx16_occupy.
 */
#ifndef CNNVP_FX16_LINK_H
#define CNNVP_FX16_LINK_H

#include "fx16_tile.h"

/* Ports of every such engine, and its one track. */
enum cnnvp_fx16_port {
    CNNVP_FX16_PORT_command,
    CNNVP_FX16_PORT_input,
    CNNVP_FX16_PORT_weight,
    CNNVP_FX16_PORT_output,
    CNNVP_FX16_PORTS
};
extern const struct cnnvp_port cnnvp_fx16_ports[CNNVP_FX16_PORTS];
extern const char *const cnnvp_fx16_tracks[1];

/* The part of an engine's instance that its links need. */
struct cnnvp_fx16_unit {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint32_t acc_bits;
    bool timing_only;
    uint32_t rejected_stat; /* counts refused commands */
    struct cnnvp_fx16_scratch scratch;
    int64_t *sums;
    uint64_t sums_size; /* elements */
};

/* Words that cross each port and the cycles over which they are spread. */
struct cnnvp_fx16_traffic {
    uint64_t input_words, input_cycles;
    uint64_t weight_words, weight_cycles; /* biases included */
    uint64_t output_words, output_cycles;
    uint32_t passes; /* updates of each sum; with more than one they are kept at acc_addr while the command runs */
};

/* Cycles by which the buffers' ports lengthen a command. */
struct cnnvp_fx16_stalls {
    uint64_t input;
    uint64_t weight;
    uint64_t output;
};

void cnnvp_fx16_unit_free(struct cnnvp_fx16_unit *unit);

/* The command that an access at the command port carries; CNNVP_E_ACCESS or CNNVP_E_INVAL where it carries none. */
CNNVP_MUST_USE int cnnvp_fx16_command(const struct cnnvp_access *access, const struct cnnvp_command **command);

/* Counts and reports a refused command; returns `status`. `reason` may be NULL: then it follows from the status. */
CNNVP_MUST_USE int cnnvp_fx16_refuse(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                     int status, const char *reason);

/* Checks that the results fit, before anything is done, and borrows inputs and weights. data->sums has room for the
 * results, NULL in timing-only. */
CNNVP_MUST_USE int cnnvp_fx16_fetch(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                    const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                    struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls);

/* Sends the sums to the output buffer. *saturated: results that were clipped there. */
CNNVP_MUST_USE int cnnvp_fx16_deliver(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                      const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls,
                                      uint64_t *saturated);

/* The array is busy for so many cycles from the access's time on: sets its delay, draws the span. */
void cnnvp_fx16_occupy(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, const char *name,
                       uint64_t cycles, struct cnnvp_access *access);

#endif
