/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp_memory_replay: replays a trace of bursts through the model of the off-chip memory alone, without a platform.
 * The trace is read as it is needed, so it may have any length.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cnnvp_memory.h"
#include "config.h"
#include "units.h"
#include "memory/dram/dram_counts.h"
#include "memory/dram/dram_replay.h"
#include "memory/dram/dram_windows.h"
#include "memory_internal.h"
#include "recorder.h"

/* ---- the trace ---- */

struct reader {
    FILE *stream;
    const char *file;
    uint64_t line;
    char *text; /* the line, with its line feed */
    size_t room;
    const char *at, *end;
};

/* The next character of the line; EOF after its end. */
static int peek(const struct reader *reader)
{
    return reader->at < reader->end ? (unsigned char)*reader->at : EOF;
}

static int at_blank(const struct reader *reader)
{
    const int next = peek(reader);
    return next == ' ' || next == '\t' || next == '\r';
}

static void skip_blanks(struct reader *reader)
{
    while (at_blank(reader))
        ++reader->at;
}

/* 1: the rest of the line is at most a comment. */
static int at_end(const struct reader *reader)
{
    const int next = peek(reader);
    return next == '\n' || next == EOF || next == '#';
}

CNNVP_PRINTF(3, 4) static int wrong(const struct reader *reader, struct cnnvp_error *error, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(error->text, sizeof error->text, "%s:%" PRIu64 ":%td: %s", reader->file, reader->line,
                   reader->at - reader->text + 1, message);
    return -1;
}

/* Describes a character for a message. */
static const char *shown(int character, char text[16])
{
    if (character == EOF || character == '\n')
        (void)snprintf(text, 16, "the line's end");
    else if (isprint(character))
        (void)snprintf(text, 16, "\"%c\"", character);
    else
        (void)snprintf(text, 16, "byte 0x%02x", (unsigned)character);
    return text;
}

static int read_number(struct reader *reader, const char *what, uint64_t *number, struct cnnvp_error *error)
{
    char text[16], *end;
    const int is_hex = peek(reader) == '0' && (reader->at[1] == 'x' || reader->at[1] == 'X');
    const char *digits = reader->at + (is_hex ? 2 : 0);
    if (is_hex ? !isxdigit((unsigned char)*digits) : !isdigit(peek(reader))) {
        reader->at = digits;
        return wrong(reader, error, "%s is expected, decimal or 0x..., not %s",
                     what[0] == 'a' ? "an address" : "a time in ps", shown(peek(reader), text));
    }
    errno = 0;
    *number = strtoull(digits, &end, is_hex ? 16 : 10);
    if (errno == ERANGE)
        return wrong(reader, error, "the %s does not fit into 64 bits", what);
    reader->at = end;
    return 1;
}

/* A line of the trace. */
struct line {
    enum { LINE_READ, LINE_WRITE, LINE_RESET, LINE_END } kind;
    uint64_t address;
    uint64_t time; /* ps */
    int timed;
    const char *at; /* the time, or the end of a line without one */
};

static int is_burst(const struct line *line)
{
    return line->kind == LINE_READ || line->kind == LINE_WRITE;
}

/* Parses the rest of a line after its first letter. */
static int read_operands(struct reader *reader, struct line *line, struct cnnvp_error *error)
{
    char text[16];
    if (!at_blank(reader))
        return wrong(reader, error, "a blank is expected, not %s", shown(peek(reader), text));
    skip_blanks(reader);
    if (is_burst(line) && read_number(reader, "address", &line->address, error) < 0)
        return -1;
    skip_blanks(reader);
    line->at = reader->at;
    line->timed = !is_burst(line) || !at_end(reader);
    if (line->timed && is_burst(line) && !isdigit(peek(reader)))
        return wrong(reader, error, "nothing may follow the address but a time in ps and a # comment, not %s",
                     shown(peek(reader), text));
    if (line->timed && read_number(reader, "time", &line->time, error) < 0)
        return -1;
    skip_blanks(reader);
    if (!at_end(reader))
        return wrong(reader, error, "nothing may follow the time but a # comment, not %s", shown(peek(reader), text));
    return 1;
}

