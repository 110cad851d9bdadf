/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of a platform that lead outside: a bus master of the program's, interrupts both ways, a second memory. */
#include <sys/mman.h>

#include <tlm_utils/simple_target_socket.h>

#include "memories.h"
#include "outside_case.h"

using namespace outside;

namespace {

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
        answers.push_back(self.transfer({static_cast<tlm::tlm_command>(3), scratch, &byte, 1, 1}));
        payload_type late_one;
        sc_time forever = sc_core::sc_max_time();
        late_one.set_command(tlm::TLM_READ_COMMAND);
        late_one.set_address(scratch);
        late_one.set_data_ptr(&byte);
        late_one.set_data_length(1);
        late_one.set_streaming_width(1);
        sc_core::wait(ns(1));
        self.socket->b_transport(late_one, forever);
        answers.push_back(late_one.get_response_status());
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
        tlm::TLM_COMMAND_ERROR_RESPONSE,
        tlm::TLM_GENERIC_ERROR_RESPONSE,
        tlm::TLM_OK_RESPONSE,
        tlm::TLM_OK_RESPONSE,
        tlm::TLM_COMMAND_ERROR_RESPONSE};
    assert_true(answers == expected);
    assert_true(late == 0x12345678 && !waited);
    for (const char *what : {"data length 0", "streaming width 0", "data pointer is null", "byte enables of length 0",
                             "beyond 64-bit addresses", "none of read, write and ignore", "ends beyond simulated time"})
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

/* An sc_module inside of a unit's library, in a design and in a platform with a simulation of its own. */
void test_module_of_a_unit(void **)
{
    const std::string units =
        "  one: {model: \"" LIBRARIES "/abi_ticker.so:ticker\", connect: {mem: dram, out: bus}}\n"
        "  two: {model: \"" LIBRARIES "/abi_ticker.so:ticker\", connect: {mem: dram, out: bus}}\n";
    work embedded(units);
    cnnvp_platform *alone_with_it = nullptr;
    cnnvp_error error{};
    assert_int_equal(cnnvp_platform_new(embedded.config, &embedded.options, &alone_with_it, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_network_load(embedded.network, alone_with_it, &error), CNNVP_DONE);
    cnnvp_run_result result{};
    assert_int_equal(cnnvp_platform_run(alone_with_it, &result), CNNVP_DONE);
    assert_int_equal(result.end, CNNVP_END_EXIT);
    cnnvp_platform_free(alone_with_it);
    {
        const simulation mine;
        work network(units);
        cnnvp::platform platform("platform", network.config, &network.options);
        network.load(platform);
        sc_core::sc_start(ns(2000000));
        network.take(platform);
        assert_same_work(network, alone());
        assert_int_equal(platform.result().time_ps, result.time_ps);
        for (const char *unit : {"one", "two"}) {
            assert_int_equal(number(network, {"units", unit, "rounds"}), 20);
            assert_int_equal(number(network, {"units", unit, "ticks"}), result.time_ps / 10000 + 1);
        }
    }
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_master),           cmocka_unit_test(test_master_shortcuts),
        cmocka_unit_test(test_master_wrong),     cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_memories),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_master_at_end),    cmocka_unit_test(test_registers_from_c),
        cmocka_unit_test(test_master_left),      cmocka_unit_test(test_master_writes),
        cmocka_unit_test(test_module_of_a_unit),
    };
    const auto run_alone = [](void **) {
        (void)alone();
        return 0;
    };
    return cmocka_run_group_tests(tests, run_alone, nullptr);
}
