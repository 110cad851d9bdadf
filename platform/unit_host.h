/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts one instance of a unit (struct cnnvp_unit) in SystemC: owns its state, connects its ports to TLM-2.0 sockets,
 * and implements struct cnnvp_host_ops as documented in cnnvp_model.h.
 *
 * Mapping
 * - access: b_transport (transport_dbg with CNNVP_DEBUG). An access with CNNVP_UNTIMED bypasses the sockets and goes
 *   directly to the hosted unit behind the bus, as direct memory does; this keeps the core's stores cheap.
 * - request: nb_transport BEGIN_REQ / END_REQ; its completion is BEGIN_RESP answered TLM_COMPLETED. dmi:
 *   get_direct_mem_ptr. Each outgoing port has one initiator socket; each connection that arrives at a target port has
 *   its own target socket.
 * - events: one sc_event and SC_METHOD each, or an SC_THREAD if the unit's work may lead to a third-party b_transport.
 *   process: one SC_THREAD. Interrupt lines: direct calls with levels.
 * - reach: the process runs ahead of the kernel (run_control) while nothing is pending until the wanted time. No other
 *   process runs meanwhile, so all units see its time. Anything that returns to the kernel ends this.
 * - Completions that a unit announces are delivered at the same time, after its callback has returned (in `process`: at
 *   its next blocking call or access), so that a target is never re-entered in the middle of its own work.
 *
 * Exceptions. SystemC ends threads by throwing through them, and third-party TLM models may throw. No exception may
 * cross a C frame, so each call into C opens a `frame`. A host function called from C catches the exception, stores it
 * in the innermost frame and returns CNNVP_E_STOPPED. When C has returned, the frame rethrows it. Each call into the
 * unit has its own frame, so an access that arrives while the process is suspended does not share one with it.
 *
 * A SystemC process that the unit itself created calls the host outside of the unit's callbacks. It has no C frame, so
 * exceptions propagate into it. While it is suspended outside of the platform, its frame is set aside.
 */
#pragma once

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "bus.h"
#include "payload.h"
#include "registers.h"
#include "results.h"
#include "run_control.h"
extern "C" {
#include "config.h"
#include "running.h"
}

/* The opaque type of the model ABI. */
struct cnnvp_host {};

namespace cnnvp {

class unit_host final : public sc_core::sc_module, public cnnvp_host {
public:
    using initiator_socket = tlm_utils::simple_initiator_socket_tagged<unit_host>;
    using target_socket = tlm_utils::simple_target_socket_tagged<unit_host>;

    /* `incoming`: the target port of each arriving connection; each has its own socket. */
    unit_host(const sc_core::sc_module_name &name, run_control &control, const cnnvp_instance &instance,
              const std::vector<uint32_t> &incoming);
    ~unit_host() override;

    /* -- elaboration -- */
    /* Calls the unit's init. On failure `message` has the reason and `param` the parameter (UINT32_MAX: the
     * instance). */
    int init(std::string *message, uint32_t *param);
    initiator_socket &initiator(uint32_t port) { return *ports_[port].socket; }
    target_socket &target(uint32_t socket) { return *targets_[socket]; }
    /* set_link: `base` is subtracted from addresses that leave through `port`, and `size` bounds them (0: neither). */
    void set_clock(uint64_t mhz) { clock_mhz_ = mhz; }
    void set_link(uint32_t port, uint32_t target_instance, uint64_t base, uint64_t size);
    void set_target(uint32_t port, unit_host &target, uint32_t target_port);
    /* True if accesses to this external instance cross a third-party model as a whole, because they go on to a unit
     * that is not a memory. */
    bool crosses_whole() const { return crosses_whole_; }
    /* `port` leads outside through `link`, and back in at its end. */
    void set_through(uint32_t port, unit_host &link) { ports_[port].through = &link; }
    /* The sender of its commands does not count their cycles (CNNVP_PORT_COUNTED), so this unit has to. */
    void set_counted() { counted_ = true; }
    /* `port` is bound to the bus. */
    void set_bus(uint32_t port, bus &bus) { ports_[port].way = &bus; }
    void connect_irq(uint32_t port, unit_host &target, uint32_t target_port, uint32_t line);
    /* Reports levels of this port to the outside, if it is an interrupt output without another target, or an input that
     * leads outside. */
    void lead_out(uint32_t port, const std::function<void(int)> &change);
    /* Sets the level of an interrupt output for a model outside the platform. */
    void raise(uint32_t port, int level);
    /* Passes a third-party transaction on through `port`, from a thread. The second form is a request: it waits for the
     * end, and counts as work of `of` if that is not null. */
    int pass(uint32_t port, cnnvp_access &access);
    int pass(uint32_t port, const cnnvp_access &access, uint32_t outstanding, const origin *of);
    /* True if the memory behind `port` takes requests and has the bytes. */
    bool leads_to_memory(uint32_t port, uint64_t first, uint64_t last);
    bool is_memory() const;
    /* is_external: stands for a third-party model. leads_out: accesses leave to that model. */
    bool is_external() const { return is_external_; }
    bool leads_out() const { return leads_out_; }
    bool direct(uint32_t port, uint64_t address, tlm::tlm_dmi &dmi);
    /* `withdraw` is called when direct memory of `port` is withdrawn, with its first and last address. */
    void at_withdrawal(uint32_t port, const std::function<void(uint64_t, uint64_t)> &withdraw)
    {
        ports_[port].withdraw = withdraw;
    }

