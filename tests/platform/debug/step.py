#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step.py CNNVP WORD...: `CNNVP WORD...` under a debugger that takes it through instruction by instruction; its exit
status is the program's."""
import sys

from gdb_client import Run

run = Run(*sys.argv[1:])
gdb = run.client()
gdb.ask("QStartNoAckMode")
while (answer := gdb.ask("s"))[0] == "T":
    pass
status, out, error = run.end()
sys.stdout.write(out)
sys.stderr.write(error)
sys.exit(status)
