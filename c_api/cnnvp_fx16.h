/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PE arrays for 16-bit or 8-bit fixed point compute, independent of any host: one checked command ("tile"), its
 * data and its exact sums, whatever the array's structure. Sums are exact modulo 2^acc_bits, so the order of additions
 * does not matter: all engines that use this file, and the vector unit's vpool and vconv, give the same bits. Each
 * engine defines the cost of a command itself.
 */
#ifndef CNNVP_FX16_TILE_H
#define CNNVP_FX16_TILE_H

#include "cnnvp_buffer.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of results of a command; limits the scratch memory to 128 MiB of sums. */
#define CNNVP_FX16_MAX_RESULTS (UINT64_C(1) << 24)
/* Largest number of words that an operand spans. A buffer half is below 2 GiB, since bit 31 of an address selects the
 * half. */
#define CNNVP_FX16_MAX_SPAN (UINT64_C(1) << 30)
/* Largest number of cycles of a command; keeps times far below the limit of 64 bits. */
#define CNNVP_FX16_MAX_CYCLES (UINT64_C(1) << 40)
/* Initial P of a comparison: the smallest input. */
#define CNNVP_FX16_MINIMUM INT16_MIN

enum cnnvp_fx16_kind {
    CNNVP_FX16_WINDOW = 0, /* conv, pool, step */
    CNNVP_FX16_MATMUL = 1
};

/* First stage of a PE: the product that goes to the adder. */
enum cnnvp_fx16_product { CNNVP_FX16_PRODUCT_A = 0, CNNVP_FX16_PRODUCT_KA = 1, CNNVP_FX16_PRODUCT_AA = 2 };

/* Settings of a PE's multiplexers: P = compare ? max{P, A} : (from_k ? K : P) + product. */
struct cnnvp_fx16_operation {
    enum cnnvp_fx16_product product;
    bool from_k;
    bool compare;
};

struct cnnvp_fx16_tile {
    const char *name; /* mnemonic */
    enum cnnvp_fx16_kind kind;
    struct cnnvp_fx16_operation operation;
    bool uses_k;      /* the operation reads the weight port */
    bool per_channel; /* output channel c uses input channel c only */
    bool ones;        /* every input reads as 1 */
    bool bias;
    bool partial;    /* sums stay in the output buffer */
    bool clipped;    /* positions outside the valid rectangle are left out */
    bool limited;    /* results are clipped to low .. high */
    bool scaled;     /* results are scaled: bias_addr holds scale records, not biases */
    uint32_t tabled; /* 1: results go through a table; 0: they do not */
    uint32_t added;  /* 1: results are added to the words at out_addr */
    uint32_t update; /* enum cnnvp_update_mode */
    bool of_words;   /* `update` combines results with the words at out_addr (cnnvp_update), not with the sums at
                      * acc_addr */
    uint32_t tag;

    /* window; strides in words, the rest in elements */
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

    int32_t shift;      /* right shift at write-out */
    int32_t bias_shift; /* left shift; negative: right, toward minus infinity */
    uint32_t rounding;
    uint32_t narrow; /* enum cnnvp_narrow: operands and results with 8-bit words */
    int32_t zero;    /* zero point, added to 8-bit results */
    uint32_t seed;
    int32_t low, high;
    int32_t table_shift;
    struct cnnvp_addition addition;

    uint32_t in_addr, weight_addr, bias_addr, table_addr, out_addr, acc_addr; /* bytes in the half */
    uint32_t in_half, weight_half, out_half;
    uint64_t in_span;     /* words from in_addr to the last word used, inclusive */
    uint64_t weight_span; /* the same for weights; 0 if none are used */
    uint64_t bias_span;
    uint64_t table_span;   /* 0: no table */
    uint64_t operand_span; /* words after the biases that scale an addition's operands; 0: none */
    uint32_t bias_words;   /* words for each output channel at bias_addr; 0: none */
    uint64_t planes;       /* planes of results: output channels; matmul: 1 */
    uint64_t plane_words;
    uint64_t plane_stride;

    char refusal[CNNVP_REFUSAL_SIZE];
};

