/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding module of S001. See encode.h. */
#include "encode.h"
#include "unit/parts.h"

#include "stage/step.h"

#include <string.h>

#define UNIT_DEF "encode/encode.def"
#include "unit/unit_enums.inc"

enum { POSITIONS_direct, POSITIONS_staged };

struct encode {
    struct cnnvp_stage stage;
    bool stages; /* positions pass the ReLU buffer */
};

/* A packed matrix of a tile. */
struct matrix {
    uint32_t port;
    bool staged;
    uint64_t staged_at; /* byte of the ReLU buffer */
    uint64_t image_bytes;
    cnnvp_reach_fn reach;
    uint8_t *memory; /* in the intermediate buffer */
    uint64_t memory_stride;
};

/* The ReLU buffer's copy of a matrix on its way: written, and read again. */
static int borrow_staged(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                         const struct cnnvp_stage_piece *piece, uint64_t at, void **data)
{
    struct cnnvp_stage_piece copy = *piece;
    copy.port = PORT_relu;
    copy.address = at;
    copy.op = CNNVP_BORROW_WRITE;
    const int status = cnnvp_stage_borrow(stage, access, &copy, data);
    copy.op = CNNVP_BORROW_READ;
    return status != CNNVP_OK ? status : cnnvp_stage_borrow(stage, access, &copy, data);
}

/* Copies a matrix to the module's memory, or back. */
static int move_matrix(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                       const struct cnnvp_tile *tile, const struct matrix *matrix, bool back)
{
    const struct cnnvp_stage_piece piece = {
        matrix->port,
        back ? CNNVP_BORROW_WRITE : CNNVP_BORROW_READ,
        0,
        tile->images * matrix->image_bytes,
        2u,
        1u,
        {tile->channels * tile->plane, 1u, matrix->reach},
        cnnvp_stage_streams(tile)};
    void *data;
    int status = cnnvp_stage_borrow(stage, access, &piece, &data);
    void *staged = data;
    if (status == CNNVP_OK && matrix->staged)
        status = borrow_staged(stage, access, &piece, matrix->staged_at, &staged);
    if (status != CNNVP_OK)
        return status;
    cnnvp_stage_count(stage, access, STAT_matrix_bytes, piece.size);
    if (!cnnvp_stage_computes(stage, access))
        return CNNVP_OK;
    if (matrix->staged && !back)
        memcpy(staged, data, (size_t)piece.size);
    for (uint64_t n = 0; n < tile->images; ++n) {
        uint8_t *held = (uint8_t *)staged + n * matrix->image_bytes;
        uint8_t *memory = matrix->memory + n * matrix->memory_stride;
        memcpy(back ? held : memory, back ? memory : held, (size_t)matrix->image_bytes);
    }
    if (matrix->staged && back)
        memcpy(data, staged, (size_t)piece.size);
    return CNNVP_OK;
}

static int move_matrices(const struct encode *encode, const struct cnnvp_access *access, const struct cnnvp_tile *tile,
                         bool back)
{
    const struct cnnvp_stage *stage = &encode->stage;
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const bool has_mask = (tile->flags & CNNVP_TILE_RELU) != 0;
    const struct matrix mask = {
        .port = PORT_relu,
        .image_bytes = tile->channels * cnnvp_tile_packed(tile->plane, 1u),
        .reach = cnnvp_reach_bit,
        .memory = tile->mask,
        .memory_stride = tile->mask_image_stride};
    const struct matrix positions = {
        .port = PORT_id,
        .staged = encode->stages,
        .staged_at = has_mask ? tile->images * mask.image_bytes : 0,
        .image_bytes = tile->channels * cnnvp_tile_packed(cnnvp_tile_pooled(tile), bits),
        .reach = cnnvp_reach_position,
        .memory = tile->positions,
        .memory_stride = tile->positions_image_stride};
    int status = CNNVP_OK;
    if (has_mask)
        status = move_matrix(stage, access, tile, &mask, back);
    if (status == CNNVP_OK && (tile->flags & CNNVP_TILE_POOL) != 0)
        status = move_matrix(stage, access, tile, &positions, back);
    return status;
}

