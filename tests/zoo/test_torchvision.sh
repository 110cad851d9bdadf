#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_torchvision.sh FOLDER LIST [all]: runs torchvision's classifiers on the default platform, timing only. FOLDER has
# their graphs without weights (scripts/make_torchvision.py), LIST their names; after a name, the text with which the
# network is refused. Networks after the line `# long` run only with `all`. A chain of 900 layers, whose tables are twice
# the core's memory, must pass its input on.
folder=$1 list=$2 form=${3:-}
. "$SOURCE/tests/support/lib.sh"

count=0
while read -r name refusal; do
    [ "$name $refusal" != "# long" ] || [ "$form" = all ] || break
    case $name in '' | '#'*) continue ;; esac
    count=$((count + 1))
    if [ -n "$refusal" ]; then
        refused 2 "$refusal" run "$folder/$name.onnx" --timing-only
    else
        expect 0 run "$folder/$name.onnx" --timing-only -q
        [ ! -s err ] || fail "$name: $(head -c 400 err)"
    fi
done <"$list"
[ $count -ge 28 ] || fail "only $count networks"

# Their tables do not fit in the core's memory, so they are loaded while layers run.
expect 0 run "$folder/densenet201.onnx" --timing-only -q --stats stats.json
grep -q '"table_bytes": [1-9]' stats.json || fail "densenet201: no tables have come"
expect 0 run "$folder/deep_900.onnx" -i "$folder/deep_900.npy" -o y.npy -q --stats stats.json
cmp -s "$folder/deep_900.npy" y.npy || fail "deep_900 gives something else"
grep -q '"table_bytes": [1-9]' stats.json || fail "deep_900: no tables have come"
finish
