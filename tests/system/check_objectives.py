#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each objective's plan is the best by its own measure: check_objectives.py CNNVP NETWORKS TORCHVISION.

Where trials choose, no other objective's plan takes less of what an objective asks for, nor do plans without trials. What
trials say is what runs take, but for the energy of numbers that are not there yet. In a network that is too long for whole
runs, trials choose the groups alone, and no other takes less by more than one part in 200. Where bounds choose, no other
takes less by more than a hundredth.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import onnx

CNNVP, NETWORKS, TORCHVISION = sys.argv[1:]
BOUNDS = []
LPDDR4 = ["-p", "systolic", "-s", "dram.preset=lpddr4-3200"]
RUNS = [("lenet5", platform, choice)
        for platform in (LPDDR4, ["-p", "systolic", "-s", "pe_array.rows=8", "-s", "pe_array.cols=8"], ["-p", "window"])
        for choice in (["--schedule", "auto"], ["--tune"])] + [("vgg16_cifar", LPDDR4, ["--schedule", "auto"]), ("digits", ["-n", "4", "-s", "cpu.clock_mhz=800"], ["--schedule", "auto"])]
RUNS += [(os.path.join(TORCHVISION, "mobilenet_v2"), ["-p", platform], BOUNDS) for platform in ("nfu", "window", "systolic")]
MEASURES = {
    "time": lambda time, energy: time,
    "energy": lambda time, energy: energy,
    "edp": lambda time, energy: time * energy,
    "traffic": None,
}

def product(file, *words):
    """The energy-delay product of a run."""
    subprocess.run([CNNVP, "run", file, "--timing-only", "-q", "--stats", stats, *words], check=True)
    with open(stats, encoding="utf-8") as stream:
        said = json.load(stream)
    return said["total"]["time_ps"] * said["energy"]["total_pj"]


with tempfile.TemporaryDirectory() as folder:
    stats = os.path.join(folder, "s.json")
    for network, platform, choice in RUNS:
        taken = {}
        for objective, tried in itertools.product(MEASURES, (choice, BOUNDS) if "auto" in choice else (choice,)):
            subprocess.run([CNNVP, "run", os.path.join(NETWORKS, network + ".onnx"), "--timing-only", "-q", "--stats", stats,
                            "--objective", objective, *platform, *tried], check=True)
            with open(stats, encoding="utf-8") as stream:
                said = json.load(stream)
            taken[objective, tried is choice] = said["total"]["time_ps"], said["energy"]["total_pj"]
        for objective, measure in MEASURES.items():
            for other in taken if measure else ():
                assert measure(*taken[objective, True]) <= measure(*taken[other]) * (1.01 if choice is BOUNDS else 1.0005), (
                    network, platform, choice, objective, taken[objective, True], other, taken[other])
    # A network that is too long for whole runs: groups that time's plan proposes, and those whose layers change the unit,
    # count for the other objectives as well.
    large = onnx.load(os.path.join(TORCHVISION, "googlenet.onnx"), load_external_data=False)
    for edge in large.graph.input[0].type.tensor_type.shape.dim[2:]:
        edge.dim_value = 224
    del large.graph.value_info[:]
    file = os.path.join(folder, "large.onnx")
    onnx.save(large, file)
    products = [product(file, "-p", "systolic", "--schedule", "auto", "--objective", objective) for objective in ("edp", "time")]
    assert products[0] <= 1.005 * products[1], products
    # A layer's time weighs as much as the power of the whole network says, not of the layer: pools have little energy.
    file = os.path.join(TORCHVISION, "shufflenet_v2_x1_0.onnx")
    products = [product(file, "-p", "systolic", "--objective", objective) for objective in ("edp", "energy")]
    assert products[0] <= 1.01 * products[1], products
    # Groups that another objective's plan proposes count one by one: of C1 and S2 as one tile, which a plan by hand fuses.
    plan = os.path.join(folder, "hand.yaml")
    with open(plan, "w", encoding="ascii") as stream:
        stream.write("groups:\n  - {layers: [C1, S2], tile_h: 14, tile_w: 14, halo: recompute}\n")
    energies = []
    for words in (["--schedule", "auto"], ["--plan", plan]):
        subprocess.run([CNNVP, "run", os.path.join(NETWORKS, "lenet5.onnx"), "--timing-only", "-q", "--stats", stats,
                        "--objective", "energy", *LPDDR4, *words], check=True)
        with open(stats, encoding="utf-8") as stream:
            energies.append(json.load(stream)["energy"]["total_pj"])
    assert energies[0] <= energies[1], energies
    # Larger buffers are never worse by more than a hundredth: large blocks of channels that just fit hide no better tiles.
    before = None
    for size in range(7, 11):
        words = [word for buffer in ("input", "weight", "output") for word in ("-s", f"{buffer}_buffer.size={size}KiB")]
        subprocess.run([CNNVP, "run", os.path.join(NETWORKS, "vgg16_cifar.onnx"), "--timing-only", "-q", "--stats", stats, *words], check=True)
        with open(stats, encoding="utf-8") as stream:
            time = json.load(stream)["total"]["time_ps"]
        assert before is None or time <= 1.01 * before, (size, time, before)
        before = time
