# SPDX-License-Identifier: Apache-2.0
"""Structs and functions of libcnnvp.so.1, as declared in the headers of c_api; a test of the C API compares them."""
import ctypes as c


class Array(c.Structure):
    _fields_ = [("type", c.c_int), ("rank", c.c_size_t), ("shape", c.c_size_t * 8), ("data", c.c_void_p)]


class NamedArray(c.Structure):
    _fields_ = [("name", c.c_char_p), ("array", c.POINTER(Array)), ("file", c.c_char_p)]


class ErrorText(c.Structure):
    _fields_ = [("text", c.c_char * 2048)]


class RunResult(c.Structure):
    _fields_ = [("end", c.c_int), ("exit_code", c.c_int), ("reason", c.c_char * 512), ("time_ps", c.c_uint64)]


class Progress(c.Structure):
    _fields_ = [("share", c.c_double), ("layers", c.c_uint64), ("time_ps", c.c_uint64)]


class ResultsCheck(c.Structure):
    _fields_ = [("compared", c.c_uint64), ("wrong", c.c_uint64), ("without", c.c_uint64), ("first", c.c_char * 512),
                ("kinds", c.c_char * 256)]


class Difference(c.Structure):
    _fields_ = [("signal", c.c_double), ("noise", c.c_double), ("magnitude", c.c_double), ("largest", c.c_double),
                ("images", c.c_uint64), ("agreeing", c.c_uint64)]


class TrainRecord(c.Structure):
    _fields_ = [("event", c.c_int), ("step", c.c_uint64), ("epoch", c.c_uint64), ("images", c.c_uint64),
                ("correct", c.c_uint64), ("loss", c.c_double), ("nonfinite", c.c_uint64), ("time_ps", c.c_uint64)]


Console = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t)
Log = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p)
Layer = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.c_uint64)
Watch = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Progress))
Stopped = c.CFUNCTYPE(c.c_int)
Share = c.CFUNCTYPE(None, c.c_void_p, c.c_double)


class PlatformOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("timing_only", c.c_int), ("verbosity", c.c_int), ("trace", c.c_char_p),
                ("series", c.c_char_p), ("memory_trace", c.c_char_p), ("profile", c.c_char_p), ("gdb", c.c_char_p),
                ("max_time_ps", c.c_uint64), ("console", Console), ("console_context", c.c_void_p),
                ("check_costs", c.c_int), ("check_results", c.c_int), ("strict", c.c_int), ("log", Log),
                ("log_context", c.c_void_p), ("layer", Layer), ("layer_context", c.c_void_p)]


class NetworkOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("rounding", c.c_int), ("schedule", c.c_int), ("block", c.c_uint32),
                ("on_chip", c.c_int), ("timing_only", c.c_int), ("seed", c.c_uint64), ("input", c.POINTER(Array)),
                ("images", c.c_uint64), ("calibration", c.POINTER(Array)), ("issue", c.c_int), ("stopped", Stopped),
                ("input_images", c.c_uint64), ("tune", c.c_int), ("input_name", c.c_char_p),
                ("calibration_name", c.c_char_p), ("shapes", c.POINTER(c.c_char_p)), ("shape_count", c.c_size_t),
                ("guest", c.c_char_p), ("batch", c.c_uint32), ("tuning", Share), ("tuning_context", c.c_void_p),
                ("objective", c.c_int), ("plan", c.c_char_p), ("computing", Share), ("until", c.POINTER(c.c_char_p)),
                ("until_count", c.c_size_t), ("inputs", c.POINTER(NamedArray)), ("input_count", c.c_size_t),
                ("from", c.POINTER(c.c_char_p)), ("from_count", c.c_size_t), ("base", c.c_uint64), ("precision", c.c_int)]


class TrainerOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("rounding", c.c_int), ("bn", c.c_int), ("order", c.c_int),
                ("block", c.c_int), ("narrow", c.c_int), ("random_weights", c.c_int), ("timing_only", c.c_int),
                ("batch", c.c_uint32), ("rate", c.c_float), ("momentum", c.c_float), ("bn_momentum", c.c_float),
                ("seed", c.c_uint64), ("epochs", c.c_uint64), ("steps", c.c_uint64), ("dataset", c.c_void_p),
                ("evaluation", c.c_void_p), ("errors", c.c_int), ("shapes", c.POINTER(c.c_char_p)),
                ("shape_count", c.c_size_t), ("guest", c.c_char_p), ("spill", c.c_int), ("shuffle", c.c_char_p)]


class WorkInfo(c.Structure):
    """Only the first members, as in a client with an older header."""
    _fields_ = [("struct_size", c.c_uint32), ("command", c.c_char_p), ("network", c.c_char_p),
                ("network_hash", c.c_uint64), ("seed", c.c_uint64)]


