/* SPDX-License-Identifier: Apache-2.0 */
/* A program of words: that the element is told to read it, and how its end is seen. */
#include "test.h"

#include "guest.h"

enum { BASE = 0x10010000, WORDS = 3, LOOKS = 5 };

struct rig {
    struct cnnvp_guest guest;
    uint32_t program[CNNVP_WORDS_OFFSET / 4 + 2 * WORDS];
    uint32_t registers[32];
    uint32_t looks, sleeps, pushed; /* looks at STATUS; words, after the program's */
    uint32_t fails;                 /* the look at which the element has failed, 0: none */
    size_t printed;
};

/* At work for some looks, then done; the program is read meanwhile. */
static uint32_t read_register(void *host, uint32_t address)
{
    struct rig *rig = host;
    if (address == BASE + CNNVP_ELEMENT_FREE)
        return 8;
    if (address != BASE + CNNVP_ELEMENT_STATUS)
        return rig->registers[(address - BASE) / 4u];
    ++rig->looks;
    assert_true(rig->looks <= LOOKS + 1u);
    if (rig->looks == rig->fails)
        rig->guest.element.failed = 1;
    return rig->looks == LOOKS ? rig->registers[CNNVP_ELEMENT_STATUS / 4]
           : rig->looks == 1   ? CNNVP_ELEMENT_STATUS_empty | CNNVP_ELEMENT_STATUS_fetching
                               : CNNVP_ELEMENT_STATUS_empty | CNNVP_ELEMENT_STATUS_busy;
}

static void write_register(void *host, uint32_t address, uint32_t value)
{
    struct rig *rig = host;
    rig->registers[(address - BASE) / 4u] = value;
    rig->pushed += address == BASE + CNNVP_ELEMENT_PUSH_HI;
}

static const void *memory_at(void *host, uint32_t address)
{
    const struct rig *rig = host;
    return (const uint8_t *)rig->program + (address - CNNVP_BINARY_ADDRESS);
}

static void print(void *host, char character)
{
    (void)character;
    ++((struct rig *)host)->printed;
}

static int sleep_once(void *host)
{
    struct rig *rig = host;
    ++rig->sleeps;
    ++rig->guest.element.interrupts;
    return 1;
}

/* `end`: what STATUS says at the last look. Returns cnnvp_words_run's result. */
static int run(struct rig *rig, uint32_t last_word, uint32_t end)
{
    static const struct cnnvp_words_binary words = {.count = WORDS};
    const struct cnnvp_machine machine = {rig, read_register, write_register, memory_at, print, sleep_once};
    rig->registers[CNNVP_ELEMENT_STATUS / 4] = end;
    rig->program[CNNVP_WORDS_OFFSET / 4 + 2 * WORDS - 1] = last_word;
    rig->guest.machine = &machine;
    rig->guest.words = &words;
    rig->guest.element = (struct cnnvp_element){.machine = &machine, .base = BASE};
    const int result = cnnvp_words_run(&rig->guest);
    assert_int_equal(rig->registers[CNNVP_ELEMENT_FETCH_ADDR / 4], CNNVP_BINARY_ADDRESS + CNNVP_WORDS_OFFSET);
    assert_int_equal(rig->registers[CNNVP_ELEMENT_FETCH_WORDS / 4], WORDS);
    return result;
}

/* An irq follows the program, and the core sleeps until all is done. */
static void test_end(void **state)
{
    struct rig rig = {.looks = 0};
    (void)state;
    assert_int_equal(run(&rig, 0, CNNVP_ELEMENT_STATUS_empty), 0);
    assert_int_equal(rig.looks, LOOKS);
    assert_int_equal(rig.sleeps, LOOKS - 1);
    assert_int_equal(rig.pushed, 1);
    assert_int_equal(rig.registers[CNNVP_ELEMENT_PUSH_HI / 4], (uint32_t)CNNVP_OPCODE_irq << 24);
    assert_int_equal(rig.printed, 0);
}

/* Of a halt no interrupt tells: the core asks again and again. */
static void test_halt(void **state)
{
    struct rig rig = {.looks = 0};
    (void)state;
    assert_int_equal(run(&rig, (uint32_t)CNNVP_OPCODE_halt << 24, CNNVP_ELEMENT_STATUS_halted), 0);
    assert_int_equal(rig.looks, LOOKS);
    assert_int_equal(rig.sleeps, 0);
    assert_int_equal(rig.pushed, 0);
}

static void test_failure(void **state)
{
    struct rig rig = {.fails = 2};
    (void)state;
    assert_int_equal(run(&rig, 0, CNNVP_ELEMENT_STATUS_empty), 1);
    assert_int_equal(rig.looks, 2);
    assert_true(rig.printed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_halt),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
