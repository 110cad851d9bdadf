/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler alone: what it pushes for random chains against the recursion of S004; a full queue; wrong tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_host.h"
#include "scheduler/scheduler.h"
#include "scheduler/scheduler_walk.h"
#include "steps.h"

#define TABLE 4096u
#define CYCLE UINT64_C(1000) /* ps at 1000 MHz */

/* Instructions of this test: an opcode that the unit does not know, and what it is about. */
enum kind { CALCULATE = 0xa0, AHEAD = 0xa1, GATHERED = 0xa2, EMIT = 0xa3 };

struct table {
    uint32_t words[TABLE];
    uint32_t count;
};

static uint32_t put(struct table *table, uint32_t word)
{
    assert_true(table->count < TABLE);
    table->words[table->count] = word;
    return table->count++;
}

struct section {
    enum kind kind;
    uint32_t condition, block, gathered;
};

/* A list of sections of one instruction each: low = x | y << 8 | position << 16 | image << 28, as far as it depends on
 * these. */
static uint32_t put_list(struct table *table, uint32_t layer, const struct section *sections, uint32_t count)
{
    uint32_t places[8];
    for (uint32_t i = 0; i < count; ++i) {
        places[i] = put(table, 0);
        (void)put(table, (uint32_t)sections[i].kind << 24 | layer << 8);
        (void)put(table, 0u | (uint32_t)(sections[i].kind == CALCULATE ? SCHEDULER_HALF : 0) << 16);
        (void)put(table, 1);
        (void)put(table, 1u << 8);
        (void)put(table, sections[i].gathered ? 1u << 16 : 0);
        (void)put(table, 1u << 28);
    }
    const uint32_t list = put(table, count);
    for (uint32_t i = 0; i < count; ++i) {
        (void)put(table, sections[i].condition | sections[i].block << 8 | 1u << 16);
        (void)put(table, places[i]);
        (void)put(table, places[i] + 2u);
        (void)put(table, 1);
    }
    return list;
}

static uint32_t log2_of(uint32_t value)
{
    uint32_t bits = 0;
    while (value >> bits > 1u)
        ++bits;
    return bits;
}

static void make_table(const struct chain *chain, uint32_t block, struct table *table)
{
    uint32_t height = chain->height;
    uint32_t width = chain->width;
    uint32_t part = 0;
    memset(table, 0, sizeof *table);
    table->count = 1u + 4u * (chain->layer_count + 1u);
    table->words[0] = chain->layer_count + 1u;
    for (uint32_t i = 0; i <= chain->layer_count; ++i) {
        const uint32_t rows = height < block ? height : block;
        const uint32_t columns = width < block ? width : block;
        uint32_t *level = &table->words[1u + 4u * i];
        level[0] = log2_of(width / columns) | log2_of(height / rows) << 8;
        level[1] = rows * columns;
        level[2] = part;
        if (i == chain->layer_count)
            break;
        const struct section sections[] = {
            {CALCULATE, SCHEDULER_ALWAYS, SCHEDULER_INPUT, 0},
            {AHEAD, SCHEDULER_IF_LEFT, SCHEDULER_AHEAD, 0},
            {GATHERED, SCHEDULER_ALWAYS, SCHEDULER_INPUT, 1},
            {EMIT, SCHEDULER_IF_READY, SCHEDULER_OUTPUT, 0},
        };
        const uint32_t shrink = chain->layers[i].pool ? 2 : 1;
        /* only the first layer loads ahead: its section is left out elsewhere */
        const struct section later[] = {sections[0], sections[2], sections[3]};
        level[3] = i == 0 ? put_list(table, i, sections, 4) : put_list(table, i, later, 3);
        part = rows / shrink * (columns / shrink);
        height /= shrink;
        width /= shrink;
    }
}

/* ---- the instruction element ---- */

