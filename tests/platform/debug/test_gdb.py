#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A debugger at the core: what it sees, that it changes nothing, and what bad ones cannot do.

test_gdb.py CNNVP RISCV_GCC LENET5.onnx
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from gdb_client import Run

CNNVP, GCC, NETWORK = sys.argv[1:]

PROGRAM = """
    .option norelax
    .globl _start, loop, done, handler, counter, trapped
_start:
    la sp, stack
    la t1, handler
    csrw mtvec, t1
    li t0, 0
    la t1, counter
    ebreak                      # the program's own
loop:
    addi t0, t0, 1
    sw t0, 0(t1)
    lw t2, 0(t1)
    li t3, 2000
    blt t0, t3, loop
done:
    li a0, 0x10000000
    li a1, 72
    sb a1, 0(a0)
    la a0, tohost
    li a1, 1
    sw a1, 0(a0)
1:  j 1b
    .balign 4
handler:
    la t4, trapped
    li t5, 1
    sw t5, 0(t4)
    csrr t5, mepc
    addi t5, t5, 2
    csrw mepc, t5
    mret
    .data
counter: .word 0
trapped: .word 0
    .space 64
stack: .word 0
    .section .tohost,"aw"
    .align 6
    .globl tohost
tohost: .dword 0
"""

FAILING = """
    .globl _start
_start: li a0, 0x40000000
    jr a0
    .section .tohost,"aw"
tohost: .dword 0
"""

# Of the instruction element's own words: the core sleeps until they have ended.
WORDS = """
.base t, r80, request
    set t.row_bytes, 64
    set t.rows, 1
    set t.planes, 1
    set t.feature_words, 32
    fill.buffer=2 t, 0x1234
    set t.memory_addr, 0x80030000
    store.buffer=2 t
    request.buffer=0 t
    receive.buffer=0 t
    set r1, 1000000000
    loop r1, end
    nop
end:
"""

FOREVER = """
    .globl _start
_start: addi a0, a0, 1
    j _start
"""


def build(name, text):
    with open(name + ".S", "w") as out:
        out.write(text)
    subprocess.run([GCC, "-g", "-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2", "-nostdlib", "-nostartfiles",
                    "-Wl,-N,--no-warn-rwx-segments", "-Wl,-Ttext=0x80000000", name + ".S", "-o", name + ".elf"],
                   check=True)


def symbols(name):
    lines = subprocess.run([GCC.replace("gcc", "nm"), name], check=True, capture_output=True, text=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in lines.splitlines() if len(line.split()) == 3}


def without_host_time(file):
    with open(file) as text:
        stats = json.load(text)
    stats.pop("wall_seconds", None)
    stats["total"].pop("wall_seconds", None)
    return stats


def check_stops(at):
    """Breakpoints of both kinds, steps, watchpoints, registers, memory, and the program's own ebreak."""
    run = Run(CNNVP, "exec", "p.elf")
    gdb = run.client()
    assert "PacketSize" in gdb.ask("qSupported:swbreak+")
    assert gdb.ask("?") == "T02thread:1;"
    features = ""
    while (piece := gdb.ask(f"qXfer:features:read:target.xml:{len(features):x},3ff"))[0] == "m":
        features += piece[1:]
    assert "org.gnu.gdb.riscv.csr" in features + piece and 'name="mepc"' in features + piece
    assert gdb.pc() == at["_start"]
    for kind in "01":
        assert gdb.ask(f"Z{kind},{at['loop']:x},2") == "OK"
        assert gdb.ask("c") == "T05thread:1;" and gdb.pc() == at["loop"], hex(gdb.pc())
        assert gdb.ask(f"z{kind},{at['loop']:x},2") == "OK"
    counts = [int.from_bytes(bytes.fromhex(gdb.ask("p5")), "little")]
    assert counts == [1]  # the first stop was before any round, the second one round later
    word = gdb.ask(f"m{at['trapped']:x},4")
    assert word == "01000000", word  # the program's own ebreak has gone to its own handler
    for _ in range(5):
        assert gdb.ask("vCont;s:1;c") == "T05thread:1;"
    assert gdb.pc() == at["loop"]
    for kind, name, value in ((2, "watch", 3), (3, "rwatch", 3), (4, "awatch", 4)):
        assert gdb.ask(f"Z{kind},{at['counter']:x},4") == "OK"
        assert gdb.ask("c") == f"T05{name}:{at['counter']:x};thread:1;"
        assert int.from_bytes(bytes.fromhex(gdb.ask(f"m{at['counter']:x},4")), "little") == value
        assert gdb.ask(f"z{kind},{at['counter']:x},4") == "OK"
    assert gdb.ask("Z2,10000000,1") == "OK"  # a register of the UART, written once
    assert gdb.ask("c") == "T05watch:10000000;thread:1;"
    assert gdb.ask("z2,10000000,1") == "OK"
    assert gdb.pc() > at["done"]
    # Devices are read without effects, whole and in part; what is nowhere is an error.
    assert len(gdb.ask("m200bff8,8")) == 16 and len(gdb.ask("m200bff9,2")) == 4
    assert gdb.ask("m40000000,4") == "E01"
    # Memory and registers can be written.
    assert gdb.ask(f"M{at['counter']:x},4:78563412") == "OK" and gdb.ask(f"m{at['counter']:x},4") == "78563412"
    assert gdb.ask(b"X%x,4:}\x03ab}]" % at["counter"]) == "OK" and gdb.ask(f"m{at['counter']:x},4") == "2361627d"
    assert gdb.ask("P1f=01020304") == "OK" and gdb.ask("p1f") == "01020304"
    assert gdb.ask(f"p{65 + 0x300:x}") == "80180000"  # mstatus: MPIE, since the trap's return
    text = gdb.monitor("units")
    assert "pe_array" in text and "dma" in text, text
    assert "mtime" in gdb.monitor("registers clint").lower()
    assert "cpu.instructions" in gdb.monitor("stats cpu") and gdb.monitor("time").endswith(" ps\n")
    assert "there is no such instance" in gdb.monitor("stats nobody") and "monitor stats" in gdb.monitor("help")
    assert gdb.ask("c") == "W00"
    assert run.end()[:2] == (0, "H")


