/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A third-party model library: `ping` reads words from memory in its process and counts them, `echo` is a memory.
 * ABI_<NAME> makes one thing about it wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "cnnvp_model.h"

/* -- ping -- */

enum { PING_OUT };
enum { PING_ADDRESS, PING_COUNT, PING_CODE };

struct ping {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    uint32_t scale; /* register */
};

static int ping_init(void *instance, const struct cnnvp_init *init)
{
    struct ping *ping = instance;

    ping->ops = init->ops;
    ping->host = init->host;
    if (ping->ops->param(ping->host, PING_COUNT) == 13)
        return ping->ops->config_error(ping->host, PING_COUNT, "13 words are too many; use 12 or 14");
    return CNNVP_OK;
}

static void ping_process(void *instance)
{
    struct ping *ping = instance;
    const uint64_t count = ping->ops->param(ping->host, PING_COUNT);
    uint32_t sum = 0;

    for (uint64_t i = 0; i < count; ++i) {
        uint32_t word = 0;
        struct cnnvp_access access = {.op = CNNVP_READ, .data = &word, .size = sizeof word};
        const cnnvp_time begin = ping->ops->now(ping->host);

        access.address = ping->ops->param(ping->host, PING_ADDRESS) + 4 * i;
        if (ping->ops->access(ping->host, PING_OUT, &access) != CNNVP_OK)
            break;
        sum += word;
        ping->ops->count(ping->host, 0, 0, 1);
        if (ping->ops->wait(ping->host, access.delay) != CNNVP_OK)
            return;
        ping->ops->span(ping->host, 0, "read", 0, 0, begin, ping->ops->now(ping->host));
    }
    if (ping->ops->param(ping->host, PING_CODE))
        ping->ops->finish(ping->host, (int)(sum - ping->ops->param(ping->host, PING_CODE)), "the sum is wrong");
}

static const struct cnnvp_param ping_params[] = {
    {"address", CNNVP_PARAM_ADDR, "", "0x80000000", 0, UINT32_MAX, NULL, "where it reads"},
#ifdef ABI_NO_DEFAULT
    {"count", CNNVP_PARAM_UINT, "words", NULL, 0, 1000, NULL, "how often"},
#else
    {"count", CNNVP_PARAM_UINT, "words", "3", 0, 1000, NULL, "how often"},
#endif
    {"sum", CNNVP_PARAM_UINT, "", "0", 0, UINT32_MAX, NULL, "sum that ends the run well; 0: does not end it"},
};

static const struct cnnvp_port ping_ports[] = {
#ifdef ABI_EMPTY_NAME
    {"", CNNVP_PORT_INITIATOR, 0, 0, 0, "memory"},
#else
    {"out", CNNVP_PORT_INITIATOR, 0, 0, 0, "memory"},
#endif
    {"regs", CNNVP_PORT_TARGET, CNNVP_PORT_OPTIONAL, 0x100, 0, "registers"},
};

static const struct cnnvp_register ping_registers[] = {
#ifdef ABI_REGISTER_OUTSIDE
    {"SCALE", 0, CNNVP_REG_RW, 1, 0xff, sizeof(struct ping), "nothing"},
#else
    {"SCALE", 0, CNNVP_REG_RW, 1, 0xff, offsetof(struct ping, scale), "nothing"},
#endif
};

static const struct cnnvp_stat ping_stats[] = {{"words", "words", NULL, NULL, "words read"}};
static const char *const ping_tracks[] = {"reads"};

#ifdef ABI_INSTRUCTION /* no port takes it */
static const struct cnnvp_instruction ping_instructions[] = {{"ping", 0xc0, 0, NULL, 0, NULL, 0, "pings"}};
#endif

static const struct cnnvp_unit ping = {
#ifdef ABI_SMALL
    .struct_size = offsetof(struct cnnvp_unit, show),
#else
    .struct_size = sizeof(struct cnnvp_unit),
#endif
#ifdef ABI_MAJOR
    .abi_major = 2,
    .abi_minor = 3,
#else
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
#endif
#ifdef ABI_INSTRUCTION
    .instructions = ping_instructions,
    .instruction_count = 1,
#endif
#ifdef ABI_KIND
    .kind = "not a name",
#else
    .kind = "ping",
#endif
    .version = "3.1",
    .summary = "reads words",
    .instance_size = sizeof(struct ping),
    .params = ping_params,
    .param_count = 3,
    .ports = ping_ports,
#ifdef ABI_PORT_TABLE
    .port_count = 1000000,
#else
    .port_count = 2,
#endif
    .registers = ping_registers,
    .register_count = 1,
    .register_port = 1,
    .stats = ping_stats,
    .stat_count = 1,
    .tracks = ping_tracks,
    .track_count = 1,
    .init = ping_init,
    .process = ping_process,
};

/* -- echo -- */

enum { ECHO_SIZE = 4096 };

struct echo {
    uint8_t *data;
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
};

static int echo_init(void *instance, const struct cnnvp_init *init)
{
    struct echo *echo = instance;

    echo->ops = init->ops;
    echo->host = init->host;
    echo->data = calloc(1, ECHO_SIZE);
    return echo->data != NULL ? CNNVP_OK : CNNVP_E_NOMEM;
}

static void echo_fini(void *instance)
{
    struct echo *echo = instance;

    free(echo->data);
}

static int echo_access(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct echo *echo = instance;

    (void)port;
    if (access->address >= ECHO_SIZE || access->size > ECHO_SIZE - access->address)
        return CNNVP_E_ADDR;
    if (access->op == CNNVP_READ)
        memcpy(access->data, echo->data + access->address, (size_t)access->size);
    else if (access->op == CNNVP_WRITE)
        memcpy(echo->data + access->address, access->data, (size_t)access->size);
    else
        return CNNVP_E_NOSUP;
    access->delay += 2000;
    return CNNVP_OK;
}

static const struct cnnvp_port echo_ports[] = {
    {"store", CNNVP_PORT_MEM_TARGET, 0, ECHO_SIZE, 0, "memory"},
};

static const struct cnnvp_unit echo = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "echo",
    .version = "1.0",
    .summary = "a small memory",
    .instance_size = sizeof(struct echo),
    .ports = echo_ports,
    .port_count = 1,
    .init = echo_init,
    .fini = echo_fini,
    .access = echo_access,
};

#ifdef ABI_NO_SYMBOL
const struct cnnvp_unit *another_name(uint32_t index, uint32_t host_abi);
#define cnnvp_model_query another_name
#endif

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    static const struct cnnvp_unit *const units[] = {&ping, &echo};

    (void)host_abi;
    return index < 2 ? units[index] : NULL;
}
