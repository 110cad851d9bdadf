/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled network: the type cnnvp_network of cnnvp_network.h. */
#pragma once

#include "command_options.h"
#include "guest_file.h"
#include "binary.h"

/* A back end compiles networks for one kind of accelerator, loads them and reads their results. */
struct cnnvp_back_end {
    /* 1: the back end is for the configuration's accelerator. */
    int (*is_for)(const cnnvp_config *config);
    enum cnnvp_target_software software;
    /* Checks that the configuration has all units that the back end needs. */
    cnnvp_result (*check)(const cnnvp_config *config, struct cnnvp_error *error);
    /* Reads and plans network->file. Fills images and input. */
    cnnvp_result (*make)(struct cnnvp_network *network, const cnnvp_config *config,
                         const struct cnnvp_network_options *options, struct cnnvp_error *error);
    void (*free)(struct cnnvp_network *network);
    cnnvp_result (*load)(const struct cnnvp_network *network, cnnvp_platform *platform, struct cnnvp_error *error);
    /* Reads an output of one image. */
    cnnvp_result (*output)(const struct cnnvp_network *network, cnnvp_platform *platform, size_t output, uint32_t image,
                           float *values, struct cnnvp_error *error);
    /* 1: after a run, memory holds the last image's values of this tensor of network->graph. */
    int (*holds)(const struct cnnvp_network *network, int32_t tensor);
    /* Reads these values. *frac: their fraction bits, or CNNVP_NETWORK_FLOAT if they are binary32. */
    cnnvp_result (*tensor)(const struct cnnvp_network *network, cnnvp_platform *platform, int32_t tensor, float *values,
                           int32_t *frac, struct cnnvp_error *error);
};
#define CNNVP_NETWORK_FLOAT INT32_MIN

/* compile.c: reads, plans and quantises network->file. inference.c has the rest of this back end. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_compile(struct cnnvp_network *network, const cnnvp_config *config,
                                                  const struct cnnvp_network_options *options,
                                                  struct cnnvp_error *error);
extern const struct cnnvp_back_end cnnvp_inference;
/* ../train: inference on the training engine: the forward pass with stored batch norm values, in groups of as many
 * images as the engine has arrays, then softmax into the output data buffer. Number formats follow from the data. */
extern const struct cnnvp_back_end cnnvp_training_engine;

/* A network whose layers' bounds add up to less runs whole among the trials. */
#define CNNVP_NETWORK_WHOLE_PS 5e9
/* Share of one of AUTO's trials in all of them: layers and groups, for each objective. */
#define CNNVP_NETWORK_TRY (0.5 / CNNVP_PLAN_OBJECTIVES)

struct cnnvp_network {
    char *file;
    struct cnnvp_graph graph;
    struct cnnvp_target target;
    struct cnnvp_binary_options binary_options; /* `planned` is NULL */
    struct cnnvp_build build;
    struct cnnvp_plan plan; /* binary_options.plan refers to it */
    const char *schedule;   /* name of the plan's schedule, for the statistics; NULL: no plan */
    size_t trials;          /* tilings tried by --tune */
    uint64_t seed;
    uint32_t images;
    int on_chip;
    int timing_only;
    const char *guest;             /* guest program; NULL: cnnvp_guest_file finds it */
    struct cnnvp_option_echo echo; /* in the graph's arena */
    uint32_t block;                /* depth first: side of a block; 0: another schedule */
    double block_difference;       /* largest difference of float outputs between block padding and ordinary padding */
    double block_magnitude;        /* largest magnitude of the outputs padded ordinarily */
    /* Outputs of the float model, [0] with chains padded by blocks and [1] with ordinary padding: all images of the
     * first output, then of the next one. NULL: not computed. */
    float *float_outputs[2];
    float *input; /* images x words of all inputs; NULL in timing-only */
    const struct cnnvp_back_end *back_end;
    void *own;                        /* data of the back end; NULL: none */
    struct cnnvp_plan_memory *memory; /* the caller's; NULL: none */
};

/* network_options.c: the options that are not the defaults, for the statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_echo(const struct cnnvp_network_options *members, struct cnnvp_arena *arena,
                                               struct cnnvp_option_echo *echo, struct cnnvp_error *error);

/* network_options.c: what the importer needs to know besides the file. cnnvp_network_clash: a message about options
 * that exclude each other; NULL: there are none. */
struct cnnvp_onnx_sizes cnnvp_network_sizes(const struct cnnvp_network_options *options);
const char *cnnvp_network_clash(const struct cnnvp_network_options *options);

/* network_tune.c: chooses the tiles of the network by trial (--tune). */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tune(struct cnnvp_network *network, const cnnvp_config *config,
                                               const struct cnnvp_network_options *options, struct cnnvp_error *error);