static void put_results(const struct cnnvp_tile *tile, uint64_t plane)
{
    const bool whole = (tile->flags & CNNVP_TILE_FLOAT) != 0;
    const uint64_t bytes = whole || tile->mantissa_bits > 8u ? 4u : 1u;
    const char *from = whole ? (const char *)tile->values : (const char *)tile->mantissas;
    const uint64_t size = tile->channels * plane * bytes;
    for (uint64_t n = 0; n < tile->images; ++n)
        memcpy((char *)tile->results + n * tile->results_image_stride * bytes, from + n * size, (size_t)size);
}

static uint64_t plane_of(const struct cnnvp_tile *tile)
{
    return tile->kind == CNNVP_TILE_FORWARD ? cnnvp_tile_pooled(tile) : tile->plane;
}

/* Stages: the value; its place in the packed tile. */
static void fetch(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    const uint64_t from = (uint64_t)image * tile->channels * plane_of(tile) + index;
    if ((tile->flags & CNNVP_TILE_FLOAT) != 0)
        value->a = tile->values[from];
    else if (tile->mantissa_bits > 8u)
        value->number = ((const int32_t *)tile->mantissas)[from];
    else
        value->number = ((const int8_t *)tile->mantissas)[from];
}

static void put(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    const uint64_t to = image * tile->results_image_stride + index;
    if ((tile->flags & CNNVP_TILE_FLOAT) != 0)
        ((float *)tile->results)[to] = value->a;
    else if (tile->mantissa_bits > 8u)
        ((int32_t *)tile->results)[to] = value->number;
    else
        ((int8_t *)tile->results)[to] = (int8_t)value->number;
}

static const struct cnnvp_stages packing = {2, {fetch, put}};
static const struct cnnvp_stages unpacking = {0, {NULL}};

static int encode_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct encode *encode = self;
    const struct cnnvp_stage *stage = &encode->stage;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    const bool unpack = tile->kind == CNNVP_TILE_UNPACK;
    if (!unpack && tile->kind != CNNVP_TILE_FORWARD && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    const bool forward = tile->kind == CNNVP_TILE_FORWARD;
    if (unpack || (forward && (tile->flags & CNNVP_TILE_KEEP) != 0))
        status = move_matrices(encode, access, tile, unpack);
    if (status != CNNVP_OK)
        return status;
    const uint64_t plane = forward ? cnnvp_tile_pooled(tile) : tile->plane;
    if (!unpack && cnnvp_stage_computes_fast(stage, access, tile))
        put_results(tile, plane);
    const uint64_t values = tile->channels * plane;
    /* One row in the trace: matrices come in while mantissas of the same tile go out. */
    const bool packs_later = unpack && (tile->flags & (CNNVP_TILE_REDUCE | CNNVP_TILE_MEASURE)) == 0;
    uint64_t cycles;
    status = cnnvp_stage_take(stage, access, tile, values, 1u, unpack ? &unpacking : &packing, tile, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {
        packs_later ? NULL
        : unpack    ? "unpack"
                    : "pack",
        STAT_busy_cycles, STAT_values, cycles, unpack ? 0 : tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    return CNNVP_OK;
}

static int encode_init(void *self, const struct cnnvp_init *init)
{
    struct encode *encode = self;
    encode->stages = init->ops->param(init->host, PARAM_positions) == POSITIONS_staged;
    return cnnvp_stage_init(self, init);
}

static void encode_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, (params[PARAM_pipeline] + 1u) * cnnvp_module_lanes(costs),
                   "values on their way into packed words");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_encode = {
    UNIT_TABLES,
    .kind = "encode",
    .version = "1.0",
    .summary = "packer of mantissas, 0/1 and position matrices in front of external memory",
    .instance_size = sizeof(struct encode),
    .init = encode_init,
    .access = encode_access,
    .costs = encode_costs,
};
