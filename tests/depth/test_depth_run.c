/* SPDX-License-Identifier: Apache-2.0 */
/* test_depth_run [all]: `cnnvp run --schedule depth-first`: storage and traffic of S004's worked case and in general,
 * invariants, reports, errors. With `all` each size of weight buffers goes with each platform, otherwise every second.
 */
#include <unistd.h>

#include "test.h"

#include "cli.h"
#include "steps.h"
#include "random.h"

static int all_sizes;

static struct cli_run run_ok(const char *file, const char *options)
{
    struct cli_run run = cli_run("run %s --stats @stats -q %s", file, options);
    if (run.status != 0)
        fail_msg("%s: status %d: %s", options, run.status, run.err);
    assert_non_null(run.stats);
    return run;
}

static long long peak_of(const char *file, const char *options)
{
    struct cli_run run = run_ok(file, options);
    const long long words = cli_number(run.stats, "storage.peak_feature_words");
    assert_int_equal(cli_number(run.stats, "storage.peak_feature_bytes"), 2 * words);
    cli_free(&run);
    return words;
}

static void worked_case(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        static const char *const platforms[] = {"nfu", "window"};
        const struct chain chain = chain_worked(channels);
        char file[64];
        chain_write(&chain, file);
        for (int p = 0; p < 2; ++p) {
            char options[96];
            (void)snprintf(options, sizeof options, "-p %s --schedule depth-first --block 4", platforms[p]);
            struct cli_run run = run_ok(file, options);
            assert_int_equal(cli_number(run.stats, "storage.peak_feature_words"), 56 * channels);
            /* The input once, the weights once, the output; nothing of what lies between. */
            const long long weights = cli_number(run.stats, "schedule.chains.0.weight_bytes");
            assert_int_equal(weights, 2 * 2 * (9 * channels * channels + channels));
            assert_int_equal(cli_number(run.stats, "schedule.chains.0.resident_weight_bytes"), weights);
            assert_int_equal(cli_number(run.stats, "memory.read_bytes"), 512 * channels + weights);
            assert_int_equal(cli_number(run.stats, "memory.write_bytes"), 32 * channels);
            assert_int_equal(cli_number(run.stats, "schedule.block"), 4);
            assert_int_equal(cli_number(run.stats, "schedule.chains.0.layers"), 4);
            assert_int_equal(cli_number(run.stats, "schedule.chains.0.blocks"), 16);
            assert_true(cli_real(run.stats, "values.block_padding.max_difference") > 0.01);
            cli_free(&run);
            (void)snprintf(options, sizeof options, "-p %s", platforms[p]);
            assert_int_equal(peak_of(file, options), 512 * channels);
            struct cli_run layer = run_ok(file, options);
            assert_int_equal(cli_number(layer.stats, "memory.write_bytes"), 2 * (256 + 64 + 64 + 16) * channels);
            cli_free(&layer);
        }
        (void)unlink(file);
    }
}

/* 2 B + 3/4 B P words a channel where that holds: a convolution before the first pool, P pools whose input has four
 * blocks or more, equal channels, square maps. A pool first: one less. */
static void closed_form(void **state)
{
    static const char *const orders[] = {"cp", "cpcp", "ccpcpcp", "cpp", "cppp", "c", "p", "pcp", "pcpcp"};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; ++i) {
        const uint32_t block = i % 2 == 0 ? 4 : 2;
        struct chain chain = {.channels = 2, .height = 32, .width = 32, .seed = i + 1};
        uint32_t side = 32;
        uint32_t pools = 0;
        chain.layer_count = (uint32_t)strlen(orders[i]);
        for (uint32_t k = 0; k < chain.layer_count; ++k) {
            const int pool = orders[i][k] == 'p';
            chain.layers[k] = (struct chain_layer){
                .pool = pool, .channels = 2, .kx = 3, .ky = 3, .dilation = 1, .relu = (int)(k % 2)};
            pools += pool && side >= 2 * block;
            side /= pool ? 2 : 1;
        }
        const uint32_t area = block * block;
        const uint32_t gathering = orders[i][0] == 'p' ? pools - 1 : pools;
        char file[64];
        char options[64];
        chain_write(&chain, file);
        (void)snprintf(options, sizeof options, "--timing-only --schedule depth-first --block %u", block);
        const long long words = 2 * area + 3 * area / 4 * gathering;
        const long long peak = peak_of(file, options);
        assert_int_equal(peak, 2 * words);
        struct steps steps = steps_of(&chain, block);
        assert_int_equal(peak, steps.peak_words);
        free(steps.all);
        (void)unlink(file);
    }
}

