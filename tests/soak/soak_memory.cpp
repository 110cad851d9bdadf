/* SPDX-License-Identifier: Apache-2.0 */
#include "soak_memory.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cnnvp_systemc.h"
#include "memories.h"

namespace {

using memories::approximate;
using memories::loose;
using memories::store;
using memories::style;

std::shared_ptr<store> latest;

std::shared_ptr<store> make_loose(const char *text, cnnvp::memory_socket &socket)
{
    const sc_core::sc_time delay(std::strtod(text, nullptr), sc_core::SC_NS);
    const std::string flags(text, std::strcspn(text, "!"));
    const auto has = [&](char flag) { return flags.find(flag) != std::string::npos; };
    auto made = std::make_shared<loose>("somebodys_memory", delay, has('w'), has('g'), has('d'));
    socket.bind(made->socket);
    return made;
}

std::shared_ptr<store> make_approximate(const char *text, cnnvp::memory_socket &socket)
{
    std::vector<style> styles;
    for (; *text >= '0' && *text <= '5'; ++text)
        styles.push_back(static_cast<style>(*text - '0'));
    auto made = std::make_shared<approximate>("somebodys_memory", styles);
    socket.bind(made->socket);
    return made;
}

/* From all addresses, after this many transactions. */
void make_bad(const char *text, store &memory)
{
    static const tlm::tlm_response_status kinds[] = {
        tlm::TLM_GENERIC_ERROR_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_COMMAND_ERROR_RESPONSE,
        tlm::TLM_BURST_ERROR_RESPONSE, tlm::TLM_INCOMPLETE_RESPONSE};
    char *rest = nullptr;
    memory.bad_from = 0;
    memory.good_for = std::strtoull(text, &rest, 10);
    memory.bad = kinds[std::strtoul(rest + 1, nullptr, 10) % 5];
}

std::shared_ptr<void> make(const char *text, cnnvp::memory_socket &socket)
{
    const char *fault = std::strchr(text, '!');
    latest = std::strncmp(text, "at:", 3) == 0 ? make_approximate(text + 3, socket) : make_loose(text + 3, socket);
    if (fault)
        make_bad(fault + 1, *latest);
    return latest;
}

} // namespace

cnnvp_result soak_memory_platform(const cnnvp_config *config, const cnnvp_platform_options *options, const char *memory,
                                  cnnvp_platform **platform, cnnvp_error *error)
{
    uint64_t burst = 0;
    const char *text = nullptr;
    const cnnvp_result result = cnnvp_config_get(config, "dram.burst_bytes", &burst, &text);
    if (result != CNNVP_DONE)
        return result;
    const cnnvp::bind_memory bind = [=](const char *, cnnvp::memory_socket &socket) {
        auto made = make(memory, socket);
        latest->burst = burst;
        return made;
    };
    return cnnvp::platform_new(config, options, bind, platform, error);
}

uint64_t soak_memory_broken()
{
    const uint64_t broken = latest ? latest->broken : 0;
    latest.reset();
    return broken;
}
