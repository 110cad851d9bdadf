#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp models`: all kinds, the tables of each, and those of a unit in a library.
. "$SOURCE/tests/support/lib.sh"

expect 0 models
for kind in bus buffer clint cpu dma dram external instruction nfu plic uart vector window; do
    grep -q "^$kind  *[0-9]" out || fail "no kind $kind"
done
# fits: the last output's lines have 100 columns at most.
fits() { [ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail "lines of more than 100 columns: $(awk 'length > 100' out)"; }
kinds=$(sed -n '2,$s/ .*//p' out)
for kind in $kinds; do
    expect 0 models "$kind"
    grep -q "^$kind " out || fail "models $kind names another kind"
    fits
done
expect 0 models nfu
grep -q '^  rows  *number  *1 to 64 .* default 8$' out || fail "no type, range and default of nfu.rows"
expect 0 models onnx
says "  Conv, MaxPool, "
says "QLinearAdd"
says "Where, Range,"
fits
expect 0 models isa
fits
expect 0 models energy
grep -q '^  dram_byte  *243.8  *110  ' out || fail "no energy tables"
# Every constant of the tables of costs says where it is from, and all lines fit.
for table in energy area; do
    expect 0 models $table
    cp out $table.txt
    fits
done
python3 - energy.txt area.txt <<'PYTHON' || fail "constants and their sources"
import re, sys

for name in sys.argv[1:]:
    text = open(name).read()
    constants, sources = re.sub(r"\n {12,}", " ", text).split("\nsources\n")  # lines that continue
    sources = [line.split()[0] for line in sources.splitlines()]
    assert len(sources) > 5 and len(set(sources)) == len(sources), sources
    rows = [row for row in constants.splitlines() if re.match("  [a-z0-9]", row) and re.search(r"  +\d", row)]
    rows = [row for row in rows if not re.match(r"  (off chip|[a-z]+\d*-\d+ |hbm)", row)]  # said below their table
    assert len(rows) > 15, rows
    for row in rows:
        assert "estimated" in row or any(source in row for source in sources), (name, row)
both = open("energy.txt").read() + open("area.txt").read()
for source in sources:
    assert len(re.findall(r"\b" + source, both)) > 2, source + " says nothing"
PYTHON

expect 0 models plic
grep -q ' CLAIM  *rwe ' out || fail "no access of a register: $(cat out)"

# Runs whose statistics have every member.
network=$SOURCE/scripts/networks/lenet5.onnx
expect 0 run "$network" -q --stats run.json
expect 1 run "$network" -q --max-time 1us --stats partial.json
expect 0 new-guest mine
make -s -C mine CNNVP="$CNNVP" >made 2>&1 || fail "the program of new-guest: $(cat made)"
expect 0 exec mine/mine.elf --stats program.json
says " in total, "
expect 0 run "$SOURCE/scripts/networks/mixed.onnx" -q --schedule depth-first --block 2 --stats depth.json
expect 0 run "$network" -q -p trainer --stats trainer.json
expect 0 run "$network" -q --plan "$SOURCE/scripts/examples/plans/lenet5.yaml" --stats plan.json
expect 0 models stats
fits
cp out stats.txt
expect 0 models values
fits
cp out values.txt
# All that another simulator needs of a part, as the standards count it; later parts stand after these.
expect 0 models dram
tr -s ' ' <out >parts
for line in 'kind ddr3 ddr4 ddr4 lpddr4 hbm2 ddr5 lpddr5 hbm3' 'MT/s 1600 2400 3200 3200 - 4800 6400 -' \
    'channels 1 1 1 1 8 2 1 16' 'pseudo channels 1 1 1 1 2 1 1 2' 'bits of a channel 64 64 64 32 128 32 32 64' 'clock, ps 1250 833 625 625 1000 416 1250 625' \
    'command buses 1 1 1 1 2 1 1 2' 'bytes of a row 8192 8192 8192 4096 2048 4096 4096 2048' 't_rp 11 16 22 29 14 39 15 26' \
    't_rcd_wr 11 16 22 29 12 39 15 15' 't_cmd_act 1 1 1 4 2 2 1 2' 't_aad 0 0 0 0 0 0 8 0' \
    't_cmd_pre 1 1 1 2 1 1 1 1' 't_wck 0 0 0 0 0 0 1 0' \
    't_xp 5 8 10 12 8 18 6 13' 't_xs 288 445 592 300 358 710 174 573' \
    't_xsdll 512 768 1024 0 0 1536 0 0'; do
    grep -Eq "^ $line( |\$)" parts || fail "no line '$line' in models dram"
done
grep -q '^ hbm2 t_faw 14 to 30: .*Ramulator 2.1 15' parts || fail "models dram does not say whose tFAW is what"
# When a parameter has an effect stands behind its help.
tr -s ' \n' ' ' <out >lines
for said in 'power_down_after .* refresh; used only where power_down!=off' \
    'arbiter choice .*; priority differs from the default only where shares!=' \
    'size size .*; no time, energy or result depends on it'; do
    grep -q " $said " lines || fail "models dram does not say: $said"
done
expect 0 models instruction
says "registers"
says ".enable"
refused 2 'there is no unit of kind dramm (see `cnnvp models`); did you mean "dram"?' models dramm

# A unit made here, of which the platform knows nothing.
cat >thing.c <<'C'
#include <cnnvp_model.h>
struct thing { int x; };
static const struct cnnvp_param params[] = {{"depth", CNNVP_PARAM_SIZE, "bytes", "4KiB", 1024, 1048576, 0, "how deep"},
    {"mode", CNNVP_PARAM_ENUM, "", "dry", 0, 0, "dry|wet|salty", "where"}};
static const struct cnnvp_condition conditions[] = {{"depth", 0, "mode=wet|salty"}};
static const struct cnnvp_stat stats[] = {{"dives", "dives", 0, 0, "how often"}};
static const struct cnnvp_unit thing = {.struct_size = sizeof thing, .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR, .kind = "thing", .version = "7", .summary = "a thing",
    .instance_size = sizeof(struct thing), .params = params, .param_count = 2, .conditions = conditions, .condition_count = 1, .stats = stats, .stat_count = 1};
const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &thing : 0;
}
C
cc -shared -fPIC -I"$SOURCE/c_api" thing.c -o libthing.so || fail "the compiler"
expect 0 models libthing.so
says "thing "
expect 0 models ./libthing.so
says "thing             7           a thing"
refused 2 "cannot load the library: ./libnothing.so: " models ./libnothing.so
expect 0 models ./libthing.so:thing
says "thing 7: a thing"
says "1KiB to 1MiB"
says "how deep; used only where mode=wet|salty"
says "dives"
refused 2 "libthing.so has no unit of kind other; it has: thing" models ./libthing.so:other
refused 2 "cannot load the library: ./libnothing.so: " models ./libnothing.so:thing

