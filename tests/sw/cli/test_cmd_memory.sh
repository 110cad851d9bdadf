#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp memory: what it prints for a trace, and what it says of bad ones.
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

# One read on its way pays the whole latency; another part has another clock.
expect 0 memory hex.txt --outstanding 1
says 'mean read latency  17.'
expect 0 memory hex.txt -s dram.preset=ddr3-1600 -s dram.page=closed -s dram.scheduler=fcfs
says 'row conflicts      0'
expect 0 memory hex.txt --trace bandwidth.vcd
[ -s bandwidth.vcd ] || fail "no trace"

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
bad 'R 0 900\nR 64 20\n' '2:8: the time is before that of the line above'
bad 'R 0 900\nE 1000\nR 64\n' '3:5: a line after E'
bad 'R 0\nE\n' "2:2: a blank is expected, not the line's end"
bad 'R 0xfffffffffffffffff\n' '1:3: the address does not fit into 64 bits'
bad 'R 18446744073709551616' '1:3: the address does not fit into 64 bits'
# Neither may leave it waiting for a place, or refreshing for ever.
bad 'R 0 900\nR 64\n' '2:5: a time is expected: the bursts above have one'
bad 'R 0\nR 64 900\n' '2:9: a time, but the bursts above have none'
bad 'R 0 9000000000000000000\n' '1:24: the time is more than 100 s'
bad 'R 0\nE 9000000000000000000\n' '2:22: the time is more than 100 s'
bad '# nothing\n' ' has no bursts'

# Each burst of a run, replayed: the same to the last command. The same bursts for two public simulators.
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --stats run.json --memory-trace run.txt
python3 "$SOURCE/scripts/compare_memory.py" run.json run.txt --cnnvp "$CNNVP" >compared || fail "$(cat compared)"
grep -q '^row_hits ' compared || fail "nothing was compared"
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --stats again.json -s dram.preset=ddr3-1600 -s dram.channels=2 \
    -s dram.ranks=2 -s dram.page=closed --memory-trace again.txt
python3 "$SOURCE/scripts/compare_memory.py" again.json again.txt --cnnvp "$CNNVP" >compared || fail "$(cat compared)"
python3 "$SOURCE/scripts/compare_memory.py" run.json again.txt --cnnvp "$CNNVP" >compared && fail "another run's bursts pass"
bursts=$(grep -c '^[RW] ' run.txt)
grep -q "\"bursts\": $bursts" run.json || fail "$bursts bursts in the trace are not those of the statistics"
grep -q '^R 0x[0-9a-f]* [0-9]* # dma [0-9]*$' run.txt || fail "no read of a layer by the DMA"
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --memory-trace run.ramulator2
[ "$(grep -c '^\(LD\|ST\) 0x[0-9a-f]*$' run.ramulator2)" -eq "$bursts" ] || fail "no load-store trace"
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --memory-trace run.dramsim3
[ "$(grep -c '^0x[0-9a-f]* \(READ\|WRITE\) [0-9]*$' run.dramsim3)" -eq "$bursts" ] || fail "no trace for DRAMsim3"
expect 0 memory run.txt --untimed
says "bursts             $bursts"
# What a simulator printed, here from our own numbers: equal passes, a tenth more bandwidth does not.
# The same of Ramulator 2.0 and 2.1, and of two channels of DRAMsim3, whose reads and latencies differ.
expect 0 memory run.txt --untimed --outstanding 1024 --stats untimed.json
expect 0 memory run.txt --stats timed.json
python3 - <<'PY' || fail "no simulator output made"
import json
def numbers(name):
    stats = json.load(open(name)); dram = stats["units"]["dram"]
    return stats["total"]["time_ps"] / 833, dram["reads"], dram["bursts"] - dram["reads"], dram["read_latency_ps"] / 833
clocks, reads, writes, latency = numbers("untimed.json")
for name, share in (("same", 1.0), ("more", 0.9)):
    with open(name + ".txt", "w") as out:
        out.write("memory_system_cycles: %d\ntotal_num_read_requests: %d\ntotal_num_write_requests: %d\n"
                  "read_latency_0: %d\navg_read_latency_0: 1\n" % (clocks * share, reads, writes, latency))
for name, share in (("same", 1.0), ("more", 0.8)):
    json.dump({"memory_system": {"total_num_read_requests": reads, "total_num_write_requests": writes, "controller": {
        "cycles": int(clocks), "read_latency": int(latency * share), "avg_read_latency": 1.5}}}, open(name + ".yaml", "w"))
clocks, reads, writes, latency = numbers("timed.json")
few = reads // 4
json.dump({str(i): {"num_cycles": int(clocks), "num_reads_done": count, "num_writes_done": i * writes,
                    "average_read_latency": latency / reads + more} for i, count, more in
           ((0, few, 30), (1, reads - few, -30 * few / (reads - few)))}, open("two.json", "w"))