/* A pointer is NULL if the data do not matter (timing-only) or are not used. */
struct cnnvp_fx16_data {
    const int16_t *input;
    const int16_t *weights;
    const int16_t *bias; /* biases, or scale records */
    const int16_t *table;
    const int16_t *operands; /* constants that scale an addition's operands */
    int64_t *sums;           /* planes * plane_words, exact modulo 2^acc_bits */
};

/* Checks a command and fills in its description. On CNNVP_E_INVAL, `reason` says what is wrong or expected; it is valid
 * as long as *tile. */
CNNVP_MUST_USE int cnnvp_fx16_decode(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile,
                                     const char **reason);

/* The same without checks, for a command with the sizes of a whole layer. Sets only kind, operation and window
 * sizes. */
void cnnvp_fx16_describe(const struct cnnvp_command *command, struct cnnvp_fx16_tile *tile);

/* Results are combined with the sums at acc_addr. */
static inline bool cnnvp_fx16_finds_sums(const struct cnnvp_fx16_tile *tile)
{
    return tile->update != CNNVP_UPDATE_INITIALISE && !tile->of_words;
}

/* Results are combined with the words at out_addr. */
static inline bool cnnvp_fx16_finds_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->of_words || tile->added != 0;
}

/* Bytes of a word of the inputs, the weights or the results; biases always have 2. */
static inline uint32_t cnnvp_fx16_bytes(const struct cnnvp_fx16_tile *tile, enum cnnvp_narrow operand)
{
    return (tile->narrow & (uint32_t)operand) != 0 ? 1u : 2u;
}

/* The words, of the size of the weights, in the bias or scale record of an output, which has 16-bit words. */
static inline uint32_t cnnvp_fx16_record_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->bias_words * (2u / cnnvp_fx16_bytes(tile, CNNVP_NARROW_B));
}

/* Number of 16-bit words that `words` words of an operand fill, as counted by statistics and energies. */
static inline uint64_t cnnvp_fx16_words(const struct cnnvp_fx16_tile *tile, enum cnnvp_narrow operand, uint64_t words)
{
    return (words * cnnvp_fx16_bytes(tile, operand) + 1u) / 2u;
}

/* Number of results that are compared with limits. */
static inline uint64_t cnnvp_fx16_limited_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->limited && !tile->partial ? tile->planes * tile->plane_words : 0;
}

/* Number of results that are scaled. */
static inline uint64_t cnnvp_fx16_scaled_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->scaled ? tile->planes * tile->plane_words : 0;
}

/* Number of results that go through a table. */
static inline uint64_t cnnvp_fx16_tabled_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->table_span != 0 ? tile->planes * tile->plane_words : 0;
}

/* Number of results that are added to words. */
static inline uint64_t cnnvp_fx16_added_words(const struct cnnvp_fx16_tile *tile)
{
    return tile->added != 0 ? tile->planes * tile->plane_words : 0;
}

/* Working memory of the fast kernels; grows when needed. */
struct cnnvp_fx16_scratch {
    void *memory;
    size_t size;
    int16_t *input;              /* inputs in the kernels' order that the memory still holds; NULL: none */
    struct cnnvp_fx16_tile tile; /* tile that `input` belongs to */
};
void cnnvp_fx16_scratch_free(struct cnnvp_fx16_scratch *scratch);

/* Computes data->sums exactly; data->input and data->sums are not NULL. CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_fx16_compute(uint32_t acc_bits, const struct cnnvp_fx16_tile *tile,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_fx16_scratch *scratch);

/* The bias as it enters the adder: shifted left, or right if `left` is negative. */
static inline int64_t cnnvp_fx16_bias(int16_t bias, int32_t left)
{
    if (left >= 0)
        return (int64_t)((uint64_t)bias << (uint32_t)left);
    const int64_t unit = INT64_C(1) << (left > -16 ? -left : 16);
    return bias >= 0 ? bias / unit : (bias - unit + 1) / unit;
}

/* ---- links ---- */

/* Ports of every such engine, and its only track. */
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

/* Word sizes that an array supports, in the order of the parameter's choices: 16 bits, 8 bits, both. */
enum cnnvp_fx16_precision { CNNVP_FX16_ONLY = 0, CNNVP_FX16_INT8 = 1, CNNVP_FX16_BOTH = 2 };

