/* SPDX-License-Identifier: Apache-2.0 */
/* The element's driver against a queue of eight words that the test empties: what is pushed, when it sleeps, and what
 * it does and says after an error. */
#include "test.h"

#include "element.h"

enum { BASE = 0x10010000, DEPTH = 8, ALL = 64, MEMORY = 0x40000000 };

struct queue {
    struct cnnvp_element element;
    struct cnnvp_machine machine;
    uint32_t registers[32];
    uint32_t memory[32];
    uint64_t words[ALL];
    uint32_t count, taken, sleeps;
    int fails_asleep; /* an error comes while the driver sleeps, in place of room */
    char console[200];
    size_t printed;
};

static uint32_t *word_at(struct queue *queue, uint32_t address)
{
    uint32_t *const words = address < MEMORY ? queue->registers : queue->memory;
    return &words[(address - (address < MEMORY ? BASE : MEMORY)) / 4u];
}

static uint32_t read_register(void *host, uint32_t address)
{
    struct queue *queue = host;
    if (address == BASE + CNNVP_ELEMENT_FREE)
        return DEPTH - (queue->count - queue->taken);
    return *word_at(queue, address);
}

static void write_register(void *host, uint32_t address, uint32_t value)
{
    struct queue *queue = host;
    *word_at(queue, address) = value;
    if (address != BASE + CNNVP_ELEMENT_PUSH_HI)
        return;
    assert_true(queue->count - queue->taken < DEPTH && queue->count < ALL); /* a word too many would be lost */
    queue->words[queue->count++] = (uint64_t)value << 32 | queue->registers[CNNVP_ELEMENT_PUSH_LO / 4];
}

static void print(void *host, char character)
{
    struct queue *queue = host;
    assert_true(queue->printed + 1u < sizeof queue->console);
    queue->console[queue->printed++] = character;
}

/* The element takes all words, or fails, and interrupts. */
static int sleep_once(void *host)
{
    struct queue *queue = host;
    ++queue->sleeps;
    queue->registers[CNNVP_ELEMENT_IRQ_STATUS / 4] =
        queue->fails_asleep ? CNNVP_ELEMENT_IRQ_STATUS_error : CNNVP_ELEMENT_IRQ_STATUS_space;
    if (!queue->fails_asleep)
        queue->taken = queue->count;
    queue->registers[CNNVP_ELEMENT_EVENT_COUNT / 4] = queue->element.events;
    cnnvp_element_interrupt(&queue->element);
    return 1;
}

static void start(struct queue *queue)
{
    *queue = (struct queue){.sleeps = 0};
    queue->machine = (struct cnnvp_machine){queue, read_register, write_register, NULL, print, sleep_once};
    queue->registers[CNNVP_ELEMENT_QUEUE_DEPTH / 4] = DEPTH;
    cnnvp_element_init(&queue->element, &queue->machine, BASE);
    assert_int_equal(queue->registers[CNNVP_ELEMENT_CTRL / 4], CNNVP_ELEMENT_CTRL_enable);
}

static uint64_t word(enum cnnvp_opcode opcode, uint32_t fields, uint32_t low)
{
    return (uint64_t)opcode << 56 | (uint64_t)fields << 32 | low;
}

/* A register is set where its value changes, also by cnnvp_element_set, or always; the last one is left out on request,
 * and those that cannot have changed are not looked at. */
