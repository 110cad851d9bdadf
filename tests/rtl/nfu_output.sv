// SPDX-License-Identifier: Apache-2.0
// A PE's output: the sum shifted right, rounded half up, saturated to 16 bits, kept within limits, in a register.
`include "nfu.svh"

module nfu_output #(
    parameter ACC = `NFU_ACC
) (
    input logic clk,
    input logic [5:0] shift,
    input logic signed [15:0] low,
    input logic signed [15:0] high,
    input logic signed [ACC-1:0] sum,
    output logic signed [15:0] word
);
    /* verilator no_inline_module */  // one class, 64 objects: a tenth of the time to compile
    logic signed [ACC-1:0] half, rounded, shifted;
    logic signed [15:0] saturated;
    assign half = sum >>> (shift - 1'b1);
    assign rounded = (half + 1) >>> 1;
    assign shifted = shift == 0 ? sum : rounded;
    assign saturated = shifted > ACC'(16'sh7fff) ? 16'sh7fff : shifted < -ACC'(16'sh7fff) - 1 ? 16'sh8000 : shifted[15:0];
    always_ff @(posedge clk) word <= saturated < low ? low : saturated > high ? high : saturated;
endmodule
