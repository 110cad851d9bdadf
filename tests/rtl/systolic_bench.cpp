// SPDX-License-Identifier: Apache-2.0
// systolic_bench: reads layers from standard input, one a line, runs each on the systolic array in SystemVerilog with
// random words, compares every result with plain loops, and prints what was counted, one line for each:
//   KIND INPUTS OUTPUTS ROWS COLUMNS KERNEL_ROWS KERNEL_COLUMNS STRIDE_ROWS STRIDE_COLUMNS BIAS DATAFLOW FOLDS DEPTH
// KIND is conv, depthwise or fc; ROWS and COLUMNS are of the padded map; DATAFLOW is ws, os or is; FOLDS 0 to 2; DEPTH
// sums are what the accumulators of a column hold. K goes over the channels of a tap, then to the next tap.
#include "Vsystolic.h"
#include "verilated.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

enum { R = 8, C = 6, SHIFT = 9, BIAS_SHIFT = 4 }; // the module's own sizes

struct layer {
    std::string kind, dataflow;
    long inputs, outputs, rows, columns, ky, kx, sy, sx, bias, folds, depth;
    bool fc() const { return kind == "fc"; }
    bool alone() const { return kind == "depthwise"; }
    bool ws() const { return dataflow == "ws"; }
    bool os() const { return dataflow == "os"; }
    bool is() const { return dataflow == "is"; }
    bool own() const { return alone() && !is(); }
    long taps() const { return fc() ? 1 : ky * kx; }
    long out_columns() const { return fc() ? 1 : (columns - kx) / sx + 1; }
    // the product of matrices
    long k() const { return taps() * (alone() ? 1 : inputs); }
    long n() const { return alone() && is() ? 1 : outputs; }
    long p() const { return fc() ? 1 : ((rows - ky) / sy + 1) * out_columns(); }
    long groups() const { return alone() && is() ? outputs : 1; }
};

struct bench {
    layer l;
    std::vector<int16_t> map, weight, bias;
    std::vector<bool> written;
    Vsystolic array;
    long mismatches = 0, input_words = 0, weight_words = 0, output_words = 0;

    // Input and weight of a product; channel: of a depthwise layer. Beyond the edges there is nothing.
    int16_t input(long k, long p, long channel) const
    {
        if (k >= l.k() || p >= l.p() || channel >= l.inputs)
            return 0;
        if (l.fc())
            return map[k];
        long in = l.alone() ? channel : k % l.inputs, tap = l.alone() ? k : k / l.inputs;
        long y = p / l.out_columns() * l.sy + tap / l.kx, x = p % l.out_columns() * l.sx + tap % l.kx;
        return map[(in * l.rows + y) * l.columns + x];
    }
    int16_t tap(long k, long n, long group) const
    {
        long channel = l.is() && l.alone() ? group : n;
        if (k >= l.k() || n >= l.n())
            return 0;
        if (l.alone())
            return weight[channel * l.taps() + k];
        return weight[(n * l.inputs + k % l.inputs) * l.taps() + k / l.inputs];
    }
    int16_t low() const { return static_cast<int16_t>(l.bias ? 0 : INT16_MIN); }
    int16_t high() const { return static_cast<int16_t>(l.bias ? 6000 : INT16_MAX); }
    int64_t bias_of(long n) const { return l.bias && n < l.outputs ? int64_t{bias[n]} * (1 << BIAS_SHIFT) : 0; }

    // From the definition of the layer, whatever the array makes of it.
    int16_t expected(long output, long p) const
    {
        int64_t sum = bias_of(output);
        for (long in = 0; in < (l.alone() ? 1 : l.inputs); in++)
            for (long ky = 0; ky < (l.fc() ? 1 : l.ky); ky++)
                for (long kx = 0; kx < (l.fc() ? 1 : l.kx); kx++) {
                    long channel = l.alone() ? output : in;
                    int64_t a = l.fc() ? map[in]
                                       : map[(channel * l.rows + p / l.out_columns() * l.sy + ky) * l.columns +
                                             p % l.out_columns() * l.sx + kx];
                    sum += a * weight[((l.alone() ? output : output * l.inputs + in) * l.taps()) + ky * l.kx + kx];
                }
        sum = (sum + (INT64_C(1) << (SHIFT - 1))) >> SHIFT;
        return static_cast<int16_t>(std::clamp<int64_t>(sum, low(), high()));
    }

    void give(uint16_t &word, int16_t value, bool used, long &words)
    {
        word = static_cast<uint16_t>(used ? value : 0);
        words += used;
    }

