/* SPDX-License-Identifier: Apache-2.0 */
#include "host_tasks.h"

#include <stdlib.h>
#include <ucontext.h>

/* The task of one accelerator. */
struct host_task {
    struct cnnvp_guest guest;
    _Alignas(16) unsigned char stack[HOST_STACK_BYTES];
};

struct host_tasks {
    struct cnnvp_tasks all;
    struct host_task *own;                        /* one for each accelerator */
    ucontext_t contexts[CNNVP_ACCELERATORS + 1u]; /* of the tasks that sleep; the last one is that of host_tasks_run */
};

/* Switches from task `current` to the task whose turn it is. Returns when it is `current`'s turn again; never if that
 * task has ended. */
static void change_from(struct host_tasks *tasks, uint32_t current)
{
    if (tasks->all.abandoned != 0)
        tasks->all.current = tasks->all.count;
    if (tasks->all.current != current)
        (void)swapcontext(&tasks->contexts[current], &tasks->contexts[tasks->all.current]);
}

void host_tasks_change(struct host_tasks *tasks)
{
    const uint32_t current = tasks->all.current;
    if (cnnvp_tasks_turn(&tasks->all))
        change_from(tasks, current);
}

/* makecontext passes only integers, so the pointer comes in two halves. */
static void task(unsigned low, unsigned high)
{
    struct host_tasks *tasks = (struct host_tasks *)((uintptr_t)high << 16 << 16 | low);
    static const volatile uint32_t never = 0;
    cnnvp_task_run(&tasks->all, tasks->all.current);
    for (;;) {
        cnnvp_machine_sleep(tasks->all.machine, &never, 0);
        change_from(tasks, tasks->all.current); /* only when stopped: the sleep has returned at once */
    }
}

struct host_tasks *host_tasks_new(const struct cnnvp_machine *machine, const struct cnnvp_accelerators_binary *binary,
                                  struct cnnvp_word *collected)
{
    struct host_tasks *tasks = calloc(1, sizeof *tasks);
    if (tasks == NULL)
        return NULL;
    tasks->own = calloc(binary->count, sizeof *tasks->own);
    for (uint32_t i = 0; tasks->own != NULL && i < binary->count; ++i)
        tasks->all.guests[i] = &tasks->own[i].guest;
    if (tasks->own == NULL) {
        host_tasks_free(tasks);
        return NULL;
    }
    cnnvp_tasks_init(&tasks->all, machine, binary, collected);
    return tasks;
}

void host_tasks_free(struct host_tasks *tasks)
{
    if (tasks == NULL)
        return;
    free(tasks->own);
    free(tasks);
}

int host_tasks_run(struct host_tasks *tasks)
{
    const uintptr_t address = (uintptr_t)tasks;
    for (uint32_t i = 0; i < tasks->all.count; ++i) {
        ucontext_t *context = &tasks->contexts[i];
        (void)getcontext(context);
        context->uc_stack.ss_sp = tasks->own[i].stack;
        context->uc_stack.ss_size = HOST_STACK_BYTES;
        context->uc_link = NULL;
        makecontext(context, (void (*)(void))task, 2, (unsigned)address, (unsigned)(address >> 16 >> 16));
    }
    return cnnvp_tasks_run(&tasks->all);
}

void host_tasks_stop(struct host_tasks *tasks)
{
    tasks->all.abandoned = 1;
    for (uint32_t i = 0; i < tasks->all.count; ++i)
        tasks->all.guests[i]->element.failed = 1;
}

void host_tasks_interrupt(struct host_tasks *tasks)
{
    (void)cnnvp_tasks_interrupt(&tasks->all);
}

/* No signal is needed: a sleeping task checks by itself. */
void cnnvp_tasks_bell(const struct cnnvp_tasks *tasks)
{
    (void)tasks;
}

int host_tasks_ready(const struct host_tasks *tasks)
{
    return cnnvp_tasks_ready(&tasks->all);
}
