/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out of the platform through a port marked CNNVP_PORT_OUTSIDE: converts the unit's requests for a standard
 * TLM-2.0 initiator socket, to which a program binds its own memory.
 *
 * A memory behind the socket may rely on the base protocol of IEEE 1666-2011: commands are reads and writes with data,
 * contiguous, without extensions, with streaming width = length; payloads have a memory manager. All bytes are enabled,
 * except in two kinds of writes, where all bytes are disabled: writes of bytes that memory already has, such as a cache
 * line that is written back (the core's data move when an instruction executes), and writes in timing-only runs.
 * - lt: b_transport from threads, several at a time if several bursts are in flight. The target may wait, annotate a
 *   delay, or both.
 * - at: nb_transport with BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP, and one request phase at a time. The target may
 *   answer by call or by return, with early phases, with or without delays, at once or much later, in any order.
 *
 * The memory may refuse byte enables (such a write then becomes a read), direct memory, debug transport (accesses of
 * the core and the loader then use ordinary transport, and their time is not counted), and any transaction with an
 * error response. Exceptions that it throws become an error response and one log line.
 *
 * On a link to a unit that is not a memory, each access crosses as a whole in one b_transport: a command or a tile is a
 * write of its structure; words of a buffer are read or written at their addresses. The model annotates its time.
 * Questions (CNNVP_DEBUG) bypass the model.
 */
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include "payload.h"
#include "run_control.h"

namespace cnnvp {

class way_in;

class memory_port final : public sc_core::sc_module, private tlm::tlm_bw_transport_if<>, private tlm::tlm_mm_interface {
public:
    enum class protocol { lt, at };

    /* `instance` is the external unit, with further parameters. burst_bytes: no transaction crosses a multiple of it.
     * Every access to a device is a timed transaction, except a debugger's. Transactions of a link, whose other end is
     * `back`, carry `origin`. */
    memory_port(const sc_core::sc_module_name &name, run_control &control, const cnnvp_instance &instance,
                way_in *back);
    ~memory_port() override;

    const std::string &instance() const { return instance_; }
    tlm_utils::simple_target_socket<memory_port> target; /* from the unit */
    tlm::tlm_initiator_socket<> socket;                  /* to the memory */

    /* True while the model has yet to answer a call that is not a request of the unit. */
    bool waits() const;

private:
    /* A transaction at the socket. It owns its data, because the unit may be reset and free its buffers meanwhile. */
    struct job : tlm::tlm_generic_payload {
        explicit job(memory_port &port) : tlm::tlm_generic_payload(&port), of(port.back_ ? new origin : nullptr)
        {
            if (of)
                set_extension(of);
        }
        origin *const of;                                   /* only on a link; owned by the payload */
        tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND; /* the original command */
        std::vector<unsigned char> bytes;
        tlm::tlm_generic_payload *asked = nullptr; /* the unit's payload */
        request_record *record = nullptr;          /* the unit's request; null: a caller waits for `done` */
        sc_core::sc_event done;
        bool finished = false;
        bool owes_end = false; /* we still have to send END_RESP */
        bool under_way = false;
    };
    struct worker {
        sc_core::sc_event wake;
    };
    /* An access from outside the simulation. It owns its data: the memory may answer after the caller has given up. */
    struct outside_access {
        tlm::tlm_command command;
        uint64_t address;
        std::vector<unsigned char> bytes;
        const std::optional<cnnvp_access> whose;
        size_t done = 0;
        bool finished = false;
    };

    run_control &control_;
    const std::string instance_;
    const protocol protocol_;
    const size_t plain_bytes_;
    const bool is_device_;
    way_in *const back_; /* other end of a link */
    std::vector<std::unique_ptr<job>> jobs_;
    std::vector<job *> idle_jobs_;
    std::deque<job *> waiting_;
    std::vector<std::unique_ptr<worker>> workers_; /* for lt */
    std::vector<worker *> idle_workers_;
    job *requesting_ = nullptr; /* for at: transaction whose request phase has not ended */
    sc_core::sc_event may_request_;
    tlm_utils::peq_with_cb_and_phase<memory_port> due_;
    std::shared_ptr<outside_access> outside_; /* the next one for the thread that makes them */
    sc_core::sc_event outside_wanted_;
    std::string complaint_; /* the last one */
    unsigned complaints_ = 0;
    bool refuses_enables_ = false;

    /* the unit's side */
    tlm::tlm_sync_enum from_unit(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &delay);
    void access(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    int cross(cnnvp_access &access, sc_core::sc_time &delay);
    unsigned look(tlm::tlm_command command, uint64_t address, unsigned char *data, unsigned size);
    unsigned debug(tlm::tlm_generic_payload &payload);
    bool direct(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);

    /* jobs */
    job *new_job(tlm::tlm_command command, uint64_t address, const unsigned char *data, size_t size);
    void free(tlm::tlm_generic_payload *payload) override;
    void change_nothing(job &job);
    void ask_again(job *job);
    void begin(job *job);
    void finish(job *job);
    void complain(const std::string &text);

    /* lt */
    void work(worker *self);
    void transport(job &job);
    sc_core::sc_time annotated(job &job, const sc_core::sc_time &delay);
    void call(job &job, sc_core::sc_time &delay);

    /* at */
    void send_next();
    void on_due(tlm::tlm_generic_payload &payload, const tlm::tlm_phase &phase);
    job *job_of(tlm::tlm_generic_payload &payload) const;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

    /* accesses without debug transport */
    unsigned plain(tlm::tlm_generic_payload &payload);
    size_t plain_pieces(tlm::tlm_command command, uint64_t address, unsigned char *data, size_t size,
                        const cnnvp_access *whose);
    bool plain_piece(tlm::tlm_command command, uint64_t address, unsigned char *data, size_t size,
                     const cnnvp_access *whose);
    size_t run_outside(const tlm::tlm_generic_payload &payload, const cnnvp_access *whose);
    [[noreturn]] void serve_outside();
};

} // namespace cnnvp
