/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NSGA-II (Deb, Pratap, Agarwal, Meyarivan: A fast and elitist multiobjective genetic algorithm, IEEE TEC 6(2), 2002):
 * ranks by domination, crowding distance, binary tournaments. A gene is the index of an axis' value. Children that the
 * constraints refuse are drawn again. Every successful point dominates a failed one. Networks share the population but
 * do different work, so domination, crowding and hypervolume only compare points of the same network. To resume a
 * search, run it again: the seed gives the same populations, and the database has the points that have already run.
 */
#include <math.h>
#include <stdlib.h>

#include "explore.h"

enum { RETRIES = 64 };

struct individual {
    uint64_t number;
    uint32_t network;
    double values[CNNVP_OBJECTIVES];
    int failed;
    uint32_t rank;
    double crowding;
    uint32_t turn; /* number of fitter individuals with the same network */
};

struct evolution {
    struct cnnvp_driver *driver;
    struct cnnvp_sweep *sweep;
    struct cnnvp_chance chance;
    size_t objectives;
    uint32_t population;
    struct individual *parents; /* 2 * population: parents, then children */
    struct individual *seen;    /* all points evaluated so far, in order */
    size_t seen_count;
    size_t *generation_end; /* seen_count at the end of each generation */
};

static const struct individual *find_seen(const struct evolution *evolution, uint64_t number)
{
    for (size_t i = evolution->seen_count; i > 0; --i)
        if (evolution->seen[i - 1].number == number)
            return &evolution->seen[i - 1];
    return NULL;
}

/* ---- evaluation ---- */

static cnnvp_result read_values(struct evolution *evolution, struct individual *individual, const char *key,
                                struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_row_clear) struct cnnvp_row row = {.params = NULL};
    cnnvp_result result = cnnvp_results_get(evolution->driver->results, key, evolution->sweep->members, &row, error);
    CNNVP_JSON *stats = result == CNNVP_DONE && row.stats != NULL ? json_loads(row.stats, JSON_ALLOW_NUL, NULL) : NULL;
    individual->failed = stats == NULL || !cnnvp_objectives_of(evolution->sweep, stats, individual->values);
    for (size_t o = 0; o < evolution->objectives && individual->failed; ++o)
        individual->values[o] = HUGE_VAL;
    return result;
}

static const char *key_of(const struct cnnvp_sweep *sweep, uint64_t number)
{
    for (size_t i = sweep->point_count; i > 0; --i)
        if (sweep->points[i - 1].number == number)
            return sweep->points[i - 1].key;
    return NULL;
}

/* Runs the individuals that have not been evaluated yet, then sets the values of all. */
static cnnvp_result evaluate(struct evolution *evolution, struct individual *individuals, struct cnnvp_error *error)
{
    CNNVP_FREED uint64_t *numbers = calloc(evolution->population, sizeof *numbers);
    size_t count = 0;
    CNNVP_TRY_MEMORY(numbers != NULL, error);
    for (uint32_t i = 0; i < evolution->population; ++i) {
        int known = find_seen(evolution, individuals[i].number) != NULL;
        for (size_t k = 0; k < count && !known; ++k)
            known = numbers[k] == individuals[i].number;
        if (!known)
            numbers[count++] = individuals[i].number;
    }
    /* Duplicates are not run again, so the search has fewer points in total. */
    evolution->driver->progress.points -= evolution->population - count;
    CNNVP_TRY(cnnvp_driver_batch(evolution->driver, numbers, count, error));
    for (size_t i = 0; i < count && !cnnvp_sweep_interrupted(); ++i) {
        struct individual *met = &evolution->seen[evolution->seen_count];
        const char *key = key_of(evolution->sweep, numbers[i]);
        *met = (struct individual){.number = numbers[i], .network = cnnvp_point_network(evolution->sweep, numbers[i])};
        ++evolution->seen_count;
        CNNVP_TRY(key != NULL ? read_values(evolution, met, key, error) : CNNVP_FAILED);
    }
    for (uint32_t i = 0; i < evolution->population && !cnnvp_sweep_interrupted(); ++i)
        individuals[i] = *find_seen(evolution, individuals[i].number);
    return CNNVP_DONE;
}

/* ---- ranks ---- */

