#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp diff, and run --csv.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

expect 0 run "$network" --timing-only -q --stats a.json --csv a.csv
expect 0 run "$network" --timing-only -q --stats same.json
expect 0 run "$network" --timing-only -q --stats b.json -s pe_array.rows=16 -s dram.preset=ddr3-1600

# The table of layers says what the statistics say.
[ "$(wc -l <a.csv)" = "$(($(sqlite3 :memory: "select json_array_length(json(readfile('a.json')), '\$.layers')") + 1))" ] ||
    fail "lines of a.csv"
head -1 a.csv | grep -q '^index,name,op,phase,macs,start_ps,end_ps,cycles,compute_cycles,stall_cycles.bias,.*,dram_write_bytes,dram_burst_bytes,energy_pj$' ||
    fail "head: $(head -1 a.csv)"
sum=$(cut -d, -f8 a.csv | tail -n +2 | paste -sd+ | bc 2>/dev/null || echo none)
wanted=$(sqlite3 :memory: "select sum(json_extract(value, '\$.cycles')) from json_each(json(readfile('a.json')), '\$.layers')")
[ "$sum" = none ] || [ "$sum" = "$wanted" ] || fail "cycles of a.csv: $sum, not $wanted"

expect 0 diff a.json same.json
says "no differences"
expect 0 diff a.json b.json --csv d.csv --all
says "units.pe_array.rows"
says "ddr3-1600"
says "layer C1"
cycles_a=$(sqlite3 :memory: "select json_extract(readfile('a.json'), '\$.total.accel_cycles')")
cycles_b=$(sqlite3 :memory: "select json_extract(readfile('b.json'), '\$.total.accel_cycles')")
tr -d , <out | grep -q "accel_cycles  *$cycles_a  *$cycles_b  *$(printf '%+d' $((cycles_b - cycles_a))) " || fail "totals: $(grep accel_cycles out)"
grep -q "^total,accel_cycles,$cycles_a,$cycles_b,$(printf '%+d' $((cycles_b - cycles_a)))$" d.csv || fail "totals in d.csv"
grep -q "^total,macs,.*,+0$" d.csv || fail "d.csv lacks what is equal"

