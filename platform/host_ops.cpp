/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of host functions that a C unit calls. Each function forwards from C to unit_host. Functions that can reach
 * throwing code go through unit_host::guarded (see "Exceptions" in unit_host.h); the others cannot throw.
 */
#include "host_ops.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "unit_enter.h"
#include "unit_host.h"

namespace cnnvp {

namespace {

constexpr size_t max_line = 512; /* characters of a log line */

unit_host &of(cnnvp_host *host)
{
    return *static_cast<unit_host *>(host);
}

} // namespace

struct host_ops {
    static bool has(unit_host &unit, const char *function, const char *what, uint32_t index, uint32_t count)
    {
        if (index < count)
            return true;
        unit.refuse(CNNVP_E_INVAL, function, "there is no %s %u; the unit has %u", what, index, count);
        return false;
    }

    /* Statistics, traces and the outside world are available from the first reset on. */
    static bool begun(unit_host &unit, const char *function)
    {
        if (!unit.current_ || unit.current_->kind != unit_host::call::init)
            return true;
        unit.refuse(CNNVP_E_STATE, function, "the simulation has not begun");
        return false;
    }

    static uint64_t param(cnnvp_host *host, uint32_t index)
    {
        unit_host &unit = of(host);
        return has(unit, "param", "parameter", index, unit.unit_.param_count) ? unit.instance_.values[index] : 0;
    }

    static const char *param_text(cnnvp_host *host, uint32_t index)
    {
        unit_host &unit = of(host);
        return has(unit, "param_text", "parameter", index, unit.unit_.param_count) ? unit.instance_.texts[index] : "";
    }

    static int config_error(cnnvp_host *host, uint32_t index, const char *format, ...)
    {
        char text[max_line];
        va_list args;
        va_start(args, format);
        std::vsnprintf(text, sizeof text, format, args);
        va_end(args);
        of(host).config_error(index, text);
        return CNNVP_E_INVAL;
    }

    static int timing_only(cnnvp_host *host) { return of(host).control_.settings().timing_only; }

    static cnnvp_time now(cnnvp_host *host) { return of(host).control_.now(); }

    static uint64_t clock_mhz(cnnvp_host *host) { return of(host).clock_mhz_; }

    static cnnvp_time next_activity(cnnvp_host *host) { return of(host).control_.next_activity(); }

    static int notify(cnnvp_host *host, uint32_t event, cnnvp_time at)
    {
        unit_host &unit = of(host);
        return unit.guarded("notify", [&] { return unit.notify("notify", event, at); });
    }

    static int cancel(cnnvp_host *host, uint32_t event)
    {
        unit_host &unit = of(host);
        return unit.guarded("cancel", [&] { return unit.notify("cancel", event, CNNVP_TIME_NEVER); });
    }

    static int access(cnnvp_host *host, uint32_t port, cnnvp_access *access)
    {
        unit_host &unit = of(host);
        return unit.guarded("access", [&] { return unit.send(port, *access); });
    }

    static int connected(cnnvp_host *host, uint32_t port)
    {
        unit_host &unit = of(host);
        return unit.guarded("connected", [&] {
            unit_host::port_state *state = nullptr;
            const int found = unit.find_port("connected", port, &state);
            return state != nullptr ? static_cast<int>(state->connected) : found;
        });
    }

    static int request(cnnvp_host *host, uint32_t port, cnnvp_request *request)
    {
        unit_host &unit = of(host);
        return unit.guarded("request", [&] { return unit.send_request(port, *request); });
    }

    static int complete(cnnvp_host *host, cnnvp_request *request)
    {
        unit_host &unit = of(host);
        return unit.guarded("complete", [&] { return unit.complete(request); });
    }

    static int dmi(cnnvp_host *host, uint32_t port, uint64_t address, cnnvp_dmi *dmi)
    {
        unit_host &unit = of(host);
        return unit.guarded("dmi", [&] { return unit.query_dmi(port, address, *dmi); });
    }

    static int irq(cnnvp_host *host, uint32_t port, int level)
    {
        unit_host &unit = of(host);
        return unit.guarded("irq", [&] {
            if (unit.current_->kind == unit_host::call::init || unit.current_->kind == unit_host::call::fini)
                return unit.refuse(CNNVP_E_STATE, "irq", "other instances may not be there yet, or any more");
            if (port >= unit.unit_.port_count || unit.unit_.ports[port].kind != CNNVP_PORT_IRQ_OUT)
                return unit.refuse(CNNVP_E_INVAL, "irq", "port %u is not an interrupt output; the unit has %zu ports",
                                   port, unit.unit_.port_count);
            unit.drive(port, level != 0);
            return int(CNNVP_OK);
        });
    }