def pass_to(gdb, command):
    """Goes on until the core stops; what came before the stop for the user, and the stop."""
    gdb.send(command)
    text = ""
    while (answer := gdb.receive())[0] == "O" and answer != "OK":
        text += bytes.fromhex(answer[1:]).decode()
    return text, answer


def check_other_units():
    """Watchpoints on what a DMA writes and reads, a core that sleeps, and what units do and hold then."""
    run = Run(CNNVP, "exec", "words.bin", "--max-time", "100s")
    gdb = run.client()
    assert gdb.ask("Z2,80030010,4") == "OK"
    text, answer = pass_to(gdb, "c")
    assert answer == "T05watch:80030010;thread:1;", answer
    assert text == "0x80030010 was written by dma, not by the core (64 bytes from 0x80030000 on)\n", text
    assert gdb.ask("m80030010,4") == "34123412"
    assert "dram.write_bytes 64 bytes" in gdb.monitor("stats dram"), gdb.monitor("stats dram")
    assert gdb.monitor("buffers output_buffer 8 4") == "0x00000008: 34 12 34 12\n"
    assert "there is nothing" in gdb.monitor("buffers output_buffer 0x7ffffff0")
    assert "are numbers" in gdb.monitor("buffers output_buffer zero")
    assert "no such instance" in gdb.monitor("buffers dma 0")
    assert "loop" in gdb.monitor("queue") or "receive" in gdb.monitor("queue"), gdb.monitor("queue")
    assert gdb.ask("z2,80030010,4") == "OK" and gdb.ask("Z3,80030020,1") == "OK"
    text, answer = pass_to(gdb, "c")
    assert answer == "T05rwatch:80030020;thread:1;" and "read by dma" in text, (answer, text)
    assert gdb.ask("z3,80030020,1") == "OK"
    # Only the element works now.
    for _ in range(100):
        gdb.send("c")
        time.sleep(0.05)
        assert gdb.interrupt() == "T02thread:1;"
        if "sleeps" in gdb.monitor("units cpu"):
            break
    assert "half 0: 0x000000..0x00003f       64 bytes, 32 copies" in gdb.monitor("buffers"), gdb.monitor("buffers")
    before = gdb.monitor("time")
    assert "sleeps" in gdb.monitor("units cpu"), gdb.monitor("units cpu")
    assert gdb.monitor("time") == before
    slept = [line for line in gdb.monitor("stats cpu").splitlines() if "wfi_cycles" in line]
    assert slept and int(slept[0].split()[1]) > 1000, slept
    gdb.send("s")  # over the sleep
    assert gdb.interrupt() == "T02thread:1;" and gdb.monitor("time") != before
    gdb.send("k")
    assert run.end()[0] == 1


