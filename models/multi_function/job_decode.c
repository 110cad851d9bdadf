/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command to a checked job. A guest can write any value into the descriptor registers: nothing is used before it
 * is checked here, and sizes are bounded so that no later product overflows 64 bits. Whether places lie in their
 * buffers, the buffers say.
 */
#include "job.h"

#include "cnnvp_bfp.h"
#include "stage/pool.h"

#include <string.h>

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) \
    MASK_##mnemonic = (status_mask),
#include "instruction/opcodes.def"
};

/* Status fields: place of the lowest bit. */
enum {
#define CNNVP_STATUS(mnemonic, name, lsb, width, help) LSB_##mnemonic##_##name = (lsb),
#include "instruction/opcodes.def"
};

#include "instruction/descriptors.def"
#define REGISTER_TSTAT(name, help) TSTAT_##name,
#define REGISTER_TCOEF(name, help) TCOEF_##name,
#define REGISTER_TEXP(name, help) TEXP_##name,
#define REGISTER_TPOST(name, help) TPOST_##name,
#define REGISTER_TPOSTBACK(name, help) TPOSTBACK_##name,
#define REGISTER_TSOFTMAX(name, help) TSOFTMAX_##name,
#define REGISTER_TUPDATE(name, help) TUPDATE_##name,
#define REGISTER_TBNUPDATE(name, help) TBNUPDATE_##name,
#define REGISTER_TDECODE(name, help) TDECODE_##name,
#define REGISTER_THELD(name, help) THELD_##name,
enum { CNNVP_DESCRIPTOR_TSTAT(REGISTER_TSTAT) TSTAT_COUNT };
enum { CNNVP_DESCRIPTOR_TCOEF(REGISTER_TCOEF) TCOEF_COUNT };
enum { CNNVP_DESCRIPTOR_TEXP(REGISTER_TEXP) TEXP_COUNT };
enum { CNNVP_DESCRIPTOR_TPOST(REGISTER_TPOST) TPOST_COUNT };
enum { CNNVP_DESCRIPTOR_TPOSTBACK(REGISTER_TPOSTBACK) TPOSTBACK_COUNT };
enum { CNNVP_DESCRIPTOR_TSOFTMAX(REGISTER_TSOFTMAX) TSOFTMAX_COUNT };
enum { CNNVP_DESCRIPTOR_TUPDATE(REGISTER_TUPDATE) TUPDATE_COUNT };
enum { CNNVP_DESCRIPTOR_TBNUPDATE(REGISTER_TBNUPDATE) TBNUPDATE_COUNT };
enum { CNNVP_DESCRIPTOR_TDECODE(REGISTER_TDECODE) TDECODE_COUNT };
enum { CNNVP_DESCRIPTOR_THELD(REGISTER_THELD) THELD_COUNT };

#define ADDRESS_LIMIT (UINT32_C(1) << 31)
#define SIZE_LIMIT UINT32_C(0xffff)
#define SPAN_LIMIT (UINT64_C(1) << 31)
enum { HELD_BUFFERS = 6, MAX_MIN = 0 };

static int refuse(const char **reason, const char *text)
{
    *reason = text;
    return CNNVP_E_INVAL;
}

static bool bit(const struct cnnvp_command *command, uint32_t lsb)
{
    return (command->status >> lsb & 1u) != 0;
}

static float binary32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t flag_if(bool condition, enum cnnvp_tile_flag flag)
{
    return condition ? (uint32_t)flag : 0u;
}

/* ---- parts that descriptors share ---- */

struct shape {
    uint32_t images, channels, width, height;
};

static int read_shape(const struct shape *shape, struct cnnvp_tile *tile, const char **reason)
{
    tile->images = shape->images;
    tile->channels = shape->channels;
    tile->height = tile->pooled_height = shape->height;
    tile->width = tile->pooled_width = shape->width;
    tile->plane = (uint64_t)shape->height * shape->width;
    if (shape->images == 0 || shape->images > SIZE_LIMIT || shape->channels == 0 || shape->channels > SIZE_LIMIT ||
        tile->plane == 0)
        return refuse(reason, "images, channels and values of a plane are at least 1, images and channels below 65536");
    if ((uint64_t)tile->images * tile->channels > CNNVP_JOB_MAX_VALUES ||
        tile->plane > CNNVP_JOB_MAX_VALUES / ((uint64_t)tile->images * tile->channels))
        return refuse(reason, "a tile has at most 2^24 values");
    return CNNVP_OK;
}

