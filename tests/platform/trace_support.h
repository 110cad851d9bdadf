/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of traces share: a folder of their own, a recorder on machine.c, and events to feed. */
#ifndef CNNVP_TESTS_TRACE_SUPPORT_H
#define CNNVP_TESTS_TRACE_SUPPORT_H

#include "perfetto_check.h"
#include "recorder.h"
#include "trace.h"

/* cmocka fixtures: a new folder for the group, emptied after each test. */
int set_up(void **state);
int remove_files(void **state);
int tear_down(void **state);

/* A file in the folder; valid until the next call. */
const char *path(const char *name);
/* Files in the folder. */
int file_count(void);
/* All of a file in the folder; free with free(). */
char *content(const char *file, size_t *size);

cnnvp_recorder *make(const char *file);
/* Finishes and frees. */
void finish(cnnvp_recorder *recorder, uint64_t end_ps);

/* A perfetto_event_fn that puts a line of text into `context`, char[LIST_BYTES]: in order of time, then of the file. */
#define LIST_BYTES 4096u
void list_event(void *context, const struct perfetto_event *event);

#define RANDOM_SEED 0x123456789ABCDEFu
extern uint64_t random_state;
uint64_t random_below(uint64_t limit);

/* Feeds a recorder, or (NULL) a trace alone, with SPANS spans on both tracks of the array, counters, an interrupt and
 * transfers of link 0, some a little out of order. `last`: the end of the last span. */
#define SPANS 30000u
void feed_random(cnnvp_recorder *recorder, struct cnnvp_trace *trace, uint64_t *last);

/* A small run of two layers, functions that call each other (finished), and a long random run (finished). */
void feed_small(cnnvp_recorder *recorder);
void feed_calls(cnnvp_recorder *recorder);
void run_random(const char *file);

/* What list_event makes of a file of the folder must be this. */
void expect_events(const char *file, const char *expected);

struct trace_sums {
    uint64_t begins;
    uint64_t busy_ps;
    uint64_t bytes;
    uint64_t flows;
    uint64_t changes;
    uint64_t window_ns;
    uint64_t link_time;
    uint64_t link_value;
};

#endif
