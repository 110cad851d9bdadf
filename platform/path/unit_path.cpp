/* SPDX-License-Identifier: Apache-2.0 */
/* Records the causes of a hosted unit's work for the critical path (path.h). */
#include "unit_host.h"

#include <utility>

namespace cnnvp {

/* The kernel calls the unit because of `led_to`, which is taken over. */
void unit_host::path_enter(cnnvp_path_node *led_to)
{
    if (cnnvp_path *path = control_.path()) {
        /* a core works for no layer, unless its work says otherwise */
        const uint32_t tag = unit_.process ? 0 : CNNVP_PATH_SAME_TAG;
        cnnvp_path_drop(path, cnnvp_path_enter(path, {led_to, instance_.number, tag}).node);
    }
}

cnnvp_path_node *unit_host::path_now()
{
    cnnvp_path *path = control_.path();
    return path ? cnnvp_path_now(path, CNNVP_PATH_SAME_TAG, control_.now()) : nullptr;
}

/* `place` takes over the node. */
void unit_host::path_put(cnnvp_path_node *&place, cnnvp_path_node *node)
{
    if (place)
        cnnvp_path_drop(control_.path(), place);
    place = node;
}

/* Drops all moments after a reset: nothing that was under way has effects. */
void unit_host::path_forget()
{
    follow(CNNVP_PATH_NOW, 0);
    path_put(woken_by_, nullptr);
    path_put(asleep_, nullptr);
    path_put(outside_moment_, nullptr);
    for (auto &event : events_)
        path_put(event->path, nullptr);
    for (cnnvp_path_node *&slot : slots_)
        path_put(slot, nullptr);
}

void unit_host::keep(uint32_t slot, uint32_t from, uint32_t tag)
{
    cnnvp_path *path = control_.path();
    cnnvp_path_node *node;

    if (!path || slot >= CNNVP_PATH_SLOTS)
        return;
    if (slot >= slots_.size())
        slots_.resize(slot + 1);
    if (from == CNNVP_PATH_NOW)
        node = cnnvp_path_now(path, tag, control_.now());
    else if (from == CNNVP_PATH_ANSWER)
        node = cnnvp_path_end(path, tag, control_.now());
    else
        node = cnnvp_path_hold(from < slots_.size() ? slots_[from] : nullptr);
    path_put(slots_[slot], node);
}

void unit_host::join(uint32_t slot, uint32_t other)
{
    cnnvp_path *path = control_.path();

    if (!path || other >= slots_.size() || (slot != CNNVP_PATH_NOW && slot >= slots_.size()))
        return;
    if (slot == CNNVP_PATH_NOW && peeked_)
        return;
    if (slot == CNNVP_PATH_NOW)
        cnnvp_path_join_here(path, slots_[other], control_.now());
    else
        slots_[slot] = cnnvp_path_join(path, slots_[slot], slots_[other]);
}

void unit_host::extend(uint32_t slot, uint32_t tag, cnnvp_time at)
{
    cnnvp_path *path = control_.path();

    if (path && slot < slots_.size() && slots_[slot])
        slots_[slot] = cnnvp_path_extend(path, slots_[slot], instance_.number, tag, at);
}

void unit_host::follow(uint32_t slot, uint32_t tag)
{
    cnnvp_path *path = control_.path();

    if (!path || (slot == CNNVP_PATH_NOW && !follows_))
        return;
    path->answer.end = 0; /* forget earlier answers */
    if (follows_)
        cnnvp_path_drop(path, cnnvp_path_enter(path, followed_from_).node);
    follows_ = slot < slots_.size() && slots_[slot];
    if (follows_)
        followed_from_ = cnnvp_path_enter(path, {cnnvp_path_hold(slots_[slot]), instance_.number, tag});
}

} // namespace cnnvp
