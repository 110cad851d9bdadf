/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PE arrays on fixed point of 16 bits, or of 8, work on, free of any host: one checked command ("tile"), its
 * data and the exact sums that come out, whatever the array's structure. Sums are exact modulo 2^acc_bits, so no order
 * of adding matters: engines that share this file, and the vector unit's vpool and vconv, give the same bits. What a
 * command costs is each engine's own business.
 */
#ifndef CNNVP_FX16_TILE_H
#define CNNVP_FX16_TILE_H

#include "cnnvp_buffer.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results of one command, at most: bounds the scratch memory, 128 MiB of sums. */
#define CNNVP_FX16_MAX_RESULTS (UINT64_C(1) << 24)
/* Words that one operand spans, at most: a buffer half is below 2 GiB, since bit 31 of an address names the half. */
#define CNNVP_FX16_MAX_SPAN (UINT64_C(1) << 30)
/* Cycles of one command, at most: keeps times far from the end of 64 bits. */
#define CNNVP_FX16_MAX_CYCLES (UINT64_C(1) << 40)
/* P of a comparison before the first value: the smallest input. */
#define CNNVP_FX16_MINIMUM INT16_MIN

enum cnnvp_fx16_kind {
    CNNVP_FX16_WINDOW = 0, /* conv, pool, step */
    CNNVP_FX16_MATMUL = 1
};

/* First stage of a PE: what goes to the adder. */
enum cnnvp_fx16_product { CNNVP_FX16_PRODUCT_A = 0, CNNVP_FX16_PRODUCT_KA = 1, CNNVP_FX16_PRODUCT_AA = 2 };

/* The settings of a PE's multiplexers: P = compare ? max{P, A} : (from_k ? K : P) + product. */
struct cnnvp_fx16_operation {
    enum cnnvp_fx16_product product;
    bool from_k;
    bool compare;
};

struct cnnvp_fx16_tile {
    const char *name; /* mnemonic */
    enum cnnvp_fx16_kind kind;
    struct cnnvp_fx16_operation operation;
    bool uses_k;      /* operation reads the weight port */
    bool per_channel; /* output channel c sees input channel c only */
    bool ones;        /* every input reads as 1 */
    bool bias;
    bool partial;    /* 64-bit sums stay in the output buffer */
    bool clipped;    /* positions outside the valid rectangle do not take part */
    bool limited;    /* results lie within low .. high */
    bool scaled;     /* results are scaled: bias_addr has records, not biases */
    uint32_t tabled; /* 1: results go through a table */
    uint32_t update; /* enum cnnvp_update_mode */
    bool of_words;   /* maximises the words at out_addr (cnnvp_update); otherwise sums at acc_addr are updated */
    uint32_t tag;

    /* window: words, or PEs, or taps */
    uint32_t in_row_stride;
    uint32_t in_channel_stride;
    uint32_t in_channels;
    uint32_t out_channels;
    uint32_t out_h;
    uint32_t out_w;
    uint32_t kx, ky;
    uint32_t sx, sy;
    uint32_t dx, dy;
    uint32_t valid_row_first, valid_row_end;
    uint32_t valid_col_first, valid_col_end;
    /* matmul */
    uint32_t inputs;
    uint32_t outputs;

    int32_t shift;      /* at write-out */
    int32_t bias_shift; /* left; negative: right, toward minus infinity */
    uint32_t rounding;
    uint32_t narrow; /* enum cnnvp_narrow: operands and results whose words have 8 bits */
    int32_t zero;    /* added to such results */
    uint32_t seed;
    int32_t low, high;
    int32_t table_shift;

    uint32_t in_addr, weight_addr, bias_addr, table_addr, out_addr, acc_addr; /* bytes in the half */
    uint32_t in_half, weight_half, out_half;
    uint64_t in_span;     /* words from in_addr to the last one used, inclusive */
    uint64_t weight_span; /* the same for weights, 0 where none are used */
    uint64_t bias_span;
    uint64_t table_span; /* 0: no table */
    uint32_t bias_words; /* of an output channel at bias_addr, 0: none */
    uint64_t planes;     /* of results: output channels; matmul: 1 */
    uint64_t plane_words;
    uint64_t plane_stride;

