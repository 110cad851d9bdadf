/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all instances of a platform share: how a run ends, log lines, the console, settling, and the recorder and
 * payloads.
 */
#ifndef CNNVP_PLATFORM_RUN_CONTROL_H
#define CNNVP_PLATFORM_RUN_CONTROL_H

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>

#include "cnnvp.h"
#include "gdb.h"
#include "path.h"
#include "payload.h"
#include "profile.h"
#include "recorder.h"
#include "results.h"

namespace cnnvp {

/* Picoseconds, both ways. The kernel's resolution is 1 ps, checked at elaboration. */
inline cnnvp_time to_ps(const sc_core::sc_time &time)
{
    return time.value();
}
inline sc_core::sc_time from_ps(cnnvp_time ps)
{
    return sc_core::sc_time::from_value(ps);
}

/* A delay from now on that ends within simulated time. */
inline bool is_within_time(const sc_core::sc_time &delay)
{
    return delay <= sc_core::sc_max_time() - sc_core::sc_time_stamp();
}

/* While a third party acts: that is nothing which a unit has led to. */
class from_outside {
public:
    explicit from_outside(cnnvp_path *path)
        : path_(path), before_(path ? cnnvp_path_enter(path, {}) : cnnvp_path_here{})
    {
    }
    ~from_outside()
    {
        if (path_)
            cnnvp_path_drop(path_, cnnvp_path_enter(path_, before_).node);
    }
    from_outside(const from_outside &) = delete;
    from_outside &operator=(const from_outside &) = delete;

private:
    cnnvp_path *const path_;
    const cnnvp_path_here before_;
};

/* Delta cycles for the rest of a run's last instant: a guard against models that never let it end. */
constexpr int last_deltas = 1000;

/* Runs the kernel. */
void advance(const sc_core::sc_time &duration, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

/*
 * What is done when nothing else is pending in the present instant. One for a simulation: each platform would see the
 * others' checks as something pending.
 */
class settlement {
public:
    /* That of the kernel's present context. */
    static std::shared_ptr<settlement> of_context();
    settlement();
    ~settlement();
    settlement(const settlement &) = delete;
    settlement &operator=(const settlement &) = delete;

    /* From an SC_THREAD: returns then. */
    void settle();
    /* After all threads that settle, and all that they lead to. */
    void at_end(const std::function<void()> &work);

private:
    struct settler {
        sc_core::sc_event released;
    };
    const sc_core::sc_simcontext *const context_;
    std::string name_; /* of its process there */
    std::deque<settler *> settlers_;
    std::deque<std::function<void()>> endings_;
    int checks_ = 0; /* since the last one was asked for */
    sc_core::sc_event check_;

    void check();
};

class run_control : public sc_core::sc_module {
public:
    struct options {
        const cnnvp_resolved *resolved = nullptr;
        cnnvp_recorder *recorder = nullptr; /* may stay null: nothing is recorded */
        bool timing_only = false;
        int verbosity = 0;
        void (*console)(void *context, const void *data, size_t size) = nullptr;
        void *console_context = nullptr;
        void (*log)(void *context, int level, const char *line) = nullptr; /* null: standard error */
        void *log_context = nullptr;
        /* Callbacks in one instant after which a run counts as hung: far above what any real instant has, reached in
         * about a second. */
        uint64_t max_pulses = 10'000'000;
        cnnvp_profile *profile = nullptr; /* of the core; may stay null */
        cnnvp_gdb *gdb = nullptr;         /* whoever debugs the core; may stay null */
        cnnvp_units *asked = nullptr;     /* answers are compared with what commands take; may stay null */
        results_total *results = nullptr; /* what commands write is compared with the reference; may stay null */
        bool check_costs = false;         /* of all units, and a difference ends the run; else of libraries' units */
        bool strict = false;              /* a host call that is refused ends the run */
        bool calls_in_threads = false;    /* see below */
        bool driven = false;              /* somebody else's sc_start runs the kernel: it is neither run nor paused */
    };

    run_control(const sc_core::sc_module_name &name, const options &options);

    const options &settings() const { return options_; }
    cnnvp_recorder *recorder() const { return options_.recorder; }
    /* From here on nothing is recorded, shown or written: the run has ended for good. */
    void freeze()
    {
        options_.recorder = nullptr;
        close();
    }
    payload_pool &pool() { return pool_; }
    /* Units act in threads alone: an access that crosses a third party's model whole is its b_transport. */
    bool calls_in_threads() const { return options_.calls_in_threads; }
    cnnvp_path *path() const { return path_.get(); } /* null where nothing is recorded */

    /* -- time: the kernel's, or that of the one process that runs ahead of it -- */
    cnnvp_time now() const { return to_ps(kernel_time_) + ahead_; }
    /* From the kernel's time to `at`, or to now if that is later: for notifications. */
    sc_core::sc_time until(cnnvp_time at)
    {
        activity_changes();
        return from_ps(std::max(at, now()) - to_ps(kernel_time_));
    }
    /* Of the kernel, CNNVP_TIME_NEVER if none. */
    cnnvp_time next_activity() const { return activity_known_ ? activity_ : find_activity(); }
    /* To be called where something is notified or cancelled without `until`. */
    void activity_changes() { activity_known_ = false; }
    /* 1 if the process that calls now runs ahead to `at` from here on: nothing else can happen up to then. */
    bool run_ahead(cnnvp_time at);
    /* By how much the process is ahead; it is no longer. */
    cnnvp_time end_ahead()
    {
        activity_changes();
        return std::exchange(ahead_, 0);
    }
    /* No core runs ahead where there are models that ask the kernel for the time. */
    void stay_with_kernel() { with_kernel_ = true; }
    /* `at`, which lives as long as this, is kept by a unit: when something of it is due, CNNVP_TIME_NEVER if nothing
     * is. A driven platform that nothing of others' reaches looks at these alone, so that their clocks do not hold it
     * up. */
    void add_due(const cnnvp_time &at) { dues_.push_back(&at); }
    /* The present run ends before this time; 0 between runs, where processes start but nothing may be ahead. */
    void limit(cnnvp_time time) { limit_ = time; }

    /* -- the end of a run: the first one to call it decides -- */
    void finish(const char *who, int code, const char *reason);
    void fatal(const std::string &reason);
    /* After the end of a run that has ended well: it has not. */
    void fail(const char *who, const char *reason);
    void stop(enum cnnvp_end end, const std::string &reason);
    bool ended() const { return ended_; }
    /* Begins a run. */
    void rearm();
    enum cnnvp_end end() const { return end_; }
    int exit_code() const { return exit_code_; }
    cnnvp_time end_time() const { return end_time_; }
    const std::string &reason() const { return reason_; }
    void add_reason(const std::string &more) { reason_ += (reason_.empty() || more.empty() ? "" : "; ") + more; }
    /* To be called wherever simulated work passes by: notices an interrupt of the user, and units that keep an instant
     * from ending. `who` acts now. */
    void pulse(const char *who);
    static void interrupt(); /* async-signal-safe */

    /* From an SC_THREAD: returns when nothing else is pending in the present instant. */
    void settle() { settlement_->settle(); }
    /* If driven: what is done at the end of the run's last instant. */
    void at_end(const std::function<void()> &work) { at_end_ = work; }

    /* -- work in the evaluation phase, asked for from outside of sc_start -- */
    void run_in_simulation(const std::function<void()> &work);

    /* -- text -- */
    /* From here on nothing is shown or written: the platform is being taken down. */
    void close() { closed_ = true; }
    void log(enum cnnvp_log_level level, const char *who, const char *text) const;
    bool shows(enum cnnvp_log_level level) const;
    void console_write(const void *data, size_t size) const;
    /* What standard input has without waiting; nothing where the platform's user takes the console himself. */
    size_t console_read(void *data, size_t size) const;

private:
    options options_;
    payload_pool pool_;
    struct free_path {
        void operator()(cnnvp_path *path) const { cnnvp_path_free(path); }
    };
    const std::unique_ptr<cnnvp_path, free_path> path_;
    bool ended_ = false;
    bool rearmed_ = false;
    bool closed_ = false;
    enum cnnvp_end end_ = CNNVP_END_EXIT;
    int exit_code_ = 0;
    cnnvp_time end_time_ = 0;
    std::string reason_;
    const sc_core::sc_time max_time_; /* of the kernel, which is asked often */
    const sc_core::sc_time &kernel_time_;
    cnnvp_time ahead_ = 0;
    cnnvp_time limit_ = 0;
    bool with_kernel_ = false;
    std::vector<const cnnvp_time *> dues_;
    /* While a process runs ahead, the kernel's next activity changes only by what is notified: asking the kernel costs
     * more than most of what a core's store does. */
    bool activity_known_ = false;
    cnnvp_time activity_ = 0;
    cnnvp_time pulse_time_ = 0;
    uint64_t pulses_ = 0;

    const std::shared_ptr<settlement> settlement_;
    sc_core::sc_event ending_; /* if driven */
    std::function<void()> at_end_;
    sc_core::sc_event work_wanted_;
    std::function<void()> work_;

    cnnvp_time find_activity() const;
    void end_with(enum cnnvp_end end, int code, const std::string &reason);
    void do_work();
};

/* A method of the kernel that does `work` whenever `source` changes, with `at_once` in the beginning, too. */
template <typename Source>
sc_core::sc_process_handle spawn_method(const char *name, Source *source, const std::function<void()> &work,
                                        bool at_once = false)
{
    sc_core::sc_spawn_options options;

    options.spawn_method();
    options.set_sensitivity(source);
    if (!at_once)
        options.dont_initialize();
    return sc_core::sc_spawn(work, name, &options);
}

} // namespace cnnvp

#endif
