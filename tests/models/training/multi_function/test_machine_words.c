/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What instructions of the multi-function module take: words through the ports of every buffer, and cycles, worked out
 * here from S001 (C4 to C7) and multi_function.h for random shapes, sets, lanes, ports and banks.
 *
 * Of a block: the values that it takes, one in each lane of each set at a time, and for every piece of a buffer what
 * its port and its banks take beyond those. A piece is streams side by side, each of which has banks div streams banks,
 * one at least, or shares one with others; their lines, of 32 bits, go round the banks. A tile takes what its slowest
 * block does, the pipelines of all its blocks, and what the slowest operand of the module itself takes beyond its
 * values.
 */
#include "machine.h"
#include "cnnvp_integer.h"
#include "random.h"

#include "test.h"

enum { READ, WRITTEN, RUNS = 1500 };
enum { EXTREMES = 16, SUMS = 32, NORM = sizeof(struct cnnvp_norm), HELD_SCALES = CNNVP_TILE_HELD | 0x9000 };

/* Stages of the blocks' pipelines. */
static const uint64_t pipelines[M_INSTANCES] = {
    [M_MODULE] = 2,   [M_STATISTICS] = 2, [M_SUM] = 2,    [M_NORM] = 3,      [M_RELU] = 1,
    [M_QUANTISE] = 2, [M_POOL] = 2,       [M_ENCODE] = 1, [M_POOL_BACK] = 2, [M_RELU_BACK] = 1,
    [M_UPDATE] = 4,   [M_BN_UPDATE] = 4,  [M_SOFTMAX] = 8};

/* A tile, and what is expected of an instruction on it. */
struct expected {
    const struct machine_options *options;
    uint32_t images, channels, h, w, plane;
    uint32_t sets, lanes;           /* that take it */
    uint64_t value_lines;           /* of a sum, in one bank: two of 64 bits; 0: one */
    uint64_t taken;                 /* cycles in which all its values are */
    uint64_t block;                 /* cycles of the block that is worked out */
    uint64_t cycles, waiting, fill; /* of the slowest block, with its waits; of all pipelines */
    uint64_t module_waits;
    uint64_t words[M_INSTANCES][2];
};

static uint64_t beats(const struct expected *e, uint64_t values)
{
    return cnnvp_divide_up(e->images, e->sets) * cnnvp_divide_up(values, e->lanes);
}

/* `shared`: values that belong to no image. */
static struct expected tile_of(const struct machine_options *options, uint64_t *state, bool shared)
{
    struct expected e = {.options = options, .images = shared ? 1u : 1u + below(state, 6)};
    e.channels = 1u + below(state, 6);
    e.h = 1u + below(state, 8);
    e.w = 1u + below(state, 8);
    e.plane = e.h * e.w;
    e.sets = shared ? 1u : options->sets;
    e.lanes = shared ? options->sets * options->lanes : options->lanes;
    e.taken = beats(&e, e.channels * e.plane);
    return e;
}

/* Words of 16 bits through a buffer's port; cycles by which they are late after `cycles`. `ways` 2: as many streams
 * again go the other way. */
static uint64_t cross(struct expected *e, enum machine_instance buffer, int direction, uint64_t bytes, uint64_t streams,
                      uint64_t ways, uint64_t cycles)
{
    const bool large = buffer == M_INTERMEDIATE;
    const uint64_t width = large ? e->options->width_words : e->options->held_words;
    const uint64_t banks = large ? e->options->banks : e->options->held_banks;
    const uint64_t words = cnnvp_divide_up(bytes, 2);
    const uint64_t value_lines = cnnvp_maximum(e->value_lines, 1u);
    const uint64_t values = cnnvp_divide_up(bytes, 4u * value_lines * streams); /* of a stream, or lines of values */
    const uint64_t served = cnnvp_divide_up(values, cnnvp_maximum(banks / (streams * ways), 1u)) * value_lines *
                            cnnvp_divide_up(streams * ways, banks);
    e->words[buffer][direction] += words;
    const uint64_t needed = cnnvp_maximum(cnnvp_divide_up(words, width), served);
    return needed > cycles ? needed - cycles : 0;
}

