/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S003 claim 5, steps S1 to S6, on the vector unit alone: a multi-channel convolution by vmac and vout, lane = output
 * column. Bit-exact against six plain loops.
 */
#include "vector_bench.h"

#include <string.h>

enum { CHANNELS = 3, KERNELS = 4, HEIGHT = 9, WIDTH = 14, KERNEL = 3, OUT_H = HEIGHT - 2 };
enum { OUT_W = WIDTH - 2, SHIFT = 7 };

static void convolve(struct bench *bench)
{
    for (uint32_t k = 0; k < KERNELS; ++k)
        for (uint32_t y = 0; y < OUT_H; ++y) {
            /* S3, S4: the operator's result is added to its register, tap by tap; the first overwrites it. All taps of
             * a kernel row are one instruction: its repetitions step both the input and the weight. */
            for (uint32_t c = 0; c < CHANNELS; ++c)
                for (uint32_t ky = 0; ky < KERNEL; ++ky) {
                    const int first = c == 0 && ky == 0;
                    struct vector_tile t = {
                        .a_addr = 2u * (c * HEIGHT * WIDTH + (y + ky) * WIDTH),
                        .b_addr = 2u * ((k * CHANNELS + c) * KERNEL * KERNEL + ky * KERNEL),
                        .count = OUT_W,
                        .repeat = first ? 1u : KERNEL,
                        .a_stride = 1,
                        .a_repeat = 1,
                        .b_repeat = 1,
                    };
                    assert_true(bench_run(bench, OP_vmac, A(IN) | B(WT) | (first ? 0u : ACCUMULATE), 0, &t) > 0);
                    if (!first)
                        continue;
                    t.repeat = KERNEL - 1u;
                    t.a_addr += 2u;
                    t.b_addr += 2u;
                    assert_true(bench_run(bench, OP_vmac, A(IN) | B(WT) | ACCUMULATE, 0, &t) > 0);
                }
            /* S5: the feature points go to their address in the on-chip storage element */
            const struct vector_tile t = {
                .out_addr = 2u * (k * OUT_H * OUT_W + y * OUT_W), .count = OUT_W, .format = FORMAT(SHIFT, 0, 1)};
            assert_true(bench_run(bench, OP_vout, 0, 0, &t) > 0);
        }
}

static int16_t rounded(int64_t sum)
{
    const int64_t unit = 1 << SHIFT;
    int64_t floor = sum / unit;
    if (floor * unit > sum)
        --floor;
    const int64_t rest = sum - floor * unit;
    floor += 2 * rest > unit || (2 * rest == unit && floor % 2 != 0);
    return (int16_t)(floor > 32767 ? 32767 : floor < -32768 ? -32768 : floor);
}

static void test_convolution(void **state)
{
    struct bench bench;
    uint32_t seed = 11;
    (void)state;
    bench_open(&bench, 16, 0);
    int16_t *const in = bench_data(&bench, IN, 0);
    int16_t *const weights = bench_data(&bench, WT, 0);
    const int16_t *const out = bench_data(&bench, OUT, 0);
    for (int i = 0; i < CHANNELS * HEIGHT * WIDTH; ++i)
        in[i] = (int16_t)((int32_t)(bench_random(&seed) % 4000u) - 2000);
    for (int i = 0; i < KERNELS * CHANNELS * KERNEL * KERNEL; ++i)
        weights[i] = (int16_t)((int32_t)(bench_random(&seed) % 600u) - 300);
    convolve(&bench);
    for (int k = 0; k < KERNELS; ++k)
        for (int y = 0; y < OUT_H; ++y)
            for (int x = 0; x < OUT_W; ++x) {
                int64_t sum = 0;
                for (int c = 0; c < CHANNELS; ++c)
                    for (int ky = 0; ky < KERNEL; ++ky)
                        for (int kx = 0; kx < KERNEL; ++kx)
                            sum += (int64_t)in[(c * HEIGHT + y + ky) * WIDTH + x + kx] *
                                   weights[((k * CHANNELS + c) * KERNEL + ky) * KERNEL + kx];
                assert_int_equal(out[(k * OUT_H + y) * OUT_W + x], rounded(sum));
            }
    assert_int_equal(fake_count(bench.vector, "mac_operations"), KERNELS * OUT_H * OUT_W * CHANNELS * KERNEL * KERNEL);
    assert_int_equal(fake_counter(bench.buffers[OUT], "feature_words"), KERNELS * OUT_H * OUT_W);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_convolution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
