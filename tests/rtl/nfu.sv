// SPDX-License-Identifier: Apache-2.0
// The NFU of S002: 8x8 PEs, an input buffer with its port, the sequencer that goes through a layer (tiles, maps, windows
// in rows), and the output register. One window a PE; a tile that is smaller than the array lies against its right and
// bottom edges. A fully connected layer gives one input to all PEs and a weight to each.
`include "nfu.svh"

module nfu #(
    parameter FIFO_STRIDE = 4,
    parameter ACC = `NFU_ACC
) (
    input logic clk,
    input logic rst,
    input logic start,
    // buffer
    input logic [2:0] banks_log2,
    input logic [3:0] line_log2,
    input logic [6:0] width,
    input logic [15:0] row_words,
    input logic [15:0] bank_rows,
    input logic fill,
    input logic [15:0] fill_map,
    input logic [15:0] fill_row,
    input logic [15:0] fill_column,
    input logic signed [15:0] fill_word,
    // the layer; of a fully connected one outputs and inputs, which lie in a row of map 0
    input logic fully_connected,
    input logic each_map,  // an output map has one input map: pools, depthwise kernels
    input logic bias,
    input logic [2:0] op,
    input logic [15:0] outputs,
    input logic [15:0] inputs,
    input logic [15:0] out_rows,
    input logic [15:0] out_columns,
    input logic [3:0] kernel_rows,
    input logic [3:0] kernel_columns,
    input logic [2:0] stride_rows,
    input logic [2:0] stride_columns,
    input logic [5:0] bias_shift,
    input logic [5:0] out_shift,
    input logic signed [15:0] out_low,
    input logic signed [15:0] out_high,
    // weight buffer: words of all PEs, or one for all
    output logic weight_bias,
    output logic [15:0] weight_output,
    output logic [15:0] weight_input,
    output logic [7:0] weight_tap,
    input logic signed [15:0] weights[64],
    // results
    output logic out_valid,
    output logic [15:0] out_map,
    output logic [15:0] out_row,
    output logic [15:0] out_column,
    output logic [63:0] out_mask,
    output logic signed [15:0] out_words[64],
    // what happened
    output logic done,
    output logic fault,
    output logic [31:0] clocks,
    output logic [31:0] tap_clocks,
    output logic [31:0] wait_clocks,
    output logic [31:0] bias_clocks,
    output logic [31:0] input_words,
    output logic [31:0] weight_words,
    output logic [31:0] output_words
);
    logic busy, in_bias;
    logic [15:0] o, i, tile_row, tile_column;
    logic [3:0] ky, kx;
    logic [3:0] high, wide;

    // The tile's windows, and how many PEs have one.
    always_comb begin
        high = out_rows - tile_row < 8 ? 4'(out_rows - tile_row) : 4'd8;
        wide = out_columns - tile_column < 8 ? 4'(out_columns - tile_column) : 4'd8;
    end
    logic [15:0] row[8], column[8];
    logic [63:0] active, needed;
    logic load, right, below;
    assign right = !fully_connected && 4'(stride_columns) <= kx;
    assign below = !fully_connected && !right && 4'(stride_rows) <= ky;
    assign load = !fully_connected && !right && !below;
    always_comb begin
        for (int p = 0; p < 8; p++) begin
            row[p] = fully_connected ? 0 : (tile_row + 16'(p) - 16'd8 + 16'(high)) * 16'(stride_rows) + 16'(ky);
            column[p] = fully_connected ? i : (tile_column + 16'(p) - 16'd8 + 16'(wide)) * 16'(stride_columns) + 16'(kx);
        end
        for (int p = 0; p < 64; p++) begin
            active[p] = fully_connected ? o + 16'(p) < outputs : p / 8 + 32'(high) >= 8 && p % 8 + 32'(wide) >= 8;
            needed[p] = !in_bias && (fully_connected ? p == 0 : active[p] && (load || right && p % 8 == 7 || below && p / 8 == 7));
        end
    end

    logic ready, step;
    logic [6:0] crossed;
    logic signed [15:0] words[64];
    nfu_input input_buffer (
        .clk, .rst, .banks_log2, .line_log2, .width, .row_words, .bank_rows, .fill, .fill_map, .fill_row, .fill_column, .fill_word,
        .valid(busy), .map(fully_connected ? '0 : each_map ? o : i), .row, .column, .needed, .ready, .crossed, .words);
    assign step = busy && ready;

    // The array.
    logic signed [15:0] data[64];
    logic signed [ACC-1:0] result[64];
    logic [63:0] faults;
    logic first_tap, last_tap;
    assign first_tap = ky == 0 && kx == 0;
    generate
        for (genvar r = 0; r < 8; r++) begin : g_row
            for (genvar c = 0; c < 8; c++) begin : g_column
                nfu_pe #(.FIFO_STRIDE(FIFO_STRIDE), .ACC(ACC)) pe (
                    .clk, .rst, .step,
                    .source(right ? `NFU_RIGHT : below && r != 7 ? `NFU_BELOW : `NFU_ROW),
                    .op(in_bias ? `NFU_K_PLUS_A : op), .first(!bias && (each_map || i == 0) && first_tap),
                    .push_h(!in_bias && !fully_connected), .push_v(!in_bias && (load || below)),
                    .flush_h(!in_bias && kx == 0), .flush_v(!in_bias && first_tap),
                    .pop_h(!in_bias && right), .pop_v(!in_bias && below), .bias_shift,
                    .row_in(words[fully_connected ? 0 : 8 * r + c]),
                    .below_in(r == 7 ? 16'sd0 : data[(8 * r + c + 8) % 64]),
                    .right_in(c == 7 ? words[8 * r + 7] : data[(8 * r + c + 1) % 64]),
                    .weight(weights[fully_connected ? 8 * r + c : 0]), .data_out(data[8 * r + c]), .result(result[8 * r + c]),
                    .fault(faults[8 * r + c]));
            end
        end
    endgenerate

    assign weight_bias = in_bias;
    assign weight_output = o;
    assign weight_input = i;
    assign weight_tap = 8'(ky) * 8'(kernel_columns) + 8'(kx);

    // The sequencer.
    logic last_input, last_output, last_column, last_row, window_end;
    assign last_tap = fully_connected || ky + 1 == kernel_rows && kx + 1 == kernel_columns;
    assign last_input = each_map || i + 1 == inputs;
    assign window_end = step && !in_bias && last_tap && last_input;
    assign last_output = fully_connected ? o + 64 >= outputs : o + 1 == outputs;
    assign last_column = fully_connected || tile_column + 8 >= out_columns;
    assign last_row = fully_connected || tile_row + 8 >= out_rows;

    // What follows the pipeline of the PEs to the output register.
    logic [2:0] end_valid;
    logic [15:0] end_map[3], end_row[3], end_column[3];
    logic [63:0] end_mask[3];
    logic last_end;
    logic [6:0] weight_count;
    assign weight_count = fully_connected ? 7'($countones(active)) : 7'd1;

    always_ff @(posedge clk) begin
        out_valid <= 1'b0;
        if (rst) begin
            busy <= 1'b0;
            done <= 1'b0;
            fault <= 1'b0;
            end_valid <= '0;
            last_end <= 1'b0;
            {clocks, tap_clocks, wait_clocks, bias_clocks, input_words, weight_words, output_words} <= '0;
        end else begin
            if (start) begin
                busy <= 1'b1;
                in_bias <= bias;
                {o, i, tile_row, tile_column} <= '0;
                {ky, kx} <= '0;
            end
            if (step) begin
                in_bias <= 1'b0;
                if (!in_bias) begin
                    if (!last_tap) begin
                        kx <= kx + 1 == kernel_columns ? '0 : kx + 1;
                        if (kx + 1 == kernel_columns) ky <= ky + 1;
                    end else begin
                        {ky, kx} <= '0;
                        i <= last_input ? '0 : i + 1;
                        if (last_input) begin
                            in_bias <= bias;
                            o <= last_output ? '0 : fully_connected ? o + 64 : o + 1;
                            if (last_output) begin
                                tile_column <= last_column ? '0 : tile_column + 8;
                                if (last_column) tile_row <= tile_row + 8;
                                if (last_column && last_row) begin
                                    busy <= 1'b0;
                                    last_end <= 1'b1;
                                end
                            end
                        end
                    end
                end
            end
            end_valid <= {end_valid[1:0], window_end};
            out_valid <= end_valid[2];
            if (last_end && end_valid == '0 && !window_end) done <= 1'b1;
            if (|faults) fault <= 1'b1;
            if (busy || last_end && !done) clocks <= clocks + 1;
            if (busy && in_bias) bias_clocks <= bias_clocks + 1;
            if (step && !in_bias) tap_clocks <= tap_clocks + 1;
            if (busy && !step) wait_clocks <= wait_clocks + 1;
            input_words <= input_words + 32'(crossed);
            if (step && !(op == `NFU_MAXIMUM || op == `NFU_ADD)) weight_words <= weight_words + 32'(weight_count);
            if (end_valid[2]) output_words <= output_words + 32'($countones(end_mask[2]));
        end
        end_map <= '{o, end_map[0], end_map[1]};
        end_row <= '{tile_row, end_row[0], end_row[1]};
        end_column <= '{tile_column, end_column[0], end_column[1]};
        end_mask <= '{active, end_mask[0], end_mask[1]};
        out_map <= end_map[2];
        out_row <= end_row[2];
        out_column <= end_column[2];
        out_mask <= end_mask[2];
    end
    generate
        for (genvar p = 0; p < 64; p++) begin : g_output
            nfu_output #(.ACC(ACC)) stage (.clk, .shift(out_shift), .low(out_low), .high(out_high), .sum(result[p]), .word(out_words[p]));
        end
    endgenerate
endmodule
