/* SPDX-License-Identifier: Apache-2.0 */
#include "memories.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace memories {

namespace {
sc_core::sc_time nanoseconds(double count)
{
    return {count, sc_core::SC_NS};
}
} // namespace

void store::serve(tlm::tlm_generic_payload &payload)
{
    const std::uint64_t address = payload.get_address();
    const unsigned size = payload.get_data_length();
    const unsigned char *const enables = payload.get_byte_enable_ptr();

    broken += payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE || !payload.get_data_ptr() || size == 0 ||
              (enables && (payload.get_byte_enable_length() != 1 || *enables != TLM_BYTE_DISABLED)) ||
              payload.get_streaming_width() != size || payload.is_read() == payload.is_write() ||
              address / burst != (address + size - 1) / burst || address + size > store::size;
    longest = std::max<std::uint64_t>(longest, size);
    if (address >= bad_from && good_for-- == 0) {
        good_for = 0;
        payload.set_response_status(bad);
        return;
    }
    if (enables && refuses_enables) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    if (payload.is_read()) {
        std::memcpy(payload.get_data_ptr(), &bytes[address], size);
        ++reads;
        read_bytes += size;
    } else {
        if (!enables)
            std::memcpy(&bytes[address], payload.get_data_ptr(), size);
        kept += enables != nullptr;
        ++writes;
        write_bytes += size;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned store::debug(tlm::tlm_generic_payload &payload)
{
    const std::uint64_t address = payload.get_address();
    const unsigned size = payload.get_data_length();

    if (address + size > store::size)
        return 0;
    if (payload.is_read())
        std::memcpy(payload.get_data_ptr(), &bytes[address], size);
    else
        std::memcpy(&bytes[address], payload.get_data_ptr(), size);
    ++debugs;
    return size;
}

bool store::give(tlm::tlm_dmi &dmi)
{
    dmi.allow_read_write();
    dmi.set_dmi_ptr(bytes.get());
    dmi.set_start_address(0);
    dmi.set_end_address(store::size - 1);
    return true;
}

/* ---- loosely timed ---- */

loose::loose(const sc_core::sc_module_name &name, const sc_core::sc_time &delay, bool waits, bool has_debug,
             bool has_dmi)
    : sc_core::sc_module(name), delay(delay), waits(waits), has_debug(has_debug), has_dmi(has_dmi)
{
    socket.register_b_transport(this, &loose::b_transport);
    if (has_debug)
        socket.register_transport_dbg(this, &loose::transport_dbg);
    if (has_dmi)
        socket.register_get_direct_mem_ptr(this, &loose::get_direct_mem_ptr);
}

void loose::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &annotated)
{
    ++together;
    most_together = std::max(most_together, together);
    if (waits)
        sc_core::wait(delay / 2);
    serve(payload);
    annotated += waits ? delay / 2 : delay;
    --together;
    if (breaks)
        breaks(payload, annotated);
}

unsigned loose::transport_dbg(tlm::tlm_generic_payload &payload)
{
    return debug(payload);
}

bool loose::get_direct_mem_ptr(tlm::tlm_generic_payload &, tlm::tlm_dmi &dmi)
{
    return give(dmi);
}

/* ---- approximately timed ---- */

approximate::approximate(const sc_core::sc_module_name &name, std::vector<style> styles)
    : sc_core::sc_module(name), styles(std::move(styles)), later("later", this, &approximate::on_later)
{
    socket.bind(static_cast<tlm::tlm_fw_transport_if<> &>(*this));
}

tlm::tlm_sync_enum approximate::nb_transport_fw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                                sc_core::sc_time &delay)
{
    if (phase == tlm::END_RESP) {
        broken += owed.erase(&payload) != 1;
        return tlm::TLM_COMPLETED;
    }
    broken += phase != tlm::BEGIN_REQ || requesting != nullptr || delay != sc_core::SC_ZERO_TIME || !payload.has_mm();
    ++together;
    most_together = std::max(most_together, together);
    requesting = &payload;
    switch (styles[turn++ % styles.size()]) {
    case style::completed:
        requesting = nullptr;
        --together;
        serve(payload);
        delay = nanoseconds(30);
        return tlm::TLM_COMPLETED;
    case style::updated_resp:
        requesting = nullptr;
        --together;
        serve(payload);
        owed[&payload] = true;
        phase = tlm::BEGIN_RESP;
        delay = nanoseconds(20);
        return tlm::TLM_UPDATED;
    case style::updated_req:
        payload.acquire();
        later.notify(payload, tlm::END_REQ, nanoseconds(3)); /* the next request may begin from then on */
        later.notify(payload, tlm::BEGIN_RESP, nanoseconds(50));
        phase = tlm::END_REQ;
        delay = nanoseconds(3);
        return tlm::TLM_UPDATED;
    case style::accepted:
        payload.acquire();
        later.notify(payload, tlm::BEGIN_REQ, nanoseconds(5)); /* used as a marker: send END_REQ then */
        later.notify(payload, tlm::BEGIN_RESP, nanoseconds(70));
        return tlm::TLM_ACCEPTED;
    case style::early:
        payload.acquire();
        later.notify(payload, tlm::BEGIN_RESP, nanoseconds(10));
        return tlm::TLM_ACCEPTED;
    case style::inside: {
        tlm::tlm_phase end = tlm::END_REQ;
        sc_core::sc_time none = sc_core::SC_ZERO_TIME;
        payload.acquire();
        requesting = nullptr;
        broken += socket->nb_transport_bw(payload, end, none) != tlm::TLM_ACCEPTED;
        later.notify(payload, tlm::BEGIN_RESP, nanoseconds(15));
        return tlm::TLM_ACCEPTED;
    }
    }
    return tlm::TLM_ACCEPTED;
}

void approximate::on_later(tlm::tlm_generic_payload &payload, const tlm::tlm_phase &phase)
{
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;

    if (phase == tlm::END_REQ) {
        broken += requesting != &payload;
        requesting = nullptr;
        return;
    }
    if (phase == tlm::BEGIN_REQ) {
        tlm::tlm_phase end = tlm::END_REQ;
        broken += requesting != &payload;
        requesting = nullptr;
        broken += socket->nb_transport_bw(payload, end, delay) != tlm::TLM_ACCEPTED;
        return;
    }
    tlm::tlm_phase response = tlm::BEGIN_RESP;
    if (requesting == &payload) { /* the response also ends the request */
        requesting = nullptr;
        delay = nanoseconds(4);
    }
    serve(payload);
    --together;
    switch (socket->nb_transport_bw(payload, response, delay)) {
    case tlm::TLM_ACCEPTED:
        owed[&payload] = true;
        break;
    case tlm::TLM_UPDATED:
        broken += response != tlm::END_RESP;
        break;
    case tlm::TLM_COMPLETED:
        break;
    }
    payload.release();
}

void approximate::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &)
{
    ++broken; /* approximately timed masters must not call it */
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
}

bool approximate::get_direct_mem_ptr(tlm::tlm_generic_payload &, tlm::tlm_dmi &dmi)
{
    return has_dmi && give(dmi);
}

unsigned approximate::transport_dbg(tlm::tlm_generic_payload &payload)
{
    return debug(payload);
}

} // namespace memories
