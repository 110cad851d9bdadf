#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_vgg16.py CNNVP SCRIPTS DATA CURVE FOLDER STEPS: VGG16 on CIFAR-10, four images a step, ten steps an epoch of 40 images: the loss
falls and follows CURVE, what PyTorch computed in binary32 from the same weights, images and formulas (scripts/make_vgg16_curve.py).
Exit status 77 where DATA/cifar10 is missing."""
import csv
import json
import os
import subprocess
import sys

EPOCH = 10
# Compute cycles of all convolutions in one step of four images, by the closed forms of S001's mapping.
CYCLES = {"forward": 3262464, "backward": 3244032, "gradient": 4 * 817152}


def losses(path):
    with open(path, encoding="ascii") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def epochs(values, steps):
    return [sum(values[i:i + EPOCH]) / EPOCH for i in range(0, steps, EPOCH)]


def check_cycles(layers, steps):
    for phase, cycles in CYCLES.items():
        have = sum(layer["compute_cycles"] for layer in layers if layer["op"] == "conv" and layer["phase"] == phase)
        assert have == steps * cycles, (phase, have)
    for layer in layers:
        assert layer["cycles"] == layer["compute_cycles"] + sum(layer["stall_cycles"].values()), layer


def main():
    cnnvp, scripts, data, curve, folder, number = sys.argv[1:]
    steps = int(number)
    images = os.path.join(data, "cifar10", "data_batch_1.bin")
    if not os.path.exists(images):
        print(f"skipped: {images} is missing (CNNVP_IMAGES)")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    log, stats = os.path.join(folder, "log.csv"), os.path.join(folder, "stats.json")
    subprocess.run([cnnvp, "train", os.path.join(scripts, "networks", "vgg16_cifar.onnx"), "--dataset", "cifar10:" + images,
                    "--limit", "40", "--batch", "4", "--epochs", str(steps // EPOCH), "--lr", "0.001", "--seed", "1", "--log",
                    log, "--stats", stats], check=True)
    check_cycles(json.load(open(stats, encoding="utf-8"))["layers"], steps)
    have, want = epochs(losses(log), steps), epochs(losses(curve), steps)
    print("mean loss of ten steps each:", *(f"{value:.3f}" for value in have))
    print("in binary32:                ", *(f"{value:.3f}" for value in want))
    assert steps == EPOCH or have[-1] < 0.85 * have[0], have
    for a, b in zip(have, want):
        assert abs(a - b) < 0.2 * b, (have, want)


if __name__ == "__main__":
    main()
