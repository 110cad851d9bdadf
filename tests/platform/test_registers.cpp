/* SPDX-License-Identifier: Apache-2.0 */
/* Register rules: rights, masks, write-one-to-clear, reset values, wrong accesses, one warning for each register. */
#include "bench.h"
#include "registers.h"

namespace {

struct fixture {
    agent state{};
    std::vector<std::string> warnings;
    cnnvp_host_ops ops{};
    cnnvp::register_file file;

    fixture() : file(cnnvp_unit_agent, &state, [this](const std::string &text) { warnings.push_back(text); })
    {
        ops.now = [](cnnvp_host *) -> cnnvp_time { return 0; };
        state.ops = &ops;
        file.reset();
    }
    int go(uint32_t op, uint64_t address, uint32_t *value, uint64_t size = 4)
    {
        cnnvp_access access{};
        access.op = op;
        access.address = address;
        access.data = value;
        access.size = size;
        return file.access(access);
    }
    uint32_t read(uint64_t address)
    {
        uint32_t value = 0;
        assert_int_equal(go(CNNVP_READ, address, &value), CNNVP_OK);
        return value;
    }
    void write(uint64_t address, uint32_t value) { assert_int_equal(go(CNNVP_WRITE, address, &value), CNNVP_OK); }
};

void test_rights(void **)
{
    fixture f;
    assert_int_equal(f.read(0x0), 0x12345678); /* reset values */
    f.write(0x0, 0xffff9abc);
    assert_int_equal(f.read(0x0), 0x12349abc); /* masked */
    assert_int_equal(f.read(0x4), 0xcafe);
    f.write(0x4, 1);
    assert_int_equal(f.read(0x4), 0xcafe);
    f.write(0x10, 42);
    assert_int_equal(f.state.reg[AGENT_WO], 42);
    assert_int_equal(f.read(0x10), 0);
    f.write(0x20, 0xf3);
    assert_int_equal(f.read(0x20), 0xfc); /* only bits of the mask clear */
    f.file.reset();
    assert_int_equal(f.read(0x0), 0x12345678);
    assert_int_equal(f.read(0x20), 0xff);
}

void test_callbacks(void **)
{
    fixture f;
    f.read(0x4);
    f.write(0x0, 0x1111);
    f.write(0x4, 1); /* ignored: not told */
    f.read(0x10);    /* write-only: nothing to bring up to date */
    assert_int_equal(f.state.noted, 2);
    assert_int_equal(f.state.values[0], AGENT_RO + 10);
    assert_int_equal(f.state.values[1], 0x12345678);
    uint32_t bad = 0xbad;
    f.state.reg[AGENT_RW] = 0;
    assert_int_equal(f.go(CNNVP_WRITE, 0x0, &bad), CNNVP_E_INVAL); /* what reg_written says */
}

void test_wrong_accesses(void **)
{
    fixture f;
    uint32_t value[2] = {7, 7};
    assert_int_equal(f.go(CNNVP_READ, 0x0, value, 1), CNNVP_E_ACCESS);
    assert_int_equal(f.go(CNNVP_READ, 0x0, value, 8), CNNVP_E_ACCESS);
    assert_int_equal(f.go(CNNVP_READ, 0x2, value, 4), CNNVP_E_ACCESS);
    assert_int_equal(f.go(CNNVP_READ, 0x8, value, 4), CNNVP_E_ADDR);
    assert_int_equal(f.go(CNNVP_WRITE, 0xffc, value, 4), CNNVP_E_ADDR);
    assert_int_equal(f.go(CNNVP_WRITE, 0x0, nullptr, 4), CNNVP_E_INVAL);
    assert_true(f.file.serves(0x3, 1));
    assert_true(f.file.serves(0x0, 64));
    assert_false(f.file.serves(0x8, 4));
    assert_false(f.file.serves(0x28, 4));
    assert_true(f.file.serves(UINT64_C(0x1e), 4)); /* overlaps W1C at 0x20 */
    assert_false(f.file.serves(UINT64_MAX - 3, 4));
}

void test_warnings_come_once(void **)
{
    fixture f;
    for (int i = 0; i < 100; ++i) {
        f.write(0x4, 0);
        f.read(0x10);
    }
    assert_int_equal(f.warnings.size(), 2);
    assert_string_equal(f.warnings[0].c_str(), "write to read-only register RO");
    assert_string_equal(f.warnings[1].c_str(), "read of write-only register WO");
}

void test_debug(void **)
{
    fixture f;
    cnnvp_access access{};
    uint32_t value[2];
    access.op = CNNVP_READ;
    access.data = value;
    access.size = 8;
    assert_int_equal(f.file.debug(access), CNNVP_OK);
    assert_int_equal(value[0], 0x12345678);
    assert_int_equal(value[1], 0xcafe);
    assert_int_equal(f.state.noted, 2); /* the unit has brought both up to date */
    access.address = 0x20;
    assert_int_equal(f.file.debug(access), CNNVP_OK);
    assert_int_equal(value[1], 0x42);
    assert_int_equal(f.state.noted, 3); /* nothing but the first: reading the second has an effect */
    access.address = 4;
    assert_int_equal(f.file.debug(access), CNNVP_E_ADDR);
    access.size = 3;
    assert_int_equal(f.file.debug(access), CNNVP_E_ACCESS);
    access.op = CNNVP_WRITE;
    assert_int_equal(f.file.debug(access), CNNVP_E_NOSUP);
    access = cnnvp::outside_access(CNNVP_READ, CNNVP_DEBUG, 0, nullptr, 4);
    assert_int_equal(f.file.debug(access), CNNVP_E_INVAL);
}

/* Through the sockets: registers, and what they do not serve goes to `access`. */
void test_in_a_platform(void **)
{
    bench::network net;
    const uint32_t a = net.add("a"), b = net.add("b");
    net.bind(a, AGENT_OUT, b, AGENT_REGS);
    bench::platform made(net);
    made["b"]->on_access = [](agent *, uint32_t port, cnnvp_access *access) {
        assert_int_equal(port, AGENT_REGS);
        return access->op == CNNVP_COMMAND ? 3 : int(CNNVP_E_ADDR);
    };
    made["a"]->on_process = [](agent *self) {
        uint32_t word = 0x5555;
        cnnvp_access access{};
        access.op = CNNVP_WRITE;
        access.data = &word;
        access.size = 4;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        access.op = CNNVP_READ;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        assert_int_equal(word, 0x12345555);
        access.size = 2;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_E_ACCESS);
        access.address = 0x100;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_E_ADDR);
        access.op = CNNVP_COMMAND;
        access.address = 0;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), 3);
        agent_note(self, 1);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 1);
    made.get().reset();
    assert_int_equal(made["b"]->reg[AGENT_RW], 0x12345678);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_rights),         cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_wrong_accesses), cmocka_unit_test(test_warnings_come_once),
        cmocka_unit_test(test_debug),          cmocka_unit_test(test_in_a_platform),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
