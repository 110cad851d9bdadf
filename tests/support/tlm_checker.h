/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checker of the TLM-2.0 base protocol between an initiator and a target. It forwards all calls and checks both sides
 * against IEEE 1666-2011; each message names the clause. `broken` has one line for each kind of violation, with the
 * side at fault.
 */
#ifndef TEST_TLM_CHECKER_H
#define TEST_TLM_CHECKER_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

struct tlm_checker : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
    tlm::tlm_target_socket<> from{"from"};
    tlm::tlm_initiator_socket<> to{"to"};
    std::set<std::string> broken;
    std::uint64_t blocking = 0, phases = 0, debugs = 0, asked = 0, granted = 0, bytes = 0, hints = 0, invalidated = 0;
    std::uint64_t gone_from = 0, gone_to = 0; /* the last region that was invalidated */

    explicit tlm_checker(const sc_core::sc_module_name &name);
    /* Transactions that have begun and not ended. */
    std::size_t open() const { return transactions_.size(); }
    std::string text() const;

private:
    using payload = tlm::tlm_generic_payload;
    /* Attributes that must not change during a transaction. The address is not among them: interconnects may change
     * it. */
    struct attributes {
        tlm::tlm_command command;
        unsigned char *data, *enables;
        unsigned length, enable_length, width;
        std::vector<unsigned char> written, enabled;

        explicit attributes(const payload &of);
        bool operator==(const attributes &other) const;
    };
    enum class state { request, accepted, response };
    struct transaction {
        state at;
        attributes said;
        sc_core::sc_time latest; /* time of its latest phase */
    };
    std::map<const payload *, transaction> transactions_;
    const payload *requesting_ = nullptr, *responding_ = nullptr;

    void rule(bool holds, const char *whose, const char *what);
    void check_begin(const payload &payload, bool debug);
    void check_time(transaction &of, const sc_core::sc_time &delay, const char *whose);
    void end_request(const payload *of);
    void answer(const payload &payload, const tlm::tlm_phase &phase, const sc_core::sc_time &delay);
    void complete(const payload &payload);

    void b_transport(payload &payload, sc_core::sc_time &delay) override;
    tlm::tlm_sync_enum nb_transport_fw(payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &delay) override;
    tlm::tlm_sync_enum nb_transport_bw(payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &delay) override;
    unsigned transport_dbg(payload &payload) override;
    bool get_direct_mem_ptr(payload &payload, tlm::tlm_dmi &dmi) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;
};

#endif
