/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tightly coupled memory holds (parameter `memory`: tcm), and its loader.
 *
 * The program and its stack are there from the start. Each step of the program's work reads tables of its own
 * (cnnvp_program.h); all tables are there from the start, too, if they fit. Otherwise the loader brings them in the
 * order of the steps, after the last step the first one again, by requests at the core's memory port. The core's first
 * read of a step's tables begins that step. It waits for those that are still being loaded. Older tables give up their
 * room, except those of the step before if the next ones fit beside them. The loader reads ahead as far as there is
 * room. If a step is too large for the room, its first tables are held, and the core reads the rest in off-chip memory,
 * a word at a time. If a program goes to another step than the next one, the loader starts again at that step.
 */
#include "cpu_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024u
/* Reads of the tables of up to this many steps back do not begin these steps again: a program may still need a word of
 * its latest work. */
#define STEPS_BACK 4u
#define STACK_PART 4u
/* Maximum tcm_size in KiB. */
#define MOST_KIB (0x10000000u / KIB)
/* Maximum bursts of the loader in flight. */
#define LOADER_BURSTS 4u

/* ---- ranges ---- */

/* Adds [address, address + size) in whole granules; ranges that touch are merged. Returns -1 if there are too many. */
static int add(struct cpu_ranges *ranges, uint64_t address, uint64_t size)
{
    const uint64_t granule = CNNVP_RV32_GRANULE;
    uint64_t begin = address / granule * granule;
    uint64_t end = (address + size + granule - 1u) / granule * granule;
    struct cpu_ranges rest = {.count = 0};
    if (size == 0)
        return 0;
    for (uint32_t i = 0; i < ranges->count; ++i) {
        const struct cnnvp_rv32_range *range = &ranges->all[i];
        const uint64_t behind = (uint64_t)range->base + range->size;
        if (range->base <= end && begin <= behind) {
            begin = range->base < begin ? range->base : begin;
            end = behind > end ? behind : end;
        } else {
            rest.all[rest.count++] = *range;
        }
    }
    if (rest.count == CNNVP_RV32_MAX_RANGES || end > (uint64_t)UINT32_MAX + 1u || end - begin > UINT32_MAX)
        return -1;
    rest.all[rest.count++] = (struct cnnvp_rv32_range){(uint32_t)begin, (uint32_t)(end - begin)};
    *ranges = rest;
    return 0;
}

static uint64_t bytes_of(const struct cpu_ranges *ranges)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ranges->count; ++i)
        bytes += ranges->all[i].size;
    return bytes;
}

static int has(const struct cpu_ranges *ranges, uint64_t address)
{
    for (uint32_t i = 0; i < ranges->count; ++i)
        if (address - ranges->all[i].base < ranges->all[i].size)
            return 1;
    return 0;
}

int cpu_tcm_has(const struct cpu *cpu, uint32_t address)
{
    int held = has(&cpu->held, address);
    for (uint32_t i = 0; i < cpu->stream_count && !held; ++i)
        held = has(&cpu->streams[i].held, address);
    return held;
}

/* A range of whole granules. */
struct piece {
    uint64_t address, size;
};

/* A range without those of its ends that are held. */
static struct piece missing(const struct cpu_ranges *ranges, uint64_t address, uint64_t size)
{
    const uint64_t granule = CNNVP_RV32_GRANULE;
    uint64_t begin = address / granule * granule;
    uint64_t end = (address + size + granule - 1u) / granule * granule;
    while (begin < end && has(ranges, begin))
        begin += granule;
    while (begin < end && has(ranges, end - granule))
        end -= granule;
    return (struct piece){begin, end - begin};
}

/* Adds a range, from its start as far as `limit` bytes allow. *piece: the part that is new. Returns 1 if all of the
 * range is held. */
static int add_within(struct cpu_ranges *ranges, uint64_t address, uint64_t size, uint64_t limit, struct piece *piece)
{
    const uint64_t used = bytes_of(ranges);
    const uint64_t room = (limit > used ? limit - used : 0) / CNNVP_RV32_GRANULE * CNNVP_RV32_GRANULE;
    *piece = missing(ranges, address, size);
    const int all = piece->size <= room;
    if (!all)
        piece->size = room;
    if (add(ranges, piece->address, piece->size) == 0)
        return all;
    piece->size = 0;
    return 0;
}

