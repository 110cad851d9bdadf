/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores results in the intermediate buffer, computes their scales, and splits tiles whose terms differ in scale (Part
 * B 1-11, 1-14).
 */
#include "train_tile.h"

int32_t cnnvp_train_scale(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                          const struct cnnvp_train_data *data, uint32_t image, uint32_t out_channel)
{
    /* In gradients `image` is the input channel; images with different exponents are separate parts. */
    const uint64_t in = tile->kind == CNNVP_TRAIN_GRADIENT ? (uint64_t)image * tile->in_exp_channel_stride
                                                           : (uint64_t)image * tile->in_exp_image_stride;
    const uint64_t second = (uint64_t)out_channel * tile->second_exp_channel_stride;
    return cnnvp_bfp_product_scale(
        shape->mantissa_bits, data->in_exps[in], shape->mantissa_bits, data->second_exps[second]);
}

void cnnvp_train_scales(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                        const struct cnnvp_train_data *data, int16_t *scales)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint32_t in_stride = gradient ? tile->in_exp_channel_stride : tile->in_exp_image_stride;
    const uint32_t ins = in_stride == 0 ? 1u : gradient ? tile->in_channels : tile->images;
    const uint32_t outs = tile->second_exp_channel_stride != 0 ? tile->out_channels : 1u;
    for (uint32_t i = 0; i < ins; ++i)
        for (uint32_t o = 0; o < outs; ++o)
            scales[gradient ? (uint64_t)o * ins + i : (uint64_t)i * outs + o] =
                (int16_t)cnnvp_train_scale(shape, tile, data, i, o);
}

/* a + b, clipped to 64 bits. */
static int64_t add_clipped(int64_t a, int64_t b, uint64_t *saturated)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        ++*saturated;
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return a + b;
}

static int32_t clip32(int64_t sum, uint64_t *saturated)
{
    if (sum > INT32_MAX || sum < INT32_MIN) {
        ++*saturated;
        return sum > 0 ? INT32_MAX : INT32_MIN;
    }
    return (int32_t)sum;
}

void cnnvp_train_store(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile, bool accumulate,
                       int32_t scale, const int64_t *sums, uint64_t at, uint64_t n, void *results, uint64_t *saturated)
{
    if (tile->to_float) {
        float *out = (float *)results + at;
        struct cnnvp_bfp_counts counts = {0};
        for (uint64_t i = 0; i < n; ++i) {
            float value;
            cnnvp_bfp_wide_to_float(scale, &sums[i], 1, &value, &counts);
            out[i] = accumulate ? out[i] + value : value;
        }
        *saturated += counts.saturated;
    } else if (cnnvp_train_is_wide(shape)) {
        int64_t *out = (int64_t *)results + at;
        for (uint64_t i = 0; i < n; ++i)
            out[i] = accumulate ? add_clipped(out[i], sums[i], saturated) : sums[i];
    } else {
        int32_t *out = (int32_t *)results + at;
        for (uint64_t i = 0; i < n; ++i)
            out[i] = clip32(accumulate ? add_clipped(sums[i], out[i], saturated) : sums[i], saturated);
    }
}

void cnnvp_train_store_float(const struct cnnvp_train_tile *tile, int32_t scale, const int32_t *sums, uint64_t at,
                             uint64_t n, float *results, uint64_t *saturated)
{
    float *out = results + at;
    float values[64];
    struct cnnvp_bfp_counts counts = {0};
    for (uint64_t first = 0; first < n; first += 64u) {
        const uint64_t part = n - first < 64u ? n - first : 64u;
        cnnvp_bfp_sums_to_float(scale, sums + first, part, values, &counts);
        for (uint64_t i = 0; i < part; ++i)
            out[first + i] = tile->accumulate ? out[first + i] + values[i] : values[i];
    }
    *saturated += counts.saturated;
}

uint32_t cnnvp_train_parts(const struct cnnvp_train_tile *tile)
{
    if (!tile->to_float)
        return 1u;
    if (tile->kind == CNNVP_TRAIN_GRADIENT)
        return tile->in_exp_image_stride != 0 || tile->second_exp_part_stride != 0 ? tile->images : 1u;
    return tile->in_exp_channel_stride != 0 || tile->second_exp_part_stride != 0 ? tile->in_channels : 1u;
}

void cnnvp_train_part(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                      const struct cnnvp_train_data *data, uint32_t i, struct cnnvp_train_tile *part,
                      struct cnnvp_train_data *part_data)
{
    const uint64_t bytes = cnnvp_train_is_wide(shape) ? 4u : 1u;
    uint64_t in = 0;
    uint64_t second = 0;
    *part = *tile;
    *part_data = *data;
    if (cnnvp_train_parts(tile) == 1u)
        return;
    part->accumulate = tile->accumulate || i != 0;
    part_data->second_exps += (uint64_t)i * tile->second_exp_part_stride;
    if (tile->kind == CNNVP_TRAIN_GRADIENT) {
        part->images = 1u;
        in = i * tile->in_image_stride;
        second = i * tile->error_image_stride;
        part_data->in_exps += (uint64_t)i * tile->in_exp_image_stride;
    } else {
        part->in_channels = 1u;
        in = i * tile->in_channel_stride;
        second = i * tile->w_in_stride;
        part_data->in_exps += (uint64_t)i * tile->in_exp_channel_stride;
    }
    part_data->input = (const char *)data->input + in * bytes;
    part_data->second = (const char *)data->second + second * bytes;
}
