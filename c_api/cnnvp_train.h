/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp training API: an ONNX network learns on the training engine of S001 (preset `trainer`). The guest software
 * sequences forward, backward, gradient and update; this header prepares its memory, runs it step by step and reads
 * what it has learned.
 *
 *   cnnvp_config *config;      preset trainer, resolved
 *   cnnvp_trainer_new          network, data sets and options become an image for the guest software
 *   cnnvp_platform_new         with options.console = cnnvp_trainer_console, console_context = the trainer
 *   cnnvp_trainer_load         writes weights, data sets and tables into the platform's memory
 *   cnnvp_trainer_step         until it reports CNNVP_TRAIN_END; between two calls weights may be read
 *   cnnvp_trainer_export, cnnvp_trainer_get_state, cnnvp_platform_stats
 *
 * Rules of cnnvp.h hold: one thread, opaque handles, a cnnvp_result and a text. A trainer belongs to no platform; it
 * may be loaded into several, one after the other. The data sets must live until cnnvp_trainer_load returns.
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
 * Order of a convolution's work (Part B 1-3). KERNEL: kernel group outermost, partial sums stay in the intermediate
 * buffer. CHANNEL: as S001 has it, every input channel meets all kernels before the next channel comes, and partial
 * sums go to memory and back for each. Results are the same bits; traffic is not.
 */
enum cnnvp_train_order { CNNVP_TRAIN_ORDER_KERNEL = 0, CNNVP_TRAIN_ORDER_CHANNEL = 1 };

/* Which values share an exponent (Part B 1-14). */
enum cnnvp_train_block { CNNVP_TRAIN_BLOCK_TENSOR = 0, CNNVP_TRAIN_BLOCK_IMAGE = 1, CNNVP_TRAIN_BLOCK_CHANNEL = 2 };

/*
 * How errors become mantissas. CARRIED: to nearest, what rounding loses of a value is added to the next one of the same
 * map, so that sums over errors, which gradients are, stay what they were. Batch norm's way back leaves many values
 * below half a unit: to nearest without it they vanish all. DEFAULT: CARRIED where `rounding` is to nearest, else
 * PLAIN.
 */
enum cnnvp_train_errors {
    CNNVP_TRAIN_ERRORS_DEFAULT = 0,
    CNNVP_TRAIN_ERRORS_PLAIN = 1,
    CNNVP_TRAIN_ERRORS_CARRIED = 2
};

/*
 * When batch norm's inputs go to memory for the way back. EARLY: with the complete sums, as their statistics are taken.
 * LATE: as S001 has it (D-emb, forward 7): batch norm parks them in the intermediate buffer's idle half, and they
 * follow the results of their tile, before its matrices. Same weights; LATE is slower and needs ping-pong.
 */
enum cnnvp_train_spill { CNNVP_TRAIN_SPILL_EARLY = 0, CNNVP_TRAIN_SPILL_LATE = 1 };

struct cnnvp_trainer_options {
    uint32_t struct_size;         /* sizeof(struct cnnvp_trainer_options) */
    enum cnnvp_rounding rounding; /* of mantissas, those of images to nearest if it is stochastic; truncated, many
                                     networks do not learn */
    enum cnnvp_train_bn bn;
    enum cnnvp_train_order order;
    enum cnnvp_train_block block;
    int narrow;         /* 1: weights are kept in 8 bits alone; 0: a 32-bit master copy (Part B 1-16) */
    int random_weights; /* 1: every weight is drawn anew; 0: only those that the file has no values for */
    int timing_only;
    uint32_t batch;    /* images of a step, 1 or more; the last step of an epoch takes what is left */
    float rate;        /* learning rate, finite, above 0 */
    float momentum;    /* of the gradients, 0 <= momentum < 1 */
    float bn_momentum; /* running = (1 - m) * running + m * batch, 0 < m <= 1; 0 stands for 0.1 */
    uint64_t seed;     /* of weights, order of images, stochastic rounding */
    uint64_t epochs;   /* passes over the data set, 1 or more */
    uint64_t steps;    /* ends after this many steps in all (resumed ones included); 0: with the last epoch */
    const cnnvp_dataset *dataset;
    const cnnvp_dataset *evaluation; /* forward only, at the end of each epoch; NULL: none */
    enum cnnvp_train_errors errors;  /* PLAIN: as `rounding` says */
    const char *const *shapes;       /* as in struct cnnvp_network_options; without them the data set settles sizes */
    size_t shape_count;
    const char *guest; /* as in struct cnnvp_network_options; has to live as long as the trainer */
    enum cnnvp_train_spill spill;
    /* NULL or "on": the images of each epoch in an order drawn from `seed`. "off": as they lie in the data set. Else a
     * text file with their numbers, from 0 on, between white space: of one epoch, for each of them, or of all. */
    const char *shuffle;
};

/* The members that options of "train" have (cnnvp_options_new), without the data sets; as cnnvp_network_options_of. */
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
 * Conv, BatchNormalization, Relu, MaxPool (2x2, stride 2), Flatten or Reshape, Gemm or MatMul, a Softmax at the end or
 * none; the error names the node that is none of these. Free with cnnvp_trainer_free.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_new(const char *onnx_file, const cnnvp_config *config,
                                              const struct cnnvp_trainer_options *options, cnnvp_trainer **trainer,
                                              struct cnnvp_error *error);
