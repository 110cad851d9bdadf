/* SPDX-License-Identifier: Apache-2.0 */
#include "units_rig.h"

#include "test.h"

#include "config.h"

#define MEMORY_BASE UINT64_C(0x80000000)

/* Those who have ports come last. */
static const char *const names[] = {
    "input_buffer",    "weight_buffer", "output_buffer", "dram",     "pe_array",  "vector", "pooling",
    "fully_connected", "activation",    "mean",          "variance", "normalise", "dma"};
enum { NAMES = sizeof names / sizeof names[0] };
_Static_assert((int)NAMES == (int)UNITS_RIG_HOSTS, "a host each");

cnnvp_config *units_configure(const char *preset, const char *const *settings)
{
    cnnvp_config *config = NULL;
    struct cnnvp_error error = {""};
    cnnvp_result result = cnnvp_config_new(preset, &config, &error);
    for (size_t i = 0; result == CNNVP_DONE && settings != NULL && settings[i] != NULL; ++i)
        result = cnnvp_config_set(config, settings[i], &error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(config, &error);
    if (result != CNNVP_DONE)
        fail_msg("%s", error.text);
    return config;
}

static const struct cnnvp_instance *instance_of(const struct cnnvp_resolved *resolved, const char *name)
{
    for (size_t i = 0; i < resolved->instance_count; ++i)
        if (strcmp(resolved->instances[i].name, name) == 0)
            return &resolved->instances[i];
    return NULL;
}

static int on_done(void *context, struct cnnvp_access *access)
{
    struct units_rig *rig = context;
    const struct cnnvp_completion *completion = access->data;
    rig->done_at = rig->sim.now;
    rig->done_status = completion->status;
    return CNNVP_OK;
}

static void connect(struct units_rig *rig, const struct cnnvp_resolved *resolved, size_t number)
{
    const struct cnnvp_instance *instance = instance_of(resolved, names[number]);
    for (size_t i = 0; instance != NULL && i < instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &instance->bindings[i];
        for (size_t n = 0; n < NAMES; ++n) {
            if (strcmp(resolved->instances[binding->target].name, names[n]) != 0)
                continue;
            rig->hosts[number]->target[binding->port] = rig->hosts[n];
            rig->hosts[number]->target_port[binding->port] = binding->target_port;
        }
    }
}

void units_rig_open(struct units_rig *rig, cnnvp_config *config, int timing_only)
{
    const struct cnnvp_resolved *resolved = cnnvp_config_resolved(config);
    struct cnnvp_error error = {""};
    uint64_t mhz = 0;
    const char *text;
    memset(rig, 0, sizeof *rig);
    rig->config = config;
    rig->done_at = CNNVP_TIME_NEVER;
    if (cnnvp_units_new(config, &rig->units, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(cnnvp_config_get(config, "pe_array.clock_mhz", &mhz, &text), CNNVP_DONE);
    fake_sim_init(&rig->sim, mhz, MEMORY_BASE, 0);
    rig->sim.timing_only = timing_only;
    for (size_t n = 0; n < NAMES; ++n) {
        const struct cnnvp_instance *instance = instance_of(resolved, names[n]);
        if (instance == NULL)
            continue;
        struct cnnvp_host *host = fake_add(&rig->sim, instance->unit);
        rig->hosts[n] = host;
        memcpy(host->params, instance->values, instance->unit->param_count * sizeof host->params[0]);
        memcpy(host->texts, instance->texts, instance->unit->param_count * sizeof host->texts[0]);
    }
    for (size_t n = 0; n < NAMES; ++n)
        connect(rig, resolved, n);
    fake_handle(units_rig_host(rig, "dma"), "done", on_done, rig);
    for (size_t n = 0; n < NAMES; ++n)
        if (rig->hosts[n] != NULL)
            assert_int_equal(fake_start(rig->hosts[n]), CNNVP_OK);
}

void units_rig_close(struct units_rig *rig)
{
    fake_sim_free(&rig->sim);
    cnnvp_units_free(rig->units);
    cnnvp_config_free(rig->config);
}

struct cnnvp_host *units_rig_host(struct units_rig *rig, const char *instance)
{
    for (size_t n = 0; n < NAMES; ++n)
        if (strcmp(names[n], instance) == 0)
            return rig->hosts[n];
    fail_msg("no %s", instance);
    return NULL;
}

const char *units_rig_executor(const struct units_rig *rig, const char *unit, const char *stand_in)
{
    const char *instance = cnnvp_units_at(rig->units, "instruction", unit);
    if (instance == NULL)
        instance = cnnvp_units_at(rig->units, "instruction", stand_in);
    assert_non_null(instance);
    return instance;
}

uint64_t units_rig_edge(const struct units_rig *rig)
{
    return cnnvp_edge_at_or_after(rig->sim.clock_mhz, rig->sim.now);
}

void units_rig_to_edge(struct units_rig *rig, uint64_t edge)
{
    fake_run(&rig->sim, cnnvp_edge_time(rig->sim.clock_mhz, edge));
}

struct cnnvp_cost units_ask(struct units_rig *rig, const char *instance, const struct cnnvp_command *command)
{
    struct cnnvp_cost cost;
    struct cnnvp_error error = {""};
    if (cnnvp_units_command(rig->units, instance, command, &cost, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return cost;
}

int units_send(struct units_rig *rig, const char *instance, const struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_command passed = *command;
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .data = &passed, .size = sizeof passed, .tag = command->tag, .flow = command->sequence};
    struct cnnvp_host *host = units_rig_host(rig, instance);
    host->message[0] = '\0';
    const int status = fake_access(host, "command", &access);
    *delay = access.delay;
    return status;
}
