#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_gradients.py TEST_GRADIENTS SCRIPTS FOLDER: runs it with the digits' network; without where
python3-sklearn is missing."""
import os
import subprocess
import sys

try:
    import sklearn.datasets  # noqa: F401, make_digits.py needs it
except ImportError:
    sklearn = None


def main():
    test, scripts, folder = sys.argv[1:]
    arguments = []
    os.makedirs(folder, exist_ok=True)
    if sklearn is not None:
        subprocess.run([sys.executable, os.path.join(scripts, "make_digits.py"), folder], check=True)
        arguments = [os.path.join(scripts, "networks", "digits.onnx"),
                     f"idx:{folder}/train_images.idx,{folder}/train_labels.idx"]
    sys.exit(subprocess.run([test, *arguments], cwd=folder).returncode)


if __name__ == "__main__":
    main()
