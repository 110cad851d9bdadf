#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed copy, used from another folder, loads a unit that was built outside the tree with nothing but a C compiler
# against the installed headers; the unit has its parameters, statistics and trace like a built-in one. A SystemC memory
# is bound to the off-chip port of the platform, a module of a design that is built against the installed library.
# usage: installed.sh BUILD-FOLDER EXAMPLES-FOLDER NETWORK INPUT
set -eu
build=$1 examples=$2 network=$3 input=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "installed.sh: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/usr" >/dev/null
mkdir "$work/mine" && cd "$work/mine"
cp "$examples"/own_memory/[a-z]* .
pc=$(find "$work/usr" -name cnnvp-model.pc)
[ -n "$pc" ] || fail "no cnnvp-model.pc installed"
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
cnnvp=$work/usr/bin/cnnvp
"$cnnvp" --version >/dev/null || fail "--version"

# A unit begun with new-unit: its library is built with the installed header alone, its program with the installed kit.
"$cnnvp" new-unit scaler >made || fail "new-unit: status $?"
grep -q 'make -C scaler run' made || fail "new-unit does not say what to do: $(cat made)"
! grep -ri adder scaler || fail "the example's name is left"
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -pedantic -Werror -shared -fPIC $(pkg-config --cflags cnnvp-model) scaler/scaler.c -o libscaler.so
make -C scaler CNNVP="$cnnvp" CFLAGS='-O2 -Wall -Wextra -Werror' run >made || fail "make in a new unit's folder: $(cat made)"
grep -qx 'sum 165' made || fail "the unit's program: $(cat made)"
cp scaler/scaler.yaml scaler/try.elf .
"$cnnvp" check scaler.yaml | grep -q 'gain: 3' || fail "check does not show the unit's parameter"
"$cnnvp" exec try.elf -p scaler.yaml --stats stats.json --trace run.vcd >/dev/null || fail "exec: status $?"
grep -q '"additions": 10' stats.json || fail "the unit's statistic is not in the file"
grep -q 'scaler' run.vcd || fail "the unit is not in the trace"
"$cnnvp" exec try.elf -p scaler.yaml -s scaler.gain=4 >shown || fail "exec with a gain of 4: status $?"
grep -q '^sum 220' shown || fail "the parameter has no effect: $(cat shown)"
status=0
"$cnnvp" check scaler.yaml -s scaler.gain=0 2>message || status=$?
[ $status -eq 2 ] || fail "a value out of range: status $status"
grep -q 'scaler.gain' message || fail "the message does not name the parameter"
for name in scaler Bad 2nd a-b dram pe_array while self energy i printf cnnvp_unit uint32_t ''; do
    status=0
    "$cnnvp" new-unit "$name" 2>message || status=$?
    [ $status -eq 2 ] && [ "$(wc -l <message)" -eq 1 ] || fail "new-unit '$name': status $status, $(cat message)"
done
[ ! -e Bad ] && [ ! -e 2nd ] && [ ! -e a-b ] || fail "new-unit has left something"

