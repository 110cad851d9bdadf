; SPDX-License-Identifier: Apache-2.0
; One training step in the training engine's own instructions: four images of 2 x 8x8, convolution 3x3 to 4 channels
; with batch norm (range form), ReLU and 2x2 max pool, fully connected layer to 3 classes, softmax with cross-entropy;
; errors, gradients, stochastic gradient descent with momentum, weights rounded to 8 bits again. No instruction looks
; at a value.
;
; Memory, from 0x80000000: mantissas (M), their exponent (E), binary32 numbers (F)
.equ IMAGES, 0x80020000        ; M [4][2][8][8], E 0x800 behind
.equ KERNEL, 0x80021000        ; M [4][2][3][3], E
.equ MATRIX, 0x80022000        ; M [3][64], E
.equ KERNEL_MASTER, 0x80023000 ; F [4][2][3][3], velocities 0x800 behind
.equ MATRIX_MASTER, 0x80024000 ; F [3][64], velocities
.equ NORM, 0x80025000          ; 4 entries of the batch norm buffer
.equ LABELS, 0x80026000        ; 4 words
.equ SUMS, 0x80027000          ; F [4][4][8][8], left here
.equ ACTIVATIONS, 0x80028000   ; M [4][4][4][4], E, left here
.equ RECORDS, 0x8002a000       ; 4 class results, left here
.equ TOP_ERRORS, 0x8002b000    ; M [4][3], E
.equ ERRORS, 0x8002c000        ; M [4][4][8][8], E
.equ EXP, 0x800
; The max-min buffer: entries 0 .. 3 of the sums, 16 .. 19 of errors, 32 of the gradient at the top, 33, 34 of weights;
; scales and exponents at offset 0x1000, whose addresses have bit 30 set
.equ HELD, 0x40001000

.base move, r0, request
.base conv, r16, tforward
.base stat, r40, tstat
.base coef, r56, tcoef
.base expo, r60, texp
.base post, r64, tpost
.base back, r88, tpostback
.base mat, r112, tmatmul
.base soft, r128, tsoftmax
.base outer, r144, touter
.base grad, r160, tgradient
.base upd, r184, tupdate
.base normupd, r200, tbnupdate
.base held, r204, tload

    layer 1
; parameters of batch norm; entries without values, sums of nothing
    set move.memory_addr, NORM
    set move.row_bytes, 384
    set move.rows, 1
    set move.planes, 1
    request.buffer=2 move
    receive.buffer=2 move
    set held.bytes, 384
    tload.buffer=2 held
    set held.bytes, 640
    tclear.buffer=0 held
    set held.bytes, 128
    tclear.buffer=1 held
; forward: images and kernels come in, sums are exact integers and one scale
    set move.memory_addr, IMAGES
    set move.row_bytes, 512
    request.buffer=0 move
    receive.buffer=0 move
    set move.memory_addr, IMAGES + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=0 move
    receive.buffer=0 move
    set move.memory_addr, KERNEL
    set move.buffer_addr, 0
    set move.row_bytes, 72
    request.buffer=1 move
    receive.buffer=1 move
    set move.memory_addr, KERNEL + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=1 move
    receive.buffer=1 move
    set conv.in_row_stride, 8
    set conv.in_channel_stride, 64
    set conv.in_image_stride, 128
    set conv.in_size, 8 | 8 << 16
    set conv.images, 4
    set conv.in_channels, 2
    set conv.out_channels, 4
    set conv.out_size, 8 | 8 << 16
    set conv.kernel, 3 | 3 << 16
    set conv.stride, 1 | 1 << 16
    set conv.pad, 1 | 1 << 16
    set conv.out_channel_stride, 64
    set conv.out_image_stride, 256
    set conv.in_exp_addr, 0x400
    set conv.weight_exp_addr, 0x400
    set conv.out_exp_addr, HELD
    tforward conv
; statistics of each channel; the sums become binary32 and go to memory
    set stat.in_image_stride, 256
    set stat.images, 4
    set stat.channels, 4
    set stat.size, 8 | 8 << 16
    set stat.scale_addr, HELD
    set stat.out_image_stride, 256
    set stat.entry_strides, 1 << 16
    set stat.map, 64
    tstat.convert stat
    set move.memory_addr, SUMS
    set move.buffer_addr, 0
    set move.row_bytes, 0x1000
    store.buffer=2 move
