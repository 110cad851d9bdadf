/* SPDX-License-Identifier: Apache-2.0 */
#include "gdb.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb_link.h"

enum {
    GENERAL = 33, /* registers of `g`: x0..x31, pc */
    SIGINT_NUMBER = 2,
    SIGTRAP_NUMBER = 5,
    SIGSEGV_NUMBER = 11,
    SIGTERM_NUMBER = 15,
    LOOKS = 64, /* one of this many questions looks at the connection: a look is a call of the system */
    CHUNK = 1024
};

struct cnnvp_gdb {
    struct cnnvp_gdb_link link;
    struct cnnvp_gdb_target target;
    struct cnnvp_debugger debugger;
    const struct cnnvp_core *core; /* while it stands still */
    const char *program;
    int waited; /* for the first debugger */
    int owes;   /* the debugger waits for a stop */
    int resume; /* 1: the core is to go on */
    int step;
    unsigned looks;
    char stop[64]; /* why the core stands still, as the protocol says it */
    char *features;
    struct {
        enum cnnvp_stop_kind kind;
        uint32_t address, size;
    } set[256]; /* stops that the debugger has set */
    unsigned set_count;
    size_t out;
    char text[CNNVP_GDB_PACKET + 1]; /* the answer */
};

/* ---- the answer ---- */

static void say(struct cnnvp_gdb *gdb, const char *format, ...) CNNVP_PRINTF(2, 3);
static void say(struct cnnvp_gdb *gdb, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(gdb->text + gdb->out, sizeof gdb->text - gdb->out, format, arguments);
    va_end(arguments);
    if (length > 0)
        gdb->out += (size_t)length;
    if (gdb->out > sizeof gdb->text - 1u)
        gdb->out = sizeof gdb->text - 1u;
}

static void say_bytes(struct cnnvp_gdb *gdb, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        say(gdb, "%02x", data[i]);
}

