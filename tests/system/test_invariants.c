/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_invariants STEP: the invariants of models/documents.md on whole networks, and the identities of the statistics.
 * Where a list of settings goes with a list of networks, each setting takes one of STEP networks, in turn. That nothing
 * depends on the core's quantum, the array's depth or arithmetic is tested by the soak.
 */

#include <unistd.h>

#include "test.h"

#include "cli.h"

#define LENET "run $net/lenet5.onnx -i $data/lenet5_input.npy --stats @stats -o @output -q"
#define MIXED "run $net/mixed.onnx -i $data/mixed_input.npy --stats @stats -o @output -q"

#define WINDOW " -p window"
#define ON_ARRAY " --plan $data/plans/array.yaml "

/* Each network on each engine. */
static const char *const networks[] = {LENET, MIXED, LENET WINDOW, MIXED WINDOW};
enum { NETWORKS = sizeof(networks) / sizeof(networks[0]), FIRST_WINDOW = 2 };

static size_t step;

/* Networks of both kinds and both engines come up in turn. */
static size_t first_network(size_t setting)
{
    return (setting + setting / 2) % step;
}

/* Each network's run as it is, made when it is first asked for. */
static struct cli_run plain_runs[NETWORKS];

static const struct cli_run *plain_run(size_t network)
{
    if (plain_runs[network].stats == NULL)
        plain_runs[network] = cli_run_ok(networks[network], "");
    return &plain_runs[network];
}

static int forget_plain_runs(void **state)
{
    (void)state;
    for (size_t n = 0; n < NETWORKS; ++n)
        cli_free(&plain_runs[n]);
    return 0;
}

static const char *const causes[] = {"bias",        "fill",  "writeout", "vector", "input_port",  "weight_port",
                                     "output_port", "input", "weight",   "output", "instruction", "host"};

static long long sum_over(const json_t *rows, const char *member)
{
    long long sum = 0;
    for (size_t i = 0; i < json_array_size(rows); ++i)
        sum += cli_number(json_array_get(rows, i), member);
    return sum;
}

static long long sum_over_time(const json_t *stats, const char *member)
{
    const json_t *over_time = json_object_get(json_object_get(stats, "memory"), "over_time");
    const json_t *windows = json_object_get(over_time, member);
    long long sum = 0;
    for (size_t i = 0; i < json_array_size(windows); ++i)
        sum += json_integer_value(json_array_get(windows, i));
    return sum;
}

/* Bytes of all links that lead to an instance. */
static long long link_bytes_to(const json_t *stats, const char *to, const char *member)
{
    const json_t *links = json_object_get(stats, "links");
    long long sum = 0;
    for (size_t i = 0; i < json_array_size(links); ++i) {
        const json_t *link = json_array_get(links, i);
        if (strcmp(json_string_value(json_object_get(link, "to")), to) == 0)
            sum += cli_number(link, member);
    }
    return sum;
}

/* Bytes of the link between two instances. */
static long long link_bytes(const json_t *stats, const char *from, const char *to, const char *member)
{
    const json_t *links = json_object_get(stats, "links");
    for (size_t i = 0; i < json_array_size(links); ++i) {
        const json_t *link = json_array_get(links, i);
        if (strcmp(json_string_value(json_object_get(link, "from")), from) == 0 &&
            strcmp(json_string_value(json_object_get(link, "to")), to) == 0)
            return cli_number(link, member);
    }
    fail_msg("no link from %s to %s", from, to);
    return 0;
}

