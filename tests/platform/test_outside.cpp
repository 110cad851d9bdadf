/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports of a platform that lead outside: a bus master of the program's, a link between two units that leads through a
 * model of the program's, interrupts both ways, a second memory. A checker of the base protocol stands at each socket.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <jansson.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "cnnvp_network.h"
#include "cnnvp_systemc.h"
#include "memories.h"
#include "own_simulation.h"
#include "tlm_checker.h"

extern "C" {
#include <cmocka.h>
}

namespace {

using sc_core::sc_time;
using payload_type = tlm::tlm_generic_payload;

constexpr uint64_t dram_base = 0x80000000, plic_base = 0x0c000000, scratch = dram_base + (24u << 20);

sc_time ns(double count)
{
    return sc_time(count, sc_core::SC_NS);
}

std::string lines_of_log;

/* In a thread of the simulation, whose stack cmocka does not leave. */
std::string faults;
#define EXPECT(holds)                                              \
    do {                                                           \
        if (!(holds))                                              \
            faults += std::to_string(__LINE__) + ": " #holds "\n"; \
    } while (0)

/* LeNet-5 on the NFU, with these units more. */
struct work {
    cnnvp_config *config = nullptr;
    cnnvp_network *network = nullptr;
    cnnvp_platform_options options{};
    std::vector<float> output;
    json_t *stats = nullptr;