/* The maximum over all steps of input, output and what has been gathered deeper, whatever the chain. */
static void peak_is_that_of_the_recursion(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 25; ++seed) {
        uint64_t random = seed * UINT64_C(0xda942042e4dd58b5);
        const uint32_t block = 1u << below(&random, 4);
        struct chain chain = chain_random(random, block);
        chain.head = 0;
        chain.outputs = 0;
        char file[64];
        char options[80];
        chain_write(&chain, file);
        struct steps steps = steps_of(&chain, block);
        (void)snprintf(options, sizeof options, "-p %s --timing-only --schedule depth-first --block %u",
                       seed % 2 ? "nfu" : "window", block);
        if (peak_of(file, options) != (long long)steps.peak_words)
            fail_msg("seed %u, block %u: %llu words expected", (unsigned)seed, block,
                     (unsigned long long)steps.peak_words);
        free(steps.all);
        (void)unlink(file);
    }
}

static struct cli_run run_with_output(const char *file, const char *options, const char *more)
{
    struct cli_run run = cli_run("run %s --stats @stats -o @output -q %s %s", file, options, more);
    if (run.status != 0)
        fail_msg("%s %s: %s", options, more, run.err);
    return run;
}

static void same_as(const struct cli_run *plain, const char *file, const char *options, const char *more,
                    const char *without)
{
    struct cli_run changed = run_with_output(file, options, more);
    cli_assert_same_stats(plain->stats, changed.stats, without);
    if (strstr(more, "--timing-only") == NULL)
        cli_assert_same_file(&plain->output, &changed.output, "output");
    cli_free(&changed);
}

static void same(const char *file, const char *options, const char *more, const char *without)
{
    struct cli_run plain = run_with_output(file, options, "");
    same_as(&plain, file, options, more, without);
    cli_free(&plain);
}

static void invariants(void **state)
{
    static const struct {
        const char *more, *without;
    } changes[] = {
        {"", ""},
        {"--timing-only", "values"},
        {"-s cpu.quantum=1", "platform"},
        {"-s cpu.quantum=1000000", "platform"},
        {"--trace @trace.pftrace", ""},
        {"--plan " TEST_DATA "/plans/table.yaml", "options schedule layers total units links energy memory summary"},
        {"-s pe_array.detail=cycle", "platform"}, /* of the NFU alone */
    };
    enum { CHANGES = sizeof changes / sizeof changes[0] };
    (void)state;
    struct chain chain = chain_worked(2);
    char file[64];
    chain.layers[2].channels = chain.layers[3].channels = 5;
    chain.outputs = 4;
    chain_write(&chain, file);
    for (int window = 0; window < 2; ++window) {
        const char *options =
            window ? "-p window --schedule depth-first --block 4 -n 3" : "--schedule depth-first --block 4 -n 3";
        struct cli_run plain = run_with_output(file, options, "");
        for (int i = 0; i < CHANGES - window; ++i)
            same_as(&plain, file, options, changes[i].more, changes[i].without);
        cli_free(&plain);
    }
    (void)unlink(file);
}

