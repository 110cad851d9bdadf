#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""test_make_digits.py SCRIPTS FOLDER: runs make_digits.py into FOLDER and checks its files against a plain bilinear
interpolation. Exit status 77 where python3-sklearn is missing."""
import hashlib
import os
import subprocess
import sys

try:
    import numpy
    import sklearn.datasets
except ImportError:
    print("skipped: python3-sklearn is missing")
    sys.exit(77)

# Of the npy files' data one after the other: the same on every machine.
SHA256 = "c5b64b468f8e9fea55cca6386ac7fe93b5cf00b5c658340020c52ea7d943cf96"


def pixel(digit, y, x):
    return float(digit[y, x]) if 0 <= y < 8 and 0 <= x < 8 else 0.0


def enlarged(digit):
    """24x24 in the middle of 32x32, pixel centres aligned, zeros outside, 16 becomes 1."""
    image = numpy.zeros((32, 32))
    for row in range(32):
        for column in range(32):
            y, x = (row - 4 + 0.5) / 3 - 0.5, (column - 4 + 0.5) / 3 - 0.5
            top, left = int(numpy.floor(y)), int(numpy.floor(x))
            dy, dx = y - top, x - left
            image[row, column] = (
                (1 - dy) * ((1 - dx) * pixel(digit, top, left) + dx * pixel(digit, top, left + 1))
                + dy * ((1 - dx) * pixel(digit, top + 1, left) + dx * pixel(digit, top + 1, left + 1))) / 16
    return image


def main():
    scripts, folder = sys.argv[1:]
    subprocess.run([sys.executable, os.path.join(scripts, "make_digits.py"), folder], check=True)
    source = sklearn.datasets.load_digits()
    test = [index for index in range(1797) if index % 5 == 4]
    train = [index for index in range(1797) if index % 5 != 4]
    data_hash = hashlib.sha256()
    for name, indexes in (("train", train), ("test", test)):
        images = numpy.load(os.path.join(folder, name + "_images.npy"))
        labels = numpy.load(os.path.join(folder, name + "_labels.npy"))
        assert images.dtype == numpy.float32 and images.shape == (len(indexes), 1, 32, 32), (images.dtype, images.shape)
        assert labels.dtype == numpy.int64 and labels.tolist() == source.target[indexes].tolist()
        assert images.min() == 0 and images.max() == 1
        for i in range(0, len(indexes), 60):
            assert numpy.abs(images[i, 0] - enlarged(source.images[indexes[i]])).max() < 1e-6, (name, i)
        data_hash.update(images.tobytes())
        data_hash.update(labels.tobytes())
    assert data_hash.hexdigest() == SHA256, data_hash.hexdigest()
    for name, indexes in (("train", train), ("test", test)):
        with open(os.path.join(folder, name + "_images.idx"), "rb") as file:
            images = file.read()
        with open(os.path.join(folder, name + "_labels.idx"), "rb") as file:
            labels = file.read()
        count = len(indexes)
        assert images[:16] == bytes([0, 0, 8, 3, 0, 0, count >> 8, count & 255, 0, 0, 0, 8, 0, 0, 0, 8])
        assert labels[:8] == bytes([0, 0, 8, 1, 0, 0, count >> 8, count & 255])
        assert list(labels[8:]) == source.target[indexes].tolist()
        want = [int(value * 255 / 16 + 0.5) for value in source.images[indexes].flatten()]
        assert list(images[16:]) == want
        if name == "test":
            small = numpy.load(os.path.join(folder, "test_images_8x8.npy"))
            assert small.dtype == numpy.uint8 and small.shape == (count, 1, 8, 8) and small.tobytes() == images[16:]
    assert sorted(os.listdir(folder)) == sorted(
        ["test_images_8x8.npy"] + [f"{name}_{part}.{form}" for name in ("test", "train")
                                   for part in ("images", "labels") for form in ("idx", "npy")])


if __name__ == "__main__":
    main()
