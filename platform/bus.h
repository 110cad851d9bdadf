/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bus: address windows, each leading to one target port. Adds no time. An address outside all windows, or a
 * transaction that crosses the end of a window, is an address error with one warning that names the initiator. Carries
 * b_transport, nb_transport, debug transport and direct memory, with addresses made relative to the window. Links from
 * the bus to its targets are counted here.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "payload.h"
#include "run_control.h"

namespace cnnvp {

class unit_host;

class bus final : public sc_core::sc_module {
public:
    using initiator_socket = tlm_utils::simple_initiator_socket_tagged<bus>;
    using target_socket = tlm_utils::simple_target_socket_tagged<bus>;

    struct window {
        std::string name;  /* name of the target */
        uint32_t instance; /* number of the target */
        uint64_t base;
        uint64_t size; /* bytes, 1 or more; windows do not overlap */
    };
    /* A hosted unit's target port behind a window. */
    struct unit_port {
        unit_host *unit = nullptr;
        uint32_t port = 0;
        uint64_t base = 0; /* of the window */
    };

    /* `instance` is the bus's own number. `initiators` are the names of the instances bound to target(0), target(1),
     * ... */
    bus(const sc_core::sc_module_name &name, run_control &control, uint32_t instance, std::vector<window> windows,
        std::vector<std::string> initiators);

    /* The socket of a window, by its index in the constructor's `windows`. */
    initiator_socket &initiator(size_t window);
    target_socket &target(size_t initiator) { return *targets_[initiator]; }
    /* Tells which unit is bound to the socket of that window. */
    void set_unit(size_t window, unit_host &unit, uint32_t port);
    /* The unit that serves the bytes `first` to `last`; NULL if there is none or it is not hosted. */
    const unit_port *find_unit(uint64_t first, uint64_t last)
    {
        const route *route = find(first, last);
        return route && route->behind.unit ? &route->behind : nullptr;
    }

private:
    struct route {
        window place;
        size_t given; /* index in the constructor's list */
        uint32_t link;
        std::unique_ptr<initiator_socket> socket;
        unit_port behind;
    };

    run_control &control_;
    std::vector<route> routes_; /* sorted by base */
    std::vector<std::string> initiators_;
    std::vector<unsigned> warnings_; /* number for each initiator */
    std::vector<std::unique_ptr<target_socket>> targets_;
    size_t snapshot_ = 0;

    route *find(uint64_t first, uint64_t last);
    route *decode(int socket, tlm::tlm_generic_payload &payload, uint64_t first, uint64_t last);
    void warn(size_t initiator, const tlm::tlm_generic_payload &payload, uint64_t first, uint64_t last);
    void count(const route &route, link_bytes bytes);

    void b_transport(int socket, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(int socket, tlm::tlm_generic_payload &payload);
    bool get_direct_mem_ptr(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
    void invalidate_direct_mem_ptr(int index, sc_dt::uint64 start, sc_dt::uint64 end);
    tlm::tlm_sync_enum nb_transport_fw(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay);
    tlm::tlm_sync_enum forward_begin(size_t socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                     sc_core::sc_time &delay);
    tlm::tlm_sync_enum nb_transport_bw(int index, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay);
    void count_response(const route &route, tlm::tlm_generic_payload &payload);
};

} // namespace cnnvp
