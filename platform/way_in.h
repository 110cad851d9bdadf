/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way into the platform for third parties' transactions, of a bus master or back over a link that leads outside:
 * from a standard TLM-2.0 target socket to a port of a hosted unit, which is that of model `external`.
 *
 * What whoever is bound to the socket may rely on (base protocol of IEEE 1666-2011): b_transport, which waits for what
 * is behind it; nb_transport, in four phases; annotated delays, which pass first; byte enables and streaming; any
 * length; debug transport; direct memory where the memory has it. What breaks the standard is answered with an error
 * and named in one line of the log. When the run has ended time stands still inside: memory can still be read and
 * written.
 */
#ifndef CNNVP_PLATFORM_WAY_IN_H
#define CNNVP_PLATFORM_WAY_IN_H

#include <functional>
#include <string>

#include <systemc>
#include <tlm>

#include <tlm_utils/simple_target_socket.h>

#include "payload.h"
#include "run_control.h"

namespace cnnvp {

class unit_host;

/* Does with each piece of contiguous bytes that a payload asks for what `piece` does, and sets its response. A write of
 * which no byte is enabled is one piece without data: it takes its time. What of the payload breaks the standard; null
 * if nothing does. */
const char *serve_pieces(tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay, uint32_t flags,
                         const std::function<int(cnnvp_access &)> &piece);

/* One line of the log for each thing that breaks the standard; `last` is what was said last. */
void tell_wrong(const run_control &control, const char *who, const char *wrong, const char *&last);

class way_in final : public sc_core::sc_module {
public:
    /* To the port `port` of `unit`. */
    way_in(const sc_core::sc_module_name &name, run_control &control, unit_host &unit, uint32_t port);

    const char *instance() const;
    /* It leads to a unit that is no memory: what comes by the link crosses whole. */
    bool takes_whole() const { return takes_whole_; }
    /* A memory that takes requests has those bytes. */
    bool is_memory(const cnnvp_access &access);
    /* Past the third party. */
    int pass_on(cnnvp_access &access);
    tlm_utils::simple_target_socket<way_in> socket;

private:
    run_control &control_;
    unit_host &unit_;
    const uint32_t port_;
    const uint32_t outstanding_;
    const bool gives_dmi_, takes_whole_;
    const char *wrong_ = nullptr; /* tell_wrong */

    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(tlm::tlm_generic_payload &payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
    int pass(cnnvp_access &access, const origin *of, sc_core::sc_time &delay);
    const char *end_crossing(crossing &of, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
};

} // namespace cnnvp

#endif
