/* SPDX-License-Identifier: Apache-2.0 */
/* Implements path.h. When memory runs out, no new nodes are made, and the time is assigned to the last known node. */
#include "path.h"

#include <stdlib.h>

enum { CHUNK = 1024, FIRST_FOLD = 8192, FIRST_SUMS = 8 };

/* Hash table with open addressing; an entry with ps 0 is free. */
struct cnnvp_path_sums {
    uint32_t size; /* a power of two */
    uint32_t count;
    uint32_t shift; /* log2 of its window size in ps */
    struct sum {
        uint64_t key;
        uint64_t ps;
    } entries[];
};

struct cnnvp_path_chunk {
    struct cnnvp_path_chunk *next;
    struct cnnvp_path_node nodes[CHUNK];
    double gains[]; /* arrays of gains, one for each node in turn */
};

/* ---- sums ---- */

/* A key is window, instance and tag, with the window in the highest bits. Shifting the window right gives the wider
 * window that contains it. */
enum { WINDOW_LSB = 64 - CNNVP_PATH_WINDOW_BITS, INSTANCE_LSB = 32 };

static uint64_t window_of(uint64_t key)
{
    return key >> WINDOW_LSB;
}

static void put(struct cnnvp_path_sums *sums, uint64_t key, uint64_t ps)
{
    uint64_t place = (key * 0x9e3779b97f4a7c15u) >> 32;
    struct sum *entry;

    while (entry = &sums->entries[place & (sums->size - 1u)], entry->ps != 0 && entry->key != key)
        ++place;
    sums->count += entry->ps == 0;
    entry->key = key;
    entry->ps += ps;
}

static uint64_t widened(uint64_t key, uint32_t by)
{
    return (key & ((UINT64_C(1) << WINDOW_LSB) - 1u)) | window_of(key) >> by << WINDOW_LSB;
}

/* Makes room for one more entry, and converts to the path's window size. Returns 0 if out of memory. */
static int make_room(struct cnnvp_path_sums **sums, uint32_t shift)
{
    struct cnnvp_path_sums *old = *sums;
    const int full = old != NULL && old->count * 2u >= old->size;
    if (old != NULL && !full && old->shift == shift)
        return 1;
    const uint32_t size = old == NULL ? FIRST_SUMS : full ? old->size * 2u : old->size;
    struct cnnvp_path_sums *fresh = calloc(1, sizeof *fresh + size * sizeof fresh->entries[0]);
    if (fresh == NULL)
        return 0;
    fresh->size = size;
    fresh->shift = shift;
    for (uint32_t i = 0; old != NULL && i < old->size; ++i)
        if (old->entries[i].ps != 0)
            put(fresh, widened(old->entries[i].key, shift - old->shift), old->entries[i].ps);
    free(old);
    *sums = fresh;
    return 1;
}

static int add(struct cnnvp_path_sums **sums, uint32_t shift, uint64_t key, uint64_t ps)
{
    if (ps == 0)
        return 1;
    if (!make_room(sums, shift))
        return 0;
    put(*sums, key, ps);
    return 1;
}

/* Of the interval of length `ps` that ends at `end`: returns the length of the part in its last window, and that
 * window. */
static uint64_t last_window(const struct cnnvp_path *path, cnnvp_time end, uint64_t ps, uint64_t *window)
{
    *window = (end - 1u) >> path->shift;
    const uint64_t before = end - (*window << path->shift);
    return before < ps ? before : ps;
}

/* Doubles the window size until the windows reach to `at`. */
static void widen(struct cnnvp_path *path, cnnvp_time at)
{
    while (at >> path->shift >= CNNVP_PATH_WINDOWS)
        ++path->shift;
}

/* ---- nodes ---- */

static void give_back(struct cnnvp_path *path, struct cnnvp_path_node *node)
{
    free(node->past);
    node->past = NULL;
    node->parent = path->idle;
    path->idle = node;
    --path->count;
}

