/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as signals of a waveform, for formats that hold such. Private to the recorder. */
#ifndef CNNVP_PLATFORM_TRACE_WAVE_H
#define CNNVP_PLATFORM_TRACE_WAVE_H

#include "trace.h"

/* Characters of a signal that holds text, eight bits each, the first one highest. */
#define CNNVP_WAVE_CHARACTERS 32u

/* A signal's value: the characters 0 and 1, the highest first. At least one, at most as many as the signal is wide;
 * what is missing is 0. */
struct cnnvp_wave_value {
    const char *bits;
    size_t count;
};

/* How one format writes signals. Signals are numbered in the order of their declaration. Names are identifiers. */
struct cnnvp_wave_writer {
    void (*open_scope)(void *file, const char *name);
    void (*close_scope)(void *file);
    void (*declare)(void *file, uint32_t signal, const char *name, uint32_t width);
    /* Time 0 and the values of all signals follow, up to end_first. */
    void (*begin_first)(void *file);
    void (*end_first)(void *file);
    void (*time)(void *file, cnnvp_time time);
    void (*value)(void *file, uint32_t signal, uint32_t width, struct cnnvp_wave_value value);
};

/* Writes all of a trace; after an error trace->error says which. */
void cnnvp_wave_write(struct cnnvp_trace *trace, const struct cnnvp_wave_writer *writer, void *file);
#endif
