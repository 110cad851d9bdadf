/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of arithmetic beside a PE array, and the units made of them: `vector`, S003's calculation element, which takes
 * all instructions below, and S000's `activation` (vact), `mean` (vmean), `variance` (vvar) and `normalise` (vnorm).
 * This comment defines the instructions; their encoding is in isa/opcodes.def, their registers in isa/descriptors.def.
 *
 * Operands. Element (o, i), 0 <= o < repeat, 0 <= i < count, has number e = o * count + i. a and b are 16-bit words,
 * sign-extended to 64 bits. With source 3, a is a partial sum in a slot of as many words as format 20:18 says (0: four;
 * a_addr even, strides in slots), and b is the signed immediate. count * repeat is at most 2^28. Elements are processed
 * in order of e, each completely before the next. Results may therefore overlap operands: a later element reads what an
 * earlier one wrote.
 *
 * Lanes and registers. Each lane has a 64-bit register for each of the operators mac, add, sub, div, cmp. Without
 * `accumulate` the elements fill the lanes without gaps: element e is in lane e mod lanes, and its result replaces the
 * lane's register. With `accumulate` each repetition begins at lane 0: element (o, i) is in lane i mod lanes, and its
 * result is combined with the lane's register. With count <= lanes, each of `count` outputs thus sums over `repeat`
 * elements. Registers are 0 at reset.
 *
 * Write-out. R is the value to be written: word = saturate16(round(R * 2^-shift)), cnnvp_round_fx16 with
 * cnnvp_round_random(seed, e). s below is the bias shift: x << s, for negative s floor(x / 2^-s). Sums and products are
 * modulo 2^64. shift is -48 .. 63, s is -63 .. 63. For results of 8 bits the lane's adder adds `zero` to the word,
 * which is then saturated to 8 bits (vmean, vvar and vsoftmax have no `zero`). With the status bit clip the word is
 * then limited to low .. high, also for vdiv. vadd, vsub and vcmp shift the operand with fewer fraction bits: for
 * negative s, a << -s takes the place of a, and b that of b << s.
 *
 *   vmac   r = a * b;         accumulate: mac += r.          store writes mac
 *   vadd   r = a + (b << s);  accumulate: add += r.          store writes add
 *   vsub   r = a - (b << s);  accumulate: sub += r.          store writes sub
 *   scale  for vmac, vadd and vsub of quantised words: not with accumulate, and both operands lie in buffers. In
 *          binary32, with each step rounded: A = (a - za) * ma, B = (b - zb) * mb, where the differences are limited to
 *          -256 .. 255; Q = (A * B, A + B or A - B) / d, limited to +-2^16; r = nearest(Q + zr) - zr with ties to even.
 *          This is the result of onnxruntime (with zr the zero point, of its quantised operator; with zr = 0, of its
 *          float operator). ma: c_addr, mb: c_repeat, d: immediate; they are normal numbers from 2^-100 to 2^100. za,
 *          zb, zr: seed. s is not used, rounding is to nearest.
 *   vdiv   r = the integer nearest (by the rounding mode) to a * 2^-shift / b, rounded once; b = 0: 32767 for a > 0,
 *          -32768 for a < 0, else 0. accumulate: div += r. store writes saturate16(div) without another shift.
 *          Stochastic: the magnitude is rounded up if the first 32 fraction bits exceed the low 32 random bits. s is
 *          not used.
 *          scale, not with accumulate, for sums of quantised words: r = a, and the word written is that of cnnvp_scaled
 *          (cnnvp_buffer.h) with offset c_addr and multiplier `immediate`. b is not read, shift is not used.
 *   vcmp   r = max{a, b << s}, or min; accumulate: cmp = max (min) of r and cmp.  store writes cmp
 *   vout   writes the registers of lanes 0 .. count - 1 of one operator: each register is R. repeat is not used, count
 *          is at most lanes. The registers of all operators are shifted by this instruction's format.
 *   vact   table T at b_addr: T[0] = x0, T[1] = x_shift (0 .. 62), T[2] = n (1 or more), T[3] = intercept_shift (0 ..
 *          47), then n pairs slope, intercept. k = floor((a - x0) / 2^x_shift), at least 0 and at most n - 1;
 *          R = slope[k] * a + (intercept[k] << intercept_shift). Always writes. The lines of the first and of the last
 *          segment extend to infinity. b is the input (0) or weight (1) buffer. sw/tables makes such tables.
 *   vnorm  R = (a - b_stride) * b + (c << s), b = B[o * b_repeat], c = C[o * c_repeat] from the same buffer (0 .. 2).
 *          b_stride is the zero point of a; the lane's subtractor subtracts it if it is not 0. R stays in mac; store
 *          writes it. The unit `normalise` requires store, because vout cannot reach its registers.
 *   vmean  for each o: word = saturate16(round(sum of a / count * 2^-shift)), rounded once as in vdiv, random number o.
 *          A negative shift gives the mean -shift more fraction bits than the data have.
 *   vvar   for each o: mean m at B[o * b_repeat], with s more fraction bits than a (0 <= s <= 15); b is a buffer (0 ..
 *          2). S = sum of ((a << s) - m)^2, saturating at 2^62; V = S / count + immediate (epsilon, unsigned, below
 *          2^31, in the same unit); word = round(2^(s - shift) / sqrt(V)), at most 32767 (also for V = 0). Rounded down
 *          with rounding truncate or floor, else to nearest, exactly. a * word then has standard deviation 2^-shift.
 *          With F fraction bits in a, the word is 1 / sigma with -shift - F fraction bits.
 *   sums   for vmean and vvar of elements that a PE array has summed (S002's P + A and P + A^2, Part B 2-3): a holds
 *          slots, the sums of the `count` parts of a repetition of n elements. n is immediate of vmean, b_stride of
 *          vvar (1 to 2^28). c of vvar holds the sums of their squares, with the strides of a except for c_repeat. S =
 *          (Q << 2 s) - 2 m (T << s) + n m^2, exactly, with T and Q the sums of the slots. The words are the same as
 *          those of the elements themselves.
 *   vsoftmax for each o: d = (max of a) - a with s fraction bits (-16 <= s <= 24), E = 2^(-d / ln 2) by a table of 64
 *          segments with linear interpolation, 30 fraction bits; word = round(E * 2^(15 - shift) / sum of E), half up,
 *          at most 32767 (8 bits: 2^(7 - shift), 127), -15 <= shift <= 0. rounding is not used.
 *
 * Windows. vpool and vconv are pool and conv of the PE arrays, with the same status bits and WINDOW descriptor and
 * bit-identical results (sums are modulo 2^64, as with acc_bits 64 of an array): for layers that a PE array does not
 * take. A lane calculates one result at a time. In each beat it takes one tap, which it multiplies and adds (vconv),
 * adds (vpool with `sum`) or compares (vpool). The bias is the addend of the first tap. Lanes pass no inputs to each
 * other: each tap of each result is a word at the input buffer's port. The registers of the other instructions are not
 * changed. The results, in the order [channel][row][column], fill the lanes without gaps. Each unit has
 * ceil(channels / units) channels, the last unit the rest.
 *
 * Batch normalisation of data (S000 A4) without the core reading values: vmean and vvar with the channels as
 * repetitions; scale = gamma * word and offset = beta - mean * scale by vmac and vsub on vectors of one word a channel;
 * vnorm.
 *
 * Time, in accelerator cycles, with row = ceil(count / lanes), levels = ceil(log2(lanes)), D = div_cycles, and turns =
 * ceil(repeat / units), because units take whole repetitions (S000 A4, Part B 0-11: input_para units of fc_para lanes;
 * the registers are the first unit's):
 *   vact                                  ceil(count * repeat / (units * lanes)): values are independent
 *   vmac vadd vsub vcmp vout              beats = ceil(count * repeat / lanes), with accumulate repeat * row; vout row
 *   vdiv                                  the same beats, 1 + D cycles each
 *   vnorm                                 turns * row; with one unit ceil(count * repeat / lanes), without gaps
 *   vmean                                 turns * (row + levels + 1 + D)
 *   vvar                                  turns * (row + levels + 2 * (1 + D))
 *   vvar.sums                             turns * (2 * (row + levels) + 3 + 2 * (1 + D)): two sweeps, three products
 *   vsoftmax                              turns * (3 * row + 2 * levels + row * D)
 *   vpool vconv                           taps * ceil(turns * out_h * out_w / lanes), turns = ceil(channels / units),
 *                                         taps = kx * ky, times the input channels if vconv is not depthwise
 * plus `pipeline` cycles, with scale CNNVP_OPERAND_SCALE_STAGES more, plus the stall at the port of the busiest buffer
 * (cnnvp_buffer.h), which all operands and results in that buffer cross. Words of vpool and vconv at the ports: the
 * taps of each result; each weight and bias once for each group of lanes that works on its channel; the results, four
 * words each if they are partial sums; and the old values that they update, four words for a sum and one for a word. In
 * a beat the banks supply one tap's input for each lane and its weight for each channel, whose own weights are
 * contiguous; once in `taps` beats they take the results.
 */
#ifndef CNNVP_LANES_H
#define CNNVP_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "cnnvp_fx16.h"
#include "cnnvp_isa.h"

#define LANES_MAX 256u /* most lanes of a unit */

/* In the order of the field `operator` of vout. */
enum lanes_operator { LANES_mac, LANES_add, LANES_sub, LANES_div, LANES_cmp, LANES_OPERATORS };

struct lanes_registers {
    int64_t lane[LANES_OPERATORS][LANES_MAX];
};

/* Number of lanes, and the parameters that determine their time. */
struct lanes_shape {
    uint64_t lanes;
    uint64_t units;
    uint64_t pipeline;
    uint64_t div_cycles;
    uint64_t write_out; /* enum cnnvp_write_out_has */
};

/* An instance of a unit made of lanes. */
struct lanes {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct lanes_shape shape;
    uint32_t opcode; /* the only instruction that the unit takes; 0: all */
    const char *refusal;
    uint64_t clock_mhz;
    bool timing_only;
    cnnvp_time busy_until;
    cnnvp_time track_end;
    struct lanes_registers registers;
    struct cnnvp_fx16_unit links; /* ports of vpool and vconv */
};

/*
 * The units' callbacks (lanes_units.c). opcode: the only instruction that the unit takes, 0: all; refusal: its message
 * for other instructions.
 */
void lanes_init(struct lanes *lanes, const struct cnnvp_init *init, const struct lanes_shape *shape, uint32_t opcode,
                const char *refusal);
void lanes_fini(void *self);
void lanes_reset(void *self);
int lanes_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling);
int lanes_access(void *self, uint32_t port, struct cnnvp_access *access);

#endif
