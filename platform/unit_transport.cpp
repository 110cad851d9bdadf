/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of a hosted unit: how they leave and arrive through TLM-2.0 sockets, see unit_host.h. */
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "cnnvp_command.h"
#include "cnnvp_program.h"
#include "context.h"
#include "unit_enter.h"
#include "unit_host.h"

namespace cnnvp {

namespace {

/* A payload that always returns to its pool. */
class loan {
public:
    explicit loan(payload_pool &pool) : payload_(pool.acquire(&extension_)) {}
    ~loan() { payload_->release(); }
    loan(const loan &) = delete;
    loan &operator=(const loan &) = delete;
    tlm::tlm_generic_payload &payload() { return *payload_; }
    payload_extension &extension() { return *extension_; }

private:
    payload_extension *extension_ = nullptr;
    tlm::tlm_generic_payload *payload_;
};

/* Targets on the way make an access's address relative to themselves; this restores it. */
struct restore_address {
    cnnvp_access &access;
    uint64_t address;
    ~restore_address() { access.address = address; }
};

/* Status of a target that is not a hosted unit and has only seen the plain members. */
int foreign_status(const tlm::tlm_generic_payload &payload, const void *data)
{
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND && data)
        return CNNVP_E_NOSUP; /* plain members could not express the access */
    return to_status(payload.get_response_status());
}

/* The kernel's conversion is a library call; mostly there is nothing to convert. */
void set_time(sc_core::sc_time &time, cnnvp_time ps)
{
    if (to_ps(time) != ps)
        time = from_ps(ps);
}

/* The last address of a third party's region in a window of this size; 0: all addresses. */
uint64_t within(uint64_t size, uint64_t last)
{
    return size != 0 ? std::min(last, size - 1) : last;
}

bool is_plain(uint32_t op)
{
    return op == CNNVP_READ || op == CNNVP_WRITE;
}

/* Appends a line to the text `context`. */
void add_line(void *context, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    std::vsnprintf(line, sizeof line, format, args);
    va_end(args);
    *static_cast<std::string *>(context) += std::string("  ") + line + "\n";
}

} // namespace

/* -- elaboration -- */

void unit_host::make_initiator(uint32_t port)
{
    auto socket = std::make_unique<initiator_socket>(unit_.ports[port].name);
    const int id = static_cast<int>(port);

    socket->register_nb_transport_bw(this, &unit_host::nb_transport_bw, id);
    socket->register_invalidate_direct_mem_ptr(this, &unit_host::invalidate_direct_mem_ptr, id);
    ports_[port].socket = std::move(socket);
    ports_[port].connected = true;
}

void unit_host::make_target(uint32_t socket)
{
    const uint32_t port = target_ports_[socket];
    const std::string name = std::string(unit_.ports[port].name) + "_" + std::to_string(socket);
    auto fresh = std::make_unique<target_socket>(name.c_str());
    const int id = static_cast<int>(socket);

    fresh->register_b_transport(this, &unit_host::b_transport, id);
    fresh->register_transport_dbg(this, &unit_host::transport_dbg, id);
    fresh->register_get_direct_mem_ptr(this, &unit_host::get_direct_mem_ptr, id);
    if (unit_.ports[port].kind == CNNVP_PORT_MEM_TARGET)
        fresh->register_nb_transport_fw(this, &unit_host::nb_transport_fw, id);
    targets_.push_back(std::move(fresh));
}

void unit_host::set_link(uint32_t port, uint32_t target_instance, uint64_t base, uint64_t size)
{
    ports_[port].base = base;
    ports_[port].size = size;
    if (control_.recorder())
        ports_[port].link = cnnvp_recorder_link(control_.recorder(), instance_.number, target_instance);
}

void unit_host::set_target(uint32_t port, unit_host &target, uint32_t target_port)
{
    ports_[port].target = &target;
    ports_[port].target_port = target_port;
    crosses_whole_ |= is_external_ && target.unit_.ports[target_port].kind == CNNVP_PORT_TARGET;
}

/* -- accesses that leave -- */

