/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the core and the units over pieces of layers with a bounded queue, and walks back the critical path. */
#include "core_path.h"

#include <math.h>
#include <stdlib.h>

#define QUEUE_PIECES 8.0 /* the queue holds at least this many pieces of a layer */
#define ALONE 4u         /* the fewest pieces of a layer */

/* A piece of a layer. Layers are divided into pieces of equal work. */
struct piece {
    size_t stage;
    double core, units;        /* ps of work */
    double begin, pushed, end; /* when the core begins and ends, and when the units end */
    size_t room; /* the core begins once this piece, counted from 1, has left the queue; 0: the queue has room */
};

static size_t pieces_of(const struct cnnvp_core_stage *stage, double queue_ps)
{
    const double pieces = ceil(stage->core * QUEUE_PIECES / queue_ps);
    return pieces > ALONE ? (size_t)pieces : ALONE;
}

static double run(struct piece *pieces, size_t count, double queue_ps)
{
    double queued = 0; /* core time of the pieces after `room`, which are in the queue */
    size_t room = 0;
    for (size_t i = 0; i < count; ++i) {
        struct piece *piece = &pieces[i];
        const double before = i != 0 ? pieces[i - 1u].end : 0;
        queued += piece->core;
        for (; queued > queue_ps && room < i; ++room)
            queued -= pieces[room].core;
        piece->room = room;
        piece->begin = fmax(i != 0 ? pieces[i - 1u].pushed : 0, room != 0 ? pieces[room - 1u].end : 0);
        piece->pushed = piece->begin + piece->core;
        piece->end = fmax(piece->pushed, fmax(before, piece->begin) + piece->units);
    }
    return count != 0 ? pieces[count - 1u].end : 0;
}

/* Follows the critical path from the end back. Each piece on it counts as the core's time or the units' time. */
static void walk(struct piece *pieces, size_t count, struct cnnvp_core_stage *stages)
{
    int in_core = 0;
    for (size_t i = count; i != 0;) {
        const struct piece *piece = &pieces[i - 1u];
        const double before = i > 1u ? pieces[i - 2u].end : 0;
        const double pushed = i > 1u ? pieces[i - 2u].pushed : 0;
        in_core |= piece->end <= piece->pushed;
        stages[piece->stage].waits += in_core ? piece->core : 0;
        stages[piece->stage].units += in_core ? 0 : piece->units;
        if (!in_core && before >= piece->begin) {
            --i;
            continue;
        }
        in_core = pushed >= piece->begin;
        i = in_core ? i - 1u : piece->room;
    }
}

double cnnvp_core_path(struct cnnvp_core_stage *stages, size_t count, double queue_ps)
{
    size_t total = 0;
    for (size_t i = 0; i < count; ++i)
        total += pieces_of(&stages[i], queue_ps);
    struct piece *pieces = malloc((total + 1u) * sizeof *pieces);
    if (pieces == NULL)
        return -1;
    size_t last = 0;
    for (size_t i = 0; i < count; ++i) {
        const size_t parts = pieces_of(&stages[i], queue_ps);
        for (size_t part = 0; part < parts; ++part)
            pieces[last++] = (struct piece){
                .stage = i, .core = stages[i].core / (double)parts, .units = stages[i].units / (double)parts};
        stages[i].waits = stages[i].units = 0;
    }
    const double ps = run(pieces, last, queue_ps);
    walk(pieces, last, stages);
    free(pieces);
    for (size_t i = 0; i < count; ++i) {
        const double all = stages[i].waits + stages[i].units;
        stages[i].waits = all > 0 ? stages[i].waits / all : 0;
    }
    return ps;
}
