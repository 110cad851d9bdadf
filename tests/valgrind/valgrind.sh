#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh VALGRIND CNNVP SOURCE GUEST.elf: the command's ways through its code under memcheck.
set -u
valgrind=$1 cnnvp=$2 source=$3 guest=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# clean STATUS ARGUMENT...: cnnvp ends with STATUS, and memcheck has nothing to say.
clean() {
    wanted=$1
    shift
    "$valgrind" --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
        --errors-for-leak-kinds=definite,indirect,possible --suppressions="$here/libraries.supp" --log-file=memcheck.log \
        "$cnnvp" "$@" >out 2>&1
    status=$?
    if [ "$status" -ne "$wanted" ] || [ -s memcheck.log ]; then
        echo "cnnvp $*: status $status, $wanted is expected"
        cat out memcheck.log
        failed=1
    fi
}

networks=$source/scripts/networks
# Four images of 8x8 and their labels, as IDX files.
{ printf '\0\0\10\3\0\0\0\4\0\0\0\10\0\0\0\10' && yes 0369258147 | head -c 256; } >images
printf '\0\0\10\1\0\0\0\4\1\2\3\0' >labels
clean 0 run "$networks/lenet5.onnx" -o out.npy --stats stats.json --trace trace.vcd --csv layers.csv
clean 0 run "$networks/lenet5.onnx" -q --timing-only --trace trace.fst
clean 0 run "$networks/mixed.onnx" -q -p window --dump tensors
clean 0 train "$networks/digits.onnx" -q --dataset "idx:images,labels" --limit 4 --batch 4 --epochs 1 -o trained.onnx
clean 0 exec "$guest"
clean 0 check trainer
clean 1 run "$networks/lenet5.onnx" -q --max-time 10us
clean 2 run "$source/tests/fuzz/fuzz.h"
clean 2 run "$networks/lenet5.onnx" -s pe_array.rows=0
clean 0 run "$source/tests/fuzz/corpus/onnx/concat_clip.onnx" -q
for name in cycle huge zero; do
    clean 2 run "$source/tests/fuzz/corpus/onnx/$name.onnx" -q
done
exit $failed
