/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transports the structures of the model ABI over TLM-2.0: a pooled generic payload, whose plain members describe the
 * transaction as far as TLM can, and an extension that carries the structure itself. Targets that do not know the
 * extension use the plain members. Nothing is allocated in the steady state.
 */
#pragma once

#include <memory>
#include <vector>

#include <systemc>
#include <tlm>

#include "cnnvp_model.h"
extern "C" {
#include "config.h"
#include "path.h"
}

namespace cnnvp {

class unit_host;

/*
 * A split transaction under way. The target gets `request`, a copy of the initiator's structure, because the initiator
 * may be reset and free its own while the target still works on it.
 */
struct request_record {
    enum class stage { free, offered, held, completing };

    cnnvp_request request{};
    cnnvp_request *original = nullptr; /* the initiator's; null once the initiator has been reset */
    unit_host *initiator = nullptr;
    uint32_t initiator_port = 0;
    uint32_t initiator_link = 0;
    cnnvp_path_node *path = nullptr; /* cause of the request, while it is under way */
    uint32_t waited_for = CNNVP_NO_INSTANCE;
    uint64_t crossed = 0;        /* bytes of whole bursts, as the target reports */
    unit_host *target = nullptr; /* current holder in stages offered and held */
    uint32_t target_socket = 0;
    stage where = stage::free;
    tlm::tlm_generic_payload *payload = nullptr;
    request_record *outgoing_next = nullptr; /* list of the initiator's requests */
    request_record *outgoing_previous = nullptr;
    struct visit *visit = nullptr; /* third-party transaction that waits for it */
};

/* Exactly one of `access` and `record` is set while the payload travels. */
struct payload_extension : tlm::tlm_extension<payload_extension> {
    cnnvp_access *access = nullptr;
    request_record *record = nullptr;
    bool answered = false; /* a model has answered, so `status` is exact */
    int status = CNNVP_OK;
    uint32_t bus_socket = 0; /* used by the bus: socket that a request came from */

    void answer(int with)
    {
        answered = true;
        status = with;
    }
    tlm::tlm_extension_base *clone() const override { return new payload_extension(*this); }
    void copy_from(const tlm::tlm_extension_base &other) override
    {
        *this = static_cast<const payload_extension &>(other);
    }
};

/* An access that crosses a third-party model as a whole, in one call. */
struct crossing {
    cnnvp_access *access;       /* null: the call is over */
    bool came_back = false;     /* reached the unit on the other side, */
    int status = CNNVP_E_NOSUP; /* which answered with this status */
};

/* Attached to payloads of a link through a third-party model: describes whose work they are. */
struct origin : tlm::tlm_extension<origin> {
    std::shared_ptr<crossing> whole; /* null: reads and writes of memory */
    uint32_t initiator = CNNVP_NO_INSTANCE;
    uint32_t tag = 0;
    uint32_t outstanding = 1;
    uint64_t flow = 0;

    tlm::tlm_extension_base *clone() const override { return new origin(*this); }
    void copy_from(const tlm::tlm_extension_base &other) override { *this = static_cast<const origin &>(other); }
};

/* A third-party transaction while the memory works on it. */
struct visit {
    cnnvp_request request{};
    sc_core::sc_event answered;
    request_record *record = nullptr; /* null: it is over */
};

/* A payload together with its extension, so that the pool need not search for it. */
struct pooled_payload : tlm::tlm_generic_payload {
    payload_extension *extension = new payload_extension;

    explicit pooled_payload(tlm::tlm_mm_interface *owner) : tlm::tlm_generic_payload(owner)
    {
        set_extension(extension);
    }
};

/* Payloads and request records of one platform. */
class payload_pool final : public tlm::tlm_mm_interface {
public:
    /* A payload with reference count 1 and an empty extension. */
    tlm::tlm_generic_payload *acquire(payload_extension **extension);
    void free(tlm::tlm_generic_payload *payload) override;

    request_record *acquire_record();
    void free_record(request_record *record);

private:
    std::vector<std::unique_ptr<pooled_payload>> all_;
    std::vector<pooled_payload *> idle_;
    std::vector<std::unique_ptr<request_record>> records_;
    std::vector<request_record *> idle_records_;
};

/* An access that no instance makes. */
cnnvp_access outside_access(uint32_t op, uint32_t flags, uint64_t address, void *data, uint64_t size);

/* Fills the plain members from an access or a request. */
void describe(tlm::tlm_generic_payload &payload, const cnnvp_access &access);
void describe(tlm::tlm_generic_payload &payload, const cnnvp_request &request);

tlm::tlm_response_status to_response(int status);
int to_status(tlm::tlm_response_status response);

/* Bytes that cross a link. */
struct link_bytes {
    uint64_t read;
    uint64_t write;
};
link_bytes bytes_of(const cnnvp_access &access);
link_bytes bytes_of(const cnnvp_request &request);

/* The address range that a request touches; false if it exceeds 64 bits. */
bool span_of(const cnnvp_request &request, uint64_t *first, uint64_t *last);

} // namespace cnnvp
