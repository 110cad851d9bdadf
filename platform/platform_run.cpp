/* SPDX-License-Identifier: Apache-2.0 */
/* Running a platform, see platform.h. */
#include <cstdio>
#include <exception>

#include "platform.h"

namespace cnnvp {

namespace {
/* Delta cycles for the rest of the last instant: a guard against units that never let it end. */
constexpr int last_deltas = 1000;
} // namespace

std::string platform::who_waits() const
{
    std::string text;

    for (const auto &host : hosts_) {
        const std::string one = host ? host->waiting_for() : std::string();
        if (!one.empty())
            text += std::string(text.empty() ? "" : "; ") + host->instance().name + " " + one;
    }
    return text;
}

void platform::simulate(cnnvp_time max_time)
{
    while (!control_->ended()) {
        const cnnvp_time now = control_->now();
        if (max_time != 0 && now >= max_time) {
            control_->stop(CNNVP_END_MAX_TIME, who_waits());
            return;
        }
        if (!sc_core::sc_pending_activity()) {
            const std::string waits = who_waits();
            control_->stop(CNNVP_END_NO_PROGRESS,
                           "nothing is left that could happen" + std::string(waits.empty() ? "" : "; ") + waits);
            return;
        }
        const sc_core::sc_time left =
            max_time != 0 ? from_ps(max_time - now) : sc_core::sc_max_time() - sc_core::sc_time_stamp();
        /* Starvation leaves time at the last event; what lies beyond the limit is no starvation. */
        const bool beyond = sc_core::sc_time_to_pending_activity() > left;
        advance(left, beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
    }
}

/* Who ends or interrupts a run may have run ahead of the kernel; who ends it lets the others complete the instant. */
void platform::end_instant()
{
    if (control_->end_time() > control_->now())
        advance(control_->until(control_->end_time()));
    if (control_->end() != CNNVP_END_EXIT)
        return;
    for (int i = 0; i < last_deltas && sc_core::sc_pending_activity_at_current_time(); ++i)
        advance(sc_core::SC_ZERO_TIME);
}

void platform::run(cnnvp_time max_time, cnnvp_run_result *result)
{
    control_->rearm();
    control_->pulse("platform");
    try {
        for (const auto &host : hosts_)
            if (host)
                host->start();
        control_->limit(max_time != 0 ? max_time : CNNVP_TIME_NEVER);
        simulate(max_time);
        if (control_->end() == CNNVP_END_EXIT || control_->end() == CNNVP_END_INTERRUPTED)
            end_instant();
        if (control_->end() == CNNVP_END_INTERRUPTED)
            control_->add_reason(who_waits());
    } catch (const std::exception &problem) {
        control_->fatal(problem.what());
    }
    control_->limit(0);
    std::fflush(stdout);
    for (const auto &host : hosts_)
        if (host)
            host->check_counted();
    result->end = control_->end();
    result->exit_code = control_->exit_code();
    result->time_ps = control_->now();
    std::snprintf(result->reason, sizeof result->reason, "%s", control_->reason().c_str());
}

void platform::reset()
{
    control_->run_in_simulation([this] {
        for (const auto &host : hosts_)
            if (host)
                host->abandon_outgoing();
        for (const auto &host : hosts_)
            if (host)
                host->reset();
    });
}

void platform::flush()
{
    for (const auto &host : hosts_)
        if (host)
            host->flush();
}

void platform::wake_core()
{
    for (const auto &host : hosts_)
        if (host && host->is_core())
            host->wake();
}

/* Lets every process clean up: its C frames return with CNNVP_E_STOPPED. */
void platform::end_processes()
{
    if (sc_core::sc_get_status() != sc_core::SC_PAUSED)
        return; /* never elaborated */
    control_->close();
    try {
        control_->run_in_simulation([this] {
            for (const auto &host : hosts_)
                if (host)
                    host->kill();
            for (const auto &port : outside_)
                port->kill();
        });
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "cnnvp: error: a process could not be ended: %s\n", problem.what());
    }
}

} // namespace cnnvp
