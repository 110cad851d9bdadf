/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform file says of an instance beside its parameters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

uint32_t cnnvp_instance_irq(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            const struct cnnvp_binding **binding)
{
    for (uint32_t port = 0; instance->unit != NULL && port < instance->unit->port_count; ++port) {
        if (instance->unit->ports[port].kind != CNNVP_PORT_IRQ_OUT)
            continue;
        for (size_t i = 0; i < instance->binding_count; ++i) {
            const struct cnnvp_unit *target = resolved->instances[instance->bindings[i].target].unit;
            if (instance->bindings[i].port == port && target != NULL && strcmp(target->kind, "plic") == 0) {
                *binding = &instance->bindings[i];
                return (*binding)->target_line;
            }
        }
        return 0;
    }
    return 0;
}

const struct cnnvp_instance *cnnvp_instance_clock(const struct cnnvp_resolved *resolved,
                                                  const struct cnnvp_instance *instance)
{
    if (instance->clock == CNNVP_NO_INSTANCE || instance->clock == instance->number)
        return NULL;
    return &resolved->instances[instance->clock];
}

const uint64_t *cnnvp_instance_value(const struct cnnvp_instance *instance, const char *param)
{
    for (size_t i = 0; instance->unit != NULL && i < instance->unit->param_count; ++i)
        if (instance->unit->params[i].type != CNNVP_PARAM_TEXT && strcmp(instance->unit->params[i].name, param) == 0)
            return &instance->values[i];
    return NULL;
}

uint64_t cnnvp_instance_mhz(const struct cnnvp_resolved *resolved, const struct cnnvp_instance *instance,
                            uint64_t missing)
{
    const uint64_t *mhz = instance->clock < resolved->instance_count
                              ? cnnvp_instance_value(&resolved->instances[instance->clock], "clock_mhz")
                              : NULL;
    return mhz != NULL ? *mhz : missing;
}

void cnnvp_binding_text(const struct cnnvp_resolved *resolved, const struct cnnvp_binding *binding, char *buffer,
                        size_t size)
{
    const struct cnnvp_instance *target = &resolved->instances[binding->target];
    const struct cnnvp_port *port = target->unit != NULL ? &target->unit->ports[binding->target_port] : NULL;
    if (port == NULL)
        (void)snprintf(buffer, size, "%s", target->name);
    else if (port->kind != CNNVP_PORT_IRQ_IN)
        (void)snprintf(buffer, size, "%s.%s", target->name, port->name);
    else
        (void)snprintf(buffer, size, "%s.%s.%" PRIu32, target->name, port->name, binding->target_line);
}
