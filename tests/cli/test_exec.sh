#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp exec`: the guest's exit status, its console, ends that are not its own, statistics and traces.
. "$SOURCE/tests/cli/lib.sh"

# program NAME BODY: an ELF whose code is BODY, with `tohost`.
program() {
    printf '%s\n' ".globl _start" "_start:" "$2" "1: j 1b" '.section .tohost,"aw"' ".align 6" ".globl tohost" \
        "tohost: .dword 0" >"$1.S"
    "$RISCV_GCC" -march=rv32imac -mabi=ilp32 -nostdlib -nostartfiles -Wl,-N,--no-warn-rwx-segments -Wl,-Ttext=0x80000000 "$1.S" -o "$1.elf" ||
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
program forever '2: addi a0, a0, 1
j 2b'
program stuck '2: j 2b'
program nothing '2: wfi
j 2b'
program lost 'li a0, 0x40000000
jr a0'

expect 0 exec pass.elf
says "Hi"

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
"$RISCV_GCC" -march=rv32imac -mabi=ilp32 -misa-spec=2.2 --specs=picolibc.specs --crt0=semihost --oslib=semihost \
    -Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=0x100000,--defsym=__ram=0x80200000 \
    -Wl,--defsym=__ram_size=0x100000,--no-warn-rwx-segments arguments.c -o arguments.elf || fail "the guest's C library"
expect 3 exec arguments.elf one two
says "[one][two]"
expect 7 exec seven.elf
expect 1 exec full.elf # 256 would read as "done" in one byte
expect 0 exec pass.elf --stats stats.json --trace run.vcd --seed 3
/usr/bin/python3 - <<'PYTHON' || fail "stats.json"
import json
stats = json.load(open("stats.json"))
assert stats["schema"] == "cnnvp-stats/1" and stats["command"] == "exec" and "partial" not in stats
assert stats["total"]["guest_instructions"] > 5
PYTHON
[ -s run.vcd ] || fail "no trace"
# Options of the command may stand on either side of the program; the program's own come behind --.
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

# Bad input leaves nothing behind.
refused 2 "nowhere.elf" exec nowhere.elf --stats s.json --trace t.vcd
refused 2 "pass.S: is not an ELF" exec pass.S --stats s.json --trace t.vcd
head -c 60 pass.elf >short.elf
refused 2 "short.elf: " exec short.elf --stats s.json --trace t.vcd
absent s.json t.vcd
refused 2 "--stats: /nonexistent/s.json cannot be written" exec pass.elf --stats /nonexistent/s.json
refused 2 "--stats: . is a folder" exec pass.elf --stats .
refused 2 "ends in .pftrace" exec pass.elf --trace t.trace
refused 2 "name the same file" exec pass.elf --trace x.vcd --stats x.vcd
absent t.trace x.vcd
finish