    static int wait(cnnvp_host *host, cnnvp_time duration) { return of(host).wait_for(duration); }
    static int wait_wake(cnnvp_host *host) { return of(host).wait_wake(); }
    static int settle(cnnvp_host *host) { return of(host).settle(); }
    static int reach(cnnvp_host *host, cnnvp_time at) { return of(host).reach(at); }
    static void wake(cnnvp_host *host) { of(host).wake(); }
    static int estimate(cnnvp_host *, uint32_t, const cnnvp_request *, cnnvp_time *) { return CNNVP_E_NOSUP; }

    static void count(cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n)
    {
        unit_host &unit = of(host);
        if (!begun(unit, "count") || !has(unit, "count", "statistic", stat, unit.unit_.stat_count) ||
            !unit.control_.recorder())
            return;
        cnnvp_stats_count(&unit.control_.recorder()->stats, unit.instance_.number, stat, tag, n);
        if (unit.control_.settings().asked &&
            cnnvp_stats_counts_cycles(&unit.control_.recorder()->stats, unit.instance_.number, stat))
            unit.counted_cycles_ += n;
    }

    static void span(cnnvp_host *host, uint32_t track, const char *name, uint32_t tag, uint64_t flow, cnnvp_time begin,
                     cnnvp_time end)
    {
        unit_host &unit = of(host);
        if (!begun(unit, "span") || !has(unit, "span", "track", track, unit.unit_.track_count))
            return;
        if (end < begin)
            unit.refuse(CNNVP_E_INVAL, "span", "%s ends at %" PRIu64 " ps, before it begins at %" PRIu64 " ps",
                        name ? name : "it", end, begin);
        else if (unit.control_.recorder())
            cnnvp_recorder_span(unit.control_.recorder(), unit.instance_.number, track, name, tag, flow, begin, end);
    }

    static void counter(cnnvp_host *host, uint32_t counter, cnnvp_time at, uint64_t value)
    {
        unit_host &unit = of(host);
        if (begun(unit, "counter") && has(unit, "counter", "counter", counter, unit.unit_.counter_count) &&
            unit.control_.recorder())
            cnnvp_recorder_counter(unit.control_.recorder(), unit.instance_.number, counter, at, value);
    }

    static void log(cnnvp_host *host, enum cnnvp_log_level level, const char *format, ...)
    {
        unit_host &unit = of(host);
        char text[max_line];
        va_list args;
        if (!unit.control_.shows(level))
            return;
        va_start(args, format);
        std::vsnprintf(text, sizeof text, format, args);
        va_end(args);
        unit.log(level, text);
    }

    static void finish(cnnvp_host *host, int code, const char *reason)
    {
        unit_host &unit = of(host);
        if (begun(unit, "finish"))
            unit.control_.finish(unit.instance_.name, code, reason);
    }

    static void console_write(cnnvp_host *host, const void *data, size_t size)
    {
        unit_host &unit = of(host);
        if (begun(unit, "console_write"))
            unit.control_.console_write(data, size);
    }

    static size_t console_read(cnnvp_host *host, void *data, size_t size)
    {
        unit_host &unit = of(host);
        return begun(unit, "console_read") ? unit.control_.console_read(data, size) : 0;
    }

    static int report(cnnvp_host *host, const char *name, int64_t value)
    {
        unit_host &unit = of(host);
        cnnvp_recorder *recorder = unit.control_.recorder();
        if (!begun(unit, "report"))
            return -1;
        return recorder ? cnnvp_said_report(&recorder->stats.said, name, value) : 0;
    }

    static int name_layer(cnnvp_host *host, uint32_t tag, const char *name, const char *op, const char *phase,
                          uint64_t macs)
    {
        unit_host &unit = of(host);
        cnnvp_recorder *recorder = unit.control_.recorder();
        if (!begun(unit, "name_layer"))
            return -1;
        return recorder ? cnnvp_said_layer(&recorder->stats.said, tag, name, op, phase, macs) : 0;
    }

