/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each of several accelerators has of its own in the binary: a header, and the tables that refer to maps, since
 * those between layers have places of their own. Accelerator k of n takes batches k, k + n, and so on; the places of
 * maps follow in this order. Tables that refer to no map are there once.
 */
#include <string.h>

#include "binary_internal.h"
#include "group_build.h"

static size_t chains_of(const struct cnnvp_build *build)
{
    return build->depth != NULL ? build->depth->chain_count : 0;
}

static size_t groups_of(const struct cnnvp_build *build)
{
    return build->fused != NULL ? build->fused->count : 0;
}

static struct cnnvp_binary_own own_from(const struct cnnvp_build *build, uint64_t at)
{
    struct cnnvp_binary_own own = {.header = at};
    own.layers = own.header + cnnvp_binary_align(sizeof build->header);
    own.chains = own.layers + cnnvp_binary_align(build->header.layer_count * sizeof *build->layers);
    own.chain_layers = own.chains + cnnvp_binary_align(chains_of(build) * sizeof(struct cnnvp_binary_chain));
    own.groups = own.chain_layers;
    if (chains_of(build) != 0)
        own.groups += cnnvp_binary_align(build->depth->layer_count * sizeof *build->depth->layers);
    own.members = own.groups + cnnvp_binary_align(groups_of(build) * sizeof(struct cnnvp_binary_group));
    own.end = own.members;
    if (groups_of(build) != 0)
        own.end += cnnvp_binary_align(build->fused->member_count * sizeof *build->fused->members);
    return own;
}

struct cnnvp_binary_own cnnvp_binary_own(const struct cnnvp_build *build, uint32_t accelerator)
{
    if (accelerator != 0)
        return own_from(build, build->shares.tables + (accelerator - 1u) * build->shares.table_bytes);
    struct cnnvp_binary_own own = {
        .header = build->shares.header,
        .layers = build->header.layers,
        .chains = build->header.chains,
        .groups = build->header.groups};
    if (chains_of(build) != 0)
        own.chain_layers = build->depth->chains[0].layers;
    if (groups_of(build) != 0)
        own.members = build->fused->table[0].members;
    return own;
}

uint64_t cnnvp_binary_place_header(struct cnnvp_build *build)
{
    build->shares.header = CNNVP_BINARY_ADDRESS;
    if (build->shares.count > 1)
        build->shares.header += cnnvp_binary_align(sizeof(struct cnnvp_accelerators_binary));
    return build->shares.header;
}

uint64_t cnnvp_binary_place_shares(struct cnnvp_build *build, uint64_t at)
{
    struct cnnvp_binary_shares *shares = &build->shares;
    if (shares->count == 1)
        return at;
    shares->tables = at;
    shares->table_bytes = own_from(build, at).end - at;
    shares->rooms = at + (shares->count - 1u) * shares->table_bytes;
    return shares->rooms + (uint64_t)shares->count * CNNVP_ROOM_BYTES;
}

static void share_tensor(const struct cnnvp_build *build, uint32_t accelerator, struct cnnvp_binary_tensor *tensor)
{
    tensor->address += accelerator * build->header.batch * tensor->batch_stride;
}

static void share_layer(const struct cnnvp_build *build, uint32_t accelerator, struct cnnvp_binary_layer *layer)
{
    share_tensor(build, accelerator, &layer->in);
    share_tensor(build, accelerator, &layer->in2);
    share_tensor(build, accelerator, &layer->out);
}

static void put(uint8_t *binary, uint64_t address, const void *data, size_t bytes)
{
    memcpy(binary + (address - CNNVP_BINARY_ADDRESS), data, bytes);
}

static void write_layers(const struct cnnvp_build *build, uint32_t accelerator, const struct cnnvp_binary_layer *layers,
                         size_t count, uint64_t address, uint8_t *binary)
{
    for (size_t i = 0; i < count; ++i) {
        struct cnnvp_binary_layer layer = layers[i];
        share_layer(build, accelerator, &layer);
        put(binary, address + i * sizeof layer, &layer, sizeof layer);
    }
}

static void write_chains(const struct cnnvp_build *build, uint32_t accelerator, const struct cnnvp_binary_own *own,
                         uint8_t *binary)
{
    const struct cnnvp_depth *depth = build->depth;
    for (size_t i = 0; i < chains_of(build); ++i) {
        struct cnnvp_binary_chain chain = depth->chains[i];
        chain.layers = (uint32_t)(own->chain_layers + (chain.layers - depth->chains[0].layers));
        share_tensor(build, accelerator, &chain.in);
        share_tensor(build, accelerator, &chain.out);
        put(binary, own->chains + i * sizeof chain, &chain, sizeof chain);
    }
    if (chains_of(build) != 0)
        write_layers(build, accelerator, depth->layers, depth->layer_count, own->chain_layers, binary);
}

static void write_groups(const struct cnnvp_build *build, uint32_t accelerator, const struct cnnvp_binary_own *own,
                         uint8_t *binary)
{
    const struct cnnvp_fused *fused = build->fused;
    for (size_t i = 0; i < groups_of(build); ++i) {
        struct cnnvp_binary_group group = fused->table[i];
        group.members = (uint32_t)(own->members + (group.members - fused->table[0].members));
        put(binary, own->groups + i * sizeof group, &group, sizeof group);
    }
    for (size_t i = 0; groups_of(build) != 0 && i < fused->member_count; ++i) {
        struct cnnvp_binary_member member = fused->members[i];
        share_layer(build, accelerator, &member.layer);
        put(binary, own->members + i * sizeof member, &member, sizeof member);
    }
}

static void write_own(const struct cnnvp_build *build, uint32_t accelerator, const struct cnnvp_binary_own *own,
                      uint8_t *binary)
{
    const struct cnnvp_binary_shares *shares = &build->shares;
    struct cnnvp_binary header = build->header;
    if (accelerator * header.batch >= header.images) /* there is nothing to do */
        header.flags &= ~(uint32_t)CNNVP_BINARY_PRELOAD;
    header.element = shares->all[accelerator].element;
    header.element_irq = shares->all[accelerator].element_irq;
    header.scheduler = shares->all[accelerator].scheduler;
    header.scheduler_irq = shares->all[accelerator].scheduler_irq;
    header.list += accelerator * header.list_bytes;
    header.layers = (uint32_t)own->layers;
    if (chains_of(build) != 0)
        header.chains = (uint32_t)own->chains;
    if (groups_of(build) != 0)
        header.groups = (uint32_t)own->groups;
    share_tensor(build, accelerator, &header.input);
    put(binary, own->header, &header, sizeof header);
    write_layers(build, accelerator, build->layers, header.layer_count, own->layers, binary);
    write_chains(build, accelerator, own, binary);
    write_groups(build, accelerator, own, binary);
}

void cnnvp_binary_write_shares(const struct cnnvp_build *build, uint8_t *binary)
{
    struct cnnvp_accelerators_binary list = {
        .magic = CNNVP_ACCELERATORS_BINARY_MAGIC,
        .version = CNNVP_BINARY_VERSION,
        .plic = build->header.plic,
        .clint = build->shares.clint,
        .rooms = (uint32_t)build->shares.rooms,
        .count = build->shares.count};
    if (list.count == 1)
        return;
    for (uint32_t i = 0; i < list.count; ++i) {
        const struct cnnvp_binary_own own = cnnvp_binary_own(build, i);
        list.binaries[i] = (uint32_t)own.header;
        write_own(build, i, &own, binary);
    }
    put(binary, CNNVP_BINARY_ADDRESS, &list, sizeof list);
}
