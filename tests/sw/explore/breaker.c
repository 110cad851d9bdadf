/* SPDX-License-Identifier: Apache-2.0 */
/* A third-party unit that crashes when told to, leaves a process behind, and keeps a global variable, which no unit
 * should. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cnnvp_model.h>

struct breaker {
    uint32_t unused;
};

static int used_before;

/* Holds what the process has open for a minute. */
static void leave_process(void)
{
    if (fork() != 0)
        return;
    (void)signal(SIGALRM, SIG_DFL);
    (void)alarm(60);
    for (;;)
        (void)pause();
}

static int init(void *self, const struct cnnvp_init *init)
{
    (void)self;
    if (used_before++)
        return CNNVP_E_STATE;
    switch (init->ops->param(init->host, 0)) {
    case 1:
        abort();
    case 2:
        _exit(7);
    case 4:
        leave_process();
        _exit(7);
    default:
        return CNNVP_OK;
    }
}

static const struct cnnvp_param params[] = {{"end", CNNVP_PARAM_UINT, "", "0", 0, 4, NULL,
                                             "1: by abort, 2: by exit, 4: likewise, and a process stays; others: not"}};
static const struct cnnvp_port ports[] = {{"regs", CNNVP_PORT_TARGET, 0, 0x1000, 0, "registers"}};
static const struct cnnvp_register registers[] = {
    {"UNUSED", 0x0, CNNVP_REG_RW, 0, 0xffffffff, offsetof(struct breaker, unused), "nothing"}};

static const struct cnnvp_unit breaker = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "breaker",
    .version = "1.0",
    .summary = "crashes when told to",
    .instance_size = sizeof(struct breaker),
    .params = params,
    .param_count = 1,
    .ports = ports,
    .port_count = 1,
    .registers = registers,
    .register_count = 1,
    .init = init,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &breaker : NULL;
}
