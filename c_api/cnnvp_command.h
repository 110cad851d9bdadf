/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command protocol between the instruction element (S003) and the units that it drives: PE arrays, the vector unit,
 * and the DMA. A custom calculation unit that speaks it can replace a built-in one.
 *
 * The element makes one access with op CNNVP_COMMAND on its port for the unit, at the accelerator clock edge at which
 * the instruction issues; `data` is a struct cnnvp_command. The unit answers one of these:
 * - CNNVP_OK: accepted. The work is done after the access's `delay`, a whole number of accelerator cycles. The element
 *   keeps the unit and the buffers that the opcode names busy for that long.
 * - CNNVP_PENDING: accepted. The unit announces the end with a CNNVP_COMMAND access on the element's port `done`, whose
 *   `data` is a struct cnnvp_completion with the same `sequence`.
 * - An error: nothing was done. The element stops with this command's error.
 *
 * When the guest resets the element, the DMA gets CNNVP_COMMAND_FORGET: no `receive` will follow for earlier requests.
 * Its answer does not matter.
 *
 * Tiles are atomic: a command whose answer is CNNVP_OK is never stalled midway.
 */
#ifndef CNNVP_COMMAND_H
#define CNNVP_COMMAND_H

#include "cnnvp_model.h"

/* Accepted; the completion follows through port `done`. The only positive status. */
#define CNNVP_PENDING 1

/* Largest number of registers of a descriptor. */
#define CNNVP_DESCRIPTOR_MAX 24u

/* Size of a text that says why a command is refused, including the final 0. */
#define CNNVP_REFUSAL_SIZE 112u

/* Halves of ping-pong buffers that an instruction uses. Bit set: second half. */
enum cnnvp_half { CNNVP_HALF_INPUT = 1u << 0, CNNVP_HALF_WEIGHT = 1u << 1, CNNVP_HALF_OUTPUT = 1u << 2 };

/* Opcode of a command that is not an instruction; its sequence is 0. */
#define CNNVP_COMMAND_FORGET 0xffffffffu

struct cnnvp_command {
    uint32_t opcode;
    uint32_t status;    /* the instruction's mode field */
    uint32_t halves;    /* bits of enum cnnvp_half */
    uint32_t immediate; /* low 32 operand bits */
    uint32_t tag;       /* layer index + 1, 0 none */
    uint32_t count;     /* registers in `descriptor` */
    uint64_t sequence;  /* number of the instruction, from 1; also the flow number of its spans */
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
    CNNVP_ROUNDING_STOCHASTIC = 2,
    CNNVP_ROUNDING_FLOOR = 3 /* toward minus infinity, on average half a step too low (Part B 1-15) */
};

/* Operands with 8-bit words instead of 16-bit words: bits of `narrow` in the descriptor register `format`. A: inputs
 * (operand a). B: weights (operand b); tables, biases, scales and offsets always have 16 bits. OUT: results. */
enum cnnvp_narrow { CNNVP_NARROW_A = 1, CNNVP_NARROW_B = 2, CNNVP_NARROW_OUT = 4 };
#define CNNVP_NARROW_LSB 29u  /* position of `narrow` in the register */
#define CNNVP_SLOT_LSB 18u    /* of a vector instruction: words of a slot of partial sums; 0: four */
#define CNNVP_TABLED_LSB 18u  /* bit of a conv: its results go through a table */
#define CNNVP_ADDED_LSB 19u   /* bit of a conv: the words at out_addr are added to its results */
#define CNNVP_SWAPPED_LSB 18u /* bit of a conv's addition: the result is the second operand */
#define CNNVP_SCALED_LSB 19u  /* bit of a conv's addition: both operands are scaled */
#define CNNVP_ZERO_LSB 21u    /* 8-bit field `zero`: the zero point added to 8-bit results */

/* Bytes of a word of this operand, according to the register `format`. */
static inline uint32_t cnnvp_format_bytes(uint32_t format, enum cnnvp_narrow operand)
{
    return (format >> CNNVP_NARROW_LSB & (uint32_t)operand) != 0 ? 1u : 2u;
}

/* Bytes of the slot of a partial sum of acc_bits bits in an output buffer: whole 16-bit words. acc_bits is a parameter
 * of the unit that makes the sums; 64 if it has no such parameter. */
static inline uint32_t cnnvp_sum_bytes(uint32_t acc_bits)
{
    return (acc_bits + 15u) / 16u * 2u;
}

/* The same in 16-bit words. */
static inline uint32_t cnnvp_sum_words(uint32_t acc_bits)
{
    return cnnvp_sum_bytes(acc_bits) / 2u;
}

/*
 * An addition of two words, as vadd does it (models/inference/lanes/lanes.h): word = saturate(round((a + (b <<
 * b_shift))
 * * 2^-shift)), for results of 8 bits saturate(word + zero). For a negative b_shift the sum is (a << -b_shift) + b.
 * Where operands are scaled, the sum is that of vadd with `scale`, of the constants in struct cnnvp_update.
 */