static struct shape packed_shape(uint32_t images, uint32_t channels, uint32_t size)
{
    return (struct shape){images, channels, size & 0xffffu, size >> 16};
}

static int read_format(uint32_t format, struct cnnvp_tile *tile, const char **reason)
{
    const uint32_t bits = format >> 8 & 0xffu;
    tile->rounding = format & 7u;
    tile->mantissa_bits = bits != 0 ? bits : 8u;
    if ((format & ~UINT32_C(0xff07)) != 0 || tile->rounding > CNNVP_BFP_ROUNDING_CARRIED ||
        tile->mantissa_bits < CNNVP_BFP_MIN_BITS || tile->mantissa_bits > CNNVP_BFP_MAX_BITS)
        return refuse(reason, "format: rounding 0 to 4 in bits 2:0, 2 to 24 mantissa bits (or 0) in bits 15:8");
    return CNNVP_OK;
}

static int read_pool(uint32_t pool, bool used, struct cnnvp_tile *tile, const char **reason)
{
    tile->kx = tile->ky = tile->sx = tile->sy = 1u;
    if (!used)
        return CNNVP_OK;
    tile->kx = pool & 0xffu;
    tile->ky = pool >> 8 & 0xffu;
    tile->sx = pool >> 16 & 0xffu;
    tile->sy = pool >> 24;
    const struct cnnvp_max_pool window = {tile->height, tile->width, tile->ky, tile->kx, tile->sy, tile->sx};
    tile->pooled_height = cnnvp_max_pool_rows(&window);
    tile->pooled_width = cnnvp_max_pool_cols(&window);
    if (tile->pooled_height == 0 || tile->pooled_width == 0)
        return refuse(
            reason, "a pool's window must be inside the map and have at most 256 positions, with strides of 1 or more");
    if (cnnvp_tile_pooled(tile) > tile->plane)
        return refuse(reason, "a pool does not enlarge the map");
    return CNNVP_OK;
}

static void read_entries(uint32_t entry, uint32_t strides, struct cnnvp_tile *tile)
{
    tile->entry = entry;
    tile->entry_image_stride = strides & 0xffffu;
    tile->entry_channel_stride = strides >> 16;
}

/* The last value of a channel has a number, too. */
static int check_numbers(const struct cnnvp_tile *tile, const char **reason)
{
    if (tile->first_value + (tile->images - 1u) * tile->map + (tile->plane - 1u) > UINT32_MAX)
        return refuse(reason, "the values of a channel are numbered by 32 bits");
    return CNNVP_OK;
}

/* An operand of the intermediate buffer: `rows` rows of `row_values`. */
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
    return job->tile.mantissa_bits > 8u ? 4u : 1u;
}

/* The sums that a command begins with, and their scales. */
static void read_sums(struct cnnvp_job *job, uint32_t address, uint32_t stride, uint64_t row_values,
                      uint32_t scale_addr, uint32_t scale_strides)
{
    const struct cnnvp_tile *tile = &job->tile;
    reads(place(job, CNNVP_JOB_IN, address, sum_bytes(job), tile->images, row_values, stride));
    job->scale_image_stride = scale_strides & 0xffffu;
    job->scale_channel_stride = scale_strides >> 16;
    if (!job->fp32)
        reads(place(job, CNNVP_JOB_SCALES, scale_addr, 2u, 1u,
                    (uint64_t)(tile->images - 1u) * job->scale_image_stride +
                        (uint64_t)(tile->channels - 1u) * job->scale_channel_stride + 1u,
                    0));
}

/* Either the entries that extremes go to, or the exponents that the quantiser uses. */
static void read_block(struct cnnvp_job *job, bool entries, bool exponents, uint32_t block, uint32_t strides)
{
    struct cnnvp_tile *tile = &job->tile;
    tile->exponent_image_stride = strides & 0xffffu;
    tile->exponent_channel_stride = strides >> 16;
    if (entries)
        read_entries(block, strides, tile);
    else if (exponents)
        reads(place(job, CNNVP_JOB_EXPONENTS, block, 1u, 1u,
                    (uint64_t)(tile->images - 1u) * tile->exponent_image_stride +
                        (uint64_t)(tile->channels - 1u) * tile->exponent_channel_stride + 1u,
                    0));
}