/* The PE array, and S000's pooling and fully connected units where they are instances of their own. */
static const char *const arrays[] = {"pe_array", "pooling", "fully_connected"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static json_t *array_stats(const json_t *stats, size_t i)
{
    return json_object_get(json_object_get(stats, "units"), arrays[i]);
}

static long long array_bytes(const json_t *stats, const char *to, const char *member)
{
    long long sum = 0;
    for (size_t i = 0; i < ARRAYS; ++i)
        if (array_stats(stats, i) != NULL)
            sum += link_bytes(stats, arrays[i], to, member);
    return sum;
}

static long long array_count(const json_t *stats, const char *member)
{
    long long sum = 0;
    for (size_t i = 0; i < ARRAYS; ++i)
        if (array_stats(stats, i) != NULL)
            sum += cli_number(array_stats(stats, i), member);
    return sum;
}

/* What crossed the array's links is what its layers read and wrote. */
static void check_array_links(const json_t *stats)
{
    const json_t *layers = json_object_get(stats, "layers");
    assert_int_equal(array_bytes(stats, "input_buffer", "read_bytes"), 2 * sum_over(layers, "input_words"));
    assert_int_equal(array_bytes(stats, "weight_buffer", "read_bytes"), 2 * sum_over(layers, "weight_words"));
    assert_int_equal(array_bytes(stats, "output_buffer", "write_bytes"), 2 * sum_over(layers, "output_words"));
}

/* What is moved is moved for a tensor, and no tensor moves less than it has to. */
static void check_tensors(const json_t *tensors, const json_t *stats)
{
    assert_true(json_array_size(tensors) > 0);
    assert_int_equal(sum_over(tensors, "read_bytes"), cli_number(stats, "memory.read_bytes"));
    assert_int_equal(sum_over(tensors, "write_bytes"), cli_number(stats, "memory.write_bytes"));
    for (size_t i = 0; i < json_array_size(tensors); ++i) {
        const json_t *tensor = json_array_get(tensors, i);
        const char *kind = json_string_value(json_object_get(tensor, "kind"));
        assert_string_not_equal(kind, "other");
        assert_true(cli_number(tensor, "read_bytes") >= cli_number(tensor, "least_read_bytes"));
        assert_int_equal(cli_number(tensor, "write_bytes"), cli_number(tensor, "least_write_bytes"));
        if (strcmp(kind, "weights") == 0)
            assert_int_equal(cli_number(tensor, "write_bytes"), 0);
    }
}

static long long femtojoules(const json_t *stats, const char *path)
{
    return (long long)(1000 * cli_real(stats, path) + 0.5);
}

/* Over units and over layers, by counts and by time. */
static void check_energy(const json_t *stats)
{
    const json_t *layers = json_object_get(stats, "layers");
    long long by_unit = 0, by_layer = 0;
    const char *name;
    json_t *unit;
    json_object_foreach(json_object_get(json_object_get(stats, "energy"), "by_unit"), name, unit)
    {
        by_unit += femtojoules(unit, "dynamic_pj") + femtojoules(unit, "static_pj");
    }
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        by_layer += femtojoules(layer, "energy_pj");
        assert_true(femtojoules(layer, "static_pj") > 0);
        assert_true(femtojoules(layer, "static_pj") <= femtojoules(layer, "energy_pj"));
    }
    assert_int_equal(by_unit, femtojoules(stats, "energy.total_pj"));
    assert_int_equal(by_unit, femtojoules(stats, "energy.dynamic_pj") + femtojoules(stats, "energy.static_pj"));
    assert_int_equal(by_unit, by_layer + femtojoules(stats, "energy.no_layer_pj"));
    assert_true(cli_real(stats, "energy.low_pj") < cli_real(stats, "energy.total_pj"));
    assert_true(cli_real(stats, "energy.high_pj") > cli_real(stats, "energy.total_pj"));
}

