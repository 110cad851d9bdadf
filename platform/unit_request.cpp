/* SPDX-License-Identifier: Apache-2.0 */
/* Split transactions of a hosted unit: outgoing and incoming requests and their completions, see unit_host.h. */
#include <algorithm>
#include <cinttypes>

#include "context.h"
#include "unit_enter.h"
#include "unit_host.h"

namespace cnnvp {

/* -- the initiator's side -- */

int unit_host::send_request(uint32_t number, cnnvp_request &request)
{
    port_state *port = nullptr;
    const int found = find_port("request", number, &port);
    uint64_t first, last;

    if (found != CNNVP_OK)
        return found;
    if (unit_.ports[number].kind != CNNVP_PORT_MEM_INITIATOR)
        return refuse(CNNVP_E_INVAL, "request", "port %s is an initiator of accesses, not of requests to memory",
                      unit_.ports[number].name);
    if (request.op > CNNVP_WRITE)
        return refuse(CNNVP_E_INVAL, "request", "op is %u; CNNVP_READ or CNNVP_WRITE is expected", request.op);
    if (request.size == 0 || request.count == 0 || request.count > UINT64_MAX / request.size)
        return refuse(CNNVP_E_INVAL, "request",
                      "size is %" PRIu64 " and count is %" PRIu64 "; both must be at least 1, "
                      "and their product below 2^64",
                      request.size, request.count);
    if (request.outstanding == 0)
        return refuse(CNNVP_E_INVAL, "request", "outstanding is 0; at least 1 burst must be allowed on its way");
    if (!span_of(request, &first, &last))
        return refuse(CNNVP_E_ADDR, "request",
                      "%" PRIu64 " pieces of %" PRIu64 " bytes from 0x%" PRIx64 " on, %" PRId64
                      " bytes apart, reach beyond 64-bit addresses",
                      request.count, request.size, request.address, request.stride);
    if (!translate(*port, first, last))
        return refuse_address("request", number, first, last);
    if (!(unit_.ports[number].flags & CNNVP_PORT_OUTSIDE))
        request.initiator = instance_.number;
    return issue(number, request, nullptr);
}

int unit_host::issue(uint32_t number, cnnvp_request &request, visit *of)
{
    port_state &port = ports_[number];
    request.issued = control_.now();
    request.first_data = 0;
    request.status = CNNVP_OK;

    request_record *record = control_.pool().acquire_record();
    payload_extension *extension;
    record->request = request;
    record->request.address -= port.base;
    record->request.link = record;
    record->crossed = 0;
    record->path = path_now();
    record->waited_for = CNNVP_NO_INSTANCE;
    for (uint64_t &word : record->request.scratch)
        word = 0;
    record->original = &request;
    record->initiator = this;
    record->initiator_port = number;
    record->visit = of;
    if (of)
        of->record = record;
    record->payload = control_.pool().acquire(&extension);
    extension->record = record;
    describe(*record->payload, record->request);
    record->outgoing_next = outgoing_;
    if (outgoing_)
        outgoing_->outgoing_previous = record;
    outgoing_ = record;
    ++outgoing_count_;
    return offer(port, record);
}

int unit_host::offer(port_state &port, request_record *record)
{
    payload_extension *extension = record->payload->get_extension<payload_extension>();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    tlm::tlm_sync_enum answer;

    try {
        answer = (*port.socket)->nb_transport_fw(*record->payload, phase, delay);
    } catch (...) {
        retire(record);
        throw;
    }
    if (answer == tlm::TLM_COMPLETED && extension->answered) {
        const int status = extension->status;
        retire(record);
        return status; /* refused */
    }
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP))
        answer_at(record, control_.now() + to_ps(delay));
    return CNNVP_OK;
}

tlm::tlm_sync_enum unit_host::nb_transport_bw(int, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                              sc_core::sc_time &delay)
{
    auto *extension = payload.get_extension<payload_extension>();

    if (phase != tlm::BEGIN_RESP || !extension || !extension->record)
        return tlm::TLM_ACCEPTED;
    if (delay == sc_core::SC_ZERO_TIME && (!control_.calls_in_threads() || in_thread()))
        deliver(extension->record);
    else
        answer_at(extension->record, control_.now() + to_ps(delay));
    return tlm::TLM_COMPLETED;
}

/* For answers of third-party targets that come inside our own call, or are due later. */
void unit_host::answer_at(request_record *record, cnnvp_time at)
{
    const auto place = std::upper_bound(
        answered_.begin(), answered_.end(), at, [](cnnvp_time time, const answer &other) { return time < other.at; });
    answered_.insert(place, {at, record});
    answered_due_ = answered_.front().at;
    answered_event_.notify(control_.until(answered_.front().at));
}

