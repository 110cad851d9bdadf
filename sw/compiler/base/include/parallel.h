/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread pool for the compiler. Threads take the parts of the work in any order. Each part writes only its own data,
 * so results do not depend on the number of threads. The simulation never runs on these threads.
 */
#pragma once

#include <stddef.h>

/* NULL is a pool without threads. */
struct cnnvp_pool;

/* Makes a thread for each processor that this process may use, except the caller's, and at most 15. NULL if there is no
 * other processor or no memory. The threads live until cnnvp_pool_free. */
struct cnnvp_pool *cnnvp_pool_new(void);
void cnnvp_pool_free(struct cnnvp_pool *pool);

/* Calls work(context, part) for all parts below `parts`, on the pool's threads and the caller's, and returns when all
 * are done. */
void cnnvp_pool_run(struct cnnvp_pool *pool, void (*work)(void *context, size_t part), void *context, size_t parts);
