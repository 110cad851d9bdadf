#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes scripts/networks/mixed.onnx and tests/data/mixed_{input,output}.npy again (python3-torch, python3-onnx).

A small test network with operators that LeNet-5 lacks: convolution with stride and padding, batch normalisation,
average pooling, sigmoid, tanh, a residual addition, softmax. Weights are seeded random numbers. The batch
normalisations use the statistics of random inputs.
"""
import argparse
import os

import torch
from torch import nn

import onnx_export

SEED = 17
NODES = ["conv1", "norm1", "relu1", "conv2", "norm2", "add", "tanh", "pool", "conv3", "sigmoid", "flatten", "fc1",
         "relu2", "fc2", "softmax"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Mixed(nn.Module):
    """3x16x16 -> conv 8@3x3 stride 2 -> residual block -> average pool 2x2 -> conv 12@1x1 -> fc 24 -> fc 7."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        # same result without padding; True would export a Pad node without effect
        self.pool = nn.AvgPool2d(2, count_include_pad=False)
        self.conv3 = nn.Conv2d(8, 12, 1)
        self.fc1 = nn.Linear(192, 24)
        self.fc2 = nn.Linear(24, 7)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv1(x)))
        x = torch.tanh(self.norm2(self.conv2(x)) + x)
        x = torch.sigmoid(self.conv3(self.pool(x)))
        x = torch.relu(self.fc1(torch.flatten(x, 1)))
        return torch.softmax(self.fc2(x), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    onnx_export.deterministic(SEED)
    model = Mixed()
    with torch.no_grad():
        for layer in (model.conv3, model.fc1, model.fc2):
            layer.weight.mul_(3)  # makes the output far from uniform
        for norm in (model.norm1, model.norm2):
            norm.weight.uniform_(0.5, 1.5)
            norm.bias.uniform_(-0.5, 0.5)
        model.train()
        for _ in range(100):
            model(torch.randn(16, 3, 16, 16))
        model.eval()
        image = torch.randn(1, 3, 16, 16)
        output = model(image)
    network = onnx_export.export(model, image, NODES, "make_mixed.py")
    onnx_export.save_network(os.path.join(ROOT, "scripts", "networks", "mixed.onnx"), network)
    onnx_export.save_array(os.path.join(ROOT, "tests", "data", "mixed_input.npy"), image.numpy())
    onnx_export.save_array(os.path.join(ROOT, "tests", "data", "mixed_output.npy"), output.numpy())
    print("output:", output.numpy().round(4).tolist())


if __name__ == "__main__":
    main()
