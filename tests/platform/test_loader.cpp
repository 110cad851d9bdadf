/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and programs from outside of the simulation. */
#include "bench.h"

namespace {

constexpr uint64_t low = 0x1000, high = 0x80000000, text = 0x10000;

/* Registers, and memory where asked; no core. */
struct memory_net {
    bench::network net;
    explicit memory_net(uint64_t where)
    {
        const uint32_t a = net.add("a"), b = net.add("b"), m = net.add("m"), bus = net.add("bus", nullptr);
        net.at(b, low, 0x1000, AGENT_REGS);
        net.at(m, where, 0x8000, AGENT_STORE); /* a smaller window than the unit has */
        net.bind(a, AGENT_OUT, bus);
    }
};

void memory_is_reached_in_one_piece(void **)
{
    memory_net plan(high);
    bench::platform made(plan.net);
    made["m"]->on_access = agent_memory_access;
    cnnvp::loader &memory = made.get().memory();
    std::vector<unsigned char> data(0x8000), back(0x8000);
    for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<unsigned char>(i * 7);
    assert_true(memory.write(high, data.data(), data.size()));
    assert_true(memory.read(high, back.data(), back.size()));
    assert_memory_equal(data.data(), back.data(), data.size());
    assert_false(memory.write(high + 1, data.data(), data.size()));
    assert_false(memory.read(0, data.data(), 1));
    void *direct;
    assert_true(memory.map(high + 16, 0x8000 - 16, &direct));
    assert_memory_equal(direct, data.data() + 16, 64);
    assert_false(memory.map(high + 16, 0x8000, &direct));
    assert_false(memory.map(low, 4, &direct)); /* registers */
    uint32_t word;
    assert_true(memory.read(low + 0x24, &word, 4)); /* by debug transport, without side effects */
    assert_int_equal(word, 0x42);
    assert_int_equal(made["b"]->noted, 0);
}

void refuse_program(uint64_t where, const char *why)
{
    memory_net plan(where);
    bench::platform made(plan.net);
    made["m"]->on_access = agent_memory_access;
    cnnvp_error error{};
    cnnvp_elf *elf = nullptr;
    uint32_t first = 0;
    assert_int_equal(cnnvp_elf_read(TWO_FUNCTIONS, &elf, &error), CNNVP_DONE);
    assert_int_equal(made.get().memory().load(*elf, "two.elf", 0, nullptr, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, why);
    (void)made.get().memory().read(text, &first, sizeof first);
    assert_int_equal(first, where == text ? 0x00300513 : 0); /* li a0, 3 */
    cnnvp_elf_free(elf);
}

void programs_need_memory_and_a_core(void **)
{
    refuse_program(high, "two.elf: it needs memory at 0x00010000..0x00010017, which no memory of this platform takes; "
                         "link it for 0x80000000..0x80007fff");
    refuse_program(text - 0x7ff0,
                   "two.elf: it needs memory at 0x00010000..0x00010017, which no memory of this platform "
                   "takes; the memory there ends at 0x0001000f");
    refuse_program(text, "two.elf: this platform has no core to run it");
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_reached_in_one_piece),
        cmocka_unit_test(programs_need_memory_and_a_core),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
