#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_gradients.py TEST_GRADIENTS SCRIPTS FOLDER [DATA]: runs it with the digits' network; without where
python3-sklearn is missing. With DATA: with MNIST's network and LeNet-5 on the images of DATA/mnist; exit status 77
where there are none."""
import os
import subprocess
import sys

try:
    import sklearn.datasets  # noqa: F401, make_digits.py needs it
except ImportError:
    sklearn = None


def of_digits(scripts, folder):
    if sklearn is None:
        return [[]]
    subprocess.run([sys.executable, os.path.join(scripts, "make_digits.py"), folder], check=True)
    return [[os.path.join(scripts, "networks", "digits.onnx"),
             f"idx:{folder}/train_images.idx,{folder}/train_labels.idx", "256", "1024"]]


def of_mnist(scripts, data):
    files = [os.path.join(data, "mnist", f"t10k-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1")]
    if not all(os.path.exists(name) for name in files):
        print(f"skipped: {files[0]} or {files[1]} is missing (CNNVP_IMAGES)")
        sys.exit(77)
    large = {"mnist": [], "lenet5": ["256"]}  # MNIST's network does not reach it, see README.md
    return [[os.path.join(scripts, "networks", f"{name}.onnx"), "idx:" + ",".join(files), *batches]
            for name, batches in large.items()]


def main():
    test, scripts, folder, *data = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    runs = of_mnist(scripts, data[0]) if data else of_digits(scripts, folder)
    sys.exit(max(subprocess.run([test, *arguments], cwd=folder).returncode for arguments in runs))


if __name__ == "__main__":
    main()
