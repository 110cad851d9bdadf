/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler and disassembler: encodings by hand, messages with their places, round trips, and text and bytes at
 * random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cnnvp_asm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assembles(const char *text, const uint64_t *expected, size_t expected_count)
{
    struct cnnvp_error error = {""};
    uint64_t *words = NULL;
    size_t count = 0;
    const cnnvp_result result = cnnvp_assemble("t.s", text, &words, &count, &error);
    if (result != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; ++i)
        assert_int_equal(words[i], expected[i]);
    free(words);
}

static void fails(const char *text, const char *message)
{
    struct cnnvp_error error = {""};
    uint64_t *words = NULL;
    size_t count = 0;
    assert_int_equal(cnnvp_assemble("t.s", text, &words, &count, &error), CNNVP_BAD_INPUT);
    if (strncmp(error.text, message, strlen(message)) != 0)
        fail_msg("'%s' instead of '%s'", error.text, message);
    assert_null(words);
}

static void test_formats(void **state)
{
    (void)state;
    const uint64_t words[] = {
        UINT64_C(0x0000000000000000), UINT64_C(0x0100000000000007), UINT64_C(0x4000100000000100),
        UINT64_C(0x4100010200000000), UINT64_C(0x42000102fffffffb), UINT64_C(0x4300010203000000),
        UINT64_C(0x4500ff0001000000), UINT64_C(0x8009100200000000), UINT64_C(0x4c02050700001234),
        UINT64_C(0x4b06000500000000), UINT64_C(0x4c00050000000003), UINT64_C(0x902d210300000000),
        UINT64_C(0x9b05100400000000), UINT64_C(0x9c2a100300000000),
    };
    assembles(
        "nop\n"
        "layer 7 ; a comment\n"
        "  set r16, 0x100 # another\n"
        "\tmov r1,r2 // a third\n"
        "\n"
        "addi r1, r2, -5\n"
        "add r1, r2, r3\r\n"
        "mul r255, r0, r1\n"
        "conv.bias.update=1 r16, i0 w1 o0\n"
        "fill.buffer=2 r5, o1 i1 w1, 0x1234\n"
        "move.source=1.buffer=2 r0, i1 o1\n"
        "fill.buffer=0 r5, 3\n"
        "vmac.a=1.b=3.store r33, i1 w1\n"
        "vpool.update=1.sum r16, o1\n"
        "vconv.depthwise.bias.update=2 r16, i1 w1",
        words, COUNT(words));
    assembles("", NULL, 0);
    assembles("; nothing\n\n", NULL, 0);
}

static void test_targets(void **state)
{
    (void)state;
    const uint64_t words[] = {
        UINT64_C(0x0a00030000000003), /* loop r3, end: three words */
        UINT64_C(0x0000000000000000), UINT64_C(0x06000102ffffffff), UINT64_C(0x0700010200000002),
        UINT64_C(0x05000000fffffffc), UINT64_C(0x0900010200000001), UINT64_C(0x0a00030000000002),
        UINT64_C(0x0500000080000000), UINT64_C(0x4000050000000004),
    };
    assembles("start: loop r3, end\n"
              "a: b: nop\n"
              "beq r1, r2, a\n"
              "bne r1, r2, end+1\n"
              "end:\n"
              "  jump start\n"
              "bge r1, r2, 1\n"
              "loop r3, 2\n"
              "jump -2147483648\n"
              "set r5, end - start\n",
              words, COUNT(words));
}

static void test_symbols_and_expressions(void **state)
{
    (void)state;
    const uint64_t words[] = {
        UINT64_C(0x4000100000000000), UINT64_C(0x4000120000000320), UINT64_C(0x400021000000000d),
        UINT64_C(0x8000100000000000), UINT64_C(0xffffffffffffffff), UINT64_C(0x400000000000000e),
        UINT64_C(0x40000000fffffffe), UINT64_C(0x4000000000000007), UINT64_C(0x4000000000000005),
        UINT64_C(0x4000000000000001), UINT64_C(0x8000000000000000),
    };
    assembles(
        ".base cv, r16, conv\n"
        ".equ SIDE, 20\n"
        ".equ AREA, SIDE * (SIDE + 20)\n"
        "set cv.in_addr, 0\n"
        "set cv.in_channel_stride, AREA\n"
        ".base tr, 30, request\n"
        "set tr.rows, 0xd\n"
        "conv cv\n"
        ".word 0xffffffffffffffff\n"
        "set r0, 2 + 3 * 4\n"
        "set r0, -2\n"
        "set r0, 1 | 2 << 1 | (0b11 & ~1) ^ 0\n"
        "set r0, -7 / 2 + 8\n"
        "set r0, 7 % 4 - 2 // % * and / in it\n"
        ".word 1 << 63\n",
        words, COUNT(words));
}

