/* SPDX-License-Identifier: Apache-2.0 */
/* The way into the platform, see way_in.h. */
#include "way_in.h"

#include <algorithm>
#include <cstring>

#include "unit_host.h"

namespace cnnvp {

namespace {

constexpr char too_late[] = "its delay ends beyond simulated time";

/* Finds violations of the standard in a payload (IEEE 1666-2011, 14.7 to 14.18), and the response to them. */
const char *find_wrong(const tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay,
                       tlm::tlm_response_status *answer)
{
    const uint64_t span = std::min(payload.get_data_length(), payload.get_streaming_width());

    *answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (!is_within_time(delay))
        return too_late;
    *answer = tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (!payload.is_read() && !payload.is_write())
        return "a command that is none of read, write and ignore";
    *answer = tlm::TLM_BURST_ERROR_RESPONSE;
    if (payload.get_data_length() == 0)
        return "data length 0: a transaction without data is TLM_IGNORE_COMMAND";
    if (payload.get_streaming_width() == 0)
        return "streaming width 0: without streaming it is the data length";
    *answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (!payload.get_data_ptr())
        return "the data pointer is null";
    *answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (payload.get_address() + (span - 1) < payload.get_address())
        return "it reaches beyond 64-bit addresses";
    *answer = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    return payload.get_byte_enable_ptr() && payload.get_byte_enable_length() == 0
               ? "byte enables of length 0"
               : nullptr;
}

/* If a target refuses the size of a piece, it refuses the feature that made the piece that small. */
tlm::tlm_response_status response_to(const tlm::tlm_generic_payload &payload, int status)
{
    if (status != CNNVP_E_ACCESS)
        return to_response(status);
    return payload.get_byte_enable_ptr() ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE
           : payload.get_streaming_width() < payload.get_data_length()
               ? tlm::TLM_BURST_ERROR_RESPONSE
               : tlm::TLM_COMMAND_ERROR_RESPONSE;
}

} // namespace

const char *serve_pieces(tlm::tlm_generic_payload &payload, const sc_core::sc_time &delay, uint32_t flags,
                         const std::function<int(cnnvp_access &)> &piece)
{
    const unsigned length = payload.get_data_length(), width = payload.get_streaming_width();
    const unsigned char *const enables = payload.get_byte_enable_ptr();
    const uint32_t op = payload.is_write() ? CNNVP_WRITE : CNNVP_READ;
    tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;

    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(answer);
        return nullptr;
    }
    if (const char *const wrong = find_wrong(payload, delay, &answer)) {
        payload.set_response_status(answer);
        return wrong;
    }
    const auto enabled = [&](unsigned at) {
        return !enables || enables[at % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
    };
    int status = CNNVP_OK;
    for (unsigned at = 0, end; at < length && status >= CNNVP_OK; at = end) {
        end = at + std::min(length - at, width - at % width);
        for (unsigned next = at + 1; enables && next < end; ++next)
            if (enabled(next) != enabled(at))
                end = next;
        const bool only_time = op == CNNVP_WRITE && !(flags & CNNVP_DEBUG) && end - at == length;
        if (!enabled(at) && !only_time)
            continue;
        cnnvp_access access = outside_access(op, flags, payload.get_address() + at % width,
                                             enabled(at) ? payload.get_data_ptr() + at : nullptr, end - at);
        status = piece(access);
    }
    payload.set_response_status(response_to(payload, status));
    return nullptr;
}

void tell_wrong(const run_control &control, const char *who, const char *wrong, const char *&last)
{
    if (!wrong || wrong == last)
        return;
    control.log(CNNVP_LOG_WARNING, who,
                (std::string("a transaction that breaks the standard (IEEE 1666-2011): ") + wrong).c_str());
    last = wrong;
}

way_in::way_in(const sc_core::sc_module_name &name, run_control &control, unit_host &unit, uint32_t port)
    : sc_core::sc_module(name), socket("socket"), control_(control), unit_(unit), port_(port),
      outstanding_(static_cast<uint32_t>(cnnvp_instance_value_or(&unit.instance(), "in_flight", 1))),
      gives_dmi_(cnnvp_instance_value_or(&unit.instance(), "dmi", 0) != 0), takes_whole_(unit.crosses_whole())
{
    socket.register_b_transport(this, &way_in::b_transport);
    socket.register_transport_dbg(this, &way_in::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &way_in::get_direct_mem_ptr);
    unit.at_withdrawal(port, [this](uint64_t start, uint64_t end) { socket->invalidate_direct_mem_ptr(start, end); });
}

const char *way_in::instance() const
{
    return unit_.instance().name;
}

bool way_in::is_memory(const cnnvp_access &access)
{
    return unit_.leads_to_memory(port_, access.address, access.address + (access.size - 1));
}

int way_in::pass(cnnvp_access &access, const origin *of, sc_core::sc_time &delay)
{
    if (!control_.ended() && delay != sc_core::SC_ZERO_TIME)
        sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    if (!control_.ended() && is_memory(access)) {
        const int status = unit_.pass(port_, access, outstanding_, of);
        if (status != CNNVP_E_STOPPED || !control_.ended())
            return status;
    }
    if (!access.data)
        return CNNVP_OK;
    if (control_.ended())
        access.flags |= CNNVP_DEBUG | CNNVP_UNTIMED;
    const int status = unit_.pass(port_, access);
    delay = from_ps(access.delay);
    return status;
}

int way_in::pass_on(cnnvp_access &access)
{
    return unit_.pass(port_, access);
}

/* Explains what is wrong with a returning access; null if nothing. */
const char *way_in::end_crossing(crossing &of, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    cnnvp_access *const access = of.access;

    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (!access)
        return "what crosses a link in one call has come back when that was over";
    if (!is_within_time(delay))
        return too_late;
    if (payload.get_data_length() != access->size)
        return "what crosses a link in one call has come back in pieces";
    const bool has_data = access->data && access->op <= CNNVP_COMMAND;
    if (has_data && payload.is_write() && std::memcmp(access->data, payload.get_data_ptr(), access->size) != 0)
        std::memcpy(access->data, payload.get_data_ptr(), access->size);
    access->address = payload.get_address();
    access->delay = to_ps(delay);
    of.came_back = true;
    of.status = pass_on(*access);
    delay = from_ps(access->delay);
    if (payload.is_read() && access->data && of.status >= CNNVP_OK)
        std::memcpy(payload.get_data_ptr(), access->data, access->size);
    payload.set_response_status(to_response(of.status));
    return nullptr;
}

void way_in::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    const origin *const of = payload.get_extension<origin>();
    bool hint = false;

