/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp_platform_new of the command with a third-party memory (tests/support/memories.h), if the environment names one.
 * The format is "lt:DELAY:FLAGS", with a delay in ns and flags w (waits half of the delay), g (has debug transport), d
 * (has direct memory); or "at:STYLES", with digits of memories::style that are used in turn. "!COUNT:KIND" after it
 * answers all transactions but the first COUNT with an error. A violation of the protocol ends the command with status
 * 3.
 */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cnnvp_systemc.h"
#include "memories.h"
#include "soak_run.h"

namespace {

using memories::approximate;
using memories::loose;
using memories::store;
using memories::style;

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

/* Makes transactions of all addresses fail after the first ones. */
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

std::shared_ptr<store> make(const char *text, cnnvp::memory_socket &socket)
{
    const char *fault = std::strchr(text, '!');
    auto made = std::strncmp(text, "at:", 3) == 0 ? make_approximate(text + 3, socket) : make_loose(text + 3, socket);
    if (fault)
        make_bad(fault + 1, *made);
    return made;
}

/* Runs when the platform has been freed, so all results exist. */
void check(const store &memory)
{
    if (memory.broken == 0)
        return;
    (void)std::fprintf(stderr, "cnnvp: %" PRIu64 " rules of the protocol broken\n", memory.broken);
    std::_Exit(3);
}

} // namespace

extern "C" cnnvp_result soak_platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                          cnnvp_platform **platform, cnnvp_error *error)
{
    const char *memory = std::getenv(SOAK_MEMORY);
    uint64_t burst = 0;
    const char *text = nullptr;
    if (memory == nullptr || *memory == '\0')
        return cnnvp_platform_new(config, options, platform, error);
    const cnnvp_result result = cnnvp_config_get(config, "dram.burst_bytes", &burst, &text);
    if (result != CNNVP_DONE)
        return result;
    const cnnvp::bind_memory bind = [=](const char *, cnnvp::memory_socket &socket) {
        const auto made = make(memory, socket);
        made->burst = burst;
        return std::shared_ptr<void>(made.get(), [made](void *) { check(*made); });
    };
    return cnnvp::platform_new(config, options, bind, platform, error);
}
