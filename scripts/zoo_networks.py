# SPDX-License-Identifier: Apache-2.0
"""Small versions of well-known networks, exported by torch.onnx: cases of make_zoo.py."""
import io

import onnx
import torch
from torch import nn
from torch.nn import functional as F

IMAGES = 2


class Alex(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 5, stride=2, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(12, 20, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, 2), nn.Conv2d(20, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Sequential(nn.Dropout(), nn.Linear(24, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 10))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Vgg(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (8, 8, 0, 16, 16, 0):
            if width == 0:
                layers += [nn.MaxPool2d(2)]
                continue
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(16 * 6 * 6, 10)

    def forward(self, x):
        return torch.softmax(self.classifier(self.features(x).view(x.size(0), -1)), 1)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
                                  nn.ReLU(),
                                  nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if stride == 1 else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                                                    nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, expand, excite=False, activation=nn.ReLU6):
        super().__init__()
        hidden = inputs * expand
        self.same = stride == 1 and inputs == outputs
        self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), activation())
        self.depth = nn.Sequential(nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
                                   nn.BatchNorm2d(hidden),
                                   activation())
        self.excite = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, 4, 1), nn.ReLU(),
                                    nn.Conv2d(4, hidden, 1),
                                    nn.Hardsigmoid()) if excite else None
        self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.depth(self.expand(x))
        if self.excite is not None:
            y = y * self.excite(y)
        y = self.project(y)
        return x + y if self.same else y


class Fire(nn.Module):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeeze, 1)
        self.one = nn.Conv2d(squeeze, expand, 1)
        self.three = nn.Conv2d(squeeze, expand, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.squeeze(x))
        return torch.cat((torch.relu(self.one(x)), torch.relu(self.three(x))), 1)


class Inception(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.one = nn.Conv2d(inputs, 6, 1)
        self.three = nn.Sequential(nn.Conv2d(inputs, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1))
        self.wide = nn.Sequential(nn.Conv2d(inputs, 3, 1), nn.ReLU(), nn.Conv2d(3, 4, (1, 7), padding=(0, 3)),
                                  nn.ReLU(),
                                  nn.Conv2d(4, 5, (7, 1), padding=(3, 0)))
        self.pool = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), nn.Conv2d(inputs, 5, 1))

    def forward(self, x):
        return torch.relu(torch.cat((self.one(x), self.three(x), self.wide(x), self.pool(x)), 1))


class Shuffled(nn.Module):
    """DenseNet's growth of channels, with activations that use tables."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(8 + 6 * i), nn.SiLU(),
                                                  nn.Conv2d(8 + 6 * i, 6, 3, padding=1))
                                    for i in range(3))
        self.head = nn.Linear(26, 5)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = torch.cat((x, block(x)), 1)
        return self.head(x.mean((2, 3)))


class Smooth(nn.Module):
    """GELU and Mish, which exporters write as several nodes, and distances to a constant."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8),
                                     nn.Conv2d(8, 6, 1)])
        self.centre = nn.Parameter(torch.randn(1, 6, 1, 1))

    def forward(self, x):
        x = F.mish(self.layers[1](F.gelu(self.layers[0](x))))
        return torch.abs(self.layers[2](x) - self.centre)


class Heads(nn.Module):
    """A detector's feature pyramid: two result maps, a feature map that is also used further, scores before and after
    softmax, a part of the input, and results made of parts."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.1), nn.MaxPool2d(2))
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.LeakyReLU(0.1), nn.MaxPool2d(2))
        self.side = nn.Conv2d(16, 8, 1)
        self.heads = nn.ModuleList([nn.Conv2d(16, 12, 1), nn.Conv2d(10, 12, 3, padding=1)])
        self.classes = nn.Linear(16, 5)

    def forward(self, x):
        fine = self.stem(x)
        deep = self.deep(fine)
        both = torch.cat((fine, F.pixel_shuffle(self.side(deep), 2)), 1)
        scores = self.classes(deep.mean((2, 3)))
        return self.heads[0](deep), self.heads[1](both), deep, both, torch.softmax(scores, 1), scores, x[:, 1:]


def export(zoo, name, model, shape, opset=13, fixed=False, count=IMAGES):
    """Exports a model with PyTorch's random weights. Batch normalisations measure random images first."""
    with torch.no_grad():
        for norm in model.modules():
            if isinstance(norm, nn.BatchNorm2d):
                norm.weight.uniform_(0.5, 1.5)
                norm.bias.uniform_(-0.3, 0.3)
        model.train()
        for _ in range(30):
            model(torch.randn(8, *shape))
        model.eval()
        images = torch.from_numpy(zoo.normal(count, *shape))
        outputs = model(images)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    names = ["output", *(f"output{i}" for i in range(1, len(outputs)))]
    data = io.BytesIO()
    torch.onnx.export(model, images, data, opset_version=opset, input_names=["input"], output_names=names,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      dynamic_axes=None if fixed else {key: {0: "N"} for key in ("input", *names)})
    network = onnx.load_from_string(data.getvalue())
    network.producer_version = ""
    del network.graph.value_info[:]
    for node in network.graph.node:
        node.doc_string = ""
    zoo.save(name, network, images.numpy(), *(output.numpy() for output in outputs))


def networks(zoo):
    export(zoo, "net_alexnet", Alex(), (3, 40, 40), opset=9)
    export(zoo, "net_vgg", Vgg(), (3, 24, 24), opset=11)
    export(zoo, "net_resnet", nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        Residual(8, 8, 1),
        Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), (3, 24, 24))
    export(zoo, "net_mobilenetv2", nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), Inverted(8, 8, 1, 3),
        Inverted(8, 12, 2, 3),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(12, 10)), (3, 32, 32))
    export(zoo, "net_mobilenetv3", nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(),
        Inverted(8, 8, 1, 2, True, nn.Hardswish), Inverted(8, 12, 2, 3, True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(12, 10)), (3, 24, 24), opset=14)
    export(zoo, "net_squeezenet", nn.Sequential(
        nn.Conv2d(3, 12, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True), Fire(12, 4, 8), Fire(16, 6, 8),
        nn.MaxPool2d(3, 2, ceil_mode=True), nn.Conv2d(16, 10, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        (3, 31, 31), opset=10)
    export(zoo, "net_inception", nn.Sequential(
        nn.Conv2d(3, 10, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), Inception(10), Inception(24),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(24, 10)), (3, 20, 20), opset=12)
    export(zoo, "net_densenet", Shuffled(), (3, 12, 12), opset=17)
    export(zoo, "net_instance", nn.Sequential(
        nn.ZeroPad2d(2), nn.Conv2d(3, 6, 5), nn.InstanceNorm2d(6, affine=True), nn.PReLU(6),
        nn.Conv2d(6, 3, 3, padding=1), nn.Tanh()), (3, 16, 16), opset=11, fixed=True)


def several_outputs(zoo):
    export(zoo, "net_heads", Heads(), (3, 16, 12))