class SweepProgress(c.Structure):
    _fields_ = [("points", c.c_uint64), ("combinations", c.c_uint64), ("allowed", c.c_uint64), ("finished", c.c_uint64),
                ("failed", c.c_uint64), ("others", c.c_uint64), ("found", c.c_uint64), ("seconds", c.c_double),
                ("points_per_s", c.c_double), ("generation", c.c_uint32), ("slow", c.c_char * 300),
                ("waiting_for", c.c_char * 48)]


SweepWatch = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(SweepProgress))


class SweepOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("results", c.c_char_p), ("jobs", c.c_uint32), ("executor", c.c_int),
                ("seed", c.c_uint64), ("retry_failed", c.c_int), ("program", c.c_char_p), ("progress", SweepWatch),
                ("progress_context", c.c_void_p)]


# Structs by their names in the headers.
STRUCTS = {"cnnvp_array": Array, "cnnvp_error": ErrorText, "cnnvp_run_result": RunResult, "cnnvp_progress": Progress,
           "cnnvp_results_check": ResultsCheck, "cnnvp_difference": Difference, "cnnvp_train_record": TrainRecord,
           "cnnvp_platform_options": PlatformOptions, "cnnvp_network_options": NetworkOptions,
           "cnnvp_trainer_options": TrainerOptions, "cnnvp_work_info": WorkInfo,
           "cnnvp_sweep_progress": SweepProgress, "cnnvp_sweep_options": SweepOptions}

_P, _S, _U, _Z, _I = c.c_void_p, c.c_char_p, c.c_uint64, c.c_size_t, c.c_int
ERROR = c.POINTER(ErrorText)

# RESULTS: arguments of functions that return a cnnvp_result. OTHERS: return type and arguments of other functions.
RESULTS = {
    "cnnvp_config_new": (_S, _P, ERROR), "cnnvp_config_set": (_P, _S, ERROR), "cnnvp_config_resolve": (_P, ERROR),
    "cnnvp_config_text": (_P, _P, _P), "cnnvp_options_set": (_P, _S, _S, ERROR), "cnnvp_options_check": (_P, ERROR),
    "cnnvp_platform_new": (_P, _P, _P, ERROR), "cnnvp_platform_load_elf": (_P, _S, _I, _P, ERROR),
    "cnnvp_disassemble": (_S, _S, _Z, _P, _P, ERROR), "cnnvp_load_words": (_P, _P, _S, _Z, ERROR),
    "cnnvp_platform_describe_work": (_P, _P), "cnnvp_platform_run_watched": (_P, Watch, _P, _P),
    "cnnvp_platform_close_trace": (_P, ERROR), "cnnvp_platform_stats": (_P, _P), "cnnvp_platform_results": (_P, _P),
    "cnnvp_network_new": (_S, _P, _P, _P, ERROR), "cnnvp_network_load": (_P, _P, ERROR),
    "cnnvp_network_output": (_P, _P, _Z, _P, ERROR), "cnnvp_network_reference": (_P, _Z, _P, ERROR),
    "cnnvp_network_block_reference": (_P, _Z, _P, ERROR), "cnnvp_network_plan": (_P, _S, ERROR),
    "cnnvp_network_dump": (_P, _P, _S, ERROR), "cnnvp_compare": (_P, _P, _P, ERROR), "cnnvp_npy_write": (_S, _P, ERROR),
    "cnnvp_layers_csv": (_S, _S, ERROR),
    "cnnvp_dataset_new": (_S, _U, _P, ERROR), "cnnvp_dataset_fit_network": (_P, _S, _P, _Z, ERROR),
    "cnnvp_trainer_new": (_S, _P, _P, _P, ERROR), "cnnvp_trainer_load": (_P, _P, ERROR),
    "cnnvp_trainer_step": (_P, _P, _P, _P, ERROR), "cnnvp_trainer_export": (_P, _P, _S, ERROR),
    "cnnvp_sweep_new": (_S, _P, ERROR), "cnnvp_sweep_run": (_P, _P, _P, ERROR),
}
OTHERS = {
    "cnnvp_version": (_S,), "cnnvp_command_platform": (_S, _S), "cnnvp_options_new": (_P, _S),
    "cnnvp_config_instructions": (_P, _P),
    "cnnvp_options_free": (None, _P), "cnnvp_config_free": (None, _P), "cnnvp_platform_free": (None, _P),
    "cnnvp_network_free": (None, _P), "cnnvp_trainer_free": (None, _P), "cnnvp_dataset_free": (None, _P),
    "cnnvp_sweep_free": (None, _P), "cnnvp_array_clear": (None, _P), "cnnvp_network_outputs": (_Z, _P),
    "cnnvp_network_output_name": (_S, _P, _Z), "cnnvp_sqnr": (c.c_double, _P),
    "cnnvp_network_options_get": (None, _P, _P), "cnnvp_trainer_options_get": (None, _P, _P),
    "cnnvp_trainer_console": (None, _P, _P, _Z), "cnnvp_platform_options_get": (None, _P, _P),
    "cnnvp_platform_interrupt": (None,), "cnnvp_sweep_interrupt": (None,), "cnnvp_end_text": (_S, _I),
}
