/* SPDX-License-Identifier: Apache-2.0 */
/* What the planner's estimate says of layers, and that larger buffers are never
 * slower by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan_cases.h"

#define LAYERS 3u /* of a network */

/* Words that cross the memory's port, counted from the guest's loops. */
static uint64_t traffic(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits)
{
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const struct cnnvp_plan_use use = cnnvp_plan_use_of(layer, &limits->engine);
    const uint64_t blobs_a_group = (uint64_t)counts.input_slices * counts.output_slices;
    const uint64_t weights =
        blobs_a_group <= limits->weight_halves ? counts.groups : (uint64_t)counts.groups * counts.tiles;
    const uint64_t inputs = counts.tiles == 1 && counts.input_slices <= limits->input_halves ? 1 : counts.groups;
    return weights * blobs_a_group * use.weight_bytes + inputs * counts.tiles * counts.input_slices * use.input_bytes;
}

/* Larger buffers are used: less traffic for a layer that waits for it. */
static void larger_buffers_save_traffic(void **state)
{
    (void)state;
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 256, .height = 58, .width = 58};
    layer.out = (struct cnnvp_image_tensor){.channels = 256, .height = 56, .width = 56};
    uint64_t first = 0;
    uint64_t last = 0;
    for (uint64_t kib = 8; kib <= 1024; kib *= 2) {
        const struct cnnvp_plan_limits limits = {
            kib * 1024, kib * 2048, kib * 1024, 2, 2, 2, cases_window(8, 8, 16), cnnvp_plan_timing_of(NULL)};
        struct cnnvp_image_layer planned = layer;
        struct cnnvp_error error = {""};
        assert_int_equal(cases_plan(&planned, "L", &limits, &error), CNNVP_DONE);
        last = traffic(&planned, &limits);
        first = first == 0 ? last : first;
    }
    assert_true(last < first / 2);
}

/* Slices that the core sequences for a layer of 32x32 maps on the window
 * engine. */
static uint32_t slices_with(const struct cnnvp_plan_timing *timing)
{
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 64, .height = 34, .width = 34};
    layer.out = (struct cnnvp_image_tensor){.channels = 64, .height = 32, .width = 32};
    const struct cnnvp_plan_limits limits = {65536, 65536, 65536, 2, 2, 2, cases_window(8, 8, 16), *timing};
    struct cnnvp_error error = {""};
    assert_int_equal(cases_plan(&layer, "L", &limits, &error), CNNVP_DONE);
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(&layer);
    return counts.groups * counts.tiles * counts.input_slices * counts.output_slices;
}

/* The estimate is of the platform's own core. */
static void a_slow_core_gets_fewer_slices(void **state)
{
    (void)state;
    struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    const uint32_t slices = slices_with(&timing);
    timing.core *= 10u;
    assert_true(slices_with(&timing) < slices);
}

/* One channel of DDR4-2400: 64 bytes in six clocks of 833 ps from one bank
 * group, in four on the bus, and a tenth more where reads and writes turn it
 * round; 52 clocks to the data of a row of a bank where another one was open.
 */
static void the_presets_timing_is_the_default(void **state)
{
    (void)state;
    const struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    assert_int_equal(timing.burst, 4998);
    assert_int_equal(timing.read, timing.burst);
    assert_int_equal(timing.bus, 3332);
    assert_int_equal(timing.turning, 3332 + 333);
    assert_int_equal(timing.latency, 52 * 833);
    assert_int_equal(timing.ahead, 16);
    assert_int_equal(timing.cycle, 1000);
    assert_int_equal(timing.core, 1000);
    assert_int_equal(timing.lanes, 16);
}

/* What two images of a network take by the estimate, with halves of so many
 * bytes; UINT64_MAX: a layer does not fit. */
static uint64_t ps_with(const struct cnnvp_image_layer layers[LAYERS], struct cnnvp_plan_limits limits,
                        const uint32_t powers[3])
{
    struct cnnvp_image_layer planned[LAYERS];
    struct cnnvp_error error = {""};
    struct cnnvp_plan *plan = NULL;
    uint64_t ps = UINT64_MAX;
    limits.input_bytes = UINT64_C(1) << powers[0];
    limits.weight_bytes = UINT64_C(1) << powers[1];
    limits.output_bytes = UINT64_C(1) << powers[2];
    memcpy(planned, layers, sizeof planned);
    cnnvp_result result = cnnvp_plan_new(&limits, LAYERS, &plan, &error);
    for (size_t i = 0; i < LAYERS && result == CNNVP_DONE; ++i)
        result = cnnvp_plan_add(plan, &planned[i], "L", &error);
    if (result == CNNVP_DONE)
        ps = cnnvp_plan_make(plan);
    cnnvp_plan_free(plan);
    for (size_t i = 0; i < LAYERS && ps != UINT64_MAX; ++i)
        cases_check_fits(&planned[i], &limits);
    return ps;
}

