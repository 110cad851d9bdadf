#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_limits.py CNNVP NETWORKS: every number of the units that move data, at its least and its most, is taken or refused by
what is wrong with it; never by what a unit says of its own costs. LeNet-5 runs at those that have no reason to be refused."""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

CNNVP, NETWORKS = (os.path.abspath(path) for path in sys.argv[1:])
LENET5 = os.path.join(NETWORKS, "lenet5.onnx")
PRESETS = "nfu", "window", "systolic", "trainer"
KINDS = "dma", "buffer", "dram"
REFUSED = ("dma.word_bytes=1",)  # networks have words of 16 bits


def call(*command):
    return subprocess.run([CNNVP, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def limits(kind):
    """(name, least, most) of each number, but for the timings of a part: they hold each other."""
    for name, least, most in re.findall(r"^  (\w+) +(?:number|size) +(\S+) to (\S+)", call("models", kind).stdout, re.M):
        if not name.startswith("t_"):
            yield name, least, most


def instances(preset):
    """(name, kind) of a preset."""
    return re.findall(r"^  (\w+): *(?:#.*)?\n    model: (\w+)", call("check", preset).stdout, re.M)


def attempt(preset, assignment):
    command = ["check", "trainer"] if preset == "trainer" else ["run", LENET5, "--timing-only", "-q", "-p", preset]
    done = call(*command, "-s", assignment)
    assert done.returncode in (0, 2), (preset, assignment, done.returncode, done.stderr)
    if done.returncode == 2:
        named = assignment.split(".")[0] in done.stderr and "its costs" not in done.stderr
        assert named, (preset, assignment, done.stderr)


def run(assignments):
    done = call("run", LENET5, "--timing-only", "-q",
                *[word for assignment in assignments.split() for word in ("-s", assignment)])
    assert done.returncode == (2 if assignments in REFUSED else 0), (assignments, done.returncode, done.stderr)


def main():
    ranges = {kind: list(limits(kind)) for kind in KINDS}
    assert all(len(found) > 3 for found in ranges.values()), ranges
    with ThreadPoolExecutor(2) as pool:
        jobs = []
        for preset in PRESETS:
            found = [(name, kind) for name, kind in instances(preset) if kind in KINDS]
            assert {kind for _, kind in found} == set(KINDS), (preset, found)
            jobs += [pool.submit(attempt, preset, "%s.%s=%s" % (name, parameter, value))
                     for name, kind in found for parameter, least, most in ranges[kind] for value in (least, most)]
            jobs += [pool.submit(attempt, preset, "pe_array.clock_mhz=%d" % mhz) for mhz in (1, 100000)]
        jobs += [pool.submit(run, "dma.%s=%s%s" % (name, value, " dma.arbiter=weighted" if name.endswith("_share") else ""))
                 for name, *both in ranges["dma"] for value in both]
        jobs += [pool.submit(run, one) for one in ("pe_array.clock_mhz=1", "pe_array.clock_mhz=100000",
                                                   "dram.preset=hbm3 pe_array.clock_mhz=50", "dma.port_bytes=16KiB",
                                                   "dram.preset=hbm2 pe_array.clock_mhz=25")]
        for job in jobs:
            job.result()
    assert len(jobs) > 100


main()
