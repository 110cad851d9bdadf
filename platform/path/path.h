/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path: what each picosecond of a run was waited for. Host-free; one for each platform.
 *
 * A node is a moment, and all that led to it: from the beginning of the simulation to `at` each picosecond belongs to
 * one instance and one tag. Whatever can be waited for holds the node of the moment in which it came about: a pending
 * event, a request, the core while it sleeps, a command, a word in a queue. Code that runs has been led to by `here`;
 * where several things had to come together that is the one that came last. Time that passes in an instance's hands is
 * that instance's. So the sums of any node are its time, exactly, and those of the run's last moment are the critical
 * path.
 *
 * What an instance would bring if it were twice as fast is known, too: half of its time on the way to a moment, but no
 * more than lets the others in that had to come together and came earlier (cnnvp_path_join). That is exact as long as
 * all happens in the same order, and every join is told: those of the instruction element, of the DMA and of what
 * sleeps are.
 *
 * Nodes share their past and are counted by who holds them. Those that nothing but one later node refers to are folded
 * into sums, from time to time: what is kept is a few nodes for each thing under way, whatever the length of the run.
 * Where the path is to be drawn over time the sums are by windows of it, which become twice as wide when there are too
 * many.
 */
#ifndef CNNVP_PLATFORM_PATH_H
#define CNNVP_PLATFORM_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_path_sums;
struct cnnvp_path_chunk;

struct cnnvp_path_node {
    struct cnnvp_path_node *parent; /* of a free node: the next free one */
    cnnvp_time at;
    uint64_t ps;                  /* of (instance, tag); with the sums, all from the parent's moment on */
    struct cnnvp_path_sums *past; /* folded ancestors; NULL: none */
    uint32_t instance;
    uint32_t tag;
    uint32_t holders; /* 0: free */
    double *gains; /* by place: picoseconds that the moment would come earlier if the instance's delays were halved */
};

/* What has led to what runs, and in whose hands time passes meanwhile. */
struct cnnvp_path_here {
    struct cnnvp_path_node *node;
    uint32_t instance;
    uint32_t tag; /* of time that nobody says more of */
};

/* Of accesses that are answered at once and take time: how long each instance on the way of the one that ends last was
 * waited for, and how much earlier they all would end if its delays were halved. */
enum { CNNVP_PATH_PARTS = 4 };
struct cnnvp_path_answer {
    cnnvp_time end; /* how far from now; 0: nothing took time, and the rest says nothing */
    uint32_t count;
    struct cnnvp_path_part {
        uint32_t instance;
        cnnvp_time ps;
        double gain;
    } parts[CNNVP_PATH_PARTS];
};

#define CNNVP_PATH_WINDOW_BITS 12
#define CNNVP_PATH_WINDOWS (1u << CNNVP_PATH_WINDOW_BITS)
#define CNNVP_PATH_WHOLE 63u

struct cnnvp_path {
    struct cnnvp_path_here here;
    struct cnnvp_path_answer answer; /* of the accesses that what runs has made */
    struct cnnvp_path_node *end;     /* of the last run */
    struct cnnvp_path_chunk *chunks;
    struct cnnvp_path_node *idle;
    size_t count;     /* nodes that exist */
    size_t fold_at;   /* so many */
    uint32_t shift;   /* windows of 2^shift picoseconds; CNNVP_PATH_WHOLE: one */
    size_t instances; /* of the platform */
    size_t met; /* of these, so many have taken time; each has a place among gains, in the order in which they did */
    uint32_t *places; /* by instance: its place, from 1; 0: none yet */
};

/* NULL: out of memory. */
struct cnnvp_path *cnnvp_path_new(size_t instances, int over_time);
void cnnvp_path_free(struct cnnvp_path *path);

/* -- nodes. NULL is a legal one, of which nothing is known -- */
static inline struct cnnvp_path_node *cnnvp_path_hold(struct cnnvp_path_node *node)
{
    if (node != NULL)
        ++node->holders;
    return node;
}
/* Nobody holds it any more. */
void cnnvp_path_remove(struct cnnvp_path *path, struct cnnvp_path_node *node);
static inline void cnnvp_path_drop(struct cnnvp_path *path, struct cnnvp_path_node *node)
{
    if (node != NULL && --node->holders == 0)
        cnnvp_path_remove(path, node);
}
/* The moment `at` after that of `node`; the time between belongs to the instance and the tag. Takes over `node`. */
struct cnnvp_path_node *cnnvp_path_extend(struct cnnvp_path *path, struct cnnvp_path_node *node, uint32_t instance,
                                          uint32_t tag, cnnvp_time at);

/* What waits for both moments. Takes over `node`; `other` stays the caller's. */
struct cnnvp_path_node *cnnvp_path_join(struct cnnvp_path *path, struct cnnvp_path_node *node,
                                        struct cnnvp_path_node *other);

#define CNNVP_PATH_SAME_TAG UINT32_MAX /* that of the node before */

/* -- what runs now -- */

/* From here on `next` has led to what runs. Takes it over, and hands over what was here. */
static inline struct cnnvp_path_here cnnvp_path_enter(struct cnnvp_path *path, struct cnnvp_path_here next)
{
    const struct cnnvp_path_here before = path->here;
    path->here = next;
    return before;
}
/* The present moment, to be held by who asks; time since the last one belongs to the tag, or CNNVP_PATH_SAME_TAG. */
struct cnnvp_path_node *cnnvp_path_now(struct cnnvp_path *path, uint32_t tag, cnnvp_time now);

/* What runs has waited for that moment, too. */
void cnnvp_path_join_here(struct cnnvp_path *path, struct cnnvp_path_node *other, cnnvp_time now);

/* -- accesses that are answered at once -- */

/* One begins: hands over what was known of the others that the caller has made. */
static inline void cnnvp_path_ask(struct cnnvp_path *path, struct cnnvp_path_answer *callers)
{
    callers->end = 0;
    if (path->answer.end != 0)
        *callers = path->answer;
    path->answer.end = 0;
}
void cnnvp_path_take_time(struct cnnvp_path *path, const struct cnnvp_path_answer *callers, uint32_t instance,
                          cnnvp_time before, cnnvp_time after);
/* It has been answered by the instance: its delay was `before`, and is `after`. */
static inline void cnnvp_path_answered(struct cnnvp_path *path, const struct cnnvp_path_answer *callers,
                                       uint32_t instance, cnnvp_time before, cnnvp_time after)
{
    if (after > before || callers->end != 0)
        cnnvp_path_take_time(path, callers, instance, before, after);
    else
        path->answer.end = 0;
}
/* The moment in which the last one ends; to be held by who asks. */
struct cnnvp_path_node *cnnvp_path_end(struct cnnvp_path *path, uint32_t tag, cnnvp_time now);

/* -- the result -- */

/* A run ends now, by what runs. */
void cnnvp_path_close(struct cnnvp_path *path, cnnvp_time now);
/* A part of the path, within one window. */
typedef void (*cnnvp_path_give)(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps);
/* Calls `give` for the parts of the path to the last run's end, which was at `end`, several times for an instance, tag
 * and window. */
void cnnvp_path_walk(struct cnnvp_path *path, cnnvp_time end, cnnvp_path_give give, void *context);
/* How much earlier the last run would have ended if an instance were twice as fast, by this estimate. */
double cnnvp_path_gain(const struct cnnvp_path *path, uint32_t instance);

#ifdef __cplusplus
}
#endif

#endif
