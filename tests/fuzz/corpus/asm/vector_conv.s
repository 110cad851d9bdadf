; SPDX-License-Identifier: Apache-2.0
; S003's method, claim 5, on the calculation element alone: a 3x3 convolution of a map of 3 channels, 8x8 to 6x6.
; Memory: input at 0x80020000 [3][8][8], kernel at 0x80021000 [3][3][3], result at 0x80022000 [6][6]; 16-bit words.
.equ CHANNELS, 3
.equ SIDE, 8
.equ OUT, 6
.equ ROW, SIDE * 2
.equ PLANE, SIDE * SIDE * 2

.base input, r80, request
.base kernel, r96, request
.base v, r56, vmac
.base result, r112, store

    layer 1
; S2: input and weights come from external memory
    set input.memory_addr, 0x80020000
    set input.row_bytes, CHANNELS * PLANE
    set input.rows, 1
    set input.planes, 1
    set input.feature_words, CHANNELS * SIDE * SIDE
    request.buffer=0 input
    set kernel.memory_addr, 0x80021000
    set kernel.row_bytes, CHANNELS * 9 * 2
    set kernel.rows, 1
    set kernel.planes, 1
    request.buffer=1 kernel
    receive.buffer=0 input
    receive.buffer=1 kernel

; S3, S4: input to one end of the multiplier, weights to the other; products are added to each lane's register
    set r1, 0                       ; first input row of this output row, bytes
    set r2, OUT
    set r3, CHANNELS
    set r4, 3
    set v.count, OUT                ; one lane a feature point of the row
    set v.a_stride, 1
    set v.a_repeat, 1               ; three taps of a kernel row: one word to the right each
    set v.b_repeat, 1
    set v.format, 5                 ; sums are rounded by 2^-5, truncated
    loop r2, rows_end
    set v.repeat, 1
    set v.a_addr, 0
    vmac.a=0.b=3 v                  ; registers = a * 0
    set v.repeat, 3
    mov v.a_addr, r1
    set v.b_addr, 0
    loop r3, channels_end
    loop r4, taps_end
    vmac.a=0.b=1.accumulate v
    addi v.a_addr, v.a_addr, ROW
    addi v.b_addr, v.b_addr, 6
taps_end:
    addi v.a_addr, v.a_addr, PLANE - 3 * ROW
channels_end:
; S5: a finished feature point goes to its address in the on-chip storage
    vout.operator=0 v
    addi v.out_addr, v.out_addr, OUT * 2
    addi r1, r1, ROW
rows_end:
; S6: all channels done, through the output buffer to external memory
    set result.memory_addr, 0x80022000
    set result.row_bytes, OUT * OUT * 2
    set result.rows, 1
    set result.planes, 1
    set result.feature_words, OUT * OUT
    store.buffer=2 result
    halt