/* Folds the parent into the node if nothing else refers to it. Returns 1 if done. */
static int fold_parent(struct cnnvp_path *path, struct cnnvp_path_node *node)
{
    struct cnnvp_path_node *parent = node->parent;
    if (parent == NULL || parent->holders != 1)
        return 0;
    const int adjoins = node->past == NULL || path->shift == CNNVP_PATH_WHOLE;
    if (node->past == NULL || (parent->past != NULL && parent->past->count > node->past->count)) {
        struct cnnvp_path_sums *const smaller = node->past; /* the larger table absorbs the smaller one */
        node->past = parent->past;
        parent->past = smaller;
    }
    /* moved entries become 0, so that running out of memory midway loses nothing */
    for (uint32_t i = 0; parent->past != NULL && i < parent->past->size; ++i) {
        struct sum *entry = &parent->past->entries[i];
        if (!add(&node->past, path->shift, widened(entry->key, path->shift - parent->past->shift), entry->ps))
            return 0;
        entry->ps = 0;
    }
    if (adjoins && parent->instance == node->instance && parent->tag == node->tag) {
        node->ps += parent->ps;
        parent->ps = 0;
    }
    while (parent->ps != 0) {
        uint64_t window;
        const uint64_t part = last_window(path, parent->at, parent->ps, &window);
        const uint64_t key = window << WINDOW_LSB | (uint64_t)parent->instance << INSTANCE_LSB | parent->tag;
        if (!add(&node->past, path->shift, key, part))
            return 0;
        parent->at -= part;
        parent->ps -= part;
    }
    node->parent = parent->parent;
    parent->holders = 0;
    give_back(path, parent);
    return 1;
}

static void fold(struct cnnvp_path *path)
{
    for (struct cnnvp_path_chunk *chunk = path->chunks; chunk != NULL; chunk = chunk->next)
        for (size_t i = 0; i < CHUNK; ++i)
            if (chunk->nodes[i].holders != 0)
                widen(path, chunk->nodes[i].at);
    for (struct cnnvp_path_chunk *chunk = path->chunks; chunk != NULL; chunk = chunk->next)
        for (size_t i = 0; i < CHUNK; ++i)
            while (chunk->nodes[i].holders != 0 && fold_parent(path, &chunk->nodes[i]))
                ;
    path->fold_at = path->count * 2u > FIRST_FOLD ? path->count * 2u : FIRST_FOLD;
}

/* A node at the moment of `parent`, which it takes over; NULL: the beginning. */
static struct cnnvp_path_node *new_node(struct cnnvp_path *path, struct cnnvp_path_node *parent, uint32_t instance,
                                        uint32_t tag)
{
    if (path->count >= path->fold_at)
        fold(path);
    if (path->idle == NULL) {
        struct cnnvp_path_chunk *chunk = calloc(1, sizeof *chunk + CHUNK * path->instances * sizeof chunk->gains[0]);
        if (chunk == NULL)
            return NULL;
        chunk->next = path->chunks;
        path->chunks = chunk;
        for (size_t i = CHUNK; i-- > 0;) {
            chunk->nodes[i].gains = &chunk->gains[i * path->instances];
            chunk->nodes[i].parent = path->idle;
            path->idle = &chunk->nodes[i];
        }
    }
    struct cnnvp_path_node *node = path->idle;
    path->idle = node->parent;
    ++path->count;
    *node = (struct cnnvp_path_node){
        .parent = parent,
        .at = parent != NULL ? parent->at : 0,
        .instance = instance,
        .tag = tag,
        .holders = 1,
        .gains = node->gains};
    for (size_t i = 0; i < path->met; ++i) /* gains beyond are 0 */
        node->gains[i] = parent != NULL ? parent->gains[i] : 0;
    return node;
}

void cnnvp_path_remove(struct cnnvp_path *path, struct cnnvp_path_node *node)
{
    do {
        struct cnnvp_path_node *const parent = node->parent;
        give_back(path, node);
        node = parent;
    } while (node != NULL && --node->holders == 0);
}

static size_t place_of(struct cnnvp_path *path, uint32_t instance)
{
    instance = path->first[instance];
    if (path->places[instance] == 0)
        path->places[instance] = (uint32_t)++path->met;
    return path->places[instance] - 1u;
}

