/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FST, GTKWave's compressed waveform format, through its own writer (fstapi.c, MIT licence), which is compiled in if
 * the build finds it. The writer needs a file name and does not report a full disk. It therefore writes into a
 * temporary folder beside the output. Its reader then checks that the file is complete, and the bytes are copied to the
 * output.
 */
#include "trace_wave.h"

#ifdef CNNVP_FST

#include <fstapi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PICOSECONDS (-12)
#define WIDEST (8u * CNNVP_WAVE_CHARACTERS)

struct file {
    void *writer;
    uint32_t signals;
    cnnvp_time last;
    char bits[WIDEST + 1];
};

/* ---- callbacks for signals ---- */

static void open_scope(void *context, const char *name)
{
    struct file *file = context;

    fstWriterSetScope(file->writer, FST_ST_VCD_MODULE, name, NULL);
}

static void close_scope(void *context)
{
    struct file *file = context;

    fstWriterSetUpscope(file->writer);
}

static void declare(void *context, uint32_t signal, const char *name, uint32_t width)
{
    struct file *file = context;

    (void)fstWriterCreateVar(
        file->writer, width > 1 ? FST_VT_VCD_REG : FST_VT_VCD_WIRE, FST_VD_IMPLICIT, width, name, 0);
    file->signals = signal + 1;
}

static void write_time(void *context, cnnvp_time time)
{
    struct file *file = context;

    fstWriterEmitTimeChange(file->writer, time);
    file->last = time;
}

static void begin_first(void *context)
{
    write_time(context, 0);
}

static void end_first(void *context)
{
    (void)context;
}

/* The writer wants as many characters as the signal has bits. */
static void write_value(void *context, uint32_t signal, uint32_t width, struct cnnvp_wave_value value)
{
    struct file *file = context;

    memset(file->bits, '0', width - value.count);
    memcpy(file->bits + width - value.count, value.bits, value.count);
    fstWriterEmitValueChange(file->writer, signal + 1, file->bits);
}

static const struct cnnvp_wave_writer wave = {
    open_scope, close_scope, declare, begin_first, end_first, write_time, write_value};

/* ---- the file ---- */

static int is_complete(const char *name, const struct file *file)
{
    void *reader = fstReaderOpen(name);
    int complete = reader != NULL && fstReaderGetVarCount(reader) == file->signals &&
                   fstReaderGetEndTime(reader) == file->last && fstReaderGetValueChangeSectionCount(reader) > 0;

    if (reader != NULL)
        fstReaderClose(reader);
    return complete;
}

static int copy(const char *name, cnnvp_output *output)
{
    unsigned char buffer[4096];
    FILE *stream = fopen(name, "rb");
    size_t got;
    int good;

    while (stream != NULL && (got = fread(buffer, 1, sizeof buffer, stream)) > 0)
        cnnvp_output_write(output, buffer, got);
    good = stream != NULL && !ferror(stream);
    if (stream != NULL)
        (void)fclose(stream);
    return good;
}

static int write_file(struct cnnvp_trace *trace, const char *name, cnnvp_output *output)
{
    CNNVP_FREED struct file *file = calloc(1, sizeof *file);
    int good = 0;

    if (file != NULL)
        file->writer = fstWriterCreate(name, 1);
    if (file != NULL && file->writer != NULL) {
        /* By default the header would contain today's date. */
        fstWriterSetDate(file->writer, "");
        fstWriterSetVersion(file->writer, "cnnvp " CNNVP_VERSION);
        fstWriterSetTimescale(file->writer, PICOSECONDS);
        fstWriterSetPackType(file->writer, FST_WR_PT_LZ4);
        cnnvp_wave_write(trace, &wave, file);
        fstWriterClose(file->writer);
        good = is_complete(name, file) && copy(name, output);
    }
    return good;
}

static void write_trace(struct cnnvp_trace *trace, cnnvp_output *output)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    char *folder = cnnvp_arena_printf(&arena, "%s.dir-XXXXXX", trace->file);

    if (folder == NULL || mkdtemp(folder) == NULL) {
        trace->error = folder != NULL ? errno : ENOMEM;
        return;
    }
    const char *name = cnnvp_arena_printf(&arena, "%s/t", folder);

    if ((name == NULL || !write_file(trace, name, output)) && !trace->error)
        trace->error = ENOSPC; /* the writer gives no reason; a full disk is the most likely one */
    if (name != NULL)
        (void)unlink(name);
    (void)rmdir(folder);
}

const struct cnnvp_trace_format cnnvp_trace_fst = {".fst", "compressed waveform", write_trace};

#else

const struct cnnvp_trace_format cnnvp_trace_fst = {".fst", "compressed waveform", NULL};

#endif
