/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are refused. */
#include "function_case.h"
#include "random.h"

struct malformed {
    uint32_t opcode, status;
    int32_t reg; /* of the descriptor, COUNT */
    uint32_t value;
    int expected;
};
enum { COUNT = -1 };

static const struct malformed faults[] = {
    {OP_tpost, 0, COUNT, 3, CNNVP_E_INVAL},
    {0xbf, 0, 0, 0, CNNVP_E_INVAL},
    {OP_tdecode, 1, 0, 0, CNNVP_E_INVAL},
    {OP_tpost, 1, 4, 0xffffffff, CNNVP_E_INVAL}, /* more than 2^24 values */
    {OP_tpost, 1, 0, 2, CNNVP_E_INVAL},          /* not aligned */
    {OP_tpost, 1, 0, UINT32_C(1) << 31, CNNVP_E_INVAL},
    {OP_tpost, 1, 0, MACHINE_HALF - 4, CNNVP_E_ADDR},
    {OP_tpost, 1, 1, UINT32_MAX, CNNVP_E_INVAL},
    {OP_tpost, 1, 8, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tpost, 1, 9, 1, CNNVP_E_INVAL},            /* results over each other */
    {OP_tpost, 1, 10, MACHINE_HALF, CNNVP_E_ADDR}, /* exponents */
    {OP_tpost, 1, 10, CNNVP_TILE_HELD | 65536, CNNVP_E_ADDR},
    {OP_tpost, 1, 17, 1 << 8, CNNVP_E_INVAL}, /* mantissa bits */
    {OP_tpost, 1 | ST_tpost_pool, 16, 0, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_pool, 16, 0x01010707, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_pool | ST_tpost_float, 16, 0x02020202, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_measure | ST_tpost_keep, 0, 0, CNNVP_E_INVAL},
    {OP_tpost, 1 | ST_tpost_measure, 10, 5000, CNNVP_E_ADDR},
    {OP_tpost, 1 | ST_tpost_norm, 7, 700, CNNVP_E_ADDR}, /* entries */
    {OP_tpost, 1 | ST_tpost_park, 21, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tpost, 0, 5, 1, CNNVP_E_INVAL}, /* scales at odd addresses */
    {OP_tpostback, 1 | ST_tpostback_reduce | ST_tpostback_measure, 0, 0, CNNVP_E_INVAL},
    {OP_tpostback, 1 | ST_tpostback_convert, 0, 0, CNNVP_E_INVAL},
    {OP_tpostback, 1 | ST_tpostback_norm, 9, 4096, CNNVP_E_ADDR},
    {OP_tpostback, 1 | ST_tpostback_relu, 14, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tstat, 1, 12, UINT32_MAX, CNNVP_E_INVAL}, /* numbers of 32 bits */
    {OP_tpostback, 1, 23, UINT32_MAX, CNNVP_E_INVAL},
    {OP_tstat, 1, 10, 4096, CNNVP_E_ADDR},
    {OP_tcoef, 0, 0, UINT32_MAX, CNNVP_E_ADDR},
    {OP_texp, ST_texp_map | ST_texp_back, 0, 0, CNNVP_E_INVAL},
    {OP_texp, 0, 3, MACHINE_HALF, CNNVP_E_ADDR},
    {OP_tsoftmax, 1, 13, UINT32_MAX, CNNVP_E_ADDR},
    {OP_tupdate, 1, 9, 1, CNNVP_E_INVAL},
    {OP_tload, 6, 0, 0, CNNVP_E_INVAL},
    {OP_tload, 0, 1, 65536, CNNVP_E_ADDR},
    {OP_tclear, 0, 2, 8, CNNVP_E_INVAL},
};

