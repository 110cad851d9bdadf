// SPDX-License-Identifier: Apache-2.0
// A lane of the write-out that scales, rounded to nearest, a sum in each clock and its word three clocks later: the offset;
// binary32 of that, times the multiplier, whose exponent is neither all ones nor 0; rounding to 24 bits, to a whole number,
// saturation, where words have 8 bits the zero point and their saturation, and limits.
module write_out #(
    parameter ACC = 48
) (
    input logic clk,
    input logic signed [ACC-1:0] sum,
    input logic signed [31:0] offset,
    input logic [31:0] multiplier,
    input logic narrow,
    input logic signed [7:0] zero,
    input logic signed [15:0] low,
    input logic signed [15:0] high,
    output logic signed [15:0] word
);
    // the offset
    logic signed [ACC:0] moved;
    logic negative;
    logic [ACC:0] magnitude;
    assign moved = (ACC + 1)'(sum) + (ACC + 1)'(offset);
    always_ff @(posedge clk) begin
        negative <= moved < 0;
        magnitude <= moved < 0 ? -moved : moved;
    end

    // binary32, and the product: significand * 2^exponent
    logic [5:0] leading;
    logic [ACC:0] aligned;
    logic up;
    logic [24:0] rounded;
    always_comb begin
        leading = 0;
        for (int i = 0; i <= ACC; ++i) if (magnitude[i]) leading = 6'(i);
        aligned = magnitude << (6'(ACC) - leading);
        up = aligned[ACC-24] && (aligned[ACC-25:0] != 0 || aligned[ACC-23]);
        rounded = 25'(aligned[ACC:ACC-23]) + 25'(up);
    end
    logic minus;
    logic [47:0] product;
    logic signed [9:0] exponent;
    always_ff @(posedge clk) begin
        minus <= negative ^ multiplier[31];
        product <= 48'(rounded) * 48'({1'b1, multiplier[22:0]});
        exponent <= 10'(leading) - 10'd23 + 10'(multiplier[30:23]) - 10'd150;
    end

    // 24 bits of it, the whole number next to those, the word
    logic even_up;
    logic [24:0] significand;
    logic signed [9:0] power;
    logic [5:0] right;
    logic [24:0] whole;
    logic [25:0] rest;
    logic signed [26:0] value;
    logic signed [15:0] saturated;
    always_comb begin
        significand = product[47] ? 25'(product[47:24]) + 25'(product[23] && (product[22:0] != 0 || product[24]))
                                  : 25'(product[46:23]) + 25'(product[22] && (product[21:0] != 0 || product[23]));
        power = exponent + (product[47] ? 10'd24 : 10'd23);
        right = power < -10'sd26 ? 6'd26 : power < 0 ? 6'(-power) : 6'd0;
        whole = significand >> right;
        rest = 26'(significand) << (6'd26 - right);
        even_up = rest[25] && (rest[24:0] != 0 || whole[0]);
        value = 27'(whole) + 27'(right != 0 && even_up);
        value = power >= 0 && significand != 0 ? 27'sh2000000 : value;
        value = minus ? -value : value;
        saturated = value > 27'sd32767 ? 16'sh7fff : value < -27'sd32768 ? 16'sh8000 : value[15:0];
    end
    logic signed [16:0] moved_word;
    logic signed [15:0] result;
    assign moved_word = 17'(saturated) + 17'(zero);
    assign result = !narrow ? saturated : moved_word > 127 ? 16'sd127 : moved_word < -128 ? -16'sd128 : moved_word[15:0];
    always_ff @(posedge clk) word <= result < low ? low : result > high ? high : result;
endmodule