static int dominates(const struct evolution *evolution, const struct individual *a, const struct individual *b)
{
    if (a->failed || b->failed)
        return !a->failed;
    return a->network == b->network && cnnvp_dominates(a->values, b->values, evolution->objectives);
}

static void rank_all(const struct evolution *evolution, struct individual *all, uint32_t count)
{
    uint32_t ranked = 0;
    for (uint32_t i = 0; i < count; ++i)
        all[i].rank = UINT32_MAX;
    for (uint32_t rank = 0; ranked < count; ++rank) {
        uint32_t before = ranked;
        for (uint32_t i = 0; i < count; ++i) {
            int dominated = all[i].rank != UINT32_MAX;
            for (uint32_t k = 0; k < count && !dominated; ++k)
                dominated = k != i && all[k].rank >= rank && dominates(evolution, &all[k], &all[i]);
            if (!dominated) {
                all[i].rank = rank;
                ++ranked;
            }
        }
        if (ranked == before)
            break;
    }
}

static const struct individual *sort_base;
static size_t sort_objective;

static int compare_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    double x = sort_base[left].values[sort_objective], y = sort_base[right].values[sort_objective];
    if (sort_base[left].rank != sort_base[right].rank)
        return sort_base[left].rank > sort_base[right].rank ? 1 : -1;
    if (sort_base[left].network != sort_base[right].network)
        return sort_base[left].network > sort_base[right].network ? 1 : -1;
    if (x > y || x < y)
        return x > y ? 1 : -1;
    return (left > right) - (left < right);
}

static int is_neighbour(const struct individual *a, const struct individual *b)
{
    return a->rank == b->rank && a->network == b->network;
}

/* Crowding distance within each rank of a network: the normalised distance between both neighbours, summed over the
 * objectives. */
static void crowd(const struct evolution *evolution, struct individual *all, uint32_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; ++i)
        all[i].crowding = 0;
    for (size_t o = 0; o < evolution->objectives; ++o) {
        for (uint32_t i = 0; i < count; ++i)
            order[i] = i;
        sort_base = all;
        sort_objective = o;
        qsort(order, count, sizeof *order, compare_value);
        for (uint32_t first = 0, end; first < count; first = end) {
            for (end = first + 1; end < count && is_neighbour(&all[order[end]], &all[order[first]]);)
                ++end;
            double low = all[order[first]].values[o], range = all[order[end - 1]].values[o] - low;
            all[order[first]].crowding = HUGE_VAL;
            all[order[end - 1]].crowding = HUGE_VAL;
            for (uint32_t i = first + 1; i + 1 < end && range > 0 && range < HUGE_VAL; ++i)
                all[order[i]].crowding += (all[order[i + 1]].values[o] - all[order[i - 1]].values[o]) / range;
        }
    }
}

static int is_fitter(const struct individual *a, const struct individual *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->crowding > b->crowding;
}

