// SPDX-License-Identifier: Apache-2.0
// write_out_bench: random sums through the write-out in SystemVerilog and through the model's: the same words, each
// after as many clocks as the model says.
#include "Vwrite_out.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>

extern "C" {
#include "inference/write_out/write_out.h"
}

// Words of 16 bits, or of 8 with a zero point.
static int compare(bool narrow)
{
    enum { WORDS = 1000000 };
    std::mt19937_64 random(42);
    std::deque<int16_t> expected;
    Vwrite_out lane;
    long wrong = 0, inner = 0, ties = 0;
    uint32_t before = 0;
    const int16_t low = narrow ? -110 : -20000, high = narrow ? 120 : 30000;
    lane.low = static_cast<uint16_t>(low);
    lane.high = static_cast<uint16_t>(high);
    lane.narrow = narrow;
    lane.zero = static_cast<uint8_t>(-77);
    for (long i = 0; i < WORDS + CNNVP_WRITE_OUT_SCALE_STAGES; ++i) {
        const uint64_t bits = random();
        // any sum of 47 bits; the multiplier makes most of them words; every fourth is a power of two, for ties
        const int bits_of_sum = 1 + static_cast<int>(bits % 46);
        const int64_t sum = static_cast<int64_t>(random()) >> (64 - bits_of_sum);
        const int power = 127 + (narrow ? 6 : 14) - bits_of_sum + static_cast<int>(bits >> 8 & 3);
        struct cnnvp_scale scale = {bits >> 40 & 1 ? static_cast<int32_t>(random()) >> (bits >> 41 & 31) : 0, 0.0f};
        const uint32_t multiplier =
            static_cast<uint32_t>(power) << 23 | (bits >> 16 & 3 ? static_cast<uint32_t>(random()) >> 9 : 0) |
            (bits >> 32 & 1) << 31;
        std::memcpy(&scale.multiplier, &multiplier, sizeof multiplier);
        int16_t record[CNNVP_SCALE_WORDS], word;
        std::memcpy(record, &scale, sizeof record);
        struct cnnvp_write_out stage = {};
        stage.rounding = CNNVP_ROUNDING_NEAREST;
        stage.clips = 1;
        stage.low = low;
        stage.high = high;
        stage.word_bytes = narrow ? 1 : 2;
        stage.zero = -77;
        stage.scales = record;
        stage.scale_sums = 1;
        cnnvp_write_out(&stage, &sum, 1, 0, &word);
        expected.push_back(word);
        inner += word > low && word < high && word != 0;
        ties += (multiplier & 0x7fffff) == 0;
        lane.sum = static_cast<uint64_t>(sum) & ((UINT64_C(1) << 48) - 1);
        lane.offset = static_cast<uint32_t>(scale.offset);
        lane.multiplier = before; /* a multiplier is wanted a clock after its sum */
        before = multiplier;
        lane.clk = 0;
        lane.eval();
        lane.clk = 1;
        lane.eval();
        if (expected.size() < CNNVP_WRITE_OUT_SCALE_STAGES)
            continue;
        if (static_cast<int16_t>(lane.word) != expected.front() && wrong++ < 5)
            std::printf("word %ld is %d, %d in the model\n", i, static_cast<int16_t>(lane.word), expected.front());
        expected.pop_front();
    }
    std::printf("%d words, %ld of them within the limits and not 0, %ld of powers of two: %ld differ\n", WORDS, inner,
                ties, wrong);
    return wrong != 0 || inner < WORDS / 4 || ties < WORDS / 8;
}

int main()
{
    return compare(false) | compare(true);
}
