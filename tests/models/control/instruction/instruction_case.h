/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the instruction element share. */
#ifndef CNNVP_TESTS_INSTRUCTION_CASE_H
#define CNNVP_TESTS_INSTRUCTION_CASE_H

#include "test.h"

#include "control/instruction/element.h"
#include "rig.h"

#define RECEIVE(buffer, halves, takes) w_tile(ISA_receive, buffer, 0, halves, TAKES(takes) | PENDS)
#define CONV(halves, takes) w_tile(ISA_conv, 0, 0, halves, TAKES(takes))
#define STORE(halves, takes) w_tile(ISA_store, 2, 0, halves, TAKES(takes) | PENDS)
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

struct rig *started(void);

void check_cycles(const struct rig *rig, const uint64_t *cycles, uint32_t count);

void check_error(struct rig *rig, uint32_t cause, uint32_t pc, uint64_t word, int32_t status);

/* One failing word; the next goes on when the error is cleared, not before. */
void fails_and_goes_on(const uint64_t *words, uint32_t failing, uint32_t cause, int32_t status);

#endif
