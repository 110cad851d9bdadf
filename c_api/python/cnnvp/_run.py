# SPDX-License-Identifier: Apache-2.0
"""run, train and exec: the commands' work through the C API."""
import contextlib
import ctypes
import json
import logging
import math
import os
import signal
import threading
import types

import numpy

from . import _files
from ._library import Error, call, free, library, take, text
from ._structs import (Array, Console, Difference, Log, NamedArray, NetworkOptions, PlatformOptions, Progress, ResultsCheck, RunResult,
                       Share, Stopped, TrainerOptions, TrainRecord, Watch, WorkInfo)

_lock = threading.RLock()
_logger = logging.getLogger("cnnvp")
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
_PRINTED = ("quiet", "color", "advise", "report")
_TRAIN_STEP, _TRAIN_EVALUATION, _TRAIN_END = range(3)


class Result(types.SimpleNamespace):
    """Results of a call. Always: `stats`, the dictionary of the statistics, and `layers`, its list of layers. From run:
    `outputs`, numpy arrays in the network's order, their `names`, and `sqnr` in dB. From train: `steps`, a dictionary for
    each step, and `evaluations`. From exec: `console`, the program's output as bytes, and `exit_code`."""

    @property
    def layers(self):
        return self.stats["layers"]

    def __repr__(self):
        return f"<{', '.join(sorted(vars(self)))}: {self.stats['total']['accel_cycles']} accelerator cycles>"


def version():
    return text(library.cnnvp_version())


