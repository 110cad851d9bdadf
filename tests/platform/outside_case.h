/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of ports that lead outside: a network on a platform with such a port, and a bus master of the
 * program's. A checker of the base protocol stands at each socket.
 */
#ifndef OUTSIDE_CASE_H
#define OUTSIDE_CASE_H

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
#include <vector>

#include <jansson.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "cnnvp_network.h"
#include "cnnvp_systemc.h"
#include "own_simulation.h"
#include "tlm_checker.h"

extern "C" {
#include <cmocka.h>
}

namespace outside {

using sc_core::sc_time;
using payload_type = tlm::tlm_generic_payload;

constexpr uint64_t dram_base = 0x80000000, plic_base = 0x0c000000, scratch = dram_base + (24u << 20);

inline sc_time ns(double count)
{
    return sc_time(count, sc_core::SC_NS);
}

inline const char *platform_file = "outside.yaml"; /* tests that run side by side have one each */
inline std::string lines_of_log;

/* In a thread of the simulation, whose stack cmocka does not leave. */
inline std::string faults;
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
        std::ofstream(platform_file) << "base: " << base << "\nunits:\n" << units;
        if (cnnvp_config_new(units.empty() ? base : platform_file, &config, &error) != CNNVP_DONE ||
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

inline json_int_t number(const work &of, const std::vector<const char *> &path)
{
    const json_t *at = of.stats;
    for (const char *name : path)
        at = json_object_get(at, name);
    assert_true(json_is_integer(at));
    return json_integer_value(at);
}

inline const work &alone(const char *base = "nfu")
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
inline void assert_same_work(const work &mine, const work &other)
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

inline void assert_clean(const tlm_checker &checker)
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

inline const char *const with_master = "  master: {model: external, role: link, connect: {inward: bus}}\n";

} // namespace outside

#endif
