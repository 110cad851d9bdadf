/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of the compiler that falls into parts, on all processors. Parts are taken in any order by any thread, so each
 * writes places of its own and results do not depend on how many threads there are. The simulation never runs on them.
 */
#ifndef CNNVP_COMPILER_PARALLEL_H
#define CNNVP_COMPILER_PARALLEL_H

#include <stddef.h>

/* Threads that wait for work; NULL is a pool without any. */
struct cnnvp_pool;

/* As many threads as there are processors for this one besides the caller's, and not more than 15; NULL if that is
 * none, or if none can be had. They live until cnnvp_pool_free. */
struct cnnvp_pool *cnnvp_pool_new(void);
void cnnvp_pool_free(struct cnnvp_pool *pool);

/* Calls work(context, part) for all parts below `parts`, on the pool's threads and the caller's, and returns when all
 * are done. */
void cnnvp_pool_run(struct cnnvp_pool *pool, void (*work)(void *context, size_t part), void *context, size_t parts);

#endif
