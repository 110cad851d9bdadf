/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_case.h"

static uint64_t host_param(struct cnnvp_host *h, uint32_t index)
{
    return h->params[index];
}

static cnnvp_time host_now(struct cnnvp_host *h)
{
    return h->now;
}

static cnnvp_time earliest(const struct cnnvp_host *h)
{
    cnnvp_time first = h->timer_at < h->noise_at ? h->timer_at : h->noise_at;
    for (unsigned i = 0; i < REQUESTS; ++i)
        if (h->requests[i] != NULL && h->request_at[i] < first)
            first = h->request_at[i];
    return first;
}

static cnnvp_time host_next(struct cnnvp_host *h)
{
    return earliest(h);
}

static void step(struct cnnvp_host *h)
{
    h->now = earliest(h);
    if (h->timer_at == h->now) {
        h->timer_at = CNNVP_TIME_NEVER;
        cnnvp_unit_cpu.signal(h->self, PORT_irq, 1, 1);
    }
    for (unsigned i = 0; i < REQUESTS; ++i) {
        struct cnnvp_request *request = h->requests[i];
        if (request == NULL || h->request_at[i] != h->now)
            continue;
        h->requests[i] = NULL;
        cnnvp_unit_cpu.complete(h->self, PORT_mem, request);
    }
    if (h->noise_at == h->now)
        h->noise_at += h->noise_period;
}

static int host_wait(struct cnnvp_host *h, cnnvp_time duration)
{
    const cnnvp_time until = h->now + duration;
    while (earliest(h) < until)
        step(h);
    h->now = until;
    return until >= h->stop_at ? CNNVP_E_STOPPED : CNNVP_OK;
}

static int host_settle(struct cnnvp_host *h)
{
    while (earliest(h) <= h->now)
        step(h);
    return CNNVP_OK;
}

static int host_reach(struct cnnvp_host *h, cnnvp_time at)
{
    const int status = host_wait(h, at - h->now);
    return status == CNNVP_OK ? host_settle(h) : status;
}

static int host_wait_wake(struct cnnvp_host *h)
{
    while (!h->woken) {
        if (earliest(h) >= h->stop_at)
            return CNNVP_E_STOPPED;
        step(h);
    }
    h->woken = 0;
    return CNNVP_OK;
}

static void host_wake(struct cnnvp_host *h)
{
    h->woken = 1;
}

static void report(struct cnnvp_host *h, uint32_t value)
{
    if (h->report_count < REPORTS)
        h->reports[h->report_count++] = h->now * 1000003u + value;
}

static int host_access(struct cnnvp_host *h, uint32_t port, struct cnnvp_access *a)
{
    uint32_t value = 0;
    (void)port;
    if (a->address - 0x10000000u >= 16 || a->size != 4)
        return CNNVP_E_ADDR;
    if (a->op == CNNVP_WRITE)
        memcpy(&value, a->data, 4);
    switch (a->address & 15u) {
    case 0:
        cnnvp_unit_cpu.signal(h->self, PORT_irq, 1, 0);
        h->timer_at = value == 0 ? CNNVP_TIME_NEVER : h->now + value;
        break;
    case 4:
        value = (uint32_t)h->now;
        break;
    case 8:
        report(h, value);
        break;
    default:
        a->delay += h->slow;
        break;
    }
    if (a->op == CNNVP_READ)
        memcpy(a->data, &value, 4);
    return CNNVP_OK;
}

/* Longer for a write, and where another one is under way. */
static int host_request(struct cnnvp_host *h, uint32_t port, struct cnnvp_request *request)
{
    unsigned i = 0;
    assert_int_equal(port, PORT_mem);
    while (h->requests[i] != NULL)
        assert_true(++i < REQUESTS);
    assert_null(request->data);
    assert_true(request->address - MACHINE_RAM < MACHINE_RAM_SIZE);
    h->requests[i] = request;
    h->request_at[i] = h->now + LATENCY_PS * (1u + request->op + i);
    h->request_bytes[request->op] += request->size;
    request->status = CNNVP_OK;
    return CNNVP_OK;
}

