/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue, which keeps words from the start of the outermost loop on; sequential fetch; decode; and the sequence of
 * decoded instructions (S003 c2 and c8). Both back-pressures of Part B 3-2: a full queue refuses the writer, a full
 * sequence stops fetch. Not modelled: speculative fetch behind a branch.
 */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

static uint32_t ring(uint32_t depth)
{
    uint32_t size = 1;
    while (size < depth)
        size *= 2u;
    return size;
}

int cnnvp_pipeline_init(struct pipeline *pipeline, uint32_t queue_depth, uint32_t sequence_depth)
{
    pipeline->queue_depth = queue_depth;
    pipeline->sequence_depth = sequence_depth;
    pipeline->queue_mask = ring(queue_depth) - 1u;
    pipeline->sequence_mask = ring(sequence_depth) - 1u;
    pipeline->words = calloc(ring(queue_depth), sizeof *pipeline->words);
    pipeline->pushed = calloc(ring(queue_depth), sizeof *pipeline->pushed);
    pipeline->entries = calloc(ring(sequence_depth), sizeof *pipeline->entries);
    pipeline->left = calloc(ring(sequence_depth), sizeof *pipeline->left);
    if (pipeline->words != NULL && pipeline->pushed != NULL && pipeline->entries != NULL && pipeline->left != NULL)
        return CNNVP_OK;
    cnnvp_pipeline_fini(pipeline);
    return CNNVP_E_NOMEM;
}

void cnnvp_pipeline_fini(struct pipeline *pipeline)
{
    free(pipeline->words);
    free(pipeline->pushed);
    free(pipeline->entries);
    free(pipeline->left);
    free(pipeline->extension);
    pipeline->extension = NULL;
    pipeline->words = NULL;
    pipeline->pushed = NULL;
    pipeline->entries = NULL;
    pipeline->left = NULL;
}

void cnnvp_pipeline_reset(struct pipeline *pipeline)
{
    pipeline->tail = 0;
    pipeline->pc = 0;
    pipeline->loop_count = 0;
    pipeline->fetched = 0;
    pipeline->issued = 0;
    pipeline->next_fetch = 0;
    pipeline->redirecting = 0;
    pipeline->halted = 0;
    memset(pipeline->left, 0, (pipeline->sequence_mask + 1u) * sizeof *pipeline->left);
}

void cnnvp_pipeline_push(struct pipeline *pipeline, uint64_t word, uint64_t cycle)
{
    const uint64_t place = pipeline->tail & pipeline->queue_mask;
    pipeline->words[place] = word;
    pipeline->pushed[place] = cycle;
    ++pipeline->tail;
}

uint64_t cnnvp_pipeline_next_fetch(const struct pipeline *pipeline, uint64_t *full_wait)
{
    if (!pipeline->enabled || pipeline->halted || pipeline->redirecting || pipeline->pc >= pipeline->tail ||
        pipeline->fetched - pipeline->issued == pipeline->sequence_depth)
        return PIPELINE_NEVER;
    const uint64_t after_push = pipeline->pushed[pipeline->pc & pipeline->queue_mask] + 1u;
    const uint64_t room = pipeline->left[(pipeline->fetched - pipeline->sequence_depth) & pipeline->sequence_mask];
    const uint64_t cycle = after_push > pipeline->next_fetch ? after_push : pipeline->next_fetch;
    if (full_wait != NULL)
        *full_wait = room > cycle ? room - cycle : 0u;
    return room > cycle ? room : cycle;
}

/* If pc is at the end of loop bodies, starts the next iteration or leaves the loops. */
static void turn_loops(struct pipeline *pipeline)
{
    while (pipeline->loop_count) {
        struct pipeline_loop *loop = &pipeline->loops[pipeline->loop_count - 1u];
        if (pipeline->pc != loop->end)
            return;
        if (--loop->left) {
            pipeline->pc = loop->start;
            return;
        }
        --pipeline->loop_count;
    }
}

