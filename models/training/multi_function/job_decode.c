/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a command into a checked job. A guest can write any value into the descriptor registers, so nothing is used
 * before it is checked here. Sizes are bounded so that no later product overflows 64 bits. The buffers check that
 * operands lie inside them.
 */
#include "job.h"

#include "cnnvp_bfp.h"
#include "training/stage/pool.h"

/* The fields of all descriptors. Fields that a form does not have keep their initial values. */
struct fields {
    const struct cnnvp_command *command;
    uint32_t images, channels, width, height;
    uint32_t rounding, mantissa_bits;
    uint32_t in_addr, in_stride, in_image_stride;
    uint32_t scale_addr, scale_image_stride, scale_channel_stride;
    uint32_t out_addr, out_stride, out_image_stride;
    uint32_t entry, entry_image_stride, entry_channel_stride, norm_entry, record;
    uint32_t block, block_image_stride, block_channel_stride;
    uint32_t mask_addr, mask_image_stride, id_addr, id_image_stride, park_addr, x_addr, x_image_stride;
    uint32_t kx, ky, sx, sy;
    uint32_t seed, first, tensor_image_stride, first_value, map;
    uint32_t label_addr, value_addr, velocity_addr, value_stride;
    uint32_t offset, size;
    float epsilon, running, rate, momentum;
};

#define CNNVP_FIELDS struct fields
#include "unit/descriptor.h"

CNNVP_DESCRIPTOR(TSTAT, tstat);
CNNVP_DESCRIPTOR(TCOEF, tcoef);
CNNVP_DESCRIPTOR(TEXP, texp);
CNNVP_DESCRIPTOR(TPOST, tpost);
CNNVP_DESCRIPTOR(TPOSTBACK, tpostback);
CNNVP_DESCRIPTOR(TSOFTMAX, tsoftmax);
CNNVP_DESCRIPTOR(TUPDATE, tupdate);
CNNVP_DESCRIPTOR(TBNUPDATE, tbnupdate);
CNNVP_DESCRIPTOR(TDECODE, tdecode);
CNNVP_DESCRIPTOR(THELD, held);

#define ADDRESS_LIMIT (UINT32_C(1) << 31)
#define SPAN_LIMIT (UINT64_C(1) << 31)
enum { HELD_BUFFERS = 6, MAX_MIN = 0 };

/* A 1-bit status field of the command. */
#define BIT(mnemonic, name) (CNNVP_STATUS_OF(f->command, mnemonic, name) != 0)

static uint32_t flag_if(bool condition, enum cnnvp_tile_flag flag)
{
    return condition ? (uint32_t)flag : 0u;
}

/* ---- parts that descriptors share ---- */

static const char *read_tile(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    *tile = (struct cnnvp_tile){
        .images = f->images,
        .channels = f->channels,
        .height = f->height,
        .width = f->width,
        .plane = (uint64_t)f->height * f->width,
        .entry = f->entry,
        .entry_image_stride = f->entry_image_stride,
        .entry_channel_stride = f->entry_channel_stride,
        .norm_entry = f->norm_entry,
        .first_value = f->first_value,
        .map = f->map,
        .kx = 1,
        .ky = 1,
        .sx = 1,
        .sy = 1,
        .pooled_height = f->height,
        .pooled_width = f->width,
        .mantissa_bits = f->mantissa_bits != 0 ? f->mantissa_bits : 8u,
        .rounding = f->rounding,
        .seed = f->seed,
        .first = f->first,
        .image_stride = f->tensor_image_stride,
        .exponent_image_stride = f->block_image_stride,
        .exponent_channel_stride = f->block_channel_stride,
        .epsilon = f->epsilon,
        .running = f->running,
        .rate = f->rate,
        .momentum = f->momentum,
        .inputs_image_stride = f->x_image_stride,
        .mask_image_stride = f->mask_image_stride,
        .positions_image_stride = f->id_image_stride,
        .record = f->record,
    };
    job->scale_image_stride = f->scale_image_stride;
    job->scale_channel_stride = f->scale_channel_stride;
    if ((uint64_t)tile->images * tile->channels > CNNVP_JOB_MAX_VALUES ||
        tile->plane > CNNVP_JOB_MAX_VALUES / ((uint64_t)tile->images * tile->channels))
        return "a tile has at most 2^24 values";
    if (tile->mantissa_bits < CNNVP_BFP_MIN_BITS)
        return "format: 2 to 24 mantissa bits, or 0 for 8";
    return NULL;
}

