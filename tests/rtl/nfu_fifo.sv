// SPDX-License-Identifier: Apache-2.0
// A FIFO that may take a word in the clock in which it gives one, and loses what it has in a flush, before it takes.
module nfu_fifo #(
    parameter DEPTH = 4
) (
    input logic clk,
    input logic rst,
    input logic flush,
    input logic push,
    input logic pop,
    input logic signed [15:0] in,
    output logic signed [15:0] head,
    output logic fault
);
    localparam BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam [BITS-1:0] LAST = BITS'(DEPTH - 1);
    logic signed [15:0] words[0:DEPTH-1];
    logic [BITS-1:0] first, free;
    logic [BITS:0] count;
    assign head = words[first];
    assign fault = !flush && (pop && count == 0 || push && !pop && count > {1'b0, LAST});

    always_ff @(posedge clk) begin
        if (push) words[flush ? '0 : free] <= in;
        if (rst || flush) begin
            first <= '0;
            free <= push && LAST != 0 ? 1 : '0;
            count <= push ? 1 : '0;
        end else begin
            if (push) free <= free == LAST ? '0 : free + 1'b1;
            if (pop) first <= first == LAST ? '0 : first + 1'b1;
            count <= count + (BITS + 1)'(push) - (BITS + 1)'(pop);
        end
    end
endmodule
