/* SPDX-License-Identifier: Apache-2.0 */
/* What the host offers a unit: parameters, time, events, accesses, interrupts, settling. */
#include <functional>

#include "bench.h"

namespace {

constexpr cnnvp_time ns = 1000;

void test_parameters_and_time(void **)
{
    bench::network net;
    const uint32_t a = net.add("a", &cnnvp_unit_agent, 0x8000);
    bench::platform made(net);
    agent *one = made["a"];
    assert_int_equal(one->size, 0x8000);
    assert_int_equal(one->number, a);
    assert_string_equal(one->ops->param_text(one->host, 1), "500");
    assert_int_equal(one->ops->param(one->host, 99), 0);
    assert_int_equal(one->ops->timing_only(one->host), 0);
    assert_int_equal(one->ops->now(one->host), 0);
    assert_int_equal(one->ops->clock_mhz(one->host), 1000); /* no clock named */
    assert_int_equal(one->ops->abi_major, CNNVP_ABI_MAJOR);
    assert_int_equal(one->ops->struct_size, sizeof(cnnvp_host_ops));
    assert_int_equal(one->resets, 1);
    assert_int_equal(one->processes, 0); /* not before the first run */
}

void test_config_error_has_a_place(void **)
{
    bench::network net;
    net.add("a", &cnnvp_unit_agent, 13);
    std::unique_ptr<cnnvp::platform::design> made;
    cnnvp_error error;
    assert_int_equal(cnnvp::platform::design::build(net.resolved(), {}, &made, &error), CNNVP_BAD_INPUT);
    assert_null(made.get());
    assert_non_null(std::strstr(error.text, "13 brings bad luck"));
    assert_non_null(std::strstr(error.text, "test.yaml:1:1"));
}

/* Notifications: a later call replaces an earlier one in both directions; the past means now. */
void test_events(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    agent *one = made["a"];
    one->on_event = [](agent *self, uint32_t event) { agent_note(self, static_cast<int>(event)); };
    one->on_process = [](agent *self) {
        const auto notify = [self](uint32_t event, cnnvp_time at) {
            assert_int_equal(self->ops->notify(self->host, event, at), CNNVP_OK);
        };
        notify(0, 100 * ns);
        notify(0, 50 * ns);
        notify(1, 20 * ns);
        notify(1, 70 * ns);
        notify(2, 10 * ns);
        assert_int_equal(self->ops->cancel(self->host, 2), CNNVP_OK);
        assert_int_equal(self->ops->notify(self->host, AGENT_EVENTS, 0), CNNVP_E_INVAL);
        assert_int_equal(self->ops->next_activity(self->host), 50 * ns);
        assert_int_equal(self->ops->wait(self->host, 60 * ns), CNNVP_OK);
        notify(3, 1 * ns);
        assert_int_equal(self->ops->next_activity(self->host), 60 * ns);
        agent_note(self, 99);
        assert_int_equal(self->ops->wait(self->host, 100 * ns), CNNVP_OK);
        assert_true(self->ops->next_activity(self->host) == CNNVP_TIME_NEVER);
        notify(0, CNNVP_TIME_NEVER);
        self->ops->finish(self->host, 0, "");
    };
    const cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.time_ps, 160 * ns);
    const int values[] = {0, 99, 3, 1};
    const cnnvp_time times[] = {50 * ns, 60 * ns, 60 * ns, 70 * ns};
    assert_int_equal(one->noted, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(one->values[i], values[i]);
        assert_int_equal(one->times[i], times[i]);
    }
}

/* What a SystemC process of a unit's own does; with a unit in C it would be a library in C++. */
std::function<void(agent *)> own_thread;

int init_with_thread(void *self, const cnnvp_init *init)
{
    const int status = cnnvp_unit_agent.init(self, init);
    assert_int_equal(init->simulated, 1);
    if (status == CNNVP_OK)
        sc_core::sc_spawn([self] { own_thread(static_cast<agent *>(self)); }, "own");
    return status;
}

