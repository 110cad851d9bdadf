/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a platform, see platform.h. */
#include <algorithm>
#include <cstdio>
#include <exception>

#include "platform.h"

namespace cnnvp {

std::string platform::design::who_waits() const
{
    std::string text;
    const auto add = [&text](const std::string &who, const std::string &what) {
        text += (text.empty() ? "" : "; ") + who + " " + what;
    };

    for (const auto &host : hosts_)
        if (const std::string one = host ? host->waiting_for() : std::string(); !one.empty())
            add(host->instance().name, one);
    for (const auto &port : outside_)
        if (port->waits())
            add(port->instance(), "waits for the answer of the model at its socket");
    return text;
}

void platform::design::simulate(cnnvp_time max_time)
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
        /* Starvation would leave the time at the last event; pending activity beyond the limit is not starvation. */
        const bool beyond = sc_core::sc_time_to_pending_activity() > left;
        advance(left, beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
    }
}

/* The process that ended or interrupted the run may have run ahead of the kernel. After an exit, other processes
 * complete the time step. */
void platform::design::end_instant()
{
    if (control_->end_time() > control_->now())
        advance(control_->until(control_->end_time()));
    if (control_->end() != CNNVP_END_EXIT)
        return;
    for (int i = 0; i < last_deltas && sc_core::sc_pending_activity_at_current_time(); ++i)
        advance(sc_core::SC_ZERO_TIME);
}

void platform::design::run(cnnvp_time max_time, cnnvp_run_result *result)
{
    const simulation_context::visit inside = enter();
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
    fill(result);
    result->time_ps = control_->now();
}

void platform::design::fill(cnnvp_run_result *result) const
{
    result->end = control_->end();
    result->exit_code = control_->exit_code();
    result->time_ps = control_->end_time();
    std::string reason = control_->reason();
    std::replace(reason.begin(), reason.end(), '\n', ' '); /* SystemC's reports have several lines */
    std::snprintf(result->reason, sizeof result->reason, "%s", reason.c_str());
}

/* -- driven -- */

/* Called when the processes wait for their start: in the initialisation phase, or later. */
void platform::design::begin()
{
    if (begun_ || (!loaded_ && has_core()))
        return;
    begun_ = true;
    life_->begin = std::chrono::steady_clock::now();
    control_->rearm();
    if (control_->ended())
        return; /* a unit's call ended the run before the simulation */
    control_->limit(CNNVP_TIME_NEVER);
    control_->pulse("platform");
    for (const auto &host : hosts_)
        if (host)
            host->start();
}

void platform::design::set_loaded()
{
    loaded_ = true;
    if (life_)
        life_->begins.notify(sc_core::SC_ZERO_TIME);
}

/* Other parts of the simulation continue; nothing happens or is counted here any more. */
void platform::design::end()
{
    std::fflush(stdout);
    for (const auto &host : hosts_)
        if (host)
            host->check_counted();
    flush();
    control_->freeze();
    for (const auto &host : hosts_)
        if (host) {
            host->kill();
            host->abandon_outgoing();
        }
    done_ = true;
    life_->end = std::chrono::steady_clock::now();
    life_->done.notify(sc_core::SC_ZERO_TIME);
}

cnnvp_run_result platform::design::progress() const
{
    cnnvp_run_result result{};

    fill(&result);
    if (done_)
        return result;
    result.end = CNNVP_END_MAX_TIME;
    result.time_ps = control_->now();
    std::snprintf(result.reason, sizeof result.reason, "%s", begun_ ? who_waits().c_str() : "it has not begun");
    return result;
}

double platform::design::wall_seconds() const
{
    const auto end = done_ ? life_->end : std::chrono::steady_clock::now();
    return begun_ ? std::chrono::duration<double>(end - life_->begin).count() : 0;
}

void platform::design::reset()
{
    const simulation_context::visit inside = enter();
    control_->run_in_simulation([this] { reset_units(); });
}

/* A driven platform is already in its simulation when this is called. */
void platform::design::in_simulation(const std::function<void()> &work)
{
    if (is_driven())
        work();
    else
        control_->run_in_simulation(work);
}

int platform::design::access(cnnvp_access &access)
{
    int status = CNNVP_E_STATE;
    in_simulation([&] { status = loader_->pass(access); });
    return status;
}