/* An operand of the module itself, each image's at an address of its own. */
static void operand(struct expected *e, int direction, uint64_t bytes)
{
    const uint64_t late = cross(e, M_INTERMEDIATE, direction, bytes, cnnvp_minimum(e->images, e->sets), 1u, e->taken);
    e->module_waits = cnnvp_maximum(e->module_waits, late);
}

/* The sums that it begins with, and their scales, `scales` of them in the max-min buffer; they become binary32. */
static void sums(struct expected *e, bool fp32, uint64_t values, uint64_t scales)
{
    operand(e, READ, values * 4u);
    e->value_lines = 0;
    e->fill += pipelines[M_MODULE];
    if (!fp32)
        e->module_waits = cnnvp_maximum(e->module_waits, cross(e, M_MAX_MIN, READ, scales * 2u, 1u, 1u, e->taken));
}

/* A block takes values for so many cycles. */
static void block(struct expected *e, enum machine_instance unit, uint64_t cycles)
{
    e->block = cycles;
    e->cycles = cnnvp_maximum(e->cycles, cycles);
    e->waiting = cnnvp_maximum(e->waiting, cycles);
    e->fill += pipelines[unit];
}

/* Entries that the block reads, and with `change` writes beside that. */
static void entries(struct expected *e, enum machine_instance buffer, bool change, uint64_t bytes)
{
    for (int direction = READ; direction <= (change ? WRITTEN : READ); ++direction)
        e->waiting =
            cnnvp_maximum(e->waiting, e->block + cross(e, buffer, direction, bytes, 1u, change ? 2u : 1u, e->block));
}

/* A packed matrix of the tile, `bytes` in all, while its values pass; an image's at an address of its own. */
static void matrix(struct expected *e, enum machine_instance buffer, int direction, uint64_t bytes)
{
    const uint64_t late = cross(e, buffer, direction, bytes, cnnvp_minimum(e->images, e->sets), 1u, e->taken);
    e->waiting = cnnvp_maximum(e->waiting, e->block + late);
}

/* Extremes of all values into entries `image` and `channel` apart. */
static void extremes(struct expected *e, uint64_t image, uint64_t channel, bool apart)
{
    block(e, M_STATISTICS, e->taken);
    entries(e, M_MAX_MIN, true, EXTREMES * ((e->images - 1u) * image + (e->channels - 1u) * channel + 1u));
    if (apart)
        entries(e, M_MAX_MIN, false, EXTREMES * (uint64_t)e->channels);
}

/* Bytes of a tile's packed planes of so many bits, each filled to 16 bits. */
static uint64_t packed(const struct expected *e, uint64_t bits)
{
    return (uint64_t)e->images * e->channels * (2u * cnnvp_divide_up(bits, 16));
}

static void check(struct machine *m, const struct expected *e, uint32_t opcode, uint32_t status, const void *registers,
                  size_t size)
{
    uint64_t before[M_INSTANCES][2];
    const uint64_t busy = fake_count(m->units[M_MODULE], "busy_cycles");
    for (unsigned i = M_INTERMEDIATE; i < M_INSTANCES; ++i)
        if (i == M_INTERMEDIATE || i >= M_MAX_MIN) {
            before[i][READ] = fake_count(m->units[i], "read_sequential_words");
            before[i][WRITTEN] = fake_count(m->units[i], "write_words");
        }
    machine_do(m, opcode, status, registers, size);
    const uint64_t waits = e->waiting - e->cycles + e->module_waits;
    const uint64_t took = fake_count(m->units[M_MODULE], "busy_cycles") - busy;
    if (took != e->cycles + e->fill + waits)
        fail_msg("opcode %02x status %02x: %llu cycles, not %llu + %llu + %llu", opcode, status,
                 (unsigned long long)took, (unsigned long long)e->cycles, (unsigned long long)e->fill,
                 (unsigned long long)waits);
    for (unsigned i = M_INTERMEDIATE; i < M_INSTANCES; ++i)
        for (int direction = READ; direction <= WRITTEN && (i == M_INTERMEDIATE || i >= M_MAX_MIN); ++direction) {
            const uint64_t words =
                fake_count(m->units[i], direction == READ ? "read_sequential_words" : "write_words") -
                before[i][direction];
            if (words != e->words[i][direction])
                fail_msg("opcode %02x status %02x, buffer %u: %llu words %s, not %llu", opcode, status, i,
                         (unsigned long long)words, direction == READ ? "read" : "written",
                         (unsigned long long)e->words[i][direction]);
        }
}
#define CHECK(m, e, opcode, status, registers) check(m, e, opcode, status, &(registers), sizeof(registers))

