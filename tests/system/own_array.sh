#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A PE array that is built outside the tree, with nothing but a C compiler against an installed copy: networks are
# compiled for it by what it says of itself, run bit-exact, and what it refuses runs on the vector unit.
# usage: own_array.sh BUILD-FOLDER EXAMPLES-FOLDER NETWORKS-FOLDER ZOO-FOLDER
set -eu
build=$1 examples=$2 networks=$3 zoo=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "own_array.sh: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/usr" >/dev/null
mkdir "$work/mine" && cd "$work/mine"
cp "$examples"/own_array/[a-z]* .
PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name cnnvp-model.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c11 -O2 -Wall -Wextra -pedantic -Werror -shared -fPIC dot_product.c $(pkg-config --cflags --libs cnnvp-model) \
    -o libdot_product.so
[ "$(wc -l <dot_product.c)" -le 400 ] || fail "the example has more than 400 lines"
cnnvp=$work/usr/bin/cnnvp

# total FILE NAME: a number of the statistics, the first of that name
total() { grep -o "\"$2\": [0-9]*" "$1" | head -n 1 | grep -o '[0-9]*$'; }

# Bit-exact to the built-in array, for arrays of many shapes; each command takes what the planner was told.
for network in "$networks/lenet5.onnx" "$networks/mixed.onnx" "$zoo/net_resnet.onnx" "$zoo/net_mobilenetv2.onnx"; do
    [ -e "$network" ] || fail "$network is missing"
    "$cnnvp" run "$network" -q -o nfu.npy
    for shape in "16 16 double" "8 32 single" "3 5 double"; do
        # shellcheck disable=SC2086
        set -- $shape
        "$cnnvp" run "$network" -p dot_product.yaml -s pe_array.atomic_c="$1" -s pe_array.atomic_k="$2" -s pe_array.preload="$3" -q \
            --check-costs --stats stats.json -o own.npy || fail "$network on $shape"
        cmp -s own.npy nfu.npy || fail "$network on $shape: the output differs from the NFU's"
        /usr/bin/python3 - stats.json <<'PYTHON' || fail "$network on $shape: cycles are not compute and stalls"
import json, sys
stats = json.load(open(sys.argv[1]))
for layer in stats["layers"]:
    assert layer["cycles"] == layer["compute_cycles"] + sum(layer["stall_cycles"].values()), layer
assert stats["total"]["accel_cycles"] == stats["total"]["idle_cycles"] + sum(l["cycles"] for l in stats["layers"])
assert any(layer["compute_cycles"] for layer in stats["layers"])
PYTHON
    done
done

# The closed form of LeNet-5's first convolution: 25 taps of one channel by 6 channels, 28x28 positions.
for shape in "16 16 19600" "25 6 19600" "5 2 58800"; do
    # shellcheck disable=SC2086
    set -- $shape
    "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -s pe_array.atomic_c="$1" -s pe_array.atomic_k="$2" --timing-only -q -s vector.lanes=1 \
        --stats stats.json
    [ "$(total stats.json compute_cycles)" = "$3" ] ||
        fail "C1 on $1x$2: $(total stats.json compute_cycles) compute cycles, not $3"
done

# One that takes commands with limits and ignores them is not sent any, since its tiling does not say that it keeps them.
sed -e '/int status = cnnvp_fx16_decode(command, &tile, &reason);/a\
    tile.limited = false;' -e 's/        \.acc_bits = (uint32_t)init/        .clips = true,\n&/' dot_product.c >deaf.c
[ "$(grep -c 'limited = false\|clips = true' deaf.c)" -eq 2 ] || fail "deaf.c is dot_product.c"
# shellcheck disable=SC2046
cc -std=c11 -O2 -shared -fPIC deaf.c $(pkg-config --cflags --libs cnnvp-model) -o libdeaf.so
sed 's/libdot_product/libdeaf/' dot_product.yaml >deaf.yaml
"$cnnvp" run "$networks/lenet5.onnx" -q -o nfu.npy
"$cnnvp" run "$networks/lenet5.onnx" -p deaf.yaml -q -o own.npy
cmp -s own.npy nfu.npy || fail "limits that the array does not keep are left to it"

