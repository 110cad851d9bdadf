/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the planner's limits, energies and addresses from a resolved configuration. */
#include "plan.h"
#include "cnnvp_costs.h"
#include "cnnvp_integer.h"
#include "binary/layer_command.h"
#include "command_costs.h"
#include "cost_query.h"

#include <stdio.h>
#include <string.h>

#define PS_A_US UINT64_C(1000000)
#define SCRATCHPAD "scratchpad"
#define DEFAULT_MHZ 1000u
#define DEFAULT_ACC_BITS 48u
#define EXACT_SUM_BITS 64u
#define DEFAULT_BURST_BYTES 64u
#define DEFAULT_QUEUE_WORDS 4096u
#define KNOWN_COSTS 131072u
#define WORD_BYTES 2.0         /* bytes of a word on a link to a buffer */
#define MILLIWATTS_A_PJ 1000.0 /* 1 pJ/ps is 1000 mW */

cnnvp_result cnnvp_target_resolved(const cnnvp_config *config, struct cnnvp_error *error)
{
    struct cnnvp_config_instance first;
    return cnnvp_config_instance(config, 0, &first) == CNNVP_DONE
               ? CNNVP_DONE
               : cnnvp_compiler_error(error, "the configuration has not been resolved");
}

static cnnvp_result get(const cnnvp_config *config, const char *name, uint64_t *value, struct cnnvp_error *error)
{
    char instance[64];
    const char *text, *place;
    if (cnnvp_config_get(config, name, value, &text) == CNNVP_DONE)
        return CNNVP_DONE;
    snprintf(instance, sizeof instance, "%.*s", (int)strcspn(name, "."), name);
    if (cnnvp_config_place(config, instance, &place, &text) == CNNVP_DONE)
        return cnnvp_compiler_error(error, "%s: %s: its model has no parameter %s, which networks need", place,
                                    instance, name + strlen(instance) + 1);
    return cnnvp_compiler_error(error,
                                "the platform has no instance %s: networks need cpu, dram, plic, instruction, "
                                "pe_array, vector, dma and the input, weight and output buffers",
                                instance);
}

