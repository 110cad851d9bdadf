/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the recorder: what is fed is compared with what the text of stats.json says. */
#include "machine.h"
#include "recorder.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const causes[] = {"bias",        "fill",  "writeout", "vector", "input_port",  "weight_port",
                                     "output_port", "input", "weight",   "output", "instruction", "host"};
#define CAUSES (sizeof causes / sizeof causes[0])

static const struct cnnvp_layer_info layers[] = {
    {"C1", "conv", "forward", 1000, 0, 70}, {"S2", "pool", "forward", 0, 8, 20}, {"C1", "conv", "backward", 500, 0, 0}};
#define LAYERS 3u

static const struct cnnvp_work_info work = {
    .struct_size = sizeof work,
    .command = "run",
    .network = "net.onnx",
    .network_hash = 0xABCDEF,
    .seed = 7,
    .images = 4,
    .pes = 64,
    .layers = layers,
    .layer_count = LAYERS,
    .least_dram_bytes = 50};

static uint64_t random_state;

/* xorshift64 */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static cnnvp_recorder *make_for(const struct cnnvp_resolved *platform, int timing_only)
{
    struct cnnvp_error error;
    cnnvp_recorder *recorder = NULL;

    assert_int_equal(cnnvp_recorder_new(platform, NULL, timing_only, &recorder, &error), CNNVP_DONE);
    return recorder;
}

static cnnvp_recorder *make(int timing_only)
{
    return make_for(machine(), timing_only);
}

static char *text_of(const cnnvp_recorder *recorder, uint64_t end_ps)
{
    char *text = NULL;

    assert_int_equal(cnnvp_recorder_json(recorder, end_ps, 0.25, &text), CNNVP_DONE);
    return text;
}

static json_t *json_of(const cnnvp_recorder *recorder, uint64_t end_ps)
{
    char *text = text_of(recorder, end_ps);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    assert_non_null(root);
    free(text);
    return root;
}

/* A member by path, "units.dram.bursts"; NULL where there is none. */
static json_t *member(json_t *root, const char *path)
{
    char copy[128];
    char *rest = copy;

    strcpy(copy, path);
    while (root != NULL && rest != NULL) {
        char *dot = strchr(rest, '.');

        if (dot != NULL)
            *dot++ = '\0';
        root = json_object_get(root, rest);
        rest = dot;
    }
    return root;
}

static uint64_t count(json_t *root, const char *path)
{
    json_t *value = member(root, path);

    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

static double real(json_t *root, const char *path)
{
    json_t *value = member(root, path);

    assert_true(json_is_real(value));
    return json_real_value(value);
}

static const char *text(json_t *root, const char *path)
{
    json_t *value = member(root, path);

    assert_true(json_is_string(value));
    return json_string_value(value);
}

static void assert_close(double value, double expected, double tolerance)
{
    double difference = value > expected ? value - expected : expected - value;

    assert_true(difference <= tolerance);
}

/* The members of an object in their order, joined by spaces. */
static void assert_members(json_t *object, const char *expected)
{
    char names[1024] = "";
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        strcat(names, names[0] ? " " : "");
        strcat(names, name);
    }
    assert_string_equal(names, expected);
}