static int compare_fitness(const void *a, const void *b)
{
    const struct individual *left = a, *right = b;
    if (is_fitter(left, right) || is_fitter(right, left))
        return is_fitter(left, right) ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static int compare_turn(const void *a, const void *b)
{
    const struct individual *left = a, *right = b;
    return left->turn != right->turn ? (left->turn > right->turn ? 1 : -1) : compare_fitness(a, b);
}

/* Sorts the fittest individual of each network first, then the second of each, and so on. Otherwise a network whose
 * points differ little would take all places. */
static void sort_by_fitness(struct individual *all, uint32_t count)
{
    qsort(all, count, sizeof *all, compare_fitness);
    for (uint32_t i = 0; i < count; ++i) {
        all[i].turn = 0;
        for (uint32_t k = 0; k < i; ++k)
            all[i].turn += all[k].network == all[i].network;
    }
    qsort(all, count, sizeof *all, compare_turn);
}

/* ---- variation ---- */

static uint32_t mutate(struct evolution *evolution, const struct cnnvp_axis *axis, uint32_t index)
{
    int ordered = axis->values[0].operand.text == NULL;
    if (!ordered || axis->value_count < 4 || cnnvp_chance_below(&evolution->chance, 2))
        return (uint32_t)cnnvp_chance_below(&evolution->chance, axis->value_count);
    uint32_t step = 1 + (uint32_t)cnnvp_chance_below(&evolution->chance, 1 + axis->value_count / 8);
    if (cnnvp_chance_below(&evolution->chance, 2))
        return index + step < axis->value_count ? index + step : axis->value_count - 1;
    return index > step ? index - step : 0;
}

/* Uniform crossover. Each gene mutates with probability 1 / number of genes. */
static uint64_t breed(struct evolution *evolution, uint64_t a, uint64_t b)
{
    const struct cnnvp_sweep *sweep = evolution->sweep;
    uint64_t child = 0, genes = 0;
    for (size_t i = 0; i < sweep->axis_count; ++i)
        genes += sweep->axes[i].value_count > 1;
    for (size_t i = 0; i < sweep->axis_count; ++i) {
        uint32_t index = cnnvp_point_index(sweep, cnnvp_chance_below(&evolution->chance, 2) ? a : b, i);
        if (sweep->axes[i].value_count > 1 && cnnvp_chance_below(&evolution->chance, genes) == 0)
            index = mutate(evolution, &sweep->axes[i], index);
        child = child * sweep->axes[i].value_count + index;
    }
    return child;
}

static const struct individual *tournament(struct evolution *evolution)
{
    const struct individual *a = &evolution->parents[cnnvp_chance_below(&evolution->chance, evolution->population)];
    const struct individual *b = &evolution->parents[cnnvp_chance_below(&evolution->chance, evolution->population)];
    return is_fitter(b, a) ? b : a;
}

/* Breeds a child that is allowed and new. After RETRIES failures it takes an allowed combination drawn at random, or,
 * if draws find none, a parent's. */
static cnnvp_result make_child(struct evolution *evolution, const struct individual *children, uint32_t made,
                               uint64_t *number, struct cnnvp_error *error)
{
    int allowed = 0;
    for (int attempt = 0; attempt < RETRIES; ++attempt) {
        uint64_t child = breed(evolution, tournament(evolution)->number, tournament(evolution)->number);
        CNNVP_TRY(cnnvp_point_allowed(evolution->sweep, child, &allowed, error));
        int known = !allowed || find_seen(evolution, child) != NULL;
        for (uint32_t i = 0; i < made && !known; ++i)
            known = children[i].number == child;
        if (!known) {
            *number = child;
            return CNNVP_DONE;
        }
    }
    CNNVP_TRY(cnnvp_space_random(evolution->sweep, &evolution->chance, number, &allowed, error));
    if (!allowed)
        *number = tournament(evolution)->number;
    return CNNVP_DONE;
}

/* ---- generations ---- */

static cnnvp_result first_population(struct evolution *evolution, struct cnnvp_error *error)
{
    for (uint32_t i = 0; i < evolution->population; ++i) {
        int found = 0, twin = 1;
        for (int attempt = 0; attempt < RETRIES && twin; ++attempt) {
            CNNVP_TRY(
                cnnvp_space_random(evolution->sweep, &evolution->chance, &evolution->parents[i].number, &found, error));
            if (!found)
                CNNVP_TRY(cnnvp_space_first(evolution->sweep, &evolution->parents[i].number, error));
            twin = 0;
            for (uint32_t k = 0; k < i; ++k)
                twin |= evolution->parents[k].number == evolution->parents[i].number;
        }
    }
    return evaluate(evolution, evolution->parents, error);
}

static cnnvp_result next_population(struct evolution *evolution, uint32_t *order, struct cnnvp_error *error)
{
    struct individual *children = evolution->parents + evolution->population;
    for (uint32_t i = 0; i < evolution->population; ++i)
        CNNVP_TRY(make_child(evolution, children, i, &children[i].number, error));
    CNNVP_TRY(evaluate(evolution, children, error));
    if (cnnvp_sweep_interrupted())
        return CNNVP_DONE;
    rank_all(evolution, evolution->parents, 2 * evolution->population);
    crowd(evolution, evolution->parents, 2 * evolution->population, order);
    sort_by_fitness(evolution->parents, 2 * evolution->population);
    return CNNVP_DONE;
}

/* Returns the volume of the box between a network's best values and its worst values up to the end of the generation in
 * which it first succeeded; 0 if the box is empty. `values` gets the values of that network's points, and HUGE_VAL for
 * all others. */
static double box_of(const struct evolution *evolution, uint32_t network, double *values, double *corner)
{
    double box = 1;
    size_t first = evolution->seen_count;
    uint32_t generation = 0;
    for (size_t i = evolution->seen_count; i > 0; --i)
        if (evolution->seen[i - 1].network == network && !evolution->seen[i - 1].failed)
            first = i - 1;
    while (generation + 1 < evolution->sweep->generations && evolution->generation_end[generation] <= first)
        ++generation;
    for (size_t o = 0; o < evolution->objectives; ++o) {
        double best = HUGE_VAL;
        corner[o] = -HUGE_VAL;
        for (size_t i = 0; i < evolution->seen_count; ++i) {
            double value = evolution->seen[i].network == network ? evolution->seen[i].values[o] : HUGE_VAL;
            values[i * evolution->objectives + o] = value;
            best = value < best ? value : best;
            if (i < evolution->generation_end[generation] && value < HUGE_VAL && value > corner[o])
                corner[o] = value;
        }
        corner[o] += (corner[o] < 0 ? -corner[o] : corner[o]) * 1e-9;
        box *= corner[o] - best;
    }
    return first < evolution->seen_count && box > 0 && box < HUGE_VAL ? box : 0;
}

/* Stores the hypervolume after each generation for the report: the share of its box that a network's points dominate,
 * averaged over the networks. */
static cnnvp_result write_hypervolume(struct evolution *evolution, struct cnnvp_error *error)
{
    uint32_t generations = evolution->sweep->generations, networks = cnnvp_network_count(evolution->sweep), counted = 0;
    double corner[CNNVP_OBJECTIVES];
    CNNVP_FREED double *values = calloc(evolution->seen_count * evolution->objectives + 1, sizeof *values);
    CNNVP_FREED double *shares = calloc(generations, sizeof *shares);
    CNNVP_JSON *list = json_array();
    for (uint32_t n = 0; n < networks && values != NULL && shares != NULL && evolution->objectives <= 4; ++n) {
        double box = box_of(evolution, n, values, corner);
        counted += box > 0;
        for (uint32_t g = 0; g < generations && box > 0; ++g)
            shares[g] += cnnvp_hypervolume(values, evolution->generation_end[g], evolution->objectives, corner) / box;
    }
    for (uint32_t g = 0; g < generations && counted; ++g)
        (void)json_array_append_new(
            list, json_pack("{s:i, s:I, s:f}", "generation", (int)g + 1, "points",
                            (json_int_t)evolution->generation_end[g], "hypervolume", shares[g] / counted));
    CNNVP_FREED char *text =
        values != NULL && shares != NULL && list != NULL
            ? json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(12))
            : NULL;
    return text != NULL ? cnnvp_results_set_fact(evolution->driver->results, "hypervolume", text, error)
                        : cnnvp_config_no_memory(error);
}