/* The packed matrices. */
struct matrices {
    uint32_t mask_addr, mask_stride, id_addr, id_stride;
};

static void read_matrices(struct cnnvp_job *job, const struct matrices *matrices, bool write)
{
    struct cnnvp_tile *tile = &job->tile;
    const uint64_t mask = tile->channels * cnnvp_tile_packed(tile->plane, 1u);
    const uint64_t ids =
        tile->channels * cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
    tile->mask_image_stride = matrices->mask_stride;
    tile->positions_image_stride = matrices->id_stride;
    if ((tile->flags & CNNVP_TILE_RELU) != 0)
        (write ? writes
               : reads)(place(job, CNNVP_JOB_MASK, matrices->mask_addr, 1u, tile->images, mask, matrices->mask_stride));
    if ((tile->flags & CNNVP_TILE_POOL) != 0)
        (write ? writes
               : reads)(place(job, CNNVP_JOB_POSITIONS, matrices->id_addr, 1u, tile->images, ids, matrices->id_stride));
}

/* ---- instructions ---- */

static int read_tstat(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = packed_shape(d[TSTAT_images], d[TSTAT_channels], d[TSTAT_size]);
    job->fp32 = bit(command, LSB_tstat_fp32);
    job->convert = bit(command, LSB_tstat_convert);
    tile->kind = bit(command, LSB_tstat_squares) ? CNNVP_TILE_SQUARES : CNNVP_TILE_STATISTICS;
    int status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TSTAT_format], tile, reason);
    if (status != CNNVP_OK)
        return status;
    const uint64_t row = tile->channels * tile->plane;
    read_sums(job, d[TSTAT_in_addr], d[TSTAT_in_image_stride], row, d[TSTAT_scale_addr], d[TSTAT_scale_strides]);
    if (job->convert)
        writes(place(job, CNNVP_JOB_OUT, d[TSTAT_out_addr], 4u, tile->images, row, d[TSTAT_out_image_stride]));
    read_entries(d[TSTAT_entry], d[TSTAT_entry_strides], tile);
    tile->first_value = d[TSTAT_first];
    tile->map = d[TSTAT_map];
    return check_numbers(tile, reason);
}

static int read_tcoef(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {1u, d[TCOEF_channels], 1u, 1u};
    job->shared = true;
    tile->kind = bit(command, LSB_tcoef_back) ? CNNVP_TILE_COEFFICIENTS_BACK : CNNVP_TILE_COEFFICIENTS;
    tile->form = command->status >> LSB_tcoef_form & 3u;
    tile->norm_entry = d[TCOEF_entry];
    tile->epsilon = binary32(d[TCOEF_epsilon]);
    tile->running = binary32(d[TCOEF_running]);
    return read_shape(&shape, tile, reason);
}

static int read_texp(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {1u, d[TEXP_channels], 1u, 1u};
    const bool map = bit(command, LSB_texp_map);
    const bool back = bit(command, LSB_texp_back);
    const bool each = bit(command, LSB_texp_each);
    job->shared = true;
    tile->kind = CNNVP_TILE_EXPONENTS;
    tile->flags = flag_if(map, CNNVP_TILE_MAP) | flag_if(bit(command, LSB_texp_relu), CNNVP_TILE_RELU) |
                  flag_if(back, CNNVP_TILE_MAP_BACK) | flag_if(each, CNNVP_TILE_EACH);
    tile->entry = d[TEXP_entry];
    tile->norm_entry = d[TEXP_norm_entry];
    if (back && (map || bit(command, LSB_texp_relu)))
        return refuse(reason, "texp.back goes with neither map nor relu");
    writes(place(job, CNNVP_JOB_EXPONENTS, d[TEXP_out_addr], 1u, 1u, each ? d[TEXP_channels] : 1u, 0));
    return read_shape(&shape, tile, reason);
}

static int check_tpost(const struct cnnvp_command *command, const char **reason)
{
    const bool whole = bit(command, LSB_tpost_float);
    const bool measured = bit(command, LSB_tpost_measure);
    const bool keep = bit(command, LSB_tpost_keep);
    if (whole && bit(command, LSB_tpost_pool))
        return refuse(reason, "the pool takes mantissas: float goes without it");
    if (measured && (whole || keep || bit(command, LSB_tpost_park)))
        return refuse(reason, "measure leaves nothing: it goes without float, keep and park");
    return CNNVP_OK;
}

