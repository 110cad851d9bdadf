/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by all instances of a platform: how a run ends, log, console, settling, the recorder and the payload
 * pool.
 */
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>

#include "cnnvp.h"
#include "payload.h"
#include "results.h"
extern "C" {
#include "gdb.h"
#include "path.h"
#include "profile.h"
#include "recorder.h"
}

namespace cnnvp {

/* Conversion to and from picoseconds. The kernel's resolution is 1 ps, which is checked at elaboration. */
inline cnnvp_time to_ps(const sc_core::sc_time &time)
{
    return time.value();
}
inline sc_core::sc_time from_ps(cnnvp_time ps)
{
    return sc_core::sc_time::from_value(ps);
}

/* True if a delay from now ends within simulated time. */
inline bool is_within_time(const sc_core::sc_time &delay)
{
    return delay <= sc_core::sc_max_time() - sc_core::sc_time_stamp();
}

/* Marks work of a third party, which no unit has caused. */
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

/* Largest number of delta cycles in the last time step of a run; a guard against models that never let it end. */
constexpr int last_deltas = 1000;

/* Runs the kernel. */
void advance(const sc_core::sc_time &duration, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

/*
 * Runs work when nothing else is pending at the current time. There is one per simulation, because platforms would see
 * each other's checks as pending activity.
 */
class settlement {
public:
    /* The settlement of the kernel's current context. */
    static std::shared_ptr<settlement> of_context();
    settlement();
    ~settlement();
    settlement(const settlement &) = delete;
    settlement &operator=(const settlement &) = delete;

    /* Returns when nothing else is pending. Call it from an SC_THREAD. */
    void settle();
    /* Runs `work` after all settling threads and everything that they cause. */
    void at_end(const std::function<void()> &work);

private:
    struct settler {
        sc_core::sc_event released;
    };
    const sc_core::sc_simcontext *const context_;
    std::string name_; /* name of its process in the context */
    std::deque<settler *> settlers_;
    std::deque<std::function<void()>> endings_;
    int checks_ = 0; /* checks since the last request */
    sc_core::sc_event check_;

    void check();
};

class run_control : public sc_core::sc_module {
public:
    struct options {
        const cnnvp_resolved *resolved = nullptr;
        cnnvp_recorder *recorder = nullptr; /* null: nothing is recorded */
        bool timing_only = false;
        int verbosity = 0;
        void (*console)(void *context, const void *data, size_t size) = nullptr;
        void *console_context = nullptr;
        void (*log)(void *context, int level, const char *line) = nullptr; /* null: standard error */
        void *log_context = nullptr;
        /* Number of callbacks at one time after which the run counts as hung: far above real models, reached in about a
         * second. */
        uint64_t max_pulses = 10'000'000;
        cnnvp_profile *profile = nullptr; /* profiler of the core; may be null */
        cnnvp_gdb *gdb = nullptr;         /* debugger of the core; may be null */
        cnnvp_units *asked = nullptr;     /* units for comparing announced with actual times; may be null */
        results_total *results = nullptr; /* results are compared with the reference; may be null */
        bool check_costs = false;         /* true: of all units, and a difference ends the run; false: only of
                                           * libraries' units */
        bool strict = false;              /* a refused host call ends the run */
        bool calls_in_threads = false;    /* see calls_in_threads() */
        bool driven = false;              /* the program's sc_start runs the kernel, so it is neither run nor paused
                                           * here */
    };

    run_control(const sc_core::sc_module_name &name, const options &options);

    const options &settings() const { return options_; }
    cnnvp_recorder *recorder() const { return options_.recorder; }
    /* Stops recording, output and messages for good, because the run has ended. */
    void freeze()
    {
        options_.recorder = nullptr;
        close();
    }
    payload_pool &pool() { return pool_; }
    /* Units act only in threads, because an access that crosses a third-party model is one b_transport call of that
     * model. */
    bool calls_in_threads() const { return options_.calls_in_threads; }
    cnnvp_path *path() const { return path_.get(); } /* null if nothing is recorded */

    /* -- time: the kernel's, or that of the process that runs ahead of it -- */
    cnnvp_time now() const { return to_ps(kernel_time_) + ahead_; }
    /* Delay from the kernel's time to `at`, or to now if that is later; for notifications. */
    sc_core::sc_time until(cnnvp_time at)
    {
        activity_changes();
        return from_ps(std::max(at, now()) - to_ps(kernel_time_));
    }
    /* Time of the kernel's next activity; CNNVP_TIME_NEVER if none. */
    cnnvp_time next_activity() const { return activity_known_ ? activity_ : find_activity(); }
    /* Must be called when something is notified or cancelled without `until`. */
    void activity_changes() { activity_known_ = false; }
    /* Lets the calling process run ahead to `at` if nothing else can happen until then; returns whether it does. */
    bool run_ahead(cnnvp_time at);
    /* Ends running ahead, and returns by how much the process was ahead. */
    cnnvp_time end_ahead()
    {
        activity_changes();
        return std::exchange(ahead_, 0);
    }
    /* Forbids running ahead, for models that ask the kernel for the time. */
    void stay_with_kernel() { with_kernel_ = true; }
    /* Registers a unit's variable that holds the time of its next due work, CNNVP_TIME_NEVER if none; it must live as
     * long as this object. A driven platform without access from outside looks only at these, so that others' clocks do
     * not slow it. */
    void add_due(const cnnvp_time &at) { dues_.push_back(&at); }
    /* End of the current run; 0 between runs, where processes start but must not run ahead. */
    void limit(cnnvp_time time) { limit_ = time; }

    /* -- the end of a run: the first call decides -- */
    void finish(const char *who, int code, const char *reason);
    void fatal(const std::string &reason);
    /* Turns a run that has ended well into a failure. */
    void fail(const char *who, const char *reason);
    void stop(enum cnnvp_end end, const std::string &reason);
    bool ended() const { return ended_; }
    /* Prepares a new run. */
    void rearm();
    enum cnnvp_end end() const { return end_; }
    int exit_code() const { return exit_code_; }
    cnnvp_time end_time() const { return end_time_; }
    const std::string &reason() const { return reason_; }
    void add_reason(const std::string &more) { reason_ += (reason_.empty() || more.empty() ? "" : "; ") + more; }
    /* Must be called with every piece of simulated work. Notices a user's interrupt, and units that keep time from
     * advancing. `who` is the instance at work. */
    void pulse(const char *who);
    static void interrupt(); /* async-signal-safe */

    /* Returns when nothing else is pending at the current time. Call it from an SC_THREAD. */
    void settle() { settlement_->settle(); }
    /* For a driven platform: work at the end of the run's last time step. */
    void at_end(const std::function<void()> &work) { at_end_ = work; }

    /* -- work in the evaluation phase, requested outside of sc_start -- */
    void run_in_simulation(const std::function<void()> &work);

    /* -- text -- */
    /* Stops all messages and output, because the platform is being freed. */
    void close() { closed_ = true; }
    void log(enum cnnvp_log_level level, const char *who, const char *text) const;
    bool shows(enum cnnvp_log_level level) const;
    void console_write(const void *data, size_t size) const;
    /* Reads what standard input has without waiting. Reads nothing if the platform's user handles the console. */
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
    const sc_core::sc_time max_time_; /* the kernel's value, cached because it is needed often */
    const sc_core::sc_time &kernel_time_;
    cnnvp_time ahead_ = 0;
    cnnvp_time limit_ = 0;
    bool with_kernel_ = false;
    std::vector<const cnnvp_time *> dues_;
    /* While a process runs ahead, only notifications change the kernel's next activity. It is cached, because asking
     * the kernel costs more than most of a core's store. */
    bool activity_known_ = false;
    cnnvp_time activity_ = 0;
    cnnvp_time pulse_time_ = 0;
    uint64_t pulses_ = 0;

    const std::shared_ptr<settlement> settlement_;
    sc_core::sc_event ending_; /* for a driven platform */
    std::function<void()> at_end_;
    sc_core::sc_event work_wanted_;
    std::function<void()> work_;

    cnnvp_time find_activity() const;
    void end_with(enum cnnvp_end end, int code, const std::string &reason);
    void do_work();
};

/* Spawns a method that runs `work` whenever `source` changes, and also once at the beginning with `at_once`. */
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
