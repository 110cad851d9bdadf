/* SPDX-License-Identifier: Apache-2.0 */
/* The bus: decoding, address errors, counting, direct and debug memory; targets that are not ours. */
#include <tlm_utils/simple_target_socket.h>

#include "bench.h"

namespace {

constexpr uint64_t low = 0x1000, high = 0x80000000;

struct bus_net {
    bench::network net;
    uint32_t a, b, m, bus;
    bus_net()
    {
        a = net.add("a");
        b = net.add("b");
        m = net.add("m");
        bus = net.add("bus", nullptr);
        net.at(b, low, 0x1000, AGENT_REGS);
        net.at(m, high, 0x8000, AGENT_STORE); /* a smaller window than the unit has */
        net.bind(a, AGENT_OUT, bus);
    }
};

int access_at(agent *self, uint32_t op, uint64_t address, void *data, uint64_t size, uint32_t flags = 0)
{
    cnnvp_access access{};
    access.op = op;
    access.address = address;
    access.data = data;
    access.size = size;
    access.flags = flags;
    const int status = self->ops->access(self->host, AGENT_OUT, &access);
    assert_int_equal(access.address, address);
    return status;
}

void test_decoding(void **)
{
    bus_net plan;
    bench::platform made(plan.net);
    made["m"]->on_access = agent_memory_access;
    made["a"]->on_process = [](agent *self) {
        uint32_t word = 0;
        for (const uint32_t flags : {0u, uint32_t(CNNVP_UNTIMED)}) { /* through sockets, and past them */
            assert_int_equal(access_at(self, CNNVP_READ, low, &word, 4, flags), CNNVP_OK);
            assert_int_equal(word, 0x12345678);
            word = 99;
            assert_int_equal(access_at(self, CNNVP_WRITE, high + 0x7ffc, &word, 4, flags), CNNVP_OK);
            word = 0;
            assert_int_equal(access_at(self, CNNVP_READ, high + 0x7ffc, &word, 4, flags), CNNVP_OK);
            assert_int_equal(word, 99);
            const uint64_t nothing[] = {0, low - 1, low + 0x1000, high - 1, high + 0x8000, high + 0x7ffd, UINT64_MAX};
            for (const uint64_t address : nothing)
                assert_int_equal(access_at(self, CNNVP_READ, address, &word, 4, flags), CNNVP_E_ADDR);
        }
        assert_int_equal(access_at(self, CNNVP_READ, high + 0x8000, &word, 4, CNNVP_DEBUG), CNNVP_E_ADDR);
        word = 0;
        assert_int_equal(access_at(self, CNNVP_READ, high + 0x7ffc, &word, 4, CNNVP_DEBUG), CNNVP_OK);
        assert_int_equal(word, 99);
        cnnvp_dmi piece{};
        assert_int_equal(self->ops->dmi(self->host, AGENT_OUT, high + 5, &piece), CNNVP_OK);
        assert_int_equal(piece.start, high);
        assert_int_equal(piece.end, high + 0x7fff); /* not beyond the window */
        assert_int_equal(piece.data[0x7ffc], 99);
        assert_int_equal(self->ops->dmi(self->host, AGENT_OUT, low, &piece), CNNVP_E_NOSUP);
        assert_int_equal(self->ops->dmi(self->host, AGENT_OUT, 0, &piece), CNNVP_E_NOSUP);
        agent_note(self, 1);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 1);
}

struct counted {
    cnnvp_recorder *recorder = nullptr;
    ~counted() { cnnvp_recorder_free(recorder); }
};

/* Links count what succeeds and is neither untimed nor a debug access; both links of a way through the bus agree. */
void test_links(void **)
{
    bus_net plan;
    counted count;
    cnnvp_error error;
    assert_int_equal(cnnvp_recorder_new(&plan.net.resolved(), nullptr, 0, &count.recorder, &error), CNNVP_DONE);
    {
        bench::platform made(plan.net, count.recorder);
        made["m"]->on_access = agent_memory_access;
        made["a"]->on_process = [](agent *self) {
            uint8_t data[64] = {0};
            assert_int_equal(access_at(self, CNNVP_WRITE, high, data, 64), CNNVP_OK);
            assert_int_equal(access_at(self, CNNVP_READ, high, data, 16), CNNVP_OK);
            assert_int_equal(access_at(self, CNNVP_READ, high, data, 16, CNNVP_UNTIMED), CNNVP_OK);
            assert_int_equal(access_at(self, CNNVP_READ, high, data, 16, CNNVP_DEBUG), CNNVP_OK);
            assert_int_equal(access_at(self, CNNVP_READ, 0, data, 16), CNNVP_E_ADDR);
            self->ops->count(self->host, 0, 0, 5);
            self->ops->count(self->host, 0, 1, 6);
            self->ops->count(self->host, 99, 0, 6); /* no such statistic */
        };
        made.run();
    }
    assert_int_equal(cnnvp_recorder_total(count.recorder, plan.a, 0), 11);
    char *json = nullptr;
    assert_int_equal(cnnvp_stats_json(&count.recorder->stats, 0, 0, &json), CNNVP_DONE);
    const std::string text = json;
    std::free(json);
    std::string dense;
    for (const char c : text)
        if (c != ' ' && c != '\n')
            dense += c;
    for (const char *link : {"\"from\":\"a\",\"to\":\"bus\"", "\"from\":\"bus\",\"to\":\"m\""}) {
        const size_t at = dense.find(link);
        assert_true(at != std::string::npos);
        assert_int_equal(dense.find(",\"read_bytes\":16,\"write_bytes\":64,\"transactions\":2,", at) - at,
                         std::strlen(link));
    }
}

/* -- TLM models of other people -- */

struct stranger : sc_core::sc_module {
    tlm_utils::simple_target_socket<stranger> in;
    unsigned char memory[256] = {};

