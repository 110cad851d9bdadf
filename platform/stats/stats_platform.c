/* SPDX-License-Identifier: Apache-2.0 */
/* The member `platform` of stats.json: the resolved configuration in the form of a platform file. */
#include "stats_builder.h"

static void add_parameters(struct stats_builder *b, json_t *object, const struct cnnvp_instance *instance)
{
    for (size_t i = 0; instance->unit != NULL && i < instance->unit->param_count; ++i) {
        const struct cnnvp_param *param = &instance->unit->params[i];

        if (param->type == CNNVP_PARAM_ENUM || param->type == CNNVP_PARAM_TEXT)
            set_text(b, object, param->name, instance->texts[i] != NULL ? instance->texts[i] : "");
        else
            set_count(b, object, param->name, instance->values[i]);
    }
}

/* Interrupt line, clock, switches and connections, in the form of a platform file. */
static void add_wiring(struct stats_builder *b, json_t *object, const struct cnnvp_instance *instance)
{
    const struct cnnvp_resolved *platform = b->stats->platform;
    const struct cnnvp_binding *irq = NULL;
    const struct cnnvp_instance *clock = cnnvp_instance_clock(platform, instance);
    const uint32_t line = cnnvp_instance_irq(platform, instance, &irq);
    json_t *connect = NULL;

    if (irq != NULL)
        set_count(b, object, "irq", line);
    if (clock != NULL)
        set_text(b, object, "clock", clock->name);
    if (instance->idle)
        set(b, object, "idle", json_true());
    if (instance->speedup > 1)
        set_count(b, object, "speedup", instance->speedup);
    for (size_t i = 0; i < instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &instance->bindings[i];
        char target[512];

        if (binding == irq)
            continue;
        if (connect == NULL)
            connect = set_object(b, object, "connect");
        cnnvp_binding_text(platform, binding, target, sizeof target);
        set_text(b, connect, instance->unit->ports[binding->port].name, target);
    }
}

/* A table that is not built in is written as its entries, on the first built-in one. */
static void add_energy_table(struct stats_builder *b, json_t *object)
{
    const struct cnnvp_energy_table *table = &b->stats->energy;
    struct cnnvp_energy_table base;
    json_t *entries = set_object(b, object, "energy");
    size_t number = 0;

    while (cnnvp_energy_builtin(number, &base) && strcmp(base.name, table->name) != 0)
        ++number;
    if (strcmp(base.name, table->name) != 0)
        cnnvp_energy_default(&base);
    set_text(b, entries, "table", base.name);
    set_text(b, entries, "technology", cnnvp_technology_of(table)->name);
    set_text(b, entries, "sram_scaling", table->sram_scaling ? "on" : "off");
    for (size_t i = 0; i < CNNVP_ENERGY_ENTRIES; ++i)
        if (i != CNNVP_ENERGY_dram_byte || !table->own_energies) /* it would replace the memory's own energies */
            set_real(b, entries, cnnvp_energy_name((enum cnnvp_energy_entry)i), table->picojoules[i]);
}

void cnnvp_stats_add_platform(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_resolved *platform = b->stats->platform;
    json_t *object = set_object(b, root, "platform");

    set_text(b, object, "platform", platform->platform_name != NULL ? platform->platform_name : "");
    add_energy_table(b, object);

    json_t *units = set_object(b, object, "units");

    for (size_t i = 0; i < platform->instance_count; ++i) {
        const struct cnnvp_instance *instance = &platform->instances[i];
        json_t *unit = set_object(b, units, instance->name);

        set_text(b, unit, "model", instance->model != NULL ? instance->model : "");
        if (instance->on_bus)
            set_count(b, unit, "at", instance->base);
        add_parameters(b, unit, instance);
        add_wiring(b, unit, instance);
    }
}
