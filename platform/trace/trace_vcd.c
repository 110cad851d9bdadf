/* SPDX-License-Identifier: Apache-2.0 */
/* Value change dump, IEEE 1364-2005 clause 18, without extensions. Time unit 1 ps. */
#include "trace_wave.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Identifiers are base-94 numbers in the printable characters from '!'. */
#define ID_BASE 94u
#define ID_FIRST 33u
#define LINE_BYTES (8 * CNNVP_WAVE_CHARACTERS + 32)

/* Low digits of the time, which change often; the digits above are cached as text. */
#define LOW_DIGITS 8
#define LOW_RANGE 100000000u
/* Bytes of lines that are collected before the output is asked for more room. */
#define ROOM_BYTES 65536

struct file {
    cnnvp_output *output;
    char *room;
    char *at; /* where the next line goes */
    uint64_t high;
    size_t high_length;
    char high_text[24];
};

/* Returns room for a line. */
static char *line(struct file *file)
{
    if (file->room == NULL || file->at - file->room > ROOM_BYTES - (ptrdiff_t)LINE_BYTES) {
        if (file->room != NULL)
            cnnvp_output_filled(file->output, (size_t)(file->at - file->room));
        file->at = file->room = (char *)cnnvp_output_room(file->output, ROOM_BYTES);
    }
    return file->at;
}

/* ---- text ---- */

static void write_text(struct file *file, const char *text)
{
    size_t length = strlen(text);

    memcpy(line(file), text, length);
    file->at += length;
}

static char *put_id(char *p, uint32_t signal)
{
    do {
        *p++ = (char)(ID_FIRST + signal % ID_BASE);
        signal /= ID_BASE;
    } while (signal);
    *p = '\0';
    return p;
}

static char *put_time(struct file *file, char *p, uint64_t time)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    const uint64_t high = time / LOW_RANGE;
    uint32_t low = (uint32_t)(time % LOW_RANGE);

    if (high == 0)
        return p + snprintf(p, LOW_DIGITS + 1, "%" PRIu32, low);
    if (high != file->high) {
        file->high = high;
        file->high_length = (size_t)snprintf(file->high_text, sizeof file->high_text, "%" PRIu64, high);
    }
    memcpy(p, file->high_text, sizeof file->high_text);
    p += file->high_length;
    for (unsigned i = LOW_DIGITS; i > 0; low /= 100)
        memcpy(p + (i -= 2), pairs + 2 * (low % 100), 2);
    return p + LOW_DIGITS;
}

/* ---- callbacks for signals ---- */

static void open_scope(void *context, const char *name)
{
    char text[160];

    snprintf(text, sizeof text, "$scope module %s $end\n", name);
    write_text(context, text);
}

static void close_scope(void *context)
{
    write_text(context, "$upscope $end\n");
}

static void declare(void *context, uint32_t signal, const char *name, uint32_t width)
{
    char id[8];
    char text[256];

    (void)put_id(id, signal);
    snprintf(text, sizeof text, "$var %s %" PRIu32 " %s %s $end\n", width > 1 ? "reg" : "wire", width, id, name);
    write_text(context, text);
}

static void begin_first(void *context)
{
    write_text(context, "$enddefinitions $end\n#0\n$dumpvars\n");
}

static void end_first(void *context)
{
    write_text(context, "$end\n");
}

static void write_time(void *context, cnnvp_time time)
{
    struct file *file = context;
    char *p = line(file);

    *p++ = '#';
    p = put_time(file, p, time);
    *p++ = '\n';
    file->at = p;
}

static void write_value(void *context, uint32_t signal, uint32_t width, struct cnnvp_wave_value value)
{
    struct file *file = context;
    char *p = line(file);

    if (width > 1)
        *p++ = 'b';
    memcpy(p, value.bits, value.count);
    p += value.count;
    if (width > 1)
        *p++ = ' ';
    p = put_id(p, signal);
    *p++ = '\n';
    file->at = p;
}

static const struct cnnvp_wave_writer writer = {
    open_scope, close_scope, declare, begin_first, end_first, write_time, write_value};

static void write_trace(struct cnnvp_trace *trace, cnnvp_output *output)
{
    struct file file = {.output = output};

    write_text(&file, "$version cnnvp " CNNVP_VERSION " $end\n$timescale 1 ps $end\n");
    cnnvp_wave_write(trace, &writer, &file);
    cnnvp_output_filled(output, (size_t)(file.at - file.room));
}

const struct cnnvp_trace_format cnnvp_trace_vcd = {".vcd", "waveform", write_trace};
