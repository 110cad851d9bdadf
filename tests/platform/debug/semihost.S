# SPDX-License-Identifier: Apache-2.0
# Writes its arguments to the terminal by semihosting.
.globl _start
.option norvc
_start:
    li a0, 0x04 # SYS_WRITE0
    la a1, text
    call semihost
    li a0, 0x15 # SYS_GET_CMDLINE
    la a1, line
    call semihost
    li a0, 0x05 # SYS_WRITE
    la a1, write
    la a2, line
    lw a3, 4(a2)
    sw a3, 8(a1)
    call semihost
    li a0, 0x18 # SYS_EXIT
    li a1, 0x20026
    call semihost
.balign 16
semihost:
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    ret
.data
.balign 4
line: .word room, 64
write: .word 1, room, 0
text: .asciz "hello "
room: .space 64
