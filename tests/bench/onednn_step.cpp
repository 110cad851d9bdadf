/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same training step by oneDNN in binary32: VGG16 for 32x32 images (13 convolutions with batch norm and ReLU, 5 max
 * pools, one matrix), forward, backward, gradients, SGD with momentum. Prints the processor milliseconds of forward
 * alone and of a whole step, the least of REPEATS each.
 * usage: onednn_step IMAGES REPEATS     (OMP_NUM_THREADS=1 for one core)
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

using dnnl::memory;
using dnnl::prop_kind;
using dims = memory::dims;

namespace {

const dnnl::engine &engine()
{
    static const dnnl::engine made(dnnl::engine::kind::cpu, 0);
    return made;
}

dnnl::stream &stream()
{
    static dnnl::stream made(engine());
    return made;
}

/* What is done one after the other. */
using program = std::vector<std::function<void()>>;

memory::desc any(const dims &shape)
{
    return memory::desc(shape, memory::data_type::f32, memory::format_tag::any);
}

memory::desc dense(const dims &shape, memory::format_tag tag)
{
    return memory::desc(shape, memory::data_type::f32, tag);
}

memory filled(const memory::desc &desc)
{
    memory made(desc, engine());
    auto *values = static_cast<float *>(made.get_data_handle());
    std::uint32_t state = 1;
    for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
        state = state * 1664525u + 1013904223u;
        values[i] = static_cast<float>(state >> 8) * 0x1p-24f * 0.1f - 0.05f;
    }
    return made;
}

void add(program &to, const dnnl::primitive &primitive, const std::unordered_map<int, memory> &arguments)
{
    to.push_back([=] { primitive.execute(stream(), arguments); });
}

/* `from` in the form `desc`. */
memory as(program &to, const memory &from, const memory::desc &desc)
{
    if (from.get_desc() == desc)
        return from;
    memory made(desc, engine());
    add(to, dnnl::reorder(from, made), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, made}});
    return made;
}

void update(program &to, const memory &weights, const memory &gradient)
{
    const memory velocity = filled(weights.get_desc());
    const size_t count = weights.get_desc().get_size() / sizeof(float);
    to.push_back([=] {
        auto *w = static_cast<float *>(weights.get_data_handle());
        auto *v = static_cast<float *>(velocity.get_data_handle());
        const auto *g = static_cast<const float *>(gradient.get_data_handle());
        for (size_t i = 0; i < count; ++i) {
            v[i] = 0.9f * v[i] + g[i];
            w[i] -= 0.001f * v[i];
        }
    });
}

class network {
public:
    explicit network(memory::dim images_) : images(images_)
    {
        memory x = filled(dense({images, 3, 32, 32}, memory::format_tag::nchw));
        memory::dim channels = 3;
        memory::dim side = 32;
        for (const int outputs : {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}) {
            if (outputs == 0) {
                side /= 2;
                x = pool(x, channels, side);
            } else {
                x = norm(convolution(x, channels, outputs, side), outputs);
                channels = outputs;
            }
        }
        matrix(x, channels);
    }

    void run(bool whole)
    {
        for (const auto &call : forward)
            call();
        for (auto layer = backward.rbegin(); whole && layer != backward.rend(); ++layer)
            for (const auto &call : *layer)
                call();
        stream().wait();
    }

private:
    memory::dim images;
    program forward;
    std::vector<program> backward; /* of each layer, run from the last to the first */
    std::vector<memory> errors;    /* errors[i]: loss by the output of layer i; layer i writes errors[i - 1] */

    /* The last layer that wrote has `desc` as its output. */
    memory error_of(const memory::desc &desc)
    {
        errors.emplace_back(desc, engine());
        backward.emplace_back();
        return errors.back();
    }

