/* SPDX-License-Identifier: Apache-2.0 */
/* Banks, shift registers and trees, see window_lane.h. */
#include "window_lane.h"
#include "cnnvp_integer.h"

enum { SIDE = CNNVP_WINDOW_SIDE };

static uint64_t extent(uint32_t results, uint32_t stride, uint32_t taps, uint32_t dilation)
{
    return (uint64_t)(results - 1u) * stride + (uint64_t)(taps - 1u) * dilation + 1u;
}

/* Distance of taps; of a single one it says nothing. */
static uint32_t distance(uint32_t taps, uint32_t dilation)
{
    return taps == 1u ? 1u : dilation;
}

/* Words of one row from one bank, which holds the rows r with r mod 3 = bank. Dilated rows are taken from whatever bank
 * they lie in (conflicts are not modelled). */
static void use_bank(const struct cnnvp_fx16_tile *tile, uint32_t bank, uint64_t row, uint32_t words,
                     struct cnnvp_window_reads *reads)
{
    if ((distance(tile->ky, tile->dy) == 1u && row % SIDE != bank) || words > SIDE)
        reads->fault = true;
    reads->words += words;
}

static struct cnnvp_window_value read_word(const struct cnnvp_window_lane *lane, const struct cnnvp_fx16_tile *tile,
                                           uint64_t row, uint64_t col)
{
    struct cnnvp_window_value word = {0, true};
    if (tile->clipped)
        word.valid = col >= tile->valid_col_first && col < tile->valid_col_end && row >= tile->valid_row_first &&
                     row < tile->valid_row_end;
    if (tile->ones)
        word.value = 1;
    else if (lane->channel != NULL && row < extent(tile->out_h, tile->sy, tile->ky, tile->dy) &&
             col < extent(tile->out_w, tile->sx, tile->kx, tile->dx))
        word.value = lane->channel[row * tile->in_row_stride + col];
    return word;
}

void cnnvp_window_lane_step(struct cnnvp_window_lane *lane, const struct cnnvp_fx16_tile *tile, uint32_t x, uint32_t y,
                            uint32_t px, uint32_t py, struct cnnvp_window_reads *reads)
{
    const bool begins = x == 0 || !cnnvp_window_shifts(tile);
    const uint32_t fresh = begins ? SIDE : cnnvp_minimum32(tile->sx, SIDE);
    const uint32_t dx = distance(tile->kx, tile->dx);
    const uint32_t dy = distance(tile->ky, tile->dy);
    const uint64_t top = (uint64_t)y * tile->sy + (uint64_t)py * dy;
    const uint64_t left = (uint64_t)x * tile->sx + (uint64_t)px * dx;
    for (uint32_t bank = 0; bank < SIDE; ++bank) {
        /* Rotation: the bank that holds the window's top row feeds its first register row. */
        const uint32_t j = (uint32_t)((bank + SIDE - top % SIDE) % SIDE);
        const uint64_t row = top + (uint64_t)j * dy;
        for (uint32_t c = 0; c + fresh < SIDE; ++c)
            lane->at[j][c] = lane->at[j][c + fresh];
        use_bank(tile, bank, row, fresh, reads);
        for (uint32_t c = SIDE - fresh; c < SIDE; ++c)
            lane->at[j][c] = read_word(lane, tile, row, left + (uint64_t)c * dx);
        reads->reused += SIDE - fresh;
    }
}

int64_t cnnvp_window_tree_add(int64_t *values, uint32_t count, uint32_t acc_bits)
{
    for (; count > 1u; count = (count + 1u) / 2u) {
        for (uint32_t i = 0; i < count / 2u; ++i)
            values[i] = cnnvp_wrap((int64_t)((uint64_t)values[2u * i] + (uint64_t)values[2u * i + 1u]), acc_bits);
        if (count % 2u != 0)
            values[count / 2u] = values[count - 1u];
    }
    return cnnvp_wrap(values[0], acc_bits);
}

int64_t cnnvp_window_tree_max(int64_t *values, uint32_t count)
{
    for (; count > 1u; count = (count + 1u) / 2u) {
        for (uint32_t i = 0; i < count / 2u; ++i)
            values[i] = values[2u * i] > values[2u * i + 1u] ? values[2u * i] : values[2u * i + 1u];
        if (count % 2u != 0)
            values[count / 2u] = values[count - 1u];
    }
    return values[0];
}
