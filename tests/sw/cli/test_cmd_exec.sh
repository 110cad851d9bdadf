#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp exec`: the guest's exit status, its console, ends that are not its own, statistics and traces.
. "$SOURCE/tests/support/lib.sh"

# program NAME BODY: an ELF whose code is BODY, with `tohost`.
program() {
    printf '%s\n' ".globl _start" "_start:" "$2" "1: j 1b" '.section .tohost,"aw"' ".align 6" ".globl tohost" \
        "tohost: .dword 0" >"$1.S"
    "$RISCV_GCC" -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -nostdlib -nostartfiles -Wl,-N,--no-warn-rwx-segments \
        -Wl,-Ttext=0x80000000 "$1.S" -o "$1.elf" ||
        fail "the guest's compiler"
}

program pass 'li a0, 0x10000000
li a1, 72
sb a1, 0(a0)
li a1, 105
sb a1, 0(a0)
la a0, tohost
li a1, 1
sw a1, 0(a0)'
program seven 'la a0, tohost
li a1, 15
sw a1, 0(a0)'
program full 'la a0, tohost
li a1, 512
ori a1, a1, 1
sw a1, 0(a0)'
program chatter 'li a0, 0x10000000
li a1, 10
2: sb a1, 0(a0)
j 2b'
program forever '2: addi a0, a0, 1
j 2b'
program stuck '2: j 2b'
program nothing '2: wfi
j 2b'
program lost 'li a0, 0x40000000
jr a0'

expect 0 exec pass.elf
says "Hi"

# What passes while all sleep is not computed refresh by refresh: an hour takes no longer than a millisecond, and counts
# 3600 s / 7.8 us refreshes. A trace, which shows each, changes no statistic.
for power in off power-down self-refresh; do
    for ticks in 36000000000 60000; do
        program asleep "li a0, 0x02004000
li a1, $((ticks % 4294967296))
li a2, $((ticks / 4294967296))
sw a1, 0(a0)
sw a2, 4(a0)
li a1, 0x80
csrw mie, a1
wfi
la a0, tohost
li a1, 1
sw a1, 0(a0)"
        timeout 20 "$CNNVP" exec asleep.elf --stats asleep_$ticks.json -s dram.power_down=$power >out ||
            fail "asleep for $ticks ticks"
    done
    expect 0 exec asleep.elf --stats traced.json --trace asleep.vcd -s dram.power_down=$power
    grep -v wall_seconds asleep_60000.json >alone
    grep -v wall_seconds traced.json | cmp -s alone - || fail "a trace changes statistics ($power)"
    /usr/bin/python3 -c '
import json, sys
stats = json.load(open("asleep_36000000000.json"))
dram = stats["units"]["dram"]
assert abs(stats["total"]["time_ps"] - 3600e12) < 1e6
assert dram["refreshes"] == 1 if sys.argv[1] == "self-refresh" else abs(dram["refreshes"] / (3600 / 7.8e-6) - 1) < 1e-3
low = {"off": "standby", "power-down": "precharge_power_down", "self-refresh": "self_refresh"}[sys.argv[1]]
assert 0.9 < dram[low + "_ps"] / 3600e12 < 1.01, dram
' $power || fail "an hour asleep ($power)"
done

# A run that ends while the core sleeps has counted the sleep.
for body in wfi '2: j 2b'; do
    program cut "li a0, 0x02004000
li a1, 0x10000000
sw a1, 0(a0)
sw zero, 4(a0)
li a1, 0x80
csrw mie, a1
csrsi mstatus, 8
$body"
    expect 1 exec cut.elf --max-time 100us --stats cut.json --profile cut.callgrind
    /usr/bin/python3 -c '
import json, sys
stats = json.load(open("cut.json"))
cpu = stats["units"]["cpu"]
assert stats["total"]["time_ps"] == 100000000 and 99990 <= cpu["cycles"] <= 100000, cpu
assert cpu["wfi_cycles"] > 99900 if sys.argv[1] == "wfi" else cpu["jumps"] > 99900, cpu
' "$body" || fail "asleep at the end: $body"
done

# Arguments, as a C program sees them through picolibc and semihosting.
cat >arguments.c <<'GUEST'
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    return argc;
}
GUEST
cat >input.c <<'GUEST'
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 3; ++i)
        putchar(getchar());
    return 3;
}
GUEST
for guest in arguments input; do
    "$RISCV_GCC" -march=rv32imac -mabi=ilp32 -misa-spec=2.2 --specs=picolibc.specs --crt0=semihost --oslib=semihost \
        -Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=0x100000,--defsym=__ram=0x80200000 \
        -Wl,--defsym=__ram_size=0x100000,--no-warn-rwx-segments $guest.c -o $guest.elf || fail "the guest's C library"