static cnnvp_result evolve(struct evolution *evolution, uint32_t *order, struct cnnvp_error *error)
{
    for (uint32_t g = 0; g < evolution->sweep->generations && !cnnvp_sweep_interrupted(); ++g) {
        evolution->driver->progress.generation = g + 1;
        if (g == 0) {
            CNNVP_TRY(first_population(evolution, error));
            if (!cnnvp_sweep_interrupted()) {
                rank_all(evolution, evolution->parents, evolution->population);
                crowd(evolution, evolution->parents, evolution->population, order);
            }
        } else {
            CNNVP_TRY(next_population(evolution, order, error));
        }
        evolution->generation_end[g] = evolution->seen_count;
    }
    return cnnvp_sweep_interrupted() ? CNNVP_DONE : write_hypervolume(evolution, error);
}

cnnvp_result cnnvp_nsga2_run(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    struct cnnvp_sweep *sweep = driver->sweep;
    struct evolution evolution = {
        .driver = driver,
        .sweep = sweep,
        .chance = {.seed = driver->options->seed},
        .objectives = sweep->objective_count,
        .population = sweep->population};
    size_t total = (size_t)sweep->population * sweep->generations;
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    uint32_t *order = cnnvp_arena_array(&arena, 2 * (size_t)sweep->population, sizeof *order);
    evolution.parents = cnnvp_arena_array(&arena, 2 * (size_t)sweep->population, sizeof *evolution.parents);
    evolution.seen = cnnvp_arena_array(&arena, total, sizeof *evolution.seen);
    evolution.generation_end = cnnvp_arena_array(&arena, sweep->generations, sizeof *evolution.generation_end);
    driver->progress.points = total;
    return arena.failed ? cnnvp_config_no_memory(error) : evolve(&evolution, order, error);
}