/* It calls what a callback may, when no unit is at work; only to wait it has SystemC's own. */
void test_process_of_its_own(void **)
{
    for (const bool strict : {false, true}) {
        cnnvp_unit unit = cnnvp_unit_agent;
        unit.init = init_with_thread;
        bench::network net;
        net.add("a", &unit);
        const uint32_t b = net.add("b");
        net.bind(0, AGENT_OUT, b, AGENT_STORE);
        net.bind(0, AGENT_MEM, b, AGENT_STORE);
        net.bind(0, AGENT_IRQ, b, AGENT_LINES, 2);
        own_thread = [strict](agent *self) {
            char bytes[4] = {1, 2, 3, 4};
            cnnvp_access access{};
            cnnvp_dmi memory{};
            const auto note = [self](int value) { agent_note(self, value); };
            sc_core::wait(10, sc_core::SC_NS);
            access.op = CNNVP_WRITE;
            access.address = 0x100;
            access.data = bytes;
            access.size = sizeof bytes;
            note(self->ops->access(self->host, AGENT_OUT, &access));
            note(self->ops->dmi(self->host, AGENT_OUT, 0x100, &memory));
            note(memory.data[0x102]);
            note(self->ops->connected(self->host, AGENT_OUT));
            note(self->ops->irq(self->host, AGENT_IRQ, 1));
            note(self->ops->notify(self->host, 3, 30 * ns));
            self->own.op = CNNVP_READ;
            self->own.address = 0x100;
            self->own.data = self->data;
            self->own.size = 4;
            self->own.count = self->own.outstanding = 1;
            note(self->ops->request(self->host, AGENT_MEM, &self->own));
            sc_core::wait(200, sc_core::SC_NS);
            note(self->data[3]);
            if (!strict)
                self->ops->irq(self->host, AGENT_IRQ, 0);
            note(self->ops->wait(self->host, 10 * ns));
            note(self->ops->wait_wake(self->host));
            note(self->ops->settle(self->host));
            note(self->ops->reach(self->host, 300 * ns));
            self->ops->finish(self->host, 3, "");
        };
        bench::platform made(net, nullptr, strict);
        agent *one = made["a"], *other = made["b"];
        one->on_event = [](agent *self, uint32_t event) { agent_note(self, int(event)); };
        one->on_complete = agent_note_complete;
        other->on_access = agent_memory_access;
        other->on_request = agent_memory_request;
        other->on_event = agent_memory_event;
        const cnnvp_run_result result = made.run();
        const int values[] = {CNNVP_OK, CNNVP_OK, 3, 1, CNNVP_OK, CNNVP_OK, CNNVP_OK, 3, CNNVP_OK, 4};
        assert_int_equal(one->noted, 14);
        for (uint32_t i = 0; i < 14; ++i)
            assert_int_equal(one->values[i], i < 10 ? values[i] : CNNVP_E_STATE);
        assert_int_equal(one->times[7], 30 * ns);
        assert_int_equal(one->times[8], 110 * ns);
        assert_int_equal(other->levels[2], strict);
        assert_int_equal(other->values[0], CNNVP_OK); /* of complete */
        assert_int_equal(result.end, strict ? CNNVP_END_FATAL : CNNVP_END_EXIT);
        if (strict)
            assert_string_equal(result.reason,
                                "a: wait, called in none of its callbacks, is refused (not possible now): only the "
                                "unit's process may wait; a SystemC process of its own calls sc_core::wait");
    }
}

/* A memory's process completes what is held. */
void test_completion_by_its_own_process(void **)
{
    cnnvp_unit unit = cnnvp_unit_agent;
    unit.init = init_with_thread;
    bench::network net;
    net.add("a");
    const uint32_t b = net.add("b", &unit);
    net.bind(0, AGENT_MEM, b, AGENT_STORE);
    own_thread = [](agent *self) {
        sc_core::wait(70, sc_core::SC_NS);
        agent_memory_event(self, 0);
    };
    bench::platform made(net);
    agent *one = made["a"];
    one->own.op = CNNVP_READ;
    one->own.data = one->data;
    one->own.size = 4;
    one->own.count = one->own.outstanding = 1;
    one->on_process = agent_request_process;
    one->on_complete = [](agent *self, uint32_t, cnnvp_request *request) {
        agent_note(self, request->status);
        self->ops->finish(self->host, 0, "");
    };
    made["b"]->on_request = agent_memory_request;
    assert_int_equal(made.run().end, CNNVP_END_EXIT);
    assert_int_equal(one->noted, 2);
    assert_int_equal(one->values[1], CNNVP_OK);
    assert_int_equal(one->times[1], 70 * ns);
    assert_int_equal(made["b"]->values[0], CNNVP_OK);
}