static void compare_members(const json_t *a, const json_t *b)
{
    static const char *const members[] = {
        "compute_cycles", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes", "macs"};
    for (size_t layer = 0; layer < json_array_size(json_object_get(a, "layers")); ++layer)
        for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i) {
            char path[64];
            (void)snprintf(path, sizeof path, "layers.%zu.%s", layer, members[i]);
            assert_int_equal(cli_number(a, path), cli_number(b, path));
        }
}

/* The core's time apart, the native guest does the same work. */
static void native_guest_does_the_same(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(3);
    char file[64];
    chain_write(&chain, file);
    struct cli_run core = run_with_output(file, "--schedule depth-first --block 2", "");
    struct cli_run host = run_with_output(file, "--schedule depth-first --block 2", "-s " TEST_NATIVE_CPU);
    cli_assert_same_file(&core.output, &host.output, "output");
    compare_members(core.stats, host.stats);
    cli_free(&core);
    cli_free(&host);
    (void)unlink(file);
}

/* The scheduler unit issues what the guest software would: same outputs, same work, same traffic, same storage. */
static void hardware_issues_the_same(void **state)
{
    static const char *const platforms[] = {"nfu", "window"};
    static const char *const totals[] = {
        "storage.peak_feature_words", "memory.read_bytes", "memory.write_bytes", "units.dma.requests",
        "units.dma.stores",           "units.dma.moves",   "units.dma.fills",    "units.pe_array.compute_cycles"};
    (void)state;
    for (int variant = 0; variant < 6; ++variant) {
        struct chain chain = chain_worked(2);
        char file[64];
        const char *platform = platforms[variant % 2];
        chain.layers[0].kx = variant / 2 == 1 ? 2 : 3;
        chain.outputs = variant / 2 == 2 ? 3 : 0;
        chain_write(&chain, file);
        char options[512];
        (void)snprintf(options, sizeof options, "--schedule depth-first --block 2 -n 4 %s",
                       variant == 1   ? "-s output_buffer.pingpong=off"
                       : variant == 2 ? "-s " TEST_NATIVE_CPU
                                      : "");
        char on_platform[48];
        char on_scheduler[512];
        (void)snprintf(on_platform, sizeof on_platform, "-p %s", platform);
        (void)snprintf(on_scheduler, sizeof on_scheduler, "-p " TEST_EXAMPLES "/%s_scheduler.yaml", platform);
        struct cli_run guest = run_with_output(file, options, on_platform);
        struct cli_run unit = run_with_output(file, options, on_scheduler);
        cli_assert_same_file(&guest.output, &unit.output, "output");
        compare_members(guest.stats, unit.stats);
        for (size_t i = 0; i < sizeof totals / sizeof totals[0]; ++i)
            assert_int_equal(cli_number(guest.stats, totals[i]), cli_number(unit.stats, totals[i]));
        assert_int_equal(cli_number(unit.stats, "units.scheduler.steps"), 4 * 160);
        assert_true(cli_number(unit.stats, "total.accel_cycles") < cli_number(guest.stats, "total.accel_cycles"));
        same_as(&guest, file, options, variant % 2 ? "-p window --timing-only" : "-p nfu --timing-only", "values");
        cli_free(&guest);
        cli_free(&unit);
        (void)unlink(file);
    }
}

/* Who issues can be asked for; a table that is too small is no reason to do otherwise. */
static void issuers_can_be_chosen(void **state)
{
    static const char *const issuers[] = {"guest", "scheduler"};
    struct chain chain = chain_worked(2);
    char file[64];
    (void)state;
    chain_write(&chain, file);
    for (int i = 0; i < 2; ++i) {
        struct cli_run run = cli_run("run %s -p " TEST_EXAMPLES "/nfu_scheduler.yaml --schedule depth-first --block 2 "
                                     "--timing-only --stats @stats -q --issue %s",
                                     file, issuers[i]);
        assert_int_equal(run.status, 0);
        const json_t *told = json_array_get(json_object_get(json_object_get(run.stats, "schedule"), "chains"), 0);
        assert_string_equal(json_string_value(json_object_get(told, "issued_by")), issuers[i]);
        assert_string_equal(json_string_value(json_object_get(told, "issue_reason")), "as asked");
        assert_true((cli_number(run.stats, "units.scheduler.steps") != 0) == (i == 1));
        cli_free(&run);
    }
    struct cli_run run = cli_run("run %s -p " TEST_EXAMPLES "/nfu_scheduler.yaml --schedule depth-first --block 2 "
                                 "--timing-only -q --issue scheduler -s scheduler.table_words=64",
                                 file);
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.out, "use -s scheduler.table_words="));
    cli_free(&run);
    (void)unlink(file);
}

