/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics and trace of one run. The model hosts feed it, nothing else knows a file format.
 * Statistics: stats.c (accumulation) and stats_json.c (the file). Trace: trace.c (compact recording in memory and in a
 * temporary file), trace_perfetto.c, trace_vcd.c and trace_fst.c (conversion at the end). Plain C, usable without
 * SystemC.
 */
#ifndef CNNVP_PLATFORM_RECORDER_H
#define CNNVP_PLATFORM_RECORDER_H

#include "config.h"
#include "snapshot.h"
#include "path.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cnnvp_recorder cnnvp_recorder;

/* `trace_file` may be NULL. An unknown suffix or a folder that cannot be written is refused now, and so are units whose
 * statistics name an unknown layer member or energy entry. `platform` must outlive the recorder. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_new(const struct cnnvp_resolved *platform, const char *trace_file,
                                               int timing_only, cnnvp_recorder **recorder, struct cnnvp_error *error);
/* One more trace file of the same run; the recorder was made with one. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_add_trace(cnnvp_recorder *recorder, const char *trace_file,
                                                     struct cnnvp_error *error);
/* 1: there is a trace, which wants the guest's calls and returns, and the critical path over time. */
int cnnvp_recorder_traces(const cnnvp_recorder *recorder);
/* Who knows the guest's functions by an address in them; the name (NULL: unknown) is copied at once. */
typedef const char *(*cnnvp_function_name_fn)(const void *context, uint64_t address);
void cnnvp_recorder_set_functions(cnnvp_recorder *recorder, cnnvp_function_name_fn name, const void *context);
/* Records bursts too, into a file of their own; before the run. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_trace_bursts(cnnvp_recorder *recorder, const char *file,
                                                        struct cnnvp_error *error);
/* From here on what units have said last is kept: for a debugger. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_keep_snapshot(cnnvp_recorder *recorder, struct cnnvp_error *error);
/* NULL where it is not kept. */
const struct cnnvp_snapshot *cnnvp_recorder_snapshot(const cnnvp_recorder *recorder);
/* No trace any more, and no file of one is touched: for the copy of a process. */
void cnnvp_recorder_mute(cnnvp_recorder *recorder);
/* Without a successful cnnvp_recorder_finish no trace appears. */
void cnnvp_recorder_free(cnnvp_recorder *recorder);
/* The trace is to show the critical path; right before it is finished. */
void cnnvp_recorder_trace_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps);
/* Writes the trace file, complete, under its name. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_finish(cnnvp_recorder *recorder, uint64_t end_ps, struct cnnvp_error *error);

/* Feeding: indexes are those of the instance's unit tables; tags as in cnnvp_model.h. Hot, no allocation in the
 * steady state. */
void cnnvp_recorder_count(cnnvp_recorder *recorder, uint32_t instance, uint32_t stat, uint32_t tag, uint64_t n);
/* Of a count, the share of a requester; in the statistics, not in the total. */
void cnnvp_recorder_count_for(cnnvp_recorder *recorder, uint32_t instance, uint32_t stat, uint32_t requester,
                              uint64_t n);
/* What a program says of itself, see struct cnnvp_host_ops. */
int cnnvp_recorder_report(cnnvp_recorder *recorder, const char *name, int64_t value);
int cnnvp_recorder_name_layer(cnnvp_recorder *recorder, uint32_t tag, const char *name, const char *op,
                              const char *phase, uint64_t macs);
/* Called with the first span of each layer, as struct cnnvp_platform_options says. */
void cnnvp_recorder_set_on_layer(cnnvp_recorder *recorder,
                                 void (*on_layer)(void *context, size_t layer, uint64_t time_ps), void *context);
/* A burst of a memory, see struct cnnvp_host_ops; 0 if none is recorded. */
int cnnvp_recorder_burst(cnnvp_recorder *recorder, uint32_t instance, cnnvp_time at, uint64_t clock, uint32_t requester,
                         uint32_t tag, uint32_t op, uint64_t address);