/* In a callback of another unit. */
void test_calls_from_outside(void **)
{
    for (const bool strict : {false, true}) {
        bench::network net;
        net.add("a");
        net.add("b");
        bench::platform made(net, nullptr, strict);
        made["a"]->peer = made["b"];
        made["a"]->on_process = [](agent *self) {
            const agent *other = self->peer;
            cnnvp_access access{};
            agent_note(self, other->ops->irq(other->host, AGENT_IRQ, 1));
            agent_note(self, other->ops->notify(other->host, 0, 0));
            agent_note(self, other->ops->connected(other->host, AGENT_OUT));
            agent_note(self, other->ops->access(other->host, AGENT_OUT, &access));
            agent_note(self, other->ops->wait_wake(other->host));
            self->ops->finish(self->host, 3, "");
        };
        const cnnvp_run_result result = made.run();
        assert_int_equal(made["a"]->noted, 5);
        for (uint32_t i = 0; i < 5; ++i)
            assert_int_equal(made["a"]->values[i], CNNVP_E_STATE);
        assert_int_equal(result.end, strict ? CNNVP_END_FATAL : CNNVP_END_EXIT);
        if (strict)
            assert_string_equal(result.reason,
                                "b: irq, called in none of its callbacks, is refused (not possible now): "
                                "the unit's callbacks alone may call the host");
    }
}

int count_in_init(void *self, const cnnvp_init *init)
{
    init->ops->count(init->host, 0, 0, 1);
    return cnnvp_unit_agent.init(self, init);
}

/* Nothing counts before the first reset. What is refused before a run begins ends it, if it is strict. */
void test_count_in_init(void **)
{
    cnnvp_unit unit = cnnvp_unit_agent;
    unit.init = count_in_init;
    for (const bool strict : {false, true}) {
        bench::network net;
        net.add("a", &unit);
        bench::platform made(net, nullptr, strict);
        made["a"]->on_process = [](agent *self) { self->ops->finish(self->host, 0, ""); };
        const cnnvp_run_result result = made.run();
        assert_int_equal(result.end, strict ? CNNVP_END_FATAL : CNNVP_END_EXIT);
        assert_int_equal(made["a"]->processes, strict ? 0 : 1);
        if (strict)
            assert_string_equal(
                result.reason, "a: count, called in init, is refused (not possible now): the simulation has not begun");
    }
}

/* A wait that would end behind simulated time does not end before it began. */
void test_wait_without_end(void **)
{
    for (const cnnvp_time duration : {CNNVP_TIME_NEVER, CNNVP_TIME_NEVER - 5 * ns}) {
        bench::network net;
        net.add("a");
        bench::platform made(net);
        made["a"]->on_process = [](agent *self) {
            assert_int_equal(self->ops->wait(self->host, 10 * ns), CNNVP_OK);
            agent_note(self, self->ops->wait(self->host, *static_cast<const cnnvp_time *>(self->context)));
            self->ops->finish(self->host, 0, "");
        };
        made["a"]->context = const_cast<cnnvp_time *>(&duration);
        const cnnvp_run_result result = made.run(1000 * ns);
        assert_int_equal(made["a"]->noted, 0);
        assert_int_equal(result.end, CNNVP_END_NO_PROGRESS);
        assert_string_equal(result.reason, "nothing is left that could happen; a waits without end");
    }
}

