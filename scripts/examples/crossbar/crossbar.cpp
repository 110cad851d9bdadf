/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crossbar of your own between the platform's two accelerators and its DRAM. It passes one transaction at a time, at
 * BYTES per ns. If both accelerators wait, they take turns. It knows nothing of cnnvp, and forwards each payload
 * unchanged: crossbar crossbar.yaml lenet5 BYTES crossbar.vcd
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <cnnvp_network.h>
#include <cnnvp_systemc.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

struct crossbar : sc_core::sc_module {
    tlm_utils::simple_target_socket_tagged<crossbar> from[2];
    tlm_utils::simple_initiator_socket<crossbar> to[2];
    unsigned long passed[2] = {}, waited[2] = {};

    crossbar(const sc_core::sc_module_name &name, double bytes_per_ns)
        : sc_core::sc_module(name), bytes_per_ns_(bytes_per_ns)
    {
        for (int i = 0; i < 2; ++i)
            from[i].register_b_transport(this, &crossbar::b_transport, i);
    }

private:
    const double bytes_per_ns_;
    bool busy_ = false;
    int turn_ = 0;
    unsigned waiting_[2] = {};
    sc_core::sc_event free_;

    void b_transport(int id, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        wait(delay);
        delay = sc_core::SC_ZERO_TIME;
        waited[id] += busy_ ? 1 : 0;
        ++waiting_[id];
        while (busy_ || (waiting_[1 - id] > 0 && turn_ != id))
            wait(free_);
        --waiting_[id];
        busy_ = true;
        turn_ = 1 - id;
        wait(payload.get_data_length() / bytes_per_ns_, sc_core::SC_NS);
        busy_ = false;
        free_.notify();
        ++passed[id];
        to[id]->b_transport(payload, delay);
    }
};

static void must(cnnvp_result result, const cnnvp_error &error)
{
    if (result != CNNVP_DONE)
        throw std::runtime_error(error.text);
}

static void run(const char *platform_file, const char *network_file, double bytes_per_ns, const char *trace)
{
    cnnvp_error error{};
    cnnvp_config *config = nullptr;
    cnnvp_network *network = nullptr;
    cnnvp_network_options options{};
    options.struct_size = sizeof options;
    options.rounding = CNNVP_ROUND_NEAREST;
    options.images = 4;
    must(cnnvp_config_new(platform_file, &config, &error), error);
    must(cnnvp_config_resolve(config, &error), error);
    must(cnnvp_network_new(network_file, config, &options, &network, &error), error);

    cnnvp_platform_options traced{};
    traced.struct_size = sizeof traced;
    traced.trace = trace;
    cnnvp::platform platform("platform", config, &traced);
    crossbar between("between", bytes_per_ns);
    int i = 0;
    for (const char *link : {"link", "link_2"}) {
        platform.initiator_socket(link).bind(between.from[i]);
        between.to[i++].bind(platform.target_socket(link));
    }
    must(cnnvp_network_load(network, platform.handle(), &error), error);
    sc_core::sc_start();

    const cnnvp_run_result result = platform.result();
    if (result.end != CNNVP_END_EXIT || result.exit_code != 0)
        throw std::runtime_error(result.reason);
    std::printf("%.3f us; passed %lu and %lu, of which %lu and %lu found it busy\n", double(result.time_ps) / 1e6,
                between.passed[0], between.passed[1], between.waited[0], between.waited[1]);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
}

int sc_main(int argc, char *argv[])
{
    if (argc != 5) {
        std::fprintf(stderr, "usage: crossbar PLATFORM.yaml NETWORK.onnx BYTES-PER-NS TRACE\n");
        return 2;
    }
    try {
        run(argv[1], argv[2], std::atof(argv[3]), argv[4]);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "crossbar: %s\n", problem.what());
        return 1;
    }
    return 0;
}
