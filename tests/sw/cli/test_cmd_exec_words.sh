#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp exec PROGRAM.bin`: programs of the instruction element itself, from `cnnvp asm` on.
. "$SOURCE/tests/support/lib.sh"

# assemble NAME: from standard input
assemble() {
    cat >"$1.s"
    expect 0 asm "$1.s" -o "$1.bin"
}
# stat NAME: a statistic of the element's in stats.json
stat() { /usr/bin/python3 -c 'import json, sys; print(json.load(open("stats.json"))["units"]["instruction"][sys.argv[1]])' "$1"; }

# A whole calculation, with statistics and a trace as of any program.
assemble vector_conv <"$SOURCE/tests/system/vector_conv.s"
expect 0 exec vector_conv.bin --stats stats.json --trace run.vcd
says "simulated time"
says "DRAM "
words=$(($(wc -c <vector_conv.bin) / 8))
[ "$(stat fetched_words)" -eq $words ] || fail "the element has read $(stat fetched_words) words of $words"
[ "$(stat pushed_words)" -eq 0 ] || fail "the loader has pushed $(stat pushed_words) words into a program that halts"
grep -q '"read_bytes": 4[0-9][0-9]' stats.json || fail "no input has been read: $(grep read_bytes stats.json)"
[ -s run.vcd ] || fail "no trace"
expect 0 exec -q vector_conv.bin --profile words.callgrind
[ ! -s out ] || fail "-q shows $(cat out)"
grep -q 'cnnvp_words_run' words.callgrind || fail "no profile of the loader"

# More words than the queue holds; none; a loop; interrupts of the program's own, also one with the loader's number.
/usr/bin/python3 -c 'print("set r1, 7\n" * 5000, end="")' | assemble long
expect 0 exec long.bin --stats stats.json
[ "$(stat instructions)" -eq 5001 ] || fail "$(stat instructions) instructions of 5001"
: | assemble none
expect 0 exec none.bin
printf 'set r2, 100\nloop r2, end\nirq 4294967295\naddi r1, r1, 1\nend:\nirq 2\n' | assemble events
expect 0 exec events.bin --stats stats.json
[ "$(stat events)" -eq 102 ] || fail "$(stat events) events of 102"

# What follows a halt is not executed.
printf 'set r1, 1\nhalt\nconv r16\n' | assemble halt
expect 0 exec halt.bin --stats stats.json
[ "$(stat instructions)" -eq 2 ] || fail "$(stat instructions) instructions up to the halt"

# A command that its unit refuses ends the run with the word's number, whenever it comes.
printf 'set r1, 1\nconv r16\n' | assemble refused
expect 1 exec refused.bin
says "the instruction element stopped: the unit refused the command"
says " at 0x00000001,"
printf 'conv r16\nhalt\n' | assemble refused
expect 1 exec refused.bin
says "the instruction element stopped: the unit refused the command"
printf 'receive.buffer=0 r80\n' | assemble stuck
refused 1 "there is no request to receive" exec stuck.bin
for mhz in 300 500 700 800 900 1000 1100 1200 1500 2000; do
    refused 1 "there is no request to receive" exec stuck.bin -s cpu.memory=ideal -s cpu.clock_mhz=$mhz
    says "the instruction element stopped"
done

# Wrong files and usage.
{ cat halt.bin; printf '\377\377\377'; } >partial.bin
refused 2 "partial.bin:" exec partial.bin --stats stats2.json
{ cat halt.bin; printf '\377\377\377\377\377\377\377\377'; } >invalid.bin
refused 2 "invalid.bin:" exec invalid.bin --stats stats2.json
grep -q 'offset 0x18' err || fail "no place of the wrong word: $(cat err)"
refused 2 "takes no arguments" exec halt.bin -- more
refused 2 "nowhere.bin: cannot be read" exec nowhere.bin
absent stats2.json
cp "$(dirname "$CNNVP")/../share/cnnvp/cnnvp_guest.elf" elf.bin
expect 2 exec elf.bin
grep -q 'no network binary' out || fail "an ELF file is none by its name: $(cat out err)"

# In a sweep.
printf 'command: exec\nprogram: vector_conv.bin\nparameters: {dram.preset: [ddr3-1600, hbm2]}\nobjectives: [total.time_ps]\n' >sweep.yaml
expect 0 sweep sweep.yaml -o sweep.sqlite --export sweep.csv
[ "$(grep -c ',ok,' sweep.csv)" -eq 2 ] || fail "the sweep: $(cat sweep.csv)"
# Beside other values of a point, some have no effect.
printf 'command: exec\nprogram: vector_conv.bin\nparameters:\n  cpu.memory: [tcm, cache]\n  cpu.icache_size: [8KiB, 32KiB]\n  dram.arbiter: [round-robin, priority]\n' >off.yaml
expect 0 sweep off.yaml -o off.sqlite --export off.csv
[ "$(grep -c ',ok,' off.csv)" -eq 8 ] || fail "the points with a value without effect: $(cat err off.csv)"
# A program that ends by itself has said nothing on standard error.
sed 's/vector_conv.bin/elf.bin/' sweep.yaml >ends.yaml
refused 1 "all 2 points failed" sweep ends.yaml -o ends.sqlite
grep -q ' ended with status 2 (' err || fail "the program's status: $(cat err)"
finish