/* wake is kept until the next wait_wake. */
void test_wake_is_latched(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    agent *one = made["a"];
    one->on_event = [](agent *self, uint32_t) { self->ops->wake(self->host); };
    one->on_process = [](agent *self) {
        self->ops->wake(self->host);
        self->ops->wake(self->host);
        assert_int_equal(self->ops->wait_wake(self->host), CNNVP_OK);
        agent_note(self, 1);
        assert_int_equal(self->ops->notify(self->host, 0, 10 * ns), CNNVP_OK);
        assert_int_equal(self->ops->wait(self->host, 30 * ns), CNNVP_OK);
        assert_int_equal(self->ops->wait_wake(self->host), CNNVP_OK); /* of 10 ns */
        agent_note(self, 2);
        assert_int_equal(self->ops->notify(self->host, 0, 40 * ns), CNNVP_OK);
        assert_int_equal(self->ops->wait_wake(self->host), CNNVP_OK);
        agent_note(self, 3);
        self->ops->finish(self->host, 0, "");
    };
    made.run();
    assert_int_equal(one->noted, 3);
    assert_int_equal(one->times[0], 0);
    assert_int_equal(one->times[1], 30 * ns);
    assert_int_equal(one->times[2], 40 * ns);
}

/* Two processes settle in an instant in which a chain of events goes on: both return after its end. */
void test_settle(void **)
{
    bench::network net;
    net.add("a");
    net.add("b");
    net.add("chain");
    bench::platform made(net);
    made["chain"]->on_event = [](agent *self, uint32_t) {
        agent_note(self, 0);
        if (self->noted < 5)
            assert_int_equal(self->ops->notify(self->host, 0, 0), CNNVP_OK);
    };
    made["chain"]->on_process = [](agent *self) {
        assert_int_equal(self->ops->notify(self->host, 0, 10 * ns), CNNVP_OK);
    };
    const auto settle = [](agent *self) {
        agent *chain = self->peer;
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
        assert_int_equal(self->ops->wait(self->host, 10 * ns), CNNVP_OK);
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
        assert_int_equal(self->ops->now(self->host), 10 * ns);
        assert_int_equal(chain->noted, 5);
        agent_note(self, 1);
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
    };
    for (const char *name : {"a", "b"}) {
        made[name]->peer = made["chain"];
        made[name]->on_process = settle;
    }
    const cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_NO_PROGRESS);
    assert_int_equal(made["a"]->noted, 1);
    assert_int_equal(made["b"]->noted, 1);
}

cnnvp_time kernel_time()
{
    return cnnvp::to_ps(sc_core::sc_time_stamp());
}

void reach(agent *self, cnnvp_time at)
{
    assert_int_equal(self->ops->reach(self->host, at), CNNVP_OK);
    assert_int_equal(self->ops->now(self->host), at);
}

/* A process runs ahead of the kernel while nothing is pending: what it touches then happens at its time, and what is
 * pending happens first. */
void test_reach(void **)
{
    bench::network net;
    const uint32_t a = net.add("a");
    const uint32_t b = net.add("b");
    net.bind(a, AGENT_OUT, b, AGENT_STORE);
    bench::platform made(net);
    made["b"]->on_access = [](agent *self, uint32_t, cnnvp_access *access) {
        agent_note(self, static_cast<int>(access->mode));
        assert_int_equal(self->ops->notify(self->host, 0, 0), CNNVP_OK); /* in the same instant */
        assert_int_equal(self->ops->notify(self->host, 1, 40 * ns), CNNVP_OK);
        return int(CNNVP_OK);
    };
    made["b"]->on_event = [](agent *self, uint32_t event) { agent_note(self, 100 + static_cast<int>(event)); };
    made["a"]->on_process = [](agent *self) {
        cnnvp_access access{};
        access.op = CNNVP_COMMAND;
        access.mode = 1;
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
        reach(self, 10 * ns);
        reach(self, 20 * ns);
        assert_int_equal(kernel_time(), 0);
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        assert_int_equal(self->ops->next_activity(self->host), 20 * ns);
        reach(self, 21 * ns);
        assert_int_equal(kernel_time(), 21 * ns);
        assert_int_equal(self->peer->noted, 2);
        reach(self, 39 * ns);
        assert_int_equal(kernel_time(), 21 * ns);
        reach(self, 40 * ns); /* together with the event: that goes first */
        assert_int_equal(kernel_time(), 40 * ns);
        assert_int_equal(self->peer->noted, 3);
    };
    made["a"]->peer = made["b"];
    made.run();
    const agent *other = made["b"];
    const int values[] = {1, 100, 101};
    const cnnvp_time times[] = {20 * ns, 20 * ns, 40 * ns};
    assert_int_equal(other->noted, 3);
    assert_memory_equal(other->values, values, sizeof values);
    assert_memory_equal(other->times, times, sizeof times);
}

