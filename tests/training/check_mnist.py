#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_mnist.py CNNVP SCRIPTS DATA FOLDER LEARNED EPOCHS PERCENT: so many percent on MNIST. Of the 10 000 images of the test files in
DATA/mnist the first LEARNED are learned in so many epochs and the last 1000 are the test. Exit status 77 where they are missing."""
import gzip
import json
import os
import struct
import subprocess
import sys

IMAGE = 28 * 28
ALL, TESTED = 10000, 1000


def idx(path, *dimensions):
    return lambda data: write(path, bytes([0, 0, 8, len(dimensions)]) + struct.pack(f">{len(dimensions)}I", *dimensions) + data)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def main():
    cnnvp, scripts, data, folder, learned, epochs, percent = sys.argv[1:]
    names = [os.path.join(data, "mnist", name) for name in ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")]
    if not all(map(os.path.exists, names)):
        print(f"skipped: {names[0]} or {names[1]} is missing (CNNVP_IMAGES)")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    images, labels = (gzip.open(name).read()[skip:] for name, skip in zip(names, (16, 8)))
    for part, first, end in (("train", 0, int(learned)), ("test", ALL - TESTED, ALL)):
        idx(os.path.join(folder, part + "_images"), end - first, 28, 28)(images[first * IMAGE:end * IMAGE])
        idx(os.path.join(folder, part + "_labels"), end - first)(labels[first:end])
    sets = [f"idx:{folder}/{part}_images,{folder}/{part}_labels" for part in ("train", "test")]
    stats = os.path.join(folder, "stats.json")
    subprocess.run([cnnvp, "train", os.path.join(scripts, "networks", "mnist.onnx"), "--dataset", sets[0], "--eval", sets[1],
                    "--epochs", epochs, "--lr", "0.05", "--seed", "1", "--stats", stats], check=True)
    accuracy = json.load(open(stats))["values"]["training"]["eval_accuracy"]
    print(f"test accuracy {100 * accuracy:.2f} %")
    assert accuracy >= int(percent) / 100, accuracy


if __name__ == "__main__":
    main()
