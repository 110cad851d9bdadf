#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the 1797 handwritten 8x8 digits of the UCI data set (from python3-sklearn): enlarged to 32x32 in npy files for
inference, and unchanged in IDX files for training.

For the npy files each image is enlarged three times by bilinear interpolation (pixel centres aligned, zeros outside)
and centred in 32x32, which leaves the border that LeNet-5 expects. The interpolation uses whole numbers: pixels are
0..16 and weights are ninths, so each value is k / 144 and the same on every machine.

Split: an image whose index in the data set is 4 modulo 5 is a test image (359 images); the others are training images
(1438). The order is that of the data set.

Files: train_images.npy, test_images.npy   float32 [N, 1, 32, 32], 0..1
       train_labels.npy, test_labels.npy   int64 [N]
       test_images_8x8.npy                 uint8 [N, 1, 8, 8], for networks that were trained on the IDX files
       train_images.idx, test_images.idx   bytes [N, 8, 8], 0..255
       train_labels.idx, test_labels.idx   bytes [N]
"""
import argparse
import os
import sys

import numpy
import sklearn.datasets

SIDE = 32       # side of LeNet-5's input image
SCALE = 3       # enlargement factor
SOURCE = 8      # side of a digit in the data set
WHITE = 16      # largest value of a pixel in the data set


def interpolation():
    """Integer matrix [SIDE, SOURCE]: SCALE times the weight of each source pixel in each image pixel."""
    weights = numpy.zeros((SIDE, SOURCE), numpy.int64)
    border = (SIDE - SCALE * SOURCE) // 2
    for pixel in range(SIDE):
        # Position of the pixel's centre in source pixels: (pixel - border + 1/2) / SCALE - 1/2. Here multiplied by
        # SCALE.
        position = pixel - border - (SCALE - 1) // 2
        left, fraction = divmod(position, SCALE)
        for source, weight in ((left, SCALE - fraction), (left + 1, fraction)):
            if 0 <= source < SOURCE:
                weights[pixel, source] = weight
    return weights


def load():
    """The images float32 [1797, 1, 32, 32] and labels int64 [1797], in the order of the data set."""
    digits = sklearn.datasets.load_digits()
    pixels = digits.images.astype(numpy.int64)
    weights = interpolation()
    enlarged = numpy.einsum("ys,nst,xt->nyx", weights, pixels, weights)
    images = enlarged.astype(numpy.float64) / (WHITE * SCALE * SCALE)
    return images.astype(numpy.float32)[:, None], digits.target.astype(numpy.int64)


def split():
    """A dictionary of the sets train and test, each a pair of images and labels."""
    images, labels = load()
    test = numpy.arange(len(labels)) % 5 == 4
    return {"train": (images[~test], labels[~test]), "test": (images[test], labels[test])}


def split_bytes():
    """The same split of the original digits, each a pair of images uint8 [N, 8, 8] and labels uint8 [N]."""
    digits = sklearn.datasets.load_digits()
    # scales 0..16 to 0..255, rounded to nearest with ties up
    images = ((digits.images.astype(numpy.int64) * 255 * 2 + WHITE) // (2 * WHITE)).astype(numpy.uint8)
    labels = digits.target.astype(numpy.uint8)
    test = numpy.arange(len(labels)) % 5 == 4
    return {"train": (images[~test], labels[~test]), "test": (images[test], labels[test])}


def write(path, put):
    """Writes a file under a temporary name first, so that an interrupted run leaves no incomplete file."""
    with open(path + ".tmp", "wb") as file:
        put(file)
    os.replace(path + ".tmp", path)


def save(path, array):
    write(path, lambda file: numpy.save(file, numpy.ascontiguousarray(array), allow_pickle=False))


def save_idx(path, array):
    """Writes an IDX file: two zero bytes, type unsigned byte, rank, dimensions as big-endian 32-bit numbers, elements."""
    header = bytes([0, 0, 8, array.ndim]) + numpy.array(array.shape, ">u4").tobytes()
    write(path, lambda file: file.write(header + numpy.ascontiguousarray(array).tobytes()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="output folder, made if it is not there")
    folder = parser.parse_args().folder
    try:
        os.makedirs(folder, exist_ok=True)
        for name, (images, labels) in split().items():
            save(os.path.join(folder, name + "_images.npy"), images)
            save(os.path.join(folder, name + "_labels.npy"), labels)
        for name, (images, labels) in split_bytes().items():
            save_idx(os.path.join(folder, name + "_images.idx"), images)
            save_idx(os.path.join(folder, name + "_labels.idx"), labels)
        save(os.path.join(folder, "test_images_8x8.npy"), split_bytes()["test"][0][:, None])
    except OSError as error:
        sys.exit(f"make_digits.py: {error}")


if __name__ == "__main__":
    main()