class _Work:
    """Resources of one call: handles, which are freed in reverse order, and memory that must stay alive."""

    def __init__(self, command):
        self.stack = contextlib.ExitStack()
        self.kept = []
        self.failed = []  # exceptions of the caller's functions, which cannot pass through the library
        self.interrupted = False
        self.command = command
        self.options = library.cnnvp_options_new(command.encode())
        self.stack.callback(library.cnnvp_options_free, self.options)

    def new(self, kind, *arguments):
        handle = ctypes.c_void_p()
        call(f"cnnvp_{kind}_new", *arguments, ctypes.byref(handle))
        self.stack.callback(getattr(library, f"cnnvp_{kind}_free"), handle)
        return handle

    def bytes(self, value, name):
        """A C string that lives as long as this object."""
        if not isinstance(value, (str, os.PathLike)):
            raise Error(f"{name}: a text is expected, not {type(value).__name__}")
        try:
            encoded = os.fsencode(value)
        except (UnicodeError, TypeError) as problem:
            raise Error(f"{name}: {problem}") from None
        if b"\0" in encoded:
            raise Error(f"{name}: a text with a zero in it")
        self.kept.append(encoded)
        return encoded

    def set_options(self, options):
        for name, value in options.items():
            if name in _PRINTED:
                raise Error(f"{name}: the command prints it; here the result has it")
            if name == "verbose" and isinstance(value, int):
                value = [True] * min(int(value), 3)
            if name == "plan" and isinstance(value, dict):
                value = self.stack.enter_context(_files.as_file(value, name))
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is None:
                    continue
                if not isinstance(one, (bool, int, float, str, os.PathLike, numpy.integer, numpy.floating)):
                    raise Error(f"{name}: a text, a number, True or False is expected, not {type(one).__name__}")
                said = ("false", "true")[one] if isinstance(one, bool) else one if isinstance(one, (str, os.PathLike)) else str(one)
                call("cnnvp_options_set", self.options, self.bytes(name, "option"), self.bytes(said, name))

    def check(self):
        call("cnnvp_options_check", self.options)

    def configure(self, platform, settings):
        """Creates a resolved configuration."""
        if platform is None:
            platform = text(library.cnnvp_command_platform(self.command.encode()))
        if settings is not None and not isinstance(settings, dict):
            raise Error(f"set: a dictionary of parameters is expected, not {type(settings).__name__}")
        with _files.as_file(platform, "platform") as file:
            config = self.new("config", self.bytes(file, "platform"))
            for name, value in (settings or {}).items():
                said = ("off", "on")[value] if isinstance(value, bool) else _files.number(value)
                call("cnnvp_config_set", config, self.bytes(f"{name}={said}", "set"))
            call("cnnvp_config_resolve", config)
        return config

    def array(self, value, name):
        struct, values = _files.to_array(value, name)
        self.kept += [struct, values]
        return struct

    def members(self, what, kind):
        struct = kind(struct_size=ctypes.sizeof(kind))
        getattr(library, f"cnnvp_{what}_options_get")(self.options, ctypes.byref(struct))
        return struct

    def platform(self, config, console=None, log=None):
        if log is not None and not callable(log):
            raise Error(f"log: a function of a level and a line is expected, not {type(log).__name__}")
        options = self.members("platform", PlatformOptions)

        def tell(context, level, line):
            try:
                (log or _log)(level, text(line))
            except BaseException as problem:  # pylint: disable=broad-except
                self.failed.append(problem)

        options.log = Log(tell)
        if console is not None:
            options.console = console
        self.kept.append(options)
        return self.new("platform", config, ctypes.byref(options))

    @contextlib.contextmanager
    def interruptible(self):
        """Ctrl-C is noted, and raised at the end. The work itself ends at its next call of a function of Python. The
        library is asked from there alone: a request when nothing runs would end the next run."""
        def interrupt(number, frame):
            self.interrupted = True

        mine = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if mine:
            signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            if mine:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if self.interrupted:
                raise KeyboardInterrupt

    def run(self, platform, progress=None):
        """Runs to the end of the program, and returns how it ended."""
        end = RunResult()

        def watch(context, now):
            try:
                if progress is not None:
                    progress(now.contents.share, now.contents.layers, now.contents.time_ps)
            except BaseException as problem:  # pylint: disable=broad-except
                self.failed.append(problem)
            if self.failed or self.interrupted:
                library.cnnvp_platform_interrupt()

        library.cnnvp_platform_run_watched(platform, Watch(watch), None, ctypes.byref(end))
        self.raise_failed()
        return end

    def raise_failed(self):
        if self.failed:
            raise self.failed[0]

    def stats(self, platform):
        pointer = ctypes.c_void_p()
        call("cnnvp_platform_stats", platform, ctypes.byref(pointer))
        return json.loads(take(pointer))

    def finish(self, platform):
        """Closes the traces. Raises Error if compared results differ."""
        call("cnnvp_platform_close_trace", platform)
        results = ResultsCheck()
        if library.cnnvp_platform_results(platform, ctypes.byref(results)) == 0 and results.wrong:
            raise Error(f"check_results: {results.wrong} of {results.compared} commands are wrong: {text(results.first)}")


def _all(options, name):
    """The values of an option that may be given several times."""
    value = options.get(name)
    return value if isinstance(value, (list, tuple)) else [value] if value is not None else []


def _last(options, name):
    """The value of an option; the last one of a list, as the library takes it."""
    values = _all(options, name)
    return values[-1] if values else None


def _number(options, name):
    value = options.get(name)
    if isinstance(value, (list, tuple)):
        raise Error(f"{name}: one whole number is expected, not {type(value).__name__}")
    return int(str(value or 0), 0)


def _log(level, line):
    _logger.log(_LEVELS[min(level, len(_LEVELS) - 1)], "%s", line)


@contextlib.contextmanager
def _work(command, options):
    with _lock:
        work = _Work(command)
        with work.stack:
            work.set_options(options)
            work.check()
            yield work


def _end(end):
    reason = text(end.reason)
    return (text(library.cnnvp_end_text(end.end)) + f" at {end.time_ps} ps of simulated time"
            + (f": {reason}" if reason else ""))


def _write_stats(options, stats):
    file = _last(options, "stats")
    if file is not None:
        try:
            with open(file, "w", encoding="utf-8") as stream:
                json.dump(stats, stream, indent=2, ensure_ascii=False)
        except OSError as problem:
            raise Error(f"{file}: cannot be written: {problem.strerror}") from None