struct cnnvp_path_node *cnnvp_path_extend(struct cnnvp_path *path, struct cnnvp_path_node *node, uint32_t instance,
                                          uint32_t tag, cnnvp_time at)
{
    if (node == NULL)
        node = cnnvp_path_hold(path->start);
    const cnnvp_time from = node != NULL ? node->at : 0;
    if (at <= from)
        return node;
    if (tag == CNNVP_PATH_SAME_TAG)
        tag = node != NULL ? node->tag : 0;
    else if (tag > CNNVP_MAX_TAG)
        tag = 0;
    if (node == NULL || node->holders != 1 || node->instance != instance || node->tag != tag) {
        struct cnnvp_path_node *next = new_node(path, node, instance, tag);
        if (next == NULL)
            return node;
        node = next;
    }
    node->ps += at - from;
    if (instance < path->instances)
        node->gains[place_of(path, instance)] += (double)(at - from) / 2;
    node->at = at;
    return node;
}

/* Returns 1 if the earlier node limits the gain of any instance below that of the later node. */
static int holds_back(const struct cnnvp_path *path, const struct cnnvp_path_node *later,
                      const struct cnnvp_path_node *earlier, double lag)
{
    int less = 0;
    for (size_t i = 0; i < path->met; ++i)
        less |= earlier->gains[i] + lag < later->gains[i];
    return less;
}

struct cnnvp_path_node *cnnvp_path_join(struct cnnvp_path *path, struct cnnvp_path_node *node,
                                        struct cnnvp_path_node *other)
{
    if (other == NULL || node == other)
        return node;
    if (node == NULL)
        return cnnvp_path_hold(other);
    const int is_later = node->at >= other->at;
    struct cnnvp_path_node *later = is_later ? node : cnnvp_path_hold(other);
    const struct cnnvp_path_node *const earlier = is_later ? other : node;
    const double lag = (double)(later->at - earlier->at);
    if (holds_back(path, later, earlier, lag)) {
        if (later->holders != 1) {
            struct cnnvp_path_node *own = new_node(path, later, later->instance, later->tag);
            later = own != NULL ? own : later;
        }
        for (size_t i = 0; i < path->met && later->holders == 1; ++i)
            later->gains[i] = earlier->gains[i] + lag < later->gains[i] ? earlier->gains[i] + lag : later->gains[i];
    }
    if (!is_later)
        cnnvp_path_drop(path, node);
    return later;
}

/* ---- what runs ---- */

struct cnnvp_path *cnnvp_path_new(size_t instances, int over_time)
{
    struct cnnvp_path *path = calloc(1, sizeof *path);
    uint32_t *places = calloc(instances, sizeof *places);
    uint32_t *first = calloc(instances, sizeof *first);
    if (path == NULL || places == NULL || first == NULL) {
        free(path);
        free(places);
        free(first);
        return NULL;
    }
    *path = (struct cnnvp_path){
        .fold_at = FIRST_FOLD,
        .shift = over_time ? 0 : CNNVP_PATH_WHOLE,
        .instances = instances,
        .places = places,
        .first = first};
    for (uint32_t i = 0; i < instances; ++i)
        path->first[i] = i;
    return path;
}

void cnnvp_path_alike(struct cnnvp_path *path, uint32_t instance, uint32_t first)
{
    path->first[instance] = first;
}

void cnnvp_path_free(struct cnnvp_path *path)
{
    while (path != NULL && path->chunks != NULL) {
        struct cnnvp_path_chunk *const chunk = path->chunks;
        for (size_t i = 0; i < CHUNK; ++i)
            free(chunk->nodes[i].past);
        path->chunks = chunk->next;
        free(chunk);
    }
    if (path != NULL) {
        free(path->places);
        free(path->first);
    }
    free(path);
}

struct cnnvp_path_node *cnnvp_path_now(struct cnnvp_path *path, uint32_t tag, cnnvp_time now)
{
    struct cnnvp_path_here *here = &path->here;
    here->node = cnnvp_path_extend(path, here->node, here->instance, tag == CNNVP_PATH_SAME_TAG ? here->tag : tag, now);
    return cnnvp_path_hold(here->node);
}

