#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_trained.py CNNVP NETWORKS IMAGES: the accuracy of trained networks. NETWORKS has small networks for MNIST
(trained on 8000 of its test images) and CIFAR-10 (ResNet-8, and one with inverted residuals, trained on 5000
images), as exported by PyTorch 2.11, and as quantised by onnxruntime 1.30 (symmetric, weights per channel). IMAGES
is a folder with mnist/ and cifar10/; exit status 77 without it."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

import numpy

CNNVP, NETWORKS, IMAGES = sys.argv[1:]
BYTES = ["-p", "systolic"]
# Maps on chip halve the simulation time, and words do not depend on it (zoo/*/platform).
ON_CHIP = ["--on-chip", *(word for name in ("input", "weight", "output") for word in ("-s", f"{name}_buffer.size=1MiB"))]


def cifar(name):
    data = numpy.fromfile(os.path.join(IMAGES, "cifar10", name + ".bin"), numpy.uint8).reshape(-1, 3073)
    return data[:, 1:].reshape(-1, 3, 32, 32).astype(numpy.float32) / 255, data[:, 0].astype(numpy.int64)


def mnist():
    with gzip.open(os.path.join(IMAGES, "mnist", "t10k-images-idx3-ubyte.gz")) as file:
        images = numpy.frombuffer(file.read(), numpy.uint8)[16:].reshape(-1, 1, 28, 28).astype(numpy.float32) / 255
    with gzip.open(os.path.join(IMAGES, "mnist", "t10k-labels-idx1-ubyte.gz")) as file:
        return images, numpy.frombuffer(file.read(), numpy.uint8)[8:].astype(numpy.int64)


for missing in (os.path.join(IMAGES, *name) for name in (("cifar10", "test_batch.bin"), ("mnist", "t10k-images-idx3-ubyte.gz"))):
    if not os.path.exists(missing):
        print(f"skipped: {missing} is missing (CNNVP_IMAGES)")
        sys.exit(77)
digits, numbers = mnist()
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    numpy.save("known.npy", digits[:100])
    numpy.save("new.npy", digits[8000:])
    numpy.save("classes.npy", numbers[8000:])
    for network, points in (("mnist", 0.3), ("resnet8", 1.0), ("mobile", 1.0)):
        if network == "resnet8":
            pictures, classes = cifar("test_batch")
            numpy.save("known.npy", cifar("data_batch_1")[0][:100])
            numpy.save("new.npy", pictures)
            numpy.save("classes.npy", classes)
        exact = None
        for file, options in ((network, []), (network, BYTES), (network + "_int8", BYTES)):
            done = subprocess.run([CNNVP, "run", os.path.join(NETWORKS, file + ".onnx"), "-i", "new.npy", "--labels", "classes.npy",
                                   "-c", "known.npy", "-q", *ON_CHIP, *options], capture_output=True, text=True, check=True)
            found, floats = (float(part) for part in re.findall(r"([\d.]+) %", done.stdout))
            exact = floats if exact is None else exact
            print(f"{file} {' '.join(options)}: {found} %, float {exact} %")
            assert found >= exact - points, done
