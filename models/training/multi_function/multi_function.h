/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multi-function module of S001 (kind `multi_function`): executes the instructions 0xb0 and up for the instruction
 * element. It reads tiles from the intermediate buffer, streams them through its blocks (one socket transaction for
 * each tile and connection, cnnvp_tile.h), and writes the results back. This comment defines its instructions. Encoding
 * and registers are in opcodes_multi_function.def and descriptors_multi_function.def, the arithmetic in the blocks' own
 * headers.
 *
 * A tile is [images][channels][plane]. Sums of the PE module are first converted to binary32, sum * 2^scale rounded
 * once, unless `fp32`. Everything is read before anything is written, so results may overlap operands. A command is
 * atomic: if it is refused (status, one warning), nothing has changed.
 *
 *   tstat      Statistics (extremes, stage/extremes.h) and sum (stage/sums.h) take the tile. Value i of channel c of
 *              image n has number first + n * map + i. Entries that channels share have positions without meaning.
 *              convert: writes the tile in binary32 to out_addr. squares: adds (x - sum / count)^2 to `squares`
 *              instead.
 *   tcoef      Coefficients of batch norm (batch_norm/batch_norm.c) of entries entry .. entry + channels - 1 of the
 *              three buffers. form: enum cnnvp_norm_form. running: r += running * (batch - r) in binary64, then
 *              rounded. back: backward coefficients, from dbeta and dgamma of tpostback.reduce.
 *   texp       m = largest magnitude of the extremes, mapped if asked (quantise/quantise.c); with relu and without map,
 *              that of their positive parts. The exponent is floor(log2 m), -128 for 0. each: one for each entry.
 *   tpost      batch norm -> ReLU -> quantise -> max pool -> encode. Values pass unchanged through blocks whose status
 *              bit is 0. The mantissa of value (n, c, i) has exponent [n * image + c * channel stride] at `block` and
 *              random number `first` + n * tensor_image_stride + c * plane + i of the seed. float: values instead of
 *              mantissas. keep: stores the matrices of ReLU and pool, which pass the ReLU buffer and the ID buffer, one
 *              image after the other from 0 on. measure: only writes the values' extremes to entries at `block`. park:
 *              writes the values before batch norm to the other half.
 *   tpostback  encode unpacks the matrices; then max pool back -> ReLU back -> batch norm -> quantise -> encode.
 *              Without norm, errors pass batch norm unchanged. reduce: ends at batch norm with dbeta, dgamma and the
 *              extremes of the errors, written to entries at `block`; with norm, the errors at the extremes of batch
 *              norm's inputs are left out and go into its entry. convert: writes the errors as they came, in binary32.
 *              A position outside its window clears its plane.
 *   tsoftmax   softmax/softmax.c. Record `result` + n of the output data buffer is a struct cnnvp_class_result followed
 *              by a probability for each class. gradient: its factor is `factor`; a label that is no class is refused.
 *   tupdate    stage/momentum.h, weights and velocities in place; extremes of the new weights.
 *   tbnupdate  bn_update/bn_update.c.
 *   tdecode    mantissa * 2^(exponent - (bits - 2)).
 *   tload, tsave, tclear   bytes of a buffer of the module; tclear of the max-min buffer makes entries without values.
 *
 * Time, in accelerator cycles: that of the slowest block, plus the pipelines that a tile goes through (fill). With
 * V = channels * plane before a pool, T = ceil(images / sets) * ceil(V / lanes), S(n) = ceil(n / (sets * lanes)):
 *   tstat, tpost, tpostback        T (blocks that values only pass cost nothing)
 *   tcoef                          S(channels) * batch_norm.channel_cycles
 *   texp                           S(channels)
 *   tsoftmax                       ceil(images / sets) * ceil(classes / lanes) * (1 + 2 * softmax.exp_cycles)
 *   tupdate, tdecode               S(channels * values)
 *   tbnupdate                      S(2 * channels)
 *   tload, tsave, tclear           S(bytes / 4)
 * plus the longest stall of an operand at a buffer's port.
 */
#pragma once

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_multi_function;
