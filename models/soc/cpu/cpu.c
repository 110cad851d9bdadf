/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit `cpu`: RV32IMAC core (rv32.h) on the model ABI. Modelled: cycles of instructions by their class, tightly
 * coupled memory or caches, sleep, interrupts at the exact edge, device accesses at their own time. Not modelled:
 * pipelines and branch prediction beyond the cycles of a class.
 *
 * - Port `bus`: memory and devices. Memory that gives direct access (dmi) is used directly; cpu_memory.c adds its time.
 *   Every other access is made at the exact time of its instruction, after everything that is pending at that instant.
 * - Port `irq`: lines 0 software, 1 timer, 2 external.
 * - Port `control`: takes a struct cnnvp_cpu_program (cnnvp_program.h) as CNNVP_COMMAND; without one the core is idle.
 * - The run ends by `tohost` (1: status 0, otherwise word >> 1), by semihosting exit, or with status 1 if the guest can
 *   never go on: its trap handler cannot run, or it sleeps or jumps to itself with all interrupts off.
 *
 * An instruction at clock edge n sees everything that happened at or before that edge, whatever the quantum.
 */
#include "units.h"
#include "unit/parts.h"

#include <stdlib.h>

#include "cpu_internal.h"

#define EXIT_FAILURE_CODE 1u
/* Large enough for device accesses, which run chains of units on this stack. */
#define PROCESS_STACK (512u * 1024u)

void cpu_finish(struct cpu *cpu, uint32_t code, const char *reason)
{
    cpu->finished = 1;
    cpu->ops->finish(cpu->host, code <= INT32_MAX ? (int)code : (int)EXIT_FAILURE_CODE, reason);
    cnnvp_rv32_exit(cpu->core, code);
}

void cpu_tohost(void *context, uint32_t word)
{
    struct cpu *cpu = context;
    if (cpu_sync(cpu) == CNNVP_OK)
        cpu_finish(cpu, word >> 1, "the guest reported a failure by tohost");
}

/* The last tick of the timebase at or before a time. */
static uint64_t tick_at(const struct cpu *cpu, cnnvp_time time)
{
    return cnnvp_edge_at_or_after(cpu->timebase_mhz, time + 1u) - 1u;
}

/* Ticks since the reset, as the timer's mtime. */
static uint64_t time_csr(void *context)
{
    const struct cpu *cpu = context;
    const uint64_t edge = cpu->running ? cpu_present(cpu) : cpu->edge;
    return tick_at(cpu, cnnvp_edge_time(cpu->mhz, edge)) - cpu->reset_tick;
}

static void hand_over(struct cpu *cpu)
{
    struct cnnvp_rv32_stats stats;
    cnnvp_rv32_get_stats(cpu->core, &stats);
    uint64_t values[STAT_COUNT] = {
        [STAT_instructions] = stats.retired,
        [STAT_cycles] = stats.cycles,
        [STAT_wfi_cycles] = cpu->wfi_cycles,
        [STAT_stall_cycles] = cpu->stall_cycles,
        [STAT_loads] = stats.loads,
        [STAT_stores] = stats.stores,
        [STAT_multiplies] = stats.multiplies,
        [STAT_divides] = stats.divides,
        [STAT_jumps] = stats.jumps,
        [STAT_device_reads] = cpu->device_reads,
        [STAT_device_writes] = cpu->device_writes,
        [STAT_exceptions] = stats.exceptions,
        [STAT_interrupts] = stats.interrupts,
    };
    cpu_memory_counts(cpu, &stats, values);
    for (uint32_t i = 0; i < STAT_COUNT; ++i) {
        if (values[i] > cpu->reported[i])
            cpu->ops->count(cpu->host, i, 0, values[i] - cpu->reported[i]);
        cpu->reported[i] = values[i];
    }
}

/* Shows the work since the last sleep as a span. Traces of functions show what the core works on. */
static void show_work(struct cpu *cpu)
{
    const cnnvp_time now = cpu->ops->now(cpu->host), edge = cnnvp_edge_time(cpu->mhz, cpu->edge);
    const cnnvp_time end = edge < now ? edge : now;
    if (cpu->works_from < end) {
        cpu->ops->span(cpu->host, TRACK_work, "work", 0, 0, cpu->works_from, end);
        cpu->works_from = end;
    }
}