static void say_word(struct cnnvp_gdb *gdb, uint32_t value)
{
    const unsigned char bytes[] = {
        (unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    say_bytes(gdb, bytes, sizeof bytes);
}

static void say_done(struct cnnvp_gdb *gdb, int failed)
{
    say(gdb, failed ? "E01" : "OK");
}

/* ---- reading packets ---- */

/* A hexadecimal number, and what follows it. 0 if there is none. */
static int number(const char **text, uint32_t *value)
{
    const char *begin = *text;
    uint64_t read = 0;
    for (;; ++*text) {
        const char c = **text;
        const unsigned digit =
            c >= '0' && c <= '9'   ? (unsigned)(c - '0')
            : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10u
            : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10u
                                   : 16u;
        if (digit == 16u)
            break;
        read = read << 4 | digit;
        if (read > UINT32_MAX)
            return 0;
    }
    *value = (uint32_t)read;
    return *text != begin;
}

/* "A,B", and the character `end`. */
static int two_numbers(const char **text, char end, uint32_t *a, uint32_t *b)
{
    if (!number(text, a) || *(*text)++ != ',' || !number(text, b) || **text != end)
        return 0;
    *text += end != 0;
    return 1;
}

/* Bytes from pairs of digits. How many there are; SIZE_MAX if something else stands there. */
static size_t bytes_of(const char *text, unsigned char *bytes, size_t room)
{
    size_t n = 0;
    for (; text[0] != 0; text += 2) {
        const char pair[] = {text[0], text[1], 0};
        const char *at = pair;
        uint32_t value = 0;
        if (n == room || !number(&at, &value) || at != pair + 2)
            return SIZE_MAX;
        bytes[n++] = (unsigned char)value;
    }
    return n;
}

static uint32_t word_of(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- registers ---- */

static void read_general(struct cnnvp_gdb *gdb)
{
    for (uint32_t i = 0; i < GENERAL; ++i) {
        uint32_t value = 0;
        (void)gdb->core->get(gdb->core->self, i, &value);
        say_word(gdb, value);
    }
}

static void write_general(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char bytes[4 * GENERAL];
    const size_t size = bytes_of(text, bytes, sizeof bytes);
    int failed = size != sizeof bytes;
    for (uint32_t i = 0; i < GENERAL && !failed; ++i)
        failed = gdb->core->set(gdb->core->self, i, word_of(bytes + 4u * i)) != 0;
    say_done(gdb, failed);
}

static void read_register(struct cnnvp_gdb *gdb, const char *text)
{
    uint32_t n = 0, value = 0;
    if (number(&text, &n) && *text == 0 && gdb->core->get(gdb->core->self, n, &value) == 0)
        say_word(gdb, value);
    else
        say(gdb, "E01");
}

static void write_register(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char bytes[4];
    uint32_t n = 0;
    const int well = number(&text, &n) && *text == '=' && bytes_of(text + 1, bytes, sizeof bytes) == sizeof bytes;
    say_done(gdb, !well || gdb->core->set(gdb->core->self, n, word_of(bytes)) != 0);
}

/* The registers as GDB wants them described; NULL without memory. */
static char *describe(const struct cnnvp_core *core)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
                "<architecture>riscv:rv32</architecture>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n",
                out);
    for (uint32_t i = 0; i < GENERAL; ++i)
        (void)fprintf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%" PRIu32 "\"%s/>\n", core->name(core->self, i), i,
                      i == GENERAL - 1 ? " type=\"code_ptr\"" : "");
    (void)fputs("</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n", out);
    for (uint32_t i = core->csr_base; i < core->csr_base + core->csr_count; ++i)
        if (core->name(core->self, i) != NULL)
            (void)fprintf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%" PRIu32 "\" group=\"csr\"/>\n",
                          core->name(core->self, i), i);
    (void)fputs("</feature>\n</target>\n", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void read_features(struct cnnvp_gdb *gdb, const char *text)
{
    uint32_t offset = 0, length = 0;
    if (gdb->features == NULL)
        gdb->features = describe(gdb->core);
    if (gdb->features == NULL || !two_numbers(&text, 0, &offset, &length)) {
        say(gdb, "E01");
        return;
    }
    const size_t size = strlen(gdb->features);
    const size_t left = offset < size ? size - offset : 0;
    const size_t most = length < CNNVP_GDB_PACKET / 2 ? length : CNNVP_GDB_PACKET / 2; /* some bytes become two */
    say(gdb, "%c%.*s", left > most ? 'm' : 'l', (int)(left < most ? left : most), gdb->features + size - left);
}

/* ---- memory ---- */

/* One byte by way of its word: a register of a device is read as a whole. */
static int read_byte(const struct cnnvp_gdb *gdb, uint32_t address, unsigned char *byte)
{
    unsigned char word[4];
    if (gdb->target.read(gdb->target.context, address, byte, 1))
        return 1;
    if (!gdb->target.read(gdb->target.context, address & ~3u, word, sizeof word))
        return 0;
    *byte = word[address & 3u];
    return 1;
}

/* How many bytes there are. */
static size_t read_bytes(const struct cnnvp_gdb *gdb, uint32_t address, unsigned char *data, size_t size)
{
    size_t done = 0;
    if (gdb->target.read(gdb->target.context, address, data, size))
        return size;
    while (done < size) {
        const uint32_t at = address + (uint32_t)done;
        if ((at & 3u) == 0 && size - done >= 4 && gdb->target.read(gdb->target.context, at, data + done, 4))
            done += 4;
        else if (read_byte(gdb, at, data + done))
            ++done;
        else
            break;
    }
    return done;
}

static void read_memory(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char data[CHUNK];
    uint32_t address = 0, size = 0;
    if (!two_numbers(&text, 0, &address, &size)) {
        say(gdb, "E01");
        return;
    }
    const size_t got = read_bytes(gdb, address, data, size < CHUNK ? size : CHUNK);
    if (got == 0 && size != 0)
        say(gdb, "E01");
    say_bytes(gdb, data, got);
}

static int write_bytes(const struct cnnvp_gdb *gdb, uint32_t address, const void *data, size_t size)
{
    if (size != 0 && !gdb->target.write(gdb->target.context, address, data, size))
        return 0;
    gdb->core->written(gdb->core->self, address, (uint32_t)size);
    return 1;
}

static void write_memory(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char data[CNNVP_GDB_PACKET / 2];
    uint32_t address = 0, size = 0;
    const int well = two_numbers(&text, ':', &address, &size) && bytes_of(text, data, sizeof data) == size;
    say_done(gdb, !well || !write_bytes(gdb, address, data, size));
}

static void write_binary(struct cnnvp_gdb *gdb, const char *packet, size_t packet_size)
{
    const char *text = packet + 1;
    uint32_t address = 0, size = 0;
    const int well = two_numbers(&text, ':', &address, &size) && packet_size - (size_t)(text - packet) == size;
    say_done(gdb, !well || !write_bytes(gdb, address, text, size));
}

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
}