static const char *read_pool(const struct fields *f, struct cnnvp_tile *tile)
{
    tile->flags |= CNNVP_TILE_POOL;
    tile->kx = f->kx;
    tile->ky = f->ky;
    tile->sx = f->sx;
    tile->sy = f->sy;
    const struct cnnvp_max_pool window = {tile->height, tile->width, tile->ky, tile->kx, tile->sy, tile->sx};
    tile->pooled_height = cnnvp_max_pool_rows(&window);
    tile->pooled_width = cnnvp_max_pool_cols(&window);
    if (tile->pooled_height == 0 || tile->pooled_width == 0)
        return "a pool's window must be inside the map and have at most 256 positions";
    if (cnnvp_tile_pooled(tile) > tile->plane)
        return "a pool does not enlarge the map";
    return NULL;
}

/* Checks that the last value of a channel has a number of 32 bits. */
static const char *check_numbers(const struct cnnvp_tile *tile)
{
    if (tile->first_value + (tile->images - 1u) * tile->map + (tile->plane - 1u) > UINT32_MAX)
        return "the values of a channel are numbered by 32 bits";
    return NULL;
}

/* Adds an operand in the intermediate buffer: `rows` rows of `row_values` values. */
static struct cnnvp_job_operand *place(struct cnnvp_job *job, enum cnnvp_job_place where, uint32_t address,
                                       uint32_t bytes, uint64_t rows, uint64_t row_values, uint32_t stride)
{
    struct cnnvp_job_operand *operand = &job->operands[where];
    *operand = (struct cnnvp_job_operand){
        .used = true, .address = address, .bytes = bytes, .rows = rows, .row_values = row_values, .stride = stride};
    return operand;
}

static void reads(struct cnnvp_job_operand *operand)
{
    operand->read = true;
}

static void writes(struct cnnvp_job_operand *operand)
{
    operand->written = true;
}

static uint32_t sum_bytes(const struct cnnvp_job *job)
{
    return !job->fp32 && job->tile.mantissa_bits > 8u ? 8u : 4u;
}

static uint32_t mantissa_bytes(const struct cnnvp_job *job)
{
    return cnnvp_bfp_bytes(job->tile.mantissa_bits);
}

/* Adds an operand of 1- or 2-byte numbers, one for each image and channel, or shared where a stride is 0. */
static void read_each(struct cnnvp_job *job, enum cnnvp_job_place where, uint32_t address, uint32_t bytes,
                      uint32_t image_stride, uint32_t channel_stride)
{
    const uint64_t images = (uint64_t)(job->tile.images - 1u) * image_stride;
    const uint64_t channels = (uint64_t)(job->tile.channels - 1u) * channel_stride;
    reads(place(job, where, address, bytes, 1u, images + channels + 1u, 0));
}

/* Adds the sums that a command begins with, and their scales. */
static struct cnnvp_job_operand *read_sums(const struct fields *f, struct cnnvp_job *job, uint64_t row_values)
{
    struct cnnvp_job_operand *sums =
        place(job, CNNVP_JOB_IN, f->in_addr, sum_bytes(job), job->tile.images, row_values, f->in_image_stride);
    reads(sums);
    if (!job->fp32)
        read_each(job, CNNVP_JOB_SCALES, f->scale_addr, 2u, job->scale_image_stride, job->scale_channel_stride);
    return sums;
}

/* Adds the exponents that the quantiser uses. */
static void read_exponents(const struct fields *f, struct cnnvp_job *job)
{
    read_each(job, CNNVP_JOB_EXPONENTS, f->block, 1u, f->block_image_stride, f->block_channel_stride);
}

/* Takes the entries that receive extremes from the fields of the exponents, which the command does not use then. */
static void read_block_entries(const struct fields *f, struct cnnvp_tile *tile)
{
    tile->entry = f->block;
    tile->entry_image_stride = f->block_image_stride;
    tile->entry_channel_stride = f->block_channel_stride;
}

/* Adds the packed matrices as operands. */
static void place_matrices(const struct fields *f, struct cnnvp_job *job,
                           void (*crosses)(struct cnnvp_job_operand *operand))
{
    struct cnnvp_tile *tile = &job->tile;
    const uint64_t mask = tile->channels * cnnvp_tile_packed(tile->plane, 1u);
    const uint64_t ids =
        tile->channels * cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
    if ((tile->flags & CNNVP_TILE_RELU) != 0)
        crosses(place(job, CNNVP_JOB_MASK, f->mask_addr, 1u, tile->images, mask, f->mask_image_stride));
    if ((tile->flags & CNNVP_TILE_POOL) != 0)
        crosses(place(job, CNNVP_JOB_POSITIONS, f->id_addr, 1u, tile->images, ids, f->id_image_stride));
}

