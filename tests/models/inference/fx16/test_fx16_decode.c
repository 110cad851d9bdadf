/* SPDX-License-Identifier: Apache-2.0 */
/* What a command means for an array, and rules between fields: the reason says what would be right. Bounds of fields
 * are those of tests/system/test_opcodes.c; here are some as the documents have them. */
#include "nfu_case.h"

#include "test.h"

struct change {
    uint32_t at, value;
    const char *reason; /* a part of it; NULL: it is taken */
};

static struct cnnvp_command base(uint32_t opcode, uint32_t status)
{
    struct nfu_case c = nfu_case_window(opcode, 3, 4, 6, 5, 3, 2, 2, 1);
    c.status = status;
    return nfu_case_command(&c);
}

static void check(struct cnnvp_command command, const struct change *changes, size_t count)
{
    struct cnnvp_fx16_tile tile;
    const char *reason = "";
    assert_int_equal(cnnvp_fx16_decode(&command, &tile, &reason), CNNVP_OK);
    for (size_t i = 0; i < count; ++i) {
        struct cnnvp_command changed = command;
        changed.descriptor[changes[i].at] = changes[i].value;
        reason = "";
        assert_int_equal(cnnvp_fx16_decode(&changed, &tile, &reason),
                         changes[i].reason != NULL ? CNNVP_E_INVAL : CNNVP_OK);
        if (changes[i].reason != NULL && strstr(reason, changes[i].reason) == NULL)
            fail_msg("register %u = 0x%x: %s", (unsigned)changes[i].at, (unsigned)changes[i].value, reason);
    }
}

#define CHECK(command, ...)                                          \
    do {                                                             \
        static const struct change changes[] = {__VA_ARGS__};        \
        check(command, changes, sizeof changes / sizeof changes[0]); \
    } while (0)

static void test_meaning(void **state)
{
    const struct cnnvp_command conv = base(OP_CONV, 0x0c);
    struct cnnvp_command depthwise = base(OP_CONV, 0x20);
    struct cnnvp_fx16_tile tile;
    const char *reason = "";
    (void)state;
    assert_int_equal(cnnvp_fx16_decode(&conv, &tile, &reason), CNNVP_OK);
    assert_string_equal(tile.name, "conv");
    assert_true(tile.partial && tile.bias && !tile.per_channel && !tile.ones && tile.uses_k);
    assert_int_equal(tile.weight_span, 4 * 3 * 3 * 2);
    assert_int_equal(tile.bias_span, 4);
    assert_int_equal(tile.in_span, 2 * conv.descriptor[CHANNEL_STRIDE] + 5 * conv.descriptor[ROW_STRIDE] + 13);
    assert_int_equal(cnnvp_fx16_decode(&depthwise, &tile, &reason), CNNVP_OK);
    assert_int_equal(tile.out_channels, 3); /* as many as it reads */
    assert_int_equal(tile.weight_span, 3 * 3 * 2);
    depthwise.descriptor[FORMAT] = 0x1fffc; /* -4, -1, to nearest */
    assert_int_equal(cnnvp_fx16_decode(&depthwise, &tile, &reason), CNNVP_OK);
    assert_int_equal(tile.shift, -4);
    assert_int_equal(tile.bias_shift, -1);
    assert_int_equal(tile.rounding, 1);
}

static void test_windows(void **state)
{
    (void)state;
    CHECK(base(OP_CONV, 8), {ROW_STRIDE, 13, NULL}, {ROW_STRIDE, 12, "in_row_stride"},
          {CHANNEL_STRIDE, 0, "in_channel_stride"}, {CHANNEL_STRIDE, 0x20000000, "2^30"},
          {OUT_CHANNELS, 0x1000000, "2^24"}, {OUT_STRIDE, 30, NULL}, {OUT_STRIDE, 29, "out_channel_stride"},
          {FORMAT, 63, NULL}, {FORMAT, 64, "format.shift is 64: it must be -48 to 63"}, {FORMAT, 0xd0, NULL},
          {FORMAT, 0x8000, "format.bias_shift is -128: it must be -63 to 63"}, {FORMAT, 0x30000, NULL},
          {FORMAT, 0x100000, "format.added is 2: it must be 0 to 1"}, {FORMAT, 0x40000, "1 to 256 segments"},
          {FORMAT, 0x00200000, "with a zero point have 8 bits"}, {FORMAT, 0x90200000, NULL},
          {BIAS_ADDR, 1, "bias_addr is 1: it must be a multiple of 2, 0 to 2147483647"},
          {ACC_ADDR, 5, NULL}); /* there are no sums */
    CHECK(base(OP_CONV, 4), {ACC_ADDR, 5, "a multiple of 2"}, {OUT_ADDR, 1, NULL}, {OUT_STRIDE, 0, NULL},
          {BIAS_ADDR, 1, NULL});
    CHECK(base(OP_CONV, CLIP), {LIMITS, 0x0006fffa, NULL}, {LIMITS, 0x8000fffa, "low is at most high"});
    CHECK(base(OP_CONV, 0), {LIMITS, 0x8000fffa, NULL});
    CHECK(base(OP_CONV, SCALE), {BIAS_ADDR, 2, NULL}, {BIAS_ADDR, 1, "bias_addr is 1"});
    CHECK(base(OP_POOL, 0), {VALID_ROWS, 0x30004, "first is at most end"}, {VALID_COLS, 0x40004, NULL},
          {WEIGHT_ADDR, 1, NULL});
}