/* Executes the jump to itself for `cycles` cycles; the last jump is completed. */
static void skip(struct cpu *cpu, uint64_t cycles)
{
    const uint64_t jumps = (cycles + cpu->jump_cycles - 1u) / cpu->jump_cycles;
    cnnvp_rv32_skip(cpu->core, jumps);
    cpu->edge += jumps * cpu->jump_cycles - cycles;
}

/* Counts the whole cycles of a sleep that has not ended. */
static void count_sleep(struct cpu *cpu)
{
    const uint64_t next = cnnvp_edge_at_or_after(cpu->mhz, cpu->ops->now(cpu->host) + 1u);
    uint64_t cycles = next > cpu->edge + 1u ? next - 1u - cpu->edge : 0;
    if (cpu->sleeps == CPU_AWAKE)
        return;
    if (cpu->sleeps == CPU_IN_LOOP)
        cycles -= cycles % cpu->jump_cycles;
    cpu->edge += cycles;
    if (cpu->sleeps == CPU_IN_LOOP) {
        skip(cpu, cycles);
    } else {
        cpu->wfi_cycles += cycles;
        cnnvp_rv32_idle(cpu->core, cycles);
    }
}

static void flush(void *instance)
{
    count_sleep(instance);
    hand_over(instance);
    show_work(instance);
}

static void log_traps(const struct cpu *cpu)
{
    struct cnnvp_rv32_trap traps[CNNVP_RV32_TRAP_LOG];
    const size_t count = cnnvp_rv32_trap_log(cpu->core, traps);
    for (size_t i = 0; i < count; ++i)
        cpu->ops->log(cpu->host, CNNVP_LOG_ERROR,
                      "trap after %llu instructions: pc 0x%08x, mcause 0x%08x, mtval 0x%08x",
                      (unsigned long long)traps[i].slot, (unsigned)traps[i].pc, (unsigned)traps[i].cause,
                      (unsigned)traps[i].tval);
}

static void give_up(struct cpu *cpu, const char *reason)
{
    cpu->ops->log(cpu->host, CNNVP_LOG_ERROR, "%s, pc 0x%08x", reason, (unsigned)cnnvp_rv32_pc(cpu->core));
    log_traps(cpu);
    cpu_debug_failure(cpu);
    cpu_finish(cpu, EXIT_FAILURE_CODE, reason);
}

/* Waits until the first instruction of the next run is due and everything else at that instant is done. */
static int catch_up(struct cpu *cpu)
{
    const cnnvp_time at = cnnvp_edge_time(cpu->mhz, cpu->edge);
    const cnnvp_time now = cpu->ops->now(cpu->host);
    int status = at > now ? cpu->ops->wait(cpu->host, at - now) : CNNVP_OK;
    if (status == CNNVP_OK)
        status = cpu->ops->settle(cpu->host);
    cpu->stopped |= status != CNNVP_OK;
    return status;
}

/* Sleeps until the next call of wake, then to the clock edge that follows. Returns the cycles that passed and are not
 * counted yet. */
static uint64_t sleep_once(struct cpu *cpu, int in_loop)
{
    show_work(cpu);
    cpu->works_from = CNNVP_TIME_NEVER;
    cpu->sleeps = in_loop ? CPU_IN_LOOP : CPU_IN_WFI;
    cpu->stopped = cpu->ops->wait_wake(cpu->host) != CNNVP_OK;
    if (cpu->stopped)
        count_sleep(cpu);
    cpu->sleeps = CPU_AWAKE;
    if (cpu->stopped)
        return 0;
    const uint64_t before = cpu->edge;
    const uint64_t edge = cnnvp_edge_at_or_after(cpu->mhz, cpu->ops->now(cpu->host));
    if (edge > before)
        cpu->edge = edge;
    cpu->works_from = cnnvp_edge_time(cpu->mhz, cpu->edge);
    (void)catch_up(cpu);
    return cpu->edge - before;
}

