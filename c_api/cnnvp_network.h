/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: translates an ONNX file into a program for a platform (cnnvp.h), transfers inputs and outputs as arrays,
 * and compares results with the float model. */
#ifndef CNNVP_NETWORK_H
#define CNNVP_NETWORK_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct cnnvp_network cnnvp_network;

/* A dense array, row-major. cnnvp_array_clear frees an array that a function filled. */
struct cnnvp_array {
    enum { CNNVP_ARRAY_F32 = 0, CNNVP_ARRAY_U8 = 1, CNNVP_ARRAY_I64 = 2, CNNVP_ARRAY_I16 = 3 } type;
    size_t rank;
    size_t shape[8];
    void *data;
};

CNNVP_MUST_USE cnnvp_result cnnvp_npy_read(const char *file, struct cnnvp_array *array, struct cnnvp_error *error);
/* The file appears only when it is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_npy_write(const char *file, const struct cnnvp_array *array,
                                            struct cnnvp_error *error);
void cnnvp_array_clear(struct cnnvp_array *array);

/* The modes of enum cnnvp_round_mode (cnnvp_command.h), with its numbers. */
enum cnnvp_rounding {
    CNNVP_ROUND_TRUNCATE = 0,
    CNNVP_ROUND_NEAREST = 1,
    CNNVP_ROUND_STOCHASTIC = 2,
    CNNVP_ROUND_FLOOR = 3
};
/* FUSED: groups of layers run tile by tile to minimise off-chip traffic, even if that takes longer; values are those of
 * LAYER. AUTO: tries groups and layers and keeps what is better by the objective; never worse than LAYER by it if the
 * network takes less than 5 ms. */
enum cnnvp_schedule {
    CNNVP_SCHEDULE_LAYER = 0,
    CNNVP_SCHEDULE_DEPTH_FIRST = 1,
    CNNVP_SCHEDULE_FUSED = 2,
    CNNVP_SCHEDULE_AUTO = 3
};
/* Who issues the instructions of depth-first chains. FASTER: the faster one by the plan's estimate. SCHEDULER: the
 * scheduler unit, or an error if it cannot. */
enum cnnvp_issue { CNNVP_ISSUE_FASTER = 0, CNNVP_ISSUE_GUEST = 1, CNNVP_ISSUE_SCHEDULER = 2, CNNVP_ISSUE_LIST = 3 };

/* Word size of maps and weights: 16-bit fixed point or 8 bits. The array must support the requested size. AUTO: FX16 if
 * it supports both. */
enum cnnvp_precision { CNNVP_PRECISION_AUTO = 0, CNNVP_PRECISION_FX16 = 1, CNNVP_PRECISION_INT8 = 2 };

/* Objective of plans: time, energy, their product, or off-chip bytes in whole bursts. TRAFFIC also weighs time a
 * little: one byte equals the time in which the memory moves 16 bytes. */
enum cnnvp_plan_objective {
    CNNVP_OBJECTIVE_TIME = 0,
    CNNVP_OBJECTIVE_ENERGY = 1,
    CNNVP_OBJECTIVE_EDP = 2,
    CNNVP_OBJECTIVE_TRAFFIC = 3
};

/* Images for one of a network's inputs. */
struct cnnvp_named_array {
    const char *name; /* name of the input; NULL: the first one */
    const struct cnnvp_array *array;
    const char *file; /* name in messages; NULL: the input's name */
};