/* Buffers one by one and all together through powers of two, whatever order the
 * element issues in: by the estimate, no size is slower than the smaller ones,
 * but by a trifle where traffic falls for it (plan_choice.c). */
static void larger_buffers_are_never_slower(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 29);
    unsigned faster = 0;
    for (unsigned i = 0; i < 12; ++i) {
        struct cnnvp_image_layer layers[LAYERS];
        for (size_t n = 0; n < LAYERS; ++n)
            layers[n] = cases_layer(&random);
        layers[LAYERS - 1u] = layers[0];
        struct cnnvp_plan_limits limits = cases_limits(&random);
        limits.timing.lead = cases_between(&random, 0, 1) != 0 ? cases_between(&random, 0, 100000000) : 0;
        for (uint32_t buffer = 0; buffer < 4; ++buffer) {
            uint32_t powers[3] = {cases_between(&random, 12, 16), cases_between(&random, 12, 16),
                                  cases_between(&random, 12, 16)};
            uint64_t least = UINT64_MAX;
            for (uint32_t size = 0; size < 6; ++size) {
                for (uint32_t b = 0; b < 3; ++b)
                    powers[b] += buffer == b || buffer == 3 ? 1u : 0;
                const uint64_t ps = ps_with(layers, limits, powers);
                assert_true(least == UINT64_MAX || ps <= least + least / 1024u);
                faster += least != UINT64_MAX && ps < least;
                least = ps < least ? ps : least;
            }
        }
    }
    assert_true(faster > 24);
    builder_free(&random);
}

/* A hash of a plan's cuts. */
static uint64_t hash_of(const struct cnnvp_plan_cut *cuts)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < LAYERS * sizeof *cuts; ++i)
        hash = (hash ^ ((const unsigned char *)cuts)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* What stands for a run of the plan: the estimate of each layer, up to 1/64 more by the plan's hash. */
static uint64_t judge(const struct cnnvp_image_layer layers[LAYERS], const struct cnnvp_plan_limits *limits,
                      const struct cnnvp_plan_cut *cuts)
{
    uint64_t ps = 0;
    for (size_t i = 0; i < LAYERS; ++i) {
        struct cnnvp_image_layer layer = layers[i];
        cnnvp_plan_cut_layer(&layer, &cuts[i]);
        ps += cnnvp_plan_time_of(&layer, limits).ps;
    }
    return ps + ps / 64u * (hash_of(cuts) >> 32 & 0xffu) / 256u;
}

/* The fastest of a network's plans; UINT64_MAX: a layer does not fit. *first: what the planner's own takes. */
static uint64_t judged(const struct cnnvp_image_layer layers[LAYERS], struct cnnvp_plan_limits limits,
                       const uint32_t powers[3], uint64_t *first)
{
    struct cnnvp_image_layer planned[LAYERS];
    struct cnnvp_error error = {""};
    struct cnnvp_plan *plan = NULL;
    struct cnnvp_plan_rivals *rivals = NULL;
    limits.input_bytes = UINT64_C(1) << powers[0];
    limits.weight_bytes = UINT64_C(1) << powers[1];
    limits.output_bytes = UINT64_C(1) << powers[2];
    memcpy(planned, layers, sizeof planned);
    cnnvp_result result = cnnvp_plan_new(&limits, LAYERS, &plan, &error);
    for (size_t i = 0; i < LAYERS && result == CNNVP_DONE; ++i)
        result = cnnvp_plan_add(plan, &planned[i], "L", &error);
    uint64_t least = UINT64_MAX;
    if (result == CNNVP_DONE) {
        (void)cnnvp_plan_make(plan);
        assert_int_equal(cnnvp_plan_rivals_of(plan, &rivals, &error), CNNVP_DONE);
        assert_int_equal(rivals->layers, LAYERS);
        *first = judge(layers, &limits, rivals->cuts);
    }
    for (size_t n = 0; rivals != NULL && n < rivals->count; ++n) {
        const struct cnnvp_plan_cut *cuts = &rivals->cuts[n * LAYERS];
        for (size_t i = 0; i < LAYERS; ++i) {
            const struct cnnvp_image_layer own = planned[i];
            cnnvp_plan_cut_layer(&planned[i], &cuts[i]);
            assert_true(n > 0 || memcmp(&own, &planned[i], sizeof own) == 0);
            cases_check_fits(&planned[i], &limits);
        }
        for (size_t other = 0; other < n; ++other)
            assert_memory_not_equal(cuts, &rivals->cuts[other * LAYERS], LAYERS * sizeof *cuts);
        const uint64_t ps = judge(layers, &limits, cuts);
        least = ps < least ? ps : least;
    }
    free(rivals);
    cnnvp_plan_free(plan);
    return least;
}

/* Whoever tries all plans is never slower with larger buffers, though the estimate is wrong: what a smaller platform
 * may choose, a larger one may choose too. */
static void trials_are_never_slower_with_larger_buffers(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 47);
    unsigned compared = 0;
    unsigned first_slower = 0;
    for (unsigned i = 0; i < 40; ++i) {
        struct cnnvp_image_layer layers[LAYERS];
        for (size_t n = 0; n < LAYERS; ++n)
            layers[n] = cases_layer(&random);
        struct cnnvp_plan_limits limits = cases_limits(&random);
        limits.timing.lead = limits.timing.most_lead;
        uint32_t powers[3] = {cases_between(&random, 12, 15), cases_between(&random, 12, 15),
                              cases_between(&random, 12, 15)};
        uint64_t least = UINT64_MAX;
        uint64_t least_first = UINT64_MAX;
        for (uint32_t size = 0; size < 6; ++size) {
            uint64_t first = UINT64_MAX;
            const uint64_t ps = judged(layers, limits, powers, &first);
            assert_true(ps <= least);
            compared += least != UINT64_MAX;
            first_slower += first > least_first;
            least = ps;
            least_first = first < least_first ? first : least_first;
            ++powers[cases_between(&random, 0, 2)];
        }
    }
    assert_true(compared > 100);
    assert_true(first_slower > 5);
    builder_free(&random);
}

