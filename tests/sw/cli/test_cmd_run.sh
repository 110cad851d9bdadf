#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp run`: files, messages, and a table that says what the statistics say.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx
input=$SOURCE/tests/data/lenet5_input.npy

expect 0 run "$network" -i "$input" -o out.npy --stats stats.json --trace run.pftrace --dump dump
for file in out.npy stats.json run.pftrace dump; do
    [ -s $file ] || fail "no $file"
done
cp out table
# Names in UTF-8 take as many columns as characters and are cut between these; a line break does not reach the table.
LC_ALL=C sed -e 's/C3/\xc3\xa9/g' -e 's/S4/S\n/g' "$network" >odd.onnx
expect 0 run odd.onnx --timing-only
/usr/bin/python3 - <<'PYTHON' || fail "a table of odd names: $(head -9 out)"
rows = open("out", encoding="utf-8").read().split("\n\n")[0].splitlines()
assert [row.split()[0] for row in rows] == ["layer", "C1", "S2", "é", "S?", "F5", "F6", "F7"], rows
assert {row.index(row.split()[1]) for row in rows} == {7}, rows
PYTHON
refused 2 same.npy run "$network" -i "$input" -o same.npy --profile same.npy
/usr/bin/python3 - <<'PYTHON' || fail "table and statistics disagree"
import json, re
stats = json.load(open("stats.json"))
table = open("table").read()
assert max(map(len, table.splitlines())) <= 100, [line for line in table.splitlines() if len(line) > 100]
rows = table.split("\n\n")[0].splitlines()[1:]
assert len(rows) == len(stats["layers"]) > 0, table
for row, layer in zip(rows, stats["layers"]):
    words = row.split()
    assert words[0] == layer["name"][:21] and words[1] == layer["op"], row
    assert words[2] == f"{layer['cycles']:,}", row
    assert abs(float(words[3].rstrip("%")) - 100 * layer["compute_cycles"] / layer["cycles"]) <= 0.051, row
    assert abs(float(words[4].rstrip("%")) - 100 * layer["utilization"]) <= 0.051, row
    for at, member in ((5, "dram_read_bytes"), (7, "dram_write_bytes")):
        value = float(words[at]) * {"B": 1, "kB": 1e3, "MB": 1e6}[words[at + 1]]
        assert abs(value - layer[member]) <= max(0.051 * value / float(words[at] or 1), 0.0), row
total = stats["total"]
for label, value in (("accelerator cycles", f"{total['accel_cycles']:,}, {total['idle_cycles']:,} of them"),
                     ("instructions", f"{total['accel_instructions']:,} of the accelerator, {total['guest_instructions']:,} of the core"),
                     ("MACs", f"{total['macs']:,}\n")):
    assert re.search("^%s +%s" % (label, value), table, re.M), label
for cause in {word for row in rows for word in re.findall("[a-z_]+(?= [0-9]+%)", row)}:
    assert re.search("^  %s +[a-z]" % cause, table, re.M), cause
assert "\033" not in table
for word in ("a second", "host time", "stats.json", "run.pftrace", "out.npy", "dump"):
    assert word in table, word
PYTHON

# A plan is that of a run that has come to its end.
expect 0 run "$network" --timing-only -q --plan-out plan.yaml
[ -s plan.yaml ] || fail "no plan.yaml"
rm plan.yaml
refused 1 "max-time" run "$network" --timing-only -q --max-time 5us --plan-out plan.yaml
refused 2 "has no input of that name" run "$network" -q -i "other=$input" --plan-out plan.yaml
refused 2 "there are 2 files for 1 output" run "$network" -q -o a.npy -o b.npy --plan-out plan.yaml
refused 2 "lenet5.onnx: a plan says what is fused" run "$network" --timing-only -p trainer --plan-out plan.yaml
# What a plan cannot say is refused, and so is what a plan leaves nothing to.
refused 2 "leave out --on-chip, or leave out --plan-out" run "$network" --timing-only -q --on-chip --plan-out plan.yaml
refused 2 "use --batch 1, or leave out --plan-out" run "$network" --timing-only -q -n 4 --batch 2 --plan-out plan.yaml
absent plan.yaml
expect 0 run "$network" --timing-only -q -n 2 --batch 1 --plan-out all.yaml
refused 2 "all.yaml: the plan has the cuts of all layers, which leaves --tune no choice" \
    run "$network" --timing-only -q --plan all.yaml --tune
refused 2 "all.yaml:1:1: --schedule chooses groups, cuts and what stays on chip" \
    run "$network" --timing-only -q --plan all.yaml --schedule fused