bool platform::design::raise(const std::string &instance, int level)
{
    unit_host *const host = find(instance);
    for (size_t i = 0; host && host->is_external() && i < host->instance().binding_count; ++i) {
        const uint32_t port = host->instance().bindings[i].port;
        if (host->instance().unit->ports[port].kind != CNNVP_PORT_IRQ_OUT)
            continue;
        in_simulation([&] { host->raise(port, level != 0); });
        return true;
    }
    return false;
}

void platform::design::reset_units()
{
    if (cnnvp_path *const path = control_->path()) {
        if (!control_->ended())
            cnnvp_path_stop(path, control_->now());
        cnnvp_path_restart(path, control_->now());
    }
    for (const auto &host : hosts_)
        if (host)
            host->abandon_outgoing();
    for (const auto &host : hosts_)
        if (host)
            host->reset();
    if (control_->recorder())
        cnnvp_recorder_reset(control_->recorder(), control_->now());
}

void platform::design::flush()
{
    for (const auto &host : hosts_)
        if (host)
            host->flush();
}

void platform::design::wake_core()
{
    for (const auto &host : hosts_)
        if (host && host->is_core())
            host->wake();
}

bool platform::design::core_has_ended() const
{
    return std::any_of(hosts_.begin(), hosts_.end(),
                       [](const auto &host) { return host && host->is_core() && host->has_ended(); });
}

/* -- accelerator without a core -- */

cnnvp_config *platform::design::without_core(const cnnvp_config *config, cnnvp_error *error)
{
    cnnvp_config *made = nullptr;
    return cnnvp_config_accelerator(config, &made, error) == CNNVP_DONE ? made : nullptr;
}

const cnnvp_instance *platform::design::first_on_bus() const
{
    const cnnvp_instance *first = nullptr;
    for (size_t i = 0; i < resolved_.instance_count; ++i)
        if (resolved_.instances[i].on_bus && (!first || resolved_.instances[i].base < first->base))
            first = &resolved_.instances[i];
    return first;
}

void platform::design::serve_registers(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay, const char *who)
{
    const from_outside here(control_->path());
    const uint64_t base = first_on_bus()->base;
    const char *const wrong = serve_pieces(payload, delay, 0, [&](cnnvp_access &access) {
        if (delay != sc_core::SC_ZERO_TIME)
            sc_core::wait(delay);
        access.address += base;
        const int status = access.data ? loader_->pass(access) : CNNVP_OK;
        delay = from_ps(access.delay);
        return status;
    });
    tell_wrong(*control_, who, wrong, wrong_);
}

unsigned platform::design::debug_registers(tlm::tlm_generic_payload &payload)
{
    const uint64_t base = first_on_bus()->base;
    (void)serve_pieces(payload, sc_core::SC_ZERO_TIME, CNNVP_DEBUG, [&](cnnvp_access &access) {
        access.address += base;
        return loader_->pass(access);
    });
    return payload.is_response_ok() ? payload.get_data_length() : 0;
}

std::string platform::design::check_clock(const sc_core::sc_clock *clock) const
{
    const cnnvp_instance *const first = first_on_bus(), *const source = cnnvp_instance_clock(&resolved_, first);
    const uint64_t mhz = cnnvp_instance_mhz(&resolved_, first, CNNVP_DEFAULT_MHZ);

    if (clock && to_ps(clock->period()) * mhz == 1'000'000 && clock->start_time() == sc_core::SC_ZERO_TIME &&
        clock->posedge_first())
        return "";
    return ": not the units' clock, " + std::to_string(mhz) +
           " MHz: bind an sc_clock of that period that rises at 0, or set " + (source ? source : first)->name +
           ".clock_mhz";
}

/* Lets every process clean up: its C frames return with CNNVP_E_STOPPED. */
void platform::design::end_processes()
{
    if (is_driven() || sc_core::sc_get_status() != sc_core::SC_PAUSED)
        return; /* the simulation is over, or was never elaborated */
    control_->close();
    try {
        control_->run_in_simulation([this] {
            for (const auto &host : hosts_)
                if (host)
                    host->kill();
            end_threads();
        });
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "cnnvp: error: a process could not be ended: %s\n", problem.what());
    }
}

} // namespace cnnvp
