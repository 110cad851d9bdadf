/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network on the platform with a third-party memory: the same outputs and traffic as with the platform's own,
 * whatever style the memory is written in; errors reach the guest, and nothing aborts.
 */
#include <cstdarg>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <jansson.h>

#include "cnnvp_network.h"
#include "cnnvp_systemc.h"
#include "memories.h"
#include "tlm_checker.h"

extern "C" {
#include <cmocka.h>
}

namespace {

using memories::approximate;
using memories::loose;
using memories::store;
using memories::style;

/* What a run left behind. */
struct outcome {
    cnnvp_result result = CNNVP_FAILED;
    cnnvp_run_result run{};
    std::string console;
    std::vector<float> output;
    json_t *stats = nullptr;
    ~outcome() { json_decref(stats); }
};

size_t protocol_faults = 0;

using maker = std::function<std::shared_ptr<store>(cnnvp::memory_socket &)>;

void collect(void *context, const void *data, size_t size)
{
    static_cast<outcome *>(context)->console.append(static_cast<const char *>(data), size);
}

cnnvp_config *configure(const std::vector<std::string> &settings)
{
    cnnvp_config *config = nullptr;
    cnnvp_error error{};
    if (cnnvp_config_new("nfu", &config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    for (const std::string &setting : settings)
        if (cnnvp_config_set(config, setting.c_str(), &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
    if (cnnvp_config_resolve(config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return config;
}

/* Runs LeNet-5, one image. `look`, if given, is called with the memory when the run is over. */
void run(outcome &got, std::vector<std::string> settings, const maker &make,
         const std::function<void(store &)> &look = {}, bool timing_only = false)
{
    cnnvp_error error{};
    cnnvp_network *network = nullptr;
    cnnvp_platform *platform = nullptr;
    std::shared_ptr<store> memory;
    if (make)
        settings.insert(settings.begin(), "dram.model=external");
    cnnvp_config *config = configure(settings);
    cnnvp_network_options options{};
    options.struct_size = sizeof options;
    options.rounding = CNNVP_ROUND_NEAREST;
    options.images = 1;
    options.seed = 3;
    options.timing_only = timing_only;
    if (cnnvp_network_new(TEST_NETWORK, config, &options, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform_options platform_options{};
    platform_options.struct_size = sizeof platform_options;
    platform_options.log = [](void *context, int, const char *line) { collect(context, line, std::strlen(line)); };
    platform_options.log_context = &got;
    platform_options.timing_only = timing_only;
    platform_options.console = collect;
    platform_options.console_context = &got;
    const cnnvp::bind_memory bind = [&](const char *instance, cnnvp::memory_socket &socket) -> std::shared_ptr<void> {
        assert_string_equal(instance, "dram");
        memory = make(socket);
        return memory;
    };
    const cnnvp::bind_memory none;
    if (cnnvp::platform_new(config, &platform_options, make ? bind : none, &platform, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    if (cnnvp_network_load(network, platform, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    got.result = cnnvp_platform_run(platform, &got.run);
    if (got.result == CNNVP_DONE && !timing_only) {
        cnnvp_array output{};
        if (cnnvp_network_output(network, platform, 0, &output, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        size_t values = 1;
        for (size_t i = 0; i < output.rank; ++i)
            values *= output.shape[i];
        got.output.assign(static_cast<float *>(output.data), static_cast<float *>(output.data) + values);
        cnnvp_array_clear(&output);
    }
    char *json = nullptr;
    assert_int_equal(cnnvp_platform_stats(platform, &json), CNNVP_DONE);
    got.stats = json_loads(json, 0, nullptr);
    free(json);
    if (look)
        look(*memory);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
}

json_int_t number(const outcome &got, const std::vector<const char *> &path)
{
    const json_t *at = got.stats;
    for (const char *name : path)
        at = json_object_get(at, name);
    assert_true(json_is_integer(at));
    return json_integer_value(at);
}

/* What the accelerator does is the same with every memory. */
void assert_same_work(const outcome &a, const outcome &b)
{
    if (a.result != CNNVP_DONE)
        fail_msg("end %d, exit code %d: %s; console: %s", int(a.run.end), a.run.exit_code, a.run.reason,
                 a.console.c_str());
    assert_int_equal(b.result, CNNVP_DONE);
    assert_int_equal(a.output.size(), b.output.size());
    for (size_t i = 0; i < a.output.size(); ++i)
        assert_memory_equal(&a.output[i], &b.output[i], sizeof(float));
    const json_t *left = json_object_get(a.stats, "layers"), *right = json_object_get(b.stats, "layers");
    assert_int_equal(json_array_size(left), json_array_size(right));
    for (size_t i = 0; i < json_array_size(left); ++i)
        for (const char *name : {"compute_cycles", "input_words", "dram_read_bytes", "dram_write_bytes"})
            assert_int_equal(json_integer_value(json_object_get(json_array_get(left, i), name)),
                             json_integer_value(json_object_get(json_array_get(right, i), name)));
    for (const char *name : {"read_bytes", "write_bytes"})
        assert_int_equal(number(a, {"memory", name}), number(b, {"memory", name}));
}

const outcome &own()
{
    static outcome got;
    if (got.output.empty())
        run(got, {}, nullptr);
    return got;
}

sc_core::sc_time ns(double count)
{
    return sc_core::sc_time(count, sc_core::SC_NS);
}

/* A memory behind a checker of the protocol, which finds nothing. */
template <typename Memory>
struct checked : Memory {
    tlm_checker checker{"checker"};

    template <typename... Arguments>
    explicit checked(cnnvp::memory_socket &socket, Arguments... arguments) : Memory("somebodys_memory", arguments...)
    {
        socket.bind(checker.from);
        checker.to.bind(this->socket);
    }
    ~checked() override
    {
        for (const std::string &fault : checker.broken)
            if (fault.rfind("initiator", 0) == 0) { /* the platform */
                print_error("%s\n", fault.c_str());
                ++protocol_faults;
            }
    }
};

maker loose_memory(double delay, bool waits, bool has_debug, bool has_dmi)
{
    return [=](cnnvp::memory_socket &socket) {
        return std::make_shared<checked<loose>>(socket, ns(delay), waits, has_debug, has_dmi);
    };
}

maker approximate_memory(const std::vector<style> &styles)
{
    return [=](cnnvp::memory_socket &socket) { return std::make_shared<checked<approximate>>(socket, styles); };
}

/* The memory has seen what the statistics say; `core` where the core's accesses go the ordinary way too. */
std::function<void(store &)> check(const outcome &got, bool core, uint64_t together)
{
    return [&got, core, together](store &memory) {
        if (memory.broken)
            fail_msg("%d rules of the protocol broken", int(memory.broken));
        assert_true(memory.longest <= 64);
        assert_true(memory.most_together >= together);
        if (core)
            return;
        assert_int_equal(memory.read_bytes, number(got, {"memory", "read_bytes"}));
        assert_int_equal(memory.write_bytes, number(got, {"memory", "write_bytes"}));
        assert_int_equal(memory.reads + memory.writes, number(got, {"memory", "bursts"}));
    };
}

void test_loose_with_dmi(void **)
{
    outcome got;
    run(got, {}, loose_memory(100, false, true, true), check(got, false, 1));
    assert_same_work(got, own());
    const json_int_t latency = number(got, {"units", "dram", "read_latency_ps"});
    assert_int_equal(latency, 100000 * number(got, {"units", "dram", "reads"}));
}

void test_dmi_refused(void **)
{
    outcome got;
    run(got, {}, loose_memory(100, true, true, false), [&](store &memory) {
        check(got, false, 2)(memory);
        assert_true(memory.debugs > 1000); /* the core lives on it */
    });
    assert_same_work(got, own());
    /* What the TCM serves is no access of a device, and costs the same. */
    outcome direct;
    run(direct, {}, loose_memory(100, true, true, true));
    for (const char *name : {"device_reads", "device_writes", "loads", "stores", "sram_bytes"})
        assert_int_equal(number(got, {"units", "cpu", name}), number(direct, {"units", "cpu", name}));
    /* Caches, which are not used, are not taken for ideal ones in silence. */
    outcome cached;
    run(cached, {"cpu.memory=cache"}, loose_memory(100, true, true, false));
    assert_true(cached.console.find("the caches are not used, because the memory at 0x") != std::string::npos);
    /* as a setting of ours it costs no time either */
    outcome off;
    run(off, {"dram.dmi=off"}, loose_memory(100, true, true, true));
    assert_int_equal(number(off, {"total", "time_ps"}), number(got, {"total", "time_ps"}));
}

/* Neither direct memory nor debug transport: program and network go in through b_transport. */
void test_only_b_transport(void **)
{
    outcome got;
    run(got, {}, loose_memory(20, false, false, false), check(got, true, 1));
    assert_same_work(got, own());
    outcome waiting;
    run(waiting, {}, loose_memory(20, true, false, false), check(waiting, true, 1));
    assert_same_work(waiting, own());
    /* short bursts are those of the core and the loader, too */
    outcome narrow;
    const maker make = loose_memory(20, false, false, false);
    const maker make_narrow = [&](cnnvp::memory_socket &socket) {
        auto made = make(socket);
        made->burst = 16;
        return made;
    };
    run(narrow, {"dram.burst_bytes=16"}, make_narrow, check(narrow, true, 1));
    assert_same_work(narrow, own());
    /* The core waits for each instruction that it fetches, however far ahead it runs. */
    for (const char *quantum : {"cpu.quantum=1", "cpu.quantum=97"}) {
        outcome other;
        run(other, {quantum}, make);
        assert_int_equal(number(other, {"total", "time_ps"}), number(got, {"total", "time_ps"}));
        assert_int_equal(number(other, {"units", "cpu", "stall_cycles"}),
                         number(got, {"units", "cpu", "stall_cycles"}));
    }
}

/* Calls of the host reach memory without direct access, too. */
void test_semihosting(void **)
{
    for (const bool has_debug : {true, false}) {
        cnnvp_config *config = configure({"dram.model=external"});
        cnnvp_error error{};
        cnnvp_platform *platform = nullptr;
        outcome got;
        cnnvp_platform_options options{};
        options.struct_size = sizeof options;
        options.console = collect;
        options.console_context = &got;
        const maker make = loose_memory(20, true, has_debug, false);
        const cnnvp::bind_memory bind = [&](const char *, cnnvp::memory_socket &socket) { return make(socket); };
        char first[] = "first", second[] = "second";
        char *const words[] = {first, second};
        assert_int_equal(cnnvp::platform_new(config, &options, bind, &platform, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_platform_load_elf(platform, SEMIHOST, 2, words, &error), CNNVP_DONE);
        if (cnnvp_platform_run(platform, &got.run) != CNNVP_DONE)
            fail_msg("%s", got.run.reason);
        assert_string_equal(got.console.c_str(), "hello first second");
        cnnvp_platform_free(platform);
        cnnvp_config_free(config);
    }
}

void test_approximate(void **)
{
    const std::vector<std::vector<style>> all = {
        {style::completed},
        {style::updated_resp},
        {style::updated_req},
        {style::accepted},
        {style::early},
        {style::inside},
        {style::accepted, style::inside, style::early, style::updated_req, style::completed, style::updated_resp}};
    for (const std::vector<style> &styles : all) {
        outcome got;
        const bool late = styles.size() == 1 && (styles[0] == style::accepted || styles[0] == style::inside);
        const uint64_t together = late ? 4 : 0;
        run(got, {"dram.protocol=at"}, approximate_memory(styles), check(got, false, together));
        assert_same_work(got, own());
    }
}

/* A memory that tells only time: the platform keeps the data. */
void test_platform_keeps_the_data(void **)
{
    outcome got;
    run(got, {"dram.storage=platform"}, loose_memory(50, false, false, false), check(got, false, 1));
    assert_same_work(got, own());
}

/* What a core with a small cache, or without one, writes has its time, and changes nothing that is there already. */
void test_core_writes(void **)
{
    const std::vector<std::vector<std::string>> cores = {
        {"cpu.memory=cache", "cpu.dcache_size=256", "cpu.dcache_ways=1"}, {"cpu.memory=tcm", "cpu.tcm_size=4096"}};
    for (const std::vector<std::string> &core : cores) {
        outcome alone;
        run(alone, core, nullptr);
        for (const bool at : {false, true})
            for (const bool refuses : {false, true}) {
                outcome got;
                uint64_t kept = 0;
                std::vector<std::string> settings = core;
                settings.push_back(at ? "dram.protocol=at" : "dram.protocol=lt");
                run(
                    got, settings,
                    [&](cnnvp::memory_socket &socket) {
                        std::shared_ptr<store> made;
                        if (at) {
                            const auto late = std::make_shared<checked<approximate>>(
                                socket, std::vector<style>{style::accepted, style::inside, style::completed});
                            late->has_dmi = true;
                            made = late;
                        } else {
                            made = loose_memory(40, true, true, true)(socket);
                        }
                        made->refuses_enables = refuses;
                        return made;
                    },
                    [&](store &memory) { kept = memory.kept; });
                assert_same_work(got, alone);
                assert_true(refuses ? kept == 0 : kept > 100);
                assert_true((got.console.find("takes no byte enables") != std::string::npos) == refuses);
            }
    }
}

void test_timing_only(void **)
{
    outcome full, timing;
    run(full, {}, loose_memory(80, true, true, true));
    run(timing, {}, loose_memory(80, true, true, true), {}, true);
    assert_int_equal(timing.result, CNNVP_DONE);
    assert_int_equal(number(full, {"total", "time_ps"}), number(timing, {"total", "time_ps"}));
    assert_int_equal(number(full, {"memory", "bursts"}), number(timing, {"memory", "bursts"}));
}

void test_repeats(void **)
{
    outcome once, again;
    const std::vector<style> styles = {style::accepted, style::inside, style::early};
    run(once, {"dram.protocol=at"}, approximate_memory(styles));
    run(again, {"dram.protocol=at"}, approximate_memory(styles));
    json_object_del(once.stats, "wall_seconds");
    json_object_del(again.stats, "wall_seconds");
    assert_true(json_equal(once.stats, again.stats));
}

/* A slower memory makes a longer run; fewer bursts in flight as well. */
void test_time_counts(void **)
{
    outcome fast, slow, narrow;
    run(fast, {}, loose_memory(50, false, true, true));
    run(slow, {}, loose_memory(500, false, true, true));
    run(narrow, {"dram.in_flight=1"}, loose_memory(500, true, true, true),
        [](store &memory) { assert_int_equal(memory.most_together, 1); });
    assert_true(number(slow, {"total", "time_ps"}) > number(fast, {"total", "time_ps"}));
    assert_true(number(narrow, {"total", "time_ps"}) > number(slow, {"total", "time_ps"}));
    assert_same_work(narrow, own());
}

/* Errors end in the guest: its message, its exit status, the failed counts. Never an abort. */
void test_errors(void **)
{
    for (const bool at : {false, true}) {
        for (const tlm::tlm_response_status bad : {tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE,
                                                   tlm::TLM_BURST_ERROR_RESPONSE, tlm::TLM_INCOMPLETE_RESPONSE}) {
            outcome got;
            const maker make =
                at ? approximate_memory({style::accepted, style::completed}) : loose_memory(40, true, true, true);
            run(got, at ? std::vector<std::string>{"dram.protocol=at"} : std::vector<std::string>{},
                [&](cnnvp::memory_socket &socket) {
                    auto made = make(socket);
                    made->bad_from = 0;
                    made->good_for = 200;
                    made->bad = bad;
                    return made;
                });
            assert_int_equal(got.result, CNNVP_FAILED);
            assert_int_equal(got.run.end, CNNVP_END_EXIT);
            assert_true(got.run.exit_code != 0);
            assert_non_null(std::strstr(got.console.c_str(), "status 0x"));
            assert_true(number(got, {"units", "dram", "failed"}) > 0);
            assert_true(number(got, {"units", "dram", "errors"}) > 0);
        }
    }
}

/* What no memory may do is an error of its own that the log names. */
void test_broken(void **)
{
    const struct {
        std::function<void(tlm::tlm_generic_payload &, sc_core::sc_time &)> breaks;
        const char *named;
    } cases[] = {
        {[](auto &, auto &) { throw std::runtime_error("no more"); }, "the memory threw: no more"},
        {[](auto &, auto &) { SC_REPORT_ERROR("store", "no more"); },
         "the memory threw: Error: store: no more In file"},
        {[](auto &, auto &delay) { delay = sc_core::sc_max_time(); }, "beyond the end of simulated time"},
        {[](auto &payload, auto &) { payload.set_data_length(4); },
         "the memory changed command, data pointer or length"},
        {[](auto &payload, auto &) { payload.set_read(); }, "the memory changed command, data pointer or length"}};
    for (const auto &broken : cases) {
        outcome got;
        run(got, {}, [&](cnnvp::memory_socket &socket) {
            auto made = std::make_shared<loose>("somebodys_memory", ns(10), false, true, true);
            made->breaks = broken.breaks;
            socket.bind(made->socket);
            return made;
        });
        assert_int_equal(got.result, CNNVP_FAILED);
        assert_int_equal(got.run.end, CNNVP_END_EXIT);
        assert_true(number(got, {"units", "dram", "failed"}) > 0);
        assert_non_null(std::strstr(got.console.c_str(), broken.named));
    }
}

/* A memory that does not answer: the caller gives up, and what is answered later touches nothing of the caller's. */
void test_late_answers(void **)
{
    for (const bool writes : {false, true}) {
        constexpr uint64_t at = 0x80100000;
        cnnvp_config *config = configure({"dram.model=external"});
        cnnvp_platform *platform = nullptr;
        cnnvp_platform_options options{};
        cnnvp_error error{};
        options.struct_size = sizeof options;
        sc_core::sc_event *answer = nullptr;
        bool holds = false;
        const cnnvp::bind_memory bind = [&](const char *, cnnvp::memory_socket &socket) {
            auto made = std::make_shared<loose>("somebodys_memory", ns(10), false, false, false);
            answer = new sc_core::sc_event("answer");
            made->breaks = [&](auto &, auto &) {
                while (holds)
                    sc_core::wait(*answer);
            };
            socket.bind(made->socket);
            return made;
        };
        assert_int_equal(cnnvp::platform_new(config, &options, bind, &platform, &error), CNNVP_DONE);
        const std::vector<unsigned char> data(300, 7);
        assert_int_equal(cnnvp_platform_write(platform, at, data.data(), data.size()), CNNVP_DONE);
        holds = true;
        auto given_up = std::make_unique<std::vector<unsigned char>>(data.size(), 1);
        assert_int_not_equal(writes ? cnnvp_platform_write(platform, at, given_up->data(), given_up->size())
                                    : cnnvp_platform_read(platform, at, given_up->data(), given_up->size()),
                             CNNVP_DONE);
        given_up.reset();
        holds = false;
        answer->notify(sc_core::SC_ZERO_TIME);
        std::vector<unsigned char> read(data.size());
        assert_int_equal(cnnvp_platform_read(platform, at, read.data(), read.size()), CNNVP_DONE);
        assert_true(read == std::vector<unsigned char>(data.size(), writes ? 1 : 7));
        delete answer;
        cnnvp_platform_free(platform);
        cnnvp_config_free(config);
    }
}

/* Taken down while threads are inside the memory, and while responses are due. */
void test_freed_in_mid_transfer(void **)
{
    for (const bool at : {false, true}) {
        cnnvp_config *config = configure(at ? std::vector<std::string>{"dram.model=external", "dram.protocol=at"}
                                            : std::vector<std::string>{"dram.model=external"});
        cnnvp_error error{};
        cnnvp_network *network = nullptr;
        cnnvp_platform *platform = nullptr;
        cnnvp_network_options options{};
        options.struct_size = sizeof options;
        options.images = 1;
        assert_int_equal(cnnvp_network_new(TEST_NETWORK, config, &options, &network, &error), CNNVP_DONE);
        cnnvp_platform_options platform_options{};
        platform_options.struct_size = sizeof platform_options;
        platform_options.verbosity = getenv("LOUD") ? 1 : -1;
        platform_options.max_time_ps = 2'300'000 /* the first transfers are under way */;
        const maker make = at ? approximate_memory({style::accepted}) : loose_memory(5000, true, true, true);
        const cnnvp::bind_memory bind = [&](const char *, cnnvp::memory_socket &socket) { return make(socket); };
        assert_int_equal(cnnvp::platform_new(config, &platform_options, bind, &platform, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
        cnnvp_run_result result{};
        assert_int_equal(cnnvp_platform_run(platform, &result), CNNVP_FAILED);
        assert_int_equal(result.end, CNNVP_END_MAX_TIME);
        cnnvp_platform_free(platform);
        cnnvp_network_free(network);
        cnnvp_config_free(config);
    }
}

void refuse(const std::vector<std::string> &settings, const cnnvp::bind_memory &bind, cnnvp_result result,
            const char *words)
{
    cnnvp_config *config = configure(settings);
    cnnvp_platform *platform = nullptr;
    cnnvp_error error{};
    assert_int_equal(cnnvp::platform_new(config, nullptr, bind, &platform, &error), result);
    if (!std::strstr(error.text, words))
        fail_msg("%s", error.text);
    assert_null(platform);
    cnnvp_config_free(config);
}

void test_refused(void **)
{
    const auto nothing = [](const char *, cnnvp::memory_socket &) { return std::shared_ptr<void>(); };
    const auto thrower = [](const char *, cnnvp::memory_socket &) -> std::shared_ptr<void> {
        throw std::runtime_error("no money");
    };
    refuse({"dram.model=external"}, nullptr, CNNVP_BAD_INPUT, "nothing binds one: as a memory, use model dram");
    refuse({"dram.model=external"}, nothing, CNNVP_BAD_INPUT, "bound no memory");
    refuse({"dram.model=external"}, thrower, CNNVP_FAILED, "no money");
    const auto good = [](const char *, cnnvp::memory_socket &socket) -> std::shared_ptr<void> {
        auto made = std::make_shared<loose>("m", ns(1), false, true, true);
        socket.bind(made->socket);
        return made;
    };
    refuse({"dram.model=external", "dram.burst_bytes=48"}, good, CNNVP_BAD_INPUT, "48 is not a power of two");
    refuse({}, good, CNNVP_BAD_INPUT, "write `memory: external` into its file");
}

/* What `bind` has made may be held for longer than its platform, also where that is not built. */
void test_memory_outlives_platform(void **)
{
    std::vector<std::shared_ptr<store>> held;
    const auto hold = [&](cnnvp::memory_socket *socket) {
        auto made = std::make_shared<loose>("held", ns(1), true, true, true);
        if (socket)
            socket->bind(made->socket);
        held.push_back(made);
        return made;
    };
    const auto bound = [&](const char *, cnnvp::memory_socket &socket) { return hold(&socket); };
    const auto unbound = [&](const char *, cnnvp::memory_socket &) { return hold(nullptr); };
    const auto thrower = [&](const char *, cnnvp::memory_socket &socket) -> std::shared_ptr<void> {
        hold(&socket);
        throw std::runtime_error("no money");
    };
    refuse({"dram.model=external"}, unbound, CNNVP_BAD_INPUT, "bound no memory");
    refuse({"dram.model=external", "dram.burst_bytes=48"}, bound, CNNVP_BAD_INPUT, "48 is not a power of two");
    refuse({"dram.model=external"}, thrower, CNNVP_FAILED, "no money");
    assert_int_equal(held.size(), 3);
    held.clear();
    outcome got;
    run(got, {}, loose_memory(100, true, true, true));
    assert_same_work(got, own());
}

/* A simulation of the program's own: its time and modules are its own, before, between and after a platform's calls. */
struct bystander : sc_core::sc_module {
    sc_core::sc_clock clock{"clock", sc_core::sc_time(10, sc_core::SC_NS)};
    unsigned ticks = 0;
    std::function<void()> work; /* at the fifth tick, in a thread */

    explicit bystander(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        sc_core::sc_spawn_options options;
        sc_core::sc_spawn(
            [this] {
                for (;;) {
                    sc_core::wait(clock.posedge_event());
                    if (++ticks == 5 && work)
                        work();
                }
            },
            "count", &options);
    }
};

void test_simulation_beside(void **)
{
    bystander mine(sc_core::sc_module_name("mine"));
    cnnvp_config *config = configure({});
    cnnvp_platform *held = nullptr, *refused = nullptr;
    cnnvp_error error{}, in_thread{};
    cnnvp_run_result other{};
    cnnvp_result results[4] = {};
    cnnvp_work_info work{};
    outcome alone, inside, beside;
    const auto at = [](unsigned ns) { return sc_core::sc_time_stamp() == sc_core::sc_time(ns, sc_core::SC_NS); };

    assert_int_equal(cnnvp_platform_new(config, nullptr, &held, &error), CNNVP_DONE);
    run(alone, {}, {});
    mine.work = [&] { run(inside, {}, loose_memory(100, true, true, true)); };
    sc_core::sc_start(sc_core::sc_time(105, sc_core::SC_NS));
    assert_true(at(105));
    assert_int_equal(mine.ticks, 11);
    assert_same_work(inside, alone);
    run(beside, {}, {});
    assert_same_work(beside, alone);
    assert_int_equal(beside.run.time_ps, alone.run.time_ps);
    assert_true(at(105));
    assert_int_equal(mine.ticks, 11);
    work.struct_size = sizeof work;
    std::thread([&] {
        results[0] = cnnvp_platform_run(held, &other);
        results[1] = cnnvp_platform_new(config, nullptr, &refused, &in_thread);
        results[2] = cnnvp_platform_describe_work(held, &work);
        results[3] = cnnvp_platform_close_trace(held, nullptr);
    }).join();
    for (const cnnvp_result result : results)
        assert_int_equal(result, CNNVP_FAILED);
    assert_null(refused);
    assert_non_null(std::strstr(other.reason, "another thread"));
    assert_non_null(std::strstr(in_thread.text, "another thread"));
    cnnvp_platform_free(held);
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
    assert_true(at(205));
    assert_int_equal(mine.ticks, 21);
    cnnvp_config_free(config);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_loose_with_dmi),
        cmocka_unit_test(test_dmi_refused),
        cmocka_unit_test(test_only_b_transport),
        cmocka_unit_test(test_semihosting),
        cmocka_unit_test(test_approximate),
        cmocka_unit_test(test_platform_keeps_the_data),
        cmocka_unit_test(test_core_writes),
        cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_time_counts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_late_answers),
        cmocka_unit_test(test_freed_in_mid_transfer),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory_outlives_platform),
        cmocka_unit_test(test_simulation_beside),
    };
    const int failed = cmocka_run_group_tests(tests, nullptr, nullptr);
    return failed != 0 || protocol_faults != 0;
}