    char refusal[CNNVP_REFUSAL_SIZE];
};

/* Pointers are NULL where data do not matter (timing-only) or are not used. */
struct cnnvp_fx16_data {
    const int16_t *input;
    const int16_t *weights;
    const int16_t *bias; /* or what results are scaled by */
    const int16_t *table;
    int64_t *sums; /* planes * plane_words, exact modulo 2^acc_bits */
};

/* Checks a command and describes it. On CNNVP_E_INVAL `reason` says what would be right; it lasts as long as *tile. */
CNNVP_MUST_USE int cnnvp_fx16_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile,
                                     const char **reason);

/* The same without any check, for a command with the sizes of a whole layer: kind, operation, sizes of a window. */
void cnnvp_fx16_describe(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile);

/* Results are combined with the 64-bit sums at acc_addr. */
static inline bool cnnvp_fx16_finds_sums(const struct cnnvp_fx16_tile *tile)
{
    return tile->update != CNNVP_UPDATE_INITIALISE && !tile->of_words;
}

/* Bytes of a word of the inputs, the weights (biases have 2) or the results. */
static inline uint32_t cnnvp_fx16_bytes(const struct cnnvp_fx16_tile *tile, enum cnnvp_narrow operand)
{
    return (tile->narrow & (uint32_t)operand) != 0 ? 1u : 2u;
}

/* The 16-bit words that so many words of an operand make up: what statistics and energies count. */
static inline uint64_t cnnvp_fx16_words(const struct cnnvp_fx16_tile *tile, enum cnnvp_narrow operand, uint64_t words)
{
    return (words * cnnvp_fx16_bytes(tile, operand) + 1u) / 2u;
}

/* Results that are compared with limits. */
static inline uint64_t cnnvp_fx16_limited_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->limited && !tile->partial ? tile->planes * tile->plane_words : 0;
}

/* Results that are scaled. */
static inline uint64_t cnnvp_fx16_scaled_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->scaled ? tile->planes * tile->plane_words : 0;
}

/* Results that go through a table. */
static inline uint64_t cnnvp_fx16_tabled_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->table_span != 0 ? tile->planes * tile->plane_words : 0;
}

/* Working memory of the fast kernels, grown where a command needs more. What a command has made of its input stays:
 * often the next one computes other output channels of the same map. All zero at first. */
struct cnnvp_fx16_scratch {
    void *memory;
    size_t size;
    int16_t *input;              /* the words that the memory holds in the kernels' order, NULL: none */
    struct cnnvp_fx16_tile tile; /* whose */
};
void cnnvp_fx16_scratch_free(struct cnnvp_fx16_scratch *scratch);

/* Computes data->sums exactly; data->input and data->sums are not NULL. CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_fx16_compute(uint32_t acc_bits, const struct cnnvp_fx16_tile *tile,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_fx16_scratch *scratch);

/* The bias as it enters the adder. */
static inline int64_t cnnvp_fx16_bias(int16_t bias, int32_t left)
{
    if (left >= 0)
        return (int64_t)((uint64_t)bias << (uint32_t)left);
    const int64_t unit = INT64_C(1) << (left > -16 ? -left : 16);
    return bias >= 0 ? bias / unit : (bias - unit + 1) / unit;
}

/* ---- links ---- */

/* Ports of every such engine, and its one track. */
enum cnnvp_fx16_port {
    CNNVP_FX16_PORT_command,
    CNNVP_FX16_PORT_input,
    CNNVP_FX16_PORT_weight,
    CNNVP_FX16_PORT_output,
    CNNVP_FX16_PORTS
};
extern const struct cnnvp_port cnnvp_fx16_ports[CNNVP_FX16_PORTS];
extern const char *const cnnvp_fx16_tracks[1];