/* Reads the next line that is neither empty nor a comment. 1: a line; 0: the end; -1: `error` says what is wrong. */
static int read_line(struct reader *reader, struct line *line, struct cnnvp_error *error)
{
    char text[16];
    do {
        const ssize_t length = getline(&reader->text, &reader->room, reader->stream);
        if (length < 0)
            return 0;
        ++reader->line;
        reader->at = reader->text;
        reader->end = reader->text + length;
        skip_blanks(reader);
    } while (at_end(reader));
    const int kind = peek(reader);
    if (kind == 'R' || kind == 'r')
        line->kind = LINE_READ;
    else if (kind == 'W' || kind == 'w')
        line->kind = LINE_WRITE;
    else if (kind == 'Z')
        line->kind = LINE_RESET;
    else if (kind == 'E')
        line->kind = LINE_END;
    else
        return wrong(reader, error, "R or W is expected, not %s", shown(kind, text));
    ++reader->at;
    return read_operands(reader, line, error);
}

/* ---- the memory ---- */

struct run {
    cnnvp_recorder *recorder;
    int untimed;
    uint32_t instance;
    uint64_t tck_ps, burst_ps;
    uint64_t until; /* clock of the line E, or of the reset at work; DRAM_NEVER: neither */
    uint64_t end;   /* its time in ps */
    struct dram_windows windows;
};

static void show_window(void *context, uint32_t counter, cnnvp_time at, uint64_t value)
{
    struct run *run = context;
    cnnvp_recorder_counter(run->recorder, run->instance, counter, at, value);
}

static void note_command(void *context, uint32_t channel, const struct dram_issued *issued)
{
    struct run *run = context;
    (void)channel;
    if (issued->clock > run->until) { /* after the end, only the class of a waiting burst counts */
        cnnvp_dram_windows_class(&run->windows, issued, run->until * run->tck_ps);
        return;
    }
    cnnvp_dram_windows_command(&run->windows, issued);
    if (!cnnvp_dram_is_column(issued->command))
        return;
    const cnnvp_time done = issued->done * run->tck_ps;
    const uint64_t write = issued->entry.write ? DRAM_BURST_BYTES : 0;
    cnnvp_over_time_add(&run->recorder->stats.over_time, done - run->burst_ps, done, DRAM_BURST_BYTES - write, write);
}

cnnvp_result cnnvp_memory_find(const cnnvp_config *config, uint32_t outstanding, const struct cnnvp_instance **memory,
                               struct cnnvp_error *error)
{
    const struct cnnvp_resolved *platform;
    CNNVP_TRY(cnnvp_config_need(config, &platform, error));
    if (outstanding == 0)
        return cnnvp_config_error(error, NULL, "at least one read must be allowed to be outstanding");
    for (*memory = platform->instances; *memory < platform->instances + platform->instance_count; ++*memory) {
        if (strcmp((*memory)->name, "dram") != 0)
            continue;
        return (*memory)->unit == &cnnvp_unit_dram
                   ? CNNVP_DONE
                   : cnnvp_config_error(error, (*memory)->place.text,
                                        "dram: the memory to replay on must be of model dram");
    }
    return cnnvp_config_error(error, NULL, "the platform has no instance dram to replay on");
}

static void count(void *context, uint32_t stat, uint64_t n)
{
    const struct run *run = context;
    cnnvp_stats_count(&run->recorder->stats, run->instance, stat, 0, n);
}

static uint64_t end_ps(const struct run *run, const struct dram_replay_result *from)
{
    return cnnvp_maximum(from->end * run->tck_ps, run->end);
}

/* Records the statistics of a replay. Each burst counts as one request. */
static void record(struct run *run, const struct dram_options *dram, const struct dram_timing *timing,
                   const struct dram_replay_result *from)
{
    const struct dram_counter counter = {count, run};
    const struct dram_counts *counts = &from->counts, none = {0};
    const struct dram_traffic traffic = {
        .requests = from->reads + from->writes,
        .waited = (from->wait_clocks[0] + from->wait_clocks[1]) * run->tck_ps,
        .bytes = {from->reads * DRAM_BURST_BYTES, from->writes * DRAM_BURST_BYTES},
        .bursts = {from->reads, from->writes},
        .latency = {(from->wait_clocks[0] + from->read_clocks) * run->tck_ps, from->wait_clocks[1] * run->tck_ps},
        .hits = counts->hits,
        .misses = counts->misses,
        .conflicts = counts->conflicts,
        .carried = {counts->commands[DRAM_RD] + counts->commands[DRAM_RDA],
                    counts->commands[DRAM_WR] + counts->commands[DRAM_WRA]}};
    cnnvp_dram_count_traffic(&counter, &traffic);
    cnnvp_dram_count_channels(&counter, &none, counts, timing);
    uint64_t standby = 0;
    cnnvp_dram_count_standby(&counter, counts, dram, timing, end_ps(run, from), &standby);
    cnnvp_dram_count_peak(&counter, dram, timing);
}