static int read_tpost(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = packed_shape(d[TPOST_images], d[TPOST_channels], d[TPOST_size]);
    const bool measured = bit(command, LSB_tpost_measure);
    const bool whole = bit(command, LSB_tpost_float);
    tile->kind = CNNVP_TILE_FORWARD;
    job->fp32 = bit(command, LSB_tpost_fp32);
    tile->flags = flag_if(bit(command, LSB_tpost_norm), CNNVP_TILE_NORM) |
                  flag_if(bit(command, LSB_tpost_relu), CNNVP_TILE_RELU) |
                  flag_if(bit(command, LSB_tpost_pool), CNNVP_TILE_POOL) |
                  flag_if(bit(command, LSB_tpost_keep), CNNVP_TILE_KEEP) | flag_if(whole, CNNVP_TILE_FLOAT) |
                  flag_if(measured, CNNVP_TILE_MEASURE);
    int status = check_tpost(command, reason);
    if (status == CNNVP_OK)
        status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TPOST_format], tile, reason);
    if (status == CNNVP_OK)
        status = read_pool(d[TPOST_pool], bit(command, LSB_tpost_pool), tile, reason);
    if (status != CNNVP_OK)
        return status;
    const uint64_t row = tile->channels * tile->plane;
    const struct matrices matrices = {
        d[TPOST_mask_addr], d[TPOST_mask_image_stride], d[TPOST_id_addr], d[TPOST_id_image_stride]};
    read_sums(job, d[TPOST_in_addr], d[TPOST_in_image_stride], row, d[TPOST_scale_addr], d[TPOST_scale_strides]);
    tile->norm_entry = d[TPOST_norm_entry];
    if (!measured)
        writes(place(job, CNNVP_JOB_OUT, d[TPOST_out_addr], whole ? 4u : mantissa_bytes(job), tile->images,
                     tile->channels * cnnvp_tile_pooled(tile), d[TPOST_out_image_stride]));
    read_block(job, measured, !whole, d[TPOST_block], d[TPOST_block_strides]);
    if (bit(command, LSB_tpost_keep))
        read_matrices(job, &matrices, true);
    if (bit(command, LSB_tpost_park))
        writes(place(job, CNNVP_JOB_PARK, d[TPOST_park_addr], 4u, tile->images, row, d[TPOST_in_image_stride]));
    job->operands[CNNVP_JOB_PARK].half = 1u; /* the idle one */
    tile->seed = d[TPOST_seed];
    tile->first = d[TPOST_first];
    tile->image_stride = d[TPOST_tensor_image_stride];
    return CNNVP_OK;
}

static int check_tpostback(const struct cnnvp_command *command, const char **reason)
{
    const bool reduce = bit(command, LSB_tpostback_reduce);
    if (reduce && bit(command, LSB_tpostback_measure))
        return refuse(reason, "reduce and measure do not go together");
    if (!reduce && bit(command, LSB_tpostback_convert))
        return refuse(reason, "convert goes with reduce");
    return CNNVP_OK;
}