/* A window of at most 3x3 that fits, and how many there are in a plane. */
static uint32_t random_pool(const struct expected *e, uint64_t *state, uint32_t *pooled)
{
    const uint32_t kx = 1u + below(state, e->w < 3u ? e->w : 3u);
    const uint32_t ky = 1u + below(state, e->h < 3u ? e->h : 3u);
    const uint32_t sx = 1u + below(state, 3);
    const uint32_t sy = 1u + below(state, 3);
    *pooled = ((e->w - kx) / sx + 1u) * ((e->h - ky) / sy + 1u);
    return kx | ky << 8 | sx << 16 | sy << 24;
}

/* Of a position in such a window. */
static uint64_t position_bits(uint32_t pool)
{
    const uint32_t taps = (pool & 0xffu) * (pool >> 8 & 0xffu);
    return taps <= 2u ? 1u : taps <= 4u ? 2u : taps <= 8u ? 3u : 4u;
}

static void post(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    static const uint32_t illegal[][2] = {
        {ST_tpost_float, ST_tpost_pool}, {ST_tpost_measure, ST_tpost_float | ST_tpost_keep | ST_tpost_park}};
    struct expected e = tile_of(options, state, false);
    const uint64_t all = (uint64_t)e.channels * e.plane;
    uint32_t status = next_bits(state) & 0xffu;
    for (size_t i = 0; i < 2; ++i)
        status &= (status & illegal[i][0]) != 0 ? ~illegal[i][1] : UINT32_MAX;
    const uint32_t wide = below(state, 2);
    uint32_t pooled = e.plane;
    const struct machine_tpost d = {
        .in_image_stride = (uint32_t)all,
        .images = e.images,
        .channels = e.channels,
        .size = e.w | e.h << 16,
        .scale_addr = HELD_SCALES,
        .scale_strides = 1u << 16,
        .park_addr = 0x1000,
        .out_addr = 0x10000,
        .out_image_stride = (uint32_t)all,
        .block = (status & ST_tpost_measure) != 0 ? below(state, 20) : 0x8000,
        .block_strides = 1u | 2u << 16,
        .mask_addr = 0x20000,
        .mask_image_stride = 1000,
        .id_addr = 0x30000,
        .id_image_stride = 1000,
        .pool = random_pool(&e, state, &pooled),
        .format = wide != 0 ? 24u << 8 : 8u << 8,
        .tensor_image_stride = (uint32_t)all};
    const bool measures = (status & ST_tpost_measure) != 0;
    const bool whole = (status & ST_tpost_float) != 0;
    const bool keeps_mask = (status & ST_tpost_keep) != 0 && (status & ST_tpost_relu) != 0;
    const bool keeps_ids = (status & ST_tpost_keep) != 0 && (status & ST_tpost_pool) != 0;
    const uint64_t mask = packed(&e, e.plane);
    const uint64_t ids = packed(&e, pooled * position_bits(d.pool));
    pooled = (status & ST_tpost_pool) != 0 ? pooled : e.plane;
    const uint64_t sum_words = wide != 0 && (status & ST_tpost_fp32) == 0 ? 2u : 1u;
    e.value_lines = sum_words;
    sums(&e, (status & ST_tpost_fp32) != 0, e.images * all * sum_words, e.channels);
    if ((status & ST_tpost_park) != 0)
        operand(&e, WRITTEN, e.images * all * 4u);
    if (!measures)
        operand(&e, WRITTEN, (uint64_t)e.images * e.channels * pooled * (whole || wide != 0 ? 4u : 1u));
    if (!measures && !whole) { /* exponents */
        const uint64_t late = cross(
            &e, M_INTERMEDIATE, READ, e.images + 2u * (e.channels - 1u), cnnvp_minimum(e.images, e.sets), 1u, e.taken);
        e.module_waits = cnnvp_maximum(e.module_waits, late);
    }
    if (keeps_mask)
        operand(&e, WRITTEN, mask);
    if (keeps_ids)
        operand(&e, WRITTEN, ids);
    if ((status & ST_tpost_norm) != 0) {
        block(&e, M_NORM, e.taken);
        entries(&e, M_NORMS, false, NORM * (uint64_t)e.channels);
    }
    if ((status & ST_tpost_relu) != 0) {
        block(&e, M_RELU, e.taken);
        if (keeps_mask)
            matrix(&e, M_MASK, WRITTEN, mask);
    }
    if (measures) {
        extremes(&e, 1, 2, false);
    } else {
        if (!whole)
            block(&e, M_QUANTISE, e.taken);
        if ((status & ST_tpost_pool) != 0) {
            block(&e, M_POOL, e.taken);
            if (keeps_ids)
                matrix(&e, M_IDS, WRITTEN, ids);
        }
        block(&e, M_ENCODE, beats(&e, (uint64_t)e.channels * pooled));
        if (keeps_mask)
            matrix(&e, M_MASK, READ, mask);
        if (keeps_ids)
            matrix(&e, M_IDS, READ, ids);
    }
    CHECK(m, &e, OP_tpost, status, d);
}

