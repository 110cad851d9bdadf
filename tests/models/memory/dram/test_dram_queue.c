/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's shortcuts for bursts of open rows against planning each command: the same requests must end at the same
 * times with the same counts, whatever the parts, the mappings and the requests are like. And no request ends before it
 * was said to at the earliest. */

#include "dram_options.h"
#include "dram_patterns.h"
#include "queue_case.h"

#include "unit/bandwidth.h"
#include "random.h"

#define TAGS 4u
#define SOURCES 8u
#define WINDOWS 4096u

enum { BANDWIDTH, HITS, COUNTERS };

struct end {
    uint64_t time, first_data, latency, bursts;
};

/* What is compared. */
struct result {
    struct end ends[REQUESTS];
    uint32_t order[REQUESTS];
    uint32_t ended;
    struct dram_counts counts;
    uint64_t hits[TAGS], misses[TAGS], conflicts[TAGS];
    uint64_t queue_clocks[SOURCES], turnarounds[SOURCES], waited[SOURCES];
    uint64_t shown[COUNTERS][WINDOWS];
    uint64_t states[REQUESTS]; /* what the timings allow when each request comes */
};

struct run {
    struct dram_queue queue;
    struct cnnvp_bandwidth windows[COUNTERS];
    struct cnnvp_request requests[REQUESTS]; /* the place of one that has ended goes to the next, as a DMA does it */
    uint32_t number[REQUESTS];               /* of the request in a place */
    uint32_t free[REQUESTS], free_count;
    uint32_t count;
    uint64_t random;
    uint64_t at; /* where sequential requests go on */
    struct result result;
    uint64_t shortcuts; /* reads of which only their sum was told */
};

static void show(void *context, uint32_t counter, cnnvp_time at, uint64_t value)
{
    struct run *run = context;
    if (at / CNNVP_BANDWIDTH_WINDOW_PS < WINDOWS)
        run->result.shown[counter][at / CNNVP_BANDWIDTH_WINDOW_PS] = value + 1u;
}

static void carry(struct run *run, uint64_t done, uint64_t bursts)
{
    const uint64_t tck = run->queue.timing.tck_ps, begin = done - (uint64_t)run->queue.timing.t[DRAM_T_bl];
    cnnvp_bandwidth_add_from(&run->windows[BANDWIDTH], begin * tck, done * tck, DRAM_BURST_BYTES);
    cnnvp_bandwidth_add(&run->windows[BANDWIDTH], done * tck, (bursts - 1u) * DRAM_BURST_BYTES);
}

static void note_issued(void *context, const struct dram_issued *issued)
{
    struct run *run = context;
    const uint64_t tck = run->queue.timing.tck_ps;
    if (issued->row_class != DRAM_UNCLASSIFIED) {
        run->result.hits[issued->class_tag] += issued->row_class == DRAM_HIT;
        run->result.misses[issued->class_tag] += issued->row_class == DRAM_MISS;
        run->result.conflicts[issued->class_tag] += issued->row_class == DRAM_CONFLICT;
        if (issued->row_class == DRAM_HIT)
            cnnvp_bandwidth_add(&run->windows[HITS], issued->clock * tck, 1);
    }
    if (!cnnvp_dram_is_column(issued->command))
        return;
    run->result.queue_clocks[issued->entry.source] += issued->clock - issued->entry.entered;
    run->result.turnarounds[issued->entry.source] += (uint64_t)issued->turned;
    carry(run, issued->done, 1);
}

static void note_columns(void *context, const struct dram_columns *columns)
{
    struct run *run = context;
    const uint64_t tck = run->queue.timing.tck_ps;
    run->shortcuts += columns->bursts;
    run->result.hits[columns->tag] += columns->hits;
    run->result.queue_clocks[columns->source] += columns->queue_clocks;
    run->result.turnarounds[columns->source] += (uint64_t)columns->turned;
    if (columns->hits)
        cnnvp_bandwidth_add(&run->windows[HITS], columns->clock * tck, columns->hits);
    carry(run, columns->done, columns->bursts);
}

