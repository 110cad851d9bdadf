/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner: chooses group_out, tile_h, tile_w, tile_in and tile_out of a layer (layer.h) so that its tiles fit into
 * one half of each buffer.
 *
 * The planner asks the platform's units for the time of commands and transfers and for their preferred tile sizes
 * (cost_query.h). From the answers it computes a bound for each way to cut a layer: the longest of calculation,
 * transfers and the core's work. It takes the way with the best bound or, by other objectives, with the least energy,
 * energy-delay product, or traffic. With --tune the best few ways are tried on the platform (network_tune.c).
 */
#pragma once

#include "binary/binary_place.h"
#include "binary/layer_weights.h"
#include "cnnvp_network.h"
#include "compiler.h"

/* Prices of energy. */
struct cnnvp_plan_energy {
    double read_byte, write_byte;                /* pJ a byte of off-chip bursts, without row activations */
    double input_word, weight_word, output_word; /* pJ to transfer one word into or out of the buffer */
    double partial_word;                         /* pJ to write and read back one word of a partial sum */
    double mac, int8_mac;                        /* pJ of a MAC */
    double ps;                                   /* pJ of static power a ps */
};

struct cnnvp_plan_limits {
    uint64_t input_bytes; /* one half of the input buffer; weights and results likewise */
    uint64_t weight_bytes;
    uint64_t output_bytes;
    uint64_t scratchpad_bytes; /* one half of the scratchpad whose regions these buffers are; 0: separate buffers */
    uint64_t joint_bytes; /* the same if each layer divides the half by its own needs; 0: regions have fixed sizes */
    uint32_t sum_bits;    /* accumulator width of an array that adds up sums for normalisation; 0: it does not */
    uint32_t input_halves;
    uint32_t weight_halves;
    uint32_t output_halves;
    uint8_t sum_bytes[256];            /* bytes of a partial sum in the output buffer, by opcode */
    uint64_t cycle_ps;                 /* shortest clock period of the units that add up products */
    cnnvp_units *units;                /* of the platform */
    struct cnnvp_command_costs *costs; /* answers of the units so far */
    uint64_t memory_base;              /* address that cost queries of transfers count from */
    uint32_t core_ps;                  /* ps of a core cycle, times the number of accelerators that the core drives */
    uint32_t batch;                    /* images that go through a layer together, 1 or more */
    uint32_t burst_bytes;              /* of off-chip memory */
    enum cnnvp_plan_objective objective;
    double power; /* mean power of the network in pJ per ps, by which the objective edp weighs time; 0: not known */
    struct cnnvp_plan_energy energy;
    int weights_stay; /* 1: weight tiles are in the weight buffer already */
    struct cnnvp_plan_weights {
        double longer, units, core;
    } weights;       /* factors in a layer's price: of the longer of the units' and the core's time, and of each */
    double queue_ps; /* core time to push as many instructions as the element's queue holds */
};

/* Core cycles of the guest software: for a calculation or a store with its descriptor, for a load with its request, for
 * the rest of a step, and for a layer. Of 75 runs of 25 networks on 3 presets, 9 in 10 are within an eighth. Only
 * bounds use them: trials measure the real software. */
#define CNNVP_PLAN_COMMAND_CYCLES 100u
#define CNNVP_PLAN_LOAD_CYCLES 125u
#define CNNVP_PLAN_STEP_CYCLES 400u
#define CNNVP_PLAN_LAYER_CYCLES 100u

/* Core cycles for each word that the core pushes into the queue: 23 to 45 in the same runs. */
#define CNNVP_PLAN_WORD_CYCLES 35u

/* The sum of all work, divided by this, is added to each bound: of equal bounds the one with less work is better. The
 * divisor is fitted to the times of nine networks. */
#define CNNVP_PLAN_WORK_PART 8u

/* The most bytes of one half that the layer's tiles need, for all images of a step. */
struct cnnvp_plan_use {
    uint64_t input_bytes;
    uint64_t weight_bytes;
    uint64_t output_bytes;
};

/* Regions of a scratchpad begin at multiples of this. */
#define CNNVP_PLAN_REGION_BYTES 64u

static inline uint64_t cnnvp_plan_region(uint64_t bytes)
{
    return (bytes + CNNVP_PLAN_REGION_BYTES - 1u) / CNNVP_PLAN_REGION_BYTES * CNNVP_PLAN_REGION_BYTES;
}

