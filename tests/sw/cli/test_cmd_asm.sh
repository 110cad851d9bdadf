#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp asm` and `cnnvp disasm`: files and messages. The instruction set is tested in tests/sw/asm.
. "$SOURCE/tests/support/lib.sh"

: >empty.s
expect 0 asm empty.s -o empty.bin
[ -f empty.bin ] && [ ! -s empty.bin ] || fail "an empty program"
refused 2 "nowhere.s: cannot be read: No such file or directory" asm nowhere.s -o x.bin
printf 'no_such_instruction r1\n' >wrong.s
refused 2 "cnnvp: wrong.s:1:" asm wrong.s -o x.bin
printf 'halt\0\n' >zero.s
refused 2 "zero.s: has a zero byte" asm zero.s -o x.bin
absent x.bin
refused 2 "--output: /nonexistent/x.bin cannot be written" asm empty.s -o /nonexistent/x.bin
printf '\377\377\377' >partial.bin
refused 2 "partial.bin" disasm partial.bin
printf '\377\377\377\377\377\377\377\377' >invalid.bin
refused 2 "invalid.bin" disasm invalid.bin -o x.s
absent x.s
refused 2 "nowhere.bin: cannot be read" disasm nowhere.bin

printf 'halt\n' >halt.s
expect 0 asm halt.s -o halt.bin
expect 0 disasm halt.bin
cp out again.s
expect 0 asm again.s -o again.bin
cmp -s halt.bin again.bin || fail "the round trip is not exact"
expect 0 disasm halt.bin -o file.s
cmp -s file.s again.s || fail "-o and standard output differ"

# The reference: its examples are legal, one of each instruction, and what they wait for is there.
expect 0 models isa
sed -n 's/^    example *//p' out >examples.s
[ "$(wc -l <examples.s)" = "$(grep -c '^    operands ' out)" ] && [ "$(wc -l <examples.s)" -gt 50 ] || fail "examples"
says "    waits for   array, input half, weight half, output half"
says "    base + 13  acc_addr "
says "without it: vector"
# What one field means without another is no example: `pool.update=1` is refused without a sum.
grep -qx "vpool.sum r16, i0 w0 o1, 0" examples.s || fail "example of vpool: $(grep vpool examples.s)"
expect 0 asm examples.s -o examples.bin
expect 0 disasm examples.bin
sed 's/[ .].*//' examples.s >wanted
sed -n 's/^ *\([a-z]*\)[. ;].*/\1/p' out | grep -v '^$' >found
cmp -s wanted found || fail "examples do not read back: $(diff wanted found | head -3)"
finish