void cnnvp_trainer_free(cnnvp_trainer *trainer);

/* What the plan comes to. */
struct cnnvp_trainer_info {
    uint64_t steps_per_epoch;
    uint64_t steps;         /* number of the last step + 1: where training ends */
    uint64_t parameters;    /* learned values */
    uint64_t memory_bytes;  /* of off-chip memory in use */
    uint64_t macs_forward;  /* multiply-accumulates of one image */
    uint64_t macs_backward; /* errors */
    uint64_t macs_gradient;
};
void cnnvp_trainer_info(const cnnvp_trainer *trainer, struct cnnvp_trainer_info *info);

/* Output of the guest software; give it to cnnvp_platform_new with the trainer as context. Passes to standard output
 * what is meant for people. */
void cnnvp_trainer_console(void *trainer, const void *data, size_t size);

/* Writes image, weights, data sets and guest program into the platform's memory and describes the work to its
 * statistics. After cnnvp_trainer_set_state training begins where that state was taken. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_load(cnnvp_trainer *trainer, cnnvp_platform *platform,
                                               struct cnnvp_error *error);

enum cnnvp_train_event {
    CNNVP_TRAIN_STEP = 0,       /* a step is complete, weights included */
    CNNVP_TRAIN_EVALUATION = 1, /* the evaluation after an epoch's last step is complete */
    CNNVP_TRAIN_END = 2         /* the guest software has ended; no other member but time_ps counts */
};

struct cnnvp_train_record {
    enum cnnvp_train_event event;
    uint64_t step;      /* from 0; of an evaluation: the last step before it */
    uint64_t epoch;     /* from 0 */
    uint64_t images;    /* of the step or evaluation */
    uint64_t correct;   /* largest output is the label's */
    double loss;        /* mean cross-entropy of these images; 0 in timing-only */
    uint64_t nonfinite; /* outputs of the network that were not finite */
    uint64_t time_ps;   /* simulated, when it was complete */
};

/*
 * Runs the platform until the next event. BAD_INPUT and FAILED as cnnvp_platform_run, whose result says more; DONE with
 * an event otherwise. An interrupted run (CNNVP_END_INTERRUPTED) may be continued by another call.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_step(cnnvp_trainer *trainer, cnnvp_platform *platform,
                                               struct cnnvp_train_record *record, struct cnnvp_run_result *result,
                                               struct cnnvp_error *error);

/*
 * All that training goes on from: weights, momentum, running statistics, number of the next step. The same bytes for
 * the same training, however often it was interrupted. Bound to network and options: another trainer refuses it.
 * Between steps and after the end. Free with free().
 */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_get_state(const cnnvp_trainer *trainer, cnnvp_platform *platform,
                                                    void **state, size_t *size, struct cnnvp_error *error);
/* Before cnnvp_trainer_load. Copies. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_set_state(cnnvp_trainer *trainer, const void *state, size_t size,
                                                    struct cnnvp_error *error);

/* Writes the network with what was learned as ONNX; the file appears when complete. Running sigmas of range batch norm
 * become the equivalent variance. Between steps and after the end. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_export(cnnvp_trainer *trainer, cnnvp_platform *platform, const char *file,
                                                 struct cnnvp_error *error);

/* ---- for tests and for looking inside ---- */

enum cnnvp_train_tensor {
    CNNVP_TRAIN_WEIGHT = 0, /* kernels or matrix, as the network has them */
    CNNVP_TRAIN_BIAS = 1,
    CNNVP_TRAIN_GAMMA = 2,
    CNNVP_TRAIN_BETA = 3,
    CNNVP_TRAIN_MEAN = 4,  /* running */
    CNNVP_TRAIN_SIGMA = 5, /* running */
    CNNVP_TRAIN_WEIGHT_VELOCITY = 6,
    CNNVP_TRAIN_BIAS_VELOCITY = 7,
    CNNVP_TRAIN_GAMMA_VELOCITY = 8,
    CNNVP_TRAIN_BETA_VELOCITY = 9,
    CNNVP_TRAIN_ACTIVATION = 10, /* what entered the layer in the last step, images of the batch */
    CNNVP_TRAIN_SUMS = 11,       /* what its convolution or matrix gave, before bias and batch norm */
    CNNVP_TRAIN_ERROR = 12       /* loss by SUMS, as quantised */
};

/* Layers that learn, in the order of the network. */
size_t cnnvp_trainer_layers(const cnnvp_trainer *trainer);
/* Name of the node; NULL beyond the last. */
const char *cnnvp_trainer_layer_name(const cnnvp_trainer *trainer, size_t layer);

/* A tensor of a layer in the platform's memory as float, dense, in the network's order. BAD_INPUT if the layer has none
 * such. Free with cnnvp_array_clear. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_tensor(const cnnvp_trainer *trainer, cnnvp_platform *platform, size_t layer,
                                                 enum cnnvp_train_tensor tensor, struct cnnvp_array *values,
                                                 struct cnnvp_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