# A program begun with new-guest drives the accelerator, and every failure of it ends the run.
"$cnnvp" new-guest mine >made || fail "new-guest: status $?"
make -C mine CNNVP="$cnnvp" CFLAGS='-O2 -g -Wall -Wextra -Werror' run >made || fail "make in a new program's folder: $(cat made)"
grep -q '^64 results as expected, [0-9]* cycles' made || fail "the program: $(cat made)"
cmake -S mine -B mine/build -DCNNVP="$cnnvp" >made 2>&1 || fail "CMake in a new program's folder: $(cat made)"
cmake --build mine/build --target run >made 2>&1 || fail "the new program by CMake: $(cat made)"
grep -q '^64 results as expected, [0-9]* cycles' made || fail "the program by CMake: $(cat made)"
rm -r mine/build
"$cnnvp" exec mine/mine.elf --stats named.json --trace named.pftrace >/dev/null || fail "exec of the new program: status $?"
/usr/bin/python3 - <<'PY' || fail "layers and numbers that the program names: $(cat named.json)"
import json
stats = json.load(open("named.json"))
layers = [(layer["name"], layer["op"], layer["phase"], layer["macs"]) for layer in stats["layers"]]
assert layers == [("conv", "conv", "forward", 4608), ("pool", "pool", "forward", 0), ("relu", "activation", "forward", 0)], layers
assert all(layer["cycles"] > 0 and layer["energy_pj"] > 0 and layer["pes"] == 64 for layer in stats["layers"])
assert abs(stats["layers"][0]["utilization"] - 4608 / 64 / stats["layers"][0]["cycles"]) < 1e-9
assert stats["total"]["macs"] == 4608 and stats["program"]["reported"]["core_cycles"] > 2000
PY
# And the table, the totals and the page of a run.
"$cnnvp" exec mine/mine.elf --report named >shown || fail "exec --report: status $?"
grep -q '^conv  *conv  ' shown && grep -q '^bound by ' shown || fail "no table of the program's layers: $(cat shown)"
"$cnnvp" exec -q mine/mine.elf >shown && [ "$(wc -l <shown)" -eq 1 ] || fail "exec -q shows more than the program: $(cat shown)"
"$cnnvp" report named -o named.html && grep -q relu named.html || fail "no page of the program's run"
grep -qa relu named.pftrace || fail "the trace has not the layers' names"

# Instructions alone, without a program.
printf 'set r1, 5\nloop r1, end\naddi r2, r2, 1\nend:\nirq 1\n' >words.s
"$cnnvp" asm words.s -o words.bin && "$cnnvp" exec words.bin --stats words.json >shown || fail "exec of words: status $?"
grep -q '"fetched_words": 4' words.json && grep -q '^simulated time' shown || fail "exec of words: $(cat shown)"

# Its profile: every cycle of the core is an instruction's, calls and their cycles go down from the start, lines are
# those of the sources.
"$cnnvp" exec mine/mine.elf --profile mine.callgrind --stats named.json >shown || fail "exec --profile: status $?"
/usr/bin/python3 "$(dirname "$0")/check_profile.py" mine.callgrind named.json shown >said 2>&1 || fail "the profile: $(cat said shown)"
callgrind_annotate --auto=yes --threshold=100 mine.callgrind >annotated 2>&1 || fail "callgrind_annotate: $(cat annotated)"
grep -q ' .*mine/main.c:main' annotated || fail "callgrind_annotate shows no function: $(cat annotated)"
grep -q '[0-9],[0-9]*.* sum += image' annotated || fail "callgrind_annotate shows no line of the source: $(cat annotated)"
# Without debugging information, and with no symbols but the end and the stack, there are still functions and instructions.
riscv64-unknown-elf-strip -K tohost -K __stack -o bare.elf mine/mine.elf
"$cnnvp" exec bare.elf --profile bare.callgrind >shown || fail "exec --profile without symbols: status $?"
grep -q '^fn=([0-9]*) 0x80000000$' bare.callgrind && ! grep -q '^fn=([0-9]*) main' bare.callgrind || fail "functions without symbols"
[ "$(grep '^summary' bare.callgrind)" = "$(grep '^summary' mine.callgrind)" ] || fail "symbols change cycles"
grep -q '^0x80[0-9a-f]* .* *[0-9.]*% ' shown || fail "no functions without symbols: $(cat shown)"
status=0
"$cnnvp" exec mine/mine.elf --profile none/mine.callgrind 2>message || status=$?
[ $status -eq 2 ] && grep -q 'none/mine.callgrind' message || fail "a profile that cannot be written: $(cat message)"
guest() {
    sed "$1" mine/main.c >"other/main.c"
    make -C other CNNVP="$cnnvp" >made 2>&1 || fail "make with $1: $(cat made)"
    status=0
    "$cnnvp" exec other/mine.elf >said 2>&1 || status=$?
    [ $status -eq "$2" ] && grep -q "$3" said || fail "$1: status $status, $(cat said)"
}
cp -r mine other
guest 's/a_stride = 1/a_stride = 2/' 1 'channel 0, row 0, column 1: '
guest 's/    make_data();/abort();/; s/#include "kit.h"/&\n#include <stdlib.h>/' 134 '^abort$'
guest 's/.name = "pool"/.name = "a pool"/' 0 'a name of a layer at pc 0x[0-9a-f]* is not taken'
guest 's/.tag = 1,/.tag = 0,/' 0 'a name of a layer at pc'
guest 's/.tag = 1,/.tag = 70000,/' 1 'a name of a layer at pc'
guest 's/"core_cycles"/""/' 0 'a number that the guest reports at pc'
guest 's/"core_cycles"/(const char *)0x70000000/' 3 'unexpected trap'
guest 's/    make_data();/*(volatile int *)0x70000000 = 1;/' 3 'unexpected trap, mcause 0x00000007, .* mtval 0x70000000'
guest 's/    const struct cnnvp_window pool/    cnnvp_element_tile(element, (enum cnnvp_opcode)0x7f, 0, 0, 0, 0, 0, 0);\n&/' 1 \
    'the instruction element stopped: unknown or unimplemented opcode'

