#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed copy, used from another folder, loads a unit that was built outside the tree with nothing but a C compiler
# against the installed headers; the unit has its parameters, statistics and trace like a built-in one. A SystemC memory
# is bound to the platform's off-chip port by a program that is built against the installed library.
# usage: installed.sh BUILD-FOLDER EXAMPLES-FOLDER NETWORK INPUT
set -eu
build=$1 examples=$2 network=$3 input=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "installed.sh: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/usr" >/dev/null
mkdir "$work/mine" && cd "$work/mine"
cp "$examples"/own_unit/[a-z]* "$examples"/own_memory/[a-z]* .
pc=$(find "$work/usr" -name cnnvp-model.pc)
[ -n "$pc" ] || fail "no cnnvp-model.pc installed"
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -pedantic -Werror -shared -fPIC $(pkg-config --cflags cnnvp-model) adder.c -o libadder.so
cnnvp=$work/usr/bin/cnnvp
"$cnnvp" check adder.yaml --header adder.h >/dev/null || fail "check --header"
riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -Os -nostdlib -nostartfiles \
    -Wl,-n,--no-warn-rwx-segments -Ttext=0x80000000 try.c -o try.elf

"$cnnvp" --version >/dev/null || fail "--version"
"$cnnvp" check adder.yaml | grep -q 'gain: 3' || fail "check does not show the unit's parameter"
"$cnnvp" exec try.elf -p adder.yaml --stats stats.json --trace run.vcd || fail "exec: status $?"
grep -q '"additions": 10' stats.json || fail "the unit's statistic is not in the file"
grep -q 'adder' run.vcd || fail "the unit is not in the trace"
status=0
"$cnnvp" exec try.elf -p adder.yaml -s adder.gain=4 || status=$?
[ $status -eq 2 ] || fail "the parameter has no effect: status $status"
status=0
"$cnnvp" check adder.yaml -s adder.gain=0 2>message || status=$?
[ $status -eq 2 ] || fail "a value out of range: status $status"
grep -q 'adder.gain' message || fail "the message does not name the parameter"
sed 's/gain: 3/idle: true/' adder.yaml >idle.yaml
"$cnnvp" run "$network" -i "$input" -p idle.yaml -q -o out.npy || fail "run on the platform with the unit"
[ -s out.npy ] || fail "no output"

# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra $(pkg-config --cflags cnnvp) own_memory.cpp $(pkg-config --libs --static cnnvp) \
    -o own_memory || fail "own_memory.cpp is not built"
./own_memory own_memory.yaml "$network" >memory.txt || fail "own_memory: status $?"
grep -q 'bursts in its open row' memory.txt || fail "the memory of one's own served nothing"
CNNVP_PRESETS=$(pkg-config --variable=presets cnnvp)
CNNVP_GUEST=$(pkg-config --variable=guest cnnvp)
export CNNVP_PRESETS CNNVP_GUEST
[ -s "$CNNVP_PRESETS/nfu.yaml" ] && [ -s "$CNNVP_GUEST" ] || fail "cnnvp.pc: $CNNVP_PRESETS, $CNNVP_GUEST"
./own_memory own_memory.yaml "$network" | cmp - memory.txt || fail "own_memory with the installed presets"
status=0
"$cnnvp" run "$network" -p own_memory.yaml 2>message || status=$?
[ $status -eq 2 ] || fail "a memory that nobody binds: status $status"
grep -q 'own_memory.yaml:5:9: dram: .*cnnvp_systemc.h' message ||
    fail "the message does not say what to do: $(cat message)"
