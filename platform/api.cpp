/* SPDX-License-Identifier: Apache-2.0 */
/* The platform part of cnnvp.h. No exception leaves these functions. */
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "base.h"
#include "cnnvp.h"
#include "cnnvp_systemc.h"
#include "config.h"
#include "build.h"
#include "elf_file.h"
#include "gdb.h"
#include "monitor.h"
#include "platform.h"
#include "profile.h"
#include "recorder.h"

struct cnnvp_platform {
    cnnvp_config *config = nullptr;
    cnnvp_recorder *recorder = nullptr;
    cnnvp_units *asked = nullptr;
    std::unique_ptr<cnnvp::results_total> results;
    cnnvp_gdb *gdb = nullptr;
    cnnvp_profile *profile = nullptr;
    std::unique_ptr<cnnvp::platform> platform;
    uint64_t max_time = 0;
    uint64_t end_ps = 0;
    double wall_seconds = 0;
    bool has_run = false;
    bool flushed = false; /* since the last run */
    bool exited = false;  /* the last run, by its program, with exit_code */
    int exit_code = 0;

    ~cnnvp_platform()
    {
        platform.reset();
        cnnvp_gdb_free(gdb);
        cnnvp_profile_free(profile);
        cnnvp_units_free(asked);
        cnnvp_recorder_free(recorder);
        cnnvp_config_free(config);
    }
};

namespace {

/* Calls the function; an exception, which only a broken unit or a lack of memory can cause, becomes FAILED. */
template <typename Function>
cnnvp_result shielded(cnnvp_error *error, Function &&function)
{
    try {
        return function();
    } catch (const std::exception &problem) {
        if (error)
            std::snprintf(error->text, sizeof error->text, "%s", problem.what());
        return CNNVP_FAILED;
    }
}

cnnvp_result fail(cnnvp_error *error, const char *text)
{
    std::snprintf(error->text, sizeof error->text, "%s", text);
    return CNNVP_FAILED;
}

/* What a debugger may do with the platform. */
cnnvp_result open_gdb(const char *port, cnnvp_platform &made, cnnvp_error *error)
{
    cnnvp_gdb_target target{};
    target.context = &made;
    target.read = [](void *context, uint32_t address, void *data, size_t size) -> int {
        return static_cast<cnnvp_platform *>(context)->platform->memory().read(address, data, size);
    };
    target.write = [](void *context, uint32_t address, const void *data, size_t size) -> int {
        return static_cast<cnnvp_platform *>(context)->platform->memory().write(address, data, size);
    };
    target.monitor = [](void *context, const char *words) {
        auto *platform = static_cast<cnnvp_platform *>(context);
        return strdup(cnnvp::monitor(*platform->platform, *platform->recorder, words).c_str());
    };
    target.kill = [](void *context) {
        static_cast<cnnvp_platform *>(context)->platform->control().stop(CNNVP_END_INTERRUPTED, "by the debugger");
    };
    target.wake = [](void *context) { static_cast<cnnvp_platform *>(context)->platform->wake_core(); };
    return cnnvp_gdb_new(port, &target, &made.gdb, error);
}

/* A unit of somebody else's takes commands: what it says of their time is compared with what they take. */
bool has_command_library(const cnnvp_resolved &resolved)
{
    for (size_t i = 0; i < resolved.instance_count; ++i) {
        const cnnvp_unit *unit = resolved.instances[i].unit;
        for (uint32_t port = 0; unit && std::strchr(resolved.instances[i].model, ':') && port < unit->port_count;
             ++port)
            if (unit->ports[port].kind == CNNVP_PORT_TARGET &&
                (unit->ports[port].flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_COMMANDS)
                return true;
    }
    return false;
}

cnnvp_result build(const cnnvp_config *config, const cnnvp_platform_options &options, const cnnvp::bind_memory &bind,
                   cnnvp_platform &made, cnnvp_error *error)
{
    cnnvp::run_control::options control;

    made.config = cnnvp_config_copy(config);
    const cnnvp_resolved *resolved = made.config ? cnnvp_config_resolved(made.config) : nullptr;
    if (!made.config)
        return fail(error, "there is not enough memory");
    if (!resolved)
        return fail(error, "the configuration has not been resolved");
    const char *first = options.trace ? options.trace : options.series;
    cnnvp_result result = cnnvp_recorder_new(resolved, first, options.timing_only, &made.recorder, error);
    if (result == CNNVP_DONE && options.trace && options.series)
        result = cnnvp_recorder_add_trace(made.recorder, options.series, error);
    if (result != CNNVP_DONE)
        return result;
    if (options.memory_trace) {
        const cnnvp_result traced = cnnvp_recorder_trace_bursts(made.recorder, options.memory_trace, error);
        if (traced != CNNVP_DONE)
            return traced;
    }
    if (options.profile) {
        const cnnvp_result profiled = cnnvp_profile_new(options.profile, &made.profile, error);
        if (profiled != CNNVP_DONE)
            return profiled;
        control.profile = made.profile;
    }
    control.recorder = made.recorder;
    cnnvp_recorder_set_partial(made.recorder, 1); /* nothing has run */
    control.timing_only = options.timing_only != 0;
    control.verbosity = options.verbosity;
    control.console = options.console;
    control.console_context = options.console_context;
    control.log = options.log;
    control.log_context = options.log_context;
    control.beside = options.beside != 0;
    control.strict = options.strict != 0;
    control.check_costs = options.check_costs != 0;
    if (options.check_costs || has_command_library(*resolved)) {
        const cnnvp_result asked = cnnvp_units_new(config, &made.asked, error);
        if (asked != CNNVP_DONE)
            return asked;
        control.asked = made.asked;
    }
    if (options.check_results && options.timing_only) {
        (void)fail(error, "results cannot be compared in a run that calculates none (check_results, timing_only)");
        return CNNVP_BAD_INPUT;
    }
    if (options.check_results) {
        made.results = std::make_unique<cnnvp::results_total>();
        control.results = made.results.get();
    }
    if (options.gdb) {
        cnnvp_result opened = open_gdb(options.gdb, made, error);
        if (opened == CNNVP_DONE)
            opened = cnnvp_recorder_keep_latest(made.recorder, error);
        if (opened != CNNVP_DONE)
            return opened;
        control.gdb = made.gdb;
    }
    made.max_time = options.max_time_ps;
    return cnnvp::platform::build(*resolved, control, &made.platform, error, bind);
}

} // namespace

cnnvp_result cnnvp::platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                 const bind_memory &bind, cnnvp_platform **platform, cnnvp_error *error)
{
    cnnvp_platform_options own{};
    cnnvp_error unwanted;

    if (!error)
        error = &unwanted;
    *platform = nullptr;
    if (options && cnnvp_client_struct(&own, sizeof own, options, "cnnvp_platform_options", error) != CNNVP_DONE)
        return CNNVP_BAD_INPUT;
    return shielded(error, [&] {
        auto made = std::make_unique<cnnvp_platform>();
        const cnnvp_result result = build(config, own, bind, *made, error);
        if (result == CNNVP_DONE)
            *platform = made.release();
        return result;
    });
}

