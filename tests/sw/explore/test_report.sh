#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp report: pages of a sweep and of a run, in a real browser where there is one.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

cat >spec.yaml <<END
network: $network
options: {timing_only: true, max_time: [30us, 1s]}
parameters: {pe_array.rows: [2, 4, 8], dram.preset: [ddr3-1600, ddr4-2400]}
objectives: [total.time_ps, energy.total_pj, layers.C3.cycles]
END
expect 0 sweep spec.yaml -o r.sqlite -j 2 -q
expect 0 report r.sqlite -o sweep.html
sed -e "s#^network.*#network: [$network, $SOURCE/tests/data/zoo/add_full.onnx]#" -e 's/max_time.*}/cpu: host}/' \
    -e 's/, layers[^]]*//' spec.yaml >two.yaml
expect 0 sweep two.yaml -o two.sqlite -j 2 -q
expect 0 report two.sqlite -o two.html
expect 0 run "$network" --timing-only -q --report run --stats s.json
expect 0 report run -o run.html
[ -s run/stats.json ] && cmp -s run/stats.json s.json || fail "statistics of --report"
expect 0 run "$network" --timing-only -q --report again
cmp -s run/run.series again/run.series || fail "two recordings of one run differ"
absent run/run.series.tmp
expect 0 run "$network" --timing-only -q --report both --trace both.vcd
expect 0 run "$network" --timing-only -q --trace alone.vcd
cmp -s run/run.series both/run.series || fail "--trace changes the series of --report"
cmp -s both.vcd alone.vcd || fail "--report changes the trace"

# Each page is whole: nothing is fetched, by itself or by others, and the policy forbids it.
for page in sweep run; do
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
expect 0 run "$network" --timing-only -q --report many --images 800
/usr/bin/python3 - <<'END' || fail "thinning"
import json, os
series = json.load(open("many/run.series"))
tracks = [s for s in series["streams"] if s["kind"] == "track"]
assert sum(len(t["begin"]) for t in tracks) <= 40000
assert any(count > 1 for t in tracks for count in t["count"])
assert os.path.getsize("many/run.series") < 4 << 20
stats = json.load(open("many/stats.json"))
array = next(t for t in tracks if t["unit"] == "pe_array")
cycles = stats["units"]["pe_array"]["busy_cycles"] * 1000
assert abs(sum(array["busy"]) - cycles) <= cycles * 0.001, (sum(array["busy"]), cycles)
END

expect 0 report many -o many.html
refused 2 "cannot be read" report nosuch.sqlite -o x.html
refused 2 "cannot be read" report "$SOURCE" -o x.html
refused 2 "REPORT.html is missing" report r.sqlite
refused 2 "is missing" report -o x.html
refused 2 "--output" report r.sqlite -o nosuch/x.html
refused 2 "s.json: is not a database that \`cnnvp sweep\` has written" report s.json -o x.html
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

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    finish
    echo "skipped: no browser (chromium) for what the page does there; all else passed"
    exit 77
}
for page in sweep run; do
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --user-data-dir="$work/browser" \
        --enable-logging=stderr --dump-dom "file://$work/$page.html" >$page.dom 2>$page.log
    [ -s $page.dom ] || fail "the browser made nothing of $page.html: $(tail -3 $page.log)"
    if grep -q 'CONSOLE' $page.log; then
        fail "$page.html: $(grep CONSOLE $page.log | head -3)"
    fi
done
# The roofline of many images is that of the array: 8 x 8 PEs.
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 \
    --user-data-dir="$work/browser" --dump-dom "file://$work/many.html" >many.dom 2>/dev/null
grep -q '>64 MACs a cycle at 1000 MHz' many.dom || fail "roofline: $(grep -o '[0-9]* MACs a cycle' many.dom)"
sed -e '/^<\/body><\/html>$/d' sweep.html >used.html
cat "$HERE/use_limits.html" >>used.html
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 \
    --user-data-dir="$work/browser" --dump-dom "file://$work/used.html" >used.dom 2>/dev/null
grep -q 'data-used="works"' used.dom || fail "one value of a parameter: $(grep -o 'data-used="[^"]*"' used.dom)"
sed -e '/^<\/body><\/html>$/d' two.html >fronts.html
cat "$HERE/use_networks.html" >>fronts.html
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 \
    --user-data-dir="$work/browser" --dump-dom "file://$work/fronts.html" >fronts.dom 2>/dev/null
grep -q 'data-fronts="works"' fronts.dom || fail "two networks: $(grep -o 'data-fronts="[^"]*"' fronts.dom)"
sed -e '/^<\/body><\/html>$/d' run.html >drawn.html
cat "$HERE/use_series.html" >>drawn.html
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 \
    --user-data-dir="$work/browser" --dump-dom "file://$work/drawn.html" >drawn.dom 2>/dev/null
grep -q 'data-series="works"' drawn.dom || fail "what is drawn over time: $(grep -o 'data-series="[^"]*"' drawn.dom)"
/usr/bin/python3 "$HERE/check_report.py" sweep sweep.dom r.sqlite || fail "numbers of sweep.html"
/usr/bin/python3 "$HERE/check_report.py" run run.dom run || fail "numbers of run.html"
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --user-data-dir="$work/browser" \
    --window-size=1200,2600 --screenshot=run.png "file://$work/run.html" 2>/dev/null
[ "$(wc -c <run.png)" -gt 50000 ] || fail "the screenshot is empty"
finish