struct cnnvp_fx16_engine;

/* Sizes of words that an array takes, in the order of its parameter's choices: 16 bits, 8 bits, each of them. */
enum cnnvp_fx16_precision { CNNVP_FX16_ONLY = 0, CNNVP_FX16_INT8 = 1, CNNVP_FX16_BOTH = 2 };

/* The part of an engine's instance that its links need, its first member. */
struct cnnvp_fx16_unit {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint32_t acc_bits;
    bool timing_only;
    bool clips;                             /* its write-out has limits */
    bool scales;                            /* its write-out scales */
    uint64_t tables;                        /* lanes of its write-out that have a table, 0: none does */
    uint32_t precision;                     /* enum cnnvp_fx16_precision */
    uint32_t rejected_stat;                 /* counts refused commands */
    const struct cnnvp_fx16_engine *engine; /* NULL for those that carry commands out themselves */
    uint32_t opcode;                        /* the one instruction that it takes, 0: all */
    const char *refusal;                    /* what it says of others */
    struct cnnvp_fx16_scratch scratch;
    int64_t *sums;
    uint64_t sums_size;        /* elements */
    int16_t *widened[2];       /* inputs and weights of 8 bits */
    uint64_t widened_words[2]; /* that they have room for */
};

/* `limits` of its tiling. */
static inline uint32_t cnnvp_fx16_limits(const struct cnnvp_fx16_unit *unit)
{
    return unit->tables != 0 ? CNNVP_LIMITS_SCALE_AND_TABLE : unit->scales ? CNNVP_LIMITS_AND_SCALE : unit->clips;
}

/* What crosses a port in a clock, by classes; none: the words come evenly. */
#define CNNVP_FX16_CLASSES 24u

struct cnnvp_fx16_clocks {
    uint32_t count;
    struct cnnvp_buffer_clocks classes[CNNVP_FX16_CLASSES];
};

/* One more class, unless it never comes. */
static inline void cnnvp_fx16_add(struct cnnvp_fx16_clocks *clocks, struct cnnvp_buffer_clocks of)
{
    if (of.times != 0 && clocks->count < CNNVP_FX16_CLASSES)
        clocks->classes[clocks->count++] = of;
}

/* Words that cross each port and the cycles over which they are spread. */
struct cnnvp_fx16_traffic {
    uint64_t input_words, input_cycles;
    uint64_t ones_words, ones_cycles;     /* of the input buffer, read as ones: the bias layer of S000 */
    uint64_t weight_words, weight_cycles; /* biases included, */
    uint64_t bias_words;                  /* which are so many */
    uint64_t output_words, output_cycles;
    uint32_t passes; /* updates of each sum; with more than one they are kept at acc_addr while the command runs */
    struct cnnvp_fx16_clocks input, weight, output;
    enum cnnvp_read_mode input_mode; /* of windows */
    uint32_t flags;                  /* cnnvp_access::flags of reads */
};

/* Cycles by which the buffers' ports lengthen a command. */
struct cnnvp_fx16_stalls {
    uint64_t input;
    uint64_t weight;
    uint64_t output;
};

/* Gives back what the unit's links hold: the callback `fini` of an engine that holds nothing else. */
void cnnvp_fx16_unit_free(void *self);

/* The command that an access at the command port carries; CNNVP_E_ACCESS or CNNVP_E_INVAL where it carries none. */
CNNVP_MUST_USE int cnnvp_fx16_command(const struct cnnvp_access *access, const struct cnnvp_command **command);

/* The banks of the buffer at a port; all 0 where it has none. */
struct cnnvp_buffer_shape cnnvp_fx16_buffer(const struct cnnvp_fx16_unit *unit, enum cnnvp_fx16_port port);

/* Counts and reports a refused command; returns `status`. `reason` may be NULL: then it follows from the status. */
CNNVP_MUST_USE int cnnvp_fx16_refuse(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                     int status, const char *reason);