/* Bytes of a scratchpad's half if the layer divides it by its own needs. */
static inline uint64_t cnnvp_plan_joint_bytes(const struct cnnvp_plan_use *use)
{
    return cnnvp_plan_region(use->input_bytes) + cnnvp_plan_region(use->weight_bytes) + use->output_bytes;
}

/* 1: they fit. */
int cnnvp_plan_fits(const struct cnnvp_plan_use *use, const struct cnnvp_plan_limits *limits);

/* If a scratchpad is divided once for a run, its regions are these parts of a half: a 4th, a 2nd and a 4th. */
#define CNNVP_PLAN_INPUT_PART 4u
#define CNNVP_PLAN_WEIGHT_PART 2u
#define CNNVP_PLAN_OUTPUT_PART 4u

/* The setting that gives a half of a buffer at least `half_bytes` bytes. */
struct cnnvp_plan_size {
    const char *instance;
    uint64_t bytes; /* its parameter `size`: a power of two for each half */
};
enum cnnvp_plan_buffer { CNNVP_PLAN_INPUT, CNNVP_PLAN_WEIGHTS, CNNVP_PLAN_OUTPUT };
struct cnnvp_plan_size cnnvp_plan_size(const struct cnnvp_plan_limits *limits, enum cnnvp_plan_buffer buffer,
                                       uint64_t half_bytes);

/* Needs op, shapes, window, bias, posts and the tiles of the layer. Tensors that are on chip need no bytes for tiles.
 * `unit_bytes`: result_bytes of the layer's struct cnnvp_tiling. */
struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_layer *layer, uint32_t unit_bytes);

/* The unit that a plan chooses for a convolution or pooling: this, or 1 + enum cnnvp_layer_unit. */
#define CNNVP_PLAN_ANY_UNIT 0u
/* Who does the function after a convolution. */
enum cnnvp_plan_function { CNNVP_PLAN_ANY_FUNCTION, CNNVP_PLAN_VECTOR_FUNCTION, CNNVP_PLAN_WRITE_OUT_FUNCTION };

/* How a layer is cut into tiles, and the order of its images. */
struct cnnvp_plan_cut {
    /* What the tiles are made for; cnnvp_plan_cut_layer does not set these. */
    uint32_t unit;
    uint32_t function; /* enum cnnvp_plan_function */
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
    uint32_t tile_images, images_outer, image_bytes;
    uint32_t tile_kx, tile_ky;
};
void cnnvp_plan_cut_layer(struct cnnvp_layer *layer, struct cnnvp_plan_cut cut);
struct cnnvp_plan_cut cnnvp_plan_cut_of(const struct cnnvp_layer *layer);

/* Into how many parts a layer is cut. */
struct cnnvp_plan_counts {
    uint32_t groups;
    uint32_t tiles; /* spatial tiles of one group */
    uint32_t input_slices;
    uint32_t output_slices; /* of a full group */
    uint32_t weight_tiles;  /* of the whole layer */
};
struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_layer *layer);

static inline int cnnvp_plan_has_weights(const struct cnnvp_layer *layer)
{
    return layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC;
}

/* 1: output channel c depends on input channel c only, so a group reads as many channels as it writes. */
static inline int cnnvp_plan_is_channelwise(const struct cnnvp_layer *layer)
{
    return !cnnvp_plan_has_weights(layer) || (layer->op == CNNVP_OP_CONV && layer->depthwise != 0);
}

/* Input rows or columns that this many rows or columns of results need. */
uint64_t cnnvp_plan_input_rows(const struct cnnvp_layer *layer, uint32_t rows);
uint64_t cnnvp_plan_input_columns(const struct cnnvp_layer *layer, uint32_t columns);
/* 1: these rows and columns of results can be one tile. A pool says which rows and columns of its input hold data in 16
 * bits each. */
int cnnvp_plan_has_valid_range(const struct cnnvp_layer *layer, uint32_t rows, uint32_t columns);
#define CNNVP_PLAN_NO_VALID_RANGE "a tile of a pool has at most 65535 rows and columns of its input"
/* 16-bit words of the weight tile of `in` inputs and `out` outputs; two 8-bit weights are one word. `last`: of the last
 * input slice, whose weight tile has biases and table too. */
uint64_t cnnvp_plan_weight_tile_words(const struct cnnvp_layer *layer, uint32_t in, uint32_t out, int last);

