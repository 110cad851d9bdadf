/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every opcode of the table has the effect that is written here or goes to its unit. Opcodes that are in the table and
 * that nobody has implemented (more/isa/opcodes.def) are illegal instructions. An opcode that this test does
 * not know fails it.
 */
#include "test.h"

#include "control/instruction/element.h"
#include "rig.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define SENTINEL 77u
#define IMMEDIATE 5u

enum { A = 1, B = 2, D = 3 }; /* registers */

static const uint32_t pairs[][2] = {
    {6, 3}, {3, 6}, {6, 6}, {0xfffffff0u, 3}, {3, 0xfffffff0u}, {0x80000001u, 0x10001u}};

static struct rig *started(uint32_t a, uint32_t b)
{
    struct rig *rig = rig_new(1000);
    rig_start(rig);
    rig_to(rig, 10);
    rig_push(rig, w_ri(ISA_set, A, a));
    rig_push(rig, w_ri(ISA_set, B, b));
    rig_push(rig, w_ri(ISA_set, D, SENTINEL));
    return rig;
}

/* A command that shows register D. */
static uint64_t shows(uint32_t cycles)
{
    return w_tile(ISA_fill, 0, D, 0, TAKES(cycles));
}

static uint32_t shown(const struct rig *rig, uint32_t command)
{
    assert_true(rig->count > command);
    return rig->commands[command].command.descriptor[0];
}

static void must_work(struct rig *rig, const char *mnemonic)
{
    rig_finish(rig, 500);
    if (fake_read(rig->element, "ERROR_CAUSE") != 0)
        fail_msg("%s: declared, but not executed", mnemonic);
}

static void writes(const char *mnemonic, uint64_t word, uint32_t a, uint32_t b, uint32_t expected)
{
    struct rig *rig = started(a, b);
    rig_push(rig, word);
    rig_push(rig, shows(1));
    must_work(rig, mnemonic);
    if (shown(rig, 0) != expected)
        fail_msg("%s of %08x and %08x: %08x, not %08x", mnemonic, a, b, shown(rig, 0), expected);
    rig_free(rig);
}

/* Over one command to another. */
static void branches(const char *mnemonic, uint64_t word, uint32_t a, uint32_t b, int expected)
{
    struct rig *rig = started(a, b);
    rig_push(rig, word);
    rig_push(rig, shows(1));
    rig_push(rig, shows(1));
    must_work(rig, mnemonic);
    if (rig->count != (expected ? 1u : 2u))
        fail_msg("%s of %08x and %08x: %s", mnemonic, a, b, expected ? "not taken" : "taken");
    rig_free(rig);
}

/* The word between two commands, of which the first takes 100 cycles; returns when the second one was sent. */
static uint64_t second_after(struct rig *rig, const char *mnemonic, uint64_t word)
{
    rig_push(rig, w_tile(ISA_conv, 0, D, 0, TAKES(100)));
    rig_push(rig, word);
    rig_push(rig, w_tile(ISA_receive, 2, D, 0, TAKES(1)));
    must_work(rig, mnemonic);
    return rig->count < 2 ? 0 : rig->commands[1].cycle - rig->commands[0].cycle;
}

static void controls(const char *mnemonic, uint32_t code)
{
    struct rig *rig = started(4, 0);
    switch (code) {
    case ISA_nop:
        assert_int_equal(second_after(rig, mnemonic, w_none(ISA_nop)), 100); /* for the output half */
        break;
    case ISA_layer:
        (void)second_after(rig, mnemonic, w_imm(ISA_layer, 3));
        assert_int_equal(rig->commands[0].command.tag, 0);
        assert_int_equal(rig->commands[1].command.tag, 3);
        break;
    case ISA_sync:
        assert_int_equal(second_after(rig, mnemonic, w_none(ISA_sync)), 101);
        break;
    case ISA_irq:
        assert_int_equal(second_after(rig, mnemonic, w_imm(ISA_irq, 9)), 101);
        assert_int_equal(fake_read(rig->element, "EVENT"), 9);
        assert_int_equal(fake_read(rig->element, "EVENT_COUNT"), 1);
        break;
    case ISA_halt:
        assert_int_equal(second_after(rig, mnemonic, w_none(ISA_halt)), 0); /* it is not fetched */
        assert_int_equal(rig->count, 1);
        break;
    case ISA_loop:
        rig_push(rig, w_ri(ISA_loop, A, 1));
        rig_push(rig, shows(1));
        must_work(rig, mnemonic);
        assert_int_equal(rig->count, 4);
        break;
    default:
        fail_msg("%s (0x%02x): this test does not know what it does", mnemonic, (unsigned)code);
    }
    rig_free(rig);
}

