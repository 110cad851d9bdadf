#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that become others, beside numpy: rewrite.py CNNVP SLOWER. Values on two arrays, and times without arithmetic; where
SLOWER is not 1, in a sanitized build, which sees them imported once, on the first alone."""
import collections
import copy
import itertools
import json
import math
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CNNVP, SLOWER = sys.argv[1:]
FORMS = ([], ["--timing-only"], ["-p", "window"])[:3 if SLOWER == "1" else 1]
f32 = numpy.float32
node = helper.make_node
random = numpy.random.RandomState(3)
vendor = {"domain": "com.microsoft"}
TOGETHER = 16
wrong = []


cases = collections.defaultdict(list)  # those that can be parts of one network


def run(name, nodes, inputs, wanted, constants=None, types=None, opset=13, batch="N", limit=55.0, steps=None, forms=FORMS):
    """Values within `limit` dB; or, of quantised ones, at most one step off where a tie may go either way."""
    images = {array.shape[0] for array in inputs.values()}
    part = batch == "N" and len(images) == 1 and not any(attribute.HasField("g") for its in nodes for attribute in its.attribute)
    cases[opset, batch, tuple(map(tuple, forms)), *images, None if part else name].append(
        copy.deepcopy((name, nodes, inputs, wanted, constants or {}, types or {}, limit, steps)))


def run_together(together, opset, batch, forms):
    """Each case is a part of one network, with names of its own."""
    nodes, infos, outputs, weights, given, files = [], [], [], [], [], []
    for number, (_, its_nodes, inputs, _, constants, types, *_) in enumerate(together):
        def own(key, number=number):
            return f"{key}_{number}" if key and len(together) > 1 else key
        for old in its_nodes:
            new = onnx.NodeProto()
            new.CopyFrom(old)
            del new.input[:], new.output[:]
            new.input.extend(own(key) for key in old.input)
            new.output.extend(own(key) for key in old.output)
            nodes.append(new)
        for key, array in inputs.items():
            kind = types.get(key, TensorProto.FLOAT)
            infos.append(helper.make_tensor_value_info(own(key), kind, [batch or len(array), *array.shape[1:]]))
            numpy.save(own(key) + ".npy", array if kind == TensorProto.INT64 else array.astype(f32))
            given += ["-i", f"{own(key)}={own(key)}.npy"]
        outputs.append(helper.make_tensor_value_info(own("y"), TensorProto.FLOAT, None))
        weights += [numpy_helper.from_array(numpy.asarray(array), own(key)) for key, array in constants.items()]
        files.append(own("y") + ".npy")
    sets = [helper.make_opsetid(domain, version) for domain, version in (("", opset), ("com.microsoft", 1), ("qonnx.custom_op.general", 1))]
    onnx.save(helper.make_model(helper.make_graph(nodes, "net", infos, outputs, weights), opset_imports=sets, ir_version=8), "m.onnx")
    names = ", ".join(case[0] for case in together)
    times, values = [], []
    for options in forms:
        writes = [word for file in files for word in ("-o", file)] if "--timing-only" not in options else []
        done = subprocess.run([CNNVP, "run", "m.onnx", *given, "-q", "--stats", "s.json", *writes, *options], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            wrong.append(f"{names} {options}: {done.stderr.strip()}")
            return
        with open("s.json", encoding="utf-8") as file:
            times.append(json.load(file)["total"])
        values.append([numpy.load(file) for file in files] if writes else None)
    if any("--timing-only" in options for options in forms) and times[0] != times[1]:
        wrong.append(f"{names}: other times without arithmetic")
    for number, (name, _, _, wanted, _, _, limit, steps) in enumerate(together):
        result = values[0][number]
        off = result.astype(float) - wanted
        sqnr = 10 * numpy.log10((wanted ** 2).sum() / max((off ** 2).sum(), 1e-30))
        good = sqnr >= limit if steps is None else abs(off).max() < 1.01 * steps and (abs(off) > steps / 2).mean() < 0.01
        if result.shape != wanted.shape or not good:
            wrong.append(f"{name}: {result.shape}, {sqnr:.1f} dB, {abs(off).max():g} off at most")
        wrong.extend(f"{name}: other words with {options}" for options, made in zip(forms, values) if made and (result != made[number]).any())


def normal(*shape):
    return random.standard_normal(shape).astype(f32)


def softmax(x, axis=-1):
    exponents = numpy.exp(x - x.max(axis, keepdims=True))
    return exponents / exponents.sum(axis, keepdims=True)


def attention():
    def attend(q, k, v, mask=0, scale=None, cap=0):
        scores = q.astype(float) @ k.swapaxes(-1, -2) * (scale or 1 / numpy.sqrt(q.shape[-1]))
        return softmax((cap * numpy.tanh(scores / cap) if cap else scores) + mask) @ v

    def flat(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)
    q, k, v = normal(2, 4, 6, 8), normal(2, 4, 6, 8), normal(2, 4, 6, 5)
    few = k[:, :2], v[:, :2]
    repeated = [x.repeat(2, 1) for x in few]
    mask = numpy.where(random.rand(6, 6) > .4, 0, -numpy.inf)
    mask[:, 0] = 0
    causal = numpy.where(numpy.tril(numpy.ones((6, 6))) > 0, 0, -1e9)
    given = {"q": q, "k": k, "v": v}

    def case(name, wanted, inputs=None, constants=None, types=None, **attributes):
        names = ["q", "k", "v"] + (["m"] if constants or types else [])
        run("attention " + name, [node("Attention", names, ["y"], **attributes)], inputs or given, wanted, constants, types, 23)
    case("of heads", attend(q, k, v))
    case("scaled and bent", attend(q, k, v, scale=.3, cap=2.), scale=.3, softcap=2.)
    case("of what was", attend(q, k, v, causal), is_causal=1)
    case("masked", attend(q, k, v, mask), constants={"m": mask.astype(f32)})
    case("masked and causal", attend(q, k, v, mask + causal), constants={"m": mask.astype(f32)}, is_causal=1)
    case("where it is true", attend(q, k, v, mask), constants={"m": mask == 0})
    alone = mask == 0
    alone[2] = False
    nothing = attend(q, k, v, mask)
    nothing[:, :, 2] = 0
    case("where a row sees nothing", nothing, constants={"m": alone})
    wide = numpy.broadcast_to(mask, (2, 1, 6, 6))
    case("where an input is true", attend(q, k, v, wide), {**given, "m": wide == 0}, types={"m": TensorProto.BOOL})
    case("where a row sees nothing of an input", nothing, {**given, "m": numpy.broadcast_to(alone, (2, 1, 6, 6))},
         types={"m": TensorProto.BOOL})
    # Each output in turn is y; the others get a name that nothing reads.
    def output(name, number, wanted, inputs, **attributes):
        names = ["o0", "o1", "o2", "o3"]
        run("attention: " + name, [node("Attention", [key if key in inputs else "" for key in ("q", "k", "v", "", "e", "f", "g")], names, **attributes),
                                   node("Identity", [names[number]], ["y"])], inputs, wanted, None, {"g": TensorProto.INT64}, 25)
    own = numpy.random.RandomState(2)
    old = own.standard_normal((2, 4, 3, 8)).astype(f32), own.standard_normal((2, 4, 3, 5)).astype(f32)
    keys, values = numpy.concatenate((old[0], k), 2), numpy.concatenate((old[1], v), 2)
    cached = {**given, "e": old[0], "f": old[1]}
    row, column = numpy.mgrid[:6, :9]
    later = numpy.where(column <= row + 3, 0, -numpy.inf)
    output("after keys of before", 0, attend(q, keys, values, later), cached, is_causal=1)
    output("keys of before and these", 1, keys, cached)
    output("values of before and these", 2, values, cached)
    output("products", 3, q.astype(float) @ keys.swapaxes(2, 3) / numpy.sqrt(8), cached, is_causal=1)
    output("shares", 3, softmax(q.astype(float) @ keys.swapaxes(2, 3) / numpy.sqrt(8) + later), cached, is_causal=1, qk_matmul_output_mode=3)
    output("of fewer keys of before", 0, attend(q, *[numpy.concatenate((past[:, :2], part), 2).repeat(2, 1) for past, part in zip(old, few)]),
           {"q": q, "k": few[0], "v": few[1], "e": old[0][:, :2], "f": old[1][:, :2]})
    row, column = numpy.mgrid[:6, :6]
    near = (column >= row - 2) & (column <= row + 1)
    output("of a window", 0, attend(q, k, v, numpy.where(near, 0, -numpy.inf)), given, left_window_size=2, right_window_size=1)
    # Five of six keys are valid, and three: the last query is at the last one, and the first ones before all.
    ends = numpy.int64([5, 3])
    seen = (column < ends[:, None, None]) & (column <= row + (ends - 6)[:, None, None])
    with numpy.errstate(invalid="ignore"):
        short = numpy.nan_to_num(attend(q, k, v, numpy.where(seen, 0, -numpy.inf)[:, None]))
    output("of lengths", 0, short, {**given, "g": ends}, is_causal=1)
    case("of fewer keys", attend(q, *repeated), {"q": q, "k": few[0], "v": few[1]})
    case("side by side", flat(attend(q, k, v)), {key: flat(x) for key, x in given.items()}, q_num_heads=4, kv_num_heads=4)
    case("of fewer keys side by side", flat(attend(q, *repeated)), {"q": flat(q), "k": flat(few[0]), "v": flat(few[1])},
         q_num_heads=4, kv_num_heads=2)


def rotary():
    """Pairs of words as complex numbers, turned by the angle of their position."""
    angles = normal(20, 3) * f32(2)
    cos, sin = numpy.cos(angles), numpy.sin(angles)
    x, at = normal(2, 5, 4, 8), random.randint(0, 20, (2, 5))

    def turned(x, angles, beside, size):
        part, rest = x[..., :size].astype(float), x[..., size:]
        first, second = (part[..., ::2], part[..., 1::2]) if beside else (part[..., :size // 2], part[..., size // 2:])
        pair = (first + 1j * second) * numpy.exp(1j * angles.astype(float))
        pairs = (pair.real, pair.imag)
        return numpy.concatenate((numpy.stack(pairs, -1).reshape(part.shape) if beside else numpy.concatenate(pairs, -1), rest), -1)
    tables = {"c": cos, "s": sin}
    for beside, size, given in itertools.product((0, 1), (6, 0), (0, 1)):
        own = x if size else x[..., :6]
        wanted = turned(own, angles[at][:, :, None] if given else angles[:5, None], beside, 6)
        marks = {"num_heads": 4, "interleaved": beside, "rotary_embedding_dim": size}
        run(f"rotary {beside} {size} {given}", [node("RotaryEmbedding", ["x", "c", "s"] + ["p"] * given, ["y"], **marks)],
            {"x": own.reshape(2, 5, -1), **({"p": at} if given else {})}, wanted.reshape(2, 5, -1),
            tables if given else {"c": cos[None, :5], "s": sin[None, :5]}, {"p": TensorProto.INT64}, 23)
        heads = numpy.ascontiguousarray(own.swapaxes(1, 2))
        run(f"rotary of heads {beside} {size} {given}", [node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], **marks, **vendor)], {"x": heads},
            turned(heads, angles[3:8], beside, 6), {**tables, "p": numpy.arange(3, 8)[None] if given else numpy.int64([3])}, opset=17)


def places():
    for rank in (1, 2, 3):
        table = normal(*(50, 3, 2)[:rank])
        indices = random.randint(-50, 50, (3, 4))
        run(f"rows of a table of {rank} dimensions", [node("Gather", ["t", "i"], ["y"])], {"i": indices}, table[indices],
            {"t": table}, {"i": TensorProto.INT64})
    x = normal(3, 2, 4, 5)
    for times in ([1, 2, 1, 1], [1, 1, 3, 2], [1, 3, 2, 4]):
        run(f"tile {times}", [node("Tile", ["x", "r"], ["y"])], {"x": x}, numpy.tile(x, times), {"r": numpy.array(times)})
    run("tile of images", [node("Tile", ["x", "r"], ["y"])], {"x": x}, numpy.tile(x, [2, 1, 3, 1]), {"r": numpy.array([2, 1, 3, 1])},
        batch=3)
    x, u = normal(2, 3, 4, 5), normal(2, 2, 4, 2)
    for axis in (0, 1, -1):
        at = random.randint(-2, 2, (2, 2, 4, 2))
        run(f"elements along {axis}", [node("GatherElements", ["x", "i"], ["y"], axis=axis)], {"x": x},
            numpy.take_along_axis(x[:, :2, :, :2] if axis == 0 else x[:, :, :, :2] if axis == 1 else x[:, :2], at, axis), {"i": at}, batch=2)
        for kind, given in itertools.product(("none", "add"), (0, 1)):
            wanted = x.astype(float)
            for place in numpy.ndindex(at.shape):
                to = list(place)
                to[axis] = at[place]
                wanted[tuple(to)] = u[place] + (wanted[tuple(to)] if kind == "add" else 0)
            run(f"elements set along {axis} {kind} {given}", [node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis, reduction=kind)],
                {"x": x, **({"u": u} if given else {})}, wanted, {"i": at, **({} if given else {"u": u})}, opset=18, batch=2)
    for count, kind in itertools.product((1, 2, 4), ("none", "add")):
        at = random.randint(-2, 2, (3, count))
        new, wanted = normal(3, *x.shape[count:]), x.astype(float)
        for part, place in zip(new, at):
            wanted[tuple(place)] = part + (wanted[tuple(place)] if kind == "add" else 0)
        run(f"parts set by {count} {kind}", [node("ScatterND", ["x", "i", "u"], ["y"], reduction=kind)], {"x": x}, wanted, {"i": at, "u": new}, opset=18,
            batch=2)
    run("sums in constants", [node("ScatterND", ["k", "i", "u"], ["s"], reduction="add"), node("Mul", ["x", "s"], ["y"])], {"x": x},
        x * numpy.array([1., 5, 3, 13, 5]), {"k": numpy.arange(1, 6, dtype=f32), "i": numpy.array([[1], [3], [-2]]), "u": numpy.array([3, 4, 5], f32)}, opset=18)
    x = random.randint(-3, 4, (2, 3, 6, 5)).astype(f32)  # with ties
    for axis, keep, last, kind in itertools.product((1, 2, -1), (0, 1), (0, 1), ("Max", "Min")):
        find = numpy.argmax if kind == "Max" else numpy.argmin
        wanted = x.shape[axis] - 1 - find(numpy.flip(x, axis), axis) if last else find(x, axis)
        run(f"arg{kind} {axis} {keep} {last}", [node("Arg" + kind, ["x"], ["y"], axis=axis, keepdims=keep, select_last_index=last)],
            {"x": x}, (numpy.expand_dims(wanted, axis) if keep else wanted).astype(float), limit=200)


def sums():
    x = normal(2, 3, 5, 4)
    wide = x.astype(float)
    run("product of two axes", [node("ReduceProd", ["x"], ["y"], axes=[1, -1])], {"x": x}, wide.prod((1, 3), keepdims=True), limit=50)
    run("product of rows", [node("ReduceProd", ["x"], ["y"], axes=[2], keepdims=0)], {"x": x}, wide.prod(2))
    large = x + 300  # whose exponents have no end
    run("logarithm of sums", [node("ReduceLogSumExp", ["x"], ["y"], axes=[2, 3], keepdims=0)], {"x": large},
        numpy.log(numpy.exp(wide).sum((2, 3))) + 300)
    run("mean", [node("Mean", ["x", "z", "x"], ["y"])], {"x": x, "z": x * 3}, wide * 5 / 3)
    run("shrink", [node("Shrink", ["x"], ["y"], lambd=.5, bias=.25)], {"x": x},
        numpy.where(x < -.5, wide + .25, numpy.where(x > .5, wide - .25, 0)))
    run("shrink of overlapping sides", [node("Shrink", ["x"], ["y"], lambd=-.5, bias=.25)], {"x": x}, numpy.where(x < .5, wide + .25, wide - .25))
    sizes = dict(zip("nbchwoijdkltsp", (2, 2, 3, 4, 5, 6, 4, 5, 7, 3, 5, 4, 6, 2)))
    for equation in ("nchw->nhwc", "nchw->nc", "nchw,oc->nohw", "oc,nchw->nohw", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "bld,dk->blk",
                     "bhid,hdk->bhik", "bd,dk->bk", "bi,bj->bij", "bhi,bhi->bh", "bhwc,hkc->bhwk", "nchw,nch->nw"):
        operands = equation.split("->", maxsplit=1)[0].split(",")
        arrays = [normal(*(sizes[letter] for letter in letters)) for letters in operands]
        named = list(zip("uv", operands, arrays))
        run(equation, [node("Einsum", list("uv")[:len(operands)], ["y"], equation=equation)],
            {key: array for key, letters, array in named if letters[0] in "nb"},
            numpy.einsum(equation, *(array.astype(float) for array in arrays)),
            {key: array for key, letters, array in named if letters[0] not in "nb"})


def running():
    x = normal(2, 3, 7, 5)
    wide = x.astype(float)
    for operator, axis, back, exclusive in itertools.product(("CumSum", "CumProd"), (1, 2, -1), (0, 1), (0, 1)):
        function = numpy.cumsum if operator == "CumSum" else numpy.cumprod
        turned = numpy.flip(wide, axis) if back else wide
        wanted = function(turned, axis)
        if exclusive:
            first = wanted.take([0], axis) * 0 + (operator == "CumProd")
            wanted = numpy.concatenate((first, wanted.take(range(x.shape[axis] - 1), axis)), axis)
        run(f"{operator} {axis} {back} {exclusive}", [node(operator, ["x", "n"], ["y"], reverse=back, exclusive=exclusive)], {"x": x},
            numpy.flip(wanted, axis) if back else wanted, {"n": numpy.int32(axis)}, limit=50)
    run("sums of images", [node("CumSum", ["x", "n"], ["y"])], {"x": x}, wide.cumsum(0), {"n": numpy.int64(0)}, batch=2)
    ties = random.randint(-3, 4, (2, 3, 6, 5)).astype(f32)
    for axis in (1, -1):
        first = ties.argmax(axis)
        run(f"hardmax {axis}", [node("Hardmax", ["x"], ["y"], axis=axis)], {"x": ties},
            (numpy.expand_dims(first, axis) == numpy.arange(ties.shape[axis]).reshape(-1, *[1] * (3 - axis % 4))).astype(float), limit=200)
    for axes in ((2, 3), None):
        among = axes or (0, 2, 3)
        apart = x * f32([.2, 1, 20]).reshape(3, 1, 1)
        wanted = (apart - apart.mean(among, keepdims=True)) / apart.std(among, keepdims=True)
        run(f"mean and variance of {axes}", [node("MeanVarianceNormalization", ["x"], ["y"], **({"axes": axes} if axes else {}))],
            {"x": apart}, wanted, batch="N" if axes else 2, limit=45)


def losses():
    scores, labels, heavy = normal(4, 5, 3, 2), random.randint(0, 5, (4, 3, 2)), abs(normal(5)) + f32(.5)
    labels[0, 0] = 2
    wide = scores.astype(float)
    shares = numpy.log(softmax(wide, 1))
    for operator, weights, ignore, reduction in itertools.product(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), (0, 1), (None, 2),
                                                                  ("none", "sum", "mean")):
        given = weights != (ignore is None)  # the labels are an input
        numbers = shares if operator[0] == "S" else wide
        share = (heavy[labels] if weights else numpy.ones(labels.shape)) * (labels != ignore)
        each = -numpy.take_along_axis(numbers, labels[:, None], 1)[:, 0] * share
        wanted = each if reduction == "none" else each.sum() / (share.sum() if reduction == "mean" else 1)
        attributes = {} if ignore is None else {"ignore_index": ignore}
        constants = {**({"w": heavy} if weights else {}), **({} if given else {"l": labels})}
        run(f"{operator} {weights} {ignore} {reduction} {given}", [node(operator, ["x", "l"] + ["w"] * weights, ["y"], reduction=reduction, **attributes)],
            {"x": scores, **({"l": labels} if given else {})}, wanted, constants, {"l": TensorProto.INT64}, batch=4 if reduction != "none" or not given else "N",
            limit=50)
    run("logarithms beside the loss", [node("SoftmaxCrossEntropyLoss", ["x", "l"], ["s", "y"], reduction="sum")], {"x": scores}, shares, {"l": labels}, batch=4, limit=50)


def sampled(maps, grid, mode, padding, corners):
    """Sample by sample, tap by tap, as the operator's text has it."""
    sizes = maps.shape[2:]
    places = [((g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2)
              for g, size in zip(numpy.moveaxis(grid.astype(float), -1, 0)[::-1], sizes)]

    def taps(place, size):
        if mode == "nearest":
            return [(int(numpy.rint(place)), 1.)]
        low, part = int(numpy.floor(place)), place % 1
        if mode == "linear":
            return [(low, 1 - part), (low + 1, part)]
        far = [1 + part, part, 1 - part, 2 - part]
        a = -.75
        return [(low - 1 + i, (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1 if d <= 1 else a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a)
                for i, d in enumerate(far)]

    def inside(place, size):
        if padding == "border":
            return min(max(place, 0), size - 1)
        while padding == "reflection" and not 0 <= place < size:
            place = (-place if place < 0 else 2 * (size - 1) - place) if corners else (-1 - place if place < 0 else 2 * size - 1 - place)
        return place if 0 <= place < size else None
    out = numpy.zeros((*maps.shape[:2], *grid.shape[1:-1]))
    for sample in numpy.ndindex(grid.shape[:-1]):
        for way in itertools.product(*(taps(p[sample], size) for p, size in zip(places, sizes))):
            at = [inside(place, size) for (place, _), size in zip(way, sizes)]
            if None not in at:
                out[(sample[0], slice(None), *sample[1:])] += maps[(sample[0], slice(None), *at)] * numpy.prod([weight for _, weight in way])
    return out


def samples():
    maps, grid = normal(2, 3, 5, 4), (normal(2, 4, 6, 2) * .8).astype(f32)
    deep, cube = normal(1, 2, 3, 4, 5), (normal(1, 2, 3, 4, 3) * .7).astype(f32)
    for corners, (mode, padding) in itertools.product((0, 1), (("linear", "zeros"), ("linear", "border"), ("linear", "reflection"),
                                                               ("nearest", "zeros"), ("nearest", "reflection"), ("cubic", "zeros"))):
        grid_sample = node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=corners)
        name = f"samples {mode} {padding} {corners}"
        run(name, [grid_sample], {"x": maps}, sampled(maps, grid, mode, padding, corners), {"g": grid}, opset=20, batch=2)
        if mode != "nearest":  # of which a word is sometimes on the other side of the middle
            run(name + " where the network says", [grid_sample], {"x": maps, "g": grid}, sampled(maps, grid, mode, padding, corners), opset=20, limit=45)
        if mode != "cubic":
            run(name + " of a cube", [grid_sample], {"x": deep}, sampled(deep, cube, mode, padding, corners), {"g": cube}, opset=20)


def spectra():
    for (axis, length), parts in itertools.product(((1, None), (-2, 5), (1, 12)), (1, 2)):
        x = normal(2, 8, 9, parts)
        number = (x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)).astype(complex)
        for back, half in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if (half and not back and parts == 2) or (half and back and parts == 1):
                continue  # which the operator does not know
            function = {(0, 0): numpy.fft.fft, (0, 1): numpy.fft.rfft, (1, 0): numpy.fft.ifft, (1, 1): numpy.fft.irfft}[back, half]
            made = function(number.real if half and not back else number, length, axis % 4)
            wanted = made[..., None] if half and back else numpy.stack((made.real, made.imag), -1)
            run(f"spectrum {axis} {parts} {length} {back} {half}",
                [node("DFT", ["x", "l" if length else "", "a"], ["y"], inverse=back, onesided=half)], {"x": x}, wanted,
                {"a": numpy.int64(axis), **({"l": numpy.int64(length)} if length else {})}, opset=20)
    x = normal(3, 8, 9, 1)
    made = numpy.fft.fft(x[..., 0].astype(float), axis=0)
    run("spectrum along images", [node("DFT", ["x"], ["y"], axis=0)], {"x": x}, numpy.stack((made.real, made.imag), -1), opset=17, batch=3)