static void test_messages(void **state)
{
    (void)state;
    fails("nop\n  cnv r1", "t.s:2:3: there is no instruction 'cnv'; there are nop layer");
    fails("layer 65536", "t.s:1:7: the value must be from 0 to 65535");
    fails("nop 1", "t.s:1:5: the statement should end here");
    fails("set r1", "t.s:1:7: ', value' is missing");
    fails("set 1, 2", "t.s:1:5: a register is missing");
    fails("set r256, 2", "t.s:1:5: there are registers r0 to r255");
    fails("set rx, 2", "t.s:1:5: 'rx' is no register");
    fails("set r01, 2", "t.s:1:5: 'r01' is no register");
    fails("set r1, 0x100000000", "t.s:1:9: the value must be from -2147483648 to 4294967295");
    fails("set r1, 0xffffffffffffffff", "t.s:1:9: the value must be");
    fails("set r1, 18446744073709551616", "t.s:1:9: the number does not fit 64 bits");
    fails("set r1, 12a", "t.s:1:11: 'a' is not a digit");
    fails("set r1, 0x", "t.s:1:11: digits are missing");
    fails("set r1, X", "t.s:1:9: 'X' is not defined");
    fails("set r1, (1", "t.s:1:11: ')' is missing");
    fails("set r1, 1 / 0", "t.s:1:11: division by 0");
    fails("set r1, 1 << 64", "t.s:1:11: a shift by 64");
    fails("a: set r1, a", "t.s:1:12: a number is needed here");
    fails("a: set r1, a * 2", "t.s:1:14: '*' needs numbers");
    fails("a: nop\nb:\na: nop", "t.s:3:1: 'a' is defined already, in line 1");
    fails("r7: nop", "t.s:1:1: 'r7' is the name of a register");
    fails("i0: nop", "t.s:1:1: 'i0' is the name of a register or a buffer half");
    fails("a: nop\nloop r1, a", "t.s:2:10: the target is -2 words away");
    fails("conv.foo r1", "t.s:1:5: conv has no such status; it has .update .partial .bias .ones .depthwise");
    fails("nop.foo", "t.s:1:4: nop has no such status; it has none");
    fails("conv.update=4 r1", "t.s:1:13: status update of conv is from 0 to 3");
    fails("conv.update r1", "t.s:1:12: status update needs a value, .update=0 to .update=3");
    fails("conv.bias.bias r1", "t.s:1:10: this status is given twice");
    fails("conv r1, i0 i1", "t.s:1:13: the half of this buffer is given twice");
    fails("conv r1, i0 5", "t.s:1:13: the statement should end here");
    fails(".equ A", "t.s:1:7: ', value' is missing");
    fails(".foo", "t.s:1:1: there is no such directive; there are .equ .base .word");
    fails(".base b, r1, nop", "t.s:1:14: an instruction with a descriptor is needed here");
    fails(".base b, r1, conv\nset b.rows, 1", "t.s:2:7: the WINDOW descriptor has no register of this name");
    fails(".base b, r240, conv\nset b.seed, 1", "t.s:2:5: this is r258; the last one is r255");
    fails(".base b, r240, conv\nset r1, b", "t.s:2:9: 'b' is a descriptor base");
    fails("set r1, A\n.equ A, 1", "t.s:1:9: 'A' is not defined");
    fails("?", "t.s:1:1: a label, an instruction or a directive is needed here");
    char nested[512] = "set r1, ";
    for (size_t i = 0; i < 100; ++i)
        strcat(nested, "(");
    fails(nested, "t.s:1:73: the expression is nested more than 64 deep");
}

/* ---- round trips ---- */

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) ^ (*state << 31);
}

