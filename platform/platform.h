/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A platform: built in SystemC from a resolved configuration, and run. It either has its own simulation context
 * (context.h) or is driven: then its modules elaborate in the current context, below the module under construction, and
 * the program's sc_start runs them (cnnvp::platform in cnnvp_systemc.h).
 */
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bus.h"
#include "cnnvp.h"
#include "cnnvp_systemc.h"
#include "context.h"
#include "loader.h"
#include "memory_port.h"
#include "run_control.h"
#include "unit_host.h"
#include "way_in.h"
extern "C" {
#include "config.h"
}

namespace cnnvp {

class platform::design {
public:
    /* `resolved` must live as long as the platform. On failure `error` has the place in the configuration. `made` NULL:
     * only checks whether the units accept it; nothing leads outside then. A driven platform is returned even on
     * failure: see stays_behind. */
    static cnnvp_result build(const cnnvp_resolved &resolved, const run_control::options &options,
                              std::unique_ptr<design> *made, cnnvp_error *error, const bind_memory &bind = {});
    /* -- access to a handle, for the classes of cnnvp_systemc.h -- */
    static cnnvp_result make(const cnnvp_config *config, const cnnvp_platform_options *options, const bind_memory *bind,
                             cnnvp_platform **platform, cnnvp_error *error);
    static void end(cnnvp_platform *platform);
    static design &of(const cnnvp_platform *platform);
    /* cnnvp_config_accelerator; null on failure. */
    static cnnvp_config *without_core(const cnnvp_config *config, cnnvp_error *error);

    ~design(); /* NOLINT(bugprone-exception-escape): nothing is left to throw */
    design(const design &) = delete;
    design &operator=(const design &) = delete;

    /* Runs until a unit ends the run, `max_time` (0: none) is reached, or nothing more can happen. May be called
     * again. */
    void run(cnnvp_time max_time, cnnvp_run_result *result);
    /* -- for a driven platform -- */
    bool is_driven() const { return !context_; }
    /* The program has been loaded: execution begins, at once or with the simulation. */
    void set_loaded();
    bool has_begun() const { return begun_; }
    /* True for a platform that ends before its simulation begins: SystemC does not take its processes back, so they
     * stay and do nothing. */
    bool stays_behind();
    /* Progress of the run so far. */
    cnnvp_run_result progress() const;
    const sc_core::sc_event &done_event() const { return life_->done; }
    double wall_seconds() const;
    /* Outward and inward sockets of an external instance; null if it has none. */
    memory_socket *find_outside(const std::string &instance);
    guest_socket *find_inside(const std::string &instance);
    /* Incoming and outgoing interrupts of an external instance; null if it has none. */
    irq_port *find_irq(const std::string &instance);
    line_port *find_line(const std::string &instance);
    const std::vector<std::unique_ptr<memory_port>> &outside() const { return outside_; }
    /* For interrupts of units that lead to no instance: `change` gets each new level. */
    void lead_irqs_out(const std::function<void(int)> &change);
    /* Third-party accesses to the registers; address 0 is the lowest address on the bus. `who` names the module in
     * messages. */
    void serve_registers(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay, const char *who);
    unsigned debug_registers(tlm::tlm_generic_payload &payload);
    /* Explains why a clock does not suit the units; "" if it does. */
    std::string check_clock(const sc_core::sc_clock *clock) const;
    /* The first instance whose outward socket is not bound; "" if there is none. */
    std::string find_unbound() const;

    /* reset resets all units, also in mid-work. reset_units does the same in the evaluation phase. */
    void reset();
    void reset_units();
    void flush();
    cnnvp_path *path() const { return control_->path(); }
    /* A bus access with its side effects, and the level of an external instance's interrupt. To be called between runs,
     * or inside the program's simulation. `raise` returns false if there is no such interrupt. */
    int access(cnnvp_access &access);
    bool raise(const std::string &instance, int level);
    /* Wakes the core's process if it waits to be woken. */
    void wake_core();
    /* True if the core's program has ended and the platform has not been reset since. */
    bool core_has_ended() const;

    loader &memory() { return *loader_; }
    unit_host *find(const std::string &name);
    run_control &control() { return *control_; }
    /* By instance number; null for the bus. */
    const std::vector<std::unique_ptr<unit_host>> &hosts() const { return hosts_; }
    /* Required around any other operation on the platform. Throws in any other thread than its own. */
    simulation_context::visit enter() const { return simulation_context::visit(context_.get(), control_.get()); }
    const cnnvp_resolved &resolved() const { return resolved_; }

private:
    design(const cnnvp_resolved &resolved, const run_control::options &options);

    const thread_claim claim_;
    const std::unique_ptr<simulation_context> context_;
    const cnnvp_resolved &resolved_;
    std::unique_ptr<run_control> control_;
    std::unique_ptr<loader> loader_;
    std::unique_ptr<bus> bus_;
    std::vector<std::unique_ptr<unit_host>> hosts_; /* by instance number; null for the bus */
    std::vector<std::unique_ptr<memory_port>> outside_;
    std::vector<std::unique_ptr<way_in>> inside_;
    std::vector<std::shared_ptr<void>> foreign_; /* objects bound there */
    struct irq {
        unit_host *unit;
        uint32_t number; /* number of its port */
        irq_port port;
        const char *instance() const { return unit->instance().name; }
    };
    struct line {
        unit_host *unit;
        int level;
        sc_core::sc_event changes;
        line_port port;
        const char *instance() const { return unit->instance().name; }
    };
    std::vector<std::unique_ptr<irq>> irqs_;   /* for a driven platform */
    std::vector<std::unique_ptr<line>> lines_; /* for a driven platform */
    struct life {                              /* for a driven platform */
        sc_core::sc_event begins, done;
        std::chrono::steady_clock::time_point begin, end;
    };
    std::unique_ptr<life> life_;
    const char *wrong_ = nullptr; /* last message of tell_wrong */
    bool loaded_ = false, begun_ = false, done_ = false;

    /* The target's socket at which a connection arrives. */
    struct arrival {
        uint32_t from;
        const cnnvp_binding *binding;
        size_t socket;
    };
    struct plan {
        std::vector<std::vector<uint32_t>> incoming; /* for each instance: the port of each socket */
        std::vector<arrival> arrivals;
        std::vector<std::string> bus_initiators;
        std::vector<bus::window> windows;
        std::vector<std::pair<uint32_t, size_t>> window_sockets; /* for each window: its instance and socket */
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
    void make_irq(unit_host &host);
    void make_line(unit_host &host);
    cnnvp_result bind_outside(const bind_memory &bind, cnnvp_error *error);
    cnnvp_result lead_outside(unit_host &host, uint32_t port, const bind_memory &bind, cnnvp_error *error);
    cnnvp_result bind_socket(const cnnvp_instance &instance, const bind_memory &bind, cnnvp_error *error);
    void in_simulation(const std::function<void()> &work);
    cnnvp_result init(cnnvp_error *error);
    void simulate(cnnvp_time max_time);
    void end_instant();
    void end_processes();
    const cnnvp_instance *first_on_bus() const;
    bool has_core() const { return loader_->core.size() != 0; }
    void begin();
    void end();
    void fill(cnnvp_run_result *result) const;
    std::string who_waits() const;
};

} // namespace cnnvp
