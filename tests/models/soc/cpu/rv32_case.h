/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the core share: instructions as words, and a machine that runs them from the start of RAM. */
#ifndef CNNVP_TESTS_RV32_CASE_H
#define CNNVP_TESTS_RV32_CASE_H

#include "test.h"

#include "rv32_machine.h"

#define RAM MACHINE_RAM
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ZERO = 0, T0 = 5, T1 = 6, A0 = 10, A1 = 11, A2 = 12 };
enum { MTVEC = 0x305, MEPC = 0x341, MCAUSE = 0x342, MIE = 0x304, MSTATUS = 0x300, MCYCLE = 0xb00, MINSTRET = 0xb02 };

#define WFI 0x10500073u
#define ECALL 0x00000073u
#define NOP 0x00000013u
#define FENCE_I 0x0000100fu

static inline uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return (imm & 0xfffu) << 20 | rs1 << 15 | rd << 7 | 0x13u;
}

static inline uint32_t lui(uint32_t rd, uint32_t imm)
{
    return (imm & 0xfffff000u) | rd << 7 | 0x37u;
}

static inline uint32_t lw(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return (imm & 0xfffu) << 20 | rs1 << 15 | 2u << 12 | rd << 7 | 0x03u;
}

static inline uint32_t sw(uint32_t rs2, uint32_t rs1, uint32_t imm)
{
    return (imm >> 5 & 0x7fu) << 25 | rs2 << 20 | rs1 << 15 | 2u << 12 | (imm & 31u) << 7 | 0x23u;
}

/* imm: even, -256 .. 254 */
static inline uint32_t jump(int imm)
{
    uint32_t u = (uint32_t)imm;
    return (u >> 20 & 1u) << 31 | (u >> 1 & 0x3ffu) << 21 | (u >> 11 & 1u) << 20 | (u & 0xff000u) | 0x6fu;
}

struct machine *rv32_begin(const uint32_t *words, size_t count);
void rv32_end(struct machine *m);
enum cnnvp_rv32_reason rv32_go(struct machine *m, uint64_t limit, uint64_t expected);
uint32_t rv32_csr_of(struct machine *m, unsigned number);

#endif
