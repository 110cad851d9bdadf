#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER [CNNVP [STUDY...]]: runs the three studies, or the named ones, and puts results, tables and plots into
# FOLDER. It takes less than a minute on two cores; when started again, it continues. CNNVP: the program (default:
# build/bin/cnnvp of this tree).
set -eu
studies=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || {
    echo "usage: run.sh FOLDER [CNNVP [STUDY...]]" >&2
    exit 2
}
cnnvp=$(realpath "${2:-$studies/../../build/bin/cnnvp}")
mkdir -p "$1/studies" "$1/networks"
cd "$1/studies"
[ $# -gt 2 ] && shift 2 || set -- array_shape buffers mantissa
cp "$studies"/*.yaml .
cp "$studies/../networks/lenet5.onnx" "$studies/../networks/digits.onnx" ../networks/
[ -s vgg16.onnx ] || /usr/bin/python3 "$studies/make_vgg16.py" vgg16.onnx
[ -s digits/test_labels.idx ] || /usr/bin/python3 "$studies/../make_digits.py" digits
for study; do
    # Some points of `buffers` fail since their blocks do not fit, as the page of the study explains.
    "$cnnvp" sweep $study.yaml -o $study.sqlite --export $study.csv || [ $? -eq 1 ]
    "$cnnvp" report $study.sqlite -o $study.html
    /usr/bin/python3 "$studies/plot.py" $study $study.csv $study.svg >$study.md
done
echo "in $(pwd): $* (.sqlite, .html, .csv, .svg, .md)"
