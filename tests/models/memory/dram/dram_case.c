/* SPDX-License-Identifier: Apache-2.0 */
#include "dram_case.h"
#include "random.h"

static void follow(struct bench *bench);

void completed(void *context, struct cnnvp_request *request)
{
    struct bench *bench = context;
    const size_t index = (size_t)(request - bench->requests);
    assert_int_equal(bench->done[index], 0);
    bench->done[index] = bench->sim.now;
    bench->order[bench->completed++] = (uint32_t)index;
    if (request->initiator == 1 && bench->chain) {
        --bench->chain;
        follow(bench);
    }
}

struct bench *bench_new(const char *param, uint64_t value)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
    fake_set(bench->dram, "size", 1u << 20);
    fake_set(bench->dram, "mapping", 0);
    if (param != NULL)
        fake_set(bench->dram, param, value);
    bench->dram->completed = completed;
    bench->dram->completed_context = bench;
    assert_int_equal(fake_start(bench->dram), CNNVP_OK);
    return bench;
}

void bench_free(struct bench *bench)
{
    fake_sim_free(&bench->sim);
    free(bench);
}

struct cnnvp_request *add(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
                          uint32_t outstanding)
{
    struct cnnvp_request *request = &bench->requests[bench->count++];
    *request = (struct cnnvp_request){
        .op = op,
        .initiator = initiator,
        .tag = initiator,
        .address = address,
        .size = size,
        .count = 1,
        .burst_bytes = 64,
        .outstanding = outstanding};
    return request;
}

void send(struct bench *bench, struct cnnvp_request *request)
{
    assert_int_equal(bench->dram->unit->request(bench->dram->self, 0, request), CNNVP_OK);
}

void send_new(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
              uint32_t outstanding)
{
    send(bench, add(bench, initiator, op, address, size, outstanding));
}

static void follow(struct bench *bench)
{
    send_new(bench, 1, CNNVP_READ, 65536 + 64u * bench->chain, 300 + 64u * (bench->chain % 5u), 4);
}

void run_to_end(struct bench *bench)
{
    bench->sim.other_activity = CNNVP_TIME_NEVER;
    fake_run(&bench->sim, bench->sim.now + 1000000000u);
    assert_int_equal(bench->completed, bench->count);
}

struct bench *random_run(uint64_t seed, cnnvp_time pace)
{
    struct bench *bench = bench_new("channels", 1 + seed % 3);
    cnnvp_time at = 0;
    bench->chain = 100;
    for (uint32_t i = 0; i < 60; ++i) {
        const cnnvp_time next = at + (below(&seed, 3) ? below(&seed, 2000) : below(&seed, 400000));
        while (pace && at + pace < next) {
            at += pace;
            bench->sim.other_activity = at;
            fake_run(&bench->sim, at);
        }
        at = next;
        bench->sim.other_activity = at;
        fake_run(&bench->sim, at);
        struct cnnvp_request *request = add(
            bench, below(&seed, 4), below(&seed, 2), below(&seed, 60000), 1 + below(&seed, 2000), 1 + below(&seed, 20));
        request->count = 1 + below(&seed, 8);
        request->stride = (int64_t)below(&seed, 10000) - 5000;
        if (request->stride < 0)
            request->address += 65536;
        send(bench, request);
    }
    run_to_end(bench);
    return bench;
}

void set_text(struct cnnvp_host *host, const char *name, const char *text)
{
    for (size_t i = 0; i < host->unit->param_count; ++i)
        if (strcmp(host->unit->params[i].name, name) == 0)
            host->texts[i] = text;
}

static uint64_t index_of(const char *choices, const char *choice)
{
    uint64_t index = 0;
    for (const char *at = choices; strncmp(at, choice, strlen(choice)) != 0; at = strchr(at, '|') + 1)
        ++index;
    return index;
}

static uint64_t arbiter(const char *name)
{
    for (size_t i = 0; i < cnnvp_unit_dram.param_count; ++i)
        if (strcmp(cnnvp_unit_dram.params[i].name, "arbiter") == 0)
            return index_of(cnnvp_unit_dram.params[i].choices, name);
    return 0;
}

struct bench *bench_port(uint64_t bytes, uint64_t mhz, const char *which, const char *shares)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
    fake_set(bench->dram, "size", 1u << 20);
    fake_set(bench->dram, "port_bytes", bytes);
    fake_set(bench->dram, "port_mhz", mhz);
    fake_set(bench->dram, "refresh", 2);
    fake_set(bench->dram, "arbiter", arbiter(which));
    set_text(bench->dram, "shares", shares);
    bench->dram->completed = completed;
    bench->dram->completed_context = bench;
    assert_int_equal(fake_start(bench->dram), CNNVP_OK);
    return bench;
}