    /* -- life -- */
    /* Call it in the evaluation phase, or before the first run. Resets registers, then the unit. Interrupt outputs
     * drop, and input levels are announced again. Requests that the unit holds are answered CNNVP_E_STOPPED; its own
     * are dropped. */
    void reset();
    /* Starts the process of a unit that has been reset. */
    void start();
    /* Drops this unit's requests under way. Part of reset, and the first step when several units are reset. */
    void abandon_outgoing();
    /* Call it in the evaluation phase: ends the process and the event processes for good. */
    void kill();
    void flush();

    const cnnvp_instance &instance() const { return instance_; }
    void *self() { return state_.get(); }
    /* Describes what the instance waits for; "" if for nothing. */
    std::string waiting_for() const;
    /* Call it at the end of a run: warns once about a unit that was busy for longer than it counts for layers. */
    void check_counted();
    /* Wakes the process, as the unit's own call does. */
    void wake();
    /* True for a unit that runs programs. */
    bool is_core() const { return is_core_; }
    /* Its process has returned, and begins again only after a reset. */
    bool has_ended() const { return process_state_ == process_state::finished; }

    /* -- for a debugger, without side effects -- */
    /* A register by its index in the unit's table. */
    uint32_t peek(uint32_t reg);
    /* Reads bytes at a target port, at an address of its protocol. */
    bool look(uint32_t port, uint64_t address, void *data, size_t size);
    /* The unit's own description of its state, in lines; "" if none. */
    std::string show();

private:
    friend struct host_ops; /* the functions of struct cnnvp_host_ops */

    enum class call { init, reset, fini, entry, process, own };
    struct frame {
        call kind;
        struct cnnvp_running who;
        frame *outer;
        const cnnvp_access *serving; /* the access that this call serves */
        std::exception_ptr caught;
    };
    struct irq_link {
        unit_host *target;
        uint32_t port;
        uint32_t line;
    };
    struct port_state {
        std::unique_ptr<initiator_socket> socket;
        bool connected = false;
        uint32_t link = UINT32_MAX; /* number at the recorder; links out of the platform have none */
        uint64_t base = 0;
        uint64_t size = 0;
        bus *way = nullptr; /* the bus, if the port is bound to it */
        int level = 0;      /* IRQ_OUT */
        std::vector<irq_link> irq_links;
        std::function<void(int)> outside; /* IRQ_OUT, IRQ_IN */
        unit_host *target = nullptr;      /* the unit that the port leads to, if any */
        uint32_t target_port = 0;
        unit_host *through = nullptr; /* the link to the outside on the way, if any */
        bool has_direct = false;      /* the unit has got direct memory there */
        std::function<void(uint64_t, uint64_t)> withdraw;
        std::vector<uint32_t> drivers; /* for IRQ_IN: number of high outputs on each line */
    };
    struct event_state {
        sc_core::sc_event due;
        cnnvp_path_node *path = nullptr; /* cause of the event, while it is pending */
        cnnvp_time at = CNNVP_TIME_NEVER;
    };
    struct answer {
        cnnvp_time at;
        request_record *record;
    };
    enum class process_state { none, not_started, running, waiting, sleeping, settling, finished };
    struct free_deleter {
        void operator()(void *memory) const { std::free(memory); }
    };