static void decode(struct pipeline_entry *entry, const struct isa_extension *extension)
{
    entry->op = cnnvp_isa_decode(extension, entry->word);
    if (entry->op == NULL)
        return;
    entry->fields = cnnvp_word_read(entry->word);
    cnnvp_isa_usage(entry->op, &entry->fields, &entry->resources, &entry->causes);
}

void cnnvp_pipeline_fetch(struct pipeline *pipeline, uint64_t cycle)
{
    struct pipeline_entry *entry = &pipeline->entries[pipeline->fetched & pipeline->sequence_mask];
    entry->word = pipeline->words[pipeline->pc & pipeline->queue_mask];
    entry->pc = pipeline->pc;
    entry->ready = cycle + 2u;
    entry->pushed_last =
        cycle > pipeline->next_fetch && cycle == pipeline->pushed[pipeline->pc & pipeline->queue_mask] + 1u;
    decode(entry, pipeline->extension);
    ++pipeline->fetched;
    ++pipeline->pc;
    pipeline->next_fetch = cycle + 1u;
    pipeline->redirecting = entry->op != NULL && cnnvp_isa_redirects(entry->fields.opcode);
    if (!pipeline->redirecting)
        turn_loops(pipeline);
}

void cnnvp_pipeline_issue(struct pipeline *pipeline, uint64_t cycle)
{
    pipeline->left[pipeline->issued & pipeline->sequence_mask] = cycle;
    ++pipeline->issued;
}

/* Resumes fetch at pc. */
static void resume(struct pipeline *pipeline, uint64_t cycle)
{
    pipeline->redirecting = 0;
    pipeline->next_fetch = cycle + 1u;
    turn_loops(pipeline);
}

enum pipeline_fault cnnvp_pipeline_branch(struct pipeline *pipeline, uint64_t pc, int taken, int32_t offset,
                                          uint64_t cycle)
{
    enum pipeline_fault fault = PIPELINE_GOOD;
    if (taken) {
        const uint64_t back = offset < 0 ? (uint64_t)(-(int64_t)offset) : 0u;
        const uint64_t target = pc - back + (offset > 0 ? (uint64_t)offset : 0u);
        if (back > pc || target < cnnvp_pipeline_head(pipeline)) {
            fault = PIPELINE_BAD_TARGET;
        } else {
            while (pipeline->loop_count) {
                const struct pipeline_loop *loop = &pipeline->loops[pipeline->loop_count - 1u];
                if (target >= loop->start && target <= loop->end)
                    break;
                --pipeline->loop_count;
            }
            pipeline->pc = target;
        }
    }
    resume(pipeline, cycle);
    return fault;
}

enum pipeline_fault cnnvp_pipeline_loop(struct pipeline *pipeline, uint32_t count, uint32_t body, uint64_t cycle)
{
    enum pipeline_fault fault = PIPELINE_GOOD;
    const uint64_t end = pipeline->pc + body;
    if (pipeline->loop_count ? end > pipeline->loops[pipeline->loop_count - 1u].end : body > pipeline->queue_depth) {
        fault = PIPELINE_BAD_TARGET;
    } else if (!count) {
        pipeline->pc = end;
    } else if (body && pipeline->loop_count == PIPELINE_LOOPS) {
        fault = PIPELINE_BAD_NESTING;
    } else if (body) {
        pipeline->loops[pipeline->loop_count++] = (struct pipeline_loop){pipeline->pc, end, count};
    }
    resume(pipeline, cycle);
    return fault;
}

void cnnvp_pipeline_halt(struct pipeline *pipeline, uint64_t cycle)
{
    resume(pipeline, cycle);
    pipeline->halted = 1;
}

void cnnvp_pipeline_enable(struct pipeline *pipeline, int enabled, uint64_t cycle)
{
    if (enabled && (!pipeline->enabled || pipeline->halted)) {
        pipeline->halted = 0;
        if (pipeline->next_fetch < cycle + 1u)
            pipeline->next_fetch = cycle + 1u;
    }
    pipeline->enabled = enabled;
}
