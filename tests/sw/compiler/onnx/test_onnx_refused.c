/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that are refused: with which words, with weights and without. */
#include "test.h"

#include "onnx_case.h"

#define MAPS "float[N, 4, 6, 6] x "
#define FEW "float[N, 2, 6, 6] x "
#define FLAT "float[N, 6] x "
#define TENTH "float s = {0.1} "

struct refusal {
    int64_t opset;
    const char *network, *message;
};

static const struct refusal operators[] = {
    {5, FEW "y = Relu(x)", "operator set 5; sets 6 to 26"},
    {27, FEW "y = Relu(x)", "operator set 27; sets 6 to 26"},
    {13, FEW "y = DeformConv(x)", ": node \"y\" (DeformConv): this operator is not supported"},
    {13, FEW "y = Relu(z)", "input \"z\" is neither"},
    {14, FLAT "a = Add(x, c) b = Relu(a) c = Relu(b) y = Relu(c)",
     "node \"a\" (Add): it reads what is computed from its own output"},
    {14, FLAT "y = Add(x, y)", "node \"y\" (Add): it reads what is computed from its own output"},
    {14, FLAT "y = Add(x, nothing)",
     "input \"nothing\" is neither an input or weight of the graph nor the result of a node"},
    {14, FEW "y = Relu(x) y = Tanh(y)",
     "node \"y\" (Tanh): output \"y\" is already an input or weight of the graph or the result of an"},
    {14, "float[N, 2, 6, 6] y y = Relu(y)", "output \"y\" is already an input"},
    {14, FEW "float w = {0} float w = {0.1} y = Add(x, w)", "two weights are named \"w\""},
    {13, FEW "y = Shape(x)", "the network's output \"y\" is a constant"},
};

static const struct refusal dimensions[] = {
    {14, "float[N, 2, 3, 4, 5, 1, 1, 1, 1] x y = Relu(x)",
     "input \"x\" has 9 dimensions; 2 to 8 are supported, such as (N, C, H, W), (N, C, W) or (N, features)"},
    {14, "float[2, 3, 4, 5, 1, 1, 1, 1] x y = Softmax <axis = 0> (x)",
     "input \"x\" has 8 dimensions; 2 to 8 are supported"},
    /* The whole input is one image: what takes images one by one has limits. */
    {14, "float[65, 4, 6, 6] x s = Softmax <axis = 0> (x) y = GlobalMaxPool(s)",
     "node \"y\" (GlobalMaxPool): it takes images one by one, and the whole input of this network is one"},
    {14, "float[12] x y = GlobalMaxPool(x)", "node \"y\" (GlobalMaxPool): it takes images one by one"},
    /* The reading that came further has the word. */
    {14, "float[4, 6, 6] x s = Softmax <axis = 0> (x) y = LSTM(s)",
     "node \"y\" (LSTM): it repeats with a state: this operator is no accelerator's business"},
    {13, FEW "int64[2] s = {0, 71} y = Reshape(x, s)", "the shape holds 71 elements an image, the input has 72"},
    {14, MAPS "int64[9] s = {0, 2, 2, 6, 6, 1, 1, 1, 1} y = Reshape(x, s)",
     "node \"y\" (Reshape): the shape has 9 dimensions; 2 to 8 are possible"},
    {14, MAPS "int64[4] s = {1, 4, 6, 12} g = GlobalMaxPool(x) e = Expand(g, s) y = Mul(x, e)",
     "dimension 3 of the inputs is 6 and 12; they must be the same, or 1 where one counts for all"},
    {14, MAPS "int64[4] s = {1, 4, 6, 5} y = Expand(x, s)",
     "number 5 of the shape does not fit to dimension 3 of the input, 6"},
    {14, MAPS "int64[5] s = {1, 1, 4, 6, 6} e = Expand(x, s) y = LSTM(e)", "node \"y\" (LSTM)"},
};

