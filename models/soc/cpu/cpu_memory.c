/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core runs from (parameter `memory`).
 *
 * - tcm: the tightly coupled memory holds ranges of addresses: the program's segments and its stack, and the tables
 *   that it reads, at least those of the current step (cpu_tcm.c). They take no further cycle. Any other access to
 *   memory is a request to the off-chip memory. The core waits for loads, and for code, which comes in lines; one store
 *   is in flight while the core goes on.
 * - cache: an instruction and a data cache, write-back and write-allocate. A miss reads a line, and the core waits for
 *   it. Meanwhile the replaced line is written back, one at a time.
 * - ideal: no time.
 *
 * In every mode data stay in the one memory, so values are those of a coherent system: the DMA sees what the core has
 * written, as at a port that snoops; the time of snoops is not modelled. fence.i writes the dirty lines of the data
 * cache back, which stay there, and empties the instruction cache and the fetch buffer.
 */
#include "cpu_internal.h"
#include "unit/parts.h"

#include <inttypes.h>

#define WORD_BYTES 4u
#define STACK_POINTER 2u

static uint32_t line_bytes(const struct cpu *cpu)
{
    return (uint32_t)1 << cpu->line_shift;
}

int cpu_go_on(struct cpu *cpu, int status, uint64_t *stalls)
{
    if (status == CNNVP_OK) {
        const uint64_t cycles = cpu_stall(cpu, cpu->ops->now(cpu->host));
        cpu->counts[STAT_memory_stall_cycles] += cycles;
        *stalls += cycles;
        return cpu_sync(cpu);
    }
    cpu->stopped = 1;
    cnnvp_rv32_stop(cpu->core);
    return status;
}

/* Waits for a transfer; the core goes on at the clock edge that follows its end. */
static int wait_for(struct cpu *cpu, const struct cpu_transfer *transfer)
{
    uint64_t stalls = 0;
    int status = CNNVP_OK;
    if (!transfer->under_way)
        return CNNVP_OK;
    while (transfer->under_way && status == CNNVP_OK)
        status = cpu->ops->wait_wake(cpu->host);
    return cpu_go_on(cpu, status, &stalls);
}

int cpu_request(struct cpu *cpu, struct cpu_transfer *transfer, const struct cnnvp_request *request)
{
    transfer->request = *request;
    transfer->under_way = 1;
    const int status = cpu->ops->request(cpu->host, PORT_mem, &transfer->request);
    if (status != CNNVP_OK)
        transfer->under_way = 0;
    return status;
}

/* Sends a request without data: the data move when the instruction is executed. */
static int start(struct cpu *cpu, struct cpu_transfer *transfer, uint32_t op, uint32_t address, uint32_t size)
{
    const struct cnnvp_request request = {
        .op = op, .address = address, .size = size, .count = 1, .burst_bytes = size, .outstanding = 1};
    return cpu_request(cpu, transfer, &request);
}

void cpu_complete(void *instance, uint32_t port, struct cnnvp_request *request)
{
    struct cpu *cpu = instance;
    (void)port;
    if (request == &cpu->read.request)
        cpu->read.under_way = 0;
    else if (request == &cpu->write.request)
        cpu->write.under_way = 0;
    else
        cpu_tcm_complete(cpu, request);
    cpu->ops->wake(cpu->host);
}

/* Starts a write when the previous one has ended; the core does not wait for its end. */
static int write_memory(struct cpu *cpu, uint32_t address, uint32_t size)
{
    const int status = wait_for(cpu, &cpu->write);
    return status == CNNVP_OK ? start(cpu, &cpu->write, CNNVP_WRITE, address, size) : status;
}

static int read_memory(struct cpu *cpu, uint32_t address, uint32_t size)
{
    int status = start(cpu, &cpu->read, CNNVP_READ, address, size);
    if (status == CNNVP_OK)
        status = wait_for(cpu, &cpu->read);
    return status == CNNVP_OK ? cpu->read.request.status : status;
}

/* ---- caches ---- */

static struct cpu_cache *cache_of(struct cpu *cpu, enum cnnvp_rv32_access access)
{
    return access == CNNVP_RV32_FETCH ? &cpu->icache : &cpu->dcache;
}