/* ---- program and stack ---- */

/* Holds up to `room` bytes below the end of the stack, as far as nothing else is there. The most used frames are at
 * that end; all of its granule is held. */
static void hold_stack(struct cpu *cpu, uint32_t stack, uint64_t room)
{
    const uint64_t granule = CNNVP_RV32_GRANULE;
    const uint64_t end = (stack + granule - 1u) / granule * granule;
    uint64_t begin = end;
    while (room >= granule && begin != 0 && !has(&cpu->held, begin - granule)) {
        begin -= granule;
        room -= granule;
    }
    (void)add(&cpu->held, begin, end - begin);
}

/* Bytes that a program that does not fit leaves to a stack outside of it. */
static uint64_t left_to_stack(const struct cpu *cpu, uint32_t stack, const struct cpu_ranges *program)
{
    return stack == 0 || has(program, stack - 1u) ? 0 : cpu->tcm_size / STACK_PART;
}

/* Holds the program's ranges. If they do not fit, warns and names the size that is needed. */
static void hold_ranges(struct cpu *cpu, const struct cnnvp_cpu_program *program)
{
    struct cpu_ranges all = {.count = 0};
    struct piece piece;
    int fits = 1;
    cpu->held.count = 0;
    for (uint32_t i = 0; i < program->held_count; ++i)
        fits &= add(&all, program->held[i].address, program->held[i].size) == 0;
    fits &= bytes_of(&all) <= cpu->tcm_size;
    const uint64_t limit = cpu->tcm_size - (fits ? 0 : left_to_stack(cpu, program->stack, &all));
    for (uint32_t i = 0; i < program->held_count; ++i)
        (void)add_within(&cpu->held, program->held[i].address, program->held[i].size, limit, &piece);
    const uint64_t need = (bytes_of(&all) + KIB - 1u) / KIB;
    char advice[64] = "-s cpu.memory=cache";
    if (need > cpu->tcm_size / KIB && need <= MOST_KIB)
        (void)snprintf(advice, sizeof advice, "-s cpu.tcm_size=%" PRIu64 "KiB", need);
    if (!fits)
        cpu->ops->log(cpu->host, CNNVP_LOG_WARNING,
                      "the program needs %" PRIu64 " KiB of tightly coupled memory, it has %" PRIu64
                      " KiB: the core reads the rest in off-chip memory; use %s",
                      need, cpu->tcm_size / KIB, advice);
}

static uint64_t left(const struct cpu *cpu)
{
    const uint64_t used = bytes_of(&cpu->held);
    return cpu->tcm_size > used ? cpu->tcm_size - used : 0;
}

/* ---- tables ---- */

void cpu_tcm_fini(struct cpu *cpu)
{
    for (uint32_t i = 0; i < cpu->stream_count; ++i)
        free(cpu->streams[i].first);
    free(cpu->streams);
    free(cpu->tables);
    cpu->streams = NULL;
    cpu->tables = NULL;
    cpu->stream_count = 0;
}

/* Holds all tables if they fit beside the program; returns 1 then. */
static int hold_tables(struct cpu *cpu, const struct cnnvp_cpu_program *program)
{
    struct cpu_ranges all = cpu->held;
    for (uint32_t i = 0; i < program->table_count; ++i)
        if (add(&all, program->tables[i].address, program->tables[i].size) != 0)
            return 0;
    if (bytes_of(&all) > cpu->tcm_size)
        return 0;
    cpu->held = all;
    return 1;
}

/* Index of the first table after `from` that has another user. */
static uint32_t end_of_user(const struct cpu *cpu, uint32_t from, uint32_t count)
{
    uint32_t end = from;
    while (end < count && cpu->tables[end].user == cpu->tables[from].user)
        ++end;
    return end;
}