/* Timing only once divided by their number of words. */
static const struct refusal empty[] = {
    {14, "float[1, 3, 4, 4] x float[1, 0, 4, 4] e = {} y = Add(x, e)",
     "node \"y\" (Add): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do"},
    {14, "float[1, 3, 4, 4] x float[1, 0, 4, 4] e = {} y = Mul(x, e)",
     "node \"y\" (Mul): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do"},
    {14, "float[1, 1, 4, 4] x float[1, 0, 4, 4] e = {} y = Add(x, e)",
     "the network's output \"y\" has no elements: its shape is [1,0,4,4]"},
    {14, "float[1, 1, 4, 4] x float[1, 0, 4, 4] e = {} y = Sum(x, e)",
     "the network's output \"y\" has no elements: its shape is [1,0,4,4]"},
    {14, "float[1, 1, 4, 4] x float[1, 0, 4, 4] e = {} y = PRelu(x, e)",
     "the network's output \"y\" has no elements: its shape is [1,0,4,4]"},
    {14, "float[1, 3, 4, 4] x float[0, 3, 3, 3] e = {} y = Conv(x, e)",
     "node \"y\" (Conv): input \"e\" has no elements: its shape is [0,3"},
    {14, "float[1, 3] x float[3, 0] e = {} y = MatMul(x, e)",
     "node \"y\" (MatMul): input \"e\" has no elements: its shape"},
    {14, "float[1, 3, 4, 4] x float[0] e = {} y = Concat(x, e)",
     "input \"e\" has another shape than the first, not only along"},
};

static const struct refusal windows[] = {
    {13, FEW "y = Conv(x, w)", "input \"w\" is neither"},
    {13, FEW "float[4, 3, 3, 3] w = {} y = Conv(x, w)",
     "shape (4, 3, 3, 3); with 2 input channels in 1 groups the second number must be 2"},
    {13, FEW "float[4, 3, 3, 3] w = {} y = Conv <group = 3> (x, w)",
     "3 groups do not divide 2 input and 4 output channels"},
    {13, FEW "float[4, 2, 7, 3] w = {} y = Conv(x, w)", "the kernel reaches over 7 positions, the padded input has 6"},
    {13, FEW "float[4, 2, 7, 3] w = {} y = Conv <pads = [1, 0, 0, 0], dilations = [1, 0]> (x, w)",
     "attribute dilations holds 0; 1 to 32767"},
    /* One layer a group: a short file must not become a million of them. */
    {14, "float[N, 16384, 1, 1] x float[8192, 2, 1, 1] w = {} y = Conv <group = 8192> (x, w)",
     "8192 groups of 1 outputs would become too many layers; up to 4096"},
    {13, FEW "y = AveragePool(x)", "kernel_shape is missing"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <group = 3> (x, w)",
     "weights \"w\" are for 4 input channels in 3 groups; the input has 4, which the groups have"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <strides = [33, 32]> (x, w)",
     "strides of 33 x 32 are too large; their product may be"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <pads = [9, 0, 9, 0]> (x, w)",
     "the result has -10 rows or columns; 1 to 1048576"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <kernel_shape = [3, 2]> (x, w)",
     "kernel_shape says 2, the weights have 3"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <output_padding = [1, 1, 1]> (x, w)",
     "output_padding has 3 numbers; 2 are needed"},
    {14, MAPS "float[4, 2, 3, 3] w = {0} y = ConvTranspose <output_shape = [32767, 0]> (x, w)",
     "output_shape holds 0; 1 to 32767 is possible"},
};

