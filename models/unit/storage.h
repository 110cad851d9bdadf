/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a large memory holds. Zero at first, and a page of it takes no memory of the host before it is touched. From the
 * system and not from calloc: AddressSanitizer would mark each byte of it, a second for 512 MiB.
 */
#ifndef CNNVP_UNIT_STORAGE_H
#define CNNVP_UNIT_STORAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* `size` bytes, above 0; NULL if the system has no room. */
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

#endif
