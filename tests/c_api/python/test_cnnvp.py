#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of the Python package give what the command does: bytes of outputs, statistics, messages.

test_cnnvp.py COMMAND DATA-FOLDER, in a folder with mine/mine.elf
"""
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy

import cnnvp

command, data = sys.argv[1], pathlib.Path(sys.argv[2])
images = numpy.load(data / "lenet5_input.npy")


def cli(*arguments, status=0):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    return done.stderr


def same(stats, file):
    """What decides results has other bytes in a program and in a library."""
    with open(file, encoding="utf-8") as stream:
        other = json.load(stream)
    for one in (stats, other):
        for name in ("build", "wall_seconds"):
            del one[name]
    return stats == other


def same_file(one, other):
    """Byte for byte, as the page says."""
    lines = [[line for line in pathlib.Path(file).read_bytes().split(b"\n")
              if not line.startswith((b'  "build": ', b'  "wall_seconds": '))] for file in (one, other)]
    return lines[0] == lines[1]


def raises(text, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except cnnvp.Error as problem:
        assert text in str(problem), (text, str(problem))
        return str(problem)
    raise AssertionError(f"nothing is wrong with {arguments} {options}")


# run: outputs, statistics and files.
pathlib.Path("name.yaml").write_text("platform: na\u00efve\nbase: nfu\n", encoding="utf-8")
cli("run", "lenet5", "-q", "-p", "name.yaml", "-i", data / "lenet5_input.npy", "--stats", "cli.json")
cnnvp.run("lenet5", platform="name.yaml", input=images, stats="py.json")
assert same_file("py.json", "cli.json")
numpy.save("labels.npy", numpy.arange(len(images)))
for options in ({}, {"timing_only": True}, {"schedule": "auto"}, {"rounding": "stochastic", "seed": 7}, {"on_chip": True}):
    words = []
    for name, value in options.items():
        words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
    cli("run", "lenet5", "-q", "-i", data / "lenet5_input.npy", "-o", "cli.npy", "-s", "pe_array.rows=4", "-l", "labels.npy",
        "--stats", "cli.json", "--csv", "cli.csv", *words)
    result = cnnvp.run("lenet5", set={"pe_array.rows": 4}, input=images, labels=range(len(images)), output="py.npy", csv="py.csv",
                       stats="py.json", **options)
    if "timing_only" in options:
        assert result.outputs == [] and not os.path.exists("py.npy")
    else:
        assert result.outputs[0].tobytes() == numpy.load("cli.npy").tobytes() and result.outputs[0].dtype == numpy.float32
        assert pathlib.Path("py.npy").read_bytes() == pathlib.Path("cli.npy").read_bytes()
        assert result.names == ["output"] and 20 < result.sqnr[0] < 200
        os.remove("py.npy")
    assert pathlib.Path("py.csv").read_bytes() == pathlib.Path("cli.csv").read_bytes(), options
    assert json.loads(pathlib.Path("py.json").read_text()) == result.stats
    assert same_file("py.json", "cli.json") and same(result.stats, "cli.json"), options
    assert [layer["name"] for layer in result.layers] == ["C1", "S2", "C3", "S4", "F5", "F6", "F7"]

# Shares have the command's digits, and labels belong to images as there.
numpy.save("three.npy", images[:3])
right = numpy.append(cnnvp.run("lenet5", input=images[:3]).outputs[0].argmax(1), [0])
right[0] = (right[0] + 1) % 10
numpy.save("labels.npy", right)
cli("run", "lenet5", "-q", "-i", "three.npy", "-n", "3", "-l", "labels.npy", "--stats", "cli.json")
result = cnnvp.run("lenet5", input="three.npy", images=3, labels="labels.npy")
assert same(result.stats, "cli.json") and result.stats["values"]["accuracy"]["correct"] == 2
assert "4 labels for 3 images" in cli("run", "lenet5", "-q", "-i", "three.npy", "-l", "labels.npy", status=2)
raises("labels: (4,) of int64 for 3 images", cnnvp.run, "lenet5", input=images[:3], labels=right)

# Depth first, what an output is close to is padded by blocks.
result = cnnvp.run("mixed", schedule="depth-first", block=2, dump="dump", plan_out=None)
warning = cli("run", "mixed", "-q", "--schedule", "depth-first", "--block", "2", "-o", "cli.npy")
assert warning.startswith("cnnvp: the depth-first schedule pads")
assert result.outputs[0].tobytes() == numpy.load("cli.npy").tobytes() and result.sqnr[0] > 20 and os.listdir("dump")
cnnvp.run("lenet5", plan_out="plan.yaml", timing_only=True)
assert cnnvp.run("lenet5", plan="plan.yaml", timing_only=True).stats["total"] == cnnvp.run("lenet5", timing_only=True).stats["total"]
plan = {"cuts": {"C1": {"group_out": 6, "tile_h": 7, "tile_w": 28, "tile_in": 1, "tile_out": 6}}}
pathlib.Path("plan.yaml").write_text("cuts: {C1: {group_out: 6, tile_h: 7, tile_w: 28, tile_in: 1, tile_out: 6}}\n")
total = cnnvp.run("lenet5", plan=plan, timing_only=True).stats["total"]
assert total == cnnvp.run("lenet5", plan="plan.yaml", timing_only=True).stats["total"] != cnnvp.run("lenet5", timing_only=True).stats["total"]

# Arrays of other types and orders are the same images; files are taken as arrays.
reference = cnnvp.run("lenet5", input=images).outputs[0]
for other in (images.astype(numpy.float64), numpy.asfortranarray(images), images.astype(">f4"), images.tolist(), images[::-1][::-1],
              data / "lenet5_input.npy", str(data / "lenet5_input.npy")):
    assert cnnvp.run("lenet5", input=other).outputs[0].tobytes() == reference.tobytes()
assert cnnvp.run("lenet5", input={"input": images}).outputs[0].tobytes() == reference.tobytes()
assert cnnvp.run("lenet5", input=images, images=1).outputs[0].tobytes() == reference[:1].tobytes()
assert cnnvp.run("lenet5", input=(images[:, :, 2:-2, 2:-2] * 255).clip(0, 255).astype(numpy.uint8)).outputs[0].shape == reference.shape

# Platforms.
for preset in ("nfu", "window", "trainer"):
    platform = cnnvp.platform(preset)
    assert platform["units"]["cpu"]["model"] == "cpu" and cnnvp.platform(platform) == platform
platform = cnnvp.platform("nfu", set={"pe_array.rows": 16, "dram.preset": "hbm2"})
assert platform["units"]["pe_array"]["rows"] == 16 and platform["units"]["dram"]["preset"] == "hbm2"
cli("run", "lenet5", "-q", "--timing-only", "-s", "pe_array.rows=16", "-s", "dram.preset=hbm2", "--stats", "cli.json")
cycles = json.loads(pathlib.Path("cli.json").read_text())["total"]["accel_cycles"]
assert cnnvp.run("lenet5", platform=platform, timing_only=True).stats["total"]["accel_cycles"] == cycles
assert cnnvp.run("lenet5", platform={"base": "nfu", "units": {"pe_array": {"rows": 16}, "dram": {"preset": "hbm2"}}},
                 timing_only=True).stats["total"]["accel_cycles"] == cycles

# Energies are numbers, of any size, and switches are True or False.
for energies in ({"dram_byte": 0.5}, {"dram_byte": 0.00001}, {"dram_byte": 1e9}, {"sram_scaling": False}):
    name, value = next(iter(energies.items()))
    platform = cnnvp.platform({"base": "nfu", "energy": energies})
    assert platform["energy"][name] == ("off" if value is False else value), platform["energy"]
    assert cnnvp.platform(platform) == cnnvp.platform("nfu", set={f"energy.{name}": value}) == platform

# A dictionary's files are found from the current folder; results that are wrong are an Error where they are compared.
array = {"base": "array/dot_product.yaml"}
assert cnnvp.run("lenet5", platform=array, images=1).outputs[0].shape == (1, 10)
said = raises("check_results: ", cnnvp.run, "lenet5", platform=array, images=1, check_results=True)
assert " commands are wrong: " in said and "pe_array" in said, said
raises("plan:1:", cnnvp.run, "lenet5", plan={"cut": {}})
raises("output: there are 2 files for 1 output of lenet5", cnnvp.run, "lenet5", output=["a.npy", "b.npy"])
cnnvp.run("lenet5", timing_only=True, stats=["first.json", "last.json"], csv=["first.csv", "last.csv"])
assert all(pathlib.Path(f"last.{kind}").exists() and not pathlib.Path(f"first.{kind}").exists() for kind in ("json", "csv"))
raises("limit: one whole number", cnnvp.train, "digits", dataset="idx:a,b", limit=[1])
raises("a text with a zero in it", cnnvp.run, "lenet5\0")

# Messages are the command's.
for words, options in ((["-s", "pe_array.row=1"], {"set": {"pe_array.row": 1}}), (["--max-time", "1us"], {"max_time": "1us"}),
                       (["-p", "nfx"], {"platform": "nfx"}), (["--block", "7", "--schedule", "depth-first"], {"block": 7, "schedule": "depth-first"}),
                       (["--tune", "--on-chip"], {"tune": True, "on_chip": True})):
    said = raises("", cnnvp.run, "lenet5", **options)
    done = subprocess.run([command, "run", "lenet5", *words], capture_output=True, text=True).stderr.splitlines()
    digits = str.maketrans("", "", "0123456789. munps")
    assert done[0].startswith("cnnvp: ") and (said.translate(digits)[:20] in done[0].translate(digits)), (said, done)
raises('did you mean "lenet5"?', cnnvp.run, "lenet6")
raises('there is no file and no installed network ""', cnnvp.run, "")
raises("input: the dictionary has no array", cnnvp.run, "lenet5", input={})
raises("network has classes 0 to 9", cnnvp.run, "lenet5", input=images, labels=[0, 1, 2, 10])
numpy.save("short.npy", [1, 2, 3])
raises("labels: (3,) of int64 for 4 images", cnnvp.run, "lenet5", input=images, labels="short.npy")
raises("platform:1:", cnnvp.platform, {"base": "nfu", "units": {"dram": {"model": "drum"}}})
raises("the command prints it", cnnvp.run, "lenet5", advise=True)

# What is logged, and how far it is.
lines, shares = [], []
SMALL = {"set": {"cpu.tcm_size": "32KiB"}, "timing_only": True}
cnnvp.run("lenet5", log=lambda level, line: lines.append((level, line)), **SMALL)
assert [level for level, line in lines] == [1], lines
assert cli("run", "lenet5", "-q", "--timing-only", "-s", "cpu.tcm_size=32KiB") == ""
assert cli("run", "lenet5", "--timing-only", "-s", "cpu.tcm_size=32KiB") == f"cnnvp: {lines[0][1]}\n"
logged = []
handler = logging.Handler()
handler.emit = lambda record: logged.append(record.getMessage())
logging.getLogger("cnnvp").addHandler(handler)
logging.getLogger("cnnvp").setLevel(logging.DEBUG)
cnnvp.run("lenet5", **SMALL)
assert logged == [line for _, line in lines]
logged.clear()
cnnvp.run("lenet5", timing_only=True, output="none.npy")
assert logged == ["output: nothing is computed with timing_only, and none.npy is not written"]


def divide(level, line):
    raise ZeroDivisionError


try:
    cnnvp.run("lenet5", log=divide, **SMALL)
    raise AssertionError("an exception of log is lost")
except ZeroDivisionError:
    pass

# An exception of the caller's function, and Ctrl-C, end a long run.
def give_up(share, layers, time_ps):
    shares.append(share)
    raise ZeroDivisionError

LONG = {"set": {"pe_array.detail": "cycle"}, "images": 400, "progress": give_up}
try:
    cnnvp.run("lenet5", **LONG)
    raise AssertionError("it went on")
except ZeroDivisionError:
    assert len(shares) == 1 and 0 <= shares[0] < 1
begin = time.monotonic()
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    cnnvp.run("lenet5", **{**LONG, "progress": None})
    raise AssertionError("it went on")
except KeyboardInterrupt:
    assert time.monotonic() - begin < 60
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

# train: the trained network, the losses and the statistics are the command's.
rng = numpy.random.default_rng(1)
for name, values in (("images.idx", rng.integers(0, 256, (40, 8, 8), numpy.uint8)), ("labels.idx", rng.integers(0, 10, 40).astype(numpy.uint8))):
    head = b"\0\0\x08" + bytes([values.ndim]) + b"".join(size.to_bytes(4, "big") for size in values.shape)
    pathlib.Path(name).write_bytes(head + values.tobytes())
files = "idx:images.idx,labels.idx"
cli("train", "digits", "-q", "--dataset", files, "--eval", files, "--batch", "16", "-o", "cli.onnx", "--log", "cli.csv", "--stats", "cli.json")
seen = []
result = cnnvp.train("digits", dataset=files, eval=files, batch=16, output="py.onnx", progress=seen.append)
assert seen == result.steps and len(result.evaluations) == 1, seen
assert pathlib.Path("py.onnx").read_bytes() == pathlib.Path("cli.onnx").read_bytes()
rows = pathlib.Path("cli.csv").read_text().splitlines()[1:]
assert [f"{step['loss']:.4f}" for step in result.steps] == [f"{float(row.split(',')[1]):.4f}" for row in rows] and len(rows) == 3
assert same(result.stats, "cli.json") and set(result.stats["values"]["training"]) >= {"loss", "eval_loss"}
raises("which data set?", cnnvp.train, "digits")

# Ctrl-C between two steps ends the training, and nothing that comes after it.
try:
    cnnvp.train("digits", dataset=files, batch=16, progress=lambda step: os.kill(os.getpid(), signal.SIGINT))
    raise AssertionError("it went on")
except KeyboardInterrupt:
    assert cnnvp.run("lenet5", timing_only=True).stats["total"]["images"] == 1
try:
    cnnvp.train("digits", dataset=files, batch=16, set={"cpu.tcm_size": "32KiB"}, log=divide)
    raise AssertionError("an exception of log is lost")
except ZeroDivisionError:
    pass
raises("log: a function of a level and a line is expected, not str", cnnvp.train, "digits", dataset=files, log="py.csv")

# exec: what the program prints and returns.
result = cnnvp.exec("mine/mine.elf", stats="py.json")
shown = subprocess.run([command, "exec", "-q", "mine/mine.elf", "--stats", "cli.json"], capture_output=True).stdout
assert result.console == shown and result.exit_code == 0 and b"64 results as expected" in shown
assert same(result.stats, "cli.json")
raises("none.elf", cnnvp.exec, "none.elf")
raises("none.bin: cannot be read", cnnvp.exec, "none.bin")
# A program of the instruction element, as the command runs it.
pathlib.Path("words.s").write_text("set r1, 5\nset r2, 6\n")
subprocess.run([command, "asm", "words.s", "-o", "words.bin"], check=True)
result = cnnvp.exec("words.bin")
subprocess.run([command, "exec", "-q", "words.bin", "--stats", "cli.json"], check=True)
assert result.exit_code == 0 and same(result.stats, "cli.json")
raises("words.bin: a program of the instruction element takes no arguments, such as a", cnnvp.exec, "words.bin", "a")
pathlib.Path("words.bin").write_bytes(bytes(7) + b"\xff")
raises("words.bin: offset 0x0: 0xff00000000000000 is no instruction", cnnvp.exec, "words.bin")

# Sweeps: as many points as there are, each as it runs by itself; failed ones are points.
spec = {"network": ["lenet5"], "options": {"timing_only": True}, "parameters": {"pe_array.rows": [4, 8], "weight_buffer.size": ["16KiB", 64]},
        "objectives": ["total.time_ps"]}
seen = []


def stop(now):
    raise ZeroDivisionError


try:
    cnnvp.sweep(spec, output="results.sqlite", jobs=1, progress=stop)
    raise AssertionError("it went on")
except ZeroDivisionError:
    assert len(cnnvp.load_results("results.sqlite")) < 4
points = cnnvp.sweep(spec, output="results.sqlite", jobs=1, progress=seen.append)
assert sorted(point.status for point in points) == ["failed", "failed", "ok", "ok"] and seen[-1]["finished"] == 4 and seen[-1]["failed"] == 2
for point in points:
    if point.status == "ok":
        alone = cnnvp.run("lenet5", set={name: point.params[name] for name in spec["parameters"]}, timing_only=True)
        assert alone.stats["total"] == point.stats["total"]
    else:
        assert "weight_buffer" in point.error
assert cnnvp.load_results("results.sqlite") == points
os.rename("results.sqlite", "50%25 #?.sqlite")
assert cnnvp.load_results("50%25 #?.sqlite") == points
rows = cnnvp.records(points, "total.time_ps", "layers.C1.cycles")
assert len(rows) == 4 and all(set(row) >= {"pe_array.rows", "status", "total.time_ps", "layers.C1.cycles"} for row in rows)
assert sum(row["layers.C1.cycles"] is not None for row in rows) == 2
assert "total.accel_cycles" in cnnvp.records(points[:1] + [p for p in points if p.status == "ok"])[-1]
# A statistic of a record is the objective of that name.
paths = ["layers.conv2.cycles", "links.dma-dram.read_bytes", "tensors.0.read_bytes", "values.saturations.conv2"]
training = {"command": "train", "network": "digits", "options": {"dataset": files, "steps": 1}, "objectives": paths}
pathlib.Path("training.yaml").write_text(json.dumps(training))
cli("sweep", "training.yaml", "-o", "training.sqlite", "-q", "--export", "training.csv")
head, row = (line.split(",") for line in pathlib.Path("training.csv").read_text().splitlines())
for name, value in cnnvp.records(cnnvp.load_results("training.sqlite"), *paths)[0].items():
    assert name == "status" or value == float(row[head.index(name)]), (name, value)
dotted = cnnvp.Point(params={}, status="ok", stats={"layers": [{"name": "a", "b.c": 1}, {"name": "a.b", "c": 2}, {"name": "a.b", "c": 3}]})
assert cnnvp.records([dotted], "layers.a.b.c", "layers.1.c") == [{"status": "ok", "layers.a.b.c": 2, "layers.1.c": 2}]
raises("layers.a.d: no point has a statistic of that name", cnnvp.records, [dotted], "layers.a.b.c", "layers.a.d")
series = cnnvp.Point(params={}, status="ok", stats={"memory": {"over_time": {"read_bytes": [0, 312]}}})
assert cnnvp.records([series, dotted], "memory.over_time.read_bytes.1") == [
    {"status": "ok", "memory.over_time.read_bytes.1": value} for value in (312, None)]
raises("memory.over_time.read_bytes.x: no point", cnnvp.records, [series], "memory.over_time.read_bytes.x")
# A folder is no network and no platform.
for name in ("lenet5", "nfu"):
    os.mkdir(name)
assert cnnvp.sweep({"network": "lenet5", "platform": "nfu", "options": {"timing_only": True}}, output="names.sqlite")[0].status == "ok"
assert cnnvp.platform({"base": "nfu"}) == cnnvp.platform("nfu")
raises("spec:", cnnvp.sweep, {"network": "lenet5", "parameter": {}}, output="x.sqlite")
raises("no such database", cnnvp.load_results, "none.sqlite")
pathlib.Path("no.sqlite").write_text("text")
raises("no.sqlite", cnnvp.load_results, "no.sqlite")
print("done")
