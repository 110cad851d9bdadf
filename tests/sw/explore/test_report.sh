#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp report: pages of a sweep, of a run and of several runs, in a real browser where there is one.
. "$SOURCE/tests/support/lib.sh"
. "$HERE/lib_browser.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

cat >spec.yaml <<END
network: $network
options: {timing_only: true, max_time: [30us, 1s]}
parameters: {pe_array.rows: [2, 4, 8], dram.preset: [ddr3-1600, ddr4-2400]}
objectives: [total.time_ps, energy.total_pj, layers.C3.cycles]
END
expect 1 sweep spec.yaml -o r.sqlite -j 2 -q
expect 0 report r.sqlite -o sweep.html
sed -e "s#^network.*#network: [$network, $ZOO/elements/add_full.onnx]#" -e 's/, max_time.*}/}/' \
    -e 's/, layers[^]]*//' spec.yaml >two.yaml
expect 0 sweep two.yaml -o two.sqlite -j 2 -q
expect 0 report two.sqlite -o two.html
# An objective that the first network on the page lacks.
sed -e "s#^network.*#network: [$network, $ZOO/elements/add_full.onnx]#" -e 's/, max_time.*}/}/' spec.yaml >lacks.yaml
expect 0 sweep lacks.yaml -o lacks.sqlite -j 2 -q
expect 0 report lacks.sqlite -o lacks.html
# Points of two sweeps in one database: each has the command line of its own sweep.
printf 'network: lenet5\noptions: {timing_only: true}\nparameters: {pe_array.rows: [4, 8]}\n' >first.yaml
printf 'network: lenet5\nplatform: window\noptions: {timing_only: true}\nparameters: {vector.lanes: [8]}\n' >second.yaml
expect 0 sweep first.yaml -o both.sqlite -q
expect 0 sweep second.yaml -o both.sqlite -q
expect 0 report both.sqlite -o both.html
/usr/bin/python3 - <<'PYTHON' || fail "command lines of two sweeps"
import json, re
data = json.loads(re.search('id="data">(.*?)</script>', open("both.html").read()).group(1))
found = sorted((name, value, json.loads(data["commands"][point["command"]])[-1])
               for point in data["points"] for name, value in zip(data["params"], point["params"]) if value is not None)
assert found == [("pe_array.rows", 4, "nfu"), ("pe_array.rows", 8, "nfu"), ("vector.lanes", 8, "window")], found
PYTHON
# Every point fails: the table with its errors is left. Derived parameters, one without an effect, and one objective alone.
sed -e 's/{timing_only.*/{on_chip: true}/' -e 's/, dram.*}/, input_buffer.size: [64, 128]}/' -e 's/, layers[^]]*//' spec.yaml >failed.yaml
refused 1 "all 6 points failed; their errors are in failed.sqlite" sweep failed.yaml -o failed.sqlite
expect 0 report failed.sqlite -o failed.html
sed -e 's/, max_time.*}/}/' -e 's/dram.preset.*/vector.lanes: [16, 17]}\nderive: {pe_array.cols: pe_array.rows}/' \
    -e 's/^objectives.*/objectives: [energy.total_pj]/' spec.yaml >derived.yaml
expect 0 sweep derived.yaml -o derived.sqlite -q
expect 0 report derived.sqlite -o derived.html
grep -q '"derived":\["pe_array.cols"\]' derived.html || fail "derived parameters are not on the page"
expect 0 run "$network" --timing-only -q --report run --stats s.json
expect 0 report run -o run.html
says "run.html is written; open it"
expect 0 report run -o run.html -q
[ -s out ] && fail "report -q says: $(cat out)"
expect 0 run "$network" --timing-only -q --report wide -s pe_array.rows=16 -s dram.preset=lpddr4-3200
expect 0 run "$ZOO/elements/add_full.onnx" --timing-only -q --report other
expect 0 report run wide run/ -o compare.html
expect 0 report run other -o unlike.html
refused 2 "cannot be read" report run nosuch -o x.html
refused 2 "wide/stats.json is also an input" report run wide -o wide/stats.json
absent x.html
[ -s run/stats.json ] && cmp -s run/stats.json s.json || fail "statistics of --report"
# What --advise has found is the first panel; a run without it leaves none.
expect 0 run "$network" --timing-only --report again --advise
cp out advice
expect 0 report again -o advised.html -q
/usr/bin/python3 - <<'END' || fail "again/advice.json"
import json, re
said = re.findall(r"^[ *] (\S+) +(\S+) -> (\S+) +(\S+) % +(\S+) % +(\S+) %$", open("advice").read(), re.M)
rows = [[c["name"], c["from"], c["to"], *("%+.1f" % (100 * c[of]) for of in ("time", "energy", "area"))] for c in json.load(open("again/advice.json"))["changes"]]
assert len(rows) > 3 and rows == [list(row) for row in said], (rows, said)
END
expect 0 run "$network" --timing-only -q --report again
absent again/advice.json
cmp -s run/run.series again/run.series || fail "two recordings of one run differ"
absent run/run.series.tmp
expect 0 run "$network" --timing-only -q --report both --trace both.vcd
expect 0 run "$network" --timing-only -q --trace alone.vcd
cmp -s run/run.series both/run.series || fail "--trace changes the series of --report"
cmp -s both.vcd alone.vcd || fail "--report changes the trace"