# In a platform file the library's path is relative to the file.
mkdir folder
printf 'base: nfu\nunits: {thing: {model: ../libthing.so:thing, depth: 2KiB}}\n' >folder/with.yaml
expect 0 check folder/with.yaml
says "depth: 2KiB"
cp out folder/resolved.yaml
expect 0 check folder/resolved.yaml -s thing.depth=1MiB -s thing.mode=wet
says "depth: 1MiB"
refused 2 "--set thing.width=3: thing: model ../libthing.so:thing has no parameter" check folder/with.yaml -s thing.width=3

# Unknown costs are not 0 in silence.
printf 'base: nfu\nunits: {thing: {model: ../libthing.so:thing, idle: true}}\n' >folder/idle.yaml
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -p folder/idle.yaml --timing-only --stats idle.json
says "no energy entry for   thing"
says "; not of all units"
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" --timing-only -s dram.power_down=power-down --stats low.json
python3 -c 'import json; s = json.load(open("idle.json")); assert s["energy"]["unknown"] == ["thing"] == s["area"]["unknown"]' ||
    fail "unknown costs"

# What models/costs.md holds against a published chip, ShiDianNao: areas within 40 % each, power of NFU and buffers within 25 %, of all 35 %.
expect 0 run "$network" -n 1 --on-chip --timing-only -q -s energy.technology=65nm --stats chip.json
python3 - <<'PYTHON' || fail "costs against ShiDianNao"
import json
s = json.load(open("chip.json"))
published = {"pe_array": (0.66, 269), "input_buffer": (1.12, 35.5), "output_buffer": (1.12, 6.6), "weight_buffer": (1.65, 6.8),
             "instruction": (0.31, 2.4)}
