/* SPDX-License-Identifier: Apache-2.0 */
/* Value change dump, IEEE 1364-2005 clause 18, without extensions. Time unit 1 ps. */
#include "trace_wave.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Identifiers are numbers of base 94 in the printable characters from '!'. */
#define ID_BASE 94u
#define ID_FIRST 33u
#define LINE_BYTES (8 * CNNVP_WAVE_CHARACTERS + 32)

struct file {
    cnnvp_output *output;
};

/* ---- text ---- */

static void write_text(struct file *file, const char *text)
{
    cnnvp_output_write(file->output, text, strlen(text));
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

static char *put_decimal(char *p, uint64_t value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    char digits[20];
    char *first = digits + sizeof digits;

    for (; value >= 100; value /= 100)
        memcpy(first -= 2, pairs + 2 * (value % 100), 2);
    memcpy(first -= 2, pairs + 2 * value, 2);
    first += value < 10;
    memcpy(p, first, (size_t)(digits + sizeof digits - first));
    return p + (digits + sizeof digits - first);
}

/* ---- what the signals call ---- */

static void open_scope(void *context, const char *name)
{
    char line[160];

    snprintf(line, sizeof line, "$scope module %s $end\n", name);
    write_text(context, line);
}

static void close_scope(void *context)
{
    write_text(context, "$upscope $end\n");
}

static void declare(void *context, uint32_t signal, const char *name, uint32_t width)
{
    char id[8];
    char line[256];

    (void)put_id(id, signal);
    snprintf(line, sizeof line, "$var %s %" PRIu32 " %s %s $end\n", width > 1 ? "reg" : "wire", width, id, name);
    write_text(context, line);
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
    char *line = (char *)cnnvp_output_room(file->output, LINE_BYTES);
    char *p = line;

    *p++ = '#';
    p = put_decimal(p, time);
    *p++ = '\n';
    cnnvp_output_filled(file->output, (size_t)(p - line));
}

static void write_value(void *context, uint32_t signal, uint32_t width, struct cnnvp_wave_value value)
{
    struct file *file = context;
    char *line = (char *)cnnvp_output_room(file->output, LINE_BYTES);
    char *p = line;

    if (width > 1)
        *p++ = 'b';
    memcpy(p, value.bits, value.count);
    p += value.count;
    if (width > 1)
        *p++ = ' ';
    p = put_id(p, signal);
    *p++ = '\n';
    cnnvp_output_filled(file->output, (size_t)(p - line));
}

static const struct cnnvp_wave_writer writer = {open_scope, close_scope, declare, begin_first,
                                                end_first,  write_time,  write_value};

static void write_trace(struct cnnvp_trace *trace, cnnvp_output *output)
{
    struct file file = {output};

    write_text(&file, "$version cnnvp " CNNVP_VERSION " $end\n$timescale 1 ps $end\n");
    cnnvp_wave_write(trace, &writer, &file);
}

const struct cnnvp_trace_format cnnvp_trace_vcd = {".vcd", "waveform", write_trace};