static void sleep_in_wfi(struct cpu *cpu)
{
    while (!cpu->stopped && !cnnvp_rv32_wakeup(cpu->core)) {
        if (!cnnvp_rv32_can_wake(cpu->core)) {
            give_up(cpu, "the guest sleeps (wfi) with all interrupts disabled");
            return;
        }
        const uint64_t cycles = sleep_once(cpu, 0);
        cpu_set_free(cpu, 0);
        cpu->wfi_cycles += cycles;
        cnnvp_rv32_idle(cpu->core, cycles);
        if (cpu_debug_asleep(cpu))
            return;
    }
}

/* A jump to itself that only an interrupt can end. */
static void sleep_in_loop(struct cpu *cpu)
{
    if (!cnnvp_rv32_can_wake(cpu->core)) {
        give_up(cpu, "the guest is in an endless loop with all interrupts disabled");
        return;
    }
    while (!cpu->stopped && !cnnvp_rv32_wakeup(cpu->core)) {
        skip(cpu, sleep_once(cpu, 1));
        if (cpu_debug_asleep(cpu))
            return;
    }
}

static void run_once(struct cpu *cpu)
{
    uint64_t executed;
    if (catch_up(cpu) != CNNVP_OK)
        return;
    cpu->limit = cpu_debug_cycles(cpu, cpu->free + cpu_cycles(cpu, cpu->edge));
    cpu->running = 1;
    const enum cnnvp_rv32_reason reason = cnnvp_rv32_run(cpu->core, cpu->limit, &executed);
    cpu->running = 0;
    cpu_end_run(cpu, executed);
    cpu->hit = reason == CNNVP_RV32_HIT;
    if (cpu->stopped || cpu->finished)
        return;
    if (reason == CNNVP_RV32_DOUBLE_FAULT) {
        give_up(cpu, "the guest's trap handler cannot be executed");
    } else if ((reason == CNNVP_RV32_WFI || reason == CNNVP_RV32_IDLE_LOOP) && catch_up(cpu) == CNNVP_OK) {
        if (reason == CNNVP_RV32_WFI)
            sleep_in_wfi(cpu);
        else
            sleep_in_loop(cpu);
    }
}

static void process(void *instance)
{
    struct cpu *cpu = instance;
    hand_over(cpu);
    cnnvp_rv32_follow_calls(cpu->core, cpu_follows_calls(cpu));
    cnnvp_rv32_profile(cpu->core, cpu->program.profiler);
    cnnvp_rv32_reset(cpu->core, cpu->program.entry);
    for (uint32_t i = 0; i < STAT_COUNT; ++i)
        cpu->reported[i] = 0;
    for (uint32_t i = 0; i < STAT_COUNT; ++i)
        cpu->counts[i] = 0;
    cpu->wfi_cycles = cpu->stall_cycles = cpu->device_reads = cpu->device_writes = cpu->data_past = 0;
    cpu->stopped = cpu->finished = 0;
    cpu->sleeps = CPU_AWAKE;
    cpu_set_free(cpu, 0);
    cpu->faults_logged = 0;
    cpu->edge = cnnvp_edge_at_or_after(cpu->mhz, cpu->ops->now(cpu->host));
    cpu->reset_tick = tick_at(cpu, cpu->ops->now(cpu->host));
    cpu->works_from = cnnvp_edge_time(cpu->mhz, cpu->edge);
    if (!cpu->has_program)
        return;
    cpu_memory_start(cpu);
    cpu_calls_start(cpu);
    cpu_debug_start(cpu);
    if (cpu->program.tohost != 0 && cpu_map(cpu, cpu->program.tohost))
        (void)cnnvp_rv32_watch_tohost(cpu->core, cpu->program.tohost);
    while (!cpu->stopped && !cpu->finished)
        run_once(cpu);
}

static void signal_changed(void *instance, uint32_t port, uint32_t line, int level)
{
    static const enum cnnvp_rv32_line lines[] = {CNNVP_RV32_MSIP, CNNVP_RV32_MTIP, CNNVP_RV32_MEIP};
    struct cpu *cpu = instance;
    if (port != PORT_irq || line >= sizeof lines / sizeof lines[0])
        return;
    cnnvp_rv32_set_irq(cpu->core, lines[line], level);
    if (level)
        cpu->ops->wake(cpu->host);
}