struct cnnvp_network_options {
    uint32_t struct_size;
    enum cnnvp_rounding rounding;
    enum cnnvp_schedule schedule;
    uint32_t block;  /* side of a depth-first block, a power of two */
    int on_chip;     /* 1: keep maps on chip between layers where they fit (all or an error) */
    int timing_only; /* 1: weights are not read */
    uint64_t seed;
    const struct cnnvp_array *input;       /* images: numbers, or U8 as x / 255. Images smaller than the network's
                                            * input, (N, C, H, W), are centred among zeros as by cnnvp_dataset_fit.
                                            * NULL: `images` random images, normally distributed, from `seed` */
    uint64_t images;                       /* used when input is NULL; at least 1 */
    const struct cnnvp_array *calibration; /* NULL: the input is used */
    enum cnnvp_issue issue;                /* SCHEDULER: depth-first only; LIST: other schedules only */
    int (*stopped)(void);   /* called from time to time while the network is made; a value other than 0 aborts with
                             * CNNVP_FAILED. NULL: never */
    uint64_t input_images;  /* number of images to take from the start of the input, which must have as many; 0: all */
    int tune;               /* 1: tries the best tilings of each layer on the platform; see cnnvp_network_new */
    const char *input_name; /* names of input and calibration in messages, such as file names; may be NULL */
    const char *calibration_name;
    /* Sizes of the network's inputs that its file leaves open as symbols. Each text is "[NAME=]1x3x320x320" with sizes
     * from 1 to 2^20. Where the file has a number, the size must equal it. NAME is the input and may be left out. Sizes
     * that are not given here come from `input`. The first size, the batch, may stay open; then images run one by one.
     * The texts must live until the network is made. */
    const char *const *shapes;
    size_t shape_count;
    /* NULL: the installed guest program, or the one that CNNVP_GUEST names. Otherwise another RV32 ELF file that takes
     * the same network binary. Must live as long as the network. */
    const char *guest;
    /* Number of images that go through a layer together, so that its weights are loaded once for all of them; 0 or 1:
     * one by one. The last batch may be smaller. Each image has its own place in memory for maps between layers.
     * Results are the same, except for a batch norm with training_mode=1, which takes its statistics from the batch;
     * there 0 means all images. Needs the layer schedule with maps through memory. */
    uint32_t batch;
    /* Called from time to time while `tune` tries tilings or AUTO tries schedules, with the share done. NULL: never. */
    void (*tuning)(void *context, double share);
    void *tuning_context;
    enum cnnvp_plan_objective objective; /* for tiles, the groups of AUTO, and the trials of `tune` */
    /* A plan to run: a YAML file (sw/compiler/README.md), from cnnvp_network_plan or written by hand. With `schedule`
     * LAYER and on_chip 0 it is the whole plan; one with depth-first groups makes the run a DEPTH_FIRST one. Other
     * schedules take only a constraint from it: the halo of the groups (FUSED, AUTO) or the order of the blocks
     * (DEPTH_FIRST). NULL: the compiler makes the plan. Must live until the
     * network is made. */
    const char *plan;
    /* Called from time to time, with the share done and with tuning_context, while the float model of the images is
     * computed. Number formats and references come from it. NULL: never. */
    void (*computing)(void *context, double share);
    /* Tensors of the file that replace the network's outputs; later nodes are left out. None: the file's own outputs.
     * The texts must live until the network is made. */
    const char *const *until;
    size_t until_count;
    /* For a network with several inputs: the images of each input, the same number for all. Those of the first input
     * may be in `input` instead. If no input has images, random ones are used. Must live until the network is made. */
    const struct cnnvp_named_array *inputs;
    size_t input_count;
    /* Tensors of the file that become the network's first inputs; nodes that only produce them are left out. Must live
     * until the network is made. */
    const char *const *from;
    size_t from_count;
    /* For cnnvp_network_make_image: memory address of the network binary, a multiple of 64 below 2^32. Such a network
     * does not run on the platform, whose guest program expects the binary at its own address. 0: that address. Not
     * with the schedule AUTO, nor with `tune`. */
    uint64_t base;
    enum cnnvp_precision precision; /* word size of maps and weights */
};

/* The options of a command with their defaults. Commands: run, train, exec, check, compile, memory, sweep, diff,
 * report, asm, disasm. NULL: there is no such command, or no memory. */
typedef struct cnnvp_options cnnvp_options;
cnnvp_options *cnnvp_options_new(const char *command);
void cnnvp_options_free(cnnvp_options *options);
/* Sets an option by its long name on the command line ("objective", "timing-only" or "timing_only") to a text
 * ("energy"; for a switch "true" or "false"). Repeatable options get one more value; "verbose" counts up. Keeps the
 * pointer to the text, no copy. BAD_INPUT: there is no such option, or the value is invalid; nothing is set. */
CNNVP_MUST_USE cnnvp_result cnnvp_options_set(cnnvp_options *options, const char *name, const char *value,
                                              struct cnnvp_error *error);
