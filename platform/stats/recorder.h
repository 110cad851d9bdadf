/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics and trace of one run. The model hosts feed it, nothing else knows a file format.
 * Statistics: stats.c (accumulation) and stats_json.c (the file). Trace: trace.c (compact recording in memory and in a
 * temporary file), trace_perfetto.c, trace_vcd.c and trace_fst.c (conversion at the end). Plain C, usable without
 * SystemC.
 */
#ifndef CNNVP_PLATFORM_RECORDER_H
#define CNNVP_PLATFORM_RECORDER_H

#include "burst_trace.h"
#include "snapshot.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_trace;

/* What counts alone goes to `stats`: cnnvp_stats_count and others, also what a program says, and the results. What is
 * shown over time goes through here. */
typedef struct cnnvp_recorder {
    struct cnnvp_stats stats;
    struct cnnvp_trace *trace;        /* of calls and returns and the critical path over time, too; NULL: no trace */
    struct cnnvp_burst_trace *bursts; /* a file of its own; NULL: none */
    struct cnnvp_snapshot *snapshot;  /* NULL: not kept */
    void (*on_layer)(void *context, size_t layer, uint64_t time_ps); /* as struct cnnvp_platform_options says */
    void *on_layer_context;
} cnnvp_recorder;

/* `trace_file` may be NULL. An unknown suffix or a folder that cannot be written is refused now, and so are units whose
 * statistics name an unknown layer member or energy entry. `platform` must outlive the recorder. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_new(const struct cnnvp_resolved *platform, const char *trace_file,
                                               int timing_only, cnnvp_recorder **recorder, struct cnnvp_error *error);
/* One more trace file of the same run; the recorder was made with one. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_add_trace(cnnvp_recorder *recorder, const char *trace_file,
                                                     struct cnnvp_error *error);
/* Who knows the guest's functions by an address in them; the name (NULL: unknown) is copied at once. */
typedef const char *(*cnnvp_function_name_fn)(const void *context, uint64_t address);
void cnnvp_recorder_set_functions(cnnvp_recorder *recorder, cnnvp_function_name_fn name, const void *context);
/* From here on what units have said last is kept: for a debugger. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_keep_snapshot(cnnvp_recorder *recorder, struct cnnvp_error *error);
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
void cnnvp_recorder_transfer(cnnvp_recorder *recorder, uint32_t link, const struct cnnvp_link_bytes *bytes);

/* What a request to memory, by its bus address, moved in bursts of this many bytes, for the statistics of tensors. */
void cnnvp_recorder_moved(cnnvp_recorder *recorder, const struct cnnvp_request *request, uint64_t burst_bytes);

/* Reading back. */
uint64_t cnnvp_recorder_total(const cnnvp_recorder *recorder, uint32_t instance, uint32_t stat);
/* Share and layers of a run that is not at its end. */
void cnnvp_recorder_progress(const cnnvp_recorder *recorder, struct cnnvp_progress *progress);
/* Sums of a layer, see cnnvp_platform_layer; all 0 where it has none. */
void cnnvp_recorder_layer(const cnnvp_recorder *recorder, size_t layer, struct cnnvp_layer_result *result);
/* The critical path of the run that has ended at `end_ps`. */
void cnnvp_recorder_set_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps);

#ifdef __cplusplus
}
#endif

#endif
