/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command protocol between the instruction element (S003) and the units that it drives: PE arrays, the vector unit,
 * DMA. A calculation unit of your own that speaks it can take the place of a built-in one.
 *
 * The element makes one access with op CNNVP_COMMAND on its port for the unit, at the accelerator clock edge at which
 * the instruction issues; `data` is a struct cnnvp_command. The unit answers
 * - CNNVP_OK: accepted; the work is done after the access's `delay` (a whole number of accelerator cycles). The element
 *   keeps the unit and the buffers that the opcode names busy for that long.
 * - CNNVP_PENDING: accepted; the unit announces the end with an access CNNVP_COMMAND on the element's port `done`,
 *   `data` being a struct cnnvp_completion with the same `sequence`.
 * - an error: nothing was done; the element stops with this command's error.
 * CNNVP_COMMAND_FORGET goes to the DMA where the guest resets the element: no `receive` will come for what was
 * requested before. Its answer does not matter.
 * Tiles are atomic: a command whose answer is CNNVP_OK is never stalled midway.
 */
#ifndef CNNVP_COMMAND_H
#define CNNVP_COMMAND_H

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Accepted, completion follows through port `done`. The one status above 0. */
#define CNNVP_PENDING 1

/* Most registers that a descriptor has. */
#define CNNVP_DESCRIPTOR_MAX 24u

/* Bytes of a text that says why a command is refused, the last one 0. */
#define CNNVP_REFUSAL_SIZE 112u

/* Which half of a ping-pong buffer an instruction uses: bit set = second half. */
enum cnnvp_half { CNNVP_HALF_INPUT = 1u << 0, CNNVP_HALF_WEIGHT = 1u << 1, CNNVP_HALF_OUTPUT = 1u << 2 };

/* An opcode of no instruction; sequence 0. */
#define CNNVP_COMMAND_FORGET 0xffffffffu

struct cnnvp_command {
    uint32_t opcode;
    uint32_t status;    /* the instruction's mode field */
    uint32_t halves;    /* of enum cnnvp_half */
    uint32_t immediate; /* low 32 operand bits */
    uint32_t tag;       /* layer index + 1, 0 none */
    uint32_t count;     /* registers in `descriptor` */
    uint64_t sequence;  /* number of the instruction, from 1; also the flow of its spans */
    uint32_t descriptor[CNNVP_DESCRIPTOR_MAX];
};

struct cnnvp_completion {
    uint64_t sequence;
    int32_t status; /* CNNVP_OK or an error */
    uint32_t reserved;
};

/* How a buffer is read: access mode of CNNVP_BORROW_READ and CNNVP_READ at a buffer (S000 A1 L14, A4 L8). */
enum cnnvp_read_mode {
    CNNVP_READ_SEQUENTIAL = 0, /* one address after the other */
    CNNVP_READ_ROTATING = 1,   /* row r comes from bank r mod 3 */
    CNNVP_READ_ONES = 2        /* everything reads as 1 (bias layer) */
};

/* How the output buffer is written: access mode of CNNVP_WRITE at an output buffer (S000 A1 L16). */
enum cnnvp_update_mode { CNNVP_UPDATE_INITIALISE = 0, CNNVP_UPDATE_ACCUMULATE = 1, CNNVP_UPDATE_MAXIMISE = 2 };

/* Rounding at write-out. */
enum cnnvp_round_mode {
    CNNVP_ROUNDING_TRUNCATE = 0, /* toward zero */
    CNNVP_ROUNDING_NEAREST = 1,  /* ties to even */
    CNNVP_ROUNDING_STOCHASTIC = 2
};

/* Words of 8 bits in place of 16, bits of `narrow` in the descriptor register `format`: of inputs (operand a), of
 * weights (operand b; tables, biases, scales and offsets have 16), of results. */
enum cnnvp_narrow { CNNVP_NARROW_A = 1, CNNVP_NARROW_B = 2, CNNVP_NARROW_OUT = 4 };
#define CNNVP_NARROW_LSB 29u /* in the register */
#define CNNVP_SLOT_LSB 18u   /* of a vector instruction's words of a slot of partial sums, 0: four */
#define CNNVP_TABLED_LSB 18u /* of a bit: results of a conv go through a table */
#define CNNVP_ZERO_LSB 21u   /* the same of `zero`, the zero point that is added to results of 8 bits */

/* Bytes of a word of this operand, by the register. */
static inline uint32_t cnnvp_format_bytes(uint32_t format, enum cnnvp_narrow operand)
{
    return (format >> CNNVP_NARROW_LSB & (uint32_t)operand) != 0 ? 1u : 2u;
}

/* Bytes of the slot that a partial sum of so many bits has in an output buffer: whole 16-bit words. The bits are those
 * of the parameter acc_bits of the unit whose sums they are, 64 where it has none. */
static inline uint32_t cnnvp_sum_bytes(uint32_t acc_bits)
{
    return (acc_bits + 15u) / 16u * 2u;
}

/* And words. */
static inline uint32_t cnnvp_sum_words(uint32_t acc_bits)
{
    return cnnvp_sum_bytes(acc_bits) / 2u;
}

