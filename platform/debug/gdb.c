/* SPDX-License-Identifier: Apache-2.0 */
#include "gdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "gdb_internal.h"

enum {
    SIGINT_NUMBER = 2,
    SIGTRAP_NUMBER = 5,
    SIGSEGV_NUMBER = 11,
    SIGTERM_NUMBER = 15,
    LOOKS = 64 /* only one in this many questions polls the connection, since polling is a system call */
};

/* ---- stops ---- */

static void forget_stop(struct cnnvp_gdb *gdb, unsigned i)
{
    (void)gdb->core->remove_stop(gdb->core->self, gdb->set[i].kind, gdb->set[i].address, gdb->set[i].size);
    gdb->set[i] = gdb->set[--gdb->set_count];
}

static void forget_stops(struct cnnvp_gdb *gdb)
{
    while (gdb->set_count > 0)
        forget_stop(gdb, gdb->set_count - 1u);
    gdb->who[0] = 0;
}

static void change_stop(struct cnnvp_gdb *gdb, const char *text, int add)
{
    static const enum cnnvp_stop_kind kinds[] = {
        CNNVP_STOP_EXECUTE, CNNVP_STOP_EXECUTE, CNNVP_STOP_WRITE, CNNVP_STOP_READ, CNNVP_STOP_ACCESS};
    const unsigned type = (unsigned)(unsigned char)*text - '0';
    uint32_t address = 0, size = 0;
    if (type >= sizeof kinds / sizeof *kinds)
        return; /* an empty answer means not supported */
    ++text;
    if (*text++ != ',' || !gdb_two_numbers(&text, 0, &address, &size)) {
        gdb_say(gdb, "E01");
        return;
    }
    const enum cnnvp_stop_kind kind = kinds[type];
    if (kind == CNNVP_STOP_EXECUTE)
        size = 0; /* GDB gives the length of the instruction */
    unsigned i = 0;
    while (i < gdb->set_count &&
           !(gdb->set[i].kind == kind && gdb->set[i].address == address && gdb->set[i].size == size))
        ++i;
    int failed = 0;
    if (!add && i < gdb->set_count) {
        forget_stop(gdb, i);
    } else if (add && i == gdb->set_count) {
        failed = i == GDB_STOPS || gdb->core->add_stop(gdb->core->self, kind, address, size) != 0;
        if (!failed)
            gdb->set[gdb->set_count++] = (struct gdb_stop){kind, address, size};
    }
    gdb_say_done(gdb, failed);
}

/* ---- continuing ---- */

static void go_on(struct cnnvp_gdb *gdb, int step)
{
    gdb->resume = gdb->owes = 1;
    gdb->step = step;
}

static void go_on_from(struct cnnvp_gdb *gdb, const char *text, int step)
{
    uint32_t address = 0;
    if (*text != 0 &&
        (!gdb_number(&text, &address) || *text != 0 || gdb->core->set(gdb->core->self, GDB_GENERAL - 1, address) != 0))
        gdb_say(gdb, "E01");
    else
        go_on(gdb, step);
}

/* Handles "Csig" and "Ssig", with or without an address. Signals are ignored, because a bare-metal program has none. */
static void go_on_with_signal(struct cnnvp_gdb *gdb, const char *text, int step)
{
    const char *address = strchr(text, ';');
    go_on_from(gdb, address != NULL ? address + 1 : "", step);
}

static void leave(struct cnnvp_gdb *gdb)
{
    forget_stops(gdb);
    gdb->resume = 1;
    gdb->step = gdb->owes = 0;
}

static void end_run(struct cnnvp_gdb *gdb)
{
    leave(gdb);
    gdb->target.kill(gdb->target.context);
}

/* ---- commands ---- */

