/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding module (S001 abstract, Part B 1-22): packs mantissas, the ReLU's 0/1 matrix and the pool's position
 * matrix for external memory. Mantissas and exponents lie in two regions; exponents are bytes as they are, one a
 * block, in the order of blocks.
 *
 * Packed form: `width` bits a value, two's complement for mantissas, value i at bits i * width and up of a
 * little-endian bit string (bit 0 of byte 0 first); the last byte is filled with zeros.
 */
#ifndef CNNVP_ENCODER_H
#define CNNVP_ENCODER_H

#include "cnnvp_model.h"

/* Bytes of n packed values; width 1 .. 32. UINT64_MAX where they do not fit into 64 bits. */
uint64_t cnnvp_encoder_bytes(uint64_t n, uint32_t width);

/* Mantissas of 2 .. 8 bits from and to bytes, of 2 .. 24 from and to int32_t. Width 8 is a copy. */
void cnnvp_encoder_pack(const int8_t *mantissas, uint64_t n, uint32_t width, uint8_t *packed);
void cnnvp_encoder_unpack(const uint8_t *packed, uint64_t n, uint32_t width, int8_t *mantissas);
void cnnvp_encoder_pack_wide(const int32_t *mantissas, uint64_t n, uint32_t width, uint8_t *packed);
void cnnvp_encoder_unpack_wide(const uint8_t *packed, uint64_t n, uint32_t width, int32_t *mantissas);

/* Unsigned values of 1 bit (the 0/1 matrix) to 8 bits; 2 bits: positions in a 2x2 window. */
void cnnvp_encoder_pack_bits(const uint8_t *values, uint64_t n, uint32_t width, uint8_t *packed);
void cnnvp_encoder_unpack_bits(const uint8_t *packed, uint64_t n, uint32_t width, uint8_t *values);

#endif
