/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first invocation by the scheduler unit (S004's all-hardware option). To make the unit's table, this software
 * issues each step and collects the words instead of pushing them: once for the first block, and once each for the next
 * column, row, position, image and output half. The differences are the patches. So the unit issues the same words as
 * the software.
 */
#include <stddef.h>

#include "depth.h"

enum scheduler_register {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) SCHEDULER_##name = offset,
#include "control/scheduler/scheduler.def"
};

enum scheduler_field {
#define CNNVP_FIELD(reg, name, lsb, width, help) SCHEDULER_##reg##_##name = (int)(((1u << (width)) - 1u) << (lsb)),
#include "control/scheduler/scheduler.def"
};

enum scheduler_value {
#define CNNVP_SCHEDULER_VALUE(name, value, help) SCHEDULER_##name = (value),
#include "control/scheduler/scheduler.def"
};

#define SECTIONS 6u
#define OUTPUT_HALF (1u << 2) /* bit of a tile instruction's high word */
#define LEVEL_WORDS 4u
#define SECTION_WORDS 4u

/* Variants of a step that are collected for the table. */
enum variant { BASE, NEXT_X, SECOND_X, NEXT_Y, SECOND_Y, NEXT_POSITION, NEXT_IMAGE, OTHER_HALF, VARIANTS };

/* A layer's instructions in all variants, which differ only in patched words. */
struct lists {
    struct cnnvp_capture capture[VARIANTS];
    uint32_t count; /* number of sections */
    uint32_t control[SECTIONS];
    uint32_t end[SECTIONS]; /* index of the word after the section */
};

/* The table as it is written. Words beyond the capacity are counted but not written; then the driver gives up. */
struct table {
    struct cnnvp_guest *guest;
    uint32_t at;
    uint32_t capacity;
};

static void write_register(const struct cnnvp_guest *guest, enum scheduler_register offset, uint32_t value)
{
    cnnvp_device_write(guest->machine, guest->binary->scheduler + (uint32_t)offset, value);
}

static uint32_t read_register(const struct cnnvp_guest *guest, enum scheduler_register offset)
{
    return cnnvp_device_read(guest->machine, guest->binary->scheduler + (uint32_t)offset);
}

static void put(struct table *table, uint32_t word)
{
    if (table->at < table->capacity)
        write_register(table->guest, SCHEDULER_TABLE_DATA, word);
    ++table->at;
}

/* ---- collecting ---- */

static void end_section(struct lists *lists, enum variant variant, uint32_t condition, uint32_t block)
{
    lists->control[lists->count] = condition | block << 8;
    lists->end[lists->count++] = lists->capture[variant].count;
}

/* Collects every part of the layer's steps once, as sections of the table. */
static void collect(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer, struct lists *lists,
                    enum variant variant)
{
    const struct cnnvp_binary_level *next = &depth->levels[layer + 1u];
    lists->count = 0;
    cnnvp_element_capture(&guest->element, &lists->capture[variant]);
    guest->element.tag = UINT32_MAX;
    (void)cnnvp_depth_calculate(guest, depth, layer);
    end_section(lists, variant, SCHEDULER_ALWAYS, SCHEDULER_INPUT);
    if (layer == 0) {
        cnnvp_depth_load(guest, depth, &depth->division[0]);
        end_section(lists, variant, SCHEDULER_IF_LEFT, SCHEDULER_AHEAD);
    } else {
        cnnvp_depth_note(guest, depth, layer, 0);
        end_section(lists, variant, SCHEDULER_ALWAYS, SCHEDULER_INPUT);
    }
    if (next->on_chip && next->padding == CNNVP_PADDING_EACH) {
        cnnvp_pad_block(guest, &next->block);
        end_section(lists, variant, SCHEDULER_IF_FIRST, SCHEDULER_INPUT);
    }
    cnnvp_depth_finish(guest, depth, layer);
    end_section(lists, variant, SCHEDULER_ALWAYS, SCHEDULER_INPUT);
    if (next->on_chip && layer + 1u == depth->chain->layer_count) {
        cnnvp_depth_emit(guest, depth);
        end_section(lists, variant, SCHEDULER_IF_READY, SCHEDULER_OUTPUT);
    }
    cnnvp_element_capture(&guest->element, NULL);
}

