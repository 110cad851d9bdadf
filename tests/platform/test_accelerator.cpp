/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accelerator in a design with a core, a bus and memories of its own: its units move, count and take what they do
 * in the platform with the same memory, results are the platform's, and what is wrong is named.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <jansson.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "cnnvp_network.h"
#include "cnnvp_runtime.h"
#include "cnnvp_systemc.h"
#include "memories.h"
#include "own_simulation.h"
#include "tlm_checker.h"

extern "C" {
#include <cmocka.h>
}

namespace {

using sc_core::sc_time;

constexpr uint32_t memory_base = 0x80000000, registers_base = 0x10010000;

sc_time ps(double count)
{
    return sc_time(count, sc_core::SC_PS);
}

const cnnvp_platform_options &quiet()
{
    static cnnvp_platform_options options{};
    options.struct_size = sizeof options;
    options.verbosity = -1;
    return options;
}

cnnvp_config *configuration(const char *preset, const std::vector<std::string> &settings)
{
    cnnvp_error error{};
    cnnvp_config *config = nullptr;
    if (cnnvp_config_new(preset, &config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    for (const std::string &setting : settings)
        if (cnnvp_config_set(config, setting.c_str(), &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
    if (cnnvp_config_resolve(config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return config;
}

json_t *statistics(cnnvp_platform *platform)
{
    char *text = nullptr;
    assert_int_equal(cnnvp_platform_stats(platform, &text), CNNVP_DONE);
    json_t *stats = json_loads(text, 0, nullptr);
    free(text);
    return stats;
}

/* The network on the platform, whose core is the guest software itself: 10 ps for each access. */
struct reference {
    cnnvp_config *config = nullptr;
    cnnvp_network *network = nullptr;
    std::vector<unsigned char> before; /* memory */
    std::vector<float> output;
    json_t *stats = nullptr;

    reference(const char *preset, const std::vector<std::string> &settings)
    {
        cnnvp_error error{};
        std::vector<std::string> all = {
            TEST_NATIVE_CPU, "cpu.clock_mhz=100000", "cpu.access_cycles=1", "dram.model=external"};
        all.insert(all.end(), settings.begin(), settings.end());
        config = configuration(preset, all);
        cnnvp_network_options options{};
        options.struct_size = sizeof options;
        options.rounding = CNNVP_ROUND_NEAREST;
        options.images = 2;
        if (cnnvp_network_new(TEST_NETWORK, config, &options, &network, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        cnnvp_platform *platform = nullptr;
        std::shared_ptr<memories::loose> memory;
        const auto bind = [&](const char *, cnnvp::memory_socket &socket) {
            memory = std::make_shared<memories::loose>("memory", ps(100000), true, true, true);
            socket.bind(memory->socket);
            return memory;
        };
        if (cnnvp::platform_new(config, &quiet(), bind, &platform, &error) != CNNVP_DONE ||
            cnnvp_network_load(network, platform, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        before.assign(memory->bytes.get(), memory->bytes.get() + (16u << 20));
        cnnvp_run_result run{};
        if (cnnvp_platform_run(platform, &run) != CNNVP_DONE)
            fail_msg("%s", run.reason);
        cnnvp_array array{};
        if (cnnvp_network_output(network, platform, 0, &array, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        const auto *values = static_cast<const float *>(array.data);
        output.assign(values, values + array.shape[0] * array.shape[1]);
        cnnvp_array_clear(&array);
        stats = statistics(platform);
        cnnvp_platform_free(platform);
    }
    ~reference()
    {
        json_decref(stats);
        cnnvp_network_free(network);
        cnnvp_config_free(config);
    }
    reference(const reference &) = delete;
    reference &operator=(const reference &) = delete;
};

/* A bus of the design's: memory, and MiB by MiB the registers of accelerators. */
struct router : sc_core::sc_module {
    std::vector<std::unique_ptr<tlm_utils::simple_target_socket<router>>> from_npu, from_cpu;
    std::vector<std::unique_ptr<tlm_utils::simple_initiator_socket<router>>> registers;
    tlm_utils::simple_initiator_socket<router> memory{"memory"};
    uint64_t memory_at = memory_base, registers_at = registers_base;

    explicit router(const sc_core::sc_module_name &name, unsigned accelerators = 1) : sc_core::sc_module(name)
    {
        for (unsigned i = 0; i < accelerators; ++i) {
            for (auto *from : {&from_npu, &from_cpu}) {
                from->push_back(
                    std::make_unique<tlm_utils::simple_target_socket<router>>(sc_core::sc_gen_unique_name("from")));
                from->back()->register_b_transport(this, &router::b_transport);
            }
            registers.push_back(
                std::make_unique<tlm_utils::simple_initiator_socket<router>>(sc_core::sc_gen_unique_name("registers")));
        }
    }
    void b_transport(tlm::tlm_generic_payload &payload, sc_time &delay)
    {
        const uint64_t address = payload.get_address();
        if (address >= memory_at && address - memory_at < memories::store::size) {
            payload.set_address(address - memory_at);
            memory->b_transport(payload, delay);
        } else {
            payload.set_address((address - registers_at) & 0xfffff);
            (*registers.at((address - registers_at) >> 20))->b_transport(payload, delay);
        }
        payload.set_address(address);
    }
};

/* A core of the design's: the runtime in a thread. */
struct core : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<core> socket{"socket"};
    sc_core::sc_in<bool> irq{"irq"};
    cnnvp_runtime_binary binary{};
    const unsigned char *memory;
    std::string console;
    int code = -1, finished = -1;
    unsigned accesses = 0, errors = 0, sleeps = 0, interrupts = 0, give_up_at = 0;
    uint64_t offset = 0;                /* of memory on the bus */
    uint32_t memory_from = memory_base; /* in the binary */
    const int16_t *input = nullptr;
    int16_t *output = nullptr;
    std::function<void()> at_end;

    core(const sc_core::sc_module_name &name, const unsigned char *memory_bytes, uint32_t address)
        : sc_core::sc_module(name), memory(memory_bytes)
    {
        binary.machine = {this, read, write, at, print, sleep};
        binary.address = address;
        sc_core::sc_spawn(
            [this] {
                code = cnnvp_runtime_run(&binary, input, output, [](cnnvp_runtime_binary *done, int result) {
                    static_cast<core *>(done->machine.host)->finished = result;
                });
                if (at_end)
                    at_end();
            },
            "run");
    }
    /* As the platform's own, which talks to its interrupt controller, too. */
    static void take(double time)
    {
        sc_core::wait(ps(time));
        for (int i = 0; i < 10; ++i)
            sc_core::wait(sc_core::SC_ZERO_TIME);
    }
    uint32_t access(tlm::tlm_command command, uint32_t address, uint32_t value)
    {
        tlm::tlm_generic_payload payload;
        sc_time delay;
        const uint64_t to = address - memory_from < memories::store::size ? address + offset : address;
        take(10);
        payload.set_command(command);
        payload.set_address(to);
        payload.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        socket->b_transport(payload, delay);
        if (delay != sc_core::SC_ZERO_TIME)
            sc_core::wait(delay);
        errors += payload.is_response_error() ? 1u : 0u;
        if (++accesses == 3)
            sc_core::wait(ps(40)); /* enables the line */
        return value;
    }
    static uint32_t read(void *host, uint32_t address)
    {
        return static_cast<core *>(host)->access(tlm::TLM_READ_COMMAND, address, 0);
    }
    static void write(void *host, uint32_t address, uint32_t value)
    {
        (void)static_cast<core *>(host)->access(tlm::TLM_WRITE_COMMAND, address, value);
    }
    static const void *at(void *host, uint32_t address)
    {
        return static_cast<core *>(host)->memory + (address - static_cast<core *>(host)->memory_from);
    }
    static void print(void *host, char character) { static_cast<core *>(host)->console += character; }
    static int sleep(void *host)
    {
        auto *self = static_cast<core *>(host);
        if (++self->sleeps == self->give_up_at) {
            cnnvp_runtime_stop(&self->binary);
            return 0;
        }
        if (!self->irq.read())
            sc_core::wait(self->irq.posedge_event());
        sc_core::wait(ps(10)); /* claims */
        cnnvp_runtime_interrupt(&self->binary);
        ++self->interrupts;
        sc_core::wait(ps(10)); /* completes */
        return 1;
    }
};

constexpr uint32_t binary_address = 0x80100000;

/* A design with an accelerator and a core on one bus. */
struct design : sc_core::sc_module {
    memories::loose memory{"memory", ps(100000), true, true, true};
    router bus{"bus"};
    core cpu;
    cnnvp::accelerator npu;
    tlm_checker registers{"registers"}, traffic{"traffic"};
    sc_core::sc_signal<bool> line{"line"};
    unsigned line_rises = 0;

    design(const sc_core::sc_module_name &name, const cnnvp_config *config, const reference &like)
        : sc_core::sc_module(name), cpu("cpu", memory.bytes.get(), binary_address), npu("npu", config, &quiet())
    {
        std::memcpy(memory.bytes.get(), like.before.data(), like.before.size());
        bus.memory.bind(memory.socket);
        assert_int_equal(npu.mem.size(), 1);
        npu.mem[0].bind(traffic.from);
        traffic.to.bind(*bus.from_npu[0]);
        cpu.socket.bind(*bus.from_cpu[0]);
        bus.registers[0]->bind(registers.from);
        registers.to.bind(npu.regs);
        npu.irq.bind(line);
        cpu.irq.bind(line);
        sc_core::sc_spawn([this] {
            for (;; ++line_rises)
                sc_core::wait(line.posedge_event());
        });
    }
    std::vector<float> output(size_t words) const
    {
        cnnvp_binary_results results;
        std::memcpy(&results, memory.bytes.get() + (binary_address - memory_base), sizeof results);
        std::vector<float> values;
        for (uint32_t image = 0; image < results.binary.images; ++image)
            for (size_t i = 0; i < words; ++i) {
                int16_t word;
                std::memcpy(&word,
                            memory.bytes.get() + (results.address - memory_base) + image * results.image_stride +
                                i * sizeof word,
                            sizeof word);
                values.push_back(word);
            }
        return values;
    }
};

/* Equal but for one power of two: words against values. */
void assert_same_values(const std::vector<float> &words, const std::vector<float> &values)
{
    float scale = 0;
    assert_int_equal(words.size(), values.size());
    for (size_t i = 0; i < words.size() && scale == 0; ++i)
        scale = words[i] != 0 ? values[i] / words[i] : 0;
    assert_true(scale > 0);
    for (size_t i = 0; i < words.size(); ++i)
        assert_true(words[i] * scale == values[i]);
}

void assert_same_units(const json_t *mine, const json_t *reference)
{
    const char *name;
    json_t *unit;
    unsigned compared = 0;
    json_object_foreach(json_object_get(mine, "units"), name, unit)
    {
        json_t *other = json_object_get(json_object_get(reference, "units"), name);
        char *a = json_dumps(unit, JSON_SORT_KEYS), *b = json_dumps(other, JSON_SORT_KEYS);
        if (std::strcmp(name, "bus") != 0)
            assert_string_equal(a, b);
        free(a);
        free(b);
        ++compared;
    }
    assert_true(compared > 7);
    for (const json_t *stats : {mine, reference}) /* until the end, which is the program's or the present */
        (void)json_object_del(json_object_get(stats, "memory"), "mean_bytes_per_s");
    assert_true(json_equal(json_object_get(mine, "memory"), json_object_get(reference, "memory")));
    assert_null(json_object_get(json_object_get(mine, "units"), "cpu"));
    assert_null(json_object_get(json_object_get(mine, "units"), "plic"));
}

void assert_as(const design &board, const reference &like)
{
    if (board.cpu.code != CNNVP_RUNTIME_DONE)
        fail_msg("code %d: %s", board.cpu.code, board.cpu.console.c_str());
    assert_int_equal(board.cpu.finished, CNNVP_RUNTIME_DONE);
    assert_int_equal(board.cpu.errors, 0);
    assert_int_equal(board.memory.broken, 0);
    for (const tlm_checker *checker : {&board.registers, &board.traffic}) {
        assert_string_equal(checker->text().c_str(), "");
        assert_true(checker->blocking > 100 && checker->open() == 0);
    }
    assert_false(board.line.read());
    assert_int_equal(board.line_rises, board.cpu.interrupts);
    assert_same_values(board.output(like.output.size() / 2), like.output);
    json_t *stats = statistics(board.npu.handle());
    assert_same_units(stats, like.stats);
    json_decref(stats);
}

/* Beside a clock, two alike in one design. */
void test_nfu(void **)
{
    const reference like("nfu", {});
    const simulation mine;
    sc_core::sc_clock beside("beside", sc_time(7, sc_core::SC_NS));
    design one("one", like.config, like), other("other", like.config, like);
    sc_core::sc_start(sc_time(100, sc_core::SC_US));
    assert_as(one, like);
    assert_as(other, like);
}

/* On the caller's clock, and memory beyond 4 GiB. */
void test_window(void **)
{
    reference like("window", {"pe_array.clock_mhz=800", "dram.burst_bytes=32"});
    const simulation mine;
    sc_core::sc_clock clock("clock", ps(1250)), slow("slow", ps(2500));
    cnnvp_config *config = configuration(
        "window", {"pe_array.clock_mhz=800", "dram.model=external", "dram.burst_bytes=32", "dram.offset=4GiB"});
    design board("board", config, like);
    cnnvp_config_free(config);
    board.npu.clk.bind(clock);
    board.cpu.offset = uint64_t(1) << 32;
    board.bus.memory_at = memory_base + board.cpu.offset;
    sc_core::sc_start(sc_time(100, sc_core::SC_US));
    assert_as(board, like);
}

const reference &small()
{
    static const reference like("nfu", {});
    return like;
}

uint32_t register_of(design &board, uint32_t offset, bool debug)
{
    tlm::tlm_generic_payload payload;
    uint32_t value = 0;
    sc_time none;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    if (debug)
        assert_int_equal((*board.bus.registers[0])->transport_dbg(payload), 4);
    else
        (*board.bus.registers[0])->b_transport(payload, none);
    return value;
}

/* What `cnnvp compile` makes of the network that a reference has run, and what the runtime is given. */
struct compiled {
    cnnvp_config *config;
    cnnvp_network_image image{};
    std::vector<int16_t> input, output;

    compiled(const char *preset, uint32_t base, const char *registers, const reference &like)
        : config(configuration(preset, {registers}))
    {
        cnnvp_error error{};
        cnnvp_network *network = nullptr;
        cnnvp_network_options options{};
        options.struct_size = sizeof options;
        options.rounding = CNNVP_ROUND_NEAREST;
        options.images = 2;
        options.base = base;
        if (cnnvp_network_new(TEST_NETWORK, config, &options, &network, &error) != CNNVP_DONE ||
            cnnvp_network_make_image(network, "some/net.bin", &image, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        cnnvp_network_free(network);
        cnnvp_binary binary;
        std::memcpy(&binary, like.before.data() + (binary_address - memory_base), sizeof binary);
        for (uint32_t i = 0; i < binary.images; ++i)
            for (uint32_t y = 0; y < binary.input.channels * binary.input.height; ++y) {
                const auto *row = reinterpret_cast<const int16_t *>(
                    like.before.data() + (binary.input.address - memory_base) + i * binary.input.image_stride);
                row += y * binary.input.row_stride; /* of one channel */
                input.insert(input.end(), row, row + binary.input.width);
            }
        output.resize(like.output.size() + 1, 77); /* and one that nobody writes */
    }
    ~compiled()
    {
        std::free(image.binary);
        std::free(image.map);
        std::free(image.header);
        cnnvp_config_free(config);
    }
    compiled(const compiled &) = delete;
    compiled &operator=(const compiled &) = delete;
};

/* Two accelerators of different kinds on one bus and one memory, a core and a binary for each. */
void test_shared(void **)
{
    const reference nfu("nfu", {}), window("window", {});
    const uint32_t base = 0x40000000, bases[] = {base, base + 0x8000000};
    compiled one("nfu", bases[0], "instruction.at=0x60000000", nfu),
        other("window", bases[1], "instruction.at=0x60100000", window);
    assert_non_null(std::strstr(other.image.header, "#define NET_BASE 0x48000000u"));
    assert_non_null(std::strstr(other.image.header, "#define NET_REGISTERS 0x60100000u"));
    assert_non_null(std::strstr(other.image.header, "#define NET_INPUT_WORDS 2048"));
    assert_non_null(std::strstr(other.image.map, "0x48000000"));
    const simulation mine;
    memories::loose memory("memory", ps(100000), true, true, true);
    router bus("bus", 2);
    bus.memory.bind(memory.socket);
    bus.memory_at = base;
    bus.registers_at = 0x60000000;
    core first("first", memory.bytes.get(), bases[0]), second("second", memory.bytes.get(), bases[1]);
    cnnvp::accelerator npu("npu", one.config, &quiet()), engine("engine", other.config, &quiet());
    sc_core::sc_signal<bool> lines[2];
    unsigned i = 0;
    for (auto [cpu, unit, net] : {std::tuple(&first, &npu, &one), std::tuple(&second, &engine, &other)}) {
        std::memcpy(memory.bytes.get() + (bases[i] - base), net->image.binary, net->image.size);
        cpu->memory_from = base;
        cpu->input = net->input.data();
        cpu->output = net->output.data();
        cpu->socket.bind(*bus.from_cpu[i]);
        cpu->irq.bind(lines[i]);
        unit->irq.bind(lines[i]);
        unit->mem[0].bind(*bus.from_npu[i]);
        bus.registers[i++]->bind(unit->regs);
    }
    sc_core::sc_start(sc_time(20, sc_core::SC_MS));
    assert_int_equal(first.code, CNNVP_RUNTIME_DONE);
    assert_int_equal(second.code, CNNVP_RUNTIME_DONE);
    for (auto [net, like] : {std::pair(&one, &nfu), std::pair(&other, &window)}) {
        assert_int_equal(net->output.back(), 77);
        net->output.pop_back();
        assert_same_values(std::vector<float>(net->output.begin(), net->output.end()), like->output);
    }
    assert_int_equal(first.errors + second.errors, 0);
}

/* A reset in mid-work leaves units as they were in the beginning, and the network runs again. */
void test_reset(void **)
{
    const simulation mine;
    design board("board", small().config, small());
    sc_core::sc_signal<bool> reset("reset");
    board.npu.rst.bind(reset);
    uint32_t before = 0, after = 0;
    bool line = false;
    int first = -1;
    board.cpu.give_up_at = 1;
    board.cpu.at_end = [&] {
        first = board.cpu.code;
        before = register_of(board, CNNVP_ELEMENT_FREE, true);
        reset.write(true);
        sc_core::wait(sc_time(10, sc_core::SC_NS));
        after = register_of(board, CNNVP_ELEMENT_FREE, true);
        line = board.line.read();
        reset.write(false);
        sc_core::wait(sc_time(10, sc_core::SC_NS));
        board.cpu.code = cnnvp_runtime_run(&board.cpu.binary, nullptr, nullptr, nullptr);
    };
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    assert_int_equal(first, CNNVP_RUNTIME_STOPPED);
    assert_true(before < after);
    assert_int_equal(after, register_of(board, CNNVP_ELEMENT_QUEUE_DEPTH, true));
    assert_false(line);
    assert_int_equal(board.cpu.code, CNNVP_RUNTIME_DONE);
    assert_same_values(board.output(small().output.size() / 2), small().output);
}

/* Errors of the memory are the runtime's to tell, silence the accelerator's. */
void test_memory(void **)
{
    {
        const simulation mine;
        design board("board", small().config, small());
        board.memory.good_for = 200;
        board.memory.bad_from = 0;
        sc_core::sc_start(sc_time(200, sc_core::SC_US));
        assert_int_equal(board.cpu.code, CNNVP_RUNTIME_STOPPED);
        assert_int_equal(board.cpu.finished, CNNVP_RUNTIME_STOPPED);
        assert_says(board.cpu.console, "stopped");
    }
    const simulation mine;
    design board("board", small().config, small());
    board.memory.delay = sc_time(1, sc_core::SC_SEC);
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    assert_int_equal(board.cpu.code, -1);
    assert_says(board.npu.result().reason, "dma waits for");
}

void test_registers(void **)
{
#ifdef __has_feature
#if __has_feature(address_sanitizer)
    return; /* it takes what an exception has left on the stack of a SystemC thread for somebody's */
#endif
#endif
    const simulation mine;
    design board("board", small().config, small());
    unsigned char bytes[8] = {}, enables[4] = {0xff, 0xff, 0, 0};
    tlm::tlm_generic_payload payload;
    tlm::tlm_dmi dmi;
    std::vector<int> answers;
    sc_time waited;
    board.cpu.at_end = [&] {
        const auto ask = [&](uint64_t address, unsigned length, unsigned char *enable, unsigned width) {
            sc_time none;
            payload.set_command(tlm::TLM_READ_COMMAND);
            payload.set_address(address);
            payload.set_data_ptr(bytes);
            payload.set_data_length(length);
            payload.set_streaming_width(width);
            payload.set_byte_enable_ptr(enable);
            payload.set_byte_enable_length(enable ? 4 : 0);
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            (*board.bus.registers[0])->b_transport(payload, none);
            answers.push_back(payload.get_response_status());
        };
        ask(CNNVP_ELEMENT_STATUS, 4, nullptr, 4);
        ask(0x100000, 4, nullptr, 4);
        ask(~uint64_t(3), 4, nullptr, 4);
        ask(CNNVP_ELEMENT_STATUS, 4, enables, 4);
        ask(CNNVP_ELEMENT_STATUS, 4, nullptr, 2);
        const sc_time begin = sc_core::sc_time_stamp();
        sc_time delay = sc_time(3, sc_core::SC_US);
        payload.set_streaming_width(4);
        (*board.bus.registers[0])->b_transport(payload, delay);
        waited = sc_core::sc_time_stamp() - begin;
    };
    sc_core::sc_start(sc_time(200, sc_core::SC_US));
    const std::vector<int> expected = {
        tlm::TLM_OK_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE,
        tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, tlm::TLM_BURST_ERROR_RESPONSE};
    assert_true(answers == expected);
    assert_true(waited == sc_time(3, sc_core::SC_US));
    assert_false((*board.bus.registers[0])->get_direct_mem_ptr(payload, dmi));
}

void test_refused(void **)
{
    const char *const without = "units: {bus: {model: bus}, uart: {model: uart, at: 0x10000000}}\n";
    FILE *file = fopen("no_accelerator.yaml", "w");
    assert_true(file != nullptr && fputs(without, file) >= 0 && fclose(file) == 0);
    cnnvp_config *none = configuration("no_accelerator.yaml", {});
    {
        const simulation mine;
        assert_says(refusal([&] { cnnvp::accelerator npu("npu", none); }),
                    "npu: no_accelerator.yaml: no instance sends");
        design board("board", small().config, small());
        cnnvp::accelerator open("open", small().config);
        sc_core::sc_signal<bool> line("line");
        open.irq.bind(line);
        assert_string_equal(refusal([&] { (void)open.mem[1]; }).c_str(), "mem[1]: there are 1");
        assert_says(refusal([] { sc_core::sc_start(sc_time(1, sc_core::SC_US)); }), "open.");
    }
    cnnvp_config_free(none);
    const simulation mine;
    sc_core::sc_clock slow("slow", ps(2000));
    design board("board", small().config, small());
    board.npu.clk.bind(slow);
    assert_says(refusal([] { sc_core::sc_start(sc_time(1, sc_core::SC_US)); }),
                "board.npu.clk: not the units' clock, 1000 MHz");
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_nfu),    cmocka_unit_test(test_window),    cmocka_unit_test(test_reset),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_registers), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
