/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes plans as YAML files:
 *
 *   groups:                          # layers that run together; all others run by themselves
 *     - members: [conv1, pool1]      # consecutive, in the order of execution
 *       tile_h: 14                   # tile of the last layer's output
 *       tile_w: 56
 *       halo: row                    # recompute, row or full
 *   cuts:                            # how layers are cut; the planner cuts the others
 *     conv1: {group_out: 64, tile_h: 14, tile_w: 56, tile_in: 3, tile_out: 64}
 *     dw2: {unit: vector}            # pe_array or vector, with tiles or alone; without it the planner chooses
 *     conv3: {function: write_out}   # or vector: who does the function after a convolution; likewise
 *   on_chip: [pool1]                 # tensors that stay in the input buffer from their maker to their last reader
 *   tensors:                         # memory layout of tensors; the others lie in planes
 *     pool1: {memory_layout: blocks-32}   # 32 channels interleaved; pixels: all channels; planes: none
 *
 * Or the chains of a depth-first run, with cuts of the layers outside of them:
 *
 *   groups:
 *     - members: [conv1, pool1]      # each reads what the one before makes
 *       halo: padding                # every block is padded by itself
 *       order: table                 # of the blocks: morton (by counting, the default), table (the same, precomputed),
 *                                    # raster (by rows) or a file, beside this one: blocks: [[0, 0], [1, 0], ...],
 *                                    # each an x and a y
 *       block: 8                     # side of a block; it and the order are the same for all chains
 *
 * Or constraints for a schedule, which chooses everything else: a group without members.
 *
 *   groups:
 *     - halo: row                    # of all groups that the schedules fused and auto make
 *     - order: table                 # of depth-first blocks
 *
 * If several layers or tensors have the same name, the second one is name#2, and so on. In files of the older form
 * `members` is `layers`, and constraints stand beside `groups`.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "plan_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cnnvp_integer.h"
#include "output_file.h"
#include "yaml.h"

const char *const cnnvp_plan_halos[3] = {"recompute", "row", "full"};
#define HALOS "recompute, row or full"
#define PADDING "padding"
#define GROUP_HALOS "recompute, row, full or " PADDING
#define LAYOUTS "planes, blocks-N or pixels"

static const char *const units[] = {"pe_array", "vector"}; /* by CNNVP_UNIT_ARRAY, CNNVP_UNIT_VECTOR */
static const char *const functions[] = {"vector", "write_out"};
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

const char *cnnvp_plan_unit_name(uint32_t unit)
{
    return units[unit];
}

cnnvp_result cnnvp_plan_new(const struct cnnvp_graph *graph, struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    *plan = (struct cnnvp_plan){0};
    plan->runs = cnnvp_arena_array(&plan->arena, graph->layer_count, sizeof *plan->runs);
    plan->cuts = cnnvp_arena_array(&plan->arena, graph->layer_count, sizeof *plan->cuts);
    plan->cut_places = cnnvp_arena_array(&plan->arena, graph->layer_count, sizeof *plan->cut_places);
    plan->blocks = cnnvp_arena_array(&plan->arena, graph->tensor_count, sizeof *plan->blocks);
    plan->block_places = cnnvp_arena_array(&plan->arena, graph->tensor_count, sizeof *plan->block_places);
    plan->chained = cnnvp_arena_array(&plan->arena, graph->layer_count, sizeof *plan->chained);
    plan->chain_places = cnnvp_arena_array(&plan->arena, graph->layer_count, sizeof *plan->chain_places);
    plan->on_chip = cnnvp_arena_array(&plan->arena, graph->tensor_count, sizeof *plan->on_chip);
    plan->on_chip_places = cnnvp_arena_array(&plan->arena, graph->tensor_count, sizeof *plan->on_chip_places);
    return plan->arena.failed ? cnnvp_compiler_no_memory(error) : CNNVP_DONE;
}

void cnnvp_plan_clear(struct cnnvp_plan *plan)
{
    cnnvp_arena_free(&plan->arena);
    *plan = (struct cnnvp_plan){0};
}

/* ---- names ---- */

/* Unique names of layers, or of tensors. */
struct names {
    struct cnnvp_names numbers;
    const char **of; /* by number; NULL: plans cannot name this one */
};

static int add_name(struct cnnvp_arena *arena, struct names *names, const char *name, size_t number)
{
    const char *unique = name;
    uint32_t other;
    for (size_t n = 2; unique != NULL && cnnvp_names_get(&names->numbers, unique, &other); ++n)
        unique = cnnvp_arena_printf(arena, "%s#%zu", name, n);
    names->of[number] = unique;
    return unique != NULL && cnnvp_names_set(&names->numbers, unique, (uint32_t)number);
}

