/* SPDX-License-Identifier: Apache-2.0 */
#include "tlm_checker.h"

namespace {

const char *const initiator = "initiator";
const char *const target = "target";

bool moves(const tlm::tlm_generic_payload &payload)
{
    return payload.get_command() != tlm::TLM_IGNORE_COMMAND;
}

} // namespace

tlm_checker::attributes::attributes(const payload &of)
    : command(of.get_command()), data(of.get_data_ptr()), enables(of.get_byte_enable_ptr()),
      length(of.get_data_length()), enable_length(of.get_byte_enable_length()), width(of.get_streaming_width())
{
    if (of.is_write() && data)
        written.assign(data, data + length);
    if (enables)
        enabled.assign(enables, enables + enable_length);
}

bool tlm_checker::attributes::operator==(const attributes &other) const
{
    return command == other.command && data == other.data && enables == other.enables && length == other.length &&
           enable_length == other.enable_length && width == other.width && written == other.written &&
           enabled == other.enabled;
}

tlm_checker::tlm_checker(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
{
    from.bind(static_cast<tlm::tlm_fw_transport_if<> &>(*this));
    to.bind(static_cast<tlm::tlm_bw_transport_if<> &>(*this));
}

std::string tlm_checker::text() const
{
    std::string all;
    for (const std::string &one : broken)
        all += one + "\n";
    return all;
}

void tlm_checker::rule(bool holds, const char *whose, const char *what)
{
    if (!holds)
        broken.insert(std::string(whose) + ": " + what);
}

/* 14.7 to 14.18: attributes that the initiator sets before the call. */
void tlm_checker::check_begin(const payload &payload, bool debug)
{
    rule(!moves(payload) || debug || payload.get_data_length() > 0, initiator, "14.12 data length 0");
    rule(!moves(payload) || payload.get_data_length() == 0 || payload.get_data_ptr(), initiator, "14.11 null data");
    if (debug)
        return; /* 11.3: debug transport does not use the other attributes */
    rule(!moves(payload) || payload.get_streaming_width() > 0, initiator, "14.16 streaming width 0");
    rule(!payload.get_byte_enable_ptr() || payload.get_byte_enable_length() > 0, initiator,
         "14.14 byte enables of length 0");
    rule(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE, initiator, "14.17 response set before");
    rule(!payload.is_dmi_allowed(), initiator, "14.18 hint set before");
    bytes += payload.get_data_length();
}

void tlm_checker::b_transport(payload &payload, sc_core::sc_time &delay)
{
    const attributes before(payload);

    ++blocking;
    rule(sc_core::sc_get_current_process_handle().proc_kind() != sc_core::SC_METHOD_PROC_, initiator,
         "11.1.1 b_transport from a method");
    rule(!transactions_.count(&payload), initiator, "14.5 payload used while it is under way");
    check_begin(payload, false);
    to->b_transport(payload, delay);
    rule(attributes(payload) == before, target, "14.7 attributes changed");
    rule(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, target, "14.17 no response");
    hints += payload.is_dmi_allowed() ? 1 : 0;
}

/* 15.2.9: the phases of a transaction are in order of time. */
void tlm_checker::check_time(transaction &of, const sc_core::sc_time &delay, const char *whose)
{
    const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
    rule(at >= of.latest, whose, "15.2.9 a phase before the one before it");
    of.latest = at;
}

void tlm_checker::end_request(const payload *of)
{
    if (requesting_ == of)
        requesting_ = nullptr;
}

/* A phase that the target sends, by return value or call. 15.2.4: order of phases; 15.2.6: one response at a time. */
void tlm_checker::answer(const payload &payload, const tlm::tlm_phase &phase, const sc_core::sc_time &delay)
{
    const auto found = transactions_.find(&payload);

    if (found == transactions_.end()) {
        rule(false, target, "15.2.4 a phase of no transaction");
        return;
    }
    transaction &of = found->second;
    check_time(of, delay, target);
    rule(attributes(payload) == of.said, target, "14.7 attributes changed");
    if (phase == tlm::END_REQ) {
        rule(of.at == state::request, target, "15.2.4 END_REQ out of order");
        of.at = state::accepted;
    } else if (phase == tlm::BEGIN_RESP) {
        rule(of.at != state::response, target, "15.2.4 BEGIN_RESP out of order");
        rule(!responding_, target, "15.2.6 BEGIN_RESP before END_RESP of another");
        rule(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, target, "14.17 no response");
        hints += payload.is_dmi_allowed() ? 1 : 0;
        of.at = state::response;
        responding_ = &payload;
    } else {
        rule(false, target, "15.2.4 a phase that is not the target's");
    }
    end_request(&payload);
}

void tlm_checker::complete(const payload &payload)
{
    end_request(&payload);
    if (responding_ == &payload)
        responding_ = nullptr;
    transactions_.erase(&payload);
}

tlm::tlm_sync_enum tlm_checker::nb_transport_fw(payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &delay)
{
    const tlm::tlm_phase asked_phase = phase;
    const sc_core::sc_time asked_delay = delay;
    const bool begins = phase == tlm::BEGIN_REQ;

    ++phases;
    if (begins) {
        rule(!transactions_.count(&payload), initiator, "14.5 payload used while it is under way");
        rule(!requesting_, initiator, "15.2.6 BEGIN_REQ before END_REQ of another");
        rule(payload.has_mm() && payload.get_ref_count() > 0, initiator, "14.5 no memory manager");
        check_begin(payload, false);
        transactions_.erase(&payload);
        transactions_.insert({&payload, {state::request, attributes(payload), sc_core::sc_time_stamp() + delay}});
        requesting_ = &payload;
    } else {
        const auto found = transactions_.find(&payload);
        rule(phase == tlm::END_RESP && found != transactions_.end() && found->second.at == state::response, initiator,
             "15.2.4 END_RESP out of order");
        if (found != transactions_.end())
            check_time(found->second, delay, initiator);
        complete(payload);
    }
    const tlm::tlm_sync_enum result = to->nb_transport_fw(payload, phase, delay);
    if (!begins) {
        rule(result != tlm::TLM_UPDATED, target, "15.2.3 END_RESP answered TLM_UPDATED");
    } else if (result == tlm::TLM_UPDATED) {
        answer(payload, phase, delay);
    } else if (result == tlm::TLM_COMPLETED) {
        rule(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, target, "14.17 no response");
        if (const auto found = transactions_.find(&payload); found != transactions_.end())
            rule(attributes(payload) == found->second.said, target, "14.7 attributes changed");
        complete(payload);
    } else {
        rule(phase == asked_phase && delay == asked_delay, target, "11.1.2 TLM_ACCEPTED with another phase or time");
    }
    return result;
}

tlm::tlm_sync_enum tlm_checker::nb_transport_bw(payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &delay)
{
    const tlm::tlm_phase asked_phase = phase;
    const sc_core::sc_time asked_delay = delay;

    ++phases;
    answer(payload, phase, delay);
    const tlm::tlm_sync_enum result = from->nb_transport_bw(payload, phase, delay);
    if (result == tlm::TLM_ACCEPTED) {
        rule(phase == asked_phase && delay == asked_delay, initiator, "11.1.2 TLM_ACCEPTED with another phase or time");
    } else {
        rule(asked_phase == tlm::BEGIN_RESP, initiator, "15.2.3 END_REQ not answered TLM_ACCEPTED");
        rule(result == tlm::TLM_COMPLETED || phase == tlm::END_RESP, initiator, "15.2.3 BEGIN_RESP answered otherwise");
        if (asked_phase == tlm::BEGIN_RESP)
            complete(payload);
    }
    return result;
}

/* 11.3: transfers at most the requested bytes, without time or delta cycles. */
unsigned tlm_checker::transport_dbg(payload &payload)
{
    const attributes before(payload);
    const sc_dt::uint64 address = payload.get_address();
    const sc_core::sc_time time = sc_core::sc_time_stamp();
    const auto delta = sc_core::sc_delta_count();

    ++debugs;
    check_begin(payload, true);
    const unsigned done = to->transport_dbg(payload);
    rule(done <= payload.get_data_length(), target, "11.3 more than was asked for");
    rule(time == sc_core::sc_time_stamp() && delta == sc_core::sc_delta_count(), target, "11.3 debug transport waits");
    rule(attributes(payload) == before && address == payload.get_address(), target, "14.7 attributes changed");
    return done;
}

/* 11.2: the region that the answer describes contains the address, also if the request is refused. */
bool tlm_checker::get_direct_mem_ptr(payload &payload, tlm::tlm_dmi &dmi)
{
    const sc_dt::uint64 address = payload.get_address();

    ++asked;
    const bool yes = to->get_direct_mem_ptr(payload, dmi);
    granted += yes ? 1 : 0;
    rule(dmi.get_start_address() <= address && address <= dmi.get_end_address(), target, "11.2 another region");
    if (!yes)
        return false;
    rule(dmi.get_dmi_ptr() != nullptr, target, "11.2 no pointer");
    rule(payload.is_write() ? dmi.is_write_allowed() : dmi.is_read_allowed(), target, "11.2 less than was asked for");
    return true;
}

void tlm_checker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end)
{
    ++invalidated;
    gone_from = start;
    gone_to = end;
    rule(start <= end, target, "11.2 an empty region");
    from->invalidate_direct_mem_ptr(start, end);
}
