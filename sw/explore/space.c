/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the combinations of a grid and of a random search. Random numbers come from splitmix64 (Steele, Lea, Flood
 * 2014), so a seed gives the same points on every machine.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cnnvp_command.h"
#include "explore.h"

/* With at most this many combinations, a random search lists all allowed ones and draws from the list. */
#define LISTED UINT64_C(4000000)
/* Draws without an allowed combination before the search gives up. */
enum { DRAWS = 100000 };

uint64_t cnnvp_chance_next(struct cnnvp_chance *chance)
{
    return cnnvp_round_random(chance->seed, chance->drawn++);
}

uint64_t cnnvp_chance_below(struct cnnvp_chance *chance, uint64_t below)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % below; /* larger values would bias the remainder */
    uint64_t value;
    do
        value = cnnvp_chance_next(chance);
    while (value >= limit);
    return value % below;
}

struct list {
    uint64_t *numbers;
    size_t count;
};

static cnnvp_result append(struct list *list, uint64_t number, struct cnnvp_error *error)
{
    uint64_t *numbers = cnnvp_grow(list->numbers, list->count, sizeof *numbers);
    CNNVP_TRY_MEMORY(numbers != NULL, error);
    list->numbers = numbers;
    list->numbers[list->count++] = number;
    return CNNVP_DONE;
}

static cnnvp_result nothing_allowed(const struct cnnvp_sweep *sweep, struct cnnvp_error *error)
{
    return cnnvp_config_error(
        error, sweep->file, "the constraints allow none of the %" PRIu64 " combinations", sweep->combinations);
}

/* Lists all combinations that the constraints allow; refuses more than `limit`. */
static cnnvp_result list_all(const struct cnnvp_sweep *sweep, uint64_t limit, struct list *list,
                             struct cnnvp_error *error)
{
    for (uint64_t number = 0; number < sweep->combinations; ++number) {
        int allowed = 0;
        CNNVP_TRY(cnnvp_point_allowed(sweep, number, &allowed, error));
        if (allowed && list->count == limit)
            return cnnvp_config_error(
                error, sweep->search_place, "a grid of more than %" PRIu64 " points; use {random: N} or nsga2", limit);
        if (allowed)
            CNNVP_TRY(append(list, number, error));
    }
    return list->count ? CNNVP_DONE : nothing_allowed(sweep, error);
}

cnnvp_result cnnvp_space_random(const struct cnnvp_sweep *sweep, struct cnnvp_chance *chance, uint64_t *number,
                                int *found, struct cnnvp_error *error)
{
    *found = 0;
    for (int draw = 0; draw < DRAWS && !*found; ++draw) {
        *number = cnnvp_chance_below(chance, sweep->combinations);
        CNNVP_TRY(cnnvp_point_allowed(sweep, *number, found, error));
    }
    return CNNVP_DONE;
}

/* Shuffles a list and keeps the first `wanted` numbers. */
static void shuffle(struct list *list, uint64_t wanted, struct cnnvp_chance *chance)
{
    for (size_t i = 0; i < list->count && i < wanted; ++i) {
        size_t other = i + (size_t)cnnvp_chance_below(chance, list->count - i);
        uint64_t number = list->numbers[i];
        list->numbers[i] = list->numbers[other];
        list->numbers[other] = number;
    }
    if (list->count > wanted)
        list->count = (size_t)wanted;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Sorts, and removes duplicates. */
static void sort(struct list *list)
{
    size_t kept = 0;
    qsort(list->numbers, list->count, sizeof *list->numbers, compare_numbers);
    for (size_t i = 0; i < list->count; ++i)
        if (i == 0 || list->numbers[i] != list->numbers[i - 1])
            list->numbers[kept++] = list->numbers[i];
    list->count = kept;
}

/* Draws random combinations, since there are too many to list. It may find fewer than wanted if few are allowed. */
static cnnvp_result draw(const struct cnnvp_sweep *sweep, struct cnnvp_chance *chance, struct list *list,
                         struct cnnvp_error *error)
{
    int found = 1;
    for (int round = 0; round < 8 && found && list->count < sweep->random_points; ++round) {
        while (found && list->count < sweep->random_points) {
            uint64_t number = 0;
            CNNVP_TRY(cnnvp_space_random(sweep, chance, &number, &found, error));
            if (found)
                CNNVP_TRY(append(list, number, error));
        }
        sort(list);
    }
    if (list->count == 0)
        return cnnvp_config_error(
            error, sweep->file, "the constraints allow none of %d combinations drawn at random", DRAWS);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_space_points(const struct cnnvp_sweep *sweep, uint64_t seed, uint64_t **numbers, size_t *count,
                                uint64_t *allowed, struct cnnvp_error *error)
{
    struct cnnvp_chance chance = {.seed = seed};
    struct list list = {NULL, 0};
    cnnvp_result result = CNNVP_DONE;
    *allowed = 0;
    if (sweep->search == CNNVP_SEARCH_RANDOM && sweep->combinations > LISTED) {
        result = draw(sweep, &chance, &list, error);
    } else if (sweep->search == CNNVP_SEARCH_RANDOM) {
        result = list_all(sweep, LISTED, &list, error);
        *allowed = list.count;
        if (result == CNNVP_DONE)
            shuffle(&list, sweep->random_points, &chance);
    } else if (sweep->combinations > CNNVP_SWEEP_COMBINATIONS) {
        result =
            cnnvp_config_error(error, sweep->search_place,
                               "a grid of %" PRIu64 " combinations; use {random: N} or nsga2", sweep->combinations);
    } else {
        result = list_all(sweep, CNNVP_SWEEP_POINTS, &list, error);
        *allowed = list.count;
    }
    if (result != CNNVP_DONE) {
        free(list.numbers);
        return result;
    }
    if (sweep->search == CNNVP_SEARCH_RANDOM)
        sort(&list);
    *numbers = list.numbers;
    *count = list.count;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_space_first(const struct cnnvp_sweep *sweep, uint64_t *number, struct cnnvp_error *error)
{
    struct cnnvp_chance chance = {0};
    int found = 0;
    uint64_t end = sweep->combinations < CNNVP_SWEEP_COMBINATIONS ? sweep->combinations : LISTED;
    for (*number = 0; *number < end; (*number)++) {
        cnnvp_result result = cnnvp_point_allowed(sweep, *number, &found, error);
        if (result != CNNVP_DONE || found)
            return result;
    }
    if (end == sweep->combinations)
        return nothing_allowed(sweep, error);
    cnnvp_result result = cnnvp_space_random(sweep, &chance, number, &found, error);
    return result != CNNVP_DONE || found ? result : nothing_allowed(sweep, error);
}
