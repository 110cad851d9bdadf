/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peripheral of your own on the platform's bus: an ordinary TLM-2.0 target that knows nothing of cnnvp. 500 ns after
 * a write of VALUE, RESULT has its square and the interrupt is raised. A read of RESULT clears the interrupt. An access
 * takes NS nanoseconds: half of them by wait(), half of them annotated as delay:
 *     own_peripheral own_peripheral.yaml try.elf NS STATS.json
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <cnnvp_systemc.h>
#include <tlm_utils/simple_target_socket.h>

struct squarer : sc_core::sc_module {
    tlm_utils::simple_target_socket<squarer> socket{"socket"};
    sc_core::sc_out<bool> irq{"irq"};

    SC_HAS_PROCESS(squarer);
    squarer(const sc_core::sc_module_name &name, const sc_core::sc_time &time)
        : sc_core::sc_module(name), half_(time / 2)
    {
        socket.register_b_transport(this, &squarer::b_transport);
        SC_METHOD(update);
        sensitive << ready_ << taken_;
        dont_initialize();
    }

private:
    enum { VALUE, RESULT, READS, COUNT };
    const sc_core::sc_time half_;
    std::uint32_t registers_[COUNT] = {};
    sc_core::sc_event ready_, taken_;

    void update()
    {
        if (ready_.triggered())
            registers_[RESULT] = registers_[VALUE] * registers_[VALUE];
        irq.write(ready_.triggered());
    }

    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        const sc_dt::uint64 number = payload.get_address() / 4;
        if (payload.get_address() % 4 != 0 || payload.get_data_length() != 4 || number >= COUNT) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        wait(half_);
        delay += half_;
        registers_[READS] += payload.is_read();
        if (payload.is_read())
            std::memcpy(payload.get_data_ptr(), &registers_[number], 4);
        else
            std::memcpy(&registers_[number], payload.get_data_ptr(), 4);
        if (payload.is_write() && number == VALUE)
            ready_.notify(sc_core::sc_time(500, sc_core::SC_NS));
        if (payload.is_read() && number == RESULT)
            taken_.notify(sc_core::SC_ZERO_TIME);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

static int run(const char *platform_file, const char *program, double ns, const char *stats_file)
{
    cnnvp_error error{};
    cnnvp_config *config = nullptr;
    if (cnnvp_config_new(platform_file, &config, &error) != CNNVP_DONE ||
        cnnvp_config_resolve(config, &error) != CNNVP_DONE)
        throw std::runtime_error(error.text);

    cnnvp::platform platform("platform", config);
    squarer square("square", sc_core::sc_time(ns, sc_core::SC_NS));
    sc_core::sc_signal<bool> line("line");
    platform.initiator_socket("square").bind(square.socket);
    square.irq(line);
    platform.irq_in("square")(line);
    if (cnnvp_platform_load_elf(platform.handle(), program, 0, nullptr, &error) != CNNVP_DONE)
        throw std::runtime_error(error.text);
    sc_core::sc_start();

    const cnnvp_run_result result = platform.result();
    if (result.end != CNNVP_END_EXIT)
        throw std::runtime_error(result.reason);
    std::printf("%.3f us\n", double(result.time_ps) / 1e6);
    char *stats = nullptr;
    if (cnnvp_platform_stats(platform.handle(), &stats) != CNNVP_DONE || !(std::ofstream(stats_file) << stats).flush())
        throw std::runtime_error("the statistics cannot be written");
    std::free(stats);
    cnnvp_config_free(config);
    return result.exit_code;
}

int sc_main(int argc, char *argv[])
{
    if (argc != 5) {
        std::fprintf(stderr, "usage: own_peripheral PLATFORM.yaml PROGRAM.elf NS STATS.json\n");
        return 2;
    }
    try {
        return run(argv[1], argv[2], std::atof(argv[3]), argv[4]);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "own_peripheral: %s\n", problem.what());
        return 1;
    }
}