/* network_tune.c: measures time, energy and traffic of the network as built, in a timing-only run. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_take(const struct cnnvp_network *network, const cnnvp_config *config,
                                               struct cnnvp_plan_taken *all, struct cnnvp_error *error);
/* network_tune.c: builds the network again, with these tiles for layers outside groups. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_build_again(struct cnnvp_network *network, const struct cnnvp_layer *planned,
                                                      struct cnnvp_error *error);

/* network_groups.c: reads or makes the plan that the options ask for; describes its groups for the statistics.
 * A plan with chains makes the options those of the depth-first schedule. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_take_plan(struct cnnvp_network *network,
                                                    struct cnnvp_network_options *options, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_groups(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                                 struct cnnvp_work_info *work, struct cnnvp_error *error);
/* network_traffic.c. 1: the tensor stays on chip and never lies in memory. */
int cnnvp_network_stays_on_chip(const struct cnnvp_network *network, int32_t tensor);

/* inference.c: describes the work to the platform, tells it which tables the guest reads (cnnvp_platform_hold), and
 * writes the binary to its memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work,
                                                struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_hold_tables(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                      struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_network_put_binary(const struct cnnvp_network *network, cnnvp_platform *platform,
                                                     struct cnnvp_error *error);

/* network_auto.c: removes the plan's groups that are worse than their single layers, by the objective, in trial
 * runs. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_settle(struct cnnvp_network *network, const cnnvp_config *config,
                                                 const struct cnnvp_network_options *watched,
                                                 struct cnnvp_error *error);
/* network_tune.c: measures each layer with these options in a timing-only run of the layers marked in `tried`; NULL:
 * all layers. Groups are marked whole or not at all. `watched` gets the progress, which begins at the share `first` of
 * all trials. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_try(
    const struct cnnvp_network *network, const struct cnnvp_binary_options *options, const cnnvp_config *config,
    const struct cnnvp_network_options *watched, double first, const unsigned char *tried,
    struct cnnvp_plan_taken *layers, struct cnnvp_error *error);

/* network_input.c: converts images of one of the network's inputs to float, `stride` floats apart. `data` NULL: only
 * counts them. Takes the first `limit` images, which the array must have; 0: all. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_images(const struct cnnvp_graph *graph, size_t input,
                                                 const struct cnnvp_named_array *from, uint64_t limit, float *data,
                                                 size_t stride, uint64_t *images, struct cnnvp_error *error);
/* Counts the images of the options' input, or seeded ones, for the network. Refuses more than memory can hold at
 * `word_bytes` per word, before they are made. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_count_images(struct cnnvp_network *network,
                                                       const struct cnnvp_network_options *options, uint64_t word_bytes,
                                                       uint64_t memory_bytes, struct cnnvp_error *error);
/* Fills network->input with the images that were counted. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_bring_images(
    struct cnnvp_network *network, const struct cnnvp_network_options *options, struct cnnvp_error *error);

/* network_float.c: runs the calibration images, or the images to run, in float, and keeps the largest magnitudes, which
 * decide the formats. In timing-only it only checks the options. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_calibrate(
    struct cnnvp_network *network, const struct cnnvp_network_options *options, struct cnnvp_error *error);
/* Depth first: fills block_difference and block_magnitude. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_compare_blocks(struct cnnvp_network *network, struct cnnvp_error *error);
/* CNNVP_BAD_INPUT, with a message, if there is no such output, or if the network is timing-only and so has no
 * `what`. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_check_output(const cnnvp_network *network, const char *what, size_t output,
                                                       struct cnnvp_error *error);

/* network_needs.c: the words that the network's outputs depend on, of one image. */
struct cnnvp_layer_needs {
    uint64_t in, in2; /* needed words of the operands */
    uint64_t made;    /* needed words of the results; of a result placed in a larger tensor, only its own */
    double products;  /* products of a weight and an input in these words, without taps on padding */
};

struct cnnvp_network_needs {
    struct cnnvp_layer_needs *layers;
    uint64_t *read; /* words that layers read of each tensor with memory of its own */
};

CNNVP_MUST_USE cnnvp_result cnnvp_network_needs_find(const struct cnnvp_graph *graph, struct cnnvp_arena *arena,
                                                     struct cnnvp_network_needs *needs, struct cnnvp_error *error);

/* network_traffic.c: places of weights and maps in memory, by address, with their least traffic. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tensors(const struct cnnvp_network *network,
                                                  const struct cnnvp_network_needs *needs, struct cnnvp_arena *arena,
                                                  struct cnnvp_work_info *work, struct cnnvp_error *error);
/* The same places for traces, with one entry per weight tile. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_places(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                                 struct cnnvp_work_info *work, struct cnnvp_error *error);

/* network_bound.c: lower bounds of the bytes that all images move through the off-chip port: of a layer by itself, and
 * of the network, whose tensors are given. */
uint64_t cnnvp_network_layer_bound(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                   size_t layer);
uint64_t cnnvp_network_bound(const struct cnnvp_network *network, const struct cnnvp_tensor_info *tensors,
                             size_t count);

/* Makes an array with the shape of a tensor's ONNX value, (images, ...); without the images if the network's whole
 * input is one image and `images` is 1. Free it with cnnvp_array_clear. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_array(const struct cnnvp_network *network, int32_t tensor, size_t images,
                                                struct cnnvp_array *array, struct cnnvp_error *error);
