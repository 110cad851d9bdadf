# SPDX-License-Identifier: Apache-2.0
"""cnnvp, a virtual platform for CNN accelerators: its commands as functions, with arrays as inputs and outputs.

    import cnnvp
    result = cnnvp.run("lenet5", platform="nfu", set={"pe_array.rows": 16}, input=images)
    result.outputs[0], result.stats["total"]["accel_cycles"], result.layers

Long options of the command (`cnnvp run --help`) are keywords: timing_only=True, max_time="2ms", shape=["1x3x64x64"].
Options for printing (quiet, color, advise) belong to the command only. One call runs at a time; other threads wait.
"""
from ._library import Error
from ._run import Result, exec, platform, run, train, version
from ._sweep import Point, load_results, records, sweep

__all__ = ["Error", "Point", "Result", "exec", "load_results", "platform", "records", "run", "sweep", "train", "version"]
__version__ = version()