# A sweep over programs and parameters, with a number of the program's own as objective.
cat >sweep.yaml <<'YAML'
command: exec
program: [mine/mine.elf]
parameters: {pe_array.rows: [1, 8], pe_array.cols: [1, 8]}
objectives: [program.reported.core_cycles, layers.conv.cycles]
YAML
"$cnnvp" sweep sweep.yaml -o sweep.sqlite --export sweep.csv >/dev/null 2>message || fail "sweep of a program: $(cat message)"
[ "$(cut -d, -f2 sweep.csv | sort | uniq -c | tr -s ' ')" = " 4 ok
 1 status" ] || fail "points of a program: $(cat sweep.csv)"
awk -F, '$4 == 1 && $5 == 1 { slow = $7 } $4 == 8 && $5 == 8 { fast = $7 } END { exit !(slow > 2 * fast) }' sweep.csv ||
    fail "64 PEs are no faster than one: $(cat sweep.csv)"
sed 's/core_cycles/core_cycle/' sweep.yaml >unsaid.yaml
status=0
"$cnnvp" sweep unsaid.yaml -o unsaid.sqlite >/dev/null 2>message || status=$?
said='unsaid.yaml:4:14: the program has no number "program.reported.core_cycle"; did you mean "program.reported.core_cycles"?'
[ $status -eq 2 ] && grep -qF "$said" message || fail "numbers that a program does not report: $(cat message)"
# What has run stays, whatever it is asked for.
"$cnnvp" sweep sweep.yaml -o unsaid.sqlite >/dev/null 2>message || fail "after a wrong objective: $(cat message)"
status=0
"$cnnvp" sweep unsaid.yaml -o unsaid.sqlite >/dev/null 2>message || status=$?
[ $status -eq 2 ] && grep -qF "$said" message || fail "a wrong objective of points that are there: $(cat message)"
for bad in 's/^program/network/' 's/exec/run/' 's/^program.*//' 's/exec/exe/' 's/mine.elf/none.elf/' \
    's/^parameters/options: {images: 4}\n&/'; do
    status=0
    sed "$bad" sweep.yaml >bad.yaml
    "$cnnvp" sweep bad.yaml -o bad.sqlite 2>message || status=$?
    [ $status -eq 2 ] && grep -q '^cnnvp: bad.yaml:' message || fail "sweep with $bad: status $status, $(cat message)"
done
sed 's/gain: 3/idle: true/' scaler.yaml >idle.yaml
"$cnnvp" run "$network" -i "$input" -p idle.yaml -q -o out.npy || fail "run on the platform with the unit"
[ -s out.npy ] || fail "no output"

# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra $(pkg-config --cflags cnnvp-systemc) own_memory.cpp $(pkg-config --libs cnnvp-systemc) \
    -o own_memory || fail "own_memory.cpp is not built"
./own_memory own_memory.yaml "$network" >memory.txt || fail "own_memory: status $?"
grep -q 'bursts in its open row' memory.txt || fail "the memory of one's own served nothing"
CNNVP_PRESETS=$(pkg-config --variable=presets cnnvp)
CNNVP_GUEST=$(pkg-config --variable=guest cnnvp)
export CNNVP_PRESETS CNNVP_GUEST
[ -s "$CNNVP_PRESETS/nfu.yaml" ] && [ -s "$CNNVP_GUEST" ] || fail "cnnvp.pc: $CNNVP_PRESETS, $CNNVP_GUEST"
./own_memory own_memory.yaml "$network" | cmp - memory.txt || fail "own_memory with the installed presets"
status=0
./own_memory nfu "$network" 2>message || status=$?
[ $status -eq 1 ] && grep -q 'own_memory: platform: no instance "dram" leads outside.*`model: external`' message ||
    fail "own_memory on a platform without one: status $status, $(cat message)"
status=0
"$cnnvp" run "$network" -p own_memory.yaml 2>message || status=$?
[ $status -eq 2 ] || fail "a memory that is not bound: status $status"
grep -q 'own_memory.yaml:5:9: dram: .*cnnvp_systemc.h' message ||
    fail "the message does not say what to do: $(cat message)"

# The accelerator alone, beside a core of the design's that runs the runtime: the command's words.
mkdir core && cd core
cp "$examples"/own_core/[a-z]* .
/usr/bin/python3 -c 'import numpy; numpy.save("image.npy", numpy.random.default_rng(1).normal(size=(2, 1, 32, 32)).astype("f"))'
"$cnnvp" compile "$network" -i image.npy -o net.bin --base 0x40000000 -s instruction.at=0x50000000 || fail "compile"
runtime=$(pkg-config --variable=runtime cnnvp-systemc)
cc -std=c11 -ffreestanding -Wall -Wextra -pedantic -Werror -I "$runtime" -c "$runtime"/runtime/*.c || fail "the runtime is not built"
# What it needs of a libc, and that it has no globals.
nm -u ./*.o | sed -n 's/^ *U //p' | sort -u >needed
nm -g --defined-only ./*.o | sed -n 's/.* T //p' | sort -u | comm -23 needed - | grep -vx 'memcpy\|memset\|_GLOBAL_OFFSET_TABLE_' &&
    fail "the runtime needs these"
nm ./*.o | grep ' [bBdDC] ' && fail "the runtime has globals"
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra -I "$runtime" $(pkg-config --cflags cnnvp-systemc) own_core.cpp ./*.o \
    $(pkg-config --libs cnnvp-systemc) -o own_core || fail "own_core.cpp is not built"
./own_core net.bin image.npy output.npy >time.txt || fail "own_core: status $?, $(cat time.txt)"
grep -q '^[0-9.]* us$' time.txt || fail "own_core: $(cat time.txt)"
"$cnnvp" run "$network" -i image.npy -q -o expected.npy
cmp output.npy expected.npy || fail "the words of the runtime are not the command's"
riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -std=c11 -O2 -ffreestanding -Wall -Wextra -Werror -DCNNVP_MMIO \
    -I "$runtime" -c "$runtime"/runtime/*.c || fail "the runtime is not built for another RISC-V core"
status=0
head -c 1000 net.bin >short.bin
./own_core short.bin image.npy output.npy 2>message || status=$?
[ $status -eq 1 ] && grep -q 'own_core: short.bin is not that of net.h' message || fail "half a binary: status $status"
cd ..

# A peripheral on the bus: each access is one transaction, its time the core's, its side effects and interrupts happen once.
mkdir peripheral && cd peripheral
cp "$examples"/own_peripheral/[a-zA-Z]* .
make CNNVP="$cnnvp" CFLAGS='-O2 -Wall -Wextra -Werror' >made || fail "make for the peripheral: $(cat made)"
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra $(pkg-config --cflags cnnvp-systemc) own_peripheral.cpp $(pkg-config --libs cnnvp-systemc) \
    -o own_peripheral || fail "own_peripheral.cpp is not built"
for ns in 0 20 120; do
    ./own_peripheral own_peripheral.yaml try.elf $ns $ns.json >$ns.txt || fail "own_peripheral $ns: status $?, $(cat $ns.txt)"
    grep -q '^sum 385, 10 interrupts, 11 reads, ' $ns.txt || fail "own_peripheral $ns: $(cat $ns.txt)"
done
cycles() { sed -n 's/.*the last one in \([0-9]*\) cycles$/\1/p' "$1.txt"; }
[ $(($(cycles 20) - $(cycles 0))) -eq 20 ] && [ $(($(cycles 120) - $(cycles 0))) -eq 120 ] ||
    fail "the core does not wait as long as the peripheral: $(cat 0.txt 20.txt 120.txt)"
# 21 accesses: what is waited for is the peripheral.
grep -q '"square": 2520000[,]*$' 120.json || fail "the critical path: $(grep -A9 '"critical_path"' 120.json)"
status=0
"$cnnvp" exec try.elf -p own_peripheral.yaml 2>message || status=$?
[ $status -eq 2 ] && grep -q 'own_peripheral.yaml:.*square: .*cnnvp_systemc.h' message ||
    fail "a peripheral that is not bound: status $status, $(cat message)"
cd ..

# A bus master: the DRAM's controller serves it among the accelerator's requests.
mkdir master && cd master
cp "$examples"/own_master/[a-z]* .
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra $(pkg-config --cflags cnnvp-systemc) own_master.cpp $(pkg-config --libs cnnvp-systemc) \
    -o own_master || fail "own_master.cpp is not built"
ldd own_master | grep -q "libcnnvp_systemc.so.1 => $(realpath "$work")/" || fail "libraries: $(ldd own_master)"
for bytes in 0 4096 65536; do
    ./own_master own_master.yaml "$network" $bytes >$bytes.txt || fail "own_master $bytes: status $?, $(cat $bytes.txt)"
done
ps() { sed -n 's/^\([0-9]*\)\.\([0-9]*\) us.*/\1\2/p' "$1"; }
"$cnnvp" run "$network" -q --stats alone.json
grep -q "\"time_ps\": $(ps 0.txt)[0-9][0-9][0-9],*$" alone.json || fail "beside a master that does nothing: $(cat 0.txt), $(grep time_ps alone.json)"
[ "$(ps 0.txt)" -lt "$(ps 4096.txt)" ] && [ "$(ps 4096.txt)" -lt "$(ps 65536.txt)" ] ||
    fail "more copies do not take the network more time: $(cat 0.txt 4096.txt 65536.txt)"
cd ..

# A crossbar between two accelerators and one DRAM: the trace shows it, and a narrow one makes them wait.
mkdir crossbar && cp "$examples"/crossbar/[a-z]* crossbar && cp -r "$examples"/accelerators . && cd crossbar
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra $(pkg-config --cflags cnnvp-systemc) crossbar.cpp $(pkg-config --libs cnnvp-systemc) \
    -o crossbar || fail "crossbar.cpp is not built"
for width in 1 16; do
    ./crossbar crossbar.yaml "$network" $width $width.vcd >$width.txt || fail "crossbar $width: status $?, $(cat $width.txt)"
    for link in link link_2; do
        grep -q "module $link " $width.vcd || fail "the trace does not show $link: $(grep scope $width.vcd)"
    done
done
[ "$(ps 16.txt)" -lt "$(ps 1.txt)" ] || fail "a narrow crossbar takes no more time: $(cat 16.txt 1.txt)"
grep -q 'of which [1-9][0-9]* and [1-9][0-9]* found it busy' 1.txt || fail "nobody waits: $(cat 1.txt)"
[ "$(sed -n 's/.*passed \([0-9]* and [0-9]*\),.*/\1/p' 1.txt)" = "$(sed -n 's/.*passed \([0-9]* and [0-9]*\),.*/\1/p' 16.txt)" ] ||
    fail "the traffic depends on the crossbar: $(cat 1.txt 16.txt)"
