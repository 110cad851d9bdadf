/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction element with four units that do nothing but take the time that a command's immediate says. */
#ifndef CNNVP_TEST_RIG_H
#define CNNVP_TEST_RIG_H

#include "fake_host.h"
#include "units.h"
#include "isa/isa.h"

/* Bits of a tile instruction's immediate, for the units here. */
#define TAKES(cycles) ((uint32_t)(cycles))
#define PENDS 0x10000u  /* answers CNNVP_PENDING and announces the end; otherwise the end is known at once */
#define REFUSE 0x20000u /* answers CNNVP_E_INVAL */
#define FAILS 0x40000u  /* with PENDS: the completion has status CNNVP_E_MEMORY */

#define RIG_COMMANDS 4096u
#define RIG_MEMORY 0x80000000u

struct rig_command {
    uint64_t cycle;
    struct cnnvp_command command;
};

struct rig {
    struct fake_sim sim;
    struct cnnvp_host *element;
    struct cnnvp_host *workers[4]; /* array, vector, dma, custom_0 */
    struct cnnvp_unit custom;      /* table of the last one */
    struct rig_command commands[RIG_COMMANDS];
    uint32_t count;
    uint32_t forgotten; /* times that the DMA was told to forget requests */
    uint32_t capacity;  /* commands that a worker holds; more are refused with CNNVP_E_STATE */
    uint64_t mhz;
    int every_cycle; /* units cannot work ahead: something else happens each cycle */
};

/* Set parameters of rig->element, and instructions of rig->custom, between rig_new and rig_start. */
struct rig *rig_new(uint64_t mhz);
void rig_start(struct rig *rig);
void rig_free(struct rig *rig);

/* Lets time pass until the edge of `cycle`; what happens at that edge has happened. */
void rig_to(struct rig *rig, uint64_t cycle);
/* Until nothing more happens, at most to `cycle`. */
void rig_finish(struct rig *rig, uint64_t cycle);
/* A count of the element up to now. */
uint64_t rig_count(struct rig *rig, const char *statistic);
uint64_t rig_cycle(const struct rig *rig);

void rig_push(struct rig *rig, uint64_t word);
void rig_push_all(struct rig *rig, const uint64_t *words, uint32_t count);

/* Sum of the element's stall and idle cycles, of all layers. */
uint64_t rig_accounted(const struct rig *rig);

/* Instruction words. */
uint64_t w_none(enum isa_code code);
uint64_t w_imm(enum isa_code code, uint32_t immediate);
uint64_t w_ri(enum isa_code code, uint32_t rd, uint32_t immediate);
uint64_t w_rr(enum isa_code code, uint32_t rd, uint32_t ra);
uint64_t w_rri(enum isa_code code, uint32_t rd, uint32_t ra, uint32_t immediate);
uint64_t w_rrr(enum isa_code code, uint32_t rd, uint32_t ra, uint32_t rb);
uint64_t w_branch(enum isa_code code, uint32_t ra, uint32_t rb, int32_t offset);
uint64_t w_tile(enum isa_code code, uint32_t status, uint32_t base, uint32_t halves, uint32_t immediate);

#endif