/* ---- instructions ---- */

static const char *read_tstat(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    const uint64_t row = tile->channels * tile->plane;
    job->fp32 = BIT(tstat, fp32);
    job->convert = BIT(tstat, convert);
    tile->kind = BIT(tstat, squares) ? CNNVP_TILE_SQUARES : CNNVP_TILE_STATISTICS;
    (void)read_sums(f, job, row);
    if (job->convert)
        writes(place(job, CNNVP_JOB_OUT, f->out_addr, 4u, tile->images, row, f->out_image_stride));
    return check_numbers(tile);
}

static const char *read_tcoef(const struct fields *f, struct cnnvp_job *job)
{
    (void)f;
    job->shared = true;
    job->tile.kind = BIT(tcoef, back) ? CNNVP_TILE_COEFFICIENTS_BACK : CNNVP_TILE_COEFFICIENTS;
    job->tile.form = CNNVP_STATUS_OF(f->command, tcoef, form);
    return NULL;
}

static const char *read_texp(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    job->shared = true;
    tile->kind = CNNVP_TILE_EXPONENTS;
    tile->flags = flag_if(BIT(texp, map), CNNVP_TILE_MAP) | flag_if(BIT(texp, relu), CNNVP_TILE_RELU) |
                  flag_if(BIT(texp, back), CNNVP_TILE_MAP_BACK) | flag_if(BIT(texp, each), CNNVP_TILE_EACH);
    if (BIT(texp, back) && (BIT(texp, map) || BIT(texp, relu)))
        return "texp.back goes with neither map nor relu";
    writes(place(job, CNNVP_JOB_EXPONENTS, f->out_addr, 1u, 1u, BIT(texp, each) ? f->channels : 1u, 0));
    return NULL;
}

static const char *read_tpost(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    const bool measured = BIT(tpost, measure);
    const bool whole = BIT(tpost, float);
    const uint64_t row = tile->channels * tile->plane;
    tile->kind = CNNVP_TILE_FORWARD;
    job->fp32 = BIT(tpost, fp32);
    tile->flags = flag_if(BIT(tpost, norm), CNNVP_TILE_NORM) | flag_if(BIT(tpost, relu), CNNVP_TILE_RELU) |
                  flag_if(BIT(tpost, keep), CNNVP_TILE_KEEP) | flag_if(whole, CNNVP_TILE_FLOAT) |
                  flag_if(measured, CNNVP_TILE_MEASURE);
    if (whole && BIT(tpost, pool))
        return "the pool takes mantissas: float goes without it";
    if (measured && (whole || BIT(tpost, keep) || BIT(tpost, park)))
        return "measure leaves nothing: it goes without float, keep and park";
    const char *wrong = BIT(tpost, pool) ? read_pool(f, tile) : NULL;
    if (wrong != NULL)
        return wrong;
    (void)read_sums(f, job, row);
    if (!measured)
        writes(place(job, CNNVP_JOB_OUT, f->out_addr, whole ? 4u : mantissa_bytes(job), tile->images,
                     tile->channels * cnnvp_tile_pooled(tile), f->out_image_stride));
    if (measured)
        read_block_entries(f, tile);
    else if (!whole)
        read_exponents(f, job);
    if (BIT(tpost, keep))
        place_matrices(f, job, writes);
    if (BIT(tpost, park))
        writes(place(job, CNNVP_JOB_PARK, f->park_addr, 4u, tile->images, row, f->in_image_stride));
    job->operands[CNNVP_JOB_PARK].half = 1u; /* the idle half */
    return NULL;
}