refused 2 "row.yaml:2:5: halo is that of groups which --schedule fused or auto makes" \
    run "$network" --timing-only -q --plan "$SOURCE/tests/data/plans/row.yaml"
refused 2 "table.yaml:2:5: order is that of blocks" \
    run "$network" --timing-only -q --plan "$SOURCE/tests/data/plans/table.yaml" --schedule fused
refused 2 "which leaves --objective no choice" run "$network" --timing-only -q --plan all.yaml --objective energy
expect 0 run "$network" --timing-only -q --plan all.yaml
# Groups of a plan are not run layer by layer; its cuts are.
expect 0 run "$network" --timing-only -q --plan all.yaml --schedule layer
expect 0 run "$network" --timing-only -q --schedule fused --plan-out groups.yaml
refused 2 "groups.yaml:1:1: the plan's groups run tile by tile, not layer by layer: leave out --schedule layer" \
    run "$network" --timing-only -q --plan groups.yaml --schedule layer
expect 0 run "$network" --timing-only -q --plan groups.yaml
# Trials choose the tiles of layers that are left out, and leave the plan's as they are, where layers are alike too.
echo 'cuts: {conv12: {unit: pe_array, group_out: 32, tile_h: 2, tile_w: 2, tile_in: 256, tile_out: 4}}' >one.yaml
expect 0 run vgg16_cifar --timing-only -q --plan one.yaml --tune --plan-out tuned.yaml
grep -q '"conv12": {group_out: 32, tile_h: 2, tile_w: 2, tile_in: 256, tile_out: 4, unit: pe_array}' tuned.yaml ||
    fail "--tune changes a plan's tiles"
absent plan.yaml a.npy
rm all.yaml one.yaml tuned.yaml
# The core's rows by whatever name it has: the same with `core` as with `cpu`.
"$CNNVP" check nfu | sed 's/^  cpu:/  core:/; s/cpu\.irq/core.irq/' >renamed.yaml
for platform in nfu renamed.yaml; do
    expect 0 run "$network" --timing-only -n 4 -p $platform
    grep -E '^(a small core|core) ' out >rows
    [ $platform = nfu ] || cmp -s rows rows_nfu || fail "rows of the core: $(cat rows)"
    mv rows rows_nfu
done
[ "$(grep -cE '^(a small core|core) ' rows_nfu)" = 2 ] || fail "no rows of the core"
# Two alike accelerators are one where the run says what it waited for, whatever the second one's suffix.
sed 's/_2\b/B/g' "$SOURCE/scripts/examples/accelerators/dual.yaml" >suffix.yaml
for platform in "$SOURCE/scripts/examples/accelerators/dual.yaml" suffix.yaml; do
    expect 0 run "$network" -n 8 --timing-only -p "$platform"
    grep '^bound by' out >>bounds
done
[ "$(sort -u bounds | wc -l)" -eq 1 ] && ! grep -q 'B ' bounds || fail "by the suffix: $(cat bounds)"
# An installed network by its name, with the same statistics; a file of that name wins, a folder does not.
expect 0 run lenet5 -q -i "$input" -o named.npy --stats named.json
cmp -s out.npy named.npy && grep -q '"name": *"lenet5.onnx"' named.json || fail "run lenet5"
mkdir lenet5
expect 0 run lenet5 -q --timing-only
rmdir lenet5
cp "$SOURCE/scripts/networks/mixed.onnx" lenet5
expect 0 run lenet5 -q --timing-only --stats named.json
grep -q '"name": *"lenet5"' named.json || fail "a file does not come before an installed network"
rm lenet5
refused 2 'there is no file and no installed network "lenet"; did you mean "lenet5"?' run lenet
refused 2 'network "alexnet"; installed are digits, lenet5, mixed, mnist, vgg16_cifar' run alexnet
refused 2 'lenet5.onnx: No such file or directory; the installed one is called "lenet5"' run lenet5.onnx
refused 2 'nosuch/lenet5.onnx: No such file or directory' run nosuch/lenet5.onnx
CNNVP_NETWORKS=$PWD/own
export CNNVP_NETWORKS
mkdir own
cp "$network" own/mine.onnx
expect 0 run mine -q --timing-only
unset CNNVP_NETWORKS

# Bandwidth over time: every byte of a link is in it, and none comes faster than the memory's part can bring it.
for options in "" "-s dram.preset=ddr3-1600" "-p window -s dma.outstanding=64"; do
    # shellcheck disable=SC2086 # a list of words
    expect 0 run "$network" --timing-only -q --images 3 $options --stats links.json --trace links.vcd
    /usr/bin/python3 "$SOURCE/tests/sw/cli/check_links.py" links.json links.vcd || fail "links with $options"
