/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes registers and memory for a debugger, and parses the numbers in packets. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gdb_internal.h"
#include "base.h"

/* ---- the answer ---- */

void gdb_say(struct cnnvp_gdb *gdb, const char *format, ...)
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
        gdb_say(gdb, "%02x", data[i]);
}

static void say_word(struct cnnvp_gdb *gdb, uint32_t value)
{
    const unsigned char bytes[] = {
        (unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    say_bytes(gdb, bytes, sizeof bytes);
}

void gdb_say_done(struct cnnvp_gdb *gdb, int failed)
{
    gdb_say(gdb, failed ? "E01" : "OK");
}

/* ---- reading packets ---- */

int gdb_number(const char **text, uint32_t *value)
{
    const char *begin = *text;
    uint64_t read = 0;
    for (int digit; (digit = cnnvp_hex_digit(**text)) >= 0; ++*text) {
        read = read << 4 | (unsigned)digit;
        if (read > UINT32_MAX)
            return 0;
    }
    *value = (uint32_t)read;
    return *text != begin;
}

int gdb_two_numbers(const char **text, char end, uint32_t *a, uint32_t *b)
{
    if (!gdb_number(text, a) || *(*text)++ != ',' || !gdb_number(text, b) || **text != end)
        return 0;
    *text += end != 0;
    return 1;
}

size_t gdb_bytes_of(const char *text, unsigned char *bytes, size_t room)
{
    size_t n = 0;
    for (; text[0] != 0; text += 2) {
        const char pair[] = {text[0], text[1], 0};
        const char *at = pair;
        uint32_t value = 0;
        if (n == room || !gdb_number(&at, &value) || at != pair + 2)
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

void gdb_read_general(struct cnnvp_gdb *gdb)
{
    for (uint32_t i = 0; i < GDB_GENERAL; ++i) {
        uint32_t value = 0;
        (void)gdb->core->get(gdb->core->self, i, &value);
        say_word(gdb, value);
    }
}

void gdb_write_general(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char bytes[4 * GDB_GENERAL];
    const size_t size = gdb_bytes_of(text, bytes, sizeof bytes);
    int failed = size != sizeof bytes;
    for (uint32_t i = 0; i < GDB_GENERAL && !failed; ++i)
        failed = gdb->core->set(gdb->core->self, i, word_of(bytes + 4u * i)) != 0;
    gdb_say_done(gdb, failed);
}

void gdb_read_register(struct cnnvp_gdb *gdb, const char *text)
{
    uint32_t n = 0, value = 0;
    if (gdb_number(&text, &n) && *text == 0 && gdb->core->get(gdb->core->self, n, &value) == 0)
        say_word(gdb, value);
    else
        gdb_say(gdb, "E01");
}

void gdb_write_register(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char bytes[4];
    uint32_t n = 0;
    const int well =
        gdb_number(&text, &n) && *text == '=' && gdb_bytes_of(text + 1, bytes, sizeof bytes) == sizeof bytes;
    gdb_say_done(gdb, !well || gdb->core->set(gdb->core->self, n, word_of(bytes)) != 0);
}

/* Description of the registers in GDB's format; NULL: out of memory. */
static char *describe(const struct cnnvp_core *core)
{
    struct cnnvp_printed printed;
    FILE *out = cnnvp_print_begin(&printed);
    if (out == NULL)
        return NULL;
    (void)fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
                "<architecture>riscv:rv32</architecture>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n",
                out);
    for (uint32_t i = 0; i < GDB_GENERAL; ++i)
        (void)fprintf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%" PRIu32 "\"%s/>\n", core->name(core->self, i), i,
                      i == GDB_GENERAL - 1 ? " type=\"code_ptr\"" : "");
    (void)fputs("</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n", out);
    for (uint32_t i = core->csr_base; i < core->csr_base + core->csr_count; ++i)
        if (core->name(core->self, i) != NULL)
            (void)fprintf(out, "<reg name=\"%s\" bitsize=\"32\" regnum=\"%" PRIu32 "\" group=\"csr\"/>\n",
                          core->name(core->self, i), i);
    (void)fputs("</feature>\n</target>\n", out);
    return cnnvp_print_end(&printed);
}

void gdb_read_features(struct cnnvp_gdb *gdb, const char *text)
{
    uint32_t offset = 0, length = 0;
    if (gdb->features == NULL)
        gdb->features = describe(gdb->core);
    if (gdb->features == NULL || !gdb_two_numbers(&text, 0, &offset, &length)) {
        gdb_say(gdb, "E01");
        return;
    }
    const size_t size = strlen(gdb->features);
    const size_t left = offset < size ? size - offset : 0;
    const size_t most = length < CNNVP_GDB_PACKET / 2 ? length : CNNVP_GDB_PACKET / 2; /* some bytes become two */
    gdb_say(gdb, "%c%.*s", left > most ? 'm' : 'l', (int)(left < most ? left : most), gdb->features + size - left);
}

/* ---- memory ---- */

/* Reads a byte through its word, because a device register can only be read as a whole. */
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

/* Returns the number of readable bytes. */
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

void gdb_read_memory(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char data[GDB_CHUNK];
    uint32_t address = 0, size = 0;
    if (!gdb_two_numbers(&text, 0, &address, &size)) {
        gdb_say(gdb, "E01");
        return;
    }
    const size_t got = read_bytes(gdb, address, data, size < GDB_CHUNK ? size : GDB_CHUNK);
    if (got == 0 && size != 0)
        gdb_say(gdb, "E01");
    say_bytes(gdb, data, got);
}

static int write_bytes(const struct cnnvp_gdb *gdb, uint32_t address, const void *data, size_t size)
{
    if (size != 0 && !gdb->target.write(gdb->target.context, address, data, size))
        return 0;
    gdb->core->written(gdb->core->self, address, (uint32_t)size);
    return 1;
}

void gdb_write_memory(struct cnnvp_gdb *gdb, const char *text)
{
    unsigned char data[CNNVP_GDB_PACKET / 2];
    uint32_t address = 0, size = 0;
    const int well = gdb_two_numbers(&text, ':', &address, &size) && gdb_bytes_of(text, data, sizeof data) == size;
    gdb_say_done(gdb, !well || !write_bytes(gdb, address, data, size));
}

void gdb_write_binary(struct cnnvp_gdb *gdb, const char *packet, size_t packet_size)
{
    const char *text = packet + 1;
    uint32_t address = 0, size = 0;
    const int well = gdb_two_numbers(&text, ':', &address, &size) && packet_size - (size_t)(text - packet) == size;
    gdb_say_done(gdb, !well || !write_bytes(gdb, address, text, size));
}