static void count_hit(struct cpu *cpu, enum cnnvp_rv32_access access)
{
    ++cpu->counts[access == CNNVP_RV32_FETCH ? STAT_icache_hits : STAT_dcache_hits];
}

/* ---- code: the fetch buffer holds two lines ---- */

static int is_fetched(const struct cpu *cpu, uint32_t line)
{
    return cpu->fetched[0] == line || cpu->fetched[1] == line;
}

static void fetched(struct cpu *cpu, uint32_t line)
{
    cpu->fetched[1] = cpu->fetched[0];
    cpu->fetched[0] = line;
}

/* ---- accesses ---- */

static int hit_line(struct cpu *cpu, enum cnnvp_rv32_access access, uint32_t address)
{
    if (cpu->kind != CPU_CACHE || !cpu_cache_again(cache_of(cpu, access), address, access == CNNVP_RV32_WRITE))
        return 0;
    count_hit(cpu, access);
    if (access == CNNVP_RV32_FETCH)
        fetched(cpu, address >> cpu->line_shift);
    return 1;
}

/* Finds only hits that are quick to find. Any other access is no hit to the core, and cpu_memory_access looks
 * further. */
int cpu_memory_hit(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    struct cpu *cpu = context;
    const uint32_t first = address >> cpu->line_shift;
    const uint32_t last = (address + (size - 1u)) >> cpu->line_shift;
    if (access == CNNVP_RV32_FETCH && is_fetched(cpu, first))
        return first == last || is_fetched(cpu, last);
    return first == last && hit_line(cpu, access, address);
}

static int fill(struct cpu *cpu, enum cnnvp_rv32_access access, uint32_t address)
{
    const struct cpu_evicted evicted = cpu_cache_put(cache_of(cpu, access), address);
    int status = CNNVP_OK;
    ++cpu->counts[access == CNNVP_RV32_FETCH ? STAT_icache_misses : STAT_dcache_misses];
    if (evicted.dirty) {
        ++cpu->counts[STAT_write_backs];
        status = write_memory(cpu, evicted.address, line_bytes(cpu));
    }
    return status == CNNVP_OK ? read_memory(cpu, address, line_bytes(cpu)) : status;
}

static int use_cache(struct cpu *cpu, enum cnnvp_rv32_access access, uint32_t address)
{
    struct cpu_cache *cache = cache_of(cpu, access);
    int status = CNNVP_OK;
    if (cpu_cache_has(cache, address))
        count_hit(cpu, access);
    else
        status = fill(cpu, access, address);
    cpu_cache_use(cache, address, access == CNNVP_RV32_WRITE);
    return status;
}

static int fetch_line(struct cpu *cpu, uint32_t line)
{
    const uint32_t address = line << cpu->line_shift;
    const int known = is_fetched(cpu, line);
    if (cpu->fetched[0] != line)
        fetched(cpu, line); /* the older one stays for the second half of an instruction */
    if (known)
        return CNNVP_OK;
    if (cpu->kind == CPU_CACHE)
        return use_cache(cpu, CNNVP_RV32_FETCH, address);
    ++cpu->counts[STAT_memory_reads];
    return read_memory(cpu, address, line_bytes(cpu));
}

/* Warns once if an access past the TCM is near the stack pointer: the program has not said where its stack is. */
static void look_for_stack(struct cpu *cpu, uint32_t address)
{
    const uint32_t stack = cnnvp_rv32_reg(cpu->core, STACK_POINTER);
    if (cpu->program.stack != 0 || cpu->stack_said || address - stack >= CNNVP_RV32_GRANULE)
        return;
    cpu->stack_said = 1;
    cpu->ops->log(cpu->host, CNNVP_LOG_WARNING,
                  "the stack, at 0x%08x, is in off-chip memory, because the program does not say where it ends: define "
                  "the symbol __stack there",
                  (unsigned)stack);
}

/* Warns once. */
void cpu_memory_untimed(struct cpu *cpu, uint32_t address)
{
    if (cpu->untimed_said || cpu->kind != CPU_CACHE)
        return;
    cpu->untimed_said = 1;
    cpu->ops->log(
        cpu->host, CNNVP_LOG_WARNING,
        "the caches are not used, because the memory at 0x%08x gives no direct access: what the core fetches, "
        "loads and stores there takes no time",
        (unsigned)address);
}

