/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a platform to a third-party memory or model, see memory_port.h. */
#include "memory_port.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "context.h"
#include "way_in.h"

namespace cnnvp {

namespace {

constexpr int stack_bytes = 256 * 1024; /* of a thread that runs the memory's code; only used pages are touched */
constexpr size_t plain_bytes = 64;      /* largest access of the core or the loader without debug transport */
constexpr unsigned max_complaints = 20;
constexpr int max_steps = 1'000'000; /* kernel steps for one access of the loader */

void describe(origin &of, const cnnvp_access &access)
{
    of.initiator = access.initiator;
    of.tag = access.tag;
    of.flow = access.flow;
}

} // namespace

memory_port::memory_port(const sc_core::sc_module_name &name, run_control &control, const cnnvp_instance &instance,
                         way_in *back)
    : sc_core::sc_module(name), target("from_unit"), socket("socket"), control_(control), instance_(instance.name),
      protocol_(cnnvp_instance_value_or(&instance, "protocol", 0) != 0 ? protocol::at : protocol::lt),
      plain_bytes_(std::min<uint64_t>(cnnvp_instance_value_or(&instance, "burst_bytes", UINT64_MAX), plain_bytes)),
      is_device_(cnnvp_instance_value_or(&instance, "role", 0) == 1), back_(back),
      due_("due", this, &memory_port::on_due)
{
    target.register_nb_transport_fw(this, &memory_port::from_unit);
    target.register_b_transport(this, &memory_port::access);
    target.register_transport_dbg(this, &memory_port::debug);
    target.register_get_direct_mem_ptr(this, &memory_port::direct);
    socket.bind(static_cast<tlm::tlm_bw_transport_if<> &>(*this));

    spawn_method("send", &may_request_, [this] { send_next(); });

    sc_core::sc_spawn_options outside;
    outside.set_stack_size(stack_bytes);
    sc_core::sc_spawn([this] { serve_outside(); }, "access", &outside);
}

memory_port::~memory_port() = default;

bool memory_port::waits() const
{
    return std::any_of(jobs_.begin(), jobs_.end(), [](const auto &one) { return one->under_way && !one->record; });
}

void memory_port::complain(const std::string &text)
{
    if (complaints_ > max_complaints || text == complaint_)
        return;
    complaint_ = text;
    control_.log(CNNVP_LOG_WARNING, basename(),
                 complaints_++ == max_complaints ? "many complaints; further ones are not shown" : text.c_str());
}

/* -- jobs -- */

memory_port::job *memory_port::new_job(tlm::tlm_command command, uint64_t address, const unsigned char *data,
                                       size_t size)
{
    if (idle_jobs_.empty()) {
        jobs_.push_back(std::make_unique<job>(*this));
        idle_jobs_.reserve(jobs_.size());
        idle_jobs_.push_back(jobs_.back().get());
    }
    job *fresh = idle_jobs_.back();
    idle_jobs_.pop_back();
    fresh->acquire();
    fresh->bytes.assign(size, 0);
    if (data && command == tlm::TLM_WRITE_COMMAND)
        std::memcpy(fresh->bytes.data(), data, size);
    fresh->command = command;
    fresh->set_command(command);
    fresh->set_address(address);
    fresh->set_data_ptr(fresh->bytes.data());
    fresh->set_data_length(static_cast<unsigned>(size));
    fresh->set_streaming_width(static_cast<unsigned>(size));
    fresh->set_byte_enable_ptr(nullptr);
    fresh->set_byte_enable_length(0);
    fresh->set_dmi_allowed(false);
    fresh->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (fresh->of)
        *fresh->of = {};
    fresh->asked = nullptr;
    fresh->record = nullptr;
    fresh->finished = fresh->owes_end = false;
    fresh->under_way = true;
    return fresh;
}

/* The last holder has released it. This may be the memory, long after its response. */
void memory_port::free(tlm::tlm_generic_payload *payload)
{
    payload->reset();
    idle_jobs_.push_back(static_cast<job *>(payload));
}

/* For a write whose bytes are already there or do not matter. A memory that ignores byte enables writes the bytes that
 * it holds. */
void memory_port::change_nothing(job &job)
{
    static unsigned char disabled = TLM_BYTE_DISABLED;

    if (refuses_enables_) {
        job.command = tlm::TLM_READ_COMMAND;
        job.set_command(job.command);
        return;
    }
    (void)look(tlm::TLM_READ_COMMAND, job.get_address(), job.bytes.data(), job.get_data_length());
    job.set_byte_enable_ptr(&disabled);
    job.set_byte_enable_length(1);
}

/* Repeats the transaction as a read: see change_nothing. */
void memory_port::ask_again(job *job)
{
    struct job *const fresh = new_job(tlm::TLM_READ_COMMAND, job->get_address(), nullptr, job->bytes.size());

    fresh->asked = job->asked;
    fresh->record = job->record;
    if (fresh->of)
        *fresh->of = *job->of;
    job->under_way = false;
    job->release();
    begin(fresh);
}

void memory_port::begin(job *job)
{
    waiting_.push_back(job);
    if (protocol_ == protocol::at) {
        may_request_.notify();
        return;
    }
    if (!idle_workers_.empty()) {
        idle_workers_.back()->wake.notify();
        idle_workers_.pop_back();
        return;
    }
    workers_.push_back(std::make_unique<worker>());
    worker *fresh = workers_.back().get();
    sc_core::sc_spawn_options options;
    options.set_stack_size(stack_bytes);
    sc_core::sc_spawn([this, fresh] { work(fresh); }, ("transport_" + std::to_string(workers_.size())).c_str(),
                      &options);
}

/* The response has arrived, and its time. */
void memory_port::finish(job *job)
{
    if (job->get_byte_enable_ptr() && job->get_response_status() == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE) {
        complain("the memory takes no byte enables: what is written without data, such as a line of a cache whose "
                 "bytes are there already, is read instead");
        refuses_enables_ = true;
        ask_again(job);
        return;
    }
    job->under_way = false;
    job->finished = true;
    if (job->get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
        complain("the memory left a transaction without a response status");
    if (job->get_command() != job->command || job->get_data_ptr() != job->bytes.data() ||
        job->get_data_length() != job->bytes.size()) {
        complain("the memory changed command, data pointer or length of a transaction, which IEEE 1666-2011, 14.7, "
                 "leaves to the initiator");
        job->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    if (!job->record) {
        job->done.notify(sc_core::SC_ZERO_TIME);
        return; /* the waiting caller releases it */
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    cnnvp_request &request = job->record->request;
    if (job->is_response_ok() && job->is_read() && request.data)
        std::memcpy(request.data, job->bytes.data(), job->bytes.size());
    tlm::tlm_generic_payload &asked = *job->asked;
    request.status = to_status(job->get_response_status());
    asked.get_extension<payload_extension>()->answer(request.status);
    request.first_data = control_.now();
    asked.set_response_status(job->get_response_status());
    job->release();
    target->nb_transport_bw(asked, phase, delay);
}

/* -- from the unit -- */

tlm::tlm_sync_enum memory_port::from_unit(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase, sc_core::sc_time &)
{
    auto *extension = payload.get_extension<payload_extension>();

    if (phase != tlm::BEGIN_REQ || !extension || !extension->record)
        return tlm::TLM_COMPLETED;
    const cnnvp_request &request = extension->record->request;
    const tlm::tlm_command command = request.op == CNNVP_READ ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
    job *job = new_job(command, payload.get_address(), static_cast<const unsigned char *>(request.data),
                       static_cast<size_t>(request.size));
    job->asked = &payload;
    job->record = extension->record;
    if (!request.data && request.op == CNNVP_WRITE)
        change_nothing(*job);
    if (job->of) {
        job->of->initiator = request.initiator;
        job->of->tag = request.tag;
        job->of->outstanding = request.outstanding;
        job->of->flow = request.flow;
    }
    begin(job);
    return tlm::TLM_ACCEPTED;
}

/* An access that is not a request: usually the core's, untimed. Timed accesses and accesses to a device take time. */
void memory_port::access(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    auto *extension = payload.get_extension<payload_extension>();
    const bool untimed = !is_device_ && extension && extension->access && (extension->access->flags & CNNVP_UNTIMED) &&
                         (!back_ || back_->is_memory(*extension->access));

    if (back_ && back_->takes_whole()) {
        extension->answer(cross(*extension->access, delay));
        payload.set_response_status(to_response(extension->status));
        return;
    }
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    if (untimed && debug(payload) == payload.get_data_length()) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    } else if (untimed) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else {
        if (in_thread() && delay != sc_core::SC_ZERO_TIME)
            sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME)); /* it takes effect then */
        const bool good = plain(payload) == payload.get_data_length();
        payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    if (extension)
        extension->answer(payload.is_response_ok() ? int(CNNVP_OK) : int(CNNVP_E_MEMORY));
}

/* Crosses within this call; the time is the delay that the model annotates. */
int memory_port::cross(cnnvp_access &access, sc_core::sc_time &delay)
{
    const bool writes = access.op != CNNVP_READ && access.op != CNNVP_BORROW_READ;
    const bool has_data = access.data && access.op <= CNNVP_COMMAND;
    job *const mine =
        new_job(writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, access.address,
                has_data ? static_cast<const unsigned char *>(access.data) : nullptr, static_cast<size_t>(access.size));
    const auto whole = std::make_shared<crossing>(crossing{&access});

    if (access.size == 0)
        mine->set_command(tlm::TLM_IGNORE_COMMAND);
    describe(*mine->of, access);
    mine->of->whole = whole;
    const sc_dt::uint64 instant = sc_core::sc_delta_count();
    call(*mine, delay);
    if (sc_core::sc_delta_count() != instant)
        control_.finish(basename(), CNNVP_E_FATAL,
                        "the model at the socket has waited within a call that commands, words or tiles cross; it "
                        "annotates the time that it takes");
    whole->access = nullptr;
    const bool good = mine->is_response_ok();
    if (good && has_data && !writes)
        std::memcpy(access.data, mine->bytes.data(), mine->bytes.size());
    if (good && !whole->came_back)
        complain("the model at the socket has answered what it has to pass on to target_socket(\"" + instance_ +
                 "\") within the call");
    const bool answered = whole->came_back && (good || whole->status < CNNVP_OK);
    const int status = answered ? whole->status : good ? int(CNNVP_E_NOSUP) : to_status(mine->get_response_status());
    mine->under_way = false;
    mine->release();
    return status;
}

/* Uses debug transport. */
unsigned memory_port::look(tlm::tlm_command command, uint64_t address, unsigned char *data, unsigned size)
{
    tlm::tlm_generic_payload copy;

    copy.set_command(command);
    copy.set_address(address);
    copy.set_data_ptr(data);
    copy.set_data_length(size);
    copy.set_streaming_width(size);
    copy.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return socket->transport_dbg(copy);
}

unsigned memory_port::debug(tlm::tlm_generic_payload &payload)
{
    const unsigned size = payload.get_data_length();

    if (back_ && back_->takes_whole()) {
        auto *extension = payload.get_extension<payload_extension>();
        extension->answer(back_->pass_on(*extension->access));
        return size;
    }

    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND || size == 0 || socket.size() == 0)
        return 0; /* or not bound yet */
    const unsigned done = look(payload.get_command(), payload.get_address(), payload.get_data_ptr(), size);
    if (done == size || is_device_)
        return done;
    return plain(payload);
}

bool memory_port::direct(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi)
{
    tlm::tlm_generic_payload copy;

    copy.set_command(tlm::TLM_WRITE_COMMAND); /* asks for read and write access */
    copy.set_address(payload.get_address());
    return socket.size() != 0 && socket->get_direct_mem_ptr(copy, dmi) && dmi.is_read_write_allowed() &&
           dmi.get_dmi_ptr() && dmi.get_start_address() <= payload.get_address() &&
           dmi.get_end_address() >= payload.get_address();
}

/* The annotated delay, if it ends within simulated time; otherwise an error response. */
sc_core::sc_time memory_port::annotated(job &job, const sc_core::sc_time &delay)
{
    if (is_within_time(delay))
        return delay;
    complain("the memory annotated a delay of " + delay.to_string() + ", beyond the end of simulated time");
    job.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return sc_core::SC_ZERO_TIME;
}

/* -- lt -- */

void memory_port::call(job &job, sc_core::sc_time &delay)
{
    try {
        socket->b_transport(job, delay);
    } catch (const sc_core::sc_unwind_exception &) {
        throw;
    } catch (const std::exception &problem) {
        complain(std::string("the memory threw: ") + problem.what());
        job.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    delay = annotated(job, delay);
}

void memory_port::transport(job &job)
{
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;

    call(job, delay);
    if (delay != sc_core::SC_ZERO_TIME)
        sc_core::wait(delay);
}

void memory_port::work(worker *self)
{
    for (;;) {
        while (waiting_.empty()) {
            idle_workers_.push_back(self);
            sc_core::wait(self->wake);
        }
        job *mine = waiting_.front();
        waiting_.pop_front();
        transport(*mine);
        control_.pulse(basename());
        finish(mine);
    }
}

/* -- at -- */

void memory_port::send_next()
{
    while (!requesting_ && !waiting_.empty()) {
        job *job = waiting_.front();
        waiting_.pop_front();
        requesting_ = job;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        tlm::tlm_sync_enum answer;
        job->acquire(); /* the target may answer through the backward path before it returns */
        try {
            answer = socket->nb_transport_fw(*job, phase, delay);
        } catch (const std::exception &problem) {
            complain(std::string("the memory threw: ") + problem.what());
            job->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            answer = tlm::TLM_COMPLETED;
        }
        if (answer == tlm::TLM_COMPLETED) {
            due_.notify(*job, tlm::END_RESP, annotated(*job, delay));
        } else if (answer == tlm::TLM_UPDATED) {
            job->owes_end = phase == tlm::BEGIN_RESP;
            due_.notify(*job, phase, annotated(*job, delay));
        }
        job->release();
    }
}

/* Handles a phase that the target announced, at its time. END_RESP here means that the transaction is complete. */
void memory_port::on_due(tlm::tlm_generic_payload &payload, const tlm::tlm_phase &phase)
{
    job *job = job_of(payload);

    control_.pulse(basename());
    if (!job)
        return;
    if (requesting_ == job) {
        requesting_ = nullptr;
        may_request_.notify(sc_core::SC_ZERO_TIME);
    }
    if (phase != tlm::BEGIN_RESP && phase != tlm::END_RESP)
        return;
    if (job->owes_end) {
        tlm::tlm_phase end = tlm::END_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        try {
            socket->nb_transport_fw(*job, end, delay);
        } catch (const std::exception &problem) {
            complain(std::string("the memory threw: ") + problem.what());
        }
    }
    finish(job);
}

memory_port::job *memory_port::job_of(tlm::tlm_generic_payload &payload) const
{
    for (const auto &job : jobs_)
        if (static_cast<tlm::tlm_generic_payload *>(job.get()) == &payload && job->under_way)
            return job.get();
    return nullptr;
}

tlm::tlm_sync_enum memory_port::nb_transport_bw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                                sc_core::sc_time &delay)
{
    job *const mine = job_of(payload);
    if (!mine) {
        complain("the memory called back for a transaction that is not under way");
        return tlm::TLM_COMPLETED;
    }
    if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP)
        return tlm::TLM_ACCEPTED; /* phases of unknown protocols are ignored */
    due_.notify(payload, phase, annotated(*mine, delay));
    return phase == tlm::END_REQ ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
}

