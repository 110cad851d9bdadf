#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_decoded.py DECODED.txt ELF: a run's trace as protoc has decoded it. On every track times do not run backwards
and slices balance; the core's track of functions has slices within slices, named as symbols of the guest program."""
import collections
import re
import subprocess
import sys


def packets(stream):
    """The packets as nested dictionaries from a field's name to the list of its values."""
    stack = []
    for line in stream:
        word = line.strip()
        if word.endswith("{"):
            stack.append((word[:-1].strip(), collections.defaultdict(list)))
        elif word == "}":
            name, made = stack.pop()
            if stack:
                stack[-1][1][name].append(made)
            else:
                assert name == "packet", name
                yield made
        else:
            name, value = word.split(": ", 1)
            assert not name.isdigit(), f"a field that Perfetto does not have: {word}"
            is_text = value.startswith(('"', "TYPE_"))
            stack[-1][1][name].append(value.strip('"') if is_text else int(value))


names, tracks, last = {}, {}, {}
stacks, called = collections.defaultdict(list), collections.defaultdict(set)
slices, deepest = collections.Counter(), collections.Counter()
with open(sys.argv[1]) as decoded:
    for packet in packets(decoded):
        for data in packet["interned_data"]:
            names.update({entry["iid"][0]: entry["name"][0] if entry["name"] else "" for entry in data["event_names"]})
        for descriptor in packet["track_descriptor"]:
            assert descriptor["uuid"][0] not in tracks, "a track is described twice"
            tracks[descriptor["uuid"][0]] = descriptor
        for event in packet["track_event"]:
            uuid, kind, time = event["track_uuid"][0], event["type"][0], packet["timestamp"][0]
            assert uuid in tracks, "an event of no track"
            assert time >= last.get(uuid, 0), f"time runs backwards on track {tracks[uuid]['name']}"
            last[uuid] = time
            if kind == "TYPE_SLICE_BEGIN":
                stacks[uuid].append(time)
                slices[uuid] += 1
                deepest[uuid] = max(deepest[uuid], len(stacks[uuid]))
                called[uuid].add(names[event["name_iid"][0]])
            elif kind == "TYPE_SLICE_END":
                assert stacks[uuid], f"an end without a begin on track {tracks[uuid]['name']}"
                assert stacks[uuid].pop() <= time
            else:
                assert kind == "TYPE_COUNTER" and tracks[uuid]["counter"], kind
assert not any(stacks.values()), "slices that do not end"

functions = [uuid for uuid, track in tracks.items() if track["name"] == ["functions"]]
assert len(functions) == 1 and tracks[tracks[functions[0]]["parent_uuid"][0]]["name"] == ["cpu"], functions
uuid = functions[0]
listing = subprocess.run(["nm", sys.argv[2]], capture_output=True, text=True, check=True).stdout
symbols = {line.split()[-1] for line in listing.splitlines()}
unknown = {name for name in called[uuid] if name not in symbols and not re.fullmatch("0x[0-9a-f]{8}", name)}
assert not unknown, f"functions that are no symbols: {sorted(unknown)}"
assert {"_start", "cnnvp_guest_main", "cnnvp_convolution", "cnnvp_guest_trap"} <= called[uuid], called[uuid]
assert deepest[uuid] > 3, deepest[uuid]
assert all(depth == 1 for track, depth in deepest.items() if track != uuid), "spans of a track overlap"
print(f"{len(tracks)} tracks, {sum(slices.values())} slices, of them {slices[uuid]} of {len(called[uuid])} functions, "
      f"{deepest[uuid]} deep")