static int read_tpostback(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = packed_shape(d[TPOSTBACK_images], d[TPOSTBACK_channels], d[TPOSTBACK_size]);
    const bool reduce = bit(command, LSB_tpostback_reduce);
    const bool measured = bit(command, LSB_tpostback_measure);
    const bool norm = bit(command, LSB_tpostback_norm);
    const uint32_t idle = bit(command, LSB_tpostback_idle) ? 1u : 0u;
    tile->kind = CNNVP_TILE_BACKWARD;
    job->back = true;
    job->fp32 = bit(command, LSB_tpostback_fp32);
    job->convert = bit(command, LSB_tpostback_convert);
    tile->flags = flag_if(norm, CNNVP_TILE_NORM) | flag_if(bit(command, LSB_tpostback_relu), CNNVP_TILE_RELU) |
                  flag_if(bit(command, LSB_tpostback_pool), CNNVP_TILE_POOL) | flag_if(reduce, CNNVP_TILE_REDUCE) |
                  flag_if(measured, CNNVP_TILE_MEASURE);
    int status = check_tpostback(command, reason);
    if (status == CNNVP_OK)
        status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TPOSTBACK_format], tile, reason);
    if (status == CNNVP_OK)
        status = read_pool(d[TPOSTBACK_pool], bit(command, LSB_tpostback_pool), tile, reason);
    if (status != CNNVP_OK)
        return status;
    const uint64_t row = tile->channels * tile->plane;
    const uint64_t pooled = tile->channels * cnnvp_tile_pooled(tile);
    const struct matrices matrices = {
        d[TPOSTBACK_mask_addr], d[TPOSTBACK_mask_image_stride], d[TPOSTBACK_id_addr], d[TPOSTBACK_id_image_stride]};
    read_sums(job, d[TPOSTBACK_in_addr], d[TPOSTBACK_in_image_stride], pooled, d[TPOSTBACK_scale_addr],
              d[TPOSTBACK_scale_strides]);
    if (norm)
        reads(place(job, CNNVP_JOB_X, d[TPOSTBACK_x_addr], 4u, tile->images, row, d[TPOSTBACK_x_image_stride]));
    read_matrices(job, &matrices, false);
    job->operands[CNNVP_JOB_X].half = job->operands[CNNVP_JOB_MASK].half = job->operands[CNNVP_JOB_POSITIONS].half =
        idle;
    tile->inputs_image_stride = d[TPOSTBACK_x_image_stride];
    tile->norm_entry = d[TPOSTBACK_norm_entry];
    if (job->convert)
        writes(
            place(job, CNNVP_JOB_OUT, d[TPOSTBACK_out_addr], 4u, tile->images, pooled, d[TPOSTBACK_out_image_stride]));
    else if (!reduce && !measured)
        writes(place(job, CNNVP_JOB_OUT, d[TPOSTBACK_out_addr], mantissa_bytes(job), tile->images, row,
                     d[TPOSTBACK_out_image_stride]));
    read_block(job, reduce || measured, true, d[TPOSTBACK_block], d[TPOSTBACK_block_strides]);
    tile->seed = d[TPOSTBACK_seed];
    tile->first = d[TPOSTBACK_first];
    tile->image_stride = d[TPOSTBACK_tensor_image_stride];
    tile->first_value = d[TPOSTBACK_first_value];
    tile->map = tile->plane;
    return check_numbers(tile, reason);
}

static int read_tsoftmax(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {d[TSOFTMAX_images], d[TSOFTMAX_classes], 1u, 1u};
    const bool gradient = bit(command, LSB_tsoftmax_gradient);
    tile->kind = CNNVP_TILE_SOFTMAX;
    job->fp32 = bit(command, LSB_tsoftmax_fp32);
    tile->flags = flag_if(gradient, CNNVP_TILE_GRADIENT);
    int status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TSOFTMAX_format], tile, reason);
    if (status != CNNVP_OK)
        return status;
    read_sums(job, d[TSOFTMAX_in_addr], d[TSOFTMAX_in_image_stride], tile->channels, d[TSOFTMAX_scale_addr],
              d[TSOFTMAX_scale_strides]);
    if (gradient) {
        reads(place(job, CNNVP_JOB_LABELS, d[TSOFTMAX_label_addr], 4u, 1u, tile->images, 0));
        writes(place(job, CNNVP_JOB_OUT, d[TSOFTMAX_out_addr], 4u, tile->images, tile->channels,
                     d[TSOFTMAX_out_image_stride]));
    }
    tile->rate = binary32(d[TSOFTMAX_factor]);
    read_entries(d[TSOFTMAX_entry], d[TSOFTMAX_entry_image_stride] & SIZE_LIMIT, tile);
    tile->record = d[TSOFTMAX_result];
    if (d[TSOFTMAX_entry_image_stride] > SIZE_LIMIT)
        return refuse(reason, "distances of entries are at most 65535");
    return CNNVP_OK;
}

