/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: from an ONNX file to a program for a platform (cnnvp.h), its inputs and outputs as arrays, and how far they
 * are from the float model. */
#ifndef CNNVP_NETWORK_H
#define CNNVP_NETWORK_H

#include "cnnvp.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct cnnvp_network cnnvp_network;

/* A dense array, row-major. Free `data` and `shape` of one that a function filled with cnnvp_array_clear. */
struct cnnvp_array {
    enum { CNNVP_ARRAY_F32 = 0, CNNVP_ARRAY_U8 = 1, CNNVP_ARRAY_I64 = 2, CNNVP_ARRAY_I16 = 3 } type;
    size_t rank;
    size_t shape[8];
    void *data;
};

CNNVP_MUST_USE cnnvp_result cnnvp_npy_read(const char *file, struct cnnvp_array *array, struct cnnvp_error *error);
/* Appears under its name only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_npy_write(const char *file, const struct cnnvp_array *array,
                                            struct cnnvp_error *error);
void cnnvp_array_clear(struct cnnvp_array *array);

/* FLOOR, toward minus infinity, is one of block floating point alone (Part B 1-15): training. */
enum cnnvp_rounding {
    CNNVP_ROUND_TRUNCATE = 0,
    CNNVP_ROUND_NEAREST = 1,
    CNNVP_ROUND_STOCHASTIC = 2,
    CNNVP_ROUND_FLOOR = 3
};
/* FUSED: groups of layers go tile by tile, so that little leaves the chip, also where that takes longer; the values are
 * those of LAYER. AUTO: groups and layers that are better by the objective when tried, never worse than LAYER by it. */
enum cnnvp_schedule {
    CNNVP_SCHEDULE_LAYER = 0,
    CNNVP_SCHEDULE_DEPTH_FIRST = 1,
    CNNVP_SCHEDULE_FUSED = 2,
    CNNVP_SCHEDULE_AUTO = 3
};
/* Who issues the instructions of the depth-first schedule's chains. FASTER: whoever is by the plan's estimate.
 * SCHEDULER: an error where the scheduler unit cannot. */
enum cnnvp_issue { CNNVP_ISSUE_FASTER = 0, CNNVP_ISSUE_GUEST = 1, CNNVP_ISSUE_SCHEDULER = 2, CNNVP_ISSUE_LIST = 3 };

/* Words of maps and weights: 16-bit fixed point or 8 bits, of which the array has to have the one that is asked for;
 * AUTO: FX16 where it has both. */
enum cnnvp_precision { CNNVP_PRECISION_AUTO = 0, CNNVP_PRECISION_FX16 = 1, CNNVP_PRECISION_INT8 = 2 };

/* What plans are chosen by: time, energy, their product, or bytes of bursts off chip. Of traffic a little of the time
 * counts too: a byte less is worth the time in which the memory moves 16. */
enum cnnvp_plan_objective {
    CNNVP_OBJECTIVE_TIME = 0,
    CNNVP_OBJECTIVE_ENERGY = 1,
    CNNVP_OBJECTIVE_EDP = 2,
    CNNVP_OBJECTIVE_TRAFFIC = 3
};

/* Images of one of a network's inputs. */
struct cnnvp_named_array {
    const char *name; /* of the input; NULL: the first one */
    const struct cnnvp_array *array;
    const char *file; /* what messages call it; NULL: the input's name */
};