static int make_stream(const struct cpu *cpu, uint32_t from, uint32_t end, struct cpu_stream *stream)
{
    uint64_t high = 0;
    *stream = (struct cpu_stream){.low = UINT32_MAX};
    stream->first = malloc((end - from + 1u) * sizeof *stream->first);
    if (stream->first == NULL)
        return CNNVP_E_NOMEM;
    for (uint32_t i = from; i < end; ++i) {
        const struct cnnvp_program_table *table = &cpu->tables[i];
        if (i == from || table->step != table[-1].step)
            stream->first[stream->steps++] = i;
        stream->low = table->address < stream->low ? table->address : stream->low;
        high = (uint64_t)table->address + table->size > high ? (uint64_t)table->address + table->size : high;
    }
    stream->first[stream->steps] = end;
    stream->span = high - stream->low;
    return CNNVP_OK;
}

static int take_tables(struct cpu *cpu, const struct cnnvp_cpu_program *program)
{
    const uint32_t count = program->table_count;
    uint32_t users = 0;
    cpu->tables = malloc(count * sizeof *cpu->tables);
    if (cpu->tables == NULL)
        return CNNVP_E_NOMEM;
    memcpy(cpu->tables, program->tables, count * sizeof *cpu->tables);
    for (uint32_t i = 0; i < count; i = end_of_user(cpu, i, count))
        ++users;
    cpu->streams = calloc(users, sizeof *cpu->streams);
    if (cpu->streams == NULL)
        return CNNVP_E_NOMEM;
    for (uint32_t i = 0; i < count; i = end_of_user(cpu, i, count)) {
        const int status = make_stream(cpu, i, end_of_user(cpu, i, count), &cpu->streams[cpu->stream_count]);
        if (status != CNNVP_OK)
            return status;
        ++cpu->stream_count;
    }
    for (uint32_t i = 0; i < users; ++i)
        cpu->streams[i].limit = bytes_of(&cpu->held) + left(cpu) / users;
    return CNNVP_OK;
}

int cpu_tcm_take(struct cpu *cpu, const struct cnnvp_cpu_program *program)
{
    int status = CNNVP_OK;
    cpu_tcm_fini(cpu);
    if (cpu->kind != CPU_TCM)
        return CNNVP_OK;
    hold_ranges(cpu, program);
    const int all = hold_tables(cpu, program);
    /* Tables that are loaded in turn share the rest of the TCM with the stack. */
    if (program->stack != 0)
        hold_stack(cpu, program->stack, all ? left(cpu) : left(cpu) / 2u);
    if (!all && left(cpu) >= CNNVP_RV32_GRANULE)
        status = take_tables(cpu, program);
    if (status != CNNVP_OK)
        cpu_tcm_fini(cpu);
    return status;
}

/* ---- the loader ---- */

static int add_step(const struct cpu *cpu, const struct cpu_stream *stream, uint64_t step, struct cpu_ranges *ranges)
{
    const uint32_t *first = &stream->first[step % stream->steps];
    int all = 1;
    for (uint32_t i = first[0]; i < first[1]; ++i) {
        struct piece piece;
        all &= add_within(ranges, cpu->tables[i].address, cpu->tables[i].size, stream->limit, &piece);
    }
    return all;
}

/* Finds what is held: the steps that are there, and the tables so far of the step that is being loaded. */
static void hold_steps(const struct cpu *cpu, struct cpu_stream *stream)
{
    stream->held = cpu->held;
    for (uint64_t step = stream->begin; step < stream->there; ++step)
        (void)add_step(cpu, stream, step, &stream->held);
    for (uint32_t i = stream->first[stream->there % stream->steps]; stream->there < stream->end && i < stream->next;
         ++i) {
        struct piece piece;
        (void)add_within(&stream->held, cpu->tables[i].address, cpu->tables[i].size, stream->limit, &piece);
    }
}

/* 1 if the next step's tables fit beside those that are held. */
static int has_room(const struct cpu *cpu, const struct cpu_stream *stream)
{
    struct cpu_ranges ranges = stream->held;
    return stream->end - stream->begin < stream->steps && add_step(cpu, stream, stream->end, &ranges);
}

