#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cnnvp memory` prints for a trace, and what it says of bad ones.
. "$SOURCE/tests/support/lib.sh"

# 1024 sequential reads in hexadecimal, then the same in decimal with comments and blank lines.
i=0
while [ $i -lt 1024 ]; do
    printf 'R 0x%x\n' $((i * 64)) >>hex.txt
    printf '  r\t%d # burst\r\n\n' $((i * 64)) >>dec.txt
    i=$((i + 1))
done
expect 0 memory hex.txt --stats hex.json
says 'bursts             1024 (1024 reads, 0 writes)'
says 'row misses         8'
says 'row hits           1016'
cp out hex.out
expect 0 memory dec.txt
cmp -s out hex.out || fail "decimal and hexadecimal differ"
grep -q '"schema": *"cnnvp-stats/2"' hex.json || fail "no schema in the statistics"
/usr/bin/python3 -c '
import json
memory = json.load(open("hex.json"))["memory"]
for way in "read_bytes", "write_bytes":
    assert sum(memory["over_time"][way]) == memory[way], memory
' || fail "bytes over time are not all bytes"
grep -q '"row_hits": *1016' hex.json || fail "no row hits in the statistics"

# A part that is twice as fast takes as many clocks, of half the time each.
expect 0 memory hex.txt -s dram.preset=hbm2
cp out hbm2.out
expect 0 memory hex.txt -s dram.preset=hbm2 -s dram.speedup=2
awk 'NR == FNR { was[$1] = $0; next } $1 == "time" { split(was["time"], of); exit !(($2 * 2 - of[2]) ^ 2 < 1e-5 && $4 == of[4]) }' \
    hbm2.out out || fail "a part with speedup: $(cat out)"

# Writes take until their data have crossed the bus, not until the queue has taken them: 20 bursts of 4 clocks at least.
seq 0 64 1216 | sed 's/^/W /' >writes.txt
expect 0 memory writes.txt --stats writes.json
awk '$1 == "time" { clocks = $4 } $1 == "bandwidth" { rate = $2 } END { exit !(clocks >= 80 && rate <= 19.21) }' out ||
    fail "writes within the bus's rate: $(cat out)"
grep -q "\"time_ps\": *$(awk '$1 == "time" { print $4 * 833 }' out)," writes.json || fail "time of writes: $(cat out)"

# Of three writes to one burst one crosses the bus: 64 bytes in 33 clocks of 833 ps, tRCD + CWL + BL after the first.
printf 'W 0\nW 0\nW 0\n' >same.txt
expect 0 memory same.txt
says "6.985 GB/s, 2.328 of it on the data buses"
says "merged writes      2"

# A write alone is counted, crosses the bus and costs energy.
echo 'W 0' >write.txt
expect 0 memory write.txt --stats write.json
/usr/bin/python3 -c '
import json
stats = json.load(open("write.json"))
dram = stats["units"]["dram"]
assert (dram["reads"], dram["writes"], dram["bursts"], dram["requests"], dram["data_clocks"]) == (0, 1, 1, 1, 4), dram
assert dram["bus_bytes_per_s"] == int(64e12 / (4 * 833)), dram
reads = json.load(open("hex.json"))
pj = [run["energy"]["by_unit"]["dram"]["dynamic_pj"] for run in (stats, reads)]
# V * mA * ns, of 8 devices: an ACT of 55 clocks (39 open), a WR of 4, the pins (dram.def)
ns = 0.833
act = 9.6 * (48 * 55 - 43 * 39 - 34 * 16) * ns
assert abs(pj[0] - act - (9.6 * (123 - 43) * 4 * ns + 870) - 64 / 2 * 15.6) < 0.01, pj # and the chip'"'"'s pins
' || fail "a write is not counted"

# What the write queue answers does not cross the bus: half of the reads at least, here.
i=0
while [ $i -lt 400 ]; do
    printf 'W %d\nR %d\nW %d\n' $((i * 64)) $((i * 64)) $((i * 64)) >>same.txt
    i=$((i + 1))