/* Where each slot has a place of its own its zeros are written once, and what does not change from block to block is
 * not pushed again: four times the blocks need no more fills, and few words more a step. */
static void further_blocks_are_little_work(void **state)
{
    static const char *const platforms[] = {"nfu", "window"};
    (void)state;
    for (int p = 0; p < 2; ++p) {
        long long words[2];
        long long fills[2];
        for (uint32_t large = 0; large < 2; ++large) {
            struct chain chain = chain_worked(2);
            char file[64];
            char options[96];
            chain.height = chain.width = large ? 64 : 32;
            chain.layers[1].pool = 0;
            chain_write(&chain, file);
            (void)snprintf(options, sizeof options, "-p %s --schedule depth-first --block 4 --timing-only",
                           platforms[p]);
            struct cli_run run = run_ok(file, options);
            words[large] = cli_number(run.stats, "total.accel_instructions");
            fills[large] = cli_number(run.stats, "units.dma.fills");
            cli_free(&run);
            (void)unlink(file);
        }
        assert_true(fills[0] > 0);
        assert_int_equal(fills[1], fills[0]);
        /* A step of four layers for each of 64 and of 256 blocks. */
        assert_in_range(words[1] - words[0], 1, 192 * 4 * 12);
    }
}

/* Number formats depend on data; how many words the unit pushes must not. */
static void hardware_pushes_formats_whatever_they_are(void **state)
{
    static const char *const options[] = {
        "--schedule depth-first --block 4 -n 2 -p " TEST_EXAMPLES "/nfu_scheduler.yaml",
        "--schedule depth-first --block 4 -n 2 -p " TEST_EXAMPLES "/window_scheduler.yaml"};
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        struct chain chain = chain_random(seed, 4);
        char file[64];
        chain.outputs = 0;
        chain_write(&chain, file);
        same(file, options[seed % 2], "--timing-only", "values");
        (void)unlink(file);
    }
}

/* A core so slow that the unit is done with the first image before the core looks: the interrupt that is pending then
 * must not be taken for the next image's. */
static void hardware_wakes_the_core_again(void **state)
{
    static const char *const platforms[] = {"nfu", "window"};
    struct chain chain = chain_worked(8);
    char file[64];
    (void)state;
    chain.head = 1;
    chain.layer_count = 2;
    chain.layers[1] = chain.layers[0];
    chain_write(&chain, file);
    for (int variant = 0; variant < 8; ++variant) {
        char options[512];
        (void)snprintf(options, sizeof options,
                       "--schedule depth-first --block 16 -n 3 -p " TEST_EXAMPLES "/%s_scheduler.yaml "
                       "-s dma.port_bytes=2 -s cpu.clock_mhz=%d -s instruction.queue_depth=%d -s " TEST_NATIVE_CPU,
                       platforms[variant % 2], variant & 2 ? 100 : 50, variant & 4 ? 90 : 60);
        struct cli_run run = run_ok(file, options);
        cli_free(&run);
    }
    (void)unlink(file);
}

/* An instruction issues when its block is ready, not when all before it are done: loads, results and the next block
 * overlap. */
