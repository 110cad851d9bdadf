/* SPDX-License-Identifier: Apache-2.0 */
/* Implements burst_trace.h. */
#include "burst_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "base/output_file.h"

enum form { FORM_CNNVP, FORM_RAMULATOR2, FORM_DRAMSIM3 };

struct cnnvp_burst_trace {
    const struct cnnvp_resolved *platform;
    cnnvp_output *output;
    enum form form;
    uint32_t memory; /* CNNVP_NO_INSTANCE: no burst yet */
};

cnnvp_result cnnvp_burst_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                   struct cnnvp_burst_trace **trace, struct cnnvp_error *error)
{
    CNNVP_TRY(cnnvp_output_check(file, error));
    CNNVP_FREED struct cnnvp_burst_trace *made = calloc(1, sizeof *made);
    CNNVP_TRY_MEMORY(made != NULL, error);
    made->platform = platform;
    made->memory = CNNVP_NO_INSTANCE;
    made->form = cnnvp_before_ending(file, ".ramulator2") != 0 ? FORM_RAMULATOR2
                 : cnnvp_before_ending(file, ".dramsim3") != 0
                     ? FORM_DRAMSIM3
                     : FORM_CNNVP;
    CNNVP_TRY(cnnvp_output_new(file, &made->output, error));
    if (made->form == FORM_CNNVP)
        cnnvp_output_printf(
            made->output,
            "# cnnvp burst trace: R or W, address in the memory, time in ps at which it entered, requester, layer\n");
    *trace = made;
    made = NULL;
    return CNNVP_DONE;
}

static const char *name_of(const struct cnnvp_burst_trace *trace, uint32_t instance)
{
    return instance < trace->platform->instance_count ? trace->platform->instances[instance].name : "-";
}

void cnnvp_burst_trace_add(struct cnnvp_burst_trace *trace, uint32_t memory, cnnvp_time at, uint64_t clock,
                           uint32_t requester, uint32_t tag, uint32_t op, uint64_t address)
{
    cnnvp_output *output = trace->output;
    const int write = op == CNNVP_WRITE;
    if (trace->memory == CNNVP_NO_INSTANCE)
        trace->memory = memory;
    if (memory != trace->memory)
        return;
    switch (trace->form) {
    case FORM_CNNVP:
        cnnvp_output_printf(output, "%c 0x%" PRIx64 " %" PRIu64 " # %s", write ? 'W' : 'R', address, at,
                            name_of(trace, requester));
        if (tag)
            cnnvp_output_printf(output, " %" PRIu32, tag - 1);
        cnnvp_output_write(output, "\n", 1);
        break;
    case FORM_RAMULATOR2:
        cnnvp_output_printf(output, "%s 0x%" PRIx64 "\n", write ? "ST" : "LD", address);
        break;
    case FORM_DRAMSIM3:
        cnnvp_output_printf(output, "0x%" PRIx64 " %s %" PRIu64 "\n", address, write ? "WRITE" : "READ", clock);
        break;
    }
}

void cnnvp_burst_trace_reset(struct cnnvp_burst_trace *trace, cnnvp_time at)
{
    if (trace->form == FORM_CNNVP)
        cnnvp_output_printf(trace->output, "Z %" PRIu64 "\n", at);
}

cnnvp_result cnnvp_burst_trace_finish(struct cnnvp_burst_trace *trace, uint64_t end_ps, struct cnnvp_error *error)
{
    if (trace->form == FORM_CNNVP)
        cnnvp_output_printf(trace->output, "E %" PRIu64 "\n", end_ps);
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
