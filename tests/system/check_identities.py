#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_identities.py CNNVP NETWORKS ZOO: what the statistics of a run say of each other, on runs that put it to the test."""
import json
import os
import subprocess
import sys
import tempfile

CNNVP, NETWORKS, ZOO = (os.path.abspath(path) for path in sys.argv[1:])


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


def check_pins():
    """Bytes of the bus, not those asked for, times the chip's side of the pins."""
    base = run("run", network("lenet5"), "--timing-only")
    more = run("run", network("lenet5"), "--timing-only", "-s", "energy.port_word=115.6")
    carried, energy = check_bus(base)
    assert abs(check_bus(more)[1] - energy - 100 * carried / 2) < 1, (carried, energy)
    assert carried != base["memory"]["read_bytes"] + base["memory"]["write_bytes"]
    asked = run("run", network("lenet5"), "--timing-only", "-s", "energy.table=eyeriss")
    assert abs(check_bus(asked)[1] - 110 * carried) < 1, asked["energy"]


def main():
    check_pins()
    # 43 % of these bursts are forwarded or merged: by the bursts the share was 1.3.
    busy = run("run", os.path.join(ZOO, "places", "concat_columns.onnx"), "--cpu", "host", "-s",
               "dram.preset=ddr3-1600", "-n", "50")
    check_bus(busy)
    assert busy["summary"]["bandwidth_share"] > 0.5


main()
