#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_traces.py CNNVP NETWORKS TAIL.elf: in every format of a trace, and in the page's series, the integral of each counter
over windows of time is its statistic, to the last byte and burst."""
import json
import os
import struct
import subprocess
import sys
import tempfile

CNNVP, NETWORKS, TAIL = (os.path.abspath(path) for path in sys.argv[1:])
PS = 10**12
WINDOW = 10**6  # ps, of what is counted in events a microsecond


def integral(changes, end):
    """Of [(time, value)] in order of time."""
    total = 0
    for (time, value), after in zip(changes, changes[1:] + [(end, 0)]):
        total += value * (after[0] - time)
    return total


def vcd(name):
    """{(unit, counter): integral}; links are of the unit `links`."""
    scope, names, changes, now = [], {}, {}, 0
    with open(name, encoding="utf-8") as stream:
        for line in stream:
            words = line.split()
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                names[words[3]] = scope[-1], words[4]
            elif line[0] == "#":
                now = int(line[1:])
            elif line[0] == "b":
                changes.setdefault(names[words[1]], []).append((now, int(words[0][1:], 2)))
    return {key: integral(value, now) for key, value in changes.items()}


def fields(data):
    """(number, value) of a protobuf message: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 1:
            yield key >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        else:
            size = varint()
            assert kind == 2, kind
            yield key >> 3, data[at:at + size]
            at += size


def perfetto(name):
    tracks, changes = {}, {}
    with open(name, "rb") as stream:
        trace = stream.read()
    for number, packet in fields(trace):
        assert number == 1
        packet = dict(fields(packet))
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = track.get(2, b"").decode(), track.get(5), 8 in track
        event = dict(fields(packet[11])) if 11 in packet else {}
        if event.get(9) == 4:
            changes.setdefault(event[11], []).append((packet[8] * 1000, event[30]))
    found = {}
    for uuid, list_of in changes.items():
        name, parent, counter = tracks[uuid]
        assert counter and list_of == sorted(list_of, key=lambda change: change[0])
        found[tracks[parent][0], name] = integral(list_of, list_of[-1][0])
    return found


def slices(name):
    """[(track, name, {annotation: value})], track after track."""
    names, notes, tracks, found = {}, {}, {}, []
    with open(name, "rb") as stream:
        trace = stream.read()
    for _, packet in fields(trace):
        packet = dict(fields(packet))
        for kind, entry in fields(packet.get(12, b"")):
            entry = dict(fields(entry))
            (names if kind == 2 else notes)[entry[1]] = entry[2].decode()
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = track.get(2, b"").decode()
        event = list(fields(packet.get(11, b"")))
        if (9, 1) in event:
            said = [dict(fields(value)) for number, value in event if number == 4]
            found.append((tracks[dict(event)[11]], names[dict(event)[10]],
                          {notes[one[1]]: one[3] if 3 in one else one[6].decode() for one in said}))
    return found


def series(name):
    with open(name, encoding="utf-8") as stream:
        data = json.load(stream)
    width, found = data["window_ps"], {}
    for one in data["streams"]:
        if "window" not in one:
            continue
        total, kept, before = 0, 0, 0
        for window, mean, last in zip(one["window"], one["mean"], one["last"]):
            total += kept * (window - before) + mean
            before, kept = window + 1, last
        total += kept * (1024 - before)
        unit, counter = one["unit"], one["name"]
        if one["kind"] == "link":
            unit, counter = "links", unit + "_to_" + counter
        found[unit, counter] = total * width
    return found


def expected(stats):
    for unit, ps in stats.get("summary", {}).get("critical_path", {}).items():
        if ps:
            yield (unit, "critical_path"), ps * 10**6
    dram = stats["units"]["dram"]
    yield ("dram", "bandwidth"), (dram["bus_read_bytes"] + dram["bus_write_bytes"]) * PS
    for name in "row_hits", "row_misses", "row_conflicts", "turnarounds", "refreshes":
        yield ("dram", name), dram[name] * WINDOW
    for name in "active_power_down", "precharge_power_down", "self_refresh":
        yield ("dram", name), dram[name + "_ps"] * WINDOW
    for link in stats["links"]:
        if link["from"] != "cpu" and link["from"] != "bus":  # whose traffic is in no statistic of a link
            yield ("links", link["from"] + "_to_" + link["to"]), (link["read_bytes"] + link["write_bytes"]) * PS


