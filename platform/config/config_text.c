/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a resolved platform as YAML, with every parameter and connection, so that it means the same when read back
 * from any folder; and the memory map.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config_internal.h"

static void print_connections(FILE *stream, const struct cnnvp_resolved *resolved,
                              const struct cnnvp_instance *instance, const struct cnnvp_binding *irq)
{
    const char *before = "    connect:\n";
    for (size_t i = 0; i < instance->binding_count; ++i) {
        const struct cnnvp_binding *binding = &instance->bindings[i];
        char target[512];
        if (binding == irq)
            continue;
        cnnvp_binding_text(resolved, binding, target, sizeof target);
        (void)fprintf(stream, "%s      %s: %s\n", before, instance->unit->ports[binding->port].name, target);
        before = "";
    }
}

static void print_instance(FILE *stream, const struct cnnvp_box *box, size_t index)
{
    const struct cnnvp_resolved *resolved = &box->resolved;
    const struct cnnvp_instance *instance = &resolved->instances[index];
    const struct cnnvp_binding *irq = NULL;
    (void)fprintf(stream, "  %s:\n    model: ", instance->name);
    if (strchr(box->models[index], ':') != NULL)
        cnnvp_yaml_print_quoted(stream, box->models[index]);
    else
        (void)fputs(box->models[index], stream);
    (void)fputc('\n', stream);
    if (instance->on_bus)
        (void)fprintf(stream, "    at: 0x%08" PRIx64 "\n", instance->base);
    uint32_t line = cnnvp_instance_irq(resolved, instance, &irq);
    if (line)
        (void)fprintf(stream, "    irq: %" PRIu32 "\n", line);
    else
        irq = NULL;
    const struct cnnvp_instance *clock = cnnvp_instance_clock(resolved, instance);
    if (clock != NULL)
        (void)fprintf(stream, "    clock: %s\n", clock->name);
    if (instance->idle)
        (void)fputs("    idle: true\n", stream);
    if (instance->speedup != 1)
        (void)fprintf(stream, "    speedup: %" PRIu32 "\n", instance->speedup);
    for (size_t i = 0; instance->unit != NULL && i < instance->unit->param_count; ++i) {
        const struct cnnvp_param *param = &instance->unit->params[i];
        (void)fprintf(stream, "    %s: ", param->name);
        if (param->type == CNNVP_PARAM_TEXT)
            cnnvp_yaml_print_quoted(stream, instance->texts[i]);
        else
            (void)fputs(instance->texts[i], stream);
        (void)fputc('\n', stream);
    }
    print_connections(stream, resolved, instance, irq);
}

static void print_yaml(FILE *stream, const struct cnnvp_box *box)
{
    if (*box->resolved.platform_name) {
        (void)fputs("platform: ", stream);
        cnnvp_yaml_print_quoted(stream, box->resolved.platform_name);
        (void)fputc('\n', stream);
    }
    if (box->resolved.energy != NULL)
        cnnvp_energy_print(stream, box->resolved.energy);
    (void)fputs("units:\n", stream);
    for (size_t i = 0; i < box->resolved.instance_count; ++i)
        print_instance(stream, box, i);
}

/* Lowest window whose base is at or above `from`; NULL: none. Windows do not overlap. */
static const struct cnnvp_instance *next_window(const struct cnnvp_resolved *resolved, uint64_t from)
{
    const struct cnnvp_instance *next = NULL;
    for (size_t i = 0; i < resolved->instance_count; ++i) {
        const struct cnnvp_instance *instance = &resolved->instances[i];
        if (instance->on_bus && instance->base >= from && (next == NULL || instance->base < next->base))
            next = instance;
    }
    return next;
}

static void print_map(FILE *stream, const struct cnnvp_resolved *resolved)
{
    (void)fprintf(stream, "%-10s  %-10s  %10s  %-4s  %-20s  %s\n", "first", "last", "bytes", "irq", "instance",
                  "model");
    const struct cnnvp_instance *at = next_window(resolved, 0);
    for (; at != NULL; at = next_window(resolved, at->base + at->size)) {
        const struct cnnvp_binding *binding = NULL;
        char irq[12] = "-";
        uint32_t line = cnnvp_instance_irq(resolved, at, &binding);
        if (line)
            (void)snprintf(irq, sizeof irq, "%" PRIu32, line);
        (void)fprintf(stream, "0x%08" PRIx64 "  0x%08" PRIx64 "  %10" PRIu64 "  %-4s  %-20s  %s\n", at->base,
                      at->base + at->size - 1, at->size, irq, at->name, at->model);
    }
}

cnnvp_result cnnvp_box_text(const struct cnnvp_box *box, char **yaml, char **memory_map)
{
    struct cnnvp_printed printed;
    if (cnnvp_print_begin(&printed) != NULL)
        print_yaml(printed.stream, box);
    CNNVP_FREED char *first = cnnvp_print_end(&printed);
    if (cnnvp_print_begin(&printed) != NULL)
        print_map(printed.stream, &box->resolved);
    CNNVP_FREED char *second = cnnvp_print_end(&printed);
    if (first == NULL || second == NULL)
        return CNNVP_FAILED;
    *yaml = first;
    *memory_map = second;
    first = second = NULL;
    return CNNVP_DONE;
}
