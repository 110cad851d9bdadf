/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accelerator of a configuration twice: as units that are asked (cnnvp_units), and the same units at work between
 * the same buffers and memory, on a host without SystemC.
 */
#ifndef CNNVP_TEST_UNITS_RIG_H
#define CNNVP_TEST_UNITS_RIG_H

#include "cnnvp.h"
#include "cnnvp_command.h"
#include "fake_host.h"

enum { UNITS_RIG_HOSTS = 13 };

struct units_rig {
    cnnvp_config *config;
    cnnvp_units *units;
    struct fake_sim sim;
    struct cnnvp_host *hosts[UNITS_RIG_HOSTS]; /* NULL: the platform has no such instance */
    cnnvp_time done_at;                        /* of the newest completion; CNNVP_TIME_NEVER: none */
    int32_t done_status;
};

/* A preset or file with the settings, NULL-terminated. Whatever is wrong ends the test. */
cnnvp_config *units_configure(const char *preset, const char *const *settings);

/* Takes the configuration. */
void units_rig_open(struct units_rig *rig, cnnvp_config *config, int timing_only);
void units_rig_close(struct units_rig *rig);

struct cnnvp_host *units_rig_host(struct units_rig *rig, const char *instance);
/* Lets time pass to a clock edge: what has been sent ends. */
void units_rig_to_edge(struct units_rig *rig, uint64_t edge);
uint64_t units_rig_edge(const struct units_rig *rig);

/* The instance that executes an instruction: of a unit, as in opcodes.def, or its stand-in. */
const char *units_rig_executor(const struct units_rig *rig, const char *unit, const char *stand_in);

/* What the instance says that the command takes. */
struct cnnvp_cost units_ask(struct units_rig *rig, const char *instance, const struct cnnvp_command *command);
/* The command itself; returns the unit's status. */
int units_send(struct units_rig *rig, const char *instance, const struct cnnvp_command *command, cnnvp_time *delay);

#endif
