#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp sweep end to end: results, resuming after kills, the cache, two drivers, full disks.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

query() {
    sqlite3 r.sqlite "$1"
}

cat >grid.yaml <<END
command: run
network: $network
platform: nfu
options: {timing_only: true}
parameters:
  pe_array.rows: [4, 8, 16]
  pe_array.cols: {log2: [4, 16]}
  dram.preset: [ddr3-1600, ddr4-2400]
constraints: ["pe_array.rows >= pe_array.cols"]
objectives: [total.time_ps, energy.total_pj, area.total_um2]
END

# The table is the one that users script against.
expect 0 sweep grid.yaml -o r.sqlite -j 2 --export a.csv --pareto
says "the constraints allow 12 of 18 combinations"
says "12 points: 12 ok, 0 failed; 0 were in r.sqlite already"
grep -Eq "^ *rows +cols +preset +time_ps +total_pj +total_um2$" out || fail "the front's columns: $(cat out)"
[ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail "lines of more than 100 columns: $(awk 'length > 100' out)"
grep -Eq ' [0-9.]+ us +[0-9.]+ uJ +[0-9.]+ mm2$' out || fail "units of the front: $(cat out)"
columns="key TEXT PRIMARY KEY, status TEXT, params TEXT, stats TEXT, error TEXT, seconds REAL"
[ "$(query '.schema points')" = "CREATE TABLE points($columns);" ] ||
    fail "schema: $(query '.schema points')"
[ "$(query "select count(*) from points where status = 'ok' and length(key) = 32 and error is null and seconds > 0")" = 12 ] ||
    fail "rows of a grid"
[ "$(query "select count(distinct json_extract(params, '\$.\"pe_array.rows\"')) from points")" = 3 ] || fail "params"
[ "$(query "select params from points order by params limit 1")" = \
    '{"pe_array.rows":16,"pe_array.cols":16,"dram.preset":"ddr3-1600"}' ] ||
    fail "params: $(query "select params from points order by params limit 1")"
[ "$(wc -l <a.csv)" = 13 ] || fail "lines of a.csv"
/usr/bin/python3 - <<'PYTHON' || fail "columns of a.csv"
import csv, math
for row in csv.DictReader(open("a.csv")):
    assert all(text for name, text in row.items() if name != "error"), row
    for section, total in (("energy", "energy.total_pj"), ("area", "area.total_um2")):
        units = [float(text) for name, text in row.items() if name.startswith(section + ".by_unit.")]
        assert len(units) > 8 and math.isclose(sum(units), float(row[total]), rel_tol=1e-9), (section, units)
PYTHON
absent r.sqlite.work

# A point is what `cnnvp run` says of it, whatever its worker has run before.
for shape in 4x4 8x4 8x8 16x4 16x8 16x16; do
    for part in ddr3-1600 ddr4-2400; do
        rows=${shape%x*} cols=${shape#*x}
        expect 0 run "$network" --timing-only -q -s pe_array.rows=$rows -s pe_array.cols=$cols -s dram.preset=$part \
            --stats one.json
        params="{\"pe_array.rows\":$rows,\"pe_array.cols\":$cols,\"dram.preset\":\"$part\"}"
        own=$(query "select json_remove(stats, '\$.wall_seconds') from points where params = '$params'")
        theirs=$(sqlite3 :memory: "select json_remove(readfile('one.json'), '\$.wall_seconds')")
        [ -n "$own" ] && [ "$own" = "$theirs" ] || fail "statistics of $shape with $part differ from those of run"
    done
done

# Plans by trial: the point is what `cnnvp run` says of it.
cat >tune.yaml <<END
network: $network
platform: window
options: {timing_only: true, tune: [true, false]}
parameters: {dma.outstanding: [2]}
END
expect 0 sweep tune.yaml -o tune.sqlite -j 2
says "2 points: 2 ok, 0 failed"
expect 0 run "$network" -p window -s dma.outstanding=2 --timing-only --tune -q --stats one.json
own=$(sqlite3 tune.sqlite "select json_extract(stats, '\$.total.time_ps', '\$.memory.read_bytes') from points
    where params like '%\"tune\":true%'")
theirs=$(sqlite3 :memory: "select json_extract(readfile('one.json'), '\$.total.time_ps', '\$.memory.read_bytes')")
[ -n "$own" ] && [ "$own" = "$theirs" ] || fail "tuned: $own, not $theirs"
[ "$(sqlite3 tune.sqlite "select count(distinct json_extract(stats, '\$.total.accel_cycles')) from points")" = 2 ] ||
    fail "tuning a point changes nothing"

# Again: nothing runs, nothing changes. With one worker: the same.
before=$(query "select group_concat(key || seconds) from points order by key")
expect 0 sweep grid.yaml -o r.sqlite -j 2 --export b.csv
says "12 were in r.sqlite already"
[ "$before" = "$(query "select group_concat(key || seconds) from points order by key")" ] || fail "a finished point ran again"
cmp -s a.csv b.csv || fail "the export of the cache differs"
expect 0 sweep grid.yaml -o other.sqlite -j 1 --export c.csv
cmp -s a.csv c.csv || fail "one worker gives other results than two"

# Numbers that only some points have: the energy of a memory's states.
cat >states.yaml <<END
network: $network
options: {timing_only: true}
parameters: {dram.power_down: ["off", power-down]}
END
expect 0 sweep states.yaml -o states.sqlite -q --export states.csv
state=energy.by_unit.dram.states_pj.standby_ps
wanted=$(sqlite3 states.sqlite "select json_extract(stats, '\$.$state') from points where params like '%power-down%'")
[ "$(sqlite3 :memory: '.import --csv states.csv t' "select group_concat(\"$state\" || '', '/') from t")" = "/$wanted" ] ||
    fail "$state in an export: $(head -1 states.csv)"

# What follows from other parameters: derived, in order, with the same result as setting it.
cat >derived.yaml <<END
network: $network
options: {timing_only: true}
parameters: {pe_array.rows: [4, 8, 16]}
derive: {pe_array.cols: pe_array.rows, input_buffer.width_words: "pe_array.rows * pe_array.cols"}
constraints: ["input_buffer.width_words < 200"]
END
expect 0 sweep derived.yaml -o derived.sqlite -q --export derived.csv
[ "$(cut -d, -f3-5 derived.csv)" = "pe_array.rows,pe_array.cols,input_buffer.width_words
4,4,16
8,8,64" ] || fail "derived parameters in an export: $(cut -d, -f1-5 derived.csv)"
[ "$(sqlite3 derived.sqlite "select params from points order by params desc limit 1")" = \
    '{"pe_array.rows":8,"pe_array.cols":8,"input_buffer.width_words":64}' ] || fail "derived parameters"
expect 0 run "$network" --timing-only -q -s pe_array.rows=4 -s pe_array.cols=4 -s input_buffer.width_words=16 --stats four.json
[ "$(sqlite3 derived.sqlite "select json_extract(stats, '\$.total.accel_cycles') from points
    where json_extract(params, '\$.\"pe_array.rows\"') = 4")" = \
    "$(sqlite3 :memory: "select json_extract(readfile('four.json'), '\$.total.accel_cycles')")" ] || fail "a derived point"
expect 0 sweep derived.yaml -o derived.sqlite
says "the constraints allow 2 of 3 combinations"
sed 's#pe_array.cols: pe_array.rows#pe_array.colz: 1#' derived.yaml >wrong.yaml
refused 2 'wrong.yaml:4:10: derive: the platform has no parameter "pe_array.colz"' sweep wrong.yaml -o w.sqlite
sed 's#pe_array.cols: pe_array.rows#pe_array.rows: 1#' derived.yaml >wrong.yaml
refused 2 "wrong.yaml:4:10: derive: " sweep wrong.yaml -o w.sqlite
sed 's#pe_array.cols: pe_array.rows#pe_array.cols: pe_array.rows / 3#' derived.yaml >wrong.yaml
expect 1 sweep wrong.yaml -o w.sqlite -q
sqlite3 w.sqlite "select error from points" | grep -q "wrong.yaml:4:.*is 1.33333 for a point; a parameter is a whole number" ||
    fail "a fraction: $(sqlite3 w.sqlite "select error from points")"

# Weights in a file beside the network decide results, too.
/usr/bin/python3 - "$network" <<'PYTHON' || fail "a network with its weights in another file"
import sys, onnx
model = onnx.load(sys.argv[1])
onnx.save(model, "beside.onnx", save_as_external_data=True, location="beside.bin", size_threshold=0)
PYTHON
printf 'network: beside.onnx\n' >beside.yaml
expect 0 sweep beside.yaml -o beside.sqlite
expect 0 sweep beside.yaml -o beside.sqlite
says "1 were in beside.sqlite already"
printf 'other' | dd of=beside.bin conv=notrunc 2>/dev/null
expect 0 sweep beside.yaml -o beside.sqlite
says "0 were in beside.sqlite already"

# A network's name is not taken for a folder of that name, as `cnnvp run lenet5 --report lenet5` makes one.
mkdir lenet5
printf 'network: lenet5\noptions: {timing_only: true}\n' >name.yaml
expect 0 sweep name.yaml -o name.sqlite -q
rmdir lenet5

# A refusal is that of these derived parameters, not of others in the same database.
for many in 1000 2000; do
    sed -e "s#pe_array.cols: pe_array.rows#pe_array.cols: $many#" -e '/^constraints/d' derived.yaml >wrong.yaml
    refused 1 "pe_array.cols=$many: " sweep wrong.yaml -o many.sqlite -q
done

# What if: each point is what run says of that speedup.
cat >faster.yaml <<END
network: $network
options: {timing_only: true}
parameters: {cpu.speedup: [1, 2], dram.speedup: [1, 2]}
constraints: ["cpu.speedup * dram.speedup < 4"]
objectives: [total.time_ps]
END
expect 0 sweep faster.yaml -o faster.sqlite -j 2 --export faster.csv
for speeds in 1,1 1,2 2,1; do
    expect 0 run "$network" --timing-only -q -s cpu.speedup=${speeds%,*} -s dram.speedup=${speeds#*,} --stats one.json
    time=$(sqlite3 :memory: "select json_extract(readfile('one.json'), '\$.total.time_ps')")
    grep -q ",ok,$speeds,$time," faster.csv || fail "speedups $speeds: not $time in $(cut -d, -f2-5 faster.csv)"
done
printf 'network: %s\nparameters: {cpu.speedup: [1, 3]}\n' "$network" >slower.yaml
refused 2 'slower.yaml:2:31: cpu.speedup: "3" is out of range: 1 to 2' sweep slower.yaml -o slower.sqlite

# An expression sees what accelerators.INSTANCE.PARAM sets, in each accelerator.
cat >all.yaml <<END
network: $network
platform: $SOURCE/scripts/examples/accelerators/dual.yaml
options: {timing_only: true, images: 2}
parameters: {accelerators.pe_array.rows: [4, 8, 16]}
derive: {pe_array.cols: pe_array.rows, pe_array_2.cols: pe_array_2.rows}
constraints: ["pe_array.rows <= 8", "pe_array_2.rows > 4"]
END
expect 0 sweep all.yaml -o all.sqlite -q --export all.csv
[ "$(cut -d, -f3-5 all.csv)" = "accelerators.pe_array.rows,pe_array.cols,pe_array_2.cols
8,8,8" ] || fail "parameters of all accelerators in expressions: $(cut -d, -f1-5 all.csv)"

# Networks have fronts of their own, and none crowds another out of a population: the small one is better in all.
small=$ZOO/elements/add_full.onnx
for only in "$network" "$small"; do
    sed "s#^network:.*#network: $only#" grid.yaml >one.yaml
    expect 0 sweep one.yaml -o front.sqlite -j 2 -q --pareto
    sed -e 1,2d -e "s#^ *#${only##*/} #" -e 's/  */ /g' out >>fronts
done
sed "s#^network:.*#network: [$network, $small]#" grid.yaml >networks.yaml
expect 0 sweep networks.yaml -o front.sqlite -j 2 -q --pareto
sed -e 1,2d -e 's/  */ /g' out >both
[ "$(wc -l <fronts)" -gt 2 ] && cmp -s fronts both || fail "fronts of two networks: $(cat both)"

# Another sweep uses the points, and adds its parameters to them.
sed -e 's/^constraints.*//' -e 's/^  dram.preset.*/  dram.preset: [ddr4-2400]\n  vector.lanes: [16]/' grid.yaml >wide.yaml
expect 0 sweep wide.yaml -o r.sqlite -j 2
says "9 points: 9 ok, 0 failed; 6 were in r.sqlite already"
[ "$(query "select count(*) from points where json_extract(params, '\$.\"vector.lanes\"') = 16")" = 9 ] || fail "params of the cache"

# A point that fails is recorded and does not stop the others; it does not run again unless told.
cat >fails.yaml <<END
network: $network
options: {timing_only: true, max_time: [4us, 1s]}
parameters: {pe_array.rows: [4, 8]}
END
refused 1 "2 of 4 points failed; their errors are in fails.sqlite" sweep fails.yaml -o fails.sqlite --export fails.csv
says "4 points: 2 ok, 2 failed"
[ "$(tail -n 1 err)" = "cnnvp: 2 of 4 points failed; their errors are in fails.sqlite" ] || fail "the last line: $(cat err)"
# The reason, once for both: they differ in numbers.
[ "$(grep -c '^cnnvp: 2 points failed: --max-time was reached at 4[0-9]* ps of simulated time.* (the first: max_time=4us pe_array.rows=4)$' err)" = 1 ] ||
    fail "the reason: $(cat err)"
[ "$(grep -c ',failed,' fails.csv)" = 2 ] || fail "failed points in an export: $(cat fails.csv)"
[ "$(sqlite3 fails.sqlite "select count(*) from points where status = 'failed' and stats is null and error like '%max_time%'")" = 2 ] ||
    fail "failed points"
refused 1 "2 of 4 points failed" sweep fails.yaml -o fails.sqlite -q
expect 1 sweep fails.yaml -o fails.sqlite
says "4 were in fails.sqlite already"
expect 1 sweep fails.yaml -o fails.sqlite --retry-failed
says "2 were in fails.sqlite already"
sed -i 's/4us, 1s/4us/' fails.yaml
refused 1 "all 2 points failed" sweep fails.yaml -o fails2.sqlite

# A point that crashes is one failed point, also the first one, whose statistics objectives are checked against.
# A third-party unit has a process for each point: its globals may be dirty.
cat >breaker.yaml <<END
platform: with-breaker
base: nfu
units: {breaker: {model: "$BREAKER:breaker", at: 0x10040000, idle: true}}
END
cat >crash.yaml <<END
network: $network
platform: breaker.yaml
options: {timing_only: true}
parameters: {breaker.end: [1, 0, 2, 3], pe_array.rows: [4, 8]}
objectives: [total.time_ps]
END
refused 1 "2 points failed: the worker ended with status 7, 1 time(s) (the first: breaker.end=" sweep crash.yaml -o crash.sqlite -j 1
grep -q "^cnnvp: 2 points failed: the worker was ended by signal 6 (Aborted), 1 time(s) (the first: " err || fail "kinds: $(cat err)"
says "8 points: 4 ok, 4 failed"
[ "$(sqlite3 crash.sqlite "select error, count(*) from points where status = 'failed' group by error order by error")" = \
    "the worker ended with status 7, 1 time(s)|2
the worker was ended by signal 6 (Aborted), 1 time(s)|2" ] || fail "points that crash: $(sqlite3 crash.sqlite 'select error from points')"
absent crash.sqlite.work
# What a unit leaves behind does not hold up the sweep.
sed -e 's/\[1, 0, 2, 3\]/[4, 0]/' -e 's/\[4, 8\]/[8]/' crash.yaml >leaves.yaml
limit=40
expect 1 sweep leaves.yaml -o leaves.sqlite -j 1
says "2 points: 1 ok, 1 failed"
limit=300

# Searches by chance: the seed decides.
sed -e 's/pe_array.rows: .*/pe_array.rows: {from: 1, to: 64, step: 1}/' -e '/^search/d' grid.yaml >random.yaml
echo 'search: {random: 10}' >>random.yaml
expect 0 sweep random.yaml -o random.sqlite --seed 5 --export r5.csv
expect 0 sweep random.yaml -o random2.sqlite --seed 5 -j 1 --export r5b.csv
expect 0 sweep random.yaml -o random2.sqlite --seed 6 --export r6.csv
[ "$(wc -l <r5.csv)" = 11 ] || fail "points of a random search"
cmp -s r5.csv r5b.csv || fail "a seed gives other points"
cmp -s r5.csv r6.csv && fail "two seeds give the same points"

# Wrong specifications: nothing is made.
sed 's/pe_array.rows: /pe_array.rwos: /' grid.yaml >bad.yaml
refused 2 'bad.yaml:6:3: the platform has no parameter "pe_array.rwos"; did you mean "pe_array.rows"?' sweep bad.yaml -o bad.sqlite
sed 's/"pe_array.rows >=/"pe_array.row >=/' grid.yaml >bad.yaml
refused 2 'bad.yaml:9:16: there is no parameter "pe_array.row"; did you mean "pe_array.rows"?' \
    sweep bad.yaml -o bad.sqlite
sed 's/time_ps/time_pq/' grid.yaml >bad.yaml
refused 2 'did you mean "total.time_ps"' sweep bad.yaml -o bad.sqlite
# The same words in another order; the list of all is another command's.
sed 's/area.total_um2/total.area_um2/' grid.yaml >bad.yaml
refused 2 'bad.yaml:10:46: the statistics have no number "total.area_um2"; did you mean "area.total_um2"? (`cnnvp models stats` lists them)' \
    sweep bad.yaml -o bad.sqlite
sed 's/area.total_um2/no.such/' grid.yaml >bad.yaml
refused 2 'the statistics have no number "no.such" (`cnnvp models stats` lists them)' sweep bad.yaml -o bad.sqlite
sed 's/area.total_um2/wall_seconds/' grid.yaml >bad.yaml
refused 2 "bad.yaml:10:46: wall_seconds is the host's time, which differs from run to run: no objective" sweep bad.yaml -o bad.sqlite
# What is refused when the points are listed leaves nothing either.
sed -e 's/pe_array.rows: .*/pe_array.rows: {from: 1, to: 64, step: 1}/' -e 's/pe_array.cols: .*/pe_array.cols: {from: 1, to: 64, step: 1}/' \
    -e '/^constraints/d' -e 's/^  dram.preset: .*/&\n  instruction.queue_depth: {from: 64, to: 1024, step: 4}/' grid.yaml >bad.yaml
refused 2 "a grid of more than 1048576 points; use {random: N} or nsga2" sweep bad.yaml -o bad.sqlite
# Also where the first point cannot be planned.
sed -e 's/timing_only: true/on_chip: true/' -e '/^  pe/d' -e 's/^  dram.*/  input_buffer.size: [64, 64KiB]/' -e '/^constr/d' \
    -e 's/^objectives.*/objectives: [layers.ZZ.cycles]/' grid.yaml >bad.yaml
refused 2 'bad.yaml:7:14: the statistics have no number "layers.ZZ.cycles"' sweep bad.yaml -o bad.sqlite
sed "s/^constraints.*/constraints: ['1 + 1']/" grid.yaml >bad.yaml
refused 2 'bad.yaml:9:18: this is a value and no condition' sweep bad.yaml -o bad.sqlite
absent bad.sqlite bad.sqlite.work
refused 2 "cannot be read" sweep nosuch.yaml -o bad.sqlite
refused 2 "SPEC.yaml is missing" sweep -o bad.sqlite
refused 2 "RESULTS.sqlite is missing" sweep grid.yaml
# A folder of work that is a link to nowhere cannot be made, however often it is tried.
ln -s nosuch/folder bad.sqlite.work
timeout -k 1 20 "$CNNVP" sweep grid.yaml -o bad.sqlite >out 2>err
[ $? = 2 ] && grep -q "bad.sqlite.work/lock: cannot be made: No such file or directory" err || fail "a link to nowhere: $(cat err)"
rm bad.sqlite.work
refused 2 "nosuch/bad.sqlite cannot be written" sweep grid.yaml -o nosuch/bad.sqlite
refused 2 "--export" sweep grid.yaml -o bad.sqlite --export nosuch/x.csv
echo text >text.sqlite
head -c 8192 /dev/zero | tr '\0' x >>text.sqlite
refused 2 "text.sqlite: is not a database that" sweep grid.yaml -o text.sqlite
# Somebody else's databases: nothing is written into them.
for tables in "create table bookmarks(url)" "create table points(x, y); create table sweep(name, value)" "create view v as select 1"; do
    rm -f foreign.sqlite
    sqlite3 foreign.sqlite "$tables"
    cp foreign.sqlite before.sqlite
    refused 2 "foreign.sqlite: is not a database that \`cnnvp sweep\` has written: it has the " sweep grid.yaml -o foreign.sqlite
    refused 2 "foreign.sqlite: is not a database that \`cnnvp sweep\` has written: it has the " report foreign.sqlite -o foreign.html
    cmp -s foreign.sqlite before.sqlite || fail "a foreign database was written: $tables"
done
absent foreign.sqlite.work foreign.html
# Tables of one's own beside ours are nobody's business.
cp r.sqlite own.sqlite
sqlite3 own.sqlite "create table notes(text); create view fast as select * from points"
expect 0 sweep grid.yaml -o own.sqlite -q

# One whose making was ended by a kill is ours.
sqlite3 half.sqlite "create table points($columns)"
expect 0 sweep grid.yaml -o half.sqlite -j 2 -q

# Statistics that are damaged, or of another version, make no good point: on no front, not in a page; they run again.
cp r.sqlite damaged.sqlite
first=$(sqlite3 damaged.sqlite "select key from points where params like '%\"pe_array.rows\":16,\"pe_array.cols\":16,\"dram.preset\":\"ddr4-2400\"%'")
for stats in "null" "'{'" "12" "'12'" "'[]'" "'{}'" "x'00'" "replace(stats, 'cnnvp-stats/2', 'cnnvp-stats/1')" "substr(stats, 1, length(stats) - 9)"; do
    sqlite3 damaged.sqlite "update points set stats = $stats where key = '$first'"
    expect 0 report damaged.sqlite -o damaged.html
    grep -o "{\"key\":\"$first\",\"status\":\"failed\"[^}]*its statistics are damaged, or of another schema" damaged.html >found
    [ -s found ] || fail "a page takes statistics $stats"
    expect 0 sweep grid.yaml -o damaged.sqlite --export damaged.csv
    says "12 points: 12 ok, 0 failed; 11 were in damaged.sqlite already"
    cmp -s a.csv damaged.csv || fail "what has run again after statistics $stats differs"
done

# A file that may not grow: the reason is said.
for blocks in 4 40 200; do
    rm -rf limit.sqlite*
    (ulimit -f $blocks; "$CNNVP" sweep grid.yaml -o limit.sqlite -j 2 -q >out 2>err)
    status=$?
    [ $status -eq 1 ] && grep -q "File too large" err || fail "files of $blocks blocks: status $status, $(cat err)"
done
rm -rf limit.sqlite*

sed '/^objectives/d' grid.yaml >none.yaml
refused 2 "needs objectives" sweep none.yaml -o none.sqlite --pareto
[ ! -e none.sqlite ] || fail "points of a sweep whose front is refused have run"

# What workers left behind is taken over: a result file that no driver has seen.
mkdir left.sqlite.work
key=$(query "select key from points where params like '%\"pe_array.rows\":8,\"pe_array.cols\":8,\"dram.preset\":\"ddr3-1600\"%'")
{
    printf '{"key":"%s","status":"ok","params":"{\\"from\\":\\"file\\"}","seconds":4321.5}\n' "$key"
    query "select stats from points where key = '$key'"
} >"left.sqlite.work/$key.result"
echo half >left.sqlite.work/00000000000000000000000000000000.result
echo half >left.sqlite.work/11111111111111111111111111111111.result.tmp
expect 0 sweep grid.yaml -o left.sqlite -j 2 --export left.csv
says "1 were in left.sqlite already"
[ "$(sqlite3 left.sqlite "select seconds from points where key = '$key'")" = 4321.5 ] || fail "a result file was not taken over"
cmp -s a.csv left.csv || fail "results after taking over differ"
absent left.sqlite.work

# Kills and waits: nothing that a sanitizer sees better.
[ "$SLOWER" = 1 ] || {
    finish
    exit
}

# Kill -9 of the driver, again and again: nothing finished is lost, nothing runs twice.
rows=40 points=240
sed -e "s/pe_array.rows: .*/pe_array.rows: {from: 1, to: $rows, step: 1}/" -e 's/^constraints.*//' grid.yaml >long.yaml
rounds=0 finished=0
: >seen
while [ $rounds -lt 60 ]; do
    "$CNNVP" sweep long.yaml -o long.sqlite -j 2 -q >/dev/null 2>err &
    driver=$!
    sleep 0.3
    kill -9 $driver 2>/dev/null || { wait $driver && finished=1; break; }
    wait $driver 2>/dev/null
    sqlite3 long.sqlite "select key || ' ' || seconds from points" >now 2>/dev/null
    cat now seen | sort -u >both
    # A key with two times would have run twice.
    [ "$(cut -d' ' -f1 both | sort | uniq -d | wc -l)" = 0 ] || fail "a finished point ran again after a kill"
    [ "$(cat both | wc -l)" = "$(cat now | wc -l)" ] || fail "a finished point was lost by a kill"
    mv both seen
    rounds=$((rounds + 1))
done
[ $finished = 1 ] || expect 0 sweep long.yaml -o long.sqlite -j 2 -q
[ $rounds -gt 0 ] || fail "no driver could be killed in time"
expect 0 sweep long.yaml -o long.sqlite -j 2
says "$points points: $points ok, 0 failed; $points were in long.sqlite already"
absent long.sqlite.work

# Kill -9 of workers: their points run again.
sed -e "s/timing_only: true/timing_only: true, images: 400/" grid.yaml >slow.yaml
"$CNNVP" sweep slow.yaml -o workers.sqlite -j 2 >out 2>err &
driver=$! killed=0
for round in 1 2; do
    sleep 0.4
    for worker in $(ps -o pid= --ppid $driver 2>/dev/null); do
        kill -9 "$worker" 2>/dev/null && killed=$((killed + 1))
    done
done
[ $killed -gt 0 ] || fail "no worker could be killed in time"
# Meanwhile a second driver is refused.
if kill -0 $driver 2>/dev/null; then
    refused 2 "another sweep" sweep slow.yaml -o workers.sqlite
fi
wait $driver || fail "a sweep whose workers were killed: $(cat err)"
[ "$(sqlite3 workers.sqlite "select count(*) from points where status = 'ok'")" = 12 ] || fail "points of killed workers"

# Workers that are stopped are named, once; the sweep goes on with them.
cat >stop.yaml <<END
network: $network
options: {timing_only: true, images: 400}
parameters: {pe_array.rows: [4, 8]}
END
"$CNNVP" sweep stop.yaml -o stop.sqlite -j 2 >out 2>err &
driver=$!
for round in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.1
    stopped=$(ps -o pid= --ppid $driver 2>/dev/null)
    [ "$(echo "$stopped" | wc -w)" = 2 ] && break
done
# shellcheck disable=SC2086 # two words
kill -STOP $stopped
sleep 14
# shellcheck disable=SC2086
kill -CONT $stopped
wait $driver || fail "a sweep whose workers were stopped: $(cat err)"
[ "$(grep -c "^cnnvp: still under way, for much longer than any other: pe_array.rows=[48] (process [0-9]*, stopped); pe_array.rows=[48] (process [0-9]*, stopped)" err)" = 1 ] ||
    fail "workers that were stopped: $(cat err)"
says "2 points: 2 ok"

# SIGINT ends a sweep in order.
rm -f workers.sqlite
"$CNNVP" sweep slow.yaml -o workers.sqlite -j 2 >out 2>err &
driver=$!
sleep 0.5
kill -TERM $driver 2>/dev/null
wait $driver
status=$?
[ $status -eq 1 ] && grep -q "continues from there" err || fail "SIGTERM: status $status, $(cat err)"
expect 0 sweep slow.yaml -o workers.sqlite -j 2
says "12 points: 12 ok"

# A disk that is full, where a small one can be made.
mkdir disk
if mount -t tmpfs -o size=128k tmpfs disk 2>/dev/null; then
    "$CNNVP" sweep long.yaml -o disk/r.sqlite -j 2 >out 2>err
    status=$?
    [ $status -eq 1 ] && grep -qi "no space left\|disk is full" err || fail "full disk: status $status, $(cat err)"
    mount -o remount,size=64m disk
    expect 0 sweep long.yaml -o disk/r.sqlite -j 2
    says "$points points: $points ok"
    mount -o remount,ro disk
    refused 2 "Read-only file system" sweep long.yaml -o disk/r.sqlite
    umount disk
fi

finish