# For a person: units and few digits; CSV has all.
grep -Eq "^  time_ps +[0-9.]+ us +[0-9.]+ us +[+-][0-9.]+ [un]s +[+-][0-9.]+%$" out || fail "time: $(grep time_ps out)"
grep -Eq "^  by_unit.pe_array +[0-9.]+ um2 +[0-9.]+ um2 +\+[0-9.]+ um2 " out || fail "area: $(grep pe_array out)"
grep -Eq "^  units.pe_array.rows +8 +16 +[+]8 +[+]100.00%$" out || fail "a parameter: $(grep pe_array.rows out)"
grep -E "(^|[^.0-9])[0-9]{7}" out && fail "numbers that nobody reads"
[ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail "lines of more than 100 columns: $(awk 'length > 100' out)"

# The same for what layers take by units. A number of ten times as much is no percentage, which would need a wider column.
grep -Eq "^  energy_by_unit.cpu +[0-9.]+ nJ +[0-9.]+ nJ +[+-][0-9.]+ [pn]J +[+-][0-9.]+%$" out || fail "energy: $(grep by_unit.cpu out)"
sed 's/"guest_instructions": [0-9]*/"guest_instructions": 20/' a.json >few.json
expect 0 diff few.json a.json
expect 0 diff few.json a.json --all
grep -Eq "^  guest_instructions +20 +[0-9,]+ +[+][0-9,]+ +x[0-9]+([.][0-9]+)?$" out || fail "times: $(grep guest_ out)"
expect 0 diff a.json b.json --all
[ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail "lines of more than 100 columns: $(awk 'length > 100' out)"

# First the 20 lines that matter: what was set, totals, layers by the change of their cycles; how many more there are.
all=$(grep -c '^  ' out)
expect 0 diff a.json b.json
[ "$(grep -v '^ ' out | grep . | paste -s -d/)" = \
    "configuration/the whole run/cycles of the layers that changed most/$((all - $(grep -c '^  ' out))) more numbers differ; --all lists them" ] ||
    fail "sections: $(grep -v '^ ' out)"
shown=$(grep -c '^  ' out)
[ "$shown" -ge 12 ] && [ "$shown" -le 20 ] || fail "$shown lines matter: $(cat out)"
grep -Eq "^  energy.total_pj +[0-9.]+ uJ " out && grep -Eq "^  area.total_um2 " out || fail "totals: $(cat out)"
grep -qE "start_ps|end_ps|pes |by_unit" out && fail "what does not matter: $(cat out)"
/usr/bin/python3 - <<'PYTHON' || fail "layers that changed most: $(cat out)"
import json
a, b = ({layer["name"]: layer["cycles"] for layer in json.load(open(name))["layers"]} for name in ("a.json", "b.json"))
lines = open("out").read().split("changed most\n")[1].split("\n\n")[0].splitlines()
shown = [line.split()[0] for line in lines]
order = sorted((name for name in a if a[name] != b[name]), key=lambda name: -abs(a[name] - b[name]))
assert shown and sorted(abs(a[n] - b[n]) for n in shown) == sorted(abs(a[n] - b[n]) for n in order[:len(shown)]), (shown, order)
assert [int(line.split()[2].replace(",", "")) for line in lines] == [b[name] for name in shown]
PYTHON
expect 0 diff a.json b.json --threshold 1e5
says "numbers differ by less than 100000 %"

# With --all totals come first, and what is below the threshold is counted.
expect 0 diff a.json b.json --all
[ "$(head -1 out)" = summary ] || fail "first line: $(head -1 out)"
all=$(wc -l <out)
expect 0 diff a.json b.json --threshold 20 --all
grep -q "^[0-9]* numbers differ by less than 20 %$" out || fail "no count: $(tail -1 out)"
[ "$(wc -l <out)" -lt "$all" ] || fail "the threshold leaves nothing out"
expect 0 diff a.json b.json --threshold 0
grep -q "differ by less" out && fail "a threshold of 0 leaves something out"
refused 2 "is not a number from 0" diff a.json b.json --threshold -1

# Titles stand out on a terminal, and where they are asked for; that changes nothing else.
expect 0 diff a.json b.json
plain=$(cat out)
expect 0 diff a.json b.json --color always
bold=$(printf '\033[1m')
[ "$(head -1 out)" = "${bold}configuration" ] && [ "$(grep -cF "$bold" out)" = "$(echo "$plain" | grep -c '^[^ ]')" ] ||
    fail "titles: $(cat -v out)"
[ "$(sed 's/\x1b\[[0-9]*m//g' out)" = "$plain" ] || fail "colours change more than colours"
script -qec "'$CNNVP' diff a.json b.json" /dev/null </dev/null | grep -qF "$bold" || fail "plain on a terminal"
NO_COLOR=1 script -qec "'$CNNVP' diff a.json b.json" /dev/null </dev/null | grep -qF "$bold" && fail "NO_COLOR is ignored"
refused 2 "not one of auto|always|never" diff a.json b.json --color red

# Differences have no more digits than what they are of.
sed 's/"total_pj": [0-9.]*/"total_pj": 3323684.47/' a.json >x.json
sed 's/"total_pj": [0-9.]*/"total_pj": 3301700.955/' a.json >y.json
expect 0 diff x.json y.json --csv d.csv
grep -q "^energy,total_pj,3323684.47,3301700.955,-21983.515$" d.csv || fail "energy: $(grep total_pj d.csv)"

# What a program reports.
for frames in 3 4; do
    sed "s/\"storage\": {/\"program\": {\"reported\": {\"frames\": $frames}}, &/" a.json >$frames.json
done
expect 0 diff 3.json 4.json --all
grep -Eq "^  reported.frames +3 +4 +[+]1 +[+]33.33%$" out || fail "a report: $(cat out)"

# Another schedule is a setting; a plan that does the same makes no difference.
for schedule in layer fused; do
    expect 0 run "$network" --timing-only -q --schedule $schedule --stats $schedule.json --plan-out $schedule.yaml
done
expect 0 run "$network" --timing-only -q --plan fused.yaml --stats plan.json
groups=$(grep -c '^  - members: ' fused.yaml)
expect 0 diff layer.json fused.json
grep -Eq "^  schedule +layer +fused, $groups groups?$" out || fail "schedules: $(cat out)"
expect 0 diff fused.json plan.json
says "no differences"

# What was asked for is in the statistics where it is not the default, and is a difference of runs that do other things.
expect 0 run "$network" --timing-only -q --stats usual.json
grep -q '"options"' usual.json && fail "options: $(grep -A 3 '"options"' usual.json)"
expect 0 run "$network" --timing-only -q --objective energy --batch 2 -n 2 --rounding floor --stats asked.json
/usr/bin/python3 -c '
import json
options = json.load(open("asked.json"))["options"]
assert options == {"batch": "2", "objective": "energy", "rounding": "floor"}, options' || fail "options of a run"
expect 0 diff usual.json asked.json
grep -Eq "^  objective +- +energy" out || fail "options: $(cat out)"

# Another network: layers of one side only.
expect 0 run "$SOURCE/scripts/networks/mixed.onnx" --timing-only -q --stats m.json
expect 0 diff a.json m.json --all
says "the networks differ: lenet5.onnx and mixed.onnx"
grep -Eq "^  read_bytes +[0-9.]+ kB +[0-9.]+ kB " out || fail "bytes: $(grep bytes out)"
says "layer F6"

# Runs that are no comparison of designs say so first.
grep -q "^warning" out && fail "a warning of alike runs: $(head -2 out)"
expect 0 run "$network" --timing-only -q --images 3 --stats three.json
expect 0 diff a.json three.json
[ "$(head -1 out)" = "warning: the numbers of images differ, 1 and 3: totals are of all images" ] || fail "images: $(head -1 out)"
expect 1 run "$network" --timing-only -q --max-time 10us --stats part.json
expect 0 diff part.json part.json
[ "$(sed 's/ run.*//' out | head -2 | paste -s -d/)" = "warning: the first/warning: the second" ] || fail "partial: $(head -3 out)"

echo '{"schema": 3' >bad.json
refused 2 "bad.json:" diff a.json bad.json
refused 2 "JSON with the schema cnnvp-stats/2 is expected" diff "$network" "$network"
echo '{}' >empty.json
refused 2 "empty.json: has no schema; cnnvp-stats/2 is expected" diff empty.json a.json
sed 's#cnnvp-stats/2#cnnvp-stats/3#' a.json >later.json
refused 2 "later.json: its schema is cnnvp-stats/3; cnnvp-stats/2 is expected" diff a.json later.json
refused 2 "cannot be read" diff a.json nosuch.json
refused 2 "A.json and B.json, or folders of runs, are expected" diff a.json
# What a run leaves in a folder is as good as its statistics; without them the folder is named.
expect 0 run "$network" --timing-only -q --report run
expect 0 diff run a.json
says "no differences"
expect 0 diff a.json run/
refused 2 "--csv: run/stats.json is also an input, which would be lost" diff a.json run --csv run/stats.json
mkdir nothing
refused 2 "nothing/stats.json" diff a.json nothing
refused 2 "not also" diff a.json b.json m.json
refused 2 "--csv" diff a.json b.json --csv nosuch/x.csv
finish
