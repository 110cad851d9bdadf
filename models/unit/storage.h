/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage of a large memory, and access to it. It reads as zero at first, and a page takes no host memory before it is
 * touched. The storage comes from mmap instead of calloc because AddressSanitizer would mark every byte (1 s for 512
 * MiB).
 */
#pragma once

#include "cnnvp_model.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Allocates `size` bytes (above 0). Returns NULL if the system has no room. */
static inline uint8_t *cnnvp_storage_make(uint64_t size)
{
    void *made = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made != MAP_FAILED ? made : NULL;
}

/* `data`: from cnnvp_storage_make with the same size, or NULL. */
static inline void cnnvp_storage_free(uint8_t *data, uint64_t size)
{
    if (data != NULL)
        (void)munmap(data, (size_t)size);
}

/* True if `size` bytes at `address` lie in a memory of `bytes` bytes. */
static inline int cnnvp_storage_has(uint64_t bytes, uint64_t address, uint64_t size)
{
    return size <= bytes && address <= bytes - size;
}

#define CNNVP_STORAGE_REQUEST_BYTES (UINT64_C(1) << 40)

/* Returns CNNVP_OK if every segment of the request lies in a memory of `bytes` bytes. */
CNNVP_MUST_USE static inline int cnnvp_storage_check(uint64_t bytes, const struct cnnvp_request *request)
{
    if (request->op > CNNVP_WRITE || !request->size || !request->count || !request->outstanding ||
        request->count > CNNVP_STORAGE_REQUEST_BYTES / request->size)
        return CNNVP_E_INVAL;
    const uint64_t steps = request->count - 1u;
    const uint64_t stride = request->stride < 0 ? 0u - (uint64_t)request->stride : (uint64_t)request->stride;
    if (!cnnvp_storage_has(bytes, request->address, request->size) || (steps && stride > bytes / steps))
        return CNNVP_E_ADDR;
    if (request->stride < 0 && steps * stride > request->address)
        return CNNVP_E_ADDR;
    const uint64_t last = request->address + steps * (uint64_t)request->stride;
    return cnnvp_storage_has(bytes, last, request->size) ? CNNVP_OK : CNNVP_E_ADDR;
}

/* Copies between the memory and the initiator's data. Does nothing if `data` is NULL. */
static inline void cnnvp_storage_copy(uint8_t *memory, void *data, uint64_t size, uint32_t op)
{
    if (data == NULL)
        return;
    if (op == CNNVP_READ)
        memcpy(data, memory, (size_t)size);
    else
        memcpy(memory, data, (size_t)size);
}

/* Copies the data of all segments of a request that cnnvp_storage_check has accepted. */
static inline void cnnvp_storage_move(uint8_t *memory, const struct cnnvp_request *request)
{
    uint8_t *data = (uint8_t *)request->data;
    for (uint64_t i = 0; data != NULL && i < request->count; ++i)
        cnnvp_storage_copy(memory + (request->address + i * (uint64_t)request->stride), data + i * request->size,
                           request->size, request->op);
}