computing, power = sum(layer["compute_cycles"] for layer in s["layers"]), {}  # at 1 GHz: nanoseconds
for unit, (mm2, _) in published.items():
    area, energy = s["area"]["by_unit"][unit] / 1e6, s["energy"]["by_unit"][unit]
    assert abs(area / mm2 - 1) < 0.4, (unit, area)
    power[unit] = energy["dynamic_pj"] / computing + 1000 * energy["static_pj"] / s["total"]["time_ps"]
assert abs(sum(power.values()) / 320 - 1) < 0.35, power
assert abs((sum(power.values()) - power["instruction"]) / 318 - 1) < 0.25, power
PYTHON

# Every member of the statistics is explained: by `models stats`, `models values` or the tables of its unit; and whatever is
# explained there is.
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -n 2 -p "$SOURCE/scripts/examples/accelerators/dual.yaml" --timing-only \
    --stats dual.json
printf 'cuts:\n  C1: {unit: pe_array}\n' >unit.yaml # the slower one
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -p window --plan unit.yaml --timing-only --stats unit.json
python3 - run.json partial.json program.json depth.json trainer.json plan.json idle.json dual.json low.json unit.json <<'PYTHON' || fail "statistics and their explanations"
import json, re, sys

def first_words(name):
    return {row.split()[0] for row in open(name) if re.match("  [^ ]", row) and row.split()[0] != "name"}

explained = {path: 0 for path in first_words("stats.txt") | first_words("values.txt")}
forms = [(path, re.compile("^" + re.escape(path).replace(re.escape("{}"), "[^.]+(?:[.][^.]+)?") + "$")) for path in explained]
forms.sort(key=lambda form: -len(form[0].replace("{}", "")))

def walk(value, path):
    if isinstance(value, dict):
        for name, member in value.items():
            walk(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for member in value:
            walk(member, path + "[]")
    else:
        for name, form in forms:
            if form.match(path):
                explained[name] += 1
                return
        sys.exit(f"{path} is not explained")

for name in sys.argv[1:]:
    walk(json.load(open(name)), "")
unused = [path for path, times in explained.items() if times == 0 and not path.startswith("values.")]
if unused:
    sys.exit(f"explained and not there: {unused}")
PYTHON

# The blocks of the training engine say what they are made of, as often as their module has sets and lanes of them.
for module in sets=4 lanes=2 sets=8; do
    expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -p trainer --timing-only -q --stats "$module.json" -s "multi_function.$module"
done
python3 - <<'PYTHON' || fail "areas of the training blocks"
import json
one, lanes, sets = (json.load(open(name + ".json")) for name in ("sets=4", "lanes=2", "sets=8"))
assert one["area"]["unknown"] == [] == one["energy"]["unknown"], one["area"]["unknown"]
blocks = ("multi_function", "batch_norm", "bn_update", "encode", "max_pool", "max_pool_back", "quantise", "relu", "relu_back",
          "softmax", "statistics", "sum", "update")
for block in blocks:
    usual, wide, twice = (stats["area"]["by_unit"][block] for stats in (one, lanes, sets))
    assert usual > 0 and abs(twice - 2 * usual) < 1e-6 * usual, (block, usual, twice)
    if block in ("batch_norm", "statistics", "sum"):  # what a set adds up in is there once, whatever its lanes
        assert usual < wide < 2 * usual, (block, usual, wide)
    else:
        assert abs(wide - 2 * usual) < 1e-6 * usual, (block, usual, wide)
for stats in (lanes, sets):
    assert stats["area"]["by_unit"]["pe_array"] == one["area"]["by_unit"]["pe_array"]
PYTHON
finish
