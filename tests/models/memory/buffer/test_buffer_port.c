/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DMA and a PE array at one buffer at the same time, cycle by cycle and word by word, as the judge of the rule by
 * which the models charge whole tiles: the DMA's words take words / width cycles, an array's tap takes its own words in
 * as many cycles as they need, and a half is one unit's for a whole tile.
 *
 * Halves of their own: nothing differs. In one half the rule gives it to one after the other; an arbiter in hardware
 * would let the DMA have the port's idle words. So the rule is never faster than the arbiter, nor slower by more than
 * the shorter of the two takes. There are banks and words of a line enough.
 */

#include "test.h"

#include "cnnvp_buffer.h"
#include "units.h"
#include "cnnvp_integer.h"
#include "fake_host.h"
#include "inference/nfu/nfu_tile.h"
#include "random.h"

#define MHZ 1000u /* a cycle is 1000 ps */
#define CASES 2000u

struct work {
    struct cnnvp_nfu_shape shape;
    struct cnnvp_fx16_tile tile;
    uint64_t width;
    uint64_t dma_words;
    uint64_t dma_rate; /* words that memory gives in a cycle */
};

static struct work random_work(uint64_t *seed)
{
    struct work work = {
        .shape = {.rows = (uint32_t)between(seed, 1, 9),
                  .cols = (uint32_t)between(seed, 1, 9),
                  .acc_bits = 48,
                  .pipeline = 1,
                  .fifo_stride = 4,
                  .propagation = true},
        .tile = {.kind = CNNVP_FX16_WINDOW,
                 .in_channels = (uint32_t)between(seed, 1, 4),
                 .out_channels = (uint32_t)between(seed, 1, 4),
                 .out_h = (uint32_t)between(seed, 1, 20),
                 .out_w = (uint32_t)between(seed, 1, 20),
                 .kx = (uint32_t)between(seed, 1, 5),
                 .ky = (uint32_t)between(seed, 1, 5),
                 .sx = (uint32_t)between(seed, 1, 2),
                 .sy = (uint32_t)between(seed, 1, 2),
                 .dx = 1,
                 .dy = 1,
                 .uses_k = true},
        .dma_words = between(seed, 1, 3000),
        .dma_rate = between(seed, 1, 40),
    };
    work.tile.operation.product = CNNVP_FX16_PRODUCT_KA;
    work.width = between(seed, 1, 90);
    return work;
}

/* ---- stepped ---- */

/* The taps of all PE tiles, one a cycle at best, with the words that each takes from the port (S002). */
struct walk {
    const struct work *work;
    uint64_t connection;
    uint32_t x, y, kx, ky;
    int done;
};

static uint32_t width_at(const struct walk *walk)
{
    return cnnvp_minimum32(walk->work->shape.cols, walk->work->tile.out_w - walk->x);
}

static uint32_t height_at(const struct walk *walk)
{
    return cnnvp_minimum32(walk->work->shape.rows, walk->work->tile.out_h - walk->y);
}

static int fills(const struct walk *walk)
{
    return walk->kx < walk->work->tile.sx && walk->ky < walk->work->tile.sy;
}

static uint64_t words_of(const struct walk *walk)
{
    if (fills(walk))
        return (uint64_t)width_at(walk) * height_at(walk);
    return walk->kx >= walk->work->tile.sx ? height_at(walk) : width_at(walk);
}

static void next_tap(struct walk *walk)
{
    const struct cnnvp_fx16_tile *tile = &walk->work->tile;
    if (++walk->kx < tile->kx)
        return;
    walk->kx = 0;
    if (++walk->ky < tile->ky)
        return;
    walk->ky = 0;
    if (++walk->connection < (uint64_t)tile->in_channels * tile->out_channels)
        return;
    walk->connection = 0;
    walk->x += walk->work->shape.cols;
    if (walk->x < tile->out_w)
        return;
    walk->x = 0;
    walk->y += walk->work->shape.rows;
    walk->done = walk->y >= tile->out_h;
}

struct times {
    uint64_t array, dma;
    uint64_t array_words;
};