static const struct refusal places[] = {
    {14, "float[3] x float[3] s = {0} y = BatchNormalization(x, s, s, s, s)",
     "the input has 1 dimensions; 2 or more are needed"},
    {14, "float[N, 3] x float[3] s = {0} n = BatchNormalization(s, s, s, s, s) y = Add(x, n)",
     "the input has 1 dimensions; 2 or more are needed"},
    {14, MAPS "int64[8] p = {0, 0, 6, 0, 0, 0, 0, 0} y = Pad <mode = \"reflect\"> (x, p)",
     "6 and 0 lines cannot be added to 6"},
    {14, MAPS "int64[8] p = {0, 0, -4, 0, 0, 0, -2, 0} y = Pad(x, p)", "pads take all of dimension 2 away"},
    {14, MAPS "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1} float v = {-3.4e38} q = Pad(x, p, v) y = Relu(q)",
     "padding with the lowest number is only known in front of one MaxPool"},
    {14, MAPS "int64[8] p = {0, 1, 0, 0, 0, 0, 0, 0} float v = {2e30} y = Pad(x, p, v)",
     "channels can be padded with a number from -1e30 to 1e30 only"},
    {14, MAPS "int64[8] p = {0, 0, 1, 0, 0, 0, 1, 0} float v = {1e38} y = Pad(x, p, v)",
     "maps can be padded with a number up to 1e30 only"},
    {14, MAPS "int64[8] p = {1, 0, 0, 0, 0, 0, 0, 0} y = Pad(x, p)",
     "pads holds 1 and 0 for dimension 0; all but the batch can be padded"},
    {14, MAPS "int64[8] p = {0, 2000, 0, 0, 0, 0, 0, 0} y = Pad(x, p)",
     "2000 and 0 channels cannot be added to 4; up to 256 times as many are possible"},
    {14, MAPS "int64[1] a = {0} int64[1] e = {4} int64[1] c = {1} int64[1] s = {0} y = Slice(x, a, e, c, s)",
     "a step is 0; 1 to 32767 and -1 to -32767 are possible"},
    {14, MAPS "int64[1] a = {4} int64[1] e = {9} int64[1] c = {1} int64[1] s = {1} y = Slice(x, a, e, c, s)",
     "the network's output \"y\" has no elements: its shape is [N,0,6,6]"},
    {14,
     "float[N, 2, 2000] x "
     "int64[1] a = {-1} int64[1] e = {-3000} int64[1] c = {2} int64[1] s = {-1} y = Slice(x, a, e, c, s)",
     "2000 elements with a step of -1 are too many; up to 1024 are possible"},
    {14, MAPS "int64[2] i = {3, 4} y = Gather <axis = 1> (x, i)", "index 4 is outside of the 4 elements of axis 1"},
    {14, MAPS "int64[1] i = {3} y = Gather(x, i)", "axis 0 of 4 dimensions would mix the images of the batch"},
    {14, MAPS "y = DepthToSpace <blocksize = 0> (x)", "blocksize is 0; 1 to 32767 is possible"},
    {14, MAPS "y = DepthToSpace <blocksize = 32768> (x)", "blocksize is 32768; 1 to 32767 is possible"},
    {14, MAPS "y = DepthToSpace <blocksize = 32767> (x)", "4 channels are not divided by the square of the blocksize"},
    {14, MAPS "y = SpaceToDepth <blocksize = 4> (x)", "maps of 6 x 6 are not divided by the blocksize, 4"},
    {14, "float[N, 2, 3, 4, 5] x g = Tanh(x) y = DepthToSpace(g)",
     "node \"y\" (DepthToSpace): input \"g\" has 5 dimensions; 4 are needed, (N, C, H, W)"},
};

#define RESIZE(attributes, scales) MAPS "float[4] s = {1, " scales "} y = Resize <" attributes "> (x, , s)"
#define LINEAR "mode = \"linear\""

static const struct refusal sizes[] = {
    {14, RESIZE(LINEAR ", coordinate_transformation_mode = \"tf_crop_and_resize\"", "1, 2"),
     "coordinate_transformation_mode is none of half_pixel,"},
    {14, RESIZE(LINEAR ", keep_aspect_ratio_policy = \"not_larger\"", "1, 2"),
     "keep_aspect_ratio_policy is supported as stretch only"},
    {14, RESIZE(LINEAR ", nearest_mode = \"down\"", "1, 2"), "nearest_mode is none of"},
    {14, MAPS "float[4] s = {2, 1, 2, 2} y = Resize <" LINEAR "> (x, , s)", "the batch cannot be resized"},
    {14, "float[2, 4, 6, 6] x int64[4] s = {4, 4, 12, 12} y = Resize <" LINEAR "> (x, , , s)",
     "the batch cannot be resized"},
    {14, RESIZE(LINEAR, "2, 2, 2"), "channels cannot be resized"},
    {14, RESIZE(LINEAR, "1, 0, 2"), "0 of 6 elements: 1 to 1048576 are possible"},
    {14, RESIZE(LINEAR, "1, 1, nan"), "input 2: "},
    {14, RESIZE(LINEAR, "1, 1, 3e5"), "of 6 elements: 1 to 1048576 are possible"},
    {14, RESIZE("mode = \"nearest\"", "1, 1, 200"),
     "1200 of 6 elements by the nearest one take 1195 copies; 1024 are possible, or a whole factor up to"},
    {14, "float[N, 1, 2, 64] x float[4] s = {1, 1, 1, 8192} y = Resize <mode = \"cubic\"> (x, , s)",
     "524288 of 64 elements take a matrix of more than 16777216 weights"},
    {14, MAPS "int64 i = {6} s = SplitToSequence <axis = 2> (x) y = SequenceAt(s, i)", "the sequence has 6 tensors"},
    {14, MAPS "int64 i = {1} y = SequenceAt(x, i)", "the sequence \"x\" is made by no SplitToSequence or"},
    {14, MAPS "s = SplitToSequence <axis = 2> (x) y = ConcatFromSequence <axis = 2> (s)",
     "only sequences of up to 20 tensors of SequenceConstruct can be joined"},
    {14, MAPS "y = ReduceMean <axes = [2, -5]> (x)", "axis -5 is outside of 4 dimensions"},
    {14, "float[N, 32771, 1, 4] x y = ReduceMax <axes = [1, 2]> (x)",
     /* a prime */ "32771 x 1 words are too many to reduce at once; up to 32767 x 32767 are possible"},
};

