/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of dimensions, by the words that they move one by one. */
#include "test.h"

#include "permutation.h"

#define WORDS 5040u

static uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33u) % limit;
}

/* Moves words as the permutation says. */
static void move(const struct cnnvp_permutation *order, const uint32_t *in, uint32_t *out)
{
    for (uint32_t word = 0; word < WORDS; ++word) {
        uint32_t index[CNNVP_GRAPH_RANK] = {0}, rest = word, at = 0;
        for (uint32_t i = order->count; i-- > 0; rest /= order->sizes[order->from[i]])
            index[order->from[i]] = rest % order->sizes[order->from[i]];
        for (uint32_t d = 0; d < order->count; ++d)
            at = at * order->sizes[d] + index[d];
        out[word] = in[at];
    }
}

/* One of `count` dimensions, whose sizes are products of 2, 2, 2, 2, 3, 3, 5 and 7 in any order. */
static struct cnnvp_permutation draw(uint32_t count)
{
    uint32_t factors[] = {2, 2, 2, 2, 3, 3, 5, 7};
    struct cnnvp_permutation order = {.count = count};
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = random_below(i + 1);
        order.sizes[i] = 1;
        order.from[i] = order.from[at];
        order.from[at] = i;
    }
    for (uint32_t f = 0; f < 8; ++f)
        order.sizes[random_below(count)] *= factors[f];
    return order;
}

static void one_does_what_two_do(void **state)
{
    (void)state;
    static uint32_t words[WORDS], made[WORDS], twice[WORDS], once[WORDS];
    uint32_t joined = 0;
    for (uint32_t i = 0; i < WORDS; ++i)
        words[i] = i;
    for (int n = 0; n < 2000; ++n) {
        const struct cnnvp_permutation first = draw(1 + random_below(4));
        const struct cnnvp_permutation second = draw(1 + random_below(5));
        struct cnnvp_permutation both;
        if (!cnnvp_permutation_join(&first, &second, &both))
            continue;
        ++joined;
        move(&first, words, made);
        move(&second, made, twice);
        move(&both, words, once);
        assert_memory_equal(once, twice, sizeof once);
        cnnvp_permutation_reduce(&both);
        move(&both, words, once);
        assert_memory_equal(once, twice, sizeof once);
        for (uint32_t i = 0; i < both.count; ++i)
            assert_true(both.sizes[i] > 1 && (i == 0 || both.from[i] != both.from[i - 1] + 1));
        const struct cnnvp_permutation back = cnnvp_permutation_inverse(&both);
        move(&back, twice, once);
        assert_memory_equal(once, words, sizeof once);
    }
    assert_true(joined > 200 && joined < 2000);
}

/* (4, 6) -> (6, 4), then read as (2, 3, 4): 3 and 4 change places. (4, 6) does not lie in dimensions of (6, 4). */
static void edges_cut_dimensions(void **state)
{
    (void)state;
    const struct cnnvp_permutation first = {2, {4, 6}, {1, 0}}, cuts = {3, {2, 3, 4}, {0, 2, 1}};
    const struct cnnvp_permutation back = {2, {6, 4}, {1, 0}}, other = {2, {4, 6}, {1, 0}};
    struct cnnvp_permutation both;
    assert_int_equal(cnnvp_permutation_join(&first, &cuts, &both), 1);
    cnnvp_permutation_reduce(&both); /* (4, 2, 3) -> (2, 4, 3) */
    assert_int_equal(both.count, 3);
    assert_int_equal(both.sizes[0], 4);
    assert_int_equal(both.sizes[1], 2);
    assert_int_equal(both.from[0], 1);
    assert_int_equal(both.from[1], 0);
    assert_int_equal(cnnvp_permutation_join(&first, &back, &both), 1);
    cnnvp_permutation_reduce(&both);
    assert_true(both.count < 2);
    assert_int_equal(cnnvp_permutation_join(&first, &other, &both), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_does_what_two_do),
        cmocka_unit_test(edges_cut_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