# Each page is whole: nothing is fetched, by itself or by others, and the policy forbids it.
for page in sweep run compare; do
    grep -q "Content-Security-Policy.*default-src 'none'" $page.html || fail "$page.html has no policy"
    [ "$(grep -c '<script src\|<link\|<iframe\|@import' $page.html)" = 0 ] || fail "$page.html refers to other files"
done

# The spans recorded are balanced with the statistics: tracks end within the run, begin in order.
/usr/bin/python3 - <<'END' || fail "run.series"
import json
series, stats = json.load(open("run/run.series")), json.load(open("run/stats.json"))
assert series["schema"] == "cnnvp-series/1" and series["end_ps"] == stats["total"]["time_ps"]
tracks = [s for s in series["streams"] if s["kind"] == "track"]
assert tracks
for track in tracks:
    assert track["begin"] == sorted(track["begin"])
    assert all(b + l <= series["end_ps"] for b, l in zip(track["begin"], track["length"]))
    assert all(busy <= length or count > 1 for busy, length, count in zip(track["busy"], track["length"], track["count"]))
    assert all(text < len(series["names"]) for text in track["text"])
array = next(s for s in tracks if s["unit"] == "pe_array")
assert sum(array["busy"]) > 0
for stream in series["streams"]:
    if "window" in stream:
        assert all(a <= b for a, b in zip(stream["min"], stream["max"])) and stream["window"] == sorted(stream["window"])
END

# Many spans are joined until they are few; nothing of their time is lost.
expect 0 run "$network" --timing-only -q --report many --images 800 --plan "$SOURCE/scripts/examples/plans/lenet5.yaml"
/usr/bin/python3 - <<'END' || fail "thinning"
import json, os
series = json.load(open("many/run.series"))
tracks = [s for s in series["streams"] if s["kind"] == "track"]
assert sum(len(t["begin"]) for t in tracks) <= 20000
assert any(count > 1 for t in tracks for count in t["count"])
assert os.path.getsize("many/run.series") < 2 << 20
stats = json.load(open("many/stats.json"))
array = next(t for t in tracks if t["unit"] == "pe_array")
cycles = stats["units"]["pe_array"]["busy_cycles"] * 1000
assert abs(sum(array["busy"]) - cycles) <= cycles * 0.001, (sum(array["busy"]), cycles)
END

expect 0 report many -o many.html
expect 0 report run many -o images.html
[ "$(wc -c <many.html)" -lt 2000000 ] || fail "the page of many images has $(wc -c <many.html) bytes"
# A point's run that was recorded as the sweep's page says has a page beside it; the sweep's words are those of the command.
key=$(sqlite3 r.sqlite "select key from points where status = 'ok' order by key limit 1")
expect 0 run "$network" --timing-only -q --report "r.sqlite.runs/$key"
expect 0 report r.sqlite -o sweep.html
grep -q "\"page\":\"sweep.html.runs/$key.html\"" sweep.html || fail "the recorded run is not linked"
grep -q 'id="data"' "sweep.html.runs/$key.html" || fail "the recorded run has no page"
grep -q "\"fixed\":\[\"run\",\"$network\",\"--timing-only\",\"-p\",\"nfu\"\]" sweep.html || fail "what all points share: $(grep -o '"fixed":.\{200\}' sweep.html)"
echo '{' >"r.sqlite.runs/$key/stats.json"
refused 2 "r.sqlite.runs/$key/stats.json" report r.sqlite -o broken.html
absent broken.html
mkdir later
sed 's#cnnvp-stats/2#cnnvp-stats/3#' run/stats.json >later/stats.json
cp run/run.series later
refused 2 "later/stats.json: its schema is cnnvp-stats/3; cnnvp-stats/2 is expected" report later -o x.html
refused 2 "later/stats.json: its schema is cnnvp-stats/3" report run later -o x.html
refused 2 "cannot be read" report nosuch.sqlite -o x.html
refused 2 "cannot be read" report "$SOURCE" -o x.html
refused 2 "-o REPORT.html is missing: cnnvp report r.sqlite -o r.html" report r.sqlite
refused 2 "cnnvp report some/run/ -o run.html" report some/run/
refused 2 "is missing" report -o x.html
refused 2 "--output" report r.sqlite -o nosuch/x.html
refused 2 "s.json: is not a database that \`cnnvp sweep\` has written, nor the folder of a run" report s.json -o x.html
refused 2 "r.sqlite: is a file; side by side stand folders" report r.sqlite r.sqlite -o x.html
# Nothing that is read is overwritten.
cp "$network" net.onnx
sed "s#^network: .*#network: net.onnx#" spec.yaml >own.yaml
refused 2 "r.sqlite is also an input" report r.sqlite -o r.sqlite
refused 2 "run/run.series is also an input" report run -o run/run.series
refused 2 "s.json is also an input" diff s.json run/stats.json --csv s.json
refused 2 "own.yaml is also an input" sweep own.yaml -o own.yaml
refused 2 "net.onnx is also an input" sweep own.yaml -o r.sqlite --export ./net.onnx
refused 2 "r.sqlite is also the file of --export" sweep own.yaml -o r.sqlite --export r.sqlite
refused 2 "which would be lost" run "$network" --report again --trace again/run.series
cmp -s "$network" net.onnx || fail "the network was overwritten"
refused 2 "cannot be made" run "$network" --report s.json
absent x.html

