#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp compile`: files, where things lie, and messages; and the registers of `cnnvp check --svd`. That cores run what it
# makes is tested in tests/platform/test_accelerator.cpp and tests/system/installed.sh.
. "$SOURCE/tests/support/lib.sh"

expect 0 compile lenet5 -o here.bin
expect 0 compile lenet5 -o there.bin --base 0x40000000 -s instruction.at=0x50000000
[ ! -s out ] || fail "something is printed"
for suffix in bin map h; do
    [ -s here.$suffix ] || fail "no here.$suffix"
done
[ "$(wc -c <here.bin)" -eq "$(wc -c <there.bin)" ] || fail "the place changes the size"
cmp -s here.bin there.bin && fail "the place changes nothing"
grep -q '^#define THERE_BASE 0x40000000u ' there.h && grep -q '^#define THERE_REGISTERS 0x50000000u ' there.h ||
    fail "the header: $(cat there.h)"
[ "$(sed -n 's/^#define HERE_BYTES \(0x[0-9a-f]*\)u .*/\1/p' here.h)" = "$(printf '0x%x' "$(wc -c <here.bin)")" ] ||
    fail "bytes: $(cat here.h)"
# Everything moves alike.
sed 's/ 0x8010/ 0x4000/; s/HERE/THERE/; s/here[.]bin/there.bin/; s/0x10010000/0x50000000/' here.h | sed 's/ 0x8012/ 0x4002/' |
    cmp - there.h || fail "the header does not move"
grep -q '^0x40000000 0x[0-9a-f]* load there.bin$' there.map && grep -q ' input input$' there.map &&
    grep -q ' output output$' there.map || fail "the map: $(cat there.map)"
expect 0 compile lenet5 -o again.bin --base 0x80100000
cmp again.bin here.bin || fail "the default place is another one"
# The header is C, and the file begins with the binary's magic number.
cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -x c - <<END || fail "the header is no C"
#include "here.h"
_Static_assert(HERE_INPUT_WORDS == 1024 && HERE_OUTPUT_WORDS == 10 && HERE_INPUT_ADDRESS < HERE_END, "");
END
[ "$(head -c 4 here.bin)" = CNVP ] || fail "no magic number"

# Registers of a bus that is not ours have to lie apart.
refused 2 "registers of the instruction element, at 0x10010000, lie in the network's memory, 0x0ffff000 to 0x100" \
    compile lenet5 -o x.bin --base 0x0ffff000
refused 2 "or a smaller dram.size, all of which --issue list takes" \
    compile lenet5 -o x.bin --issue list --base 0x40000000 -s instruction.at=0x50000000
expect 0 compile lenet5 -o listed.bin --issue list --base 0x40000000 -s instruction.at=0x50000000 -s dram.size=16MiB
grep -q "instructions, which stay for the next image" listed.map || fail "the list is missing in $(cat listed.map)"
grep -q "LISTED_END 0x41000000u" listed.h || fail "$(cat listed.h)"
expect 0 compile lenet5 -o one.bin -p unified --base 0x40000000 -s instruction.at=0x50000000
grep -q "ONE_SCRATCHPAD_REGISTERS 0x10020000u" one.h || fail "$(cat one.h)"

refused 2 "-o NET.bin is missing" compile lenet5
refused 2 "NETWORK is missing" compile -o x.bin
refused 2 "--base: 0x64 is no multiple of 64" compile lenet5 -o x.bin --base 100
refused 2 "32-bit addresses have room for 65536" compile lenet5 -o x.bin --base 0xffff0000
refused 2 "--base: trials run on the platform" compile lenet5 -o x.bin --base 0x1000 --schedule auto
refused 2 "training engine" compile lenet5 -o x.bin -p trainer
refused 2 "the platform has 2 accelerators" compile lenet5 -o x.bin -p "$SOURCE/scripts/examples/accelerators/dual.yaml"
refused 2 'has no values' compile vgg16_cifar -o x.bin
refused 2 "net.h is also the file of --output" compile lenet5 -o net.h
absent x.bin x.map x.h net.h

expect 0 check nfu --svd nfu.svd
cp out plain
expect 0 check nfu
cmp out plain || fail "--svd changes what is printed"
if command -v xmllint >/dev/null; then
    xmllint --noout nfu.svd || fail "no XML"
    at='string(//peripheral[name="instruction"]'
    [ "$(xmllint --xpath "$at/baseAddress)" nfu.svd)" = 0x10010000 ] || fail "the element's address"
    [ "$(xmllint --xpath "$at/interrupt/value)" nfu.svd)" = 1 ] || fail "its interrupt"
    [ "$(xmllint --xpath "$at/registers/register[name=\"FREE\"]/access)" nfu.svd)" = read-only ] || fail "a register"
fi
refused 2 "--svd is of a platform" check lenet5 --svd x.svd
finish
