// SPDX-License-Identifier: Apache-2.0
// A processing element of S002: one of three inputs is selected as A; M = P + K*A, P + A or K + A, C = max{P, A}; A goes into
// FIFO-H and FIFO-V where the command says so, and the data output is the head of one of the two. Squares are left out.
// Three stages: A and K in registers, the product in a register, P.
`include "nfu.svh"

module nfu_pe #(
    parameter FIFO_STRIDE = 4,
    parameter ACC = `NFU_ACC
) (
    input logic clk,
    input logic rst,
    input logic step,  // a command is executed in this clock
    input logic [1:0] source,
    input logic [2:0] op,
    input logic first,  // of a window: P is zero before it
    input logic push_h,
    input logic push_v,
    input logic flush_h,
    input logic flush_v,
    input logic pop_h,  // the neighbour on the left takes the data output
    input logic pop_v,  // the neighbour above does
    input logic [5:0] bias_shift,
    input logic signed [15:0] row_in,
    input logic signed [15:0] below_in,
    input logic signed [15:0] right_in,
    input logic signed [15:0] weight,
    output logic signed [15:0] data_out,
    output logic signed [ACC-1:0] result,
    output logic fault  // a FIFO without a word to give, or without room
);
    /* verilator no_inline_module */  // one class, 64 objects: a tenth of the time to compile
    logic signed [15:0] selected, head_h, head_v;
    logic fault_h, fault_v;
    assign selected = source == `NFU_RIGHT ? right_in : source == `NFU_BELOW ? below_in : row_in;

    nfu_fifo #(.DEPTH(FIFO_STRIDE)) fifo_h (
        .clk, .rst, .flush(step & flush_h), .push(step & push_h), .pop(step & pop_h), .in(selected), .head(head_h), .fault(fault_h));
    nfu_fifo #(.DEPTH(FIFO_STRIDE * FIFO_STRIDE)) fifo_v (
        .clk, .rst, .flush(step & flush_v), .push(step & push_v), .pop(step & pop_v), .in(selected), .head(head_v), .fault(fault_v));
    assign data_out = pop_v ? head_v : head_h;
    assign fault = fault_h | fault_v;

    logic signed [15:0] a1, k1, a2, k2;
    logic signed [31:0] product;
    logic [2:0] op1, op2;
    logic first1, first2, valid1, valid2;
    logic signed [ACC-1:0] p, augend, addend, wide_k;
    assign wide_k = ACC'(k2) <<< bias_shift;
    assign augend = op2 == `NFU_K_PLUS_A ? wide_k : first2 ? '0 : p;
    assign addend = op2 == `NFU_MULTIPLY ? ACC'(product) : ACC'(a2);
    assign result = p;

    always_ff @(posedge clk) begin
        if (rst) begin
            valid1 <= 1'b0;
            valid2 <= 1'b0;
        end else begin
            valid1 <= step;
            valid2 <= valid1;
        end
        if (step) begin
            a1 <= selected;
            k1 <= weight;
            op1 <= op;
            first1 <= first;
        end
        if (valid1) begin
            product <= a1 * k1;
            a2 <= op1 == `NFU_K_PLUS_A ? '0 : a1;
            k2 <= k1;
            op2 <= op1;
            first2 <= first1;
        end
        if (valid2) begin
            if (op2 == `NFU_MAXIMUM) p <= first2 || ACC'(a2) > p ? ACC'(a2) : p;
            else p <= augend + addend;
        end
    end
endmodule
