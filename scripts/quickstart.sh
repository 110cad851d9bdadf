#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to LeNet-5 on real handwritten digits, and to a network that learns them: installs what is missing,
# builds into build/, runs.
# May be run again at any time, from any folder.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
cd "$source"

# shellcheck disable=SC2086 # a list of words
cnnvp_install $CNNVP_BUILD_PACKAGES
# The tests are built by test.sh; a folder that has them keeps them.
[ -f build/CMakeCache.txt ] || set -- -DBUILD_TESTING=OFF
mkdir -p build
cnnvp_configure build -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" >build/configure.log || {
    cat build/configure.log >&2
    exit 1
}
cmake --build build --parallel "$(nproc)" --target cnnvp_program cnnvp_guest

digits=build/digits
/usr/bin/python3 scripts/make_digits.py $digits
# A hundred training images choose the number formats.
/usr/bin/python3 - $digits <<'PYTHON'
import os, sys, numpy
name = sys.argv[1] + "/calibration_images.npy"
with open(name + ".tmp", "wb") as file:
    numpy.save(file, numpy.load(sys.argv[1] + "/train_images.npy")[:100])
os.replace(name + ".tmp", name)
PYTHON

echo
build/bin/cnnvp run scripts/networks/lenet5.onnx \
    -i $digits/test_images.npy --labels $digits/test_labels.npy --calibration $digits/calibration_images.npy \
    --stats build/lenet5.json --trace build/lenet5.pftrace

# The second part: a small network without weights learns the digits on the training engine.
echo
build/bin/cnnvp train scripts/networks/digits.onnx \
    --dataset idx:$digits/train_images.idx,$digits/train_labels.idx \
    --eval idx:$digits/test_images.idx,$digits/test_labels.idx \
    --epochs 3 --lr 0.05 -o build/digits_trained.onnx --log build/digits_training.csv
echo
echo "The trace opens at https://ui.perfetto.dev; README.md goes on from here."
