/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's shortcuts for bursts of open rows against planning each command: the same requests must end at the same
 * times with the same counts, whatever the parts, the mappings and the requests are like. And no request ends before it
 * was said to at the earliest. */

#include "test.h"

#include "unit/bandwidth.h"
#include "dram/dram_policy.h"
#include "dram/dram_queue.h"

#define REQUESTS 120u
#define TAGS 4u
#define SOURCES 8u
#define WINDOWS 4096u
#define ROUNDS 250u

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

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

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

#define DDR5 5u /* of which four ranks are more banks than a channel has, and a refresh takes 710 clocks */

static void random_options(uint64_t *random, struct dram_options *options)
{
    cnnvp_dram_options_init(options);
    options->preset = below(random, 6);
    options->mapping = below(random, 5);
    options->channels = below(random, 4) ? 1 : 1 + below(random, 3);
    options->ranks = below(random, 3) ? 1 : 1u << below(random, options->preset == DDR5 ? 2 : 3);
    options->scheduler = !below(random, 8);
    options->page = !below(random, 8);
    options->refresh = below(random, 2) ? DRAM_REFRESH_all_ranks : below(random, 3);
    options->queue = below(random, 2) ? 32 : 4 + below(random, 61);
    options->drain_high = 40 + below(random, 60);
    options->drain_low = below(random, 40);
    uint64_t aside = *random; /* the seeds below stay what they are */
    if (!below(&aside, 4))
        options->preset = 6 + below(&aside, 2); /* lpddr5, hbm3 */
    else if (options->preset == DDR5 && below(&aside, 2))
        options->width_bits = 16;
    options->arbiter = below(&aside, 3);
    options->port_bytes = below(&aside, 8) ? 0 : 1 + below(&aside, 300);
    options->port_mhz = below(&aside, 2) ? 0 : 100 + below(&aside, 3000);
    if (!below(random, 3)) /* many refreshes */
        options->timings[DRAM_T_refi] = (options->preset == DDR5 ? 1300 : 1000) + below(random, 500);
    if (!below(random, 8)) /* also longer than a read takes */
        options->timings[DRAM_T_ccd_l] = 10 + below(random, 60);
    if (!below(random, 4)) { /* commands of several clocks */
        options->timings[DRAM_T_cmd_column] = 1 + below(random, 2);
        options->timings[DRAM_T_cmd_pre] = 1 + below(random, 3);
        options->timings[DRAM_T_cmd_act] = options->timings[DRAM_T_cmd_pre] + below(random, 4);
    }
    if (!below(&aside, 4))
        options->timings[DRAM_T_aad] = cnnvp_maximum32(options->timings[DRAM_T_cmd_act], 4) + below(&aside, 3);
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

static void mix(uint64_t *digest, uint64_t value)
{
    *digest = (*digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *digest ^= *digest >> 29;
}

static void mix_time(uint64_t *digest, uint64_t ready, uint64_t clock)
{
    mix(digest, ready > clock ? ready : clock);
}

/* Rows, and when each command is allowed from `clock` on, before which everything is decided. */
static uint64_t state_of(const struct dram_channel *channel, uint64_t clock)
{
    uint64_t digest = channel->open;
    for (uint32_t i = 0; i < DRAM_BANKS; ++i) {
        const struct dram_bank *bank = &channel->bank[i];
        mix(&digest, bank->open ? bank->row : 0);
        mix_time(&digest, bank->act, clock);
        mix_time(&digest, bank->pre, clock);
        mix_time(&digest, bank->column, clock);
    }
    for (uint32_t i = 0; i < DRAM_GROUPS; ++i) {
        mix_time(&digest, channel->group[i].act, clock);
        mix_time(&digest, channel->group[i].column[0], clock);
        mix_time(&digest, channel->group[i].column[1], clock);
    }
    for (uint32_t i = 0; i < DRAM_RANKS; ++i) {
        const struct dram_rank *rank = &channel->rank[i];
        const uint64_t times[] = {rank->act, rank->column[0], rank->column[1], rank->pre_all, rank->refresh};
        for (size_t j = 0; j < sizeof times / sizeof times[0]; ++j)
            mix_time(&digest, times[j], clock);
        for (uint32_t j = 0; j < 4; ++j)
            mix_time(&digest, rank->window[(rank->window_at + j) % 4u], clock);
    }
    mix_time(&digest, channel->column_bus, clock);
    mix_time(&digest, channel->row_bus, clock);
    mix(&digest, channel->second_by);
    mix(&digest, channel->bus_end);
    mix(&digest, channel->returned);
    mix(&digest, cnnvp_dram_channel_waiting(channel));
    return digest;
}

static void end_first(struct run *run)
{
    struct cnnvp_request *request = cnnvp_dram_queue_take(&run->queue);
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
    random_options(&run->random, &options);
    if (preset != ANY_PRESET)
        options.preset = preset;
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
                run->result.states[run->count] = state_of(run->queue.channel, now / timing.tck_ps + 1u);
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
    uint64_t shortcuts = 0, bursts = 0, forwarded = 0, merged = 0, learned = 0;
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
        run_free(judge);
        run_free(fast);
    }
    /* the shortcuts are taken, or nothing was tested */
    assert_true(shortcuts * 8u > bursts);
    assert_true(forwarded > 1000 && merged > 1000 && learned > ROUNDS / 8u);
}

/* hbm2's WR and ACT can make room for two writes at one clock: in these runs requests end so early by that. Who counts
 * on one command a clock says a later time, and schedule() fails. */
static void test_two_leave(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {790, 1683, 1959, 2182, 2590, 3517, 5016, 5345};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; ++i)
        run_free(run_random(seeds[i], 4, 0, seeds[i]));
}

