/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both depths of the multi-function module on the same random tiles: the same status, time, counts, and contents of
 * every buffer, bit by bit, over shapes, sets, lanes, number formats and whatever statuses combine.
 */
#include "machine.h"

#include "test.h"
#include "random.h"

enum { TILES = 800, COMPARED = 0x40000, HELD = 1 << 16 };

/* A finite binary32, often one of few values, so that there are ties. */
static uint32_t word(uint64_t *state)
{
    const uint32_t bits = next_bits(state);
    if (bits % 8u == 0)
        return (bits & UINT32_C(0x80000000)) | UINT32_C(0x3f800000);
    return (bits & UINT32_C(0x807fffff)) | (112u + (bits >> 8) % 32u) << 23;
}

/* The same for both machines. */
static void fill(struct machine *const machines[2], uint64_t *state)
{
    for (uint32_t half = 0; half < 2; ++half) {
        uint32_t *const words[2] = {
            machine_at(machines[0], M_INTERMEDIATE, half, 0), machine_at(machines[1], M_INTERMEDIATE, half, 0)};
        for (uint32_t i = 0; i < COMPARED / 4u; ++i)
            words[1][i] = words[0][i] = word(state);
    }
    for (unsigned b = M_MAX_MIN; b <= M_OUTPUT; ++b) {
        uint32_t *const held[2] = {machine_at(machines[0], (enum machine_instance)b, 0, 0),
                                   machine_at(machines[1], (enum machine_instance)b, 0, 0)};
        /* positions of extremes, third and fourth word of an entry, are often within a tile */
        for (uint32_t i = 0; i < HELD / 4u; ++i)
            held[1][i] = held[0][i] = b == M_MAX_MIN && i % 4u >= 2u ? below(state, 300) : word(state);
    }
}

struct shape {
    uint32_t images, channels, h, w, plane, all;
};

static struct shape random_shape(uint64_t *state)
{
    struct shape shape = {1u + below(state, 6), 1u + below(state, 6), 1u + below(state, 8), 1u + below(state, 8), 0, 0};
    shape.plane = shape.h * shape.w;
    shape.all = shape.channels * shape.plane;
    return shape;
}

static uint32_t random_pool(uint64_t *state)
{
    return below(state, 2) != 0 ? 0x02020202u
                                : (1u + below(state, 3)) | (1u + below(state, 3)) << 8 | (1u + below(state, 3)) << 16 |
                                      (1u + below(state, 3)) << 24;
}

/* Of scales and exponents: from image to image, from channel to channel. */
static uint32_t random_strides(uint64_t *state)
{
    return below(state, 3) | below(state, 3) << 16;
}

static uint32_t random_format(uint64_t *state)
{
    static const uint32_t widths[] = {0, 8, 8, 5, 12, 24};
    return below(state, 5) | widths[below(state, 6)] << 8;
}

/* Does it on both. 1: it was accepted. */
static uint32_t both(struct machine *const machines[2], uint32_t opcode, uint32_t status, const void *registers,
                     size_t size)
{
    const int first = machine_try(machines[0], opcode, status, 0, registers, size);
    const int second = machine_try(machines[1], opcode, status, 0, registers, size);
    assert_int_equal(first, second);
    assert_int_equal(machines[0]->delay, machines[1]->delay);
    return first == CNNVP_OK;
}
#define BOTH(machines, opcode, status, registers) both(machines, opcode, status, &(registers), sizeof(registers))

static uint32_t post(struct machine *const machines[2], uint64_t *state)
{
    const struct shape s = random_shape(state);
    const struct machine_tpost d = {
        .in_image_stride = s.all,
        .images = s.images,
        .channels = s.channels,
        .size = s.w | s.h << 16,
        .scale_addr = CNNVP_TILE_HELD | 0x9000,
        .scale_strides = random_strides(state),
        .norm_entry = below(state, 4),
        .park_addr = 0x1000,
        .out_addr = 0x10000,
        .out_image_stride = s.all,
        .block = below(state, 2) != 0 ? 0x8000 : below(state, 20),
        .block_strides = random_strides(state),
        .mask_addr = 0x20000,
        .mask_image_stride = 1000,
        .id_addr = 0x30000,
        .id_image_stride = 1000,
        .pool = random_pool(state),
        .format = random_format(state),
        .seed = below(state, 100),
        .first = below(state, 1000),
        .tensor_image_stride = s.all};
    return BOTH(machines, OP_tpost, next_bits(state) & 0xffu, d);
}

