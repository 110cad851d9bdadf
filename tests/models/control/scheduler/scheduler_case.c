/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler_case.h"

static uint32_t put(struct table *table, uint32_t word)
{
    assert_true(table->count < TABLE);
    table->words[table->count] = word;
    return table->count++;
}

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

void make_table(const struct chain *chain, uint32_t block, struct table *table)
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

struct element *open_scheduler(const struct table *table)
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

void close_scheduler(struct element *element)
{
    fake_sim_free(&element->sim);
    free(element);
}