/* 1: a base tensor that a layer makes, or the network's first input. Other tensors were folded away. */
static int is_there(const struct cnnvp_graph *graph, int32_t tensor)
{
    int there = tensor == cnnvp_graph_base(graph, graph->input); /* further inputs always stay in memory */
    for (size_t i = 0; i < graph->layer_count; ++i)
        there |= cnnvp_graph_base(graph, graph->layers[i].out) == tensor;
    return there && graph->tensors[tensor].base == CNNVP_GRAPH_NONE;
}

struct all_names {
    struct names layers, tensors;
};

static void names_clear(struct all_names *names)
{
    cnnvp_names_clear(&names->layers.numbers);
    cnnvp_names_clear(&names->tensors.numbers);
}

static cnnvp_result name_all(const struct cnnvp_graph *graph, struct cnnvp_arena *arena, struct all_names *names,
                             struct cnnvp_error *error)
{
    names->layers.of = cnnvp_arena_array(arena, graph->layer_count, sizeof *names->layers.of);
    names->tensors.of = cnnvp_arena_array(arena, graph->tensor_count, sizeof *names->tensors.of);
    int named = !arena->failed;
    for (size_t i = 0; i < graph->layer_count && named; ++i)
        named = add_name(arena, &names->layers, graph->layers[i].name, i);
    for (size_t i = 0; i < graph->tensor_count && named; ++i)
        if (is_there(graph, (int32_t)i))
            named = add_name(arena, &names->tensors, graph->tensors[i].name, i);
    return named ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
}

struct reader {
    const struct cnnvp_graph *graph;
    struct cnnvp_plan *plan;
    struct cnnvp_error *error;
    struct all_names names;
};

/* Finds a name and returns its number. `what`: "layer" or "tensor", for messages. */
static cnnvp_result find(struct reader *reader, const struct names *names, size_t count, const char *what,
                         const char *name, const char *place, size_t *number)
{
    char all[32];
    uint32_t found;
    struct cnnvp_suggest suggest;
    if (cnnvp_names_get(&names->numbers, name, &found)) {
        *number = found;
        return CNNVP_DONE;
    }
    cnnvp_suggest_begin(&suggest, name);
    for (size_t i = 0; i < count; ++i)
        if (names->of[i] != NULL)
            cnnvp_suggest_offer(&suggest, names->of[i]);
    (void)snprintf(all, sizeof all, "its %ss are", what);
    return cnnvp_config_error(reader->error, place, "the network has no %s %s%s", what, cnnvp_config_show(name).text,
                              cnnvp_suggest_text(&suggest, all));
}

static cnnvp_result find_layer(struct reader *reader, const char *name, const char *place, size_t *layer)
{
    return find(reader, &reader->names.layers, reader->graph->layer_count, "layer", name, place, layer);
}

static cnnvp_result find_tensor(struct reader *reader, const char *name, const char *place, size_t *tensor)
{
    return find(reader, &reader->names.tensors, reader->graph->tensor_count, "tensor", name, place, tensor);
}

/* ---- values ---- */

static cnnvp_result expect(struct reader *reader, const struct cnnvp_yaml_node *node, enum cnnvp_yaml_kind kind,
                           const char *what)
{
    if (node->kind == kind && !cnnvp_yaml_is_null(node))
        return CNNVP_DONE;
    return cnnvp_config_error(reader->error, node->place, "%s where %s is expected", cnnvp_yaml_kind_name(node), what);
}

static int to_number(const char *text, uint32_t *number)
{
    char *end = NULL;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 || value > INT32_MAX)
        return 0;
    *number = (uint32_t)value;
    return 1;
}

static cnnvp_result read_number(struct reader *reader, const struct cnnvp_yaml_node *node, uint32_t *number)
{
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_SCALAR, "a number"));
    if (to_number(node->text, number))
        return CNNVP_DONE;
    return cnnvp_config_error(reader->error, node->place, "%s: %s is no whole number from 1 on", node->key,
                              cnnvp_config_show(node->text).text);
}

typedef cnnvp_result (*read_fn)(struct reader *reader, const struct cnnvp_yaml_node *node);

/* Calls `read` for all children of a list or a map. */
static cnnvp_result read_all(struct reader *reader, const struct cnnvp_yaml_node *all, enum cnnvp_yaml_kind kind,
                             const char *what, read_fn read)
{
    CNNVP_TRY(expect(reader, all, kind, what));
    for (const struct cnnvp_yaml_node *node = all->children; node != NULL; node = node->next)
        CNNVP_TRY(read(reader, node));
    return CNNVP_DONE;
}

static cnnvp_result read_word(struct reader *reader, const struct cnnvp_yaml_node *node, const char *const *words,
                              size_t count, const char *what, uint32_t *number)
{
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_SCALAR, what));
    for (*number = 0; *number < count; ++*number)
        if (strcmp(node->text, words[*number]) == 0)
            return CNNVP_DONE;
    return cnnvp_config_error(
        reader->error, node->place, "%s: %s where %s is expected", node->key, cnnvp_config_show(node->text).text, what);
}