/* 16-bit words of all weights, biases and the table of the layer, each counted once. */
uint64_t cnnvp_plan_weight_words(const struct cnnvp_layer *layer);

/* Weight tiles of a layer whose tiles are set, and the bytes of one of them. */
uint32_t cnnvp_plan_weight_tile_count(const struct cnnvp_layer *layer);
uint64_t cnnvp_plan_weight_tile_bytes(const struct cnnvp_layer *layer, uint32_t index);

/* Words of the piecewise-linear table, 0 if there is none. */
uint32_t cnnvp_plan_table_words(const struct cnnvp_layer *layer);
/* Words of the constants that scale the operands of an addition that the convolution's write-out does; 0: none. */
uint32_t cnnvp_plan_operand_words(const struct cnnvp_layer *layer);

/* Energy of the layer's products, also of those with zeros of its padding. */
double cnnvp_plan_macs_pj(const struct cnnvp_layer *layer, const struct cnnvp_plan_energy *energy);

/* Time, energy and traffic of some work, from bounds or from a trial. The energy of a bound is that which depends on
 * how a layer is cut. */
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

#define CNNVP_PLAN_OBJECTIVES (CNNVP_OBJECTIVE_TRAFFIC + 1u)
/* The objective's value; lower is better. */
static inline double cnnvp_plan_score(enum cnnvp_plan_objective objective, const struct cnnvp_plan_taken *taken)
{
    return objective == CNNVP_OBJECTIVE_TIME     ? taken->ps
           : objective == CNNVP_OBJECTIVE_ENERGY ? taken->pj
           : objective == CNNVP_OBJECTIVE_EDP    ? taken->ps * taken->pj
                                                 : taken->bytes;
}

/* The same for a part of a network of this mean power, in pJ per ps: what it adds to the network's score. With the
 * product of its own time and energy, parts with little energy would take too long. 0: the power is not known. */
static inline double cnnvp_plan_part_score(enum cnnvp_plan_objective objective, double power,
                                           const struct cnnvp_plan_taken *taken)
{
    return objective == CNNVP_OBJECTIVE_EDP && power > 0
               ? taken->ps * power + taken->pj
               : cnnvp_plan_score(objective, taken);
}

/* The best ways to cut a layer by the objective, best first. */
#define CNNVP_PLAN_FINALISTS 12u
struct cnnvp_plan_finalist {
    struct cnnvp_plan_cut cut;
    struct cnnvp_plan_taken taken;          /* ps: the bound plus a part of all work (CNNVP_PLAN_WORK_PART) */
    double score;                           /* the value by which ways are compared; lower is better */
    uint64_t compute, vector, memory, core; /* ps of work of each for the whole layer */
    uint64_t units;                         /* ps: the bound without the core */
};
struct cnnvp_plan_finalists {
    size_t count;
    struct cnnvp_plan_finalist all[CNNVP_PLAN_FINALISTS];
};

/* Finds the best ways to cut a layer. If a batch goes through it together and the objective is time, those are the ways
 * with the fewest bytes of bursts among all that are at most slightly slower than the fastest. If the unit refuses the
 * layer, the error has the unit's reason. If no way fits, there is no error: the list is empty, all[0].cut is the
 * smallest way, and *smallest the bytes that it needs. */
CNNVP_MUST_USE cnnvp_result
cnnvp_plan_layer(const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
                 struct cnnvp_plan_finalists *finalists, struct cnnvp_plan_use *smallest, struct cnnvp_error *error);