/* State that the links need; the first member of an engine's instance. */
struct cnnvp_fx16_unit {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint32_t acc_bits;
    bool timing_only;
    bool clips;                             /* the write-out supports limits */
    bool scales;                            /* the write-out supports scales */
    bool adds;                              /* the write-out supports additions */
    uint64_t tables;                        /* number of write-out lanes with a table; 0: no tables */
    uint32_t precision;                     /* enum cnnvp_fx16_precision */
    uint32_t rejected_stat;                 /* statistic that counts refused commands */
    const struct cnnvp_fx16_engine *engine; /* NULL for units that carry out commands themselves */
    uint32_t opcode;                        /* the only instruction that the unit takes; 0: all */
    const char *refusal;                    /* message for other instructions */
    struct cnnvp_fx16_scratch scratch;
    int64_t *sums;
    uint64_t sums_size;        /* elements */
    int16_t *widened[2];       /* 8-bit inputs and weights, widened to 16 bits */
    uint64_t widened_words[2]; /* capacity of `widened`, in words */
};

/* The unit's value for cnnvp_tiling::limits. */
static inline uint32_t cnnvp_fx16_limits(const struct cnnvp_fx16_unit *unit)
{
    const uint32_t adds = unit->adds ? CNNVP_LIMITS_ADDS : 0;
    return adds | (unit->tables != 0 ? CNNVP_LIMITS_SCALE_AND_TABLE
                   : unit->scales    ? CNNVP_LIMITS_AND_SCALE
                                     : unit->clips);
}

/* Clock classes of a port (struct cnnvp_buffer_clocks); none: the words are spread evenly. */
#define CNNVP_FX16_CLASSES 24u

struct cnnvp_fx16_clocks {
    uint32_t count;
    struct cnnvp_buffer_clocks classes[CNNVP_FX16_CLASSES];
};

/* Appends a class, unless it never occurs. */
static inline void cnnvp_fx16_add(struct cnnvp_fx16_clocks *clocks, struct cnnvp_buffer_clocks of)
{
    if (of.times != 0 && clocks->count < CNNVP_FX16_CLASSES)
        clocks->classes[clocks->count++] = of;
}

/* Words that cross each port, and the cycles over which they are spread. */
struct cnnvp_fx16_traffic {
    uint64_t input_words, input_cycles;
    uint64_t ones_words, ones_cycles;     /* words read from the input buffer as ones: the bias layer of S000 */
    uint64_t weight_words, weight_cycles; /* biases included */
    uint64_t bias_words;                  /* part of weight_words */
    uint64_t output_words, output_cycles;
    uint32_t passes; /* updates of each sum; if more than one, the sums are kept at acc_addr while the command runs */
    struct cnnvp_fx16_clocks input, weight, output;
    enum cnnvp_read_mode input_mode; /* for windows */
    uint32_t flags;                  /* cnnvp_access::flags of the reads */
};

/* Cycles by which the buffer ports lengthen a command. */
struct cnnvp_fx16_stalls {
    uint64_t input;
    uint64_t weight;
    uint64_t output;
    cnnvp_time until; /* delay after the accesses so far */
    int at_once;      /* 0: an access begins when the one before has ended, so their cycles add up; 1: all begin at
                       * once */
};

/* Frees the memory that the links hold. Serves as the callback `fini` of an engine that holds nothing else. */
void cnnvp_fx16_unit_free(void *self);

/* Gets the command of an access at the command port; CNNVP_E_ACCESS or CNNVP_E_INVAL if it carries none. */
CNNVP_MUST_USE int cnnvp_fx16_command(const struct cnnvp_access *access, const struct cnnvp_command **command);

/* Shape of the buffer at a port; all 0 if the buffer tells none. */
struct cnnvp_buffer_shape cnnvp_fx16_buffer(const struct cnnvp_fx16_unit *unit, enum cnnvp_fx16_port port);
/* Cycles of the unit that these words take to cross the port of a buffer of that shape, `width` words in a clock of the
 * buffer's. 0 words in a clock: no cycles. */
uint64_t cnnvp_fx16_crossing(const struct cnnvp_fx16_unit *unit, const struct cnnvp_buffer_shape *shape, uint64_t words,
                             uint64_t width);

/* Counts and reports a refused command; returns `status`. A NULL `reason` is derived from the status. */
CNNVP_MUST_USE int cnnvp_fx16_refuse(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                     int status, const char *reason);

