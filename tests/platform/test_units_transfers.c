/* SPDX-License-Identifier: Apache-2.0 */
/* What the DMA and the memory say that transfers take, against lone transfers of the same DMA, buffers and memory. */

#include "test.h"

#include "units.h"
#include "cnnvp_isa.h"
#include "units_rig.h"

#define MEMORY UINT32_C(0x80000000)
#define LONG_ENOUGH 100000000u /* cycles */
#define PART 50u               /* of what a transfer takes: 2 % */
#define SHORT_ROWS_PART 10u    /* the same where rows are shorter than two bursts: reading ahead cuts between them */

enum { INPUT, WEIGHT, OUTPUT };

/* Big halves: any transfer here fits. */
static const char *const big[] = {"input_buffer.size=1MiB", "output_buffer.size=1MiB", "dram.size=16MiB", NULL};

static struct cnnvp_command command_of(uint32_t opcode, uint32_t buffer, const struct cnnvp_transfer *transfer)
{
    struct cnnvp_command command = {.opcode = opcode, .status = buffer << CNNVP_STATUS_request_buffer, .sequence = 1};
    command.count = sizeof *transfer / sizeof(uint32_t);
    memcpy(command.descriptor, transfer, sizeof *transfer);
    return command;
}

static struct cnnvp_transfer box(uint32_t row_bytes, uint32_t rows, uint32_t gap, uint32_t planes)
{
    return (struct cnnvp_transfer){
        .memory_addr = MEMORY,
        .row_bytes = row_bytes,
        .rows = rows,
        .memory_row_stride = row_bytes + gap,
        .buffer_row_stride = row_bytes,
        .planes = planes,
        .memory_plane_stride = rows * (row_bytes + gap),
        .buffer_plane_stride = rows * row_bytes};
}

static uint64_t asked_ps(const char *const *settings, uint32_t opcode, uint32_t buffer,
                         const struct cnnvp_transfer *transfer)
{
    struct units_rig rig;
    const struct cnnvp_command command = command_of(opcode, buffer, transfer);
    units_rig_open(&rig, units_configure("nfu", settings), 1);
    const struct cnnvp_cost cost = units_ask(&rig, "dma", &command);
    if (cost.status != CNNVP_OK)
        fail_msg("%s", cost.reason);
    units_rig_close(&rig);
    return cost.ps;
}

static uint64_t taken_ps(const char *const *settings, uint32_t opcode, uint32_t buffer,
                         const struct cnnvp_transfer *transfer)
{
    struct units_rig rig;
    cnnvp_time delay;
    struct cnnvp_command command = command_of(CNNVP_OPCODE_request, buffer, transfer);
    units_rig_open(&rig, units_configure("nfu", settings), 1);
    if (opcode == CNNVP_OPCODE_receive) {
        assert_int_equal(units_send(&rig, "dma", &command, &delay), CNNVP_OK);
        units_rig_to_edge(&rig, 1);
    }
    command.opcode = opcode;
    assert_int_equal(units_send(&rig, "dma", &command, &delay), CNNVP_PENDING);
    units_rig_to_edge(&rig, LONG_ENOUGH);
    assert_true(rig.done_at != CNNVP_TIME_NEVER);
    assert_int_equal(rig.done_status, CNNVP_OK);
    const uint64_t ps = rig.done_at;
    units_rig_close(&rig);
    return ps;
}

static void check_transfer(const char *const *settings, const struct cnnvp_transfer *transfer, uint64_t part)
{
    for (int store = 0; store < 2; ++store) {
        const uint32_t opcode = store ? CNNVP_OPCODE_store : CNNVP_OPCODE_receive;
        const uint32_t buffer = store ? OUTPUT : INPUT;
        const uint64_t asked = asked_ps(settings, opcode, buffer, transfer);
        const uint64_t taken = taken_ps(settings, opcode, buffer, transfer);
        const uint64_t apart = asked > taken ? asked - taken : taken - asked;
        if (apart > taken / part)
            fail_msg("%s of %u x %u x %u bytes: asked, %llu ps, taken %llu", store ? "store" : "receive",
                     transfer->planes, transfer->rows, transfer->row_bytes, (unsigned long long)asked,
                     (unsigned long long)taken);
    }
}

static const uint32_t shapes[][4] = {
    /* row_bytes, rows, gap, planes */
    {2, 1, 0, 1},     {64, 1, 0, 1},     {2048, 1, 0, 1}, {34816, 1, 0, 1}, {262144, 1, 0, 1}, {100, 30, 0, 1},
    {100, 30, 28, 1}, {30, 100, 450, 1}, {448, 16, 0, 8}, {56, 14, 56, 64}, {64, 8, 1024, 4},  {4096, 4, 4096, 3},
};

