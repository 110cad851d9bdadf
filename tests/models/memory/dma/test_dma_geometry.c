/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of transfers, byte by byte. */

#include "test.h"

#include "memory/dma/dma_geometry.h"

static void test_shapes_merge(void **state)
{
    struct dma_shape s;
    (void)state;
    s = dma_shape_make(100, 8, 4, 8, 3, 32); /* all contiguous */
    assert_true(s.size == 96 && s.count == 1 && s.planes == 1);
    s = dma_shape_make(100, 8, 4, 8, 3, 64); /* planes apart */
    assert_true(s.size == 32 && s.count == 3 && s.stride == 64 && s.planes == 1);
    s = dma_shape_make(100, 8, 4, 16, 3, 64); /* rows at the same distance throughout */
    assert_true(s.size == 8 && s.count == 12 && s.stride == 16 && s.planes == 1);
    s = dma_shape_make(100, 8, 4, 16, 3, 100); /* neither */
    assert_true(s.size == 8 && s.count == 4 && s.stride == 16 && s.planes == 3 && s.plane_stride == 100);
    assert_int_equal(dma_shape_span(&s), 256);
    assert_int_equal(dma_shape_bytes(&s), 96);
    s = dma_shape_make(100, 8, 1, 999, 5, 8); /* rows of one: their stride says nothing */
    assert_true(s.size == 40 && s.count == 1 && s.planes == 1);
}

/* Pieces put together are the shape, byte by byte, for any limit. */
static void test_pieces_cover(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit <= 60; ++limit) {
        const struct dma_shape s = dma_shape_make(1000, 6, 4, 10, 3, 64);
        uint64_t position = 0;
        while (position < dma_shape_bytes(&s)) {
            struct dma_piece_shape piece;
            const uint64_t bytes = dma_shape_piece(&s, position, limit, &piece);
            assert_true(bytes >= 1 && bytes <= limit);
            assert_int_equal(bytes, piece.size * piece.count);
            for (uint64_t b = 0; b < bytes; ++b) {
                const uint64_t packed = position + b;
                const uint64_t at = 1000 + packed / 24 * 64 + packed % 24 / 6 * 10 + packed % 6;
                assert_int_equal(piece.address + b / piece.size * piece.stride + b % piece.size, at);
            }
            position += bytes;
        }
    }
}

static int touch(const struct dma_shape *a, const struct dma_shape *b)
{
    static uint8_t map[4096];
    memset(map, 0, sizeof map);
    for (int which = 0; which < 2; ++which) {
        const struct dma_shape *s = which ? b : a;
        for (uint64_t p = 0; p < s->planes; ++p)
            for (uint64_t c = 0; c < s->count; ++c)
                for (uint64_t i = 0; i < s->size; ++i) {
                    uint8_t *at = &map[s->address + p * s->plane_stride + c * s->stride + i];
                    if (which && *at)
                        return 1;
                    *at = !which;
                }
    }
    return 0;
}

static void test_overlap(void **state)
{
    uint32_t seed = 1;
    int exact = 0;
    (void)state;
    for (int n = 0; n < 20000; ++n) {
        uint32_t r[14];
        for (int i = 0; i < 14; ++i)
            r[i] = (seed = seed * 1664525u + 1013904223u) >> 16;
        const int same = r[12] % 4u != 0;
        const struct dma_shape a =
            dma_shape_make(r[0] % 500u, 1 + r[1] % 12u, 1 + r[2] % 5u, 12 + r[3] % 8u, 1 + r[4] % 6u, r[5] % 150u);
        const struct dma_shape b =
            dma_shape_make(r[6] % 500u, 1 + r[7] % 12u, 1 + r[8] % 5u, same ? 12 + r[3] % 8u : 12 + r[9] % 8u,
                           1 + r[10] % 6u, same ? r[5] % 150u : r[11] % 150u);
        const int expected = touch(&a, &b);
        const int answer = dma_shape_overlap(&a, &b);
        assert_true(answer >= expected); /* never missed */
        if (a.stride == b.stride) {
            assert_int_equal(answer, expected);
            ++exact;
        }
    }
    assert_true(exact > 5000);
}

/* Bursts that a piece touches, counted one by one. */
static void test_piece_bursts(void **state)
{
    (void)state;
    for (uint64_t address = 0; address < 130; address += 6) {
        for (uint64_t size = 2; size < 200; size += 14) {
            const struct dma_piece_shape piece = {address, size, 3, 212};
            uint64_t bursts = 0, last = UINT64_MAX;
            for (uint64_t row = 0; row < piece.count; ++row) {
                const uint64_t first = address + row * piece.stride;
                for (uint64_t burst = first / 64u; burst <= (first + size - 1u) / 64u; last = burst++)
                    bursts += burst != last;
            }
            assert_int_equal(dma_piece_bursts(&piece, 64), bursts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_merge),
        cmocka_unit_test(test_pieces_cover),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_piece_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
