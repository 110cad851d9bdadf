# SPDX-License-Identifier: Apache-2.0
"""What a command took, of a process tree that has ended: for the programs beside this one."""
import os
import time


class Cost:
    """Seconds: wall; own, on a processor, of the process; others, likewise, of those that it waited for. MiB: the largest."""

    def __init__(self, command):
        begin = time.monotonic()
        quiet = os.open(os.devnull, os.O_RDWR)
        child = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)])
        os.close(quiet)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # still there to be asked
        self.wall = time.monotonic() - begin
        with open(f"/proc/{child}/schedstat") as stream:
            self.own = int(stream.read().split()[0]) / 1e9
        _, status, usage = os.wait4(child, 0)
        if status:
            raise SystemExit(f"{' '.join(command)}: status {status:#x}")
        self.others = max(0.0, usage.ru_utime + usage.ru_stime - self.own)
        self.mebibytes = usage.ru_maxrss / 1024
