/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ends: killed or reset while it is blocked, and exceptions that meet C frames on their way. */
#include <algorithm>
#include <stdexcept>

#include <tlm_utils/simple_target_socket.h>

#include "bench.h"
#include "memory_port.h"
extern "C" {
#include "recorder.h"
}

namespace {

constexpr cnnvp_time ns = 1000;

/* The platform is freed while processes are blocked: their C frames run to their end (leaks fail under sanitizers). */
void test_killed_while_blocked(void **)
{
    static uint32_t cleanups;
    cleanups = 0;
    bench::network net;
    net.add("waits");
    net.add("sleeps");
    {
        bench::platform made(net);
        made["waits"]->on_process = [](agent *self) {
            agent_wait_process(self);
            cleanups += self->cleanups;
            assert_int_equal(self->values[self->noted - 1], CNNVP_E_STOPPED);
        };
        made["sleeps"]->on_process = [](agent *self) {
            agent_sleep_process(self);
            cleanups += self->cleanups;
        };
        assert_int_equal(made.run(55 * ns).end, CNNVP_END_MAX_TIME);
        assert_int_equal(cleanups, 0);
    }
    assert_int_equal(cleanups, 2);
}

/* One settles while the other keeps the instant from ending, and then ends the run. */
void test_killed_while_settling(void **)
{
    static bool stopped;
    stopped = false;
    bench::network net;
    net.add("settles");
    net.add("turns");
    {
        bench::platform made(net);
        made["settles"]->on_process = [](agent *self) { stopped = self->ops->settle(self->host) == CNNVP_E_STOPPED; };
        made["turns"]->on_process = [](agent *self) {
            for (int i = 0; self->ops->wait(self->host, 0) == CNNVP_OK; ++i)
                if (i == 100)
                    self->ops->finish(self->host, 0, "");
        };
        assert_int_equal(made.run().end, CNNVP_END_EXIT);
        assert_false(stopped);
    }
    assert_true(stopped);
}

void test_reset_while_blocked(void **)
{
    bench::network net;
    net.add("waits");
    net.add("sleeps");
    bench::platform made(net);
    made["waits"]->on_process = agent_wait_process;
    made["sleeps"]->on_process = agent_sleep_process;
    made.run(25 * ns);
    assert_int_equal(made["waits"]->noted, 2);
    for (uint32_t round = 1; round <= 3; ++round) {
        made.get().reset();
        for (const char *name : {"waits", "sleeps"}) {
            assert_int_equal(made[name]->cleanups, round);
            assert_int_equal(made[name]->resets, round + 1);
        }
        made["waits"]->noted = 0;
        const cnnvp_run_result result = made.run(made["waits"]->ops->now(made["waits"]->host) + 25 * ns);
        assert_int_equal(result.end, CNNVP_END_MAX_TIME);
        assert_int_equal(made["waits"]->noted, 2); /* it runs again, from the reset on */
        assert_int_equal(made["waits"]->processes, round + 1);
    }
}

/* A process that has ended starts again after a reset. */
void test_reset_of_an_ended_process(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) { agent_note(self, 1); };
    assert_int_equal(made.run().end, CNNVP_END_NO_PROGRESS);
    made.get().reset();
    made.run();
    assert_int_equal(made["a"]->noted, 2);
    assert_int_equal(made["a"]->processes, 2);
}

/* A reset between runs, and some time: what a process does at once belongs to the next run, which it may end. */
void test_reset_between_runs(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) { self->ops->finish(self->host, 0, ""); };
    for (uint32_t round = 1; round <= 3; ++round) {
        assert_int_equal(made.run().end, CNNVP_END_EXIT);
        made.get().reset();
        cnnvp::advance(cnnvp::from_ps(10 * ns));
        assert_int_equal(made["a"]->processes, round);
    }
}

/* A target that is not ours: blocks in b_transport, or throws. */
struct foreign : sc_core::sc_module {
    tlm_utils::simple_target_socket<foreign> socket;
    bool throws = false;
    unsigned calls = 0;