def platform(platform=None, set=None):
    """A platform with all its parameters as a dictionary, from a preset, a file or another dictionary, with settings
    applied. It may be changed and passed to run, train, exec or platform."""
    with _lock:
        work = _Work("check")
        with work.stack:
            config = work.configure("nfu" if platform is None else platform, set)
            yaml = ctypes.c_void_p()
            memory_map = ctypes.c_void_p()
            call("cnnvp_config_text", config, ctypes.byref(yaml), ctypes.byref(memory_map))
            take(memory_map)
            return _files.from_yaml(take(yaml))


def _share(part, whole):
    """As the command writes it; infinity and NaN become None."""
    return float(f"{part / whole:.15g}") if math.isfinite(part) else None


def _accuracy(outputs, references, labels, most):
    """Computes values.accuracy of the command's statistics, from the first `most` labels; 0: all."""
    _, labels = _files.to_array(labels, "labels")
    labels = labels[:most] if most and labels.ndim else labels
    images = outputs[0].shape[0] if outputs and outputs[0].ndim else 0
    if not images or labels.size != images or labels.shape[:1] != (images,) or labels.dtype.kind not in "iu":
        raise Error(f"labels: {labels.shape} of {labels.dtype} for {images} images: [N] or [N, 1] whole numbers are expected")
    labels = labels.reshape(-1)
    values, reference = (array.reshape(images, -1) for array in (outputs[0], references[0]))
    if labels.min() < 0 or labels.max() >= values.shape[1]:
        raise Error(f"labels: the network has classes 0 to {values.shape[1] - 1}, not {labels.min()} to {labels.max()}")
    correct, right = (int((array.argmax(1) == labels).sum()) for array in (values, reference))
    return {"images": images, "correct": correct, "top1": _share(correct, images), "reference_correct": right,
            "reference_top1": _share(right, images)}


def _training(steps, evaluations):
    """Computes values.training of the command's statistics."""
    last = [step for step in steps if step["epoch"] == steps[-1]["epoch"]]
    images = sum(step["images"] for step in last)
    values = {"steps": steps[-1]["step"] + 1, "nonfinite": sum(step["nonfinite"] for step in steps),
              "loss": _share(sum(step["loss"] * step["images"] for step in last), images),
              "accuracy": _share(sum(step["correct"] for step in last), images)}
    for end in evaluations[-1:]:
        values |= {"eval_loss": _share(end["loss"], 1), "eval_accuracy": _share(end["correct"], end["images"])}
    return values


