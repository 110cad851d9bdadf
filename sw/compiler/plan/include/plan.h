/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiling: chooses group_out, tile_h, tile_w, tile_in and tile_out of a layer (layer.h) so that what the guest
 * brings on chip fits into one half of each buffer.
 *
 * What a unit takes for a command, how its tiles are to be cut and what transfers take is asked of the units
 * (cost_query.h). From that follows a bound for each way to cut a layer: the longest of calculation, transfers and the
 * core's work. The one with the best bound is taken, or by another objective the one with the least energy, product of
 * both, or traffic; with --tune the best few are tried on the platform
 * (network_tune.c).
 */
#ifndef CNNVP_COMPILER_PLAN_H
#define CNNVP_COMPILER_PLAN_H

#include "binary/binary_place.h"
#include "binary/layer_weights.h"
#include "cnnvp_network.h"
#include "compiler.h"

/* Picojoules that differ from way to way to cut a layer; what all ways have in common is left out. */
struct cnnvp_plan_energy {
    double read_byte, write_byte;                /* of bursts off chip, without activations of rows */
    double input_word, weight_word, output_word; /* that a transfer brings into or takes out of a buffer */
    double partial_word;                         /* of sums that are kept and read back */
    double mac;                                  /* that is done again */
    double ps;                                   /* of time */
};

struct cnnvp_plan_limits {
    uint64_t input_bytes; /* of one half */
    uint64_t weight_bytes;
    uint64_t output_bytes;
    uint64_t scratchpad_bytes; /* of one half, where they are its regions; 0: each is a buffer */
    uint64_t joint_bytes;      /* the same where each layer takes of it what it needs; 0: they are of these sizes */
    uint32_t sum_bits;         /* of an array that adds up what normalisation needs; 0: none does */
    uint32_t input_halves;
    uint32_t weight_halves;
    uint32_t output_halves;
    uint8_t sum_bytes[256];            /* of the slot of a partial sum that an instruction keeps, by its opcode */
    cnnvp_units *units;                /* of the platform */
    struct cnnvp_command_costs *costs; /* that they have said */
    uint64_t memory_base;              /* where transfers are asked about */
    uint32_t core_ps;                  /* a cycle of the core, for each accelerator that it drives */
    uint32_t batch;                    /* images that go through a layer together, 1 or more */
    uint32_t burst_bytes;              /* of off-chip memory */
    enum cnnvp_plan_objective objective;
    struct cnnvp_plan_energy energy;
    int weights_stay; /* 1: weight tiles are in the weight buffer already */
    struct cnnvp_plan_weights {
        double longer, units, core;
    } weights;       /* of a layer's price in time: the longer of the units' and the core's work, and each by itself */
    double queue_ps; /* of the core's work, whose instructions the element's queue holds */
};

/* Cycles that the core takes for a calculation or a store with its descriptor, for a load, its request included, for a
 * step besides, and for a layer: the guest software's loops, within a tenth over the runs of 12 networks on 3 presets.
 * They weigh in bounds; what they take is seen in trials. */
#define CNNVP_PLAN_COMMAND_CYCLES 105u
#define CNNVP_PLAN_LOAD_CYCLES 140u
#define CNNVP_PLAN_STEP_CYCLES 600u
#define CNNVP_PLAN_LAYER_CYCLES 100u

/* And for a word that it pushes, whatever that is of: 27 to 74 in 86 runs of 10 networks on 3 presets. */
#define CNNVP_PLAN_WORD_CYCLES 40u

/* Of equal bounds the one with less work is taken: all of it counts besides, by this part, which is fitted to the times
 * of nine networks. */
#define CNNVP_PLAN_WORK_PART 8u

/* Bytes of one half that the layer's tiles need at most, of all images of a step. `unit_bytes`: result_bytes of its
 * struct cnnvp_tiling. */
struct cnnvp_plan_use {
    uint64_t input_bytes;
    uint64_t weight_bytes;
    uint64_t output_bytes;
};

/* Bytes of a half that begin regions of a scratchpad. */
#define CNNVP_PLAN_REGION_BYTES 64u

static inline uint64_t cnnvp_plan_region(uint64_t bytes)
{
    return (bytes + CNNVP_PLAN_REGION_BYTES - 1u) / CNNVP_PLAN_REGION_BYTES * CNNVP_PLAN_REGION_BYTES;
}