static cnnvp_result window(const cnnvp_config *config, const char *instance, uint64_t *base, uint64_t *size,
                           struct cnnvp_error *error)
{
    if (cnnvp_config_window(config, instance, base, size) != CNNVP_DONE)
        return cnnvp_compiler_error(error, "the platform has no instance %s on the bus, which networks need", instance);
    if (*base > UINT32_MAX)
        return cnnvp_compiler_error(
            error, "%s is at 0x%llx, beyond the core's 32-bit addresses", instance, (unsigned long long)*base);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_target_buffer(const cnnvp_config *config, const char *instance, uint64_t *half, uint32_t *halves,
                                 struct cnnvp_error *error)
{
    char name[64];
    uint64_t size, pingpong;
    (void)snprintf(name, sizeof name, "%s.size", instance);
    CNNVP_TRY(get(config, name, &size, error));
    (void)snprintf(name, sizeof name, "%s.pingpong", instance);
    CNNVP_TRY(get(config, name, &pingpong, error));
    *halves = pingpong != 0 ? 2 : 1;
    *half = size / *halves;
    return CNNVP_DONE;
}

static int has_scratchpad(const cnnvp_config *config)
{
    const char *place, *target;
    return cnnvp_config_place(config, SCRATCHPAD, &place, &target) == CNNVP_DONE;
}

static cnnvp_result read_buffers(const cnnvp_config *config, struct cnnvp_plan_limits *limits,
                                 struct cnnvp_error *error)
{
    uint64_t half;
    if (!has_scratchpad(config)) {
        CNNVP_TRY(cnnvp_target_buffer(config, "input_buffer", &limits->input_bytes, &limits->input_halves, error));
        CNNVP_TRY(cnnvp_target_buffer(config, "weight_buffer", &limits->weight_bytes, &limits->weight_halves, error));
        return cnnvp_target_buffer(config, "output_buffer", &limits->output_bytes, &limits->output_halves, error);
    }
    CNNVP_TRY(cnnvp_target_buffer(config, SCRATCHPAD, &half, &limits->input_halves, error));
    limits->weight_halves = limits->output_halves = limits->input_halves;
    limits->input_bytes = half / CNNVP_PLAN_INPUT_PART / CNNVP_PLAN_REGION_BYTES * CNNVP_PLAN_REGION_BYTES;
    limits->weight_bytes = half / CNNVP_PLAN_WEIGHT_PART / CNNVP_PLAN_REGION_BYTES * CNNVP_PLAN_REGION_BYTES;
    limits->output_bytes = half - limits->input_bytes - limits->weight_bytes;
    limits->scratchpad_bytes = half;
    return CNNVP_DONE;
}

static cnnvp_result read_element(const cnnvp_config *config, const char *suffix,
                                 struct cnnvp_target_accelerator *accelerator, struct cnnvp_error *error)
{
    char name[CNNVP_TARGET_NAME];
    uint64_t base = 0;
    uint64_t size;
    uint64_t irq = 0;
    cnnvp_target_name("instruction", suffix, name);
    CNNVP_TRY(window(config, name, &base, &size, error));
    cnnvp_target_name("instruction.irq", suffix, name);
    CNNVP_TRY(get(config, name, &irq, error));
    accelerator->element = (uint32_t)base;
    accelerator->element_irq = (uint32_t)irq;
    if (!has_scratchpad(config))
        return CNNVP_DONE;
    cnnvp_target_name(SCRATCHPAD, suffix, name);
    CNNVP_TRY(window(config, name, &base, &size, error));
    accelerator->scratchpad = (uint32_t)base;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_target_map(const cnnvp_config *config, struct cnnvp_target *target, struct cnnvp_error *error)
{
    uint64_t plic = 0;
    uint64_t size;
    CNNVP_TRY(window(config, "dram", &target->memory_base, &target->memory_size, error));
    CNNVP_TRY(read_element(config, "", &target->accelerators[0], error));
    CNNVP_TRY(window(config, "plic", &plic, &size, error));
    if (target->memory_base != CNNVP_MEMORY_BASE)
        return cnnvp_compiler_error(error, "dram begins at 0x%llx; the guest program is made for 0x%x",
                                    (unsigned long long)target->memory_base, (unsigned)CNNVP_MEMORY_BASE);
    if (target->memory_base + target->memory_size > UINT64_C(1) << 32)
        target->memory_size = (UINT64_C(1) << 32) - target->memory_base;
    target->plic = (uint32_t)plic;
    target->accelerator_count = 1;
    return CNNVP_DONE;
}

/* The depth-first scheduler is optional. The guest software cannot use one without an interrupt line. */
static void read_scheduler(const cnnvp_config *config, const char *suffix, struct cnnvp_target_accelerator *accelerator)
{
    char table[CNNVP_TARGET_NAME], scheduler[CNNVP_TARGET_NAME], irq[CNNVP_TARGET_NAME];
    uint64_t base = 0, value = 0;
    cnnvp_target_name("scheduler.table_words", suffix, table);
    cnnvp_target_name("scheduler", suffix, scheduler);
    cnnvp_target_name("scheduler.irq", suffix, irq);
    if (cnnvp_config_get(config, table, NULL, NULL) != CNNVP_DONE ||
        cnnvp_config_window(config, scheduler, &base, &value) != CNNVP_DONE || base > UINT32_MAX ||
        cnnvp_config_get(config, irq, &value, NULL) != CNNVP_DONE || value == 0)
        return;
    accelerator->scheduler = (uint32_t)base;
    accelerator->scheduler_irq = (uint32_t)value;
}

static cnnvp_result read_accelerators(const cnnvp_config *config, struct cnnvp_target *target,
                                      struct cnnvp_error *error)
{
    struct cnnvp_accelerators accelerators;
    uint64_t clint = 0;
    uint64_t size;
    CNNVP_TRY(cnnvp_target_accelerators(config, CNNVP_TARGET_INFERENCE, &accelerators, error));
    if (accelerators.count > 1)
        CNNVP_TRY(window(config, "clint", &clint, &size, error));
    for (uint32_t i = 0; i < accelerators.count; ++i) {
        CNNVP_TRY(read_element(config, accelerators.suffixes[i], &target->accelerators[i], error));
        read_scheduler(config, accelerators.suffixes[i], &target->accelerators[i]);
    }
    target->clint = (uint32_t)clint;
    target->accelerator_count = accelerators.count;
    return CNNVP_DONE;
}

static uint64_t number(const cnnvp_config *config, const char *name, uint64_t otherwise)
{
    uint64_t value;
    return cnnvp_config_get(config, name, &value, NULL) == CNNVP_DONE ? value : otherwise;
}

/* pJ of one count of a statistic; 0 if the instance, such as a third-party unit, lacks it. */
static double energy(const cnnvp_config *config, const char *instance, const char *stat)
{
    struct cnnvp_error ignored;
    double picojoules = 0;
    return cnnvp_config_energy(config, instance, stat, &picojoules, &ignored) == CNNVP_DONE ? picojoules : 0;
}

/* pJ to move a byte between the DMA and this instance; 0 if there is no such instance. */
static double way_of(const cnnvp_config *config, const char *to)
{
    struct cnnvp_error ignored;
    double picojoules = 0;
    return cnnvp_config_link_energy(config, "dma", to, &picojoules, &ignored) == CNNVP_DONE ? picojoules : 0;
}

cnnvp_result cnnvp_target_power(const cnnvp_config *config, double *pj_a_ps, struct cnnvp_error *error)
{
    double milliwatts = 0;
    CNNVP_TRY(cnnvp_config_static_power(config, &milliwatts, error));
    *pj_a_ps = milliwatts / MILLIWATTS_A_PJ;
    return CNNVP_DONE;
}

static cnnvp_result read_energy(const cnnvp_config *config, struct cnnvp_plan_energy *to, struct cnnvp_error *error)
{
    const int is_scratchpad = has_scratchpad(config);
    const char *input = is_scratchpad ? SCRATCHPAD : "input_buffer";
    const char *weight = is_scratchpad ? SCRATCHPAD : "weight_buffer";
    const char *output = is_scratchpad ? SCRATCHPAD : "output_buffer";
    const double way = way_of(config, input);
    double power;
    CNNVP_TRY(cnnvp_target_power(config, &power, error));
    *to = (struct cnnvp_plan_energy){
        .read_byte = energy(config, "dram", "read_bytes") + energy(config, "dram", "bus_read_bytes"),
        .write_byte = energy(config, "dram", "write_bytes") + energy(config, "dram", "bus_write_bytes"),
        .input_word = energy(config, input, "dma_write_words") + WORD_BYTES * way,
        .weight_word = energy(config, weight, "dma_write_words") + WORD_BYTES * way,
        .output_word = energy(config, output, "dma_read_words") + WORD_BYTES * way,
        .partial_word = energy(config, output, "partial_read_words") + energy(config, output, "partial_write_words"),
        .mac = energy(config, "pe_array", "macs"),
        .int8_mac = energy(config, "pe_array", "int8_macs"),
        .ps = power,
    };
    return CNNVP_DONE;
}

/* The fastest clock of the platform, in MHz. */
static uint64_t fastest_clock(const cnnvp_config *config)
{
    struct cnnvp_config_instance instance;
    uint64_t mhz = DEFAULT_MHZ;
    for (size_t i = 0; cnnvp_config_instance(config, i, &instance) == CNNVP_DONE; ++i) {
        char name[CNNVP_TARGET_NAME];
        (void)snprintf(name, sizeof name, "%s.clock_mhz", instance.name);
        mhz = cnnvp_maximum(mhz, number(config, name, mhz));
    }
    return mhz;
}

/* Reads what the units that add up products have in common with no other unit. One without a parameter acc_bits keeps
 * sums of 64 bits; one without clock_mhz has the clock of another instance. */
static void read_sums(const cnnvp_config *config, struct cnnvp_plan_limits *limits)
{
    const uint64_t fastest = fastest_clock(config);
    uint64_t mhz = 1;
    static const uint32_t opcodes[] = {CNNVP_OPCODE_conv,   CNNVP_OPCODE_pool,  CNNVP_OPCODE_step,
                                       CNNVP_OPCODE_matmul, CNNVP_OPCODE_vconv, CNNVP_OPCODE_vpool};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; ++i) {
        char name[CNNVP_TARGET_NAME];
        (void)snprintf(name, sizeof name, "%s.acc_bits", cnnvp_plan_executor(limits, opcodes[i]));
        limits->sum_bytes[opcodes[i]] = (uint8_t)cnnvp_sum_bytes((uint32_t)number(config, name, EXACT_SUM_BITS));
        (void)snprintf(name, sizeof name, "%s.clock_mhz", cnnvp_plan_executor(limits, opcodes[i]));
        mhz = cnnvp_maximum(mhz, number(config, name, fastest));
    }
    limits->cycle_ps = PS_A_US / mhz;
}

cnnvp_result cnnvp_target_read(const cnnvp_config *config, struct cnnvp_target *target, struct cnnvp_error *error)
{
    memset(target, 0, sizeof *target);
    struct cnnvp_plan_limits *limits = &target->limits;
    CNNVP_TRY(read_buffers(config, limits, error));
    CNNVP_TRY(cnnvp_target_map(config, target, error));
    CNNVP_TRY(read_accelerators(config, target, error));
    CNNVP_TRY(cnnvp_units_new(config, &limits->units, error));
    limits->costs = cnnvp_command_costs_new(KNOWN_COSTS);
    CNNVP_TRY_MEMORY(limits->costs != NULL, error);
    CNNVP_TRY(read_energy(config, &limits->energy, error));
    read_sums(config, limits);
    limits->memory_base = target->memory_base;
    limits->batch = 1;
    limits->burst_bytes = (uint32_t)number(config, "dma.burst_bytes", DEFAULT_BURST_BYTES);
    /* One core drives all accelerators in turn. */
    limits->core_ps = (uint32_t)(PS_A_US * target->accelerator_count / number(config, "cpu.clock_mhz", DEFAULT_MHZ));
    limits->weights.longer = 1;
    limits->queue_ps = (double)number(config, "instruction.queue_depth", DEFAULT_QUEUE_WORDS) * CNNVP_PLAN_WORD_CYCLES *
                       limits->core_ps;
    target->cycle_ps = (uint32_t)(PS_A_US / number(config, "pe_array.clock_mhz", DEFAULT_MHZ));
    const uint64_t acc_bits = number(config, "pe_array.acc_bits", DEFAULT_ACC_BITS);
    target->acc_bits = (uint32_t)cnnvp_minimum(acc_bits, number(config, "fully_connected.acc_bits", acc_bits));
    limits->sum_bits = number(config, "pe_array.normalisation", 1) == 0 ? (uint32_t)acc_bits : 0;
    return CNNVP_DONE;
}

void cnnvp_target_clear(struct cnnvp_target *target)
{
    cnnvp_units_free(target->limits.units);
    target->limits.units = NULL;
    cnnvp_command_costs_free(target->limits.costs);
    target->limits.costs = NULL;
}
