/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_support.h"

#include "machine.h"
#include "read_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/cnnvp_trace_XXXXXX";
static char path_text[320];

const char *path(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
}

int file_count(void)
{
    DIR *entries = opendir(folder);
    int files = 0;

    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        files += entry->d_name[0] != '.';
    (void)closedir(entries);
    return files;
}

int set_up(void **state)
{
    (void)state;
    /* Exceeding RLIMIT_FSIZE is then an error of write, as a full disk is. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

int remove_files(void **state)
{
    DIR *entries = opendir(folder);

    (void)state;
    if (entries == NULL)
        return -1;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        if (entry->d_name[0] != '.')
            (void)unlink(path(entry->d_name));
    return closedir(entries);
}

int tear_down(void **state)
{
    (void)remove_files(state);
    return rmdir(folder);
}

cnnvp_recorder *make(const char *file)
{
    struct cnnvp_error error = {""};
    cnnvp_recorder *recorder = NULL;
    cnnvp_result result = cnnvp_recorder_new(machine(), file, 0, &recorder, &error);

    if (result != CNNVP_DONE)
        fail_msg("%s", error.text);
    return recorder;
}

void finish(cnnvp_recorder *recorder, uint64_t end_ps)
{
    struct cnnvp_error error = {""};

    if (cnnvp_recorder_finish(recorder, end_ps, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_recorder_free(recorder);
}

char *content(const char *file, size_t *size)
{
    char *data = read_file(path(file), size);

    assert_non_null(data);
    return data;
}

/* After all lines of the list that are not later. */
static void insert_line(char *list, const char *line)
{
    const uint64_t time = strtoull(line, NULL, 10);
    const size_t size = strlen(line), length = strlen(list);
    char *at = list;

    while (*at && strtoull(at, NULL, 10) <= time)
        at = strchr(at, '\n') + 1;
    if (length + size >= LIST_BYTES)
        return;
    memmove(at + size, at, strlen(at) + 1);
    memcpy(at, line, size);
}

void list_event(void *context, const struct perfetto_event *event)
{
    char line[1024];

    if (event->type == 1)
        snprintf(line, sizeof line, "%" PRIu64 " %s/%s begin %s layer=%s ps=%" PRIu64 "-%" PRIu64 " flow=%" PRIu64 "\n",
                 event->time_ns, event->parent, event->track, event->name, event->layer, event->begin_ps, event->end_ps,
                 event->flow);
    else if (event->type == 2)
        snprintf(line, sizeof line, "%" PRIu64 " %s/%s end\n", event->time_ns, event->parent, event->track);
    else
        snprintf(line, sizeof line, "%" PRIu64 " %s/%s %" PRId64 " %s\n", event->time_ns, event->parent, event->track,
                 event->value, event->unit);
    insert_line(context, line);
}

uint64_t random_state;

uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

void feed_random(cnnvp_recorder *recorder, struct cnnvp_trace *trace, uint64_t *last)
{
    static const char *const names[] = {"conv", "pool", "fc", NULL, ""};
    uint64_t ends[2] = {0, 0};

    random_state = RANDOM_SEED;
    for (uint32_t i = 0; i < SPANS; ++i) {
        uint32_t track = (uint32_t)random_below(2);
        uint64_t begin = ends[track] + random_below(3) * random_below(2000);
        uint64_t end = begin + random_below(3) * random_below(5000);
        uint64_t late = begin > 3000 ? random_below(3000) : 0;
        const char *name = names[random_below(5)];
        uint32_t tag = (uint32_t)random_below(70000);
        uint64_t flow = random_below(2) * random_state;
        uint64_t value = random_below(4) ? random_below(1000) : UINT64_MAX >> 1;
        int level = (int)random_below(2);
        uint64_t read = random_below(5000);
        uint64_t written = random_below(50);

        ends[track] = end;
        if (recorder != NULL) {
            cnnvp_recorder_span(recorder, ARRAY, track, name, tag, flow, begin, end);
            cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, begin - late, value);
            cnnvp_recorder_level(recorder, ARRAY, ARRAY_IRQ, begin, level);
            transfer(recorder, 0, begin - late, read, written);
        } else {
            cnnvp_trace_span(trace, ARRAY, track, name, tag, flow, begin, end);
            cnnvp_trace_counter(trace, BUFFER_A, BUFFER_FEATURES, begin - late, value);
            cnnvp_trace_level(trace, ARRAY, ARRAY_IRQ, begin, level);
            const struct cnnvp_transfer moved = {0, 0, begin - late, begin - late, read + written};

            cnnvp_trace_transfer(trace, &moved);
        }
    }
    *last = ends[0] > ends[1] ? ends[0] : ends[1];
}
