/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up units for the tests of the configuration: the same port kinds and parameter types as the real ones. */
#include "registry.h"

#include <string.h>

#include "base.h"

static const struct cnnvp_param core_params[] = {
    {"clock_mhz", CNNVP_PARAM_UINT, "MHz", "1000", 1, 10000, NULL, "clock"},
    {"quantum", CNNVP_PARAM_UINT, "instructions", "10000", 1, 1000000, NULL, "quantum"},
};
static const struct cnnvp_port core_ports[] = {
    {"bus", CNNVP_PORT_INITIATOR, 0, 0, 0, "bus"},
    {"irq", CNNVP_PORT_IRQ_IN, 0, 0, 3, "software, timer, external"},
};
static const struct cnnvp_unit core = {
    .kind = "core",
    .version = "1",
    .summary = "core",
    .params = core_params,
    .param_count = 2,
    .ports = core_ports,
    .port_count = 2};

static const struct cnnvp_param native_params[] = {
    {"clock_mhz", CNNVP_PARAM_UINT, "MHz", "1000", 1, 10000, NULL, "clock"},
};
static const struct cnnvp_unit native = {
    .kind = "native",
    .version = "1",
    .summary = "core",
    .params = native_params,
    .param_count = 1,
    .ports = core_ports,
    .port_count = 2};

static const struct cnnvp_register plic_registers[] = {{"priority", 0, CNNVP_REG_RW, 0, 7, 0, "priority"}};
static const struct cnnvp_port plic_ports[] = {
    {"regs", CNNVP_PORT_TARGET, 0, 0x4000000, 0, "registers"},
    {"source", CNNVP_PORT_IRQ_IN, 0, 0, 32, "sources"},
    {"external", CNNVP_PORT_IRQ_OUT, 0, 0, 0, "to the core"},
};
static const struct cnnvp_unit plic = {
    .kind = "plic",
    .version = "1",
    .summary = "plic",
    .ports = plic_ports,
    .port_count = 3,
    .registers = plic_registers,
    .register_count = 1};

static const struct cnnvp_param memory_params[] = {
    {"size", CNNVP_PARAM_SIZE, "bytes", "16MiB", 4096, UINT64_C(2) << 30, NULL, "bytes"},
};
static const struct cnnvp_port memory_ports[] = {{"mem", CNNVP_PORT_MEM_TARGET, 0, 0, 0, "memory"}};
static const struct cnnvp_unit memory = {
    .kind = "memory",
    .version = "1",
    .summary = "memory",
    .params = memory_params,
    .param_count = 1,
    .ports = memory_ports,
    .port_count = 1};

static const struct cnnvp_port outside_ports[] = {
    {"mem", CNNVP_PORT_MEM_TARGET, 0, 0, 0, "memory"},
    {"socket", CNNVP_PORT_MEM_INITIATOR, CNNVP_PORT_OUTSIDE, 0, 0, "leads out"},
};
static const struct cnnvp_unit outside = {
    .kind = "external",
    .version = "1",
    .summary = "memory",
    .params = memory_params,
    .param_count = 1,
    .ports = outside_ports,
    .port_count = 2};

static const struct cnnvp_param engine_params[] = {
    {"rows", CNNVP_PARAM_UINT, "", "8", 1, 64, NULL, "rows"},
    {"cols", CNNVP_PARAM_UINT, "", "8", 1, 64, NULL, "cols"},
    {"depth", CNNVP_PARAM_SIZE, "bytes", "64KiB", 1024, 1 << 24, NULL, "depth"},
    {"detail", CNNVP_PARAM_ENUM, "", "fast", 0, 0, "fast|cycle", "detail"},
    {"overlap", CNNVP_PARAM_ENUM, "", "on", 0, 0, "off|on", "switch"},
    {"label", CNNVP_PARAM_TEXT, "", "", 0, 0, NULL, "text"},
    {"table", CNNVP_PARAM_ADDR, "", "0x80000000", 0, UINT32_MAX, NULL, "address"},
};
static const struct cnnvp_condition engine_conditions[] = {
    {"depth", NULL, "detail=cycle"},
    {"cols", NULL, "rows!=1|2"},
    {"overlap", "off", "label!="},
    {"table", NULL, NULL},
};
static const struct cnnvp_port engine_ports[] = {
    {"regs", CNNVP_PORT_TARGET, 0, 0x1000, 0, "registers"},
    {"mem", CNNVP_PORT_MEM_INITIATOR, 0, 0, 0, "memory"},
    {"next", CNNVP_PORT_INITIATOR, CNNVP_PORT_OPTIONAL, 0, 0, "next engine"},
    {"irq", CNNVP_PORT_IRQ_OUT, CNNVP_PORT_OPTIONAL, 0, 0, "done"},
    {"done", CNNVP_PORT_TARGET, 0, 0x10, 0, "completions"},
};
static const struct cnnvp_unit engine = {
    .struct_size = sizeof(struct cnnvp_unit),
    .kind = "engine",
    .version = "1",
    .summary = "engine",
    .params = engine_params,
    .param_count = 7,
    .conditions = engine_conditions,
    .condition_count = 4,
    .ports = engine_ports,
    .port_count = 5,
    .registers = plic_registers,
    .register_count = 1};

static const struct cnnvp_port block_ports[] = {
    {"tile", CNNVP_PORT_TARGET, CNNVP_PORT_TILES, 8, 0, "tiles"},
    {"next", CNNVP_PORT_INITIATOR, CNNVP_PORT_OPTIONAL | CNNVP_PORT_TILES, 0, 0, "next block"},
    {"back", CNNVP_PORT_INITIATOR, CNNVP_PORT_OPTIONAL | CNNVP_PORT_TILES, 0, 0, "block behind"},
    {"words", CNNVP_PORT_INITIATOR, CNNVP_PORT_OPTIONAL | CNNVP_PORT_WORDS, 0, 0, "buffer"},
};
static const struct cnnvp_unit block = {
    .kind = "block", .version = "1", .summary = "block", .ports = block_ports, .port_count = 4};

static const struct cnnvp_port empty_ports[] = {{"port", CNNVP_PORT_TARGET, 0, 0, 0, "no window"}};
static const struct cnnvp_unit empty = {
    .kind = "empty", .version = "1", .summary = "no window", .ports = empty_ports, .port_count = 1};

static const struct cnnvp_param wrong_params[] = {
    {"rows", CNNVP_PARAM_UINT, "", "0", 1, 64, NULL, "a default outside its own range"},
};
static const struct cnnvp_unit wrong = {
    .kind = "wrong", .version = "1", .summary = "wrong", .params = wrong_params, .param_count = 1};

static const struct cnnvp_unit *const units[] = {
    &core, &block, &empty, &engine, &memory, &native, &outside, &plic, &wrong, NULL};

const struct cnnvp_unit *cnnvp_unit_at(size_t index)
{
    return index < sizeof units / sizeof *units ? units[index] : NULL;
}

cnnvp_result cnnvp_registry_find(const char *model, const char *relative_to, const struct cnnvp_unit **unit,
                                 struct cnnvp_error *error)
{
    const char *colon = strrchr(model, ':');
    if (colon != NULL)
        return cnnvp_config_error(error, NULL, "%s/%.*s cannot be loaded", relative_to != NULL ? relative_to : ".",
                                  (int)(colon - model), model);
    for (size_t i = 0; (*unit = cnnvp_unit_at(i)) != NULL; ++i)
        if (strcmp((*unit)->kind, model) == 0)
            return CNNVP_DONE;
    return cnnvp_config_error(error, NULL, "there is no unit of kind %s", model);
}
