/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE arrays as the compiler sees them. All take the same instructions (conv, pool, matmul); what differs is how tiles
 * must be cut so that buffer sizes change no compute cycle, roughly how long the array takes, and whether one
 * instruction needs room for partial sums. A new engine is one entry of this table (engine.c) and one file beside
 * engine_nfu.c.
 *
 * An engine is recognised by the parameters that shape it, not by the name of its model: somebody's own array with
 * rows and cols is compiled for as the NFU is.
 */
#ifndef CNNVP_COMPILER_ENGINE_H
#define CNNVP_COMPILER_ENGINE_H

#include "compiler.h"
#include "../image/network_image.h"

#define CNNVP_ENGINE_NUMBERS 7

/* Buffers that an array is connected to. */
enum cnnvp_engine_port { CNNVP_ENGINE_INPUT, CNNVP_ENGINE_WEIGHT, CNNVP_ENGINE_OUTPUT, CNNVP_ENGINE_PORTS };

/* An array as configured. */
struct cnnvp_engine {
    const struct cnnvp_engine_kind *kind;
    uint32_t number[CNNVP_ENGINE_NUMBERS]; /* the kind's parameters in its order, then what its `more` has read */
    uint32_t width[CNNVP_ENGINE_PORTS];    /* words that a buffer delivers or takes in a cycle; 0: as many as wanted */
    uint32_t window_width;                 /* the same of the input buffer for windows, whose rows lie in banks */
};

/* Edges of tiles are multiples of these, or the rest. */
struct cnnvp_engine_edges {
    uint32_t rows; /* of results */
    uint32_t cols;
    uint32_t in;   /* channels, or inputs of a fully connected layer */
    uint32_t out;  /* channels, or outputs */
    uint32_t side; /* of a pooling window's parts, rows and columns: what the array takes at once */
};

/* What one conv, pool or matmul instruction calculates. */
struct cnnvp_engine_slice {
    uint32_t rows; /* of results */
    uint32_t columns;
    uint32_t in;
    uint32_t out;
    int first; /* of its results' input slices */
    int last;
};

/* What an instruction takes: its cycles, and of each buffer so many words while so many cycles of it go by. */
struct cnnvp_engine_work {
    uint64_t cycles;
    struct {
        uint64_t words, cycles;
    } port[CNNVP_ENGINE_PORTS];
};

struct cnnvp_engine_kind {
    enum cnnvp_image_engine image;
    const char *const *parameters; /* of pe_array, NULL behind the last; all must be there */
    /* Reads further parameters, which may be missing; may be NULL. */
    void (*more)(const cnnvp_config *config, struct cnnvp_engine *engine);
    /* Multipliers, for the utilization. */
    uint64_t (*pes)(const struct cnnvp_engine *engine);
    /* `least`: where tiles with the wanted edges do not fit, the edges that compute cycles depend on. */
    struct cnnvp_engine_edges (*edges)(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                       int least);
    /* Of one instruction, by its model's closed forms. */
    struct cnnvp_engine_work (*work)(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                                     const struct cnnvp_engine_slice *slice);
    /* 1 if an instruction of the layer, cut as it is, keeps its partial sums in the output buffer while it runs. */
    int (*keeps_sums)(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer);
};

extern const struct cnnvp_engine_kind cnnvp_engine_nfu;
extern const struct cnnvp_engine_kind cnnvp_engine_window;

/* The engine of a resolved configuration's pe_array. */
CNNVP_MUST_USE cnnvp_result cnnvp_engine_read(const cnnvp_config *config, struct cnnvp_engine *engine,
                                              struct cnnvp_error *error);

/* 16-bit words that cross the buffer's own port in a cycle; 0: it says nothing of it, so as many as wanted. */
uint32_t cnnvp_engine_width(const cnnvp_config *config, enum cnnvp_engine_port port);

/* Cycles of one instruction, stalls at the buffers' ports included. */
uint64_t cnnvp_engine_cycles(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                             const struct cnnvp_engine_slice *slice);

/* Inputs of a layer as slices count them: channels, or words of a fully connected layer. */
uint32_t cnnvp_engine_inputs(const struct cnnvp_image_layer *layer);

static inline uint64_t cnnvp_divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1u) / b;
}

#endif