/* Checks the tiles that are set: they are parts of the layer, they fit, and the unit takes them. BAD_INPUT: the error
 * says what is wrong and what would be right, at `place` in a file (may be NULL). */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_check(const struct cnnvp_layer *layer, const char *name, const char *place,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* 1: the units answer all of this as they did then. If not, the planner knows their answers up to the first other one.
 */
struct cnnvp_asked_list;
int cnnvp_plan_answers_alike(const struct cnnvp_plan_limits *limits, const struct cnnvp_asked_list *asked);

/* Sets the layer's tiles, which a search has found before, and finds their bounds anew. FAILED: they are refused; the
 * error has the reason. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_again(const struct cnnvp_layer *layer, const char *name,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_plan_cut cut,
                                             struct cnnvp_plan_finalist *way, struct cnnvp_error *error);

/* 1: the layers differ in nothing that their plans depend on, so one plan serves both. */
int cnnvp_plan_are_alike(const struct cnnvp_layer *one, const struct cnnvp_layer *other);

/* Makes the whole layer one tile, for layers that stay on chip; a pool that is too long for one, a few. Weight tiles of
 * a fully connected layer have as many outputs as the array calculates at once. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_whole(struct cnnvp_layer *layer, const char *name,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* ---- which unit takes a layer as a whole ---- */

/* Sets the layer's `unit`. A convolution or pooling runs on the PE array or on the vector unit. If both take it, the
 * one whose best plan has the better score is chosen; likewise who does the function after a convolution. `wanted`,
 * from `place` in a plan file, overrides the choice of unit and function; NULL: it has none. The `before` layers that
 * precede this one in its array, none of which has a wanted unit, are looked through first: if one of them is alike,
 * its unit is taken. The error names the layer and has the units' reasons. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_choose_unit(
    struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
    const struct cnnvp_plan_cut *wanted, size_t before, const char *place, struct cnnvp_error *error);

/* Sets who does a convolution's addition, an enum cnnvp_written_out. */
void cnnvp_plan_set_addition(struct cnnvp_layer *layer, uint32_t written_out);
/* For a convolution with an addition: whether its unit's write-out can do that. Sets *written to the layer that does
 * so; its results are the same words. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_write_addition(
    const struct cnnvp_layer *layer, const char *name, const struct cnnvp_plan_limits *limits,
    struct cnnvp_layer *written, int *taken, struct cnnvp_error *error);
/* Called before cnnvp_plan_choose_unit: gives the layer scaled results if the PE array's write-out can scale them. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_choose_scale(struct cnnvp_layer *layer, const char *name,
                                                    const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* The instance that calculates the layer, whose unit is chosen; for a layer that only copies, the DMA. */
const char *cnnvp_plan_unit(const struct cnnvp_layer *layer, const struct cnnvp_plan_limits *limits);

/* Sets *scales: 1 if the unit that adds maps scales quantised operands. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_scales_operands(const struct cnnvp_plan_limits *limits, int *scales,
                                                       struct cnnvp_error *error);

/* Asks whether the PE array takes 8-bit words (`narrow`) or 16-bit words. *scales: 1 if its write-out scales them.
 * FAILED: it does not take them; the error has the reason. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_takes(const struct cnnvp_plan_limits *limits, int narrow, int *scales,
                                             struct cnnvp_error *error);

/* The tile sizes that the layer's unit prefers. The error names the layer. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_tiling(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits, struct cnnvp_tiling *tiling,
                                              struct cnnvp_error *error);

/* Cost questions about one layer, and the answers so far. */
struct cnnvp_cost_query;
/* The layer's tiles, tile_kx and tile_ky included, may change while the query exists. NULL: out of memory. */
struct cnnvp_cost_query *cnnvp_cost_query_new(const struct cnnvp_layer *layer, const char *name,
                                              const struct cnnvp_plan_limits *limits);
void cnnvp_cost_query_free(struct cnnvp_cost_query *query);
/* One load or store among others. */
struct cnnvp_plan_moved {
    uint64_t ps;    /* time of the memory, without the latency of a single transfer */
    uint64_t bytes; /* of bursts */
    uint64_t words; /* of 16 bits */
};
/* A box of a tensor, averaged over all places: its contiguous pieces may begin and end anywhere in a burst. */
struct cnnvp_plan_moved cnnvp_plan_move_box(struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                            uint32_t channels, uint32_t rows, uint32_t columns);
/* The same with ps 0, without asking the units. */
struct cnnvp_plan_moved cnnvp_plan_box(const struct cnnvp_cost_query *query, const struct cnnvp_tensor *tensor,
                                       uint32_t channels, uint32_t rows, uint32_t columns);
/* This many contiguous bytes. */
struct cnnvp_plan_moved cnnvp_plan_move_line(struct cnnvp_cost_query *query, uint64_t bytes);
/* Bytes that a ps is worth by the objective traffic: a part of the bytes that the memory moves in a ps. */
double cnnvp_plan_bytes_a_ps(struct cnnvp_cost_query *query);
/* BAD_INPUT: a unit could not answer or gave an invalid answer; the error says which. */
CNNVP_MUST_USE cnnvp_result cnnvp_cost_query_result(const struct cnnvp_cost_query *query, struct cnnvp_error *error);

/* ---- the accelerator that networks are compiled for, read from a resolved configuration ---- */

struct cnnvp_target_accelerator {
    uint32_t element;     /* registers of the instruction element */
    uint32_t element_irq; /* its line at the interrupt controller */
    uint32_t scheduler;   /* registers of the depth-first scheduler; 0: there is none */
    uint32_t scheduler_irq;
    uint32_t scratchpad; /* registers of the scratchpad; 0: there are separate buffers */
};

struct cnnvp_plan_memory;
struct cnnvp_target {
    struct cnnvp_plan_limits limits;
    struct cnnvp_plan_memory
        *memory;          /* of the network's plan (plan_memory.h); NULL: none. cnnvp_target_read sets NULL */
    uint32_t acc_bits;    /* accumulator width of the PE array or of the fully connected unit, whichever is less */
    uint32_t cycle_ps;    /* clock period of the PE array */
    uint64_t memory_base; /* off-chip memory's window on the bus */
    uint64_t memory_size;
    uint64_t moved; /* offset of the binary from CNNVP_BINARY_ADDRESS; not 0 only for a core outside the platform */
    uint32_t plic;  /* registers of the interrupt controller */
    uint32_t clint; /* registers of the CLINT; 0: it is not used */
    uint32_t accelerator_count;
    struct cnnvp_target_accelerator accelerators[CNNVP_ACCELERATORS]; /* they differ in these addresses only */
};

/* The caller clears the target after a failure, too. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_read(const cnnvp_config *config, struct cnnvp_target *target,
                                              struct cnnvp_error *error);
void cnnvp_target_clear(struct cnnvp_target *target);

/* Static power of all units. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_power(const cnnvp_config *config, double *pj_a_ps, struct cnnvp_error *error);

/* Which guest software runs; the two need different connections (wiring.def). */
enum cnnvp_target_software { CNNVP_TARGET_INFERENCE, CNNVP_TARGET_TRAINING };

/* The accelerators that this software drives. The first one has the element `instruction`. For inference, each other
 * instance of the same kind named `instruction` and a suffix is a further accelerator; the names of all its units have
 * the same suffix. The texts belong to the configuration. */
struct cnnvp_accelerators {
    uint32_t count;
    const char *suffixes[CNNVP_ACCELERATORS]; /* the first one is "" */
};
/* BAD_INPUT: there are too many. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_accelerators(const cnnvp_config *config, enum cnnvp_target_software software,
                                                      struct cnnvp_accelerators *accelerators,
                                                      struct cnnvp_error *error);
/* Turns `name`, "unit" or "unit.port" of the first accelerator, into the name for the accelerator with this suffix. */
#define CNNVP_TARGET_NAME 160u
void cnnvp_target_name(const char *name, const char *suffix, char own[CNNVP_TARGET_NAME]);
/* 1: each accelerator has its own unit of this name. The name is the first `length` characters of `text`. */
int cnnvp_target_is_own(const char *text, size_t length);
/* BAD_INPUT: the accelerators differ in their units or parameters, so one plan cannot serve them all. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_alike(
    const cnnvp_config *config, const struct cnnvp_accelerators *accelerators, struct cnnvp_error *error);
/* BAD_INPUT: the configuration has not been resolved. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_resolved(const cnnvp_config *config, struct cnnvp_error *error);
/* BAD_INPUT: the platform lacks a unit that this software needs. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_complete(const cnnvp_config *config, enum cnnvp_target_software software,
                                                  struct cnnvp_error *error);
/* BAD_INPUT: the same, or connections or parameters differ from those that the software takes for granted. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_wiring(const cnnvp_config *config, enum cnnvp_target_software software,
                                                struct cnnvp_error *error);
/* BAD_INPUT: the software would not use some unit that does not say `idle: true`. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_driven(const cnnvp_config *config, enum cnnvp_target_software software,
                                                struct cnnvp_error *error);

/* Parts of cnnvp_target_read. The bytes of one half of a buffer: a half of a ping-pong buffer, the whole of others. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_buffer(const cnnvp_config *config, const char *instance, uint64_t *half,
                                                uint32_t *halves, struct cnnvp_error *error);
/* The addresses of memory, of the first accelerator's element and scratchpad, and of the interrupt controller. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_map(const cnnvp_config *config, struct cnnvp_target *target,
                                             struct cnnvp_error *error);
