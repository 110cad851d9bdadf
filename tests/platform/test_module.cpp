/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform as a module of a program's own simulation: what it gives is what the platform gives that drives itself,
 * byte for byte, whatever else is simulated, and what the program owns stays its own.
 */
#include <algorithm>
#include <cstdarg>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <jansson.h>
#include <unistd.h>

#include "cnnvp_network.h"
#include "cnnvp_systemc.h"
#include "memories.h"
#include "own_simulation.h"

extern "C" {
#include <cmocka.h>
}

namespace {

using sc_core::sc_time;

/* What a run left behind. */
struct outcome {
    cnnvp_run_result run{};
    std::string console, stats, trace, waves;
    std::vector<float> output;
};

void collect(void *context, const void *data, size_t size)
{
    static_cast<std::string *>(context)->append(static_cast<const char *>(data), size);
}

std::string take_file(const std::string &name)
{
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    assert_true(file.good());
    assert_int_equal(unlink(name.c_str()), 0);
    return text.str();
}

/* A network on a platform, with what is to be compared. */
class work {
public:
    explicit work(const char *preset, const std::vector<std::string> &settings = {}, const char *name = "work")
        : trace_(std::string("module_") + name + ".pftrace"), waves_(std::string("module_") + name + ".vcd")
    {
        cnnvp_error error{};
        if (cnnvp_config_new(preset, &config_, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        for (const std::string &setting : settings)
            if (cnnvp_config_set(config_, setting.c_str(), &error) != CNNVP_DONE)
                fail_msg("%s", error.text);
        cnnvp_network_options network_options{};
        network_options.struct_size = sizeof network_options;
        network_options.rounding = CNNVP_ROUND_NEAREST;
        network_options.images = 1;
        network_options.seed = 3;
        if (cnnvp_config_resolve(config_, &error) != CNNVP_DONE ||
            cnnvp_network_new(TEST_NETWORK, config_, &network_options, &network_, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        options.struct_size = sizeof options;
        options.verbosity = -1;
        options.trace = trace_.c_str();
        options.series = waves_.c_str();
        options.console = collect;
        options.console_context = &got.console;
    }
    ~work()
    {
        cnnvp_network_free(network_);
        cnnvp_config_free(config_);
    }
    work(const work &) = delete;
    work &operator=(const work &) = delete;

    const cnnvp_config *config() const { return config_; }
    std::string try_to_load(cnnvp_platform *platform)
    {
        cnnvp_error error{};
        return cnnvp_network_load(network_, platform, &error) == CNNVP_DONE ? "" : error.text;
    }
    /* What is said of it where it fails. */
    cnnvp_error read_output(cnnvp_platform *platform)
    {
        cnnvp_error error{};
        cnnvp_array output{};
        if (cnnvp_network_output(network_, platform, 0, &output, &error) == CNNVP_DONE)
            cnnvp_array_clear(&output);
        return error;
    }
    void load(cnnvp_platform *platform) { assert_string_equal(try_to_load(platform).c_str(), ""); }
    void collect_results(cnnvp_platform *platform, const cnnvp_run_result &run)
    {
        cnnvp_error error{};
        char *text = nullptr;
        cnnvp_array output{};

        got.run = run;
        if (run.end != CNNVP_END_EXIT || run.exit_code != 0)
            fail_msg("end %d, exit code %d: %s; console: %s", int(run.end), run.exit_code, run.reason,
                     got.console.c_str());
        if (cnnvp_network_output(network_, platform, 0, &output, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        const auto *values = static_cast<const float *>(output.data);
        got.output.assign(values, values + output.shape[output.rank - 1]);
        cnnvp_array_clear(&output);
        assert_int_equal(cnnvp_platform_stats(platform, &text), CNNVP_DONE);
        json_t *stats = json_loads(text, 0, nullptr);
        free(text);
        assert_int_equal(json_object_del(stats, "wall_seconds"), 0);
        text = json_dumps(stats, JSON_INDENT(1));
        got.stats = text;
        free(text);
        json_decref(stats);
        assert_int_equal(cnnvp_platform_close_trace(platform, &error), CNNVP_DONE);
        got.trace = take_file(trace_);
        got.waves = take_file(waves_);
    }
    /* As a program without SystemC has it. */
    void run_alone(const cnnvp::bind_memory &bind = {})
    {
        cnnvp_error error{};
        cnnvp_platform *platform = nullptr;
        cnnvp_run_result run{};
        if (cnnvp::platform_new(config_, &options, bind, &platform, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        load(platform);
        if (cnnvp_platform_run(platform, &run) != CNNVP_DONE)
            fail_msg("%s", run.reason);
        collect_results(platform, run);
        cnnvp_platform_free(platform);
    }

    cnnvp_platform_options options{};
    outcome got;

private:
    const std::string trace_, waves_;
    cnnvp_config *config_ = nullptr;
    cnnvp_network *network_ = nullptr;
};

void assert_same(const outcome &a, const outcome &b)
{
    assert_int_equal(a.run.time_ps, b.run.time_ps);
    assert_string_equal(a.console.c_str(), b.console.c_str());
    assert_string_equal(a.stats.c_str(), b.stats.c_str());
    assert_int_equal(a.output.size(), b.output.size());
    assert_memory_equal(a.output.data(), b.output.data(), a.output.size() * sizeof(float));
    assert_true(a.trace.size() > 1000 && a.trace == b.trace);
    assert_true(a.waves.size() > 1000 && a.waves == b.waves);
}

/* The platform by itself. */
const outcome &alone(const char *preset)
{
    static outcome nfu, window;
    outcome &one = std::strcmp(preset, "nfu") == 0 ? nfu : window;
    if (one.output.empty()) {
        work network(preset);
        network.run_alone();
        one = network.got;
    }
    return one;
}

/* Modules of the program's own: clocks of odd periods, and work that a thread does at a tick. */
struct own_model : sc_core::sc_module {
    sc_core::sc_clock clock;
    unsigned ticks = 0;
    std::function<void()> at_tick_5;

    own_model(const sc_core::sc_module_name &name, const sc_time &period)
        : sc_core::sc_module(name), clock("clock", period)
    {
        sc_core::sc_spawn(
            [this] {
                for (;;) {
                    sc_core::wait(clock.posedge_event());
                    if (++ticks == 5 && at_tick_5)
                        at_tick_5();
                }
            },
            "count");
    }
};

/* Notes when the platform says that it has ended. */
struct watcher : sc_core::sc_module {
    uint64_t at = 0;
    watcher(const sc_core::sc_module_name &name, const cnnvp::platform &platform) : sc_core::sc_module(name)
    {
        sc_core::sc_spawn(
            [this, &platform] {
                sc_core::wait(platform.done_event());
                at = sc_core::sc_time_stamp().value();
            },
            "watch");
    }
};

sc_time ns(double count)
{
    return sc_time(count, sc_core::SC_NS);
}

void test_alone(void **)
{
    simulation mine;
    work network("nfu");
    cnnvp::platform platform("platform", network.config(), &network.options);
    network.load(platform.handle());
    sc_core::sc_start();
    assert_int_equal(sc_core::sc_time_stamp().value(), platform.result().time_ps);
    network.collect_results(platform.handle(), platform.result());
    assert_same(network.got, alone("nfu"));
}

/* Statistics of a run that goes on: its critical path is up to now, and of more than one unit. */
void test_under_way(void **)
{
    simulation mine;
    work network("nfu");
    cnnvp::platform platform("platform", network.config(), &network.options);
    network.load(platform.handle());
    sc_core::sc_start(ns(15000));
    char *text = nullptr;
    assert_int_equal(cnnvp_platform_stats(platform.handle(), &text), CNNVP_DONE);
    json_t *stats = json_loads(text, 0, nullptr), *path = json_object_get(stats, "summary"), *part;
    const char *unit;
    json_int_t sum = 0, most = 0;
    free(text);
    assert_true(json_is_true(json_object_get(stats, "partial")));
    json_object_foreach(json_object_get(path, "critical_path"), unit, part)
    {
        sum += json_integer_value(part);
        most = std::max(most, json_integer_value(part));
    }
    assert_int_equal(sum, 15000000);
    assert_true(most < sum);
    json_decref(stats);
}

/* Modules before and after, clocks, sc_start in pieces, somebody's handler, and time that goes on behind the end. */
void test_beside(void **)
{
    static unsigned reports;
    simulation mine;
    work network("nfu");
    own_model before("before", ns(10));
    cnnvp::platform platform("platform", network.config(), &network.options);
    own_model after("after", ns(0.7));
    watcher watch("watch", platform);
    const auto outer = sc_core::sc_report_handler::set_handler(
        [](const sc_core::sc_report &, const sc_core::sc_actions &) { ++reports; });
    network.load(platform.handle());
    assert_int_equal(platform.result().end, CNNVP_END_MAX_TIME);
    sc_core::sc_start(ns(5000));
    assert_int_equal(sc_core::sc_time_stamp().value(), 5000000);
    assert_int_equal(platform.result().end, CNNVP_END_MAX_TIME);
    sc_core::sc_start(ns(0.35));
    for (int i = 0; i < 12; ++i)
        sc_core::sc_start(ns(10000));
    assert_int_equal(before.ticks, 12501);
    assert_true(after.ticks > 178000);
    assert_int_equal(watch.at, alone("nfu").run.time_ps);
    SC_REPORT_WARNING("mine", "is mine");
    assert_int_equal(reports, 1);
    (void)sc_core::sc_report_handler::set_handler(outer);
    network.collect_results(platform.handle(), platform.result());
    assert_same(network.got, alone("nfu"));
    sc_core::sc_stop();
}

/* Two in one design, below a module of the program's. */
void test_two(void **)
{
    struct board : sc_core::sc_module {
        cnnvp::platform first, second;
        board(const sc_core::sc_module_name &name, work &one, work &other)
            : sc_core::sc_module(name), first("first", one.config(), &one.options),
              second("second", other.config(), &other.options)
        {
        }
    };
    simulation mine;
    work one("nfu", {}, "one"), other("window", {}, "other");
    own_model clock("clock", ns(3));
    board both("board", one, other);
    assert_string_equal(both.second.name(), "board.second");
    other.load(both.second.handle());
    one.load(both.first.handle());
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    one.collect_results(both.first.handle(), both.first.result());
    other.collect_results(both.second.handle(), both.second.result());
    assert_same(one.got, alone("nfu"));
    assert_same(other.got, alone("window"));
}

/* Alike, at the same instants: what one waits for is not the other's. */
void test_twins(void **)
{
    simulation mine;
    work one("nfu", {}, "one"), other("nfu", {}, "other");
    cnnvp::platform first("first", one.config(), &one.options), second("second", other.config(), &other.options);
    one.load(first.handle());
    other.load(second.handle());
    sc_core::sc_start();
    one.collect_results(first.handle(), first.result());
    other.collect_results(second.handle(), second.result());
    assert_same(one.got, alone("nfu"));
    assert_same(other.got, alone("nfu"));
}

/* Memory of the program's, which the loader comes to before the simulation. */
void test_memory(void **)
{
    work by_itself("nfu", {"dram.model=external"});
    by_itself.run_alone([](const char *, cnnvp::memory_socket &socket) {
        auto memory = std::make_shared<memories::loose>("memory", ns(100), true, true, true);
        socket.bind(memory->socket);
        return memory;
    });
    simulation mine;
    work network("nfu", {"dram.model=external"});
    cnnvp::platform platform("platform", network.config(), &network.options);
    memories::loose memory("memory", ns(100), true, true, true);
    own_model clock("clock", ns(10));
    platform.initiator_socket("dram").bind(memory.socket);
    network.load(platform.handle());
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    assert_int_equal(memory.broken, 0);
    assert_true(memory.reads > 100);
    network.collect_results(platform.handle(), platform.result());
    assert_same(network.got, by_itself.got);
    assert_string_not_equal(network.got.stats.c_str(), alone("nfu").stats.c_str());
}

/* A program that comes later begins then. */
void test_loaded_later(void **)
{
    work by_itself("nfu", {"dram.refresh=ideal"}, "by_itself");
    by_itself.run_alone();
    simulation mine;
    work network("nfu", {"dram.refresh=ideal"});
    cnnvp::platform platform("platform", network.config(), &network.options);
    own_model clock("clock", ns(10));
    sc_core::sc_start(ns(833)); /* clocks of the core, and of the memory, whose period is 0.833 ns */
    assert_non_null(std::strstr(platform.result().reason, "it has not begun"));
    network.load(platform.handle());
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    assert_int_equal(platform.result().end, CNNVP_END_EXIT);
    /* So much later. The memory's refreshes would not wait for it, and come elsewhere in the program. */
    assert_int_equal(platform.result().time_ps, 833000 + by_itself.got.run.time_ps);
    cnnvp_error error{};
    assert_int_equal(cnnvp_platform_load_elf(platform.handle(), TEST_NETWORK, 0, nullptr, &error), CNNVP_BAD_INPUT);
}

/* A simulation that is left in the middle of the program's work, and one that never begins. */
void test_left(void **)
{
    work network("nfu", {"dram.model=external"});
    for (const double time : {0.0, 9000.0}) {
        simulation mine;
        memories::loose memory("memory", ns(100), true, true, true);
        cnnvp::platform platform("platform", network.config(), nullptr);
        platform.initiator_socket("dram").bind(memory.socket);
        network.load(platform.handle());
        if (time > 0)
            sc_core::sc_start(ns(time));
        assert_int_equal(platform.result().end, CNNVP_END_MAX_TIME);
        assert_int_equal(platform.result().time_ps, time * 1000);
        assert_int_equal(memory.reads > 0, time > 0);
    }
}

/* The whole C API inside a thread of somebody else's simulation. */
void test_nested(void **)
{
#ifdef __has_feature
#if __has_feature(address_sanitizer)
    return; /* it does not know the stack of a SystemC thread, within which the platform's own threads begin */
#endif
#endif
    simulation mine;
    own_model clock("clock", ns(10));
    work network("nfu");
    clock.at_tick_5 = [&] { network.run_alone(); };
    sc_core::sc_start(ns(105));
    assert_int_equal(clock.ticks, 11);
    assert_int_equal(sc_core::sc_time_stamp().value(), 105000);
    assert_same(network.got, alone("nfu"));
}

void test_refused(void **)
{
    simulation mine;
    work network("nfu");
    cnnvp_run_result run{};
    cnnvp::platform platform("platform", network.config(), &network.options);
    assert_says(refusal([&] { platform.initiator_socket("dram"); }), "platform: no instance \"dram\" leads outside");
    assert_int_equal(cnnvp_platform_run(platform.handle(), &run), CNNVP_FAILED);
    assert_int_equal(run.end, CNNVP_END_FATAL);
    assert_says(run.reason, "sc_start runs it");
    cnnvp_platform_free(platform.handle());
    network.load(platform.handle());
    cnnvp_error error{};
    cnnvp_result result = CNNVP_DONE;
    std::thread([&] {
        cnnvp_platform *other = nullptr;
        result = cnnvp_platform_new(network.config(), nullptr, &other, &error);
    }).join();
    assert_int_equal(result, CNNVP_FAILED);
    assert_says(error.text, "another thread");
    std::thread([&] { error = network.read_output(platform.handle()); }).join();
    assert_says(error.text, "another one has the platform");
    sc_core::sc_start(ns(100));
    assert_says(refusal([&] { cnnvp::platform late("late", network.config()); }),
                "late: a platform is made before the first sc_start");
    sc_core::sc_start();
    network.collect_results(platform.handle(), platform.result());
    assert_same(network.got, alone("nfu"));
    assert_int_equal(cnnvp_platform_load_elf(platform.handle(), "/dev/null", 0, nullptr, &error), CNNVP_BAD_INPUT);
}

/* One whose memory cannot be built, one that ends before the simulation, and one without a configuration: the next one
 * runs as if they had not been. */
void test_left_behind(void **)
{
    simulation mine;
    work unused("nfu", {}, "unused"), network("nfu");
    cnnvp_config *const wrong = cnnvp_config_copy(network.config());
    assert_int_equal(cnnvp_config_set(wrong, "dram.ranks=3", nullptr), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(wrong, nullptr), CNNVP_DONE);
    assert_says(refusal([&] { cnnvp::platform none("none", nullptr); }), "no configuration is given");
    assert_says(refusal([&] { cnnvp::platform bad("bad", wrong); }), "ranks is 3");
    cnnvp_config_free(wrong);
    {
        cnnvp::platform gone("gone", unused.config(), &unused.options);
        unused.load(gone.handle());
    }
    cnnvp::platform platform("platform", network.config(), &network.options);
    network.load(platform.handle());
    sc_core::sc_start();
    network.collect_results(platform.handle(), platform.result());
    assert_same(network.got, alone("nfu"));
}

void test_resolution(void **)
{
    simulation mine;
    work network("nfu");
    sc_core::sc_set_time_resolution(1, sc_core::SC_NS);
    assert_says(refusal([&] { cnnvp::platform coarse("coarse", network.config()); }),
                "coarse: the simulation's time resolution is 1 ns; a platform needs 1 ps");
}

void test_unbound(void **)
{
    simulation mine;
    work network("nfu", {"dram.model=external"});
    cnnvp::platform platform("platform", network.config(), &network.options);
    cnnvp_error error{};
    assert_says(refusal([&] { sc_core::sc_start(); }), "platform.dram_outside.socket");
    assert_int_not_equal(cnnvp_platform_write(platform.handle(), 0x80000000, &error, sizeof error), CNNVP_DONE);
    assert_says(network.try_to_load(platform.handle()), "nothing is bound to initiator_socket(\"dram\")");
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_left), /* the next context lies where its first one lay */
        cmocka_unit_test(test_alone),        cmocka_unit_test(test_under_way), cmocka_unit_test(test_beside),
        cmocka_unit_test(test_two),          cmocka_unit_test(test_twins),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_loaded_later), cmocka_unit_test(test_nested),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_resolution),   cmocka_unit_test(test_unbound),   cmocka_unit_test(test_left_behind),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
