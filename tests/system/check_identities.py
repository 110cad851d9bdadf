#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_identities.py CNNVP NETWORKS ZOO DUAL.yaml: what the statistics of a run say of each other, on runs that put it to the test."""
import json
import os
import subprocess
import sys
import tempfile

CNNVP, NETWORKS, ZOO, DUAL = (os.path.abspath(path) for path in sys.argv[1:])


def run(*arguments, status=0):
    """Its statistics."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats.json")
        done = subprocess.run([CNNVP, *arguments, "-q", "--stats", stats], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, cwd=folder)
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
        with open(stats, encoding="utf-8") as stream:
            return json.load(stream)


def network(name):
    return os.path.join(NETWORKS, name + ".onnx")


def check_bus(stats):
    """What its write queue answers never crosses the memory's bus: no share of it, no energy of pins."""
    dram, energy = stats["units"]["dram"], stats["energy"]["by_unit"]["dram"]["dynamic_pj"]
    carried = dram["bus_read_bytes"] + dram["bus_write_bytes"]
    assert carried <= stats["memory"]["burst_bytes"] - 64 * (dram["forwarded"] + dram["merged"]), dram
    requesters = dram.get("requesters", {}).values()
    for name in "bus_read_bytes", "bus_write_bytes":
        assert sum(r.get(name, 0) for r in requesters) == dram[name], (name, dram)
    assert 0 <= stats["summary"]["bandwidth_share"] <= 1, stats["summary"]
    assert all(link["energy_pj"] == 0 for link in stats["links"] if link["to"] == "dram")
    return carried, energy


def check_sums(stats):
    """What adds up, also where a run was cut short."""
    dram, dma, memory, energy = stats["units"]["dram"], stats["units"]["dma"], stats["memory"], stats["energy"]
    classes = sum(dram[name] for name in ("row_hits", "row_misses", "row_conflicts", "forwarded", "merged"))
    assert classes == dram["bursts"] == dram["reads"] + dram["writes"], dram
    assert dram["burst_bytes"] == 64 * dram["bursts"] and memory["burst_bytes"] == 64 * memory["bursts"], dram
    for name in "bursts", "row_hits", "reads", "writes", "burst_bytes":
        assert sum(r.get(name, 0) for r in dram["requesters"].values()) == dram[name], (name, dram)
    link = [one for one in stats["links"] if (one["from"], one["to"]) == ("dma", "dram")][0]
    assert (link["read_bytes"], link["write_bytes"]) == (dma["read_bytes"], dma["write_bytes"]), (link, dma)
    layers = stats["layers"]
    for name in "read_bytes", "write_bytes", "burst_bytes":
        moved = sum(layer["dram_" + name] for layer in layers), sum(t[name] for t in stats["tensors"])
        assert moved[1] == memory[name] and moved[0] <= memory[name], (name, moved, memory[name])
    states = [dram[name + "_ps"] for name in ("standby", "active_power_down", "precharge_power_down", "self_refresh")]
    taken = energy["by_unit"]["dram"].get("states_pj")
    assert sum(states) == stats["total"]["time_ps"] * stats["platform"]["units"]["dram"]["ranks"], (states, stats["total"])
    assert taken is None or abs(sum(taken.values()) - energy["by_unit"]["dram"]["static_pj"]) < .01, energy
    assert (taken is None) == (stats["platform"]["units"]["dram"]["power_down"] == "off"), taken
    assert energy["no_layer_pj"] >= 0, energy["no_layer_pj"]
    for name, unit in energy["by_unit"].items():
        in_layers = sum(layer["energy_by_unit"].get(name, 0) for layer in layers)
        assert in_layers <= unit["dynamic_pj"] + unit["static_pj"] + .01, (name, in_layers, unit)
    total = stats["total"]
    assert total["accel_cycles"] == total["idle_cycles"] + sum(layer["cycles"] for layer in layers)


def check_cut():
    """Runs that are cut short at odd times."""
    cut = 0
    for options in [], ["-p", "window"], ["-p", "systolic", "-s", "pe_array.folds=single"], \
            ["-s", "dram.preset=ddr3-1600", "-s", "dma.outstanding=256", "-n", "3"], \
            ["-s", "dram.power_down=self-refresh", "-s", "dram.power_down_after=0", "-s", "dram.ranks=4"]:
        for us in 2.1, 3.3, 5, 7.123, 9.9, 11.7, 14.07:
            stats = run("run", network("lenet5"), "--timing-only", *options, "--max-time", "%gus" % us, status=1)
            assert stats["partial"]
            check_sums(stats)
            check_bus(stats)
            cut += any(layer["end_ps"] > stats["total"]["time_ps"] for layer in stats["layers"])
    assert cut  # amid a command


