#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# training.sh CNNVP NETWORK ONEDNN_STEP [STEPS [ROUNDS]]: a training step of VGG16 with four made-up images on the platform, everything on, against
# the same step by oneDNN in binary32 on one core in the same run; then forward alone, which on the platform is an
# evaluation (running statistics, softmax; oneDNN's takes the batch's statistics). Figures and ratios; never a pass or a
# fail by time.
# Times are processor seconds, the least of ROUNDS runs in turn with oneDNN's; of the platform the difference of two such:
# start-up and drawing of weights are left out.
set -eu
cnnvp=$1 network=$2 onednn=$3 steps=${4:-3} rounds=${5:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
/usr/bin/python3 - <<'PYTHON'
import random
random.seed(1)
with open("images", "wb") as file:
    file.write(b"".join(bytes([i % 10]) + random.randbytes(3072) for i in range(4)))
PYTHON
/usr/bin/python3 - "$cnnvp" "$network" "$onednn" "$steps" "$rounds" <<'PYTHON'
import os, resource, subprocess, sys
cnnvp, network, onednn = sys.argv[1:4]
steps, rounds = int(sys.argv[4]), int(sys.argv[5])

def seconds(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def train(count, evaluated=0):
    """`evaluated`: times that the images are evaluated after each epoch, which is one step."""
    evaluation = ["--eval", "cifar10:" + ",".join(["images"] * evaluated)] if evaluated > 0 else []
    return seconds([cnnvp, "train", network, "--dataset", "cifar10:images", "--batch", "4", "--epochs", str(count), "--lr", "0.001",
                    "--quiet", *evaluation])

def least(old, new):
    return {name: min(seconds, old.get(name, seconds)) for name, seconds in new.items()}

ours, other = {}, {}
for _ in range(rounds):
    ours = least(ours, {"one": train(1), "steps": train(1 + steps), "evaluated": train(1, 1),
                        "evaluations": train(1, 1 + 3 * steps)})
    text = subprocess.run([onednn, "4", "7"], check=True, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1")).stdout
    other = least(other, {line.split()[0]: float(line.split()[1]) for line in text.splitlines()})
step = (ours["steps"] - ours["one"]) / steps
forward = (ours["evaluations"] - ours["evaluated"]) / (3 * steps)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"VGG16 step, 4 images      {1000 * step:9.1f} ms   oneDNN f32 {other['step']:8.1f} ms   {1000 * step / other['step']:6.1f} times")
print(f"VGG16 forward, 4 images   {1000 * forward:9.1f} ms   oneDNN f32 {other['forward']:8.1f} ms   "
      f"{1000 * forward / other['forward']:6.1f} times")
print(f"peak memory               {peak:9.1f} MiB")
PYTHON
