/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the C API that neither the command nor another test makes. */
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "cnnvp_explore.h"
#include "cnnvp_memory.h"

static struct cnnvp_error error;

struct design {
    cnnvp_config *config;
    cnnvp_network *network;
    cnnvp_platform *platform;
};

static char lines[4096];

static void take_line(void *context, int level, const char *line)
{
    (void)snprintf(context, sizeof lines, "%d %s", level, line);
}

static struct design make(const char *setting)
{
    struct design made = {NULL, NULL, NULL};
    const struct cnnvp_network_options compile = {.struct_size = sizeof compile, .images = 2};
    const struct cnnvp_platform_options how = {.struct_size = sizeof how, .log = take_line, .log_context = lines};
    lines[0] = '\0';
    assert_int_equal(cnnvp_config_new("nfu", &made.config, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(made.config, setting, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(made.config, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_new("lenet5", made.config, &compile, &made.network, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_new(made.config, &how, &made.platform, &error), CNNVP_DONE);
    return made;
}

static void clear(struct design *design)
{
    cnnvp_platform_free(design->platform);
    cnnvp_network_free(design->network);
    cnnvp_config_free(design->config);
}

static struct cnnvp_run_result run(struct design *design, uint64_t until)
{
    struct cnnvp_run_result end;
    cnnvp_platform_set_max_time(design->platform, until);
    const cnnvp_result result = cnnvp_platform_run(design->platform, &end);
    assert_int_equal(result == CNNVP_DONE, end.end == CNNVP_END_EXIT && end.exit_code == 0);
    return end;
}

static void load(struct design *design)
{
    assert_int_equal(cnnvp_network_load(design->network, design->platform, &error), CNNVP_DONE);
}

static void same_output(struct design *design, const struct cnnvp_array *expected)
{
    struct cnnvp_array output;
    assert_int_equal(cnnvp_network_output(design->network, design->platform, 0, &output, &error), CNNVP_DONE);
    assert_memory_equal(output.data, expected->data, 2 * 10 * sizeof(float));
    cnnvp_array_clear(&output);
}

/* In mid-work, after the end, and after a run that had nothing to do: what is loaded next runs as by itself. */
static void reset(void **state)
{
    struct design design = make("pe_array.rows=8");
    struct cnnvp_array expected;
    (void)state;
    load(&design);
    const struct cnnvp_run_result alone = run(&design, 0);
    assert_int_equal(alone.end, CNNVP_END_EXIT);
    assert_int_equal(cnnvp_network_output(design.network, design.platform, 0, &expected, &error), CNNVP_DONE);
    clear(&design);

    design = make("pe_array.rows=8");
    assert_int_equal(run(&design, 0).end, CNNVP_END_NO_PROGRESS); /* nothing is loaded */
    assert_int_equal(cnnvp_network_load(design.network, design.platform, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "cnnvp_platform_reset"));
    assert_int_equal(cnnvp_network_load(design.network, design.platform, NULL), CNNVP_FAILED);
    char *stats = NULL;
    assert_int_equal(cnnvp_platform_stats(design.platform, &stats), CNNVP_DONE);
    assert_null(strstr(stats, " program ")); /* the refused one is not that of the statistics */
    free(stats);
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    assert_int_equal(run(&design, alone.time_ps / 2).end, CNNVP_END_MAX_TIME);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
        load(&design);
        assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
        same_output(&design, &expected);
    }
    cnnvp_array_clear(&expected);
    clear(&design);
}

static int called_back;

/* Calls what only works between runs. */
static void call_back(void *context, size_t layer, uint64_t time_ps)
{
    struct design *design = context;
    struct cnnvp_run_result end;
    uint32_t value;
    (void)layer;
    (void)time_ps;
    called_back = 1;
    assert_int_equal(cnnvp_platform_run(design->platform, &end), CNNVP_FAILED);
    assert_string_equal(end.reason, "the platform is running, and this is called from one of its callbacks");
    assert_int_equal(cnnvp_platform_reset(design->platform), CNNVP_FAILED);
    assert_int_equal(cnnvp_platform_read_register(design->platform, 0x10000000, &value), CNNVP_FAILED);
    assert_int_equal(cnnvp_platform_write_register(design->platform, 0x10000000, 1), CNNVP_FAILED);
    assert_int_equal(cnnvp_platform_set_irq(design->platform, "cpu", 1), CNNVP_FAILED);
    assert_int_equal(cnnvp_network_load(design->network, design->platform, &error), CNNVP_FAILED);
    cnnvp_platform_free(design->platform);
}

/* A callback that does what it may not do changes nothing. */
static void callbacks(void **state)
{
    struct design design = make("pe_array.rows=8");
    const struct cnnvp_platform_options how = {.struct_size = sizeof how, .layer = call_back, .layer_context = &design};
    struct cnnvp_array expected;
    (void)state;
    load(&design);
    const struct cnnvp_run_result alone = run(&design, 0);
    assert_int_equal(cnnvp_network_output(design.network, design.platform, 0, &expected, &error), CNNVP_DONE);
    cnnvp_platform_free(design.platform);
    assert_int_equal(cnnvp_platform_new(design.config, &how, &design.platform, &error), CNNVP_DONE);
    load(&design);
    const struct cnnvp_run_result there = run(&design, 0);
    assert_true(called_back);
    assert_int_equal(there.end, CNNVP_END_EXIT);
    assert_int_equal(there.time_ps, alone.time_ps);
    same_output(&design, &expected);
    cnnvp_array_clear(&expected);
    clear(&design);
}

static double statistic(struct design *design, const char *name)
{
    char *stats = NULL;
    double value = 0;
    assert_int_equal(cnnvp_platform_stats(design->platform, &stats), CNNVP_DONE);
    assert_int_equal(cnnvp_stats_value(stats, name, &value, &error), CNNVP_DONE);
    free(stats);
    return value;
}

static double critical(struct design *design, const char *instance)
{
    char name[64];
    (void)snprintf(name, sizeof name, "summary.critical_path.%s", instance);
    return statistic(design, name);
}

/* Statistics continue over a reset: both runs' images, and the least that both need. */
static void two_loads(void **state)
{
    struct design design = make("pe_array.rows=8");
    (void)state;
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    const double least = statistic(&design, "summary.least_dram_bytes");
    const double layer = statistic(&design, "layers.C1.least_dram_bytes");
    const double moved = statistic(&design, "tensors.input.read_bytes");
    assert_true(least > 0 && layer > 0 && moved > 0);
    assert_int_equal(statistic(&design, "total.images"), 2);
    /* The second load's run waits for what the first one's has waited for, but for refreshes at other times. */
    static const char *const waits[] = {"cpu", "dram", "pe_array"};
    double path[3];
    for (size_t i = 0; i < 3; ++i)
        path[i] = critical(&design, waits[i]);
    const double time = statistic(&design, "total.time_ps");
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    for (size_t i = 0; i < 3; ++i)
        assert_true(fabs(critical(&design, waits[i]) - 2 * path[i]) < 0.02 * time);
    assert_int_equal(statistic(&design, "total.images"), 4);
    assert_int_equal(statistic(&design, "summary.least_dram_bytes"), 2 * least);
    assert_int_equal(statistic(&design, "layers.C1.least_dram_bytes"), 2 * layer);
    assert_int_equal(statistic(&design, "tensors.input.read_bytes"), 2 * moved);
    clear(&design);
}

/* The memory trace of a run that ends while reads are under way, after resets in mid-work and at rest, replays to the
 * run's own counts. */
static void trace_of_resets(void **state)
{
    static const char *const same[] = {
        "row_hits", "row_misses",     "row_conflicts",   "refreshes",  "activates", "turnarounds",
        "bursts",   "bus_read_bytes", "bus_write_bytes", "standby_ps", "precharges"};
    struct design design = make("pe_array.rows=8");
    const struct cnnvp_platform_options how = {.struct_size = sizeof how, .memory_trace = "resets.txt"};
    const struct cnnvp_memory_options options = {.struct_size = sizeof options, .outstanding = 1};
    struct cnnvp_memory_result result;
    double counted[sizeof same / sizeof same[0]], value;
    char *stats = NULL, name[64];
    (void)state;
    cnnvp_platform_free(design.platform);
    assert_int_equal(cnnvp_platform_new(design.config, &how, &design.platform, &error), CNNVP_DONE);
    load(&design);
    assert_int_equal(run(&design, 20000000).end, CNNVP_END_MAX_TIME);
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    const uint64_t end = (uint64_t)statistic(&design, "total.time_ps") + 20000000;
    assert_int_equal(run(&design, end).end, CNNVP_END_MAX_TIME);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i) {
        (void)snprintf(name, sizeof name, "units.dram.%s", same[i]);
        counted[i] = statistic(&design, name);
    }
    assert_int_equal(cnnvp_platform_close_trace(design.platform, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_memory_replay(design.config, "resets.txt", &options, &result, &stats, &error), CNNVP_DONE);
    assert_int_equal(result.time_ps, end);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i) {
        (void)snprintf(name, sizeof name, "units.dram.%s", same[i]);
        assert_int_equal(cnnvp_stats_value(stats, name, &value, &error), CNNVP_DONE);
        assert_int_equal(value, counted[i]);
    }
    free(stats);
    clear(&design);
}

/* Of another network after a reset the layers are its own; the images, energy and time are of both. */
static void other_network(void **state)
{
    static const struct cnnvp_network_options compile = {.struct_size = sizeof compile, .images = 2};
    static const char *const members[] = {"layers.conv1.macs", "layers.conv1.cycles", "layers.conv1.critical_path.cpu"};
    struct design design = make("pe_array.rows=8"), alone = make("pe_array.rows=8");
    (void)state;
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    const double energy = statistic(&design, "energy.total_pj");
    cnnvp_network_free(design.network);
    cnnvp_network_free(alone.network);
    assert_int_equal(cnnvp_network_new("mixed", design.config, &compile, &design.network, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_new("mixed", alone.config, &compile, &alone.network, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    load(&alone);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    assert_int_equal(run(&alone, 0).end, CNNVP_END_EXIT);
    for (size_t i = 0; i < 3; ++i) {
        const double own = statistic(&alone, members[i]);
        assert_true(own > 0 && fabs(statistic(&design, members[i]) - own) < 0.02 * own);
    }
    assert_int_equal(statistic(&design, "total.images"), 4);
    assert_true(statistic(&design, "summary.energy_per_image_pj") > energy / 4);
    assert_true(statistic(&design, "summary.energy_per_image_pj") < energy / 2);
    assert_int_equal(statistic(&design, "summary.least_dram_bytes"), 0);
    clear(&design);
    clear(&alone);
}

static char *text_of(const char *file, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 20, stream);
    assert_in_range(*size, 1, (1 << 20) - 1);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* A signal of a VCD file: its values over time, as one number. */
struct signal {
    uint64_t history;
    char value[512], next[512]; /* up to now, and from `at` on */
    uint64_t at;
};

static void change_signal(struct signal *signal, uint64_t at, const char *value)
{
    if (at != signal->at && strcmp(signal->next, signal->value) != 0) {
        (void)snprintf(signal->value, sizeof signal->value, "%s", signal->next);
        signal->history = (signal->history ^ signal->at) * UINT64_C(0x100000001b3);
        for (const char *c = signal->value; *c != '\0'; ++c)
            signal->history = (signal->history ^ (uint64_t)*c) * UINT64_C(0x100000001b3);
    }
    signal->at = at;
    (void)snprintf(signal->next, sizeof signal->next, "%.500s", value);
}

static struct signal *read_signals(const char *file, size_t count)
{
    char line[600];
    uint64_t at = 0;
    FILE *stream = fopen(file, "r");
    struct signal *signals = calloc(count, sizeof *signals);
    assert_true(stream != NULL && signals != NULL);
    while (fgets(line, sizeof line, stream) != NULL) {
        char *id = line[0] == 'b' ? strchr(line, ' ') : NULL;
        if (line[0] == '#')
            at = strtoull(line + 1, NULL, 10);
        if (id == NULL)
            continue;
        *id++ = '\0';
        const size_t number = (size_t)id[0] + (id[1] != '\n' ? 128u * (size_t)id[1] : 0);
        assert_in_range(number, 0, count - 1);
        change_signal(&signals[number], at, line + 1 + strspn(line + 1, "0"));
    }
    assert_int_equal(fclose(stream), 0);
    for (size_t i = 0; i < count; ++i)
        change_signal(&signals[i], UINT64_MAX, "");
    return signals;
}

/* Statistics that are read in mid-run change no trace: neither spans of the core nor counters over time. */
static void statistics_in_mid_run(void **state)
{
    static const char *const presets[] = {"nfu", "systolic"};
    enum { SIGNALS = 1 << 14 };
    (void)state;
    for (size_t p = 0; p < 2; ++p) {
        struct signal *signals[2];
        for (int reads = 0; reads < 2; ++reads) {
            const char *file = reads ? "read.vcd" : "alone.vcd";
            const struct cnnvp_platform_options how = {.struct_size = sizeof how, .trace = file, .timing_only = 1};
            const struct cnnvp_network_options compile = {.struct_size = sizeof compile, .images = 2, .timing_only = 1};
            struct design design = {NULL, NULL, NULL};
            assert_int_equal(cnnvp_config_new(presets[p], &design.config, &error), CNNVP_DONE);
            assert_int_equal(cnnvp_config_resolve(design.config, &error), CNNVP_DONE);
            assert_int_equal(cnnvp_network_new("lenet5", design.config, &compile, &design.network, &error), CNNVP_DONE);
            assert_int_equal(cnnvp_platform_new(design.config, &how, &design.platform, &error), CNNVP_DONE);
            load(&design);
            for (uint64_t at = 1000000; reads && run(&design, at).end == CNNVP_END_MAX_TIME; at += 1700000)
                assert_true(statistic(&design, "total.time_ps") > 0);
            if (!reads)
                assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
            clear(&design);
            signals[reads] = read_signals(file, SIGNALS);
        }
        size_t changed = 0;
        for (size_t i = 0; i < SIGNALS; ++i) {
            changed += signals[0][i].history != 0;
            assert_true(signals[0][i].history == signals[1][i].history);
        }
        assert_true(changed > 20);
        free(signals[0]);
        free(signals[1]);
    }
}

/* Another program after a reset, which nothing describes, has no layers; what was done before is work of none. */
static void other_program(void **state)
{
    struct design design = make("pe_array.rows=8");
    size_t size;
    double value;
    char *stats = NULL;
    (void)state;
    char *guest = text_of(GUEST, &size);
    FILE *copy = fopen("other.elf", "wb");
    assert_non_null(copy);
    assert_int_equal(fwrite(guest, 1, size + 1, copy), size + 1); /* a byte more: another file, the same program */
    assert_int_equal(fclose(copy), 0);
    free(guest);
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    assert_true(statistic(&design, "layers.C1.cycles") > 0);
    const double macs = statistic(&design, "total.macs"), cycles = statistic(&design, "total.accel_cycles");
    for (int i = 0; i < 2; ++i) { /* that of before again, and another one */
        assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
        assert_int_equal(cnnvp_platform_load_elf(design.platform, i ? "other.elf" : GUEST, 0, NULL, &error),
                         CNNVP_DONE);
        assert_int_equal(run(&design, (uint64_t)statistic(&design, "total.time_ps") + 1000000).end, CNNVP_END_MAX_TIME);
        assert_int_equal(cnnvp_platform_stats(design.platform, &stats), CNNVP_DONE);
        assert_int_equal(cnnvp_stats_value(stats, "layers.C1.cycles", &value, &error),
                         i ? CNNVP_BAD_INPUT : CNNVP_DONE);
        free(stats);
    }
    assert_true(statistic(&design, "total.macs") >= macs && statistic(&design, "total.accel_cycles") >= cycles);
    assert_int_equal(statistic(&design, "total.images"), 2);
    clear(&design);
}

/* A trace is complete, whether the statistics have been asked for or not. */
static void trace_alone(void **state)
{
    static const char *const files[] = {"test_calls_0.vcd", "test_calls_1.vcd"};
    struct design design = make("pe_array.rows=8");
    char *texts[2];
    size_t sizes[2];
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        const struct cnnvp_platform_options how = {.struct_size = sizeof how, .trace = files[i]};
        char *stats = NULL;
        cnnvp_platform_free(design.platform);
        assert_int_equal(cnnvp_platform_new(design.config, &how, &design.platform, &error), CNNVP_DONE);
        load(&design);
        assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
        if (i == 1)
            assert_int_equal(cnnvp_platform_stats(design.platform, &stats), CNNVP_DONE);
        free(stats);
        assert_int_equal(cnnvp_platform_close_trace(design.platform, &error), CNNVP_DONE);
        texts[i] = text_of(files[i], &sizes[i]);
        assert_int_equal(remove(files[i]), 0);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(texts[0], texts[1], sizes[0]);
    free(texts[0]);
    free(texts[1]);
    clear(&design);
}

/* What is held may end where addresses do, and not beyond. */
static void held_ranges(void **state)
{
    struct design design = make("pe_array.rows=8");
    (void)state;
    assert_int_equal(cnnvp_platform_hold(design.platform, 0xfffff000, 0x1000), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_hold(design.platform, 0xfffff000, 0x1001), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_hold(design.platform, 0, UINT64_C(0x100000000)), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_hold_step(design.platform, 0, 0, UINT64_C(0x100000000), 0), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_hold_step(design.platform, 0, 0, UINT64_MAX, 16), CNNVP_BAD_INPUT);
    clear(&design);
}

static void statistics_by_name(void **state)
{
    struct design design = make("cpu.tcm_size=32KiB");
    char *stats = NULL;
    double cycles, value;
    struct cnnvp_layer_result layer;
    (void)state;
    assert_int_equal(cnnvp_platform_layer(design.platform, 0, &layer), CNNVP_BAD_INPUT); /* nothing is loaded */
    load(&design);
    for (size_t i = 0; i < 7; ++i) { /* LeNet-5's layers, which have not begun */
        assert_int_equal(cnnvp_platform_layer(design.platform, i, &layer), CNNVP_DONE);
        assert_int_equal(layer.cycles, 0);
    }
    assert_int_equal(cnnvp_platform_layer(design.platform, 7, &layer), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_layer(design.platform, SIZE_MAX, &layer), CNNVP_DONE);
    assert_non_null(strstr(lines, "1 warning: 0 ps: cpu: the program needs ")); /* the log is the caller's */
    assert_int_equal(run(&design, 0).end, CNNVP_END_EXIT);
    assert_int_equal(cnnvp_platform_layer(design.platform, 0, &layer), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_stats(design.platform, &stats), CNNVP_DONE);
    assert_int_equal(cnnvp_stats_value(stats, "layers.C1.cycles", &cycles, &error), CNNVP_DONE);
    assert_true(cycles > 0 && (uint64_t)cycles == layer.cycles);
    assert_int_equal(cnnvp_stats_value(stats, "units.cpu.cycles", &value, &error), CNNVP_DONE);
    assert_true(value > cycles);
    assert_int_equal(cnnvp_stats_value(stats, "layers.C1", &value, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "the statistics have no number \"layers.C1\"");
    assert_int_equal(cnnvp_stats_value("no text", "total.macs", &value, NULL), CNNVP_BAD_INPUT);
    free(stats);
    clear(&design);
}

/* A layer's first work stops the run there, which goes on as if nothing had been; each layer begins once. */
static uint64_t begins[16];
static size_t begun;

static void begin_layer(void *context, size_t layer, uint64_t time_ps)
{
    assert_int_equal(layer, begun);
    begins[begun++] = time_ps;
    if (layer == *(const size_t *)context)
        cnnvp_platform_interrupt();
}

#define REFRESH_PS 350000u

static void layers_begin(void **state)
{
    size_t third = 2;
    struct design design = make("pe_array.rows=8");
    struct cnnvp_array expected, tensor;
    (void)state;
    load(&design);
    const struct cnnvp_run_result alone = run(&design, 0);
    assert_int_equal(cnnvp_network_output(design.network, design.platform, 0, &expected, &error), CNNVP_DONE);
    cnnvp_platform_free(design.platform);
    const struct cnnvp_platform_options how = {
        .struct_size = sizeof how,
        .log = take_line,
        .log_context = lines,
        .layer = begin_layer,
        .layer_context = &third};
    assert_int_equal(cnnvp_platform_new(design.config, &how, &design.platform, &error), CNNVP_DONE);
    load(&design);
    const struct cnnvp_run_result there = run(&design, 0);
    assert_int_equal(there.end, CNNVP_END_INTERRUPTED);
    assert_int_equal(begun, 3);
    assert_true(begins[2] > begins[1] && there.time_ps >= begins[2] && there.time_ps < alone.time_ps / 2);
    assert_int_equal(run(&design, 0).time_ps, alone.time_ps);
    assert_int_equal(begun, 7);
    same_output(&design, &expected);

    begun = 0; /* as before, if the platform is reset */
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    load(&design);
    assert_int_equal(run(&design, 0).end, CNNVP_END_INTERRUPTED);
    assert_int_equal(begun, 3);
    const uint64_t again = run(&design, 0).time_ps - alone.time_ps;
    /* the memory's clock goes on through a reset, so a refresh may fall elsewhere */
    assert_in_range(again, alone.time_ps - REFRESH_PS, alone.time_ps + REFRESH_PS);
    assert_int_equal(begun, 7);
    same_output(&design, &expected);

    /* the last image's scores are those of the output */
    assert_int_equal(cnnvp_network_tensor(design.network, design.platform, cnnvp_network_output_name(design.network, 0),
                                          &tensor, &error),
                     CNNVP_DONE);
    assert_int_equal(tensor.rank, 2);
    assert_memory_equal(tensor.data, (const float *)expected.data + 10, 10 * sizeof(float));
    cnnvp_array_clear(&tensor);
    assert_int_equal(cnnvp_network_tensor(design.network, design.platform, "no", &tensor, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "lenet5.onnx: no layer has a result \"no\" in memory"));
    cnnvp_array_clear(&expected);
    clear(&design);
}

static cnnvp_result result_in_thread;

static void *load_in_thread(void *context)
{
    const struct design *design = context;
    error.text[0] = '\0';
    result_in_thread = cnnvp_network_load(design->network, design->platform, &error);
    return NULL;
}

/* A platform that would calculate nothing, and one that belongs to another thread, take no network. */
static void refused_loads(void **state)
{
    struct design design = make("pe_array.rows=8");
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, load_in_thread, &design), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result_in_thread, CNNVP_FAILED);
    assert_non_null(strstr(error.text, "another thread has a platform"));
    load(&design);

    cnnvp_platform *idle = NULL;
    const struct cnnvp_platform_options how = {.struct_size = sizeof how, .timing_only = 1};
    assert_int_equal(cnnvp_platform_new(design.config, &how, &idle, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_load(design.network, idle, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "timing_only"));
    const struct cnnvp_network_options compile = {.struct_size = sizeof compile, .images = 2, .timing_only = 1};
    cnnvp_network *light = NULL;
    assert_int_equal(cnnvp_network_new("lenet5", design.config, &compile, &light, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_load(light, idle, &error), CNNVP_DONE);
    cnnvp_network_free(light);
    cnnvp_platform_free(idle);
    /* A network with an address of its own would run, and read other weights. */
    struct cnnvp_network_options moved = {.struct_size = sizeof moved, .images = 2, .base = 0x90000000};
    assert_int_equal(cnnvp_network_new("lenet5", design.config, &moved, &light, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_reset(design.platform), CNNVP_DONE);
    assert_int_equal(cnnvp_network_load(light, design.platform, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "address of its own"));
    cnnvp_network_free(light);
    moved.base = UINT64_C(0x100000000);
    assert_int_equal(cnnvp_network_new("lenet5", design.config, &moved, &light, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "--base: 0x100000000 is beyond 32-bit addresses");
    clear(&design);
}

/* Values that are no numbers are not exact. */
static void comparison(void **state)
{
    float values[2] = {1, 2};
    float exact[2] = {1, 2};
    const struct cnnvp_array output = {.rank = 1, .shape = {2}, .data = values};
    const struct cnnvp_array reference = {.rank = 1, .shape = {2}, .data = exact};
    struct cnnvp_difference difference;
    (void)state;
    assert_int_equal(cnnvp_compare(&output, &reference, &difference, &error), CNNVP_DONE);
    assert_true(isinf(cnnvp_sqnr(&difference)));
    exact[1] = NAN;
    assert_int_equal(cnnvp_compare(&output, &reference, &difference, &error), CNNVP_DONE);
    assert_true(isnan(cnnvp_sqnr(&difference)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reset),           cmocka_unit_test(two_loads),     cmocka_unit_test(other_network),
        cmocka_unit_test(trace_alone),     cmocka_unit_test(held_ranges),   cmocka_unit_test(statistics_by_name),
        cmocka_unit_test(layers_begin),    cmocka_unit_test(callbacks),     cmocka_unit_test(refused_loads),
        cmocka_unit_test(comparison),      cmocka_unit_test(other_program), cmocka_unit_test(statistics_in_mid_run),
        cmocka_unit_test(trace_of_resets),
    };
    assert_string_equal(cnnvp_version(), CNNVP_VERSION);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
