/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector unit's element-by-element instructions against a machine of this file that works on one element after the
 * other, in 128 bits, straight from the definitions in lanes.h; time, errors, reset.
 */
#include "vector_bench.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

#define LANES_HERE 256

/* ---- the reference ---- */

struct machine {
    int64_t lane[5][LANES_HERE]; /* mac add sub div cmp */
    uint8_t *half[3];
    uint64_t clipped;
};

static int64_t low64(wide value)
{
    const uint64_t bits = (uint64_t)value;
    int64_t result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static wide floor_divide(wide a, wide b)
{
    const wide quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int16_t clip(struct machine *m, wide value)
{
    if (value > 32767 || value < -32768) {
        ++m->clipped;
        return value > 0 ? 32767 : -32768;
    }
    return (int16_t)value;
}

static int16_t write_out(struct machine *m, int64_t sum, int32_t shift, uint32_t rounding, uint64_t random)
{
    if (shift <= 0)
        return clip(m, (wide)sum * ((wide)1 << -shift));
    const wide unit = (wide)1 << shift;
    const wide floor = floor_divide(sum, unit);
    const wide rest = sum - floor * unit;
    int up;
    if (rounding == 0)
        up = sum < 0 && rest != 0;
    else if (rounding == 1)
        up = 2 * rest > unit || (2 * rest == unit && floor % 2 != 0);
    else
        up = rounding == 2 && rest > (wide)(random & (uint64_t)(unit - 1));
    return clip(m, floor + up);
}

static int64_t shifted(int64_t value, int32_t s)
{
    return s >= 0 ? low64((wide)value * ((wide)1 << s)) : low64(floor_divide(value, (wide)1 << -s));
}

/* a * 2^-shift / b by 128-bit fractions; |a| < 2^60 and shifts of -48 .. 48 fit. */
static int64_t divided(int64_t a, int64_t b, int32_t shift, uint32_t rounding, uint64_t random)
{
    if (b == 0)
        return a > 0 ? 32767 : a < 0 ? -32768 : 0;
    wide numerator = a < 0 ? -(wide)a : a;
    wide denominator = b < 0 ? -(wide)b : b;
    if (shift < 0)
        numerator *= (wide)1 << -shift;
    else
        denominator *= (wide)1 << shift;
    wide quotient = numerator / denominator;
    const wide rest = numerator % denominator;
    int up = 0;
    if (rounding == 1)
        up = 2 * rest > denominator || (2 * rest == denominator && quotient % 2 != 0);
    else if (rounding == 2) {
        wide fraction = 0; /* first 32 bits of rest / denominator */
        wide left = rest;
        for (int bit = 0; bit < 32; ++bit) {
            left *= 2;
            fraction = 2 * fraction + (left >= denominator);
            left -= left >= denominator ? denominator : 0;
        }
        up = fraction > (wide)(random & UINT32_MAX);
    } else if (rounding == 3) {
        up = (a < 0) != (b < 0) && rest != 0;
    }
    quotient += up;
    if (quotient > INT64_MAX)
        quotient = INT64_MAX;
    return (int64_t)((a < 0) != (b < 0) ? -quotient : quotient);
}

static int64_t fetch(const uint8_t *half, int64_t at, int bytes)
{
    if (bytes > 2) {
        int64_t slot = half[at + bytes - 1] >= 128 ? -1 : 0;
        memcpy(&slot, half + at, (size_t)bytes);
        return slot;
    }
    int16_t word;
    memcpy(&word, half + at, 2);
    return word;
}

static int64_t result_of(uint32_t opcode, uint32_t status, const struct vector_tile *t, int64_t a, int64_t b, int64_t c,
                         uint64_t random)
{
    const int32_t s = (int8_t)(t->format >> 8);
    switch (opcode) {
    case OP_vmac:
        return low64((wide)a * b);
    case OP_vadd:
        return low64((wide)shifted(a, s < 0 ? -s : 0) + shifted(b, s < 0 ? 0 : s));
    case OP_vsub:
        return low64((wide)shifted(a, s < 0 ? -s : 0) - shifted(b, s < 0 ? 0 : s));
    case OP_vdiv:
        return divided(a, b, (int8_t)t->format, t->format >> 16 & 3u, random);
    case OP_vnorm:
        return low64((wide)(a - t->b_stride) * b + shifted(c, s));
    default:
        a = shifted(a, s < 0 ? -s : 0);
        b = shifted(b, s < 0 ? 0 : s);
        return (status & MINIMUM) ? (a < b ? a : b) : (a > b ? a : b);
    }
}

static void reference(struct machine *m, int lanes, uint32_t opcode, uint32_t status, const struct vector_tile *t)
{
    static const int operators[] = {0, 1, 2, 3, 4};
    const int source_a = status & 3u;
    const int source_b = status >> 2 & 3u;
    const int is_norm = opcode == OP_vnorm;
    const int accumulates = !is_norm && (status & ACCUMULATE);
    const int op = is_norm ? 0 : operators[opcode - OP_vmac];
    const int slot_words = t->format >> 18 & 7u;
    const int bytes = source_a != WIDE ? 2 : slot_words == 0 ? 8 : 2 * slot_words;
    const uint8_t *from_a = m->half[source_a == WIDE ? OUT : source_a];
    for (int64_t o = 0; o < t->repeat; ++o)
        for (int64_t i = 0; i < t->count; ++i) {
            const uint64_t e = (uint64_t)(o * t->count + i);
            const int64_t a = fetch(from_a, t->a_addr + bytes * (o * t->a_repeat + i * t->a_stride), bytes);
            int64_t b = t->immediate;
            int64_t c = 0;
            if (is_norm) {
                b = fetch(m->half[source_b], t->b_addr + 2 * o * t->b_repeat, 2);
                c = fetch(m->half[source_b], t->c_addr + 2 * o * t->c_repeat, 2);
            } else if (source_b != IMM) {
                b = fetch(m->half[source_b], t->b_addr + 2 * (o * t->b_repeat + i * t->b_stride), 2);
            }
            const uint64_t random = cnnvp_round_random(t->seed, e);
            int64_t r = result_of(opcode, status, t, a, b, c, random);
            int64_t *lane = &m->lane[op][accumulates ? i % lanes : (int64_t)(e % (uint64_t)lanes)];
            if (accumulates && opcode == OP_vcmp)
                r = (status & MINIMUM) ? (r < *lane ? r : *lane) : (r > *lane ? r : *lane);
            else if (accumulates)
                r = low64((wide)*lane + r);
            *lane = r;
            if (!(status & STORE))
                continue;
            int16_t word =
                opcode == OP_vdiv ? clip(m, r) : write_out(m, r, (int8_t)t->format, t->format >> 16 & 3u, random);
            if ((status & LIMIT) && word > (int16_t)(t->limits >> 16))
                word = (int16_t)(t->limits >> 16);
            if ((status & LIMIT) && word < (int16_t)t->limits)
                word = (int16_t)t->limits;
            memcpy(m->half[OUT] + t->out_addr + 2 * (o * t->out_repeat + i), &word, 2);
        }
}

/* ---- random programs ---- */

static void fill_random(struct bench *bench, struct machine *m, uint32_t *seed)
{
    for (int b = 0; b < 3; ++b) {
        int16_t *words = bench_data(bench, b, 0);
        for (uint32_t i = 0; i < BENCH_HALF / 2u; ++i) {
            const uint32_t r = bench_random(seed);
            const int32_t value = ((int32_t)(r % 65536u) - 32768) / (1 << (r >> 20 & 7u));
            words[i] = (int16_t)(r % 7u == 0 ? 0 : value);
        }
        memcpy(m->half[b], words, BENCH_HALF);
    }
}

static struct vector_tile random_tile(uint32_t *seed)
{
    static const int8_t shifts[] = {-48, -9, -1, 0, 1, 4, 8, 15, 20, 33, 48};
    struct vector_tile t;
    uint32_t r[16];
    for (int i = 0; i < 16; ++i)
        r[i] = bench_random(seed);
    t.count = 1u + r[0] % (r[1] % 4u == 0 ? 600u : 40u);
    t.repeat = 1u + r[2] % 5u;
    t.a_stride = (int32_t)(r[3] % 4u) - 1;
    t.b_stride = (int32_t)(r[4] % 4u) - 1;
    t.a_repeat = r[5] % 3u == 0 ? t.a_stride * (int32_t)t.count : (int32_t)(r[5] % 700u) - 100;
    t.b_repeat = r[6] % 3u == 0 ? t.b_stride * (int32_t)t.count : (int32_t)(r[6] % 50u) - 10;
    t.c_repeat = (int32_t)(r[7] % 5u) - 2;
    t.out_repeat = r[8] % 3u == 0 ? (int32_t)t.count : (int32_t)(r[8] % 700u) - 100;
    /* near each other, so that results often reach operands */
    t.a_addr = 32768u + 2u * (r[9] % 160u);
    t.b_addr = 32768u + 2u * (r[10] % 160u);
    t.c_addr = 32768u + 2u * (r[11] % 160u);
    t.out_addr = r[12] % 3u == 0 ? t.a_addr : 32768u + 2u * (r[12] % 160u);
    t.immediate = (int32_t)(r[13] % 2000u) - 1000;
    t.format = FORMAT(shifts[r[14] % 11u], (int32_t)(r[15] % 20u) - 6, r[15] >> 8 & 1u ? 1u : r[14] / 11u % 4u);
    t.format |= (r[15] >> 12) % 5u << 18; /* words of a slot */
    t.seed = r[13];
    const int32_t low = (int32_t)(r[14] % 60000u) - 32768;
    t.limits = (uint32_t)(low & 0xffff) | (uint32_t)(low + (int32_t)(r[15] % 5000u)) << 16;
    return t;
}

/* 64-bit slots get large values, but so that a quotient's 128-bit reference does not overflow. */
static void fill_slots(struct bench *bench, struct machine *m, uint32_t *seed)
{
    for (uint32_t at = 20000; at < 60000; at += 8u) {
        const int64_t slot =
            ((int64_t)bench_random(seed) << 36 ^ (int64_t)bench_random(seed) << 12) - (INT64_C(1) << 59);
        memcpy((uint8_t *)bench_data(bench, OUT, 0) + at, &slot, 8);
        memcpy(m->half[OUT] + at, &slot, 8);
    }
}

static void test_random_instructions(void **state)
{
    static uint8_t memory[3][BENCH_HALF];
    static const uint32_t opcodes[] = {OP_vmac, OP_vadd, OP_vsub, OP_vdiv, OP_vcmp, OP_vnorm};
    static const int lane_counts[] = {1, 3, 16, 256};
    uint32_t seed = 5;
    (void)state;
    for (size_t l = 0; l < sizeof lane_counts / sizeof lane_counts[0]; ++l) {
        struct bench bench;
        struct machine m = {.half = {memory[0], memory[1], memory[2]}};
        bench_open(&bench, (uint64_t)lane_counts[l], 0);
        for (int n = 0; n < 1500; ++n) {
            if (n % 50 == 0)
                fill_random(&bench, &m, &seed);
            const struct vector_tile t = random_tile(&seed);
            const uint32_t opcode = opcodes[bench_random(&seed) % 6u];
            uint32_t status = bench_random(&seed) & (opcode == OP_vcmp ? 0x7fu : 0x3fu);
            if (opcode == OP_vnorm)
                status = (status & 0x23u) | (status >> 2 & 3u) % 3u << 2;
            status |= n % 3 == 0 ? LIMIT : 0u;
            if ((status & 3u) == WIDE && (n % 2 || opcode == OP_vdiv))
                fill_slots(&bench, &m, &seed);
            assert_true(bench_run(&bench, opcode, status, 0, &t) > 0);
            reference(&m, lane_counts[l], opcode, status, &t);
            if (memcmp(bench_data(&bench, OUT, 0), memory[OUT], BENCH_HALF) != 0)
                print_error("instruction %d: opcode 0x%02x status 0x%02x count %u repeat %u a %u+%d,%d b %u+%d,%d "
                            "out %u,%d format 0x%06x\n",
                            n, opcode, status, t.count, t.repeat, t.a_addr, t.a_stride, t.a_repeat, t.b_addr,
                            t.b_stride, t.b_repeat, t.out_addr, t.out_repeat, t.format);
            assert_memory_equal(bench_data(&bench, OUT, 0), memory[OUT], BENCH_HALF);
        }
        assert_int_equal(fake_count(bench.vector, "saturations"), m.clipped);
        for (uint32_t op = 0; op < 5; ++op) { /* the registers, low words */
            const struct vector_tile t = {.count = (uint32_t)lane_counts[l], .out_addr = 64, .format = FORMAT(9, 0, 1)};
            assert_true(bench_run(&bench, OP_vout, op, 0, &t) > 0);
            for (int i = 0; i < lane_counts[l]; ++i)
                assert_int_equal(((int16_t *)bench_data(&bench, OUT, 0))[32 + i],
                                 write_out(&m, m.lane[op][i], 9, 1, 0));
        }
        bench_close(&bench);
    }
}

/* Each word is compared with its limits; a write-out without them refuses the command. */
static void test_limits(void **state)
{
    const struct vector_tile t = {.count = 40, .repeat = 2, .limits = 0x00060000u, .immediate = 9};
    (void)state;
    for (uint64_t has = 0; has < 2; ++has) {
        struct bench bench;
        bench_open_write_out(&bench, has);
        const int64_t took = bench_run(&bench, OP_vadd, B(IMM) | STORE | LIMIT, 0, &t);
        assert_int_equal(fake_count(bench.vector, "cmp_operations"), has != 0 ? 80 : 0);
        assert_int_equal(fake_count(bench.vector, "add_operations"), has != 0 ? 80 : 0);
        assert_true(has != 0 ? took == 5 + 4 : took == CNNVP_E_INVAL);
        if (has != 0)
            assert_int_equal(*(int16_t *)bench_data(&bench, OUT, 0), 6);
        else
            assert_non_null(strstr(bench.vector->message, "no limits"));
        bench_close(&bench);
    }
}

/* (a - 3) * 2 + 1 in words of 8 bits, each result less 100, worked out by hand; what may have no zero point. */
static void test_zero_points(void **state)
{
    static const int8_t a[] = {3, -128, 127, 50, 0};
    static const int8_t expected[] = {-99, -128, 127, -5, -105};
    struct vector_tile t = {
        .count = 5,
        .repeat = 1,
        .a_stride = 1,
        .b_stride = 3,
        .b_addr = 64,
        .c_addr = 66,
        .format = FORMAT(0, 0, 1) | 1u << 29 | 1u << 31 | 0x9cu << 21};
    struct bench bench;
    (void)state;
    bench_open(&bench, 16, 0);
    memcpy(bench_data(&bench, IN, 0), a, sizeof a);
    ((int16_t *)bench_data(&bench, WT, 0))[32] = 2;
    ((int16_t *)bench_data(&bench, WT, 0))[33] = 1;
    assert_true(bench_run(&bench, OP_vnorm, B(WT) | STORE, 0, &t) > 0);
    assert_memory_equal(bench_data(&bench, OUT, 0), expected, sizeof expected);
    assert_int_equal(fake_count(bench.vector, "saturations"), 2);
    assert_int_equal(fake_count(bench.vector, "sub_operations"), 5);
    assert_int_equal(fake_count(bench.vector, "add_operations"), 5);
    assert_int_equal(fake_count(bench.vector, "mac_operations"), 5); /* the scale has 16 bits */
    assert_true(bench_run(&bench, OP_vmean, 0, 0, &t) == CNNVP_E_INVAL);
    for (uint32_t b = 0; b < 2; ++b) { /* both operands, or one, in words of 8 bits */
        t.format |= 1u << 30;
        assert_true(bench_run(&bench, OP_vmac, (b != 0 ? B(WT) : B(IMM)) | STORE, 0, &t) > 0);
        assert_int_equal(fake_count(bench.vector, "mac_operations"), 10);
        assert_int_equal(fake_count(bench.vector, "int8_mac_operations"), b != 0 ? 5 : 0);
    }
    assert_true(bench_run(&bench, OP_vmac, A(WIDE) | B(WT) | STORE, 0, &t) > 0); /* sums have more than 8 bits */
    assert_int_equal(fake_count(bench.vector, "mac_operations"), 15);
    t.format ^= 1u << 31;
    assert_true(bench_run(&bench, OP_vnorm, B(WT) | STORE, 0, &t) == CNNVP_E_INVAL);
    bench_close(&bench);
}

/* Operands whose exact results would be another number, with zero points -3 and 9: those are onnxruntime's answers.
 * Then limits of what lanes take, an ordinary tie, a difference beyond 9 bits, and words of 8 bits with a zero point.
 */
static void test_scaled(void **state)
{
    static const struct {
        uint32_t opcode;
        int16_t a, b;
        uint32_t of_a, of_b, by;
        int32_t zero;
        int16_t word;
    } cases[] = {
        {OP_vadd, -128, 43, 0x3ca3d70a, 0x3ca3d70a, 0x3d23d70a, 0, -43},
        {OP_vadd, -128, 21, 0x3ca3d70a, 0x3ca3d70a, 0x3d23d70a, 0, -53},
        {OP_vadd, -128, 47, 0x3ca3d70a, 0x3ca3d70a, 0x3d23d70a, -17, -40},
        {OP_vadd, 127, 44, 0x3ca3d70a, 0x3ca3d70a, 0x3d23d70a, -17, 86},
        {OP_vsub, -128, -117, 0x3cf5c28f, 0x3c23d70a, 0x3d75c28f, 0, -45},
        {OP_vsub, 127, 66, 0x3cf5c28f, 0x3c23d70a, 0x3d75c28f, 0, 53},
        {OP_vmac, -69, -1, 0x3ca3d70a, 0x3cf5c28f, 0x3a9d4952, 5, 35},
        {OP_vmac, 69, -1, 0x3ca3d70a, 0x3cf5c28f, 0x3a9d4952, 5, -35},
        {OP_vadd, 1, 0, 0x3f000000, 0x3f800000, 0x3f800000, 0, 0}, /* 0.5 */
        {OP_vadd, 1, 0, 0x3f000000, 0x3f800000, 0x3f800000, 1, 1},
        {OP_vadd, 900, 1000, 0x3f800000, 0x3f000000, 0x3f800000, 0, 382}, /* 255 + 127.5 */
        {OP_vsub, -900, 900, 0x3f800000, 0x3f800000, 0x3f800000, 0, -256 - 255},
        {OP_vmac, 200, 200, 0x71800000, 0x71800000, 0x0d800000, 0, 32767}, /* 2^100, 2^-100 */
        {OP_vmac, 200, 200, 0x0d800000, 0x0d800000, 0x71800000, 0, 0},
    };
    struct bench bench;
    struct vector_tile t = {
        .count = 1, .repeat = 1, .a_addr = 64, .b_addr = 32, .out_addr = 8, .format = FORMAT(0, 7, 1)};
    int16_t *a, *b, *out;
    (void)state;
    bench_open_write_out(&bench, 2);
    a = bench_data(&bench, IN, 0);
    b = bench_data(&bench, WT, 0);
    out = bench_data(&bench, OUT, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        a[32] = (int16_t)(cases[i].a - 3);
        b[16] = (int16_t)(cases[i].b + 9);
        t.c_addr = cases[i].of_a;
        t.c_repeat = (int32_t)cases[i].of_b;
        t.immediate = (int32_t)cases[i].by;
        t.seed = 0xfdu | 9u << 8 | (uint32_t)cases[i].zero << 16;
        assert_int_equal(bench_run(&bench, cases[i].opcode, A(IN) | B(WT) | STORE | SCALE, 0, &t), 1 + 4 + 6);
        assert_int_equal(out[4], cases[i].word);
    }
    assert_int_equal(fake_count(bench.vector, "fp32_mac_operations"), 2 * sizeof cases / sizeof cases[0]);
    assert_int_equal(fake_count(bench.vector, "mac_operations") + fake_count(bench.vector, "add_operations"), 0);
    *(int8_t *)a = -128;
    *(int8_t *)b = 100;
    t.a_addr = t.b_addr = t.seed = 0;
    t.c_addr = (uint32_t)(t.c_repeat = t.immediate = 0x3f800000);
    t.limits = 0x007fffe0u;
    t.format |= 0xe0000000u | 20u << 21;
    assert_true(bench_run(&bench, OP_vadd, A(IN) | B(WT) | STORE | SCALE, 0, &t) > 0);
    assert_int_equal(((int8_t *)out)[8], -28 + 20);
    assert_true(bench_run(&bench, OP_vsub, A(IN) | B(WT) | STORE | SCALE | LIMIT, 0, &t) > 0);
    assert_int_equal(((int8_t *)out)[8], -32);
    bench_close(&bench);
}

/* (sum + offset) * multiplier; 16 777 217 is no binary32. */
static void test_scaled_sums(void **state)
{
    static const struct {
        int64_t sum;
        int32_t offset;
        uint32_t by;
        int16_t word;
    } cases[] = {
        {1000, -100, 0x3c23d70a, 9},  /* 0.01 */
        {15, -10, 0x3f000000, 2},     /* 2.5 */
        {-15, 8, 0x3f000000, -4},     /* -3.5 */
        {16777217, 0, 0x33800000, 1}, /* 2^-24 */
        {INT64_C(1) << 40, 0, 0x3f800000, 32767},
    };
    struct bench bench;
    struct vector_tile t = {.count = 1, .repeat = 1, .out_addr = 16, .format = FORMAT(9, 0, 1)};
    (void)state;
    bench_open_write_out(&bench, 2);
    uint8_t *const out = bench_data(&bench, OUT, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        memcpy(out, &cases[i].sum, sizeof cases[i].sum);
        t.c_addr = (uint32_t)cases[i].offset;
        t.immediate = (int32_t)cases[i].by;
        assert_int_equal(bench_run(&bench, OP_vdiv, A(WIDE) | B(IMM) | STORE | SCALE, 0, &t), 1 + 8 + 4 + 6);
        assert_int_equal(fetch(out, 16, 2), cases[i].word);
    }
    assert_int_equal(fake_count(bench.vector, "fp32_mac_operations"), sizeof cases / sizeof cases[0]);
    assert_int_equal(fake_count(bench.vector, "div_operations"), 0);
    assert_int_equal(fake_count(bench.vector, "saturations"), 1);
    assert_int_equal(bench_run(&bench, OP_vdiv, A(WIDE) | B(IN) | STORE | SCALE, 0, &t), CNNVP_E_INVAL);
    bench_close(&bench);
}

static void test_scaled_refusals(void **state)
{
    static const struct {
        uint64_t write_out;
        uint32_t opcode, status, rounding, by;
        const char *why;
    } faults[] = {
        {1, OP_vadd, B(WT) | SCALE, 1, 0x3f800000, "does not scale"},
        {2, OP_vadd, B(IMM) | SCALE, 1, 0x3f800000, "words of buffers"},
        {2, OP_vadd, A(WIDE) | SCALE, 1, 0x3f800000, "words of buffers"},
        {2, OP_vmac, B(WT) | SCALE | ACCUMULATE, 1, 0x3f800000, "not accumulated"},
        {2, OP_vsub, B(WT) | SCALE, 0, 0x3f800000, "to nearest"},
        {2, OP_vadd, B(WT) | SCALE, 1, 0, "multipliers and divisor"},
        {2, OP_vadd, B(WT) | SCALE, 1, 0x7fc00000, "multipliers and divisor"},
        {2, OP_vadd, B(WT) | SCALE, 1, 0xbf800000, "multipliers and divisor"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct bench bench;
        const struct vector_tile t = {
            .count = 1,
            .repeat = 1,
            .c_addr = 0x3f800000,
            .c_repeat = 0x3f800000,
            .immediate = (int32_t)faults[i].by,
            .format = FORMAT(0, 0, faults[i].rounding)};
        bench_open_write_out(&bench, faults[i].write_out);
        assert_int_equal(bench_run(&bench, faults[i].opcode, faults[i].status | STORE, 0, &t), CNNVP_E_INVAL);
        if (strstr(bench.vector->message, faults[i].why) == NULL)
            fail_msg("'%s' does not say '%s'", bench.vector->message, faults[i].why);
        bench_close(&bench);
    }
}

static void test_division(void **state)
{
    static const struct {
        int64_t a;
        int32_t b, shift;
        uint32_t rounding;
        int16_t word;
    } cases[] = {
        {10, 4, 0, 1, 2},
        {-10, 4, 0, 1, -2},
        {14, 4, 0, 1, 4},
        {-14, 4, 0, 0, -3},
        {1, 3, -15, 1, 10923},
        {-1, 3, -15, 0, -10922},
        {7, 0, 0, 1, 32767},
        {0, 0, 3, 1, 0}, /* so that 0 / (0 + an epsilon below half a step) is 0 */
        {-7, 0, 0, 1, -32768},
        {1 << 20, 1, 0, 1, 32767},
        {-(1 << 20), 1, 0, 1, -32768},
        {18, 9, 2, 1, 0},
        {54, 9, 2, 1, 2},
        {55, 9, 2, 1, 2},
        {INT64_MIN, 1, 63, 1, -1},
        {INT64_MIN, INT32_MIN, 30, 1, 4},
        {INT64_MAX, 1, -48, 1, 32767},
        {INT64_MIN, 1, -48, 0, -32768},
        {(INT64_C(1) << 62) + 1, 1, 63, 1, 1},
        {INT64_C(1) << 62, 1, 63, 1, 0},
        {3, 2, 0, 1, 2},
        {5, 2, 0, 1, 2},
    };
    struct bench bench;
    (void)state;
    bench_open(&bench, 16, 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        const struct vector_tile t = {
            .count = 1,
            .repeat = 1,
            .out_addr = 8,
            .immediate = cases[c].b,
            .format = FORMAT(cases[c].shift, 0, cases[c].rounding)};
        memcpy(bench_data(&bench, OUT, 0), &cases[c].a, 8);
        assert_true(bench_run(&bench, OP_vdiv, A(WIDE) | B(IMM) | STORE, 0, &t) > 0);
        assert_int_equal(((int16_t *)bench_data(&bench, OUT, 0))[4], cases[c].word);
    }
    bench_close(&bench);
}

/* ---- time ---- */

/* A narrow port: 2 words a cycle for a, 1 for results. */
static void test_port_limit(void **state)
{
    struct bench bench;
    const struct vector_tile t = {.count = 64, .repeat = 1, .a_stride = 1};
    (void)state;
    bench_open(&bench, 16, 0);
    bench.buffers[IN] = fake_add(&bench.sim, &cnnvp_unit_buffer);
    fake_set(bench.buffers[IN], "width_words", 2);
    assert_int_equal(fake_start(bench.buffers[IN]), CNNVP_OK);
    fake_connect(bench.vector, "input", bench.buffers[IN], "port");
    assert_int_equal(bench_run(&bench, OP_vcmp, A(IN) | B(IMM) | STORE, 0, &t), 32 + 4);
    assert_int_equal(fake_count(bench.vector, "port_cycles"), 28);
    assert_int_equal(fake_count(bench.buffers[IN], "read_sequential_words"), 64);
    assert_int_equal(fake_count(bench.buffers[OUT], "write_words"), 64);
    bench_close(&bench);
}

/* The last beat of a row takes what is left, and the last turn of several units has fewer: 17 elements, 8 words in a
 * clock, are 2 clocks and 1. Three units with four repetitions: 6 and 1, then 2 and 1. */
static void test_rests(void **state)
{
    static const struct {
        uint64_t units;
        uint32_t opcode, status, repeat;
        int64_t clocks;
    } cases[] = {{1, OP_vcmp, A(IN) | B(IMM) | STORE, 1, 3},
                 {1, OP_vcmp, A(IN) | B(IMM) | STORE | ACCUMULATE, 5, 5 * 3},
                 {3, OP_vnorm, A(IN) | B(WT) | STORE, 4, 7 + 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const struct vector_tile t = {
            .count = 17, .repeat = cases[i].repeat, .a_stride = 1, .a_repeat = 17, .out_repeat = 17};
        struct bench bench;
        bench_open_units(&bench, 16, cases[i].units, 0);
        bench.buffers[IN] = fake_add(&bench.sim, &cnnvp_unit_buffer);
        fake_set(bench.buffers[IN], "width_words", 8);
        assert_int_equal(fake_start(bench.buffers[IN]), CNNVP_OK);
        fake_connect(bench.vector, "input", bench.buffers[IN], "port");
        assert_int_equal(bench_run(&bench, cases[i].opcode, cases[i].status, 0, &t), cases[i].clocks + 4);
        bench_close(&bench);
    }
}

/* 64 additions by 16 lanes, all words in one buffer: 192 words, 8 in a clock. With the first operand in another buffer,
 * 128. */
static void test_operands_share_a_port(void **state)
{
    const struct vector_tile t = {
        .count = 64, .repeat = 1, .a_addr = 1024, .b_addr = 4096, .a_stride = 1, .b_stride = 1};
    struct bench bench;
    (void)state;
    bench_open(&bench, 16, 0);
    bench.buffers[OUT] = fake_add(&bench.sim, &cnnvp_unit_buffer);
    fake_set(bench.buffers[OUT], "width_words", 8);
    assert_int_equal(fake_start(bench.buffers[OUT]), CNNVP_OK);
    fake_connect(bench.vector, "output", bench.buffers[OUT], "port");
    assert_int_equal(bench_run(&bench, OP_vadd, A(OUT) | B(OUT) | STORE, 0, &t), 24 + 4);
    assert_int_equal(bench_run(&bench, OP_vadd, A(IN) | B(OUT) | STORE, 0, &t), 16 + 4);
    assert_int_equal(bench_run(&bench, OP_vadd, A(IN) | B(IMM) | STORE, 0, &t), 8 + 4);
    bench_close(&bench);
}

/* The same with a scratchpad, whose regions share a port: 192 words, wherever they are. */
static void test_regions_share_a_port(void **state)
{
    static const char *const ports[] = {"input", "weight", "output"};
    const struct vector_tile t = {.count = 64, .repeat = 1, .a_stride = 1, .b_stride = 1};
    struct bench bench;
    (void)state;
    bench_open(&bench, 16, 0);
    struct cnnvp_host *memory = fake_add(&bench.sim, &cnnvp_unit_scratchpad);
    fake_set(memory, "width_words", 8);
    assert_int_equal(fake_start(memory), CNNVP_OK);
    for (unsigned b = 0; b < 3; ++b)
        fake_connect(bench.vector, ports[b], memory, ports[b]);
    assert_int_equal(fake_write(memory, "WEIGHT_BASE", 8192), CNNVP_OK);
    assert_int_equal(fake_write(memory, "OUTPUT_BASE", 16384), CNNVP_OK);
    assert_int_equal(bench_run(&bench, OP_vadd, A(IN) | B(WT) | STORE, 0, &t), 24 + 4);
    assert_int_equal(bench_run(&bench, OP_vadd, A(OUT) | B(WT) | STORE, 0, &t), 24 + 4);
    assert_int_equal(bench_run(&bench, OP_vcmp, A(IN) | B(IMM) | STORE, 0, &t), 16 + 4);
    bench_close(&bench);
}

/* Two beats of 16 lanes: words so far apart, in lines of eight that go round the banks. A beat of 16 words side by side
 * is two lines, of sums side by side, four words each, eight. */
static void test_banks(void **state)
{
    static const struct {
        uint64_t banks;
        int32_t stride;
        uint32_t source;
        int64_t clocks; /* of a beat */
    } cases[] = {{16, 1, IN, 1},   {1, 1, IN, 2}, {16, 8, IN, 1},   {16, 16, IN, 2}, {16, 128, IN, 16}, {16, 54, IN, 2},
                 {64, 128, IN, 4}, {2, 3, IN, 3}, {16, -16, IN, 2}, {4, 1, 3, 2},    {8, 1, 3, 1}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct bench bench;
        const int sums = cases[c].source == 3u;
        const struct vector_tile t = {
            .count = 32,
            .repeat = 1,
            .a_addr = cases[c].stride < 0 ? 8192 : 0,
            .a_stride = cases[c].stride,
            .out_addr = 16384};
        bench_open(&bench, 16, 1);
        const int b = sums ? OUT : IN;
        bench.buffers[b] = fake_add(&bench.sim, &cnnvp_unit_buffer);
        fake_set(bench.buffers[b], "width_words", 4096);
        fake_set(bench.buffers[b], "banks", cases[c].banks);
        fake_set(bench.buffers[b], "size", 1u << 20);
        assert_int_equal(fake_start(bench.buffers[b]), CNNVP_OK);
        fake_connect(bench.vector, sums ? "output" : "input", bench.buffers[b], "port");
        assert_int_equal(bench_run(&bench, OP_vcmp, A(cases[c].source) | B(IMM) | STORE, 0, &t),
                         2 * cases[c].clocks + 4);
        bench_close(&bench);
    }
}

/* ---- errors and reset ---- */

static void test_bad_commands(void **state)
{
    struct bench bench;
    const struct vector_tile good = {.count = 4, .repeat = 2, .a_stride = 1, .a_repeat = 4, .out_repeat = 4};
    struct vector_tile t;
    (void)state;
    bench_open(&bench, 16, 0);
#define REFUSED(status, opcode, bits, change)                             \
    do {                                                                  \
        t = good;                                                         \
        change;                                                           \
        assert_int_equal(bench_run(&bench, opcode, bits, 0, &t), status); \
    } while (0)
    REFUSED(CNNVP_E_INVAL, OP_vmac, STORE, (t.count = 1u << 15, t.repeat = 1u << 14));
    REFUSED(CNNVP_E_INVAL, OP_vmac, STORE, t.a_stride = -1);
    REFUSED(CNNVP_E_INVAL, OP_vmac, STORE, t.a_stride = INT32_MAX);
    REFUSED(CNNVP_E_INVAL, OP_vmac, STORE, (t.count = 1u << 28, t.repeat = 1, t.a_stride = INT32_MIN));
    REFUSED(CNNVP_E_INVAL, OP_vmac, A(WIDE) | STORE, t.a_addr = 5);
    REFUSED(CNNVP_E_INVAL, OP_vmac, A(WIDE) | STORE, t.format |= 5u << 18);
    REFUSED(CNNVP_E_ADDR, OP_vmac, STORE, t.a_addr = BENCH_HALF - 14u);
    REFUSED(CNNVP_E_ADDR, OP_vmac, STORE, t.out_addr = BENCH_HALF - 14u);
    REFUSED(CNNVP_E_ACCESS, OP_vmac, STORE, t.a_addr = 1);
    REFUSED(CNNVP_E_INVAL, OP_vout, 5, t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vout, 0, t.count = 17);
    REFUSED(CNNVP_E_INVAL, OP_vact, B(OUT), t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vact, B(IMM), t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vnorm, B(IMM), t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vvar, B(IMM), t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vvar, B(OUT), t.immediate = -1);
    REFUSED(CNNVP_E_INVAL, OP_vvar, B(OUT), t.format = FORMAT(0, 16, 0));
    REFUSED(CNNVP_E_INVAL, OP_vsoftmax, 0, t.format = FORMAT(0, -17, 0));
    REFUSED(CNNVP_E_INVAL, OP_vsoftmax, 0, t.format = FORMAT(0, 25, 0));
    REFUSED(CNNVP_E_INVAL, OP_vsoftmax, 0, t.format = FORMAT(1, 0, 0));
    REFUSED(CNNVP_E_INVAL, OP_vsoftmax, 0, t.format = FORMAT(-16, 0, 0));
    REFUSED(CNNVP_E_INVAL, OP_conv, 0, t.count = 4);
    REFUSED(CNNVP_E_INVAL, OP_vact, B(WT), t.b_addr = 0); /* no segments: the buffer holds zeros */
    ((int16_t *)bench_data(&bench, WT, 0))[2] = 32767;
    REFUSED(CNNVP_E_ADDR, OP_vact, B(WT), t.b_addr = 0); /* more segments than the half can hold */
    ((int16_t *)bench_data(&bench, WT, 0))[2] = 1;
    ((int16_t *)bench_data(&bench, WT, 0))[1] = 63;
    REFUSED(CNNVP_E_INVAL, OP_vact, B(WT), t.b_addr = 0);
#undef REFUSED
    assert_int_equal(fake_count(bench.vector, "rejected"), 25);
    assert_int_equal(fake_count(bench.vector, "commands"), 0);
    struct cnnvp_access access = {.op = CNNVP_WRITE, .size = 4};
    assert_int_equal(fake_access(bench.vector, "command", &access), CNNVP_E_ACCESS);
    bench_close(&bench);
}

static void test_reset(void **state)
{
    struct bench bench;
    const struct vector_tile t = {.count = 16, .repeat = 1, .immediate = 5};
    (void)state;
    bench_open(&bench, 16, 0);
    *(int16_t *)bench_data(&bench, IN, 0) = 3;
    assert_true(bench_run(&bench, OP_vmac, A(IN) | B(IMM) | ACCUMULATE | STORE, 0, &t) > 0);
    assert_true(bench_run(&bench, OP_vmac, A(IN) | B(IMM) | ACCUMULATE | STORE, 0, &t) > 0);
    assert_int_equal(*(int16_t *)bench_data(&bench, OUT, 0), 30);
    fake_reset(bench.vector);
    assert_true(bench_run(&bench, OP_vmac, A(IN) | B(IMM) | ACCUMULATE | STORE, 0, &t) > 0);
    assert_int_equal(*(int16_t *)bench_data(&bench, OUT, 0), 15);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_instructions),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_zero_points),
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_scaled_sums),
        cmocka_unit_test(test_scaled_refusals),
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_port_limit),
        cmocka_unit_test(test_rests),
        cmocka_unit_test(test_operands_share_a_port),
        cmocka_unit_test(test_regions_share_a_port),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
