/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled network: what cnnvp_network.h calls cnnvp_network. */
#ifndef CNNVP_COMPILER_NETWORK_H
#define CNNVP_COMPILER_NETWORK_H

#include "guest_file.h"
#include "binary.h"

/* What compiles networks for a kind of accelerator, loads them and finds their results. */
struct cnnvp_back_end {
    /* 1: for the configuration's accelerator. */
    int (*is_for)(const cnnvp_config *config);
    enum cnnvp_target_software software;
    /* Whether the configuration has all that this needs. */
    cnnvp_result (*check)(const cnnvp_config *config, struct cnnvp_error *error);
    /* Reads and plans network->file; fills images and input. */
    cnnvp_result (*make)(struct cnnvp_network *network, const cnnvp_config *config,
                         const struct cnnvp_network_options *options, struct cnnvp_error *error);
    void (*free)(struct cnnvp_network *network);
    cnnvp_result (*load)(const struct cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error);
    /* The values of an output that one image gave. */
    cnnvp_result (*output)(const struct cnnvp_network *network, cnnvp_platform *platform, size_t output, uint32_t image,
                           float *values, struct cnnvp_error *error);
    /* 1: after a run memory has the last image's values of this tensor of network->graph. */
    int (*holds)(const struct cnnvp_network *network, int32_t tensor);
    /* Those values, and how many fraction bits they have, CNNVP_NETWORK_FLOAT: none, they are binary32. */
    cnnvp_result (*tensor)(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor, float *values,
                           int32_t *frac, struct cnnvp_error *error);
};
#define CNNVP_NETWORK_FLOAT INT32_MIN

/* compile.c: reads, plans and quantises network->file; inference.c: the rest. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_compile(struct cnnvp_network *network, const cnnvp_config *config,
                                                  const struct cnnvp_network_options *options,
                                                  struct cnnvp_error *error);
extern const struct cnnvp_back_end cnnvp_inference;
/* ../train: forward with the batch norms' stored values, groups of as many images as the engine has arrays (the last
 * one shorter), softmax and its output data buffer at the end. Number formats follow from the data. */
extern const struct cnnvp_back_end cnnvp_training_engine;

/* One of the trials of AUTO: layers by themselves, all groups, and those that stay. */
#define CNNVP_NETWORK_TRY (1.0 / 3.0)

struct cnnvp_network {
    char *file;
    struct cnnvp_graph graph;
    struct cnnvp_target target;
    struct cnnvp_binary_options binary_options; /* without `planned` */
    struct cnnvp_build build;
    struct cnnvp_plan plan; /* what binary_options.plan refers to */
    const char *schedule;   /* of a plan, for the statistics; NULL: there is none */
    size_t trials;          /* of tilings, with --tune */
    uint64_t seed;
    uint32_t images;
    int on_chip;
    int timing_only;
    const char *guest;       /* NULL: where cnnvp_guest_file finds it */
    uint32_t block;          /* depth first: side of a block; 0: layer by layer */
    double block_difference; /* of the float model's output, padded by blocks and not, at most */
    double block_magnitude;  /* largest of the latter */
    /* Of the float model, chains padded by blocks, and ordinarily: all images of the first output, then of the next
     * one. NULL as far as not calculated. */
    float *float_outputs[2];
    float *input; /* images x words of all inputs; NULL in timing-only */
    const struct cnnvp_back_end *back_end;
    void *own; /* the back end's, NULL: nothing */
};

/* network_options.c: what the importer is told beside the file; what cannot be together, NULL: nothing. */
struct cnnvp_onnx_sizes cnnvp_network_sizes(const struct cnnvp_network_options *options);
const char *cnnvp_network_clash(const struct cnnvp_network_options *options);

/* network_tune.c: chooses the tiles of the network's build by trial. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tune(struct cnnvp_network *network, const cnnvp_config *config,
                                               const struct cnnvp_network_options *options, struct cnnvp_error *error);
/* network_tune.c: what the network takes as it is built, timing only. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_take(const struct cnnvp_network *network, const cnnvp_config *config,
                                               struct cnnvp_plan_taken *all, struct cnnvp_error *error);
/* network_tune.c: the network's build anew, with these tiles for layers outside of chains and groups. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_build_again(struct cnnvp_network *network, const struct cnnvp_layer *planned,
                                                      struct cnnvp_error *error);

/* network_groups.c: the plan that the options name; and what there is to say of it. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_take_plan(
    struct cnnvp_network *network, const struct cnnvp_network_options *options, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_groups(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                                 struct cnnvp_work_info *work, struct cnnvp_error *error);
/* 1: the tensor is made and read within a fused group. */
int cnnvp_network_is_fused(const struct cnnvp_network *network, int32_t tensor);
/* network_traffic.c. 1: the tensor never lies in memory, since it stays on chip. */
int cnnvp_network_stays_on_chip(const struct cnnvp_network *network, int32_t tensor);

