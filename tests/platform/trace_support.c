/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_support.h"

#include "machine.h"
#include "read_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

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
        snprintf(line, sizeof line,
                 "%" PRIu64 " %s/%s begin %s layer=%s ps=%" PRIu64 "-%" PRIu64 " flow=%" PRIu64 "%s\n", event->time_ns,
                 event->parent, event->track, event->name, event->layer, event->begin_ps, event->end_ps, event->flow,
                 event->about);
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
        uint32_t tag = (uint32_t)random_below(CNNVP_MAX_TAG + 1u);
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
            const struct cnnvp_moved moved = {0, 0, begin - late, begin - late, read + written};

            cnnvp_trace_transfer(trace, &moved);
        }
    }
    *last = ends[0] > ends[1] ? ends[0] : ends[1];
}

void feed_small(cnnvp_recorder *recorder)
{
    static const struct cnnvp_layer_info layers[] = {
        {"C1", "conv", "forward", 1, 0, 0}, {"S2", "pool", "forward", 1, 0, 0}};
    const struct cnnvp_work_info work = {.struct_size = sizeof work, .layers = layers, .layer_count = 2};
    uint32_t link;

    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &work), CNNVP_DONE);
    link = cnnvp_recorder_link(recorder, ARRAY, DRAM);
    cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", 1, 9, 0, 1000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, 9, 1500, 4700);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "max", 2, 0, 4700, 4900);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_IRQ, 4900, 1);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_IRQ, 6000, 0);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 0, 5);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1500, 0);
    /* 100 ns windows: 1000 bytes are 10 GB/s. */
    transfer(recorder, link, 120000, 600, 0);
    transfer(recorder, link, 199999, 0, 400);
    transfer(recorder, link, 200000, 1, 0);
    transfer(recorder, link, 450000, 2, 0);
}

static const char *function_at(const void *context, uint64_t address)
{
    (void)context;
    return address == 0x100 ? "main" : address == 0x200 ? "work" : address == 0x300 ? "trap" : NULL;
}

static void call(cnnvp_recorder *recorder, uint64_t at, uint64_t address)
{
    cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, at, address ? address | UINT64_C(1) << 32 : 0);
}

void feed_calls(cnnvp_recorder *recorder)
{
    cnnvp_recorder_set_functions(recorder, function_at, NULL);
    call(recorder, 1000, 0); /* nothing is open */
    call(recorder, 1000, 0x100);
    call(recorder, 2000, 0x200);
    call(recorder, 2000, 0x300);
    call(recorder, 3000, 0);
    call(recorder, 4000, 0);
    call(recorder, 5000, 0x200);
    call(recorder, 6000, 0x400);
    finish(recorder, 9000);
}

void run_random(const char *file)
{
    uint64_t last;
    cnnvp_recorder *recorder = make(path(file));

    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    feed_random(recorder, NULL, &last);
    finish(recorder, last);
}

void expect_events(const char *file, const char *expected)
{
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    size_t size;
    char *data = content(file, &size);

    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
}