    void feed()
    {
        for (long c = 0; c < C; c++) {
            long k = array.load_row, col = array.load_column + c;
            bool used = array.loading && k < l.k() && col < (l.is() ? l.p() : l.n());
            if (l.is())
                give(array.load_words[c], input(k, col, array.load_group), used, input_words);
            else
                give(array.load_words[c], tap(k, col, 0), used, weight_words);
            col = array.stream_column + c;
            give(array.column_words[c], tap(array.stream_at, col, 0), l.os() && array.streaming && col < l.n(),
                 weight_words);
        }
        for (long r = 0; r < R; r++) {
            long row = array.stream_row + r, at = array.stream_at;
            bool used = array.streaming && row < (l.os() ? l.p() : l.k());
            if (l.is())
                give(array.row_words[r], tap(row, at, array.stream_group), used, weight_words);
            else
                give(array.row_words[r], l.os() ? input(at, row, 0) : input(row, at, 0), used && !l.own(), input_words);
            for (long c = 0; c < C; c++) {
                long channel = array.stream_column + c;
                give(array.pe_words[r * C + c], l.os() ? input(at, row, channel) : input(row, at, channel),
                     used && l.own() && channel < l.n(), input_words);
            }
        }
        for (long c = 0; c < C; c++)
            array.bias[c] = static_cast<uint64_t>(bias_of(l.groups() > 1 ? array.sum_group[c]
                                                          : l.is()       ? array.sum_at[c]
                                                                         : array.sum_column[c])) &
                            0xffffffffffff;
    }

    void take()
    {
        for (long c = 0; c < C; c++)
            if (array.out_valid >> c & 1) {
                long n = l.groups() > 1 ? array.out_group[c] : l.is() ? array.out_at[c] : array.out_column[c];
                long p = l.is() ? array.out_column[c] : array.out_at[c];
                output_words++;
                if (n >= l.outputs || p >= l.p()) {
                    mismatches++;
                    continue;
                }
                mismatches += written[n * l.p() + p] || static_cast<int16_t>(array.out_words[c]) != expected(n, p);
                written[n * l.p() + p] = true;
            }
    }

    void clock()
    {
        array.clk = 0;
        array.eval();
        feed();
        array.eval();
        array.clk = 1;
        array.eval();
        take();
    }

    explicit bench(const layer &of) : l(of)
    {
        std::mt19937 random(static_cast<unsigned>(l.rows * 131 + l.columns * 17 + l.ky + l.inputs));
        auto words = [&](long n) {
            std::vector<int16_t> v(n);
            for (auto &word : v)
                word = static_cast<int16_t>(random() >> (random() % 16)); // of every size; some sums saturate
            return v;
        };
        map = words(l.fc() ? l.inputs : l.inputs * l.rows * l.columns);
        weight = words(l.outputs * (l.alone() ? 1 : l.inputs) * l.taps());
        bias = words(l.outputs);
        written.resize(l.outputs * l.p());
    }

    bool run()
    {
        long along = l.os() ? l.p() : l.k(), streamed = l.ws() ? l.p() : l.os() ? l.k() : l.n(), part = streamed;
        for (long parts = 1; !l.os() && along > R && part > l.depth; part = (streamed + parts - 1) / parts)
            parts++;
        array.sums_stay = l.os();
        array.own_words = l.own();
        array.folds = l.folds;
        array.groups = l.groups();
        array.rows = along;
        array.columns = l.is() ? l.p() : l.n();
        array.length = streamed;
        array.part = part;
        array.out_shift = SHIFT;
        array.out_low = static_cast<uint16_t>(low());
        array.out_high = static_cast<uint16_t>(high());
        array.rst = 1;
        for (int i = 0; i < 3 * (R + C); i++)
            clock();
        array.rst = 0;
        array.start = 1;
        clock();
        array.start = 0;
        bool done = false;
        for (long limit = 0; !done && limit < 4000000; limit++) {
            array.clk = 0;
            array.eval();
            done = array.done;
            clock();
        }
        for (bool word : written)
            mismatches += !word;
        printf("clocks=%u input=%ld weights=%ld output=%ld kept=%u mismatches=%ld done=%d\n", array.clocks, input_words,
               weight_words, output_words, array.kept, mismatches, done);
        return mismatches == 0 && done;
    }
};

} // namespace

int main(void)
{
    char kind[16], dataflow[4];
    layer l;
    bool right = true;
    while (scanf("%15s %ld %ld %ld %ld %ld %ld %ld %ld %ld %3s %ld %ld", kind, &l.inputs, &l.outputs, &l.rows,
                 &l.columns, &l.ky, &l.kx, &l.sy, &l.sx, &l.bias, dataflow, &l.folds, &l.depth) == 13) {
        l.kind = kind;
        l.dataflow = dataflow;
        right &= std::make_unique<bench>(l)->run();
    }
    return !right;
}
