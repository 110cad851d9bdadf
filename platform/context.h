/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's context. A platform that drives itself has one of its own, which is the kernel's while something happens
 * in it, and only then: other platforms, and the program's own simulation, may live in the same process. SystemC's
 * kernel is one thread's: all platforms belong to the thread of the first.
 */
#ifndef CNNVP_PLATFORM_CONTEXT_H
#define CNNVP_PLATFORM_CONTEXT_H

#include <functional>

#include <systemc>

namespace cnnvp {

class run_control;

/* In a process that may wait. */
bool in_thread();

/* In a method: ends all threads of the present context, which may be inside somebody's b_transport, or of a unit's
 * own. A context can only end without them (SystemC 3.0). */
void end_threads();

/* Whoever has one has a platform. Throws where another thread has one. */
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

    /* The kernel's context is this one, and its messages go to `log`, as long as this lives; visits may nest. Without a
     * context, the present one is the platform's. Throws in another thread than the platforms'. */
    class visit {
    public:
        visit(const simulation_context *context, const run_control *log);
        ~visit();
        visit(const visit &) = delete;
        visit &operator=(const visit &) = delete;

        void set_log(const run_control *log);

    private:
        friend class simulation_context;

        sc_core::sc_simcontext *own_; /* null: is the present one already */
        const run_control *log_;
        visit *outer_visit_;
        sc_core::sc_simcontext *outer_ = nullptr;
        sc_core::sc_report_handler_proc outer_handler_ = nullptr;
        bool from_thread_ = false; /* of the outer simulation */

        void enter();
        void leave();
    };

    /* Does what runs the kernel, on the stack that the kernel takes for the main one: the library knows one such stack,
     * whatever the context. A thread of another simulation has it done by a method of that simulation, in the same
     * evaluation phase. */
    static void run(const std::function<void()> &work);

private:
    const thread_claim claim_;
    sc_core::sc_simcontext *own_;
};

} // namespace cnnvp

#endif