static void blocks_overlap(void **state)
{
    (void)state;
    struct chain chain = chain_worked(8);
    char file[64];
    chain.height = chain.width = 32;
    chain_write(&chain, file);
    const char *options = "-s cpu.timing=off --schedule depth-first --block 8 -p " TEST_EXAMPLES "/nfu_scheduler.yaml";
    char strict[512];
    (void)snprintf(strict, sizeof strict, "%s -s instruction.order=strict", options);
    struct cli_run overlapped = run_ok(file, options);
    struct cli_run serial = run_ok(file, strict);
    const long long saved =
        cli_number(serial.stats, "total.accel_cycles") - cli_number(overlapped.stats, "total.accel_cycles");
    /* At the least, the loads of 15 blocks of feature 0 come after work on the blocks before. */
    assert_true(saved > 15 * 60);
    assert_int_equal(cli_number(serial.stats, "units.pe_array.compute_cycles"),
                     cli_number(overlapped.stats, "units.pe_array.compute_cycles"));
    cli_free(&overlapped);
    cli_free(&serial);
    (void)unlink(file);
}

/* Small weight buffers change traffic, and nothing else that counts. */
static void weights_stay_as_far_as_they_fit(void **state)
{
    static const char *const sizes[] = {"256KiB", "32KiB", "16KiB", "8KiB"};
    (void)state;
    struct chain chain = chain_worked(32);
    char file[64];
    chain_write(&chain, file);
    long long last_read = 0;
    long long last_resident = 1 << 20;
    long long compute = 0;
    for (size_t i = 0; i < 4; ++i) {
        char options[96];
        (void)snprintf(options, sizeof options, "--schedule depth-first --block 4 -s weight_buffer.size=%s", sizes[i]);
        struct cli_run run = run_ok(file, options);
        const long long read = cli_number(run.stats, "memory.read_bytes");
        const long long resident = cli_number(run.stats, "schedule.chains.0.resident_weight_bytes");
        const long long weights = cli_number(run.stats, "schedule.chains.0.weight_bytes");
        const long long cycles = cli_number(run.stats, "units.pe_array.compute_cycles");
        if (i == 0)
            assert_int_equal(resident, weights);
        assert_true(i == 0 || (read > last_read && resident < last_resident));
        assert_true(i == 0 || cycles == compute);
        last_read = read;
        last_resident = resident;
        compute = cycles;
        cli_free(&run);
    }
    (void)unlink(file);
}

/* Where weights are loaded as layers need them, room for more of them only saves loads. The scheduler unit, which needs
 * all of them before the first block, issues where that is faster. */
static void larger_weight_buffers_are_never_slower(void **state)
{
    static const char *const platforms[] = {
        "nfu", "window", TEST_EXAMPLES "/nfu_scheduler.yaml", TEST_EXAMPLES "/window_scheduler.yaml"};
    (void)state;
    for (uint32_t channels = 16; channels <= 64; channels *= 2u) {
        struct chain chain = chain_worked(channels);
        char file[64];
        chain_write(&chain, file);
        for (size_t p = 0; p < 4; ++p) {
            long long least = 0;
            for (unsigned kib = 8u << (all_sizes ? 0 : p % 2); kib <= 512; kib *= all_sizes ? 2u : 4u) {
                char options[512];
                (void)snprintf(options, sizeof options,
                               "-p %s --timing-only --schedule depth-first --block 4 -n 2 -s weight_buffer.size=%uKiB",
                               platforms[p], kib);
                struct cli_run run = run_ok(file, options);
                const long long cycles = cli_number(run.stats, "total.accel_cycles");
                if (least != 0 && cycles > least + least / 256)
                    fail_msg("%s, %u channels, %u KiB: %lld cycles, not %lld", platforms[p], channels, kib, cycles,
                             least);
                least = least == 0 || cycles < least ? cycles : least;
                cli_free(&run);
            }
        }
        (void)unlink(file);
    }
}

/* Two chains, since a block of one position cannot be pooled: the first one's weights stay, the second one's do not fit
 * and lie over them. The next image has to load the first one's again. */
