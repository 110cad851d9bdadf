#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of every unit of the presets does something: check_parameters.py CNNVP NETWORKS DEVICES quick|all [PART].

Each number and choice is set to other values, on workloads that use its unit, until a time, a count or an output
differs; refusals do not count, nor what the statistics repeat of the configuration. What remains must be one of
WITHOUT, and whatever stands there must indeed change nothing: with `all` on every workload with two values, with `quick`
on the first two workloads with one. With `quick` what an instance of one preset does is not tried again on another.

Where `cnnvp models` says that a parameter has an effect only beside others, it changes nothing, energy and area included,
beside what they must not be.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from onnx import TensorProto, helper

CNNVP, NETWORKS, DEVICES, DEPTH = sys.argv[1:5]
ALL = DEPTH == "all"
ONLY = sys.argv[5] if len(sys.argv) > 5 else ""

# PRESET.INSTANCE.PARAM, parts of which may be left open as *, and why it changes no result.
WITHOUT = {
    "*.cpu.quantum": "only the speed of the simulation",
    "*.dram.size": "a capacity: what does not fit is refused, what fits takes no notice of it",
    "*.dram.t_rc": "the sum of two others, anything else is refused",
    "*.dma.word_bytes": "the words of the array's arithmetic: a mantissa's byte or 16 bits, anything else is refused",
    **{f"trainer.{name}_buffer.pingpong": "the module's own buffers have one half, two are refused"
       for name in ("max_min", "sum", "batch_norm", "relu", "id", "output_data")},
    "nfu.pe_array.detail": "both depths give the same, which the unit's tests check, too",
}

# Of an instance, that it has beside its parameters; names of others.
NO_PARAMETERS = "at|irq|clock|shares"

# A fast core and memory hide no unit behind them; slow ones are the other way round.
FAST = ["cpu.clock_mhz=100000", "dram.preset=hbm2"]
CACHES = ["cpu.memory=cache", "cpu.icache_size=1KiB", "cpu.dcache_size=1KiB", "dram.preset=lpddr4-3200"]
NARROW = ["input_buffer.width_words=16", "weight_buffer.width_words=16", "output_buffer.width_words=16"]
# A narrow port of the memory, whose clock matters then.
PORT = ["dram.port_bytes=2", "dram.port_mhz=500"]
# A memory that reads and writes wait for, in short queues.
SLOW = ["cpu.clock_mhz=100000", "dram.preset=ddr3-1600", "dram.width_bits=8", "dram.queue=8"]
# Receives and stores at one narrow port of the DMA, so slow that a memory with many refreshes rests.
SHARED = ["dma.port_bytes=2", "dma.arbiter=weighted", "dram.power_down=self-refresh", "dram.t_refi=1000"]
# Of what no network uses: clocks, a typed byte, a program in memory, several that wait for the memory.
PROGRAM = ("exec", "", PORT + ["dram.arbiter=priority", "dram.shares=cpu=4", "dram.queue=4"])
WORKLOADS = {
    "nfu": [("run", "mixed", []), ("run", "mixed", FAST), ("run", "all", FAST), ("depth", "blocks", FAST),
            ("run", "all", FAST + ["vector.lanes=2", "dram.ranks=2"]), ("run", "all", FAST + NARROW),
            ("run", "mixed", PORT), ("run", "mixed", CACHES), ("run", "mixed", SHARED), ("run", "all", SLOW),
            PROGRAM],
    "window": [("run", "mixed", []), ("run", "mixed", FAST), ("run", "all", FAST),
               ("run", "all", FAST + ["vector.lanes=2", "dram.ranks=2"]), ("run", "all", FAST + NARROW),
               ("run", "mixed", PORT), ("run", "mixed", CACHES), ("run", "mixed", SHARED), ("run", "all", SLOW),
               PROGRAM],
    "systolic": [("run", "mixed", []), ("run", "mixed", FAST), ("run", "all", FAST),
                 ("run", "all", FAST + ["pe_array.accumulator_banks=1", "pe_array.accumulator_size=512"]),
                 ("run", "all", FAST + ["vector.lanes=2", "dram.ranks=2"]), ("run", "all", FAST + NARROW),
                 ("run", "mixed", PORT), ("run", "mixed", CACHES), ("run", "mixed", SHARED), ("run", "all", SLOW), PROGRAM],
    "trainer": [("train", "digits", FAST), ("train", "digits", FAST + ["multi_function.lanes=16", "dram.ranks=2"]),
                ("train", "digits", FAST + ["multi_function.lanes=16", "relu_buffer.width_words=1",
                                            "id_buffer.width_words=1"]),
                ("train", "digits", FAST + NARROW[:2] + ["intermediate_buffer.width_words=16"]),
                ("train", "digits", FAST + PORT), ("train", "digits", CACHES),
                ("train", "digits", SHARED), PROGRAM],
}


