#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_study_page.sh [all]: the studies' page has the tables and plots that their commands make, and the figures of its text are
# theirs. Of the trainings those with 8 bits, with `all` all 15.
. "$SOURCE/tests/support/lib.sh"
studies=$SOURCE/scripts/studies
plots="array_shape buffers"
[ "${1:-}" = all ] && plots="$plots mantissa"
# shellcheck disable=SC2086 # a list of words
sh "$studies/run.sh" "$work/made" "$CNNVP" $plots >log 2>&1 || fail "run.sh: $(tail -n 5 log)"
[ "${1:-}" = all ] || (
    cd made/studies || exit 1
    awk '/^<!--/ { inside = /mantissa/ } inside && /^\|/' "$SOURCE/scripts/studies/README.md" >mantissa.md
    sed -i 's/mantissa_bits: .*/mantissa_bits: [8]/' mantissa.yaml
    "$CNNVP" sweep mantissa.yaml -o mantissa.sqlite --export mantissa.csv -q
    /usr/bin/python3 "$studies/plot.py" mantissa mantissa.csv mantissa.svg >now
    awk -F '|' '{ print "|" $2 "|" $(NF - 1) "|" }' mantissa.md | sed '2s/.*/|---|---|/' | diff - now
) || fail "trainings with 8 bits"
/usr/bin/python3 "$studies/tables.py" "$SOURCE/scripts/studies/README.md" made/studies ||
    fail "the page tells old tables; run.sh and tables.py --write make it new"
for study in $plots; do
    cmp -s "made/studies/$study.svg" "$studies/$study.svg" || fail "$study.svg is an old plot"
done
wide="-s pe_array.rows=16 -s pe_array.cols=16 -s input_buffer.banks=32 -s input_buffer.line_words=16 -s output_buffer.banks=32 \
    -s output_buffer.line_words=16"
# shellcheck disable=SC2086 # a list of words
{
    expect 0 run lenet5 --timing-only -q $wide --stats wide.json
    expect 0 run lenet5 --timing-only -q $wide -s cpu.clock_mhz=2000 --stats fast.json
    expect 0 run lenet5 --timing-only -q $wide -s dram.preset=hbm2 --stats hbm2.json
}
/usr/bin/python3 - "$SOURCE/scripts/studies/README.md" <<'PYTHON' || fail "figures in the text"
import csv, json, sys
text = " ".join(open(sys.argv[1]).read().split())
us = lambda name: json.load(open(name))["total"]["time_ps"] / 1e6
rows = list(csv.DictReader(open("made/studies/array_shape.csv")))
def times(network, timing, pes):
    return sorted(float(row["total.time_ps"]) for row in rows if network in row["network"] and row["cpu.timing"] == timing and
                  int(row["pe_array.rows"]) * int(row["pe_array.cols"]) == pes)
free, core, vgg = times("lenet5", "off", 256), times("lenet5", "on", 256), times("vgg16", "on", 64)
with open("wide.json") as file:
    path = json.load(file)["summary"]["critical_path"]
share = {unit: f"{100 * ps / sum(path.values()):.0f} %" for unit, ps in path.items()}
for told in (f"{share['dram']} of the critical path of 16x16 are its, {share['cpu']} the core's",
             f"takes 16x16 from {us('wide.json'):.2f} to {us('fast.json'):.2f} us, HBM2 to {us('hbm2.json'):.2f} us",
             f"gains {100 - 100 * core[0] / times('lenet5', 'on', 64)[0]:.0f} % from four times 64 PEs",
             f"shapes of 256 PEs differ by {100 * (core[-1] / core[0] - 1):.0f} %", f"their shapes differ by {100 * (free[-1] / free[0] - 1):.0f} %",
             f"256 PEs are {times('lenet5', 'off', 64)[0] / free[0]:.1f} times as fast as 64",
             f"the flattest array takes {vgg[-1] / vgg[0]:.1f} times as long"):
    assert told in text, told
PYTHON
finish
