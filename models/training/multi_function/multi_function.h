/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multi-function module of S001 (kind `multi_function`): carries out the instructions 0xb0 and up for the
 * instruction element. It reads tiles from the intermediate buffer, streams them through its blocks (one socket
 * transaction a tile and link, cnnvp_tile.h), and brings results back. This is the definition of its instructions;
 * encoding and registers are in opcodes_multi_function.def and descriptors_multi_function.def, arithmetic in the
 * blocks' own headers.
 *
 * A tile is [images][channels][plane]. Sums of the PE module become binary32 first, sum * 2^scale rounded once, unless
 * `fp32`. Everything is read before anything is written, so results may lie where operands do. A command is atomic: one
 * that is refused (status, one warning) has changed nothing.
 *
 *   tstat      statistics (extremes, stage/extremes.h) and sum (training/stage/sums.h) take the tile; value i of
 * channel c of image n has number first + n * map + i. Entries that channels share have positions without meaning.
 *              convert: the tile in binary32 at out_addr. squares: instead sum of (x - sum / count)^2 into `squares`.
 *   tcoef      coefficients of batch norm (training/batch_norm/batch_norm.c) of entries entry .. entry + channels - 1
 * of the three buffers. form: that of enum cnnvp_norm_form. running: r += running * (batch - r), in binary64, rounded.
 * back: from dbeta and dgamma as tpostback.reduce has left them. texp       m = largest magnitude of the extremes,
 * mapped where asked (training/quantise/quantise.c); without map and with relu that of their positive parts. Exponent
 * floor(log2 m), -128 for 0. each: one for each entry. tpost      batch norm -> ReLU -> quantise -> max pool -> encode;
 * what has no status bit only passes. Mantissa of value (n, c, i): exponent [n * image + c * channel stride] at
 * `block`, random number `first` + n * tensor_image_stride + c * plane + i of the seed. float: values in place of
 * mantissas. keep: matrices after ReLU and pool; they pass the
 * ReLU buffer and the ID buffer, an image after the other from 0 on. measure: nothing but the values' extremes into
 * entries at `block`. park: the values before batch norm, into the other half. tpostback  encode takes the matrices
 * back; max pool back -> ReLU back -> batch norm -> quantise -> encode. Without norm errors pass unchanged. reduce ends
 * at batch norm: dbeta, dgamma, the extremes of the errors (with norm without those at the extremes of batch norm's
 * inputs, which go into its entry) into entries at `block`. convert: errors as they came, in binary32. A position
 * outside its window clears its plane. tsoftmax   softmax/softmax.h; record `result` + n of the output data buffer is a
 * struct cnnvp_class_result and a probability for each class. gradient: rate of the gradient is `factor`; a label that
 * is no class is refused. tupdate    stage/momentum.h, weights and velocities in place; extremes of the new weights.
 *   tbnupdate  bn_update/bn_update.c.
 *   tdecode    mantissa * 2^(exponent - (bits - 2)).
 *   tload, tsave, tclear   bytes of a buffer of the module; tclear of the max-min buffer makes entries without values.
 *
 * Time, in accelerator cycles: the slowest block's, and the pipelines that a tile goes through (fill). V = channels *
 * plane before a pool, T = ceil(images / sets) * ceil(V / lanes), S(n) = ceil(n / (sets * lanes)):
 *   tstat, tpost, tpostback        T (those that only pass cost nothing)
 *   tcoef                          S(channels) * batch_norm.channel_cycles
 *   texp                           S(channels)
 *   tsoftmax                       ceil(images / sets) * ceil(classes / lanes) * (1 + 2 * softmax.exp_cycles)
 *   tupdate, tdecode               S(channels * values)
 *   tbnupdate                      S(2 * channels)
 *   tload, tsave, tclear           S(bytes / 4)
 * and what the port of the intermediate buffer adds for the operand that it holds up most.
 */
#ifndef CNNVP_MULTI_FUNCTION_H
#define CNNVP_MULTI_FUNCTION_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_multi_function;

#endif