static int use_memory(struct cpu *cpu, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    int held = 0;
    const int status = access == CNNVP_RV32_READ ? cpu_tcm_read(cpu, address, &held) : CNNVP_OK;
    if (held || status != CNNVP_OK)
        return status;
    look_for_stack(cpu, address);
    ++cpu->data_past;
    ++cpu->counts[access == CNNVP_RV32_WRITE ? STAT_memory_writes : STAT_memory_reads];
    return access == CNNVP_RV32_WRITE ? write_memory(cpu, address, size) : read_memory(cpu, address, size);
}

static int use_lines(struct cpu *cpu, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    const uint32_t last = (address + (size - 1u)) >> cpu->line_shift;
    int status = CNNVP_OK;
    for (uint32_t line = address >> cpu->line_shift; line <= last && status == CNNVP_OK; ++line)
        status = access == CNNVP_RV32_FETCH ? fetch_line(cpu, line) : use_cache(cpu, access, line << cpu->line_shift);
    return status;
}

int cpu_memory_access(void *context, enum cnnvp_rv32_access access, uint32_t address, unsigned size)
{
    struct cpu *cpu = context;
    if (cpu->free_memory)
        return CNNVP_OK;
    int status = cpu_sync(cpu);
    if (status != CNNVP_OK)
        return status;
    status = access != CNNVP_RV32_FETCH && cpu->kind == CPU_TCM
                 ? use_memory(cpu, access, address, size)
                 : use_lines(cpu, access, address, size);
    cpu_tighten(cpu);
    if (status != CNNVP_OK && !cpu->stopped)
        cpu_log_fault(cpu, access == CNNVP_RV32_WRITE ? "write of" : "read of", address, status);
    return status;
}

static void forget_code(struct cpu *cpu)
{
    cpu->fetched[0] = cpu->fetched[1] = CNNVP_RV32_NO_CODE;
    if (cpu->kind == CPU_CACHE)
        cpu_cache_empty(&cpu->icache);
}

void cpu_memory_fence(void *context)
{
    struct cpu *cpu = context;
    size_t next = 0;
    uint32_t address;
    forget_code(cpu);
    if (cpu->kind != CPU_CACHE || cpu->free_memory)
        return;
    int status = cpu_sync(cpu);
    while (status == CNNVP_OK && cpu_cache_clean(&cpu->dcache, &next, &address)) {
        ++cpu->counts[STAT_write_backs];
        status = write_memory(cpu, address, line_bytes(cpu));
    }
    if (status == CNNVP_OK)
        (void)wait_for(cpu, &cpu->write);
    cpu_tighten(cpu);
}

/* ---- life ---- */

int cpu_memory_init(struct cpu *cpu)
{
    const struct cnnvp_host_ops *ops = cpu->ops;
    const uint32_t line = (uint32_t)ops->param(cpu->host, PARAM_cache_line);
    const struct {
        struct cpu_cache *cache;
        uint32_t size, ways;
    } caches[] = {{&cpu->icache, PARAM_icache_size, PARAM_icache_ways},
                  {&cpu->dcache, PARAM_dcache_size, PARAM_dcache_ways}};
    while (line >> cpu->line_shift > 1u)
        ++cpu->line_shift;
    cpu->kind = cpu->is_free ? CPU_IDEAL : (enum cpu_memory_kind)ops->param(cpu->host, PARAM_memory);
    cpu->tcm_size = ops->param(cpu->host, PARAM_tcm_size);
    if ((line & (line - 1u)) != 0)
        return ops->config_error(
            cpu->host, PARAM_cache_line, "a line has 2^n bytes, such as %" PRIu32, (uint32_t)1 << cpu->line_shift);
    for (size_t i = 0; i < sizeof caches / sizeof caches[0] && cpu->kind == CPU_CACHE; ++i) {
        const uint64_t size = ops->param(cpu->host, caches[i].size);
        const uint32_t ways = (uint32_t)ops->param(cpu->host, caches[i].ways);
        if (!cpu_cache_possible(size, ways, line))
            return ops->config_error(cpu->host, caches[i].size,
                                     "a cache of %" PRIu64 " bytes with %" PRIu32 " lines of %" PRIu32
                                     " bytes in a set cannot be: there are 2^n sets; %" PRIu64 " bytes would do",
                                     size, ways, line, (uint64_t)256u * ways * line);
        if (cpu_cache_init(caches[i].cache, size, ways, line) != 0)
            return CNNVP_E_NOMEM;
    }
    return CNNVP_OK;
}