static const struct refusal functions[] = {
    {14, MAPS "y = Softmax <axis = 4> (x)", "axis 4 is outside of 4 dimensions"},
    {14, MAPS "y = Gelu <approximate = \"sigmoid\"> (x)", "approximate is none of none, tanh"},
    {6, FLAT "y = Clip <max = nan> (x)", "node \"y\" (Clip): limit max is no number"},
    {14, FLAT "y = Mean(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)",
     "node \"y\" (Mean): it has 23 inputs; up to 22 are possible"},
    {14, FLAT "float e = {nan} y = Pow(x, e)", "exponent \"e\" is not one number"},
    {14, FLAT "float c = {nan} y = Less(x, c)", "tensor \"c\" is no number"},
};

static const struct refusal matrices[] = {
    {13, FLAT "float[7, 5] w = {} y = MatMul(x, w)", "shape (7, 5); with 6 inputs it must be (inputs, outputs)"},
    {13, FEW "float[7, 5] w = {} y = Gemm(x, w)", "has 4 dimensions; 2 are needed"},
    {14, "float[N, 4, 6, 5] x y = MatMul(x, x)",
     "node \"y\" (MatMul): the operands have other matrices: as many of each, or one of the second one, and as many "
     "columns of the first one as rows of the second one are needed"},
    {14, "float[N, 4] x y = MatMul(x, x)",
     "node \"y\" (MatMul): a product of two tensors of 2 dimensions would mix the images of the batch"},
    {14, "float[3, 4, 6, 6] x float[2, 4, 6, 6] w = {} y = MatMul(x, w)",
     "node \"y\" (MatMul): constant \"w\" has 4 dimensions; a matrix with as many rows"},
    {14, MAPS "float[3, 6, 6] w = {} y = MatMul(x, w)",
     "node \"y\" (MatMul): constant \"w\" has 3 dimensions; a matrix with as many rows"},
};

#define NO_FLOATS                                                                                                      \
    "tensor \"c\" has data type 7 where floats are needed; a Cast, or a DequantizeLinear of quantised numbers, makes " \
    "floats of it"

static const struct refusal quantised[] = {
    {14, MAPS TENTH "q = QuantizeLinear(x, s) y = Relu(q)",
     "node \"y\" (Relu): input \"q\" is quantised; a DequantizeLinear or a Cast is needed in front"},
    {14, MAPS TENTH "y = DequantizeLinear(x, s)",
     "input \"x\" is not quantised; the result of a QuantizeLinear is needed"},
    {14, MAPS "float s = {0} y = QuantizeLinear(x, s)", "a scale is 0; 1e-30 to 1e30 is possible"},
    {14, MAPS "float s = {0} c = DequantizeLinear(s, s) y = Add(x, c)",
     "node \"c\" (DequantizeLinear): a scale is 0; 1e-30 to 1e30 is possible"},
    {14, MAPS "float[4] s = {0.1, 0.2, 0.3, 0.4} y = QuantizeLinear(x, s)",
     "input \"s\" has 4 numbers; scales along an axis are supported for weights"},
    {14, MAPS TENTH "q = QuantizeLinear(x, s) y = Concat(q, x)", "the inputs are not quantised alike"},
    {14, MAPS TENTH "y = QuantizeLinear <block_size = 16> (x, s)",
     "block_size is 16; one scale for the tensor or for each element of an axis is supported"},
    {14, MAPS TENTH "y = QuantizeLinear <output_dtype = 4> (x, s)",
     "output_dtype is 4; 8-bit integers of the zero point's type are supported"},
    {23, MAPS TENTH "y = QuantizeLinear <precision = 10> (x, s)", "precision is 10; 1 (float) is supported"},
    /* Constants of integers, and the nodes that would take them for floats. */
    {14, MAPS "int64[1] c = {3} y = Add(x, c)", NO_FLOATS},
    {14, MAPS "int64[1] c = {3} y = Mul(x, c)", NO_FLOATS},
    {14, MAPS "int64[1] c = {3} y = Div(x, c)", NO_FLOATS},
    {14, MAPS "int64[1] c = {3} y = Max(x, c)", NO_FLOATS},
    {14, MAPS "int64[1] c = {3} y = Clip(x, c)", NO_FLOATS},
    {14, MAPS "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1} int64[1] c = {3} y = Pad(x, p, c)", NO_FLOATS},
    {14, MAPS "int8[4, 4, 1, 1] c = {1} y = Conv(x, c)",
     "node \"y\" (Conv): tensor \"c\" has data type 3 where floats are needed"},
    {14, "float[1, 2, 2, 2] x uint8[1, 1, 2, 2] c = {1} y = Concat <axis = 1> (x, c)",
     "node \"y\" (Concat): tensor \"c\" has data type 2 where floats are needed"},
    /* Also beside quantised maps: the constant has no zero point. */
    {14, "float[1, 2, 2, 2] x " TENTH "uint8[1, 1, 2, 2] c = {1} q = QuantizeLinear(x, s) y = Concat <axis = 1> (q, c)",
     "node \"y\" (Concat): tensor \"c\" has data type 2 where floats are needed"},
};