/* Checks that the results fit into the output buffer, before anything is done, and borrows inputs and weights.
 * data->sums gets room for the results; NULL in timing-only. */
CNNVP_MUST_USE int cnnvp_fx16_fetch(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                    const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                    struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls);

/* The same without counts or time, for a command that is simulated step by step: its port traffic is known only at the
 * end. cnnvp_fx16_fetch reports refusals. */
CNNVP_MUST_USE int cnnvp_fx16_look(struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                   const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                   struct cnnvp_fx16_data *data);

/* Sends the sums to the output buffer. *saturated: number of results clipped there. */
CNNVP_MUST_USE int cnnvp_fx16_deliver(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                                      const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_traffic *traffic,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_fx16_stalls *stalls,
                                      uint64_t *saturated);

/* Marks the array busy for `cycles` from the access's time: sets the access's delay and draws the span. */
void cnnvp_fx16_occupy(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command, const char *name,
                       uint64_t cycles, struct cnnvp_access *access);

/* ---- a whole command ---- */

/*
 * Cost of a command, for all engines. A member has the name of the statistic that counts it; it is 0 if the engine
 * lacks the feature. The engine sets the first group, the links set the second, and the third has no statistics. Words
 * are those of the command's operands and results; statistics count the 16-bit words that these fill. Biases always
 * have 16 bits; in the clocks of a port they count as words of the weights.
 */
struct cnnvp_fx16_cost {
    uint64_t compute_cycles, bias_cycles, fill_cycles, writeout_cycles, accumulator_cycles;
    uint64_t input_words; /* words read as ones included */
    uint64_t reused_words;
    uint64_t weight_words; /* biases included */
    uint64_t bias_words;   /* and words of tables */
    uint64_t kernel_loads;
    uint64_t output_words; /* over all passes */
    uint64_t macs;         /* with 16-bit words */
    uint64_t int8_macs;    /* with both operands of 8 bits; the links tell the two apart */
    uint64_t fifo_h_pushes, fifo_v_pushes;
    uint64_t accumulator_words, passed_words;

    uint64_t commands, rejected, busy_cycles;
    uint64_t input_port_cycles, weight_port_cycles, output_port_cycles;
    uint64_t limited_words, scaled_words, tabled_words, table_words, added_words, saturations;

    uint64_t ones_words;  /* words read as ones, in the bias cycles */
    uint64_t load_cycles; /* cycles that load kernel pieces, part of fill_cycles */
    uint64_t bias_loads;  /* cycles that load biases, part of bias_cycles */
    uint64_t passes;      /* updates of each result; 0 means 1 */
};

/* A command in execution. */
struct cnnvp_fx16_work {
    struct cnnvp_fx16_tile tile;
    struct cnnvp_fx16_cost cost;
    struct cnnvp_fx16_traffic traffic;
    struct cnnvp_fx16_data data;
};

/* The functions and statistics that differ between engines. */
struct cnnvp_fx16_engine {
    /* Computes a command's cost, the cycles over which weights and results cross their ports, and the clock classes.
     * Returns NULL, or the reason why the engine does not take the command. */
    const char *(*cost)(const struct cnnvp_fx16_unit *unit, const struct cnnvp_command *command,
                        struct cnnvp_fx16_work *work);
    /* NULL: the fast kernels compute the sums. Otherwise computes the sums, and recomputes cost and traffic. */
    int (*step)(struct cnnvp_fx16_unit *unit, struct cnnvp_fx16_work *work);
    const size_t *counts; /* for each statistic of the unit: offset of its value in struct cnnvp_fx16_cost */
    uint32_t stat_count;
};

/* The callback `access` of a unit that begins with a struct cnnvp_fx16_unit with `engine` set: carries out a
 * command. */
int cnnvp_fx16_access(void *self, uint32_t port, struct cnnvp_access *access);

/* For the callback `tiling`: gets the layer that it is asked about, and sets the word size in *tiling if the unit takes
 * the layer. */
CNNVP_MUST_USE int cnnvp_fx16_layer(const struct cnnvp_fx16_unit *unit, const struct cnnvp_access *access,
                                    const struct cnnvp_command **command, struct cnnvp_fx16_tile *layer,
                                    struct cnnvp_tiling *tiling);

#ifdef __cplusplus
}
#endif

#endif