struct cnnvp_network_options {
    uint32_t struct_size;
    enum cnnvp_rounding rounding;
    enum cnnvp_schedule schedule;
    uint32_t block;  /* depth-first block side, a power of two */
    int on_chip;     /* 1: keep maps on chip between layers where they fit (all or an error) */
    int timing_only; /* 1: weights are not read */
    uint64_t seed;
    const struct cnnvp_array *input;       /* images of the network's size, numbers or, U8, parts of 255; smaller ones,
                                            * (N, C, H, W), are centred among zeros as by cnnvp_dataset_fit; NULL:
                                            * `images` seeded normal images */
    uint64_t images;                       /* used when input is NULL; at least 1 */
    const struct cnnvp_array *calibration; /* NULL: the input */
    enum cnnvp_issue issue;                /* SCHEDULER: depth-first alone; LIST: other schedules alone */
    int (*stopped)(void);  /* asked now and then while the network is made; not 0: give up, CNNVP_FAILED. NULL: never */
    uint64_t input_images; /* taken from the first of the input on, which must have them; 0: all */
    int tune;              /* 1: the best tilings of each layer are tried on the platform; see cnnvp_network_new */
    const char *input_name; /* what messages call the input and the calibration, such as their files; may be NULL */
    const char *calibration_name;
    /* Sizes of the network's input that its file leaves open as symbols: each text is "[NAME=]1x3x320x320", every size
     * from 1 to 2^20, which must be that of the file where the file has a number. NAME, of the input, may be left out.
     * The texts have to live until the network is made. Without them `input` settles such sizes; the first one, the
     * batch, may stay open, which leaves 1 image after the other. */
    const char *const *shapes;
    size_t shape_count;
    /* Another guest program than the installed one, an RV32 ELF that takes the same network binary; NULL: the installed
     * one, or what CNNVP_GUEST names. Has to live as long as the network. */
    const char *guest;
    /* This many images go through a layer together, so that its weights are loaded once for all of them; 0 or 1: one
     * image after the other. Maps between layers have a place in memory for each. The last ones may be fewer. Results
     * are the same, unless a batch norm with training_mode=1 takes its statistics of them: then 0 is all images. With
     * the layer schedule, maps through memory. */
    uint32_t batch;
    /* Called now and then while `tune` tries tilings, or AUTO schedules, with the share of that which is done. NULL:
     * never. */
    void (*tuning)(void *context, double share);
    void *tuning_context;
    enum cnnvp_plan_objective objective; /* of tiles, of the groups of AUTO, and of the trials of `tune` */
    /* A plan to run, as cnnvp_network_plan writes it, or your own: a YAML file (sw/compiler/README.md), with `schedule`
     * LAYER and on_chip 0; or what the other schedules are to keep to: the halo of FUSED's and AUTO's groups, the order
     * of DEPTH_FIRST's blocks. NULL: the plan is made. Has to live until the network is made. */
    const char *plan;
    /* Called now and then while the float model of the images is computed, which number formats and references come
     * from, with the share of that which is done, and with tuning_context. NULL: never. */
    void (*computing)(void *context, double share);
    /* Tensors of the file that are the network's outputs in place of its own, which leaves out what comes after them;
     * none: its own. The texts have to live until the network is made. */
    const char *const *until;
    size_t until_count;
    /* Of a network with several inputs each one's images, as many of all; those of the first may be `input`. Random
     * ones where no input has any. Have to live until the network is made. */
    const struct cnnvp_named_array *inputs;
    size_t input_count;
    /* Tensors of the file that are the network's first inputs, which leaves out what only makes them. Likewise. */
    const char *const *from;
    size_t from_count;
    /* For cnnvp_network_make_image: where the network binary begins in memory, a multiple of 64 below 2^32; it is no
     * platform's then, whose guest program has it at its own place. 0: there. With another schedule than AUTO, without
     * `tune`. */
    uint64_t base;
    enum cnnvp_precision precision; /* words of maps and weights */
};

/* A command's options, at their defaults: of run, train, exec, check, memory, sweep, diff, report, asm or disasm. NULL:
 * there is no such command, or no memory. */
typedef struct cnnvp_options cnnvp_options;
cnnvp_options *cnnvp_options_new(const char *command);
void cnnvp_options_free(cnnvp_options *options);
/* Sets one by the long name that it has with the command ("objective", "timing-only" or "timing_only") to what a text
 * says ("energy"; of a switch "true" or "false"); those that may be repeated get one more, and "verbose" counts. Texts
 * are kept, not copied. BAD_INPUT: there is no such option, or the text is no value of
 * it; nothing is set. */
CNNVP_MUST_USE cnnvp_result cnnvp_options_set(cnnvp_options *options, const char *name, const char *value,
                                              struct cnnvp_error *error);
