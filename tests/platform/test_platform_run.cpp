/* SPDX-License-Identifier: Apache-2.0 */
/* How runs end: by a unit, by time, by starvation, by an interrupt, by broken state; and several platforms in a row. */
#include <csignal>
#include <ctime>

#include <sys/time.h>
#include <unistd.h>

#include "bench.h"

namespace {

constexpr cnnvp_time ns = 1000;

void test_exit(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        (void)self->ops->wait(self->host, 5 * ns);
        self->ops->finish(self->host, 3, "it is\nenough"); /* one line, whatever it has been */
        self->ops->finish(self->host, 4, "the first one counts");
    };
    cnnvp_run_result result = made.run();
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(result.reason, "a: it is enough");
    assert_int_equal(result.time_ps, 5 * ns);
    result = made.run();
    assert_int_equal(result.end, CNNVP_END_NO_PROGRESS); /* it can go on, but no unit has anything to do */
}

/* What is due in the instant of the end still happens, nothing later. */
void test_last_instant(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_event = [](agent *self, uint32_t event) {
        agent_note(self, static_cast<int>(event));
        if (event == 0) {
            (void)self->ops->notify(self->host, 1, 0);
            (void)self->ops->notify(self->host, 2, 21 * ns);
            self->ops->finish(self->host, 0, "");
        }
    };
    made["a"]->on_process = [](agent *self) { (void)self->ops->notify(self->host, 0, 20 * ns); };
    const cnnvp_run_result result = made.run();
    assert_int_equal(result.time_ps, 20 * ns);
    assert_int_equal(made["a"]->noted, 2);
    assert_int_equal(made["a"]->values[1], 1);
}

void test_max_time(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = agent_wait_process;
    cnnvp_run_result result = made.run(1005 * ns);
    assert_int_equal(result.end, CNNVP_END_MAX_TIME);
    assert_int_equal(result.time_ps, 1005 * ns);
    assert_non_null(std::strstr(result.reason, "a waits until 1.01 us"));
    result = made.run(1011 * ns);
    assert_int_equal(result.time_ps, 1011 * ns);
}

void test_no_progress(void **)
{
    bench::network net;
    net.add("a");
    net.add("b");
    bench::platform made(net);
    made["a"]->on_process = [](agent *self) {
        (void)self->ops->wait(self->host, 7 * ns);
        (void)self->ops->wait_wake(self->host);
    };
    const cnnvp_run_result result = made.run(1000 * ns);
    assert_int_equal(result.end, CNNVP_END_NO_PROGRESS);
    assert_int_equal(result.time_ps, 7 * ns);
    assert_non_null(std::strstr(result.reason, "a sleeps until it is woken"));
    assert_non_null(std::strstr(result.reason, "b has ended its process"));
}

void test_broken_state(void **)
{
    bench::network net;
    const uint32_t a = net.add("a"), b = net.add("b");
    net.bind(a, AGENT_OUT, b, AGENT_STORE);
    bench::platform made(net);
    uint64_t address = 0;
    made["a"]->on_process = agent_read_process;
    made["a"]->context = &address;
    made["b"]->on_access = [](agent *, uint32_t, cnnvp_access *) { return int(CNNVP_E_FATAL); };
    const cnnvp_run_result result = made.run(1000 * ns);
    assert_int_equal(result.end, CNNVP_END_FATAL);
    assert_non_null(std::strstr(result.reason, "b: the unit found its own state broken"));
    assert_int_equal(made["a"]->values[0], CNNVP_E_FATAL);
}

void test_interrupted_before(void **)
{
    bench::network net;
    net.add("a");
    bench::platform made(net);
    made["a"]->on_process = agent_wait_process;
    cnnvp_platform_interrupt();
    assert_int_equal(made.run(1000 * ns).end, CNNVP_END_INTERRUPTED);
    assert_int_equal(made.run(1000 * ns).end, CNNVP_END_MAX_TIME); /* it counts once */
}