static const char *read_tpostback(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    const bool reduce = BIT(tpostback, reduce);
    const bool measured = BIT(tpostback, measure);
    const uint64_t row = tile->channels * tile->plane;
    tile->kind = CNNVP_TILE_BACKWARD;
    job->back = true;
    job->fp32 = BIT(tpostback, fp32);
    job->convert = BIT(tpostback, convert);
    tile->flags = flag_if(BIT(tpostback, norm), CNNVP_TILE_NORM) | flag_if(BIT(tpostback, relu), CNNVP_TILE_RELU) |
                  flag_if(reduce, CNNVP_TILE_REDUCE) | flag_if(measured, CNNVP_TILE_MEASURE);
    if (reduce && measured)
        return "reduce and measure do not go together";
    if (!reduce && job->convert)
        return "convert goes with reduce";
    const char *wrong = BIT(tpostback, pool) ? read_pool(f, tile) : NULL;
    if (wrong != NULL)
        return wrong;
    const uint64_t pooled = tile->channels * cnnvp_tile_pooled(tile);
    (void)read_sums(f, job, pooled);
    if (BIT(tpostback, norm))
        reads(place(job, CNNVP_JOB_X, f->x_addr, 4u, tile->images, row, f->x_image_stride));
    place_matrices(f, job, reads);
    job->operands[CNNVP_JOB_X].half = job->operands[CNNVP_JOB_MASK].half = job->operands[CNNVP_JOB_POSITIONS].half =
        CNNVP_STATUS_OF(f->command, tpostback, idle);
    if (job->convert || (!reduce && !measured))
        writes(place(job, CNNVP_JOB_OUT, f->out_addr, job->convert ? 4u : mantissa_bytes(job), tile->images,
                     job->convert ? pooled : row, f->out_image_stride));
    if (reduce || measured)
        read_block_entries(f, tile);
    else
        read_exponents(f, job);
    tile->map = tile->plane;
    return check_numbers(tile);
}

static const char *read_tsoftmax(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    const bool gradient = BIT(tsoftmax, gradient);
    tile->kind = CNNVP_TILE_SOFTMAX;
    job->fp32 = BIT(tsoftmax, fp32);
    tile->flags = flag_if(gradient, CNNVP_TILE_GRADIENT);
    (void)read_sums(f, job, tile->channels);
    if (gradient) {
        reads(place(job, CNNVP_JOB_LABELS, f->label_addr, 4u, 1u, tile->images, 0));
        writes(place(job, CNNVP_JOB_OUT, f->out_addr, 4u, tile->images, tile->channels, f->out_image_stride));
    }
    return NULL;
}

/* Adds rows of weights or velocities, which are changed in place. */
static void place_rows(const struct fields *f, struct cnnvp_job *job, enum cnnvp_job_place where, uint32_t address,
                       uint32_t half)
{
    struct cnnvp_job_operand *rows =
        place(job, where, address, 4u, job->tile.channels, job->tile.plane, f->value_stride);
    rows->read = rows->written = true;
    rows->half = half;
}

static const char *read_tupdate(const struct fields *f, struct cnnvp_job *job)
{
    struct cnnvp_tile *tile = &job->tile;
    const uint32_t idle = CNNVP_STATUS_OF(f->command, tupdate, idle);
    job->shared = true;
    tile->kind = CNNVP_TILE_UPDATE;
    job->fp32 = BIT(tupdate, fp32);
    tile->flags = flag_if(BIT(tupdate, momentum), CNNVP_TILE_MOMENTUM);
    struct cnnvp_job_operand *sums = read_sums(f, job, tile->plane);
    sums->rows = tile->channels;
    sums->stride = f->in_stride;
    place_rows(f, job, CNNVP_JOB_WEIGHTS, f->value_addr, idle);
    if (BIT(tupdate, momentum))
        place_rows(f, job, CNNVP_JOB_VELOCITIES, f->velocity_addr, idle);
    return NULL;
}

static const char *read_tbnupdate(const struct fields *f, struct cnnvp_job *job)
{
    (void)f;
    job->shared = true;
    job->tile.kind = CNNVP_TILE_NORM_UPDATE;
    job->tile.flags = flag_if(BIT(tbnupdate, momentum), CNNVP_TILE_MOMENTUM);
    return NULL;
}

static const char *read_tdecode(const struct fields *f, struct cnnvp_job *job)
{
    const struct cnnvp_tile *tile = &job->tile;
    job->shared = true;
    reads(place(job, CNNVP_JOB_IN, f->in_addr, mantissa_bytes(job), tile->channels, tile->plane, f->in_stride));
    writes(place(job, CNNVP_JOB_OUT, f->out_addr, 4u, tile->channels, tile->plane, f->out_stride));
    read_exponents(f, job);
    return NULL;
}

