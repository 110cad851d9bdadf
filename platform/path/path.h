/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a run: for each picosecond, the instance and the layer that the run waited for. Independent of
 * the simulation kernel; one object for each platform.
 *
 * A node is a moment with its history: each picosecond from the beginning of the simulation to `at` is assigned to one
 * instance and one tag. Everything that can be waited for holds the node of the moment at which it occurred: a pending
 * event, a request, a sleeping core, a command, a word in a queue. `here` is the node that caused the running code. If
 * several things had to come together, it is the one that came last. Time that passes while an instance works is
 * assigned to that instance. The sums of a node therefore add up exactly to its time, and the sums of the run's last
 * moment are the critical path.
 *
 * A node also estimates each instance's gain: how much earlier the moment would come if that instance were twice as
 * fast. It is half of the instance's time on the path, limited by the other moments that had to come together with it
 * (cnnvp_path_join). The estimate is exact if the order of events stays the same and every join is reported. The
 * instruction element, the DMA and sleeping units report their joins.
 *
 * Nodes share their history and are reference-counted. From time to time, a node that only one later node refers to is
 * folded into that node's sums. This keeps a few nodes for each activity under way, whatever the length of the run. To
 * draw the path over time, the sums are kept for windows of time; the window size doubles when there are too many
 * windows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

struct cnnvp_path_sums;
struct cnnvp_path_chunk;

struct cnnvp_path_node {
    struct cnnvp_path_node *parent; /* of a free node: the next free node */
    cnnvp_time at;
    uint64_t ps;                  /* time of (instance, tag) since the parent's moment; with `past`, which holds earlier
                                   * parts */
    struct cnnvp_path_sums *past; /* sums of folded ancestors; NULL: none */
    uint32_t instance;
    uint32_t tag;
    uint32_t holders; /* reference count; 0: free */
    double *gains; /* by place: picoseconds that the moment would come earlier if the instance's delays were halved */
};

/* The cause of the running code, and the instance to which time is assigned meanwhile. */
struct cnnvp_path_here {
    struct cnnvp_path_node *node;
    uint32_t instance;
    uint32_t tag; /* tag of time for which the code names no other */
};

/* Time of accesses that are answered at once: for the chain of instances behind the access that ends last, and behind
 * those after which it began, how long each was waited for, and how much earlier all accesses would end if its delays
 * were halved. */
enum { CNNVP_PATH_PARTS = 4 };
struct cnnvp_path_answer {
    cnnvp_time end; /* relative to now; 0: no time was taken, and the other members are not valid */
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
    struct cnnvp_path_answer answer; /* of the accesses that the running code has made */
    struct cnnvp_path_node *start;   /* moment from which a NULL node counts: the last reset; NULL: time 0 */
    struct cnnvp_path_node *end;     /* end of the last run */
    struct cnnvp_path_chunk *chunks;
    struct cnnvp_path_node *idle;
    size_t count;     /* nodes in use */
    size_t fold_at;   /* value of `count` at which nodes are folded */
    uint32_t shift;   /* windows have 2^shift picoseconds; CNNVP_PATH_WHOLE: one window */
    size_t instances; /* of the platform */
    size_t met;       /* number of instances that have taken time; each has a place in `gains`, in order of first use */
    uint32_t *places; /* by instance: its place + 1; 0: none yet */
    uint32_t *first;  /* by instance: the one that it shares its place with, or itself */
};

/* NULL: out of memory. */
struct cnnvp_path *cnnvp_path_new(size_t instances, int over_time);
void cnnvp_path_free(struct cnnvp_path *path);
/* From now on the two instances have one gain: that of the delays of both. Before either has taken time. */
void cnnvp_path_alike(struct cnnvp_path *path, uint32_t instance, uint32_t first);