static void reloaded_weights_lie_over_those_that_stay(void **state)
{
    (void)state;
    struct chain chain = {.channels = 2, .height = 4, .width = 4, .layer_count = 5, .seed = 3};
    char file[64];
    for (uint32_t i = 0; i < 5; ++i)
        chain.layers[i] = (struct chain_layer){
            .pool = i == 2, .channels = i < 3 ? 3 : 24, .kx = 3, .ky = i < 3 ? 3 : 5, .dilation = 1};
    chain_write(&chain, file);
    struct cli_run all = run_ok(file, "-o @output --schedule depth-first --block 1 -n 3");
    struct cli_run some = run_ok(file, "-o @output --schedule depth-first --block 1 -n 3 -s weight_buffer.size=2KiB");
    assert_int_equal(cli_number(some.stats, "schedule.chains.0.resident_weight_bytes"),
                     cli_number(some.stats, "schedule.chains.0.weight_bytes"));
    assert_int_equal(cli_number(some.stats, "schedule.chains.1.resident_weight_bytes"), 0);
    assert_true(cli_number(all.stats, "schedule.chains.1.resident_weight_bytes") > 0);
    cli_assert_same_file(&all.output, &some.output, "output");
    cli_free(&all);
    cli_free(&some);
    (void)unlink(file);
}

static void refused(const char *file, const char *options, const char *why)
{
    struct cli_run run = cli_run("run %s -q %s", file, options);
    assert_int_equal(run.status, 2);
    if (strstr(run.err, why) == NULL)
        fail_msg("\"%s\" is not in: %s", why, run.err);
    cli_free(&run);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    struct chain wide = chain_worked(8);
    struct chain deep = chain_worked(8);
    char file[64];
    char wide_file[64];
    char deep_file[64];
    char named[96];
    deep.layers[0].depthwise = 1; /* 8 windows of 3x3 and biases: 160 bytes */
    chain_write(&chain, file);
    chain_write(&wide, wide_file);
    chain_write(&deep, deep_file);
    (void)snprintf(named, sizeof named, "cnnvp: %s: layer \"", wide_file);
    refused(wide_file, "--schedule depth-first --block 8 -s input_buffer.size=2KiB", named);
    refused(file, "--schedule depth-first --block 6", "a power of two, such as 4 or 8");
    refused(file, "--schedule depth-first --block 0", "--block");
    refused(file, "--schedule depth-first --on-chip", "use one of the two");
    refused(wide_file, "--schedule depth-first --block 8 -s input_buffer.size=2KiB",
            "bytes of input_buffer, one half of which holds 1024; use a smaller --block or -s input_buffer.size=4096");
    refused(wide_file, "--schedule depth-first --block 8 -s output_buffer.size=1KiB", "of output_buffer");
    refused(deep_file, "--schedule depth-first --block 4 -s weight_buffer.size=64",
            "needs 160 bytes of weight_buffer, one half of which holds 32; use -s weight_buffer.size=");
    refused("$net/lenet5.onnx", "--schedule depth-first", "use --schedule layer");
    refused(file, "--schedule depth-first --plan " TEST_DATA "/plans/row.yaml", "row.yaml:2:5: halo is that of groups");
    refused(file, "--schedule depth-first --block 4 --issue scheduler",
            "the platform has no scheduler with an interrupt line");
    refused(file,
            "--schedule depth-first --block 4 -p " TEST_EXAMPLES "/nfu_scheduler.yaml --issue scheduler "
            "--plan " TEST_DATA "/plans/table.yaml",
            "the order of its blocks comes from a table");
    refused(wide_file,
            "--schedule depth-first --block 4 -p " TEST_EXAMPLES "/nfu_scheduler.yaml --issue scheduler "
            "-s weight_buffer.size=2KiB",
            "not all its weights stay on chip");
    (void)unlink(file);
    (void)unlink(wide_file);
    (void)unlink(deep_file);
}