/* Sends text in pieces, each in a packet of its own, before the answer. */
static void show(struct cnnvp_gdb *gdb, const char *text)
{
    char packet[2 * GDB_CHUNK + 1];
    for (size_t left = strlen(text); left > 0;) {
        const size_t piece = left < GDB_CHUNK ? left : GDB_CHUNK;
        size_t n = 0;
        packet[n++] = 'O';
        for (size_t i = 0; i < piece; ++i) {
            packet[n++] = "0123456789abcdef"[(unsigned char)text[i] >> 4];
            packet[n++] = "0123456789abcdef"[(unsigned char)text[i] & 15u];
        }
        cnnvp_gdb_link_send(&gdb->link, packet, n);
        text += piece;
        left -= piece;
    }
}

static void monitor(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char words[256];
    const size_t size = gdb_bytes_of(text, words, sizeof words - 1u);
    if (size == SIZE_MAX) {
        gdb_say(gdb, "E01");
        return;
    }
    words[size] = 0;
    char *answer = gdb->target.monitor(gdb->target.context, (const char *)words);
    if (answer != NULL)
        show(gdb, answer);
    gdb_say_done(gdb, answer == NULL);
    free(answer);
}

/* 1 if `text` begins with `word`; *rest is the text after it. */
static int begins(const char *text, const char *word, const char **rest)
{
    const size_t size = strlen(word);
    *rest = text + size;
    return strncmp(text, word, size) == 0;
}

static void query(struct cnnvp_gdb *gdb, const char *text)
{
    const char *rest;
    if (begins(text, "qSupported", &rest))
        gdb_say(gdb, "PacketSize=%x;qXfer:features:read+;QStartNoAckMode+;vContSupported+", CNNVP_GDB_PACKET);
    else if (begins(text, "qXfer:features:read:target.xml:", &rest))
        gdb_read_features(gdb, rest);
    else if (begins(text, "qRcmd,", &rest))
        monitor(gdb, rest);
    else if (begins(text, "qAttached", &rest))
        gdb_say(gdb, "1"); /* GDB leaves the run alone when it quits */
    else if (strcmp(text, "qC") == 0)
        gdb_say(gdb, "QC1");
    else if (strcmp(text, "qfThreadInfo") == 0)
        gdb_say(gdb, "m1");
    else if (strcmp(text, "qsThreadInfo") == 0)
        gdb_say(gdb, "l");
    else if (begins(text, "qSymbol", &rest))
        gdb_say(gdb, "OK");
}

static void several_letters(struct cnnvp_gdb *gdb, const char *text)
{
    const char *rest;
    if (strcmp(text, "vCont?") == 0)
        gdb_say(gdb, "vCont;c;C;s;S");
    else if (begins(text, "vCont;", &rest) && (*rest == 'c' || *rest == 'C'))
        go_on(gdb, 0);
    else if (begins(text, "vCont;", &rest) && (*rest == 's' || *rest == 'S'))
        go_on(gdb, 1);
    else if (begins(text, "vKill", &rest)) {
        gdb_say(gdb, "OK");
        end_run(gdb);
    }
}

static void command(struct cnnvp_gdb *gdb, const char *packet, size_t size)
{
    const char *text = packet + (size > 0);
    switch (*packet) {
    case '?':
        gdb_say(gdb, "%s", gdb->stop);
        break;
    case 'g':
        gdb_read_general(gdb);
        break;
    case 'G':
        gdb_write_general(gdb, text);
        break;
    case 'p':
        gdb_read_register(gdb, text);
        break;
    case 'P':
        gdb_write_register(gdb, text);
        break;
    case 'm':
        gdb_read_memory(gdb, text);
        break;
    case 'M':
        gdb_write_memory(gdb, text);
        break;
    case 'X':
        gdb_write_binary(gdb, packet, size);
        break;
    case 'Z':
    case 'z':
        change_stop(gdb, text, *packet == 'Z');
        break;
    case 'c':
    case 's':
        go_on_from(gdb, text, *packet == 's');
        break;
    case 'C':
    case 'S':
        go_on_with_signal(gdb, text, *packet == 'S');
        break;
    case 'H':
    case 'T':
        gdb_say(gdb, "OK");
        break;
    case 'D':
        gdb_say(gdb, "OK");
        leave(gdb);
        break;
    case 'k':
        end_run(gdb);
        break;
    case 'q':
        query(gdb, packet);
        break;
    case 'v':
        several_letters(gdb, packet);
        break;
    default:
        break; /* an empty answer means not supported */
    }
}

