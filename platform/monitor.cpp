/* SPDX-License-Identifier: Apache-2.0 */
/* See monitor.h. */
#include "monitor.h"

#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <vector>

namespace cnnvp {

namespace {

using words = std::vector<std::string>;

const char help[] =
    "monitor units              instances, their kinds, and what each waits for\n"
    "monitor registers UNIT     registers of an instance, read without side effects\n"
    "monitor stats [UNIT...]    statistics that are not 0, as far as units have handed them over\n"
    "monitor time               simulated time\n";

/* The instances that the words name, all if there are none; `problem` says which there is not. */
std::vector<unit_host *> chosen(platform &platform, const words &names, std::string *problem)
{
    std::vector<unit_host *> found;
    for (const std::string &name : names) {
        found.push_back(platform.find(name));
        if (!found.back()) {
            *problem = "there is no instance `" + name + "`; see monitor units\n";
            return {};
        }
    }
    for (const auto &host : platform.hosts())
        if (names.empty() && host)
            found.push_back(host.get());
    return found;
}

std::string units(platform &platform)
{
    std::string text;
    for (const auto &host : platform.hosts()) {
        char line[96];
        if (!host)
            continue;
        std::snprintf(line, sizeof line, "%-20s %-16s ", host->instance().name, host->instance().unit->kind);
        text += line + host->waiting_for();
        text.erase(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    return text;
}

std::string registers(unit_host &host)
{
    const cnnvp_unit &unit = *host.instance().unit;
    std::string text;
    for (uint32_t i = 0; i < unit.register_count; ++i) {
        char line[96];
        if (unit.registers[i].access == CNNVP_REG_WO)
            continue;
        const uint32_t value = host.peek(i);
        std::snprintf(line, sizeof line, "0x%06" PRIx32 " %-20s 0x%08" PRIx32 " %" PRIu32 "\n",
                      unit.registers[i].offset, unit.registers[i].name, value, value);
        text += line;
    }
    return text.empty() ? std::string(host.instance().name) + " has no registers\n" : text;
}

std::string stats(const cnnvp_recorder &recorder, const platform &platform, unit_host &host)
{
    const cnnvp_unit &unit = *host.instance().unit;
    const auto number = static_cast<uint32_t>(&host.instance() - platform.resolved().instances);
    std::string text;
    for (uint32_t i = 0; i < unit.stat_count; ++i) {
        char line[160];
        const uint64_t total = cnnvp_recorder_total(&recorder, number, i);
        if (total == 0)
            continue;
        std::snprintf(line, sizeof line, "%s.%s %" PRIu64 " %s\n", host.instance().name, unit.stats[i].name, total,
                      unit.stats[i].unit);
        text += line;
    }
    return text;
}

} // namespace

std::string monitor(platform &platform, const cnnvp_recorder &recorder, const std::string &line)
{
    std::istringstream stream(line);
    std::string command, word, problem, text;
    words names;

    stream >> command;
    while (stream >> word)
        names.push_back(word);
    if (command == "units")
        return units(platform);
    if (command == "time")
        return std::to_string(platform.control().now()) + " ps\n";
    if (command != "stats" && (command != "registers" || names.size() != 1))
        return help;
    for (unit_host *host : chosen(platform, names, &problem))
        text += command == "stats" ? stats(recorder, platform, *host) : registers(*host);
    return problem + text;
}

} // namespace cnnvp