/* While ahead, what is pending is known without the kernel; it changes with each notification and its end. */
void test_activity_ahead(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        const auto *ops = self->ops;
        assert_int_equal(ops->settle(self->host), CNNVP_OK);
        reach(self, 10 * ns);
        assert_true(ops->next_activity(self->host) == CNNVP_TIME_NEVER);
        assert_int_equal(ops->notify(self->host, 0, 50 * ns), CNNVP_OK);
        assert_int_equal(ops->next_activity(self->host), 50 * ns);
        reach(self, 20 * ns);
        assert_int_equal(ops->notify(self->host, 0, 60 * ns), CNNVP_OK);
        assert_int_equal(ops->next_activity(self->host), 60 * ns);
        assert_int_equal(ops->notify(self->host, 1, 55 * ns), CNNVP_OK);
        assert_int_equal(ops->next_activity(self->host), 55 * ns);
        reach(self, 30 * ns);
        assert_int_equal(ops->cancel(self->host, 1), CNNVP_OK);
        assert_int_equal(ops->next_activity(self->host), 60 * ns);
        assert_int_equal(ops->notify(self->host, 0, CNNVP_TIME_NEVER), CNNVP_OK);
        assert_true(ops->next_activity(self->host) == CNNVP_TIME_NEVER);
        assert_int_equal(kernel_time(), 0);
        agent_note(self, 1);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 1);
}

/* Whatever gives way to the kernel, and the end of the run, comes at the process's time. */
void test_reach_ends(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
        reach(self, 50 * ns);
        assert_int_equal(self->ops->wait(self->host, 5 * ns), CNNVP_OK);
        assert_int_equal(kernel_time(), 55 * ns);
        reach(self, 60 * ns);
        assert_int_equal(self->ops->settle(self->host), CNNVP_OK);
        assert_int_equal(kernel_time(), 60 * ns);
        reach(self, 70 * ns);
        self->ops->wake(self->host);
        assert_int_equal(self->ops->wait_wake(self->host), CNNVP_OK);
        assert_int_equal(kernel_time(), 70 * ns);
        reach(self, 80 * ns);
        self->ops->finish(self->host, 0, "");
    };
    const cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.time_ps, 80 * ns);
}

/* No core runs beyond the end of a run. */
void test_reach_and_limit(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        for (cnnvp_time at = 10 * ns; self->ops->reach(self->host, at) == CNNVP_OK; at += 10 * ns)
            agent_note(self, 0);
    };
    assert_int_equal(made.run(55 * ns).end, CNNVP_END_MAX_TIME);
    assert_int_equal(made["a"]->noted, 5);
    const cnnvp_run_result result = made.run(85 * ns);
    assert_int_equal(result.time_ps, 85 * ns);
    assert_int_equal(made["a"]->noted, 8);
}

/* After a reset between runs, processes start with the next run and none gets ahead before. */
void test_reach_between_runs(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        if (self->ops->reach(self->host, self->ops->now(self->host) + 10 * ns) == CNNVP_OK)
            self->ops->finish(self->host, 0, "");
    };
    for (cnnvp_time end = 10 * ns; end <= 30 * ns; end += 10 * ns) {
        const cnnvp_run_result result = made.run();
        assert_int_equal(result.end, CNNVP_END_EXIT);
        assert_int_equal(result.time_ps, end);
        made.get().reset();
    }
}

/* Who interrupts a run while a process is ahead finds it where it was: it gets no further before it goes on. */
void test_reach_interrupted(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        reach(self, 10 * ns);
        cnnvp::run_control::interrupt();
        reach(self, 20 * ns);
        agent_note(self, 0);
        self->ops->finish(self->host, 0, "");
    };
    cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_INTERRUPTED);
    assert_int_equal(result.time_ps, 10 * ns);
    assert_int_equal(made["a"]->noted, 0);
    result = made.run();
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.time_ps, 20 * ns);
}