/* `seed` has the format of an addition; partial sums have none. */
static void test_addition(void **state)
{
    struct cnnvp_command conv = base(OP_CONV, 0), partial = base(OP_CONV, 4), pool = base(OP_POOL, 0);
    struct cnnvp_fx16_tile tile;
    const char *reason = "";
    (void)state;
    conv.descriptor[FORMAT] |= 1u << 19;
    partial.descriptor[FORMAT] |= 1u << 19;
    conv.descriptor[SEED] = 0x7c10d; /* shift 13, b by -63, floor, swapped */
    CHECK(conv, {SEED, 0x3f, NULL}, {SEED, 0x40, "a shift of -48 to 63"}, {SEED, 0xd0, NULL},
          {SEED, 0xcf, "a shift of -48 to 63"}, {SEED, 0x4000, "a bias shift of -63 to 63"},
          {SEED, 0x20000, "no stochastic rounding"}, {SEED, 0x200000, "a zero point have 8 bits"},
          {SEED, 0x90000, NULL}, {SEED, 0x90100, "bias shift 0"}, {SEED, 0xb0000, "rounding to nearest"},
          {FORMAT, 0xa0000, "which is the format of the addition"});
    CHECK(partial, {SEED, 0x40, NULL});
    struct cnnvp_command both = conv;
    both.descriptor[VALID_ROWS] = 0;
    both.descriptor[VALID_COLS] = 1; /* a table of one segment */
    CHECK(both, {FORMAT, 0xc0000, NULL}, {FORMAT, 0x800c0000, "results have 16 bits"});
    assert_int_equal(cnnvp_fx16_decode(&conv, &tile, &reason), CNNVP_OK);
    assert_int_equal(tile.added, 1);
    assert_int_equal(tile.addition.shift, 13);
    assert_int_equal(tile.addition.b_shift, -63);
    assert_int_equal(tile.addition.rounding, CNNVP_ROUNDING_FLOOR);
    assert_int_equal(tile.addition.swapped, 1);
    assert_int_equal(cnnvp_fx16_decode(&partial, &tile, &reason), CNNVP_OK);
    assert_int_equal(tile.added, 0);
    pool.descriptor[FORMAT] |= 1u << 19;
    assert_int_equal(cnnvp_fx16_decode(&pool, &tile, &reason), CNNVP_E_INVAL);
    assert_non_null(strstr(reason, "the results of a conv"));
}

static void test_matmul(void **state)
{
    const struct nfu_case c = {.opcode = OP_MATMUL, .in_channels = 5, .out_channels = 7};
    const struct cnnvp_command command = nfu_case_command(&c);
    (void)state;
    CHECK(command, {M_INPUTS, 0x10000000, "2^30"}, {M_OUTPUTS, 0x1000001, "2^24"}, {M_OUTPUTS, 0x1000000, NULL});
}

/* Status bits that there are not, an update that there is not, another unit's instruction, a descriptor of another. */
static void test_status(void **state)
{
    struct cnnvp_command wrong[] = {
        base(OP_POOL, SCALE), base(OP_CONV, SCALE | 8), base(OP_CONV, SCALE | 4), base(OP_CONV, 3), base(OP_STEP, 3),
        base(0x90, 0),        base(OP_CONV, 0)};
    static const char *const reasons[] = {"status bits", "without bias",       "without partial",   "update",
                                          "multiply",    "conv, pool, matmul", "that of the opcode"};
    (void)state;
    --wrong[6].count;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct cnnvp_fx16_tile tile;
        const char *reason = "";
        assert_int_equal(cnnvp_fx16_decode(&wrong[i], &tile, &reason), CNNVP_E_INVAL);
        if (strstr(reason, reasons[i]) == NULL)
            fail_msg("%u: %s", (unsigned)i, reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning), cmocka_unit_test(test_windows), cmocka_unit_test(test_addition),
        cmocka_unit_test(test_matmul),  cmocka_unit_test(test_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