/* Reads a word as its number from 1 on. No node: 0, none is chosen. */
static cnnvp_result read_choice(struct reader *reader, const struct cnnvp_yaml_node *node, const char *const *words,
                                size_t count, const char *what, uint32_t *choice)
{
    *choice = 0;
    if (node == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(read_word(reader, node, words, count, what, choice));
    ++*choice;
    return CNNVP_DONE;
}

/* ---- order of blocks ---- */

static const char *const orders[] = {"morton", "table", "raster"};

static const char *order_name(const struct cnnvp_block_order *order)
{
    return order->name != NULL ? order->name : orders[0];
}

static cnnvp_result read_block(struct reader *reader, const struct cnnvp_yaml_node *node, uint32_t *block)
{
    uint32_t at[2] = {0, 0};
    const struct cnnvp_yaml_node *coordinate = node->kind == CNNVP_YAML_LIST ? node->children : NULL;
    for (size_t i = 0; i < 2; ++i, coordinate = coordinate->next) {
        const int there = coordinate != NULL && coordinate->kind == CNNVP_YAML_SCALAR && node->child_count == 2;
        if (!there || (strcmp(coordinate->text, "0") != 0 && !to_number(coordinate->text, &at[i])) ||
            at[i] > UINT16_MAX)
            return cnnvp_config_error(reader->error, there ? coordinate->place : node->place,
                                      "a block is [x, y], two whole numbers from 0 on");
    }
    *block = at[0] | at[1] << 16;
    return CNNVP_DONE;
}

static cnnvp_result read_order_file(struct reader *reader, const char *file)
{
    static const char *const key = "blocks";
    struct cnnvp_plan *plan = reader->plan;
    struct cnnvp_block_order *order = &plan->order;
    struct cnnvp_yaml_node *root = NULL;
    const struct cnnvp_yaml_node *list;
    CNNVP_TRY(cnnvp_yaml_read(&plan->arena, file, key, &root, reader->error));
    CNNVP_TRY(cnnvp_yaml_members(root, &key, 1, "there is", &list, reader->error));
    if (list == NULL || list->kind != CNNVP_YAML_LIST || list->child_count == 0)
        return cnnvp_config_error(
            reader->error, list != NULL ? list->place : root->place, "an order is blocks: [[0, 0], [1, 0], ...]");
    CNNVP_FREED char *path = realpath(file, NULL);
    order->file = file;
    order->name = cnnvp_arena_printf(&plan->arena, "%s", path != NULL ? path : file);
    order->place = list->place;
    order->blocks = cnnvp_arena_array(&plan->arena, list->child_count, sizeof *order->blocks);
    order->places = cnnvp_arena_array(&plan->arena, list->child_count, sizeof *order->places);
    CNNVP_TRY_MEMORY(!plan->arena.failed, reader->error);
    for (const struct cnnvp_yaml_node *node = list->children; node != NULL; node = node->next) {
        order->places[order->count] = node->place;
        CNNVP_TRY(read_block(reader, node, &order->blocks[order->count++]));
    }
    return CNNVP_DONE;
}

/* The file that `order` names, beside the plan; NULL: it names none that is there, or memory is short. */
static const char *order_file(struct cnnvp_arena *arena, const char *plan, const struct cnnvp_yaml_node *node)
{
    const char *folder = cnnvp_config_folder(arena, plan);
    int is_word = folder == NULL || node == NULL || node->kind != CNNVP_YAML_SCALAR;
    for (size_t i = 0; i < COUNT(orders) && !is_word; ++i)
        is_word = strcmp(node->text, orders[i]) == 0;
    if (is_word)
        return NULL;
    const char *file = node->text[0] == '/' || strcmp(folder, ".") == 0
                           ? node->text
                           : cnnvp_arena_printf(arena, "%s/%s", folder, node->text);
    return file != NULL && *node->text != '\0' && access(file, F_OK) == 0 ? file : NULL;
}

static cnnvp_result read_order(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    struct cnnvp_plan *plan = reader->plan;
    uint32_t order;
    const char *file = order_file(&plan->arena, plan->file, node);
    CNNVP_TRY_MEMORY(!plan->arena.failed, reader->error);
    if (file != NULL)
        return read_order_file(reader, file);
    CNNVP_TRY(read_word(reader, node, orders, COUNT(orders), "morton, table, raster or the file of an order", &order));
    plan->order = (struct cnnvp_block_order){
        .name = order != 0 ? orders[order] : NULL, .by_rows = order == 2, .file = plan->file, .place = node->place};
    return CNNVP_DONE;
}

/* ---- groups ---- */

static cnnvp_result read_member(struct reader *reader, const struct cnnvp_yaml_node *node, size_t *layer)
{
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_SCALAR, "the name of a layer"));
    return find_layer(reader, node->text, node->place, layer);
}