static void fill_result(const struct run *run, const struct dram_replay_result *from,
                        struct cnnvp_memory_result *result)
{
    const struct dram_counts *counts = &from->counts;
    *result = (struct cnnvp_memory_result){
        .reads = from->reads,
        .writes = from->writes,
        .clocks = from->end,
        .time_ps = end_ps(run, from),
        .row_hits = counts->hits,
        .row_misses = counts->misses,
        .row_conflicts = counts->conflicts,
        .forwarded = counts->forwarded,
        .merged = counts->merged,
        .refreshes = counts->commands[DRAM_REF],
        .turnarounds = counts->turnarounds,
    };
    if (from->end)
        result->bytes_per_s = (double)(from->reads + from->writes) * DRAM_BURST_BYTES * 1e12 / (double)result->time_ps;
    if (from->reads)
        result->mean_read_latency_ps = (double)from->read_clocks * (double)run->tck_ps / (double)from->reads;
}

/* State from the lines read so far. */
struct progress {
    uint64_t bursts;
    uint64_t clock; /* of the last line with a time */
    int timed;      /* 1: bursts have times, as the first burst decides for all */
    int ended;      /* the line E has been read */
};

/* Limit of a trace's time, since refreshes are simulated up to it. */
#define TIME_MAX UINT64_C(100000000000000) /* ps: 100 s */

static int check_line(struct reader *reader, const struct line *line, const struct progress *progress, uint64_t at,
                      struct cnnvp_error *error)
{
    reader->at = progress->ended ? reader->text : line->at;
    if (progress->ended)
        return wrong(reader, error, "a line after E, which ends a trace");
    if (line->timed && line->time > TIME_MAX)
        return wrong(reader, error, "the time is more than 100 s");
    if (line->timed && at < progress->clock)
        return wrong(reader, error, "the time is before that of the line above");
    if (progress->bursts != 0 && line->timed != progress->timed)
        return wrong(reader, error,
                     progress->timed ? "a time is expected: the bursts above have one"
                                     : "a time, but the bursts above have none");
    return 0;
}

/* Ends the trace, or resets the memory. */
static void stop_at(struct dram_replay *replay, struct run *run, const struct line *line, uint64_t clock)
{
    run->until = cnnvp_maximum(clock, cnnvp_dram_replay_clock(replay)); /* a slower memory takes its bursts later */
    run->end = line->time;
    if (line->kind == LINE_END)
        return;
    cnnvp_dram_replay_reset(replay, run->until);
    run->until = DRAM_NEVER;
}

/* Checks and replays one line. */
static int replay_line(struct reader *reader, struct dram_replay *replay, struct run *run, struct line line,
                       struct progress *progress, struct cnnvp_error *error)
{
    const uint64_t at = line.time / run->tck_ps;
    line.timed = line.timed && !run->untimed;
    if (check_line(reader, &line, progress, at, error) < 0)
        return -1;
    if (line.timed)
        progress->clock = at;
    if (!is_burst(&line)) {
        progress->ended = line.kind == LINE_END;
        if (!run->untimed)
            stop_at(replay, run, &line, at);
        return 0;
    }
    progress->timed = line.timed;
    ++progress->bursts;
    if (line.timed)
        cnnvp_dram_replay_timed(replay, line.kind == LINE_WRITE, line.address, at);
    else
        cnnvp_dram_replay_burst(replay, line.kind == LINE_WRITE, line.address);
    return 0;
}

static cnnvp_result replay_trace(struct reader *reader, struct dram_replay *replay, struct run *run,
                                 struct cnnvp_error *error)
{
    struct line line = {.kind = LINE_READ};
    struct progress progress = {.timed = 0};
    int status;
    while ((status = read_line(reader, &line, error)) > 0)
        if (replay_line(reader, replay, run, line, &progress, error) < 0)
            return CNNVP_BAD_INPUT;
    if (ferror(reader->stream))
        return cnnvp_config_error(error, reader->file, "cannot be read: %s", strerror(errno));
    if (status == 0 && !progress.bursts)
        return cnnvp_config_error(error, reader->file, "has no bursts: a line R ADDRESS or W ADDRESS for each");
    return status < 0 ? CNNVP_BAD_INPUT : CNNVP_DONE;
}

