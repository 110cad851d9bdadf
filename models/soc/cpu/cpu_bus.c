/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's accesses to memory and devices, and how it keeps step with simulated time.
 *
 * Cycle n of a run is at clock edge `edge` + n - `free`; the first `free` cycles are at `edge`. The core runs ahead of
 * simulated time, but never past the next event that is pending in the simulation. So nothing can happen that an
 * instruction already executed should have seen. A device access waits until its own time, lets everything else that is
 * pending at that instant go first, and then looks again at what is pending.
 */
#include <string.h>

#include "cpu_internal.h"

enum { PAGE_SHIFT = 12, FAULTS_LOGGED = 16, FREE_CYCLES = 1 << 20 };

uint64_t cpu_cycles(struct cpu *cpu, uint64_t edge)
{
    const cnnvp_time next = cpu->ops->next_activity(cpu->host);
    uint64_t cycles = cpu->quantum;
    if (next != CNNVP_TIME_NEVER) {
        const uint64_t next_edge = cnnvp_edge_at_or_after(cpu->mhz, next);
        const uint64_t free = next_edge > edge ? next_edge - edge : 1u;
        if (free < cycles)
            cycles = free;
    }
    return cycles;
}

static uint64_t timed_cycles(const struct cpu *cpu, uint64_t executed)
{
    return executed > cpu->free ? executed - cpu->free : 0;
}

uint64_t cpu_present(const struct cpu *cpu)
{
    return cpu->edge + timed_cycles(cpu, cnnvp_rv32_executed(cpu->core));
}

void cpu_set_free(struct cpu *cpu, uint64_t executed)
{
    cpu->edge += timed_cycles(cpu, executed);
    cpu->free = executed + (cpu->is_free ? FREE_CYCLES : 0);
}

void cpu_end_run(struct cpu *cpu, uint64_t executed)
{
    cpu->edge += timed_cycles(cpu, executed);
    cpu->free -= executed < cpu->free ? executed : cpu->free;
}

void cpu_tighten(struct cpu *cpu)
{
    const uint64_t executed = cnnvp_rv32_executed(cpu->core);
    const uint64_t limit = (executed > cpu->free ? executed : cpu->free) + cpu_cycles(cpu, cpu_present(cpu));
    if (limit < cpu->limit) {
        cpu->limit = limit;
        cnnvp_rv32_limit(cpu->core, limit);
    }
}

int cpu_sync(struct cpu *cpu)
{
    const cnnvp_time at = cnnvp_edge_time(cpu->mhz, cpu_present(cpu));
    const int status = cpu->ops->reach(cpu->host, at);
    if (status != CNNVP_OK) {
        cpu->stopped = 1;
        cnnvp_rv32_stop(cpu->core);
    }
    return status;
}

uint8_t *cpu_memory(struct cpu *cpu, uint32_t address, uint32_t size)
{
    for (uint32_t i = 0; i < cpu->memories; ++i) {
        const struct cpu_memory *memory = &cpu->memory[i];
        const uint32_t offset = address - memory->base;
        if (offset < memory->size && size <= memory->size - offset)
            return memory->data + offset;
    }
    return NULL;
}

int cpu_map(struct cpu *cpu, uint32_t address)
{
    const uint64_t page = (address >> PAGE_SHIFT) + 1u;
    uint64_t *const known = &cpu->no_dmi[page % CPU_NO_DMI_PAGES];
    const uint64_t granule = CNNVP_RV32_GRANULE;
    struct cnnvp_dmi dmi;
    if (cpu_memory(cpu, address, 1) != NULL)
        return 1;
    if (*known == page && !cpu->asks_again)
        return 0;
    *known = page;
    if (cpu->ops->dmi(cpu->host, PORT_bus, address, &dmi) != CNNVP_OK || dmi.start > UINT32_MAX)
        return 0;
    const uint64_t start = (dmi.start + granule - 1u) / granule * granule;
    uint64_t end = dmi.end < UINT32_MAX ? dmi.end + 1u : (uint64_t)UINT32_MAX + 1u;
    if (end - start > UINT32_MAX)
        end = start + UINT32_MAX; /* a region's size is a uint32_t */
    end = end / granule * granule;
    if (start >= end || address < start || address >= end)
        return 0;
    uint8_t *const data = dmi.data + (start - dmi.start);
    if (cnnvp_rv32_map_ram(cpu->core, (uint32_t)start, (uint32_t)(end - start), data) != 0)
        return 0;
    cpu->memory[cpu->memories++] = (struct cpu_memory){(uint32_t)start, (uint32_t)(end - start), data};
    *known = 0;
    if (cpu->program.tohost != 0)
        (void)cnnvp_rv32_watch_tohost(cpu->core, cpu->program.tohost); /* if it is mapped */
    return 1;
}

void cpu_withdraw(struct cpu *cpu, const struct cnnvp_cpu_withdrawal *gone)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cpu->memories; ++i) {
        const struct cpu_memory memory = cpu->memory[i];
        if (gone->start <= memory.base + (memory.size - 1u) && memory.base <= gone->end)
            cnnvp_rv32_unmap_ram(cpu->core, memory.base);
        else
            cpu->memory[kept++] = memory;
    }
    cpu->memories = kept;
    cpu->asks_again = 1;
}