static void collect_variant(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer, struct lists *lists,
                            enum variant variant)
{
    const struct cnnvp_division division = {
        .x = variant == NEXT_X     ? 1u
             : variant == SECOND_X ? 2u
                                   : 0,
        .y = variant == NEXT_Y     ? 1u
             : variant == SECOND_Y ? 2u
                                   : 0,
    };
    const uint32_t image = guest->image_number;
    depth->division[layer] = depth->division[layer + 1u] = division;
    depth->gathered[layer + 1u] = variant == NEXT_POSITION;
    guest->image_number = variant == NEXT_IMAGE;
    /* begin_step takes the half after this one. */
    guest->next_output = variant == OTHER_HALF ? 0 : guest->binary->output_halves - 1u;
    collect(guest, depth, layer, lists, variant);
    guest->image_number = image;
    depth->division[layer] = depth->division[layer + 1u] = (struct cnnvp_division){0, 0, 0};
    depth->gathered[layer + 1u] = 0;
}

/* Collects all variants. Returns 1 if they differ only in low halves and in the output half. */
static int collect_all(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer, struct lists *lists)
{
    const uint32_t room = CNNVP_COLLECTED_WORDS / VARIANTS;
    for (uint32_t v = 0; v < VARIANTS; ++v) {
        struct cnnvp_capture *capture = &lists->capture[v];
        *capture =
            (struct cnnvp_capture){.words = guest->collected + v * room, .capacity = room, .keep = SCHEDULER_KEEP};
        collect_variant(guest, depth, layer, lists, (enum variant)v);
        if (capture->overflow || capture->count != lists->capture[BASE].count)
            return 0;
        for (uint32_t i = 0; i < capture->count; ++i) {
            const uint32_t changed = capture->words[i].high ^ lists->capture[BASE].words[i].high;
            if (changed != 0 && (v != OTHER_HALF || changed != OUTPUT_HALF))
                return 0;
        }
    }
    for (uint32_t i = 0; i < 8u; ++i)
        guest->scheduler_registers[i] |= lists->capture[BASE].touched[i];
    return 1;
}

/* ---- writing ---- */

static uint32_t growth(const struct lists *lists, enum variant variant, uint32_t word)
{
    return lists->capture[variant].words[word].low - lists->capture[BASE].words[word].low;
}

/* Writes the patch of a word, if it needs one. Returns how many patches it wrote. */
static uint32_t put_patch(struct table *table, const struct lists *lists, uint32_t first, uint32_t word)
{
    const uint32_t by_x = growth(lists, NEXT_X, word);
    const uint32_t by_y = growth(lists, NEXT_Y, word);
    const uint32_t by_position = growth(lists, NEXT_POSITION, word);
    const uint32_t by_image = growth(lists, NEXT_IMAGE, word);
    const uint32_t half = lists->capture[OTHER_HALF].words[word].high ^ lists->capture[BASE].words[word].high;
    uint32_t kinds = half != 0 ? (uint32_t)SCHEDULER_HALF : 0;
    if (by_x == 0 && by_y == 0 && by_position == 0 && by_image == 0 && half == 0)
        return 0;
    if (by_x != 0 && growth(lists, SECOND_X, word) == 0)
        kinds |= SCHEDULER_X_PARITY;
    if (by_y != 0 && growth(lists, SECOND_Y, word) == 0)
        kinds |= SCHEDULER_Y_PARITY;
    put(table, (word - first) | kinds << 16);
    put(table, by_x);
    put(table, by_y);
    put(table, by_position);
    put(table, by_image);
    return 1;
}

/* Writes a layer's sections. Returns where their list begins. */
static uint32_t put_layer(struct table *table, const struct lists *lists)
{
    uint32_t words[SECTIONS];
    uint32_t patches[SECTIONS];
    uint32_t patch_counts[SECTIONS];
    for (uint32_t s = 0, word = 0; s < lists->count; ++s) {
        const uint32_t first = word;
        words[s] = table->at;
        for (; word < lists->end[s]; ++word) {
            put(table, lists->capture[BASE].words[word].low);
            put(table, lists->capture[BASE].words[word].high);
        }
        patches[s] = table->at;
        patch_counts[s] = 0;
        for (word = first; word < lists->end[s]; ++word)
            patch_counts[s] += put_patch(table, lists, first, word);
    }
    const uint32_t list = table->at;
    put(table, lists->count);
    for (uint32_t s = 0; s < lists->count; ++s) {
        put(table, lists->control[s] | (lists->end[s] - (s != 0 ? lists->end[s - 1u] : 0)) << 16);
        put(table, words[s]);
        put(table, patches[s]);
        put(table, patch_counts[s]);
    }
    return list;
}