void cnnvp_recorder_span(cnnvp_recorder *recorder, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                         uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* What the instance's spans of this command's flow are about, see struct cnnvp_host_ops. */
void cnnvp_recorder_about(cnnvp_recorder *recorder, uint32_t instance, const struct cnnvp_command *command);
void cnnvp_recorder_counter(cnnvp_recorder *recorder, uint32_t instance, uint32_t counter, cnnvp_time at,
                            uint64_t value);
/* An IRQ_OUT port's level, for waveforms. */
void cnnvp_recorder_level(cnnvp_recorder *recorder, uint32_t instance, uint32_t port, cnnvp_time at, int level);

/* A link is a connection from an initiator port to a target. Returns its number; two ports of one instance that lead to
 * the same instance share a link. UINT32_MAX without memory (transfers of it are dropped). */
uint32_t cnnvp_recorder_link(cnnvp_recorder *recorder, uint32_t from, uint32_t to);
/* Bytes that cross a link from `begin` to `end`; with a flow, rather while the initiator's span of that flow lasts. */
struct cnnvp_recorder_bytes {
    uint64_t flow; /* 0: none */
    uint32_t tag;  /* whose work it is */
    cnnvp_time begin;
    cnnvp_time end;
    uint64_t read;
    uint64_t write;
    uint32_t initiator; /* who asked for it first; CNNVP_NO_INSTANCE: nobody in the platform, or not known */
};
void cnnvp_recorder_transfer(cnnvp_recorder *recorder, uint32_t link, const struct cnnvp_recorder_bytes *bytes);
/* The same for what a core accesses by itself: it costs energy, and is no traffic of the accelerator. */
void cnnvp_recorder_cross(cnnvp_recorder *recorder, uint32_t link, const struct cnnvp_recorder_bytes *bytes);

/* Bytes that a memory has moved over no link: a replay's. */
void cnnvp_recorder_moved_alone(cnnvp_recorder *recorder, const struct cnnvp_recorder_bytes *bytes);

/* What a request to memory, by its bus address, moved in bursts of this many bytes, for the statistics of tensors. */
void cnnvp_recorder_moved(cnnvp_recorder *recorder, const struct cnnvp_request *request, uint64_t burst_bytes);

/* Whether layers[] counts the statistic among a layer's cycles: compute_cycles or a stall. */
CNNVP_MUST_USE int cnnvp_recorder_counts_cycles(const cnnvp_recorder *recorder, uint32_t instance, uint32_t stat);
/* Name of the layer of a tag; it may be made into `buffer`. */
const char *cnnvp_recorder_layer_name(const cnnvp_recorder *recorder, uint32_t tag, char *buffer, size_t size);

/* Reading back. */
uint64_t cnnvp_recorder_total(const cnnvp_recorder *recorder, uint32_t instance, uint32_t stat);
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_describe(cnnvp_recorder *recorder, const struct cnnvp_work_info *work);
/* Share and layers of a run that is not at its end. */
void cnnvp_recorder_progress(const cnnvp_recorder *recorder, struct cnnvp_progress *progress);
/* Sums of a layer, see cnnvp_platform_layer; all 0 where it has none. */
void cnnvp_recorder_layer(const cnnvp_recorder *recorder, size_t layer, struct cnnvp_layer_result *result);
/* 1: the run did not come to its end; stats.json then has the member "partial": true. */
void cnnvp_recorder_set_partial(cnnvp_recorder *recorder, int partial);
/* The hash of the program that the core runs. */
void cnnvp_recorder_set_program(cnnvp_recorder *recorder, uint64_t hash);
/* The critical path of the run that has ended at `end_ps`. */
void cnnvp_recorder_set_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps);
/* stats.json; `end_ps` is total.time_ps; free the text with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_json(const cnnvp_recorder *recorder, uint64_t end_ps, double wall_seconds,
                                                char **json);

#ifdef __cplusplus
}
#endif

#endif
