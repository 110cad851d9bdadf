/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to a debugger: GDB's remote serial protocol as packets, over TCP on this machine. One client at a
 * time; a second one is turned away, the next one after it has gone is welcome.
 */
#ifndef CNNVP_GDB_LINK_H
#define CNNVP_GDB_LINK_H

#include <stddef.h>

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CNNVP_GDB_PACKET = 4096 }; /* bytes of a packet's contents; longer ones are refused as if damaged */

struct cnnvp_gdb_link {
    int listener;
    int client; /* -1: none */
    int acknowledge;
    unsigned port;
    size_t held, taken; /* of `input` */
    size_t packet_size, sent_size;
    char input[2048];
    char packet[CNNVP_GDB_PACKET + 1];   /* the last one received, a zero after it */
    char sent[2 * CNNVP_GDB_PACKET + 8]; /* the last one sent, as it went out */
};

/* `port`: a number, 0 for any port that is free. BAD_INPUT with a message where there is no such port. */
CNNVP_MUST_USE cnnvp_result cnnvp_gdb_link_open(struct cnnvp_gdb_link *link, const char *port,
                                                struct cnnvp_error *error);
void cnnvp_gdb_link_close(struct cnnvp_gdb_link *link);

/* Waits for a client. 0: a signal came first. */
int cnnvp_gdb_link_accept(struct cnnvp_gdb_link *link);
void cnnvp_gdb_link_drop(struct cnnvp_gdb_link *link);

/* As drop, once the client has read all, or a second later. */
void cnnvp_gdb_link_finish(struct cnnvp_gdb_link *link);

/* Looks, without waiting, while the program runs: 1 if a client has come, or asks for a stop. It may be gone after. */
int cnnvp_gdb_link_calls(struct cnnvp_gdb_link *link);

/* Waits for a packet. NULL: the client has gone, or a signal came. Valid until the next call. */
const char *cnnvp_gdb_link_receive(struct cnnvp_gdb_link *link, size_t *size);

/* Of more than CNNVP_GDB_PACKET bytes the rest is left out. */
void cnnvp_gdb_link_send(struct cnnvp_gdb_link *link, const char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