static cnnvp_result read_run(struct reader *reader, const struct cnnvp_yaml_node *list, struct cnnvp_plan_run *run)
{
    CNNVP_TRY(expect(reader, list, CNNVP_YAML_LIST, "a list of layers"));
    for (const struct cnnvp_yaml_node *node = list->children; node != NULL; node = node->next) {
        size_t layer = 0;
        CNNVP_TRY(read_member(reader, node, &layer));
        if (run->count != 0 && layer != run->first + run->count)
            return cnnvp_config_error(
                reader->error, node->place,
                "layer %s does not run after \"%s\": a group is layers one after the other, and "
                "the next one is \"%s\"",
                cnnvp_config_show(node->text).text, reader->graph->layers[run->first + run->count - 1].name,
                run->first + run->count < reader->graph->layer_count
                    ? reader->graph->layers[run->first + run->count].name
                    : "none");
        if (run->count == 0)
            run->first = layer;
        ++run->count;
    }
    if (run->count < 2)
        return cnnvp_config_error(reader->error, list->place, "a group has two layers or more");
    return CNNVP_DONE;
}

static cnnvp_result check_run(struct reader *reader, const struct cnnvp_yaml_node *node,
                              const struct cnnvp_plan_run *run)
{
    const struct cnnvp_graph_tensor *out =
        &reader->graph->tensors[reader->graph->layers[run->first + run->count - 1].out];
    if (run->tile_h > out->height || run->tile_w > out->width)
        return cnnvp_config_error(
            reader->error, node->place, "the group's tile is %u x %u; what its last layer gives is %u x %u",
            run->tile_h, run->tile_w, out->height, out->width);
    for (size_t i = 0; i < reader->plan->run_count; ++i) {
        const struct cnnvp_plan_run *other = &reader->plan->runs[i];
        if (run->first < other->first + other->count && other->first < run->first + run->count)
            return cnnvp_config_error(
                reader->error, node->place, "layer \"%s\" is in another group already",
                reader->graph->layers[run->first > other->first ? run->first : other->first].name);
        if (run->first < other->first)
            return cnnvp_config_error(reader->error, node->place,
                                      "groups stand in the order in which their layers run; this one belongs before "
                                      "that of \"%s\"",
                                      reader->graph->layers[other->first].name);
    }
    return CNNVP_DONE;
}

enum { MEMBERS, LAYERS, TILE_H, TILE_W, HALO, ORDER, BLOCK, GROUP_KEYS };
static const char *const group_keys[GROUP_KEYS] = {"members", "layers", "tile_h", "tile_w", "halo", "order", "block"};
static const char *const needed[GROUP_KEYS] = {
    "members: the names of its layers",
    "",
    "tile_h: rows of a tile of what its last layer gives",
    "tile_w: columns of a tile of what its last layer gives",
    ("halo: " GROUP_HALOS ", how tiles come to what their neighbours need as well"),
    "",
    "block: the side of its blocks, a power of two"};

/* Refuses keys of the other kind of groups, and groups without one of their own. */
static cnnvp_result check_keys(struct reader *reader, const struct cnnvp_yaml_node *node,
                               const struct cnnvp_yaml_node *const *found, const size_t *own, const size_t *others,
                               const char *others_are)
{
    for (size_t i = 0; i < 2; ++i)
        if (found[others[i]] != NULL)
            return cnnvp_config_error(
                reader->error, found[others[i]]->key_place, "%s is that of %s", group_keys[others[i]], others_are);
    for (size_t i = 0; own[i] != GROUP_KEYS; ++i)
        if (found[own[i]] == NULL)
            return cnnvp_config_error(reader->error, node->place, "the group needs %s", needed[own[i]]);
    return CNNVP_DONE;
}

static cnnvp_result read_fused(struct reader *reader, const struct cnnvp_yaml_node *node,
                               const struct cnnvp_yaml_node *const *found, const struct cnnvp_yaml_node *members)
{
    static const size_t own[] = {TILE_H, TILE_W, HALO, GROUP_KEYS}, others[] = {ORDER, BLOCK};
    struct cnnvp_plan_run run = {.place = node->place};
    uint32_t halo = 0;
    CNNVP_TRY(check_keys(reader, node, found, own, others, "depth-first groups, with halo: " PADDING));
    CNNVP_TRY(read_run(reader, members, &run));
    CNNVP_TRY(read_number(reader, found[TILE_H], &run.tile_h));
    CNNVP_TRY(read_number(reader, found[TILE_W], &run.tile_w));
    CNNVP_TRY(read_word(reader, found[HALO], cnnvp_plan_halos, COUNT(cnnvp_plan_halos), GROUP_HALOS, &halo));
    run.halo = (enum cnnvp_group_halo)halo;
    CNNVP_TRY(check_run(reader, node, &run));
    reader->plan->runs[reader->plan->run_count++] = run;
    return CNNVP_DONE;
}