    run_control &control_;
    const cnnvp_instance &instance_;
    const cnnvp_unit &unit_;
    std::unique_ptr<void, free_deleter> state_;
    std::vector<port_state> ports_;
    std::vector<uint32_t> target_ports_;
    std::vector<std::unique_ptr<target_socket>> targets_;
    std::vector<std::unique_ptr<event_state>> events_;
    std::unique_ptr<register_file> registers_;
    std::unique_ptr<unit_results> results_; /* exists once the unit has had a calculation command, if results are
                                             * compared */
    bool is_core_ = false;
    bool is_external_ = false, leads_out_ = false, crosses_whole_ = false;
    bool is_out_ = false;                           /* a thread's access is outside and has not come back */
    cnnvp_time came_back_at_ = 0, answered_at_ = 0; /* delays of the last access that crossed as a whole */
    sc_core::sc_event came_back_;
    frame *current_ = nullptr;
    struct own_process;
    static own_process *own_at_work_;
    /* Refused calls, so that each kind is reported once. */
    struct refusal {
        const char *function, *callback, *why;
    };
    std::vector<refusal> refusals_;
    bool initialised_ = false;
    cnnvp_init init_{};

    sc_core::sc_process_handle process_;
    sc_core::sc_event process_start_;
    sc_core::sc_event never_; /* never notified */
    sc_core::sc_event wake_event_;
    bool woken_ = false;
    process_state process_state_ = process_state::none;
    cnnvp_time wait_until_ = 0;
    cnnvp_path_node *woken_by_ = nullptr;       /* moment that woke the process, while it sleeps */
    cnnvp_path_node *asleep_ = nullptr;         /* moment at which it fell asleep, if only a debugger has woken it
                                                 * since */
    cnnvp_path_node *outside_moment_ = nullptr; /* end of the last access that left the platform */
    std::vector<cnnvp_path_node *> slots_;
    bool peeked_ = false;             /* registers are read by a debugger or the like, which is not a wait */
    cnnvp_path_here followed_from_{}; /* previous cause, while a callback follows a slot */
    bool follows_ = false;
    cnnvp_time process_due_ = CNNVP_TIME_NEVER;  /* time at which it continues, as far as known */
    cnnvp_time answered_due_ = CNNVP_TIME_NEVER; /* due time of the first entry of `answered_` */
    cnnvp_time command_end_ = 0;                 /* end of the commands answered at once; kept if costs are compared */
    uint64_t counted_cycles_ = 0;                /* cycles counted for layers in the current access; kept if costs are
                                                  * compared */
    bool counted_ = false;
    bool hands_on_ = false;    /* it has passed a command on to another unit, which counts it */
    uint64_t busy_cycles_ = 0; /* time spent on commands, if counted_ */
    struct started {
        uint64_t sequence;
        cnnvp_time at;
    };
    std::vector<started> started_; /* commands whose end will be announced, if counted_ */

    request_record *outgoing_ = nullptr; /* list of this unit's requests under way */
    uint64_t outgoing_count_ = 0;
    std::vector<request_record *> held_; /* other units' requests that this unit works on */
    std::vector<request_record *> done_; /* announced as complete; those before done_first_ have been delivered */
    size_t done_first_ = 0;
    /* A command that the unit has accepted, until its completion is announced or its announced end is reached. */
    struct command {
        uint64_t sequence;
        uint32_t opcode, tag;
        cnnvp_time since;
    };
    std::vector<command> owed_;
    command snapshot_{0, 0, 0, 0}; /* the command whose known end is the latest, and that end: */
    cnnvp_time latest_end_ = 0;
    std::vector<answer> answered_; /* answers of third-party targets that are due later */
    sc_core::sc_event answered_event_;
    bool draining_ = false;

    std::string config_message_;
    uint32_t config_param_ = UINT32_MAX;
    unsigned warnings_ = 0;
    uint64_t clock_mhz_ = 0;

    /* calls into C */
    template <typename Function>
    int enter(call kind, const char *callback, const cnnvp_access *serving, Function &&function);
    template <typename Function>
    int guarded(const char *name, Function &&function);
    template <typename Function>
    int called_apart(const char *name, Function &&function);
    /* The active call into the unit; NULL: another unit or none is active. */
    frame *at_work() const { return current_ && cnnvp_running == &current_->who ? current_ : nullptr; }
    struct aside;
    void note_status(const char *callback, int status);
    /* Refuses a call of the unit: reports it once for each function, callback and `why`, a format that says what would
     * be right. Returns the status. */
    int refuse(int status, const char *function, const char *why, ...) noexcept CNNVP_PRINTF(4, 5);