    explicit foreign(const sc_core::sc_module_name &name) : sc_core::sc_module(name), socket("socket")
    {
        socket.register_b_transport(this, &foreign::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &)
    {
        ++calls;
        if (throws)
            throw std::runtime_error("a model of somebody else failed");
        sc_core::wait(100, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/* Two hosts by hand, a -> b -> foreign, so that two C frames lie between the throw and the process. */
struct chain {
    cnnvp::simulation_context context;
    const cnnvp::simulation_context::visit visit{&context, nullptr};
    bench::network net;
    std::unique_ptr<cnnvp::run_control> control;
    std::unique_ptr<cnnvp::unit_host> a, b;
    std::unique_ptr<foreign> target;
    uint64_t address = 0;

    explicit chain(const cnnvp_unit *first_unit = &cnnvp_unit_agent, const cnnvp_unit *second_unit = &cnnvp_unit_agent)
    {
        const uint32_t first = net.add("a", first_unit), second = net.add("b", second_unit);
        net.bind(first, AGENT_OUT, second, AGENT_STORE);
        net.bind(second, AGENT_OUT, 0, 0);
        const cnnvp_resolved &resolved = net.resolved();
        cnnvp::run_control::options options;
        options.verbosity = -1;
        control = std::make_unique<cnnvp::run_control>("_control", options);
        a = std::make_unique<cnnvp::unit_host>("a", *control, resolved.instances[0], std::vector<uint32_t>());
        b = std::make_unique<cnnvp::unit_host>(
            "b", *control, resolved.instances[1], std::vector<uint32_t>{AGENT_STORE});
        target = std::make_unique<foreign>("foreign");
        a->initiator(AGENT_OUT).bind(b->target(0));
        b->initiator(AGENT_OUT).bind(target->socket);
        std::string message;
        uint32_t param;
        assert_int_equal(a->init(&message, &param), CNNVP_OK);
        assert_int_equal(b->init(&message, &param), CNNVP_OK);
        cnnvp::advance(sc_core::SC_ZERO_TIME);
        a->reset();
        b->reset();
        one(a)->on_process = agent_read_process;
        one(a)->context = &address;
        one(b)->on_access = [](agent *self, uint32_t, cnnvp_access *access) {
            const int status = self->ops->access(self->host, AGENT_OUT, access);
            agent_note(self, status);
            return status;
        };
    }
    ~chain()
    {
        control->run_in_simulation([this] {
            a->kill();
            b->kill();
            cnnvp::end_threads();
        });
        a.reset();
        b.reset();
        target.reset();
        control.reset();
    }
    static agent *one(const std::unique_ptr<cnnvp::unit_host> &host) { return static_cast<agent *>(host->self()); }
};

void test_blocking_target_and_reset(void **)
{
    chain made;
    made.a->start();
    cnnvp::advance(sc_core::sc_time(50, sc_core::SC_NS));
    assert_int_equal(made.target->calls, 1);
    assert_int_equal(chain::one(made.a)->noted, 0); /* inside the access */
    made.control->run_in_simulation([&made] { made.a->reset(); });
    assert_int_equal(chain::one(made.b)->noted, 1); /* b's C frame saw the end and returned */
    assert_int_equal(chain::one(made.b)->values[0], CNNVP_E_STOPPED);
    assert_int_equal(chain::one(made.a)->values[0], CNNVP_E_STOPPED);
    assert_int_equal(chain::one(made.a)->cleanups, 1);
    cnnvp::advance(sc_core::sc_time(105, sc_core::SC_NS)); /* and it works again */
    assert_int_equal(chain::one(made.a)->values[1], CNNVP_OK);
    assert_int_equal(made.target->calls, 2);
}

void test_target_that_throws(void **)
{
    chain made;
    made.target->throws = true;
    made.a->start();
    cnnvp::advance(sc_core::sc_time(50, sc_core::SC_NS));
    assert_true(made.control->ended());
    assert_int_equal(made.control->end(), CNNVP_END_FATAL);
    assert_non_null(std::strstr(made.control->reason().c_str(), "somebody else"));
    assert_int_equal(chain::one(made.a)->values[0], CNNVP_E_STOPPED);
    assert_int_equal(chain::one(made.a)->cleanups, 1);
}

agent *with_thread;

int init_with_thread(void *self, const cnnvp_init *init)
{
    with_thread = static_cast<agent *>(self);
    sc_core::sc_spawn(
        [] {
            sc_core::wait(20, sc_core::SC_NS);
            for (unsigned i = 0; i < 4; ++i) {
                cnnvp_access access{};
                access.op = CNNVP_READ;
                access.data = with_thread->data;
                access.size = 4;
                agent_note(with_thread, 100 + with_thread->ops->access(with_thread->host, AGENT_OUT, &access));
            }
        },
        "own");
    return cnnvp_unit_agent.init(self, init);
}

/* A SystemC process of the unit's own is suspended in an access beside that of the unit's process, begins first and
 * last, and is thrown through. */
void test_two_suspended(void **)
{
    cnnvp_unit unit = cnnvp_unit_agent, link = cnnvp_unit_agent;
    cnnvp_port ports[AGENT_PORTS];
    std::copy_n(cnnvp_unit_agent.ports, size_t(AGENT_PORTS), ports);
    ports[AGENT_OUT].flags |= CNNVP_PORT_OUTSIDE;
    unit.init = init_with_thread;
    link.ports = ports;
    for (const cnnvp_time begin : {0u, 25u}) {
        chain made(&unit, &link);
        cnnvp::advance(sc_core::sc_time(double(begin), sc_core::SC_NS));
        made.a->start();
        cnnvp::advance(sc_core::sc_time(double(250 - begin), sc_core::SC_NS));
        assert_int_equal(chain::one(made.a)->noted, 4);
        for (uint32_t i = 0; i < 4; ++i) {
            const bool is_first = begin == 0 ? i % 2 == 0 : i % 2 != 0; /* is the process's */
            assert_int_equal(chain::one(made.a)->values[i], is_first ? CNNVP_OK : 100 + CNNVP_OK);
        }
        assert_int_equal(made.target->calls, 6);
        made.target->throws = true; /* a's process, which is told; its other process ends the run */
        made.control->run_in_simulation([&made] { made.a->kill(); });
        assert_int_equal(chain::one(made.a)->cleanups, 1);
        assert_false(made.control->ended());
    }
}

/* What a process runs ahead of the kernel and what a third party's target takes add up: an access 50 ns ahead that
 * takes 100 ns ends 150 ns later. */
void test_ahead_of_a_blocking_target(void **)
{
    const cnnvp::simulation_context context;
    const cnnvp::simulation_context::visit visit{&context, nullptr};
    bench::network net;
    net.bind(net.add("a"), AGENT_OUT, 0, 0);
    cnnvp::run_control control("_control", {});
    cnnvp::unit_host host("a", control, net.resolved().instances[0], {});
    cnnvp::memory_port port("outside", control, net.resolved().instances[0], nullptr);
    foreign target("foreign");
    host.initiator(AGENT_OUT).bind(port.target);
    port.socket.bind(target.socket);
    std::string message;
    uint32_t param;
    assert_int_equal(host.init(&message, &param), CNNVP_OK);
    cnnvp::advance(sc_core::SC_ZERO_TIME);
    host.reset();
    auto *const self = static_cast<agent *>(host.self());
    self->on_process = [](agent *self) {
        cnnvp_access access{};
        access.data = self->data;
        access.size = 4;
        access.delay = 50 * ns;
        agent_note(self, self->ops->access(self->host, AGENT_OUT, &access));
        self->times[0] += access.delay;
    };
    host.start();
    cnnvp::advance(sc_core::sc_time(1, sc_core::SC_US));
    assert_int_equal(self->noted, 1);
    assert_int_equal(self->values[0], CNNVP_OK);
    assert_int_equal(self->times[0], 150 * ns);
    assert_int_equal(target.calls, 1);
    control.run_in_simulation([&host] {
        host.kill();
        cnnvp::end_threads();
    });
}

/* An agent that takes commands, and one whose commands it has to count itself (CNNVP_PORT_COUNTED). */
struct commanded {
    bench::network net;
    cnnvp_port gives_ports[AGENT_PORTS], takes_ports[AGENT_PORTS];
    cnnvp_stat stat = {"compute_cycles", "cycles", "compute_cycles", nullptr, "cycles"};
    cnnvp_unit gives = cnnvp_unit_agent, takes = cnnvp_unit_agent;

    commanded()
    {
        std::copy_n(cnnvp_unit_agent.ports, AGENT_PORTS, gives_ports);
        std::copy_n(cnnvp_unit_agent.ports, AGENT_PORTS, takes_ports);
        gives_ports[AGENT_OUT].flags = CNNVP_PORT_OPTIONAL | CNNVP_PORT_COUNTED;
        takes_ports[AGENT_REGS].flags = CNNVP_PORT_OPTIONAL | CNNVP_PORT_COMMANDS;
        gives.ports = gives_ports;
        takes.ports = takes_ports;
        takes.stats = &stat;
        const uint32_t a = net.add("gives", &gives), b = net.add("takes", &takes);
        net.bind(a, AGENT_OUT, b, AGENT_REGS);
        net.bind(b, AGENT_OUT, a, AGENT_REGS);
    }
};

/* Gives a command, or says that one is complete. */
template <typename Structure>
int say(agent *self, Structure what)
{
    cnnvp_access access{};
    access.op = CNNVP_COMMAND;
    access.data = &what;
    access.size = sizeof what;
    return self->ops->access(self->host, AGENT_OUT, &access);
}

/* Of two commands that it works on, the one that ends last is named. */
void test_works_on_two_commands(void **)
{
    commanded of;
    bench::platform made(of.net);
    made["takes"]->on_access = [](agent *, uint32_t, cnnvp_access *access) {
        access->delay += static_cast<const cnnvp_command *>(access->data)->opcode * ns;
        return int(CNNVP_OK);
    };
    made["gives"]->on_process = [](agent *self) {
        for (const uint32_t opcode : {200u, 100u}) {
            cnnvp_command command{};
            command.opcode = opcode;
            assert_int_equal(say(self, command), CNNVP_OK);
        }
        agent_wait_process(self);
    };
    const cnnvp_run_result result = made.run(50 * ns);
    assert_int_equal(result.end, CNNVP_END_MAX_TIME);
    assert_non_null(std::strstr(result.reason, "takes has ended its process, works on opcode 0xc8 until 200 ns"));
}

/* A command that a reset has ended is not the next one of its number, which is given at 100 ns and ends at 120 ns,
 * after 20 cycles, all of which are counted. */
void test_reset_with_a_command(void **)
{
    commanded of;
    cnnvp_recorder *recorder = nullptr;
    cnnvp_error error;
    assert_int_equal(cnnvp_recorder_new(&of.net.resolved(), nullptr, 0, &recorder, &error), CNNVP_DONE);
    {
        bench::platform made(of.net, recorder, true);
        made["takes"]->on_access = [](agent *self, uint32_t, cnnvp_access *) {
            if (self->ops->now(self->host) != 0)
                (void)self->ops->notify(self->host, 0, self->ops->now(self->host) + 20 * ns);
            return CNNVP_PENDING;
        };
        made["takes"]->on_event = [](agent *self, uint32_t) {
            self->ops->count(self->host, 0, 1, 20);
            assert_int_equal(say(self, cnnvp_completion{1, CNNVP_OK, 0}), CNNVP_OK);
        };
        made["gives"]->on_access = [](agent *self, uint32_t, cnnvp_access *) {
            self->ops->finish(self->host, 0, "");
            return int(CNNVP_OK);
        };
        made["gives"]->on_process = [](agent *self) {
            cnnvp_command command{};
            command.sequence = 1;
            assert_int_equal(say(self, command), CNNVP_PENDING);
            agent_wait_process(self);
        };
        assert_int_equal(made.run(100 * ns).end, CNNVP_END_MAX_TIME);
        made.get().reset();
        const cnnvp_run_result result = made.run();
        assert_string_equal(result.reason, "");
        assert_int_equal(result.end, CNNVP_END_EXIT);
        assert_int_equal(result.time_ps, 120 * ns);
    }
    cnnvp_recorder_free(recorder);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_while_blocked),       cmocka_unit_test(test_killed_while_settling),
        cmocka_unit_test(test_reset_while_blocked),        cmocka_unit_test(test_reset_between_runs),
        cmocka_unit_test(test_reset_of_an_ended_process),  cmocka_unit_test(test_blocking_target_and_reset),
        cmocka_unit_test(test_target_that_throws),         cmocka_unit_test(test_two_suspended),
        cmocka_unit_test(test_ahead_of_a_blocking_target), cmocka_unit_test(test_works_on_two_commands),
        cmocka_unit_test(test_reset_with_a_command),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