    memory convolution(const memory &x, memory::dim inputs, memory::dim outputs, memory::dim side)
    {
        const dims one{1, 1};
        const memory::desc src = any({images, inputs, side, side});
        const memory::desc weights = any({outputs, inputs, 3, 3});
        const memory::desc dst = any({images, outputs, side, side});
        const auto algorithm = dnnl::algorithm::convolution_direct;
        const dnnl::convolution_forward::primitive_desc pd(
            {prop_kind::forward_training, algorithm, src, weights, dst, one, one, one}, engine());
        const dnnl::convolution_backward_weights::primitive_desc gradient_pd(
            {algorithm, src, weights, dst, one, one, one}, engine(), pd);
        const dnnl::convolution_backward_data::primitive_desc error_pd(
            {algorithm, src, weights, dst, one, one, one}, engine(), pd);
        const memory w = filled(pd.weights_desc());
        const memory in = as(forward, x, pd.src_desc());
        memory y(pd.dst_desc(), engine());
        add(forward, dnnl::convolution_forward(pd), {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
        const memory error = error_of(pd.dst_desc());
        program &back = backward.back();
        if (errors.size() > 1) {
            const memory dx(error_pd.diff_src_desc(), engine());
            add(back, dnnl::convolution_backward_data(error_pd),
                {{DNNL_ARG_DIFF_DST, as(back, error, error_pd.diff_dst_desc())},
                 {DNNL_ARG_WEIGHTS, as(back, w, error_pd.weights_desc())},
                 {DNNL_ARG_DIFF_SRC, dx}});
            add(back, dnnl::reorder(dx, errors[errors.size() - 2]),
                {{DNNL_ARG_FROM, dx}, {DNNL_ARG_TO, errors[errors.size() - 2]}});
        }
        const memory dw(gradient_pd.diff_weights_desc(), engine());
        add(back, dnnl::convolution_backward_weights(gradient_pd),
            {{DNNL_ARG_SRC, as(back, in, gradient_pd.src_desc())},
             {DNNL_ARG_DIFF_DST, as(back, error, gradient_pd.diff_dst_desc())},
             {DNNL_ARG_DIFF_WEIGHTS, dw}});
        update(back, w, as(back, dw, pd.weights_desc()));
        return y;
    }

    /* Batch norm and ReLU. */
    memory norm(const memory &x, memory::dim channels)
    {
        const auto flags = dnnl::normalization_flags::use_scale_shift | dnnl::normalization_flags::fuse_norm_relu;
        const dnnl::batch_normalization_forward::primitive_desc pd(
            {prop_kind::forward_training, x.get_desc(), 1e-5f, flags}, engine());
        const dnnl::batch_normalization_backward::primitive_desc back_pd(
            {prop_kind::backward, x.get_desc(), x.get_desc(), 1e-5f, flags}, engine(), pd);
        const memory scales = filled(dense({2, channels}, memory::format_tag::nc));
        const memory dscales(dense({2, channels}, memory::format_tag::nc), engine());
        const memory mean(pd.mean_desc(), engine());
        const memory variance(pd.variance_desc(), engine());
        const memory workspace(pd.workspace_desc(), engine());
        memory y(pd.dst_desc(), engine());
        add(forward, dnnl::batch_normalization_forward(pd),
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_MEAN, mean},
             {DNNL_ARG_VARIANCE, variance},
             {DNNL_ARG_SCALE_SHIFT, scales},
             {DNNL_ARG_WORKSPACE, workspace},
             {DNNL_ARG_DST, y}});
        const memory error = error_of(pd.dst_desc());
        add(backward.back(), dnnl::batch_normalization_backward(back_pd),
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_MEAN, mean},
             {DNNL_ARG_VARIANCE, variance},
             {DNNL_ARG_SCALE_SHIFT, scales},
             {DNNL_ARG_WORKSPACE, workspace},
             {DNNL_ARG_DIFF_DST, error},
             {DNNL_ARG_DIFF_SRC, errors[errors.size() - 2]},
             {DNNL_ARG_DIFF_SCALE_SHIFT, dscales}});
        update(backward.back(), scales, dscales);
        return y;
    }

    memory pool(const memory &x, memory::dim channels, memory::dim side)
    {
        const dims two{2, 2};
        const dims none{0, 0};
        const memory::desc dst = any({images, channels, side, side});
        const auto algorithm = dnnl::algorithm::pooling_max;
        const dnnl::pooling_forward::primitive_desc pd(
            {prop_kind::forward_training, algorithm, x.get_desc(), dst, two, two, none, none}, engine());
        const dnnl::pooling_backward::primitive_desc back_pd(
            {algorithm, x.get_desc(), pd.dst_desc(), two, two, none, none}, engine(), pd);
        const memory workspace(pd.workspace_desc(), engine());
        memory y(pd.dst_desc(), engine());
        add(forward, dnnl::pooling_forward(pd),
            {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, workspace}});
        const memory error = error_of(pd.dst_desc());
        add(backward.back(), dnnl::pooling_backward(back_pd),
            {{DNNL_ARG_DIFF_DST, error},
             {DNNL_ARG_WORKSPACE, workspace},
             {DNNL_ARG_DIFF_SRC, errors[errors.size() - 2]}});
        return y;
    }

    /* The classifier; the gradient of the loss stands in for softmax's, which is of no weight. */
    void matrix(const memory &x, memory::dim channels)
    {
        const memory::desc src = any({images, channels, 1, 1});
        const memory::desc weights = any({10, channels, 1, 1});
        const memory::desc dst = dense({images, 10}, memory::format_tag::nc);
        const dnnl::inner_product_forward::primitive_desc pd(
            {prop_kind::forward_training, src, weights, dst}, engine());
        const dnnl::inner_product_backward_data::primitive_desc error_pd({src, weights, dst}, engine(), pd);
        const dnnl::inner_product_backward_weights::primitive_desc gradient_pd({src, weights, dst}, engine(), pd);
        const memory w = filled(pd.weights_desc());
        const memory in = as(forward, x, pd.src_desc());
        memory y(pd.dst_desc(), engine());
        add(forward, dnnl::inner_product_forward(pd), {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}});
        const memory error = filled(pd.dst_desc());
        backward.emplace_back();
        program &back = backward.back();
        const memory dx(error_pd.diff_src_desc(), engine());
        const memory dw(gradient_pd.diff_weights_desc(), engine());
        add(back, dnnl::inner_product_backward_data(error_pd),
            {{DNNL_ARG_DIFF_DST, error},
             {DNNL_ARG_WEIGHTS, as(back, w, error_pd.weights_desc())},
             {DNNL_ARG_DIFF_SRC, dx}});
        add(back, dnnl::reorder(dx, errors.back()), {{DNNL_ARG_FROM, dx}, {DNNL_ARG_TO, errors.back()}});
        add(back, dnnl::inner_product_backward_weights(gradient_pd),
            {{DNNL_ARG_SRC, as(back, in, gradient_pd.src_desc())},
             {DNNL_ARG_DIFF_DST, error},
             {DNNL_ARG_DIFF_WEIGHTS, dw}});
        update(back, w, as(back, dw, pd.weights_desc()));
    }
};

double minimum_ms(network &net, bool whole, long repeats)
{
    double least = 1e30;
    for (long i = 0; i <= repeats; ++i) {
        const std::clock_t begin = std::clock();
        net.run(whole);
        const double spent = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        least = i == 0 ? least : std::min(least, spent); /* the first one warms up */
    }
    return least;
}

} // namespace

int main(int argc, char **argv)
try {
    const long images = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 4;
    const long repeats = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 7;
    if (images < 1 || repeats < 1) {
        std::fprintf(stderr, "usage: onednn_step IMAGES REPEATS\n");
        return 2;
    }
    network net(images);
    std::printf("forward %.3f\n", minimum_ms(net, false, repeats));
    std::printf("step %.3f\n", minimum_ms(net, true, repeats));
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "onednn_step: %s\n", error.what());
    return 1;
}