def quantised():
    def whole(x, scale, zero):
        return (numpy.rint(x.astype(float) / float(scale)) + zero).clip(0, 255)

    def numbers(x, scale, zero):
        return (x - float(zero)) * float(scale)
    x = (normal(2, 4, 6, 6) * 2).astype(f32)
    s, z = {"p": f32(.0311), "r": f32(.0507), "o": f32(.0413)}, {"p": 120, "r": 100, "o": 90}
    a, b = (numbers(whole(x, s[key], z[key]), s[key], z[key]) for key in "pr")
    constants = {**{key + "s": s[key] for key in s}, **{key + "z": numpy.uint8(z[key]) for key in z}}
    first = [node("QuantizeLinear", ["x", key + "s", key + "z"], [key]) for key in "pr"]
    last = node("DequantizeLinear", ["o", "os", "oz"], ["y"])

    def case(operator, inputs, values, **attributes):
        wanted = numbers(whole(values, s["o"], z["o"]), s["o"], z["o"])
        run(operator, [*first, node(operator, inputs, ["o"], **attributes, **vendor), last], {"x": x}, wanted, constants,
            steps=float(s["o"]))
    one, other, out = (["%s" % key, key + "s", key + "z"] for key in "pro")
    case("QLinearAveragePool", [*one, *out[1:]], a.reshape(2, 4, 3, 2, 3, 2).mean((3, 5)), kernel_shape=[2, 2], strides=[2, 2])
    case("QLinearGlobalAveragePool", [*one, *out[1:]], a.mean((1, 2), keepdims=True), channels_last=1)
    case("QLinearMul", [*one, *other, *out[1:]], a * b)
    constants["k"] = random.randint(0, 256, 6).astype(numpy.uint8)
    case("QLinearAdd", [*one, "k", *other[1:], *out[1:]], a + numbers(constants["k"], s["r"], z["r"]))
    case("QLinearSigmoid", [*one, *out[1:]], 1 / (1 + numpy.exp(-a)))
    case("QLinearLeakyRelu", [*one, *out[1:]], numpy.where(a < 0, .1 * a, a), alpha=.1)
    case("QLinearSoftmax", [*one, *out[1:]], softmax(a, 1), axis=1, opset=13)
    case("QLinearConcat", [*out[1:], *one, *other, *one], numpy.concatenate((a, b, a), 1), axis=1)
    # Arrays of 8-bit words alone: constants, and weights of what is dequantised and moved.
    on_bytes = [["-p", "systolic"]]
    kernel = numpy.random.RandomState(4).randint(-127, 128, (36, 5))
    moved = {"ps": s["p"], "pz": constants["pz"], "os": s["o"], "oz": constants["oz"]}
    ends = [node("QuantizeLinear", ["m", "os", "oz"], ["o"]), last]
    for name, operator, sizes, given in (("expanded", "Expand", [1, 4, 36, 3], x.reshape(2, 4, 36, 1)), ("repeated", "Tile", [1, 1, 2, 3], x)):
        wide = numbers(whole(given, s["p"], z["p"]), s["p"], z["p"])
        wide = numpy.broadcast_to(wide, (2, *sizes[1:])) if operator == "Expand" else numpy.tile(wide, sizes)
        run(f"{name} quantised numbers on bytes", [node("QuantizeLinear", ["x", "ps", "pz"], ["p"]), node("DequantizeLinear", ["p", "ps", "pz"], ["a"]),
            node(operator, ["a", "r"], ["m"]), *ends], {"x": given}, numbers(whole(wide, s["o"], z["o"]), s["o"], z["o"]),
            {"r": numpy.array(sizes), **moved}, steps=float(s["o"]), forms=on_bytes)
    run("rows of quantised numbers on bytes", [node("QuantizeLinear", ["x", "ps", "pz"], ["p"]), node("DequantizeLinear", ["p", "ps", "pz"], ["a"]),
        node("Gather", ["a", "i"], ["g"], axis=1), node("DequantizeLinear", ["k", "ks"], ["w"]), node("Gemm", ["g", "w"], ["m"]), *ends],
        {"x": x.reshape(2, 4, 36)}, a.reshape(2, 4, 36)[:, 2] @ kernel * .001, {"i": numpy.array(2), "k": kernel.astype(numpy.int8), "ks": f32(.001), **moved},
        limit=25, forms=on_bytes)
    # A Reshape that mixes the first dimension makes the whole input one image.
    pairs = [node("QuantizeLinear", ["x", "ps", "pz"], ["p"]), node("DequantizeLinear", ["p", "ps", "pz"], ["a"]),
             node("QuantizeLinear", ["x", "rs", "rz"], ["r"]), node("DequantizeLinear", ["r", "rs", "rz"], ["b"])]
    scales = {key: constants[key] for key in ("ps", "pz", "rs", "rz", "os", "oz")}
    for axis in (1, -1):
        wanted = numbers(whole(numpy.concatenate((a, b), axis), s["o"], z["o"]), s["o"], z["o"])[:1]
        run(f"join of one image along {axis}", [node("Reshape", ["v", "form"], ["x"]), *pairs, node("Concat", ["a", "b"], ["c"], axis=axis),
            node("QuantizeLinear", ["c", "os", "oz"], ["o"]), last], {"v": x[0].reshape(8, 18)}, wanted, {"form": numpy.array([1, 4, 6, 6]), **scales},
            batch=8, steps=float(s["o"]))

    x = normal(1, 3, 7, 7)
    scale = max(x.max(), 0) / 255 - min(x.min(), 0) / 255
    zero = numpy.rint(-min(x.min(), 0) / scale).clip(0, 255)
    parts = (numpy.rint(x.astype(float) / scale) + zero).clip(0, 255) - zero
    w, wz = random.randint(0, 256, (3, 3)), 128
    dynamic = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
               node("ConvInteger", ["q", "w", "z", "wz"], ["c"]), node("Cast", ["c"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])]
    kernel = (w - wz).astype(float)
    mixed = numpy.einsum("nchw,oc->nohw", parts, kernel) * scale
    run("dynamic convolution", dynamic, {"x": x}, mixed,
        {"w": w.astype(numpy.uint8).reshape(3, 3, 1, 1), "wz": numpy.uint8(wz)}, batch=1, limit=45)
    m, mz = random.randint(-128, 128, (7, 4)), 3
    dynamic[1] = node("MatMulInteger", ["q", "w", "z", "wz"], ["c"])
    run("dynamic product", dynamic, {"x": x}, parts @ (m - mz).astype(float) * scale,
        {"w": m.astype(numpy.int8), "wz": numpy.int8(mz)}, batch=1, limit=45)


