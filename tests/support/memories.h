/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External memories as third parties write them, without knowledge of cnnvp. Each checks the rules of the base protocol
 * that it relies on, and counts violations in `broken`.
 */
#ifndef TEST_EXTERNAL_MEMORIES_H
#define TEST_EXTERNAL_MEMORIES_H

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

namespace memories {

/* Storage and counters of all memories. */
struct store {
    static constexpr std::uint64_t size = std::uint64_t(256) << 20;
    /* the system allocates pages on first use */
    std::unique_ptr<unsigned char[], void (*)(void *)> bytes{
        static_cast<unsigned char *>(std::calloc(1, size)), std::free};
    std::uint64_t reads = 0, writes = 0, read_bytes = 0, write_bytes = 0, debugs = 0;
    std::uint64_t kept = 0; /* writes with all bytes disabled, the only byte enables that may occur */
    bool refuses_enables = false;
    std::uint64_t broken = 0;
    std::uint64_t longest = 0; /* largest transaction in bytes */
    std::uint64_t burst = 64;  /* bytes; no transaction may cross a multiple of it */
    std::uint64_t together = 0, most_together = 0;
    std::uint64_t bad_from = ~std::uint64_t(0); /* transactions from this address on get the response `bad` */
    tlm::tlm_response_status bad = tlm::TLM_GENERIC_ERROR_RESPONSE;
    std::uint64_t good_for = ~std::uint64_t(0); /* number of such transactions that succeed before `bad` applies */

    void serve(tlm::tlm_generic_payload &payload);
    unsigned debug(tlm::tlm_generic_payload &payload);
    bool give(tlm::tlm_dmi &dmi);
};

/* Loosely timed. With `waits`, half of the delay is spent in wait(), the rest is annotated. Ignores byte enables. */
struct loose : sc_core::sc_module, store {
    tlm_utils::simple_target_socket<loose> socket{"socket"};
    sc_core::sc_time delay;
    bool waits, has_debug, has_dmi;
    std::function<void(tlm::tlm_generic_payload &, sc_core::sc_time &)> breaks; /* run after each transaction */

    loose(const sc_core::sc_module_name &name, const sc_core::sc_time &delay, bool waits, bool has_debug, bool has_dmi);
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(tlm::tlm_generic_payload &payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
};

/* Approximately timed, on a plain target socket. Transactions use the given styles in turn. */
enum class style {
    completed,    /* TLM_COMPLETED with a delay */
    updated_resp, /* TLM_UPDATED, BEGIN_RESP with a delay; an END_RESP must follow */
    updated_req,  /* TLM_UPDATED, END_REQ with a delay; BEGIN_RESP comes later */
    accepted,     /* TLM_ACCEPTED; END_REQ, then BEGIN_RESP come later */
    early,        /* TLM_ACCEPTED; BEGIN_RESP with a delay comes later, without END_REQ */
    inside,       /* END_REQ by a call of nb_transport_bw before nb_transport_fw returns */
};

struct approximate : sc_core::sc_module, store, tlm::tlm_fw_transport_if<> {
    tlm::tlm_target_socket<> socket{"socket"};
    bool has_dmi = false;
    std::vector<style> styles;
    std::size_t turn = 0;
    tlm::tlm_generic_payload *requesting = nullptr;  /* transaction in its request phase */
    std::map<tlm::tlm_generic_payload *, bool> owed; /* transactions whose END_RESP is due */
    tlm_utils::peq_with_cb_and_phase<approximate> later;

    approximate(const sc_core::sc_module_name &name, std::vector<style> styles);
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay) override;
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi) override;
    unsigned transport_dbg(tlm::tlm_generic_payload &payload) override;
    void on_later(tlm::tlm_generic_payload &payload, const tlm::tlm_phase &phase);
};

} // namespace memories

#endif
