/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ledger.h. Times are accelerator cycles. */
#include "ledger.h"

#include <string.h>

void cnnvp_ledger_reset(struct ledger *ledger)
{
    ledger->count = 0;
    ledger->started = 0;
    ledger->supply = 0;
    ledger->layer = 0;
    ledger->accounted = 0;
    ledger->last_completion = 0;
}

/* Drops the commands that ended before `cycle`. One that ends in `cycle` itself can still hold back an issue in it. */
static void drop_ended(struct ledger *ledger, uint64_t cycle)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ledger->count; ++i)
        if (ledger->commands[i].end >= cycle)
            ledger->commands[kept++] = ledger->commands[i];
    ledger->count = kept;
}

/* Accounts the interval [accounted, to), in which no command starts or ends. */
static void give_interval(struct ledger *ledger, uint64_t to)
{
    uint32_t causes = 0;
    const struct ledger_command *oldest = NULL;
    for (uint32_t i = 0; i < ledger->count; ++i) {
        const struct ledger_command *command = &ledger->commands[i];
        if (command->end <= ledger->accounted)
            continue;
        if (command->resources & ISA_USE_ARRAY)
            return;
        causes |= command->causes;
        if (oldest == NULL)
            oldest = command;
    }
    uint32_t cause = 0;
    while (cause < ISA_CAUSE_COUNT && !(causes & 1u << cause))
        ++cause;
    if (cause == ISA_CAUSE_COUNT)
        cause = ledger->supply ? (uint32_t)LEDGER_INSTRUCTION : (uint32_t)LEDGER_HOST;
    const uint32_t tag = oldest != NULL ? oldest->tag : ledger->layer;
    ledger->give(ledger->context, cause, tag, to - ledger->accounted);
}

void cnnvp_ledger_account(struct ledger *ledger, uint64_t cycle)
{
    if (!ledger->started)
        return;
    while (ledger->accounted < cycle) {
        uint64_t to = cycle;
        for (uint32_t i = 0; i < ledger->count; ++i) {
            const uint64_t end = ledger->commands[i].end;
            if (end > ledger->accounted && end < to)
                to = end;
        }
        give_interval(ledger, to);
        ledger->accounted = to;
    }
    drop_ended(ledger, cycle);
}

void cnnvp_ledger_start(struct ledger *ledger, uint64_t cycle)
{
    if (ledger->started)
        return;
    ledger->started = 1;
    ledger->accounted = cycle;
    ledger->last_completion = cycle;
}

void cnnvp_ledger_supply(struct ledger *ledger, uint64_t cycle, int supply)
{
    if (ledger->supply == supply)
        return;
    cnnvp_ledger_account(ledger, cycle);
    ledger->supply = supply;
}

struct ledger_command *cnnvp_ledger_add(struct ledger *ledger, uint64_t cycle, const struct ledger_command *command)
{
    cnnvp_ledger_account(ledger, cycle);
    drop_ended(ledger, cycle + 1u);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < ledger->count; ++i)
        taken |= UINT64_C(1) << ledger->commands[i].place;
    struct ledger_command *place = &ledger->commands[ledger->count++];
    *place = *command;
    place->place = 0;
    while (taken >> place->place & 1u)
        ++place->place;
    place->end = LEDGER_UNKNOWN;
    place->forgotten = 0;
    return place;
}

void cnnvp_ledger_drop(struct ledger *ledger, uint64_t sequence)
{
    if (ledger->count && ledger->commands[ledger->count - 1u].sequence == sequence)
        --ledger->count;
}

struct ledger_command *cnnvp_ledger_find(struct ledger *ledger, uint64_t sequence)
{
    for (uint32_t i = 0; i < ledger->count; ++i)
        if (ledger->commands[i].sequence == sequence && ledger->commands[i].end == LEDGER_UNKNOWN)
            return &ledger->commands[i];
    return NULL;
}

void cnnvp_ledger_end(struct ledger *ledger, struct ledger_command *command, uint64_t cycle)
{
    command->end = cycle;
    if (cycle > ledger->last_completion)
        ledger->last_completion = cycle;
}

uint64_t cnnvp_ledger_clear(const struct ledger *ledger, uint32_t resources, int all, uint64_t from, uint32_t *blocker,
                            uint32_t *last)
{
    uint64_t cycle = from;
    for (uint32_t i = 0; i < ledger->count; ++i) {
        const struct ledger_command *command = &ledger->commands[i];
        const uint32_t shared = command->resources & resources;
        if ((!all && !shared) || command->end <= cycle)
            continue;
        *blocker = shared;
        *last = command->place;
        cycle = command->end;
        if (cycle == LEDGER_UNKNOWN)
            return LEDGER_UNKNOWN;
    }
    return cycle;
}

uint64_t cnnvp_ledger_room(const struct ledger *ledger, uint64_t from, uint32_t *last)
{
    uint64_t first = LEDGER_UNKNOWN;
    uint32_t place = 0;
    if (ledger->count < LEDGER_COMMANDS)
        return from;
    for (uint32_t i = 0; i < ledger->count; ++i)
        if (ledger->commands[i].end < first) {
            first = ledger->commands[i].end;
            place = ledger->commands[i].place;
        }
    if (first <= from)
        return from;
    *last = place;
    return first;
}

uint64_t cnnvp_ledger_unit_end(const struct ledger *ledger, uint32_t unit, uint64_t from)
{
    uint64_t first = from;
    for (uint32_t i = 0; i < ledger->count; ++i) {
        const struct ledger_command *command = &ledger->commands[i];
        if (command->unit == unit && command->end > from && (first == from || command->end < first))
            first = command->end;
    }
    return first;
}

uint32_t cnnvp_ledger_in_flight(const struct ledger *ledger, uint64_t cycle, int forgotten)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ledger->count; ++i)
        count += ledger->commands[i].end > cycle && (forgotten || !ledger->commands[i].forgotten);
    return count;
}