static void change_stop(struct cnnvp_gdb *gdb, const char *text, int add)
{
    static const enum cnnvp_stop_kind kinds[] = {
        CNNVP_STOP_EXECUTE, CNNVP_STOP_EXECUTE, CNNVP_STOP_WRITE, CNNVP_STOP_READ, CNNVP_STOP_ACCESS};
    const unsigned type = (unsigned)(unsigned char)*text - '0';
    uint32_t address = 0, size = 0;
    if (type >= sizeof kinds / sizeof *kinds)
        return; /* an empty answer: not supported */
    ++text;
    if (*text++ != ',' || !two_numbers(&text, 0, &address, &size)) {
        say(gdb, "E01");
        return;
    }
    const enum cnnvp_stop_kind kind = kinds[type];
    if (kind == CNNVP_STOP_EXECUTE)
        size = 0; /* GDB's is the length of an instruction */
    unsigned i = 0;
    while (i < gdb->set_count &&
           !(gdb->set[i].kind == kind && gdb->set[i].address == address && gdb->set[i].size == size))
        ++i;
    int failed = 0;
    if (!add && i < gdb->set_count) {
        forget_stop(gdb, i);
    } else if (add && i == gdb->set_count) {
        failed =
            i == sizeof gdb->set / sizeof *gdb->set || gdb->core->add_stop(gdb->core->self, kind, address, size) != 0;
        if (!failed) {
            gdb->set[i].kind = kind;
            gdb->set[i].address = address;
            gdb->set[i].size = size;
            ++gdb->set_count;
        }
    }
    say_done(gdb, failed);
}

/* ---- going on ---- */

static void go_on(struct cnnvp_gdb *gdb, int step)
{
    gdb->resume = gdb->owes = 1;
    gdb->step = step;
}

static void go_on_from(struct cnnvp_gdb *gdb, const char *text, int step)
{
    uint32_t address = 0;
    if (*text != 0 &&
        (!number(&text, &address) || *text != 0 || gdb->core->set(gdb->core->self, GENERAL - 1, address) != 0))
        say(gdb, "E01");
    else
        go_on(gdb, step);
}

/* "Csig" and "Ssig", with an address or not: a bare program takes no signals. */
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

/* In pieces, each a packet of its own, before the answer. */
static void show(struct cnnvp_gdb *gdb, const char *text)
{
    char packet[2 * CHUNK + 1];
    for (size_t left = strlen(text); left > 0;) {
        const size_t piece = left < CHUNK ? left : CHUNK;
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
    const size_t size = bytes_of(text, words, sizeof words - 1u);
    if (size == SIZE_MAX) {
        say(gdb, "E01");
        return;
    }
    words[size] = 0;
    char *answer = gdb->target.monitor(gdb->target.context, (const char *)words);
    if (answer != NULL)
        show(gdb, answer);
    say_done(gdb, answer == NULL);
    free(answer);
}

/* 1 if `text` begins with `word`; *rest: after it. */
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
        say(gdb, "PacketSize=%x;qXfer:features:read+;QStartNoAckMode+;vContSupported+", CNNVP_GDB_PACKET);
    else if (begins(text, "qXfer:features:read:target.xml:", &rest))
        read_features(gdb, rest);
    else if (begins(text, "qRcmd,", &rest))
        monitor(gdb, rest);
    else if (begins(text, "qAttached", &rest))
        say(gdb, "1"); /* GDB leaves the run alone when it quits */
    else if (strcmp(text, "qC") == 0)
        say(gdb, "QC1");
    else if (strcmp(text, "qfThreadInfo") == 0)
        say(gdb, "m1");
    else if (strcmp(text, "qsThreadInfo") == 0)
        say(gdb, "l");
    else if (begins(text, "qSymbol", &rest))
        say(gdb, "OK");
}

static void several_letters(struct cnnvp_gdb *gdb, const char *text)
{
    const char *rest;
    if (strcmp(text, "vCont?") == 0)
        say(gdb, "vCont;c;C;s;S");
    else if (begins(text, "vCont;", &rest) && (*rest == 'c' || *rest == 'C'))
        go_on(gdb, 0);
    else if (begins(text, "vCont;", &rest) && (*rest == 's' || *rest == 'S'))
        go_on(gdb, 1);
    else if (begins(text, "vKill", &rest)) {
        say(gdb, "OK");
        end_run(gdb);
    }
}

