#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The public riscv-tests on the platform's core: builds those of a checkout that apply to RV32IMAC in machine mode, in
# their physical environment (-p), and runs each with `cnnvp exec`.
#   riscv_tests.sh CNNVP GCC CHECKOUT [STEP.py]     CHECKOUT or $CNNVP_RISCV_TESTS: the folder with isa/ and env/; exit
# 77 without. STEP.py: each once more, under a debugger that takes it through step by step.
set -u
cnnvp=$1 gcc=$2 checkout=${3:-${CNNVP_RISCV_TESTS:-}} step=${4:-}
if [ -z "$checkout" ]; then
    echo "skipped: no checkout of riscv-tests is named (CNNVP_RISCV_TESTS)"
    exit 77
fi
for part in isa/macros/scalar/test_macros.h env/p/riscv_test.h env/encoding.h; do
    if [ ! -e "$checkout/$part" ]; then
        echo "$checkout/$part is missing: is it a checkout of riscv-tests with its submodule env?" >&2
        exit 1
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -f 1048576

# Tests of extensions that RV32IMAC does not have: bytes and halfwords (Zabha), compare and swap (Zacas), Zalasr.
applies() {
    case $1 in
    amo*_b | amo*_h | amocas_* | zalasr) return 1 ;;
    esac
}

build() {
    # As the project's own Makefile does: compressed instructions only where a test asks for them.
    "$gcc" -march=rv32ima -mabi=ilp32 -misa-spec=2.2 -static -mcmodel=medany -fvisibility=hidden -nostdlib \
        -nostartfiles -Wl,--no-warn-rwx-segments -I"$checkout/env/p" -I"$checkout/isa/macros/scalar" \
        -T"$checkout/env/p/link.ld" "$1" -o "$2"
}

failed=0
total=0
for suite in rv32ui rv32um rv32ua rv32uc rv32mi; do
    passed=0
    count=0
    for source in "$checkout/isa/$suite"/*.S; do
        name=$(basename "$source" .S)
        [ -e "$source" ] && applies "$name" || continue
        count=$((count + 1))
        if ! build "$source" "$work/test.elf"; then
            echo "FAILED: $suite-p-$name was not built"
        elif timeout -k 10 60 "$cnnvp" exec --max-time 1s "$work/test.elf" </dev/null &&
            { [ -z "$step" ] || timeout -k 10 60 python3 "$step" "$cnnvp" exec --max-time 1s "$work/test.elf"; }; then
            passed=$((passed + 1))
        else
            echo "FAILED: $suite-p-$name: test case $?" # the environment's exit status is the number of the test case
        fi
    done
    echo "$suite: $passed of $count"
    [ "$passed" -eq "$count" ] || failed=1
    total=$((total + count))
done
if [ $total -eq 0 ]; then
    echo "$checkout has no tests for RV32" >&2
    exit 1
fi
exit $failed