static void check_accounting(const json_t *stats)
{
    const json_t *layers = json_object_get(stats, "layers");
    assert_true(json_array_size(layers) > 0);
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        long long cycles = cli_number(layer, "compute_cycles");
        const json_t *stalls = json_object_get(layer, "stall_cycles");
        assert_int_equal(json_object_size(stalls), sizeof(causes) / sizeof(causes[0]));
        for (size_t c = 0; c < sizeof(causes) / sizeof(causes[0]); ++c)
            cycles += cli_number(stalls, causes[c]);
        assert_int_equal(cli_number(layer, "cycles"), cycles);
        assert_true(cli_number(layer, "start_ps") <= cli_number(layer, "end_ps"));
    }
    assert_int_equal(cli_number(stats, "total.accel_cycles"),
                     sum_over(layers, "cycles") + cli_number(stats, "total.idle_cycles"));
    assert_int_equal(sum_over(layers, "dram_read_bytes"), cli_number(stats, "memory.read_bytes"));
    assert_int_equal(sum_over(layers, "dram_write_bytes"), cli_number(stats, "memory.write_bytes"));
    assert_int_equal(sum_over(layers, "dram_burst_bytes"), cli_number(stats, "memory.burst_bytes"));
    assert_int_equal(cli_number(stats, "memory.burst_bytes"), 64 * cli_number(stats, "memory.bursts"));
    assert_int_equal(link_bytes_to(stats, "dram", "read_bytes"), cli_number(stats, "memory.read_bytes"));
    assert_int_equal(link_bytes_to(stats, "dram", "write_bytes"), cli_number(stats, "memory.write_bytes"));
    assert_int_equal(sum_over_time(stats, "read_bytes"), cli_number(stats, "memory.read_bytes"));
    assert_int_equal(sum_over_time(stats, "write_bytes"), cli_number(stats, "memory.write_bytes"));
    check_tensors(json_object_get(stats, "tensors"), stats);
    check_array_links(stats);
    check_energy(stats);
    assert_int_equal(sum_over(layers, "macs"), cli_number(stats, "total.macs"));
    assert_int_equal(sum_over(layers, "compute_cycles"), array_count(stats, "compute_cycles"));
}

static void accounting_is_exact(void **state)
{
    (void)state;
    static const char *const settings[NETWORKS] = {
        "-s instruction.order=strict -s dram.preset=ddr3-1600 -s dma.outstanding=1", "-s pe_array.clock_mhz=333",
        "-s output_buffer.pingpong=off -s cpu.clock_mhz=100",
        "-s pe_array.input_para=5 -s pe_array.output_para=3 -s fully_connected.fc_para=7"};
    for (size_t n = 0; n < NETWORKS; ++n) {
        struct cli_run run = cli_run_ok(networks[n], settings[n]);
        check_accounting(plain_run(n)->stats);
        check_accounting(run.stats);
        cli_free(&run);
    }
}

/* And a trace changes nothing. */
static void same_command_same_bytes(void **state)
{
    (void)state;
    for (size_t n = 0; n < NETWORKS; ++n) {
        static const char *const more[] = {"--tune", "--trace @trace.pftrace", "--trace @trace.vcd"};
        for (size_t i = n % 2; i < 3; ++i) { /* one network of each engine is tuned */
            struct cli_run a = cli_run_ok(networks[n], more[i]);
            struct cli_run b = cli_run_ok(networks[n], more[i]);
            cli_assert_same_stats(a.stats, b.stats, "");
            cli_assert_same_file(&a.output, &b.output, "output");
            cli_assert_same_file(&plain_run(n)->output, &a.output, "output");
            if (i != 0) {
                cli_assert_same_stats(plain_run(n)->stats, a.stats, "");
                cli_assert_same_file(&a.trace, &b.trace, "trace");
                assert_true(a.trace.size > 1000);
            }
            cli_free(&a);
            cli_free(&b);
        }
    }
}

static const char *const quanta[] = {"-s cpu.quantum=1", "-s cpu.quantum=7", "-s cpu.quantum=1000000"};

/* The same plan: each layer calculates and moves the same. */
static void assert_same_work(const json_t *iss, const json_t *host)
{
    static const char *const members[] = {
        "compute_cycles", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes"};
    const json_t *a = json_object_get(iss, "layers");
    const json_t *b = json_object_get(host, "layers");
    assert_int_equal(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < json_array_size(a); ++i)
        for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); ++m)
            assert_int_equal(cli_number(json_array_get(a, i), members[m]),
                             cli_number(json_array_get(b, i), members[m]));
}

