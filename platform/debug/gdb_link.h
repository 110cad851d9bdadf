/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection to a debugger: packets of GDB's remote serial protocol over TCP on this machine. One client at a time; a
 * second one is rejected until the first has gone.
 */
#pragma once

#include <stddef.h>

#include "cnnvp.h"

enum { CNNVP_GDB_PACKET = 4096 }; /* largest contents of a packet in bytes; longer packets are treated as damaged */

struct cnnvp_gdb_link {
    int listener;
    int client; /* -1: none */
    int acknowledge;
    unsigned port;
    size_t held, taken; /* positions in `input` */
    size_t packet_size, sent_size;
    char input[2048];
    char packet[CNNVP_GDB_PACKET + 1];   /* last packet received, ended by a zero */
    char sent[2 * CNNVP_GDB_PACKET + 8]; /* last packet sent, in its encoded form */
};

/* `port`: a number; 0: any free port. BAD_INPUT with a message if there is no such port. */
CNNVP_MUST_USE cnnvp_result cnnvp_gdb_link_open(struct cnnvp_gdb_link *link, const char *port,
                                                struct cnnvp_error *error);
void cnnvp_gdb_link_close(struct cnnvp_gdb_link *link);

/* Waits for a client. Returns 0 if a signal came first. */
int cnnvp_gdb_link_accept(struct cnnvp_gdb_link *link);
void cnnvp_gdb_link_drop(struct cnnvp_gdb_link *link);

/* As drop, but first waits until the client has read everything, at most one second. */
void cnnvp_gdb_link_finish(struct cnnvp_gdb_link *link);

/* Polls while the program runs. Returns 1 if a client has connected or asks for a stop; the client may be gone
 * afterwards. */
int cnnvp_gdb_link_calls(struct cnnvp_gdb_link *link);

/* Waits for a packet, valid until the next call. NULL: the client has gone, or a signal came. */
const char *cnnvp_gdb_link_receive(struct cnnvp_gdb_link *link, size_t *size);

/* Sends at most CNNVP_GDB_PACKET bytes; the rest is cut off. */
void cnnvp_gdb_link_send(struct cnnvp_gdb_link *link, const char *data, size_t size);