/* Where a layer takes what it needs of a scratchpad: bytes of a half. */
static inline uint64_t cnnvp_plan_joint_bytes(const struct cnnvp_plan_use *use)
{
    return cnnvp_plan_region(use->input_bytes) + cnnvp_plan_region(use->weight_bytes) + use->output_bytes;
}

/* 1: they fit. */
int cnnvp_plan_fits(const struct cnnvp_plan_use *use, const struct cnnvp_plan_limits *limits);

/* The parts of a scratchpad that are regions where it is divided once for a run. */
#define CNNVP_PLAN_INPUT_PART 4u
#define CNNVP_PLAN_WEIGHT_PART 2u
#define CNNVP_PLAN_OUTPUT_PART 4u

/* What is to be set so that a half of a buffer has so many bytes. */
struct cnnvp_plan_size {
    const char *instance;
    uint64_t bytes; /* its size */
};
enum cnnvp_plan_buffer { CNNVP_PLAN_INPUT, CNNVP_PLAN_WEIGHTS, CNNVP_PLAN_OUTPUT };
struct cnnvp_plan_size cnnvp_plan_size(const struct cnnvp_plan_limits *limits, enum cnnvp_plan_buffer buffer,
                                       uint64_t half_bytes);

/* Needs op, shapes, window, bias, posts and the tiles of the layer. Of tensors that are on chip no tiles are loaded. */
struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_layer *layer, uint32_t unit_bytes);

/* What a plan says of the unit of a convolution or pooling: nothing, or 1 + that of layer.h. */
#define CNNVP_PLAN_ANY_UNIT 0u

/* A layer's tiles, and the order of its images. */
struct cnnvp_plan_cut {
    uint32_t unit; /* what its tiles are for; cnnvp_plan_cut_layer leaves the layer's own */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
    uint32_t tile_images, images_outer, image_bytes;
    uint32_t tile_kx, tile_ky;
};
void cnnvp_plan_cut_layer(struct cnnvp_layer *layer, struct cnnvp_plan_cut cut);
struct cnnvp_plan_cut cnnvp_plan_cut_of(const struct cnnvp_layer *layer);

/* How the layer is cut. */
struct cnnvp_plan_counts {
    uint32_t groups;
    uint32_t tiles; /* spatial, of a group */
    uint32_t input_slices;
    uint32_t output_slices; /* of a full group */
    uint32_t weight_tiles;  /* of the layer */
};
struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_layer *layer);

int cnnvp_plan_has_weights(const struct cnnvp_layer *layer);
/* Input and output channels are one: what a group gives depends on as many input channels. */
int cnnvp_plan_is_channelwise(const struct cnnvp_layer *layer);
/* Of the input, for this many of the results. */
uint64_t cnnvp_plan_input_rows(const struct cnnvp_layer *layer, uint32_t rows);
uint64_t cnnvp_plan_input_columns(const struct cnnvp_layer *layer, uint32_t columns);
/* 16-bit words of a slice's weights, biases and table included; two weights of 8 bits are one. */
uint64_t cnnvp_plan_weight_tile_words(const struct cnnvp_layer *layer, uint32_t in, uint32_t out, int last);

/* Words of all its weights, biases and table, however it is cut, each once. */
uint64_t cnnvp_plan_weight_words(const struct cnnvp_layer *layer);

/* Weight tiles of a layer whose tiles are set, and the bytes of one of them. */
uint32_t cnnvp_plan_weight_tile_count(const struct cnnvp_layer *layer);
uint64_t cnnvp_plan_weight_tile_bytes(const struct cnnvp_layer *layer, uint32_t index);

/* Words of the piecewise-linear table, 0 if there is none. */
uint32_t cnnvp_plan_table_words(const struct cnnvp_layer *layer);

/* What work takes, by bounds or by trial. */
struct cnnvp_plan_taken {
    double ps;
    double pj;
    double bytes; /* of bursts */
};

static inline void cnnvp_plan_add(struct cnnvp_plan_taken *to, const struct cnnvp_plan_taken *taken)
{
    to->ps += taken->ps;
    to->pj += taken->pj;
    to->bytes += taken->bytes;
}

/* The objective's value: the lower, the better. */
static inline double cnnvp_plan_score(enum cnnvp_plan_objective objective, const struct cnnvp_plan_taken *taken)
{
    return objective == CNNVP_OBJECTIVE_TIME     ? taken->ps
           : objective == CNNVP_OBJECTIVE_ENERGY ? taken->pj
           : objective == CNNVP_OBJECTIVE_EDP    ? taken->ps * taken->pj
                                                 : taken->bytes;
}

