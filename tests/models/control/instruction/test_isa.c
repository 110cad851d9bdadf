/* SPDX-License-Identifier: Apache-2.0 */
/* The table of opcodes, and words that are none. */
#include "instruction_case.h"

static void test_illegal_words(void **state)
{
    (void)state;
    const uint64_t illegal[] = {
        UINT64_C(0xff00000000000000),        /* no such opcode */
        w_none(ISA_nop) | 1u,                /* operand bits */
        w_none(ISA_nop) | UINT64_C(1) << 48, /* status bits */
        w_imm(ISA_layer, 1) | UINT64_C(1) << 32,
        w_imm(ISA_layer, CNNVP_MAX_TAG + 1u), /* statistics have no more layers */
        w_ri(ISA_set, 1, 1) | UINT64_C(1) << 39,
        w_rr(ISA_mov, 1, 1) | 1u,
        w_rrr(ISA_add, 1, 1, 1) | 1u,
        w_tile(ISA_pool, 0x40, 0, 0, 0),
        w_tile(ISA_conv, 0, 0, 8, 0),
    };
    for (uint32_t i = 0; i < COUNT(illegal); ++i)
        fails_and_goes_on(&illegal[i], 0, ERROR_illegal, 0);
}

/* One word of each opcode: the table knows all, with the smallest operands. */
static void test_opcode_table(void **state)
{
    (void)state;
    uint32_t known = 0;
    for (uint32_t code = 0; code < 256; ++code) {
        assert_int_equal(cnnvp_isa_decode(NULL, (uint64_t)code << 56) != NULL, cnnvp_isa_opcode(code) != NULL);
        known += cnnvp_isa_opcode(code) != NULL;
    }
    uint32_t listed = 0;
#define CNNVP_OPCODE(name, code, class_, format, unit, descriptor, status_mask, help) \
    assert_string_equal(cnnvp_isa_opcode(code)->mnemonic, #name);                     \
    ++listed;
#include "isa/opcodes.def"
    assert_int_equal(known, listed); /* no code twice */
    /* the status fields of an opcode make up its mask */
    uint32_t masks[256] = {0};
#define CNNVP_STATUS(mnemonic, name, lsb, width, help)                              \
    assert_int_equal(masks[ISA_##mnemonic] & (((1u << (width)) - 1u) << (lsb)), 0); \
    masks[ISA_##mnemonic] |= ((1u << (width)) - 1u) << (lsb);
#include "isa/opcodes.def"
    for (uint32_t code = 0; code < 256; ++code)
        if (cnnvp_isa_opcode(code) != NULL)
            assert_int_equal(cnnvp_isa_opcode(code)->status_mask, masks[code]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_illegal_words),
        cmocka_unit_test(test_opcode_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