void test_accesses(void **)
{
    bench::network net;
    const uint32_t a = net.add("a");
    const uint32_t b = net.add("b");
    net.bind(a, AGENT_OUT, b, AGENT_STORE);
    bench::platform made(net);
    made["b"]->on_access = [](agent *self, uint32_t port, cnnvp_access *access) {
        if (access->op == CNNVP_COMMAND) {
            assert_int_equal(access->mode, 5);
            access->delay += 7;
            return 1; /* statuses above 0 pass */
        }
        agent_note(self, static_cast<int>(access->initiator));
        return agent_memory_access(self, port, access);
    };
    made["a"]->on_process = [](agent *self) {
        uint32_t word = 0xdecade;
        cnnvp_access access{};
        const auto go = [&](uint32_t op, uint64_t address) {
            access.op = op;
            access.address = address;
            access.data = &word;
            access.size = 4;
            const int status = self->ops->access(self->host, AGENT_OUT, &access);
            assert_int_equal(access.address, address);
            return status;
        };
        access.delay = 500;
        assert_int_equal(go(CNNVP_WRITE, 0x40), CNNVP_OK);
        assert_int_equal(access.delay, 1500);
        word = 0;
        assert_int_equal(go(CNNVP_READ, 0x40), CNNVP_OK);
        assert_int_equal(word, 0xdecade);
        assert_int_equal(go(CNNVP_READ, AGENT_STORE_SIZE), CNNVP_E_ADDR);
        assert_int_equal(go(CNNVP_BORROW_READ, 0x40), CNNVP_OK);
        assert_int_equal(*static_cast<uint8_t *>(access.data), 0xde);
        assert_int_equal(go(99, 0), CNNVP_E_INVAL);
        access.mode = 5;
        access.delay = 0;
        assert_int_equal(go(CNNVP_COMMAND, 0), 1);
        assert_int_equal(access.delay, 7);
        access.flags = CNNVP_DEBUG;
        word = 0;
        assert_int_equal(go(CNNVP_READ, 0x40), CNNVP_OK);
        assert_int_equal(word, 0xdecade);
        access.flags = 0;
        assert_int_equal(self->ops->access(self->host, AGENT_MEM, &access), CNNVP_E_STATE); /* not connected */
        assert_int_equal(self->ops->access(self->host, AGENT_REGS, &access), CNNVP_E_INVAL);
        assert_int_equal(self->ops->access(self->host, 99, &access), CNNVP_E_INVAL);
        cnnvp_dmi piece{};
        assert_int_equal(self->ops->dmi(self->host, AGENT_OUT, 0x40, &piece), CNNVP_OK);
        assert_int_equal(piece.end - piece.start, AGENT_STORE_SIZE - 1);
        assert_int_equal(piece.data[0x40], 0xde);
        agent_note(self, 1);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 1);
    assert_int_equal(made["b"]->values[0], a);
}

/* a -> b -> a: an access that comes back to a unit whose process is inside its own access. */
void test_access_that_comes_back(void **)
{
    bench::network net;
    const uint32_t a = net.add("a");
    const uint32_t b = net.add("b");
    net.bind(a, AGENT_OUT, b, AGENT_STORE);
    net.bind(b, AGENT_OUT, a, AGENT_STORE);
    bench::platform made(net);
    made["b"]->on_access = [](agent *self, uint32_t, cnnvp_access *access) {
        return self->ops->access(self->host, AGENT_OUT, access); /* hands it on */
    };
    made["a"]->on_access = [](agent *self, uint32_t, cnnvp_access *access) {
        assert_int_equal(self->ops->wait(self->host, 1), CNNVP_E_STATE); /* not from an access */
        agent_note(self, static_cast<int>(access->initiator));
        return int(CNNVP_OK);
    };
    made["a"]->on_process = [](agent *self) {
        cnnvp_access access{};
        access.op = CNNVP_COMMAND;
        assert_int_equal(self->ops->access(self->host, AGENT_OUT, &access), CNNVP_OK);
        assert_int_equal(self->ops->wait(self->host, 1), CNNVP_OK);
        agent_note(self, 1000);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 2);
    assert_int_equal(made["a"]->values[0], a); /* who began it, not who handed it on */
    assert_int_equal(made["a"]->values[1], 1000);
}

