/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp for SystemC programs: the platform as a module of a design, with the design's own models behind its ports.
 *
 *     int sc_main(int, char *[])
 *     {
 *         ...                                          // config and network, see cnnvp.h and cnnvp_network.h
 *         my_modules before("before");
 *         cnnvp::platform platform("platform", config);
 *         my_memory memory("memory");                  // if the configuration says `memory: external`
 *         platform.initiator_socket("dram").bind(memory.socket);
 *         if (cnnvp_network_load(network, platform.handle(), &error) != CNNVP_DONE) ...
 *         sc_core::sc_start();
 *         cnnvp_run_result result = platform.result(); // then cnnvp_network_output, cnnvp_platform_stats
 *     }
 *
 * The program owns the simulation: its clocks and modules run beside the platform, and it controls report handler,
 * quantum, sc_pause and sc_stop. Outputs, statistics and traces are those of the cnnvp command, whatever else is
 * simulated.
 *
 * Ports to the outside are units of model `external`: base protocol, bus width 32 bits (class width adapts others).
 * Addresses at a socket start at its parameter `offset`, 0. `cnnvp models external` lists the parameters.
 * - `memory: external` in a platform file (or dram.model=external): the off-chip memory. The transactions at its socket
 *   are reads and writes of 1 to burst_bytes contiguous bytes, without extensions. A write that only takes time has all
 *   bytes disabled: a write-back from the core's cache, whose bytes are in memory since the instruction, and every
 *   write with timing_only, where read data are not used. There are no other byte enables; a target that refuses them
 *   gets reads instead. The target may wait, annotate delays, refuse direct memory, invalidate it at any time, refuse
 *   debug transport and answer with errors. An error ends the transfer; the guest sees it in the ERROR registers of the
 *   instruction element.
 * - `timer: {model: external, role: device, at: 0x20000000, size: 4KiB, irq: 9}`: a peripheral on the bus. Each access
 *   by the core is one transaction (b_transport, or nb_transport with `protocol: at`) at the time of the instruction.
 *   The core stalls for the time that the target waits and annotates, up to the next clock edge. An error response is
 *   an access fault. Only debuggers use debug transport.
 * - `master: {model: external, role: link, connect: {inward: bus}}`: the entry of a bus master at
 *   target_socket("master"). Addresses are those of the bus. A read or write of memory is queued with the requests of
 *   the units and takes its time there; an access of a register takes effect at once. Supported: any length, byte
 *   enables, streaming, annotated delays (which elapse first), and direct memory with dmi=on, which is invalidated if a
 *   memory of the program invalidates it. A violation of the standard is answered with an error and reported.
 * - `noc: {model: external, role: link, connect: {inward: dram}}`, and `dma: {connect: {mem: noc}}`: a link between two
 *   units leads out at initiator_socket("noc"), as a memory's does, through the program's network, cache or arbiter,
 *   and back in at target_socket("noc"). A payload extension says which layer the transfer belongs to: a model that
 *   forwards the payload, or a copy with its extensions, keeps the statistics of layers right.
 * - `noc: {model: external, role: link, connect: {inward: pe_array}}`, and `instruction: {connect: {array: noc}}`: a
 *   link for commands, words of a buffer, tiles of the multi-function module, and registers. Each is one b_transport. A
 *   command or a tile is a write of its structure (cnnvp_command.h, cnnvp_tile.h). Words are read and written at their
 *   buffer addresses; words that a unit writes in place after the call cross as zeros. The results of a calculation
 *   cross as one write of struct cnnvp_update (cnnvp_command.h), however many there are; a model whose time depends on
 *   the length finds the number of words in it. The model forwards the payload, or a copy with its extensions, within
 *   the call and annotates its delay; waiting there ends the run. The delay of a command to a PE array is the stall
 *   cause `instruction` of its layer. Completions do not cross a link, as they are only events.
 * - Interrupts are levels. With `irq: 9`, irq_in(name) of any of these units is source 9 of the interrupt controller.
 *   The interrupt of a unit that is connected to it (`uart: {irq: null, connect: {irq: noc}}`) leads out at
 *   irq_out(name).
 * Training has no console (cnnvp_train.h), which steps a platform of its own: sc_start trains to the end, then
 * cnnvp_trainer_export writes the network. If a memory gives no direct memory, the core's loads and stores of it count
 * as device accesses. A core whose platform has such ports does not run ahead of pending events of the simulation;
 * without such ports, other modules' pending events do not limit it.
 */
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "cnnvp.h"