static int host_connected(struct cnnvp_host *h, uint32_t port)
{
    return port != PORT_mem || !h->open;
}

static int host_config_error(struct cnnvp_host *h, uint32_t index, const char *format, ...)
{
    (void)format;
    h->errors += index;
    return CNNVP_E_INVAL;
}

static int host_dmi(struct cnnvp_host *h, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi)
{
    (void)port;
    if (address - MACHINE_RAM >= MACHINE_RAM_SIZE)
        return CNNVP_E_NOSUP;
    *dmi = (struct cnnvp_dmi){h->ram, MACHINE_RAM, MACHINE_RAM + MACHINE_RAM_SIZE - 1u};
    return CNNVP_OK;
}

static void host_count(struct cnnvp_host *h, uint32_t stat, uint32_t tag, uint64_t n)
{
    (void)tag;
    h->counts[stat] += n;
}

static void host_span(struct cnnvp_host *h, uint32_t track, const char *name, uint32_t tag, uint64_t flow,
                      cnnvp_time begin, cnnvp_time end)
{
    (void)flow;
    assert_true(track == TRACK_work && strcmp(name, "work") == 0 && tag == 0);
    assert_true(begin < end && begin >= h->span_end && end <= h->now);
    h->worked += end - begin;
    h->span_end = end;
}

static void host_log(struct cnnvp_host *h, enum cnnvp_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (level == CNNVP_LOG_WARNING)
        (void)vsnprintf(h->last_warning, sizeof h->last_warning, format, arguments);
    va_end(arguments);
    h->errors += level == CNNVP_LOG_ERROR;
    h->warnings += level == CNNVP_LOG_WARNING;
}

static void host_finish(struct cnnvp_host *h, int code, const char *reason)
{
    h->reason = reason;
    ++h->finished;
    h->code = code;
}

static void host_console(struct cnnvp_host *h, const void *data, size_t size)
{
    if (size <= sizeof h->console - h->console_size) {
        memcpy(h->console + h->console_size, data, size);
        h->console_size += size;
    }
}

static uint64_t host_clock_mhz(struct cnnvp_host *h)
{
    return h->params[PARAM_clock_mhz];
}

static const struct cnnvp_host_ops ops = {
    .struct_size = sizeof(struct cnnvp_host_ops),
    .param = host_param,
    .now = host_now,
    .clock_mhz = host_clock_mhz,
    .next_activity = host_next,
    .access = host_access,
    .request = host_request,
    .connected = host_connected,
    .config_error = host_config_error,
    .dmi = host_dmi,
    .wait = host_wait,
    .wait_wake = host_wait_wake,
    .settle = host_settle,
    .reach = host_reach,
    .wake = host_wake,
    .count = host_count,
    .span = host_span,
    .log = host_log,
    .finish = host_finish,
    .console_write = host_console};

struct cnnvp_host *case_make(uint64_t mhz, uint64_t quantum, uint64_t memory)
{
    struct cnnvp_host *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->self = calloc(1, cnnvp_unit_cpu.instance_size);
    h->ram = calloc(1, MACHINE_RAM_SIZE);
    h->params[PARAM_clock_mhz] = mhz;
    h->params[PARAM_quantum] = quantum;
    h->params[PARAM_timebase_mhz] = 10;
    h->params[PARAM_memory] = memory;
    h->params[PARAM_tcm_size] = 4096;
    h->params[PARAM_icache_size] = h->params[PARAM_dcache_size] = 256;
    h->params[PARAM_icache_ways] = 2;
    h->params[PARAM_dcache_ways] = 1;
    h->params[PARAM_cache_line] = 32;
    h->params[PARAM_load_cycles] = 2;
    h->params[PARAM_store_cycles] = 3;
    h->params[PARAM_multiply_cycles] = 4;
    h->params[PARAM_divide_cycles] = 35;
    h->params[PARAM_jump_cycles] = 3;
    h->timer_at = h->noise_at = h->stop_at = CNNVP_TIME_NEVER;
    return h;
}