/* ---- a lone request over many rows ---- */

/* Some timings are far from the parts', so that rows cannot always be opened when it would be best. */
static void open_queue(uint64_t seed, int stepwise, struct dram_queue *queue)
{
    struct dram_options options;
    struct dram_timing timing;
    char message[200];
    uint32_t wrong;
    uint64_t random = seed;
    do {
        random_options(&random, &options);
        options.channels = 1;
        options.mapping = 0;
        options.scheduler = options.page = 0;
        if (below(&random, 2))
            options.timings[DRAM_T_ras] = 30 + below(&random, 500);
        if (below(&random, 2))
            options.timings[DRAM_T_faw] = 20 + below(&random, 900);
        if (below(&random, 2))
            options.timings[DRAM_T_rtp] = 1 + below(&random, 40);
    } while (cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong) != CNNVP_OK);
    assert_int_equal(cnnvp_dram_queue_init(queue, &options, &timing), CNNVP_OK);
    queue->stepwise = stepwise;
}

/* Both ways are asked for the same clocks, often between two commands, and must be in the same state there. */
static void test_rows(void **state)
{
    (void)state;
    uint32_t learned = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; ++seed) {
        struct dram_queue judge = {.stepwise = 1}, fast = {.stepwise = 0};
        struct dram_queue *queues[2] = {&judge, &fast};
        struct cnnvp_request requests[2] = {{.op = CNNVP_READ, .burst_bytes = 64, .count = 1}};
        uint64_t random = seed * 77u;
        requests[0].address = below(&random, 1u << 24);
        requests[0].size = 30000 + below(&random, 150000);
        requests[0].outstanding = 2 + below(&random, 60);
        requests[1] = requests[0];
        for (uint32_t i = 0; i < 2; ++i) {
            open_queue(seed, i == 0, queues[i]);
            assert_int_equal(cnnvp_dram_queue_add(queues[i], &requests[i], 1000000), CNNVP_OK);
        }
        const uint64_t tck = judge.timing.tck_ps, pause = 1 + below(&random, 2000);
        for (uint64_t clock = 1000000 / tck; cnnvp_dram_queue_due(&judge) == CNNVP_TIME_NEVER;
             clock += 1 + below(&random, (uint32_t)pause)) {
            struct dram_counts counts[2];
            for (uint32_t i = 0; i < 2; ++i) {
                cnnvp_dram_queue_schedule(queues[i], clock * tck);
                cnnvp_dram_queue_counts(queues[i], &counts[i]);
            }
            assert_int_equal(state_of(judge.channel, clock + 1u), state_of(fast.channel, clock + 1u));
            assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
        }
        assert_int_equal(cnnvp_dram_queue_due(&judge), cnnvp_dram_queue_due(&fast));
        assert_int_equal(judge.streams[0].waited, fast.streams[0].waited);
        assert_memory_equal(&requests[0].scratch[DRAM_LATENCY], &requests[1].scratch[DRAM_LATENCY], sizeof(uint64_t));
        learned += fast.changes[0].kind.waiting != 0;
        cnnvp_dram_queue_fini(&judge);
        cnnvp_dram_queue_fini(&fast);
    }
    assert_true(learned > ROUNDS / 8u);
}

/* ---- requests one after the other ---- */

/* Two requests at a time read on where the one before ends, and each new one is in the place of that which has ended,
 * as a DMA does it. Most are short, so that rows end within all of them. Returns a digest of their ends. */
static uint64_t read_on(uint64_t seed, int stepwise)
{
    struct dram_queue queue = {.stepwise = stepwise};
    struct cnnvp_request requests[2];
    uint64_t random = seed, address = 0, digest = 0;
    cnnvp_time now = 1000000;
    open_queue(seed, stepwise, &queue);
    for (uint32_t i = 0; i < 4u * REQUESTS; ++i) {
        struct cnnvp_request *request = &requests[i % 2u];
        if (i >= 2) {
            cnnvp_dram_queue_schedule(&queue, CNNVP_TIME_NEVER);
            now = cnnvp_dram_queue_due(&queue);
            request = cnnvp_dram_queue_take(&queue);
            mix(&digest, now);
            mix(&digest, request->scratch[DRAM_LATENCY]);
        }
        *request = (struct cnnvp_request){
            .op = CNNVP_READ, .burst_bytes = 64, .count = 1, .outstanding = 16, .address = address, .size = 1024};
        if (i % 2u == 0)
            request->size = below(&random, 16) ? 2000 + below(&random, 3000) : 30000;
        address += request->size;
        assert_int_equal(cnnvp_dram_queue_add(&queue, request, now), CNNVP_OK);
    }
    cnnvp_dram_queue_fini(&queue);
    return digest;
}

static void test_places(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; ++seed)
        assert_int_equal(read_on(seed, 1), read_on(seed, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shortcuts), cmocka_unit_test(test_two_leave),
                                       cmocka_unit_test(test_rows), cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
