/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For test_cpu.c: what the program reports to the device at 0x10000000 depends on the exact place of every interrupt.
 *   +0 W timer: line 1 rises this many picoseconds from now, 0: falls   +4 R time in ps   +8 W report   +12 RW slow register
 */
    .option norvc
    .section .text.start, "ax"
    .globl _start
_start:
    la t0, handler
    csrw mtvec, t0
    la sp, __stack_top
    li s0, 0x10000000
    li t0, 0x80
    csrw mie, t0
    li s1, 1             /* length of the present round */
    li s2, 60            /* rounds */
round:
    li s3, 0             /* set by the handler */
    li s4, 0             /* turns until the interrupt */
    slli t0, s1, 10
    addi t0, t0, 777
    sw t0, 0(s0)
    csrsi mstatus, 8
1:  addi s4, s4, 1
    lw t1, 0(sp)
    add t1, t1, s4
    sw t1, -4(sp)
    beqz s3, 1b
    sw s4, 8(s0)
    sw s5, 8(s0)
    /* the same, asleep; with interrupts off until then, or the interrupt could come just before the wfi */
    csrci mstatus, 8
    sw t0, 0(s0)
    wfi
    csrsi mstatus, 8
    csrr t1, mcycle
    sw t1, 8(s0)
    lw t1, 4(s0)
    sw t1, 8(s0)
    /* the same, in a jump to itself that the handler leads out of */
    la s6, 4f
    sw t0, 0(s0)
    j .
4:  li s6, 0
    csrr t1, minstret
    sw t1, 8(s0)
    lw t1, 12(s0)
    csrr t1, time
    sw t1, 8(s0)
    addi s1, s1, 3
    addi s2, s2, -1
    bnez s2, round
    /* words of the command line, then the end: by semihosting with status 7 */
    li a0, 0x15
    la a1, block
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    li a0, 0x04
    la a1, buffer
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    li a0, 0x20
    la a1, exit
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    j .
    .balign 4
handler:
    sw zero, 0(s0)
    csrr s5, mepc
    li s3, 1
    beqz s6, 1f
    csrw mepc, s6
1:  mret
    .data
    .balign 4
block: .word buffer, 64
exit:  .word 0x20026, 7
buffer: .skip 64
    .section .tohost, "aw"
    .align 6
    .globl tohost
tohost: .dword 0
