/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings by hand, messages with their places, text and bytes at random. */
#include "asm_case.h"

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
    asm_gives(
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
    asm_gives("", NULL, 0);
    asm_gives("; nothing\n\n", NULL, 0);
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
    asm_gives("start: loop r3, end\n"
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

static void test_messages(void **state)
{
    (void)state;
    asm_fails("nop\n  cnv r1", "t.s:2:3: there is no instruction 'cnv'; did you mean \"conv\"?");
    asm_fails("sett r1, 1", "t.s:1:1: there is no instruction 'sett'; did you mean \"set\"?");
    asm_fails("frobnicate r1", "t.s:1:1: there is no instruction 'frobnicate'; there are nop, layer");
    asm_fails("conv.partal r1", "t.s:1:5: conv has no such status; did you mean \"partial\"?");
    asm_fails("layer 65536", "t.s:1:7: the value must be from 0 to 65535");
    asm_fails("nop 1", "t.s:1:5: the statement should end here");
    asm_fails("set r1", "t.s:1:7: ', value' is missing");
    asm_fails("set 1, 2", "t.s:1:5: a register is missing");
    asm_fails("set r256, 2", "t.s:1:5: there are registers r0 to r255");
    asm_fails("set rx, 2", "t.s:1:5: 'rx' is no register");
    asm_fails("set r01, 2", "t.s:1:5: 'r01' is no register");
    asm_fails("set r1, 0x100000000", "t.s:1:9: the value must be from -2147483648 to 4294967295");
    asm_fails("set r1, 0xffffffffffffffff", "t.s:1:9: the value must be");
    asm_fails("a: nop\nloop r1, a", "t.s:2:10: the target is -2 words away");
    asm_fails("conv.foo r1", "t.s:1:5: conv has no such status; there are update, partial, bias, ones, depthwise");
    asm_fails("nop.foo", "t.s:1:4: nop has no such status; there is none");
    asm_fails("conv.update=4 r1", "t.s:1:13: status update of conv is from 0 to 3");
    asm_fails("conv.update r1", "t.s:1:12: status update needs a value, .update=0 to .update=3");
    asm_fails("conv.bias.bias r1", "t.s:1:10: this status is given twice");
    asm_fails("conv r1, i0 i1", "t.s:1:13: the half of this buffer is given twice");
    asm_fails("conv r1, i0 5", "t.s:1:13: the statement should end here");
    asm_fails(".equ A", "t.s:1:7: ', value' is missing");
    asm_fails(".foo", "t.s:1:1: there is no such directive; there are .equ .base .word");
    asm_fails(".base b, r1, nop", "t.s:1:14: an instruction with a descriptor is needed here");
    asm_fails(".base b, r1, conv\nset b.rows, 1", "t.s:2:7: the window descriptor has no register of this name");
    asm_fails(".base b, r240, conv\nset b.seed, 1", "t.s:2:5: this is r258; the last one is r255");
    asm_fails(".base b, r240, conv\nset r1, b", "t.s:2:9: 'b' is a descriptor base");
    asm_fails("?", "t.s:1:1: a label, an instruction or a directive is needed here");
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
        const size_t length = asm_random(&seed) % 40u;
        for (size_t i = 0; i < length; ++i)
            strcat(text, pieces[asm_random(&seed) % COUNT(pieces)]);
        uint64_t *words = NULL;
        size_t count = 0;
        if (cnnvp_assemble("t.s", text, NULL, &words, &count, &error) == CNNVP_DONE) {
            free(words);
            ++good;
        } else {
            assert_memory_equal(error.text, "t.s:", 4);
        }
        for (size_t i = 0; i < sizeof bytes; ++i)
            bytes[i] = (uint8_t)(asm_random(&seed) & (run % 2 ? 0xffu : 0x9u));
        char *output = NULL;
        if (cnnvp_disassemble("t.bin", bytes, asm_random(&seed) % sizeof bytes, NULL, &output, &error) == CNNVP_DONE)
            free(output);
    }
    assert_true(good > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_random_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
