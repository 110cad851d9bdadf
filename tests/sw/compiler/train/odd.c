/* SPDX-License-Identifier: Apache-2.0 */
#include "odd.h"

#include "onnx_builder.h"

void odd_write(char *name, int norm)
{
    struct builder b;
    builder_init(&b, 13);
    builder_parse(&b, "float[N, 3, 13, 17] x float[7, 3, 5, 3] w1 = {~0.3} float[7] b1 = {~0.3} "
                      "c1 = Conv <strides = [2, 1], pads = [2, 1, 1, 2]> (x, w1, b1)");
    builder_parse(&b, norm ? "float[7] gamma = {1} float[7] beta = {0} float[7] mean = {0} float[7] variance = {1} "
                             "n1 = BatchNormalization(c1, gamma, beta, mean, variance) r1 = Relu(n1)"
                           : "r1 = Relu(c1)");
    builder_parse(&b, "float[35, 7, 3, 4] w2 = {~0.2} c2 = Conv <strides = [1, 2], pads = [0, 1, 2, 3]> (r1, w2) "
                      "p2 = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c2) r2 = Relu(p2) f = Flatten(r2) "
                      "float[525, 10] w3 = {~0.1} m = MatMul(f, w3) y = Softmax <axis = 1> (m)");
    builder_output(&b, "y");
    builder_save(&b, name);
}
