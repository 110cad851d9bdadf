/* SPDX-License-Identifier: Apache-2.0 */
/* A program with function names and lines, for tests of symbols and profiles: 4 bytes an instruction. */
    .globl _start
    .type _start, @function
_start:
    li a0, 3
    jal twice
    jal twice
    ret
    .type twice, @function
twice:
    slli a0, a0, 1
    ret
