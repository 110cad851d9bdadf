#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A database of 10 000 points, and a run of 1000 images: their pages are made, fit windows of all widths, and hold their
# numbers. Fails where it takes many times what it should on a machine with nothing else to do.
. "$SOURCE/tests/support/lib.sh"
. "$HERE/lib_browser.sh"
cat >spec.yaml <<END
network: $SOURCE/scripts/networks/lenet5.onnx
options: {timing_only: true}
parameters: {pe_array.rows: [2, 4, 8, 16], pe_array.cols: [2, 4, 8, 16], dram.preset: [ddr3-1600, ddr4-2400]}
objectives: [total.time_ps, energy.total_pj]
END
expect 0 sweep spec.yaml -o r.sqlite -j 2 -q
/usr/bin/python3 - <<'END' || fail "no large database"
import json, random, sqlite3
database = sqlite3.connect("r.sqlite")
points = database.execute("select status, params, stats, error, seconds from points order by key").fetchall()
assert len(points) == 32
random.seed(1)
database.execute("delete from points")
for i, (status, params, stats, error, seconds) in enumerate(points):
    params, stats = json.loads(params), json.loads(stats)
    usual = stats["total"]["time_ps"], stats["energy"]["total_pj"]
    params["instruction.queue_depth"] = stats["total"]["time_ps"] = stats["energy"]["total_pj"] = "@"
    params, stats = json.dumps(params).split('"@"'), json.dumps(stats).split('"@"')
    for k in range(i, 10000, len(points)):
        time, energy = round(usual[0] * random.uniform(.9, 1.1)), round(usual[1] * random.uniform(.9, 1.1), 3)
        database.execute("insert into points values(?, ?, ?, ?, ?, ?)",
                         (f"{k * 7919:032x}", status, f"{64 + k // 32}".join(params),
                          f"{stats[0]}{time}{stats[1]}{energy}{stats[2]}", error, seconds))
database.commit()
END
# Processor time: a machine that has other things to do takes longer by the clock.
made=$(/usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(["script", "-qec", sys.argv[1], "typescript"], check=True, stdout=subprocess.DEVNULL)
print(round(1000 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime))' "$CNNVP report r.sqlite -o sweep.html") ||
    fail "no page of 10 000 points"
grep -q "% *points read  ETA [0-9:]*" typescript || fail "no progress: $(tail -c 300 typescript)"
echo "10 000 points: page made in $made ms of processor time, $(wc -c <sweep.html) bytes"
[ "${made:-99999}" -lt 30000 ] || fail "the page took $made ms"
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -n 1000 --timing-only -q --report run
expect 0 report run -o run.html
[ "$(wc -c <run.html)" -lt 2000000 ] || fail "the page of 1000 images has $(wc -c <run.html) bytes"
skip_without_browser
set --
for window in 1400,light 800,dark 390,light; do
    set -- "$@" sweep.html,$window,use_layout.js run.html,$window,use_layout.js
done
frames "$@" run.html,1400,dark,use_run.js
/usr/bin/python3 "$HERE/check_report.py" sweep sweep.dom r.sqlite || fail "numbers of sweep.html"
finish
