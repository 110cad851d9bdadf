/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small virtual platform of your own with the accelerator in it: a core, a bus, a memory of 50 ns and an interrupt
 * line. The core is a SystemC thread here. An instruction set simulator with a bus master could take its place, and
 * would run the same runtime as a program. `cnnvp compile` makes net.bin and net.h: own_core net.bin image.npy
 * output.npy
 */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <cnnvp_network.h>
#include <cnnvp_runtime.h>
#include <cnnvp_systemc.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "net.h"

struct ram : sc_core::sc_module {
    tlm_utils::simple_target_socket<ram> socket{"socket"};
    std::vector<unsigned char> bytes;

    ram(const sc_core::sc_module_name &name, std::size_t size) : sc_core::sc_module(name), bytes(size)
    {
        socket.register_b_transport(this, &ram::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        const sc_dt::uint64 address = payload.get_address();
        const unsigned size = payload.get_data_length();
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (address > bytes.size() || size > bytes.size() - address)
            return;
        if (payload.is_read())
            std::memcpy(payload.get_data_ptr(), &bytes[address], size);
        else
            std::memcpy(&bytes[address], payload.get_data_ptr(), size);
        delay += sc_core::sc_time(50, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/* Maps the network's memory at NET_BASE and the accelerator's registers at NET_REGISTERS. */
struct interconnect : sc_core::sc_module {
    tlm_utils::simple_target_socket<interconnect> core{"core"}, accelerator{"accelerator"};
    tlm_utils::simple_initiator_socket<interconnect> memory{"memory"}, registers{"registers"};

    explicit interconnect(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        core.register_b_transport(this, &interconnect::b_transport);
        accelerator.register_b_transport(this, &interconnect::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        const sc_dt::uint64 address = payload.get_address();
        const bool is_register = address >= NET_REGISTERS;
        payload.set_address(address - (is_register ? NET_REGISTERS : NET_BASE));
        is_register ? registers->b_transport(payload, delay) : memory->b_transport(payload, delay);
        payload.set_address(address);
    }
};

struct core : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<core> bus{"bus"};
    sc_core::sc_in<bool> irq{"irq"};
    std::vector<std::int16_t> input, output = std::vector<std::int16_t>(NET_OUTPUT_WORDS);
    int code = -1;

    core(const sc_core::sc_module_name &name, const ram &tables) : sc_core::sc_module(name), tables_(tables)
    {
        net_.machine = {this, read, write, table, console, sleep};
        net_.address = NET_BASE;
        sc_core::sc_spawn([this] {
            code = cnnvp_runtime_run(&net_, input.data(), output.data(), nullptr);
            std::printf("%.3f us\n", sc_core::sc_time_stamp().to_seconds() * 1e6);
            sc_core::sc_stop();
        });
    }

private:
    const ram &tables_;
    cnnvp_runtime_binary net_{};

    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value)
    {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay(10, sc_core::SC_NS); /* time of the core's own work */
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        bus->b_transport(payload, delay);
        if (payload.is_response_error())
            std::printf("bus error at 0x%x\n", address);
        sc_core::wait(delay);
        return value;
    }
    static std::uint32_t read(void *self, std::uint32_t address)
    {
        return static_cast<core *>(self)->access(tlm::TLM_READ_COMMAND, address, 0);
    }
    static void write(void *self, std::uint32_t address, std::uint32_t value)
    {
        static_cast<core *>(self)->access(tlm::TLM_WRITE_COMMAND, address, value);
    }
    static const void *table(void *self, std::uint32_t address)
    {
        return &static_cast<core *>(self)->tables_.bytes[address - NET_BASE];
    }
    static void console(void *, char character) { std::putchar(character); }
    static int sleep(void *self)
    {
        auto *mine = static_cast<core *>(self);
        if (!mine->irq.read())
            sc_core::wait(mine->irq.posedge_event());
        cnnvp_runtime_interrupt(&mine->net_);
        return 1;
    }
};

static void must(cnnvp_result result, const cnnvp_error &error)
{
    if (result != CNNVP_DONE)
        throw std::runtime_error(error.text);
}

static int run(const char *binary, const char *image, const char *result)
{
    cnnvp_error error{};
    cnnvp_config *config = nullptr;
    cnnvp_array array{};
    must(cnnvp_config_new("nfu", &config, &error), error);
    must(cnnvp_config_resolve(config, &error), error);
    must(cnnvp_npy_read(image, &array, &error), error);

    cnnvp::accelerator npu("npu", config);
    interconnect bus("bus");
    ram memory("memory", NET_END - NET_BASE);
    core cpu("cpu", memory);
    sc_core::sc_signal<bool> line("line");
    cpu.bus.bind(bus.core);
    npu.mem[0].bind(bus.accelerator);
    bus.memory.bind(memory.socket);
    bus.registers.bind(npu.regs);
    npu.irq.bind(line);
    cpu.irq.bind(line);

    std::ifstream file(binary, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() != NET_BYTES)
        throw std::runtime_error(std::string(binary) + " is not that of net.h");
    std::memcpy(memory.bytes.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < NET_INPUT_WORDS; ++i) {
        const float scaled = std::nearbyint(std::ldexp(static_cast<const float *>(array.data)[i], NET_INPUT_FRAC));
        cpu.input.push_back(static_cast<std::int16_t>(std::fmin(std::fmax(scaled, -32768.F), 32767.F)));
    }
    cnnvp_array_clear(&array);
    sc_core::sc_start();

    std::vector<float> values;
    for (const std::int16_t word : cpu.output)
        values.push_back(std::ldexp(float(word), -NET_OUTPUT_FRAC));
    cnnvp_array output{};
    output.type = cnnvp_array::CNNVP_ARRAY_F32;
    output.rank = 2;
    output.shape[0] = NET_IMAGES;
    output.shape[1] = NET_OUTPUT_WORDS / NET_IMAGES;
    output.data = values.data();
    must(cnnvp_npy_write(result, &output, &error), error);
    cnnvp_config_free(config);
    return cpu.code;
}

int sc_main(int argc, char *argv[])
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: own_core net.bin IMAGE.npy OUTPUT.npy\n");
        return 2;
    }
    try {
        return run(argv[1], argv[2], argv[3]);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "own_core: %s\n", problem.what());
        return 1;
    }
}