/* A layer that takes less than what the estimate may be wrong by keeps the
 * tiles that the smallest buffers gave it. */
static void tiny_layers_keep_their_tiles(void **state)
{
    (void)state;
    struct cnnvp_image_layer layer = {.op = CNNVP_OP_CONV, .kx = 3, .ky = 3, .sx = 1, .sy = 1, .dx = 1, .dy = 1};
    layer.in = (struct cnnvp_image_tensor){.channels = 16, .height = 18, .width = 18};
    layer.out = (struct cnnvp_image_tensor){.channels = 16, .height = 16, .width = 16};
    struct cnnvp_plan_timing timing = cnnvp_plan_timing_of(NULL);
    timing.cycle = timing.core = timing.burst = timing.read = timing.bus = timing.turning = 1;
    timing.row = timing.reopen = timing.latency = timing.write_latency = timing.port = 1;
    timing.sides[0] = timing.sides[1] = timing.sides[2] = 1;
    struct cnnvp_image_layer first = layer;
    for (uint64_t kib = 4; kib <= 64; kib *= 2) {
        const struct cnnvp_plan_limits limits = {kib * 1024, kib * 1024, 4096, 2, 2, 2, cases_window(8, 8, 16), timing};
        struct cnnvp_image_layer planned = layer;
        struct cnnvp_error error = {""};
        assert_int_equal(cases_plan(&planned, "L", &limits, &error), CNNVP_DONE);
        const struct cnnvp_plan_time time = cnnvp_plan_time_of(&planned, &limits);
        assert_true(cnnvp_plan_preference(&time) < 360000);
        if (kib == 4)
            first = planned;
        assert_memory_equal(&planned, &first, sizeof first);
        /* A larger output buffer may bring another one of the smallest's ways, but
         * none that is slower. */
        const struct cnnvp_plan_limits all = {kib * 1024, kib * 1024, kib * 1024, 2, 2, 2, cases_window(8, 8, 16),
                                              timing};
        planned = layer;
        assert_int_equal(cases_plan(&planned, "L", &all, &error), CNNVP_DONE);
        assert_true(cnnvp_plan_time_of(&planned, &all).ps <= time.ps);
    }
}