def run(network, *, platform=None, set=None, input=None, calibration=None, labels=None, progress=None, log=None, **options):
    """Runs an ONNX file or an installed network, as `cnnvp run` does. input, calibration, labels: arrays or .npy files; for
    several inputs, a dictionary of them by name. progress: called with the share of the work, the layers and picoseconds.
    log: called with a level and a line; by default lines go to the logger "cnnvp"."""
    given = {name: value for name, value in (("input", input), ("calibration", calibration), ("labels", labels)) if value is not None}
    options |= {name: value for name, value in given.items() if isinstance(value, (str, os.PathLike))}
    if isinstance(input, dict) and not input:
        raise Error("input: the dictionary has no array; without `input`, values are random")
    with _work("run", options) as work:
        named = given.pop("input") if isinstance(input, dict) else {}
        arrays = {name: _load(value, name) for name, value in given.items()}
        config = work.configure(platform, set)
        chosen = work.members("network", NetworkOptions)
        for name in ("input", "calibration"):
            if name in arrays:
                setattr(chosen, name, ctypes.pointer(work.array(arrays[name], name)))
                setattr(chosen, f"{name}_name", work.bytes(str(options.get(name, name)), name))
        inputs = [NamedArray(work.bytes(name, "input"), ctypes.pointer(work.array(_load(value, name), name)), None)
                  for name, value in named.items()]
        chosen.inputs, chosen.input_count = (NamedArray * len(inputs))(*inputs), len(inputs)
        chosen.stopped = Stopped(lambda: int(work.interrupted))
        chosen.computing = chosen.tuning = Share(lambda context, share: None)  # lets Python notice Ctrl-C
        with work.interruptible():
            made = work.new("network", work.bytes(network, "network"), config, ctypes.byref(chosen))
        if _last(options, "plan_out") is not None:
            call("cnnvp_network_plan", made, None)
        files, count = _all(options, "output"), library.cnnvp_network_outputs(made)
        if len(files) > count:
            raise Error(f"output: there are {len(files)} files for {count} output{'' if count == 1 else 's'} of {network}")
        if files and chosen.timing_only:
            _logger.warning("output: nothing is computed with timing_only, and %s is not written", files[0])
        simulated = work.platform(config, log=log)
        call("cnnvp_network_load", made, simulated)
        with work.interruptible():
            end = work.run(simulated, progress)
        if end.end or end.exit_code:
            raise Error(_end(end))
        outputs, names, references, sqnr = [], [], [], []
        if not chosen.timing_only:
            for number in range(count):
                with _array("output", made, simulated, number) as output, _array("reference", made, number) as reference:
                    outputs.append(_files.from_array(output))
                    references.append(_files.from_array(reference))
                    with _beside(made, number, options, reference) as model:
                        difference = Difference()
                        call("cnnvp_compare", ctypes.byref(output), ctypes.byref(model), ctypes.byref(difference))
                        sqnr.append(library.cnnvp_sqnr(ctypes.byref(difference)))
                names.append(text(library.cnnvp_network_output_name(made, number)))
        stats = work.stats(simulated)
        if labels is not None and outputs:
            stats.setdefault("values", {})["accuracy"] = _accuracy(outputs, references, arrays["labels"], _number(options, "images"))
        work.finish(simulated)
        _write_run(work, options, made, simulated, outputs, stats)
        return Result(outputs=outputs, names=names, sqnr=sqnr, stats=stats)


def _load(value, name):
    if not isinstance(value, (str, os.PathLike)):
        return value
    try:
        return numpy.load(value)
    except (OSError, ValueError, EOFError) as problem:
        raise Error(f"{name}: {os.fspath(value)}: {problem}") from None


@contextlib.contextmanager
def _array(kind, *arguments):
    array = Array()
    call(f"cnnvp_network_{kind}", *arguments, ctypes.byref(array))
    try:
        yield array
    finally:
        library.cnnvp_array_clear(ctypes.byref(array))


@contextlib.contextmanager
def _beside(network, number, options, reference):
    """The reference of an output: if it runs depth first, the float model padded by blocks."""
    if str(_last(options, "schedule")).replace("_", "-") != "depth-first":
        yield reference
        return
    with _array("block_reference", network, number) as model:
        yield model


def _write_run(work, options, network, platform, outputs, stats):
    """Writes the files that options name."""
    _write_stats(options, stats)
    plan, csv, dump = (_last(options, name) for name in ("plan_out", "csv", "dump"))
    if plan is not None:
        call("cnnvp_network_plan", network, work.bytes(plan, "plan_out"))
    if csv is not None:
        call("cnnvp_layers_csv", json.dumps(stats).encode(), work.bytes(csv, "csv"))
    if dump is not None:
        call("cnnvp_network_dump", network, platform, work.bytes(dump, "dump"))
    for file, output in zip(_all(options, "output"), outputs):
        call("cnnvp_npy_write", work.bytes(file, "output"), ctypes.byref(work.array(output, "output")))


