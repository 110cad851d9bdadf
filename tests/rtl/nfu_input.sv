// SPDX-License-Identifier: Apache-2.0
// The input buffer with its port. Row r of a padded map lies in bank r mod banks, a row begins at a line, and in a clock each
// bank gives words of one line, and the port, a crossbar, lets `width` words of them through. A command names the words that it
// needs, and is executed in the clock in which the last arrives.
//
// Clocks that what is missing takes at least: as many as one bank has lines, or as the port needs for all words. A bank with as many
// lines as clocks are left gives a whole one now: its shortest, or a longer one where the port has room beside those of the other
// such banks. What room is left then goes to the other banks' longest lines, also to parts of them.
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

    function automatic [31:0] place(input [15:0] of_map, input [15:0] of_row, input [15:0] of_column);
        return (32'(of_map) * 32'(bank_rows) + (32'(of_row) >> banks_log2)) * 32'(row_words) + 32'(of_column);
    endfunction
    function automatic [3:0] bank_of(input [15:0] of_row);
        return 4'(of_row & ((16'd1 << banks_log2) - 16'd1));
    endfunction

    // A line stands for its words by the first of them that is missing: how many they are.
    logic [63:0] missing, first;
    logic [3:0] count[64];
    logic [6:0] lines[BANKS];
    logic [6:0] total, left, clocks;
    always_comb begin
        missing = valid ? needed & ~have : '0;
        first = '0;
        total = 7'($countones(missing));
        for (int b = 0; b < BANKS; b++) lines[b] = '0;
        for (int r = 0; r < 8; r++) begin
            bank[r] = bank_of(row[r]);
            for (int c = 0; c < 8; c++) begin
                line[8 * r + c] = place(map, row[r], column[c]) >> line_log2;
                count[8 * r + c] = '0;
                first[8 * r + c] = missing[8 * r + c];
                for (int d = 0; d < c; d++)
                    if (missing[8 * r + d] && line[8 * r + d] == line[8 * r + c]) first[8 * r + c] = 1'b0;
                if (first[8 * r + c]) lines[bank[r]] = lines[bank[r]] + 1'b1;
            end
            for (int c = 0; c < 8; c++)
                for (int d = c; d < 8; d++)
                    if (first[8 * r + c] && missing[8 * r + d] && line[8 * r + d] == line[8 * r + c])
                        count[8 * r + c] = count[8 * r + c] + 1'b1;
        end
        clocks = (total + width - 1'b1) / width;
        for (int b = 0; b < BANKS; b++)
            if (lines[b] > clocks) clocks = lines[b];
    end

    // The line that each bank gives, by the number of its first word, and how many of its words.
    logic [BANKS-1:0] whole;
    logic [5:0] chosen[BANKS];
    logic [3:0] given[BANKS], shortest;
    always_comb begin
        left = width;
        shortest = '0;
        for (int b = 0; b < BANKS; b++) begin
            whole[b] = lines[b] != '0 && lines[b] == clocks;
            chosen[b] = '0;
            given[b] = '0;
            for (int i = 0; i < 64; i++)
                if (whole[b] && first[i] && bank[i / 8] == 4'(b) && (given[b] == '0 || count[i] < given[b])) begin
                    chosen[b] = 6'(i);
                    given[b] = count[i];
                end
            left = left - 7'(given[b]);
        end
        for (int b = 0; b < BANKS; b++) begin
            shortest = given[b];
            for (int i = 0; i < 64; i++)
                if (whole[b] && first[i] && bank[i / 8] == 4'(b) && count[i] > given[b] && 7'(count[i]) <= left + 7'(shortest)) begin
                    chosen[b] = 6'(i);
                    given[b] = count[i];
                end
            left = left - 7'(given[b]) + 7'(shortest);
        end
        for (int b = 0; b < BANKS; b++) begin
            for (int i = 0; i < 64; i++)
                if (!whole[b] && first[i] && bank[i / 8] == 4'(b) && count[i] > given[b]) begin
                    chosen[b] = 6'(i);
                    given[b] = count[i];
                end
            if (!whole[b] && 7'(given[b]) > left) given[b] = 4'(left);
            if (!whole[b]) left = left - 7'(given[b]);
        end
    end

    logic [3:0] taken;
    always_comb begin
        take = '0;
        taken = '0;
        for (int b = 0; b < BANKS; b++) begin
            taken = '0;
            for (int c = 0; c < 8; c++)
                if (taken < given[b] && missing[8 * (chosen[b] / 8) + 6'(c)] && line[8 * (chosen[b] / 8) + 6'(c)] == line[chosen[b]]) begin
                    take[8 * (chosen[b] / 8) + 6'(c)] = 1'b1;
                    taken = taken + 1'b1;
                end
        end
        crossed = width - left;
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