/* Sums of all slices one by one. */
static void add_slices(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                       const struct cnnvp_plan_extent *step, struct cnnvp_plan_time *sum)
{
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const uint32_t inputs = layer->depthwise != 0 ? step->channels : cnnvp_engine_inputs(layer);
    sum->core_ps += (cnnvp_plan_step_core(layer, timing) + timing->store_core) * timing->core;
    sum->core_ps += layer->post_count * (uint64_t)timing->post_core * timing->core;
    sum->memory_ps += cnnvp_plan_store_ps(layer, timing, step);
    for (uint32_t in = 0; in < inputs; in += layer->tile_in) {
        const uint32_t depth = in + layer->tile_in < inputs ? layer->tile_in : inputs - in;
        sum->memory_ps += cnnvp_plan_operand_ps(layer, timing, &layer->in, step, depth);
        sum->core_ps += (uint64_t)timing->load_core * timing->core;
        for (uint32_t out = 0; out < step->channels; out += layer->tile_out) {
            const uint32_t outputs = out + layer->tile_out < step->channels ? layer->tile_out : step->channels - out;
            const int last = in + depth == inputs;
            const struct cnnvp_engine_slice slice = {step->rows, step->columns, depth, outputs, in == 0, last};
            sum->compute_ps += cnnvp_engine_cycles(&limits->engine, layer, &slice) * timing->cycle;
            sum->memory_ps += cnnvp_plan_weights_ps(timing, cnnvp_plan_slice_bytes(layer, depth, outputs, last));
            sum->core_ps += (uint64_t)(timing->load_core + timing->calculate_core) * timing->core;
        }
    }
}

/* Where no half keeps what the next step needs, the sums are those of all
 * slices. */
static void totals_are_the_sums_of_the_slices(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 37);
    unsigned compared = 0;
    for (unsigned i = 0; i < 600; ++i) {
        struct cnnvp_image_layer layer = cases_layer(&random);
        struct cnnvp_plan_limits limits = cases_limits(&random);
        struct cnnvp_error error = {""};
        if (!cnnvp_plan_has_weights(&layer) || cases_plan(&layer, "L", &limits, &error) != CNNVP_DONE)
            continue;
        const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(&layer);
        limits.input_halves = limits.weight_halves = 1;
        if (counts.tiles * counts.input_slices == 1 || counts.input_slices * counts.output_slices == 1)
            continue;
        struct cnnvp_plan_time sum = {.core_ps = (uint64_t)limits.timing.layer_core * limits.timing.core};
        for (uint32_t c = 0; c < layer.out.channels; c += layer.group_out)
            for (uint32_t y = 0; y < layer.out.height; y += layer.tile_h)
                for (uint32_t x = 0; x < layer.out.width; x += layer.tile_w) {
                    const struct cnnvp_plan_extent step = {
                        c + layer.group_out < layer.out.channels ? layer.group_out : layer.out.channels - c,
                        y + layer.tile_h < layer.out.height ? layer.tile_h : layer.out.height - y,
                        x + layer.tile_w < layer.out.width ? layer.tile_w : layer.out.width - x};
                    add_slices(&layer, &limits, &step, &sum);
                }
        const struct cnnvp_plan_time totals = cnnvp_plan_totals(&layer, &limits);
        assert_int_equal(totals.compute_ps, sum.compute_ps);
        assert_int_equal(totals.memory_ps, sum.memory_ps);
        assert_int_equal(totals.core_ps, sum.core_ps);
        ++compared;
    }
    assert_true(compared > 50);
    builder_free(&random);
}

/* The replay counts what it says: calculation without gaps where memory is
 * fast, all of it one after the other where strict. */
static void strict_order_adds_up(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 31);
    for (unsigned i = 0; i < 300; ++i) {
        struct cnnvp_image_layer layer = cases_layer(&random);
        struct cnnvp_plan_limits limits = cases_limits(&random);
        struct cnnvp_error error = {""};
        if (cases_plan(&layer, "L", &limits, &error) != CNNVP_DONE)
            continue;
        limits.timing.strict = 0;
        const struct cnnvp_plan_time overlap = cnnvp_plan_time_of(&layer, &limits);
        limits.timing.strict = 1;
        const struct cnnvp_plan_time strict = cnnvp_plan_time_of(&layer, &limits);
        assert_int_equal(strict.compute_ps, overlap.compute_ps);
        /* Behind nothing that is on its way, rows open later. */
        assert_true(strict.memory_ps >= overlap.memory_ps);
        /* At most as if none of them closed up; refreshes are rounded down. */
        const uint64_t apart = overlap.memory_ps / limits.timing.bus * limits.timing.burst;
        assert_true(strict.memory_ps <= apart + limits.timing.burst + overlap.memory_ps / 512u);
        /* Estimates of what is not replayed may differ by some hundredths. */
        assert_true(overlap.ps <= strict.ps + strict.ps / 16u);
        assert_true(overlap.ps >= overlap.compute_ps);
        /* Reads ahead of the receive, at most. */
        assert_true(strict.ps >= strict.compute_ps + strict.memory_ps / 2u);
    }
    builder_free(&random);
}

