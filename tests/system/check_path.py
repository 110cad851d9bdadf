#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_path.py CNNVP NETWORKS [PLATFORMS]: the critical path of runs. Its sums are the time; and as a prediction it holds: a unit of
which the path has a part p of the time, made k times as fast, brings at most (1 - 1/k) p, and a unit that nothing waited
for brings nothing."""
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile

CNNVP = os.path.abspath(sys.argv[1])
NETWORKS = os.path.abspath(sys.argv[2])
folder = tempfile.TemporaryDirectory()
# The compiler plans anew for another speed.
SLACK = 0.02
worst = []
IBEX = [word for name, value in (("clock_mhz", 500), ("load_cycles", 2), ("store_cycles", 2), ("multiply_cycles", 3),
                                 ("divide_cycles", 37), ("jump_cycles", 3)) for word in ("-s", f"cpu.{name}={value}")]


def longest(path):
    """The instances with the largest part, together with that of a second accelerator."""
    alike = {}
    for name, part in path.items():
        alike[name.removesuffix("_2")] = alike.get(name.removesuffix("_2"), 0) + part
    return [name for name, part in alike.items() if part == max(alike.values())] or [""]


def run(*words, command="run", network="lenet5"):
    file = os.path.join(folder.name, "stats.json")
    subprocess.run([CNNVP, command, os.path.join(NETWORKS, f"{network}.onnx"), "--timing-only", "-q", "--stats", file, *words], check=True)
    with open(file, encoding="ascii") as text:
        stats = json.load(text)
    path, time = stats["summary"]["critical_path"], stats["total"]["time_ps"]
    assert sum(path.values()) == time, (words, sum(path.values()), time)
    assert stats["summary"]["bound_by"] in longest(path), (words, path)
    of_layers = {}
    for layer in stats["layers"]:
        own = layer["critical_path"]
        assert layer["bound_by"] in longest(own), layer
        for unit, ps in own.items():
            of_layers[unit] = of_layers.get(unit, 0) + ps
    # Of no layer is what core and instruction element do after the last one, and what memory does for the core.
    for unit, ps in path.items():
        rest = ps - of_layers.get(unit, 0)
        cores = ("cpu", "instruction") + (("dram",) if {"cpu.memory=cache", "list"} & set(words) else ())
        assert rest == 0 or (rest > 0 and unit.startswith(cores)), (words, unit, of_layers, path)
    return path, time, stats


def check_bound(setting, unit, factor, *words, least=0.0):
    """The setting makes the unit `factor` times as fast; at least `least` of what the path promises comes true. Its plan is
    another one, which may be a little slower."""
    path, time, _ = run(*words)
    promised = (1 - 1 / factor) * path.get(unit, 0) / time
    gained = 1 - run(*words, "-s", setting)[1] / time
    assert least * promised - 0.001 <= gained <= promised + SLACK, (words, setting, promised, gained)


def check_estimate(words, unit, time, faster, stats, most=0.1):
    """The time that the run says it would take is that which it takes, within 10 %, if nothing else is said."""
    told = time - stats["summary"]["gain_if_twice_as_fast"][unit]
    assert abs(told / faster - 1) <= most, (words, unit, time, told, faster)
    worst.append((abs(told / faster - 1), unit, words))


def check_gain(unit, most, *words, network="lenet5"):
    _, time, stats = run(*words, network=network)
    check_estimate(words, unit, time, run(*words, "-s", f"{unit}.speedup=2", network=network)[1], stats, most)


def follow(words, network, time):
    """Whoever does what --advise, or the line `to try`, names first gains what it said within a fifth, and loses nothing."""
    for more, form in ((["--advise"], r"^  parameter .*\n  (\S+) +\S+ -> (\S+) +(\S+) %"), ([], r"^to try +(--[^:]*)():.* (\S+) % time")):
        said = subprocess.run([CNNVP, "run", f"{NETWORKS}/{network}.onnx", "--timing-only", *words, *more], check=True,
                              capture_output=True, text=True).stdout
        first = re.search(form, said, re.M)
        if not first:
            continue
        name, value, percent = first.groups()
        change = name.split() + ([] if value in ("", "true") else [value]) if name[0] == "-" else ["-s", f"{name}={value}"]
        got = run(*words, *change, network=network)[1] / time - 1
        assert got <= 0 and abs(got - float(percent) / 100) <= abs(got) / 5 + 0.0005, (network, words, change, percent, got)


def check_platforms(count):
    """Platforms at random, with networks in turn: every unit in turn is twice as fast, and the first advice is followed. A core that
    no longer falls asleep has less to do, which no path knows: one estimate of 50 may be further off than 11 %."""
    worst.clear()
    draw = random.Random(44)
    choices = {"pe_array.rows": (2, 4, 8, 16, 32), "pe_array.cols": (2, 4, 8, 16, 32), "pe_array.clock_mhz": (250, 1000, 2000),
               "cpu.clock_mhz": (500, 1000, 4000), "dram.preset": ("ddr3-1600", "ddr4-2400", "lpddr4-3200", "hbm2"),
               "dram.channels": (0, 1), "vector.lanes": (1, 16), "dma.outstanding": (1, 16), "dma.requests": (1, 8),
               "input_buffer.width_words": (16, 64), "instruction.queue_depth": (64, 4096)}
    for number in range(count):
        words = [word for name, values in choices.items() for word in ("-s", f"{name}={draw.choice(values)}")]
        words += draw.choice(([], [], ["--issue", "list"], ["--batch", "2"], ["--schedule", "fused"]))
        words += ["-n", str(draw.choice((1, 4, 8)))]
        network = ("lenet5", "digits", "mixed", "mnist", "vgg16_cifar")[number % 5]
        path, time, stats = run(*words, network=network)
        for unit in path:
            if path[unit] > time / 100:
                faster = run(*words, "-s", f"{unit}.speedup=2", network=network)[1]
                check_estimate((network, *words), unit, time, faster, stats, 0.2)
        follow(words, network, time)
    beyond = [one for one in worst if one[0] > 0.11]
    assert 50 * len(beyond) <= len(worst), beyond


def memory_moves(before, after):
    """Transfers that come earlier may meet the memory in another order, or in a refresh: the share of its clocks that it spends
    otherwise with them."""
    clocks = [stats["units"]["dram"] for stats in (before, after)]
    kinds = ("data_clocks", "row_clocks", "turnaround_clocks", "refresh_clocks")
    return sum(abs(clocks[1][kind] - clocks[0][kind]) for kind in kinds) / sum(clocks[0][kind] for kind in (*kinds, "idle_clocks"))


def check_speedups(*words):
    """What if: in the same plan a unit of half the delays brings what its part of the path allows, and no more."""
    path, time, stats = run(*words)
    for unit in ("pe_array", "dram", "cpu", "dma", "vector", "instruction", "input_buffer"):
        faster_path, faster, marked = run(*words, "-s", f"{unit}.speedup=2")
        assert marked["platform"]["units"][unit]["speedup"] == 2 and "speedup" not in stats["platform"]["units"][unit]
        for same in ("total_um2", "low_um2"):
            assert marked["area"][same] == stats["area"][same], (unit, same)
        assert marked["total"]["macs"] == stats["total"]["macs"]
        assert marked["total"]["guest_instructions"] == stats["total"]["guest_instructions"] or "cpu" in path
        gained, promised = 1 - faster / time, path.get(unit, 0) / time / 2
        slack = 0.002 + memory_moves(stats, marked)
        assert -slack <= gained <= promised + slack, (words, unit, gained, promised, slack)
        check_estimate(words, unit, time, faster, stats)
        if unit == stats["summary"]["bound_by"]:
            assert gained >= promised / 4, (words, unit, gained, promised)


def check_stopped(at_ps):
    """A run that --max-time stops is bound by what the run is bound by up to there, not by whoever was asked last."""
    file = os.path.join(folder.name, "stopped.json")
    done = subprocess.run([CNNVP, "run", f"{NETWORKS}/vgg16_cifar.onnx", "--timing-only", "-q", "--stats", file, "--max-time", f"{at_ps}ps"],
                          check=False, capture_output=True)
    assert done.returncode == 1, done
    with open(file, encoding="ascii") as text:
        stats = json.load(text)
    path, gains = (stats["summary"][name] for name in ("critical_path", "gain_if_twice_as_fast"))
    assert stats["partial"] and sum(path.values()) == stats["total"]["time_ps"] == at_ps, path
    assert all(gains[unit] <= path[unit] / 2 for unit in path), (path, gains)
    assert path["pe_array"] > 0.9 * at_ps and stats["summary"]["bound_by"] == "pe_array", (at_ps, path)


def check_small_core(*words, network="lenet5", least=0.0):
    """What the table says of a small core is what a run with one takes, by the same plan."""
    plan = os.path.join(folder.name, "plan.yaml")
    said = subprocess.run([CNNVP, "run", f"{NETWORKS}/{network}.onnx", "--timing-only", *words, "--plan-out", plan], check=True,
                          capture_output=True, text=True).stdout
    line = re.search(r"^a small core +Ibex's cycles at half this core's clock: about .*, (\d+) % more", said, re.M)
    told = 1 + int(line.group(1)) / 100 if line else 1
    before, small = run(*words, "--plan", plan, network=network)[1], run(*words, "--plan", plan, *IBEX, network=network)[1]
    assert abs(told - small / before) <= 0.06 * small / before and told >= least, (words, network, told, small / before, said)


def main():
    fast = ("-s", "pe_array.rows=16", "-s", "pe_array.cols=16", "-s", "dram.preset=hbm2")
    for at_ps in (10**8, 10**9, 3 * 10**9):
        check_stopped(at_ps)
    check_small_core("-n", "8", least=1.5)
    check_small_core("-n", "8", *fast, least=3)
    check_small_core("-n", "8", "-s", "cpu.speedup=2", *fast, least=1.6)
    check_small_core("-s", "cpu.memory=cache", *fast, least=2)
    check_small_core("-s", "cpu.load_cycles=2", "-s", "cpu.jump_cycles=3", "-p", "window", least=1.5)
    check_small_core(network="vgg16_cifar")
    check_small_core("-p", "window", network="vgg16_cifar")
    check_small_core("-p", "window", "-s", "dram.preset=hbm2", least=2)
    for words in ((), ("-s", "pe_array.rows=16", "-s", "pe_array.cols=16", "-n", "8"), ("-s", "pe_array.clock_mhz=100"),
                  ("-s", "dram.width_bits=16", "-s", "dram.preset=ddr3-1600", "-n", "4")):
        check_speedups(*words)
    # What waits for memory and for the DMA's port gains by the one only until the other is last.
    for words in (("-p", "window", "-s", "dram.preset=lpddr5-6400"), ("-p", "window", "-s", "dma.port_bytes=8")):
        for unit in ("dram", "dma"):
            check_gain(unit, 0.02, *words, network="vgg16_cifar")
    # Two ports that are read side by side: one alone brings nothing.
    with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/trained.tar.xz")) as trained:
        trained.extract("mobile.onnx", folder.name)
    mobile = os.path.join(folder.name, "mobile")
    for unit in ("weight_buffer", "input_buffer", "vector"):
        check_gain(unit, 0.01, "-p", "window", network=mobile)
    # An array waits for one port after the other.
    ports = ("-p", "systolic", "-s", "output_buffer.width_words=4", "-s", "input_buffer.width_words=8")
    for unit in ("input_buffer", "output_buffer", "pe_array"):
        check_gain(unit, 0.01, *ports, network=mobile)
    for unit in ("scratchpad", "pe_array"):
        check_gain(unit, 0.01, "-p", "unified", "-s", "scratchpad.width_words=8", network=mobile)
    # Data wait in the DMA until the command takes them, which the array holds back.
    check_gain("pe_array", 0.02, "-s", "cpu.timing=off", "-s", "dram.preset=hbm2", *(
        word for buffer in ("input", "weight", "output") for word in ("-s", f"{buffer}_buffer.pingpong=off")), network=mobile)
    # A transfer waits for the port of the memory on chip.
    check_gain("scratchpad", 0.06, "-p", "unified", "-s", "scratchpad.width_words=4", "-s", "dram.preset=hbm2")
    # The core is ahead by what the queue holds, whatever the element does at the moment when the core looks for room.
    with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/modern.tar.xz")) as modern:
        modern.extract("./Segformer_hf.onnx", folder.name)
    segformer = os.path.join(folder.name, "Segformer_hf")
    check_gain("cpu", 0.02, "-p", "window", "-n", "4", network=segformer)
    check_gain("cpu", 0.05, "-n", "2", network=segformer)
    check_platforms(int(sys.argv[3]) if len(sys.argv) > 3 else 10)
    wide = ("-s", "pe_array.rows=16", "-s", "pe_array.cols=16", "-n", "8", "-s", "cpu.clock_mhz=200")
    # A slow core is the last to arrive on a wide array, whatever the array's cycles say: another memory brings nothing.
    path, time, stats = run(*wide)
    assert stats["summary"]["bound_by"] == "cpu" and path["cpu"] > 0.95 * time, path
    assert abs(run(*wide, "-s", "dram.preset=hbm2")[1] / time - 1) < 0.002
    check_bound("cpu.clock_mhz=250", "cpu", 1.25, *wide, least=0.8)
    # Beside a slow array it is not, and the array's clock is what helps.
    slow = ("-s", "pe_array.clock_mhz=100", "-n", "4")
    path, time, _ = run(*slow)
    assert path["pe_array"] > 0.8 * time and path.get("cpu", 0) < 0.1 * time, path
    check_bound("cpu.clock_mhz=2000", "cpu", 2, *slow)
    # A narrow memory: the array's own speed hardly counts.
    narrow = ("-s", "dram.width_bits=16", "-s", "dram.preset=ddr3-1600", "-n", "4")
    path, time, stats = run(*narrow)
    assert stats["summary"]["bound_by"] == "dram", path
    check_bound("pe_array.cols=16", "pe_array", 2, *narrow)
    check_bound("cpu.clock_mhz=2000", "cpu", 2, *narrow)
    # One image: a slow core prepares what nothing yet runs beside.
    path, time, stats = run("-s", "cpu.clock_mhz=400")
    first = stats["layers"][0]
    assert first["bound_by"] == "cpu" and first["critical_path"]["cpu"] > 0.9 * sum(first["critical_path"].values()), first
    check_bound("cpu.clock_mhz=800", "cpu", 2, "-s", "cpu.clock_mhz=400", least=0.5)
    # Accelerators that share images are alike: all of their arrays would be faster.
    dual = ("-p", f"{os.path.dirname(NETWORKS)}/examples/accelerators/dual.yaml", "-n", "8")
    _, time, stats = run(*dual)
    check_estimate(dual, "pe_array", time, run(*dual, "-s", "accelerators.pe_array.speedup=2")[1], stats)
    assert stats["summary"]["bound_by"] == "pe_array", stats["summary"]
    assert "pe_array_2" in stats["summary"]["critical_path"] and "pe_array_2" not in stats["summary"]["gain_if_twice_as_fast"]
    # Others: several accelerators, caches, an accelerator's own schedule, another array.
    for words in (("-p", "window"), ("-p", f"{os.path.dirname(NETWORKS)}/examples/accelerators/dual.yaml", "-n", "3"),
                  ("-s", "cpu.memory=cache"), ("-s", "cpu.timing=off", "-n", "2"), ("--on-chip", "-n", "4"),
                  ("-s", "instruction.sequence_depth=1"), ("-s", "instruction.queue_depth=64", "-n", "2"),
                  ("-s", "instruction.order=strict")):
        run(*words)
    run("--schedule", "depth-first", network="vgg16_cifar")


main()
if len(sys.argv) > 3:
    print(len(worst), "estimates", *sorted(worst, reverse=True)[:20], sep="\n")
