#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README's own unit: taken from there, built with nothing but a C compiler, put into a platform, used by a program.
. "$SOURCE/tests/cli/lib.sh"

# block LANGUAGE WORDS: the README's block in that language whose first line has the words.
block() {
    awk -v fence="\`\`\`$1" -v words="$2" '
        $0 == fence { getline; inside = index($0, words) > 0 }
        /^```$/ { inside = 0 }
        inside' "$SOURCE/README.md"
}

block c doubler.c >doubler.c
block yaml doubler.yaml >doubler.yaml
[ -s doubler.c ] && [ -s doubler.yaml ] || fail "the README has no doubler.c or doubler.yaml"
cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -shared -fPIC -I "$SOURCE/c_api" doubler.c -o libdoubler.so ||
    fail "doubler.c is not built"
expect 0 check doubler.yaml --header doubler.h
cat >use.S <<'GUEST'
#include "doubler.h"
.globl _start
_start: li a0, DOUBLER_BASE
    li a1, 21
    sw a1, DOUBLER_IN_OFFSET(a0)
    lw a1, DOUBLER_OUT_OFFSET(a0)
    slli a1, a1, 1
    ori a1, a1, 1
    la a0, tohost
    sw a1, 0(a0)
1:  j 1b
.section .tohost,"aw"
.align 6
.globl tohost
tohost: .dword 0
GUEST
"$RISCV_GCC" -march=rv32imac -mabi=ilp32 -misa-spec=2.2 -nostdlib -nostartfiles -Wl,-N,--no-warn-rwx-segments \
    -Wl,-Ttext=0x80000000 use.S -o use.elf || fail "the guest's compiler"
expect 0 check doubler.yaml
says "libdoubler.so:doubler"
expect 42 exec use.elf -p doubler.yaml

finish
