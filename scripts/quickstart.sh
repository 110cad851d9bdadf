#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Goes from a fresh Debian 12 to LeNet-5 on real handwritten digits, and to a network that learns them: installs missing
# packages, builds into build/, and runs both networks. It may be run again at any time, from any folder.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
cd "$source"

# heading TEXT: prints a heading.
heading() {
    printf '\n== %s\n' "$1"
}

# run COMMAND: shows a command as a user would type it, and runs it.
run() {
    printf '\n$ %s\n' "$1"
    eval "$1"
}

cat <<'TEXT'
cnnvp: packages, build, inference, training. On a bare Debian 12 this takes 140 s of one core's time, two minutes on an idle
machine with two cores, and 2.8 GB of disk: 2.2 GB for 158 packages, 0.4 GB for their archives in /var/cache/apt (gone with
apt-get clean), 0.2 GB for build/. Started again, it does only what is missing.
TEXT

heading "1/4 packages (45 s where all are missing)"
# shellcheck disable=SC2086 # a list of words
cnnvp_install $CNNVP_BUILD_PACKAGES

heading "2/4 build into build/ (65 s on two cores)"
# test.sh builds the tests. A build folder that already has them keeps them.
[ -f build/CMakeCache.txt ] || set -- -DBUILD_TESTING=OFF
mkdir -p build
cnnvp_configure build -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" >build/configure.log || {
    cat build/configure.log >&2
    exit 1
}
cmake --build build --parallel "$(nproc)" --target cnnvp_installable

heading "3/4 LeNet-5 classifies 359 handwritten digits on the platform \"nfu\": 8x8 PEs at 1 GHz, DDR4-2400 (1 s)"
/usr/bin/python3 scripts/make_digits.py build/digits
# The number formats are calibrated with 100 training images.
/usr/bin/python3 - build/digits <<'PYTHON'
import os, sys, numpy
name = sys.argv[1] + "/calibration_images.npy"
with open(name + ".tmp", "wb") as file:
    numpy.save(file, numpy.load(sys.argv[1] + "/train_images.npy")[:100])
os.replace(name + ".tmp", name)
PYTHON
run 'build/bin/cnnvp run lenet5 -i build/digits/test_images.npy --labels build/digits/test_labels.npy \
    --calibration build/digits/calibration_images.npy --stats build/lenet5.json --trace build/lenet5.pftrace \
    --report build/lenet5_run'
run 'build/bin/cnnvp report build/lenet5_run -o build/lenet5.html'

heading "4/4 a small network learns the digits from random weights on the platform \"trainer\" (1 s)"
run 'build/bin/cnnvp train digits \
    --dataset idx:build/digits/train_images.idx,build/digits/train_labels.idx \
    --eval idx:build/digits/test_images.idx,build/digits/test_labels.idx \
    --epochs 3 --lr 0.05 -o build/digits_trained.onnx --log build/digits_training.csv'

heading "Done"
cat <<TEXT
$source/build/lenet5.html: the run of LeNet-5 as a page; open it in a browser, it needs no network
$source/build/lenet5.pftrace: its timeline, for https://ui.perfetto.dev
$source/build/lenet5.json: its statistics
$source/build/digits_trained.onnx: the trained network
README.md goes on from here.
TEXT