#pragma GCC visibility push(default)
namespace cnnvp {

using memory_socket = tlm::tlm_initiator_socket<>;
using guest_socket = tlm::tlm_target_socket<>;
using irq_port = sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
using line_port = sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

/*
 * Construct it before the first sc_start, in any order with other modules, at the top or below another module. A design
 * may have several. It is destroyed like any module after its simulation, and then writes the rest of a trace; if no
 * simulation has started, it writes nothing. All calls come from one thread, as everywhere in cnnvp.h.
 */
class platform : public sc_core::sc_module {
public:
    /* `config` is resolved and stays the caller's. `options` as for cnnvp_platform_new, except max_time_ps, which is
     * ignored: the program controls the kernel's time. Throws std::runtime_error with the error of cnnvp_platform_new,
     * after the first sc_start, or if the time resolution is not 1 ps. */
    platform(const sc_core::sc_module_name &name, const cnnvp_config *config,
             const cnnvp_platform_options *options = nullptr);
    ~platform() override;

    /* The handle for the platform functions of cnnvp.h and cnnvp_network.h. Load programs and access memory before
     * sc_start, between two calls of it, or from the program's processes; during the simulation the core may be up to a
     * microsecond ahead. A program loaded before the first sc_start starts at time 0, a later one at once; each
     * platform runs one program. cnnvp_platform_run and cnnvp_platform_free are refused: sc_start runs the platform. */
    cnnvp_platform *handle() const { return handle_; }
    /* Notified when the program has ended or the platform cannot continue, after the platform's last activity at that
     * time. Statistics end there, even if they are read later. */
    const sc_core::sc_event &done_event() const;
    /* How the run ended. Before the end: CNNVP_END_MAX_TIME, the current time, and what the units wait for. */
    cnnvp_run_result result() const;

    /* The socket of the external unit `instance`; throws std::runtime_error if there is none. Bind it before a program
     * is loaded, since loading uses direct memory or debug transport, and before sc_start, which otherwise ends with
     * SystemC error E109. */
    memory_socket &initiator_socket(const std::string &instance);
    /* The socket at which a link comes back, or at which a bus master enters; as above. */
    guest_socket &target_socket(const std::string &instance);

    /* The interrupt input of the external unit `instance`, to be bound to a signal; level-sensitive. Throws
     * std::runtime_error if the configuration does not connect it. May stay unbound, which means low. */
    irq_port &irq_in(const std::string &instance);
    /* The interrupt output of units that are connected to the external unit `instance`. May stay unbound. */
    line_port &irq_out(const std::string &instance);

    class design; /* internal */

protected:
    design &parts() const;

private:
    cnnvp_platform *handle_ = nullptr;
};

/*
 * The accelerator alone, without core, interrupt controller and software, for a design with its own core, bus and
 * memory.
 *
 *     cnnvp::accelerator npu("npu", config);      // any configuration that networks run on, such as the preset nfu
 *     bus.to_npu.bind(npu.regs);                  // the first register has address 0
 *     npu.mem[0].bind(bus.from_npu);              // addresses are those of instructions; see dram.offset
 *     npu.irq.bind(line);                         // a level
 *
 * With dram.model=external, the parameter dram.offset is added to addresses at the memory's socket. `cnnvp compile`
 * writes the data that the program's core reads, and the runtime (share/cnnvp/guest/cnnvp_runtime.h) drives the
 * accelerator. Units behave, transfer and count as they do in the platform.
 */
class accelerator : public platform {
public:
    /* As platform. Also throws std::runtime_error if no unit of the configuration takes commands. */
    accelerator(const sc_core::sc_module_name &name, const cnnvp_config *config,
                const cnnvp_platform_options *options = nullptr);
    ~accelerator() override;