extern "C" {

const char *cnnvp_systemc_version(void)
{
    static const std::string text =
        std::to_string(sc_core::sc_version_major) + "." + std::to_string(sc_core::sc_version_minor) + "." +
        std::to_string(sc_core::sc_version_patch);
    return text.c_str();
}

cnnvp_result cnnvp_platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                cnnvp_platform **platform, cnnvp_error *error)
{
    return cnnvp::platform_new(config, options, nullptr, platform, error);
}

cnnvp_result cnnvp_platform_check(const cnnvp_config *config, cnnvp_error *error)
{
    cnnvp_error unwanted;
    const cnnvp_resolved *resolved = cnnvp_config_resolved(config);

    if (!error)
        error = &unwanted;
    if (!resolved)
        return fail(error, "the configuration has not been resolved");
    return shielded(error, [&] { return cnnvp::platform::build(*resolved, {}, nullptr, error); });
}

cnnvp_result cnnvp_platform_close_trace(cnnvp_platform *platform, cnnvp_error *error)
{
    cnnvp_error unwanted;

    if (!platform->has_run)
        return CNNVP_DONE;
    if (!error)
        error = &unwanted;
    const cnnvp_result result = platform->profile ? cnnvp_profile_finish(platform->profile, error) : CNNVP_DONE;
    return result == CNNVP_DONE ? cnnvp_recorder_finish(platform->recorder, platform->end_ps, error) : result;
}

void cnnvp_platform_free(cnnvp_platform *platform)
{
    cnnvp_error error;

    if (!platform)
        return;
    if (platform->gdb)
        cnnvp_gdb_end(platform->gdb, platform->exited, platform->exit_code);
    if (cnnvp_platform_close_trace(platform, &error) != CNNVP_DONE)
        std::fprintf(stderr, "cnnvp: %s\n", error.text);
    delete platform;
}

cnnvp_result cnnvp_platform_hold(cnnvp_platform *platform, uint64_t address, uint64_t size)
{
    if (address > UINT32_MAX || size > UINT32_MAX - address)
        return CNNVP_BAD_INPUT;
    return shielded(nullptr, [&] {
        platform->platform->memory().hold(
            cnnvp_program_range{static_cast<uint32_t>(address), static_cast<uint32_t>(size)});
        return CNNVP_DONE;
    });
}

cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step, uint64_t address,
                                      uint64_t size)
{
    if (address > UINT32_MAX || size > UINT32_MAX - address)
        return CNNVP_BAD_INPUT;
    return shielded(nullptr, [&] {
        platform->platform->memory().hold(
            cnnvp_program_table{static_cast<uint32_t>(address), static_cast<uint32_t>(size), step, user});
        return CNNVP_DONE;
    });
}