#define INTEGERS(op, first, second) \
    FLAT "int64[2] a = {0, " first "} int64[2] b = {" second "} s = " op "(a, b) y = Reshape(x, s)"
#define OVERFLOW "the integers divide by 0 or overflow"
#define LARGEST "9223372036854775807"
#define SMALLEST "-9223372036854775808"

static const struct refusal constants[] = {
    {14, INTEGERS("Add", LARGEST, "0, 1"), OVERFLOW},
    {14, INTEGERS("Sub", SMALLEST, "0, 1"), OVERFLOW},
    {14, INTEGERS("Mul", LARGEST, "0, 2"), OVERFLOW},
    {14, INTEGERS("Div", "6", "1, 0"), OVERFLOW},
    {14, INTEGERS("Mod", "6", "1, 0"), OVERFLOW},
    {14, INTEGERS("Div", SMALLEST, "1, -1"), OVERFLOW},
    {14, FLAT "int64[3] a = {0, 1, 2} int64[2] b = {0, 1} s = Add(a, b) y = Reshape(x, s)",
     "constants of shapes that do not match"},
    /* A few bytes of a file cannot ask for all memory. */
    {14, FLAT "int64[2] n = {32768, 16384} c = ConstantOfShape(n) y = Add(x, c)",
     "node \"c\" (ConstantOfShape): the result has more than 2^28 elements"},
    /* Axes and parts of constants are checked as those of tensors; -1 of nothing is nothing. */
    {14, FLAT "int64[2] axes = {0} float[6] six = {1} c = Unsqueeze(six, axes) y = Add(x, c)",
     "node \"c\" (Unsqueeze): an axis is named twice"},
    {14, FLAT "int64[2] sizes = {2, 3} float[6] six = {1} c, d = Split(six, sizes) y = Add(x, c)",
     "node \"c\" (Split): the parts have 5 of 6 elements"},
    {14,
     FLAT "int64[2] shape = {0, -1} float[0] nothing = {} c = Reshape(nothing, shape) int64[1] one = {1} "
          "s = Squeeze(c, one) y = Add(x, s)",
     "node \"s\" (Squeeze): dimension 1 is 0; only 1 can be squeezed"},
};

/* What timing alone does not ask for. */
static const struct refusal values[] = {
    {14, FLAT "float[6] c = {0, 0, 0, 0, -inf, nan} y = Where(x, x, c)", "element 5 of tensor \"c\" is no number"},
    /* A few bytes of a file cannot ask for all time. */
    {14, FLAT "int64[2] n = {2048} c = ConstantOfShape(n) m = MatMul(c, c) y = Add(x, m)",
     "node \"m\" (MatMul): it takes more than 2^32 products of constants"},
};

static void values_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        struct builder b;
        onnx_case_parse(&b, values[i].opset, values[i].network);
        onnx_case_must_fail(&b, values[i].message);
        builder_free(&b);
    }
}

static void refused(void **state)
{
    static const struct {
        const struct refusal *refusals;
        size_t count;
    } lists[] = {
#define LIST(list) {list, sizeof list / sizeof list[0]}
        LIST(operators), LIST(dimensions), LIST(empty),    LIST(windows),   LIST(places),
        LIST(sizes),     LIST(functions),  LIST(matrices), LIST(quantised), LIST(constants),
    };
    (void)state;
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; ++l)
        for (size_t i = 0; i < lists[l].count; ++i) {
            const struct refusal *refusal = &lists[l].refusals[i];
            onnx_case_refused_text(refusal->opset, refusal->network, refusal->message);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(values_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