def check(*command, outputs=("vcd", "pftrace", "series"), states=()):
    with tempfile.TemporaryDirectory() as folder:
        for form in outputs:
            stats, trace = os.path.join(folder, "of.json"), os.path.join(folder, "run." + form)
            where = ["--report", folder] if form == "series" else ["--trace", trace]
            subprocess.run([CNNVP, *command, "--stats", stats, *where], check=True, stdout=subprocess.DEVNULL)
            with open(stats, encoding="utf-8") as stream:
                said = json.load(stream)
            wanted = dict(expected(said))
            assert all(wanted["dram", state] > 0 for state in states), wanted
            assert wanted["dram", "bandwidth"] > 0 and wanted["dram", "row_misses"] > 0, wanted
            found = {"vcd": vcd, "pftrace": perfetto, "series": series}[form](trace)
            for key, value in wanted.items():
                if form == "pftrace" and (key[0] == "links" or key[1] == "critical_path"):
                    continue  # names of their own; windows that are not of whole nanoseconds
                got = found.get(key, 0)
                unit = 10**6 if key[1] == "critical_path" else WINDOW if key[0] == "dram" and key[1] != "bandwidth" else PS
                near = got == value if form != "series" else abs(got - value) < unit / 2
                if key[1] == "critical_path":  # millionths of each window's time, rounded
                    near = abs(got - value) <= said["total"]["time_ps"]
                assert near, (command, form, key, got / unit, value / unit)


# Of LeNet-5: two tiles of rows, two groups of outputs in two slices each, slices of inputs.
CUTS = """cuts:
  C1: {group_out: 6, tile_h: 16, tile_w: 28, tile_in: 1, tile_out: 6}
  S2: {group_out: 6, tile_h: 14, tile_w: 14, tile_in: 6, tile_out: 6}
  C3: {group_out: 8, tile_h: 10, tile_w: 10, tile_in: 6, tile_out: 4}
  S4: {group_out: 16, tile_h: 5, tile_w: 5, tile_in: 16, tile_out: 16}
  F5: {group_out: 120, tile_h: 1, tile_w: 1, tile_in: 64, tile_out: 120}
"""


