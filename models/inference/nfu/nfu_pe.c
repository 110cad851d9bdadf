/* SPDX-License-Identifier: Apache-2.0 */
/* One PE of the cycle-stepped NFU, see nfu_pe.h (S002, PE structure; Part B 2-4, 2-7, 2-8). */
#include "nfu_pe.h"

/* ---- FIFOs ---- */

void cnnvp_nfu_fifo_reset(struct cnnvp_nfu_fifo *fifo, struct cnnvp_nfu_value *places, uint32_t depth)
{
    *fifo = (struct cnnvp_nfu_fifo){.places = places, .depth = depth};
}

void cnnvp_nfu_fifo_flush(struct cnnvp_nfu_fifo *fifo)
{
    fifo->count = 0;
    fifo->head = 0;
}

bool cnnvp_nfu_fifo_push(struct cnnvp_nfu_fifo *fifo, struct cnnvp_nfu_value value)
{
    if (fifo->count == fifo->depth)
        return false;
    uint32_t tail = fifo->head + fifo->count;
    if (tail >= fifo->depth)
        tail -= fifo->depth;
    fifo->places[tail] = value;
    ++fifo->count;
    return true;
}

bool cnnvp_nfu_fifo_pop(struct cnnvp_nfu_fifo *fifo)
{
    if (fifo->count == 0)
        return false;
    --fifo->count;
    fifo->head = fifo->head + 1u == fifo->depth ? 0 : fifo->head + 1u;
    return true;
}

struct cnnvp_nfu_value cnnvp_nfu_fifo_head(const struct cnnvp_nfu_fifo *fifo)
{
    const struct cnnvp_nfu_value nothing = {0, false};
    return fifo->count == 0 ? nothing : fifo->places[fifo->head];
}

/* ---- arithmetic ---- */

void cnnvp_nfu_pe_clear(struct cnnvp_nfu_pe *pe, const struct cnnvp_fx16_operation *operation)
{
    pe->p = operation->compare ? CNNVP_FX16_MINIMUM : 0;
}

void cnnvp_nfu_pe_execute(struct cnnvp_nfu_pe *pe, const struct cnnvp_fx16_operation *operation, int16_t k,
                          uint32_t acc_bits)
{
    const int32_t a = pe->selected.value;
    if (!pe->selected.present)
        return;
    const int32_t factor = operation->product == CNNVP_FX16_PRODUCT_AA ? a : k;
    const int32_t product = operation->product == CNNVP_FX16_PRODUCT_A ? a : factor * a;
    const int64_t addend = operation->from_k ? k : pe->p;
    const int64_t m = cnnvp_wrap((int64_t)((uint64_t)addend + (uint64_t)(int64_t)product), acc_bits);
    const int64_t c = pe->p > a ? pe->p : a;
    pe->p = operation->compare ? c : m;
}

void cnnvp_nfu_pe_add(struct cnnvp_nfu_pe *pe, int64_t addend, uint32_t acc_bits)
{
    pe->p = cnnvp_wrap((int64_t)((uint64_t)pe->p + (uint64_t)addend), acc_bits);
}
