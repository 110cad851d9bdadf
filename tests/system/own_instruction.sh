#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A unit that brings an instruction, built outside the tree: the program of the example, assembler, disassembler,
# reference and header know it; two units of one opcode, and a word of nobody's, are refused.
# usage: own_instruction.sh BUILD-FOLDER EXAMPLES-FOLDER
set -eu
build=$1 examples=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "own_instruction.sh: $*" >&2; exit 1; }
cnnvp=$build/bin/cnnvp

cp "$examples"/own_instruction/[a-z]* "$examples"/own_instruction/Makefile .
make -s CNNVP="$cnnvp" try.elf || fail "make"
"$cnnvp" exec try.elf -p unpack.yaml --strict --check-costs --stats stats.json >said || fail "the program: $(cat said)"
grep -q '^249 pairs, 1000 words as expected$' said || fail "the program says $(cat said)"
/usr/bin/python3 - stats.json <<'PYTHON'
import json, sys
stats = json.load(open(sys.argv[1]))
unit = stats["units"]["unpack"]
assert (unit["commands"], unit["rejected"], unit["words"]) == (1, 0, 1000), unit
layer, = stats["layers"]
assert layer["name"] == "unpack" and layer["stall_cycles"]["vector"] == 1000, layer
PYTHON

# As text and back.
cat >unpack.s <<'END'
.base u, r48, unpack
set u.in_addr, 0
set u.pairs, 1
set u.out_addr, 16
set u.count, 64
unpack u, i1 o1
unpack r48
END
"$cnnvp" asm unpack.s -p unpack.yaml -o unpack.bin || fail "asm"
[ "$(od -An -tx8 -j 32 -N 16 -v unpack.bin | tr -d '\n')" = " c000300500000000 c000300000000000" ] || fail "the words"
"$cnnvp" disasm unpack.bin -p unpack.yaml -o listing.s || fail "disasm"
grep -q 'unpack r48, i1 w0 o1' listing.s || fail "the listing: $(cat listing.s)"
"$cnnvp" asm listing.s -p unpack.yaml -o again.bin && cmp unpack.bin again.bin || fail "the listing has other words"
"$cnnvp" exec unpack.bin -p unpack.yaml -q --stats words.json || fail "exec of words"
grep -q '"words": 128' words.json || fail "exec of words: not two times 64 words"
"$cnnvp" models isa unpack.yaml >isa || fail "models isa"
grep -q '^  unpack  0xc0, calc' isa && grep -q 'base + 3   count' isa && grep -q 'input half, output half, its unit' isa ||
    fail "the reference does not have it: $(grep -A 8 unpack isa)"
"$cnnvp" models ./libunpack.so:unpack | grep -q '0xc0  unpack' || fail "models does not have it"
grep -q '^#define CNNVP_OPCODE_unpack 0xc0$' platform.h || fail "the header does not have it"

# refused FILE MESSAGE COMMAND...: ends with 2 and says it
refused() {
    message=$1
    shift
    status=0
    "$cnnvp" "$@" >said 2>&1 || status=$?
    [ $status = 2 ] && grep -q "$message" said || fail "$*: $status, $(cat said)"
}
refused 'an instruction with a descriptor is needed here' asm unpack.s -o none.bin
echo 'unpack r48' >alone.s
refused "there is no instruction 'unpack'" asm alone.s -o none.bin
refused 'there is no such opcode' disasm unpack.bin
refused 'there is no such opcode' exec unpack.bin
sed 's/^  unpack:/  other: {model: ".\/libother.so:unpack", clock: pe_array, connect: {input: input_buffer, output: output_buffer}}\n&/
s/custom_0: unpack/&, custom_2: other/' unpack.yaml >two.yaml
same() {
    sed "$1" unpack.c >other.c
    cc -shared -fPIC -I"$build/share/cnnvp/guest" other.c -o libother.so
}
same 's/0xc0/0xc1/'
refused 'has the instruction unpack, opcode 0xc0, and other has unpack, opcode 0xc1; opcodes and names' check two.yaml
same 's/mnemonic = "unpack"/mnemonic = "other"/'
refused 'has the instruction unpack, opcode 0xc0, and other has other, opcode 0xc0; opcodes and names' check two.yaml
same 's/mnemonic = "unpack"/mnemonic = "other"/; s/0xc0/0xff/'
"$cnnvp" check two.yaml >/dev/null || fail "two units with instructions"
same 's/mnemonic = "unpack"/mnemonic = "Other"/'
refused 'no name of up to 32 lower case letters' check two.yaml
# One unit that two ports lead to; a unit that no port leads to: its word is an illegal instruction.
sed 's/custom_0: unpack/&, custom_1: unpack/' unpack.yaml >twice.yaml
refused 'unpack, opcode 0xc0: an instruction of another unit' exec unpack.bin -p twice.yaml
sed '/^  instruction:/d; s/clock: pe_array/&, idle: true/' unpack.yaml >nobody.yaml
status=0
"$cnnvp" exec unpack.bin -p nobody.yaml >said 2>&1 || status=$?
[ $status = 1 ] && grep -q 'word 4, 0xc000300500000000: unknown or unimplemented opcode' said ||
    fail "nobody's opcode: $status, $(cat said)"
# Pairs that make more words than there is room for.
sed "s,\.count = WORDS,.count = WORDS / 2," main.c >less.c && mv less.c main.c
make -s CNNVP="$cnnvp" try.elf
status=0
"$cnnvp" exec try.elf -p unpack.yaml >said 2>&1 || status=$?
[ $status = 1 ] && grep -q 'refused: the pairs make more words than count' said || fail "too many words: $(cat said)"