static void assert_same_natively(const struct cli_run *iss, const char *network, const char *more)
{
    struct cli_run host = cli_run_ok(network, more);
    assert_int_equal(cli_number(host.stats, "units.cpu.instructions"), 0);
    cli_assert_same_file(&iss->output, &host.output, "output");
    check_accounting(host.stats);
    assert_same_work(iss->stats, host.stats);
    cli_free(&host);
}

/* By the same plan: of a tuned one's tilings others are the fastest on another core. */
static void native_guest_gives_the_same_results(void **state)
{
    char name[] = "/tmp/cnnvp_plan_XXXXXX", tune[64], plan[512];
    (void)state;
    const int file = mkstemp(name);
    assert_true(file >= 0);
    close(file);
    (void)snprintf(tune, sizeof tune, "--tune --plan-out %s", name);
    (void)snprintf(plan, sizeof plan, "-s " TEST_NATIVE_CPU " --plan %s", name);
    for (size_t n = 0; n < NETWORKS; ++n)
        assert_same_natively(plain_run(n), networks[n], "-s " TEST_NATIVE_CPU);
    for (size_t n = 1; n < NETWORKS; n += 2) { /* one of each engine */
        struct cli_run tuned = cli_run_ok(networks[n], tune);
        assert_same_natively(&tuned, networks[n], plan);
        cli_free(&tuned);
    }
    unlink(name);
}

/* Software that takes no time: less time of all, and the same results by the same plan. */
static void core_without_time_gives_the_same_results(void **state)
{
    (void)state;
    for (size_t n = 0; n < NETWORKS; ++n) {
        struct cli_run none = cli_run_ok(networks[n], "-s cpu.timing=off");
        struct cli_run cut = cli_run_ok(networks[n], "-s cpu.timing=off -s cpu.quantum=7");
        cli_assert_same_file(&plain_run(n)->output, &none.output, "output");
        check_accounting(none.stats);
        assert_same_work(plain_run(n)->stats, none.stats);
        assert_true(cli_number(none.stats, "total.time_ps") < cli_number(plain_run(n)->stats, "total.time_ps"));
        assert_int_equal(cli_number(none.stats, "units.dram.read_bytes"), cli_number(none.stats, "memory.read_bytes"));
        cli_assert_same_stats(none.stats, cut.stats, "platform");
        cli_free(&cut);
        cli_free(&none);
    }
}

