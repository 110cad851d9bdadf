/* SPDX-License-Identifier: Apache-2.0 */
/* CSR instructions, what each machine CSR lets through, CSRs that are not there or read-only. */
#include "check.h"
.macro WARL csr, value
    li a2, 0
    csrw \csr, a2
    li a2, 0xffffffff
    csrw \csr, a2
    csrr a1, \csr
    EXPECT a1, \value
    csrw \csr, zero
.endm
.macro NO_CSR number, insn_word
    li a1, 77
    TRAPS_TO 1f
    .balign 4
2:  csrr a1, \number
    j fail
1:  EXPECT_TRAP 2, 2b, \insn_word
    EXPECT a1, 77
.endm
    BEGIN
    .option norvc
    csrwi mscratch, 3
    csrr a0, mscratch
    EXPECT a0, 3
    csrrci a1, mscratch, 1
    EXPECT a1, 3
    csrrsi a2, mscratch, 4
    EXPECT a2, 2
    csrrwi a3, mscratch, 31
    EXPECT a3, 6
    li a0, 0x12345678
    csrrw a0, mscratch, a0
    EXPECT a0, 31
    li a0, 0x0000ffff
    csrrc a0, mscratch, a0
    EXPECT a0, 0x12345678
    li a0, 0x00ff0000
    csrrs a0, mscratch, a0
    EXPECT a0, 0x12340000
    csrr a0, mscratch
    EXPECT a0, 0x12ff0000
    csrr a0, misa
    EXPECT a0, 0x40001105
    csrw misa, zero
    csrr a0, misa
    EXPECT a0, 0x40001105
    li a2, 0x00001800
    csrc mstatus, a2
    csrr a0, mstatus
    EXPECT a0, 0x1800
    csrwi mie, 0
    li a2, -1
    csrw mstatus, a2
    csrr a0, mstatus
    EXPECT a0, 0x1888
    csrw mstatus, zero
    WARL mie, 0x888
    WARL mip, 0
    WARL mepc, 0xfffffffe
    WARL mcause, 0xffffffff
    WARL mtval, 0xffffffff
    WARL mcountinhibit, 5
    WARL pmpaddr0, 0xffffffff
    WARL pmpaddr15, 0xffffffff
    WARL pmpcfg0, 0
    WARL mhpmcounter3, 0
    WARL mhpmevent31, 0
    csrr a2, mtvec
    li a1, -1
    csrw mtvec, a1
    csrr a1, mtvec
    csrw mtvec, a2
    EXPECT a1, 0xfffffffd
    csrr a0, mhartid
    EXPECT a0, 0
    csrr a0, mvendorid
    csrr a0, marchid
    csrr a0, mimpid
    csrr a0, 0xf15
    EXPECT a0, 0
    WARL tselect, 0
    csrr a0, tdata1
    EXPECT a0, 0
    NO_CSR 0x180, 0x180025f3 /* satp */
    NO_CSR 0x302, 0x302025f3 /* medeleg */
    NO_CSR 0x303, 0x303025f3 /* mideleg */
    NO_CSR 0x100, 0x100025f3 /* sstatus */
    NO_CSR 0x001, 0x001025f3 /* fflags */
    NO_CSR 0x744, 0x744025f3 /* mnstatus */
    NO_CSR 0xfff, 0xfff025f3
    /* writes to read-only ones trap, csrrs with x0 does not write */
    csrrs a1, mhartid, zero
    csrrci a1, cycle, 0
    li a1, 77
    TRAPS_TO 1f
2:  csrrw a1, mhartid, zero
    j fail
1:  EXPECT_TRAP 2, 2b, 0xf14015f3
    EXPECT a1, 77
    TRAPS_TO 1f
2:  csrrsi a1, cycle, 1
    j fail
1:  EXPECT_TRAP 2, 2b, 0xc000e5f3
    END