static void executes(const char *mnemonic, uint32_t code)
{
    for (uint32_t i = 0; i < COUNT(pairs); ++i) {
        const uint32_t a = pairs[i][0];
        const uint32_t b = pairs[i][1];
        switch (code) {
        case ISA_set:
            writes(mnemonic, w_ri(ISA_set, D, IMMEDIATE), a, b, IMMEDIATE);
            break;
        case ISA_mov:
            writes(mnemonic, w_rr(ISA_mov, D, A), a, b, a);
            break;
        case ISA_addi:
            writes(mnemonic, w_rri(ISA_addi, D, A, IMMEDIATE), a, b, a + IMMEDIATE);
            break;
        case ISA_add:
            writes(mnemonic, w_rrr(ISA_add, D, A, B), a, b, a + b);
            break;
        case ISA_sub:
            writes(mnemonic, w_rrr(ISA_sub, D, A, B), a, b, a - b);
            break;
        case ISA_mul:
            writes(mnemonic, w_rrr(ISA_mul, D, A, B), a, b, a * b);
            break;
        case ISA_jump:
            branches(mnemonic, w_imm(ISA_jump, 2), a, b, 1);
            break;
        case ISA_beq:
            branches(mnemonic, w_branch(ISA_beq, A, B, 2), a, b, a == b);
            break;
        case ISA_bne:
            branches(mnemonic, w_branch(ISA_bne, A, B, 2), a, b, a != b);
            break;
        case ISA_blt:
            branches(mnemonic, w_branch(ISA_blt, A, B, 2), a, b, (a ^ 0x80000000u) < (b ^ 0x80000000u));
            break;
        case ISA_bge:
            branches(mnemonic, w_branch(ISA_bge, A, B, 2), a, b, (a ^ 0x80000000u) >= (b ^ 0x80000000u));
            break;
        default:
            controls(mnemonic, code);
            return;
        }
    }
}

/* Illegal, with nothing done: the element stops until the error is taken back. */
static void traps(uint32_t code)
{
    struct rig *rig = started(6, 3);
    const uint64_t word =
        cnnvp_isa_opcode(code)->format == ISA_FORMAT_NONE ? (uint64_t)code << 56
        : cnnvp_isa_opcode(code)->format == ISA_FORMAT_RRR
            ? (uint64_t)code << 56 | (uint64_t)D << 40 | (uint64_t)A << 32 | (uint64_t)B << 24
            : (uint64_t)code << 56 | (uint64_t)D << 40 | (uint64_t)A << 32 | 2u;
    assert_true(cnnvp_isa_legal(word));
    rig_push(rig, word);
    rig_push(rig, shows(1));
    rig_to(rig, 200);
    assert_int_equal(rig->count, 0);
    assert_int_equal(fake_read(rig->element, "ERROR_CAUSE"), ERROR_illegal);
    assert_int_equal(fake_read(rig->element, "ERROR_PC"), 3);
    assert_int_equal(fake_read(rig->element, "ERROR_WORD_HI"), (uint32_t)(word >> 32));
    assert_int_equal(rig->element->warnings, 1);
    assert_int_equal(fake_read(rig->element, "COMPLETED"), 4); /* as any illegal word */
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    rig_finish(rig, 300);
    assert_int_equal(shown(rig, 0), SENTINEL);
    rig_free(rig);
}

/* The command reaches the unit, or the one that stands in for it: fake units take all. */
static void is_sent(const char *mnemonic, uint32_t code)
{
    struct rig *rig = started(0, 0);
    rig_push(rig, w_tile((enum isa_code)code, 0, D, 0, TAKES(1)));
    must_work(rig, mnemonic);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig->commands[0].command.opcode, code);
    assert_int_equal(shown(rig, 0), SENTINEL);
    rig_free(rig);
}

static void test_every_opcode(void **state)
{
    static const struct {
        const char *mnemonic;
        uint32_t code;
        enum isa_unit unit;
    } opcodes[] = {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    {#mnemonic, (code), ISA_UNIT_##unit},
#include "isa/opcodes.def"
    };
    uint32_t undone = 0;
    (void)state;
    for (uint32_t i = 0; i < COUNT(opcodes); ++i) {
        const int is_undone = strncmp(opcodes[i].mnemonic, "undone_", 7) == 0;
        if (opcodes[i].unit != ISA_UNIT_none)
            is_sent(opcodes[i].mnemonic, opcodes[i].code);
        else if (is_undone)
            traps(opcodes[i].code);
        else
            executes(opcodes[i].mnemonic, opcodes[i].code);
        undone += (uint32_t)is_undone;
    }
    assert_int_equal(undone, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_opcode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
