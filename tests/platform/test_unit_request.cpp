/* SPDX-License-Identifier: Apache-2.0 */
/* Split transactions: requests, completions, refusals, resets on both sides, the way through the bus. */
#include "bench.h"

namespace {

constexpr cnnvp_time ns = 1000;
constexpr uint64_t base = 0x80000000;

struct pair_net {
    bench::network net;
    explicit pair_net(bool through_bus = false)
    {
        const uint32_t a = net.add("a");
        const uint32_t m = net.add("m");
        const uint32_t bus = net.add("bus", nullptr);
        net.at(m, base, AGENT_STORE_SIZE, AGENT_STORE);
        if (through_bus)
            net.bind(a, AGENT_MEM, bus);
        else
            net.bind(a, AGENT_MEM, m, AGENT_STORE);
    }
};

void prepare(bench::platform &made)
{
    made["m"]->on_request = agent_memory_request;
    made["m"]->on_event = agent_memory_event;
    made["a"]->on_process = agent_request_process;
    made["a"]->on_complete = agent_note_complete;
    for (int i = 0; i < 256; ++i)
        made["m"]->store[i] = static_cast<uint8_t>(i);
    cnnvp_request &request = made["a"]->own;
    request.op = CNNVP_READ;
    request.address = base + 16;
    request.data = made["a"]->data;
    request.size = 4;
    request.count = 3;
    request.stride = 32;
    request.burst_bytes = 64;
    request.outstanding = 1;
    request.cookie = 4711;
}

void check_read(bench::platform &made)
{
    agent *a = made["a"];
    const int values[] = {CNNVP_OK, CNNVP_OK, 77};
    assert_int_equal(a->noted, 3);
    for (int i = 0; i < 3; ++i)
        assert_int_equal(a->values[i], values[i]);
    assert_int_equal(a->times[1], 100 * ns);
    assert_int_equal(a->own.issued, 0);
    assert_int_equal(a->own.first_data, 100 * ns);
    assert_int_equal(a->own.address, base + 16);
    assert_int_equal(a->own.cookie, 4711);
    const uint8_t expected[] = {16, 17, 18, 19, 48, 49, 50, 51, 80, 81, 82, 83};
    assert_memory_equal(a->data, expected, sizeof expected);
    assert_int_equal(made["m"]->values[0], CNNVP_OK);
}

void test_direct(void **)
{
    pair_net plan;
    bench::platform made(plan.net);
    prepare(made);
    made.run();
    check_read(made);
}

void test_through_the_bus(void **)
{
    pair_net plan(true);
    bench::platform made(plan.net);
    prepare(made);
    made.run();
    check_read(made);
}

void test_strided_write_backwards(void **)
{
    pair_net plan(true);
    bench::platform made(plan.net);
    prepare(made);
    cnnvp_request &request = made["a"]->own;
    request.op = CNNVP_WRITE;
    request.address = base + 64;
    request.stride = -16;
    std::memcpy(made["a"]->data, "aaaabbbbcccc", 12);
    made.run();
    assert_memory_equal(made["m"]->store + 64, "aaaa", 4);
    assert_memory_equal(made["m"]->store + 48, "bbbb", 4);
    assert_memory_equal(made["m"]->store + 32, "cccc", 4);
}

/* What is wrong is refused at once; no completion follows. */
void refuse(bool through_bus, void (*spoil)(cnnvp_request *), int status)
{
    pair_net plan(through_bus);
    bench::platform made(plan.net);
    prepare(made);
    spoil(&made["a"]->own);
    made.run();
    assert_int_equal(made["a"]->noted, 1);
    assert_int_equal(made["a"]->values[0], status);
    assert_int_equal(made["m"]->held_count, 0);
    assert_int_equal(made["m"]->noted, 0);
}

void test_refused(void **)
{
    for (const bool bus : {false, true}) {
        refuse(
            bus, [](cnnvp_request *request) { request->address = 0x1000; }, CNNVP_E_ADDR);
        refuse(
            bus, [](cnnvp_request *request) { request->address = base + AGENT_STORE_SIZE - 8; }, CNNVP_E_ADDR);
        refuse(
            bus, [](cnnvp_request *request) { request->stride = -64; }, CNNVP_E_ADDR); /* below the window */
        refuse(
            bus, [](cnnvp_request *request) { request->stride = INT64_MAX, request->count = 5; }, CNNVP_E_ADDR);
        refuse(
            bus, [](cnnvp_request *request) { request->size = 0; }, CNNVP_E_INVAL);
        refuse(
            bus, [](cnnvp_request *request) { request->count = 0; }, CNNVP_E_INVAL);
        refuse(
            bus, [](cnnvp_request *request) { request->size = UINT64_MAX / 2; }, CNNVP_E_INVAL);
        refuse(
            bus, [](cnnvp_request *request) { request->outstanding = 0; }, CNNVP_E_INVAL);
        refuse(
            bus, [](cnnvp_request *request) { request->op = CNNVP_COMMAND; }, CNNVP_E_INVAL);
    }
}

void test_target_refuses(void **)
{
    pair_net plan;
    bench::platform made(plan.net);
    prepare(made);
    made["m"]->on_request = [](agent *, uint32_t, cnnvp_request *) { return int(CNNVP_E_STATE); };
    made.run();
    assert_int_equal(made["a"]->noted, 1);
    assert_int_equal(made["a"]->values[0], CNNVP_E_STATE);
}

/* complete inside request, twice, and for a structure that is not the target's own: all CNNVP_E_STATE. */
void test_wrong_completions(void **)
{
    pair_net plan;
    bench::platform made(plan.net);
    prepare(made);
    made["m"]->on_request = [](agent *self, uint32_t port, cnnvp_request *request) {
        assert_int_equal(self->ops->complete(self->host, request), CNNVP_E_STATE);
        return agent_memory_request(self, port, request);
    };
    made["m"]->on_event = [](agent *self, uint32_t) {
        cnnvp_request copy = *self->held[0];
        assert_int_equal(self->ops->complete(self->host, &copy), CNNVP_E_STATE);
        assert_int_equal(self->ops->complete(self->host, nullptr), CNNVP_E_STATE);
        cnnvp_request *request = self->held[0];
        request->status = CNNVP_E_MEMORY;
        assert_int_equal(self->ops->complete(self->host, request), CNNVP_OK);
        assert_int_equal(self->ops->complete(self->host, request), CNNVP_E_STATE);
        agent_note(self, 5);
    };
    made.run();
    assert_int_equal(made["m"]->noted, 1);
    assert_int_equal(made["a"]->values[1], CNNVP_E_MEMORY);
}

/* A completion is delivered after the target's callback: the next request does not come back into it. */
void test_request_from_completion(void **)
{
    static bool busy;
    busy = false;
    pair_net plan;
    bench::platform made(plan.net);
    prepare(made);
    made["m"]->on_event = [](agent *self, uint32_t event) {
        busy = true;
        agent_memory_event(self, event);
        busy = false;
    };
    made["m"]->on_request = [](agent *self, uint32_t port, cnnvp_request *request) {
        assert_false(busy);
        return agent_memory_request(self, port, request);
    };
    made["a"]->on_complete = [](agent *self, uint32_t, cnnvp_request *request) {
        agent_note(self, request->status);
        if (self->noted < 6)
            assert_int_equal(self->ops->request(self->host, AGENT_MEM, request), CNNVP_OK);
    };
    made.run();
    assert_int_equal(made["a"]->noted, 6);
    assert_int_equal(made["a"]->times[5], 500 * ns);
}

void reset_one(bench::platform &made, const char *name)
{
    static cnnvp::unit_host *host;
    host = made.get().find(name);
    agent *control = made["control"];
    control->on_event = [](agent *, uint32_t) { host->reset(); };
    control->on_process = [](agent *self) { (void)self->ops->notify(self->host, 0, 50 * ns); };
}

/* A reset of the initiator: no completion reaches it, its data are not written. Of the target: the initiator is
 * told. */
void reset_in_mid_transfer(bool bus)
{
    for (const char *victim : {"a", "m"}) {
        pair_net plan(bus);
        plan.net.add("control");
        bench::platform made(plan.net);
        prepare(made);
        reset_one(made, victim);
        made["m"]->on_reset = [](agent *self) { (void)self->ops->cancel(self->host, 0); };
        made.run(90 * ns);
        agent *a = made["a"];
        if (victim[0] == 'm') {
            /* The target forgot the request; its initiator is told. */
            assert_int_equal(a->noted, 3);
            assert_int_equal(a->values[1], CNNVP_E_STOPPED);
            assert_int_equal(a->times[1], 50 * ns);
            continue;
        }
        /* The first was dropped; the process has started again and made a second one at 50 ns. */
        assert_int_equal(a->cleanups, 1);
        assert_int_equal(a->noted, 2);
        assert_int_equal(a->times[1], 50 * ns);
        assert_int_equal(made["m"]->held_count, 2);
        assert_null(made["m"]->held[0]->data);
        made.run(400 * ns);
        assert_int_equal(a->noted, 4); /* one completion, one wake */
        assert_int_equal(a->values[2], CNNVP_OK);
        assert_int_equal(a->data[0], 16);
    }
}

void test_reset_in_mid_transfer(void **)
{
    reset_in_mid_transfer(false);
    reset_in_mid_transfer(true);
}

/* Freed with requests under way. */
void test_freed_in_mid_transfer(void **)
{
    pair_net plan(true);
    bench::platform made(plan.net);
    prepare(made);
    assert_int_equal(made.run(50 * ns).end, CNNVP_END_MAX_TIME);
    assert_int_equal(made["m"]->held_count, 1);
}

void test_waiting_is_reported(void **)
{
    pair_net plan;
    bench::platform made(plan.net);
    prepare(made);
    made["m"]->on_event = nullptr; /* never answers */
    const cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_NO_PROGRESS);
    assert_non_null(std::strstr(result.reason, "a sleeps until it is woken"));
    assert_non_null(std::strstr(result.reason, "waits for 1 memory request of m"));
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),
        cmocka_unit_test(test_through_the_bus),
        cmocka_unit_test(test_strided_write_backwards),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_target_refuses),
        cmocka_unit_test(test_wrong_completions),
        cmocka_unit_test(test_request_from_completion),
        cmocka_unit_test(test_reset_in_mid_transfer),
        cmocka_unit_test(test_freed_in_mid_transfer),
        cmocka_unit_test(test_waiting_is_reported),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
