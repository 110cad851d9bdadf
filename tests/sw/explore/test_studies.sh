#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The written studies' specifications, with one small network and few values, and their tables and plots.
. "$SOURCE/tests/support/lib.sh"
studies=$SOURCE/scripts/studies
cp "$SOURCE/scripts/networks/lenet5.onnx" lenet5.onnx
cp lenet5.onnx vgg16.onnx
sed -e "s#^network: .*#network: [lenet5.onnx, vgg16.onnx]#" -e "s/log2: \[2, 32\]/log2: [4, 8]/" \
    "$studies/array_shape.yaml" >array_shape.yaml
sed -e "s/schedule: .*, block: 8/schedule: [layer]/" -e "s/size: .*/size: [32KiB, 64KiB]/" \
    -e "s/preset: .*/preset: [ddr3-1600, ddr4-2400]/" "$studies/buffers.yaml" >buffers.yaml
/usr/bin/python3 "$SOURCE/scripts/make_digits.py" digits || fail "no digits"
sed -e "s#^network: .*#network: $SOURCE/scripts/networks/digits.onnx#" -e "s/limit: .*/limit: 64/" \
    -e "s/epochs: .*/epochs: 1/" -e "s/bits: .*/bits: [4, 8]/" "$studies/mantissa.yaml" >mantissa.yaml
for study in array_shape buffers mantissa; do
    expect 0 sweep $study.yaml -o $study.sqlite -j 2 --export $study.csv
    says " ok, 0 failed"
done
for study in array_shape buffers mantissa; do
    /usr/bin/python3 "$studies/plot.py" $study $study.csv $study.svg >$study.md || fail "plot.py $study"
    /usr/bin/python3 -c "import sys, xml.dom.minidom as d
assert len(d.parse(sys.argv[1]).getElementsByTagName('circle')) >= 4" $study.svg || fail "$study.svg"
done
grep -Eq '^\| stochastic \| [0-9]+\.[0-9][0-9] % \| [0-9]+\.[0-9][0-9] % \|$' mantissa.md ||
    fail "table: $(cat mantissa.md)"
grep -Eq '^\| LeNet-5, software takes no time \| 64 \| 8x8: [0-9.]+ us \| 8x8: [0-9.]+ us \|  \|$' array_shape.md ||
    fail "table: $(cat array_shape.md)"
grep -Eq '^\| VGG16 \| 64 \| 8x8: [0-9.]+ ms, [0-9.]+ mJ \| 8x8: [0-9.]+ ms, [0-9.]+ mJ \| [0-9.]+ mm2 \|$' array_shape.md || fail "table: $(cat array_shape.md)"
grep -Eq '^\| area \| [0-9.]+ mm2 \| [0-9.]+ mm2 \|$' mantissa.md || fail "table: $(cat mantissa.md)"
grep -Eq '^\| layer by layer \| 64 KiB \| [0-9.]+ mm2 \| [0-9]+ \| [0-9.]+ \|' buffers.md || fail "table: $(cat buffers.md)"
finish