void unit_host::deliver_answered()
{
    while (!answered_.empty() && answered_.front().at <= control_.now()) {
        request_record *record = answered_.front().record;
        answered_.erase(answered_.begin());
        deliver(record);
    }
    answered_due_ = answered_.empty() ? CNNVP_TIME_NEVER : answered_.front().at;
    if (!answered_.empty())
        answered_event_.notify(control_.until(answered_due_));
}

/* In effect while a completion is delivered. */
struct unit_host::path_scope {
    unit_host &host;
    cnnvp_path *const path = host.control_.path();
    cnnvp_path_here before{};

    path_scope(unit_host &of, request_record *record) : host(of)
    {
        if (!path)
            return;
        const uint32_t by = record->waited_for == CNNVP_NO_INSTANCE ? host.instance_.number : record->waited_for;
        cnnvp_path_node *const node =
            cnnvp_path_extend(path, std::exchange(record->path, nullptr), by, record->request.tag, host.control_.now());
        before = cnnvp_path_enter(path, {node, host.instance_.number, CNNVP_PATH_SAME_TAG});
    }
    ~path_scope()
    {
        if (path)
            cnnvp_path_drop(path, cnnvp_path_enter(path, before).node);
    }
    path_scope(const path_scope &) = delete;
    path_scope &operator=(const path_scope &) = delete;
};

void unit_host::deliver(request_record *record)
{
    struct retire_at_end {
        unit_host &host;
        request_record *record;
        ~retire_at_end() { host.retire(record); }
    } retire_at_end{*this, record};
    const payload_extension *extension = record->payload->get_extension<payload_extension>();
    cnnvp_request *original = record->original;
    const uint32_t port = record->initiator_port;

    if (!original)
        return; /* the request was made before a reset */
    if (extension->answered) {
        original->status = record->request.status;
        original->first_data = record->request.first_data;
    } else {
        const bool unsaid = record->payload->get_command() == tlm::TLM_IGNORE_COMMAND && record->request.data;
        original->status = unsaid ? CNNVP_E_NOSUP : to_status(record->payload->get_response_status());
        original->first_data = control_.now();
    }
    if (original->status >= CNNVP_OK && control_.recorder()) {
        const link_bytes bytes = bytes_of(record->request);
        const cnnvp_link_bytes crossed{
            0,
            original->tag,
            std::max(original->issued, original->first_data),
            control_.now(),
            bytes.read,
            bytes.write,
            original->initiator};
        cnnvp_recorder_transfer(control_.recorder(), ports_[port].link, &crossed);
        /* otherwise it is part of a request that is counted where it began, or comes from outside the platform */
        if (!record->visit && !(unit_.ports[port].flags & CNNVP_PORT_OUTSIDE))
            cnnvp_recorder_moved(control_.recorder(), original, record->crossed);
    }
    if (original->status >= CNNVP_OK)
        tell_debugger(*original);
    record->original = nullptr;
    unlink(record);
    if (visit *const of = std::exchange(record->visit, nullptr)) {
        of->record = nullptr;
        of->answered.notify();
        return;
    }
    /* The waiting time is assigned to the target. The announcing unit continues afterwards. */
    const path_scope answered(*this, record);
    enter(call::entry, "complete", nullptr, [&] { unit_.complete(self(), port, original); });
}

void unit_host::unlink(request_record *record)
{
    if (!record->outgoing_next && !record->outgoing_previous && outgoing_ != record)
        return;
    if (record->outgoing_previous)
        record->outgoing_previous->outgoing_next = record->outgoing_next;
    else
        outgoing_ = record->outgoing_next;
    if (record->outgoing_next)
        record->outgoing_next->outgoing_previous = record->outgoing_previous;
    record->outgoing_next = record->outgoing_previous = nullptr;
    --outgoing_count_;
}

void unit_host::retire(request_record *record)
{
    tlm::tlm_generic_payload *payload = record->payload;

    unlink(record);
    path_put(record->path, nullptr);
    control_.pool().free_record(record);
    payload->release();
}

/* The unit may then free its structures and data. Targets keep the records, without data, until they answer. */
void unit_host::abandon_outgoing()
{
    while (outgoing_)
        abandon(outgoing_);
}

void unit_host::abandon(request_record *record)
{
    if (visit *const of = std::exchange(record->visit, nullptr)) {
        of->record = nullptr;
        of->request.status = CNNVP_E_STOPPED;
        of->answered.notify(sc_core::SC_ZERO_TIME);
    }
    record->original = nullptr;
    record->request.data = nullptr;
    record->payload->set_data_ptr(nullptr);
    record->payload->set_data_length(0);
    unlink(record);
}

/* -- third-party transactions -- */

bool unit_host::is_memory() const
{
    return !is_external_ || cnnvp_instance_value_or(&instance_, "role", 0) != 1; /* not a third-party device */
}