done

# FST, where the build has its writer, says what VCD says; GTKWave's own converter reads it.
"$CNNVP" run "$network" --timing-only -q --trace run.fst 2>err && {
    expect 0 run "$network" --timing-only -q --trace run.vcd
    [ -s run.fst ] || fail "no run.fst"
    absent run.fst.dir
    if command -v fst2vcd >/dev/null; then
        fst2vcd -f run.fst -o back.vcd || fail "fst2vcd: status $?"
        /usr/bin/python3 "$SOURCE/tests/sw/cli/check_fst.py" run.vcd back.vcd || fail "run.fst and run.vcd differ"
    fi
}
[ -e run.fst ] || grep -q "was built without GTKWave's fstapi.c" err || fail "$(cat err)"

# Labels: those that the float model gives are all right.
/usr/bin/python3 - "$SOURCE" <<'PYTHON'
import numpy, sys
right = numpy.load(sys.argv[1] + "/tests/data/lenet5_output.npy")
right = right.reshape(len(right), -1).argmax(1)
numpy.save("labels.npy", right)
numpy.save("wrong_labels.npy", (right + 1) % 10)
numpy.save("float_labels.npy", right.astype("float32"))
numpy.save("few_labels.npy", right[:0])
numpy.save("bytes.npy", right.astype("uint8"))
numpy.save("flat.npy", numpy.zeros((1, 7), "float32"))
numpy.save("plane.npy", numpy.load(sys.argv[1] + "/tests/data/lenet5_input.npy")[0, 0])
numpy.save("doubles.npy", numpy.load(sys.argv[1] + "/tests/data/lenet5_input.npy").astype("float64"))
PYTHON
expect 0 run "$network" -i "$input" --labels labels.npy -q
says "top-1 accuracy"
says "100.00 %"
[ "$(wc -l <out)" -eq 1 ] || fail "-q prints more than was asked for"
expect 0 run "$network" -i "$input" --labels wrong_labels.npy -q --stats labels.json
says " 0.00 % (0 of "
grep -q '"reference_correct": 0,' labels.json || fail "values.accuracy: $(grep -A 6 '"accuracy"' labels.json)"
expect 0 run "$network" -i "$input" --labels bytes.npy -q
says "100.00 %"
expect 0 run "$network" -i "$input" -q -n 1
[ -s out ] && fail "-q prints"
refused 2 "labels are whole numbers" run "$network" -i "$input" --labels float_labels.npy
refused 2 "labels for" run "$network" -i "$input" --labels few_labels.npy -o x.npy
refused 2 "doubles.npy: cannot be read as an array: its elements are none of '<f4' (float32)" \
    run "$network" -i doubles.npy
# Messages name the file; images that are asked for are there, also where one image has no dimension for their number.
refused 2 "cnnvp: flat.npy has shape (1, 7); network" run "$network" -i flat.npy
refused 2 "cnnvp: flat.npy has shape (1, 7); network" run "$network" -i "$input" --calibration flat.npy
refused 2 "cnnvp: $input has 4 images, 5 are asked for" run "$network" -i "$input" -n 5 -o x.npy
refused 2 "labels.npy: 4 labels for 5 images" run "$network" -i "$input" --labels labels.npy -n 5
refused 2 "cnnvp: plane.npy has 1 images, 2 are asked for" run "$network" -i plane.npy -n 2
expect 0 run "$network" -i plane.npy -n 1 -q

# A second input is not taken for the first; what --timing-only leaves out is said, also with -q.
refused 2 "--input: input \"input\" has images already; bytes.npy is a second file" \
    run "$network" -i "$input" -i bytes.npy
expect 0 run "$network" -i "$input" -q --timing-only -o none.npy --calibration "$input"
grep -qx "cnnvp: --output: nothing is computed with --timing-only, and none.npy is not written" err &&
    grep -qx "cnnvp: --calibration: nothing is computed with --timing-only, and number formats are not chosen" err ||
    fail "silent: $(cat err)"
absent none.npy

# Several outputs: files in their order, as many as wanted.
heads=$ZOO/networks/net_heads
refused 2 "--output: there are 2 files for 1 output of $network, the first of which is \"" \
    run "$network" -o x.npy -o y.npy
absent x.npy
refused 2 "--output: x.npy is also the file of --output, which would be lost" run $heads.onnx -o x.npy -o x.npy
expect 0 run $heads.onnx -i $heads.in.npy -o first.npy -o second.npy
for line in "from the float model  output6: " "output                output: first.npy" \
        "output                output1: second.npy"; do
    grep -q "^$line" out || fail "no \"$line\""