/* The guest's binary has one order and one side of blocks for all chains. */
static cnnvp_result read_blocks(struct reader *reader, const struct cnnvp_yaml_node *const *found)
{
    struct cnnvp_plan *plan = reader->plan;
    const struct cnnvp_block_order first = plan->order;
    const uint32_t block = plan->block;
    CNNVP_TRY(read_number(reader, found[BLOCK], &plan->block));
    if (!cnnvp_is_power_of_two(plan->block))
        return cnnvp_config_error(reader->error, found[BLOCK]->place, "block: %u is no power of two", plan->block);
    if (block != 0 && plan->block != block)
        return cnnvp_config_error(reader->error, found[BLOCK]->place,
                                  "block: %u, but %u in the first group: all have the same", plan->block, block);
    plan->order = (struct cnnvp_block_order){0};
    if (found[ORDER] != NULL)
        CNNVP_TRY(read_order(reader, found[ORDER]));
    if (block != 0 && strcmp(order_name(&plan->order), order_name(&first)) != 0)
        return cnnvp_config_error(
            reader->error, (found[ORDER] != NULL ? found[ORDER] : found[BLOCK])->place,
            "order: %s, but %s in the first group: all have the same", order_name(&plan->order), order_name(&first));
    return CNNVP_DONE;
}

static cnnvp_result read_chain(struct reader *reader, const struct cnnvp_yaml_node *node,
                               const struct cnnvp_yaml_node *const *found, const struct cnnvp_yaml_node *members)
{
    static const size_t own[] = {BLOCK, GROUP_KEYS}, others[] = {TILE_H, TILE_W};
    struct cnnvp_plan *plan = reader->plan;
    size_t layer = 0, before = 0;
    CNNVP_TRY(check_keys(reader, node, found, own, others, "fused groups; depth-first ones have block"));
    CNNVP_TRY(read_blocks(reader, found));
    CNNVP_TRY(expect(reader, members, CNNVP_YAML_LIST, "a list of layers"));
    if (members->children == NULL)
        return cnnvp_config_error(reader->error, members->place, "a group has one layer or more");
    for (const struct cnnvp_yaml_node *name = members->children; name != NULL; name = name->next, before = layer) {
        CNNVP_TRY(read_member(reader, name, &layer));
        if (plan->chain_places[layer] != NULL)
            return cnnvp_config_error(
                reader->error, name->place, "layer %s is in a group already", cnnvp_config_show(name->text).text);
        plan->chain_places[layer] = name->place;
        plan->chained[layer] = CNNVP_GRAPH_NONE;
        if (name != members->children)
            plan->chained[before] = (int32_t)layer;
    }
    return CNNVP_DONE;
}

/* The node under a key of a map; NULL: there is none. */
static const struct cnnvp_yaml_node *under(const struct cnnvp_yaml_node *map, const char *key)
{
    const struct cnnvp_yaml_node *node = map->kind == CNNVP_YAML_MAP ? map->children : NULL;
    while (node != NULL && strcmp(node->key, key) != 0)
        node = node->next;
    return node;
}

const char *cnnvp_plan_order_file(struct cnnvp_arena *arena, const char *plan)
{
    struct cnnvp_error ignored;
    struct cnnvp_yaml_node *root;
    if (cnnvp_yaml_read(arena, plan, "groups", &root, &ignored) != CNNVP_DONE)
        return NULL;
    const struct cnnvp_yaml_node *order = under(root, "order"), *groups = under(root, "groups");
    for (const struct cnnvp_yaml_node *group = groups != NULL ? groups->children : NULL; group != NULL && order == NULL;
         group = group->next)
        order = under(group, "order");
    return order_file(arena, plan, order);
}

/* ---- constraints ---- */

static cnnvp_result take_halo(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    struct cnnvp_plan *plan = reader->plan;
    if (plan->halo_place != NULL)
        return cnnvp_config_error(reader->error, node->key_place, "halo stands at %s already", plan->halo_place);
    CNNVP_TRY(read_choice(reader, node, cnnvp_plan_halos, COUNT(cnnvp_plan_halos), HALOS, &plan->halo));
    plan->halo_place = node->key_place;
    return CNNVP_DONE;
}

static cnnvp_result take_order(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    struct cnnvp_plan *plan = reader->plan;
    if (plan->order_place != NULL)
        return cnnvp_config_error(reader->error, node->key_place, "order stands at %s already", plan->order_place);
    CNNVP_TRY(read_order(reader, node));
    plan->order_place = node->key_place;
    return CNNVP_DONE;
}