def fused():
    """What onnxruntime's optimiser makes of several."""
    erf = numpy.vectorize(math.erf)

    def gelu(x):
        return .5 * x * (1 + erf(x / numpy.sqrt(2)))

    def bent(x):
        return .5 * x * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + .044715 * x ** 3)))

    def case(operator, inputs, wanted, constants=None, outputs=("y",), after=(), name="", **attributes):
        run(operator + name, [node(operator, inputs, outputs, **attributes, **vendor), *after], {"x": x}, wanted, constants)
    x, b = normal(2, 6, 8), normal(8)
    case("Gelu", ["x"], gelu(x))
    case("BiasGelu", ["x", "b"], gelu(x + b), {"b": b})
    case("FastGelu", ["x"], bent(x))
    case("FastGelu", ["x", "b"], bent(x + b), {"b": b}, name=" of a sum")
    case("QuickGelu", ["x"], x / (1 + numpy.exp(-1.5 * x)), alpha=1.5)
    case("FusedMatMul", ["x", "w"], .5 * x @ (w := normal(5, 8)).T, {"w": w}, alpha=.5, transB=1)
    case("FusedMatMul", ["x", "x"], x.swapaxes(1, 2) @ x, name=" of itself", transA=1)
    run("FusedGemm", [node("Flatten", ["x"], ["f"]), node("FusedGemm", ["f", "w", "c"], ["y"], alpha=.5, transB=1, activation="Relu", **vendor)],
        {"x": x}, numpy.maximum(.5 * x.reshape(2, 48) @ (wide := normal(5, 48)).T + (c := normal(5)), 0), {"w": wide, "c": c})

    skip, scale, shift = normal(6, 8), normal(8), normal(8)
    both = x + skip
    centred = both - both.mean(-1, keepdims=True)
    normed = centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
    simple = both / numpy.sqrt((both ** 2).mean(-1, keepdims=True) + 1e-5)
    given = {"k": skip, "s": scale, "t": shift, "b": b}
    case("SkipLayerNormalization", ["x", "k", "s", "t"], normed * scale + shift, given, epsilon=1e-5)
    case("SkipLayerNormalization", ["x", "k", "s", "t", "b"], both + b, given, ("n", "", "", "m"), [node("Identity", ["m"], ["y"])], " and the sum",
         epsilon=1e-5)
    case("SkipSimplifiedLayerNormalization", ["x", "k", "s"], simple * scale, given, epsilon=1e-5)
    run("SimplifiedLayerNormalization", [node("SimplifiedLayerNormalization", ["x", "s"], ["y"], axis=-1, epsilon=1e-5)], {"x": x},
        x / numpy.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * scale, {"s": scale})

    def heads(v):
        return v.reshape(2, 6, 2, 4).swapaxes(1, 2)

    def attend(q, k, v, mask=0):
        return (softmax(heads(q) @ heads(k).swapaxes(2, 3) / 2 + mask) @ heads(v)).swapaxes(1, 2).reshape(2, 6, 8)
    more, mask = normal(24), normal(1, 2, 6, 6)
    case("MultiHeadAttention", ["x", "x", "x"], attend(x, x, x), num_heads=2)
    parts = [x + part for part in numpy.split(more, 3)]
    case("MultiHeadAttention", ["x", "x", "x", "o", "", "m"], attend(*parts, mask), {"o": more, "m": mask}, name=" of sums, masked", num_heads=2)
    weights = normal(8, 24) / 2
    case("Attention", ["x", "w", "o"], attend(*numpy.split(x @ weights + more, 3, -1)), {"w": weights, "o": more}, num_heads=2)

    x, w = normal(2, 4, 5, 5), normal(3, 4, 1, 1)
    made = numpy.einsum("nchw,oc->nohw", x, w[..., 0, 0])
    other = normal(1, 3, 5, 5)
    for function, numbers, wanted in (("Relu", [], numpy.maximum(made, 0)), ("LeakyRelu", [.1], numpy.where(made < 0, .1 * made, made)),
                                      ("Clip", [-.5, .75], made.clip(-.5, .75)), ("HardSigmoid", [.3, .4], (.3 * made + .4).clip(0, 1)),
                                      ("Tanh", [], numpy.tanh(made))):
        case("FusedConv", ["x", "w"], wanted, {"w": w}, name=" " + function, activation=function, activation_params=numbers)
    case("FusedConv", ["x", "w", "", "z"], numpy.maximum(made + other, 0), {"w": w, "z": other}, name=" of a sum", activation="Relu")

    x = normal(1, 6, 8)
    step = (max(x.max(), 0) - min(x.min(), 0)) / 255
    zero = numpy.rint(-min(x.min(), 0) / step)
    words, w = (numpy.rint(x / step) + zero).clip(0, 255) - zero, random.randint(-127, 128, (8, 5)).astype(numpy.int8)
    run("DynamicQuantizeMatMul", [node("DynamicQuantizeMatMul", ["x", "w", "s", "", "b"], ["y"], **vendor)], {"x": x},
        words * step @ (w * .02) + (c := normal(5)), {"w": w, "s": f32(.02), "b": c}, batch=1, limit=45)
    run("MatMulIntegerToFloat", [node("DynamicQuantizeLinear", ["x"], ["q", "t", "z"]),
                                 node("MatMulIntegerToFloat", ["q", "w", "t", "s", "z", "", "b"], ["y"], **vendor)], {"x": x},
        words * step @ (w * .02) + c, {"w": w, "s": f32(.02), "b": c}, batch=1, limit=45)


def limited_by_tensors():
    x = normal(2, 3, 4, 5)
    low = x.max() - 1
    run("lower limit that is a tensor", [node("ReduceMax", ["x"], ["m"], keepdims=0), node("Sub", ["m", "k"], ["l"]), node("Clip", ["x", "l", "i"], ["y"])],
        {"x": x}, x.clip(low, None), {"k": f32(1), "i": f32(numpy.inf)}, batch=2)
    run("limits of which one is a tensor", [node("ReduceMax", ["x"], ["m"], keepdims=0), node("Sub", ["m", "k"], ["l"]), node("Clip", ["x", "n", "l"], ["y"])],
        {"x": x}, x.clip(-.5, low), {"k": f32(1), "n": f32(-.5)}, batch=2)
    run("what is not 0", [node("Relu", ["x"], ["r"]), node("Cast", ["r"], ["c"], to=9), node("Where", ["c", "x", "k"], ["y"])], {"x": x},
        numpy.where(x > 0, x, 2), {"k": f32(2)})


def quant(x, scale, zero, bits, signed=1, narrow=0, rounded=numpy.rint):
    """IntQuant of QONNX's documents."""
    low, high = (narrow - 2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1 - narrow)
    return (rounded((x.astype(float) / scale + zero).clip(low, high)) - zero) * scale


