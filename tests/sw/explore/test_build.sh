#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A database answers for the simulator that made its points: another one runs them anew and says so, a copy does not.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx
share=$(dirname "$CNNVP")/../share

# install FOLDER: a copy of the command with its guest program.
install() {
    mkdir -p "$1/bin" "$1/share"
    cp "$CNNVP" "$1/bin/cnnvp"
    cp -r "$share/cnnvp" "$1/share/cnnvp"
}

# change FILE TEXT OTHER: the first such text in it, of the same length.
change() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import sys
file, text, other = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
with open(file, "rb") as stream:
    data = stream.read()
assert text in data and len(text) == len(other)
with open(file, "wb") as stream:
    stream.write(data.replace(text, other, 1))
PYTHON
}

cat >spec.yaml <<END
network: $network
options: {timing_only: true}
parameters: {pe_array.rows: [4, 8]}
objectives: [total.time_ps]
END
cat >train.yaml <<END
command: train
network: $SOURCE/scripts/networks/digits.onnx
options: {dataset: "idx:images,labels", timing_only: true, steps: 1}
END
/usr/bin/python3 -c 'import struct
for name, shape in (("images", (40, 8, 8)), ("labels", (40,))):
    size = 1
    for n in shape: size *= n
    open(name, "wb").write(bytes([0, 0, 8, len(shape)]) + struct.pack(">%dI" % len(shape), *shape) + bytes(i % 10 for i in range(size)))'
expect 0 sweep spec.yaml -o r.sqlite
expect 0 sweep train.yaml -o t.sqlite
ours=$(sqlite3 r.sqlite "select distinct json_extract(stats, '\$.build') from points")
expect 0 --version
[ "${ours%% program *}" = "$(sed -n 's/^build //p' out)" ] || fail "build of the statistics: $ours, $(cat out)"
echo "$ours" | grep -Eq '^[0-9a-f]{16} program [0-9a-f]{16}$' || fail "build: $ours"

original=$CNNVP
install copy
CNNVP=$work/copy/bin/cnnvp
expect 0 sweep spec.yaml -o r.sqlite
says "2 points: 2 ok, 0 failed; 2 were in r.sqlite already"
grep -q "another build" err && fail "a copy is no other build: $(cat err)"
expect 0 sweep train.yaml -o t.sqlite
says "1 were in t.sqlite already"

# Another simulator: a byte of what it says decides nothing here, but who could know.
install other
CNNVP=$work/other/bin/cnnvp
change "$CNNVP" "run a network on the platform" "RUN a network on the platform"
expect 0 sweep spec.yaml -o r.sqlite --export other.csv --pareto
says "2 points: 2 ok, 0 failed; 0 were in r.sqlite already"
grep -q "^cnnvp: r.sqlite: 2 points are of another build of cnnvp and are not used" err || fail "no word of another build: $(cat err)"
[ "$(wc -l <other.csv)" = 3 ] || fail "points of both builds are exported"
expect 0 sweep train.yaml -o t.sqlite -q
[ "$(sqlite3 t.sqlite "select count(*) from points")" = 2 ] || fail "a training by another build did not run anew"
theirs=$(sqlite3 r.sqlite "select distinct json_extract(stats, '\$.build') from points where json_extract(stats, '\$.build') <> '$ours'")
[ -n "$theirs" ] && [ "${theirs#* }" = "${ours#* }" ] || fail "the other build has the name $theirs"
# A page is of the last sweep's build alone.
expect 0 report r.sqlite -o r.html
grep -q '"others":2' r.html || fail "the page does not know of the other build's points"
[ "$(grep -o '"key":"' r.html | wc -l)" = 2 ] || fail "points of both builds are on the page"
# What workers of a build have left is that build's, whoever takes it over.
mkdir r.sqlite.work
printf '{"key":"0123456789abcdef0123456789abcdef","status":"failed","params":"{}","error":"x","seconds":1}\n\n' \
    >r.sqlite.work/0123456789abcdef0123456789abcdef.result
# Each build finds its own points again.
CNNVP=$original
expect 0 sweep spec.yaml -o r.sqlite
says "2 were in r.sqlite already"
grep -q "r.sqlite: 3 points are of another build" err || fail "what was left by another build: $(cat err)"

# Another guest program.
install guest
CNNVP=$work/guest/bin/cnnvp
printf x >>guest/share/cnnvp/cnnvp_guest.elf
expect 0 sweep spec.yaml -o r.sqlite
says "0 were in r.sqlite already"
grep -q "5 points are of another build" err || fail "no word of another guest program: $(cat err)"

# A database from before builds were noted.
CNNVP=$original
sqlite3 r.sqlite "drop table builds; delete from sweep where name = 'build'; update points set key = 'z' || substr(key, 2)"
expect 0 sweep spec.yaml -o r.sqlite
says "0 were in r.sqlite already"
grep -q "7 points are of another build" err || fail "no word of an earlier cnnvp: $(cat err)"

# The order of a data set's files counts, and each byte of them.
cat >order.yaml <<END
command: train
network: $SOURCE/scripts/networks/digits.onnx
options: {dataset: ["idx:images,labels"], timing_only: true, steps: 1}
END
cp images images2
printf '\1' | dd of=images2 bs=1 seek=100 conv=notrunc 2>/dev/null
expect 0 sweep order.yaml -o t.sqlite
says "1 were in t.sqlite already"
sed -i 's/idx:images,/idx:images2,/' order.yaml
expect 0 sweep order.yaml -o t.sqlite
says "0 were in t.sqlite already"
finish
