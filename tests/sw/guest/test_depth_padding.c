/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a block: exactly the words around the interior are set to zeros, each once. */
#include "test.h"

#include "depth.h"
#include "fake_element.h"

enum { WORDS = 1024, AT = 16 };

/* What the fills set, word by word of the half. */
static void set_zeros(const struct fake_element *element, uint8_t *times, uint32_t *fills)
{
    uint32_t registers[256] = {0};
    for (size_t i = 0; i < element->count; ++i) {
        const struct cnnvp_word *word = &element->words[i];
        const uint32_t number = word->high >> 8 & 0xffu;
        struct cnnvp_transfer fill;
        if (word->high >> 24 == CNNVP_OPCODE_set)
            registers[number] = word->low;
        if (word->high >> 24 != CNNVP_OPCODE_fill)
            continue;
        memcpy(&fill, &registers[number], sizeof fill);
        assert_int_equal(word->high & 0xffu, CNNVP_HALF_INPUT);
        ++*fills;
        for (uint32_t plane = 0; plane < fill.planes; ++plane)
            for (uint32_t row = 0; row < fill.rows; ++row)
                for (uint32_t at = 0; at < fill.row_bytes; at += 2u)
                    ++times[(fill.buffer_addr + plane * fill.buffer_plane_stride + row * fill.buffer_row_stride + at) /
                            2u];
    }
}

/* Rows of a stride without slack: left + width + right. */
static void check_frame(uint32_t height, uint32_t width, const uint32_t *border, uint32_t expected_fills)
{
    const uint32_t stride = border[1] + width + border[3], rows = border[0] + height + border[2];
    const struct cnnvp_tensor block = {
        .word_shift = 1,
        .channels = 3,
        .height = height,
        .width = width,
        .column_stride = 1,
        .row_stride = stride,
        .channel_stride = stride * rows,
        .chip_half = 1,
        .chip_address = 2u * AT,
        .border_top = border[0],
        .border_left = border[1],
        .border_bottom = border[2],
        .border_right = border[3],
    };
    struct fake_element element = {.memory = NULL};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    struct cnnvp_guest guest = {.machine = &machine, .element = {.machine = &machine, .base = 0x10010000}};
    uint8_t times[WORDS] = {0};
    uint32_t fills = 0;
    cnnvp_pad_block(&guest, &block);
    set_zeros(&element, times, &fills);
    assert_int_equal(fills, expected_fills);
    for (uint32_t i = 0; i < WORDS; ++i) {
        const uint32_t row = (i - AT) / stride % rows, column = (i - AT) % stride;
        const int inside = i >= AT && i < AT + 3u * stride * rows;
        const int interior =
            row >= border[0] && row < border[0] + height && column >= border[1] && column < border[1] + width;
        assert_int_equal(times[i], inside && !interior);
    }
    free(element.words);
}

static void test_frame(void **state)
{
    static const uint32_t all[] = {1, 1, 1, 1}, uneven[] = {2, 0, 0, 3}, above[] = {1, 0, 0, 0}, right[] = {0, 0, 0, 1};
    static const uint32_t none[] = {0, 0, 0, 0};
    (void)state;
    check_frame(4, 5, all, 3);
    check_frame(4, 5, uneven, 3);
    check_frame(4, 5, above, 1);
    check_frame(4, 5, right, 2);
    check_frame(1, 5, all, 2); /* nothing between rows */
    check_frame(4, 5, none, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
