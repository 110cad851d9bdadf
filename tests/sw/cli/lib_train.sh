# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of `cnnvp train`: a network, a data set, and a short training of it, `again`.
network=$SOURCE/scripts/networks/digits.onnx

# 70 images of ten classes that differ in which row and column are bright, in IDX files, some of them wrong.
/usr/bin/python3 - <<'PYTHON'
import gzip, struct, numpy
generator = numpy.random.default_rng(1)
labels = (numpy.arange(70) * 7 % 10).astype(numpy.uint8)
images = generator.integers(0, 60, (70, 8, 8)).astype(numpy.uint8)
for image, label in zip(images, labels):
    image[label % 5 + 1] += 150
    image[:, label // 5 * 4 + 1] += 40
def idx(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(">%dI" % array.ndim, *array.shape) + array.tobytes()
def put(name, data):
    with open(name, "wb") as file:
        file.write(data)
put("images", idx(images))
put("labels", idx(labels))
put("images.gz", gzip.compress(idx(images)))
put("cut", idx(images)[:-1])
put("wrong", idx(numpy.where(numpy.arange(70) == 5, 11, labels).astype(numpy.uint8)))
put("wide", idx(numpy.zeros((70, 9, 8), numpy.uint8)))
put("test_images", idx(images[:20]))
put("test_labels", idx(labels[:20]))
numpy.save("images.npy", images[:, None])
numpy.save("labels.npy", labels.astype(numpy.int64))
PYTHON
set="--dataset idx:images,labels"

again() {
    # shellcheck disable=SC2086
    expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 2 --batch 16 --lr 0.05 --seed 3 -q "$@"
}