/* Checks the combination of options. BAD_INPUT: options exclude each other, an option has no effect with the others, or
 * one is missing; the message names them. */
CNNVP_MUST_USE cnnvp_result cnnvp_options_check(const cnnvp_options *options, struct cnnvp_error *error);
/* Fills the members of struct cnnvp_network_options that the command's options define; options that were not set have
 * the command's defaults. The caller handles the other options (platform and its settings, arrays, outputs, how the
 * platform runs). The result points into `options`, which must live until the network is made. It is not checked; see
 * cnnvp_options_check. The caller sets `members->struct_size`; members beyond it are not written. */
void cnnvp_network_options_get(const cnnvp_options *options, struct cnnvp_network_options *members);
static inline struct cnnvp_network_options cnnvp_network_options_of(const cnnvp_options *options)
{
    struct cnnvp_network_options members;
    members.struct_size = sizeof members;
    cnnvp_network_options_get(options, &members);
    return members;
}
/* The same for struct cnnvp_platform_options, from options of "run", "train" or "exec". */
void cnnvp_platform_options_get(const cnnvp_options *options, struct cnnvp_platform_options *members);
static inline struct cnnvp_platform_options cnnvp_platform_options_of(const cnnvp_options *options)
{
    struct cnnvp_platform_options members;
    members.struct_size = sizeof members;
    cnnvp_platform_options_get(options, &members);
    return members;
}

/* The preset that a command ("run", "train", "exec") uses without -p. */
const char *cnnvp_command_platform(const char *command);
/* Parses a simulated time such as 2s, 1.5ms, 300us, 20ns or 5ps. Returns picoseconds; 0 if the text is invalid. */
uint64_t cnnvp_time_parse(const char *text);

/* Checks the syntax of a shape as above. BAD_INPUT: the message describes a valid shape. */
CNNVP_MUST_USE cnnvp_result cnnvp_shape_check(const char *text, struct cnnvp_error *error);

/* Checks whether networks can run on a platform. BAD_INPUT: the required units exist, but are connected or configured
 * unsuitably. FAILED: a required unit is missing, so the platform is meant for other programs. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_check(const cnnvp_config *config, struct cnnvp_error *error);

/*
 * Finds the file of a network. `name` is a file, or else a word without dot and slash ("lenet5") that names a network
 * in the folder $CNNVP_NETWORKS or in share/cnnvp/networks, which is searched as for presets (cnnvp_config_new). All
 * functions that take a network do this. BAD_INPUT: there is no such network, or its path needs more than `room` bytes.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_network_find(const char *name, char *path, size_t room, struct cnnvp_error *error);

/*
 * Reads an ONNX file (a path, or the name of an installed network, see cnnvp_network_find), checks it, chooses number
 * formats by a float pass over the calibration data, and plans it for the configured accelerator. Errors name the node.
 *
 * Planning asks the platform's units for the time of commands and transfers (cnnvp_units). With `tune` and AUTO it also
 * runs the best candidates on a temporary platform, timing-only, and takes the fastest. In this case the memory of
 * `config` must not be one that a C++ program binds.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_network_new(const char *onnx_file, const cnnvp_config *config,
                                              const struct cnnvp_network_options *options, cnnvp_network **network,
                                              struct cnnvp_error *error);
void cnnvp_network_free(cnnvp_network *network);
/* The supported operators, as text. FAILED: out of memory. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_operators_text(char **text);

/* A table of the operators in a network's file: the number of nodes of each, and the units that run the resulting
 * layers. Returns the result of cnnvp_network_new with these options. If the network is refused, the text says which
 * operators are not supported. *text is NULL if there is no text. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_network_operators(const char *onnx_file, const cnnvp_config *config,
                                                    const struct cnnvp_network_options *options, char **text,
                                                    struct cnnvp_error *error);

/* Number of layer tilings that `tune` tried when the network was made. */
size_t cnnvp_network_trials(const cnnvp_network *network);

/* 1: the network's file is quantised to 8 bits, but all its numbers are widened to 16-bit words. */
int cnnvp_network_is_widened(const cnnvp_network *network);