# A layer that it refuses when it is asked for tiles goes to the vector unit as well.
sed -e '/if (tile.kind == CNNVP_FX16_WINDOW && tile.per_channel)/,/;/d' -e '/cnnvp_fx16_describe(command, &layer);/a\
    if (layer.per_channel)\
        return cnnvp_fx16_refuse(&array->unit, command, CNNVP_E_INVAL, "one kernel for all channels");' \
    dot_product.c >by_tiling.c
# shellcheck disable=SC2046
cc -shared -fPIC by_tiling.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
"$cnnvp" run "$zoo/net_mobilenetv2.onnx" -q -o nfu.npy
"$cnnvp" run "$zoo/net_mobilenetv2.onnx" -p dot_product.yaml -q --check-costs --strict --stats stats.json -o own.npy ||
    fail "depthwise convolution, refused by its tiling"
cmp -s own.npy nfu.npy || fail "depthwise convolution, refused by its tiling: the output differs"
/usr/bin/python3 -c 'import json, sys
sys.exit(json.load(open("stats.json"))["units"]["pe_array"]["rejected"])' || fail "refusals of its tiling are counted"

# What commands take is asked for without speedup, so that it says nothing of units that are sped up.
for unit in pe_array output_buffer dma; do
    "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q --strict -s $unit.speedup=2 2>message ||
        fail "$unit.speedup: status $?, $(cat message)"
    [ ! -s message ] || fail "$unit.speedup: $(cat message)"
done
status=0
"$cnnvp" run "$networks/lenet5.onnx" -q --check-costs -s dma.speedup=2 2>message || status=$?
[ $status -eq 2 ] && grep -q 'costs cannot be compared with dma.speedup=2' message ||
    fail "--check-costs of units that are sped up: status $status, $(cat message)"

# What neither unit takes is refused with the array's own words; its sizes can be swept.
sed -e 's/if (tile.kind == CNNVP_FX16_WINDOW \&\& tile.per_channel)/if (tile.kind == CNNVP_FX16_MATMUL || tile.per_channel)/' \
    dot_product.c >no_matmul.c
# shellcheck disable=SC2046
cc -shared -fPIC no_matmul.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
status=0
"$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q 2>message || status=$?
[ $status -eq 2 ] && grep -q 'layer "F5": pe_array: .*an array of dot products has convolutions' message ||
    fail "a refused layer: status $status, $(cat message)"

# nonsense SED-SCRIPT MESSAGE: an array that answers so is named, with the command and the figure.
nonsense() {
    sed -e "$1" dot_product.c >wrong.c
    cmp -s wrong.c dot_product.c && fail "nothing is wrong by $1"
    # shellcheck disable=SC2046
    cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
    status=0
    "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q -o wrong.npy 2>message || status=$?
    [ $status -eq 2 ] && grep -q "$2" message || fail "$1: status $status, $(cat message)"
    [ ! -e wrong.npy ] || fail "$1: there is an output"
}
nonsense 's/tiling->out = .*;/tiling->out = 0;/' 'layer "C1": pe_array: .*opcode 0x80: an edge of its tiles is 0'
nonsense 's/tiling->pes = .*;/tiling->pes = 0;/' 'layer "C1": pe_array: .*0 processing elements'
nonsense 's/tile.name, busy, access/tile.name, 0, access/' \
    'layer "C1": pe_array, asked what opcode 0x80 takes, answers 0 ps: work takes time'
nonsense 's/tile.name, busy, access/tile.name, busy << 40, access/' 'pe_array, asked what opcode 0x8[02] takes, answers [0-9]* ps'
nonsense 's/access);$/&\n    return CNNVP_PENDING;/' 'pe_array: opcode 0x80: asked what it takes, the unit answers "pending"'
nonsense 's/access);$/&\n    return 12345;/' 'pe_array: opcode 0x80: `access` returns 12345, which is none of enum cnnvp_status'
nonsense 's/^    tiling->pes = /    return -77;\n&/' 'pe_array: opcode 0x80: `tiling` returns -77, which is none of enum cnnvp_status'
nonsense 's/^    const struct cost cost = cost_of/    return CNNVP_E_NOSUP;\n&/' 'layer "F5": pe_array: not supported'
nonsense 's/    \.tiling = dot_product_tiling,//' 'model ./libdot_product.so:dot_product says nothing of tiles'
nonsense 's/tiling->out = .*;/&\n    tiling->format = "int8", tiling->word_bytes = 1;/' 'words of format "int8", layout "planes"; networks run'
nonsense 's/tiling->out = .*;/&\n    tiling->layout = "rows";/' 'format "fx16", layout "rows"; networks run on 2-byte words'

