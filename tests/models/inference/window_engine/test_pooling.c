/* SPDX-License-Identifier: Apache-2.0 */
/* Windows in pieces, on every unit that pools; what the pooling unit refuses. */
#include "array_rig.h"
#include "instructions.h"
#include "random.h"

#include "test.h"

extern const struct cnnvp_unit cnnvp_unit_nfu, cnnvp_unit_pooling, cnnvp_unit_vector;

/* Windows of 5x2 values every two columns, of ten channels; rows 0 and 6 hold no data. */
enum { CHANNELS = 10, H = 7, W = 9, KX = 5, KY = 2, SX = 2, OUT_H = 6, OUT_W = 3 };
enum { FIRST_ROW = 1, END_ROW = 6, OUT_AT = 128, ACC_AT = 4096 };

static const struct machine_window windows = {
    .in_addr = 64,
    .in_row_stride = W,
    .in_channel_stride = H * W,
    .in_channels = CHANNELS,
    .out_h = OUT_H,
    .out_w = OUT_W,
    .kernel = KX | KY << 16,
    .stride = SX | 1 << 16,
    .dilation = 1 | 1 << 16,
    .out_addr = OUT_AT,
    .acc_addr = ACC_AT,
    .out_channel_stride = OUT_H * OUT_W,
    .valid_rows = FIRST_ROW | END_ROW << 16,
    .valid_cols = W << 16};

/* A window in pieces: the maxima of the first piece are where the results will be, the others maximise them. */
enum { P_CHANNELS = 3, P_H = 8, P_W = 8, P_KX = 5, P_KY = 6, P_SY = 2, P_OUT_H = 2, P_OUT_W = 4 };
enum { P_RESULTS = P_CHANNELS * P_OUT_H * P_OUT_W, P_WHOLE = 1024, P_SUMS = 2048, P_FIRST = 1 };

/* The window of ky rows and kx columns from its tap (y, x) on; row 0 holds no data. */
static struct machine_window piece_of(uint32_t y, uint32_t ky, uint32_t x, uint32_t kx, uint32_t format)
{
    return (struct machine_window){
        .in_addr = 2 * (y * P_W + x),
        .in_row_stride = P_W,
        .in_channel_stride = P_H * P_W,
        .in_channels = P_CHANNELS,
        .out_h = P_OUT_H,
        .out_w = P_OUT_W,
        .kernel = kx | ky << 16,
        .stride = 1 | P_SY << 16,
        .dilation = 1 | 1 << 16,
        .acc_addr = P_SUMS,
        .out_channel_stride = P_OUT_H * P_OUT_W,
        .format = format,
        .valid_rows = (y == 0 ? P_FIRST : 0) | (P_H - y) << 16,
        .valid_cols = (P_W - x) << 16,
        .seed = 5};
}

static int16_t largest(const int16_t *in, uint32_t result)
{
    const uint32_t y0 = result / P_OUT_W % P_OUT_H * P_SY;
    const uint32_t x0 = result % P_OUT_W;
    int16_t max = INT16_MIN;
    for (uint32_t y = y0; y < y0 + P_KY; ++y)
        for (uint32_t x = x0; x < x0 + P_KX && y >= P_FIRST; ++x) {
            const int16_t value = in[(result / (P_OUT_H * P_OUT_W) * P_H + y) * P_W + x];
            max = value > max ? value : max;
        }
    return max;
}

/* Pieces of ky rows and kx columns give the words of the whole window, whatever rounds them. */
static void check_pieces(const struct cnnvp_unit *unit, int stepped, uint32_t ky, uint32_t kx, uint32_t format)
{
    const uint32_t opcode = unit == &cnnvp_unit_vector ? OP_vpool : OP_pool;
    int16_t in[P_CHANNELS * P_H * P_W];
    uint64_t random = 11;
    uint32_t further = 0;
    struct array_rig rig;
    array_rig_begin(&rig, unit, 1000, 0);
    if (stepped)
        fake_set(rig.array, "detail", 1);
    array_rig_start(&rig);
    for (int i = 0; i < P_CHANNELS * P_H * P_W; ++i) /* the first channel's are all below 0, the second's above */
        in[i] = (int16_t)((next_bits(&random) & 0x3fff) - (i < P_H * P_W ? 0x4000 : i < 2 * P_H * P_W ? 0 : 0x2000));
    array_rig_poke(rig.input, 0, 0, in, P_CHANNELS * P_H * P_W);
    for (uint32_t y = 0; y < P_KY; y += ky)
        for (uint32_t x = 0; x < P_KX; x += kx) {
            const struct machine_window piece =
                piece_of(y, P_KY - y < ky ? P_KY - y : ky, x, P_KX - x < kx ? P_KX - x : kx, format);
            const uint32_t maximise = y + x != 0;
            (void)array_rig_do(&rig, ARRAY_RIG_COMMAND(opcode, maximise * 2u * ST_pool_update, piece));
            further += maximise;
        }
    assert_int_equal(fake_count(rig.output, "updates_initialise"), P_RESULTS);
    assert_int_equal(fake_count(rig.output, "updates_maximise"), P_RESULTS * further);
    struct machine_window whole = piece_of(0, P_KY, 0, P_KX, format);
    whole.out_addr = P_WHOLE;
    (void)array_rig_do(&rig, ARRAY_RIG_COMMAND(opcode, 0, whole));
    assert_memory_equal(array_rig_peek(rig.output, 0, 0, 2 * P_RESULTS),
                        array_rig_peek(rig.output, 0, P_WHOLE, 2 * P_RESULTS), 2 * P_RESULTS);
    for (uint32_t r = 0; r < P_RESULTS && format == 0; ++r)
        assert_int_equal(*(const int16_t *)array_rig_peek(rig.output, 0, 2 * r, 2), largest(in, r));
    array_rig_end(&rig);
}