struct cnnvp_addition {
    int32_t shift;     /* -48 .. 63 */
    int32_t b_shift;   /* -63 .. 63 */
    uint32_t rounding; /* enum cnnvp_round_mode, but not stochastic */
    int32_t zero;
    uint32_t swapped; /* 0: the new word is a; 1: it is b */
    uint32_t scaled;  /* 1: operands are scaled, b_shift is 0 and rounding is to nearest; 0: they are not */
};

/*
 * CNNVP_COMMAND at an output buffer, `data` = struct cnnvp_update: results of a PE array or vector unit enter the
 * buffer. `sums` are exact modulo 2^acc_bits, sign-extended to 64 bits; there are planes * plane_words of them, plane
 * after plane. Partial sums are stored in slots of cnnvp_sum_bytes at acc_address, results as words of word_bytes at
 * out_address.
 *
 * The buffer combines the sums with the partial sums at acc_address by `mode` and wraps them to acc_bits. With partial
 * = 1 it stores the sum there. Otherwise it writes the result: word = saturate(round(sum * 2^-shift) + zero), clipped
 * to the limits if there are any. With scales, cnnvp_scaled (cnnvp_buffer.h) of the sum takes the place of the sum.
 * With a table, that word has 16 bits and no zero point, and goes through the function of the instruction vact: word =
 * saturate(round(function * 2^-table_shift) + zero). With of_words, `mode` maximises result words instead of sums. With
 * `added`, the word before the limits and the word that is at its place in the buffer are the operands of `addition`,
 * whose result is then limited and written.
 */
struct cnnvp_update {
    const int64_t *sums;   /* NULL in timing-only */
    uint64_t planes;       /* output channels */
    uint64_t plane_words;  /* words of one plane, contiguous */
    uint64_t plane_stride; /* words from one plane to the next at out_address; partial sums have no gaps */
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
    /* Number of updates of each sum within the command (S000: every pass goes to the output buffer); 0 means 1. After
     * each but the last, the sum is stored at acc_address and read back. The buffer only counts this; `sums` are the
     * totals. */
    uint32_t passes;
    /* 1, with mode maximise and partial 0: `mode` applies after rounding, to the words at out_address, which are the
     * maxima so far. The result does not depend on the order of the values. 0: `mode` applies to the sums at
     * acc_address. */
    uint32_t of_words;
    /* 1: words are clipped to low .. high, after rounding and before they are maximised. A struct that ends before this
     * member has no limits. */
    uint32_t clip;
    int16_t low, high;
    /* Not NULL, with partial 0: records of CNNVP_SCALE_WORDS words; sum i uses record i / scale_sums. A struct that
     * ends before this member has none. */
    const int16_t *scales;
    uint64_t scale_sums;
    uint32_t word_bytes;  /* bytes of a result: 1 or 2; 0, or a struct that ends before this member, means 2 */
    int32_t zero;         /* zero point of 8-bit results, -128 .. 127; 0 if the struct ends before this member */
    const int16_t *table; /* table of vact; not NULL only with partial 0; none if the struct ends before this member */
    int32_t table_shift;
    /* 1, with partial 0 and without of_words: results are added to the words at out_address, before limits and table;
     * with a table, results have 16 bits. 0 if the struct ends before this member. */
    uint32_t added;
    struct cnnvp_addition addition;
    /* With addition.scaled: CNNVP_OPERAND_WORDS words, the descriptor registers c_addr, c_repeat, immediate and seed of
     * vadd with `scale`. */
    const int16_t *operands;
};

/* Words of a struct cnnvp_scale (cnnvp_buffer.h) in memory. */
#define CNNVP_SCALE_WORDS 4u

/* Words of the constants of an addition whose operands are scaled. */
#define CNNVP_OPERAND_WORDS 8u

/* Bytes before the segments of a table of vact; each segment has four bytes. */
#define CNNVP_TABLE_HEADER 8u

/*
 * The random number of stochastic rounding: a counter-based hash (splitmix64 finaliser), so that the result does not
 * depend on the order of work. A sum is rounded up if its low `shift` bits exceed random mod 2^shift.
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
            up = mode == CNNVP_ROUNDING_STOCHASTIC && rest > (random & (unit - 1u));
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

/* Keeps the low `bits` bits of a sum, sign-extended, as an accumulator of that width does. bits: 1 .. 64. */
static inline int64_t cnnvp_wrap(int64_t sum, uint32_t bits)
{
    if (bits >= 64u)
        return sum;
    const uint64_t sign = UINT64_C(1) << (bits - 1u);
    const uint64_t low = (uint64_t)sum & ((sign << 1) - 1u);
    return (int64_t)((low ^ sign) - sign);
}

#endif