/* Most read on along a sequence, some write or read what was written just before. */
static struct cnnvp_request *add(struct run *run, cnnvp_time now)
{
    const uint32_t at = run->free_count ? run->free[--run->free_count] : run->count;
    struct cnnvp_request *request = &run->requests[at];
    run->number[at] = run->count++;
    uint64_t *random = &run->random;
    const uint32_t kind = below(random, 8);
    *request = (struct cnnvp_request){
        .op = kind < 6 ? CNNVP_READ : CNNVP_WRITE,
        .initiator = below(random, 4) ? 0 : below(random, 3),
        .tag = below(random, TAGS),
        .burst_bytes = 64,
        .count = 1};
    request->outstanding = below(random, 3) ? 1u << below(random, 7) : 1 + below(random, 40);
    request->size = 1 + (below(random, 3) ? below(random, 30000) : below(random, 300));
    request->address = below(random, 5) ? run->at : below(random, 1u << 24);
    if (kind == 1) {
        request->count = 1 + below(random, 12);
        request->size = 1 + below(random, 2000);
        request->stride = (int64_t)below(random, 20000);
    } else if (kind == 2) { /* rows of a small map */
        request->count = 1 + below(random, 60);
        request->size = 1 + below(random, 100);
        request->stride = (int64_t)(request->size + below(random, 200));
    }
    if (kind == 7 && below(random, 2)) { /* small pieces that share bursts, rows of a tile, the same again and again */
        request->count = 1 + below(random, 60);
        request->size = 1 + below(random, 200);
        request->stride = (int64_t)below(random, 300) - (below(random, 3) ? 0 : 100);
        request->address += 6000;
    }
    if (kind < 6)
        run->at = request->address + request->size;
    else if (kind == 7 && below(random, 2)) /* then the next may write it again */
        run->at = request->address;
    assert_int_equal(cnnvp_dram_queue_add(&run->queue, request, now), CNNVP_OK);
    return request;
}

/* One after the other, as they lie; one that ends a segment and begins the next is one. */
static uint64_t bursts_of(const struct cnnvp_request *request)
{
    uint64_t bursts = 0, last = UINT64_MAX;
    for (uint64_t i = 0; i < request->count; ++i) {
        const uint64_t start = request->address + i * (uint64_t)request->stride;
        for (uint64_t burst = start / 64u; burst <= (start + request->size - 1u) / 64u; ++burst) {
            bursts += burst != last;
            last = burst;
        }
    }
    return bursts;
}

static void end_first(struct run *run)
{
    struct cnnvp_request *request = cnnvp_dram_queue_take(&run->queue);
    assert_int_equal(cnnvp_dram_queue_bursts(request), bursts_of(request));
    const uint32_t at = (uint32_t)(request - run->requests), index = run->number[at];
    run->free[run->free_count++] = at;
    run->result.ends[index] = (struct end){request->scratch[DRAM_TIME], request->first_data,
                                           request->scratch[DRAM_LATENCY], cnnvp_dram_queue_bursts(request)};
    run->result.order[run->result.ended++] = index;
}

/* Schedules up to `bound`, in steps; what ends must not end before it was said. */
static void schedule(struct run *run, uint64_t *steps, cnnvp_time now, cnnvp_time bound)
{
    const cnnvp_time known = cnnvp_dram_queue_due(&run->queue), least = cnnvp_dram_queue_work(&run->queue);
    for (uint32_t i = below(steps, 3); i > 0 && bound != CNNVP_TIME_NEVER; --i)
        cnnvp_dram_queue_schedule(&run->queue, now + (bound - now) / (1 + below(steps, 9)));
    cnnvp_dram_queue_schedule(&run->queue, bound);
    const cnnvp_time due = cnnvp_dram_queue_due(&run->queue);
    if (due < known)
        assert_true(due >= least);
}

#define ANY_PRESET 5u
#define TWO_RANKS 9u /* of any part, powered down whenever they can be */
#define HBM2 4u

static uint32_t share_of(void *context, uint32_t initiator)
{
    (void)context;
    return 1 + 3 * initiator;
}

/* `salt`: how the schedule is cut into steps. */
static struct run *run_random(uint64_t seed, uint32_t preset, int stepwise, uint64_t salt)
{
    struct run *run = calloc(1, sizeof *run);
    struct dram_options options;
    struct dram_timing timing;
    char message[200];
    uint32_t wrong;
    assert_non_null(run);
    run->random = seed;
    queue_random_options(&run->random, &options);
    if (preset == TWO_RANKS) {
        options.ranks = 2;
        options.channels = options.pseudo_channels = 1;
        options.scheduler = options.row_policy = options.port_bytes = options.power_down_after = 0;
        options.power_down = DRAM_POWER_DOWN_power_down;
    } else if (preset != ANY_PRESET) {
        options.preset = preset;
    }
    if (preset == HBM2)
        dram_pattern_hbm2_of_dramsim3(&options);
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    assert_int_equal(cnnvp_dram_queue_init(&run->queue, &options, &timing), CNNVP_OK);
    for (uint32_t i = 0; i < COUNTERS; ++i)
        run->windows[i] = (struct cnnvp_bandwidth){.scale = 1, .counter = i, .show = show, .context = run};
    run->queue.stepwise = stepwise;
    run->queue.issued = note_issued;
    run->queue.columns_issued = note_columns;
    run->queue.share = share_of;
    run->queue.context = run;
    cnnvp_time now = 0, arrival = 1000;
    while (run->result.ended < REQUESTS) {
        schedule(run, &salt, now, arrival);
        const cnnvp_time due = cnnvp_dram_queue_due(&run->queue);
        if (due <= arrival) {
            now = due;
            end_first(run);
            if (run->count < REQUESTS && below(&run->random, 2))
                (void)add(run, now);
        } else {
            now = arrival;
            if (run->count < REQUESTS) {
                run->result.states[run->count] = queue_state(run->queue.channel, now / timing.tck_ps + 1u);
                (void)add(run, now);
            }
            arrival += below(&run->random, 4) ? below(&run->random, 3000) : below(&run->random, 20000000);
            if (run->count == REQUESTS)
                arrival = CNNVP_TIME_NEVER;
        }
    }
    cnnvp_dram_queue_catch_up(&run->queue, now + 2000000);
    cnnvp_dram_queue_counts(&run->queue, &run->result.counts);
    for (uint32_t i = 0; i < run->queue.stream_count; ++i)
        run->result.waited[i] = run->queue.streams[i].waited;
    for (uint32_t i = 0; i < COUNTERS; ++i)
        cnnvp_bandwidth_show(&run->windows[i]);
    return run;
}

