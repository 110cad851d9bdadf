/* SPDX-License-Identifier: Apache-2.0 */
/* The bus, see bus.h. */
#include "bus.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace cnnvp {

namespace {

constexpr unsigned initiator_warnings = 20; /* lines per initiator */

/* All payloads on the bus come from a unit, the loader or a way_in, and carry the extension. */
payload_extension &extension_of(const tlm::tlm_generic_payload &payload)
{
    return *payload.get_extension<payload_extension>();
}

uint64_t last_byte(const tlm::tlm_generic_payload &payload)
{
    const uint64_t size = extension_of(payload).access->size;
    return payload.get_address() + (size ? size - 1 : 0);
}

} // namespace

bus::bus(const sc_core::sc_module_name &name, run_control &control, uint32_t instance, std::vector<window> windows,
         std::vector<std::string> initiators)
    : sc_core::sc_module(name), control_(control), initiators_(std::move(initiators)), warnings_(initiators_.size())
{
    for (size_t i = 0; i < windows.size(); ++i)
        routes_.push_back({windows[i], i, 0, nullptr, {}});
    std::sort(routes_.begin(), routes_.end(),
              [](const route &a, const route &b) { return a.place.base < b.place.base; });
    for (size_t i = 0; i < routes_.size(); ++i) {
        route &route = routes_[i];
        route.socket = std::make_unique<initiator_socket>(("to_" + route.place.name).c_str());
        route.socket->register_nb_transport_bw(this, &bus::nb_transport_bw, static_cast<int>(i));
        route.socket->register_invalidate_direct_mem_ptr(this, &bus::invalidate_direct_mem_ptr, static_cast<int>(i));
        if (control_.recorder())
            route.link = cnnvp_recorder_link(control_.recorder(), instance, route.place.instance);
    }
    for (size_t i = 0; i < initiators_.size(); ++i) {
        auto socket = std::make_unique<target_socket>(("from_" + initiators_[i] + "_" + std::to_string(i)).c_str());
        const int id = static_cast<int>(i);
        socket->register_b_transport(this, &bus::b_transport, id);
        socket->register_transport_dbg(this, &bus::transport_dbg, id);
        socket->register_get_direct_mem_ptr(this, &bus::get_direct_mem_ptr, id);
        socket->register_nb_transport_fw(this, &bus::nb_transport_fw, id);
        targets_.push_back(std::move(socket));
    }
}

bus::initiator_socket &bus::initiator(size_t window)
{
    for (route &route : routes_)
        if (route.given == window)
            return *route.socket;
    return *routes_.at(window).socket;
}

void bus::set_unit(size_t window, unit_host &unit, uint32_t port)
{
    for (route &route : routes_)
        if (route.given == window)
            route.behind = {&unit, port, route.place.base};
}

/* -- decoding -- */

bus::route *bus::find(uint64_t first, uint64_t last)
{
    if (last < first)
        return nullptr;
    if (snapshot_ < routes_.size()) {
        route &route = routes_[snapshot_];
        if (first - route.place.base < route.place.size && last - route.place.base < route.place.size)
            return &route;
    }
    const auto behind = std::upper_bound(routes_.begin(), routes_.end(), first, [](uint64_t at, const route &route) {
        return at < route.place.base;
    });
    if (behind == routes_.begin())
        return nullptr;
    route &route = *(behind - 1);
    if (first - route.place.base >= route.place.size || last - route.place.base >= route.place.size)
        return nullptr;
    snapshot_ = static_cast<size_t>(&route - routes_.data());
    return &route;
}

void bus::warn(size_t initiator, const tlm::tlm_generic_payload &payload, uint64_t first, uint64_t last)
{
    const payload_extension &extension = extension_of(payload);
    const uint32_t op = extension.record ? extension.record->request.op : extension.access->op;
    const bool write = op == CNNVP_WRITE;
    const bool command = payload.get_command() == tlm::TLM_IGNORE_COMMAND && !extension.record;
    char text[200];

    if (warnings_[initiator] > initiator_warnings)
        return;
    if (warnings_[initiator]++ == initiator_warnings)
        std::snprintf(text, sizeof text, "%s: many address errors; further ones are not shown",
                      initiators_[initiator].c_str());
    else
        std::snprintf(text, sizeof text, "%s: %s of 0x%" PRIx64 "..0x%" PRIx64 ": nothing is there",
                      initiators_[initiator].c_str(),
                      write     ? "write"
                      : command ? "access"
                                : "read",
                      first, last);
    control_.log(CNNVP_LOG_WARNING, basename(), text);
}