/* A run without end, also one that stays in one instant, ends soon after a signal. */
void test_interrupted(void **)
{
    for (const cnnvp_time step : {cnnvp_time(10), cnnvp_time(0)}) {
        static cnnvp_time duration;
        duration = step;
        bench::network net;
        net.add("a");
        bench::platform made(net);
        made["a"]->on_process = [](agent *self) {
            while (self->ops->wait(self->host, duration) == CNNVP_OK) {
            }
        };
        struct sigaction action = {};
        action.sa_handler = [](int) { cnnvp_platform_interrupt(); };
        sigaction(SIGALRM, &action, nullptr);
        itimerval timer = {{0, 0}, {0, 100000}};
        setitimer(ITIMER_REAL, &timer, nullptr);
        const cnnvp_run_result result = made.run();
        assert_int_equal(result.end, CNNVP_END_INTERRUPTED);
        assert_non_null(std::strstr(result.reason, "a runs"));
    }
}

/* An instant without end is noticed without anybody's help. */
void test_time_that_stands_still(void **)
{
    bench::network net;
    net.add("a");
    cnnvp::run_control::options options;
    options.max_pulses = 1000;
    std::unique_ptr<cnnvp::platform::design> made;
    cnnvp_error error;
    assert_int_equal(cnnvp::platform::design::build(net.resolved(), options, &made, &error), CNNVP_DONE);
    auto *one = static_cast<agent *>(made->find("a")->self());
    one->on_process = [](agent *self) {
        (void)self->ops->wait(self->host, 5 * ns);
        (void)self->ops->notify(self->host, 0, 0);
    };
    one->on_event = [](agent *self, uint32_t) { (void)self->ops->notify(self->host, 0, 0); };
    cnnvp_run_result result;
    made->run(0, &result);
    assert_int_equal(result.end, CNNVP_END_NO_PROGRESS);
    assert_string_equal(result.reason, "a works without end while simulated time does not advance");
}

void test_one_after_the_other(void **)
{
    for (int i = 0; i < 20; ++i) {
        bench::network net;
        const uint32_t a = net.add("a"), bus = net.add("bus", nullptr), m = net.add("m");
        net.at(m, 0x1000, AGENT_STORE_SIZE, AGENT_STORE);
        net.bind(a, AGENT_OUT, bus);
        bench::platform made(net);
        uint64_t address = 0x1000;
        made["a"]->on_process = agent_read_once_process;
        made["a"]->context = &address;
        made["m"]->on_access = agent_memory_access;
        const cnnvp_run_result result = made.run();
        assert_int_equal(result.end, CNNVP_END_EXIT);
        assert_int_equal(result.exit_code, 0);
        assert_int_equal(result.time_ps, 0); /* each begins at 0 */
    }
}

/* Each has its own time, and goes on where it stood. */
void test_several_in_turn(void **)
{
    bench::network net;
    net.add("a");
    bench::platform first(net), second(net);
    for (bench::platform *made : {&first, &second})
        (*made)["a"]->on_process = [](agent *self) {
            for (int i = 0; i < 3; ++i)
                (void)self->ops->wait(self->host, 5 * ns);
            self->ops->finish(self->host, 0, "");
        };
    cnnvp_run_result result = first.run(8 * ns);
    assert_int_equal(result.end, CNNVP_END_MAX_TIME);
    result = second.run(12 * ns);
    assert_int_equal(result.time_ps, 12 * ns);
    result = first.run();
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.time_ps, 15 * ns);
    result = second.run(13 * ns);
    assert_int_equal(result.time_ps, 13 * ns);
    assert_int_equal(second.run().time_ps, 15 * ns);
}

void test_console(void **)
{
    static std::string text;
    text.clear();
    bench::network net;
    net.add("a");
    cnnvp::run_control::options options;
    options.console = [](void *context, const void *data, size_t size) {
        static_cast<std::string *>(context)->append(static_cast<const char *>(data), size);
    };
    options.console_context = &text;
    std::unique_ptr<cnnvp::platform::design> made;
    cnnvp_error error;
    assert_int_equal(cnnvp::platform::design::build(net.resolved(), options, &made, &error), CNNVP_DONE);
    auto *one = static_cast<agent *>(made->find("a")->self());
    one->on_process = [](agent *self) {
        char input[4];
        self->ops->console_write(self->host, "hello", 5);
        assert_int_equal(self->ops->console_read(self->host, input, sizeof input), 0);
    };
    cnnvp_run_result result;
    made->run(0, &result);
    assert_string_equal(text.c_str(), "hello");
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_last_instant),
        cmocka_unit_test(test_max_time),
        cmocka_unit_test(test_no_progress),
        cmocka_unit_test(test_broken_state),
        cmocka_unit_test(test_interrupted_before),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_several_in_turn),
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_time_that_stands_still),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