def check_nothing_changes(at):
    """A thousand stops of a run with results, statistics and a trace that are those of a run without."""
    common = ("run", NETWORK, "--quiet", "-n", "3")

    def outputs(name):
        return ("-o", name + ".npy", "--stats", name + ".json", "--trace", name + ".vcd")

    subprocess.run([CNNVP, *common, *outputs("alone")], check=True)
    run = Run(CNNVP, *common, *outputs("stopped"))
    gdb = run.client()
    gdb.ask("QStartNoAckMode")
    chance = random.Random(7)
    stops, answer, seen = 0, "", ""
    # Any access to a device, some steps, any access to memory; sometimes wherever it is.
    while answer[:1] != "W":
        for words in ("Z4,10000000,70000000", "c", "z4,10000000,70000000", "s", "s", "Z4,80000000,1000000", "c",
                      "z4,80000000,1000000"):
            answer = pass_to(gdb, words)[1]
            stops += answer[0] == "T"
            if answer[0] == "W":
                break
        else:
            if stops % 64 < 8:
                seen += gdb.monitor("stats dram instruction") + gdb.monitor("units") + gdb.monitor("queue")
                seen += gdb.monitor("buffers")
            gdb.monitor("registers instruction")
            gdb.monitor("registers plic")
            assert gdb.ask(f"m{0x80000000 + 4 * chance.randrange(1000):x},40")[0] != "E"
            if stops > 1000 and chance.random() < 0.1:
                gdb.send("c")
                gdb.socket.sendall(b"\x03")
                answer = gdb.receive()
                assert answer[0] in "TW", answer  # of nothing that was watched before
    assert answer == "W00" and stops > 1000, (answer, stops)
    for text in (" of layer ", "in flight", "half 1: ", "feature values", "instruction.instructions "):
        assert text in seen, text
    assert run.end()[0] == 0
    for suffix in ("npy", "vcd"):
        with open("alone." + suffix, "rb") as one, open("stopped." + suffix, "rb") as other:
            assert one.read() == other.read(), suffix
    assert without_host_time("alone.json") == without_host_time("stopped.json")
    return stops


def check_ends():
    """A program that cannot go on stands still first; quitting, killing, leaving, and coming back."""
    run = Run(CNNVP, "exec", "failing.elf")
    gdb = run.client()
    assert gdb.ask("c") == "T0bthread:1;"
    assert gdb.ask(f"p{65 + 0x342:x}") == "01000000"  # mcause: a fetch
    assert gdb.ask("c") == "W01"
    status, _, error = run.end()
    assert status == 1 and "trap handler" in error, error

    run = Run(CNNVP, "exec", "forever.elf", "--max-time", "1s")
    gdb = run.client()
    gdb.send("c")
    assert gdb.interrupt() == "T02thread:1;"
    gdb.send("k")
    status, _, error = run.end()
    assert status == 1 and "debugger" in error, error

    run = Run(CNNVP, "exec", "forever.elf", "--max-time", "2s")
    gdb = run.client()
    assert gdb.ask("Z0,80000000,2") == "OK"
    gdb.send("c")
    gdb.receive()
    gdb.close()  # without a word: its breakpoint goes with it
    gdb = run.client()
    assert gdb.ask("?") == "T02thread:1;"
    assert gdb.ask("D") == "OK"
    gdb = run.client()
    assert gdb.ask("?") == "T02thread:1;" and gdb.ask("Z0,80000002,2") == "OK"
    assert gdb.ask("c") == "T05thread:1;" and gdb.ask("z0,80000002,2") == "OK" and gdb.ask("Z2,80001000,4") == "OK"
    gdb.send("c")
    time.sleep(0.1)
    gdb.close()  # while the program runs: nothing of it reaches the next debugger
    time.sleep(0.1)
    gdb = run.client()
    assert gdb.ask("qC") == "QC1"
    second = run.client()  # turned away
    assert gdb.ask("?") == "T02thread:1;"
    try:
        second.ask("?")
        raise AssertionError("two debuggers at a time")
    except (EOFError, ConnectionError):
        pass
    gdb.send("vKill;1")
    assert gdb.receive() == "OK"
    assert run.end()[0] == 1


def check_rubbish():
    """A client that sends anything: the run goes on as if it had never connected."""
    chance = random.Random(11)
    letters = b"?gGpPmMXZzcCsSHTDkqv,;:=#$}+-\x03\x000123456789abcdef"
    for number in range(12):
        run = Run(CNNVP, "exec", "p.elf")
        gdb = run.client()
        for _ in range(60):
            data = bytes(chance.choice(letters) for _ in range(chance.randrange(40)))
            if number % 3 == 0:
                data = bytes(chance.randrange(256) for _ in range(chance.randrange(3000)))
            try:
                if chance.random() < 0.7:
                    data = data.translate(None, b"#$}")
                    if data[:1] in (b"k", b"M", b"X", b"G", b"P") or data.startswith(b"vKill"):
                        continue  # these may do what they say
                    if data[:1] in (b"c", b"s", b"C", b"S"):
                        data = data[:1]  # not to an address
                    gdb.send(data)
                else:
                    gdb.socket.sendall(b"$" * (number % 3 == 0) + data)
            except OSError:
                break
        gdb.close()
        status, out, error = run.end()
        assert (status, out) == (0, "H"), (number, status, out, error)