/* What the core runs from changes when the accelerator works, not what it does; the core's own traffic is apart. */
static void core_memories_give_the_same_results(void **state)
{
    static const char *const memories[] = {"-s cpu.memory=ideal", "-s cpu.memory=tcm",
                                           "-s cpu.memory=cache -s cpu.icache_size=1KiB -s cpu.dcache_size=1KiB"};
    (void)state;
    for (size_t n = 0; n < NETWORKS; ++n) {
        struct cli_run ideal = cli_run_ok(networks[n], memories[0]);
        struct cli_run tcm = cli_run_ok(networks[n], memories[1]);
        struct cli_run caches = cli_run_ok(networks[n], memories[2]);
        char less[64];
        cli_assert_same_file(&ideal.output, &tcm.output, "output");
        assert_same_work(ideal.stats, tcm.stats);
        cli_assert_same_file(&ideal.output, &caches.output, "output");
        assert_same_work(ideal.stats, caches.stats);
        snprintf(less, sizeof less, "-s cpu.tcm_size=%lld", cli_number(tcm.stats, "units.cpu.tcm_bytes") - 512);
        struct cli_run part = cli_run_ok(networks[n], less);
        cli_assert_same_file(&ideal.output, &part.output, "output");
        assert_same_work(ideal.stats, part.stats);
        check_accounting(part.stats);
        assert_int_equal(cli_number(tcm.stats, "units.cpu.table_bytes"), 0);
        assert_true(cli_number(part.stats, "units.cpu.table_bytes") > 0);
        assert_int_equal(cli_number(part.stats, "units.dram.requesters.cpu.read_bytes"),
                         cli_number(part.stats, "units.cpu.table_bytes"));
        snprintf(less, sizeof less, "-s cpu.tcm_size=%lld -s cpu.quantum=7",
                 cli_number(tcm.stats, "units.cpu.tcm_bytes") - 512);
        struct cli_run cut = cli_run_ok(networks[n], less);
        cli_assert_same_stats(part.stats, cut.stats, "platform");
        cli_free(&cut);
        cli_free(&part);
        cli_free(&tcm);
        cli_free(&ideal);
        const long long core = cli_number(caches.stats, "units.dram.requesters.cpu.read_bytes");
        const long long line = 64;
        assert_int_equal(core, line * cli_number(caches.stats, "units.cpu.fills"));
        assert_int_equal(cli_number(caches.stats, "units.dram.requesters.cpu.write_bytes"),
                         line * cli_number(caches.stats, "units.cpu.write_backs"));
        check_accounting(caches.stats);
        assert_int_equal(cli_number(caches.stats, "units.dram.read_bytes"),
                         core + cli_number(caches.stats, "memory.read_bytes"));
        assert_true(cli_number(caches.stats, "units.cpu.memory_stall_cycles") > 0);
        for (size_t q = first_network(n); q < sizeof quanta / sizeof quanta[0]; q += step) {
            char more[256];
            snprintf(more, sizeof more, "%s %s", memories[2], quanta[q]);
            struct cli_run cut_caches = cli_run_ok(networks[n], more);
            cli_assert_same_stats(caches.stats, cut_caches.stats, "platform");
            cli_free(&cut_caches);
        }
        cli_free(&caches);
    }
}

/* What each command takes is what its unit has said, whatever the clock and the buffers' ports. */
static void costs_are_those_asked_for(void **state)
{
    static const char *const platforms[] = {
        "", "-s pe_array.clock_mhz=333", "-s output_buffer.width_words=3 -s input_buffer.width_words=5",
        "-s weight_buffer.width_words=1 -s pe_array.clock_mhz=700", "-s vector.lanes=3 -s dma.port_bytes=6"};
    (void)state;
    for (size_t p = 0; p < sizeof platforms / sizeof platforms[0]; ++p)
        for (size_t n = first_network(p); n < NETWORKS; n += step) {
            char more[160];
            snprintf(more, sizeof(more), "--check-costs %s", platforms[p]);
            struct cli_run checked = cli_run_ok(networks[n], more);
            if (p == 0)
                cli_assert_same_stats(plain_run(n)->stats, checked.stats, "");
            cli_free(&checked);
        }
}

/* --tune takes the faster of the plans that it has tried, one of which is the plan without. */
static void tuning_is_never_slower(void **state)
{
    static const char *const seeded[NETWORKS] = {
        "run $net/lenet5.onnx --stats @stats -q", "run $net/mixed.onnx --stats @stats -q",
        "run $net/lenet5.onnx --stats @stats -q" WINDOW, "run $net/mixed.onnx --stats @stats -q" WINDOW};
    static const char *const platforms[] = {
        "",
        "--images 2",
        "-s dram.preset=hbm2",
        "-s dma.outstanding=1",
        "-s instruction.order=strict",
        "-s weight_buffer.size=12KiB -s input_buffer.size=12KiB",
        "-s cpu.clock_mhz=100"};
    int faster = 0;
    (void)state;
    for (size_t p = 0; p < sizeof platforms / sizeof platforms[0]; ++p) {
        for (size_t n = first_network(p); n < NETWORKS; n += step) {
            char more[160];
            snprintf(more, sizeof(more), "--timing-only %s", platforms[p]);
            struct cli_run plain = cli_run_ok(seeded[n], more);
            snprintf(more, sizeof(more), "--timing-only --tune %s", platforms[p]);
            struct cli_run tuned = cli_run_ok(seeded[n], more);
            const long long before = cli_number(plain.stats, "total.time_ps");
            const long long now = cli_number(tuned.stats, "total.time_ps");
            if (now > before)
                fail_msg("network %zu, %s: %lld ps with --tune, %lld without", n, platforms[p], now, before);
            faster += now < before;
            cli_free(&plain);
            cli_free(&tuned);
        }
    }
    assert_true(faster > 0);
}