void cpu_memory_fini(struct cpu *cpu)
{
    cpu_cache_fini(&cpu->icache);
    cpu_cache_fini(&cpu->dcache);
    cpu_tcm_fini(cpu);
}

void cpu_memory_start(struct cpu *cpu)
{
    cpu->read.under_way = cpu->write.under_way = 0;
    cpu->stack_said = cpu->untimed_said = 0;
    cpu->free_memory = cpu->kind != CPU_IDEAL && !cpu->ops->connected(cpu->host, PORT_mem);
    if (cpu->free_memory)
        cpu->ops->log(cpu->host, CNNVP_LOG_WARNING,
                      "memory takes no time, because port mem is open: connect: {mem: ...}, or say memory: ideal");
    forget_code(cpu);
    if (cpu->kind == CPU_CACHE)
        cpu_cache_empty(&cpu->dcache);
    cpu_tcm_start(cpu);
}

/* Hits in the most recently used line of a set, which the core finds by itself. */
static uint64_t quick_hits(const struct cnnvp_rv32_stats *stats)
{
    return stats->loads + stats->stores - stats->asked;
}

/* Data accesses that the TCM or the data cache serves. */
static uint64_t served(const struct cpu *cpu, const struct cnnvp_rv32_stats *stats)
{
    if (cpu->kind == CPU_CACHE)
        return quick_hits(stats) + cpu->counts[STAT_dcache_hits] + cpu->counts[STAT_dcache_misses];
    const uint64_t all = stats->loads + stats->stores;
    const uint64_t past = cpu->data_past + cpu->device_reads + cpu->device_writes;
    return cpu->kind == CPU_TCM && all > past ? all - past : 0;
}

void cpu_memory_counts(const struct cpu *cpu, const struct cnnvp_rv32_stats *stats, uint64_t *values)
{
    const uint64_t fills = cpu->counts[STAT_icache_misses] + cpu->counts[STAT_dcache_misses];
    for (uint32_t i = 0; i < STAT_COUNT; ++i)
        values[i] += cpu->counts[i];
    if (cpu->kind == CPU_CACHE)
        values[STAT_dcache_hits] += quick_hits(stats);
    values[STAT_fills] = fills;
    values[STAT_sram_bytes] = served(cpu, stats) * WORD_BYTES +
                              (fills + cpu->counts[STAT_write_backs]) * line_bytes(cpu) + cpu->counts[STAT_table_bytes];
}

/* An access reads a word and its tag in each way. */
static void say_cache(const struct cnnvp_costs *costs, uint64_t size, uint32_t ways, uint32_t line, const char *what)
{
    const uint64_t tags = cpu_cache_tag_bits(size, ways, line);
    const uint32_t tag = (uint32_t)(tags / (size / line));
    cnnvp_say_sram(costs, ways * (8u * WORD_BYTES + tag), size + (tags + 7u) / 8u, 1, what);
}

void cpu_memory_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint32_t line = (uint32_t)params[PARAM_cache_line];
    /* The data cache comes first because its accesses are those in sram_bytes. */
    const uint64_t size[] = {params[PARAM_dcache_size], params[PARAM_icache_size]};
    const uint32_t ways[] = {(uint32_t)params[PARAM_dcache_ways], (uint32_t)params[PARAM_icache_ways]};
    static const char *const names[] = {"data cache", "instruction cache"};
    if (params[PARAM_memory] == CPU_TCM)
        cnnvp_say_sram(costs, 8u * WORD_BYTES, params[PARAM_tcm_size], 1, "tightly coupled memory");
    for (uint32_t i = 0; i < 2u && params[PARAM_memory] == CPU_CACHE; ++i)
        if (cpu_cache_possible(size[i], ways[i], line))
            say_cache(costs, size[i], ways[i], line, names[i]);
}
