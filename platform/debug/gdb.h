/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debugs a core with GDB: the remote serial protocol ("Debugging with GDB", appendix E) for one thread. It is served
 * from the core's own process while simulated time stands still. Breakpoints and watchpoints are implemented by the
 * core (cnnvp_program.h), not by instructions in memory, so a program may use ebreak itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp.h"
#include "cnnvp_model.h"
#include "cnnvp_program.h"

struct cnnvp_gdb;

/* A debugger's access to the platform beside the core. */
struct cnnvp_gdb_target {
    void *context;
    /* Memory and devices by bus addresses, without side effects. Returns 1, or 0 if the range is missing or not in one
     * piece. */
    int (*read)(void *context, uint32_t address, void *data, size_t size);
    int (*write)(void *context, uint32_t address, const void *data, size_t size);
    /* Answers `monitor WORDS`. The caller frees the text with free(). NULL: out of memory. */
    char *(*monitor)(void *context, const char *words);
    /* The debugger ends the run. */
    void (*kill)(void *context);
    /* Makes the core call `wants` soon, even if it sleeps. */
    void (*wake)(void *context);
};

/* Opens the port (see cnnvp_gdb_link_open), but does not wait yet. Copies `target`. */
CNNVP_MUST_USE cnnvp_result cnnvp_gdb_new(const char *port, const struct cnnvp_gdb_target *target,
                                          struct cnnvp_gdb **gdb, struct cnnvp_error *error);
/* Tells a connected debugger how the run ended: by the program with a code, or otherwise (exited 0). */
void cnnvp_gdb_end(struct cnnvp_gdb *gdb, int exited, int code);
void cnnvp_gdb_free(struct cnnvp_gdb *gdb);

/* Called with simulated work of any unit: checks from time to time whether a debugger calls while the core sleeps. */
void cnnvp_gdb_pulse(struct cnnvp_gdb *gdb);
/* The unit `who`, not the core, has accessed memory at bus addresses (op, address, size, count, stride). A watchpoint
 * there stops the core between two instructions, or in its sleep. */
void cnnvp_gdb_accessed(struct cnnvp_gdb *gdb, const char *who, const struct cnnvp_request *request);

/* Interface for the core that runs `program`, a file name for messages. */
const struct cnnvp_debugger *cnnvp_gdb_debugger(struct cnnvp_gdb *gdb, const char *program);
