// SPDX-License-Identifier: Apache-2.0
// nfu_bench: reads layers from standard input, one a line, runs each on the NFU in SystemVerilog with random words,
// compares every result with plain loops, and prints what the hardware counted, one line for each:
//   KIND INPUTS OUTPUTS ROWS COLUMNS KERNEL_ROWS KERNEL_COLUMNS STRIDE_ROWS STRIDE_COLUMNS BIAS BANKS LINE_WORDS
//   WIDTH_WORDS
// KIND is conv, depthwise, max, average (its sums, shifted) or fc; ROWS and COLUMNS are of the padded map.
#include "Vnfu.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

struct layer {
    std::string kind;
    int inputs, outputs, rows, columns, kernel_rows, kernel_columns, stride_rows, stride_columns, bias, banks, line,
        width;
    bool fc() const { return kind == "fc"; }
    bool pool() const { return kind == "max" || kind == "average"; }
    bool each_map() const { return kind == "depthwise" || pool(); }
    int maps() const { return fc() ? 1 : inputs; }
    int map_rows() const { return fc() ? 1 : rows; }
    int map_columns() const { return fc() ? inputs : columns; }
    int out_rows() const { return fc() ? 1 : (rows - kernel_rows) / stride_rows + 1; }
    int out_columns() const { return fc() ? 1 : (columns - kernel_columns) / stride_columns + 1; }
    int taps() const { return fc() ? 1 : kernel_rows * kernel_columns; }
};

enum { SHIFT = 9, BIAS_SHIFT = 4 };

struct bench {
    layer l;
    std::vector<int16_t> map, weight, bias, out;
    std::vector<bool> written;
    Vnfu nfu;
    long mismatches = 0;

    int16_t input(int m, int r, int c) const
    {
        return map[(static_cast<size_t>(m) * l.map_rows() + r) * l.map_columns() + c];
    }
    int16_t tap(int o, int i, int t) const
    {
        return weight[(static_cast<size_t>(o) * (l.each_map() ? 1 : l.inputs) + (l.each_map() ? 0 : i)) * l.taps() + t];
    }

    // Layers with a bias have a ReLU with an upper limit behind them.
    int16_t low() const { return static_cast<int16_t>(l.bias ? 0 : INT16_MIN); }
    int16_t high() const { return static_cast<int16_t>(l.bias ? 6000 : INT16_MAX); }

    int16_t expected(int o, int r, int c) const
    {
        int64_t sum = l.bias ? static_cast<int64_t>(bias[o]) * (1 << BIAS_SHIFT) : 0;
        int64_t maximum = INT64_MIN;
        for (int i = l.each_map() ? o : 0; i < (l.each_map() ? o + 1 : l.inputs); i++)
            for (int t = 0; t < l.taps(); t++) {
                int16_t a = l.fc() ? input(0, 0, i)
                                   : input(i, r * l.stride_rows + t / l.kernel_columns,
                                           c * l.stride_columns + t % l.kernel_columns);
                if (a > maximum)
                    maximum = a;
                sum += l.pool() ? a : static_cast<int64_t>(a) * tap(o, i, t);
            }
        if (l.kind == "max")
            return static_cast<int16_t>(maximum);
        int shift = l.kind == "average" ? 2 : SHIFT;
        sum = (sum + (INT64_C(1) << (shift - 1))) >> shift;
        return static_cast<int16_t>(std::clamp<int64_t>(sum, low(), high()));
    }

    void clock()
    {
        nfu.clk = 0;
        nfu.eval();
        for (int p = 0; p < 64; p++) { // the weight buffer has its words in the clock in which they are asked for
            int o = nfu.weight_output + (l.fc() ? p : 0);
            nfu.weights[p] = static_cast<uint16_t>(l.pool() || o >= l.outputs ? 0
                                                   : nfu.weight_bias          ? bias[o]
                                                                     : tap(o, nfu.weight_input, nfu.weight_tap));
        }
        nfu.eval();
        nfu.clk = 1;
        nfu.eval();
        for (int p = 0; nfu.out_valid && p < 64; p++)
            if (nfu.out_mask >> p & 1) {
                int rows = l.out_rows(), columns = l.out_columns();
                int high = std::min(8, rows - nfu.out_row), wide = std::min(8, columns - nfu.out_column);
                int o = nfu.out_map + (l.fc() ? p : 0), r = l.fc() ? 0 : nfu.out_row + p / 8 - 8 + high,
                    c = l.fc() ? 0 : nfu.out_column + p % 8 - 8 + wide;
                if (o >= l.outputs || r < 0 || r >= rows || c < 0 || c >= columns) {
                    mismatches++;
                    continue;
                }
                size_t at = (static_cast<size_t>(o) * rows + r) * columns + c;
                mismatches += written[at] || static_cast<int16_t>(nfu.out_words[p]) != expected(o, r, c);
                written[at] = true;
            }
    }