cnnvp_result cnnvp_platform_load_elf(cnnvp_platform *platform, const char *file, int argc, char *const *args,
                                     cnnvp_error *error)
{
    cnnvp_error unwanted;
    cnnvp_elf *elf;

    if (!error)
        error = &unwanted;
    const cnnvp_result result = cnnvp_elf_read(file, &elf, error);
    if (result != CNNVP_DONE)
        return result;
    const std::unique_ptr<cnnvp_elf, void (*)(cnnvp_elf *)> owner(elf, cnnvp_elf_free);
    size_t size;
    const void *data = cnnvp_elf_data(elf, &size);
    cnnvp_recorder_set_program(platform->recorder, cnnvp_build_hash(data, size));
    return shielded(error, [&] { return platform->platform->memory().load(*elf, file, argc, args, error); });
}

cnnvp_result cnnvp_platform_read(cnnvp_platform *platform, uint64_t address, void *data, size_t size)
{
    return shielded(nullptr, [&] {
        return platform->platform->memory().read(address, data, size) ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_write(cnnvp_platform *platform, uint64_t address, const void *data, size_t size)
{
    return shielded(nullptr, [&] {
        return platform->platform->memory().write(address, data, size) ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_map(cnnvp_platform *platform, uint64_t address, size_t size, void **data)
{
    return shielded(nullptr, [&] {
        return platform->platform->memory().map(address, size, data) ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_run(cnnvp_platform *platform, cnnvp_run_result *result)
{
    *result = cnnvp_run_result{};
    return shielded(nullptr, [&] {
        const auto begin = std::chrono::steady_clock::now();
        platform->has_run = true;
        platform->flushed = false;
        platform->platform->run(platform->max_time, result);
        platform->end_ps = result->time_ps;
        platform->exited = result->end == CNNVP_END_EXIT;
        platform->exit_code = result->exit_code;
        cnnvp_recorder_set_partial(platform->recorder, result->end != CNNVP_END_EXIT);
        platform->wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return result->end == CNNVP_END_EXIT && result->exit_code == 0 ? CNNVP_DONE : CNNVP_FAILED;
    });
}

/* In slices of simulated time, which change nothing; each as long as suits the watcher. */
cnnvp_result cnnvp_platform_run_watched(cnnvp_platform *platform, void (*watch)(void *, const cnnvp_progress *),
                                        void *context, cnnvp_run_result *result)
{
    const uint64_t limit = platform->max_time;
    uint64_t slice = UINT64_C(100000000), now = platform->end_ps;
    for (;;) {
        const auto begin = std::chrono::steady_clock::now();
        const uint64_t until = limit != 0 && limit - std::min(limit, now) <= slice ? limit : now + slice;
        platform->max_time = until;
        const cnnvp_result ended = cnnvp_platform_run(platform, result);
        platform->max_time = limit;
        if (result->end != CNNVP_END_MAX_TIME || until == limit)
            return ended;
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        slice = took < 0.1 ? 2 * slice : took > 0.3 ? slice / 2 + 1 : slice;
        now = result->time_ps;
        cnnvp_progress progress{0, 0, now};
        cnnvp_recorder_progress(platform->recorder, &progress);
        watch(context, &progress);
    }
}

void cnnvp_platform_set_max_time(cnnvp_platform *platform, uint64_t max_time_ps)
{
    platform->max_time = max_time_ps;
}

void cnnvp_platform_interrupt(void)
{
    cnnvp::run_control::interrupt();
}

cnnvp_result cnnvp_platform_layer(cnnvp_platform *platform, size_t layer, cnnvp_layer_result *result)
{
    return shielded(nullptr, [&] {
        if (!platform->flushed)
            platform->platform->flush();
        platform->flushed = true;
        cnnvp_recorder_layer(platform->recorder, layer, result);
        return result->cycles || result->dram_read_bytes || result->dram_write_bytes ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_describe_work(cnnvp_platform *platform, const cnnvp_work_info *work)
{
    return cnnvp_recorder_describe(platform->recorder, work);
}

size_t cnnvp_platform_profile(cnnvp_platform *platform, cnnvp_profile_function *functions, size_t room,
                              cnnvp_profile_function *all)
{
    *all = cnnvp_profile_function{};
    return platform->profile ? cnnvp_profile_functions(platform->profile, functions, room, all) : 0;
}

cnnvp_result cnnvp_platform_results(const cnnvp_platform *platform, struct cnnvp_results_check *results)
{
    *results = {};
    if (!platform->results)
        return CNNVP_BAD_INPUT;
    platform->results->fill(results);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_platform_stats(cnnvp_platform *platform, char **json)
{
    *json = nullptr;
    return shielded(nullptr, [&] {
        platform->platform->flush();
        cnnvp_recorder_set_path(platform->recorder, platform->platform->path(), platform->end_ps);
        return cnnvp_recorder_json(platform->recorder, platform->end_ps, platform->wall_seconds, json);
    });
}

cnnvp_result cnnvp_platform_reset(cnnvp_platform *platform)
{
    return shielded(nullptr, [&] {
        platform->platform->reset();
        return CNNVP_DONE;
    });
}

} /* extern "C" */