static void note_peak(struct cpu *cpu)
{
    const uint64_t base = bytes_of(&cpu->held);
    uint64_t bytes = base;
    for (uint32_t i = 0; i < cpu->stream_count; ++i)
        bytes += bytes_of(&cpu->streams[i].held) - base;
    if (cpu->counts[STAT_tcm_bytes] < bytes)
        cpu->counts[STAT_tcm_bytes] = bytes;
}

/* Loads the next table of the step that is being loaded. */
static void load_table(struct cpu *cpu, struct cpu_stream *stream)
{
    const struct cnnvp_program_table *table = &cpu->tables[stream->next++];
    struct piece piece;
    (void)add_within(&stream->held, table->address, table->size, stream->limit, &piece);
    if (piece.size == 0)
        return;
    note_peak(cpu);
    cpu->counts[STAT_table_bytes] += piece.size;
    const struct cnnvp_request request = {
        .op = CNNVP_READ,
        .address = piece.address,
        .size = piece.size,
        .count = 1,
        .burst_bytes = (uint32_t)1 << cpu->line_shift,
        .outstanding = LOADER_BURSTS};
    (void)cpu_request(cpu, &stream->transfer, &request);
}

/* Loads tables until a request is in flight, or the next step's tables do not fit. If no other step is held, they are
 * loaded anyway. */
static void load(struct cpu *cpu, struct cpu_stream *stream)
{
    while (!stream->transfer.under_way && !stream->pauses) {
        if (stream->there == stream->end) {
            if (stream->end != stream->begin && !has_room(cpu, stream))
                return;
            stream->next = stream->first[stream->end++ % stream->steps];
        }
        if (stream->next < stream->first[stream->there % stream->steps + 1u])
            load_table(cpu, stream);
        else
            ++stream->there;
    }
}

void cpu_tcm_complete(struct cpu *cpu, const struct cnnvp_request *request)
{
    for (uint32_t i = 0; i < cpu->stream_count; ++i)
        if (request == &cpu->streams[i].transfer.request) {
            cpu->streams[i].transfer.under_way = 0;
            load(cpu, &cpu->streams[i]);
        }
}

/* Sets the core's fast ranges: permanent contents, and tables of the current step and of steps before it. */
static void show(struct cpu *cpu)
{
    struct cpu_ranges all = cpu->held;
    for (uint32_t i = 0; i < cpu->stream_count; ++i) {
        struct cpu_ranges own = cpu->held;
        for (uint64_t step = cpu->streams[i].begin; step <= cpu->streams[i].here; ++step)
            (void)add_step(cpu, &cpu->streams[i], step, &own);
        for (uint32_t n = 0; n < own.count; ++n)
            (void)add(&all, own.all[n].base, own.all[n].size);
    }
    (void)cnnvp_rv32_set_fast(cpu->core, all.all, all.count);
}

void cpu_tcm_start(struct cpu *cpu)
{
    cpu->counts[STAT_tcm_bytes] = 0;
    for (uint32_t i = 0; i < cpu->stream_count; ++i) {
        struct cpu_stream *stream = &cpu->streams[i];
        stream->transfer.under_way = stream->pauses = 0;
        stream->begin = stream->here = 0;
        stream->there = stream->end = 1;
        hold_steps(cpu, stream);
        while (has_room(cpu, stream)) {
            (void)add_step(cpu, stream, stream->end, &stream->held);
            stream->there = ++stream->end;
        }
    }
    note_peak(cpu);
    show(cpu);
}

/* ---- the core's reads ---- */

static int is_in_step(const struct cpu *cpu, const struct cpu_stream *stream, uint64_t step, uint32_t address)
{
    const uint32_t *first = &stream->first[step % stream->steps];
    for (uint32_t i = first[0]; i < first[1]; ++i)
        if (address - cpu->tables[i].address < cpu->tables[i].size)
            return 1;
    return 0;
}

static int is_in_steps(const struct cpu *cpu, const struct cpu_stream *stream, uint64_t from, uint64_t to,
                       uint32_t address, uint64_t *step)
{
    for (*step = from; *step < to; ++*step)
        if (is_in_step(cpu, stream, *step, address))
            return 1;
    return 0;
}

