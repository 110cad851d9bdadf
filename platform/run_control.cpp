/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by all instances of a platform, see run_control.h. */
#include "run_control.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>

#include <poll.h>
#include <unistd.h>

/* GCC announces the sanitizer by a macro, clang 14 by a feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CNNVP_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CNNVP_ADDRESS_SANITIZER
#endif

#if defined(CNNVP_ADDRESS_SANITIZER)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

#include "context.h"

#if defined(CNNVP_ADDRESS_SANITIZER)
/* SystemC unmaps the stack of a thread that is suspended when its simulation ends. AddressSanitizer would keep the
 * redzones of its frames and report errors in whatever is mapped there next. */
extern "C" [[gnu::visibility("default")]] int munmap(void *address, size_t length) noexcept
{
    if (length <= size_t{1} << 23) /* a larger map is not a stack, and clearing would make its shadow memory resident */
        __asan_unpoison_memory_region(address, length);
    return int(syscall(SYS_munmap, address, length));
}
#endif

namespace cnnvp {

namespace {

/* Set by a signal handler, so it must be lock-free. */
std::atomic<int> interrupted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler stores to it");

/* How far the core of a driven platform runs ahead of the kernel before it lets other pending activity happen;
 * documented in cnnvp_systemc.h. */
constexpr cnnvp_time farthest = 1'000'000;

/* SystemC 2.3.4 tells AddressSanitizer when it switches stacks, but not the size of the main stack. Without it the
 * sanitizer would search the last process's stack for leaks. */
void announce_main_stack()
{
#if defined(CNNVP_ADDRESS_SANITIZER)
    pthread_attr_t attributes;
    void *bottom;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &bottom, &size) == 0) {
        __sanitizer_start_switch_fiber(nullptr, bottom, size);
        __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
    }
    pthread_attr_destroy(&attributes);
#endif
}

} // namespace

void advance(const sc_core::sc_time &duration, sc_core::sc_starvation_policy policy)
{
    struct announce {
        ~announce() { announce_main_stack(); }
    } announce_at_end;
    simulation_context::run([&] { sc_core::sc_start(duration, policy); });
}

run_control::run_control(const sc_core::sc_module_name &name, const options &options)
    : sc_core::sc_module(name), options_(options),
      path_(options.recorder ? cnnvp_path_new(options.resolved->instance_count, options.recorder->trace != nullptr)
                             : nullptr),
      max_time_(sc_core::sc_max_time()), kernel_time_(sc_core::sc_time_stamp()), settlement_(settlement::of_context())
{
    for (std::uint32_t i = 0; path_ && i < options.resolved->instance_count; ++i)
        cnnvp_path_alike(&*path_, i, cnnvp_resolved_first(options.resolved, i));
    if (options.driven) {
        spawn_method("ending", &ending_, [this] { settlement_->at_end(at_end_); });
    }

    spawn_method("work", &work_wanted_, [this] { do_work(); });
}

void run_control::end_with(enum cnnvp_end end, int code, const std::string &reason)
{
    if (ended_)
        return;
    ended_ = true;
    end_ = end;
    exit_code_ = code;
    end_time_ = now();
    if (path_ && (end == CNNVP_END_EXIT || end == CNNVP_END_FATAL))
        cnnvp_path_close(path_.get(), end_time_);
    else if (path_)
        cnnvp_path_stop(path_.get(), end_time_);
    reason_ = reason;
    if (options_.driven)
        ending_.notify(until(end_time_));
    else if (sc_core::sc_get_status() == sc_core::SC_RUNNING)
        sc_core::sc_pause();
}

void run_control::finish(const char *who, int code, const char *reason)
{
    const std::string text = code != 0 && reason ? std::string(who) + ": " + reason : std::string();
    end_with(code == CNNVP_E_FATAL ? CNNVP_END_FATAL : CNNVP_END_EXIT, code, text);
}

void run_control::fatal(const std::string &reason)
{
    end_with(CNNVP_END_FATAL, 0, reason);
}

void run_control::fail(const char *who, const char *reason)
{
    if (end_ != CNNVP_END_EXIT)
        return;
    end_ = CNNVP_END_FATAL;
    exit_code_ = 0;
    reason_ = std::string(who) + ": " + reason;
}

void run_control::stop(enum cnnvp_end end, const std::string &reason)
{
    end_with(end, 0, reason);
}

void run_control::rearm()
{
    const bool refused = !rearmed_ && ended_; /* by a call in init or in the first reset, with --strict */
    rearmed_ = true;
    pulses_ = 0;
    if (refused)
        return;
    ended_ = false;
    end_ = CNNVP_END_EXIT;
    exit_code_ = 0;
    reason_.clear();
}

void run_control::pulse(const char *who)
{
    if (interrupted.load(std::memory_order_relaxed) != 0 && !ended_ && interrupted.exchange(0) != 0)
        end_with(CNNVP_END_INTERRUPTED, 0, std::string(who) + " runs");
    if (options_.gdb)
        cnnvp_gdb_pulse(options_.gdb);
    const cnnvp_time time = now();
    if (time != pulse_time_) {
        pulse_time_ = time;
        pulses_ = 0;
    } else if (++pulses_ == options_.max_pulses) {
        end_with(CNNVP_END_NO_PROGRESS, 0,
                 std::string(who) + " works without end while simulated time does not advance");
    }
}

void run_control::interrupt()
{
    interrupted.store(1);
}