static uint32_t post_back(struct machine *const machines[2], uint64_t *state)
{
    const struct shape s = random_shape(state);
    const struct machine_tpostback d = {
        .in_image_stride = s.all,
        .images = s.images,
        .channels = s.channels,
        .size = s.w | s.h << 16,
        .scale_addr = below(state, 2) != 0 ? CNNVP_TILE_HELD | 0x9000 : 0x38000,
        .scale_strides = random_strides(state),
        .x_addr = 0x8000,
        .x_image_stride = s.all,
        .norm_entry = below(state, 4),
        .out_addr = 0x10000,
        .out_image_stride = s.all,
        .block = below(state, 2) != 0 ? 0x18000 : 64u + below(state, 20),
        .block_strides = 1u << 16,
        .mask_addr = 0x20000,
        .mask_image_stride = 1000,
        .id_addr = 0x30000,
        .id_image_stride = 1000,
        .pool = random_pool(state),
        .format = random_format(state),
        .seed = below(state, 100),
        .first = below(state, 1000),
        .tensor_image_stride = s.all,
        .first_value = below(state, 3) * s.plane};
    return BOTH(machines, OP_tpostback, next_bits(state) & 0xffu, d);
}

static uint32_t statistics(struct machine *const machines[2], uint64_t *state)
{
    const struct shape s = random_shape(state);
    const struct machine_tstat d = {
        .in_image_stride = s.all,
        .images = s.images,
        .channels = s.channels,
        .size = s.w | s.h << 16,
        .scale_addr = CNNVP_TILE_HELD | 0x9000,
        .scale_strides = random_strides(state),
        .format = random_format(state) & 0xff00u,
        .out_addr = 0x10000,
        .out_image_stride = s.all,
        .entry = below(state, 20),
        .entry_strides = random_strides(state),
        .first = below(state, 300),
        .map = below(state, 2) != 0 ? s.plane : 0};
    return BOTH(machines, OP_tstat, next_bits(state) & 7u, d);
}

static uint32_t of_channels(struct machine *const machines[2], uint64_t *state)
{
    const struct machine_tcoef c = {
        .entry = below(state, 5), .channels = 1u + below(state, 40), .epsilon = 0x3a83126f, .running = 0x3dcccccd};
    const struct machine_texp e = {
        .entry = below(state, 5),
        .channels = 1u + below(state, 40),
        .norm_entry = below(state, 5),
        .out_addr = 0x11000};
    const struct machine_tbnupdate n = {.channels = 1u + below(state, 40), .rate = 0x3d4ccccd, .momentum = 0x3f666666};
    switch (below(state, 3)) {
    case 0:
        return BOTH(machines, OP_tcoef, next_bits(state) & 7u, c);
    case 1:
        return BOTH(machines, OP_texp, next_bits(state) & 15u, e);
    default:
        return BOTH(machines, OP_tbnupdate, below(state, 2), n);
    }
}

static uint32_t classify(struct machine *const machines[2], uint64_t *state)
{
    const uint32_t classes = 1u + below(state, 20);
    const struct machine_tsoftmax d = {
        .in_image_stride = classes,
        .images = 1u + below(state, 7),
        .classes = classes,
        .format = 8u << 8,
        .label_addr = 0x8000,
        .factor = 0x3e800000,
        .out_addr = 0x10000,
        .out_image_stride = classes,
        .entry = below(state, 9),
        .entry_image_stride = below(state, 3)};
    for (int m = 0; m < 2 && !machines[0]->sim.timing_only; ++m)
        for (uint32_t i = 0; i < d.images; ++i)
            ((uint32_t *)machine_at(machines[m], M_INTERMEDIATE, 0, 0x8000))[i] = i * 7u % classes;
    return BOTH(machines, OP_tsoftmax, next_bits(state) & 3u, d);
}