/* Writes the network's plan to a file: groups, tiles of layers, tensors that stay on chip. If `file` is NULL, only
 * checks that a plan exists. BAD_INPUT: a plan cannot express it (training engine, batches). FAILED: the file cannot be
 * written. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_plan(const cnnvp_network *network, const char *file,
                                               struct cnnvp_error *error);

/* Everything that another core than the platform's needs to run the network (share/cnnvp/guest/cnnvp_runtime.h): the
 * network binary, its memory map as text, and the same map as a C header. The header's names begin with the base name
 * of `file`, such as net.bin. BAD_INPUT: for the training engine and for several accelerators. Free each member with
 * free(). */
struct cnnvp_network_image {
    void *binary;
    size_t size;
    char *map, *header;
};
CNNVP_MUST_USE cnnvp_result cnnvp_network_make_image(const cnnvp_network *network, const char *file,
                                                     struct cnnvp_network_image *image, struct cnnvp_error *error);

/* Writes image, inputs and guest program into the platform's memory and describes the work to its statistics. The
 * platform must have the configuration that the network was made with; only parameters that affect time alone may
 * differ. Other units, buffers or registers give wrong results; this is not checked. BAD_INPUT: the platform is
 * timing-only and the network is not. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_load(const cnnvp_network *network, cnnvp_platform *platform,
                                               struct cnnvp_error *error);
/* The name of the network's first input; lives as long as the network. */
const char *cnnvp_network_input_name(const cnnvp_network *network);
/* Sizes of the network's first input without the batch, such as C, H, W. Returns the number of dimensions. */
size_t cnnvp_network_input_shape(const cnnvp_network *network, size_t shape[8]);
/* The number of outputs, and the name of one, counted from 0 in the file's order. NULL: there is no such output. The
 * name lives as long as the network. */
size_t cnnvp_network_outputs(const cnnvp_network *network);
const char *cnnvp_network_output_name(const cnnvp_network *network, size_t output);

/* An output for all images as float, after a run. After a failed run, it is what the run left in memory. FAILED: the
 * platform belongs to another thread. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_output(const cnnvp_network *network, cnnvp_platform *platform, size_t output,
                                                 struct cnnvp_array *array, struct cnnvp_error *error);
/* The same for any tensor that a layer makes, by its name in the file, for the last image: [C, H, W], or with the
 * tensor's own dimensions. BAD_INPUT: memory holds no such result, because it is folded into the next layer or stays on
 * chip, or the network is timing-only. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tensor(const cnnvp_network *network, cnnvp_platform *platform,
                                                 const char *name, struct cnnvp_array *array,
                                                 struct cnnvp_error *error);
/* The float model's output for the same images, computed by this library with ordinary convolution. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_reference(const cnnvp_network *network, size_t output,
                                                    struct cnnvp_array *array, struct cnnvp_error *error);
/* The same, with padding block by block if the network runs depth first. The platform's output is close to this. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_block_reference(const cnnvp_network *network, size_t output,
                                                          struct cnnvp_array *array, struct cnnvp_error *error);
/* Comparison with the float model. */
struct cnnvp_difference {
    double signal;     /* sum of the squares of the float model's values */
    double noise;      /* sum of the squares of the differences */
    double magnitude;  /* largest absolute value of the float model */
    double largest;    /* largest absolute difference */
    uint64_t images;   /* images of a classifier, whose output is [N, classes] and may have further dimensions of 1; 0:
                        * no classifier */
    uint64_t agreeing; /* images for which both choose the same class (cnnvp_top_class) */
};
/* Compares an output with the float model's, over all images. BAD_INPUT: they are not both float32 with the same number
 * of elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_compare(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                          struct cnnvp_difference *difference, struct cnnvp_error *error);
/* Signal-to-quantisation-noise ratio over all images: 10 log10(signal / noise), in dB. INFINITY if there is no noise;
 * -INFINITY if there is noise and the float model's values are all 0; NAN if a value is not a number. */
double cnnvp_sqnr(const struct cnnvp_difference *difference);
/* The class of an image: the index of the largest value; the first one if several are equal. */
size_t cnnvp_top_class(const float *values, size_t classes);

/* Writes each tensor as npy, with its float counterpart (padded by blocks if depth first), and a table of SQNR into a
 * folder, which is created if missing. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_dump(const cnnvp_network *network, cnnvp_platform *platform,
                                               const char *folder, struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