static void answer(struct cnnvp_gdb *gdb, const char *packet, size_t size)
{
    gdb->out = 0;
    gdb->text[0] = 0;
    if (strcmp(packet, "QStartNoAckMode") == 0) {
        cnnvp_gdb_link_send(&gdb->link, "OK", 2);
        gdb->link.acknowledge = 0;
        return;
    }
    command(gdb, packet, size);
    if (!gdb->resume || gdb->out > 0)
        cnnvp_gdb_link_send(&gdb->link, gdb->text, gdb->out);
}

/* ---- the core's calls ---- */

static int calls(struct cnnvp_gdb *gdb)
{
    if (!gdb->called && ++gdb->looks % LOOKS == 0)
        gdb->called = cnnvp_gdb_link_calls(&gdb->link);
    if (gdb->link.client < 0)
        gdb->owes = 0; /* the next debugger has asked for nothing yet */
    return gdb->called;
}

static int wants(void *context)
{
    struct cnnvp_gdb *gdb = context;
    return !gdb->waited || gdb->who[0] != 0 || calls(gdb);
}

static void describe_stop(struct cnnvp_gdb *gdb, enum cnnvp_halt why, const struct gdb_stop *hit)
{
    static const char *const watches[] = {
        [CNNVP_STOP_WRITE] = "watch", [CNNVP_STOP_READ] = "rwatch", [CNNVP_STOP_ACCESS] = "awatch"};
    const int signal = why == CNNVP_HALT_ASKED     ? SIGINT_NUMBER
                       : why == CNNVP_HALT_FAILURE ? SIGSEGV_NUMBER
                                                   : SIGTRAP_NUMBER;
    if (why == CNNVP_HALT_STOP && hit->kind != CNNVP_STOP_EXECUTE)
        (void)snprintf(gdb->stop, sizeof gdb->stop, "T%02x%s:%" PRIx32 ";thread:1;", (unsigned)signal,
                       watches[hit->kind], hit->address);
    else
        (void)snprintf(gdb->stop, sizeof gdb->stop, "T%02xthread:1;", (unsigned)signal);
}

/* Waits for the debugger with which the run begins. Returns 0 if a signal came first. */
static int wait_for_client(struct cnnvp_gdb *gdb)
{
    gdb->waited = 1;
    (void)fprintf(stderr, "cnnvp: waiting for a debugger: gdb-multiarch %s -ex 'target remote :%u'\n", gdb->program,
                  gdb->link.port);
    return cnnvp_gdb_link_accept(&gdb->link);
}

/* Reports why the core has halted. */
static void tell_stop(struct cnnvp_gdb *gdb, enum cnnvp_halt why, const struct gdb_stop *hit)
{
    const int is_foreign = why == CNNVP_HALT_ASKED && gdb->who[0] != 0;
    describe_stop(gdb, is_foreign ? CNNVP_HALT_STOP : why, is_foreign ? &gdb->foreign : hit);
    if (gdb->owes && is_foreign)
        show(gdb, gdb->who);
    if (is_foreign)
        gdb->who[0] = 0;
    if (gdb->owes)
        cnnvp_gdb_link_send(&gdb->link, gdb->stop, strlen(gdb->stop));
    else
        forget_stops(gdb); /* of an earlier debugger */
}

/* True if the address belongs to a breakpoint or watchpoint that is still set. */
static int is_watched(const struct cnnvp_gdb *gdb, const struct gdb_stop *hit)
{
    for (unsigned i = 0; i < gdb->set_count; ++i)
        if (gdb->set[i].kind == hit->kind && hit->address - gdb->set[i].address < gdb->set[i].size)
            return 1;
    return 0;
}