static cnnvp_result read_group(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    const struct cnnvp_yaml_node *found[GROUP_KEYS];
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_MAP, "a group"));
    CNNVP_TRY(cnnvp_yaml_members(node, group_keys, GROUP_KEYS, "there are", found, reader->error));
    const struct cnnvp_yaml_node *members = found[MEMBERS] != NULL ? found[MEMBERS] : found[LAYERS];
    if (found[MEMBERS] != NULL && found[LAYERS] != NULL)
        return cnnvp_config_error(
            reader->error, found[LAYERS]->key_place, "layers is the older name of members: use one of the two");
    const int pads =
        found[HALO] != NULL && found[HALO]->kind == CNNVP_YAML_SCALAR && strcmp(found[HALO]->text, PADDING) == 0;
    const size_t rules = (size_t)(found[HALO] != NULL) + (size_t)(found[ORDER] != NULL);
    if (members == NULL && node->child_count == rules && rules > (size_t)(pads && found[ORDER] == NULL)) {
        if (found[HALO] != NULL && !pads)
            CNNVP_TRY(take_halo(reader, found[HALO]));
        return found[ORDER] != NULL ? take_order(reader, found[ORDER]) : CNNVP_DONE;
    }
    if (members == NULL)
        return cnnvp_config_error(reader->error, node->place, "the group needs %s", needed[MEMBERS]);
    return pads ? read_chain(reader, node, found, members) : read_fused(reader, node, found, members);
}

/* ---- cuts ---- */

static cnnvp_result read_cut(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    enum { NEEDED = 5, UNIT = 7, FUNCTION, KEYS };
    static const char *const keys[KEYS] = {
        "group_out", "tile_h", "tile_w", "tile_in", "tile_out", "tile_kx", "tile_ky", "unit", "function"};
    const struct cnnvp_yaml_node *found[KEYS];
    struct cnnvp_plan_cut cut = {.tile_images = 1};
    uint32_t *const values[UNIT] = {
        &cut.group_out, &cut.tile_h, &cut.tile_w, &cut.tile_in, &cut.tile_out, &cut.tile_kx, &cut.tile_ky};
    size_t layer = 0, tiles = 0;
    CNNVP_TRY(find_layer(reader, node->key, node->key_place, &layer));
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_MAP,
                     "a map of group_out, tile_h, tile_w, tile_in, tile_out, unit or function"));
    CNNVP_TRY(cnnvp_yaml_members(node, keys, KEYS, "there are", found, reader->error));
    for (size_t i = 0; i < UNIT; ++i) {
        tiles += found[i] != NULL;
        if (found[i] != NULL)
            CNNVP_TRY(read_number(reader, found[i], values[i]));
    }
    CNNVP_TRY(read_choice(reader, found[UNIT], units, COUNT(units), "pe_array or vector", &cut.unit));
    CNNVP_TRY(read_choice(reader, found[FUNCTION], functions, COUNT(functions), "vector or write_out", &cut.function));
    const int whole = tiles != 0 || (cut.unit == CNNVP_PLAN_ANY_UNIT && cut.function == CNNVP_PLAN_ANY_FUNCTION);
    for (size_t i = 0; i < NEEDED && whole; ++i)
        if (*values[i] == 0)
            CNNVP_TRY(
                cnnvp_config_error(reader->error, node->place, "the cut of \"%s\" needs %s too", node->key, keys[i]));
    reader->plan->cuts[layer] = cut;
    reader->plan->cut_places[layer] = node->place;
    return CNNVP_DONE;
}

/* ---- tensors ---- */

static cnnvp_result read_resident(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    size_t tensor = 0;
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_SCALAR, "the name of a tensor"));
    CNNVP_TRY(find_tensor(reader, node->text, node->place, &tensor));
    if (cnnvp_graph_is_output(reader->graph, (int32_t)tensor))
        return cnnvp_config_error(
            reader->error, node->place,
            "\"%s\" is an output of the network, which leaves the chip; take it from the list", node->text);
    if (cnnvp_graph_is_weights(reader->graph, (int32_t)tensor))
        return cnnvp_config_error(
            reader->error, node->place,
            "\"%s\" is multiplied with another tensor, as weights, which come from memory; take it from the list",
            node->text);
    reader->plan->on_chip[tensor] = 1;
    reader->plan->on_chip_places[tensor] = node->place;
    return CNNVP_DONE;
}

static cnnvp_result read_layout(struct reader *reader, const struct cnnvp_yaml_node *node, size_t tensor)
{
    static const char blocks[] = "blocks-";
    const size_t prefix = sizeof blocks - 1u;
    uint32_t *channels = &reader->plan->blocks[tensor];
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_SCALAR, LAYOUTS));
    reader->plan->block_places[tensor] = node->place;
    *channels = strcmp(node->text, "pixels") == 0 ? reader->graph->tensors[tensor].channels : 1u;
    if (strcmp(node->text, "pixels") == 0 || strcmp(node->text, "planes") == 0)
        return CNNVP_DONE;
    if (strncmp(node->text, blocks, prefix) == 0 && to_number(node->text + prefix, channels))
        return CNNVP_DONE;
    return cnnvp_config_error(reader->error, node->place, "memory_layout: %s where %s is expected",
                              cnnvp_config_show(node->text).text, LAYOUTS);
}