static void post_back(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, false);
    const uint64_t all = (uint64_t)e.channels * e.plane;
    uint32_t status = next_bits(state) & 0x7fu;
    const bool reduce = (status & ST_tpostback_reduce) != 0;
    status &= reduce ? ~(uint32_t)ST_tpostback_measure : ~(uint32_t)ST_tpostback_convert;
    const bool measures = (status & ST_tpostback_measure) != 0;
    const bool norm = (status & ST_tpostback_norm) != 0;
    const bool relu = (status & ST_tpostback_relu) != 0;
    const bool pool = (status & ST_tpostback_pool) != 0;
    uint32_t pooled = e.plane;
    const struct machine_tpostback d = {
        .in_image_stride = (uint32_t)all,
        .images = e.images,
        .channels = e.channels,
        .size = e.w | e.h << 16,
        .scale_addr = HELD_SCALES,
        .scale_strides = 1u << 16,
        .x_addr = 0x8000,
        .x_image_stride = (uint32_t)all,
        .out_addr = 0x10000,
        .out_image_stride = (uint32_t)all,
        .block = reduce || measures ? 64u : 0x18000,
        .block_strides = 1u << 16,
        .mask_addr = 0x20000,
        .mask_image_stride = 1000,
        .id_addr = 0x30000,
        .id_image_stride = 1000,
        .pool = random_pool(&e, state, &pooled),
        .format = 8u << 8,
        .tensor_image_stride = (uint32_t)all};
    const uint64_t mask = packed(&e, e.plane);
    const uint64_t ids = packed(&e, pooled * position_bits(d.pool));
    const uint64_t errors = (uint64_t)e.images * e.channels * (pool ? pooled : e.plane);
    sums(&e, (status & ST_tpostback_fp32) != 0, errors, e.channels);
    if (norm)
        operand(&e, READ, e.images * all * 4u);
    if (relu)
        operand(&e, READ, mask);
    if (pool)
        operand(&e, READ, ids);
    if ((status & ST_tpostback_convert) != 0)
        operand(&e, WRITTEN, errors * 4u);
    if (!reduce && !measures) {
        operand(&e, WRITTEN, e.images * all);
        operand(&e, READ, e.channels);
    }
    if (relu || pool) { /* the matrices come in */
        block(&e, M_ENCODE, e.taken);
        if (relu)
            matrix(&e, M_MASK, WRITTEN, mask);
        if (pool)
            matrix(&e, M_IDS, WRITTEN, ids);
    }
    if (pool) {
        block(&e, M_POOL_BACK, e.taken);
        matrix(&e, M_IDS, READ, ids);
    }
    if (relu) {
        block(&e, M_RELU_BACK, e.taken);
        matrix(&e, M_MASK, READ, mask);
    }
    if (norm) {
        block(&e, M_NORM, e.taken);
        entries(&e, M_NORMS, reduce, NORM * (uint64_t)e.channels);
        entries(&e, M_MAX_MIN, false, EXTREMES * (uint64_t)e.channels);
    }
    if (reduce || measures) {
        extremes(&e, 0, 1, reduce && norm);
    } else {
        block(&e, M_QUANTISE, e.taken);
        block(&e, M_ENCODE, e.taken);
    }
    CHECK(m, &e, OP_tpostback, status, d);
}

