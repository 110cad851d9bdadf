#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_digits.py CNNVP FLOAT_RUN SCRIPTS FOLDER: the small network learns the digits on the platform as well as the same
formulas in binary64, less one point of test accuracy; and follows their loss. Exit status 77 where python3-sklearn is
missing."""
import csv
import json
import os
import subprocess
import sys

try:
    import sklearn.datasets  # noqa: F401, make_digits.py needs it
except ImportError:
    print("skipped: python3-sklearn is missing")
    sys.exit(77)

EPOCHS = 5
LAST = 45  # steps of an epoch


def mean(values):
    return sum(values) / len(values)


def main():
    cnnvp, float_run, scripts, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, os.path.join(scripts, "make_digits.py"), folder], check=True)
    network = os.path.join(scripts, "networks", "digits.onnx")
    sets = [f"idx:{folder}/{part}_images.idx,{folder}/{part}_labels.idx" for part in ("train", "test")]
    log, stats = os.path.join(folder, "log.csv"), os.path.join(folder, "stats.json")
    subprocess.run([cnnvp, "train", network, "--dataset", sets[0], "--eval", sets[1], "--epochs", str(EPOCHS),
                    "--lr", "0.05", "--seed", "1", "--quiet", "--log", log, "--stats", stats], check=True)
    text = subprocess.run([float_run, network, *sets, f"epochs={EPOCHS}", "lr=0.05", "seed=1"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
    wanted = float([line for line in text if line.startswith("#")][-1].split()[3])
    reached = json.load(open(stats))["values"]["training"]["eval_accuracy"]
    print(f"test accuracy {100 * reached:.2f} %, binary64 {100 * wanted:.2f} %")
    assert reached >= wanted - 0.01, (reached, wanted)
    assert wanted > 0.95, wanted
    curves = [[float(row["loss"]) for row in csv.DictReader(line for line in lines if not line.startswith("#"))]
              for lines in (open(log).read().splitlines(), text)]
    assert len(curves[0]) == len(curves[1]) == EPOCHS * LAST
    # The first steps are nearly the same, later ones wander apart as any two runs do.
    for step in range(4):
        assert abs(curves[0][step] - curves[1][step]) < 0.1 * curves[1][step], (step, curves[0][step], curves[1][step])
    assert mean(curves[0][-LAST:]) < 0.1 * mean(curves[0][:4]), curves[0]


if __name__ == "__main__":
    main()
