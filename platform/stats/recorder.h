/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records statistics and traces of one run. The unit hosts call it; nothing else knows a file format. Statistics:
 * stats.c (accumulation) and stats_json.c (the file). Traces: trace.c (compact recording in memory and in a temporary
 * file), trace_perfetto.c, trace_vcd.c and trace_fst.c (conversion at the end). Plain C, usable without SystemC.
 */
#pragma once

#include "burst_trace.h"
#include "snapshot.h"
#include "stats.h"

struct cnnvp_trace;

/* Pure counts, reports of the program and results go directly to `stats` (cnnvp_stats_count and others). Everything
 * that is shown over time goes through the functions below. */
typedef struct cnnvp_recorder {
    struct cnnvp_stats stats;
    struct cnnvp_trace *trace;        /* also of calls and returns, and of the critical path over time; NULL: no
                                       * trace */
    struct cnnvp_burst_trace *bursts; /* separate file of memory bursts; NULL: none */
    struct cnnvp_snapshot *snapshot;  /* NULL: none is kept */
    int pauses;                       /* 1: spans end because statistics are read, and may go on afterwards */
    struct cnnvp_recorder_span *open; /* such spans, of which the trace has no part yet */
    size_t open_count;
    void (*on_layer)(void *context, size_t layer, uint64_t time_ps); /* see struct cnnvp_platform_options */
    void *on_layer_context;
} cnnvp_recorder;

/* `trace_file` may be NULL. Refuses an unknown suffix, a folder that cannot be written, and units whose statistics name
 * an unknown layer member or energy entry. `platform` must outlive the recorder. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_new(const struct cnnvp_resolved *platform, const char *trace_file,
                                               int timing_only, cnnvp_recorder **recorder, struct cnnvp_error *error);
/* Adds another trace file of the same run; the recorder must have a first one. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_add_trace(cnnvp_recorder *recorder, const char *trace_file,
                                                     struct cnnvp_error *error);
/* Looks up the name of the guest function that contains an address; NULL: unknown. The name is copied at once. */
typedef const char *(*cnnvp_function_name_fn)(const void *context, uint64_t address);
void cnnvp_recorder_set_functions(cnnvp_recorder *recorder, cnnvp_function_name_fn name, const void *context);
/* Starts to keep the latest values that units report, for a debugger. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_keep_snapshot(cnnvp_recorder *recorder, struct cnnvp_error *error);
/* Ends the trace without touching its file, for the copy of a process. */
void cnnvp_recorder_mute(cnnvp_recorder *recorder);
/* No trace file appears without a successful cnnvp_recorder_finish. */
void cnnvp_recorder_free(cnnvp_recorder *recorder);
/* Adds the critical path to the trace; call it right before cnnvp_recorder_finish. */
void cnnvp_recorder_trace_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps);
/* Writes the complete trace file under its name. */
CNNVP_MUST_USE cnnvp_result cnnvp_recorder_finish(cnnvp_recorder *recorder, uint64_t end_ps, struct cnnvp_error *error);

/* Recording. Indexes refer to the tables of the instance's unit; tags as in cnnvp_model.h. Performance-critical: no
 * allocation in the steady state. */
/* For reading statistics in mid-run: units are then asked for what they have not yet told, which must not cut their
 * spans in traces. */
void cnnvp_recorder_pause(cnnvp_recorder *recorder, int pauses);
/* A reset of all units. */
void cnnvp_recorder_reset(cnnvp_recorder *recorder, cnnvp_time at);
/* A memory burst, see struct cnnvp_host_ops; returns 0 if bursts are not recorded. */
int cnnvp_recorder_burst(cnnvp_recorder *recorder, uint32_t instance, cnnvp_time at, uint64_t clock, uint32_t requester,
                         uint32_t tag, uint32_t op, uint64_t address);
void cnnvp_recorder_span(cnnvp_recorder *recorder, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                         uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* The command to which the instance's spans of this flow belong, see struct cnnvp_host_ops. */
void cnnvp_recorder_about(cnnvp_recorder *recorder, uint32_t instance, const struct cnnvp_command *command);
void cnnvp_recorder_counter(cnnvp_recorder *recorder, uint32_t instance, uint32_t counter, cnnvp_time at,
                            uint64_t value);
/* The level of an IRQ_OUT port, for waveforms. */
void cnnvp_recorder_level(cnnvp_recorder *recorder, uint32_t instance, uint32_t port, cnnvp_time at, int level);

/* A link is a connection from an initiator port to a target. Returns its number. Two ports of one instance that lead to
 * the same instance share a link. UINT32_MAX: out of memory, and the link's transfers are dropped. */
uint32_t cnnvp_recorder_link(cnnvp_recorder *recorder, uint32_t from, uint32_t to);
void cnnvp_recorder_transfer(cnnvp_recorder *recorder, uint32_t link, const struct cnnvp_link_bytes *bytes);

/* A memory request, with its bus address, that moved `burst_bytes` in whole bursts; for the statistics of tensors. */
void cnnvp_recorder_moved(cnnvp_recorder *recorder, const struct cnnvp_request *request, uint64_t burst_bytes);

/* Reading results. */
uint64_t cnnvp_recorder_total(const cnnvp_recorder *recorder, uint32_t instance, uint32_t stat);
/* Share and layers of an unfinished run. */
void cnnvp_recorder_progress(const cnnvp_recorder *recorder, struct cnnvp_progress *progress);
/* Sums of a layer, see cnnvp_platform_layer; all 0 if it has none. */
void cnnvp_recorder_layer(const cnnvp_recorder *recorder, size_t layer, struct cnnvp_layer_result *result);
/* Stores the critical path of the run that ended at `end_ps`. */
void cnnvp_recorder_set_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps);
