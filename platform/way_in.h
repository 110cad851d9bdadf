/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way into the platform for third-party transactions, of a bus master or back over a link that leads outside: from
 * a standard TLM-2.0 target socket to a port of a hosted unit of model `external`.
 *
 * Supported for the initiator (base protocol of IEEE 1666-2011): b_transport, which waits for whatever is behind it;
 * nb_transport in four phases; annotated delays, which elapse first; byte enables and streaming; any length; debug
 * transport; direct memory if the memory has it. Violations of the standard get an error response and one log line.
 * After the run has ended, time stands still inside, but memory can still be read and written.
 */
#pragma once

#include <functional>
#include <string>

#include <systemc>
#include <tlm>

#include <tlm_utils/simple_target_socket.h>

#include "payload.h"
#include "run_control.h"

namespace cnnvp {

class unit_host;

/* Splits a payload into contiguous pieces, calls `piece` for each, and sets the response. A write without enabled bytes
 * is one piece without data, which takes its time. Returns a violation of the standard; null if there is none. */
const char *serve_pieces(tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay, uint32_t flags,
                         const std::function<int(cnnvp_access &)> &piece);

/* Logs each kind of violation once; `last` is the last one reported. */
void tell_wrong(const run_control &control, const char *who, const char *wrong, const char *&last);

class way_in final : public sc_core::sc_module {
public:
    /* Leads to the port `port` of `unit`. */
    way_in(const sc_core::sc_module_name &name, run_control &control, unit_host &unit, uint32_t port);

    const char *instance() const;
    /* True if it leads to a unit that is not a memory, so that accesses of the link cross as a whole. */
    bool takes_whole() const { return takes_whole_; }
    /* True if a memory that takes requests has the accessed bytes. */
    bool is_memory(const cnnvp_access &access);
    /* Passes an access on without the third party. */
    int pass_on(cnnvp_access &access);
    tlm_utils::simple_target_socket<way_in> socket;

private:
    run_control &control_;
    unit_host &unit_;
    const uint32_t port_;
    const uint32_t outstanding_;
    const bool gives_dmi_, takes_whole_;
    const char *wrong_ = nullptr; /* last message of tell_wrong */

    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(tlm::tlm_generic_payload &payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
    int pass(cnnvp_access &access, const origin *of, sc_core::sc_time &delay);
    const char *end_crossing(crossing &of, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
};

} // namespace cnnvp
