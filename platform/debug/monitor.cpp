/* SPDX-License-Identifier: Apache-2.0 */
/* Implements monitor.h. */
#include "monitor.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <sstream>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace cnnvp {

namespace {

using words = std::vector<std::string>;

struct view {
    cnnvp::platform::design &platform;
    cnnvp_recorder &recorder;

    /* Number of an instance. */
    uint32_t number(const unit_host &host) const
    {
        return static_cast<uint32_t>(&host.instance() - platform.resolved().instances);
    }
};

const char help[] =
    "monitor units [UNIT...]    instances, their kinds, and what each does; of those named also what they hold\n"
    "monitor queue              instructions: in the queue, decoded, in flight\n"
    "monitor buffers [UNIT]     what buffers hold, and where\n"
    "monitor buffers UNIT ADDRESS [BYTES]   a buffer's bytes; addresses of the second half begin at 0x80000000\n"
    "monitor registers UNIT     registers of an instance, read without side effects\n"
    "monitor stats [UNIT...]    statistics that are not 0, up to this moment\n"
    "monitor time               simulated time\n";

enum { LINE_BYTES = 16, SHOWN_BYTES = 64, MAX_BYTES = 4096 };

bool has_port(const unit_host &host, cnnvp_port_kind kind, uint32_t crosses, uint32_t *port = nullptr)
{
    const cnnvp_unit &unit = *host.instance().unit;
    for (uint32_t i = 0; i < unit.port_count; ++i)
        if (unit.ports[i].kind == kind && (unit.ports[i].flags & CNNVP_PORT_CROSSES) == crosses) {
            if (port)
                *port = i;
            return true;
        }
    return false;
}

bool any(const unit_host &)
{
    return true;
}

bool holds_instructions(const unit_host &host)
{
    return has_port(host, CNNVP_PORT_INITIATOR, CNNVP_PORT_COMMANDS);
}

bool is_buffer(const unit_host &host)
{
    return has_port(host, CNNVP_PORT_TARGET, CNNVP_PORT_WORDS);
}

/* The instances named by the words, which must satisfy `wanted`; all such instances if there are no words. `problem`
 * explains a wrong name. */
std::vector<unit_host *> chosen(const view &view, const words &names, bool (*wanted)(const unit_host &),
                                std::string *problem)
{
    std::vector<unit_host *> found;
    for (const std::string &name : names) {
        found.push_back(view.platform.find(name));
        if (!found.back() || !wanted(*found.back())) {
            *problem = "there is no such instance: `" + name + "`; see monitor units\n";
            return {};
        }
    }
    for (const auto &host : view.platform.hosts())
        if (names.empty() && host && wanted(*host))
            found.push_back(host.get());
    return found;
}

/* The spans at the current time; without spans, what the instance waits for. */
std::string doing(const view &view, const unit_host &host)
{
    const cnnvp_time now = view.platform.control().now();
    std::string text;
    for (uint32_t track = 0; track < host.instance().unit->track_count; ++track) {
        const cnnvp_snapshot_span *span = cnnvp_snapshot_get_span(view.recorder.snapshot, view.number(host), track);
        if (!span || !span->name || span->begin > now || span->end <= now)
            continue;
        text += (text.empty() ? "" : ", ") + std::string(span->name) +
                (span->tag ? " of layer " + std::to_string(span->tag - 1) : "") + " until " +
                std::to_string(span->end) + " ps";
    }
    return text.empty() ? host.waiting_for() : text;
}

std::string unit_line(const view &view, const unit_host &host)
{
    char line[96];
    std::snprintf(line, sizeof line, "%-20s %-16s ", host.instance().name, host.instance().unit->kind);
    std::string text = line + doing(view, host);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

std::string counters(const view &view, const unit_host &host)
{
    const cnnvp_unit &unit = *host.instance().unit;
    const cnnvp_snapshot *snapshot = view.recorder.snapshot;
    std::string text;
    for (uint32_t i = 0; i < unit.counter_count; ++i) {
        char line[160];
        if (std::strcmp(unit.counters[i].unit, "function") == 0)
            continue;
        std::snprintf(line, sizeof line, "  %s %" PRIu64 " %s\n", unit.counters[i].name,
                      cnnvp_snapshot_get_counter(snapshot, view.number(host), i), unit.counters[i].unit);
        text += line;
    }
    return text;
}

/* Prints bytes of a buffer. */
std::string contents(const view &view, unit_host &host, const std::string &at, const std::string &size)
{
    uint32_t port = 0;
    char *end = nullptr, *size_end = nullptr;
    const uint64_t address = std::strtoull(at.c_str(), &end, 0);
    uint64_t left = size.empty() ? uint64_t(SHOWN_BYTES) : std::strtoull(size.c_str(), &size_end, 0);
    std::string text;

    if (*end || (size_end && *size_end) || left == 0 || left > MAX_BYTES)
        return "ADDRESS and BYTES are numbers, BYTES from 1 to " + std::to_string(int(MAX_BYTES)) + "\n";
    if (view.platform.control().settings().timing_only)
        return "with --timing-only buffers hold nothing\n";
    has_port(host, CNNVP_PORT_TARGET, CNNVP_PORT_WORDS, &port);
    left += left % 2; /* whole words */
    for (uint64_t here = address; left > 0;) {
        unsigned char bytes[LINE_BYTES];
        char piece[32];
        const size_t part = left < LINE_BYTES ? left : size_t(LINE_BYTES);
        if (!host.look(port, here, bytes, part))
            return text.append("there is nothing at ").append(at).append(", or it is odd\n");
        std::snprintf(piece, sizeof piece, "0x%08" PRIx64 ":", here);
        text += piece;
        for (size_t i = 0; i < part; ++i) {
            std::snprintf(piece, sizeof piece, " %02x", bytes[i]);
            text += piece;
        }
        text += "\n";
        here += part;
        left -= part;
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

/* Runs `work` in a copy of this process, so that its changes do not affect the simulation. */
std::string in_copy(const std::function<std::string()> &work)
{
    int ends[2];
    std::string text;
    char piece[4096];
    ssize_t got;

    if (pipe(ends) != 0)
        return "there is no room for a copy of the run\n";
    const pid_t copy = fork();
    if (copy == 0) {
        try {
            text = work();
        } catch (const std::exception &problem) { /* the copy must not continue */
            text = std::string(problem.what()) + "\n";
        }
        for (size_t done = 0; done < text.size();) {
            const ssize_t put = write(ends[1], text.data() + done, text.size() - done);
            if (put <= 0)
                break;
            done += static_cast<size_t>(put);
        }
        _exit(0);
    }
    close(ends[1]);
    while (copy > 0 && (got = read(ends[0], piece, sizeof piece)) > 0)
        text.append(piece, static_cast<size_t>(got));
    close(ends[0]);
    if (copy < 0)
        return "there is no room for a copy of the run\n";
    waitpid(copy, nullptr, 0);
    return text;
}

std::string stats(const view &view, const std::vector<unit_host *> &hosts)
{
    std::string text;
    cnnvp_recorder_mute(&view.recorder);
    view.platform.flush();
    for (const unit_host *host : hosts) {
        const cnnvp_unit &unit = *host->instance().unit;
        for (uint32_t i = 0; i < unit.stat_count; ++i) {
            char line[160];
            const uint64_t total = cnnvp_recorder_total(&view.recorder, view.number(*host), i);
            if (total == 0)
                continue;
            std::snprintf(line, sizeof line, "%s.%s %" PRIu64 " %s\n", host->instance().name, unit.stats[i].name, total,
                          unit.stats[i].unit);
            text += line;
        }
    }
    return text;
}

/* A line for each instance, followed by its contents if wanted. */
std::string details(const view &view, const std::vector<unit_host *> &hosts, bool with_contents)
{
    std::string text;
    for (unit_host *host : hosts)
        text += unit_line(view, *host) + (with_contents ? counters(view, *host) + host->show() : std::string());
    return text;
}

} // namespace

std::string monitor(platform::design &platform, cnnvp_recorder &recorder, const std::string &line)
{
    const view view{platform, recorder};
    std::istringstream stream(line);
    std::string command, word, problem;
    words names;

    stream >> command;
    while (stream >> word)
        names.push_back(word);
    if (command == "time" && names.empty())
        return std::to_string(platform.control().now()) + " ps\n";
    if (command == "buffers" && (names.size() == 2 || names.size() == 3)) {
        const auto found = chosen(view, {names[0]}, is_buffer, &problem);
        return found.empty() ? problem : contents(view, *found[0], names[1], names.size() == 3 ? names[2] : "");
    }
    const auto wanted = command == "queue" ? holds_instructions : command == "buffers" ? is_buffer : any;
    const auto found = chosen(view, names, wanted, &problem);
    if (!problem.empty())
        return problem;
    if (command == "units" || command == "queue" || (command == "buffers" && names.size() < 2))
        return details(view, found, command != "units" || !names.empty());
    if (command == "stats")
        return in_copy([&] { return stats(view, found); });
    return command == "registers" && names.size() == 1 ? registers(*found[0]) : help;
}

} // namespace cnnvp
