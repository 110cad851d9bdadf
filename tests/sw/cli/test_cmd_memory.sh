#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp memory beside runs and published simulators, and what it refuses.
. "$SOURCE/tests/support/lib.sh"

# Each burst of a run, replayed: the same to the last command. The same bursts for two public simulators.
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --stats run.json --memory-trace run.txt
python3 "$SOURCE/scripts/compare_memory.py" run.json run.txt --cnnvp "$CNNVP" >compared || fail "$(cat compared)"
for name in row_hits writes bus_bytes_per_s 'latency, taken, ps' 'energy, pJ'; do
    grep -q "^$name *[1-9][0-9.]* *[1-9]" compared || fail "$name was not compared: $(cat compared)"
done
expect 0 run "$SOURCE/scripts/networks/lenet5.onnx" -q --stats again.json -s dram.preset=ddr3-1600 -s dram.channels=2 \
    -s dram.ranks=2 -s dram.row_policy=closed -s dram.power_down=self-refresh --memory-trace again.txt
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
    latency = dram["read_latency_ps"] + dram["write_latency_ps"] - dram["wait_ps"]
    assert dram["requests"] == dram["bursts"] == dram["reads"] + dram["writes"]
    return stats["total"]["time_ps"] / 833, dram["reads"], dram["writes"], latency / 833
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

refused 2 'takes no trace' memory run.txt --stream

refused 2 'none.txt: cannot be read' memory none.txt
refused 2 'cannot be read' memory .
refused 2 'TRACE.txt is missing' memory
refused 2 'one trace is expected' memory run.txt run.txt
refused 2 '--outstanding' memory run.txt --outstanding 0
refused 2 't_ras is 3 clocks, less than t_rcd, which is 16' memory run.txt -s dram.t_ras=3
refused 2 't_aad is 15 clocks; the second command of an ACT comes from t_cmd_act, 1, to t_rcd_wr - t_cmd_column, 15 - 1,' \
    memory run.txt -s dram.preset=lpddr5-6400 -s dram.t_aad=15
refused 2 'it must be t_ras + t_rp' memory run.txt -s dram.t_rc=60
refused 2 'ddr5' memory run.txt -s dram.preset=ddr5

finish