static uint32_t update(struct machine *const machines[2], uint64_t *state)
{
    const uint32_t values = 1u + below(state, 30);
    const struct machine_tupdate u = {
        .in_stride = values,
        .channels = 1u + below(state, 20),
        .values = values,
        .scale_addr = CNNVP_TILE_HELD | 0x9000,
        .scale_stride = below(state, 3),
        .format = random_format(state),
        .rate = 0x3d4ccccd,
        .momentum = 0x3f666666,
        .value_addr = 0x8000,
        .velocity_addr = 0x10000,
        .value_stride = values,
        .entry = below(state, 9),
        .entry_stride = below(state, 3)};
    return BOTH(machines, OP_tupdate, next_bits(state) & 7u, u);
}

/* Pieces of a buffer of the module, and mantissas into binary32. */
static uint32_t move(struct machine *const machines[2], uint64_t *state)
{
    static const uint32_t opcodes[] = {OP_tload, OP_tsave, OP_tclear};
    const struct machine_theld h = {
        .address = 0x8000, .offset = 16u * below(state, 40), .bytes = 16u * (1u + below(state, 40))};
    const uint32_t values = 1u + below(state, 30);
    const struct machine_tdecode d = {
        .in_addr = 0x10000,
        .in_stride = values,
        .channels = 1u + below(state, 20),
        .values = values,
        .exp_addr = 0x8000,
        .exp_stride = below(state, 3),
        .format = random_format(state) & 0xff00u,
        .out_addr = 0x20000,
        .out_stride = values};
    return below(state, 3) == 0 ? BOTH(machines, OP_tdecode, 0, d)
                                : BOTH(machines, opcodes[below(state, 3)], below(state, 6), h);
}

static void compare(struct machine *const machines[2])
{
    for (uint32_t half = 0; half < 2; ++half)
        assert_memory_equal(machine_at(machines[0], M_INTERMEDIATE, half, 0),
                            machine_at(machines[1], M_INTERMEDIATE, half, 0), COMPARED);
    for (unsigned b = M_MAX_MIN; b <= M_OUTPUT; ++b)
        assert_memory_equal(machine_at(machines[0], (enum machine_instance)b, 0, 0),
                            machine_at(machines[1], (enum machine_instance)b, 0, 0), HELD);
    for (unsigned i = 0; i < M_INSTANCES; ++i) {
        assert_memory_equal(machines[0]->units[i]->carried, machines[1]->units[i]->carried,
                            sizeof machines[0]->units[i]->carried);
        for (unsigned s = 0; s < FAKE_STATS; ++s)
            if (machines[0]->units[i]->counts[s] != machines[1]->units[i]->counts[s])
                fail_msg("%s, %s: %llu, stepped %llu", machines[0]->units[i]->unit->kind,
                         machines[0]->units[i]->unit->stats[s].name,
                         (unsigned long long)machines[0]->units[i]->counts[s],
                         (unsigned long long)machines[1]->units[i]->counts[s]);
    }
}

/* words: of the buffers' ports, 0: more than anyone takes. */
static void check(uint32_t sets, uint32_t lanes, uint32_t words, bool timing_only, uint64_t seed)
{
    static uint32_t (*const kinds[])(struct machine *const machines[2], uint64_t *state) = {
        post, post, post_back, post_back, statistics, of_channels, classify, update, move};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    static struct machine fast;
    static struct machine stepped;
    struct machine *const machines[2] = {&fast, &stepped};
    struct machine_options options = {
        .bits = 8,
        .sets = sets,
        .lanes = lanes,
        .timing_only = timing_only,
        .width_words = words,
        .held_words = words,
        .held_banks = words};
    uint32_t accepted[KINDS] = {0};
    machine_begin(&fast, &options);
    options.cycle = true;
    machine_begin(&stepped, &options);
    for (uint32_t i = 0; i < TILES; ++i) {
        const uint32_t k = i % KINDS;
        if (!timing_only && i % 16u == 0)
            fill(machines, &seed);
        accepted[k] += kinds[k](machines, &seed);
        if (!timing_only)
            compare(machines);
    }
    for (uint32_t k = 0; k < KINDS; ++k)
        assert_true(accepted[k] > TILES / KINDS / 20u);
    machine_end(&fast);
    machine_end(&stepped);
}

static void test_depths(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{4, 1, 0}, {1, 1, 1}, {2, 3, 2}, {5, 7, 5}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i)
        check(shapes[i][0], shapes[i][1], shapes[i][2], false, 1u + i);
}

static void test_time_alone(void **state)
{
    (void)state;
    check(4, 1, 3, true, 11);
    check(3, 2, 0, true, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_depths), cmocka_unit_test(test_time_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