done
expect 3 exec arguments.elf one two
says "[one][two]"
# On the kit of new-guest, too.
"$CNNVP" new-guest kit >out && cp arguments.c kit/main.c || fail "new-guest"
make -s -C kit CNNVP="$CNNVP" >made 2>&1 || fail "a program on the kit: $(cat made)"
expect 3 exec kit/kit.elf one two
says "[one][two]"
# A read waits for input that comes late.
status=0
(sleep 1 && printf abc) | "$CNNVP" exec input.elf >out 2>err || status=$?
[ $status -eq 3 ] || fail "late input: status $status, $(cat out err)"
says abc
expect 7 exec seven.elf
expect 1 exec full.elf # 256 would read as "done" in one byte
# A linker's default puts the file's headers in front of the program, below RAM.
"$RISCV_GCC" -march=rv32imac -mabi=ilp32 -nostdlib -nostartfiles -Wl,-Ttext=0x80000000 pass.S -o headers.elf 2>/dev/null ||
    fail "the guest's compiler"
refused 2 "needs memory at 0x7ffff000" exec headers.elf
refused 2 "link with -Wl,-n" exec headers.elf
expect 0 exec pass.elf --stats stats.json --trace run.vcd --seed 3
/usr/bin/python3 - <<'PYTHON' || fail "stats.json"
import json
stats = json.load(open("stats.json"))
assert stats["schema"] == "cnnvp-stats/2" and stats["command"] == "exec" and "partial" not in stats
assert stats["total"]["guest_instructions"] > 5
PYTHON
[ -s run.vcd ] || fail "no trace"
# The guest's functions in a trace: calls nest; a jump out of two of them (longjmp) closes both, a tail call goes on in the
# caller's name, a trap is a call of its handler, and what is open at the end ends there.
program calls 'la t0, handler
csrw mtvec, t0
la s0, back
call outer
back: call leaf
ecall
.option norvc
call tail
la a0, tohost
li a1, 1
sw a1, 0(a0)
2: j 2b
.type outer, @function
outer: mv s1, ra
call inner
mv ra, s1
ret
.type inner, @function
inner: mv ra, s0
ret
.type leaf, @function
leaf: ret
.type tail, @function
tail: j leaf
.type handler, @function
.align 2
handler: csrr t0, mepc
addi t0, t0, 4
csrw mepc, t0
mv s1, ra
call leaf
mv ra, s1
mret'
expect 0 exec calls.elf --trace calls.vcd
expect 0 exec calls.elf --trace calls.pftrace
/usr/bin/python3 - <<'PYTHON' || fail "functions of the guest"
identifier, names = None, []
for line in open("calls.vcd"):
    words = line.split()
    if words[0] == "$var" and words[4] == "functions":
        identifier = words[3]
    elif line[0] == "b" and words[1] == identifier:
        bits = words[0][1:]
        bits = bits.zfill((len(bits) + 7) // 8 * 8)
        names.append(bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).decode().strip("\0"))
assert names[0] == "_start" and names[-1] == "", names
assert [name for name in names if name] == [
    "_start", "outer", "inner", "_start", "leaf", "_start", "handler", "leaf", "handler", "_start", "tail", "_start"], names
PYTHON
grep -q handler calls.pftrace || fail "no function in the Perfetto trace"
# Options of the command may stand on either side of the program; the program's own come after --.
expect 0 exec -p nfu pass.elf -s pe_array.rows=4 -- --not-ours -x

# Ends that are not the guest's own.
refused 1 "--max-time was reached" exec forever.elf --max-time 1ms --stats partial.json
grep -q '"partial": true' partial.json || fail "no partial statistics"
refused 1 "endless loop" exec stuck.elf --max-time 1s
refused 1 "cnnvp: " exec nothing.elf --max-time 10ms
refused 1 "cnnvp: " exec lost.elf --max-time 10ms

# A signal ends the run, and what was counted so far is kept.
"$CNNVP" exec forever.elf --stats signal.json >out 2>err &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
[ $? -eq 1 ] || fail "status $? after SIGTERM"
grep -q "interrupted" err || fail "no word of the interruption: $(cat err)"
grep -q '"partial": true' signal.json || fail "no partial statistics after SIGTERM"

# So does whoever stops reading what the guest prints.
"$CNNVP" exec chatter.elf --stats pipe.json --memory-trace pipe.txt 2>err | head -n 1 >/dev/null
grep -q '"partial": true' pipe.json || fail "no partial statistics without a reader: $(cat err)"
[ "$(echo pipe.txt*)" = pipe.txt ] || fail "left behind without a reader: $(echo pipe.txt*)"

