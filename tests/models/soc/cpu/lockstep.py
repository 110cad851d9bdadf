#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random instruction streams on the core and on QEMU, compared register by register after every instruction.

lockstep.py RV32_RUN QEMU [--seed N] [--programs N] [--length N]

Each program is also run freely, in quanta of 10000 and of 13, and must end with QEMU's registers. x30 and x31 belong
to the trap handler, x2, x8 and x9 point to data.
"""
import argparse
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

RAM = 0x80000000
DATA = 0x80020000
DATA_SIZE = 0x2000
RESULTS = [r for r in range(1, 30) if r not in (2, 8, 9, 29)]  # x29 counts loops
RESULTS_C = [10, 11, 12, 13, 14, 15]
EDGES = [0, 1, 2, 31, 32, 0x7FF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF0000, 0xAAAAAAAA]


def r_type(opcode, f3, f7, rd, rs1, rs2):
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode


def i_type(opcode, f3, rd, rs1, imm):
    return (imm & 0xFFF) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode


def s_type(f3, rs1, rs2, imm):
    return (imm >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 31) << 7 | 0x23


def b_type(f3, rs1, rs2, imm):
    return ((imm >> 12 & 1) << 31 | (imm >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm >> 1 & 15) << 8
            | (imm >> 11 & 1) << 7 | 0x63)


def j_type(rd, imm):
    return ((imm >> 20 & 1) << 31 | (imm >> 1 & 0x3FF) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 0xFF) << 12
            | rd << 7 | 0x6F)


def li(rd, value):
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    return [(value - low & 0xFFFFF000) | rd << 7 | 0x37, i_type(0x13, 0, rd, rd, low)]


class Program:
    """Items are (length, word); branches over following items are patched once lengths are known."""

    def __init__(self, rng, length):
        self.rng = rng
        self.items = []
        self.loop = None
        makers = [(self.alu, 30), (self.imm, 20), (self.muldiv, 12), (self.upper, 4), (self.load, 14),
                  (self.store, 12), (self.amo, 6), (self.reserve, 2), (self.branch, 12), (self.jump, 4),
                  (self.csr, 3), (self.fence, 2), (self.trap, 2), (self.compressed, 40), (self.begin_loop, 2)]
        names = [m for m, weight in makers for _ in range(weight)]
        while len(self.items) < length:
            rng.choice(names)()
            self.end_loop()
        self.end_loop(True)

    def src(self):
        return self.rng.randrange(30)

    def dst(self):
        return self.rng.choice(RESULTS + [0])

    def add(self, word, length=4):
        self.items.append((length, word))

    def alu(self):
        f3 = self.rng.randrange(8)
        f7 = self.rng.choice([0, 0x20]) if f3 in (0, 5) else 0
        self.add(r_type(0x33, f3, f7, self.dst(), self.src(), self.src()))

    def muldiv(self):
        self.add(r_type(0x33, self.rng.randrange(8), 1, self.dst(), self.src(), self.src()))

    def imm(self):
        f3 = self.rng.randrange(8)
        imm = self.rng.randrange(0x1000)
        if f3 == 1:
            imm &= 31
        elif f3 == 5:
            imm = imm & 31 | self.rng.choice([0, 0x400])
        self.add(i_type(0x13, f3, self.dst(), self.src(), imm))

    def upper(self):
        self.add(self.rng.randrange(1 << 20) << 12 | self.dst() << 7 | self.rng.choice([0x37, 0x17]))

    def load(self):
        self.add(i_type(0x03, self.rng.choice([0, 1, 2, 4, 5]), self.dst(), 8, self.rng.randrange(0x1000)))

    def store(self):
        self.add(s_type(self.rng.randrange(3), 8, self.src(), self.rng.randrange(0x1000)))

    def amo(self):
        function = self.rng.choice([0, 1, 4, 8, 12, 16, 20, 24, 28])
        self.add(r_type(0x2F, 2, function << 2 | self.rng.randrange(4), self.dst(), 9, self.src()))

    def reserve(self):
        if self.rng.random() < 0.8:
            self.add(r_type(0x2F, 2, 2 << 2, self.dst(), 9, 0))
        self.add(r_type(0x2F, 2, 3 << 2, self.dst(), 9, self.src()))

    def skip(self, make):
        """make(distance in bytes) jumps over the next 1 to 3 items."""
        at = len(self.items)
        self.items.append(None)
        for _ in range(self.rng.randrange(1, 4)):
            self.rng.choice([self.alu, self.imm, self.compressed_alu])()
        self.items[at] = (4, make(4 + sum(length for length, _ in self.items[at + 1:])))

    def branch(self):
        f3 = self.rng.choice([0, 1, 4, 5, 6, 7])
        a, b = self.src(), self.rng.choice([self.src(), 0])
        self.skip(lambda distance: b_type(f3, a, b, distance))

    def jump(self):
        rd = self.dst()
        self.skip(lambda distance: j_type(rd, distance))

    def begin_loop(self):
        if self.loop is None:
            self.add(i_type(0x13, 0, 29, 0, self.rng.randrange(2, 12)))
            self.loop = len(self.items)

    def end_loop(self, force=False):
        if self.loop is None or not force and len(self.items) < self.loop + 12:
            return
        self.add(i_type(0x13, 0, 29, 29, -1))
        distance = sum(length for length, _ in self.items[self.loop:])
        self.add(b_type(1, 29, 0, -distance))
        self.loop = None

    def csr(self):
        self.add(i_type(0x73, self.rng.choice([1, 2, 3, 5, 6, 7]), self.dst(), self.src(), 0x340))

    def fence(self):
        self.add(self.rng.choice([0x0000100F, 0x0FF0000F]))

    def trap(self):
        kind = self.rng.randrange(3)
        if kind == 0:
            self.add(0x00000073)
        elif kind == 1:
            self.add(self.rng.choice([0xFFFFFFFF, 0x02051513, 0x0000B083, 0x40001033]))
        else:
            self.add(self.rng.choice([0x0000, 0x8000, 0x9C01]), 2)

    def compressed_alu(self):
        rng = self.rng
        rd = rng.choice(RESULTS)
        near = rng.choice(RESULTS_C) - 8
        source = rng.randrange(8)
        six = rng.randrange(1, 64)
        imm6 = (six >> 5) << 12 | (six & 31) << 2
        five = rng.randrange(32) << 2
        self.add(rng.choice([
            0x0001 | rd << 7 | imm6, 0x4001 | rd << 7 | imm6, 0x6001 | rd << 7 | imm6,
            0x8001 | near << 7 | five, 0x8401 | near << 7 | five, 0x8801 | near << 7 | imm6,
            0x8C01 | rng.randrange(4) << 5 | near << 7 | source << 2, 0x0002 | rd << 7 | five,
            0x8002 | rd << 7 | rng.randrange(1, 30) << 2, 0x9002 | rd << 7 | rng.randrange(1, 30) << 2,
            0x0000 | rng.randrange(1, 256) << 5 | near << 2]), 2)

    def compressed(self):
        rng = self.rng
        near = rng.choice(RESULTS_C) - 8
        kind = rng.randrange(6)
        if kind < 2:
            self.compressed_alu()
        elif kind == 2:  # c.lw, c.sw from x8
            self.add(rng.choice([0x4000, 0xC000]) | rng.randrange(8) << 10 | rng.randrange(4) << 5 | near << 2, 2)
        elif kind == 3:  # c.lwsp
            self.add(0x4002 | rng.randrange(2) << 12 | rng.choice(RESULTS) << 7 | rng.randrange(32) << 2, 2)
        elif kind == 4:  # c.swsp
            self.add(0xC002 | rng.randrange(64) << 7 | rng.randrange(30) << 2, 2)
        else:  # c.beqz, c.bnez over a half-word and a word
            self.add(rng.choice([0xC001, 0xE001]) | rng.randrange(8) << 7 | 0x0C00 & 0x0800 | 0, 2)
            self.items[-1] = (2, self.items[-1][1] & ~0x1C7C | (8 >> 1 & 3) << 3 | (8 >> 3 & 3) << 10)
            self.compressed_alu()
            self.imm()


def trap_handler():
    """Leaves mcause, mtval in x30, x31 in passing, then skips the instruction."""
    return [i_type(0x73, 2, 30, 0, 0x342), i_type(0x73, 2, 31, 0, 0x343), i_type(0x73, 2, 30, 0, 0x341),
            i_type(0x03, 5, 31, 30, 0), i_type(0x13, 7, 31, 31, 3), i_type(0x13, 3, 31, 31, 3),
            i_type(0x13, 1, 31, 31, 1),  # 2 if compressed
            r_type(0x33, 0, 0x20, 30, 30, 31), i_type(0x13, 0, 30, 30, 4), i_type(0x73, 1, 0, 30, 0x341), 0x30200073]


def image(rng, length):
    """Handler, initial registers, random code, then QEMU's power switch and a jump to itself.

    Also the address of that jump, and how many instructions set up the registers: QEMU's reset code leaves other
    values in them.
    """
    handler = trap_handler()
    start = [j_type(0, 4 + 4 * len(handler))] + handler + li(30, RAM + 4) + [i_type(0x73, 1, 0, 30, 0x305)]
    for reg in range(1, 30):
        value = {2: DATA + 0x800, 8: DATA + 0x800, 9: DATA + 4 * rng.randrange(64)}.get(reg)
        if value is None:
            value = rng.choice(EDGES) if rng.random() < 0.5 else rng.getrandbits(32)
        start += li(reg, value)
    code = b"".join(struct.pack("<I", word) for word in start)
    for size, word in Program(rng, length).items:
        code += struct.pack("<I" if size == 4 else "<H", word)
    end = li(30, 0x100000) + li(31, 0x5555) + [s_type(2, 30, 31, 0)]
    code += b"".join(struct.pack("<I", word) for word in end)
    stop = RAM + len(code) - 4
    code += struct.pack("<I", j_type(0, 0))
    assert len(code) < DATA - RAM
    data = rng.randbytes(DATA_SIZE)
    return code + bytes(DATA - RAM - len(code)) + data, stop, len(start) - len(handler)


def elf(content):
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, RAM, 52, 0, 0, 52, 32, 1, 40, 0, 0)
    segment = struct.pack("<IIIIIIII", 1, 0x1000, RAM, RAM, len(content), len(content), 7, 0x1000)
    return (header + segment).ljust(0x1000, b"\0") + content


def qemu_trace(qemu, program, log):
    """States before each instruction: [pc, x1, ..., x31]."""
    subprocess.run([qemu, "-machine", "virt", "-bios", "none", "-kernel", str(program), "-display", "none", "-serial",
                    "none", "-monitor", "none", "-singlestep", "-d", "exec,nochain,cpu", "-D", str(log)],
                   check=True, timeout=300)
    state, states = None, []
    for line in log.open():
        if line.startswith(" pc "):
            state = [int(line.split()[1], 16)]
            states.append(state)
        elif line.startswith(" x"):
            state += [int(value, 16) for value in re.findall(r"x\d+/\S+\s+([0-9a-f]{8})", line)]
    return [s[:1] + s[2:33] for s in states if s[0] >= RAM]


def own_trace(runner, program, steps):
    out = subprocess.run([runner, "-t", "-n", str(steps), str(program)], capture_output=True, text=True, timeout=300)
    return [[int(value, 16) for value in line.split()] for line in out.stdout.splitlines()]


def own_end(runner, program, quantum):
    out = subprocess.run([runner, "-d", "-q", str(quantum), str(program)], capture_output=True, text=True, timeout=300)
    return [int(value, 16) for value in out.stdout.split()]


def compare(seed, expected, got, begin):
    for step, (a, b) in enumerate(zip(expected, got)):
        if step >= begin and a != b:
            print(f"seed {seed}: difference before instruction {step} (columns: register, QEMU, core)")
            for name, x, y in zip(["pc"] + [f"x{i}" for i in range(1, 32)], a, b):
                if x != y:
                    print(f"  {name:4} {x:08x} {y:08x}")
            if step > 0:
                print(f"  instruction at pc {expected[step - 1][0]:08x}")
            return False
    if len(expected) != len(got):
        print(f"seed {seed}: QEMU executed {len(expected)} instructions, the core {len(got)}")
        return False
    return True


def check(args, seed, folder):
    rng = random.Random(seed)
    program = folder / f"random{seed}.elf"
    content, stop, begin = image(rng, args.length)
    program.write_bytes(elf(content))
    expected = qemu_trace(args.qemu, program, folder / "qemu.log")
    if not expected or expected[-1][0] != stop:
        print(f"seed {seed}: QEMU did not get to the end")
        return False
    if not compare(seed, expected, own_trace(args.runner, program, len(expected)), begin):
        return False
    for quantum in (10000, 13):
        end = own_end(args.runner, program, quantum)
        if end[1:30] != expected[-1][1:30]:
            print(f"seed {seed}: run freely with a quantum of {quantum} it ends differently")
            return False
    print(f"seed {seed}: {len(expected)} instructions agree")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("qemu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--length", type=int, default=2000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [check(args, args.seed + i, Path(folder)) for i in range(args.programs)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