static int read_tupdate(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {1u, d[TUPDATE_channels], d[TUPDATE_values], 1u};
    job->shared = true;
    const bool momentum = bit(command, LSB_tupdate_momentum);
    const uint32_t idle = bit(command, LSB_tupdate_idle) ? 1u : 0u;
    tile->kind = CNNVP_TILE_UPDATE;
    job->fp32 = bit(command, LSB_tupdate_fp32);
    tile->flags = flag_if(momentum, CNNVP_TILE_MOMENTUM);
    int status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TUPDATE_format], tile, reason);
    if (status == CNNVP_OK && (d[TUPDATE_scale_stride] > SIZE_LIMIT || d[TUPDATE_entry_stride] > SIZE_LIMIT))
        status = refuse(reason, "distances of scales and entries are at most 65535");
    if (status != CNNVP_OK)
        return status;
    read_sums(job, d[TUPDATE_in_addr], 0, tile->plane, d[TUPDATE_scale_addr], d[TUPDATE_scale_stride] << 16);
    job->operands[CNNVP_JOB_IN].rows = tile->channels;
    job->operands[CNNVP_JOB_IN].stride = d[TUPDATE_in_stride];
    struct cnnvp_job_operand *weights =
        place(job, CNNVP_JOB_WEIGHTS, d[TUPDATE_value_addr], 4u, tile->channels, tile->plane, d[TUPDATE_value_stride]);
    weights->read = weights->written = true;
    if (momentum) {
        struct cnnvp_job_operand *velocities = place(job, CNNVP_JOB_VELOCITIES, d[TUPDATE_velocity_addr], 4u,
                                                     tile->channels, tile->plane, d[TUPDATE_value_stride]);
        velocities->read = velocities->written = true;
    }
    weights->half = job->operands[CNNVP_JOB_VELOCITIES].half = idle;
    tile->rate = binary32(d[TUPDATE_rate]);
    tile->momentum = binary32(d[TUPDATE_momentum]);
    read_entries(d[TUPDATE_entry], d[TUPDATE_entry_stride] << 16, tile);
    return CNNVP_OK;
}

static int read_tbnupdate(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {1u, d[TBNUPDATE_channels], 1u, 1u};
    job->shared = true;
    tile->kind = CNNVP_TILE_NORM_UPDATE;
    tile->flags = flag_if(bit(command, LSB_tbnupdate_momentum), CNNVP_TILE_MOMENTUM);
    tile->norm_entry = d[TBNUPDATE_entry];
    tile->rate = binary32(d[TBNUPDATE_rate]);
    tile->momentum = binary32(d[TBNUPDATE_momentum]);
    return read_shape(&shape, tile, reason);
}

static int read_tdecode(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    struct cnnvp_tile *tile = &job->tile;
    const struct shape shape = {1u, d[TDECODE_channels], d[TDECODE_values], 1u};
    job->shared = true;
    int status = read_shape(&shape, tile, reason);
    if (status == CNNVP_OK)
        status = read_format(d[TDECODE_format], tile, reason);
    if (status == CNNVP_OK && d[TDECODE_exp_stride] > SIZE_LIMIT)
        status = refuse(reason, "distances of exponents are at most 65535");
    if (status != CNNVP_OK)
        return status;
    reads(place(job, CNNVP_JOB_IN, d[TDECODE_in_addr], mantissa_bytes(job), tile->channels, tile->plane,
                d[TDECODE_in_stride]));
    writes(place(job, CNNVP_JOB_OUT, d[TDECODE_out_addr], 4u, tile->channels, tile->plane, d[TDECODE_out_stride]));
    read_block(job, false, true, d[TDECODE_exp_addr], d[TDECODE_exp_stride] << 16);
    return CNNVP_OK;
}

static int read_held(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t *d = command->descriptor;
    job->buffer = command->status >> LSB_tload_buffer & 7u; /* at the same place in all three */
    job->offset = d[THELD_offset];
    job->size = d[THELD_bytes];
    job->shared = true;
    job->tile.images = job->tile.channels = 1u;
    job->tile.plane = job->size / 4u;
    if (job->buffer >= HELD_BUFFERS)
        return refuse(reason, "buffer: 0 max-min, 1 sum, 2 batch norm, 3 ReLU, 4 ID, 5 output data");
    if (job->size == 0 || job->size % 4u != 0 || job->offset % 4u != 0 || job->size >= ADDRESS_LIMIT ||
        job->offset >= ADDRESS_LIMIT)
        return refuse(reason, "offset and bytes are multiples of 4 below 2^31, bytes at least 4");
    if (command->opcode == CNNVP_JOB_tclear) {
        if (job->buffer == MAX_MIN && (job->size | job->offset) % sizeof(struct cnnvp_extremes) != 0)
            return refuse(reason, "tclear of the max-min buffer takes whole entries");
        return CNNVP_OK;
    }
    struct cnnvp_job_operand *memory = place(job, CNNVP_JOB_IN, d[THELD_address], 4u, 1u, job->size / 4u, 0);
    if (command->opcode == CNNVP_JOB_tload)
        reads(memory);
    else
        writes(memory);
    return CNNVP_OK;
}