/* The memory makes bursts of its own of the DMA's, so plans for short ones are as good. */
static void short_bursts_cost_little(void **state)
{
    static const int outstanding[] = {2, 16, 64};
    static const int bytes[] = {8, 16, 32};
    (void)state;
    for (size_t o = 0; o < 3; ++o) {
        char more[128];
        snprintf(more, sizeof(more), "--timing-only -s dma.outstanding=%d", outstanding[o]);
        struct cli_run whole = cli_run_ok(LENET, more);
        const long long cycles = cli_number(whole.stats, "total.accel_cycles");
        cli_free(&whole);
        for (size_t b = 0; b < 3; ++b) {
            snprintf(more, sizeof(more), "--timing-only -s dma.outstanding=%d -s dma.burst_bytes=%d", outstanding[o],
                     bytes[b]);
            struct cli_run run = cli_run_ok(LENET, more);
            const long long now = cli_number(run.stats, "total.accel_cycles");
            if (now * 20 > cycles * 21)
                fail_msg("%d outstanding bursts of %d bytes: %lld cycles, of 64 bytes %lld", outstanding[o], bytes[b],
                         now, cycles);
            cli_free(&run);
        }
    }
}

static void assert_compute(const json_t *stats, const long long *expected, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char path[64];
        snprintf(path, sizeof(path), "layers.%zu.compute_cycles", i);
        assert_int_equal(cli_number(stats, path), 4 * expected[i]);
    }
}

/* The published closed forms, for the four images of the test input. */
static void lenet_takes_the_published_cycles(void **state)
{
    (void)state;
    static const long long broadcast[] = {2400, 96, 9600, 64, 800, 240, 84};
    static const long long single[] = {2400, 96, 9600, 64, 840, 168, 20};
    static const long long pieces[] = {3456, 216, 13824, 144, 800, 240, 84};
    const struct cli_run *plain = plain_run(0);
    assert_int_equal(json_array_size(json_object_get(plain->stats, "layers")), 7);
    assert_compute(plain->stats, broadcast, 7);
    struct cli_run run = cli_run_ok(LENET, "-s pe_array.fc_mapping=single-neuron");
    assert_compute(run.stats, single, 7);
    cli_free(&run);
    run = cli_run_ok(LENET, "-s pe_array.kernel_piece=3");
    assert_compute(run.stats, pieces, 7);
    cli_free(&run);
}

/* S000's closed forms, and the same bits as from the NFU: sums are exact, so no order of adding matters. */
static void window_takes_its_cycles_and_gives_the_same_bits(void **state)
{
    (void)state;
    static const long long cycles[] = {4 * 784, 196, 2 * 4 * 100, 2 * 25, 400 * 8, 120 * 6, 84};
    static const long long narrow[] = {3 * 4 * 784, 2 * 196, 2 * 8 * 4 * 100, 6 * 25, 400 * 15, 120 * 11, 84 * 2};
    for (size_t n = 0; n < FIRST_WINDOW; ++n) {
        const struct cli_run *nfu = plain_run(n);
        const struct cli_run *window = plain_run(n + FIRST_WINDOW);
        cli_assert_same_file(&nfu->output, &window->output, "output");
        assert_int_equal(cli_number(nfu->stats, "total.macs"), cli_number(window->stats, "total.macs"));
    }
    const long long bias_layers = 4 * (784 + 2 * 100); /* a channel of ones for each step of the kernel depth */
    struct cli_run run = cli_run_ok(LENET WINDOW, ON_ARRAY);
    cli_assert_same_file(&plain_run(0)->output, &run.output, "output");
    assert_compute(run.stats, cycles, 7);
    assert_true(cli_number(run.stats, "units.input_buffer.read_ones_words") > bias_layers);
    cli_free(&run);
    run = cli_run_ok(
        LENET WINDOW, ON_ARRAY
        "-s pe_array.input_para=3 -s pooling.input_para=3 -s pe_array.output_para=2 -s fully_connected.fc_para=8");
    assert_compute(run.stats, narrow, 7);
    cli_free(&run);
}

