/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp training API: trains an ONNX network on the training engine of S001 (preset `trainer`). The guest software
 * sequences forward, backward, gradient and update. This header prepares its memory, runs it step by step and reads the
 * result.
 *
 *   cnnvp_config *config;      preset trainer, resolved
 *   cnnvp_trainer_new          turns network, data sets and options into an image for the guest software
 *   cnnvp_platform_new         with options.console = cnnvp_trainer_console, console_context = the trainer
 *   cnnvp_trainer_load         writes weights, data sets and tables into the platform's memory
 *   cnnvp_trainer_step         until it reports CNNVP_TRAIN_END; weights may be read between two calls
 *   cnnvp_trainer_export, cnnvp_trainer_get_state, cnnvp_platform_stats
 *
 * The rules of cnnvp.h apply: one thread, opaque handles, a cnnvp_result and an error text. A trainer is not tied to a
 * platform; it may be loaded into several, one after the other. The data sets must live until cnnvp_trainer_load
 * returns.
 */
#ifndef CNNVP_TRAIN_H
#define CNNVP_TRAIN_H

#include "cnnvp_data.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct cnnvp_trainer cnnvp_trainer;

/* Sigma of batch norm (Part B 1-12): from the range of the values, or from their variance. */
enum cnnvp_train_bn { CNNVP_TRAIN_BN_RANGE = 0, CNNVP_TRAIN_BN_STANDARD = 1 };

/*
 * Loop order of a convolution (Part B 1-3). KERNEL: kernel groups are the outermost loop, and partial sums stay in the
 * intermediate buffer. CHANNEL: as in S001, every input channel is combined with all kernels before the next channel,
 * and partial sums go to memory and back for each channel. Results are bit-identical; the traffic differs.
 */
enum cnnvp_train_order { CNNVP_TRAIN_ORDER_KERNEL = 0, CNNVP_TRAIN_ORDER_CHANNEL = 1 };

/* Which values share an exponent (Part B 1-14). */
enum cnnvp_train_block { CNNVP_TRAIN_BLOCK_TENSOR = 0, CNNVP_TRAIN_BLOCK_IMAGE = 1, CNNVP_TRAIN_BLOCK_CHANNEL = 2 };

/*
 * How errors are quantised. CARRIED: rounds to nearest and adds the rounding error of a value to the next value of the
 * same map, which preserves the sums over errors that gradients consist of. Backward batch norm leaves many values
 * below half a unit, which plain rounding to nearest would all turn into 0. PLAIN: by `rounding`. DEFAULT: CARRIED if
 * `rounding` is to nearest, otherwise PLAIN.
 */
enum cnnvp_train_errors {
    CNNVP_TRAIN_ERRORS_DEFAULT = 0,
    CNNVP_TRAIN_ERRORS_PLAIN = 1,
    CNNVP_TRAIN_ERRORS_CARRIED = 2
};

/*
 * When batch norm's inputs go to memory for the backward pass. EARLY: with the complete sums, when their statistics are
 * taken. LATE: as in S001 (D-emb, forward 7), batch norm stores them in the idle half of the intermediate buffer, and
 * they follow the results of their tile, before its matrices. Weights are the same; LATE is slower and needs ping-pong.
 */
enum cnnvp_train_spill { CNNVP_TRAIN_SPILL_EARLY = 0, CNNVP_TRAIN_SPILL_LATE = 1 };

