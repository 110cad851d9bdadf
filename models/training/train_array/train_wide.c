/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PE module on mantissas of more than 8 bits, by plain loops: for runs in which quantisation must not hide
 * anything. Products of up to 46 bits add up in 64 bits; train_decode.c makes sure that they fit.
 */
#include "train_job.h"

/* Sum over all terms of one result of a forward or error convolution. */
static int64_t window_sum(const struct cnnvp_train_tile *tile, const int32_t *input, const int32_t *weights, uint32_t y,
                          uint32_t x)
{
    int64_t sum = 0;
    for (uint32_t ky = 0; ky < tile->ky; ++ky) {
        const int64_t row = cnnvp_train_source(tile, y, ky, tile->sy, tile->py, tile->in_h);
        if (row < 0)
            continue;
        for (uint32_t kx = 0; kx < tile->kx; ++kx) {
            const int64_t column = cnnvp_train_source(tile, x, kx, tile->sx, tile->px, tile->in_w);
            if (column < 0)
                continue;
            const int32_t *in = input + cnnvp_train_in_row(tile, (uint64_t)row) + column;
            const int32_t *w = weights + ky * tile->kx + kx;
            for (uint64_t c = 0; c < tile->in_channels; ++c)
                sum += (int64_t)in[c * tile->in_channel_stride] * w[c * tile->w_in_stride];
        }
    }
    return sum;
}

/* Sum over all images and positions of one element of a kernel's gradient. */
static int64_t tap_sum(const struct cnnvp_train_tile *tile, const int32_t *input, const int32_t *errors, uint32_t ky,
                       uint32_t kx)
{
    int64_t sum = 0;
    for (uint32_t image = 0; image < tile->images; ++image)
        for (uint32_t y = 0; y < tile->out_h; ++y) {
            const int64_t row = cnnvp_train_source(tile, y, ky, tile->sy, tile->py, tile->in_h);
            if (row < 0)
                continue;
            const int32_t *in = input + image * tile->in_image_stride + cnnvp_train_in_row(tile, (uint64_t)row);
            const int32_t *e = errors + image * tile->error_image_stride + cnnvp_train_error_row(tile, y);
            for (uint32_t x = 0; x < tile->out_w; ++x) {
                const int64_t column = cnnvp_train_source(tile, x, kx, tile->sx, tile->px, tile->in_w);
                if (column >= 0)
                    sum += (int64_t)in[column] * e[x];
            }
        }
    return sum;
}

/* The results are contiguous: of a convolution, the rows of each output channel of each image; of a gradient, the taps
 * of each input channel of each output channel. */
void cnnvp_train_compute_wide(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                              const struct cnnvp_train_data *data, uint64_t *saturated)
{
    const bool gradient = tile->kind == CNNVP_TRAIN_GRADIENT;
    const uint32_t images = gradient ? 1u : tile->images, inputs = gradient ? tile->in_channels : 1u;
    const uint32_t rows = gradient ? tile->ky : tile->out_h, columns = gradient ? tile->kx : tile->out_w;
    const int32_t *input = data->input, *second = data->second;
    for (uint32_t n = 0; n < images; ++n)
        for (uint32_t o = 0; o < tile->out_channels; ++o) {
            uint64_t at = n * tile->out_image_stride + o * tile->out_channel_stride;
            for (uint32_t c = 0; c < inputs; ++c) {
                const int32_t scale = tile->to_float ? cnnvp_train_scale(shape, tile, data, gradient ? c : n, o) : 0;
                for (uint32_t y = 0; y < rows; ++y)
                    for (uint32_t x = 0; x < columns; ++x, ++at) {
                        const int64_t sum =
                            gradient ? tap_sum(tile, input + c * tile->in_channel_stride,
                                               second + o * tile->error_channel_stride, y, x)
                                     : window_sum(tile, input + n * tile->in_image_stride,
                                                  second + o * tile->w_out_stride, y, x);
                        cnnvp_train_store(shape, tile, tile->accumulate, scale, &sum, at, 1u, data->results, saturated);
                    }
            }
        }
}
