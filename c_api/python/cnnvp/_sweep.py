# SPDX-License-Identifier: Apache-2.0
"""Sweeps and their databases."""
import contextlib
import ctypes
import json
import os
import pathlib
import sqlite3
import types

from . import _files
from ._library import Error, call, library
from ._run import _Work, _lock
from ._structs import SweepOptions, SweepProgress, SweepWatch


class Point(types.SimpleNamespace):
    """A point of a sweep: `params` and `stats`, dictionaries, `status` (ok or failed), `error`, `seconds`, `key`."""

    def __repr__(self):
        return f"<{self.status}: {', '.join(f'{name}={value}' for name, value in self.params.items())}>"


def sweep(spec, *, output, jobs=0, seed=0, retry_failed=False, progress=None):
    """Runs the points of a specification (a file or a dictionary) that the database `output` does not contain yet. Returns
    all points of the database, failed ones included. progress: called from time to time with a dictionary."""
    with _lock:
        work = _Work("sweep")
        with work.stack, _files.as_file(spec, "spec") as file:
            made = work.new("sweep", work.bytes(file, "spec"))
            done, failed = SweepProgress(), []

            def watch(context, now):
                try:
                    if progress is not None:
                        progress({name: getattr(now.contents, name) for name, _ in SweepProgress._fields_})
                except BaseException as problem:  # pylint: disable=broad-except
                    failed.append(problem)
                if failed or work.interrupted:
                    library.cnnvp_sweep_interrupt()

            for name, value in (("jobs", jobs), ("seed", seed)):
                if not isinstance(value, int) or not 0 <= value < 2 ** 32:
                    raise Error(f"{name}: a whole number from 0 is expected, not {value!r}")
            options = SweepOptions(ctypes.sizeof(SweepOptions), work.bytes(output, "output"), jobs, 0, seed, int(bool(retry_failed)),
                                   None, SweepWatch(watch), None)
            with work.interruptible():
                try:
                    call("cnnvp_sweep_run", made, ctypes.byref(options), ctypes.byref(done))
                except Error:
                    if failed:
                        raise failed[0] from None
                    raise
    return load_results(output)


def load_results(file):
    """The points of a sweep's database, in the order of their runs."""
    if not isinstance(file, (str, os.PathLike)) or not os.path.exists(file):
        raise Error(f"{file}: there is no such database")
    try:
        with contextlib.closing(sqlite3.connect(f"{pathlib.Path(file).absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT key, status, params, stats, error, seconds FROM points ORDER BY rowid").fetchall()
    except sqlite3.Error as problem:
        raise Error(f"{os.fspath(file)}: {problem}") from None
    return [Point(key=key, status=status, params=json.loads(params or "{}"), stats=json.loads(stats or "{}"), error=error,
                  seconds=seconds) for key, status, params, stats, error, seconds in rows]


def records(points, *statistics):
    """One flat dictionary for each point, as for pandas.DataFrame: parameters, status, and the named statistics, such as
    "energy.total_pj" or "layers.C1.cycles"; None where a point lacks one, an error if every point does. Without names: all
    statistics of `total`."""
    points, result = list(points), []
    for name in statistics:
        if any(point.stats for point in points) and all(_find(point.stats, name) is None for point in points):
            raise Error(f"{name}: no point has a statistic of that name")
    for point in points:
        names = statistics or [f"total.{name}" for name in point.stats.get("total", {})]
        result.append({**point.params, "status": point.status, **{name: _find(point.stats, name) for name in names}})
    return result


def _find(value, path):
    """What is at a path, found as the library finds an objective: an element of a list by its index, its name (the first
    one of it) or its ends as FROM-TO; the longest name that leads on, since names may contain dots. None: nothing."""
    if not path:
        return value
    members = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        for member in (member for member in reversed(value) if isinstance(member, dict)):
            members |= {f"{member.get('from')}-{member.get('to')}": member, member.get("name"): member}
        members |= {str(index): member for index, member in enumerate(value)}
    words = path.split(".")
    for count in range(len(words), 0, -1):
        found = _find(members.get(".".join(words[:count])), ".".join(words[count:]))
        if found is not None:
            return found
    return None
