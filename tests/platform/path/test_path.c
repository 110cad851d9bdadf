/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path against one that copies all sums at every step. */
#include "path.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 5, TAGS = 4, HOLDERS = 40, STEPS = 200000, WINDOWS = 512, SHIFT = 16 };

struct judge {
    cnnvp_time at;
    uint64_t ps[INSTANCES][TAGS];
    uint64_t window_ps[WINDOWS][INSTANCES]; /* in windows of 2^SHIFT */
    double sooner[INSTANCES];               /* the moment, if the instance were twice as fast */
};

struct found {
    const struct cnnvp_path *path;
    struct judge judge;
};

static void take(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps)
{
    struct found *found = context;
    assert_true(instance < INSTANCES && tag < TAGS && window < CNNVP_PATH_WINDOWS);
    found->judge.ps[instance][tag] += ps;
    const uint64_t wider = ((uint64_t)window << found->path->shift) >> SHIFT;
    if (found->path->shift <= SHIFT)
        found->judge.window_ps[wider][instance] += ps;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* The sums of a moment, by making it the end of a run. */
static void compare(struct cnnvp_path *path, struct cnnvp_path_node *node, const struct judge *expected)
{
    static struct found found;
    found = (struct found){.path = path};
    const struct cnnvp_path_here before =
        cnnvp_path_enter(path, (struct cnnvp_path_here){.node = cnnvp_path_hold(node)});
    cnnvp_path_close(path, expected->at);
    cnnvp_path_walk(path, expected->at, take, &found);
    cnnvp_path_drop(path, cnnvp_path_enter(path, before).node);
    assert_memory_equal(found.judge.ps, expected->ps, sizeof expected->ps);
    if (path->shift != CNNVP_PATH_WHOLE)
        assert_memory_equal(found.judge.window_ps, expected->window_ps, sizeof expected->window_ps);
}

static void compare_gains(struct cnnvp_path *path, struct cnnvp_path_node *node, const struct judge *expected)
{
    compare(path, node, expected);
    for (uint32_t i = 0; i < INSTANCES; ++i)
        assert_true(cnnvp_path_gain(path, i) == (double)expected->at - expected->sooner[i]);
}

/* Both moments are waited for: the later one, with what it was waited for, as long as it is the later one. */
static void join(struct judge *to, const struct judge *from)
{
    double sooner[INSTANCES];
    for (uint32_t i = 0; i < INSTANCES; ++i)
        sooner[i] = to->sooner[i] > from->sooner[i] ? to->sooner[i] : from->sooner[i];
    if (from->at > to->at)
        *to = *from;
    memcpy(to->sooner, sooner, sizeof sooner);
}

static void pass(struct judge *judge, uint32_t instance, uint32_t tag, uint64_t ps)
{
    judge->ps[instance][tag] += ps;
    for (; ps != 0; --ps)
        ++judge->window_ps[judge->at++ >> SHIFT][instance];
}

/* Moments are made from others, copied and forgotten, at random: what is kept stays small, and every sum is right. */
static void sums(int over_time)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, over_time);
    struct cnnvp_path_node *nodes[HOLDERS] = {0};
    static struct judge judges[HOLDERS];
    uint64_t seed = 7;
    size_t most = 0;

    memset(judges, 0, sizeof judges);
    for (uint32_t step = 0; step < STEPS; ++step) {
        const uint32_t to = draw(&seed, HOLDERS), from = draw(&seed, HOLDERS);
        if (draw(&seed, 3) == 0) {
            struct cnnvp_path_node *copy = cnnvp_path_hold(nodes[from]);
            cnnvp_path_drop(path, nodes[to]);
            nodes[to] = copy;
            judges[to] = judges[from];
        } else if (draw(&seed, 4) == 0) {
            nodes[to] = cnnvp_path_join(path, nodes[to], nodes[from]);
            join(&judges[to], &judges[from]);
        }
        const uint32_t instance = draw(&seed, INSTANCES), tag = draw(&seed, TAGS), ps = draw(&seed, 1000);
        nodes[to] = cnnvp_path_extend(path, nodes[to], instance, tag, judges[to].at + ps);
        pass(&judges[to], instance, tag, ps);
        for (uint32_t i = 0; i < INSTANCES; ++i)
            judges[to].sooner[i] += i == instance ? ps / 2.0 : ps;
        if (path->count > most)
            most = path->count;
        if (step % 1000 == 0)
            compare_gains(path, nodes[from], &judges[from]);
    }
    for (uint32_t i = 0; i < HOLDERS; ++i)
        compare_gains(path, nodes[i], &judges[i]);
    assert_true(most < STEPS / 10);
    for (uint32_t i = 0; i < HOLDERS; ++i)
        cnnvp_path_drop(path, nodes[i]);
    cnnvp_path_drop(path, path->end);
    path->end = NULL;
    assert_int_equal(path->count, 0);
    cnnvp_path_free(path);
}

static void in_one(void **state)
{
    (void)state;
    sums(0);
}

static void over_time(void **state)
{
    (void)state;
    sums(1);
}

