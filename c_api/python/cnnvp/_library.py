# SPDX-License-Identifier: Apache-2.0
"""libcnnvp.so.1 by ctypes, and what its calls say is wrong."""
import ctypes as c
import os
import pathlib
import types

from ._structs import ERROR, OTHERS, RESULTS, ErrorText


class Error(Exception):
    """What a call of the library says is wrong."""


def _path():
    """Of the library: as CNNVP_LIBRARY says, of the same installed copy, or wherever the system has it."""
    name = "libcnnvp.so.1"
    found = [os.environ["CNNVP_LIBRARY"]] if os.environ.get("CNNVP_LIBRARY") else []
    for folder in pathlib.Path(__file__).resolve().parents:
        if folder.name.startswith("lib"):
            found += [str(path) for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.exists()]
    return found[0] if found else name


def _load():
    """The functions whose arguments are known, and no others."""
    try:
        library = c.CDLL(_path())
        functions = {name: getattr(library, name) for name in (*RESULTS, *OTHERS)}
    except (OSError, AttributeError) as problem:
        raise ImportError(f"the library of cnnvp cannot be used: {problem}") from None
    for name, (result, *arguments) in {**{name: (c.c_int, *said) for name, said in RESULTS.items()}, **OTHERS}.items():
        functions[name].restype = result
        functions[name].argtypes = arguments
    return types.SimpleNamespace(**functions)


library = _load()
_free = c.CDLL(None).free
_free.argtypes = (c.c_void_p,)


def call(name, *arguments):
    """Calls a function that returns a cnnvp_result; Error with its words where that is not 0."""
    error = ErrorText()
    last = (c.byref(error),) if RESULTS[name][-1] is ERROR else ()
    result = getattr(library, name)(*arguments, *last)
    if result:
        raise Error(text(error.text) or f"{name} has failed")


def text(value):
    return value.decode(errors="replace") if value is not None else None


def take(pointer):
    """The text of memory that the caller owns, which is given back."""
    value = text(c.cast(pointer, c.c_char_p).value)
    _free(pointer)
    return value
