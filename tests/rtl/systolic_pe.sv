// SPDX-License-Identifier: Apache-2.0
// A processing element of a systolic array. What stays is a word (`held`, the next one in `next`) whose products go down the
// column, or the sum, which leaves by `drain`. `first` and `last` come with the operands of a fold.
module systolic_pe #(
    parameter ACC = 48
) (
    input logic clk,
    input logic sums_stay,
    input logic valid,
    input logic first,
    input logic last,
    input logic load,   // `next` takes the word above
    input logic leave,  // `drain` takes the sum above
    input logic signed [15:0] operand,
    input logic signed [15:0] above,        // what stays on its way down, or the operand of the column
    input logic signed [ACC-1:0] sum_above,
    input logic signed [ACC-1:0] drain_above,
    output logic signed [15:0] right,
    output logic signed [15:0] below,
    output logic signed [ACC-1:0] sum,
    output logic signed [ACC-1:0] drain
);
    /* verilator no_inline_module */
    logic signed [15:0] held, next, word;
    logic signed [ACC-1:0] result;
    assign word = sums_stay ? above : first ? next : held;
    assign result = (sums_stay ? first ? '0 : sum : sum_above) + ACC'(operand * word);
    assign below = next;
    always_ff @(posedge clk) begin
        if (valid) begin
            right <= operand;
            held <= word;
            sum <= result;
        end
        if (sums_stay ? valid : load) next <= above;
        if (valid && last) drain <= result;
        else if (leave) drain <= drain_above;
    end
endmodule
