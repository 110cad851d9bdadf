/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A platform: what a resolved configuration describes, built in SystemC and run. One at a time in a process; each has a
 * simulation context of its own, so that another can follow in the same process.
 */
#ifndef CNNVP_PLATFORM_PLATFORM_H
#define CNNVP_PLATFORM_PLATFORM_H

#include <memory>
#include <string>
#include <vector>

#include "bus.h"
#include "cnnvp.h"
#include "config.h"
#include "cnnvp_systemc.h"
#include "loader.h"
#include "memory_port.h"
#include "run_control.h"
#include "unit_host.h"

namespace cnnvp {

/* The kernel's process-wide context, replaced by a new one for as long as this lives. */
class simulation_context {
public:
    simulation_context();
    ~simulation_context();
    simulation_context(const simulation_context &) = delete;
    simulation_context &operator=(const simulation_context &) = delete;

private:
    sc_core::sc_simcontext *outer_;
    sc_core::sc_simcontext *own_;
};

class platform {
public:
    /* `resolved` must live as long as the platform. On failure `error` has the place in the configuration. `made` NULL:
     * only looks whether the units would take it; nothing leads outside then. */
    static cnnvp_result build(const cnnvp_resolved &resolved, const run_control::options &options,
                              std::unique_ptr<platform> *made, cnnvp_error *error, const bind_memory &bind = {});
    ~platform();
    platform(const platform &) = delete;
    platform &operator=(const platform &) = delete;

    /* Until a unit finishes it, or `max_time` (0: none) is reached, or nothing can happen any more. May be called
     * again. */
    void run(cnnvp_time max_time, cnnvp_run_result *result);
    /* Resets all units, also in mid-work. */
    void reset();
    void flush();
    cnnvp_path *path() const { return control_->path(); }
    /* The core's process goes on, if it waits to be woken. */
    void wake_core();

    loader &memory() { return *loader_; }
    unit_host *find(const std::string &name);
    run_control &control() { return *control_; }
    /* By instance number; null for the bus. */
    const std::vector<std::unique_ptr<unit_host>> &hosts() const { return hosts_; }
    const cnnvp_resolved &resolved() const { return resolved_; }

private:
    platform(const cnnvp_resolved &resolved, const run_control::options &options);

    simulation_context context_;
    const cnnvp_resolved &resolved_;
    const run_control *outer_report_; /* whose log is the one of the platform beside this one */
    std::unique_ptr<run_control> control_;
    std::unique_ptr<loader> loader_;
    std::unique_ptr<bus> bus_;
    std::vector<std::unique_ptr<unit_host>> hosts_; /* by instance number; null for the bus */
    std::vector<std::unique_ptr<memory_port>> outside_;
    std::vector<std::shared_ptr<void>> foreign_; /* what is bound there */

    /* Which socket of its target a connection arrives at. */
    struct arrival {
        uint32_t from;
        const cnnvp_binding *binding;
        size_t socket;
    };
    struct plan {
        std::vector<std::vector<uint32_t>> incoming; /* of each instance: the port of each socket */
        std::vector<arrival> arrivals;
        std::vector<std::string> bus_initiators;
        std::vector<bus::window> windows;
        std::vector<std::pair<uint32_t, size_t>> window_sockets; /* instance and its socket for each window */
        size_t loader_on_bus = 0;
        uint32_t core = CNNVP_NO_INSTANCE;
        size_t core_socket = 0;
        uint32_t bus_instance = CNNVP_NO_INSTANCE;
    };

    plan make_plan() const;
    void plan_bus(plan &plan) const;
    void plan_core(plan &plan) const;
    void make_modules(const plan &plan);
    void connect(const plan &plan);
    void connect_binding(const arrival &arrival);
    void set_clocks();
    cnnvp_result assemble(const bind_memory *bind, cnnvp_error *error);
    cnnvp_result bind_outside(const bind_memory &bind, cnnvp_error *error);
    cnnvp_result init(cnnvp_error *error);
    void simulate(cnnvp_time max_time);
    void end_instant();
    void end_processes();
    std::string who_waits() const;
};

} // namespace cnnvp

#endif