    /* Registers; address 0 is the lowest register address of the configuration. With one accelerator they are its
     * instruction element's. An access takes effect when its annotated delay has elapsed. Addresses without a register
     * get an error response. */
    tlm_utils::simple_target_socket<accelerator> regs;
    /* Off-chip memories in the configuration's order. The transactions are those of `memory: external`.
     * platform::initiator_socket finds a memory by name. */
    struct {
        std::vector<memory_socket *> sockets;
        /* Throws std::out_of_range. */
        memory_socket &operator[](size_t index) const
        {
            if (index >= sockets.size())
                throw std::out_of_range(
                    "mem[" + std::to_string(index) + "]: there are " + std::to_string(sockets.size()));
            return *sockets[index];
        }
        size_t size() const { return sockets.size(); }
    } mem;
    /* High while any unit requests an interrupt. */
    sc_core::sc_out<bool> irq;
    /* Both may stay unbound. clk must be the units' clock, an sc_clock of their frequency that starts at time 0; rising
     * edges count. Any change of rst resets all units, also while they work. */
    irq_port clk, rst;

protected:
    void end_of_elaboration() override;

private:
    int lines_ = 0; /* number of lines that are high */
    sc_core::sc_event irq_changes_;

    void check_clock() const;
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(tlm::tlm_generic_payload &payload);
};

/*
 * Adapter between the platform's 32-bit sockets and sockets of another width. Transactions pass unchanged, since the
 * base protocol counts in bytes.
 * cnnvp::width<64, 32> width("width");   bus.to_npu.bind(width.in);   width.out.bind(npu.regs);
 */
template <unsigned FROM, unsigned TO>
class width : public sc_core::sc_module, private tlm::tlm_fw_transport_if<>, private tlm::tlm_bw_transport_if<> {
public:
    tlm::tlm_target_socket<FROM> in{"in"};
    tlm::tlm_initiator_socket<TO> out{"out"};

    explicit width(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        in.bind(static_cast<tlm::tlm_fw_transport_if<> &>(*this));
        out.bind(static_cast<tlm::tlm_bw_transport_if<> &>(*this));
    }

private:
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) override
    {
        out->b_transport(payload, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay) override
    {
        return out->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload &payload, tlm::tlm_phase &phase,
                                       sc_core::sc_time &delay) override
    {
        return in->nb_transport_bw(payload, phase, delay);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi) override
    {
        return out->get_direct_mem_ptr(payload, dmi);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload &payload) override { return out->transport_dbg(payload); }
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override
    {
        in->invalidate_direct_mem_ptr(start, end);
    }
};

/*
 * External memories for programs without a simulation of their own: cnnvp_platform_new with memories. The modules
 * belong to the platform's simulation context, so `bind` must construct them. The pointer that it returns must own
 * them; it is kept until cnnvp_platform_free, or until platform_new fails. The program may keep the pointer longer, to
 * read what its modules have counted. They do not run then; they may be destroyed at any time, but not after main. The
 * program has its own main(); no sc_main is needed.
 */

/* Called once for each external unit, with the name of its instance ("dram"). Must bind the socket. If it throws, the
 * platform is not built, and the exception's text is the error. */
using bind_memory = std::function<std::shared_ptr<void>(const char *instance, memory_socket &socket)>;

/* Like cnnvp_platform_new, with external memories. Also returns BAD_INPUT if a socket was left unbound, or if `bind` is
 * given and the platform has no external memory. */
CNNVP_MUST_USE cnnvp_result platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                         const bind_memory &bind, cnnvp_platform **platform, cnnvp_error *error);

} // namespace cnnvp
#pragma GCC visibility pop