static int is_here(const struct cpu *cpu, const struct cpu_stream *stream, uint32_t address, uint64_t *step)
{
    return is_in_steps(cpu, stream, stream->here, stream->here + 1u, address, step);
}

static int is_next(const struct cpu *cpu, const struct cpu_stream *stream, uint32_t address, uint64_t *step)
{
    const uint64_t all = stream->begin + stream->steps;
    return is_in_steps(cpu, stream, stream->here + 1u, stream->end < all ? stream->end + 1u : all, address, step);
}

static int is_past(const struct cpu *cpu, const struct cpu_stream *stream, uint32_t address, uint64_t *step)
{
    return is_in_steps(cpu, stream, stream->here > STEPS_BACK ? stream->here - STEPS_BACK : 0, stream->here, address,
                       step);
}

/* The first step of the next pass, or a step beyond the one that the loader would load next. */
static int is_elsewhere(const struct cpu *cpu, const struct cpu_stream *stream, uint32_t address, uint64_t *step)
{
    const uint64_t again = stream->here - stream->here % stream->steps + stream->steps;
    return is_in_steps(cpu, stream, again, again + 1u, address, step) ||
           is_in_steps(cpu, stream, stream->end + 1u, stream->here + stream->steps, address, step);
}

typedef int (*find_fn)(const struct cpu *cpu, const struct cpu_stream *stream, uint32_t address, uint64_t *step);

static struct cpu_stream *find(const struct cpu *cpu, find_fn is_found, uint32_t address, uint64_t *step)
{
    for (uint32_t i = 0; i < cpu->stream_count; ++i) {
        struct cpu_stream *stream = &cpu->streams[i];
        if (address - stream->low < stream->span && is_found(cpu, stream, address, step))
            return stream;
    }
    return NULL;
}

static int wait_for_loader(struct cpu *cpu, const struct cpu_stream *stream, uint64_t step)
{
    int status = CNNVP_OK;
    if (stream->pauses ? !stream->transfer.under_way : stream->there > step)
        return CNNVP_OK;
    while ((stream->pauses ? stream->transfer.under_way : stream->there <= step) && status == CNNVP_OK)
        status = cpu->ops->wait_wake(cpu->host);
    return cpu_go_on(cpu, status, &cpu->counts[STAT_table_stall_cycles]);
}

/* Begins a step: waits for its tables, frees older ones, and lets the loader go on. */
static int begin_step(struct cpu *cpu, struct cpu_stream *stream, uint64_t step)
{
    int status = CNNVP_OK;
    if (step >= stream->end) {
        stream->pauses = 1;
        status = wait_for_loader(cpu, stream, step);
        stream->pauses = 0;
        stream->begin = stream->there = stream->end = step;
        hold_steps(cpu, stream);
        load(cpu, stream);
    }
    if (status == CNNVP_OK)
        status = wait_for_loader(cpu, stream, step);
    if (status != CNNVP_OK)
        return status;
    const uint64_t before = step - 1u;
    stream->here = step;
    stream->begin = stream->begin < before ? before : stream->begin;
    hold_steps(cpu, stream);
    if (stream->end == step + 1u && !has_room(cpu, stream)) {
        stream->begin = step;
        hold_steps(cpu, stream);
    }
    load(cpu, stream);
    show(cpu);
    return CNNVP_OK;
}

int cpu_tcm_read(struct cpu *cpu, uint32_t address, int *held)
{
    uint64_t step;
    *held = 0;
    if (cpu->stream_count == 0 || find(cpu, is_here, address, &step) != NULL)
        return CNNVP_OK;
    struct cpu_stream *stream = find(cpu, is_next, address, &step);
    if (stream == NULL && find(cpu, is_past, address, &step) == NULL)
        stream = find(cpu, is_elsewhere, address, &step);
    if (stream == NULL)
        return CNNVP_OK;
    const int status = begin_step(cpu, stream, step);
    *held = has(&stream->held, address);
    return status;
}