void test_forbidden_moments(void **)
{
    bench::network net;
    const uint32_t a = net.add("a");
    net.bind(a, AGENT_OUT, a, AGENT_STORE);
    bench::platform made(net);
    agent *one = made["a"];
    one->on_reset = [](agent *self) {
        cnnvp_access access{};
        agent_note(self, self->ops->access(self->host, AGENT_OUT, &access));
        agent_note(self, self->ops->wait(self->host, 1));
    };
    made.get().reset();
    assert_int_equal(one->noted, 2);
    assert_int_equal(one->values[0], CNNVP_E_STATE);
    assert_int_equal(one->values[1], CNNVP_E_STATE);
    /* From outside of any callback, as from a thread of the model's own. */
    cnnvp_access access{};
    assert_int_equal(one->ops->access(one->host, AGENT_OUT, &access), CNNVP_E_STATE);
}

/* Levels: repeated ones cost nothing, a line with two drivers is high while one is, a reset announces high lines. */
void test_interrupts(void **)
{
    bench::network net;
    const uint32_t a = net.add("a");
    const uint32_t b = net.add("b");
    const uint32_t c = net.add("c");
    net.bind(a, AGENT_IRQ, c, AGENT_LINES, 2);
    net.bind(b, AGENT_IRQ, c, AGENT_LINES, 2);
    bench::platform made(net);
    made["c"]->on_signal = [](agent *self, uint32_t port, uint32_t line, int level) {
        assert_int_equal(port, AGENT_LINES);
        agent_note(self, static_cast<int>(line) * 10 + level);
    };
    const auto pulse = [](agent *self) {
        assert_int_equal(self->ops->irq(self->host, AGENT_IRQ, 1), CNNVP_OK);
        assert_int_equal(self->ops->irq(self->host, AGENT_IRQ, 5), CNNVP_OK);
        assert_int_equal(self->ops->irq(self->host, AGENT_OUT, 1), CNNVP_E_INVAL);
        assert_int_equal(self->ops->wait(self->host, (self->number + 1) * 10 * ns), CNNVP_OK);
        assert_int_equal(self->ops->irq(self->host, AGENT_IRQ, 0), CNNVP_OK);
    };
    made["a"]->on_process = pulse;
    made["b"]->on_process = pulse;
    made.run();
    assert_int_equal(made["c"]->noted, 2);
    assert_int_equal(made["c"]->values[0], 21);
    assert_int_equal(made["c"]->values[1], 20);
    assert_int_equal(made["c"]->times[1], 20 * ns);

    made["a"]->on_process = made["b"]->on_process = nullptr;
    made["a"]->on_reset = [](agent *self) { (void)self->ops->irq(self->host, AGENT_IRQ, 1); };
    made["c"]->noted = 0;
    made.get().reset();
    assert_int_equal(made["c"]->levels[2], 1);
    made["a"]->on_reset = nullptr;
    made.get().reset(); /* a's output drops, whether it says so or not */
    assert_int_equal(made["c"]->levels[2], 0);
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_and_time),
        cmocka_unit_test(test_config_error_has_a_place),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_process_of_its_own),
        cmocka_unit_test(test_completion_by_its_own_process),
        cmocka_unit_test(test_calls_from_outside),
        cmocka_unit_test(test_count_in_init),
        cmocka_unit_test(test_wait_without_end),
        cmocka_unit_test(test_wake_is_latched),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_reach_ends),
        cmocka_unit_test(test_activity_ahead),
        cmocka_unit_test(test_reach_and_limit),
        cmocka_unit_test(test_reach_between_runs),
        cmocka_unit_test(test_reach_interrupted),
        cmocka_unit_test(test_access_that_comes_back),
        cmocka_unit_test(test_forbidden_moments),
        cmocka_unit_test(test_interrupts),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
