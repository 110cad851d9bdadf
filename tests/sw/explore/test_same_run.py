#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A point of a sweep is what its command says: statistics of points beside those of run, train and exec, for options
alone and together. What the command refuses for its words alone, a sweep refuses before anything runs."""
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

import numpy

cnnvp, source, zoo = os.environ["CNNVP"], os.environ["SOURCE"], os.environ["ZOO"]
networks = source + "/scripts/networks/"
lenet, mixed, digits = networks + "lenet5.onnx", networks + "mixed.onnx", networks + "digits.onnx"
failures = []


def call(*words):
    return subprocess.run([cnnvp, *words], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)


def write(file, data):
    with open(file, "wb" if isinstance(data, bytes) else "w") as stream:
        stream.write(data)


def prepare():
    with open(zoo + "/networks/net_mobilenetv3.onnx", "rb") as stream:
        network = stream.read()
    assert network.count(b"training_mode\x18\0") == 7
    write("norm.onnx", network.replace(b"training_mode\x18\0", b"training_mode\x18\1"))
    chance = numpy.random.default_rng(1)
    numpy.save("two.npy", chance.standard_normal((2, 1, 28, 28)).astype(numpy.float32))
    images, labels = chance.integers(0, 200, (40, 8, 8)).astype(numpy.uint8), (numpy.arange(40) % 10).astype(numpy.uint8)
    for name, array in ("images", images), ("labels", labels):
        write(name, bytes([0, 0, 8, array.ndim]) + struct.pack(">%dI" % array.ndim, *array.shape) + array.tobytes())
    write("program.s", "halt\n")
    assert call("asm", "program.s", "-o", "program.bin").returncode == 0
    assert call("run", mixed, "--schedule=fused", "--timing-only", "-q", "--plan-out=plan.yaml").returncode == 0


def plan_of(key, value):
    write(f"{value}.yaml", f"groups: [{{{key}: {value}}}]\n")
    return os.path.abspath(f"{value}.yaml")


def words_of(options):
    words = []
    for name, value in options.items():
        word = "--" + name.replace("_", "-")
        if value is not False:
            words.append(word if value is True else f"{word}={value}")
    return words


def spec_of(command, work, options, platform):
    spec = {"command": command, "program" if command == "exec" else "network": work, "options": options}
    if platform:
        spec["platform"] = platform
    write("spec.yaml", json.dumps(spec))


def statistics(text):
    root = json.loads(text)
    root.pop("wall_seconds")
    return root


def same(command, work, platform=None, **options):
    """The statistics of the point, once more those of the command."""
    spec_of(command, work, options, platform)
    for left in "points.sqlite", "one.json":
        if os.path.exists(left):
            os.remove(left)
    swept = call("sweep", "spec.yaml", "-o", "points.sqlite", "-q")
    ran = call(command, work, *(["-p", platform] if platform else []), *words_of(options), "-q", "--stats=one.json")
    what = f"{command} {os.path.basename(work)} {' '.join(words_of(options))}"
    if swept.returncode or ran.returncode:
        failures.append(f"{what}: {swept.stderr} / {ran.stderr}")
        return None
    with sqlite3.connect("points.sqlite") as database:
        point = statistics(database.execute("select stats from points").fetchone()[0])
    with open("one.json", encoding="utf-8") as stream:
        one = statistics(stream.read())
    if point != one:
        wrong = [name for name in one if point.get(name) != one[name]]
        failures.append(f"{what}: {wrong} differ: {point['total']['time_ps']} ps, {one['total']['time_ps']} by itself")
    return one


def refused(message, command, work, **options):
    spec_of(command, work, options, None)
    swept = call("sweep", "spec.yaml", "-o", "none.sqlite")
    ran = call(command, work, *words_of(options))
    what = f"{command} {' '.join(words_of(options))}"
    if swept.returncode != 2 or message not in swept.stderr or os.path.exists("none.sqlite"):
        failures.append(f"{what}: a sweep gives {swept.returncode}, {swept.stderr}")
    if ran.returncode != 2 or message not in ran.stderr:
        failures.append(f"{what}: gives {ran.returncode}, {ran.stderr}")


def runs():
    seen = {}
    seen["one"] = same("run", "norm.onnx", timing_only=True)
    # all images together, since a batch norm takes its statistics of them
    seen["four"] = same("run", "norm.onnx", timing_only=True, images=4)
    seen["each"] = same("run", "norm.onnx", timing_only=True, images=4, batch=1)
    if None not in seen.values() and seen["four"]["total"]["time_ps"] == seen["each"]["total"]["time_ps"]:
        failures.append("batch=1 changes nothing, so this test sees nothing")
    same("run", "norm.onnx", images=3)
    same("run", lenet)
    same("run", lenet, images=3, seed=5)
    same("run", lenet, images=3, batch=2)
    same("run", lenet, input=os.path.abspath("two.npy"), images=1)
    same("run", lenet, input=os.path.abspath("two.npy"), calibration=os.path.abspath("two.npy"))
    for rounding in "truncate", "nearest", "stochastic":
        same("run", lenet, rounding=rounding)
    same("run", lenet, on_chip=True, timing_only=True)
    same("run", lenet, timing_only=True, tune=True, objective="energy")
    for platform in "window", "trainer":
        same("run", lenet, platform, timing_only=True)
    same("run", mixed, timing_only=True, schedule="depth-first")
    same("run", mixed, timing_only=True, schedule="depth-first", block=4, issue="guest", plan=plan_of("order", "table"))
    same("run", mixed, timing_only=True, schedule="fused")
    for halo in "recompute", "row", "full":
        same("run", mixed, timing_only=True, schedule="fused", plan=plan_of("halo", halo))
    for objective in "time", "energy", "edp", "traffic":
        same("run", mixed, timing_only=True, schedule="auto", objective=objective)
    same("run", mixed, timing_only=True, plan=os.path.abspath("plan.yaml"))
    same("run", lenet, timing_only=True, max_time="0.0023s")


def trainings():
    data = {"dataset": "idx:" + ",".join(os.path.abspath(name) for name in ("images", "labels"))}
    same("train", digits, timing_only=True, **data)
    same("train", digits, steps=2, batch=16, **data)
    same("train", digits, steps=2, batch=16, rounding="floor", bn="standard", exponents="channel",
         weight_bits=8, order="channel", init="random", seed=3, lr=0.1, momentum=0.5, **data)
    same("train", digits, steps=2, batch=16, rounding="nearest", errors="plain", limit=20, epochs=2, **data)


def refusals():
    refused("\"up\" is not one of truncate|nearest|stochastic|floor", "run", lenet, rounding="up")
    refused("--block changes nothing without --schedule depth-first", "run", lenet, block=4)
    refused("is out of range: 1 to 65536", "run", lenet, batch=0)
    refused("--on-chip keeps every map on chip whole", "run", lenet, on_chip=True, schedule="fused")
    refused("--batch: --on-chip loads weights once", "run", lenet, on_chip=True, batch=2)
    refused("--dataset is missing", "train", digits, epochs=2)
    refused("\"0\" is not a number above 0 and below 1e+06", "train", digits, dataset="idx:images,labels", lr=0)
    refused("\"1\" is not a number from 0 and below 1", "train", digits, dataset="idx:images,labels", momentum=1)
    refused("is out of range: 1 to 65535", "train", digits, dataset="idx:images,labels", batch=65536)
    refused("\"1.5\" is not a time above 0", "run", lenet, max_time="1.5")
    # where two of the sweep's options go together in one of its points, so do all
    write("spec.yaml", json.dumps({"network": lenet, "options": {
        "timing_only": True, "schedule": ["fused", "layer"], "on_chip": [True, False]}}))
    swept = call("sweep", "spec.yaml", "-o", "together.sqlite")
    if swept.returncode != 1 or "4 points: 3 ok, 1 failed" not in swept.stdout:
        failures.append(f"options together: {swept.stdout}{swept.stderr}")
    # where a schedule of the sweep takes note of it, the others do not mind
    write("spec.yaml", json.dumps({"network": mixed, "options": {
        "timing_only": True, "schedule": ["layer", "depth-first"], "block": [4, 8]}}))
    swept = call("sweep", "spec.yaml", "-o", "schedules.sqlite")
    if swept.returncode or "4 points: 4 ok" not in swept.stdout:
        failures.append(f"schedules beside blocks: {swept.stdout}{swept.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    prepare()
    runs()
    trainings()
    same("exec", "program.bin", seed=7)
    refusals()
    os.chdir("/")
for failure in failures:
    print("FAILED:", failure, file=sys.stderr)
sys.exit(1 if failures else 0)
