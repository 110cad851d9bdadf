/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation contexts, see context.h. */
#include "context.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run_control.h"

namespace cnnvp {

namespace {

simulation_context::visit *latest = nullptr;
const run_control *report_to = nullptr; /* log of the current visit's platform */

/* Number of all claims, and the thread that owns them. */
std::mutex thread_lock;
std::thread::id thread;
int claims = 0;

/* Handles the kernel's own messages: errors become exceptions, which end the run or the construction. Nothing
 * aborts. */
void on_report(const sc_core::sc_report &report, const sc_core::sc_actions &)
{
    if (report.get_severity() >= sc_core::SC_ERROR)
        throw report;
    if (!report_to)
        return;
    const std::string text = std::string(report.get_msg_type()) + ": " + report.get_msg();
    report_to->log(report.get_severity() == sc_core::SC_WARNING ? CNNVP_LOG_WARNING : CNNVP_LOG_DEBUG, "kernel",
                   text.c_str());
}

/* Processes may outlive their modules in the list of objects. */
bool has_modules(const sc_core::sc_simcontext &context)
{
    const auto &objects = sc_core::sc_get_top_level_objects(&context);
    return std::any_of(objects.begin(), objects.end(),
                       [](sc_core::sc_object *object) { return !sc_core::sc_process_handle(object).valid(); });
}

bool is_thread(const sc_core::sc_process_handle &process)
{
    return process.valid() && process.proc_kind() != sc_core::SC_METHOD_PROC_;
}

void find_threads(const std::vector<sc_core::sc_object *> &objects, std::vector<sc_core::sc_process_handle> &found)
{
    for (sc_core::sc_object *const object : objects) {
        const sc_core::sc_process_handle process(object);
        if (is_thread(process))
            found.push_back(process);
        find_threads(object->get_child_objects(), found);
    }
}

} // namespace

bool in_thread()
{
    return is_thread(sc_core::sc_get_current_process_handle());
}

void end_threads()
{
    std::vector<sc_core::sc_process_handle> threads;

    find_threads(sc_core::sc_get_top_level_objects(), threads);
    for (sc_core::sc_process_handle &thread : threads)
        if (thread.valid() && !thread.terminated())
            thread.kill();
}

thread_claim::thread_claim()
{
    check();
    const std::lock_guard<std::mutex> locked(thread_lock);
    thread = std::this_thread::get_id();
    ++claims;
}

thread_claim::~thread_claim()
{
    const std::lock_guard<std::mutex> locked(thread_lock);
    --claims;
}

void thread_claim::check()
{
    const std::lock_guard<std::mutex> locked(thread_lock);
    if (claims > 0 && thread != std::this_thread::get_id())
        throw std::runtime_error("another thread has a platform: all platforms of a process belong to one thread, that "
                                 "of the first; use a process for each thread");
}

simulation_context::simulation_context() : own_(new sc_core::sc_simcontext)
{
}

/* A context must outlive modules that the program still holds. Such a context is kept, and freed with a later
 * platform. */
simulation_context::~simulation_context()
{
    static auto *const kept = new (std::nothrow) std::vector<sc_core::sc_simcontext *>;
    sc_core::sc_simcontext *const outer = sc_core::sc_curr_simcontext;

    if (kept == nullptr)
        return;
    const auto outer_handler = sc_core::sc_report_handler::set_handler(on_report);
    kept->push_back(own_);
    const auto gone = std::partition(kept->begin(), kept->end(), [](const auto *one) { return has_modules(*one); });
    for (auto one = gone; one != kept->end(); ++one) {
        sc_core::sc_curr_simcontext = *one;
        delete *one;
    }
    kept->erase(gone, kept->end());
    sc_core::sc_curr_simcontext = outer;
    sc_core::sc_report_handler::set_handler(outer_handler);
}

simulation_context::visit::visit(const simulation_context *context, const run_control *log)
    : own_(context && context->own_ != sc_core::sc_curr_simcontext ? context->own_ : nullptr), log_(log),
      outer_visit_(latest)
{
    thread_claim::check();
    if (own_)
        enter();
}

simulation_context::visit::~visit()
{
    if (own_)
        leave();
}

void simulation_context::visit::enter()
{
    outer_ = sc_core::sc_curr_simcontext;
    from_thread_ = outer_ && outer_->get_status() == sc_core::SC_RUNNING && in_thread();
    sc_core::sc_curr_simcontext = own_;
    outer_visit_ = std::exchange(latest, this);
    report_to = log_;
    outer_handler_ = sc_core::sc_report_handler::set_handler(on_report);
}

void simulation_context::visit::leave()
{
    sc_core::sc_report_handler::set_handler(outer_handler_);
    latest = outer_visit_;
    report_to = latest ? latest->log_ : nullptr;
    sc_core::sc_curr_simcontext = outer_;
}

void simulation_context::visit::set_log(const run_control *log)
{
    log_ = log;
    if (own_)
        report_to = log;
}

void simulation_context::run(const std::function<void()> &work)
{
    struct order {
        const std::function<void()> *work; /* null: the thread was ended */
        sc_core::sc_event done;
        bool is_done = false;
        std::exception_ptr problem;
    };
    visit *const mine = latest;

    if (!mine || !mine->from_thread_) {
        work();
        return;
    }
    mine->leave();
    struct enter_again {
        visit *mine;
        ~enter_again() { mine->enter(); }
    };
    std::shared_ptr<order> given;
    {
        const enter_again at_end{mine};
        given = std::make_shared<order>();
        given->work = &work;
        sc_core::sc_spawn_options options;
        options.spawn_method();
        sc_core::sc_process_handle method = sc_core::sc_spawn(
            [given, mine] {
                if (!given->work || given->is_done)
                    return;
                mine->enter();
                try {
                    (*given->work)();
                } catch (...) {
                    given->problem = std::current_exception();
                }
                mine->leave();
                given->is_done = true;
                given->done.notify();
            },
            sc_core::sc_gen_unique_name("cnnvp_run"), &options);
        try {
            while (!given->is_done)
                sc_core::wait(given->done);
        } catch (...) {
            given->work = nullptr;
            throw;
        }
        method.kill();
    }
    if (given->problem)
        std::rethrow_exception(given->problem);
}

} // namespace cnnvp
