/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops for a debugger. No cached block contains an instruction with a stop: blocks end before one, and the stop is
 * found when a block at its address is looked up. While there are stops on data, every load and store takes the slow
 * path.
 */
#include "rv32_internal.h"

static struct rv32_stop *find(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < core->debug.stops; ++i) {
        struct rv32_stop *stop = &core->debug.stop[i];
        if (stop->kind == kind && stop->address == address && (stop->size == size || kind == CNNVP_RV32_ON_EXECUTE))
            return stop;
    }
    return NULL;
}

int cnnvp_rv32_add_stop(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size)
{
    if (find(core, kind, address, size) != NULL)
        return 0;
    if (core->debug.stops == CNNVP_RV32_MAX_STOPS || (size == 0 && kind != CNNVP_RV32_ON_EXECUTE))
        return -1;
    core->debug.stop[core->debug.stops++] = (struct rv32_stop){kind, address, size};
    if (kind == CNNVP_RV32_ON_EXECUTE) {
        rv32_flush(core);
    } else {
        ++core->debug.on_data;
        rv32_close_windows(core);
    }
    return 0;
}

int cnnvp_rv32_remove_stop(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size)
{
    struct rv32_stop *stop = find(core, kind, address, size);
    if (stop == NULL)
        return -1;
    *stop = core->debug.stop[--core->debug.stops];
    if (kind == CNNVP_RV32_ON_EXECUTE)
        rv32_flush(core);
    else
        --core->debug.on_data;
    return 0;
}

enum cnnvp_rv32_stop_kind cnnvp_rv32_last_hit(const struct cnnvp_rv32 *core, uint32_t *address)
{
    *address = core->debug.hit_address;
    return core->debug.hit_kind;
}

int rv32_stops_at(const struct cnnvp_rv32 *core, uint32_t pc)
{
    for (unsigned i = 0; i < core->debug.stops; ++i)
        if (core->debug.stop[i].kind == CNNVP_RV32_ON_EXECUTE && core->debug.stop[i].address == pc)
            return 1;
    return 0;
}

void rv32_accessed(struct cnnvp_rv32 *core, enum cnnvp_rv32_stop_kind kind, uint32_t address, uint32_t size)
{
    for (unsigned i = 0; i < core->debug.stops; ++i) {
        const struct rv32_stop *stop = &core->debug.stop[i];
        if (stop->kind != kind && stop->kind != CNNVP_RV32_ON_ACCESS)
            continue;
        if (address - stop->address >= stop->size && stop->address - address >= size)
            continue;
        core->debug.hit = 1;
        core->debug.hit_kind = stop->kind;
        core->debug.hit_address = address - stop->address < stop->size ? address : stop->address;
        core->attention = 1;
        return;
    }
}