struct cnnvp_trainer_options {
    uint32_t struct_size;         /* sizeof(struct cnnvp_trainer_options) */
    enum cnnvp_rounding rounding; /* of mantissas. With stochastic rounding, images are still rounded to nearest. With
                                   * truncation, many networks do not learn */
    enum cnnvp_train_bn bn;
    enum cnnvp_train_order order;
    enum cnnvp_train_block block;
    int narrow;         /* 1: weights are kept only in 8 bits; 0: a 32-bit master copy (Part B 1-16) */
    int random_weights; /* 1: all weights are random; 0: only those that have no values in the file */
    int timing_only;
    uint32_t batch;    /* images of a step, 1 or more; the last step of an epoch takes the rest */
    float rate;        /* learning rate, finite, above 0 */
    float momentum;    /* momentum of the gradients, 0 <= momentum < 1 */
    float bn_momentum; /* running = (1 - m) * running + m * batch, 0 < m <= 1; 0 stands for 0.1 */
    uint64_t seed;     /* of random weights, image order and stochastic rounding */
    uint64_t epochs;   /* passes over the data set, 1 or more */
    uint64_t steps;    /* total number of steps, including those before a resume; 0: all epochs */
    const cnnvp_dataset *dataset;
    const cnnvp_dataset *evaluation; /* forward only, at the end of each epoch; NULL: none */
    enum cnnvp_train_errors errors;  /* PLAIN: as `rounding` says */
    const char *const *shapes;       /* as in struct cnnvp_network_options; otherwise the data set determines sizes */
    size_t shape_count;
    const char *guest; /* as in struct cnnvp_network_options; must live as long as the trainer */
    enum cnnvp_train_spill spill;
    /* Order of the images in each epoch. NULL or "on": random, from `seed`. "off": the order of the data set. Otherwise
     * a text file with image numbers from 0, separated by white space: for one epoch, which is then used for all, or
     * for every epoch. */
    const char *shuffle;
};

/* Fills the members that the options of "train" define (cnnvp_options_new), except the data sets; see
 * cnnvp_network_options_get. */
void cnnvp_trainer_options_get(const cnnvp_options *options, struct cnnvp_trainer_options *members);
static inline struct cnnvp_trainer_options cnnvp_trainer_options_of(const cnnvp_options *options)
{
    struct cnnvp_trainer_options members;
    members.struct_size = sizeof members;
    cnnvp_trainer_options_get(options, &members);
    return members;
}

/*
 * Reads the network (cnnvp_network_find) and plans its training on the configured engine. The engine trains chains of
 * Conv, BatchNormalization, Relu, MaxPool (2x2, stride 2), Flatten or Reshape, Gemm or MatMul, and an optional final
 * Softmax. The error names a node of any other kind. Free with cnnvp_trainer_free.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_new(const char *onnx_file, const cnnvp_config *config,
                                              const struct cnnvp_trainer_options *options, cnnvp_trainer **trainer,
                                              struct cnnvp_error *error);
void cnnvp_trainer_free(cnnvp_trainer *trainer);

/* Figures of the training plan. */
struct cnnvp_trainer_info {
    uint64_t steps_per_epoch;
    uint64_t steps;         /* number of the last step + 1, at which training ends */
    uint64_t parameters;    /* learned values */
    uint64_t memory_bytes;  /* off-chip memory in use */
    uint64_t macs_forward;  /* multiply-accumulates of one image */
    uint64_t macs_backward; /* backward pass for the errors */
    uint64_t macs_gradient;
};
void cnnvp_trainer_info(const cnnvp_trainer *trainer, struct cnnvp_trainer_info *info);

/* Receives the output of the guest software; pass it to cnnvp_platform_new with the trainer as context. Forwards
 * readable text to standard output. */
void cnnvp_trainer_console(void *trainer, const void *data, size_t size);

/* Writes image, weights, data sets and guest program into the platform's memory and describes the work to its
 * statistics. After cnnvp_trainer_set_state, training continues from that state. BAD_INPUT: the platform is timing-only
 * and the trainer is not. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_load(cnnvp_trainer *trainer, cnnvp_platform *platform,
                                               struct cnnvp_error *error);

enum cnnvp_train_event {
    CNNVP_TRAIN_STEP = 0,       /* a step is complete, weights included */
    CNNVP_TRAIN_EVALUATION = 1, /* the evaluation after an epoch's last step is complete */
    CNNVP_TRAIN_END = 2         /* the guest software has ended; of the other members, step and time_ps are valid */
};