static void test_changes_alone(void **state)
{
    static const uint32_t first[] = {7, 0, 9}, second[] = {7, 5, 9}, third[] = {7, 6, 8};
    const uint32_t high = cnnvp_word_high(CNNVP_OPCODE_conv, 1, 16, 2);
    struct queue queue;
    (void)state;
    start(&queue);
    cnnvp_element_layer(&queue.element, 3);
    cnnvp_element_layer(&queue.element, 3);
    cnnvp_element_tile(&queue.element, CNNVP_OPCODE_conv, 1, 2, 4, 16, first, 3); /* registers are 0 at first */
    cnnvp_element_tile(&queue.element, CNNVP_OPCODE_conv, 1, 2, 4, 16, second, 3);
    cnnvp_element_set(&queue.element, 18, 9);
    cnnvp_element_push_tile(&queue.element, 16, high, 4, third, 3, 0, 3, 1);
    cnnvp_element_push_tile(&queue.element, 16, high, 4, third, 3, 1, 4, 0);
    const uint64_t conv = word(CNNVP_OPCODE_conv, 1u << 16 | 16u << 8 | 2u, 4);
    const uint64_t expected[] = {
        word(CNNVP_OPCODE_layer, 0, 3),
        word(CNNVP_OPCODE_set, 16u << 8, 7),
        word(CNNVP_OPCODE_set, 18u << 8, 9),
        conv,
        word(CNNVP_OPCODE_set, 17u << 8, 5),
        conv,
        word(CNNVP_OPCODE_set, 16u << 8, 7),
        word(CNNVP_OPCODE_set, 17u << 8, 6),
        conv,
        word(CNNVP_OPCODE_set, 18u << 8, 8),
        conv};
    assert_int_equal(queue.count, sizeof expected / sizeof expected[0]);
    assert_memory_equal(queue.words, expected, sizeof expected);
    assert_int_equal(queue.sleeps, 1); /* eight words fit */
}

/* More words than the queue holds: the driver asks for room for half of it, sleeps, and loses none. */
static void test_full_queue(void **state)
{
    struct queue queue;
    (void)state;
    start(&queue);
    for (uint32_t i = 0; i < 20; ++i)
        cnnvp_element_irq(&queue.element, i);
    assert_int_equal(queue.count, 20);
    assert_int_equal(queue.sleeps, 2);
    assert_int_equal(queue.registers[CNNVP_ELEMENT_SPACE_THRESHOLD / 4], DEPTH / 2);
    for (uint32_t i = 0; i < 20; ++i)
        assert_int_equal(queue.words[i], word(CNNVP_OPCODE_irq, 0, i));
    assert_int_equal(cnnvp_element_finish(&queue.element), 0);
    assert_int_equal(queue.sleeps, 3);
}

/* After an error nothing is pushed, its interrupt stays away, and the console has all that the registers say. */
static void test_error(void **state)
{
    struct queue queue;
    (void)state;
    start(&queue);
    queue.fails_asleep = 1;
    for (uint32_t i = 0; i < 20; ++i)
        cnnvp_element_irq(&queue.element, i);
    assert_int_equal(queue.count, DEPTH);
    assert_int_equal(queue.sleeps, 1);
    assert_int_equal(queue.registers[CNNVP_ELEMENT_IRQ_ENABLE / 4], 0);
    assert_int_equal(queue.registers[CNNVP_ELEMENT_IRQ_STATUS / 4], 0); /* written: the error itself is not cleared */
    assert_int_equal(cnnvp_element_finish(&queue.element), -1);
    queue.registers[CNNVP_ELEMENT_ERROR_CAUSE / 4] = 99;
    queue.registers[CNNVP_ELEMENT_ERROR_WORD_HI / 4] = 0x80000102;
    queue.registers[CNNVP_ELEMENT_ERROR_WORD_LO / 4] = 0x34;
    queue.registers[CNNVP_ELEMENT_ERROR_PC / 4] = 17;
    queue.registers[CNNVP_ELEMENT_ERROR_STATUS / 4] = 0xffffffff;
    cnnvp_element_explain(&queue.element);
    assert_string_equal(queue.console, "guest: the instruction element stopped: a word was refused; word "
                                       "0x8000010200000034 at 0x00000011, status 0xffffffff\n");
}

