/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp for SystemC programs: the platform as a module among their own, and their own models behind its ports.
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
 * The simulation is the program's: its clocks and modules run beside the platform, its report handler, quantum,
 * sc_pause and sc_stop are its own. Outputs, statistics and traces are those of the cnnvp command, whatever else is
 * simulated.
 *
 * Ports that lead outside are units of model `external`, base protocol, 32 bits of bus width (`width` for others);
 * addresses at a socket begin at its parameter `offset`, 0. `cnnvp models external` lists the parameters.
 * - `memory: external` in a platform file (or dram.model=external): the off-chip memory. What crosses its socket: reads
 *   and writes of 1 to burst_bytes bytes, contiguous, without extensions. Of a write that takes time alone all bytes
 * are disabled: a line of the core's cache (its bytes are there since the instruction), and all writes with
 * timing_only, where read data are not used. There are no other byte enables, and a target that refuses them gets reads
 * instead. The target may wait, annotate delays, refuse direct memory, withdraw it at any time, refuse debug transport
 * and answer with errors; an error ends the transfer, and the guest sees it in the instruction element's ERROR
 * registers.
 * - `timer: {model: external, role: device, at: 0x20000000, size: 4KiB, irq: 9}`: a peripheral on the bus. Each of the
 *   core's accesses is one transaction (b_transport, or nb_transport with `protocol: at`) at the instant of the
 *   instruction; the core stands still for what the target waits and annotates, to the next clock edge. An error
 *   response is an access fault. Debug transport serves debuggers alone.
 * - `master: {model: external, role: link, connect: {inward: bus}}`: the way in of a bus master,
 * target_socket("master"). Addresses are those of the bus. A read or write of memory is a request among those of the
 * units, and takes what it takes there; one of a register has its effects at once. Any length; byte enables, streaming,
 * annotated delays, which pass first; direct memory with dmi=on, which is withdrawn if a memory of the program's
 * withdraws it. What breaks the standard is answered with an error and named.
 * - `noc: {model: external, role: link, connect: {inward: dram}}`, and `dma: {connect: {mem: noc}}`: a link between two
 *   units of the platform leads out at initiator_socket("noc"), as a memory's, and comes back at target_socket("noc"),
 *   from the program's network, cache or arbiter. An extension beside the payload says whose work it is: whatever hands
 *   on the payload, or a copy with its extensions, keeps statistics of layers right.
 * - `noc: {model: external, role: link, connect: {inward: pe_array}}`, and `instruction: {connect: {array: noc}}`: the
 *   same for commands, for words of a buffer, for tiles of the multi-function module, and for registers. Each is one
 *   b_transport: a command or a tile is a write of its structure (cnnvp_command.h, cnnvp_tile.h), words are read and
 *   written at their addresses in the buffer (what a unit writes there in place, after the call, crosses as zeros).
 * What a calculation leaves in a buffer crosses as one write of struct cnnvp_update (cnnvp_command.h), whatever its
 * length: a model that takes time by the byte finds the words in it. The model hands on the payload, or a copy with its
 *   extensions, within the call, and annotates what time it takes; one that waits there ends the run. A command's time
 * on its way to a PE array is its layer's stall cause `instruction`. Completions cross no link: they are moments; a
 * unit's commands and memory do.
 * - Interrupts are levels: `irq: 9` of any of these comes in at irq_in(name), source 9 of the controller; what a unit
 *   connects to its instance (`uart: {irq: null, connect: {irq: noc}}`) leads out at irq_out(name).
 * Training: without the console of cnnvp_train.h, which steps a platform of its own; sc_start trains to the end, and
 * cnnvp_trainer_export comes after it. A core's loads and stores of a memory that gives no direct memory are counted as
 * those of devices.
 * A core whose platform has such ports runs no further ahead than anything is pending in the simulation; without them
 * what others have pending does not hold it up.
 */
#ifndef CNNVP_SYSTEMC_H
#define CNNVP_SYSTEMC_H

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
 * Made before the first sc_start, before or after other modules, below a module or not; several in one design. It ends,
 * as other modules, when its simulation is over, and then writes what of a trace is still to be written; one that ends
 * before the first sc_start does nothing there. One thread, as everywhere in cnnvp.h.
 */
class platform : public sc_core::sc_module {
public:
    /* `config` is resolved, and stays the caller's; options as of cnnvp_platform_new (max_time_ps and the kernel's time
     * are the program's affair: it is ignored). Throws std::runtime_error, with the error of cnnvp_platform_new, after
     * the first sc_start, and where the time resolution is not 1 ps. */
    platform(const sc_core::sc_module_name &name, const cnnvp_config *config,
             const cnnvp_platform_options *options = nullptr);
    ~platform() override;