    static void count_for(cnnvp_host *host, uint32_t stat, uint32_t requester, uint64_t n)
    {
        unit_host &unit = of(host);
        if (begun(unit, "count_for") && has(unit, "count_for", "statistic", stat, unit.unit_.stat_count) &&
            unit.control_.recorder())
            cnnvp_stats_count_for(&unit.control_.recorder()->stats, unit.instance_.number, stat, requester, n);
    }

    static int burst(cnnvp_host *host, cnnvp_time at, uint64_t clock, uint32_t requester, uint32_t tag, uint32_t op,
                     uint64_t address)
    {
        unit_host &unit = of(host);
        return begun(unit, "burst") && unit.control_.recorder() &&
               cnnvp_recorder_burst(unit.control_.recorder(), unit.instance_.number, at, clock, requester, tag, op,
                                    address);
    }

    static const cnnvp_instruction *instructions(cnnvp_host *host, uint32_t port, size_t *count)
    {
        unit_host &unit = of(host);
        return cnnvp_instance_instructions(unit.control_.settings().resolved, &unit.instance_, port, count);
    }

    static const char *instance_name(cnnvp_host *host, uint32_t instance)
    {
        const cnnvp_resolved *resolved = of(host).control_.settings().resolved;
        return resolved && instance < resolved->instance_count ? resolved->instances[instance].name : nullptr;
    }

    static int asks(cnnvp_host *host, uint32_t instance)
    {
        const unit_host &unit = of(host);
        const cnnvp_resolved *resolved = unit.control_.settings().resolved;
        return resolved && instance < resolved->instance_count &&
               cnnvp_instance_asks(resolved, &resolved->instances[instance], unit.instance_.number);
    }

    static int watched(cnnvp_host *host)
    {
        const cnnvp_recorder *recorder = of(host).control_.recorder();
        return recorder && (recorder->trace || recorder->snapshot);
    }

    static void crossed(cnnvp_host *host, const cnnvp_request *request, uint64_t bytes)
    {
        unit_host &unit = of(host);
        if (begun(unit, "crossed"))
            unit.crossed(request, bytes);
    }

    static uint32_t speedup(cnnvp_host *host) { return of(host).instance().speedup; }

    static void keep(cnnvp_host *host, uint32_t slot, uint32_t from, uint32_t tag) { of(host).keep(slot, from, tag); }
    static void join(cnnvp_host *host, uint32_t slot, uint32_t other) { of(host).join(slot, other); }
    static void extend(cnnvp_host *host, uint32_t slot, uint32_t tag, cnnvp_time at) { of(host).extend(slot, tag, at); }
    static void about(cnnvp_host *host, const cnnvp_command *command)
    {
        unit_host &unit = of(host);
        if (begun(unit, "about") && unit.control_.recorder())
            cnnvp_recorder_about(unit.control_.recorder(), unit.instance_.number, command);
    }
    static void follow(cnnvp_host *host, uint32_t slot, uint32_t tag) { of(host).follow(slot, tag); }
};

const cnnvp_host_ops *host_ops_table()
{
    static const cnnvp_host_ops table = {
        sizeof(cnnvp_host_ops),  CNNVP_ABI_MAJOR,         CNNVP_ABI_MINOR,         host_ops::param,
        host_ops::param_text,    host_ops::config_error,  host_ops::timing_only,   host_ops::now,
        host_ops::clock_mhz,     host_ops::next_activity, host_ops::notify,        host_ops::cancel,
        host_ops::access,        host_ops::request,       host_ops::complete,      host_ops::dmi,
        host_ops::irq,           host_ops::wait,          host_ops::wait_wake,     host_ops::settle,
        host_ops::wake,          host_ops::count,         host_ops::span,          host_ops::counter,
        host_ops::log,           host_ops::finish,        host_ops::console_write, host_ops::console_read,
        host_ops::report,        host_ops::name_layer,    host_ops::count_for,     host_ops::burst,
        host_ops::reach,         host_ops::estimate,      host_ops::connected,     host_ops::instructions,
        host_ops::instance_name, host_ops::crossed,       host_ops::keep,          host_ops::follow,
        host_ops::speedup,       host_ops::join,          host_ops::about,         host_ops::extend,
        host_ops::asks,          host_ops::watched,
    };
    return &table;
}

} // namespace cnnvp