static int take_program(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct cpu *cpu = instance;
    (void)port;
    if (access->op != CNNVP_COMMAND || access->data == NULL)
        return CNNVP_E_ACCESS;
    if (access->size == sizeof(struct cnnvp_cpu_withdrawal)) {
        cpu_withdraw(cpu, access->data);
        return CNNVP_OK;
    }
    if (access->size != sizeof cpu->program)
        return CNNVP_E_INVAL;
    const int status = cpu_tcm_take(cpu, access->data);
    if (status != CNNVP_OK)
        return status;
    cpu->program = *(const struct cnnvp_cpu_program *)access->data;
    cpu->program.held = NULL; /* both were valid for this access only */
    cpu->program.tables = NULL;
    cpu->has_program = 1;
    return CNNVP_OK;
}

static uint32_t cycles_of(const struct cnnvp_init *init, uint32_t param)
{
    return (uint32_t)init->ops->param(init->host, param);
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct cpu *cpu = instance;
    struct cnnvp_rv32_config config = {
        .bus = {.context = cpu,
                .load = cpu_load,
                .store = cpu_store,
                .fetch = cpu_fetch,
                .time = time_csr,
                .semihost = cpu_semihost,
                .call = cpu_call,
                .tohost = cpu_tohost},
        .cycles = {.load = cycles_of(init, PARAM_load_cycles),
                   .store = cycles_of(init, PARAM_store_cycles),
                   .multiply = cycles_of(init, PARAM_multiply_cycles),
                   .divide = cycles_of(init, PARAM_divide_cycles),
                   .jump = cycles_of(init, PARAM_jump_cycles)},
        .fetch_bytes = cycles_of(init, PARAM_cache_line)};
    cpu->host = init->host;
    cpu->ops = init->ops;
    cpu->mhz = init->ops->clock_mhz(init->host);
    cpu->quantum = init->ops->param(init->host, PARAM_quantum);
    cpu->timebase_mhz = init->ops->param(init->host, PARAM_timebase_mhz);
    cpu->jump_cycles = config.cycles.jump;
    cpu->is_free = init->ops->param(init->host, PARAM_timing) != 0;
    int status = cpu_memory_init(cpu);
    if (cpu->kind != CPU_IDEAL) {
        config.bus.memory = cpu_memory_access;
        config.bus.hit = cpu_memory_hit;
        config.bus.fence = cpu_memory_fence;
        config.bus.there = (struct cnnvp_rv32_there){
            .code = cpu->fetched,
            .lines = cpu->dcache.tags,
            .line_shift = cpu->line_shift,
            .line_mask = cpu->dcache.sets - 1u};
    }
    cpu->core = status == CNNVP_OK ? malloc(cnnvp_rv32_size()) : NULL;
    if (status == CNNVP_OK && (cpu->core == NULL || cnnvp_rv32_init(cpu->core, &config) != 0))
        status = CNNVP_E_NOMEM;
    if (status != CNNVP_OK) {
        cpu_memory_fini(cpu);
        free(cpu->core);
        cpu->core = NULL;
    }
    return status;
}

static void fini(void *instance)
{
    struct cpu *cpu = instance;
    cnnvp_rv32_fini(cpu->core);
    free(cpu->core);
    cpu_memory_fini(cpu);
}

/* The process may be inside the core at this time; it resets the core when it starts again. */
static void reset(void *instance)
{
    (void)instance;
}

static void costs_of(const uint64_t *params, const struct cnnvp_costs *costs)
{
    cnnvp_say_part(costs, CNNVP_PART_CORE, 32u, 1u, "core, without memories");
    cpu_memory_costs(params, costs);
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_cpu = {
    UNIT_TABLES,
    .kind = "cpu",
    .version = "1.0",
    .summary = "RISC-V core RV32IMAC, machine mode",
    .instance_size = sizeof(struct cpu),
    .process_stack = PROCESS_STACK,
    .init = init,
    .fini = fini,
    .reset = reset,
    .access = take_program,
    .complete = cpu_complete,
    .signal = signal_changed,
    .process = process,
    .flush = flush,
    .costs = costs_of,
    .show = cpu_debug_show,
};
