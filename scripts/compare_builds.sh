#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_builds.sh BUILD-FOLDER OTHER-BUILD-FOLDER: checks that two builds, such as of two compilers, give the same
# bytes. Runs LeNet-5 on the nfu, also with its cycle-stepped array, `mixed` on the window engine, AlexNet depth first,
# one epoch of 96 digits on the trainer, and the trained network. Compares outputs, traces, statistics (without
# wall_seconds and build) and the guest's ELF file. Status 0: all are equal.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
networks=$source/scripts/networks
first=$(cd "$1" && pwd)
second=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run_all PROGRAM: writes all outputs into the current folder
run_all() {
    "$1" run "$networks/lenet5.onnx" -q -i "$work/digits/test_images.npy" --images 2 -o lenet5.npy --stats lenet5.json \
        --trace lenet5.vcd --memory-trace lenet5.txt
    "$1" run "$networks/lenet5.onnx" -q -s pe_array.detail=cycle -o stepped.npy --stats stepped.json
    "$1" run "$networks/mixed.onnx" -q -p window -o mixed.npy --stats mixed.json \
        --trace mixed.pftrace --rounding stochastic
    "$1" train "$networks/digits.onnx" -q --dataset "idx:$work/digits/train_images.idx,$work/digits/train_labels.idx" \
        --limit 96 --epochs 1 --lr 0.05 -o trained.onnx --log log.csv --stats trained.json
    "$1" run trained.onnx -q -p trainer -o inferred.npy --stats inferred.json
    "$1" run "$first/zoo/networks/net_alexnet.onnx" -q --schedule depth-first --block 4 -o depth.npy \
        --stats depth.json
    sed -i -e '/"wall_seconds"/d' -e '/"build"/d' ./*.json
}

/usr/bin/python3 "$source/scripts/make_digits.py" "$work/digits"
mkdir "$work/first" "$work/second"
(cd "$work/first" && run_all "$first/bin/cnnvp")
(cd "$work/second" && run_all "$second/bin/cnnvp")
# Missing or empty files would make the comparison pass without a check.
[ "$(find "$work/first" -type f -size +0 | wc -l)" -eq 16 ] || {
    echo "compare_builds.sh: 16 files are expected"
    exit 1
}
diff -rq "$work/first" "$work/second"
cmp "$first/share/cnnvp/cnnvp_guest.elf" "$second/share/cnnvp/cnnvp_guest.elf"
