#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py CNNVP NETWORKS [--record]: the statistics of some runs, number by number, beside those that this folder has of
them: a line for each that has changed, and status 1. NETWORKS: the folder of torchvision's graphs. A commit that changes
numbers records them, and says which and why."""
import json
import os
import subprocess
import sys
import tempfile

import onnx

FOLDER = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(FOLDER))
IMAGE = 224

RUNS = {
    "lenet5_nfu": "run lenet5 --timing-only -n 2",
    "lenet5_window": "run lenet5 -p window --timing-only -n 2",
    "lenet5_hbm2": "run lenet5 --timing-only -s dram.preset=hbm2",
    "vgg16_cifar_nfu": "run vgg16_cifar --timing-only",
    "vgg16_cifar_window": "run vgg16_cifar -p window --timing-only",
    "vgg16_cifar_systolic_os": "run vgg16_cifar -p systolic -s pe_array.dataflow=os --timing-only",
    # Trains of reads that a burst enters before their first one.
    "vgg16_cifar_ranks": "run vgg16_cifar -p systolic -s dram.ranks=4 -s dram.queue=8 -s dram.t_ccd_l=5 -s cpu.clock_mhz=3000 --timing-only",
    "lenet5_int8": "run lenet5 -s pe_array.precision=int8 --timing-only -n 2",
    "mobilenet_v2_systolic_fx16": "run {networks}/mobilenet_v2.onnx -p systolic -s pe_array.precision=fx16 --timing-only",
    "mobilenet_v2_systolic": "run {networks}/mobilenet_v2.onnx -p systolic --timing-only",
    "resnet18_nfu": "run {networks}/resnet18.onnx --timing-only",
    "resnet18_unified": "run {networks}/resnet18.onnx -p unified --timing-only",
    "resnet50_nfu": "run {networks}/resnet50.onnx --timing-only",
    # Functions by tables on the vector unit.
    "efficientnet_b0_systolic": "run {networks}/efficientnet_b0.onnx -p systolic --timing-only",
    "mobilenet_v2_nfu": "run {networks}/mobilenet_v2.onnx --timing-only",
    "digits_trainer": "train digits --dataset idx:{digits}/train_images.idx,{digits}/train_labels.idx --limit 32 --batch 32",
}
# Members that are no result of the simulation, or that say what others say.
LEFT_OUT = {"schema", "cnnvp", "build", "command", "wall_seconds", "tensors", "network", "links", "memory.overfetch",
            "memory.over_time", "memory.latency"}
OF_A_LAYER = {"cycles", "dram_burst_bytes", "energy_pj", "bound_by"}


def numbers(value, path=""):
    """All leaves but zeros, by their paths."""
    if isinstance(value, dict):
        for name, member in value.items():
            where = f"{path}.{name}" if path else name
            if where not in LEFT_OUT and (not path.startswith("layers[") or name in OF_A_LAYER):
                yield from numbers(member, where)
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from numbers(member, f"{path}[{member['name'] if isinstance(member, dict) and 'name' in member else i}]")
    elif value != 0:
        yield path, json.dumps(value)


def resize(source, target):
    """The network for images of the usual size; those of the tests are as small as it takes them."""
    network = onnx.load(source, load_external_data=False)
    for dim in network.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = IMAGE
    del network.graph.value_info[:]
    with open(target, "wb") as stream:
        stream.write(network.SerializeToString())


def simulate(cnnvp, words, folder, presets):
    """The numbers of a run. Parameters stand with the first one of their preset."""
    stats = os.path.join(folder, "stats.json")
    done = subprocess.run([cnnvp, *words, "-q", "--stats", stats], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    with open(stats, encoding="utf-8") as stream:
        result = json.load(stream)
    if result["platform"]["platform"] in presets:
        del result["platform"]
    else:
        presets.add(result["platform"]["platform"])
    return dict(numbers(result))


def recorded(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        return dict(line.rstrip("\n").split("\t") for line in stream)


def change(before, now):
    try:
        return f" ({(float(now) / float(before) - 1) * 100:+.2f} %)"
    except (TypeError, ValueError, ZeroDivisionError):
        return ""


def compare(name, before, now):
    changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    for path in changed:
        was, is_now = before.get(path, "-"), now.get(path, "-")
        print(f"{name} {path}: {was} -> {is_now}{change(was, is_now)}")
    return len(changed)


def main(arguments):
    record = "--record" in arguments
    cnnvp, source = [os.path.realpath(word) for word in arguments if word != "--record"]
    changed, presets = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(SOURCE, "scripts/make_digits.py"), os.path.join(folder, "digits")], check=True)
        for words in RUNS.values():
            for word in words.split():
                if word.startswith("{networks}/"):
                    file = word.split("/")[1]
                    resize(os.path.join(source, file), os.path.join(folder, file))
        for name, words in RUNS.items():
            path = os.path.join(FOLDER, f"{name}.txt")
            words = words.format(networks=folder, digits=os.path.join(folder, "digits")).split()
            now = simulate(cnnvp, words, folder, presets)
            if record:
                with open(path, "w", encoding="utf-8") as stream:
                    stream.writelines(f"{key}\t{value}\n" for key, value in now.items())
            else:
                changed += compare(name, recorded(path), now)
    if changed:
        sys.exit(f"{changed} numbers have changed; if that is what the change is for: golden.py CNNVP NETWORKS --record")


main(sys.argv[1:])