done
expect 0 run $heads.onnx -i $heads.in.npy -o alone.npy -q
cmp first.npy alone.npy || fail "the first output differs"
refused 2 "the network has 1 inputs and 7 outputs; the training engine takes one and gives one" run $heads.onnx -p trainer

# Without values.
expect 0 run "$network" -i "$input" --timing-only -o timing.npy --stats timing.json
absent timing.npy
expect 0 run "$network" --timing-only -n 2
refused 2 "--dump needs the values" run "$network" --timing-only --dump dump2
absent dump2

# A run that ends early keeps its statistics, marked, and writes nothing else.
refused 1 "--max-time was reached" run "$network" -i "$input" --max-time 10us --stats partial.json -o x.npy
grep -q '"partial": true' partial.json || fail "no partial statistics"
# Images count when they are complete, MACs when they are done.
for time in 1us 60us 1s; do
    "$CNNVP" run "$network" -n 4 -q --timing-only --max-time $time --stats $time.json 2>err
done
/usr/bin/python3 - <<'PYTHON' || fail "images of a run that was ended early"
import json
runs = [json.load(open(f"{time}.json")) for time in ("1us", "60us", "1s")]
totals = [run["total"] for run in runs]
images = [total["images"] for total in totals]
assert images[0] == 0 and 1 <= images[1] <= 3 and images[2] == 4, images
assert totals[2]["macs"] == 4 * 416520, totals
for run, total in zip(runs, totals):
    assert total["macs"] == run["units"]["pe_array"]["macs"] >= total["images"] * 416520, total
    assert abs(total["images_per_s"] - total["images"] * 1e12 / total["time_ps"]) < 1e-6, total
PYTHON
expect 1 run "$network" -n 4 -q -p trainer --max-time 1us --stats trainer.json
grep -q '"images": 0,' trainer.json || fail "images of nothing: $(grep '"images' trainer.json)"
absent x.npy

# Layers of one name: each against its counterpart.
border=$ZOO/windows/pad_edge.onnx
expect 0 run $border --stats border.json -q
expect 0 run $border --stats border_timing.json -q --timing-only
expect 0 diff border.json border_timing.json --all
grep -q "^layer " out && fail "equal layers differ"

# The statistics have the whole configuration: two platforms of the same parameters differ where they are wired otherwise.
cat >other.yaml <<'YAML'
base: nfu
energy: {dram_byte: 5}
units:
  instruction: {irq: 5}
  dma: {clock: cpu, connect: {mem: bus}}
YAML
expect 0 run "$network" --timing-only -q --stats wired.json
expect 1 run "$network" --timing-only -q --max-time 10us --stats otherwise.json -p other.yaml
expect 0 diff wired.json otherwise.json --all
for line in "units.instruction.irq  *1  *5 " "units.dma.clock  *pe_array  *cpu" \
    "units.dma.connect.mem  *dram.mem  *bus" "energy.dram_byte  *-  *5"; do
    grep -q "^  $line" out || fail "a difference of the configuration is not there: $line"
done

# Maps of one block that the chip has no room for run whole; nothing depth first is left, and the table says so.
mixed=$SOURCE/scripts/networks/mixed.onnx
expect 0 run "$mixed" --timing-only --schedule depth-first --block 16
says "depth first           conv2 to conv2, 1 blocks"
expect 0 run "$mixed" --timing-only --schedule depth-first --block 16 -s output_buffer.size=256
says "depth first           no layer: "

# Without the table one line says that blocks are another function; not where a map is one block, nor layer by layer.
expect 0 run "$mixed" -q --schedule depth-first --block 4
[ "$(grep -c "pads each block by itself: this is block convolution" err)" -eq 1 ] || fail "$(cat err)"
expect 0 run "$mixed" -q --timing-only --schedule depth-first --block 16
[ ! -s err ] || fail "$(cat err)"
expect 0 run "$mixed" -q --timing-only
[ ! -s err ] || fail "$(cat err)"
expect 0 run --help
tr -s ' \n' ' ' <out | grep -q "padded by itself, so it computes another function" || fail "--help does not say what depth-first is"

