/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the platform part of cnnvp.h. No exception leaves these functions. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cnnvp.h"
#include "cnnvp_systemc.h"
#include "monitor.h"
#include "platform.h"
extern "C" {
#include "base.h"
#include "build.h"
#include "config.h"
#include "elf_file.h"
#include "gdb.h"
#include "output_file.h"
#include "platform_ready.h"
#include "profile.h"
#include "recorder.h"
}

namespace {
void release_files(cnnvp_platform &platform);
}

struct cnnvp_platform {
    cnnvp_config *config = nullptr;
    cnnvp_recorder *recorder = nullptr;
    cnnvp_units *asked = nullptr;
    std::unique_ptr<cnnvp::results_total> results;
    cnnvp_gdb *gdb = nullptr;
    cnnvp_profile *profile = nullptr;
    std::unique_ptr<cnnvp::platform::design> design;
    uint64_t max_time = 0;
    uint64_t end_ps = 0;
    double wall_seconds = 0;
    std::vector<std::string> files; /* claimed */
    bool has_run = false;
    bool flushed = false; /* since the last run */
    bool exited = false;  /* the program ended the last run, with exit_code */
    int exit_code = 0;

    ~cnnvp_platform()
    {
        release_files(*this);
        if (design && design->stays_behind()) {
            (void)design.release(); /* NOLINT(bugprone-unused-return-value): to the end of the process */
            config = nullptr;
        }
        design.reset();
        cnnvp_gdb_free(gdb);
        cnnvp_profile_free(profile);
        cnnvp_units_free(asked);
        cnnvp_recorder_free(recorder);
        cnnvp_config_free(config);
    }
};