def qonnx():
    domain = {"domain": "qonnx.custom_op.general"}
    x = normal(2, 4, 6, 6)
    for bits, signed, narrow, zero in ((8, 1, 0, 0), (8, 0, 0, 100), (8, 1, 1, 0), (4, 1, 0, 0), (4, 0, 0, 3), (3, 0, 1, 0), (12, 1, 0, 0), (1, 1, 0, 0)):
        scale = f32(4.1 / 2 ** bits)
        run(f"{bits} bits {signed} {narrow} {zero}", [node("Quant", ["x", "s", "z", "b"], ["y"], signed=signed, narrow=narrow, **domain)], {"x": x},
            quant(x, scale, zero, bits, signed, narrow), {"s": scale, "z": f32(zero), "b": f32(bits)}, limit=70, steps=float(scale) if bits < 9 else None)
    for mode, rounded in (("FLOOR", numpy.floor), ("CEIL", numpy.ceil)):
        run(mode, [node("IntQuant", ["x", "s", "z", "b"], ["y"], rounding_mode=mode, **domain)], {"x": x}, quant(x, f32(.1), 0, 6, rounded=rounded),
            {"s": f32(.1), "z": f32(0), "b": f32(6)}, steps=.1)
    each = (random.rand(1, 4, 1, 1) + .2).astype(f32)
    run("steps of each channel", [node("Quant", ["x", "s", "z", "b"], ["y"], **domain)], {"x": x}, quant(x, each, 0, 5),
        {"s": each, "z": f32(0), "b": f32(5)}, limit=50)
    run("signs", [node("BipolarQuant", ["x", "s"], ["y"], **domain)], {"x": x}, numpy.where(x < 0, -.3, .3), {"s": f32(.3)}, limit=80)

    # Learned with quantised weights and results: normalised by channels, also by negative factors; the bias is a float.
    w, b, factor, shift = normal(5, 4, 1, 1), normal(5), normal(5), normal(5)
    steps = (abs(w).max((1, 2, 3), keepdims=True) / 7).astype(f32)
    words = quant(w, steps, 0, 4, narrow=1)[..., 0, 0]
    read = quant(x, f32(.03), 0, 8)
    made = numpy.einsum("nchw,oc->nohw", read, words) + b[:, None, None]
    made = made * (factor / numpy.sqrt(1 + 1e-5))[:, None, None] + shift[:, None, None]
    wanted = quant(numpy.maximum(made, 0), f32(.2), 0, 4, signed=0)
    constants = {"w": w, "b": b, "ws": steps, "z": f32(0), "b4": f32(4), "b8": f32(8), "xs": f32(.03), "ys": f32(.2), "f": factor, "o": shift,
                 "m": numpy.zeros(5, f32), "v": numpy.ones(5, f32)}
    learned = [node("Quant", ["x", "xs", "z", "b8"], ["q"], **domain), node("Quant", ["w", "ws", "z", "b4"], ["k"], narrow=1, **domain),
               node("Conv", ["q", "k", "b"], ["c"]), node("BatchNormalization", ["c", "f", "o", "m", "v"], ["n"]), node("Relu", ["n"], ["r"]),
               node("Quant", ["r", "ys", "z", "b4"], ["y"], signed=0, **domain)]
    on_systolic = (["-p", "systolic"], ["--timing-only", "-p", "systolic"])[:len(FORMS)]
    for forms in (FORMS, on_systolic):
        run(f"learned in few bits {len(forms)}", learned, {"x": x}, wanted, constants, steps=.2, forms=forms)
    # Sums count in larger steps than results do, and a tiny factor leaves what is added alone.
    x, w, factor = normal(2, 7), normal(6, 7), numpy.array([1, -1, 1, 1, 1e-9, -1], f32)
    coarse = {"w": w, "ws": f32(.5), "z": f32(0), "b3": f32(3), "b8": f32(8), "xs": f32(.2), "ys": f32(.13), "f": factor, "o": shift.repeat(2)[:6],
              "m": normal(6), "v": numpy.ones(6, f32)}
    made = quant(x, f32(.2), 0, 8) @ quant(w, f32(.5), 0, 3).T
    made = (made - coarse["m"]) * (factor / numpy.sqrt(1 + 1e-5)) + coarse["o"]
    nodes = [node("Quant", ["x", "xs", "z", "b8"], ["q"], **domain), node("Quant", ["w", "ws", "z", "b3"], ["k"], **domain),
             node("Transpose", ["k"], ["t"], perm=[1, 0]), node("MatMul", ["q", "t"], ["c"]), node("BatchNormalization", ["c", "f", "o", "m", "v"], ["n"])]
    for forms in (FORMS, on_systolic):
        run(f"coarse sums {len(forms)}", [*nodes, node("Quant", ["n", "ys", "z", "b8"], ["y"], **domain)], {"x": x}, quant(made, f32(.13), 0, 8), coarse,
            steps=.13, forms=forms)
        run(f"coarse sums that stay {len(forms)}", [*nodes, node("Identity", ["n"], ["y"])], {"x": x}, made, coarse, forms=forms)
    # The words of weights are known, and nothing else is quantised.
    x, w = normal(2, 4, 6, 6), constants["w"]
    run("weights in few bits", [learned[1], node("Conv", ["x", "k"], ["y"])], {"x": x}, numpy.einsum("nchw,oc->nohw", x, words), constants, limit=30,
        forms=on_systolic)


def bytes_as_numbers():
    """Operators that compute the same with the numbers of 8 bits as with floats."""
    x, z = random.randint(0, 256, (2, 3, 4, 5)), random.randint(0, 256, (2, 3, 4, 5))
    z[0], x[1, 0] = x[0], 100
    both = {"x": x, "z": z}
    types = dict.fromkeys("xz", TensorProto.UINT8)
    last = node("Cast", ["m"], ["y"], to=1)
    for operator, function in (("Max", numpy.maximum), ("Min", numpy.minimum), ("Equal", numpy.equal), ("Less", numpy.less),
                               ("GreaterOrEqual", numpy.greater_equal)):
        run(f"{operator} of bytes", [node(operator, ["x", "z"], ["m"]), last], both, function(x, z).astype(float), types=types, limit=200)
        k = numpy.uint8(100)
        run(f"{operator} of bytes and one", [node(operator, ["x", "k"], ["m"]), last], {"x": x}, function(x, k).astype(float), {"k": k}, types, limit=200)
    run("upper limit of bytes", [node("Clip", ["x", "", "k"], ["m"]), last], {"x": x}, numpy.minimum(x, 99).astype(float), {"k": numpy.uint8(99)}, types, limit=200)
    run("pictures of bytes", [node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]), node("Cast", ["t"], ["f"], to=1), node("Div", ["f", "k"], ["y"])],
        {"x": x}, x.transpose(0, 2, 3, 1) / 255, {"k": f32(255)}, types)
    run("numbers with a zero point", [node("QuantizeLinear", ["x", "s", "o"], ["q"]), node("Cast", ["q"], ["y"], to=1)], {"x": normal(2, 5) * 0},
        numpy.full((2, 5), 120.), {"s": f32(.1), "o": numpy.uint8(120)}, limit=200)