int case_init(struct cnnvp_host *h)
{
    const struct cnnvp_init init = {sizeof init, 0, "cpu", h, &ops, 0};
    return cnnvp_unit_cpu.init(h->self, &init);
}

struct cnnvp_host *case_begin(struct cnnvp_host *h)
{
    assert_int_equal(case_init(h), CNNVP_OK);
    cnnvp_unit_cpu.reset(h->self);
    return h;
}

struct cnnvp_host *case_start(uint64_t mhz, uint64_t quantum)
{
    struct cnnvp_host *h = case_make(mhz, quantum, IDEAL);
    for (unsigned i = PARAM_load_cycles; i <= PARAM_jump_cycles; ++i)
        h->params[i] = 1;
    return case_begin(h);
}

void case_finish(struct cnnvp_host *h)
{
    cnnvp_unit_cpu.fini(h->self);
    free(h->self);
    free(h->ram);
    free(h);
}

int case_offer(struct cnnvp_host *h, struct cnnvp_cpu_program *program)
{
    struct cnnvp_access command = {.op = CNNVP_COMMAND, .data = program, .size = sizeof *program};
    return cnnvp_unit_cpu.access(h->self, PORT_control, &command);
}

void case_run(struct cnnvp_host *h, uint32_t entry, uint32_t tohost)
{
    static char name[] = "prog", first[] = "first", second[] = "second";
    char *const argv[] = {name, first, second};
    /* code, but not all of the data, which begin at 0x1000 */
    static const struct cnnvp_program_range held = {MACHINE_RAM, 0x400};
    struct cnnvp_cpu_program program = {
        .entry = entry, .tohost = tohost, .argc = 3, .argv = argv, .held = &held, .held_count = 1};
    assert_int_equal(case_offer(h, &program), CNNVP_OK);
    cnnvp_unit_cpu.process(h->self);
    cnnvp_unit_cpu.flush(h->self);
}

struct cnnvp_host *case_run_elf(const char *path, uint64_t mhz, uint64_t quantum, cnnvp_time noise, uint64_t memory)
{
    struct machine loader;
    uint32_t entry, tohost;
    struct cnnvp_host *h = case_begin(case_make(mhz, quantum, memory));
    assert_int_equal(machine_init(&loader), 0);
    assert_int_equal(machine_load_elf(&loader, path, &entry, &tohost), 0);
    memcpy(h->ram, loader.ram, MACHINE_RAM_SIZE);
    machine_fini(&loader);
    h->noise_period = noise;
    h->noise_at = noise == 0 ? CNNVP_TIME_NEVER : noise;
    h->slow = 12345;
    case_run(h, entry, tohost);
    return h;
}

void case_put(struct cnnvp_host *h, uint32_t offset, uint32_t word)
{
    memcpy(h->ram + offset, &word, 4);
}

void case_add(struct cpu_program *program, uint32_t word)
{
    case_put(program->host, program->end, word);
    program->end += 4;
}

uint64_t case_cycles_of(struct cpu_program *program)
{
    case_add(program, LUI_A0 + 0x1000);      /* lui a0, 0x80002: tohost */
    case_add(program, UINT32_C(0x00100593)); /* addi a1, x0, 1 */
    case_add(program, EXIT);
    case_run(program->host, MACHINE_RAM, MACHINE_RAM + 0x2000);
    assert_int_equal(program->host->finished, 1);
    assert_int_equal(program->host->code, 0);
    const cnnvp_time now = program->host->now;
    assert_true(cnnvp_edge_time(1000, now / 1000) == now);
    return now / 1000 - 2; /* without the two instructions of the end */
}
