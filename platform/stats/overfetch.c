/* SPDX-License-Identifier: Apache-2.0 */
/* Implements overfetch.h. */
#include "overfetch.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS (4u * CNNVP_OVERFETCH_MAX)

static uint32_t alignment_of(const struct cnnvp_request *request)
{
    const uint64_t places = request->address | (request->count > 1 ? (uint64_t)request->stride : 0);
    const uint64_t bits = places | CNNVP_OVERFETCH_ALIGNED;
    return (uint32_t)(bits & (0u - bits));
}

static uint64_t hash(const struct cnnvp_overfetch_row *row)
{
    uint64_t sum = row->row_bytes * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= ((uint64_t)row->tensor << 32 | row->tag) * UINT64_C(0xc2b2ae3d27d4eb4f);
    sum ^= (uint64_t)row->alignment << 1 | row->op;
    sum *= UINT64_C(0x9e3779b97f4a7c15);
    return sum >> 32;
}

static int is_same(const struct cnnvp_overfetch_row *a, const struct cnnvp_overfetch_row *b)
{
    return a->row_bytes == b->row_bytes && a->tensor == b->tensor && a->tag == b->tag && a->op == b->op &&
           a->alignment == b->alignment;
}

/* Finds or creates the row of a kind of access. */
static struct cnnvp_overfetch_row *find(struct cnnvp_overfetch *overfetch, const struct cnnvp_overfetch_row *kind)
{
    for (uint64_t at = hash(kind) % SLOTS;; at = (at + 1) % SLOTS) {
        const uint32_t number = overfetch->slots[at];
        if (number == 0 && overfetch->count < CNNVP_OVERFETCH_MAX) {
            overfetch->slots[at] = overfetch->count + 1;
            overfetch->rows[overfetch->count] = *kind;
            return &overfetch->rows[overfetch->count++];
        }
        if (number == 0)
            return &overfetch->rows[CNNVP_OVERFETCH_MAX]; /* shared by the rest */
        if (is_same(&overfetch->rows[number - 1], kind))
            return &overfetch->rows[number - 1];
    }
}

int cnnvp_overfetch_add(struct cnnvp_overfetch *overfetch, const struct cnnvp_request *request, uint32_t tensor,
                        uint64_t burst_bytes)
{
    const struct cnnvp_overfetch_row kind = {
        .row_bytes = request->size,
        .tensor = tensor,
        .tag = request->tag,
        .op = request->op,
        .alignment = alignment_of(request)};
    if (overfetch->rows == NULL) {
        overfetch->rows = calloc(CNNVP_OVERFETCH_MAX + 1u, sizeof *overfetch->rows);
        overfetch->slots = calloc(SLOTS, sizeof *overfetch->slots);
    }
    if (overfetch->rows == NULL || overfetch->slots == NULL) {
        cnnvp_overfetch_fini(overfetch);
        return 0;
    }
    struct cnnvp_overfetch_row *row = find(overfetch, &kind);
    row->rows += request->count;
    row->bytes += request->size * request->count;
    row->burst_bytes += burst_bytes;
    return 1;
}

void cnnvp_overfetch_clear(struct cnnvp_overfetch *overfetch)
{
    if (overfetch->rows == NULL)
        return;
    memset(overfetch->rows, 0, (CNNVP_OVERFETCH_MAX + 1u) * sizeof *overfetch->rows);
    memset(overfetch->slots, 0, SLOTS * sizeof *overfetch->slots);
    overfetch->count = 0;
}

static int compare(const void *first, const void *second)
{
    const struct cnnvp_overfetch_row *a = first, *b = second;
    const uint64_t of_a = a->burst_bytes - a->bytes, of_b = b->burst_bytes - b->bytes;
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->tensor != b->tensor)
        return a->tensor < b->tensor ? -1 : 1;
    if (a->row_bytes != b->row_bytes)
        return a->row_bytes > b->row_bytes ? -1 : 1;
    return a->op != b->op ? (a->op < b->op ? -1 : 1) : (a->alignment > b->alignment) - (a->alignment < b->alignment);
}

void cnnvp_overfetch_sort(struct cnnvp_overfetch_row *rows, uint32_t count)
{
    qsort(rows, count, sizeof *rows, compare);
}

void cnnvp_overfetch_fini(struct cnnvp_overfetch *overfetch)
{
    free(overfetch->rows);
    free(overfetch->slots);
    *overfetch = (struct cnnvp_overfetch){.rows = NULL};
}
