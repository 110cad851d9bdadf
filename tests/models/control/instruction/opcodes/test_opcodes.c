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
    assert_true(cnnvp_isa_decode(NULL, word) != NULL);
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

/* One that a unit brings; `code` may be another one than that of `word`. Returns the commands that the unit got. */
static uint32_t custom_commands(uint32_t code, uint64_t word, uint32_t *cause)
{
    static const struct cnnvp_instruction_register registers[] = {{"first", ""}, {"second", ""}};
    static const struct cnnvp_instruction_status statuses[] = {{"flag", 0, 1, ""}, {"number", 4, 3, ""}};
    const struct cnnvp_instruction instruction = {"own", code, CNNVP_HALF_INPUT, statuses, 2, registers, 2, ""};
    struct rig *rig = rig_new(1000);
    rig->custom.instructions = &instruction;
    rig->custom.instruction_count = code != 0;
    rig_start(rig);
    rig_to(rig, 10);
    rig_push(rig, w_ri(ISA_set, D, SENTINEL));
    rig_push(rig, word);
    rig_to(rig, 200);
    *cause = fake_read(rig->element, "ERROR_CAUSE");
    const uint32_t count = rig->count;
    if (count) {
        assert_int_equal(rig->commands[0].command.opcode, code);
        assert_int_equal(rig->commands[0].command.status, word >> 48 & 0xffu);
        assert_int_equal(rig->commands[0].command.count, 2);
        assert_int_equal(shown(rig, 0), SENTINEL);
    }
    rig_free(rig);
    return count;
}

/* Opcodes 0xc0 to 0xff: a unit that has one gets its command; nobody's, and a status that it does not have, trap. */
static void test_every_custom_opcode(void **state)
{
    uint32_t cause;
    (void)state;
    for (uint32_t code = CNNVP_CUSTOM_OPCODE_FIRST; code <= CNNVP_CUSTOM_OPCODE_LAST; ++code) {
        const uint32_t next = code < CNNVP_CUSTOM_OPCODE_LAST ? code + 1u : CNNVP_CUSTOM_OPCODE_FIRST;
        if (code == 0xfe || next == 0xfe)
            continue; /* of this test's table */
        assert_int_equal(custom_commands(code, w_tile((enum isa_code)code, 0x71, D, 0, TAKES(1)), &cause), 1);
        assert_int_equal(cause, 0);
        assert_int_equal(custom_commands(code, w_tile((enum isa_code)code, 0x02, D, 0, TAKES(1)), &cause), 0);
        assert_int_equal(cause, ERROR_illegal);
        assert_int_equal(custom_commands(next, w_tile((enum isa_code)code, 0, D, 0, TAKES(1)), &cause), 0);
        assert_int_equal(cause, ERROR_illegal);
        assert_int_equal(custom_commands(0, w_tile((enum isa_code)code, 0, D, 0, TAKES(1)), &cause), 0);
        assert_int_equal(cause, ERROR_illegal);
    }
}

/* The second instruction waits for the unit, and for the half of a buffer that both name; not for the other half. */
static void test_custom_waits(void **state)
{
    const struct cnnvp_instruction own[] = {
        {"own", 0xc0, CNNVP_HALF_OUTPUT, NULL, 0, NULL, 0, ""}, {"dry", 0xc1, 0, NULL, 0, NULL, 0, ""}};
    const uint64_t first = w_tile((enum isa_code)0xc0, 0, D, 0, TAKES(100));
    const struct {
        uint64_t second;
        uint32_t cycles;
    } cases[] = {{w_tile((enum isa_code)0xc1, 0, D, 0, TAKES(1)), 100},
                 {w_tile(ISA_fill, 2, D, 0, TAKES(1)), 100},
                 {w_tile(ISA_fill, 2, D, CNNVP_HALF_OUTPUT, TAKES(1)), 1},
                 {w_tile(ISA_fill, 0, D, 0, TAKES(1)), 1}};
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); ++i) {
        struct rig *rig = rig_new(1000);
        rig->custom.instructions = own;
        rig->custom.instruction_count = 2;
        rig_start(rig);
        rig_to(rig, 10);
        rig_push(rig, first);
        rig_push(rig, cases[i].second);
        must_work(rig, "own");
        assert_int_equal(rig->count, 2);
        assert_int_equal(rig->commands[1].cycle - rig->commands[0].cycle, cases[i].cycles);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_opcode), cmocka_unit_test(test_every_custom_opcode),
                                       cmocka_unit_test(test_custom_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