def check_slices(network):
    """Layers come image after image; each transfer's bytes are those of its tensor; commands say what they work on."""
    with tempfile.TemporaryDirectory() as folder:
        stats, trace, plan = (os.path.join(folder, name) for name in ("of.json", "run.pftrace", "cuts.yaml"))
        with open(plan, "w", encoding="utf-8") as stream:
            stream.write(CUTS)
        subprocess.run([CNNVP, "run", network, "--timing-only", "-q", "-n", "3", "--plan", plan, "--stats", stats, "--trace", trace], check=True)
        with open(stats, encoding="utf-8") as stream:
            stats = json.load(stream)
        found = slices(trace)
        layers = [layer["name"] for layer in stats["layers"]]
        assert [name for track, name, _ in found if track == "layers"] == 3 * layers
        assert [name for track, name, _ in found if track == "phases"] == ["forward"]
        for kind, member in ("receive", "read_bytes"), ("store", "write_bytes"):
            moved = {}
            for _, name, said in found:
                if name == kind and "bytes" in said:
                    assert said["layer"] in layers and said["phase"] == "forward", said
                    assert said["bytes"] == said["row_bytes"] * said["rows"] * said["planes"], said
                    moved[said["tensor"]] = moved.get(said["tensor"], 0) + said["bytes"]
            assert moved == {one["name"]: one[member] for one in stats["tensors"] if one[member]}, (kind, moved)
        # Channels are those of the tensor; weights are of an output channel, and of no image.
        of = {kind: [said for _, _, said in found if said.get("tensor_kind") == kind] for kind in ("input", "feature", "output", "weights")}
        assert [said["channel"] for said in of["feature"] if said["tensor"] == "C3_relu" and "rows" in said and said["planes"] == 8] == 3 * [0, 8]
        assert [said["channel"] for said in of["weights"] if said["tensor"] == "C3"] == 3 * [0, 4, 8, 12]
        assert all("image" not in said for said in of["weights"])
        for kind in "input", "output":
            images = [said["image"] for said in of[kind]]
            assert images and images == [image for image in range(3) for _ in images[::3]], (kind, images)
        work = [said for track, name, said in found if track == "array" and name in ("conv", "pool", "matmul")]
        assert {said["layer"] for said in work} == set(layers)
        for said in work:
            assert {"input_buffer_half", "output_buffer_half", "in_addr", "out_addr"} <= set(said), said
            assert ("weight_buffer_half" in said) == (said["layer"][0] != "S"), said
        # A calculation is of the channels that it reads.
        for layer, channels in ("C1", 2 * [(0, 0)]), ("C3", [(0, out) for out in (0, 4, 8, 12)]), ("F5", [(word // 25, 0) for word in range(0, 400, 64)]), ("S4", [(0, None)]):
            found_channels = [(said["channel"], said.get("out_channel")) for said in work if said["layer"] == layer]
            assert found_channels == 3 * channels, (layer, found_channels)
        for several in work, [said for said in of["feature"] if "feature_words" in said]:
            assert len(several) % 3 == 0
            for layer in layers:
                numbers = [said["image"] for said in several if said["layer"] == layer]
                assert sorted(numbers) == [n for n in range(3) for _ in range(len(numbers) // 3)], (layer, numbers)
        # Where images go through a layer together, addresses alone say which.
        subprocess.run([CNNVP, "run", network, "--timing-only", "-q", "-n", "3", "--batch", "3", "--trace", trace], check=True)
        found = slices(trace)
        assert [said["image"] for _, _, said in found if said.get("tensor_kind") == "output"] == [0, 1, 2]
        assert {said.get("image") for _, name, said in found if name == "conv" or said.get("tensor_kind") == "feature"} == {None}
        # Maps that were moved on chip are of no known channel, in the half that the input came to, too.
        subprocess.run([CNNVP, "run", network, "--timing-only", "-q", "--on-chip", "--trace", trace], check=True)
        work = {said["layer"]: said for track, name, said in slices(trace) if track == "array" and name in ("conv", "pool", "matmul")}
        assert [layer for layer in layers if "channel" in work[layer]] == ["C1"], work
        assert [layer for layer in layers if "out_channel" in work[layer]] == [layer for layer in layers if layer[0] != "S"], work


def check_accelerators(network):
    """Each accelerator has its layers in a row of its own, image after image; the second of two has every other image."""
    with tempfile.TemporaryDirectory() as folder:
        stats, trace = os.path.join(folder, "of.json"), os.path.join(folder, "run.pftrace")
        dual = os.path.join(os.path.dirname(NETWORKS), "examples", "accelerators", "dual.yaml")
        subprocess.run([CNNVP, "run", network, "--timing-only", "-q", "-n", "3", "-p", dual, "--stats", stats, "--trace", trace], check=True)
        with open(stats, encoding="utf-8") as stream:
            layers = [layer["name"] for layer in json.load(stream)["layers"]]
        found = slices(trace)
        for row, images in ("layers", 2), ("layers_2", 1):
            assert [name for track, name, _ in found if track == row] == images * layers, row


def check_flows(network):
    """What is tied together is one instruction of one accelerator: each numbers its own."""
    with tempfile.TemporaryDirectory() as folder:
        trace, tracks, flows = os.path.join(folder, "run.pftrace"), {}, {}
        dual = os.path.join(os.path.dirname(NETWORKS), "examples", "accelerators", "dual.yaml")
        subprocess.run([CNNVP, "run", network, "--timing-only", "-q", "-n", "2", "-p", dual, "--trace", trace], check=True)
        with open(trace, "rb") as stream:
            packets = [dict(fields(packet)) for _, packet in fields(stream.read())]
        for packet in packets:
            track, event = (dict(fields(packet.get(number, b""))) for number in (60, 11))
            tracks[track.get(1)] = track.get(2, b"").decode(), track.get(5)
            if 47 in event:
                flows.setdefault(event[47], set()).add(tracks[tracks[event[11]][1]][0])
    of = {flow: {unit.endswith("_2") for unit in units} for flow, units in flows.items()}
    assert all(len(second) == 1 for second in of.values()), flows
    assert [sum(second == {one} for second in of.values()) for one in (False, True)] == 2 * [len(of) // 2], flows
    assert max(map(len, flows.values())) > 1


def reads_of(found, layer, kind):
    return [said for track, _, said in found if track == "read" and said.get("layer") == layer and said.get("tensor_kind") == kind]


def check_order(network):
    """S001's order, read from a trace: four images at once, one input channel after the other, each with its weights."""
    with tempfile.TemporaryDirectory() as folder:
        data, trace = [os.path.join(folder, name) for name in ("images", "labels")], os.path.join(folder, "run.pftrace")
        for name, shape, values in zip(data, ((8, 8, 8), (8,)), (bytes(512), bytes(range(8)))):
            with open(name, "wb") as stream:
                stream.write(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values)
        subprocess.run([CNNVP, "train", network, "--dataset", "idx:" + ",".join(data), "--batch", "4", "--order", "channel", "--shuffle",
                        "off", "--timing-only", "-q", "--trace", trace], check=True)
        found = slices(trace)
        reads = [said for track, name, said in found if track == "read" and said.get("phase") == "forward" and "tensor" in said]
        assert [said["image"] for said in reads if said["tensor_kind"] == "images"] == list(range(8))
        second = [said for said in reads if said["layer"] == "conv2" and said["tensor_kind"] in ("activations", "weights")]
        assert [said["tensor_kind"] for said in second] == ["activations", "weights"] * (len(second) // 2)
        maps, weights = second[0::2], second[1::2]
        channels = 2 * list(range(len(maps) // 2))  # two steps
        assert [(said["image"], said["rows"], said["channel"]) for said in maps] == [(0, 4, channel) for channel in channels], maps
        assert [(said["channel"], said["tensor_offset"]) for said in weights] == [(0, 9 * channel) for channel in channels], weights
        work = [(name, said["channel"], said["out_channel"]) for track, name, said in found if track == "array" and said["layer"] == "conv2"]
        assert [step for step in work if step[0] == "tforward"] == [("tforward", channel, 0) for channel in channels], work
        errors = 2 * list(range(max(said["channel"] for said in reads_of(found, "conv2", "errors")) + 1))
        assert [step for step in work if step[0] == "terror"] == [("terror", channel, channel) for channel in errors], work


def main():
    lenet5 = os.path.join(NETWORKS, "lenet5.onnx")
    check("run", lenet5, "--timing-only", "-q")
    check("run", lenet5, "--timing-only", "-q", "-s", "cpu.memory=cache", "-p", "window")
    check("run", lenet5, "--timing-only", "-q", "-n", "40", "-s", "dram.channels=2", "-s", "dram.row_policy=closed")
    low = ["-s", "dram.power_down=self-refresh", "-s", "dram.t_refi=1000", "-s", "dram.ranks=2"]
    check("run", lenet5, "--timing-only", "-q", *low, states=("active_power_down", "precharge_power_down", "self_refresh"))
    check_slices(lenet5)
    check_accelerators(lenet5)
    check_flows(lenet5)
    check_order(os.path.join(NETWORKS, "digits.onnx"))
    check("exec", TAIL)  # nothing moves in the last 99 % of its time
    check("exec", TAIL, "-s", "cpu.memory=cache")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "bursts.txt")
        subprocess.run([CNNVP, "run", lenet5, "--timing-only", "-q", "--memory-trace", trace], check=True)
        check("memory", trace, outputs=("vcd", "pftrace"))
        check("memory", trace, *low, outputs=("vcd", "pftrace"), states=("self_refresh",))


main()
