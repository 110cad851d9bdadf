/* SPDX-License-Identifier: Apache-2.0 */
/* Feature-image convolution: one layer of a chain on one block. Maximum pools too: S004 has both in one module. */
#include "depth.h"

static uint32_t pack(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

static void pool_block(struct cnnvp_guest *guest, const struct cnnvp_image_layer *layer, const struct cnnvp_step *step)
{
    const struct cnnvp_image_tensor *block = &layer->in;
    const struct cnnvp_box whole = {.channels = block->channels, .rows = block->height, .columns = block->width};
    uint32_t table = 0;
    uint32_t weight_half = 0;
    if (layer->blob_count != 0)
        weight_half = cnnvp_load_blob(guest, layer->first_blob, &table);
    const uint32_t output_half = cnnvp_begin_step(guest);
    struct cnnvp_epilogue epilogue = cnnvp_epilogue_of(guest, layer, step, output_half);
    const struct cnnvp_window window = {
        .in_addr = cnnvp_tensor_chip_address(block, &whole),
        .in_row_stride = block->row_stride,
        .in_channel_stride = block->channel_stride,
        .in_channels = block->channels,
        .out_channels = block->channels,
        .out_h = step->output.rows,
        .out_w = step->output.columns,
        .kernel = pack(layer->kx, layer->ky),
        .stride = pack(layer->sx, layer->sy),
        .dilation = pack(layer->dx, layer->dy),
        .out_channel_stride = step->output.rows * step->output.columns,
        .format = layer->format,
        .valid_rows = pack(0, block->height),
        .valid_cols = pack(0, block->width),
        .seed = epilogue.seed,
    };
    cnnvp_push_window(guest, CNNVP_OPCODE_pool, 0, cnnvp_slice_halves(block->chip_half, 0, output_half), &window);
    cnnvp_use_table(&epilogue, layer, weight_half, table);
    cnnvp_end_step(guest, &epilogue);
}

void cnnvp_convolve_block(struct cnnvp_guest *guest, const struct cnnvp_image_layer *layer,
                          const struct cnnvp_step *step)
{
    if (layer->op == CNNVP_OP_CONV)
        cnnvp_convolution(guest, layer, step);
    else
        pool_block(guest, layer, step);
}