    explicit work(const std::string &units, bool timing_only = false, const char *base = "nfu")
    {
        cnnvp_error error{};
        std::ofstream("outside.yaml") << "base: " << base << "\nunits:\n" << units;
        if (cnnvp_config_new(units.empty() ? base : "outside.yaml", &config, &error) != CNNVP_DONE ||
            cnnvp_config_resolve(config, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        cnnvp_network_options with{};
        with.struct_size = sizeof with;
        with.rounding = CNNVP_ROUND_NEAREST;
        with.images = 2;
        with.timing_only = timing_only;
        if (cnnvp_network_new(TEST_NETWORK, config, &with, &network, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        lines_of_log.clear();
        faults.clear();
        options.struct_size = sizeof options;
        options.timing_only = timing_only;
        options.console = [](void *, const void *, size_t) {};
        options.log = [](void *, int, const char *line) { lines_of_log += line + std::string("\n"); };
    }
    ~work()
    {
        json_decref(stats);
        cnnvp_network_free(network);
        cnnvp_config_free(config);
    }
    work(const work &) = delete;
    work &operator=(const work &) = delete;

    void load(cnnvp::platform &platform)
    {
        cnnvp_error error{};
        if (cnnvp_network_load(network, platform.handle(), &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
    }
    void take(cnnvp::platform &platform)
    {
        cnnvp_error error{};
        char *text = nullptr;
        const cnnvp_run_result result = platform.result();
        if (result.end != CNNVP_END_EXIT || result.exit_code != 0)
            fail_msg("end %d at %llu ps, exit code %d: %s\n%s", int(result.end), (unsigned long long)result.time_ps,
                     result.exit_code, result.reason, lines_of_log.c_str());
        assert_int_equal(cnnvp_platform_stats(platform.handle(), &text), CNNVP_DONE);
        stats = json_loads(text, 0, nullptr);
        free(text);
        if (options.timing_only)
            return;
        cnnvp_array array{};
        if (cnnvp_network_output(network, platform.handle(), 0, &array, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        const auto *values = static_cast<const float *>(array.data);
        output.assign(values, values + array.shape[array.rank - 1]);
        cnnvp_array_clear(&array);
    }
};

json_int_t number(const work &of, const std::vector<const char *> &path)
{
    const json_t *at = of.stats;
    for (const char *name : path)
        at = json_object_get(at, name);
    assert_true(json_is_integer(at));
    return json_integer_value(at);
}

const work &alone(const char *base = "nfu")
{
    static std::map<std::string, std::unique_ptr<work>> all;
    std::unique_ptr<work> &one = all[base];
    if (!one) {
        const simulation mine;
        one = std::make_unique<work>("", false, base);
        cnnvp::platform platform("platform", one->config, &one->options);
        one->load(platform);
        sc_core::sc_start();
        one->take(platform);
    }
    return *one;
}

/* What the accelerator does and moves does not depend on what lies between, only when. */
void assert_same_work(const work &mine, const work &other)
{
    assert_int_equal(mine.output.size(), other.output.size());
    assert_memory_equal(mine.output.data(), other.output.data(), mine.output.size() * sizeof(float));
    for (const auto &[list, names] :
         {std::pair("layers",
                    std::vector<const char *>{"compute_cycles", "input_words", "dram_read_bytes", "dram_write_bytes"}),
          std::pair("tensors", std::vector<const char *>{"read_bytes", "write_bytes"})}) {
        const json_t *left = json_object_get(mine.stats, list), *right = json_object_get(other.stats, list);
        assert_true(json_array_size(left) >= json_array_size(right) && json_array_size(right) > 0);
        for (size_t i = 0; i < json_array_size(right); ++i) /* then what is nobody's of the network */
            for (const char *name : names)
                assert_int_equal(json_integer_value(json_object_get(json_array_get(left, i), name)),
                                 json_integer_value(json_object_get(json_array_get(right, i), name)));
    }
}

void assert_clean(const tlm_checker &checker)
{
    if (!checker.broken.empty())
        fail_msg("%s: %s", checker.name(), checker.text().c_str());
    assert_int_equal(checker.open(), 0);
}

/* ---- a bus master ---- */

/* A thread of the program's with a socket. `at`: four phases by hand, else b_transport. */
struct master : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<master> socket{"socket"};
    const bool at;
    std::function<void(master &)> program;
    bool over = false;

    master(const sc_core::sc_module_name &name, bool in_phases, std::function<void(master &)> does)
        : sc_core::sc_module(name), at(in_phases), program(std::move(does))
    {
        socket.register_nb_transport_bw(this, &master::nb_transport_bw);
        sc_core::sc_spawn([this] {
            program(*this);
            over = true;
        });
    }

    struct ask {
        tlm::tlm_command command;
        uint64_t address;
        unsigned char *data;
        unsigned length, width;
        unsigned char *enables = nullptr;
        unsigned enable_length = 0;
    };
    tlm::tlm_response_status transfer(const ask &what, sc_time *delay = nullptr)
    {
        struct counted : tlm::tlm_mm_interface {
            void free(payload_type *) override {}
        } manager;
        payload_type payload(&manager);
        sc_time none;
        payload.acquire();
        payload.set_command(what.command);
        payload.set_address(what.address);
        payload.set_data_ptr(what.data);
        payload.set_data_length(what.length);
        payload.set_streaming_width(what.width);
        payload.set_byte_enable_ptr(what.enables);
        payload.set_byte_enable_length(what.enable_length);
        if (!at) {
            sc_time &time = delay ? *delay : none;
            socket->b_transport(payload, time);
            sc_core::wait(time);
            time = sc_core::SC_ZERO_TIME;
        } else {
            in_phases(payload, delay ? *delay : none);
        }
        hint = payload.is_dmi_allowed();
        const tlm::tlm_response_status response = payload.get_response_status();
        payload.release();
        return response;
    }
    tlm::tlm_response_status read(uint64_t address, void *data, unsigned length)
    {
        return transfer({tlm::TLM_READ_COMMAND, address, static_cast<unsigned char *>(data), length, length});
    }
    tlm::tlm_response_status write(uint64_t address, const void *data, unsigned length)
    {
        auto *bytes = static_cast<unsigned char *>(const_cast<void *>(data));
        return transfer({tlm::TLM_WRITE_COMMAND, address, bytes, length, length});
    }
    bool hint = false;

private:
    sc_core::sc_event response_;
    bool responded_ = false;

    void in_phases(payload_type &payload, sc_time delay)
    {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        responded_ = false;
        const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload, phase, delay);
        if (answer == tlm::TLM_COMPLETED) {
            sc_core::wait(delay);
            return;
        }
        if (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)
            sc_core::wait(delay);
        else
            while (!responded_)
                sc_core::wait(response_);
        phase = tlm::END_RESP;
        delay = sc_core::SC_ZERO_TIME;
        (void)socket->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(payload_type &, tlm::tlm_phase &phase, sc_time &delay)
    {
        if (phase == tlm::BEGIN_RESP) {
            responded_ = true;
            response_.notify(delay);
        }
        return tlm::TLM_ACCEPTED;
    }
};

const char *const with_master = "  master: {model: external, role: link, connect: {inward: bus}}\n";

/* Memory and registers, beside a network, in every size and shape. */
void use_memory(master &self)
{
    std::vector<unsigned char> large(1u << 16), back(large.size());
    for (size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<unsigned char>(i * 7 + (i >> 9));
    const sc_time begin = sc_core::sc_time_stamp();
    for (const auto &[offset, length] : {std::pair(0u, 64u), {3u, 7u}, {4093u, 9u}, {1u, 1u}, {8192u, 1u << 16}}) {
        EXPECT(self.write(scratch + offset, large.data(), length) == (tlm::TLM_OK_RESPONSE));
        EXPECT(self.hint);
        EXPECT(self.read(scratch + offset, back.data(), length) == (tlm::TLM_OK_RESPONSE));
        EXPECT(std::memcmp(back.data(), large.data(), length) == 0);
    }
    /* 128 KiB at the 25.6 GB/s of DDR4-3200, or slower */
    EXPECT(sc_core::sc_time_stamp() - begin > ns(5120));
    /* every third byte, then four times the same two */
    unsigned char enables[] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_DISABLED};
    std::vector<unsigned char> some(12, 0xee), streamed(8, 0);
    EXPECT(self.write(scratch, large.data(), 12) == (tlm::TLM_OK_RESPONSE));
    EXPECT(self.transfer({tlm::TLM_WRITE_COMMAND, scratch, some.data(), 12, 12, enables, 3}) == (tlm::TLM_OK_RESPONSE));
    EXPECT(self.read(scratch, back.data(), 12) == (tlm::TLM_OK_RESPONSE));
    for (size_t i = 0; i < 12; ++i)
        EXPECT(back[i] == (i % 3 ? large[i] : 0xee));
    EXPECT(self.transfer({tlm::TLM_READ_COMMAND, scratch + 1, streamed.data(), 8, 2}) == (tlm::TLM_OK_RESPONSE));
    for (size_t i = 0; i < 8; ++i)
        EXPECT(streamed[i] == (large[1 + i % 2]));
    const unsigned char last[] = {1, 2, 3, 4, 5, 6};
    EXPECT(self.transfer({tlm::TLM_WRITE_COMMAND, scratch, const_cast<unsigned char *>(last), 6, 3}) ==
           (tlm::TLM_OK_RESPONSE));
    EXPECT(self.read(scratch, back.data(), 4) == (tlm::TLM_OK_RESPONSE));
    EXPECT(std::memcmp(back.data(), "\x04\x05\x06", 3) == 0);
    EXPECT(back[3] == (0xee));
}

void use_registers(master &self)
{
    uint32_t value = 5, before = 0;
    unsigned char enables[] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
    auto *bytes = reinterpret_cast<unsigned char *>(&value);
    const auto ask = [&](uint64_t address, unsigned length, unsigned width, unsigned char *enable = nullptr) {
        return self.transfer({tlm::TLM_READ_COMMAND, address, bytes, length, width, enable, enable ? 2u : 0u});
    };
    constexpr uint64_t priority = plic_base + 4 * 31; /* of a source that nothing drives */
    EXPECT(self.read(priority, &before, 4) == (tlm::TLM_OK_RESPONSE));
    EXPECT(self.write(priority, &value, 4) == (tlm::TLM_OK_RESPONSE));
    EXPECT(!(self.hint));
    value = 0;
    EXPECT(self.read(priority, &value, 4) == (tlm::TLM_OK_RESPONSE));
    EXPECT(value == 5 && before == 0);
    EXPECT(ask(priority, 4, 4, enables) == (tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE));
    EXPECT(ask(priority, 4, 2) == (tlm::TLM_BURST_ERROR_RESPONSE));
    EXPECT(ask(priority + 2, 4, 4) == (tlm::TLM_COMMAND_ERROR_RESPONSE));
    EXPECT(ask(0x70000000, 4, 4) == (tlm::TLM_ADDRESS_ERROR_RESPONSE));
    EXPECT(ask(dram_base - 2, 4, 4) == (tlm::TLM_ADDRESS_ERROR_RESPONSE));
    /* annotated time passes first */
    sc_time delay = ns(3000);
    const sc_time begin = sc_core::sc_time_stamp();
    EXPECT(self.transfer({tlm::TLM_READ_COMMAND, priority, bytes, 4, 4}, &delay) == (tlm::TLM_OK_RESPONSE));
    EXPECT(sc_core::sc_time_stamp() - begin == ns(3000));
    EXPECT(self.transfer({tlm::TLM_IGNORE_COMMAND, 0, nullptr, 0, 0}) == (tlm::TLM_OK_RESPONSE));
}

void test_master(void **)
{
    for (const bool at : {false, true}) {
        const simulation mine;
        work network(with_master);
        cnnvp::platform platform("platform", network.config, &network.options);
        tlm_checker checker("checker");
        master other("other", at, [](master &self) {
            use_memory(self);
            use_registers(self);
        });
        cnnvp::width<32, 64> wide("wide");
        cnnvp::width<64, 32> narrow("narrow");
        other.socket.bind(checker.from);
        checker.to.bind(wide.in);
        wide.out.bind(narrow.in);
        narrow.out.bind(platform.target_socket("master"));
        network.load(platform);
        sc_core::sc_start(ns(2000000));
        assert_string_equal(faults.c_str(), "");
        assert_true(other.over);
        network.take(platform);
        assert_same_work(network, alone());
        assert_clean(checker);
        assert_true(checker.hints > 8 && (at ? checker.phases : checker.blocking) > 25);
        assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
    }
}

/* Debug transport, direct memory, and both where they are refused. */
void test_master_shortcuts(void **)
{
    for (const char *dmi : {"on", "off"}) {
        const simulation mine;
        work network(
            std::string("  master: {model: external, role: link, connect: {inward: dram}, dmi: ") + dmi + "}\n");
        cnnvp::platform platform("platform", network.config, &network.options);
        tlm_checker checker("checker");
        const bool gives = std::strcmp(dmi, "on") == 0;
        master other("other", false, [gives](master &self) {
            payload_type payload;
            tlm::tlm_dmi direct;
            unsigned char byte = 0x5a;
            payload.set_command(tlm::TLM_READ_COMMAND);
            payload.set_address(scratch + 5);
            EXPECT(self.write(scratch + 5, &byte, 1) == (tlm::TLM_OK_RESPONSE));
            EXPECT(self.hint == (gives));
            EXPECT(self.socket->get_direct_mem_ptr(payload, direct) == (gives));
            if (gives)
                EXPECT(direct.get_dmi_ptr()[scratch + 5 - direct.get_start_address()] == (0x5a));
            payload.set_address(0x1000);
            EXPECT(!(self.socket->get_direct_mem_ptr(payload, direct)));
            payload.set_data_ptr(&byte);
            payload.set_data_length(1);
            payload.set_streaming_width(1);
            EXPECT(self.socket->transport_dbg(payload) == (0));
            byte = 0;
            payload.set_address(scratch + 5);
            EXPECT(self.socket->transport_dbg(payload) == (1));
            EXPECT(byte == (0x5a));
            EXPECT(self.read(dram_base - 1, &byte, 1) == (tlm::TLM_ADDRESS_ERROR_RESPONSE));
        });
        other.socket.bind(checker.from);
        checker.to.bind(platform.target_socket("master"));
        sc_core::sc_start(ns(1000));
        assert_string_equal(faults.c_str(), "");
        assert_true(other.over);
        assert_clean(checker);
        assert_int_equal(checker.granted, gives);
    }
}

/* What breaks the standard is answered and named, and does no harm; so is what comes after the end. */
void test_master_wrong(void **)
{
    const simulation mine;
    work network(with_master);
    cnnvp::platform platform("platform", network.config, &network.options);
    std::vector<int> answers;
    uint32_t late = 0;
    bool waited = true;
    master other("other", false, [&](master &self) {
        unsigned char byte = 0, enable = TLM_BYTE_ENABLED;
        answers.push_back(self.read(scratch, &byte, 0));
        answers.push_back(self.transfer({tlm::TLM_READ_COMMAND, scratch, &byte, 1, 0}));
        answers.push_back(self.read(scratch, nullptr, 4));
        answers.push_back(self.transfer({tlm::TLM_READ_COMMAND, scratch, &byte, 1, 1, &enable, 0}));
        answers.push_back(self.read(~uint64_t(0), &byte, 2));
        sc_core::wait(platform.done_event());
        sc_core::wait(ns(100));
        const sc_time begin = sc_core::sc_time_stamp();
        const uint32_t value = 0x12345678;
        answers.push_back(self.write(scratch, &value, 4));
        answers.push_back(self.read(scratch, &late, 4));
        answers.push_back(self.write(plic_base + 4, &value, 4));
        waited = sc_core::sc_time_stamp() != begin;
    });
    other.socket.bind(platform.target_socket("master"));
    network.load(platform);
    sc_core::sc_start(ns(2000000));
    assert_true(other.over);
    network.take(platform);
    assert_same_work(network, alone());
    assert_int_equal(number(network, {"total", "time_ps"}), number(alone(), {"total", "time_ps"}));
    const std::vector<int> expected = {
        tlm::TLM_BURST_ERROR_RESPONSE,
        tlm::TLM_BURST_ERROR_RESPONSE,
        tlm::TLM_GENERIC_ERROR_RESPONSE,
        tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
        tlm::TLM_ADDRESS_ERROR_RESPONSE,
        tlm::TLM_OK_RESPONSE,
        tlm::TLM_OK_RESPONSE,
        tlm::TLM_COMMAND_ERROR_RESPONSE};
    assert_true(answers == expected);
    assert_true(late == 0x12345678 && !waited);
    for (const char *what : {"data length 0", "streaming width 0", "data pointer is null", "byte enables of length 0",
                             "beyond 64-bit addresses"})
        assert_says(lines_of_log, what);
}

/* A master that waits for memory when the run ends has its data at once. */
void test_master_at_end(void **)
{
    const simulation mine;
    work network("  master: {model: external, role: link, connect: {inward: bus}, in_flight: 1}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    std::vector<unsigned char> bytes(1u << 20), back(bytes.size());
    sc_time began, ended;
    master other("other", false, [&](master &self) {
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(i * 5);
        EXPECT(self.write(scratch, bytes.data(), 1u << 20) == tlm::TLM_OK_RESPONSE);
        while (platform.result().end == CNNVP_END_MAX_TIME) {
            began = sc_core::sc_time_stamp();
            back.assign(back.size(), 0);
            EXPECT(self.read(scratch, back.data(), 1u << 20) == tlm::TLM_OK_RESPONSE);
            ended = sc_core::sc_time_stamp();
        }
    });
    other.socket.bind(platform.target_socket("master"));
    network.load(platform);
    sc_core::sc_start(ns(20000000));
    assert_true(other.over);
    assert_string_equal(faults.c_str(), "");
    assert_true(began.value() < platform.result().time_ps);
    assert_int_equal(ended.value(), platform.result().time_ps);
    assert_memory_equal(bytes.data(), back.data(), bytes.size());
    network.take(platform);
    assert_same_work(network, alone());
}

/* A master that never stops writing, faster than the memory takes it, leaves the network its turns. */
void test_master_writes(void **)
{
    const simulation mine;
    work network(with_master, true);
    cnnvp::platform platform("platform", network.config, &network.options);
    std::vector<unsigned char> bytes(1u << 20);
    master other("other", false, [&](master &self) {
        while (platform.result().end == CNNVP_END_MAX_TIME)
            EXPECT(self.write(scratch, bytes.data(), 1u << 20) == tlm::TLM_OK_RESPONSE);
    });
    other.socket.bind(platform.target_socket("master"));
    network.load(platform);
    sc_core::sc_start(sc_time(2, sc_core::SC_MS));
    network.take(platform);
    assert_string_equal(faults.c_str(), "");
    assert_true(number(network, {"units", "dram", "requesters", "master", "write_bytes"}) > 1 << 20);
}

/* A simulation that is left while a master waits for memory. */
void leave_master()
{
    const simulation mine;
    work network(with_master);
    cnnvp::platform platform("platform", network.config, &network.options);
    std::vector<unsigned char> bytes(1u << 20);
    master other("other", false, [&](master &self) { (void)self.read(scratch, bytes.data(), 1u << 20); });
    other.socket.bind(platform.target_socket("master"));
    network.load(platform);
    sc_core::sc_start(ns(1000));
    assert_false(other.over);
}

/* What is mapped where the stacks were of threads in mid-run is memory like any other. */
void test_master_left(void **)
{
    leave_master();
    std::vector<void *> maps;
    for (int i = 0; i < 64; i++) {
        maps.push_back(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        assert_true(maps.back() != MAP_FAILED);
        memset(maps.back(), i, 65536);
    }
    for (void *map : maps)
        munmap(map, 65536);
}

/* ---- a link ---- */

/* Between two units of the platform: a network on chip of the program's, which takes 10 ns each way. */
struct network_on_chip : sc_core::sc_module {
    sc_time takes = ns(10);
    bool waits = true;
    std::function<bool(payload_type &, sc_time &)> instead; /* true: it has been dealt with */
    tlm_utils::simple_target_socket<network_on_chip> in{"in"};
    tlm_utils::simple_initiator_socket<network_on_chip> out{"out"};
    bool copies;

    network_on_chip(const sc_core::sc_module_name &name, bool makes_payloads)
        : sc_core::sc_module(name), copies(makes_payloads)
    {
        in.register_b_transport(this, &network_on_chip::b_transport);
        in.register_transport_dbg(this, &network_on_chip::transport_dbg);
        in.register_get_direct_mem_ptr(this, &network_on_chip::get_direct_mem_ptr);
    }
    void b_transport(payload_type &payload, sc_time &delay)
    {
        if (waits)
            sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
        if (waits)
            sc_core::wait(takes);
        else
            delay += takes;
        if (instead && instead(payload, delay))
            return;
        if (copies) {
            payload_type own;
            std::vector<unsigned char> bytes(payload.get_data_length());
            own.set_data_ptr(bytes.data());
            own.deep_copy_from(payload);
            own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            out->b_transport(own, delay);
            payload.update_original_from(own, false);
        } else {
            out->b_transport(payload, delay);
        }
        delay += takes;
    }
    unsigned transport_dbg(payload_type &payload) { return out->transport_dbg(payload); }
    bool get_direct_mem_ptr(payload_type &payload, tlm::tlm_dmi &dmi) { return out->get_direct_mem_ptr(payload, dmi); }
};

void test_link(void **)
{
    json_int_t times[2] = {0, 0};
    for (const char *more : {"", ", protocol: at", ", in_flight: 1"})
        for (const bool copies : {false, true}) {
            const simulation mine;
            work network(std::string("  noc: {model: external, role: link, connect: {inward: dram}") + more +
                         "}\n  dma: {connect: {mem: noc}}\n");
            cnnvp::platform platform("platform", network.config, &network.options);
            network_on_chip noc("noc_model", copies);
            tlm_checker before("before"), behind("behind");
            platform.initiator_socket("noc").bind(before.from);
            before.to.bind(noc.in);
            noc.out.bind(behind.from);
            behind.to.bind(platform.target_socket("noc"));
            network.load(platform);
            sc_core::sc_start(ns(4000000));
            network.take(platform);
            assert_same_work(network, alone());
            assert_clean(before);
            assert_clean(behind);
            /* a monitor has seen every byte; nothing is counted twice, and what is DRAM's is DRAM's */
            const json_int_t all =
                number(network, {"memory", "read_bytes"}) + number(network, {"memory", "write_bytes"});
            assert_int_equal(before.bytes, behind.bytes);
            assert_true(all - json_int_t(before.bytes) >= 0 && all - json_int_t(before.bytes) < 4096); /* of `fetch` */
            for (const char *name : {"read_bytes", "write_bytes"})
                assert_int_equal(number(network, {"memory", name}), number(alone(), {"memory", name}));
            assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
            if (*more == '\0')
                times[copies] = number(network, {"total", "time_ps"});
            else if (std::strstr(more, "in_flight"))
                assert_true(number(network, {"total", "time_ps"}) > times[copies]);
        }
    assert_int_equal(times[0], times[1]);
}

/* What is no memory's crosses whole, and what the model annotates is time. A link that takes none changes no cycle. */
struct whole_link {
    const char *base, *from, *port, *to;
};

const whole_link whole_links[] = {
    {"nfu", "instruction", "array", "pe_array"},
    {"nfu", "instruction", "dma", "dma"},
    {"nfu", "pe_array", "input", "input_buffer"},
    {"nfu", "pe_array", "output", "output_buffer"},
    {"nfu", "dma", "input", "input_buffer"},
    {"trainer", "relu", "next", "quantise"},
    {"trainer", "multi_function", "batch_norm", "batch_norm"}};

std::string units_of(const whole_link &link)
{
    return std::string("  noc: {model: external, role: link, connect: {inward: ") + link.to + "}}\n  " + link.from +
           ": {connect: {" + link.port + ": noc}}\n";
}

/* The program's model, with checkers at both sides; runs the network. */
struct whole_run {
    const simulation mine;
    work network;
    cnnvp::platform platform{"platform", network.config, &network.options};
    network_on_chip noc;
    tlm_checker before{"before"}, behind{"behind"};

    whole_run(const whole_link &link, bool copies, double takes)
        : network(units_of(link), false, link.base), noc("noc_model", copies)
    {
        noc.takes = ns(takes);
        noc.waits = false;
        platform.initiator_socket("noc").bind(before.from);
        before.to.bind(noc.in);
        noc.out.bind(behind.from);
        behind.to.bind(platform.target_socket("noc"));
        network.load(platform);
    }
};

void test_link_whole(void **)
{
    for (const whole_link &link : whole_links) {
        const work &other = alone(link.base);
        for (const double takes : {0.0, 10.0})
            for (const bool copies : {false, true}) {
                whole_run run(link, copies, takes);
                sc_core::sc_start(ns(40000000));
                run.network.take(run.platform);
                assert_same_work(run.network, other);
                assert_clean(run.before);
                assert_clean(run.behind);
                assert_int_equal(run.before.blocking, run.behind.blocking);
                assert_int_equal(run.before.bytes, run.behind.bytes);
                assert_true(run.before.blocking > 0);
                const json_int_t longer =
                    number(run.network, {"total", "time_ps"}) - number(other, {"total", "time_ps"});
                const json_int_t cycles =
                    number(run.network, {"total", "accel_cycles"}) - number(other, {"total", "accel_cycles"});
                /* the array is busy with its own work and with what is on its way */
                assert_int_equal(longer, cycles * (std::strcmp(link.base, "nfu") == 0 ? 1000 : 5000));
                assert_true(takes > 0 ? longer > 0 : longer == 0);
            }
    }
}

/* All of the core's accesses: registers with their effects and time, memory by direct memory or without time. */
void test_link_of_core(void **)
{
    for (const char *dmi : {"on", "off"}) {
        const simulation mine;
        work network(std::string("  noc: {model: external, role: link, connect: {inward: bus}, dmi: ") + dmi +
                     "}\n  cpu: {connect: {bus: noc}}\n");
        cnnvp::platform platform("platform", network.config, &network.options);
        network_on_chip noc("noc_model", false);
        tlm_checker before("before"), behind("behind");
        platform.initiator_socket("noc").bind(before.from);
        before.to.bind(noc.in);
        noc.out.bind(behind.from);
        behind.to.bind(platform.target_socket("noc"));
        network.load(platform);
        sc_core::sc_start(ns(4000000));
        network.take(platform);
        assert_same_work(network, alone());
        assert_clean(before);
        assert_clean(behind);
        assert_true(before.blocking > 20 && before.blocking == behind.blocking);
        assert_int_equal(before.granted > 0, std::strcmp(dmi, "on") == 0);
        assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
    }
}

/* A model that waits, answers by itself, hands on pieces, or what is over; one that refuses. */
void test_link_whole_wrong(void **)
{
    enum wrong { WAITS, ANSWERS, PIECES, LATE, REFUSES };
    static const char *const says[] = {"the model at the socket has waited", "has to pass on to target_socket(\"noc\")",
                                       "come back in pieces", "come back when that was over", "refused"};
    for (const wrong what : {WAITS, ANSWERS, PIECES, LATE, REFUSES}) {
        whole_run run(whole_links[0], false, 0);
        payload_type kept;
        std::vector<unsigned char> bytes(1024);
        run.noc.waits = what == WAITS;
        run.noc.instead = [&](payload_type &payload, sc_time &delay) {
            payload.set_response_status(what == REFUSES ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
            kept.set_data_ptr(bytes.data());
            kept.set_byte_enable_ptr(nullptr);
            kept.deep_copy_from(payload);
            kept.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            if (what == PIECES) {
                kept.set_data_length(payload.get_data_length() / 2);
                kept.set_streaming_width(kept.get_data_length());
                run.noc.out->b_transport(kept, delay);
                payload.set_response_status(kept.get_response_status());
            }
            if (what == LATE)
                sc_core::sc_spawn([&] {
                    sc_time none;
                    sc_core::wait(ns(1));
                    run.noc.out->b_transport(kept, none);
                    EXPECT(kept.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
                });
            return what != WAITS;
        };
        sc_core::sc_start(ns(100000));
        assert_string_equal(faults.c_str(), "");
        const cnnvp_run_result result = run.platform.result();
        assert_true(
            what == WAITS ? result.end == CNNVP_END_FATAL : result.end == CNNVP_END_EXIT && result.exit_code != 0);
        if (what != REFUSES)
            assert_says(what == WAITS ? result.reason : lines_of_log, says[what]);
    }
}

/* On the bus in front of a device's registers and memory: the core's accesses go through it. */
void test_link_errors(void **)
{
    const simulation mine;
    work network("  noc: {model: external, role: link, connect: {inward: dram}}\n  dma: {connect: {mem: noc}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    memories::loose broken("broken", ns(100), true, true, true);
    master none("none", false, [](master &) {});
    platform.initiator_socket("noc").bind(broken.socket);
    broken.bad_from = 0;
    broken.good_for = 20;
    broken.burst = 64;
    none.socket.bind(platform.target_socket("noc"));
    network.load(platform);
    sc_core::sc_start(ns(4000000));
    assert_int_equal(platform.result().end, CNNVP_END_EXIT);
    assert_true(platform.result().exit_code != 0);
    assert_says(lines_of_log, "the memory at the socket answered");
}

/* A link that never answers is named as what is waited for. */
void test_link_silent(void **)
{
    const simulation mine;
    work network("  noc: {model: external, role: link, connect: {inward: dram}}\n  dma: {connect: {mem: noc}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    memories::loose silent("silent", sc_time(10, sc_core::SC_SEC), true, true, true);
    master none("none", false, [](master &) {});
    platform.initiator_socket("noc").bind(silent.socket);
    none.socket.bind(platform.target_socket("noc"));
    network.load(platform);
    sc_core::sc_start(ns(4000000));
    assert_int_equal(platform.result().end, CNNVP_END_MAX_TIME);
    assert_says(platform.result().reason, "of noc");
}

/* ---- direct memory that is withdrawn ---- */

/* A memory that moves its bytes while others run: it gives direct memory, withdraws it, leaves nothing of use where the
 * bytes were, gives none for a while, and gives it again where they are now. */
struct mover : sc_core::sc_module {
    std::function<bool()> goes_on = [] { return true; };
    tlm_utils::simple_target_socket<mover> socket{"socket"};
    memories::store other, here;
    bool gives = true;
    unsigned moves = 0, granted_after = 0;

    explicit mover(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        socket.register_b_transport(this, &mover::b_transport);
        socket.register_transport_dbg(this, &mover::transport_dbg);
        socket.register_get_direct_mem_ptr(this, &mover::get_direct_mem_ptr);
        sc_core::sc_spawn([this] {
            for (; goes_on(); moves += 1) {
                sc_core::wait(ns(2000));
                gives = false;
                socket->invalidate_direct_mem_ptr(0, memories::store::size - 1);
                std::memcpy(other.bytes.get(), here.bytes.get(), used);
                std::swap(here.bytes, other.bytes);
                std::memset(other.bytes.get(), 0xa5, used);
                sc_core::wait(ns(500));
                gives = true;
            }
        });
    }
    static constexpr size_t used = size_t(32) << 20;
    void b_transport(payload_type &payload, sc_time &delay)
    {
        delay += ns(40);
        here.serve(payload);
        payload.set_dmi_allowed(gives);
    }
    unsigned transport_dbg(payload_type &payload) { return here.debug(payload); }
    bool get_direct_mem_ptr(payload_type &, tlm::tlm_dmi &dmi)
    {
        dmi.set_start_address(0);
        dmi.set_end_address(memories::store::size - 1);
        dmi.allow_read_write();
        dmi.set_dmi_ptr(here.bytes.get());
        granted_after += gives && moves > 0;
        return gives;
    }
};

/* Nothing is lost, by the core, by units, or by a bus master that has got direct memory, too. */
void test_withdrawal(void **)
{
    for (const char *more : {"", "  cpu: {memory: cache}\n"}) {
        const simulation mine;
        work network(std::string(with_master) + "  dram: {model: external, at: 0x80000000}\n" + more);
        cnnvp::platform platform("platform", network.config, &network.options);
        mover memory("memory");
        memory.goes_on = [&] { return platform.result().end == CNNVP_END_MAX_TIME; };
        tlm_checker at_memory("at_memory"), at_master("at_master");
        unsigned grants = 0;
        master other("other", false, [&](master &self) {
            for (unsigned i = 0; i < 50; ++i) {
                payload_type payload;
                tlm::tlm_dmi dmi;
                payload.set_write();
                payload.set_address(scratch);
                grants += self.socket->get_direct_mem_ptr(payload, dmi);
                sc_core::wait(ns(700));
            }
        });
        platform.initiator_socket("dram").bind(at_memory.from);
        at_memory.to.bind(memory.socket);
        other.socket.bind(at_master.from);
        at_master.to.bind(platform.target_socket("master"));
        network.load(platform);
        sc_core::sc_start(ns(8000000));
        network.take(platform);
        assert_memory_equal(network.output.data(), alone().output.data(), network.output.size() * sizeof(float));
        assert_clean(at_memory);
        assert_clean(at_master);
        assert_int_equal(memory.here.broken, 0);
        assert_true(memory.moves > 5 && memory.granted_after > 5 && grants > 10 && grants < 50);
        assert_true(at_memory.invalidated > 5 && at_master.invalidated > 5);
    }
}

/* ---- interrupts ---- */

/* The core's own interrupt leads out, over two signals, and back in. */
void test_interrupts(void **)
{
    const simulation mine;
    work network("  plic: {connect: {external: wire}}\n  wire: {model: external, connect: {irq: cpu.irq.2}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    sc_core::sc_signal<bool> out("out"), back("back");
    unsigned rises = 0;
    platform.irq_out("wire").bind(out);
    platform.irq_in("wire").bind(back);
    sc_core::sc_spawn([&] {
        for (;;) {
            sc_core::wait(out.default_event());
            sc_core::wait(ns(3));
            back.write(out.read());
            rises += out.read();
        }
    });
    network.load(platform);
    sc_core::sc_start(ns(2000000));
    network.take(platform);
    assert_same_work(network, alone());
    assert_true(rises > 0);
    assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
}

/* From C, between two pieces of a run: a source is pending when it is raised, and the controller says so. */
void test_registers_from_c(void **)
{
    work network("  button: {model: external, irq: 4}\n");
    cnnvp_platform *platform = nullptr;
    cnnvp_error error{};
    cnnvp_run_result run{};
    uint32_t pending = 1, priority = 0;
    constexpr uint64_t pending_at = plic_base + 0x1000, priority_at = plic_base + 4 * 4;
    if (cnnvp_platform_new(network.config, &network.options, &platform, &error) != CNNVP_DONE ||
        cnnvp_network_load(network.network, platform, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform_set_max_time(platform, 5000000);
    assert_int_equal(cnnvp_platform_run(platform, &run), CNNVP_FAILED);
    assert_int_equal(run.end, CNNVP_END_MAX_TIME);
    assert_int_equal(cnnvp_platform_write_register(platform, priority_at, 0), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_read_register(platform, pending_at, &pending), CNNVP_DONE);
    assert_int_equal(pending & 16u, 0);
    assert_int_equal(cnnvp_platform_set_irq(platform, "button", 1), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_read_register(platform, pending_at, &pending), CNNVP_DONE);
    assert_int_equal(pending & 16u, 16);
    assert_int_equal(cnnvp_platform_write_register(platform, priority_at, 5), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_read_register(platform, priority_at, &priority), CNNVP_DONE);
    assert_int_equal(priority, 5);
    assert_int_equal(cnnvp_platform_set_irq(platform, "uart", 1), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_set_irq(platform, "nobody", 1), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_read_register(platform, 0x70000000, &pending), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_write_register(platform, priority_at + 2, 1), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_write_register(platform, priority_at, 0), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_set_irq(platform, "button", 0), CNNVP_DONE);
    cnnvp_platform_set_max_time(platform, 0);
    assert_int_equal(cnnvp_platform_run(platform, &run), CNNVP_DONE);
    cnnvp_platform_free(platform);
}

/* ---- two memories ---- */

void test_memories(void **)
{
    const simulation mine;
    work network(
        "  code: {model: external, size: 4GiB, offset: 0x100000000}\n  instruction: {connect: {fetch: code}}\n");
    cnnvp::accelerator npu("npu", network.config, &network.options);
    assert_int_equal(npu.mem.size(), 2);
    assert_true(&npu.mem[0] == &npu.initiator_socket("dram"));
    assert_true(&npu.mem[1] == &npu.initiator_socket("code"));
}

/* ---- what is wrong ---- */

void test_refused(void **)
{
    {
        const simulation mine;
        work network(with_master);
        cnnvp::platform platform("platform", network.config, &network.options);
        assert_says(refusal([&] { platform.initiator_socket("master"); }),
                    "platform: no instance \"master\" leads outside");
        assert_says(refusal([&] { platform.target_socket("dram"); }), "platform: no instance \"dram\" leads inside");
        assert_says(refusal([&] { platform.irq_in("master"); }),
                    "no instance \"master\" leads outside and has an interrupt");
        assert_says(refusal([&] { platform.irq_out("uart"); }), "no instance \"uart\" leads outside");
        assert_says(refusal([] { sc_core::sc_start(ns(1)); }), "platform.master_inside.socket");
    }
    {
        const simulation mine;
        work network("  noc: {model: external, role: link, connect: {inward: dram}}\n  dma: {connect: {mem: noc}}\n");
        cnnvp::platform platform("platform", network.config, &network.options);
        memories::loose one("one", ns(1), false, true, true), other("other", ns(1), false, true, true);
        master back("back", false, [](master &) {});
        back.socket.bind(platform.target_socket("noc"));
        platform.initiator_socket("noc").bind(one.socket);
        assert_says(refusal([&] {
                        platform.initiator_socket("noc").bind(other.socket);
                        sc_core::sc_start(ns(1));
                    }),
                    "platform.noc_outside.socket");
    }
    work network(with_master);
    cnnvp_platform *platform = nullptr;
    cnnvp_error error{};
    assert_int_equal(cnnvp_platform_new(network.config, nullptr, &platform, &error), CNNVP_BAD_INPUT);
    assert_says(error.text, "outside.yaml:3:3: master: this link leads through a third-party model");
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_master),           cmocka_unit_test(test_master_shortcuts),
        cmocka_unit_test(test_master_wrong),     cmocka_unit_test(test_link),
        cmocka_unit_test(test_link_whole),       cmocka_unit_test(test_link_whole_wrong),
        cmocka_unit_test(test_link_of_core),     cmocka_unit_test(test_withdrawal),
        cmocka_unit_test(test_link_errors),      cmocka_unit_test(test_link_silent),
        cmocka_unit_test(test_interrupts),       cmocka_unit_test(test_memories),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_master_at_end),
        cmocka_unit_test(test_registers_from_c), cmocka_unit_test(test_master_left),
        cmocka_unit_test(test_master_writes),
    };
    const auto run_alone = [](void **) {
        (void)alone();
        return 0;
    };
    return cmocka_run_group_tests(tests, run_alone, nullptr);
}