def stretched(x, out, mode, a, axis):
    """Along an axis to fewer elements: each is made of those that a filter as wide as the step reaches, weights made 1."""
    filters = {"linear": lambda d: numpy.maximum(0, 1 - d),
               "cubic": lambda d: numpy.where(d < 1, (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1,
                                              numpy.where(d < 2, a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a, 0))}
    size = x.shape[axis]
    centres = (numpy.arange(out) + .5) * size / out - .5
    weights = filters[mode](abs(numpy.arange(size) - centres[:, None]) * out / size)
    return numpy.moveaxis(numpy.tensordot(weights / weights.sum(1, keepdims=True), x.astype(float), (1, axis)), 0, axis)


def exported():
    """What PyTorch 2.11 writes of networks of today."""
    x = normal(1, 16, 6)
    slope, shift, mean, wide = normal(6), normal(6), normal(6), abs(normal(6)) + f32(.5)
    norm = {"s": slope, "o": shift, "m": mean, "v": wide}
    line = (x.astype(float) - mean) / numpy.sqrt(wide + 1e-3) * slope + shift
    run("batch norm of tokens", [node("Reshape", ["x", "flat"], ["t"]), node("BatchNormalization", ["t", *"somv"[:2], "m", "v"], ["n"], epsilon=1e-3),
                                 node("Reshape", ["n", "back"], ["y"])], {"x": x}, line,
        {**norm, "flat": numpy.array([16, 6]), "back": numpy.array([1, 16, 6])}, batch=1)
    k = normal(1, 6, 4, 5)
    own = (k - k.mean((0, 2, 3), keepdims=True)) / numpy.sqrt(k.var((0, 2, 3), keepdims=True) + 1e-5)
    given = (k - mean.reshape(6, 1, 1)) / numpy.sqrt(wide + 1e-5).reshape(6, 1, 1)
    for name, wanted, training in (("given", given, 0), ("own", own, 1)):
        z = normal(2, 6, 4, 5)
        run("batch norm of constants, statistics " + name,
            [node("BatchNormalization", ["k", "s", "o", "m", "v"], ["n"], **({"training_mode": 1} if training else {})), node("Mul", ["x", "n"], ["y"])],
            {"x": z}, z * (wanted * slope.reshape(6, 1, 1) + shift.reshape(6, 1, 1)), {**norm, "k": k}, opset=15)
    apart = normal(3, 6, 4, 5)
    far = (apart - apart.mean((0, 2, 3), keepdims=True)) / numpy.sqrt(apart.var((0, 2, 3), keepdims=True) + 1e-5)
    run("batch norm of images that are one", [node("BatchNormalization", ["x", "s", "o", "m", "v"], ["n"], training_mode=1), node("Softmax", ["n"], ["y"], axis=0)],
        {"x": apart}, softmax(far * slope.reshape(6, 1, 1) + shift.reshape(6, 1, 1), 0), norm, opset=15, batch=3, limit=45)
    plane = normal(1, 2, 128, 160) * f32(2) + f32(1)
    even = (plane - plane.mean((2, 3), keepdims=True)) / numpy.sqrt(plane.var((2, 3), keepdims=True) + 1e-5)
    run("instance norm of large maps", [node("InstanceNormalization", ["x", "s", "o"], ["y"])], {"x": plane},
        even * slope[:2].reshape(2, 1, 1) + shift[:2].reshape(2, 1, 1), {"s": slope[:2], "o": shift[:2]}, limit=50)

    x = normal(2, 7, 24)
    x[:, 2] = 0
    wanted = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-12)
    run("layer norm beside tokens of zeros", [node("LayerNormalization", ["x", "s"], ["y"], epsilon=1e-12)], {"x": x}, wanted * slope.repeat(4),
        {"s": slope.repeat(4)}, opset=17)
    # A row with large numbers, such as the first token of a language model, leaves the others their precision.
    rows = x * f32([300, 1, 1, 2, .5, 1, 4]).reshape(7, 1)
    squares = (rows.astype(float) ** 2).sum(-1, keepdims=True)
    rms, length = rows / numpy.sqrt(squares / 24 + 1e-5), rows / numpy.sqrt(squares + 1e-24)
    by_rms = [node("Pow", ["x", "two"], ["s"]), node("ReduceMean", ["s"], ["m"], axes=[-1]), node("Add", ["m", "e"], ["d"]), node("Sqrt", ["d"], ["r"])]
    for part in (slice(0, 1), slice(1, 7)):
        rows_of = [node("Slice", ["z", "from", "to", "axis"], ["y"])]
        ends = {"from": numpy.array([part.start]), "to": numpy.array([part.stop]), "axis": numpy.array([1])}
        run(f"root mean square of rows {part.start}", [*by_rms, node("Div", ["one", "r"], ["i"]), node("Mul", ["x", "i"], ["z"]), *rows_of], {"x": rows},
            rms[:, part], {"two": f32(2), "e": f32(1e-5), "one": f32(1), **ends}, opset=17, limit=34)
        run(f"RMSNormalization of rows {part.start}", [node("RMSNormalization", ["x", "s"], ["z"], epsilon=1e-5), *rows_of], {"x": rows},
            (rms * slope.repeat(4))[:, part], {"s": slope.repeat(4), **ends}, opset=23, limit=34)
        run(f"length of rows {part.start}", [node("ReduceL2", ["x"], ["r"], axes=[-1]), node("Clip", ["r", "e", ""], ["c"]), node("Div", ["x", "c"], ["z"]),
            *rows_of], {"x": rows}, length[:, part], {"e": f32(1e-12), **ends}, opset=17, limit=34)
    wide = numpy.linspace(-20, 20, 300).reshape(2, 3, 50).astype(f32)
    logistic = 1 / (1 + numpy.exp(-wide.astype(float)))
    one, plus = {"one": f32(1)}, [node("Exp", ["n"], ["e"]), node("Add", ["e", "one"], ["d"])]
    negative = [node("Neg", ["x"], ["n"]), *plus]
    run("logarithm of a sigmoid", [node("Sigmoid", ["x"], ["s"]), node("Log", ["s"], ["y"])], {"x": wide}, numpy.log(logistic))
    run("softplus taken apart", [node("Identity", ["x"], ["n"]), *plus[:1], node("Add", ["one", "e"], ["d"]), node("Log", ["d"], ["y"])], {"x": wide},
        -numpy.log(1 - logistic), one, limit=50)
    run("softplus of -x taken apart", [*negative, node("Log", ["d"], ["y"])], {"x": wide}, -numpy.log(logistic), one)
    run("sigmoid taken apart", [*negative, node("Reciprocal", ["d"], ["y"])], {"x": wide}, logistic, one)
    run("sigmoid of -x taken apart", [node("Exp", ["x"], ["e"]), node("Add", ["e", "one"], ["d"]), node("Div", ["three", "d"], ["y"])], {"x": wide},
        3 * (1 - logistic), {**one, "three": f32(3)})
    run("swish taken apart", [*negative, node("Div", ["x", "d"], ["y"])], {"x": wide}, wide * logistic, one)
    run("not a sigmoid", [*negative[:2], node("Add", ["e", "two"], ["d"]), node("Reciprocal", ["d"], ["y"])], {"x": wide / 8},
        1 / (2 + numpy.exp(-wide.astype(float) / 8)), {"two": f32(2)}, limit=50)
    run("a sigmoid of more dimensions", [*negative, node("Div", ["deep", "d"], ["y"])], {"x": wide[:, 0] / 8}, 1 / (1 + numpy.exp(-wide[:, 0] / 8.))[None],
        {**one, "deep": f32([[[1]]])}, limit=50, batch=2)
    for reach, limit in ((3, 75), (30, 60), (300, 40), (1000, 30)):
        angles = numpy.linspace(-reach, reach, 300).reshape(2, 3, 50).astype(f32)
        for operator, function in (("Sin", numpy.sin), ("Cos", numpy.cos)):
            run(f"{operator} up to {reach}", [node(operator, ["x"], ["y"])], {"x": angles}, function(angles.astype(float)), limit=limit)
    # States that begin far below all numbers, as those of RWKV, do not widen the format of a maximum.
    for operator, far, function in (("Max", -1e38, numpy.maximum), ("Min", 1e38, numpy.minimum)):
        edge = numpy.where(numpy.arange(24) % 3, far, .25).astype(f32)
        for name, limit in (("vector", edge), ("matrix", numpy.tile(edge, (7, 1)))):
            run(f"{operator} with a {name}", [node(operator, ["m", "x"], ["y"])], {"x": x}, function(x, limit), {"m": limit}, limit=70)
    run("0 / (0 + epsilon)", [node("Abs", ["x"], ["a"]), node("Add", ["a", "e"], ["d"]), node("Div", ["x", "d"], ["y"])], {"x": x}, numpy.sign(x),
        {"e": f32(1e-12)})
    z = normal(2, 3, 5)
    run("never no number", [node("Softmax", ["x"], ["p"], axis=-1), node("IsNaN", ["p"], ["n"]), node("Where", ["n", "zero", "p"], ["y"])], {"x": z},
        softmax(z.astype(float)), {"zero": f32(0)})
    maps = normal(1, 4, 3, 5)
    places_of = numpy.stack(numpy.meshgrid([0, 2, -1, 1], [4, 0, -2], indexing="ij"), -1)
    run("places of maps", [node("Transpose", ["x"], ["t"], perm=[2, 3, 0, 1]), node("GatherND", ["t", "i"], ["g"]), node("Transpose", ["g"], ["y"], perm=[2, 3, 0, 1])],
        {"x": maps}, maps[:, :, places_of[..., 0], places_of[..., 1]], {"i": places_of}, batch=1)
    table = normal(6, 3)
    hidden = numpy.zeros((6, 3), f32)
    hidden[[1, 4]] = table[:2]
    run("places in constants", [node("GatherND", ["k", "i"], ["g"]), node("ScatterND", ["zeros", "two", "rows"], ["h"]), node("Add", ["g", "h"], ["c"]),
                                node("Mul", ["x", "c"], ["y"])], {"x": z[:1, :1].repeat(6, 1)[..., :3]},
        z[:1, :1].repeat(6, 1)[..., :3] * (table[[5, 0, 1, 5, 2, 3]] + hidden),
        {"k": table, "i": numpy.array([[5], [0], [1], [-1], [2], [3]]), "zeros": numpy.zeros((6, 3), f32), "two": numpy.array([[1], [-2]]), "rows": table[:2]})
    for operator, function in (("Elu", lambda v: numpy.where(v > 0, v, numpy.exp(v) - 1)), ("LeakyRelu", lambda v: numpy.where(v > 0, v, v * .01)),
                               ("ThresholdedRelu", lambda v: numpy.where(v > 1, v, 0)), ("Shrink", lambda v: numpy.where(abs(v) > .5, v, 0))):
        k, u = normal(3, 4) * 3, normal(3, 4)
        run(f"{operator} of constants", [node(operator, ["k"], ["f"]), node("Mul", ["u", "f"], ["y"])], {"u": u}, u * function(k.astype(float)), {"k": k}, batch=3,
            limit=50)
    many = normal(2, 1100, 1)
    order = random.permutation(1100)
    run("many places", [node("Gather", ["x", "i"], ["y"], axis=1)], {"x": many}, many[:, order], {"i": order})

    for size, kernel, steps, apart, around in (((6, 7), (3, 2), (1, 2), (1, 1), (1, 0, 0, 1)), ((9, 8), (2, 3), (2, 1), (2, 1), (0, 1, 1, 0)),
                                               ((8, 8), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1)), ((4, 6), (2, 2), (2, 2), (1, 1), (0, 0, 0, 0))):
        rows, columns = ((size[i] + around[i] + around[i + 2] - apart[i] * (kernel[i] - 1) - 1) // steps[i] + 1 for i in (0, 1))
        blocks = normal(1, 2 * kernel[0] * kernel[1], rows * columns)
        summed = numpy.zeros((1, 2, size[0] + around[0] + around[2], size[1] + around[1] + around[3]))
        parts = blocks.reshape(1, 2, *kernel, rows, columns)
        for i, j, row, column in itertools.product(range(kernel[0]), range(kernel[1]), range(rows), range(columns)):
            summed[:, :, row * steps[0] + i * apart[0], column * steps[1] + j * apart[1]] += parts[:, :, i, j, row, column]
        run(f"columns {size} {kernel}", [node("Col2Im", ["x", "size", "kernel"], ["y"], strides=steps, dilations=apart, pads=around)], {"x": blocks},
            summed[:, :, around[0]:around[0] + size[0], around[1]:around[1] + size[1]],
            {"size": numpy.array(size), "kernel": numpy.array(kernel)}, opset=18)

    q, k, v = normal(2, 4, 9, 8), normal(2, 1, 8, 5), normal(1, 3, 5, 7)
    run("one matrix for all heads", [node("MatMul", ["x", "k"], ["y"])], {"x": q, "k": k}, q.astype(float) @ k)
    column, row, pair = normal(8), normal(2), normal(2, 8)
    for name, x, left, wanted in (("matrices", q, 0, q @ column), ("rows", pair, 0, pair @ column), ("a vector", column, 0, column @ column),
                                  ("columns", pair, 1, row @ pair)):
        run(name + " and a vector", [node("MatMul", ["k", "x"] if left else ["x", "k"], ["y"])], {"x": x}, wanted.astype(float), {"k": row if left else column},
            batch=len(x))
    few = normal(1, 3, 2, 5)
    run("constants times matrices", [node("MatMul", ["k", "x"], ["y"])], {"x": v}, few.astype(float) @ v, {"k": few}, batch=1)
    high = normal(1, 512, 7, 7)
    mask = abs(normal(7, 7)) + f32(.1)
    run("numbers of positions of many channels", [node("Div", ["x", "k"], ["y"])], {"x": high}, high.astype(float) / mask, {"k": mask})

    long = normal(1, 1, 1025, 1024)
    run("a number for each of 2^20 and more words", [node("Add", ["x", "k"], ["y"])], {"x": long}, long.astype(float) * 2, {"k": long}, batch=1)

    maps = normal(1, 3, 12, 10)
    for mode, a in (("linear", 0), ("cubic", -.5)):
        wanted = stretched(stretched(maps, 5, mode, a, 2), 4, mode, a, 3)
        resize = {"mode": mode, "antialias": 1, "exclude_outside": 1, "cubic_coeff_a": float(a), "coordinate_transformation_mode": "half_pixel"}
        sizes = {"n": numpy.array([1, 3, 5, 4])}
        run(f"fewer pixels {mode}", [node("Resize", ["x", "", "", "n"], ["y"], **resize)], {"x": maps}, wanted, sizes, opset=18)
        ones = numpy.ones((1, 3, 5, 4), f32)
        run(f"fewer pixels of constants {mode}", [node("Resize", ["k", "", "", "n"], ["r"], **resize), node("Mul", ["x", "r"], ["y"])], {"x": ones}, wanted,
            {**sizes, "k": maps}, opset=18)
    twice = numpy.ones((1, 3, 24, 20), f32)
    run("more pixels of constants", [node("Resize", ["k", "", "f"], ["r"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
                                     node("Mul", ["x", "r"], ["y"])], {"x": twice}, maps.astype(float).repeat(2, 2).repeat(2, 3),
        {"k": maps, "f": numpy.array([1, 1, 2, 2], f32)})
    run("one window that is not full", [node("AveragePool", ["x"], ["y"], kernel_shape=[40, 40], strides=[40, 40], ceil_mode=1)], {"x": maps},
        maps.astype(float).mean((2, 3), keepdims=True))
    tokens = normal(1, 80, 3, 5)
    run("rows of many matrices are padded", [node("Reshape", ["x", "flat"], ["t"]), node("Pad", ["t", "pads"], ["p"]), node("Reshape", ["p", "back"], ["y"])],
        {"x": tokens}, numpy.pad(tokens, ((0, 0), (0, 0), (1, 0), (0, 2))),
        {"flat": numpy.array([80, 3, 5]), "pads": numpy.array([0, 1, 0, 0, 0, 2]), "back": numpy.array([1, 80, 4, 7])}, batch=1)
    lowest = numpy.pad(maps, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-numpy.inf)
    tops = numpy.array([[lowest[0, c, i:i + 3, j:j + 3].max() for i in range(0, 11, 2) for j in range(0, 9, 2)] for c in range(3)]).reshape(1, 3, 6, 5)
    run("maximum in padding", [node("Pad", ["x", "pads", "low"], ["p"]), node("MaxPool", ["p"], ["m"], kernel_shape=[3, 3], strides=[2, 2]),
                               node("Reshape", ["m", "flat"], ["t"]), node("ReduceMean", ["t"], ["r"], axes=[0]), node("Add", ["m", "r"], ["y"])], {"x": maps},
        tops + tops.reshape(3, 6, 5).mean(0, keepdims=True),
        {"pads": numpy.array([0, 0, 0, 0, 0, 0, 1, 1]), "low": f32(-numpy.inf), "flat": numpy.array([3, 6, 5])}, batch=1)
    true = onnx.helper.make_tensor("t", TensorProto.BOOL, [1], [True])
    run("what is true of all", [node("ConstantOfShape", ["n"], ["all"], value=true), node("Cast", ["one"], ["b"], to=9), node("And", ["all", "b"], ["c"]),
                                node("Where", ["c", "x", "zero"], ["y"])], {"x": z}, z.astype(float), {"n": numpy.array([1, 5]), "one": f32(1), "zero": f32(0)})

    square, seen = normal(2, 5, 7), numpy.full((5, 7), -numpy.inf, f32)
    for upper, k in itertools.product((0, 1), (None, -2, 0, 1)):
        cut = numpy.triu if upper else numpy.tril
        given = {} if k is None else {"k": numpy.int64(k)}
        run(f"triangle {upper} {k}", [node("Trilu", ["x", *given], ["y"], upper=upper)], {"x": square}, cut(square.astype(float), k or 0), given, opset=14)
    few = numpy.zeros((3, 5), f32)
    few[0, 2] = few[2, 4] = few[1, 0] = -.5
    run("which constants are not 0", [node("NonZero", ["k"], ["i"]), node("Cast", ["i"], ["f"], to=1), node("MatMul", ["x", "f"], ["y"])],
        {"x": square[:, :, :2]}, square[:, :, :2].astype(float) @ numpy.array(few.nonzero()), {"k": few})
    run("causal mask of one constant", [node("ConstantOfShape", ["n"], ["m"], value=numpy_helper.from_array(f32([-numpy.inf]))),
                                        node("Trilu", ["m", "k"], ["t"], upper=1), node("Add", ["x", "t"], ["s"]), node("Softmax", ["s"], ["y"], axis=-1)],
        {"x": square}, softmax(square + numpy.triu(seen, 1).astype(float)), {"n": numpy.int64([5, 7]), "k": numpy.int64(1)}, opset=14)
    run("causal mask of constants", [node("Trilu", ["m", "k"], ["t"], upper=1), node("Add", ["x", "t"], ["s"]), node("Softmax", ["s"], ["y"], axis=-1)],
        {"x": square}, softmax(square + numpy.triu(seen, 1).astype(float)), {"m": seen, "k": numpy.int64(1)}, opset=14)
    for p, axis in ((1, -1), (2, 1)):
        run(f"norm {p}", [node("LpNormalization", ["x"], ["y"], p=p, axis=axis)], {"x": square},
            square / (abs(square.astype(float)) ** p).sum(axis, keepdims=True) ** (1 / p), limit=50)
    for true in (False, True):
        run(f"one condition for all, {true}", [node("Where", ["c", "x", "z"], ["y"])], {"x": z, "z": z * 2}, z.astype(float) * (1 if true else 2),
            {"c": numpy.array([true])})

    tiny = normal(2, 4, 5, 5)
    w = normal(4, 4, 1, 1)
    for size in (1e-9, 1e-13):
        h = tiny.astype(float) * size
        mixed = numpy.einsum("nchw,oc->nohw", h * numpy.clip(h / 6 + .5, 0, 1), w[:, :, 0, 0].astype(float))
        run(f"functions of {size}", [node("Mul", ["x", "e"], ["t"]), node("HardSwish", ["t"], ["h"]), node("Conv", ["h", "w"], ["c"]),
                                     node("Sigmoid", ["c"], ["g"]), node("Mul", ["c", "g"], ["y"])], {"x": tiny}, mixed / (1 + numpy.exp(-mixed)),
            {"e": f32(size), "w": w}, opset=14, limit=50)


def one_hot():
    for axis, values in itertools.product((1, 2, -1), ((0, 1), (.5, -2))):
        indices = random.randint(-8, 8, (3, 4))  # some beyond the 6 places
        places = numpy.expand_dims(numpy.where(indices < 0, indices + 6, indices), axis) == \
            numpy.arange(6).reshape([6 if i == axis % 3 else 1 for i in range(3)])
        run(f"one hot {axis} {values}", [node("OneHot", ["i", "n", "v"], ["y"], axis=axis)], {"i": indices}, numpy.where(places, values[1], values[0]),
            {"n": numpy.array([6], numpy.int32), "v": numpy.array(values, f32)}, {"i": TensorProto.INT64})
    x = random.randint(-3, 4, (2, 3, 6, 5)).astype(f32)
    run("places less a number", [node("ArgMax", ["x"], ["p"], axis=1), node("Sub", ["n", "p"], ["y"])], {"x": x},
        5.0 - x.argmax(1)[:, None], {"n": numpy.array([5])}, limit=200)
    run("parts of all images", [node("Slice", ["x", "b", "e"], ["s"]), node("Max", ["l", "s"], ["y"])], {"x": x}, x[:, 1:].astype(float),
        {"b": numpy.array([0, 1]), "e": numpy.array([10 ** 9, 10 ** 9]), "l": numpy.array(-numpy.inf, f32)}, limit=200)


def matrices():
    for first, second, given in (((2, 3, 4, 5), (3, 5, 6), 0), ((2, 1, 4, 5), (3, 5, 6), 0), ((2, 3, 1, 4, 5), (7, 5, 6), 0), ((2, 1, 4, 5), (2, 3, 5, 6), 1),
                                 ((2, 3, 4, 5), (2, 1, 5, 6), 1), ((3, 4, 5), (2, 1, 5, 6), 2), ((2, 3, 1, 4, 5), (2, 1, 7, 5, 6), 1)):
        u, v = normal(*first), normal(*second)
        run(f"matrices {first} {second}", [node("MatMul", ["u", "v"], ["y"])], {**({"u": u} if given < 2 else {}), **({"v": v} if given > 0 else {})},
            u.astype(float) @ v, {**({"u": u} if given == 2 else {}), **({"v": v} if given == 0 else {})})
    u, v = normal(1, 4, 1, 5), normal(3, 4, 5, 6)
    run("matrices for each of one image", [node("MatMul", ["u", "v"], ["y"])], {"u": u}, u.astype(float) @ v, {"v": v}, batch=1)


def slices():
    x = normal(2, 3, 4, 5)
    for places in ((slice(0, 2), slice(0, 3), slice(0, 4), slice(0, 2)), (slice(0, 2), slice(1, 3)), (slice(1, 2), slice(0, 2), slice(1, 3)),
                   (slice(0, 2), slice(0, 3), slice(1, 3), slice(2, 5)), (slice(0, 2), slice(0, 3))):
        at = numpy.stack(numpy.meshgrid(*(numpy.arange(5)[place] for place in places), indexing="ij"), -1)
        u, wanted = normal(*x[places].shape), x.astype(float)
        wanted[places] = u
        at[..., 1] -= 3  # from the end
        given = {"u": u} if len(u) == 2 else {}
        run(f"slice set {at.shape}", [node("ScatterND", ["x", "i", "u"], ["y"])], {"x": x, **given}, wanted, {"i": at, **({} if given else {"u": u})},
            batch=2)
    wide, u = normal(1, 30000, 5), normal(1, 30000, 2)  # of more words than are set one by one
    at = numpy.stack(numpy.meshgrid([0], numpy.arange(30000), [1, 2], indexing="ij"), -1)
    run("slice of many", [node("ScatterND", ["x", "i", "u"], ["y"])], {"x": wide, "u": u}, numpy.concatenate((wide[..., :1], u, wide[..., 3:]), -1).astype(float),
        {"i": at}, batch=1)


def mirrored():
    for shape, mode in itertools.product(((2, 7), (2, 7, 4), (2, 7, 4, 5)), ("reflect", "edge")):
        x = normal(*shape)
        for after in (0, 2) if len(shape) > 2 else (0,):
            pads = numpy.zeros((2, len(shape)), numpy.int64)
            pads[:, 1] = 3, 2
            pads[1, -1] += after
            run(f"channels {mode} {shape} {after}", [node("Pad", ["x", "p"], ["y"], mode=mode)], {"x": x}, numpy.pad(x, pads.T, mode=mode).astype(float),
                {"p": pads.reshape(-1)})


def deep():
    """Pads of more than four dimensions, and of matrices whose batch is not the network's."""
    x = normal(2, 3, 4, 2, 5)
    for pads, mode, value in ((((0, 0), (0, 0), (1, 0), (0, 0), (0, 2)), "constant", 0), (((0, 0), (1, 2), (0, 0), (2, 0), (-1, 1)), "constant", .75),
                              (((0, 0), (2, 1), (0, 3), (0, 0), (0, 0)), "reflect", 0), (((0, 0), (0, 0), (1, 1), (2, 2), (-2, 0)), "edge", 0)):
        cut = x[..., max(-pads[4][0], 0):]
        more = [[max(number, 0) for number in pair] for pair in pads]
        wanted = numpy.pad(cut, more, mode=mode, **({"constant_values": value} if mode == "constant" else {})).astype(float)
        run(f"deep pads {pads} {mode}", [node("Pad", ["x", "p", "v"], ["y"], mode=mode)], {"x": x}, wanted,
            {"p": numpy.int64(pads).T.reshape(-1), "v": f32(value)})
    many, lines = normal(2, 3, 70, 90), normal(70, 1)
    run("a scale for each of many rows", [node("Mul", ["x", "k"], ["y"])], {"x": many}, many.astype(float) * lines, {"k": lines})
    heads = normal(2, 4, 5, 3)
    run("rows of two images and their heads", [node("Transpose", ["x"], ["t"], perm=[1, 0, 2, 3]), node("Pad", ["t", "p"], ["q"]),
                                               node("Transpose", ["q"], ["y"], perm=[1, 0, 2, 3])], {"x": heads},
        numpy.pad(heads, ((0, 0), (0, 0), (1, 0), (0, 0))).astype(float), {"p": numpy.int64([0, 0, 1, 0, 0, 0, 0, 0])}, batch=None)
    images = normal(1, 4, 6, 7)
    for groups, strides, dilations, pads in ((1, (1, 1), (1, 1), (1, 1, 1, 1)), (2, (2, 1), (1, 2), (0, 2, 1, 0))):
        half = normal(6, 4 // groups, 2, 3)
        w = half * 2
        full = numpy.pad(images, ((0, 0), (0, 0), pads[::2], pads[1::2])).astype(float)
        size = [(full.shape[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in (0, 1)]
        wanted = numpy.zeros((1, 6, *size))
        for o, i, j in itertools.product(range(6), range(2), range(3)):
            first = o // (6 // groups) * (4 // groups)
            seen = full[:, first:first + 4 // groups, i * dilations[0]:, j * dilations[1]:][:, :, ::strides[0], ::strides[1]][:, :, :size[0], :size[1]]
            wanted[:, o] += (seen * w[o, :, i, j].reshape(1, -1, 1, 1)).sum(1)
        run(f"computed weights {groups}", [node("Mul", ["half", "two"], ["v"]), node("Reshape", ["v", "form"], ["k"]),
                                           node("Conv", ["x", "k", "b"], ["y"], group=groups, strides=strides, dilations=dilations, pads=pads)],
            {"x": images, "half": half.reshape(1, -1)}, wanted + 1, {"two": f32(2), "form": numpy.int64(w.shape), "b": numpy.ones(6, f32)}, batch=1)
    w, gain = normal(1, 6, 45) + 1, normal(6)
    norm = {"w": w, "g": gain, "b": numpy.zeros(6, f32), "form": numpy.int64([6, 5, 3, 3])}
    centred = w.astype(float) - w.mean(-1, keepdims=True, dtype=float)
    kernels = (centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-6) * gain.reshape(6, 1)).reshape(6, 5, 3, 3)
    maps = normal(2, 5, 3, 3)
    for opset, outputs, more in ((12, ["n", "m1", "m2", "m3", "m4"], {}), (17, ["n", "m1", "m2"], {"training_mode": 1})):
        run(f"standardised weights {opset}",
            [node("BatchNormalization", ["w", "g", "b", "b", "g"], outputs, epsilon=1e-6, **more), node("Reshape", ["n", "form"], ["k"]),
             node("Conv", ["x", "k"], ["y"])], {"x": maps}, numpy.einsum("ncij,ocij->no", maps.astype(float), kernels)[..., None, None], norm, opset=opset)


def volumes():
    """Convolutions over depth, rows and columns: groups, steps, and windows of a depth alone or without one."""
    for channels, groups, kernel, strides, dilations, pads in (
            (3, 1, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1, 1, 1)), (2, 1, (3, 2, 3), (2, 3, 2), (1, 1, 2), (0, 1, 2, 1, 0, 1)),
            (4, 2, (2, 3, 1), (1, 2, 1), (2, 1, 1), (1, 0, 0, 0, 2, 0)), (4, 4, (3, 3, 3), (1, 2, 2), (1, 1, 1), (1, 1, 1, 1, 1, 1)),
            (3, 1, (3, 1, 1), (2, 1, 1), (1, 1, 1), (1, 0, 0, 1, 0, 0)), (3, 1, (1, 3, 3), (1, 2, 2), (1, 1, 1), (0, 1, 1, 0, 1, 1)),
            (3, 1, (3, 1, 1), (1, 1, 4), (1, 1, 1), (1, 0, 8, 1, 0, 4))):
        x, w, b = normal(2, channels, 6, 7, 5), normal(4, channels // groups, *kernel), normal(4)
        full = numpy.pad(x, ((0, 0), (0, 0), *zip(pads[:3], pads[3:]))).astype(float)
        size = [(full.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(3)]
        wanted = numpy.zeros((2, 4, *size)) + b.reshape(1, -1, 1, 1, 1)
        for o, i, j, k in itertools.product(range(4), *map(range, kernel)):
            first = o // (4 // groups) * (channels // groups)
            seen = full[:, first:first + channels // groups, i * dilations[0]:, j * dilations[1]:, k * dilations[2]:]
            seen = seen[:, :, ::strides[0], ::strides[1], ::strides[2]][:, :, :size[0], :size[1], :size[2]]
            wanted[:, o] += (seen * w[o, :, i, j, k].reshape(1, -1, 1, 1, 1)).sum(1)
        run(f"volume {kernel} {groups}", [node("Conv", ["x", "w", "b"], ["y"], group=groups, strides=strides, dilations=dilations, pads=pads)],
            {"x": x}, wanted, {"w": w, "b": b})
    x = normal(2, 4, 5, 6, 7)  # every second plane, put one below the other on chip
    run("planes", [node("Slice", ["x", "from", "to", "axes", "steps"], ["s"]), node("Reshape", ["s", "form"], ["m"]), node("Conv", ["m", "w"], ["y"])],
        {"x": x}, x[:, :, ::2].reshape(2, 4, 18, 7).astype(float), {"from": [0], "to": [5], "axes": [2], "steps": [2],
        "form": [0, 0, -1, 7], "w": numpy.eye(4, dtype=f32).reshape(4, 4, 1, 1)}, forms=[*FORMS, ["--on-chip"]])


def masks():
    """Numbers far below all others, which softmax makes 0, wherever they come in."""
    least = float(numpy.finfo(f32).min)
    x, keep = normal(2, 6, 8), numpy.ones((2, 1, 6), f32)
    keep[0, :, 4:] = keep[1, :, 5:] = 0
    seen, rel = numpy.tril(numpy.ones((6, 6), bool)), normal(1, 6, 6)
    scores = numpy.einsum("nik,njk->nij", x, x).astype(float)
    low = numpy.where(keep > 0, 0, -1e9)
    given = {"one": f32(1), "least": f32(least), "huge": f32(-1e10), "seen": seen, "rel": rel, "half": f32(.5), "inf": f32(-numpy.inf)}
    product = [node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), node("MatMul", ["x", "t"], ["s"]), node("Sub", ["one", "m"], ["out"])]
    masked, end = [node("Mul", ["out", "least"], ["low"])], [node("Softmax", ["a"], ["y"], axis=-1)]
    bent = rel.astype(float)
    for name, nodes, wanted in (
            ("least", [*masked, node("Add", ["s", "low"], ["a"])], scores + low),
            ("least first", [*masked, node("Add", ["low", "s"], ["a"])], scores + low),
            ("two", [*masked, node("Where", ["seen", "s", "least"], ["w"]), node("Add", ["w", "low"], ["a"])], numpy.where(seen, scores, -1e9) + low),
            ("two, turned", [*masked, node("Where", ["seen", "s", "inf"], ["w"]), node("Add", ["low", "w"], ["a"])], numpy.where(seen, scores, -1e9) + low),
            ("before a bias", [*masked, node("Add", ["s", "low"], ["w"]), node("Add", ["w", "rel"], ["a"])], scores + low + bent),
            ("in a bias", [*masked, node("Add", ["low", "rel"], ["b"]), node("Add", ["s", "b"], ["a"])], scores + low + bent),
            ("in a bias of two", [*masked, node("Add", ["rel", "low"], ["b"]), node("Add", ["s", "b"], ["q"]), node("Softmax", ["q"], ["p"], axis=-1),
                                  node("MatMul", ["p", "s"], ["r"]), node("Add", ["r", "b"], ["a"])], softmax(scores + low + bent) @ scores + low + bent),
            ("before a scale", [*masked, node("Add", ["s", "low"], ["w"]), node("Mul", ["w", "half"], ["a"])], (scores + low) / 2),
            ("by a product", [node("Mul", ["s", "m"], ["w"]), node("Mul", ["out", "huge"], ["low"]), node("Add", ["w", "low"], ["a"])], scores * keep + low),
            ("where twice", [node("Where", ["seen", "s", "inf"], ["w"]), node("Cast", ["m"], ["c"], to=TensorProto.BOOL), node("Where", ["c", "w", "inf"], ["a"])],
             numpy.where(seen, scores, -1e9) + low)):
        run(f"mask: {name}", product + nodes + end, {"x": x, "m": keep}, softmax(wanted), given, opset=14)
    both = keep * keep.transpose(0, 2, 1) > 0
    for name, mask in (("least", least), ("-1e9", f32(-1e9))):
        run(f"mask: rows of {name} alone",
            [*product[:2], node("Transpose", ["m"], ["n"], perm=[0, 2, 1]), node("Mul", ["m", "n"], ["p"]), node("Cast", ["p"], ["c"], to=TensorProto.BOOL),
             node("Where", ["c", "s", "mask"], ["a"]), *end], {"x": x, "m": keep}, softmax(numpy.where(both, scores, -1e9)), {"mask": f32(mask)}, opset=14)
    for name, nodes in (("chosen", [node("Cast", ["m"], ["c"], to=TensorProto.BOOL), node("Where", ["c", "t", "low"], ["a"])]),
                        ("added", [node("Sub", ["one", "m"], ["out"]), node("Mul", ["out", "low"], ["l"]), node("Add", ["t", "l"], ["a"])])):
        run(f"the largest of what a mask leaves, {name}", [product[0], *nodes, node("ReduceMax", ["a"], ["y"], axes=[-1], keepdims=0)], {"x": x, "m": keep},
            numpy.where(keep > 0, x.transpose(0, 2, 1), -1e9).max(-1).astype(float), {"one": f32(1), "low": f32(-1e4)}, opset=14)
    plain = 2 * normal(2, 6, 6)
    run("mask of bytes", [node("Sub", ["one", "m"], ["out"]), *masked, node("Add", ["x", "low"], ["a"]), *end], {"x": plain, "m": keep},
        softmax(plain + low), given, opset=14, limit=20, forms=[["-p", "systolic", "--precision", "int8"]])


def frames():
    for parts, half, bent, step in itertools.product((0, 1, 2), (0, 1), (0, 1), (3, 8)):
        if parts == 2 and half:
            continue  # which the operator does not know
        x = normal(2, 30, *[parts][:parts])
        number = x.reshape(2, 30, -1)[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
        window = numpy.hanning(8).astype(f32) if bent else numpy.ones(8, f32)
        made = numpy.stack([numpy.fft.fft(number[:, at:at + 8] * window) for at in range(0, 23, step)], 1)[..., :5 if half else 8]
        run(f"spectra of frames {parts} {half} {bent} {step}", [node("STFT", ["x", "s", "w" if bent else "", "" if bent else "l"], ["y"], onesided=half)],
            {"x": x}, numpy.stack((made.real, made.imag), -1),
            {"s": numpy.int64(step), **({"w": window} if bent else {"l": numpy.int64(8)})}, opset=17)


def branches():
    x = normal(4, 3, 5)
    x[1::2] -= 5  # where the other branch is taken
    graphs = [helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names])
              for nodes, names in (([node("Mul", ["x", "x"], ["m"]), node("Neg", ["m"], ["n"])], ("m", "n")), ([node("Abs", ["x"], ["m"])], ("m", "x")))]
    wide = x.astype(float)
    high = (wide.mean((1, 2)) > -1).reshape(-1, 1, 1)
    wanted = numpy.where(high, wide ** 2, abs(wide)) - numpy.where(high, -wide ** 2, wide)
    for keep, batch in itertools.product((0, 1), ("N", 1)):
        images = 4 if batch == "N" else 1
        run(f"branches {keep} {batch}", [node("ReduceMean", ["x"], ["a"], axes=[1, 2], keepdims=keep), node("Greater", ["a", "t"], ["c"]),
                                         node("If", ["c"], ["p", "q"], then_branch=graphs[0], else_branch=graphs[1]), node("Sub", ["p", "q"], ["y"])],
            {"x": x[:images]}, wanted[:images], {"t": numpy.array(-1, f32)}, batch=batch)


def dynamic():
    x = normal(1, 3, 7, 7)
    scale = max(x.max(), 0) / 255 - min(x.min(), 0) / 255
    zero = numpy.rint(-min(x.min(), 0) / scale).clip(0, 255)
    parts = (numpy.rint(x.astype(float) / scale) + zero).clip(0, 255) - zero
    for operator, form, size in (("MatMulInteger", (7, 4), 4), ("ConvInteger", (4, 3, 1, 1), 4)):  # a zero point of each output
        for kind in (numpy.int8, numpy.uint8):
            low = numpy.iinfo(kind).min
            w, zeros = random.randint(low, low + 256, form), random.randint(low, low + 256, size)
            product = parts @ (w - zeros).astype(float) if len(form) == 2 else numpy.einsum("nchw,oc->nohw", parts, (w[:, :, 0, 0] - zeros[:, None]).astype(float))
            run(f"{operator} {kind.__name__}", [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node(operator, ["q", "w", "z", "wz"], ["c"]),
                                                node("Cast", ["c"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])], {"x": x}, product * scale,
                {"w": w.astype(kind), "wz": zeros.astype(kind)}, batch=1, limit=45)
    for kind in (numpy.int8, numpy.uint8):
        low = numpy.iinfo(kind).min
        q = (numpy.rint(x.astype(float) / .04) + 30).clip(low, low + 255)
        run(f"cast to {kind.__name__}, which it is",
            [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("Cast", ["q"], ["c"], to=TensorProto.UINT8 if low == 0 else TensorProto.INT8),
             node("DequantizeLinear", ["c", "s", "z"], ["y"])], {"x": x}, (q - 30) * .04, {"s": f32(.04), "z": kind(30)}, steps=.04)
    many = normal(1, 3, 150, 150)  # more than one window has
    for kind, wanted in (("Max", many.max()), ("Min", many.min()), ("Mean", many.astype(float).mean() + 1)):
        run(f"{kind} of many", [node("Add", ["x", "o"], ["x1"]), node("Reduce" + kind, ["x1" if kind == "Mean" else "x"], ["y"], keepdims=0)], {"x": many},
            wanted.astype(float), {"o": f32(1)}, batch=1)


def logarithms():
    """Of more classes than one table of a logarithm reaches, and of more than two do."""
    for classes in (30, 500, 4096):
        x = normal(1, classes) * f32(.3)
        run(f"log_softmax of {classes}", [node("LogSoftmax", ["x"], ["y"])], {"x": x}, numpy.log(softmax(x.astype(float))), limit=50.0)


def rounded():
    """Of words with few and more fraction bits, and of sums whose offset has few of them."""
    for parts, most, offset in ((1, 20000, 0), (2, 12000, 0), (2, 12000, 3), (256, 100, 0), (4, 100, 200)):
        x = (random.randint(-most * parts, most * parts, (2, 3, 4, 5)) / parts).astype(f32)
        for operator, wanted in (("Floor", numpy.floor), ("Ceil", numpy.ceil), ("Round", numpy.rint)):
            run(f"{operator} of {parts} parts and {offset}", [node("Add", ["x", "c"], ["s"]), node(operator, ["s"], ["y"])], {"x": x},
                wanted(x.astype(float) + offset), {"c": f32(offset)}, limit=200, forms=[*FORMS, ["--rounding", "floor"], ["--rounding", "truncate"]])


def norms():
    """Statistics of large numbers, whose deviations have small inverses."""
    x, gain, shift = normal(2, 3, 6, 6), normal(3), normal(3)
    for size in (1e5, 1e7):
        big = size * x.astype(float)
        centred = big - big.mean((2, 3), keepdims=True)
        run(f"statistics of {size:g}", [node("InstanceNormalization", ["x", "g", "b"], ["y"])], {"x": big.astype(f32)},
            centred / numpy.sqrt((centred ** 2).mean((2, 3), keepdims=True) + 1e-5) * gain.reshape(3, 1, 1) + shift.reshape(3, 1, 1), {"g": gain, "b": shift}, limit=70)


def large():
    """Constants as tensors beside an input of large numbers, of whose first word they are made."""
    x, token = normal(2, 3, 8), normal(1, 1, 8)
    run("a token beside large numbers", [node("Expand", ["token", "to"], ["t"]), node("Mul", ["x", "small"], ["s"]), node("Concat", ["t", "s"], ["y"], axis=1)],
        {"x": x * f32(1e6)}, numpy.concatenate((token.repeat(2, 0), x), 1).astype(float), {"token": token, "to": numpy.int64([2, 1, 8]), "small": f32(1e-6)}, batch=2)


def kinds():
    """Casts to integers drop the fraction; those of comparisons and integers have none."""
    x = 5 * normal(2, 3, 7)
    x[:, 0, :3] = [-2.75, 2.75, 3]
    for to in (TensorProto.INT32, TensorProto.INT64):
        run(f"integers of type {to}", [node("Cast", ["x"], ["i"], to=to), node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], {"x": x}, numpy.trunc(x.astype(float)))
    like = {"whole": numpy.int64([3]), "real": f32([.5]), "three": numpy.int64(3)}
    run("as integers are", [node("CastLike", ["x", "whole"], ["i"]), node("CastLike", ["i", "real"], ["y"])], {"x": x}, numpy.trunc(x.astype(float)), like, opset=15)
    run("as comparisons are", [node("Greater", ["x", "x"], ["no"]), node("CastLike", ["x", "no"], ["is"]), node("Cast", ["is"], ["y"], to=TensorProto.FLOAT)],
        {"x": numpy.trunc(x)}, (numpy.trunc(x) != 0).astype(float), opset=15)
    run("a constant as floats are", [node("CastLike", ["three", "x"], ["t"]), node("Div", ["x", "t"], ["y"])], {"x": x}, x.astype(float) / 3, like, opset=15)
    words = random.randint(0, 3, (2, 7))
    words[:, 4:] = 1
    table, keep = normal(9, 4), words != 1
    places = numpy.cumsum(keep, 1) * keep + 1
    run("places by running sums",
        [node("Equal", ["x", "pad"], ["e"]), node("Not", ["e"], ["n"]), node("Cast", ["n"], ["k"], to=TensorProto.INT32), node("CumSum", ["k", "along"], ["c"]),
         node("Mul", ["c", "k"], ["p"]), node("Cast", ["p"], ["l"], to=TensorProto.INT64), node("Add", ["l", "pad"], ["i"]), node("Gather", ["table", "i"], ["y"])],
        {"x": words}, table.astype(float)[places], {"pad": numpy.int64(1), "along": numpy.int64(1), "table": table}, {"x": TensorProto.INT64})
    run("places by a Clip of integers with limits of floats",
        [node("Clip", ["i", "low", "high"], ["c"]), node("Gather", ["table", "c"], ["g"]), node("Add", ["x", "g"], ["y"])], {"x": x[:, :1, :4]},
        x[:, :1, :4] + table.astype(float)[[0, 3, 6]][None], {"i": numpy.int64([-2, 3, 8]), "low": f32(0), "high": f32(6), "table": table}, opset=11)
    # Words of 8 bits do not hold all of these numbers, and 4 only as 4/32 of their range.
    for rows, places in ((8, [[4, 2, 0], [3, 4, 1]]), (400, [[399, 128, 0], [77, 256, 255]])):
        table, ids = normal(rows, 6), numpy.int64(places)
        kernel = normal(6, 5)
        run(f"rows of {rows} in bytes", [node("Gather", ["table", "x"], ["g"]), node("MatMul", ["g", "k"], ["y"])], {"x": ids}, (table.astype(float) @ kernel)[ids],
            {"table": table, "k": kernel}, {"x": TensorProto.INT64}, limit=22, forms=[["-p", "systolic", "--precision", "int8"]])
    run("a Clip of integers", [node("Clip", ["x", "low", "high"], ["c"]), node("Cast", ["c"], ["y"], to=TensorProto.FLOAT)], {"x": words},
        numpy.clip(words, 1, 2).astype(float), {"low": numpy.int64(1), "high": numpy.int64(2)}, {"x": TensorProto.INT64})
    for length in (100, 777):
        table, ids = normal(length + 1, 4), numpy.ones((3, length), int)
        for row in range(3):
            ids[row, length - 1 - row * (length // 5):] = 0
        run(f"a row of {length} by a sum", [node("Greater", ["x", "zero"], ["g"]), node("Cast", ["g"], ["i"], to=TensorProto.INT64), node("ReduceSum", ["i", "axes"], ["n"], keepdims=0),
                                            node("Gather", ["table", "n"], ["y"])], {"x": ids}, table.astype(float)[ids.sum(1)],
            {"table": table, "axes": numpy.int64([1]), "zero": numpy.int64(0)}, {"x": TensorProto.INT64})
    counts = numpy.stack((numpy.arange(-60, 60), numpy.arange(9800, 9920))).reshape(2, 15, 8)
    for by in (3, -3, 7, 10, -64, 100):
        for name, wanted, its_node in (("quotients", numpy.trunc(counts / by), node("Div", ["x", "by"], ["i"])),
                                       ("remainders", numpy.mod(counts, by), node("Mod", ["x", "by"], ["i"])),
                                       ("remainders with the dividend's sign", numpy.fmod(counts, by), node("Mod", ["x", "by"], ["i"], fmod=1))):
            run(f"{name} of integers by {by}", [its_node, node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], {"x": counts}, wanted.astype(float),
                {"by": numpy.int64(by)}, {"x": TensorProto.INT64}, limit=120)
    run("remainders of floats", [node("Mod", ["x", "by"], ["y"], fmod=1)], {"x": x + .125}, numpy.fmod((x + .125).astype(float), [[3], [-7], [16]]),
        {"by": f32([[3], [-7], [16]])}, limit=50)
    seen = numpy.tri(7, dtype=bool)[:3]
    pad = numpy.int64([0, 3, 0, 0])
    run("tokens in front", [node("Concat", ["front", "x"], ["i"], axis=1), node("Pad", ["i", "pad", "one"], ["p"]), node("Gather", ["table", "p"], ["y"])], {"x": words},
        table.astype(float)[numpy.pad(numpy.concatenate((numpy.int64([[8, 5]]).repeat(len(words), 0), words), 1), ((0, 0), (3, 0)), constant_values=1)],
        {"front": numpy.int64([[8, 5]]), "pad": pad, "one": numpy.int64(1), "table": table}, {"x": TensorProto.INT64}, batch=2)
    run("a triangle of booleans", [node("Trilu", ["all"], ["t"], upper=0), node("Not", ["t"], ["n"]), node("Where", ["n", "zero", "x"], ["y"])], {"x": x},
        numpy.where(seen, x, 0).astype(float), {"all": numpy.ones((3, 7), bool), "zero": f32(0)}, opset=14)


def columns():
    """A step for each column of many matrices, which have as many rows."""
    q, t = random.randint(0, 256, (2, 3, 5, 4)), (normal(4) ** 2 + .1).astype(f32)
    w = random.randint(-128, 128, (3, 4, 4))
    scale = f32(.0311)
    products = (q - 128.0) * float(scale) @ (w * t.astype(float))
    step = f32(abs(products).max() / 127)
    run("steps of many matrices' columns",
        [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("QLinearMatMul", ["q", "s", "z", "w", "t", "tz", "r", "z"], ["p"]),
         node("DequantizeLinear", ["p", "r", "z"], ["y"])], {"x": (q - 128) * scale}, numpy.rint(products / float(step)).clip(-128, 127) * float(step),
        {"w": w.astype(numpy.int8), "t": t, "tz": numpy.zeros(4, numpy.int8), "s": scale, "r": step, "z": numpy.uint8(128)}, steps=float(step))


def settings():
    pixels = normal(2, 3, 3, 5)
    own = (pixels - pixels.mean((0, 2, 3), keepdims=True)) / numpy.sqrt(pixels.var((0, 2, 3), keepdims=True).astype(float) + 1e-5)
    slope, shift = normal(3), normal(3)
    run("statistics of a batch of odd maps", [node("BatchNormalization", ["x", "s", "o", "o", "s"], ["y"], training_mode=1)], {"x": pixels},
        own * slope.reshape(3, 1, 1) + shift.reshape(3, 1, 1), {"s": slope, "o": shift}, opset=15)
    line = normal(1, 4) * f32(40)
    for kind, low, high in (("INT8", -128, 127), ("UINT8", 0, 255), ("INT16", -32768, 32767)):
        zero = helper.make_tensor("v", getattr(TensorProto, kind), [1], [0])
        run(f"zero points of {kind}", [node("ConstantOfShape", ["n"], ["z"], value=zero), node("QuantizeLinear", ["k", "s", "z"], ["q"], axis=0),
                                       node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0), node("Add", ["x", "d"], ["y"])], {"x": line},
            line + numpy.rint(line[0].astype(float)).clip(low, high), {"n": numpy.array([4]), "s": numpy.ones(4, f32), "k": line[0]})
    run("a shape without numbers", [node("Constant", [], ["n"], value_ints=[]), node("Reshape", ["k", "n"], ["r"]), node("Mul", ["x", "r"], ["y"])],
        {"x": line}, line * 2.5, {"k": numpy.array([2.5], f32)})
    # Of ONNX's own cases resize_downsample_scales_linear_antialias, beside it without what is outside.
    counted = numpy.arange(1, 17, dtype=f32).reshape(1, 1, 4, 4)
    ends = numpy.array([(1 * .8 + 2 * .6) / 1.4, (2 * .4 + 3 + 4 * .4) / 1.8])
    for inside, wanted in ((0, [[2.875, 4.5], [9.375, 11]]), (1, ends + 4 * (ends[:, None] - 1))):
        run(f"fewer pixels, outside {1 - inside}", [node("Resize", ["x", "", "n"], ["y"], mode="linear", antialias=1, exclude_outside=inside)], {"x": counted},
            numpy.array(wanted).reshape(1, 1, 2, 2), {"n": numpy.array([1, 1, .6, .6], f32)}, opset=18)
    square, row = normal(3, 4, 4), normal(4)
    row[0] = square[0, 0, 2]
    for op, rule in (("Greater", numpy.greater), ("Equal", numpy.equal), ("Add", numpy.add), ("Sub", numpy.subtract), ("Mul", numpy.multiply)):
        for given in (0, 1):
            run(f"{op} along an axis, {given}", [node(op, ["x", "r"], ["y"], broadcast=1, axis=1)], {"x": square, **({"r": row} if given else {})},
                rule(square.astype(float), row.reshape(4, 1)).astype(float), {} if given else {"r": row}, opset=6, batch=3 if not given else None)
    run("constants along an axis", [node("Sub", ["k", "r"], ["d"], broadcast=1, axis=1), node("Add", ["x", "d"], ["y"])], {"x": square},
        square * 2.0 - row.reshape(4, 1), {"r": row, "k": square}, opset=6, batch=3)
    maps, parts = normal(2, 3, 4, 5), normal(2, 3)
    run("a number for each channel", [node("Mul", ["x", "r"], ["y"], broadcast=1, axis=0)], {"x": maps, "r": parts}, maps.astype(float) * parts[..., None, None],
        opset=6)
    u, v = normal(3, 4), normal(4)
    for equation, *operands in (("ij,ij->", u, u), ("ij,k->k", u, v), ("j,j->", v, v), ("ij,j->", u, v)):
        run(f"sums {equation}", [node("Einsum", ["x", "k"], ["y"], equation=equation)], {"x": operands[0]},
            numpy.einsum(equation, *operands).astype(float), {"k": operands[1]}, batch=len(operands[0]))
    for turned, left in itertools.product((0, 1), (0, 1)):
        a, b, c = normal(3, 4), normal(4, 5), normal(5)
        given, names = {"a": a.T.copy() if turned else a, "b": b.T.copy() if turned else b}, [["a", "b"], ["b"]][left]
        run(f"Gemm of tensors {turned} {left}", [node("Gemm", ["a", "b", "c"], ["y"], alpha=.5, beta=2.0, transA=turned, transB=turned)],
            {name: given[name] for name in names}, .5 * a.astype(float) @ b + 2 * c, {"c": c, **({"a": given["a"]} if left else {})}, batch=None)
    table, chosen = normal(6, 3), random.randint(-6, 6, (2, 4))
    run("rows by axis -2", [node("Gather", ["t", "x"], ["y"], axis=-2)], {"x": chosen}, table[chosen].astype(float), {"t": table}, {"x": TensorProto.INT64})


def counted():
    """Numbers that depend on how many images there are, which the file leaves open."""
    x = normal(2, 3, 4, 4)
    shape, first = node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0)
    zero, floats = {"zero": numpy.int64(0)}, node("Cast", ["n"], ["f"], to=TensorProto.FLOAT)
    for name, nodes, wanted in (
            ("the number of images", [shape, first, floats, node("Mul", ["x", "f"], ["y"])], x * 2),
            ("the sum of a shape", [shape, node("ReduceSum", ["s"], ["n"], keepdims=0), floats, node("Add", ["x", "f"], ["y"])], x + 13),
            ("no images", [shape, first, node("Equal", ["n", "zero"], ["is"]), node("Cast", ["is"], ["f"], to=TensorProto.FLOAT),
                           node("Sub", ["x", "f"], ["y"])], x)):
        run(name, nodes, {"x": x}, wanted, {} if "sum" in name else zero, opset=14)
    # A token for each image, as exporters expand it: with sizes of -1, with ones, or filled.
    token, rows = normal(1, 1, 4), node("Reshape", ["x", "apart"], ["r"])
    wanted = numpy.concatenate((token.repeat(2, 0), x.reshape(2, 12, 4)), 1)
    batch = [shape, first, node("Unsqueeze", ["n", "axis"], ["u"]), node("Concat", ["u", "rest"], ["to"], axis=0)]
    end = [rows, node("Concat", ["e", "r"], ["y"], axis=1)]
    given = {**zero, "axis": numpy.int64([0]), "apart": numpy.int64([0, 12, 4]), "token": token}
    minus = [node("Shape", ["to"], ["rank"]), node("ConstantOfShape", ["rank"], ["one"], value=numpy_helper.from_array(numpy.int64([1]))),
             node("Neg", ["one"], ["less"]), node("Equal", ["to", "less"], ["open"]), node("Where", ["open", "one", "to"], ["sizes"]),
             node("Expand", ["token", "sizes"], ["e"])]
    half = node("ConstantOfShape", ["to"], ["e"], value=numpy_helper.from_array(f32([.5])))
    for name, made, rest, expected in (("a token expanded by -1", minus, [-1, -1], wanted), ("an expanded token", [node("Expand", ["token", "to"], ["e"])], [1, 4], wanted),
                                       ("a repeated token", [node("Tile", ["token", "to"], ["e"])], [1, 1], wanted),
                                       ("a filled token", [half], [1, 4], numpy.concatenate((numpy.full((2, 1, 4), .5), x.reshape(2, 12, 4)), 1))):
        run(name, batch + made + end, {"x": x}, expected, {**given, "rest": numpy.int64(rest)}, opset=15)
    # Twice as many maps as images: what takes the place of -1 is no image's.
    kernel = normal(5, 2, 2, 2)
    maps = x[:, :2].reshape(2, 2, 1, 4, 4).repeat(2, 2).astype(float)
    wanted = sum(numpy.einsum("nckij,oc->nkoij", maps[..., i:3 + i, j:3 + j], kernel[:, :, i, j]) for i in range(2) for j in range(2))
    run("maps that are counted by the images",
        [shape, first, node("Mul", ["n", "two"], ["m"]), node("Unsqueeze", ["m", "axis"], ["u"]), node("Concat", ["u", "rest"], ["to"], axis=0),
         node("Slice", ["x", "axis", "cut", "along"], ["h"]), node("Unsqueeze", ["h", "along"], ["w"]), node("Concat", ["w", "w"], ["r"], axis=1),
         node("Reshape", ["r", "to"], ["a"]), node("Conv", ["a", "k"], ["b"]), node("Unsqueeze", ["n", "axis"], ["v"]),
         node("Concat", ["v", "last"], ["back"], axis=0), node("Reshape", ["b", "back"], ["y"])], {"x": x}, wanted.reshape(2, 90),
        {**zero, "two": numpy.int64(2), "axis": numpy.int64([0]), "rest": numpy.int64([2, -1, 4]), "cut": numpy.int64([2]), "along": numpy.int64([1]), "k": kernel,
         "last": numpy.int64([-1])}, opset=15)


def channels_last():
    """Maps whose channels lie last, resized."""
    numbers = numpy.random.RandomState(6)
    x = numbers.standard_normal((2, 4, 5, 3)).astype(f32)

    def along(maps, axis, size):
        places = (numpy.arange(size) + .5) * maps.shape[axis] / size - .5
        return numpy.apply_along_axis(lambda line: numpy.interp(places, numpy.arange(len(line)), line), axis, maps)
    run("pixels of channels repeated", [node("Resize", ["x", "", "n"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
        {"x": x}, x.astype(float).repeat(2, 1).repeat(3, 2), {"n": f32([1, 2, 3, 1])})
    run("channels between pixels", [node("Resize", ["x", "", "n"], ["y"], mode="linear")], {"x": x}, along(along(x.astype(float), 1, 8), 2, 10), {"n": f32([1, 2, 2, 1])})
    run("channels between rows", [node("Resize", ["x", "", "", "n"], ["y"], mode="linear", axes=[1])], {"x": x}, along(x.astype(float), 1, 7), {"n": numpy.int64([7])},
        opset=18)


def sequences():
    """Sequences whose members the file tells."""
    x = numpy.random.RandomState(7).standard_normal((2, 12, 7)).astype(f32)
    wide = x.astype(float)
    constants = {"sizes": numpy.int64([4, 3, 5]), "three": numpy.int64(3), "last": numpy.int64(-1), "one": numpy.int64(1)}
    for at, (inputs, marks, wanted) in itertools.product(("one", "last"), (
            (["x", "sizes"], {"axis": 1}, {"one": wide[:, 4:7], "last": wide[:, 7:]}), (["x", "three"], {"axis": -1}, {"one": wide[..., 3:6], "last": wide[..., 6:]}),
            (["x"], {"axis": 2}, {"one": wide[..., 1:2], "last": wide[..., 6:]}), (["x"], {"axis": 1, "keepdims": 0}, {"one": wide[:, 1], "last": wide[:, 11]}))):
        run(f"{at} of {len(inputs)} parts {marks}", [node("SplitToSequence", inputs, ["s"], **marks), node("SequenceAt", ["s", at], ["p"]), node("Neg", ["p"], ["y"])],
            {"x": x}, -wanted[at], constants, opset=18)
    for new in (0, 1):
        run(f"joined {new}", [node("Neg", ["x"], ["n"]), node("SequenceConstruct", ["x", "n", "x"], ["s"]), node("SequenceAt", ["s", "one"], ["m"]),
                              node("ConcatFromSequence", ["s"], ["c"], axis=1, new_axis=new), node("Sub", ["c", "u"], ["y"]), node("Unsqueeze", ["m", "first"], ["u"])]
            if new else [node("Neg", ["x"], ["n"]), node("SequenceConstruct", ["x", "n"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=2)], {"x": x},
            numpy.stack((2 * wide, 0 * wide, 2 * wide), 1) if new else numpy.concatenate((wide, -wide), 2), {**constants, "first": numpy.int64([1])}, opset=18)


attention()
places()
sums()
running()
losses()
samples()
spectra()
quantised()
bytes_as_numbers()
fused()
limited_by_tensors()
qonnx()
exported()
one_hot()
matrices()
slices()
mirrored()
deep()
volumes()
masks()
frames()
branches()
dynamic()
logarithms()
rounded()
norms()
large()
kinds()
columns()
counted()
settings()
rotary()
channels_last()
sequences()
for (its_opset, its_batch, its_forms, *_), parts in cases.items():
    for first in range(0, len(parts), TOGETHER):
        run_together(parts[first:first + TOGETHER], its_opset, its_batch, its_forms)
print("\n".join(wrong))
sys.exit(bool(wrong))