void cnnvp_path_join_here(struct cnnvp_path *path, struct cnnvp_path_node *other, cnnvp_time now)
{
    struct cnnvp_path_here *here = &path->here;
    struct cnnvp_path_node *node = here->node;
    if (other == NULL || node == NULL)
        return;
    now = now > node->at ? now : node->at; /* a moment is not moved back */
    if (other->at > now)
        return; /* it has yet to come, so it was not waited for */
    /* the time since `node` has yet to be assigned, and its gain added */
    const double lag = (double)(now - other->at), own = (double)(now - node->at) / 2;
    for (size_t i = 0; i < path->met; ++i) {
        const double most = other->gains[i] + lag - (path->places[path->first[here->instance]] == i + 1u ? own : 0);
        if (most >= node->gains[i])
            continue;
        if (node->holders != 1) {
            struct cnnvp_path_node *mine = new_node(path, node, node->instance, node->tag);
            if (mine == NULL)
                return;
            here->node = node = mine;
        }
        node->gains[i] = most;
    }
}

/* ---- answers ---- */

static double gain_of(const struct cnnvp_path_answer *answer, uint32_t instance)
{
    double gain = 0;
    for (uint32_t i = 0; i < answer->count; ++i)
        if (answer->parts[i].instance == instance)
            gain += answer->parts[i].gain;
    return gain;
}

/* Both answers are waited for: the earlier one limits the gains of the later one's instances. */
static void join_answers(struct cnnvp_path_answer *answer, const struct cnnvp_path_answer *other)
{
    const int is_later = answer->end >= other->end;
    struct cnnvp_path_answer later = is_later ? *answer : *other;
    const struct cnnvp_path_answer *const earlier = is_later ? other : answer;
    const double lag = (double)(later.end - earlier->end);
    for (uint32_t i = 0; i < later.count; ++i) {
        const double most = gain_of(earlier, later.parts[i].instance) + lag;
        if (most < later.parts[i].gain)
            later.parts[i].gain = most;
    }
    *answer = later;
}

/* The access began when the earlier ones had ended, so their parts are waited for, too. */
static void add_earlier(struct cnnvp_path_answer *answer, const struct cnnvp_path_answer *earlier)
{
    for (uint32_t i = 0; i < earlier->count; ++i) {
        uint32_t k = 0;
        while (k < answer->count && answer->parts[k].instance != earlier->parts[i].instance)
            ++k;
        if (k == CNNVP_PATH_PARTS)
            --k;
        else if (k == answer->count)
            answer->parts[answer->count++] = (struct cnnvp_path_part){.instance = earlier->parts[i].instance};
        answer->parts[k].ps += earlier->parts[i].ps;
        answer->parts[k].gain += earlier->parts[i].gain;
    }
}

void cnnvp_path_take_time(struct cnnvp_path *path, const struct cnnvp_path_answer *callers, uint32_t instance,
                          cnnvp_time before, cnnvp_time after)
{
    struct cnnvp_path_answer *answer = &path->answer;
    if (after <= before) {
        *answer = *callers;
        return;
    }
    cnnvp_time own = after - before;
    if (answer->end == 0 || answer->end > after) /* it does not wait for its own accesses */
        answer->count = 0;
    for (uint32_t i = 0; i < answer->count; ++i) {
        struct cnnvp_path_part *part = &answer->parts[i];
        if (part->ps > own) {
            part->ps = own;
            part->gain = part->gain < (double)own / 2 ? part->gain : (double)own / 2;
        }
        own -= part->ps;
    }
    if (answer->count < CNNVP_PATH_PARTS)
        answer->parts[answer->count++] = (struct cnnvp_path_part){instance, own, (double)own / 2};
    else
        answer->parts[CNNVP_PATH_PARTS - 1].ps += own;
    answer->end = after;
    if (callers->end != 0 && callers->end == before)
        add_earlier(answer, callers);
    else if (callers->end != 0)
        join_answers(answer, callers);
}

struct cnnvp_path_node *cnnvp_path_end(struct cnnvp_path *path, uint32_t tag, cnnvp_time now)
{
    struct cnnvp_path_node *node = cnnvp_path_now(path, CNNVP_PATH_SAME_TAG, now);
    for (uint32_t i = 0; path->answer.end != 0 && i < path->answer.count; ++i) {
        const struct cnnvp_path_part *part = &path->answer.parts[i];
        now += part->ps;
        struct cnnvp_path_node *const next = cnnvp_path_extend(path, node, part->instance, tag, now);
        if (next != NULL && next->at == now && part->ps != 0 && part->instance < path->instances)
            next->gains[place_of(path, part->instance)] -= (double)part->ps / 2 - part->gain;
        node = next;
    }
    return node;
}