def train(network, *, platform=None, set=None, progress=None, log=None, **options):
    """Trains an ONNX file or an installed network, as `cnnvp train` does. progress: called with the dictionary of each
    step. log: as in run. Checkpoints and the file of losses are only available in the command."""
    for name in ("checkpoint", "checkpoint_every", "resume"):
        if name in options:
            raise Error(f"{name}: `cnnvp train` has it")
    with _work("train", options) as work:
        config = work.configure(platform, set)
        chosen = work.members("trainer", TrainerOptions)
        file = work.bytes(network, "network")
        for member, option in (("dataset", "dataset"), ("evaluation", "eval")):
            if options.get(option) is not None:
                limit = _number(options, "limit") if option == "dataset" else 0
                dataset = work.new("dataset", work.bytes(options[option], option), limit)
                call("cnnvp_dataset_fit_network", dataset, file, chosen.shapes, chosen.shape_count)
                setattr(chosen, member, dataset)
        trainer = work.new("trainer", file, config, ctypes.byref(chosen))
        simulated = work.platform(config, Console(lambda context, data, size: library.cnnvp_trainer_console(trainer, data, size)), log)
        call("cnnvp_trainer_load", trainer, simulated)
        steps, evaluations, record, end = [], [], TrainRecord(), RunResult()
        with work.interruptible():
            while not work.interrupted:
                call("cnnvp_trainer_step", trainer, simulated, ctypes.byref(record), ctypes.byref(end))
                work.raise_failed()
                if record.event == _TRAIN_END:
                    break
                said = {name: getattr(record, name) for name, _ in TrainRecord._fields_ if name != "event"}
                (evaluations if record.event == _TRAIN_EVALUATION else steps).append(said)
                if progress is not None and record.event == _TRAIN_STEP:
                    progress(said)
        stats = work.stats(simulated)
        if steps and not chosen.timing_only:
            stats.setdefault("values", {})["training"] = _training(steps, evaluations)
        if _last(options, "output") is not None and not chosen.timing_only:
            call("cnnvp_trainer_export", trainer, simulated, work.bytes(_last(options, "output"), "output"))
        work.finish(simulated)
        _write_stats(options, stats)
        return Result(steps=steps, evaluations=evaluations, stats=stats)


def _words(config, program, file):
    """The words of a program of the instruction element, checked one by one; None: the program is an ELF file."""
    if not file.endswith(b".bin"):
        return None
    try:
        with open(program, "rb") as stream:
            words = stream.read()
    except OSError as problem:
        raise Error(f"{os.fspath(program)}: cannot be read: {problem.strerror}") from None
    if words.startswith(b"\x7fELF"):
        return None
    shown = ctypes.c_void_p()
    custom = library.cnnvp_config_instructions(config)
    try:
        call("cnnvp_disassemble", file, words, len(words), custom, ctypes.byref(shown))
    finally:
        free(custom)
    take(shown)
    return words


def exec(program, *arguments, platform=None, set=None, progress=None, log=None, **options):
    """Runs an RV32 program (an ELF file) with its arguments, or a program of the instruction element (.bin), as `cnnvp exec`
    does. A nonzero exit code is not an Error; a program that does not end is."""
    with _work("exec", options) as work:
        config = work.configure(platform, set)
        file = work.bytes(program, "program")
        element_words = _words(config, program, file)
        if element_words is not None and arguments:
            raise Error(f"{os.fspath(program)}: a program of the instruction element takes no arguments, such as {arguments[0]}")
        console = bytearray()
        simulated = work.platform(config, Console(lambda context, data, size: console.extend(ctypes.string_at(data, size))), log)
        words = [work.bytes(argument, "argument") for argument in arguments]
        if element_words is not None:
            call("cnnvp_load_words", simulated, config, element_words, len(element_words))
        else:
            call("cnnvp_platform_load_elf", simulated, file, len(words), (ctypes.c_char_p * (len(words) + 1))(*words))
        info = WorkInfo(ctypes.sizeof(WorkInfo), b"exec", None, 0, _number(options, "seed"))
        call("cnnvp_platform_describe_work", simulated, ctypes.byref(info))
        with work.interruptible():
            end = work.run(simulated, progress)
        if end.end:
            raise Error(_end(end))
        stats = work.stats(simulated)
        work.finish(simulated)
        _write_stats(options, stats)
        return Result(console=bytes(console), exit_code=end.exit_code, stats=stats)
