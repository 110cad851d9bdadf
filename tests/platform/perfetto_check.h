/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of Perfetto traces for tests, written from the field numbers of perfetto/trace/trace.proto. Refuses packets
 * that are cut, events of tracks that have not been described, references to names that have not been interned, slices
 * that do not balance or end before they begin, and times that run backwards on a track.
 */
#ifndef CNNVP_TESTS_PERFETTO_CHECK_H
#define CNNVP_TESTS_PERFETTO_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct perfetto_event {
    int type; /* 1 begin, 2 end, 4 counter */
    uint64_t time_ns;
    const char *parent; /* name of the track's parent, "" without */
    const char *track;
    int is_counter;    /* of the track */
    const char *unit;  /* of a counter track, "" without */
    const char *name;  /* begin */
    const char *layer; /* begin; "" without */
    const char *about; /* begin: other annotations, " NAME=VALUE" of each */
    uint64_t begin_ps; /* begin */
    uint64_t end_ps;   /* begin */
    uint64_t flow;     /* begin; 0 without */
    int64_t value;     /* counter */
};

typedef void (*perfetto_event_fn)(void *context, const struct perfetto_event *event);

struct perfetto_result {
    size_t packets;
    size_t events;
    size_t tracks;
    char error[256]; /* "byte N: ..." */
};

int perfetto_check(const void *data, size_t size, perfetto_event_fn event, void *context,
                   struct perfetto_result *result);

#endif