    /* the process */
    void make_process();
    void process_thread();
    void run_process();
    struct suspended;
    template <typename Function>
    int blocking(const char *name, process_state state, Function &&function) noexcept;
    int wait_for(cnnvp_time duration) noexcept;
    int wait_wake() noexcept;
    int settle() noexcept;
    int reach(cnnvp_time at) noexcept;

    /* the critical path, path/unit_path.cpp */
    void path_enter(cnnvp_path_node *led_to);
    cnnvp_path_node *path_now();
    void path_put(cnnvp_path_node *&place, cnnvp_path_node *node);
    void path_forget();
    void keep(uint32_t slot, uint32_t from, uint32_t tag);
    void join(uint32_t slot, uint32_t other);
    void extend(uint32_t slot, uint32_t tag, cnnvp_time at);
    void follow(uint32_t slot, uint32_t tag);

    /* events */
    void spawn_on(const sc_core::sc_event &event, const std::string &name, const std::function<void()> &work);
    void on_event(uint32_t event);
    int notify(const char *function, uint32_t event, cnnvp_time at); /* CNNVP_TIME_NEVER: cancels it */

    /* interrupt lines */
    void drive(uint32_t port, int level);
    void set_line(uint32_t port, uint32_t line, int level);
    void announce_lines();

    /* transactions that arrive */
    void make_target(uint32_t socket);
    void b_transport(int socket, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(int socket, tlm::tlm_generic_payload &payload);
    bool get_direct_mem_ptr(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
    tlm::tlm_sync_enum nb_transport_fw(int socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay);
    int serve(uint32_t port, cnnvp_access &access);
    bool compares_costs() const;
    void compare_cost(const cnnvp_access &access, cnnvp_time delay);
    bool begin_results(uint32_t port, const cnnvp_access &access);
    void end_results(int status);
    void complete_results(uint32_t port, const cnnvp_access &access);
    uint8_t *borrow(uint32_t port, uint64_t address, uint64_t size);
    void note_command(const cnnvp_access &access, int status, cnnvp_time delay);
    std::string in_words(const command &one) const;
    void note_busy(const cnnvp_access &access, int status, cnnvp_time delay);
    void note_sent(const cnnvp_access &access);
    void count_way(const port_state &port, const cnnvp_access &access, cnnvp_time before);
    /* Warns once for each `why`, a format. Ends the run with --strict or --check-costs, for any unit. */
    void complain(const char *why, ...) CNNVP_PRINTF(2, 3);
    tlm::tlm_sync_enum begin_request(uint32_t socket, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase);
    int complete(cnnvp_request *request);
    void crossed(const cnnvp_request *request, uint64_t bytes);

    /* transactions that leave */
    void make_initiator(uint32_t port);
    tlm::tlm_sync_enum nb_transport_bw(int port, tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay);
    int find_port(const char *function, uint32_t port, port_state **state);
    int refuse_address(const char *function, uint32_t port, uint64_t first, uint64_t last);
    bool translate(const port_state &port, uint64_t first, uint64_t last) const;
    int send(uint32_t port, cnnvp_access &access);
    int carry(port_state &port, cnnvp_access &access);
    void tell_debugger(const cnnvp_request &request) const;
    void count_untimed(const port_state &port, const cnnvp_access &access) const;
    int send_straight(const port_state &port, const bus::unit_port &to, cnnvp_access &access);
    int send_timed(port_state &port, cnnvp_access &access, tlm::tlm_generic_payload &payload,
                   payload_extension &extension);
    int send_debug(port_state &port, cnnvp_access &access, tlm::tlm_generic_payload &payload,
                   payload_extension &extension);
    int send_request(uint32_t port, cnnvp_request &request);
    int issue(uint32_t port, cnnvp_request &request, visit *of);
    int offer(port_state &port, request_record *record);
    void invalidate_direct_mem_ptr(int port, sc_dt::uint64 start, sc_dt::uint64 end);
    int query_dmi(uint32_t port, uint64_t address, cnnvp_dmi &dmi);
    struct path_scope;
    struct outside_call;
    struct turn_outside;
    void answer_at(request_record *record, cnnvp_time at);
    void deliver_answered();
    void deliver(request_record *record);
    void retire(request_record *record);
    void drain();
    void release_held();
    void unlink(request_record *record);
    void abandon(request_record *record);
    void config_error(uint32_t param, const char *text);
    void log(enum cnnvp_log_level level, const char *text);
};

} // namespace cnnvp