struct element {
    struct fake_sim sim;
    struct cnnvp_host *scheduler;
    uint32_t room; /* of the queue */
    uint32_t low;
    uint32_t high_words[65536];
    uint32_t low_words[65536];
    uint32_t count;
    int refuses;
};

static int on_access(void *context, struct cnnvp_access *access)
{
    struct element *element = context;
    uint32_t *value = access->data;
    if (access->op == CNNVP_READ && access->address == 0x18) {
        *value = element->room;
        return CNNVP_OK;
    }
    if (element->refuses)
        return CNNVP_E_ACCESS;
    if (access->address == 0x10)
        element->low = *value;
    if (access->address == 0x14) {
        assert_true(element->room > 0);
        --element->room;
        element->high_words[element->count] = *value;
        element->low_words[element->count++] = element->low;
    }
    return CNNVP_OK;
}

static struct element *open_scheduler(const struct table *table)
{
    struct element *element = calloc(1, sizeof *element);
    fake_sim_init(&element->sim, 1000, 0, 4096);
    element->scheduler = fake_add(&element->sim, &cnnvp_unit_scheduler);
    element->room = 60000;
    fake_handle(element->scheduler, "element", on_access, element);
    assert_int_equal(fake_start(element->scheduler), CNNVP_OK);
    for (uint32_t i = 0; i < table->count; ++i)
        assert_int_equal(fake_write(element->scheduler, "TABLE_DATA", table->words[i]), CNNVP_OK);
    return element;
}

static void close_scheduler(struct element *element)
{
    fake_sim_free(&element->sim);
    free(element);
}

/* ---- tests ---- */

static void expect(const struct element *element, uint32_t *at, uint32_t high, uint32_t low)
{
    assert_true(*at < element->count);
    assert_int_equal(element->high_words[*at], high);
    assert_int_equal(element->low_words[*at], low);
    ++*at;
}

static void pushes_what_the_recursion_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint32_t block = 1u << chain_below(&random, 4);
        const struct chain chain = chain_random(random, block);
        struct table table;
        make_table(&chain, block, &table);
        struct element *element = open_scheduler(&table);
        const uint32_t image = chain_below(&random, 3);
        (void)fake_write(element->scheduler, "IMAGE", image);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 1000000 * CYCLE);
        assert_int_equal(fake_read(element->scheduler, "STATUS"), 2);
        struct steps steps = steps_of(&chain, block);
        uint32_t at = 0;
        uint32_t next = 0; /* the step that loads next */
        for (uint32_t i = 0; i < steps.count; ++i) {
            const struct step *step = &steps.all[i];
            const uint32_t place = step->layer << 8;
            expect(element, &at, (uint32_t)CALCULATE << 24 | place | (i % 2 == 0 ? 4u : 0),
                   step->x | step->y << 8 | image << 28);
            if (step->layer == 0) {
                for (next = i + 1; next < steps.count && steps.all[next].layer != 0; ++next)
                    continue;
                if (next < steps.count)
                    expect(element, &at, (uint32_t)AHEAD << 24 | place,
                           steps.all[next].x | steps.all[next].y << 8 | image << 28);
            }
            expect(element, &at, (uint32_t)GATHERED << 24 | place,
                   (step->x | step->y << 8 | image << 28) + (step->gathered << 16));
            if (step->gathered == step->target)
                expect(element, &at, (uint32_t)EMIT << 24 | place, step->next_x | step->next_y << 8 | image << 28);
        }
        assert_int_equal(element->count, at);
        assert_int_equal(fake_count(element->scheduler, "steps"), steps.count);
        assert_int_equal(fake_count(element->scheduler, "words"), at);
        free(steps.all);
        close_scheduler(element);
    }
}

static void a_full_queue_is_waited_for(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    struct table table;
    make_table(&chain, 4, &table);
    struct element *element = open_scheduler(&table);
    element->room = 3;
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 1000 * CYCLE);
    assert_int_equal(element->count, 3);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 1);
    assert_true(fake_count(element->scheduler, "queue_waits") > 10);
    element->room = 60000;
    fake_run(&element->sim, 10000 * CYCLE);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 2);
    assert_int_equal(fake_read(element->scheduler, "STEPS"), 40);
    close_scheduler(element);
}