bool unit_host::leads_to_memory(uint32_t port, uint64_t first, uint64_t last)
{
    const port_state &state = ports_[port];
    const bus::unit_port *const behind = state.way ? state.way->find_unit(first, last) : nullptr;
    unit_host *const target = behind ? behind->unit : state.target;
    const uint32_t number = behind ? behind->port : state.target_port;

    return target && target->is_memory() && target->unit_.ports[number].kind == CNNVP_PORT_MEM_TARGET;
}

int unit_host::pass(uint32_t port, const cnnvp_access &access, uint32_t outstanding, const origin *of)
{
    struct at_end { /* runs also if the thread is killed */
        unit_host &host;
        visit here{};
        ~at_end()
        {
            if (here.record)
                host.abandon(here.record);
        }
    } guest{*this};
    cnnvp_request &request = guest.here.request;
    request.op = access.op;
    request.address = access.address;
    request.data = static_cast<uint8_t *>(access.data);
    request.size = access.size;
    request.count = 1;
    request.burst_bytes = static_cast<uint32_t>(cnnvp_instance_value_or(&instance_, "burst_bytes", 64));
    request.initiator = of ? of->initiator : instance_.number;
    request.tag = of ? of->tag : 0;
    request.flow = of ? of->flow : 0;
    request.outstanding = of ? of->outstanding : outstanding;
    if (!translate(ports_[port], request.address, request.address + (request.size - 1)))
        return CNNVP_E_ADDR;
    const int status = [&] {
        const from_outside here(control_.path());
        return issue(port, request, &guest.here);
    }();
    if (status != CNNVP_OK)
        return status;
    while (guest.here.record)
        sc_core::wait(guest.here.answered);
    return request.status;
}

/* -- the target's side -- */

tlm::tlm_sync_enum unit_host::nb_transport_fw(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                              sc_core::sc_time &)
{
    if (phase != tlm::BEGIN_REQ)
        return tlm::TLM_COMPLETED; /* END_RESP: nothing is kept for it */
    return begin_request(static_cast<uint32_t>(socket), payload, phase);
}

tlm::tlm_sync_enum unit_host::begin_request(uint32_t socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase)
{
    auto *extension = payload.get_extension<payload_extension>();
    const uint32_t port = target_ports_[socket];
    request_record *record = extension ? extension->record : nullptr;
    int status = CNNVP_E_NOSUP;

    if (record) {
        record->target = this;
        record->target_socket = socket;
        record->where = request_record::stage::offered;
        record->request.address = payload.get_address();
        held_.push_back(record);
        if (unit_.request)
            status =
                enter(call::entry, "request", nullptr, [&] { return unit_.request(self(), port, &record->request); });
        note_status("request", status);
    }
    if (status >= CNNVP_OK) {
        record->where = request_record::stage::held;
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    if (record)
        held_.erase(std::find(held_.begin(), held_.end(), record));
    if (extension)
        extension->answer(status);
    payload.set_response_status(to_response(status));
    return tlm::TLM_COMPLETED;
}

void unit_host::crossed(const cnnvp_request *request, uint64_t bytes)
{
    auto *record = request ? static_cast<request_record *>(request->link) : nullptr;

    if (!record || &record->request != request || record->target != this)
        refuse(CNNVP_E_STATE, "crossed", "the request is none that the unit holds");
    else
        record->crossed = bytes;
}

int unit_host::complete(cnnvp_request *request)
{
    auto *record = request ? static_cast<request_record *>(request->link) : nullptr;

    if (!record || &record->request != request || record->target != this ||
        record->where != request_record::stage::held)
        return refuse(CNNVP_E_STATE, "complete",
                      "the request is none that the unit has accepted and not completed yet");
    record->where = request_record::stage::completing;
    held_.erase(std::find(held_.begin(), held_.end(), record));
    done_.push_back(record);
    return CNNVP_OK;
}

void unit_host::drain()
{
    if (draining_)
        return; /* an outer call is already delivering */
    draining_ = true;
    struct stop {
        bool &flag;
        ~stop() { flag = false; }
    } stop_at_end{draining_};
    while (done_first_ < done_.size()) {
        request_record *record = done_[done_first_++];
        tlm::tlm_generic_payload &payload = *record->payload;
        target_socket &socket = *targets_[record->target_socket];
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;

        payload.set_response_status(to_response(record->request.status));
        if (auto *extension = payload.get_extension<payload_extension>(); extension)
            extension->answer(record->request.status);
        record->where = request_record::stage::free;
        record->waited_for = instance_.number;
        record->target = nullptr;
        socket->nb_transport_bw(payload, phase, delay);
    }
    done_.clear();
    done_first_ = 0;
}

/* After a reset the unit can no longer complete the requests that it held. */
void unit_host::release_held()
{
    for (request_record *record : held_) {
        record->where = request_record::stage::completing;
        record->request.status = CNNVP_E_STOPPED;
        done_.push_back(record);
    }
    held_.clear();
    drain();
}

} // namespace cnnvp