nonsense 's/access);$/&\n    access->delay = UINT64_MAX;/' 'asked what opcode 0x8[02] takes, answers 18446744073709551615 ps'

# Tiles that are wanted larger than any layer are whole layers, or what fits.
sed -e 's/tiling->out = .*;/tiling->out = tiling->in = tiling->rows = tiling->cols = UINT32_MAX;/' dot_product.c >wrong.c
# shellcheck disable=SC2046
cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
"$cnnvp" run "$networks/mixed.onnx" -q -o nfu.npy
for size in 128KiB 4KiB; do
    "$cnnvp" run "$networks/mixed.onnx" -p dot_product.yaml -s weight_buffer.size=$size -q -o own.npy ||
        fail "tiles of 2^32 - 1, $size of weights"
    cmp -s own.npy nfu.npy || fail "tiles of 2^32 - 1, $size of weights: the output differs from the NFU's"
done

# What the array refuses is said in its words also where the DMA refuses something as well.
no_partial='if (tile.partial) return cnnvp_fx16_refuse(unit, command, CNNVP_E_INVAL, "no partial sums");'
sed -e "s/^    const struct cost cost = cost_of/    $no_partial\\n&/" dot_product.c >wrong.c
# shellcheck disable=SC2046
cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
status=0
"$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -s weight_buffer.size=512 -s input_buffer.size=512 -q 2>message ||
    status=$?
[ $status -eq 2 ] && grep -q 'layer "[CF][35]": pe_array: .*opcode 0x8[02] refused: no partial sums' message ||
    fail "no partial sums: status $status, $(cat message)"

# One that says what it does not take is found.
sed -e 's/tile.name, busy, access/tile.name, busy + !(access->flags \& CNNVP_ESTIMATE), access/' dot_product.c >wrong.c
# shellcheck disable=SC2046
cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
status=0
"$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q --check-costs 2>message || status=$?
[ $status -eq 1 ] && grep -q 'pe_array: opcode 0x80: asked what it takes, [0-9]* cycles; it took [0-9]*' message ||
    fail "costs that are not those asked for: status $status, $(cat message)"

# wrong_by_default MESSAGE: without --check-costs it is a warning, once; with --strict the run fails.
wrong_by_default() {
    "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml 2>message >/dev/null || fail "$1: it does not run"
    [ "$(grep -c "warning: .*: pe_array: $1" message)" = 1 ] || fail "$1: $(cat message)"
    for option in --strict --check-costs; do
        status=0
        "$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q $option 2>message || status=$?
        [ $status -eq 1 ] && grep -q "pe_array: $1" message || fail "$1, $option: status $status, $(cat message)"
    done
}
wrong_by_default 'opcode 0x80: asked what it takes, [0-9]* cycles; it took [0-9]*$'

# One that counts nothing for layers is busy for longer than it counts.
sed -e 's/"compute_cycles", NULL, "inputs stream"/NULL, NULL, "inputs stream"/' -e 's/"stall_cycles[^"]*"/NULL/' dot_product.c >wrong.c
# shellcheck disable=SC2046
cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
wrong_by_default 'busy with commands for [1-9][0-9]* cycles, of which its statistics count 0 for layers'

# So is one that counts more cycles for a layer than it takes.
sed -e 's/^    cnnvp_fx16_occupy/    unit->ops->count(unit->host, STAT_compute_cycles, command->tag, 100);\n&/' dot_product.c >wrong.c
cmp -s wrong.c dot_product.c && fail "the array counts what it should"
# shellcheck disable=SC2046
cc -shared -fPIC wrong.c $(pkg-config --cflags --libs cnnvp-model) -o libdot_product.so
status=0
"$cnnvp" run "$networks/lenet5.onnx" -p dot_product.yaml -q --check-costs 2>message || status=$?
[ $status -eq 1 ] &&
    awk -F'took | cycles, and its statistics count | for the layer' '/pe_array: opcode 0x80 of layer "C1": it took/ {
        found = $3 == $2 + 100 } END { exit !found }' message ||
    fail "100 cycles more for each command of a layer: status $status, $(cat message)"