namespace {

/* Calls the function and turns an exception into FAILED. Only a broken unit or a lack of memory causes one. */
template <typename Function>
cnnvp_result shielded(cnnvp_error *error, Function &&function)
{
    try {
        return function();
    } catch (const sc_core::sc_unwind_exception &) {
        throw; /* ends the calling thread of the program's own simulation */
    } catch (const std::exception &problem) {
        if (error)
            std::snprintf(error->text, sizeof error->text, "%s", problem.what());
        return CNNVP_FAILED;
    }
}

/* The same inside the platform's simulation context. */
template <typename Function>
cnnvp_result inside(cnnvp_platform *platform, cnnvp_error *error, Function &&function)
{
    return shielded(error, [&] {
        const cnnvp::simulation_context::visit visit = platform->design->enter();
        return function();
    });
}

cnnvp_result fail(cnnvp_error *error, const char *text)
{
    if (error)
        std::snprintf(error->text, sizeof error->text, "%s", text);
    return CNNVP_FAILED;
}

/* Inside its context: refuses what a callback of the platform's own run cannot do. */
cnnvp_result check_rest(const cnnvp_platform &platform, cnnvp_error *error)
{
    return !platform.design->is_driven() && sc_core::sc_get_status() == sc_core::SC_RUNNING
               ? fail(error, "the platform is running, and this is called from one of its callbacks")
               : CNNVP_DONE;
}

template <typename Function>
cnnvp_result between_runs(cnnvp_platform *platform, cnnvp_error *error, Function &&function)
{
    return inside(platform, error, [&] {
        CNNVP_TRY(check_rest(*platform, error));
        return function();
    });
}

/* Files that platforms have yet to write: of two of one name only the last one would be left. */
std::set<std::string> &claimed_files()
{
    static auto *const all = new std::set<std::string>;
    return *all;
}

void release_files(cnnvp_platform &platform)
{
    for (const std::string &file : platform.files)
        claimed_files().erase(file);
    platform.files.clear();
}

/* NULL: no file. */
cnnvp_result claim_files(cnnvp_platform &platform, std::initializer_list<const char *> files, cnnvp_error *error)
{
    for (const char *const file : files) {
        if (!file || cnnvp_output_is_special(file))
            continue;
        const std::string path = std::filesystem::absolute(file).lexically_normal();
        if (std::find(platform.files.begin(), platform.files.end(), path) != platform.files.end())
            return cnnvp_config_error(error, file, "two outputs of the platform have this file");
        if (!claimed_files().insert(path).second)
            return cnnvp_config_error(error, file, "another platform of this process has yet to write this file");
        platform.files.push_back(path);
    }
    return CNNVP_DONE;
}

/* A program that is loaded now would not begin if the one before has ended. */
cnnvp_result check_core(const cnnvp_platform &platform, cnnvp_error *error)
{
    return !platform.design->is_driven() && platform.design->core_has_ended()
               ? fail(error, "the core's program has ended: cnnvp_platform_reset comes before the next one is loaded")
               : CNNVP_DONE;
}

/* True for a range of 32-bit addresses. */
bool is_range(uint64_t address, uint64_t size)
{
    return address <= UINT32_MAX && size <= UINT32_MAX && address + size <= uint64_t(UINT32_MAX) + 1;
}

/* Connects a debugger to the platform. */
cnnvp_result open_gdb(const char *port, cnnvp_platform &made, cnnvp_error *error)
{
    cnnvp_gdb_target target{};
    target.context = &made;
    target.read = [](void *context, uint32_t address, void *data, size_t size) -> int {
        return static_cast<cnnvp_platform *>(context)->design->memory().read(address, data, size);
    };
    target.write = [](void *context, uint32_t address, const void *data, size_t size) -> int {
        return static_cast<cnnvp_platform *>(context)->design->memory().write(address, data, size);
    };
    target.monitor = [](void *context, const char *words) {
        auto *platform = static_cast<cnnvp_platform *>(context);
        return strdup(cnnvp::monitor(*platform->design, *platform->recorder, words).c_str());
    };
    target.kill = [](void *context) {
        static_cast<cnnvp_platform *>(context)->design->control().stop(CNNVP_END_INTERRUPTED, "by the debugger");
    };
    target.wake = [](void *context) { static_cast<cnnvp_platform *>(context)->design->wake_core(); };
    return cnnvp_gdb_new(port, &target, &made.gdb, error);
}

/* True if a unit from a library takes commands; the time it announces is then compared with the time it takes. */
bool has_command_library(const cnnvp_resolved &resolved)
{
    for (size_t i = 0; i < resolved.instance_count; ++i)
        if (cnnvp_unit_command_port(resolved.instances[i].unit) != UINT32_MAX &&
            std::strchr(resolved.instances[i].model, ':'))
            return true;
    return false;
}

/* The first instance that is sped up; NULL: none. Units are asked what commands take without that. */
const cnnvp_instance *sped_up(const cnnvp_resolved &resolved)
{
    for (size_t i = 0; i < resolved.instance_count; ++i)
        if (resolved.instances[i].speedup != 1)
            return &resolved.instances[i];
    return nullptr;
}

/* `bind` NULL: builds below the module under construction, to be run by the program's sc_start. */
cnnvp_result build(const cnnvp_config *config, const cnnvp_platform_options &options, const cnnvp::bind_memory *bind,
                   cnnvp_platform &made, cnnvp_error *error)
{
    cnnvp::run_control::options control;

    if (!config)
        return fail(error, "no configuration is given");
    made.config = cnnvp_config_copy(config);
    const cnnvp_resolved *resolved = made.config ? cnnvp_config_resolved(made.config) : nullptr;
    if (!made.config)
        return fail(error, "there is not enough memory");
    if (!resolved)
        return fail(error, "the configuration has not been resolved");
    CNNVP_TRY(claim_files(made, {options.trace, options.series, options.memory_trace, options.profile}, error));
    const char *first = options.trace ? options.trace : options.series;
    CNNVP_TRY(cnnvp_recorder_new(resolved, first, options.timing_only, &made.recorder, error));
    if (options.trace && options.series)
        CNNVP_TRY(cnnvp_recorder_add_trace(made.recorder, options.series, error));
    if (options.memory_trace)
        CNNVP_TRY(cnnvp_burst_trace_new(resolved, options.memory_trace, &made.recorder->bursts, error));
    if (options.profile) {
        CNNVP_TRY(cnnvp_profile_new(options.profile, &made.profile, error));
        control.profile = made.profile;
    }
    control.recorder = made.recorder;
    made.recorder->stats.partial = 1; /* nothing has run yet */
    made.recorder->on_layer = options.layer;
    made.recorder->on_layer_context = options.layer_context;
    control.timing_only = options.timing_only != 0;
    control.verbosity = options.verbosity;
    control.console = options.console;
    control.console_context = options.console_context;
    control.log = options.log;
    control.log_context = options.log_context;
    control.strict = options.strict != 0;
    control.check_costs = options.check_costs != 0;
    const cnnvp_instance *faster = sped_up(*resolved);
    if (options.check_costs && faster) {
        const std::string text = std::string("costs cannot be compared with ") + faster->name +
                                 ".speedup=2: units say what commands take without it (check_costs)";
        (void)fail(error, text.c_str());
        return CNNVP_BAD_INPUT;
    }
    if (options.check_costs || (has_command_library(*resolved) && !faster)) {
        CNNVP_TRY(cnnvp_units_new(config, &made.asked, error));
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
        CNNVP_TRY(open_gdb(options.gdb, made, error));
        CNNVP_TRY(cnnvp_recorder_keep_snapshot(made.recorder, error));
        control.gdb = made.gdb;
    }
    made.max_time = options.max_time_ps;
    control.driven = bind == nullptr;
    return cnnvp::platform::design::build(*resolved, control, &made.design, error, bind ? *bind : nullptr);
}

cnnvp_result make_platform(const cnnvp_config *config, const cnnvp_platform_options *options,
                           const cnnvp::bind_memory *bind, cnnvp_platform **platform, cnnvp_error *error)
{
    cnnvp_platform_options own{};

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

void note(cnnvp_platform &platform, const cnnvp_run_result &result)
{
    platform.end_ps = result.time_ps;
    platform.exited = result.end == CNNVP_END_EXIT;
    platform.exit_code = result.exit_code;
    platform.recorder->stats.partial = !platform.exited;
}

/* Asks the units for what they have not yet told, in the middle of a run or after it. */
void read_units(cnnvp_platform &platform)
{
    cnnvp_recorder_pause(platform.recorder, 1);
    platform.design->flush();
    cnnvp_recorder_pause(platform.recorder, 0);
}

/* For a platform that the program's sc_start runs: updates its progress here. */
void catch_up(cnnvp_platform &platform)
{
    if (!platform.design->is_driven())
        return;
    platform.has_run = platform.design->has_begun();
    platform.wall_seconds = platform.design->wall_seconds();
    note(platform, platform.design->progress());
    if (cnnvp_path *path = platform.design->path(); path && !platform.design->control().ended())
        cnnvp_path_stop(path, platform.end_ps);
}

/* Frees a platform after writing its open files. */
void end_platform(cnnvp_platform *platform)
{
    cnnvp_error error;
    const cnnvp_result result = between_runs(platform, &error, [&] {
        if (platform->gdb)
            cnnvp_gdb_end(platform->gdb, platform->exited, platform->exit_code);
        return CNNVP_DONE;
    });
    if (result != CNNVP_DONE) {
        std::fprintf(stderr, "cnnvp: error: the platform is not freed: %s\n", error.text);
        return;
    }
    if (cnnvp_platform_close_trace(platform, &error) != CNNVP_DONE)
        std::fprintf(stderr, "cnnvp: %s\n", error.text);
    delete platform;
}

} // namespace

cnnvp_result cnnvp::platform::design::make(const cnnvp_config *config, const cnnvp_platform_options *options,
                                           const bind_memory *bind, cnnvp_platform **platform, cnnvp_error *error)
{
    return make_platform(config, options, bind, platform, error);
}

void cnnvp::platform::design::end(cnnvp_platform *platform)
{
    end_platform(platform);
}

cnnvp::platform::design &cnnvp::platform::design::of(const cnnvp_platform *platform)
{
    return *platform->design;
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
    const cnnvp::bind_memory none;
    cnnvp_error unwanted;

    return make_platform(config, options, &none, platform, error ? error : &unwanted);
}

cnnvp_result cnnvp_platform_check(const cnnvp_config *config, cnnvp_error *error)
{
    cnnvp_error unwanted;
    const cnnvp_resolved *resolved = cnnvp_config_resolved(config);

    if (!error)
        error = &unwanted;
    if (!resolved)
        return fail(error, "the configuration has not been resolved");
    return shielded(error, [&] { return cnnvp::platform::design::build(*resolved, {}, nullptr, error); });
}

cnnvp_result cnnvp_platform_close_trace(cnnvp_platform *platform, cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    cnnvp_error unwanted;

    if (!error)
        error = &unwanted;
    return inside(platform, error, [&] {
        catch_up(*platform);
        if (!platform->has_run)
            return CNNVP_DONE;
        const cnnvp_result result = platform->profile ? cnnvp_profile_finish(platform->profile, error) : CNNVP_DONE;
        platform->design->flush();
        cnnvp_recorder_trace_path(platform->recorder, platform->design->path(), platform->end_ps);
        CNNVP_TRY(result);
        CNNVP_TRY(cnnvp_recorder_finish(platform->recorder, platform->end_ps, error));
        release_files(*platform);
        return CNNVP_DONE;
    });
}

void cnnvp_platform_free(cnnvp_platform *platform)
{
    if (platform && platform->design->is_driven())
        std::fprintf(stderr, "cnnvp: error: the platform is not freed: it is a module, and ends with it\n");
    else if (platform)
        end_platform(platform);
}

cnnvp_result cnnvp_platform_ready(const cnnvp_platform *platform, int timing_only, cnnvp_error *error)
{
    return shielded(error, [&] {
        const cnnvp::simulation_context::visit visit = platform->design->enter();
        CNNVP_TRY(check_rest(*platform, error));
        CNNVP_TRY(check_core(*platform, error));
        if (timing_only || !platform->design->control().settings().timing_only)
            return CNNVP_DONE;
        return cnnvp_config_error(error, nullptr,
                                  "the platform is timing-only and calculates nothing; the program needs results "
                                  "(timing_only)");
    });
}

cnnvp_result cnnvp_platform_hold(cnnvp_platform *platform, uint64_t address, uint64_t size)
{
    if (!is_range(address, size))
        return CNNVP_BAD_INPUT;
    return inside(platform, nullptr, [&] {
        platform->design->memory().hold(
            cnnvp_program_range{static_cast<uint32_t>(address), static_cast<uint32_t>(size)});
        return CNNVP_DONE;
    });
}

cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step, uint64_t address,
                                      uint64_t size)
{
    if (!is_range(address, size))
        return CNNVP_BAD_INPUT;
    return inside(platform, nullptr, [&] {
        platform->design->memory().hold(
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
    CNNVP_TRY(cnnvp_elf_read(file, &elf, error));
    const std::unique_ptr<cnnvp_elf, void (*)(cnnvp_elf *)> owner(elf, cnnvp_elf_free);
    return between_runs(platform, error, [&] {
        if (platform->design->is_driven() && platform->design->has_begun())
            return fail(error, "the platform has begun: a program is loaded before it does, and runs once");
        CNNVP_TRY(check_core(*platform, error));
        const std::string unbound = platform->design->find_unbound();
        if (!unbound.empty())
            return fail(error, ("nothing is bound to initiator_socket(\"" + unbound +
                                "\"), which is to be done before a program is loaded")
                                   .c_str());
        const cnnvp_result loaded = platform->design->memory().load(*elf, file, argc, args, error);
        if (loaded == CNNVP_DONE) {
            platform->design->set_loaded();
            platform->recorder->stats.program = cnnvp_build_hash(elf->data, elf->size);
        }
        return loaded;
    });
}

cnnvp_result cnnvp_platform_read(cnnvp_platform *platform, uint64_t address, void *data, size_t size)
{
    return inside(platform, nullptr,
                  [&] { return platform->design->memory().read(address, data, size) ? CNNVP_DONE : CNNVP_BAD_INPUT; });
}

cnnvp_result cnnvp_platform_write(cnnvp_platform *platform, uint64_t address, const void *data, size_t size)
{
    return inside(platform, nullptr,
                  [&] { return platform->design->memory().write(address, data, size) ? CNNVP_DONE : CNNVP_BAD_INPUT; });
}

cnnvp_result cnnvp_platform_map(cnnvp_platform *platform, uint64_t address, size_t size, void **data)
{
    return inside(platform, nullptr,
                  [&] { return platform->design->memory().map(address, size, data) ? CNNVP_DONE : CNNVP_BAD_INPUT; });
}

static cnnvp_result access_register(cnnvp_platform *platform, uint32_t op, uint64_t address, uint32_t *value)
{
    return between_runs(platform, nullptr, [&] {
        cnnvp_access access = cnnvp::outside_access(op, 0, address, value, sizeof *value);
        return platform->design->access(access) >= CNNVP_OK ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_read_register(cnnvp_platform *platform, uint64_t address, uint32_t *value)
{
    *value = 0;
    return access_register(platform, CNNVP_READ, address, value);
}

cnnvp_result cnnvp_platform_write_register(cnnvp_platform *platform, uint64_t address, uint32_t value)
{
    return access_register(platform, CNNVP_WRITE, address, &value);
}

cnnvp_result cnnvp_platform_set_irq(cnnvp_platform *platform, const char *instance, int level)
{
    return between_runs(platform, nullptr, [&] {
        return platform->design->raise(instance, level) ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_run(cnnvp_platform *platform, cnnvp_run_result *result)
{
    cnnvp_error error{};

    *result = cnnvp_run_result{};
    result->end = CNNVP_END_FATAL; /* if the run does not start */
    const cnnvp_result ended = between_runs(platform, &error, [&] {
        if (platform->design->is_driven())
            return fail(&error, "the platform is a module of the program's own simulation: sc_start runs it");
        const auto begin = std::chrono::steady_clock::now();
        platform->has_run = true;
        platform->flushed = false;
        if (cnnvp_stats_note_run(&platform->recorder->stats) && platform->design->path())
            cnnvp_path_untag(platform->design->path());
        platform->design->run(platform->max_time, result);
        note(*platform, *result);
        platform->wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return result->end == CNNVP_END_EXIT && result->exit_code == 0 ? CNNVP_DONE : CNNVP_FAILED;
    });
    if (error.text[0] != '\0')
        std::snprintf(result->reason, sizeof result->reason, "%.*s", int(sizeof result->reason - 1), error.text);
    return ended;
}

/* Runs in slices of simulated time, which do not change the results. Their length adapts to the rate of calls. */
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
    return inside(platform, nullptr, [&] {
        if (!platform->flushed)
            read_units(*platform);
        platform->flushed = !platform->design->is_driven();
        cnnvp_recorder_layer(platform->recorder, layer, result);
        /* SIZE_MAX + 1 is 0. Work may also have the tag of a layer that nothing describes. */
        const bool exists = layer + 1 <= platform->recorder->stats.work.layer_count || result->cycles ||
                            result->dram_read_bytes || result->dram_write_bytes;
        return exists ? CNNVP_DONE : CNNVP_BAD_INPUT;
    });
}

cnnvp_result cnnvp_platform_describe_work(cnnvp_platform *platform, const cnnvp_work_info *work)
{
    return inside(platform, nullptr, [&] {
        const cnnvp_result result = cnnvp_stats_describe(&platform->recorder->stats, work);
        if (cnnvp_path *path = platform->design->path(); path && platform->recorder->stats.has_left)
            cnnvp_path_untag(path);
        return result;
    });
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
    return inside(platform, nullptr, [&] {
        catch_up(*platform);
        read_units(*platform);
        cnnvp_recorder_set_path(platform->recorder, platform->design->path(), platform->end_ps);
        return cnnvp_stats_json(&platform->recorder->stats, platform->end_ps, platform->wall_seconds, json);
    });
}

cnnvp_result cnnvp_platform_reset(cnnvp_platform *platform)
{
    return between_runs(platform, nullptr, [&] {
        if (platform->design->is_driven())
            return CNNVP_FAILED; /* the kernel belongs to the program */
        platform->design->reset();
        cnnvp_stats_note_reset(&platform->recorder->stats);
        return CNNVP_DONE;
    });
}

} /* extern "C" */