static cnnvp_result read_tensor(struct reader *reader, const struct cnnvp_yaml_node *node)
{
    static const char *const key = "memory_layout";
    const struct cnnvp_yaml_node *layout;
    size_t tensor = 0;
    CNNVP_TRY(find_tensor(reader, node->key, node->key_place, &tensor));
    CNNVP_TRY(expect(reader, node, CNNVP_YAML_MAP, "a map with memory_layout"));
    CNNVP_TRY(cnnvp_yaml_members(node, &key, 1, "there are", &layout, reader->error));
    return layout != NULL ? read_layout(reader, layout, tensor) : CNNVP_DONE;
}

/* What stands beside depth-first groups that they do not have. */
static cnnvp_result check_chains(struct reader *reader)
{
    const struct cnnvp_plan *plan = reader->plan;
    const struct cnnvp_graph *graph = reader->graph;
    const char *rule = plan->halo_place != NULL ? plan->halo_place : plan->order_place;
    if (rule != NULL)
        return cnnvp_config_error(reader->error, rule, "the plan's depth-first groups have their own halo and order");
    if (plan->run_count != 0)
        return cnnvp_config_error(reader->error, plan->runs[0].place,
                                  "a plan's groups are all depth-first ones, with halo: " PADDING ", or none is");
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (plan->chain_places[i] != NULL && plan->cuts[i].group_out != 0)
            return cnnvp_config_error(
                reader->error, plan->cut_places[i],
                "layer \"%s\" is in a depth-first group, whose blocks cut it: a cut of it says unit "
                "or function alone",
                graph->layers[i].name);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (plan->on_chip[i] || plan->blocks[i] > 1)
            return cnnvp_config_error(
                reader->error, plan->on_chip[i] ? plan->on_chip_places[i] : plan->block_places[i],
                "tensor \"%s\" lies in memory, in planes, beside depth-first groups", graph->tensors[i].name);
    return CNNVP_DONE;
}

static cnnvp_result read_root(struct reader *reader, const struct cnnvp_yaml_node *root)
{
    static const char *const keys[] = {"groups", "cuts", "on_chip", "tensors", "halo", "order"};
    enum { PARTS = 4 };
    static const struct {
        enum cnnvp_yaml_kind kind;
        const char *what;
        read_fn read;
    } parts[PARTS] = {{CNNVP_YAML_LIST, "a list of groups", read_group},
                      {CNNVP_YAML_MAP, "a map of layers", read_cut},
                      {CNNVP_YAML_LIST, "a list of tensors", read_resident},
                      {CNNVP_YAML_MAP, "a map of tensors", read_tensor}};
    struct cnnvp_plan *plan = reader->plan;
    const struct cnnvp_yaml_node *found[COUNT(keys)];
    CNNVP_TRY(name_all(reader->graph, &plan->arena, &reader->names, reader->error));
    CNNVP_TRY(cnnvp_yaml_members(root, keys, COUNT(keys), "there are", found, reader->error));
    for (size_t i = 0; i < PARTS; ++i)
        if (found[i] != NULL)
            CNNVP_TRY(read_all(reader, found[i], parts[i].kind, parts[i].what, parts[i].read));
    const int only_rules =
        plan->run_count == 0 && plan->block == 0 && (plan->halo_place != NULL || plan->order_place != NULL);
    if (found[PARTS] != NULL)
        CNNVP_TRY(take_halo(reader, found[PARTS]));
    if (found[PARTS + 1] != NULL)
        CNNVP_TRY(take_order(reader, found[PARTS + 1]));
    for (const struct cnnvp_yaml_node *child = root->children; child != NULL; child = child->next)
        if (child != found[PARTS] && child != found[PARTS + 1] && !(only_rules && child == found[0]) &&
            plan->choice_place == NULL)
            plan->choice_place = child->key_place;
    return plan->block != 0 ? check_chains(reader) : CNNVP_DONE;
}

cnnvp_result cnnvp_plan_read(const struct cnnvp_graph *graph, const char *file, struct cnnvp_plan *plan,
                             struct cnnvp_error *error)
{
    struct reader reader = {.graph = graph, .plan = plan, .error = error};
    struct cnnvp_yaml_node *root = NULL;
    cnnvp_result result = cnnvp_plan_new(graph, plan, error);
    plan->file = file;
    if (result == CNNVP_DONE)
        result = cnnvp_yaml_read(&plan->arena, file, "groups, cuts, on_chip, tensors", &root, error);
    if (result == CNNVP_DONE)
        result = read_root(&reader, root);
    names_clear(&reader.names);
    return result;
}

/* ---- writing ---- */

static void put_member(FILE *stream, const char *name, int is_first)
{
    (void)fprintf(stream, is_first ? "  - members: [" : ", ");
    cnnvp_yaml_print_quoted(stream, name);
}