    control_.pulse(basename());
    if (of && of->whole) {
        const char *const wrong = end_crossing(*of->whole, payload, delay);
        if (wrong && wrong != wrong_)
            control_.log(CNNVP_LOG_WARNING, basename(), wrong);
        wrong_ = wrong ? wrong : wrong_;
        return;
    }
    const char *const wrong = serve_pieces(payload, delay, 0, [&](cnnvp_access &access) {
        hint = gives_dmi_ && is_memory(access);
        return pass(access, of, delay);
    });
    tell_wrong(control_, basename(), wrong, wrong_);
    payload.set_dmi_allowed(hint && payload.is_response_ok());
}

unsigned way_in::transport_dbg(tlm::tlm_generic_payload &payload)
{
    sc_core::sc_time none;

    (void)serve_pieces(payload, none, CNNVP_DEBUG | CNNVP_UNTIMED,
                       [this](cnnvp_access &access) { return unit_.pass(port_, access); });
    return payload.is_response_ok() ? payload.get_data_length() : 0;
}

bool way_in::get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi)
{
    if (gives_dmi_ && unit_.direct(port_, payload.get_address(), dmi))
        return true;
    dmi.init();
    dmi.set_start_address(payload.get_address());
    dmi.set_end_address(payload.get_address());
    return false;
}

} // namespace cnnvp
