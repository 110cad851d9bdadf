// SPDX-License-Identifier: Apache-2.0
// The input buffer with its port. Row r of a padded map lies in bank r mod banks, a row begins at a line, and in a clock each
// bank gives words of one line, and the port lets `width` words through. A command names the words that it needs; the port
// collects them in the order of their rows and columns, and the command is executed in the clock in which the last arrives.
// Banks and words of a line are powers of two.
module nfu_input #(
    parameter BANKS = 16,
    parameter BANK_WORDS = 32768
) (
    input logic clk,
    input logic rst,
    // settings
    input logic [2:0] banks_log2,
    input logic [3:0] line_log2,
    input logic [6:0] width,
    // a map's places: words of a row in whole lines, rows that a bank has of a map
    input logic [15:0] row_words,
    input logic [15:0] bank_rows,
    // filling
    input logic fill,
    input logic [15:0] fill_map,
    input logic [15:0] fill_row,
    input logic [15:0] fill_column,
    input logic signed [15:0] fill_word,
    // a command
    input logic valid,
    input logic [15:0] map,
    input logic [15:0] row[8],
    input logic [15:0] column[8],
    input logic [63:0] needed,
    output logic ready,
    output logic [6:0] crossed,  // words that crossed the port in this clock
    output logic signed [15:0] words[64]
);
    logic signed [15:0] store[BANKS][BANK_WORDS];
    logic signed [15:0] held[64];
    logic [63:0] have, take;
    logic [31:0] line[64];
    logic [3:0] bank[8];
    logic [31:0] open_line[BANKS];
    logic [BANKS-1:0] open;

    function automatic [31:0] place(input [15:0] of_map, input [15:0] of_row, input [15:0] of_column);
        return (32'(of_map) * 32'(bank_rows) + (32'(of_row) >> banks_log2)) * 32'(row_words) + 32'(of_column);
    endfunction
    function automatic [3:0] bank_of(input [15:0] of_row);
        return 4'(of_row & ((16'd1 << banks_log2) - 16'd1));
    endfunction

    always_comb begin
        open = '0;
        take = '0;
        crossed = '0;
        for (int b = 0; b < BANKS; b++) open_line[b] = '0;
        for (int r = 0; r < 8; r++) begin
            bank[r] = bank_of(row[r]);
            for (int c = 0; c < 8; c++) begin
                line[8 * r + c] = place(map, row[r], column[c]) >> line_log2;
                if (valid && needed[8 * r + c] && !have[8 * r + c]) begin
                    if (!open[bank[r]]) begin
                        open[bank[r]] = 1'b1;
                        open_line[bank[r]] = line[8 * r + c];
                    end
                    if (open_line[bank[r]] == line[8 * r + c] && crossed < width) begin
                        take[8 * r + c] = 1'b1;
                        crossed = crossed + 1'b1;
                    end
                end
            end
        end
        for (int i = 0; i < 64; i++)
            words[i] = take[i] ? store[bank[i / 8]][BANK_WORDS_BITS'(place(map, row[i / 8], column[i % 8]))] : held[i];
    end
    localparam BANK_WORDS_BITS = $clog2(BANK_WORDS);
    assign ready = (needed & ~(have | take)) == '0;

    always_ff @(posedge clk) begin
        if (fill) store[bank_of(fill_row)][BANK_WORDS_BITS'(place(fill_map, fill_row, fill_column))] <= fill_word;
        have <= rst || ready || !valid ? '0 : have | take;
        held <= words;
    end
endmodule