def const(label, *shape):
    count = 1
    for size in shape:
        count *= size
    rng = random.Random(label)
    return helper.make_tensor(label, TensorProto.FLOAT, shape, [rng.uniform(-0.3, 0.3) for _ in range(count)])


def make(folder, name, shape, nodes, weights, results):
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    made = [helper.make_tensor_value_info("y", TensorProto.FLOAT, results)]
    model = helper.make_model(helper.make_graph(nodes, name, values, made, weights),
                              opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    with open(os.path.join(folder, name + ".onnx"), "wb") as stream:
        stream.write(model.SerializeToString())


def make_networks(folder):
    """`all`: functions of the vector unit, parts of a window, a fully connected layer. `blocks`: a chain."""
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], kernel_shape=[5, 5], pads=[2, 2, 2, 2]),
        helper.make_node("InstanceNormalization", ["c0", "one", "zero"], ["n0"]),
        helper.make_node("Sigmoid", ["n0"], ["s0"]),
        helper.make_node("Conv", ["s0", "w1"], ["c1"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=9),
        helper.make_node("Mul", ["c1", "s0"], ["m0"]),
        helper.make_node("Softmax", ["m0"], ["t0"], axis=1),
        helper.make_node("AveragePool", ["t0"], ["p0"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p0"], ["f0"]),
        helper.make_node("Gemm", ["f0", "w2", "b2"], ["g0"], transB=1),
        helper.make_node("Softmax", ["g0"], ["y"], axis=1),
    ]
    weights = [const("w0", 9, 3, 5, 5), const("b0", 9), const("w1", 9, 1, 3, 3), const("w2", 70, 9 * 64),
               const("b2", 70), helper.make_tensor("one", TensorProto.FLOAT, [9], [1.0] * 9),
               helper.make_tensor("zero", TensorProto.FLOAT, [9], [0.0] * 9)]
    make(folder, "all", [1, 3, 16, 16], nodes, weights, [1, 70])
    nodes = [
        helper.make_node("Conv", ["x", "w3"], ["c0"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"]),
        helper.make_node("MaxPool", ["r0"], ["p0"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p0", "w4"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    ]
    make(folder, "blocks", [1, 3, 16, 16], nodes, [const("w3", 8, 3, 3, 3), const("w4", 8, 8, 3, 3)], [1, 8, 8, 8])


def make_images(folder):
    rng = random.Random(2)
    with open(os.path.join(folder, "images"), "wb") as stream:
        stream.write(struct.pack(">4I", 0x803, 24, 8, 8) + bytes(rng.randrange(256) for _ in range(24 * 64)))
    with open(os.path.join(folder, "labels"), "wb") as stream:
        stream.write(struct.pack(">2I", 0x801, 24) + bytes(rng.randrange(10) for _ in range(24)))


def network_of(folder, name):
    if name == "":
        return DEVICES
    own = os.path.join(folder, name + ".onnx")
    return own if os.path.exists(own) else os.path.join(NETWORKS, name + ".onnx")


def run(folder, preset, workload, settings, costs=False):
    """What came out: an error, or statistics without the configuration and, unless asked for, costs; the output's bytes."""
    command, network, base = workload
    with tempfile.TemporaryDirectory(dir=folder) as place:
        stats, output = os.path.join(place, "s.json"), os.path.join(place, "o")
        output += ".onnx" if command == "train" else ".npy"
        call = [CNNVP, "run" if command == "depth" else command, network_of(folder, network), "-p", preset, "-q",
                "--stats", stats]
        call += ["-o", output] if command != "exec" else []
        call += [word for setting in base + settings for word in ("-s", setting)]
        if command == "train":
            call += ["--dataset", f"idx:{folder}/images,{folder}/labels", "--batch", "12", "--epochs", "1"]
        if command == "depth":
            call += ["--schedule", "depth-first", "--block", "4"]
        if command in ("run", "depth"):
            call += ["-n", "2"]
        done = subprocess.run(call, input="x", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return "error " + done.stderr
        with open(stats, encoding="utf-8") as stream:
            counted = json.load(stream)
        for member in ("platform", "command", "wall_seconds") + (() if costs else ("energy", "area", "summary")):
            counted.pop(member, None)
        for layer in () if costs else counted["layers"]:
            for member in ("energy_pj", "static_pj", "pes"):
                layer.pop(member)
        counted["total"].pop("simulation_speed", None)
        made = b""
        if command != "exec":
            with open(output, "rb") as stream:
                made = stream.read()
        return json.dumps(counted, sort_keys=True) + str(made)


def instances(preset):
    """(instance, kind), and what their parameters are."""
    text = subprocess.run([CNNVP, "check", preset], capture_output=True, text=True, check=True).stdout
    name, found = None, []
    for line in text.split("\n"):
        if re.match(r"  \w+:$", line):
            name = line.strip(" :")
        elif name and re.match(r"    model: ", line):
            found.append((name, line.split()[1]))
        elif name and (match := re.match(r"    (\w+): (.+)$", line)):
            found.append((name, match.group(1), match.group(2)))
    return found


def parameters(kind):
    """{name: ("choice", [...]) or ("number", lowest, highest)} as `cnnvp models` says"""
    text = subprocess.run([CNNVP, "models", kind], capture_output=True, text=True, check=True).stdout
    text = re.sub(r"\n {34}", " ", text)  # a range that goes on
    rows, inside = {}, False
    for line in text.split("\n"):
        inside = line == "parameters" or (inside and line != "")
        columns = re.split(r"  +", line.strip())
        if inside and len(columns) >= 3 and columns[1] in ("number", "size", "choice"):
            if columns[1] == "choice":
                rows[columns[0]] = columns[2].split(", ")
            else:
                rows[columns[0]] = [number(word) for word in re.findall(r"\d\w*", columns[2])[:2]]
    return rows


def conditions(kind):
    """(parameter, choice or "", the other parameter, "=" or "!=", its values) as `cnnvp models` says"""
    text = subprocess.run([CNNVP, "models", kind], capture_output=True, text=True, check=True).stdout
    for line in re.sub(r"\n {24,}", " ", text).split("\n"):
        for match in re.finditer(r"; (?:used|(\S+) differs from the default) only where (\w+)(!?=)([^; ]*)", line):
            yield (line.split()[0], match.group(1) or "", *match.groups()[1:3], match.group(4).split("|"))


def written(folder, preset, settings):
    """A platform file with these settings; there, unlike on the command line, a parameter may be without effect."""
    units = {}
    for setting in settings:
        place, value = setting.split("=", 1)
        instance, name = place.split(".")
        units.setdefault(instance, {})[name] = value
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".yaml", delete=False, encoding="utf-8") as file:
        file.write(f"base: {preset}\nunits:\n")
        for instance, values in units.items():
            file.write(f"  {instance}:\n")
            file.writelines(f"    {name}: {value if value else repr('')}\n" for name, value in values.items())
    return file.name


def wrong_conditions(folder, preset, instance, kind):
    """Conditions beside which the parameter has an effect all the same: where they do not hold, each other value."""
    limits, now = parameters(kind), {row[1]: row[2] for row in instances(preset) if len(row) == 3 and row[0] == instance}
    for name, choice, other, relation, values in conditions(kind):
        against = values[0] if relation == "!=" else next(value for value in limits[other] if value not in values)
        tries = [choice] if choice else ["cpu=4"] if name == "shares" else others(limits[name], now[name])[:2 if ALL else 1]
        for command, network, base in WORKLOADS[preset]:
            if command not in ("run", "train") or (base[-len(PORT):] != PORT and base != SHARED):
                continue
            for part in [[], ["dram.preset=hbm2"]] if kind == "dram" else [[]]:  # hbm2 has pseudo channels
                came = [run(folder, written(folder, preset, base + part + [f"{instance}.{other}={against}"] + more),
                            (command, network, []), [], True)
                        for more in [[]] + [[f"{instance}.{name}={value}"] for value in tries]]
                if came.count(came[0]) < len(came) or came[0].startswith("error"):
                    yield f"{preset}.{instance}.{name} changes something beside {other}={against}: {came[0][:200]}"


def number(text):
    match = re.match(r"(\d+)(KiB|MiB|GiB)?$", text)
    return int(match.group(1)) * {None: 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[match.group(2)]


def others(limits, value):
    if not isinstance(limits[0], int):
        return [choice for choice in limits if choice != value]
    low, high = limits
    now = number(value)
    tries = [now // 2, now * 2, now // 2 // 16 * 16, low, max(now // 8, low), now + 1, now * 16, high, 2, 6, 8, 32]
    return [str(n) for n in dict.fromkeys(tries) if low <= n <= high and n != now]


def is_dead(folder, preset, instance, name, limits, value, before):
    """The nearest values go through all workloads before the others do; those that shall change nothing go alone."""
    values, workloads = others(limits, value), WORKLOADS[preset]
    rounds = [values[:2], values[2:]]
    if excepted(f"{preset}.{instance}.{name}"):
        rounds = [values[:2 if ALL else 1]]
        workloads = workloads if ALL else workloads[:2]
    return all(after == before[i] or after.startswith("error")
               for some in rounds for i, workload in enumerate(workloads) for other in some
               for after in [run(folder, preset, workload, [f"{instance}.{name}={other}"])])


def stand_ins(folder):
    """S000's units one by one: another does the work of one that is taken away, with the same results."""
    def ran(preset):
        stats, output = os.path.join(folder, "s.json"), os.path.join(folder, "o.npy")
        done = subprocess.run([CNNVP, "run", network_of(folder, "all"), "-p", preset, "-q", "--stats", stats, "-o", output],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr, None
        with open(stats, encoding="utf-8") as counted, open(output, "rb") as values:
            return values.read(), {name: unit.get("commands") for name, unit in json.load(counted)["units"].items()}

    right, by_itself = ran("window")
    for unit, other in (("pooling", "vector"), ("activation", "vector"), ("mean", "vector"), ("variance", "vector"),
                        ("normalise", "vector"), ("fully_connected", None)):
        file = os.path.join(folder, "without.yaml")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(f"platform: w\nbase: window\nunits:\n  {unit}: null\n"
                         f"  instruction: {{connect: {{{unit}: null}}}}\n")
        values, commands = ran(file)
        assert by_itself[unit] > 0, unit
        if other is None:
            assert commands is None and f"a unit {unit}" in values or f"for {unit}" in values, values
        else:
            assert values == right and commands[other] > by_itself[other], unit
            assert unit not in commands


def excepted(place):
    return [pattern for pattern in WITHOUT if re.fullmatch(pattern.replace(".", r"\.").replace("*", r"\w+"), place)]


def main():
    wrong, used, live, judged = [], set(), set(), set()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        make_networks(folder)
        make_images(folder)
        stand_ins(folder)
        for preset, workloads in WORKLOADS.items():
            before = list(pool.map(lambda w, p=preset: run(folder, p, w, []), workloads))
            for text in before:
                if text.startswith("error"):
                    sys.exit(f"{preset}: {text}")
            kinds, asked = {}, []
            for row in instances(preset):
                place = ".".join((preset, *row[:2]))
                if len(row) == 2:
                    kinds[row[0]], kind = parameters(row[1]), row[1]
                elif row[1] in kinds[row[0]] and ONLY in place:
                    limits = kinds[row[0]].pop(row[1])
                    if (kind, *row[:2]) not in live:
                        asked.append((row[0], row[1], limits, row[2], kind))
                elif row[1] not in kinds[row[0]] and not re.fullmatch(NO_PARAMETERS, row[1]):
                    wrong.append(f"{place} is not among the parameters of `cnnvp models`")
            for instance, kind in (row for row in instances(preset) if len(row) == 2):
                if (ALL or kind not in judged) and not ONLY:
                    wrong += wrong_conditions(folder, preset, instance, kind)
                    judged.add(kind)
            wrong += [f"{preset}.{instance}.{name} is not in `cnnvp check`"
                      for instance, rest in kinds.items() for name in rest if not ONLY]
            dead = pool.map(lambda a, p=preset, b=before: is_dead(folder, p, *a[:4], b), asked)
            for (instance, name, _, _, kind), is_it in zip(asked, dead):
                place = f"{preset}.{instance}.{name}"
                patterns = excepted(place)
                used.update(patterns if is_it else ())
                if not (is_it or ALL):
                    live.add((kind, instance, name))
                if is_it and not patterns:
                    wrong.append(f"{place} changes nothing")
                elif patterns and not is_it:
                    wrong.append(f"{place} changes something, though {patterns[0]} says that it does not")
            print(f"{preset}: {len(asked)} parameters")
    wrong += [f"{pattern}: no parameter is like that" for pattern in WITHOUT if pattern not in used and not ONLY]
    print("\n".join(wrong) or "each of the others changes something")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