cnnvp_time run_control::find_activity() const
{
    if (options_.driven && !with_kernel_) {
        cnnvp_time next = CNNVP_TIME_NEVER;
        for (const cnnvp_time *due : dues_)
            next = std::min(next, *due);
        return next;
    }
    const sc_core::sc_time ahead = sc_core::sc_time_to_pending_activity();
    return ahead >= max_time_ - kernel_time_ ? CNNVP_TIME_NEVER : to_ps(kernel_time_) + to_ps(ahead);
}

bool run_control::run_ahead(cnnvp_time at)
{
    if (with_kernel_ || ended_ || at >= limit_)
        return false;
    const cnnvp_time next = next_activity();
    if (next <= at || (options_.driven && at - to_ps(kernel_time_) > farthest))
        return false;
    activity_ = next;
    activity_known_ = true;
    ahead_ = std::max(at, now()) - to_ps(kernel_time_);
    return true;
}

/* -- settling -- */

static std::map<const sc_core::sc_simcontext *, std::weak_ptr<settlement>> &settlements()
{
    static auto *const all = new std::map<const sc_core::sc_simcontext *, std::weak_ptr<settlement>>;
    return *all;
}

/* A new context may have the address of an old one whose platforms stay behind. The old settlement's process is then
 * not found in the new context. */
std::shared_ptr<settlement> settlement::of_context()
{
    std::weak_ptr<settlement> &known = settlements()[sc_core::sc_get_curr_simcontext()];
    std::shared_ptr<settlement> one = known.lock();

    if (!one || !sc_core::sc_find_object(one->name_.c_str()))
        known = one = std::make_shared<settlement>();
    return one;
}

settlement::settlement() : context_(sc_core::sc_get_curr_simcontext())
{
    name_ = spawn_method(sc_core::sc_gen_unique_name("settle"), &check_, [this] { check(); }).name();
}

settlement::~settlement()
{
    const auto mine = settlements().find(context_);
    if (mine != settlements().end() && mine->second.expired())
        settlements().erase(mine);
}

/*
 * A settler waits for its own event, not for a delta cycle; otherwise several settlers would see each other's activity
 * and never return. The check runs once per delta cycle and releases one settler when only settlers are left.
 */
void settlement::settle()
{
    if (!sc_core::sc_pending_activity_at_current_time())
        return;
    settler me;
    struct leave {
        std::deque<settler *> &all;
        settler *one;
        ~leave() { all.erase(std::remove(all.begin(), all.end(), one), all.end()); } /* also when killed */
    } leave_at_end{settlers_, &me};
    // cppcheck-suppress danglingLifetime ; leave_at_end takes it out again
    settlers_.push_back(&me);
    check_.notify(sc_core::SC_ZERO_TIME);
    sc_core::wait(me.released);
}

void settlement::at_end(const std::function<void()> &work)
{
    endings_.push_back(work);
    checks_ = 0;
    check_.notify(sc_core::SC_ZERO_TIME);
}

void settlement::check()
{
    const bool pending = sc_core::sc_pending_activity_at_current_time();

    if (!pending && !settlers_.empty()) {
        settler *first = settlers_.front();
        settlers_.pop_front();
        first->released.notify();
    } else if (!endings_.empty() && (!pending || checks_++ == last_deltas)) {
        const std::function<void()> work = std::move(endings_.front());
        endings_.pop_front();
        work();
    }
    if (!settlers_.empty() || !endings_.empty())
        check_.notify(sc_core::SC_ZERO_TIME);
}

void run_control::run_in_simulation(const std::function<void()> &work)
{
    work_ = work;
    work_wanted_.notify(sc_core::SC_ZERO_TIME);
    for (int delta = 0; work_ && delta < 4; ++delta)
        advance(sc_core::SC_ZERO_TIME);
    work_ = nullptr;
}

void run_control::do_work()
{
    const std::function<void()> work = std::move(work_);
    work_ = nullptr;
    if (work)
        work();
}

bool run_control::shows(enum cnnvp_log_level level) const
{
    if (closed_)
        return false;
    switch (level) {
    case CNNVP_LOG_ERROR:
        return true;
    case CNNVP_LOG_WARNING:
        return options_.verbosity >= 0;
    case CNNVP_LOG_INFO:
        return options_.verbosity >= 1;
    default:
        return options_.verbosity >= 2;
    }
}

void run_control::log(enum cnnvp_log_level level, const char *who, const char *text) const
{
    static const char *const names[] = {"error", "warning", "info", "debug"};

    if (!shows(level))
        return;
    std::string line = std::string(names[std::min<unsigned>(level, CNNVP_LOG_DEBUG)]) + ": " + std::to_string(now()) +
                       " ps: " + who + ": " + text;
    line.erase(line.find_last_not_of('\n') + 1);
    std::replace(line.begin(), line.end(), '\n', ' '); /* SystemC's reports have several lines */
    if (options_.log)
        options_.log(options_.log_context, level, line.c_str());
    else
        std::fprintf(stderr, "cnnvp: %s\n", line.c_str());
}

void run_control::console_write(const void *data, size_t size) const
{
    if (closed_)
        return;
    if (options_.console)
        options_.console(options_.console_context, data, size);
    else
        std::fwrite(data, 1, size, stdout);
}

size_t run_control::console_read(void *data, size_t size) const
{
    pollfd input = {STDIN_FILENO, POLLIN, 0};

    if (options_.console)
        return 0;
    std::fflush(stdout); /* a prompt must appear before its answer */
    if (poll(&input, 1, size == 0 ? -1 : 0) <= 0 || !(input.revents & (POLLIN | POLLHUP)) || size == 0)
        return 0;
    const ssize_t got = read(STDIN_FILENO, data, size);
    return got > 0 ? static_cast<size_t>(got) : 0;
}

} // namespace cnnvp