static void statistics(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, false);
    const uint64_t all = (uint64_t)e.channels * e.plane;
    const uint32_t status = next_bits(state) & 7u;
    const struct machine_tstat d = {
        .in_image_stride = (uint32_t)all,
        .images = e.images,
        .channels = e.channels,
        .size = e.w | e.h << 16,
        .scale_addr = HELD_SCALES,
        .scale_strides = 1u << 16,
        .format = 8u << 8,
        .out_addr = 0x10000,
        .out_image_stride = (uint32_t)all,
        .entry_strides = 3u | 1u << 16};
    sums(&e, (status & ST_tstat_fp32) != 0, e.images * all, e.channels);
    if ((status & ST_tstat_convert) != 0)
        operand(&e, WRITTEN, e.images * all * 4u);
    if ((status & ST_tstat_squares) == 0)
        extremes(&e, 3, 1, false);
    block(&e, M_SUM, e.taken);
    entries(&e, M_SUMS, true, SUMS * ((e.images - 1u) * 3u + e.channels));
    CHECK(m, &e, OP_tstat, status, d);
}

static void of_channels(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, true);
    const struct machine_tcoef c = {.channels = e.channels};
    const struct machine_texp x = {.channels = e.channels, .out_addr = 0x11000};
    const struct machine_tbnupdate n = {.channels = e.channels};
    const uint32_t which = below(state, 3);
    uint32_t status = next_bits(state) & (which == 0 ? 7u : which == 1u ? 11u : 1u);
    e.taken = beats(&e, e.channels);
    if (which == 0) {
        block(&e, M_NORM, 16u * e.taken);
        entries(&e, M_NORMS, true, NORM * (uint64_t)e.channels);
        if ((status & ST_tcoef_back) == 0) {
            entries(&e, M_MAX_MIN, false, EXTREMES * (uint64_t)e.channels);
            entries(&e, M_SUMS, false, SUMS * (uint64_t)e.channels);
        }
        CHECK(m, &e, OP_tcoef, status, c);
    } else if (which == 1u) {
        operand(&e, WRITTEN, (status & ST_texp_each) != 0 ? e.channels : 1u);
        block(&e, M_QUANTISE, e.taken);
        entries(&e, M_MAX_MIN, false, EXTREMES * (uint64_t)e.channels);
        if ((status & ST_texp_map) != 0)
            entries(&e, M_NORMS, false, NORM * (uint64_t)e.channels);
        CHECK(m, &e, OP_texp, status, x);
    } else {
        block(&e, M_BN_UPDATE, beats(&e, 2u * e.channels));
        entries(&e, M_NORMS, true, NORM * (uint64_t)e.channels);
        CHECK(m, &e, OP_tbnupdate, status, n);
    }
}

static void classify(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, false);
    const uint32_t status = next_bits(state) & 3u;
    const uint64_t all = (uint64_t)e.images * e.channels;
    const struct machine_tsoftmax d = {
        .in_image_stride = e.channels,
        .images = e.images,
        .classes = e.channels,
        .scale_addr = HELD_SCALES,
        .scale_strides = 1u << 16,
        .format = 8u << 8,
        .label_addr = 0x8000,
        .out_addr = 0x10000,
        .out_image_stride = e.channels,
        .entry_image_stride = 2};
    e.taken = beats(&e, e.channels);
    if (!options->timing_only)
        memset(machine_at(m, M_INTERMEDIATE, 0, d.label_addr), 0, e.images * 4u);
    sums(&e, (status & ST_tsoftmax_fp32) != 0, all, e.channels);
    const uint64_t interval = 17; /* a comparison, and two passes of exponentials and divisions */
    block(&e, M_SOFTMAX, interval * e.taken);
    const uint64_t late = cross(&e, M_OUTPUT, WRITTEN, e.images * (16u + 4u * (uint64_t)e.channels),
                                cnnvp_minimum(e.images, e.sets), 1u, e.block);
    e.waiting = cnnvp_maximum(e.waiting, e.block + late);
    if ((status & ST_tsoftmax_gradient) != 0) {
        operand(&e, READ, e.images * 4u);
        operand(&e, WRITTEN, all * 4u);
        extremes(&e, 2, 0, false);
    }
    CHECK(m, &e, OP_tsoftmax, status, d);
}