/* What may be set in a word of each opcode. */
static const struct {
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
#include "instruction/opcodes.def"
};

static uint64_t random_word(uint64_t *state)
{
    const size_t shape = random_next(state) % COUNT(shapes);
    uint64_t bits = random_next(state);
    if (random_next(state) % 2) /* small targets and values as well */
        bits &= random_next(state) % 2 ? UINT64_C(0xffffffff0000000f) : UINT64_C(0xffffffff00000000);
    else if (random_next(state) % 2)
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
    if (cnnvp_disassemble("t.bin", bytes, count * 8u, &text, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    if (cnnvp_assemble("t.s", text, &back, &back_count, &error) != CNNVP_DONE)
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
        const size_t count = 1u + random_next(&seed) % COUNT(words);
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
    assert_int_equal(cnnvp_disassemble("t.bin", partial, sizeof partial, &text, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.bin: offset 0x8: 3 bytes are left over; instructions are words of 8 bytes");
    assert_int_equal(cnnvp_disassemble("t.bin", unknown, sizeof unknown, &text, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.bin: offset 0x8: 0xff00000000000000 is no instruction: there is no such opcode");
    assert_int_equal(cnnvp_disassemble("t.bin", status, sizeof status, &text, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_disassemble("t.bin", operand, sizeof operand, &text, &error), CNNVP_BAD_INPUT);
    assert_null(text);
    /* a single wrong bit of any word is found */
    for (size_t shape = 0; shape < COUNT(shapes); ++shape)
        for (unsigned bit = 0; bit < 56; ++bit) {
            const uint64_t word = shapes[shape].code | UINT64_C(1) << bit;
            uint8_t bytes[8];
            for (unsigned i = 0; i < 8; ++i)
                bytes[i] = (uint8_t)(word >> (8u * i));
            const cnnvp_result result = cnnvp_disassemble("t.bin", bytes, 8, &text, &error);
            assert_int_equal(result, shapes[shape].free_bits >> bit & 1u ? CNNVP_DONE : CNNVP_BAD_INPUT);
            if (result == CNNVP_DONE)
                free(text);
        }
}

/* Whatever is given, there is an answer: the sanitizers watch. */
static void test_random_input(void **state)
{
    (void)state;
    static const char pieces[][16] = {
        "conv", "r1", ",",  " ", ".", "update", "=",           "1",    "\n",    ":",     "loop",
        "a",    "i0", "w1", "(", ")", "-",      "<<",          ".equ", ".base", ".word", "0x",
        "set",  ";",  "\t", "/", "~", "jump",   "99999999999", "\x80", "%",     "r300"};
    uint64_t seed = 7;
    unsigned good = 0;
    for (unsigned run = 0; run < 20000; ++run) {
        char text[1024] = "";
        uint8_t bytes[64];
        struct cnnvp_error error;
        const size_t length = random_next(&seed) % 40u;
        for (size_t i = 0; i < length; ++i)
            strcat(text, pieces[random_next(&seed) % COUNT(pieces)]);
        uint64_t *words = NULL;
        size_t count = 0;
        if (cnnvp_assemble("t.s", text, &words, &count, &error) == CNNVP_DONE) {
            free(words);
            ++good;
        } else {
            assert_memory_equal(error.text, "t.s:", 4);
        }
        for (size_t i = 0; i < sizeof bytes; ++i)
            bytes[i] = (uint8_t)(random_next(&seed) & (run % 2 ? 0xffu : 0x9u));
        char *output = NULL;
        if (cnnvp_disassemble("t.bin", bytes, random_next(&seed) % sizeof bytes, &output, &error) == CNNVP_DONE)
            free(output);
    }
    assert_true(good > 0);
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
    assert_int_equal(cnnvp_assemble("t.s", source, &words, &count, &error), CNNVP_DONE);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (uint8_t)(words[i / 8u] >> (8u * (i % 8u)));
    assert_int_equal(cnnvp_disassemble("t.bin", bytes, sizeof bytes, &text, &error), CNNVP_DONE);
    assert_string_equal(text, listing);
    free(words);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_symbols_and_expressions),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_invalid_words),
        cmocka_unit_test(test_random_input),
        cmocka_unit_test(test_listing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