/* ---- the result ---- */

void cnnvp_path_close(struct cnnvp_path *path, cnnvp_time now)
{
    struct cnnvp_path_node *const before = path->end;
    path->end = cnnvp_path_now(path, CNNVP_PATH_SAME_TAG, now);
    cnnvp_path_drop(path, before);
}

/* Of the moments whose last piece of time does not begin after `now`: the first one that is still to come, or else the
 * last one. NULL: none. */
static struct cnnvp_path_node *at_work(const struct cnnvp_path *path, cnnvp_time now)
{
    struct cnnvp_path_node *found = NULL;
    for (struct cnnvp_path_chunk *chunk = path->chunks; chunk != NULL; chunk = chunk->next)
        for (size_t i = 0; i < CHUNK; ++i) {
            struct cnnvp_path_node *const node = &chunk->nodes[i];
            if (node->holders == 0 || node->at - node->ps > now)
                continue;
            if (found == NULL || (found->at < now ? node->at > found->at : node->at >= now && node->at < found->at))
                found = node;
        }
    return found;
}

void cnnvp_path_stop(struct cnnvp_path *path, cnnvp_time now)
{
    cnnvp_path_drop(path, path->end);
    path->end = cnnvp_path_hold(at_work(path, now));
    if (path->end != NULL)
        path->end = cnnvp_path_extend(path, path->end, path->end->instance, path->end->tag, now);
}

void cnnvp_path_restart(struct cnnvp_path *path, cnnvp_time now)
{
    struct cnnvp_path_node *const end = path->end;
    if (end != NULL && end->at > now) { /* it does not come */
        end->ps -= end->at - now;
        end->at = now;
    }
    cnnvp_path_drop(path, path->start);
    path->start = cnnvp_path_hold(end);
}

void cnnvp_path_untag(struct cnnvp_path *path)
{
    for (struct cnnvp_path_node *node = path->start; node != NULL; node = node->parent) {
        struct cnnvp_path_sums *old = node->past;
        node->tag = 0;
        if (old == NULL)
            continue;
        struct cnnvp_path_sums *fresh = calloc(1, sizeof *fresh + old->size * sizeof fresh->entries[0]);
        if (fresh == NULL)
            return;
        fresh->size = old->size;
        fresh->shift = old->shift;
        for (uint32_t i = 0; i < old->size; ++i)
            if (old->entries[i].ps != 0)
                put(fresh, old->entries[i].key >> INSTANCE_LSB << INSTANCE_LSB, old->entries[i].ps);
        free(old);
        node->past = fresh;
    }
}

void cnnvp_path_walk(struct cnnvp_path *path, cnnvp_time end, cnnvp_path_give give, void *context)
{
    path->end = cnnvp_path_extend(path, path->end, path->here.instance, 0, end);
    widen(path, path->end != NULL ? path->end->at : 0);
    for (const struct cnnvp_path_node *node = path->end; node != NULL; node = node->parent) {
        uint64_t window, part;
        const uint64_t beyond = node->at > end ? node->at - end : 0;
        for (uint64_t ps = node->ps > beyond ? node->ps - beyond : 0; ps != 0; ps -= part) {
            part = last_window(path, node->at - (node->ps - ps), ps, &window);
            give(context, node->instance, node->tag, (uint32_t)window, part);
        }
        for (uint32_t i = 0; node->past != NULL && i < node->past->size; ++i) {
            const struct sum *entry = &node->past->entries[i];
            const uint64_t key = widened(entry->key, path->shift - node->past->shift);
            if (entry->ps != 0)
                give(context, (uint32_t)(key >> INSTANCE_LSB & ((1u << (WINDOW_LSB - INSTANCE_LSB)) - 1u)),
                     (uint32_t)key, (uint32_t)window_of(key), entry->ps);
        }
    }
}

double cnnvp_path_gain(const struct cnnvp_path *path, uint32_t instance)
{
    const uint32_t place = path->places[path->first[instance]];
    return path->end != NULL && place != 0 ? path->end->gains[place - 1u] : 0;
}
