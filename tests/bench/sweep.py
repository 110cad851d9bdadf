#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sweep.py CNNVP NETWORK [POINTS] [WORKERS]: what the driver of a sweep costs beside its points, timing only; never a pass
or a fail by time. Processor time is that of the kernel's accounts, which other work on the machine lengthens less."""
import os
import sqlite3
import sys
import tempfile

from measure import Cost

SPEC = """network: {}
options: {{timing_only: true}}
parameters:
  pe_array.rows: {{from: 1, to: 10, step: 1}}
  pe_array.cols: {{from: 1, to: 10, step: 1}}
  dram.preset: [ddr3-1600, ddr4-2400, ddr4-3200, lpddr4-3200, hbm2]
  input_buffer.size: [64KiB, 128KiB]
objectives: [total.time_ps, energy.total_pj]
search: {{random: {}}}
"""

program, network = (os.path.realpath(name) for name in sys.argv[1:3])
points = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
workers = sys.argv[4] if len(sys.argv) > 4 else "2"
with tempfile.TemporaryDirectory() as folder:
    spec, results = folder + "/spec.yaml", folder + "/results.sqlite"
    with open(spec, "w") as stream:
        stream.write(SPEC.format(network, points))
    command = [program, "sweep", spec, "-o", results, "-j", workers, "-q"]
    cost, again = Cost(command), Cost(command)
    rows = sqlite3.connect(results).execute("select count(*), sum(seconds) from points where status = 'ok'")
    count, seconds = rows.fetchone()
if count != points:
    raise SystemExit(f"{count} of {points} points")
print(f"{count} points, {workers} workers: {cost.wall:.2f} s, {count / cost.wall:.0f} points/s; "
      f"all of them found in the database: {again.wall:.2f} s")
print(f"processor: workers {cost.others:.2f} s ({1000 * cost.others / count:.2f} ms a point), driver {cost.own:.2f} s: "
      f"{100 * cost.own / cost.others:.1f} % of the workers'")
print(f"wall time of the points themselves {seconds:.2f} s; largest process {cost.mebibytes:.0f} MiB")