static cnnvp_result replay_file(struct reader *reader, struct run *run, const struct cnnvp_instance *memory,
                                const struct cnnvp_memory_options *options, struct cnnvp_memory_result *result,
                                struct cnnvp_error *error)
{
    struct dram_options dram;
    struct dram_timing timing;
    char message[256];
    uint32_t at_fault;
    cnnvp_dram_options_read(memory->values, &dram);
    if (cnnvp_dram_timing_init(&dram, &timing, message, sizeof message, &at_fault) != CNNVP_OK) {
        cnnvp_config_place_error(memory, at_fault, message, error);
        return CNNVP_BAD_INPUT;
    }
    cnnvp_dram_timing_speed_up(&timing, memory->speedup);
    run->tck_ps = timing.tck_ps;
    run->burst_ps = (uint64_t)timing.t[DRAM_T_bl] * timing.tck_ps;
    struct dram_replay *replay = cnnvp_dram_replay_new(&dram, &timing, options->outstanding, note_command, run);
    CNNVP_TRY_MEMORY(replay != NULL, error);
    cnnvp_dram_windows_init(&run->windows, &timing, show_window, run);
    cnnvp_dram_replay_show(replay, options->trace != NULL ? &run->windows : NULL);
    cnnvp_result status = replay_trace(reader, replay, run, error);
    if (status == CNNVP_DONE) {
        struct dram_replay_result from;
        cnnvp_dram_replay_end(replay, run->until, &from);
        cnnvp_dram_windows_end(&run->windows);
        record(run, &dram, &timing, &from);
        fill_result(run, &from, result);
    }
    cnnvp_dram_replay_free(replay);
    cnnvp_dram_windows_fini(&run->windows);
    return status;
}

static cnnvp_result replay_recorded(struct reader *reader, const struct cnnvp_resolved *platform, struct run *run,
                                    const struct cnnvp_memory_options *options, struct cnnvp_memory_result *result,
                                    char **json, struct cnnvp_error *error)
{
    const struct cnnvp_work_info work = {.struct_size = sizeof work, .command = "memory"};
    const double begin = cnnvp_clock();
    const cnnvp_result status = replay_file(reader, run, &platform->instances[run->instance], options, result, error);
    const double seconds = cnnvp_clock() - begin;
    CNNVP_TRY(status);
    CNNVP_TRY(cnnvp_recorder_finish(run->recorder, result->time_ps, error));
    if (json != NULL && (cnnvp_stats_describe(&run->recorder->stats, &work) != CNNVP_DONE ||
                         cnnvp_stats_json(&run->recorder->stats, result->time_ps, seconds, json) != CNNVP_DONE))
        return cnnvp_config_no_memory(error);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_memory_replay(const cnnvp_config *config, const char *file,
                                 const struct cnnvp_memory_options *theirs, struct cnnvp_memory_result *result,
                                 char **json, struct cnnvp_error *error)
{
    struct cnnvp_memory_options own;
    const struct cnnvp_memory_options *options = &own;
    const struct cnnvp_resolved *platform = cnnvp_config_resolved(config);
    struct cnnvp_error unwanted;
    if (error == NULL)
        error = &unwanted;
    if (json != NULL)
        *json = NULL;
    const struct cnnvp_instance *memory;
    CNNVP_TRY(cnnvp_client_struct(&own, sizeof own, theirs, "cnnvp_memory_options", error));
    CNNVP_TRY(cnnvp_memory_find(config, options->outstanding, &memory, error));
    struct reader reader = {.stream = fopen(file, "r"), .file = file};
    if (reader.stream == NULL)
        return cnnvp_config_error(error, file, "cannot be read: %s", strerror(errno));
    struct run run = {
        .instance = (uint32_t)(memory - platform->instances), .untimed = options->untimed, .until = DRAM_NEVER};
    cnnvp_result status = cnnvp_recorder_new(platform, options->trace, 1, &run.recorder, error);
    if (status == CNNVP_DONE)
        status = replay_recorded(&reader, platform, &run, options, result, json, error);
    cnnvp_recorder_free(run.recorder);
    (void)fclose(reader.stream);
    free(reader.text);
    return status;
}