if command -v nodejs >/dev/null; then
    nodejs "$HERE/page_logic.js" "$SOURCE/sw/explore/web" || fail "what the pages calculate"
fi
[ "$SLOWER" = 1 ] || { # a sanitizer sees nothing of a browser
    finish
    exit
}
skip_without_browser
# What a user does there works; and pages fit windows of all widths, light and dark.
set -- sweep.html,1400,light,use_layout.js,use_sweep.js two.html,1400,light,use_layout.js,use_sweep.js \
    run.html,1400,light,use_layout.js,use_run.js compare.html,1400,light,use_layout.js,use_compare.js \
    unlike.html,1400,light,use_compare.js images.html,1400,light,use_layout.js failed.html,1400,light derived.html,1400,light,use_layout.js many.html,1400,light,use_layout.js \
    advised.html,1400,light,use_layout.js lacks.html,1400,light,use_layout.js
for page in run compare two; do
    for window in 800,light 390,light 1400,dark 390,dark; do
        set -- "$@" $page.html,$window,use_layout.js
    done
done
frames "$@"
grep -q "<th[^>]*>pe_array.rows<" compare.dom || fail "compare.html does not say what differs"
grep -q "id=\"warning\"" unlike.dom || fail "unlike.html does not say that the networks differ"
grep -q 'id="images">The numbers of images differ, 1, 800: ' images.dom || fail "images.html does not say that the images differ"
grep -q 'id="images"' compare.dom && fail "the images of compare.html differ"
/usr/bin/python3 "$HERE/check_report.py" sweep sweep.dom r.sqlite || fail "numbers of sweep.html"
/usr/bin/python3 "$HERE/check_report.py" sweep lacks.dom lacks.sqlite || fail "the page of an objective that a network lacks"
/usr/bin/python3 "$HERE/check_report.py" sweep failed.dom failed.sqlite || fail "the page without a point that is ok"
grep -q 'id="tradeoff_section"' failed.dom && fail "a trade-off without points"
grep -q 'on the front of energy and time<' derived.dom || fail "axes of energy alone: $(grep -o 'on the front of [^<]*' derived.dom)"
grep -q 'id="derived"[^>]*>Derived from others[^<]*: pe_array.cols\.<' derived.dom || fail "what is derived"
grep -o 'id="sensitivity".*id="derived"' derived.dom | grep -q '<td[^>]*>pe_array.cols<' && fail "an effect of what is derived"
/usr/bin/python3 "$HERE/check_report.py" run run.dom run || fail "numbers of run.html"
# The roofline of many images is that of the array: 8 x 8 PEs.
grep -q '>64 MACs a cycle at 1000 MHz' many.dom || fail "roofline: $(grep -o '[0-9]* MACs a cycle' many.dom)"
grep -o '<section[^>]*' advised.dom | head -1 | grep -q advice_section || fail "first panel: $(grep -o '<section[^>]*' advised.dom | head -1)"
# The plan: its group, tiles, and the tensor that stays.
grep -q '1 group goes tile by tile, 1 tensor stays on chip' many.dom || fail "the plan is not on the page"
grep -q '<td[^>]*>C1</td><td[^>]*>S4</td><td[^>]*>4</td><td[^>]*>5 x 1 tiles of 1 x 5</td>' many.dom ||
    fail "the plan's group: $(grep -o 'id="plan_section".*' many.dom | head -c 3000)"
finish