/* Both begin in the same cycle. `shared`: one port, of which the array has what it needs first. */
static struct times step(const struct work *work, int shared)
{
    struct walk walk = {.work = work};
    struct times times = {0, 0, 0};
    uint64_t needed = words_of(&walk);
    uint64_t left = work->dma_words;
    for (uint64_t cycle = 1; !walk.done || left != 0; ++cycle) {
        uint64_t free_words = work->width;
        if (!walk.done) {
            const uint64_t taken = cnnvp_minimum(needed, free_words);
            times.array_words += taken;
            needed -= taken;
            free_words -= shared ? taken : 0;
            if (needed == 0) {
                next_tap(&walk);
                needed = walk.done ? 0 : words_of(&walk);
                times.array = cycle;
            }
        }
        if (left != 0) {
            left -= cnnvp_minimum(cnnvp_minimum(left, work->dma_rate), free_words);
            times.dma = cycle;
        }
    }
    return times;
}

/* ---- by whole tiles ---- */

static uint64_t charged(struct cnnvp_host *buffer, uint64_t words, uint64_t cycles, uint32_t half, uint32_t mode,
                        uint32_t op, const struct cnnvp_fx16_clocks *clocks)
{
    struct cnnvp_access access = {
        .op = op,
        .address = cnnvp_buffer_address(half, 0),
        .size = 64,
        .words = words,
        .cycles = cycles,
        .mode = mode,
        .clocks = clocks->classes,
        .clock_count = clocks->count};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return cycles + access.delay / 1000u;
}

static struct times by_rule(const struct work *work)
{
    struct fake_sim sim;
    struct cnnvp_fx16_cost cost;
    fake_sim_init(&sim, MHZ, 0, 0);
    struct cnnvp_host *buffer = fake_add(&sim, &cnnvp_unit_buffer);
    fake_set(buffer, "width_words", work->width);
    fake_set(buffer, "banks", 1024);
    fake_set(buffer, "line_words", 64);
    assert_int_equal(fake_start(buffer), CNNVP_OK);
    struct cnnvp_fx16_traffic traffic = {0};
    const struct cnnvp_fx16_clocks evenly = {0};
    cnnvp_nfu_cost(&work->shape, &work->tile, &cost);
    cnnvp_nfu_clocks(&work->shape, &work->tile, &traffic);
    const struct times times = {
        charged(buffer, cost.input_words, cost.compute_cycles, 0, cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL),
                CNNVP_BORROW_READ, &traffic.input),
        charged(buffer, work->dma_words, cnnvp_divide_up(work->dma_words, work->dma_rate), 1, cnnvp_buffer_dma_mode(0),
                CNNVP_BORROW_WRITE, &evenly),
        cost.input_words};
    fake_sim_free(&sim);
    return times;
}

/* ---- tests ---- */

static void halves_of_their_own(void **state)
{
    uint64_t seed = 5;
    uint64_t late = 0;
    (void)state;
    for (uint32_t n = 0; n < CASES; ++n) {
        const struct work work = random_work(&seed);
        const struct times stepped = step(&work, 0);
        const struct times rule = by_rule(&work);
        assert_int_equal(stepped.array_words, rule.array_words);
        assert_int_equal(stepped.dma, rule.dma);
        assert_int_equal(stepped.array, rule.array);
        late += (uint64_t)work.shape.rows * work.shape.cols > work.width;
    }
    assert_in_range(late, CASES / 20u, CASES);
}

static void one_half(void **state)
{
    uint64_t seed = 6;
    uint64_t apart = 0;
    (void)state;
    for (uint32_t n = 0; n < CASES; ++n) {
        const struct work work = random_work(&seed);
        const struct times stepped = step(&work, 1);
        const struct times rule = by_rule(&work);
        const uint64_t both = rule.array + rule.dma;
        const uint64_t end = cnnvp_maximum(stepped.array, stepped.dma);
        assert_true(end <= both);
        assert_true(both <= end + cnnvp_minimum(rule.array, rule.dma));
        apart += end < both;
    }
    assert_in_range(apart, CASES / 20u, CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_of_their_own), cmocka_unit_test(one_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
