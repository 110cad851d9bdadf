/* SPDX-License-Identifier: Apache-2.0 */
/* Trap entry while tasks run: saves all registers on the stack of the task that slept, and restores those of the next
 * task (tasks.c). mscratch holds the address of struct tasks. */
    .file "tasks_trap.S" /* without it the symbol table has the name of a temporary file */
    .section .text.tasks_trap, "ax"
    .globl cnnvp_tasks_trap
    .balign 4
cnnvp_tasks_trap:
    addi    sp, sp, -128
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sw      x\n, \n * 4(sp)
    .endr
    csrr    t0, mepc
    sw      t0, 0(sp)
    mv      a0, sp
    csrr    a1, mscratch
    csrr    a2, mcause
    csrr    a3, mtval
    call    cnnvp_tasks_trapped
    mv      sp, a0
    lw      t0, 0(sp)
    csrw    mepc, t0
    li      t0, 1 << 7
    csrc    mstatus, t0 /* MPIE: interrupts stay off */
    .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    lw      x\n, \n * 4(sp)
    .endr
    addi    sp, sp, 128
    mret
