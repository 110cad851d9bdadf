/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a platform from its resolved configuration, see platform.h. Running it: platform_run.cpp. */
#include "platform.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
extern "C" {
#include "try.h"
}

namespace cnnvp {

namespace {

const char *const core_port = "control"; /* see cnnvp_program.h */

/* `name` null: the first port of that kind. */
uint32_t find_port(const cnnvp_unit &unit, cnnvp_port_kind kind, const char *name)
{
    for (uint32_t i = 0; i < unit.port_count; ++i)
        if (unit.ports[i].kind == kind && (!name || std::strcmp(unit.ports[i].name, name) == 0))
            return i;
    return UINT32_MAX;
}

/* True for a link whose accesses go on to a unit that is not a memory. */
bool crosses_whole(const cnnvp_resolved &resolved, const cnnvp_instance &link)
{
    for (size_t i = 0; cnnvp_instance_is_link(&link) && i < link.binding_count; ++i) {
        const cnnvp_binding &binding = link.bindings[i];
        const cnnvp_unit *const behind = resolved.instances[binding.target].unit;
        if (behind && behind->ports[binding.target_port].kind == CNNVP_PORT_TARGET)
            return true;
    }
    return false;
}

/* Binds sockets that the program has left unbound and can no longer bind. */
template <typename Socket>
struct nobody : sc_core::sc_module {
    Socket socket{"socket"};
    explicit nobody(const sc_core::sc_module_name &name) : sc_core::sc_module(name) {}
};

} // namespace

/* -- planning -- */

void platform::design::plan_bus(plan &plan) const
{
    for (uint32_t i = 0; i < resolved_.instance_count; ++i) {
        const cnnvp_instance &instance = resolved_.instances[i];
        if (!instance.on_bus || !instance.unit)
            continue;
        plan.windows.push_back({instance.name, instance.number, instance.base, instance.size});
        plan.window_sockets.emplace_back(i, plan.incoming[i].size());
        plan.incoming[i].push_back(instance.bus_port);
    }
    plan.loader_on_bus = plan.bus_initiators.size();
    plan.bus_initiators.push_back("outside");
}

/* The core is an instance with a port as in cnnvp_program.h: the one named cpu, otherwise the first one. */
void platform::design::plan_core(plan &plan) const
{
    for (uint32_t i = 0; i < resolved_.instance_count; ++i) {
        const cnnvp_instance &instance = resolved_.instances[i];
        if (!instance.unit || find_port(*instance.unit, CNNVP_PORT_TARGET, core_port) == UINT32_MAX)
            continue;
        if (plan.core == CNNVP_NO_INSTANCE || std::strcmp(instance.name, "cpu") == 0)
            plan.core = i;
    }
    if (plan.core == CNNVP_NO_INSTANCE)
        return;
    plan.core_socket = plan.incoming[plan.core].size();
    plan.incoming[plan.core].push_back(find_port(*resolved_.instances[plan.core].unit, CNNVP_PORT_TARGET, core_port));
}

platform::design::plan platform::design::make_plan() const
{
    plan plan;

    plan.incoming.resize(resolved_.instance_count);
    for (uint32_t i = 0; i < resolved_.instance_count; ++i)
        if (!resolved_.instances[i].unit)
            plan.bus_instance = i;
    for (uint32_t i = 0; i < resolved_.instance_count; ++i) {
        const cnnvp_instance &instance = resolved_.instances[i];
        for (size_t j = 0; instance.unit && j < instance.binding_count; ++j) {
            const cnnvp_binding &binding = instance.bindings[j];
            size_t socket = 0;
            if (instance.unit->ports[binding.port].kind == CNNVP_PORT_IRQ_OUT) {
                /* no socket */
            } else if (!resolved_.instances[binding.target].unit) {
                socket = plan.bus_initiators.size();
                plan.bus_initiators.push_back(instance.name);
            } else if (binding.through != 0) {
                socket = plan.incoming[binding.through - 1].size();
                plan.incoming[binding.through - 1].push_back(
                    find_port(*resolved_.instances[binding.through - 1].unit, CNNVP_PORT_MEM_TARGET, nullptr));
            } else {
                socket = plan.incoming[binding.target].size();
                plan.incoming[binding.target].push_back(binding.target_port);
            }
            plan.arrivals.push_back({i, &binding, socket});
        }
    }
    if (plan.bus_instance != CNNVP_NO_INSTANCE)
        plan_bus(plan);
    plan_core(plan);
    return plan;
}

/* -- building -- */

void platform::design::make_modules(const plan &plan)
{
    for (uint32_t i = 0; i < resolved_.instance_count; ++i) {
        const cnnvp_instance &instance = resolved_.instances[i];
        if (instance.unit)
            hosts_.push_back(std::make_unique<unit_host>(instance.name, *control_, instance, plan.incoming[i]));
        else
            hosts_.push_back(nullptr);
    }
    if (plan.bus_instance != CNNVP_NO_INSTANCE)
        bus_ = std::make_unique<bus>(resolved_.instances[plan.bus_instance].name, *control_, plan.bus_instance,
                                     plan.windows, plan.bus_initiators);
}

void platform::design::connect_binding(const arrival &arrival)
{
    const cnnvp_binding &binding = *arrival.binding;
    const cnnvp_instance &target = resolved_.instances[binding.target];
    unit_host &from = *hosts_[arrival.from];

    if (from.instance().unit->ports[binding.port].kind == CNNVP_PORT_IRQ_OUT) {
        from.connect_irq(binding.port, *hosts_[binding.target], binding.target_port, binding.target_line);
        return;
    }
    if (!target.unit) {
        from.set_link(binding.port, binding.target, 0, 0);
        from.initiator(binding.port).bind(bus_->target(arrival.socket));
        from.set_bus(binding.port, *bus_);
        return;
    }
    if (from.instance().unit->ports[binding.port].flags & CNNVP_PORT_COUNTED)
        hosts_[binding.target]->set_counted();
    if (binding.through != 0) {
        from.set_link(binding.port, binding.through - 1, 0, 0);
        from.set_through(binding.port, *hosts_[binding.through - 1]);
        from.initiator(binding.port).bind(hosts_[binding.through - 1]->target(static_cast<uint32_t>(arrival.socket)));
        return;
    }
    /* A byte of memory has only one address, its bus address, even on a direct connection. */
    const bool is_memory = target.unit->ports[binding.target_port].kind == CNNVP_PORT_MEM_TARGET;
    const bool moved = is_memory && target.on_bus && target.bus_port == binding.target_port;
    from.set_link(binding.port, binding.target, moved ? target.base : 0, moved ? target.size : 0);
    from.set_target(binding.port, *hosts_[binding.target], binding.target_port);
    from.initiator(binding.port).bind(hosts_[binding.target]->target(static_cast<uint32_t>(arrival.socket)));
}

void platform::design::connect(const plan &plan)
{
    for (const arrival &arrival : plan.arrivals)
        connect_binding(arrival);
    if (bus_) {
        for (size_t i = 0; i < plan.windows.size(); ++i) {
            const auto &[instance, socket] = plan.window_sockets[i];
            bus_->initiator(i).bind(hosts_[instance]->target(static_cast<uint32_t>(socket)));
            bus_->set_unit(i, *hosts_[instance], resolved_.instances[instance].bus_port);
        }
        loader_->memory.bind(bus_->target(plan.loader_on_bus));
    }
    if (plan.core != CNNVP_NO_INSTANCE)
        loader_->core.bind(hosts_[plan.core]->target(static_cast<uint32_t>(plan.core_socket)));
}

/* Creates the interrupt inputs of a third-party model, at each instance that leads out. */
void platform::design::make_irq(unit_host &host)
{
    const cnnvp_instance &instance = host.instance();
    for (size_t i = 0; i < instance.binding_count; ++i) {
        const uint32_t number = instance.bindings[i].port;
        if (instance.unit->ports[number].kind != CNNVP_PORT_IRQ_OUT)
            continue;
        const std::string name = std::string(instance.name) + "_irq";
        irqs_.push_back(std::unique_ptr<irq>(new irq{&host, number, irq_port(name.c_str())}));
        spawn_method((name + "_changes").c_str(), &irqs_.back()->port,
                     [this, line = irqs_.back().get()] {
                         if (line->port.size() != 0 && !done_)
                             line->unit->raise(line->number, line->port->read());
                     },
                     true);
    }
}

/* Creates an output for a unit's interrupt that a third-party model takes. */
void platform::design::make_line(unit_host &host)
{
    const cnnvp_instance &instance = host.instance();
    const std::string name = std::string(instance.name) + "_line";
    lines_.push_back(std::unique_ptr<line>(new line{&host, 0, {}, line_port(name.c_str())}));
    line *const made = lines_.back().get();
    for (uint32_t port = 0; port < instance.unit->port_count; ++port)
        if (instance.unit->ports[port].kind == CNNVP_PORT_IRQ_IN)
            host.lead_out(port, [made](int level) {
                made->level = level;
                made->changes.notify(sc_core::SC_ZERO_TIME);
            });
    spawn_method((name + "_changes").c_str(), &made->changes,
                 [made] {
                     if (made->port.size() != 0)
                         made->port->write(made->level != 0);
                 },
                 true);
}

/* Lets the program bind its memory. */
cnnvp_result platform::design::bind_socket(const cnnvp_instance &instance, const bind_memory &bind, cnnvp_error *error)
{
    foreign_.push_back(bind(instance.name, outside_.back()->socket));
    if (outside_.back()->socket.size() != 0)
        return CNNVP_DONE;
    cnnvp_config_place_error(&instance, UINT32_MAX, "the program has bound no memory to its socket", error);
    return CNNVP_BAD_INPUT;
}

/* `port`: the port of an external instance that leads outside. */
cnnvp_result platform::design::lead_outside(unit_host &host, uint32_t port, const bind_memory &bind, cnnvp_error *error)
{
    const cnnvp_instance &instance = host.instance();
    const std::string name = instance.name;
    way_in *back = nullptr;

    for (size_t i = 0; i < instance.binding_count; ++i) {
        const uint32_t inward = instance.bindings[i].port;
        if (instance.unit->ports[inward].kind != CNNVP_PORT_INITIATOR)
            continue;
        if (!is_driven()) {
            cnnvp_config_place_error(&instance, UINT32_MAX,
                                     "this link leads through a third-party model, which a SystemC program binds: "
                                     "cnnvp::platform in cnnvp_systemc.h",
                                     error);
            return CNNVP_BAD_INPUT;
        }
        inside_.push_back(std::make_unique<way_in>((name + "_inside").c_str(), *control_, host, inward));
        back = inside_.back().get();
    }
    if (host.leads_out()) {
        if (!bind && !is_driven()) {
            cnnvp_config_place_error(&instance, UINT32_MAX,
                                     "this is a third-party model, which a C++ program binds (cnnvp_systemc.h); "
                                     "here nothing binds one: as a memory, use model dram",
                                     error);
            return CNNVP_BAD_INPUT;
        }
        outside_.push_back(std::make_unique<memory_port>((name + "_outside").c_str(), *control_, instance, back));
        host.initiator(port).bind(outside_.back()->target);
    }
    control_->stay_with_kernel();
    if (is_driven()) { /* the kernel requires it to be bound at elaboration */
        make_irq(host);
        make_line(host);
        return CNNVP_DONE;
    }
    return host.leads_out() ? bind_socket(instance, bind, error) : CNNVP_DONE;
}

/* Connects ports that lead out of the platform, each to a third-party model. */
cnnvp_result platform::design::bind_outside(const bind_memory &bind, cnnvp_error *error)
{
    for (const auto &host : hosts_)
        for (uint32_t port = 0; host && port < host->instance().unit->port_count; ++port) {
            const cnnvp_port &of = host->instance().unit->ports[port];
            if (of.kind == CNNVP_PORT_MEM_INITIATOR && of.flags & CNNVP_PORT_OUTSIDE)
                CNNVP_TRY(lead_outside(*host, port, bind, error));
        }
    if (!bind || !outside_.empty())
        return CNNVP_DONE;
    std::snprintf(error->text, sizeof error->text,
                  "the platform has no external memory, in whose place the program's could be bound: write "
                  "`memory: external` into its file");
    return CNNVP_BAD_INPUT;
}

void platform::design::set_clocks()
{
    for (const auto &host : hosts_)
        if (host)
            host->set_clock(
                cnnvp_instance_mhz(&resolved_, &host->instance(), CNNVP_DEFAULT_MHZ) * host->instance().speedup);
}

cnnvp_result platform::design::init(cnnvp_error *error)
{
    for (const auto &host : hosts_) {
        std::string message;
        uint32_t param = UINT32_MAX;
        const int status = host ? host->init(&message, &param) : CNNVP_OK;
        if (status == CNNVP_OK)
            continue;
        cnnvp_config_place_error(&host->instance(), param, message.c_str(), error);
        return status == CNNVP_E_NOMEM ? CNNVP_FAILED : CNNVP_BAD_INPUT;
    }
    return CNNVP_DONE;
}

/* Builds everything up to the units' `init`. */
cnnvp_result platform::design::assemble(const bind_memory *bind, cnnvp_error *error)
{
    const plan plan = make_plan();

    make_modules(plan);
    connect(plan);
    set_clocks();
    const cnnvp_result result = bind ? bind_outside(*bind, error) : CNNVP_DONE;
    return result == CNNVP_DONE ? init(error) : result;
}

platform::design::design(const cnnvp_resolved &resolved, const run_control::options &options)
    : context_(options.driven ? nullptr : std::make_unique<simulation_context>()), resolved_(resolved)
{
    simulation_context::visit inside = enter();
    run_control::options with = options;
    with.resolved = &resolved_;
    for (uint32_t i = 0; i < resolved_.instance_count; ++i)
        with.calls_in_threads |= crosses_whole(resolved_, resolved_.instances[i]);
    control_ = std::make_unique<run_control>("_control", with);
    inside.set_log(control_.get());
    loader_ = std::make_unique<loader>("_loader", *control_);
    if (!is_driven())
        return;
    control_->at_end([this] { end(); });
    life_ = std::make_unique<life>();
    spawn_method(
        "begin", &life_->begins, [this] { begin(); }, true);
}

cnnvp_result platform::design::build(const cnnvp_resolved &resolved, const run_control::options &options,
                                     std::unique_ptr<design> *made, cnnvp_error *error, const bind_memory &bind)
{
    if (made)
        made->reset();
    std::unique_ptr<design> fresh;
    cnnvp_result result = CNNVP_FAILED;
    try {
        fresh.reset(new design(resolved, options));
        const simulation_context::visit inside = fresh->enter();
        result = fresh->assemble(made ? &bind : nullptr, error);
        if (result == CNNVP_DONE && made) {
            if (!options.driven)
                advance(sc_core::SC_ZERO_TIME); /* elaborates; processes stop before their first statement */
            for (const auto &host : fresh->hosts_)
                if (host)
                    host->reset();
        }
    } catch (const std::exception &problem) {
        std::snprintf(error->text, sizeof error->text, "the platform cannot be built: %s", problem.what());
        result = CNNVP_FAILED;
    }
    if (made && (result == CNNVP_DONE || options.driven)) /* see stays_behind */
        *made = std::move(fresh);
    return result;
}

bool platform::design::stays_behind()
{
    if (!is_driven() || sc_core::sc_get_status() != sc_core::SC_ELABORATION)
        return false;
    begun_ = true;
    control_->freeze();
    for (const auto &port : outside_)
        if (port->socket.size() == 0)
            port->socket.bind(
                (new nobody<tlm_utils::simple_target_socket<design>>(sc_core::sc_gen_unique_name("nobody")))->socket);
    for (const auto &port : inside_)
        if (port->socket.size() == 0)
            (new nobody<tlm_utils::simple_initiator_socket<design>>(sc_core::sc_gen_unique_name("nobody")))
                ->socket.bind(port->socket);
    return true;
}

/* NOLINTNEXTLINE(bugprone-exception-escape): nothing is left to throw */
platform::design::~design()
{
    const simulation_context::visit inside = enter();
    end_processes();
    for (auto host = hosts_.rbegin(); host != hosts_.rend(); ++host)
        host->reset();
    bus_.reset();
    loader_.reset();
    foreign_.clear();
    outside_.clear();
    inside_.clear();
    irqs_.clear();
    hosts_.clear();
    lines_.clear();
    life_.reset();
    control_.reset();
}

unit_host *platform::design::find(const std::string &name)
{
    for (const auto &host : hosts_)
        if (host && name == host->instance().name)
            return host.get();
    return nullptr;
}

/* The socket or port of the list's entry that belongs to the instance. */
template <typename Entry, typename Port>
static Port *find_in(const std::vector<std::unique_ptr<Entry>> &list, Port Entry::*port, const std::string &instance)
{
    for (const auto &entry : list)
        if (instance == entry->instance())
            return &(*entry.*port);
    return nullptr;
}

memory_socket *platform::design::find_outside(const std::string &instance)
{
    return find_in(outside_, &memory_port::socket, instance);
}

guest_socket *platform::design::find_inside(const std::string &instance)
{
    return find_in(inside_, &way_in::socket, instance);
}

irq_port *platform::design::find_irq(const std::string &instance)
{
    return find_in(irqs_, &irq::port, instance);
}

line_port *platform::design::find_line(const std::string &instance)
{
    return find_in(lines_, &line::port, instance);
}

void platform::design::lead_irqs_out(const std::function<void(int)> &change)
{
    for (const auto &host : hosts_)
        for (uint32_t port = 0; host && port < host->instance().unit->port_count; ++port)
            host->lead_out(port, change);
}

std::string platform::design::find_unbound() const
{
    for (const auto &port : outside_)
        if (port->socket.size() == 0)
            return port->instance();
    return "";
}

} // namespace cnnvp

/* SystemC's library contains a main() that calls sc_main. Neither is used here, but the library needs the symbol. A
 * program's own definition overrides this one. */
__attribute__((visibility("default"), weak)) int sc_main(int, char *[])
{
    return 0;
}