/* A descriptor of a tile that works for every opcode. */
static uint32_t good(uint32_t opcode, uint32_t registers[CNNVP_DESCRIPTOR_MAX])
{
    const struct machine_tpost p = post();
    const struct machine_tpostback b = {
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .x_addr = 0x8000,
        .x_image_stride = CHANNELS * PLANE,
        .out_addr = 0x4000,
        .out_image_stride = CHANNELS * PLANE,
        .block = 0x30,
        .mask_addr = 0x10000,
        .mask_image_stride = 1000,
        .id_addr = 0x20000,
        .id_image_stride = 1000,
        .pool = 0x02020202};
    const struct machine_tstat s = {
        .in_image_stride = CHANNELS * PLANE,
        .images = IMAGES,
        .channels = CHANNELS,
        .size = W | H << 16,
        .entry_strides = 1u << 16};
    const struct machine_tcoef c = {.channels = 4};
    const struct machine_texp e = {.channels = 4};
    const struct machine_tsoftmax x = {
        .in_image_stride = 10,
        .images = 2,
        .classes = 10,
        .label_addr = 0x100,
        .out_addr = 0x200,
        .out_image_stride = 10};
    const struct machine_tupdate u = {
        .in_stride = 9, .channels = 20, .values = 9, .value_addr = 0x1000, .velocity_addr = 0x2000, .value_stride = 9};
    const struct machine_tbnupdate n = {.channels = 3};
    const struct machine_tdecode d = {.in_stride = 9, .channels = 20, .values = 9, .out_addr = 0x1000, .out_stride = 9};
    const struct machine_theld h = {.bytes = 32};
    const struct {
        uint32_t opcode;
        const void *registers;
        size_t size;
    } forms[] = {{OP_tpost, &p, sizeof p},   {OP_tpostback, &b, sizeof b}, {OP_tstat, &s, sizeof s},
                 {OP_tcoef, &c, sizeof c},   {OP_texp, &e, sizeof e},      {OP_tsoftmax, &x, sizeof x},
                 {OP_tupdate, &u, sizeof u}, {OP_tbnupdate, &n, sizeof n}, {OP_tdecode, &d, sizeof d},
                 {OP_tload, &h, sizeof h},   {OP_tsave, &h, sizeof h},     {OP_tclear, &h, sizeof h}};
    memset(registers, 0, CNNVP_DESCRIPTOR_MAX * sizeof *registers);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i)
        if (forms[i].opcode == opcode) {
            memcpy(registers, forms[i].registers, forms[i].size);
            return (uint32_t)(forms[i].size / sizeof *registers);
        }
    return 0;
}

/* Contents of everything that a command may change. */
struct contents {
    uint8_t halves[2][0x30000];
    uint8_t held[6][1 << 16];
};

static void take_contents(struct machine *m, struct contents *contents)
{
    for (uint32_t half = 0; half < 2; ++half)
        memcpy(contents->halves[half], machine_at(m, M_INTERMEDIATE, half, 0), sizeof contents->halves[half]);
    for (unsigned i = 0; i < 6; ++i)
        memcpy(contents->held[i], machine_at(m, (enum machine_instance)(M_MAX_MIN + i), 0, 0),
               sizeof contents->held[i]);
}

static void test_malformed(void **state)
{
    static struct contents before;
    static struct contents after;
    struct machine m;
    (void)state;
    machine_begin(&m, &plain);
    fill(&m, 9);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        uint32_t registers[CNNVP_DESCRIPTOR_MAX];
        uint32_t count = good(faults[i].opcode, registers);
        assert_true(count != 0 || faults[i].opcode == 0xbf);
        if (faults[i].reg == COUNT)
            count = faults[i].value;
        else
            registers[faults[i].reg] = faults[i].value;
        const uint64_t rejected = fake_count(m.units[M_MODULE], "rejected");
        const uint64_t commands = fake_count(m.units[M_MODULE], "commands");
        const uint64_t warnings = m.units[M_MODULE]->warnings;
        take_contents(&m, &before);
        const int status = machine_try(&m, faults[i].opcode, faults[i].status, 0, registers, count * 4u);
        take_contents(&m, &after);
        if (status != faults[i].expected)
            print_error("fault %zu: %d, %s\n", i, status, m.units[M_MODULE]->message);
        assert_int_equal(status, faults[i].expected);
        assert_int_equal(fake_count(m.units[M_MODULE], "rejected"), rejected + 1u);
        assert_int_equal(fake_count(m.units[M_MODULE], "commands"), commands);
        assert_int_equal(m.units[M_MODULE]->warnings, warnings + 1u);
        assert_memory_equal(&before, &after, sizeof before);
    }
    /* a matrix that its buffer cannot hold, and a label that is no class */
    struct machine_tpost large = post();
    large.channels = 60000;
    large.images = 2;
    large.size = 1 | 2 << 16;
    large.in_image_stride = large.out_image_stride = 120000;
    large.out_addr = 0xf0000 / 2;
    large.mask_image_stride = 120000;
    assert_int_equal(machine_try(&m, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_keep, 0, &large, sizeof large),
                     CNNVP_E_ADDR);
    const struct machine_tsoftmax softmax = {
        .in_image_stride = 10,
        .images = 2,
        .classes = 10,
        .label_addr = 0x800,
        .out_addr = 0x4000,
        .out_image_stride = 10};
    uint32_t *labels = machine_at(&m, M_INTERMEDIATE, 0, 0x800);
    labels[0] = 9;
    labels[1] = 10;
    take_contents(&m, &before);
    assert_int_equal(machine_try(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, 0, &softmax, sizeof softmax),
                     CNNVP_E_INVAL);
    take_contents(&m, &after);
    assert_memory_equal(&before, &after, sizeof before);
    labels[1] = 0;
    MACHINE_DO(&m, OP_tsoftmax, ST_tsoftmax_fp32 | ST_tsoftmax_gradient, softmax);
    machine_end(&m);
}