uint64_t cpu_stall(struct cpu *cpu, cnnvp_time until)
{
    const uint64_t present = cpu_present(cpu);
    const uint64_t edge = cnnvp_edge_at_or_after(cpu->mhz, until);
    const uint64_t stall = edge > present ? edge - present : 0;
    cpu->edge += stall;
    cnnvp_rv32_idle(cpu->core, stall);
    return stall;
}

void cpu_log_fault(struct cpu *cpu, const char *what, uint32_t address, int status)
{
    if (cpu->faults_logged++ < FAULTS_LOGGED)
        cpu->ops->log(cpu->host, CNNVP_LOG_WARNING, "%s 0x%08x at pc 0x%08x failed (%s): access fault in the guest",
                      what, (unsigned)address, (unsigned)cnnvp_rv32_pc(cpu->core), cnnvp_status_text(status));
}

/* An access at the core's time. What is behind the bus may itself wait. */
static int bus_access(struct cpu *cpu, struct cnnvp_access *access)
{
    int status = cpu_sync(cpu);
    if (status != CNNVP_OK)
        return status;
    const cnnvp_time begin = cpu->ops->now(cpu->host);
    status = cpu->ops->access(cpu->host, PORT_bus, access);
    if (status == CNNVP_E_STOPPED) {
        cpu->stopped = 1;
        cnnvp_rv32_stop(cpu->core);
        return status;
    }
    const cnnvp_time end = cpu->ops->now(cpu->host) + access->delay;
    if (end != begin)
        cpu->stall_cycles += cpu_stall(cpu, end);
    return status;
}

static int device_access(struct cpu *cpu, uint32_t op, uint32_t address, uint8_t *bytes, unsigned size)
{
    struct cnnvp_access access = {.op = op, .flags = CNNVP_UNTIMED, .address = address, .data = bytes, .size = size};
    const int status = bus_access(cpu, &access);
    if (cpu->stopped)
        return status;
    if (cpu->is_free) {
        cpu_set_free(cpu, cnnvp_rv32_executed(cpu->core));
        ++cpu->edge; /* the cycle of the access */
    }
    cpu_tighten(cpu);
    if (status != CNNVP_OK)
        cpu_log_fault(cpu, op == CNNVP_READ ? "read of" : "write of", address, status);
    return status;
}

static uint32_t from_bytes(const uint8_t *bytes, unsigned size)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < size; ++i)
        value |= (uint32_t)bytes[i] << 8u * i;
    return value;
}

int cpu_load(void *context, uint32_t address, unsigned size, uint32_t *value)
{
    struct cpu *cpu = context;
    uint8_t bytes[4] = {0};
    if (cpu_map(cpu, address)) {
        *value = from_bytes(cpu_memory(cpu, address, size), size);
        return 0;
    }
    cpu->device_reads += !cpu_tcm_has(cpu, address);
    const int status = device_access(cpu, CNNVP_READ, address, bytes, size);
    *value = from_bytes(bytes, size);
    return status;
}

int cpu_store(void *context, uint32_t address, unsigned size, uint32_t value)
{
    struct cpu *cpu = context;
    uint8_t bytes[4];
    const int is_memory = cpu_map(cpu, address);
    uint8_t *const to = is_memory ? cpu_memory(cpu, address, size) : bytes;
    for (unsigned i = 0; i < size; ++i)
        to[i] = (uint8_t)(value >> 8u * i);
    cpu->device_writes += !is_memory && !cpu_tcm_has(cpu, address);
    const int status = is_memory ? CNNVP_OK : device_access(cpu, CNNVP_WRITE, address, bytes, size);
    if (status == CNNVP_OK && cpu->program.tohost != 0 && address == cpu->program.tohost && size == 4 && value != 0)
        cpu_tohost(cpu, value); /* in mapped memory, the core watches tohost itself */
    return status;
}

/* For calls of the host: memory without direct access is read and written as code is fetched. */
int cpu_copy(struct cpu *cpu, uint32_t op, uint32_t address, void *data, uint32_t size)
{
    if (size == 0)
        return CNNVP_OK;
    uint8_t *const there = cpu_map(cpu, address) ? cpu_memory(cpu, address, size) : NULL;
    if (there != NULL) {
        memcpy(op == CNNVP_READ ? data : there, op == CNNVP_READ ? there : data, size);
        return CNNVP_OK;
    }
    struct cnnvp_access access = {
        .op = op, .flags = CNNVP_UNTIMED | CNNVP_DEBUG, .address = address, .data = data, .size = size};
    const int status = bus_access(cpu, &access);
    cpu_tighten(cpu);
    return status;
}

/* Only memory is executable: with direct access, or else through reads that take time only where the memory has no
 * debug transport. */
int cpu_fetch(void *context, uint32_t address, uint16_t *half)
{
    struct cpu *cpu = context;
    uint8_t bytes[2] = {0};
    int status = CNNVP_OK;
    if (cpu_map(cpu, address)) {
        *half = (uint16_t)from_bytes(cpu_memory(cpu, address, 2), 2);
        return 0;
    }
    cpu_memory_untimed(cpu, address);
    struct cnnvp_access access = {
        .op = CNNVP_READ, .flags = CNNVP_UNTIMED | CNNVP_DEBUG, .address = address, .data = bytes, .size = 2};
    status = bus_access(cpu, &access);
    cpu_tighten(cpu);
    *half = (uint16_t)from_bytes(bytes, 2);
    if (status != CNNVP_OK && !cpu->stopped)
        cpu_log_fault(cpu, "fetch of", address, status);
    return status;
}
