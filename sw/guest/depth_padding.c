/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image zero padding: the frame of a block. In the memory of a channel, the frame is the words before the first
 * interior word, the words between each two interior rows (right of one, left of the next), and the words behind the
 * last interior word. Each of these three parts takes one fill instruction for all channels.
 */
#include "depth.h"

void cnnvp_pad_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *block)
{
    const uint32_t before = block->border_top * block->row_stride + block->border_left;
    const uint32_t last = before + (block->height - 1u) * block->row_stride + block->width;
    cnnvp_push_fill(guest, block, 0, before, 1);
    cnnvp_push_fill(guest, block, before + block->width, block->border_right + block->border_left, block->height - 1u);
    cnnvp_push_fill(guest, block, last, block->channel_stride - last, 1);
}