int unit_host::find_port(const char *function, uint32_t port, port_state **state)
{
    if (current_->kind == call::init || current_->kind == call::reset || current_->kind == call::fini)
        return refuse(CNNVP_E_STATE, function, "other instances may not be there yet, or any more");
    if (port >= unit_.port_count)
        return refuse(CNNVP_E_INVAL, function, "there is no port %u; the unit has %zu", port, unit_.port_count);
    if (unit_.ports[port].kind != CNNVP_PORT_INITIATOR && unit_.ports[port].kind != CNNVP_PORT_MEM_INITIATOR)
        return refuse(CNNVP_E_INVAL, function, "port %u, %s, is not an initiator's", port, unit_.ports[port].name);
    *state = &ports_[port];
    return (*state)->connected ? CNNVP_OK : CNNVP_E_STATE;
}

bool unit_host::translate(const port_state &port, uint64_t first, uint64_t last) const
{
    return port.size == 0 || (first >= port.base && last >= first && last - port.base < port.size);
}

int unit_host::refuse_address(const char *function, uint32_t number, uint64_t first, uint64_t last)
{
    const port_state &port = ports_[number];

    return refuse(CNNVP_E_ADDR, function,
                  "0x%" PRIx64 " to 0x%" PRIx64 " is not within 0x%" PRIx64 " to 0x%" PRIx64
                  ", where port %s leads; addresses are those of the bus",
                  first, last, port.base, port.base + (port.size - 1), unit_.ports[number].name);
}

int unit_host::send(uint32_t number, cnnvp_access &access)
{
    port_state *port = nullptr;
    const int found = find_port("access", number, &port);

    if (found != CNNVP_OK)
        return found;
    if (access.op > CNNVP_BORROW_WRITE)
        return refuse(CNNVP_E_INVAL, "access", "op is %u; one of enum cnnvp_op is expected", access.op);
    const uint64_t last = access.size ? access.address + (access.size - 1) : access.address;
    if (!translate(*port, access.address, last))
        return refuse_address("access", number, access.address, last);
    if (!owed_.empty() && access.op == CNNVP_COMMAND && access.size == sizeof(cnnvp_completion) && access.data) {
        const uint64_t sequence = static_cast<const cnnvp_completion *>(access.data)->sequence;
        owed_.erase(std::remove_if(owed_.begin(), owed_.end(),
                                   [sequence](const command &one) { return one.sequence == sequence; }),
                    owed_.end());
    }
    /* Only the unit that begins a transaction sets its number; a unit that passes an access on does not. */
    if (current_->serving != &access)
        access.initiator = instance_.number;

    if (results_)
        complete_results(number, access);
    if (counted_ && access.op == CNNVP_COMMAND)
        note_sent(access);
    const restore_address restore_at_end{access, access.address};
    access.address -= port->base;
    if (port->way && access.flags == CNNVP_UNTIMED && is_plain(access.op))
        if (const bus::unit_port *to = port->way->find_unit(access.address, last - port->base))
            return send_straight(*port, *to, access);
    const cnnvp_time before = access.delay;
    const int status = carry(*port, access);
    if (status == CNNVP_OK && port->through && unit_.ports[number].flags & CNNVP_PORT_COUNTED &&
        !(access.flags & CNNVP_DEBUG))
        count_way(*port, access, before);
    return status;
}

/* Counts the time of a command on its way out and back, in which its unit is busy but counts nothing, as
 * stall_cycles.instruction. */
void unit_host::count_way(const port_state &port, const cnnvp_access &access, cnnvp_time before)
{
    const auto edge = [this](cnnvp_time delay) { return cnnvp_edge_at_or_after(clock_mhz_, control_.now() + delay); };
    const uint64_t inside = edge(port.through->answered_at_) - edge(port.through->came_back_at_);

    for (uint32_t stat = 0; control_.recorder() && stat < unit_.stat_count; ++stat)
        if (unit_.stats[stat].layer && std::strcmp(unit_.stats[stat].layer, "stall_cycles.instruction") == 0)
            cnnvp_stats_count(&control_.recorder()->stats, instance_.number, stat, access.tag,
                              edge(access.delay) - edge(before) - inside);
}