; coefficients (epsilon 0.001, a tenth into the running statistics), the exponent behind batch norm and ReLU
    set coef.channels, 4
    set coef.epsilon, 0x3a83126f
    set coef.running, 0x3dcccccd
    tcoef.form=0 coef
    set expo.channels, 4
    set expo.out_addr, HELD + 4
    texp.map.relu expo
    set post.in_image_stride, 256
    set post.images, 4
    set post.channels, 4
    set post.size, 8 | 8 << 16
    set post.out_addr, 0x4000
    set post.out_image_stride, 64
    set post.block, HELD + 4
    set post.mask_addr, 0x5000
    set post.mask_image_stride, 32
    set post.id_addr, 0x5800
    set post.id_image_stride, 16
    set post.pool, 0x2020202
    set post.format, 1
    set post.tensor_image_stride, 256
    tpost.fp32.norm.relu.pool.keep post
    set move.memory_addr, ACTIVATIONS
    set move.buffer_addr, 0x4000
    set move.row_bytes, 256
    store.buffer=2 move
    set held.address, 0x6000
    set held.offset, 0x1004
    set held.bytes, 4
    tsave.buffer=0 held
    set move.memory_addr, ACTIVATIONS + EXP
    set move.buffer_addr, 0x6000
    set move.row_bytes, 1
    store.buffer=2 move

    layer 2
; the fully connected layer in the other halves
    set move.memory_addr, ACTIVATIONS
    set move.buffer_addr, 0
    set move.row_bytes, 256
    request.buffer=0 move, i1
    receive.buffer=0 move, i1
    set move.memory_addr, ACTIVATIONS + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=0 move, i1
    receive.buffer=0 move, i1
    set move.memory_addr, MATRIX
    set move.buffer_addr, 0
    set move.row_bytes, 192
    request.buffer=1 move, w1
    receive.buffer=1 move, w1
    set move.memory_addr, MATRIX + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=1 move, w1
    receive.buffer=1 move, w1
    set mat.in_image_stride, 64
    set mat.images, 4
    set mat.inputs, 64
    set mat.outputs, 3
    set mat.out_image_stride, 3
    set mat.in_exp_addr, 0x400
    set mat.weight_exp_addr, 0x400
    set mat.out_exp_addr, HELD + 8
    tmatmul mat, i1 w1 o1
; softmax, loss and gradient; class results by way of the intermediate buffer
    set move.memory_addr, LABELS
    set move.buffer_addr, 0x800
    set move.row_bytes, 16
    request.buffer=2 move, o1
    receive.buffer=2 move, o1
    set soft.in_image_stride, 3
    set soft.images, 4
    set soft.classes, 3
    set soft.scale_addr, HELD + 8
    set soft.label_addr, 0x800
    set soft.factor, 0x3e800000
    set soft.out_addr, 0x1000
    set soft.out_image_stride, 3
    set soft.entry, 32
    tsoftmax.gradient soft, o1
    set held.address, 0x2000
    set held.offset, 0
    set held.bytes, 112
    tsave.buffer=5 held, o1
    set move.memory_addr, RECORDS
    set move.buffer_addr, 0x2000
    set move.row_bytes, 112
    store.buffer=2 move, o1
    set expo.entry, 32
    set expo.channels, 1
    set expo.out_addr, HELD + 12
    texp expo
    set post.in_addr, 0x1000
    set post.in_image_stride, 3
    set post.channels, 3
    set post.size, 1 | 1 << 16
    set post.out_addr, 0x3000
    set post.out_image_stride, 3
    set post.block, HELD + 12
    set post.tensor_image_stride, 3
    tpost.fp32 post, o1
    set move.memory_addr, TOP_ERRORS
    set move.buffer_addr, 0x3000
    set move.row_bytes, 12
    store.buffer=2 move, o1
    set held.address, 0x6000
    set held.offset, 0x100c
    set held.bytes, 4
    tsave.buffer=0 held, o1
    set move.memory_addr, TOP_ERRORS + EXP
    set move.buffer_addr, 0x6000
    set move.row_bytes, 1
    store.buffer=2 move, o1