# Bad input leaves nothing behind.
refused 2 "nowhere.elf" exec nowhere.elf --stats s.json --trace t.vcd
refused 2 "pass.S: is not an ELF" exec pass.S --stats s.json --trace t.vcd
head -c 60 pass.elf >short.elf
refused 2 "short.elf: " exec short.elf --stats s.json --trace t.vcd
absent s.json t.vcd
refused 2 "--stats: /nonexistent/s.json cannot be written" exec pass.elf --stats /nonexistent/s.json
refused 2 "--stats: . is a folder" exec pass.elf --stats .
refused 2 "ends in .pftrace" exec pass.elf --trace t.trace
refused 2 "x.vcd is also the file of --trace" exec pass.elf --trace x.vcd --stats x.vcd
absent t.trace x.vcd
# Programs that this core or this memory cannot have: one line that says what is wrong, and what would be right.
cat >end.c <<'GUEST'
volatile unsigned tohost __attribute__((section(".data"), aligned(64)));
#ifdef LARGE
char large[0x60000000];
#endif
void _start(void) { tohost = 1; for (;;) ; }
GUEST
# wrong TEXT OPTION...
wrong() {
    text=$1
    shift
    "$RISCV_GCC" -O1 -ffreestanding -nostdlib -nostartfiles -Wl,-n,--no-warn-rwx-segments "$@" end.c -o wrong.elf ||
        fail "the guest's compiler with $*"
    # shellcheck disable=SC2086 # a list of words
    refused 2 "wrong.elf: $text" exec wrong.elf --stats wrong.json $settings
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: more than a line: $(cat err)"
    absent wrong.json
}
rv32='-march=rv32imac -mabi=ilp32' settings=
# shellcheck disable=SC2086 # lists of words
{
    wrong 'is for RV64, the core is RV32; compile with -march=rv32imac -mabi=ilp32' \
        -march=rv64imac -mabi=lp64 -mcmodel=medany -Wl,-Ttext=0x80000000
    wrong 'has the hard-float ABI, the core no such registers; compile with ' -march=rv32imafc -mabi=ilp32f -Wl,-Ttext=0x80000000
    wrong 'has the ABI of RV32E; compile with ' -march=rv32e -mabi=ilp32e -Wl,-Ttext=0x80000000
    wrong 'it needs memory at 0x20000000..' $rv32 -Wl,-Ttext=0x20000000
    grep -q '; link it for 0x80000000..0xffffffff$' err || fail "linked elsewhere: $(cat err)"
    wrong 'it needs memory at 0x10000000..' $rv32 -Wl,-Ttext=0x10000000
    settings='-s dram.size=512MiB'
    wrong 'it needs memory at 0x80000000..0xe' $rv32 -DLARGE -Wl,-Ttext=0x80000000
    grep -q '; the memory there ends at 0x9fffffff$' err || fail "too large: $(cat err)"
}
# By default it has room for as much. Arrays are data, off chip whatever their size; variables and the stack stay where the
# core is fast: their 1000 turns are no reads. A stack that is an array is the stack.
cat >array.c <<'GUEST'
volatile unsigned tohost __attribute__((section(".data"), aligned(64)));
#ifndef BYTES
#define BYTES 0x60000000
#endif
volatile char large[BYTES];
#ifdef STACK
char __attribute__((aligned(16))) stack[4096];
__asm__(".globl __stack\n.set __stack, stack + 4096");
#endif
void __attribute__((noinline)) work(void)
{
    for (volatile int i = 0; i < 1000; i++) ;
    large[BYTES - 16] = 1;
    tohost = large[BYTES - 16];
    for (;;) ;
}
void __attribute__((naked, section(".text.start"))) _start(void) { __asm__("la sp, __stack\n j work"); }
GUEST
# array READS OPTION...
array() {
    reads=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    "$RISCV_GCC" -O1 -ffreestanding -nostdlib -nostartfiles -Wl,-n,--no-warn-rwx-segments $rv32 -mcmodel=medany \
        -Wl,-Ttext=0x80000000,-e,_start "$@" array.c -o array.elf || fail "the guest's compiler: array.c with $*"
    expect 0 exec array.elf --stats array.json
    [ ! -s err ] || fail "$*: $(cat err)"
    grep -q "\"memory_reads\": $reads," array.json || fail "$*: reads: $(grep -o '"memory_reads": [0-9]*' array.json)"
}
array 1 -Wl,--defsym=__stack=0xf0000010
array 1 -DBYTES=4096 -Wl,--defsym=__stack=0xf0000010
array 0 -DBYTES=2048 -Wl,--defsym=__stack=0xf0000010
array 1 -DBYTES=4096 -DSTACK
finish
