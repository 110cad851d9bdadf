/* SPDX-License-Identifier: Apache-2.0 */
/* Every word comes back, every wrong bit is found. */
#include "asm_case.h"

/* What may be set in a word of each opcode. */
static const struct shape {
    uint64_t code;
    uint64_t free_bits;
} shapes[] = {
#define NONE 0
#define IMM UINT64_C(0xffffffff)
#define TAG UINT64_C(0xffff)
#define RI UINT64_C(0xff00ffffffff)
#define RR UINT64_C(0xffff00000000)
#define RRI UINT64_C(0xffffffffffff)
#define RRR UINT64_C(0xffffff000000)
#define BRANCH UINT64_C(0xffffffffffff)
#define TILE UINT64_C(0xff07ffffffff)
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    {(uint64_t)(code) << 56, (uint64_t)(status_mask) << 48 | (format)},
#include "isa/opcodes.def"
};

static uint64_t random_word(uint64_t *state)
{
    const size_t shape = asm_random(state) % COUNT(shapes);
    uint64_t bits = asm_random(state);
    if (asm_random(state) % 2) /* small targets and values as well */
        bits &= asm_random(state) % 2 ? UINT64_C(0xffffffff0000000f) : UINT64_C(0xffffffff00000000);
    else if (asm_random(state) % 2)
        bits |= UINT64_C(0xfffffff0);
    return shapes[shape].code | (bits & shapes[shape].free_bits);
}

static void round_trip(const uint64_t *words, size_t count)
{
    struct cnnvp_error error = {""};
    uint8_t *bytes = malloc(count * 8u + 1u);
    char *text = NULL;
    uint64_t *back = NULL;
    size_t back_count = 0;
    assert_non_null(bytes);
    for (size_t i = 0; i < count * 8u; ++i)
        bytes[i] = (uint8_t)(words[i / 8u] >> (8u * (i % 8u)));
    if (cnnvp_disassemble("t.bin", bytes, count * 8u, NULL, &text, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    if (cnnvp_assemble("t.s", text, NULL, &back, &back_count, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(back_count, count);
    for (size_t i = 0; i < count; ++i)
        assert_int_equal(back[i], words[i]);
    free(bytes);
    free(text);
    free(back);
}

static void test_round_trip(void **state)
{
    (void)state;
    static uint64_t words[400];
    uint64_t seed = 1;
    round_trip(words, 0);
    for (size_t shape = 0; shape < COUNT(shapes); ++shape) {
        words[0] = shapes[shape].code;
        words[1] = shapes[shape].code | shapes[shape].free_bits;
        round_trip(words, 2);
    }
    for (unsigned run = 0; run < 300; ++run) {
        const size_t count = 1u + asm_random(&seed) % COUNT(words);
        for (size_t i = 0; i < count; ++i)
            words[i] = random_word(&seed);
        round_trip(words, count);
    }
}

static void test_invalid_words(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    char *text = NULL;
    const uint8_t partial[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3};
    const uint8_t unknown[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff};
    const uint8_t status[] = {0, 0, 0, 0, 0, 0, 1, 0};
    const uint8_t operand[] = {1, 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(cnnvp_disassemble("t.bin", partial, sizeof partial, NULL, &text, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.bin: offset 0x8: 3 bytes are left over; instructions are words of 8 bytes");
    assert_int_equal(cnnvp_disassemble("t.bin", unknown, sizeof unknown, NULL, &text, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.bin: offset 0x8: 0xff00000000000000 is no instruction: there is no such opcode");
    assert_int_equal(cnnvp_disassemble("t.bin", status, sizeof status, NULL, &text, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_disassemble("t.bin", operand, sizeof operand, NULL, &text, &error), CNNVP_BAD_INPUT);
    assert_null(text);
    /* a single wrong bit of any word is found */
    for (size_t shape = 0; shape < COUNT(shapes); ++shape)
        for (unsigned bit = 0; bit < 56; ++bit) {
            const uint64_t word = shapes[shape].code | UINT64_C(1) << bit;
            uint8_t bytes[8];
            for (unsigned i = 0; i < 8; ++i)
                bytes[i] = (uint8_t)(word >> (8u * i));
            const cnnvp_result result = cnnvp_disassemble("t.bin", bytes, 8, NULL, &text, &error);
            assert_int_equal(result, shapes[shape].free_bits >> bit & 1u ? CNNVP_DONE : CNNVP_BAD_INPUT);
            if (result == CNNVP_DONE)
                free(text);
        }
}

/* A text for people: labels where branches lead, offsets beside the words. */
static void test_listing(void **state)
{
    (void)state;
    const char *source = "top: loop r1, end\nconv.update=1.bias r16, o1\nend: beq r1, r2, top\n";
    const char *listing =
        "L0:\n"
        "    loop r1, L2                                 ; 0x0000\n"
        "    conv.update=1.bias r16, i0 w0 o1            ; 0x0008\n"
        "L2:\n"
        "    beq r1, r2, L0                              ; 0x0010\n";
    struct cnnvp_error error = {""};
    uint64_t *words = NULL;
    size_t count = 0;
    char *text = NULL;
    uint8_t bytes[24];
    assert_int_equal(cnnvp_assemble("t.s", source, NULL, &words, &count, &error), CNNVP_DONE);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (uint8_t)(words[i / 8u] >> (8u * (i % 8u)));
    assert_int_equal(cnnvp_disassemble("t.bin", bytes, sizeof bytes, NULL, &text, &error), CNNVP_DONE);
    assert_string_equal(text, listing);
    free(words);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_invalid_words),
        cmocka_unit_test(test_listing),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
