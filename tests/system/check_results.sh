#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --check-results: the built-in units are right, on every preset, the NFU in both depths; arrays that are wrong are named
# with the command and the word, whatever is wrong with them.
# usage: check_results.sh SOURCE-FOLDER BUILD-FOLDER ZOO-FOLDER
set -eu
source=$1 build=$2 zoo=$3
cnnvp=$build/bin/cnnvp
networks=$source/scripts/networks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "check_results.sh: $*" >&2; exit 1; }

# right ARGUMENTS...: all commands are compared, and right; nothing else of the run changes.
right() {
    "$cnnvp" run "$@" -q -o plain.npy --stats plain.json 2>message
    "$cnnvp" run "$@" -o checked.npy --stats checked.json --check-results >text 2>message ||
        fail "$*: $(cat message)"
    grep -q '^results  *[1-9][0-9]* commands compared, 0 wrong$' text || fail "$*: $(grep '^results' text)"
    cmp -s plain.npy checked.npy || fail "$*: the output changes"
    grep -v wall_ plain.json >plain && grep -v wall_ checked.json >checked
    cmp -s plain checked || fail "$*: the statistics change"
}
for network in "$networks/lenet5.onnx" "$networks/mixed.onnx" "$zoo/net_mobilenetv2.onnx"; do
    for preset in nfu window systolic unified; do
        right "$network" -p $preset
    done
    right "$network" -s pe_array.detail=cycle
done
right "$networks/mixed.onnx" -s pe_array.acc_bits=20 --rounding stochastic --seed 5
right "$networks/lenet5.onnx" -p window --rounding truncate
right "$networks/mixed.onnx" -p systolic -s pe_array.dataflow=os --schedule fused -n 2
right "$zoo/net_mobilenetv2.onnx" -p systolic -s pe_array.dataflow=is -s pe_array.acc_bits=32
right "$zoo/net_mobilenetv2.onnx" -p systolic -s pe_array.depthwise=vector
right "$networks/lenet5.onnx" -s pe_array.kernel_piece=3 --schedule fused -n 2
for preset in nfu window systolic; do
    right "$zoo/net_mobilenetv3.onnx" -p $preset -s pe_array.write_out=table
done
# Additions by the write-out: the words of a pass of the vector unit, also behind partial sums, and the plan goes round.
# plan WHO: two additions, one of them to the results of two slices of inputs
plan() {
    cat >"$1.yaml" <<EOF
groups:
  - {layers: ["/4/body/body.3/Conv", "/4/Add"], tile_h: 6, tile_w: 12, halo: recompute}
  - {layers: ["/5/skip/skip.0/Conv", "/5/Add"], tile_h: 6, tile_w: 6, halo: recompute}
cuts:
  "/4/body/body.3/Conv": {group_out: 8, tile_h: 6, tile_w: 12, tile_in: 4, tile_out: 8, function: $1}
  "/5/skip/skip.0/Conv": {function: $1}
EOF
}
plan vector
plan write_out
for set in nfu window systolic "nfu -s pe_array.detail=cycle"; do
    set -- "$zoo/net_resnet.onnx" -p $set -s pe_array.write_out=add
    right "$@" --plan vector.yaml && mv checked.npy vector.npy
    right "$@" --plan write_out.yaml --plan-out out.yaml
    grep -q '"added_words": [1-9]' checked.json || fail "$set: nothing is added"
    cmp -s vector.npy checked.npy || fail "$set: the write-out adds other words"
    mv checked checked_before
    right "$@" --plan out.yaml
    cmp -s checked_before checked || fail "$set: the plan does not go round"
done
status=0
"$cnnvp" run "$zoo/net_resnet.onnx" --plan write_out.yaml -q 2>message || status=$?
[ $status -eq 2 ] && grep -q '^cnnvp: write_out.yaml:5:.*"/4/body/body.3/Conv": no write-out does its addition' message ||
    fail "write_out=clip: status $status, $(cat message)"
status=0
"$cnnvp" run "$networks/lenet5.onnx" --check-results --timing-only -q 2>message || status=$?
[ $status -eq 2 ] && grep -q 'compares the results that --timing-only leaves out' message ||
    fail "--timing-only: status $status, $(cat message)"