struct cnnvp_train_record {
    enum cnnvp_train_event event;
    uint64_t step;      /* from 0; for an evaluation: the step before it; without an event, or at the end: the next */
    uint64_t epoch;     /* from 0 */
    uint64_t images;    /* of the step or evaluation */
    uint64_t correct;   /* images whose largest output is at the label */
    double loss;        /* mean cross-entropy of these images; 0 in timing-only */
    uint64_t nonfinite; /* outputs of the network that were not finite */
    uint64_t time_ps;   /* simulated time of completion */
};

/*
 * Runs the platform until the next event. Returns DONE with an event; BAD_INPUT or FAILED as from cnnvp_platform_run,
 * with details in *result. Another call continues an interrupted run (CNNVP_END_INTERRUPTED).
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_step(cnnvp_trainer *trainer, cnnvp_platform *platform,
                                               struct cnnvp_train_record *record, struct cnnvp_run_result *result,
                                               struct cnnvp_error *error);

/*
 * Everything that training continues from: weights, momentum, running statistics, number of the next step. The same
 * training gives the same bytes, however often it was interrupted. The state belongs to this network and these options;
 * a different trainer refuses it. Call it between steps or after the end. BAD_INPUT: cnnvp_trainer_load has not been
 * called. Free with free().
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_get_state(const cnnvp_trainer *trainer, cnnvp_platform *platform,
                                                    void **state, size_t *size, struct cnnvp_error *error);
/* Call it before cnnvp_trainer_load. Copies `state`. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_set_state(cnnvp_trainer *trainer, const void *state, size_t size,
                                                    struct cnnvp_error *error);

/* Writes the trained network as an ONNX file, which appears only when it is complete. Running sigmas of range batch
 * norm become the equivalent variance. Call it between steps or after the end. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_export(cnnvp_trainer *trainer, cnnvp_platform *platform, const char *file,
                                                 struct cnnvp_error *error);

/* ---- for tests and inspection ---- */

enum cnnvp_train_tensor {
    CNNVP_TRAIN_WEIGHT = 0, /* kernels or matrix, in the network's layout */
    CNNVP_TRAIN_BIAS = 1,
    CNNVP_TRAIN_GAMMA = 2,
    CNNVP_TRAIN_BETA = 3,
    CNNVP_TRAIN_MEAN = 4,  /* running */
    CNNVP_TRAIN_SIGMA = 5, /* running */
    CNNVP_TRAIN_WEIGHT_VELOCITY = 6,
    CNNVP_TRAIN_BIAS_VELOCITY = 7,
    CNNVP_TRAIN_GAMMA_VELOCITY = 8,
    CNNVP_TRAIN_BETA_VELOCITY = 9,
    /* Of the images of the last step; an evaluation overwrites activations and sums. */
    CNNVP_TRAIN_ACTIVATION = 10, /* inputs of the layer */
    CNNVP_TRAIN_SUMS = 11,       /* results of its convolution or matrix product, with a bias that learns, before batch
                                  * norm */
    CNNVP_TRAIN_ERROR = 12       /* derivative of the loss by SUMS, as quantised */
};

/* Number of layers with parameters, in the order of the network. */
size_t cnnvp_trainer_layers(const cnnvp_trainer *trainer);
/* Name of the node; NULL beyond the last. */
const char *cnnvp_trainer_layer_name(const cnnvp_trainer *trainer, size_t layer);

/* A tensor of a layer in the platform's memory as float, dense, in the network's layout. BAD_INPUT if the layer has no
 * such tensor. Free with cnnvp_array_clear. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_tensor(const cnnvp_trainer *trainer, cnnvp_platform *platform, size_t layer,
                                                 enum cnnvp_train_tensor tensor, struct cnnvp_array *values,
                                                 struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