/* On success makes the payload's address relative to the window. */
bus::route *bus::decode(int socket, tlm::tlm_generic_payload &payload, uint64_t first, uint64_t last)
{
    route *route = find(first, last);

    if (route) {
        payload.set_address(payload.get_address() - route->place.base);
        return route;
    }
    extension_of(payload).answer(CNNVP_E_ADDR);
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    warn(static_cast<size_t>(socket), payload, first, last);
    return nullptr;
}

void bus::count(const route &route, link_bytes bytes)
{
    if (!control_.recorder())
        return;
    const cnnvp_time now = control_.now();
    const cnnvp_link_bytes crossed{0, 0, now, now, bytes.read, bytes.write, CNNVP_NO_INSTANCE};
    cnnvp_recorder_transfer(control_.recorder(), route.link, &crossed);
}

/* -- accesses -- */

void bus::b_transport(int socket, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    const cnnvp_access &access = *extension_of(payload).access;
    const uint64_t first = payload.get_address();
    route *route = decode(socket, payload, first, last_byte(payload));

    if (!route)
        return;
    (*route->socket)->b_transport(payload, delay);
    payload.set_address(first);
    if (payload.is_response_ok() && !(access.flags & CNNVP_UNTIMED))
        count(*route, bytes_of(access));
}

unsigned bus::transport_dbg(int, tlm::tlm_generic_payload &payload)
{
    const uint64_t first = payload.get_address();
    route *route = find(first, last_byte(payload));

    if (!route) {
        extension_of(payload).answer(CNNVP_E_ADDR);
        return 0;
    }
    payload.set_address(first - route->place.base);
    const unsigned done = (*route->socket)->transport_dbg(payload);
    payload.set_address(first);
    return done;
}

bool bus::get_direct_mem_ptr(int, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi)
{
    const uint64_t address = payload.get_address();
    route *route = find(address, address);

    if (!route)
        return false;
    payload.set_address(address - route->place.base);
    const bool granted = (*route->socket)->get_direct_mem_ptr(payload, dmi);
    payload.set_address(address);
    if (!granted)
        return false;
    dmi.set_end_address(std::min<uint64_t>(dmi.get_end_address(), route->place.size - 1) + route->place.base);
    dmi.set_start_address(dmi.get_start_address() + route->place.base);
    return true;
}

void bus::invalidate_direct_mem_ptr(int index, sc_dt::uint64 start, sc_dt::uint64 end)
{
    const window &place = routes_[static_cast<size_t>(index)].place;

    if (start < place.size)
        for (const auto &target : targets_)
            (*target)->invalidate_direct_mem_ptr(
                place.base + start, place.base + std::min<uint64_t>(end, place.size - 1));
}

/* -- requests -- */

tlm::tlm_sync_enum bus::nb_transport_fw(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                        sc_core::sc_time &delay)
{
    if (phase == tlm::BEGIN_REQ)
        return forward_begin(static_cast<size_t>(socket), payload, phase, delay);
    return tlm::TLM_COMPLETED; /* END_RESP: TLM_COMPLETED has already ended the transaction at the target */
}

tlm::tlm_sync_enum bus::forward_begin(size_t socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                      sc_core::sc_time &delay)
{
    payload_extension &extension = extension_of(payload);
    cnnvp_request moved = extension.record->request;
    uint64_t first, last;

    moved.address = payload.get_address();
    if (!span_of(moved, &first, &last))
        first = 1, last = 0; /* matches no window */
    route *route = decode(static_cast<int>(socket), payload, first, last);
    if (!route)
        return tlm::TLM_COMPLETED;
    extension.bus_socket = static_cast<uint32_t>(socket);
    const tlm::tlm_sync_enum answer = (*route->socket)->nb_transport_fw(payload, phase, delay);
    const bool done = answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
    if (done)
        count_response(*route, payload);
    return answer;
}

void bus::count_response(const route &route, tlm::tlm_generic_payload &payload)
{
    if (payload.is_response_ok())
        count(route, bytes_of(extension_of(payload).record->request));
}

tlm::tlm_sync_enum bus::nb_transport_bw(int index, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                        sc_core::sc_time &delay)
{
    const uint32_t socket = extension_of(payload).bus_socket;

    if (phase == tlm::BEGIN_RESP)
        count_response(routes_[static_cast<size_t>(index)], payload);
    return (*targets_[socket])->nb_transport_bw(payload, phase, delay);
}

} // namespace cnnvp
