/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding module of S001 (abstract, Part B 1-22): the packer in front of external memory. Behind the quantiser it
 * packs mantissas, the 0/1 matrix of the ReLU buffer and the position matrix of the ID buffer to where the module wants
 * them. Before backward it unpacks the matrices into these buffers. Packed planes are padded to 16 bits
 * (cnnvp_tile_packed). With `positions` staged, the position matrix passes through the ReLU buffer in both directions,
 * behind the 0/1 matrices of the tile's images (S001 C5).
 */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/pool.h"
#include "training/stage/stage.h"

#include <string.h>

#define UNIT_DEF "training/encode/encode.def"
#include "unit/unit_enums.inc"

enum { POSITIONS_direct, POSITIONS_staged };

struct encode {
    struct cnnvp_stage stage;
    bool stages; /* positions pass through the ReLU buffer */
};

static uint64_t mask_bytes(const struct cnnvp_tile *tile)
{
    return tile->channels * cnnvp_tile_packed(tile->plane, 1u);
}

/* Moves a matrix of `bytes` bytes for each image between the module's buffer (`held`) and its place in the intermediate
 * buffer. */
static void move_matrix(const struct cnnvp_tile *tile, void *held, uint64_t bytes, uint8_t *memory, uint64_t stride)
{
    for (uint64_t n = 0; n < tile->images; ++n) {
        uint8_t *of_image = (uint8_t *)held + n * bytes;
        if (tile->kind == CNNVP_TILE_UNPACK)
            memcpy(of_image, memory + n * stride, (size_t)bytes);
        else
            memcpy(memory + n * stride, of_image, (size_t)bytes);
    }
}

static bool moves_matrices(const struct cnnvp_tile *tile)
{
    return tile->kind == CNNVP_TILE_UNPACK ||
           (tile->kind == CNNVP_TILE_FORWARD && (tile->flags & CNNVP_TILE_KEEP) != 0);
}

/* Moves the matrices of a tile. Staged positions also leave their copy in the ReLU buffer. */
static void move_matrices(const struct cnnvp_stage_call *call, const struct cnnvp_tile *tile)
{
    const struct encode *encode = call->self;
    void *const *data = call->data;
    if ((tile->flags & CNNVP_TILE_RELU) != 0)
        move_matrix(tile, *data++, mask_bytes(tile), tile->mask, tile->mask_image_stride);
    if ((tile->flags & CNNVP_TILE_POOL) == 0)
        return;
    const uint64_t bytes = cnnvp_pool_ids_bytes(tile);
    move_matrix(tile, data[0], bytes, tile->positions, tile->positions_image_stride);
    if (encode->stages)
        memcpy(data[1], data[0], (size_t)(tile->images * bytes));
}

static void encode_tile(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const bool whole = (tile->flags & CNNVP_TILE_FLOAT) != 0;
    const uint64_t bytes = cnnvp_stage_mantissa_bytes(tile);
    const uint64_t plane = tile->kind == CNNVP_TILE_FORWARD ? cnnvp_tile_pooled(tile) : tile->plane;
    const char *from = whole ? (const char *)tile->values : (const char *)tile->mantissas;
    const uint64_t size = tile->channels * plane * bytes;
    if (moves_matrices(tile))
        move_matrices(call, tile);
    for (uint64_t n = 0; n < tile->images && tile->kind != CNNVP_TILE_UNPACK; ++n)
        memcpy((char *)tile->results + n * tile->results_image_stride * bytes, from + n * size, (size_t)size);
}

static void plan_matrices(const struct encode *encode, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const enum cnnvp_op op = tile->kind == CNNVP_TILE_UNPACK ? CNNVP_BORROW_WRITE : CNNVP_BORROW_READ;
    const uint64_t mask = (tile->flags & CNNVP_TILE_RELU) != 0 ? mask_bytes(tile) : 0;
    const uint64_t positions = (tile->flags & CNNVP_TILE_POOL) != 0 ? cnnvp_pool_ids_bytes(tile) : 0;
    if (mask != 0)
        cnnvp_stage_matrix(plan, tile, PORT_relu, op, 0, mask);
    if (positions != 0)
        cnnvp_stage_matrix(plan, tile, PORT_id, op, 0, positions);
    if (positions != 0 && encode->stages) { /* written behind the mask, and read again */
        cnnvp_stage_matrix(plan, tile, PORT_relu, CNNVP_BORROW_WRITE, tile->images * mask, positions);
        cnnvp_stage_matrix(plan, tile, PORT_relu, CNNVP_BORROW_READ, tile->images * mask, positions);
    }
    plan->counts[0] = (struct cnnvp_stage_count){STAT_matrix_bytes, tile->images * (mask + positions)};
}

static int encode_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const bool unpack = tile->kind == CNNVP_TILE_UNPACK;
    const bool forward = tile->kind == CNNVP_TILE_FORWARD;
    /* One span a tile in the trace: an unpack followed by a pack of the same tile gets none, because the matrices come
     * in while the mantissas go out. */
    const bool packs_later = unpack && (tile->flags & (CNNVP_TILE_REDUCE | CNNVP_TILE_MEASURE)) == 0;
    if (!unpack && !forward && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    const uint64_t values = tile->channels * (forward ? cnnvp_tile_pooled(tile) : tile->plane);
    cnnvp_stage_work(plan, tile, encode_tile,
                     packs_later ? NULL
                     : unpack    ? "unpack"
                                 : "pack",
                     STAT_busy_cycles, STAT_values, unpack ? 0 : tile->images * values);
    plan->values = values;
    if (moves_matrices(tile))
        plan_matrices(self, tile, plan);
    plan->counts[1] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    return CNNVP_OK;
}

static int encode_init(void *self, const struct cnnvp_init *init)
{
    struct encode *encode = self;
    encode->stages = init->ops->param(init->host, PARAM_positions) == POSITIONS_staged;
    return cnnvp_stage_init(self, init);
}

static const struct cnnvp_parts_row encode_parts[] = {
    {CNNVP_PART_REGISTER, 64u, 1u, CNNVP_OF_STAGES, "values on their way into packed words"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(encode, struct encode, encode_init, NULL,
           "packing of mantissas, 0/1 and position matrices for external memory");
