#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_vgg16.py CNNVP SCRIPTS DATA CURVE FOLDER: VGG16 on CIFAR-10, four images a step, 50 steps over 40 images: the loss falls and
follows CURVE, what PyTorch computed in binary32 from the same weights, images and formulas (scripts/make_vgg16_curve.py).
Exit status 77 where DATA/cifar10 is missing."""
import csv
import os
import subprocess
import sys

STEPS, TENTH = 50, 10


def losses(path):
    with open(path, encoding="ascii") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def tenths(values):
    return [sum(values[i:i + TENTH]) / TENTH for i in range(0, STEPS, TENTH)]


def main():
    cnnvp, scripts, data, curve, folder = sys.argv[1:]
    images = os.path.join(data, "cifar10", "data_batch_1.bin")
    if not os.path.exists(images):
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    log = os.path.join(folder, "log.csv")
    subprocess.run([cnnvp, "train", os.path.join(scripts, "networks", "vgg16_cifar.onnx"), "--dataset", "cifar10:" + images,
                    "--limit", "40", "--cpu", "host", "--batch", "4", "--epochs", "5", "--lr", "0.001", "--seed", "1", "--log",
                    log], check=True)
    have, want = tenths(losses(log)), tenths(losses(curve))
    print("mean loss of ten steps each:", *(f"{value:.3f}" for value in have))
    print("in binary32:                ", *(f"{value:.3f}" for value in want))
    assert have[-1] < 0.85 * have[0], have
    for a, b in zip(have, want):
        assert abs(a - b) < 0.15 * b, (have, want)


if __name__ == "__main__":
    main()