/* ShiDianNao's way: between loading and the result nothing goes off chip. */
static void on_chip_moves_only_weights_inputs_and_results(void **state)
{
    (void)state;
    for (size_t n = 0; n < NETWORKS; n += FIRST_WINDOW) {
        const struct cli_run *off = plain_run(n);
        struct cli_run on = cli_run_ok(networks[n], "--on-chip");
        cli_assert_same_file(&off->output, &on.output, "output");
        check_accounting(on.stats);
        const long long weights = (6 * 25 + 6 + 16 * 150 + 16 + 400 * 120 + 120 + 120 * 84 + 84 + 84 * 10 + 10) * 2;
        assert_int_equal(cli_number(on.stats, "memory.read_bytes"), weights + 4 * 32 * 32 * 2);
        assert_int_equal(cli_number(on.stats, "memory.write_bytes"), 4 * 10 * 2);
        /* where memory keeps up, nothing is won but the bytes */
        assert_true(cli_number(on.stats, "total.accel_cycles") <
                    cli_number(off->stats, "total.accel_cycles") * 101 / 100);
        cli_free(&on);
    }
}

static long long bytes_of(const json_t *stats, const char *kind, const char *member)
{
    const json_t *tensors = json_object_get(stats, "tensors");
    long long sum = 0;
    for (size_t i = 0; i < json_array_size(tensors); ++i)
        if (strcmp(json_string_value(json_object_get(json_array_get(tensors, i), "kind")), kind) == 0)
            sum += cli_number(json_array_get(tensors, i), member);
    return sum;
}

/* Weights serve all images of a batch, but for those of single layers that the planner loads twice: F6 on `window`. */
static void a_batch_loads_weights_once(void **state)
{
    (void)state;
    const char *const small = " -s weight_buffer.size=16KiB -s output_buffer.size=4KiB";
    for (size_t n = 0; n < NETWORKS; n += FIRST_WINDOW) {
        char batched[128];
        (void)snprintf(batched, sizeof batched, "%s --batch 4", small);
        struct cli_run one = cli_run_ok(networks[n], small);
        struct cli_run four = cli_run_ok(networks[n], batched);
        cli_assert_same_file(&one.output, &four.output, "output");
        check_accounting(four.stats);
        const long long weights = bytes_of(one.stats, "weights", "least_read_bytes");
        assert_int_equal(cli_number(four.stats, "total.images"), 4);
        assert_int_equal(bytes_of(one.stats, "weights", "read_bytes"), 4 * weights);
        assert_in_range(bytes_of(four.stats, "weights", "read_bytes"), weights, weights * 5 / 4);
        assert_int_equal(bytes_of(four.stats, "output", "write_bytes"), bytes_of(one.stats, "output", "write_bytes"));
        assert_true(cli_number(four.stats, "memory.bursts") < cli_number(one.stats, "memory.bursts"));
        cli_free(&one);
        cli_free(&four);
    }
}

/* F5: 400 words in, 120 out, 48120 of weights and biases; four images, of which all but the first load anew what the
 * buffers cannot keep. */
