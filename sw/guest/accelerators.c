/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that drive several accelerators, and their scheduling; see accelerators.h. */
#include "accelerators.h"

#include "depth.h"
#include "inference.h"

const struct cnnvp_accelerators_binary *cnnvp_accelerators_binary(const struct cnnvp_machine *machine)
{
    const struct cnnvp_accelerators_binary *binary = cnnvp_memory(machine, CNNVP_BINARY_ADDRESS);
    return binary != NULL && binary->magic == CNNVP_ACCELERATORS_BINARY_MAGIC && binary->version == CNNVP_BINARY_VERSION
               ? binary
               : NULL;
}

void cnnvp_tasks_init(struct cnnvp_tasks *tasks, const struct cnnvp_machine *machine,
                      const struct cnnvp_accelerators_binary *binary, struct cnnvp_word *collected)
{
    tasks->machine = machine;
    tasks->plic = binary->plic;
    tasks->clint = binary->clint;
    tasks->count = binary->count;
    tasks->current = binary->count;
    tasks->ended = 0;
    tasks->abandoned = 0;
    for (uint32_t i = 0; i <= tasks->count; ++i)
        tasks->ready[i] = tasks->turns[i] = 0;
    for (uint32_t i = 0; i < tasks->count; ++i) {
        struct cnnvp_guest *guest = tasks->guests[i];
        tasks->has_ended[i] = 0;
        /* Collecting words never sleeps, so the tasks can share this memory. */
        *guest = (struct cnnvp_guest){.machine = machine, .collected = collected};
        const uint32_t element = cnnvp_inference_take(guest, cnnvp_memory(machine, binary->binaries[i]));
        cnnvp_inference_connect(guest, machine, element);
    }
}

/* Pushes a word to each element. An element counts cycles from its first word to its last. */
static void push_mark(struct cnnvp_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->count; ++i)
        cnnvp_element_irq(&tasks->guests[i]->element, 0);
}

int cnnvp_tasks_run(struct cnnvp_tasks *tasks)
{
    int code = 0;
    push_mark(tasks);
    for (uint32_t i = 0; i < tasks->count; ++i)
        tasks->ready[i] = 1;
    cnnvp_tasks_bell(tasks);
    while (tasks->ended != tasks->count && tasks->abandoned == 0)
        cnnvp_machine_sleep(tasks->machine, &tasks->ended, tasks->ended);
    push_mark(tasks);
    for (uint32_t i = 0; i < tasks->count; ++i) {
        (void)cnnvp_element_finish(&tasks->guests[i]->element);
        if (code == 0)
            code = tasks->codes[i];
    }
    return code;
}

/* Lets the other ready tasks run first. */
static void pass_turn(struct cnnvp_tasks *tasks)
{
    const uint32_t number = tasks->current;
    tasks->ready[number] = 1;
    cnnvp_tasks_bell(tasks);
    cnnvp_machine_sleep(tasks->machine, &tasks->turns[number], tasks->turns[number]);
}

void cnnvp_task_run(struct cnnvp_tasks *tasks, uint32_t number)
{
    struct cnnvp_guest *guest = tasks->guests[number];
    const uint32_t images = guest->binary->images;
    const uint32_t batch = guest->binary->batch;
    cnnvp_inference_begin(guest);
    uint32_t first = cnnvp_inference_first(guest, number * batch, tasks->count * batch);
    for (; first < images; first += tasks->count * batch) {
        cnnvp_inference_batch(guest, first, images);
        pass_turn(tasks);
    }
    tasks->codes[number] = cnnvp_inference_end(guest);
    tasks->has_ended[number] = 1;
    tasks->ended = tasks->ended + 1u;
    tasks->ready[tasks->count] = 1;
    cnnvp_tasks_bell(tasks);
}

int cnnvp_tasks_interrupt(struct cnnvp_tasks *tasks)
{
    const uint32_t line = cnnvp_plic_claim(tasks->machine, tasks->plic);
    if (line == 0)
        return 0;
    for (uint32_t i = 0; i < tasks->count; ++i) {
        struct cnnvp_guest *guest = tasks->guests[i];
        if (line == guest->element_irq)
            cnnvp_element_interrupt(&guest->element);
        else if (line == guest->scheduler_irq)
            cnnvp_scheduler_interrupt(guest);
        else
            continue;
        tasks->ready[tasks->has_ended[i] ? tasks->count : i] = 1;
    }
    cnnvp_plic_complete(tasks->machine, tasks->plic, line);
    return 1;
}

int cnnvp_tasks_turn(struct cnnvp_tasks *tasks)
{
    uint32_t next = tasks->current;
    for (uint32_t i = 0; i <= tasks->count; ++i) {
        next = next == tasks->count ? 0 : next + 1u;
        if (tasks->ready[next]) {
            tasks->ready[next] = 0;
            tasks->turns[next] = tasks->turns[next] + 1u;
            tasks->current = next;
            return 1;
        }
    }
    return 0;
}

int cnnvp_tasks_ready(const struct cnnvp_tasks *tasks)
{
    for (uint32_t i = 0; i <= tasks->count; ++i)
        if (tasks->ready[i])
            return 1;
    return 0;
}
