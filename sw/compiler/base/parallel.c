/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#define THREADS_MAX 15u

struct cnnvp_pool {
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t begun; /* signals that a run has parts to take, or that the pool ends */
    pthread_cond_t done;  /* signals that the last thread has left a run */
    void (*work)(void *context, size_t part);
    void *context;
    size_t next; /* next part to take */
    size_t parts;
    size_t working; /* threads in the run */
    int ended;      /* 1: the threads have to end */
    size_t thread_count;
    pthread_t threads[THREADS_MAX];
};

/* Does parts of the work until none are left. The caller holds the lock. */
static void take_parts(struct cnnvp_pool *pool)
{
    ++pool->working;
    while (pool->next < pool->parts) {
        const size_t part = pool->next++;
        (void)pthread_mutex_unlock(&pool->lock);
        pool->work(pool->context, part);
        (void)pthread_mutex_lock(&pool->lock);
    }
    if (--pool->working == 0)
        (void)pthread_cond_signal(&pool->done);
}

static void *thread(void *argument)
{
    struct cnnvp_pool *pool = argument;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->ended) {
        if (pool->next < pool->parts)
            take_parts(pool);
        else
            (void)pthread_cond_wait(&pool->begun, &pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static size_t other_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    const size_t count = (size_t)CPU_COUNT(&set) - 1u;
    return count < THREADS_MAX ? count : THREADS_MAX;
}

/* New threads block signals, so that the first thread gets them: signals interrupt commands there. */
static void start_threads(struct cnnvp_pool *pool, size_t count)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS);
    (void)sigdelset(&all, SIGSEGV);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->thread_count < count && pthread_create(&pool->threads[pool->thread_count], NULL, thread, pool) == 0)
        ++pool->thread_count;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct cnnvp_pool *cnnvp_pool_new(void)
{
    const size_t count = other_processors();
    struct cnnvp_pool *pool = count != 0 ? calloc(1, sizeof *pool) : NULL;
    if (pool == NULL)
        return NULL;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->begun, NULL);
    (void)pthread_cond_init(&pool->done, NULL);
    start_threads(pool, count);
    return pool;
}

void cnnvp_pool_free(struct cnnvp_pool *pool)
{
    if (pool == NULL)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->ended = 1;
    (void)pthread_cond_broadcast(&pool->begun);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; ++i)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->begun);
    (void)pthread_cond_destroy(&pool->done);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void cnnvp_pool_run(struct cnnvp_pool *pool, void (*work)(void *context, size_t part), void *context, size_t parts)
{
    if (pool == NULL || parts < 2) {
        for (size_t part = 0; part < parts; ++part)
            work(context, part);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->next = 0;
    pool->parts = parts;
    (void)pthread_cond_broadcast(&pool->begun);
    take_parts(pool);
    while (pool->working != 0)
        (void)pthread_cond_wait(&pool->done, &pool->lock);
    pool->parts = 0;
    (void)pthread_mutex_unlock(&pool->lock);
}