/* Checks that the results fit, before anything is done, and borrows inputs and weights. data->sums has room for the
 * results, NULL in timing-only. */
CNNVP_MUST_USE int cnnvp_fx16_fetch(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                    const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                    struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls);

/* The same without any count or time, for a command that is stepped: what crosses the ports is known once it has
 * crossed. A refusal is reported by the fetch. */
CNNVP_MUST_USE int cnnvp_fx16_look(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                   const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                   struct cnnvp_fx16_data *data);

/* Sends the sums to the output buffer. *saturated: results that were clipped there. */
CNNVP_MUST_USE int cnnvp_fx16_deliver(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                      const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls,
                                      uint64_t *saturated);

/* The array is busy for this many cycles from the access's time on: sets its delay, draws the span. */
void cnnvp_fx16_occupy(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, const char *name,
                       uint64_t cycles, struct cnnvp_access *access);

/* ---- a whole command ---- */

/*
 * What a command takes, of all engines: a member has the name of the statistic that counts it, and is 0 where an engine
 * has no such thing. The engine says the first group, the links the second, and the third is not counted. Words of
 * operands and results are those of the command; statistics count the 16-bit words that they make up. Biases have 16
 * bits always; in the clocks of a port they count as words of the weights beside them.
 */
struct cnnvp_fx16_cost {
    uint64_t compute_cycles, bias_cycles, fill_cycles, writeout_cycles, accumulator_cycles;
    uint64_t input_words; /* ones included */
    uint64_t reused_words;
    uint64_t weight_words; /* biases included */
    uint64_t bias_words;   /* and those of tables */
    uint64_t kernel_loads;
    uint64_t output_words; /* of all passes */
    uint64_t macs;         /* with words of 16 bits */
    uint64_t int8_macs;    /* of 8 bits both; the links tell them apart */
    uint64_t fifo_h_pushes, fifo_v_pushes;
    uint64_t accumulator_words, passed_words;

    uint64_t commands, rejected, busy_cycles;
    uint64_t input_port_cycles, weight_port_cycles, output_port_cycles;
    uint64_t limited_words, scaled_words, tabled_words, table_words, saturations;

    uint64_t ones_words;  /* read as ones, in the bias cycles */
    uint64_t load_cycles; /* of kernel pieces, part of fill_cycles */
    uint64_t bias_loads;  /* cycles in which biases come, part of bias_cycles */
    uint64_t passes;      /* updates of each result, 0: one */
};

/* A command while it is carried out. */
struct cnnvp_fx16_work {
    struct cnnvp_fx16_tile tile;
    struct cnnvp_fx16_cost cost;
    struct cnnvp_fx16_traffic traffic;
    struct cnnvp_fx16_data data;
};

/* What an engine has of its own. */
struct cnnvp_fx16_engine {
    /* Says a command's cost, the cycles in which weights and results cross their ports, and the classes of clocks.
     * Returns NULL, or why the engine does not take the command. */
    const char *(*cost)(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                        struct cnnvp_fx16_work *work);
    /* NULL: the fast kernels compute. Otherwise computes the sums, and says cost and traffic anew. */
    int (*step)(struct cnnvp_fx16_unit *unit, struct cnnvp_fx16_work *work);
    const size_t *counts; /* for each statistic of the unit where its number lies in struct cnnvp_fx16_cost */
    uint32_t stat_count;
};

/* The callback `access` of a unit that begins with a struct cnnvp_fx16_unit whose engine is set: carries a command out.
 */
int cnnvp_fx16_access(void *self, uint32_t port, struct cnnvp_access *access);

/* The layer that the callback `tiling` of a unit is asked about; says the size of its words, if the unit takes it. */
CNNVP_MUST_USE int cnnvp_fx16_layer(const struct cnnvp_fx16_unit *unit, const struct cnnvp_access *access,
                                    const struct cnnvp_command **command, struct cnnvp_fx16_tile *layer,
                                    struct cnnvp_tiling *tiling);

#ifdef __cplusplus
}
#endif

#endif
