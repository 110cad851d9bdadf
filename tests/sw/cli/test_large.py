# SPDX-License-Identifier: Apache-2.0
"""VGG16 for 224x224 images (138 million weights) on the default platform, timing only: it must fit into the memory as
it comes, and its weights must stay untouched. They are holes in the file, so the file takes no room; pages of it that
are read count as resident, and the system must not have read many more of them ahead. Arguments: the program, and
`resident` to check how much memory it takes."""
import ctypes
import mmap
import os
import resource
import subprocess
import sys
import tempfile

MAP = 224
MAX_KB = 128 << 10
MAX_CACHED_KB = 1 << 10
CONVOLUTIONS = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)  # 0: 2x2 maximum pooling
CLASSIFIER = (4096, 4096, 1000)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def size_of(parts):
    return sum(part if isinstance(part, int) else len(part) for part in parts)


def field(number, value):
    """A field as a list of parts: bytes, or the length of a hole. `value`: an integer, a text, bytes or parts."""
    if isinstance(value, int):
        return [varint(number << 3) + varint(value)]
    if isinstance(value, str):
        value = value.encode()
    parts = value if isinstance(value, list) else [value]
    return [varint(number << 3 | 2) + varint(size_of(parts))] + parts


def message(*fields):
    return [part for entry in fields for part in entry]


def weights(name, *dims):
    count = 4
    for dim in dims:
        count *= dim
    return field(5, message(*(field(1, dim) for dim in dims), field(2, 1), field(8, name), field(9, [count])))


def node(kind, name, inputs, **attributes):
    entries = [field(1, entry) for entry in inputs] + [field(2, name), field(3, name), field(4, kind)]
    for key, value in attributes.items():
        many = isinstance(value, tuple)
        values = [field(8, one) for one in value] + [field(20, 7)] if many else [field(3, value), field(20, 2)]
        entries.append(field(5, message(field(1, key), *values)))
    return field(1, message(*entries))


def value(number, name, *dims):
    shape = message(*(field(1, field(1, dim)) for dim in dims))
    return field(number, message(field(1, name), field(2, field(1, message(field(1, 1), field(2, shape))))))


def vgg16():
    nodes, tensors, last, channels, side = [], [], "input", 3, MAP
    for index, out in enumerate(CONVOLUTIONS):
        name = f"n{index}"
        if out == 0:
            nodes.append(node("MaxPool", name, [last], kernel_shape=(2, 2), strides=(2, 2)))
            last, side = name, side // 2
            continue
        tensors += [weights(name + ".w", out, channels, 3, 3), weights(name + ".b", out)]
        nodes.append(node("Conv", name + ".c", [last, name + ".w", name + ".b"], kernel_shape=(3, 3),
                          pads=(1, 1, 1, 1)))
        nodes.append(node("Relu", name, [name + ".c"]))
        last, channels = name, out
    nodes.append(node("Flatten", "flat", [last], axis=1))
    last, inputs = "flat", channels * side * side
    for index, out in enumerate(CLASSIFIER):
        name = f"f{index}" if out != CLASSIFIER[-1] else "output"
        tensors += [weights(name + ".w", out, inputs), weights(name + ".b", out)]
        nodes.append(node("Gemm", name, [last, name + ".w", name + ".b"], transB=1))
        if name != "output":
            nodes.append(node("Relu", name + ".r", [name]))
        last, inputs = name + ".r", out
    graph = message(*nodes, field(2, "vgg16"), *tensors, value(11, "input", 1, 3, MAP, MAP),
                    value(12, "output", 1, CLASSIFIER[-1]))
    return message(field(1, 7), field(8, field(2, 13)), field(7, graph))


def cached_kb(path):
    """What the system's cache has of a file."""
    size = os.path.getsize(path)
    pages = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY) as mapped:
        view = ctypes.c_char.from_buffer(mapped)
        status = libc.mincore(ctypes.c_void_p(ctypes.addressof(view)), ctypes.c_size_t(size), pages)
        del view
    if status != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in pages) * mmap.PAGESIZE >> 10


def check_little_memory(path):
    """An address space that the platform's memory does not fit into is no wrong input."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1900 << 20, 1900 << 20))
    done = subprocess.run([sys.argv[1], "run", path, "--timing-only", "-s", "dram.size=2GiB"], preexec_fn=limit,
                          stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 1 or "dram: there is not enough memory for it" not in done.stderr:
        sys.exit(f"with little memory: status {done.returncode}, {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vgg16.onnx")
        with open(path, "wb") as file:
            for part in vgg16():
                if isinstance(part, int):
                    file.seek(part, os.SEEK_CUR)
                else:
                    file.write(part)
            file.truncate(file.tell())
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        subprocess.run([sys.argv[1], "run", path, "--timing-only", "-q"], check=True)
        cached = cached_kb(path)
        if "resident" in sys.argv[2:]:
            check_little_memory(path)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if "resident" in sys.argv[2:] and most > MAX_KB:
        sys.exit(f"{most} KB resident, more than {MAX_KB}: are weights read?")
    if cached > MAX_CACHED_KB:
        sys.exit(f"{cached} KB of the file are cached, more than {MAX_CACHED_KB}: are weights read ahead?")


main()