/* Sends the access over TLM. */
int unit_host::carry(port_state &port, cnnvp_access &access)
{
    loan borrowed(control_.pool());

    describe(borrowed.payload(), access);
    borrowed.extension().access = &access;
    return access.flags & CNNVP_DEBUG ? send_debug(port, access, borrowed.payload(), borrowed.extension())
                                      : send_timed(port, access, borrowed.payload(), borrowed.extension());
}

/* The core reports its own accesses itself. */
void unit_host::tell_debugger(const cnnvp_request &request) const
{
    if (control_.settings().gdb && !is_core_)
        cnnvp_gdb_accessed(control_.settings().gdb, instance_.name, &request);
}

void unit_host::count_untimed(const port_state &port, const cnnvp_access &access) const
{
    const link_bytes bytes = bytes_of(access);
    const cnnvp_link_bytes crossed{0, access.tag, 0, 0, bytes.read, bytes.write, access.initiator};
    cnnvp_stats_cross(&control_.recorder()->stats, port.link, &crossed);
}

int unit_host::send_straight(const port_state &port, const bus::unit_port &to, cnnvp_access &access)
{
    access.address -= to.base;
    const int status = to.unit->serve(to.port, access);
    if (status >= CNNVP_OK && control_.recorder())
        count_untimed(port, access);
    return status;
}

/* An access that leaves the platform may take simulated time, in which other processes run. That time is assigned to
 * this instance. */
struct unit_host::outside_call {
    unit_host &host;
    cnnvp_path *const path;
    cnnvp_path_node *node = nullptr;
    cnnvp_path_here mine{};

    outside_call(unit_host &of, bool leads_out) : host(of), path(leads_out ? of.control_.path() : nullptr)
    {
        if (!path)
            return;
        node = host.path_now();
        mine = cnnvp_path_enter(path, {});
    }
    ~outside_call()
    {
        if (!path)
            return;
        node = cnnvp_path_extend(path, node, host.instance_.number, CNNVP_PATH_SAME_TAG, host.control_.now());
        host.path_put(host.outside_moment_, cnnvp_path_hold(node));
        host.path_put(mine.node, node);
        cnnvp_path_drop(path, cnnvp_path_enter(path, mine).node);
    }
    outside_call(const outside_call &) = delete;
    outside_call &operator=(const outside_call &) = delete;
};

int unit_host::send_timed(port_state &port, cnnvp_access &access, tlm::tlm_generic_payload &payload,
                          payload_extension &extension)
{
    sc_core::sc_time delay;
    cnnvp_request request{}; /* for the debugger */

    request.op = access.op;
    request.address = access.address + port.base;
    request.size = access.size;
    request.count = 1;
    set_time(delay, access.delay);
    const cnnvp_port &of = unit_.ports[&port - ports_.data()];
    {
        const outside_call call(*this, of.flags & CNNVP_PORT_OUTSIDE && !crosses_whole_);
        const aside others(of.flags & CNNVP_PORT_OUTSIDE);
        (*port.socket)->b_transport(payload, delay);
    }
    access.delay = to_ps(delay);
    const int status = extension.answered ? extension.status : foreign_status(payload, access.data);
    if (status >= CNNVP_OK && is_plain(access.op) && (port.way || of.kind == CNNVP_PORT_MEM_INITIATOR))
        tell_debugger(request);
    if (status >= CNNVP_OK && access.flags & CNNVP_UNTIMED && control_.recorder()) {
        count_untimed(port, access);
    } else if (status >= CNNVP_OK && control_.recorder()) {
        const link_bytes bytes = bytes_of(access);
        const cnnvp_time now = control_.now();
        const cnnvp_link_bytes crossed{
            access.flow, access.tag, now, now + access.delay, bytes.read, bytes.write, access.initiator};
        cnnvp_recorder_transfer(control_.recorder(), port.link, &crossed);
    }
    return status;
}

int unit_host::send_debug(port_state &port, cnnvp_access &access, tlm::tlm_generic_payload &payload,
                          payload_extension &extension)
{
    const unsigned done = (*port.socket)->transport_dbg(payload);

    if (extension.answered)
        return extension.status;
    return is_plain(access.op) && done == access.size ? CNNVP_OK : CNNVP_E_ADDR;
}

