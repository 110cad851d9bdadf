#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_vgg16_curve.py CNNVP CIFAR10 OUT.csv: makes tests/data/vgg16_curve.csv again (python3-torch, python3-onnx). It
is the loss of 50 steps of VGG16 with range batch norm over the first 40 images of a CIFAR-10 file, four per step.
PyTorch computes it in binary32 with the initial weights and image order of `cnnvp train --seed 1`."""
import math
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
import torch
from onnx import numpy_helper

NETWORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks", "vgg16_cifar.onnx")
VGG16 = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool")
SEED, IMAGES, BATCH, EPOCHS, RATE, MOMENTUM = 1, 40, 4, 5, 0.001, 0.9
WORD = (1 << 64) - 1


class RangeNorm(torch.nn.Module):
    """Batch norm that derives sigma from the range of the values."""

    def __init__(self, channels):
        super().__init__()
        self.gamma = torch.nn.Parameter(torch.ones(channels))
        self.beta = torch.nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        values = x.transpose(0, 1).reshape(x.shape[1], -1)
        spread = values.max(1)[0] - values.min(1)[0]
        sigma = 0.54 / math.sqrt(2 * math.log(values.shape[1])) * spread + 1e-5
        shape = (1, -1, 1, 1)
        return (self.gamma / sigma).view(shape) * (x - values.mean(1).view(shape)) + self.beta.view(shape)


def random_word(seed, index):
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def order(epoch, count):
    """The order of the images, as cnnvp_dataset_order gives it."""
    seed, images = random_word(SEED, epoch), list(range(count))
    for left in range(count, 1, -1):
        pick = ((random_word(seed, left) >> 32) * left) >> 32
        images[left - 1], images[pick] = images[pick], images[left - 1]
    return images


def first_weights(cnnvp, images):
    """The initial weights, from a training step whose rate is too small to change any weight."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "first.onnx")
        subprocess.run([cnnvp, "train", NETWORK, "--dataset", "cifar10:" + images, "--limit", "4", "--batch", "4", "--lr",
                        "1e-30", "--momentum", "0", "--seed", str(SEED), "-q", "-o", path], check=True)
        return {tensor.name: torch.tensor(numpy_helper.to_array(tensor)) for tensor in onnx.load(path).graph.initializer}


def network(weights):
    layers, channels, number = [], 3, 0
    for outputs in VGG16:
        if outputs == "pool":
            layers.append(torch.nn.MaxPool2d(2))
            continue
        number += 1
        convolution = torch.nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        convolution.weight.data = weights[f"conv{number}.weight"]
        layers += [convolution, RangeNorm(outputs), torch.nn.ReLU()]
        channels = outputs
    matrix = torch.nn.Linear(channels, 10, bias=False)
    matrix.weight.data = weights["fc.weight"]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), matrix)


def main():
    cnnvp, path, out = sys.argv[1:]
    torch.set_num_threads(1)
    records = numpy.fromfile(path, numpy.uint8).reshape(-1, 3073)[:IMAGES]
    images = torch.tensor(records[:, 1:].reshape(-1, 3, 32, 32)).float() / 255
    labels = torch.tensor(records[:, 0]).long()
    model = network(first_weights(cnnvp, path))
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    losses = []
    for epoch in range(EPOCHS):
        indexes = order(epoch, IMAGES)
        for first in range(0, IMAGES, BATCH):
            chosen = indexes[first:first + BATCH]
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    with open(out, "w", encoding="ascii") as file:
        file.write("step,loss\n" + "".join(f"{step + 1},{loss:.6f}\n" for step, loss in enumerate(losses)))


if __name__ == "__main__":
    main()
