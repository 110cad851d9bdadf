// SPDX-License-Identifier: Apache-2.0
`ifndef NFU_SVH
`define NFU_SVH
`define NFU_ACC 48
// Inputs of a PE.
`define NFU_ROW 2'd0
`define NFU_RIGHT 2'd1
`define NFU_BELOW 2'd2
// Operations: P + K*A, P + A, max{P, A}, K + A with A = 0 (a bias).
`define NFU_MULTIPLY 3'd0
`define NFU_ADD 3'd1
`define NFU_MAXIMUM 3'd2
`define NFU_K_PLUS_A 3'd3
`endif