/* Time in somebody's hands is his, and of whom he says; a moment is not moved back. */
static void what_runs(void **state)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct judge expected = {.at = 70, .ps = {[1][0] = 10, [1][3] = 20, [2][3] = 40}};

    (void)state;
    (void)cnnvp_path_enter(path, (struct cnnvp_path_here){.instance = 1});
    struct cnnvp_path_node *first = cnnvp_path_now(path, CNNVP_PATH_SAME_TAG, 10);
    struct cnnvp_path_node *second = cnnvp_path_now(path, 3, 30);
    assert_ptr_not_equal(first, second);
    cnnvp_path_drop(path, cnnvp_path_enter(path, (struct cnnvp_path_here){second, 2, CNNVP_PATH_SAME_TAG}).node);
    struct cnnvp_path_node *third = cnnvp_path_now(path, CNNVP_PATH_SAME_TAG, 70);
    assert_ptr_equal(cnnvp_path_extend(path, third, 4, 1, 60), third);
    compare(path, third, &expected);
    cnnvp_path_drop(path, first);
    cnnvp_path_drop(path, third);
    cnnvp_path_free(path);
}

/* Code that follows a moment at 150 also waits for one at 50: the later moment comes as much earlier as the instance of
 * its time allows, but not before the other one. A moment that has yet to come was not waited for. */
static void waits_ahead(void **state)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    const struct judge expected = {.at = 150, .ps = {[1][0] = 150}, .sooner = {150, 75, 150, 150, 150}};

    (void)state;
    struct cnnvp_path_node *ahead = cnnvp_path_extend(path, NULL, 1, 0, 150);
    struct cnnvp_path_node *before = cnnvp_path_extend(path, NULL, 2, 0, 50);
    struct cnnvp_path_node *after = cnnvp_path_extend(path, NULL, 2, 0, 200);
    (void)cnnvp_path_enter(path, (struct cnnvp_path_here){ahead, 1, CNNVP_PATH_SAME_TAG});
    cnnvp_path_join_here(path, before, 100);
    compare_gains(path, path->here.node, &expected);
    cnnvp_path_join_here(path, after, 100);
    compare_gains(path, path->here.node, &expected);
    cnnvp_path_drop(path, cnnvp_path_enter(path, (struct cnnvp_path_here){0}).node);
    cnnvp_path_drop(path, before);
    cnnvp_path_drop(path, after);
    cnnvp_path_free(path);
}

/* Three accesses side by side, which end at 100, 100 or 80, and 70, and 10 of the caller's own. Where two tie, the one
 * that was asked later has the time, and neither alone would bring anything; otherwise the first one would bring what
 * lets the third one in. */
static void side_by_side(void **state)
{
    (void)state;
    for (int tie = 0; tie < 2; ++tie) {
        struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
        struct cnnvp_path_answer outer, one, two, three;
        cnnvp_path_ask(path, &outer);
        cnnvp_path_ask(path, &one);
        cnnvp_path_answered(path, &one, 1, 0, 100);
        cnnvp_path_ask(path, &two);
        cnnvp_path_answered(path, &two, 2, 80, tie ? 100 : 80);
        cnnvp_path_ask(path, &three);
        cnnvp_path_answered(path, &three, 3, 0, 70);
        cnnvp_path_answered(path, &outer, 4, 0, 110);
        struct cnnvp_path_node *end = cnnvp_path_end(path, 2, 1000);
        const struct judge alone = {
            .at = 1110, .ps = {[0][0] = 1000, [1][2] = 100, [4][2] = 10}, .sooner = {610, 1080, 1110, 1110, 1105}};
        const struct judge both = {
            .at = 1110, .ps = {[0][0] = 1000, [2][2] = 20, [4][2] = 90}, .sooner = {610, 1110, 1110, 1110, 1065}};
        compare_gains(path, end, tie ? &both : &alone);
        cnnvp_path_drop(path, end);
        cnnvp_path_free(path);
    }
}

/* Three accesses one after the other take 30, 20 and 5, the third by the first one's target, and the caller 45: each
 * has its time. */
static void one_after_the_other(void **state)
{
    const struct judge expected = {.at = 1100,
                                   .ps = {[0][0] = 1000, [1][2] = 35, [2][2] = 20, [4][2] = 45},
                                   .sooner = {600, 1082.5, 1090, 1100, 1077.5}};
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct cnnvp_path_answer outer, inner;

    (void)state;
    cnnvp_path_ask(path, &outer);
    cnnvp_path_ask(path, &inner);
    cnnvp_path_answered(path, &inner, 1, 0, 30);
    cnnvp_path_ask(path, &inner);
    cnnvp_path_answered(path, &inner, 2, 30, 50);
    cnnvp_path_ask(path, &inner);
    cnnvp_path_answered(path, &inner, 1, 50, 55);
    cnnvp_path_answered(path, &outer, 4, 0, 100);
    struct cnnvp_path_node *end = cnnvp_path_end(path, 2, 1000);
    compare_gains(path, end, &expected);
    cnnvp_path_drop(path, end);
    cnnvp_path_free(path);
}

/* An access takes 100: of the two that its target has made the one that ends last took 30 of them, of which 5 were its
 * own target's; a later access of the caller that ends earlier changes nothing. */
