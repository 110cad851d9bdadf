/* SPDX-License-Identifier: Apache-2.0 */
/* A unit that does one thing wrong, a microsecond after its reset and again a microsecond later. */
#include <signal.h>
#include <stddef.h>

#include <cnnvp_command.h>

struct faults {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t fault;
    struct cnnvp_request request;
    uint8_t bytes[64];
    uint32_t events;
};

enum fault { REQUEST_ADDRESS, REQUEST_OUTSTANDING, COUNT, SPAN, NOTIFY, COMPLETE, WAIT, CRASH, CRASH_ASKED, OWE, STAY };

#define MICROSECOND 1000000u /* ps */

static int init(void *self, const struct cnnvp_init *init)
{
    struct faults *faults = self;
    faults->host = init->host;
    faults->ops = init->ops;
    faults->fault = init->ops->param(init->host, 0);
    if (faults->fault == CRASH_ASKED)
        (void)raise(SIGSEGV);
    return CNNVP_OK;
}

static void reset(void *self)
{
    struct faults *faults = self;
    (void)faults->ops->notify(faults->host, 0, faults->ops->now(faults->host) + MICROSECOND);
}

static void do_wrong(struct faults *faults)
{
    const cnnvp_time now = faults->ops->now(faults->host);
    faults->request = (struct cnnvp_request){
        .op = CNNVP_READ,
        .address = 0x80000000,
        .data = faults->bytes,
        .size = 64,
        .count = 1,
        .burst_bytes = 64,
        .outstanding = 1};
    switch ((enum fault)faults->fault) {
    case REQUEST_ADDRESS:
        faults->request.address = 0x100;
        (void)faults->ops->request(faults->host, 0, &faults->request);
        break;
    case REQUEST_OUTSTANDING:
        faults->request.outstanding = 0;
        (void)faults->ops->request(faults->host, 0, &faults->request);
        break;
    case COUNT:
        faults->ops->count(faults->host, 7, 0, 1);
        break;
    case SPAN:
        faults->ops->span(faults->host, 0, "work", 0, 0, now, now - 1);
        break;
    case NOTIFY:
        (void)faults->ops->notify(faults->host, 5, now);
        break;
    case COMPLETE:
        (void)faults->ops->complete(faults->host, &faults->request);
        break;
    case OWE:
        break; /* see access */
    case STAY:
        for (volatile int forever = 1; forever;)
            continue;
        break;
    case WAIT:
        (void)faults->ops->wait(faults->host, 1);
        break;
    default:
        (void)raise(SIGSEGV);
    }
}

static void event(void *self, uint32_t number)
{
    struct faults *faults = self;
    (void)number;
    do_wrong(faults);
    if (++faults->events == 1)
        reset(faults);
}

/* Takes every command, and ends none. */
static int take_command(void *self, uint32_t port, struct cnnvp_access *access)
{
    (void)self, (void)port;
    return access->op == CNNVP_COMMAND ? CNNVP_PENDING : CNNVP_E_NOSUP;
}

static void complete(void *self, uint32_t port, struct cnnvp_request *request)
{
    (void)self, (void)port, (void)request;
}

static const struct cnnvp_param params[] = {
    {"fault", CNNVP_PARAM_ENUM, "", "count", 0, 0,
     "request_address|request_outstanding|count|span|notify|complete|wait|crash|crash_asked|owe|stay", "what it does"}};
static const struct cnnvp_port ports[] = {
    {"mem", CNNVP_PORT_MEM_INITIATOR, 0, 0, 0, "memory"},
    {"command", CNNVP_PORT_TARGET, CNNVP_PORT_OPTIONAL | CNNVP_PORT_COMMANDS, 0x1000, 0, "commands, which never end"}};
static const char *const tracks[] = {"work"};

static const struct cnnvp_unit unit = {
    .struct_size = sizeof unit,
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "faults",
    .version = "1.0",
    .summary = "does one thing wrong",
    .instance_size = sizeof(struct faults),
    .params = params,
    .param_count = 1,
    .ports = ports,
    .port_count = 2,
    .tracks = tracks,
    .track_count = 1,
    .event_count = 1,
    .init = init,
    .reset = reset,
    .event = event,
    .access = take_command,
    .complete = complete,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &unit : NULL;
}