static void bounds_are_those_of_the_buffers(void **state)
{
    (void)state;
    const long long maps = 4 * (400 + 120) * 2, weights = (400 * 120 + 120) * 2;
    const long long room = 64 * 1024 + 16 * 1024 + 4 * 1024;
    struct cli_run large = cli_run_ok(LENET, "--timing-only");
    struct cli_run small = cli_run_ok(LENET, "--timing-only -s weight_buffer.size=16KiB -s output_buffer.size=4KiB");
    struct cli_run kept = cli_run_ok(LENET, "--timing-only --on-chip");
    const long long least = cli_number(large.stats, "summary.least_dram_bytes");
    assert_int_equal(cli_number(large.stats, "layers.4.least_dram_bytes"), maps + weights);
    assert_int_equal(cli_number(small.stats, "layers.4.least_dram_bytes"), maps + weights + 3 * (weights - room));
    /* In cycles of a nanosecond: by its bytes, and of another layer by what 64 PEs multiply. */
    assert_int_equal(cli_number(large.stats, "layers.4.least_cycles"),
                     (maps + weights) * 1000000000 / cli_number(large.stats, "units.dram.bus_bytes_per_s"));
    assert_int_equal(cli_number(large.stats, "layers.2.least_cycles"), cli_number(large.stats, "layers.2.macs") / 64);
    assert_int_equal(cli_number(kept.stats, "layers.4.least_dram_bytes"), weights);
    assert_int_equal(cli_number(large.stats, "summary.layers_least_dram_bytes"),
                     sum_over(json_object_get(large.stats, "layers"), "least_dram_bytes"));
    assert_int_equal(least, bytes_of(large.stats, "weights", "least_read_bytes") + 4 * (32 * 32 + 10) * 2);
    /* Kept on chip, it is reached. */
    assert_int_equal(cli_number(kept.stats, "memory.read_bytes") + cli_number(kept.stats, "memory.write_bytes"), least);
    cli_free(&large);
    cli_free(&small);
    cli_free(&kept);
}

/* Tiles chosen by traffic move fewer bytes of bursts; results are the same by any objective. */
static void objectives_choose_what_they_name(void **state)
{
    (void)state;
    static const char *const names[] = {"time", "energy", "edp", "traffic"};
    struct cli_run runs[4];
    for (int i = 0; i < 4; ++i) {
        char options[160];
        (void)snprintf(options, sizeof options,
                       "--objective %s -s input_buffer.size=2KiB -s weight_buffer.size=4KiB -s output_buffer.size=2KiB",
                       names[i]);
        runs[i] = cli_run_ok(LENET, options);
        cli_assert_same_file(&runs[i].output, &runs[0].output, "output");
        check_accounting(runs[i].stats);
    }
    assert_true(cli_number(runs[3].stats, "memory.burst_bytes") < cli_number(runs[0].stats, "memory.burst_bytes"));
    assert_true(cli_real(runs[1].stats, "energy.total_pj") <= cli_real(runs[3].stats, "energy.total_pj"));
    for (int i = 0; i < 4; ++i)
        cli_free(&runs[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounting_is_exact),
        cmocka_unit_test(same_command_same_bytes),
        cmocka_unit_test(native_guest_gives_the_same_results),
        cmocka_unit_test(core_without_time_gives_the_same_results),
        cmocka_unit_test(core_memories_give_the_same_results),
        cmocka_unit_test(costs_are_those_asked_for),
        cmocka_unit_test(tuning_is_never_slower),
        cmocka_unit_test(short_bursts_cost_little),
        cmocka_unit_test(lenet_takes_the_published_cycles),
        cmocka_unit_test(window_takes_its_cycles_and_gives_the_same_bits),
        cmocka_unit_test(on_chip_moves_only_weights_inputs_and_results),
        cmocka_unit_test(a_batch_loads_weights_once),
        cmocka_unit_test(bounds_are_those_of_the_buffers),
        cmocka_unit_test(objectives_choose_what_they_name),
    };
    step = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (step == 0)
        return 2;
    return cmocka_run_group_tests(tests, NULL, forget_plain_runs);
}
