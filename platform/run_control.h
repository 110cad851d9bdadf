/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all instances of a platform share: how a run ends, log lines, the console, settling, and the recorder and payloads.
 */
#ifndef CNNVP_PLATFORM_RUN_CONTROL_H
#define CNNVP_PLATFORM_RUN_CONTROL_H

#include <deque>
#include <functional>
#include <string>

#include <systemc>

#include "cnnvp.h"
#include "payload.h"
#include "recorder.h"

namespace cnnvp {

/* Picoseconds, both ways. The kernel's resolution is 1 ps, checked at elaboration. */
inline cnnvp_time to_ps(const sc_core::sc_time &time) { return time.value(); }
inline sc_core::sc_time from_ps(cnnvp_time ps) { return sc_core::sc_time::from_value(ps); }

/* Runs the kernel. */
void advance(const sc_core::sc_time &duration, sc_core::sc_starvation_policy policy = sc_core::SC_RUN_TO_TIME);

class run_control : public sc_core::sc_module {
public:
    struct options {
        cnnvp_recorder *recorder = nullptr; /* may stay null: nothing is recorded */
        bool timing_only = false;
        int verbosity = 0;
        void (*console)(void *context, const void *data, size_t size) = nullptr;
        void *console_context = nullptr;
        /* Callbacks in one instant after which a run counts as hung: far above what any real instant has, reached in
         * about a second. */
        uint64_t max_pulses = 10'000'000;
    };

    run_control(const sc_core::sc_module_name &name, const options &options);

    const options &settings() const { return options_; }
    cnnvp_recorder *recorder() const { return options_.recorder; }
    payload_pool &pool() { return pool_; }
    static cnnvp_time now() { return to_ps(sc_core::sc_time_stamp()); }

    /* -- the end of a run: the first one to call it decides -- */
    void finish(const char *who, int code, const char *reason);
    void fatal(const std::string &reason);
    void stop(enum cnnvp_end end, const std::string &reason);
    bool ended() const { return ended_; }
    /* Begins a run. */
    void rearm();
    enum cnnvp_end end() const { return end_; }
    int exit_code() const { return exit_code_; }
    const std::string &reason() const { return reason_; }
    /* To be called wherever simulated work passes by: notices an interrupt of the user, and units that keep an instant
     * from ending. `who` acts now. */
    void pulse(const char *who);
    static void interrupt(); /* async-signal-safe */

    /* -- settling -- */
    /* From an SC_THREAD: returns when nothing else is pending in the present instant. */
    void settle();

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
    bool ended_ = false;
    bool closed_ = false;
    enum cnnvp_end end_ = CNNVP_END_EXIT;
    int exit_code_ = 0;
    std::string reason_;
    cnnvp_time pulse_time_ = 0;
    uint64_t pulses_ = 0;

    struct settler {
        sc_core::sc_event released;
    };
    std::deque<settler *> settlers_;
    sc_core::sc_event settle_check_;
    sc_core::sc_event work_wanted_;
    std::function<void()> work_;

    void end_with(enum cnnvp_end end, int code, const std::string &reason);
    void check_settled();
    void do_work();
};

} // namespace cnnvp

#endif
