/* SPDX-License-Identifier: Apache-2.0 */
/* See tasks.h. A task that goes to sleep enables interrupts. While another task is ready, the core's software interrupt
 * is pending, so the trap comes at once. The handler returns to the task whose turn it is, with interrupts off. */
#include "tasks.h"

#define MACHINE_EXTERNAL_INTERRUPT 0x8000000bu
#define MACHINE_SOFTWARE_INTERRUPT 0x80000003u
#define MIE_EXTERNAL (1u << 11)
#define MIE_SOFTWARE (1u << 3)

/* Saved registers of a sleeping task, on its stack (tasks_trap.S): xN at word N. Word 0, in place of x0, is the address
 * to resume at. */
#define FRAME_WORDS 32u
enum frame_word { FRAME_PC = 0, FRAME_A0 = 10, FRAME_A1 = 11 };

struct tasks {
    struct cnnvp_tasks all;
    uint32_t *frames[CNNVP_ACCELERATORS + 1u];
};
_Static_assert(sizeof(struct tasks) <= CNNVP_CONTEXT_BYTES, "larger than its section in link.ld");
_Static_assert(sizeof(struct cnnvp_guest) <= CNNVP_CONTEXT_BYTES, "larger than its room");

void cnnvp_tasks_trap(void); /* tasks_trap.S */
uint32_t *cnnvp_tasks_trapped(uint32_t *frame, struct tasks *tasks, uint32_t cause, uint32_t tval);
void cnnvp_guest_trap(uint32_t cause, struct cnnvp_guest *guest, uint32_t epc, uint32_t tval);

/* The software interrupt's register is the first one of the CLINT. */
void cnnvp_tasks_bell(const struct cnnvp_tasks *tasks)
{
    cnnvp_device_write(tasks->machine, tasks->clint, (uint32_t)cnnvp_tasks_ready(tasks));
}

uint32_t *cnnvp_tasks_trapped(uint32_t *frame, struct tasks *tasks, uint32_t cause, uint32_t tval)
{
    if (cause != MACHINE_EXTERNAL_INTERRUPT && cause != MACHINE_SOFTWARE_INTERRUPT)
        cnnvp_guest_trap(cause, NULL, frame[FRAME_PC], tval);
    tasks->frames[tasks->all.current] = frame;
    while (cnnvp_tasks_interrupt(&tasks->all)) {
    }
    (void)cnnvp_tasks_turn(&tasks->all);
    cnnvp_tasks_bell(&tasks->all);
    return tasks->frames[tasks->all.current];
}

static void task(struct tasks *tasks, uint32_t number)
{
    static const volatile uint32_t never = 0;
    cnnvp_task_run(&tasks->all, number);
    for (;;)
        cnnvp_machine_sleep(tasks->all.machine, &never, 0);
}

int cnnvp_tasks_main(const struct cnnvp_machine *machine)
{
    const struct cnnvp_accelerators_binary *binary = cnnvp_accelerators_binary(machine);
    struct tasks *tasks = (struct tasks *)(void *)guest_context;
    if (binary == NULL)
        return -1;
    for (uint32_t i = 0; i < binary->count; ++i) {
        uint8_t *room = (uint8_t *)(uintptr_t)(binary->rooms + i * CNNVP_ROOM_BYTES);
        uint32_t *frame = (uint32_t *)(void *)(room + CNNVP_ROOM_BYTES) - FRAME_WORDS;
        frame[FRAME_PC] = (uint32_t)(uintptr_t)task;
        frame[FRAME_A0] = (uint32_t)(uintptr_t)tasks;
        frame[FRAME_A1] = i;
        tasks->frames[i] = frame;
        tasks->all.guests[i] = (struct cnnvp_guest *)(void *)room;
    }
    cnnvp_tasks_init(&tasks->all, machine, binary, guest_collected);
    __asm__ volatile("csrw mscratch, %0" : : "r"(tasks));
    __asm__ volatile("csrw mtvec, %0" : : "r"(cnnvp_tasks_trap));
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_EXTERNAL | MIE_SOFTWARE));
    return cnnvp_tasks_run(&tasks->all);
}