/*
 * CNNVP_COMMAND at an output buffer, `data` = struct cnnvp_update: results of a PE array or vector unit enter the
 * buffer. `sums` are exact modulo 2^acc_bits, sign-extended to 64 bits, count = planes * plane_words of them, plane
 * after plane. Partial sums are kept in slots of cnnvp_sum_bytes at acc_address; results are words of word_bytes
 * at out_address. The buffer applies `mode` against the partial sums kept at acc_address, wraps to acc_bits, and then
 * either keeps the sum there (partial = 1) or rounds it: word = saturate(round(sum * 2^-shift) + zero), within the
 * limits if there are some. A maximum of words is a word, and may be kept as such: of_words. Where sums have scales it
 * rounds cnnvp_scaled (cnnvp_buffer.h) of the sum in its place. With a table that word has 16 bits and no zero point,
 * and goes through the function of the instruction vact: word = saturate(round(function * 2^-table_shift) + zero).
 */
struct cnnvp_update {
    const int64_t *sums;   /* NULL in timing-only */
    uint64_t planes;       /* output channels */
    uint64_t plane_words;  /* words of one plane, contiguous */
    uint64_t plane_stride; /* words from one plane to the next at out_address; partial sums are contiguous */
    uint32_t half;         /* 0 or 1 */
    uint32_t mode;         /* enum cnnvp_update_mode */
    uint32_t partial;      /* 1: keep partial sums, no write-out */
    uint32_t acc_bits;     /* 16 .. 64 */
    uint32_t out_address;  /* bytes in the half */
    uint32_t acc_address;  /* bytes in the half */
    int32_t shift;         /* right shift at write-out; negative: left */
    uint32_t rounding;     /* enum cnnvp_round_mode */
    uint64_t seed;         /* of stochastic rounding; word i of the update uses cnnvp_round_random(seed, i) */
    uint64_t saturated;    /* out: words that were clipped */
    /* How often each sum was updated within the command (S000: every pass goes to the output buffer); 0 means once. All
     * but the last time it was kept at acc_address and read back: counted here, `sums` are what has come together. */
    uint32_t passes;
    /* 1, with mode maximise and partial 0: `mode` applies after rounding, against the words at out_address, which are
     * the maxima so far. No word depends on which values came first. 0: against the sums at acc_address. */
    uint32_t of_words;
    /* 1: words lie within low .. high, after rounding and before words are maximised. A struct that ends before this
     * member has no limits. */
    uint32_t clip;
    int16_t low, high;
    /* Not NULL, with partial 0: records of CNNVP_SCALE_WORDS words; sum i has record i / scale_sums. A struct that ends
     * before this member has none. */
    const int16_t *scales;
    uint64_t scale_sums;
    uint32_t word_bytes;  /* of a result: 1 or 2; 0, or a struct that ends before this member, means 2 */
    int32_t zero;         /* -128 .. 127, of results of 8 bits; a struct that ends before this member has 0 */
    const int16_t *table; /* of vact, not NULL, with partial 0. A struct that ends before this member has none */
    int32_t table_shift;
};

/* By what the write-out scales a sum: struct cnnvp_scale (cnnvp_buffer.h), four words in memory. */
#define CNNVP_SCALE_WORDS 4u

/* Bytes in front of the segments of a table of vact, which have four each. */
#define CNNVP_TABLE_HEADER 8u

/*
 * The random number of stochastic rounding: a counter-based hash (splitmix64 finaliser), so that the result does not
 * depend on order. sum is rounded up where the low `shift` bits exceed random mod 2^shift.
 */
static inline uint64_t cnnvp_round_random(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1u) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/*
 * sum * 2^-shift, rounded by `mode`, saturated to 16 bits. *saturated grows by 1 if it was clipped. This is the
 * definition of write-out in FX16; every unit that writes 16-bit words uses it. shift: -48 .. 63.
 */
static inline int16_t cnnvp_round_fx16(int64_t sum, int32_t shift, uint32_t mode, uint64_t random, uint64_t *saturated)
{
    int64_t value;
    if (shift <= 0) {
        const uint32_t left = (uint32_t)(-shift);
        const int64_t limit = left < 48u ? INT64_MAX >> left : 0;
        value = sum > limit ? INT64_MAX : sum < -limit ? -INT64_MAX : (int64_t)((uint64_t)sum << left);
    } else {
        const uint64_t unit = UINT64_C(1) << shift;
        const uint64_t rest = (uint64_t)sum & (unit - 1u);
        const int64_t floor = (sum - (int64_t)rest) / (int64_t)(shift < 63 ? unit : unit >> 1) / (shift < 63 ? 1 : 2);
        const uint64_t half = unit >> 1;
        int up;
        if (mode == CNNVP_ROUNDING_TRUNCATE)
            up = sum < 0 && rest != 0;
        else if (mode == CNNVP_ROUNDING_NEAREST)
            up = rest > half || (rest == half && (floor & 1) != 0);
        else
            up = rest > (random & (unit - 1u));
        value = floor + up;
    }
    if (value > INT16_MAX) {
        ++*saturated;
        return INT16_MAX;
    }
    if (value < INT16_MIN) {
        ++*saturated;
        return INT16_MIN;
    }
    return (int16_t)value;
}

/* Keeps the low `bits` bits of a sum, sign-extended: what an accumulator of that width holds. bits: 1 .. 64. */
static inline int64_t cnnvp_wrap(int64_t sum, uint32_t bits)
{
    if (bits >= 64u)
        return sum;
    const uint64_t sign = UINT64_C(1) << (bits - 1u);
    const uint64_t low = (uint64_t)sum & ((sign << 1) - 1u);
    return (int64_t)((low ^ sign) - sign);
}

#ifdef __cplusplus
}
#endif

#endif