; errors of its inputs; the first layer's sums and matrices are still in the first half, the idle one now
    set move.memory_addr, TOP_ERRORS
    set move.buffer_addr, 0
    set move.row_bytes, 12
    request.buffer=0 move
    receive.buffer=0 move
    set move.memory_addr, TOP_ERRORS + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=0 move
    receive.buffer=0 move
    set mat.in_image_stride, 3
    set mat.inputs, 3
    set mat.outputs, 64
    set mat.out_addr, 0x8000
    set mat.out_image_stride, 64
    set mat.out_exp_addr, HELD + 16
    tback mat, w1 o1

    layer 1
; backward: sums over the batch first, then the coefficients and the exponent, then the errors themselves
    set back.in_addr, 0x8000
    set back.in_image_stride, 64
    set back.images, 4
    set back.channels, 4
    set back.size, 8 | 8 << 16
    set back.scale_addr, HELD + 16
    set back.x_image_stride, 256
    set back.out_addr, 0x8000
    set back.out_image_stride, 64
    set back.block, 16
    set back.block_strides, 1 << 16
    set back.mask_addr, 0x5000
    set back.mask_image_stride, 32
    set back.id_addr, 0x5800
    set back.id_image_stride, 16
    set back.pool, 0x2020202
    set back.format, 1
    set back.tensor_image_stride, 256
    tpostback.norm.relu.pool.reduce.convert.idle back, o1
    tcoef.back.form=0 coef
    set expo.entry, 16
    set expo.channels, 4
    set expo.out_addr, HELD + 20
    texp.back expo
    set back.out_addr, 0x9000
    set back.out_image_stride, 256
    set back.block, HELD + 20
    set back.block_strides, 0
    tpostback.fp32.norm.relu.pool.idle back, o1
    set move.memory_addr, ERRORS
    set move.buffer_addr, 0x9000
    set move.row_bytes, 0x400
    store.buffer=2 move, o1
    set held.offset, 0x1014
    tsave.buffer=0 held, o1
    set move.memory_addr, ERRORS + EXP
    set move.buffer_addr, 0x6000
    set move.row_bytes, 1
    store.buffer=2 move, o1

    layer 2
; gradient of the matrix; meanwhile its master copy and velocities come into the idle half
    set move.memory_addr, TOP_ERRORS
    set move.buffer_addr, 0x1000
    set move.row_bytes, 12
    request.buffer=1 move
    receive.buffer=1 move
    set move.memory_addr, TOP_ERRORS + EXP
    set move.buffer_addr, 0x1400
    set move.row_bytes, 1
    request.buffer=1 move
    receive.buffer=1 move
    set outer.in_image_stride, 64
    set outer.images, 4
    set outer.inputs, 64
    set outer.outputs, 3
    set outer.error_addr, 0x1000
    set outer.error_image_stride, 3
    set outer.out_addr, 0xa000
    set outer.out_stride, 64
    set outer.in_exp_addr, 0x400
    set outer.error_exp_addr, 0x1400
    set outer.out_exp_addr, HELD + 24
    touter outer, i1 o1
    set move.memory_addr, MATRIX_MASTER
    set move.buffer_addr, 0x10000
    set move.row_bytes, 768
    request.buffer=2 move
    receive.buffer=2 move
    set move.memory_addr, MATRIX_MASTER + EXP
    set move.buffer_addr, 0x10400
    request.buffer=2 move
    receive.buffer=2 move
    set upd.in_addr, 0xa000
    set upd.in_stride, 64
    set upd.channels, 3
    set upd.values, 64
    set upd.scale_addr, HELD + 24
    set upd.value_addr, 0x10000
    set upd.velocity_addr, 0x10400
    set upd.value_stride, 64
    set upd.rate, 0x3d4ccccd
    set upd.momentum, 0x3f666666
    set upd.entry, 33
    tupdate.momentum.idle upd, o1
    set move.memory_addr, MATRIX_MASTER
    set move.buffer_addr, 0x10000
    store.buffer=2 move
    set move.memory_addr, MATRIX_MASTER + EXP
    set move.buffer_addr, 0x10400
    store.buffer=2 move