static void lone_transfers_take_what_is_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        const struct cnnvp_transfer transfer = box(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]);
        const int is_short = shapes[i][0] < 128 && shapes[i][2] != 0;
        check_transfer(big, &transfer, is_short ? SHORT_ROWS_PART : PART);
    }
}

/* The buffer's port is the bottleneck: it is asked too. */
static void ports_are_asked(void **state)
{
    static const char *const narrow[] = {
        "input_buffer.size=1MiB",
        "input_buffer.width_words=1",
        "output_buffer.size=1MiB",
        "output_buffer.width_words=1",
        "dma.port_bytes=64",
        "dram.size=16MiB",
        NULL};
    static const char *const thin[] = {
        "input_buffer.size=1MiB", "output_buffer.size=1MiB", "dma.port_bytes=2", "dram.size=16MiB", NULL};
    const struct cnnvp_transfer transfer = box(65536, 1, 0, 1);
    (void)state;
    check_transfer(narrow, &transfer, PART);
    check_transfer(thin, &transfer, PART);
    /* 32768 words, one a cycle of 1 ns */
    assert_in_range(asked_ps(narrow, CNNVP_OPCODE_receive, INPUT, &transfer), 32768000, 40000000);
    assert_in_range(asked_ps(thin, CNNVP_OPCODE_store, OUTPUT, &transfer), 32768000, 32768000 + 1000000);
}

static void more_bytes_take_longer(void **state)
{
    static const char *const presets[] = {"dram.preset=ddr4-2400", "dram.preset=hbm2", "dram.preset=lpddr4-3200"};
    (void)state;
    for (size_t p = 0; p < 3; ++p) {
        const char *const settings[] = {big[0], big[1], big[2], presets[p], NULL};
        struct units_rig rig;
        units_rig_open(&rig, units_configure("nfu", settings), 1);
        for (int store = 0; store < 2; ++store) {
            uint64_t last = 0;
            for (uint32_t bytes = 2; bytes <= 400000; bytes += 2 + bytes / 3 * 2) {
                const struct cnnvp_transfer transfer = box(bytes, 1, 0, 1);
                const struct cnnvp_command command =
                    command_of(store ? CNNVP_OPCODE_store : CNNVP_OPCODE_receive, store ? OUTPUT : INPUT, &transfer);
                const struct cnnvp_cost cost = units_ask(&rig, "dma", &command);
                assert_int_equal(cost.status, CNNVP_OK);
                if (cost.ps < last)
                    fail_msg("%s, %u bytes: %llu ps, fewer took %llu", presets[p], bytes, (unsigned long long)cost.ps,
                             (unsigned long long)last);
                last = cost.ps;
            }
            assert_true(last > 400000u * 2u); /* no memory here brings 300 bytes a nanosecond */
        }
        units_rig_close(&rig);
    }
}

/* ---- the memory ---- */

static void on_complete(void *context, struct cnnvp_request *request)
{
    struct fake_sim *sim = context;
    assert_int_equal(request->status, CNNVP_OK);
    request->cookie = sim->now;
}

static struct cnnvp_host *open_memory(struct fake_sim *sim, uint64_t preset)
{
    fake_sim_init(sim, 1000, 0, 0);
    sim->timing_only = 1;
    struct cnnvp_host *dram = fake_add(sim, &cnnvp_unit_dram);
    fake_set(dram, "preset", preset);
    fake_set(dram, "size", UINT64_C(16) << 20);
    dram->completed = on_complete;
    dram->completed_context = sim;
    assert_int_equal(fake_start(dram), CNNVP_OK);
    return dram;
}

static const struct cnnvp_request requests[] = {
    {.op = CNNVP_READ, .address = 0, .size = 1, .count = 1, .burst_bytes = 64, .outstanding = 1},
    {.op = CNNVP_READ, .address = 100, .size = 5000, .count = 1, .burst_bytes = 64, .outstanding = 16},
    {.op = CNNVP_WRITE, .address = 64, .size = 100000, .count = 1, .burst_bytes = 64, .outstanding = 4},
    {.op = CNNVP_READ, .address = 4096, .size = 60, .count = 200, .stride = 8192, .burst_bytes = 32, .outstanding = 64},
    {.op = CNNVP_WRITE,
     .address = 8000000,
     .size = 64,
     .count = 50,
     .stride = -1000,
     .burst_bytes = 64,
     .outstanding = 8},
    {.op = CNNVP_READ, .address = 0, .size = 1000000, .count = 1, .burst_bytes = 64, .outstanding = 64},
};
enum { REQUESTS = sizeof requests / sizeof requests[0], PRESETS = 5 };