static const char *read_held(const struct fields *f, struct cnnvp_job *job)
{
    job->buffer = CNNVP_STATUS_OF(f->command, tload, buffer); /* same bits in all three instructions */
    job->offset = f->offset;
    job->size = f->size;
    job->shared = true;
    job->tile.plane = job->size / 4u;
    if (job->buffer >= HELD_BUFFERS)
        return "buffer: 0 max-min, 1 sum, 2 batch norm, 3 ReLU, 4 ID, 5 output data";
    if (f->command->opcode == CNNVP_OPCODE_tclear) {
        if (job->buffer == MAX_MIN && (job->size | job->offset) % sizeof(struct cnnvp_extremes) != 0)
            return "tclear of the max-min buffer takes whole entries";
        return NULL;
    }
    struct cnnvp_job_operand *memory = place(job, CNNVP_JOB_IN, f->in_addr, 4u, 1u, job->size / 4u, 0);
    if (f->command->opcode == CNNVP_OPCODE_tload)
        reads(memory);
    else
        writes(memory);
    return NULL;
}

/* ---- checks of places ---- */

static const char *check_operand(struct cnnvp_job_operand *operand, bool may_be_held, uint32_t half)
{
    const uint64_t limit = SPAN_LIMIT / operand->bytes;
    if (may_be_held && (operand->address & CNNVP_TILE_HELD) != 0) {
        operand->held = true;
        operand->address &= ~CNNVP_TILE_HELD;
    }
    if (operand->address >= ADDRESS_LIMIT)
        return "addresses are below 2^31";
    if (operand->address % operand->bytes != 0)
        return "values must be aligned to their size";
    if (operand->row_values > limit || (operand->rows > 1u && operand->stride > limit / operand->rows))
        return "an operand spans less than 2^31 bytes";
    if (operand->written && operand->rows > 1u && operand->stride < operand->row_values)
        return "results of different images and channels do not overlap";
    operand->half = operand->held ? 0 : operand->half ^ half;
    return NULL;
}

static const char *check_operands(const struct cnnvp_command *command, struct cnnvp_job *job)
{
    const uint32_t half = (command->halves & CNNVP_HALF_OUTPUT) != 0;
    for (unsigned i = 0; i < CNNVP_JOB_PLACES; ++i) {
        struct cnnvp_job_operand *operand = &job->operands[i];
        if (!operand->used)
            continue;
        const char *wrong = check_operand(operand, i == CNNVP_JOB_SCALES || i == CNNVP_JOB_EXPONENTS, half);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

static uint32_t uses_of(const struct fields *f)
{
    const uint32_t opcode = f->command->opcode;
    const bool pool = (opcode == CNNVP_OPCODE_tpost && BIT(tpost, pool)) ||
                      (opcode == CNNVP_OPCODE_tpostback && BIT(tpostback, pool));
    return pool ? CNNVP_USES_POOL : 0u;
}

int cnnvp_job_decode(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
#define FORM(mnemonic, descriptor)                                                                         \
    {                                                                                                      \
#mnemonic, CNNVP_OPCODE_##mnemonic, CNNVP_STATUS_MASK_##mnemonic, &(descriptor), read_##descriptor \
    }
    static const struct {
        const char *name;
        uint32_t opcode, mask;
        const struct cnnvp_descriptor *descriptor;
        const char *(*read)(const struct fields *f, struct cnnvp_job *job);
    } forms[] = {
        FORM(tstat, tstat),         FORM(tcoef, tcoef),       FORM(texp, texp),       FORM(tpost, tpost),
        FORM(tpostback, tpostback), FORM(tsoftmax, tsoftmax), FORM(tupdate, tupdate), FORM(tbnupdate, tbnupdate),
        FORM(tdecode, tdecode),     FORM(tload, held),        FORM(tsave, held),      FORM(tclear, held),
    };
    *job = (struct cnnvp_job){.opcode = command->opcode};
    *reason = "an instruction of the multi-function module";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].opcode != command->opcode)
            continue;
        struct fields f = {.command = command, .images = 1, .channels = 1, .width = 1, .height = 1};
        job->name = forms[i].name;
        *reason = cnnvp_descriptor_read(forms[i].descriptor, command, forms[i].mask, uses_of(&f), &f, job->refusal);
        if (*reason == NULL)
            *reason = read_tile(&f, job);
        if (*reason == NULL)
            *reason = forms[i].read(&f, job);
        if (*reason == NULL)
            *reason = check_operands(command, job);
        break;
    }
    return *reason == NULL ? CNNVP_OK : CNNVP_E_INVAL;
}