/* inference.c: what the platform is to do, the binary, and its tables. */
CNNVP_MUST_USE cnnvp_result cnnvp_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work,
                                                struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_hold_tables(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                      struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_put_binary(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                     struct cnnvp_error *error);

/* network_auto.c: leaves out the plan's groups that are worse, by the objective and by trial, than their layers. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config,
                                                 const struct cnnvp_network_options *watched,
                                                 struct cnnvp_error *error);
/* network_tune.c: what each layer takes with these options, timing only, in a run of those that are marked in `tried`;
 * NULL: of all. Groups are tried whole or not at all. `watched` is told of it, from the share `first` of all trials on.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_network_try(
    const struct cnnvp_network *network, const struct cnnvp_binary_options *options, const cnnvp_config *config,
    const struct cnnvp_network_options *watched, double first, const unsigned char *tried,
    struct cnnvp_plan_taken *layers, struct cnnvp_error *error);

/* network_input.c: images of one of the network's inputs as float, `stride` floats from one to the next; NULL: they are
 * counted. The first `limit`, which the array must have; 0: all. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_images(const struct cnnvp_graph *graph, size_t input,
                                                 const struct cnnvp_named_array *from, uint64_t limit, float *data,
                                                 size_t stride, uint64_t *images, struct cnnvp_error *error);
/* The options' input, or seeded images. Counts them for the network: more than memory can ever hold, of so many bytes a
 * word, are refused before anything is made of them. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_count_images(struct cnnvp_network *network,
                                                       const struct cnnvp_network_options *options, uint64_t word_bytes,
                                                       uint64_t memory_bytes, struct cnnvp_error *error);
/* Makes network->input of those that were counted. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_bring_images(
    struct cnnvp_network *network, const struct cnnvp_network_options *options, struct cnnvp_error *error);

/* network_float.c: runs the options' calibration in float, or the images to run, and keeps the largest magnitudes for
 * the choice of formats. In timing-only the options are checked, no more. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_calibrate(
    struct cnnvp_network *network, const struct cnnvp_network_options *options, struct cnnvp_error *error);
/* Depth first: fills block_difference and block_magnitude. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_compare_blocks(struct cnnvp_network *network, struct cnnvp_error *error);
/* BAD_INPUT, and a message: it has no such output, or is timing-only and has no `what`. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_check_output(const cnnvp_network *network, const char *what, size_t output,
                                                       struct cnnvp_error *error);

/* network_needs.c: what the network's outputs depend on. Words of one image. */
struct cnnvp_layer_needs {
    uint64_t in, in2; /* of the operands */
    uint64_t made;    /* of the results; what lies beside a part that is placed is not the layer's */
    double products;  /* of weights and inputs in these results, taps on padding left out */
};

struct cnnvp_network_needs {
    struct cnnvp_layer_needs *layers;
    uint64_t *read; /* words that layers read of each tensor with memory of its own */
};

CNNVP_MUST_USE cnnvp_result cnnvp_network_needs_find(const struct cnnvp_graph *graph, struct cnnvp_arena *arena,
                                                     struct cnnvp_network_needs *needs, struct cnnvp_error *error);

/* network_traffic.c: the places of weights and maps in memory, by address. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tensors(const struct cnnvp_network *network,
                                                  const struct cnnvp_network_needs *needs, struct cnnvp_arena *arena,
                                                  struct cnnvp_work_info *work, struct cnnvp_error *error);
/* The same for traces, weights weight tile by weight tile. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_places(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                                 struct cnnvp_work_info *work, struct cnnvp_error *error);

/* network_bound.c: bytes of all images that cross the off-chip port at least, of a layer by itself and of the network,
 * whose tensors are given. */
uint64_t cnnvp_network_layer_bound(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                   size_t layer);
uint64_t cnnvp_network_bound(const struct cnnvp_network *network, const struct cnnvp_tensor_info *tensors,
                             size_t count);

/* Shape (images, ...) of a tensor as its ONNX value has it, without images for one of a network whose whole input is
 * one image; data are allocated, to be given back with cnnvp_array_clear. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_array(const struct cnnvp_network *network, int32_t tensor, size_t images,
                                                struct cnnvp_array *array, struct cnnvp_error *error);

#endif