PY
compare() {
    python3 "$SOURCE/scripts/compare_memory.py" run.json run.txt --cnnvp "$CNNVP" --simulator "$@" >compared
}
compare ramulator2 same.txt || fail "$(cat compared)"
compare ramulator2 same.yaml || fail "$(cat compared)"
compare dramsim3 two.json --tolerance-latency 0.001 || fail "$(cat compared)"
compare ramulator2 more.txt && fail "a bandwidth that is a tenth off passes"
compare ramulator2 more.yaml && fail "a latency that is a quarter off passes"
sed -i 's/total_num_read_requests: .*/total_num_read_requests: 1/' same.txt
compare ramulator2 same.txt && fail "another number of reads passes"
refused 2 'none/run.txt' run "$SOURCE/scripts/networks/lenet5.onnx" --memory-trace none/run.txt

# Each part beside its peak: none delivers more; bank groups lowest, reads come nearer to it than one bank after another.
expect 0 memory --stream
cp out all
grep -c '^[a-z].* %.*%' all | grep -qx 8 || fail "not eight parts: $(cat all)"
awk 'NR > 1 { for (i = 4; i <= NF; i += 3) if ($i > 100 || $i < 5) exit 1 }' all || fail "more than the peak: $(cat all)"
expect 0 memory --stream -s dram.mapping=row-bank-column
awk 'NR == FNR { was[$1] = $3; next } $1 == "ddr4-3200" && was[$1] < 1.3 * $3 { exit 1 }' all out ||
    fail "bank groups change nothing: $(cat out)"
# Every part comes to 90 % of its peak, HBM but for a half, and strides of 4 KiB on DDR4 and DDR5 nearly, where a row has several of them.
awk 'NR > 1 && $4 < (/^hbm/ ? 89 : 90) || /^ddr[45]/ && $13 < 85 { exit 1 }' all || fail "below its peak: $(cat all)"
# hbm3 refreshes for 350 ns in each of the 3.9 us that are measured.
expect 0 memory --stream -s dram.preset=hbm3 -s dram.refresh=ideal
awk 'NR == FNR { was[$1] = $3; next } FNR == 2 && was[$1] > $3 * (1 - 350 / 3900) { exit 1 }' all out ||
    fail "refreshes are left out: $(cat out)"
# A part that is set, wherever, is the only one.
expect 0 memory --stream -s dram.preset=hbm2
{ head -n 1 all && grep '^hbm2 ' all; } | cmp -s - out || fail "not hbm2 alone: $(cat out)"
printf 'platform: mine\nbase: nfu\nunits: {dram: {preset: ddr4-2400}}\n' >mine.yaml
expect 0 memory --stream -p mine.yaml
{ head -n 1 all && grep '^ddr4-2400 ' all; } | cmp -s - out || fail "not ddr4-2400 alone: $(cat out)"
refused 2 'width_bits is 32; a channel of hbm2 has 128 bits' memory --stream -s dram.preset=hbm2 -s dram.width_bits=32
# Half the bits carry half as much; others than those of whole devices are refused, hbm2 is left out.
expect 0 memory --stream -s dram.width_bits=32
awk 'NR == FNR { was[$1] = $2; next } /^ddr[34]/ && ($2 - was[$1] / 2) ^ 2 > 0.0001 { exit 1 } FNR > 1 && $4 < 85 { exit 1 }' all out ||
    fail "of 32 bits: $(cat out)"
grep -q hbm2 out && fail "hbm2 of 32 bits"
for bits in 48 4 128; do
    refused 2 "width_bits is $bits; a channel of ddr4-2400 has 64 bits of 8 a device" check nfu -s dram.width_bits=$bits
done
refused 2 'width_bits is 16; a channel of hbm3 has 64 bits of 32' check nfu -s dram.preset=hbm3 -s dram.width_bits=16
refused 2 '1073741824 bytes are more than the 536870912 of its channels and ranks' check nfu -s dram.preset=hbm3 \
    -s dram.channels=1 -s dram.size=1GiB
refused 2 'ranks is 3; it must be 1, 2 or 4' check nfu -s dram.ranks=3
refused 2 'ranks is 4; a channel has at most 64 banks, and a rank of this part 32' check nfu -s dram.preset=ddr5-4800 \
    -s dram.ranks=4
expect 0 memory --stream --outstanding 1
awk 'NR == FNR { was[$1] = $3; next } FNR > 1 && $3 > was[$1] / 2 { exit 1 }' all out || fail "one at a time: $(cat out)"
refused 2 'takes no trace' memory hex.txt --stream

refused 2 'none.txt: cannot be read' memory none.txt
refused 2 'cannot be read' memory .
refused 2 'TRACE.txt is missing' memory
refused 2 'one trace is expected' memory hex.txt dec.txt
refused 2 '--outstanding' memory hex.txt --outstanding 0
refused 2 't_ras is 3 clocks, less than t_rcd, which is 16' memory hex.txt -s dram.t_ras=3
refused 2 't_aad is 15 clocks; the second command of an ACT comes from t_cmd_act, 1, to t_rcd_wr - t_cmd_column, 15 - 1,' \
    memory hex.txt -s dram.preset=lpddr5-6400 -s dram.t_aad=15
refused 2 'it must be t_ras + t_rp' memory hex.txt -s dram.t_rc=60
refused 2 'ddr5' memory hex.txt -s dram.preset=ddr5

finish