# Bad input leaves nothing behind.
refused 2 "nowhere.onnx" run nowhere.onnx -o x.npy --stats x.json --trace x.vcd
head -c 1000 "$network" >short.onnx
refused 2 "short.onnx" run short.onnx -o x.npy --stats x.json --trace x.vcd
head -c 100 "$input" >short.npy
refused 2 "short.npy" run "$network" -i short.npy -o x.npy --stats x.json --trace x.vcd
refused 2 "nowhere.npy" run "$network" -i nowhere.npy -o x.npy
refused 2 "nowhere.npy" run "$network" -i "$input" --calibration nowhere.npy -o x.npy
refused 2 "pe_array.rows" run "$network" -i "$input" -s pe_array.rows=0 -o x.npy
refused 2 "cnnvp: $network: 2 layers, the first \"C1\", do not fit: a half of input_buffer has 32 bytes, 50 are needed; use -s input_buffer.size=128" \
    run "$network" -i "$input" -s input_buffer.size=64 -o x.npy
refused 2 "--shape: \"\" is not a size" run "$network" --shape=
for option in --guest --input --labels --plan; do
    refused 2 "$option: the name of a file is expected" run "$network" --timing-only $option=
done
refused 2 "--tune tries ways" run "$network" --tune --on-chip
refused 2 "use -s weight_buffer.size=131072 or run it from memory" run "$network" --timing-only --on-chip -s weight_buffer.size=4KiB
expect 0 run "$network" --timing-only -q --on-chip -s weight_buffer.size=131072
# All that is too small comes in one message, with settings that do.
short='-s input_buffer.size=64 -s weight_buffer.size=64 -s dram.size=256KiB'
# shellcheck disable=SC2086 # lists of words
{
    refused 2 'layers, the first "C1", do not fit: a half of input_buffer has 32 bytes' run "$network" -n 2 --timing-only $short
    for what in weight_buffer "program, network and 2 images need"; do
        grep -q "; a half of $what\|; $what" err || fail "too small: $what: $(cat err)"
    done
    [ "$(wc -l <err)" = 1 ] || fail "too small: $(cat err)"
    expect 0 run "$network" -n 2 --timing-only -q $(sed 's/.*use fewer images or //' err)
}
refused 2 "--output: /nonexistent/x.npy cannot be written" run "$network" -i "$input" -o /nonexistent/x.npy
refused 2 "pe_array.rows" run "$network" -s pe_array.rows=0 --report refused/report
[ ! -e refused/report ] || fail "a run that was refused has left the folder of its report"
refused 2 "--dump: out.npy is not a folder" run "$network" -i "$input" --dump out.npy
absent x.npy x.json x.vcd
# What is stepped. Other units than the NFU cannot be.
expect 0 run "$network" --timing-only
if grep -q 'cycle by cycle' out; then fail "nothing is stepped"; fi
expect 0 run "$network" --timing-only -s pe_array.detail=cycle
says "cycle by cycle        pe_array"
for unit in input_buffer vector; do
    refused 2 ' has no parameter "detail"; it has ' run "$network" --timing-only -s $unit.detail=cycle
done
refused 2 'pe_array: model window has no parameter "detail"' run "$network" --timing-only -p window -s pe_array.detail=cycle
# Tilings by trial, of a platform that can be read once.
printf 'platform: piped\nbase: nfu\n' |
    "$CNNVP" run "$network" -p /dev/stdin -s cpu.clock_mhz=500 --timing-only --tune --stats tuned.json >out 2>err ||
    fail "a platform from a pipe with --tune: $(cat err)"
says " tried"
expect 0 run "$network" --timing-only -q --check-costs

# Another guest program: the same one by another name changes nothing, and what is none is refused.
cp "$(dirname "$CNNVP")/../share/cnnvp/cnnvp_guest.elf" own.elf
expect 0 run "$network" --timing-only -q --stats installed.json
expect 0 run "$network" --timing-only -q --stats own.json --guest own.elf
[ ! -s err ] || fail "a message about the guest: $(cat err)"
expect 0 diff installed.json own.json
says "no differences"
# One that ends at once calculates nothing, and that is said.
printf '%s\n' '.globl _start' '_start: la a0, tohost' 'li a1, 1' 'sw a1, 0(a0)' '1: j 1b' '.section .tohost,"aw"' '.align 6' \
    '.globl tohost' 'tohost: .dword 0' >idle.S
"$RISCV_GCC" -march=rv32imac -mabi=ilp32 -nostdlib -nostartfiles -Wl,-N,--no-warn-rwx-segments -Wl,-Ttext=0x80000000 idle.S \
    -o idle.elf || fail "the guest's compiler"
expect 0 run "$network" -q --guest idle.elf
grep -q "idle.elf: it has ended without work of the accelerator" err || fail "nothing about the guest: $(cat err)"
refused 2 'the guest program none.elf cannot be read' run "$network" --timing-only --guest none.elf
refused 2 'own.json: is not an ELF file' run "$network" --timing-only --guest own.json --plan-out plan.yaml
absent plan.yaml
finish
