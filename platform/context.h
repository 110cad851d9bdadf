/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulation contexts of the SystemC kernel. A platform that drives itself has its own context, which is the kernel's
 * current one only while something happens in it. Other platforms and the program's own simulation can therefore live
 * in the same process. SystemC's kernel belongs to one thread: all platforms belong to the thread of the first.
 */
#pragma once

#include <functional>

#include <systemc>

namespace cnnvp {

class run_control;

/* True inside a process that may wait. */
bool in_thread();

/* Called in a method: ends all threads of the current context, including those inside third-party b_transport or of a
 * unit. SystemC 3.0 can only end a context without threads. */
void end_threads();

/* Each platform holds a claim. The constructor throws if another thread holds one. */
class thread_claim {
public:
    thread_claim();
    ~thread_claim();
    thread_claim(const thread_claim &) = delete;
    thread_claim &operator=(const thread_claim &) = delete;
    static void check();
};

class simulation_context {
public:
    simulation_context();
    ~simulation_context();
    simulation_context(const simulation_context &) = delete;
    simulation_context &operator=(const simulation_context &) = delete;

    /* While a visit exists, this context is the kernel's current one and its messages go to `log`. Visits may nest.
     * With `context` NULL the current context is the platform's. Throws in any other thread than the platforms'. */
    class visit {
    public:
        visit(const simulation_context *context, const run_control *log);
        ~visit();
        visit(const visit &) = delete;
        visit &operator=(const visit &) = delete;

        void set_log(const run_control *log);

    private:
        friend class simulation_context;

        sc_core::sc_simcontext *own_; /* null: already the current context */
        const run_control *log_;
        visit *outer_visit_;
        sc_core::sc_simcontext *outer_ = nullptr;
        sc_core::sc_report_handler_proc outer_handler_ = nullptr;
        bool from_thread_ = false; /* entered from a thread of the outer simulation */

        void enter();
        void leave();
    };

    /* Runs the kernel through `work`, on the stack that the kernel takes for the main one; the library knows one such
     * stack for all contexts. If called from a thread of another simulation, a method of that simulation runs `work` in
     * the same evaluation phase. */
    static void run(const std::function<void()> &work);

private:
    const thread_claim claim_;
    sc_core::sc_simcontext *own_;
};

} // namespace cnnvp