/* The best ways to cut a layer by the objective, the best one first. */
#define CNNVP_PLAN_FINALISTS 12u
struct cnnvp_plan_finalist {
    struct cnnvp_plan_cut cut;
    struct cnnvp_plan_taken taken;          /* ps: the bound, and a little of all work */
    double score;                           /* what it is chosen by: lower is better */
    uint64_t compute, vector, memory, core; /* the work of each, in ps, all layer long */
    uint64_t units;                         /* the bound of all but the core */
};
struct cnnvp_plan_finalists {
    size_t count;
    struct cnnvp_plan_finalist all[CNNVP_PLAN_FINALISTS];
};

/* Which of a layer's tilings may be the best. Of a batch, whose images go together to load less, those are that take
 * the fewest bytes of bursts, and hardly longer than the fastest. The error says what the unit says of the layer. That
 * none fits is no error: there are no finalists then, all[0].cut is the smallest one, and `smallest` what it takes. */
CNNVP_MUST_USE cnnvp_result
cnnvp_plan_layer(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                 struct cnnvp_plan_finalists *finalists, struct cnnvp_plan_use *smallest, struct cnnvp_error *error);

/* Whether the tiles that are set can be: they are parts of the layer, fit, and its unit takes them. BAD_INPUT, from
 * `place` in a file (may be NULL): what is wrong, and what would be right. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_check(const struct cnnvp_layer *layer, const char *name, const char *place,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* All calculations of a layer whose tiles are set, one after the other, in ps. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_compute(const struct cnnvp_layer *layer, const char *name,
                                               const struct cnnvp_plan_limits *limits, uint64_t *ps,
                                               struct cnnvp_error *error);

/* Nothing that a plan depends on differs. */
int cnnvp_plan_are_alike(const struct cnnvp_layer *one, const struct cnnvp_layer *other);

/* One tile for the whole layer, for layers that stay on chip; fully connected weight tiles of as many outputs as the
 * array's edge. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_whole(struct cnnvp_layer *layer, const char *name,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* ---- what the units say of a layer as a whole ---- */

/* Sets the layer's `unit`. Of convolutions and pooling it is the PE array or the vector unit: whichever takes the
 * layer, and of both the one whose best plan has the better score; or `wanted`, by what the plan says at `place`. One
 * that is like one of the `before` layers that lie before it, none of whose units was wanted, gets the same. The error
 * has the layer and the units' own words. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_choose_unit(struct cnnvp_layer *layer, const char *name,
                                                   const struct cnnvp_plan_limits *limits, uint32_t wanted,
                                                   size_t before, const char *place, struct cnnvp_error *error);

/* Before that: makes it one whose results are scaled, where the PE array has a write-out for it. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_choose_scale(struct cnnvp_layer *layer, const char *name,
                                                    const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* The instance that calculates the layer once its unit is chosen; of a layer that only copies, the one that moves. */
const char *cnnvp_plan_unit(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits);

/* Whether the unit of additions scales quantised operands. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_scales_operands(const struct cnnvp_plan_limits *limits, int *scales,
                                                       struct cnnvp_error *error);

/* Whether the PE array takes words of 8 bits, or of 16, and whether its write-out scales them. FAILED: it does not take
 * them, for the reason in the error. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_takes(const struct cnnvp_plan_limits *limits, int narrow, int *scales,
                                             struct cnnvp_error *error);

/* How the unit that calculates the layer wants its tiles cut. The error names the layer. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_tiling(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits, struct cnnvp_tiling *tiling,
                                              struct cnnvp_error *error);

/* Questions about one layer, and their answers so far. */
struct cnnvp_cost_query;
/* The layer's tiles may change, also tile_kx and tile_ky. NULL: no memory. */
struct cnnvp_cost_query *cnnvp_cost_query_new(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits);
void cnnvp_cost_query_free(struct cnnvp_cost_query *query);
/* A load or a store, among others: of the memory, in ps. */
struct cnnvp_plan_moved {
    uint64_t ps;
    uint64_t bytes; /* of bursts */
    uint64_t words; /* of 16 bits */
};
/* A box of a tensor, whose pieces begin and end anywhere in a burst; this many bytes in one piece. */
struct cnnvp_plan_moved cnnvp_plan_move_box(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                            uint32_t channels, uint32_t rows, uint32_t columns);
/* The same without its ps: the units are not asked. */
struct cnnvp_plan_moved cnnvp_plan_box(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                       uint32_t channels, uint32_t rows, uint32_t columns);
struct cnnvp_plan_moved cnnvp_plan_move_line(struct cnnvp_cost_query *query, uint64_t bytes);
/* Bytes that count as much as a ps where traffic is to be little: a part of what the memory moves meanwhile. */
double cnnvp_plan_bytes_a_ps(struct cnnvp_cost_query *query);
/* BAD_INPUT, and a message: an answer was no answer. */
CNNVP_MUST_USE cnnvp_result cnnvp_cost_query_result(const struct cnnvp_cost_query *query, struct cnnvp_error *error);