static void test_pieces(void **state)
{
    static const struct cnnvp_unit *const units[] = {&cnnvp_unit_pooling, &cnnvp_unit_nfu, &cnnvp_unit_vector};
    static const uint32_t formats[] = {0, 0xff, 0x10003, 0x20004}; /* shift -1 clips; 3, nearest; 4, stochastic */
    (void)state;
    for (size_t u = 0; u < 3; ++u)
        for (size_t f = 0; f < (units[u] == &cnnvp_unit_nfu ? 8u : 4u); ++f) {
            const int stepped = f >= 4u; /* the NFU alone has a second depth */
            check_pieces(units[u], stepped, 3, 3, formats[f % 4u]);
            check_pieces(units[u], stepped, 4, P_KX, formats[f % 4u]);
            check_pieces(units[u], stepped, 1, 2, formats[f % 4u]);
        }
}

/* On a wide array reading the words back is one more step of the port, sums of 48 bits three. Words leave while the
 * array goes on; what shows is that of the last channel, and of the one before where it takes longer than the channel.
 */
static void test_pieces_take_time(void **state)
{
    static const struct machine_window piece = {
        .in_row_stride = 8,
        .in_channel_stride = 64,
        .in_channels = 2,
        .out_h = 8,
        .out_w = 8,
        .kernel = 1 | 1 << 16,
        .stride = 1 | 1 << 16,
        .dilation = 1 | 1 << 16,
        .acc_addr = P_SUMS,
        .out_channel_stride = 64,
        .valid_rows = 8 << 16,
        .valid_cols = 8 << 16};
    struct array_rig rig;
    (void)state;
    array_rig_begin(&rig, &cnnvp_unit_nfu, 1000, 0);
    array_rig_start(&rig);
    const uint64_t first = array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, piece));
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_pool, 2 * ST_pool_update, piece)), first + 2);
    assert_int_equal(fake_count(rig.output, "partial_read_words"), 128);
    assert_int_equal(array_rig_do(&rig, ARRAY_RIG_COMMAND(OP_pool, ST_pool_sum | 2 * ST_pool_update, piece)),
                     first - 1 + 2 * (3 + 3));
    assert_int_equal(fake_count(rig.output, "partial_read_words"), 128 + 3 * 128);
    array_rig_end(&rig);
}

static void test_refused(void **state)
{
    struct array_rig rig;
    struct machine_window changed = windows;
    (void)state;
    array_rig_begin(&rig, &cnnvp_unit_pooling, 1000, 0);
    fake_set(rig.array, "input_para", 4);
    array_rig_start(&rig);
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_conv, 0, windows), CNNVP_E_INVAL, "takes pool alone");
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 8, windows), CNNVP_E_INVAL, "status bits");
    changed.in_addr = 32768 - 2 * CHANNELS * H * W + 2; /* the last word is beyond the half */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, changed), CNNVP_E_ADDR, "leaves a buffer half");
    changed = windows;
    changed.acc_addr = 5; /* two passes keep their sums */
    array_rig_check_refused(&rig, ARRAY_RIG_COMMAND(OP_pool, 0, changed), CNNVP_E_INVAL, "even and below");
    array_rig_check_refused(
        &rig, ARRAY_RIG_COMMAND(OP_pool, ST_pool_update, windows), CNNVP_E_INVAL, "update of a maximum is 0 or 2");
    array_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_pieces_take_time), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