/* Good descriptors with one or more registers replaced by anything, on buffers full of anything: a status, no crash.
 * What is refused changes nothing. */
static void test_garbage(void **state)
{
    static const uint32_t odd[] = {
        0,
        1,
        2,
        3,
        4,
        7,
        0x100,
        0x101,
        0xffff,
        0x10000,
        MACHINE_HALF - 4,
        MACHINE_HALF,
        CNNVP_TILE_HELD,
        CNNVP_TILE_HELD | 0xfffe,
        UINT32_C(1) << 31,
        UINT32_MAX};
    static struct contents before;
    static struct contents after;
    struct machine m;
    uint64_t random = 1;
    uint32_t accepted = 0;
    (void)state;
    machine_begin(&m, &plain);
    for (unsigned i = M_INTERMEDIATE; i < M_INSTANCES; i = i == M_INTERMEDIATE ? M_MAX_MIN : i + 1) {
        uint32_t *words = machine_at(&m, (enum machine_instance)i, 0, 0);
        for (uint32_t w = 0; w < (1u << 14); ++w)
            words[w] = next_bits(&random);
    }
    for (int run = 0; run < 20000; ++run) {
        uint32_t registers[CNNVP_DESCRIPTOR_MAX];
        const uint32_t opcode = OP_tstat + next_bits(&random) % 12;
        const uint32_t count = good(opcode, registers);
        const uint64_t changes = next_bits(&random) % 4;
        for (uint64_t c = 0; c < changes; ++c)
            registers[next_bits(&random) % count] =
                next_bits(&random) % 2 != 0 ? odd[next_bits(&random) % (sizeof odd / sizeof odd[0])]
                                            : next_bits(&random) % 64;
        const bool compare = run % 16 == 0;
        if (compare)
            take_contents(&m, &before);
        const int status =
            machine_try(&m, opcode, next_bits(&random) & 0xff, next_bits(&random) & 7u, registers, count * 4u);
        assert_true(status <= 0);
        accepted += status == CNNVP_OK;
        if (compare && status != CNNVP_OK) {
            take_contents(&m, &after);
            assert_memory_equal(&before, &after, sizeof before);
        }
    }
    assert_true(accepted > 1000);
    machine_end(&m);
}

/* What is no command. Blocks by themselves are in their own tests. */
static void test_misuse(void **state)
{
    struct machine m;
    struct cnnvp_command command = {.opcode = OP_tclear};
    struct cnnvp_access read = {.op = CNNVP_READ, .data = &command, .size = sizeof command};
    struct cnnvp_access empty = {.op = CNNVP_COMMAND, .size = sizeof command};
    struct cnnvp_access small = {.op = CNNVP_COMMAND, .data = &command, .size = 4};
    (void)state;
    machine_begin(&m, &plain);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &read), CNNVP_E_ACCESS);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &empty), CNNVP_E_INVAL);
    assert_int_equal(fake_access(m.units[M_MODULE], "command", &small), CNNVP_E_INVAL);
    machine_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