/* A part of the whole, at random. */
static uint32_t part_of(struct builder *random, uint32_t whole)
{
    return (whole - 1u) / cases_between(random, 1, cases_between(random, 1, whole)) + 1u;
}

/* Slices that follow each other at a steady pace are passed over: that changes no picosecond, whatever the core's
 * speed, its lead and its queue. */
static void passing_over_slices_changes_nothing(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 43);
    for (unsigned i = 0; i < 4000; ++i) {
        struct cnnvp_image_layer layer = cases_layer(&random);
        struct cnnvp_plan_limits limits = cases_limits(&random);
        if (!cnnvp_plan_has_weights(&layer))
            continue;
        limits.timing.core = 1u << cases_between(&random, 0, 11);
        limits.timing.most_lead = limits.timing.core * (UINT64_C(1000) << cases_between(&random, 0, 8));
        layer.group_out = part_of(&random, layer.out.channels);
        layer.tile_h = part_of(&random, layer.out.height);
        layer.tile_w = part_of(&random, layer.out.width);
        layer.tile_out = part_of(&random, layer.group_out);
        layer.tile_in = part_of(&random, cnnvp_engine_inputs(&layer));
        if (cnnvp_plan_is_channelwise(&layer))
            layer.tile_in = layer.tile_out = layer.group_out;
        struct cnnvp_plan_sorts sorts = {.layer = &layer, .limits = &limits};
        const struct cnnvp_plan_time sums = cnnvp_plan_sums(&sorts);
        const uint64_t leads[] = {0, limits.timing.most_lead / 3u, limits.timing.most_lead};
        for (size_t n = 0; n < 3; ++n) {
            sorts.one_by_one = 0;
            const struct cnnvp_plan_time passed = cnnvp_plan_replay(&sorts, &sums, leads[n]);
            sorts.one_by_one = 1;
            const struct cnnvp_plan_time time = cnnvp_plan_replay(&sorts, &sums, leads[n]);
            assert_int_equal(passed.ps, time.ps);
        }
    }
    builder_free(&random);
}

/* Tiles do not depend on numbers and places, and are given to layers that differ in these only. */
static void a_plan_is_repeated(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 41);
    for (unsigned i = 0; i < 200; ++i) {
        const struct cnnvp_image_layer layer = cases_layer(&random);
        const struct cnnvp_plan_limits limits = cases_limits(&random);
        struct cnnvp_image_layer planned = layer;
        struct cnnvp_error error = {""};
        if (cases_plan(&planned, "L", &limits, &error) != CNNVP_DONE)
            continue;
        struct cnnvp_image_layer moved = layer;
        moved.format = 3;
        moved.seed = 5;
        moved.in.address = moved.out.address = 64;
        struct cnnvp_image_layer again = moved;
        assert_int_equal(cnnvp_plan_repeat(&moved, &planned, 1), 1);
        assert_int_equal(cases_plan(&again, "L", &limits, &error), CNNVP_DONE);
        assert_memory_equal(&moved, &again, sizeof moved);
        struct cnnvp_image_layer wider = layer;
        ++wider.out.width;
        const struct cnnvp_image_layer before = wider;
        assert_int_equal(cnnvp_plan_repeat(&wider, &planned, 1), 0);
        assert_memory_equal(&wider, &before, sizeof wider);
        struct cnnvp_image_layer chained = wider;
        chained.chain = 1;
        assert_int_equal(cnnvp_plan_repeat(&chained, &planned, 1), 1);
        assert_int_equal(chained.tile_h, wider.tile_h);
    }
    builder_free(&random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_buffers_save_traffic),
        cmocka_unit_test(a_slow_core_gets_fewer_slices),
        cmocka_unit_test(the_presets_timing_is_the_default),
        cmocka_unit_test(larger_buffers_are_never_slower),
        cmocka_unit_test(trials_are_never_slower_with_larger_buffers),
        cmocka_unit_test(tiny_layers_keep_their_tiles),
        cmocka_unit_test(totals_are_the_sums_of_the_slices),
        cmocka_unit_test(strict_order_adds_up),
        cmocka_unit_test(passing_over_slices_changes_nothing),
        cmocka_unit_test(a_plan_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
