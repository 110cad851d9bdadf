// SPDX-License-Identifier: Apache-2.0
// A systolic array: PEs, the skew of its operands, accumulators, the output register of each column, and the sequencer that
// goes through the folds of a product. All control of a fold runs with its wave: the PE in row r and column c sees it r + c
// clocks after the first one, so what stays is loaded (or drained) behind the wave as well.
module systolic #(
    parameter R = 8,
    parameter C = 6,
    parameter ACC = 48,
    parameter DEPTH = 4096
) (
    input logic clk,
    input logic rst,
    input logic start,
    input logic sums_stay,
    input logic own_words,   // depthwise: a word for each PE in place of one for each row
    input logic [1:0] folds, // 0 one after the other, 1 the next one waits in the PEs, 2 it follows behind
    input logic [23:0] groups,
    input logic [23:0] rows,    // what lies along the rows and columns of PEs, and what is streamed, in parts
    input logic [23:0] columns,
    input logic [23:0] length,
    input logic [23:0] part,
    input logic [5:0] out_shift,
    input logic signed [15:0] out_low,
    input logic signed [15:0] out_high,
    // what stays: word `load_row` of each column of a fold; what streams: one for each row, column or PE
    output logic loading,
    output logic [23:0] load_group,
    output logic [23:0] load_row,
    output logic [23:0] load_column,
    input logic signed [15:0] load_words[C],
    output logic streaming,
    output logic [23:0] stream_group,
    output logic [23:0] stream_row,
    output logic [23:0] stream_column,
    output logic [23:0] stream_at,
    input logic signed [15:0] row_words[R],
    input logic signed [15:0] column_words[C],
    input logic signed [15:0] pe_words[R*C],
    // sums on their way out of column c, whose bias is wanted; results
    output logic [23:0] sum_group[C],
    output logic [23:0] sum_column[C],
    output logic [23:0] sum_at[C],
    input logic signed [ACC-1:0] bias[C],
    output logic [C-1:0] out_valid,
    output logic [23:0] out_group[C],
    output logic [23:0] out_column[C],
    output logic [23:0] out_at[C],
    output logic signed [15:0] out_words[C],
    output logic done,
    output logic [31:0] clocks,
    output logic [31:0] kept  // sums that were written to accumulators or read from there
);
    localparam WAVE = 2 * R + C + 1, PLACE = $clog2(DEPTH);
    typedef struct packed {
        logic [23:0] group, first_at, row, column;
    } fold_t;
    typedef struct packed {
        logic valid, first, last, final_one, add, keep;
        logic [23:0] at;
        fold_t fold;
    } wave_t;

    // ---- sequencer ----
    fold_t load_fold, fold;
    logic load_left, fold_left, load_busy, busy, ready, running, go, load_go;
    logic [23:0] load_step, step, size;
    logic [15:0] gap;

    // The fold after f; `more` is 0 where f is the last one.
    function automatic [96:0] after(input fold_t f);
        fold_t n = f;
        logic more = 1'b1;
        if (f.row + 24'(R) < rows) n.row = f.row + 24'(R);
        else begin
            n.row = '0;
            if (f.column + 24'(C) < columns) n.column = f.column + 24'(C);
            else begin
                n.column = '0;
                if (f.first_at + part < length) n.first_at = f.first_at + part;
                else begin
                    n.first_at = '0;
                    n.group = f.group + 1'b1;
                    more = n.group < groups;
                end
            end
        end
        return {more, n};
    endfunction

    assign size = length - fold.first_at < part ? length - fold.first_at : part;
    assign go = running && fold_left && !busy && gap == 0 && (sums_stay || ready);
    assign streaming = busy || go;
    assign load_go = running && !sums_stay && load_left && !load_busy && (!ready || go)
                     && (folds != 0 || (!streaming && gap == 0 && !ready));
    assign loading = load_busy || load_go;
    assign load_group = load_fold.group;
    assign load_row = load_fold.row + 24'(R) - 24'd1 - load_step;
    assign load_column = load_fold.column;
    assign stream_group = fold.group;
    assign stream_row = fold.row;
    assign stream_column = fold.column;
    assign stream_at = fold.first_at + step;

    wave_t now, wave[WAVE + 1];
    logic [96:0] load_after, fold_after;
    assign load_after = after(load_fold);
    assign fold_after = after(fold);
    always_comb begin
        now.valid = streaming;
        now.first = step == 0;
        now.last = step + 1'b1 == size;
        now.final_one = streaming && now.last && !fold_after[96];
        now.add = fold.row != 0;
        now.keep = fold.row + 24'(R) < rows;
        now.at = sums_stay ? fold.row : fold.first_at + step;
        now.fold = fold;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            running <= 1'b0;
            load_busy <= 1'b0;
            busy <= 1'b0;
            ready <= 1'b0;
        end else if (start) begin
            running <= 1'b1;
            load_fold <= '0;
            fold <= '0;
            load_left <= 1'b1;
            fold_left <= 1'b1;
            load_step <= '0;
            step <= '0;
            gap <= '0;
            clocks <= '0;
        end else begin
            if (running) clocks <= clocks + 1;
            if (done) running <= 1'b0;
            if (go) ready <= 1'b0;
            if (loading) begin
                load_busy <= load_step + 1'b1 != 24'(R);
                load_step <= load_step + 1'b1;
                if (load_step + 1'b1 == 24'(R)) begin
                    load_step <= '0;
                    ready <= 1'b1;
                    {load_left, load_fold} <= load_after;
                end
            end
            if (gap != 0) gap <= gap - 1'b1;
            if (streaming) begin
                busy <= !now.last;
                step <= now.last ? '0 : step + 1'b1;
                if (now.last) begin
                    {fold_left, fold} <= fold_after;
                    // two folds' sums may not meet in the registers that drain
                    if (folds != 2) gap <= 16'(R) + 16'(C) - 16'd2 + (folds == 0 && sums_stay ? 16'(R) : 16'd0);
                    else if (sums_stay && size < 24'(R)) gap <= 16'(R) - size[15:0];
                end
            end
        end
    end

    // ---- waves of control and words: what came d clocks ago ----
    logic [R+C-2:0] load_wave, load_past;
    wave_t past[WAVE + 1];
    logic [23:0] load_steps[R + C - 1], steps_past[R + C - 1];
    logic signed [15:0] loads[R + C - 1][C], of_rows[R + C - 1][R], of_columns[R + C - 1][C], of_pes[R + C - 1][R * C];
    logic signed [15:0] loads_past[R + C - 1][C], rows_past[R + C - 1][R], columns_past[R + C - 1][C];
    logic signed [15:0] pes_past[R + C - 1][R * C];
    always_comb begin
        for (int d = 0; d <= WAVE; d++) wave[d] = d == 0 ? now : past[d-1];
        for (int d = 0; d < R + C - 1; d++) begin
            load_wave[d] = d == 0 ? loading : load_past[d-1];
            load_steps[d] = d == 0 ? load_step : steps_past[d-1];
            for (int c = 0; c < C; c++) begin
                loads[d][c] = d == 0 ? load_words[c] : loads_past[d-1][c];
                of_columns[d][c] = d == 0 ? column_words[c] : columns_past[d-1][c];
            end
            for (int r = 0; r < R; r++) of_rows[d][r] = d == 0 ? row_words[r] : rows_past[d-1][r];
            for (int i = 0; i < R * C; i++) of_pes[d][i] = d == 0 ? pe_words[i] : pes_past[d-1][i];
        end
    end
    always_ff @(posedge clk) begin
        past <= wave;
        load_past <= load_wave;
        steps_past <= load_steps;
        loads_past <= loads;
        rows_past <= of_rows;
        columns_past <= of_columns;
        pes_past <= of_pes;
    end

    // ---- PEs ----
    logic signed [15:0] right[R][C], below[R][C];
    logic signed [ACC-1:0] sum[R][C], drain[R][C];
    for (genvar r = 0; r < R; r++) begin : row
        for (genvar c = 0; c < C; c++) begin : column
            logic leave;
            always_comb begin
                leave = 1'b0;
                for (int k = 0; k < r; k++) leave |= wave[R+c+k].valid & wave[R+c+k].last;
            end
            logic signed [15:0] from_left, from_above;
            logic signed [ACC-1:0] sum_above, drain_above;
            if (c == 0) assign from_left = of_rows[r][r];
            else assign from_left = right[r][c-1];
            if (r == 0) begin
                assign from_above = sums_stay ? of_columns[c][c] : loads[c][c];
                assign sum_above = '0;
                assign drain_above = '0;
            end else begin
                assign from_above = below[r-1][c];
                assign sum_above = sum[r-1][c];
                assign drain_above = drain[r-1][c];
            end
            systolic_pe #(.ACC(ACC)) pe (
                .clk, .sums_stay,
                .valid(wave[r+c].valid), .first(wave[r+c].first), .last(wave[r+c].last),
                .load(load_wave[r+c] && load_steps[r+c] + 24'(r) < 24'(R)), .leave,
                .operand(own_words ? of_pes[r+c][r*C+c] : from_left), .above(from_above), .sum_above, .drain_above,
                .right(right[r][c]), .below(below[r][c]), .sum(sum[r][c]), .drain(drain[r][c]));
        end
    end

    // ---- accumulators and results: a stage adds, the next one writes ----
    logic signed [ACC-1:0] store[C][DEPTH];
    logic signed [ACC-1:0] left_array[C], added[C], value[C];
    wave_t leaving[C];
    logic [23:0] end_group[C], end_column[C], end_at[C];
    logic [C-1:0] leaves, ends;
    logic [23:0] rows_up[C];
    always_comb begin
        for (int c = 0; c < C; c++) begin
            leaving[c] = wave[R+c];
            leaves[c] = !sums_stay && leaving[c].valid;
            rows_up[c] = '0;
            for (int k = 0; sums_stay && k < R; k++)
                if (wave[R+c+k+1].valid && wave[R+c+k+1].last) begin
                    leaving[c] = wave[R+c+k+1];
                    leaves[c] = leaving[c].at + 24'(R) - 24'd1 - 24'(k) < rows;
                    rows_up[c] = 24'(R) - 24'd1 - 24'(k);
                end
            if (leaving[c].fold.column + 24'(c) >= columns) leaves[c] = 1'b0;
            sum_group[c] = leaving[c].fold.group;
            sum_column[c] = leaving[c].fold.column + 24'(c);
            sum_at[c] = leaving[c].at + rows_up[c];
            value[c] = sums_stay ? left_array[c] : sum[R-1][c];
            if (!sums_stay && leaving[c].add)
                value[c] = value[c] + store[c][PLACE'(leaving[c].at - leaving[c].fold.first_at)];
        end
        done = running && (sums_stay ? wave[2*R+C].final_one : wave[R+C].final_one);
    end
    logic [31:0] used;
    always_comb begin
        used = '0;
        for (int c = 0; c < C; c++)
            if (leaves[c] && !sums_stay) used = used + 32'(leaving[c].add) + 32'(leaving[c].keep);
    end
    always_ff @(posedge clk) kept <= start ? '0 : kept + used;
    for (genvar c = 0; c < C; c++) begin : out
        always_ff @(posedge clk) begin
            left_array[c] <= drain[R-1][c];
            added[c] <= value[c] + bias[c];
            ends[c] <= leaves[c] && (sums_stay || !leaving[c].keep);
            end_group[c] <= sum_group[c];
            end_column[c] <= sum_column[c];
            end_at[c] <= sum_at[c];
            if (leaves[c] && !sums_stay && leaving[c].keep)
                store[c][PLACE'(leaving[c].at - leaving[c].fold.first_at)] <= value[c];
            out_valid[c] <= ends[c];
            out_group[c] <= end_group[c];
            out_column[c] <= end_column[c];
            out_at[c] <= end_at[c];
        end
        nfu_output #(.ACC(ACC)) register (
            .clk, .shift(out_shift), .low(out_low), .high(out_high), .sum(added[c]), .word(out_words[c]));
    end
endmodule
