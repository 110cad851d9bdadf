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

#endif