static void put_groups(FILE *stream, const char *const *names, const struct cnnvp_plan *plan)
{
    for (size_t g = 0; g < plan->run_count; ++g) {
        const struct cnnvp_plan_run *run = &plan->runs[g];
        for (size_t i = run->first; i < run->first + run->count; ++i)
            put_member(stream, names[i], i == run->first);
        (void)fprintf(stream, "]\n    tile_h: %u\n    tile_w: %u\n    halo: %s\n", run->tile_h, run->tile_w,
                      cnnvp_plan_halos[run->halo]);
    }
}

static int begins_chain(const struct cnnvp_plan *plan, size_t layer, size_t count)
{
    int begins = plan->chain_places[layer] != NULL;
    for (size_t i = 0; i < count; ++i)
        begins &= plan->chain_places[i] == NULL || plan->chained[i] != (int32_t)layer;
    return begins;
}

static void put_chains(FILE *stream, const char *const *names, size_t count, const struct cnnvp_plan *plan)
{
    for (size_t i = 0; i < count; ++i) {
        if (!begins_chain(plan, i, count))
            continue;
        for (int32_t at = (int32_t)i; at != CNNVP_GRAPH_NONE; at = plan->chained[at])
            put_member(stream, names[at], at == (int32_t)i);
        (void)fprintf(stream, "]\n    halo: " PADDING "\n    order: ");
        if (plan->order.blocks != NULL)
            cnnvp_yaml_print_quoted(stream, plan->order.name);
        else
            (void)fputs(order_name(&plan->order), stream);
        (void)fprintf(stream, "\n    block: %u\n", plan->block);
    }
}

/* Writes the cut's members after `{`, those that are chosen. */
static void put_cut(FILE *stream, const struct cnnvp_plan_cut *cut)
{
    const char *before = "";
    if (cut->group_out != 0) {
        (void)fprintf(stream, "group_out: %u, tile_h: %u, tile_w: %u, tile_in: %u, tile_out: %u", cut->group_out,
                      cut->tile_h, cut->tile_w, cut->tile_in, cut->tile_out);
        before = ", ";
    }
    if (cut->tile_kx != 0)
        (void)fprintf(stream, ", tile_kx: %u", cut->tile_kx);
    if (cut->tile_ky != 0)
        (void)fprintf(stream, ", tile_ky: %u", cut->tile_ky);
    if (cut->unit != CNNVP_PLAN_ANY_UNIT) {
        (void)fprintf(stream, "%sunit: %s", before, units[cut->unit - 1u]);
        before = ", ";
    }
    if (cut->function != CNNVP_PLAN_ANY_FUNCTION)
        (void)fprintf(stream, "%sfunction: %s", before, functions[cut->function - 1u]);
}

static void put_cuts(FILE *stream, const char *const *names, const struct cnnvp_graph *graph,
                     const struct cnnvp_plan *plan)
{
    (void)fprintf(stream, "cuts:\n");
    for (size_t i = 0; i < graph->layer_count; ++i) {
        (void)fprintf(stream, "  ");
        cnnvp_yaml_print_quoted(stream, names[i]);
        (void)fprintf(stream, ": {");
        put_cut(stream, &plan->cuts[i]);
        (void)fprintf(stream, "}\n");
    }
}

static void put_tensors(FILE *stream, const char *const *names, const struct cnnvp_graph *graph,
                        const struct cnnvp_plan *plan)
{
    int any = 0;
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        if (plan->blocks[i] <= 1)
            continue;
        (void)fprintf(stream, any ? "  " : "tensors:\n  ");
        cnnvp_yaml_print_quoted(stream, names[i]);
        if (plan->blocks[i] == graph->tensors[i].channels)
            (void)fprintf(stream, ": {memory_layout: pixels}\n");
        else
            (void)fprintf(stream, ": {memory_layout: blocks-%u}\n", plan->blocks[i]);
        any = 1;
    }
}

cnnvp_result cnnvp_plan_write(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan, const char *file,
                              struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    CNNVP_SCOPED(names_clear) struct all_names names = {0};
    struct cnnvp_printed printed;
    int any = 0;
    CNNVP_TRY(name_all(graph, &arena, &names, error));
    FILE *stream = cnnvp_print_begin(&printed);
    CNNVP_TRY_MEMORY(stream != NULL, error);
    (void)fprintf(stream, plan->run_count != 0 || plan->block != 0 ? "groups:\n" : "groups: []\n");
    put_groups(stream, names.layers.of, plan);
    put_chains(stream, names.layers.of, graph->layer_count, plan);
    put_cuts(stream, names.layers.of, graph, plan);
    (void)fprintf(stream, "on_chip: [");
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        if (!plan->on_chip[i])
            continue;
        (void)fprintf(stream, "%s", any ? ", " : "");
        cnnvp_yaml_print_quoted(stream, names.tensors.of[i]);
        any = 1;
    }
    (void)fprintf(stream, "]\n");
    put_tensors(stream, names.tensors.of, graph, plan);
    CNNVP_FREED char *text = cnnvp_print_end(&printed);
    return text != NULL ? cnnvp_output_whole(file, text, printed.size, error) : cnnvp_compiler_no_memory(error);
}
