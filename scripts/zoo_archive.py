#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""zoo_archive.py FOLDER: packs the zoo's files (in FOLDER and below) into tests/data/zoo, one archive per group of
networks. The same files give the same bytes. CMake unpacks them to BUILD/zoo/GROUP."""
import io
import lzma
import os
import sys
import tarfile

ARCHIVES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "data", "zoo")
# Prefixes of the names in each group. Names without such a prefix are in `elements`.
GROUPS = {
    "networks": ("net_",),
    "forms": ("opset_", "typed_", "ir3_", "symbolic_", "empty_", "single_", "number_", "old_", "small_", "large_",
              "quantised", "qlinear_", "qdq_", "dequantise_"),
    "windows": ("conv_", "maxpool_", "averagepool_", "global_", "transposed_", "pad_", "reduce_"),
    "places": ("concat", "slice", "split", "transpose_", "gather_", "reshape_", "squeeze_", "resize_", "upsample_",
               "depth_", "space_", "expand_", "deep_", "shape_"),
    "elements": (),
}


def group_of(name):
    return next((group for group, begins in GROUPS.items() if name.startswith(begins)), "elements")


def order(path):
    """Sorts files of the same kind together, since similar files compress better."""
    return os.path.basename(path).split(".", 1)[::-1]


def pack(folder):
    paths = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    os.makedirs(ARCHIVES, exist_ok=True)
    for group in GROUPS:
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(paths, key=order):
                name = os.path.basename(path)
                if group_of(name) != group:
                    continue
                member = tarfile.TarInfo(name)  # without owner and time
                member.size = os.path.getsize(path)
                with open(path, "rb") as file:
                    archive.addfile(member, file)
        # Tuned for floats: a byte's statistics depend on its position in the word.
        words = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 1, "lp": 2, "pb": 2}
        with open(os.path.join(ARCHIVES, group + ".tar.xz"), "wb") as file:
            file.write(lzma.compress(data.getvalue(), filters=[words]))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    pack(sys.argv[1])