int unit_host::pass(uint32_t number, cnnvp_access &access)
{
    port_state &port = ports_[number];

    if (!translate(port, access.address, access.address + (access.size - 1)))
        return CNNVP_E_ADDR;
    access.address -= port.base;
    if (access.initiator != CNNVP_NO_INSTANCE) { /* one of our own accesses, back from a link */
        came_back_at_ = access.delay;
        const int status = carry(port, access);
        answered_at_ = access.delay;
        return status;
    }
    access.initiator = instance_.number;
    const from_outside here(control_.path());
    return carry(port, access);
}

/* Gets direct memory at `address`, an address on this side. */
bool unit_host::direct(uint32_t number, uint64_t address, tlm::tlm_dmi &dmi)
{
    const port_state &port = ports_[number];

    if (!translate(port, address, address)) /* a question, so a miss is not an error */
        return false;
    loan borrowed(control_.pool());
    const cnnvp_access access = outside_access(CNNVP_WRITE, 0, address - port.base, nullptr, 0);
    describe(borrowed.payload(), access);
    borrowed.payload().set_command(tlm::TLM_WRITE_COMMAND); /* asks for read and write access */
    if (!(*port.socket)->get_direct_mem_ptr(borrowed.payload(), dmi) || !dmi.is_read_write_allowed())
        return false;
    dmi.set_start_address(dmi.get_start_address() + port.base);
    dmi.set_end_address(within(port.size, dmi.get_end_address()) + port.base);
    return true;
}

int unit_host::query_dmi(uint32_t number, uint64_t address, cnnvp_dmi &dmi)
{
    port_state *port = nullptr;
    const int found = find_port("dmi", number, &port);

    if (found != CNNVP_OK)
        return found;
    tlm::tlm_dmi answer;
    if (!direct(number, address, answer))
        return translate(*port, address, address) ? CNNVP_E_NOSUP : CNNVP_E_ADDR;
    dmi = {answer.get_dmi_ptr(), answer.get_start_address(), answer.get_end_address()};
    port->has_direct = true;
    return CNNVP_OK;
}

/* Passes the withdrawal on to everybody who may have the direct memory: through an external instance to the instances
 * before it, or to a third party, or to the unit. */
void unit_host::invalidate_direct_mem_ptr(int number, sc_dt::uint64 start, sc_dt::uint64 end)
{
    port_state &port = ports_[static_cast<size_t>(number)];
    const uint64_t offset = cnnvp_instance_value_or(&instance_, "offset", 0);

    end = within(port.size, end);
    if (start > end)
        return;
    start += port.base;
    end += port.base;
    if (port.withdraw)
        port.withdraw(start, end);
    else if (is_external_ && end >= offset)
        for (size_t i = 0; i < targets_.size(); ++i) {
            if (unit_.ports[target_ports_[i]].kind == CNNVP_PORT_MEM_TARGET)
                (*targets_[i])->invalidate_direct_mem_ptr(start > offset ? start - offset : 0, end - offset);
        }
    if (!port.has_direct || is_external_)
        return;
    cnnvp_cpu_withdrawal gone = {start, end};
    cnnvp_access access = outside_access(CNNVP_COMMAND, CNNVP_UNTIMED, 0, &gone, sizeof gone);
    uint32_t control = 0;
    while (control < unit_.port_count && (unit_.ports[control].flags & CNNVP_PORT_CROSSES) != CNNVP_PORT_PROGRAM)
        ++control;
    if (control == unit_.port_count || serve(control, access) != CNNVP_OK)
        log(CNNVP_LOG_WARNING, "direct memory that it has is withdrawn, but it keeps it; set dmi=off at that memory");
}

/* -- accesses that arrive -- */

bool unit_host::compares_costs() const
{
    const auto &settings = control_.settings();
    return settings.asked && (settings.check_costs || std::strchr(instance_.model, ':'));
}

/* For a command that was answered at once: compares its time with the answer of the unit without a simulation, and with
 * the cycles that the unit counted for the layer, if it counts any. */