# The training engine: all that a training step has, in every form.
/usr/bin/python3 - <<'PYTHON'
import random, struct
random.seed(1)
open("images", "wb").write(bytes([0, 0, 8, 3]) + struct.pack(">3I", 16, 8, 8) + random.randbytes(1024))
open("labels", "wb").write(bytes([0, 0, 8, 1]) + struct.pack(">I", 16) + bytes(i % 10 for i in range(16)))
PYTHON
# trains ARGUMENTS...
trains() {
    "$cnnvp" train "$networks/digits.onnx" --dataset idx:images,labels --batch 8 "$@" --check-results >text 2>message ||
        fail "train $*: $(cat message)"
    grep -q '^results  *[1-9][0-9]* commands compared, 0 wrong$' text || fail "train $*: $(grep '^results' text)"
}
trains --eval idx:images,labels
trains --exponents image --bn standard
trains --exponents channel --rounding nearest --momentum 0
trains --weight-bits 8 --rounding floor --steps 1
trains -s pe_array.layout=zones --steps 1
trains --lr 9e5 --momentum 0.99 --epochs 30 # infinities and what is no number
trains --order channel --spill late -s pe_array.layout=zones -s encode.positions=staged --bn standard --exponents image
for bits in 9 12 24; do
    trains -s pe_array.mantissa_bits=$bits -s input_buffer.size=64KiB -s weight_buffer.size=1MiB --steps 1
done

# A block of the tree with a fault, from a library: wrong_block KIND SED-SCRIPT MESSAGE [ARGUMENTS].
wrong_block() {
    block=$1 script=$2 expected=$3
    shift 3
    sed -e "$script" "$source/models/training/$block/$block.c" >block.c
    ! cmp -s block.c "$source/models/training/$block/$block.c" || fail "nothing is changed by $script"
    cat >>block.c <<C
const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &cnnvp_unit_$block : NULL;
}
C
    cc -std=c11 -O2 -shared -fPIC -I"$source/c_api" -I"$source/models" -I"$source/models/training/$block" \
        -I"$build/include" -I"$build/platform" block.c -L"$build/models" -lcnnvp_stage -lcnnvp_bfp -lcnnvp_elementary -lm -o libblock.so
    printf 'platform: faulty\nbase: trainer\nunits:\n  %s: {model: ./libblock.so:%s}\n' "$block" "$block" >faulty.yaml
    status=0
    "$cnnvp" train "$networks/digits.onnx" --dataset idx:images,labels --batch 8 -p faulty.yaml -q --check-results "$@" \
        2>message || status=$?
    [ $status -eq 1 ] && grep -q "error: [0-9]* ps: multi_function: command [0-9]*, $expected" message ||
        fail "$block, $script: status $status, $(cat message)"
}
wrong_block relu 's/> 0.0f) << b/> 0.25f) << b/' \
    'tpost[.a-z0-9]* .* of layer "conv1": 0/1 matrix of image 0, channel 0, byte [0-9]* .* of relu_buffer) is '
wrong_block batch_norm 's/ \* range_of(extremes) + (double)epsilon/ * range_of(extremes)/' \
    'tcoef .* of layer "conv1": running_sigma of entry 0 '
wrong_block quantise 's/tile->first + n/tile->first + 1 + n/' \
    'tpost[.a-z0-9]* .* of layer "conv1": image 0, channel 0, row [0-9]*, column [0-9]* .* of intermediate_buffer) is '
wrong_block softmax 's/? 1.0 : 0.0)) [*] factor/? 0.999999 : 0.0)) * factor/' \
    'tsoftmax[.a-z0-9]* .*: image [0-9]*, channel [0-9]*, row 0, column 0 .* expected -'
wrong_block bn_update 's/&dbeta, 1u, velocities ?/\&dbeta, 1u, 0 ?/' 'tbnupdate.momentum .* beta_velocity of entry 0 '
wrong_block encode 's/tile->images [*] bytes));$/tile->images * bytes - 1));/' \
    'tpost[.a-z0-9]* .* position matrix of image 3, channel [0-9]*, byte [0-9]* .* of relu_buffer) is ' \
    -s encode.positions=staged

# array SED-SCRIPT: the example's array with a change.
array() {
    sed -e "$1" "$source/scripts/examples/own_array/dot_product.c" >array.c
    [ -z "$1" ] || ! cmp -s array.c "$source/scripts/examples/own_array/dot_product.c" || fail "nothing is changed by $1"
    cc -std=c11 -O2 -shared -fPIC -I"$source/c_api" -I"$build/include" array.c "$build/models/libcnnvp_fx16.a" \
        -o libdot_product.so
}
cp "$source/scripts/examples/own_array/dot_product.yaml" .
deliver='^    if (status == CNNVP_OK)$'

