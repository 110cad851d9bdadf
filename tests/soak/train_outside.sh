#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# train_outside.sh SOAK_CNNVP SCRIPTS FOLDER: a training with third-party memories gives the same network as with the
# platform's own memory.
set -eu
mkdir -p "$3"
cd "$3"
[ -s digits/train_labels.idx ] || /usr/bin/python3 "$2/make_digits.py" digits
train() {
    "$cnnvp" train "$networks/digits.onnx" --dataset idx:digits/train_images.idx,digits/train_labels.idx --limit 32 --batch 32 -q "$@"
}
cnnvp=$1 networks=$2/networks
train -o own.onnx
for memory in lt:50: lt:50:g lt:50:wgd at:03; do
    CNNVP_SOAK_MEMORY=$memory train -o outside.onnx -s dram.model=external -s "dram.protocol=${memory%%:*}"
    cmp own.onnx outside.onnx
done