static cnnvp_time run_request(struct fake_sim *sim, struct cnnvp_host *dram, const struct cnnvp_request *of)
{
    struct cnnvp_request request = *of;
    const cnnvp_time begin = sim->now;
    request.issued = begin;
    assert_int_equal(dram->unit->request(dram->self, 0, &request), CNNVP_OK);
    fake_run(sim, begin + UINT64_C(1000000000));
    assert_true(request.cookie > begin);
    return request.cookie - begin;
}

/* To the picosecond; and it is said again in the middle of other traffic, which it does not change. */
static void memory_estimates_lone_requests(void **state)
{
    (void)state;
    for (uint64_t preset = 0; preset < PRESETS; ++preset)
        for (size_t i = 0; i < REQUESTS; ++i) {
            struct fake_sim sim;
            struct fake_sim other;
            cnnvp_time before = 0;
            cnnvp_time after = 0;
            struct cnnvp_host *dram = open_memory(&sim, preset);
            assert_int_equal(dram->unit->estimate(dram->self, 0, &requests[i], &before), CNNVP_OK);
            assert_int_equal(run_request(&sim, dram, &requests[i]), before);
            const cnnvp_time second = run_request(&sim, dram, &requests[(i + 1u) % REQUESTS]);
            assert_int_equal(dram->unit->estimate(dram->self, 0, &requests[i], &after), CNNVP_OK);
            assert_int_equal(after, before);

            dram = open_memory(&other, preset);
            assert_int_equal(run_request(&other, dram, &requests[i]), before);
            assert_int_equal(dram->unit->estimate(dram->self, 0, &requests[0], &after), CNNVP_OK);
            assert_int_equal(run_request(&other, dram, &requests[(i + 1u) % REQUESTS]), second);
            fake_sim_free(&sim);
            fake_sim_free(&other);
        }
}

static void memory_refuses_wrong_requests(void **state)
{
    struct fake_sim sim;
    cnnvp_time time = 0;
    struct cnnvp_host *dram = open_memory(&sim, 0);
    struct cnnvp_request request = requests[1];
    (void)state;
    request.address = UINT64_C(16) << 20;
    assert_int_equal(dram->unit->estimate(dram->self, 0, &request, &time), CNNVP_E_ADDR);
    request = requests[1];
    request.size = 0;
    assert_int_equal(dram->unit->estimate(dram->self, 0, &request, &time), CNNVP_E_INVAL);
    fake_sim_free(&sim);
}

/* A third-party memory says nothing: the ports' time is left. */
static void memory_without_an_answer(void **state)
{
    static const char *const external[] = {"dram.model=external", "input_buffer.size=1MiB", NULL};
    const struct cnnvp_transfer transfer = box(65536, 1, 0, 1);
    (void)state;
    assert_int_equal(asked_ps(external, CNNVP_OPCODE_receive, INPUT, &transfer), 65536u / 32u * 1000u);
}

/* A DMA whose memory is behind the bus gets the same answers. */
static void memory_behind_the_bus(void **state)
{
    static const char file[] = "units_behind_bus.yaml";
    const struct cnnvp_transfer transfer = box(4096, 3, 128, 2);
    const struct cnnvp_command command = command_of(CNNVP_OPCODE_receive, INPUT, &transfer);
    struct cnnvp_error error = {""};
    struct cnnvp_cost cost;
    cnnvp_units *units = NULL;
    FILE *stream = fopen(file, "w");
    (void)state;
    assert_non_null(stream);
    assert_true(fputs("platform: behind\nbase: nfu\nunits:\n  dma: {connect: {mem: bus}}\n", stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    cnnvp_config *config = units_configure(file, NULL);
    (void)remove(file);
    assert_int_equal(cnnvp_units_new(config, &units, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_units_command(units, "dma", &command, &cost, &error), CNNVP_DONE);
    assert_int_equal(cost.status, CNNVP_OK);
    assert_int_equal(cost.ps, asked_ps(NULL, CNNVP_OPCODE_receive, INPUT, &transfer));
    struct cnnvp_transfer nowhere = transfer;
    nowhere.memory_addr = 0x40000000;
    const struct cnnvp_command wrong = command_of(CNNVP_OPCODE_receive, INPUT, &nowhere);
    assert_int_equal(cnnvp_units_command(units, "dma", &wrong, &cost, &error), CNNVP_DONE);
    assert_int_equal(cost.status, CNNVP_E_ADDR);
    cnnvp_units_free(units);
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_transfers_take_what_is_asked),
        cmocka_unit_test(ports_are_asked),
        cmocka_unit_test(more_bytes_take_longer),
        cmocka_unit_test(memory_estimates_lone_requests),
        cmocka_unit_test(memory_refuses_wrong_requests),
        cmocka_unit_test(memory_without_an_answer),
        cmocka_unit_test(memory_behind_the_bus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