def check_clocks():
    """Cycles of a layer are the array's: what units by another clock count is turned into them, and layers take no more energy
    than there is, nor more time."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("platform: clocks\nbase: nfu\nunits: {vector: {clock: cpu}, dma: {clock: cpu}, instruction: {clock: cpu}}\n")
        file.flush()
        for options in [], ["-s", "pe_array.clock_mhz=250"], ["-s", "cpu.clock_mhz=333", "-n", "2"], ["-p", "nfu", "-s", "pe_array.speedup=2"], \
                ["-p", "nfu", "-s", "instruction.speedup=2"], ["-p", DUAL, "-n", "2", "-s", "pe_array_2.speedup=2"]:
            stats = run("run", network("lenet5"), "--timing-only", "-p", file.name, *options)
            check_sums(stats)
            array = stats["platform"]["units"]["pe_array"]
            elements = len(stats.get("accelerators", "1"))
            cycles_ps = stats["total"]["accel_cycles"] * 1e6 / (array["clock_mhz"] * array.get("speedup", 1)) / elements
            assert 0.6 * stats["total"]["time_ps"] < cycles_ps <= stats["total"]["time_ps"], (options, cycles_ps, stats["total"])
    # The vector unit has layers of its own, which it does twice as fast.
    busy = [layer["utilization"] for layer in
            run("run", network("vgg16_cifar"), "--timing-only", "-s", "vector.speedup=2")["layers"]]
    assert 0.9 < max(busy) <= 1, busy


def check_peak():
    """Pools are the vector unit's, whose lanes are what they could keep busy."""
    stats = run("run", network("lenet5"), "--timing-only", "-p", "systolic")
    total, layers = stats["total"], stats["layers"]
    assert {layer["pes"] for layer in layers if layer["op"] == "pool"} == {16}, layers
    could = sum(layer["cycles"] * layer["pes"] for layer in layers) + total["idle_cycles"] * 16 * 16
    assert abs(stats["summary"]["peak_share"] - total["macs"] / could) < 1e-9, (stats["summary"], could)


def check_quantum():
    """What ends at the same time as it is waited for is not waited for: that is the order within an instant."""
    def waits(quantum):
        return run("run", os.path.join(ZOO, "forms", "small_first.onnx"), "-p", DUAL, "-n", "5", "-s", "dram.channels=8",
                   "-s", "cpu.clock_mhz=100000", "-s", "cpu.quantum=%d" % quantum)["units"]
    assert waits(1) == waits(97) == waits(10000)


def check_pins():
    """Bytes of the bus, not those asked for, times the chip's side of the pins."""
    base = run("run", network("lenet5"), "--timing-only")
    more = run("run", network("lenet5"), "--timing-only", "-s", "energy.port_word=115.6")
    carried, energy = check_bus(base)
    assert abs(check_bus(more)[1] - energy - 100 * carried / 2) < 1, (carried, energy)
    assert carried != base["memory"]["read_bytes"] + base["memory"]["write_bytes"]
    asked = run("run", network("lenet5"), "--timing-only", "-s", "energy.table=eyeriss")
    assert abs(check_bus(asked)[1] - 110 * carried) < 1, asked["energy"]


def check_states():
    """A milliwatt in each state, as the currents of ddr4-2400 have it, with every table of energies."""
    for options in [], ["-s", "energy.table=eyeriss"]:
        stats = run("run", network("lenet5"), "--timing-only", "-n", "3", "-s", "dram.power_down=self-refresh",
                    "-s", "dram.t_refi=1000", *options)
        check_sums(stats)
        for name, current in ("standby", 43), ("active_power_down", 37), ("precharge_power_down", 25), ("self_refresh", 30):
            time, energy = (x[name + "_ps"] for x in (stats["units"]["dram"], stats["energy"]["by_unit"]["dram"]["states_pj"]))
            assert time and abs(energy - time * 1.2 * 8 * current / 1000) < .01, (name, time, energy)


def check_platform():
    """The platform that the statistics print, read as a platform file, is the same one."""
    for settings in ([], ["energy.technology=28nm"], ["energy.dram_byte=243.75"], ["energy.table=eyeriss"],
                     ["dram.preset=hbm2", "vector.speedup=2"]):
        words = [word for setting in settings for word in ("-s", setting)]
        first = run("run", network("lenet5"), "--timing-only", *words)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(first["platform"], file)
            file.flush()
            again = run("run", network("lenet5"), "--timing-only", "-p", file.name)
        del first["wall_seconds"], again["wall_seconds"]
        assert again == first, (settings, again["energy"]["total_pj"], first["energy"]["total_pj"])


def check_speedup():
    """What-if runs keep the plan, even one that follows from runs."""
    def plan(*words):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "plan.yaml")
            run("run", network("lenet5"), "--timing-only", *words, "--plan-out", file)
            with open(file, encoding="utf-8") as stream:
                return stream.read()
    for words, units in ((["-p", "nfu", "--tune"], ["cpu", "pe_array", "dram"]),
                         (["-p", "window", "--schedule", "auto"], ["dram"])):
        usual = plan(*words)
        for unit in units:
            assert plan(*words, "-s", unit + ".speedup=2") == usual, (words, unit)


def main():
    check_clocks()
    check_speedup()
    check_platform()
    check_states()
    check_pins()
    # 43 % of these bursts are forwarded or merged: by the bursts the share was 1.3.
    busy = run("run", os.path.join(ZOO, "places", "concat_columns.onnx"), "-s", "cpu.timing=off", "-s",
               "dram.preset=ddr3-1600", "-n", "50")
    check_bus(busy)
    check_sums(busy)
    check_cut()
    check_peak()
    check_quantum()
    assert busy["summary"]["bandwidth_share"] > 0.5


main()