    explicit stranger(const sc_core::sc_module_name &name) : sc_core::sc_module(name), in("in")
    {
        in.register_b_transport(this, &stranger::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
    {
        if (payload.get_address() + payload.get_data_length() > sizeof memory) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        if (payload.is_read())
            std::memcpy(payload.get_data_ptr(), memory + payload.get_address(), payload.get_data_length());
        if (payload.is_write())
            std::memcpy(memory + payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
        delay += sc_core::sc_time(30, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

struct mixed {
    cnnvp::simulation_context context;
    const cnnvp::simulation_context::visit visit{&context, nullptr};
    bench::network net;
    std::unique_ptr<cnnvp::run_control> control;
    std::unique_ptr<cnnvp::unit_host> a, m;
    std::unique_ptr<cnnvp::bus> bus;
    std::unique_ptr<stranger> other;

    mixed()
    {
        const uint32_t first = net.add("a"), second = net.add("m");
        net.bind(first, AGENT_OUT, 0, 0);
        net.bind(first, AGENT_MEM, 0, 0);
        const cnnvp_resolved &resolved = net.resolved();
        cnnvp::run_control::options options;
        options.verbosity = -1;
        control = std::make_unique<cnnvp::run_control>("_control", options);
        a = std::make_unique<cnnvp::unit_host>("a", *control, resolved.instances[0], std::vector<uint32_t>());
        m = std::make_unique<cnnvp::unit_host>(
            "m", *control, resolved.instances[1], std::vector<uint32_t>{AGENT_STORE});
        other = std::make_unique<stranger>("stranger");
        bus = std::make_unique<cnnvp::bus>(
            "bus", *control, 2, std::vector<cnnvp::bus::window>{{"m", second, high, 0x8000}, {"other", 3, low, 0x200}},
            std::vector<std::string>{"a", "a"});
        a->initiator(AGENT_OUT).bind(bus->target(0));
        a->initiator(AGENT_MEM).bind(bus->target(1));
        bus->initiator(0).bind(m->target(0));
        bus->initiator(1).bind(other->in);
        std::string message;
        uint32_t param;
        assert_int_equal(a->init(&message, &param), CNNVP_OK);
        assert_int_equal(m->init(&message, &param), CNNVP_OK);
        cnnvp::advance(sc_core::SC_ZERO_TIME);
        a->reset();
        m->reset();
        one(m)->on_access = agent_memory_access;
    }
    ~mixed()
    {
        control->run_in_simulation([this] {
            a->kill();
            m->kill();
        });
        bus.reset();
        a.reset();
        m.reset();
        other.reset();
        control.reset();
    }
    static agent *one(const std::unique_ptr<cnnvp::unit_host> &host) { return static_cast<agent *>(host->self()); }
};

void test_foreign_target(void **)
{
    mixed made;
    made.one(made.a)->on_process = [](agent *self) {
        uint32_t word = 0xabcdef01;
        cnnvp_access access{};
        access.op = CNNVP_WRITE;
        access.address = low + 12;
        access.data = &word;
        access.size = 4;
        access.delay = 5;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        assert_int_equal(access.delay, 30005);
        word = 0;
        access.op = CNNVP_READ;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        assert_int_equal(word, 0xabcdef01);
        access.address = low + 0x1fc; /* in the window, beyond the target's memory */
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_E_ADDR);
        access.op = CNNVP_COMMAND;
        access.address = low;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_E_NOSUP);
        /* A split request at a target that only blocks: TLM's own sockets translate. */
        self->own.op = CNNVP_READ;
        self->own.address = low + 12;
        self->own.data = self->data;
        self->own.size = 4;
        self->own.count = self->own.outstanding = 1;
        assert_int_equal(self->ops->request(self->host, AGENT_MEM, &self->own), CNNVP_OK);
        assert_int_equal(self->ops->wait_wake(self->host), CNNVP_OK);
        agent_note(self, self->data[3]);
    };
    made.one(made.a)->on_complete = agent_note_complete;
    made.a->start();
    cnnvp::advance(sc_core::sc_time(1, sc_core::SC_US));
    assert_int_equal(made.one(made.a)->noted, 2);
    assert_int_equal(made.one(made.a)->values[0], CNNVP_OK);
    assert_int_equal(made.one(made.a)->times[0], 30000);
    assert_int_equal(made.one(made.a)->values[1], 0xab);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_foreign_target),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
