#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes scripts/networks/lenet5.onnx and tests/data/lenet5_{input,output}.npy again (python3-torch, python3-onnx).

LeNet-5 as in ShiDianNao's table of networks (C1 S2 C3 S4 F5 F6 F7), dense, with ReLU and maximum pooling, for 1x32x32
images; the output has no softmax. It is trained only on the training split of make_digits.py. The test split is used
once, at the end.
"""
import argparse
import collections
import os

import torch
from torch import nn
from torch.nn import functional

import make_digits
import onnx_export

SEED = 5
EPOCHS = 60
BATCH = 32
REQUIRED_ACCURACY = 0.98
NODES = ["C1", "C1_relu", "S2", "C3", "C3_relu", "S4", "flatten", "F5", "F5_relu", "F6", "F6_relu", "F7"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def lenet5():
    return nn.Sequential(collections.OrderedDict([
        ("C1", nn.Conv2d(1, 6, 5)), ("C1_relu", nn.ReLU()), ("S2", nn.MaxPool2d(2)),
        ("C3", nn.Conv2d(6, 16, 5)), ("C3_relu", nn.ReLU()), ("S4", nn.MaxPool2d(2)),
        ("flatten", nn.Flatten()),
        ("F5", nn.Linear(400, 120)), ("F5_relu", nn.ReLU()),
        ("F6", nn.Linear(120, 84)), ("F6_relu", nn.ReLU()),
        ("F7", nn.Linear(84, 10))]))


def augment(images):
    """Rotates each image by up to 10 degrees, scales it by up to 10 %, and moves it by up to 2 pixels."""
    count = len(images)
    angle = (torch.rand(count) * 2 - 1) * 0.175
    scale = 1 + (torch.rand(count) * 2 - 1) * 0.1
    move = (torch.rand(count, 2) * 2 - 1) * (2 / 16)
    rows = torch.stack([torch.cos(angle), -torch.sin(angle), torch.sin(angle), torch.cos(angle)], 1).view(count, 2, 2)
    theta = torch.cat([rows * scale.view(count, 1, 1), move.view(count, 2, 1)], 2)
    return functional.grid_sample(images, functional.affine_grid(theta, images.shape, align_corners=False),
                                  align_corners=False)


def train(model, images, labels):
    steps = EPOCHS * ((len(images) + BATCH - 1) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    model.train()
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images)).split(BATCH):
            loss = functional.cross_entropy(model(augment(images[chosen])), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).double().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    onnx_export.deterministic(SEED)
    data = {name: (torch.from_numpy(images), torch.from_numpy(labels))
            for name, (images, labels) in make_digits.split().items()}
    model = lenet5()
    train(model, *data["train"])
    test_accuracy = accuracy(model, *data["test"])
    print(f"accuracy: training {accuracy(model, *data['train']):.4f}, test {test_accuracy:.4f}")
    if test_accuracy < REQUIRED_ACCURACY:
        raise SystemExit(f"make_lenet5.py: test accuracy below {REQUIRED_ACCURACY}: nothing written")
    images = data["test"][0][:4]
    with torch.no_grad():
        outputs = model(images)
    network = onnx_export.export(model, images, NODES, "make_lenet5.py", batch_axis="N")
    onnx_export.save_network(os.path.join(ROOT, "scripts", "networks", "lenet5.onnx"), network)
    onnx_export.save_array(os.path.join(ROOT, "tests", "data", "lenet5_input.npy"), images.numpy())
    onnx_export.save_array(os.path.join(ROOT, "tests", "data", "lenet5_output.npy"), outputs.numpy())


if __name__ == "__main__":
    main()