static void run_free(struct run *run)
{
    cnnvp_dram_queue_fini(&run->queue);
    free(run);
}

static void test_shortcuts(void **state)
{
    (void)state;
    uint64_t shortcuts = 0, bursts = 0, forwarded = 0, merged = 0, learned = 0, downs = 0, selves = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; ++seed) {
        struct run *judge = run_random(seed, ANY_PRESET, 1, 1), *fast = run_random(seed, ANY_PRESET, 0, seed);
        for (uint32_t i = 0; i < REQUESTS; ++i)
            if (memcmp(&judge->result.ends[i], &fast->result.ends[i], sizeof judge->result.ends[i]) != 0)
                fail_msg("seed %llu: request %u ends at %llu ps, planned command by command at %llu ps",
                         (unsigned long long)seed, (unsigned)i, (unsigned long long)fast->result.ends[i].time,
                         (unsigned long long)judge->result.ends[i].time);
        assert_memory_equal(&judge->result, &fast->result, sizeof judge->result);
        assert_int_equal(judge->shortcuts, 0);
        shortcuts += fast->shortcuts;
        bursts += judge->result.counts.hits + judge->result.counts.misses + judge->result.counts.conflicts;
        forwarded += judge->result.counts.forwarded;
        merged += judge->result.counts.merged;
        learned += fast->queue.changes[0].kind.waiting != 0;
        downs += fast->shortcuts ? fast->result.counts.power_downs : 0;
        selves += fast->shortcuts ? fast->result.counts.commands[DRAM_SRE] : 0;
        run_free(judge);
        run_free(fast);
    }
    /* the shortcuts are taken, or nothing was tested */
    assert_true(shortcuts * 8u > bursts);
    assert_true(forwarded > 1000 && merged > 1000 && learned > ROUNDS / 8u && downs > 1000 && selves > 50);
}

/* A rank's burst enters during a train of its reads when none of it waits, but of the other: it is not low since before
 * the train. */
static void test_ranks(void **state)
{
    (void)state;
    for (uint64_t seed = 300; seed < 320; ++seed) {
        struct run *judge = run_random(seed, TWO_RANKS, 1, 1), *fast = run_random(seed, TWO_RANKS, 0, seed);
        assert_memory_equal(&judge->result, &fast->result, sizeof judge->result);
        run_free(judge);
        run_free(fast);
    }
}

/* hbm2's WR and ACT can make room for two writes at one clock: in these runs requests end so early by that. Who counts
 * on one command a clock says a later time, and schedule() fails. */
static void test_two_leave(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {790, 1683, 1959, 2182, 2590, 3517, 5016, 5345};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; ++i)
        run_free(run_random(seeds[i], HBM2, 0, seeds[i]));
}

/* Rows are read beside writes that wait for others: that a request ends is not looked for each few clocks. */
static void test_beside_writes(void **state)
{
    (void)state;
    struct dram_queue queue = {0};
    struct dram_options options;
    struct dram_timing timing;
    char message[200];
    uint32_t wrong, calls = 0;
    cnnvp_dram_options_init(&options);
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    assert_int_equal(cnnvp_dram_queue_init(&queue, &options, &timing), CNNVP_OK);
    struct cnnvp_request writes = {.op = CNNVP_WRITE, .address = 1u << 21, .size = 1u << 16, .count = 1},
                         rows = {.size = 1024, .count = 200, .stride = 8192, .outstanding = 16};
    assert_int_equal(cnnvp_dram_queue_add(&queue, &writes, 0), CNNVP_OK);
    assert_int_equal(cnnvp_dram_queue_add(&queue, &rows, 0), CNNVP_OK);
    cnnvp_time at = 0;
    for (uint32_t ended = 0; ended < 2; ++calls) {
        at = cnnvp_maximum(at + 1u, cnnvp_dram_queue_work(&queue));
        cnnvp_dram_queue_schedule(&queue, at);
        for (; cnnvp_dram_queue_due(&queue) <= at; ++ended)
            (void)cnnvp_dram_queue_take(&queue);
        at = cnnvp_minimum(at, cnnvp_dram_queue_due(&queue));
    }
    assert_in_range(calls, 2, 20);
    cnnvp_dram_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shortcuts), cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_two_leave), cmocka_unit_test(test_beside_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
