#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""torch_gradients.py TRAIN_DUMP: compares loss and gradients of the training reference in binary64 with PyTorch's
autograd, for both kinds of batch norm. Exit status 77 if python3-torch is missing."""
import math
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: python3-torch is missing")
    sys.exit(77)

SIDE = 8


def read(program, norm):
    text = subprocess.run([program, norm], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {words[0]: torch.tensor([float(word) for word in words[1:]], dtype=torch.float64)
            for words in map(str.split, text.splitlines())}


def normalise(x, gamma, beta, epsilon, by_range):
    """Batch norm by its definition. The derivative of the range goes to the first maximum and minimum."""
    channels = x.transpose(0, 1).reshape(x.shape[1], -1)
    count = channels.shape[1]
    mean = channels.mean(1)
    if by_range:
        spread = channels.max(1)[0] - channels.min(1)[0]
        sigma = 0.54 / math.sqrt(2 * math.log(count)) * spread + epsilon
    else:
        sigma = torch.sqrt(((channels - mean[:, None]) ** 2).mean(1) + epsilon)
    shape = (1, -1, 1, 1)
    return gamma.view(shape) * (x - mean.view(shape)) / sigma.view(shape) + beta.view(shape)


def loss_of(dump, leaves, by_range):
    count = sum(name.startswith("layer") for name in dump)
    x = dump["images"].view(len(dump["labels"]), -1, SIDE, SIDE) / 255
    for number in range(count):
        connected, inputs, outputs, side, pad, norm, relu, pool = map(int, dump[f"layer{number}"][:8])
        epsilon = float(dump[f"layer{number}"][8])
        weight = leaves[f"weight{number}"]
        bias = leaves[f"bias{number}"]
        if connected:
            x = torch.nn.functional.linear(x.flatten(1), weight.view(outputs, inputs), bias)
        else:
            x = torch.nn.functional.conv2d(x, weight.view(outputs, inputs, side, side), bias, padding=pad)
        if norm:
            x = normalise(x, leaves[f"gamma{number}"], leaves[f"beta{number}"], epsilon, by_range)
        if relu:
            x = torch.relu(x)
        if pool:
            x = torch.nn.functional.max_pool2d(x, 2)
    return torch.nn.functional.cross_entropy(x, dump["labels"].long())


def check(program, norm):
    dump = read(program, norm)
    leaves = {name: dump[name].clone().requires_grad_() for name in dump
              if name.startswith(("weight", "bias", "gamma", "beta"))}
    loss = loss_of(dump, leaves, norm == "range")
    loss.backward()
    assert abs(loss.item() - dump["loss"].item()) < 1e-12, (loss.item(), dump["loss"].item())
    checked = 0
    for name, leaf in leaves.items():
        if "d" + name not in dump:
            continue
        distance = (leaf.grad - dump["d" + name]).abs().max().item()
        assert distance < 1e-12 * max(1, leaf.grad.abs().max().item()), (norm, name, distance)
        checked += 1
    assert checked == 5 + 3 + 2 * 2, checked


if __name__ == "__main__":
    torch.set_num_threads(1)
    for kind in ("range", "standard"):
        check(sys.argv[1], kind)