/* BAD_INPUT: some cannot be together, one changes nothing with the others, or one is missing; the message names them.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_options_check(const cnnvp_options *options, struct cnnvp_error *error);
/* The members of struct cnnvp_network_options that options have; what was not set has the command's default. The other
 * options of a command (platform and its settings, arrays, outputs, how the platform is run) are the caller's to
 * follow. Points into `options`, which has to live until the network is made. Not checked: see cnnvp_options_check.
 * `members->struct_size`, which is kept, says how much of it there is. */
void cnnvp_network_options_get(const cnnvp_options *options, struct cnnvp_network_options *members);
static inline struct cnnvp_network_options cnnvp_network_options_of(const cnnvp_options *options)
{
    struct cnnvp_network_options members;
    members.struct_size = sizeof members;
    cnnvp_network_options_get(options, &members);
    return members;
}
/* Likewise the members of struct cnnvp_platform_options that options of "run", "train" or "exec" have. */
void cnnvp_platform_options_get(const cnnvp_options *options, struct cnnvp_platform_options *members);
static inline struct cnnvp_platform_options cnnvp_platform_options_of(const cnnvp_options *options)
{
    struct cnnvp_platform_options members;
    members.struct_size = sizeof members;
    cnnvp_platform_options_get(options, &members);
    return members;
}

/* The preset that a command ("run", "train", "exec") takes without -p. */
const char *cnnvp_command_platform(const char *command);
/* A length of simulated time, such as 2s, 1.5ms, 300us, 20ns or 5ps, in picoseconds; 0: it is none. */
uint64_t cnnvp_time_parse(const char *text);

/* Whether a text is a shape as above. BAD_INPUT with a message that says what one is. */
CNNVP_MUST_USE cnnvp_result cnnvp_shape_check(const char *text, struct cnnvp_error *error);

/* Whether networks can run on a platform. BAD_INPUT: it has what they need, but connected or set otherwise than they
 * need it. FAILED: something that they need is not there, so it is a platform for other programs. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_check(const cnnvp_config *config, struct cnnvp_error *error);

/*
 * The file that the name of a network stands for: a file of that name, else, for a word without dot and slash, the
 * network of that name ("lenet5") in the folder $CNNVP_NETWORKS or in share/cnnvp/networks, found as presets are
 * (cnnvp_config_new). Done by all functions that take a network. BAD_INPUT: there
 * is none, or `room` bytes are too few for its path.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_network_find(const char *name, char *path, size_t room, struct cnnvp_error *error);

/*
 * Reads an ONNX file, a path or the name of an installed network (cnnvp_network_find), checks it, chooses number
 * formats from a float pass over the calibration data and plans it for the configured accelerator. The error names the
 * node.
 *
 * Planning asks the platform's units what commands and transfers take (cnnvp_units). With `tune` and AUTO it also runs
 * what is best by these answers on a platform of its own, timing only, and takes the fastest: the memory of `config` is
 * then not one that a C++ program binds.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_network_new(const char *onnx_file, const cnnvp_config *config,
                                              const struct cnnvp_network_options *options, cnnvp_network **network,
                                              struct cnnvp_error *error);
void cnnvp_network_free(cnnvp_network *network);
/* The operators that networks may have, as text. FAILED: out of memory. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_operators_text(char **text);

/* The operators of a network's file, how many nodes of each there are, and on which units the layers run that they have
 * become, as a table. The result is that of cnnvp_network_new with these options: where it is refused, the text says
 * which operators cannot be at all. NULL: there is no text. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_network_operators(const char *onnx_file, const cnnvp_config *config,
                                                    const struct cnnvp_network_options *options, char **text,
                                                    struct cnnvp_error *error);

/* How many tilings of layers were tried with `tune` when the network was made. */
size_t cnnvp_network_trials(const cnnvp_network *network);

/* 1: the network's file is quantised to 8 bits, and all its numbers have words of 16. */
int cnnvp_network_is_widened(const cnnvp_network *network);

/* Writes what the network runs as a plan: groups, cuts of layers, what stays on chip. BAD_INPUT: a plan cannot say it,
 * as for the depth-first schedule and the training engine; or the file cannot be written. NULL for the file: whether
 * there is a plan. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_plan(const cnnvp_network *network, const char *file,
                                               struct cnnvp_error *error);

/* What a core that is not the platform's needs to run the network (share/cnnvp/guest/cnnvp_runtime.h): the network
 * binary, where in memory what lies as a text, and the same as a C header, whose names begin with that of `file`, such
 * as net.bin. BAD_INPUT: for the training engine and several accelerators. Free with free(). */
