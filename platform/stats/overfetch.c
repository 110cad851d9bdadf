/* SPDX-License-Identifier: Apache-2.0 */
/* Implements overfetch.h. */
#define _GNU_SOURCE /* tdestroy */
#include "overfetch.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static uint32_t alignment_of(const struct cnnvp_request *request)
{
    const uint64_t places = request->address | (request->count > 1 ? (uint64_t)request->stride : 0);
    const uint64_t bits = places | CNNVP_OVERFETCH_ALIGNED;
    return (uint32_t)(bits & (0u - bits));
}

/* Orders kinds of access. */
static int by_kind(const void *first, const void *second)
{
    const struct cnnvp_overfetch_row *a = first, *b = second;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->tensor != b->tensor)
        return a->tensor < b->tensor ? -1 : 1;
    if (a->row_bytes != b->row_bytes)
        return a->row_bytes > b->row_bytes ? -1 : 1;
    return a->op != b->op ? (a->op < b->op ? -1 : 1) : (a->alignment > b->alignment) - (a->alignment < b->alignment);
}

/* Finds or creates the row of a kind of access. NULL: out of memory. */
static struct cnnvp_overfetch_row *find(struct cnnvp_overfetch *overfetch, const struct cnnvp_overfetch_row *kind)
{
    struct cnnvp_overfetch_row *const *found = tfind(kind, &overfetch->tree, by_kind);
    struct cnnvp_overfetch_row *row = &overfetch->rows[overfetch->count];
    if (found != NULL || overfetch->count == CNNVP_OVERFETCH_MAX)
        return found != NULL ? *found : row; /* the last row is shared by the rest */
    *row = *kind;
    if (tsearch(row, &overfetch->tree, by_kind) == NULL)
        return NULL;
    ++overfetch->count;
    return row;
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
    if (overfetch->rows == NULL)
        overfetch->rows = calloc(CNNVP_OVERFETCH_MAX + 1u, sizeof *overfetch->rows);
    struct cnnvp_overfetch_row *row = overfetch->rows != NULL ? find(overfetch, &kind) : NULL;
    if (row == NULL) {
        cnnvp_overfetch_fini(overfetch);
        return 0;
    }
    row->rows += request->count;
    row->bytes += request->size * request->count;
    row->burst_bytes += burst_bytes;
    return 1;
}

static int compare(const void *first, const void *second)
{
    const struct cnnvp_overfetch_row *a = first, *b = second;
    const uint64_t of_a = a->burst_bytes - a->bytes, of_b = b->burst_bytes - b->bytes;
    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    return by_kind(a, b);
}

void cnnvp_overfetch_sort(struct cnnvp_overfetch_row *rows, uint32_t count)
{
    qsort(rows, count, sizeof *rows, compare);
}

static void keep(void *row)
{
    (void)row; /* part of an array */
}

void cnnvp_overfetch_fini(struct cnnvp_overfetch *overfetch)
{
    tdestroy(overfetch->tree, keep);
    free(overfetch->rows);
    *overfetch = (struct cnnvp_overfetch){.rows = NULL};
}
