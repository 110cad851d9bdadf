/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A design of your own with the platform as one of its modules, and a memory at the platform's off-chip port. The
 * memory is an ordinary TLM-2.0 target that knows nothing of cnnvp: it has one open row of 4 KiB, and a burst takes 20
 * ns in the open row and 50 ns more in another one. The program's sc_start runs a network; it prints the time and row
 * hits: own_memory own_memory.yaml lenet5
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <cnnvp_network.h>
#include <cnnvp_systemc.h>
#include <tlm_utils/simple_target_socket.h>

struct open_row : sc_core::sc_module {
    tlm_utils::simple_target_socket<open_row> socket{"socket"};
    unsigned long hits = 0, others = 0;

    open_row(const sc_core::sc_module_name &name, std::size_t size)
        : sc_core::sc_module(name), bytes_(static_cast<unsigned char *>(std::calloc(1, size)), std::free), size_(size)
    {
        socket.register_b_transport(this, &open_row::b_transport);
        socket.register_transport_dbg(this, &open_row::debug);
    }

private:
    std::unique_ptr<unsigned char[], void (*)(void *)> bytes_;
    std::size_t size_;
    sc_dt::uint64 row_ = ~sc_dt::uint64(0);
    sc_core::sc_time free_; /* time from which the next burst can be served */

    unsigned debug(tlm::tlm_generic_payload &payload)
    {
        const sc_dt::uint64 address = payload.get_address();
        const unsigned size = payload.get_data_length();
        if (address > size_ || size > size_ - address)
            return 0;
        if (payload.is_read())
            std::memcpy(payload.get_data_ptr(), &bytes_[address], size);
        else
            std::memcpy(&bytes_[address], payload.get_data_ptr(), size);
        return size;
    }

    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        const bool hit = payload.get_address() / 4096 == row_;
        const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
        const sc_core::sc_time begin = free_ > now ? free_ : now;
        row_ = payload.get_address() / 4096;
        (hit ? hits : others)++;
        free_ = begin + sc_core::sc_time(hit ? 20 : 70, sc_core::SC_NS);
        delay = free_ - sc_core::sc_time_stamp();
        const bool good = debug(payload) == payload.get_data_length();
        payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
};

static void must(cnnvp_result result, const cnnvp_error &error)
{
    if (result != CNNVP_DONE)
        throw std::runtime_error(error.text);
}

static void run(const char *platform_file, const char *network_file)
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
    open_row memory("memory", std::size_t(256) << 20);
    platform.initiator_socket("dram").bind(memory.socket);
    must(cnnvp_network_load(network, platform.handle(), &error), error);
    sc_core::sc_start();

    const cnnvp_run_result result = platform.result();
    if (result.end != CNNVP_END_EXIT || result.exit_code != 0)
        throw std::runtime_error(result.reason);
    std::printf("%.3f us; the memory served %lu bursts in its open row and %lu in others\n",
                double(result.time_ps) / 1e6, memory.hits, memory.others);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
}

int sc_main(int argc, char *argv[])
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: own_memory PLATFORM.yaml NETWORK.onnx\n");
        return 2;
    }
    try {
        run(argv[1], argv[2]);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "own_memory: %s\n", problem.what());
        return 1;
    }
    return 0;
}
