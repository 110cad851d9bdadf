/* SPDX-License-Identifier: Apache-2.0 */
/* State of a debugger's connection, shared by gdb.c (stops, going on, commands) and gdb_state.c (registers, memory). */
#ifndef CNNVP_GDB_INTERNAL_H
#define CNNVP_GDB_INTERNAL_H

#include "gdb.h"
#include "gdb_link.h"

enum {
    GDB_GENERAL = 33, /* registers of `g`: x0..x31, pc */
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
    const struct cnnvp_core *core; /* while it stands still */
    const char *program;
    int waited; /* for the first debugger */
    int called; /* a debugger has come, or asks for a stop */
    int owes;   /* the debugger waits for a stop */
    int resume; /* 1: the core is to go on */
    int step;
    unsigned looks;
    char stop[64]; /* why the core stands still, as the protocol says it */
    char *features;
    struct gdb_stop set[GDB_STOPS]; /* by the debugger */
    unsigned set_count;
    struct gdb_stop foreign; /* what another unit has accessed, if `who` is not empty */
    char who[160];           /* and which one, for the debugger's user */
    size_t out;
    char text[CNNVP_GDB_PACKET + 1]; /* the answer */
};

/* -- gdb_state.c -- */
/* Adds to the answer. */
void gdb_say(struct cnnvp_gdb *gdb, const char *format, ...) CNNVP_PRINTF(2, 3);
void gdb_say_done(struct cnnvp_gdb *gdb, int failed);
/* A hexadecimal number at *text, which goes on after it. 0 if there is none. */
int gdb_number(const char **text, uint32_t *value);
/* "A,B", and the character `end`. */
int gdb_two_numbers(const char **text, char end, uint32_t *a, uint32_t *b);
/* Bytes from pairs of digits. How many there are; SIZE_MAX if something else stands there. */
size_t gdb_bytes_of(const char *text, unsigned char *bytes, size_t room);
/* Packets g, G, p, P, qXfer, m, M and X; `text` is what follows the letter. */
void gdb_read_general(struct cnnvp_gdb *gdb);
void gdb_write_general(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_register(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_register(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_features(struct cnnvp_gdb *gdb, const char *text);
void gdb_read_memory(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_memory(struct cnnvp_gdb *gdb, const char *text);
void gdb_write_binary(struct cnnvp_gdb *gdb, const char *packet, size_t packet_size);

#endif
