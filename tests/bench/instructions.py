#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""instructions.py CNNVP [--record]: the processor's instructions of five runs, counted by callgrind: they repeat, where
times do not. Prints them beside those of instructions.txt, and ends with status 1 where one is 2 % away from it: what
costs or brings that much is named in a commit, which records it with --record. Counts of another compiler or kind of
processor are printed, and not judged."""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
RECORD = os.path.join(os.path.dirname(os.path.realpath(__file__)), "instructions.txt")
LIMIT = 0.02
NETWORKS = os.path.join(SOURCE, "scripts/networks")

# What is counted, the command, and the two counts that "{}" stands for: the difference, for each, is what is counted. One
# count: the whole run.
RUNS = [
    ("LeNet-5, the whole run, timing only", "run {lenet} -q --timing-only -n {}", (1,)),
    ("LeNet-5, a further image, timing only", "run {lenet} -q --timing-only -n {}", (1, 9)),
    ("VGG16 32x32, a further image, timing only", "run {vgg16} -q --timing-only -n {}", (1, 2)),
    ("VGG16 32x32, a further image, with results", "run {vgg16} -q -n {}", (1, 2)),
    ("digits, a further training step of 32 images",
     "train {digits} -q --dataset idx:{images},{labels} --limit 32 --batch 32 --epochs {}", (1, 4)),
]


def count(program, arguments, folder):
    """Instructions of a run of the command."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.%p", program, *arguments]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return int(found.group(1))


def begin(pool, program, words, counts, folder):
    """The runs of which measure() takes the difference; the longest one first."""
    return [pool.submit(count, program, [word.replace("{}", str(images)) for word in words], folder) for images in counts[::-1]]


def measure(runs, counts):
    """Instructions of the run, or of each further one."""
    known = [run.result() for run in runs]
    return (known[0] - known[-1]) // (counts[-1] - counts[0]) if len(counts) > 1 else known[0]


def write_inputs(folder):
    """The files that the runs take, by the names that RUNS has for them."""
    vgg16 = os.path.join(folder, "vgg16.onnx")
    subprocess.run([os.path.join(SOURCE, "scripts/studies/make_vgg16.py"), vgg16], check=True)
    subprocess.run([os.path.join(SOURCE, "scripts/make_digits.py"), os.path.join(folder, "digits")], check=True)
    return {"lenet": os.path.join(NETWORKS, "lenet5.onnx"), "vgg16": vgg16,
            "digits": os.path.join(NETWORKS, "digits.onnx"),
            "images": os.path.join(folder, "digits/train_images.idx"),
            "labels": os.path.join(folder, "digits/train_labels.idx")}


def machine():
    """What counts depend on: the compiler, and what the processor has of what callgrind lets a program use."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        vectors = "avx2" if " avx2" in stream.read() else "no avx2"
    return f"gcc {subprocess.check_output(['gcc', '-dumpfullversion', '-dumpmachine'], text=True).split()[0]}, {vectors}"


def recorded():
    """What instructions.txt has, and of which machine."""
    with open(RECORD, encoding="utf-8") as stream:
        lines = [line.rstrip("\n").split("\t") for line in stream if not line.startswith("#")]
    return lines[0][0], {name: int(value) for name, value in lines[1:]}


def main(arguments):
    program = os.path.realpath(arguments[0])
    here, now = machine(), {}
    there, before = recorded()
    print(f"{'instructions':50} {'M':>9} {'recorded':>9} {'change':>8}")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        files, runs = write_inputs(folder), {}
        for name, command, counts in RUNS[::-1]: # the dearest are the last
            words = [re.sub(r"\{(\w+)\}", lambda match: files[match.group(1)], word) for word in command.split()]
            runs[name] = begin(pool, program, words, counts, folder)
        for name, _, counts in RUNS:
            now[name] = measure(runs[name], counts)
            old = before.get(name, now[name])
            print(f"{name:50} {now[name] / 1e6:9.2f} {old / 1e6:9.2f} {100 * (now[name] / old - 1):+7.1f} %", flush=True)
    if "--record" in arguments:
        with open(RECORD, "w", encoding="utf-8") as stream:
            stream.write("# Instructions of the runs of instructions.py, which writes this with --record.\n")
            stream.write(f"{here}\n")
            stream.writelines(f"{name}\t{value}\n" for name, value in now.items())
        return 0
    if here != there:
        print(f"recorded by {there}; this is {here}")
        return 0
    changed = [name for name, value in now.items() if abs(value / before.get(name, 1) - 1) > LIMIT]
    for name in changed:
        print(f"{name}: changed by more than {100 * LIMIT:.0f} %: name it in a commit that "
              f"records it: {sys.argv[0]} {arguments[0]} --record")
    return 1 if changed else 0


sys.exit(main(sys.argv[1:]))
