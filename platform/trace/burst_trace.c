/* SPDX-License-Identifier: Apache-2.0 */
/* See burst_trace.h. */
#include "burst_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"

enum form { FORM_CNNVP, FORM_RAMULATOR2, FORM_DRAMSIM3 };

struct cnnvp_burst_trace {
    const struct cnnvp_resolved *platform;
    cnnvp_output *output;
    enum form form;
    uint32_t memory; /* CNNVP_NO_INSTANCE: no burst yet */
};

static int ends_in(const char *text, const char *suffix)
{
    const size_t length = strlen(text), end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

static void write_line(struct cnnvp_burst_trace *trace, const char *line, int length)
{
    cnnvp_output_write(trace->output, line, (size_t)length);
}

cnnvp_result cnnvp_burst_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                   struct cnnvp_burst_trace **trace, struct cnnvp_error *error)
{
    struct cnnvp_burst_trace *made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)snprintf(error->text, sizeof error->text, "out of memory");
        return CNNVP_FAILED;
    }
    made->platform = platform;
    made->memory = CNNVP_NO_INSTANCE;
    made->form = ends_in(file, ".ramulator2") ? FORM_RAMULATOR2
                 : ends_in(file, ".dramsim3") ? FORM_DRAMSIM3
                                              : FORM_CNNVP;
    const cnnvp_result result = cnnvp_output_new(file, &made->output, error);
    if (result != CNNVP_DONE) {
        free(made);
        return result;
    }
    static const char head[] =
        "# cnnvp burst trace: R or W, address in the memory, time in ps at which it entered, requester, layer\n";
    if (made->form == FORM_CNNVP)
        write_line(made, head, (int)sizeof head - 1);
    *trace = made;
    return CNNVP_DONE;
}

static const char *name_of(const struct cnnvp_burst_trace *trace, uint32_t instance)
{
    return instance < trace->platform->instance_count ? trace->platform->instances[instance].name : "-";
}

void cnnvp_burst_trace_add(struct cnnvp_burst_trace *trace, uint32_t memory, cnnvp_time at, uint64_t clock,
                           uint32_t requester, uint32_t tag, uint32_t op, uint64_t address)
{
    char line[200];
    int length = 0;
    const int write = op == CNNVP_WRITE;
    if (trace->memory == CNNVP_NO_INSTANCE)
        trace->memory = memory;
    if (memory != trace->memory)
        return;
    switch (trace->form) {
    case FORM_CNNVP:
        length = snprintf(line, sizeof line, "%c 0x%" PRIx64 " %" PRIu64 " # %s", write ? 'W' : 'R', address, at,
                          name_of(trace, requester));
        if (tag)
            length += snprintf(line + length, sizeof line - (size_t)length, " %" PRIu32, tag - 1);
        line[length++] = '\n';
        break;
    case FORM_RAMULATOR2:
        length = snprintf(line, sizeof line, "%s 0x%" PRIx64 "\n", write ? "ST" : "LD", address);
        break;
    case FORM_DRAMSIM3:
        length =
            snprintf(line, sizeof line, "0x%" PRIx64 " %s %" PRIu64 "\n", address, write ? "WRITE" : "READ", clock);
        break;
    }
    write_line(trace, line, length);
}

cnnvp_result cnnvp_burst_trace_finish(struct cnnvp_burst_trace *trace, uint64_t end_ps, struct cnnvp_error *error)
{
    char line[40];
    if (trace->form == FORM_CNNVP)
        write_line(trace, line, snprintf(line, sizeof line, "E %" PRIu64 "\n", end_ps));
    const cnnvp_result result = cnnvp_output_finish(trace->output, error);
    free(trace);
    return result;
}

void cnnvp_burst_trace_free(struct cnnvp_burst_trace *trace)
{
    if (trace == NULL)
        return;
    cnnvp_output_discard(trace->output);
    free(trace);
}