/* One of the element's counters in a wave dump. */
struct wave {
    const char *name;
    char code[16];
    uint32_t value;
};

static void declare(struct wave *wave, const char *text)
{
    char declaration[64];
    (void)snprintf(declaration, sizeof declaration, " %s $end", wave->name);
    const char *end = strstr(strstr(text, "$scope module instruction"), declaration);
    assert_non_null(end);
    const char *begin = end;
    while (begin[-1] != ' ')
        --begin;
    (void)snprintf(wave->code, sizeof wave->code, "%.*s", (int)(end - begin), begin);
}

/* Which blocks the dump shows, each change of the counters once, against the recursion. */
static void expect_blocks(const struct cli_file *trace, const struct steps *steps)
{
    struct wave waves[] = {{.name = "layer"}, {.name = "block_x"}, {.name = "block_y"}};
    char *text = strndup((const char *)trace->data, trace->size);
    uint32_t seen = 0;
    int changed = 0;
    for (int w = 0; w < 3; ++w)
        declare(&waves[w], text);
    char *rest = strstr(text, "$enddefinitions");
    for (char *line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        const char *code = strchr(line, ' ');
        for (int w = 0; w < 3 && line[0] == 'b' && code != NULL; ++w) {
            if (strcmp(code + 1, waves[w].code) != 0)
                continue;
            waves[w].value = line[1] == 'x' ? UINT32_MAX : (uint32_t)strtoul(line + 1, NULL, 2);
            changed |= line[1] != 'x';
        }
        if (line[0] != '#' || !changed)
            continue;
        assert_true(seen < steps->count);
        assert_int_equal(waves[0].value, steps->all[seen].layer);
        assert_int_equal(waves[1].value, steps->all[seen].x);
        assert_int_equal(waves[2].value, steps->all[seen++].y);
        changed = 0;
    }
    assert_int_equal(seen + (changed != 0), steps->count);
    free(text);
}

/* Morton order can be seen, whoever issues. */
static void traces_show_blocks(void **state)
{
    static const char *const issuers[] = {"guest", "scheduler"};
    const struct chain chain = chain_worked(1);
    char file[64];
    (void)state;
    chain_write(&chain, file);
    struct steps steps = steps_of(&chain, 4);
    for (int i = 0; i < 2; ++i) {
        struct cli_run run = cli_run("run %s --schedule depth-first --block 4 -p " TEST_EXAMPLES "/nfu_scheduler.yaml "
                                     "--timing-only -q --trace @trace.vcd --issue %s",
                                     file, issuers[i]);
        assert_int_equal(run.status, 0);
        expect_blocks(&run.trace, &steps);
        cli_free(&run);
    }
    free(steps.all);
    (void)unlink(file);
}

/* A plan with an order in a file beside it. `digits`: an x and a y for each block. */
static void write_order(const char *digits, char plan[64])
{
    char order[64];
    (void)snprintf(plan, 64, "/tmp/cnnvp_plan_XXXXXX");
    const int descriptor = mkstemp(plan);
    assert_true(descriptor >= 0);
    (void)snprintf(order, sizeof order, "%s.order", plan);
    FILE *stream = fdopen(descriptor, "w");
    assert_true(fprintf(stream, "groups: [{order: %s}]\n", strrchr(order, '/') + 1) > 0 && fclose(stream) == 0);
    stream = fopen(order, "w");
    assert_true(stream != NULL && fprintf(stream, "blocks:\n") > 0);
    for (; *digits != '\0'; digits += 2)
        (void)fprintf(stream, "  - [%c, %c]\n", digits[0], digits[1]);
    assert_int_equal(fclose(stream), 0);
}

static void remove_order(const char *plan)
{
    char order[64];
    (void)snprintf(order, sizeof order, "%s.order", plan);
    assert_true(unlink(plan) == 0 && unlink(order) == 0);
}

