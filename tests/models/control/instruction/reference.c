/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <string.h>

#define BITS(word, lsb, width) ((uint32_t)((word) >> (lsb)) & (((uint32_t)1 << (width)) - 1u))

struct flight {
    uint64_t end;
    uint32_t uses;   /* bits: 0 array, 1 vector, 2 read, 3 write, 4 in0, 5 in1, 6 w0, 7 w1, 8 out0, 9 out1 */
    uint32_t shares; /* those of `uses` that others may use if they share them, too: weights that are read */
    uint32_t causes;
    uint32_t tag;
};

struct state {
    const struct reference_program *program;
    struct reference_result *result;
    uint64_t pc, fetched, issued;
    uint64_t window_word[64], window_pc[64], window_ready[64];
    uint32_t window;
    uint64_t fetch_from;
    int blocked;
    struct {
        uint64_t start, end;
        uint32_t left;
    } loops[4];
    uint32_t depth;
    uint32_t r[256];
    uint32_t layer;
    struct flight flights[64];
    uint32_t flight_count;
};

static uint32_t half(uint64_t word, uint32_t buffer)
{
    return buffer > 2 ? 0 : 1u << (4 + 2 * buffer + BITS(word, 32 + buffer, 1));
}

static void needs(uint64_t word, uint32_t *uses, uint32_t *causes)
{
    const uint32_t op = BITS(word, 56, 8);
    const uint32_t status = BITS(word, 48, 8);
    const uint32_t buffer = status & 3;
    *causes = 0;
    if (op >= 0x80 && op <= 0x83) {
        *uses = 1u | half(word, 0) | half(word, 2) | (op == 0x81 ? 0 : half(word, 1));
    } else if (op == 0x9b || op == 0x9c) { /* vpool, vconv */
        *uses = 2u | half(word, 0) | half(word, 2) | (op == 0x9b ? 0 : half(word, 1));
        *causes = 1u << CAUSE_VECTOR;
    } else if (op == 0x90) { /* vmac: the only other vector instruction of the random programs */
        *uses = 2u | half(word, buffer == 3 ? 2 : buffer) | half(word, status >> 2 & 3);
        if (status & 0x20)
            *uses |= half(word, 2);
        *causes = 1u << CAUSE_VECTOR;
    } else {
        *causes = 1u << (CAUSE_INPUT + buffer);
        *uses = 0;
        if (op == 0x49)
            *uses = 4u | half(word, buffer);
        if (op == 0x4a) {
            *uses = 8u | half(word, buffer);
            *causes = 1u << CAUSE_OUTPUT;
        }
        if (op == 0x4b) {
            *uses = half(word, buffer) | half(word, status >> 2);
            if (status >> 2 == 2)
                *causes |= 1u << CAUSE_OUTPUT;
        }
        if (op == 0x4c || op == 0x4d)
            *uses = half(word, buffer);
    }
}

/* Calculations only read weights. */
static uint32_t shared(uint64_t word, uint32_t uses)
{
    return BITS(word, 56, 8) >= 0x80 ? uses & 0xc0u : 0;
}

static void turn(struct state *s)
{
    while (s->depth && s->pc == s->loops[s->depth - 1].end) {
        if (s->loops[s->depth - 1].left > 1) {
            --s->loops[s->depth - 1].left;
            s->pc = s->loops[s->depth - 1].start;
            return;
        }
        --s->depth;
    }
}

static uint64_t head(const struct state *s)
{
    return s->depth ? s->loops[0].start : s->pc;
}

static void control(struct state *s, uint64_t word, uint64_t at, uint64_t cycle)
{
    const uint32_t op = BITS(word, 56, 8);
    const uint32_t a = s->r[BITS(word, 40, 8)];
    const uint32_t b = s->r[BITS(word, 32, 8)];
    const int32_t offset = (int32_t)(uint32_t)word;
    int taken = 0;
    if (op == 0x01)
        s->layer = (uint32_t)word;
    if (op < 0x04 || op > 0x0a)
        return;
    if (op == 0x0a) {
        if (a == 0)
            s->pc += (uint32_t)word;
        else if ((uint32_t)word) {
            s->loops[s->depth].start = s->pc;
            s->loops[s->depth].end = s->pc + (uint32_t)word;
            s->loops[s->depth++].left = a;
        }
    } else {
        taken = op == 0x05 || (op == 0x06 && a == b) || (op == 0x07 && a != b) ||
                (op == 0x08 && (int32_t)a < (int32_t)b) || (op == 0x09 && (int32_t)a >= (int32_t)b);
    }
    if (taken) {
        s->pc = (uint64_t)((int64_t)at + offset);
        while (s->depth && (s->pc < s->loops[s->depth - 1].start || s->pc > s->loops[s->depth - 1].end))
            --s->depth;
    }
    s->blocked = 0;
    s->fetch_from = cycle + 1;
    turn(s);
}

static void data(struct state *s, uint64_t word)
{
    const uint32_t op = BITS(word, 56, 8);
    const uint32_t rd = BITS(word, 40, 8);
    const uint32_t a = s->r[BITS(word, 32, 8)];
    const uint32_t b = s->r[BITS(word, 24, 8)];
    const uint32_t value[] = {(uint32_t)word, a, a + (uint32_t)word, a + b, a - b, a * b};
    s->r[rd] = value[op - 0x40];
}

