# SPDX-License-Identifier: Apache-2.0
"""Converts dictionaries to the library's files and back, and arrays to its struct and back."""
import contextlib
import ctypes
import os
import re
import tempfile

import numpy

from ._library import Error
from ._structs import Array

_TYPES = {numpy.dtype(numpy.float32): 0, numpy.dtype(numpy.uint8): 1, numpy.dtype(numpy.int64): 2, numpy.dtype(numpy.int16): 3}


def to_array(value, name):
    """Returns a struct, and the numpy array whose memory it uses and which must live as long. Unsupported floating-point
    types become float32, unsupported integer types and booleans int64."""
    try:
        values = numpy.asarray(value)
        if values.dtype not in _TYPES and values.dtype.kind in "fiub" and values.dtype != numpy.uint64:
            with numpy.errstate(over="ignore"):
                values = values.astype(numpy.float32 if values.dtype.kind == "f" else numpy.int64)
    except (TypeError, ValueError) as problem:
        raise Error(f"{name}: no array: {problem}") from None
    if values.dtype not in _TYPES:
        raise Error(f"{name}: an array of {values.dtype}; images are float32, or uint8 for x/255, labels whole numbers")
    if values.ndim > 8:
        raise Error(f"{name}: an array of {values.ndim} dimensions; 8 are possible")
    values = numpy.require(values, requirements=("C", "A"))
    return Array(_TYPES[values.dtype], values.ndim, (ctypes.c_size_t * 8)(*values.shape), values.ctypes.data), values


def from_array(array):
    """Copies a struct's contents to a new numpy array."""
    shape = tuple(array.shape[:array.rank])
    dtype = next(dtype for dtype, number in _TYPES.items() if number == array.type)
    count = int(numpy.prod(shape, dtype=numpy.int64))
    if count == 0:
        return numpy.zeros(shape, dtype)
    return numpy.frombuffer(ctypes.string_at(array.data, count * dtype.itemsize), dtype).reshape(shape).copy()


def number(value):
    """A number's text without an exponent, which the library refuses."""
    is_real = isinstance(value, (float, numpy.floating))
    return numpy.format_float_positional(value, trim="0") if is_real else str(value)


def _yaml(value, place, key=None):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml(str(name), place)}: {_yaml(member, place, name)}" for name, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml(member, place) for member in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, numpy.integer, numpy.floating)):
        return number(value)
    if not isinstance(value, (str, os.PathLike)):
        raise Error(f"{place}: {type(value).__name__} cannot be in it; texts, numbers, lists and dictionaries can")
    text = os.fspath(value)
    # Relative paths refer to the current folder, not to that of the temporary file.
    if (key in ("model", "base", "network", "order", "program", "platform") and not os.path.isabs(text)
            and os.path.isfile(text.partition(":")[0])):
        text = os.path.abspath(text)
    if re.fullmatch(r"[A-Za-z0-9_./+-][A-Za-z0-9_./+ -]*(?<! )", text):
        return text
    return '"' + "".join(f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else f"\\u{ord(sign) & 0xffff:04x}"
                         for sign in text) + '"'


@contextlib.contextmanager
def as_file(value, place):
    """Yields the path of a file: `value` itself, or a temporary file with a dictionary's contents."""
    if not isinstance(value, dict):
        if not isinstance(value, (str, os.PathLike)):
            raise Error(f"{place}: {type(value).__name__} is neither a dictionary nor a file's name")
        yield os.fspath(value)
        return
    with tempfile.TemporaryDirectory(prefix="cnnvp") as folder:
        file = os.path.join(folder, place + ".yaml")
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(_yaml(value, place) + "\n")
        try:
            yield file
        except Error as problem:
            raise Error(str(problem).replace(file, place)) from None


def from_yaml(text):
    """Parses a platform as the library writes it: maps and scalars, by indentation."""
    root = {}
    levels = [(-1, root)]
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        name, _, value = line.strip().partition(":")
        value = value.strip()
        if not name or name.startswith("#"):
            continue
        while levels[-1][0] >= indent:
            levels.pop()
        if not value:
            levels[-1][1][name] = below = {}
            levels.append((indent, below))
        elif value.startswith('"'):
            levels[-1][1][name] = re.sub(r"\\(x..|.)", lambda found: chr(int(found[1][1:], 16)) if found[1][0] == "x"
                                         else found[1], value[1:-1])
        elif re.fullmatch(r"[0-9]+\.[0-9]+", value):
            levels[-1][1][name] = float(value)
        else:
            levels[-1][1][name] = int(value, 0) if re.fullmatch(r"-?(0x[0-9a-f]+|[1-9][0-9]*|0)", value) else value
    return root