/* ---- the accelerator that networks are compiled for, read from a resolved configuration ---- */

struct cnnvp_target_accelerator {
    uint32_t element;     /* registers of the instruction element */
    uint32_t element_irq; /* its line at the interrupt controller */
    uint32_t scheduler;   /* registers of the depth-first scheduler, 0: there is none */
    uint32_t scheduler_irq;
    uint32_t scratchpad; /* registers of the one memory on chip, 0: there are buffers */
};

struct cnnvp_target {
    struct cnnvp_plan_limits limits;
    uint32_t acc_bits;    /* of sums: the PE array's or the fully connected unit's, whichever are narrower */
    uint32_t cycle_ps;    /* of the PE array */
    uint64_t memory_base; /* off-chip memory's window on the bus */
    uint64_t memory_size;
    uint64_t moved; /* how far behind CNNVP_BINARY_ADDRESS the binary begins, for a core that is not the platform's */
    uint32_t plic;  /* registers of the interrupt controller */
    uint32_t clint; /* and of the core's own interrupts, 0: there are none */
    uint32_t accelerator_count;
    struct cnnvp_target_accelerator accelerators[CNNVP_ACCELERATORS]; /* alike but for this */
};

/* To be cleared, whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_read(const cnnvp_config *config, struct cnnvp_target *target,
                                              struct cnnvp_error *error);
void cnnvp_target_clear(struct cnnvp_target *target);

/* Static power of all units. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_power(const cnnvp_config *config, double *pj_a_ps, struct cnnvp_error *error);

/* Whose guest software runs: not all of it needs the same connections (wiring.def). */
enum cnnvp_target_software { CNNVP_TARGET_INFERENCE, CNNVP_TARGET_TRAINING };

/* The accelerators that this software drives: that of `instruction`, and for inference those of further instances of
 * its kind whose names are longer by a suffix, which all their units have. Texts belong to the configuration. */
struct cnnvp_accelerators {
    uint32_t count;
    const char *suffixes[CNNVP_ACCELERATORS]; /* that of the first one is "" */
};
/* BAD_INPUT: they are too many. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_accelerators(const cnnvp_config *config, enum cnnvp_target_software software,
                                                      struct cnnvp_accelerators *accelerators,
                                                      struct cnnvp_error *error);
/* "unit" or "unit.port" of the first accelerator, of the one with this suffix. */
#define CNNVP_TARGET_NAME 160u
void cnnvp_target_name(const char *name, const char *suffix, char own[CNNVP_TARGET_NAME]);
/* 1: each accelerator has a unit of this name. `length`: of the name in `text`. */
int cnnvp_target_is_own(const char *text, size_t length);
/* BAD_INPUT: they have not the same units with the same parameters, so that one plan is not for all. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_alike(
    const cnnvp_config *config, const struct cnnvp_accelerators *accelerators, struct cnnvp_error *error);
/* BAD_INPUT: a unit that this software needs was taken away. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_complete(const cnnvp_config *config, enum cnnvp_target_software software,
                                                  struct cnnvp_error *error);
/* BAD_INPUT: or connections or parameters are not those that it takes for granted. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_wiring(const cnnvp_config *config, enum cnnvp_target_software software,
                                                struct cnnvp_error *error);
/* BAD_INPUT: it would leave units alone that do not say `idle: true`. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_driven(const cnnvp_config *config, enum cnnvp_target_software software,
                                                struct cnnvp_error *error);

/* Its parts. Half of a ping-pong buffer, all of another one; memory, element and interrupt controller. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_buffer(const cnnvp_config *config, const char *instance, uint64_t *half,
                                                uint32_t *halves, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_target_map(const cnnvp_config *config, struct cnnvp_target *target,
                                             struct cnnvp_error *error);

#endif