; and its copy of 8 bits
    set expo.entry, 33
    set expo.channels, 1
    set expo.out_addr, HELD + 28
    texp expo
    set post.in_addr, 0x10000
    set post.in_image_stride, 0
    set post.images, 1
    set post.size, 64 | 1 << 16
    set post.out_addr, 0x10800
    set post.out_image_stride, 0
    set post.block, HELD + 28
    set post.tensor_image_stride, 0
    tpost.fp32 post
    set move.memory_addr, MATRIX
    set move.buffer_addr, 0x10800
    set move.row_bytes, 192
    store.buffer=2 move
    set held.offset, 0x101c
    tsave.buffer=0 held
    set move.memory_addr, MATRIX + EXP
    set move.buffer_addr, 0x6000
    set move.row_bytes, 1
    store.buffer=2 move

    layer 1
; gradient and update of the kernels, gamma and beta
    set move.memory_addr, IMAGES
    set move.buffer_addr, 0
    set move.row_bytes, 512
    request.buffer=0 move
    receive.buffer=0 move
    set move.memory_addr, IMAGES + EXP
    set move.buffer_addr, 0x400
    set move.row_bytes, 1
    request.buffer=0 move
    receive.buffer=0 move
    set move.memory_addr, ERRORS
    set move.buffer_addr, 0x2000
    set move.row_bytes, 0x400
    request.buffer=1 move
    receive.buffer=1 move
    set move.memory_addr, ERRORS + EXP
    set move.buffer_addr, 0x2800
    set move.row_bytes, 1
    request.buffer=1 move
    receive.buffer=1 move
    set grad.in_row_stride, 8
    set grad.in_channel_stride, 64
    set grad.in_image_stride, 128
    set grad.in_size, 8 | 8 << 16
    set grad.images, 4
    set grad.in_channels, 2
    set grad.out_channels, 4
    set grad.error_addr, 0x2000
    set grad.error_row_stride, 8
    set grad.error_channel_stride, 64
    set grad.error_image_stride, 256
    set grad.error_size, 8 | 8 << 16
    set grad.kernel, 3 | 3 << 16
    set grad.stride, 1 | 1 << 16
    set grad.pad, 1 | 1 << 16
    set grad.out_addr, 0xb000
    set grad.out_channel_stride, 18
    set grad.in_exp_addr, 0x400
    set grad.error_exp_addr, 0x2800
    set grad.out_exp_addr, HELD + 32
    tgradient grad, o1
    set move.memory_addr, KERNEL_MASTER
    set move.buffer_addr, 0x11000
    set move.row_bytes, 288
    request.buffer=2 move
    receive.buffer=2 move
    set move.memory_addr, KERNEL_MASTER + EXP
    set move.buffer_addr, 0x11800
    request.buffer=2 move
    receive.buffer=2 move
    set upd.in_addr, 0xb000
    set upd.in_stride, 18
    set upd.channels, 4
    set upd.values, 18
    set upd.scale_addr, HELD + 32
    set upd.value_addr, 0x11000
    set upd.velocity_addr, 0x11800
    set upd.value_stride, 18
    set upd.entry, 34
    tupdate.momentum.idle upd, o1
    set move.memory_addr, KERNEL_MASTER
    set move.buffer_addr, 0x11000
    store.buffer=2 move
    set move.memory_addr, KERNEL_MASTER + EXP
    set move.buffer_addr, 0x11800
    store.buffer=2 move
    set normupd.channels, 4
    set normupd.rate, 0x3d4ccccd
    set normupd.momentum, 0x3f666666
    tbnupdate.momentum normupd
    set held.address, 0xc000
    set held.offset, 0
    set held.bytes, 384
    tsave.buffer=2 held, o1
    set move.memory_addr, NORM
    set move.buffer_addr, 0xc000
    set move.row_bytes, 384
    store.buffer=2 move, o1
    set expo.entry, 34
    set expo.out_addr, HELD + 36
    texp expo
    set post.in_addr, 0x11000
    set post.channels, 4
    set post.size, 18 | 1 << 16
    set post.out_addr, 0x12000
    set post.block, HELD + 36
    tpost.fp32 post
    set move.memory_addr, KERNEL
    set move.buffer_addr, 0x12000
    set move.row_bytes, 72
    store.buffer=2 move
    set held.address, 0x6000
    set held.offset, 0x1024
    set held.bytes, 4
    tsave.buffer=0 held
    set move.memory_addr, KERNEL + EXP
    set move.buffer_addr, 0x6000
    set move.row_bytes, 1
    store.buffer=2 move
    sync
    halt
