/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp for SystemC programs: one's own memory behind the platform's off-chip port.
 *
 * With `memory: external` in a platform file (or dram.model=external) the off-chip memory is a TLM-2.0 initiator
 * socket, base protocol, 32 bits of bus width. A C++ program binds a target to it while the platform is built:
 *
 *     struct my_memory : sc_core::sc_module { tlm_utils::simple_target_socket<my_memory> socket; ... };
 *
 *     cnnvp::bind_memory bind = [](const char *, cnnvp::memory_socket &socket) {
 *         auto memory = std::make_shared<my_memory>("my_memory");
 *         socket.bind(memory->socket);
 *         return memory;
 *     };
 *     cnnvp_result result = cnnvp::platform_new(config, &options, bind, &platform, &error);
 *
 * and then loads, runs and frees the platform through cnnvp.h. Addresses at the socket begin at 0. `cnnvp models
 * external` lists the parameters: lt or at, burst length, bursts in flight, who keeps the data.
 * What crosses the socket: reads and writes of 1 to burst_bytes bytes, contiguous, without byte enables or extensions.
 * The target may wait, annotate delays, refuse direct memory, refuse debug transport and answer with errors; an error
 * ends the transfer, and the guest sees it in the instruction element's ERROR registers. With timing_only, written data
 * are zeros and read data are not used.
 *
 * Modules belong to the platform's own simulation context: construct them inside the function. Where modules exist
 * before, platform_new refuses (FAILED): they would not run. What the function returns must own them, and is kept until
 * cnnvp_platform_free, or until platform_new fails. The program may keep it for longer, to read what its modules have
 * counted: they stand still then, and may end at any time, but not after main. The program has a main() of its own; no
 * sc_main is needed.
 */
#ifndef CNNVP_SYSTEMC_H
#define CNNVP_SYSTEMC_H

#include <functional>
#include <memory>

#include <systemc>
#include <tlm>

#include "cnnvp.h"

#pragma GCC visibility push(default)
namespace cnnvp {

using memory_socket = tlm::tlm_initiator_socket<>;

/* Called once for each external memory with the name of its instance ("dram"); leaves the socket bound. May throw: the
 * platform is then not built, and the exception's text is the error. */
using bind_memory = std::function<std::shared_ptr<void>(const char *instance, memory_socket &socket)>;

/* cnnvp_platform_new with a memory. DONE, BAD_INPUT or FAILED as there; BAD_INPUT too where the socket was left
 * unbound, and where `bind` is given and the platform has no external memory. */
CNNVP_MUST_USE cnnvp_result platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                         const bind_memory &bind, cnnvp_platform **platform, cnnvp_error *error);

} // namespace cnnvp
#pragma GCC visibility pop

#endif