void unit_host::compare_cost(const cnnvp_access &access, cnnvp_time delay)
{
    const auto *command = static_cast<const cnnvp_command *>(access.data);
    cnnvp_cost cost;
    cnnvp_error error;

    if (!command || access.size != sizeof *command || command->opcode == CNNVP_COMMAND_FORGET)
        return;
    const bool alone = control_.now() >= command_end_;
    command_end_ = std::max(command_end_, control_.now() + delay);
    if (!alone) /* it waited for an earlier command, so it was not alone */
        return;
    if (cnnvp_units_command(control_.settings().asked, instance_.name, command, &cost, &error) != CNNVP_DONE) {
        control_.finish(instance_.name, CNNVP_E_FATAL, error.text);
        return;
    }
    const uint64_t asked = cnnvp_delay_cycles(clock_mhz_, 0, cost.ps);
    const uint64_t taken = cnnvp_delay_cycles(clock_mhz_, control_.now(), delay);
    if (cost.status != CNNVP_OK || asked != taken) {
        const bool refused = cost.status != CNNVP_OK;
        complain("opcode 0x%02x: asked what it takes, %" PRIu64 " cycles%s%s; it took %" PRIu64,
                 static_cast<unsigned>(command->opcode), asked, refused ? ": " : "",
                 refused ? cnnvp_status_text(cost.status) : "", taken);
    } else if (counted_cycles_ != 0 && counted_cycles_ != taken) {
        char layer[32];
        complain("opcode 0x%02x of layer \"%.100s\": it took %" PRIu64 " cycles, and its statistics count %" PRIu64
                 " for the layer (compute_cycles and stall_cycles)",
                 static_cast<unsigned>(command->opcode),
                 cnnvp_stats_layer_name(&control_.recorder()->stats, command->tag, layer, sizeof layer), taken,
                 counted_cycles_);
    }
}

/* Adds up how long the unit is busy with commands that it has to count. */
void unit_host::note_busy(const cnnvp_access &access, int status, cnnvp_time delay)
{
    const auto *command = static_cast<const cnnvp_command *>(access.data);

    if (!command || access.size != sizeof *command)
        return;
    if (status == CNNVP_OK)
        busy_cycles_ += cnnvp_delay_cycles(clock_mhz_, control_.now(), delay);
    else if (status == CNNVP_PENDING)
        started_.push_back({command->sequence, control_.now()});
}

void unit_host::note_sent(const cnnvp_access &access)
{
    hands_on_ |= access.size == sizeof(cnnvp_command);
    if (access.size != sizeof(cnnvp_completion) || !access.data)
        return;
    const uint64_t sequence = static_cast<const cnnvp_completion *>(access.data)->sequence;
    for (auto at = started_.begin(); at != started_.end(); ++at)
        if (at->sequence == sequence) {
            busy_cycles_ += cnnvp_delay_cycles(clock_mhz_, at->at, control_.now() - at->at);
            started_.erase(at);
            return;
        }
}

void unit_host::check_counted()
{
    const auto counted = [this] {
        uint64_t cycles = 0;
        for (uint32_t stat = 0; stat < unit_.stat_count; ++stat)
            if (cnnvp_stats_counts_cycles(&control_.recorder()->stats, instance_.number, stat))
                cycles += cnnvp_recorder_total(control_.recorder(), instance_.number, stat);
        return cycles;
    };
    if (!counted_ || hands_on_ || !control_.recorder() || busy_cycles_ <= counted())
        return;
    flush(); /* the unit may have counts that it has not reported yet */
    const uint64_t cycles = counted();
    if (busy_cycles_ > cycles)
        complain("busy with commands for %" PRIu64 " cycles, of which its statistics count %" PRIu64
                 " for layers (compute_cycles and stall_cycles): accelerator cycles, layers and utilization are wrong",
                 busy_cycles_, cycles);
}

/* The unit's buffer at a port, borrowed without side effects. */
uint8_t *unit_host::borrow(uint32_t port, uint64_t address, uint64_t size)
{
    port_state &state = ports_[port];
    cnnvp_access access = outside_access(CNNVP_BORROW_READ, CNNVP_DEBUG, address - state.base, nullptr, size);

    if (!state.connected)
        return nullptr;
    loan borrowed(control_.pool());
    describe(borrowed.payload(), access);
    borrowed.extension().access = &access;
    return send_debug(state, access, borrowed.payload(), borrowed.extension()) == CNNVP_OK
               ? static_cast<uint8_t *>(access.data)
               : nullptr;
}

