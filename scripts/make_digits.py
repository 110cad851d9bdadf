#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the 1797 handwritten 8x8 digits of the UCI (as python3-sklearn carries them) as 32x32 images in npy files.

Each image is enlarged three times by bilinear interpolation (pixel centres aligned, zeros outside) and centred in
32x32, which leaves the border that LeNet-5 expects. The interpolation is done in whole numbers: pixels are 0..16,
weights are ninths, so a value is k / 144, the same on every machine.

Split: an image is a test image if its index in the data set is 4 modulo 5 (359 images), otherwise a training image
(1438 images). Order is that of the data set.

Files: train_images.npy, test_images.npy   float32 [N, 1, 32, 32], 0..1
       train_labels.npy, test_labels.npy   int64 [N]
"""
import argparse
import os
import sys

import numpy
import sklearn.datasets

SIDE = 32       # of an image as LeNet-5 takes it
SCALE = 3       # enlargement
SOURCE = 8      # side of a digit in the data set
WHITE = 16      # largest value of a pixel in the data set


def interpolation():
    """Matrix [SIDE, SOURCE] of whole numbers: SCALE times the weight of each source pixel in each image pixel."""
    weights = numpy.zeros((SIDE, SOURCE), numpy.int64)
    border = (SIDE - SCALE * SOURCE) // 2
    for pixel in range(SIDE):
        # Centre of the pixel in source pixels: (pixel - border + 1/2) / SCALE - 1/2, here times SCALE.
        position = pixel - border - (SCALE - 1) // 2
        left, fraction = divmod(position, SCALE)
        for source, weight in ((left, SCALE - fraction), (left + 1, fraction)):
            if 0 <= source < SOURCE:
                weights[pixel, source] = weight
    return weights


def load():
    """Images float32 [1797, 1, 32, 32] and labels int64 [1797], in the order of the data set."""
    digits = sklearn.datasets.load_digits()
    pixels = digits.images.astype(numpy.int64)
    weights = interpolation()
    enlarged = numpy.einsum("ys,nst,xt->nyx", weights, pixels, weights)
    images = enlarged.astype(numpy.float64) / (WHITE * SCALE * SCALE)
    return images.astype(numpy.float32)[:, None], digits.target.astype(numpy.int64)


def split():
    """Dictionary: train and test, each a pair of images and labels."""
    images, labels = load()
    test = numpy.arange(len(labels)) % 5 == 4
    return {"train": (images[~test], labels[~test]), "test": (images[test], labels[test])}


def save(path, array):
    """An interrupted run leaves no incomplete file under the final name."""
    with open(path + ".tmp", "wb") as file:
        numpy.save(file, numpy.ascontiguousarray(array), allow_pickle=False)
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="output folder, made if it is not there")
    folder = parser.parse_args().folder
    try:
        os.makedirs(folder, exist_ok=True)
        for name, (images, labels) in split().items():
            save(os.path.join(folder, name + "_images.npy"), images)
            save(os.path.join(folder, name + "_labels.npy"), labels)
    except OSError as error:
        sys.exit(f"make_digits.py: {error}")


if __name__ == "__main__":
    main()