void memory_port::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end)
{
    target->invalidate_direct_mem_ptr(start, end);
}

/* -- ordinary transport for accesses that debug transport refused -- */

void memory_port::serve_outside()
{
    for (;;) {
        while (!outside_)
            sc_core::wait(outside_wanted_);
        const auto access = std::move(outside_);
        outside_.reset();
        access->done = plain_pieces(access->command, access->address, access->bytes.data(), access->bytes.size(),
                                    access->whose ? &*access->whose : nullptr);
        access->finished = true;
    }
}

/* Returns the number of bytes moved; 0 if the memory does not answer. */
size_t memory_port::run_outside(const tlm::tlm_generic_payload &payload, const cnnvp_access *whose)
{
    unsigned char *const data = payload.get_data_ptr();
    const auto access = std::make_shared<outside_access>(outside_access{
        payload.get_command(),
        payload.get_address(),
        {data, data + payload.get_data_length()},
        whose ? std::optional(*whose) : std::nullopt});
    outside_ = access;
    outside_wanted_.notify(sc_core::SC_ZERO_TIME);
    for (int step = 0; !access->finished && step < max_steps && sc_core::sc_pending_activity(); ++step)
        advance(sc_core::sc_time_to_pending_activity());
    if (!access->finished) {
        outside_.reset();
        return 0;
    }
    if (access->command == tlm::TLM_READ_COMMAND)
        std::copy_n(access->bytes.begin(), access->done, data);
    return access->done;
}