/* Returns true if the access is a command whose results are to be compared. */
bool unit_host::begin_results(uint32_t port, const cnnvp_access &access)
{
    const auto *command = static_cast<const cnnvp_command *>(access.data);
    const uint32_t crosses = unit_.ports[port].flags & CNNVP_PORT_CROSSES;

    if (is_external_ || access.op != CNNVP_COMMAND || !command || access.size != sizeof *command ||
        (crosses != CNNVP_PORT_COMMANDS && crosses != 0) || !unit_results::judges(*command))
        return false;
    if (!results_)
        results_ =
            std::make_unique<unit_results>(instance_, *control_.settings().resolved, *control_.settings().results);
    results_->begin(*command,
                    [this](uint32_t to, uint64_t address, uint64_t size) { return borrow(to, address, size); });
    return true;
}

void unit_host::end_results(int status)
{
    char layer[128];

    if (status == CNNVP_PENDING) {
        results_->postpone();
        return;
    }
    const std::string wrong = results_->end(
        status == CNNVP_OK, cnnvp_stats_layer_name(&control_.recorder()->stats, results_->tag(), layer, sizeof layer));
    if (!wrong.empty())
        control_.log(CNNVP_LOG_ERROR, instance_.name, wrong.c_str());
}

/* Compares the results of an earlier command when the unit announces its completion. */
void unit_host::complete_results(uint32_t port, const cnnvp_access &access)
{
    const auto *completion = static_cast<const cnnvp_completion *>(access.data);
    const uint32_t crosses = unit_.ports[port].flags & CNNVP_PORT_CROSSES;

    if (access.op == CNNVP_COMMAND && completion && access.size == sizeof *completion &&
        (crosses == CNNVP_PORT_COMPLETIONS || crosses == 0) && results_->waits_for(completion->sequence))
        end_results(completion->status);
}

/* Notes the unit's current work, to explain why a run does not go on. */
void unit_host::note_command(const cnnvp_access &access, int status, cnnvp_time delay)
{
    const auto *given = static_cast<const cnnvp_command *>(access.data);

    if (!given || access.size != sizeof *given || given->opcode == CNNVP_COMMAND_FORGET)
        return;
    const command one = {given->sequence, given->opcode, given->tag, control_.now()};
    if (status == CNNVP_PENDING) {
        owed_.push_back(one);
    } else if (status == CNNVP_OK && control_.now() + delay >= latest_end_) {
        snapshot_ = one;
        latest_end_ = control_.now() + delay;
    }
}

/* Lets only one thread at a time leave the platform through this unit, because calls into the unit must end in reverse
 * order of their begin. */
struct unit_host::turn_outside {
    unit_host *const host;

    turn_outside(unit_host &of, uint32_t flags)
        : host(of.leads_out_ && !(flags & CNNVP_DEBUG) && in_thread() ? &of : nullptr)
    {
        const aside others(host && host->is_out_);
        while (host && host->is_out_)
            sc_core::wait(host->came_back_);
        if (host)
            host->is_out_ = true;
    }
    ~turn_outside()
    {
        if (!host)
            return;
        host->is_out_ = false;
        host->came_back_.notify();
    }
    turn_outside(const turn_outside &) = delete;
    turn_outside &operator=(const turn_outside &) = delete;
};