# wrong FAULT MESSAGE [MORE]: with the C statement before results are delivered, what is said of the first wrong
# command, and in the last line.
wrong() {
    array "/^        status = cnnvp_fx16_compute/{n;s/$deliver/    $1\\n&/}"
    status=0
    "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q -o own.npy --check-results 2>message || status=$?
    [ $status -eq 1 ] || fail "$1: status $status, $(cat message)"
    grep -q "error: [0-9]* ps: pe_array: command [0-9]*, $2" message || fail "$1: $(cat message)"
    [ "$(grep -c 'pe_array: command' message)" -eq 1 ] || fail "$1: more than the first one: $(cat message)"
    tail -n 1 message | grep -q "^cnnvp: --check-results: $3 of [0-9]* commands are wrong$" ||
        fail "$1: $(cat message)"
    [ -s own.npy ] || fail "$1: the run did not go on"
}
array ''
right "$networks/lenet5.onnx" -p dot_product.yaml

# The same one, which works while the DMA goes on: late FAULT [PORT], the latter for results.
late() {
    cc -std=c11 -O2 -shared -fPIC -I"$source/c_api" -I"$build/include" -I"$source/scripts/examples/own_array" \
        -DLATE_FAULT="$1" -DOUTPUT_PORT="\"${2:-output}\"" "$source/tests/system/late_array.c" "$build/models/libcnnvp_fx16.a" -o liblate.so
}
cat >late.yaml <<'YAML'
platform: late
base: nfu
units:
  pe_array:
    model: ./liblate.so:late
    connect: {input: input_buffer, weight: weight_buffer, output: output_buffer, done: instruction.done}
YAML
late ''
right "$networks/mixed.onnx" -p late.yaml
late 'if (late->command.tag == 3) *(int16_t *)lent.data ^= 4'
status=0
"$cnnvp" run "$networks/lenet5.onnx" -p late.yaml -q --check-results 2>message || status=$?
[ $status -eq 1 ] && grep -q 'pe_array: command [0-9]*, conv.* of layer "C3": channel 0, row 0, column 0 .* wrong are 1 of' message ||
    fail "a late array: status $status, $(cat message)"

# One whose results nobody finds: that is said.
late '' sums
sed -i 's/output: output_buffer/sums: output_buffer/' late.yaml
"$cnnvp" run "$networks/mixed.onnx" -p late.yaml --check-results >text 2>message || fail "other ports: $(cat message)"
grep -q '^results  *[1-9][0-9]* commands compared, 0 wrong; not compared, without a reference: [1-9][0-9]* conv' text ||
    fail "other ports: $(grep '^results' text)"
"$cnnvp" run "$zoo/../windows/conv_1x1.onnx" -p late.yaml --check-results -q 2>message || fail "other ports: $(cat message)"
grep -q '^cnnvp: --check-results: no command was compared; without a reference: [1-9][0-9]* conv' message ||
    fail "other ports, nothing compared: $(cat message)"

# One sum of seven: of the 1680 results of C1's first command 240, some of which are words of before by chance.
wrong 'for (uint64_t i = 0; !unit->timing_only \&\& i < tile.planes * tile.plane_words; i += 7) data.sums[i] ^= 0x5a5a5;' \
    'conv.bias i[01] w[01] o[01], of layer "C1": channel 0, row 0, column 0 (byte 0x0 of half [01] of output_buffer) is -*[0-9]*, expected -*[0-9]*; wrong are 2[0-9][0-9] of 1680 results$' \
    '[1-9][0-9]*'
# One sum of one layer, in its first tile, which has half of its rows.
wrong 'static int done; if (!unit->timing_only \&\& command->tag == 3 \&\& command->opcode == 0x80 \&\& !done++) data.sums[11 * 50 + 23] += (int64_t)1 << tile.shift;' \
    'conv.bias i[01] w[01] o[01], of layer "C3": channel 11, row 2, column 3 (byte 0x47a of half [01] of output_buffer) is -*[0-9]*, expected -*[0-9]*; wrong are 1 of 800 results$' \
    1
# An operand that the array only reads.
wrong 'if (!unit->timing_only \&\& command->opcode == 0x82) *(int16_t *)(size_t)data.weights ^= 1;' \
    'matmul.* of layer "F5": it wrote 1 bytes outside of its results, the first of them 0x[0-9a-f]* of half [01] of weight_buffer: 0x[0-9a-f]*, was 0x[0-9a-f]*$' \
    '[1-9][0-9]*'
# Beyond a tile that it has borrowed.
wrong 'struct cnnvp_access lent = {.op = CNNVP_BORROW_WRITE, .address = (uint64_t)tile.out_half << 31 | 64, .size = 16}; if (!unit->timing_only \&\& command->tag == 1 \&\& unit->ops->access(unit->host, 3, \&lent) == 0) for (int i = 0; i < 200; ++i) ((int16_t *)lent.data)[16000 + i] = 12345;' \
    'conv.bias .* of layer "C1": it wrote [34][0-9][0-9] bytes outside of its results, the first of them 0x7d40 of half [01] of output_buffer: 0x39, was 0x00$' \
    '[1-9]'
