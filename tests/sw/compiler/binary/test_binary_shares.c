/* SPDX-License-Identifier: Apache-2.0 */
/* What each of several accelerators has of its own: tables that do not overlap, and maps of its own batches in them. */
#include "test.h"

#include "binary_internal.h"

#include "binary_internal.h"

enum { SHARES = 3, LAYERS = 2, BATCH = 2, STRIDE = 0x1000, ROOM = 1 << 16 };

struct shared {
    struct cnnvp_build build;
    struct cnnvp_binary header;
    struct cnnvp_binary_layer layers[LAYERS];
    uint64_t end;
    uint8_t binary[ROOM];
};

static void put(struct shared *shared)
{
    struct cnnvp_build *build = &shared->build;
    shared->end = cnnvp_binary_place_tables(build);
    assert_true(shared->end <= CNNVP_BINARY_ADDRESS + ROOM + build->shares.count * CNNVP_ROOM_BYTES);
    cnnvp_binary_write_tables(build, shared->binary);
}

/* A binary of two layers for this many accelerators, and all that is written of them. */
static void make(struct shared *shared, uint32_t count, uint32_t images)
{
    memset(shared, 0, sizeof *shared);
    memset(shared->binary, 0xee, sizeof shared->binary);
    struct cnnvp_build *build = &shared->build;
    build->header = &shared->header;
    build->entries = shared->layers;
    build->header->flags = CNNVP_BINARY_PRELOAD;
    build->header->layer_count = LAYERS;
    build->header->images = images;
    build->header->batch = BATCH;
    build->header->input = (struct cnnvp_tensor){.address = 0x1000, .batch_stride = STRIDE};
    for (uint32_t i = 0; i < LAYERS; ++i)
        shared->layers[i].plan = (struct cnnvp_layer){
            .tag = i + 1,
            .in = {.address = 0x1000 * (i + 1), .batch_stride = STRIDE},
            .in2 = {.address = 0x500},
            .out = {.address = 0x1000 * (i + 2), .batch_stride = STRIDE}};
    build->shares.count = count;
    build->shares.clint = 0x77;
    for (uint32_t i = 0; i < count; ++i)
        build->shares.all[i] = (struct cnnvp_target_accelerator){.element = 100 + i, .element_irq = 200 + i};
    build->header->element = 100;
    build->header->element_irq = 200;
    build->header->list = 0x8000;
    build->header->list_bytes = 0x40;
    put(shared);
}

static const void *at(const struct shared *shared, uint64_t address)
{
    assert_true(address >= CNNVP_BINARY_ADDRESS && address % 4 == 0 && address < CNNVP_BINARY_ADDRESS + ROOM);
    return shared->binary + (address - CNNVP_BINARY_ADDRESS);
}

static void each_has_maps_of_its_own(void **state)
{
    static struct shared shared;
    (void)state;
    make(&shared, SHARES, 2 * BATCH);
    const struct cnnvp_accelerators_binary *list = at(&shared, CNNVP_BINARY_ADDRESS);
    uint64_t before = CNNVP_BINARY_ADDRESS + sizeof *list;
    assert_int_equal(list->magic, CNNVP_ACCELERATORS_BINARY_MAGIC);
    assert_int_equal(list->count, SHARES);
    assert_int_equal(list->clint, 0x77);
    for (uint32_t k = 0; k < SHARES; ++k) {
        const struct cnnvp_binary *header = at(&shared, list->binaries[k]);
        const struct cnnvp_binary_layer *layers = at(&shared, header->layers);
        assert_true(list->binaries[k] >= before);
        assert_true(header->layers >= list->binaries[k] + sizeof *header);
        before = header->layers + sizeof shared.layers;
        assert_int_equal(header->element, 100 + k);
        assert_int_equal(header->element_irq, 200 + k);
        assert_int_equal(header->list, 0x8000 + k * 0x40);
        assert_int_equal(header->input.address, 0x1000 + k * BATCH * STRIDE);
        /* There are two batches: the third accelerator has no image for which it would load weights. */
        assert_int_equal(header->flags, k < 2 ? CNNVP_BINARY_PRELOAD : 0);
        for (uint32_t i = 0; i < LAYERS; ++i) {
            assert_int_equal(layers[i].plan.tag, i + 1);
            assert_int_equal(layers[i].plan.in.address, 0x1000 * (i + 1) + k * BATCH * STRIDE);
            assert_int_equal(layers[i].plan.in2.address, 0x500); /* all use that place */
            assert_int_equal(layers[i].plan.out.address, 0x1000 * (i + 2) + k * BATCH * STRIDE);
        }
    }
    assert_true(list->rooms >= before);
    assert_int_equal(shared.end, (uint64_t)list->rooms + SHARES * CNNVP_ROOM_BYTES);
}

/* Chains name their layers, which each accelerator has once more. */
static void chains_have_layers_of_their_own(void **state)
{
    static struct shared shared;
    struct cnnvp_binary_layer block = {.plan = {.tag = 9, .in = {.address = 0x300, .batch_stride = STRIDE}}};
    struct cnnvp_binary_group chain = {.layer_count = 1};
    struct cnnvp_binary_level levels[2] = {{.target = 5}, {.target = 6}};
    struct cnnvp_groups groups = {
        .table = &chain,
        .count = 1,
        .members = &block,
        .member_count = 1,
        .member_bytes = sizeof block,
        .levels = levels};
    (void)state;
    make(&shared, 2, 4 * BATCH);
    shared.build.groups = &groups;
    put(&shared);
    const struct cnnvp_accelerators_binary *list = at(&shared, CNNVP_BINARY_ADDRESS);
    const struct cnnvp_binary *header = at(&shared, list->binaries[1]);
    const struct cnnvp_binary_group *own = at(&shared, header->groups);
    const struct cnnvp_binary_layer *layer = at(&shared, own->members);
    const struct cnnvp_binary_level *level = at(&shared, own->levels);
    assert_true(header->groups > chain.members && own->members > header->groups);
    assert_true(level[0].target == 5 && level[1].target == 6); /* all use these */
    assert_int_equal(layer->plan.tag, 9);
    assert_int_equal(layer->plan.in.address, 0x300 + BATCH * STRIDE);
    const struct cnnvp_binary_group *first = at(&shared, shared.build.header->groups);
    assert_int_equal(first->members, chain.members);
    assert_int_equal(first->levels, own->levels);
}

/* Tables as they are, one after the other, and nothing written after them. */
static void a_single_one_has_nothing_besides(void **state)
{
    static struct shared shared;
    (void)state;
    make(&shared, 1, 2 * BATCH);
    const struct cnnvp_binary *header = shared.build.header;
    assert_int_equal(header->layers, CNNVP_BINARY_ADDRESS + cnnvp_binary_align(sizeof *header));
    assert_int_equal(shared.end, header->layers + cnnvp_binary_align(sizeof shared.layers));
    assert_memory_equal(at(&shared, CNNVP_BINARY_ADDRESS), header, sizeof *header);
    assert_memory_equal(at(&shared, header->layers), shared.layers, sizeof shared.layers);
    for (size_t i = shared.end - CNNVP_BINARY_ADDRESS; i < ROOM; ++i)
        assert_int_equal(shared.binary[i], 0xee);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_maps_of_its_own),
        cmocka_unit_test(chains_have_layers_of_their_own),
        cmocka_unit_test(a_single_one_has_nothing_besides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