struct cnnvp_network_image {
    void *binary;
    size_t size;
    char *map, *header;
};
CNNVP_MUST_USE cnnvp_result cnnvp_network_make_image(const cnnvp_network *network, const char *file,
                                                     struct cnnvp_network_image *image, struct cnnvp_error *error);

/* Writes image, inputs and guest program into the platform's memory and describes the work to its statistics. The
 * platform is of the configuration that the network was made with; parameters that change time alone may differ. With
 * other units, buffers or registers results are wrong, and nothing looks at them. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_load(const cnnvp_network *network, cnnvp_platform *platform,
                                               struct cnnvp_error *error);
/* The name of the network's input, which lives as long as the network. */
const char *cnnvp_network_input_name(const cnnvp_network *network);
/* Sizes of the network's input without the batch, such as C, H, W; returns how many. */
size_t cnnvp_network_input_shape(const cnnvp_network *network, size_t shape[8]);
/* A network's outputs, counted from 0 in the file's order: how many, and the name of one, which lives as long as the
 * network; NULL: there is no such. */
size_t cnnvp_network_outputs(const cnnvp_network *network);
const char *cnnvp_network_output_name(const cnnvp_network *network, size_t output);

/* After a run: an output of all images as float; of one that failed, what it has left in memory. FAILED: the platform
 * is another thread's. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_output(const cnnvp_network *network, cnnvp_platform *platform, size_t output,
                                                 struct cnnvp_array *array, struct cnnvp_error *error);
/* Likewise a tensor of the network's file by its name, of the last image: [C, H, W], or as many dimensions as it has
 * there. BAD_INPUT: no layer has such a result in memory, as where it is folded into the next one or stays on chip, or
 * the network is timing-only. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_tensor(const cnnvp_network *network, cnnvp_platform *platform,
                                                 const char *name, struct cnnvp_array *array,
                                                 struct cnnvp_error *error);
/* The float model's for the same images, computed by this library, with ordinary convolution. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_reference(const cnnvp_network *network, size_t output,
                                                    struct cnnvp_array *array, struct cnnvp_error *error);
/* The same, padded block by block where the network runs depth first: what the platform's output is close to. */
CNNVP_MUST_USE cnnvp_result cnnvp_network_block_reference(const cnnvp_network *network, size_t output,
                                                          struct cnnvp_array *array, struct cnnvp_error *error);
/* Values beside those of the float model. */
struct cnnvp_difference {
    double signal;     /* sum of the squares of the float model's values */
    double noise;      /* sum of the squares of the differences */
    double magnitude;  /* the float model's largest value, without its sign */
    double largest;    /* the largest difference, without its sign */
    uint64_t images;   /* of a classifier, whose output is [N, classes], ones behind it or not; 0: it is none */
    uint64_t agreeing; /* images of which both have the same class (cnnvp_top_class) */
};
/* Compares an output of all images with the same of the float model. BAD_INPUT: they are not float32 and of as many
 * elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_compare(const struct cnnvp_array *output, const struct cnnvp_array *reference,
                                          struct cnnvp_difference *difference, struct cnnvp_error *error);
/* Signal-to-quantisation-noise ratio, 10 log10(signal / noise) in dB, over all values of all images. INFINITY where
 * there is no noise, -INFINITY where there is, and the float model's values are all 0. */
double cnnvp_sqnr(const struct cnnvp_difference *difference);
/* The class of an image: the number of the largest value, from 0; the first one where several are as large. */
size_t cnnvp_top_class(const float *values, size_t classes);

/* Writes each tensor as npy with its float counterpart (padded by blocks where it runs depth first) and a table of SQNR
 * into a folder (made if missing). */
CNNVP_MUST_USE cnnvp_result cnnvp_network_dump(const cnnvp_network *network, cnnvp_platform *platform,
                                               const char *folder, struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