static void members_and_their_order(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    root = json_of(recorder, 1000);
    assert_members(root, "schema cnnvp command seed wall_seconds platform network total layers tensors units "
                         "links memory storage energy area summary values");
    assert_string_equal(text(root, "schema"), "cnnvp-stats/2");
    assert_string_equal(text(root, "command"), "run");
    assert_string_equal(text(root, "network.name"), "net.onnx");
    assert_string_equal(text(root, "network.xxh3"), "0000000000abcdef");
    assert_int_equal(count(root, "network.macs"), 1000); /* forward, one image */
    assert_int_equal(count(root, "seed"), 7);
    assert_close(real(root, "wall_seconds"), 0.25, 0);
    assert_members(member(root, "total"), "time_ps accel_cycles idle_cycles guest_instructions accel_instructions macs "
                                          "images images_per_s");
    assert_members(json_array_get(member(root, "layers"), 1),
                   "index name op phase macs pes start_ps end_ps cycles compute_cycles stall_cycles utilization "
                   "compute_utilization "
                   "input_words weight_words output_words dram_read_bytes dram_write_bytes dram_burst_bytes "
                   "least_dram_bytes bound_by energy_pj static_pj energy_by_unit");
    assert_members(member(json_array_get(member(root, "layers"), 1), "stall_cycles"),
                   "bias fill writeout vector input_port weight_port output_port input weight output instruction host");
    assert_members(json_array_get(member(root, "links"), 0), "from to read_bytes write_bytes transactions");
    assert_members(member(root, "memory"),
                   "read_bytes write_bytes bursts burst_bytes row_hits row_misses row_conflicts refreshes "
                   "mean_read_latency_ps peak_bytes_per_s mean_bytes_per_s over_time overfetch");
    assert_members(member(root, "storage"), "peak_feature_words peak_feature_bytes");
    assert_members(member(root, "energy"),
                   "table technology total_pj dynamic_pj static_pj low_pj high_pj no_layer_pj by_unit unknown");
    assert_members(member(root, "summary"),
                   "peak_share bandwidth_share least_dram_bytes layers_least_dram_bytes dram_excess "
                   "energy_per_image_pj tops_per_watt bound_by bound_shares");
    assert_int_equal(count(root, "summary.least_dram_bytes"), 50);
    assert_int_equal(count(root, "summary.layers_least_dram_bytes"), 90);
    assert_int_equal(count(json_array_get(member(root, "layers"), 1), "least_dram_bytes"), 20);
    assert_members(member(root, "summary.bound_shares"), "compute memory port vector core instruction pipeline");
    assert_members(member(root, "units"), "cpu bus instruction pe_array input_buffer output_buffer dram");
    assert_members(member(root, "units.input_buffer"), "words conflicts");
    assert_null(member(root, "units.pe_array.saturations"));
    assert_string_equal(text(root, "platform.platform"), "test platform");
    assert_string_equal(text(root, "platform.units.bus.model"), "bus");
    assert_string_equal(text(root, "platform.units.pe_array.detail"), "fast");
    assert_int_equal(count(root, "platform.units.pe_array.rows"), 8);
    assert_string_equal(text(root, "platform.units.pe_array.limit"), "18446744073709551615");
    assert_int_equal(count(root, "platform.units.instruction.at"), 0x10000000);
    assert_null(member(root, "partial"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void nothing_counted_gives_zeros(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;
    json_t *layer;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    root = json_of(recorder, 0);
    layer = json_array_get(member(root, "layers"), 0);
    assert_int_equal(json_array_size(member(root, "layers")), LAYERS);
    assert_close(real(layer, "utilization"), 0, 0);
    assert_int_equal(count(layer, "start_ps"), 0);
    assert_int_equal(count(layer, "end_ps"), 0);
    assert_int_equal(count(layer, "cycles"), 0);
    assert_close(real(root, "total.images_per_s"), 0, 0);
    assert_close(real(root, "memory.mean_read_latency_ps"), 0, 0);
    assert_close(real(root, "memory.mean_bytes_per_s"), 0, 0);
    assert_close(real(root, "energy.total_pj"), 0, 0);
    assert_int_equal(count(root, "values.saturations.C1"), 0);
    assert_int_equal(count(root, "values.saturations.S2"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* What has the most cycles, of equal ones the first. */
static void what_binds(void **state)
{
    static const struct {
        uint32_t stat;
        uint64_t cycles;
    } fed[] = {{ARRAY_COMPUTE, 10}, {ARRAY_INPUT, 6},      {ARRAY_WEIGHT, 4},     {ARRAY_OUTPUT, 1},
               {ARRAY_VECTOR, 1},   {ARRAY_INPUT_PORT, 1}, {ARRAY_HOST, 12},      {ARRAY_WRITEOUT, 5},
               {ARRAY_BIAS, 4},     {ARRAY_FILL, 3},       {ARRAY_INSTRUCTION, 1}};
    cnnvp_recorder *recorder = make(0);

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    for (size_t i = 0; i < sizeof fed / sizeof fed[0]; ++i)
        cnnvp_recorder_count(recorder, ARRAY, fed[i].stat, 1, fed[i].cycles);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 2, 52);
    json_t *root = json_of(recorder, 1);
    assert_string_equal(text(json_array_get(member(root, "layers"), 0), "bound_by"), "core");
    assert_string_equal(text(json_array_get(member(root, "layers"), 1), "bound_by"), "compute");
    assert_string_equal(text(root, "summary.bound_by"), "compute");
    assert_close(real(root, "summary.bound_shares.compute"), 0.62, 1e-9);
    assert_close(real(root, "summary.bound_shares.memory"), 0.11, 1e-9);
    assert_close(real(root, "summary.bound_shares.port"), 0.01, 1e-9);
    assert_close(real(root, "summary.bound_shares.core"), 0.12, 1e-9);
    assert_close(real(root, "summary.bound_shares.pipeline"), 0.12, 1e-9);
    assert_int_equal(count(root, "total.accel_cycles"), 100);
    assert_close(real(root, "summary.peak_share"), (double)count(root, "total.macs") / (48 * 64 + 52 * 8), 1e-9);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* Random feeding against sums kept here. */
static void sums_are_those_of_what_was_fed(void **state)
{
    cnnvp_recorder *recorder = make(0);
    uint64_t totals[ARRAY_STATS] = {0};
    uint64_t by_tag[LAYERS + 1][ARRAY_STATS];
    uint64_t cycles = 0;
    uint64_t idle;
    json_t *root;

    (void)state;
    memset(by_tag, 0, sizeof by_tag);
    random_state = 88172645463325252u;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    for (int i = 0; i < 20000; ++i) {
        uint32_t stat = (uint32_t)random_below(ARRAY_STATS);
        uint32_t tag = (uint32_t)random_below(LAYERS + 1);
        uint64_t n = random_below(1000);

        cnnvp_recorder_count(recorder, ARRAY, stat, tag, n);
        totals[stat] += n;
        by_tag[tag][stat] += n;
    }
    cnnvp_recorder_count(recorder, ELEMENT, ELEMENT_IDLE, 0, 12345);
    cnnvp_recorder_count(recorder, ELEMENT, ELEMENT_INSTRUCTIONS, 2, 77);
    cnnvp_recorder_count(recorder, CPU, CPU_INSTRUCTIONS, 0, 4242);
    root = json_of(recorder, 2000000);
    for (size_t i = 0; i < LAYERS; ++i) {
        json_t *layer = json_array_get(member(root, "layers"), i);
        const uint64_t *mine = by_tag[i + 1];
        uint64_t sum = mine[ARRAY_COMPUTE];

        for (size_t c = 0; c < CAUSES; ++c) {
            assert_int_equal(count(member(layer, "stall_cycles"), causes[c]), mine[ARRAY_BIAS + c]);
            sum += mine[ARRAY_BIAS + c];
        }
        cycles += sum;
        assert_int_equal(count(layer, "index"), i);
        assert_string_equal(text(layer, "name"), layers[i].name);
        assert_string_equal(text(layer, "phase"), layers[i].phase);
        assert_int_equal(count(layer, "macs"), layers[i].macs * 4);
        assert_int_equal(count(layer, "cycles"), sum);
        assert_int_equal(count(layer, "compute_cycles"), mine[ARRAY_COMPUTE]);
        assert_int_equal(count(layer, "input_words"), mine[ARRAY_INPUT_WORDS]);
        assert_int_equal(count(layer, "weight_words"), mine[ARRAY_WEIGHT_WORDS]);
        assert_int_equal(count(layer, "output_words"), mine[ARRAY_OUTPUT_WORDS]);
        assert_close(real(layer, "compute_utilization"),
                     (double)(layers[i].macs * 4) /
                         ((double)mine[ARRAY_COMPUTE] * (double)(layers[i].pes != 0 ? layers[i].pes : 64)),
                     1e-12);
    }
    idle = 12345 + by_tag[0][ARRAY_COMPUTE];
    for (size_t c = 0; c < CAUSES; ++c)
        idle += by_tag[0][ARRAY_BIAS + c];
    assert_int_equal(count(root, "total.accel_cycles"), cycles + idle);
    assert_int_equal(count(root, "total.idle_cycles"), idle);
    assert_int_equal(count(root, "total.guest_instructions"), 4242);
    assert_int_equal(count(root, "total.accel_instructions"), 77);
    assert_int_equal(count(root, "total.macs"), 1500 * 4);
    assert_int_equal(count(root, "total.time_ps"), 2000000);
    assert_close(real(root, "total.images_per_s"), 4 / 2e-6, 1e-3);
    assert_int_equal(count(root, "units.pe_array.macs"), totals[ARRAY_MACS]);
    assert_int_equal(count(root, "units.pe_array.host_cycles"), totals[ARRAY_HOST]);
    assert_int_equal(cnnvp_recorder_total(recorder, ARRAY, ARRAY_HOST), totals[ARRAY_HOST]);
    /* Two layers of one name share a member. */
    assert_int_equal(count(root, "values.saturations.C1"), by_tag[1][ARRAY_SATURATIONS] + by_tag[3][ARRAY_SATURATIONS]);
    assert_int_equal(count(root, "values.saturations.S2"), by_tag[2][ARRAY_SATURATIONS]);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void layers_sum_over_units(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    cnnvp_recorder_count(recorder, DRAM, DRAM_READ_BYTES, 1, 100);
    cnnvp_recorder_count(recorder, DRAM, DRAM_LAYER_READ, 1, 11);
    cnnvp_recorder_count(recorder, DRAM, DRAM_WRITE_BYTES, 1, 7);
    cnnvp_recorder_count(recorder, DRAM, DRAM_READ_BYTES, 0, 1000);
    root = json_of(recorder, 1);
    assert_int_equal(count(json_array_get(member(root, "layers"), 0), "dram_read_bytes"), 111);
    assert_int_equal(count(json_array_get(member(root, "layers"), 0), "dram_write_bytes"), 7);
    assert_int_equal(count(root, "units.dram.read_bytes"), 1100);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void layer_times_are_first_and_last_of_its_spans(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 2, 0, 500, 700);
    cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", 2, 0, 300, 350);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_VECTOR, "add", 2, 0, 600, 900);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 0, 0, 0, 5000);
    root = json_of(recorder, 1);
    assert_int_equal(count(json_array_get(member(root, "layers"), 1), "start_ps"), 300);
    assert_int_equal(count(json_array_get(member(root, "layers"), 1), "end_ps"), 900);
    assert_int_equal(count(json_array_get(member(root, "layers"), 0), "end_ps"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void memory_and_storage(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    cnnvp_recorder_count(recorder, DRAM, DRAM_READ_BYTES, 0, 3000);
    cnnvp_recorder_count(recorder, DRAM, DRAM_WRITE_BYTES, 0, 1000);
    cnnvp_recorder_count(recorder, DRAM, DRAM_BURSTS, 0, 62);
    cnnvp_recorder_count(recorder, DRAM, DRAM_ROW_HITS, 0, 60);
    cnnvp_recorder_count(recorder, DRAM, DRAM_READS, 0, 8);
    cnnvp_recorder_count(recorder, DRAM, DRAM_READ_LATENCY, 0, 100);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 10, 500);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 20, 900);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 30, 100);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 30, 10000);
    /* Together 10+0, 10+5, 4+5, 4+10: the worst moment is 15. */
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1, 10);
    cnnvp_recorder_counter(recorder, BUFFER_B, BUFFER_FEATURES, 2, 5);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 3, 4);
    cnnvp_recorder_counter(recorder, BUFFER_B, BUFFER_FEATURES, 4, 10);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_BYTES, 4, 31);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_BYTES, 5, 0);
    root = json_of(recorder, 1000000);
    assert_int_equal(count(root, "memory.read_bytes"), 3000);
    assert_int_equal(count(root, "memory.write_bytes"), 1000);
    assert_int_equal(count(root, "memory.bursts"), 62);
    assert_int_equal(count(root, "memory.row_hits"), 60);
    assert_int_equal(count(root, "memory.row_conflicts"), 0);
    assert_int_equal(count(root, "memory.peak_bytes_per_s"), 900);
    assert_close(real(root, "memory.mean_read_latency_ps"), 12.5, 0);
    assert_close(real(root, "memory.mean_bytes_per_s"), 4e9, 1e-3);
    assert_int_equal(count(root, "storage.peak_feature_words"), 15);
    assert_int_equal(count(root, "storage.peak_feature_bytes"), 31);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void links_by_pair(void **state)
{
    cnnvp_recorder *recorder = make(0);
    uint32_t a = cnnvp_recorder_link(recorder, ARRAY, DRAM);
    uint32_t b = cnnvp_recorder_link(recorder, ARRAY, BUFFER_A);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_recorder_link(recorder, ARRAY, DRAM), a);
    assert_int_not_equal(a, b);
    transfer(recorder, a, 5, 100, 0);
    transfer(recorder, a, 6, 0, 20);
    transfer(recorder, b, 7, 1, 2);
    transfer(recorder, 99, 7, 1, 2); /* no such link */
    root = json_of(recorder, 1);
    assert_int_equal(json_array_size(member(root, "links")), 2);
    assert_string_equal(text(json_array_get(member(root, "links"), 0), "from"), "pe_array");
    assert_string_equal(text(json_array_get(member(root, "links"), 0), "to"), "dram");
    assert_int_equal(count(json_array_get(member(root, "links"), 0), "read_bytes"), 100);
    assert_int_equal(count(json_array_get(member(root, "links"), 0), "write_bytes"), 20);
    assert_int_equal(count(json_array_get(member(root, "links"), 0), "transactions"), 2);
    assert_int_equal(count(json_array_get(member(root, "links"), 1), "transactions"), 1);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void energy_from_the_table(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    cnnvp_recorder_count(recorder, BUFFER_A, BUFFER_WORDS, 0, 100);
    cnnvp_recorder_count(recorder, BUFFER_B, BUFFER_WORDS, 0, 100);
    cnnvp_recorder_count(recorder, DRAM, DRAM_READ_BYTES, 0, 8);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_MACS, 0, 10);
    root = json_of(recorder, 1);
    /* 10 pJ per 64 bits at 8 KiB, twice that at 32 KiB; 1950 pJ per 64 bits off chip; 1.0 + 0.1 pJ a MAC. */
    assert_close(real(root, "energy.by_unit.input_buffer.dynamic_pj"), 250, 1e-9);
    assert_close(real(root, "energy.by_unit.output_buffer.dynamic_pj"), 500, 1e-9);
    assert_close(real(root, "energy.by_unit.dram.dynamic_pj"), 1950, 1e-9);
    assert_close(real(root, "energy.by_unit.pe_array.dynamic_pj"), 11, 1e-9);
    assert_close(real(root, "energy.dynamic_pj"), 2711, 1e-9);
    assert_null(member(root, "energy.by_unit.bus"));
    /* The element says nothing of what it costs. */
    assert_null(member(root, "energy.by_unit.instruction"));
    assert_int_equal(json_array_size(member(root, "energy.unknown")), 1);
    assert_string_equal(json_string_value(json_array_get(member(root, "energy.unknown"), 0)), "instruction");
    /* 8 x 8 multipliers of 16 bits, 3.082 b2 + 10.6 b um2 each, 70 % of the area; 0.078 b2 uW each for a picosecond. */
    assert_close(real(root, "area.total_um2"), 64 * (3.082 * 256 + 10.6 * 16) / 0.7, 1e-6);
    assert_close(real(root, "energy.static_pj"), 0.001, 1e-9);
    assert_close(real(root, "energy.low_pj"),
                 500 * 0.53 + 250 * 0.53 + 1950 * 0.667 + 11 * 0.8 + 64 * 0.078 * 256 * 0.3e-6, 1e-6);
    json_decref(root);

    cnnvp_recorder_free(recorder);
}

/* Over units and over layers the same, to the last femtojoule; sizes make odd numbers of picojoules. */
static void energy_adds_up(void **state)
{
    static const char *const units[] = {"pe_array", "input_buffer", "output_buffer", "dram"};
    struct cnnvp_resolved platform = *machine();
    struct cnnvp_energy_table table;
    cnnvp_recorder *recorder;
    json_t *root;
    long long by_unit = 0, by_layer = 0;

    (void)state;
    assert_true(cnnvp_energy_builtin(1, &table));
    assert_string_equal(table.name, "eyeriss");
    table.picojoules[CNNVP_ENERGY_dram_byte] = 0.123456789;
    table.sram_scaling = 1;
    platform.energy = &table;
    recorder = make_for(&platform, 0);
    for (uint32_t tag = 0; tag < 40; ++tag) {
        cnnvp_recorder_count(recorder, BUFFER_A, BUFFER_WORDS, tag, 7 * tag + 1);
        cnnvp_recorder_count(recorder, BUFFER_B, BUFFER_WORDS, tag, 3 * tag + 2);
        cnnvp_recorder_count(recorder, DRAM, DRAM_READ_BYTES, tag, 1000 + 13 * tag);
        cnnvp_recorder_count(recorder, ARRAY, ARRAY_MACS, tag, 11 * tag);
        cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, tag, 5 * tag);
    }
    root = json_of(recorder, 39 * 20 * 5 * 1000 + 777);
    assert_true(real(root, "energy.static_pj") > 1);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        char path[60];
        (void)snprintf(path, sizeof path, "energy.by_unit.%s.dynamic_pj", units[i]);
        by_unit += llround(1000 * real(root, path));
        (void)snprintf(path, sizeof path, "energy.by_unit.%s.static_pj", units[i]);
        by_unit += llround(1000 * real(root, path));
    }
    for (size_t i = 0; i < json_array_size(member(root, "layers")); ++i)
        by_layer += llround(1000 * real(json_array_get(member(root, "layers"), i), "energy_pj"));
    assert_int_equal(json_array_size(member(root, "layers")), 39);
    assert_int_equal(by_unit, llround(1000 * real(root, "energy.total_pj")));
    assert_int_equal(by_layer + llround(1000 * real(root, "energy.no_layer_pj")), by_unit);
    assert_string_equal(text(root, "energy.table"), "eyeriss");
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void timing_only_has_no_values(void **state)
{
    json_t *root;
    cnnvp_recorder *recorder = make(1);

    (void)state;
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_SATURATIONS, 1, 3);
    root = json_of(recorder, 1);
    assert_null(member(root, "values"));
    /* A tag that only data counted for gives no line: timing-only runs count none of them. */
    assert_int_equal(json_array_size(member(root, "layers")), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void tags_that_nobody_described(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;
    json_t *list;

    (void)state;
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 65535, 5);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 300, 6);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 65536, 7); /* no such tag: counts for none */
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, UINT32_MAX, 8);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", UINT32_MAX, 0, 1, 2);
    root = json_of(recorder, 1);
    list = member(root, "layers");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text(json_array_get(list, 0), "name"), "tag_300");
    assert_int_equal(count(json_array_get(list, 0), "index"), 299);
    assert_int_equal(count(json_array_get(list, 0), "cycles"), 6);
    assert_int_equal(count(json_array_get(list, 1), "cycles"), 5);
    assert_int_equal(count(root, "total.accel_cycles"), 26);
    assert_int_equal(count(root, "total.idle_cycles"), 7 + 8);
    assert_int_equal(count(root, "units.pe_array.compute_cycles"), 26);
    assert_string_equal(text(root, "command"), "exec");
    assert_null(member(root, "network"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void indexes_out_of_range_count_nothing(void **state)
{
    cnnvp_recorder *recorder = make(0);

    (void)state;
    cnnvp_recorder_count(recorder, INSTANCES, 0, 0, 1);
    cnnvp_recorder_count(recorder, BUS, 0, 0, 1);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_STATS, 0, 1);
    cnnvp_recorder_counter(recorder, ARRAY, 0, 0, 1);
    cnnvp_recorder_counter(recorder, INSTANCES, 0, 0, 1);
    assert_int_equal(cnnvp_recorder_total(recorder, ARRAY, ARRAY_STATS), 0);
    assert_int_equal(cnnvp_recorder_total(recorder, INSTANCES, 0), 0);
    cnnvp_recorder_free(recorder);
}

/* ---- what units say of their costs ---- */

static struct cnnvp_part said_part;
static struct cnnvp_range said_range;
static uint32_t said_stat;

static void say_part(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->part(costs->context, &said_part);
}

static void say_energy(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->energy(costs->context, said_stat, &said_range);
}

static void say_power(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->power(costs->context, &said_range);
}

static void assert_costs_refused(void (*costs)(const uint64_t *, const struct cnnvp_costs *), const char *why)
{
    struct cnnvp_error error = {""};
    cnnvp_recorder *recorder = NULL;

    assert_int_equal(cnnvp_recorder_new(machine_that(costs), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
    if (strstr(error.text, why) == NULL || strstr(error.text, "extra") == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void impossible_costs_are_refused(void **state)
{
    (void)state;
    said_part = (struct cnnvp_part){.kind = (enum cnnvp_part_kind)77, .bits = 1, .count = 1, .what = "what"};
    assert_costs_refused(say_part, "part \"what\"");
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bytes = UINT64_MAX, .count = 1, .what = "huge"};
    assert_costs_refused(say_part, "part \"huge\"");
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bytes = 64, .count = 1, .what = "closed"};
    assert_costs_refused(say_part, "part \"closed\": kind 4, 0 bits and 64 bytes");
    said_range = (struct cnnvp_range){1, 2, 3};
    said_stat = 5;
    assert_costs_refused(say_energy, "no statistic");
    said_stat = 0;
    said_range = (struct cnnvp_range){-1, 2, 3};
    assert_costs_refused(say_energy, "odd is -1");
    said_range = (struct cnnvp_range){NAN, NAN, NAN};
    assert_costs_refused(say_energy, "odd is nan");
    said_range = (struct cnnvp_range){3, 2, 1};
    assert_costs_refused(say_power, "power is 3, 2, 1");
    said_range = (struct cnnvp_range){0, 0, INFINITY};
    assert_costs_refused(say_power, "power is 0, 0, inf");
}

static void assert_sram_area(uint32_t bits, double low, double typical, double high)
{
    struct cnnvp_error error = {""};
    cnnvp_recorder *recorder = NULL;

    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bits = bits, .bytes = 2048, .count = 16, .what = "banks"};
    assert_int_equal(cnnvp_recorder_new(machine_that(say_part), NULL, 0, &recorder, &error), CNNVP_DONE);
    json_t *root = json_of(recorder, 1);
    const double array = 64 * (3.082 * 256 + 10.6 * 16);
    assert_close(real(root, "area.by_unit.extra"), 16 * 0.39 * typical, 1e-6);
    assert_close(real(root, "area.low_um2"), 16 * 0.36 * low + array / 0.8, 1e-6);
    assert_close(real(root, "area.high_um2"), 16 * 0.64 * high + array / 0.6, 1e-6);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* Banks of 2 KiB: their bits, and what each bit of the port, each word and each bank takes beside them. */
static void an_sram_has_the_area_of_its_port_too(void **state)
{
    (void)state;
    assert_sram_area(64, 16384 + 124 * 64, 16384 + 164 * 64 + 4.9 * 256 + 774, 16384 + 204 * 64 + 23.6 * 256 + 2670);
    assert_sram_area(16, 16384 + 124 * 16, 16384 + 164 * 16 + 4.9 * 1024 + 774, 16384 + 204 * 16 + 23.6 * 1024 + 2670);
}

static void unknown_names_in_a_table_are_refused(void **state)
{
    static const char *const wrong[] = {"cycles", "stall_cycles", "stall_cycles.lunch", "", "Compute_cycles"};
    struct cnnvp_error error;
    cnnvp_recorder *recorder;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(cnnvp_recorder_new(machine_with(wrong[i], NULL), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
        assert_null(recorder);
        assert_non_null(strstr(error.text, "extra"));
        assert_non_null(strstr(error.text, "stall_cycles.writeout"));
        assert_non_null(strstr(error.text, "dram_write_bytes"));
    }
    assert_int_equal(cnnvp_recorder_new(machine_with(NULL, "coal"), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "'coal'"));
    assert_non_null(strstr(error.text, "int16_mac"));
    assert_int_equal(cnnvp_recorder_new(machine_with("values.clips", "int32_add"), NULL, 0, &recorder, &error),
                     CNNVP_DONE);
    cnnvp_recorder_free(recorder);
}

static void a_description_is_checked_and_copied(void **state)
{
    struct cnnvp_layer_info changed[1] = {{.macs = 3}};
    char name[] = "bad \xFF name";
    struct cnnvp_work_info mine = {.images = 1, .pes = 1, .layers = changed, .layer_count = 1};
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    mine.struct_size = 8;
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_BAD_INPUT);
    mine.struct_size = sizeof mine;
    mine.layer_count = 65536;
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_BAD_INPUT);
    mine.layer_count = 1;
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_DONE);
    changed[0].name = name; /* not UTF-8, as an ONNX file may have it */
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_DONE);
    name[0] = 'X';
    root = json_of(recorder, 1);
    assert_string_equal(text(json_array_get(member(root, "layers"), 0), "name"), "bad ? name");
    assert_int_equal(count(root, "values.saturations.bad ? name"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void move(cnnvp_recorder *recorder, enum cnnvp_op op, uint64_t address, uint64_t size, uint64_t bursts)
{
    const struct cnnvp_request request = {.op = op, .address = address, .size = size, .count = 1, .tag = 1};
    cnnvp_recorder_moved(recorder, &request, bursts * 64);
}

static void tensors_get_what_was_moved_for_them(void **state)
{
    struct cnnvp_tensor_info tensors[] = {{"W", "weights", 0x1000, 0x100, 256, 0}, {"map", NULL, 0x1100, 64, 32, 16}};
    struct cnnvp_work_info mine = {
        .struct_size = sizeof mine, .images = 1, .pes = 1, .tensors = tensors, .tensor_count = 2};
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    tensors[1].address = 0x10ff; /* reaches into it */
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_BAD_INPUT);
    tensors[1].address = 0x1100;
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_DONE);
    tensors[0].name = "changed";
    move(recorder, CNNVP_READ, 0x1000, 5, 1);
    move(recorder, CNNVP_READ, 0x10ff, 7, 2);
    move(recorder, CNNVP_WRITE, 0x1100, 11, 1);
    move(recorder, CNNVP_READ, 0x113f, 13, 1);
    move(recorder, CNNVP_READ, 0xfff, 100, 3);
    move(recorder, CNNVP_WRITE, 0x1140, 100, 3);
    root = json_of(recorder, 1);
    assert_string_equal(text(json_array_get(member(root, "tensors"), 0), "name"), "W");
    assert_int_equal(count(json_array_get(member(root, "tensors"), 0), "read_bytes"), 12);
    assert_int_equal(count(json_array_get(member(root, "tensors"), 0), "least_read_bytes"), 256);
    assert_string_equal(text(json_array_get(member(root, "tensors"), 1), "kind"), "feature");
    assert_int_equal(count(json_array_get(member(root, "tensors"), 0), "burst_bytes"), 3 * 64);
    assert_int_equal(count(json_array_get(member(root, "tensors"), 1), "burst_bytes"), 2 * 64);
    assert_int_equal(count(json_array_get(member(root, "tensors"), 1), "read_bytes"), 13);
    assert_int_equal(count(json_array_get(member(root, "tensors"), 1), "write_bytes"), 11);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* Strided rows, whole bursts, more kinds than are listed, and more than have a row of their own. */
static void accesses_that_fetch_in_vain_are_listed(void **state)
{
    struct cnnvp_tensor_info tensor = {"W", "weights", 0x10000, 0x10000, 0, 0};
    struct cnnvp_work_info mine = {
        .struct_size = sizeof mine, .images = 1, .pes = 1, .tensors = &tensor, .tensor_count = 1};
    struct cnnvp_request rows = {.op = CNNVP_READ, .address = 0x10040, .size = 16, .count = 10, .stride = 72, .tag = 3};
    cnnvp_recorder *recorder = make(0);
    uint64_t bytes = 0, burst_bytes = 0;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &mine), CNNVP_DONE);
    cnnvp_recorder_moved(recorder, &rows, 640 + 64);
    cnnvp_recorder_moved(recorder, &rows, 640);
    move(recorder, CNNVP_READ, 0x10000, 128, 2); /* nothing in vain */
    move(recorder, CNNVP_WRITE, 0x40002, 30, 1);
    json_t *root = json_of(recorder, 1);
    json_t *list = member(root, "memory.overfetch"), *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text(first, "tensor"), "W");
    assert_string_equal(text(first, "access"), "read");
    assert_int_equal(count(first, "row_bytes"), 16);
    assert_int_equal(count(first, "alignment"), 8);
    assert_int_equal(count(first, "rows"), 20);
    assert_int_equal(count(first, "bytes"), 320);
    assert_int_equal(count(first, "burst_bytes"), 1344);
    assert_string_equal(text(json_array_get(list, 1), "tensor"), "");
    assert_string_equal(text(json_array_get(list, 1), "access"), "write");
    assert_int_equal(count(json_array_get(list, 1), "alignment"), 2);
    json_decref(root);
    for (uint64_t size = 1; size < 10000; ++size)
        move(recorder, CNNVP_READ, 0x100000, size, size / 64 + 2);
    root = json_of(recorder, 1);
    list = member(root, "memory.overfetch");
    assert_int_equal(json_array_size(list), 33);
    for (size_t i = 0; i < 33; ++i) {
        bytes += count(json_array_get(list, i), "bytes");
        burst_bytes += count(json_array_get(list, i), "burst_bytes");
    }
    uint64_t moved = 1344 + 64, asked = 320 + 30;
    for (uint64_t size = 1; size < 10000; ++size) {
        moved += (size / 64 + 2) * 64;
        asked += size;
    }
    assert_int_equal(bytes, asked);
    assert_int_equal(burst_bytes, moved);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void a_partial_run_says_so(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    cnnvp_recorder_set_partial(recorder, 1);
    root = json_of(recorder, 1);
    assert_true(json_is_true(member(root, "partial")));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* A program that says a layer for each of its images. */
static void macs_of_a_layer_said_again_add_up(void **state)
{
    cnnvp_recorder *recorder = make(0);
    json_t *root;

    (void)state;
    for (uint64_t macs = 1000; macs != 0; macs /= 10)
        assert_int_equal(cnnvp_recorder_name_layer(recorder, 2, macs == 1 ? "last" : "first", "conv", "", macs), 0);
    assert_int_equal(cnnvp_recorder_name_layer(recorder, 2, "not a name", "conv", "", 5), -1);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 2, 625);
    root = json_of(recorder, 3000);
    assert_string_equal(text(json_array_get(member(root, "layers"), 0), "name"), "last");
    assert_int_equal(count(json_array_get(member(root, "layers"), 0), "macs"), 1111);
    assert_int_equal(count(root, "total.macs"), 1111);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* The text itself, for what a JSON reader hides: same text again, form of real numbers. */
static void the_text_is_reproducible(void **state)
{
    cnnvp_recorder *recorder = make(0);
    char *first;
    char *second;

    (void)state;
    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    cnnvp_recorder_count(recorder, ARRAY, ARRAY_COMPUTE, 1, 625);
    first = text_of(recorder, 3000);
    second = text_of(recorder, 3000);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "\"utilization\": 0.1,"));
    assert_non_null(strstr(first, "\"images_per_s\": 1333333333.33333\n"));
    free(first);
    free(second);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_their_order),
        cmocka_unit_test(nothing_counted_gives_zeros),
        cmocka_unit_test(sums_are_those_of_what_was_fed),
        cmocka_unit_test(layers_sum_over_units),
        cmocka_unit_test(layer_times_are_first_and_last_of_its_spans),
        cmocka_unit_test(memory_and_storage),
        cmocka_unit_test(links_by_pair),
        cmocka_unit_test(energy_from_the_table),
        cmocka_unit_test(what_binds),
        cmocka_unit_test(energy_adds_up),
        cmocka_unit_test(timing_only_has_no_values),
        cmocka_unit_test(tags_that_nobody_described),
        cmocka_unit_test(indexes_out_of_range_count_nothing),
        cmocka_unit_test(unknown_names_in_a_table_are_refused),
        cmocka_unit_test(impossible_costs_are_refused),
        cmocka_unit_test(an_sram_has_the_area_of_its_port_too),
        cmocka_unit_test(a_description_is_checked_and_copied),
        cmocka_unit_test(tensors_get_what_was_moved_for_them),
        cmocka_unit_test(accesses_that_fetch_in_vain_are_listed),
        cmocka_unit_test(a_partial_run_says_so),
        cmocka_unit_test(macs_of_a_layer_said_again_add_up),
        cmocka_unit_test(the_text_is_reproducible),
    };

    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
