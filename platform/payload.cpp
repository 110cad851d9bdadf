/* SPDX-License-Identifier: Apache-2.0 */
/* Model ABI structures in TLM-2.0 payloads, see payload.h. */
#include "payload.h"

#include <climits>
extern "C" {
#include "config.h"
}

namespace cnnvp {

namespace {
__extension__ typedef __int128 wide; /* for sums of a 64-bit address and 64-bit strides */
}

/* Returns an idle object, or a new one made of `arguments`. `idle` has room for all objects. */
template <typename One, typename... Arguments>
static One *take(std::vector<std::unique_ptr<One>> &all, std::vector<One *> &idle, Arguments... arguments)
{
    if (idle.empty()) {
        all.push_back(std::make_unique<One>(arguments...));
        idle.reserve(all.size());
        idle.push_back(all.back().get());
    }
    One *taken = idle.back();
    idle.pop_back();
    return taken;
}

tlm::tlm_generic_payload *payload_pool::acquire(payload_extension **extension)
{
    pooled_payload *payload = take(all_, idle_, this);
    payload->acquire();
    *extension = payload->extension;
    return payload;
}

void payload_pool::free(tlm::tlm_generic_payload *payload)
{
    auto *own = static_cast<pooled_payload *>(payload);
    payload_extension &extension = *own->extension;
    payload->reset(); /* also removes extensions that others attached for this journey */
    extension.access = nullptr;
    extension.record = nullptr;
    extension.answered = false;
    extension.status = CNNVP_OK;
    idle_.push_back(own);
}

request_record *payload_pool::acquire_record()
{
    return take(records_, idle_records_);
}

void payload_pool::free_record(request_record *record)
{
    *record = request_record{};
    idle_records_.push_back(record);
}

cnnvp_access outside_access(uint32_t op, uint32_t flags, uint64_t address, void *data, uint64_t size)
{
    cnnvp_access access{};

    access.op = op;
    access.flags = flags;
    access.initiator = CNNVP_NO_INSTANCE;
    access.address = address;
    access.data = data;
    access.size = size;
    return access;
}

/* Plain members cannot express a length above 32 bits or a transaction without data. */
static void describe(tlm::tlm_generic_payload &payload, uint32_t op, uint64_t address, void *data, uint64_t size,
                     bool is_plain)
{
    const bool plain = is_plain && size <= UINT_MAX && data != nullptr;

    payload.set_command(plain && op == CNNVP_READ    ? tlm::TLM_READ_COMMAND
                        : plain && op == CNNVP_WRITE ? tlm::TLM_WRITE_COMMAND
                                                     : tlm::TLM_IGNORE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char *>(data));
    payload.set_data_length(plain ? static_cast<unsigned>(size) : 0);
    payload.set_streaming_width(plain ? static_cast<unsigned>(size) : 0);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void describe(tlm::tlm_generic_payload &payload, const cnnvp_access &access)
{
    describe(payload, access.op, access.address, access.data, access.size, access.size > 0);
}

void describe(tlm::tlm_generic_payload &payload, const cnnvp_request &request)
{
    const bool contiguous = request.count == 1 || request.stride == static_cast<int64_t>(request.size);
    describe(payload, request.op, request.address, request.data, request.size * request.count, contiguous);
}

tlm::tlm_response_status to_response(int status)
{
    if (status >= CNNVP_OK)
        return tlm::TLM_OK_RESPONSE;
    switch (status) {
    case CNNVP_E_ADDR:
        return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    case CNNVP_E_ACCESS:
    case CNNVP_E_NOSUP:
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
    default:
        return tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
}

int to_status(tlm::tlm_response_status response)
{
    switch (response) {
    case tlm::TLM_OK_RESPONSE:
        return CNNVP_OK;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
        return CNNVP_E_ADDR;
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
    case tlm::TLM_BURST_ERROR_RESPONSE:
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
        return CNNVP_E_ACCESS;
    case tlm::TLM_INCOMPLETE_RESPONSE:
        return CNNVP_E_NOSUP; /* no target has handled it */
    default:
        return CNNVP_E_MEMORY;
    }
}

link_bytes bytes_of(const cnnvp_access &access)
{
    const uint64_t words = access.words * (access.word_bytes != 0 ? access.word_bytes : 2u);

    switch (access.op) {
    case CNNVP_READ:
    case CNNVP_BORROW_READ:
        return {access.words != 0 ? words : access.size, 0};
    case CNNVP_WRITE:
    case CNNVP_BORROW_WRITE:
        return {0, access.words != 0 ? words : access.size};
    default:
        return {0, words}; /* the structure of a command is not traffic, the results that it carries are */
    }
}

link_bytes bytes_of(const cnnvp_request &request)
{
    const uint64_t bytes = request.size * request.count;
    return request.op == CNNVP_READ ? link_bytes{bytes, 0} : link_bytes{0, bytes};
}

bool span_of(const cnnvp_request &request, uint64_t *first, uint64_t *last)
{
    const wide begin = request.address;
    const wide step = static_cast<wide>(request.stride) * static_cast<wide>(request.count - 1);
    const wide low = step < 0 ? begin + step : begin;
    const wide high = (step < 0 ? begin : begin + step) + static_cast<wide>(request.size) - 1;

    if (low < 0 || high > static_cast<wide>(UINT64_MAX))
        return false;
    *first = static_cast<uint64_t>(low);
    *last = static_cast<uint64_t>(high);
    return true;
}

} // namespace cnnvp