/* ---- checks of places ---- */

static int check_operand(struct cnnvp_job_operand *operand, bool may_be_held, uint32_t half, const char **reason)
{
    const uint64_t limit = SPAN_LIMIT / operand->bytes;
    if (may_be_held && (operand->address & CNNVP_TILE_HELD) != 0) {
        operand->held = true;
        operand->address &= ~CNNVP_TILE_HELD;
    }
    if (operand->address >= ADDRESS_LIMIT)
        return refuse(reason, "addresses are below 2^31");
    if (operand->address % operand->bytes != 0)
        return refuse(reason, "values must be aligned to their size");
    if (operand->row_values > limit || (operand->rows > 1u && operand->stride > limit / operand->rows))
        return refuse(reason, "an operand spans less than 2^31 bytes");
    if (operand->written && operand->rows > 1u && operand->stride < operand->row_values)
        return refuse(reason, "results of different images and channels do not overlap");
    operand->half = operand->held ? 0 : operand->half ^ half;
    return CNNVP_OK;
}

static int check_operands(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    const uint32_t half = (command->halves & CNNVP_HALF_OUTPUT) != 0;
    for (unsigned i = 0; i < CNNVP_JOB_PLACES; ++i) {
        struct cnnvp_job_operand *operand = &job->operands[i];
        if (!operand->used)
            continue;
        const int status = check_operand(operand, i == CNNVP_JOB_SCALES || i == CNNVP_JOB_EXPONENTS, half, reason);
        if (status != CNNVP_OK)
            return status;
    }
    return CNNVP_OK;
}

int cnnvp_job_decode(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason)
{
    static const struct {
        const char *name;
        uint32_t opcode, mask, count;
        int (*read)(const struct cnnvp_command *command, struct cnnvp_job *job, const char **reason);
    } forms[] = {
        {"tstat", CNNVP_JOB_tstat, MASK_tstat, TSTAT_COUNT, read_tstat},
        {"tcoef", CNNVP_JOB_tcoef, MASK_tcoef, TCOEF_COUNT, read_tcoef},
        {"texp", CNNVP_JOB_texp, MASK_texp, TEXP_COUNT, read_texp},
        {"tpost", CNNVP_JOB_tpost, MASK_tpost, TPOST_COUNT, read_tpost},
        {"tpostback", CNNVP_JOB_tpostback, MASK_tpostback, TPOSTBACK_COUNT, read_tpostback},
        {"tsoftmax", CNNVP_JOB_tsoftmax, MASK_tsoftmax, TSOFTMAX_COUNT, read_tsoftmax},
        {"tupdate", CNNVP_JOB_tupdate, MASK_tupdate, TUPDATE_COUNT, read_tupdate},
        {"tbnupdate", CNNVP_JOB_tbnupdate, MASK_tbnupdate, TBNUPDATE_COUNT, read_tbnupdate},
        {"tdecode", CNNVP_JOB_tdecode, MASK_tdecode, TDECODE_COUNT, read_tdecode},
        {"tload", CNNVP_JOB_tload, MASK_tload, THELD_COUNT, read_held},
        {"tsave", CNNVP_JOB_tsave, MASK_tsave, THELD_COUNT, read_held},
        {"tclear", CNNVP_JOB_tclear, MASK_tclear, THELD_COUNT, read_held},
    };
    *job = (struct cnnvp_job){.opcode = command->opcode};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].opcode != command->opcode)
            continue;
        if ((command->status & ~forms[i].mask) != 0)
            return refuse(reason, "only the status bits of the instruction set");
        if (command->count != forms[i].count)
            return refuse(reason, "the descriptor is not that of the opcode");
        job->name = forms[i].name;
        const int status = forms[i].read(command, job, reason);
        return status == CNNVP_OK ? check_operands(command, job, reason) : status;
    }
    return refuse(reason, "an instruction of the multi-function module");
}
