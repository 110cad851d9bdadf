/* SPDX-License-Identifier: Apache-2.0 */
/* The example's array as one that accepts a command, works on it while the DMA goes on, and announces the end through
 * the element's port `done`. LATE_FAULT: a statement before that. */
#define cnnvp_model_query dot_product_model_query
#include "dot_product.c"
#undef cnnvp_model_query

#ifndef LATE_FAULT
#define LATE_FAULT
#endif

enum { LATE_PS = 1000000, PORT_done = CNNVP_FX16_PORTS };

struct late {
    struct dot_product array;
    struct cnnvp_command command;
};

static int late_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct late *late = self;
    const struct cnnvp_fx16_unit *unit = &late->array.unit;
    const struct cnnvp_command *command = NULL;
    const int status = cnnvp_fx16_command(access, &command);
    if (status != CNNVP_OK || (access->flags & CNNVP_ESTIMATE))
        return dot_product_access(self, port, access);
    late->command = *command;
    return unit->ops->notify(unit->host, 0, unit->ops->now(unit->host) + LATE_PS) == CNNVP_OK
               ? CNNVP_PENDING
               : CNNVP_E_STATE;
}

static void late_event(void *self, uint32_t event)
{
    struct late *late = self;
    const struct cnnvp_fx16_unit *unit = &late->array.unit;
    struct cnnvp_access work = {.op = CNNVP_COMMAND, .data = &late->command, .size = sizeof late->command};
    struct cnnvp_completion end = {late->command.sequence, dot_product_access(self, 0, &work), 0};
    struct cnnvp_access said = {.op = CNNVP_COMMAND, .data = &end, .size = sizeof end};
    (void)event;
    struct cnnvp_access lent = {.op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = 2};
    lent.address = (uint64_t)(late->command.halves >> 2 & 1u) << 31;
    if (unit->ops->access(unit->host, 3, &lent) == CNNVP_OK && lent.data != NULL) {
        LATE_FAULT;
    }
    (void)unit->ops->access(unit->host, PORT_done, &said);
}

static const struct cnnvp_port late_ports[] = {
    {"command", CNNVP_PORT_TARGET, CNNVP_PORT_COMMANDS, 8, 0, "commands"},
    {"input", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "input buffer"},
    {"weight", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "weight buffer"},
    {OUTPUT_PORT, CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "output buffer"},
    {"done", CNNVP_PORT_INITIATOR, CNNVP_PORT_COMPLETIONS, 0, 0, "ends of commands"},
};

static const struct cnnvp_unit late_unit = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "late",
    .version = "1.0",
    .summary = "array that announces its ends",
    .instance_size = sizeof(struct late),
    .params = params,
    .param_count = PARAM_COUNT,
    .ports = late_ports,
    .port_count = PORT_done + 1,
    .stats = stats,
    .stat_count = STAT_COUNT,
    .tracks = cnnvp_fx16_tracks,
    .track_count = 1,
    .event_count = 1,
    .init = dot_product_init,
    .fini = cnnvp_fx16_unit_free,
    .access = late_access,
    .event = late_event,
    .tiling = dot_product_tiling,
    .costs = dot_product_costs,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi);
const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)dot_product_model_query(0, host_abi);
    return index == 0 ? &late_unit : NULL;
}
