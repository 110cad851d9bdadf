/* SPDX-License-Identifier: Apache-2.0 */
/* Results of all directions against plain loops. */
#include "train_rig.h"

/* The whole path of one command, also at a clock whose edges are not whole picoseconds apart. */
static void check_forward(uint64_t mhz, int timing_only)
{
    struct array_rig b;
    uint64_t random = 11;
    struct train_case c = layer(T_FORWARD);
    cnnvp_time delay = 0;
    begin(&b, mhz, timing_only);
    array_rig_start(&b);
    train_case_fill(&c, &random, false, true);
    c.command.halves = timing_only ? 0 : 5;
    if (!timing_only)
        load(&b, &c, 5);
    fake_run(&b.sim, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(array_rig_send(&b, &c.command, &delay), CNNVP_OK);
    if (!timing_only) {
        const int16_t *scales = (const int16_t *)(const void *)(half_of(b.output, 1) + train_case_out_exp_addr(&c));
        assert_memory_equal(half_of(b.output, 1), c.after, c.result_bytes);
        for (int o = 0; o < 40; ++o)
            assert_int_equal(scales[o], c.in_exps[0] + c.second_exps[o] - 12);
        assert_int_equal(fake_count(b.array, "saturations"), c.saturated);
        assert_true(c.saturated > 0);
    }
    const uint64_t sets = 6u * 4u; /* channels, pieces */
    const uint64_t compute = 2u * 2u * sets * 100u * 3u;
    const uint64_t results = 5u * 40u * 100u;
    assert_int_equal(fake_count(b.array, "commands"), 1);
    assert_int_equal(fake_count(b.array, "compute_cycles"), compute);
    assert_int_equal(fake_count(b.array, "fill_cycles"), 5);
    assert_int_equal(fake_count(b.array, "writeout_cycles"), 1);
    assert_int_equal(fake_count(b.array, "busy_cycles"), compute + 6u);
    assert_int_equal(fake_count(b.array, "input_words"), 5u * 2u * sets * 100u * 9u);
    assert_int_equal(fake_count(b.array, "weight_words"), 2u * 40u * sets * 9u);
    assert_int_equal(fake_count(b.array, "output_words"), results * sets);
    assert_int_equal(fake_count(b.array, "partial_words"), results * sets);
    assert_int_equal(fake_count(b.array, "macs"), results * 6u * 25u);
    assert_int_equal(fake_count(b.array, "exponents"), 1u + 40u + 40u);
    /* buffers count 16-bit words: two mantissas; and the exponents of the read ports */
    assert_int_equal(fake_count(b.input, "read_rotating_words"), 5u * 2u * sets * 100u * 9u / 2u);
    assert_int_equal(delay, cnnvp_edge_time(mhz, 1001 + compute + 6u) - cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.array->span_count, 1);
    assert_string_equal(b.array->spans[0].name, "tforward");
    assert_int_equal(b.array->spans[0].tag, 3);
    assert_int_equal(b.array->spans[0].flow, 7);
    assert_int_equal(b.array->spans[0].begin, cnnvp_edge_time(mhz, 1001));
    assert_int_equal(b.array->spans[0].end, cnnvp_edge_time(mhz, 1001 + compute + 6u));
    assert_int_equal(b.array->warnings, 0);
    train_case_free(&c);
    array_rig_end(&b);
}

static void test_command(void **state)
{
    (void)state;
    check_forward(200, 0);
    check_forward(333, 0);
    check_forward(200, 1);
}

/* Every opcode, 8 and 16 bits, integers and binary32, through the unit. */
static void test_all(void **state)
{
    uint64_t random = 12;
    (void)state;
    for (uint32_t i = 0; i < 96u; ++i) {
        struct train_case c;
        struct array_rig b;
        const uint32_t bits = i % 3u == 0 ? 16u : 8u;
        train_case_random(&c, &random, bits);
        begin(&b, 200, 0);
        fake_set(b.array, "mantissa_bits", bits);
        fake_set(b.array, "fc_rows", i >> 1 & 1u);
        fake_set(b.array, "gradient", i >> 2 & 1u);
        array_rig_start(&b);
        c.command.halves = i & 7u;
        load(&b, &c, i & 7u);
        assert_int_equal(array_rig_send(&b, &c.command, NULL), CNNVP_OK);
        assert_memory_equal(half_of(b.output, i >> 2 & 1u), c.after, c.result_bytes);
        assert_int_equal(fake_count(b.array, "saturations"), c.saturated);
        train_case_free(&c);
        array_rig_end(&b);
    }
}

/* Biases: a channel of ones in no buffer (Part B 0-8), in both widths: forward added in binary32, gradients
 * exact; the cycles are the cause bias, and no input is read. */
static void check_bias(uint32_t bits)
{
    enum { IMAGES = 2, OUT = 5, H = 3, W = 4, AREA = H * W };
    struct array_rig b;
    begin(&b, 200, 0);
    fake_set(b.array, "mantissa_bits", bits);
    fake_set(b.output, "width_words", 4096);
    array_rig_start(&b);
    const bool wide = bits > 8;
    float *results = (float *)(void *)half_of(b.output, 0);
    char *second = half_of(b.weight, 0);
    int8_t *exponent = (int8_t *)half_of(b.weight, 0) + 0x1000;
    *exponent = -2;
    for (int i = 0; i < IMAGES * OUT * AREA; ++i) {
        results[i] = (float)i / 8.0f;
        if (wide)
            ((int32_t *)(void *)second)[i] = i * 7 % 200 - 100;
        else
            ((int8_t *)second)[i] = (int8_t)(i * 7 % 200 - 100);
    }
    struct cnnvp_command command = {
        .opcode = 0xa0,
        .status = 7,
        .sequence = 1,
        .count = 21,
        /* a forward tile whose input registers mean nothing */
        .descriptor = {99,   99,          99,          99,          W | H << 16, IMAGES, 1,
                       OUT,  W | H << 16, 1 | 1 << 16, 1 | 1 << 16, 0,           0,      0,
                       AREA, OUT * AREA,  77,          77,          0x1000,      0,      0}};
    assert_int_equal(array_rig_send(&b, &command, NULL), CNNVP_OK);
    for (int i = 0; i < IMAGES * OUT * AREA; ++i) {
        const double bias = ldexp((i / AREA % OUT) * 7 % 200 - 100, -2 - ((int)bits - 2));
        const volatile float sum = (float)i / 8.0f + (float)bias;
        assert_true(results[i] == sum);
    }
    const uint64_t forward = (uint64_t)AREA * 3u;
    assert_int_equal(fake_count(b.array, "bias_cycles"), forward);
    assert_int_equal(fake_count(b.array, "compute_cycles"), 0);
    assert_int_equal(fake_count(b.array, "bias_macs"), IMAGES * OUT * AREA);
    assert_int_equal(fake_count(b.array, bits <= 8    ? "int8_mac_operations"
                                         : bits <= 16 ? "int16_mac_operations"
                                                      : "int32_mac_operations"),
                     IMAGES * OUT * AREA);
    assert_int_equal(fake_count(b.array, "macs"), 0);
    assert_int_equal(fake_count(b.array, "input_words"), 0);
    assert_int_equal(fake_count(b.input, "read_bytes"), 0);
    /* the gradient: sums of errors, exact */
    struct cnnvp_command gradient = {
        .opcode = 0xa2,
        .status = 4,
        .sequence = 2,
        .count = 23,
        .descriptor = {0, 0, 0,    0,          W | H << 16, IMAGES,      1,           OUT,
                       0, W, AREA, OUT * AREA, W | H << 16, 1 | 1 << 16, 1 | 1 << 16, 0,
                       0, 1, 0,    0,          0x1000,      0,           0x800}};
    assert_int_equal(array_rig_send(&b, &gradient, NULL), CNNVP_OK);
    for (int o = 0; o < OUT; ++o) {
        int64_t want = 0;
        for (int n = 0; n < IMAGES; ++n)
            for (int i = 0; i < AREA; ++i)
                want += ((n * OUT + o) * AREA + i) * 7 % 200 - 100;
        want *= INT64_C(1) << (bits - 2);
        const char *sum = half_of(b.output, 0) + (size_t)o * (wide ? 8u : 4u);
        assert_true((wide ? *(const int64_t *)(const void *)sum : *(const int32_t *)(const void *)sum) == want);
    }
    /* ones have exponent 0: the scale is the errors' own, and that of the ones' mantissas */
    assert_int_equal(*(const int16_t *)(const void *)(half_of(b.output, 0) + 0x800), -2 - 2 * ((int)bits - 2));
    assert_true(fake_count(b.array, "bias_cycles") > forward);
    assert_int_equal(fake_count(b.array, "compute_cycles"), 0);
    command.descriptor[6] = 2; /* two channels of ones are no bias */
    assert_int_equal(array_rig_send(&b, &command, NULL), CNNVP_E_INVAL);
    array_rig_end(&b);
}

/* Scales in the max-min buffer in place of the output half, where one is connected. */
static void test_bias_and_held_scales(void **state)
{
    (void)state;
    check_bias(8);
    check_bias(16);
    for (int connected = 0; connected < 2; ++connected) {
        struct array_rig b;
        uint64_t random = 21;
        struct train_case c = layer(T_FORWARD);
        begin(&b, 200, 0);
        struct cnnvp_host *held = fake_add(&b.sim, &cnnvp_unit_buffer);
        fake_set(held, "pingpong", 0);
        if (connected)
            fake_connect(b.array, "scales", held, "port");
        assert_int_equal(fake_start(held), CNNVP_OK);
        array_rig_start(&b);
        train_case_fill(&c, &random, false, true);
        load(&b, &c, 0);
        c.command.descriptor[20] = CNNVP_TILE_HELD | 0x40;
        assert_int_equal(array_rig_send(&b, &c.command, NULL), connected ? CNNVP_OK : CNNVP_E_STATE);
        if (connected) {
            const int16_t *scales = (const int16_t *)(const void *)array_rig_peek(held, 0, 0, 1024);
            assert_memory_equal(half_of(b.output, 0), c.after, c.result_bytes);
            for (int o = 0; o < 40; ++o)
                assert_int_equal(scales[0x20 + o], c.in_exps[0] + c.second_exps[o] - 12);
        }
        train_case_free(&c);
        array_rig_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_bias_and_held_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