/* -- nodes; NULL is a valid node, the moment of the last reset or else time 0 -- */
static inline struct cnnvp_path_node *cnnvp_path_hold(struct cnnvp_path_node *node)
{
    if (node != NULL)
        ++node->holders;
    return node;
}
/* Frees a node that nobody holds, and ancestors that only it held. */
void cnnvp_path_remove(struct cnnvp_path *path, struct cnnvp_path_node *node);
static inline void cnnvp_path_drop(struct cnnvp_path *path, struct cnnvp_path_node *node)
{
    if (node != NULL && --node->holders == 0)
        cnnvp_path_remove(path, node);
}
/* Returns the moment `at`, after `node`; the time between is assigned to the instance and the tag. Takes over
 * `node`. */
struct cnnvp_path_node *cnnvp_path_extend(struct cnnvp_path *path, struct cnnvp_path_node *node, uint32_t instance,
                                          uint32_t tag, cnnvp_time at);

/* Returns the moment at which both nodes have occurred. Takes over `node`, not `other`. */
struct cnnvp_path_node *cnnvp_path_join(struct cnnvp_path *path, struct cnnvp_path_node *node,
                                        struct cnnvp_path_node *other);

#define CNNVP_PATH_SAME_TAG UINT32_MAX /* the tag of the node before */

/* -- the running code -- */

/* Makes `next` the cause of the running code. Takes over its node, and returns the previous cause with its node. */
static inline struct cnnvp_path_here cnnvp_path_enter(struct cnnvp_path *path, struct cnnvp_path_here next)
{
    const struct cnnvp_path_here before = path->here;
    path->here = next;
    return before;
}
/* The present moment, with a reference for the caller. Time since the last node is assigned to the tag; for
 * CNNVP_PATH_SAME_TAG, to the tag of `here`. */
struct cnnvp_path_node *cnnvp_path_now(struct cnnvp_path *path, uint32_t tag, cnnvp_time now);

/* The running code has also waited for `other`. */
void cnnvp_path_join_here(struct cnnvp_path *path, struct cnnvp_path_node *other, cnnvp_time now);

/* -- accesses that are answered at once -- */

/* An access begins. Saves the answer of the caller's earlier accesses in *callers. */
static inline void cnnvp_path_ask(struct cnnvp_path *path, struct cnnvp_path_answer *callers)
{
    callers->end = 0;
    if (path->answer.end != 0)
        *callers = path->answer;
    path->answer.end = 0;
}
void cnnvp_path_take_time(struct cnnvp_path *path, const struct cnnvp_path_answer *callers, uint32_t instance,
                          cnnvp_time before, cnnvp_time after);
/* The instance has answered the access; its delay grew from `before` to `after`. */
static inline void cnnvp_path_answered(struct cnnvp_path *path, const struct cnnvp_path_answer *callers,
                                       uint32_t instance, cnnvp_time before, cnnvp_time after)
{
    if (after > before || callers->end != 0)
        cnnvp_path_take_time(path, callers, instance, before, after);
    else
        path->answer.end = 0;
}
/* The moment at which the last access ends, with a reference for the caller. */
struct cnnvp_path_node *cnnvp_path_end(struct cnnvp_path *path, uint32_t tag, cnnvp_time now);

/* -- the result -- */

/* Ends a run: the cause of the running code is the end of the path. */
void cnnvp_path_close(struct cnnvp_path *path, cnnvp_time now);
/* Ends a run that is stopped from outside: the end of the path is the next moment that is known to come, as far as
 * `now`; without one, the last moment. */
void cnnvp_path_stop(struct cnnvp_path *path, cnnvp_time now);
/* All work is abandoned at `now`, where the last run has ended; what follows has that moment as its history. */
void cnnvp_path_restart(struct cnnvp_path *path, cnnvp_time now);
/* What came before the last restart is of no tag. */
void cnnvp_path_untag(struct cnnvp_path *path);
/* Receives a part of the path within one window. */
typedef void (*cnnvp_path_give)(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps);
/* Calls `give` for the parts of the path up to the last run's end, at time `end`. It may be called several times for
 * the same instance, tag and window. */
void cnnvp_path_walk(struct cnnvp_path *path, cnnvp_time end, cnnvp_path_give give, void *context);
/* Estimates how much earlier the last run would have ended if the instance were twice as fast. */
double cnnvp_path_gain(const struct cnnvp_path *path, uint32_t instance);