int unit_host::serve(uint32_t port, cnnvp_access &access)
{
    const turn_outside turn(*this, access.flags);
    const cnnvp_time delay = access.delay;
    const bool judged = control_.settings().results && begin_results(port, access);
    const bool is_command =
        access.op == CNNVP_COMMAND && (unit_.ports[port].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_COMMANDS;
    int status;
    counted_cycles_ = 0;
    if (is_command && control_.recorder() && access.data && access.size == sizeof(cnnvp_command) &&
        !(access.flags & CNNVP_DEBUG))
        cnnvp_recorder_about(control_.recorder(), instance_.number, static_cast<const cnnvp_command *>(access.data));
    cnnvp_path *const path = access.flags & (CNNVP_DEBUG | CNNVP_UNTIMED) ? nullptr : control_.path();
    cnnvp_path_answer callers;
    if (path)
        cnnvp_path_ask(path, &callers);

    if (registers_ && port == unit_.register_port && is_plain(access.op) &&
        registers_->serves(access.address, access.size))
        status = enter(call::entry, "a register's access", &access, [&] {
            if (!(access.flags & CNNVP_DEBUG))
                return registers_->access(access);
            peeked_ = true;
            const int seen = registers_->debug(access);
            peeked_ = false;
            return seen;
        });
    else if (unit_.access)
        status = enter(call::entry, "access", &access, [&] { return unit_.access(self(), port, &access); });
    else
        status = is_plain(access.op) ? CNNVP_E_ADDR : CNNVP_E_NOSUP;
    note_status("access", status);
    if (path)
        cnnvp_path_answered(path, &callers, instance_.number, delay, access.delay);
    if (judged)
        end_results(status);
    if (!is_command)
        return status;
    note_command(access, status, access.delay - delay);
    if (status < CNNVP_OK || access.flags & CNNVP_DEBUG)
        return status;
    if (counted_)
        note_busy(access, status, access.delay - delay);
    if (status == CNNVP_OK && compares_costs())
        compare_cost(access, access.delay - delay);
    return status;
}

bool unit_host::look(uint32_t port, uint64_t address, void *data, size_t size)
{
    cnnvp_access access = outside_access(CNNVP_READ, CNNVP_DEBUG | CNNVP_UNTIMED, address, data, size);

    return serve(port, access) == CNNVP_OK;
}

std::string unit_host::show()
{
    std::string text;
    const cnnvp_show lines = {sizeof(cnnvp_show), &text, add_line};

    if (unit_.show)
        enter(call::entry, "show", nullptr, [&] { unit_.show(self(), &lines); });
    return text;
}

uint32_t unit_host::peek(uint32_t reg)
{
    uint32_t value = 0;
    enter(call::entry, "a register's access", nullptr, [&] {
        peeked_ = true;
        value = registers_->peek(reg);
        peeked_ = false;
    });
    return value;
}

void unit_host::b_transport(int socket, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    auto *extension = payload.get_extension<payload_extension>();
    const uint32_t port = target_ports_[static_cast<size_t>(socket)];

    if (!extension || !extension->access) { /* third-party accesses arrive through a way_in */
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    cnnvp_access &access = *extension->access;
    access.address = payload.get_address(); /* as changed by the interconnect */
    access.delay = to_ps(delay);
    extension->answer(serve(port, access));
    set_time(delay, access.delay);
    payload.set_response_status(to_response(extension->status));
}

unsigned unit_host::transport_dbg(int socket, tlm::tlm_generic_payload &payload)
{
    auto *extension = payload.get_extension<payload_extension>();
    const uint32_t port = target_ports_[static_cast<size_t>(socket)];

    if (!extension || !extension->access)
        return 0;
    cnnvp_access &access = *extension->access;
    access.address = payload.get_address();
    access.flags |= CNNVP_DEBUG;
    extension->answer(serve(port, access));
    return extension->status >= CNNVP_OK ? payload.get_data_length() : 0;
}

bool unit_host::get_direct_mem_ptr(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi)
{
    const uint32_t port = target_ports_[static_cast<size_t>(socket)];
    cnnvp_dmi piece{};

    if (!unit_.dmi)
        return false;
    const int status =
        enter(call::entry, "dmi", nullptr, [&] { return unit_.dmi(self(), port, payload.get_address(), &piece); });
    if (status != CNNVP_OK || !piece.data || piece.start > payload.get_address() || piece.end < payload.get_address())
        return false;
    dmi.init();
    dmi.allow_read_write();
    dmi.set_dmi_ptr(piece.data);
    dmi.set_start_address(piece.start);
    dmi.set_end_address(piece.end);
    return true;
}

} // namespace cnnvp
