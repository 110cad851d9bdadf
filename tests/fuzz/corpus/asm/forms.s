loop r3, end
nop
end: set r16, (1 << 4) | -0x7f
conv.bias.update=1 r16, i0 w1 o0
move.source=1.buffer=2 r0, i1 o1
beq r1, r2, 0
.word 0x1
.word 0xffffffffffffffff