static void put_level(struct table *table, const struct cnnvp_depth *depth, uint32_t level, uint32_t list)
{
    const struct cnnvp_binary_level *at = &depth->levels[level];
    const struct cnnvp_binary_level *before = level != 0 ? &depth->levels[level - 1u] : NULL;
    const uint32_t shrink = level != 0 ? depth->layers[level - 1u].plan.sx * depth->layers[level - 1u].plan.sy : 1u;
    put(table, at->bits_x | at->bits_y << 8);
    put(table, at->target);
    put(table, before != NULL ? before->target / shrink : 0);
    put(table, list);
}

/* Makes the chain's table. Returns 0 if it does not fit, or patches cannot express it. */
static int make_table(struct cnnvp_guest *guest, struct cnnvp_depth *depth)
{
    const uint32_t levels = depth->chain->layer_count + 1u;
    struct table table = {guest, 1u + levels * LEVEL_WORDS, read_register(guest, SCHEDULER_CAPACITY)};
    uint32_t list[SCHEDULER_LEVELS];
    struct lists lists;
    if (levels > SCHEDULER_LEVELS)
        return 0;
    for (uint32_t i = 0; i < 8u; ++i)
        guest->scheduler_registers[i] = 0;
    write_register(guest, SCHEDULER_TABLE_ADDR, table.at);
    for (uint32_t layer = 0; layer + 1u < levels; ++layer) {
        if (!collect_all(guest, depth, layer, &lists))
            return 0;
        list[layer] = put_layer(&table, &lists);
    }
    if (table.at > table.capacity)
        return 0;
    list[levels - 1u] = 0;
    write_register(guest, SCHEDULER_TABLE_ADDR, 0);
    table.at = 0;
    put(&table, levels);
    for (uint32_t level = 0; level < levels; ++level)
        put_level(&table, depth, level, list[level]);
    return 1;
}

/* ---- running ---- */

void cnnvp_scheduler_interrupt(struct cnnvp_guest *guest)
{
    write_register(guest, SCHEDULER_IRQ_ENABLE, 0); /* the cause is read from STATUS */
    guest->element.interrupts = guest->element.interrupts + 1u;
}

static void run(struct cnnvp_guest *guest)
{
    struct cnnvp_element *element = &guest->element;
    const uint32_t ends = (uint32_t)SCHEDULER_STATUS_done | (uint32_t)SCHEDULER_STATUS_error;
    write_register(guest, SCHEDULER_IMAGE, guest->image_number);
    write_register(guest, SCHEDULER_CTRL, SCHEDULER_CTRL_start);
    for (;;) {
        const uint32_t last = element->interrupts;
        const uint32_t status = read_register(guest, SCHEDULER_STATUS);
        if ((status & (uint32_t)SCHEDULER_STATUS_error) != 0)
            element->failed = 1;
        if (element->failed != 0 || (status & ends) != 0)
            break;
        /* Enable each time: the handler disables the interrupt, which may have been left pending by an earlier run. */
        write_register(guest, SCHEDULER_IRQ_ENABLE, 1);
        cnnvp_machine_sleep(element->machine, &element->interrupts, last);
    }
    write_register(guest, SCHEDULER_IRQ_ENABLE, 0);
    write_register(guest, SCHEDULER_STATUS, ends);
}

int cnnvp_depth_on_scheduler(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t number)
{
    const uint32_t next_output = guest->next_output;
    const int made = guest->scheduler_chain == number || make_table(guest, depth);
    guest->element.tag = UINT32_MAX;
    guest->next_output = next_output;
    guest->scheduler_chain = made ? number : 0;
    if (!made)
        return 0;
    run(guest);
    cnnvp_element_restore(&guest->element, guest->scheduler_registers);
    return 1;
}
