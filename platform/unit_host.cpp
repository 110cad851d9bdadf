/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle, process, events and interrupt lines of a hosted unit, see unit_host.h. Its transactions:
 * unit_transport.cpp. */
#include "unit_host.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "host_ops.h"
#include "unit_enter.h"

namespace cnnvp {

namespace {

constexpr size_t default_stack = 512 * 1024; /* bytes; reserved, but only used pages are touched */
constexpr size_t least_stack = 64 * 1024;
constexpr unsigned instance_warnings = 100; /* lines per instance */

} // namespace

unit_host::unit_host(const sc_core::sc_module_name &name, run_control &control, const cnnvp_instance &instance,
                     const std::vector<uint32_t> &incoming)
    : sc_core::sc_module(name), control_(control), instance_(instance), unit_(*instance.unit),
      state_(std::calloc(1, instance.unit->instance_size)), ports_(instance.unit->port_count), target_ports_(incoming)
{
    if (!state_)
        throw std::bad_alloc();
    if (unit_.register_count > 0)
        registers_ = std::make_unique<register_file>(unit_, state_.get(), [this](const std::string &text) {
            log(CNNVP_LOG_WARNING, text.c_str());
        });
    for (uint32_t i = 0; i < unit_.port_count; ++i) {
        const cnnvp_port_kind kind = unit_.ports[i].kind;
        is_core_ |= (unit_.ports[i].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_PROGRAM;
        if (kind == CNNVP_PORT_IRQ_IN)
            ports_[i].drivers.resize(unit_.ports[i].lines);
        if (kind != CNNVP_PORT_MEM_INITIATOR || !(unit_.ports[i].flags & CNNVP_PORT_OUTSIDE))
            continue;
        is_external_ = true;
        leads_out_ = !incoming.empty();
        if (leads_out_)
            make_initiator(i);
    }
    for (size_t i = 0; i < instance.binding_count; ++i) {
        const uint32_t port = instance.bindings[i].port;
        if (unit_.ports[port].kind != CNNVP_PORT_IRQ_OUT && !ports_[port].socket)
            make_initiator(port);
    }
    for (uint32_t i = 0; i < incoming.size(); ++i)
        make_target(i);
    for (uint32_t i = 0; i < unit_.event_count; ++i) {
        events_.push_back(std::make_unique<event_state>());
        control_.add_due(events_[i]->at);
        spawn_on(events_[i]->due, "on_event_" + std::to_string(i), [this, i] { on_event(i); });
    }
    spawn_on(answered_event_, "answered", [this] { deliver_answered(); });
    control_.add_due(answered_due_);
    control_.add_due(process_due_);
    if (unit_.process)
        make_process();
}

void unit_host::spawn_on(const sc_core::sc_event &event, const std::string &name, const std::function<void()> &work)
{
    sc_core::sc_spawn_options options;

    if (control_.calls_in_threads()) {
        options.set_stack_size(static_cast<int>(default_stack));
        sc_core::sc_spawn(
            [&event, work] {
                for (;;) {
                    sc_core::wait(event);
                    work();
                }
            },
            name.c_str(), &options);
        return;
    }
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    sc_core::sc_spawn(work, name.c_str(), &options);
}

unit_host::~unit_host()
{
    abandon_outgoing();
    if (!initialised_ || !unit_.fini)
        return;
    try {
        enter(call::fini, "fini", nullptr, [this] { unit_.fini(self()); });
    } catch (...) {
        log(CNNVP_LOG_ERROR, "fini ended by an exception");
    }
}

int unit_host::init(std::string *message, uint32_t *param)
{
    const cnnvp_init arguments = {sizeof(cnnvp_init), instance_.number, instance_.name, this, host_ops_table(), 1};
    int status = CNNVP_OK;

    init_ = arguments;
    if (unit_.init)
        status = enter(call::init, "init", nullptr, [this] { return unit_.init(self(), &init_); });
    initialised_ = status == CNNVP_OK;
    if (!initialised_) {
        *param = config_param_;
        *message = !config_message_.empty()  ? config_message_
                   : status == CNNVP_E_NOMEM ? "there is not enough memory for it"
                                             : "the unit refused to start (status " + std::to_string(status) + ")";
    }
    return status;
}

/* -- reset and end -- */

void unit_host::reset()
{
    abandon_outgoing();
    control_.activity_changes();
    for (uint32_t i = 0; i < unit_.event_count; ++i)
        (void)notify("cancel", i, CNNVP_TIME_NEVER);
    woken_ = false;
    path_forget();
    process_due_ = CNNVP_TIME_NEVER;
    owed_.clear();
    started_.clear();
    latest_end_ = 0;
    for (uint32_t i = 0; i < unit_.port_count; ++i)
        if (unit_.ports[i].kind == CNNVP_PORT_IRQ_OUT)
            drive(i, 0);
    /* Unwinds the process at once; it then waits for its start. */
    if (process_.valid() && process_state_ != process_state::not_started)
        process_.reset();
    if (registers_)
        registers_->reset();
    if (results_)
        results_->reset();
    if (unit_.reset)
        enter(call::reset, "reset", nullptr, [this] { unit_.reset(self()); });
    release_held();
    announce_lines();
    /* Between runs, the next run starts it. */
    if (sc_core::sc_get_status() == sc_core::SC_RUNNING && !control_.ended())
        start();
}

/* Wires keep their level when their receiver is reset. */
void unit_host::announce_lines()
{
    for (uint32_t port = 0; port < unit_.port_count; ++port)
        for (uint32_t line = 0; line < ports_[port].drivers.size(); ++line)
            if (ports_[port].drivers[line] > 0 && unit_.signal)
                enter(call::entry, "signal", nullptr, [&] { unit_.signal(self(), port, line, 1); });
}

void unit_host::start()
{
    control_.activity_changes();
    if (!unit_.process || process_state_ != process_state::not_started)
        return;
    process_due_ = control_.now();
    process_start_.notify(sc_core::SC_ZERO_TIME);
}

void unit_host::kill()
{
    const std::vector<sc_core::sc_object *> children = get_child_objects();
    for (sc_core::sc_object *child : children)
        if (sc_core::sc_process_handle one(child); one.valid() && !one.terminated())
            one.kill(sc_core::SC_INCLUDE_DESCENDANTS); /* also processes that other models have spawned from it */
}

void unit_host::flush()
{
    if (unit_.flush)
        enter(call::entry, "flush", nullptr, [this] { unit_.flush(self()); });
}

unit_host::own_process *unit_host::own_at_work_;

/* -- process -- */

void unit_host::make_process()
{
    sc_core::sc_spawn_options options;
    const size_t stack = unit_.process_stack ? std::max<size_t>(unit_.process_stack, least_stack) : default_stack;

    options.set_stack_size(static_cast<int>(std::min<size_t>(stack, size_t(1) << 30)));
    process_state_ = process_state::not_started;
    process_ = sc_core::sc_spawn([this] { process_thread(); }, "process", &options);
}

void unit_host::process_thread()
{
    for (;;) {
        process_state_ = process_state::not_started;
        sc_core::wait(process_start_);
        try {
            run_process();
        } catch (const sc_core::sc_unwind_exception &) {
            throw;
        } catch (const std::exception &error) {
            control_.fatal(std::string(instance_.name) + ": " + error.what());
        }
        process_state_ = process_state::finished;
        sc_core::wait(never_); /* only a reset continues from here */
    }
}

void unit_host::run_process()
{
    frame here{call::process, {instance_.name, "process"}, nullptr, nullptr, nullptr};

    process_state_ = process_state::running;
    path_enter(nullptr);
    process_due_ = CNNVP_TIME_NEVER;
    current_ = &here;
    cnnvp_running = &here.who;
    unit_.process(self());
    cnnvp_running = nullptr;
    current_ = nullptr;
    struct end_ahead {
        run_control &control;
        ~end_ahead() { control.end_ahead(); }
    } at_end{control_};
    if (here.caught)
        std::rethrow_exception(std::exchange(here.caught, nullptr));
    drain();
}

/* In effect while other processes run. The process then continues from its own moment, or from the one that woke it. */
struct unit_host::suspended {
    unit_host &host;
    cnnvp_path *const path = host.control_.path();
    cnnvp_path_here mine{};
    cnnvp_path_node *asleep = nullptr; /* moment at which it fell asleep; joined with the one that wakes it */

    explicit suspended(unit_host &of) : host(of)
    {
        if (!path)
            return;
        if (host.process_state_ == process_state::sleeping) {
            cnnvp_path_node *const here = path->here.node, *const before = host.asleep_;
            asleep = before && (before == here || before->parent == here)
                         ? std::exchange(host.asleep_, nullptr) /* no work has been done since */
                         : cnnvp_path_extend(path, cnnvp_path_hold(here), host.instance_.number, path->here.tag,
                                             host.control_.now());
            host.path_put(host.asleep_, nullptr);
        }
        mine = cnnvp_path_enter(path, {});
    }
    ~suspended()
    {
        if (!path)
            return;
        if (host.woken_by_) {
            cnnvp_path_node *const woken = cnnvp_path_join(path, std::exchange(host.woken_by_, nullptr), asleep);
            host.path_put(mine.node, woken);
        } else if (asleep) {
            host.path_put(host.asleep_, std::exchange(asleep, nullptr));
        }
        host.path_put(asleep, nullptr);
        cnnvp_path_drop(path, cnnvp_path_enter(path, mine).node);
    }
    suspended(const suspended &) = delete;
    suspended &operator=(const suspended &) = delete;
};

constexpr char only_process_waits[] =
    "only the unit's process may wait; a SystemC process of its own calls sc_core::wait";

template <typename Function>
int unit_host::blocking(const char *name, process_state state, Function &&function) noexcept
{
    const frame *const mine = at_work();
    if (!mine || mine->kind != call::process)
        return refuse(CNNVP_E_STATE, name, only_process_waits);
    return guarded(name, [&] {
        current_ = nullptr;
        drain();
        control_.pulse(instance_.name);
        process_state_ = state;
        process_due_ = state == process_state::waiting ? wait_until_ : control_.now();
        cnnvp_running = nullptr; /* other instances run meanwhile */
        suspended suspended_path(*this);
        function(control_.end_ahead());
        cnnvp_running = &mine->who;
        process_due_ = CNNVP_TIME_NEVER;
        process_state_ = process_state::running;
    });
}

int unit_host::wait_for(cnnvp_time duration) noexcept
{
    const bool ends = duration < CNNVP_TIME_NEVER - control_.now(); /* within simulated time */

    wait_until_ = ends ? control_.now() + duration : CNNVP_TIME_NEVER;
    return blocking("wait", process_state::waiting, [&](cnnvp_time ahead) {
        if (ends)
            sc_core::wait(from_ps(ahead + duration));
        else
            sc_core::wait(never_);
    });
}

int unit_host::wait_wake() noexcept
{
    return blocking("wait_wake", process_state::sleeping, [&](cnnvp_time ahead) {
        if (ahead > 0)
            sc_core::wait(from_ps(ahead));
        process_due_ = CNNVP_TIME_NEVER;
        while (!woken_)
            sc_core::wait(wake_event_);
        woken_ = false;
    });
}

int unit_host::settle() noexcept
{
    return blocking("settle", process_state::settling, [&](cnnvp_time ahead) {
        if (ahead > 0)
            sc_core::wait(from_ps(ahead));
        control_.settle();
    });
}

int unit_host::reach(cnnvp_time at) noexcept
{
    if (!at_work() || current_->kind != call::process)
        return refuse(CNNVP_E_STATE, "reach", only_process_waits);
    bool ahead = false;
    const int running = guarded("reach", [&] {
        control_.pulse(instance_.name); /* may end the run, which stops the process here */
        ahead = done_.empty() && control_.run_ahead(at);
    });
    if (running != CNNVP_OK || ahead)
        return running;
    const cnnvp_time now = control_.now();
    const int status = at > now ? wait_for(at - now) : int(CNNVP_OK);
    return status == CNNVP_OK ? settle() : status;
}

void unit_host::wake()
{
    if (woken_)
        return;
    woken_ = true;
    if (process_state_ == process_state::sleeping) {
        if (control_.path() && control_.path()->here.node) /* except for a wake by a debugger, which nothing has
                                                            * caused */
            path_put(woken_by_, path_now());
        process_due_ = std::min(process_due_, control_.now());
    }
    wake_event_.notify(control_.until(0));
}

static std::string time_in_words(cnnvp_time time)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    char text[32];
    double value = static_cast<double>(time);
    size_t unit = 0;

    for (; unit + 1 < sizeof units / sizeof *units && value >= 1000.0; ++unit)
        value /= 1000.0;
    std::snprintf(text, sizeof text, "%.6g %s", value, units[unit]);
    return text;
}

std::string unit_host::in_words(const command &one) const
{
    char text[160], layer[32];

    std::snprintf(text, sizeof text, "opcode 0x%02x", static_cast<unsigned>(one.opcode));
    if (one.tag == 0 || !control_.recorder())
        return text;
    return std::string(text) + " of layer \"" +
           cnnvp_stats_layer_name(&control_.recorder()->stats, one.tag, layer, sizeof layer) + "\"";
}

std::string unit_host::waiting_for() const
{
    std::string text;
    const auto add = [&text](const std::string &more) { text += (text.empty() ? "" : ", ") + more; };

    switch (process_state_) {
    case process_state::waiting:
        text = wait_until_ == CNNVP_TIME_NEVER ? "waits without end" : "waits until " + time_in_words(wait_until_);
        break;
    case process_state::sleeping:
        text = "sleeps until it is woken (by an interrupt or an access)";
        break;
    case process_state::finished:
        text = "has ended its process";
        break;
    default:
        break;
    }
    if (outgoing_count_ > 0)
        add("waits for " + std::to_string(outgoing_count_) + " memory request" + (outgoing_count_ > 1 ? "s" : "") +
            (outgoing_->target ? std::string(" of ") + outgoing_->target->instance().name : ""));
    if (!owed_.empty())
        add("owes the completion of " + in_words(owed_.front()) + ", given at " + time_in_words(owed_.front().since) +
            (owed_.size() > 1 ? " and of " + std::to_string(owed_.size() - 1) + " more" : ""));
    if (latest_end_ > control_.now())
        add("works on " + in_words(snapshot_) + " until " + time_in_words(latest_end_));
    return text;
}

/* -- events -- */

void unit_host::on_event(uint32_t event)
{
    events_[event]->at = CNNVP_TIME_NEVER;
    control_.pulse(instance_.name);
    path_enter(std::exchange(events_[event]->path, nullptr));
    try {
        enter(call::entry, "event", nullptr, [&] { unit_.event(self(), event); });
    } catch (const sc_core::sc_unwind_exception &) {
        throw;
    } catch (const std::exception &error) {
        control_.fatal(std::string(instance_.name) + ": " + error.what());
    }
}

int unit_host::notify(const char *function, uint32_t event, cnnvp_time at)
{
    if (event >= events_.size())
        return refuse(CNNVP_E_INVAL, function, "there is no event %u; the unit has %u (event_count)", event,
                      unit_.event_count);
    /* The kernel keeps the earlier of two notifications; a unit's later call must win. */
    control_.activity_changes();
    events_[event]->due.cancel();
    events_[event]->at = at == CNNVP_TIME_NEVER ? at : std::max(at, control_.now());
    if (at == CNNVP_TIME_NEVER)
        return CNNVP_OK;
    if (instance_.binding_count > 0 &&
        slots_.empty()) /* it may act on other units, and does not track its own causes by itself */
        path_put(events_[event]->path, path_now());
    events_[event]->due.notify(control_.until(at));
    return CNNVP_OK;
}

/* -- interrupt lines -- */

void unit_host::connect_irq(uint32_t port, unit_host &target, uint32_t target_port, uint32_t line)
{
    ports_[port].irq_links.push_back({&target, target_port, line});
}

void unit_host::lead_out(uint32_t port, const std::function<void(int)> &change)
{
    const bool leads_out =
        unit_.ports[port].kind == CNNVP_PORT_IRQ_OUT
            ? ports_[port].irq_links.empty()
            : unit_.ports[port].kind == CNNVP_PORT_IRQ_IN && unit_.ports[port].flags & CNNVP_PORT_OUTSIDE;
    if (leads_out)
        ports_[port].outside = change;
}

void unit_host::drive(uint32_t port, int level)
{
    port_state &state = ports_[port];

    if (state.level == level)
        return;
    state.level = level;
    if (control_.recorder())
        cnnvp_recorder_level(control_.recorder(), instance_.number, port, control_.now(), level);
    for (const irq_link &link : state.irq_links)
        link.target->set_line(link.port, link.line, level);
    if (state.outside)
        state.outside(level);
}

/* The waiting time since the last access to the outside model is assigned to that model. */
void unit_host::raise(uint32_t port, int level)
{
    path_enter(cnnvp_path_hold(outside_moment_));
    drive(port, level);
}

/* A line with several outputs is high while any of them is high. */
void unit_host::set_line(uint32_t port, uint32_t line, int level)
{
    uint32_t &drivers = ports_[port].drivers[line];
    const uint32_t before = drivers;

    drivers = level ? before + 1 : before - 1;
    if ((before > 0) == (drivers > 0))
        return;
    if (ports_[port].outside)
        ports_[port].outside(level);
    if (!unit_.signal)
        return;
    enter(call::entry, "signal", nullptr, [&] { unit_.signal(self(), port, line, level); });
}

/* -- text -- */

void unit_host::log(enum cnnvp_log_level level, const char *text)
{
    if (level <= CNNVP_LOG_WARNING) {
        if (warnings_ > instance_warnings)
            return;
        if (warnings_++ == instance_warnings)
            text = "has many warnings; further ones are not shown";
    }
    control_.log(level, instance_.name, text);
}

void unit_host::config_error(uint32_t param, const char *text)
{
    config_param_ = param < unit_.param_count ? param : UINT32_MAX;
    config_message_ = text;
}

int unit_host::refuse(int status, const char *function, const char *why, ...) noexcept
{
    const frame *const from = at_work();
    const char *const callback = from ? from->who.callback : "none of its callbacks";
    char detail[300];
    char text[500];
    va_list args;

    for (const refusal &said : refusals_)
        if (said.function == function && said.callback == callback && said.why == why)
            return status;
    refusals_.push_back({function, callback, why});
    va_start(args, why);
    std::vsnprintf(detail, sizeof detail, why, args);
    va_end(args);
    std::snprintf(text, sizeof text, "%s, called in %s, is refused (%s): %s", function, callback,
                  cnnvp_status_text(status), detail);
    if (control_.settings().strict)
        control_.finish(instance_.name, CNNVP_E_FATAL, text);
    else
        log(CNNVP_LOG_WARNING, text);
    return status;
}

void unit_host::complain(const char *why, ...)
{
    char text[500];
    va_list args;

    for (const refusal &said : refusals_)
        if (said.why == why)
            return;
    refusals_.push_back({"", "", why});
    va_start(args, why);
    std::vsnprintf(text, sizeof text, why, args);
    va_end(args);
    if (!control_.settings().strict && !control_.settings().check_costs)
        log(CNNVP_LOG_WARNING, text);
    else if (control_.ended())
        control_.fail(instance_.name, text);
    else
        control_.finish(instance_.name, CNNVP_E_FATAL, text);
}

void unit_host::note_status(const char *callback, int status)
{
    if (status == CNNVP_E_FATAL)
        control_.fatal(std::string(instance_.name) + ": the unit found its own state broken");
    else if (!cnnvp_is_status(status))
        control_.fatal(std::string(instance_.name) + ": `" + callback + "` returns " + std::to_string(status) +
                       ", which is none of enum cnnvp_status (cnnvp_model.h)");
}

} // namespace cnnvp