static int halted(void *context, const struct cnnvp_core *core, enum cnnvp_halt why, enum cnnvp_stop_kind kind,
                  uint32_t address)
{
    struct cnnvp_gdb *gdb = context;
    const struct gdb_stop hit = {kind, address, 0};
    const char *packet;
    size_t size = 0;
    gdb->core = core;
    gdb->resume = gdb->step = gdb->called = 0;
    if (!gdb->waited)
        (void)wait_for_client(gdb);
    tell_stop(gdb, why, &hit);
    gdb->owes = 0;
    while (!gdb->resume && (packet = cnnvp_gdb_link_receive(&gdb->link, &size)) != NULL)
        answer(gdb, packet, size);
    if (!is_watched(gdb, &gdb->foreign))
        gdb->who[0] = 0;
    if (!gdb->resume)
        leave(gdb); /* the debugger has gone without a command */
    if (!gdb->owes)
        cnnvp_gdb_link_drop(&gdb->link);
    gdb->core = NULL;
    return gdb->step;
}

/* ---- the platform's calls ---- */

void cnnvp_gdb_pulse(struct cnnvp_gdb *gdb)
{
    if (gdb->waited && !gdb->called && calls(gdb))
        gdb->target.wake(gdb->target.context);
}

/* Returns 1 and the address if a segment of the request overlaps [address, address + size). */
static int touches(const struct cnnvp_request *request, uint64_t address, uint64_t size, uint64_t *where)
{
    for (uint64_t i = 0; i < request->count; ++i) {
        const uint64_t begin = request->address + i * (uint64_t)request->stride;
        if (begin < address + size && address < begin + request->size) {
            *where = begin > address ? begin : address;
            return 1;
        }
    }
    return 0;
}

void cnnvp_gdb_accessed(struct cnnvp_gdb *gdb, const char *who, const struct cnnvp_request *request)
{
    const enum cnnvp_stop_kind kind = request->op == CNNVP_WRITE ? CNNVP_STOP_WRITE : CNNVP_STOP_READ;
    uint64_t where = 0;
    for (unsigned i = 0; i < gdb->set_count && gdb->who[0] == 0; ++i) {
        const struct gdb_stop *stop = &gdb->set[i];
        if ((stop->kind != kind && stop->kind != CNNVP_STOP_ACCESS) ||
            !touches(request, stop->address, stop->size, &where))
            continue;
        gdb->foreign = (struct gdb_stop){stop->kind, (uint32_t)where, 0};
        (void)snprintf(gdb->who, sizeof gdb->who,
                       "0x%08" PRIx64 " was %s by %s, not by the core (%" PRIu64 " bytes from 0x%08" PRIx64 " on)\n",
                       where, kind == CNNVP_STOP_WRITE ? "written" : "read", who, request->size * request->count,
                       request->address);
        gdb->target.wake(gdb->target.context);
    }
}

/* ---- life ---- */

cnnvp_result cnnvp_gdb_new(const char *port, const struct cnnvp_gdb_target *target, struct cnnvp_gdb **gdb,
                           struct cnnvp_error *error)
{
    *gdb = NULL;
    CNNVP_FREED struct cnnvp_gdb *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    made->target = *target;
    made->program = "PROGRAM.elf";
    made->debugger = (struct cnnvp_debugger){.context = made, .wants = wants, .halted = halted};
    CNNVP_TRY(cnnvp_gdb_link_open(&made->link, port, error));
    *gdb = made;
    made = NULL;
    return CNNVP_DONE;
}

void cnnvp_gdb_end(struct cnnvp_gdb *gdb, int exited, int code)
{
    gdb->out = 0;
    gdb_say(gdb, "%c%02x", exited ? 'W' : 'X', exited ? (unsigned)code & 0xffu : SIGTERM_NUMBER);
    if (gdb->owes)
        cnnvp_gdb_link_send(&gdb->link, gdb->text, gdb->out);
    gdb->owes = 0;
    cnnvp_gdb_link_finish(&gdb->link);
}

void cnnvp_gdb_free(struct cnnvp_gdb *gdb)
{
    if (gdb == NULL)
        return;
    cnnvp_gdb_link_close(&gdb->link);
    free(gdb->features);
    free(gdb);
}

const struct cnnvp_debugger *cnnvp_gdb_debugger(struct cnnvp_gdb *gdb, const char *program)
{
    gdb->program = program;
    return &gdb->debugger;
}
