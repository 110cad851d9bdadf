/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image zero padding: the frame of a block. In the memory of a channel, the frame is the words before the first
 * interior word, the words between each two interior rows (right of one, left of the next), and the words behind the
 * last interior word. Each of these three parts takes one fill instruction for all channels.
 */
#include "depth.h"

static void fill(struct cnnvp_guest *guest, const struct cnnvp_tensor *block, uint32_t first, uint32_t words,
                 uint32_t rows)
{
    const struct cnnvp_transfer zeros = {
        .buffer_addr = block->chip_address + (first << block->word_shift),
        .row_bytes = words << block->word_shift,
        .rows = rows,
        .buffer_row_stride = block->row_stride << block->word_shift,
        .planes = block->channels,
        .buffer_plane_stride = block->channel_stride << block->word_shift,
    };
    if (words != 0 && rows != 0)
        cnnvp_push_fill(guest, block, &zeros);
}

void cnnvp_pad_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *block)
{
    const uint32_t before = block->border_top * block->row_stride + block->border_left;
    const uint32_t last = before + (block->height - 1u) * block->row_stride + block->width;
    fill(guest, block, 0, before, 1);
    fill(guest, block, before + block->width, block->border_right + block->border_left, block->height - 1u);
    fill(guest, block, last, block->channel_stride - last, 1);
}
