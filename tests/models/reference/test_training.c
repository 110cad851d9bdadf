/* SPDX-License-Identifier: Apache-2.0 */
/* Write-outs and roundings of the reference on figures that were worked out by hand from the documents. */
#include <math.h>

#include "cnnvp_tile.h"
#include "instructions.h"
#include "reference/reference.h"
#include "test.h"

enum { BYTES = 4096 };

/* Both halves of each buffer are the same memory but those of the output. */
struct store {
    union {
        uint8_t bytes[BYTES];
        int8_t narrow[BYTES];
        float values[BYTES / 4];
        struct cnnvp_extremes extremes[BYTES / sizeof(struct cnnvp_extremes)];
    } of[CNNVP_REFERENCE_BUFFERS], idle;
    struct cnnvp_reference reference;
};

#define OUTPUT of[CNNVP_REFERENCE_OUTPUT]
#define MAX_MIN of[CNNVP_REFERENCE_MAX_MIN]

static struct store *begin(void)
{
    struct store *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->reference.mantissa_bits = 8;
    for (unsigned b = 0; b < CNNVP_REFERENCE_BUFFERS; ++b)
        s->reference.buffers[b] = (struct cnnvp_reference_buffer){{s->of[b].bytes, s->of[b].bytes}, BYTES};
    s->reference.buffers[CNNVP_REFERENCE_OUTPUT].halves[1] = s->idle.bytes;
    for (unsigned i = 0; i < 8; ++i)
        s->MAX_MIN.extremes[i] = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
    return s;
}

static void run(struct store *s, uint32_t opcode, uint32_t status, const void *registers, size_t size)
{
    struct cnnvp_command command = {.opcode = opcode, .status = status, .count = (uint32_t)(size / sizeof(uint32_t))};
    memcpy(command.descriptor, registers, size);
    assert_true(cnnvp_reference_covers(&s->reference, &command));
    assert_null(cnnvp_reference_run(&s->reference, &command));
}
#define RUN(s, opcode, status, registers) run(s, opcode, status, &(registers), sizeof(registers))

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void same(float got, double expected)
{
    assert_int_equal(bits_of(got), bits_of((float)expected));
}

/* A plane of 2x4, pooled 2x2: what is positive of -1, 5.5, 3, 3 / 2, 0, 3, -8, exponent 2: units of 1/16. */
static void test_post(void **state)
{
    (void)state;
    struct store *s = begin();
    const float x[] = {-1, 5.5f, 3, 3, 2, 0, 3, -8};
    const struct machine_tpost post = {
        .images = 1,
        .channels = 1,
        .size = 4 | 2 << 16,
        .out_addr = 64,
        .block = 80,
        .mask_addr = 96,
        .id_addr = 112,
        .pool = 0x02020202,
        .format = 1,
        .park_addr = 16};
    memcpy(s->OUTPUT.values, x, sizeof x);
    s->OUTPUT.bytes[80] = 2;
    RUN(s, OP_tpost, ST_tpost_fp32 | ST_tpost_relu | ST_tpost_pool | ST_tpost_keep | ST_tpost_park, post);
    assert_int_equal(s->OUTPUT.narrow[64], 88);
    assert_int_equal(s->OUTPUT.narrow[65], 48);
    assert_int_equal(s->OUTPUT.bytes[96], 0x5e);
    assert_int_equal(s->OUTPUT.bytes[97], 0);
    assert_int_equal(s->OUTPUT.bytes[112], 1);
    assert_int_equal(s->of[CNNVP_REFERENCE_RELU].bytes[0], 0x5e);
    assert_int_equal(s->of[CNNVP_REFERENCE_ID].bytes[0], 1);
    same(s->idle.values[5], 5.5);
    same(s->idle.values[11], -8);
    /* back: 7 to the first window's second place, whose bit is set, 9 to the other's first */
    const struct machine_tpostback back = {
        .in_addr = 256,
        .images = 1,
        .channels = 1,
        .size = 4 | 2 << 16,
        .out_addr = 64,
        .block = 80,
        .mask_addr = 96,
        .id_addr = 112,
        .pool = 0x02020202};
    s->OUTPUT.values[64] = 7, s->OUTPUT.values[65] = -7.99f;
    RUN(s, OP_tpostback, ST_tpostback_fp32 | ST_tpostback_relu | ST_tpostback_pool, back);
    const int8_t errors[] = {0, 112, -127, 0, 0, 0, 0, 0};
    assert_memory_equal(s->OUTPUT.narrow + 64, errors, sizeof errors);
    free(s);
}

/* Three times 0.4 of a unit: nearest loses them, carried they come to one; 1.5 to even, 2.5 too; floor, toward 0. */
static void test_rounding(void **state)
{
    (void)state;
    static const struct {
        uint32_t rounding;
        int8_t mantissas[6];
    } cases[] = {
        {0, {0, 0, 0, 1, 2, -1}}, {1, {0, 0, 0, 2, 2, -2}}, {3, {0, 0, 0, 1, 2, -2}}, {4, {0, 1, 0, 2, 2, -2}}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        struct store *s = begin();
        const float x[] = {0.375f, 0.375f, 0.375f, 1.5f, 2.5f, -1.75f};
        const struct machine_tpost post = {
            .images = 1, .channels = 1, .size = 6 | 1 << 16, .out_addr = 64, .block = 80, .format = cases[k].rounding};
        memcpy(s->OUTPUT.values, x, sizeof x);
        s->OUTPUT.bytes[80] = 6;
        RUN(s, OP_tpost, ST_tpost_fp32, post);
        assert_memory_equal(s->OUTPUT.narrow + 64, cases[k].mantissas, sizeof x / sizeof x[0]);
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
