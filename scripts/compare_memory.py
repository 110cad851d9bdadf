#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a run's off-chip memory with a replay of its bursts, and with a public DRAM simulator on the same bursts.

    cnnvp run NETWORK.onnx --stats run.json --memory-trace run.txt
    scripts/compare_memory.py run.json run.txt

replays run.txt by `cnnvp memory` with the run's own memory parameters. Bursts, row hits, misses and conflicts,
commands, turnarounds, the clocks of the data bus and energy must be exactly equal; exit status 1 if not.

    --simulator ramulator2|dramsim3 OUTPUT   OUTPUT is what the simulator printed (Ramulator 2.0; the YAML or JSON
        statistics of 2.1) or its dramsim3.json (DRAMsim3) for the same bursts. --memory-trace run.ramulator2 or
        run.dramsim3 writes them in the simulator's form; `cnnvp models dram` prints the part's parameters. The number of
        reads, bandwidth and mean read latency are compared with a replay. For Ramulator 2 the replay is untimed with up to
        1024 outstanding reads, since its load-store traces have no times and only its queues limit them. For DRAMsim3 it
        is timed. --tolerance-bandwidth and --tolerance-latency set the allowed difference (5 % and 10 %).
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# Counters that a replay cannot reproduce, so they are not compared: the bytes requested of a burst, the grouping of
# bursts into requests, and the time at which a burst that was accepted late was first ready.
OTHER = ["read_bytes", "write_bytes", "requests", "failed", "read_latency_ps", "write_latency_ps", "wait_ps", "requesters",
         "standby_ps"]  # a replay ends at a clock edge


def fail(text):
    print("compare_memory.py: " + text, file=sys.stderr)
    sys.exit(2)


def find_program(given):
    if given:
        return given
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "bin", "cnnvp")
    return beside if os.path.exists(beside) else "cnnvp"


def replay(program, parameters, trace, untimed):
    """Replays the trace; returns its statistics and the printed text."""
    with tempfile.TemporaryDirectory() as folder:
        stats, platform = os.path.join(folder, "replay.json"), os.path.join(folder, "platform.yaml")
        with open(platform, "w", encoding="utf-8") as stream:
            stream.write("base: nfu\nunits:\n  dram:\n")
            for name, value in parameters.items():
                if name not in ("model", "at", "size"):
                    stream.write("    %s: %s\n" % (name, value if value != "" else repr("")))
        command = [program, "memory", trace, "--stats", stats, "--platform", platform]
        command += ["--untimed", "--outstanding", "1024"] if untimed else []
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode != 0:
            fail("the replay failed: " + done.stderr.strip())
        with open(stats, encoding="utf-8") as stream:
            return json.load(stream), done.stdout


def latency_of(dram):
    """Total time in ps from accepting a read to its data. A write's latency is only its waiting time, so it cancels
    out."""
    return dram["read_latency_ps"] + dram["write_latency_ps"] - dram["wait_ps"]


def counts(stats):
    """The counters that a run and its replay must agree on."""
    dram = stats["units"]["dram"]
    same = {name: value for name, value in dram.items() if name not in OTHER}
    same["latency, taken, ps"] = latency_of(dram)
    same["energy, pJ"] = stats["energy"]["by_unit"]["dram"]["dynamic_pj"]
    return same


def compare_exactly(run, again):
    different = 0
    print("%-20s %16s %16s" % ("", "run", "replay"))
    for name, ours in run.items():
        theirs = again[name]
        same = abs(ours - theirs) < 1 if "energy" in name else ours == theirs  # the energy of each layer is rounded to 1 fJ
        different += not same
        print("%-20s %16.15g %16.15g%s" % (name, ours, theirs, "" if same else "  DIFFERENT"))
    return different


def simulator_numbers(kind, output, clock_ps):
    """Reads, bandwidth in bytes/s and mean read latency in ps of a simulator, over all channels."""
    with open(output, encoding="utf-8") as stream:
        text = stream.read()
    numbers = {}  # lists with a value per channel; Ramulator 2.0 appends the channel's number to the name
    for name, value in re.findall(r'"?([A-Za-z]\w*?)(?:_\d+)?"?\s*:\s*([0-9.eE+-]+)', text):
        numbers.setdefault(name, []).append(float(value))
    if kind == "ramulator2":
        names = ["cycles" if "cycles" in numbers else "memory_system_cycles", "total_num_read_requests",
                 "total_num_write_requests", "read_latency"]
    else:
        names = ["num_cycles", "num_reads_done", "num_writes_done", "average_read_latency"]
    missing = [name for name in names if name not in numbers]
    if missing:
        fail("%s does not have %s" % (output, ", ".join(missing)))
    cycles, reads, writes, latencies = (numbers[name] for name in names)
    if kind == "ramulator2":  # read_latency is the sum over a channel's reads
        latency = sum(latencies)
    else:  # the mean of a channel's reads
        latency = sum(mean * count for mean, count in zip(latencies, reads))
    bandwidth = sum(reads + writes) * 64e12 / (max(cycles) * clock_ps)
    return sum(reads), bandwidth, latency * clock_ps / sum(reads) if sum(reads) else 0.0


def compare_closely(what, ours, theirs, tolerance):
    share = abs(ours - theirs) / theirs if theirs else 0.0
    print("%-20s %16.4g %16.4g  %5.2f %%%s" % (what, ours, theirs, 100 * share, "" if share <= tolerance else "  TOO FAR"))
    return share > tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stats", help="statistics of the run")
    parser.add_argument("trace", help="its --memory-trace, in cnnvp's form")
    parser.add_argument("--cnnvp", help="the program (default: build/bin/cnnvp of this tree, else from PATH)")
    parser.add_argument("--simulator", nargs=2, metavar=("KIND", "OUTPUT"))
    parser.add_argument("--tolerance-bandwidth", type=float, default=0.05)
    parser.add_argument("--tolerance-latency", type=float, default=0.10)
    options = parser.parse_args()
    if options.simulator and options.simulator[0] not in ("ramulator2", "dramsim3"):
        fail("--simulator is ramulator2 or dramsim3, not " + options.simulator[0])
    with open(options.stats, encoding="utf-8") as stream:
        stats = json.load(stream)
    parameters = stats["platform"]["units"]["dram"]
    if parameters["model"] != "dram":
        fail("the run's memory was of model %s; only dram can be replayed" % parameters["model"])
    program = find_program(options.cnnvp)
    again, _ = replay(program, parameters, options.trace, False)
    wrong = compare_exactly(counts(stats), counts(again))
    if options.simulator:
        kind, output = options.simulator
        again, text = replay(program, parameters, options.trace, kind == "ramulator2")
        time_us, clocks = re.search(r"([\d.]+) us, (\d+) memory clocks", text).groups()
        time_ps = float(time_us) * 1e6  # excludes the last writes' data, which simulators do not wait for
        clock_ps = time_ps / int(clocks)
        reads, bandwidth, latency = simulator_numbers(kind, output, clock_ps)
        dram = again["units"]["dram"]
        print("%-20s %16s %16s" % ("", "cnnvp", kind))
        wrong += compare_closely("reads", dram["reads"], reads, 0.01)
        wrong += compare_closely("bytes/s", dram["bursts"] * 64e12 / time_ps, bandwidth,
                                 options.tolerance_bandwidth)
        if dram["reads"]:
            wrong += compare_closely("read latency, ps", latency_of(dram) / dram["reads"], latency,
                                     options.tolerance_latency)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