    static int log2(int value)
    {
        int bits = 0;
        while (1 << bits < value)
            bits++;
        return bits;
    }

    explicit bench(const layer &of) : l(of)
    {
        std::mt19937 random(static_cast<unsigned>(l.rows * 131 + l.columns * 17 + l.kernel_rows));
        auto words = [&](size_t n) {
            std::vector<int16_t> v(n);
            for (auto &word : v)
                word = static_cast<int16_t>(random() >> (random() % 16)); // of every size; some sums saturate
            return v;
        };
        map = words(static_cast<size_t>(l.maps()) * l.map_rows() * l.map_columns());
        weight = words(static_cast<size_t>(l.outputs) * (l.each_map() ? 1 : l.inputs) * l.taps());
        bias = words(l.outputs);
        written.resize(static_cast<size_t>(l.outputs) * l.out_rows() * l.out_columns());
    }

    int run()
    {
        nfu.banks_log2 = log2(l.banks);
        nfu.line_log2 = log2(l.line);
        nfu.width = l.width;
        nfu.row_words = (l.map_columns() + l.line - 1) / l.line * l.line;
        nfu.bank_rows = (l.map_rows() + l.banks - 1) / l.banks;
        if (static_cast<long>(l.maps()) * nfu.bank_rows * nfu.row_words > 32768)
            return 2;
        nfu.fully_connected = l.fc();
        nfu.each_map = l.each_map();
        nfu.bias = l.bias;
        nfu.op = l.kind == "max" ? 2 : l.kind == "average" ? 1 : 0;
        nfu.outputs = l.outputs;
        nfu.inputs = l.inputs;
        nfu.out_rows = l.out_rows();
        nfu.out_columns = l.out_columns();
        nfu.kernel_rows = l.kernel_rows;
        nfu.kernel_columns = l.kernel_columns;
        nfu.stride_rows = l.stride_rows;
        nfu.stride_columns = l.stride_columns;
        nfu.bias_shift = BIAS_SHIFT;
        nfu.out_shift = l.kind == "max" ? 0 : l.kind == "average" ? 2 : SHIFT;
        nfu.out_low = static_cast<uint16_t>(low());
        nfu.out_high = static_cast<uint16_t>(high());
        nfu.rst = 1;
        nfu.fill = 1;
        for (int m = 0; m < l.maps(); m++)
            for (int r = 0; r < l.map_rows(); r++)
                for (int c = 0; c < l.map_columns(); c++) {
                    nfu.fill_map = m;
                    nfu.fill_row = r;
                    nfu.fill_column = c;
                    nfu.fill_word = static_cast<uint16_t>(input(m, r, c));
                    nfu.clk = 0;
                    nfu.eval();
                    nfu.clk = 1;
                    nfu.eval();
                }
        nfu.fill = 0;
        clock();
        nfu.rst = 0;
        nfu.start = 1;
        clock();
        nfu.start = 0;
        for (long limit = 0; !nfu.done && limit < 4000000; limit++)
            clock();
        for (bool word : written)
            mismatches += !word;
        printf("clocks=%u taps=%u waits=%u bias=%u input=%u weights=%u output=%u mismatches=%ld faults=%d done=%d\n",
               nfu.clocks, nfu.tap_clocks, nfu.wait_clocks, nfu.bias_clocks, nfu.input_words, nfu.weight_words,
               nfu.output_words, mismatches, nfu.fault, nfu.done);
        fflush(stdout);
        return mismatches || nfu.fault || !nfu.done;
    }
};

} // namespace

int main(void)
{
    char kind[16];
    layer l;
    int result = 0;
    while (scanf("%15s %d %d %d %d %d %d %d %d %d %d %d %d", kind, &l.inputs, &l.outputs, &l.rows, &l.columns,
                 &l.kernel_rows, &l.kernel_columns, &l.stride_rows, &l.stride_columns, &l.bias, &l.banks, &l.line,
                 &l.width) == 13) {
        l.kind = kind;
        int failed = std::make_unique<bench>(l)->run();
        if (failed == 2)
            printf("the maps do not fit into the banks\n");
        result |= failed != 0;
    }
    return result;
}