done
expect 0 memory same.txt --stats same.json
/usr/bin/python3 -c '
import json
for name, answered in ("same", 400), ("write", 0), ("hex", 0):
    stats = json.load(open(name + ".json"))
    dram = stats["units"]["dram"]
    carried = dram["bus_read_bytes"] + dram["bus_write_bytes"]
    assert carried == dram["data_clocks"] / 4 * 64, dram
    assert carried + 64 * (dram["forwarded"] + dram["merged"]) == dram["burst_bytes"], dram
    assert dram["forwarded"] + dram["merged"] >= answered, dram
    share = stats["summary"]["bandwidth_share"]
    assert abs(share - carried * 1e12 / dram["bus_bytes_per_s"] / stats["total"]["time_ps"]) < 1e-9 and 0 < share <= 1, share
' || fail "shares of the bus"

# One read on its way pays the whole latency; another part has another clock.
expect 0 memory hex.txt --outstanding 1
says 'mean read latency  17.'
expect 0 memory hex.txt -s dram.preset=ddr3-1600 -s dram.row_policy=closed -s dram.scheduler=fcfs
says 'row conflicts      0'
expect 0 memory hex.txt --trace bandwidth.vcd
[ -s bandwidth.vcd ] || fail "no trace"

# The power until a late end is that of an idle memory: standby and refresh of ten times the time are ten times the energy.
printf 'R 0 0\nE 100000000\n' >late.txt
printf 'R 0 0\nE 1000000000\n' >later.txt
expect 0 memory late.txt --stats late.json
expect 0 memory later.txt --stats later.json
says 'time               1000.000 us'
/usr/bin/python3 -c '
import json
power = []
for name, time in ("late", 100000000), ("later", 1000000000):
    stats = json.load(open(name + ".json"))
    assert stats["total"]["time_ps"] == time, stats["total"]
    assert stats["memory"]["mean_bytes_per_s"] == 64e12 / time, stats["memory"]
    power.append(stats["energy"]["total_pj"] / time)
assert 0.9 < power[0] / power[1] < 1.1 and power[0] < 1, power
' || fail "mean power to a late end"

bad() {
    printf "$1" >bad.txt
    refused 2 "cnnvp: bad.txt:$2" memory bad.txt --stats bad.json --trace bad.vcd
    absent bad.json bad.vcd
}
bad 'R 0\nX 64\n' '2:1: R or W is expected, not "X"'
bad 'R\n' "1:2: a blank is expected, not the line's end"
bad 'R 0x\n' "1:5: an address is expected, decimal or 0x..., not the line's end"
bad 'W  -1\n' '1:4: an address is expected, decimal or 0x..., not "-"'
bad 'R 0\n\n# x\n R 12 x\n' '4:7: nothing may follow the address but a time in ps and a # comment, not "x"'
bad 'R 0 5 6\n' '1:7: nothing may follow the time but a # comment, not "6"'
bad 'R 0 900\nR 64 20\n' '2:6: the time is before that of the line above'
bad 'R 0 900\nE 1000\nR 64\n' '3:1: a line after E'
bad 'R 0\nE\n' "2:2: a blank is expected, not the line's end"
bad 'R 0xfffffffffffffffff\n' '1:3: the address does not fit into 64 bits'
bad 'R 18446744073709551616' '1:3: the address does not fit into 64 bits'
# Neither may leave it waiting for a place, or refreshing for ever.
bad 'R 0 900\nR 64\n' '2:5: a time is expected: the bursts above have one'
bad 'R 0\nR 64 900\n' '2:6: a time, but the bursts above have none'
bad 'R 0\nE 900\n' '2:3: a time, but the bursts above have none'
bad 'R 0 900\nZ 800\n' '2:3: the time is before that of the line above'
bad 'R 0 9000000000000000000\n' '1:5: the time is more than 100 s'
bad 'R 0\nE 9000000000000000000\n' '2:3: the time is more than 100 s'
bad '# nothing\n' ' has no bursts'
finish
