# SPDX-License-Identifier: Apache-2.0
"""libcnnvp.so.1 through ctypes, with its errors as exceptions."""
import ctypes as c
import os
import pathlib
import types

from ._structs import ERROR, OTHERS, RESULTS, ErrorText


class Error(Exception):
    """The message of a library call that failed."""


def _path():
    """Path of the library: $CNNVP_LIBRARY, the same installation, or a name for the system's search."""
    name = "libcnnvp.so.1"
    found = [os.environ["CNNVP_LIBRARY"]] if os.environ.get("CNNVP_LIBRARY") else []
    for folder in pathlib.Path(__file__).resolve().parents:
        if folder.name.startswith("lib"):
            found += [str(path) for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.exists()]
    return found[0] if found else name


def _load():
    """Loads the functions whose arguments are declared here."""
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
free = c.CDLL(None).free
free.argtypes = (c.c_void_p,)


def call(name, *arguments):
    """Calls a function that returns a cnnvp_result. Raises Error with its message if the result is not 0."""
    error = ErrorText()
    last = (c.byref(error),) if RESULTS[name][-1] is ERROR else ()
    result = getattr(library, name)(*arguments, *last)
    if result:
        raise Error(text(error.text) or f"{name} has failed")


def text(value):
    return value.decode(errors="replace") if value is not None else None


def take(pointer):
    """Returns a text from memory that the caller owns, and frees the memory."""
    value = text(c.cast(pointer, c.c_char_p).value)
    free(pointer)
    return value