/* A tag that no layer can have is work for none. */
static void tags_beyond_all(void **state)
{
    static const uint32_t tags[] = {CNNVP_MAX_TAG + 1u, UINT32_MAX - 1u, UINT32_MAX / 2u};
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct cnnvp_path_node *node = NULL;
    static struct found found;

    (void)state;
    for (uint32_t i = 0; i < 3; ++i)
        node = cnnvp_path_extend(path, node, 1, tags[i], 10u * (i + 1u));
    (void)cnnvp_path_enter(path, (struct cnnvp_path_here){.node = node});
    found = (struct found){.path = path};
    cnnvp_path_close(path, 30);
    cnnvp_path_walk(path, 30, take, &found);
    assert_int_equal(found.judge.ps[1][0], 30);
    cnnvp_path_free(path);
}

/* A run that is stopped waits for what ends next, as far as it has come; or for whoever moved last. */
static void stopped(void **state)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct cnnvp_path_node *first = cnnvp_path_extend(path, NULL, 1, 1, 10);
    struct cnnvp_path_node *next = cnnvp_path_extend(path, cnnvp_path_hold(first), 2, 2, 30);
    struct cnnvp_path_node *far = cnnvp_path_extend(path, cnnvp_path_hold(first), 4, 1, 40);
    struct cnnvp_path_node *last = cnnvp_path_extend(path, cnnvp_path_hold(first), 3, 3, 15);
    static const struct {
        cnnvp_time now;
        uint64_t ps[INSTANCES];
    } at[] = {{5, {0, 5}}, {20, {0, 10, 10}}, {30, {0, 10, 20}}, {35, {0, 10, 0, 0, 25}}, {50, {0, 10, 0, 0, 40}}};

    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; ++i) {
        static struct found found;
        found = (struct found){.path = path};
        cnnvp_path_stop(path, at[i].now);
        cnnvp_path_walk(path, at[i].now, take, &found);
        for (uint32_t k = 0; k < INSTANCES; ++k)
            assert_int_equal(found.judge.ps[k][1] + found.judge.ps[k][2] + found.judge.ps[k][3], at[i].ps[k]);
    }
    cnnvp_path_drop(path, first);
    cnnvp_path_drop(path, next);
    cnnvp_path_drop(path, far);
    cnnvp_path_drop(path, last);
    cnnvp_path_free(path);
}

/* What is under way at a reset does not come; what follows has waited for what there was before. */
static void restarted(void **state)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct cnnvp_path_node *first = cnnvp_path_extend(path, NULL, 1, 1, 10);
    struct cnnvp_path_node *next = cnnvp_path_extend(path, cnnvp_path_hold(first), 2, 2, 30);
    static struct judge expected = {.at = 45, .ps = {[1][1] = 10, [2][2] = 10, [3][3] = 25}};
    static struct judge untagged = {.at = 45, .ps = {[1][0] = 10, [2][0] = 10, [3][3] = 25}};

    (void)state;
    cnnvp_path_stop(path, 20);
    cnnvp_path_restart(path, 20);
    cnnvp_path_drop(path, first);
    cnnvp_path_drop(path, next);
    struct cnnvp_path_node *again = cnnvp_path_extend(path, NULL, 3, 3, 45);
    compare(path, again, &expected);
    cnnvp_path_untag(path);
    compare(path, again, &untagged);
    cnnvp_path_drop(path, again);
    cnnvp_path_free(path);
}

static void answers(void **state)
{
    struct cnnvp_path *path = cnnvp_path_new(INSTANCES, 0);
    struct judge expected = {.at = 1100, .ps = {[0][0] = 1000, [1][2] = 70, [3][2] = 25, [4][2] = 5}};

    (void)state;
    struct cnnvp_path_answer outer;
    cnnvp_path_ask(path, &outer);
    {
        struct cnnvp_path_answer inner;
        cnnvp_path_ask(path, &inner);
        cnnvp_path_answered(path, &inner, 2, 0, 20);
        struct cnnvp_path_answer other;
        cnnvp_path_ask(path, &other);
        {
            struct cnnvp_path_answer innermost;
            cnnvp_path_ask(path, &innermost);
            cnnvp_path_answered(path, &innermost, 4, 60, 65);
        }
        cnnvp_path_answered(path, &other, 3, 50, 80);
    }
    cnnvp_path_answered(path, &outer, 1, 0, 100);
    struct cnnvp_path_answer later;
    cnnvp_path_ask(path, &later);
    cnnvp_path_answered(path, &later, 2, 0, 99);
    struct cnnvp_path_node *end = cnnvp_path_end(path, 2, 1000);
    compare(path, end, &expected);
    cnnvp_path_drop(path, end);
    cnnvp_path_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one),       cmocka_unit_test(over_time),           cmocka_unit_test(what_runs),
        cmocka_unit_test(side_by_side), cmocka_unit_test(one_after_the_other), cmocka_unit_test(tags_beyond_all),
        cmocka_unit_test(stopped),      cmocka_unit_test(restarted),           cmocka_unit_test(answers),
        cmocka_unit_test(waits_ahead),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