bool memory_port::plain_piece(tlm::tlm_command command, uint64_t address, unsigned char *data, size_t size,
                              const cnnvp_access *whose)
{
    job *mine = new_job(command, address, data, size);
    if (mine->of && whose)
        describe(*mine->of, *whose);
    if (protocol_ == protocol::lt) {
        transport(*mine);
        mine->under_way = false;
    } else {
        begin(mine);
        while (!mine->finished)
            sc_core::wait(mine->done);
    }
    const bool good = mine->is_response_ok();
    if (good && command == tlm::TLM_READ_COMMAND)
        std::memcpy(data, mine->bytes.data(), size);
    mine->release();
    return good;
}

size_t memory_port::plain_pieces(tlm::tlm_command command, uint64_t address, unsigned char *data, size_t size,
                                 const cnnvp_access *whose)
{
    size_t done = 0;
    while (done < size) {
        const size_t piece = std::min(size - done, plain_bytes_ - (address + done) % plain_bytes_);
        if (!plain_piece(command, address + done, data + done, piece, whose))
            break;
        done += piece;
    }
    return done;
}

/* Returns the number of bytes moved; 0 in a method, which cannot wait for a memory. */
unsigned memory_port::plain(tlm::tlm_generic_payload &payload)
{
    const auto *const extension = payload.get_extension<payload_extension>();
    const cnnvp_access *const whose = extension ? extension->access : nullptr;
    size_t done = 0;
    if (in_thread())
        done = plain_pieces(payload.get_command(), payload.get_address(), payload.get_data_ptr(),
                            payload.get_data_length(), whose);
    else if (sc_core::sc_get_status() == sc_core::SC_PAUSED || sc_core::sc_get_status() == sc_core::SC_STOPPED)
        done = run_outside(payload, whose);
    return static_cast<unsigned>(done);
}

} // namespace cnnvp
