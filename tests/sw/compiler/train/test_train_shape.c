/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets for a network of images or of vectors. */
#include "training_case.h"

/* `count` images of zeros with labels 0, 1, ... */
static cnnvp_dataset *zero_images(uint8_t count, uint8_t height, uint8_t width)
{
    uint8_t images[16 + 4096] = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, height, 0, 0, 0, width};
    uint8_t labels[8 + 256] = {0, 0, 8, 1, 0, 0, 0, count};
    char image_name[64];
    char label_name[64];
    char text[160];
    cnnvp_dataset *dataset;
    struct cnnvp_error error = {""};
    for (uint8_t i = 0; i < count; ++i)
        labels[8 + i] = i;
    builder_write(images, 16u + (size_t)count * height * width, image_name);
    builder_write(labels, 8u + count, label_name);
    (void)snprintf(text, sizeof text, "idx:%s,%s", image_name, label_name);
    if (cnnvp_dataset_new(text, 0, &dataset, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    (void)unlink(image_name);
    (void)unlink(label_name);
    return dataset;
}

/* A network [N, C, H, W] or [N, features] with 5 outputs, and images for it. */
static void data_sets_fit_networks(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    struct cnnvp_dataset_info info;
    for (int vector = 0; vector < 2; ++vector) {
        struct builder b;
        char name[64];
        builder_init(&b, 13);
        if (vector)
            builder_input(&b, "flat", 2, DIMS(-1, 24));
        else
            builder_input(&b, "x", 4, DIMS(-1, 1, 6, 4));
        builder_input(&b, "w", 2, DIMS(5, 24));
        if (!vector)
            (void)builder_node(&b, "Flatten", "flat", "x", NULL, NULL, NULL);
        Onnx__NodeProto *gemm = builder_node(&b, "Gemm", "y", "flat", "w", NULL, NULL);
        builder_int(&b, gemm, "transB", 1);
        builder_output(&b, "y");
        write_file(&b, name);
        cnnvp_dataset *dataset = zero_images(5, vector ? 8 : 4, 3);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_DONE);
        cnnvp_dataset_describe(dataset, &info);
        assert_int_equal(info.height, vector ? 8 : 6);
        assert_int_equal(info.width, vector ? 3 : 4);
        cnnvp_dataset_free(dataset);
        dataset = zero_images(6, 6, 4);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_BAD_INPUT);
        assert_non_null(strstr(error.text, "label 5 of image 5 is out of range; the network has 5 classes"));
        cnnvp_dataset_free(dataset);
        dataset = zero_images(5, 7, 4);
        assert_int_equal(cnnvp_dataset_fit_network(dataset, name, NULL, 0, &error), CNNVP_BAD_INPUT);
        cnnvp_dataset_free(dataset);
        (void)unlink(name);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_sets_fit_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
