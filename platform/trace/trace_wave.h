/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a trace to waveform signals, for the waveform formats. Private to the recorder. */
#pragma once

#include "trace.h"

/* Characters of a text signal; each has eight bits, the first character is highest. */
#define CNNVP_WAVE_CHARACTERS 32u

/* Value of a signal as characters 0 and 1, the highest bit first. At least one character, at most the signal's width;
 * missing high bits are 0. */
struct cnnvp_wave_value {
    const char *bits;
    size_t count;
};

/* Functions of a format. Signals are numbered in the order of their declaration. Names are identifiers. */
struct cnnvp_wave_writer {
    void (*open_scope)(void *file, const char *name);
    void (*close_scope)(void *file);
    void (*declare)(void *file, uint32_t signal, const char *name, uint32_t width);
    /* Between begin_first and end_first come time 0 and the values of all signals. */
    void (*begin_first)(void *file);
    void (*end_first)(void *file);
    void (*time)(void *file, cnnvp_time time);
    void (*value)(void *file, uint32_t signal, uint32_t width, struct cnnvp_wave_value value);
};

/* Writes a whole trace; trace->error tells of errors. */
void cnnvp_wave_write(struct cnnvp_trace *trace, const struct cnnvp_wave_writer *writer, void *file);
