/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core under GDB: the remote serial protocol ("Debugging with GDB", appendix E) for one thread, served from the
 * core's own process while simulated time stands still. Breakpoints and watchpoints are the core's (cnnvp_program.h),
 * never instructions in memory, so a program's own ebreak is the program's.
 */
#ifndef CNNVP_GDB_H
#define CNNVP_GDB_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp.h"
#include "cnnvp_model.h"
#include "cnnvp_program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_gdb;

/* What a debugger sees of the platform beside the core. */
struct cnnvp_gdb_target {
    void *context;
    /* Memory and devices by addresses of the bus, without side effects. 1, or 0: not there, or not in one piece. */
    int (*read)(void *context, uint32_t address, void *data, size_t size);
    int (*write)(void *context, uint32_t address, const void *data, size_t size);
    /* Answers `monitor WORDS`; the text is the debugger's to free(). NULL without memory. */
    char *(*monitor)(void *context, const char *words);
    /* The debugger ends the run. */
    void (*kill)(void *context);
    /* The core is to ask `wants` soon, also if it sleeps. */
    void (*wake)(void *context);
};

/* Opens the port (see cnnvp_gdb_link_open), and does not wait yet. `target` is copied. */
CNNVP_MUST_USE cnnvp_result cnnvp_gdb_new(const char *port, const struct cnnvp_gdb_target *target,
                                          struct cnnvp_gdb **gdb, struct cnnvp_error *error);
/* Tells a debugger that is there how the run ended: by the program with a code, or (exited 0) otherwise. */
void cnnvp_gdb_end(struct cnnvp_gdb *gdb, int exited, int code);
void cnnvp_gdb_free(struct cnnvp_gdb *gdb);

/* Simulated work passes by, of whatever unit: looks at times whether a debugger calls while the core sleeps. */
void cnnvp_gdb_pulse(struct cnnvp_gdb *gdb);
/* The unit `who`, which is not the core, has read or written memory at addresses of the bus (op, address, size, count,
 * stride): a watchpoint there stops the core between two instructions, or in its sleep. */
void cnnvp_gdb_accessed(struct cnnvp_gdb *gdb, const char *who, const struct cnnvp_request *request);

/* For the core that runs `program`, a file's name to be shown. */
const struct cnnvp_debugger *cnnvp_gdb_debugger(struct cnnvp_gdb *gdb, const char *program);

#ifdef __cplusplus
}
#endif

#endif
