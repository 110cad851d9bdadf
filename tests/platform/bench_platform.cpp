/* SPDX-License-Identifier: Apache-2.0 */
/* What the host costs: accesses, requests, waits, events, start-up; and that the steady state allocates nothing. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "bench.h"

namespace {
uint64_t allocations;
double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
} // namespace

void *operator new(size_t size)
{
    ++allocations;
    void *memory = std::malloc(size ? size : 1);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, size_t) noexcept
{
    std::free(memory);
}

namespace {

constexpr int rounds = 2000000;

void report(const char *what, int count, double begin, uint64_t before)
{
    std::printf("%-34s %8.1f ns, %llu allocations in %d\n", what, (seconds() - begin) * 1e9 / count,
                static_cast<unsigned long long>(allocations - before), count);
}

void measure_accesses(agent *self)
{
    cnnvp_access access{};
    access.op = CNNVP_COMMAND;
    access.size = 8;
    access.address = self->size; /* where the target is */
    for (int i = 0; i < 10; ++i)
        (void)self->ops->access(self->host, AGENT_OUT, &access);
    const uint64_t before = allocations;
    const double begin = seconds();
    for (int i = 0; i < rounds; ++i)
        (void)self->ops->access(self->host, AGENT_OUT, &access);
    report(static_cast<const char *>(self->context), rounds, begin, before);
}

void measure_waits(agent *self)
{
    for (int i = 0; i < 100; ++i)
        (void)self->ops->wait(self->host, 1000);
    const uint64_t before = allocations;
    const double begin = seconds();
    for (int i = 0; i < rounds / 4; ++i)
        (void)self->ops->wait(self->host, 1000);
    report("wait", rounds / 4, begin, before);
}

double event_begin;
uint64_t event_before;

void measure_requests(bool bus)
{
    bench::network net;
    const uint32_t a = net.add("a"), m = net.add("m"), way = net.add("bus", nullptr);
    net.at(m, 0, AGENT_STORE_SIZE, AGENT_STORE);
    if (bus)
        net.bind(a, AGENT_MEM, way);
    else
        net.bind(a, AGENT_MEM, m, AGENT_STORE);
    bench::platform made(net);
    made["m"]->on_request = agent_memory_request;
    made["m"]->on_event = agent_memory_event;
    agent *one = made["a"];
    one->own.op = CNNVP_READ;
    one->own.size = one->own.count = one->own.outstanding = 1;
    one->on_complete = [](agent *self, uint32_t, cnnvp_request *request) {
        if (++self->resets == 100) {
            event_before = allocations;
            event_begin = seconds();
        }
        if (self->resets < static_cast<uint32_t>(rounds / 4))
            (void)self->ops->request(self->host, AGENT_MEM, request);
    };
    one->on_process = [](agent *self) { (void)self->ops->request(self->host, AGENT_MEM, &self->own); };
    made.run();
    report(bus ? "request, event, completion, by bus" : "request, event, completion", rounds / 4 - 100, event_begin,
           event_before);
}

void measure_start()
{
    const int platforms = 50;
    const double begin = seconds();
    for (int i = 0; i < platforms; ++i) {
        bench::network net;
        const uint32_t bus = net.add("bus", nullptr);
        static const char *const names[] = {"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9",
                                            "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"};
        for (uint32_t j = 0; j < 20; ++j) {
            const uint32_t unit = net.add(names[j]);
            net.at(unit, j * UINT64_C(0x100000), 0x1000, AGENT_REGS);
            net.bind(unit, AGENT_OUT, bus);
            net.bind(unit, AGENT_MEM, 1 + j / 2, AGENT_STORE);
        }
        bench::platform made(net);
        made.run();
    }
    std::printf("%-34s %8.2f ms\n", "build, run and free 20 units", (seconds() - begin) * 1e3 / platforms);
}

} // namespace

int main()
{
    for (const bool bus : {false, true}) {
        bench::network net;
        const uint32_t a = net.add("a", &cnnvp_unit_agent, bus ? 0x40000 : 0), m = net.add("m");
        const uint32_t way = net.add("bus", nullptr);
        for (uint64_t i = 0; i < 7; ++i) {
            static const char *const others[] = {"o0", "o1", "o2", "o3", "o4", "o5", "o6"};
            net.at(net.add(others[i]), i * 0x1000, 0x1000, AGENT_REGS);
        }
        net.at(m, 0x40000, 0x1000, AGENT_REGS);
        if (bus)
            net.bind(a, AGENT_OUT, way);
        else
            net.bind(a, AGENT_OUT, m, AGENT_STORE);
        bench::platform made(net);
        made["m"]->on_access = [](agent *, uint32_t, cnnvp_access *) { return int(CNNVP_OK); };
        made["a"]->context = const_cast<char *>(bus ? "access through the bus" : "access");
        made["a"]->on_process = measure_accesses;
        made.run();
    }
    {
        bench::network net;
        net.add("a");
        bench::platform made(net);
        made["a"]->on_process = measure_waits;
        made.run();
    }
    measure_requests(false);
    measure_requests(true);
    measure_start();
    return 0;
}