/* Hilbert's curve over convolutions of 1x1 and pools, which pad nothing: the words are those of whole maps. The input,
 * the weights (two times 2 x 2 and 2 biases) and the output cross the port once, and no more words are on chip than in
 * Morton order. */
static void an_order_comes_from_a_file(void **state)
{
    static const char *const platforms[] = {"nfu", "window"};
    struct chain chain = chain_worked(2);
    char file[64], plan[64], options[160];
    (void)state;
    for (int i = 0; i < 4; i += 2)
        chain.layers[i].kx = chain.layers[i].ky = 1;
    chain_write(&chain, file);
    write_order("00101101020313122223333231212030", plan);
    for (int p = 0; p < 2; ++p) {
        (void)snprintf(options, sizeof options, "-p %s", platforms[p]);
        struct cli_run whole = run_with_output(file, options, "");
        (void)snprintf(options, sizeof options, "-p %s --schedule depth-first --block 4 --plan %s", platforms[p], plan);
        struct cli_run run = run_with_output(file, options, "");
        cli_assert_same_file(&whole.output, &run.output, "output");
        assert_int_equal(cli_number(run.stats, "memory.read_bytes"), 16 * 16 * 2 * 2 + 2 * (2 * 2 + 2) * 2);
        assert_int_equal(cli_number(run.stats, "memory.write_bytes"), 4 * 4 * 2 * 2);
        assert_int_equal(cli_number(run.stats, "storage.peak_feature_words"), 56 * 2);
        cli_free(&whole);
        cli_free(&run);
    }
    remove_order(plan);
    (void)unlink(file);
}

/* Row by row, which a chain without pools allows: from a file, or by the word for it. */
static void traces_show_the_order_of_a_plan(void **state)
{
    struct chain chain = chain_worked(1);
    struct step all[16] = {{0}};
    const struct steps steps = {.all = all, .count = 16};
    char file[64], plan[64];
    (void)state;
    chain.layer_count = 1;
    chain_write(&chain, file);
    write_order("00102030011121310212223203132333", plan);
    for (uint32_t i = 0; i < 16; ++i) {
        all[i].x = i % 4;
        all[i].y = i / 4;
    }
    for (int by_word = 0; by_word < 2; ++by_word) {
        struct cli_run run = cli_run(
            "run %s --schedule depth-first --block 4 --plan %s --timing-only -q --trace @trace.vcd", file, plan);
        assert_int_equal(run.status, 0);
        expect_blocks(&run.trace, &steps);
        cli_free(&run);
        FILE *stream = fopen(plan, "w");
        assert_true(stream != NULL && fputs("groups: [{order: raster}]\n", stream) >= 0 && fclose(stream) == 0);
    }
    remove_order(plan);
    (void)unlink(file);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_case),
        cmocka_unit_test(closed_form),
        cmocka_unit_test(peak_is_that_of_the_recursion),
        cmocka_unit_test(invariants),
        cmocka_unit_test(native_guest_does_the_same),
        cmocka_unit_test(hardware_issues_the_same),
        cmocka_unit_test(issuers_can_be_chosen),
        cmocka_unit_test(traces_show_blocks),
        cmocka_unit_test(traces_show_the_order_of_a_plan),
        cmocka_unit_test(an_order_comes_from_a_file),
        cmocka_unit_test(further_blocks_are_little_work),
        cmocka_unit_test(hardware_pushes_formats_whatever_they_are),
        cmocka_unit_test(hardware_wakes_the_core_again),
        cmocka_unit_test(blocks_overlap),
        cmocka_unit_test(weights_stay_as_far_as_they_fit),
        cmocka_unit_test(larger_weight_buffers_are_never_slower),
        cmocka_unit_test(reloaded_weights_lie_over_those_that_stay),
        cmocka_unit_test(wrong_use_is_refused),
    };
    all_sizes = argc > 1 && strcmp(argv[1], "all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
