/* SPDX-License-Identifier: Apache-2.0 */
/* State of a debugger's connection, shared by gdb.c (breakpoints, execution, commands) and gdb_state.c (registers,
 * memory). */
#pragma once

#include "gdb.h"
#include "gdb_link.h"

enum {
    GDB_GENERAL = 33, /* registers of packet `g`: x0..x31, pc */
    GDB_CHUNK = 1024,
    GDB_STOPS = 256
};

struct gdb_stop {
    enum cnnvp_stop_kind kind;
    uint32_t address, size;
};

struct cnnvp_gdb {
    struct cnnvp_gdb_link link;
    struct cnnvp_gdb_target target;
    struct cnnvp_debugger debugger;
    const struct cnnvp_core *core; /* while the core is halted */
    const char *program;
    int waited; /* has waited for the first debugger */
    int called; /* a debugger has connected, or asks for a stop */
    int owes;   /* the debugger waits for a stop reply */
    int resume; /* 1: the core shall continue */
    int step;
    unsigned looks;
    char stop[64]; /* why the core has halted, in the protocol's form */
    char *features;
    struct gdb_stop set[GDB_STOPS]; /* breakpoints and watchpoints of the debugger */
    unsigned set_count;
    struct gdb_stop foreign; /* watchpoint that another unit's access hit, if `who` is not empty */
    char who[160];           /* message that names that unit */
    size_t out;
    char text[CNNVP_GDB_PACKET + 1]; /* the answer */
};

/* -- gdb_state.c -- */
/* Appends to the answer. */
void gdb_say(struct cnnvp_gdb *gdb, const char *format, ...) CNNVP_PRINTF(2, 3);
void gdb_say_done(struct cnnvp_gdb *gdb, int failed);
/* Reads a hexadecimal number at *text and moves past it. Returns 0 if there is none. */
int gdb_number(const char **text, uint32_t *value);
/* Reads "A,B" followed by the character `end`. */
int gdb_two_numbers(const char **text, char end, uint32_t *a, uint32_t *b);
/* Converts pairs of hexadecimal digits to bytes. Returns their number; SIZE_MAX for other characters. */
size_t gdb_bytes_of(const char *text, unsigned char *bytes, size_t room);
/* Packets g, G, p, P, qXfer, m, M and X; `text` follows the letter. */
void gdb_read_general(struct cnnvp_gdb *gdb);
void gdb_write_general(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_register(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_register(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_features(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_memory(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_memory(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_binary(struct cnnvp_gdb *gdb, const char *packet, size_t packet_size);
