#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mantissa.sh CNNVP DIGITS-FOLDER RESULT.csv: digits.onnx is trained with several widths of mantissas and every rounding,
# three trainings at a time. (A loop and no sweep: accuracy is what a training prints, and no statistic of the platform.)
set -eu
cnnvp=$1 digits=$2 result=$3
network=$(dirname "$0")/../networks/digits.onnx
epochs=5

# widths ROUNDING: a line for each width.
widths() {
    for bits in 3 4 5 6 8; do
        last=$("$cnnvp" train "$network" --dataset "idx:$digits/train_images.idx,$digits/train_labels.idx" --limit 512 \
            --eval "idx:$digits/test_images.idx,$digits/test_labels.idx" --epochs $epochs --cpu host --seed 1 \
            --rounding "$1" -s pe_array.mantissa_bits=$bits 2>/dev/null | grep -E "^ +$epochs " | tr -d %)
        # shellcheck disable=SC2086 # the row: epoch steps loss accuracy eval-loss eval-accuracy time
        set -- "$1" $last
        echo "$bits,$1,$4,$5,$6,$7"
    done >"$result.$1"
}

for rounding in truncate nearest stochastic; do
    widths $rounding &
done
wait
{
    echo "bits,rounding,loss,accuracy,eval_loss,eval_accuracy"
    cat "$result.truncate" "$result.nearest" "$result.stochastic"
} >"$result.tmp"
rm "$result.truncate" "$result.nearest" "$result.stochastic"
mv "$result.tmp" "$result"