/* Captured words assign the whole descriptor, and mark what is pushed always; one too many is noted. */
static void test_capture(void **state)
{
    static const uint32_t descriptor[] = {0, 5};
    struct queue queue;
    struct cnnvp_word room[4];
    struct cnnvp_capture to = {.words = room, .capacity = 4, .keep = 1};
    (void)state;
    start(&queue);
    cnnvp_element_capture(&queue.element, &to);
    cnnvp_element_layer(&queue.element, 2);
    cnnvp_element_push_tile(
        &queue.element, 32, cnnvp_word_high(CNNVP_OPCODE_pool, 0, 32, 1), 0, descriptor, 2, 1, 0, 2);
    assert_int_equal(queue.count, 0);
    assert_int_equal(to.count, 4);
    assert_int_equal(room[1].high, (uint32_t)CNNVP_OPCODE_set << 24 | 32u << 8);
    assert_int_equal(room[2].high, (uint32_t)CNNVP_OPCODE_set << 24 | 33u << 8 | 1u);
    assert_int_equal(to.touched[1], 3);
    assert_int_equal(to.overflow, 0);
    cnnvp_element_tile_again(&queue.element, CNNVP_OPCODE_pool, 0, 1, 0, 32);
    assert_int_equal(to.count, 4);
    assert_int_equal(to.overflow, 1);
    cnnvp_element_capture(&queue.element, NULL); /* what others have assigned is set to what the driver believes */
    queue.element.value[32] = 11;
    queue.element.value[33] = 12;
    cnnvp_element_restore(&queue.element, to.touched);
    assert_int_equal(queue.count, 2);
    assert_int_equal(queue.words[0], word(CNNVP_OPCODE_set, 32u << 8, 11));
    assert_int_equal(queue.words[1], word(CNNVP_OPCODE_set, 33u << 8, 12));
}

/* Two copies of a `set` and a calculation, of an image each, in memory of `words`. */
static int write_copies(struct queue *queue, struct cnnvp_program *program, uint32_t words)
{
    start(queue);
    *program = (struct cnnvp_program){.address = MEMORY, .end = MEMORY + 8u * words, .patches = MEMORY + 8u * words};
    for (uint32_t image = 1; image <= 2; ++image) {
        const uint32_t descriptor[] = {0, 100u * image};
        cnnvp_element_write(&queue->element, MEMORY + program->bytes, program->end);
        cnnvp_element_push_tile(
            &queue->element, 32, cnnvp_word_high(CNNVP_OPCODE_pool, 0, 32, 1), 7, descriptor, 2, 1, UINT32_MAX, 0);
        program->bytes = 16;
    }
    cnnvp_element_write(&queue->element, 0, 0);
    assert_int_equal(queue->count, 0);
    return cnnvp_element_compare(&queue->element, program);
}

/* Words in memory: what differs between two copies, and in two runs grows by twice that, which the driver knows then.
 */
static void test_memory(void **state)
{
    struct queue queue;
    struct cnnvp_program program;
    (void)state;
    assert_int_equal(write_copies(&queue, &program, 5), 1);
    const uint32_t high = (uint32_t)CNNVP_OPCODE_set << 24 | 33u << 8;
    const uint32_t pool = cnnvp_word_high(CNNVP_OPCODE_pool, 0, 32, 1);
    const uint32_t expected[] = {100, high, 7, pool, 200, high, 7, pool, 0, 100};
    assert_memory_equal(queue.memory, expected, sizeof expected);
    cnnvp_element_patch(&queue.element, &program, MEMORY);
    assert_int_equal(queue.memory[0], 300);
    assert_int_equal(queue.element.value[33], 300);
    queue.memory[6] = 8; /* what is no `set` differs */
    assert_int_equal(cnnvp_element_compare(&queue.element, &program), 0);
    assert_int_equal(write_copies(&queue, &program, 5), 1);
    program.patches = MEMORY + 32u; /* no room for the patch */
    assert_int_equal(cnnvp_element_compare(&queue.element, &program), 0);
    assert_int_equal(queue.element.failed, 0);
    (void)write_copies(&queue, &program, 4); /* none for the words */
    assert_int_equal(queue.element.failed, CNNVP_ELEMENT_NO_LIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_alone), cmocka_unit_test(test_full_queue), cmocka_unit_test(test_error),
        cmocka_unit_test(test_capture),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