static void command(struct cnnvp_gdb *gdb, const char *packet, size_t size)
{
    const char *text = packet + (size > 0);
    switch (*packet) {
    case '?':
        say(gdb, "%s", gdb->stop);
        break;
    case 'g':
        read_general(gdb);
        break;
    case 'G':
        write_general(gdb, text);
        break;
    case 'p':
        read_register(gdb, text);
        break;
    case 'P':
        write_register(gdb, text);
        break;
    case 'm':
        read_memory(gdb, text);
        break;
    case 'M':
        write_memory(gdb, text);
        break;
    case 'X':
        write_binary(gdb, packet, size);
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
        say(gdb, "OK");
        break;
    case 'D':
        say(gdb, "OK");
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
        break; /* an empty answer: not supported */
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

static int wants(void *context)
{
    struct cnnvp_gdb *gdb = context;
    if (!gdb->waited)
        return 1;
    return ++gdb->looks % LOOKS == 0 && cnnvp_gdb_link_calls(&gdb->link);
}

static void describe_stop(struct cnnvp_gdb *gdb, enum cnnvp_halt why, enum cnnvp_stop_kind kind, uint32_t address)
{
    static const char *const watches[] = {
        [CNNVP_STOP_WRITE] = "watch", [CNNVP_STOP_READ] = "rwatch", [CNNVP_STOP_ACCESS] = "awatch"};
    const int signal = why == CNNVP_HALT_ASKED     ? SIGINT_NUMBER
                       : why == CNNVP_HALT_FAILURE ? SIGSEGV_NUMBER
                                                   : SIGTRAP_NUMBER;
    if (why == CNNVP_HALT_STOP && kind != CNNVP_STOP_EXECUTE)
        (void)snprintf(gdb->stop, sizeof gdb->stop, "T%02x%s:%" PRIx32 ";thread:1;", (unsigned)signal, watches[kind],
                       address);
    else
        (void)snprintf(gdb->stop, sizeof gdb->stop, "T%02xthread:1;", (unsigned)signal);
}

/* For the debugger that the run begins with. 0: a signal came first. */
static int wait_for_client(struct cnnvp_gdb *gdb)
{
    gdb->waited = 1;
    (void)fprintf(stderr, "cnnvp: waiting for a debugger: gdb-multiarch %s -ex 'target remote :%u'\n", gdb->program,
                  gdb->link.port);
    return cnnvp_gdb_link_accept(&gdb->link);
}

static int halted(void *context, const struct cnnvp_core *core, enum cnnvp_halt why, enum cnnvp_stop_kind kind,
                  uint32_t address)
{
    struct cnnvp_gdb *gdb = context;
    const char *packet;
    size_t size = 0;
    gdb->core = core;
    gdb->resume = gdb->step = 0;
    if (!gdb->waited)
        (void)wait_for_client(gdb);
    describe_stop(gdb, why, kind, address);
    if (gdb->owes)
        cnnvp_gdb_link_send(&gdb->link, gdb->stop, strlen(gdb->stop));
    else
        forget_stops(gdb); /* of another one before */
    gdb->owes = 0;
    while (!gdb->resume && (packet = cnnvp_gdb_link_receive(&gdb->link, &size)) != NULL)
        answer(gdb, packet, size);
    if (!gdb->resume)
        leave(gdb); /* it has gone without a word */
    if (!gdb->owes)
        cnnvp_gdb_link_drop(&gdb->link);
    gdb->core = NULL;
    return gdb->step;
}

/* ---- life ---- */

cnnvp_result cnnvp_gdb_new(const char *port, const struct cnnvp_gdb_target *target, struct cnnvp_gdb **gdb,
                           struct cnnvp_error *error)
{
    *gdb = NULL;
    struct cnnvp_gdb *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)snprintf(error->text, sizeof error->text, "there is not enough memory");
        return CNNVP_FAILED;
    }
    made->target = *target;
    made->program = "PROGRAM.elf";
    made->debugger = (struct cnnvp_debugger){.context = made, .wants = wants, .halted = halted};
    const cnnvp_result result = cnnvp_gdb_link_open(&made->link, port, error);
    if (result == CNNVP_DONE)
        *gdb = made;
    else
        free(made);
    return result;
}

void cnnvp_gdb_end(struct cnnvp_gdb *gdb, int exited, int code)
{
    gdb->out = 0;
    say(gdb, "%c%02x", exited ? 'W' : 'X', exited ? (unsigned)code & 0xffu : SIGTERM_NUMBER);
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