/* Assignments that change nothing are left out; at the next start nothing is known. */
static void assignments_are_elided(void **state)
{
    (void)state;
    struct table table = {
        .words = {2,
                  0x0001,
                  1,
                  0,
                  9,
                  0x0001,
                  1,
                  1,
                  0,
                  /* list */ 1,
                  3u << 16,
                  14,
                  0,
                  0,
                  /* layer 5, r7 = 1, r7 = 1 */ 5,
                  0x01000000,
                  1,
                  0x40000700,
                  1,
                  0x40000700},
        .count = 20};
    struct element *element = open_scheduler(&table);
    for (uint32_t run = 1; run <= 2; ++run) {
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, run * 1000 * CYCLE);
        assert_int_equal(element->count, 2 * run); /* of six words */
        assert_int_equal(fake_count(element->scheduler, "elided"), 4 * run);
    }
    close_scheduler(element);
}

/* One that depends on data is pushed in any case, as the element knows it. */
static void kept_assignments_are_pushed(void **state)
{
    (void)state;
    struct table table = {.words = {2, 0x0001, 1, 0, 9, 0x0001, 1, 1, 0, /* list */ 1, 3u << 16, 14, 0, 0,
                                    /* r7 = 1 three times, the second one kept */
                                    1, 0x40000700, 1, 0x40000701, 1, 0x40000700},
                          .count = 20};
    struct element *element = open_scheduler(&table);
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 1000 * CYCLE);
    assert_int_equal(element->count, 3); /* the first, and the kept one of both blocks */
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(element->high_words[i], 0x40000700);
        assert_int_equal(element->low_words[i], 1);
    }
    assert_int_equal(fake_count(element->scheduler, "elided"), 3);
    close_scheduler(element);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    static const struct {
        uint32_t word, value;
    } wrong[] = {{0, 0},          {0, 1},    {0, 65}, {0, 0xffffffff}, {1, 0x1010}, {2, 0},
                 {4, 0xffffffff}, {4, 5000}, {7, 0},  {7, 3},          {8, 16384}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        struct table table;
        make_table(&chain, 4, &table);
        table.words[wrong[i].word] = wrong[i].value;
        struct element *element = open_scheduler(&table);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 100000 * CYCLE);
        if (wrong[i].word != 4 || wrong[i].value != 5000) /* an empty list in the memory's rest */
            assert_int_equal(fake_read(element->scheduler, "STATUS"), 4);
        close_scheduler(element);
    }
    /* any word at all: it ends, and touches nothing beyond its memory */
    uint64_t random = 5;
    for (uint32_t i = 0; i < 300; ++i) {
        struct table table;
        make_table(&chain, 4, &table);
        for (uint32_t k = 0; k < 3; ++k)
            table.words[chain_below(&random, table.count)] ^= 1u << chain_below(&random, 32);
        struct element *element = open_scheduler(&table);
        (void)fake_write(element->scheduler, "CTRL", 1);
        fake_run(&element->sim, 2000 * CYCLE);
        close_scheduler(element);
    }
    struct table table;
    make_table(&chain, 4, &table);
    struct element *element = open_scheduler(&table);
    element->refuses = 1;
    (void)fake_write(element->scheduler, "CTRL", 1);
    fake_run(&element->sim, 100000 * CYCLE);
    assert_int_equal(fake_read(element->scheduler, "STATUS"), 4);
    close_scheduler(element);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_what_the_recursion_says), cmocka_unit_test(a_full_queue_is_waited_for),
        cmocka_unit_test(assignments_are_elided),         cmocka_unit_test(kept_assignments_are_pushed),
        cmocka_unit_test(wrong_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
