#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds public benchmarks for the core, unchanged, with the kit and from a checkout of the benchmark:
#   run.sh CNNVP coremark|embench CHECKOUT
# Prints each program's cycles as the program itself measures them. Fails if a program finds its own result wrong.
set -eu
[ $# -eq 3 ] || {
    echo "usage: $0 CNNVP coremark|embench CHECKOUT" >&2
    exit 2
}
[ -n "$3" ] || {
    echo "skipped: no checkout of $2 is named"
    exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
cnnvp=$(realpath "$(command -v "$1")") suite=$2 checkout=$(cd "$3" && pwd)
kit=$(dirname "$cnnvp")/../share/cnnvp/guest/kit.mk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# build NAME FLAGS SOURCE...: builds NAME.elf
build() {
    name=$1 flags=$2
    shift 2
    printf 'PROGRAM = %s\nSOURCES = %s\nPLATFORM = nfu\ninclude %s\n' "$name" "$*" "$kit" >Makefile
    make -s CNNVP="$cnnvp" CFLAGS="-O2 -w $flags" "$name.elf"
}

# reported NAME: prints the cycles that the last run reported
reported() {
    python3 - "$1" stats.json <<'END'
import json, sys
stats = json.load(open(sys.argv[2]))
print("%-18s %12d cycles" % (sys.argv[1], stats["program"]["reported"]["cycles"]))
END
}

case $suite in
coremark)
    # CoreMark accepts a result only after ten seconds, here of simulated time; this many iterations take longer.
    build coremark "-DITERATIONS=${ITERATIONS:-40000} -DPERFORMANCE_RUN=1 -DFLAGS_STR=\\\"-O2\\\" -I$checkout -I$checkout/simple" \
        "$checkout"/core_list_join.c "$checkout"/core_main.c "$checkout"/core_matrix.c "$checkout"/core_state.c \
        "$checkout"/core_util.c "$checkout"/simple/core_portme.c
    "$cnnvp" exec coremark.elf >coremark.txt
    cat coremark.txt
    grep -q '^Correct operation validated' coremark.txt
    ;;
embench)
    for folder in "$checkout"/src/*/; do
        name=$(basename "$folder")
        build "$name" "-I$checkout/support -I$here -I$folder -DWARMUP_HEAT=1 -DGLOBAL_SCALE_FACTOR=1 -lm" \
            "$folder"*.c "$checkout"/support/main.c "$checkout"/support/beebsc.c "$here"/boardsupport.c
        "$cnnvp" exec "$name.elf" --stats stats.json || {
            echo "$name: it found its own result wrong" >&2
            exit 1
        }
        reported "$name"
    done
    ;;
*)
    echo "which benchmark is $suite? coremark or embench" >&2
    exit 2
    ;;
esac