static void update(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, true);
    const uint64_t all = (uint64_t)e.channels * e.plane;
    const uint32_t status = next_bits(state) & 7u;
    const struct machine_tupdate d = {
        .in_stride = e.plane,
        .channels = e.channels,
        .values = e.plane,
        .scale_addr = HELD_SCALES,
        .scale_stride = 1,
        .format = 8u << 8,
        .value_addr = 0x8000,
        .velocity_addr = 0x10000,
        .value_stride = e.plane,
        .entry_stride = 2};
    sums(&e, (status & ST_tupdate_fp32) != 0, all, e.channels);
    for (uint32_t i = 0; i < ((status & ST_tupdate_momentum) != 0 ? 2u : 1u); ++i) {
        operand(&e, READ, all * 4u);
        operand(&e, WRITTEN, all * 4u);
    }
    block(&e, M_UPDATE, e.taken);
    extremes(&e, 0, 2, false);
    CHECK(m, &e, OP_tupdate, status, d);
}

/* Pieces of a buffer of the module, and mantissas into binary32. */
static void move(struct machine *m, const struct machine_options *options, uint64_t *state)
{
    struct expected e = tile_of(options, state, true);
    e.channels *= 4u; /* whole entries of four words */
    e.taken = beats(&e, e.channels * e.plane);
    const uint64_t all = (uint64_t)e.channels * e.plane;
    const struct machine_tdecode d = {
        .in_addr = 0x10000,
        .in_stride = e.plane,
        .channels = e.channels,
        .values = e.plane,
        .exp_addr = 0x8000,
        .exp_stride = 2,
        .format = 8u << 8,
        .out_addr = 0x20000,
        .out_stride = e.plane};
    const uint32_t which = below(state, 4);
    e.cycles = e.waiting = e.taken;
    if (which == 3u) {
        operand(&e, READ, all);
        operand(&e, READ, 2u * (e.channels - 1u) + 1u);
        operand(&e, WRITTEN, all * 4u);
        e.fill = pipelines[M_MODULE];
        CHECK(m, &e, OP_tdecode, 0, d);
        return;
    }
    static const uint32_t opcodes[] = {OP_tload, OP_tsave, OP_tclear};
    const struct machine_theld h = {.address = 0x8000, .bytes = (uint32_t)all * 4u};
    const uint32_t buffer = below(state, 6);
    if (which != 2u) {
        operand(&e, which == 0 ? READ : WRITTEN, h.bytes);
        e.fill = pipelines[M_MODULE];
    }
    const uint64_t late =
        cross(&e, (enum machine_instance)(M_MAX_MIN + buffer), which == 1u ? READ : WRITTEN, h.bytes, 1u, 1u, e.taken);
    e.module_waits = cnnvp_maximum(e.module_waits, late);
    CHECK(m, &e, opcodes[which], buffer, h);
}

static void test_instructions(void **state)
{
    static void (*const kinds[])(struct machine * m, const struct machine_options *options, uint64_t *state) = {
        post, post, post_back, post_back, statistics, of_channels, classify, update, move};
    static const uint32_t shapes[][2] = {{4, 1}, {1, 1}, {2, 3}, {5, 7}};
    static const uint32_t ports[][2] = {{1, 1}, {2, 2}, {3, 1}, {4096, 1024}};
    static struct machine m;
    uint64_t seed = 1;
    (void)state;
    for (uint32_t i = 0; i < 16u; ++i) {
        const struct machine_options options = {
            .bits = 8,
            .sets = shapes[i % 4u][0],
            .lanes = shapes[i % 4u][1],
            .timing_only = i % 8u >= 4u,
            .width_words = ports[i / 4u][0],
            .banks = ports[i / 4u][1],
            .held_words = ports[(i / 4u + i) % 4u][0],
            .held_banks = ports[(i / 4u + i) % 4u][1]};
        machine_begin(&m, &options);
        for (uint32_t n = 0; n < RUNS; ++n)
            kinds[n % (sizeof kinds / sizeof kinds[0])](&m, &options, &seed);
        /* every cycle of the module is in the sum of its commands */
        assert_int_equal(fake_count(m.units[M_MODULE], "commands"), RUNS);
        assert_int_equal(fake_count(m.units[M_MODULE], "busy_cycles") * 5000u, m.sim.now);
        machine_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