def check_options():
    for words, said in ((("exec", "p.elf", "--gdb", "70000"), "port"), (("exec", "p.elf", "--gdb", "x"), "port")):
        done = subprocess.run([CNNVP, *words], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, done
    run = Run(CNNVP, "exec", "p.elf")
    done = subprocess.run([CNNVP, "exec", "p.elf", "--gdb", str(run.port)], capture_output=True, text=True)
    assert done.returncode == 2 and "cannot be used" in done.stderr, done
    run.process.terminate()  # while it waits
    assert run.end()[0] == 1


class Machine:
    """GDB's machine interface."""

    def __init__(self, gdb):
        self.process = subprocess.Popen([gdb, "-nx", "--interpreter=mi2"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def until(self, text):
        seen = ""
        while line := self.process.stdout.readline():
            seen += line
            if text in line:
                return line
        raise AssertionError(f"no {text} in\n{seen}")

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end(self):
        self.tell("-gdb-exit")
        self.process.communicate(timeout=60)


def check_gdb():
    """GDB itself through its machine interface, as editors use it."""
    gdb = shutil.which("gdb-multiarch")
    if not gdb:
        print("no gdb-multiarch: its own interface was not tried")
        return
    run = Run(CNNVP, "exec", "p.elf")
    script = ["-gdb-set mi-async on", "-file-exec-and-symbols p.elf", f"-target-select remote 127.0.0.1:{run.port}",
              "-break-insert loop", "-break-watch counter", "-exec-continue"]
    mi = Machine(gdb)
    until, tell = mi.until, mi.tell

    for line in script[:4]:
        tell(line)
    until("^done,bkpt")
    tell("-exec-continue")
    assert 'reason="breakpoint-hit"' in until("*stopped")
    tell("-data-list-register-values x 2 5 32")
    until("^done,register-values")
    tell('-interpreter-exec console "info registers mcause mepc"')
    until("mepc")
    tell("-exec-step-instruction")
    assert 'reason="end-stepping-range"' in until("*stopped")
    tell('-interpreter-exec console "watch *(int *)&counter"')
    until("^done")
    tell("-exec-continue")
    assert 'reason="watchpoint-trigger"' in until("*stopped")
    tell('-interpreter-exec console "monitor units"')
    until("pe_array")
    tell("-break-delete")
    until("^done")
    tell("-exec-continue")
    assert 'exited' in until("*stopped")
    mi.end()
    assert run.end()[:2] == (0, "H")
    check_gdb_other_units(gdb)


def check_gdb_other_units(gdb):
    """The same of a write by the DMA, of a core that sleeps, and of what `monitor` says."""
    run = Run(CNNVP, "exec", "words.bin", "--max-time", "100s")
    mi = Machine(gdb)
    mi.tell("-gdb-set mi-async on")
    mi.tell(f"-target-select remote 127.0.0.1:{run.port}")
    mi.until("^connected")
    mi.tell("-break-watch *(int*)0x80030010")
    mi.until("^done")
    mi.tell("-exec-continue")
    assert "was written by dma" in mi.until("was written")
    assert 'reason="watchpoint-trigger"' in mi.until("*stopped")
    mi.tell('-interpreter-exec console "monitor buffers output_buffer 0 4"')
    mi.until("34 12 34 12")
    mi.tell("-break-delete")
    mi.until("^done")
    mi.tell("-exec-continue")
    mi.until("*running")
    time.sleep(1)
    mi.tell("-exec-interrupt")
    assert 'signal-name="SIGINT"' in mi.until("*stopped")
    mi.tell('-interpreter-exec console "monitor units cpu"')
    mi.until("sleeps until an interrupt wakes it")
    mi.tell('-interpreter-exec console "kill"')
    mi.until("^done")
    mi.end()
    assert run.end()[0] == 1


with tempfile.TemporaryDirectory() as folder:
    NETWORK = os.path.abspath(NETWORK)
    os.chdir(folder)
    build("p", PROGRAM)
    build("failing", FAILING)
    build("forever", FOREVER)
    with open("words.s", "w") as words:
        words.write(WORDS)
    subprocess.run([CNNVP, "asm", "words.s", "-o", "words.bin"], check=True)
    names = symbols("p.elf")
    check_stops(names)
    check_other_units()
    check_ends()
    check_options()
    check_rubbish()
    check_gdb()
    print("stops of a run that nothing changed:", check_nothing_changes(names))
