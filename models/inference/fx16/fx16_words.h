/* SPDX-License-Identifier: Apache-2.0 */
/* Write-out of FX16 words in bulk, for every unit that writes them. The definition is cnnvp_round_fx16
 * (cnnvp_command.h). */
#ifndef CNNVP_FX16_WORDS_H
#define CNNVP_FX16_WORDS_H

#include "cnnvp_command.h"

/* words[i] = cnnvp_round_fx16(sums[i], shift, rounding, cnnvp_round_random(seed, first + i)). shift: -48 .. 63. Returns
 * how many words were clipped. */
uint64_t cnnvp_fx16_round_words(const int64_t *sums, uint64_t count, int32_t shift, uint32_t rounding, uint64_t seed,
                                uint64_t first, int16_t *words);

#endif
