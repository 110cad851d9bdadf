#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Arguments of wrong types and shapes: a result or an Error, never another exception, a crash or a hang."""
import random
import sys

import numpy

import cnnvp

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 400
chance = random.Random(1)
TYPES = ("f2", "f4", "f8", ">f4", "u1", "i1", "i2", "i4", "i8", "u2", "u8", "?", "c8", "S3", "U2", "O", "M8[s]", "V4")


def shape():
    if chance.random() < 0.4:
        return (chance.randint(0, 3), chance.choice((0, 1, 1, 2)), chance.choice((0, 1, 28, 32, 33)), chance.choice((0, 1, 28, 32, 33)))
    return tuple(chance.choice((0, 1, 2, 5, 32)) for _ in range(chance.choice((0, 1, 2, 3, 4, 5, 7, 9))))


def array():
    size = shape()
    while numpy.prod(size) > 1 << 20:
        size = size[1:]
    values = numpy.zeros(size, numpy.dtype(chance.choice(TYPES)))
    if values.dtype.kind == "f" and values.size and chance.random() < 0.5:
        values.flat[chance.randrange(values.size)] = chance.choice((numpy.nan, numpy.inf, -1e30 if values.dtype.itemsize > 2 else 1, 1))
    return values[..., ::-1] if values.ndim and chance.random() < 0.3 else values


def anything():
    return chance.choice((
        lambda: None, object, lambda: -1, lambda: 0, lambda: 1 << 70, lambda: float("nan"), lambda: 1e300, lambda: "", lambda: "\0",
        lambda: "\udcff\ud800", lambda: b"bytes", lambda: "x" * 5000, lambda: [], lambda: [[]], lambda: {}, lambda: {"a": object()},
        lambda: {1: {2: [3]}}, lambda: True, lambda: "lenet5", lambda: 3 + 4j, lambda: range(5), lambda: "*\n: [", lambda: "\x01%s%n",
        lambda: {"base": "nfu", "units": {"cpu": anything()}}, lambda: {"base": anything()}, lambda: ["1x1x32x32"], lambda: (1, 2),
        lambda: {"pe_array.rows": anything()}, lambda: {"units": {"x\n": {"model": "\t\"\\"}}}, array, array, array))()


OPTIONS = ("images", "seed", "schedule", "block", "issue", "on_chip", "batch", "objective", "rounding", "shape", "max_time", "timing_only",
           "verbose", "strict", "plan", "guest", "csv", "none", "gdb ", "set ", "output")
results = errors = 0
for case in range(CASES):
    options = {}
    for name in ("input", "calibration", "labels"):
        if chance.random() < 0.4:
            options[name] = array() if chance.random() < 0.7 else anything()
    for name in ("platform", "set", *chance.sample(OPTIONS, chance.choice((0, 0, 0, 1, 2)))):
        if chance.random() < (0.15 if name in ("platform", "set") else 1):
            options[name] = anything()
    options.setdefault("max_time", "1ms")
    network = "lenet5" if chance.random() < 0.9 else anything()
    call = chance.choice((cnnvp.run,) * 8 + (cnnvp.exec, cnnvp.train))
    try:
        if chance.random() < 0.1:
            cnnvp.platform(anything(), anything())
        elif chance.random() < 0.03:
            cnnvp.sweep(anything(), output=anything(), jobs=anything())
        else:
            call(network, **options)
        results += 1
    except cnnvp.Error as problem:
        assert str(problem), (case, options)
        errors += 1
    except Exception:
        print(case, call, network, options)
        raise
assert results > CASES // 50 and errors > CASES // 2, (results, errors)
print(results, "results,", errors, "errors")
