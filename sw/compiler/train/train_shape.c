/* SPDX-License-Identifier: Apache-2.0 */
/* Fits data sets to a network's input and number of classes. */
#include <limits.h>

#include "cnnvp_data.h"
#include "cnnvp_network.h"
#include "onnx.h"

cnnvp_result cnnvp_dataset_fit_network(cnnvp_dataset *dataset, const char *onnx_file, const char *const *shapes,
                                       size_t shape_count, struct cnnvp_error *error)
{
    struct cnnvp_graph graph;
    struct cnnvp_dataset_info info;
    char file[PATH_MAX];
    cnnvp_dataset_describe(dataset, &info);
    const struct cnnvp_array images = {
        .rank = 4, .shape = {(size_t)info.images, info.channels, info.height, info.width}};
    const struct cnnvp_onnx_sizes sizes = {.shapes = shapes, .shape_count = shape_count, .images = &images};
    const struct cnnvp_train_import_options options = {.weightless = 1, .sizes = &sizes};
    CNNVP_TRY(cnnvp_network_find(onnx_file, file, sizeof file, error));
    CNNVP_TRY(cnnvp_onnx_import_training(file, &options, &graph, error));
    const struct cnnvp_graph_tensor *input = &graph.tensors[graph.input];
    const size_t classes = cnnvp_graph_words(&graph.tensors[graph.outputs[0].tensor]);
    const size_t words = cnnvp_graph_words(input);
    const int vector = input->rank == 2 && (size_t)info.channels * info.height * info.width == words;
    cnnvp_result result =
        vector ? cnnvp_dataset_fit(dataset, info.channels, info.height, info.width, (uint32_t)classes, error)
               : cnnvp_dataset_fit(dataset, input->channels, input->height, input->width, (uint32_t)classes, error);
    cnnvp_graph_clear(&graph);
    return result;
}