    /* For what cnnvp.h and cnnvp_network.h do with a platform. Programs are loaded, and memory is read and written,
     * before sc_start, between two of them, and from the program's processes; what reads in mid-run may find the core
     * up to a microsecond ahead. A program that is loaded before the first sc_start begins at time 0, another one at
     * once; one for each platform. cnnvp_platform_run is refused (sc_start runs it), and so is cnnvp_platform_free. */
    cnnvp_platform *handle() const { return handle_; }
    /* The program has ended, or the platform cannot go on; notified after the last of its activity in that instant.
     * Statistics end there, also if they are asked for later. */
    const sc_core::sc_event &done_event() const;
    /* How it ended. As long as it has not: CNNVP_END_MAX_TIME, the present time, and what its units wait for. */
    cnnvp_run_result result() const;

    /* The socket of the external unit of that name; throws std::runtime_error where there is none. Bound before a
     * program is loaded, which goes through it by direct memory or debug transport, and before sc_start, where SystemC
     * ends with E109 if it is not. */
    memory_socket &initiator_socket(const std::string &instance);
    /* Likewise where a link comes back, or a bus master in. */
    guest_socket &target_socket(const std::string &instance);

    /* The interrupt of the external unit of that name, for a signal of the program's; a level. Throws where the
     * configuration connects none. May stay unbound: low. */
    irq_port &irq_in(const std::string &instance);
    /* The interrupt of units that are connected to the external unit of that name. May stay unbound. */
    line_port &irq_out(const std::string &instance);

    class design; /* of our own */

protected:
    design &parts() const;

private:
    cnnvp_platform *handle_ = nullptr;
};

/*
 * What of a platform is accelerator, for a design with a core, a bus and memory of its own: without core, interrupt
 * controller and software.
 *
 *     cnnvp::accelerator npu("npu", config);      // any configuration that networks run on, such as the preset nfu
 *     bus.to_npu.bind(npu.regs);                  // the first register has address 0
 *     npu.mem[0].bind(bus.from_npu);              // addresses are those of instructions; see dram.offset
 *     npu.irq.bind(line);                         // a level
 *
 * With dram.model=external the parameter dram.offset is added to addresses at its socket.
 * `cnnvp compile` makes what its core reads, and the runtime (share/cnnvp/guest/cnnvp_runtime.h) drives it. What units
 * do, move and count is what they do in the platform.
 */
class accelerator : public platform {
public:
    /* As platform. Throws std::runtime_error, too, where no unit of the configuration takes commands. */
    accelerator(const sc_core::sc_module_name &name, const cnnvp_config *config,
                const cnnvp_platform_options *options = nullptr);
    ~accelerator() override;

    /* Registers, from the lowest address of the configuration's on: of one accelerator its instruction element. An
     * access takes place when its annotated delay is over. What no register takes is answered with an error. */
    tlm_utils::simple_target_socket<accelerator> regs;
    /* Off-chip memories, in the configuration's order; what crosses a socket is what crosses that of `memory:
     * external`. platform::initiator_socket finds one by its name. */
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
    /* High while any unit asks for an interrupt. */
    sc_core::sc_out<bool> irq;
    /* May stay unbound. A clock here is that of the units, whose edges are its rising ones: an sc_clock of their
     * frequency that begins at 0. A change of rst resets all units, also in mid-work. */
    irq_port clk, rst;

protected:
    void end_of_elaboration() override;

private:
    int lines_ = 0; /* that are high */
    sc_core::sc_event irq_changes_;

    void check_clock() const;
    void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
    unsigned transport_dbg(tlm::tlm_generic_payload &payload);
};

/*
 * Between sockets of other widths than 32 bits and the platform's. What crosses is the same, since the base protocol
 * says all in bytes. cnnvp::width<64, 32> width("width");   bus.to_npu.bind(width.in);   width.out.bind(npu.regs);
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
 * The same for programs that have no simulation of their own: as cnnvp_platform_new, with memories. Modules that are to
 * run with the platform belong to its own simulation context: they are constructed inside the function. What it returns
 * must own them, and is kept until cnnvp_platform_free, or until platform_new fails. The program may keep it for
 * longer, to read what its modules have counted: they stand still then, and may end at any time, but not after main.
 * The program has a main() of its own; no sc_main is needed.
 */

/* Called once for each external unit with the name of its instance ("dram"); leaves the socket bound. May throw: the
 * platform is then not built, and the exception's text is the error. */
using bind_memory = std::function<std::shared_ptr<void>(const char *instance, memory_socket &socket)>;

/* cnnvp_platform_new with a memory. DONE, BAD_INPUT or FAILED as there; BAD_INPUT too where the socket was left
 * unbound, and where `bind` is given and the platform has no external memory. */
CNNVP_MUST_USE cnnvp_result platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                         const bind_memory &bind, cnnvp_platform **platform, cnnvp_error *error);

} // namespace cnnvp
#pragma GCC visibility pop

#endif