static void issue(struct state *s, uint64_t cycle)
{
    if (!s->window || s->window_ready[0] > cycle)
        return;
    const uint64_t word = s->window_word[0];
    const uint32_t op = BITS(word, 56, 8);
    const int tile = op >= 0x48;
    uint32_t uses = 0;
    uint32_t causes = 0;
    if (tile)
        needs(word, &uses, &causes);
    const uint32_t shares = shared(word, uses);
    const int all = s->program->strict || op == 0x02 || op == 0x03;
    for (uint32_t i = 0; i < s->flight_count; ++i)
        if (s->flights[i].end > cycle && (all || (s->flights[i].uses & uses & ~(s->flights[i].shares & shares))))
            return;
    if (tile) {
        const uint64_t end = cycle + BITS(word, 0, 16);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < s->flight_count; ++i)
            if (s->flights[i].end > cycle)
                s->flights[kept++] = s->flights[i];
        s->flight_count = kept;
        s->flights[s->flight_count++] = (struct flight){end, uses, shares, causes, s->layer};
        s->result->issue[s->result->tiles++] = cycle;
        if (end > s->result->last)
            s->result->last = end;
    } else if (op >= 0x40) {
        data(s, word);
    } else {
        control(s, word, s->window_pc[0], cycle);
    }
    if (cycle > s->result->last)
        s->result->last = cycle;
    ++s->issued;
    --s->window;
    memmove(s->window_word, s->window_word + 1, s->window * sizeof s->window_word[0]);
    memmove(s->window_pc, s->window_pc + 1, s->window * sizeof s->window_pc[0]);
    memmove(s->window_ready, s->window_ready + 1, s->window * sizeof s->window_ready[0]);
}

static void fetch(struct state *s, uint64_t cycle)
{
    const struct reference_program *p = s->program;
    if (s->blocked || s->fetch_from > cycle || s->pc >= p->count || p->pushed[s->pc] >= cycle ||
        s->window == p->sequence_depth)
        return;
    const uint64_t word = p->words[s->pc];
    const uint32_t op = BITS(word, 56, 8);
    s->window_word[s->window] = word;
    s->window_pc[s->window] = s->pc;
    s->window_ready[s->window++] = cycle + 2;
    ++s->pc;
    ++s->fetched;
    s->fetch_from = cycle + 1;
    s->blocked = op >= 0x05 && op <= 0x0a;
    if (!s->blocked)
        turn(s);
}

static int words_wait(const struct state *s, uint64_t cycle)
{
    return s->window > 0 || (s->pc < s->program->count && s->program->pushed[s->pc] <= cycle);
}

static void account(struct state *s, uint64_t cycle)
{
    uint32_t causes = 0;
    uint32_t tag = s->layer;
    int any = 0;
    for (uint32_t i = 0; i < s->flight_count; ++i) {
        const struct flight *flight = &s->flights[i];
        if (flight->end <= cycle)
            continue;
        if (flight->uses & 1u) {
            ++s->result->array_cycles;
            return;
        }
        causes |= flight->causes;
        if (!any)
            tag = flight->tag;
        any = 1;
    }
    uint32_t cause = 0;
    while (cause < CAUSE_INSTRUCTION && !(causes >> cause & 1u))
        ++cause;
    if (cause == CAUSE_INSTRUCTION && !words_wait(s, cycle))
        cause = CAUSE_HOST;
    ++s->result->stall[tag][cause];
}

void reference_run(const struct reference_program *program, uint64_t cycles, struct reference_result *result)
{
    static struct reference_result at_last; /* what had been accounted at the last completion so far */
    struct state s = {.program = program, .result = result};
    uint32_t *const room = result->room;
    uint32_t *const pc = result->pc;
    uint32_t *const completed = result->completed;
    *result = (struct reference_result){.room = room, .pc = pc, .completed = completed, .cycles = cycles};
    result->last = program->pushed[0];
    for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
        issue(&s, cycle);
        fetch(&s, cycle);
        if (cycle == result->last)
            at_last = *result;
        if (cycle >= program->pushed[0])
            account(&s, cycle);
        uint64_t tail = 0;
        while (tail < program->count && program->pushed[tail] <= cycle)
            ++tail;
        if (room != NULL)
            room[cycle] = program->queue_depth - (uint32_t)(tail > head(&s) ? tail - head(&s) : 0u);
        if (pc != NULL)
            pc[cycle] = (uint32_t)s.pc;
        uint32_t flying = 0;
        for (uint32_t i = 0; i < s.flight_count; ++i)
            flying += s.flights[i].end > cycle;
        if (completed != NULL)
            completed[cycle] = (uint32_t)s.issued - flying;
    }
    memcpy(result->stall, at_last.stall, sizeof result->stall);
    result->array_cycles = at_last.array_cycles;
    result->instructions = s.issued;
    for (uint32_t i = 0; i < 256; ++i)
        result->registers_sum += (uint64_t)s.r[i] * (i + 1u);
}
