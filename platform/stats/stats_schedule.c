/* SPDX-License-Identifier: Apache-2.0 */
/* The member `schedule`: layers that run block by block or tile by tile, and tensors that stay on chip. */
#include "stats_builder.h"

static const char *name_of(const struct cnnvp_work_info *work, size_t layer)
{
    return layer < work->layer_count ? work->layers[layer].name : "";
}

/* Appends a line with the first and last layer. */
static json_t *add_line(struct stats_builder *b, json_t *list, size_t first, size_t last)
{
    json_t *line = append_object(b, list);

    set_text(b, line, "first", name_of(&b->stats->work, first));
    set_text(b, line, "last", name_of(&b->stats->work, last));
    return line;
}

/* Depth first: chains that run block by block. */
static void add_chains(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_work_info *work = &b->stats->work;
    json_t *object = set_object(b, root, "schedule");

    set_text(b, object, "name", "depth-first");
    set_count(b, object, "block", work->block);
    set_text(b, object, "order", work->order);

    json_t *chains = set_array(b, object, "chains");

    for (size_t i = 0; i < work->chain_count && !b->failed; ++i) {
        const struct cnnvp_chain_info *chain = &work->chains[i];
        json_t *line = add_line(b, chains, chain->first_layer, chain->last_layer);

        set_count(b, line, "layers", chain->layer_count);
        set_count(b, line, "blocks", chain->blocks);
        set_text(b, line, "issued_by", chain->scheduled ? "scheduler" : "guest");
        set_text(b, line, "issue_reason", chain->issue_reason != NULL ? chain->issue_reason : "");
        set_count(b, line, "weight_bytes", chain->weight_bytes);
        set_count(b, line, "resident_weight_bytes", chain->resident_weight_bytes);
    }
}

static void add_groups(struct stats_builder *b, json_t *groups)
{
    const struct cnnvp_work_info *work = &b->stats->work;

    for (size_t i = 0; i < work->group_count && !b->failed; ++i) {
        const struct cnnvp_group_info *group = &work->groups[i];
        json_t *line = add_line(b, groups, group->first_layer, group->first_layer + group->layer_count - 1);

        set_count(b, line, "layers", group->layer_count);
        set_count(b, line, "tile_rows", group->tile_rows);
        set_count(b, line, "tile_columns", group->tile_columns);
        set_count(b, line, "tile_h", group->tile_h);
        set_count(b, line, "tile_w", group->tile_w);
        set_text(b, line, "halo", group->halo);
        set_count(b, line, "slot_bytes", group->slot_bytes);
        set_count(b, line, "weight_bytes", group->weight_bytes);
        set_count(b, line, "resident_weight_bytes", group->resident_weight_bytes);
    }
}

/* Fused groups and resident tensors. */
static void add_plan(struct stats_builder *b, json_t *root)
{
    const struct cnnvp_work_info *work = &b->stats->work;
    json_t *object = set_object(b, root, "schedule");

    set_text(b, object, "name", work->schedule);
    add_groups(b, set_array(b, object, "groups"));

    json_t *on_chip = set_array(b, object, "on_chip");
    json_t *residents = set_array(b, object, "residents");

    for (size_t i = 0; i < work->resident_count && !b->failed; ++i) {
        const struct cnnvp_resident_info *resident = &work->residents[i];
        json_t *line = add_line(b, residents, resident->first_layer, resident->last_layer);

        append(b, on_chip, json_string(resident->tensor));
        set_text(b, line, "tensor", resident->tensor);
        set_count(b, line, "half", resident->half);
        set_count(b, line, "bytes", resident->bytes);
    }
}

void cnnvp_stats_add_schedule(struct stats_builder *b, json_t *root)
{
    if (b->stats->work.block != 0)
        add_chains(b, root);
    if (b->stats->work.schedule != NULL)
        add_plan(b, root);
}
