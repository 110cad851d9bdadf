/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bus master of your own beside a network: an ordinary TLM-2.0 initiator that knows nothing of cnnvp. It copies BYTES
 * within the platform's memory, 1 us after the copy before, and checks the last copy at the end. The DRAM controller
 * serves it between the accelerator's requests, so the network takes longer: own_master own_master.yaml lenet5 BYTES
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <cnnvp_network.h>
#include <cnnvp_systemc.h>
#include <tlm_utils/simple_initiator_socket.h>

struct copier : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<copier> socket{"socket"};
    unsigned long copies = 0, errors = 0;
    std::vector<unsigned char> expected, last;

    SC_HAS_PROCESS(copier);
    copier(const sc_core::sc_module_name &name, std::size_t bytes)
        : sc_core::sc_module(name), expected(bytes), last(bytes), buffer_(bytes)
    {
        if (bytes > 0)
            SC_THREAD(run);
    }

private:
    static constexpr sc_dt::uint64 from = 0x88000000, to = 0x89000000; /* above the network's memory */
    std::vector<unsigned char> buffer_;

    void transfer(tlm::tlm_command command, sc_dt::uint64 address, std::vector<unsigned char> &bytes)
    {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(static_cast<unsigned>(bytes.size()));
        payload.set_streaming_width(static_cast<unsigned>(bytes.size()));
        socket->b_transport(payload, delay);
        wait(delay);
        errors += payload.is_response_error() ? 1 : 0;
    }

    void run()
    {
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = static_cast<unsigned char>(i * 7 + 1);
        transfer(tlm::TLM_WRITE_COMMAND, from, expected);
        for (;; ++copies) {
            transfer(tlm::TLM_READ_COMMAND, from, buffer_);
            transfer(tlm::TLM_WRITE_COMMAND, to, buffer_);
            transfer(tlm::TLM_READ_COMMAND, to, last);
            wait(1, sc_core::SC_US);
        }
    }
};

static void must(cnnvp_result result, const cnnvp_error &error)
{
    if (result != CNNVP_DONE)
        throw std::runtime_error(error.text);
}

static void run(const char *platform_file, const char *network_file, std::size_t bytes)
{
    cnnvp_error error{};
    cnnvp_config *config = nullptr;
    cnnvp_network *network = nullptr;
    cnnvp_network_options options{};
    options.struct_size = sizeof options;
    options.rounding = CNNVP_ROUND_NEAREST;
    options.images = 1;
    must(cnnvp_config_new(platform_file, &config, &error), error);
    must(cnnvp_config_resolve(config, &error), error);
    must(cnnvp_network_new(network_file, config, &options, &network, &error), error);

    cnnvp::platform platform("platform", config);
    copier master("master", bytes);
    master.socket.bind(platform.target_socket("master"));
    must(cnnvp_network_load(network, platform.handle(), &error), error);
    while (platform.result().end == CNNVP_END_MAX_TIME)
        sc_core::sc_start(1, sc_core::SC_US); /* the master never ends by itself */

    const cnnvp_run_result result = platform.result();
    if (result.end != CNNVP_END_EXIT || result.exit_code != 0)
        throw std::runtime_error(result.reason);
    if (master.errors > 0 || (bytes > 0 && master.last != master.expected))
        throw std::runtime_error("the copy is wrong");
    std::printf("%.3f us beside %lu copies\n", double(result.time_ps) / 1e6, master.copies);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
}

int sc_main(int argc, char *argv[])
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: own_master PLATFORM.yaml NETWORK.onnx BYTES\n");
        return 2;
    }
    try {
        run(argv[1], argv[2], std::strtoul(argv[3], nullptr, 0));
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "own_master: %s\n", problem.what());
        return 1;
    }
    return 0;
}
